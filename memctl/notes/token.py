"""Files that their owner alone may read, even while they are made; of those the bearer token of `memctl serve`, `.memory/token`."""

from __future__ import annotations

import hmac
import os
import re
import secrets
import stat
from pathlib import Path

from ..errors import PageUnreadable, Refused
from ..system import OPEN_SAFELY, is_open_to_others
from .files import prepare_memory, write_derived
from .workspace import Workspace

_TOKEN = re.compile(r"[A-Za-z0-9_-]{32,512}")
_CURE = "delete that file; the next start makes another"


def token_of(workspace: Workspace) -> tuple[Path, str]:
    """Where the token stands, and the token; made on first use. Refused if others could have read it, or it is none."""
    path = prepare_memory(workspace) / "token"
    found = read_private(path, _CURE)
    if found is None:
        write_derived(path, f"{secrets.token_urlsafe(32)}\n".encode("ascii"), is_lasting=True)
        found = read_private(path, _CURE)
    if not _TOKEN.fullmatch(found or ""):
        raise PageUnreadable(str(path), "not a token", _CURE)
    return path, found or ""


def view_key(token: str) -> str:
    """A key to read pages with, derived from the token, from which the token cannot be computed."""
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
