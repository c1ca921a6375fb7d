"""Proposals: accept or refuse one of those that bank/proposals.md shows. Nothing else ever writes memory.md."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext

from ..errors import NothingFound, Refused
from ..facts import is_trusted
from ..index.open_memory import OpenMemory
from ..index.queries.entries import Stored, by_refs
from ..markdown.evidence_line import OPINIONS
from ..notes.edits import Edit, apply, read_for_edit
from ..notes.replace import writing_alone
from ..notes.workspace import Workspace
from ..truth.judge import judge
from .proposals import CORE, PAGE, Proposal, read_proposals, refused_in
from .proposals import accept as accepted
from .proposals import refuse as refused

__all__ = ["accept", "refuse"]

_AGAIN = "`memctl reflect --propose-core` writes them anew"


def accept(memory: OpenMemory, number: int, dry_run: bool = False) -> str:
    """Write proposal `number`, as bank/proposals.md shows it now, into memory.md; returns the diff, empty if it is there.

    NothingFound if no such proposal is shown, Refused if its fact no longer holds, is gone, private or not trusted, or
    if somebody refused it.
    """

    def edit(proposal: Proposal, page: Edit) -> Edit:
        if proposal.ref in refused_in(page.after):
            raise Refused(f"proposal {number} was refused before", f"take its id out of {PAGE}, below the block")
        reason = memory.run(lambda at: _stale(at, proposal))
        if reason:
            raise Refused(f"proposal {number} is out of date: {reason}", _AGAIN)
        core = read_for_edit(memory.workspace, CORE)
        return core._replace(after=accepted(core.after, proposal))

    return _done(memory.workspace, number, edit, dry_run)


def refuse(memory: OpenMemory, number: int, dry_run: bool = False) -> str:
    """Note in bank/proposals.md that proposal `number` is never to be made again; returns the diff, empty if it says so.

    NothingFound if no such proposal is shown.
    """

    def plan(proposal: Proposal, page: Edit) -> Edit:
        return page._replace(after=refused(page.after, proposal, memory.today))

    return _done(memory.workspace, number, plan, dry_run)


def _done(workspace: Workspace, number: int, plan: Callable[[Proposal, Edit], Edit], dry_run: bool) -> str:
    with nullcontext() if dry_run else writing_alone(workspace, "reflect"):
        page = read_for_edit(workspace, PAGE)
        shown = {proposal.number: proposal for proposal in read_proposals(page.after)}
        if number not in shown:
            which = f"it shows {', '.join(map(str, shown))}; " if shown else ""
            raise NothingFound(f"{PAGE} shows no proposal {number}", which + _AGAIN)
        edit = plan(shown[number], page)
        if not dry_run:
            apply(workspace, [edit])
        return edit.diff()


def _stale(memory: OpenMemory, proposal: Proposal) -> str:
    """Why the fact behind a proposal may not be accepted any more; empty if it may."""
    memory.synced()
    entries = [entry for entry in by_refs(memory.index, [proposal.ref]) if entry.block is None and entry.path != PAGE]
    if not entries:
        return f"^{proposal.ref} is gone"
    verdict = judge(memory.index, entries, memory.today, whole=False)
    reasons = [_over(entry, verdict.standings[entry.id].holds(memory.today)) for entry in entries]
    # Of twins, one that holds is enough.
    return "" if "" in reasons else f"^{proposal.ref} {reasons[0]}"


def _over(entry: Stored, holds: bool) -> str:
    if not holds:
        return "does not hold any more"
    if entry.private or not is_trusted(entry.origin):
        return "is private" if entry.private else f"comes from {entry.origin}"
    doubted = entry.path == OPINIONS and (entry.confidence or 0) < 0.5
    return f"is held at {entry.confidence} only" if doubted else ""
