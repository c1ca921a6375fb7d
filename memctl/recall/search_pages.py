"""The page as a whole: what a note answers often stands in it here and there, a word in each line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from ..index.index import Index
from ..index.lexical import ORDINAL_BITS, Other, score_page
from ..index.queries.entries import by_ids, own_terms, rows_holding, titles_and_lengths
from ..language.analyzer import terms
from .passages import is_of_document

BESIDE_WORDS = 2.0
"""What the page weighs beside what words say of the line, and"""
BESIDE_BOTH = 1.0
"""beside what words and vectors say of it: these have looked at more of the page already."""
_MOST = 40  # pages that are looked at as a whole
_NOT_WORDS = re.compile(r"[-_/.]")


def whole_pages(
    index: Index,
    found: Mapping[int, float],
    weights: Mapping[str, float],
    forms: Mapping[str, str],
    others: Sequence[Other],
) -> dict[int, float]:
    """Row -> how well the words of its whole page answer, for those of the rows that are parts of a document.

    `found` says how well each row answers: of pages without a row among the best nothing is looked up.
    """
    pages = titles_and_lengths(index, {row >> ORDINAL_BITS for row in found})
    entries = by_ids(index, [row for row in found if row >> ORDINAL_BITS in pages])
    parts = [row for row, entry in entries.items() if is_of_document(entry)]
    wanted = [*weights, *forms, *(tokens[0] for tokens, _ in others)]
    best = best_of_pages(sorted(parts, key=lambda row: (-found[row], row)))[:_MOST]
    held = {row >> ORDINAL_BITS: rows_holding(index, wanted, row >> ORDINAL_BITS) for row in best}
    lines = own_terms(index, [row for rows in held.values() for row in rows])
    values: dict[int, float] = {}
    for page, numbers in held.items():
        path, title, length = pages[page]
        named = " ".join(terms(f"{title} {_NOT_WORDS.sub(' ', path)}"))
        values[page] = score_page(weights, [lines[row] for row in numbers], named, length, forms, others)
    return {row: values.get(row >> ORDINAL_BITS, 0.0) for row in parts}


def with_pages(relevance: Mapping[int, float], whole: Mapping[int, float], weight: float) -> dict[int, float]:
    """The relevance of each row, in documents averaged with that of the page.

    The best page counts what the best line of a document does, so that documents stand where they stood beside logs.
    """
    parts = whole.keys() & relevance.keys()
    best = max((relevance[row] for row in parts), default=0.0) / (
        max((whole[row] for row in parts), default=0.0) or 1.0
    )
    return {
        row: (value + weight * best * whole[row]) / (1 + weight) if row in parts else value
        for row, value in relevance.items()
    }


def best_of_pages(ranked: Iterable[int]) -> list[int]:
    """The first row of every page, in order."""
    return list({row >> ORDINAL_BITS: row for row in reversed(list(ranked))}.values())[::-1]


def on_further_documents(index: Index, found: Sequence[int], limit: int) -> list[int]:
    """Of what was found beyond the limit, the first row of each document that has none within it."""
    seen = {row >> ORDINAL_BITS for row in found[:limit]}
    first = [row for row in best_of_pages(found[limit:]) if row >> ORDINAL_BITS not in seen]
    documents = titles_and_lengths(index, [row >> ORDINAL_BITS for row in first])
    return [row for row in first if row >> ORDINAL_BITS in documents]
