"""How a line is meant: corrections retract, changes end, plans are over when their day is past."""

from __future__ import annotations

import pytest

from memctl.index.rows import rows_of
from memctl.language.sentences import (
    is_change,
    is_correction,
    is_machine_line,
    is_past,
    is_plan,
    opens_fence,
    speaker_on,
    split_sentences,
)

CORRECTIONS = [
    "Actually, she lives in Lisbon.", "Correction: the tag weighs 9.5 g, not 5.9 g.", "Not Bob but Carol owns it.",
    "The digits were swapped: 9.5 g.", "I was wrong, it is PostgreSQL.", "На самом деле живёт в Риге.", "Поправка: 9,5 г.",
    "Базой управляет не Боря, а Зоя.", "其实住在里斯本。", "不是五号，而是六号。", "更正：9.5克。",
]  # fmt: skip
CHANGES = [
    "Now lives in Lisbon.", "No longer lives in Berlin.", "Moved to Lisbon.", "Has been the owner since May.",
    "Теперь живёт в Риге.", "Больше не пьёт кофе.", "Переехала в Ригу.", "现在住在里斯本。", "不再喝咖啡。", "改为每周一次。",
]  # fmt: skip
PLAIN = ["Lives in Lisbon.", "Not only Bob, Carol too.", "Живёт в Риге.", "Не только чай.", "住在里斯本。"]
PLANS = [
    "The move is planned for 2025-12-14.", "Will leave on 2025-12-14.", "Plans to leave on 2025-12-14.",
    "Переезд запланирован на 2025-12-14.", "Собирается уехать 2025-12-14.", "计划2025-12-14搬家。",
]  # fmt: skip


@pytest.mark.parametrize("text", CORRECTIONS)
def test_a_correction(text: str) -> None:
    assert is_correction(text)


@pytest.mark.parametrize("text", CHANGES)
def test_a_change_is_no_correction(text: str) -> None:
    assert is_change(text)
    assert not is_correction(f"Actually {text}")


@pytest.mark.parametrize("text", PLAIN)
def test_a_plain_line_is_neither(text: str) -> None:
    assert not (is_correction(text) or is_change(text) or is_plan(text))


@pytest.mark.parametrize("text", PLANS)
def test_a_plan_is_over_when_its_day_is_past(text: str) -> None:
    assert is_plan(text)
    (row,) = (
        row for row in rows_of("memory/2025-11-27.md", f"## Retain\n\n- W @A: {text}\n").rows if row.role == "fact"
    )
    assert (row.first, row.last) == ("2025-11-27", "2025-12-14")


def test_will_in_the_middle_is_a_plan_and_will_in_front_a_person() -> None:
    assert is_plan("Ann will leave")
    assert not is_plan("Will left")


@pytest.mark.parametrize(
    ("text", "past"),
    [
        ("The gateway froze.", True), ("Did not sell the van.", True), ("Restarted the box.", True), ("Шлюз завис, починили.", True),
        ("Сеть упала ночью.", True), ("昨天坏了。", True), ("The gate is locked.", False), ("Isn't allowed to sign.", False),
        ("Зеркало проверяет подписи.", False), ("Журнал на столе.", False), ("大门晚上锁。", False), ("了解情况", False),
    ],
)  # fmt: skip
def test_what_happened_is_told_from_what_is(text: str, past: bool) -> None:
    assert is_past(text) is past


def test_a_correction_in_words_marks_its_row_and_so_does_a_pin() -> None:
    def marked(path: str, line: str) -> int:
        return next(row.marked for row in rows_of(path, f"## Retain\n\n- {line}\n").rows if row.role == "fact")

    log = "memory/2025-11-27.md"
    assert marked(log, "W @A: Lives in Berlin.") == 0
    assert marked(log, "W @A: Actually lives in Berlin.") == 1
    assert marked(log, "W(i=1.0) @A: Lives in Berlin.") == 2
    assert marked("memory.md", "W(key=city) @A: Actually, Berlin.") == 3
    assert marked(log, "W(i=1.0) @A: Likes Berlin.") == 0


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("One. Two! Three? Four… Five", 5),
        ('He said "Stop. Now." and left. Then (it was late. Very.) home.', 2),
        ("第一句。第二句！“引号里。还有。”第四句？", 3),
        ("Раз. «Два. Три.» Четыре.", 2),
        ("Dr. Chen pays approx. 4 kg. La Sra. Ruiz llega.", 2),
        ("Живёт на ул. Мира с 2019 г. Потом уедет.", 2),
        ("他说（先等。再看。）然后走了。她没走。", 2),
        ("", 0),
    ],
)
def test_sentences_end_outside_of_quotations(text: str, count: int) -> None:
    assert len(list(split_sentences(text))) == count


@pytest.mark.parametrize("said", ["yes", "10:02 да", "https://example.org", "deploy:", "we **really** like it"])
@pytest.mark.parametrize(
    "label", ["**Anna:** ", "13:56 **Anna**: ", "[2025-11-27 10:02] Anna Berg: ", "- Анна: ", "小林：", ""]
)
def test_who_speaks_on_a_line(label: str, said: str) -> None:
    speaker = speaker_on(label + said)
    assert (label + said)[speaker.begins :] == said.removeprefix("10:02 ")
    assert speaker.name in label and bool(speaker.name) == bool(label)


@pytest.mark.parametrize(
    ("line", "machine"),
    [
        ("$ make test", True), ("Traceback (most recent call last):", True), ("ERROR: no space left", True), ("2025-11-27 10:02 started", True),
        ("def main(args):", True), ("| a | b |", True), ("SELECT * FROM facts;", True), ("We met on Friday.", False),
        ("Ошибка в отчёте, исправим завтра", False), ("数据库很慢", False), ("", False),
    ],
)  # fmt: skip
def test_lines_that_nobody_types(line: str, machine: bool) -> None:
    assert is_machine_line(line) is machine
    assert opens_fence("  ```python") == "```" and opens_fence(line) == ""
