"""Entity: who and what the workspace knows, under which names, and what holds of them now."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date

from ..core.hits import Hit
from ..core.query import Query
from ..errors import NothingFound, Usage
from ..store.heal import with_index
from ..store.index import Index
from ..store.questions import all_entities, mentioned, resolve
from ..store.workspace import Workspace
from .fact import current_slots
from .recall import recall_in
from .sync import freshen, silent

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
        return _lines(index)

    return with_index(workspace, job)


def _lines(index: Index) -> tuple[EntityLine, ...]:
    counts = dict(mentioned(index))
    lines = []
    for entity in all_entities(index):
        total = sum(counts.pop(key, 0) for key in entity.keys)
        aliases = tuple(name for name in entity.names if name != entity.name)
        lines.append(EntityLine(entity.name, entity.type, aliases, total, entity.path))
    lines += [EntityLine(key, None, (), count, None) for key, count in counts.items()]
    return tuple(sorted(lines, key=lambda line: (-line.mentions, line.path is None, line.name)))


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
