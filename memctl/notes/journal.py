"""What the last commands wrote, so that `undo` can take it back: `.memory/undo.jsonl`, a line for each page written.

It holds places and hashes, and of what was replaced no more than digits (the hash in a marker, a confidence): no text of
anybody. Nothing else depends on it: without it there is nothing to undo.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from difflib import SequenceMatcher
from typing import Any

from ..ids import hashed
from ..system import locked
from .workspace import Workspace

_FILE = "undo.jsonl"
_MOST = 4 * 2**20  # bytes; a longer journal begins anew with the next command
_COMPARED = 10**6  # pairs of lines; what differs more is not taken apart
_DIGITS = re.compile(rb"[0-9a-f.]{0,64}")

Span = tuple[int, int, str | None]
"""Where bytes stand that were added, how many, and what they replaced: None for a text that is not kept."""


def page_hash(data: bytes | None) -> str | None:
    """The hash of a page's bytes; None where there is no page."""
    return None if data is None else hashed(data, 16).hex()


def line_hash(line: bytes) -> str:
    """The hash of a line, whatever ends it; empty for a blank one and a heading, which others may stand below."""
    bare = line.strip()
    return "" if not bare or bare.startswith(b"#") else hashed(line.rstrip(b"\r\n"), 8).hex()


def record(workspace: Workspace, path: str, before: bytes | None, after: bytes) -> None:
    """Remember what the command of this workspace made of a page."""
    if workspace.command is None or before == after or not path.lower().endswith((".md", ".markdown")):
        return
    old = before or b""
    made: dict[str, Any] = {"command": workspace.command, "path": path, "before": page_hash(before)}
    made |= {"after": page_hash(after), "spans": list(_spans(old, after))}
    if after.startswith(old):
        made["lines"] = [each for each in map(line_hash, after[len(old) :].splitlines()) if each]
    _add(workspace, made)


def never_undone(workspace: Workspace, what: str) -> None:
    """Forget all that is remembered here, and that `what`, the last command, is not taken back."""
    with suppress(OSError):
        (workspace.memory / _FILE).unlink(missing_ok=True)
    _add(workspace, {"command": what, "never": True})


def _add(workspace: Workspace, made: dict[str, Any]) -> None:
    file = workspace.memory / _FILE
    with suppress(OSError):  # the page is written; that it cannot be undone is no reason to fail
        is_full = file.exists() and file.stat().st_size > _MOST
        if is_full and read(workspace)[-1:] and read(workspace)[-1]["command"] != made["command"]:
            file.unlink()
        fd = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        with open(fd, "ab") as stream:
            stream.write(b"\n" + json.dumps(made).encode() + b"\n")  # behind a line that a crash may have torn


def read(workspace: Workspace) -> list[dict[str, Any]]:
    """What is remembered, the oldest first; lines that are none are left out."""
    found = []
    with suppress(OSError):
        for line in (workspace.memory / _FILE).read_bytes().splitlines():
            with suppress(ValueError):
                made = json.loads(line)
                found += [made] if isinstance(made, dict) and "command" in made else []
    return found


def drop(workspace: Workspace, commands: Collection[str]) -> None:
    """Forget some commands."""
    file = workspace.memory / _FILE
    with locked(workspace.memory / "lock", 10.0):
        left = [json.dumps(made) + "\n" for made in read(workspace) if made["command"] not in commands]
        part = file.with_suffix(".part")
        part.unlink(missing_ok=True)
        with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as stream:
            stream.writelines(left)
        os.replace(part, file)


def _spans(old: bytes, new: bytes) -> Iterator[Span]:
    """Where `new` has bytes that `old` has not, in order."""
    before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
    same = _alike(before, after)
    at = sum(map(len, before[:same]))
    before, after = before[same:], after[same:]
    if len(before) * len(after) > _COMPARED:
        yield at, len(new) - at, None
        return
    for _, i, j, k, m in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        both = min(j - i, m - k)
        rest = (b"".join(before[i + both : j]), b"".join(after[k + both : m]))
        for was, now in (*zip(before[i : i + both], after[k : k + both], strict=True), rest):
            head = _alike(was, now)
            tail = _alike(was[head:][::-1], now[head:][::-1])
            gone = was[head : len(was) - tail]
            if was != now:
                yield at + head, len(now) - head - tail, gone.decode() if _DIGITS.fullmatch(gone) else None
            at += len(now)


def _alike(one: Sequence[object], other: Sequence[object]) -> int:
    """How many items two sequences begin with alike."""
    return next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
