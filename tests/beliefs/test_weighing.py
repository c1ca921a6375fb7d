"""An optional model for what the rules leave open."""

from __future__ import annotations

import sys
from datetime import date
from pathlib import Path
from types import SimpleNamespace

import pytest
from face_helpers import call, memory_on

from memctl.beliefs.view import beliefs
from memctl.notes.workspace import find_workspace
from memctl.reflect.plan import Planner
from memctl.reflect.reflect import reflect

TODAY = date(2025, 11, 30)


def _tell(root: Path, belief: str, fact: str) -> None:
    (root / "memory").mkdir(exist_ok=True)
    (root / "memory/2025-11-01.md").write_text(f"## Retain\n\n- O(0.8) @Peter: {belief}\n", "utf-8")
    (root / "memory/2025-11-02.md").write_text(f"## Retain\n\n- B @Peter: {fact}\n", "utf-8")


def _confidence(root: Path) -> float:
    workspace = find_workspace(str(root), {}, root)
    reflect(memory_on(workspace, TODAY))
    (view,) = beliefs(memory_on(workspace, TODAY))
    return round(view.ledger.confidence, 2)


def _asked(root: Path) -> list[tuple[str, str]]:
    """What a reflect would leave to be asked: which way it leans, and why."""
    memory = memory_on(find_workspace(str(root), {}, root), TODAY)
    asked = memory.run(lambda at: Planner(at, whole=True).replay_for_review().open_questions)
    return [(pair.judgement.verdict, pair.judgement.reason) for pair in asked]


@pytest.mark.parametrize("written", ["nli = 1", 'words = "gone.toml"', 'nli = "no/folder"', "other = 1"])
def test_settings_that_cannot_be(tmp_path: Path, written: str) -> None:
    _tell(tmp_path, "Likes tea.", "Had tea.")
    (tmp_path / "memctl.toml").write_text(f"[stance]\n{written}\n", "utf-8")
    done = call(["reflect"], tmp_path)
    assert done.code == 2 and len(done.err.splitlines()) == 2


def test_a_model_proposes_and_writes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the rules are unsure: its answer is a question, as long as nobody measured that model."""

    class Model:
        config = SimpleNamespace(id2label={0: "contradiction", 1: "entailment", 2: "neutral"})

        def __init__(self, *_: object, **__: object) -> None: ...

        def predict(self, pairs: list[tuple[str, str]], **_: object) -> list[list[float]]:
            return [[9.0, 0.0, 0.0] for _ in pairs]

    monkeypatch.setitem(sys.modules, "sentence_transformers", SimpleNamespace(CrossEncoder=Model))
    _tell(tmp_path, "Enjoys long walks by the river.", "Took the bus along the river for the third time.")
    before = _confidence(tmp_path)
    (tmp_path / "model").mkdir()
    (tmp_path / "memctl.toml").write_text('[stance]\nnli = "model"\n', "utf-8")
    assert _confidence(tmp_path) == before
    assert _asked(tmp_path) == [("against", "model: 1.00")]
