"""The file of vectors: its tables, its sums, what of a damaged one can be saved. file.py reads and writes through here.

Every row carries a CRC-32 of what it holds. A row that fails it is left out, and made again by the next `index`.
"""

from __future__ import annotations

import os
import sqlite3
import struct
from collections.abc import Iterator
from contextlib import closing, suppress
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

from ..index.heal import PASSING
from ..index.index import code as primary_code
from ..index.lexical import row_id
from ..system import OPEN_SAFELY
from .models import MOST_DIMENSIONS
from .quantized import SCRIPTS, Code, planes_of, total_of

FORMAT = 1  # another number means another layout: such a file is not read, and `index` makes it again
DAMAGE = (sqlite3.Error, UnicodeDecodeError, OverflowError, MemoryError)
"""What SQLite and Python's module raise over a file whose bytes are not as they were written."""
SCHEMA = (
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value BLOB NOT NULL, sum INTEGER NOT NULL) WITHOUT ROWID",
    # By the hash of the embedded text: it survives moved lines, renamed pages and rebuilt indexes.
    "CREATE TABLE code (key INTEGER PRIMARY KEY, script INTEGER NOT NULL, norm REAL NOT NULL, total INTEGER NOT NULL, "
    "planes BLOB NOT NULL, sum INTEGER NOT NULL)",
    # The vectors of a page in the order of its rows; all that a scan reads. Equal ordinals: several vectors of one entry.
    "CREATE TABLE pack (page INTEGER PRIMARY KEY, page_sum BLOB NOT NULL, ordinals BLOB NOT NULL, digests BLOB NOT NULL, "
    "keys BLOB NOT NULL, signs BLOB NOT NULL, sum INTEGER NOT NULL)",
)
_PRAGMAS = ("synchronous = NORMAL", "trusted_schema = OFF", "cell_size_check = ON", "secure_delete = ON")
_UNWRITABLE = {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM}
_FIXED = struct.Struct("<qBdi")
_PAGE = struct.Struct("<qH")
_SLICES = 256


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
        means = (struct.unpack_from(f"<{size // 8}d", packed, size * script) for script in SCRIPTS)
        return cls(embedder_id, size // 8, tuple(means))


NO_HEAD = Head("", 0, ())


class StoredVector(NamedTuple):
    """One vector of an entry. That of a whole document stands last on its page, with the digest of the first entry."""

    entry: int  # its id; of a document as a whole `whole_page`
    key: int  # of the text
    digest: int  # of the entry when it was embedded


class PageVectors(NamedTuple):
    """The vectors of one page, as bytes: 4 a row for ordinals (rising), 8 for digests and keys, a bit a component for signs."""

    page: int
    page_sum: bytes
    ordinals: bytes
    digests: bytes
    keys: bytes
    signs: bytes

    @property
    def rows(self) -> int:
        """How many vectors."""
        return len(self.ordinals) // 4

    @property
    def sum(self) -> int:
        """CRC-32 of all of it."""
        return crc32(b"".join((_PAGE.pack(self.page, len(self.page_sum)), *self[1:])))

    def all_keys(self) -> tuple[int, ...]:
        """The keys of its vectors."""
        return struct.unpack(f"<{self.rows}q", self.keys)

    def entries(self) -> list[int]:
        """The entry of each of its vectors."""
        return [row_id(self.page, ordinal) for ordinal in struct.unpack(f"<{self.rows}I", self.ordinals)]

    def vectors(self) -> Iterator[StoredVector]:
        """Its vectors, in their order."""
        return map(StoredVector, self.entries(), self.all_keys(), struct.unpack(f"<{self.rows}q", self.digests))

    def vector(self, row: int) -> StoredVector:
        """One of them."""
        (ordinal,) = struct.unpack_from("<I", self.ordinals, 4 * row)
        (key,) = struct.unpack_from("<q", self.keys, 8 * row)
        (digest,) = struct.unpack_from("<q", self.digests, 8 * row)
        return StoredVector(row_id(self.page, ordinal), key, digest)


def open_tables(path: Path, write: bool) -> sqlite3.Connection:
    """Open the file; without `write` it must be there. A folder that cannot be written is read as it stands."""
    if path.is_symlink() or (path.exists() and not path.is_file()):
        raise sqlite3.DatabaseError("not a regular file")  # SQLite would follow a link out of the workspace
    modes = ["rwc"] if write else ["rw", "ro&immutable=1"]
    for mode in modes:
        uri, wait = f"{path.as_uri()}?mode={mode}", 10 if write else 1
        db = sqlite3.connect(uri, uri=True, isolation_level=None, timeout=wait, check_same_thread=False)
        try:
            for pragma in _PRAGMAS if write else _PRAGMAS[1:3]:
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
    if [sql for (sql,) in db.execute("SELECT sql FROM sqlite_master ORDER BY rowid")] != list(SCHEMA):
        return "damaged"
    rows = db.execute("SELECT key, value, sum FROM meta").fetchall()
    try:
        kept = {key: value for key, value, total in rows if crc32(value, crc32(key.encode())) == total}
        made = kept["format"].decode()
        if made != str(FORMAT):
            return f"made by another version of memctl (format {made[:20]})"
        head = Head.unpacked(kept["embedder"].decode(), kept["means"])
        return head if head.dim == int(kept["dim"]) else "damaged"
    except (AttributeError, TypeError, KeyError, ValueError, struct.error):
        return "damaged"


def code_row(key: int, code: Code) -> tuple[Any, ...]:
    """A row of `code`."""
    fixed, planes = (key, code.script, code.norm, total_of(code.codes)), planes_of(code.codes)
    return *fixed, planes, crc32(planes, crc32(_FIXED.pack(*fixed)))


def is_sound_code(row: tuple[Any, ...], dim: int) -> bool:
    """True for a row of `code` (all columns) that is as it was written."""
    try:
        key, script, norm, total, planes, kept = row
        return len(planes) == dim + 7 & -8 and crc32(planes, crc32(_FIXED.pack(key, script, norm, total))) == kept
    except (TypeError, struct.error):
        return False


def read_pack(row: tuple[Any, ...], dim: int) -> PageVectors | None:
    """A row of `pack` (all columns), or None if it is not as it was written."""
    try:
        pack = PageVectors(*row[:-1])
        sizes = len(pack.ordinals), len(pack.digests), len(pack.keys), len(pack.signs)
        is_sound = pack.sum == row[-1] and sizes == tuple(pack.rows * size for size in (4, 8, 8, dim + 7 >> 3))
        return pack if is_sound else None
    except (TypeError, struct.error):
        return None


def mark_of(path: Path) -> Path:
    """The file that says that a reader met damage: the next pass then makes a new file of what is sound."""
    return path.with_name("vectors.damaged")


def leave_mark(path: Path) -> None:
    """Remember that damage was met. Best effort."""
    with suppress(OSError):
        os.close(os.open(mark_of(path), os.O_WRONLY | os.O_CREAT | OPEN_SAFELY, 0o666))


def _beside(path: Path) -> list[Path]:
    return [path, *(path.with_name(path.name + end) for end in ("-wal", "-shm", "-journal"))]


def remove_tables(path: Path) -> None:
    """Remove a file of vectors and what SQLite keeps beside it."""
    for name in _beside(path):
        name.unlink(missing_ok=True)


def move_aside(path: Path) -> None:
    """Take a broken file out of the way, for `salvage`."""
    broken = path.with_name("vectors.broken")
    remove_tables(broken)
    if path.is_dir() and not path.is_symlink():
        path.rmdir()  # an empty one; what is in another is somebody's
    for source, target in zip(_beside(path), _beside(broken), strict=True):
        with suppress(FileNotFoundError):
            if source.is_symlink():
                source.unlink()
            elif not source.name.endswith("-shm"):
                source.replace(target)


def salvage(path: Path, head: Head) -> Iterator[tuple[Any, ...]]:
    """The sound rows of `code` in a broken file of the same embedder: each is hours of work for somebody's processor."""
    if not path.is_file():
        return
    try:
        with closing(open_tables(path, write=True)) as db:
            old = read_head(db)
            if not isinstance(old, Head) or not is_same(old, head):
                return
            step = (1 << 64) // _SLICES
            for low in range(-(1 << 63), 1 << 63, step):  # a broken page loses its slice, not all that follows
                with suppress(*DAMAGE):
                    sql = "SELECT * FROM code WHERE key >= ? AND key <= ?"
                    for row in db.execute(sql, (low, low + step - 1)):
                        if is_sound_code(row, head.dim):
                            yield row
    except DAMAGE:
        return


def is_same(one: Head, other: Head) -> bool:
    """True for the same embedder; its means another processor may round otherwise."""
    if one[:2] != other[:2]:
        return False
    pairs = zip(chain(*one.means), chain(*other.means), strict=True)
    return all(abs(a - b) <= 1e-4 for a, b in pairs)
