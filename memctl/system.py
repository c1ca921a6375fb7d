"""What differs between operating systems: locks, durable folders, safe opening, renames in one step, watched folders, words of
a command, jobs with a time limit. Nothing else in memctl asks which system it runs on."""

from __future__ import annotations

import errno
import os
import stat
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from .errors import CannotWrite, LockBusy

# A FIFO named x.md would hang a plain open() for ever; a symbolic link would lead out of the workspace.
OPEN_SAFELY = sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY"))

HAS_MODES = os.name == "posix"

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


def read_safely(path: Path) -> bytes:
    """The bytes of a file of ours; none of a pipe that somebody put there, and OSError for a link."""
    with open(path, "rb", opener=lambda name, flags: os.open(name, flags | OPEN_SAFELY)) as stream:
        return stream.read() or b""


def open_regular(path: str | Path) -> BinaryIO:
    """A file that somebody named, to read; OSError for a folder, a device, and a pipe, which hangs where nobody writes to it."""
    stream = open(path, "rb", opener=lambda name, flags: os.open(name, flags | getattr(os, "O_NONBLOCK", 0)))  # noqa: SIM115
    if stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
        return stream
    stream.close()
    raise OSError(errno.EINVAL, "not a regular file")


def append_bounded(path: Path, line: bytes, most: int) -> None:
    """Add a line to a file of `most` bytes: once it is full a new one begins, and the full one has `.1` behind its name."""
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | OPEN_SAFELY, 0o600)
    try:
        os.write(fd, line)
        is_full = os.fstat(fd).st_size >= most
    finally:
        os.close(fd)
    if is_full:
        os.replace(path, path.with_name(f"{path.name}.1"))


@contextmanager
def as_cannot_write(path: str | Path) -> Iterator[None]:
    """What the system refuses while `path` is written is raised as CannotWrite."""
    try:
        yield
    except OSError as error:  # a full disk, no permission
        raise CannotWrite(str(path), error.strerror or str(error)) from error


@contextmanager
def locked(path: Path, seconds: float) -> Iterator[None]:
    """Hold the lock file at `path`, waiting up to `seconds` for it; LockBusy after that, CannotWrite if it can't be had.

    The file is never unlinked: a waiter could hold a lock on a name that is gone.
    """
    with as_cannot_write(path):  # a file system without locks, too
        fd = os.open(path, os.O_RDWR | os.O_CREAT | OPEN_SAFELY, 0o666)
    try:
        deadline = time.monotonic() + seconds
        with as_cannot_write(path):
            while not _try_lock(fd):
                if time.monotonic() >= deadline:
                    raise LockBusy(str(path), seconds)
                time.sleep(0.01)
        yield
    finally:
        os.close(fd)  # closing lets go of the lock, on a crash too


# -- names ------------------------------------------------------------------------------------------------------------

_FOLDER = -100  # AT_FDCWD
_RENAMES = {  # function, flags for "swap" and "never overwrite", number of the call where the C library has no function
    "linux": ("renameat2", 2, 1, {"x86_64": 316, "aarch64": 276}),
    "darwin": ("renamex_np", 2, 4, {}),
}
# What says that the kernel, the file system or a sandbox does not have the call, so that the plain one must do.
_LACKING = {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EPERM}


def swap(one: Path, other: Path) -> bool:
    """Exchange two names in one step. False, with nothing done, where the system can't; OSError where it failed."""
    return _rename(one, other, 1)


def move_new(source: Path, target: Path) -> None:
    """Rename without ever overwriting: FileExistsError if `target` is there."""
    if sys.platform == "win32":
        os.rename(source, target)  # refuses by itself
    elif not _rename(source, target, 2):
        try:
            os.link(source, target)
        except OSError as error:
            if error.errno not in _LACKING or os.path.lexists(target):
                raise
            os.rename(source, target)  # no hard links either: no better way
        else:
            os.unlink(source)


def _rename(source: Path, target: Path, flag: int) -> bool:
    system = _RENAMES.get(sys.platform)
    call = _renaming() if system else None
    if system is None or call is None:
        return False
    import ctypes

    names = os.fsencode(source), os.fsencode(target)
    ctypes.set_errno(0)
    places = (names[0], names[1]) if sys.platform == "darwin" else (_FOLDER, names[0], _FOLDER, names[1])
    if call(*places, system[flag]) == 0:
        return True
    number = ctypes.get_errno()
    if number in _LACKING:
        return False
    raise OSError(number, os.strerror(number), str(target))


@cache
def _renaming() -> Any:
    """The function of the C library that renames with flags, or None."""
    import ctypes

    name, _, _, numbers = _RENAMES[sys.platform]
    library = ctypes.CDLL(None, use_errno=True)
    folder, path, flags = ctypes.c_int, ctypes.c_char_p, ctypes.c_uint
    types: list[Any] = [path, path, flags] if sys.platform == "darwin" else [folder, path, folder, path, flags]
    if hasattr(library, name):
        call = getattr(library, name)
        call.argtypes = types
        return call
    number = numbers.get(os.uname().machine) if sys.platform != "win32" else None
    if number is None:
        return None
    library.syscall.argtypes, library.syscall.restype = [ctypes.c_long, *types], ctypes.c_long
    return lambda *words: library.syscall(number, *words)


# -- open files -------------------------------------------------------------------------------------------------------


def has_writer(fd: int) -> bool | None:
    """True if anybody has the file of `fd` (opened for reading) open for writing; None where that cannot be told.

    Linux tells by refusing a lease, to the owner of a file on a local disk.
    """
    if sys.platform != "linux":
        return None
    import fcntl
    import signal

    try:
        fcntl.fcntl(fd, fcntl.F_SETSIG, signal.SIGURG)  # the usual signal of a broken lease would end this process
        fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_RDLCK)
    except OSError as error:
        return True if error.errno == errno.EAGAIN else None
    with suppress(OSError):
        fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    return False


def copy_attributes(source: Path, status: os.stat_result, fd: int) -> None:
    """Give the new file `fd` the mode of an old one, and its owner and extended attributes as far as we may."""
    if sys.platform == "win32":
        return
    now = os.fstat(fd)
    if (now.st_uid, now.st_gid) != (status.st_uid, status.st_gid):
        with suppress(OSError):
            os.fchown(fd, status.st_uid, status.st_gid)
    if sys.platform == "linux":
        with suppress(OSError):
            for name in os.listxattr(source, follow_symlinks=False):
                with suppress(OSError):
                    os.setxattr(fd, name, os.getxattr(source, name, follow_symlinks=False))
    try:
        os.fchmod(fd, status.st_mode & 0o7777)
    except OSError as error:
        if error.errno not in _LACKING:  # a disk without modes
            raise


def is_open_to_others(status: os.stat_result) -> bool:
    """True if somebody else may read the file, or owns it. Windows keeps that elsewhere, closed by default."""
    return HAS_MODES and bool(status.st_mode & 0o077 or status.st_uid != os.geteuid())


def inotify() -> tuple[int, Callable[[int, bytes, int], int]]:
    """A descriptor that tells of changes in folders, and what adds a folder (path and mask) to it; -1 but on Linux."""
    if sys.platform == "linux":
        import ctypes

        with suppress(OSError, AttributeError):
            library = ctypes.CDLL(None, use_errno=True)
            library.inotify_add_watch.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_uint32]
            library.inotify_init1.argtypes = [ctypes.c_int]
            return library.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC), library.inotify_add_watch
    return -1, lambda fd, path, mask: -1


# -- commands and sockets ---------------------------------------------------------------------------------------------

REUSES_PORTS = sys.platform != "win32"
"""Where SO_REUSEADDR lets a port be had again, and no other program listen on it, too."""


def words_of_command(command: str) -> list[str]:
    """A command as its shell would cut it; ValueError for an open quote."""
    import shlex

    return shlex.split(command, posix=sys.platform != "win32")


def shell_quoted(words: Sequence[str]) -> str:
    """The words as a command that the shell cuts into the same words."""
    import shlex
    import subprocess

    return subprocess.list2cmdline(words) if sys.platform == "win32" else shlex.join(words)


# -- jobs -------------------------------------------------------------------------------------------------------------

_MOST = 1024 * 1024  # bytes that a piece of work may answer


class Outcome(NamedTuple):
    """What came of it: the answer; or None, and `trouble` in a word or two (late, goes on, the name of an exception)."""

    answer: bytes | None
    trouble: str = ""


def run_with_timeout(job: Callable[[], bytes], seconds: float, *, finish: float = 0.0) -> Outcome:
    """The answer of `job`, after at most `seconds`; one that takes longer is ended, or has `finish` seconds more on its own."""
    import signal
    import threading

    if not hasattr(os, "fork") or threading.active_count() > 1:
        return _in_thread(job, seconds)
    reader, writer = os.pipe()
    try:
        child = os.fork()
    except OSError as error:  # no process to be had
        os.close(reader)
        os.close(writer)
        return Outcome(None, f"OSError: {error.strerror}")
    if child == 0:
        os.close(reader)
        _work(job, writer, seconds + max(finish, 1.0))
    os.close(writer)
    data, is_done = _read(reader, time.monotonic() + seconds)
    os.close(reader)
    if is_done:
        with suppress(ChildProcessError):
            os.waitpid(child, 0)
    elif not finish:
        os.kill(child, signal.SIGKILL)
        with suppress(ChildProcessError):
            os.waitpid(child, os.WNOHANG)
    if not is_done:
        return Outcome(None, "goes on" if finish else "late")
    if data[:1] == b"=":
        return Outcome(data[1:])
    return Outcome(None, data[1:].decode("utf-8", "replace") if data else "ended by a signal")


def _work(job: Callable[[], bytes], writer: int, seconds: float) -> None:
    """What the child does. It never returns; whatever is raised in it is told to the parent by name and place."""
    import signal

    try:
        os.setsid()  # a host that ends its hooks does not end this
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(int(seconds) + 1)
        void = os.open(os.devnull, os.O_WRONLY)
        os.dup2(void, 1)
        os.dup2(void, 2)
        told = b"=" + job()[:_MOST]
    except BaseException as error:  # whatever it is, the parent must hear of it
        trace = error.__traceback__
        while trace and trace.tb_next:
            trace = trace.tb_next
        place = f" at {os.path.basename(trace.tb_frame.f_code.co_filename)}:{trace.tb_lineno}" if trace else ""
        told = f"!{type(error).__name__}{place}".encode()
    try:
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)
        while told:
            told = told[os.write(writer, told) :]
    finally:
        os._exit(0)  # even if the parent has left


def _read(reader: int, deadline: float) -> tuple[bytes, bool]:
    """All that the child says until it ends; False if it has not ended by then."""
    import select

    data = b""
    while (left := deadline - time.monotonic()) > 0:
        if not select.select([reader], [], [], left)[0]:
            break
        piece = os.read(reader, 65536)
        if not piece:
            return data, True
        data += piece
    return b"", False


def _in_thread(job: Callable[[], bytes], seconds: float) -> Outcome:
    """Where there is no fork: a thread, which ends with the process."""
    import threading

    outcome = Outcome(None, "late")

    def work() -> None:
        nonlocal outcome
        try:
            outcome = Outcome(job())
        except BaseException as error:  # in a thread, where it would go unnoticed
            outcome = Outcome(None, type(error).__name__)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(seconds)
    return outcome


@contextmanager
def interrupts_blocked() -> Iterator[None]:
    """Hold back Ctrl-C meanwhile; processes that are started here never get it. On Windows they do."""
    import signal

    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
