"""Conflicts: pairs of standing lines that disagree, or of which the newer may have replaced the older; settled by one more line."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cache
from operator import attrgetter

from ..errors import NothingFound, Usage
from ..facts import Citation, Fact, Kind, Period, is_trusted
from ..hits import Hit
from ..index.index import Index
from ..index.open_memory import OpenMemory, on_fresh_index
from ..index.queries.entity_names import keys_of
from ..index.queries.entries import by_ids, by_refs, citing, entries_at, slot_ids
from ..index.queries.evidence import facts_since, newest_about, side_by_side, slots_filled
from ..index.reread import reread, text_of
from ..index.row import Row
from ..judgement import Judgement, Tier
from ..language.analyzer import query_terms
from ..language.names import bare_name, script_of
from ..language.relations import relation
from ..language.sentences import is_change
from ..markdown.grammar import parse, printable_line
from ..markdown.lines import Role, content_of
from ..recall.entry_hits import hits_of
from ..retain.retain import Retained, retain
from ..truth.judge import Validities, judge
from ..truth.replaced import Replaced, replaced_since, unsettled
from ..truth.validity import Claim, has_begun, has_ended, versions

SAME_DAY, PINNED, OUTSIDE = "same slot, same day, other value", "pinned against newer", "other value from outside"
_PLAIN = ("replaced: value", "replaced: ended")
"""Rules of replacement whose pairs are listed here too; what others find is a question of `memctl review` alone."""
_OVER = ("corrects", "supersedes")


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


def conflicts_in(memory: OpenMemory, about: str | None = None, since: date | None = None) -> tuple[Conflict, ...]:
    """The same from the open index as it is, of pairs of which at least one side was told from `since` on."""
    keys = keys_of(memory.index, bare_name(about)) if about is not None else None
    if keys and not newest_about(memory.index, keys):
        memory.tell(f"no fact names {about}")
    fresh = None if since is None else set(facts_since(memory.index, since))
    slots = slot_conflicts(memory, keys, fresh)
    slots = [pair for pair in slots if fresh is None or {pair.older.id, pair.newer.id} & fresh]
    return _shown(memory, [*slots, *filter(_of_facts, replaced_since(memory, since, keys, facts=True))])


def _of_facts(pair: Replaced) -> bool:
    """True for two facts that disagree or plainly replace each other, which nobody has decided."""
    facts = pair.older.role == pair.newer.role == Role.FACT.value
    plain = pair.judgement.kind == "conflict" or pair.judgement.rule in _PLAIN
    return facts and plain and pair.judgement.tier is Tier.ASKED


# -- slots: two values that the order of versions does not settle: told on one day, pinned, or from outside -------------


def slot_conflicts(
    memory: OpenMemory, names: Sequence[str] | None = None, fresh: Iterable[int] | None = None
) -> list[Replaced]:
    """Values of one slot that the order of versions does not settle: of these names, or those of some facts.

    Lines that time puts in order do not disagree: the newer one holds (truth/validity.py).
    """
    index = memory.index
    ids = _in_varied_slots(index, names) if fresh is None else _beside(index, fresh)
    verdict = judge(memory, by_ids(index, ids).values())
    pairs = dict.fromkeys(_in_slots(verdict, memory.today))
    entries = by_ids(index, [i for pair in pairs for i in pair[:2]])
    seen = reread(memory.workspace, entries.values(), index)
    facts = {i: text_of(entries[i], seen[i]).fact for i in seen}
    made = []
    for first, second, rule in pairs:
        one, other = facts.get(first), facts.get(second)
        if one and other and _values_differ(one, other, rule):
            judgement = Judgement("conflict", "disagrees", Tier.ASKED, one.key or "", rule)
            made.append(Replaced(entries[first], entries[second], judgement))
    return unsettled(index, made)


def _in_varied_slots(index: Index, names: Sequence[str] | None) -> list[int]:
    """The facts in slots that have more than one value."""
    members: dict[tuple[str, str], dict[int, int]] = defaultdict(dict)
    first = cache(lambda name: keys_of(index, name)[0])
    for key, name, entry, same in slots_filled(index, names):
        members[key, first(name)][entry] = same
    return [entry for held in members.values() if len(set(held.values())) > 1 for entry in held]


def _beside(index: Index, fresh: Iterable[int]) -> list[int]:
    """The facts in the slots that some facts fill."""
    found: dict[int, None] = {}
    for entry in by_ids(index, fresh).values():
        if entry.slot is not None and entry.block is None:
            found |= dict.fromkeys(slot_ids(index, entry.slot, keys_of(index, entry.subject)))
    return list(found)


def _in_slots(verdict: Validities, today: date) -> Iterator[tuple[int, int, str]]:
    """Pairs of facts by id, the older first, and the rule by which they may disagree."""
    slots: dict[tuple[str, str], list[Claim]] = defaultdict(list)
    named: set[str] = set()
    for claim in verdict.claims.values():
        for slot in claim.slots:
            slots[slot].append(claim)
        named.update((*claim.supersedes, *claim.corrects) if claim.trusted else ())
    for _, claims in sorted(slots.items()):
        line = versions(claims)
        holding = {claim.same: claim for claim in line if claim.trusted and verdict.validity[claim.id].holds(today)}
        if not holding:
            continue
        *others, newest = versions(holding.values())
        for other in others:
            yield other.id, newest.id, PINNED if other.pinned or newest.pinned else SAME_DAY
        for claim in line:
            current = has_begun(claim.valid, today) and not has_ended(claim.valid, today)
            if current and claim.same not in holding and claim.ref not in named:
                yield from _against(claim, newest, verdict)


def _against(claim: Claim, newest: Claim, verdict: Validities) -> Iterator[tuple[int, int, str]]:
    """A value that does not hold, against the newest that does: told together with it, or later by somebody untrusted."""
    # Only their places on the page order these two.
    together = (claim.valid.first, claim.day) == (newest.valid.first, newest.day) and not newest.amends
    if claim.trusted and verdict.validity[claim.id].replaced_by == newest.id and together:
        yield claim.id, newest.id, SAME_DAY
    elif not claim.trusted and (claim.valid.first or date.min) >= (newest.valid.first or date.min):
        yield newest.id, claim.id, OUTSIDE


def _values_differ(one: Fact, other: Fact, rule: str) -> bool:
    """False where two lines of a slot may well give it one value, in other words or another language.

    And where the later line of one day says itself that things changed.
    """
    if script_of(one.text) != script_of(other.text) or (rule == SAME_DAY and is_change(other.text)):
        return False
    values = [relation(fact.text, fact.entities) for fact in (one, other)]
    if values[0] and values[1] and values[0].key == values[1].key:
        mine, its = values[0].value, values[1].value
        return not (mine.startswith(its) or its.startswith(mine))  # "lisbon" and "lisbon old town"
    stems = [set(query_terms(fact.text)) for fact in (one, other)]
    return not (stems[0] <= stems[1] or stems[1] <= stems[0])


def _shown(memory: OpenMemory, found: Iterable[Replaced]) -> tuple[Conflict, ...]:
    """The pairs with both sides as they stand on disk, twins once, the newest first."""
    once = {frozenset((pair.older.content_key, pair.newer.content_key)): pair for pair in reversed(list(found))}
    pairs = list(once.values())
    entries = {row.id: row for pair in pairs for row in (pair.older, pair.newer)}
    hits = hits_of(memory, entries.values())
    made = []
    for pair in pairs:
        rows: list[Row] = sorted((pair.older, pair.newer), key=lambda row: not is_trusted(row.origin))
        if all(row.id in hits for row in rows):
            one, other = (hits[row.id] for row in rows)
            about = tuple(name for name in one.entities if name in other.entities)
            judgement = pair.judgement
            made.append(Conflict((one, other), judgement.rule, judgement.reason, about, judgement.kind))
    return tuple(sorted(made, key=_newest_first))


def _newest_first(conflict: Conflict) -> tuple[int, str, str]:
    one, other = conflict.sides
    days = [date.fromisoformat(hit.day).toordinal() for hit in conflict.sides if hit.day]
    return -max(days, default=0), str(one.source), str(other.source)


def resolve(
    memory: OpenMemory, chosen: str, other: str, *, both: bool = False, since: date | None = None,
    because: str | None = None, dry_run: bool = False,
) -> Retained:  # fmt: skip
    """Add a line to today's log that lets `chosen` stand over `other`; each is an id or a citation.

    The line repeats what was chosen and corrects the other, which was then never true; with `since` it supersedes it
    from that day on. With `both`, it says that the two hold side by side. `because` is kept as one line. A note
    names a line that settled the two before. NothingFound for a reference that leads nowhere, Usage for two that are one
    and for a `since` before the other line began.
    """
    if both and since:
        cure = "leave one of them out: --both keeps both lines, --from ends the other"
        raise Usage("--both and --from together", cure)

    def job(memory: OpenMemory) -> tuple[tuple[Row, Fact], tuple[Row, Fact], list[Row]]:
        memory.sync_for_write()
        one, two = _find(memory, chosen), _find(memory, other)
        return one, two, _settled(memory.index, one[0], two[0])

    (winner, said), (loser, denied), before = memory.run(job)
    if winner.ref == loser.ref or winner.content_key == loser.content_key:
        raise Usage(f"^{winner.ref} and ^{loser.ref} say the same", "name the two lines that disagree")
    began = loser.valid.first
    if since and began and since < began:
        cure = "a later day, or no --from: the other line was then never true"
        raise Usage(f"--from {since} is before ^{loser.ref} began, on {began}", cure)
    line = _side_by_side(winner, said, loser, denied) if both else _over(winner, said, loser, since)
    done = retain(memory, [replace(line, why=printable_line(because or "") or None)], memory.today, dry_run=dry_run)
    if before and not done.kept[0].already:
        last = max(before, key=attrgetter("told"))
        memory.tell(f"settled before: {last.cited} ^{last.ref}")
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
    true = winner.valid
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
    for entry in entries:
        seen = reread(workspace, [entry]).get(entry.id)
        fact = parse(content_of(Role.FACT, seen.raw)) if seen and entry.role == Role.FACT.value else None
        if isinstance(fact, Fact):
            return entry, fact  # with the ciphertext of a sealed one: it may be written once more
    raise NothingFound(f"no fact matches {reference!r}", "name an id or a citation as `memctl conflicts` prints it")
