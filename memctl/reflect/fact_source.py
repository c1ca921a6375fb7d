"""What reflect writes from: facts of the index as evidence, and as the lines of entity pages, world, experience, lessons."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from datetime import date
from typing import NamedTuple

from ..beliefs.belief import Place
from ..beliefs.replay import TrustedFact
from ..entities.names_of_lines import KnownNames
from ..entities.similar import Names
from ..facts import Citation, Fact, is_trusted
from ..hits import Hit
from ..index.open_memory import OpenMemory
from ..index.queries.entries import Entity, Stored, all_entities, by_ids, keys_of
from ..index.queries.reflect import (
    Light,
    about_names,
    facts_between,
    forgotten_refs,
    may_be_retracted,
    names_told,
    naming,
    outcomes_of,
    placed,
    replacing_between,
)
from ..index.reread import reread
from ..language.names import entity_key, mentions
from ..recall.entry_hits import hit_of
from ..truth.judge import Judgement, judge
from ..truth.validity import Standing
from .entity_pages import About, Held, Line
from .lessons import Outcome

__all__ = ["Durable", "Gathering"]

DURABLE = 0.7  # importance from which a fact is worth carrying on world.md or experience.md
_TIMELINE = 20
_OUTDATED = 5  # superseded versions shown of what an entity's page of the world holds
_LINES = 40
_DURABLE_PAGES = {"world": "bank/world.md", "experience": "bank/experience.md"}
_RELATED = 8
_MET = 2  # facts that two names must share to be related


class Durable(NamedTuple):
    """The lines of an entity for world.md and experience.md."""

    world: tuple[Line, ...]
    experience: tuple[Line, ...]

    @property
    def names(self) -> set[str]:
        """Everybody whom the lines name."""
        return {name for line in (*self.world, *self.experience) for name in line.entities}


class Gathering:
    """Facts of one index on one day. Nothing in it depends on what reflect wrote before."""

    def __init__(self, memory: OpenMemory) -> None:
        self._workspace, self._index, self._today = memory.workspace, memory.index, memory.today
        self.known = KnownNames(memory.index)
        self._hits: dict[int, Hit] = {}
        self._standings: dict[int, Standing] = {}
        self._replacing: dict[int, Stored] = {}
        self._verdict = Judgement(self._standings, self._replacing, {})
        self._cited: dict[str, Citation | None] = {}
        self._facts: dict[str, list[Light]] = {}
        self._spelled: dict[str, str] = {}
        self._similar: Names | None = None
        self._entities: list[Entity] | None = None

    # -- evidence -----------------------------------------------------------------------------------------------------

    def names_of(self, fact: Fact) -> frozenset[str]:
        """The keys of everybody whom a fact names, marked or not."""
        written = (self.known.known_as(name) for name in (*fact.entities, *mentions(fact.text)))
        return frozenset(map(entity_key, (*written, *self.known.in_text(fact.text))))

    def window(self, since: date | None, names: Iterable[str] = ()) -> list[Stored]:
        """The facts written down from `since` on, and older ones that may name one of `names` without marking it."""
        found = {entry.id: entry for entry in facts_between(self._index, since, self._today)}
        return list((found | {entry.id: entry for entry in naming(self._index, names, self._today)}).values())

    def told(self, window: Sequence[Stored]) -> list[TrustedFact]:
        """Those facts that may move beliefs; what a correction took back is none."""
        found: dict[str, TrustedFact] = {}
        for hit in self.hits(window):
            if hit.fact and hit.day and not hit.retracted:
                names = frozenset(map(entity_key, hit.entities))
                told = TrustedFact(hit.ref, hit.fact, date.fromisoformat(hit.day), hit.source, names)
                found.setdefault(hit.ref, told)
        return list(found.values())

    def around(self, window: Sequence[Stored], since: date, names: Iterable[str]) -> Collection[Stored]:
        """What may have to be shown otherwise now: what the window replaced, and what names one of `names`."""
        replacing = replacing_between(self._index, since, self._today)
        verdict = judge(self._index, replacing, self._today)
        fresh = {entry.id for entry in (*window, *replacing)}
        over = [i for i, standing in verdict.standings.items() if standing.replaced_by in fresh]
        named = by_ids(self._index, [fact.id for name in names for fact in self.facts_of(name)])
        return [*(verdict.entries[i] for i in over), *named.values()]

    def places(self, refs: Iterable[str]) -> tuple[dict[str, Place], set[str]]:
        """Where the lines with these ids stand, and those of them that count no more: forgotten, taken back, made private."""
        wanted = set(refs)
        entries = placed(self._index, wanted)
        seen = reread(self._workspace, entries)
        entries = [entry for entry in entries if entry.id in seen]
        found = {
            entry.ref: Place(Citation(entry.path, seen[entry.id].line, seen[entry.id].end_line), entry.origin)
            for entry in reversed(entries)
        }
        void = forgotten_refs(self._index, wanted - found.keys())
        retracted = self._retracted(entries)
        counting = {
            entry.ref
            for entry in entries
            if is_trusted(entry.origin) and entry.id not in retracted and not entry.private
        }
        return found, void | (found.keys() - counting)

    def _retracted(self, entries: Sequence[Stored]) -> set[int]:
        """Those that were never true: only what a line corrects by its id, or in words, can be."""
        doubtful = may_be_retracted(self._index, entries)
        standings = judge(self._index, doubtful, self._today, whole=False).standings
        return {entry.id for entry in doubtful if standings[entry.id].retracted}

    # -- lines --------------------------------------------------------------------------------------------------------

    def hits(self, entries: Sequence[Stored]) -> list[Hit]:
        """Entries as they stand on disk now, with their standing; by place."""
        fresh = [entry for entry in entries if entry.id not in self._hits]
        verdict = self._judged(fresh)
        seen = reread(self._workspace, fresh)
        for entry in fresh:
            if entry.id in seen:
                self._hits[entry.id] = hit_of(self._index, entry, seen[entry.id], verdict, self._today, self.known)
        ordered = sorted(entries, key=lambda entry: (entry.path, entry.line))
        return [self._hits[entry.id] for entry in ordered if entry.id in self._hits]

    def _judged(self, entries: Iterable[Stored]) -> Judgement:
        """Everything judged so far, these entries with it: each once, and no page is read for that."""
        fresh = [entry for entry in entries if entry.id not in self._verdict.standings]
        if fresh:
            made = judge(self._index, fresh, self._today, whole=False)
            standings = {entry.id: made.standings[entry.id] for entry in fresh}
            self._standings.update(standings)
            replacing = {standing.replaced_by for standing in standings.values()} - {None}
            self._replacing.update((i, made.entries[i]) for i in replacing if i is not None)
        return self._verdict

    def facts_of(self, name: str) -> list[Light]:
        """Every fact that counts about the bearer of a name."""
        key = entity_key(name)
        if key not in self._facts:
            self._facts[key] = about_names(self._index, keys_of(self._index, name), self._today)
        return self._facts[key]

    def spelled(self, name: str) -> str:
        """How a name without a page is written most often on the earliest lines about it; its page's spelling with one."""
        if self.known.known_as(name) != entity_key(name):
            return self.known.known_as(name)
        if name not in self._spelled:
            self._spelled[name] = self._spelled_first(name)
        return self._spelled[name]

    def _spelled_first(self, name: str) -> str:
        first = by_ids(self._index, [fact.id for fact in self.facts_of(name)[:20]])
        written = Counter(
            spelling
            for hit in self.hits(list(first.values()))
            for spelling in (*(hit.fact.entities if hit.fact else ()), *mentions(hit.content))
            if entity_key(spelling) == entity_key(name)
        )
        return min(written, key=lambda spelling: (-written[spelling], spelling), default=name)

    def _lines(self, chosen: Iterable[Light], entries: Mapping[int, Stored]) -> dict[int, Line]:
        """The lines of some facts by id. Exact twins are one line that names the places of the others."""
        wanted = {light.id: light for light in chosen}
        self._find({hit.superseded_by for hit in self.hits([entries[i] for i in wanted if i in entries])})
        hits = {number: self._hits[number] for number in wanted if number in self._hits}
        first: dict[int, int] = {}
        also: dict[int, list[Citation]] = {}
        for number, light in wanted.items():
            if number in hits:
                owner = first.setdefault(light.content_key, number)
                if owner != number:
                    also.setdefault(owner, []).append(hits[number].source)
        return {
            number: self._line(hits[number], tuple(also.get(number, ()))) for number in first.values()
        }  # fmt: skip

    def _only_kept_until(self, number: int) -> bool:
        """True if a fact has an end only because nobody wants to keep it longer: that is no plan."""
        fact = self._hits[number].fact
        return bool(fact and fact.ttl and not fact.until and not fact.valid)

    def _line(self, hit: Hit, also: tuple[Citation, ...] = ()) -> Line:
        return Line(
            hit.content, hit.day, hit.valid, hit.source, hit.ref, hit.kind, hit.entities,
            hit.fact.key if hit.fact else None, hit.importance, self._cited[hit.superseded_by] if hit.superseded_by else None,
            hit.retracted, also,
            hit.superseded_by is not None,
        )  # fmt: skip

    def _find(self, refs: Iterable[str | None]) -> None:
        """Look up where lines stand that replaced others: of several that say the same, the first; no private one."""
        fresh = {ref for ref in refs if ref is not None and ref not in self._cited}
        entries = [entry for entry in placed(self._index, fresh) if not entry.private] if fresh else []
        seen = reread(self._workspace, entries)
        self._cited |= dict.fromkeys(fresh)
        for entry in reversed(entries):
            if entry.id in seen:
                self._cited[entry.ref] = Citation(entry.path, seen[entry.id].line, seen[entry.id].end_line)

    # -- an entity ----------------------------------------------------------------------------------------------------

    def about(self, name: str, beliefs: Sequence[Held], path_of: Callable[[str], str | None]) -> tuple[About, Durable]:
        """Everything that the pages show of an entity."""
        facts = self.facts_of(name)
        today = str(self._today)
        repeated = _repeated(facts)
        mine = set(keys_of(self._index, name))
        slots = [f for f in facts if f.slot is not None and f.names.split("\n", 1)[0] in mine]
        plans = [f for f in facts if _is_open(f, today)]
        events = [f for f in facts if f.day is not None and f.kind in ("world", "experience")]
        durable = [
            f
            for f in facts
            if f.names.split("\n", 1)[0] in mine
            and (f.slot is not None or (f.importance or 0) >= DURABLE or f.content_key in repeated)
        ]
        candidates = (_newest_of_each(slots), [*plans, *events[-2 * _TIMELINE :], *durable[-4 * _LINES :]])
        entries = by_ids(self._index, (fact.id for some in candidates for fact in some))
        shown = self._shown(candidates, entries, slots, plans, events, durable)
        lines: dict[int, Line] = {}
        for some in candidates:
            lines |= self._lines([fact for fact in some if fact.id in shown], entries)
        plans = [f for f in plans if f.id in lines and not self._only_kept_until(f.id)]
        now = _now(slots, lines, today)
        taken = {line.ref for _, line in now} | {lines[f.id].ref for f in plans}
        timeline = [lines[f.id] for f in events if f.id in lines and lines[f.id].ref not in taken]
        about = About(
            name, now, beliefs, _standing([lines[f.id] for f in plans], {line.ref for _, line in now}),
            [line for line in timeline if not line.retracted][-_TIMELINE:],
            self._related(name, facts, path_of), (),
        )  # fmt: skip
        return about, _durable([lines[f.id] for f in durable if f.id in lines])

    def _shown(
        self, candidates: Iterable[Sequence[Light]], entries: Mapping[int, Stored],
        slots: Sequence[Light], plans: Sequence[Light], events: Sequence[Light], durable: Sequence[Light],
    ) -> Set[int]:  # fmt: skip
        """Those of the candidates that the pages may show by what the index tells of them: only these are read.

        All of them if one of those is not on its page any more: then another one takes its place.
        """
        standings = self._judged(entries.values()).standings
        first: set[int] = set()  # of twins, the one that stands for all
        for some in candidates:
            owners: dict[int, int] = {}
            first |= {owners.setdefault(fact.content_key, fact.id) for fact in some}
        self.hits([entries[fact.id] for fact in plans])
        now = {f.id for f in slots if f.id in first and _is_now(standings[f.id], self._today)}
        kept = {f.id for f in plans if f.id in self._hits and not self._only_kept_until(f.id)}
        taken = {entries[i].ref for i in now | (kept & first)}
        told = [f.id for f in events if f.id in first and entries[f.id].ref not in taken]
        timeline = [i for i in told if not standings[i].retracted][-_TIMELINE:]
        lasting = _lasting([entries[f.id] for f in durable if f.id in first], standings)
        wanted = {*now, *(f.id for f in plans), *timeline, *lasting}
        twins = {entries[i].content_key for i in wanted}
        read = {i for i, entry in entries.items() if entry.content_key in twins}
        self.hits([entries[i] for i in read])
        return read if read <= self._hits.keys() else entries.keys()

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

    def entities(self) -> list[Entity]:
        """Every entity that has a page, by name; asked for once."""
        if self._entities is None:
            self._entities = all_entities(self._index)
        return self._entities

    def similar(self) -> Names:
        """All names with their bearers, to be asked who may be the same; unmarked spellings of one bearer are one."""
        if self._similar is None:
            borne = [(each.name, name) for each in self.entities() for name in (each.name, *each.names)]
            keys = {entity_key(name) for _, name in borne}
            told = sorted(names_told(self._index, self._today) - keys)
            self._similar = Names([*borne, *((key, key) for key in told)])
        return self._similar

    # -- lessons ------------------------------------------------------------------------------------------------------

    def outcomes(self, tasks: Iterable[str]) -> list[Outcome]:
        """Every outcome of some tasks; `@key` stands for those of an entity that name no task, under all its names."""
        wanted = {
            f"@{key}" if task.startswith("@") else task
            for task in tasks
            for key in (keys_of(self._index, task[1:]) if task.startswith("@") else ("",))
        }
        found = []
        for hit in self.hits(outcomes_of(self._index, wanted, self._today)):
            fact = hit.fact
            if fact and fact.outcome and not hit.retracted:
                told = fact.task or "", fact.outcome == "ok", hit.content, fact.why
                found.append(Outcome(*told, hit.entities, hit.day, hit.source, hit.ref))
        return found


def _repeated(facts: Iterable[Light]) -> set[int]:
    """What was told on two days or more."""
    days: dict[int, set[str]] = {}
    for fact in facts:
        days.setdefault(fact.content_key, set()).add(fact.day or "")
    return {key for key, told in days.items() if len(told) > 1}


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


def _now(slots: Sequence[Light], lines: Mapping[int, Line], today: str) -> list[tuple[str, Line]]:
    shown = [(f.slot or "", lines[f.id]) for f in slots if f.id in lines]
    return sorted((pair for pair in shown if _holds(pair[1], today)), key=lambda pair: (pair[0], pair[1].ref))


def _holds(line: Line, today: str) -> bool:
    begun = line.valid.first is None or str(line.valid.first) <= today
    ended = line.valid.last is not None and str(line.valid.last) < today
    return begun and not ended and not line.over and not line.retracted


def _is_now(standing: Standing, today: date) -> bool:
    """What `_holds` says of the line, before it is read."""
    first, last = standing.valid
    begun, ended = first is None or first <= today, last is not None and last < today
    return begun and not ended and standing.replaced_by is None and not standing.retracted


def _lasting(entries: Iterable[Stored], standings: Mapping[int, Standing]) -> set[int]:
    """Ids of the lines that `_durable` shows, and of those that decide about them."""
    unique = list({entry.ref: entry for entry in entries}.values())
    over = [e.id for e in unique if standings[e.id].replaced_by is not None or standings[e.id].retracted]
    hidden = set(over[:-_OUTDATED])
    found = set(over[-_OUTDATED:])
    for kind, path in _DURABLE_PAGES.items():
        ids = [e.id for e in unique if e.id not in hidden and e.kind == kind and e.path != path]
        found |= set(ids[-_LINES:])
    return found


def _standing(lines: Iterable[Line], taken: set[str]) -> list[Line]:
    return [line for line in lines if not line.over and not line.retracted and line.ref not in taken]


def _durable(lines: Sequence[Line]) -> Durable:
    """Current lines, and the newest of those that were replaced; what stands on those pages itself is not copied there."""
    unique = list({line.ref: line for line in lines}.values())
    outdated = [line for line in unique if line.over or line.retracted]
    shown = [line for line in unique if line not in outdated[:-_OUTDATED]]
    world, experience = (
        tuple([line for line in shown if line.kind.value == kind and line.citation.path != path][-_LINES:])
        for kind, path in _DURABLE_PAGES.items()
    )
    return Durable(world, experience)
