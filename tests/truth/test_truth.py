"""What holds as of a day.

A slot is an (entity, key); the newest line of a slot that has begun is its current value, older ones are its history.
`supersedes=` and `until=` end a fact, `corrects=` says that it was never true. Nothing is ever deleted.
"""

from __future__ import annotations

import json
from datetime import date, timedelta
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pytest
from counting import calls
from hypothesis import given, settings, strategies as st
from strategies import examples

from memctl.facts import Period
from memctl.truth.validity import Claim, Validity, validities, versions

TODAY = date(2025, 11, 27)
SLOT = (("nightjar", "db"),)


def day(number: int) -> date:
    """A day of November 2025."""
    return date(2025, 11, number)


def claim(
    number: int, first: date | None, *, last: date | None = None, page: str = "memory/x.md", **more: Any
) -> Claim:
    """Line `number`, which says something of its own (`same`), true from `first` on and told on that day."""
    told, same, ref = (more.pop(name, None) for name in ("told", "same", "ref"))
    made = Claim(
        number, ref or f"f-{number}", SLOT, Period(first, last), told or first, number if same is None else same, True, (page, number)
    )  # fmt: skip
    return made._replace(**more)


# -- cases ------------------------------------------------------------------------------------------------------------

CASES = [
    json.loads(line) for line in (Path(__file__).parent.parent / "data/truth.jsonl").read_text("utf-8").splitlines()
]
DAYS = ("first", "last", "told")


@pytest.mark.parametrize("case", CASES, ids=[f"{number} {case['why']}" for number, case in enumerate(CASES)])
def test_cases(case: dict[str, Any]) -> None:
    """tests/data/truth.jsonl: claims, and for each of them when it was true, what replaced it, whether it was retracted."""
    claims = []
    for given_ in case["claims"]:
        fields = {name: date.fromisoformat(value) if name in DAYS else value for name, value in given_.items()}
        number, first = fields.pop("id"), fields.pop("first", None)
        lists = {
            name: tuple(map(tuple, value)) if name == "slots" else tuple(value)
            for name, value in fields.items()
            if isinstance(value, list)
        }
        claims.append(claim(number, first, **(fields | lists)))
    found = validities(claims, date.fromisoformat(case.get("today", str(TODAY))))
    shown = {str(i): [str(v.valid), v.replaced_by, *(["retracted"] if v.retracted else [])] for i, v in found.items()}
    assert shown == case["found"]


# -- holding ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("validity", "holds"),
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
def test_what_is_current_today(validity: Validity, holds: bool) -> None:
    assert validity.holds(TODAY) is holds


# -- properties -------------------------------------------------------------------------------------------------------

NUMBERS = st.integers(1, 12)


LINKS = st.lists(st.integers(0, 7).map(lambda n: f"f-{n}"), max_size=1).map(tuple)
FIELDS = st.fixed_dictionaries({
    "told": st.none() | NUMBERS.map(day), "same": st.integers(0, 3), "ref": st.sampled_from([None, "f-0"]),
    "slots": st.sampled_from([SLOT, (("a", "k"),), (("a", "k"), *SLOT), ()]), "page": st.sampled_from(["memory/a.md", "memory/b.md"]),
    "trusted": st.booleans(), "amends": st.booleans(), "pinned": st.booleans(), "supersedes": LINKS, "corrects": LINKS,
})  # fmt: skip


@st.composite
def many(draw: st.DrawFn) -> list[Claim]:
    """Up to eight claims that fill few slots, repeat, correct and supersede each other, in no order."""
    made = []
    for number in range(draw(st.integers(1, 8))):
        first = draw(st.none() | NUMBERS.map(lambda n: day(2 * n)))
        last = draw(st.none() | st.just(first and first + timedelta(draw(NUMBERS))))
        made.append(claim(number, first, last=last, **draw(FIELDS)))
    return made


@given(many(), st.randoms(use_true_random=False), NUMBERS.map(lambda n: day(2 * n)))
@settings(max_examples=examples(300))
def test_the_order_of_reading_makes_no_difference(claims: list[Claim], random: Random, today: date) -> None:
    shuffled = list(claims)
    random.shuffle(shuffled)
    assert validities(shuffled, today) == validities(claims, today)
    assert versions(shuffled) == versions(claims)


@given(many(), NUMBERS.map(lambda n: day(2 * n)))
@settings(max_examples=examples(200))
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
@settings(max_examples=examples(200))
def test_the_current_value_of_a_slot_is_the_newest_line_that_has_begun(claims: list[Claim], today: date) -> None:
    plain = unlinked(claims)
    found = validities(plain, today)
    newest = values(plain, today)
    for c in plain:
        begun = c.valid.first is None or c.valid.first <= today
        if begun and newest and (found[c.id].replaced_by is None):
            assert c.same in {n.same for n in newest}


@given(many(), NUMBERS.map(lambda n: day(2 * n)), st.booleans())
@settings(max_examples=examples(300))
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
@settings(max_examples=examples(200))
def test_only_a_link_ends_what_is_pinned(claims: list[Claim], today: date) -> None:
    pinned = unlinked(claims, pinned=True, trusted=True)
    assert all(standing.replaced_by is None for standing in validities(pinned, today).values())


def test_ten_thousand_versions() -> None:
    """Versions, corrections and pages of one slot: the work grows with their number, not with its square."""
    days = [date(1990, 1, 1) + timedelta(n) for n in range(10_000)]
    found = validities([claim(n, when, same=n) for n, when in enumerate(days)], date(2030, 1, 1))
    assert sum(validity.replaced_by is None for validity in found.values()) == 1
    found = validities([claim(n, when, same=n, amends=True) for n, when in enumerate(days)], date(2030, 1, 1))
    assert sum(validity.retracted for validity in found.values()) == 9_999
    found = validities([claim(n, day(1), same=n, page=f"memory/{n}.md") for n in range(10_000)], TODAY)
    assert all(validity.replaced_by is None for validity in found.values())


def test_wider_wordings_of_one_slot() -> None:
    """Each is held against the plain lines alone: twice as many take twice the calls."""

    def work(size: int) -> None:
        made = [claim(n, date(1990, 1, 1) + timedelta(n), closes=n % 9 == 0, same=n % 4) for n in range(size)]
        assert sum(each.replaced_by is None for each in validities(made, TODAY).values()) < 12

    assert calls(partial(work, 2_000)) / calls(partial(work, 1_000)) < 2.2


def test_a_line_speaks_for_the_one_that_it_names() -> None:
    """`S(supersedes=old,by=new)`: the new line replaces the old one, not the line that says so."""
    old, new = claim(1, day(1), same=1)._replace(slots=()), claim(2, day(5), same=2)._replace(slots=())
    answer = claim(3, day(9), same=3)._replace(slots=(), supersedes=(old.ref,), by=new.ref)
    found = validities([old, new, answer], TODAY)
    assert found[1].replaced_by == 2 and found[1].valid.last == day(4)
    assert found[2].replaced_by is None and found[3].replaced_by is None
    assert validities([old, answer], TODAY)[1].replaced_by == 3  # the line it names is gone: the answer still counts


def test_a_plan_is_over_when_another_is_told_in_its_place() -> None:
    """What holds until a later day holds until then; a plan that was never there yet does not wait for the new one."""
    later, until_then = date(2025, 12, 12), claim(1, day(1))._replace(slots=())
    plan = claim(1, date(2025, 12, 10), told=day(1))._replace(slots=())
    new = claim(2, later, told=day(20))._replace(slots=(), supersedes=("f-1",))
    assert validities([plan, new], TODAY)[1].replaced_by == 2
    assert validities([until_then, new], TODAY)[1].replaced_by is None
    assert validities([until_then, new], later)[1].replaced_by == 2
