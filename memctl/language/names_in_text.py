"""Plain mentions: names that a text holds without marking them, whole words, longest first, inflected or not."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from .names import is_han, stem_word

__all__ = ["Listed", "find_names", "heads"]

_WORD = re.compile(r"\w+(?:[-'’.+]\w+)*(?:\+\+|#)?")


class Listed(NamedTuple):
    """A name as its entity's page lists it: its stems (`stem_key`), its spelling, the entity's own name."""

    stem: str
    name: str
    entity: str


def heads(text: str) -> set[str]:
    """What a listed name may begin with to stand in `text`: the stem of each word, and each Han character."""
    found = set(map(stem_word, _WORD.findall(text)))
    return found if text.isascii() else found.union(filter(is_han, set(text)))


def find_names(text: str, known: Mapping[str, Sequence[Listed]]) -> tuple[str, ...]:
    """The entities that `text` names, in order; `known` maps a head (`stem_head`) to the names that begin so.

    A listed name with a capital wants one in the text ("Will" is not "will"); one that several bear names nobody.
    """
    if not known:
        return ()
    places: dict[tuple[int, int], set[str]] = {}
    for start, end, listed in (*_in_words(text, known), *_in_han(text, known)):
        if _fits(text[start:end], listed.name):
            places.setdefault((start, end), set()).add(listed.entity)
    named: list[tuple[int, str]] = []
    taken: list[tuple[int, int]] = []  # in order, none over another: only the neighbours can be in the way
    for start, end in sorted(places, key=lambda span: (span[0] - span[1], span[0])):
        at = bisect_left(taken, (start, end))
        if (at and start < taken[at - 1][1]) or (at < len(taken) and taken[at][0] < end):
            continue
        taken.insert(at, (start, end))
        if len(places[start, end]) == 1:
            named.append((start, next(iter(places[start, end]))))
    return tuple(dict.fromkeys(name for _, name in sorted(named)))


def _in_words(text: str, known: Mapping[str, Sequence[Listed]]) -> Iterator[tuple[int, int, Listed]]:
    """Names in scripts with spaces, compared stem by stem."""
    words = [(match.start(), match.end(), stem_word(match[0])) for match in _WORD.finditer(text)]
    for at, (start, _, stem) in enumerate(words):
        for listed in known.get(stem, ()):
            wanted = listed.stem.split(" ")
            if [word[2] for word in words[at : at + len(wanted)]] == wanted:
                yield start, words[at + len(wanted) - 1][1], listed


def _in_han(text: str, known: Mapping[str, Sequence[Listed]]) -> Iterator[tuple[int, int, Listed]]:
    """Names in Han characters, wherever they stand: there are no spaces to tell words by."""
    for at, char in enumerate(text) if not text.isascii() else ():
        for listed in known[char] if char in known and is_han(char) else ():
            if text.startswith(listed.name, at):
                yield at, at + len(listed.name), listed


def _fits(written: str, name: str) -> bool:
    return not name[:1].isupper() or not written[:1].islower()


def by_head(listed: Iterable[tuple[str, Listed]]) -> dict[str, list[Listed]]:
    """(head, name) pairs as `find_names` wants them."""
    found: dict[str, list[Listed]] = {}
    for head, name in listed:
        found.setdefault(head, []).append(name)
    return found
