"""What labels point at today: cited lines found again by their ids, and the sessions to which lines belong."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from ..errors import MemctlError, Usage
from ..facts import Citation
from ..index.index import Index
from ..index.queries.entries import by_refs
from ..index.reread import page_lines, reread
from ..notes.workspace import Workspace
from .label_lines import Gold, target_of
from .labelled import lines_of
from .metrics import overlap

__all__ = ["Golden", "Sessions", "Standing", "read_sessions"]


class Standing(NamedTuple):
    """Where a gold item stands now: any of `places` answers. None at all: it points at nothing.

    `moved`: its id was found on other lines than the label cites. `changed`: nobody has its id any more, so the line
    says something else than when it was labelled; it is taken to be the one that was meant.
    """

    gold: Gold
    places: tuple[Citation, ...] = ()
    moved: bool = False
    changed: bool = False


class Golden:
    """Finds what labels mean in a workspace as it stands; each page is read once."""

    def __init__(self, workspace: Workspace, index: Index) -> None:
        self._workspace = workspace
        self._index = index
        self._pages: dict[str, list[bool]] = {}

    def find(self, gold: Gold) -> Standing:
        """Where a gold item stands."""
        target = target_of(gold.said)
        cited = self._standing(target.citation) if target.citation else None
        ref = gold.ref or target.ref
        if ref is None:
            return Standing(gold, (cited,) if cited else ())
        places = self._bearing(ref)
        if not places:
            return Standing(gold, (cited,), changed=True) if cited else Standing(gold)
        here = tuple(place for place in places if cited and overlap(place, cited))
        return Standing(gold, here or places, moved=target.citation is not None and not here)

    def _standing(self, citation: Citation) -> Citation | None:
        """The citation with its path as the workspace spells it, if at least one of its lines says something."""
        try:
            path = self._workspace.contain(citation.path)
        except MemctlError:
            return None
        if path not in self._pages:
            try:
                self._pages[path] = [bool(line.strip()) for line in page_lines(self._workspace, path)]
            except MemctlError:
                self._pages[path] = []
        said = self._pages[path][max(0, citation.line - 1) : citation.end_line]
        return citation._replace(path=path) if any(said) and citation.line > 0 else None

    def _bearing(self, ref: str) -> tuple[Citation, ...]:
        """Where the lines of this id stand; not the copies of them that reflect wrote, where there are others."""
        entries = by_refs(self._index, [ref])
        entries = [entry for entry in entries if entry.block is None] or entries
        seen = reread(self._workspace, entries)
        return tuple(Citation(e.path, seen[e.id].line, seen[e.id].end_line) for e in entries if e.id in seen)


class Sessions:
    """To which session each line belongs; without a list of them, every page is one."""

    def __init__(self, listed: dict[str, dict[int, str]]) -> None:
        self._listed = listed
        self.word = "session" if listed else "page"

    def of(self, place: Citation) -> str | None:
        """The session of the first line of a citation that has one."""
        if not self._listed:
            return place.path
        lines = self._listed.get(place.path, {})
        return next((lines[n] for n in range(place.line, min(place.end_line, place.line + 99) + 1) if n in lines), None)

    def of_all(self, places: Iterable[Citation]) -> tuple[str, ...]:
        """The sessions of some citations, each once, in order."""
        found = (self.of(place) for place in places)
        return tuple(dict.fromkeys(name for name in found if name is not None))


def read_sessions(path: Path, workspace: str) -> Sessions:
    """`sessions.jsonl` (`source`, `session`, optional `workspace`) as far as it is about this workspace."""
    listed: dict[str, dict[int, str]] = defaultdict(dict)
    for number, text in lines_of(path) if path.is_file() else ():
        bare = text.strip(" \t\r\n\0\ufeff")
        if not bare:
            continue
        try:
            row = json.loads(bare)
            citation = Citation.parse(row["source"])
            session = str(row["session"])
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            citation = None
        if citation is None:
            raise Usage(f"line {number} of {path} is no session", 'write {"source": "path#L12", "session": "name"}')
        if row.get("workspace") in (None, workspace):
            lines = range(citation.line, min(citation.end_line, citation.line + 9_999) + 1)
            listed[citation.path].update(dict.fromkeys(lines, session))
    return Sessions(dict(listed))
