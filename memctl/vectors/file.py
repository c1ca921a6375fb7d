"""The vectors: `.memory/vectors.sqlite`, a file of its own, because embedding takes hours where the index takes seconds.

Derived all the same: delete it at any moment. One embedder's vectors only; those of another are never read beside them.
"""

from __future__ import annotations

import os
import sqlite3
import struct
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from ..errors import CannotWrite, LockBusy
from ..index.index import Index, code as primary_code
from ..index.lexical import ORDINAL_BITS, whole_page
from ..notes.files import prepare_memory
from ..notes.workspace import Workspace
from ..system import locked
from . import tables
from .quantized import Code
from .search import VectorReader
from .tables import FoundVector

_WAIT = 10.0  # seconds for another writer
_PUT_CODE = "INSERT OR REPLACE INTO code VALUES (?, ?, ?, ?, ?, ?)"


class Missing(NamedTuple):
    """Pages (ids) not embedded as they stand, packs of pages that are gone, and how many entries lack a vector."""

    pages: tuple[int, ...]
    gone: tuple[int, ...]
    entries: int


def open_vectors(workspace: Workspace, note: Callable[[str], object] = lambda reason: None) -> Vectors | None:
    """The vectors of a workspace. None where there are none, or none that can be used: `note` is told why."""
    path = workspace.derived / "vectors.sqlite"
    if not os.path.lexists(path):
        return None
    db = None
    try:
        db = tables.connect(path, write=False)
        head = tables.read_head(db)
        if isinstance(head, tables.Head):
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
    vectors.begin(tables.Head(embedder_id, dim, tuple(tuple(map(float, mean)) for mean in means)))
    return vectors


def _cure(path: Path) -> str | None:
    """What must be done before `index` can make the file again; None where it can by itself."""
    if path.is_symlink():
        return None
    if path.is_dir():
        return "that folder is removed and `memctl index` has run"
    return None if os.access(path, os.R_OK | os.W_OK) else "it is made readable, or removed, and `memctl index` has run"


def has_vectors(workspace: Workspace) -> bool:
    """True if there is a file of vectors, whatever it is worth."""
    return os.path.lexists(workspace.derived / "vectors.sqlite")


def drop_vectors(workspace: Workspace) -> None:
    """Delete every vector."""
    path = workspace.derived / "vectors.sqlite"
    try:
        for name in ("vectors.broken", "vectors.sqlite"):
            tables.remove(path.with_name(name))
        tables.mark_of(path).unlink(missing_ok=True)
    except OSError as error:
        raise CannotWrite(str(path), error.strerror or str(error)) from error


class Vectors(VectorReader):
    """An open file of vectors, to ask and to fill."""

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

    def begin(self, head: tables.Head) -> None:
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
                tables.remove(broken)
            tables.mark_of(self.path).unlink(missing_ok=True)
            self.problem = None

    def _use(self, head: tables.Head) -> bool:
        """True if the file as it stands will do; vectors of another embedder are deleted then."""
        if self.path.is_symlink():
            self.path.unlink()  # SQLite would follow it out of the workspace
        if not os.path.lexists(self.path) or os.path.lexists(tables.mark_of(self.path)):
            return False
        try:
            self._open = tables.connect(self.path, write=True)
            old = tables.read_head(self._open)
            # A page that nobody reads may be damaged too, and would stop a write: 1 ms for a thousand vectors.
            if not isinstance(old, tables.Head) or self._open.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
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

    def _make(self, head: tables.Head) -> None:
        """A new file, readable by those who may read the index."""
        self._open = tables.connect(self.path, write=True)
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

    def put_pack(self, page: int, page_sum: bytes, rows: Iterable[FoundVector]) -> bool:
        """Say which vectors a page has, all of them, as `put_codes` kept them; an empty page has none.

        False if some are not there: the others are found, and the page stays among those that are missing.
        """
        listed = sorted(rows)
        wanted = {row.key for row in listed}
        width = self.head.dim + 7 >> 3  # of the first plane, which holds the signs
        signs = {row[0]: row[4][:width] for row in self.texts_of(wanted)}
        kept = [row for row in listed if row.key in signs]
        pack = tables.PageVectors(
            page,
            page_sum if len(signs) == len(wanted) else b"",
            struct.pack(f"<{len(kept)}I", *(row.entry & (1 << ORDINAL_BITS) - 1 for row in kept)),
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
            tables.remove(self.path.with_name("vectors.broken"))
            for busy, _, _ in self._open.execute("PRAGMA wal_checkpoint(TRUNCATE)") if self._open else ():
                return "another process reads the vectors" if busy else None
        except (*tables.DAMAGE, OSError) as error:
            return str(error)
        return None


def _lacking(index: Index, pack: tables.PageVectors) -> int:
    """How many entries of a page have no vector, or one of what they said before."""
    held = {(row.entry, row.digest) for row in pack.vectors()}
    alone = "role = 'fact'" if pack.entries()[-1] == whole_page(pack.page) else "1"
    sql = f"SELECT id, digest FROM embeddable WHERE page = ? AND {alone}"
    return sum(row not in held for row in index.rows(sql, (pack.page,)))
