"""Words and meaning as one relevance.

Meaning is the cosine of two vectors, which says little by itself: all texts of a store are somewhat alike. So it is taken
in standard deviations from what the vectors of the store usually have, of each script by itself (lines in the language of
a question stand nearer to it than the answer in another), and added to what the words say. A line that only one of the
two can know is not punished for the other: words say nothing about a line in another script, and a line without a vector
gets what lines with as many words have here.

The constants were settled on development conversations of LoCoMo and BEAM and on XQuAD together; a fifth more or less of
any of them moves recall@10 by at most 1.3 points (docs/retrieval.md, with what did not help).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from math import sqrt
from types import MappingProxyType
from typing import NamedTuple

from ..index.lexical import ORDINAL_BITS

__all__ = ["BESIDE", "WEIGHT", "Fused", "Usual", "fuse", "smoothed", "standard"]

WEIGHT = 0.15
"""What one standard deviation of the cosine is worth, where 1 is a line with all words of the question."""
BESIDE = {1: 0.1, 2: 0.2}
"""What the line n away counts: it has the same matter. Two away weighs more, the line before stands in the vector itself."""

_FOREIGN = 0.025  # a deviation of a line in another script, for the words that it cannot share
_PAGE = 0.2  # a page counts by its best line
_ABOVE = 1.25  # a line with the very identifier stands so far above those without, whatever bends scores later
_USUAL_SLOPE, _USUAL_LINES = (
    4.0,
    0.25,
)  # deviations a line with all words has, and how much weight that is given where few tell
_HELD = 5  # the place at which, or before which, the best line by words stands
_PRIOR = 10  # vectors with mean 0 that are thought to be in every store, so that one of three lines has a score too,
_PRIOR_SD = 0.1  # and their deviation: what e5's cosines have once they are centred
_MOST = 8.0  # deviations: an exact copy among a hundred thousand has no more worth


class Usual(NamedTuple):
    """What the vectors of a store usually have with a question: mean and deviation of `n` cosines.

    `scripts` holds the mean of those of each script and how many were looked at, where there is more than one.
    """

    mean: float
    sd: float
    n: int
    scripts: Mapping[int, tuple[float, int]] = MappingProxyType({})


class Fused(NamedTuple):
    """A relevance from 0 to 1 and its parts: what the words gave, and how near the line is in deviations (None: no vector)."""

    relevance: float
    words: float
    near: float | None


def standard(cosines: Mapping[int, float], usual: Usual, scripts: Mapping[int, int]) -> dict[int, float]:
    """Row -> how many deviations its cosine lies above what is usual for its script (`scripts`: row -> script)."""
    overall = _drawn(usual.mean, usual.n)
    means = {script: _drawn(*found) for script, found in usual.scripts.items()}
    between = 0.0
    if looked := sum(n for _, n in usual.scripts.values()):
        between = sum(n * (mean - usual.mean) ** 2 for mean, n in usual.scripts.values()) / looked
    within = max(usual.sd**2 - between, 0.0)
    sd = sqrt((usual.n * within + _PRIOR * _PRIOR_SD**2) / (usual.n + _PRIOR))
    return {row: min((cosine - means.get(scripts.get(row, 0), overall)) / sd, _MOST) for row, cosine in cosines.items()}


def _drawn(mean: float, n: int) -> float:
    """A mean of few is drawn towards zero."""
    return mean * n / (n + _PRIOR)


def smoothed(near: Mapping[int, float]) -> dict[int, float]:
    """Row -> its nearness and in part that of the rows beside it; rows are numbered so that `row ± 1` stand beside it."""
    steps = [(side * step, share) for step, share in BESIDE.items() for side in (-1, 1)]
    found: dict[int, float] = {}
    for row, value in near.items():
        total, weight = value, 1.0
        for step, share in steps:
            other = near.get(row + step)
            if other is not None:
                total += share * other
                weight += share
        found[row] = total / weight
    return found


def fuse(
    words: Mapping[int, float],
    near: Mapping[int, float],
    foreign: Collection[int] = (),
    weight: float = 1.0,
    exact: Mapping[int, int] = MappingProxyType({}),
) -> dict[int, Fused]:
    """Every row of `words` (0 to 1) and of `near` (deviations) with its relevance; `foreign` rows stand in another script.

    `exact` is row -> how many of the things that must be met to the letter it holds: more of them stand above fewer.
    Never falls where either part grows. Without any nearness, or with a `weight` of 0, relevance is what the words say.
    """
    if not near or weight <= 0:
        return {row: Fused(value, value, near.get(row)) for row, value in words.items()}
    worth = WEIGHT * weight
    slope = _slope(words, near)
    plain: dict[int, float] = {}
    best: dict[int, float] = {}
    for row in words.keys() | near.keys():
        said, value = words.get(row, 0.0), max(near.get(row, 0.0), 0.0)
        if row not in near:
            value = slope * said
        elif row in foreign:
            said = max(said, _FOREIGN * value)
        plain[row] = said + worth * value
        page = row >> ORDINAL_BITS
        best[page] = max(best.get(page, 0.0), plain[row])
    whole = (1 + worth * _MOST) * (1 + _PAGE)
    relevance = {row: (value + _PAGE * best[row >> ORDINAL_BITS]) / whole for row, value in plain.items()}
    _hold(relevance, words)
    _lift(relevance, exact)
    return {row: Fused(relevance[row], words.get(row, 0.0), near.get(row)) for row in sorted(relevance)}


def _hold(relevance: dict[int, float], words: Mapping[int, float]) -> None:
    """Let the best line by words stand among the first few: it may be the only one with a name or a number asked for."""
    said = max(words.values(), default=0.0)
    if said > 0 and len(relevance) >= _HELD:
        top = min(row for row, value in words.items() if value == said)
        last = sorted(relevance.values(), reverse=True)[_HELD - 1]
        if relevance[top] < last:
            relevance[top] = last * (1 + 1e-6)


def _lift(relevance: dict[int, float], exact: Mapping[int, int]) -> None:
    """Put the rows that hold more to the letter above the others, in their own order."""
    for level in sorted(set(exact.values()) - {0}):
        floor = _ABOVE * max((value for row, value in relevance.items() if exact.get(row, 0) < level), default=0.0)
        for row, value in relevance.items():
            if exact.get(row, 0) == level and value < floor:
                relevance[row] = min(floor * (1 + 0.01 * value), 1.0)


def _slope(words: Mapping[int, float], near: Mapping[int, float]) -> float:
    """How near lines are for what their words say, over those that have both."""
    both = [(said, max(near[row], 0.0)) for row, said in words.items() if said > 0 and row in near]
    squares = sum(said * said for said, _ in both) + _USUAL_LINES
    return min((sum(said * value for said, value in both) + _USUAL_LINES * _USUAL_SLOPE) / squares, _MOST)
