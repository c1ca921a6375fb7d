"""Passages: the lines that a model needs beside those that were found, so that it reads no answer without its question."""

from __future__ import annotations

from collections.abc import Sequence

from ..hits import Hit
from ..index.open_memory import OpenMemory
from ..index.queries.entries import by_ids, by_refs
from ..markdown.lines import Role
from ..recall.asked import is_polite, points_back
from ..recall.entry_hits import hits_of

_FIRST = 3  # hits whose neighbours are looked at
_SAID = frozenset((Role.TEXT.value, Role.ITEM.value, Role.FACT.value))


def with_neighbours(memory: OpenMemory, hits: Sequence[Hit]) -> list[Hit]:
    """The hits, each with its neighbour behind it: before a line that begins with a pronoun, after one that asks."""
    wanted = {(h.source.path, h.source.line): -1 if points_back(h.content) else 1 for h in hits[:_FIRST] if _lacks(h)}
    rows = by_refs(memory.index, [hit.ref for hit in hits[:_FIRST]]) if wanted else []
    beside = {row.id + wanted[row.path, row.line]: row.id for row in rows if (row.path, row.line) in wanted}
    found = [row for row in by_ids(memory.index, beside).values() if row.block is None and row.role in _SAID]
    read = hits_of(memory, found)
    stands = {(hit.source.path, hit.source.line) for hit in hits}
    by_place = {(row.path, row.line): row.id for row in rows}
    behind = {beside[i]: hit for i, hit in read.items() if not is_polite(hit.content)}
    made: list[Hit] = []
    for hit in hits:
        made.append(hit)
        place = hit.source.path, hit.source.line
        neighbour = behind.get(by_place.get(place, -1))
        if neighbour and (neighbour.source.path, neighbour.source.line) not in stands:
            made.append(neighbour)
    return made


def _lacks(hit: Hit) -> bool:
    return points_back(hit.content) or hit.content.rstrip().endswith(("?", "？"))
