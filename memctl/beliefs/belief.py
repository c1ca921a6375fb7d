"""One belief and its evidence: what follows from it, what a person changed, how it is known again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import NamedTuple

from ..facts import Citation, Fact, Kind
from ..ids import fact_id
from ..language.names import mentions
from ..markdown.evidence_line import Bullet, code_of
from .confidence import DEFAULT, Evidence, Ledger, in_order, ledger, replay, shown
from .page_read import BeliefEntry, LastWritten

ASIDE = frozenset(("superseded", "questioned"))
"""Verdicts that move no number."""


class Place(NamedTuple):
    """Where the line of an id stands now, and who said it."""

    citation: Citation
    origin: str


@dataclass(slots=True)
class Belief:
    """A belief and its evidence. `entry` is its place on the page, None for a new one; `mark` is for the next run."""

    ref: str
    fact: Fact
    names: frozenset[str]
    day: date
    stated: str | None
    entry: BeliefEntry | None = None
    items: list[Bullet] = field(default_factory=list)
    machine: set[str] = field(default_factory=set)
    refused: set[str] = field(default_factory=set)
    over: date | None = None
    evidence: list[Evidence] = field(default_factory=list)
    number: str = ""

    @property
    def standing(self) -> Ledger:
        """Confidence, weights and trend as of its last piece of evidence."""
        return ledger(self.evidence)

    @property
    def mark(self) -> LastWritten:
        """What the page is to remember of this writing."""
        codes = {b.ref: code_of(b) for b in self.items if b.ref and b.ref in self.machine}
        return LastWritten(self.number, codes | dict.fromkeys(self.refused, "!"))

    @property
    def moved(self) -> bool:
        """True if it does not stand on the page with this number and this evidence yet."""
        if self.entry is None or self.entry.fact.confidence is None:
            return True
        was = {(b.day, b.verdict, b.ref, b.gone) for _, b in self.entry.bullets}
        now = {(b.day, b.verdict, b.ref, b.gone) for b in self.items}
        return f"{self.entry.fact.confidence:.2f}" != self.number or was != now

    @property
    def is_current(self) -> bool:
        """False once it is over, and as long as a question waits whether its holder thinks otherwise now."""
        return self.over is None and not self.counts("questioned")

    def counts(self, side: str) -> int:
        """How many pieces of evidence are `for`, or `against`."""
        return sum(b.verdict == side and not b.gone for b in self.items)


def belief_id(ref: str) -> str:
    """The id of the belief that the fact `ref` states."""
    return f"o-{ref.removeprefix('f-')}"


def as_written(
    entry: BeliefEntry,
    mark: LastWritten | None,
    places: Mapping[str, Place],
    *,
    today: date,
    as_of: date | None = None,
) -> Belief | None:
    """A belief as it stands on the page, with what follows from its evidence; None if nobody had stated it by `as_of`.

    A number that somebody wrote into the head since the last reflect counts as set today.
    """
    items = [bullet for _, bullet in entry.bullets]
    if not any(bullet.verdict == "stated" for bullet in items):
        day = min((bullet.day for bullet in items), default=as_of or today)
        number = entry.fact.confidence
        items.insert(
            0, Bullet(day, "stated", 1.0, DEFAULT if number is None else number, number is None, reason="by hand")
        )
    if is_edited(entry, mark):
        items.append(Bullet(today, "set", 1.0, entry.fact.confidence, reason="by hand"))
    known = [bullet for bullet in items if as_of is None or bullet.day <= as_of]
    stated = next((bullet for bullet in known if bullet.verdict == "stated"), None)
    if stated is None:
        return None
    belief = Belief(entry.ref or own_id(entry), entry.fact, frozenset(), stated.day, stated.ref, entry, known)
    belief.over = min((b.day for b in known if b.verdict == "superseded" and not b.gone), default=None)
    renumber(belief, places)
    return belief


def stated_in(entry: BeliefEntry) -> Bullet | None:
    """The piece of evidence that stated an entry, None if none does."""
    return next((bullet for _, bullet in entry.bullets if bullet.verdict == "stated"), None)


def own_id(entry: BeliefEntry) -> str:
    """The id for a head without one: of the line that stated it, else of its words."""
    stated = stated_in(entry)
    if stated and stated.ref:
        return belief_id(stated.ref)
    return belief_id(fact_id(Kind.OPINION, entry.fact.entities, entry.fact.text, None))


def refused(entry: BeliefEntry, mark: LastWritten | None) -> set[str]:
    """Evidence that a person took out: it stood under the belief when it was last written, and does not now."""
    standing = {bullet.ref for _, bullet in entry.bullets}
    return {ref for ref in mark.codes if ref not in standing} if mark else set()


def is_edited(entry: BeliefEntry, mark: LastWritten | None) -> bool:
    """True if somebody wrote another number into the head than follows from what stands below it."""
    if entry.fact.confidence is None:
        return False
    numbers = [
        n for _, b in entry.bullets if not b.gone for n in (b.number if b.after is None else b.after,) if n is not None
    ]
    expected = {f"{numbers[-1]:.2f}"} if numbers else set()
    if mark and mark.head:
        expected.add(mark.head)
    return bool(expected) and f"{entry.fact.confidence:.2f}" not in expected


def is_remarked(entry: BeliefEntry) -> bool:
    """True if a person wrote something between or below the evidence: then the entry is not reflect's to take away."""
    spans = [entry.span, *(span for span, _ in entry.bullets)]
    return entry.end - entry.span.line + 1 > sum(last - first + 1 for first, last in spans)


def is_worded_as_stated(entry: BeliefEntry, stated: Bullet) -> bool:
    """True if the id of the line that stated it says that these were its very words; an id of its author's tells nothing."""
    names = tuple(dict.fromkeys([*entry.fact.entities, *mentions(entry.fact.text)]))
    ids = [fact_id(Kind.OPINION, names, entry.fact.text, stated.day, ordinal) for ordinal in range(10)]  # of twins
    return stated.ref in ids


def renumber(belief: Belief, places: Mapping[str, Place]) -> None:
    """Put the evidence in order and write behind each piece the confidence that follows."""
    counted: dict[Evidence, Bullet] = {}
    for number, bullet in enumerate(belief.items):
        if bullet.gone or bullet.verdict in ASIDE:
            continue
        place = places.get(bullet.ref or "")
        value = (
            bullet.strength
            if bullet.verdict in ("for", "against")
            else DEFAULT
            if bullet.number is None
            else round(bullet.number, 2)  # as it is written: what is read back must give the same
        )
        key = Evidence(
            bullet.day, bullet.ref or f"~{bullet.reason}", bullet.verdict, value, place.origin if place else "hand", bullet.guessed
        )  # fmt: skip
        while key in counted:
            key = key._replace(ref=f"{key.ref}~{number}")
        counted[key] = bullet
    belief.evidence = in_order(counted)
    after = replay(belief.evidence)
    made: list[tuple[tuple[date, int, str], Bullet]] = []
    for at, (item, confidence) in enumerate(zip(belief.evidence, after, strict=True)):
        silent = item.verdict == "set" or (item.verdict == "stated" and at == 0)
        bullet = counted[item]._replace(after=None if silent else float(shown(confidence)))
        made.append(((item.day, {"stated": 0, "set": 2}.get(item.verdict, 1), item.ref), bullet))
    made += [((b.day, 3, b.ref or ""), b) for b in belief.items if b.gone or b.verdict in ASIDE]
    belief.items = [bullet for _, bullet in sorted(made, key=lambda pair: pair[0])]
    belief.number = shown(after[-1]) if after else shown(DEFAULT)
