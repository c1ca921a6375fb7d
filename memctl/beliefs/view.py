"""Belief: what is believed, how firmly, and why: the whole chain of evidence, as of any day."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date

from ..entities.names_of_lines import KnownNames
from ..errors import NothingFound, Usage
from ..facts import Citation
from ..hits import Hit
from ..index.heal import with_index
from ..index.index import Index
from ..index.queries.reflect import placed
from ..index.reread import reread
from ..index.sync import freshen, silent
from ..language.names import entity_key
from ..markdown.evidence_line import OPINIONS, Bullet
from ..notes.files import read_page
from ..notes.workspace import Workspace
from ..recall.entry_hits import hit_of
from ..truth.judge import judge
from .belief import Belief, Place, as_written
from .confidence import Ledger
from .page_read import read_entries, read_marks

__all__ = ["BeliefView", "Reasons", "beliefs", "show_belief", "why"]


@dataclass(frozen=True, slots=True)
class BeliefView:
    """A belief on a day: its standing, where it is written, and its evidence with every line found again.

    `over` is the day since which it is no longer held.
    """

    ref: str
    text: str
    entities: tuple[str, ...]
    standing: Ledger
    place: Citation
    evidence: tuple[Bullet, ...]
    over: date | None


@dataclass(frozen=True, slots=True)
class Reasons:
    """Why something is held: the fact itself, what replaced it, what it replaced, the beliefs that it speaks to."""

    hits: tuple[Hit, ...]
    replaced_by: tuple[Hit, ...]
    replaces: tuple[Hit, ...]
    beliefs: tuple[BeliefView, ...]


def beliefs(
    workspace: Workspace,
    today: date,
    *,
    about: str | None = None,
    as_of: date | None = None,
    rule: str = "beta",
    tell: Callable[[str], None] = silent,
) -> tuple[BeliefView, ...]:
    """Every belief on bank/opinions.md, the firmest first; those about one name only, with `about`."""

    def job(index: Index) -> tuple[BeliefView, ...]:
        freshen(workspace, index, tell)
        found = _views(workspace, index, today, as_of, rule)
        if about is not None:
            known = KnownNames(index)
            wanted = entity_key(known.known_as(about.removeprefix("@")))
            found = [view for view in found if wanted in {entity_key(known.known_as(name)) for name in view.entities}]
        return tuple(sorted(found, key=lambda v: (v.over is not None, -v.standing.confidence, v.ref)))

    return with_index(workspace, job)


def _views(workspace: Workspace, index: Index, today: date, as_of: date | None, rule: str) -> list[BeliefView]:
    if not (workspace.root / OPINIONS).exists():
        return []
    text = read_page(workspace, OPINIONS).text
    entries, _ = read_entries(text)
    marks = read_marks(text)
    refs = {bullet.ref for entry in entries for _, bullet in entry.bullets if bullet.ref}
    lines = placed(index, refs)
    seen = reread(workspace, lines)
    places = {
        e.ref: Place(Citation(e.path, seen[e.id].line, seen[e.id].end_line), e.origin) for e in reversed(lines) if e.id in seen
    }  # fmt: skip
    found = []
    for entry in entries:
        belief = as_written(entry, marks.get(entry.ref or ""), places, today=today, as_of=as_of, rule=rule)
        if belief:
            found.append(_view(belief, places))
    return found


def _view(belief: Belief, places: dict[str, Place]) -> BeliefView:
    assert belief.entry is not None
    span = belief.entry.span
    evidence = tuple(
        bullet._replace(citation=places[bullet.ref].citation) if bullet.ref in places else bullet
        for bullet in belief.items
    )
    return BeliefView(
        belief.ref, belief.fact.text, belief.fact.entities, belief.standing, Citation(OPINIONS, span.line, span.end_line),
        evidence, belief.over,
    )  # fmt: skip


def show_belief(
    workspace: Workspace,
    reference: str,
    today: date,
    *,
    as_of: date | None = None,
    rule: str = "beta",
    tell: Callable[[str], None] = silent,
) -> BeliefView:
    """The belief with this id, or that the fact with this id states, or whose text holds these words.

    NothingFound if there is none, Usage if the words fit several.
    """
    found = beliefs(workspace, today, as_of=as_of, rule=rule, tell=tell)
    bare = reference.strip().removeprefix("^")
    by_id = [
        view
        for view in found
        if bare == view.ref or any(b.verdict == "stated" and b.ref == bare for b in view.evidence)
    ]
    words = bare.casefold()
    fitting = by_id or [view for view in found if words and words in view.text.casefold()]
    if not fitting:
        when = f" as of {as_of}" if as_of else ""
        raise NothingFound(f"no belief is called {reference!r}{when}", "`memctl belief list` has them all")
    if len(fitting) > 1 and not by_id:
        raise Usage(
            f"{reference!r} fits {len(fitting)} beliefs: " + ", ".join(f"^{v.ref}" for v in fitting[:5]), "give the id"
        )
    return fitting[0]


def why(
    workspace: Workspace,
    reference: str,
    today: date,
    *,
    as_of: date | None = None,
    tell: Callable[[str], None] = silent,
) -> Reasons:
    """Why an id is held: a belief with its whole chain, or a fact with what it replaced, what replaced it, what it proves."""
    bare = reference.strip().removeprefix("^")

    def job(index: Index) -> Reasons:
        freshen(workspace, index, tell)
        views = _views(workspace, index, today, as_of, "beta")
        speaks = tuple(view for view in views if view.ref == bare or any(b.ref == bare for b in view.evidence))
        entries = placed(index, [bare])
        verdict = judge(index, entries, as_of or today, as_of)
        seen = reread(workspace, verdict.entries.values())
        known = KnownNames(index)

        def shown(ids: set[int]) -> tuple[Hit, ...]:
            wanted = [verdict.entries[i] for i in sorted(ids) if i in verdict.entries and i in seen]
            return tuple(hit_of(index, e, seen[e.id], verdict, as_of or today, known) for e in wanted)

        own = {e.id for e in entries if e.id in verdict.entries}
        after = {s.replaced_by for i, s in verdict.standings.items() if i in own and s.replaced_by is not None}
        before = {i for i, s in verdict.standings.items() if s.replaced_by in own}
        return Reasons(shown(own), shown(after), shown(before - own), speaks)

    reasons = with_index(workspace, job)
    if not reasons.hits and not reasons.beliefs:
        raise NothingFound(f"nothing has the id {reference!r}", "`memctl recall` prints ids")
    return reasons
