"""What can be drawn of a memory, and is told as text and JSON too: timelines, an entity among its neighbours, pages to look at.

A timeline is what held when, what happened, and what was believed how firmly; neighbours stand on the same lines. What draws
is loaded when it is first needed, and may not be installed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date
from importlib import import_module
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

from ..beliefs.view import BeliefView, CurvePoint, beliefs
from ..errors import ExtraMissing, NothingFound
from ..facts import Citation, Kind, Period, fields, iso_day
from ..hits import Hit, hit_json
from ..index.open_memory import OpenMemory, on_fresh_index
from ..index.queries import entity_names as name_queries
from ..index.queries.entries import Filter, Query, by_ids, filling_slots, in_slots, newest_slots, own_terms
from ..index.reread import reread, text_of
from ..language.names import entity_key
from ..markdown.escape import many, one_line
from ..notes.files import token_of, view_key
from ..recall.entry_hits import hits_of
from ..recall.recall import recall_in
from ..truth.judge import judge
from ..truth.validity import versions

_SLOTS = 24  # rows of a picture: those that were filled last
_BELIEFS = 12
_VERSIONS = 60  # of all slots of an entity, those that began last
_NEAR_LINES = 2_000  # lines by which neighbours are found


@dataclass(frozen=True, slots=True)
class SlotRow:
    """One slot with its versions, oldest first; a version that only repeats the one before is left out."""

    entity: str
    key: str  # empty for lines that fill no slot, of which each but the last was replaced by a line that names it
    versions: tuple[Hit, ...]

    def label(self, about: str | None) -> str:
        """The slot as a picture names it; whose it is only in one that is about several."""
        key = self.key or "changed"
        return key if about else f"{self.entity} {key}".strip()


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


def timeline_in(
    memory: OpenMemory, about: str | None, days: Period, most: int, known: Iterable[BeliefView] | None = None
) -> Timeline:
    """The timeline of an entity, or of what was told last, within some days; at most `most` events. From the open index as it is.

    `known` are the beliefs, where they were read before. NothingFound for an unknown name, Usage for one that several have.
    """
    name = whom(memory, about) if about else None
    rows, is_cut = _slot_rows(memory, name, days)
    asked = Query(about=(name,) if name else (), kinds=(Kind.EXPERIENCE,), days=days if any(days) else None)
    answer = recall_in(memory, asked, k=most + 1)
    bars = {hit.ref for row in rows[:_SLOTS] for hit in row.versions}  # a move that fills `city` is one
    told = (hit for hit in answer.hits if event_day(hit) and not (hit.retracted or hit.ref in bars))
    events = sorted(told, key=_by_day)
    views = beliefs(memory, about=name) if known is None else known
    held = [(view, points) for view in views if (points := _within(view.curve, days))]
    is_empty = not (rows or events or held)
    if known is None and about and name and is_empty and not recall_in(memory, Query(about=(name,)), k=1).hits:
        raise _nothing_told(memory, about)
    left = (
        ("slots that were filled earlier", len(rows) > _SLOTS),
        (f"slot facts older than the newest {_VERSIONS}", is_cut),
        ("older events", len(answer.hits) > most),
        (many(len(held) - _BELIEFS, "more belief"), len(held) > _BELIEFS),
    )
    left_out = tuple(what for what, is_left in left if is_left)
    shown = Timeline(name, days, tuple(rows[:_SLOTS]), tuple(events[-most:]), tuple(held[:_BELIEFS]), left_out)
    return replace(shown, days=_span(shown, days, memory.today))


timeline = on_fresh_index(timeline_in)


def _nothing_told(memory: OpenMemory, name: str) -> NothingFound:
    known = name_queries.unknown_name(memory, name)
    return NothingFound(f"no line is about {name!r}", known)


def whom(memory: OpenMemory, name: str) -> str:
    """The name of an entity as its page writes it; Usage where several have it."""
    found = name_queries.entity_named(memory.index, name)
    return found if isinstance(found, str) else found.name


def _slot_rows(memory: OpenMemory, name: str | None, days: Period) -> tuple[list[SlotRow], bool]:
    """The slots of an entity, or those of the workspace that were filled last, with their versions of those days.

    True beside them where an entity has more facts than were read.
    """
    index = memory.index
    if name is None:
        rows = [row for key, whose in newest_slots(index, _SLOTS + 1) for row in in_slots(index, key, [whose])]
        is_cut, changed = False, []
    else:
        keys = name_queries.keys_of(index, name)
        rows = filling_slots(index, keys, _VERSIONS + 1)
        changed = list(by_ids(index, name_queries.lines_replaced(index, keys)).values())
        is_cut = max(len(rows), len(changed)) > _VERSIONS
        rows, changed = (
            sorted(some, key=lambda row: (row.first or "", row.id))[-_VERSIONS:] for some in (rows, changed)
        )
    verdict = judge(memory, [*rows, *changed], whole=False)
    claims = [verdict.claims[row.id] for row in rows if not verdict.validity[row.id].retracted]
    slots: dict[tuple[str, str], list[int]] = {}
    same: dict[tuple[str, str], int] = {}
    for claim in versions(claims):
        for slot in dict.fromkeys(claim.slots):
            if same.get(slot) != claim.same:
                slots.setdefault(slot, []).append(claim.id)
            same[slot] = claim.same
    chains: dict[int, set[int]] = {}
    for row in changed:
        if (last := verdict.current(row.id)) != row.id and not verdict.validity[row.id].retracted:
            chains.setdefault(last, {last}).add(row.id)
    lines = [(slot[1], ids) for slot, ids in sorted(slots.items())]
    lines += [("", [claim.id for claim in versions(verdict.claims[i] for i in ids)]) for ids in chains.values()]
    hits = hits_of(memory, (verdict.entries[i] for i in {i for _, ids in lines for i in ids}), verdict)
    made = [
        SlotRow(held[0].whose, key, held)
        for key, ids in lines
        if (held := tuple(hits[i] for i in ids if i in hits and hits[i].valid.meets(days)))
    ]
    if name is None:
        made.sort(key=lambda row: _by_day(row.versions[-1]), reverse=True)
    return made, is_cut


def event_day(hit: Hit) -> date | None:
    """The day of a line: when it happened or began, else when it was told."""
    return hit.valid.first or iso_day(hit.day)


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


class Edge(NamedTuple):
    """Two names that stand on `lines` lines together, of which `source` is the newest."""

    one: str
    other: str
    lines: int
    source: Citation


@dataclass(frozen=True, slots=True)
class EntityGraph:
    """An entity and its neighbours, those with most lines first; `more` neighbours are left out."""

    name: str
    neighbours: tuple[str, ...]
    edges: tuple[Edge, ...]
    more: int = 0

    def as_json(self) -> dict[str, Any]:
        """The graph as plain values."""
        edges = [fields(edge, "one other lines source") for edge in self.edges]
        return {"schema": 1, "about": self.name, "neighbours": list(self.neighbours), "edges": edges, "more": self.more}

    def as_mermaid(self) -> str:
        """The graph in the language of Mermaid."""
        number = {name: f"n{at}" for at, name in enumerate((self.name, *self.neighbours))}
        # Letters alone: anything that Mermaid, HTML or Markdown would read is written by its number.
        plain = (re.sub(r"[^\w .,'’-]", lambda match: f"#{ord(match[0])};", one_line(name)) for name in number)
        rows = [f'  {node}["{name}"]' for name, node in zip(plain, number.values(), strict=True)]
        rows += [f"  {number[edge.one]} ---|{edge.lines}| {number[edge.other]}" for edge in self.edges]
        return "\n".join(["graph LR", *rows])


@on_fresh_index
def graph(memory: OpenMemory, name: str, most: int) -> EntityGraph:
    """The `most` nearest neighbours of an entity; NothingFound for a name that nothing is about."""
    return graph_in(memory, whom(memory, name), most)


def graph_in(memory: OpenMemory, name: str, most: int, lines: int = _NEAR_LINES) -> EntityGraph:
    """The same from the open index as it is."""
    index, key = memory.index, entity_key(name)
    who = name_queries.entities_of_keys(index, [key])[key]
    ids = name_queries.lines_naming(index, who, lines)[-lines:]
    said = name_queries.naming_lines(index, ids, Filter("", ()))
    if not said:
        raise _nothing_told(memory, name)
    unmarked = name_queries.names_from(index, own_terms(index, [line.id for line in said]))
    keys = {line.id: {*line.names, *unmarked.get(line.id, ())} for line in said}
    known = name_queries.entities_of_keys(index, {each for found in keys.values() for each in found})
    held = {line: {known[each].key for each in found if each} - {who.key} for line, found in keys.items()}
    count = Counter(other for found in held.values() for other in found)
    nearest = sorted(count, key=lambda other: (-count[other], other))[:most]
    pairs: dict[tuple[str, str], list[int]] = {}
    for line, found in held.items():
        inside = sorted(found & set(nearest))
        for pair in [*((who.key, other) for other in inside), *combinations(inside, 2)]:
            pairs.setdefault(pair, []).append(line)
    rows = by_ids(index, (line for found in pairs.values() for line in found))
    by_age = {pair: sorted((rows[i].day or "", i) for i in found) for pair, found in pairs.items()}
    newest = {pair: rows[found[-1][1]] for pair, found in by_age.items()}
    seen = reread(memory.workspace, newest.values(), index)
    shown = {entity.key: entity.name for entity in known.values()} | {who.key: who.name if who.page else name}
    texts = [text_of(row, seen[row.id]).content for row in newest.values() if row.id in seen]
    for each in (each for each in nearest if shown[each] == each):  # without a page: as a line spells it
        matches = (re.search(re.escape(each), text, re.IGNORECASE) for text in texts)
        shown[each] = next((match[0] for match in matches if match), each)
    edges = []
    for (one, other), row in newest.items():
        if found_line := seen.get(row.id):
            edges.append(Edge(shown[one], shown[other], len(pairs[one, other]), found_line.cited))
    return EntityGraph(shown[who.key], tuple(shown[each] for each in nearest), tuple(edges), len(count) - len(nearest))


class ViewWritten(NamedTuple):
    """What `memctl view --out` wrote: how many pages, of how many bytes, and what there was no room for."""

    pages: int
    size: int
    left_out: tuple[str, ...]


class Pictures(NamedTuple):
    """What can be drawn of a memory. Every method raises ExtraMissing without `[view]`."""

    memory: OpenMemory

    def svg(self, drawn: Timeline | EntityGraph) -> str:
        """A timeline or a graph as SVG, with every line that it was made of: the owner's private ones too."""
        return str(_drawing("charts").picture(drawn))

    def write(self, folder: Path) -> ViewWritten:
        """Write the pages into a folder: what others than the owner may see."""
        return ViewWritten(*_drawing("site").write_view(self.memory.public(), folder))

    def page(self, path: str, query: str | None = None) -> str | None:
        """One of these pages, or a stylesheet, by its path; `query` is what the page of search looks for."""
        found: str | None = _drawing("site").view_page(self.memory.public(), path, query)
        return found

    def key(self) -> str:
        """What opens the pages of `memctl serve` in a browser and nothing else."""
        return view_key(token_of(self.memory.workspace)[1])


def _drawing(module: str) -> Any:
    try:
        return import_module(f".{module}", __package__)
    except ImportError as error:
        raise ExtraMissing("view", f"what draws pictures (package {error.name})") from None
