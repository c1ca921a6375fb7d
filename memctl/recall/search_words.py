"""The channel of words: which entries hold what a question asks, in their own line, beside it or above it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

from ..index.index import Index
from ..index.lexical import BUDGET, CANDIDATES, Lexical, neighbourhood, score, select_terms, upper_bound
from ..index.queries.entries import Filter, Query, condition_of, filtered, match, mentioning, passing, read_lines
from ..index.queries.names import listed_names, resolve
from ..index.row import Entity
from ..language.analyzer import is_identifier, query_terms, terms
from ..language.names import find_names, heads
from .query_terms import Asked, weigh_terms
from .search_vectors import NEAREST, Meaning, Weighed

__all__ = ["Found", "by_words"]

_ALL = 1_000  # entries that pass a filter: as few as this are all scored, so a filter never hides a match
_FILTERED_BUDGET = 20 * BUDGET  # rare terms of the whole store may miss a filtered part of it


_FEW = 2  # words of a question that must all be met before meaning has its say
_BRIEF = (
    6  # words of a question that may want an identifier as it is; a longer one tells a story, in which 3pm is a detail
)


class Found(NamedTuple):
    """How relevant an entry is (0 to 1), its rank in each channel, and the parts that explain it."""

    relevance: float
    why: dict[str, int]
    parts: Mapping[str, Any]


def by_words(
    index: Index, query: Query, condition: Filter, limit: int, meaning: Meaning | None = None
) -> Mapping[int, Found] | None:
    """The best `limit` entries that the words of a question find, and as many of the times that it speaks of; with a
    `meaning`, what it finds too, and all of them by both.

    None if it has no words to look for.
    """
    wanted = query_terms(query.words)
    if not wanted:
        return None
    named = _named(index, query.words)
    asked = weigh_terms(index, query, wanted, named)
    candidates = _fetch(index, query, condition, asked, max(CANDIDATES, limit))
    nearest = meaning.nearest(index, condition, limit) if meaning else []
    around = neighbourhood([*candidates, *nearest])
    lines = read_lines(index, around)
    if query.public:
        lines = _public(index, lines)
    own = {i: text for i, (text, _) in lines.items()}
    analysed = {text: _analysed(text) for text in {heading for _, heading in lines.values()}}
    headings = {i: analysed[text] for i, (_, text) in lines.items() if text}
    scored = score(asked.weights, own, headings, asked.forms, asked.others, only_telling=True)
    allowed = passing(index, scored, condition)
    held = sorted(allowed)
    ranked = sorted(held, key=lambda i: -round(scored[i].score, 9))
    best = _first(index, query, ranked, limit)
    bound = upper_bound(asked.weights) or 1.0
    keys = [key for entity in named for key in entity.keys]
    if not meaning or not nearest:
        naming = mentioning(index, best, keys) if named else set()
        return {i: _found(scored[i], rank, bound, i in naming) for rank, i in enumerate(best, 1)}
    ranks = {i: rank for rank, i in enumerate(ranked, 1)}
    said = {i: scored[i].score / bound for i in {*best, *nearest} if i in ranks}
    exact = _to_the_letter(query, wanted, asked)
    weighed = meaning.fuse(index, said, nearest, own, {i: _held(scored[i], exact) for i in said} if exact else {})
    best = _first(index, query, sorted(weighed.fused, key=lambda i: (-round(weighed.fused[i].relevance, 9), i)), limit)
    naming = mentioning(index, best, keys) if named else set()
    plain = {i: _found(scored[i], ranks[i], bound, i in naming) for i in best if i in ranks}
    return {i: _with_meaning(plain.get(i) or _unsaid(i in naming), i, weighed) for i in best}


def _public(index: Index, lines: dict[int, tuple[str, str]]) -> dict[int, tuple[str, str]]:
    """Those of the lines that are not private: a private one is no answer, and says nothing for the lines beside it."""
    from ..index.public import private_ids

    hidden = private_ids(index)
    return {i: line for i, line in lines.items() if i not in hidden} if hidden else lines


@lru_cache(maxsize=4096)
def _analysed(heading: str) -> str:
    return " ".join(terms(heading))


def _to_the_letter(query: Query, wanted: Sequence[str], asked: Asked) -> tuple[str, ...]:
    """The terms that a short question wants as they are: its identifiers, else every word of a question of one or two."""
    known = [term for term in wanted if asked.frequencies.get(term)]
    if len(query.words.split()) > _BRIEF:
        return ()
    return tuple(filter(is_identifier, known)) or (tuple(known) if len(wanted) <= _FEW else ())


def _held(lexical: Lexical, exact: Sequence[str]) -> int:
    """How many of them a line holds; all or none of plain words."""
    held = sum(term in lexical.places for term in exact)
    return held if held == len(exact) or any(map(is_identifier, exact)) else 0


def _first(index: Index, query: Query, ranked: list[int], limit: int) -> list[int]:
    return ranked[:limit] + _timely(index, query, ranked[limit:])[:limit]


def _unsaid(naming: bool) -> Found:
    """For an entry that no word speaks for."""
    return Found(0.0, {"entity": 1} if naming else {}, {})


def _with_meaning(found: Found, number: int, weighed: Weighed) -> Found:
    """What words found, with what meaning adds to it and how."""
    fused, near = weighed.fused[number], weighed.near.get(number)
    parts = {**found.parts, "words": round(fused.words, 4)}
    if near is None:
        return Found(fused.relevance, found.why, parts)
    counts = near.rank <= NEAREST or not fused.words
    why = {name: rank for name, rank in (("vector", near.rank),) if counts}
    parts |= {"cosine": round(near.cosine, 4), "near_by": round(near.deviations, 2)}
    return Found(fused.relevance, found.why | why, parts)


def _timely(index: Index, query: Query, ids: list[int]) -> list[int]:
    """Those of the times that the question speaks of: what bends scores later can only lift what is not cut off here."""
    periods = query.times if query.days is None and ids else ()
    within = [passing(index, ids, condition_of(index, Query(days=period), ())) for period in periods]
    return [i for i in ids if any(i in passed for passed in within)]


def _found(lexical: Lexical, rank: int, bound: float, naming: bool) -> Found:
    channel = "lexical" if lexical.own else "near"
    parts = (("own", lexical.own), ("near", lexical.near), ("heading", lexical.heading))
    shown = {"level": lexical.level} | {name: " ".join(found) for name, found in parts if found}
    return Found(lexical.score / bound, {channel: rank} | ({"entity": 1} if naming else {}), shown)


# -- terms ------------------------------------------------------------------------------------------------------------


def _named(index: Index, text: str) -> list[Entity]:
    """The entities with a page that the question names."""
    names = find_names(text, listed_names(index, heads(text)))
    return [found[0] for name in names if len(found := resolve(index, name)) == 1]


# -- candidates -------------------------------------------------------------------------------------------------------


def _fetch(index: Index, query: Query, condition: Filter, asked: Asked, limit: int) -> list[int]:
    """Entries worth scoring: all that pass a narrow filter, else the best by FTS5's own bm25; and those of the times asked for."""
    found = _fetch_within(index, condition, asked, limit)
    for period in query.times if query.days is None else ():
        within = condition_of(index, replace(query, about=(), days=period), ())
        found += _fetch_within(index, within, asked, limit)
    return list(dict.fromkeys(found))


def _fetch_within(index: Index, condition: Filter, asked: Asked, limit: int) -> list[int]:
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
    if asked.aside:
        # Apart: the rarest words fetch first, and another word for the thing must not take the places of the asked one.
        found += match(index, select_terms(asked.aside, BUDGET // 2), condition, limit // 2)
    return found
