"""Confidence replayed from evidence: the formula, and what no order of
arrival, no loud day and no clock may change."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from datetime import date, timedelta

import pytest
from hypothesis import example, given, settings, strategies as st
from strategies import examples

from memctl.beliefs.confidence import HIGHEST, LOWEST, Evidence, confidence_shown, in_order, ledger, replay
from memctl.facts import UNSAID

DAY = date(2025, 11, 27)
SLACK = 1e-12  # of floating point

STRENGTHS = st.sampled_from([1.0, 0.5, 0.25, 0.0]) | st.floats(0, 1)
DAYS = st.integers(0, 4).map(lambda days: DAY + timedelta(days))
REFS = st.sampled_from(
    [f"memory/2025-11-{27 + day}.md#L{line} ^f-{day}{line}" for day in range(3) for line in range(4)]
)
SOURCES = st.sampled_from(["", "agent", "user:爱丽丝"])
MOVING = st.builds(Evidence, DAYS, REFS, st.sampled_from(["for", "against"]), STRENGTHS, SOURCES)
ITEMS = MOVING | st.builds(
    Evidence, DAYS, REFS, st.sampled_from(["stated", "set"]), st.floats(0, 1), SOURCES, st.booleans()
)
CHAINS = st.lists(ITEMS, max_size=30)


def stated(value: float = 0.8, day: int = 0, *, guessed: bool = False, ref: str = "s") -> Evidence:
    """The belief, as its author wrote it down."""
    return Evidence(DAY + timedelta(day), ref, "stated", value, guessed=guessed)


def votes(pattern: str, strength: float = 1.0, source: str = "", start: int = 1) -> list[Evidence]:
    """`++-`: evidence for, for and against, on a day each."""
    sides = {"+": "for", "-": "against"}
    return [
        Evidence(DAY + timedelta(start + day), f"{source}{start + day}", sides[sign], strength, source)
        for day, sign in enumerate(pattern)
    ]


def crowd(pattern: str, day: int = 1, source: str = "", strength: float = 1.0) -> list[Evidence]:
    """The same from one source within one day."""
    return [
        item._replace(day=DAY + timedelta(day), ref=f"{source} {day} {number:03}")
        for number, item in enumerate(votes(pattern, strength, source))
    ]


def oracle(items: Sequence[Evidence]) -> float:
    """The formula of docs/reflect.md, once over the whole set and as directly as it can be written."""
    k, c0 = 2.0, UNSAID
    anchors = [at for at, item in enumerate(items) if item.verdict == "set"]
    if anchors:
        k, c0, items = 4.0, items[anchors[-1]].value, items[anchors[-1] + 1 :]
    else:
        first = next((item for item in items if item.verdict == "stated"), None)
        if first is not None:
            k, c0 = (2.0 if first.guessed else 4.0), first.value
            at = items.index(first)
            items = [*items[:at], *items[at + 1 :]]
    series = defaultdict(list)
    for item in items:
        strength = 1.0 if item.verdict == "stated" else item.value
        side = {"for": 1.0, "against": 0.0}.get(item.verdict, 1.0 if item.guessed else item.value)
        series[item.day, item.source].append((-strength, item.ref, side))
    a = b = 0.0
    for group in series.values():
        for place, (strength, _, side) in enumerate(sorted(group)):
            a += -strength / (place + 1) * side
            b += -strength / (place + 1) * (1 - side)
    return min(0.98, max(0.02, (k * c0 + a) / (k + a + b)))


def test_small_chains_by_hand() -> None:
    """k is 4 for a written number and 2 for none; weak evidence weighs half."""
    assert replay([]) == []
    assert ledger([]).confidence == UNSAID == 0.7
    assert replay([stated(0.8), *votes("+")]) == pytest.approx([0.8, 4.2 / 5])
    assert replay([stated(0.7, guessed=True), *votes("+")]) == pytest.approx([0.7, 2.4 / 3])
    assert replay([stated(0.8), *votes("+"), *votes("-", 0.5, start=2)]) == pytest.approx([0.8, 0.84, 4.2 / 5.5])
    assert replay(votes("+")) == pytest.approx([2.4 / 3])  # nobody stated it: as if without a number


@settings(max_examples=examples(500))
@given(CHAINS)
def test_replay_is_the_formula(items: list[Evidence]) -> None:
    """Each step equals the formula over the items so far, within [.02, .98]; the ledger is the last step."""
    ordered = in_order(items)
    expected = [oracle(ordered[:count]) for count in range(1, len(ordered) + 1)]
    assert replay(items) == pytest.approx(expected, abs=1e-9)
    assert [ledger(items).confidence] == (replay(items)[-1:] or [UNSAID])


def test_many_items_of_one_source_on_one_day() -> None:
    """1, 1/2, 1/3 …, strongest first, for and against in one series; other days and sources have their own."""
    half = [crowd("+")[0], crowd("+", strength=0.5)[0]._replace(ref="a before it")]
    assert ledger(half).weight_for == pytest.approx(1 + 0.5 / 2)
    found = ledger(crowd("++-"))
    assert (found.weight_for, found.weight_against) == pytest.approx((1 + 1 / 2, 1 / 3))
    assert ledger([*crowd("+"), *crowd("+", day=2)]).weight_for == 2
    assert ledger([*crowd("+"), *crowd("+", source="agent")]).weight_for == 2


def test_statements() -> None:
    """The first in order gives c0, also with evidence before it; a later number draws towards itself."""
    before = [*votes("+"), stated(0.4, 2)]
    assert replay(before)[-1] == pytest.approx((4 * 0.4 + 1) / 5)
    again = [stated(0.8), stated(0.8, 1), stated(0.8, 2)]
    assert replay(again) == pytest.approx([0.8] * 3)
    assert ledger(again).deviation < ledger(again[:1]).deviation
    assert replay([stated(0.8), stated(0.3, 1)])[-1] == pytest.approx((3.2 + 0.3) / 5)
    unnumbered = stated(0.7, 1, guessed=True)
    assert replay([stated(0.8), unnumbered]) == pytest.approx(replay([stated(0.8), *votes("+")]))


def test_a_set_number_is_an_anchor() -> None:
    """What sorts before it, on its own day too, no longer counts; replay goes on from there with k = 4."""
    anchor = Evidence(DAY + timedelta(3), "0", "set", 0.95)
    items = [stated(0.2), *votes("---------"), *crowd("-----", day=3, source="agent"), anchor]
    assert replay(items)[in_order(items).index(anchor)] == pytest.approx(0.95)
    assert ledger(items).weight_against == 6
    assert ledger(items).confidence == pytest.approx(4 * 0.95 / 10)
    assert ledger([anchor, *votes("+", start=4)]) == ledger([*items[:4], anchor, *votes("+", start=4)])


@given(st.floats(0, 1), CHAINS, CHAINS)
def test_an_anchor_forgets(value: float, before: list[Evidence], after: list[Evidence]) -> None:
    """No earlier chain makes a difference after it."""
    anchor = Evidence(DAY + timedelta(10), "hand", "set", value)
    later = [item._replace(day=item.day + timedelta(20)) for item in after]
    assert ledger([*before, anchor, *later]) == ledger([anchor, *later])


@pytest.mark.parametrize("verdict", ["superseded", "For", ""])
def test_unknown_words_are_errors(verdict: str) -> None:
    """A verdict that does not exist is named."""
    with pytest.raises(ValueError, match=f"verdict: {verdict}$"):
        replay([Evidence(DAY, "x", verdict, 1)])


@settings(max_examples=examples(500))
@given(data=st.data(), items=CHAINS)
def test_arrival_order_changes_nothing(data: st.DataObject, items: list[Evidence]) -> None:
    """Not the chain, not one confidence, not the flags; dates and refs that tie neither."""
    shuffled = data.draw(st.permutations(items))
    assert in_order(shuffled) == in_order(items)
    assert replay(iter(shuffled)) == replay(items)
    assert ledger(iter(shuffled)) == ledger(items)


@given(CHAINS, st.integers(-300, 3_000))
def test_no_clock(items: list[Evidence], days: int) -> None:
    """The same story some years later is the same."""
    moved = [item._replace(day=item.day + timedelta(days)) for item in items]
    assert ledger(moved) == ledger(items)


@given(CHAINS)
def test_in_order(items: list[Evidence]) -> None:
    """Oldest first; within a day statements first and set numbers last."""
    phases = {"stated": 0, "set": 2}
    keys = [(item.day, phases.get(item.verdict, 1), item.ref) for item in in_order(items)]
    assert keys == sorted(keys)


@given(value=st.floats(allow_nan=False), verdict=st.sampled_from(["stated", "set", "for", "against"]))
@example(value=math.inf, verdict="for")
@example(value=-7.0, verdict="set")
def test_numbers_outside_count_as_the_nearest_end(value: float, verdict: str) -> None:
    """A hand may write anything."""
    item = Evidence(DAY, "x", verdict, value)
    assert replay([item]) == replay([item._replace(value=min(1.0, max(0.0, value)))])


@given(CHAINS)
def test_deviation_is_that_of_the_beta_distribution(items: list[Evidence]) -> None:
    """With more weight on the same confidence it shrinks."""
    found = ledger(items)
    variance = found.confidence * (1 - found.confidence)
    sizes = {k + found.weight_for + found.weight_against + 1 for k in (2, 4)}
    assert any(found.deviation == pytest.approx(math.sqrt(variance / size)) for size in sizes)


def test_deviation_shrinks_with_weight() -> None:
    """Balanced evidence leaves one half, ever more surely."""
    widths = [ledger([stated(0.5), *votes("+-" * pairs)]).deviation for pairs in range(6)]
    assert widths == sorted(widths, reverse=True)
    assert widths[0] == pytest.approx(math.sqrt(0.25 / 5))


@pytest.mark.parametrize(
    ("start", "pattern", "contested"),
    [
        (0.95, "", False),
        (0.95, "+" * 30, False),
        (0.05, "-" * 30, False),
        (0.95, "+" * 7, False),
        (1.0, "++++---", False),  # seven are too few
        (0.95, "++++----", True),  # last five 1/5, the others 3/3
        (0.05, "----++++", True),
        (0.95, "+" * 30 + "---", True),  # 2/5 against 30/30
        (0.95, "+" * 30 + "--", False),  # 3/5 against 30/30
        (0.95, "-" + "+" * 21 + "---", True),  # 2/5 against 19/20; the last six would not do
        (0.05, "+---------+++--", True),  # 3/5 against 1/10: half of all there is
        (0.95, "-+++++++++---++", True),
        (0.95, "+" * 20 + "-", False),
        (0.5, "+-" * 10, True),  # two heavy sides in balance
    ],
)
def test_contested(start: float, pattern: str, contested: bool) -> None:
    """Some contrary events after a clear history, or a balance; not one-sided chains."""
    assert ledger([stated(start), *votes(pattern)]).contested is contested


def test_contested_by_balance() -> None:
    """Both sides must weigh 1.5, and the middle is (.35, .65)."""
    assert not ledger([stated(0.5), *votes("+-")]).contested
    assert ledger([stated(0.5), *votes("++--")]).contested
    assert ledger([stated(0.7), *votes("+++--")]).contested  # .64
    assert not ledger([stated(0.5), *votes("++--", 0.5)]).contested
    assert not ledger([stated(1.0), *votes("++++--")]).contested


@given(st.lists(MOVING, max_size=30), st.sampled_from(["for", "against"]))
def test_one_sided_chains_are_never_contested(items: list[Evidence], verdict: str) -> None:
    """Nothing disagrees in them."""
    assert not ledger([item._replace(verdict=verdict) for item in items]).contested


def test_contested_looks_no_further_than_the_anchor() -> None:
    """A set number settles the dispute until there is new evidence."""
    dispute = [stated(0.5), *votes("++++----")]
    anchor = Evidence(DAY + timedelta(9), "hand", "set", 0.5)
    assert ledger(dispute).contested
    assert not ledger([*dispute, anchor]).contested
    assert not ledger([*dispute, anchor, *votes("-", start=10)]).contested


@pytest.mark.parametrize(
    ("start", "pattern", "trend"),
    [
        (0.8, "", "steady"),
        (0.8, "+++", "steady"),  # .89
        (0.8, "++++", "rising"),  # .90
        (0.8, "-", "falling"),
        (0.8, "+" * 40, "steady"),  # risen long ago
        (0.8, "+" * 8 + "-----", "falling"),
        (0.8, "--------+++++", "rising"),
        (0.5, "+-+-+-+-+-+-", "steady"),
        (0.5, "+" * 50 + "-" * 50, "falling"),  # the last five hardly move it, the halves tell
        (0.5, "-" * 50 + "+" * 50, "rising"),
        (0.9, "+" * 60 + "----", "falling"),  # so does a turn
        (0.1, "-" * 60 + "++++", "rising"),
        (0.8, "++++-" * 19 + "+++-+----", "falling"),  # the halves would not tell
        (0.9, "+" * 60 + "--", "steady"),
        (0.5, "+--+" * 20 + "-++-" * 5, "steady"),
        (0.5, "+-" * 20 + "++-" * 13, "steady"),  # .50 and .67: two standard errors are .22
        (0.5, "+--" * 7 + "++-" * 7, "rising"),  # .33 and .67
        (0.5, "++++----", "falling"),
    ],
)
def test_trend(start: float, pattern: str, trend: str) -> None:
    """What the last five made of it; on long chains, how they or the newer half differ from what was before."""
    assert ledger([stated(start), *votes(pattern)]).trend == trend


@given(st.lists(st.sampled_from("+-"), min_size=10, max_size=40))
def test_trend_turns_with_the_sides(signs: list[str]) -> None:
    """For and against exchanged, rising is falling."""
    there, back = (
        ledger([stated(0.5), *votes(pattern)]).trend
        for pattern in ("".join(signs), "".join(signs).translate({ord("+"): "-", ord("-"): "+"}))
    )
    assert back == {"rising": "falling", "falling": "rising", "steady": "steady"}[there]


def test_one_loud_day_is_no_trend() -> None:
    """Weights count, not voices: long after twenty lies of one day the belief is as steady as without them."""
    after = votes("+-+" * 20, start=9)
    assert ledger([stated(0.7), *votes("++-"), *after]).trend == "steady"
    assert ledger([stated(0.7), *votes("++-"), *crowd("-" * 20, day=5), *after]).trend == "steady"
    assert ledger([stated(0.7), *votes("++-"), *votes("-" * 5, start=4), *after]).trend == "steady"
    assert ledger([stated(0.7), *votes("-" * 20, start=-30), *after]).trend == "rising"
    assert ledger([stated(0.7), *votes("-" * 20, 0.0, start=4)]).trend == "steady"
    for strength in (1.0, 0.5, 0.25):  # what is chance goes by how many there are, however little each weighs
        assert ledger([stated(0.5), *votes("+--" * 7 + "++-" * 7, strength)]).trend == "rising"
        assert ledger([stated(0.5), *votes("+-" * 20 + "++-" * 13, strength)]).trend == "steady"
        halves = votes("+-+--" * 4, strength / 2), votes("++-" * 7, strength, start=21)  # .40 and .67
        assert ledger([stated(0.5), *halves[0], *halves[1][:20]]).trend == "steady"


def test_an_anchor_is_no_trend() -> None:
    """It is where a new story begins."""
    anchor = Evidence(DAY + timedelta(9), "hand", "set", 0.9)
    assert ledger([stated(0.2), *votes("-----"), anchor]).trend == "steady"
    assert ledger([stated(0.2), *votes("-----"), anchor, *votes("-", start=10)]).trend == "falling"
    assert ledger(votes("+")).trend == "rising"  # from the default .70 to .80
    assert ledger([*votes("---"), stated(0.2, 9)]).trend == "falling"  # evidence stands before the statement


@given(st.floats(allow_nan=False))
@example(0.98)
@example(0.995)
@example(0.004)
def test_shown(confidence: float) -> None:
    """Two decimals, never certain; what was shown is within half a cent and is shown the same again."""
    text = confidence_shown(confidence)
    assert len(text) == 4 and text not in ("0.00", "1.00")
    assert abs(float(text) - min(HIGHEST, max(LOWEST, confidence))) <= 0.005 + SLACK
    assert confidence_shown(float(text)) == text
