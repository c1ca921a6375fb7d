"""Belief: what is believed, how firmly, and why: the whole chain of evidence, as of any day."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import NamedTuple

from ..errors import NothingFound, Usage
from ..facts import Citation, Span
from ..hits import Hit
from ..index.open_memory import OpenMemory, on_fresh_index
from ..index.queries.entity_names import KnownNames, keys_of
from ..index.queries.evidence import BeliefLines, heads_about, heads_concerning, lines_of_facts, placed
from ..index.queries.traces import linked_to
from ..index.reread import reread
from ..language.analyzer import terms
from ..language.names import bare_name, entity_key
from ..markdown.grammar import OPINIONS, Bullet
from ..markdown.lines import split_lines
from ..notes.files import read_page
from ..recall.entry_hits import hits_of
from ..truth.judge import judge
from . import confidence
from .confidence import Belief, BeliefEntry, LastWritten, Ledger, Place
from .opinions_page import read_entries, read_last_written


class CurvePoint(NamedTuple):
    """How firmly something was believed from a day on, and the line that says so."""

    day: date
    confidence: float
    source: Citation | None
    verdict: str


@dataclass(frozen=True, slots=True)
class BeliefView:
    """A belief on a day: its ledger, where it is written, and its evidence with every line found again.

    `over` is the day since which it is no longer held, `questioned` the day since which a question waits whether it is.
    """

    ref: str
    text: str
    entities: tuple[str, ...]
    ledger: Ledger
    place: Citation
    evidence: tuple[Bullet, ...]
    over: date | None
    questioned: date | None = None

    @property
    def curve(self) -> tuple[CurvePoint, ...]:
        """The confidence after each piece of evidence, oldest first."""
        shown = ((b, b.shown) for b in self.evidence if not b.gone)
        points = [CurvePoint(b.day, n, b.citation, b.verdict) for b, n in shown if n is not None]
        ended = [CurvePoint(self.over, 0.0, None, "over")] if self.over else []
        return (*points, *ended)


@dataclass(frozen=True, slots=True)
class Reasons:
    """Why something is held: the fact itself, what replaced it, what it replaced, the beliefs that it speaks to."""

    hits: tuple[Hit, ...]
    replaced_by: tuple[Hit, ...]
    replaces: tuple[Hit, ...]
    beliefs: tuple[BeliefView, ...]


@on_fresh_index
def beliefs(memory: OpenMemory, *, about: str | None = None, as_of: date | None = None) -> tuple[BeliefView, ...]:
    """Every belief on bank/opinions.md, the firmest first; those about one name only, with `about`."""
    if about is None:
        found = _views(memory, as_of)
    else:
        known = KnownNames(memory.index)
        name = known.known_as(bare_name(about))
        heads = heads_about(memory.index, keys_of(memory.index, name))
        wanted, found = entity_key(name), _views(memory, as_of, heads)
        found = [view for view in found if wanted in {known.key_of(name) for name in view.entities}]
    found.sort(key=lambda v: (v.over is not None, v.questioned is not None, -v.ledger.confidence, v.ref))
    return tuple(found)


def _views(memory: OpenMemory, as_of: date | None, heads: Sequence[BeliefLines] | None = None) -> list[BeliefView]:
    """The beliefs on the page; where `heads` are given, at least those with one of these."""
    workspace = memory.workspace
    if heads == [] or not (workspace.root / OPINIONS).exists():
        return []
    text = read_page(workspace, OPINIONS).text
    entries = read_entries(text)[0] if heads is None else _entries_at(text, heads, lines_of_facts(memory.index))
    written = read_last_written(text)
    lines = placed(memory.index, {bullet.ref for entry in entries for _, bullet in entry.bullets if bullet.ref})
    seen = reread(workspace, lines)
    places = {line.ref: Place(seen[line.id].cited, line.origin) for line in reversed(lines) if line.id in seen}
    marked = ((entry, written.get(entry.ref or "")) for entry in entries)
    found = (belief_view(entry, mark, places, today=memory.today, as_of=as_of) for entry, mark in marked)
    return [view for view in found if view]


def _entries_at(text: str, heads: Sequence[BeliefLines], facts: Sequence[int]) -> list[BeliefEntry]:
    """The beliefs with these heads: no more is parsed.

    All that stand on the page where it is not as it was indexed, and where one of its `facts` is indented: such a fact is a
    part of the belief above it, and what follows may be evidence of that.
    """
    lines, found = split_lines(text), list[BeliefEntry]()
    if any(lines[number - 1][:1].isspace() for number in facts if number <= len(lines)):
        return read_entries(text)[0]
    for head in heads:
        alone = read_entries("\n".join(lines[head.line - 1 : head.before and head.before - 1]))[0]
        if len(alone) != 1 or alone[0].ref not in (None, head.ref):
            return read_entries(text)[0]
        first, last = alone[0].span
        found.append(replace(alone[0], span=Span(first + head.line - 1, last + head.line - 1)))
    return found


def belief_view(
    entry: BeliefEntry, mark: LastWritten | None, places: Mapping[str, Place], *, today: date, as_of: date | None = None
) -> BeliefView | None:
    """A belief as it stands on the page, with what follows from its evidence; None if nobody had stated it by `as_of`.

    A number that somebody wrote into the head since the last reflect counts as set today.
    """
    items = [bullet for _, bullet in entry.bullets]
    if not confidence.stated_in(entry):
        items.insert(0, confidence.stated_by_hand(entry, as_of or today))
    if confidence.is_edited(entry, mark):
        items.append(Bullet(today, "set", 1.0, entry.fact.confidence, reason="by hand"))
    known = [bullet for bullet in items if as_of is None or bullet.day <= as_of]
    stated = next((bullet for bullet in known if bullet.verdict == "stated"), None)
    if stated is None:
        return None
    fact = entry.fact
    belief = Belief(entry.ref or confidence.own_id(entry), fact, frozenset(), stated.day, stated.ref, entry, known)
    confidence.renumber(belief, places)
    found = ((bullet, places.get(bullet.ref or "")) for bullet in belief.bullets)
    evidence = tuple(bullet._replace(citation=place.citation) if place else bullet for bullet, place in found)
    days = [[b.day for b in known if b.verdict == verdict and not b.gone] for verdict in ("superseded", "questioned")]
    over, questioned = (min(each, default=None) for each in days)
    place = Citation(OPINIONS, *entry.span)
    return BeliefView(belief.ref, fact.text, fact.entities, belief.ledger, place, evidence, over, questioned)


@on_fresh_index
def show_belief(memory: OpenMemory, reference: str, *, as_of: date | None = None) -> BeliefView:
    """The belief with this id, or that the fact with this id states, or whose text holds these words, or names and text each of them.

    NothingFound if there is none, Usage if the words fit several.
    """
    bare = reference.strip().removeprefix("^")
    found = _views(memory, as_of, heads_concerning(memory.index, bare))
    by_id = [view for view in found if bare in (view.ref, *(b.ref for b in view.evidence if b.verdict == "stated"))]
    asked, views = {*terms(bare)}, () if by_id else beliefs(memory, as_of=as_of)
    fitting = by_id or [view for view in views if bare and bare.casefold() in view.text.casefold()]
    fitting = fitting or [view for view in views if asked and asked <= {*terms(" ".join((*view.entities, view.text)))}]
    if not fitting:
        when = f" as of {as_of}" if as_of else ""
        raise NothingFound(f"no belief matches {reference!r}{when}", "`memctl belief list` shows all of them")
    if len(fitting) > 1 and not by_id:
        ids = ", ".join(f"^{view.ref}" for view in fitting[:5])
        raise Usage(f"{reference!r} matches {len(fitting)} beliefs: {ids}", "give the id")
    return fitting[0]


@on_fresh_index
def why(memory: OpenMemory, reference: str, *, as_of: date | None = None) -> Reasons:
    """Why an id is held: a belief with its whole chain, or a fact with what it replaced, what replaced it, what it proves."""
    bare = reference.strip().removeprefix("^")
    index = memory.index
    views = _views(memory, as_of, heads_concerning(index, bare))
    speaks = tuple(view for view in views if bare in (view.ref, *(b.ref for b in view.evidence)))
    entries = placed(index, [bare])
    doing = (line for _, relation, line in linked_to(index, [bare]) if relation == "by")  # lines that speak for it
    verdict = judge(memory, [*entries, *doing], as_of)
    hits = hits_of(memory, verdict.entries.values(), verdict, as_of=as_of)

    def shown(ids: set[int]) -> tuple[Hit, ...]:
        return tuple(hits[i] for i in sorted(ids) if i in hits)

    own = {e.id for e in entries if e.id in verdict.entries}
    after = {s.replaced_by for i, s in verdict.validity.items() if i in own and s.replaced_by is not None}
    before = {i for i, s in verdict.validity.items() if s.replaced_by in own}
    if not speaks and not shown(own):
        raise NothingFound(f"nothing has the id {reference!r}", "`memctl recall` prints ids")
    return Reasons(shown(own), shown(after), shown(before - own), speaks)
