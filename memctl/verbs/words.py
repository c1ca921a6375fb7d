"""The channel of words, with the names that a question mentions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..core.query import Query
from ..store.index import Index
from ..store.questions import Filter, match
from ..text.terms import query_terms

__all__ = ["Found", "by_words"]


@dataclass(frozen=True, slots=True)
class Found:
    """How relevant an entry is, its rank in each channel, and the parts that explain it."""

    relevance: float
    why: dict[str, int]
    parts: dict[str, Any] = field(default_factory=dict)


def by_words(index: Index, query: Query, condition: Filter) -> Mapping[int, Found] | None:
    """What the words of a question find; None if it has no words to look for."""
    wanted = query_terms(query.words)
    if not wanted:
        return None
    rows = match(index, wanted, condition, 200)
    return {i: Found(s, {"lexical": n}) for n, (i, s) in enumerate(rows, 1)}
