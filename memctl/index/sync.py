"""Sync: make the index hold what the Markdown says, reading only what changed; build it again; verify it."""

from __future__ import annotations

import gc
import os
import sys
import time
from collections import deque
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from contextlib import closing, nullcontext, suppress
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import partial
from itertools import zip_longest
from typing import TYPE_CHECKING, NamedTuple

from ..errors import CannotWrite, LockBusy, MemctlError, OutsideWorkspace, PageUnreadable
from ..ids import hashed, page_id
from ..notes.files import read_page
from ..notes.workspace import PageFile, Workspace
from ..system import interrupts_blocked
from .heal import open_scratch, with_index
from .index import Index, Known, Progress
from .queries.entries import dump, private_refs
from .queries.forget import expunge, has_leftovers

if TYPE_CHECKING:
    from .row import PageRows

_WHAT = "indexing"  # as progress is told
RACY_NS = 2_000_000_000
"""A file changed within 2 s of our look may change again without a new mtime (git's racy rule)."""


class Change(Enum):
    """What to do with a page."""

    READ = "read"  # new, or not surely the same: read it and compare its hash
    REPORT = "report"  # no page can be had there: keep the reason
    DROP = "drop"  # gone from disk


Step = tuple[Change, PageFile | None, Known | None]
"""What to do with a page, the page on disk, and what the index knows of it."""


def merge(found: Sequence[PageFile], known: Sequence[Known]) -> Iterator[Step]:
    """One step per page that needs work, by path. Both sequences are sorted by path, with every path once."""
    here, there = iter(found), iter(known)
    disk, row = next(here, None), next(there, None)
    while disk or row:
        if disk is None or (row is not None and row.path < disk.path):
            yield Change.DROP, None, row
            row = next(there, None)
        elif row is None or disk.path < row.path:
            yield (Change.READ if disk.status else Change.REPORT), disk, None
            disk = next(here, None)
        else:
            change = _compare(disk, row)
            if change:
                yield change, disk, row
            disk, row = next(here, None), next(there, None)


def _compare(disk: PageFile, row: Known) -> Change | None:
    status = disk.status
    if status is None:
        return None if disk.problem == row.problem and not row.sha256 else Change.REPORT
    same = (status.st_size, status.st_mtime_ns, status.st_ino) == (row.size, row.mtime_ns, row.inode)
    settled = status.st_mtime_ns < row.looked_ns - RACY_NS
    return None if same and settled and row.sha256 else Change.READ


MANY = 300  # pages from which other processes pay: each takes a fifth of a second to start
_LARGE_PAGE = 1 << 12  # bytes of a page from which it pays to ask the index for what it holds of its lines
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


HeldTerms = Callable[[str], Mapping[tuple[str, int], str]]


def read_pages(
    workspace: Workspace, wanted: Sequence[Wanted], parallel: bool, held: HeldTerms
) -> Generator[Read, None, None]:
    """Each wanted page, in order. `held` gives the search terms that an index holds of a page (`rows_of`)."""
    workers = _processors() if parallel else 1
    if workers == 1:
        return (_read(workspace, page, held) for page in wanted)
    return _read_in_parallel(workspace, wanted, workers)


def _processors() -> int:
    """Processes that may read. Each that starts runs the top of the program's file: of no program but memctl's own."""
    main = getattr(sys.modules["__main__"], "main", None)
    if getattr(main, "__globals__", {}).get("__package__") != "memctl":
        return 1
    available = getattr(os, "sched_getaffinity", None)
    return min(4, len(available(0)) if available else os.cpu_count() or 1)


def _read(workspace: Workspace, wanted: Wanted, held: HeldTerms | None = None) -> Read:
    from .rows import rows_made  # with the parser, which a fresh index never needs

    try:
        page = read_page(workspace, wanted.path)
    except (PageUnreadable, OutsideWorkspace) as error:
        return Read(wanted.path, problem=getattr(error, "reason", error.what))
    sha256 = page.sha256
    rows = None
    if sha256 != wanted.sha256:
        known = held(wanted.path) if held and wanted.sha256 and len(page.text) >= _LARGE_PAGE else None
        rows = rows_made(wanted.path, page.text, known)
    return Read(wanted.path, rows, page.status, sha256, page.looked_ns, page.warning)


def _read_some(workspace: Workspace, wanted: Sequence[Wanted]) -> list[Read]:
    reads = [_read(workspace, page) for page in wanted]
    return [read._replace(rows=read.rows._replace(rows=tuple(read.rows.rows))) if read.rows else read for read in reads]


def _read_in_parallel(workspace: Workspace, wanted: Sequence[Wanted], workers: int) -> Generator[Read, None, None]:
    """The same in several processes, a few pieces ahead of who takes them, so that memory stays small."""
    from concurrent.futures import Future, ProcessPoolExecutor
    from multiprocessing import get_context

    # Not forked: a copy of an open SQLite connection must never come into being.
    with ProcessPoolExecutor(workers, get_context("spawn"), gc.set_threshold, (200_000,)) as pool:
        ahead: deque[Future[list[Read]]] = deque()
        try:
            for start in range(0, len(wanted), _TOGETHER):
                with interrupts_blocked():  # the first starts the processes; who is interrupted ends them
                    ahead.append(pool.submit(_read_some, workspace, wanted[start : start + _TOGETHER]))
                if len(ahead) >= 4 * workers:
                    yield from ahead.popleft().result()
            while ahead:
                yield from ahead.popleft().result()
        finally:
            for piece in ahead:
                piece.cancel()


_FIRST = 0.1  # of the pages: an index that lacks more of them is built to its end before anything is answered from it
BATCH_SECONDS = 0.25  # pages committed together; a page is never split between transactions
BULK_SECONDS = 1.0


@dataclass(slots=True)
class SyncReport:
    """What a sync did: pages by outcome, problems by path, and why the index may be stale (None: it is fresh).

    `obstacle` is what kept it from writing, for a caller to whom that is an error.
    """

    read: int = 0
    dropped: int = 0
    unchanged: int = 0
    problems: dict[str, str] = field(default_factory=dict)
    stale: str | None = None
    obstacle: MemctlError | None = None

    @property
    def changed(self) -> int:
        """Pages whose rows are not what they were."""
        return self.read + self.dropped


def sync(
    workspace: Workspace,
    index: Index,
    *,
    wait: float = 10.0,
    seconds: float | None = None,
    progress: Progress | None = None,
    parallel: bool = False,
) -> SyncReport:
    """Bring the index up to date; `wait` is for another writer, `seconds` caps the work (None: no cap).

    The cap is for changes. The first index of a folder, and what is left of one that was interrupted, is built to the end
    however long it takes. `parallel` lets other processes read, where there are pages enough.

    Whatever stands in the way of a fresh index is said in `stale`, never raised: answers stay possible.
    """
    if not workspace.hides:
        workspace = workspace.whole  # the index of a view that hides nothing is the owner's
    found = workspace.scan()
    known = index.known()
    hides = _number_of(workspace.hides or ())
    if index.hides != hides:  # other lines are private than last time: what cites them is on any page
        known = [row._replace(looked_ns=0) for row in known]
    # What only may have changed comes last: it would use up the time of what has. In the order of the numbers of pages,
    # and so of rows, SQLite only appends, and FTS5 keeps the words of many pages in memory before it writes them.
    steps = sorted(merge(found, known), key=_order)
    unseen = sum(1 for change, _, row in steps if change is Change.READ and row is None)
    capped = seconds is not None and unseen <= _FIRST * len(found)
    deadline = time.monotonic() + (seconds or 0.0) if capped else float("inf")
    report = SyncReport(unchanged=len(found) - sum(1 for _, disk, _ in steps if disk))
    report.problems.update({row.path: row.problem for row in known if row.problem})
    if index.frozen:
        changed = sum(not _is_same(workspace, disk, row) for _, disk, row in steps)
        if changed:
            report.stale = f"{changed} pages changed, and the index cannot be written: {index.frozen}"
            report.obstacle = CannotWrite(str(workspace.memory), index.frozen)
    elif steps:
        wanted = [
            Wanted(disk.path, row.sha256 if row else b"")
            for change, disk, row in steps
            if change is Change.READ and disk
        ]
        many = len(wanted) >= MANY
        with closing(read_pages(workspace, wanted, many and parallel, partial(_terms_held, index))) as reads:
            limits = _Limits(wait, deadline, many, hides)
            tell = progress or (lambda done, total, what: None)
            tell(0, len(steps), _WHAT)
            _work(index, steps, reads, report, limits, tell)
            tell(len(steps), len(steps), _WHAT)
        if report.changed:
            from ..notes.journal import let_go

            let_go(
                workspace, [page.path for _, disk, row in steps if (page := disk or row)], partial(_bytes_of, workspace)
            )
    return report


def _bytes_of(workspace: Workspace, path: str) -> bytes | None:
    with suppress(MemctlError):
        return read_page(workspace, path).data
    return None


class _Limits(NamedTuple):
    """How long a sync waits for another writer, when it ends, whether it has thousands of pages to write, what is hidden."""

    wait: float
    deadline: float
    is_bulk: bool
    hides: int


def _terms_held(index: Index, path: str) -> Mapping[tuple[str, int], str]:
    from .queries.beliefs import terms_held

    return terms_held(index, path)


def _work(
    index: Index,
    steps: list[Step],
    reads: Iterator[Read],
    report: SyncReport,
    limits: _Limits,
    progress: Progress,
) -> None:
    done = kept = 0
    try:
        with index.bulk() if limits.is_bulk else nullcontext():
            while done < len(steps):
                end = time.monotonic() + (BULK_SECONDS if limits.is_bulk else BATCH_SECONDS)
                with index.writing(limits.wait):
                    if index.hides != limits.hides:
                        index.hide(limits.hides)
                    for step in _until(steps[done:], min(end, limits.deadline)):
                        _take(index, step, reads, report)
                        done += 1
                kept = done
                progress(done, len(steps), _WHAT)
                if time.monotonic() > limits.deadline and done < len(steps):
                    left = f"{len(steps) - done} of {len(steps)}"
                    report.stale = f"{left} changed pages are not read yet; run `memctl index`"
                    return
            if limits.is_bulk:
                progress(0, 0, "merging the words")
    except LockBusy as error:
        report.stale = f"another memctl is writing; {len(steps) - kept} changed pages are not in this answer yet"
        report.obstacle = error
    except CannotWrite as error:
        report.stale = f"{len(steps) - kept} pages changed, and the index cannot be written: {error.cause}"
        report.obstacle = error


def _number_of(refs: Collection[str]) -> int:
    """A number for the ids of the lines that a view hides; 0 for none."""
    return int.from_bytes(hashed(" ".join(sorted(refs)).encode(), 4)) >> 3 or 1 if refs else 0


def _until(steps: Sequence[Step], end: float) -> Iterator[Step]:
    for step in steps:
        yield step
        if time.monotonic() > end:
            return


def _take(index: Index, step: Step, reads: Iterator[Read], report: SyncReport) -> None:
    change, disk, row = step
    if change is Change.DROP and row:
        index.drop(row.path)
        report.problems.pop(row.path, None)
        report.dropped += 1
    elif change is Change.REPORT and disk:
        _report(index, disk, disk.problem or "unreadable", report)
    elif disk:
        _keep(index, disk, row, next(reads), report)


def _order(step: Step) -> tuple[bool, int]:
    _, disk, row = step
    page = disk or row
    return is_young(step), page_id(page.path) if page else 0


def is_young(step: Step) -> bool:
    """True for a page whose status is as it was, and which is read again only because it is too young to tell."""
    change, disk, row = step
    if change is not Change.READ or disk is None or disk.status is None or row is None:
        return False
    status = disk.status
    return bool(row.sha256) and (status.st_size, status.st_mtime_ns, status.st_ino) == (
        row.size,
        row.mtime_ns,
        row.inode,
    )


def _is_same(workspace: Workspace, disk: PageFile | None, row: Known | None) -> bool:
    """True for a page that only may have changed, being younger than two seconds when we looked."""
    if disk is None or disk.status is None or row is None:
        return False
    try:
        return read_page(workspace, disk.path).sha256 == row.sha256
    except (PageUnreadable, OutsideWorkspace):
        return not row.sha256


def _report(index: Index, disk: PageFile, problem: str, report: SyncReport) -> None:
    index.put_unreadable(disk.path, disk.status, problem, time.time_ns())
    report.problems[disk.path] = problem


def _keep(index: Index, disk: PageFile, row: Known | None, read: Read, report: SyncReport) -> None:
    if read.status is None:
        problem = read.problem or "unreadable"
        if row is None or row.problem != problem or row.sha256:
            _report(index, disk, problem, report)
    elif read.rows is None:
        index.look_again(disk.path, read.status, read.looked_ns)
        report.unchanged += 1
    else:
        index.put(read.rows, read.status, read.sha256, read.looked_ns, read.warning)
        report.problems.pop(disk.path, None)
        if read.warning:
            report.problems[disk.path] = read.warning
        report.read += 1


_SHOWN = 20  # differences that are worth reading


@dataclass(frozen=True, slots=True)
class Verified:
    """How many rows were compared, and the first differences."""

    rows: int
    differences: tuple[str, ...]


def build_index(workspace: Workspace, *, rebuild: bool = False, progress: Progress | None = None) -> SyncReport:
    """Bring the index up to date, or with `rebuild` start from an empty one; what was deleted leaves the file.

    LockBusy if another writer does not end, CannotWrite where the disk is full or read-only. Where lines are private, the
    index of all others is made too.
    """

    def job(index: Index) -> SyncReport:
        if rebuild:
            index.clear()
        report = sync(workspace, index, progress=progress, parallel=True)
        if report.obstacle:
            raise report.obstacle
        if index.instead or (index.frozen and report.stale):
            raise CannotWrite(str(workspace.memory / "index.sqlite"), index.instead or index.frozen or "")
        if has_leftovers(index):
            expunge(index)
        return report

    report = with_index(workspace, job)
    for view in _views(workspace):
        build_index(view, rebuild=rebuild, progress=progress)
    return report


def _views(workspace: Workspace) -> list[Workspace]:
    """The public view of a workspace, where it hides anything."""
    hides = with_index(workspace, private_refs) if workspace.hides is None else None
    return [replace(workspace, hides=hides)] if hides else []


def verify(workspace: Workspace) -> Verified:
    """Compare the index as it stands, row by row, with one made again from the Markdown."""
    found = with_index(workspace, lambda kept: _verified(workspace, kept))
    for seen in map(verify, _views(workspace)):
        found = Verified(found.rows + seen.rows, found.differences + seen.differences)
    return found


def _verified(workspace: Workspace, kept: Index) -> Verified:
    if kept.instead:
        raise PageUnreadable(str(workspace.memory / "index.sqlite"), kept.instead)
    with open_scratch() as fresh, kept.reading():
        made = sync(workspace, fresh, parallel=True)
        if isinstance(made.obstacle, CannotWrite):
            raise CannotWrite("the index to compare with", made.obstacle.cause)
        rows, differences = 0, []
        for old, new in zip_longest(dump(kept), dump(fresh)):
            rows += 1
            if old != new:
                differences.append(_difference(old, new))
                if len(differences) == _SHOWN:
                    break
    if differences and kept.frozen:  # read without what stands beside it and could not be taken in
        raise CannotWrite(str(workspace.derived / "index.sqlite"), kept.frozen)
    return Verified(rows, tuple(differences))


def _difference(old: tuple[object, ...] | None, new: tuple[object, ...] | None) -> str:
    return f"kept {old!r} but a rebuild gives {new!r}"[:400]
