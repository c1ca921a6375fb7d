"""What recall asks about beliefs: which line stated one, where a line's belief stands, what its evidence is."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ..index import Index
from ..lexical import ORDINAL_BITS

__all__ = ["Chain", "beliefs_stated_by", "chain_of"]

_ROWS = "SELECT id, role, line, end_line, confidence, links FROM entry WHERE id >= ? AND id < ? ORDER BY id LIMIT 400"


class Chain(NamedTuple):
    """A belief's head on its page, and its evidence: lines, relation (stated, weighed, ended) and the id it points at."""

    head: int
    line: int
    end_line: int
    confidence: float | None
    evidence: tuple[tuple[int, int, str, str], ...]

    @property
    def stated(self) -> str | None:
        """The id of the line that stated it."""
        return next((ref for _, _, relation, ref in self.evidence if relation == "stated" and ref != "-"), None)


def chain_of(index: Index, head: int) -> Chain | None:
    """The belief whose head is this entry, None if there is no such entry."""
    rows = index.rows(_ROWS, (head, ((head >> ORDINAL_BITS) + 1) << ORDINAL_BITS))
    if not rows or rows[0][0] != head:
        return None
    evidence = []
    for _, role, line, end_line, _, links in rows[1:]:
        if role in ("fact", "heading"):
            break
        if links:
            relation, _, ref = links.partition(" ")
            evidence.append((line, end_line, relation, ref))
    _, _, line, end_line, confidence, _ = rows[0]
    return Chain(head, line, end_line, confidence, tuple(evidence))


def beliefs_stated_by(index: Index, refs: Iterable[str]) -> dict[str, Chain]:
    """The belief that each of some lines stated, by the id of the line; lines that stated none are left out."""
    bullets = index.rows_in("SELECT target, entry FROM link WHERE relation = 'stated' AND target IN ({keys})", refs)
    before = "SELECT max(id) FROM entry WHERE id < ? AND id >= ? AND role = 'fact'"
    found: dict[str, Chain] = {}
    for ref, bullet in sorted(bullets, reverse=True):
        head = index.rows(before, (bullet, bullet >> ORDINAL_BITS << ORDINAL_BITS))[0][0]
        chain = chain_of(index, head) if head is not None else None
        if chain:
            found[ref] = chain
    return found
