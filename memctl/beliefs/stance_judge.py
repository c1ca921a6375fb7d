"""Whether a fact speaks for or against a belief, by rules; a local inference model may propose what the rules leave open."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from ..errors import ExtraMissing, Usage
from ..facts import Fact
from ..index.queries.names import KnownNames
from ..judgement import Judgement, judged
from ..language.names import entity_key
from ..notes.workspace import Workspace
from ..stance.stance import stance
from .replay import Judge

_SURE = 0.9  # probability from which the answer of a model counts
_VERDICTS = {"entailment": "for", "contradiction": "against", "neutral": "neither"}


def stance_judge(workspace: Workspace, known: KnownNames) -> Judge:
    """The judge of this workspace. Where the settings name a model, it says which way a question leans, and asks its own."""
    path = workspace.settings.nli
    model = load_model(workspace.root / path) if path else None

    def judge(belief: Fact, fact: Fact) -> Judgement | None:
        found = stance(belief, fact, canonical=lambda name: entity_key(known.known_as(name)))
        if model is None or not belief.entities or (found and (found.is_certain or found.kind == "reversal")):
            return found
        verdict, probability = model(belief.text, fact.text)
        if verdict == "neither" or probability < _SURE:
            return found
        return judged("evidence", verdict, "model", f"model: {probability:.2f}")

    return judge


def load_model(path: Path) -> Callable[[str, str], tuple[str, float]]:
    """A function of (belief, fact) that gives "for", "against" or "neither" and its probability in [0, 1].

    `path` is the folder of a cross-encoder with the three classes of inference. It is loaded at the first question and
    never downloaded. Raises Usage when there is no such folder or its model has other classes, ExtraMissing without
    sentence-transformers.
    """
    if not path.is_dir():
        raise Usage(f"no model folder at {path}", "name the folder of a local cross-encoder for inference")
    loaded = cache(_loaded)

    def judge(belief: str, fact: str) -> tuple[str, float]:
        model, verdicts = loaded(path)
        # The fact is the premise, the belief what may follow from it.
        scores = [float(score) for score in model.predict([(fact, belief)], show_progress_bar=False)[0]]
        powers = [math.exp(score - max(scores)) for score in scores]
        best = max(range(len(powers)), key=powers.__getitem__)
        return verdicts[best], powers[best] / sum(powers)

    return judge


def _loaded(path: Path) -> tuple[Any, list[str]]:
    """The model in a folder, and the verdict of each of its classes."""
    try:
        package = importlib.import_module("sentence_transformers")
    except ImportError:
        raise ExtraMissing("nli", "sentence-transformers") from None
    try:
        model = package.CrossEncoder(str(path), local_files_only=True)
    except (OSError, ValueError) as error:
        what = f"{path}: no cross-encoder that can be loaded: {error}"
        raise Usage(what, "name the folder of a whole model") from None
    names = {int(number): str(name).casefold() for number, name in model.config.id2label.items()}
    verdicts = [_VERDICTS.get(names[number], "") for number in sorted(names)]
    if sorted(verdicts) != sorted(_VERDICTS.values()):
        raise Usage(f"{path}: its classes are {', '.join(names.values())}", "take a model for inference (NLI)")
    return model, verdicts
