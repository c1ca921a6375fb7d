"""Conflicts: pairs of standing lines that disagree, or of which the newer may have replaced the older; settled by one more line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import chain

from ..errors import NothingFound, Usage
from ..facts import Citation, Fact, Kind, Period, is_trusted
from ..hits import Hit
from ..index.index import Index
from ..index.open_memory import OpenMemory, on_fresh_index
from ..index.queries.beliefs import newest_about, said_since, side_by_side, slots_filled
from ..index.queries.entries import by_ids, by_refs, citing, entries_at, slot_ids
from ..index.queries.names import keys_of
from ..index.reread import Seen, reread
from ..index.row import Row
from ..judgement import Judgement, Tier
from ..markdown.grammar import parse, printable_line
from ..markdown.lines import Role, content_of
from ..recall.entry_hits import hits_of, text_of
from ..retain.retain import Retained, retain
from ..truth.judge import judge, period_of
from ..truth.replaced import Replaced, replaced_since, unsettled
from .slots import in_slots, values_differ


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two hits that disagree, the older first; what is not trusted stands second. `about`: whom both are about."""

    sides: tuple[Hit, Hit]
    rule: str
    reason: str
    about: tuple[str, ...]
    kind: str = "conflict"
    """`replacement` where the newer may have replaced the older: that is a question, and no fault of the pages."""

    def __str__(self) -> str:
        """One line for a list of findings: "conflict: opposite: male against female: memory/…#L1 and memory/…#L2"."""
        reason = f": {self.reason}" if self.reason else ""
        return f"{self.rule}{reason}: {' and '.join(str(hit.source) for hit in self.sides)}"


@on_fresh_index
def conflicts(memory: OpenMemory, about: str | None = None) -> tuple[Conflict, ...]:
    """Every pair of facts that disagree today, the newest first; with `about`, those about the entity of that name.

    Left out: what is superseded, expired or retracted, copies in managed blocks, observations, pairs that a line relates or
    settles, what is certain, and pairs of which neither side is trusted.
    """
    with memory.index.reading():
        return conflicts_in(memory, about)


def conflicts_in(memory: OpenMemory, about: str | None = None) -> tuple[Conflict, ...]:
    """The same from the open index as it is."""
    keys = keys_of(memory.index, about.removeprefix("@")) if about is not None else None
    if keys and not newest_about(memory.index, keys):
        memory.tell(f"no fact names {about}")
    found = [
        *slot_conflicts(memory, keys),
        *(pair for pair in replaced_since(memory, names=keys, facts=True) if _of_facts(pair)),
    ]
    return _shown(memory, found)


def conflicts_since(memory: OpenMemory, since: date) -> tuple[Conflict, ...]:
    """Those pairs of which one side was told from `since` on; what was told before is looked at only beside it."""
    fresh = set(said_since(memory.index, since))
    slots = (pair for pair in slot_conflicts(memory, None, fresh) if {pair.older.id, pair.newer.id} & fresh)
    return _shown(memory, [*slots, *(pair for pair in replaced_since(memory, since, facts=True) if _of_facts(pair))])


_PLAIN = ("replaced: value", "replaced: ended")
"""Rules of replacement whose pairs are listed here too; what others find is a question of `memctl review` alone."""


def _of_facts(pair: Replaced) -> bool:
    """True for two facts that disagree or plainly replace each other, which nobody has decided."""
    facts = pair.older.role == pair.newer.role == Role.FACT.value
    plain = pair.judgement.kind == "conflict" or pair.judgement.rule in _PLAIN
    return facts and plain and pair.judgement.tier is Tier.ASKED


# -- slots ------------------------------------------------------------------------------------------------------------


def slot_conflicts(
    memory: OpenMemory, names: Sequence[str] | None = None, fresh: Iterable[int] | None = None
) -> list[Replaced]:
    """Values of one slot that the order of versions does not settle: of these names, or those of some facts."""
    index = memory.index
    ids = _in_varied_slots(index, names) if fresh is None else _beside(index, fresh)
    verdict = judge(index, by_ids(index, ids).values(), memory.today)
    pairs = in_slots(verdict.claims.values(), verdict.validity, memory.today)
    entries = by_ids(index, chain.from_iterable(pair[:2] for pair in pairs))
    seen = reread(memory.workspace, entries.values(), index)
    facts = {i: text_of(entries[i], seen[i]).fact for i in seen}
    made = []
    for first, second, rule in pairs:
        one, other = facts.get(first), facts.get(second)
        if one and other and values_differ(one, other, rule):
            judgement = Judgement("conflict", "disagrees", Tier.ASKED, one.key or "", rule)
            made.append(Replaced(entries[first], entries[second], judgement))
    return unsettled(index, made)


def _in_varied_slots(index: Index, names: Sequence[str] | None) -> list[int]:
    """The facts in slots that have more than one value."""
    members: dict[tuple[str, str], dict[int, int]] = {}
    first: dict[str, str] = {}
    for key, name, entry, same in slots_filled(index, names):
        if name not in first:
            first[name] = keys_of(index, name)[0] if name else ""
        members.setdefault((key, first[name]), {})[entry] = same
    return [entry for held in members.values() if len(set(held.values())) > 1 for entry in held]


def _beside(index: Index, fresh: Iterable[int]) -> list[int]:
    """The facts in the slots that some facts fill."""
    found: dict[int, None] = {}
    for entry in by_ids(index, fresh).values():
        if entry.slot is not None and entry.block is None:
            name = entry.names.split("\n", 1)[0]
            found |= dict.fromkeys(slot_ids(index, entry.slot, keys_of(index, name) if name else ("",)))
    return list(found)


# -- as they are shown ------------------------------------------------------------------------------------------------


def _shown(memory: OpenMemory, found: Iterable[Replaced]) -> tuple[Conflict, ...]:
    """The pairs with both sides as they stand on disk, twins once, the newest first."""
    once = {frozenset((pair.older.content_key, pair.newer.content_key)): pair for pair in reversed(list(found))}
    pairs = list(once.values())
    entries = {row.id: row for pair in pairs for row in (pair.older, pair.newer)}
    hits = hits_of(memory, entries.values())
    made = [_conflict(pair, hits) for pair in pairs if pair.older.id in hits and pair.newer.id in hits]
    return tuple(sorted(made, key=_newest_first))


def _conflict(pair: Replaced, hits: Mapping[int, Hit]) -> Conflict:
    rows: list[Row] = sorted((pair.older, pair.newer), key=lambda row: not is_trusted(row.origin))
    one, other = (hits[row.id] for row in rows)
    about = tuple(name for name in one.entities if name in other.entities)
    return Conflict((one, other), pair.judgement.rule, pair.judgement.reason, about, pair.judgement.kind)


def _newest_first(conflict: Conflict) -> tuple[int, str, str]:
    days = [date.fromisoformat(hit.day).toordinal() for hit in conflict.sides if hit.day]
    one, other = conflict.sides
    return -max(days, default=0), str(one.source), str(other.source)


# -- resolving --------------------------------------------------------------------------------------------------------

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
    done = retain(memory, [replace(line, why=printable_line(because or "") or None)], memory.today, dry_run=dry_run)
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
