"""Forget: put tombstones in the place of lines, and take every copy of them out of pages, evidence and index.

What only copies goes first and the lines themselves last, so that after a kill in between the same call finds them again
and completes. Everything that is written is a function of the Markdown, the selectors and the day.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import NamedTuple

from ..errors import CannotWrite, MemctlError, PageChanged, PageUnreadable, Usage
from ..facts import Citation, Kind
from ..index.open_memory import OpenMemory
from ..index.queries.entries import by_refs
from ..index.queries.forget import drop_broken, expunge, is_unclean, mark_unclean
from ..index.row import Row
from ..index.sync import sync
from ..notes.edits import diff
from ..notes.replace import replace, writing_alone
from ..notes.workspace import Workspace
from ..vectors.embed import erase_vectors
from .plan import Edit, Plan, freshly, plan, text_of
from .rules import Asked
from .select import Chosen, Selection, suggested

__all__ = ["Forgetting", "Line", "forget", "suggest", "without_private"]

_ROUNDS = 3  # for pages that somebody saves meanwhile


class Line(NamedTuple):
    """A line that was, or may be, forgotten. `content` is told only as long as it stands."""

    ref: str
    citation: Citation
    kind: Kind
    reason: str = ""
    content: str | None = None


@dataclass(slots=True)
class Forgetting:
    """What forget did, or without `apply` would do.

    `scrubbed` are pages that lost copies; `beliefs` those that went; `left` is what still points at what is gone, or
    could not go; `exempt` counts the lines that were spared by their reason; `already` were forgotten before.
    """

    lines: list[Line] = field(default_factory=list)
    diff: str = ""
    scrubbed: list[str] = field(default_factory=list)
    beliefs: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    exempt: dict[str, int] = field(default_factory=dict)
    already: list[Citation] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def suggest(memory: OpenMemory, asked: Asked) -> Forgetting:
    """What could be forgotten, with the reason and the text of each line. Changes nothing."""
    _check(asked, suggest=True)

    def job(at: OpenMemory) -> Selection:
        freshly(at)
        with at.index.reading():
            return suggested(at, asked)

    found = memory.run(job)
    lines = [_line(one, one.content) for one in found.chosen]
    return Forgetting(lines, left=found.left, exempt=dict(found.exempt), already=_places(found.already))


def forget(memory: OpenMemory, asked: Asked, *, apply: bool = False) -> Forgetting:
    """Forget what all selectors mean; without `apply`, only show how.

    Usage without a selector, NothingFound for an id that no line has, PageChanged where somebody keeps saving a page:
    what is done by then is done, and the same call completes it.
    """
    _check(asked)
    report = Forgetting()
    if not apply:
        planned = memory.run(lambda at: plan(at, asked))
        _tell(report, planned)
        report.diff = "".join(diff(edit.path, text_of(edit.before), edit.after) for edit in planned.edits)
    else:
        _apply(memory, asked, report)
    if report.lines and _is_under_git(memory.workspace):
        report.warnings.append("git keeps what was committed: its history still holds the text")
    return report


def without_private(memory: OpenMemory, planned: Forgetting) -> Forgetting:
    """The same without private lines: what a client cannot see, it cannot forget."""
    private = {entry.ref for entry in by_refs(memory.index, {line.ref for line in planned.lines}) if entry.private}
    planned.lines = [line for line in planned.lines if line.ref not in private]
    return planned


def _check(asked: Asked, suggest: bool = False) -> None:
    if not asked.any and not suggest:
        raise Usage("forget what?", "say --id, --about, --source, --before, --expired or --unused; or --suggest")
    if asked.include_exempt and not (asked.about or asked.source or asked.ids):
        raise Usage("--include-exempt is for --about and --source", "name the others by --id")


def _line(one: Chosen, content: str | None = None) -> Line:
    citation = Citation(one.entry.path, one.seen.line, one.seen.end_line)
    return Line(one.entry.ref, citation, Kind(one.entry.kind), one.reason, content)


def _places(entries: Iterable[Row]) -> list[Citation]:
    return [Citation(entry.path, entry.line, entry.end_line) for entry in entries]


def _is_under_git(workspace: Workspace) -> bool:
    return any((folder / ".git").exists() for folder in (workspace.root, *workspace.root.parents))


# -- doing it ---------------------------------------------------------------------------------------------------------


def _apply(memory: OpenMemory, asked: Asked, report: Forgetting) -> None:
    names: set[str] = set()
    tasks: set[str] = set()
    try:
        with writing_alone(memory.workspace, "reflect"):
            for _ in range(_ROUNDS):
                planned = memory.run(lambda at: plan(at, asked))
                names |= planned.names
                tasks |= planned.tasks
                if planned.edits:
                    memory.run(lambda at: mark_unclean(at.index))
                changed = _write(memory.workspace, planned.edits)
                _tell(report, planned, changed)
                if not changed:
                    break
            else:
                raise PageChanged(changed[0])
        if names or tasks:
            _reflect(memory, names, tasks, report)
    finally:
        _expunge(memory, report)


def _write(workspace: Workspace, edits: Sequence[Edit]) -> list[str]:
    """Write the planned pages, each by itself; those that somebody saved meanwhile are returned, and stay as saved."""
    changed = []
    for done, edit in enumerate(edits):
        try:
            replace(workspace, edit.path, edit.before, edit.after.encode("utf-8", "surrogateescape"))
        except PageChanged:
            changed.append(edit.path)
        except CannotWrite as error:
            reason = f"cannot write: {error.cause}; {done} of {len(edits)} pages are done, this one is as it was"
            cure = "free space or mend the permissions, then run the same command again: it completes"
            raise PageUnreadable(edit.path, reason, cure) from error
    return changed


def _tell(report: Forgetting, done: Plan, not_written: Iterable[str] = ()) -> None:
    """Add what a plan did to the report."""
    waiting = set(not_written)
    known = {line.ref for line in report.lines}
    report.lines += [_line(one) for one in done.selection.chosen if one.entry.path not in waiting]
    report.scrubbed = list(dict.fromkeys([*report.scrubbed, *(p for p in done.scrubbed if p not in waiting)]))
    report.beliefs = list(dict.fromkeys([*report.beliefs, *done.beliefs]))
    report.left = done.left
    report.exempt = dict(done.selection.exempt)
    report.already = _places(entry for entry in done.selection.already if entry.ref not in known)


def _reflect(memory: OpenMemory, names: set[str], tasks: set[str], report: Forgetting) -> None:
    """Let reflect write anew what lost a line. Trouble there is a warning: what was to be forgotten is."""
    from ..reflect.reflect import reflect

    try:
        done = reflect(memory, since=memory.today + timedelta(days=1), names=names, tasks=tasks)
    except MemctlError as error:
        report.warnings.append(f"forgotten, but the pages are not written anew: {error.what}; run `memctl reflect`")
        return
    report.scrubbed = list(dict.fromkeys([*report.scrubbed, *done.pages]))


def _expunge(memory: OpenMemory, report: Forgetting) -> None:
    def job(at: OpenMemory) -> str | None:
        workspace, index = at.workspace, at.index
        cleaning = bool(report.lines) or is_unclean(index)
        stale = sync(workspace, index).stale
        if stale or not cleaning:
            return stale
        left = erase_vectors(at)
        why = expunge(index)
        if left and not why:
            mark_unclean(index)  # so that the next call looks at the vectors again
        return why or (f"vectors: {left}" if left else None)

    drop_broken(memory.workspace)
    try:
        why = memory.run(job)
    except MemctlError as error:
        why = error.what
    if why:
        report.warnings.append(
            f"the index may still hold words of it ({why}); run the same command again, or delete .memory"
        )
