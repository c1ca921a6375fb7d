"""The channel of words: which entries hold what a question asks, in their own line, beside it or above it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from ..core.known_names import find_names, heads
from ..core.lexical import BUDGET, CANDIDATES, Lexical, neighbourhood, score, select_terms, upper_bound, weigh
from ..core.query import Query
from ..store.index import Index
from ..store.questions import (
    Entity,
    Filter,
    completions,
    condition_of,
    entry_count,
    filtered,
    frequencies,
    headings_of,
    listed_names,
    match,
    mentioning,
    own_terms,
    passing,
    resolve,
)
from ..text.terms import prefixes, query_terms, terms

__all__ = ["Found", "by_words"]

_ALL = 1_000  # entries that pass a filter: as few as this are all scored, so a filter never hides a match
_FILTERED_BUDGET = 20 * BUDGET  # rare terms of the whole store may miss a filtered part of it
_COMPLETIONS = 8
_MOST_GUESSES = 32  # unknown terms that are looked for as beginnings: a pasted page has thousands
_GUESSED = 0.5  # weight of a term that only a prefix of stands somewhere


class Found(NamedTuple):
    """How relevant an entry is (0 to 1), its rank in each channel, and the parts that explain it."""

    relevance: float
    why: dict[str, int]
    parts: Mapping[str, Any]


class _Asked(NamedTuple):
    """The terms of a question: how much each weighs, which tokens stand for one, which may fetch candidates."""

    weights: dict[str, float]
    forms: dict[str, str]
    frequencies: dict[str, int]


def by_words(index: Index, query: Query, condition: Filter, limit: int) -> Mapping[int, Found] | None:
    """The best `limit` entries that the words of a question find, and as many of the times that it speaks of.

    None if it has no words to look for.
    """
    wanted = query_terms(query.words)
    if not wanted:
        return None
    named = _named(index, query.words)
    asked = _weigh(index, wanted, named)
    candidates = _fetch(index, query, condition, asked, max(CANDIDATES, limit))
    around = neighbourhood(candidates)
    above = headings_of(index, around)
    analysed = {text: " ".join(terms(text)) for text in set(above.values())}
    headings = {i: analysed[text] for i, text in above.items() if text}
    scored = score(asked.weights, own_terms(index, around), headings, asked.forms)
    allowed = passing(index, scored, condition)
    held = (i for i, lexical in scored.items() if i in allowed and _says_enough(lexical))
    ranked = sorted(held, key=lambda i: (-round(scored[i].score, 9), i))
    best = ranked[:limit] + _timely(index, query, ranked[limit:])[:limit]
    naming = mentioning(index, best, (key for entity in named for key in entity.keys)) if named else set()
    bound = upper_bound(asked.weights) or 1.0
    return {i: _found(scored[i], rank, bound, i in naming) for rank, i in enumerate(best, 1)}


def _says_enough(lexical: Lexical) -> bool:
    """False for a line that only stands beside a single word of the question: it answers nothing by that."""
    return bool(lexical.own or lexical.heading) or len(lexical.near) > 1


def _timely(index: Index, query: Query, ids: list[int]) -> list[int]:
    """Those of the times that the question speaks of: what bends scores later can only lift what is not cut off here."""
    periods = query.times if query.days is None and ids else ()
    within = [passing(index, ids, condition_of(index, Query(days=period), ())) for period in periods]
    return [i for i in ids if any(i in passed for passed in within)]


def _found(lexical: Lexical, rank: int, bound: float, naming: bool) -> Found:
    channel = "lexical" if lexical.own else "near"
    parts = {"level": lexical.level, "own": lexical.own, "near": lexical.near, "heading": lexical.heading}
    shown = {name: " ".join(value) if isinstance(value, tuple) else value for name, value in parts.items() if value}
    return Found(lexical.score / bound, {channel: rank} | ({"entity": 1} if naming else {}), shown)


# -- terms ------------------------------------------------------------------------------------------------------------


def _named(index: Index, text: str) -> list[Entity]:
    """The entities with a page that the question names."""
    names = find_names(text, listed_names(index, heads(text)))
    return [found[0] for name in names if len(found := resolve(index, name)) == 1]


def _weigh(index: Index, wanted: list[str], named: list[Entity]) -> _Asked:
    """Terms with their weights. Other names of whom the question names count as that name; a term that stands nowhere
    is looked for as a prefix."""
    total = entry_count(index)
    others = {token for entity in named for name in entity.names for token in terms(name)}
    known = frequencies(index, {*wanted, *others})
    forms = _aliases(wanted, named, known)
    counts = {term: known.get(term, 0) for term in wanted}
    guessed: dict[str, int] = {}
    aliased = set(forms.values())
    for term in [t for t in wanted if not counts[t] and t not in aliased][:_MOST_GUESSES]:
        for token in _complete(index, term):
            forms.setdefault(token, term)
            guessed[term] = guessed.get(term, 0) + 1
    extra = frequencies(index, forms)
    for token, term in forms.items():
        counts[term] = counts.get(term, 0) + extra.get(token, 0)
    weights = weigh(counts, total)
    weights = {term: weight * (_GUESSED if term in guessed else 1.0) for term, weight in weights.items()}
    forms = {token: term for token, term in forms.items() if term in weights}
    fetchable = {term: known[term] for term in weights if known.get(term)} | {
        token: extra.get(token, 0) for token in forms
    }
    return _Asked(weights, forms, fetchable)


def _aliases(wanted: list[str], named: list[Entity], known: Mapping[str, int]) -> dict[str, str]:
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


def _complete(index: Index, term: str) -> list[str]:
    """Terms of the store that begin as this one does; the longest beginning that leads anywhere decides."""
    return next((found for prefix in prefixes(term) if (found := completions(index, prefix, _COMPLETIONS))), [])


# -- candidates -------------------------------------------------------------------------------------------------------


def _fetch(index: Index, query: Query, condition: Filter, asked: _Asked, limit: int) -> list[int]:
    """Entries worth scoring: all that pass a narrow filter, else the best by FTS5's own bm25; and those of the times asked for."""
    found = _fetch_within(index, condition, asked, limit)
    for period in query.times if query.days is None else ():
        within = condition_of(index, replace(query, about=(), days=period), ())
        found += _fetch_within(index, within, asked, limit)
    return list(dict.fromkeys(found))


def _fetch_within(index: Index, condition: Filter, asked: _Asked, limit: int) -> list[int]:
    if condition.sql:
        few = filtered(index, condition, _ALL + 1)
        if len(few) <= _ALL:
            return few
    chosen = select_terms(asked.frequencies, _FILTERED_BUDGET if condition.sql else BUDGET)
    found = match(index, chosen, condition, limit) if chosen else []
    held = [term for term, count in asked.frequencies.items() if count]
    if len(found) < limit and len(chosen) < len(held):
        # A word in three lines and one in thousands: those of the three alone are no answer yet.
        found += match(index, held, condition, limit)
    return found
