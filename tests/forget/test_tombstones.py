"""Tombstones: their grammar, and that burying a line changes nothing else on its page."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from random import Random

import pytest
from face_helpers import memory_on
from hypothesis import given, strategies as st
from strategies import DAYS, IDS, texts
from torture import forgotten

from memctl.facts import Span
from memctl.forget.erase import RedactionTarget, redact_safely
from memctl.index.rows import rows_of
from memctl.markdown.lines import Role, split_lines
from memctl.markdown.markers import FORGOTTEN, Redaction, Tombstone, read_tombstone, redact, render_tombstone
from memctl.markdown.page import Entry, parse_page

DAY = date(2025, 11, 30)
MAY_GO = (Role.FACT, Role.TEXT, Role.ITEM, Role.ROW)


@st.composite
def tombstones(draw: st.DrawFn) -> Tombstone:
    """Every tombstone that there can be."""
    parts = draw(st.integers(1, 40))
    return Tombstone(draw(IDS), draw(DAYS), draw(st.integers(1, parts)), parts)


@given(tombstones(), st.sampled_from(["", "- ", "  ", "> - ", "12. ", "\t", "| "]), st.sampled_from(["", " ", " | |"]))
def test_what_is_written_is_read(tombstone: Tombstone, before: str, after: str) -> None:
    """Whatever list, quote or table it stands in."""
    assert read_tombstone(before + render_tombstone(tombstone) + after) == tombstone


@given(texts(), st.sampled_from(["before", "behind"]))
def test_a_line_that_says_anything_else_is_no_tombstone(text: str, where: str) -> None:
    """No text can hide beside one."""
    comment = render_tombstone(Tombstone("f-1a2b3c4d", DAY))
    line = f"{text}{comment}" if where == "before" else f"{comment}{text}"
    if any(char.isalpha() for char in text):
        assert read_tombstone(line) is None


@pytest.mark.parametrize(
    "line",
    [
        "<!-- memctl:forgotten f-1a2b3c4d -->", "<!-- memctl:forgotten f-1a2b3c4d 2025-13-01 -->",
        "<!-- memctl:forgotten f-1a2b3c4d 2025-11-30 3/2 -->", "<!-- memctl:forgotten f-1a2b3c4d 2025-11-30 1/1 -->",
        "<!-- memctl:forgotten f-1a2b3c4d 2025-11-30 Peter -->", "- W: <!-- memctl:forgotten f-1a2b3c4d 2025-11-30 -->",
        "<!--memctl:forgotten f-1a2b3c4d 2025-11-30-->", "", "<!-- memctl:begin forgotten -->",
    ],
)  # fmt: skip
def test_what_only_looks_like_one(line: str) -> None:
    """A typing slip is a line of the owner's, and is not taken for a redaction."""
    assert read_tombstone(line) is None


PAGE = """\ufeff# 2025-11-27

Dinner with Пётр
and 爱丽丝.

## Retain

- W @Peter: Lives in Lisbon
- B @Peter: Walked home
  in the rain,
    twice
  - a remark below
    - W: and one below that

  A second paragraph.
* W @爱丽丝: 喜欢简短的回复
1. W: a numbered line

| who | what |
|---|---|
| Пётр | чай |

> - quoted

- O(0.9) @Пётр: Любит чай ^tea
  prose that belongs to it
prose that does not
"""


def redactions_of(text: str, facts_everywhere: bool = False) -> list[tuple[Entry, Redaction]]:
    """Every entry of a page that can be forgotten, with its redaction."""
    page = parse_page(text, facts_everywhere)
    found = [entry for entry in page.entries if entry.role in MAY_GO and entry.block is None]
    return [(entry, Redaction(entry.span, f"f-{number:08}", entry.role)) for number, entry in enumerate(found)]


def rest(text: str, without: set[int], facts_everywhere: bool = False) -> list[object]:
    """What a page holds but for the entries that begin on some lines."""
    page = parse_page(text, facts_everywhere)
    kept = [entry for entry in page.entries if entry.span.line not in without and entry.block != FORGOTTEN]
    return [(e.role, e.span, e.content, e.heading, e.fact, e.block) for e in kept] + [page.ends_in_retain]


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("number", range(len(redactions_of(PAGE))))
def test_each_line_can_go_alone(number: int, ending: str) -> None:
    """All others stay what they are and where they are, byte for byte; the page keeps its number of lines."""
    text = PAGE.replace("\n", ending)
    entry, redaction = redactions_of(text)[number]
    redacted = redact(text, [redaction], DAY)
    gone = range(redaction.span.line, redaction.span.end_line + 1)
    before, after = split_lines(text), split_lines(redacted)
    assert [line for n, line in enumerate(after, 1) if n not in gone] == [
        line for n, line in enumerate(before, 1) if n not in gone
    ]
    assert len(after) == len(before) and redacted.count(ending) == text.count(ending)
    assert all(read_tombstone(after[n - 1]) for n in gone)
    assert rest(redacted, set()) == rest(text, {redaction.span.line})
    (tomb,) = [e for e in parse_page(redacted).entries if e.block == FORGOTTEN]
    assert (tomb.forgotten, tomb.span, tomb.content) == (redaction.ref, entry.span, "")


def test_all_lines_can_go() -> None:
    """Nothing is left that can be recalled, but the headings; nothing is wrong with the page."""
    redacted = redact(PAGE, [redaction for _, redaction in redactions_of(PAGE)], DAY)
    page = parse_page(redacted)
    assert [e.content for e in page.entries if e.block != FORGOTTEN] == ["2025-11-27", "Retain"]
    assert page.problems == () and page.ends_in_retain
    assert redacted.startswith("\ufeff# 2025-11-27\n")
    assert "| <!-- memctl:forgotten f-00000009 2025-11-30 --> | |" in redacted


def test_a_grave_on_the_first_line_keeps_the_byte_order_mark() -> None:
    """It is no part of the text."""
    assert redact("\ufeffA line", [Redaction(Span(1, 1), "f-1", Role.TEXT)], DAY) == (
        "\ufeff<!-- memctl:forgotten f-1 2025-11-30 -->"
    )


BULLETS = st.sampled_from(
    [
        "- W: a", "* O(0.9) @Пётр: чай", "+ W @爱丽丝: 茶", "- B: went on", "  over a line", "  - nested", "    - W: deeper", "\t- W: tab",
        "", "", "prose", "  indented", "> quoted", "| a | b |", "|---|---|", "## Retain", "## Запомнить", "# Other", "1. one", "```", "<div>",
        "<!-- memctl:begin x sha=00000000 -->", "<!-- memctl:end x -->", "- [ ] task", "-\tW: after a tab", "- - W: twice", "    code", "a | b",
        "\\| x |", "- ", "---", "- W(ttl=3d): z ^id-1",
    ]
)  # fmt: skip


@given(st.lists(st.one_of(BULLETS, texts(3)), max_size=14), st.randoms(use_true_random=False), st.booleans())
def test_burying_changes_nothing_else(lines: list[str], random: Random, everywhere: bool) -> None:
    """On any page, whichever lines go: all others stay what they are; one whose going would change others stays too."""
    path = "bank/world.md" if everywhere else "memory/2025-11-27.md"
    text = "\n".join(lines).encode("utf-8", "replace").decode()
    rows = [
        row for row in rows_of(path, text).rows if row.role in {role.value for role in MAY_GO} and row.block is None
    ]
    alone = len({row.digest for row in rows}) == len(rows)
    moved = random.choice([0, 0, 1]) if alone else 0  # lines may have come in above since they were looked at
    chosen = [row for row in rows if random.random() < 0.4]
    targets = {RedactionTarget(row.ref, row.digest, Span(row.line - moved, row.end_line - moved)) for row in chosen}
    made, done, stuck = redact_safely(path, text, targets, DAY)
    gone = {redaction.span.line for redaction in done}
    assert rest(made, set(), everywhere) == rest(text, gone, everywhere)
    assert gone | {redaction.span.line for redaction in stuck} >= {row.line for row in chosen}
    left = [target for target in targets if target.ref not in {redaction.ref for redaction in stuck}]
    assert not alone or redact_safely(path, made, left, DAY)[0] == made


@pytest.mark.parametrize("old", [False, True])
def test_nothing_is_left_by_which_to_guess(tmp_path: Path, old: bool) -> None:
    """Of lines that pages, answers and derived files named; tombstones of before are named by check, and mended."""
    workspace, ids = forgotten.workspace_with(tmp_path, old)
    assert forgotten.told(workspace)[1] > 0
    rules = [finding.rule for finding in memory_on(workspace).check()]
    assert rules.count("tombstone") == (len(ids) if old else 0)
    memory_on(workspace).forget(**({"expired": True} if old else {"ids": ids}), apply=True)
    assert forgotten.told(workspace) == (0, 0)
    assert not [finding for finding in memory_on(workspace).check() if finding.rule in ("tombstone", "reference")]
    told = (tmp_path / "memory/2025-12-01.md").read_text("utf-8")
    assert told.count("supersedes=x-") == 3 and (tmp_path / "bank/notes.md").read_text("utf-8").count("^x-") == 3
