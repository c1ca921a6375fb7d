"""Small workspaces, each with one question of a kind, in three languages."""

from __future__ import annotations

from datetime import date, datetime
from pathlib import Path

from face_helpers import write_pages

from memctl.facts import Fact, Kind
from memctl.memory import Memory
from memctl.review import keep
from memctl.review.question import Question

NOW = datetime(2025, 11, 30, 12)
DAY = "memory/2025-11-20.md"

PAGES: dict[str, dict[str, str]] = {
    "replaced": {
        "memory/2025-11-20-a.md": "- W(key=nets) @Сети: На станции одиннадцать сетей\n",
        "memory/2025-11-20-b.md": "- W(key=nets) @Сети: На станции двенадцать сетей\n",
    },
    "belief": {
        DAY: "- O(0.8) @Anna: Prefers short meetings in the morning\n",
        "memory/2025-11-25.md": "- B @Anna: Held two meetings in the morning\n",
    },
    "due": {DAY: "- W(t=2025-11-25) @爱丽丝: 搬到德累斯顿\n"},
    "same": {DAY: "- W @Ирина: Живёт в Лиссабоне\n- W @Irina: Rings birds\n"},
    "trust": {DAY: "- W(key=db,src=web:wiki) @Atlas: The database is MongoDB\n"},
    "keep": {DAY: "# A day\n"},
}
SAID = keep.Uncertain(
    Fact(Kind.WORLD, "Переехал в Порту", ("Пётр",), source="user:chat.md#L3"), date(2025, 11, 21), "fact: hedged"
)


def memory_with(folder: Path, *kinds: str, pages: dict[str, str] | None = None) -> Memory:
    """A memory with the question of each kind, and more pages."""
    made = {"memory.md": "# Memory\n"} | {path: text for kind in kinds for path, text in _pages(kind).items()}
    workspace = write_pages(folder, made | (pages or {}))
    if "keep" in kinds:
        keep.change_candidates(workspace, [SAID])
    return Memory(workspace, lambda: NOW)


def _pages(kind: str) -> dict[str, str]:
    """The pages of a kind; each kind has a folder of its own logs, so that they stand side by side."""
    return {path.replace(".md", f"-{kind}.md"): text for path, text in PAGES[kind].items()}


def asked(memory: Memory, kind: str) -> Question:
    """The one open question of a kind."""
    (found,) = [question for question in memory.review() if question.kind == kind]
    return found
