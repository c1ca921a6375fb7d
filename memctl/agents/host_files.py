"""The only writer of files outside a workspace: settings of hosts, in place of what was read, through links, mode kept.

What was put into which file stands in `.memory/connect.json`, so that it can be taken out to the byte.
"""

from __future__ import annotations

import json
import os
import re
import stat
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import CannotWrite, PageChanged, PageUnreadable
from ..notes.files import prepare_memory
from ..notes.system import OPEN_SAFELY, copy_attributes, move_new, swap, sync_folder
from ..notes.workspace import Workspace

__all__ = ["Held", "drop_folders", "read_held", "read_record", "remove_held", "write_held", "write_record"]

_MOST = 8 * 1024 * 1024
_STALE_SECONDS = 60.0
_KEYS = {"host", "scope", "before", "after", "spans", "made", "file"}
_CURE = "mend or move that file; nothing was written"


class Held(NamedTuple):
    """A file of a host: `target` is where the links of `path` lead, `data` None where there is no file."""

    path: Path
    target: Path
    data: bytes | None

    @property
    def is_linked(self) -> bool:
        """True where the file, or its folder, is a link to somewhere else, as dotfiles often are."""
        return os.path.islink(self.path) or os.path.islink(self.path.parent)


def read_held(path: Path) -> Held:
    """A host's file as it is. PageUnreadable for what is no regular file, too long, or cannot be read."""
    try:
        target = path.resolve()
        fd = os.open(target, os.O_RDONLY | OPEN_SAFELY)
    except FileNotFoundError as error:
        if os.path.islink(path) and not target.parent.is_dir():
            raise PageUnreadable(str(path), f"a link to {target}, and there is no such folder", _CURE) from error
        return Held(path, target, None)
    except (OSError, RuntimeError) as error:  # RuntimeError: links that lead in a circle
        raise PageUnreadable(str(path), getattr(error, "strerror", None) or str(error), _CURE) from error
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise PageUnreadable(str(path), "not a regular file", _CURE)
    with open(fd, "rb") as stream:
        data = stream.read(_MOST + 1)
    if len(data) > _MOST:
        raise PageUnreadable(str(path), "over 8 MiB", _CURE)
    return Held(path, target, data)


def write_held(held: Held, data: bytes) -> list[str]:
    """Make `data` what the file holds, durably, in one step; PageChanged if it is not what was read. The folders it made."""
    folder = held.target.parent
    made = [str(above) for above in (folder, *folder.parents) if not above.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _sweep(held.target, (held.data, data))
        _replace(held, data)
        sync_folder(folder)
    except OSError as error:
        drop_folders(made)
        raise CannotWrite(str(held.path), error.strerror or str(error)) from error
    return made


def remove_held(held: Held) -> None:
    """Take away a file that memctl made; PageChanged if it is not what was read."""
    try:
        if held.data is not None and read_held(held.target).data != held.data:
            raise PageChanged(str(held.path))
        held.target.unlink(missing_ok=True)
    except OSError as error:
        raise CannotWrite(str(held.path), error.strerror or str(error)) from error


def drop_folders(folders: Iterable[str]) -> None:
    """Take away folders that memctl made, if nothing is in them."""
    for folder in sorted(folders, key=len, reverse=True):
        with suppress(OSError):
            os.rmdir(folder)


def _replace(held: Held, data: bytes) -> None:
    target = held.target
    temporary = target.with_name(f".{target.name}.memctl-{os.urandom(6).hex()}.tmp")
    status = None if held.data is None else os.stat(target)
    if status and not os.access(
        target, os.W_OK
    ):  # its name may be swapped all the same, but its owner said not to write
        raise PermissionError(13, "its owner made it read-only", str(target))
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | OPEN_SAFELY, 0o600 if status else 0o666)
    try:
        with open(fd, "wb") as stream:
            stream.write(data)
            stream.flush()
            if status:
                copy_attributes(target, status, fd)
            os.fsync(fd)
        if held.data is None:
            move_new(temporary, target)
        elif read_held(target).data != held.data:
            raise PageChanged(str(held.path))
        elif not swap(temporary, target):
            os.replace(temporary, target)
        elif temporary.read_bytes() != held.data:  # saved in that very moment: give it back
            swap(temporary, target)
            raise PageChanged(str(held.path))
    except FileExistsError as error:
        raise PageChanged(str(held.path)) from error
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def _sweep(target: Path, known: tuple[bytes | None, bytes]) -> None:
    """Remove what a killed process left beside the file, if it holds nothing but what is known."""
    ours = re.compile(re.escape(f".{target.name}.memctl-") + r"[0-9a-f]{12}\.tmp")
    with os.scandir(target.parent) as entries:
        found = [Path(entry) for entry in entries if ours.fullmatch(entry.name)]
    for file in found:
        with suppress(OSError):
            if time.time() - file.stat().st_ctime >= _STALE_SECONDS and file.read_bytes() in known:
                file.unlink()


# -- the record -------------------------------------------------------------------------------------------------------


def read_record(workspace: Workspace) -> dict[str, dict[str, Any]]:
    """What was put into which file, by its path. Derived: without it, what stands there in so many words is still found."""
    try:
        read = json.loads((workspace.memory / "connect.json").read_bytes())
        return {path: entry for path, entry in read["files"].items() if entry.keys() >= _KEYS}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def write_record(workspace: Workspace, files: dict[str, dict[str, Any]]) -> None:
    """Write the record anew, durably."""
    held = Held(prepare_memory(workspace) / "connect.json", workspace.memory / "connect.json", None)
    old = read_held(held.path)
    if files:
        text = json.dumps({"schema": 1, "files": files}, ensure_ascii=True, indent=1)
        write_held(held._replace(data=old.data), text.encode() + b"\n")
    elif old.data is not None:
        remove_held(old)
