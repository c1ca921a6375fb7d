"""From what each search says to one order, without looking anything up.

Words and vectors become one relevance. The cosine of two vectors says little by itself: all texts of a store are somewhat
alike. So it is taken in standard deviations from what the vectors of the store usually have, of each script by itself
(lines in the language of a question stand nearer to it than the answer in another), and added to what the words say. A
line that only one of the two can know is not punished for the other: words say nothing about a line in another script, and
a line without a vector gets what lines with as many words have here. The constants were settled on development
conversations of LoCoMo and BEAM and on XQuAD together; a fifth more or less of any of them moves recall@10 by at most 1.3
points (docs/retrieval.md, with what did not help).

Then bounded factors adjust the relevance, exact twins become one, and what was replaced goes below what replaced it.
"""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import date
from types import MappingProxyType
from typing import Any, NamedTuple

from ..facts import HALF_LIFE_DAYS, Kind, Period, grouped
from ..index.lexical import page_of


class Score(NamedTuple):
    """How relevant an entry is (0 to 1), its rank in each search, and the parts that explain it."""

    relevance: float
    why: dict[str, int]
    parts: Mapping[str, Any]


WEIGHT = 0.15
"""What one standard deviation of the cosine is worth, where 1 is a line with all words of the question."""
BESIDE = {1: 0.1, 2: 0.2}
"""What the line n away counts: it has the same matter. Two away weighs more, the line before stands in the vector itself."""

_FOREIGN = 0.025  # a deviation of a line in another script, for the words that it cannot share
_PAGE = 0.2  # a page counts by its best line
_ABOVE = 1.25  # a line with the very identifier stands so far above those without, whatever the factors do
_USUAL_SLOPE = 4.0  # deviations that a line with all words has,
_USUAL_LINES = 0.25  # and the weight of that where few lines tell
_PLACE_OF_BEST_BY_WORDS = 5  # the best line by words stands there or higher
_PRIOR = 10  # vectors with mean 0 that are thought to be in every store, so that one of three lines has a score too,
_PRIOR_SD = 0.1  # and their deviation: what e5's cosines have once they are centred
_MOST_DEVIATIONS = 8.0  # an exact copy among a hundred thousand has no more worth


class UsualCosines(NamedTuple):
    """What the vectors of a store usually have with a question: mean and deviation of `n` cosines.

    `scripts` holds the mean of those of each script and how many were looked at, where there is more than one.
    """

    mean: float
    sd: float
    n: int
    scripts: Mapping[int, tuple[float, int]] = MappingProxyType({})


def standard(cosines: Mapping[int, float], usual: UsualCosines, scripts: Mapping[int, int]) -> dict[int, float]:
    """Row -> how many deviations its cosine lies above what is usual for its script (`scripts`: row -> script)."""
    # A mean of few is drawn towards zero.
    means = {script: mean * n / (n + _PRIOR) for script, (mean, n) in usual.scripts.items()}
    overall = usual.mean * usual.n / (usual.n + _PRIOR)
    between = 0.0
    if looked := sum(n for _, n in usual.scripts.values()):
        between = sum(n * (mean - usual.mean) ** 2 for mean, n in usual.scripts.values()) / looked
    within = max(usual.sd**2 - between, 0.0)
    sd = math.sqrt((usual.n * within + _PRIOR * _PRIOR_SD**2) / (usual.n + _PRIOR))
    above = {row: (cosine - means.get(scripts.get(row, 0), overall)) / sd for row, cosine in cosines.items()}
    return {row: min(deviations, _MOST_DEVIATIONS) for row, deviations in above.items()}


def smoothed(near: Mapping[int, float]) -> dict[int, float]:
    """Row -> its nearness and in part that of the rows beside it; rows are numbered so that `row ± 1` stand beside it."""
    steps = [(side * step, share) for step, share in BESIDE.items() for side in (-1, 1)]
    found: dict[int, float] = {}
    for row, value in near.items():
        total, weight = value, 1.0
        for step, share in steps:
            if (other := near.get(row + step)) is not None:
                total += share * other
                weight += share
        found[row] = total / weight
    return found


def fuse(
    words: Mapping[int, float], near: Mapping[int, float], foreign: Collection[int] = (), weight: float = 1.0,
    exact: Mapping[int, int] = MappingProxyType({}),
) -> dict[int, float]:  # fmt: skip
    """The relevance from 0 to 1 of every row of `words` (0 to 1) and `near` (deviations); `foreign` rows are of another script.

    `exact` is row -> how many of the things that must be met to the letter it holds: more of them stand above fewer.
    Never falls where either part grows. Without any nearness, or with a `weight` of 0, relevance is what the words say.
    """
    if not near or weight <= 0:
        return dict(words)
    worth = WEIGHT * weight
    expected = _nearness_with_all_words(words, near)
    sums: dict[int, float] = {}
    best_of_page: dict[int, float] = {}
    for row in words.keys() | near.keys():
        by_words, nearness = words.get(row, 0.0), max(near.get(row, 0.0), 0.0)
        if row not in near:
            nearness = expected * by_words
        elif row in foreign:
            by_words = max(by_words, _FOREIGN * nearness)
        sums[row] = by_words + worth * nearness
        page = page_of(row)
        best_of_page[page] = max(best_of_page.get(page, 0.0), sums[row])
    highest = (1 + worth * _MOST_DEVIATIONS) * (1 + _PAGE)
    relevance = {row: (own + _PAGE * best_of_page[page_of(row)]) / highest for row, own in sums.items()}
    _raise_best_by_words(relevance, words)
    _raise_exact(relevance, exact)
    return relevance


def _raise_best_by_words(relevance: dict[int, float], words: Mapping[int, float]) -> None:
    """Let the best line by words stand among the first few: it may be the only one with a name or a number asked for."""
    best = max(words.values(), default=0.0)
    if best > 0 and len(relevance) >= _PLACE_OF_BEST_BY_WORDS:
        top = min(row for row, value in words.items() if value == best)
        least = sorted(relevance.values(), reverse=True)[_PLACE_OF_BEST_BY_WORDS - 1]
        if relevance[top] < least:
            relevance[top] = least * (1 + 1e-6)


def _raise_exact(relevance: dict[int, float], exact: Mapping[int, int]) -> None:
    """Put the rows that hold more to the letter above the others, in their own order."""
    for level in sorted(set(exact.values()) - {0}):
        floor = _ABOVE * max((value for row, value in relevance.items() if exact.get(row, 0) < level), default=0.0)
        for row, value in relevance.items():
            if exact.get(row, 0) == level and value < floor:
                relevance[row] = min(floor * (1 + 0.01 * value), 1.0)


def _nearness_with_all_words(words: Mapping[int, float], near: Mapping[int, float]) -> float:
    """How many deviations a line with all words has here: the slope of a line through zero, by the lines that have both."""
    both = [(by_words, max(near[row], 0.0)) for row, by_words in words.items() if by_words > 0 and row in near]
    squares = sum(by_words * by_words for by_words, _ in both) + _USUAL_LINES
    products = sum(by_words * nearness for by_words, nearness in both) + _USUAL_LINES * _USUAL_SLOPE
    return min(products / squares, _MOST_DEVIATIONS)


ENDED = 0.75  # what was replaced, or whose time has passed, beside the other candidates
# A fact was found worth writing down; a heading and front matter say little by themselves.
_FORMS = {"fact": 1.1, "heading": 0.6, "rest": 0.6}


class Candidate(NamedTuple):
    """An entry to be ranked; `relevance` is what the searches say, not negative."""

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
    outside: bool = False  # not trusted: never stands for a twin that is

    @property
    def age(self) -> int:
        """Less for what is newer."""
        return -self.day.toordinal() if self.day else 0


class Factors(NamedTuple):
    """What a relevance is multiplied with, each a number around 1; `--explain` prints them."""

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
    """The factors of a candidate: each changes a score by a tenth at most, proof by a twentieth, the time asked for by two fifths.

    `days_told` is on how many days the same was written, `times` what the question says about when.
    """
    day, valid = candidate.day, candidate.valid
    spans = [Period(day, day)] if times and day else []
    spans += [valid] if times and (valid.last or valid.first != day) else []
    proof = min(1.0, 0.5 + math.log(max(1, days_told)) / 10)
    return Factors(
        recency=_around_one(0.2, recency(candidate.kind, day, today)),
        time=_around_one(0.8, float(any(span.meets(time) for span in spans for time in times))) if times else 1.0,
        proof=_around_one(0.1, proof),
        importance=_around_one(0.2, 0.5 if candidate.importance is None else candidate.importance),
        entity=_around_one(0.2, float(candidate.named)) if asks_name else 1.0,
        form=_FORMS.get(candidate.role, 1.0),
    )


def _around_one(width: float, value: float) -> float:
    return 1 + width * (value - 0.5)


class Ranked(NamedTuple):
    """A candidate with its final score and the twins that it stands for."""

    candidate: Candidate
    score: float
    factors: Factors
    twins: tuple[Candidate, ...] = ()

    @property
    def key(self) -> tuple[bool, float, int, tuple[str, int]]:
        """Sorts best first: originals before copies, higher score, then newer, then by place."""
        return self.candidate.copy, -round(self.score, 9), self.candidate.age, self.candidate.place


def order(
    candidates: Iterable[Candidate], times: Sequence[Period], asks_name: bool, today: date,
    replaced: Mapping[int, int], over: Iterable[int] = (), perhaps: Mapping[int, int] = MappingProxyType({}),
) -> list[Ranked]:  # fmt: skip
    """Candidates best first, exact twins as one (the newest stands for all), what was replaced just below its replacement.

    `replaced` maps an entry to what replaced it; `over` are entries whose time has passed: they weigh a quarter less.
    `perhaps` maps one to what may have replaced it: it stands below that, and weighs the same.
    """
    groups = grouped((candidate.content_key, candidate) for candidate in candidates)
    ended = set(over) | set(replaced)
    ranked: dict[int, Ranked] = {}
    for group in groups.values():
        if len(group) > 1:  # most stand alone
            group.sort(key=lambda c: (c.copy, c.outside, c.id in ended, c.age, c.place))
        first, *rest = group
        adjusted = factors(first, times, len({c.day for c in group if not c.copy}), asks_name, today)
        adjusted = adjusted._replace(standing=ENDED) if first.id in ended else adjusted
        relevance = max(c.relevance for c in group)
        ranked[first.id] = Ranked(first, relevance * adjusted.product, adjusted, tuple(rest))
    return _below_replacements(ranked, {**perhaps, **replaced})


def _below_replacements(ranked: dict[int, Ranked], replaced: Mapping[int, int]) -> list[Ranked]:
    """Best first, each after what replaced it: the newer one takes the better of both places, and its score."""
    first_of_twin = {twin.id: place.candidate.id for place in ranked.values() for twin in place.twins}
    newer = {old: first_of_twin.get(new, new) for old, new in replaced.items()}
    placed: dict[int, Ranked] = {}
    for best in sorted(ranked.values(), key=lambda place: place.key):
        chain = [best.candidate.id]  # each before what replaced it
        following = newer.get(chain[0], chain[0])
        while following in ranked and following not in placed and following not in chain:
            chain.append(following)
            following = newer.get(following, following)
        for i in reversed(chain):
            own = ranked[i]
            placed.setdefault(i, own if own.score >= best.score else own._replace(score=best.score))
    return list(placed.values())
