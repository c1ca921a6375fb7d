"""What each room is not sure of, as plain doubts: the questions before they are read, ordered and shown."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date, timedelta

from ..conflicts.listing import slot_conflicts
from ..entities.names_of_lines import KnownNames
from ..entities.similar import SimilarNames
from ..facts import is_trusted
from ..index.open_memory import OpenMemory
from ..index.queries.beliefs import names_told, said_since
from ..index.queries.entries import saying
from ..index.queries.names import all_entities
from ..index.queries.review import from_outside, past_plans
from ..language.names import entity_key
from ..notes.edits import Edit, read_for_edit
from ..reflect.proposals import PAGE, CoreProposal, read_proposals
from ..reflect.reflect import Planner
from ..truth.replaced import replaced_since
from . import keep
from .question import Doubt

_LATELY = timedelta(days=90)  # what was told, or passed, before that is asked about no more
_WEIGHTY = 0.7  # importance from which a line from outside matters whatever it says


def doubts(memory: OpenMemory) -> Iterator[Doubt]:
    """Everything that is to be asked today, whether it was answered or not. Reads the open index as it is."""
    yield from quick_doubts(memory)
    yield from _held(memory)


def quick_doubts(memory: OpenMemory, days: int = 90) -> Iterator[Doubt]:
    """The same without what only the plan of reflect tells: the work grows with what was told lately."""
    yield from _replaced(memory, memory.today - timedelta(days))
    for source in _QUICK:
        yield from source(memory)


def _replaced(memory: OpenMemory, since: date) -> Iterator[Doubt]:
    """Lines that a newer one may replace, and lines that disagree; what came from outside against the owner's own."""
    fresh = said_since(memory.index, since)
    for pair in (*slot_conflicts(memory, None, fresh), *replaced_since(memory, since)):
        if not pair.judgement.is_certain:
            sides = sorted((pair.older, pair.newer), key=lambda row: not is_trusted(row.origin))
            kind = "replaced" if is_trusted(sides[1].origin) else "trust"
            reason = f"{pair.judgement.rule.removeprefix('replaced: ')}: {pair.judgement.reason}"
            yield Doubt(kind, (sides[0].ref, sides[1].ref), reason.strip(": "))


def _due(memory: OpenMemory) -> Iterator[Doubt]:
    for entry in past_plans(memory.index, memory.today, memory.today - _LATELY):
        yield Doubt("due", (entry.ref,), f"it was to be on {entry.last or entry.first}")


def _same(memory: OpenMemory) -> Iterator[Doubt]:
    index, known = memory.index, KnownNames(memory.index)
    named = [(each.name, name) for each in all_entities(index) for name in (each.name, *each.names)]
    keys = names_told(index, memory.today)
    without_page = keys - {entity_key(name) for _, name in named}
    similar = SimilarNames([*named, *((key, key) for key in sorted(without_page))])
    for entity in sorted({known.known_as(key) for key in keys}):
        for near in similar.near(entity):
            if known.known_as(near.entity) != entity:
                yield Doubt("same", tuple(sorted(map(entity_key, (entity, near.entity)))), near.reason)


def _held(memory: OpenMemory) -> Iterator[Doubt]:
    """What reflect leaves to be asked: evidence that is not certain, opinions that may be over, lines for memory.md."""
    planner = Planner(memory, None)
    replay = planner.beliefs()
    for pair in replay.asked:
        kind = "reversed" if pair.judgement.kind == "reversal" else "belief"
        yield Doubt(kind, (pair.belief, pair.fact), pair.judgement.reason)
    planner.proposals(replay)
    for proposal in read_proposals(_planned_page(memory, planner).after):
        yield Doubt("core", (proposal.ref,), proposal.reason)


def core_proposal(memory: OpenMemory, ref: str) -> tuple[CoreProposal, Edit] | None:
    """What is proposed for memory.md of the line with this id, and bank/proposals.md as reflect would write it."""
    planner = Planner(memory, None)
    planner.proposals(planner.beliefs())
    page = _planned_page(memory, planner)
    return next(((each, page) for each in read_proposals(page.after) if each.ref == ref), None)


def _planned_page(memory: OpenMemory, planner: Planner) -> Edit:
    planned = next((edit for edit in planner.edits if edit.path == PAGE), None)
    return planned or read_for_edit(memory.workspace, PAGE)


def _trust(memory: OpenMemory) -> Iterator[Doubt]:
    """What a tool or the web said that would fill a slot or that its teller called important, unless the owner says so too.

    Of an import there is a page to vouch for, not a line.
    """
    found = from_outside(memory.index, memory.today - _LATELY)
    found = [each for each in found if not each.origin.startswith("import")]
    said = saying(memory.index, {entry.content_key for entry in found})
    for entry in found:
        if any(is_trusted(other.origin) for other in said.get(entry.content_key, ())):
            continue
        if entry.slot is not None or (entry.importance or 0) >= _WEIGHTY:
            why = f"it would be the {entry.slot}" if entry.slot else f"importance {entry.importance:g}"
            yield Doubt("trust", (entry.ref,), f"{why}; from {entry.origin}")


def _keep(memory: OpenMemory) -> Iterator[Doubt]:
    for kept in keep.read(memory.workspace):
        yield Doubt("keep", kept.candidate.about, kept.candidate.reason)


_QUICK: tuple[Callable[[OpenMemory], Iterator[Doubt]], ...] = (_due, _same, _trust, _keep)
