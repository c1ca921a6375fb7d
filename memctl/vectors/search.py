"""Questions to the file of vectors. Nothing that is wrong with it stops a recall: `problem` says what was left out."""

from __future__ import annotations

import os
import sqlite3
import struct
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import accumulate, compress
from pathlib import Path
from typing import Any, NamedTuple

from ..index.lexical import ORDINAL_BITS
from .matrix import Matrix, Scan
from .quantized import Code, CodeQuery, distances, encode, nearest, refine, spread
from .tables import DAMAGE, Head, PageVectors, is_damage, is_sound_code, leave_mark, read_pack

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


class FoundVector(NamedTuple):
    """One vector of an entry: the entry's id, the key of the text, the entry's digest when it was embedded."""

    entry: int
    key: int
    digest: int


class VectorReader:
    """An open file of vectors, to ask."""

    def __init__(self, path: Path, db: sqlite3.Connection | None, head: Head | None, resident: bool = False) -> None:
        self.path = path
        self.problem: str | None = None
        """What was found damaged and left out so far, in one line."""
        self._open = db
        self._head = head
        self._resident = resident
        self._matrix: Matrix | None = None
        self._inode = _inode(path)
        self._kept: tuple[tuple[int, int], dict[int, PageVectors]] | None = None

    @property
    def embedder_id(self) -> str:
        """Which embedder made them."""
        return self._head.embedder_id if self._head else ""

    @property
    def dim(self) -> int:
        """How many components a vector has."""
        return self._head.dim if self._head else 0

    @property
    def means(self) -> tuple[tuple[float, ...], ...]:
        """What is taken from a vector before anything else, by script."""
        return self._head.means if self._head else ()

    def close(self) -> None:
        """Let go of the file."""
        if self._open:
            with suppress(sqlite3.Error):
                self._open.close()
        self._open = self._matrix = self._kept = None

    def encode(self, vector: Sequence[float], script: int) -> Code:
        """A vector of this embedder, without the mean of its script. ValueError for another number of components."""
        if not self._head:
            raise ValueError("begin() first")
        return encode(vector, self._head.means[script], script)

    def count(self) -> int:
        """How many vectors the pages have."""
        if self._kept and self._kept[0] == self._state():
            return sum(pack.rows for pack in self._kept[1].values())
        for (count,) in self._rows("SELECT sum(length(ordinals)) / 4 FROM pack"):
            return count if isinstance(count, int) else 0
        return 0

    def scan(self, asked: Code, allowed: Collection[int] | None = None, limit: int = 100) -> Scan:
        """The best `limit` entries, of those `allowed` if given."""
        if len(asked.codes) != self.dim:
            self.complain(f"vectors of {self.dim} numbers, a question of {len(asked.codes)}", damaged=False)
            return Scan(0.0, 0.0, 0, {}, {})
        with self._one_state():
            return self._scan(asked, allowed, limit)

    def _scan(self, asked: Code, allowed: Collection[int] | None, limit: int) -> Scan:
        wanted = CodeQuery(asked)
        if self._resident and (matrix := self.matrix()):
            return matrix.scan(asked, allowed, limit)
        if allowed is not None and len(allowed) <= _NARROW:
            rows, about = self._rows_of(allowed), spread(*self._sample(wanted), (), self.dim)
            return _ranked(self._compare(wanted, rows).items(), rows, limit, (*about, self.count()))
        packs = list(self._all_packs().values())
        total = sum(pack.rows for pack in packs)
        if total <= _ALL:
            return self._in_full(wanted, packs, allowed, limit)
        return self._by_signs(wanted, packs, allowed, limit)

    def _in_full(
        self, asked: CodeQuery, packs: Sequence[PageVectors], allowed: Collection[int] | None, limit: int
    ) -> Scan:
        rows = [row for pack in packs for row in _vectors(pack)]
        wanted = {row.key for row in rows}
        known = {row[0]: asked.cosine(*row[2:5]) for row in self.texts() if row[0] in wanted}
        values = [known[row.key] for row in rows if row.key in known]
        if len(values) < len(rows):
            self.complain()  # a page names vectors that are not there
        about = (*spread(values, (), (), self.dim), len(rows))
        passing = [row for row in rows if row.key in known and (allowed is None or row.entry in allowed)]
        return _ranked(((row.entry, known[row.key]) for row in passing), passing, limit, about)

    def _by_signs(
        self, asked: CodeQuery, packs: Sequence[PageVectors], allowed: Collection[int] | None, limit: int
    ) -> Scan:
        signs = b"".join([pack.signs for pack in packs])
        found = distances(signs, asked.signs)
        about = spread(*self._sample(asked), found, self.dim)
        first = max(_LEAST, int(_FIRST * len(found) ** 0.5), 2 * limit)
        if allowed is None:
            places = nearest(found, first)
        else:
            passing = allowed if isinstance(allowed, set | frozenset | dict) else set(allowed)
            ids = (pack.page << ORDINAL_BITS | ordinal for pack in packs for ordinal in pack.all_ordinals())
            mask = [entry in passing for entry in ids]
            kept = list(compress(range(len(found)), mask))
            places = [kept[place] for place in nearest([found[place] for place in kept], first)]
        second = max(_FULL, int(_SECOND * len(found) ** 0.5), limit)
        places = refine(signs, places, asked, second)
        starts = list(accumulate((pack.rows for pack in packs), initial=0))
        rows = []
        for place in places:
            number = bisect_right(starts, place) - 1
            rows.append(_vector(packs[number], place - starts[number]))
        return _ranked(self._compare(asked, rows).items(), rows, limit, (*about, len(found)))

    def cosines(self, asked: Code, ids: Iterable[int], digests: Mapping[int, int] | None = None) -> dict[int, float]:
        """How like the question some entries are; those without a vector are left out.

        With `digests` (entry.digest by id) those that were embedded with another digest are left out too.
        """
        if len(asked.codes) != self.dim:
            return {}
        with self._one_state():
            rows = self._rows_of(ids)
            if digests is not None:
                rows = [row for row in rows if digests.get(row.entry) == row.digest]
            return self._compare(CodeQuery(asked), rows)

    def digests(self, ids: Iterable[int]) -> dict[int, int]:
        """entry.digest of some entries when they were embedded."""
        return {row.entry: row.digest for row in self._rows_of(ids)}

    @contextmanager
    def _one_state(self) -> Iterator[None]:
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

    def _rows_of(self, ids: Iterable[int]) -> list[FoundVector]:
        wanted = set(ids)
        pages = {entry >> ORDINAL_BITS for entry in wanted}
        return [row for pack in self._packs(pages) for row in _vectors(pack) if row.entry in wanted]

    def _compare(self, asked: CodeQuery, rows: Iterable[FoundVector]) -> dict[int, float]:
        """Entry -> the best cosine of its vectors."""
        entries: dict[int, list[int]] = {}
        for row in rows:
            entries.setdefault(row.key, []).append(row.entry)
        best: dict[int, float] = {}
        for key, _, norm, total, planes, _ in self._codes(entries):
            value = asked.cosine(norm, total, planes)
            for entry in entries.pop(key, ()):
                if value > best.get(entry, -2.0):
                    best[entry] = value
        if entries:
            self.complain()  # a page names vectors that are not there
        return best

    def by_script(self, asked: Code) -> dict[int, tuple[float, int]]:
        """Script -> the mean cosine of a sample of its vectors with the question, and how many were looked at."""
        wanted = CodeQuery(asked)
        found: dict[int, list[float]] = {}
        for start, size in ((0, _SAMPLE), (_SAMPLE, _MIXED)):  # more where there are several
            for row in self._rows("SELECT * FROM code ORDER BY key LIMIT ? OFFSET ?", (size, start)):
                if is_sound_code(row, self.dim):
                    found.setdefault(row[1], []).append(wanted.cosine(*row[2:5]))
            if len(found) < 2:
                break
        return {script: (sum(values) / len(values), len(values)) for script, values in sorted(found.items())}

    def _sample(self, asked: CodeQuery) -> tuple[list[float], list[int]]:
        """The cosines and distances of some vectors, which are any: keys are hashes, and these are the first."""
        rows = self._rows("SELECT * FROM code ORDER BY key LIMIT ?", (_SAMPLE,))
        sound = [row for row in rows if is_sound_code(row, self.dim)]
        cosines = [asked.cosine(*row[2:5]) for row in sound]
        width = len(asked.signs)
        return cosines, distances(b"".join([row[4][:width] for row in sound]), asked.signs)

    def _all_packs(self) -> dict[int, PageVectors]:
        """Every sound pack by page, read once for as long as nobody writes."""
        state = self._state()
        if not self._kept or self._kept[0] != state:
            self._kept = state, {pack.page: pack for pack in self._sound(self._rows("SELECT * FROM pack"))}
        return self._kept[1]

    def _packs(self, pages: Iterable[int]) -> Iterator[PageVectors]:
        if self._kept and self._kept[0] == self._state():
            return (self._kept[1][page] for page in pages if page in self._kept[1])
        return self._sound(self._rows_in("SELECT * FROM pack", "page", pages))

    def _sound(self, rows: Iterable[tuple[Any, ...]]) -> Iterator[PageVectors]:
        for row in rows:
            pack = read_pack(row, self.dim)
            if pack:
                yield pack
            else:
                self.complain()

    def _state(self) -> tuple[int, int]:
        """Changes with every write to the file, by others or by this connection."""
        for (version,) in self._rows("PRAGMA data_version"):
            return version, self._open.total_changes if self._open else 0
        return 0, 0

    def _codes(self, keys: Iterable[int]) -> Iterator[tuple[Any, ...]]:
        return self._sound_codes(self._rows_in("SELECT * FROM code", "key", keys))

    def _sound_codes(self, rows: Iterable[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
        for row in rows:
            if is_sound_code(row, self.dim):
                yield row
            else:
                self.complain()

    def _rows_in(self, sql: str, column: str, keys: Iterable[int]) -> Iterator[tuple[Any, ...]]:
        listed = list(keys)
        for start in range(0, len(listed), _CHUNK):
            piece = listed[start : start + _CHUNK]
            yield from self._rows(f"{sql} WHERE {column} IN ({', '.join('?' * len(piece))})", piece)

    def _rows(self, sql: str, values: Sequence[int] = ()) -> Iterator[tuple[Any, ...]]:
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

    def is_loaded(self) -> bool:
        """True if all vectors are in memory, as the file has them now."""
        return self._matrix is not None and self._matrix.state == self._state() and self._inode == _inode(self.path)

    def matrix(self, load: bool = False) -> Matrix | None:
        """All vectors in memory; None without numpy, or in a process that does not stay unless it says `load`."""
        if not self._open or not (self._resident or load):
            return None
        with self._one_state():
            state = self._state()
            if self._matrix is None or self._matrix.state != state:
                packs = self._sound(self._rows("SELECT * FROM pack"))
                self._matrix = Matrix.load(state, packs, self.texts(), self.dim)
            return self._matrix

    def texts(self) -> Iterator[tuple[Any, ...]]:
        """Every sound row of `code`, one after the other: quicker than by key where most of them are wanted."""
        return self._sound_codes(self._rows("SELECT * FROM code"))

    def named(self) -> Iterator[FoundVector]:
        """Every vector of every sound page."""
        return (row for pack in self._all_packs().values() for row in _vectors(pack))


def _inode(path: Path) -> tuple[int, int] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _ranked(
    scored: Iterable[tuple[int, float]], rows: Iterable[FoundVector], limit: int, about: tuple[float, float, int]
) -> Scan:
    best: dict[int, float] = {}
    for entry, value in scored:
        if value > best.get(entry, -2.0):
            best[entry] = value
    first = dict(sorted(best.items(), key=lambda pair: (-pair[1], pair[0]))[:limit])
    return Scan(*about, first, {row.entry: row.digest for row in rows if row.entry in first})


def _vectors(pack: PageVectors) -> Iterator[FoundVector]:
    start = pack.page << ORDINAL_BITS
    for ordinal, key, digest in zip(pack.all_ordinals(), pack.all_keys(), pack.all_digests(), strict=True):
        yield FoundVector(start | ordinal, key, digest)


def _vector(pack: PageVectors, row: int) -> FoundVector:
    (ordinal,) = struct.unpack_from("<I", pack.ordinals, 4 * row)
    (key,) = struct.unpack_from("<q", pack.keys, 8 * row)
    (digest,) = struct.unpack_from("<q", pack.digests, 8 * row)
    return FoundVector(pack.page << ORDINAL_BITS | ordinal, key, digest)
