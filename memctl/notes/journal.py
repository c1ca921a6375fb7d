"""What the last commands wrote, so that `undo` can take it back: `.memory/undo.jsonl`, a line for each page written.

It holds places and hashes, and of what was replaced no more than digits of ours (the hash in a marker, a confidence): no
text of anybody. Nothing else depends on it: without it there is nothing to undo. A hash of a line that is gone would confirm
a guess of it, were it a PIN: only what still stands on a page, or is undone without it, keeps its hashes (`let_go`).
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from difflib import SequenceMatcher
from typing import Any

from ..errors import MemctlError
from ..ids import hashed, page_id
from ..markdown.lines import common_start
from ..system import OPEN_SAFELY, locked, read_safely
from .workspace import Workspace

HELD = "held.json"  # what `review` keeps of one state of the pages, with words of them: it goes when one has changed

_FILE = "undo.jsonl"
_MOST = 4 * 2**20  # bytes; a longer journal begins anew with the next command
_COMPARED = 10**6  # pairs of lines; what differs more is not taken apart
_DIGITS = re.compile(rb"[0-9a-f.]{0,64}")
_OURS = re.compile(rb"(?:^|sha=|- O\(c=|\d \xc2\xb7 (?:stated|for \xe2\x86\x92|against \xe2\x86\x92) )[0-9a-f.]*$")
_FEW = 20  # pages that are looked for one by one
_GONE = "-"  # in place of a hash: of no page and of no line

BytesOf = Callable[[str], bytes | None]
Span = tuple[int, int, str | None]  # where bytes were added, how many, what they replaced (None: a text not kept)


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
        if is_full and read_journal(workspace)[-1:] and read_journal(workspace)[-1]["command"] != made["command"]:
            file.unlink()
        fd = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT | OPEN_SAFELY, 0o600)
        with open(fd, "ab") as stream:
            stream.write(b"\n" + json.dumps(made).encode() + b"\n")  # behind a line that a crash may have torn


def read_journal(workspace: Workspace) -> list[dict[str, Any]]:
    """What is remembered, the oldest first; lines that are none are left out."""
    found = []
    with suppress(OSError):
        for line in read_safely(workspace.memory / _FILE).splitlines():
            with suppress(ValueError):
                made = json.loads(line)
                found += [made] if isinstance(made, dict) and "command" in made else []
    return found


def drop(workspace: Workspace, commands: Collection[str]) -> None:
    """Forget some commands."""
    with locked(workspace.memory / "lock", 10.0):
        _write(workspace, (made for made in read_journal(workspace) if made["command"] not in commands))


def let_go(workspace: Workspace, paths: Sequence[str], bytes_of: BytesOf) -> None:
    """Keep no hash of what these pages, which changed, hold no longer, nor what was made of all pages."""
    for folder in {workspace.derived, workspace.memory / "public"}:
        with suppress(OSError):
            (folder / HELD).unlink(missing_ok=True)
    if workspace.hides:
        return
    with suppress(OSError, ValueError, MemctlError):  # a writer that keeps the lock is rare, and so is a guess
        raw = read_safely(workspace.memory / _FILE)
        if named := [path for path in paths if json.dumps(path).encode() in raw]:
            with locked(workspace.memory / "lock", 1.0):
                records = read_journal(workspace)
                for path in named:
                    _let_go([each for each in records if each.get("path") == path], bytes_of(path))
                _write(workspace, records)
    with suppress(OSError):
        _let_go_reflected(workspace, paths, bytes_of)


def _let_go_reflected(workspace: Workspace, paths: Sequence[str], bytes_of: BytesOf) -> None:
    """The same in `.memory/reflected.json`, where reflect (reflect/record.py) keeps a hash of each page by its number."""
    from hashlib import sha256

    def left(match: re.Match[bytes]) -> bytes:
        path = numbers.get(int(match[1]))
        if path is None or sha256(bytes_of(path) or b"").hexdigest().encode().startswith(match[2]):
            return match[0]
        return b'"%s": [""' % match[1]

    numbers = {page_id(path): path for path in paths}
    file = workspace.memory / "reflected.json"
    raw = read_safely(file)
    wanted = b"|".join(b"%d" % number for number in numbers) if len(numbers) < _FEW else rb"\d+"
    made = re.sub(rb'"(%s)": \["([0-9a-f]+)"' % wanted, left, raw)
    if made != raw:
        beside = file.with_suffix(".left")
        beside.write_bytes(made)
        os.replace(beside, file)


def _let_go(written: Sequence[dict[str, Any]], data: bytes | None) -> None:
    """The same for one page, in place; where `before` is what the page has now, only its name is kept."""
    now, lines = page_hash(data), set(map(line_hash, (data or b"").splitlines()))
    undone = next((n for n, each in enumerate(written) if each["before"] == now), len(written))
    undone = len(written) if written[-1]["after"] == now else undone  # a command may have written what stood before
    is_as_written = undone and written[undone - 1]["after"] == now
    for n in reversed(range(len(written))):
        each = written[n]
        if n >= undone:
            each |= {"after": _GONE, "spans": [(0, 0, "")], "lines": []}
        elif not is_as_written:
            each["after"] = _GONE
            if "lines" in each:
                each["lines"] = [line if line in lines else _GONE for line in each["lines"]]
        is_as_written = is_as_written and all(gone is not None for _, _, gone in each["spans"])
        if not (is_as_written and n < undone) and each["before"]:
            each["before"] = _GONE


def _write(workspace: Workspace, records: Iterable[dict[str, Any]]) -> None:
    file = workspace.memory / _FILE
    part = file.with_suffix(".part")
    part.unlink(missing_ok=True)
    with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as stream:
        stream.writelines([json.dumps(made) + "\n" for made in records])
    os.replace(part, file)


def _spans(old: bytes, new: bytes) -> Iterator[Span]:
    """Where `new` has bytes that `old` has not, in order."""
    before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
    same = common_start(before, after)
    at = sum(map(len, before[:same]))
    before, after = before[same:], after[same:]
    if len(before) * len(after) > _COMPARED:
        yield at, len(new) - at, None
        return
    for _, i, j, k, m in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        both = min(j - i, m - k)
        rest = (b"".join(before[i + both : j]), b"".join(after[k + both : m]))
        for was, now in (*zip(before[i : i + both], after[k : k + both], strict=True), rest):
            head = common_start(was, now)
            tail = common_start(was[head:][::-1], now[head:][::-1])
            gone = was[head : len(was) - tail]
            if was != now:
                is_ours = not gone or (_DIGITS.fullmatch(gone) and _OURS.search(was[:head]))
                yield at + head, len(now) - head - tail, gone.decode() if is_ours else None
            at += len(now)
