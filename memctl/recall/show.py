"""Show: print what a citation, an id, an entity or a page points at, with the lines around it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..errors import NothingFound
from ..facts import Citation
from ..index.heal import with_index
from ..index.index import Index
from ..index.queries.entries import by_refs
from ..index.queries.names import resolve
from ..index.reread import page_lines, reread
from ..index.sync import freshen, silent
from ..notes.workspace import Workspace

if TYPE_CHECKING:
    from ..index.resident import Resident

__all__ = ["Passage", "show"]

_ID = re.compile(r"\^?([A-Za-z0-9][A-Za-z0-9-]{0,63})")


@dataclass(frozen=True, slots=True)
class Passage:
    """Lines of a page: `lines[0]` is line `first`; those of the citation are the ones asked for."""

    citation: Citation
    first: int
    lines: tuple[str, ...]
    ref: str | None = None

    def as_json(self) -> dict[str, Any]:
        """The passage as plain values."""
        return {"source": str(self.citation), "id": self.ref, "first": self.first, "lines": list(self.lines)}


def show(
    workspace: Workspace, reference: str, context: int = 3, tell: Callable[[str], None] = silent,
    *, public: bool = False, through: Resident | None = None,
) -> tuple[Passage, ...]:  # fmt: skip
    """The passages that a reference points at; NothingFound if there are none, OutsideWorkspace for foreign paths.

    A citation with an id (`memory/2025-11-27.md#L12 ^f-1a2b3c4d`) is followed by the id, wherever its line moved.
    What is `public` shows pages only, their private lines blank, and finds nothing where all lines asked for are private.
    """
    where, _, ref = reference.strip().rpartition(" ^")
    citation = Citation.parse(where or reference)
    if citation and not where and not public:
        return (_Pages(workspace).at(citation, context),)

    def job(index: Index) -> tuple[Passage, ...]:
        if public:
            freshen(workspace, index, tell)
        pages = _PublicPages(workspace, index) if public else _Pages(workspace)
        if citation and not where:
            return (pages.at(citation, context),)
        found = _indexed(pages, index, ref or reference.strip(), context, tell)
        return found or ((pages.at(citation, context),) if citation else ())

    passages = through.run(job) if through else with_index(workspace, job)
    if not passages:
        raise NothingFound(f"nothing is called {reference!r}", "name a citation (path#L12), an id, an entity or a page")
    return passages


class _Pages:
    """The pages of a workspace as they are on disk."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace

    def lines(self, path: str) -> list[str]:
        """The lines of a page."""
        return page_lines(self.workspace, path)

    def may_show(self, lines: list[str]) -> bool:
        """False if these lines of a page are nothing to show."""
        return True

    def at(self, citation: Citation, context: int, ref: str | None = None) -> Passage:
        """The lines of a citation with those around it."""
        path = self.workspace.contain(citation.path)
        lines = self.lines(path)
        if citation.line < 1 or citation.line > len(lines):
            raise NothingFound(
                f"{path} has {len(lines)} lines, and no line {citation.line}", "find it with `memctl recall`"
            )
        last = min(citation.end_line, len(lines))
        if not self.may_show(lines[citation.line - 1 : last]):
            raise NothingFound(f"nothing may be shown of {path}#L{citation.line}", "find another with `memctl recall`")
        first = max(1, citation.line - context)
        return Passage(Citation(path, citation.line, last), first, tuple(lines[first - 1 : last + context]), ref)

    def whole(self, path: str) -> Passage:
        """A page from its first line to its last."""
        contained = self.workspace.contain(path)
        lines = self.lines(contained)
        return Passage(Citation(contained, 1, max(1, len(lines))), 1, tuple(lines))

    def is_page(self, path: str) -> bool:
        """True for the path of a file that can be shown whole."""
        return path.endswith(".md") and (self.workspace.root / self.workspace.contain(path)).is_file()


class _PublicPages(_Pages):
    """The pages that recall searches, without their private lines."""

    def __init__(self, workspace: Workspace, index: Index) -> None:
        from ..index.public import private_entries

        super().__init__(workspace)
        self._refs = private_entries(index).refs

    def lines(self, path: str) -> list[str]:
        from ..index.public import without_private_lines

        if not self.workspace.is_page(path):
            raise NothingFound(f"{path} is no page of the workspace", "name a page that recall searches")
        return without_private_lines("\n".join([*page_lines(self.workspace, path), ""]), self._refs).split("\n")[:-1]

    def may_show(self, lines: list[str]) -> bool:
        return any(map(str.strip, lines))

    def is_page(self, path: str) -> bool:
        return self.workspace.is_page(self.workspace.contain(path)) and super().is_page(path)


def _indexed(pages: _Pages, index: Index, name: str, context: int, tell: Callable[[str], None]) -> tuple[Passage, ...]:
    """What has this id; else the page of the entity of this name; else the page at this path."""
    workspace = pages.workspace
    if not isinstance(pages, _PublicPages):
        freshen(workspace, index, tell)
    match = _ID.fullmatch(name)
    entries = by_refs(index, [match[1]]) if match else []
    if isinstance(pages, _PublicPages):
        entries = [entry for entry in entries if not entry.private]
    seen = reread(workspace, entries)
    if seen:
        places = [(e, Citation(e.path, seen[e.id].line, seen[e.id].end_line)) for e in entries if e.id in seen]
        return tuple(pages.at(at, context, e.ref) for e, at in places)
    entities = resolve(index, name.removeprefix("@").removeprefix("[[").removesuffix("]]"))
    paths = [entity.path for entity in entities] or [p for p in (name, f"{name}.md") if pages.is_page(p)]
    return tuple(pages.whole(path) for path in paths)
