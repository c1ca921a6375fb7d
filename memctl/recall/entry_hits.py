"""One entry of the index as a hit: as its author wrote it, read again just now, with its standing."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from functools import lru_cache

from ..entities.names_of_lines import KnownNames
from ..facts import Citation, Fact, Kind
from ..hits import Hit
from ..index.index import Index
from ..index.queries.entries import Stored
from ..index.reread import Seen
from ..language.names import entity_key, mentions
from ..markdown.grammar import parse
from ..markdown.lines import Role, content_of
from ..truth.judge import Judgement, period_of
from ..truth.validity import has_ended

__all__ = ["hit_of"]


def hit_of(
    index: Index, entry: Stored, seen: Seen, verdict: Judgement, today: date, names: KnownNames | None = None
) -> Hit:
    """An entry as it was just read, with its standing."""
    content, fact, written = _said(Role(entry.role), seen.raw)
    standing = verdict.standings.get(entry.id)
    by = standing.replaced_by if standing else None
    valid = standing.valid if standing else period_of(entry)
    return Hit(
        ref=entry.ref,
        kind=Kind(entry.kind),
        day=entry.day,
        valid=valid,
        entities=_as_known(names or KnownNames(index), written, content),
        content=content,
        source=Citation(entry.path, seen.line, seen.end_line),
        heading=entry.heading,
        confidence=entry.confidence,
        importance=entry.importance,
        origin=entry.origin,
        private=bool(entry.private),
        superseded_by=verdict.entries[by].ref if by is not None else None,
        expired=has_ended(valid, today) and entry.kind != Kind.EXPERIENCE.value,  # what happened, happened
        retracted=bool(standing and standing.retracted),
        fact=fact,
    )


@lru_cache(maxsize=8192)
def _said(role: Role, raw: tuple[str, ...]) -> tuple[str, Fact | None, tuple[str, ...]]:
    """What lines say, the fact that they are, and the names written on them."""
    text = content_of(role, raw)
    read = parse(text) if role is Role.FACT else None
    fact = read if isinstance(read, Fact) else None
    content = fact.text if fact else text
    return content, fact, (*(fact.entities if fact else ()), *mentions(content))


def _as_known(names: KnownNames, written: Sequence[str], text: str) -> tuple[str, ...]:
    """The names written on a line and those in its text, each bearer once; a name without a page as it was written."""
    known = [*(names.known_as(name) for name in written), *names.in_text(text)]
    return tuple({entity_key(name): name for name in reversed(known)}.values())[::-1]
