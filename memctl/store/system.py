"""What differs between operating systems: locks, durable folders, safe opening."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..errors import CannotWrite, LockBusy

__all__ = ["OPEN_SAFELY", "OPEN_TO_SYNC", "locked", "sync_folder"]

# A FIFO named x.md would hang a plain open() for ever; a symbolic link would lead out of the workspace.
OPEN_SAFELY = (
    getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)

if sys.platform == "win32":
    import msvcrt

    OPEN_TO_SYNC = os.O_RDWR  # Windows flushes only what may be written

    def _try_lock(fd: int) -> bool:
        try:
            msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def sync_folder(folder: Path) -> None:
        """Windows keeps folder entries durable by itself."""

else:
    import fcntl

    OPEN_TO_SYNC = os.O_RDONLY

    def _try_lock(fd: int) -> bool:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def sync_folder(folder: Path) -> None:
        """Make a new name in `folder` survive a power failure."""
        fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)


@contextmanager
def locked(path: Path, seconds: float) -> Iterator[None]:
    """Hold the lock file at `path`, waiting up to `seconds` for it; LockBusy after that, CannotWrite if it can't be had.

    The file is never unlinked: a waiter could hold a lock on a name that is gone.
    """
    fd = _take_lock(path, seconds)
    try:
        yield
    finally:
        os.close(fd)  # closing lets go of the lock, on a crash too


def _take_lock(path: Path, seconds: float) -> int:
    fd = -1
    try:
        fd = os.open(path, os.O_RDWR | os.O_CREAT | OPEN_SAFELY, 0o666)
        deadline = time.monotonic() + seconds
        while not _try_lock(fd):
            if time.monotonic() >= deadline:
                raise LockBusy(str(path), seconds)
            time.sleep(0.01)
        return fd
    except (OSError, LockBusy) as error:
        if fd >= 0:
            os.close(fd)
        if isinstance(error, OSError):  # a full disk, no permission, a file system without locks
            raise CannotWrite(str(path), error.strerror or str(error)) from error
        raise
