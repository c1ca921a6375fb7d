"""What holds as of a day (contract, sections 3 and 5; algorithms.md, Truth).

A slot is an (entity, key); the newest line of a slot that has begun is its current value, older ones are its history.
`supersedes=` and `until=` end a fact, `corrects=` says that it was never true. Nothing is ever deleted.
"""

from __future__ import annotations

from datetime import date, timedelta
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memctl.facts import Period
from memctl.truth.validity import Claim, Validity, validities, versions

TODAY = date(2025, 11, 27)
SLOT = (("nightjar", "db"),)


def day(number: int) -> date:
    """A day of November 2025."""
    return date(2025, 11, number)


def claim(
    number: int,
    first: date | None,
    *,
    last: date | None = None,
    told: date | None = None,
    same: int | None = None,
    slots: tuple[tuple[str, str], ...] = SLOT,
    trusted: bool = True,
    ref: str | None = None,
    supersedes: tuple[str, ...] = (),
    corrects: tuple[str, ...] = (),
    amends: bool = False,
    pinned: bool = False,
    page: str = "memory/x.md",
) -> Claim:
    """Line `number`, which says something of its own (`same`), true from `first` on and told on that day."""
    return Claim(
        number, ref or f"f-{number}", slots, Period(first, last), told or first, number if same is None else same,
        trusted, (page, number), supersedes, corrects, amends, pinned,
    )  # fmt: skip


def judged(*claims: Claim, today: date = TODAY) -> dict[int, tuple[str, int | None]]:
    """For each claim when it was true, and what replaced it."""
    return {i: (str(s.valid), s.replaced_by) for i, s in validities(claims, today).items()}


# -- slots ------------------------------------------------------------------------------------------------------------


def test_the_newest_line_of_a_slot_is_current_and_each_older_one_ends_where_the_next_begins() -> None:
    assert judged(claim(1, day(1)), claim(2, day(5)), claim(3, day(9))) == {
        1: ("2025-11-01..2025-11-04", 2),
        2: ("2025-11-05..2025-11-08", 3),
        3: ("2025-11-09..", None),
    }


def test_a_line_written_late_about_an_earlier_time_is_history_and_no_news() -> None:
    assert judged(claim(1, day(9)), claim(2, day(1), told=day(20))) == {
        1: ("2025-11-09..", None),
        2: ("2025-11-01..2025-11-08", 1),
    }


def test_saying_the_same_again_replaces_nothing() -> None:
    assert judged(claim(1, day(1), same=7), claim(2, day(5), same=7)) == {
        1: ("2025-11-01..", None),
        2: ("2025-11-05..", None),
    }


def test_a_value_that_comes_back_is_a_new_version() -> None:
    found = judged(claim(1, day(1), same=7), claim(2, day(5), same=8), claim(3, day(9), same=7))
    assert [found[i][1] for i in (1, 2, 3)] == [2, 3, None]


def test_repetitions_are_replaced_together() -> None:
    found = judged(claim(1, day(1), same=7), claim(2, day(3), same=7), claim(3, day(9)))
    assert found[1] == ("2025-11-01..2025-11-08", 3)
    assert found[2] == ("2025-11-03..2025-11-08", 3)


def test_what_begins_in_the_future_replaces_nothing_yet() -> None:
    old, new = claim(1, day(1)), claim(2, date(2026, 1, 1), told=day(20))
    assert judged(old, new)[1] == ("2025-11-01..", None)
    assert judged(old, new, today=date(2026, 1, 1))[1] == ("2025-11-01..2025-12-31", 2)


def test_a_claim_that_ended_by_itself_does_not_end_later() -> None:
    assert judged(claim(1, day(1), last=day(3)), claim(2, day(9)))[1] == ("2025-11-01..2025-11-03", 2)


def test_two_lines_of_one_day_the_later_line_counts_and_neither_ends_before_it_began() -> None:
    assert judged(claim(1, day(1)), claim(2, day(1))) == {1: ("2025-11-01..", 2), 2: ("2025-11-01..", None)}


def test_an_undated_line_is_older_than_any_dated_one() -> None:
    assert judged(claim(1, None), claim(2, day(1))) == {1: ("..2025-10-31", 2), 2: ("2025-11-01..", None)}


def test_slots_of_other_entities_and_other_keys_do_not_meet() -> None:
    slots = [(("plover", "db"),), (("nightjar", "lang"),), ()]
    others = [claim(number, day(number), slots=slot) for number, slot in enumerate(slots, 2)]
    assert all(by is None for _, by in judged(claim(1, day(1)), *others).values())


def test_a_line_with_two_slots_is_replaced_in_either() -> None:
    both = claim(1, day(1), slots=(("a", "k"), ("b", "k")))
    found = judged(both, claim(2, day(5), slots=(("b", "k"),)), claim(3, day(9), slots=(("a", "k"),)))
    assert found[1][0] == "2025-11-01..2025-11-04"


def test_the_first_day_of_all_has_none_before_it() -> None:
    assert judged(claim(1, None), claim(2, date.min))[1] == ("..", 2)


def test_nothing_orders_two_pages_of_one_day_so_both_hold() -> None:
    apart = claim(1, day(5), page="memory/a.md"), claim(2, day(5), page="memory/b.md")
    assert judged(claim(9, day(1)), *apart) == {
        9: ("2025-11-01..2025-11-04", 1),
        1: ("2025-11-05..", None),
        2: ("2025-11-05..", None),
    }
    after = judged(*apart, claim(3, day(9)))
    assert after[1] == after[2] == ("2025-11-05..2025-11-08", 3)


def test_on_each_of_two_pages_the_later_line_counts() -> None:
    a1, a2 = (claim(n, day(5), page="memory/a.md") for n in (1, 2))
    b3, b4 = (claim(n, day(5), page="memory/b.md", same=n) for n in (3, 4))
    assert [by for _, by in judged(a1, a2, b3, b4).values()] == [2, None, 4, None]


# -- pinned -----------------------------------------------------------------------------------------------------------


def test_no_rule_closes_what_is_pinned() -> None:
    assert judged(claim(1, day(1), pinned=True), claim(2, day(5)))[1] == ("2025-11-01..", None)
    assert judged(claim(1, day(1), pinned=True), claim(2, day(5), amends=True))[1] == ("2025-11-01..", None)
    assert judged(claim(1, day(1)), claim(2, day(5), pinned=True))[1] == ("2025-11-01..2025-11-04", 2)


def test_a_line_that_names_it_closes_what_is_pinned() -> None:
    assert judged(claim(1, day(1), pinned=True), claim(2, day(5), supersedes=("f-1",)))[1][1] == 2
    assert judged(claim(1, day(1), pinned=True), claim(2, day(5), corrects=("f-1",)))[1][1] == 2


# -- corrections in words ---------------------------------------------------------------------------------------------


def test_a_correction_in_words_retracts_what_its_slot_held() -> None:
    found = validities([claim(1, day(1)), claim(2, day(5)), claim(3, day(9), amends=True)], TODAY)
    assert found[2].retracted and found[2].replaced_by == 3
    assert found[1] == Validity(Period(day(1), day(8)), 3)  # as if the wrong line had not been written
    assert found[3] == Validity(Period(day(9)))


def test_what_was_corrected_is_what_was_known_then_and_not_what_came_later() -> None:
    late = claim(3, day(1), told=day(20), amends=True)  # "actually, since the first"
    found = validities([claim(1, day(5)), late, claim(4, day(25))], TODAY)
    assert found[1].retracted and found[1].replaced_by == 3
    assert found[3] == Validity(Period(day(1), day(24)), 4)


def test_a_correction_takes_back_every_repetition_of_the_wrong_value() -> None:
    wrong = [claim(n, day(n), same=7) for n in (3, 4)]
    found = validities([claim(1, day(1), same=6), *wrong, claim(9, day(9), amends=True)], TODAY)
    assert [found[n].retracted for n in (1, 3, 4, 9)] == [False, True, True, False]


def test_a_correction_may_be_corrected() -> None:
    found = validities([claim(1, day(1)), claim(2, day(5), amends=True), claim(3, day(9), amends=True)], TODAY)
    assert [found[n].retracted for n in (1, 2, 3)] == [True, True, False]
    assert found[3].holds(TODAY)


def test_saying_again_what_held_corrects_nothing() -> None:
    found = validities([claim(1, day(1), same=7), claim(2, day(5), same=7, amends=True)], TODAY)
    assert found[1] == Validity(Period(day(1)))


def test_a_correction_from_outside_corrects_nothing() -> None:
    assert judged(claim(1, day(1)), claim(2, day(5), amends=True, trusted=False))[1][1] is None


# -- what came from outside -------------------------------------------------------------------------------------------


def test_the_untrusted_never_replaces_what_the_owner_said() -> None:
    assert judged(claim(1, day(1)), claim(2, day(5), trusted=False))[1] == ("2025-11-01..", None)
    assert judged(claim(1, day(1)), claim(2, day(5), trusted=False, supersedes=("f-1",)))[1][1] is None
    assert judged(claim(1, day(1)), claim(2, day(5), trusted=False, corrects=("f-1",)))[1][1] is None


def test_the_owner_replaces_the_untrusted_whichever_came_first() -> None:
    assert judged(claim(1, day(1), trusted=False), claim(2, day(5)))[1] == ("2025-11-01..2025-11-04", 2)
    assert judged(claim(1, day(9), trusted=False), claim(2, day(5)))[1] == ("2025-11-09..", 2)
    assert judged(claim(1, day(1), trusted=False, same=7), claim(2, day(5), same=7))[1][1] is None
    assert judged(claim(1, day(1), trusted=False), claim(2, date(2026, 1, 1)))[1][1] is None


# -- links ------------------------------------------------------------------------------------------------------------


def test_supersedes_ends_a_fact_where_the_new_one_begins() -> None:
    assert judged(claim(1, day(1), slots=()), claim(2, day(5), slots=(), supersedes=("f-1", "f-none"))) == {
        1: ("2025-11-01..2025-11-04", 2),
        2: ("2025-11-05..", None),
    }


def test_what_supersedes_from_next_year_on_replaces_nothing_yet() -> None:
    move = claim(2, date(2026, 1, 1), told=day(20), slots=(), supersedes=("f-1",))
    assert judged(claim(1, day(1), slots=()), move)[1] == ("2025-11-01..", None)
    assert judged(claim(1, day(1), slots=()), move, today=date(2026, 1, 1))[1] == ("2025-11-01..2025-12-31", 2)


def test_a_correction_says_that_it_was_never_true_and_says_so_at_once() -> None:
    found = validities([claim(1, day(1)), claim(2, day(5), corrects=("f-1",))], TODAY)
    assert found[1].retracted
    assert found[1].replaced_by == 2
    assert not found[1].holds(day(2))
    assert not found[2].retracted
    later = validities([claim(1, day(1)), claim(2, date(2026, 1, 1), told=day(5), corrects=("f-1",))], TODAY)
    assert later[1].retracted


def test_what_was_never_true_ends_nothing() -> None:
    """A wrong line between two right ones: the first goes on as if the wrong one had not been written."""
    wrong, right = claim(2, day(5)), claim(3, day(5), told=day(6), same=1, corrects=("f-2",))
    found = judged(claim(1, day(1), same=1), wrong, right)
    assert found[1] == ("2025-11-01..", None)
    assert found[2][1] == 3


def test_an_id_that_twins_share_means_all_of_them() -> None:
    """The same line on two pages of one day has one id; superseding it supersedes both."""
    twins = claim(1, day(1), ref="f-t", slots=()), claim(2, day(1), ref="f-t", slots=())
    found = judged(*twins, claim(3, day(5), slots=(), supersedes=("f-t",)))
    assert found[1][1] == found[2][1] == 3


def test_of_two_that_supersede_the_newer_one_counts() -> None:
    newer, older = (claim(n, day(n), slots=(), supersedes=("f-1",)) for n in (9, 5))
    found = judged(claim(1, day(1), slots=()), newer, older)
    assert found[1] == ("2025-11-01..2025-11-04", 9)


def test_nothing_supersedes_or_corrects_itself() -> None:
    found = validities([claim(1, day(1), supersedes=("f-1",), corrects=("f-1",))], TODAY)
    assert found == {1: Validity(Period(day(1)))}


# -- holding ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("standing", "holds"),
    [
        (Validity(Period(day(1))), True),
        (Validity(Period(day(1), TODAY)), True),
        (Validity(Period(day(1), TODAY - timedelta(1))), False),
        (Validity(Period(day(1)), replaced_by=2), False),
        (Validity(Period(day(1)), retracted=True), False),
        (Validity(Period(TODAY + timedelta(1))), False),
        (Validity(Period(day(1), day(1))), True),  # what happened is not over
    ],
)
def test_what_is_current_today(standing: Validity, holds: bool) -> None:
    assert standing.holds(TODAY) is holds


# -- properties -------------------------------------------------------------------------------------------------------

NUMBERS = st.integers(1, 12)


@st.composite
def many(draw: st.DrawFn) -> list[Claim]:
    """Up to eight claims that fill few slots, repeat, correct and supersede each other, in no order."""
    made = []
    for number in range(draw(st.integers(1, 8))):
        first = draw(st.none() | NUMBERS.map(lambda n: day(2 * n)))
        links = st.lists(st.integers(0, 7).map(lambda n: f"f-{n}"), max_size=1).map(tuple)
        made.append(
            claim(
                number,
                first,
                last=draw(st.none() | st.just(first and first + timedelta(draw(NUMBERS)))),
                told=draw(st.none() | NUMBERS.map(day)),
                same=draw(st.integers(0, 3)),
                slots=draw(st.sampled_from([SLOT, (("a", "k"),), (("a", "k"), *SLOT), ()])),
                trusted=draw(st.booleans()),
                ref=draw(st.sampled_from([None, "f-0"])),
                supersedes=draw(links),
                corrects=draw(links),
                amends=draw(st.booleans()),
                pinned=draw(st.booleans()),
                page=draw(st.sampled_from(["memory/a.md", "memory/b.md"])),
            )
        )
    return made


@given(many(), st.randoms(use_true_random=False), NUMBERS.map(lambda n: day(2 * n)))
@settings(max_examples=300)
def test_the_order_of_reading_makes_no_difference(claims: list[Claim], random: Random, today: date) -> None:
    shuffled = list(claims)
    random.shuffle(shuffled)
    assert validities(shuffled, today) == validities(claims, today)
    assert versions(shuffled) == versions(claims)


@given(many(), NUMBERS.map(lambda n: day(2 * n)))
@settings(max_examples=200)
def test_no_standing_is_longer_than_what_its_author_said(claims: list[Claim], today: date) -> None:
    found = validities(claims, today)
    assert set(found) == {c.id for c in claims}
    for c in claims:
        standing = found[c.id]
        assert standing.valid.first == c.valid.first
        assert c.valid.last is None or (standing.valid.last is not None and standing.valid.last <= c.valid.last)
        assert standing.replaced_by != c.id
        if standing.replaced_by is not None:
            assert next(other for other in claims if other.id == standing.replaced_by).trusted
        assert standing.replaced_by is not None or not standing.retracted


def values(claims: list[Claim], today: date) -> list[Claim]:
    """The slot's value by the definition, without histories: the newest of the trusted lines that have begun."""
    begun = [c for c in claims if c.trusted and (c.valid.first or date.min) <= today]
    order = [(c.valid.first or date.min, c.day or date.min) for c in begun]
    return [c for c, when in zip(begun, order, strict=True) if when == max(order)]


def unlinked(claims: list[Claim], **fields: object) -> list[Claim]:
    """The same claims in one slot, without links and marks."""
    marks = {"supersedes": (), "corrects": (), "amends": False, "pinned": False}
    return [c._replace(slots=SLOT, ref=f"f-{c.id}", **(marks | fields)) for c in claims]


@given(many(), NUMBERS.map(lambda n: day(2 * n)))
@settings(max_examples=200)
def test_the_current_value_of_a_slot_is_the_newest_line_that_has_begun(claims: list[Claim], today: date) -> None:
    plain = unlinked(claims)
    found = validities(plain, today)
    newest = values(plain, today)
    for c in plain:
        begun = c.valid.first is None or c.valid.first <= today
        if begun and newest and (found[c.id].replaced_by is None):
            assert c.same in {n.same for n in newest}


@given(many(), NUMBERS.map(lambda n: day(2 * n)), st.booleans())
@settings(max_examples=300)
def test_a_slot_has_one_current_value_unless_pages_of_a_day_or_a_pin_contradict(
    claims: list[Claim], today: date, amending: bool
) -> None:
    one_page = [c._replace(place=("memory/a.md", c.id)) for c in unlinked(claims)]
    marked = [c._replace(amends=amending and old.amends) for c, old in zip(one_page, claims, strict=True)]
    found = validities(marked, today)
    assert len({c.same for c in marked if c.trusted and found[c.id].holds(today)}) <= 1
    pinned = [c._replace(pinned=old.pinned) for c, old in zip(one_page, claims, strict=True)]
    found = validities(pinned, today)
    assert len({c.same for c in pinned if c.trusted and not c.pinned and found[c.id].holds(today)}) <= 1


@given(many(), NUMBERS.map(lambda n: day(2 * n)))
@settings(max_examples=200)
def test_only_a_link_ends_what_is_pinned(claims: list[Claim], today: date) -> None:
    pinned = unlinked(claims, pinned=True, trusted=True)
    assert all(standing.replaced_by is None for standing in validities(pinned, today).values())


def test_ten_thousand_versions_take_no_time() -> None:
    many_versions = [claim(n, date(1990, 1, 1) + timedelta(n), same=n) for n in range(10_000)]
    found = validities(many_versions, date(2030, 1, 1))
    assert sum(standing.replaced_by is None for standing in found.values()) == 1


def test_ten_thousand_corrections_take_no_time() -> None:
    many_versions = [claim(n, date(1990, 1, 1) + timedelta(n), same=n, amends=True) for n in range(10_000)]
    found = validities(many_versions, date(2030, 1, 1))
    assert sum(standing.retracted for standing in found.values()) == 9_999


def test_a_page_a_day_takes_no_time() -> None:
    pages = [claim(n, day(1), same=n, page=f"memory/{n}.md") for n in range(10_000)]
    assert all(standing.replaced_by is None for standing in validities(pages, TODAY).values())
