"""Reflect: facts become entity pages, beliefs with evidence, lessons and the week's digest. Every sentence carries its citation.

A build: bank/ is a pure function of the Markdown and the day. The record of a build (record.py) knows what each part was made
from, and a part is made again when that, or the day, has changed. `since` bounds what is read again, never what comes out.

The steps in their order:

1. `reflect` locks out other reflects and runs rounds until one writes nothing: lines that move are cited anew by other pages.
2. `_round` brings the index up to date and plans over one state of it.
3. `Planner` (plan.py) compares the pages with the last record: `outdated` (record.py) tells which names, tasks and weeks are reached,
   and the first day whose facts the beliefs have to hear again. Where nothing changed, nothing is planned.
4. `Planner.name_pages`: names with facts enough for a page get one first, empty, so that all links to it can be made.
5. `Planner.plan` yields the pages in the order in which they are written:
   - `_opinions`: beliefs are replayed from their evidence (beliefs/replay.py) into bank/opinions.md;
   - `_names`: bank/entities/, and for names without a page bank/world.md and bank/experience.md;
   - `_lessons`, then `_digests`: bank/lessons.md by task, bank/digest/ by week;
   - `proposals`, where they are asked for: bank/proposals.md, with lines for memory.md.
6. `_carry_out` takes each page as it comes: `planned_edit` puts a block into its page unless a person edited it, and the page is
   swapped in (notes/edits.py), or kept for the diff of `dry_run`. The record gets the hash of what was written.
7. `_finish_round` reports, and writes the record unless a page failed: then the next reflect makes everything again.
8. `reflect` counts the conflicts, and calls `then` with the same index.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date
from functools import partial
from typing import Any

from ..beliefs.replay import Moved
from ..conflicts.listing import conflicts_in
from ..errors import PageChanged
from ..facts import fields
from ..index.open_memory import OpenMemory
from ..index.sync import sync
from ..markdown import blocks
from ..markdown.front_matter import front_values
from ..notes.edits import Applied, Edit, apply, encoded, sides_of_merge, writing_alone
from ..notes.workspace import Workspace
from .digest import DigestSentence
from .plan import PlannedBlock, Planner, read_or_note
from .record import moves_lines, write_record

_ROUNDS = 3  # lines that moved change what other pages cite; the second round finds nothing else


@dataclass(slots=True)
class Reflected:
    """What reflect did, or with `dry_run` would do: pages by path, beliefs that moved, notes for a person, the week's digest.

    `conflicts` counts the pairs of facts that disagree: all of them, or those with a fact written from `since` on.
    """

    pages: list[str] = field(default_factory=list)
    beliefs: list[Moved] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    conflicts: int = 0
    diff: str = ""
    digest: tuple[DigestSentence, ...] = ()

    def as_json(self, applied: bool) -> dict[str, Any]:
        """It as plain values, without the diff."""
        beliefs = [fields(each, "id=ref content=text before after") for each in self.beliefs]
        report = {"schema": 1, "applied": applied, "pages": self.pages, "beliefs": beliefs, "conflicts": self.conflicts}
        return report | {
            "digest": [fields(each, "what=lead text source=citation id=ref") for each in self.digest],
            "warnings": self.notes,
        }

    def add(self, planner: Planner) -> None:
        """Report the beliefs and notes of a round."""
        known = {moved.ref: moved for moved in self.beliefs}
        for moved in planner.moved:
            known[moved.ref] = moved._replace(before=known[moved.ref].before) if moved.ref in known else moved
        self.beliefs = list(known.values())
        self.notes = list(dict.fromkeys([*self.notes, *planner.notes]))
        self.digest = planner.digest or self.digest


def reflect(
    memory: OpenMemory, *, since: date | None = None, dry_run: bool = False, propose: bool = False,
    then: Callable[[OpenMemory, Reflected], None] = lambda _, done: None,
) -> Reflected:  # fmt: skip
    """Bring the pages of bank/ up to date: what is made from anything that changed; all of them where `since` is None.

    Pairs that disagree are counted of what was written from `since` on; `then` is called at the end, with the same index open.
    LockBusy while another reflect runs. A page that somebody saves meanwhile is left as they saved it, with a note.
    """
    workspace, report = memory.workspace, Reflected()
    whole = since is None
    if dry_run:
        planner, edits = memory.run(partial(_round, whole=whole, propose=propose))
        report.add(planner)
        report.diff = "".join(edit.diff() for edit in edits)
        report.pages = [edit.path for edit in edits]
    else:
        with writing_alone(workspace, "reflect"):
            _write_rounds(memory, whole, propose, report)

    def end(at: OpenMemory) -> None:
        report.conflicts = len(conflicts_in(at, since=since))
        then(at, report)

    memory.run(end)
    return report


def _write_rounds(memory: OpenMemory, whole: bool, propose: bool, report: Reflected) -> None:
    """Run rounds until one writes nothing; `whole` says whether the first makes everything again."""
    name_pages: list[str] = []
    for _ in range(_ROUNDS):
        done = Applied()
        planner, _edits = memory.run(partial(_round, whole=whole, propose=propose, done=done, name_pages=name_pages))
        known = planner.last is not None
        report.add(planner)
        _finish_round(memory.workspace, planner, done, report)
        saved_meanwhile = any(isinstance(error, PageChanged) for error in done.failed.values())
        if not done.written or (done.failed and not saved_meanwhile):
            break  # a page that has no room for its text would have none again
        whole = saved_meanwhile  # of the next round
    if not known and not report.pages:  # nothing says what was told, and the pages said it before
        report.digest = ()
    report.pages += [path for path in name_pages if path not in report.pages]
    if report.pages:  # so that the next reader and the count of conflicts find a fresh index
        memory.run(lambda at: sync(at.workspace, at.index, wait=1.0))


def _round(
    memory: OpenMemory, whole: bool, propose: bool, done: Applied | None = None, name_pages: list[str] | None = None
) -> tuple[Planner, list[Edit]]:
    """Plan over one state of the index and carry the plan out; without `done` nothing is written, and the edits come back.

    The pages of names that are written first are added to `name_pages`; without it, no names get one first.
    """
    memory.sync_for_write()
    with memory.index.reading():
        planner = Planner(memory, whole)
        first = planner.name_pages() if name_pages is not None else []
        if name_pages is None or not first:
            return planner, _carry_out(memory.workspace, planner, propose, done)
    name_pages.extend(apply(memory.workspace, first, stop=False).written)
    return _round(memory, whole, propose, done)


def _carry_out(workspace: Workspace, planner: Planner, propose: bool, done: Applied | None) -> list[Edit]:
    """Write each page as it is planned; without `done` nothing is written, and the edits come back."""
    edits = []
    for planned in planner.plan(propose):
        edit = planned_edit(workspace, planned, planner.notes) if isinstance(planned, PlannedBlock) else planned
        if edit and edit.is_change:
            if not moves_lines(edit):
                planner.record.note(edit.path, encoded(edit.after))
            if done is None:
                edits.append(edit)
            else:
                apply(workspace, [edit], stop=False, done=done)
        del planned, edit  # so that no text is held while the next page is planned
    return edits


def planned_edit(workspace: Workspace, block: PlannedBlock, notes: list[str]) -> Edit | None:
    """The page with a block in it; None, and a note, where the page cannot be read or a person edited the block."""
    page = read_or_note(workspace, block.path, notes)
    if page is None:
        return None
    path, text = block.path, page.after
    if "<<<<<<<" in text:
        text = blocks.resolve_conflict(text, sides_of_merge(workspace, path))
    try:
        front_values(text)
    except ValueError as error:
        notes.append(f"{path}: {error}; until it is corrected, its names are not known")
    if blocks.edited(text, block.name):
        why = "was edited by hand and is left alone; take its two marker lines out to keep the edit, or the whole block to have it written again"
        if "<<<<<<<" in text and blocks.conflict_sides(text):
            why = "is left alone until the merge is settled of which git left both sides on the page"
        notes.append(f"{path}: the block `{block.name}` {why}")
        return None
    body = block.body(text)
    try:
        return page._replace(after=blocks.splice(text or (block.start if body else ""), block.name, body))
    except ValueError as error:
        notes.append(f"{path}: {error}")
        return None


def _finish_round(workspace: Workspace, planner: Planner, done: Applied, report: Reflected) -> None:
    """Report what was written, and write the record unless a page failed."""
    write_record(workspace, None if done.failed else planner.record)
    if done.disk_error:
        raise done.disk_error
    for path, error in done.failed.items():
        saved = f"{path} was saved by somebody meanwhile; the next reflect writes it"
        report.notes.append(saved if isinstance(error, PageChanged) else f"{error.what}; {error.cure}")
    report.pages += [path for path in done.written if path not in report.pages]
