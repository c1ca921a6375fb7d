"""What sync has to do: a sorted merge of the pages on disk with the pages that the index knows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum
from typing import Protocol, TypeVar

__all__ = ["RACY_NS", "Change", "Status", "merge"]

RACY_NS = 2_000_000_000
"""A file changed within 2 s of our look may change again without a new mtime (git's racy rule)."""


class Status(Protocol):
    """The part of os.stat_result that fingerprints a file."""

    @property
    def st_size(self) -> int: ...
    @property
    def st_mtime_ns(self) -> int: ...
    @property
    def st_ino(self) -> int: ...


class _OnDisk(Protocol):
    @property
    def path(self) -> str: ...
    @property
    def status(self) -> Status | None: ...
    @property
    def problem(self) -> str | None: ...


class _Remembered(Protocol):
    @property
    def path(self) -> str: ...
    @property
    def size(self) -> int: ...
    @property
    def mtime_ns(self) -> int: ...
    @property
    def inode(self) -> int: ...
    @property
    def sha256(self) -> bytes: ...
    @property
    def looked_ns(self) -> int: ...
    @property
    def problem(self) -> str | None: ...


class Change(Enum):
    """What to do with a page."""

    READ = "read"  # new, or not surely the same: read it and compare its hash
    REPORT = "report"  # no page can be had there: keep the reason
    DROP = "drop"  # gone from disk


D = TypeVar("D", bound=_OnDisk)
K = TypeVar("K", bound=_Remembered)


def merge(found: Sequence[D], known: Sequence[K]) -> Iterator[tuple[Change, D | None, K | None]]:
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


def _compare(disk: _OnDisk, row: _Remembered) -> Change | None:
    status = disk.status
    if status is None:
        return None if disk.problem == row.problem and not row.sha256 else Change.REPORT
    same = (status.st_size, status.st_mtime_ns, status.st_ino) == (row.size, row.mtime_ns, row.inode)
    settled = status.st_mtime_ns < row.looked_ns - RACY_NS
    return None if same and settled and row.sha256 else Change.READ
