"""The language of a text, from its script and its function words.

Each language says in `language.txt` which script it is written in. Where several share a script, the one marked `default`
is assumed until the function words of another outnumber those of the default.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import NamedTuple

from .words import languages, lines, words

__all__ = ["beside", "default_languages", "languages_of", "rivals"]

_WORD = re.compile(r"[^\W\d_]+")
_ENOUGH = 2  # function words of a language that settle it; one of its own signs counts as one word


class _Rival(NamedTuple):
    """A language that shares the script of a default one: the words and signs that only one of the two has."""

    language: str
    default: str
    own: frozenset[str]
    others: frozenset[str]
    signs: re.Pattern[str] | None


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
            own, others = (frozenset(words(each, "stopwords").get("words", ())) for each in (name, default))
            signs = "".join(words(name, "language").get("signs", ()))
            pattern = re.compile(f"[{re.escape(signs)}]") if signs else None
            found.append(_Rival(name, default, own - others, others - own, pattern))
    return tuple(found)


def rivals(language: str) -> tuple[str, ...]:
    """The other languages that are written in the script of `language`."""
    return tuple(name for name in languages() if name != language and _scripts()[name] == _scripts()[language])


@cache
def beside(language: str) -> tuple[str, ...]:
    """`language` and the default languages of all other scripts: what may stand in one text together."""
    others = (name for name in default_languages() if _scripts()[name] != _scripts()[language])
    return tuple(sorted((language, *others)))


@lru_cache(maxsize=4096)
def languages_of(text: str) -> tuple[str, ...]:
    """The languages of a text, one for each script, by name: ("en", "ru", "zh"), or ("es", "ru", "zh") for Spanish."""
    best, most = "", 0
    held: list[str] | None = None
    for rival in _rivals():
        held = _WORD.findall(text.lower()) if held is None else held
        if rival.own.isdisjoint(held) and not (rival.signs and rival.signs.search(text)):
            continue
        own = sum(word in rival.own for word in held) + len(rival.signs.findall(text) if rival.signs else ())
        if own >= _ENOUGH and own > max(most, sum(word in rival.others for word in held)):
            best, most = rival.language, own
    return beside(best) if best else default_languages()
