"""Resolve: settle two lines that disagree by adding a line. Nothing is deleted, and the line survives the index."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

from ..errors import NothingFound, Usage
from ..facts import Citation, Fact, Kind, Period, is_trusted
from ..index.index import Index
from ..index.open_memory import OpenMemory
from ..index.queries.beliefs import side_by_side
from ..index.queries.entries import by_ids, by_refs, citing, entries_at
from ..index.reread import Seen, reread
from ..index.row import Row
from ..markdown.grammar import one_line, parse
from ..markdown.lines import Role, content_of
from ..retain.retain import Retained, retain
from ..truth.judge import period_of

_OVER = ("corrects", "supersedes")


def resolve(
    memory: OpenMemory,
    chosen: str,
    other: str,
    *,
    both: bool = False,
    since: date | None = None,
    because: str | None = None,
    dry_run: bool = False,
) -> Retained:
    """Add a line to today's log that lets `chosen` stand over `other`; each is an id or a citation.

    The line repeats what was chosen and corrects the other, which was then never true; with `since` it supersedes it
    from that day on. With `both`, it says that the two hold side by side. `because` is kept as one line. A note
    names a line that settled the two before. NothingFound for a reference that leads nowhere, Usage for two that are one
    and for a `since` before the other line began.
    """
    if both and since:
        raise Usage("--both and --from together", "lines that hold side by side do not end each other")

    def job(memory: OpenMemory) -> tuple[tuple[Row, Fact], tuple[Row, Fact], list[Row]]:
        memory.sync_for_write()
        one, two = _find(memory, chosen), _find(memory, other)
        return one, two, _settled(memory.index, one[0], two[0])

    (winner, said), (loser, denied), before = memory.run(job)
    if winner.ref == loser.ref or winner.content_key == loser.content_key:
        raise Usage(f"^{winner.ref} and ^{loser.ref} say the same", "name the two lines that disagree")
    began = period_of(loser).first
    if since and began and since < began:
        raise Usage(
            f"--from {since} is before ^{loser.ref} began, on {began}",
            "a later day, or no --from: the other line was then never true",
        )
    line = _side_by_side(winner, said, loser, denied) if both else _over(winner, said, loser, since)
    done = retain(memory, [replace(line, why=one_line(because or "") or None)], memory.today, dry_run=dry_run)
    if before and not done.kept[0].already:
        last = max(before, key=lambda entry: (entry.day or "", entry.path, entry.line))
        memory.tell(f"settled before: {Citation(last.path, last.line, last.end_line)} ^{last.ref}")
    return done


def _settled(index: Index, one: Row, other: Row) -> list[Row]:
    """The lines that let one of the two stand over the other, or say that both hold."""
    refs = (one.ref, other.ref)
    speaking = side_by_side(index, refs)
    both = by_ids(index, speaking.get(one.ref, set()) & speaking.get(other.ref, set()))
    over = {(a.content_key, f"{word} {b.ref}") for a, b in ((one, other), (other, one)) for word in _OVER}
    standing = (line for line in citing(index, refs) if line.block is None and is_trusted(line.origin))
    named = (line for line in standing if any((line.content_key, link) in over for link in line.links.split("\n")))
    return [*both.values(), *named]


def _over(winner: Row, said: Fact, loser: Row, since: date | None) -> Fact:
    """What was chosen once more, in the owner's name; true when it was, or from `since` on."""
    named = replace(said, supports=(), refutes=(), supersedes=(), corrects=(), source=None, ttl=None, block_id=None)
    if since:
        last = said.valid.last if said.valid else None
        return replace(named, supersedes=(loser.ref,), valid=Period(since, last))
    true = period_of(winner)
    return replace(named, corrects=(loser.ref,), valid=said.valid or (Period(true.first) if true.first else None))


def _side_by_side(one: Row, said: Fact, other: Row, denied: Fact) -> Fact:
    """An observation, which is never evidence: it moves no belief. That it speaks for both is what counts."""
    names = tuple(dict.fromkeys((*said.entities, *denied.entities)))
    private = said.private or denied.private
    text = f"Both hold: “{said.text}” and “{denied.text}”"
    return Fact(Kind.OBSERVATION, text, names, supports=(one.ref, other.ref), private=private)


def _find(memory: OpenMemory, reference: str) -> tuple[Row, Fact]:
    """The fact that an id or a citation names, as it stands on disk."""
    index, workspace = memory.index, memory.workspace
    bare = reference.strip().removeprefix("^")
    citation = Citation.parse(bare)
    path = workspace.contain(citation.path) if citation else ""
    entries = entries_at(index, Citation(path, citation.line, citation.line)) if citation else by_refs(index, [bare])
    entries = [entry for entry in entries if entry.block is None]
    seen = reread(workspace, entries)
    found = [(entry, fact) for entry in entries if entry.id in seen and (fact := _fact(entry, seen[entry.id]))]
    if not found:
        cure = "name an id or a citation as `memctl conflicts` prints it"
        raise NothingFound(f"no fact matches {reference!r}", cure)
    return found[0]


def _fact(entry: Row, seen: Seen) -> Fact | None:
    read = parse(content_of(Role.FACT, seen.raw)) if entry.role == Role.FACT.value else None
    return read if isinstance(read, Fact) else None
