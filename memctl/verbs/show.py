"""Show: print what a citation, an id, an entity or a page points at, with the lines around it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from ..errors import NothingFound
from ..facts import Citation
from ..store.heal import with_index
from ..store.index import Index
from ..store.questions import by_refs, resolve
from ..store.reread import page_lines, reread
from ..store.workspace import Workspace
from .sync import freshen, silent

__all__ = ["Passage", "show"]

_ID = re.compile(r"\^?([A-Za-z0-9][A-Za-z0-9-]{0,63})")


@dataclass(frozen=True, slots=True)
class Passage:
    """Lines of a page: `lines[0]` is line `first`; those of the citation are the ones asked for."""

    citation: Citation
    first: int
    lines: tuple[str, ...]
    ref: str | None = None


def show(
    workspace: Workspace, reference: str, context: int = 3, tell: Callable[[str], None] = silent
) -> tuple[Passage, ...]:
    """The passages that a reference points at; NothingFound if there are none, OutsideWorkspace for foreign paths.

    A citation with an id (`memory/2025-11-27.md#L12 ^f-1a2b3c4d`) is followed by the id, wherever its line moved.
    """
    where, _, ref = reference.strip().rpartition(" ^")
    citation = Citation.parse(where or reference)
    if citation and not where:
        return (_at(workspace, citation, context),)
    passages = with_index(workspace, lambda index: _indexed(workspace, index, ref or reference.strip(), context, tell))
    if not passages and citation:
        return (_at(workspace, citation, context),)
    if not passages:
        raise NothingFound(f"nothing is called {reference!r}", "name a citation (path#L12), an id, an entity or a page")
    return passages


def _at(workspace: Workspace, citation: Citation, context: int) -> Passage:
    path = workspace.contain(citation.path)
    lines = page_lines(workspace, path)
    if citation.line < 1 or citation.line > len(lines):
        raise NothingFound(
            f"{path} has {len(lines)} lines, and no line {citation.line}", "find it with `memctl recall`"
        )
    last = min(citation.end_line, len(lines))
    return _cut(Citation(path, citation.line, last), lines, context)


def _cut(citation: Citation, lines: list[str], context: int, ref: str | None = None) -> Passage:
    first = max(1, citation.line - context)
    return Passage(citation, first, tuple(lines[first - 1 : citation.end_line + context]), ref)


def _indexed(
    workspace: Workspace, index: Index, name: str, context: int, tell: Callable[[str], None]
) -> tuple[Passage, ...]:
    """What has this id; else the page of the entity of this name; else the page at this path."""
    freshen(workspace, index, tell)
    match = _ID.fullmatch(name)
    entries = by_refs(index, [match[1]]) if match else []
    seen = reread(workspace, entries)
    if seen:
        places = [(e, Citation(e.path, seen[e.id].line, seen[e.id].end_line)) for e in entries if e.id in seen]
        return tuple(_cut(at, page_lines(workspace, at.path), context, e.ref) for e, at in places)
    entities = resolve(index, name.removeprefix("@").removeprefix("[[").removesuffix("]]"))
    paths = [entity.path for entity in entities] or [p for p in (name, f"{name}.md") if _is_page(workspace, p)]
    return tuple(_whole(workspace, path) for path in paths)


def _is_page(workspace: Workspace, path: str) -> bool:
    return path.endswith(".md") and (workspace.root / workspace.contain(path)).is_file()


def _whole(workspace: Workspace, path: str) -> Passage:
    contained = workspace.contain(path)
    lines = page_lines(workspace, contained)
    return Passage(Citation(contained, 1, max(1, len(lines))), 1, tuple(lines))
