"""How confidence moves: a Beta ledger, replayed from the dated evidence of a belief.

A belief stated with c0 begins as k earlier observations (2, or 4 when the author wrote a number), of which the
share c0 was for it. Evidence adds its weight to one side; confidence is the mean of the resulting Beta distribution:

    w = s·u    a = Σ w for    b = Σ w against    c = (k·c0 + a)/(k + a + b)    sd = sqrt(c(1 − c)/(k + a + b + 1))

s is the strength, which a page must be able to spell (`_STRENGTHS`, markdown/grammar.py):
    1    `for=`, `against=`, an answer to a question of review, the same words again, hedged or not
    1/2  INFERRED: what a rule of stance finds, and where a model answered
    0    ASKED: what no rule is certain of, hedged lines (`same topic, hedged`) among it

u is 1, 1/2, 1/3 … for the items of one source on one day, strongest first, those for and those against in one series. Who
says a thing ten times in a day moves it as three witnesses would; who says both at once moves little.
Everything is a function of the set of items: arrival order plays no part.

- The first statement gives c0, wherever it stands among the evidence. A later one is evidence of strength 1: for, when
  its author wrote no number; with a number v it counts v for and 1 − v against, so that it draws confidence towards v.
- A set number is an anchor: c0 from there on with k = 4, and what sorts before it has no further effect.
- Confidence is clamped to [.02, .98] only when it is given back.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from datetime import date
from typing import NamedTuple

from ..facts import UNSAID, Citation, Fact, Kind, Span
from ..ids import belief_id, fact_id
from ..language.names import mentions
from ..markdown.grammar import Bullet, code_of

INFERRED = 0.5  # weight of evidence that a rule of stance finds, beside that which a mark gives
ASKED = {"same topic, hedged": 0.0}
"""Weight, by the rule of the judgement, of evidence to be asked; over 0 it counts, and is not asked."""
LOWEST, HIGHEST = 0.02, 0.98  # no belief is ever surer

_GUESSED, _WRITTEN = 2.0, 4.0  # k: how many observations a statement is worth, without and with a number
_RECENT = 5  # pieces of evidence that count as recent
_MOVEMENT = 0.1  # of confidence, by recent evidence: less happens by chance at half of all times
_EQUAL = 1e-9  # what rounding may make of equal numbers: for and against must be mirror images
_HALVES = 10  # pieces of evidence from which on the newer half is compared with the older
_PHASES = {"stated": 0, "for": 1, "against": 1, "set": 2}
ASIDE = frozenset(("superseded", "questioned"))  # verdicts that move no number


class Evidence(NamedTuple):
    """One dated item of a belief's chain."""

    day: date
    ref: str  # tells items of one day apart: a citation, or the id of a fact
    verdict: str  # `stated`, `for`, `against` or `set`
    value: float  # a confidence for stated and set, else a strength; below 0 counts as 0, above 1 as 1
    source: str = ""  # who said it, empty for the owner
    guessed: bool = False  # stated without a number


class Ledger(NamedTuple):
    """Where a belief stands: what `ledger` finds."""

    confidence: float
    deviation: float
    weight_for: float  # since the last anchor, as the next
    weight_against: float
    contested: bool  # recent evidence disagrees with the older, or both sides weigh much and about the same
    trend: str  # `rising`, `falling` or `steady`


def in_order(items: Iterable[Evidence]) -> list[Evidence]:
    """By day; within a day statements first, set numbers last, else by ref. Equal for every order of `items`."""
    return sorted(items, key=lambda item: (item.day, _phase(item), item.ref, *item[2:]))


def replay(items: Iterable[Evidence]) -> list[float]:
    """Confidence after each item of `in_order(items)`. The first n depend on the first n items only.

    ValueError for an unknown verdict.
    """
    return [posterior.path[-1] for posterior in _posteriors(in_order(items))]


def ledger(items: Iterable[Evidence]) -> Ledger:
    """The state after all items; without any, the default confidence of an unnumbered statement.

    Trend knows no clock. It is the change of confidence over the last five items since the anchor, if that is .1 or
    more; else the turn that makes the belief contested; else, from ten pieces of evidence on, the change from their
    older to their newer half, weighted, if it is more than two standard errors. ValueError for an unknown verdict.
    """
    last = [_Posterior(), *_posteriors(in_order(items))][-1]
    confidence, (a, b), turn = last.path[-1], last.weights, _recent_shift(last.sides)
    deviation = math.sqrt(confidence * (1 - confidence) / (last.prior_weight + a + b + 1))
    change = confidence - last.path[0]
    moved = change if abs(change) > _MOVEMENT - _EQUAL else turn or _half_shift(last.sides, last.piece_weights)
    trend = "rising" if moved > 0 else "falling" if moved < 0 else "steady"
    contested = turn != 0 or (min(a, b) >= 1.5 and abs(confidence - 0.5) < 0.15)
    return Ledger(confidence, deviation, a, b, contested, trend)


def confidence_shown(confidence: float) -> str:
    """A confidence as pages show it, `0.86`; never `0.00` or `1.00`."""
    return f"{_clamped(confidence):.2f}"


class _Posterior:
    """The Beta distribution so far: the prior that a statement or an anchor gave, and the evidence since."""

    def __init__(self, prior: float = UNSAID, prior_weight: float = _GUESSED, is_stated: bool = False) -> None:
        self.prior, self.prior_weight, self.is_stated = prior, prior_weight, is_stated
        self.sides: list[float] = []  # each piece of evidence: 1 for, 0 against
        self.piece_weights: list[float] = []  # the weight of each when it was added
        self.path = [_clamped(prior)]  # the last confidences
        self._before = (0.0, 0.0)  # weights of the days before `_day`
        self._day: date | None = None
        self._series: dict[str, list[tuple[float, str, float]]] = {}  # of `_day`, by source: -strength, ref, side

    @property
    def weights(self) -> tuple[float, float]:
        """a and b."""
        a, b = self._before
        for series in self._series.values():
            for place, (strength, _, side) in enumerate(series, 1):
                a -= strength * side / place
                b -= strength * (1 - side) / place
        return a, b

    def add(self, item: Evidence) -> None:
        value = min(1.0, max(0.0, item.value))
        if item.verdict == "stated" and not self.is_stated:
            self.prior, self.prior_weight, self.is_stated = value, _GUESSED if item.guessed else _WRITTEN, True
            self.path = self.path if self.sides else []
        elif item.verdict == "stated":  # again: a number draws confidence towards itself
            self._weigh(item, 1.0, 1.0 if item.guessed else value)
        else:
            self._weigh(item, value, 1.0 if item.verdict == "for" else 0.0)
        a, b = self.weights
        mean = (self.prior_weight * self.prior + a) / (self.prior_weight + a + b)
        self.path = [*self.path[-_RECENT:], _clamped(mean)]

    def _weigh(self, item: Evidence, strength: float, side: float) -> None:
        if item.day != self._day:
            self._before, self._day, self._series = self.weights, item.day, {}
        series = self._series.setdefault(item.source, [])
        series.append((-strength, item.ref, side))
        series.sort()
        self.sides.append(side)
        self.piece_weights.append(strength / len(series))


def _posteriors(ordered: Iterable[Evidence]) -> Iterator[_Posterior]:
    posterior = _Posterior()
    for item in ordered:
        if item.verdict == "set":
            posterior = _Posterior(min(1.0, max(0.0, item.value)), _WRITTEN, True)
        else:
            posterior.add(item)
        yield posterior


def _recent_shift(sides: list[float]) -> float:
    """How much more the last five are for the belief than all before, if that is half or more of all there is; else 0."""
    if len(sides) < 8:
        return 0.0
    difference = sum(sides[-_RECENT:]) / _RECENT - sum(sides[:-_RECENT]) / (len(sides) - _RECENT)
    return difference if abs(difference) > 0.5 - _EQUAL else 0.0


def _half_shift(sides: list[float], piece_weights: list[float]) -> float:
    """How much more the newer half is for the belief than the older; 0 if that may well be chance."""
    middle = len(sides) // 2
    halves = [list(zip(sides[part], piece_weights[part], strict=True)) for part in (slice(middle), slice(middle, None))]
    totals = [sum(weight for _, weight in half) for half in halves]
    if len(sides) < _HALVES or not all(totals):
        return 0.0
    old, new = (sum(side * weight for side, weight in half) / total for half, total in zip(halves, totals, strict=True))
    share = (old * totals[0] + new * totals[1]) / sum(totals)
    spread = sum(sum(w * w for _, w in half) / total**2 for half, total in zip(halves, totals, strict=True))
    chance = 2 * math.sqrt(max(0.0, share * (1 - share)) * spread)
    return new - old if abs(new - old) > chance + _EQUAL else 0.0


def _phase(item: Evidence) -> int:
    if item.verdict not in _PHASES:
        raise ValueError(f"no such verdict: {item.verdict}")
    return _PHASES[item.verdict]


def _clamped(value: float) -> float:
    return min(HIGHEST, max(LOWEST, value))


class Place(NamedTuple):
    """Where the line of an id stands now, and who said it."""

    citation: Citation
    origin: str


@dataclass(frozen=True, slots=True)
class BeliefEntry:
    """A belief as it stands on the page: its head (lines `span`), its evidence by line, and the last line of it all."""

    span: Span
    end: int
    fact: Fact
    bullets: tuple[tuple[Span, Bullet], ...]
    indent: str = ""

    @property
    def ref(self) -> str | None:
        """The id behind the head, None while it has none."""
        return self.fact.block_id

    @property
    def refs(self) -> set[str]:
        """The ids of its evidence."""
        return {bullet.ref for _, bullet in self.bullets if bullet.ref}


class LastWritten(NamedTuple):
    """What reflect last wrote of a belief: the number in its head, a code for each piece of evidence by its id.

    Codes are `s0.80` stated with that, `+` and `-` with 4, 2 or 1 quarters, `x` superseded, `?` questioned, `!` taken out
    by hand since. `head` is None for a belief that a person took out as a whole.
    """

    head: str | None
    codes: Mapping[str, str]


@dataclass(slots=True)
class Belief:
    """A belief and its evidence. `renumber` fills `evidence` and `number`."""

    ref: str
    fact: Fact
    names: frozenset[str]  # keys of those whom it is about
    day: date  # when it was stated
    stated: str | None  # the id of the line that stated it
    entry: BeliefEntry | None = None  # how it stands on the page; None for a new one
    bullets: list[Bullet] = field(default_factory=list)  # its evidence as the page is to show it
    found_refs: set[str] = field(default_factory=set)  # ids of the evidence that reflect found, and no person
    refused: Set[str] = frozenset()  # ids of the evidence that a person took out
    over: date | None = None  # since when a line says that it is replaced
    evidence: list[Evidence] = field(default_factory=list)  # its evidence as confidence counts it
    number: str = ""  # its confidence as the page is to show it

    @property
    def ledger(self) -> Ledger:
        """Confidence, weights and trend as of its last piece of evidence."""
        return ledger(self.evidence)

    @property
    def mark(self) -> LastWritten:
        """What the page is to remember of this writing."""
        codes = {b.ref: code_of(b) for b in self.bullets if b.ref and b.ref in self.found_refs}
        return LastWritten(self.number, codes | dict.fromkeys(self.refused, "!"))

    @property
    def moved(self) -> bool:
        """True if it does not stand on the page with this number and this evidence yet."""
        if self.entry is None or self.entry.fact.confidence is None:
            return True
        was = {(b.day, b.verdict, b.ref, b.gone) for _, b in self.entry.bullets}
        now = {(b.day, b.verdict, b.ref, b.gone) for b in self.bullets}
        return f"{self.entry.fact.confidence:.2f}" != self.number or was != now

    @property
    def days_moved(self) -> set[date]:
        """The days of its evidence, from the first on whose evidence or number does not stand on the page as it is now."""
        before = [bullet for _, bullet in self.entry.bullets] if self.entry else []
        was, now = ({(b.day, b.verdict, b.ref or "", b.gone, b.shown) for b in each} for each in (before, self.bullets))
        first = min((day for day, *_ in was ^ now), default=date.min)
        return {b.day for b in (*before, *self.bullets) if b.day >= first}

    @property
    def is_current(self) -> bool:
        """False once it is over, and as long as a question waits whether its holder thinks otherwise now."""
        return self.over is None and not self.counts("questioned")

    def counts(self, side: str) -> int:
        """How many pieces of evidence are `for`, or `against`."""
        return sum(b.verdict == side and not b.gone for b in self.bullets)


def stated_in(entry: BeliefEntry) -> Bullet | None:
    """The piece of evidence that stated an entry, None if none does."""
    return next((bullet for _, bullet in entry.bullets if bullet.verdict == "stated"), None)


def stated_by_hand(entry: BeliefEntry, day: date) -> Bullet:
    """The statement of an entry that has none below it: of the day of its first evidence, else of `day`."""
    number, first = entry.fact.confidence, min((bullet.day for _, bullet in entry.bullets), default=day)
    return Bullet(first, "stated", 1.0, UNSAID if number is None else number, number is None, reason="by hand")


def own_id(entry: BeliefEntry) -> str:
    """The id for a head without one: of the line that stated it, else of its words."""
    if (stated := stated_in(entry)) and stated.ref:
        return belief_id(stated.ref)
    return belief_id(fact_id(Kind.OPINION, entry.fact.entities, entry.fact.text, None))


def refused(entry: BeliefEntry, mark: LastWritten | None) -> set[str]:
    """Evidence that a person took out: it stood under the belief when it was last written, and does not now."""
    return mark.codes.keys() - entry.refs if mark else set()


def is_edited(entry: BeliefEntry, mark: LastWritten | None) -> bool:
    """True if somebody wrote another number into the head than follows from what stands below it."""
    shown_below = [bullet.shown for _, bullet in entry.bullets if not bullet.gone and bullet.shown is not None]
    expected = {f"{number:.2f}" for number in shown_below[-1:]}
    if mark and mark.head:
        expected.add(mark.head)
    return entry.fact.confidence is not None and bool(expected) and f"{entry.fact.confidence:.2f}" not in expected


def is_remarked(entry: BeliefEntry) -> bool:
    """True if a person wrote something between or below the evidence: then the entry is not reflect's to take away."""
    spans = [entry.span, *(span for span, _ in entry.bullets)]
    return entry.end - entry.span.line + 1 > sum(last - first + 1 for first, last in spans)


def is_attributed(entry: BeliefEntry) -> bool:
    """True if a person wrote more into the head than its number, or an end that no evidence gives."""
    told, is_over = entry.fact, any(bullet.verdict == "superseded" for _, bullet in entry.bullets)
    until = told.until if is_over else None
    return told != Fact(told.kind, told.text, told.entities, told.confidence, until=until, block_id=told.block_id)


def is_worded_as_stated(entry: BeliefEntry, stated: Bullet) -> bool:
    """True if the id of the line that stated it says that these were its very words; an id of its author's tells nothing."""
    names = tuple(dict.fromkeys([*entry.fact.entities, *mentions(entry.fact.text)]))
    ids = [fact_id(Kind.OPINION, names, entry.fact.text, stated.day, ordinal) for ordinal in range(10)]  # of twins
    return stated.ref in ids


def renumber(belief: Belief, places: Mapping[str, Place]) -> None:
    """Put the evidence in order and write behind each piece the confidence that follows."""
    bullet_of: dict[Evidence, Bullet] = {}
    for number, bullet in enumerate(belief.bullets):
        if bullet.gone or bullet.verdict in ASIDE:
            continue
        place = places.get(bullet.ref or "")
        value = bullet.strength
        if bullet.verdict not in ("for", "against"):  # as it is written: what is read back must give the same
            value = UNSAID if bullet.number is None else round(bullet.number, 2)
        item = Evidence(
            bullet.day, bullet.ref or f"~{bullet.reason}", bullet.verdict, value, place.origin if place else "hand", bullet.guessed
        )  # fmt: skip
        while item in bullet_of:  # the same twice, by hand
            item = item._replace(ref=f"{item.ref}~{number}")
        bullet_of[item] = bullet
    belief.evidence = in_order(bullet_of)
    after = replay(belief.evidence)
    placed: list[tuple[tuple[date, int, str], Bullet]] = []  # each with what sorts it
    for at, (item, confidence) in enumerate(zip(belief.evidence, after, strict=True)):
        says_it_itself = item.verdict == "set" or (item.verdict == "stated" and at == 0)
        bullet = bullet_of[item]._replace(after=None if says_it_itself else float(confidence_shown(confidence)))
        placed.append(((item.day, _PHASES[item.verdict], item.ref), bullet))
    placed += [((b.day, 3, b.ref or ""), b) for b in belief.bullets if b.gone or b.verdict in ASIDE]
    belief.bullets = [bullet for _, bullet in sorted(placed, key=lambda pair: pair[0])]
    belief.number = confidence_shown([UNSAID, *after][-1])
