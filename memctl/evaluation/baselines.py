"""Floors for `eval`: what a few lines of SQL, or grep, find in the raw lines of the same pages. They know nothing of facts."""

from __future__ import annotations

import re
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from typing import NamedTuple

from ..facts import Citation
from ..language.detect import default_languages
from ..language.names import is_han
from ..language.words import words

__all__ = ["Floors", "RawLine", "plain_floors"]

_MOST = 64  # distinct words of a question
_HAN = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_WORD = re.compile(r"\w+")
_PIECE = re.compile(rf"(?P<run>[{_HAN}]+)|[^\W{_HAN}]+")


class RawLine(NamedTuple):
    """A line as it stands on disk; `day` is that of its log, empty elsewhere."""

    place: Citation
    text: str
    day: str


class Floors:
    """The same raw lines, searched in two plain ways."""

    def __init__(self, db: sqlite3.Connection, lines: Iterable[RawLine]) -> None:
        self._db = db
        self._lines: list[tuple[Citation, str]] = []
        self._holding: dict[str, list[int]] = defaultdict(list)
        db.execute("CREATE VIRTUAL TABLE plain USING fts5 (line, tokenize = unicode61)")
        db.executemany("INSERT INTO plain (rowid, line) VALUES (?, ?)", self._keep(lines))

    def _keep(self, lines: Iterable[RawLine]) -> Iterator[tuple[int, str]]:
        for number, line in enumerate(lines):
            self._lines.append((line.place, line.day))
            for word in set(_pieces(line.text)):
                self._holding[word].append(number)
            yield number, line.text.replace("\0", " ")

    def fts5(self, question: str, limit: int) -> list[Citation]:
        """SQLite's FTS5 as it comes: unicode61, any word of the question, by bm25."""
        words = list(dict.fromkeys(_WORD.findall(question)))[:_MOST]
        if not words:
            return []
        asked = " OR ".join(f'"{word}"' for word in words)
        sql = "SELECT rowid FROM plain WHERE plain MATCH ? ORDER BY bm25(plain), rowid LIMIT ?"
        return [self._lines[row][0] for (row,) in self._db.execute(sql, (asked, limit))]

    def grep(self, question: str, limit: int) -> list[Citation]:
        """Lines that hold most of the question's words (without "the" and the like), the newest first among equals."""
        words = list(dict.fromkeys(_pieces(question)))[:_MOST]
        kept = [word for word in words if word not in _STOP] or words
        held = Counter(number for word in kept for number in self._holding.get(word, ()))
        best = sorted(held, key=lambda number: (held[number], self._lines[number][1], number), reverse=True)
        return [self._lines[number][0] for number in best[:limit]]


_STOP = frozenset(
    word for name in default_languages() for word in words(name, "stopwords").get("words", ()) if not is_han(word[0])
)


def _pieces(text: str) -> Iterator[str]:
    """Whole words; of Chinese and Japanese, which have no spaces, every two neighbours."""
    for piece in _PIECE.finditer(text.casefold()):
        word = piece[0]
        yield from (word[at : at + 2] for at in range(len(word) - 1)) if piece["run"] and len(word) > 1 else (word,)


@contextmanager
def plain_floors(lines: Iterable[RawLine]) -> Iterator[Floors]:
    """The floors over these lines, in memory until the end of the block."""
    with closing(sqlite3.connect(":memory:")) as db:
        yield Floors(db, lines)
