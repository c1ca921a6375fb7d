"""Forget: what each selector means, what is exempt, what stays in a line's place, and that no copy of it is left anywhere."""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import shutil
import sqlite3
from collections.abc import Callable
from datetime import date, timedelta
from functools import partial
from pathlib import Path

import pytest
from face_helpers import NOW, TODAY, Done, ask, call, contents, fixture_copy, memory_on, snapshot, write_pages
from hypothesis import given, settings, strategies as st
from store_helpers import rebuilt, rows, strays
from strategies import examples

from memctl.beliefs.opinions_page import read_last_written
from memctl.cli.call import load
from memctl.errors import CannotWrite, NothingFound, PageChanged, PageUnreadable, Usage
from memctl.forget import forget as verb
from memctl.forget.forget import Forgetting, forget, suggest
from memctl.forget.select import Selectors
from memctl.index.heal import open_index
from memctl.index.queries.entries import entry_count
from memctl.index.row import Row
from memctl.index.rows import ttl_end
from memctl.maintenance.check import check
from memctl.markdown.markers import read_tombstone
from memctl.notes import edits
from memctl.notes.workspace import Workspace
from memctl.recall.lookup import show
from memctl.reflect.reflect import reflect
from memctl.retain.retain import read_fact, retain

load(["forget"])

OLD, NEW = "memory/2022-03-01.md", "memory/2025-11-27.md"


def told(done: Forgetting) -> list[str]:
    """The places of what is, or would be, forgotten."""
    return [str(line.citation) for line in done.lines]


def chosen(workspace: Workspace, **selectors: object) -> list[str]:
    """What selectors mean, without doing it."""
    return told(forget(memory_on(workspace), Selectors(**selectors)))  # type: ignore[arg-type]


def gone(workspace: Workspace, **selectors: object) -> Forgetting:
    """Forget what selectors mean."""
    return forget(memory_on(workspace), Selectors(**selectors), apply=True)  # type: ignore[arg-type]


def page(workspace: Workspace, path: str) -> str:
    """A page as it stands."""
    return (workspace.root / path).read_bytes().decode("utf-8", "surrogateescape")


def id_of(workspace: Workspace, words: str) -> str:
    """The id of the line of these words, or of the best hit."""
    hits = ask(workspace, words, k=9).hits
    return next((hit.ref for hit in hits if hit.content == words), hits[0].ref)


def entries(workspace: Workspace) -> list[dict[str, object]]:
    """Every entry as the index has it, its terms too, by the names of its columns."""
    columns = ("path", "ordinal", *Row._fields[2:-2], "own")
    return [dict(zip(columns, row[1:], strict=True)) for row in rows(workspace) if row[0] == "entry"]


def id_at(workspace: Workspace, path: str, line: int) -> str:
    """The id of the line that begins there."""
    return next(str(e["ref"]) for e in entries(workspace) if (e["path"], e["line"]) == (path, line))


def bytes_left(workspace: Workspace, *words: str) -> list[str]:
    """Which of some words still stand in which files: as they are written, or folded as the index keeps them."""
    files = [path for path in workspace.root.rglob("*") if path.is_file()]
    wanted = [(word, form.encode()) for word in words for form in {word, word.casefold()}]
    return [
        f"{word} in {f.relative_to(workspace.root)}" for f in files for word, raw in wanted if raw in f.read_bytes()
    ]


def state(workspace: Workspace) -> str:
    """A hash over every file but the derived ones, with its name; what is random is left out."""
    return hashlib.sha256(
        re.sub(r"x-[0-9a-f]{10}", "x-", repr(sorted(snapshot(workspace.root).items()))).encode()
    ).hexdigest()


# -- selectors --------------------------------------------------------------------------------------------------------

SELECTED = {
    NEW: (
        "# 2025-11-27\n\nWalked with Peter along the canal.\n\n## Retain\n\n"
        "- W @Atlas: Runs on port 8080 ^port\n"
        "- W(src=web:example.com) @Atlas: Has 40 users\n"
        "- W(src=import:lab) @Atlas: Has 50 users\n"
        "- W(src=import) @Atlas: Has 60 users\n"
        "- W(src=tool) @Пётр: Гуляет у канала\n"
        "- W @爱丽丝: 画了一张图\n"
    ),
    "memory/2025-10-01.md": "- W @Atlas: Ran on port 80\n- W: Pete waved\n- W: Петру пора домой\n- W: The petition was signed\n",
    "memory/2025-09-01.md": "- B: Wrote to 爱丽丝 about it\n",
    "bank/entities/Peter.md": "---\naliases: [Pete, Пётр]\n---\n# Peter\n\nPeter walks.\n",
    "bank/world.md": "# World\n\n- W(t=2020-05-01..) @Atlas: Began as a script\n- W: Undated\n",
}


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """Pages for the selectors."""
    return write_pages(tmp_path, SELECTED)


def test_by_id(workspace: Workspace) -> None:
    """One or several, with or without the mark of a block id."""
    other = id_of(workspace, "40 users")
    assert chosen(workspace, ids=("^port",)) == [f"{NEW}#L7"]
    assert chosen(workspace, ids=("port", f"^{other}")) == [f"{NEW}#L7", f"{NEW}#L8"]
    with pytest.raises(NothingFound, match="f-00000000"):
        chosen(workspace, ids=("f-00000000",))
    assert chosen(workspace, ids=("port", "f-00000000")) == [f"{NEW}#L7"]


@pytest.mark.parametrize("name", ["Peter", "@Pete", "Пётр", "[[Peter]]", "peter"])
def test_about_somebody_under_any_name(workspace: Workspace, name: str) -> None:
    """Marked, plainly mentioned, inflected; notes of the logs too. A page of their own is exempt."""
    found = forget(memory_on(workspace), Selectors(about=(name,)))
    assert told(found) == ["memory/2025-10-01.md#L4", "memory/2025-10-01.md#L5", f"{NEW}#L3", f"{NEW}#L11"]
    assert found.exempt == {"a note outside the logs": 1}
    assert "bank/entities/Peter.md#L6" in chosen(workspace, about=(name,), include_exempt=True)


def test_about_somebody_without_a_page(workspace: Workspace) -> None:
    """Only what marks the name: a word of a text may be just a word."""
    for name in ("爱丽丝", "@爱丽丝", "[[爱丽丝]]"):
        assert chosen(workspace, about=(name,)) == [f"{NEW}#L12"]
    assert chosen(workspace, about=("Nobody",)) == []
    notes: list[str] = []
    forget(memory_on(workspace, tell=notes.append), Selectors(about=("Petr", "爱丽丝")))
    assert notes == ["no line names 'Petr'; did you mean Peter?"]


def test_a_word_that_is_nobodys_name_means_no_line(tmp_path: Path) -> None:
    """With a page, plain mentions count too; a suggestion reads the name in the same way."""
    log = "- W(until=2025-01-01): Nobody came to the party.\n- W(until=2025-01-01) @Nobody: Came late.\n- W: Ask [[nobody]].\n"
    workspace = write_pages(tmp_path, {NEW: f"# Nobody\n\n## Retain\n\n{log}"})
    found = forget(memory_on(workspace), Selectors(about=("Nobody",)))
    assert (told(found), found.left) == ([f"{NEW}#L6", f"{NEW}#L7"], [])
    assert told(suggest(memory_on(workspace), Selectors(about=("Nobody",), expired=True))) == [f"{NEW}#L6"]
    write_pages(tmp_path, {"bank/entities/Nobody.md": "# Nobody\n"})
    assert chosen(workspace, about=("Nobody",)) == [f"{NEW}#L5", f"{NEW}#L6", f"{NEW}#L7"]


def test_a_belief_whose_head_has_a_slip_of_the_pen_outlives_forgetting(tmp_path: Path) -> None:
    """reflect would not take it for deleted either: its numbers stay in the block, and mending the head is enough."""
    log = (
        "- O(0.8) @Peter: Prefers concise replies ^concise\n- O(0.7) @Peter: Likes canals ^canals\n"
        "- W(for=canals) @Peter: Walked along one ^walk\n"
    )
    workspace = write_pages(tmp_path, {NEW: f"## Retain\n\n{log}"})
    reflect(memory_on(workspace, TODAY))
    path = workspace.root / "bank/opinions.md"
    right = path.read_text("utf-8")
    path.write_text(right.replace("O(c=0.80) @Peter", "O(c=0,80) @Peter"), "utf-8")
    gone(workspace, ids=("walk",))
    left = path.read_text("utf-8")
    assert (
        "^walk" not in left
        and "O(c=0,80) @Peter" in left
        and read_last_written(left)["o-concise"] == read_last_written(right)["o-concise"]
    )
    path.write_text(left.replace("O(c=0,80) @Peter", "O(c=0.80) @Peter"), "utf-8")
    assert "bank/opinions.md" not in reflect(memory_on(workspace, TODAY)).pages


def test_headings_and_code_about_somebody_are_named(workspace: Workspace) -> None:
    """They hold a page together, so a person has to edit them."""
    (workspace.root / "bank/plan.md").write_text("# Plan for Пётр\n\n```\nname = Peter\n```\n\nNothing yet.\n")
    left = forget(memory_on(workspace), Selectors(about=("Peter",))).left
    assert [text.split(" ^")[0] for text in left] == [
        "bank/entities/Peter.md#L2", "bank/entities/Peter.md#L4", "bank/plan.md#L1", "bank/plan.md#L3",
    ]  # fmt: skip
    assert left[2].endswith("is a heading: edit it by hand") and left[3].endswith("is code: edit it by hand")


def test_about_a_name_that_two_bear(workspace: Workspace) -> None:
    """Which of them, only the asker knows."""
    for name in ("Alex-Chen", "Alex-Petrov"):
        (workspace.root / f"bank/entities/{name}.md").write_text(f"# {name.replace('-', ' ')}\n")
    with pytest.raises(Usage, match="Alex Chen or Alex Petrov"):
        chosen(workspace, about=("Alex",))


@pytest.mark.parametrize(
    ("source", "lines"),
    [("web", [8]), ("import", [9, 10]), ("import:lab", [9]), ("import:la", []), ("tool", [11]), ("agent", [])],
)
def test_by_source(workspace: Workspace, source: str, lines: list[int]) -> None:
    """A prefix of the origin, by whole words."""
    assert chosen(workspace, source=source) == [f"{NEW}#L{line}" for line in lines]


def test_before_a_day(workspace: Workspace) -> None:
    """The day itself stays, and so does what has none."""
    assert chosen(workspace, before=date(2025, 10, 1)) == ["bank/world.md#L3", "memory/2025-09-01.md#L3"]
    assert len(chosen(workspace, before=date(2025, 10, 2))) == 6


def test_selectors_must_all_hold(workspace: Workspace) -> None:
    """AND, in every combination."""
    assert chosen(workspace, about=("Atlas",), source="import") == [f"{NEW}#L9", f"{NEW}#L10"]
    assert chosen(workspace, about=("Atlas",), before=date(2025, 11, 1)) == [
        "bank/world.md#L3",
        "memory/2025-10-01.md#L3",
    ]
    assert chosen(workspace, about=("Atlas", "Peter")) == []
    assert chosen(workspace, ids=("port",), source="web") == []


# -- expiry -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ttl", "end"),
    [
        ("0d", "2024-01-31"), ("1d", "2024-02-01"), ("90d", "2024-04-30"), ("4w", "2024-02-28"), ("1mo", "2024-02-29"),
        ("13mo", "2025-02-28"), ("1y", "2025-01-31"), ("12h", "2024-02-01"), ("24h", "2024-02-01"), ("25h", "2024-02-02"),
        ("0h", "2024-01-31"), ("99999y", "9999-12-31"), ("99999mo", "9999-12-31"),
    ],
)  # fmt: skip
def test_when_a_ttl_runs_out(ttl: str, end: str) -> None:
    """The last day on which the fact is to be kept."""
    assert ttl_end(date(2024, 1, 31), ttl) == date.fromisoformat(end)


def test_a_ttl_past_the_calendar() -> None:
    """Ends with it."""
    assert {ttl_end(date(9999, 12, 1), ttl) for ttl in ("31d", "99999w", "800h", "1mo", "1y")} == {date.max}


@pytest.mark.parametrize("ttl", ["", "90", "d", "-1d", "1.5d", "90D", "100000d", "90d "])
def test_what_is_no_ttl(ttl: str) -> None:
    """Nothing is guessed."""
    with pytest.raises(ValueError, match="not a ttl"):
        ttl_end(TODAY, ttl)


@pytest.mark.parametrize(
    ("line", "over"),
    [
        ("W(ttl=2d): Runs out on the 29th", True), ("W(ttl=3d): Runs out on the 30th, which is today", False),
        ("B(ttl=2d): Слышал дождь", True), ("W(until=2025-11-29): 今天关门", True), ("W(until=2025-11-30): Until today", False),
        ("B(until=2025-11-29): Was on call", True), ("W(t=2025-11-27..2025-11-29): A visit", True),
        ("W(t=2025-11-27..2025-11-30): A visit until today", False), ("W(t=2025-10): Октябрь был сухим", True),
        ("W(t=2025-11-27): One day, which happened", False), ("B(t=2025-10): What was done, was done", False),
        ("W(t=2025-11..): Open", False), ("W: The fair was from 1 to 5 November 2025", False),
        ("W: The ttl of this record is 90d", False),
    ],
)  # fmt: skip
def test_expired(tmp_path: Path, line: str, over: bool) -> None:
    """What its author gave an end, and only that; dates that the text mentions end nothing."""
    workspace = write_pages(tmp_path, {NEW: f"- {line}\n"})
    assert chosen(workspace, expired=True) == ([f"{NEW}#L3"] if over else [])


def test_a_ttl_without_a_day_never_runs_out(tmp_path: Path) -> None:
    """Nobody knows from when."""
    workspace = write_pages(tmp_path, {"bank/world.md": "- W(ttl=1d): Undated\n- W(ttl=1d,t=2025-01-01..): Dated\n"})
    assert chosen(workspace, expired=True) == ["bank/world.md#L4"]


# -- use --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "elsewhere", "idle"),
    [
        ("W: The kettle whistled ^x", "", True),
        ("B(i=0.5): Дождь шёл весь день ^x", "", True),
        ("W(src=web): 天气很好 ^x", "", True),
        ("O(src=web): Somebody thinks so ^x", "", True),
        ("S: A summary ^x", "", True),
        ("W(i=0.6): Matters ^x", "", False),
        ("O: The owner thinks so ^x", "", False),
        ("W(key=kettle): Whistles ^x", "", False),
        ("W(key=kettle): Whistles ^x", "- W(key=kettle): Is silent\n", True),
        ("W: Cited by its id ^x", "See ^x.\n", False),
        ("W: Cited by its place ^x", f"See {OLD}#L3.\n", False),
        ("W: Cited by a link ^x", "[so](../memory/2022-03-01.md#L3)\n", False),
        ("W: Cited by a range ^x", f"See {OLD}#L1-L9.\n", False),
        ("W: Cited from beside ^x", f"See {OLD}#L4.\n", True),
        ("W: Evidence ^x", "- B(for=x): Yes\n", False),
        ("W: Replaced ^x", "- W(supersedes=x): No\n", False),
        ("W: Evidence of a belief ^x", f"- O: so\n  - 2022-03-01 · for → 0.8 · [{OLD}#L3](../{OLD}#L3) ^x\n", False),
    ],
)
def test_unused(tmp_path: Path, line: str, elsewhere: str, idle: bool) -> None:
    """Old, of no importance, no belief, no current value, and cited nowhere: each one of these alone keeps a line."""
    where = (
        "bank/opinions.md" if "·" in elsewhere else "bank/notes.md" if "See" in elsewhere or "[" in elsewhere else NEW
    )
    workspace = write_pages(tmp_path, {OLD: f"- {line}\n", where: elsewhere} if elsewhere else {OLD: f"- {line}\n"})
    assert chosen(workspace, unused=True) == ([f"{OLD}#L3"] if idle else [])


def test_unused_lines_are_old(tmp_path: Path) -> None:
    """Two half-lives of their kind; two years for the world."""
    for kind, days in (("B", 180), ("S", 360), ("W", 730)):
        for age, idle in ((days, False), (days + 1, True)):
            path = f"memory/{TODAY - timedelta(days=age)}.md"
            workspace = write_pages(tmp_path / f"{kind}{age}", {path: f"- {kind}: x y z\n"})
            assert bool(chosen(workspace, unused=True)) is idle, (kind, age)


def test_what_reflect_wrote_proves_no_use(tmp_path: Path) -> None:
    """A copy in a managed block is our own output; narrative and pages of the bank are never unused."""
    block = f"<!-- memctl:begin x sha=0 -->\n- A line [so]({OLD}#L3) ^x\n<!-- memctl:end x -->\n"
    pages = {OLD: "- W: A line ^x\n\nA paragraph.\n", "bank/x.md": block, "bank/world.md": "- W(t=2009..): By hand\n"}
    assert chosen(write_pages(tmp_path, pages), unused=True) == [f"{OLD}#L3"]


# -- exempt -----------------------------------------------------------------------------------------------------------

EXEMPT = [
    ("identity", "W: Was born in Tartu"), ("identity", "W(key=birthday): 4 May"), ("identity", "W: Родилась в Тарту"),
    ("identity", "W: 她的生日是五月四日"), ("health", "W: Is allergic to walnuts"), ("health", "W: У Маши аллергия на орехи"),
    ("health", "W: 他对花生过敏"), ("relationship", "W: Her sister lives upstairs"), ("relationship", "B: Познакомился с её сестрой"),
    ("relationship", "W: 他的妹妹住楼上"), ("preference", "O: Prefers tea"), ("preference", "O: Любит чай"), ("preference", "O: 喜欢喝茶"),
    ("security", "W: Rotated the recovery codes"), ("security", "W: Сменили пароль от архива"), ("security", "W: 换了门禁密码"),
    ("pinned", "W(i=0.9): The kettle whistles"),
]  # fmt: skip


@pytest.mark.parametrize(("why", "line"), EXEMPT)
def test_exempt_lines_need_their_id(tmp_path: Path, why: str, line: str) -> None:
    """In three languages. Only by id, or about and from somebody if it is said."""
    workspace = write_pages(tmp_path, {OLD: f"- {line.replace(':', ' @Masha:', 1)}\n- B @Masha: Swept the yard\n"})
    for selectors in ({"before": TODAY}, {"unused": True}, {"about": ("Masha",)}, {"source": "owner"}):
        found = forget(memory_on(workspace), Selectors(**selectors))  # type: ignore[arg-type]
        assert told(found) == [f"{OLD}#L4"], selectors
        assert selectors == {"unused": True} or found.exempt == {why: 1}
        assert selectors == {"unused": True} or found.spared == [f"{OLD}#L3 ^{id_at(workspace, OLD, 3)} ({why})"]
    assert chosen(workspace, about=("Masha",), include_exempt=True) == [f"{OLD}#L3", f"{OLD}#L4"]
    assert chosen(workspace, source="owner", include_exempt=True) == [f"{OLD}#L3", f"{OLD}#L4"]
    ref = id_at(workspace, OLD, 3)
    assert chosen(workspace, ids=(ref,)) == [f"{OLD}#L3"]


def test_a_ttl_is_its_authors_word(tmp_path: Path) -> None:
    """What was told to be kept for 30 days goes after 30 days, whatever it is about; an end in time does not."""
    pages = {OLD: "- W(ttl=30d): The door code is 4711\n- W(until=2022-04-01): Her sister visits\n"}
    found = memory_on(write_pages(tmp_path, pages)).forget(expired=True)
    assert told(found) == [f"{OLD}#L3"] and found.exempt == {"relationship": 1}


def test_pages_at_the_root_are_the_owners(tmp_path: Path) -> None:
    """memctl never writes them, but for the core; headings and code hold a page together."""
    pages = {"SOUL.md": "Quiet. ^soul\n", "memory.md": "# Core\n\nBrief. ^core\n\n## Head ^head\n\n```\nx ^code\n```\n"}
    workspace = write_pages(tmp_path, pages)
    before = state(workspace)
    assert gone(workspace, ids=("soul",)).left == [
        "SOUL.md#L1 ^soul is on a page that memctl never writes: edit it by hand"
    ]
    assert gone(workspace, ids=("head",)).left == ["memory.md#L5 ^head is a heading: edit it by hand"]
    assert state(workspace) == before
    assert told(gone(workspace, ids=("core",))) == ["memory.md#L3"]


# -- what it does to a page -------------------------------------------------------------------------------------------


def test_a_dry_run_changes_nothing(tmp_path: Path) -> None:
    """Not a byte, whatever is asked for; the diff is one that git shows."""
    root = fixture_copy(tmp_path)
    workspace = Workspace(root.resolve())
    before = state(workspace)
    for asked in (
        Selectors(ids=("irina-short",)), Selectors(about=("老陈",)), Selectors(source="tool"), Selectors(before=TODAY), Selectors(expired=True),
        Selectors(unused=True), Selectors(about=("Irina",), include_exempt=True),
    ):  # fmt: skip
        done = forget(memory_on(workspace), asked)
        assert bool(done.diff) == bool(done.lines)
        suggest(memory_on(workspace), asked)
        assert state(workspace) == before
    diff = forget(memory_on(workspace), Selectors(ids=("irina-short",))).diff
    assert "+- <!-- memctl:forgotten irina-short 2025-11-30 -->\n" in diff
    assert "--- a/bank/opinions.md\n" in diff and "--- a/memory/2025-07-04.md\n" in diff


def test_what_stands_in_its_place(workspace: Workspace) -> None:
    """A comment with the id and the day. No other line moves, so every other citation holds."""
    before = page(workspace, NEW).split("\n")
    cited = {hit.ref: str(hit.source) for hit in ask(workspace, "users port", k=9).hits}
    gone(workspace, ids=("port",))
    after = page(workspace, NEW).split("\n")
    assert after[6] == "- <!-- memctl:forgotten port 2025-11-30 -->"
    assert [line for line in after if not read_tombstone(line)] == [line for line in before if "8080" not in line]
    hits = {hit.ref: str(hit.source) for hit in ask(workspace, "users port", k=9).hits}
    assert hits == {ref: place for ref, place in cited.items() if ref != "port"}
    assert show(memory_on(workspace), "port", 0)[0].lines == ("- <!-- memctl:forgotten port 2025-11-30 -->",)
    assert check(memory_on(workspace, TODAY)) == ()


@pytest.mark.parametrize("words", ["forgotten", "memctl:forgotten", "port", "2025-11-30", "8080"])
def test_a_tombstone_is_no_answer(workspace: Workspace, words: str) -> None:
    """Neither by its own words nor by those that stood there, nor among the newest, nor in a count of lines."""
    gone(workspace, ids=("port",))
    for query in (words, "", "on:2025-11-27"):
        assert not [text for text in contents(ask(workspace, query, k=50)) if "forgotten" in text or "8080" in text]


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_every_other_byte_stays(tmp_path: Path, ending: str) -> None:
    """Line ends, a byte order mark, bytes that are no UTF-8, a missing end of the last line."""
    text = "\ufeff# Log\n\nCaf\udce9 \udcff\n\n## Retain\n\n- W: One \udce9\n- B: Two\n  and \udcfe more\n  - below\n- W: Three \udcff"
    workspace = write_pages(tmp_path, {})
    before = text.replace("\n", ending).encode("utf-8", "surrogateescape")
    (workspace.root / NEW).write_bytes(before)
    gone(workspace, ids=(id_of(workspace, "Two"),))
    after = (workspace.root / NEW).read_bytes()
    cut = [line for line in after.split(ending.encode()) if b"memctl:forgotten" not in line]
    assert cut == [line for number, line in enumerate(before.split(ending.encode()), 1) if number not in (8, 9)]
    assert after.count(b"1/2 -->") == after.count(b"2/2 -->") == 1
    assert contents(ask(workspace, "below")) == ["below"]


def test_a_line_of_the_same_words_takes_the_id_of_the_one_that_goes(tmp_path: Path) -> None:
    """Twins on a page are told apart by their order, of which a tombstone says nothing; what names the other goes with it."""
    workspace = write_pages(tmp_path, {NEW: "- W: Rain\n- W: Rain\n- W: Rain\n"})
    refs = [str(entry["ref"]) for entry in entries(workspace) if entry["role"] == "fact"]
    (workspace.root / OLD).parent.mkdir(exist_ok=True)
    (workspace.root / OLD).write_text(
        f"## Retain\n\n- W(supersedes={refs[1]}): Sun\n- W(supersedes={refs[0]}): Hail\n", "utf-8"
    )
    gone(workspace, ids=(refs[0],))
    told = page(workspace, OLD)
    assert f"supersedes={refs[0]}): Sun" in told and re.search(r"supersedes=x-[0-9a-f]{10}\): Hail", told)
    gone(workspace, ids=(refs[0],))
    left = [entry["ref"] for entry in entries(workspace) if entry["role"] == "fact" and entry["path"] == NEW]
    assert left == [refs[0]] and rows(workspace) == rebuilt(workspace)
    assert page(workspace, NEW).count("forgotten") == 2


@pytest.mark.parametrize("line", ["W @Peter: Lives in Lisbon", "B(outcome=ok) @Пётр: Дошёл", "O(0.8) @爱丽丝: 喜欢茶"])
def test_the_same_line_can_be_told_again(tmp_path: Path, line: str) -> None:
    """On the same day it is news; that it was forgotten before is not known any more."""
    workspace = write_pages(tmp_path, {})
    first = retain(memory_on(workspace), [read_fact(line)], TODAY).kept[0]
    gone(workspace, ids=(first.ref,))
    again = retain(memory_on(workspace), [read_fact(line)], TODAY).kept[0]
    assert not again.already and again.ref == first.ref and again.citation.line == first.citation.line + 1
    assert retain(memory_on(workspace), [read_fact(line)], TODAY).kept[0].already


def test_what_hangs_below_stays(tmp_path: Path) -> None:
    """Nested bullets are lines of their own, facts or not; a table keeps its columns, a quote its marks."""
    text = "- B: Went out\n  in the rain\n  - W: It poured\n  - just a remark\n- W: After\n\n| a | b |\n|---|---|\n| c | d |\n\n> said\n"
    workspace = write_pages(tmp_path, {NEW: text})
    for words in ("Went out", "c d", "said"):
        gone(workspace, ids=(id_of(workspace, words),))
    lines = page(workspace, NEW).split("\n")
    assert lines[4:7] == ["  - W: It poured", "  - just a remark", "- W: After"]
    assert lines[2:4] == [
        f"{mark}<!-- memctl:forgotten {lines[2].split()[3]} 2025-11-30 {n}/2 -->" for mark, n in (("- ", 1), ("  ", 2))
    ]
    assert lines[10].startswith("| <!-- ") and lines[10].endswith(" --> | |") and lines[12].startswith("> <!-- ")
    assert set(contents(ask(workspace, "poured remark After a b"))) == {"It poured", "just a remark", "After"}


def test_a_line_that_holds_up_its_neighbour_stays(tmp_path: Path) -> None:
    """Rather than turn prose into a heading, the line is left, and it is said what to do."""
    workspace = write_pages(tmp_path, {NEW: "- W: Above\nprose below\n- \n- W: Other\n"})
    before = state(workspace)
    done = gone(workspace, ids=(id_of(workspace, "Above"),))
    assert done.lines == [] and "put a blank line between them" in done.left[0] and state(workspace) == before
    assert told(gone(workspace, ids=(id_of(workspace, "Above"), id_of(workspace, "Other")))) == [f"{NEW}#L6"]
    assert "- W: Above\nprose below\n- \n- <!-- memctl:forgotten " in page(workspace, NEW)


# -- what is left nowhere ---------------------------------------------------------------------------------------------


def careless(
    *words: object, connect: Callable[..., sqlite3.Connection] = sqlite3.connect, **more: object
) -> sqlite3.Connection:
    """A connection as most builds of SQLite make it; some overwrite what is deleted by themselves."""
    made = connect(*words, **more)
    made.execute("PRAGMA secure_delete = OFF")
    return made


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("W @Peter: Keeps a zanzibarium behind the quokkahouse", ["zanzibari", "quokkahous"]),
        ("B @Пётр: Спрятал кракозябру в буфете", ["кракозябр", "буфет"]),
        ("O(0.9) @爱丽丝: 喜欢饕餮和貔貅", ["饕餮", "貔貅", "饕", "貅"]),
        ("W(key=zkey,src=web:qqsource.example): Held ^wwblock", ["zkey", "qqsource"]),
        ("W(private): Hid the quokkahouse", ["quokkahous"]),
    ],
)
def test_not_a_byte_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, words: list[str]) -> None:
    """In the pages, in the index and its log, in what healing set aside; even if the words were indexed twice."""
    monkeypatch.setattr("memctl.index.heal.sqlite3.connect", careless)
    workspace = write_pages(tmp_path, {NEW: f"- {line}\n- W: Other\n", OLD: "- W: A third\n- W(private): A fourth\n"})
    ref = id_at(workspace, NEW, 3)
    assert memory_on(workspace).public().recall("Other").hits  # by an index of its own
    assert bytes_left(workspace, *words)
    shutil.copy(workspace.memory / "index.sqlite", workspace.memory / "index.broken")
    (workspace.root / NEW).write_text(f"\n## Retain\n\n- {line}\n- W: Other\n")  # the line moves: its row is made anew
    rows(workspace)
    with contextlib.closing(open_index(workspace)):  # somebody else has it open: its log is not removed by itself
        gone(workspace, ids=(ref,))
        assert bytes_left(workspace, *words) == []
    assert rows(workspace) == rebuilt(workspace) and contents(ask(workspace, "Other", k=1)) == ["Other"]
    assert set(strays(workspace)) <= {"reflect.lock", "undo.jsonl"}


def proofs(*texts: bytes) -> set[bytes]:
    """The beginning of every hash, without a key, by which a guess of one of these texts could be confirmed."""
    algorithms = [
        hashlib.sha256,
        hashlib.sha1,
        hashlib.md5,
        *(partial(hashlib.blake2b, digest_size=n) for n in (4, 5, 6, 8, 16, 32, 64)),
    ]
    made = [algorithm(text).digest() for text in texts for algorithm in algorithms]
    return {form for digest in made for form in (digest[:6], digest.hex()[:8].encode()) if len(form) > 5}


@pytest.mark.parametrize(("name", "text"), [("Anna", "Has a dog"), ("Анна", "Завела собаку"), ("安娜", "养了一只狗")])
def test_no_derived_file_confirms_a_guess(tmp_path: Path, name: str, text: str) -> None:
    """Neither the name nor a hash of the text, of its line or of a page as it was, where reflect wrote no block about it."""
    line = f"- W @{name}: {text}"
    workspace = write_pages(tmp_path, {NEW: f"## Retain\n\n{line}\n- W @Else: Stays\n- W(private): Mine\n"})
    page = (workspace.root / NEW).read_bytes()
    memory = memory_on(workspace, TODAY)
    memory.reflect()
    memory.public().recall(text)
    memory.review()
    for place in (
        "review.txt",
        "hooks.log",
        ".0a1b2c.part",
        "public/.0a1b2c.part",
    ):  # what nobody could follow, what hooks said, what a kill left behind
        (workspace.memory / place).write_text(text, "utf-8")
    left = {word.encode() for word in (text, name.casefold(), json.dumps(name.casefold())[1:-1])}
    left |= proofs(
        page, line.encode(), f"{line}\n".encode(), line[2:].encode(), text.encode(), text.casefold().encode()
    )

    def found() -> set[bytes]:
        derived = [path.read_bytes() for path in workspace.memory.rglob("*") if path.is_file()]
        return {each for each in left for data in derived if each in data}

    assert len(found()) > 2
    memory.forget(about=(name,), include_exempt=True, apply=True)
    assert found() == set()
    assert memory.reflect().pages == []


def test_an_index_that_somebody_else_cleaned_up_late(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed before the index was cleaned, the next --apply does it, even if it finds nothing to forget."""
    workspace = write_pages(tmp_path, {NEW: "- W: Keeps a zanzibarium ^z\n- W: Other\n"})
    rows(workspace)
    monkeypatch.setattr(verb.queries, "expunge", lambda index: "the disk is full")
    assert "may still hold words" in gone(workspace, ids=("z",)).warnings[0]
    monkeypatch.undo()
    rows(workspace)
    assert gone(workspace, expired=True).lines == []
    assert bytes_left(workspace, "zanzibari") == []


def test_an_index_that_somebody_reads(tmp_path: Path) -> None:
    """Its log cannot be cut off while they do: that is said, and made good by the next call."""
    workspace = write_pages(tmp_path, {NEW: "- W: Keeps a zanzibarium ^z\n- W: Other\n"})
    rows(workspace)
    with contextlib.closing(open_index(workspace)) as other, other.reading():
        entry_count(other)
        assert "another memctl is reading it" in gone(workspace, ids=("z",)).warnings[0]
    assert gone(workspace, expired=True).warnings == []
    assert bytes_left(workspace, "zanzibari") == []


# -- evidence and blocks ----------------------------------------------------------------------------------------------


def opinions(*entries: str) -> str:
    """A page of beliefs."""
    return "# Opinions\n\n" + "".join(entries)


def bullet(day: str, what: str, line: int, ref: str) -> str:
    """A piece of evidence."""
    return f"  - {day} · {what} · [memory/{day}.md#L{line}](../memory/{day}.md#L{line}) ^{ref}\n"


BELIEVED = {
    "memory/2025-11-01.md": "- O(0.8) @Peter: Drinks tea ^tea\n- O(0.7) @爱丽丝: 住得很远 ^far\n",
    "memory/2025-11-02.md": "- B(for=tea) @Peter: Ordered a pot ^pot\n",
    "memory/2025-11-03.md": "- B(against=tea) @Peter: Ordered coffee ^cup\n",
    "bank/opinions.md": opinions(
        "- O(c=0.75) @Peter: Drinks tea ^o-tea\n",
        bullet("2025-11-01", "stated 0.80", 3, "tea"),
        bullet("2025-11-02", "for → 0.84", 3, "pot"),
        bullet("2025-11-03", "against → 0.70", 3, "cup"),
        "- O(c=0.70) @爱丽丝: 住得很远 ^o-far\n",
        bullet("2025-11-01", "stated 0.70", 4, "far"),
    ).replace("c=0.75", "c=0.70", 1),
}


def test_evidence_goes_and_the_belief_is_replayed(tmp_path: Path) -> None:
    """The other numbers follow from what is left; other beliefs are not touched."""
    workspace = write_pages(tmp_path, BELIEVED)
    done = gone(workspace, ids=("pot",))
    text = page(workspace, "bank/opinions.md")
    assert "^pot" not in text and "^cup" in text and "bank/opinions.md" in done.scrubbed
    assert "· against → 0.64 ·" in text and "- O(c=0.64) @Peter: Drinks tea ^o-tea\n" in text  # 4·.8 / (4 + 1)
    assert text.split("^cup\n")[1] == BELIEVED["bank/opinions.md"].split("^cup\n")[1]


def test_a_belief_goes_with_the_line_that_stated_it(tmp_path: Path) -> None:
    """Head and evidence; what spoke for it stays where it was told, and it is said."""
    workspace = write_pages(tmp_path, BELIEVED)
    done = gone(workspace, ids=("tea",))
    text = page(workspace, "bank/opinions.md")
    assert text == opinions(*BELIEVED["bank/opinions.md"].partition("- O(c=0.70) @爱丽丝")[1:])
    assert done.beliefs == ["o-tea"]
    assert done.left == ["memory/2025-11-02.md#L3 ^pot says for=tea", "memory/2025-11-03.md#L3 ^cup says against=tea"]


def test_a_line_goes_with_the_belief_that_it_stated(tmp_path: Path) -> None:
    """Else the next reflect would bring the belief back."""
    workspace = write_pages(tmp_path, BELIEVED)
    done = gone(workspace, ids=("o-far",))
    assert told(done) == ["bank/opinions.md#L7", "memory/2025-11-01.md#L4"]
    assert bytes_left(workspace, "住得很远") == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Drinks tea ^o-tea", "Drinks green tea ^o-tea"),
        ("c=0.70) @Peter", "c=0.95) @Peter"),
        ("^pot\n", "^pot\n  - and said so twice\n"),
        ("^cup\n", "^cup\n  - 2025-11-05 · set 0.90 · by hand\n"),
    ],
)
def test_a_belief_that_a_person_changed_stays(tmp_path: Path, old: str, new: str) -> None:
    """Their words are not ours to forget; it is said where they stand, and its id takes it."""
    text = BELIEVED["bank/opinions.md"].replace(old, new, 1)
    assert text != BELIEVED["bank/opinions.md"]
    workspace = write_pages(tmp_path, BELIEVED | {"bank/opinions.md": text})
    done = gone(workspace, ids=("tea",))
    assert done.beliefs == [] and "bank/opinions.md#L3 ^o-tea was changed by a person" in done.left[0]
    assert "^o-tea" in page(workspace, "bank/opinions.md") and "stated" not in page(workspace, "bank/opinions.md")[:200]
    assert gone(workspace, ids=("o-tea",)).beliefs == ["o-tea"]
    assert "^o-tea" not in page(workspace, "bank/opinions.md")


def block(name: str, *lines: str) -> str:
    """A managed block as memctl writes it."""
    from memctl.markdown.blocks import splice

    return splice("", name, "\n".join(lines))


def test_copies_in_blocks_go(tmp_path: Path) -> None:
    """By id or by place, with what hangs below and a heading that is left empty; text around the block stays."""
    link = "[L3](../../memory/2025-11-02.md#L3"
    summary = block(
        "notes",
        "## Now",
        "",
        f'- Ordered a pot {link} "pot")',
        "  - at noon",
        "",
        "## Later",
        "",
        f"- Else {link[:-1]}9)",
    )
    page_ = f"# Peter\n\nMine.\n\n{summary}\nAlso mine: a pot.\n"
    workspace = write_pages(tmp_path, BELIEVED | {"bank/entities/Peter.md": page_})
    done = gone(workspace, ids=("pot",))
    text = page(workspace, "bank/entities/Peter.md")
    assert "Ordered" not in text and "at noon" not in text and "## Now" not in text
    assert text.startswith("# Peter\n\nMine.\n\n") and text.endswith("\nAlso mine: a pot.\n") and "- Else" in text
    assert "bank/entities/Peter.md" in done.scrubbed
    assert gone(workspace, ids=("cup",)).left == []  # the block counts as ours still


def test_an_edited_block_stays(tmp_path: Path) -> None:
    """Not a byte of it changes, and it is said."""
    text = "# Peter\n\n" + block("notes", "- Ordered a pot (memory/2025-11-02.md#L3)").replace("a pot", "a big pot")
    workspace = write_pages(tmp_path, BELIEVED | {"bank/entities/Peter.md": text})
    done = gone(workspace, ids=("pot",))
    assert page(workspace, "bank/entities/Peter.md") == text
    assert "bank/entities/Peter.md: the block `notes` cites what is gone, and was edited by hand" in done.left


def test_copies_and_evidence_are_not_lines_of_their_own(tmp_path: Path) -> None:
    """Their ids lead to what can be forgotten."""
    summary = "# Peter\n\n" + block("notes", "- Ordered a pot ^copied")
    workspace = write_pages(tmp_path, BELIEVED | {"bank/entities/Peter.md": summary})
    before = state(workspace)
    assert gone(workspace, ids=("copied",)).left == [
        "bank/entities/Peter.md#L4 is a copy: forget the line that it cites"
    ]
    evidence = id_at(workspace, "bank/opinions.md", 4)
    assert "is evidence: forget the line" in gone(workspace, ids=(evidence,)).left[0]
    assert state(workspace) == before


def test_a_memory_of_reflect_that_somebody_edited(tmp_path: Path) -> None:
    """The belief that was asked for goes; what follows for others waits for reflect, and it is said."""
    ledger = block("evidence", "<!--", "o-tea 0.70 s:tea", "-->").replace("0.70", "0.99")
    workspace = write_pages(tmp_path, BELIEVED | {"bank/opinions.md": BELIEVED["bank/opinions.md"] + "\n" + ledger})
    done = gone(workspace, ids=("o-far", "pot"))
    text = page(workspace, "bank/opinions.md")
    assert done.beliefs == ["o-far"] and "was edited by hand" in done.left[0]
    assert "^o-far" not in text and "^pot" in text and text.endswith(ledger)


def test_pages_that_cannot_be_read(tmp_path: Path) -> None:
    """Are no obstacle."""
    workspace = write_pages(tmp_path, BELIEVED | {OLD: "- W: The kettle whistled ^x\n"})
    (workspace.root / "bank/picture.md").write_bytes(b"GIF89a\0\1\2\3")
    assert told(gone(workspace, unused=True)) == [f"{OLD}#L3"]
    (workspace.root / "bank/opinions.md").write_bytes(b"GIF89a\0\1\2\3")
    done = gone(workspace, ids=("pot",))
    assert told(done) == ["memory/2025-11-02.md#L3"] and done.left == ["bank/opinions.md: binary, not text"]


def test_what_a_person_wrote_is_named(tmp_path: Path) -> None:
    """Citations, attributes, labels and the same words on another line: not ours to change."""
    pages = {
        NEW: "- W: Rain all day ^rain\n- W(supersedes=rain): Sun\n",
        "memory/2025-11-28.md": f"- W: Rain all day\n\nAs told in {NEW}#L3 and ^rain.\n",
    }
    workspace = write_pages(tmp_path, pages)
    (tmp_path / "questions.jsonl").write_text(
        '{"question": "sun", "gold_ids": []}\n{"question": "wet?", "gold_ids": ["rain"]}\n'
    )
    twin = id_of(workspace, "rain on:2025-11-28")
    done = gone(workspace, ids=("rain",))
    assert done.left == [
        f"{NEW}#L4 ^{id_of(workspace, 'Sun')} says supersedes=rain",
        f"memory/2025-11-28.md#L3 ^{twin} has the same words",
        "questions.jsonl#L2 is a label for rain",
        "memory/2025-11-28.md#L5 cites ^rain",
    ]


REFLECTED = {
    "memory/2025-10-01.md": "- O(0.8) @Peter: Drinks green tea\n- W(key=city) @Пётр: Живёт в Тарту\n- W(i=0.8) @爱丽丝: 画地图\n",
    "memory/2025-10-08.md": (
        "- B(outcome=ok,task=deploy) @Peter: Deployed the quokkahouse\n- B(outcome=fail,task=deploy) @Peter: It fell over\n"
        "- W(key=city) @Пётр: Живёт в Лиссабоне\n- O(0.7) @爱丽丝: 喜欢安静的房间\n"
    ),
    "memory/2025-10-09.md": "- B(outcome=ok,task=migrate) @Peter: Migrated once\n- W(i=0.9) @爱丽丝: 住在山上\n- B @爱丽丝: 去了海边\n",
    "bank/entities/Peter.md": "---\naliases: [Пётр]\n---\n# Peter\n\nMine.\n",
}


@pytest.fixture(scope="module")
def reflected(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace upon which was reflected, to be copied."""
    workspace = write_pages(tmp_path_factory.mktemp("reflected"), REFLECTED)
    reflect(memory_on(workspace, TODAY))
    return workspace.root


@pytest.mark.parametrize("text", [
    "Drinks green tea", "Живёт в Тарту", "Живёт в Лиссабоне", "画地图", "Deployed the quokkahouse", "It fell over", "喜欢安静的房间",
    "Migrated once", "住在山上", "去了海边",
])  # fmt: skip
def test_what_reflect_wrote_is_written_anew(tmp_path: Path, reflected: Path, text: str) -> None:
    """Nothing says it any more, and reflect itself would have nothing to add: forgetting leaves its pages as it would."""
    workspace = Workspace(shutil.copytree(reflected, tmp_path / "copy").resolve())
    assert len(bytes_left(workspace, text)) > 1
    gone(workspace, ids=(id_of(workspace, text),))
    assert bytes_left(workspace, text) == []
    before = state(workspace)
    assert reflect(memory_on(workspace, TODAY)).pages == [] and state(workspace) == before
    assert check(memory_on(workspace, TODAY)) == ()


# -- again and again --------------------------------------------------------------------------------------------------


def test_the_derived_folder_may_go_between_any_two_steps(tmp_path: Path) -> None:
    """Same bytes, with and without an index at hand."""
    ends = []
    for name, drop in (("kept", False), ("gone", True)):
        workspace = Workspace(fixture_copy(tmp_path / name).resolve())
        for asked in (
            Selectors(source="tool"),
            Selectors(expired=True),
            Selectors(ids=("tagus-seen",)),
            Selectors(about=("Alice",)),
        ):
            forget(memory_on(workspace), asked, apply=True)
            if drop:
                shutil.rmtree(workspace.memory)
        ends.append(state(workspace))
        assert rows(workspace) == rebuilt(workspace)
    assert ends[0] == ends[1]


@pytest.mark.parametrize(
    "asked", [Selectors(ids=("tagus-seen", "irina-short")), Selectors(about=("Dumpling",)), Selectors(source="tool")]
)
def test_a_kill_between_two_pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: Selectors) -> None:
    """Wherever it comes, the same call completes it: the same bytes as without a kill."""
    whole = Workspace(fixture_copy(tmp_path / "whole").resolve())
    forget(memory_on(whole), asked, apply=True)
    expected = state(whole)
    for steps in (0, 1, 3) if asked.ids else (2,):
        workspace = Workspace(fixture_copy(tmp_path / str(steps)).resolve())

        def killed(place: Workspace, planned: list[edits.Edit], steps: int = steps, **more: bool) -> edits.Applied:
            done = edits.apply(place, planned[:steps], **more)
            if len(planned) > steps:
                raise KeyboardInterrupt
            return done

        with monkeypatch.context() as patch, contextlib.suppress(KeyboardInterrupt):
            patch.setattr(verb, "apply", killed)
            forget(memory_on(workspace), asked, apply=True)
        forget(memory_on(workspace), asked, apply=True)
        assert state(workspace) == expected, steps


def test_a_page_that_is_saved_meanwhile(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is planned anew; what was saved stays. An editor that never stops is an error."""
    real, saves = edits.replace, iter(range(2))

    def saved(place: Workspace, path: str, *rest: bytes) -> None:
        if next(saves, None) is not None:
            with (place.root / path).open("a") as file:
                file.write("- W: Saved meanwhile\n")
        real(place, path, *rest)

    monkeypatch.setattr(edits, "replace", saved)
    assert told(gone(workspace, ids=("port",))) == [f"{NEW}#L7"]
    assert page(workspace, NEW).endswith("- W: Saved meanwhile\n" * 2) and "8080" not in page(workspace, NEW)
    saves = iter(range(99))
    with pytest.raises(PageChanged):
        gone(workspace, source="web")


def test_a_full_disk_half_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is said how far it came, no page is torn, and the same call completes it."""
    whole = Workspace(fixture_copy(tmp_path / "whole").resolve())
    gone(whole, about=("Dumpling",))
    workspace = Workspace(fixture_copy(tmp_path / "full").resolve())
    real, room = edits.replace, iter(range(2))

    def full(place: Workspace, path: str, *rest: bytes) -> None:
        if next(room, None) is None:
            raise CannotWrite(path, "No space left on device")
        real(place, path, *rest)

    monkeypatch.setattr(edits, "replace", full)
    with pytest.raises(PageUnreadable, match=r"No space left on device; 2 of \d+ pages are done"):
        gone(workspace, about=("Dumpling",))
    assert rows(workspace) == rebuilt(workspace)
    monkeypatch.undo()
    gone(workspace, about=("Dumpling",))
    assert state(workspace) == state(whole)


def test_twice_is_once(tmp_path: Path) -> None:
    """The second call finds nothing, and changes nothing; an id is known as forgotten."""
    workspace = Workspace(fixture_copy(tmp_path).resolve())
    gone(workspace, about=("Dumpling",))
    before = state(workspace)
    assert gone(workspace, about=("Dumpling",)).lines == [] and state(workspace) == before
    first = gone(workspace, ids=("irina-short",))
    again = gone(workspace, ids=("irina-short",))
    assert again.lines == [] and again.already == [first.lines[-1].citation]


WORDS = ["zanzibar", "quokka", "кракозябра", "饕餮", "Rain", "x ^id-1", "(memory/2025-11-27.md#L3)"]


@settings(max_examples=examples(150))
@given(
    st.lists(
        st.tuples(st.sampled_from("WBOS"), st.lists(st.sampled_from(WORDS), min_size=1, max_size=4)),
        min_size=1,
        max_size=6,
    ),
    st.integers(0, 5),
)
def test_any_line_of_any_page(
    tmp_path_factory: pytest.TempPathFactory, lines: list[tuple[str, list[str]]], number: int
) -> None:
    """All other rows stay as they are, and what an index made anew would hold."""
    text = "".join(f"- {kind} @Peter: {' '.join(words)}\n" for kind, words in lines)
    workspace = write_pages(tmp_path_factory.mktemp("any"), {NEW: text, "bank/x.md": f"See {NEW}#L3.\n"})
    before = entries(workspace)
    facts = [entry for entry in before if entry["role"] == "fact"]
    target = facts[number % len(facts)]
    done = gone(workspace, ids=(str(target["ref"]),))
    hit = {(line.citation.path, line.citation.line) for line in done.lines}
    after = [entry for entry in entries(workspace) if entry["block"] != "forgotten"]
    kept = [entry for entry in before if (entry["path"], entry["line"]) not in hit]
    assert [each | {"ref": ""} for each in after] == [each | {"ref": ""} for each in kept]  # twins are counted anew
    assert rows(workspace) == rebuilt(workspace) and (NEW, target["line"]) in hit


# -- suggestions ------------------------------------------------------------------------------------------------------


def test_suggestions(tmp_path: Path) -> None:
    """Each with its reason; only the later twins; nothing exempt, nothing that is needed."""
    pages = {
        OLD: (
            "- W(key=port) @Atlas: Port 80 ^old\n- W: The shed is green ^first\n- B: Swept the yard ^swept\n"
            "- W: Her sister visits\n- W(i=0.9): Pinned\n"
        ),
        "memory/2023-01-01.md": "- W(key=port) @Atlas: Port 8080 ^new\n- B: Swept the yard ^again\n",
        "memory/2025-10-01.md": "- W(ttl=10d): Temporary ^brief\n- W: The shed is green ^second\n- W(src=web): The shed is green ^third\n",
    }
    workspace = write_pages(tmp_path, pages)
    before = state(workspace)
    found = suggest(memory_on(workspace), Selectors())
    assert {line.ref: line.reason for line in found.lines} == {
        "old": "replaced since 2023-01-01 by ^new",
        "first": "told on 2022-03-01, no importance, cited nowhere",
        "swept": "told on 2022-03-01, no importance, cited nowhere",
        "again": "told on 2023-01-01, no importance, cited nowhere",
        "brief": "ttl=10d ran out on 2025-10-11",
        "second": f"repeats {OLD}#L4 ^first",
        "third": f"repeats {OLD}#L4 ^first",
    }
    assert found.exempt == {"relationship": 1} and state(workspace) == before
    assert [line.ref for line in suggest(memory_on(workspace), Selectors(expired=True)).lines] == ["brief"]
    assert [line.ref for line in suggest(memory_on(workspace), Selectors(source="web")).lines] == ["third"]
    assert {line.ref: line.content for line in found.lines}["brief"] == "Temporary"


@pytest.mark.parametrize(
    ("first", "second", "twin"),
    [
        ("W: Rain", "W: rain", True), ("W: Rain @Peter", "W: Rain @Anna", False), ("W(t=2024): Rain", "W(t=2025): Rain", False),
        ("B: Ran", "B: Ran", False), ("W: Дождь", "W(c=0.5): Дождь", True), ("W: 下雨", "B: 下雨", False),
        ("W(key=weather): Rain", "W(key=weather): Rain", False), ("W: Rain", "W(supersedes=x): Rain", False),
        ("W: Rain", "W: Rain ^cited", False),
    ],
)  # fmt: skip
def test_twins(tmp_path: Path, first: str, second: str, twin: bool) -> None:
    """The same words of the same things at the same time: what was done on another day was done again."""
    pages = {"memory/2025-11-01.md": f"- {first}\n", "memory/2025-11-02.md": f"- {second}\n\nAs in ^cited.\n"}
    found = suggest(memory_on(write_pages(tmp_path, pages)), Selectors())
    repeats = [str(line.citation) for line in found.lines if line.reason.startswith("repeats")]
    assert repeats == (["memory/2025-11-02.md#L3"] if twin else [])


# -- the command ------------------------------------------------------------------------------------------------------


def run(words: str, root: Path) -> Done:
    """`memctl forget WORDS`."""
    return call(["forget", *words.split()], root)


def test_as_json(tmp_path: Path) -> None:
    """The same as values."""
    root = fixture_copy(tmp_path)
    told_ = json.loads(run("--id tagus-seen --json", root).out)
    assert told_["dry_run"] is True and told_["forgotten"] == [
        {"id": "tagus-seen", "source": "memory/2025-11-21.md#L13", "kind": "experience", "reason": ""}
    ]
    assert "饺子" in told_["diff"] or "\u994a" in told_["diff"] or "15:20" in told_["diff"]
    done = json.loads(run("--id tagus-seen --apply --json", root).out)
    assert done["dry_run"] is False and done["diff"] == "" and "15:20" not in json.dumps(done)
    assert done["scrubbed"] == ["bank/opinions.md"]
    listed = run("--suggest", root)
    assert "memory/2025-08-20.md#L13 ^f-aejr43hv ttl=90d ran out on 2025-11-18\n   The borrowed generator" in listed.out
    suggestions = json.loads(run("--suggest --json", root).out)["suggestions"]
    assert {"id", "source", "kind", "reason", "content"} == set(suggestions[0])


@pytest.mark.parametrize(
    ("words", "what"),
    [
        ("", "nothing says which lines to forget"),
        ("--source rumour", "is not an origin"),
        ("--before soonish", "is not understood"),
        ("--unused --include-exempt", "--include-exempt is for"),
        ("--suggest --apply", "together"),
        ("--unused --apply --dry-run", "together"),
    ],
)
def test_what_cannot_be_meant(tmp_path: Path, words: str, what: str) -> None:
    """Exit code 2, and what to write instead."""
    done = run(words, fixture_copy(tmp_path))
    assert done.code == 2 and what in done.err


def test_before_takes_a_span(tmp_path: Path) -> None:
    """30d ago; the clock is an argument."""
    write_pages(tmp_path, {"memory/2025-10-30.md": "- W: A\n", "memory/2025-11-01.md": "- W: B\n"})
    assert "2025-10-30" in run(f"--before 30d --now {NOW}", tmp_path).out
    assert "2025-11-01" not in run(f"--before 30d --now {NOW}", tmp_path).out
    assert run("--before 30d --now 2025-11-02", tmp_path).code == 1


def test_git_remembers(workspace: Workspace) -> None:
    """One line says so, where there is a repository."""
    assert forget(memory_on(workspace), Selectors(ids=("port",))).warnings == []
    (workspace.root / ".git").mkdir()
    assert "history still holds the text" in forget(memory_on(workspace), Selectors(ids=("port",))).warnings[0]
    assert forget(memory_on(workspace), Selectors(source="agent")).warnings == []


@given(st.dates(), st.integers(0, 99999), st.sampled_from(["h", "d", "w", "mo", "y"]))
def test_a_longer_ttl_never_ends_sooner(day: date, number: int, unit: str) -> None:
    """On any day, the last one of the calendar too."""
    assert day <= ttl_end(day, f"{number}{unit}") <= ttl_end(day, f"{min(number + 1, 99999)}{unit}")
