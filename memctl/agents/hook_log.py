"""The log of hooks, `.memory/hooks.log`: a line for what went wrong or was kept, never a word of a prompt."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from ..errors import MemctlError
from ..notes.files import prepare_memory
from ..notes.system import OPEN_SAFELY
from ..notes.workspace import SETTINGS, Workspace

__all__ = ["log_hook"]

_MOST = 256 * 1024


def log_hook(root: Path, line: str) -> None:
    """Add a line; the log starts anew at 256 KiB, and one older is kept. Silent where it cannot be written."""
    path = root / ".memory" / "hooks.log"
    with suppress(OSError, MemctlError):
        if (root / SETTINGS).exists() or (root / "memory").is_dir():
            prepare_memory(Workspace(root))
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | OPEN_SAFELY, 0o600)
        try:
            os.write(fd, " ".join(line.split())[:500].encode("utf-8", "replace") + b"\n")
            is_full = os.fstat(fd).st_size >= _MOST
        finally:
            os.close(fd)
        if is_full:
            os.replace(path, path.with_name("hooks.log.1"))
