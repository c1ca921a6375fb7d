"""Runs memctl as macOS or Windows would see it: `python tests/other_system.py win32 FOLDER`; linux is as it is. Their calls are faked on this system's.

It shows that no module but memctl/system.py takes Linux for granted. It does not show that the real systems do what the fakes do.
"""

import asyncio  # noqa: F401  the standard library asks for the platform when it is loaded: it keeps the real one
import ctypes
import fcntl
import io
import multiprocessing  # noqa: F401
import os
import subprocess  # noqa: F401
import sys
from contextlib import redirect_stderr, redirect_stdout
from types import SimpleNamespace

import typer  # noqa: F401

CALLS: list[str] = []


def like_windows() -> None:
    """Locks of msvcrt, a rename that never overwrites, no fork, no flags of POSIX, no owners."""

    def locking(fd: int, mode: int, count: int) -> None:
        CALLS.append("locking")
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def rename(one: str, other: str) -> None:
        CALLS.append("rename")
        if os.path.lexists(other):
            raise FileExistsError(17, "is there", other)
        os.replace(one, other)

    sys.modules["msvcrt"] = SimpleNamespace(locking=locking, LK_NBLCK=2)  # type: ignore[assignment]
    os.rename = rename  # type: ignore[assignment]
    for name in ("fork", "fchown", "listxattr", "O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC"):
        delattr(os, name)


def like_macos() -> None:
    """A C library with renamex_np and without renameat2, inotify or leases."""
    linux = ctypes.CDLL(None, use_errno=True)

    def renamex(one: bytes, other: bytes, flag: int) -> int:
        CALLS.append("renamex_np")
        return int(linux.renameat2(-100, one, -100, other, {2: 2, 4: 1}[flag]))

    ctypes.CDLL = lambda *words, **more: SimpleNamespace(renamex_np=renamex)  # type: ignore[assignment, misc]
    del os.listxattr
    del fcntl.F_SETLEASE


def main(platform: str, folder: str) -> None:
    """The walk, its answers on stdout."""
    sys.platform = platform
    {"win32": like_windows, "darwin": like_macos}.get(platform, lambda: None)()
    from memctl.cli.call import load, run

    for words in (
        ["init"],
        ["retain", "Uses PostgreSQL 16", "--about", "Atlas", "--key", "db", "--date", "2025-11-03"],
        ["retain", "- O(0.8) @Ирина: любит короткие ответы", "--date", "2025-11-04"],
        ["retain", "Moved to MongoDB", "--about", "Atlas", "--key", "db", "--date", "2025-11-20"],
        ["recall", "which database does Atlas use?", "-k", "1", "--json"],
        ["reflect"],
        ["fact", "history", "db", "--about", "Atlas"],
        ["forget", "--id", "f-0t9hkkn2", "--apply"],
        ["recall", "PostgreSQL"],
        ["connect", "codex", "--command", "memctl", "--write"],
        ["hook", "session-start"],
        ["check"],
    ):
        said = io.StringIO()
        sys.stdin = io.StringIO("{}")
        line = [*words, *([] if words[0] == "hook" else ["-w", folder]), "--now", "2025-11-30"]
        with redirect_stdout(said), redirect_stderr(said):
            code = run(load(line), line)
        print("$", *words, f"[{code}]")
        print(said.getvalue())
    print("calls:", *sorted(set(CALLS)))


if __name__ == "__main__":
    main(*sys.argv[1:])
