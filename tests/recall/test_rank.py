"""The order of an answer: the relevance of words, adjusted by bounded factors.

Newest truth first among equals; exact twins are one hit; what was replaced stands below what replaced it.
"""

from __future__ import annotations

from datetime import date, timedelta
from random import Random

import pytest
from hypothesis import example, given, settings, strategies as st
from strategies import examples

from memctl.facts import HALF_LIFE_DAYS, Kind, Period
from memctl.recall.rank import Candidate, factors, order, recency

TODAY = date(2025, 11, 27)
AGING = sorted(HALF_LIFE_DAYS, key=lambda kind: kind.value)


def candidate(
    number: int,
    relevance: float = 1.0,
    *,
    day: date | None = TODAY,
    kind: Kind = Kind.WORLD,
    role: str = "fact",
    valid: Period | None = None,
    importance: float | None = None,
    same: int | None = None,
    copy: bool = False,
    named: bool = False,
) -> Candidate:
    """Line `number` of a page; `same` is the key that twins share."""
    return Candidate(
        number, kind, role, day, valid or Period(day), importance, number if same is None else same, copy,
        ("memory/x.md", number), relevance, named,
    )  # fmt: skip


def ordered(*candidates: Candidate, replaced: dict[int, int] | None = None, over: tuple[int, ...] = ()) -> list[int]:
    """The numbers of the lines, best first."""
    return [r.candidate.id for r in order(candidates, (), False, TODAY, replaced or {}, over)]


@pytest.mark.parametrize("kind", AGING, ids=lambda kind: kind.value)
def test_a_line_is_newest_today_and_half_as_new_after_its_half_life(kind: Kind) -> None:
    life = HALF_LIFE_DAYS[kind]
    assert recency(kind, TODAY, TODAY) == 1
    assert recency(kind, TODAY - timedelta(life), TODAY) == 0.5
    assert recency(kind, TODAY - timedelta(2 * life), TODAY) == 0.25
    assert recency(kind, TODAY + timedelta(9), TODAY) == 1


def test_what_is_true_of_the_world_does_not_age_and_an_undated_line_is_neither_old_nor_new() -> None:
    assert recency(Kind.WORLD, date(1990, 1, 1), TODAY) == recency(Kind.WORLD, TODAY, TODAY) == 0.5
    assert recency(Kind.NOTE, None, TODAY) == 0.5


@given(st.sampled_from(AGING), st.dates(), st.dates())
def test_the_older_line_is_never_the_newer_one(kind: Kind, one: date, other: date) -> None:
    older, newer = sorted((one, other))
    assert 0 <= recency(kind, older, TODAY) <= recency(kind, newer, TODAY) <= 1


PERIODS = st.builds(Period, st.none() | st.dates(), st.none() | st.dates())
CANDIDATES = st.builds(
    candidate,
    st.integers(0, 9),
    st.floats(0, 100),
    day=st.none() | st.dates(),
    kind=st.sampled_from(Kind),
    role=st.sampled_from(["fact", "text", "item", "heading"]),
    valid=st.none() | PERIODS,
    importance=st.none() | st.floats(0, 1),
    named=st.booleans(),
)


@given(CANDIDATES, st.lists(PERIODS, max_size=2), st.integers(0, 10**6), st.booleans())
def test_each_factor_bends_by_a_tenth(line: Candidate, times: list[Period], days: int, asks: bool) -> None:
    """But for the time that is asked for: what lies outside it stands on top only where little else fits."""
    bent = factors(line, times, days, asks, TODAY)
    for name in ("recency", "importance", "entity"):
        assert 0.9 <= getattr(bent, name) <= 1.1
    assert bent.time in (0.6, 1.0, 1.4)
    assert 1 <= bent.proof <= 1.05
    assert bent.form in (0.6, 1.0, 1.1)
    assert 0.9**3 * 0.6 * 0.6 <= bent.product <= 1.1**3 * 1.4 * 1.05 * 1.1 + 1e-9


def test_what_the_question_does_not_ask_for_bends_nothing() -> None:
    bent = factors(candidate(1, day=None, role="text"), (), 1, False, TODAY)
    assert (bent.recency, bent.time, bent.proof, bent.importance, bent.entity, bent.form) == (1, 1, 1, 1, 1, 1)
    assert bent.product == 1


def test_a_time_in_the_question_lifts_what_was_written_then_and_what_is_about_then() -> None:
    october = [Period(date(2025, 10, 1), date(2025, 10, 31))]
    lines = {
        "written then": candidate(1, day=date(2025, 10, 9)),
        "about then": candidate(1, valid=Period(date(2025, 10, 3), date(2025, 10, 4))),
        "begun before, not ended": candidate(1, valid=Period(date(2025, 9, 1))),
        "written later": candidate(1),
        "written later, ended later": candidate(1, valid=Period(TODAY, date(2025, 12, 24))),
        "undated": candidate(1, day=None),
    }
    lifted = {name for name, line in lines.items() if factors(line, october, 1, False, TODAY).time > 1}
    assert lifted == {"written then", "about then", "begun before, not ended"}


def test_importance_a_named_entity_and_being_told_on_several_days_lift() -> None:
    plain = factors(candidate(1), (), 1, True, TODAY)
    assert factors(candidate(1, importance=1.0), (), 1, True, TODAY).importance > plain.importance
    assert factors(candidate(1, importance=0.0), (), 1, True, TODAY).importance < plain.importance
    assert factors(candidate(1, named=True), (), 1, True, TODAY).entity > plain.entity
    twice, thrice = (factors(candidate(1), (), days, True, TODAY) for days in (2, 3))
    assert thrice.proof > twice.proof > plain.proof


def test_relevance_comes_first_then_the_newer_then_the_place() -> None:
    assert ordered(candidate(1, 1.0), candidate(2, 2.0)) == [2, 1]
    assert ordered(candidate(1, day=TODAY - timedelta(9)), candidate(2), candidate(3)) == [2, 3, 1]
    assert ordered(candidate(1, day=None), candidate(2)) == [2, 1]


def test_a_fact_before_a_note_before_a_heading() -> None:
    assert ordered(candidate(1, role="heading"), candidate(2, role="text"), candidate(3)) == [3, 2, 1]


def test_the_copies_in_managed_blocks_come_last() -> None:
    assert ordered(candidate(1, 9.0, copy=True), candidate(2, 1.0)) == [2, 1]


def test_what_has_ended_weighs_a_quarter_less() -> None:
    assert ordered(candidate(1, 1.2), candidate(2, 1.0), over=(1,)) == [2, 1]
    assert ordered(candidate(1, 1.4), candidate(2, 1.0), over=(1,)) == [1, 2]


def test_exact_twins_are_one_and_the_newest_original_stands_for_all() -> None:
    old, new = candidate(1, 3.0, day=date(2025, 1, 1), same=7), candidate(2, same=7)
    copy = candidate(3, same=7, copy=True)
    (hit,) = order([old, copy, new], (), False, TODAY, {})
    assert hit.candidate == new
    assert hit.twins == (old, copy)
    assert hit.score == pytest.approx(3.0 * hit.factors.product)  # the best words of the group
    assert hit.factors.proof > 1  # told on two days


def test_of_twins_one_that_still_holds_stands_for_all() -> None:
    (hit,) = order([candidate(1, same=7), candidate(2, day=date(2025, 1, 1), same=7)], (), False, TODAY, {}, over=(1,))
    assert hit.candidate.id == 2


def test_the_newer_one_takes_the_better_of_both_places() -> None:
    lines = candidate(1, 3.0), candidate(2, 2.0), candidate(3, 0.1)
    assert ordered(*lines) == [1, 2, 3]
    assert ordered(*lines, replaced={1: 3}) == [3, 1, 2]
    assert ordered(*lines, replaced={3: 1}) == [1, 2, 3]


def test_a_chain_is_turned_round_as_a_whole() -> None:
    lines = candidate(1, 3.0), candidate(2, 2.0), candidate(3, 1.0)
    assert ordered(*lines, replaced={1: 2, 2: 3}) == [3, 2, 1]


def test_a_replacement_that_hides_behind_its_twin_counts() -> None:
    """2 and 3 are twins and 3 stands for both; what 2 replaced stands below 3."""
    lines = candidate(1, 3.0), candidate(2, 0.1, day=date(2025, 1, 1), same=7), candidate(3, 0.1, same=7)
    assert ordered(*lines, replaced={1: 2}) == [3, 1]


@pytest.mark.parametrize("relevance", [0.0, 1e-12, 1e-6, 1.0])
def test_however_little_the_words_say(relevance: float) -> None:
    old, new = candidate(2, relevance), candidate(1, relevance, day=date(2025, 1, 1))
    assert ordered(old, new, replaced={2: 1}) == [1, 2]


def test_lines_that_replace_each_other_in_a_circle_are_all_shown() -> None:
    assert sorted(ordered(candidate(1), candidate(2), candidate(3), replaced={1: 2, 2: 3, 3: 1})) == [1, 2, 3]


@st.composite
def answers(draw: st.DrawFn) -> tuple[list[Candidate], dict[int, int], list[int]]:
    """Candidates with unique places, what replaced some of them, and some whose time has passed."""
    made = [
        candidate(
            number,
            draw(st.sampled_from([0.0, 1e-10, 0.5, 1.0, 1.001, 3.0])),
            day=draw(st.sampled_from([None, TODAY, TODAY - timedelta(1), date(2020, 1, 1)])),
            kind=draw(st.sampled_from(Kind)),
            role=draw(st.sampled_from(["fact", "text", "heading"])),
            same=draw(st.integers(0, 20)),
        )
        for number in range(draw(st.integers(1, 9)))
    ]
    replaced = draw(st.dictionaries(st.integers(0, 9), st.integers(0, 9), max_size=5))
    over = draw(st.lists(st.integers(0, 9), max_size=3))
    return made, {old: new for old, new in replaced.items() if old != new}, over


@given(answers(), st.randoms(use_true_random=False))
@example(([candidate(0), candidate(1)], {0: 1, 1: 0}, []), Random(1))
@settings(max_examples=examples(250))
def test_the_order_of_the_input_makes_no_difference(
    answer: tuple[list[Candidate], dict[int, int], list[int]], random: Random
) -> None:
    lines, replaced, over = answer
    found = order(lines, (), False, TODAY, replaced, over)
    shuffled, pairs = list(lines), list(replaced.items())
    random.shuffle(shuffled)
    random.shuffle(pairs)
    assert order(shuffled, (), False, TODAY, dict(pairs), reversed(over)) == found


@given(answers())
@settings(max_examples=examples(250))
def test_everything_comes_once_scores_fall_and_the_replaced_stand_below(
    answer: tuple[list[Candidate], dict[int, int], list[int]],
) -> None:
    lines, replaced, over = answer
    found = order(lines, (), False, TODAY, replaced, over)
    assert sorted(c.id for r in found for c in (r.candidate, *r.twins)) == sorted(c.id for c in lines)
    scores = [round(r.score, 9) for r in found]
    assert scores == sorted(scores, reverse=True)
    shown = {c.id: r.candidate.id for r in found for c in (r.candidate, *r.twins)}
    newer = {old: shown[new] for old, new in replaced.items() if shown.get(old) == old and new in shown}
    place = {r.candidate.id: at for at, r in enumerate(found)}
    for old, new in newer.items():
        assert place[new] < place[old] or in_circle(old, newer)


def in_circle(start: int, newer: dict[int, int]) -> bool:
    """True where following what replaced what never ends."""
    here: int | None = start
    for _ in range(len(newer) + 1):
        here = newer.get(here) if here is not None else None
    return here is not None
