"""The settings of a workspace, as memctl.toml gives them; notes/settings_keys.py says what each key may be."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from ..errors import BadSettings

__all__ = ["SETTINGS", "Settings", "read_settings"]

SETTINGS = "memctl.toml"


class Settings(NamedTuple):
    """memctl.toml: `ignore` are globs of paths that are not read; `sync_seconds` caps the sync before a recall.

    `page_from` is how many facts a name needs before reflect gives it a page. `words` is a TOML file with more words for
    stance, `nli` the folder of a model for inference. `model` is what embeds lines: "auto" is what is installed, "none"
    is nothing, else a package or the folder of a model (vectors/models.py), `vector_weight` how much that counts beside
    words: 1 as measured, 0 nothing. `aliases` is a TOML file with more words for the same thing (recall/workspace_aliases.py).
    `budget` is how many tokens a context takes where nobody says, `pinned` the pages that belong to its core beside
    memory.md, `counter` what counts tokens: "estimate", the name of a tiktoken encoding, or a tokenizer.json.
    `llm` is a loopback URL of an OpenAI-compatible server, `llm_model` the model to ask for, `llm_seconds` how long.
    """

    ignore: tuple[str, ...] = ()
    sync_seconds: float = 2.0
    k: int = 10
    page_from: int = 2
    words: str | None = None
    nli: str | None = None
    model: str = "auto"
    aliases: str | None = None
    vector_weight: float = 1.0
    budget: int = 8000
    pinned: tuple[str, ...] = ()
    counter: str = "estimate"
    llm: str | None = None
    llm_model: str = "local"
    llm_seconds: float = 30.0


def read_settings(path: Path) -> Settings:
    """What a settings file says; the usual where there is none. BadSettings for what cannot be followed."""
    if not os.path.exists(path):
        return Settings()
    if not os.path.isfile(path):
        raise BadSettings(path, "not a regular file")
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (UnicodeDecodeError, OSError) as error:
        raise BadSettings(path, str(error)) from error
    if all(not line.strip() or line.lstrip().startswith("#") for line in text.split("\n")):
        return Settings()  # as `init` makes it: no need to load a parser (3 ms)
    import tomllib

    from .settings_keys import checked

    try:
        return Settings(**checked(path, tomllib.loads(text)))
    except tomllib.TOMLDecodeError as error:
        raise BadSettings(path, str(error)) from error
