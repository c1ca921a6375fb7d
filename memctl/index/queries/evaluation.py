"""What `eval` asks of the index: where a cited line stands in it, and when each page was written."""

from __future__ import annotations

from ...facts import Citation
from ..index import SELECT_STORED, Index
from ..lexical import ORDINAL_BITS
from .entries import Stored

__all__ = ["days_of_pages", "entries_at"]


def days_of_pages(index: Index) -> dict[str, str | None]:
    """The day of every page that could be read; None for a page that is no log."""
    return dict(index.rows("SELECT path, day FROM page WHERE sha256 <> x''"))


def entries_at(index: Index, place: Citation) -> list[Stored]:
    """The entries that share a line with a citation, in page order."""
    sql = (
        f"SELECT {SELECT_STORED}, page.path FROM page JOIN entry ON entry.id >= (page.id << {ORDINAL_BITS}) "
        f"AND entry.id < ((page.id + 1) << {ORDINAL_BITS}) "
        "WHERE page.path = ? AND entry.line <= ? AND entry.end_line >= ? ORDER BY entry.id"
    )
    return [Stored(*row) for row in index.rows(sql, (place.path, place.end_line, place.line))]
