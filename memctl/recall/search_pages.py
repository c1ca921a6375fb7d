"""The page as a whole: what a note answers often stands in it here and there, a word in each line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from ..facts import Kind
from ..index.index import Index
from ..index.lexical import ORDINAL_BITS, Other, score_page
from ..index.queries.entries import Query, own_terms, passing, rows_holding, titles_and_lengths
from ..index.queries.filters import condition_of
from ..language.analyzer import terms

BESIDE_WORDS = 2.0
"""What the page weighs beside what words say of the line, and"""
BESIDE_BOTH = 1.0
"""beside what words and vectors say of it: these have looked at more of the page already."""
_LINE = 24  # tokens: where the lines of a page are longer, each says more by itself, and the page has less to add
_MOST = 40  # pages that are looked at as a whole
_NOT_WORDS = re.compile(r"[-_/.]")


class Whole(NamedTuple):
    """How well a page answers as a whole, 0 to 1, and the part of a weight that this has beside one of its lines."""

    value: float
    share: float


def whole_pages(
    index: Index,
    found: Mapping[int, float],
    weights: Mapping[str, float],
    forms: Mapping[str, str],
    others: Sequence[Other],
) -> dict[int, Whole]:
    """Row -> how well the words of its whole page answer, for those of the rows that are parts of a document.

    `found` says how well each row answers: of pages without a row among the best nothing is looked up.
    """
    pages = titles_and_lengths(index, {row >> ORDINAL_BITS for row in found})
    notes = condition_of(Query(kinds=(Kind.NOTE,)), ())
    parts = passing(index, [row for row in found if row >> ORDINAL_BITS in pages], notes)
    wanted = [*weights, *forms, *(tokens[0] for tokens, _ in others)]
    best = best_of_pages(sorted(parts, key=lambda row: (-found[row], row)))[:_MOST]
    held = {row >> ORDINAL_BITS: rows_holding(index, wanted, row >> ORDINAL_BITS) for row in best}
    lines = own_terms(index, [row for rows in held.values() for row in rows])
    values = {page: Whole(0.0, _share(*pages[page][2:])) for page in {row >> ORDINAL_BITS for row in parts}}
    for page, numbers in held.items():
        path, title, length, _ = pages[page]
        named = " ".join(terms(f"{title} {_NOT_WORDS.sub(' ', path)}"))
        value = score_page(weights, [lines[row] for row in numbers], named, length, forms, others)
        values[page] = values[page]._replace(value=value)
    return {row: values[row >> ORDINAL_BITS] for row in parts}


def _share(length: int, entries: int) -> float:
    return min(1.0, _LINE * entries / (length or 1)) ** 2


def with_pages(relevance: Mapping[int, float], whole: Mapping[int, Whole], weight: float) -> dict[int, float]:
    """The relevance of each row, in documents averaged with that of the page.

    The best page counts what the best line of a document does, so that documents stand where they stood beside logs.
    """
    parts = whole.keys() & relevance.keys()
    highest = max((whole[row].value for row in parts), default=0.0) or 1.0
    best = max((relevance[row] for row in parts), default=0.0) / highest
    found = dict(relevance)
    for row in parts:
        beside = weight * whole[row].share
        found[row] = (relevance[row] + beside * best * whole[row].value) / (1 + beside)
    return found


def best_of_pages(ranked: Iterable[int]) -> list[int]:
    """The first row of every page, in order."""
    return list({row >> ORDINAL_BITS: row for row in reversed(list(ranked))}.values())[::-1]


def on_further_documents(index: Index, found: Sequence[int], limit: int) -> list[int]:
    """Of what was found beyond the limit, the first row of each document that has none within it."""
    seen = {row >> ORDINAL_BITS for row in found[:limit]}
    first = [row for row in best_of_pages(found[limit:]) if row >> ORDINAL_BITS not in seen]
    documents = titles_and_lengths(index, [row >> ORDINAL_BITS for row in first])
    return [row for row in first if row >> ORDINAL_BITS in documents]
