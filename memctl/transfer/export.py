"""Export: plain data out. Facts as they stand now, and the history of every belief, a row for each piece of evidence."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import date
from typing import Any

from ..beliefs.view import beliefs
from ..entities.names_of_lines import KnownNames
from ..facts import is_trusted
from ..hits import Hit
from ..index.heal import with_index
from ..index.index import Index
from ..index.public import Private
from ..index.queries.entries import by_ids, condition_of
from ..index.queries.private import private_entries
from ..index.queries.transfer import fact_ids
from ..index.query import Query
from ..index.reread import reread
from ..index.sync import silent, sync
from ..notes.workspace import Workspace
from ..recall.entry_hits import hit_of
from ..recall.recall import resolve_about
from ..truth.judge import judge

__all__ = ["BELIEF_COLUMNS", "FACT_COLUMNS", "belief_rows", "export_facts"]

_AT_ONCE = 500  # facts that are judged and read again together
FACT_COLUMNS = (
    "id", "kind", "day", "valid_from", "valid_to", "entities", "content", "key", "confidence", "importance", "outcome",
    "task", "why", "origin", "trusted", "private", "superseded_by", "expired", "retracted", "source", "path", "line",
    "end_line", "heading", "attributes",
)  # fmt: skip
BELIEF_COLUMNS = (
    "belief", "number", "day", "verdict", "strength", "stated", "confidence", "evidence", "source", "reason", "text",
    "entities", "now", "contested", "trend", "over", "place",
)  # fmt: skip


def export_facts(
    workspace: Workspace, query: Query, today: date, take: Callable[[Mapping[str, Any]], None],
    tell: Callable[[str], None] = silent, public: bool = False,
) -> int:  # fmt: skip
    """Give `take` every fact within the query's filters, oldest first, as a row of FACT_COLUMNS; returns how many.

    What the words of a query ask plays no part. A fact that was replaced stands in its row with what replaced it.
    """

    def job(index: Index) -> int:
        if stale := sync(workspace, index).stale:  # half a memory is no export: take the time that it takes
            tell(f"stale, so rows are missing: {stale}")
        about, warnings = resolve_about(index, query)
        for warning in warnings:
            tell(warning)
        ids = fact_ids(index, condition_of(index, query, about))
        count = 0
        for start in range(0, len(ids), _AT_ONCE):
            for hit in _hits(workspace, index, ids[start : start + _AT_ONCE], query, today):
                if not (public and hit.private):
                    take(_row(hit))
                    count += 1
        return count

    return with_index(workspace, job)


def _hits(workspace: Workspace, index: Index, ids: list[int], query: Query, today: date) -> Iterator[Hit]:
    entries = by_ids(index, ids)
    verdict = judge(index, entries.values(), query.as_of or today, query.as_of)
    seen = reread(workspace, entries.values())
    names = KnownNames(index)
    for i in ids:
        if i in seen:
            yield hit_of(index, entries[i], seen[i], verdict, query.as_of or today, names)


def _row(hit: Hit) -> dict[str, Any]:
    fact = hit.fact
    values = (
        hit.ref, hit.kind.value, hit.day, _day(hit.valid.first), _day(hit.valid.last), list(hit.entities), hit.content,
        fact.key if fact else None, hit.confidence, hit.importance, fact.outcome if fact else None,
        fact.task if fact else None, fact.why if fact else None, hit.origin, is_trusted(hit.origin), hit.private,
        hit.superseded_by, hit.expired, hit.retracted, str(hit.source), hit.source.path, hit.source.line,
        hit.source.end_line, hit.heading, dict(fact.extra) if fact else {},
    )  # fmt: skip
    return dict(zip(FACT_COLUMNS, values, strict=True))


def _day(day: date | None) -> str | None:
    return day.isoformat() if day else None


def belief_rows(
    workspace: Workspace, today: date, *, about: str | None = None, as_of: date | None = None,
    tell: Callable[[str], None] = silent, public: bool = False,
) -> Iterator[dict[str, Any]]:  # fmt: skip
    """A row of BELIEF_COLUMNS for each piece of evidence, belief after belief, oldest first.

    Without the private ones if `public`. `confidence` is what followed from the evidence up to there, `now` what the belief stands at.
    """
    found = beliefs(workspace, today, about=about, as_of=as_of, tell=tell)
    hidden = with_index(workspace, private_entries) if public else Private()
    for view in found:
        if (view.place.path, view.place.line) in hidden.places:
            continue
        for number, bullet in enumerate(view.evidence, 1):
            if bullet.ref in hidden.refs or (bullet.citation and bullet.citation[:2] in hidden.places):
                continue
            values = (
                view.ref, number, bullet.day.isoformat(), bullet.verdict, bullet.strength, bullet.number,
                bullet.number if bullet.after is None and bullet.verdict != "superseded" else bullet.after,
                bullet.ref, str(bullet.citation) if bullet.citation else None, bullet.reason or None, view.text,
                list(view.entities), round(view.standing.confidence, 4), view.standing.contested, view.standing.trend,
                _day(view.over), str(view.place),
            )  # fmt: skip
            yield dict(zip(BELIEF_COLUMNS, values, strict=True))
