"""Index: keep the derived index, make it anew, or prove that it is what a rebuild would make."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest

from ..errors import CannotWrite, PageUnreadable
from ..notes.workspace import Workspace
from .heal import open_scratch, with_index
from .index import Index
from .queries.entries import dump
from .sync import Progress, SyncReport, sync

__all__ = ["Verified", "index", "verify"]

_SHOWN = 20  # differences that are worth reading


@dataclass(frozen=True, slots=True)
class Verified:
    """How many rows were compared, and the first differences."""

    rows: int
    differences: tuple[str, ...]


def index(workspace: Workspace, *, rebuild: bool = False, progress: Progress | None = None) -> SyncReport:
    """Bring the index up to date, or with `rebuild` start from an empty one.

    LockBusy if another writer does not end, CannotWrite where the disk is full or read-only.
    """

    def job(index: Index) -> SyncReport:
        if rebuild:
            index.clear()
        report = sync(workspace, index, progress=progress, parallel=True)
        if report.obstacle:
            raise report.obstacle
        if index.instead or (index.frozen and report.stale):
            raise CannotWrite(str(workspace.memory / "index.sqlite"), index.instead or index.frozen or "")
        return report

    return with_index(workspace, job)


def verify(workspace: Workspace) -> Verified:
    """Compare the index as it stands, row by row, with one made anew from the Markdown."""
    return with_index(workspace, lambda kept: _compare(workspace, kept))


def _compare(workspace: Workspace, kept: Index) -> Verified:
    if kept.instead:
        raise PageUnreadable(str(workspace.memory / "index.sqlite"), kept.instead)
    with open_scratch() as fresh, kept.reading():
        sync(workspace, fresh, parallel=True)
        rows, differences = 0, []
        for old, new in zip_longest(dump(kept), dump(fresh)):
            rows += 1
            if old != new:
                differences.append(_difference(old, new))
                if len(differences) == _SHOWN:
                    break
    return Verified(rows, tuple(differences))


def _difference(old: tuple[object, ...] | None, new: tuple[object, ...] | None) -> str:
    return f"kept {old!r} but a rebuild gives {new!r}"[:400]
