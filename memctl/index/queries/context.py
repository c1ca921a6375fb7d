"""What `context` asks of the index beside recall: the tasks tried last, the lines of a page, which lines are copies."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date

from ...ids import page_id
from ..index import Index
from ..lexical import ORDINAL_BITS
from .entries import Stored, by_ids

__all__ = ["copied_places", "own_lines", "recent_tasks"]


def recent_tasks(index: Index, until: date, limit: int) -> list[str]:
    """The tasks whose outcomes were told last, the last one first; `@key` for the outcomes of an entity that name no task."""
    sql = (
        "SELECT task, max(day) AS told FROM entry WHERE task IS NOT NULL AND block IS NULL AND day <= ? "
        "GROUP BY task ORDER BY told DESC, task LIMIT ?"
    )
    return [task for task, _ in index.rows(sql, (str(until), limit))]


def own_lines(index: Index, path: str) -> list[Stored]:
    """The lines of a page that no block of memctl's holds, in order; no headings."""
    first = page_id(path) << ORDINAL_BITS
    sql = "SELECT id FROM entry WHERE id >= ? AND id < ? AND block IS NULL AND role <> 'heading' ORDER BY id"
    found = by_ids(index, [i for (i,) in index.rows(sql, (first, first + (1 << ORDINAL_BITS)))])
    return [found[i] for i in sorted(found)]


def copied_places(index: Index, refs: Iterable[str]) -> set[tuple[str, int]]:
    """Where lines with these ids stand in managed blocks: path and line."""
    sql = (
        f"SELECT page.path, entry.line FROM entry JOIN page ON page.id = entry.id >> {ORDINAL_BITS} "
        "WHERE entry.block IS NOT NULL AND entry.ref IN ({keys})"
    )
    return {(path, line) for path, line in index.rows_in(sql, refs)}
