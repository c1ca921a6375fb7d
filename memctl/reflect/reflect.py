"""Reflect: facts become entity pages, beliefs with evidence, lessons and the week's digest. Every sentence carries its citation.

A build: bank/ is a pure function of the Markdown and the day. What a part of it was made from is known (made.py), and it is
made again when that, or the day, has changed. `since` bounds what is read again, never what comes out.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import date

from ..conflicts.listing import conflicts_in, conflicts_since
from ..errors import PageChanged
from ..index.open_memory import OpenMemory
from ..index.sync import sync
from ..notes.edits import Edit, apply
from ..notes.replace import writing_alone
from ..notes.workspace import Workspace
from .digest import DigestSentence
from .made import write_made
from .plan import Moved, Planner, in_conflict, moves_lines

_ROUNDS = (
    3  # a page that is new, and lines that moved, change what other pages say; the second round finds nothing else
)


@dataclass(slots=True)
class Reflected:
    """What reflect did, or with `dry_run` would do: pages by path, beliefs that moved, notes for a person, the week's digest.

    `conflicts` counts the pairs of facts that disagree: all of them, or those with a fact told from `since` on.
    """

    pages: list[str] = field(default_factory=list)
    beliefs: list[Moved] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    conflicts: int = 0
    diff: str = ""
    digest: tuple[DigestSentence, ...] = ()

    @property
    def changed(self) -> bool:
        """True if any page was, or would be, written."""
        return bool(self.pages)

    def add(self, plan: Planner) -> None:
        """Report the beliefs and notes of a round."""
        known = {moved.ref: moved for moved in self.beliefs}
        for moved in plan.moved:
            known[moved.ref] = moved._replace(before=known[moved.ref].before) if moved.ref in known else moved
        self.beliefs = list(known.values())
        self.notes = list(dict.fromkeys([*self.notes, *plan.notes]))
        self.digest = plan.digest or self.digest


def reflect(
    memory: OpenMemory, *, since: date | None = None, dry_run: bool = False, propose: bool = False
) -> Reflected:
    """Bring the pages of bank/ up to date, reading again what changed and what was told from `since` on (None: all).

    LockBusy while another reflect runs. A page that somebody saves meanwhile is left as they saved it, with a note.
    """
    workspace, report = memory.workspace, Reflected()
    whole = since is None or in_conflict(workspace)

    def job(at: OpenMemory) -> Planner:
        at.sync_for_write()
        with at.index.reading():
            planner = Planner(at, None if whole else since or at.today)
            planner.plan(propose)
        return planner

    with nullcontext() if dry_run else writing_alone(workspace, "reflect"):
        for _ in range(1 if dry_run else _ROUNDS):
            plan = memory.run(job)
            report.add(plan)
            if dry_run:
                report.diff = "".join(edit.diff() for edit in plan.edits)
                report.pages = [edit.path for edit in plan.edits]
                break
            done = _write(workspace, plan.edits, report)
            for edit in plan.edits:
                if not moves_lines(edit):
                    plan.made.note(edit.path, edit.after.encode("utf-8", "surrogateescape"))
            write_made(workspace, plan.made if done == len(plan.edits) else None)
            whole = done < len(plan.edits)
            if not done:
                break
        if report.pages and not dry_run:  # so that the next reader and the count below find a fresh index
            memory.run(lambda at: sync(at.workspace, at.index, wait=1.0))
    report.conflicts = memory.run(lambda at: len(conflicts_in(at) if since is None else conflicts_since(at, since)))
    return report


def _write(workspace: Workspace, edits: Sequence[Edit], report: Reflected) -> int:
    """Write the planned pages; how many could be written."""
    done = apply(workspace, edits, stop=False)
    if done.disk_error:
        write_made(workspace, None)
        raise done.disk_error
    for path, error in done.failed.items():
        saved = f"{path} was saved by somebody meanwhile; the next reflect writes it"
        report.notes.append(saved if isinstance(error, PageChanged) else f"{error.what}; {error.cure}")
    report.pages += [path for path in done.written if path not in report.pages]
    return len(done.written)
