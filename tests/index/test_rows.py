"""A page as rows of the index: ids, days, valid time, and the search terms of every entry.

Rows depend on the path and the text of their page alone, so an index that was deleted comes back the same.
"""

from __future__ import annotations

import re
from datetime import date
from unittest.mock import patch

import pytest
from hypothesis import example, given, settings, strategies as st
from strategies import examples, facts, findable, growth, line_facts, pages

from memctl.facts import Fact, Kind, Period
from memctl.ids import content_key, digest, fact_id, page_id
from memctl.index.row import EntityPage, PageRows, Row
from memctl.index.rows import FACT_PAGES, rows_of, valid
from memctl.language.analyzer import terms
from memctl.language.dates_lexer import Lexer
from memctl.markdown.grammar import parse, render
from memctl.markdown.lines import MAX_LINE
from memctl.markdown.page import parse_page

LOG = "memory/2025-11-27.md"
BOB = "bank/entities/Bob.md"
DAY = date(2025, 11, 27)


def facts_of(text: str, path: str = LOG) -> list[Row]:
    """The rows of facts on a log with these lines under Retain."""
    return [row for row in rows_of(path, f"## Retain\n\n{text}").rows if row.role == "fact"]


def one(line: str, path: str = LOG) -> Row:
    (row,) = facts_of(f"- {line}\n", path)
    return row


def test_ids_are_stable_for_ever() -> None:
    """Ids stand in Markdown (`for=`, evidence), so they may never change. If this test fails, do not mend the test."""
    assert fact_id(Kind.WORLD, ("Peter",), "Lives in Oslo.", DAY) == "f-5qpvygfx"
    assert fact_id(Kind.OPINION, ("爱丽丝", "Анна"), "喜欢茶", None, 2) == "f-tvdxvcde"
    assert one("B @Peter: Met [[Gull Spit]].").ref == "f-90ft5vn3"
    assert page_id("memory/2025-11-27.md") == 226117218059
    assert digest(["- W: a "]) == 7977815409679580716
    assert content_key("A  b", ["Peter"]) == -3325630430895056264


@given(st.lists(line_facts(), min_size=2, max_size=5, unique_by=lambda f: (f.kind, f.entities, f.text, f.block_id)))
@settings(max_examples=examples(200))
def test_ids_survive_lines_moving(told: list[Fact]) -> None:
    lines = [f"- {render(fact)}\n" for fact in told]
    there = {row.ref for row in facts_of("".join(lines))}
    moved = {row.ref for row in facts_of("Prose.\n\n" + "".join(reversed(lines)))}
    assert moved == there


def test_ids_differ_for_twins_on_a_page_and_are_equal_on_pages_of_the_same_day() -> None:
    first, second, third = (row.ref for row in facts_of("- W: a\n" * 3))
    assert len({first, second, third}) == 3
    assert [one("W: a", f"memory/2025-11-{page}.md").ref == first for page in ("27-standup", "28")] == [True, False]


def test_an_id_comes_from_kind_entities_text_and_day_and_from_nothing_else() -> None:
    base = one("W @Peter: a b").ref
    same = ["W(key=x,i=0.5) @Peter: a b", "W  @Peter :  a   b"]
    other = ["B @Peter: a b", "W @Anna: a b", "W: a b", "W @Peter: a c", "W @Peter: A b"]
    assert {one(line).ref for line in same} == {base}
    assert base not in {one(line).ref for line in other}


@given(facts(), st.dates() | st.none(), st.integers(0, 9))
def test_an_id_is_f_and_eight_characters_that_cannot_be_confused(fact: Fact, day: date | None, ordinal: int) -> None:
    made = fact_id(fact.kind, fact.entities, fact.text, day, ordinal)
    assert re.fullmatch("f-[0-9abcdefghjkmnpqrstvwxyz]{8}", made)


def test_a_block_id_is_kept_and_takes_no_ordinal_from_its_twins() -> None:
    first, second = (row.ref for row in facts_of("- W: a\n- W: a\n"))
    assert [row.ref for row in facts_of("- W: a\n- W: a ^mine\n- W: a\n")] == [first, "mine", second]


@given(st.permutations(("W: a", "W(i=0.9): a", "W(private): a", "W(private, i=0.9): a")))
def test_a_private_line_takes_no_id_from_its_twins(lines: list[str]) -> None:
    """Others than the owner know a line by the id that the owner knows; a private line without open twins has its usual one."""
    public = [line for line in lines if "private" not in line]
    rows = facts_of("".join(f"- {line}\n" for line in lines))
    assert [row.ref for row in rows if not row.private] == [row.ref for row in facts_of("- W: a\n" * len(public))]
    assert len({row.ref for row in rows}) == len(lines)
    assert one("W(private): a").ref == one("W: a").ref


def test_a_paragraph_with_a_block_id_has_it_and_evidence_does_not_take_the_id_it_cites() -> None:
    rows = rows_of(
        "bank/opinions.md",
        "Some text. ^para\n\n"
        "- O(c=0.86) @Peter: Prefers concise replies. ^o-7k3dq2ma\n"
        "  - 2025-11-27 · stated 0.80 · [memory/2025-11-27.md#L12](../memory/2025-11-27.md#L12) ^f-1a2b3c4d\n",
    ).rows
    assert [row.ref for row in rows[:2]] == ["para", "o-7k3dq2ma"]
    assert re.match("f-(?!1a2b3c4d)", rows[2].ref)


def test_a_page_with_more_entries_than_ids_says_so() -> None:
    """2^22 of them; a page may have 8 MiB, so that only rows of nothing but headings come near."""
    with patch("memctl.index.rows.ORDINAL_BITS", 5):
        page = rows_of(LOG, "# A\n" * 9)
    assert [line for line, problem in page.problems if "more entries" in problem.message] == [5]
    assert len(page.rows) == len({row.id for row in page.rows}) == 4


@pytest.mark.parametrize(
    ("line", "day"),
    [
        ("W(t=2025-11-20..2025-11-25): a", "2025-11-20"),
        ("W(t=..2025-11-25): a", None),
        ("W: a [memory/2025-11-26-x.md#L12](../memory/2025-11-26-x.md#L12)", "2025-11-26"),
        ("W(t=2025-11-20): a [memory/2025-11-26.md#L12](../memory/2025-11-26.md#L12)", "2025-11-20"),
        ("W: a memory/2025-13-99.md#L1", None),
        ("W: a memory/2025-11-26.md", None),
        ("W: a", None),
    ],
)
def test_on_other_pages_a_day_is_its_t_else_the_day_in_its_citation_else_unknown(line: str, day: str | None) -> None:
    assert one(line, "bank/world.md").day == day
    assert one(line).day == "2025-11-27"  # on a log, always the log's


@pytest.mark.parametrize(
    ("line", "period"),
    [
        ("W: Lives in Oslo.", "2025-11-27.."),
        ("W(t=2025-01): Lives in Oslo.", "2025-01"),
        ("W(t=2025-01..): Lives in Oslo.", "2025-01-01.."),
        ("W(until=2025-12-01): Lives in Oslo.", "2025-11-27..2025-12-01"),
        ("W(t=2025-01..,until=2025-02): Lives in Oslo.", "2025-01-01..2025-02-28"),
        ("W(t=2025-01,until=2025-12): Lives in Oslo.", "2025-01"),  # until= only ever shortens
        # What the text says dates an experience …
        ("B: Met on 2025-11-20.", "2025-11-20"),
        ("B: Встретились 2025-11-20.", "2025-11-20"),
        # … but only begins a state.
        ("W: Lives in Oslo since 2025-11-20.", "2025-11-20.."),
        ("W: In Oslo from 2025-11-20 to 2025-11-25.", "2025-11-20..2025-11-25"),
        ("W: Neither 2025-11-20 nor 2025-11-25.", "2025-11-27.."),
        ("W: Is allergic to nuts, had a rash in 2023", "2025-11-27.."),
        ("W: The passport is valid, until 3 May 2026.", "..2026-05-03"),
        ("W: Жил в Осло, до марта 2023", "..2023-03-31"),
        ("W: 住在罗马，直到2024年5月", "..2024-05-31"),
        ("W: The roof leaked all night, it was repaired in 2023", "2023"),
        ("W: Коту нельзя рыбу, отравился в 2023 году", "2025-11-27.."),
        ("W: 对花生过敏，2023年住过院", "2025-11-27.."),
        ("W: 王老师下个月出国，导师换成李老师", "2025-11-27.."),
        # A slot starts no later than its line, and only t=, until= or a newer version end it.
        ("W(key=db): PostgreSQL since 2025-11-20.", "2025-11-20.."),
        ("W(key=db): PostgreSQL until 2025-12-20.", "2025-11-27.."),
        ("W(key=db): PostgreSQL, to be replaced on 2025-12-20.", "2025-11-27.."),
        ("W(key=db): In use from 2025-11-20 to 2025-11-25.", "2025-11-20.."),
        ("W(key=db,t=2025-12-20..): SQLite.", "2025-12-20.."),
    ],
)
def test_when_a_line_of_27_november_is_true(line: str, period: str) -> None:
    row = one(line)
    fact = parse(line)
    assert isinstance(fact, Fact)
    assert str(valid(fact, fact.text, DAY)) == period
    assert (row.first, row.last) == tuple(side or None for side in ends(period))


def ends(period: str) -> tuple[str, str]:
    read = Period.parse(period)
    assert read
    return str(read.first or ""), str(read.last or "")


def test_without_a_day_truth_begins_when_the_text_says_or_is_open() -> None:
    assert valid(Fact(Kind.WORLD, "a"), "a", None) == Period()
    assert valid(Fact(Kind.WORLD, "a"), "Since 2025-11-20.", None) == Period(date(2025, 11, 20))
    assert valid(Fact(Kind.WORLD, "a", key="db"), "Since 2025-11-20.", None) == Period(date(2025, 11, 20))
    assert valid(None, "on 2025-01-01", DAY) == Period(DAY)


def test_a_row_says_everything_that_recall_filters_by() -> None:
    links = "for=f-1,against=f-2,supersedes=f-3,corrects=f-4"
    row = one(f"O(c=0.8,key=drink,i=0.9,src=agent:x,private,{links}) @Peter: Tea [[X Y]].")
    assert (row.kind, row.slot, row.confidence, row.importance) == ("opinion", "drink", 0.8, 0.9)
    assert (row.origin, row.private, row.heading, row.line, row.end_line) == ("agent:x", 1, "Retain", 3, 3)
    assert row.names.split("\n") == ["peter", "x y"]
    assert row.links.split("\n") == ["supports f-1", "refutes f-2", "supersedes f-3", "corrects f-4"]
    assert row.length == len(row.own.split())


def test_a_line_is_searched_for_its_times_once_however_many_rules_ask() -> None:
    with patch.object(Lexer, "tokens", autospec=True, side_effect=Lexer.tokens) as cut:
        assert one("W @Anna: moves to York on 3 May 2026, and back by June").first == "2026-05-03"
    assert cut.call_count == len({call.args[1] for call in cut.call_args_list})


def test_what_nobody_said_is_the_owners_and_an_opinion_without_a_number_is_held_at_0_7() -> None:
    fact = one("W: a")
    assert (one("O: a").confidence, fact.confidence, fact.origin, fact.private) == (0.7, None, "owner", 0)
    note = rows_of(LOG, "text\n").rows[0]
    assert (note.kind, note.confidence, note.importance, note.origin) == ("note", None, None, "owner")


def test_twins_share_their_content_key_whatever_the_case_the_spaces_and_the_day() -> None:
    keys = {one(line, path).content_key for line, path in [
        ("W @Peter @Anna: Likes tea", LOG),
        ("W @anna @PETER: likes  TEA", LOG),
        ("W(i=0.2) @Peter @Anna: Likes tea", "memory/2025-01-01.md"),
    ]}  # fmt: skip
    assert len(keys) == 1
    assert one("W @Peter: Likes tea").content_key not in keys


def test_a_digest_ignores_spaces_at_line_ends_and_nothing_else() -> None:
    assert digest(["a  ", "b"]) == digest(["a", "b\t"])
    assert len({digest(["a", "b"]), digest(["a b"]), digest([" a", "b"]), digest(["a", "b", ""])}) == 4


def test_the_copies_in_managed_blocks_are_marked() -> None:
    page = rows_of("bank/world.md", "<!-- memctl:begin x -->\n- W: a\n<!-- memctl:end x -->\n- W: b\n")
    assert [(row.own, row.block) for row in page.rows if row.role == "fact"] == [("w a", "x"), ("w b", None)]


def test_the_title_of_a_page_is_its_first_heading_else_its_file_name() -> None:
    assert rows_of("bank/x.md", "text\n\n## First ##\n\n# Second\n").title == "First"
    assert rows_of("bank/architecture/data-flow.md", "text\n").title == "data-flow"


@pytest.mark.parametrize("path", sorted(FACT_PAGES))
def test_on_the_three_bank_pages_every_bullet_may_be_a_fact(path: str) -> None:
    assert [row.role for row in rows_of(path, "- W: a\n").rows] == ["fact"]
    assert [row.role for row in rows_of("bank/other.md", "- W: a\n").rows] == ["item"]


@pytest.mark.parametrize(
    ("path", "text", "entity"),
    [
        ("bank/entities/Alex-Chen.md", "# Alex Chen\n", EntityPage("Alex Chen", None, ())),
        ("bank/entities/Alex-Chen.md", "# Notes on him\n", EntityPage("Alex Chen", None, ())),
        (BOB, "---\naliases: [Боб, ' ', 鲍勃]\ntype: person\n---\n", EntityPage("Bob", "person", ("Боб", "鲍勃"))),
        (BOB, "---\naliases: Bobby\ntype: [x]\n---\n", EntityPage("Bob", None, ("Bobby",))),
        (BOB, "---\nbroken: [\n---\n", EntityPage("Bob", None, ())),
        ("bank/Bob.md", "# Bob\n", None),
    ],
)
def test_an_entity_page_names_its_entity(path: str, text: str, entity: EntityPage | None) -> None:
    assert rows_of(path, text).entity == entity


def test_broken_front_matter_is_reported_and_drops_nothing() -> None:
    page = rows_of("bank/x.md", "---\nbroken: [\n---\ntext\n")
    assert [(line, "front matter" in problem.message) for line, problem in page.problems] == [(1, True)]
    assert [row.own for row in page.rows] == ["break", "text"]


@given(pages(), st.sampled_from([LOG, "bank/world.md", "bank/entities/X.md"]))
@settings(max_examples=examples(100))
def test_equal_path_and_text_give_equal_rows(text: str, path: str) -> None:
    page = rows_of(path, text)
    assert page == rows_of(path, text)
    assert isinstance(page, PageRows)
    ids = [row.id for row in page.rows]
    assert ids == sorted(set(ids)) and all(0 < each < 2**63 and each >> 22 == page_id(path) for each in ids)
    assert len(ids) == len(parse_page(text, path in FACT_PAGES).entries)


ATTRIBUTE_NAME = re.compile(r"(?:^|(?<=[(（,，]))[^\W\d][\w-]*=")  # of a fact they are not searched


@given(pages(), st.sampled_from([LOG, "bank/world.md"]))
@example("1) !\n", LOG)
@example("- O(c=0.9): Alice\n", "bank/world.md")
@example("## Retain\n- W: 爱\n  丽丝v1.2\n  ```x\n", LOG)
@example("---\nа: 爱\n---\n", LOG)
@example("1. - W: x\n", "bank/world.md")
@example("c=2=0 \n", LOG)
@settings(max_examples=examples(200))
def test_every_token_of_a_page_is_among_the_terms_of_its_own_entry(text: str, path: str) -> None:
    """Contract, section 5: any token that stands in a file is retrievable by that token."""
    held: dict[int, set[str]] = {}
    for row in rows_of(path, text).rows:
        for line in range(row.line, row.end_line + 1):
            held.setdefault(line, set()).update(row.own.split(" "))
    for number, line in enumerate(parse_page(text).lines, 1):
        for each in line.split():
            chunk = ATTRIBUTE_NAME.sub("", each)
            if findable(chunk):
                assert terms(chunk)
                assert any({*terms(said)} <= held[number] for said in (chunk, each)), each


@pytest.mark.parametrize("path", [LOG, "bank/world.md"])
def test_of_a_long_line_16_kib_are_searched(path: str) -> None:
    text = f"- W: first {'a ' * (MAX_LINE // 2)} last\n"
    (row,) = rows_of(path, text).rows
    assert row.own.startswith("w first")
    assert "last" not in row.own.split()


@pytest.mark.parametrize(
    "made",
    [
        lambda n: "memory/2025-11-27" * (n // 17),
        lambda n: "@" * n,
        lambda n: "- W: `" + "`" * n + "@x\n",
        lambda n: "---\n" + "a: [\n" * (n // 5) + "---\n",
        lambda n: "---\n" + "{" * n + "\n---\n",
    ],
    ids=["citations", "at signs", "backticks", "open lists", "open braces"],
)
def test_time_grows_with_the_length_of_a_page(made: object) -> None:
    assert callable(made)
    assert growth(lambda text: rows_of("bank/world.md", text), made) < 3


@pytest.mark.parametrize(("text", "due"), [
    ("Moves to Dresden on 20 March", "2026-03-20"), ("Переезжает в Дрезден 20 марта", "2026-03-20"), ("3月20日搬到德累斯顿", "2026-03-20"),
    ("三月九号到十三号去深圳参展", "2026-03-13"), ("The review was moved to 5 May", "2026-05-05"), ("Meets Tom on 2026-03-09", "2026-03-09"),
    ("Takes leave in November", None), ("Отпуск всегда берёт в ноябре", None), ("Has her birthday on 20 March every year", None),
    ("Works from home from 20 March on", None), ("Plays chess", None),
])  # fmt: skip
def test_a_row_knows_when_what_it_tells_of_is_past(text: str, due: str | None) -> None:
    *_, row = rows_of("memory/2026-03-02.md", f"## Retain\n\n- W @Rosa: {text}\n").rows
    assert row.due == due
