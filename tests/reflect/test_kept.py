"""What an owner answered reaches the pages: what was kept holds there, what happened on its day is past."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest
from face_helpers import memory_on, write_pages

from memctl.entities.rename import page_path
from memctl.memory import Memory

TODAY = date(2026, 11, 23)
RATE, SOLD = "My day rate is 650 euro", "Sold the Berlingo to Karel Wuyts for 1,400 euro"


KEPT = "- W(i=0.35,settles=q-{:08},src=user:a.md#L1) {}: {}\n"


def shown(memory: Memory, page: str = "bank/world.md") -> list[str]:
    """The lines of a page after a reflect, without their proof."""
    memory.reflect()
    told = (memory.workspace.root / page).read_text("utf-8").splitlines()
    return [line.removeprefix("- ").partition(" · [")[0] for line in told if "/memory/" in line]


def log(root: Path, day: str, *lines: str) -> None:
    (root / f"memory/{day}.md").write_text("# D\n\n" + "".join(f"- {line}\n" for line in lines), "utf-8")


@pytest.mark.parametrize("key", ["y", "n"])
@pytest.mark.parametrize(("one", "other", "third"), [
    (RATE, SOLD, "The studio costs 410 a month"), ("Мой дневной тариф 650 евро", "Продали «Берлинго» за 140 тысяч", "Студия стоит 410 в месяц"),
    ("我的日薪是650欧元", "把面包车卖给了王伟，1400欧元", "工作室每月410欧元"),
])  # fmt: skip
def test_an_answer_in_a_log_hides_none_of_its_bullets(
    tmp_path: Path, one: str, other: str, third: str, key: str
) -> None:
    """They are asked about as without it, and what was answered is not asked again."""
    memory = memory_on(write_pages(tmp_path, {"memory/2026-11-22.md": f"# D\n\n- {one}\n"}), TODAY)
    memory.reflect()
    (question,) = memory.review()
    log(tmp_path, "2026-11-23", other)
    memory.answer(question.id, key)
    for _ in range(2):
        memory.reflect()
        (question,) = memory.review()
        assert question.sides[0].origin == "user:memory/2026-11-23.md#L3"
    memory.answer(question.id, key)
    memory.reflect()
    assert memory.review() == ()


@pytest.mark.parametrize(("older", "newer", "name", "of_name"), [
    (RATE, "My day rate is 720 euro", "Mieke Baert", "Keeps the books"), ("Мой тариф 650 евро", "Мой тариф 720 евро", "Мария", "Ведёт бухгалтерию"),
    ("我的日薪是650欧元", "我的日薪是720欧元", "王伟", "负责记账"),
])  # fmt: skip
def test_what_was_kept_holds_on_a_page(tmp_path: Path, older: str, newer: str, name: str, of_name: str) -> None:
    """Once, its current value only, whatever importance was guessed; on the page of its entity where that has one."""
    lines = (("2026-11-02", 1, "", older), ("2026-11-03", 2, f"[[{name}]]", of_name), ("2026-11-09", 3, "", newer))
    logs = {f"memory/{day}.md": KEPT.format(ref, about, text) for day, ref, about, text in lines}
    memory = memory_on(write_pages(tmp_path, logs), TODAY)
    assert {line.partition(" · ")[0] for line in shown(memory)} == {of_name, older, newer}
    (question,) = memory.review()
    memory.answer(question.id, "y")
    assert sorted(shown(memory)) == sorted((of_name, newer))
    for count in range(9):
        memory.retain(f"Number {count}", about=[name], importance=0.6)
    assert shown(memory) == [newer] and of_name in shown(memory, page_path(name, ()))


def test_three_hundred_kept_lines_make_a_page_of_twenty(tmp_path: Path) -> None:
    days = {f"2026-{month:02}-{day:02}": month * 100 + day for month in range(1, 11) for day in range(1, 29)}
    logs = {f"memory/{day}.md": KEPT.format(ref, "", f"Shelf {ref} holds jar {ref}") for day, ref in days.items()}
    memory = memory_on(write_pages(tmp_path, logs), TODAY)
    assert [line.partition(" · ")[0] for line in shown(memory)] == [
        f"Shelf {ref} holds jar {ref}" for ref in list(days.values())[-20:]
    ]
    log(tmp_path, "2026-11-20", "Rain")
    assert memory.reflect().pages == []


@pytest.mark.parametrize(("due", "moved"), [
    ("VAT return due on 20 October", "Repair of the roof postponed to 10 November"),
    ("Отчёт сдаём 20 октября", "Ремонт крыши перенесли на 10 ноября"), ("10月20日报税", "屋顶维修推迟到11月10日"),
])  # fmt: skip
def test_what_happened_on_its_day_is_past(tmp_path: Path, due: str, moved: str) -> None:
    """It holds no more, and is told on its day; what was put off was put off when that was told."""
    told = f"- W(i=0.9)X: {due}\n- B(i=0.9)X: {moved}\n"
    logs = {f"memory/2026-10-{day}.md": told.replace("X", about) for day, about in ((18, ""), (19, " @Olga"))}
    memory = memory_on(write_pages(tmp_path, logs), TODAY)
    assert shown(memory) == [f"{due} · was to be on 2026-10-20"]
    while due_now := [each for each in memory.review() if each.kind == "due"]:
        memory.answer(due_now[0].id, "y")
    assert shown(memory) == []
    for page, day in (("bank/experience.md", 18), (page_path("Olga", ()), 19)):
        past = shown(memory, page)
        assert f"2026-10-20 · {due}" in past and [line[:12] for line in past if moved in line] == [f"[2026-10-{day}]"]
        assert "## Facts" not in (tmp_path / page).read_text("utf-8")
