"""Entries of the index as hits: judged, read again from disk just now, as their author wrote them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from functools import lru_cache
from typing import NamedTuple

from ..entities.names_of_lines import KnownNames
from ..facts import Citation, Fact, Kind
from ..hits import Hit
from ..index.index import Index
from ..index.open_memory import OpenMemory
from ..index.reread import Seen, reread
from ..index.row import Row
from ..language.names import entity_key, mentions
from ..markdown.grammar import parse
from ..markdown.lines import Role, content_of
from ..truth.judge import Judgement, judge, period_of
from ..truth.validity import has_ended

__all__ = ["EntryText", "hit_of", "hits_of", "text_of"]


def hits_of(
    memory: OpenMemory, entries: Iterable[Row], verdict: Judgement | None = None, *, as_of: date | None = None,
    seen: Mapping[int, Seen] | None = None, known: KnownNames | None = None, whole: bool = True,
) -> dict[int, Hit]:  # fmt: skip
    """The entries as hits by id, in their order, as of a day (today); an entry whose lines are gone is left out.

    What was judged or read before is given as `verdict` and `seen`, else this judges (`whole` as in truth/judge.py) and
    reads. `known` shares the names that were looked up between calls.
    """
    wanted = list(entries)
    day = as_of or memory.today
    verdict = verdict or judge(memory.index, wanted, day, as_of, whole=whole)
    seen = reread(memory.workspace, wanted, memory.index) if seen is None else seen
    known = known or KnownNames(memory.index)
    return {e.id: hit_of(memory.index, e, seen[e.id], verdict, day, known) for e in wanted if e.id in seen}


def hit_of(
    index: Index, entry: Row, seen: Seen, verdict: Judgement, today: date, names: KnownNames | None = None
) -> Hit:
    """An entry as it was just read, with its validity."""
    text = text_of(entry, seen)
    standing = verdict.standings.get(entry.id)
    by = standing.replaced_by if standing else None
    valid = standing.valid if standing else period_of(entry)
    return Hit(
        ref=entry.ref,
        kind=Kind(entry.kind),
        day=entry.day,
        valid=valid,
        entities=_as_known(names or KnownNames(index), text.names, text.content),
        content=text.content,
        source=Citation(entry.path, seen.line, seen.end_line),
        heading=entry.heading,
        confidence=entry.confidence,
        importance=entry.importance,
        origin=entry.origin,
        private=bool(entry.private),
        superseded_by=verdict.entries[by].ref if by is not None else None,
        expired=has_ended(valid, today) and entry.kind != Kind.EXPERIENCE.value,  # what happened, happened
        retracted=bool(standing and standing.retracted),
        fact=text.fact,
    )


class EntryText(NamedTuple):
    """What the lines of an entry say, the fact that they are, and the names written on them."""

    content: str
    fact: Fact | None
    names: tuple[str, ...]


def text_of(entry: Row, seen: Seen) -> EntryText:
    """The text of an entry as it stands on disk."""
    return _text(Role(entry.role), seen.raw)


@lru_cache(maxsize=8192)
def _text(role: Role, raw: tuple[str, ...]) -> EntryText:
    text = content_of(role, raw)
    read = parse(text) if role is Role.FACT else None
    fact = read if isinstance(read, Fact) else None
    content = fact.text if fact else text
    return EntryText(content, fact, (*(fact.entities if fact else ()), *mentions(content)))


def _as_known(names: KnownNames, written: Sequence[str], text: str) -> tuple[str, ...]:
    """The names written on a line and those in its text, each entity once; a name without a page as it was written."""
    known = [*(names.known_as(name) for name in written), *names.in_text(text)]
    return tuple({entity_key(name): name for name in reversed(known)}.values())[::-1]
