"""The index: pages as rows in SQLite. heal.py opens it, questions.py reads it; no other module speaks SQL."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields
from operator import attrgetter
from pathlib import Path
from typing import Any

from ..core.rows import ORDINAL_BITS, PageRows, Row, page_id
from ..errors import LockBusy
from ..text.names import entity_key, stem_key

__all__ = ["Index", "Known", "rows_sum"]

_STORED = tuple(f.name for f in fields(Row))[:-1]  # `own`, the last, lives in the table `words`
_astuple = attrgetter(*_STORED, "own")
SELECT_STORED = ", ".join(f"entry.{name}" for name in _STORED)
SELECT_ROW = (
    f"SELECT {SELECT_STORED}, words.own FROM entry JOIN words ON words.rowid = entry.id "
    f"WHERE entry.id >= (?1 << {ORDINAL_BITS}) AND entry.id < ((?1 + 1) << {ORDINAL_BITS}) ORDER BY entry.id"
)
_CHUNK = 500  # ids or names in one statement; SQLite takes 32,766 variables, older ones 999


@dataclass(frozen=True, slots=True)
class Known:
    """What the index remembers of a page's file. `sha256` is empty for a page that could not be read."""

    path: str
    size: int
    mtime_ns: int
    inode: int
    sha256: bytes
    looked_ns: int
    problem: str | None


class Index:
    """An open index. Reads see one state within `reading`; writes happen inside `writing`."""

    def __init__(self, connection: sqlite3.Connection, path: Path | None, frozen: str | None = None) -> None:
        self._db = connection
        self.path = path
        self.unsealed = False
        self.frozen = frozen
        """Why nothing can be written to this index, or None."""

    # -- life ---------------------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Let go of the file."""
        with suppress(sqlite3.Error):
            self._db.close()

    @contextmanager
    def writing(self, wait: float = 10.0) -> Iterator[None]:
        """One transaction that takes the write lock at once; LockBusy if another writer keeps it longer than `wait`."""
        self._db.execute(f"PRAGMA busy_timeout = {int(wait * 1000)}")
        try:
            self._db.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            if "locked" in str(error) or "busy" in str(error):
                raise LockBusy(str(self.path), wait) from error
            raise
        try:
            yield
        except BaseException:
            with suppress(sqlite3.Error):
                self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")
        self.unsealed = True

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Several reads of one and the same state, whatever others write meanwhile."""
        self._db.execute("BEGIN")
        try:
            yield
        finally:
            with suppress(sqlite3.Error):
                self._db.execute("ROLLBACK")

    def limit_time(self, deadline: float) -> None:
        """Interrupt any statement that still runs at `deadline` (time.monotonic); sqlite3.OperationalError then."""
        self._db.set_progress_handler(lambda: int(time.monotonic() > deadline), 20_000)

    # -- pages --------------------------------------------------------------------------------------------------------

    def known(self) -> list[Known]:
        """Every page that the index knows, by path."""
        rows = self._db.execute(
            "SELECT path, size, mtime_ns, inode, sha256, looked_ns, problem FROM page ORDER BY path"
        )
        # SQLite orders by bytes and Python by code points: the same for UTF-8.
        return [Known(*row) for row in rows]

    def put(self, page: PageRows, status: os.stat_result, sha256: bytes, looked_ns: int, problem: str | None) -> None:
        """Make the index hold exactly this page; only rows that differ are written."""
        number = self._page_number(page.path)
        rows = {row[0]: row for row in map(_astuple, page.rows)}
        if number != page_id(page.path):  # another path has the same hash: shift the ids
            shift = (number - page_id(page.path)) << ORDINAL_BITS
            rows = {key + shift: (key + shift, *row[1:]) for key, row in rows.items()}
        self._replace_rows(number, rows)
        self._replace_entity(number, page)
        total = sum(row.length for row in page.rows)
        stat = (status.st_size, status.st_mtime_ns, status.st_ino)
        day = page.day.isoformat() if page.day else None
        values = (number, page.path, day, page.title, len(rows), total, rows_sum(rows.values()), *stat, sha256, looked_ns, problem)
        self._db.execute(f"INSERT OR REPLACE INTO page VALUES ({_marks(len(values))})", values)

    def put_unreadable(self, path: str, status: os.stat_result | None, problem: str, looked_ns: int) -> None:
        """Keep a row that says why a page could not be read, and none of its entries."""
        number = self._page_number(path)
        self._replace_rows(number, {})
        self._db.execute("DELETE FROM entity WHERE page = ?", (number,))
        self._db.execute("DELETE FROM alias WHERE page = ?", (number,))
        stat = (status.st_size, status.st_mtime_ns, status.st_ino) if status else (0, 0, 0)
        values = (number, path, None, path, 0, 0, rows_sum(()), *stat, b"", looked_ns, problem)
        self._db.execute(f"INSERT OR REPLACE INTO page VALUES ({_marks(len(values))})", values)

    def look_again(self, path: str, status: os.stat_result, looked_ns: int) -> None:
        """The file was read again and is the same: remember its new status."""
        self._db.execute(
            "UPDATE page SET size = ?, mtime_ns = ?, inode = ?, looked_ns = ? WHERE path = ?",
            (status.st_size, status.st_mtime_ns, status.st_ino, looked_ns, path),
        )

    def drop(self, path: str) -> None:
        """Forget a page that is gone."""
        number = self._page_number(path)
        self._replace_rows(number, {})
        for table, column in (("entity", "page"), ("alias", "page"), ("page", "id")):
            self._db.execute(f"DELETE FROM {table} WHERE {column} = ?", (number,))

    def clear(self) -> None:
        """Forget every page."""
        with self.writing():
            for table in ("words", "entry", "mention", "link", "slot", "entity", "alias", "page"):
                self._db.execute(f"DELETE FROM {table}")
        self._db.execute("VACUUM")

    def _page_number(self, path: str) -> int:
        """The page's own number, or the next free one where two paths share a hash (41 bits: hardly ever)."""
        number = page_id(path)
        while True:
            row = self._db.execute("SELECT path FROM page WHERE id = ?", (number,)).fetchone()
            if row is None or row[0] == path:
                return number
            number += 1

    def _replace_rows(self, number: int, rows: Mapping[int, tuple[Any, ...]]) -> None:
        low, high = number << ORDINAL_BITS, (number + 1) << ORDINAL_BITS
        old = {
            row[0]: row
            for row in self._db.execute(f"SELECT {SELECT_STORED} FROM entry WHERE id >= ? AND id < ?", (low, high))
        }
        gone = [row for key, row in old.items() if key not in rows or rows[key][:-1] != row]
        fresh = [row for key, row in rows.items() if old.get(key) != row[:-1]]
        self._delete(gone)
        self._insert(fresh)

    def _delete(self, rows: Sequence[tuple[Any, ...]]) -> None:
        ids = [(row[0],) for row in rows]
        run = self._db.executemany
        run("DELETE FROM words WHERE rowid = ?", ids)
        run("DELETE FROM entry WHERE id = ?", ids)
        run("DELETE FROM mention WHERE name = ? AND entry = ?", _turned(rows, "names"))
        run("DELETE FROM link WHERE relation = ? AND target = ? AND entry = ?", _turned(rows, "links"))
        run("DELETE FROM slot WHERE key = ? AND name = ? AND entry = ?", _slots(rows))

    def _insert(self, rows: Sequence[tuple[Any, ...]]) -> None:
        run = self._db.executemany
        run(f"INSERT INTO entry VALUES ({_marks(len(_STORED))})", (row[:-1] for row in rows))
        run("INSERT INTO words (rowid, own) VALUES (?, ?)", ((row[0], row[-1]) for row in rows))
        run("INSERT OR IGNORE INTO mention VALUES (?, ?)", _turned(rows, "names"))
        run("INSERT OR IGNORE INTO link (relation, target, entry) VALUES (?, ?, ?)", _turned(rows, "links"))
        run("INSERT INTO slot VALUES (?, ?, ?)", _slots(rows))

    def _replace_entity(self, number: int, page: PageRows) -> None:
        self._db.execute("DELETE FROM entity WHERE page = ?", (number,))
        self._db.execute("DELETE FROM alias WHERE page = ?", (number,))
        if page.entity:
            entity = page.entity
            self._db.execute("INSERT INTO entity VALUES (?, ?, ?, ?)", (number, entity_key(entity.name), entity.name, entity.type))
            names = {entity_key(name): (stem_key(name), name) for name in (*reversed(entity.aliases), entity.name)}
            rows = ((key, number, stem, name) for key, (stem, name) in names.items())
            self._db.executemany("INSERT INTO alias VALUES (?, ?, ?, ?)", rows)

    # -- questions ----------------------------------------------------------------------------------------------------

    def rows(self, sql: str, values: Sequence[Any] | Mapping[str, Any] = ()) -> list[tuple[Any, ...]]:
        """The rows of a read. Statements live in this package; values are always bound."""
        return self._db.execute(sql, values).fetchall()

    def each(self, sql: str) -> Iterator[tuple[Any, ...]]:
        """The rows of a read, one at a time: for more than fits into memory."""
        yield from self._db.execute(sql)

    def run(self, statement: str) -> None:
        """Execute a statement that returns nothing."""
        self._db.execute(statement)

    def rows_in(self, sql: str, keys: Iterable[Any]) -> list[tuple[Any, ...]]:
        """The rows of a read whose `{keys}` stands for a list of any length, asked for piece by piece."""
        wanted = list(dict.fromkeys(keys))
        found: list[tuple[Any, ...]] = []
        for start in range(0, len(wanted), _CHUNK):
            piece = wanted[start : start + _CHUNK]
            found += self._db.execute(sql.replace("{keys}", _marks(len(piece))), piece).fetchall()
        return found


def rows_sum(rows: Iterable[tuple[Any, ...]]) -> bytes:
    """16 bytes over all rows of a page, in order, as they are stored with their terms."""
    return hashlib.blake2b(repr([tuple(row) for row in rows]).encode("utf-8", "replace"), digest_size=16).digest()


def _marks(count: int) -> str:
    return ", ".join("?" * count)


_NAMES, _LINKS, _SLOT, _BLOCK = (_STORED.index(name) for name in ("names", "links", "slot", "block"))


def _turned(rows: Sequence[tuple[Any, ...]], column: str) -> Iterator[tuple[Any, ...]]:
    """The lines of a list column, each with the id of its row."""
    place = _NAMES if column == "names" else _LINKS
    for row in rows:
        for line in row[place].split("\n") if row[place] else ():
            yield (*(line.split(" ", 1) if column == "links" else (line,)), row[0])


def _slots(rows: Sequence[tuple[Any, ...]]) -> Iterator[tuple[str, str, int]]:
    """(key, subject, id) of the rows that fill a slot; a copy in a managed block fills none."""
    for row in rows:
        if row[_SLOT] is not None and row[_BLOCK] is None:
            yield row[_SLOT], row[_NAMES].split("\n", 1)[0], row[0]
