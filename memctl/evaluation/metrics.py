"""Retrieval metrics, each named in full, with bootstrap intervals and paired tests. Pure: chance is an argument.

A ranking is judged by the ranks of its gold items alone: the 1-based place of the first hit that covers an item, None
where no hit does. Per question, over its gold items:

    recall_any@k   1 if at least one is in the top k, else 0      (most "R@5" claims)
    recall_all@k   1 if every one is in the top k, else 0         (the LongMemEval figure)
    recall@k       the share of them in the top k                 (fractional: any >= fractional >= all)
    ndcg@10        their discounts 1/log2(rank + 1) in the top 10, over those of an ideal ranking of all gold items
    mrr@10         1 / the best of the ranks, 0 beyond the top 10

A figure is the plain mean over questions.
"""

import math
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

from ..facts import Citation

Ranks = tuple[int | None, ...]
DEEP = 10  # the depth of NDCG and MRR
RESAMPLES = 2_000
_FLIPS = 10_000
_EXACT = 12  # as few differences as this are flipped in all ways
_UNIT = 1 << 30  # figures are added up as whole numbers of this


class Chance(Protocol):
    """What random.Random offers; the caller seeds it."""

    def choices(self, population: Sequence[int], *, k: int) -> list[int]: ...

    def getrandbits(self, k: int, /) -> int: ...


class Interval(NamedTuple):
    """A mean, and the middle 95 % of the means of resampled questions (percentile bootstrap)."""

    mean: float
    low: float
    high: float


class Difference(NamedTuple):
    """By how much the second of two configurations is better over the same questions, and of how many it is."""

    mean: float
    low: float
    high: float
    # Two-sided, of a sign-flip (paired permutation) test of the mean: exact up to 12 differences, else 10,000 flips.
    p: float
    better: int
    worse: int
    same: int


def overlap(one: Citation, other: Citation) -> bool:
    """True when two citations share a line: gold `#L12` is found by a hit that cites `#L12-L14`, and the reverse."""
    return one.path == other.path and one.line <= other.end_line and other.line <= one.end_line


def place_ranks(gold: Sequence[Collection[Citation]], hits: Sequence[Collection[Citation]]) -> Ranks:
    """The rank of each gold item, given as the places where it stands, among hits, given as the places that they cite."""
    return tuple(
        next((n for n, cited in enumerate(hits, 1) if any(overlap(p, c) for p in places for c in cited)), None)
        for places in gold
    )


def rank_in(gold: Iterable[Hashable], found: Iterable[Hashable]) -> Ranks:
    """The rank of each gold item among things that are equal or not, such as sessions."""
    places: dict[Hashable, int] = {}
    for number, item in enumerate(found, 1):
        places.setdefault(item, number)
    return tuple(places.get(item) for item in gold)


def measure(ranks: Ranks, depths: Iterable[int]) -> dict[str, float]:
    """Every metric of one question with at least one gold item, from 0 to 1."""
    top = sorted(rank for rank in ranks if rank is not None and rank <= DEEP)
    gain = math.fsum(1 / math.log2(rank + 1) for rank in top)
    ideal = math.fsum(1 / math.log2(n + 1) for n in range(1, min(len(ranks), DEEP) + 1))
    found = {k: sum(rank is not None and rank <= k for rank in ranks) for k in depths}
    made = {f"recall_any@{k}": float(count > 0) for k, count in found.items()}
    made |= {f"recall_all@{k}": float(count == len(ranks)) for k, count in found.items()}
    made |= {f"recall@{k}": count / len(ranks) for k, count in found.items()}
    # One hit may cover several gold items at one rank, which no ideal ranking of single items does: hence the cap.
    return made | {f"ndcg@{DEEP}": min(1.0, gain / ideal), f"mrr@{DEEP}": 1 / top[0] if top else 0.0}


def intervals(rows: Sequence[Mapping[str, float]], chance: Chance) -> dict[str, Interval]:
    """The mean of every figure, each from 0 to 1, over questions, with its interval.

    All figures are resampled together: a question is one whole number that holds each of its figures in a field of its
    own, so 2,000 resamples of 1,000 questions and 30 figures take half a second, and are the same questions for all.
    """
    keys = list(rows[0])
    width = 31 + len(rows).bit_length()
    packed = [sum(round(row[key] * _UNIT) << (n * width) for n, key in enumerate(keys)) for row in rows]
    drawn = [sum(chance.choices(packed, k=len(rows))) for _ in range(RESAMPLES)]
    mask = (1 << width) - 1
    sums = [sorted(number >> (place * width) & mask for number in drawn) for place in range(len(keys))]
    tail = RESAMPLES // 40  # the 2.5th and the 97.5th percentile
    scale = _UNIT * len(rows)
    return {
        key: Interval(math.fsum(row[key] for row in rows) / len(rows), column[tail] / scale, column[-1 - tail] / scale)
        for key, column in zip(keys, sums, strict=True)
    }


def compare(
    first: Sequence[Mapping[str, float]], second: Sequence[Mapping[str, float]], chance: Chance
) -> dict[str, Difference]:
    """What the second configuration changes, by metric; both are measured on the same questions in the same order."""
    rows = [{key: b[key] - a[key] for key in a} for a, b in zip(first, second, strict=True)]
    halved = [{key: (1 + value) / 2 for key, value in row.items()} for row in rows]  # from 0 to 1, as figures are
    spans = intervals(halved, chance)
    p = {key: _chance_of([round(row[key] * _UNIT) for row in rows if row[key]], chance) for key in rows[0]}
    made = {}
    for key, span in spans.items():
        changes = [row[key] for row in rows]
        better, worse = sum(change > 0 for change in changes), sum(change < 0 for change in changes)
        mean, same = math.fsum(changes) / len(rows), len(rows) - better - worse
        made[key] = Difference(mean, 2 * span.low - 1, 2 * span.high - 1, p[key], better, worse, same)
    return made


def _chance_of(differences: Sequence[int], chance: Chance) -> float:
    count = len(differences)
    least = abs(sum(differences)) - count  # rounding: one unit each
    if count <= _EXACT:
        sums = [0]
        for value in differences:
            sums = [total + sign * value for total in sums for sign in (1, -1)]
        return sum(abs(total) >= least for total in sums) / len(sums)
    # Of equal differences only the number of flipped ones counts: that many of so many random bits.
    sizes = Counter(map(abs, differences)).items()
    flips = (sum(size * (2 * chance.getrandbits(n).bit_count() - n) for size, n in sizes) for _ in range(_FLIPS))
    return (sum(abs(flip) >= least for flip in flips) + 1) / (_FLIPS + 1)
