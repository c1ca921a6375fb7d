"""What counts tokens, by the name that settings and `--counter` give: the estimate, a tiktoken encoding, a tokenizer.json."""

from __future__ import annotations

import json
import os
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any

from ..errors import ExtraBroken, ExtraMissing, Usage
from ..language.tokens import Counter, estimate
from ..notes.workspace import Workspace

_REMEMBERED = 4096  # texts whose count is kept: a chat is counted message by message, every turn


def counter_of(workspace: Workspace, name: str | None = None) -> Counter:
    """The counter of that name; without one, that of `[context] counter`. A path is taken from the workspace on.

    ExtraMissing (exit 16) where the package for it is not installed, ExtraBroken where it cannot work offline.
    """
    chosen = name or workspace.settings.counter
    if chosen == "estimate":
        return estimate
    if chosen.endswith(".json"):
        return _of_file(str(workspace.root / os.path.expanduser(chosen)))
    return _of_tiktoken(chosen)


@lru_cache(maxsize=4)
def _of_file(path: str) -> Counter:
    if not os.path.isfile(path):
        raise Usage(f"no tokenizer at {path}", "name a tokenizer.json, as it comes with a model")
    try:
        json.loads(Path(path).read_text("utf-8"))["model"]["vocab"]  # the library raises bare Exceptions
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise Usage(f"{path} is not a tokenizer: {error}", "name a tokenizer.json, as it comes with a model") from error
    try:
        tokenizers: Any = import_module("tokenizers")
    except ImportError as error:
        raise ExtraMissing("tokenizers", "tokenizers, which reads a tokenizer.json,") from error
    tokenizer = tokenizers.Tokenizer.from_file(path)
    return lru_cache(maxsize=_REMEMBERED)(lambda text: len(tokenizer.encode(text, add_special_tokens=False).ids))


@lru_cache(maxsize=4)
def _of_tiktoken(name: str) -> Counter:
    try:
        tiktoken: Any = import_module("tiktoken")
    except ImportError as error:
        raise ExtraMissing("tiktoken", f"tiktoken, which counts {name},") from error
    if name not in tiktoken.list_encoding_names():
        known = ", ".join(sorted(tiktoken.list_encoding_names()))
        raise Usage(f"counter {name!r} is unknown", f"estimate, the path of a tokenizer.json, or one of {known}")
    encoding = _offline(tiktoken, name)
    return lru_cache(maxsize=_REMEMBERED)(lambda text: len(encoding.encode_ordinary(text)))


def _offline(tiktoken: Any, name: str) -> Any:
    """The encoding, if its file is in tiktoken's cache: memctl downloads nothing."""
    load: Any = import_module("tiktoken.load")
    read = load.read_file

    def read_here(path: str) -> bytes:
        if "://" not in path:
            return Path(path).read_bytes()
        raise ExtraBroken(
            f"tiktoken has no file for {name} in its cache, and memctl downloads nothing",
            f'run once with a network: python -c "import tiktoken; tiktoken.get_encoding({name!r})", '
            "and set TIKTOKEN_CACHE_DIR to a folder that lasts",
        )

    load.read_file = read_here
    try:
        return tiktoken.get_encoding(name)
    finally:
        load.read_file = read
