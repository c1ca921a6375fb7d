"""Reading: pages of Markdown as rows for the index, in this process or, when there are many, in several."""

from __future__ import annotations

import gc
import os
from collections import deque
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ..errors import OutsideWorkspace, PageUnreadable
from ..notes.files import read_page
from ..notes.workspace import Workspace

if TYPE_CHECKING:
    from .row import PageRows

__all__ = ["MANY", "Read", "Wanted", "read_pages"]

MANY = 300  # pages from which other processes pay: each takes a fifth of a second to start
_LARGE = 1 << 12  # bytes of a page from which it pays to ask the index for what it holds of its lines
_TOGETHER = 20  # pages that one of them is given at a time


class Wanted(NamedTuple):
    """A page to read, and the hash under which the index knows it (empty: not at all)."""

    path: str
    sha256: bytes


class Read(NamedTuple):
    """A page as read. Without rows it is the same as before, or has a `problem`; `warning` is what was odd about it."""

    path: str
    rows: PageRows | None = None
    status: os.stat_result | None = None
    sha256: bytes = b""
    looked_ns: int = 0
    warning: str | None = None
    problem: str | None = None


Held = Callable[[str], Mapping[tuple[str, int], str]]


def read_pages(
    workspace: Workspace, wanted: Sequence[Wanted], parallel: bool, held: Held
) -> Generator[Read, None, None]:
    """Each wanted page, in order. `held` gives the search terms that an index holds of a page (`rows_of`)."""
    workers = _processors() if parallel else 1
    if workers == 1:
        return (_read(workspace, page, held) for page in wanted)
    return _read_in_parallel(workspace, wanted, workers)


def _processors() -> int:
    available = getattr(os, "sched_getaffinity", None)
    return min(4, len(available(0)) if available else os.cpu_count() or 1)


def _read(workspace: Workspace, wanted: Wanted, held: Held | None = None) -> Read:
    from .rows import rows_of  # with the parser, which a fresh index never needs

    try:
        page = read_page(workspace, wanted.path)
    except (PageUnreadable, OutsideWorkspace) as error:
        return Read(wanted.path, problem=getattr(error, "reason", error.what))
    sha256 = page.sha256
    rows = None
    if sha256 != wanted.sha256:
        known = held(wanted.path) if held and wanted.sha256 and len(page.text) >= _LARGE else None
        rows = rows_of(wanted.path, page.text, known)
    return Read(wanted.path, rows, page.status, sha256, page.looked_ns, page.warning)


def _read_some(workspace: Workspace, wanted: Sequence[Wanted]) -> list[Read]:
    return [_read(workspace, page) for page in wanted]


def _read_in_parallel(workspace: Workspace, wanted: Sequence[Wanted], workers: int) -> Generator[Read, None, None]:
    """The same in several processes, a few pieces ahead of who takes them, so that memory stays small."""
    from concurrent.futures import Future, ProcessPoolExecutor
    from multiprocessing import get_context

    # Not forked: a copy of an open SQLite connection must never come into being.
    with ProcessPoolExecutor(workers, get_context("spawn"), gc.set_threshold, (200_000,)) as pool:
        ahead: deque[Future[list[Read]]] = deque()
        try:
            for start in range(0, len(wanted), _TOGETHER):
                ahead.append(pool.submit(_read_some, workspace, wanted[start : start + _TOGETHER]))
                if len(ahead) >= 4 * workers:
                    yield from ahead.popleft().result()
            while ahead:
                yield from ahead.popleft().result()
        finally:
            for piece in ahead:
                piece.cancel()
