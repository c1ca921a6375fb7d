"""Reflect: recent facts become entity pages, beliefs with evidence, lessons. Every sentence carries its citation.

A pure function of the Markdown and the day: run twice, the second run changes nothing.
"""

from __future__ import annotations

from collections.abc import Collection
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import date

from ..conflicts.listing import conflicts_in, conflicts_since
from ..errors import LockBusy, PageChanged
from ..index.open_memory import OpenMemory
from ..index.sync import sync
from ..markdown.blocks import live_blocks
from ..markdown.evidence_line import OPINIONS
from ..markdown.lines import split_lines
from ..notes.edits import Edit, apply
from ..notes.replace import writing_alone
from ..notes.workspace import Workspace
from .plan import Moved, Plan, Planner, in_conflict

__all__ = ["Moved", "Reflected", "reflect"]

_ROUNDS = 3  # what is written may move lines that something else cites; the second round finds nothing else


@dataclass(slots=True)
class Reflected:
    """What reflect did, or with `dry_run` would do: pages by path, beliefs that moved, what a person should see to.

    `conflicts` counts the pairs of facts that disagree: all of them, or those with a fact of the window.
    """

    pages: list[str] = field(default_factory=list)
    beliefs: list[Moved] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    conflicts: int = 0
    diff: str = ""

    @property
    def changed(self) -> bool:
        """True if any page was, or would be, written."""
        return bool(self.pages)


def reflect(
    memory: OpenMemory,
    *,
    since: date | None = None,
    dry_run: bool = False,
    propose: bool = False,
    names: Collection[str] = (),
    tasks: Collection[str] = (),
) -> Reflected:
    """Bring the pages of bank/ up to date with the facts written down from `since` on (None: with all).

    `names` and `tasks` (as index/rows.py `task_key` folds them) are written anew whatever the window holds about them.
    LockBusy while another reflect runs. A page that somebody saves meanwhile is left as they saved it, and said.
    """
    workspace, report = memory.workspace, Reflected()
    new: set[str] = set()
    since = None if in_conflict(workspace) else since  # what the other machine wrote may be older than the window

    def job(at: OpenMemory) -> Plan:
        _freshen(at)
        with at.index.reading():
            planner = Planner(at, since, new, names, tasks)
            replay = planner.beliefs()
            planner.entities(replay)
            planner.lessons()
            if propose:
                planner.proposals(replay)
        return planner.plan

    with nullcontext() if dry_run else writing_alone(workspace, "reflect"):
        for _ in range(1 if dry_run else _ROUNDS):
            planned = memory.run(job)
            _tell(report, planned)
            new.update(planned.new)
            if not planned.edits:
                break
            if dry_run:
                report.diff = "".join(edit.diff() for edit in planned.edits)
                report.pages = [edit.path for edit in planned.edits]
            elif not _write(workspace, planned, report) or (
                not planned.new and not any(_moves_lines(edit) for edit in planned.edits)
            ):
                break
        if report.pages and not dry_run:  # whoever asks next finds a fresh index, and so does the count below
            memory.run(lambda at: sync(at.workspace, at.index, wait=1.0))
    report.conflicts = memory.run(lambda at: _conflicts(at, since))
    return report


def _conflicts(memory: OpenMemory, since: date | None) -> int:
    """How many pairs of facts disagree: all of them, or those of which one was told in the window."""
    return len(conflicts_in(memory) if since is None else conflicts_since(memory, since))


def _moves_lines(edit: Edit) -> bool:
    """True if lines of a person stand elsewhere afterwards: then what cites them has to be written anew."""
    return edit.path != OPINIONS and edit.before is not None and _owned(edit.text_before) != _owned(edit.after)


def _owned(text: str) -> list[int]:
    """The numbers of the lines outside managed blocks that say something."""
    lines = split_lines(text.removeprefix("\ufeff"))
    ours = {number for block in live_blocks(lines) for number in range(block.begin, block.end + 1)}
    return [number for number, line in enumerate(lines, 1) if line.strip() and number not in ours]


def _tell(report: Reflected, plan: Plan) -> None:
    known = {moved.ref: moved for moved in report.beliefs}
    for moved in plan.moved:
        known[moved.ref] = moved._replace(before=known[moved.ref].before) if moved.ref in known else moved
    report.beliefs = list(known.values())
    report.notes = list(dict.fromkeys([*report.notes, *plan.notes]))


def _write(workspace: Workspace, plan: Plan, report: Reflected) -> bool:
    """Write the planned pages, each by itself; False if none could be."""
    done = apply(workspace, plan.edits, stop=False)
    if done.disk_error:
        raise done.disk_error
    for path, error in done.failed.items():
        saved = f"{path} was saved by somebody meanwhile; the next reflect writes it"
        report.notes.append(saved if isinstance(error, PageChanged) else f"{error.what}; {error.cure}")
    report.pages += [path for path in done.written if path not in report.pages]
    return bool(done.written)


def _freshen(memory: OpenMemory) -> None:
    """Bring the index up to date; what keeps it from that is an error here: pages must not say what was so yesterday."""
    state = sync(memory.workspace, memory.index, wait=10.0)
    if state.stale:
        raise state.obstacle or LockBusy(str(memory.workspace.memory), 10.0)
