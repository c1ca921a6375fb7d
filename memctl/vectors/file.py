"""The vectors: `.memory/vectors.sqlite`, a file of its own, because embedding takes hours where the index takes seconds.

Derived all the same: delete it at any moment. One embedder's vectors only; those of another are never read beside them.
"""

from __future__ import annotations

import os
import sqlite3
import struct
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set as AbstractSet
from contextlib import closing, contextmanager, suppress
from itertools import accumulate, chain
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import CannotWrite, LockBusy
from ..index.index import Index, code as primary_code
from ..index.lexical import ordinal_of, page_of, whole_page
from ..notes.files import prepare_memory
from ..notes.workspace import Workspace
from ..system import as_cannot_write, locked
from . import tables
from .quantized import Code, CodeQuery, distances, encode, moments, nearest, refine, spread
from .tables import NO_HEAD, Head, PageVectors, StoredVector

_WAIT = 10.0  # seconds for another writer
_PUT_CODE = "INSERT OR REPLACE INTO code VALUES (?, ?, ?, ?, ?, ?)"
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


class Missing(NamedTuple):
    """Pages (ids) not embedded as they stand, packs of pages that are gone, and how many entries lack a vector."""

    pages: tuple[int, ...]
    gone: tuple[int, ...]
    entries: int


class Scan(NamedTuple):
    """The entries nearest to a question, the best first, and how like it all `n` vectors are (for z-scores)."""

    mean: float
    sd: float
    n: int
    cosines: dict[int, float]
    digests: dict[int, int]  # of the entries as they were embedded: one that has another now must be left out


def open_vectors(workspace: Workspace, note: Callable[[str], object] = lambda reason: None) -> Vectors | None:
    """The vectors of a workspace. None where there are none, or none that can be used: `note` is told why."""
    path = workspace.derived / "vectors.sqlite"
    if not os.path.lexists(path):
        return None
    db = None
    try:
        db = tables.open_tables(path, write=False)
        head = tables.read_head(db)
        if isinstance(head, Head):
            return Vectors(path, db, head)
        reason = head
    except tables.DAMAGE as error:
        reason = str(error)
    if db:
        db.close()
    note(f"{path.name}: {reason}; answers are by words until {_cure(path) or '`memctl index` makes it again'}")
    return None


def begin_vectors(workspace: Workspace, embedder_id: str, dim: int, means: Sequence[Sequence[float]]) -> Vectors:
    """The vectors of a workspace, to write those of an embedder; those of another go.

    A damaged file is made again from what is sound in it. CannotWrite, LockBusy.
    """
    prepare_memory(workspace)
    embedder_id = embedder_id.encode("utf-8", "replace").decode()  # as it is read again
    vectors = Vectors(workspace.derived / "vectors.sqlite")
    vectors.begin(Head(embedder_id, dim, tuple(tuple(map(float, mean)) for mean in means)))
    return vectors


def _cure(path: Path) -> str | None:
    """What must be done before `index` can make the file again; None where it can by itself."""
    if path.is_symlink():
        return None
    if path.is_dir():
        return "that folder is removed and `memctl index` has run"
    return None if os.access(path, os.R_OK | os.W_OK) else "it is made readable, or removed, and `memctl index` has run"


def drop_vectors(workspace: Workspace) -> None:
    """Delete every vector."""
    path = workspace.derived / "vectors.sqlite"
    with as_cannot_write(path):
        for name in ("vectors.broken", "vectors.sqlite"):
            tables.remove_tables(path.with_name(name))
        tables.mark_of(path).unlink(missing_ok=True)


class Vectors:
    """An open file of vectors, to ask and to fill. Nothing that is wrong with it stops a recall."""

    def __init__(self, path: Path, db: sqlite3.Connection | None = None, head: Head = NO_HEAD) -> None:
        self.path = path
        self.head = head  # whose they are
        self.problem: str | None = None  # what was found damaged and left out so far, in one line
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
    ) -> list[StoredVector]:  # fmt: skip
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
        return (row for row in rows if tables.is_sound_code(row, self.head.dim))

    def _rows_of(self, ids: AbstractSet[int]) -> list[StoredVector]:
        packs = self.packs()
        pages = {page_of(entry) for entry in ids} & packs.keys()
        return [row for page in pages for row in packs[page].vectors() if row.entry in ids]

    def _compare(
        self, asked: CodeQuery, rows: Iterable[StoredVector], texts: Iterable[tuple[Any, ...]] | None = None
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
            with suppress(*tables.DAMAGE):
                self._open.execute("BEGIN")
                begun = True
        try:
            yield
        finally:
            if begun and self._open:
                with suppress(*tables.DAMAGE):
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
            read = [tables.read_pack(row, self.head.dim) for row in self.rows("SELECT * FROM pack")]
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
            if tables.is_sound_code(row, self.head.dim):
                yield row
            else:
                self.complain()

    def rows(self, sql: str, values: Sequence[int] = ()) -> Iterator[tuple[Any, ...]]:
        """The rows of a read, up to where the file cannot be read."""
        try:
            if self._open:
                yield from self._open.execute(sql, values)
        except tables.DAMAGE as error:
            self.complain("" if tables.is_damage(error) else str(error), tables.is_damage(error))

    def complain(self, reason: str = "", damaged: bool = True) -> None:
        """Remember what was wrong; damage is remembered beside the file too, for the next pass."""
        if not self.problem:
            cure = "; `memctl index` repairs it" if damaged else ""
            self.problem = f"{self.path.name}: {reason or 'damaged in places'}{cure}"
        if damaged:
            tables.leave_mark(self.path)

    def missing(self, index: Index) -> Missing:
        """What of the index is not embedded as it stands."""
        wanted = {page: (total, count) for page, total, count in index.rows("SELECT id, rows_sum, embedded FROM page")}
        kept = self.packs()
        stale = [page for page, (total, _) in wanted.items() if page not in kept or kept[page].page_sum != total]
        entries = sum(
            _lacking(index, kept[page]) if page in kept and kept[page].rows else wanted[page][1] for page in stale
        )
        if os.path.lexists(tables.mark_of(self.path)):
            self.complain()
        return Missing(tuple(stale), tuple(page for page in kept if page not in wanted), entries)

    # -- ready to write -----------------------------------------------------------------------------------------------

    def begin(self, head: Head) -> None:
        """Make ready for vectors of an embedder; use `begin_vectors`."""
        with locked(self.path.with_name("vectors.lock"), _WAIT), self._telling():
            if not self._use(head):
                self.close()
                if os.path.lexists(self.path):
                    tables.move_aside(self.path)
                self._make(head)
            broken = self.path.with_name("vectors.broken")  # set aside now, or before a kill
            if any(self.path.parent.glob("vectors.broken*")):
                with self._transaction() as db:
                    db.executemany(_PUT_CODE.replace("REPLACE", "IGNORE"), tables.salvage(broken, self.head))
                tables.remove_tables(broken)
            tables.mark_of(self.path).unlink(missing_ok=True)
            self.problem = None

    def _use(self, head: Head) -> bool:
        """True if the file as it stands will do; vectors of another embedder are deleted then."""
        if self.path.is_symlink():
            self.path.unlink()  # SQLite would follow it out of the workspace
        if not os.path.lexists(self.path) or os.path.lexists(tables.mark_of(self.path)):
            return False
        try:
            self._open = tables.open_tables(self.path, write=True)
            old = tables.read_head(self._open)
            # A page that nobody reads may be damaged too, and would stop a write: 1 ms for a thousand vectors.
            if not isinstance(old, Head) or self._open.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
                return False
            self.head = old
            if not tables.is_same(old, head):
                with self._transaction() as db:
                    for table in ("pack", "code", "meta"):
                        db.execute(f"DELETE FROM {table}")
                    tables.write_head(db, head)
                self.head = head
            return True
        except tables.DAMAGE as error:
            if not tables.is_damage(error):
                raise
            return False

    def _make(self, head: Head) -> None:
        """A new file, readable by those who may read the index."""
        self._open = tables.open_tables(self.path, write=True)
        self.head = head
        with suppress(OSError):
            os.chmod(self.path, os.stat(self.path.with_name("index.sqlite")).st_mode & 0o666)
        self._open.execute("PRAGMA journal_mode = WAL")
        with self._transaction() as db:
            for statement in tables.SCHEMA:
                db.execute(statement)
            tables.write_head(db, head)

    @contextmanager
    def _telling(self) -> Iterator[None]:
        """Errors of SQLite and of the disk as ours."""
        try:
            yield
        except (OSError, *tables.DAMAGE) as error:
            if primary_code(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                raise LockBusy(str(self.path), _WAIT) from error
            if tables.is_damage(error):
                tables.leave_mark(self.path)
                raise CannotWrite(str(self.path), f"{error} (the next `memctl index` repairs it)") from error
            stuck = CannotWrite(str(self.path), getattr(error, "strerror", None) or str(error))
            if _cure(self.path):
                stuck.cure = f"remove {self.path}, then run it again"
            raise stuck from error

    # -- writing ------------------------------------------------------------------------------------------------------

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction; within another, a part of it. LockBusy, CannotWrite."""
        if not self._open:
            raise CannotWrite(str(self.path), "not open")
        if self._open.in_transaction:
            yield self._open
            return
        with self._telling(), self._transaction() as db:
            yield db

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        assert self._open
        self._open.execute("BEGIN IMMEDIATE")
        with self._open:
            yield self._open

    def _run_all(self, statement: str, rows: Iterable[tuple[object, ...]]) -> None:
        with self.writing() as db:
            db.executemany(statement, rows)
            db.execute("PRAGMA user_version = 1")  # until `sweep`, so that a stop before it is seen

    def known(self, keys: Iterable[int]) -> set[int]:
        """Those texts that are embedded already."""
        return {row[0] for row in self.texts_of(set(keys))}

    def take(self, keys: Collection[int], workspace: Workspace) -> None:
        """Keep what the owner's file has of these texts, where this is that of a public view."""
        kept = open_vectors(workspace) if keys and self.path != workspace.derived / self.path.name else None
        if kept:
            with closing(kept):
                if kept.head == self.head:
                    self._run_all(_PUT_CODE, kept.texts_of(keys))

    def put_codes(self, codes: Mapping[int, Code]) -> None:
        """Keep vectors by the key of their text (ids.text_key)."""
        self._run_all(_PUT_CODE, [tables.code_row(key, code) for key, code in codes.items()])

    def put_pack(self, page: int, page_sum: bytes, rows: Iterable[StoredVector]) -> bool:
        """Say which vectors a page has, all of them, as `put_codes` kept them; an empty page has none.

        False if some are not there: the others are found, and the page stays among those that are missing.
        """
        listed = sorted(rows)
        wanted = {row.key for row in listed}
        width = self.head.dim + 7 >> 3  # of the first plane, which holds the signs
        signs = {row[0]: row[4][:width] for row in self.texts_of(wanted)}
        kept = [row for row in listed if row.key in signs]
        pack = PageVectors(
            page,
            page_sum if len(signs) == len(wanted) else b"",
            struct.pack(f"<{len(kept)}I", *(ordinal_of(row.entry) for row in kept)),
            struct.pack(f"<{len(kept)}q", *(row.digest for row in kept)),
            struct.pack(f"<{len(kept)}q", *(row.key for row in kept)),
            b"".join([signs[row.key] for row in kept]),
        )
        self._run_all("INSERT OR REPLACE INTO pack VALUES (?, ?, ?, ?, ?, ?, ?)", [(*pack, pack.sum)])
        return len(signs) == len(wanted)

    def drop_packs(self, pages: Iterable[int]) -> None:
        """Forget which vectors some pages had."""
        self._run_all("DELETE FROM pack WHERE page = ?", [(page,) for page in pages])

    def sweep(self) -> int:
        """Delete the vectors that no page has; returns how many there were. Only after a complete pass."""
        named = {key for pack in self.packs().values() for key in pack.all_keys()}
        gone = [(key,) for (key,) in self.rows("SELECT key FROM code") if key not in named]
        if gone or not self.swept:
            with self.writing() as db:
                db.executemany("DELETE FROM code WHERE key = ?", gone)
                db.execute("PRAGMA user_version = 0")
        return len(gone)

    @property
    def swept(self) -> bool:
        """False if something was written since the last `sweep`: a text that no page has may be left."""
        return list(self.rows("PRAGMA user_version")) == [(0,)]

    def truncate(self) -> str | None:
        """Leave nothing of what was deleted, in the log beside the file or in a file made from it; or say why not."""
        try:
            tables.remove_tables(self.path.with_name("vectors.broken"))
            for busy, _, _ in self._open.execute("PRAGMA wal_checkpoint(TRUNCATE)") if self._open else ():
                return "another process reads the vectors" if busy else None
        except (*tables.DAMAGE, OSError) as error:
            return str(error)
        return None


def _lacking(index: Index, pack: PageVectors) -> int:
    """How many entries of a page have no vector, or one of what they said before."""
    held = {(row.entry, row.digest) for row in pack.vectors()}
    alone = "role = 'fact'" if pack.entries()[-1] == whole_page(pack.page) else "1"
    sql = f"SELECT id, digest FROM embeddable WHERE page = ? AND {alone}"
    return sum(row not in held for row in index.rows(sql, (pack.page,)))


def _best(rows: Iterable[StoredVector], scored: Mapping[int, float]) -> dict[int, float]:
    """Entry -> the best cosine of its vectors."""
    best: dict[int, float] = {}
    for row in rows:
        value = scored.get(row.key, -2.0)
        if value > best.get(row.entry, -2.0):
            best[row.entry] = value
    return best


def inode(path: Path) -> tuple[int, int] | None:
    """Which file stands at a path; None where none does."""
    with suppress(OSError):
        status = os.stat(path)
        return status.st_dev, status.st_ino
    return None
