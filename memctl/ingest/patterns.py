"""The words and patterns by which facts are found in conversations: `extract.toml` of each language, read when first needed."""

from __future__ import annotations

import re
from functools import cache

from ..language.names import is_han
from ..language.words import languages, toml

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


@cache
def rx(language: str, name: str) -> re.Pattern[str]:
    """The pattern called `name` of a language; one that matches nothing where the language has none."""
    return re.compile(_pattern(language, name), re.IGNORECASE)


@cache
def starts(language: str, name: str) -> re.Pattern[str]:
    """The same for a pattern that is tried at the beginning (`match`), with any opening bracket or dash before it."""
    return re.compile(rf"[\s\"'(«“—–*•-]*(?:{_pattern(language, name)})", re.IGNORECASE)


@cache
def each(language: str, name: str) -> tuple[re.Pattern[str], ...]:
    """The patterns of an entry one by one, a line each."""
    return tuple(re.compile(_expanded(language, line), re.IGNORECASE) for line in lines(language, name))


@cache
def any_language(name: str, or_else: str = _NEVER) -> re.Pattern[str]:
    """The pattern called `name` of whichever language, or `or_else`."""
    return re.compile("|".join([*(_pattern(language, name) for language in languages()), or_else]), re.IGNORECASE)


@cache
def pairs(language: str, name: str) -> tuple[tuple[str, str], ...]:
    """The lines `pattern => words` of an entry."""
    split = (line.partition(" => ") for line in lines(language, name))
    return tuple((_expanded(language, left), right.strip()) for left, _, right in split)


@cache
def vocabulary(name: str) -> frozenset[str]:
    """The words of an entry, in whichever language."""
    return frozenset(word for language in languages() for line in lines(language, name) for word in line.split())


def lines(language: str, name: str) -> list[str]:
    """The lines of an entry that are not blank."""
    return [line for line in str(toml(language, "extract").get(name, "")).split("\n") if line.strip()]


def _pattern(language: str, name: str) -> str:
    return _unique_groups("|".join(_expanded(language, line) for line in lines(language, name))) or _NEVER


def _expanded(language: str, line: str) -> str:
    """A line with the entries that it names filled in. Capitals are meant where they stand, though words come in any case."""
    whole = _MACRO.sub(lambda match: f"(?:{_pattern(language, match[1])})", line)
    return re.sub(r"(?<!\(\?-i:)\[(?:A-ZА-Я|A-Z|А-Я)\]", lambda match: f"(?-i:{match[0]})", whole)


def _unique_groups(pattern: str) -> str:
    """Group names may stand once in a pattern: the second `what` becomes `what2`, and so on."""
    seen: dict[str, int] = {}

    def numbered(match: re.Match[str]) -> str:
        seen[match[1]] = seen.get(match[1], 0) + 1
        return f"(?P<{match[1]}{seen[match[1]] if seen[match[1]] > 1 else ''}>"

    return re.sub(r"\(\?P<([a-z]+)>", numbered, pattern)
