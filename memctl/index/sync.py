"""Sync: make the index hold what the Markdown says, reading only what changed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, nullcontext
from dataclasses import dataclass, field
from functools import partial

from ..errors import CannotWrite, LockBusy, MemctlError, OutsideWorkspace, PageUnreadable
from ..notes.files import read_page
from ..notes.workspace import Found, Workspace
from .changes import Change, merge
from .index import Index, Known
from .reading import MANY, Read, Wanted, read_pages

__all__ = ["Progress", "SyncReport", "freshen", "silent", "sync"]

Progress = Callable[[int, int], None]
BATCH_SECONDS = 0.25  # pages committed together; a page is never split between transactions
BULK_SECONDS = 1.0
_Step = tuple[Change, Found | None, Known | None]


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

    `parallel` lets other processes read, where there are pages enough.

    Whatever stands in the way of a fresh index is said in `stale`, never raised: answers stay possible.
    """
    deadline = time.monotonic() + seconds if seconds is not None else float("inf")
    found = workspace.scan()
    known = index.known()
    # What only may have changed comes last: it would use up the time of what has.
    steps = sorted(merge(found, known), key=_is_young)
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
        many = parallel and len(wanted) >= MANY
        with closing(read_pages(workspace, wanted, many, partial(_held, index))) as reads:
            _work(index, steps, reads, report, wait, deadline, progress or (lambda done, total: None), many)
    return report


def _held(index: Index, path: str) -> Mapping[tuple[str, int], str]:
    from .queries.beliefs import terms_held

    return terms_held(index, path)


def silent(text: str) -> None:
    """Tell nobody."""


def freshen(workspace: Workspace, index: Index, tell: Callable[[str], None]) -> None:
    """Sync before a read: within the time of the settings, without waiting; `tell` hears it if that was not enough."""
    report = sync(workspace, index, wait=0, seconds=workspace.settings.sync_seconds)
    if report.stale:
        tell(f"stale: {report.stale}")


def _work(
    index: Index,
    steps: list[_Step],
    reads: Iterator[Read],
    report: SyncReport,
    wait: float,
    deadline: float,
    progress: Progress,
    many: bool,
) -> None:
    done = kept = 0
    try:
        with index.bulk() if many else nullcontext():
            while done < len(steps):
                with index.writing(wait):
                    for step in _until(
                        iter(steps[done:]), time.monotonic() + (BULK_SECONDS if many else BATCH_SECONDS)
                    ):
                        _take(index, step, reads, report)
                        done += 1
                        if time.monotonic() > deadline:
                            break
                kept = done
                progress(done, len(steps))
                if time.monotonic() > deadline and done < len(steps):
                    report.stale = (
                        f"{len(steps) - done} of {len(steps)} changed pages are not read yet; run `memctl index`"
                    )
                    return
    except LockBusy as error:
        report.stale = f"another memctl is writing; {len(steps) - kept} changed pages are not in this answer yet"
        report.obstacle = error
    except CannotWrite as error:
        report.stale = f"{len(steps) - kept} pages changed, and the index cannot be written: {error.cause}"
        report.obstacle = error


def _until(steps: Iterator[_Step], end: float) -> Iterator[_Step]:
    for step in steps:
        yield step
        if time.monotonic() > end:
            return


def _take(index: Index, step: _Step, reads: Iterator[Read], report: SyncReport) -> None:
    change, disk, row = step
    if change is Change.DROP and row:
        index.drop(row.path)
        report.problems.pop(row.path, None)
        report.dropped += 1
    elif change is Change.REPORT and disk:
        _report(index, disk, disk.problem or "unreadable", report)
    elif disk:
        _keep(index, disk, row, next(reads), report)


def _is_young(step: _Step) -> bool:
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


def _is_same(workspace: Workspace, disk: Found | None, row: Known | None) -> bool:
    """True for a page that only may have changed, being younger than two seconds when we looked."""
    if disk is None or disk.status is None or row is None:
        return False
    try:
        return read_page(workspace, disk.path).sha256 == row.sha256
    except (PageUnreadable, OutsideWorkspace):
        return not row.sha256


def _report(index: Index, disk: Found, problem: str, report: SyncReport) -> None:
    index.put_unreadable(disk.path, disk.status, problem, time.time_ns())
    report.problems[disk.path] = problem


def _keep(index: Index, disk: Found, row: Known | None, read: Read, report: SyncReport) -> None:
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
