"""The walk over shared names: a graph worked by hand, and what holds for every graph."""

from __future__ import annotations

import math
from random import Random

import pytest
from hypothesis import given, strategies as st

from memctl.recall.related import Graph, hub_limit, in_turn, reach

# 1 –a– 2 –b– 3 –c– 4, and 5 beside 2 on a.
CHAIN = Graph({1: ["a"], 2: ["a", "b"], 3: ["b", "c"], 4: ["c"], 5: ["a"]}, {"a": 3, "b": 2, "c": 2}, 5)


def test_a_step_by_hand() -> None:
    """From line 1 all of it comes to `a`, which stands on three lines; from 2 on it parts by how rare the names are."""
    found = {each.line: each.score for each in reach(CHAIN, {1: 2.0}, 3)}
    a, b = math.log(1 + 5 / 3), math.log(1 + 5 / 2)
    assert found == pytest.approx({2: 1 / 3, 5: 1 / 3, 3: 1 / 3 * b / (a + b) / 2})


def test_the_way_and_the_hops() -> None:
    """Each line with the way to it; the seed is the first hop, and what lies farther than asked is not there."""
    ways = {each.line: (each.hops, each.path) for each in reach(CHAIN, {1: 1.0}, 3)}
    assert ways == {2: (2, (1, "a", 2)), 5: (2, (1, "a", 5)), 3: (3, (1, "a", 2, "b", 3))}
    assert {each.line for each in reach(CHAIN, {1: 1.0}, 2)} == {2, 5}


def test_the_better_seed_and_the_rarer_name_come_first() -> None:
    """Mass follows the score of the hit, and prefers the name that stands on fewer lines."""
    graph = Graph(
        {1: ["rare", "common"], 2: ["other"], 10: ["rare"], 11: ["common"], 12: ["other"]},
        {"rare": 2, "common": 40, "other": 2},
        100,
    )
    assert reach(graph, {1: 1.0, 2: 0.1}, 2)[0].line == 10
    assert reach(graph, {1: 0.1, 2: 1.0}, 2)[0].line == 12


def test_of_two_ways_the_likelier_is_told() -> None:
    """A line that two hits lead to names the way on which more of the walk came."""
    graph = Graph({1: ["a"], 2: ["b"], 3: ["a", "b"]}, {"a": 2, "b": 2}, 9)
    assert reach(graph, {1: 1.0, 2: 3.0}, 2)[0].path == (2, "b", 3)


def test_a_hub_leads_nowhere() -> None:
    """A name on more than 50 lines, or 5 % of them where that is more, is walked through by nobody."""
    assert (hub_limit(10), hub_limit(1000), hub_limit(10_000)) == (50, 50, 500)
    for borne, found in ((50, 1), (51, 0)):
        assert len(reach(Graph({1: ["x"], 2: ["x"]}, {"x": borne}, 400), {1: 1.0}, 2)) == found


def test_nothing_to_start_from() -> None:
    """No seeds, seeds that are not in the graph or weigh nothing: nothing is found."""
    for seeds in ({}, {99: 1.0}, {1: 0.0}):
        assert reach(CHAIN, seeds, 3) == []


def test_turns() -> None:
    """Three of five places for the nearer; where one list ends, the other goes on."""
    assert in_turn([1, 2, 3, 4, 5, 6], [-1, -2, -3]) == [1, 2, -1, 3, -2, 4, 5, -3, 6]
    assert in_turn([], [-1, -2]) == [-1, -2] and in_turn([1], []) == [1] and in_turn([], []) == []


@st.composite
def graphs(draw: st.DrawFn) -> tuple[Graph, dict[int, float]]:
    """Small graphs, some of whose names stand on more lines than are seen."""
    names = st.lists(st.sampled_from("abcdefgh"), max_size=4, unique=True)
    lines = draw(st.dictionaries(st.integers(0, 40), names, max_size=25))
    borne = {name: draw(st.integers(0, 60)) for name in "abcdefgh"}
    seeds = draw(st.dictionaries(st.sampled_from(sorted(lines) or [0]), st.floats(0.01, 10), max_size=5))
    return Graph(lines, borne, draw(st.integers(1, 2000))), seeds


@given(graphs(), st.integers(2, 3), st.randoms(use_true_random=False))
def test_order_of_telling_does_not_matter(made: tuple[Graph, dict[int, float]], hops: int, random: Random) -> None:
    """Lines, names and seeds may come in any order."""
    graph, seeds = made
    lines = [(line, random.sample(list(names), len(names))) for line, names in graph.lines.items()]
    random.shuffle(lines)
    borne = random.sample(list(graph.document_frequency.items()), len(graph.document_frequency))
    turned = dict(random.sample(list(seeds.items()), len(seeds)))
    assert reach(Graph(dict(lines), dict(borne), graph.total), turned, hops) == reach(graph, seeds, hops)


@given(graphs(), st.integers(2, 3))
def test_every_way_is_one(made: tuple[Graph, dict[int, float]], hops: int) -> None:
    """A way begins at a seed, ends at its line, visits none twice, and each name on it stands on both sides; no hub does."""
    graph, seeds = made
    limit = hub_limit(graph.total)
    for each in reach(graph, seeds, hops):
        lines, names = each.path[::2], each.path[1::2]
        assert lines[0] in seeds and lines[-1] == each.line and each.line not in seeds
        assert each.hops == len(lines) <= hops and len(set(lines)) == len(lines)
        for at, name in enumerate(names):
            assert name in graph.lines[int(lines[at])] and name in graph.lines[int(lines[at + 1])]
            assert graph.document_frequency[str(name)] <= limit
