"""What review asks of the index: which questions are answered, and which lines are worth one."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date

from ..index import Index
from ..row import Row
from .entries import by_ids, selected

_SETTLING = (
    "SELECT link.target, link.entry FROM link JOIN trusted ON trusted.id = link.entry "
    "WHERE link.relation = 'settles' AND link.target IN ({keys})"
)


def settled(index: Index, questions: Iterable[str]) -> dict[str, Row]:
    """The trusted line that answers each question, the newest; unanswered ones are left out."""
    found = index.rows_in(_SETTLING, questions)
    entries = by_ids(index, (entry for _, entry in found))
    listed = sorted((entries[entry].day or "", entry, target) for target, entry in found if entry in entries)
    return {target: entries[entry] for _, entry, target in listed}


def settled_ids(index: Index, questions: Iterable[str]) -> set[str]:
    """Those of some questions that a trusted line answers."""
    return set(index.column_in(_SETTLING, questions))


def answer_lines(index: Index) -> list[Row]:
    """Lines of memctl's own kind that settle a question, in page order."""
    sql = (
        "SELECT DISTINCT live.id FROM link CROSS JOIN live ON live.id = link.entry "
        "WHERE relation = 'settles' AND kind = 'observation'"
    )
    return selected(index, sql)


def refs_standing(index: Index, refs: Iterable[str]) -> set[str]:
    """Those of some ids that a line has, copies left out."""
    return set(index.column_in("SELECT DISTINCT ref FROM live WHERE ref IN ({keys})", refs))


def past_plans(index: Index, today: date, since: date) -> list[Row]:
    """Facts about a day that was still to come when they were told and has passed since, the day last, not before `since`.

    Neither opinions nor summaries, and nothing with an outcome.
    """
    sql = (
        "SELECT id FROM countable WHERE kind IN ('world', 'experience') AND task IS NULL AND slot IS NULL "
        "AND coalesce(last, first) > day AND coalesce(last, first) < ? AND coalesce(last, first) >= ?"
    )
    return selected(index, sql, (str(today), str(since)))


def from_outside(index: Index, since: date) -> list[Row]:
    """Facts that are not trusted and were told from a day on; no copies, nothing private."""
    sql = (
        "SELECT id FROM told WHERE private = 0 AND day >= ? AND kind <> 'observation' "
        "AND id NOT IN (SELECT id FROM trusted)"
    )
    return selected(index, sql, (str(since),))


def mention_counts(index: Index, names: Iterable[str]) -> dict[str, int]:
    """How many lines name each of these keys; names that no line has are left out."""
    return dict(index.rows_in("SELECT name, count(*) FROM mention WHERE name IN ({keys}) GROUP BY name", names))


def core_names(index: Index) -> set[str]:
    """The keys of the names on memory.md."""
    sql = (
        "SELECT DISTINCT mention.name FROM page JOIN entry ON entry.page = page.id JOIN mention ON mention.entry = entry.id "
        "WHERE page.path = 'memory.md'"
    )
    return set(index.column(sql))
