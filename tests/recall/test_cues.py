"""`cue=`: other words by which a fact is found. They are searched, kept in the Markdown, and never shown."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from face_helpers import TODAY, ask, call, contents, write_pages

FACTS = [
    ("Peter", "Prefers concise replies on WhatsApp", ["how long may messages be", "no walls of text"], "how long may messages be?"),
    ("Олег", "Переехал из Казани в Белград", ["в какой стране Олег", "уехал в Сербию"], "кто уехал в Сербию?"),
    ("爱丽丝", "对花生过敏", ["请客要避开什么坚果", "急救药"], "请客要避开什么？"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text", "cues", "question"), FACTS)
def test_a_fact_is_found_by_its_cue_and_shown_without_it(
    name: str, text: str, cues: list[str], question: str, tmp_path: Path
) -> None:
    """In text and in JSON; the line in the log has it, so nothing lives in the index only."""
    write_pages(tmp_path, {"memory/2025-11-02.md": "- W @Nobody: Another line\n"})
    flags = [word for cue in cues for word in ("--cue", cue)]
    assert call(["retain", text, "--about", name, *flags, "--date", "2025-11-28"], tmp_path).code == 0
    written = (tmp_path / "memory/2025-11-28.md").read_text("utf-8")
    assert all(f"cue={cue}" in written for cue in cues)
    shown = call(["recall", question], tmp_path)
    assert text in shown.out.splitlines()[0] + shown.out
    assert not any(cue in shown.out for cue in cues)
    hit = json.loads(call(["recall", question, "--json"], tmp_path).out)["hits"][0]
    assert hit["content"] == text
    assert not any(cue in json.dumps(hit, ensure_ascii=False) for cue in cues)


def test_cues_are_none_of_the_facts_words_elsewhere(tmp_path: Path) -> None:
    """The id, what a twin is, slots and `check` look at the fact alone."""
    workspace = write_pages(
        tmp_path,
        {
            "memory/2025-11-27.md": '- W(cue="lives in Rome, moved to Rome") @Ann: Likes pasta\n',
            "memory/2025-11-28.md": "- W @Ann: Likes pasta\n",
        },
    )
    answer = ask(workspace, "pasta", today=TODAY)
    assert contents(answer) == ["Likes pasta"]
    assert len(answer.hits[0].also) == 1
    assert call(["fact", "get", "city", "--about", "Ann"], tmp_path).code == 1
    assert call(["check"], tmp_path).code == 0


def test_an_exact_word_in_a_fact_beats_the_same_word_in_a_cue(tmp_path: Path) -> None:
    workspace = write_pages(
        tmp_path,
        {"memory/2025-11-27.md": '- W(cue="invoice 4711") @Ann: Pays on Fridays\n- W @Bo: Invoice 4711 is paid\n'},
    )
    assert contents(ask(workspace, "invoice 4711"))[0] == "Invoice 4711 is paid"
