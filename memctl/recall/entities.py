"""Entity: who and what the workspace knows, under which names, and what holds of them now."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date

from ..errors import NothingFound, Usage
from ..facts import Fact
from ..hits import Hit
from ..index.heal import with_index
from ..index.index import Index
from ..index.queries.entries import Query
from ..index.queries.names import all_entities, mentioned, mentions_of, resolve
from ..index.reread import reread
from ..index.sync import freshen, silent
from ..language.names import entity_key, mentions
from ..markdown.grammar import parse
from ..markdown.lines import Role, content_of
from ..notes.workspace import Workspace
from .recall import recall_in
from .slots import current_slots

__all__ = ["EntityLine", "EntityView", "list_entities", "show_entity"]


@dataclass(frozen=True, slots=True)
class EntityLine:
    """One entity in the list: `path` is its page, None while it has none; `mentions` counts lines that name it."""

    name: str
    type: str | None
    aliases: tuple[str, ...]
    mentions: int
    path: str | None


@dataclass(frozen=True, slots=True)
class EntityView:
    """One entity: what holds now by slot, and its newest lines."""

    line: EntityLine
    slots: tuple[tuple[str, Hit], ...]
    newest: tuple[Hit, ...]


def list_entities(workspace: Workspace, tell: Callable[[str], None] = silent) -> tuple[EntityLine, ...]:
    """Every entity with a page, and every name written as @Name or [[Name]] without one, most mentioned first."""

    def job(index: Index) -> tuple[EntityLine, ...]:
        freshen(workspace, index, tell)
        lines = _lines(index)
        spelled = _spelled(workspace, index, [line.name for line in lines if line.path is None])
        named = [line if line.path else replace(line, name=spelled.get(line.name, line.name)) for line in lines]
        return tuple(sorted(named, key=lambda line: (-line.mentions, line.path is None, line.name)))

    return with_index(workspace, job)


def _lines(index: Index) -> list[EntityLine]:
    counts = dict(mentioned(index))
    lines = []
    for entity in all_entities(index):
        total = sum(counts.pop(key, 0) for key in entity.keys)
        aliases = tuple(name for name in entity.names if name != entity.name)
        lines.append(EntityLine(entity.name, entity.type, aliases, total, entity.path))
    lines += [EntityLine(key, None, (), count, None) for key, count in counts.items()]
    return lines


def _spelled(workspace: Workspace, index: Index, keys: Sequence[str]) -> dict[str, str]:
    """How names without a page are written most often, by key, as far as some of their lines show."""
    named = mentions_of(index, keys)
    seen = reread(workspace, {entry.id: entry for entries in named.values() for entry in entries}.values())
    written: dict[str, list[str]] = {}
    for key, entries in named.items():
        raw = ((Role(entry.role), seen[entry.id].raw) for entry in entries if entry.id in seen)
        names = Counter(name for role, lines in raw for name in _names(role, lines) if entity_key(name) == key)
        written[key] = sorted(names, key=lambda name: (-names[name], name))
    return {key: names[0] for key, names in written.items() if names}


def _names(role: Role, raw: Sequence[str]) -> Iterator[str]:
    text = content_of(role, raw)
    fact = parse(text) if role is Role.FACT else None
    if isinstance(fact, Fact):
        yield from fact.entities
        text = fact.text
    yield from mentions(text)


def show_entity(
    workspace: Workspace, name: str, today: date, k: int = 10, tell: Callable[[str], None] = silent
) -> EntityView:
    """One entity as it stands today; NothingFound for a name that nobody has, Usage for one that several have."""

    def job(index: Index) -> EntityView:
        freshen(workspace, index, tell)
        found = resolve(index, name)
        if len(found) > 1:
            raise Usage(f"{name!r} may be {' or '.join(e.name for e in found)}", "give the whole name")
        wanted = found[0].name if found else name
        hits = recall_in(workspace, index, Query(about=(wanted,)), today=today, k=k).hits
        if not found and not hits:
            raise NothingFound(f"nobody is called {name!r}", "`memctl entity list` has all names")
        line = next(
            (x for x in _lines(index) if found and x.path == found[0].path),
            EntityLine(wanted, None, (), len(hits), None),
        )
        return EntityView(line, current_slots(workspace, index, wanted, today), hits)

    return with_index(workspace, job)
