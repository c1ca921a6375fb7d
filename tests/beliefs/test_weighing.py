"""Words of one's own for stance, and an optional model for what the rules leave open."""

from __future__ import annotations

import sys
from datetime import date
from pathlib import Path
from types import SimpleNamespace

import pytest
from face_helpers import call, memory_on

from memctl.beliefs.view import beliefs
from memctl.notes.workspace import find_workspace
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
    return round(view.standing.confidence, 2)


@pytest.mark.parametrize(
    ("belief", "fact", "scale"),
    [
        ("Likes zorpy replies.", "Wants his replies wumbly.", "zorpy | wumbly"),
        ("Любит зорпые ответы.", "Просит вумблые ответы.", "зорпый | вумблый"),
    ],
)
def test_words_of_ones_own(tmp_path: Path, belief: str, fact: str, scale: str) -> None:
    _tell(tmp_path, belief, fact)
    before = _confidence(tmp_path)
    (tmp_path / "words.toml").write_text(f'scales = """\nown: {scale}\n"""\n', "utf-8")
    (tmp_path / "memctl.toml").write_text('[stance]\nwords = "words.toml"\n', "utf-8")
    assert _confidence(tmp_path) < before


@pytest.mark.parametrize("written", ["words = 1", 'words = "nowhere.toml"', 'nli = "no/folder"', "other = 1"])
def test_settings_that_cannot_be(tmp_path: Path, written: str) -> None:
    _tell(tmp_path, "Likes tea.", "Had tea.")
    (tmp_path / "memctl.toml").write_text(f"[stance]\n{written}\n", "utf-8")
    done = call(["reflect"], tmp_path)
    assert done.code == 2 and len(done.err.splitlines()) == 2


def test_a_model_fills_what_is_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only where the rules are unsure, and at half the weight."""

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
    assert _confidence(tmp_path) < before
    page = (tmp_path / "bank/opinions.md").read_text("utf-8")
    assert "faintly against" in page and "model: 1.00" in page
