"""Plain mentions: names that a text holds without marking them, whole words, longest first, inflected or not."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from ..text.names import stem_key

__all__ = ["find_names", "spans_to_look_up"]

_LONGEST = 5  # words of a name
_WORD = re.compile(r"\w+(?:[-'’.+]\w+)*")
_HAN = re.compile(r"[\u2e80-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+")


def spans_to_look_up(text: str) -> dict[str, list[tuple[int, int]]]:
    """Every run of words (and of Han characters) that could be a name: its stem key, and where it stands."""
    found: dict[str, list[tuple[int, int]]] = {}
    words = [match.span() for match in _WORD.finditer(text)]
    spans = [(words[i][0], words[j][1]) for i in range(len(words)) for j in range(i, min(i + _LONGEST, len(words)))]
    for match in _HAN.finditer(text):
        start, end = match.span()
        spans += [(i, j) for i in range(start, end) for j in range(i + 1, min(i + 8, end) + 1)]
    for start, end in spans:
        if end - start <= 80:
            found.setdefault(stem_key(text[start:end]), []).append((start, end))
    return found


def find_names(text: str, known: Mapping[str, Sequence[tuple[str, str]]]) -> tuple[str, ...]:
    """The entities that `text` names, in order; `known` maps a stem key to (name as listed, entity's own name) pairs.

    A listed name with a capital wants one in the text ("Will" is not "will"); one that several bear names nobody.
    """
    places = [
        (start, end, bearers)
        for stem, spans in spans_to_look_up(text).items()
        if stem in known
        for start, end in spans
        if (bearers := _bearers(text[start:end], known[stem]))
    ]
    taken: list[tuple[int, int]] = []
    named: list[tuple[int, str]] = []
    for start, end, bearers in sorted(places, key=lambda p: (p[0] - p[1], p[0])):
        if any(start < other_end and other_start < end for other_start, other_end in taken):
            continue
        taken.append((start, end))
        if len(bearers) == 1:
            named.append((start, next(iter(bearers))))
    return tuple(dict.fromkeys(name for _, name in sorted(named)))


def _bearers(written: str, listed: Iterable[tuple[str, str]]) -> set[str]:
    return {entity for name, entity in listed if not name[:1].isupper() or written[:1].isupper() or not written[:1].islower()}
