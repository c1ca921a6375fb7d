"""Words and vectors as one relevance: never falls where either part grows, words alone where there are no vectors."""

from __future__ import annotations

import math

from hypothesis import given, strategies as st

from memctl.index.lexical import ORDINAL_BITS
from memctl.recall.rank import BESIDE, UsualCosines, fuse, smoothed, standard

ROWS = st.integers(0, 12)
SAID = st.dictionaries(ROWS, st.floats(0, 1), max_size=8)
NEAR = st.dictionaries(ROWS, st.floats(-4, 8), max_size=8)
NONE = UsualCosines(0.0, 0.0, 0)


@given(SAID)
def test_words_alone_stay_as_they_are(words: dict[int, float]) -> None:
    """Without vectors, and with a weight of 0, relevance is what the words say."""
    assert fuse(words, {}) == fuse(words, dict.fromkeys(words, 3.0), weight=0) == words


@given(SAID, NEAR, st.sets(ROWS), st.floats(0.1, 3))
def test_every_row_has_a_relevance_from_0_to_1(
    words: dict[int, float], near: dict[int, float], foreign: set[int], weight: float
) -> None:
    found = fuse(words, near, foreign, weight)
    assert found.keys() == words.keys() | near.keys()
    assert all(0 <= relevance <= 1 + 1e-9 for relevance in found.values())


@given(st.floats(0, 1), st.floats(0, 1), st.floats(-4, 8), st.floats(-4, 8), st.booleans())
def test_more_words_or_nearer_is_never_worse(a: float, b: float, near: float, nearer: float, foreign: bool) -> None:
    """The same row with more of either part, beside a row on another page."""
    far = 5 << ORDINAL_BITS

    def relevance(said: float, value: float) -> float:
        return fuse({0: said, far: 0.5}, {0: value, far: 1.0}, {0} if foreign else ())[0]

    assert relevance(max(a, b), near) >= relevance(min(a, b), near)
    assert relevance(a, max(near, nearer)) >= relevance(a, min(near, nearer))


def test_equal_parts_are_equal() -> None:
    """Whatever the order in which rows come."""
    words, near = dict.fromkeys(range(5), 0.3), dict.fromkeys(range(5), 2.0)
    found = fuse(dict(reversed(words.items())), near)
    assert len(set(found.values())) == 1
    assert found == fuse(words, dict(reversed(near.items())))


def test_a_line_without_a_vector_is_not_punished() -> None:
    """It stands where a line with as many words and the usual nearness stands; a line with fewer words stays below."""
    pages = [n << ORDINAL_BITS for n in range(4)]
    words = dict(zip(pages, (0.5, 0.5, 0.5, 0.2), strict=True))
    found = fuse(words, {pages[0]: 3.0, pages[1]: 1.0})
    first, second, without, fewer = (found[page] for page in pages)
    assert first > without > second > 0 and fewer < without


def test_words_may_miss_a_line_in_another_script() -> None:
    """Its nearness stands for the words that it cannot share; words it does share count where they are more."""
    page = 1 << ORDINAL_BITS
    found = fuse({}, {0: 3.0, page: 3.0}, {page})
    assert found[page] > found[0]
    said = {0: 0.6, page: 0.6}
    assert fuse(said, {0: 3.0, page: 3.0}, {page})[page] == fuse(said, {0: 3.0, page: 3.0})[page]


def test_an_exact_word_is_not_drowned() -> None:
    """A line with the only word asked for, however far it is, beside fifty that are near; among the first five at worst."""
    for said, places in ((0.57, 1), (0.1, 5)):
        near = {n << ORDINAL_BITS: 3.5 for n in range(1, 51)} | {0: -30.0}
        found = fuse({0: said}, near)
        ranked = sorted(found, key=lambda row: -found[row])
        assert ranked.index(0) < places


def test_deviations() -> None:
    """Above the mean of all: a large store's own mean and deviation; of few lines, what is usual elsewhere."""
    usual = UsualCosines(0.1, 0.05, 100_000)
    found = standard({1: 0.1, 2: 0.2}, usual, {})
    assert math.isclose(found[1], 0.0, abs_tol=1e-3) and math.isclose(found[2], 2.0, rel_tol=1e-2)
    assert 0 < standard({1: 0.3}, UsualCosines(0.3, 0.0, 1), {})[1] < 4
    assert standard({1: 0.3}, NONE, {})[1] == 0.3 / 0.1
    assert standard({1: 1.0}, UsualCosines(0.0, 0.01, 10**6), {})[1] == 8.0


def test_each_script_has_its_own_usual() -> None:
    """A line in the language of the question is nearer to it by that alone."""
    usual = UsualCosines(0.1, 0.1, 2000, {0: (0.2, 1000), 1: (0.0, 1000)})
    found = standard({1: 0.3, 2: 0.1}, usual, {1: 0, 2: 1})
    assert math.isclose(found[1], found[2], rel_tol=0.05)


@given(NEAR)
def test_smoothed(near: dict[int, float]) -> None:
    """Between the least and the most; a row alone stays as it is."""
    found = smoothed(near)
    assert found.keys() == near.keys()
    for row, value in found.items():
        around = [near[n] for n in (row, *(row + s * k for s in (-1, 1) for k in BESIDE)) if n in near]
        assert min(around) - 1e-9 <= value <= max(around) + 1e-9
        assert len(around) > 1 or value == near[row]
