"""Every cited line is read again before it is shown; one that moved is found by its content, one that is gone is not shown."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ..core.row import digest
from ..errors import MemctlError
from ..text.lines import split_lines
from .files import read_page
from .questions import Stored
from .workspace import Workspace

__all__ = ["Seen", "page_lines", "reread"]


class Seen(NamedTuple):
    """Where an entry stands now, and its raw lines as they are on disk."""

    line: int
    end_line: int
    raw: tuple[str, ...]


def page_lines(workspace: Workspace, path: str) -> list[str]:
    """The lines of a page on disk, without a byte order mark."""
    return split_lines(read_page(workspace, path).text.removeprefix("\ufeff"))


def reread(workspace: Workspace, entries: Iterable[Stored]) -> dict[int, Seen]:
    """The entries that still stand on disk, by id; each page is read once."""
    pages: dict[str, list[str]] = {}
    found: dict[int, Seen] = {}
    for entry in entries:
        if entry.path not in pages:
            try:
                pages[entry.path] = page_lines(workspace, entry.path)
            except MemctlError:
                pages[entry.path] = []
        seen = _anchor(pages[entry.path], entry)
        if seen:
            found[entry.id] = seen
    return found


def _anchor(lines: list[str], entry: Stored) -> Seen | None:
    """The entry at its own lines, else at the nearest lines that say the same."""
    size = entry.end_line - entry.line + 1
    if _stands(lines, entry.line, size, entry.digest):
        start = entry.line
    else:
        starts = [at for at in range(1, len(lines) - size + 2) if _stands(lines, at, size, entry.digest)]
        if not starts:
            return None
        start = min(starts, key=lambda at: abs(at - entry.line))
    return Seen(start, start + size - 1, tuple(lines[start - 1 : start - 1 + size]))


def _stands(lines: list[str], start: int, size: int, expected: int) -> bool:
    raw = lines[start - 1 : start - 1 + size]
    return len(raw) == size and digest(raw) == expected
