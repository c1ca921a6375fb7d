"""Resolve: settle two lines that disagree by adding a line. Nothing is deleted, and the line survives the index."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

from ..errors import NothingFound, Usage
from ..facts import Citation, Fact, Kind, Period
from ..store.heal import with_index
from ..store.index import Index
from ..store.questions import Stored, by_refs
from ..store.questions_conflicts import at_place
from ..store.reread import Seen, reread
from ..store.workspace import Workspace
from ..text.grammar import parse
from ..text.lines import Role, content_of
from .retain import Retained, retain
from .sync import sync
from .truth import period_of

__all__ = ["resolve"]


def resolve(
    workspace: Workspace,
    chosen: str,
    other: str,
    today: date,
    *,
    both: bool = False,
    since: date | None = None,
    because: str | None = None,
    dry_run: bool = False,
) -> Retained:
    """Add a line to today's log that lets `chosen` stand over `other`; each is an id or a citation.

    The line repeats what was chosen and corrects the other, which was then never true; with `since` it supersedes it
    from that day on. With `both`, it says that the two hold side by side. NothingFound for a reference that leads
    nowhere, Usage for two that are one.
    """
    if both and since:
        raise Usage("--both and --from together", "lines that hold side by side do not end each other")

    def job(index: Index) -> tuple[tuple[Stored, Fact], tuple[Stored, Fact]]:
        sync(workspace, index, wait=0, seconds=workspace.settings.sync_seconds)
        return _find(workspace, index, chosen), _find(workspace, index, other)

    (winner, said), (loser, denied) = with_index(workspace, job)
    if winner.ref == loser.ref or winner.content_key == loser.content_key:
        raise Usage(f"^{winner.ref} and ^{loser.ref} say the same", "name the two lines that disagree")
    line = _side_by_side(winner, said, loser, denied) if both else _over(winner, said, loser, since)
    return retain(workspace, [replace(line, why=because)], today, dry_run=dry_run)


def _over(winner: Stored, said: Fact, loser: Stored, since: date | None) -> Fact:
    """What was chosen once more, in the owner's name; true when it was, or from `since` on."""
    named = replace(said, supports=(), refutes=(), supersedes=(), corrects=(), source=None, ttl=None, block_id=None)
    if since:
        last = said.valid.last if said.valid else None
        return replace(named, supersedes=(loser.ref,), valid=Period(since, last))
    true = period_of(winner)
    return replace(named, corrects=(loser.ref,), valid=said.valid or (Period(true.first) if true.first else None))


def _side_by_side(one: Stored, said: Fact, other: Stored, denied: Fact) -> Fact:
    """An observation, which is never evidence: it moves no belief. That it speaks for both is what counts."""
    names = tuple(dict.fromkeys((*said.entities, *denied.entities)))
    private = said.private or denied.private
    text = f"Both hold: “{said.text}” and “{denied.text}”"
    return Fact(Kind.OBSERVATION, text, names, supports=(one.ref, other.ref), private=private)


def _find(workspace: Workspace, index: Index, reference: str) -> tuple[Stored, Fact]:
    """The fact that an id or a citation names, as it stands on disk."""
    bare = reference.strip().removeprefix("^")
    citation = Citation.parse(bare)
    path = workspace.contain(citation.path) if citation else ""
    entries = at_place(index, path, citation.line) if citation else by_refs(index, [bare])
    entries = [entry for entry in entries if entry.block is None]
    seen = reread(workspace, entries)
    found = [(entry, fact) for entry in entries if entry.id in seen and (fact := _fact(entry, seen[entry.id]))]
    if not found:
        cure = "name an id or a citation as `memctl conflicts` prints it"
        raise NothingFound(f"no fact is called {reference!r}", cure)
    return found[0]


def _fact(entry: Stored, seen: Seen) -> Fact | None:
    read = parse(content_of(Role.FACT, seen.raw)) if entry.role == Role.FACT.value else None
    return read if isinstance(read, Fact) else None
