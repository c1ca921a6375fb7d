"""The words of each human language: data files `data/<language>/<topic>`, all read here, and the language of a text.

A language is a folder (`en`, `ru`, `zh`, ...), and a file in it is a topic. A `.txt` file is quick to read, for words that
every recall needs:

    # A comment, on a line of its own.
    [section]
    words with blanks between them
    more words of the same section

Lines before the first header are section "". What a line means is up to the topic: `words` splits it at blanks, `lines`
gives it whole (a pattern, a phrase, `key = value`). A `.toml` file (`toml`) is for topics that are read less often.

A language without a topic has no sections for it ({}), so code asks every language and never names one (docs/languages.md).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

EVERYWHERE = ""  # in place of a language: files in data/ itself, which belong to none
_DATA = Path(__file__).parent / "data"
HAN_CHARS = "\u3400-\u9fff\uf900-\ufaff"
"""Chinese characters, as they stand inside [ ] of a pattern; for one character there is `names.is_han`."""
_WORD = re.compile(r"[^\W\d_]+")
_SCRIPTS = {"latin": "[A-Za-z]", "cyrillic": "[А-Яа-я]", "han": f"[{HAN_CHARS}]"}
_READ = 2_000  # characters of a text that are looked at
_ENOUGH = 2  # function words of a language that settle it; one of its own signs counts as one word


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
def words_of(topic: str, section: str, chosen: tuple[str, ...] = ()) -> tuple[str, ...]:
    """The words of a section of `<topic>.txt` in the chosen languages, else in all."""
    return tuple(word for name in chosen or languages() for word in words(name, topic).get(section, ()))


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


@cache
def _script(language: str) -> str:
    return " ".join(lines(language, "language").get("script", (language,)))


@cache
def default_languages() -> tuple[str, ...]:
    """One language for each script: what a text is taken for that gives no sign of another."""
    chosen: dict[str, str] = {}
    for name in languages():
        if _script(name) not in chosen or "default" in lines(name, "language"):
            chosen[_script(name)] = name
    return tuple(sorted(chosen.values()))


def rivals(language: str) -> tuple[str, ...]:
    """The other languages that are written in the script of `language`."""
    return tuple(name for name in languages() if name != language and _script(name) == _script(language))


@cache
def beside(language: str) -> tuple[str, ...]:
    """`language` and the default languages of all other scripts: what may stand in one text together."""
    return tuple(sorted({*default_languages(), language}.difference(rivals(language))))


@lru_cache(maxsize=4096)
def compiled(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """A pattern when it is first needed: all together take milliseconds, and most commands need few."""
    return re.compile(pattern, flags)


def search(pattern: str, text: str) -> re.Match[str] | None:
    """Where a pattern for letters of any case fits: in lower case, which is quicker, unless some must be capitals."""
    has_case = "(?-i:" in pattern
    return compiled(pattern, re.IGNORECASE if has_case else 0).search(text if has_case else text.lower())


def without_yo(text: str) -> str:
    """«Ё» as «е», which Russian writes for both; of the same length, so that places hold."""
    return text.replace("ё", "е").replace("Ё", "Е")


def languages_of(text: str) -> tuple[str, ...]:
    """The languages of a text, one for each script, by name: ("en", "ru", "zh"), or ("es", "ru", "zh") for Spanish."""
    rival = rival_of(text)
    return beside(rival) if rival else default_languages()


@lru_cache(maxsize=4096)
def spoken_in(text: str) -> tuple[str, ...]:
    """The languages whose letters stand in a text: the words of the others need not be read."""
    most = "z" if text.isascii() else max(text)  # the pattern of Chinese takes a millisecond to compile
    scripts = ((name, _SCRIPTS.get(_script(name), "")) for name in languages_of(text))
    return tuple(name for name, letters in scripts if most >= letters[1:2] and compiled(letters).search(text))


@lru_cache(maxsize=256)
def rival_of(text: str) -> str:
    """The language of a text where it is not the default one of its script; empty where it is."""
    if " " in text:
        text = text[:_READ]
        plain = text.lower().split()
        for _, own, _, signs in _signs_of_rivals():  # most texts have no word of one
            if not own.isdisjoint(plain) or (not text.isascii() and signs.search(text)):
                return _detect(text)
    return ""


@cache
def _signs_of_rivals() -> list[tuple[str, frozenset[str], frozenset[str], re.Pattern[str]]]:
    """Languages that share the script of a default one: the words and the signs that only they have of the two, between
    them the words that only the default one has."""
    found = []
    for default in default_languages():
        for name in rivals(default):
            own, others = (
                frozenset(word for word in words(each, "stopwords").get("words", ()) if len(word) > 1)
                for each in (name, default)
            )
            signs = "".join(words(name, "language").get("signs", ()))
            found.append((name, own - others, others - own, re.compile(f"[{re.escape(signs)}]" if signs else "(?!)")))
    return found


@lru_cache(maxsize=4096)
def _detect(text: str) -> str:
    best, most = "", 0
    plain = text.lower().split()
    for name, own, others, its_signs in _signs_of_rivals():
        signs = [] if text.isascii() else its_signs.findall(text)
        if not signs and own.isdisjoint(plain):
            continue
        held = set(_WORD.findall(text.lower()))
        said = len(own & held)
        if said and (total := said + len(signs)) >= _ENOUGH and total > max(most, len(others & held)):
            best, most = name, total
    return best
