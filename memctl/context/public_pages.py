"""The pages that a server offers whole, without their private lines; it lists the core, the newest logs, those of entities."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import NamedTuple

from ..errors import NothingFound, Usage
from ..index.open_memory import OpenMemory
from ..index.queries.names import all_entities, resolve
from ..language.dates import log_day
from ..notes.files import read_page
from ..notes.workspace import Workspace
from .layers import core_page

_LOGS = 7  # newest logs that are listed
_LONGEST = 64_000  # characters of a page that is given whole


class PublicPage(NamedTuple):
    """One page: `kind` is page, log or entity, `name` is what it is asked by."""

    kind: str
    name: str
    description: str


def public_pages(memory: OpenMemory) -> tuple[PublicPage, ...]:
    """All of them: core pages, logs from the newest on, entities by name."""
    workspace = memory.workspace
    memory.sync_for_read()
    entities = sorted(all_entities(memory.index), key=lambda entity: entity.name)
    return (
        *(PublicPage("page", path, "Always in context") for path in _core(workspace)),
        *(PublicPage("log", name, "Daily log") for name in _logs(workspace)[:_LOGS]),
        *(
            PublicPage("entity", entity.name, entity.type or "Entity page")
            for entity in entities
            if entity.path and workspace.is_page(entity.path)
        ),
    )


def public_page(memory: OpenMemory, kind: str, name: str) -> str:
    """The text of a page without its private lines, of a very long one the beginning; NothingFound if it is not offered."""
    workspace = memory.workspace
    if kind == "page" and workspace.is_page(name):
        path = name
    elif kind == "log" and name in _logs(workspace):
        path = f"memory/{name}.md"
    elif kind == "entity":
        path = _entity_page(memory, name)
    else:
        raise NothingFound(f"there is no {kind} {name[:200]!r}", "list the resources to see them all")
    text = read_page(workspace, path).text.removeprefix("\ufeff")
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}\n\n[cut here; show {path}#L… reads on]\n"


def _core(workspace: Workspace) -> list[str]:
    """The page of the core and the pinned ones, as far as they are there."""
    pages = {page.path for page in workspace.scan() if page.problem is None}
    return [path for path in dict.fromkeys((core_page(workspace), *workspace.settings.pinned)) if path in pages]


def _logs(workspace: Workspace) -> list[str]:
    """The names of the logs, newest first."""
    pages = (PurePosixPath(page.path) for page in workspace.scan() if page.problem is None)
    return sorted((p.stem for p in pages if str(p.parent) == "memory" and log_day(p.name)), reverse=True)


def _entity_page(memory: OpenMemory, name: str) -> str:
    memory.sync_for_read()
    found = [entity for entity in resolve(memory.index, name) if entity.path]
    if len(found) > 1:
        raise Usage(f"{name!r} may be {' or '.join(entity.name for entity in found)}", "give the whole name")
    if not found or not found[0].path or not memory.workspace.is_page(found[0].path):
        cure = "resources/list has those that do; recall finds lines about it"
        raise NothingFound(f"{name[:200]!r} has no page", cure)
    return found[0].path
