"""Which words of a text a question asks for, whatever their endings."""

from __future__ import annotations

import re
from collections.abc import Set

from .analyzer import fold, own_stems, query_terms, terms, unspaced
from .words import rival_of

_CHUNK = re.compile(r"\S+")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")


def matches(question: str, text: str) -> list[tuple[int, int]]:
    """Where words of `text` stand that `question` asks for: start and end of each, in order, none touching the next."""
    wanted = frozenset(query_terms(question))
    rival = rival_of(text)
    found = []
    for chunk in _CHUNK.finditer(text) if wanted else ():
        for match in unspaced().finditer(chunk[0]):
            found += [(chunk.start() + match.start() + at, 2) for at in _pairs(match[0], wanted)]
        for match in _WORD.finditer(chunk[0]):
            held = {*terms(match[0]), *(own_stems(match[0], rival).values() if rival else ())}
            if not unspaced().search(match[0]) and held & wanted:
                found.append((chunk.start() + match.start(), len(match[0])))
    return _joined(found)


def _pairs(run: str, wanted: Set[str]) -> list[int]:
    """Where pairs of characters stand in a run without spaces."""
    folded = [fold(char) for char in run]
    return [at for at in range(len(run) - 1) if folded[at] + folded[at + 1] in wanted]


def _joined(found: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Start and length of each as start and end, those that touch as one."""
    joined: list[tuple[int, int]] = []
    for start, length in sorted(found):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], start + length))
        else:
            joined.append((start, start + length))
    return joined
