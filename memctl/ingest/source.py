"""A transcript on disk or in a pipe as pieces of bytes, with the name by which lines cite it and the day it is from."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import date, datetime
from pathlib import Path
from typing import BinaryIO, NamedTuple

from ..errors import PageUnreadable
from ..notes.workspace import Workspace

_PIECE = 1 << 18
_DAY = re.compile(r"(?<!\d)(\d{4}-\d{2}-\d{2})(?!\d)")


class TranscriptSource(NamedTuple):
    """A stream of bytes, what lines cite it as (a path in the workspace, or a file's name), the day of the file.

    `first_line` is the line on which it begins: more than 1 where the beginning of a file is left out. `size` is how many
    bytes there are, 0 where nobody knows.
    """

    pieces: Iterable[bytes]
    name: str
    day: date | None
    first_line: int = 1
    size: int = 0


@contextmanager
def open_transcript(workspace: Workspace, path: Path, newest: int | None = None) -> Iterator[TranscriptSource]:
    """The transcript at a path, open while in use. PageUnreadable for a folder, a device, or what may not be read.

    A named pipe with nobody writing to it would hang for ever: it is refused; `-` reads from a pipe. With `newest`, of a
    longer file of JSON lines only that many bytes at its end are given.
    """
    name = str(path)[:200]
    try:
        fd = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise PageUnreadable(name, reason, "name a transcript, or - to read from stdin") from error
    status = os.fstat(fd)
    if not stat.S_ISREG(status.st_mode):
        os.close(fd)
        kind = "a folder" if stat.S_ISDIR(status.st_mode) else "not a regular file"
        raise PageUnreadable(name, kind, "name a transcript, or - to read from stdin")
    with open(fd, "rb") as stream:
        first = _skip(stream, status.st_size - newest) if newest is not None else 1
        yield TranscriptSource(
            pieces_of(stream, name), _cited_as(workspace, path), _day_of(path, status), first, status.st_size
        )


def _skip(stream: BinaryIO, size: int) -> int:
    """Go past some bytes of JSON lines to where the next line begins, and say which line that is; of another format none."""
    head = stream.read(2)
    stream.seek(0)
    if size <= 0 or head[:1] != b"{" or head[1:] not in b'" \t\r':
        return 1
    line = 1
    while size > 0 and (piece := stream.read(min(size, _PIECE))):
        line += piece.count(b"\n")
        size -= len(piece)
    stream.readline()
    return line + 1


def pieces_of(stream: BinaryIO, name: str) -> Iterator[bytes]:
    """The bytes of a stream, piece by piece."""
    read = getattr(stream, "read1", stream.read)
    try:
        while piece := read(_PIECE):
            yield piece
    except OSError as error:
        raise PageUnreadable(name, error.strerror or str(error)) from error


def _cited_as(workspace: Workspace, path: Path) -> str:
    try:
        found = path.resolve().relative_to(workspace.root).as_posix()
    except (ValueError, OSError, RuntimeError):
        found = path.name
    return re.sub(r"[\x00-\x1f\x7f\ud800-\udfff\s]+", " ", found).strip() or "transcript"


def _day_of(path: Path, status: os.stat_result) -> date | None:
    """The day in the file's name, else the one on which it was written last."""
    for word in _DAY.findall(path.name):
        try:
            return date.fromisoformat(word)
        except ValueError:
            continue
    try:
        return datetime.fromtimestamp(status.st_mtime).date()
    except (OverflowError, ValueError, OSError):
        return None
