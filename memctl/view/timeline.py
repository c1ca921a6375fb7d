"""The timeline of an entity, or of the whole workspace: what held when, what happened, what was believed how firmly."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

from ..beliefs.view import BeliefView, CurvePoint, beliefs
from ..errors import NothingFound
from ..facts import Kind, Period, fields
from ..hits import Hit, hit_json
from ..index.open_memory import OpenMemory, on_fresh_index
from ..index.queries.entries import Query, filling_slots, in_slots, newest_slots
from ..index.queries.names import entity_named, keys_of, unknown_name
from ..recall.entry_hits import hits_of
from ..recall.recall import recall_in
from ..truth.judge import judge
from ..truth.validity import versions

_SLOTS = 24  # rows of a picture: those that were filled last
_BELIEFS = 12
_VERSIONS = 60  # of all slots of an entity, those that began last


@dataclass(frozen=True, slots=True)
class SlotRow:
    """One slot with its versions, oldest first; a version that only repeats the one before is left out."""

    entity: str
    key: str
    versions: tuple[Hit, ...]

    def label(self, about: str | None) -> str:
        """The slot as a picture names it; whose it is only in one that is about several."""
        return self.key if about else f"{self.entity} {self.key}".strip()


@dataclass(frozen=True, slots=True)
class Timeline:
    """What a picture shows, of an entity or (`about` None) of the workspace. `left_out` says what there is no room for."""

    about: str | None
    days: Period
    slots: tuple[SlotRow, ...]
    events: tuple[Hit, ...]
    beliefs: tuple[tuple[BeliefView, tuple[CurvePoint, ...]], ...]
    left_out: tuple[str, ...] = ()

    @property
    def is_drawn(self) -> bool:
        """False where there is nothing to draw."""
        return bool(self.slots or self.events or self.beliefs)

    @property
    def event_days(self) -> list[date]:
        """The day of each event."""
        return [day for hit in self.events if (day := event_day(hit))]

    def as_json(self) -> dict[str, Any]:
        """The timeline as plain values."""
        slots = [fields(row, "entity key") | {"versions": list(map(hit_json, row.versions))} for row in self.slots]
        held = [
            fields(view, "id=ref content=text source=place over")
            | {"points": [fields(point, "day confidence source") for point in points]}
            for view, points in self.beliefs
        ]
        made = {"schema": 1, "about": self.about, "days": fields(self.days, "from=first to=last"), "slots": slots}
        return made | {"events": list(map(hit_json, self.events)), "beliefs": held, "left_out": list(self.left_out)}


@on_fresh_index
def timeline(memory: OpenMemory, about: str | None, days: Period, most: int) -> Timeline:
    """The timeline of an entity, or of what was told last, within some days; at most `most` events.

    NothingFound for a name that nothing is about, Usage for one that several have.
    """
    return timeline_in(memory, about, days, most)


def timeline_in(
    memory: OpenMemory, about: str | None, days: Period, most: int, known: Iterable[BeliefView] | None = None
) -> Timeline:
    """The same from the open index as it is; `known` are the beliefs, where they were read before."""
    name = whom(memory, about) if about else None
    rows, is_cut = _slot_rows(memory, name, days)
    asked = Query(about=(name,) if name else (), kinds=(Kind.EXPERIENCE,), days=days if any(days) else None)
    answer = recall_in(memory, asked, k=most + 1)
    events = sorted((hit for hit in answer.hits if event_day(hit) and not hit.retracted), key=_by_day)
    views = beliefs(memory, about=name) if known is None else known
    held = [(view, points) for view in views if (points := _within(view.curve, days))]
    is_empty = not (rows or events or held)
    if known is None and about and name and is_empty and not recall_in(memory, Query(about=(name,)), k=1).hits:
        raise NothingFound(f"nothing is told of {about!r}", unknown_name(memory.workspace, memory.index, about))
    left = (
        ("slots that were filled earlier", len(rows) > _SLOTS),
        (f"slot facts older than the newest {_VERSIONS}", is_cut),
        ("older events", len(events) > most),
        (f"{len(held) - _BELIEFS} more beliefs", len(held) > _BELIEFS),
    )
    left_out = tuple(what for what, is_left in left if is_left)
    shown = Timeline(name, days, tuple(rows[:_SLOTS]), tuple(events[-most:]), tuple(held[:_BELIEFS]), left_out)
    return replace(shown, days=_span(shown, days, memory.today))


def whom(memory: OpenMemory, name: str) -> str:
    """The name of an entity as its page writes it; Usage where several have it."""
    found = entity_named(memory.index, name)
    return found if isinstance(found, str) else found.name


def _slot_rows(memory: OpenMemory, name: str | None, days: Period) -> tuple[list[SlotRow], bool]:
    """The slots of an entity, or those of the workspace that were filled last, with their versions of those days.

    True beside them where an entity has more facts than were read.
    """
    index = memory.index
    if name is None:
        rows = [row for key, whose in newest_slots(index, _SLOTS + 1) for row in in_slots(index, key, [whose])]
        is_cut = False
    else:
        rows = filling_slots(index, keys_of(index, name), _VERSIONS + 1)
        is_cut = len(rows) > _VERSIONS
        rows = sorted(rows, key=lambda row: (row.first or "", row.id))[-_VERSIONS:]
    verdict = judge(index, rows, memory.today, whole=False)
    claims = [verdict.claims[row.id] for row in rows if not verdict.validity[row.id].retracted]
    slots: dict[tuple[str, str], list[int]] = {}
    same: dict[tuple[str, str], int] = {}
    for claim in versions(claims):
        for slot in dict.fromkeys(claim.slots):
            if same.get(slot) != claim.same:
                slots.setdefault(slot, []).append(claim.id)
            same[slot] = claim.same
    hits = hits_of(memory, (verdict.entries[i] for i in {i for ids in slots.values() for i in ids}), verdict)
    made = [
        SlotRow((held[0].entities or ("",))[0], slot[1], held)
        for slot, ids in sorted(slots.items())
        if (held := tuple(hits[i] for i in ids if i in hits and hits[i].valid.meets(days)))
    ]
    if name is None:
        made.sort(key=lambda row: _by_day(row.versions[-1]), reverse=True)
    return made, is_cut


def event_day(hit: Hit) -> date | None:
    """The day of a line: when it happened or began, else when it was told."""
    return hit.valid.first or (date.fromisoformat(hit.day) if hit.day else None)


def _by_day(hit: Hit) -> tuple[date, str]:
    return event_day(hit) or date.min, str(hit.source)


def _within(points: Iterable[CurvePoint], days: Period) -> tuple[CurvePoint, ...]:
    """The points up to the last of some days; of those before them the newest, which held when they began."""
    known = [point for point in points if days.last is None or point.day <= days.last]
    before = [point for point in known if days.first is not None and point.day < days.first]
    return (*before[-1:], *known[len(before) :])


def _span(shown: Timeline, days: Period, today: date) -> Period:
    """From the day on which the first line of the picture was told, to its last or to today.

    What began before that is drawn from the edge on: one event of long ago would press all others into a corner.
    """
    hits = [*(hit for row in shown.slots for hit in row.versions), *shown.events]
    told = [date.fromisoformat(hit.day) for hit in hits if hit.day]
    told += [point.day for _, points in shown.beliefs for point in points]
    last = max([today, *(day for hit in hits if (day := event_day(hit)))])
    return Period(days.first or min(told, default=today), days.last or last)
