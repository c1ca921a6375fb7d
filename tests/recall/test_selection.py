"""What picks lines: importance, pages by glob, headings, words in quotes and words that must not stand there; in three languages."""

from __future__ import annotations

from pathlib import Path

import pytest
from face_helpers import call, write_pages

import memctl

GUIDE = "# Guide\n\n## Database\n\nCold start takes nine seconds.\n\n### Backup\n\nA dump every night.\n\n## Team\n\nStart with a cold drink.\n"
PAGES = {
    "memory/2025-11-20.md": (
        "# 2025-11-20\n\n## Retain\n\n- W(i=0.9): The vault code changes weekly\n- W(i=0.2): The kettle is blue\n- W: The door is green\n"
    ),
    "memory/2025-11-21.md": (
        "# 2025-11-21\n\n## Решения\n\nХолодный старт занимает девять секунд.\n\nСтарт был холодный, как чай.\n\n"
        "## 决定\n\n数据库启动很慢。\n\n启动数据库以后很快。\n"
    ),
    "bank/guide.md": GUIDE,
}  # fmt: skip


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small workspace."""
    return write_pages(tmp_path_factory.mktemp("selection") / "ws", PAGES).root


def _found(root: Path, question: str = "", **filters: object) -> str:
    with memctl.open(root) as memory:
        return "\n".join(hit.content for hit in memory.recall(question, per_page=0, **filters).hits)


def test_importance_is_a_filter(root: Path) -> None:
    """Only lines that say so: what has no i= is not among them."""
    assert _found(root, min_importance=0.7) == "The vault code changes weekly"
    assert _found(root, "min-importance:.1 kettle") == "The kettle is blue"
    done = call(["recall", "--min-importance", "3"], root)
    assert done.code == 2 and "0<=x<=1" in done.err


@pytest.mark.parametrize(
    ("glob", "wanted"),
    [("bank/", "nine"), ("bank", "nine"), ("guide.md", "nine"), ("**/guide.md", "nine"), ("./bank/*.md", "nine"),
     ("memory/2025-11-2[!0]*", "девять"), ("memory/2025-11-21.md", "девять")],
)  # fmt: skip
def test_a_path_is_a_page_a_folder_or_a_glob(root: Path, glob: str, wanted: str) -> None:
    found = _found(root, "start старт", paths=[glob])
    assert wanted in found and not {"nine", "девять"} - {wanted} & set(found.split())
    assert wanted in _found(root, f"path:{glob} start старт")


def test_a_path_that_a_shell_completed(root: Path, tmp_path: Path) -> None:
    """Absolute, inside the workspace: the same as from its root."""
    page = (root / "memory/2025-11-20.md").resolve()
    answers = [call(["recall", "--path", str(path)], root).out for path in (page, f"memory/{page.name}")]
    assert answers[0] == answers[1] and page.name in answers[0]
    other = write_pages(tmp_path / "other", PAGES).root
    assert call(["recall", "-w", str(root), "-w", str(other), "--path", str(page)], root).code == 2


def test_a_glob_that_meets_nothing_says_so(root: Path) -> None:
    done = call(["recall", "start", "--path", "nowhere/*"], root)
    assert done.code == 1 and "no entry passes the filter path:nowhere/*" in done.err and not done.out
    assert call(["recall", "start", "--path", "/"], root).code == 2


@pytest.mark.parametrize(
    ("heading", "wanted", "other"),
    [
        ("database", "nightnine", "drink"),
        ("backup", "night", "nine"),
        ("решение", "девять", "慢"),
        ("决定", "慢", "девять"),
    ],
)
def test_a_heading_is_a_filter_with_what_stands_below_it(root: Path, heading: str, wanted: str, other: str) -> None:
    found = _found(root, heading=heading, k=50)
    assert other not in found and ("night" in found and "nine" in found if wanted == "nightnine" else wanted in found)
    assert "no entry passes the filter heading:zebra" in call(["recall", "--heading", "zebra"], root).err


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ('"cold start"', "nine"), ("“cold start”", "nine"), ('"Холодный старт"', "девять"),
        ("«Холодный старт»", "девять"), ('"数据库启动"', "很慢"), ("「数据库启动」", "很慢"),
    ],
)  # fmt: skip
def test_words_in_quotes_stand_together(root: Path, question: str, wanted: str) -> None:
    """As a search engine takes them; those that stand nowhere are words again, and the answer says so."""
    found = _found(root, question)
    assert wanted in found and len(found.split("\n")) == 1, found
    told = call(["recall", '"drink cold" start'], root)
    assert told.code == 0 and 'no line holds "drink cold" word for word' in told.err
    assert "drink" in _found(root, f"{question} drink?"), "in a sentence quotes hold a title"


@pytest.mark.parametrize(
    ("question", "left"),
    [
        ("cold start -drink", "nine"),
        ("старт -чай", "девять"),
        ("数据库 -很快", "很慢"),
        ('start -"cold drink"', "nine"),
    ],
)
def test_a_word_with_a_dash_must_not_stand_there(root: Path, question: str, left: str) -> None:
    assert left in (found := _found(root, question)) and question.rpartition("-")[2].strip('"') not in found, found
    assert "drink" in _found(root, "what is a cold -drink?"), "in a sentence a dash is only that"


@pytest.mark.parametrize("left_out", ["-mongo", "-Kafka", "-quick", "-монго"])
def test_a_word_to_leave_out_needs_no_quotes_on_the_command_line(tmp_path: Path, left_out: str) -> None:
    write_pages(tmp_path, {"memory/2025-11-01.md": f"- W: Postgres beside {left_out[1:]}.\n- W: Postgres alone.\n"})
    done = call(["recall", "postgres", left_out, "-k", "5", "--format", "jsonl"], tmp_path)
    assert done.code == 0, done.err
    assert "alone" in done.out and "beside" not in done.out


def test_names_of_attributes_are_no_words_of_a_line(tmp_path: Path) -> None:
    lines = (
        "- W(key=db, t=2025-10-14..) @Atlas: Moved to PostgreSQL.\n- W @Irina: The key of the shed hangs by the door.\n"
    )
    write_pages(tmp_path, {"memory/2025-11-01.md": lines})
    found = call(["recall", "where is the key?"], tmp_path).out
    assert "shed" in found and "PostgreSQL" not in found
    assert "PostgreSQL" in call(["recall", "db"], tmp_path).out
