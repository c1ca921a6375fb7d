"""Conflicts: pairs of standing facts that disagree, each read again from disk, with the rule that found them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import date
from itertools import chain

from ..conflicts.disagreement import Statement, disagreement
from ..entities.names_of_lines import KnownNames
from ..facts import Fact, is_trusted
from ..hits import Hit
from ..index.index import Index
from ..index.open_memory import OpenMemory
from ..index.queries.beliefs import (
    ToldFact,
    facts_about,
    keys_by_entity,
    mention_count,
    said_since,
    side_by_side,
    slots_filled,
    weighed,
)
from ..index.queries.entries import by_ids, slot_ids
from ..index.queries.names import keys_of
from ..index.reread import reread
from ..index.row import Row
from ..language.analyzer import terms
from ..language.names import entity_key
from ..recall.entry_hits import hits_of, text_of
from ..stance.stance import Stance, stance
from ..truth.judge import Validities, judge
from .pairs import Pair, in_slots, marks_of, pairs_with, pairs_worth, values_differ

_MOST_FACTS = 20_000  # of one entity, the newest
_MOST_PAIRS = 4_000  # of one entity that are read word by word, the likeliest: some 2 s
_COMPARED = 2_000  # lines about a name up to which what was told lately is held against them


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two hits that disagree, the older first; what is not trusted stands second. `about`: whom both are about."""

    sides: tuple[Hit, Hit]
    rule: str
    reason: str
    about: tuple[str, ...]

    def __str__(self) -> str:
        """One line for a list of findings: "opposite: “male” against “female”: memory/…#L1 and memory/…#L2"."""
        reason = f": {self.reason}" if self.reason else ""
        return f"{self.rule}{reason}: {' and '.join(str(hit.source) for hit in self.sides)}"


def conflicts(memory: OpenMemory, about: str | None = None) -> tuple[Conflict, ...]:
    """Every pair of facts that disagree today, the newest first; with `about`, those about the entity of that name.

    Left out: what is superseded, expired or retracted, copies in managed blocks, observations, pairs that a line names
    as compatible, and pairs of which neither side is trusted. A note says where there was too much to compare.
    """

    def job(memory: OpenMemory) -> tuple[Conflict, ...]:
        memory.sync_for_read()
        with memory.index.reading():
            return conflicts_in(memory, about)

    return memory.run(job)


def conflicts_in(memory: OpenMemory, about: str | None = None) -> tuple[Conflict, ...]:
    """The same from the open index as it is."""
    index = memory.index
    keys = keys_of(index, about.removeprefix("@")) if about is not None else None
    groups = keys_by_entity(index) if keys is None else {keys[0]: set(keys)}
    pairs = _slot_pairs(memory, keys)
    cut: list[str] = []
    for done, (name, group) in enumerate(sorted(groups.items())):
        pairs += [Pair(one, other, "") for one, other in _worth(index, name, group, cut)]
        memory.progress(done + 1, len(groups))
    if cut:
        more = f" and {len(cut) - 3} more" if len(cut) > 3 else ""
        memory.tell(
            f"too many lines are alike to compare them all; the likeliest were, about {', '.join(cut[:3])}{more}"
        )
    if keys and not any(facts_about(index, group, 1) for group in groups.values()):
        memory.tell(f"no fact names {about}")
    return tuple(_found(memory, list(dict.fromkeys(pairs))))


def conflicts_since(memory: OpenMemory, since: date) -> tuple[Conflict, ...]:
    """Those pairs of which one side was told from `since` on, about names with no more than 2,000 lines.

    All that is looked at are those facts, and the lines about the same names: each pair as in a small workspace.
    """
    index = memory.index
    fresh = by_ids(index, said_since(index, since))
    groups: dict[str, tuple[str, ...]] = {}
    of: dict[str, list[int]] = {}
    for entry in fresh.values():
        for keys in {keys_of(index, name) for name in entry.names.split("\n") if name}:
            groups[keys[0]] = tuple(dict.fromkeys((*groups.get(keys[0], ()), *keys)))
            of.setdefault(keys[0], []).append(entry.id)
    small = {name: keys for name, keys in groups.items() if mention_count(index, keys) <= _COMPARED}
    slots = {
        (entry.slot, first): small[first]
        for entry in fresh.values()
        if entry.slot is not None and entry.block is None
        for first in (keys_of(index, entry.names.split("\n", 1)[0])[0],)
        if first in small
    }
    pairs = [pair for pair in _varied_pairs(memory, slots) if {pair.first, pair.second} & fresh.keys()]
    for name, keys in sorted(small.items()):
        pairs += [Pair(one, other, "") for one, other in _worth_with(index, keys, set(of[name]))]
    return tuple(_found(memory, list(dict.fromkeys(pairs))))


# -- which pairs ------------------------------------------------------------------------------------------------------


def _varied_pairs(memory: OpenMemory, slots: Mapping[tuple[str, str], Sequence[str]]) -> list[Pair]:
    """Pairs in some slots, (key, bearer) with all name keys of the bearer."""
    ids = chain.from_iterable(slot_ids(memory.index, key, names) for (key, _), names in slots.items())
    return _unsettled(memory, ids)


def _unsettled(memory: OpenMemory, ids: Iterable[int]) -> list[Pair]:
    """Pairs within the slots of these facts that the order of versions does not settle."""
    verdict = judge(memory.index, by_ids(memory.index, ids).values(), memory.today)
    return in_slots(verdict.claims.values(), verdict.validity, memory.today)


def _worth_with(index: Index, keys: Iterable[str], fresh: Set[int]) -> Iterator[tuple[int, int]]:
    """Pairs about one entity with one of the facts `fresh` in each, the older first."""
    told = facts_about(index, keys, _MOST_FACTS)[::-1]
    if len(told) < 2:
        return
    words = frozenset(term for key in keys for term in terms(key))
    places = [at for at, fact in enumerate(told) if fact.id in fresh]
    own, days = [fact.own for fact in told], [fact.day for fact in told]
    pairs = pairs_with(own, days, words, places, _MOST_PAIRS)
    yield from _counting((told[i], told[j]) for i, j in pairs)


def _counting(pairs: Iterable[tuple[ToldFact, ToldFact]]) -> Iterator[tuple[int, int]]:
    """The ids of what says different things, and not both from outside."""
    for one, other in pairs:
        if one.content_key != other.content_key and (is_trusted(one.origin) or is_trusted(other.origin)):
            yield one.id, other.id


def _slot_pairs(memory: OpenMemory, names: Sequence[str] | None) -> list[Pair]:
    """Pairs in the slots that have more than one value."""
    values: dict[tuple[str, str], set[int]] = {}
    members: dict[tuple[str, str], list[int]] = {}
    first: dict[str, str] = {}
    for key, name, entry, same in slots_filled(memory.index, names):
        if name not in first:
            first[name] = keys_of(memory.index, name)[0] if name else ""
        values.setdefault((key, first[name]), set()).add(same)
        members.setdefault((key, first[name]), []).append(entry)
    return _unsettled(memory, chain.from_iterable(members[slot] for slot, found in values.items() if len(found) > 1))


def _worth(index: Index, name: str, keys: Iterable[str], cut: list[str]) -> Iterator[tuple[int, int]]:
    """Pairs of facts about one entity that may disagree by their words, the older first; `cut` gets a name with too many."""
    told = facts_about(index, keys, _MOST_FACTS + 1)
    if len(told) < 2:
        return
    newest = told[:_MOST_FACTS][::-1]
    words = frozenset(term for key in keys for term in terms(key))
    marks = [marks_of(fact.own, words) for fact in newest]
    pairs, total = pairs_worth(marks, [fact.day for fact in newest], _MOST_PAIRS)
    if total > len(pairs) or len(told) > len(newest):
        cut.append(name)
    yield from _counting((newest[i], newest[j]) for i, j in pairs)


# -- which of them disagree -------------------------------------------------------------------------------------------


def _found(memory: OpenMemory, pairs: Sequence[Pair]) -> list[Conflict]:
    index, today = memory.index, memory.today
    entries = by_ids(index, chain.from_iterable((pair.first, pair.second) for pair in pairs))
    verdict = judge(index, entries.values(), today)
    pairs = [pair for pair in pairs if _stands(pair, entries, verdict, today)]
    refs = {entries[i].ref for pair in pairs for i in pair[:2]}
    compatible, ledger = side_by_side(index, refs), weighed(index, refs)
    pairs = [
        pair
        for pair, one, other in ((pair, entries[pair.first], entries[pair.second]) for pair in pairs)
        if not _linked(one, other, compatible) and not _is_evidence(one.ref, other.ref, ledger)
    ]
    close = _Comparison(memory, {i: entries[i] for pair in pairs for i in pair[:2]}, verdict)
    found: dict[tuple[int, ...], Conflict] = {}
    for pair in pairs:
        twins = tuple(sorted(entries[i].content_key for i in pair[:2]))
        if twins not in found and (conflict := close.compared(pair)):
            found[twins] = conflict
    return sorted(found.values(), key=_newest_first)


def _newest_first(conflict: Conflict) -> tuple[int, str, str]:
    days = [date.fromisoformat(hit.day).toordinal() for hit in conflict.sides if hit.day]
    one, other = conflict.sides
    return -max(days, default=0), str(one.source), str(other.source)


def _stands(pair: Pair, entries: Mapping[int, Row], verdict: Validities, today: date) -> bool:
    """Both sides are there and count; in a slot, the rule has seen to that."""
    if pair.first not in entries or pair.second not in entries:
        return False
    return bool(pair.rule) or all(verdict.validity[i].holds(today) for i in pair[:2])


def _linked(one: Row, other: Row, compatible: Mapping[str, set[int]]) -> bool:
    """An author related the two: one replaces, corrects, supports or refutes the other, or a line speaks for both."""
    named = ((a.links.split("\n"), b.ref) for a, b in ((one, other), (other, one)) if a.links)
    direct = any(line.split(" ", 1)[1] == ref for lines, ref in named for line in lines)
    return direct or bool(compatible.get(one.ref, set()) & compatible.get(other.ref, set()))


def _is_evidence(one: str, other: str, ledger: Mapping[str, set[str]]) -> bool:
    """True where a belief already weighs one of the two: its confidence says what the other one did to it."""
    pairs = ((ledger.get(a, ()), ledger.get(b, ())) for a, b in ((one, other), (other, one)))
    return any("stated" in first and "weighed" in second for first, second in pairs)


class _Comparison:
    """Looks at pairs closely: their lines are read again, and only those that disagree become hits."""

    def __init__(self, memory: OpenMemory, entries: Mapping[int, Row], verdict: Validities) -> None:
        self._memory, self._entries, self._verdict = memory, entries, verdict
        self._seen = reread(memory.workspace, entries.values(), memory.index)
        self._known = KnownNames(memory.index)
        self._names: dict[str, frozenset[str]] = {}

    def compared(self, pair: Pair) -> Conflict | None:
        """The conflict that a pair is, if it is one; what is not trusted stands second."""
        one, other = (self._fact(i) for i in pair[:2])
        if one is None or other is None:
            return None
        if pair.rule:
            found = (pair.rule, one.key or "") if values_differ(one, other, pair.rule) else None
        elif one.outcome and other.outcome:
            found = None  # two attempts
        else:
            names = frozenset(chain.from_iterable(map(self._terms, (*one.entities, *other.entities))))
            found = disagreement(
                self._statement(pair.first, one), self._statement(pair.second, other), names, self._weigh
            )
        if not found:
            return None
        sides = sorted(map(self._hit, pair[:2]), key=lambda hit: not is_trusted(hit.origin))
        about = tuple(name for name in sides[0].entities if name in sides[1].entities)
        return Conflict((sides[0], sides[1]), found[0], found[1], about)

    def _fact(self, number: int) -> Fact | None:
        return text_of(self._entries[number], self._seen[number]).fact if number in self._seen else None

    def _statement(self, number: int, fact: Fact) -> Statement:
        day = self._entries[number].day
        return Statement(fact, self._verdict.validity[number].valid, date.fromisoformat(day) if day else None)

    def _terms(self, name: str) -> frozenset[str]:
        """The search terms of every name of somebody."""
        if name not in self._names:
            self._names[name] = frozenset(chain.from_iterable(map(terms, (name, *keys_of(self._memory.index, name)))))
        return self._names[name]

    def _weigh(self, one: Fact, other: Fact) -> Stance:
        return stance(one, other, canonical=lambda name: entity_key(self._known.known_as(name)))

    def _hit(self, number: int) -> Hit:
        entries = [self._entries[number]]
        return hits_of(self._memory, entries, self._verdict, seen=self._seen, known=self._known)[number]
