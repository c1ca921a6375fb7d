"""A page as entries.

Bullets under a heading `Retain` (any level, any case; «Запомнить», «保留») are facts, in bank/world.md and its like all
bullets. Everything else is a note: each paragraph, list item, table row, heading and piece of code. Nothing is dropped.

The pages in tests/corpus say it by example; beside each lies what memctl reads in it:

    lines      role      content, or the fact as the grammar writes it
               ! column  what is wrong with a line under Retain -> what to write

`pytest --update-corpus` writes these files anew.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import example, given, settings, strategies as st
from store_helpers import recorded
from strategies import HOSTILE, examples, growth, line_facts, pages, texts

from memctl.facts import Fact, Kind, Span
from memctl.markdown.front_matter import MAX_FRONT_MATTER, read_front_matter
from memctl.markdown.grammar import printable_line, render
from memctl.markdown.lines import MAX_LINE, Role, content_of, split_lines
from memctl.markdown.page import Page, is_retain, parse_page, plain_blocks
from memctl.markdown.private import without_lines
from memctl.notes.edits import diff

CORPUS = sorted((Path(__file__).parents[1] / "corpus").glob("*.md"))


def described(page: Page) -> Iterator[str]:
    """A page as the .expected files show it."""
    for entry in page.entries:
        first, last = entry.span.line, entry.span.end_line
        where = f"L{first}" + (f"-L{last}" if last > first else "")
        says = render(entry.fact) if entry.fact else entry.content.replace("\n", " ⏎ ")
        block = f" [block {entry.block}]" if entry.block else ""
        yield f"{where:<10} {entry.role.value:<8}  {says}{block}"
        if entry.problem:
            yield f"{'':<10} ! {entry.problem.column:<6}  {entry.problem.message} -> {entry.problem.suggestion}"
    yield f"ends in Retain: {'yes' if page.ends_in_retain else 'no'}"
    yield f"front matter: {read_front_matter(page.front_matter)}"


@pytest.mark.parametrize("path", CORPUS, ids=[path.stem for path in CORPUS])
def test_corpus(path: Path, update_corpus: bool) -> None:
    page = parse_page(path.read_text(encoding="utf-8"), facts_everywhere=path.name.startswith("bank-"))
    found = "".join(f"{line}\n" for line in described(page))
    assert found == recorded(path, found, update_corpus)


def test_the_corpus_is_there_and_complete() -> None:
    assert len(CORPUS) >= 11
    assert {path.stem for path in CORPUS} == {path.stem for path in (CORPUS[0].parent).glob("*.expected")}


def facts_in(text: str, everywhere: bool = False) -> list[str]:
    return [entry.content for entry in parse_page(text, everywhere).entries if entry.fact]


@pytest.mark.parametrize(
    ("heading", "expected"),
    [
        ("Retain", True), ("RETAIN", True), (" retain: ", True), ("Запомнить", True), ("ЗАПОМНИТЬ:", True), ("保留", True),
        ("保留：", True), ("To retain", False), ("Retained", False), ("", False),
    ],
)  # fmt: skip
def test_the_heading_of_facts_in_three_languages_and_any_case(heading: str, expected: bool) -> None:
    assert is_retain(heading) is expected


@pytest.mark.parametrize("level", range(1, 7))
def test_any_level_of_heading_opens_the_section_and_the_same_or_a_higher_one_ends_it(level: int) -> None:
    head = "#" * level
    assert facts_in(f"{head} Retain\n- W: in\n{head} Next\n- W: out\n") == ["in"]
    if level < 6:
        assert facts_in(f"{head} Retain\n- W: in\n{head}# Deeper\n- W: in too\n") == ["in", "in too"]
    if level > 1:
        assert facts_in(f"{head} Retain\n- W: in\n{head[1:]} Higher\n- W: out\n") == ["in"]


def test_two_retain_sections_and_a_retain_below_a_retain() -> None:
    assert facts_in("## Retain\n- W: a\n## Other\n- W: no\n## Retain\n- W: b\n") == ["a", "b"]
    assert facts_in("# Retain\n- W: a\n## Retain\n- W: b\n## Other\n- W: no\n") == ["a", "b"]


def test_on_pages_of_facts_every_bullet_may_be_one_and_a_remark_is_no_mistake() -> None:
    text = "# World\n- W: a\n- remark\n\ntext\n"
    assert facts_in(text) == []
    assert facts_in(text, everywhere=True) == ["a"]
    assert parse_page(text, facts_everywhere=True).problems == ()


def test_a_broken_line_under_retain_is_a_note_with_line_column_and_suggestion() -> None:
    page = parse_page("## Retain\n\n- W: good\n  *  w: bad\n- o: bad\n")
    entry = page.entries[-1]
    assert (entry.kind, entry.role, entry.content, entry.fact) == (Kind.NOTE, Role.ITEM, "o: bad", None)
    assert [(line, problem.column) for line, problem in page.problems] == [(5, 3)]  # a remark below a fact is none
    assert page.problems[0][1].suggestion == "write W, B, O or S"


def test_a_deeper_bullet_may_be_a_fact_or_a_remark() -> None:
    page = parse_page("## Retain\n- W: a\n  - B: b\n  - remark\n")
    assert [entry.content for entry in page.entries if entry.fact] == ["a", "b"]
    assert page.problems == ()


LOG = "# Day\n\n## Retain\n\n- W: one\n  more\n- B: two\n"


@pytest.mark.parametrize("end", ["\r\n", "\r", "\n"], ids=["CRLF", "CR", "LF"])
@pytest.mark.parametrize("mark", ["", "\ufeff"], ids=["", "BOM"])
@pytest.mark.parametrize("front", ["", "---\ntype: log\n---\n"], ids=["", "front matter"])
def test_line_ends_and_byte_order_marks_change_nothing(end: str, mark: str, front: str) -> None:
    plain = parse_page(front + LOG)
    assert parse_page(mark + (front + LOG).replace("\n", end)) == plain
    assert [entry.content for entry in plain.entries if entry.fact] == ["one more", "two"]
    assert parse_page((mark + front + LOG).rstrip("\n")) == plain


def test_only_line_ends_end_a_line() -> None:
    """Editors and citations count LF, CRLF and CR; form feeds and U+2028 stand inside a line."""
    within = "d\x0be\x0cf\x85g\u2028h\x1ci"
    assert split_lines(f"a\r\nb\rc\n\n{within}") == ["a", "b", "c", "", within]
    assert split_lines("") == []
    assert split_lines("\n") == [""]
    assert split_lines("a") == split_lines("a\n") == ["a"]


@pytest.mark.parametrize(
    ("text", "front"),
    [
        ("---\na: b\n---\ntext\n", "a: b"), ("--- \na: b\n...\ntext\n", "a: b"), ("\ufeff---\r\na: b\r\n---\r\n", "a: b"),
        ("---\n---\n", ""), ("---\na: b\n", ""), ("\n---\na: b\n---\n", ""), ("text\n---\n", ""), ("", ""),
    ],
)  # fmt: skip
def test_front_matter_stands_on_the_first_line_and_is_closed(text: str, front: str) -> None:
    assert parse_page(text).front_matter == front


def test_front_matter_is_searchable_line_by_line_and_holds_no_facts() -> None:
    page = parse_page("---\ntitle: x\n# Retain\n- W: y\n---\n- W: z\n")
    assert [entry.span.line for entry in page.entries if entry.role is Role.REST] == [2, 3, 4]
    assert not any(entry.fact for entry in page.entries)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("", {}),
        (" \n", {}),
        ("a: 1.10\nb: no\nc: 2025-11-27", {"a": "1.10", "b": "no", "c": "2025-11-27"}),
        ("aliases: [Боб, 鲍勃]\nx:\n  - a\n  - [b]\n  - c: d", {"aliases": ["Боб", "鲍勃"], "x": ["a"]}),
        ("a: {b: c}\nd:", {"a": "", "d": ""}),
        ("just words", None),
        ("[a, b]", None),
        ("a: b: c", None),
        ("a: [", None),
        ("a: \x00", None),
        ('a: "\\UFFFFFFFF"', None),
        ("a: " + "[" * 2000, None),
        ("a: " + "x" * MAX_FRONT_MATTER, None),
        ("a: !!python/object/apply:os.system [ls]", {"a": ["ls"]}),
    ],
)
def test_front_matter_is_words_and_lists_of_words(source: str, expected: object) -> None:
    """Nothing is guessed (`no` stays a word, 1.10 keeps its nought) and nothing is run; None is no mapping."""
    assert read_front_matter(source) == expected


YAML = [*"-:?&*!|>'\"%@`{}[],#ab0 \n\t\\", "\\U", "\\x", "<<", "!!", "---", "\x00", "é"]


@given(st.lists(st.sampled_from(YAML)).map("".join))
@settings(max_examples=examples(150))
def test_front_matter_never_raises(source: str) -> None:
    assert isinstance(read_front_matter(source), dict | None)


@given(st.lists(line_facts(), max_size=4), st.booleans())
@settings(max_examples=examples(5000, part=400))
def test_written_facts_are_read_back_and_nothing_else_is(facts: list[Fact], everywhere: bool) -> None:
    """Whatever stands in a fact (fences, markers, headings, quotes, ids), its line is that fact and one line long."""
    text = ("# World\n\n" if everywhere else "## Retain\n\n") + "".join(f"- {render(fact)}\n" for fact in facts)
    page = parse_page(text + "\n## Next\n\n- W: not mine\n", everywhere)
    mine = [entry for entry in page.entries if 2 < entry.span.line <= 2 + len(facts)]
    assert [entry.fact for entry in mine] == facts
    assert [entry.span for entry in mine] == [Span(line, line) for line in range(3, 3 + len(facts))]
    assert not any(entry.problem or entry.block for entry in page.entries)
    assert page.entries[-1].span.line == len(page.lines)


@pytest.mark.parametrize("content", [text for text in HOSTILE if text == printable_line(text) != ""])
def test_structure_in_a_fact_is_text(content: str) -> None:
    page = parse_page(f"## Retain\n- {render(Fact(Kind.WORLD, content))}\n- W: next\n")
    assert [entry.content for entry in page.entries if entry.fact] == [content, "next"]


SAYS_SOMETHING = re.compile(r"[^\W_]|[^\x00-\x7f\s]")


@given(pages(), st.booleans())
@example("1) !\n", False)
@example("1) \u2028 \n", False)
@example("[a]: b\n[c]: d 'e\nf'\n", False)
@example("> " * 40 + "deep\n", False)
@example("".join(f"{'  ' * i}- item {i}\n" for i in range(40)), True)
@settings(max_examples=examples(250))
def test_each_line_that_says_something_stands_in_exactly_one_entry(text: str, everywhere: bool) -> None:
    """Every line with a letter, a digit or a symbol is recallable, and is read the same from its lines alone."""
    page = parse_page(text, everywhere)
    held = Counter(line for entry in page.entries for line in range(entry.span.line, entry.span.end_line + 1))
    assert set(held.values()) <= {1}
    for number, line in enumerate(page.lines, 1):
        assert number in held or not SAYS_SOMETHING.search(line), line
    for entry in page.entries:
        raw = page.lines[entry.span.line - 1 : entry.span.end_line]
        assert entry.content
        assert content_of(entry.role, raw) == entry.logical
        assert entry.content == (entry.fact.text if entry.fact else entry.logical)
    starts = [entry.span.line for entry in page.entries]
    assert starts == sorted(starts)


@given(texts(), st.sampled_from(["## {}", "{}\n===", "- {}", "1. {}", "> {}", "{}", "    {}", "|{}|\n|-|"]))
@settings(max_examples=examples(100))
def test_parse_page_never_raises(text: str, form: str) -> None:
    parse_page(form.format(text), facts_everywhere=True)


@pytest.mark.parametrize(
    ("role", "raw", "content"),
    [
        (Role.FACT, ["  -  W: a", "     b  "], "W: a b"),
        (Role.ITEM, ["* - a", "b"], "a b"),
        (Role.ITEM, ["12) a"], "a"),
        (Role.ITEM, ["1)  "], "1)"),
        (Role.TEXT, ["> > a", "> b"], "a b"),
        (Role.TEXT, ["简短的", "回复", "and text"], "简短的回复 and text"),
        (Role.HEADING, ["## A # b ##  "], "A # b"),
        (Role.HEADING, ["##"], ""),
        (Role.HEADING, ["A", "b", "---"], "A b"),
        (Role.HEADING, ["> # A#"], "A#"),
        (Role.ROW, ["| a | b |"], "| a | b |"),
        (Role.CODE, ["  a", "", " b"], "  a\n\n b"),
        (Role.REST, ["[a]: b"], "[a]: b"),
    ],
)
def test_content_is_what_the_raw_lines_say_without_their_markers(role: Role, raw: list[str], content: str) -> None:
    assert content_of(role, raw) == content


def test_a_long_code_block_is_cut_at_blank_lines_or_where_a_piece_is_full() -> None:
    block = "```\n" + "".join("\n" if n in (15, 20) else f"line {n}\n" for n in range(1, 80)) + "```\n"
    spans = [entry.span for entry in parse_page(block).entries]
    assert spans[0] == Span(1, 15)  # a blank line in the second half of a piece
    assert all(span.end_line - span.line < 24 for span in spans)
    assert max(span.end_line for span in spans) >= 80


def test_of_a_line_over_16_kib_the_rest_is_not_searched_and_that_is_said() -> None:
    page = parse_page("## Retain\n- W: " + "a" * MAX_LINE + " tail\n")
    assert [(line, problem.column) for line, problem in page.problems] == [(2, MAX_LINE + 1)]
    assert page.lines[1].endswith(" tail")  # the line itself stays whole
    assert len(page.entries[1].logical) <= MAX_LINE


def test_a_usual_log_is_a_plain_page() -> None:
    log = "# Day\n\nText with `code`\nover two lines.\n\n## Retain\n\n- W @Peter: a\n  goes on\n- O(0.9): [[b]]\n"
    assert plain_blocks(split_lines(log))
    assert plain_blocks(split_lines(log + "1. numbered\n")) is None


SLOW: dict[str, Callable[[int], str]] = {
    "hashes far apart": lambda n: "# a" + " " * n + "b",
    "link definitions": lambda n: "[a]: b\n" * (n // 7),
    "open definitions": lambda n: "[a]: b '\n" * (n // 9),
    "open brackets": lambda n: "[\n" * (n // 2),
    "deep quotes": lambda n: "> " * (n // 2) + "\n",
    "many quotes": lambda n: "> > > a\n" * (n // 8),
    "deep lists": lambda n: "- " * (n // 2) + "\n",
    "nested lists": lambda n: "".join(" " * (2 * i % 60) + "- a\n" for i in range(n // 34)),
    "one long item": lambda n: "## Retain\n- W: a\n" + "b\n" * (n // 2),
    "a broken long item": lambda n: "## Retain\n- W(" + ")\n" * (n // 2) + ":",
    "open comment": lambda n: "<!--\n\n" * (n // 6),
    "tags": lambda n: "<a\n" * (n // 3),
    "tables": lambda n: "|a|b|\n|-|-|\n" * (n // 12),
    "a wide table": lambda n: ("|" * 4000 + "\n" + "|-" * 4000 + "\n") + "|x|y|\n" * (n // 6),
    "fences": lambda n: "```\na\n" * (n // 6),
    "an open fence": lambda n: "```\n" + "a\n" * (n // 2),
    "setext": lambda n: "a\n=\n" * (n // 4),
    "blank lines": lambda n: "\n" * n,
    "tabs": lambda n: "\t" * n + "a",
    "block marks": lambda n: "<!-- memctl:begin a -->\n" * (n // 24),
}


@pytest.mark.parametrize("name", SLOW)
def test_time_grows_with_the_length_of_a_page(name: str) -> None:
    """t(2n) / t(n) < 3 on twenty pathological pages."""
    assert growth(parse_page, SLOW[name]) < 3


def test_a_diff_is_unified_as_git_shows_it() -> None:
    assert diff("a.md", "x\ny\n", "x\ny\nz\n") == "--- a/a.md\n+++ b/a.md\n@@ -1,2 +1,3 @@\n x\n y\n+z\n"
    assert diff("a.md", "", "x\n") == "--- /dev/null\n+++ b/a.md\n@@ -0,0 +1 @@\n+x\n"
    assert diff("a.md", "x\n", "x\n") == ""


def test_a_hidden_line_at_the_end_leaves_a_blank_one() -> None:
    """Nothing stands in its place, and line numbers stay."""
    assert without_lines("a\nb", {2}) == "a\n " and without_lines("a\nb\n", {2}) == "a\n\n"
