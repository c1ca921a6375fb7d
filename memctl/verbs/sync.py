"""Sync: make the index hold what the Markdown says, reading only what changed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from ..core.changes import Change, merge
from ..errors import CannotWrite, LockBusy, MemctlError, OutsideWorkspace, PageUnreadable
from ..store.files import read_page
from ..store.index import Index, Known
from ..store.workspace import Found, Workspace

__all__ = ["Progress", "SyncReport", "sync"]

Progress = Callable[[int, int], None]
BATCH_SECONDS = 0.25  # pages committed together; a page is never split between transactions
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
    workspace: Workspace, index: Index, *, wait: float = 10.0, seconds: float | None = None, progress: Progress | None = None
) -> SyncReport:
    """Bring the index up to date; `wait` is for another writer, `seconds` caps the work (None: no cap).

    Whatever stands in the way of a fresh index is said in `stale`, never raised: answers stay possible.
    """
    deadline = time.monotonic() + seconds if seconds is not None else float("inf")
    found = workspace.scan()
    known = index.known()
    steps = list(merge(found, known))
    report = SyncReport(unchanged=len(found) - sum(1 for _, disk, _ in steps if disk))
    report.problems.update({row.path: row.problem for row in known if row.problem})
    if steps and index.frozen:
        report.stale = f"{len(steps)} pages changed, and the index cannot be written: {index.frozen}"
    elif steps:
        _work(workspace, index, steps, report, wait, deadline, progress or (lambda done, total: None))
    return report


def _work(
    workspace: Workspace, index: Index, steps: list[_Step], report: SyncReport, wait: float, deadline: float, progress: Progress
) -> None:
    done = 0
    try:
        while done < len(steps):
            with index.writing(wait):
                for step in _until(iter(steps[done:]), time.monotonic() + BATCH_SECONDS):
                    _take(workspace, index, step, report)
                    done += 1
                    if time.monotonic() > deadline:
                        break
            progress(done, len(steps))
            if time.monotonic() > deadline and done < len(steps):
                report.stale = f"{len(steps) - done} of {len(steps)} changed pages are not read yet; run `memctl index`"
                return
    except LockBusy as error:
        report.stale = f"another memctl is writing; {len(steps) - done} changed pages are not in this answer yet"
        report.obstacle = error
    except CannotWrite as error:
        report.stale = f"{len(steps) - done} pages changed, and the index cannot be written: {error.cause}"
        report.obstacle = error


def _until(steps: Iterator[_Step], end: float) -> Iterator[_Step]:
    for step in steps:
        yield step
        if time.monotonic() > end:
            return


def _take(workspace: Workspace, index: Index, step: _Step, report: SyncReport) -> None:
    change, disk, row = step
    if change is Change.DROP and row:
        index.drop(row.path)
        report.problems.pop(row.path, None)
        report.dropped += 1
    elif change is Change.REPORT and disk:
        _report(index, disk, disk.problem or "unreadable", report)
    elif disk:
        _read(workspace, index, disk, row, report)


def _report(index: Index, disk: Found, problem: str, report: SyncReport) -> None:
    index.put_unreadable(disk.path, disk.status, problem, time.time_ns())
    report.problems[disk.path] = problem


def _read(workspace: Workspace, index: Index, disk: Found, row: Known | None, report: SyncReport) -> None:
    from ..core.rows import rows_of  # with markdown-it (50 ms), which a fresh index never needs

    try:
        page = read_page(workspace, disk.path)
    except (PageUnreadable, OutsideWorkspace) as error:
        problem = getattr(error, "reason", error.what)
        if row is None or row.problem != problem or row.sha256:
            _report(index, disk, problem, report)
        return
    if row is not None and row.sha256 == page.sha256:
        index.look_again(disk.path, page.status, page.looked_ns)
        report.unchanged += 1
        return
    index.put(rows_of(disk.path, page.text), page.status, page.sha256, page.looked_ns, page.warning)
    report.problems.pop(disk.path, None)
    if page.warning:
        report.problems[disk.path] = page.warning
    report.read += 1
