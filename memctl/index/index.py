"""The index: pages as rows in SQLite. heal.py opens it, queries/ read it; no other room speaks SQL."""

import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from ..errors import CannotWrite, LockBusy
from ..ids import hasher, page_id
from ..language.names import entity_key, stem_head, stem_key
from .lexical import row_id
from .row import EntityPage, PageRows, Row, link_rows, mention_rows, page_sum, rows_bytes, slot_rows

T = TypeVar("T")
Progress = Callable[..., None]  # told how much is done, out of how much (0: nobody knows), of what part of the work


def silent(*_: object) -> None:
    """Ignores notes and progress."""


NOT_EMBEDDED = ("heading", "rest")  # roles: headings stand with each of their lines, front matter says little

_STORED = Row._fields[:-2]  # the columns of `entry`
SELECT_STORED = ", ".join(f"entry.{name}" for name in _STORED)
SELECT_ROW = (
    f"SELECT {SELECT_STORED}, page.path, words.own || words.aside FROM entry JOIN page ON page.id = entry.page JOIN words ON words.rowid = entry.id "
    "WHERE entry.page = ? ORDER BY entry.id"
)
_MOST_READS, _MOST_KNOWN = 10_000, 50_000  # what a process that stays remembers: 20,000 facts, 90 MB
_PIECE = 4_000  # rows of a page that are held in memory together
_CHUNK = 512  # ids or names in one statement; SQLite takes 32,766 variables, older ones 999

UNCLEAN = 1  # of the number of a file: it holds words that are being forgotten,
LEFTOVERS = 2  # or it may still hold bytes of deleted rows; the bits above tell which lines are hidden from it
_FLAGS = 2


class IndexedFile(NamedTuple):
    """What the index remembers of a page's file. `sha256` is empty for a page that could not be read."""

    path: str
    size: int
    mtime_ns: int
    inode: int
    sha256: bytes
    looked_ns: int
    problem: str | None


class TimeUp(Exception):
    """A read ran past the deadline of `limit_time`."""


class Index:
    """An open index. Reads see one state within `reading`; writes happen inside `writing`."""

    def __init__(self, connection: sqlite3.Connection, path: Path | None, frozen: str | None = None) -> None:
        self._db = connection
        self.path = path
        self.unsealed = False
        self.frozen = frozen  # why nothing can be written to this index, or None
        self.instead: str | None = None  # why this one is held in memory in the place of the file; None for all others
        self.fresh = False  # made just now: it knows no page yet
        self.is_writing = False  # within `writing`
        self.stays = False  # in a process that answers many questions: what is read within `reading` is remembered
        self.lasting: dict[str, Any] = {}  # what such a process keeps for longer: pages with the states of their files
        self._remembered: tuple[tuple[int, int], dict[str, Any]] = ((-1, -1), {})
        # Of the data: within `reading` 0 until it is asked for, then the same to its end; None outside of it.
        self._version: int | None = None

    def close(self) -> None:
        """Let go of the file."""
        with suppress(sqlite3.Error):
            self._db.close()

    @contextmanager
    def writing(self, wait: float = 10.0) -> Iterator[None]:
        """One transaction that takes the write lock at once.

        LockBusy if another writer keeps it longer than `wait`, CannotWrite where the disk is full or read-only.
        """
        self._db.execute(f"PRAGMA busy_timeout = {int(wait * 1000)}")
        try:
            self._db.execute("BEGIN IMMEDIATE")
            self.unsealed = self.is_writing = True
            try:
                yield
                self._db.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):
                    self._db.execute("ROLLBACK")
                raise
            finally:
                self.is_writing = False
        except sqlite3.OperationalError as error:
            if code(error) in _BUSY:
                raise LockBusy(str(self.path), wait) from error
            if is_unwritable(error):
                raise CannotWrite(str(self.path), str(error)) from error
            raise

    @contextmanager
    def bulk(self) -> Iterator[None]:
        """For thousands of pages: fewer checkpoints, a larger heap of words before it is written, one merge at the end.

        Twice as fast as page by page; the words end in one segment, which is what questions like best.
        """
        self._db.execute("PRAGMA wal_autocheckpoint = 20000")
        self._tune_words(hashsize=8 << 20, automerge=16)
        try:
            yield
        finally:
            self._tune_words(hashsize=1 << 20, automerge=4)
            self._db.execute("PRAGMA wal_autocheckpoint = 1000")
        with self.writing():
            self._db.execute("INSERT INTO words (words) VALUES ('optimize')")
        with suppress(sqlite3.OperationalError):  # what was merged leaves a quarter of the file free
            self._db.executescript("PRAGMA incremental_vacuum")  # `execute` would give back one page of it

    def _tune_words(self, **settings: int) -> None:
        """Set FTS5 options. They are kept in the file, so a caller that changes them sets them back."""
        with self.writing():
            for name, value in settings.items():
                self._db.execute("INSERT INTO words (words, rank) VALUES (?, ?)", (name, value))

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Several reads of one and the same state, whatever others write meanwhile."""
        self._db.execute("BEGIN")
        self._version = 0
        try:
            yield
        finally:
            self._version = None
            with suppress(sqlite3.Error):
                self._db.execute("ROLLBACK")

    def limit_time(self, deadline: float) -> None:
        """Interrupt any statement that still runs at `deadline` (time.monotonic); TimeUp then."""
        self._db.set_progress_handler(lambda: int(time.monotonic() > deadline), 20_000)

    @property
    def number(self) -> int:
        """A number that the file keeps for us: whether it is to be cleaned, which lines it lacks; set within `writing`."""
        return int(self._rows("PRAGMA application_id", ())[0][0])

    @number.setter
    def number(self, value: int) -> None:
        """Write it, within `writing`."""
        self._db.execute(f"PRAGMA application_id = {value}")

    @property
    def hides(self) -> int:
        """Which lines are hidden from this index, as a number; 0 for the owner's, from which none is."""
        return self.number >> _FLAGS

    def hide(self, lines: int) -> None:
        """Note that others are hidden from now on: any page may cite them, so each is to be looked at again."""
        self._db.execute("UPDATE page SET looked_ns = 0")
        self.number = lines << _FLAGS | self.number & (UNCLEAN | LEFTOVERS)

    def known(self) -> list[IndexedFile]:
        """Every page that the index knows, by path."""
        rows = self._db.execute("SELECT path, size, mtime_ns, inode, sha256, looked_ns, problem FROM page")
        # By path, which no two share; quicker than SQLite's way through its index.
        return sorted(map(IndexedFile._make, rows))

    def put(
        self, page: PageRows, status: os.stat_result | None, sha256: bytes, looked_ns: int, problem: str | None
    ) -> None:
        """Make the index hold exactly this page; only rows that differ are written."""
        number = self._page_number(page.path)
        shift = row_id(number - page_id(page.path), 0)  # where another path has the same hash
        total, after = hasher(16), row_id(number, 0)
        entries = aside = words = embedded = 0
        rest = iter(page.rows)
        while some := list(islice(rest, _PIECE)):
            some = [row._replace(id=row.id + shift, page=number) for row in some] if shift else some
            start, after = after, some[-1].id + 1
            self._replace_rows(start, after, {row.id: row for row in some})
            total.update(rows_bytes(some))
            entries += len(some)
            aside += sum(row.is_aside for row in some)
            words += sum(row.length for row in some)
            embedded += sum(row.block is None and row.role not in NOT_EMBEDDED for row in some)
        self._replace_rows(after, row_id(number + 1, 0), {})
        names = self._replace_names(number, page.entity)
        about = (page.path, page.day.isoformat() if page.day else None, page.title, entries, aside, words, embedded)
        rows_sum = page_sum((*about, sha256, problem), names, total.digest())
        stat = (status.st_size, status.st_mtime_ns, status.st_ino) if status else (0, 0, 0)
        values = (number, *about, rows_sum, *stat, sha256, looked_ns, problem)
        # Not INSERT OR REPLACE: for it SQLite keeps a way back, for which FTS5 writes down all that it holds.
        self._db.execute("DELETE FROM page WHERE id = ?", (number,))
        self._db.execute(f"INSERT INTO page VALUES ({_question_marks(len(values))})", values)

    def look_again(self, path: str, status: os.stat_result, looked_ns: int) -> None:
        """The file was read again and is the same: remember its new status."""
        self._db.execute(
            "UPDATE page SET size = ?, mtime_ns = ?, inode = ?, looked_ns = ? WHERE path = ?",
            (status.st_size, status.st_mtime_ns, status.st_ino, looked_ns, path),
        )

    def drop(self, path: str) -> None:
        """Forget a page that is gone."""
        number = self._page_number(path)
        self._replace_rows(row_id(number, 0), row_id(number + 1, 0), {})
        self._replace_names(number, None)
        self._db.execute("DELETE FROM page WHERE id = ?", (number,))

    def clear(self) -> None:
        """Forget every page."""
        with self.writing():
            for table in ("words", "entry", "mention", "link", "slot", "naming", "named", "page"):
                self._db.execute(f"DELETE FROM {table}")
        self._db.execute("VACUUM")

    def _page_number(self, path: str) -> int:
        """The page's own number, or the next free one where two paths share a hash (41 bits: hardly ever)."""
        row = self._db.execute("SELECT id FROM page WHERE path = ?", (path,)).fetchone()
        number: int = row[0] if row else page_id(path)
        while not row and self._db.execute("SELECT 1 FROM page WHERE id = ?", (number,)).fetchone():
            number += 1
        return number

    def _replace_rows(self, first: int, after: int, rows: Mapping[int, Row]) -> None:
        """Make these the rows whose ids are from `first` to before `after`."""
        stored = self._db.execute(f"SELECT {SELECT_STORED} FROM entry WHERE id >= ? AND id < ?", (first, after))
        old = {row[0]: row for row in stored}
        # The last two fields of a row are no columns of `entry` (row.py); the very last are the words.
        gone = [row for key, row in old.items() if key not in rows or rows[key][:-2] != row]
        fresh = [row for key, row in rows.items() if old.get(key) != row[:-2]]
        if gone and not self.number & LEFTOVERS:
            self.number |= LEFTOVERS
        run = self._db.executemany
        ids = [(row[0],) for row in gone]
        run("DELETE FROM words WHERE rowid = ?", ids)
        run("DELETE FROM entry WHERE id = ?", ids)
        run("DELETE FROM mention WHERE name = ? AND entry = ?", mention_rows(gone))
        run("DELETE FROM link WHERE target = ? AND relation = ? AND entry = ?", link_rows(gone))
        slots = (row[:4] for row in slot_rows(gone))
        run("DELETE FROM slot WHERE key = ? AND name = ? AND first = ? AND entry = ?", slots)
        run(f"INSERT INTO entry VALUES ({_question_marks(len(_STORED))})", (row[:-2] for row in fresh))
        said = ((row.id, *(("", row.own) if row.is_aside else (row.own, ""))) for row in fresh)
        run("INSERT INTO words (rowid, own, aside) VALUES (?, ?, ?)", said)
        run("INSERT OR IGNORE INTO mention VALUES (?, ?)", mention_rows(fresh))
        run("INSERT OR IGNORE INTO link VALUES (?, ?, ?)", link_rows(fresh))
        run("INSERT INTO slot VALUES (?, ?, ?, ?, ?, ?, ?)", slot_rows(fresh))

    def _replace_names(self, number: int, entity: EntityPage | None) -> list[tuple[Any, ...]]:
        """Make these the names that a page gives to its entity; returns their rows as SELECT_NAMES gives them."""
        self._db.execute("DELETE FROM naming WHERE page = ?", (number,))
        self._db.execute("DELETE FROM named WHERE page = ?", (number,))
        if entity is None:
            return []
        own = (number, entity_key(entity.name), entity.name, entity.type)
        names = {entity_key(name): name for name in (*reversed(entity.aliases), entity.name)}
        aliases = [(number, key, stem_head(name), stem_key(name), name) for key, name in sorted(names.items())]
        self._db.execute("INSERT INTO naming VALUES (?, ?, ?, ?, ?)", (*own, int(entity.is_note)))
        sql = "INSERT INTO named (page, key, head, stem, name, outside) VALUES (?, ?, ?, ?, ?, ?)"
        self._db.executemany(sql, ((*alias, int(entity.is_outside)) for alias in aliases))
        return [own, *aliases]

    def rows(self, sql: str, values: Sequence[Any] | Mapping[str, Any] = ()) -> list[tuple[Any, ...]]:
        """The rows of a read. Statements live in this package; values are always bound."""
        if self.stays and self._version is not None and type(values) is tuple:
            known = self.remembered("rows", dict[tuple[str, tuple[Any, ...]], list[tuple[Any, ...]]])
            if (sql, values) not in known:
                if len(known) >= _MOST_READS:
                    known.clear()
                known[sql, values] = self._rows(sql, values)
            return list(known[sql, values])
        return self._rows(sql, values)

    def _rows(self, sql: str, values: Sequence[Any] | Mapping[str, Any]) -> list[tuple[Any, ...]]:
        if "?1" in sql:  # from Python 3.14 on what is numbered is bound as what has a name
            values = {str(number): value for number, value in enumerate(values, 1)}
        try:
            return self._db.execute(sql, values).fetchall()
        except UnicodeEncodeError:  # a lone surrogate (an argument that is not UTF-8) stands in no page
            return []
        except sqlite3.OperationalError as error:
            if code(error) == sqlite3.SQLITE_INTERRUPT:
                raise TimeUp from error
            raise

    def column(self, sql: str, values: Sequence[Any] | Mapping[str, Any] = ()) -> list[Any]:
        """The first column of a read."""
        return [row[0] for row in self.rows(sql, values)]

    def column_in(self, sql: str, keys: Iterable[Any], first: Sequence[Any] = ()) -> list[Any]:
        """The first column of what `rows_in` gives."""
        return [row[0] for row in self.rows_in(sql, keys, first)]

    def each(self, sql: str) -> Iterator[tuple[Any, ...]]:
        """The rows of a read, one at a time: for more than fits into memory."""
        yield from self._db.execute(sql)

    def run(self, statement: str) -> None:
        """Execute a statement that returns nothing."""
        self._db.execute(statement)

    def rows_in(self, sql: str, keys: Iterable[Any], first: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """The rows of a read whose `{keys}` stands for a list of any length, asked for piece by piece.

        `first` are the values that stand before the list.
        """
        wanted = list(dict.fromkeys(keys))
        if str in set(map(type, wanted)):  # a lone surrogate stands in no page
            wanted = [
                key for key in wanted if not isinstance(key, str) or key.encode("utf-8", "replace").decode() == key
            ]
        found: list[tuple[Any, ...]] = []
        for start in range(0, len(wanted), _CHUNK):
            piece = wanted[start : start + _CHUNK]
            # Few different lengths, so that SQLite finds its statement ready; the last key fills up what is left.
            size = next((size for size in (1, 2, 4, 8, 16, 32) if len(piece) <= size), -(-len(piece) // 64) * 64)
            filling = piece[-1:] * (size - len(piece))
            found += self.rows(sql.replace("{keys}", _question_marks(size)), [*first, *piece, *filling])
        return found

    def cached_each(
        self, name: str, keys: Iterable[int], sql: str, make: Callable[[tuple[Any, ...]], T]
    ) -> dict[int, T]:
        """What `make` makes of the row of each key, the first column of a `rows_in`; keys without a row are left out.

        A process that stays asks once for each.
        """
        wanted = sorted(keys)
        if not self.stays or self._version is None:
            return {row[0]: make(row) for row in self.rows_in(sql, wanted)}
        known = self.remembered(name, dict[int, T | None])
        fresh = [key for key in wanted if key not in known]
        if len(known) + len(fresh) > _MOST_KNOWN:
            known.clear()
            fresh = wanted
        known.update(dict.fromkeys(fresh))  # None for those that have no row
        known.update({row[0]: make(row) for row in self.rows_in(sql, fresh)})
        return {key: value for key in wanted if (value := known[key]) is not None}

    def remembered(self, name: str, make: Callable[[], T]) -> T:
        """What `make` returns, called again only when the index has changed since, by this process or another.

        For what is small and asked for at every question; within `writing` nothing is kept.
        """
        if self.is_writing:
            return make()
        version = self._version or self._rows("PRAGMA data_version", ())[0][0]
        if self._version == 0:
            self._version = version
        state = (version, self._db.total_changes)
        if state != self._remembered[0]:
            self._remembered = state, {}
        kept = self._remembered[1]
        if name not in kept:
            kept[name] = make()
        found: T = kept[name]
        return found


_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_UNWRITABLE = {sqlite3.SQLITE_PERM, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_FULL, sqlite3.SQLITE_CANTOPEN}
# A full disk, told by SQLite as trouble with it where another file than the database, or its size, was at stake.
_FULL = {
    sqlite3.SQLITE_IOERR_WRITE, sqlite3.SQLITE_IOERR_TRUNCATE, sqlite3.SQLITE_IOERR_SHMOPEN, sqlite3.SQLITE_IOERR_SHMSIZE,
    sqlite3.SQLITE_IOERR_SHMMAP,
}  # fmt: skip


def is_unwritable(error: Exception) -> bool:
    """True where a disk is full or read-only: what stands there is whole."""
    found = getattr(error, "sqlite_errorcode", None)
    return found in _FULL or (code(error) in _UNWRITABLE and found != sqlite3.SQLITE_READONLY_DBMOVED)


def code(error: Exception) -> int | None:
    """SQLite's primary result code; None for what Python's module found, such as text that is not UTF-8."""
    found = getattr(error, "sqlite_errorcode", None)
    return None if found is None else found & 0xFF


def _question_marks(count: int) -> str:
    return ", ".join("?" * count)
