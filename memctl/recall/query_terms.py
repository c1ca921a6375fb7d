"""What a question asks by: its terms, how much each weighs, and what stands for a term that is written otherwise."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from ..index.index import Index
from ..index.lexical import Other, idf, share_for, weigh
from ..index.queries.entries import Query, completions, entry_count, frequencies
from ..index.row import Entity
from ..language.analyzer import is_cyrillic, prefixes, terms
from ..language.synonyms import Standin, standins

__all__ = ["Asked", "weigh_terms"]

_COMPLETIONS = 8
_MOST_GUESSES = 32  # unknown terms that are looked for as beginnings: a pasted page has thousands
_MOST_HEARD = 8  # unknown terms that are looked for by their sound: up to 16 reads of the vocabulary each
_FEW = 4  # beginnings under which a term that stands somewhere is looked for in the other script as well
_HEARD = 100  # terms of the vocabulary that are listened to under one beginning
_GUESSED = 0.5  # weight of a term that only a prefix of stands somewhere
_OTHER = 0.75  # what another word for a term is worth, of the smaller weight of the two


class Asked(NamedTuple):
    """The terms of a question: how much each weighs, which tokens stand for one fully (`forms`) or in part (`others`).

    `frequencies` are the tokens that may fetch candidates, `aside` those that may fetch more for the sake of `others`.
    """

    weights: dict[str, float]
    forms: dict[str, str]
    frequencies: dict[str, int]
    others: tuple[Other, ...] = ()
    aside: Mapping[str, int] = {}


def weigh_terms(index: Index, query: Query, wanted: list[str], named: list[Entity]) -> Asked:
    """Terms with their weights. Other names of whom the question names count as that name; other words for a thing count
    in part; a term that stands nowhere is looked for as a prefix."""
    total = entry_count(index)
    others = {token for entity in named for name in entity.names for token in terms(name)}
    spelled = standins(query.words, wanted, query.aliases) + _surnames(query.words)
    known = frequencies(index, {*wanted, *others, *(token for tokens, _ in spelled for token in tokens)})
    forms = _names(wanted, named, known)
    counts = {term: known.get(term, 0) for term in wanted}
    spelled = [(tokens, stood) for tokens, stood in spelled if all(map(known.get, tokens))]
    spelled += _in_latin(index, [term for term in wanted if counts[term]])
    guessed = _guess(index, [t for t in wanted if not counts[t] and t not in {*forms.values(), *_stood_for(spelled)}])
    for token, term in guessed.items():
        forms.setdefault(token, term)
    extra = frequencies(index, forms)
    for token, term in forms.items():
        counts[term] = counts.get(term, 0) + extra.get(token, 0)
    weights = weigh(counts, total)
    weights = {term: weight * (_GUESSED if term in guessed.values() else 1.0) for term, weight in weights.items()}
    forms = {token: term for token, term in forms.items() if term in weights}
    fetchable = {term: known[term] for term in weights if known.get(term)} | {
        token: extra.get(token, 0) for token in forms
    }
    known |= frequencies(index, {token for tokens, _ in spelled for token in tokens} - known.keys())
    partly, aside = _partly(spelled, weights, known, total)
    return Asked(weights, forms, fetchable, partly, aside)


def _surnames(words: str) -> list[Standin]:
    """«Петров» in a question is a name, and «петров» many of «Пётр»; either may be meant by the other."""
    bare = (word.strip('.,;:?!()«»"') for word in words.split() if "в" in word)
    found = ((word.casefold(), terms(word)) for word in bare if word.endswith(("ов", "ев")) and word.isalpha())
    return [((stem,), (word,)) if len(rest) else ((word,), (stem,)) for word, (stem, *rest) in found if stem != word]


def _stood_for(spelled: Iterable[Standin]) -> set[str]:
    return {term for _, stood in spelled for term in stood}


def _names(wanted: list[str], named: list[Entity], known: Mapping[str, int]) -> dict[str, str]:
    """Token -> query term: the most telling word of each other name stands for the name that was asked by."""
    forms: dict[str, str] = {}
    for entity in named:
        spellings = [terms(name) for name in entity.names]
        asked = next((term for term in wanted if any(term in tokens for tokens in spellings)), None)
        for tokens in spellings if asked else ():
            held = [token for token in tokens if known.get(token) and token not in wanted]
            if held and asked and not set(tokens) & set(wanted):
                forms[min(held, key=lambda token: known[token])] = asked
    return forms


def _partly(
    spelled: Iterable[Standin], weights: Mapping[str, float], known: Mapping[str, int], total: int
) -> tuple[tuple[Other, ...], dict[str, int]]:
    """The other words with their shares, and the rarest token of each, to fetch by."""
    found: list[Other] = []
    aside: dict[str, int] = {}
    for tokens, stood in spelled:
        asked = [term for term in stood if weights.get(term)]
        rarest = min(tokens, key=lambda token: known.get(token, 0))
        if not asked or not known.get(rarest):
            continue
        best = max(weights[term] for term in asked)
        worth = _OTHER * min(1.0, idf(known[rarest], total) / best)
        found.append((tokens, {term: share_for(worth) for term in asked}))
        aside[rarest] = known[rarest]
    return tuple(found), aside


# -- terms that stand nowhere -----------------------------------------------------------------------------------------


def _guess(index: Index, unknown: Sequence[str]) -> dict[str, str]:
    """Token -> unknown term that it may be."""
    found: dict[str, str] = {}
    for number, term in enumerate(unknown[:_MOST_GUESSES]):
        for token in _complete(index, term, number < _MOST_HEARD):
            found.setdefault(token, term)
    return found


def _complete(index: Index, term: str, heard: bool) -> list[str]:
    """Terms of the store that begin as this one does; else those that sound like it in the other script; else those that
    begin as it does but for its end."""
    tried = prefixes(term)
    for prefix in tried[:1]:
        if found := completions(index, prefix, _COMPLETIONS):
            return found
    if heard and term.isalpha() and (found := _heard(index, term)):
        return found
    return next((found for prefix in tried[1:] if (found := completions(index, prefix, _COMPLETIONS))), [])


def _heard(index: Index, term: str) -> list[str]:
    """Terms in the other script that sound like this one."""
    from ..language.phonetic import other_script_prefixes, sounds_alike

    if len(term) < (3 if is_cyrillic(term) else 4):
        return []
    under = (token for start in other_script_prefixes(term) for token in completions(index, start, _HEARD))
    found = [
        token for token in dict.fromkeys(under) if is_cyrillic(token) != is_cyrillic(term) and sounds_alike(term, token)
    ]
    return sorted(found, key=lambda token: abs(len(token) - len(term)))[:_COMPLETIONS]


def _in_latin(index: Index, held: Sequence[str]) -> list[Standin]:
    """Latin words that sound exactly like a Cyrillic one which stands somewhere too: both were written."""
    found: list[Standin] = []
    cyrillic = [term for term in held if len(term) >= 4 and term.isalpha() and is_cyrillic(term)]
    if not cyrillic:
        return found
    from ..language.phonetic import latin, other_script_prefixes, phonetic_key

    for term in cyrillic[:_MOST_GUESSES]:
        under = (token for start in other_script_prefixes(term)[:_FEW] for token in completions(index, start, _HEARD))
        same = (
            token for token in dict.fromkeys(under) if token.isascii() and phonetic_key(token) == phonetic_key(term)
        )
        found += [((token,), (term,)) for token in same if abs(len(token) - len(latin(term))) <= 2]
    return found
