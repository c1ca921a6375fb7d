"""From channels to one order: bounded factors on the relevance of words, twins as one, replaced facts below what replaced them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import NamedTuple

from ..facts import HALF_LIFE_DAYS, Kind, Period

__all__ = ["Candidate", "Factors", "Ranked", "factors", "order", "recency"]


_ENDED = 0.75  # what was replaced, or whose time has passed, beside the other candidates


class Candidate(NamedTuple):
    """An entry on its way into the answer; `relevance` is what the words say, not negative."""

    id: int
    kind: Kind
    role: str
    day: date | None
    valid: Period
    importance: float | None
    content_key: int
    copy: bool
    place: tuple[str, int]
    relevance: float
    named: bool = False


class Factors(NamedTuple):
    """What bends a relevance, each a number around 1; `--explain` prints them."""

    recency: float
    time: float
    proof: float
    importance: float
    entity: float
    form: float
    standing: float = 1.0  # less for what was replaced or is over

    @property
    def product(self) -> float:
        """All of them together."""
        return self.recency * self.time * self.proof * self.importance * self.entity * self.form * self.standing


def recency(kind: Kind, day: date | None, today: date) -> float:
    """2^(-age / half-life) of the kind, from 1 (today or later) down to 0; 0.5 for the world and for undated lines."""
    half_life = HALF_LIFE_DAYS.get(kind)
    if half_life is None or day is None:
        return 0.5
    return float(2 ** (-max(0, (today - day).days) / half_life))


def factors(candidate: Candidate, times: Sequence[Period], days_told: int, asks_name: bool, today: date) -> Factors:
    """The factors of algorithms.md, Fusion: each bends a score by at most a tenth (twentieth for proof) either way.

    `days_told` is on how many days the same was written, `times` what the question says about when.
    """
    proof = min(1.0, 0.5 + math.log(max(1, days_told)) / 10)
    return Factors(
        recency=_bend(0.2, recency(candidate.kind, candidate.day, today)),
        time=_bend(0.2, _in_time(candidate, times)) if times else 1.0,
        proof=_bend(0.1, proof),
        importance=_bend(0.2, 0.5 if candidate.importance is None else candidate.importance),
        entity=_bend(0.2, 1.0 if candidate.named else 0.0) if asks_name else 1.0,
        form=_form(candidate),
    )


def _bend(width: float, value: float) -> float:
    return 1 + width * (value - 0.5)


def _in_time(candidate: Candidate, times: Sequence[Period]) -> float:
    """1 for a line of one of those times, or about them; 0 otherwise."""
    about = candidate.valid if candidate.valid.last or candidate.valid.first != candidate.day else None
    spans = [Period(candidate.day, candidate.day)] if candidate.day else []
    spans += [about] if about else []
    return float(any(span.meets(time) for span in spans for time in times))


def _form(candidate: Candidate) -> float:
    """A fact was found worth writing down; a heading or front matter says little by itself."""
    return 1.1 if candidate.role == "fact" else 0.6 if candidate.role in ("heading", "rest") else 1.0


class Ranked(NamedTuple):
    """A candidate with its final score and the twins that it stands for."""

    candidate: Candidate
    score: float
    factors: Factors
    twins: tuple[Candidate, ...] = ()

    @property
    def key(self) -> tuple[bool, float, int, tuple[str, int]]:
        """Sorts best first: originals before copies, higher score, then newer, then by place."""
        day = self.candidate.day
        return self.candidate.copy, -round(self.score, 9), -(day.toordinal() if day else 0), self.candidate.place


def order(
    candidates: Iterable[Candidate],
    times: Sequence[Period],
    asks_name: bool,
    today: date,
    replaced: Mapping[int, int],
    over: Iterable[int] = (),
) -> list[Ranked]:
    """Candidates best first, exact twins as one (the newest stands for all), what was replaced just below its replacement.

    `replaced` maps an entry to what replaced it; `over` are entries whose time has passed: they weigh a quarter less.
    """
    groups: dict[int, list[Candidate]] = {}
    for candidate in candidates:
        groups.setdefault(candidate.content_key, []).append(candidate)
    ended = set(over) | set(replaced)
    ranked = [_rank(group, times, asks_name, today, ended) for group in groups.values()]
    return _sink({r.candidate.id: r for r in ranked}, replaced)


def _rank(group: list[Candidate], times: Sequence[Period], asks_name: bool, today: date, ended: set[int]) -> Ranked:
    if len(group) > 1:
        group = sorted(group, key=lambda c: (c.copy, c.id in ended, -(c.day.toordinal() if c.day else 0), c.place))
    first, *rest = group
    bent = factors(first, times, len({c.day for c in group if not c.copy}), asks_name, today)
    bent = bent._replace(standing=_ENDED) if first.id in ended else bent
    relevance = max([c.relevance for c in group])
    return Ranked(first, relevance * bent.product, bent, tuple(rest))


def _sink(ranked: dict[int, Ranked], replaced: Mapping[int, int]) -> list[Ranked]:
    """Best first, each after what replaced it: the newer one takes the better of both places, and its score."""
    stands_for = {twin.id: r.candidate.id for r in ranked.values() for twin in r.twins}
    newer = {old: stands_for.get(new, new) for old, new in replaced.items()}
    done: dict[int, Ranked] = {}
    for best in sorted(ranked.values(), key=lambda r: r.key):
        chain = [best.candidate.id]
        while (by := newer.get(chain[-1])) is not None and by in ranked and by not in done and by not in chain:
            chain.append(by)
        for i in reversed(chain):
            own = ranked[i]
            done.setdefault(i, own if own.score >= best.score else own._replace(score=best.score))
    return list(done.values())
