"""Which lines the index knows to be private."""

from __future__ import annotations

from ..index import Index
from ..lexical import ORDINAL_BITS
from ..public import Private

__all__ = ["private_entries", "private_ids"]


def private_ids(index: Index) -> frozenset[int]:
    """The ids of all private entries; asked for once until the index changes."""
    return index.remembered("private", lambda: frozenset(row[0] for row in index.rows(_IDS)))


def private_entries(index: Index) -> Private:
    """The private lines of the workspace, by id and by place; asked for once until the index changes."""
    return index.remembered("private places", lambda: _private_entries(index)) if private_ids(index) else Private()


def _private_entries(index: Index) -> Private:
    found = index.rows(_ENTRIES)
    places = frozenset((path, n) for _, path, line, end_line in found for n in range(line, end_line + 1))
    return Private(frozenset(row[0] for row in found), places)


_IDS = "SELECT id FROM entry WHERE private = 1"
_ENTRIES = (
    "SELECT ref, path, line, end_line FROM entry CROSS JOIN page "
    f"ON page.id = entry.id >> {ORDINAL_BITS} WHERE private = 1"
)
