"""Undo: takes back what the last command of the command line wrote, as far as it stands as it was written."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from ..errors import MemctlError, NothingFound, PageChanged, Refused
from ..facts import grouped
from ..index.open_memory import OpenMemory
from ..index.sync import sync
from ..notes import journal
from ..notes.edits import Edit, decoded, encoded, read_for_edit, remove_page, replace as put, writing_alone
from ..notes.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Undone:
    """What was taken back, or would be: when it was written, its pages, the diff. With a `problem` nothing was written."""

    at: str
    pages: tuple[str, ...]
    diff: str
    problem: MemctlError | None = None


def undo(memory: OpenMemory, *, dry_run: bool = False, skip: bool = False) -> Undone:
    """Take back the last command; with `skip` the one before it, past what reflect wrote since. Called again, it goes further back.

    NothingFound where nothing is remembered, Refused after a forget. What was edited since is a problem of the answer.
    """
    workspace = memory.workspace._replace(command=None)
    with writing_alone(workspace, "undo"):
        records = journal.read_journal(workspace)
        commands = list(dict.fromkeys(each["command"] for each in reversed(records)))
        if len(commands) <= skip:
            cure = "memctl remembers what its own commands wrote last, and no more"
            raise NothingFound("there is nothing to undo", cure)
        for at in range(int(skip), len(commands)):
            mine = [each for each in records if each["command"] == commands[at]]
            if "never" in mine[-1]:
                cure = "nor is what was written before it; write a line again, if it was wrong"
                raise Refused(f"{commands[at]} is never undone", cure)
            pages = grouped((each["path"], each) for each in mine)
            plans = [_plan(workspace, path, written) for path, written in pages.items()]
            problem = next((problem for _, problem in plans if problem), None)
            if not (skip and problem and commands[at].endswith(" reflect")):
                break
        if not dry_run and not problem:
            for edit, _ in plans:
                _write(workspace, edit, is_new=pages[edit.path][0]["before"] is None)
            journal.drop(workspace, commands[: at + 1])
            with suppress(MemctlError):  # it is taken back; the next question would bring the index up to date too
                memory.run(lambda at: sync(at.workspace, at.index, wait=0.5, seconds=1.0))
    diff = "".join(edit.diff() for edit, _ in plans)
    return Undone(commands[at].partition(" ")[0], tuple(pages), diff, problem)


def _write(workspace: Workspace, edit: Edit, is_new: bool) -> None:
    if not edit.is_change or edit.before is None:
        return
    if is_new and not edit.after:
        remove_page(workspace, edit.path, edit.before)
    else:
        put(workspace, edit.path, edit.before, encoded(edit.after))


def _plan(workspace: Workspace, path: str, written: Sequence[dict[str, Any]]) -> tuple[Edit, MemctlError | None]:
    """A page without what a command wrote into it, the last first; it may have been taken back half-way."""
    edit = read_for_edit(workspace, path)
    done = next((n for n, each in enumerate(written) if each["before"] == journal.page_hash(edit.before)), len(written))
    data = edit.before or b""
    problem: MemctlError | None = None
    for each in reversed(written[:done]):
        if journal.page_hash(data) != each["after"]:
            data, edited = _without_lines(data, each)
            if edited:
                problem = PageChanged(path)
                problem.what = f"{path}#L{edited} is not any more what was written; nothing was undone"
                problem.cure = f"`memctl open {path}#L{edited}` to change it by hand; `memctl undo --skip` leaves it"
                break
        elif any(gone is None for _, _, gone in each["spans"]):
            in_git = any((folder / ".git").exists() for folder in (workspace.root, *workspace.root.parents))
            cure = f"`git diff {path}` shows it; " if in_git else ""
            cure += "`memctl undo --skip` takes back the command before it, `memctl reflect` then remakes bank/"
            made = each["command"].endswith(" reflect")
            why = "reflect made it from your lines, and would make it again" if made else "the text that it replaced"
            problem = Refused(f"{path}: {why}{'; what stood there' if made else ''} is not kept", cure)
            break
        else:
            for at, length, gone in reversed(each["spans"]):
                data = data[:at] + (gone or "").encode() + data[at + length :]
    return edit._replace(after=decoded(data)), problem


def _without_lines(data: bytes, written: dict[str, Any]) -> tuple[bytes, int]:
    """A page that was changed since, without the lines that were added at its end; and which one is not there, if any.

    The text then lacks the line that stands in its place. Headings stay: what others wrote may stand below them.
    """
    lines = data.splitlines(keepends=True)
    places = grouped((journal.line_hash(line), number) for number, line in enumerate(lines, 1))
    expected = data[: written["spans"][0][0] + 1].count(b"\n") + 1
    gone, edited = set[int](), 0
    for line_hash in written.get("lines", [None]):
        free = [number for number in places.get(line_hash, ()) if number not in gone]
        while not free and expected < len(lines) and not journal.line_hash(lines[expected - 1]):
            expected += 1
        edited = edited or (0 if free else min(expected, max(1, len(lines))))
        found = min(free, key=lambda number: abs(number - expected)) if free else expected
        gone.add(found)
        expected = found + 1
    return b"".join(line for number, line in enumerate(lines, 1) if number not in gone), edited
