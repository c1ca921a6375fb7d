"""The questions that are open today: every doubt that no line settles, with its lines read again, worth most first."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from datetime import date
from functools import partial
from itertools import product
from math import log2

from ..beliefs.replay import Replayed
from ..conflicts.listing import slot_conflicts
from ..entities.similar import SimilarNames
from ..errors import ExtraBroken, MemctlError
from ..facts import Citation, Period, days_before, is_trusted
from ..hits import Hit
from ..ids import hashed
from ..index.open_memory import OpenMemory, on_fresh_index, recalled_lately
from ..index.queries import evidence as queries
from ..index.queries.entity_names import KnownNames, all_entities, core_names, keys_of, mention_counts
from ..index.queries.entries import by_ids, by_refs, digests_of, saying
from ..language.names import entity_key
from ..markdown.grammar import OPINIONS
from ..notes.edits import Edit, read_for_edit
from ..notes.workspace import CORE_PAGE, Workspace
from ..recall.entry_hits import hits_of
from ..reflect.plan import Planner
from ..reflect.proposals import PAGE, CoreProposal, read_proposals
from ..reflect.record import in_conflict, program_of
from ..reflect.reflect import planned_edit
from ..truth.change import ALIKE, HEARSAY
from ..truth.replaced import replaced_since, replacements_of
from . import keep
from .question import KINDS, Doubt, Question, cache_questions, cached_questions, ids_of_line, last_shown, remember

_ALIKE = 0.2  # where a word that both lines share, or somebody else, is all that tells of a change
_HALF_LIFE = 30  # days in which a question loses half of what its youth is worth
_SLOT = 0.5  # for a slot whose value may be another: every context has it
_CORE = 0.5  # for lines about whom every context begins with
_DOUBLING = 0.1  # for each doubling of the lines that name them, and of how often its lines were recalled
_NEW = 14  # days of which `refresh` reads the lines; reflect runs once a week at least
_NEAR = "near in meaning"  # the row of RULES, and the reason
_COSINE = 0.5  # of a line and a belief that are near in meaning: of the pairs asked for it alone 32 of 52 say something
_BELIEFS, _FACTS, _EACH = 300, 2_000, 3  # the newest that are compared so, and how many lines are asked of one belief
_IMPORTANT = 0.3  # for a line of the highest importance
_OLD = 365  # days, of what has none


def questions(memory: OpenMemory) -> tuple[Question, ...]:
    """Every open question, worth most first; in a public view without what only the owner answers.

    They are remembered as shown.
    """
    looked_up: list[tuple[str, list[Doubt]]] = []
    found = _open_now(memory, partial(_doubts, looked_up=looked_up))
    remember(memory.workspace, found)
    for state, doubts in looked_up:  # where the pages stayed as they were while they were read
        if memory.run(lambda at: not at.synced().stale and _state(at)) == state:
            cache_questions(memory.workspace, state, doubts)
    _in_public(memory, questions)
    return found if memory.workspace.hides is None else tuple(each for each in found if not each.is_for_owner)


def refresh(memory: OpenMemory) -> None:
    """Look for the questions that cost little, so that a context knows how many wait, beside what was shown last."""
    last = [one.doubt for one in last_shown(memory.workspace).values()]
    remember(
        memory.workspace,
        _open_now(memory, lambda at: [*_replaced(at, days_before(at.today, _NEW)), *_quick_doubts(at), *last]),
    )
    _in_public(memory, refresh)


@on_fresh_index
def _open_now(memory: OpenMemory, look: Callable[[OpenMemory], Iterable[Doubt]]) -> tuple[Question, ...]:
    with memory.index.reading():
        return open_questions(memory, look(memory))


def _in_public(memory: OpenMemory, look: Callable[[OpenMemory], object]) -> None:
    """Look for others too where lines are private: what they may be asked is remembered apart."""
    if memory.workspace.hides is None and (seen := memory.public()).workspace.hides:
        look(seen)


def open_questions(memory: OpenMemory, asked: Iterable[Doubt], were_shown: bool = False) -> tuple[Question, ...]:
    """Those of some doubts that no line settles and whose lines stand, worth most first. Reads the open index as it is.

    What was shown may be answered while its lines stand as they were, whatever became of them by another answer.
    """
    unique = {doubt.id: doubt for doubt in asked}
    same = _statements(memory, unique.values())
    if not were_shown:
        said = [one._replace(about=tuple(same.get(ref, (ref,))[0] for ref in one.about)) for one in unique.values()]
        unique = {doubt.id: doubt for doubt in said}
    ends = {
        ref: {
            number
            for refs in product(*(same.get(each, (each,)) for each in one.about))
            for number in one._replace(about=refs).settled_by
        }
        for ref, one in unique.items()
    }
    answered = queries.settled_ids(memory.index, set().union(*ends.values()))
    left = {ref: doubt for ref, doubt in unique.items() if answered.isdisjoint(ends[ref])}
    hits = _lines(memory, [ref for doubt in left.values() if doubt.kind not in ("same", "keep") for ref in doubt.about])
    waiting = keep.kept_candidates(memory.workspace) if any(doubt.kind == "keep" for doubt in left.values()) else ()
    hits |= {each.id: _candidate_hit(each) for each in waiting}
    reasons = {each.id: each.reason for each in waiting}
    made: list[Question] = []
    for ref, doubt in left.items():
        if doubt.kind == "same":
            made.append(_about_names(memory, doubt))
            continue
        lines = [hits.get(each) for each in ([ref] if doubt.kind == "keep" else doubt.about)]
        sides = tuple(line for line in lines if line and (were_shown or _speaks(doubt, line)))
        if len(sides) == len(lines):  # else a line is gone, or says nothing any more
            names = [name for side in sides for name in side.entities]
            shared = tuple(name for name in dict.fromkeys(names) if names.count(name) == len(sides))
            about = shared or tuple(dict.fromkeys(names))[:2]
            why = reasons.get(ref, doubt.reason)
            made.append(Question(doubt.kind, doubt.about, sides, about, why, rule=doubt.rule))
    ordered = sorted(_weighed(memory, made), key=lambda each: (-each.worth, each.id))
    return tuple(_once(ordered))


def _statements(memory: OpenMemory, doubts: Iterable[Doubt]) -> dict[str, tuple[str, ...]]:
    """The ids under which each line may have been asked about, that of a fact before that of its note."""
    asked = {ref for doubt in doubts if doubt.kind not in ("same", "keep") for ref in doubt.about}
    rows = [row for row in by_refs(memory.index, asked) if row.block is None]
    kept = queries.facts_kept_from(memory.index, rows)
    return {row.ref: (said.ref, *said.notes) for row in rows for said in [kept.get(row.id, row)]}


def _once(ordered: Sequence[Question]) -> Iterator[Question]:
    """Of the questions about the same two lines (or lines that say the same) only the first, which is worth most.

    Without plans of which another question asks whether they were replaced, and a line from outside once, beside that of the owner.
    """
    pairs: set[frozenset[tuple[str, ...]]] = set()
    trusted = (question.about for question in reversed(ordered) if question.kind == "trust")
    outside = {about[-1]: about for about in sorted(trusted, key=len)}
    replaced = {question.sides[0].content for question in ordered if question.kind in ("replaced", "reversed")}
    for question in ordered:
        if question.kind == "same":  # about two names
            yield question
            continue
        if question.kind == "due" and question.sides[0].content in replaced:
            continue
        if question.kind == "trust" and question.about != outside[question.about[-1]]:
            continue
        pair = frozenset((side.content, *side.entities) for side in question.sides)
        if len(pair) < 2 or pair not in pairs:
            yield question
        pairs.add(pair)


def _lines(memory: OpenMemory, refs: Sequence[str]) -> dict[str, Hit]:
    """The line behind each id; for the id of a belief the line that stated it, or its head where a person wrote that."""
    found = by_refs(memory.index, {each for ref in refs for each in ids_of_line(ref)})
    rows = {row.ref: row for row in reversed(found) if row.block is None}
    hits = hits_of(memory, rows.values())
    lines = {ref: next((rows[each] for each in ids_of_line(ref) if each in rows), None) for ref in refs}
    return {ref: hits[row.id] for ref, row in lines.items() if row and row.id in hits}


def _about_names(memory: OpenMemory, doubt: Doubt) -> Question:
    """The question of two names, each with the newest line that has it, if there is one."""
    index, known = memory.index, KnownNames(memory.index)
    newest = [queries.newest_about(index, keys_of(index, key)) for key in doubt.about]
    hits = hits_of(memory, by_ids(index, filter(None, newest)).values())
    sides = [hits.get(line) if line else None for line in newest]
    names = tuple(_spelled(known.known_as(key), side) for key, side in zip(doubt.about, sides, strict=True))
    return Question("same", doubt.about, tuple(side for side in sides if side), names, doubt.reason)


def _speaks(doubt: Doubt, hit: Hit) -> bool:
    """False for a line of which a doubt need not be asked any more: it no longer holds."""
    if hit.superseded_by is not None:
        if doubt.kind in ("replaced", "reversed") and hit.ref == doubt.about[-1]:
            return not hit.retracted  # the newer line: what was replaced itself since may still have replaced the older
        # From outside: it gives way to the owner's own line until the owner has answered.
        if doubt.kind != "trust" or hit.superseded_by not in doubt.about:
            return False
    return not hit.retracted and (doubt.kind == "due" or not hit.expired)


def _spelled(name: str, side: Hit | None) -> str:
    """The name as a line spells it; an entity without a page is known by its key alone."""
    return next((each for each in (side.entities if side else ()) if entity_key(each) == entity_key(name)), name)


def _candidate_hit(waits: keep.Uncertain) -> Hit:
    """A candidate of an ingest as the hit that it would be."""
    fact, day, place = waits.fact, waits.day, Citation(keep.PAGE, waits.line, waits.line)
    return Hit(
        waits.id, fact.kind, str(day), fact.valid or Period(day), fact.entities, fact.text, place, "",
        fact.confidence, fact.importance, fact.source or "owner", fact.private, fact=fact,
    )  # fmt: skip


# -- what a question is worth ---------------------------------------------------------------------------------------


def _weighed(memory: OpenMemory, made: Sequence[Question]) -> list[Question]:
    """Questions with what each is worth: by its kind, its age, its names, and how often its lines were recalled."""
    keys = {question.id: {entity_key(name) for name in question.names} for question in made}
    named = mention_counts(memory.index, {key for each in keys.values() for key in each})
    core, recalled = core_names(memory.index), recalled_lately(memory)

    def worth(question: Question) -> float:
        own, sides = keys[question.id], question.sides
        days = [date.fromisoformat(side.day) for side in sides if side.day]
        age = max((memory.today - max(days)).days, 0) if days else _OLD
        youth: float = 0.5 ** (age / _HALF_LIFE)
        known = _DOUBLING * log2(1 + min(max((named.get(key, 0) for key in own), default=0), 1000))
        asked = _DOUBLING * log2(1 + sum(recalled.get(side.ref, 0) for side in sides))
        weighty = _IMPORTANT * max((side.importance or 0 for side in sides), default=0)
        kind = _ALIKE if question.rule in (ALIKE, HEARSAY) else KINDS[question.kind].worth
        whose = _CORE * bool(own & core) + _SLOT * (kind > _ALIKE and any(side.key for side in sides))
        return round(kind + youth + known + asked + whose + weighty, 4)

    return [replace(question, worth=worth(question)) for question in made]


# -- where questions come from ----------------------------------------------------------------------------------------

_LATELY = 90  # days; what was told, or passed, before that is asked about no more
_WEIGHTY = 0.7  # importance from which a line from outside matters whatever it says


def _doubts(memory: OpenMemory, looked_up: list[tuple[str, list[Doubt]]]) -> Iterator[Doubt]:
    """Everything that is to be asked today, whether it was answered or not. Reads the open index as it is.

    What takes long is taken from the last time, if the pages are as they were; else it is looked up and put into `looked_up`.
    """
    yield from _quick_doubts(memory)
    state = _state(memory)
    doubts = cached_questions(memory.workspace, state) if state else None
    if doubts is None:
        doubts = [*_replaced(memory, days_before(memory.today, _LATELY)), *_left_by_reflect(memory)]
        looked_up += [(state, doubts)] if state else []
    yield from doubts


def _state(memory: OpenMemory) -> str:
    """A hash of all that the plan of reflect is made from; empty where that cannot be told: a merge that is not resolved, a model."""
    workspace = memory.workspace
    if in_conflict(workspace) or workspace.settings.nli:
        return ""
    hashes = sorted(queries.page_hashes(memory.index))
    told = memory.today, program_of(workspace), sorted(workspace.hides or ()), hashes, _vectors_state(workspace)
    with suppress(MemctlError):  # of a page that cannot be read
        pages = [read_for_edit(workspace, path).before or b"" for path in (OPINIONS, CORE_PAGE, PAGE)]
        return hashed(b"\0".join([repr(told).encode("utf-8", "surrogatepass"), *pages]), 16).hex()
    return ""


def _vectors_state(workspace: Workspace) -> list[object]:
    """What tells whether other vectors are there, or another model; an empty log beside the file is as none."""
    from ..vectors.models import choice

    found: list[object] = []
    for name in ("vectors.sqlite", "vectors.sqlite-wal"):
        with suppress(OSError):
            about = os.lstat(workspace.derived / name)
            found += [(name, about.st_mtime_ns, about.st_size)] if about.st_size else []
    embedder = choice(workspace).embedder if found else None
    return [*found, embedder.id if embedder else ""]


def _quick_doubts(memory: OpenMemory) -> Iterator[Doubt]:
    """What takes neither a plan of reflect nor a comparison of lines."""
    for plan in queries.past_plans(memory.index, memory.today, days_before(memory.today, _LATELY)):
        yield Doubt("due", (plan.ref,), f"it was to be on {plan.due}")
    yield from _same(memory)
    yield from _trust(memory)
    for each in keep.kept_candidates(memory.workspace):
        yield Doubt("keep", each.about, each.reason)


def _replaced(memory: OpenMemory, since: date) -> Iterator[Doubt]:
    """Lines that a newer one may replace, and lines that disagree; what came from outside against the owner's own."""
    fresh = queries.facts_since(memory.index, since)
    due = queries.past_plans(memory.index, memory.today, days_before(memory.today, _LATELY))
    beside = replacements_of(memory, by_refs(memory.index, [plan.ref for plan in due]), ()).values()
    called_off = (pair for pair in beside if pair.judgement.verdict == "cancels")  # however long ago
    for pair in (*slot_conflicts(memory, None, fresh), *replaced_since(memory, since), *called_off):
        if not pair.judgement.is_certain:
            kind, *sides = pair.asked_as
            named = f"{pair.judgement.rule.removeprefix('replaced: ')}: "
            reason = named + pair.judgement.reason.removeprefix(named)
            yield Doubt(kind, tuple(sides), reason.strip(": "), pair.judgement.rule)


def _same(memory: OpenMemory) -> Iterator[Doubt]:
    """Names so much alike that they may be of one."""
    index, known = memory.index, KnownNames(memory.index)
    named = [(each.name, name) for each in all_entities(index) for name in (each.name, *each.names)]
    keys = queries.names_of_facts(index, memory.today)
    without_page = keys - {entity_key(name) for _, name in named}
    similar = SimilarNames([*named, *((key, key) for key in sorted(without_page))])
    for entity in sorted({known.known_as(key) for key in keys}):
        for near in similar.near(entity):
            if known.known_as(near.entity) != entity:
                yield Doubt("same", tuple(sorted(map(entity_key, (entity, near.entity)))), near.reason)


def _left_by_reflect(memory: OpenMemory) -> Iterator[Doubt]:
    """What reflect leaves to be asked: evidence that is not certain, opinions that may be over, lines for memory.md."""
    planner = Planner(memory)
    replay = planner.replay_for_review()
    for pair in replay.open_questions:
        kind = "reversed" if pair.judgement.kind == "reversal" else "belief"
        yield Doubt(kind, (pair.belief, pair.fact), pair.judgement.reason, pair.judgement.rule)
    yield from _near_in_meaning(memory, replay)
    for proposal in read_proposals(_proposals_page(memory, planner, replay).after):
        yield Doubt("core", (proposal.ref,), proposal.reason)


def _near_in_meaning(memory: OpenMemory, replay: Replayed) -> Iterator[Doubt]:
    """Facts of the last days that may speak to a belief in other words: where there are vectors, those near its line."""
    from ..vectors.file import open_vectors
    from ..vectors.models import choice, is_of

    embedder = choice(memory.workspace).embedder
    vectors = open_vectors(memory.workspace) if embedder else None
    if embedder is None or vectors is None:
        return
    current = sorted((belief for belief in replay.beliefs if belief.over is None and belief.names), key=lambda b: b.day)
    held = {belief.stated: belief for belief in current[-_BELIEFS:]}
    lines = {row.id: held[row.ref] for row in by_refs(memory.index, filter(None, held)) if row.block is None}
    facts = queries.facts_between(memory.index, days_before(memory.today, _LATELY), memory.today)
    trusted = sorted((row for row in facts if is_trusted(row.origin)), key=lambda row: row.told)
    fresh = {row.id: row for row in trusted[-_FACTS:]}
    digests = digests_of(memory.index, lines.keys() | fresh.keys())
    pairs, asked = [], Counter[str]()
    with closing(vectors), suppress(ExtraBroken):
        if is_of(embedder, *vectors.head[:2]):
            pairs = vectors.alike(lines, fresh, digests, _COSINE)
    judged = {(pair.belief, pair.fact) for pair in replay.uncertain}
    for line, fact in pairs:
        belief, row = lines[line], fresh[fact]
        known = {bullet.ref for bullet in belief.bullets} | belief.refused
        is_later = str(belief.day) <= (row.day or "") and row.ref not in known
        is_new = is_later and (belief.ref, row.ref) not in judged and asked[belief.ref] < _EACH
        if is_new and not belief.names.isdisjoint(row.named):
            asked[belief.ref] += 1
            yield Doubt("belief", (belief.ref, row.ref), _NEAR, _NEAR)


def core_proposal(memory: OpenMemory, ref: str) -> tuple[CoreProposal, Edit] | None:
    """What is proposed for memory.md of the line with this id, and bank/proposals.md as reflect would write it."""
    planner = Planner(memory)
    page = _proposals_page(memory, planner, planner.replay_for_review())
    return next(((each, page) for each in read_proposals(page.after) if each.ref == ref), None)


def _proposals_page(memory: OpenMemory, planner: Planner, replay: Replayed) -> Edit:
    block = planner.proposals(replay)
    edit = planned_edit(memory.workspace, block, planner.notes) if block else None
    return edit or read_for_edit(memory.workspace, PAGE)


def _trust(memory: OpenMemory) -> Iterator[Doubt]:
    """What a tool or the web said that would fill a slot or that its teller called important, unless the owner says so too.

    Of an import there is a page to vouch for, not a line.
    """
    found = queries.from_outside(memory.index, days_before(memory.today, _LATELY))
    found = [each for each in found if not each.origin.startswith("import")]
    said = saying(memory.index, {entry.content_key for entry in found})
    for entry in found:
        if any(is_trusted(other.origin) for other in said.get(entry.content_key, ())):
            continue
        if entry.slot is not None or (entry.importance or 0) >= _WEIGHTY:
            why = f"it would be the {entry.slot}" if entry.slot else f"importance {entry.importance:g}"
            yield Doubt("trust", (entry.ref,), f"{why}; from {entry.origin}")
