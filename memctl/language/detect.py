"""The language of a text, from its script and its function words.

Each language says in `language.txt` which script it is written in. Where several share a script, the one marked `default`
is assumed until the function words of another outnumber those of the default.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import NamedTuple

from .words import languages, lines, words

_WORD = re.compile(r"[^\W\d_]+")
_READ = 2_000  # characters of a text that are looked at
_ENOUGH = 2  # function words of a language that settle it; one of its own signs counts as one word


class _Rival(NamedTuple):
    """A language that shares the script of a default one: the words and signs that only one of the two has."""

    language: str
    own: frozenset[str]
    others: frozenset[str]
    signs: re.Pattern[str]


@cache
def _scripts() -> dict[str, str]:
    """Language -> its script; a language that does not say has a script of its own."""
    return {name: " ".join(lines(name, "language").get("script", (name,))) for name in languages()}


@cache
def default_languages() -> tuple[str, ...]:
    """One language for each script: what a text is taken for that gives no sign of another."""
    chosen: dict[str, str] = {}
    for name, script in _scripts().items():
        if script not in chosen or "default" in lines(name, "language"):
            chosen[script] = name
    return tuple(sorted(chosen.values()))


@cache
def _rivals() -> tuple[_Rival, ...]:
    found = []
    defaults = {_scripts()[name]: name for name in default_languages()}
    for name in languages():
        default = defaults[_scripts()[name]]
        if name != default:
            own, others = (
                frozenset(word for word in words(each, "stopwords").get("words", ()) if len(word) > 1)
                for each in (name, default)
            )
            signs = "".join(words(name, "language").get("signs", ()))
            pattern = re.compile(f"[{re.escape(signs)}]" if signs else "(?!)")
            found.append(_Rival(name, own - others, others - own, pattern))
    return tuple(found)


def rivals(language: str) -> tuple[str, ...]:
    """The other languages that are written in the script of `language`."""
    return tuple(name for name in languages() if name != language and _scripts()[name] == _scripts()[language])


@cache
def beside(language: str) -> tuple[str, ...]:
    """`language` and the default languages of all other scripts: what may stand in one text together."""
    others = (name for name in default_languages() if _scripts()[name] != _scripts()[language])
    return tuple(sorted((language, *others)))


def languages_of(text: str) -> tuple[str, ...]:
    """The languages of a text, one for each script, by name: ("en", "ru", "zh"), or ("es", "ru", "zh") for Spanish."""
    rival = rival_of(text)
    return beside(rival) if rival else default_languages()


def rival_of(text: str) -> str:
    """The language of a text where it is not the default one of its script; empty where it is."""
    return _detect(text[:_READ]) if " " in text else ""


@lru_cache(maxsize=4096)
def _detect(text: str) -> str:
    best, most = "", 0
    plain = text.lower().split()
    for rival in _rivals():
        signs = [] if text.isascii() else rival.signs.findall(text)
        if not signs and rival.own.isdisjoint(plain):
            continue  # nearly every text ends here
        held = set(_WORD.findall(text.lower()))
        own = len(rival.own & held)
        if own and (total := own + len(signs)) >= _ENOUGH and total > max(most, len(rival.others & held)):
            best, most = rival.language, total
    return best
