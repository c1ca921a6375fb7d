"""Managed blocks: the only parts of a page that memctl writes by itself.

    <!-- memctl:begin NAME sha=0a1b2c -->
    …
    <!-- memctl:end NAME -->

Each marker is a line of its own and starts it. A block that is never closed is the owner's text.
"""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given, settings, strategies as st
from strategies import LINES, examples, growth, line_facts, pages, texts

from memctl.facts import Fact
from memctl.markdown.blocks import doubled, edited, resolve_conflict, splice, without_markers
from memctl.markdown.grammar import render
from memctl.markdown.lines import split_lines
from memctl.markdown.markers import Block, block_is_edited, body_of, find_blocks, is_marker, sha_of
from memctl.markdown.page import live_blocks, open_end, parse_page

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
    "lines", [[], [BEGIN, "a"], ["a", END], [END, BEGIN], [BEGIN, "<!-- memctl:end y -->"], ["text " + BEGIN, END]]
)
def test_what_is_not_closed_is_the_owners_text(lines: list[str]) -> None:
    assert find_blocks(lines) == []


def test_of_nested_blocks_the_inner_one_counts() -> None:
    """An outer block that lost its end does not swallow the page."""
    lines = ["<!-- memctl:begin outer -->", BEGIN, "a", END, "<!-- memctl:end outer -->"]
    assert find_blocks(lines) == [Block("x", None, 2, 4)]


@given(st.lists(st.sampled_from([BEGIN, END, BEGIN.replace("x", "y"), END.replace("x", "y"), "text", ""]), max_size=12))
@settings(max_examples=examples(150))
def test_blocks_never_overlap_and_begin_and_end_with_their_own_markers(lines: list[str]) -> None:
    after = 0
    for block in find_blocks(lines):
        assert after < block.begin < block.end
        assert f"memctl:begin {block.name} " in lines[block.begin - 1]
        assert f"memctl:end {block.name} " in lines[block.end - 1]
        assert not any(is_marker(line) for line in lines[block.begin : block.end - 1] if f" {block.name} " in line)
        after = block.end


@given(st.lists(line_facts(), max_size=3))
@settings(max_examples=examples(200))
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


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("```", "```"), ("~~~~ html", "~~~~"), ("  ```", "  ```"), ("```", ""), ("<pre>", "</pre>"), ("<script>", ""),
        ("---", "---"), ("<![CDATA[", "]]>"), ("<?php", "?>"),
    ],
)  # fmt: skip
def test_an_example_in_a_code_fence_or_front_matter_is_no_block(before: str, after: str) -> None:
    text = f"{before}\n{BEGIN}\nan example\n{END}\n{after}\n"
    assert live_blocks(split_lines(text)) == []
    assert all(entry.block is None for entry in parse_page(text).entries)
    assert splice(text, "x", "- real").startswith(text)


@pytest.mark.parametrize(
    "before",
    ["- item\n  ```", "> ```", "<div>", "<!-- note", "```\n```", "text", "| a |\n|---|", "    ```", "- ```\n  x"],
)
def test_what_ends_at_a_marker_does_not_hide_it(before: str) -> None:
    lines = split_lines(f"{before}\n{BEGIN}\nbody\n{END}\n")
    assert [block.name for block in live_blocks(lines)] == ["x"]


@given(pages(), st.sampled_from(["\n", "\r\n"]))
@settings(max_examples=examples(150))
def test_a_page_and_its_writer_see_the_same_blocks(text: str, end: str) -> None:
    text += f"{end}{BEGIN}{end}body{end}{END}{end}"
    page = parse_page(text)
    inside = {n: b.name for b in live_blocks(page.lines) for n in range(b.begin, b.end + 1)}
    assert [entry.block for entry in page.entries] == [inside.get(entry.span.line) for entry in page.entries]


def lines_of(text: str) -> list[str]:
    return split_lines(text.removeprefix("\ufeff"))


def test_a_new_block_stands_at_the_end_after_one_blank_line() -> None:
    sha = sha_of(["- one", "- two"])
    assert splice("# Peter\n", "now", "- one\n- two\n") == (
        f"# Peter\n\n<!-- memctl:begin now sha={sha} -->\n- one\n- two\n<!-- memctl:end now -->\n"
    )
    assert splice("", "now", "- one").startswith("<!-- memctl:begin now")


@pytest.mark.parametrize(
    "before",
    ["", "\ufeff", "a", "a\n", "a\r\nb\r\n", "a\r\nb", "a\rb\r", "a\rb", "\n", "a\n\n\n", "  ", "\ufeff# T\r\n", "a\r\nb\n", "\udcff\udcfe\n",
     "a\u2028b\x85c\x0b", "\0", "a\nb\r"],
)  # fmt: skip
def test_taking_a_block_away_brings_back_every_byte(before: str) -> None:
    page = splice(before, "now", "- one\n\n- two")
    assert page.startswith(before)
    assert splice(page, "now", "") == before


def test_a_page_without_a_final_newline_gets_none() -> None:
    assert splice("a", "x", "b").endswith("<!-- memctl:end x -->")


@pytest.mark.parametrize(
    ("page", "end"), [("a\r\nb\r\n", "\r\n"), ("a\nb\n", "\n"), ("a\rb\r", "\r"), ("a\r\nb\r\nc\n", "\r\n")]
)
def test_a_block_takes_the_line_ends_of_its_page(page: str, end: str) -> None:
    added = splice(page, "x", "one\ntwo").removeprefix(page)
    assert added.split(end)[2:4] == ["one", "two"]
    assert added.replace(end, "").isprintable()


def test_a_block_is_written_where_it_stands() -> None:
    page = f"\ufeffmine\r\n{BEGIN}  \r\n{END}\r\nmine too \udce4"
    written = splice(page, "x", "- a")
    sha = sha_of(["- a"])
    assert written == f"\ufeffmine\r\n<!-- memctl:begin x sha={sha} -->\r\n- a\r\n{END}\r\nmine too \udce4"
    assert splice(written, "x", "- b").endswith(f"- b\r\n{END}\r\nmine too \udce4")


def test_of_two_blocks_with_one_name_the_first_is_live() -> None:
    one = splice("", "x", "first")
    page = one + "\nmine\n\n" + one
    assert doubled(page) == ["x"]
    assert doubled(one) == []
    assert splice(page, "x", "new") == splice(one, "x", "new") + "\nmine\n\n" + one


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("- one", "- one", False),
        ("- one", "- one  ", False),  # an editor that strips or adds space at line ends has changed nothing
        ("- one", "- One", True),
        ("- one", "", True),
        ("- one", "- one\n- two", True),
        ("- one\n- two", "- two\n- one", True),
    ],
)
def test_an_edit_by_hand_shows(old: str, new: str, expected: bool) -> None:
    page = splice("# T\n", "x", old)
    by_hand = page.replace(f"-->\n{old}\n", f"-->\n{new}\n" if new else "-->\n")
    assert edited(by_hand, "x") is expected
    assert edited(by_hand.replace("\n", "\r\n"), "x") is expected
    assert not edited(page, "x")
    assert not edited("no block\n", "x")


def test_empty_markers_say_where_the_block_is_to_be() -> None:
    """Markers that a person wrote: empty, they are a place; with a text in them, that is the person's."""
    assert not edited(f"{BEGIN}\n\n{END}\n", "x")
    assert edited(f"{BEGIN}\nmine\n{END}\n", "x")


@pytest.mark.parametrize(
    ("page", "closing"),
    [
        ("```\ncode", "```"), ("````py\n```\n", "````"), ("~~~\n", "~~~"), ("<pre>\n", "</pre>"), ("<SCRIPT a='b'>\n", "</script>"),
        ("<![CDATA[\n", "]]>"), ("<?php\n", "?>"), ("<style>\r\n\r\n", "</style>"), ("<!-- a comment\n", ""), ("<div>\n", ""), ("- ```\n", ""),
        ("a\n", ""),
    ],
)  # fmt: skip
def test_what_the_end_of_the_page_leaves_open_is_closed_first(page: str, closing: str) -> None:
    done = splice(page, "x", "- seen")
    assert done.startswith(page)
    assert (next(filter(None, done[len(page) :].splitlines())) == closing) is bool(closing)
    assert "seen" in [entry.content for entry in parse_page(done).entries if entry.block == "x"]
    assert (
        splice(done, "x", "").strip() == f"{page.strip()}{chr(10) if closing else ''}{closing}".strip() or "\r" in page
    )


@pytest.mark.parametrize(
    "body", [END, BEGIN, f"a\n{END}\n{BEGIN}\nb", "```", "~~~~\nx", "<pre>", "<script>\n\n", f"```\n{END}"]
)
def test_a_body_cannot_break_out(body: str) -> None:
    """S3: neither end the block early nor swallow what follows it."""
    page = splice("# T\n", "x", body) + "\n- W: after\n"
    blocks = live_blocks(lines_of(page))
    assert [block.name for block in blocks] == ["x"]
    assert body_of(lines_of(page), blocks[0]) == without_markers(body)
    entries = parse_page(page, facts_everywhere=True).entries
    assert [(entry.content, entry.block) for entry in entries if entry.fact] == [("after", None)]


def test_a_marker_in_a_body_is_shown_as_the_text_it_is() -> None:
    assert without_markers(END) == [f"\\{END}"]


def test_a_block_that_would_not_be_found_again_is_refused() -> None:
    """Front matter that is never closed would reach into the block, to its first rule."""
    with pytest.raises(ValueError, match="would not be found again"):
        splice("---\ntitle: open\n", "x", "a\n\n---\n\nb")
    with pytest.raises(ValueError, match="close what is open"):
        splice(f"<div>\n{BEGIN}\n{END}\n", "x", "```\n\n```\n")


@pytest.mark.parametrize("name", ["", "two words", "a-->", "x\n", "a" * 201])
def test_a_name_that_no_marker_can_hold_is_an_error(name: str) -> None:
    with pytest.raises(ValueError, match="no name"):
        splice("", name, "a")


RAW = st.binary(max_size=100).map(lambda data: data.decode("utf-8", "surrogateescape"))
MARKED = st.lists(
    st.builds(
        "{}{}".format,
        st.sampled_from([BEGIN, END, "<!-- memctl:begin x sha=0a1b2c3d -->", "<!-- memctl:end y -->", "text", "", "- item"]) | LINES,
        st.sampled_from(["\n", "\n", "\r\n", "\r", ""]),
    ),
    max_size=8,
).map("".join)  # fmt: skip
PAGES = pages() | MARKED | RAW
BODIES = st.lists(LINES, max_size=5).map("\n".join) | texts() | MARKED | RAW


NAMES = st.sampled_from(["x", "now/a.b"])


@given(PAGES, NAMES, BODIES, BODIES)
@settings(max_examples=examples(2000, part=100))
def test_every_byte_outside_the_block_stays(text: str, name: str, body: str, other: str) -> None:
    """R9: write a block, write it anew, take it away: no byte outside it changes, what was written is read back, and twice is as once."""
    had = [block for block in live_blocks(lines_of(text)) if block.name == name]
    try:
        once = splice(text, name, body)
        twice = splice(once, name, other)
    except ValueError:
        assert text.removeprefix("\ufeff").startswith("---") or "<" in text
        return
    assert splice(once, name, body) == once
    written = without_markers(body)
    if not any(map(str.strip, written)):
        assert had or once == text
        return
    block = next(each for each in live_blocks(lines_of(once)) if each.name == name)
    assert body_of(lines_of(once), block) == written
    assert not block_is_edited(lines_of(once), block)
    if had:
        first, last = pieces(text), pieces(once)
        assert last[: block.begin - 1] == first[: had[0].begin - 1]
        assert last[block.end - 1 :] == first[had[0].end - 1 :]
    else:
        assert once.startswith(text)
        gone = splice(once, name, "")
        assert gone == text or (open_end(lines_of(text)) and gone.startswith(text))
    if any(map(str.strip, without_markers(other))):
        assert splice(twice, name, body) == once


def pieces(text: str) -> list[str]:
    """The lines of a page with their ends; the byte order mark belongs to the first."""
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    found = re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+", text.removeprefix("\ufeff"))
    return [mark, *found] if not found else [mark + found[0], *found[1:]]


def test_a_page_of_many_lines_takes_time_in_proportion() -> None:
    assert growth(lambda text: splice(text, "x", "- one"), lambda n: "- a line\n```\n" * (n // 14)) < 3
    assert growth(lambda text: splice("", "x", text), lambda n: f"{END}\n" * (n // 20)) < 3


MINE, THEIRS = splice("", "x", "- mine\n- same"), splice("", "x", "- theirs\n- same")


def conflict(ours: str, theirs: str, base: str | None = None, end: str = "\n") -> str:
    between = f"||||||| 1a2b3c4{end}{base}" if base is not None else ""
    return f"<<<<<<< HEAD{end}{ours}{between}======={end}{theirs}>>>>>>> other branch{end}"


@pytest.mark.parametrize("base", [None, "", MINE.replace("mine", "old")])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_conflict_between_two_blocks_that_memctl_wrote_is_ours(base: str | None, end: str) -> None:
    text = f"\ufeff# T \udcff\n\n{conflict(MINE, THEIRS, base)}\nafter\n".replace("\n", end)
    assert resolve_conflict(text) == f"\ufeff# T \udcff\n\n{MINE}\nafter\n".replace("\n", end)


def test_conflicts_in_parts_of_blocks_in_several_places() -> None:
    first, second = MINE.splitlines(keepends=True), THEIRS.splitlines(keepends=True)
    text = "".join(("# T\n\n", conflict("".join(first[:2]), "".join(second[:2])), *first[2:], "\nmine\n\n"))
    text += conflict("\n" + splice("", "y", "one"), "") + "end\n"
    assert resolve_conflict(text) == f"# T\n\n{MINE}\nmine\n\n\n{splice('', 'y', 'one')}end\n"


@pytest.mark.parametrize(
    "text",
    [
        "no conflict\n",
        conflict("a person's line\n", "another\n"),
        conflict(MINE.replace("mine", "by hand"), THEIRS),
        conflict(MINE, THEIRS.replace("theirs", "by hand")),
        conflict(MINE + "by hand\n", THEIRS),
        conflict(MINE, THEIRS) + conflict("a\n", "b\n"),
        conflict(MINE, THEIRS).replace("=======\n", ""),
        conflict(MINE, THEIRS).replace(">>>>>>>", ">>>>>>"),
        conflict(conflict(MINE, THEIRS), THEIRS),
        f"```\n{conflict(MINE, THEIRS)}```\n",
        conflict(BEGIN + "\nmine\n" + END + "\n", THEIRS),
        "Title\n=======\n>>>>>>> text\n",
        "```\n<<<<<<< ours\n=======\n>>>>>>> theirs\n```\n",
    ],
)
def test_any_other_conflict_is_left_untouched(text: str) -> None:
    assert resolve_conflict(text) == text


SIGNS = ("<<<<<<< a", "=======", ">>>>>>> b", "||||||| c")


def without_base(text: str) -> str:
    """A page without what stood there before both sides changed it: between ||||||| and ======= of a conflict."""
    kept, state = [], ""
    for line in text.splitlines(keepends=True):
        sign = line[0] if re.fullmatch(r"([<|=>])\1{6}( .*)?", line.rstrip("\r\n")) else ""
        if sign == "<" or (state and sign):
            state = sign.replace(">", "")
        if state != "|":
            kept.append(line)
    return "".join(kept)


@given(PAGES, st.lists(st.sampled_from([*(f"{sign}\n" for sign in SIGNS), MINE, THEIRS, "text\n"]), max_size=9))
@example(
    "", [f"{SIGNS[0]}\n", f"{SIGNS[3]}\n", "text\n", f"{SIGNS[1]}\n", MINE, f"{SIGNS[2]}\n"]
)  # both took the text out
@settings(max_examples=examples(150))
def test_untangle_takes_no_line_of_a_person(text: str, parts: list[str]) -> None:
    """That one side still has; what both took out is in neither."""
    text += "".join(parts)
    if (done := resolve_conflict(text)) != text:
        passing = {*lines_of(MINE + THEIRS), *SIGNS}
        kept, said = (
            [line for line in lines_of(t) if line.strip() and line not in passing] for t in (done, without_base(text))
        )
        assert kept == said
