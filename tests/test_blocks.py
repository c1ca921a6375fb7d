"""Managed blocks (contract, section 6): the only parts of a page that memctl writes by itself.

    <!-- memctl:begin NAME sha=0a1b2c -->
    …
    <!-- memctl:end NAME -->

Each marker is a line of its own and starts it. A block that is never closed is the owner's text.
"""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import growth, line_facts

from memctl.facts import Fact
from memctl.text.blocks import Block, find_blocks, is_marker
from memctl.text.grammar import render
from memctl.text.page import parse_page

BEGIN, END = "<!-- memctl:begin x -->", "<!-- memctl:end x -->"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (BEGIN, True),
        (END, True),
        ("<!-- memctl:begin a/b-c.d sha=0af9 -->", True),
        (BEGIN + "  ", True),
        (BEGIN + "\r", True),
        (" " + BEGIN, False),
        ("- " + BEGIN, False),
        (BEGIN + " text", False),
        ("<!-- memctl:begin -->", False),
        ("<!-- memctl:begin two words -->", False),
        ("<!-- memctl:begin x sha=XYZ -->", False),
        ("<!-- memctl:end x sha=0a -->", False),
        ("<!--memctl:begin x-->", False),
        ("", False),
    ],
)
def test_a_marker_is_a_line_of_its_own(line: str, expected: bool) -> None:
    assert is_marker(line) is expected


def test_blocks_are_found_in_order_with_the_lines_of_their_markers() -> None:
    lines = ["a", "<!-- memctl:begin one sha=0af9 -->", "b", "<!-- memctl:end one -->", BEGIN, END]
    assert find_blocks(lines) == [Block("one", "0af9", 2, 4), Block("x", None, 5, 6)]


@pytest.mark.parametrize(
    "lines",
    [
        [],
        [BEGIN, "a"],
        ["a", END],
        [END, BEGIN],
        [BEGIN, "<!-- memctl:end y -->"],
        ["text " + BEGIN, END],
    ],
)
def test_what_is_not_closed_is_the_owners_text(lines: list[str]) -> None:
    assert find_blocks(lines) == []


def test_of_nested_blocks_the_inner_one_counts() -> None:
    """An outer block that lost its end does not swallow the page."""
    lines = ["<!-- memctl:begin outer -->", BEGIN, "a", END, "<!-- memctl:end outer -->"]
    assert find_blocks(lines) == [Block("x", None, 2, 4)]


@given(st.lists(st.sampled_from([BEGIN, END, BEGIN.replace("x", "y"), END.replace("x", "y"), "text", ""]), max_size=12))
@settings(max_examples=150)
def test_blocks_never_overlap_and_begin_and_end_with_their_own_markers(lines: list[str]) -> None:
    after = 0
    for block in find_blocks(lines):
        assert after < block.begin < block.end
        assert f"memctl:begin {block.name} " in lines[block.begin - 1]
        assert f"memctl:end {block.name} " in lines[block.end - 1]
        assert not any(is_marker(line) for line in lines[block.begin : block.end - 1] if f" {block.name} " in line)
        after = block.end


@given(st.lists(line_facts(), max_size=3))
@settings(max_examples=60)
def test_no_fact_can_forge_a_marker(facts: list[Fact]) -> None:
    """Scorecard S3: markers in the text of a fact stay text, so the block around the facts stays as it is."""
    inside = [f"- {render(fact)}" for fact in facts]
    assert find_blocks([BEGIN, *inside, END]) == [Block("x", None, 1, len(facts) + 2)]


def test_entries_know_the_block_they_stand_in() -> None:
    page = parse_page(f"before\n\n{BEGIN}\n- W: copy\n{END}\n\nafter\n")
    assert [(entry.content, entry.block) for entry in page.entries if not is_marker(entry.content)] == [
        ("before", None), ("W: copy", "x"), ("after", None),
    ]  # fmt: skip


def test_markers_without_end_take_no_time() -> None:
    assert growth(lambda text: find_blocks(text.split("\n")), lambda n: f"{BEGIN}\n" * (n // 8)) < 3
