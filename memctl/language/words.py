"""The words of each human language: data files `data/<language>/<topic>`, all read here.

A language is a folder (`en`, `ru`, `zh`, ...), and a file in it is a topic. A `.txt` file is quick to read, for words that
every recall needs:

    # A comment, on a line of its own.
    [section]
    words with blanks between them
    more words of the same section

Lines before the first header are section "". What a line means is up to the topic: `words` splits it at blanks, `lines`
gives it whole (a pattern, a phrase, `key = value`). A `.toml` file (`toml`) is for topics that are read less often.

    languages()                          -> ("en", "ru", "zh")
    words("en", "stopwords")["function"] -> ("a", "about", ...)
    lines("en", "modality")["plan"]      -> ("is planned", ...)
    pattern(("en", "ru"), "modality", "plan")  -> "is planned|...|собирается|..."
    toml("en", "extract")                 -> {...}

A language without a topic has no sections for it ({}), so code asks every language and never names one:

    merged = [word for language in languages() for word in words(language, "stopwords").get("function", ())]
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

EVERYWHERE = ""
"""In place of a language: files in data/ itself, which belong to none."""

_DATA = Path(__file__).parent / "data"


@cache
def languages() -> tuple[str, ...]:
    """The languages that have a folder of words, by name."""
    return tuple(sorted(folder.name for folder in _DATA.iterdir() if folder.is_dir()))


@cache
def lines(language: str, topic: str) -> Mapping[str, tuple[str, ...]]:
    """The lines of each section of `<topic>.txt`, without comments and empty ones; {} when the language has no such file."""
    found: dict[str, list[str]] = {}
    section: list[str] = found.setdefault("", [])
    for line in _read(language, f"{topic}.txt").split("\n"):
        if line[:1] + line[-1:] == "[]" and line[1:-1].translate({32: None, 95: None}).isalpha() and line.isascii():
            section = found.setdefault(line[1:-1], [])
        elif line and not line.startswith("#"):
            section.append(line)
    return {name: tuple(held) for name, held in found.items() if held}


@cache
def words(language: str, topic: str) -> Mapping[str, tuple[str, ...]]:
    """The words of each section of `<topic>.txt`, split at blanks; {} when the language has no such file."""
    return {name: tuple(" ".join(held).split()) for name, held in lines(language, topic).items()}


@cache
def pattern(chosen: tuple[str, ...], topic: str, section: str) -> str:
    """The lines of a section of the chosen languages as one alternation of regular expressions; `(?!)` when there are none."""
    return "|".join(line for name in chosen for line in lines(name, topic).get(section, ())) or "(?!)"


@cache
def toml(language: str, topic: str) -> Mapping[str, Any]:
    """The content of `<topic>.toml`; {} when the language has no such file."""
    import tomllib

    return tomllib.loads(_read(language, f"{topic}.toml"))


def _read(language: str, name: str) -> str:
    try:
        return (_DATA / language / name).read_text("utf-8")
    except FileNotFoundError:
        return ""
