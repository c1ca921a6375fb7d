"""The resources of `memctl mcp`: the core page, pinned pages, the newest logs and entity pages, as Markdown without private lines."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import quote, unquote

from ...errors import NothingFound, Usage
from ...index.index import Index
from ...index.public import private_entries, without_private_lines
from ...index.queries.names import all_entities, resolve
from ...index.row import Entity
from ...index.sync import freshen, silent
from ...notes.files import read_page
from .reading import MOST, Session

__all__ = ["PAGE_OF_LIST", "TEMPLATES", "Listed", "listed", "read"]

CORE = "memory.md"
PAGE_OF_LIST = 100
"""Resources in one page of the list."""
TEMPLATES = (
    ("entity", "memctl://entity/{name}", "The page of a person, project or thing, by any of its names."),
    ("log", "memctl://log/{day}", "The log of a day: 2025-11-27."),
)
_LOGS = 7  # newest logs worth listing
_LOG = re.compile(r"memory/(\d{4}-\d\d-\d\d(?:-[^/]+)?)\.md")
_LARGEST = 4 * MOST  # characters of a page that is read whole


class Listed(NamedTuple):
    """One resource: where it is, what it is called, what it is."""

    uri: str
    title: str
    description: str


def listed(session: Session, start: int = 0) -> tuple[list[Listed], int | None]:
    """The resources from number `start` on, and with which number the next page of the list begins."""

    def job(index: Index) -> list[Entity]:
        freshen(session.workspace, index, silent)
        return all_entities(index)

    entities = session.resident.run(job)
    found = [Listed(f"memctl://page/{quote(path)}", path, "Always in context") for path in _core(session)]
    found += [Listed(f"memctl://log/{quote(name)}", name, "Daily log") for name in _logs(session)[:_LOGS]]
    found += [
        Listed(f"memctl://entity/{quote(entity.name, safe='')}", entity.name, entity.type or "Entity page")
        for entity in sorted(entities, key=lambda entity: entity.name)
        if entity.path and session.workspace.is_page(entity.path)
    ]
    end = start + PAGE_OF_LIST
    return found[start:end], end if end < len(found) else None


def _core(session: Session) -> list[str]:
    """memory.md (MEMORY.md where OpenClaw made the workspace) and the pinned pages, as far as they are there."""
    pages = [page.path for page in session.workspace.scan() if page.problem is None]
    core = sorted((path for path in pages if path.lower() == CORE), reverse=True)[:1]
    return [path for path in dict.fromkeys((*core, *session.workspace.settings.pinned)) if path in pages]


def _logs(session: Session) -> list[str]:
    """The names of the logs, newest first."""
    found = (_LOG.fullmatch(page.path) for page in session.workspace.scan() if page.problem is None)
    return sorted((match[1] for match in found if match), reverse=True)


def read(session: Session, uri: str) -> str:
    """The text of a resource; NothingFound for one that is not offered, whatever stands on disk."""
    match = re.fullmatch(r"memctl://(page|log|entity)/(.+)", uri, re.DOTALL)
    kind, name = (match[1], unquote(match[2])) if match and len(uri) <= 4096 else ("", "")
    if kind == "page" and name in _core(session):
        return _text(session, name)
    if kind == "log" and name in _logs(session):
        return _text(session, f"memory/{name}.md")
    if kind == "entity":
        return _text(session, _entity_page(session, name))
    raise NothingFound(f"there is no resource {uri[:200]!r}", "resources/list has them all")


def _entity_page(session: Session, name: str) -> str:
    def job(index: Index) -> Sequence[Entity]:
        freshen(session.workspace, index, silent)
        return resolve(index, name)

    found = [entity for entity in session.resident.run(job) if entity.path]
    if len(found) > 1:
        raise Usage(f"{name!r} may be {' or '.join(entity.name for entity in found)}", "give the whole name")
    if not found or not found[0].path or not session.workspace.is_page(found[0].path):
        raise NothingFound(
            f"{name[:200]!r} has no page", "resources/list has those that do; recall finds lines about it"
        )
    return found[0].path


def _text(session: Session, path: str) -> str:
    """A page without its private lines; of a very long one the beginning."""
    refs = session.resident.run(lambda index: private_entries(index).refs)
    text = without_private_lines(read_page(session.workspace, path).text.removeprefix("\ufeff"), refs)
    if len(text) <= _LARGEST:
        return text
    return f"{text[:_LARGEST]}\n\n[cut here; show {path}#L… reads on]\n"
