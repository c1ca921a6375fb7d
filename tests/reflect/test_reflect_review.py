"""What a hostile reader of reflect found: slips of the pen in bank/opinions.md, beliefs that are over and rank first."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest
from face_helpers import ask, call, memory_on, write_pages
from store_helpers import table

import memctl
from memctl.beliefs.opinions_page import read_last_written
from memctl.reflect.reflect import reflect

OPINIONS, TODAY = "bank/opinions.md", date(2025, 11, 30)
LOG = "## Retain\n\n- O(0.8) @Peter: Prefers concise replies ^concise\n- W @Peter: Has a boat ^boat\n"


@pytest.mark.parametrize(
    "broken", ["O(c=abc) @Peter: Prefers", "O(c=0.9.5) @Peter: Prefers", "O(c=1.5) @Peter: Prefers", "O @Peter Prefers"]
)
def test_a_head_with_a_slip_of_the_pen_is_reported_and_not_taken_for_deleted(tmp_path: Path, broken: str) -> None:
    workspace = write_pages(tmp_path / "notes", {"memory/2025-11-01.md": LOG})
    reflect(memory_on(workspace, TODAY))
    page = workspace.root / OPINIONS
    right = page.read_text(encoding="utf-8")
    wrong = right.replace("O(c=0.80) @Peter: Prefers", broken)
    assert wrong != right
    page.write_text(wrong, encoding="utf-8")
    report = reflect(memory_on(workspace, TODAY))
    assert any("^o-concise does not read as a belief" in note for note in report.notes)
    assert page.read_text(encoding="utf-8") == wrong
    assert read_last_written(wrong)["o-concise"].head == "0.80"
    page.write_text(right, encoding="utf-8")
    assert not reflect(memory_on(workspace, TODAY)).notes
    assert page.read_text(encoding="utf-8") == right


@pytest.mark.parametrize(
    ("words", "held", "gone"),
    [("чай", "@Мария: Любит чай, а не кофе.", "@Мария: Мария больше не любит чай."),
     ("coffee", "@Li: Li likes coffee.", "@Li: Li said so at the long dinner. Li no longer likes coffee.")],
)  # fmt: skip
def test_what_ended_a_belief_ranks_above_it(tmp_path: Path, words: str, held: str, gone: str) -> None:
    pages = {"memory/2025-11-01.md": f"- O(0.7) {held} ^held\n", "memory/2025-11-02.md": f"- W {gone} ^gone\n"}
    workspace = write_pages(tmp_path / "notes", pages)
    reflect(memory_on(workspace, TODAY))
    hits = ask(workspace, words, today=TODAY).hits
    assert [hit.ref for hit in hits[:2]] == ["gone", "held"]
    assert hits[1].superseded_by == "gone" and hits[0].score >= hits[1].score


def test_a_comment_at_the_left_edge_keeps_the_evidence(tmp_path: Path) -> None:
    """A flush-left comment under a head is Markdown's end of the list, and not the end of the belief."""
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory/2025-11-03.md").write_text("## Retain\n\n- O(0.8) @Peter: Prefers tea. ^tea\n", "utf-8")
    (tmp_path / "memory/2025-11-04.md").write_text("## Retain\n\n- B(for=tea) @Peter: Made tea. ^made\n", "utf-8")
    assert call(["reflect"], tmp_path).code == 0
    page = tmp_path / "bank/opinions.md"
    noted = page.read_text("utf-8").replace("^o-tea\n", "^o-tea\n<!-- ask him again -->\n")
    page.write_text(noted, "utf-8")
    assert call(["reflect"], tmp_path).out == "" and page.read_text("utf-8") == noted


def test_a_merged_page_keeps_no_summary(tmp_path: Path) -> None:
    (tmp_path / "memory").mkdir()
    lines = "".join(f"- W @{name}: Has a {thing}.\n" for name in ("Sam", "Samuel") for thing in ("dog", "boat"))
    (tmp_path / "memory/2025-11-03.md").write_text(f"## Retain\n\n{lines}", "utf-8")
    for words in (["reflect"], ["entity", "merge", "Sam", "Samuel"], ["reflect"]):
        assert call(words, tmp_path).code == 0
    assert "memctl:begin" not in (tmp_path / "bank/entities/Sam.md").read_text("utf-8")
    assert "Has a boat." in (tmp_path / "bank/entities/Samuel.md").read_text("utf-8")
    for words in (["entity", "merge", "Sam", "Samuel", "--undo"], ["reflect"]):
        assert call(words, tmp_path).code == 0
    assert "Has a dog." in (tmp_path / "bank/entities/Sam.md").read_text("utf-8")


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("I live in Hamburg", "I moved to Bremen"), ("Я живу в Москве", "Я переехал в Казань"), ("我住在上海", "我搬到成都了"),
        ("I work at Siemens", "I now work at Bosch"),
    ],
)  # fmt: skip
def test_a_slot_stands_once_in_world(tmp_path: Path, older: str, newer: str) -> None:
    """With what waits below its value, as `fact get` and contexts have it."""
    logs = {"memory/2025-11-01.md": f"- W: {older}\n", "memory/2025-11-20.md": f"- W: {newer}\n"}
    memory = memory_on(write_pages(tmp_path, logs), TODAY)
    reflect(memory)
    (held,) = memory.facts()
    items = [line for line in (tmp_path / "bank/world.md").read_text("utf-8").splitlines() if "](../memory/" in line]
    assert [line.partition(" · ")[0] for line in items] == [
        f"- **{held.key}**: {older}",
        f"  - perhaps replaced by: {newer}",
    ]


@pytest.mark.parametrize(("older", "newer", "shown"), table("newer-lines-that-wait"))
def test_what_holds_says_that_a_newer_line_waits(tmp_path: Path, older: str, newer: str, shown: str) -> None:
    """On the page and in the history, until somebody answers; that both hold is then seen on both."""
    logs = {"memory/2025-11-01.md": f"- W @Vera: {older} ^old\n", "memory/2025-11-20.md": f"- W @Vera: {newer} ^new\n"}
    memory = memory_on(write_pages(tmp_path, logs), TODAY)
    page = tmp_path / "bank/entities/Vera.md"
    reflect(memory)
    assert (f"  - perhaps replaced by: {newer} · [2025-11-20]" in page.read_text("utf-8")) is bool(shown)
    (held,) = (hit for hit in memory.facts() if hit.ref == "old")
    assert held in memory.fact_history(held.key or "") and held.perhaps_superseded_by == "new"
    (asked,) = memory.review()
    memory.answer(asked.id, "b")
    reflect(memory)
    assert "perhaps" not in page.read_text("utf-8") and page.read_text("utf-8").count("- **") == 2
    assert [hit.perhaps_superseded_by for hit in memory.facts()] == [None, None]


def test_a_slot_that_says_from_when_on_begins_then(tmp_path: Path) -> None:
    log = "- W(key=rent) @Flat: 650 ^old\n- W(key=rent) @Flat: Goes up to 690 from May ^new\n"
    workspace = write_pages(tmp_path, {"memory/2025-10-01.md": log})
    for today, ref in ((TODAY, "old"), (date(2026, 4, 30), "old"), (date(2026, 5, 1), "new")):
        assert [hit.ref for hit in memory_on(workspace, today).facts()] == [ref]


def test_check_names_what_reflect_leaves_alone(tmp_path: Path) -> None:
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory/2025-11-03.md").write_text(
        "## Retain\n\n- O(0.8) @Peter: Prefers tea.\n- W @Peter: Has a dog.\n", "utf-8"
    )
    call(["reflect"], tmp_path)
    for name, old, new in (("entities/Peter", "Has a dog", "Has two dogs"), ("opinions", "O(c=0.80)", "O(c=0.8o)")):
        page = tmp_path / f"bank/{name}.md"
        page.write_text(page.read_text("utf-8").replace(old, new), "utf-8")
    told = call(["check"], tmp_path).out
    assert "bank/entities/Peter.md" in told and "edited by hand" in told and "does not read as a belief" in told


@pytest.mark.parametrize(("one", "between", "other"), [
    ("Drives a Volvo", "The roof leaks", "Drives a Skoda"), ("Rent is 900 a month", "The roof leaks", "Rent is 950 a month"),
    ("Office code is 4417", "The roof leaks", "Office code is 9023"), ("Ездит на Вольво", "Крыша течёт", "Ездит на Шкоде"),
    ("Аренда 900 в месяц", "Крыша течёт", "Аренда 950 в месяц"), ("房租每月900", "屋顶漏水", "房租每月950"),
])  # fmt: skip
def test_a_page_that_repeats_a_change_silences_no_question(tmp_path: Path, one: str, between: str, other: str) -> None:
    """The words of both lines stand on the pages that reflect writes, once more: they are as telling as they were."""
    told = {"2025-09-10": one, "2025-09-20": between, "2025-11-20": other}
    memory = memory_on(
        write_pages(tmp_path, {f"memory/{day}.md": f"- W @Studio: {said}\n" for day, said in told.items()})
    )
    seen = []
    for _ in range(2):
        marked = [hit.content for hit in memory.recall(f"{one} {other}?").hits if hit.perhaps_superseded_by]
        seen.append(([question.id for question in memory.review()], marked))
        memory.reflect()
    assert seen[0] == seen[1]
    assert len(seen[0][0]) == 1 and seen[0][1] == [one]


@pytest.mark.parametrize(("one", "other"), [
    ("Is a vegetarian", "Is no longer a vegetarian"), ("Rent is 900 a month", "Rent is 950 a month"),
    ("The open day is planned for 5 December", "The open day is cancelled"), ("Вегетарианка", "Больше не вегетарианка"),
    ("День открытых дверей 5 декабря", "День открытых дверей отменён"), ("是素食者", "不再是素食者了"), ("房租每月900", "房租每月950"),
])  # fmt: skip
def test_no_page_tells_two_values_as_if_both_held(tmp_path: Path, one: str, other: str) -> None:
    """The newer one stands above, and the older one says that it may be over, until somebody answers."""
    days = {
        "2025-11-10": f"- W(i=0.9) @Vera: {one} ^aa",
        "2025-11-12": "- W @Vera: Plays the cello",
        "2025-11-20": f"- W @Vera: {other} ^bb",
    }
    memory = memory_on(write_pages(tmp_path, {f"memory/{day}.md": f"{said}\n" for day, said in days.items()}))
    memory.reflect()
    page = (tmp_path / "bank/entities/Vera.md").read_text("utf-8")
    newer, older = (line for line in page.splitlines() if '"aa"' in line or '"bb"' in line)
    assert newer.startswith(f"- {other} · [2025-11-20]")
    assert older.startswith(f"- {one} · perhaps replaced by [2025-11-20]")
    memory.answer(next(each.id for each in memory.review() if each.kind == "replaced"), "b")
    memory.reflect()
    assert "perhaps" not in (tmp_path / "bank/entities/Vera.md").read_text("utf-8")


@pytest.mark.parametrize(("lives", "moves", "question"), [
    ("Lives in Hamburg", "Moves to Dresden on 20 November", "where does Rosa live?"),
    ("Живёт в Гамбурге", "Переезжает в Дрезден 20 ноября", "где живёт Rosa?"), ("住在汉堡", "11月20日搬到德累斯顿", "Rosa 住在哪里？"),
])  # fmt: skip
def test_what_happened_holds_from_its_own_day(tmp_path: Path, lives: str, moves: str, question: str) -> None:
    """Not from that of the answer, nor of the telling; what it ends is asked about, and until then marked."""
    told = {
        "2025-11-02": f"- W @Rosa: {lives} ^old\n",
        "2025-11-03": f"- W @Rosa: {moves} ^new\n- W @Rosa: Plays chess\n",
    }
    memory = memory_on(write_pages(tmp_path, {f"memory/{day}.md": said for day, said in told.items()}))
    page = tmp_path / "bank/entities/Rosa.md"
    memory.reflect()
    assert "was to be on 2025-11-20" in page.read_text("utf-8")
    due, replaced = (next(each.id for each in memory.review() if each.kind == kind) for kind in ("due", "replaced"))
    answer = memory.answer(due, "y")
    assert "S(t=2025-11-20,by=new," in answer.line
    memory.reflect()
    assert "was to be" not in page.read_text("utf-8")
    assert [each.id for each in memory.review()] == [replaced]
    newer, older = memory.recall(question).hits[:2]
    assert (newer.ref, str(newer.valid.first), older.perhaps_superseded_by) == ("new", "2025-11-20", "new")
    memory.answer(replaced, "y")
    newer, older = memory.recall(question).hits[:2]
    assert (str(newer.valid.first), older.ref, str(older.valid.last)) == ("2025-11-20", "old", "2025-11-19")
    assert memory.review() == ()


def test_the_world_loses_no_line_that_waits(tmp_path: Path) -> None:
    """Of two that may replace a value, the newest stands below it and the other by itself."""
    days = {"2025-11-10": "lives in Leeds", "2025-11-12": "moved to Hamburg", "2025-11-20": "moved to Paris"}
    pages = {f"memory/{day}.md": f"- W @Una: {said}\n" for day, said in days.items()}
    write_pages(tmp_path, pages | {"memctl.toml": "[reflect]\npage_from = 9\n"})
    with memctl.open(tmp_path, now="2025-11-30") as memory:
        memory.reflect()
    world = (tmp_path / "bank/world.md").read_text("utf-8")
    assert all(said.split()[-1] in world for said in days.values())
