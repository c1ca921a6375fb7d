"""The ways of searching that `eval` compares: recall in one configuration or another, and the baselines."""

from __future__ import annotations

import re
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import date
from typing import NamedTuple

from ..errors import Usage
from ..facts import Citation
from ..hits import Answer, Hit
from ..index.open_memory import OpenMemory
from ..index.queries.entries import Query
from ..language.names import is_han
from ..language.words import default_languages, words
from ..recall.query import read_query
from ..recall.recall import recall_in
from ..recall.related import related_to

_MOST = 64  # distinct words of a question
_HAN = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_WORD = re.compile(r"\w+")
_PIECE = re.compile(rf"(?P<run>[{_HAN}]+)|[^\W{_HAN}]+")
_STOP = frozenset(
    word for name in default_languages() for word in words(name, "stopwords").get("words", ()) if not is_han(word[0])
)
DEPTH = 50  # hits by which sessions are ranked: ten lines may all be of one
BASELINES = ("fts5", "grep")
RELATED = 10  # lines of the second list, beside as many hits
_BASES = ("recall", "words", "vectors", *BASELINES)
_Places = tuple[Citation, ...]


class RawLine(NamedTuple):
    """A line as it stands on disk; `day` is that of its log, empty elsewhere."""

    place: Citation
    text: str
    day: str


class Baselines:
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


def _pieces(text: str) -> Iterator[str]:
    """Whole words; of Chinese and Japanese, which have no spaces, every two neighbours."""
    for piece in _PIECE.finditer(text.casefold()):
        word = piece[0]
        yield from (word[at : at + 2] for at in range(len(word) - 1)) if piece["run"] and len(word) > 1 else (word,)


@contextmanager
def plain_baselines(lines: Iterable[RawLine]) -> Iterator[Baselines]:
    """The baselines over these lines, in memory until the end of the block."""
    with closing(sqlite3.connect(":memory:")) as db:
        yield Baselines(db, lines)


class Configuration(NamedTuple):
    """How to search: as recall does by itself, by words only, with vectors, or by a baseline.

    `k` hits are asked for, if given. With more than one of `hops` the lines that are related to the hits follow them.
    """

    name: str
    base: str = "recall"
    k: int | None = None
    hops: int = 1


class AskedOn(NamedTuple):
    """A question, the day on which it is asked, and the day up to which it may know."""

    text: str
    today: date
    as_of: date | None = None

    @property
    def query(self) -> Query:
        """The query that recall makes of it; Usage for one that it refuses."""
        day = self.as_of.isoformat() if self.as_of else None
        return replace(read_query(self.text, self.today, as_of=day), per_page=1)


class Ranking(NamedTuple):
    """What a search found, best first, each hit by the places that it cites; `deep` goes on where `hits` end."""

    hits: Sequence[_Places]
    deep: Sequence[_Places]
    refused: str | None = None


def read_configuration(text: str) -> Configuration:
    """`words`, `recall`, `words+k=20`, `fts5` … as a configuration; Usage for any other."""
    base, *more = re.split(r"[+,]", text.strip())
    if "=" in base:
        base, more = "recall", [base, *more]
    flags = {}
    for flag in more:
        match = re.fullmatch(r"(k)=([1-9]\d{0,2})|(hops)=([23])", flag.strip())
        if not match:
            raise Usage(f"configuration {text!r}: {flag!r} is unknown", "flags are +k=N, and +hops=2 or +hops=3")
        flags[match[1] or match[3]] = int(match[2] or match[4])
    if base not in _BASES or (base in BASELINES and "hops" in flags):
        raise Usage(
            f"configuration {text!r} is unknown", f"{', '.join(_BASES)}, each with +k=N; of recall +hops=2, too"
        )
    return Configuration(text.strip(), base, **flags)


def read_configurations(texts: Sequence[str]) -> tuple[Configuration, ...]:
    """One configuration, or two that differ."""
    found = tuple(map(read_configuration, texts))
    if len({configuration.name for configuration in found}) < len(found):
        raise Usage("--compare of a configuration with itself", "name two, such as words recall")
    return found


def places_of(hit: Hit) -> _Places:
    """The lines that a hit shows: its own, those of its twins, and the place of the belief that it stated."""
    return (hit.source, *hit.also, *((hit.belief,) if hit.belief else ()))


class Searcher:
    """Asks the questions of an evaluation."""

    def __init__(self, memory: OpenMemory, baselines: Baselines | None, depth: int) -> None:
        self.memory = memory
        self._baselines = baselines
        self._depth = depth
        self.warnings: Counter[str] = Counter()

    def rank(self, configuration: Configuration, asked: AskedOn) -> Ranking:
        """What one configuration finds; a question that recall refuses finds nothing, and says why."""
        if configuration.base in BASELINES:
            assert self._baselines
            search = self._baselines.fts5 if configuration.base == "fts5" else self._baselines.grep
            found = [(place,) for place in search(asked.text, configuration.k or max(self._depth, DEPTH))]
            return Ranking(found[: self._depth], found)
        shown, deep = (configuration.k or k for k in (self._depth, max(self._depth, DEPTH)))
        if configuration.hops > 1:
            shown = deep = configuration.k or RELATED
        try:
            answer = self.answer(configuration, asked, shown)
            self.warnings.update(set(answer.warnings))
            hits = [places_of(hit) for hit in (*answer.hits, *(answer.related or ()))]
            if deep == shown:
                return Ranking(hits, hits)
            more = self.answer(configuration, asked, deep).hits
        except Usage as error:
            return Ranking((), (), error.what)
        return Ranking(hits, [places_of(hit) for hit in more])

    def answer(self, configuration: Configuration, asked: AskedOn, k: int) -> Answer:
        """What recall answers in a configuration."""
        query, memory = asked.query, self.memory.on(asked.today)
        if configuration.base == "words":
            memory = memory.with_workspace(memory.workspace.without_model())
        answer = recall_in(memory, query, k=k)
        return (
            answer if configuration.hops == 1 else related_to(memory, query, answer, k=RELATED, hops=configuration.hops)
        )
