"""What reflect writes from: facts of the index as evidence, and as the lines of entity pages, world, experience, lessons."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cached_property
from itertools import chain, groupby
from operator import attrgetter
from typing import NamedTuple

from ..beliefs.confidence import INFERRED, Place
from ..beliefs.replay import ExplicitEvidence, TrustedFact
from ..errors import MemctlError, Usage
from ..facts import Citation, Fact, Period, grouped, is_trusted, iso_day
from ..hits import Hit
from ..ids import belief_id, question_id, question_ids
from ..index.lexical import page_of
from ..index.open_memory import OpenMemory, on_fresh_index
from ..index.queries import evidence as queries
from ..index.queries.entity_names import KnownNames, keys_of
from ..index.queries.entries import by_ids, by_refs
from ..index.reread import reread, text_of
from ..index.row import Row
from ..language.analyzer import query_terms
from ..language.names import entity_key, mentions
from ..language.sentences import says
from ..language.words import languages, pattern
from ..markdown.grammar import OPINIONS
from ..notes.edits import read_for_edit
from ..notes.workspace import CORE_PAGE
from ..recall.entry_hits import hits_of
from ..truth.judge import Validities, judge
from ..truth.replaced import waiting_beside
from .entity_pages import About, PageLine, is_of_its_day
from .lessons import Task, TaskOutcome, lessons, outcome_of

IMPORTANT = 0.7  # importance from which a fact stands before newer ones, and is worth carrying where nobody has a page
_STATES, _PLANS, _EVENTS = 6, 4, 6  # lines of each section on an entity's page
_SHARE, _LEAST = 4, 8  # of so many facts the page tells one, but so many of each section
_DURABLE = 20  # lines of a name without a page on world.md, and on experience.md
_VERSIONS = 5  # of a slot that are looked at, and shown where there is no page
_RELATED, _SHARED = 8, 2  # names shown as related, and the facts that they must share
_FEW = 3  # own facts below which a page tells those of others too
_AT_ONCE = 2_000  # facts that are read together


class FactSource:
    """Facts of one index on one day. Nothing in it depends on what reflect wrote before."""

    def __init__(self, memory: OpenMemory) -> None:
        self.memory, self._index, self._today = memory, memory.index, memory.today
        self.known = KnownNames(memory.index)

    def names_of(self, fact: Fact) -> frozenset[str]:
        """The keys of everybody whom a fact names, marked or not."""
        written = (self.known.known_as(name) for name in (*fact.entities, *mentions(fact.text)))
        return frozenset(map(entity_key, (*written, *self.known.in_text(fact.text))))

    def hits(self, entries: Iterable[Row]) -> list[Hit]:
        """Entries as they stand on disk now, with their validity; by place."""
        ordered = sorted(entries, key=attrgetter("place"))
        verdict = judge(self.memory, ordered, whole=False, public=True)
        return list(hits_of(self.memory, ordered, verdict, known=self.known).values())

    def evidence(self, entries: Iterable[Row]) -> list[TrustedFact]:
        """The facts that may move beliefs; what a correction took back may not."""
        ordered = sorted(entries, key=attrgetter("place"))
        wrong = retracted_lines(self.memory, queries.may_be_retracted(self._index, ordered))
        seen = reread(self.memory.workspace, ordered)
        found: dict[str, TrustedFact] = {}
        for entry in ordered:
            day, fact = entry.written_on, text_of(entry, seen[entry.id]).fact if entry.id in seen else None
            if fact and day and entry.ref not in wrong and entry.ref not in found:
                found[entry.ref] = TrustedFact(entry.ref, fact, day, seen[entry.id].cited, self.names_of(fact))
        return list(found.values())

    def answers(self) -> tuple[list[ExplicitEvidence], set[str]]:
        """What the answers of `memctl review` say, each with the line for which it speaks; and the questions answered.

        An answer without `by=` ends a belief by itself and is not evidence; one of a local model weighs half.
        """
        rows = queries.answers_until(self._index, self._today)
        answers = self.evidence(rows)
        wanted = {answer.fact.by for answer in answers if answer.fact.by}
        lines = [row for row in by_refs(self._index, wanted) if row.block is None and not row.private]
        spoken_for = {line.ref: line for line in self.evidence(lines) if is_trusted(line.fact.source)}
        found: list[ExplicitEvidence] = []
        for answer in answers:
            is_model = (answer.fact.source or "").partition(":")[0] == "llm"
            if answer.fact.by is None:
                found.append(ExplicitEvidence(replace(answer.fact, supports=(), refutes=()), answer))
            elif line := spoken_for.get(answer.fact.by):
                found.append(ExplicitEvidence(answer.fact, line, INFERRED if is_model else 1.0))
        owners = (answer.fact for answer in answers if answer.fact.settles or answer.fact.source in (None, "user"))
        both = (fact.supports for fact in owners if len(fact.supports) == 2)
        agreed = (question_ids(*order) for pair in both for order in (pair, pair[::-1]))
        return found, {question for answer in answers for question in answer.fact.settles}.union(*agreed)

    def places(self, refs: Iterable[str]) -> tuple[dict[str, Place], set[str]]:
        """Where the lines with these ids stand, and the ids that no longer count: forgotten, retracted or made private."""
        wanted = set(refs)
        entries = queries.placed(self._index, wanted)
        seen = reread(self.memory.workspace, entries)
        entries = [entry for entry in entries if entry.id in seen]
        found = {entry.ref: Place(seen[entry.id].cited, entry.origin) for entry in reversed(entries)}
        void = queries.forgotten_refs(self._index, wanted - found.keys())
        retracted = retracted_lines(self.memory, queries.may_be_retracted(self._index, entries))
        counting = {e.ref for e in entries if is_trusted(e.origin) and not e.private}
        return found, void | (found.keys() - (counting - retracted.keys()))

    def facts_of(self, name: str) -> list[Row]:
        """Every fact that counts about a name, or with an empty one about nobody; what review kept is important."""
        index = self._index
        named = queries.about_names(index, keys_of(index, name)) if name else queries.about_nobody(index)
        told = (fact for fact in named if fact.day is None or fact.day <= str(self._today))
        return [f._replace(importance=max(f.importance or 0, IMPORTANT)) if "settles " in f.links else f for f in told]

    def spelled(self, name: str, facts: Sequence[Row]) -> str:
        """The spelling of a name: that of its page, else the commonest on the earliest of some facts that name it."""
        if self.known.known_as(name) != entity_key(name):
            return self.known.known_as(name)
        key = entity_key(name)
        naming = [fact for fact in facts if key in fact.named][:20]
        seen = reread(self.memory.workspace, naming)
        names = (name for fact in naming if fact.id in seen for name in text_of(fact, seen[fact.id]).names)
        written = Counter(name for name in names if entity_key(name) == key)
        return min(written, key=lambda spelling: (-written[spelling], spelling), default=name)

    def has_lines(self, name: str) -> bool:
        """True where the page of a name has something to tell, unless newer lines ended all its beliefs."""
        lines = _PageLines.read(self, name)
        return lines.are_any or lines.has_opinions or bool(self._related(name, lines))

    def about(self, name: str, path: str | None) -> About:
        """What the pages tell of a name, whose own page has this path. Only what they show is read from disk."""
        lines = _PageLines.read(self, name)
        if path is None:
            world, experience = lines.durable("world"), lines.durable("experience")
            return About(name, world=world, experience=experience, pages=lines.pages)
        related = [self.spelled(other, lines.facts) for other in self._related(name, lines)] if name else []
        most = max(_LEAST, len(lines.facts) // _SHARE)
        now = lines.now(most)
        defining = rf"(?i)^(?:{pattern(languages(), 'pages', 'defining')})"  # "is a", «— это», 是一
        defined = next((line for line in now if not line.perhaps and re.search(defining, line.hit.content)), None)
        others = [line for line in now if line != defined]
        return About(name, defined, others, (), lines.plans(), lines.events(most), related, pages=lines.pages)

    def _related(self, name: str, lines: _PageLines) -> list[str]:
        """Those whom several facts name beside it, the nearest first."""
        own = {*lines.keys, entity_key(name)}
        shared: Counter[str] = Counter()
        for fact in lines.facts:
            others = {self.known.known_as(key) for key in fact.named if key not in own}
            shared.update(other for other in others if entity_key(other) not in own)
        often = sorted((-count, entity_key(other), other) for other, count in shared.items() if count >= _SHARED)
        return [other for _, _, other in often[:_RELATED]]

    def place_of(self, ref: str | None) -> Citation | None:
        """Where the line with an id stands; None for one that is private or gone."""
        entries = [entry for entry in queries.placed(self._index, [ref] if ref else []) if not entry.private]
        return next((seen.cited for seen in reread(self.memory.workspace, entries[:1]).values()), None)

    def outcomes(self, tasks: Iterable[str]) -> list[TaskOutcome]:
        """Every outcome of some tasks; `@key` stands for those of an entity that name no task, under all its names."""
        hits = self.hits(queries.outcomes_of(self._index, tasks, self._today))
        return [outcome for hit in hits if not hit.retracted and (outcome := outcome_of(hit))]

    def reasons(self, failed: Mapping[str, Mapping[str, int]]) -> Iterator[tuple[str, str, int, str]]:
        """(reason, task, how often, newest day) of every task that failed for a reason, each read again from its line."""
        counted = [(ref, task, count) for task, refs in failed.items() for ref, count in refs.items()]
        hits = {hit.ref: hit for hit in self.hits(by_refs(self._index, {ref for ref, _, _ in counted}))}
        for ref, task, count in counted:
            hit = hits.get(ref)
            if hit and hit.fact and hit.fact.why:
                yield hit.fact.why, task, count, hit.day or ""

    def wiki_links(self) -> str:
        """How names are linked (LinkContext.wiki): by the settings, else `[[Name]]` if the core page or Obsidian has it so."""
        workspace = self.memory.workspace
        if workspace.settings.links != "auto":
            return "file" if workspace.settings.links == "wiki" else ""
        with suppress(MemctlError):
            uses = "[[" in read_for_edit(workspace, CORE_PAGE).after or (workspace.root / ".obsidian").is_dir()
            return "name" if uses else ""
        return ""


def retracted_lines(memory: OpenMemory, rows: Iterable[Row]) -> dict[str, str]:
    """Those that were never true, as a line says by their id or in words: the day of each, by id."""
    entries = list(rows)
    standings = judge(memory, entries, whole=False, public=True).validity
    return {entry.ref: entry.day or "" for entry in entries if standings[entry.id].retracted}


class FactsSince:
    """The facts written from a day on, with older ones that speak by their id to a belief that one of these states.

    `first` are those of them that bear one of the ids that are `cited`, or name another line by its id. The others are read a day at a time, as
    often as `days` is gone through, and not kept.
    """

    def __init__(self, source: FactSource, since: date, cited: Collection[str]) -> None:
        self._source, self.since = source, since
        index, today = source.memory.index, source.memory.today
        stated = set() if since == date.min else set(queries.opinions_from(index, since, today))
        older = queries.speaking(index, stated | set(map(belief_id, stated)), today) if stated else []
        twins, named = queries.cited_or_linking(index, since, today, {*cited, *(row.ref for row in older)})
        rows = {row.id: row for row in (*by_ids(index, twins).values(), *older)}
        found = {fact.ref: fact for fact in source.evidence(rows.values())}
        self._apart = {row.ref for row in rows.values()}
        for start in range(0, len(named), _AT_ONCE):
            some = by_ids(index, named[start : start + _AT_ONCE])
            self._apart.update(row.ref for row in some.values())
            for fact in source.evidence(some.values()):
                found.setdefault(fact.ref, fact)
        self.first = list(found.values())

    def days(self) -> Iterator[list[TrustedFact]]:
        """All of them, a day at a time from the oldest on, in the order of their ids."""
        index, today = self._source.memory.index, self._source.memory.today
        known = grouped((str(fact.day), fact) for fact in self.first)
        written = set(queries.days_between(index, self.since, today))
        for day in sorted(written | known.keys()):
            on = date.fromisoformat(day)
            rows = queries.facts_between(index, on, on) if day in written else []
            others = self._source.evidence(row for row in rows if row.ref not in self._apart)
            yield sorted([*others, *known[day]], key=lambda fact: fact.ref)


@on_fresh_index
def task_lessons(memory: OpenMemory, task: str | None = None) -> tuple[Task, ...]:
    """What the outcomes of every task teach, or of those that share half of their words with `task`; Usage for one without words."""
    if task is not None and not task.strip():
        raise Usage("--task names no task", "write words of it, or leave it out for all tasks")

    learned = lessons(FactSource(memory).outcomes(queries.tasks_until(memory.index, memory.today)))
    return learned if task is None else tuple(each for each in learned if each.is_called(task))


class _Sections(NamedTuple):
    """The facts of a name that its pages may show, by the section that they are for."""

    slots: list[Row]
    plans: list[Row]
    states: list[Row]
    events: list[Row]
    durable: list[Row]


def _choose(facts: Sequence[Row], own: Sequence[Row], today: str) -> _Sections:
    """Those of all facts about a name, of which some are its `own`, that may be shown; they are not judged yet."""
    days = grouped({(fact.content_key, fact.day or ""): None for fact in facts})
    stated = [f for f in own if f.kind in ("world", "experience")]
    others = [f for f in facts if f.kind == "experience" and (len(own) < _FEW or (f.importance or 0) >= IMPORTANT)]
    filling = sorted(filter(attrgetter("slot"), own), key=lambda f: (f.slot or "", f.first or "", f.day or "", f.ref))
    slots = [f for _, same in groupby(filling, attrgetter("slot")) for f in list(same)[-_VERSIONS:]]
    plans = [f for f in stated if f.slot is None and f.first is not None and f.first > today]
    told = [f for f in stated if f.slot is None or f.kind == "experience"]
    begun = [f for f in told if not (f.first is not None and f.first > today)]
    states = [f for f in begun if _lasts(f, today)]
    # Of a plan whose day has passed it is not known whether it happened.
    passed = {f.id for f in (*begun, *others) if f.first and f.day and f.day < f.first <= today}
    events = {f.id: f for f in (*begun, *others) if f.day and not _lasts(f, today) and f.id not in passed}
    carried = [f for f in stated if (f.importance or 0) >= IMPORTANT or len(days[f.content_key]) > 1]
    durable = [*slots, *[f for f in carried if f.slot is None][-2 * _DURABLE :]]
    return _Sections(slots, plans, _first(states, 3 * _STATES), _first(events.values(), 3 * _EVENTS), durable)


@dataclass
class _PageLines:
    """The lines of a name that its pages may show, judged: what holds stands alone, and what it replaced below it."""

    _source: FactSource
    facts: Sequence[Row]
    keys: Set[str]
    has_opinions: bool
    _sections: _Sections
    _verdict: Validities
    _shown: set[frozenset[str]] = field(default_factory=set)
    _of_their_day: Sequence[PageLine] = ()

    @classmethod
    def read(cls, source: FactSource, name: str) -> _PageLines:
        """Those of a name, as the index has them."""
        memory, facts = source.memory, source.facts_of(name)
        keys = set(keys_of(memory.index, name))
        own = [fact for fact in facts if fact.subject in keys]
        chosen = _choose(facts, own, str(memory.today))
        verdict = judge(memory, sorted(set(chain(*chosen))), whole=False, public=True)
        return cls(source, facts, keys, any(fact.kind == "opinion" for fact in own), chosen, verdict)

    @cached_property
    def _past(self) -> Mapping[int, Row]:
        """What happened on its day, as an answer says, and took the place of no other state."""
        answered = {claim.by for claim in self._verdict.claims.values() if claim.trusted and claim.valid.last}
        states = {standing.replaced_by for standing in self._verdict.validity.values()}
        known = (*self._sections.states, *self._sections.durable)
        return {f.id: f for f in known if f.due and f.ref in answered and f.id not in states}

    @cached_property
    def _waiting(self) -> Mapping[int, Row]:
        """By those shown that a newer line about the name may have replaced, that line."""
        memory, chosen, ids = self._source.memory, self._sections, {fact.id for fact in self.facts}
        holding = [fact for fact in chosen.slots if self._verdict.validity[fact.id].holds(memory.today)]
        shown = {f.id: f for f in (*holding, *chosen.states, *chosen.events, *chosen.plans[: 2 * _PLANS])}
        held = waiting_beside(memory, list(shown.values()))
        return {older: newer for older, newer in held.items() if newer.id in ids}

    @property
    def pages(self) -> frozenset[int]:
        """The pages that they were made from."""
        return frozenset(map(page_of, (*(fact.id for fact in self.facts), *self._verdict.entries)))

    @property
    def are_any(self) -> bool:
        """True where something holds, is to come or happened."""
        holds = any(map(self._holds, (*self._sections.slots, *self._sections.states)))
        others = (*self._sections.plans, *self._sections.events, *self._past.values())
        return holds or not all(map(self._is_over, others))

    def now(self, most: int) -> tuple[PageLine, ...]:
        """What holds: a line a slot, then what lasts. Of lines in the same words, or of slots that say the same, the first.

        A state in words that mean the day of telling ("this week") is shown with that day, as what happened.
        """
        slots = self._lines(filter(self._holds, self._sections.slots))
        states = self._lines([f for f in self._sections.states if self._holds(f)][: 2 * _STATES])
        self._of_their_day = [line for line in states if is_of_its_day(line.hit.content)]
        by_ref, ordered = {line.hit.ref: line for line in states}, dict[str, PageLine]()
        for line in (line for line in states if line not in self._of_their_day):
            newer = by_ref.get(line.perhaps.ref) if line.perhaps else None  # it stands above what it may replace
            ordered |= {each.hit.ref: ordered.get(each.hit.ref, each) for each in (newer, line) if each}
        return (*slots, *list(ordered.values())[: min(most, _STATES)])

    def plans(self) -> tuple[PageLine, ...]:
        """What is to come and was not called off, the next first."""
        ahead = sorted(self._sections.plans, key=lambda fact: (fact.first or "", fact.ref))
        return self._lines([f for f in ahead if not self._is_over(f)][: 2 * _PLANS])[:_PLANS]

    def events(self, most: int) -> tuple[PageLine, ...]:
        """What happened, the important before the newest."""
        told = dict.fromkeys((*self._past.values(), *self._sections.events))
        lines = self._lines([f for f in told if not self._is_over(f)][: 2 * _EVENTS])
        newest = sorted((*lines, *self._of_their_day), key=_begun, reverse=True)
        return tuple(sorted(newest, key=lambda line: (line.hit.importance or 0) < IMPORTANT)[: min(most, _EVENTS)])

    def durable(self, kind: str) -> tuple[PageLine, ...]:
        """What is worth carrying of a name without a page, each slot from old to new; what is over is struck through, and what
        waits stands below the value that it may replace."""
        told = [f for f in self._sections.durable if (f.kind if f.id not in self._past else "experience") == kind]
        over = {i for i, each in self._verdict.validity.items() if each.is_over(self._source.memory.today)}
        told = [f for f in told if f.slot or f.id not in over or "settles " not in f.links]
        waiting = [self._waiting.get(f.id) for f in told if f.slot and f.path != f"bank/{kind}.md" and kind == "world"]
        facts = [f for f in told if f not in waiting]
        hidden = [f.id for f in facts if self._is_over(f)][:-_VERSIONS]
        lines = self._lines((f for f in facts if f.id not in hidden), fold=False)
        found = [line for line in lines if line.hit.source.path != f"bank/{kind}.md"]
        others = [line for line in found if not line.hit.key][-_DURABLE:]
        kept = (*filter(lambda line: line.hit.key, found), *others)
        return tuple(sorted(kept, key=lambda line: (line.hit.key or "", _begun(line))))

    def _holds(self, fact: Row) -> bool:
        standing, today = self._verdict.validity[fact.id], self._source.memory.today
        last = standing.valid.last
        return standing.holds(today) and (last is None or last >= today) and fact.id not in self._past

    def _is_over(self, fact: Row) -> bool:
        standing = self._verdict.validity[fact.id]
        return standing.replaced_by is not None or standing.retracted

    def _lines(self, facts: Iterable[Row], fold: bool = True) -> tuple[PageLine, ...]:
        """The lines of some facts in their order, those that say the same once; with `fold` what each replaced stands below it."""
        groups = grouped((fact.content_key, fact) for fact in facts)
        twins = [[f.id for f in sorted(same, key=lambda f: (f.day or "", f.ref))] for same in groups.values()]
        before = {first: self._before(first) for first, *_ in twins} if fold else {}
        wanted = {i: self._verdict.entries[i] for i in (*chain(*twins), *filter(None, before.values()))}
        wanted |= {row.id: row for first, *_ in twins if (row := self._waiting.get(first))}
        hits = hits_of(self._source.memory, wanted.values(), self._verdict, known=self._source.known)
        today = str(self._source.memory.today)
        due = {question_id("due", row.ref): row.id for row in wanted.values() if row.due and row.due < today}
        overdue = {due[asked] for asked in due.keys() - queries.settled_ids(self._source.memory.index, due)}
        found = []
        for first, *others in twins:
            hit = hits.get(first)
            words = frozenset(query_terms(hit.content)) if hit else frozenset()
            if hit is None or (fold and words in self._shown):
                continue
            self._shown.add(words)
            also = tuple(hits[other].source for other in others if other in hits)
            by = None if fold else self._source.place_of(hit.superseded_by)
            old, newer = hits.get(before.get(first) or 0), self._waiting.get(first)
            new = hits.get(newer.id) if newer else None
            if new and hit.key:  # it stands below the value
                self._shown.add(frozenset(query_terms(new.content)))
            told = newer if newer and hit.key else wanted[first]
            was_due = f"was to be on {told.due}" if told.id in overdue else ""
            # What gave something another day was done when it was told, not on that day.
            is_put_off = (hit.day or "") < str(hit.valid.first or "") <= today and says("new day", hit.content)
            valid = Period(iso_day(hit.day)) if is_put_off else hit.valid
            found.append(PageLine(replace(hit, also=also, valid=valid), by, old, new, was_due))
        return tuple(found)

    def _before(self, number: int) -> int | None:
        """The newest line that one replaced, if it may be shown and was ever true."""
        entries, standings = self._verdict.entries, self._verdict.validity
        by = (i for i, standing in standings.items() if standing.replaced_by == number and not standing.retracted)
        replaced = (entries[i] for i in by if i in entries)
        shown = (e for e in replaced if e.block is None and e.path != OPINIONS and not e.private)
        # An answer of review repeats a line, in its slot.
        same = entries[number].content_key if number in entries else 0
        shown = (e for e in shown if is_trusted(e.origin) and e.content_key != same)
        newest = max(shown, key=lambda e: (e.first or e.day or "", e.day or "", e.ref), default=None)
        return newest and newest.id


def _lasts(fact: Row, today: str) -> bool:
    """True for a state: it begins when it was written, or is open at its end, or has an end that has not come."""
    if fact.kind != "world":
        return False
    single = fact.first is not None and fact.first == fact.last
    return fact.last is None or (fact.last >= today and not single)


def _first(facts: Iterable[Row], most: int) -> list[Row]:
    newest = sorted(facts, key=lambda f: (f.first or f.day or "", f.day or "", f.ref), reverse=True)
    return sorted(newest, key=lambda f: (f.importance or 0) < IMPORTANT)[:most]


def _begun(line: PageLine) -> tuple[str, str, str]:
    return str(line.hit.valid.first or line.hit.valid.last or line.hit.day or ""), line.hit.day or "", line.hit.ref
