"""What `retain` appends to a log: facts under `## Retain`, at the end of the file, by appending alone.

Whatever the page ends in, what is kept is read back the same, no byte before it changes, and no fact is written twice.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from unittest.mock import patch

import pytest
from hypothesis import example, given, settings, strategies as st
from strategies import OPENERS, examples, facts, line_facts, pages, texts

from memctl.errors import Refused
from memctl.facts import Fact, Kind, Span
from memctl.markdown.attributes import ATTRIBUTES, Attribute
from memctl.markdown.grammar import clean, parse, render
from memctl.markdown.lines import MAX_LINE, split_lines
from memctl.markdown.page import parse_page
from memctl.retain.retain import addition, spans_of

DAY = date(2025, 11, 27)
TEA = Fact(Kind.WORLD, "Tea is hot.", ("Peter",))
COFFEE = Fact(Kind.OPINION, "Coffee is better.", confidence=0.9)


def appended(before: str, *facts: Fact) -> str:
    """The page after retain, made as notes/files.py makes it: a last line without an end gets one first."""
    text = addition(before, facts, DAY).text
    return before + ("\n" if text and before and not before.endswith(("\n", "\r")) else "") + text


TEA_LINE = "- W @Peter: Tea is hot.\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", f"# 2025-11-27\n\n## Retain\n\n{TEA_LINE}"),
        ("\n \n", f"\n \n# 2025-11-27\n\n## Retain\n\n{TEA_LINE}"),
        ("# Day\n\nText.\n", f"# Day\n\nText.\n\n## Retain\n\n{TEA_LINE}"),
        ("Text without an end", f"Text without an end\n\n## Retain\n\n{TEA_LINE}"),
        ("Text.\n\n", f"Text.\n\n## Retain\n\n{TEA_LINE}"),
        ("## Retain\n", f"## Retain\n\n{TEA_LINE}"),
        ("## Retain\n\n", f"## Retain\n\n{TEA_LINE}"),
        ("## Retain\n- W: a\n", f"## Retain\n- W: a\n{TEA_LINE}"),
        ("## Запомнить\n\n- W: a", f"## Запомнить\n\n- W: a\n{TEA_LINE}"),
        # Another section follows the first: a second Retain is opened, and the text stays a story.
        ("## Retain\n- W: a\n## Notes\nText.\n", f"## Retain\n- W: a\n## Notes\nText.\n\n## Retain\n\n{TEA_LINE}"),
        # What would swallow the line is closed first.
        ("```\ncode", f"```\ncode\n```\n\n## Retain\n\n{TEA_LINE}"),
        ("~~~~~\ncode\n", f"~~~~~\ncode\n~~~~~\n\n## Retain\n\n{TEA_LINE}"),
        ("<!-- open\n", f"<!-- open\n-->\n\n## Retain\n\n{TEA_LINE}"),
        ("## Retain\n<script>\n", f"## Retain\n<script>\n</script>\n\n## Retain\n\n{TEA_LINE}"),
        ("## Retain\n\n<div>\n", f"## Retain\n\n<div>\n\n{TEA_LINE}"),
    ],
)
def test_where_the_line_goes(before: str, after: str) -> None:
    assert appended(before, TEA) == after


def test_where_each_fact_stands_and_whether_it_did_before() -> None:
    before = "## Retain\n\n- O(0.9): Coffee\n  is better.\n"
    made = addition(before, [TEA, COFFEE, TEA], DAY)
    assert made.text == TEA_LINE
    assert made.places == ((Span(5, 5), False), (Span(3, 4), True), (Span(5, 5), False))


def test_the_same_line_again_says_where_it_stands_and_adds_nothing() -> None:
    before = appended("# Day\n", TEA)
    made = addition(before, [TEA], DAY)
    assert made.text == ""
    assert made.places == ((Span(5, 5), True),)
    assert addition(before, [replace(TEA, block_id="other")], DAY).text == ""  # an id makes no other fact


def test_a_fact_outside_of_retain_does_not_stand_there_yet() -> None:
    assert addition(TEA_LINE, [TEA], DAY).text.endswith(TEA_LINE)


def test_spans_of_names_the_first_place_of_each_fact() -> None:
    page = parse_page("## Retain\n- W: a\n- W: b ^x\n- W: a\n")
    assert spans_of(page)[0] == {Fact(Kind.WORLD, "a"): Span(2, 2), Fact(Kind.WORLD, "b"): Span(3, 3)}


def test_two_values_of_one_slot_at_once() -> None:
    """Both are kept, in their order: the second is current, the first is history."""
    alpha, beta = Fact(Kind.WORLD, "Alpha", ("Atlas",), key="db"), Fact(Kind.WORLD, "Beta", ("Atlas",), key="db")
    made = addition("", [alpha, beta], DAY)
    assert made.text.splitlines()[-2:] == ["- W(key=db) @Atlas: Alpha", "- W(key=db) @Atlas: Beta"]
    assert [place.line for place, _ in made.places] == [5, 6]


def check_added(before: str, told: list[Fact]) -> None:
    made = addition(before, told, DAY)
    after = appended(before, *told)
    page = parse_page(after)
    lines, old = split_lines(after.removeprefix("\ufeff")), split_lines(before.removeprefix("\ufeff"))
    assert lines[: len(old)] == old
    spans = spans_of(page)[1]
    assert [place for place, _ in made.places] == [spans[replace(fact, block_id=None)] for fact in told]
    facts_before = [entry.fact for entry in parse_page(before).entries if entry.fact]
    facts_after = [entry.fact for entry in page.entries if entry.fact]
    assert facts_after[: len(facts_before)] == facts_before
    added = facts_after[len(facts_before) :]
    assert len(added) == sum(line.startswith("- ") for line in made.text.split("\n"))
    assert set(added) <= set(told)
    assert addition(after, told, DAY).text == ""


@given(pages(), st.lists(line_facts(), min_size=1, max_size=2))
@example("---\nopen: yes", [TEA])
@example("---\naliases: [a]\n---", [TEA])
@example("`" * 50 + "\nx", [TEA])
@example("\ufeff````\n", [TEA])
@example("> ~~~~\n\n   ~~~~~~~\n", [TEA])
@example("## Retain\n- a\n  - b\n    1. c\n       ```\n", [TEA])
@example("## Retain\n| a | b |\n|---|---|\n| c | d |", [TEA])
@example("[a]: /b 'open\n", [TEA])
@example("## Retain\n<!-- <script> ``` \n", [TEA])
@example("## Retain\r- W: a\r", [TEA])
@settings(max_examples=examples(5000, part=333))
def test_what_is_kept_is_read_back_and_nothing_before_it_changes(before: str, told: list[Fact]) -> None:
    check_added(before, told)


@pytest.mark.parametrize("section", ["", "\ufeff", "## Retain\n\n- W: a\n\n"], ids=["", "BOM", "Retain"])
def test_no_last_line_swallows_the_first_new_one(section: str) -> None:
    for line in sorted(set(OPENERS)):
        check_added(section + line, [TEA, COFFEE])
        check_added(f"{section}{line}\n", [TEA])


def test_a_page_that_cannot_be_closed_is_refused_and_not_written() -> None:
    with patch("memctl.retain.retain.open_end", lambda _: None), pytest.raises(Refused, match="open block") as refused:
        addition("```\n", [TEA], DAY)
    assert refused.value.cure


def test_line_breaks_and_control_characters_become_spaces_everywhere() -> None:
    fact = Fact(Kind.EXPERIENCE, "a\n- W: forged\x00\u2028b", task="x\n- W: forged", why="\ty ", extra=(("m", "a\rb"),))
    assert clean(fact) == Fact(Kind.EXPERIENCE, "a - W: forged b", task="x - W: forged", why="y", extra=(("m", "a b"),))


@pytest.mark.parametrize(
    "attribute", [each for each in ATTRIBUTES if each.shape == "text"], ids=lambda each: each.field
)
def test_the_text_of_any_attribute_becomes_one_line(attribute: Attribute) -> None:
    """Also of one that is added to the table: nothing else has to be told of it."""
    value = "user:a\n- W: forged"
    made = clean(Fact(Kind.WORLD, "x", **{attribute.field: (value,) if attribute.many else value}))
    assert getattr(made, attribute.field) in ("user:a - W: forged", ("user:a - W: forged",))


@pytest.mark.parametrize(
    "fact",
    [
        Fact(Kind.WORLD, ""),
        Fact(Kind.WORLD, " \x00\n"),
        Fact(Kind.WORLD, "a" * MAX_LINE),
        Fact(Kind.WORLD, "x", ("a]]: forged",)),
        Fact(Kind.WORLD, "x", ("",)),
        Fact(Kind.WORLD, "x", ("a#b",)),
        Fact(Kind.WORLD, "x", key="\n"),
        Fact(Kind.WORLD, "x", block_id="no id"),
        Fact(Kind.NOTE, "x"),
    ],
    ids=["empty", "control", "long", "bracket", "no name", "heading", "no key", "block id", "note"],
)
def test_what_a_line_cannot_hold_is_refused(fact: Fact) -> None:
    with pytest.raises(Refused) as refused:
        clean(fact)
    assert refused.value.cure


@given(facts())
@settings(max_examples=examples(150))
def test_clean_gives_a_fact_that_its_line_spells(fact: Fact) -> None:
    try:
        made = clean(fact)
    except Refused:
        return
    assert parse(render(made)) == made
    assert len(split_lines(render(made))) == 1
    assert clean(made) == made


@given(texts(), pages(4))
@settings(max_examples=examples(200))
def test_any_text_that_says_something_can_be_kept(text: str, before: str) -> None:
    check_added(before, [clean(Fact(Kind.WORLD, f"x{text}"))])
