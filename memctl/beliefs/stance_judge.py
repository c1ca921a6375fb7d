"""Whether a fact speaks for or against a belief, by rules; a local inference model may answer what the rules leave open."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..entities.names_of_lines import KnownNames
from ..errors import BadSettings, ExtraMissing, Usage
from ..facts import Fact
from ..language.names import entity_key
from ..notes.settings import SETTINGS
from ..notes.workspace import Workspace
from ..stance.lexicon import Lexicon, lexicon
from ..stance.stance import Stance, stance
from .replay import Judge

_SURE = 0.9  # probability from which the answer of a model counts
_VERDICTS = {"entailment": "for", "contradiction": "against", "neutral": "neither"}


def stance_judge(workspace: Workspace, known: KnownNames) -> Judge:
    """The judge of this workspace, with the words and the model of its settings. A model's answer is as strong as a hedged line."""
    words = _own_words(workspace)
    path = workspace.settings.nli
    model = load_model(workspace.root / path) if path else None

    def judge(belief: Fact, fact: Fact) -> Stance:
        valid = (belief.valid, fact.valid)
        found = stance(
            belief, fact, canonical=lambda name: entity_key(known.known_as(name)), valid=valid, lexicon=words
        )
        if found.sure or model is None:
            return found
        verdict, probability = model(belief.text, fact.text)
        if verdict == "neither" or probability < _SURE:
            return found
        return Stance(verdict, 0.5, f"model: {probability:.2f}")

    return judge


def _own_words(workspace: Workspace) -> Lexicon | None:
    """The shipped lists with those of the workspace; None where it has none."""
    path = workspace.settings.words
    if path is None:
        return None
    import tomllib

    file = workspace.root / workspace.contain(path)
    try:
        read = tomllib.loads(file.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BadSettings(workspace.root / SETTINGS, f"stance.words = {path!r}: {error}") from error
    wrong = next((name for name, words in read.items() if not isinstance(words, str)), None)
    if wrong is not None:
        raise BadSettings(file, f"{wrong} is a text of words with commas between them")
    return lexicon(read)


# -- the model --------------------------------------------------------------------------------------------------------


def load_model(path: Path) -> Callable[[str, str], tuple[str, float]]:
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
            loaded.append(_loaded(path))
        model, verdicts = loaded[0]
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
        raise Usage(
            f"{path}: no cross-encoder that can be loaded: {error}", "name the folder of a whole model"
        ) from None
    names = {int(number): str(name).casefold() for number, name in model.config.id2label.items()}
    verdicts = [_VERDICTS.get(names[number], "") for number in sorted(names)]
    if sorted(verdicts) != sorted(_VERDICTS.values()):
        raise Usage(f"{path}: its classes are {', '.join(names.values())}", "take a model for inference (NLI)")
    return model, verdicts
