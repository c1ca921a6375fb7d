"""What reflect writes from: facts of the index as evidence, and as the lines of entity pages, world, experience, lessons."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from dataclasses import replace
from datetime import date
from functools import cached_property
from typing import NamedTuple

from ..beliefs.belief import Place
from ..beliefs.confidence import INFERRED
from ..beliefs.replay import Answer, TrustedFact
from ..entities.names_of_lines import KnownNames
from ..entities.similar import SimilarNames
from ..facts import Citation, Fact, is_trusted
from ..hits import Hit
from ..index.open_memory import OpenMemory
from ..index.queries.beliefs import (
    Light,
    about_names,
    answers_until,
    facts_between,
    forgotten_refs,
    may_be_retracted,
    names_told,
    naming,
    outcomes_of,
    placed,
    replacing_between,
)
from ..index.queries.entries import by_ids, by_refs
from ..index.queries.names import all_entities, keys_of
from ..index.reread import reread
from ..index.row import Entity, Row
from ..language.names import entity_key, mentions
from ..recall.entry_hits import hits_of
from ..truth.judge import Validities, judge
from ..truth.validity import Validity
from .entity_pages import About, PageLine
from .lessons import TaskOutcome

DURABLE = 0.7  # importance from which a fact is worth carrying on world.md or experience.md
_TIMELINE = 20  # events on an entity's page
_OUTDATED = 5  # superseded versions shown of what an entity's page of the world holds
_LINES = 40  # of an entity on world.md, and on experience.md
_PAGE_OF_KIND = {"world": "bank/world.md", "experience": "bank/experience.md"}
_RELATED = 8
_MET = 2  # facts that two names must share to be related


class Durable(NamedTuple):
    """The lines of an entity for world.md and experience.md."""

    world: tuple[PageLine, ...]
    experience: tuple[PageLine, ...]

    @property
    def names(self) -> set[str]:
        """Everybody whom the lines name."""
        return {name for line in (*self.world, *self.experience) for name in line.entities}


class _Candidates(NamedTuple):
    """The facts about an entity that its pages may show, each list from old to new."""

    slots: list[Light]
    plans: list[Light]
    events: list[Light]
    durable: list[Light]

    @property
    def groups(self) -> tuple[list[Light], list[Light]]:
        """The newest of each slot, and of the other lists; in a group, exact twins are one line."""
        recent = [*self.plans, *self.events[-2 * _TIMELINE :], *self.durable[-4 * _LINES :]]
        return _newest_of_each(self.slots), recent

    @property
    def owners(self) -> set[int]:
        """The first of exact twins in a group: it stands for all of them."""
        found: set[int] = set()
        for group in self.groups:
            first: dict[int, int] = {}
            found |= {first.setdefault(fact.content_key, fact.id) for fact in group}
        return found

    def within(self, ids: Set[int]) -> _Candidates:
        """Only those of some facts."""
        return _Candidates(*([fact for fact in some if fact.id in ids] for some in self))


class _Shown(NamedTuple):
    """The ids of the facts that the pages of an entity show, in the order of their candidates."""

    now: list[int]
    plans: list[int]
    timeline: list[int]
    world: list[int]
    experience: list[int]


class FactSource:
    """Facts of one index on one day. Nothing in it depends on what reflect wrote before."""

    def __init__(self, memory: OpenMemory) -> None:
        self._memory, self._index, self._today = memory, memory.index, memory.today
        self.known = KnownNames(memory.index)
        self._hits: dict[int, Hit] = {}
        self._standings: dict[int, Validity] = {}
        self._replacing: dict[int, Row] = {}
        self._cited: dict[str, Citation | None] = {}
        self._facts: dict[str, list[Light]] = {}
        self._spelled: dict[str, str] = {}

    # -- evidence -----------------------------------------------------------------------------------------------------

    def names_of(self, fact: Fact) -> frozenset[str]:
        """The keys of everybody whom a fact names, marked or not."""
        written = (self.known.known_as(name) for name in (*fact.entities, *mentions(fact.text)))
        return frozenset(map(entity_key, (*written, *self.known.in_text(fact.text))))

    def window(self, since: date | None, names: Iterable[str] = ()) -> list[Row]:
        """The facts written down from `since` on, and older ones that may name one of `names` without marking it."""
        found = {entry.id: entry for entry in facts_between(self._index, since, self._today)}
        return list((found | {entry.id: entry for entry in naming(self._index, names, self._today)}).values())

    def evidence(self, window: Sequence[Row]) -> list[TrustedFact]:
        """Those facts that may move beliefs; what a correction took back may not."""
        found: dict[str, TrustedFact] = {}
        for hit in self.hits(window):
            if hit.fact and hit.day and not hit.retracted:
                names = frozenset(map(entity_key, hit.entities))
                fact = TrustedFact(hit.ref, hit.fact, date.fromisoformat(hit.day), hit.source, names)
                found.setdefault(hit.ref, fact)
        return list(found.values())

    def answers(self) -> tuple[list[Answer], set[str]]:
        """What the answers of `memctl review` say, each with the line for which it speaks; and the questions answered.

        An answer without `by=` ends a belief by itself and is no evidence; one of a local model weighs half.
        """
        rows = answers_until(self._index, self._today)
        said = self.evidence(rows)
        wanted = {answer.fact.by for answer in said if answer.fact.by}
        lines = [row for row in by_refs(self._index, wanted) if row.block is None and not row.private]
        spoken_for = {told.ref: told for told in self.evidence(lines) if is_trusted(told.fact.source)}
        found: list[Answer] = []
        for answer in said:
            is_model = (answer.fact.source or "").partition(":")[0] == "llm"
            if answer.fact.by is None:
                found.append(Answer(replace(answer.fact, supports=(), refutes=()), answer))
            elif by := spoken_for.get(answer.fact.by):
                found.append(Answer(answer.fact, by, INFERRED if is_model else 1.0))
        return found, {question for answer in said for question in answer.fact.settles}

    def around(self, window: Sequence[Row], since: date, names: Iterable[str]) -> Collection[Row]:
        """What pages may have to show differently: what the window replaced, and what names one of `names`."""
        replacing = replacing_between(self._index, since, self._today)
        verdict = judge(self._index, replacing, self._today)
        fresh = {entry.id for entry in (*window, *replacing)}
        over = [i for i, standing in verdict.validity.items() if standing.replaced_by in fresh]
        named = by_ids(self._index, [fact.id for name in names for fact in self.facts_of(name)])
        return [*(verdict.entries[i] for i in over), *named.values()]

    def places(self, refs: Iterable[str]) -> tuple[dict[str, Place], set[str]]:
        """Where the lines with these ids stand, and the ids that no longer count: forgotten, retracted or made private."""
        wanted = set(refs)
        entries = placed(self._index, wanted)
        cited = self._citations(entries)
        entries = [entry for entry in entries if entry.id in cited]
        found = {entry.ref: Place(cited[entry.id], entry.origin) for entry in reversed(entries)}
        void = forgotten_refs(self._index, wanted - found.keys())
        retracted = self._retracted(entries)
        counting = {
            entry.ref
            for entry in entries
            if is_trusted(entry.origin) and entry.id not in retracted and not entry.private
        }
        return found, void | (found.keys() - counting)

    def _retracted(self, entries: Sequence[Row]) -> set[int]:
        """The ids of those that were never true: a line corrects them, by id or in words."""
        doubtful = may_be_retracted(self._index, entries)
        standings = judge(self._index, doubtful, self._today, whole=False).validity
        return {entry.id for entry in doubtful if standings[entry.id].retracted}

    def _citations(self, entries: Sequence[Row]) -> dict[int, Citation]:
        """Where entries stand on disk now, by id; those that are gone are left out."""
        seen = reread(self._memory.workspace, entries)
        return {e.id: Citation(e.path, seen[e.id].line, seen[e.id].end_line) for e in entries if e.id in seen}

    # -- lines --------------------------------------------------------------------------------------------------------

    def hits(self, entries: Sequence[Row]) -> list[Hit]:
        """Entries as they stand on disk now, with their validity; by place."""
        fresh = [entry for entry in entries if entry.id not in self._hits]
        self._hits |= hits_of(self._memory, fresh, self._judged(fresh), known=self.known)
        ordered = sorted(entries, key=lambda entry: (entry.path, entry.line))
        return [self._hits[entry.id] for entry in ordered if entry.id in self._hits]

    def _judged(self, entries: Iterable[Row]) -> Validities:
        """The validity of everything judged so far, these entries included. No page is read for that."""
        fresh = [entry for entry in entries if entry.id not in self._standings]
        if fresh:
            made = judge(self._index, fresh, self._today, whole=False)
            self._standings |= {entry.id: made.validity[entry.id] for entry in fresh}
            replacing = {made.validity[entry.id].replaced_by for entry in fresh}
            self._replacing |= {i: made.entries[i] for i in replacing if i is not None}
        return Validities(self._standings, self._replacing, {})

    def facts_of(self, name: str) -> list[Light]:
        """Every fact that counts about the entity with a name."""
        key = entity_key(name)
        if key not in self._facts:
            self._facts[key] = about_names(self._index, keys_of(self._index, name), self._today)
        return self._facts[key]

    def spelled(self, name: str) -> str:
        """The spelling of a name: that of its page, else the commonest on the earliest lines about it."""
        if self.known.known_as(name) != entity_key(name):
            return self.known.known_as(name)
        if name not in self._spelled:
            first = by_ids(self._index, [fact.id for fact in self.facts_of(name)[:20]])
            written = Counter(
                spelling
                for hit in self.hits(list(first.values()))
                for spelling in (*(hit.fact.entities if hit.fact else ()), *mentions(hit.content))
                if entity_key(spelling) == entity_key(name)
            )
            self._spelled[name] = min(written, key=lambda spelling: (-written[spelling], spelling), default=name)
        return self._spelled[name]

    # -- an entity ----------------------------------------------------------------------------------------------------

    def about(self, name: str, path_of: Callable[[str], str | None]) -> tuple[About, Durable]:
        """The facts that the pages show of an entity. Only what they show is read from disk."""
        facts, keys = self.facts_of(name), set(keys_of(self._index, name))
        candidates = _candidates(facts, keys, str(self._today))
        entries = by_ids(self._index, (fact.id for group in candidates.groups for fact in group))
        self._judged(entries.values())
        self.hits([entries[plan.id] for plan in candidates.plans])
        shown, read = self._choose(candidates, entries)
        if not read <= self._hits.keys():  # a line is gone from its page: another one takes its place
            self.hits(list(entries.values()))
            candidates = candidates.within(entries.keys() & self._hits.keys())
            shown, read = self._choose(candidates, entries)
        lines = self._lines(candidates.groups, read)
        now = sorted(
            ((fact.slot or "", lines[fact.id]) for fact in candidates.slots if fact.id in shown.now), key=_slot
        )
        current = {line.ref for _, line in now}
        plans = [line for line in map(lines.__getitem__, shown.plans) if not (line.over or line.retracted)]
        about = About(
            name, now, (), [line for line in plans if line.ref not in current], [lines[i] for i in shown.timeline],
            self._related(name, facts, path_of),
        )  # fmt: skip
        world, experience = (tuple(lines[i] for i in ids) for ids in (shown.world, shown.experience))
        return about, Durable(world, experience)

    def _choose(self, candidates: _Candidates, entries: Mapping[int, Row]) -> tuple[_Shown, set[int]]:
        """What the pages show, by what the index tells of the candidates; and the ids that have to be read for that."""
        standings, own = self._standings, candidates.within(candidates.owners)
        now = [fact for fact in own.slots if _is_now(standings[fact.id], self._today)]
        plans = [fact for fact in own.plans if not self._is_only_kept(fact.id)]
        taken = {fact.ref for fact in (*now, *plans)}
        events = [fact.id for fact in own.events if fact.ref not in taken]
        timeline = [number for number in events if not standings[number].retracted][-_TIMELINE:]
        durable = [entries[fact.id] for fact in own.durable]
        shown = _Shown([f.id for f in now], [f.id for f in plans], timeline, *_durable(durable, standings))
        wanted = {entries[i].content_key for ids in shown for i in ids}
        read = {i for i, entry in entries.items() if entry.content_key in wanted}
        return shown, read | {fact.id for fact in candidates.plans}

    def _is_only_kept(self, number: int) -> bool:
        """True if a fact ends only because its author wants it kept no longer: that is not a plan."""
        fact = self._hits[number].fact if number in self._hits else None
        return bool(fact and fact.ttl and not fact.until and not fact.valid)

    def _lines(self, groups: Iterable[Sequence[Light]], read: Set[int]) -> dict[int, PageLine]:
        """The lines of what was read, by id. Of exact twins in a group, the first names the places of the others."""
        found: dict[int, PageLine] = {}
        self._find_replacing(read)
        for group in groups:
            twins: dict[int, list[int]] = {}
            for number, key in {fact.id: fact.content_key for fact in group}.items():
                if number in read and number in self._hits:
                    twins.setdefault(key, []).append(number)
            for first, *others in twins.values():
                found[first] = self._line(self._hits[first], tuple(self._hits[other].source for other in others))
        return found

    def _line(self, hit: Hit, also: tuple[Citation, ...]) -> PageLine:
        by = hit.superseded_by
        return PageLine(
            hit.content, hit.day, hit.valid, hit.source, hit.ref, hit.kind, hit.entities,
            hit.fact.key if hit.fact else None, hit.importance, self._cited[by] if by else None, hit.retracted, also,
            by is not None,
        )  # fmt: skip

    def _find_replacing(self, read: Iterable[int]) -> None:
        """Look up where the lines stand that replaced those that were read: of twins the first, no private one."""
        refs = {self._hits[i].superseded_by for i in read if i in self._hits}
        fresh = {ref for ref in refs if ref is not None and ref not in self._cited}
        entries = [entry for entry in placed(self._index, fresh) if not entry.private] if fresh else []
        cited = self._citations(entries)
        self._cited |= dict.fromkeys(fresh)
        self._cited |= {entry.ref: cited[entry.id] for entry in reversed(entries) if entry.id in cited}

    def _related(
        self, name: str, facts: Sequence[Light], path_of: Callable[[str], str | None]
    ) -> list[tuple[str, str | None, int]]:
        own = {*keys_of(self._index, name), entity_key(name)}
        met: Counter[str] = Counter()
        for names, count in Counter(fact.names for fact in facts if "\n" in fact.names).items():
            others = {self.known.known_as(key) for key in names.split("\n") if key and key not in own}
            met.update({other: count for other in others if entity_key(other) not in own})
        often = sorted((-count, entity_key(other), other) for other, count in met.items() if count >= _MET)
        shown = [(self.spelled(other), -count) for count, _, other in often[:_RELATED]]
        return [(other, path_of(other), count) for other, count in shown]

    @cached_property
    def entities(self) -> list[Entity]:
        """Every entity that has a page, by name."""
        return all_entities(self._index)

    @cached_property
    def similar(self) -> SimilarNames:
        """All names with their entities, to ask who may be the same."""
        named = [(each.name, name) for each in self.entities for name in (each.name, *each.names)]
        without_page = names_told(self._index, self._today) - {entity_key(name) for _, name in named}
        return SimilarNames([*named, *((key, key) for key in sorted(without_page))])

    # -- lessons ------------------------------------------------------------------------------------------------------

    def outcomes(self, tasks: Iterable[str]) -> list[TaskOutcome]:
        """Every outcome of some tasks; `@key` stands for those of an entity that name no task, under all its names."""
        wanted = {
            f"@{key}" if task.startswith("@") else task
            for task in tasks
            for key in (keys_of(self._index, task[1:]) if task.startswith("@") else ("",))
        }
        return [
            TaskOutcome(
                hit.fact.task or "", hit.fact.outcome == "ok", hit.content, hit.fact.why, hit.entities, hit.day,
                hit.source, hit.ref,
            )
            for hit in self.hits(outcomes_of(self._index, wanted, self._today))
            if hit.fact and hit.fact.outcome and not hit.retracted
        ]  # fmt: skip


def _candidates(facts: Sequence[Light], keys: Collection[str], today: str) -> _Candidates:
    """What the pages of the entity with these name keys may show."""
    days: dict[int, set[str]] = {}
    for fact in facts:
        days.setdefault(fact.content_key, set()).add(fact.day or "")
    own = [fact for fact in facts if fact.names.split("\n", 1)[0] in keys]
    return _Candidates(
        slots=[f for f in own if f.slot is not None],
        plans=[f for f in facts if _is_open(f, today)],
        events=[f for f in facts if f.day is not None and f.kind in _PAGE_OF_KIND],
        durable=[
            f for f in own if f.slot is not None or (f.importance or 0) >= DURABLE or len(days[f.content_key]) > 1
        ],
    )


def _is_open(fact: Light, today: str) -> bool:
    """True for what is to come, or has an end that has not come. A single day is an event, once it is there."""
    if fact.kind == "opinion":
        return False
    ahead = fact.first is not None and fact.first > today
    return ahead or (fact.last is not None and fact.last >= today and fact.first != fact.last)


def _newest_of_each(slots: Sequence[Light]) -> list[Light]:
    """The last few versions of each slot: among them is the one that holds."""
    by_key: dict[str, list[Light]] = {}
    for fact in sorted(slots, key=lambda f: (f.first or "", f.day or "")):
        by_key.setdefault(fact.slot or "", []).append(fact)
    return [fact for versions in by_key.values() for fact in versions[-_OUTDATED:]]


def _slot(pair: tuple[str, PageLine]) -> tuple[str, str]:
    return pair[0], pair[1].ref


def _is_now(standing: Validity, today: date) -> bool:
    first, last = standing.valid
    begun, ended = first is None or first <= today, last is not None and last < today
    return begun and not ended and standing.replaced_by is None and not standing.retracted


def _durable(entries: Iterable[Row], standings: Mapping[int, Validity]) -> tuple[list[int], list[int]]:
    """The ids of the lines for world.md and experience.md: the current ones, and the newest of those that are over.

    What stands on those pages itself is not copied there.
    """
    unique = list({entry.ref: entry for entry in entries}.values())
    over = [e.id for e in unique if standings[e.id].replaced_by is not None or standings[e.id].retracted]
    hidden = set(over[:-_OUTDATED])
    world, experience = (
        [e.id for e in unique if e.id not in hidden and e.kind == kind and e.path != path][-_LINES:]
        for kind, path in _PAGE_OF_KIND.items()
    )
    return world, experience
