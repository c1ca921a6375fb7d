"""Sync: make the index hold what the Markdown says, reading only what changed; build it again; verify it."""

from __future__ import annotations

import gc
import os
import sys
import time
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing, nullcontext, suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import zip_longest
from typing import NamedTuple

from ..errors import CannotWrite, LockBusy, MemctlError, OutsideWorkspace, PageUnreadable
from ..ids import hashed, page_id
from ..notes.files import read_page
from ..notes.workspace import PageFile, Workspace
from ..system import interrupts_blocked
from .heal import open_scratch, with_index
from .index import Index, IndexedFile, Progress, silent
from .queries.entries import dump, indexed_rows, private_refs
from .row import PageRows

_WHAT = "indexing"  # as progress is told
RACY_NS = 2_000_000_000  # a file changed so shortly before our look may change again without a new mtime (as in git)


class Pending(NamedTuple):
    """A page that needs work: as it is on disk, None if it is gone; and as the index knows it, None if that does not."""

    disk: PageFile | None
    row: IndexedFile | None

    @property
    def path(self) -> str:
        """The path of the page."""
        page = self.disk or self.row
        assert page is not None
        return page.path

    @property
    def may_be_racy(self) -> bool:
        """True for a page that was read, and whose file shows no change since.

        It is a step only if it was too young when we looked (`RACY_NS`): it may have changed after that.
        """
        disk, row = self
        if disk is None or disk.status is None or row is None or not row.sha256:
            return False
        status = disk.status
        return (status.st_size, status.st_mtime_ns, status.st_ino) == (row.size, row.mtime_ns, row.inode)


def changes(found: Sequence[PageFile], known: Sequence[IndexedFile]) -> list[Pending]:
    """One step for each page that is not surely what the index knows: those on disk in their order, then what is gone."""
    rows = {row.path: row for row in known}
    steps = [Pending(disk, rows.pop(disk.path, None)) for disk in found]
    return [step for step in steps if not _is_known(step)] + [Pending(None, row) for row in rows.values()]


def _is_known(step: Pending) -> bool:
    """True where the index surely holds the page as it is: nothing is to be done."""
    disk, row = step
    if disk is None or row is None:
        return False
    if disk.status is None:
        return disk.problem == row.problem and not row.sha256
    return step.may_be_racy and disk.status.st_mtime_ns < row.looked_ns - RACY_NS


MANY = 300  # pages from which other processes pay: each takes a fifth of a second to start
LARGE_PAGE = 1 << 21  # bytes of a page from which what the index holds of it would take too much memory beside it
_TOGETHER = 20  # pages that one of them is given at a time


class Read(NamedTuple):
    """A page as read. Without rows it is the same as before, or has a `problem`; `warning` is what was odd about it."""

    rows: PageRows | None = None
    status: os.stat_result | None = None
    sha256: bytes = b""
    looked_ns: int = 0
    warning: str | None = None
    problem: str | None = None


def _readers() -> int:
    """Processes that may read while this one writes. Each runs the top of the program's file: none but memctl's own."""
    main = getattr(sys.modules["__main__"], "main", None)
    if getattr(main, "__globals__", {}).get("__package__") != "memctl":
        return 0
    available = getattr(os, "sched_getaffinity", None)
    return min(4, (len(available(0)) if available else os.cpu_count() or 1) - 1)


def _read(workspace: Workspace, path: str, sha256: bytes, index: Index | None = None) -> Read:
    """A page that the index knows under a hash (empty: not at all). What `index` holds is not made again."""
    from .rows import iter_rows  # with the parser, which a fresh index never needs

    try:
        page = read_page(workspace, path)
    except (PageUnreadable, OutsideWorkspace) as error:
        return Read(problem=getattr(error, "reason", error.what))
    rows = None
    if page.sha256 != sha256:
        asks = index and sha256 and len(page.text) < LARGE_PAGE
        rows = iter_rows(path, page.text, indexed_rows(index, path) if index and asks else None)
    return Read(rows, page.status, page.sha256, page.looked_ns, page.warning)


def _read_some(workspace: Workspace, wanted: Iterable[tuple[str, bytes]]) -> list[Read]:
    """Pages as another process hands them over: with all their rows made."""
    reads = [_read(workspace, *page) for page in wanted]
    return [read._replace(rows=read.rows._replace(rows=tuple(read.rows.rows))) if read.rows else read for read in reads]


def _read_in_parallel(
    workspace: Workspace, wanted: Sequence[tuple[str, bytes]], workers: int
) -> Generator[Read, None, None]:
    """Pages read by other processes, in order and a few pieces ahead of who takes them, so that memory stays small."""
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


_MAY_LACK = 0.1  # of the pages: an index that lacks more is built to its end before anything is answered from it
BATCH_SECONDS = 0.25  # pages committed together; a page is never split between transactions
BULK_SECONDS = 1.0


@dataclass(slots=True)
class SyncReport:
    """What a sync did, in pages, and what is wrong."""

    read: int = 0
    dropped: int = 0
    unchanged: int = 0
    problems: dict[str, str] = field(default_factory=dict)  # by path
    stale: str | None = None  # why the index may be; None where it is fresh
    obstacle: MemctlError | None = None  # what kept it from writing, for a caller to whom that is an error

    @property
    def changed(self) -> int:
        """Pages whose rows are not what they were."""
        return self.read + self.dropped


def sync(
    workspace: Workspace, index: Index, *, wait: float = 10.0, seconds: float | None = None,
    progress: Progress = silent, parallel: bool = False, found: list[PageFile] | None = None,
) -> SyncReport:  # fmt: skip
    """Bring the index up to date; `wait` is for another writer, `seconds` caps the work (None: no cap).

    The cap is for changes. The first index of a folder, and what is left of one that was interrupted, is built to the end
    however long it takes. `parallel` lets other processes read, where there are pages enough. `found` is a scan of just now.

    Whatever stands in the way of a fresh index is said in `stale`, never raised: answers stay possible.
    """
    if not workspace.hides:
        workspace = workspace.whole  # the index of a view that hides nothing is the owner's
    found, known = workspace.scan() if found is None else found, index.known()
    refs = " ".join(sorted(workspace.hides or ())).encode()
    hides = (int.from_bytes(hashed(refs, 4)) >> 3 or 1) if refs else 0  # which lines, as a number; 0 for none
    if index.hides != hides:  # other lines are private than last time: what cites them is on any page
        known = [row._replace(looked_ns=0) for row in known]
    # What only may have changed comes last: it would use up the time of what has. In the order of the numbers of pages,
    # and so of rows, SQLite only appends, and FTS5 keeps the words of many pages in memory before it writes them.
    steps = sorted(changes(found, known), key=lambda step: (step.may_be_racy, page_id(step.path)))
    report = SyncReport(unchanged=len(found) - sum(step.disk is not None for step in steps))
    report.problems.update({row.path: row.problem for row in known if row.problem})
    if index.frozen:
        if changed := sum(not _is_same(workspace, step) for step in steps):
            report.stale = f"pages changed ({changed}), and the index cannot be written: {index.frozen}"
            report.obstacle = CannotWrite(str(workspace.memory), index.frozen)
    elif steps:
        lacking = sum(disk is not None and disk.status is not None and row is None for disk, row in steps)
        is_capped = seconds is not None and lacking <= _MAY_LACK * len(found)
        deadline = time.monotonic() + (seconds or 0.0) if is_capped else float("inf")
        progress(0, len(steps), _WHAT)
        _Sync(workspace, index, report, wait, deadline, hides, progress).take_all(steps, parallel)
        progress(len(steps), len(steps), _WHAT)
        if report.changed:
            from ..notes.journal import let_go

            let_go(workspace, [step.path for step in steps], partial(_bytes_of, workspace))
    return report


def _bytes_of(workspace: Workspace, path: str) -> bytes | None:
    with suppress(MemctlError):
        return read_page(workspace, path).data
    return None


def _is_same(workspace: Workspace, step: Pending) -> bool:
    """True for a page that only may have changed, being younger than two seconds when we looked."""
    disk, row = step
    if disk is None or disk.status is None or row is None:
        return False
    with suppress(PageUnreadable, OutsideWorkspace):
        return read_page(workspace, disk.path).sha256 == row.sha256
    return not row.sha256


@dataclass(frozen=True, slots=True)
class _Sync:
    """One sync under way: how long it waits for another writer, when it ends, which lines are hidden, who hears of it."""

    workspace: Workspace
    index: Index
    report: SyncReport
    wait: float
    deadline: float
    hides: int
    progress: Progress

    def take_all(self, steps: list[Pending], parallel: bool) -> None:
        """Take the steps until the time is over, and say in the report what stood in the way.

        Where they are many, other processes read, if that is `parallel`.
        """
        report = self.report
        wanted = [(disk.path, row.sha256 if row else b"") for disk, row in steps if disk and disk.status]
        is_bulk = len(wanted) >= MANY
        seconds = BULK_SECONDS if is_bulk else BATCH_SECONDS
        workers = _readers() if is_bulk and parallel else 0
        alone = (_read(self.workspace, *page, self.index) for page in wanted)
        kept = 0
        try:
            with (
                closing(_read_in_parallel(self.workspace, wanted, workers) if workers else alone) as reads,
                self.index.bulk() if is_bulk else nullcontext(),
            ):
                while kept < len(steps):
                    kept += self._take_some(steps[kept:], reads, seconds)
                    self.progress(kept, len(steps), _WHAT)
                    if time.monotonic() > self.deadline and kept < len(steps):
                        left = f"{len(steps) - kept} of {len(steps)}"
                        report.stale = f"{left} changed pages are not read yet; run `memctl index`"
                        break
                if is_bulk and not report.stale:
                    self.progress(0, 0, "merging the words")
        except LockBusy as error:
            report.stale = f"another memctl is writing; changed pages ({len(steps) - kept}) are not in this answer yet"
            report.obstacle = error
        except CannotWrite as error:
            report.stale = f"pages changed ({len(steps) - kept}), and the index cannot be written: {error.cause}"
            report.obstacle = error

    def _take_some(self, steps: Sequence[Pending], reads: Iterator[Read], seconds: float) -> int:
        """Take steps for some seconds, in one transaction; returns how many."""
        end = min(time.monotonic() + seconds, self.deadline)
        with self.index.writing(self.wait):
            if self.index.hides != self.hides:
                self.index.hide(self.hides)
            for done, step in enumerate(steps, 1):
                self._take(step, reads)
                if time.monotonic() > end:
                    return done
        return len(steps)

    def _take(self, step: Pending, reads: Iterator[Read]) -> None:
        """Make the index hold one page as it is on disk; of those that could be opened, `reads` has the next one."""
        index, report, (disk, row) = self.index, self.report, step
        if disk is None:
            index.drop(step.path)
            report.problems.pop(step.path, None)
            report.dropped += 1
            return
        read = next(reads) if disk.status else Read(problem=disk.problem)
        if read.status is None:
            problem = read.problem or "unreadable"
            if row is None or row.problem != problem or row.sha256:
                # A row that says why, and none of its entries.
                index.put(PageRows(disk.path, None, disk.path, None, (), ()), disk.status, b"", time.time_ns(), problem)
                report.problems[disk.path] = problem
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


class Verified(NamedTuple):
    """How many rows were compared, and the first differences."""

    rows: int
    differences: tuple[str, ...]


def build_index(workspace: Workspace, *, rebuild: bool = False, progress: Progress = silent) -> SyncReport:
    """Bring the index up to date, or with `rebuild` start from an empty one; what was deleted leaves the file.

    LockBusy if another writer does not end, CannotWrite on a full or read-only disk. With private lines, the public index too.
    """
    from .queries.traces import expunge, has_leftovers  # a question, which brings the index up to date, forgets nothing

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
    views = _views(workspace)
    for view in views:
        build_index(view, rebuild=rebuild, progress=progress)
    if not views and workspace.hides is None:  # where the last private line went, others are answered by this index
        from shutil import rmtree  # with four ways to compress

        rmtree(workspace.memory / "public", ignore_errors=True)
    return report


def _views(workspace: Workspace) -> list[Workspace]:
    """The public view of a workspace where it hides anything, else nothing."""
    hides = with_index(workspace, private_refs) if workspace.hides is None else None
    return [workspace._replace(hides=hides)] if hides else []


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
                differences.append(f"kept {old!r} but a rebuild gives {new!r}"[:400])
                if len(differences) == _SHOWN:
                    break
    if differences and kept.frozen:  # read without what stands beside it and could not be taken in
        raise CannotWrite(str(workspace.derived / "index.sqlite"), kept.frozen)
    return Verified(rows, tuple(differences))
