"""How reflect judges whether a fact speaks for or against a belief: by rules, with the words and the model of the settings."""

from __future__ import annotations

from ..entities.names_of_lines import KnownNames
from ..errors import BadSettings
from ..facts import Fact
from ..language.names import entity_key
from ..notes.workspace import SETTINGS, Workspace
from ..stance.lexicon import Lexicon, lexicon
from ..stance.stance import Stance, stance
from .nli import judge_with
from .replay import Weigh

__all__ = ["weigher"]

SURE = 0.9  # probability from which a model's word counts where the rules have none


def weigher(workspace: Workspace, known: KnownNames) -> Weigh:
    """The judge of this workspace. A model may only fill what the rules leave open, and counts half."""
    words = _words(workspace)
    path = workspace.settings.nli
    model = judge_with(workspace.root / path) if path else None

    def weigh(belief: Fact, fact: Fact) -> Stance:
        found = stance(
            belief, fact, canonical=lambda name: entity_key(known.known_as(name)), valid=(belief.valid, fact.valid), lexicon=words
        )  # fmt: skip
        if found.sure or model is None:
            return found
        verdict, share = model(belief.text, fact.text)
        if verdict == "neither" or share < SURE:
            return found
        return Stance(verdict, 0.5, f"model: {share:.2f}")

    return weigh


def _words(workspace: Workspace) -> Lexicon | None:
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
