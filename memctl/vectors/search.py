"""Questions to the file of vectors. Nothing that is wrong with it stops a recall: `problem` says what was left out."""

from __future__ import annotations

import os
import sqlite3
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set as AbstractSet
from contextlib import contextmanager, suppress
from itertools import accumulate, chain
from pathlib import Path
from typing import Any, NamedTuple

from ..index.lexical import ORDINAL_BITS
from .quantized import Code, CodeQuery, distances, encode, moments, nearest, refine, spread
from .tables import DAMAGE, NO_HEAD, FoundVector, Head, PageVectors, is_damage, is_sound_code, leave_mark, read_pack

_ALL = 2_000  # up to so many vectors, all are compared in full
_NARROW = 1_000  # and all that a filter lets pass, up to so many
_FIRST = 10.0  # times the root of all rows are taken by their signs,
_LEAST = 3_000  # or at least so many,
# and the best of them by weighted signs are compared in full: times the root, or at least so many. On real vectors and
# mixtures of them the true ten are then among these for .99 of all (bench/nearest.py).
_SECOND, _FULL = 2.5, 600
_SAMPLE = 200  # vectors by which the mean and the deviation of all is known
_MIXED = 600  # more vectors by which those of several scripts are known
_CHUNK = 500  # keys in one statement


class Scan(NamedTuple):
    """The entries nearest to a question, the best first, and how like it all `n` vectors are (for z-scores).

    `digests` are those of the entries as they were embedded: one that has another digest now must be left out.
    """

    mean: float
    sd: float
    n: int
    cosines: dict[int, float]
    digests: dict[int, int]


class VectorReader:
    """An open file of vectors, to ask. `head` says whose they are."""

    def __init__(self, path: Path, db: sqlite3.Connection | None = None, head: Head = NO_HEAD) -> None:
        self.path = path
        self.head = head
        self.problem: str | None = None
        """What was found damaged and left out so far, in one line."""
        self._open = db
        self._packs: tuple[tuple[int, int], dict[int, PageVectors]] | None = None

    def close(self) -> None:
        """Let go of the file."""
        if self._open:
            with suppress(sqlite3.Error):
                self._open.close()
        self._open = self._packs = None

    def encode(self, vector: Sequence[float], script: int) -> Code:
        """A vector of this embedder, without the mean of its script. ValueError for another number of components."""
        return encode(vector, self.head.means[script], script)

    def count(self) -> int:
        """How many vectors the pages have."""
        return sum(pack.rows for pack in self.packs().values())

    # -- nearest ------------------------------------------------------------------------------------------------------

    def scan(
        self, asked: Code, allowed: AbstractSet[int] | None = None, limit: int = 100, *, exact: bool = False
    ) -> Scan:
        """The best `limit` entries, of those `allowed` if given; `exact`: all are compared, however many they are."""
        if len(asked.codes) != self.head.dim:
            self.complain(f"vectors of {self.head.dim} numbers, a question of {len(asked.codes)}", damaged=False)
            return Scan(0.0, 0.0, 0, {}, {})
        query = CodeQuery(asked)
        with self.one_state():
            packs = list(self.packs().values())
            total = sum(pack.rows for pack in packs)
            if allowed is not None and len(allowed) <= _NARROW:
                rows = self._rows_of(allowed)
                scored, about = self._compare(query, rows), self._spread(query, ())
            elif exact or total <= _ALL:
                rows = [row for pack in packs for row in pack.vectors()]
                scored = self._compare(query, rows, self.texts())
                about = moments([scored[row.key] for row in rows if row.key in scored])
                rows = rows if allowed is None else [row for row in rows if row.entry in allowed]
            else:
                signs = b"".join([pack.signs for pack in packs])
                found = distances(signs, query.signs)
                rows = self._near(query, packs, signs, found, allowed, limit)
                scored, about = self._compare(query, rows), self._spread(query, found)
        best = sorted(_best(rows, scored).items(), key=lambda pair: (-pair[1], pair[0]))
        first = dict(best[:limit])
        return Scan(*about, total, first, {row.entry: row.digest for row in rows if row.entry in first})

    def _near(
        self, asked: CodeQuery, packs: Sequence[PageVectors], signs: bytes, found: Sequence[int],
        allowed: AbstractSet[int] | None, limit: int,
    ) -> list[FoundVector]:  # fmt: skip
        """The rows that are worth comparing in full, by their signs and the distances of these."""
        root = len(found) ** 0.5
        first = max(_LEAST, int(_FIRST * root), 2 * limit)
        if allowed is None:
            places = nearest(found, first)
        else:
            entries = chain.from_iterable(pack.entries() for pack in packs)
            passing = [place for place, entry in enumerate(entries) if entry in allowed]
            places = [passing[place] for place in nearest([found[place] for place in passing], first)]
        places = refine(signs, places, asked, max(_FULL, int(_SECOND * root), limit))
        starts = list(accumulate((pack.rows for pack in packs), initial=0))
        numbers = [bisect_right(starts, place) - 1 for place in places]
        return [packs[n].vector(place - starts[n]) for n, place in zip(numbers, places, strict=True)]

    def _spread(self, asked: CodeQuery, found: Sequence[int]) -> tuple[float, float]:
        """Mean and deviation of the cosines of all rows, from those of a sample."""
        sample = list(self._first_codes(_SAMPLE))
        cosines = [asked.cosine(*row[2:5]) for row in sample]
        near = distances(b"".join([row[4][: len(asked.signs)] for row in sample]), asked.signs)
        return spread(cosines, near, found, self.head.dim)

    def cosines(self, asked: Code, ids: Iterable[int], digests: Mapping[int, int]) -> dict[int, float]:
        """How like the question some entries are; those without a vector, or embedded with another digest, are left out."""
        if len(asked.codes) != self.head.dim:
            return {}
        with self.one_state():
            rows = [row for row in self._rows_of(set(ids)) if digests.get(row.entry) == row.digest]
            return _best(rows, self._compare(CodeQuery(asked), rows))

    def by_script(self, asked: Code) -> dict[int, tuple[float, int]]:
        """Script -> the mean cosine of a sample of its vectors with the question, and how many were looked at."""
        wanted = CodeQuery(asked)
        found: dict[int, list[float]] = {}
        for start, size in ((0, _SAMPLE), (_SAMPLE, _MIXED)):  # more where there are several
            for row in self._first_codes(size, start):
                found.setdefault(row[1], []).append(wanted.cosine(*row[2:5]))
            if len(found) < 2:
                break
        return {script: (sum(values) / len(values), len(values)) for script, values in sorted(found.items())}

    def _first_codes(self, size: int, start: int = 0) -> Iterator[tuple[Any, ...]]:
        """Some vectors, which are any: keys are hashes, and these are the first."""
        rows = self.rows("SELECT * FROM code ORDER BY key LIMIT ? OFFSET ?", (size, start))
        return (row for row in rows if is_sound_code(row, self.head.dim))

    def _rows_of(self, ids: AbstractSet[int]) -> list[FoundVector]:
        packs = self.packs()
        pages = {entry >> ORDINAL_BITS for entry in ids} & packs.keys()
        return [row for page in pages for row in packs[page].vectors() if row.entry in ids]

    def _compare(
        self, asked: CodeQuery, rows: Iterable[FoundVector], texts: Iterable[tuple[Any, ...]] | None = None
    ) -> dict[int, float]:
        """The cosine of each key of these rows, out of `texts` if given."""
        keys = {row.key for row in rows}
        read = self.texts_of(keys) if texts is None else texts
        scored = {text[0]: asked.cosine(*text[2:5]) for text in read if text[0] in keys}
        if len(scored) < len(keys):
            self.complain()  # a page names vectors that are not there
        return scored

    # -- rows of the file ---------------------------------------------------------------------------------------------

    @contextmanager
    def one_state(self) -> Iterator[None]:
        """What is read within is of one moment: else a page could name texts that were swept since."""
        begun = False
        if self._open and not self._open.in_transaction:
            with suppress(*DAMAGE):
                self._open.execute("BEGIN")
                begun = True
        try:
            yield
        finally:
            if begun and self._open:
                with suppress(*DAMAGE):
                    self._open.execute("ROLLBACK")

    def state(self) -> tuple[int, int]:
        """Changes with every write to the file, by others or by this connection."""
        for (version,) in self.rows("PRAGMA data_version"):
            return version, self._open.total_changes if self._open else 0
        return 0, 0

    def packs(self) -> dict[int, PageVectors]:
        """Every sound pack by page, read once until the next write."""
        state = self.state()
        if not self._packs or self._packs[0] != state:
            read = [read_pack(row, self.head.dim) for row in self.rows("SELECT * FROM pack")]
            if None in read:
                self.complain()
            self._packs = state, {pack.page: pack for pack in read if pack}
        return self._packs[1]

    def texts(self) -> Iterator[tuple[Any, ...]]:
        """Every sound row of `code`, one after the other: quicker than by key where most of them are wanted."""
        return self._sound(self.rows("SELECT * FROM code"))

    def texts_of(self, keys: Iterable[int]) -> Iterator[tuple[Any, ...]]:
        """The sound rows of `code` with these keys."""
        listed = list(keys)
        for start in range(0, len(listed), _CHUNK):
            piece = listed[start : start + _CHUNK]
            yield from self._sound(self.rows(f"SELECT * FROM code WHERE key IN ({', '.join('?' * len(piece))})", piece))

    def _sound(self, rows: Iterable[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
        for row in rows:
            if is_sound_code(row, self.head.dim):
                yield row
            else:
                self.complain()

    def rows(self, sql: str, values: Sequence[int] = ()) -> Iterator[tuple[Any, ...]]:
        """The rows of a read, up to where the file cannot be read."""
        try:
            if self._open:
                yield from self._open.execute(sql, values)
        except DAMAGE as error:
            self.complain("" if is_damage(error) else str(error), is_damage(error))

    def complain(self, reason: str = "", damaged: bool = True) -> None:
        """Remember what was wrong; damage is remembered beside the file too, for the next pass."""
        if not self.problem:
            cure = "; `memctl index` repairs it" if damaged else ""
            self.problem = f"{self.path.name}: {reason or 'damaged in places'}{cure}"
        if damaged:
            leave_mark(self.path)


def _best(rows: Iterable[FoundVector], scored: Mapping[int, float]) -> dict[int, float]:
    """Entry -> the best cosine of its vectors."""
    best: dict[int, float] = {}
    for row in rows:
        value = scored.get(row.key, -2.0)
        if value > best.get(row.entry, -2.0):
            best[row.entry] = value
    return best


def inode(path: Path) -> tuple[int, int] | None:
    """Which file stands at a path; None where none does."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino
