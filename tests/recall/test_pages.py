"""A note answers as a whole: its words may stand in it line by line, beside a line elsewhere that has more of them by chance."""

from pathlib import Path

import pytest
from face_helpers import contents, memory_on, write_pages
from store_helpers import table

import memctl
from memctl.index.lexical import score_page

NOTES = {
    "en": (
        "restore a snapshot of the server",
        ("We restore the volume first.", "The snapshot is listed.", "The server starts.", "Nothing else."),
        "A server and a snapshot were bought.",
    ),
    "ru": (
        "восстановить снимок сервера",
        ("Сначала восстановить том.", "Снимок стоит в списке.", "Сервер запускается.", "Больше ничего."),
        "Сервер и снимок купили.",
    ),
    "zh": (
        "恢复 服务器 快照",
        ("先恢复磁盘。", "快照按日期排列。", "服务器启动。", "没有别的。"),
        "买了服务器和快照。",
    ),
}


@pytest.mark.parametrize("language", NOTES)
def test_a_note_with_all_words_here_and_there_stands_above_one_line_with_most_of_them(
    tmp_path: Path, language: str
) -> None:
    question, (*whole, other), line = NOTES[language]
    (tmp_path / "memctl.toml").write_text("")
    apart = f"\n\n{other}" * 4 + "\n\n"
    (tmp_path / "whole.md").write_text(f"# A\n\n{apart.join(whole)}\n", "utf-8")
    (tmp_path / "line.md").write_text(f"# B\n\n{line}{apart}{other}\n", "utf-8")
    with memctl.open(tmp_path) as memory:
        found = [hit.source.path for hit in memory.recall(question).hits]
    assert found[:2] == ["whole.md", "line.md"]


def test_a_page_gains_by_more_terms_by_repetition_and_by_its_title_and_loses_by_length() -> None:
    query = {"red": 2.0, "ship": 1.0}
    plain = score_page(query, ["red door"], "", 100)
    assert 0 < plain < score_page(query, ["red door", "red wall"], "", 100) < 1
    assert plain < score_page(query, ["red door", "ship"], "", 100)
    assert plain < score_page(query, ["red door"], "red", 100)
    assert plain > score_page(query, ["red door"], "", 1_000)
    assert score_page({}, [], "", 0) == 0


@pytest.mark.parametrize(("lead", "one", "other", "question"), table("leads-a-list"))
def test_what_leads_a_list_brings_its_items(tmp_path: Path, lead: str, one: str, other: str, question: str) -> None:
    write_pages(tmp_path, {"memory/2025-11-04.md": f"# Log\n\n{lead}\n- {one}\n- {other}\n\nRain.\n"})
    with memctl.open(tmp_path) as memory:
        passage = memory.recall(question, k=1).hits[0].passage
    assert [line.content for line in passage] == [lead, one, other]


TABLES = [
    (
        "| Date | Ferritin | Vitamin |",
        "| 2025-08-14 | 41 | |",
        "| 2025-02-10 | 18 | 21 |",
        "vitamin",
        "ferritin in August",
    ),
    (
        "| Дата | Ферритин | Витамин |",
        "| 14 августа 2025 | 41 | |",
        "| 10.02.2025 | 18 | 21 |",
        "витамина",
        "ферритин в августе",
    ),
    ("| 日期 | 铁蛋白 | 血压 |", "| 2025年8月14日 | 41 | |", "| 2025-02-10 | 18 | 120 |", "血压", "八月的铁蛋白"),
]


@pytest.mark.parametrize(("head", "first", "second", "column", "when"), TABLES)
def test_a_row_of_a_table_is_found_by_its_column_and_shown_under_its_head(
    tmp_path: Path, head: str, first: str, second: str, column: str, when: str
) -> None:
    """By the day in its cell too; an empty cell is no answer; a second table has a head of its own."""
    text = f"# A\n\n{head}\n|---|:-:|---|\n{first}\n{second}\n\n| x | y |\n|---|---|\n| boat | 7 |\n"
    memory = memory_on(write_pages(tmp_path, {"n.md": text}))
    assert contents(memory.recall(column, per_page=0))[:1] == [second]
    one = memory.recall(when).hits[0]
    assert (one.content, str(one.source), one.day) == (first, "n.md#L5", None)
    assert [line.content for line in one.passage][:2] == [head, first]
    assert contents(memory.recall("y", per_page=0)) == ["| boat | 7 |"]
    assert not memory.verify().differences
