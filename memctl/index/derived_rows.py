"""Rows turned round: what entries put into the tables of names, links and slots; and the sum over a page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ..facts import is_trusted
from ..ids import hashed
from .row import Row

__all__ = ["SELECT_ABOUT", "SELECT_NAMES", "derived", "page_sum", "slots", "turned"]

SELECT_ABOUT = "SELECT rows_sum, id, path, day, title, entries, terms, embedded, sha256, problem FROM page ORDER BY id"
SELECT_NAMES = (
    "SELECT page, key, name, type FROM entity",
    "SELECT page, key, head, stem, name FROM alias ORDER BY key",
)


def page_sum(about: tuple[Any, ...], names: Iterable[tuple[Any, ...]], rows: Iterable[tuple[Any, ...]]) -> bytes:
    """16 bytes over a page (its columns from `path` on in SELECT_ABOUT), its names and all its rows with their terms."""
    whole = [tuple(row) for row in (about, *names, *rows)]
    return hashed(repr(whole).encode("utf-8", "replace"), 16)


def derived(rows: Sequence[tuple[Any, ...]]) -> dict[str, set[tuple[Any, ...]]]:
    """What rows of entries put into the tables that turn them round, by table and in the order of its columns."""
    links = {(target, relation, entry) for relation, target, entry in turned(rows, "links")}
    return {"mention": set(turned(rows, "names")), "link": links, "slot": set(slots(rows))}


_NAMES, _LINKS, _SLOT, _BLOCK, _FIRST, _ORIGIN, _SAME, _MARKED = map(
    Row._fields.index, ("names", "links", "slot", "block", "first", "origin", "same", "marked")
)


def turned(rows: Sequence[tuple[Any, ...]], column: str) -> Iterator[tuple[Any, ...]]:
    """The lines of a list column, each with the id of its row."""
    place = _NAMES if column == "names" else _LINKS
    for row in rows:
        for line in row[place].split("\n") if row[place] else ():
            yield (*(line.split(" ", 1) if column == "links" else (line,)), row[0])


def slots(rows: Sequence[tuple[Any, ...]]) -> Iterator[tuple[str, str, str, int, int, int, int]]:
    """The columns of `slot` for the rows that fill one; a copy in a managed block fills none."""
    for row in rows:
        if row[_SLOT] is not None and row[_BLOCK] is None:
            subject = row[_NAMES].split("\n", 1)[0]
            trusted = int(is_trusted(row[_ORIGIN]))
            yield row[_SLOT], subject, row[_FIRST] or "", row[0], trusted, row[_SAME], row[_MARKED]
