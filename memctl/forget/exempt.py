"""What a line must not be about to be forgotten in bulk: identity, health, relationships, preferences, security."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from functools import cache

from ..language.names import is_han, stem_word
from ..language.words import languages, toml

__all__ = ["Classes", "classes", "shipped"]

_WORD = re.compile(r"\w+(?:[-'’]\w+)*")
_Phrase = tuple[str, ...]


class Classes:
    """Classes of lines by the words that give them away, from lists such as `language/data/<language>/exempt.toml`."""

    def __init__(self, lists: Mapping[str, str]) -> None:
        self._phrases: dict[str, list[tuple[_Phrase, str]]] = {}
        self._han: dict[str, list[tuple[str, str]]] = {}
        for name, words in lists.items():
            for phrase in filter(None, (" ".join(part.split()) for part in words.split(","))):
                self._add(phrase, name)

    def _add(self, phrase: str, name: str) -> None:
        if any(map(is_han, phrase)):
            self._han.setdefault(phrase[0], []).append((phrase, name))
            return
        exact = phrase.startswith("=")
        words = _words(phrase.removeprefix("="))
        key = tuple(f"={word}" if exact else stem_word(word) for word in words)
        if key:
            self._phrases.setdefault(key[0], []).append((key, name))

    def of(self, text: str) -> str | None:
        """The class that a line falls into by the first of its words that gives one away, None for all others."""
        words = _words(text)
        forms = [(stem_word(word), f"={word}") for word in words]
        for at in range(len(words)):
            for first in forms[at]:
                for key, name in self._phrases.get(first, ()):
                    piece = forms[at : at + len(key)]
                    if len(piece) == len(key) and all(k in form for k, form in zip(key, piece, strict=True)):
                        return name
        for at, char in enumerate(text):
            for phrase, name in self._han.get(char, ()) if is_han(char) else ():
                if text.startswith(phrase, at):
                    return name
        return None


def _words(text: str) -> list[str]:
    folded = unicodedata.normalize("NFKC", text).casefold().replace("’", "'")
    return [match[0] for match in _WORD.finditer(folded) if not is_han(match[0][0])]


def shipped() -> dict[str, str]:
    """The lists that come with memctl, by class: commas between words, `=word` as it stands."""
    lists: dict[str, str] = {}
    for language in languages():
        for name, listed in toml(language, "exempt").items():
            lists[name] = f"{lists[name]},{listed}" if name in lists else listed
    return lists


@cache
def classes() -> Classes:
    """The shipped classes, read when they are first asked for."""
    return Classes(shipped())
