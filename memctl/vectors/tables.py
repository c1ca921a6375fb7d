"""The file of vectors: its tables, its sums, what of a damaged one can be saved. file.py reads and writes through here.

Every row carries a CRC-32 of what it holds. A row that fails it is left out, and made again by the next `index`.
"""

from __future__ import annotations

import os
import sqlite3
import struct
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from itertools import chain
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple, TypeGuard
from zlib import crc32

from ..errors import CannotWrite
from ..index.heal import PASSING
from ..index.index import code as primary_code
from ..index.lexical import ordinal_of, row_id
from .models import MOST_DIMENSIONS
from .text_to_embed import SCRIPTS

FORMAT = 2  # another number means another layout: such a file is not read, and `index` makes it again
DAMAGE = (sqlite3.Error, UnicodeDecodeError, OverflowError, MemoryError)
"""What SQLite and Python's module raise over a file whose bytes are not as they were written."""
SCHEMA = (
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value BLOB NOT NULL, sum INTEGER NOT NULL) WITHOUT ROWID",
    # The vectors of a page in the order of its entries: whose they are (_ROW each), and their numbers, a byte each. The latter
    # stand last, so that SQLite passes them over where only the former are wanted.
    "CREATE TABLE page (id INTEGER PRIMARY KEY, page_sum BLOB NOT NULL, codes_sum INTEGER NOT NULL, sum INTEGER NOT NULL, "
    "rows BLOB NOT NULL, codes BLOB NOT NULL)",
)
_READING = ("trusted_schema = OFF", "cell_size_check = ON", "writable_schema = ON")  # the last: a file cut short too
# Pages of SQLite's own 4 KiB take two and a half times as long to read.
_WRITING = (*_READING[:2], "page_size = 16384", "synchronous = NORMAL", "secure_delete = ON")
_MOST_PAGES = 1 << 41  # ids of pages are below: those of rows fit into 63 bits
_MOST_RANGES = 4_096  # of ids that are tried in a damaged file: a tenth of a second
_UNWRITABLE = {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM}
_ROW = struct.Struct("<IIqq")  # ordinal, script, key, digest
_PAGE = struct.Struct("<qIH")


class Head(NamedTuple):
    """Whose vectors these are: the embedder, how many components, and the mean of each script."""

    embedder_id: str
    dim: int
    means: tuple[tuple[float, ...], ...]

    @property
    def packed(self) -> bytes:
        """The means as bytes: 8 a number, those of a script together."""
        flat = [x for mean in self.means for x in mean]
        return struct.pack(f"<{len(flat)}d", *flat)

    @classmethod
    def unpacked(cls, embedder_id: str, packed: bytes) -> Head:
        """The head whose means were `packed`; NO_HEAD for what no head makes."""
        size = len(packed) // len(SCRIPTS)
        if not 0 < size // 8 <= MOST_DIMENSIONS or len(packed) != size // 8 * 8 * len(SCRIPTS):
            return NO_HEAD
        means = tuple(struct.unpack_from(f"<{size // 8}d", packed, size * script) for script in SCRIPTS)
        return cls(embedder_id, size // 8, means) if all(map(isfinite, chain(*means))) else NO_HEAD


NO_HEAD = Head("", 0, ())


class Code(NamedTuple):
    """A vector as it is kept: at length 1, without the mean of its script (else lines of one language stand nearer to each other
    than to their meaning in another), as int8 components."""

    script: int
    codes: bytes


class StoredVector(NamedTuple):
    """One vector of an entry. That of a whole document stands last on its page, with the digest of the first entry."""

    entry: int  # its id; of a document as a whole `whole_page`
    key: int  # of the text
    digest: int  # of the entry when it was embedded


class PageVectors(NamedTuple):
    """Whose the vectors of a page are, as a row of `page` without its codes says it."""

    page: int
    page_sum: bytes
    codes_sum: int
    sum: int
    rows: bytes

    @property
    def size(self) -> int:
        """How many vectors."""
        return len(self.rows) // _ROW.size

    def vectors(self) -> Iterator[StoredVector]:
        """Its vectors, in their order. Equal entries: several vectors of one."""
        return (StoredVector(row_id(self.page, at), key, digest) for at, _, key, digest in _ROW.iter_unpack(self.rows))

    def codes(self, codes: bytes) -> Iterator[tuple[int, Code]]:
        """The key of each of its vectors, and that vector out of its `codes`."""
        dim = len(codes) // max(self.size, 1)
        for number, (_, script, key, _) in enumerate(_ROW.iter_unpack(self.rows)):
            yield key, Code(script, codes[number * dim : (number + 1) * dim])


class Scan(NamedTuple):
    """The entries nearest to a question, the best first, and how like it all `n` vectors are (for z-scores)."""

    mean: float
    sd: float
    n: int
    cosines: dict[int, float]
    digests: dict[int, int]  # of the entries as they were embedded: one that has another now must be left out


def open_tables(path: Path, write: bool) -> sqlite3.Connection:
    """Open the file; without `write` it must be there. A folder that cannot be written is read as it stands."""
    if path.is_symlink() or (path.exists() and not path.is_file()):
        raise sqlite3.DatabaseError("not a regular file")  # SQLite would follow a link out of the workspace
    modes = ["rwc"] if write else ["rw", "ro&immutable=1"]
    for mode in modes:
        uri, wait = f"{path.as_uri()}?mode={mode}", 10 if write else 1
        db = sqlite3.connect(uri, uri=True, isolation_level=None, timeout=wait, check_same_thread=False)
        try:
            for pragma in _WRITING if write else _READING:
                db.execute(f"PRAGMA {pragma}")
            db.execute("SELECT count(*) FROM sqlite_master").fetchone()
            return db
        except DAMAGE as error:
            db.close()
            if mode == modes[-1] or primary_code(error) not in _UNWRITABLE:
                raise
    raise AssertionError("unreachable")


def is_damage(error: BaseException) -> bool:
    """False for what passes by itself or needs a person: busy, full, read-only."""
    return isinstance(error, DAMAGE) and (not isinstance(error, sqlite3.Error) or primary_code(error) not in PASSING)


def write_head(db: sqlite3.Connection, head: Head) -> None:
    """Say whose vectors these are."""
    values = {
        "format": str(FORMAT).encode(),
        "embedder": head.embedder_id.encode("utf-8", "replace"),
        "dim": str(head.dim).encode(),
        "means": head.packed,
    }
    rows = [(key, value, crc32(value, crc32(key.encode()))) for key, value in values.items()]
    db.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?, ?)", rows)


def read_head(db: sqlite3.Connection) -> Head | str:
    """Whose vectors these are, or why they cannot be used."""
    schema = [sql for (sql,) in db.execute("SELECT sql FROM sqlite_master ORDER BY rowid")]
    if schema[:1] != [SCHEMA[0]]:  # a view may have no end
        return "damaged"
    rows = db.execute("SELECT key, value, sum FROM meta").fetchall()
    try:
        kept = {key: value for key, value, total in rows if crc32(value, crc32(key.encode())) == total}
        made = kept["format"].decode()
        if made != str(FORMAT):
            return f"made by another version of memctl (format {made[:20]})"
        head = Head.unpacked(kept["embedder"].decode(), kept["means"])
        is_whole = head.dim == int(kept["dim"])
    except (AttributeError, TypeError, KeyError, ValueError, struct.error):
        return "damaged"
    return head if is_whole and schema == list(SCHEMA) else "damaged"


def page_row(page: int, page_sum: bytes, vectors: Iterable[tuple[StoredVector, Code]]) -> tuple[Any, ...]:
    """A row of `page`, of vectors in the order of their entries."""
    listed = list(vectors)
    rows = b"".join(_ROW.pack(ordinal_of(v.entry), code.script, v.key, v.digest) for v, code in listed)
    codes = b"".join(code.codes for _, code in listed)
    return page, page_sum, crc32(codes), _sum_of(page, page_sum, crc32(codes), rows), rows, codes


def _sum_of(page: int, page_sum: bytes, codes_sum: int, rows: bytes) -> int:
    """CRC-32 of all of a row; of its codes by their sum."""
    return crc32(rows, crc32(page_sum, crc32(_PAGE.pack(page, codes_sum, len(page_sum)))))


def page_vectors(row: Sequence[Any]) -> PageVectors | None:
    """A row of `page`, with its codes or without, or None if whose these are is not as it was written."""
    try:
        page, page_sum, codes_sum, kept, rows = row[:5]
        is_sound = 0 <= page < _MOST_PAGES and _sum_of(page, page_sum, codes_sum, rows) == kept
        return PageVectors(page, page_sum, codes_sum, kept, rows) if is_sound and not len(rows) % _ROW.size else None
    except (TypeError, struct.error):
        return None


def are_codes(codes: object, pack: PageVectors, dim: int) -> TypeGuard[bytes]:
    """True for the codes of a page as they were written."""
    return isinstance(codes, bytes) and len(codes) == pack.size * dim and crc32(codes) == pack.codes_sum


def is_sound(row: Sequence[Any], dim: int) -> bool:
    """True for a row of `page` (all columns) that is as it was written."""
    pack = page_vectors(row)
    return pack is not None and are_codes(row[5], pack, dim)


def _beside(path: Path) -> list[Path]:
    return [path.with_name(path.name + end) for end in ("-wal", "-shm", "-journal")]


def remove_leftovers(path: Path) -> None:
    """Remove, under its lock, what a kill left of a file that was being made."""
    fresh = path.with_name("vectors.new")
    for left in (fresh, *_beside(fresh)):
        if left.is_symlink() or not left.is_dir():
            left.unlink(missing_ok=True)


def remove_tables(path: Path) -> None:
    """Remove a file of vectors, what SQLite keeps beside it and what was left; under the lock of the file."""
    remove_leftovers(path)
    for name in (path, *_beside(path)):
        name.unlink(missing_ok=True)


def make_tables(path: Path, head: Head) -> None:
    """A new file, with all that is sound in what stands there, for those who may read the index: it is hours of work."""
    fresh = path.with_name("vectors.new")
    for each in (path, fresh):
        if each.is_dir() and not each.is_symlink():
            each.rmdir()  # an empty one; what is in another is somebody's
    try:
        with closing(open_tables(fresh, write=True)) as db:
            with suppress(OSError):
                os.chmod(fresh, os.stat(path.with_name("index.sqlite")).st_mode & 0o666)
            db.execute("BEGIN")
            for statement in SCHEMA:
                db.execute(statement)
            write_head(db, head)
            db.executemany("INSERT OR IGNORE INTO page VALUES (?, ?, ?, ?, ?, ?)", _sound_rows(path, head))
            db.execute("COMMIT")
        for name in _beside(path):
            name.unlink(missing_ok=True)
        fresh.replace(path)
    finally:
        remove_leftovers(path)


def _sound_rows(path: Path, head: Head) -> Iterator[tuple[Any, ...]]:
    """The rows of `page` in a file of the same embedder that are as they were written."""
    with suppress(*DAMAGE), closing(open_tables(path, write=False)) as db:
        if isinstance(old := read_head(db), Head) and is_same(old, head):
            yield from (row for row in read_by_ranges(db, "SELECT * FROM page") if is_sound(row, head.dim))
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # the log goes with the file


def head_in(folder: Path) -> Head | None:
    """Whose the vectors in a folder are; None where there are none that can be used. CannotWrite while somebody holds the file."""
    path = folder / "vectors.sqlite"
    try:
        with closing(open_tables(path, write=False)) as db:
            return head if isinstance(head := read_head(db), Head) else None
    except DAMAGE as error:
        if path.exists() and not is_damage(error):
            raise CannotWrite(str(path), str(error)) from error
        return None


def read_by_ranges(db: sqlite3.Connection, select: str, complain: Callable[[], object] = lambda: None) -> Iterator[Any]:
    """All rows of a table of pages (id first) that can be read, in any order: a range of ids that fails is halved."""
    ranges, tried = deque([(0, _MOST_PAGES - 1), (_MOST_PAGES, sys.maxsize)]), 0
    while ranges:
        low, high = ranges.popleft()
        try:
            for row in db.execute(f"{select} WHERE rowid BETWEEN ? AND ? ORDER BY rowid", (low, high)):
                yield row
                low = row[0] + 1
        except DAMAGE as error:
            if not is_damage(error):
                raise
            complain()
            middle, tried = (low + high) // 2, tried + 1
            if low < high < _MOST_PAGES and tried < _MOST_RANGES:
                ranges += [(low, middle), (middle + 1, high)]


def is_same(one: Head, other: Head) -> bool:
    """True for the same embedder; its means another processor may round otherwise."""
    pairs = zip(chain(*one.means), chain(*other.means), strict=True)
    return one[:2] == other[:2] and all(abs(a - b) <= 1e-4 for a, b in pairs)
