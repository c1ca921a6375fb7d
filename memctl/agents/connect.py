"""connect: what a host of agents needs in its own files, shown as a diff; merged into them, and taken out again, when asked.

The only writer of files outside a workspace: in place of what was read, through links, mode kept. What was put into which file
stands in `.memory/connect.json`, so that it can be taken out to the byte.
"""

import json
import os
import re
import stat
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import CannotWrite, PageChanged, PageUnreadable
from ..facts import fields
from ..language.secrets import find_secrets
from ..notes.edits import decoded, diff, encoded, place_file as put_file, writing_alone
from ..notes.files import prepare_memory
from ..notes.journal import page_hash
from ..notes.workspace import Workspace
from ..system import OPEN_SAFELY, as_cannot_write, read_safely
from .hosts import File, HostEntry, Wish, files_of, notes_of, revert, take, with_ours
from .jsonc import Malformed, Misfit

_MOST = 8 * 1024 * 1024
_KEYS = {"host", "scope", "before", "after", "spans", "made", "file"}
_CURE = "correct or move that file; nothing was written"


class HostFile(NamedTuple):
    """A file of a host: `target` is where the links of `path` lead, `data` None where there is no file."""

    path: Path
    target: Path
    data: bytes | None


class Planned(NamedTuple):
    """What becomes of one file of a host."""

    host_file: HostFile
    title: str
    state: str  # new, changed, same, removed or refused
    diff: str = ""
    problem: str | None = None  # why it is refused
    fragment: str = ""  # what belongs into the file, to be put there by hand
    after: bytes | None = None
    entry: dict[str, Any] | None = None

    def as_json(self) -> dict[str, object]:
        """The file as plain values."""
        return fields(self, "path=host_file.path target=host_file.target what=title state diff problem fragment")


class Connected(NamedTuple):
    """All files of a host, and what a person should know beside them. `written` is whether anything was."""

    files: tuple[Planned, ...]
    notes: tuple[str, ...]
    written: bool

    @property
    def problems(self) -> list[Planned]:
        """The files that cannot be changed safely; if there is one, no file is written."""
        return [file for file in self.files if file.problem]


def connect_host(workspace: Workspace, wish: Wish, *, write: bool, undo: bool = False) -> Connected:
    """What each file of the host would say; with `write` it says so when this returns, unless one of them has a problem.

    Files that only an earlier call changed (`--no-hooks`) are set back. With `undo`, what memctl put in is taken out.
    """
    record = _read_record(workspace)
    asked = {file.place: file for file in files_of(wish)}
    earlier = {path: _file_of(path, entry) for path, entry in sorted(record.items()) if _belongs(path, entry, wish)}
    kept, gone = ({}, asked | earlier) if undo else (asked, earlier)
    planned = [_planned(file, record.get(path), wish) for path, file in kept.items()]
    planned += [_planned(file, record.get(path), None) for path, file in gone.items() if path not in kept]
    written = False
    if write and not any(plan.problem for plan in planned):
        with writing_alone(workspace, "connect"):
            written = _write_all(workspace, planned)
    return Connected(tuple(planned), () if undo else tuple(notes_of(wish)), written)


def _write_all(workspace: Workspace, planned: Sequence[Planned]) -> bool:
    """Write the planned files; True if any was. The record of what is put in is written before the file, and removed after it."""
    record = _read_record(workspace)
    due = [plan for plan in planned if plan.state != "same"]
    emptied: list[str] = []
    for plan in due:
        path = str(plan.host_file.path)
        folders = record.get(path, {}).get("folders", [])
        if plan.entry:
            record[path] = plan.entry | {"folders": folders}
            _write_record(workspace, record)
        if plan.after is None:
            emptied += folders
            _remove_file(plan.host_file)
        elif (made := _write_file(plan.host_file, plan.after)) and plan.entry:
            record[path]["folders"] = [*folders, *made]
            _write_record(workspace, record)
        if not plan.entry:
            record.pop(path, None)
            _write_record(workspace, record)
    _drop_folders(emptied)
    gone = {str(plan.host_file.path) for plan in planned if plan.state == "same" and plan.entry is None}
    if gone & record.keys():
        _write_record(workspace, {path: entry for path, entry in record.items() if path not in gone})
    return bool(due)


def _planned(file: File, entry: dict[str, Any] | None, wish: Wish | None) -> Planned:
    """What a file is to become, with ours in it, or without it where nothing is wished for; PageUnreadable for one that is broken."""
    host_file = _read_file(Path(file.place))
    try:
        return _to_put(host_file, wish, file, entry) if wish else _to_take(host_file, file, entry)
    except Misfit as error:
        return Planned(host_file, file.title, "refused", problem=str(error), fragment=with_ours(None, file).text)
    except Malformed as error:
        cure = "correct that line of the file; nothing was written"
        raise PageUnreadable(str(host_file.path), str(error), cure) from error


def _to_put(host_file: HostFile, wish: Wish, file: File, entry: dict[str, Any] | None) -> Planned:
    before = None if host_file.data is None else decoded(host_file.data)
    try:
        if before is not None and with_ours(before, file).text == before:
            return Planned(host_file, file.title, "same", entry=entry or {})
    except Misfit:  # with a record, what stands there may be our own older word
        if entry is None:
            raise
    if entry and before is not None:
        before = _without(host_file, _file_of(file.place, entry), entry)
    new = with_ours(before, file)
    state = "new" if host_file.data is None else "changed"
    kept = {  # hashes, where what was inserted, and the words of it; nothing of the file's own
        "host": wish.host,
        "scope": wish.scope,
        "before": page_hash(None if before is None else encoded(before)),
        "after": page_hash(encoded(new.text)),
        "spans": new.spans,
        "made": new.made,
        "file": file._asdict() | {"pieces": [piece._asdict() for piece in file.pieces]},
    }
    return Planned(host_file, file.title, state, _diff(host_file, new.text), after=encoded(new.text), entry=kept)


def _to_take(host_file: HostFile, file: File, entry: dict[str, Any] | None) -> Planned:
    left = None if host_file.data is None else _without(host_file, file, entry)
    after = None if left is None else encoded(left)
    if after == host_file.data:
        return Planned(host_file, file.title, "same")
    state = "removed" if after is None else "changed"
    return Planned(host_file, file.title, state, _diff(host_file, left or ""), after=after)


def _without(host_file: HostFile, file: File, entry: dict[str, Any] | None) -> str | None:
    """The text of a file without ours: to the byte if it is unchanged since, else by what it says. None: no file."""
    text = decoded(host_file.data)
    was_ours = entry is not None and entry["before"] is None
    if entry and entry["after"] == page_hash(host_file.data):
        if was_ours:
            return None
        base = revert(text, entry["spans"])
        if entry["before"] == page_hash(encoded(base)):
            return base
    if not entry and text == with_ours(None, file).text:  # nothing else in it
        return None
    left = take(text, file, [tuple(path) for path in entry["made"]] if entry else ())
    return None if was_ours and (left or "").strip() in ("", "{}") else left


def _diff(host_file: HostFile, after: str) -> str:
    """The unified diff of a file. A line of somebody's secret, which stands beside ours, is not shown."""
    lines = diff(str(host_file.path).lstrip("/"), decoded(host_file.data), after).split("\n")
    for at, line in enumerate(lines):
        if len(line) < 4096 and find_secrets(line):
            hidden, found = re.subn(r"([:=]\s*)\S.*", r"\1…", line)
            lines[at] = hidden if found else f"{line[:1]} …"
    return "\n".join(lines)


def _belongs(path: str, entry: dict[str, Any], wish: Wish) -> bool:
    """True for a file that an earlier call for this host and scope changed; of a project, one in this folder."""
    is_here = wish.scope == "user" or Path(path).is_relative_to(wish.here)
    return is_here and (entry["host"], entry["scope"]) == (wish.host, wish.scope)


def _read_record(workspace: Workspace) -> dict[str, dict[str, Any]]:
    """What was put into which file, by its path. Derived: without it, what stands there in so many words is still found."""
    with suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
        read = json.loads(read_safely(workspace.memory / "connect.json"))
        return {path: entry for path, entry in read["files"].items() if entry.keys() >= _KEYS}
    return {}


def _write_record(workspace: Workspace, files: dict[str, dict[str, Any]]) -> None:
    old = _read_file(prepare_memory(workspace) / "connect.json")
    old = old._replace(target=old.path)  # through no link
    if files:
        text = json.dumps({"schema": 1, "files": files}, ensure_ascii=True, indent=1)
        _write_file(old, text.encode() + b"\n")
    elif old.data is not None:
        _remove_file(old)


def _file_of(path: str, entry: dict[str, Any]) -> File:
    """The words that a record keeps of a file."""
    told = entry["file"]
    pieces = tuple(HostEntry(**(piece | {"path": tuple(piece["path"])})) for piece in told["pieces"])
    return File(**(told | {"place": path, "pieces": pieces}))


def _read_file(path: Path) -> HostFile:
    """A host's file as it is. PageUnreadable for what is not a regular file, is too long, or cannot be read."""
    try:
        target = path.resolve()
        fd = os.open(target, os.O_RDONLY | OPEN_SAFELY)
    except FileNotFoundError as error:
        if os.path.islink(path) and not target.parent.is_dir():
            raise PageUnreadable(str(path), f"a link to {target}, and there is no such folder", _CURE) from error
        return HostFile(path, target, None)
    except (OSError, RuntimeError) as error:  # RuntimeError: links that lead in a circle
        raise PageUnreadable(str(path), getattr(error, "strerror", None) or str(error), _CURE) from error
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise PageUnreadable(str(path), "not a regular file", _CURE)
    with open(fd, "rb") as stream:
        data = stream.read(_MOST + 1)
    if len(data) > _MOST:
        raise PageUnreadable(str(path), "over 8 MiB", _CURE)
    return HostFile(path, target, data)


def _write_file(host_file: HostFile, data: bytes) -> list[str]:
    """Write `data` to the file, durably and in one step; PageChanged if it changed since it was read. Returns the folders that it made."""
    folder = host_file.target.parent
    made = [str(above) for above in (folder, *folder.parents) if not above.exists()]
    try:
        with as_cannot_write(host_file.path):
            folder.mkdir(parents=True, exist_ok=True)
            put_file(Workspace(folder), host_file.target.name, host_file.data, data)
    except PageChanged:
        raise PageChanged(str(host_file.path)) from None
    except CannotWrite as error:
        _drop_folders(made)
        raise CannotWrite(str(host_file.path), error.cause) from error
    return made


def _remove_file(host_file: HostFile) -> None:
    """Take away a file that memctl made; PageChanged if it is not what was read."""
    with as_cannot_write(host_file.path):
        if host_file.data is not None and _read_file(host_file.target).data != host_file.data:
            raise PageChanged(str(host_file.path))
        host_file.target.unlink(missing_ok=True)


def _drop_folders(folders: Iterable[str]) -> None:
    """Take away folders that memctl made, if nothing is in them."""
    for folder in sorted(folders, key=len, reverse=True):
        with suppress(OSError):
            os.rmdir(folder)
