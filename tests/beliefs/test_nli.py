"""The optional inference model: loaded from a folder at the first question, never downloaded."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, ClassVar

import pytest

from memctl.errors import ExtraMissing, Usage
from memctl.local_model import inference_model

LABELS = {0: "contradiction", 1: "entailment", 2: "neutral"}


class Model:
    """A cross-encoder that looks for "not"; it remembers what it was given."""

    loaded: ClassVar[list[tuple[str, dict[str, Any]]]] = []
    asked: ClassVar[list[tuple[str, str]]] = []
    labels: ClassVar[dict[int, str]] = LABELS

    def __init__(self, path: str, **options: Any) -> None:
        if path.endswith("broken"):
            raise OSError("no config.json")
        self.loaded.append((path, options))
        self.config = SimpleNamespace(id2label=self.labels)

    def predict(self, pairs: list[tuple[str, str]], **_: Any) -> list[list[float]]:
        self.asked.extend(pairs)
        return [[5.0, 0.0, 0.0] if "not" in premise else [0.0, 5.0, 0.0] for premise, _ in pairs]


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> type[Model]:
    """sentence_transformers with this model in it."""
    fake = ModuleType("sentence_transformers")
    fresh = type("Fresh", (Model,), {"loaded": [], "asked": []})
    fake.CrossEncoder = fresh  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "sentence_transformers", fake)
    return fresh


def test_it_judges(model: type[Model], tmp_path: Path) -> None:
    """The fact is the premise; the classes become verdicts with a probability."""
    judge = inference_model(tmp_path)
    verdict, share = judge("Likes tea.", "Does not touch tea.")
    assert verdict == "against"
    assert 0.98 < share < 0.99
    assert judge("Likes tea.", "Drinks tea all day.")[0] == "for"
    assert model.asked[0] == ("Does not touch tea.", "Likes tea.")


def test_it_loads_once_and_late_and_never_from_the_network(model: type[Model], tmp_path: Path) -> None:
    """At the first question, from the folder only."""
    judge = inference_model(tmp_path)
    assert model.loaded == []
    judge("a", "b")
    judge("c", "d")
    assert model.loaded == [(str(tmp_path), {"local_files_only": True})]


def test_without_the_package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The error says what to install."""
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(ExtraMissing, match="sentence-transformers"):
        inference_model(tmp_path)("a", "b")


def test_without_the_folder(tmp_path: Path) -> None:
    """At once, before anything is loaded."""
    with pytest.raises(Usage, match="no model folder"):
        inference_model(tmp_path / "nowhere")


def test_with_a_folder_that_holds_no_model(model: type[Model], tmp_path: Path) -> None:
    """The loader's own words."""
    (tmp_path / "broken").mkdir()
    with pytest.raises(Usage, match=r"no config\.json"):
        inference_model(tmp_path / "broken")("a", "b")


def test_with_a_model_of_other_classes(model: type[Model], tmp_path: Path) -> None:
    """A relevance or sentiment model is refused."""
    model.labels = {0: "negative", 1: "positive"}
    with pytest.raises(Usage, match="negative, positive"):
        inference_model(tmp_path)("a", "b")
