"""What review keeps of the plan of reflect changes no answer, is made once for each state of the pages, and goes with their words."""

from __future__ import annotations

import json
import shutil
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

from face_helpers import write_pages
from hypothesis import given, settings, strategies as st
from review_helpers import NOW, memory_with
from strategies import examples

from memctl.memory import Memory
from memctl.notes.workspace import Workspace
from memctl.review import collect

LINES = (
    "- O(0.8) @Anna: Prefers short meetings in the morning\n",
    "- B @Anna: Held two meetings in the morning\n",
    "- O(0.9, private) @Anna: Dislikes meetings in the morning\n",
    "- W(i=0.9) @Anna: Leads the meetings of the harbour\n",
    "- O @Анна: Любит чай с лимоном по утрам\n",
    "- O @Анна: Не любит чай с лимоном по утрам\n",
    "- B(private) @Анна: Пьёт чай с лимоном каждый день\n",
    "- O @爱丽丝: 喜欢简短的回复\n",
    "- B @爱丽丝: 要求简短的回复和表格\n",
)
PAGES = ("memory/2025-10-20.md", "memory/2025-11-20.md", "memory/2025-11-25.md", "memory.md", "bank/notes.md")


def told(memory: Memory) -> list[dict[str, Any]]:
    """Every question as the owner and as others see it, with its worth."""
    seen = (*memory.review(), *memory.public().review())
    return [one.as_json() | {"worth": one.worth, "asked": one.about} for one in seen]


@given(st.data())
@settings(max_examples=examples(12))
def test_answers_equal_those_of_a_run_that_knows_nothing(data: st.DataObject) -> None:
    with TemporaryDirectory() as folder:
        root = write_pages(Path(folder).resolve() / "notes", {"memory.md": "# Memory\n", PAGES[1]: LINES[0]}).root
        now = NOW
        for _ in range(data.draw(st.integers(2, 6))):
            memory = Memory(Workspace(root), lambda now=now: now)  # type: ignore[misc]
            page = root / data.draw(st.sampled_from(PAGES))
            step = data.draw(st.sampled_from(["add", "add", "add", "take", "answer", "reflect", "reflect", "later"]))
            text = page.read_text("utf-8") if page.exists() else ""
            if step == "add":
                page.parent.mkdir(exist_ok=True)
                page.write_text(text + data.draw(st.sampled_from(LINES)), "utf-8")
            elif step == "take" and page.exists():
                page.write_text("".join(text.splitlines(True)[:-1]), "utf-8")
            elif step == "answer" and (asked := memory.review()):
                one = data.draw(st.sampled_from(asked))
                memory.answer(one.id, data.draw(st.sampled_from(one.options)).key)
            elif step == "reflect":
                memory.reflect()
            elif step == "later":
                now += timedelta(data.draw(st.sampled_from([1, 40])))
            known = told(memory), told(memory)
            shutil.rmtree(root / ".memory")
            assert known == (told(memory),) * 2, step


def test_nothing_is_planned_anew_where_nothing_changed(tmp_path: Path) -> None:
    memory = memory_with(tmp_path, "belief", "replaced")
    asked = memory.review()
    assert {one.kind for one in asked} == {"belief", "replaced"}
    with patch.multiple(collect, Planner=None, replaced_since=None):  # neither is called
        assert memory.review() == asked
    later = Memory(memory.workspace, lambda: datetime(2025, 12, 1, 12))
    with patch.object(collect, "Planner", wraps=collect.Planner) as planned:
        later.review()
        assert planned.call_count == 1


def test_the_page_of_beliefs_is_not_written_for_its_questions(tmp_path: Path) -> None:
    """It is the largest page of a workspace, and a plan of it half of what a review would hold in memory."""
    memory = memory_with(tmp_path, "belief", "replaced")
    with patch("memctl.reflect.plan.write_opinions", side_effect=AssertionError("written")):
        asked = memory.review()
    assert {one.kind for one in asked} == {"belief", "replaced"}


def test_words_that_are_gone_from_the_pages_are_gone_from_what_is_kept(tmp_path: Path) -> None:
    memory = memory_with(tmp_path, "belief", pages={"memory/2025-11-21.md": "- W(private) @Anna: Has a safe\n"})
    memory.review()
    kept = [memory.workspace.memory / "held.json", memory.workspace.memory / "public/held.json"]
    assert all("meetings" in path.read_text("utf-8") for path in kept)
    page = memory.workspace.root / "memory/2025-11-25.md"
    page.write_text("- B @Anna: Was at sea\n", "utf-8")
    memory.recall("Anna")
    assert not any(path.exists() for path in kept)
    memory.review()
    (ref,) = (hit.ref for hit in memory.recall("short meetings").hits if "short" in hit.content)
    memory.forget(ids=[ref], apply=True)
    assert not any(path.exists() for path in kept)


def test_a_pair_that_is_met_again_is_kept_once(tmp_path: Path) -> None:
    """An older line that speaks by its id for one on a page that changes is heard anew each time."""
    pages = {
        "memory.md": "# Memory\n",
        "memory/2025-10-20.md": LINES[0] + "- O @爱丽丝: 喜欢简短的回复\n",
        "memory/2025-10-21.md": "- O(for=tea) @Anna: Wants long meetings in the morning\n- O(for=tea) @爱丽丝: 要求简短的回复和表格\n",
        "memory/2025-11-20.md": "- O @Анна: Любит чай с лимоном ^tea\n",
    }
    memory = Memory(write_pages(tmp_path / "notes", pages), lambda: NOW)
    memory.reflect()
    met = json.loads((memory.workspace.memory / "reflected.json").read_text("utf-8"))["met"]
    assert met
    page = memory.workspace.root / "memory/2025-11-20.md"
    for line in ("- W @Анна: Была в море\n", "- W @Anna: Was at sea\n"):
        page.write_text(page.read_text("utf-8") + line, "utf-8")
        memory.reflect(since="7d")
    assert json.loads((memory.workspace.memory / "reflected.json").read_text("utf-8"))["met"] == met
