"""Files that their owner alone may read, even while they are made; of those the bearer token of `memctl serve`, `.memory/token`."""

from __future__ import annotations

import hmac
import os
import re
import secrets
import stat
from contextlib import suppress
from pathlib import Path

from ..errors import PageUnreadable, Refused
from ..system import OPEN_SAFELY, as_cannot_write, is_open_to_others, move_new, sync_folder
from .files import prepare_memory
from .workspace import Workspace

_TOKEN = re.compile(r"[A-Za-z0-9_-]{32,512}")
_CURE = "delete that file; the next start makes another"


def token_of(workspace: Workspace) -> tuple[Path, str]:
    """Where the token stands, and the token; made on first use. Refused if others could have read it, or it is none."""
    path = prepare_memory(workspace) / "token"
    found = read_private(path, _CURE)
    if found is None:
        make_private(path, f"{secrets.token_urlsafe(32)}\n")
        found = read_private(path, _CURE)
    if not _TOKEN.fullmatch(found or ""):
        raise PageUnreadable(str(path), "not a token", _CURE)
    return path, found or ""


def view_key(token: str) -> str:
    """A key to read pages with, derived from the token: whoever has it has not the token."""
    return hmac.new(token.encode("ascii"), b"memctl view", "sha256").hexdigest()


def read_private(path: Path, cure: str) -> str | None:
    """The text of a small file, None if there is no file. Refused if others could have read it."""
    try:
        fd = os.open(path, os.O_RDONLY | OPEN_SAFELY)
    except FileNotFoundError:
        return None
    except OSError as error:  # a symbolic link, no permission
        raise PageUnreadable(str(path), error.strerror or str(error), cure) from error
    try:
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode):
            raise PageUnreadable(str(path), "not a regular file", cure)
        if is_open_to_others(status):
            raise Refused(f"{path} can be read by others (mode {stat.S_IMODE(status.st_mode):04o})", cure)
        return os.read(fd, 65536).decode("ascii", "replace").strip()
    finally:
        os.close(fd)


def make_private(path: Path, text: str) -> None:
    """Write a file under a name of its own, then give it its name: never half of it, never over one that is there."""
    made = path.with_name(f"{path.name}-{secrets.token_hex(8)}")
    with as_cannot_write(path):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            fd = os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL | OPEN_SAFELY, 0o600)
            with open(fd, "w", encoding="ascii", newline="\n") as stream:
                stream.write(text)
                stream.flush()
                os.fsync(fd)
            with suppress(FileExistsError):  # another server made one in this moment
                move_new(made, path)
            sync_folder(path.parent)
        finally:
            with suppress(OSError):
                made.unlink()
