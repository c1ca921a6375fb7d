"""The patterns by which facts are found in conversations: data files, one for each language, compiled when first needed."""

from __future__ import annotations

import re
from functools import lru_cache

from ..language.names import is_han
from ..language.words import toml

__all__ = ["fold", "language_of", "pairs", "rx", "starts"]

_MACRO = re.compile(r"(?<!\(\?P)<([a-z_]+)>")
_NEVER = "(?!)"
_FOLDED = str.maketrans({"\u2019": "'", "\u2018": "'", "\u02bc": "'", "ё": "е", "Ё": "Е", "\u00a0": " ", "\u202f": " "})


def fold(text: str) -> str:
    """`text` with plain apostrophes and spaces and without «ё»; of the same length, so that places hold."""
    return text.translate(_FOLDED)


def language_of(text: str) -> str:
    """`zh`, `ru` or `en`, by script: some Chinese text is written with many Latin names, so two characters settle it."""
    if text.isascii():
        return "en"
    if sum(map(is_han, text)) > 1:
        return "zh"
    cyrillic = sum("\u0400" <= char <= "\u04ff" for char in text)
    return "ru" if cyrillic > 2 else "en"


@lru_cache(maxsize=512)
def rx(language: str, name: str) -> re.Pattern[str]:
    """The pattern called `name` in the file of a language; one that matches nothing where the file has none."""
    return re.compile(_pattern(language, name), re.IGNORECASE)


@lru_cache(maxsize=512)
def starts(language: str, name: str) -> re.Pattern[str]:
    """The same for a pattern that is tried at the beginning (`match`), with any opening bracket or dash before it."""
    return re.compile(rf"[\s\"'(«“—–*•-]*(?:{_pattern(language, name)})", re.IGNORECASE)


@lru_cache(maxsize=32)
def pairs(language: str, name: str) -> list[tuple[str, str]]:
    """The lines `pattern => words` of an entry, patterns with their blocks filled in."""
    lines = (line.partition(" => ") for line in toml(language, "extract").get(name, "").split("\n") if " => " in line)
    return [(_MACRO.sub(lambda m: f"(?:{_pattern(language, m[1])})", left), right.strip()) for left, _, right in lines]


def _pattern(language: str, name: str) -> str:
    lines = (line.strip("\n") for line in toml(language, "extract").get(name, "").split("\n"))
    parts = [_MACRO.sub(lambda m: f"(?:{_pattern(language, m[1])})", line) for line in lines if line.strip()]
    # Capital letters are meant where they are written, though words may come in any case.
    cased = [re.sub(r"(?<!\(\?-i:)\[(?:A-ZА-Я|A-Z|А-Я)\]", lambda m: f"(?-i:{m[0]})", part) for part in parts]
    return _unique_groups("|".join(cased)) or _NEVER


def _unique_groups(pattern: str) -> str:
    """Group names may stand once in a pattern: the second `what` becomes `what2`, and so on."""
    seen: dict[str, int] = {}

    def numbered(match: re.Match[str]) -> str:
        seen[match[1]] = seen.get(match[1], 0) + 1
        return f"(?P<{match[1]}{seen[match[1]] if seen[match[1]] > 1 else ''}>"

    return re.sub(r"\(\?P<([a-z]+)>", numbered, pattern)
