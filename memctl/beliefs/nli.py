"""An optional judge for what the rules of stance leave open: a natural-language-inference model in a local folder."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..errors import ExtraMissing, Usage

__all__ = ["judge_with"]

_VERDICTS = {"entailment": "for", "contradiction": "against", "neutral": "neither"}


def judge_with(path: Path) -> Callable[[str, str], tuple[str, float]]:
    """A function of (belief, fact) that gives "for", "against" or "neither" and its probability in [0, 1].

    `path` is the folder of a cross-encoder with the three classes of inference. It is loaded at the first question and
    never downloaded. Raises Usage when there is no such folder or its model has other classes, ExtraMissing without
    sentence-transformers.
    """
    if not path.is_dir():
        raise Usage(f"no model folder at {path}", "name the folder of a local cross-encoder for inference")
    loaded: list[tuple[Any, list[str]]] = []

    def judge(belief: str, fact: str) -> tuple[str, float]:
        if not loaded:
            loaded.append(_load(path))
        model, verdicts = loaded[0]
        # The fact is the premise, the belief what may follow from it.
        scores = [float(score) for score in model.predict([(fact, belief)], show_progress_bar=False)[0]]
        shares = _softmax(scores)
        best = max(range(len(shares)), key=shares.__getitem__)
        return verdicts[best], shares[best]

    return judge


def _load(path: Path) -> tuple[Any, list[str]]:
    """The model in a folder, and the verdict of each of its classes."""
    try:
        package = importlib.import_module("sentence_transformers")
    except ImportError:
        raise ExtraMissing("nli", "sentence-transformers") from None
    try:
        model = package.CrossEncoder(str(path), local_files_only=True)
    except (OSError, ValueError) as error:
        raise Usage(
            f"{path}: no cross-encoder that can be loaded: {error}", "name the folder of a whole model"
        ) from None
    names = {int(number): str(name).casefold() for number, name in model.config.id2label.items()}
    verdicts = [_VERDICTS.get(names[number], "") for number in sorted(names)]
    if sorted(verdicts) != sorted(_VERDICTS.values()):
        raise Usage(f"{path}: its classes are {', '.join(names.values())}", "take a model for inference (NLI)")
    return model, verdicts


def _softmax(scores: list[float]) -> list[float]:
    top = max(scores)
    powers = [math.exp(score - top) for score in scores]
    return [power / sum(powers) for power in powers]
