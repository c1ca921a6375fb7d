"""evaluation/metrics.py: worked examples by hand, and what must hold for every ranking."""

from __future__ import annotations

import math
import random
from itertools import product

import pytest
from hypothesis import given, strategies as st

from memctl.evaluation.metrics import RESAMPLES, Ranks, compare, intervals, measure, overlap, place_ranks, rank_in
from memctl.facts import Citation

DEPTHS = (1, 5, 10)


def cite(text: str) -> Citation:
    """A citation from its spelling."""
    found = Citation.parse(text)
    assert found
    return found


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("a.md#L12", "a.md#L12", True),
        ("a.md#L12", "a.md#L12-L14", True),  # a line inside a hit of three
        ("a.md#L12-L14", "a.md#L14-L20", True),  # one line in common is enough
        ("a.md#L12-L14", "a.md#L15", False),
        ("a.md#L12", "b.md#L12", False),
    ],
)
def test_citations_that_share_a_line_overlap(one: str, other: str, expected: bool) -> None:
    """And the other way round."""
    assert overlap(cite(one), cite(other)) is overlap(cite(other), cite(one)) is expected


def test_the_rank_of_gold_is_that_of_the_first_hit_that_covers_it() -> None:
    """A gold item may stand in several places, a hit may cite several lines, and one hit may cover two items."""
    hits = [[cite("a.md#L1")], [cite("a.md#L7-L9"), cite("b.md#L2")], [cite("a.md#L8")]]
    gold = [[cite("a.md#L8")], [cite("b.md#L2")], [cite("c.md#L1"), cite("a.md#L1")], [cite("c.md#L1")]]
    assert place_ranks(gold, hits) == (2, 2, 1, None)


def test_sessions_rank_where_their_best_line_ranks() -> None:
    """The first time that a name comes counts."""
    assert rank_in(["s2", "s9", "s1"], ["s1", "s2", "s1", "s3"]) == (2, None, 1)


def test_two_of_three_gold_lines_at_ranks_2_and_7() -> None:
    """any@1 0, any@5 1, all@10 0, recall@5 1/3, recall@10 2/3; NDCG by hand; MRR 1/2."""
    found = measure((7, None, 2), DEPTHS)
    shares = [f"{name}@{k}" for name in ("recall_any", "recall_all", "recall") for k in DEPTHS]
    assert list(found) == [*shares, "ndcg@10", "mrr@10"]
    assert (found["recall_any@1"], found["recall_any@5"], found["recall_any@10"]) == (0, 1, 1)
    assert (found["recall_all@1"], found["recall_all@5"], found["recall_all@10"]) == (0, 0, 0)
    assert (found["recall@1"], found["recall@5"], found["recall@10"]) == pytest.approx((0, 1 / 3, 2 / 3))
    ideal = 1 + 1 / math.log2(3) + 1 / 2
    assert found["ndcg@10"] == pytest.approx((1 / math.log2(3) + 1 / 3) / ideal)  # log2(8) is 3
    assert found["mrr@10"] == 0.5


def test_the_ideal_counts_all_gold() -> None:
    """One of four found at rank 1 is not a perfect ranking, and twelve gold items cannot ask for twelve places of ten."""
    assert measure((1, None, None, None), DEPTHS)["ndcg@10"] == pytest.approx(
        1 / (1 + 1 / math.log2(3) + 1 / 2 + 1 / math.log2(5))
    )
    assert measure(tuple(range(1, 13)), DEPTHS)["ndcg@10"] == 1.0


def test_beyond_the_depth_is_not_found() -> None:
    """Rank 11 is a miss at 10, for MRR and NDCG too, and a hit at 20."""
    found = measure((11,), (10, 20))
    assert found == {
        "recall_any@10": 0, "recall_any@20": 1, "recall_all@10": 0, "recall_all@20": 1, "recall@10": 0, "recall@20": 1,
        "ndcg@10": 0, "mrr@10": 0,
    }  # fmt: skip


RANKS = st.lists(st.none() | st.integers(1, 30), min_size=1, max_size=12).map(tuple)


@given(RANKS)
def test_bounds(ranks: Ranks) -> None:
    """all <= fractional <= any at every depth, deeper is never less, and everything lies between 0 and 1."""
    found = measure(ranks, (1, 3, 10, 20))
    assert all(0 <= value <= 1 for value in found.values())
    for k in (1, 3, 10, 20):
        assert found[f"recall_all@{k}"] <= found[f"recall@{k}"] <= found[f"recall_any@{k}"]
    for kind, (less, more) in product(("recall_any", "recall_all", "recall"), ((1, 3), (3, 10), (10, 20))):
        assert found[f"{kind}@{less}"] <= found[f"{kind}@{more}"]
    assert (found["mrr@10"] > 0) == (found["ndcg@10"] > 0) == (found["recall_any@10"] > 0)
    assert found["recall_any@1"] == (found["mrr@10"] == 1)


@given(RANKS, st.randoms(use_true_random=False))
def test_the_order_of_gold_does_not_matter(ranks: Ranks, chance: random.Random) -> None:
    """Gold is a set."""
    shuffled = list(ranks)
    chance.shuffle(shuffled)
    assert measure(tuple(shuffled), DEPTHS) == pytest.approx(measure(ranks, DEPTHS))


@given(st.permutations([1, 2, 3, 4, 5, 6]), st.integers(0, 5))
def test_a_hit_that_moves_up_never_costs(places: list[int], moved: int) -> None:
    """One gold item of three is put one rank higher, where no gold stands."""
    ranks = sorted(place * 2 for place in places[:3])
    better = [rank - 1 if number == moved % 3 else rank for number, rank in enumerate(ranks)]
    before, after = measure(tuple(ranks), DEPTHS), measure(tuple(better), DEPTHS)
    assert all(after[name] >= before[name] for name in before)


def rows(values: list[float]) -> list[dict[str, float]]:
    """One figure a question."""
    return [{"x": value} for value in values]


def test_the_interval_is_that_of_a_plain_bootstrap() -> None:
    """The packed sums give what resampling one figure by hand gives, draw by draw."""
    values = [0.0, 1.0, 1 / 3, 0.5, 1.0, 0.0, 2 / 3]
    found = intervals([{"a": value, "b": 1 - value} for value in values], random.Random(7))
    chance = random.Random(7)
    means = sorted(sum(chance.choices(values, k=7)) / 7 for _ in range(RESAMPLES))
    assert (found["a"].low, found["a"].high) == pytest.approx((means[50], means[-51]), abs=1e-8)
    assert found["b"].low == pytest.approx(1 - found["a"].high, abs=1e-8)
    assert found["a"].mean == pytest.approx(sum(values) / 7)


def test_the_same_seed_gives_the_same_interval() -> None:
    """A figure that is printed twice is the same figure."""
    values = [0.1, 0.9, 0.4, 0.4]
    assert intervals(rows(values), random.Random(7)) == intervals(rows(values), random.Random(7))


def test_the_exact_test_counts_all_flips() -> None:
    """Five better, none worse: 2 of 32 ways are as far from 0. One of each: every way is."""
    found = compare(rows([0.0] * 5 + [1.0]), rows([1.0] * 5 + [1.0]), random.Random(7))["x"]
    assert (found.p, found.better, found.worse, found.same) == (2 / 32, 5, 0, 1)
    assert found.mean == pytest.approx(5 / 6)
    even = compare(rows([0.0, 1.0]), rows([1.0, 0.0]), random.Random(7))["x"]
    assert (even.mean, even.p, even.better, even.worse) == (0, 1, 1, 1)


def test_sizes_count_as_well_as_signs() -> None:
    """+1, -1/2, +1/4: of the eight sums of +-1 +-1/2 +-1/4 the six from 3/4 on are as far as 3/4."""
    found = compare(rows([0.0, 0.5, 0.0]), rows([1.0, 0.0, 0.25]), random.Random(7))["x"]
    assert found.p == 6 / 8


def test_random_flips_agree_with_the_sign_test() -> None:
    """20 better, 6 worse: the two-sided sign test says .0094."""
    found = compare(rows([0.0] * 20 + [1.0] * 6), rows([1.0] * 20 + [0.0] * 6), random.Random(7))["x"]
    exact = 2 * sum(math.comb(26, n) for n in range(7)) / 2**26
    assert found.p == pytest.approx(exact, abs=0.004)


@given(st.lists(st.tuples(st.sampled_from([0, 0.5, 1]), st.sampled_from([0, 1 / 3, 1])), min_size=1, max_size=25))
def test_compared_the_other_way_round(pairs: list[tuple[float, float]]) -> None:
    """Better is worse, the sign changes, what is exact stays; with itself nothing changes and p is 1."""
    first, second = rows([a for a, _ in pairs]), rows([b for _, b in pairs])
    one, other = (compare(a, b, random.Random(7))["x"] for a, b in ((first, second), (second, first)))
    assert (one.better, one.worse, one.same) == (other.worse, other.better, other.same)
    assert one.mean == pytest.approx(-other.mean) and one.p == pytest.approx(other.p, abs=0.03)
    assert one.low <= one.mean + 1e-8 and one.mean - 1e-8 <= one.high and 0 < one.p <= 1
    same = compare(first, first, random.Random(7))["x"]
    assert (same.mean, same.p, same.better, same.worse) == (0, 1, 0, 0)
