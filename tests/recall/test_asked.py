"""What kind of question is asked, and what is no answer to any."""

from __future__ import annotations

from pathlib import Path

import pytest
from face_helpers import ask, contents, write_pages

from memctl.recall.asked import gives_reason, is_polite, points_back

LOG = """# 2025-11-20

Thanks a lot!

## Plans

### 2025-11-21

Deployed the gateway on Monday.

## Retain

- W(key=city): Lisbon, since spring
- W(key=standup): It is at 9:30.
- W(key=db) @Atlas: MySQL
- W(key=db) @Atlas: PostgreSQL
- W @Atlas: PostgreSQL it was, because joins were slow
- W @Atlas: PostgreSQL runs on port 5432
- W @Атлас: PostgreSQL взяли, потому что нужны связи
- W @地图: 选PostgreSQL，因为查询很慢
"""


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_pages(
        tmp_path_factory.mktemp("asked"),
        {"memory/2025-11-20.md": LOG, "bank/world.md": "# World\n\nObjective facts that last.\n"},
    ).root


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("where do I live?", "Lisbon, since spring"),
        ("где я живу?", "Lisbon, since spring"),
        ("我住在哪里？", "Lisbon, since spring"),
        ("what time is the standup?", "It is at 9:30."),
        ("which database does Atlas use?", "PostgreSQL"),
        ("why PostgreSQL?", "PostgreSQL it was, because joins were slow"),
        ("почему взяли PostgreSQL?", "PostgreSQL взяли, потому что нужны связи"),
        ("为什么选PostgreSQL？", "选PostgreSQL，因为查询很慢"),
    ],
)
def test_the_slot_or_the_reason_stands_first(memory: Path, question: str, first: str) -> None:
    from memctl.notes.workspace import Workspace

    assert contents(ask(Workspace(memory), question))[0] == first


def test_the_skeleton_of_a_page_is_no_answer_beside_one(memory: Path) -> None:
    """It stays findable by its words where nothing else has them."""
    from memctl.notes.workspace import Workspace

    found = contents(ask(Workspace(memory), "plans thanks 2025-11-21 gateway objective facts last monday"))
    assert found == ["Deployed the gateway on Monday."]
    assert contents(ask(Workspace(memory), "thanks")) == ["Thanks a lot!"]


@pytest.mark.parametrize(
    ("text", "polite"),
    [
        ("13:56 **Anna**: Hey Mel! Long time no see! How are you?", True),
        ("Привет! Как дела?", True),
        ("小林：你好！最近怎么样？", True),
        ("Thanks, the pump of the boat arrived on Friday.", False),
        ("Great pottery class yesterday!", False),
        ("Да, лодку продали в мае.", False),
        ("好的，星期五去岛上。", False),
    ],
)
def test_mere_politeness(text: str, polite: bool) -> None:
    assert is_polite(text) is polite


def test_pronouns_and_reasons() -> None:
    assert all(map(points_back, ("**Anna**: She moved there.", "Это было давно", "他同意了", "It's special to me.")))
    assert not any(map(points_back, ("Anna moved", "Этаж шестой", "其实很好"[2:], "Items are sold")))
    assert all(map(gives_reason, ("because of rain", "из-за дождя", "因为下雨"))) and not gives_reason("since May")
