"""The search by words: which entries hold what a question asks, in their own line, beside it or above it.

Of a document the page as a whole counts too: what a note answers often stands in it here and there, a word in each line.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from ..facts import Kind
from ..index import lexical
from ..index.index import Index
from ..index.lexical import BUDGET, CANDIDATES, Lexical, Other, idf, page_of, select_terms
from ..index.queries import entries as queries
from ..index.queries.entity_names import entities_named, listed_names
from ..index.queries.entries import Filter, Query, completions, entry_count, filtered, frequencies, match, passing
from ..index.queries.filters import condition_of
from ..index.row import Entity
from ..language.analyzer import LATIN, ends_as_surname, is_cyrillic, is_identifier, prefixes, query_terms, terms
from ..language.names import find_names, heads
from ..language.synonyms import Expansion, expansions
from .rank import Score
from .search_vectors import NEAREST, Nearness, VectorSearch

_BESIDE = 2.0  # what a page weighs beside one of its lines
_PAGE_NEAR = 0.15  # a deviation of a page in meaning, where 1 is the best page by words; .1 to .3 find as much
_LINE = 24  # tokens: where the lines of a page are longer, each says more by itself, and the page has less to add
_MOST_PAGES = 40  # that are looked at as a whole
_NOT_WORDS = re.compile(r"[-_/.]")
_ALL = 1_000  # entries that pass a filter: as few as this are all scored, so a filter never hides a match
_FILTERED_BUDGET = 20 * BUDGET  # rare terms of the whole store may miss a filtered part of it
_FURTHER = 3  # times as many lines are looked through for further documents
_FEW = 2  # words of a question that must all be met before vectors have their say
# Words of a question that may want an identifier as it is; a longer one tells a story, in which 3pm is a detail.
_BRIEF = 6
_COMPLETIONS = 8
_MOST_GUESSES = 32  # unknown terms that are looked for as beginnings: a pasted page has thousands
_MOST_HEARD = 8  # unknown terms that are looked for by their sound: up to 16 reads of the vocabulary each
_FEW_BEGINNINGS = 4  # beginnings under which a term that stands somewhere is looked for in the other script as well
_HEARD = 100  # terms of the vocabulary that are listened to under one beginning
_GUESSED = 0.5  # weight of a term that only a prefix of stands somewhere
_OTHER = 0.75  # what another word for a term is worth, of the smaller weight of the two


class QueryTerms(NamedTuple):
    """The terms of a question: how much each weighs, which tokens stand for one fully (`forms`) or in part (`others`).

    `frequencies` are the tokens that may fetch candidates, `aside` those that may fetch more for the sake of `others`.
    """

    weights: dict[str, float]
    forms: dict[str, str]
    frequencies: dict[str, int]
    others: tuple[Other, ...] = ()
    aside: Mapping[str, int] = {}


def search_words(
    index: Index, query: Query, condition: Filter, limit: int, vectors: VectorSearch | None = None
) -> Mapping[int, Score] | None:
    """The best `limit` entries that the words of a question find, and as many of the times that it speaks of; with
    `vectors`, what these find too, and all of them by both.

    None if it has no words to look for.
    """
    wanted = query_terms(query.words)
    if not wanted:
        return None
    named = named_entities(index, query.words)
    asked = _weigh_terms(index, query, wanted, named)
    candidates = _fetch(index, query, condition, asked, max(CANDIDATES, limit))
    nearest = vectors.nearest(index, condition, limit) if vectors else []
    lines = queries.read_lines(index, lexical.neighbourhood([*candidates, *nearest]))
    if query.expiry:  # what is over lends its words to no line beside it
        kept = passing(index, lines, condition_of(Query(expiry=query.expiry), ()))
        lines = {i: line for i, line in lines.items() if i in kept}
    own = {i: text for i, (text, _) in lines.items()}
    analysed = {heading: _analysed(heading) for heading in {heading for _, heading in lines.values()}}
    headings = {i: analysed[heading] for i, (_, heading) in lines.items() if heading}
    scores = lexical.score(asked.weights, own, headings, asked.forms, asked.others, only_telling=True)
    beside = {i for i, one in scores.items() if not (one.own or one.heading)}
    facts = beside - passing(index, beside, condition_of(Query(kinds=(Kind.NOTE,)), ()))
    scores = {i: one for i, one in scores.items() if i not in facts}  # a fact answers by its own words
    bound = lexical.upper_bound(asked.weights) or 1.0
    plain = {i: scores[i].score / bound for i in sorted(passing(index, scores, condition))}
    whole = _whole_pages(index, {**dict.fromkeys(nearest, 0.0), **plain}, asked)
    said = _with_pages(plain, whole)
    ranked = sorted(said, key=lambda i: -round(said[i], 9))
    best = _with_times(index, query, ranked, limit)
    known: dict[int, float] = {}
    both: dict[int, float] = {}
    near: dict[int, Nearness] = {}
    if vectors and nearest:
        known = {i: plain[i] for i in {*best, *nearest} if i in plain}
        exact = _exact_held(query, wanted, asked, {i: scores[i] for i in known})
        both, near, meant = vectors.fuse(index, known, nearest, own, exact, whole)
        whole = _with_meaning(whole, meant)
        both = both if any(exact.values()) else _with_pages(both, whole)
        best = _with_times(index, query, sorted(both, key=lambda i: (-round(both[i], 9), i)), limit)
    ranks = {i: rank for rank, i in enumerate(ranked if nearest else best, 1)}
    found = {i: _found(scores[i], ranks[i], said[i]) if i in ranks else Score(0.0, {}, {}) for i in best}
    for i in queries.mentioning(index, best, [key for entity in named for key in entity.keys]) if named else ():
        found[i].why["entity"] = 1
    if not nearest:
        return found
    return {i: _with_vectors(how, both[i], known.get(i, 0.0), near.get(i)) for i, how in found.items()}


@lru_cache(maxsize=4096)
def _analysed(heading: str) -> str:
    return " ".join(terms(heading))


def _exact_held(
    query: Query, wanted: Sequence[str], asked: QueryTerms, scores: Mapping[int, Lexical]
) -> dict[int, int]:
    """How many terms each line holds of those that must stand as they are: identifiers, else all of one or two words."""
    known = [term for term in wanted if asked.frequencies.get(term)]
    if len(query.words.split()) > _BRIEF:
        return {}
    if identifiers := list(filter(is_identifier, known)):
        return {i: sum(term in one.places for term in identifiers) for i, one in scores.items()}
    if not known or len(wanted) > _FEW:
        return {}
    return {i: len(known) if all(term in one.places for term in known) else 0 for i, one in scores.items()}


def _with_times(index: Index, query: Query, ranked: Sequence[int], limit: int) -> list[int]:
    """The first `limit`, and as many of the times that the question speaks of: the factors can only lift what is not cut
    off here. Where few lines of a page are wanted, the first of as many pages."""
    ids = ranked[limit:]
    periods = query.times if query.days is None and ids else ()
    within = [passing(index, ids, condition_of(Query(days=period), ())) for period in periods]
    timely = [i for i in ids if any(i in passed for passed in within)][:limit]
    apart = _best_of_pages(ranked)[:limit] if query.per_page else ()
    return list(dict.fromkeys([*ranked[:limit], *timely, *apart]))


def _found(one: Lexical, rank: int, relevance: float) -> Score:
    channel = "lexical" if one.own else "near"
    parts = (("own", one.own), ("near", one.near), ("heading", one.heading))
    shown = {"level": one.level} | {name: " ".join(found) for name, found in parts if found}
    return Score(relevance, {channel: rank}, shown)


def _with_vectors(found: Score, relevance: float, words: float, near: Nearness | None) -> Score:
    """What words found, with what vectors add to it and how."""
    parts = {**found.parts, "words": round(words, 4)}
    if near is None:
        return Score(relevance, found.why, parts)
    why = {"vector": near.rank} if near.rank <= NEAREST or not words else {}
    parts |= {"cosine": round(near.cosine, 4), "near_by": round(near.deviations, 2)}
    return Score(relevance, found.why | why, parts)


def _fetch(index: Index, query: Query, condition: Filter, asked: QueryTerms, limit: int) -> list[int]:
    """Entries worth scoring: all that pass a narrow filter, else the best by FTS5's own bm25; and those of the times asked for."""
    found = _fetch_within(index, condition, asked, limit)
    for period in query.times if query.days is None else ():
        within = condition_of(replace(query, about=(), days=period), ())
        found += _fetch_within(index, within, asked, limit)
    return list(dict.fromkeys(found))


def _fetch_within(index: Index, condition: Filter, asked: QueryTerms, limit: int) -> list[int]:
    if condition.sql:
        few = filtered(index, condition, _ALL + 1)
        if len(few) <= _ALL:
            return few
    chosen = select_terms(asked.frequencies, _FILTERED_BUDGET if condition.sql else BUDGET)
    found = match(index, chosen, condition, _FURTHER * limit) if chosen else []
    found = [*found[:limit], *_on_further_documents(index, found, limit)]
    held = [term for term, count in asked.frequencies.items() if count]
    if len(found) < limit and len(chosen) < len(held):
        # A word in three lines and one in thousands: those of the three alone are no answer yet.
        found += match(index, held, condition, limit)
    if asked.aside:
        # Apart: the rarest words fetch first, and another word for the thing must not take the places of the asked one.
        found += match(index, select_terms(asked.aside, BUDGET // 2), condition, limit // 2)
    return found


def named_entities(index: Index, text: str) -> list[Entity]:
    """The entities with a page that the question names."""
    names = find_names(text, listed_names(index, heads(text)))
    return [found[0] for name in names if len(found := entities_named(index, name)) == 1]


def _weigh_terms(index: Index, query: Query, wanted: list[str], named: list[Entity]) -> QueryTerms:
    """Terms with their weights. Other names of an entity in the question count as the one it is named by; other words for a thing count
    in part; a term that stands nowhere is looked for as a prefix."""
    names = {token for entity in named for name in entity.names for token in terms(name)}
    spelled = expansions(query.words, wanted, query.aliases) + _surnames(query.words)
    known = frequencies(index, {*wanted, *names, *(token for tokens, _ in spelled for token in tokens)})
    spelled = [(tokens, stood) for tokens, stood in spelled if all(map(known.get, tokens))]
    spelled += _in_latin(index, [term for term in wanted if term in known])
    forms = _forms(wanted, named, known)
    held = {*known, *forms.values()}.union(*(stood for _, stood in spelled))
    guessed: dict[str, str] = {}  # token -> unknown term that it may be
    for number, term in enumerate([term for term in wanted if term not in held][:_MOST_GUESSES]):
        for token in _complete(index, term, number < _MOST_HEARD):
            guessed.setdefault(token, term)
    forms |= {token: term for token, term in guessed.items() if token not in forms}
    extra = frequencies(index, forms)
    counts = {term: known.get(term, 0) for term in wanted}
    for token, term in forms.items():
        counts[term] = counts.get(term, 0) + extra.get(token, 0)
    total = entry_count(index)
    weights = lexical.weigh(counts, total)
    weights |= {term: weights[term] * _GUESSED for term in guessed.values() if term in weights}
    forms = {token: term for token, term in forms.items() if term in weights}
    fetchable = {term: known[term] for term in weights if term in known} | {t: extra.get(t, 0) for t in forms}
    known |= frequencies(index, set().union(*(tokens for tokens, _ in spelled)) - known.keys())
    partly, aside = _partly(spelled, weights, known, total)
    return QueryTerms(weights, forms, fetchable, partly, aside)


def _surnames(words: str) -> list[Expansion]:
    """«Петров» in a question is a name, and «петров» many of «Пётр»; either may be meant by the other."""
    bare = (word.strip('.,;:?!()«»"') for word in words.split() if "в" in word)
    found = ((word.casefold(), terms(word)) for word in bare if ends_as_surname(word.casefold()))
    return [((stem,), (word,)) if len(rest) else ((word,), (stem,)) for word, (stem, *rest) in found if stem != word]


def _forms(wanted: list[str], named: list[Entity], known: Mapping[str, int]) -> dict[str, str]:
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
    spelled: Iterable[Expansion], weights: Mapping[str, float], known: Mapping[str, int], total: int
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
        found.append((tokens, {term: lexical.share_for(worth) for term in asked}))
        aside[rarest] = known[rarest]
    return tuple(found), aside


def _complete(index: Index, term: str, heard: bool) -> list[str]:
    """Indexed terms that begin with this one; else those that sound like it in the other script; else those with its stem."""
    tried = prefixes(term)
    for prefix in tried[:1]:
        if found := completions(index, prefix, _COMPLETIONS):
            return found
    if heard and term.isalpha() and (found := _sounding_alike(index, term)):
        return found
    return next((found for prefix in tried[1:] if (found := completions(index, prefix, _COMPLETIONS))), [])


def _sounding_alike(index: Index, term: str) -> list[str]:
    """Terms in the other script that sound like this one."""
    from ..language.phonetic import sounds_alike

    if len(term) < (3 if is_cyrillic(term) else 4):
        return []
    heard = _heard(index, term)
    found = [t for t in heard if is_cyrillic(t) != is_cyrillic(term) and sounds_alike(term, t)]
    return sorted(found, key=lambda token: abs(len(token) - len(term)))[:_COMPLETIONS]


def _in_latin(index: Index, held: Sequence[str]) -> list[Expansion]:
    """Latin words that sound exactly like a Cyrillic one which stands somewhere too: both were written."""
    found: list[Expansion] = []
    cyrillic = [term for term in held if len(term) >= 4 and term.isalpha() and is_cyrillic(term)]
    for term in cyrillic[:_MOST_GUESSES]:
        from ..language.phonetic import phonetic_key

        latin = [token for token in _heard(index, term, _FEW_BEGINNINGS) if token.isascii()]
        alike = [token for token in latin if phonetic_key(token) == phonetic_key(term)]
        length = len(term.translate(LATIN))
        found += [((token,), (term,)) for token in alike if abs(len(token) - length) <= 2]
    return found


def _heard(index: Index, term: str, beginnings: int | None = None) -> dict[str, None]:
    """Terms of the store under the beginnings that this one may have in the other script."""
    from ..language.phonetic import other_script_prefixes

    starts = other_script_prefixes(term)[:beginnings]
    return dict.fromkeys(token for start in starts for token in completions(index, start, _HEARD))


# -- pages as a whole --------------------------------------------------------------------------------------------------


class Whole(NamedTuple):
    """How well a page answers as a whole, 0 to 1, and the part of a weight that this has beside one of its lines."""

    value: float
    share: float


def _whole_pages(index: Index, found: Mapping[int, float], asked: QueryTerms) -> dict[int, Whole]:
    """Row -> how well the words of its whole page answer, for those of the rows that are parts of a document.

    `found` says how well each row answers: of pages without a row among the best nothing is looked up.
    """
    pages = queries.titles_and_lengths(index, {page_of(row) for row in found})
    notes = condition_of(Query(kinds=(Kind.NOTE,)), ())
    parts = passing(index, [row for row in found if page_of(row) in pages], notes)
    wanted = [*asked.weights, *asked.forms, *(tokens[0] for tokens, _ in asked.others)]
    best = _best_of_pages(sorted(parts, key=lambda row: (-found[row], row)))[:_MOST_PAGES]
    held = {page_of(row): queries.rows_holding(index, wanted, page_of(row)) for row in best}
    lines = queries.own_terms(index, [row for rows in held.values() for row in rows])
    values = {page: Whole(0.0, _share(*pages[page][2:])) for page in {page_of(row) for row in parts}}
    for page, numbers in held.items():
        path, title, length, _ = pages[page]
        named = " ".join(terms(f"{title} {_NOT_WORDS.sub(' ', path)}"))
        texts = [lines[row] for row in numbers]
        value = lexical.score_page(asked.weights, texts, named, length, asked.forms, asked.others)
        values[page] = values[page]._replace(value=value)
    return {row: values[page_of(row)] for row in parts}


def _share(length: int, entries: int) -> float:
    return min(1.0, _LINE * entries / (length or 1)) ** 2


def _with_pages(relevance: Mapping[int, float], whole: Mapping[int, Whole]) -> dict[int, float]:
    """The relevance of each row, in documents averaged with that of the page.

    The best page counts what the best line of a document does, so that documents stand where they stood beside logs.
    """
    parts = whole.keys() & relevance.keys()
    highest = max((whole[row].value for row in parts), default=0.0) or 1.0
    best = max((relevance[row] for row in parts), default=0.0) / highest
    found = dict(relevance)
    for row in parts:
        beside = _BESIDE * whole[row].share
        found[row] = (relevance[row] + beside * best * whole[row].value) / (1 + beside)
    return found


def _with_meaning(whole: Mapping[int, Whole], meant: Mapping[int, float]) -> dict[int, Whole]:
    """How well pages answer by words and by meaning, `meant` being page -> deviations of the vector of the whole."""
    highest = max((one.value for one in whole.values()), default=0.0) or 1.0
    near = {row: max(meant.get(page_of(row), 0.0), 0.0) for row in whole}
    return {row: one._replace(value=one.value / highest + _PAGE_NEAR * near[row]) for row, one in whole.items()}


def _best_of_pages(ranked: Iterable[int]) -> list[int]:
    """The first row of every page, in order."""
    return list({page_of(row): row for row in reversed(list(ranked))}.values())[::-1]


def _on_further_documents(index: Index, found: Sequence[int], limit: int) -> list[int]:
    """Of what was found beyond the limit, the first row of each document that has none within it."""
    seen = {page_of(row) for row in found[:limit]}
    first = [row for row in _best_of_pages(found[limit:]) if page_of(row) not in seen]
    documents = queries.titles_and_lengths(index, [page_of(row) for row in first])
    return [row for row in first if page_of(row) in documents]
