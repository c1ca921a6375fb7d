"""Every cited line is read again before it is shown; one that moved is found by its content, one that is gone is not shown."""

import os
import time
from collections.abc import Iterable
from functools import lru_cache
from sys import intern
from typing import NamedTuple

from ..errors import MemctlError
from ..facts import Citation, Fact
from ..ids import digest
from ..language.names import mentions
from ..markdown.grammar import parse
from ..markdown.lines import SEALED, Role, content_of, split_lines, without_sealed
from ..notes.files import read_page
from ..notes.workspace import Workspace
from .index import Index
from .row import Row

# What a process that stays keeps: so many pages, none larger, all of them together; in bytes of the files.
MOST_PAGES, _LARGE, MOST_BYTES = 2_000, 1 << 18, 1 << 24
YOUNG_NS = 2_000_000_000  # as in index/sync.py: git's racy rule


class CurrentLine(NamedTuple):
    """Where an entry stands now, and its raw lines as they are on disk."""

    cited: Citation
    raw: tuple[str, ...]


class EntryText(NamedTuple):
    """What the lines of an entry say, the fact that they are, and the names written on them."""

    content: str
    fact: Fact | None
    names: tuple[str, ...]


def text_of(entry: Row, seen: CurrentLine) -> EntryText:
    """The text of an entry as it stands on disk; a sealed one is not shown."""
    return _text(Role(entry.role), seen.raw)


@lru_cache(maxsize=8192)
def _text(role: Role, raw: tuple[str, ...]) -> EntryText:
    text = without_sealed(content_of(role, raw), SEALED)
    read = parse(text) if role is Role.FACT else None
    fact = read if isinstance(read, Fact) else None
    content = fact.text if fact else text
    return EntryText(content, fact, (*(fact.entities if fact else ()), *mentions(content)))


def page_lines(workspace: Workspace, path: str) -> list[str]:
    """The lines of a page on disk, without a byte order mark."""
    return split_lines(read_page(workspace, path).text)


def reread(workspace: Workspace, entries: Iterable[Row], index: Index | None = None) -> dict[int, CurrentLine]:
    """The entries that still stand on disk, by id; each page is read once.

    A resident process gives its `index`, and reads a page again when its inode changed, to the nanosecond.
    """
    kept: dict[str, _CachedPage] = {}
    if index and index.stays:  # which one connection may keep as the owner sees them, and as others do
        kept = index.lasting.setdefault("owner" if workspace.hides is None else "public", kept)
    pages: dict[str, _CachedPage] = {}
    found: dict[int, CurrentLine] = {}
    for entry in entries:
        if entry.path not in pages:
            pages[entry.path] = _page(workspace, entry.path, kept)
        page = pages[entry.path]
        wanted = (entry.line, entry.end_line, entry.digest)
        if wanted not in page.seen:
            page.seen[wanted] = _anchor(page.lines, entry)
        if (seen := page.seen[wanted]) is not None:
            found[entry.id] = seen
    return found


class _CachedPage(NamedTuple):
    """A page as it was read: `state` of its file, None where that says too little, its lines, and what was found in it."""

    state: tuple[int, ...] | None
    lines: list[str]
    seen: dict[tuple[int, int, int], CurrentLine | None]


def _page(workspace: Workspace, path: str, kept: dict[str, _CachedPage]) -> _CachedPage:
    state = _state(workspace, path)
    known = kept.pop(path, None)
    if known and known.state == state is not None:
        kept[path] = known
        return known
    try:
        page = _CachedPage(state, page_lines(workspace, path), {})
    except MemctlError:
        return _CachedPage(None, [], {})
    if page.state:
        if len(kept) >= MOST_PAGES or sum(each.state[2] for each in kept.values() if each.state) >= MOST_BYTES:
            kept.clear()
        kept[path] = page
    return page


def _state(workspace: Workspace, path: str) -> tuple[int, ...] | None:
    """What changes with any write to a file; None for one so fresh that the next write may bear the same time."""
    try:
        status = os.lstat(workspace.root / path)
    except (OSError, ValueError):
        return None
    young = time.time_ns() - status.st_ctime_ns < YOUNG_NS
    too_large = status.st_size > _LARGE
    return None if young or too_large else (status.st_ctime_ns, status.st_mtime_ns, status.st_size, status.st_ino)


def _anchor(lines: list[str], entry: Row) -> CurrentLine | None:
    """The entry at its own lines, else at the nearest lines that say the same."""
    size = entry.end_line - entry.line + 1
    if _stands(lines, entry.line, size, entry.digest):
        start = entry.line
    else:
        starts = [at for at in range(1, len(lines) - size + 2) if _stands(lines, at, size, entry.digest)]
        if not starts:
            return None
        start = min(starts, key=lambda at: abs(at - entry.line))
    end = start + size - 1
    return CurrentLine(Citation(intern(entry.path), start, end), tuple(lines[start - 1 : end]))


def _stands(lines: list[str], start: int, size: int, expected: int) -> bool:
    raw = lines[start - 1 : start - 1 + size]
    return len(raw) == size and digest(raw) == expected
