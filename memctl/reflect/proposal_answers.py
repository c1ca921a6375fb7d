"""Proposals: accept or refuse one of those that bank/proposals.md shows. Nothing else ever writes memory.md."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import NamedTuple

from ..errors import NothingFound, Refused
from ..facts import is_trusted
from ..index.open_memory import OpenMemory
from ..index.queries.entries import Stored, by_refs
from ..markdown.diff import diff
from ..markdown.evidence_line import OPINIONS
from ..notes.files import read_page
from ..notes.replace import replace, writing_alone
from ..notes.workspace import Workspace
from ..truth.judge import judge
from .proposals import CORE, PAGE, Proposal, read_proposals, refused_in
from .proposals import accept as accepted
from .proposals import refuse as refused

__all__ = ["accept", "refuse"]

_AGAIN = "`memctl reflect --propose-core` writes them anew"


class _Text(NamedTuple):
    """A page as it is on disk; `data` is None for one that is not there."""

    path: str
    data: bytes | None
    text: str


def accept(memory: OpenMemory, number: int, dry_run: bool = False) -> str:
    """Write proposal `number`, as bank/proposals.md shows it now, into memory.md; returns the diff, empty if it is there.

    NothingFound if no such proposal is shown, Refused if its fact no longer holds, is gone, private or not trusted, or
    if somebody refused it.
    """

    def edit(proposal: Proposal, page: _Text) -> tuple[_Text, str]:
        if proposal.ref in refused_in(page.text):
            raise Refused(f"proposal {number} was refused before", f"take its id out of {PAGE}, below the block")
        reason = memory.run(lambda at: _stale(at, proposal))
        if reason:
            raise Refused(f"proposal {number} is out of date: {reason}", _AGAIN)
        core = _read(memory.workspace, CORE)
        return core, accepted(core.text, proposal)

    return _done(memory.workspace, number, edit, dry_run)


def refuse(memory: OpenMemory, number: int, dry_run: bool = False) -> str:
    """Note in bank/proposals.md that proposal `number` is never to be made again; returns the diff, empty if it says so.

    NothingFound if no such proposal is shown.
    """
    return _done(
        memory.workspace, number, lambda proposal, page: (page, refused(page.text, proposal, memory.today)), dry_run
    )


def _done(
    workspace: Workspace, number: int, edit: Callable[[Proposal, _Text], tuple[_Text, str]], dry_run: bool
) -> str:
    with nullcontext() if dry_run else writing_alone(workspace, "reflect"):
        page = _read(workspace, PAGE)
        shown = {proposal.number: proposal for proposal in read_proposals(page.text)}
        if number not in shown:
            which = f"it shows {', '.join(map(str, shown))}; " if shown else ""
            raise NothingFound(f"{PAGE} shows no proposal {number}", which + _AGAIN)
        before, after = edit(shown[number], page)
        if not dry_run and after != before.text:
            replace(workspace, before.path, before.data, after.encode("utf-8", "surrogateescape"))
        return diff(before.path, before.text, after)


def _read(workspace: Workspace, path: str) -> _Text:
    if not (workspace.root / path).exists():
        return _Text(path, None, "")
    data = read_page(workspace, path).data
    return _Text(path, data, data.decode("utf-8", "surrogateescape"))


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
