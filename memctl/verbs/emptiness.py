"""Never silently empty: what was searched, and which filter left nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ..core.query import Query
from ..store.index import Index
from ..store.questions import Entity, Filter, condition_of, filtered, frequencies, totals
from ..text.terms import query_terms

__all__ = ["why_empty"]


def why_empty(index: Index, query: Query, about: Sequence[Entity | str], condition: Filter) -> Iterator[str]:
    """Lines for a person who got no answer; the first says through how much it went."""
    entries, _ = totals(index)
    pages = index.rows("SELECT count(*) FROM page WHERE sha256 <> x''")[0][0]
    yield f"nothing found in {entries:,} entries of {pages:,} pages"
    if query.words:
        wanted = query_terms(query.words)
        missing = [term for term in wanted if term not in frequencies(index, wanted)]
        if missing:
            yield f"no page holds: {', '.join(missing)}"
    if condition.sql:
        yield from _blame(index, query, about)


def _blame(index: Index, query: Query, about: Sequence[Entity | str]) -> Iterator[str]:
    """The filters that leave nothing by themselves, else all of them together."""
    alone = [
        (Query(about=query.about), about, "about"),
        (Query(kinds=query.kinds), (), "kind"),
        (Query(key=query.key), (), "key"),
        (Query(days=query.days), (), "since/until"),
        (Query(as_of=query.as_of), (), "as-of"),
        (Query(min_confidence=query.min_confidence), (), "min-confidence"),
    ]
    emptied = [
        " ".join(single.filters) for single, who, _ in alone if single.filters and not filtered(index, condition_of(index, single, who), 1)
    ]
    for text in emptied:
        yield f"no entry passes the filter {text}"
    if not emptied:
        together = replace(query, words="", times=())
        passing = filtered(index, condition_of(index, together, about), 1000)
        count = "over 1,000" if len(passing) == 1000 else str(len(passing))
        yield f"{count} entries pass the filters {' '.join(query.filters)}, and none holds those words"
