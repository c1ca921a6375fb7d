"""What the vectors ask of the index: which entries take part, by page, and which pages are the newest."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ..index import NOT_EMBEDDED, Index
from ..lexical import ORDINAL_BITS
from .entries import Stored, by_ids

__all__ = ["EMBEDDABLE", "Leaf", "digests_of", "embeddable", "entries_of", "leaves", "page_stands"]

EMBEDDABLE = f"(entry.block IS NULL AND entry.role NOT IN {NOT_EMBEDDED})"
"""SQL: the entries that are embedded, which `page.embedded` counts. No copies, tombstones or evidence, no headings (they
stand with each line), no front matter."""


class Leaf(NamedTuple):
    """A page as the vectors know it: its number, its path, the sum of its rows, and how many entries take part."""

    id: int
    path: str
    rows_sum: bytes
    entries: int


def leaves(index: Index) -> list[Leaf]:
    """Every page, newest first: by the day of a log, else by the day on which it was saved."""
    sql = (
        "SELECT id, path, rows_sum, embedded FROM page "
        "ORDER BY coalesce(day, date(mtime_ns / 1000000000, 'unixepoch')) DESC, path"
    )
    return [Leaf(*row) for row in index.rows(sql)]


def entries_of(index: Index, page: int) -> list[Stored]:
    """The entries of a page that take part, in its order."""
    low, high = page << ORDINAL_BITS, (page + 1) << ORDINAL_BITS
    ids = index.rows(f"SELECT id FROM entry WHERE id >= ? AND id < ? AND {EMBEDDABLE}", (low, high))
    found = by_ids(index, (i for (i,) in ids))
    return [found[i] for i in sorted(found)]


def digests_of(index: Index, ids: Iterable[int]) -> dict[int, int]:
    """The digest of some entries as they stand in the index; ids that are no entries are left out."""
    return dict(index.rows_in("SELECT id, digest FROM entry WHERE id IN ({keys})", ids))


def embeddable(index: Index) -> int:
    """How many entries take part."""
    return int(index.rows("SELECT coalesce(sum(embedded), 0) FROM page")[0][0])


def page_stands(index: Index, page: int, rows_sum: bytes) -> bool:
    """True while the index holds these rows of a page."""
    return index.rows("SELECT rows_sum FROM page WHERE id = ?", (page,)) == [(rows_sum,)]
