"""Everything that can go wrong, with its exit code, what happened and what to do.

MemctlError                 70  a bug, until a subclass says otherwise
├── NothingFound             1  the question was understood; nothing answers it
├── Usage                    2  the call cannot mean anything
│   ├── OverBudget           2  what must not be cut does not fit into the budget
│   └── BadSettings          2  memctl.toml says something that memctl does not know
├── NoWorkspace             10  no folder here or above looks like a workspace
├── OutsideWorkspace        11  a path leads out of the workspace
├── PageChanged             12  the page is not what was read a moment ago
├── PageUnreadable          13  a page or folder cannot be read or written
│   └── CannotWrite         13
├── CannotAnswer            13  the answer cannot be written to where it goes
├── LockBusy                14  another memctl holds the lock
├── PortBusy                14  another program listens there
├── Refused                 15  a secret, or text that would forge structure
├── ExtraMissing            16  an optional part is not installed
├── ExtraBroken             16  an optional part is installed and does not work
└── ServerFailed            17  the server of shared memory cannot be reached, or cannot do what was asked
"""

from __future__ import annotations

import sys
from pathlib import Path


class MemctlError(Exception):
    """`what` happened and what to do about it (`cure`), one line each."""

    exit_code = 70
    usual_cure = ""
    """What to do about it where nothing better is known."""

    def __init__(self, what: str, cure: str = "") -> None:
        super().__init__(what)
        self.what, self.cure = what, cure or self.usual_cure


class NothingFound(MemctlError):
    """Nothing answers; `searched` says what was looked through."""

    exit_code = 1
    usual_cure = "try other words, or `memctl status` to see what is indexed"


class Usage(MemctlError):
    """The words of the call are off."""

    exit_code = 2
    usual_cure = "see `memctl --help`"


class BadSettings(Usage):
    """memctl.toml cannot be followed."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"{path}: {reason}", "correct that line; docs/settings.md lists the settings")


class OverBudget(Usage):
    """What must not be cut takes more tokens than there are; `needed` is the least that does."""

    def __init__(self, what: str, cure: str, needed: int) -> None:
        super().__init__(what, cure)
        self.needed = needed


class NoWorkspace(MemctlError):
    """Neither here nor above, nor where the caller pointed."""

    exit_code = 10

    def __init__(self, start: Path, named: bool = False) -> None:
        if named:
            super().__init__(f"no folder at {start}", f"run `memctl init {start}`, or name one with --workspace DIR")
        else:
            cure = "add `-w .` to use this folder as it is, or run `memctl init .`"
            super().__init__(f"no workspace in {start} or any folder above it", cure)


class OutsideWorkspace(MemctlError):
    """The path is not, or not only, inside the workspace."""

    exit_code = 11

    def __init__(self, path: str, reason: str = "leads out of the workspace") -> None:
        super().__init__(f"{path} {reason}", "name a path inside the workspace; symbolic links are not followed")


class PageChanged(MemctlError):
    """Somebody else wrote the page between our look and our write; nothing of theirs was touched."""

    exit_code = 12

    def __init__(self, path: str) -> None:
        what = f"{path} changed while memctl was working on it; nothing was overwritten"
        super().__init__(what, "run the command again")


class PageUnreadable(MemctlError):
    """The page cannot be read as text."""

    exit_code = 13
    usual_cure = "correct or move that file; `memctl check` lists all of them"

    def __init__(self, path: str, reason: str, cure: str = "") -> None:
        super().__init__(f"{path}: {reason}", cure)
        self.reason = reason


class CannotWrite(PageUnreadable):
    """The folder is read-only or the disk is full; nothing was kept."""

    def __init__(self, path: str, reason: str) -> None:
        cure = "free space or correct the permissions, then run it again"
        super().__init__(path, f"cannot write: {reason}; nothing was kept", cure)
        self.cause = reason


class CannotAnswer(MemctlError):
    """Nothing takes what is printed: a full disk behind `>`. What the command did to the workspace stands."""

    exit_code = 13

    def __init__(self, reason: str) -> None:
        cure = "send it elsewhere; what the command changed in the workspace is kept, `memctl log` shows it"
        super().__init__(f"the answer cannot be written: {reason}", cure)


class LockBusy(MemctlError):
    """Another process holds the lock for longer than we wait."""

    exit_code = 14

    def __init__(self, path: str, seconds: float) -> None:
        super().__init__(f"{path} is held by another memctl (waited {seconds:g} s)", "let it finish, then run it again")


class PortBusy(MemctlError):
    """Another program listens on that port."""

    exit_code = 14

    def __init__(self, port: int) -> None:
        cure = "stop that one, or name another port; --port 0 finds a free one"
        super().__init__(f"port {port} is taken by another program", cure)


class Refused(MemctlError):
    """The text must not be kept as it is."""

    exit_code = 15
    usual_cure = "take that part out and retain the rest"

    def __init__(self, reason: str, cure: str = "") -> None:
        super().__init__(f"refused: {reason}", cure)


class ExtraMissing(MemctlError):
    """An optional part is needed for this, and is not installed."""

    exit_code = 16

    def __init__(self, extra: str, need: str) -> None:
        super().__init__(f"{need} is not installed", f"{_installer()} 'memctl-workspace[{extra}]'")


def _installer() -> str:
    """The words that install a package beside this program: what pipx and uv installed stands apart, where pip puts nothing."""
    prefix = sys.prefix.replace("\\", "/")
    if "/pipx/" in prefix:
        return "pipx runpip memctl-workspace install"
    return f"uv pip install --python '{sys.prefix}'" if "/uv/tools/" in prefix else "pip install"


class ExtraBroken(MemctlError):
    """An optional part is installed and fails. Search by words goes on without it."""

    exit_code = 16
    usual_cure = 'install it again, or leave it out: model = "none" under [vectors]'


class ServerFailed(MemctlError):
    """The server of shared memory. Nothing local needs it, and nothing is half published."""

    exit_code = 17
