"""What an owner answered reaches the pages: what was kept holds there, what happened on its day is past."""

from datetime import date
from pathlib import Path

import pytest
from face_helpers import memory_on, write_pages

from memctl.facts import Fact, Kind
from memctl.memory import Memory

TODAY = date(2026, 11, 23)
KEPT = "- W(i=0.35,settles=q-{:08},src=user:a.md#L1) {}: {}\n"
EN = ("My day rate is 650 euro", "My day rate is 720 euro", "Mieke Baert", "Keeps the books")
RU = ("Мой тариф 650 евро", "Мой тариф 720 евро", "Мария", "Ведёт бухгалтерию")
ZH = ("我的日薪是650欧元", "我的日薪是720欧元", "王伟", "负责记账")
SOLD = "Sold the Berlingo to Karel for 1,400 euro", "Продали «Берлинго» за 140 тысяч", "把面包车卖给了王伟，1400欧元"
DUE = ("VAT return due on 20 October", "Отчёт сдаём 20 октября", "10月20日报税")
MOVED = ("Repair of the roof postponed to 10 November", "Ремонт крыши перенесли на 10 ноября", "屋顶维修推迟到11月10日")


def shown(memory: Memory, page: str = "bank/world.md") -> list[str]:
    memory.reflect()
    told = (memory.workspace.root / page).read_text("utf-8").split("\n- ")
    return [line.partition(" · [")[0] for line in told if "/memory/" in line]


@pytest.mark.parametrize(("one", "other", "key"), [(EN[0], SOLD[0], "n"), (RU[1], SOLD[1], "y"), (ZH[0], SOLD[2], "n")])
def test_an_answer_in_a_log_hides_none_of_its_bullets(tmp_path: Path, one: str, other: str, key: str) -> None:
    memory = memory_on(write_pages(tmp_path, {"memory/2026-11-22.md": f"# D\n\n- {one}\n"}), TODAY)
    memory.reflect()
    (tmp_path / "memory/2026-11-23.md").write_text(f"# D\n\n- {other}\n", "utf-8")
    memory.answer(memory.review()[0].id, key)
    memory.reflect()
    assert [each.sides[0].origin for each in memory.review()] == ["user:memory/2026-11-23.md#L3"]
    memory.answer(memory.review()[0].id, key)
    memory.reflect()
    assert memory.review() == ()


@pytest.mark.parametrize(("older", "newer", "name", "of_name"), [EN, RU, ZH])
def test_what_was_kept_holds_on_a_page(tmp_path: Path, older: str, newer: str, name: str, of_name: str) -> None:
    lines = {"02": (1, "", older), "03": (2, f"[[{name}]]", of_name), "09": (3, "", newer)}
    logs = {f"memory/2026-11-{day}.md": KEPT.format(*line) for day, line in lines.items()}
    memory = memory_on(write_pages(tmp_path, logs), TODAY)
    assert {line.partition(" · ")[0] for line in shown(memory)} == {of_name, older, newer} and not memory.check()
    memory.answer(memory.review()[0].id, "y")
    assert sorted(shown(memory)) == sorted((of_name, newer))
    memory.retain([Fact(Kind.WORLD, f"Number {count}", (name,), importance=0.6) for count in range(9)])
    assert shown(memory) == [newer] and of_name in shown(memory, f"bank/entities/{name.replace(' ', '-')}.md")


@pytest.mark.parametrize(("due", "moved"), [*zip(DUE, MOVED, strict=True)])
def test_what_happened_on_its_day_is_past(tmp_path: Path, due: str, moved: str) -> None:
    told = f"- W(i=0.9)X: {due}\n- B(i=0.9)X: {moved}\n"
    logs = {f"memory/2026-10-{day}.md": told.replace("X", about) for day, about in ((18, ""), (19, " @Olga"))}
    memory = memory_on(write_pages(tmp_path, logs), TODAY)
    assert shown(memory) == [f"{due} · was to be on 2026-10-20"]
    while asked := [each for each in memory.review() if each.kind == "due"]:
        memory.answer(asked[0].id, "y")
    for page, day in (("bank/experience.md", 18), ("bank/entities/Olga.md", 19)):
        past = shown(memory, page)
        assert f"2026-10-20 · {due}" in past and [line[:12] for line in past if moved in line] == [f"[2026-10-{day}]"]
    assert shown(memory) == [] and "## Facts" not in (tmp_path / page).read_text("utf-8")
