"""The vectors: `.memory/vectors.sqlite`, a file of its own, because embedding takes hours where the index takes seconds.

Derived all the same: delete it at any moment. One embedder's vectors only; those of another are never read beside them.
"""

from __future__ import annotations

import os
import sqlite3
import struct
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import CannotWrite, LockBusy
from ..ids import page_id
from ..index.index import Index
from ..index.lexical import ORDINAL_BITS
from ..markdown.escape import many
from ..notes.files import prepare_memory
from ..notes.system import locked
from ..notes.workspace import Workspace
from .quantized import Code, CodeQuery, codes_of
from .search import VectorReader
from .tables import (
    DAMAGE,
    Head,
    PageVectors,
    clear_mark,
    code_row,
    connect,
    create,
    is_damage,
    is_marked,
    is_sound_code,
    leave_mark,
    means_agree,
    move_aside,
    read_head,
    read_pack,
    remove,
    salvage,
    write_head,
)

_WAIT = 10.0  # seconds for another writer


class PackRow(NamedTuple):
    """One vector of a page: whose it is (low bits of entry.id), entry.digest when embedded, key of the embedded text."""

    ordinal: int
    digest: int
    key: int


class Missing(NamedTuple):
    """Pages (ids) not embedded as they stand, packs of pages that are gone, and how many entries lack a vector."""

    pages: tuple[int, ...]
    gone: tuple[int, ...]
    entries: int


def open_vectors(
    workspace: Workspace, *, write: bool = False, resident: bool = False, note: Callable[[str], None] | None = None
) -> Vectors | None:
    """The vectors of a workspace. None where there are none, or none that can be used: `note` is told why.

    With `write` never None: call `begin` next, which makes a new file where there is none, or a broken one. A `resident`
    process keeps all of them in memory if numpy is there, and its answers are exact.
    """
    path = workspace.derived / "vectors.sqlite"
    if write:
        prepare_memory(workspace)
        return Vectors(path, None, None, resident)
    if not os.path.lexists(path):
        return None
    db = None
    try:
        db = connect(path, write=False)
        head = read_head(db)
        if isinstance(head, Head):
            return Vectors(path, db, head, resident)
        reason = head
    except DAMAGE as error:
        reason = str(error)
    if db:
        db.close()
    if note:
        note(f"{path.name}: {reason}; answers are by words until {_cure(path) or '`memctl index` makes it again'}")
    return None


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
            remove(path.with_name(name))
        clear_mark(path)
    except OSError as error:
        raise CannotWrite(str(path), error.strerror or str(error)) from error


class Vectors(VectorReader):
    """An open file of vectors, to ask and to fill."""

    def missing(self, index: Index) -> Missing:
        """What of the index is not embedded as it stands."""
        wanted = {page: (total, count) for page, total, count in index.rows("SELECT id, rows_sum, embedded FROM page")}
        kept = self._all_packs()
        stale = [page for page, (total, _) in wanted.items() if page not in kept or kept[page].page_sum != total]
        entries = sum(
            _lacking(index, page, kept[page]) if page in kept and kept[page].rows else wanted[page][1] for page in stale
        )
        if is_marked(self.path):
            self.complain()
        return Missing(tuple(stale), tuple(page for page in kept if page not in wanted), entries)

    # -- writing ------------------------------------------------------------------------------------------------------

    def begin(self, embedder_id: str, dim: int, means: Sequence[Sequence[float]]) -> None:
        """Make ready for vectors of an embedder. Those of another go; a damaged file is repaired, or made again from what
        is sound in it. CannotWrite, LockBusy.
        """
        embedder_id = embedder_id.encode("utf-8", "replace").decode()  # as it is read again
        head = Head(embedder_id, dim, tuple(tuple(map(float, mean)) for mean in means))
        with locked(self.path.with_name("vectors.lock"), _WAIT), self._telling():
            if not self._use(head):
                self._make_again(head)
            self._take_over()
            clear_mark(self.path)
            self.problem = None

    def _use(self, head: Head) -> bool:
        """True if the file as it stands will do, now that what was damaged in it is gone."""
        self.close()
        try:
            if self.path.is_symlink():
                self.path.unlink()  # SQLite would follow it out of the workspace
            is_new = not os.path.lexists(self.path)
            self._open = connect(self.path, write=True)
            if is_new:
                self._fill(head)
                return True
            old = read_head(self._open)
            if not isinstance(old, Head):
                return False
            self._head = old
            if old[:2] != head[:2] or not means_agree(old.means, head.means):
                with self._transaction():
                    for table in ("pack", "code", "meta"):
                        self._run(f"DELETE FROM {table}")
                    write_head(self._open, head)
                self._head = head
            # A page that nobody reads may be damaged too, and would stop a write: 1 ms for a thousand vectors.
            whole: bool = self._open.execute("PRAGMA quick_check(1)").fetchone() == ("ok",)
            if whole and is_marked(self.path):
                self._delete_unsound_rows()
            return whole
        except DAMAGE as error:
            if not is_damage(error):
                raise
            return False

    def _fill(self, head: Head) -> None:
        """Make the tables of a new file, readable by those who may read the index."""
        assert self._open
        with suppress(OSError):
            os.chmod(self.path, os.stat(self.path.with_name("index.sqlite")).st_mode & 0o666)
        create(self._open)
        self._head = head
        with self._transaction():
            write_head(self._open, head)

    def _delete_unsound_rows(self) -> None:
        """Delete the rows that are not as they were written; their pages are missing then."""
        assert self._open
        rows = self._open.execute("SELECT * FROM code")
        keys = {row[0]: is_sound_code(row, self.dim) for row in rows}
        with self._transaction():
            self._open.executemany("DELETE FROM code WHERE key = ?", [(k,) for k, sound in keys.items() if not sound])
            for row in self._open.execute("SELECT * FROM pack").fetchall():
                pack = read_pack(row, self.dim)
                if not pack or not all(keys.get(key) for key in pack.all_keys()):
                    self._run("DELETE FROM pack WHERE page = ?", row[0])

    def _make_again(self, head: Head) -> None:
        self.close()
        if os.path.lexists(self.path):
            move_aside(self.path)
        self._open = connect(self.path, write=True)
        self._fill(head)

    def _take_over(self) -> None:
        """What is sound in a broken file that was set aside, now or before a kill; then that goes."""
        broken = self.path.with_name("vectors.broken")
        if not self._open or not self._head or not any(self.path.parent.glob("vectors.broken*")):
            return
        with self._transaction():
            self._open.executemany("INSERT OR IGNORE INTO code VALUES (?, ?, ?, ?, ?, ?)", salvage(broken, self._head))
        remove(broken)

    @contextmanager
    def _telling(self) -> Iterator[None]:
        """Errors of SQLite and of the disk as ours."""
        try:
            yield
        except DAMAGE as error:
            if getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                raise LockBusy(str(self.path), _WAIT) from error
            if is_damage(error):
                leave_mark(self.path)
                raise CannotWrite(str(self.path), f"{error} (the next `memctl index` repairs it)") from error
            raise self._stuck(str(error)) from error
        except OSError as error:
            raise self._stuck(error.strerror or str(error)) from error

    def _stuck(self, reason: str) -> CannotWrite:
        error = CannotWrite(str(self.path), reason)
        if _cure(self.path):
            error.cure = f"remove {self.path}, then run it again"
        return error

    @contextmanager
    def writing(self) -> Iterator[None]:
        """One transaction; within another, a part of it. LockBusy, CannotWrite."""
        if not self._open:
            raise CannotWrite(str(self.path), "not open")
        if self._open.in_transaction:
            yield
            return
        with self._telling(), self._transaction():
            yield

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        assert self._open
        self._open.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._open.execute("COMMIT")
        except BaseException:
            with suppress(sqlite3.Error):
                self._open.execute("ROLLBACK")
            raise

    def _run(self, statement: str, *values: object) -> None:
        assert self._open
        self._open.execute(statement, values)

    def _run_all(self, statement: str, rows: Iterable[tuple[object, ...]]) -> None:
        with self.writing():
            assert self._open
            self._open.executemany(statement, rows)

    def known(self, keys: Iterable[int]) -> set[int]:
        """Those texts that are embedded already."""
        return {row[0] for row in self._codes(set(keys))}

    def take(self, keys: Collection[int], workspace: Workspace) -> None:
        """Keep what the owner's file has of these texts, where this is that of a public view."""
        kept = open_vectors(workspace) if keys and self.path != workspace.derived / self.path.name else None
        if kept:
            with closing(kept):
                if kept._head == self._head:
                    self._run_all("INSERT OR REPLACE INTO code VALUES (?, ?, ?, ?, ?, ?)", kept._codes(set(keys)))

    def put_codes(self, codes: Mapping[int, Code]) -> None:
        """Keep vectors by the key of their text (core.vectors.text_key)."""
        rows = [code_row(key, code) for key, code in codes.items()]
        self._run_all("INSERT OR REPLACE INTO code VALUES (?, ?, ?, ?, ?, ?)", rows)

    def put_pack(self, page: int, page_sum: bytes, rows: Iterable[PackRow]) -> bool:
        """Say which vectors a page has, all of them, as `put_codes` kept them; an empty page has none.

        False if some are not there: the others are found, and the page stays among those that are missing.
        """
        listed = sorted(rows)
        wanted = {row.key for row in listed}
        width = self.dim + 7 >> 3  # of the first plane, which holds the signs
        signs = {row[0]: row[4][:width] for row in self._codes(wanted)}
        kept = [row for row in listed if row.key in signs]
        pack = PageVectors(
            page,
            page_sum if len(signs) == len(wanted) else b"",
            struct.pack(f"<{len(kept)}I", *(row.ordinal for row in kept)),
            struct.pack(f"<{len(kept)}q", *(row.digest for row in kept)),
            struct.pack(f"<{len(kept)}q", *(row.key for row in kept)),
            b"".join([signs[row.key] for row in kept]),
        )
        self._run_all("INSERT OR REPLACE INTO pack VALUES (?, ?, ?, ?, ?, ?, ?)", [pack.row()])
        return len(signs) == len(wanted)

    def drop_packs(self, pages: Iterable[int]) -> None:
        """Forget which vectors some pages had."""
        self._run_all("DELETE FROM pack WHERE page = ?", [(page,) for page in pages])

    def sweep(self) -> int:
        """Delete the vectors that no page has; returns how many there were. Only after a complete pass."""
        named = {key for pack in self._all_packs().values() for key in pack.all_keys()}
        gone = [(key,) for (key,) in self._rows("SELECT key FROM code") if key not in named]
        if gone:
            self._run_all("DELETE FROM code WHERE key = ?", gone)
        return len(gone)

    def truncate(self) -> str | None:
        """Leave nothing of what was deleted, in the log beside the file or in a file made from it; or say why not."""
        try:
            remove(self.path.with_name("vectors.broken"))
            for busy, _, _ in self._open.execute("PRAGMA wal_checkpoint(TRUNCATE)") if self._open else ():
                return "another process reads the vectors" if busy else None
        except (*DAMAGE, OSError) as error:
            return str(error)
        return None


def _lacking(index: Index, page: int, pack: PageVectors) -> int:
    """How many entries of a page have no vector, or one of what they said before."""
    low = page << ORDINAL_BITS
    held = {(low | ordinal, digest) for ordinal, digest in zip(pack.all_ordinals(), pack.all_digests(), strict=True)}
    sql = "SELECT id, digest FROM embeddable WHERE page = ?"
    return sum(row not in held for row in index.rows(sql, (page,)))


_FIRST = 10  # recall@10
_MARGIN = 1e-9  # of two that are equally like the question either will do


class VectorsChecked(NamedTuple):
    """How many vectors and texts were looked at, what is wrong (one line each), and recall@10 over `asked` questions.

    `recall` is None where nothing could be asked. The questions are stored vectors themselves, each without itself.
    """

    vectors: int
    texts: int
    problems: tuple[str, ...]
    asked: int
    recall: float | None


def verify_vectors(workspace: Workspace) -> VectorsChecked | None:
    """None where there are no vectors. Ten seconds at most for the questions."""
    if not has_vectors(workspace):
        return None
    notes: list[str] = []
    vectors = open_vectors(workspace, note=notes.append)
    if vectors is None:
        return VectorsChecked(0, 0, tuple(notes), 0, None)
    with closing(vectors):
        return check_vectors(vectors, paths={page_id(page.path): page.path for page in workspace.scan()})


def check_vectors(
    vectors: Vectors, most: int = 100, seconds: float = 10.0, paths: Mapping[int, str] | None = None
) -> VectorsChecked:
    """Check sums, names and signs; then ask up to `most` stored vectors, for so long. `paths` name the pages."""
    rows = {row[0]: row for row in vectors.texts()}  # what is not sound is said below, with its number
    damaged = vectors.total_rows() - len(rows)
    problems = [f"{many(damaged, 'text is', 'texts are')} damaged"] if damaged else []
    packs = [read_pack(row, vectors.dim) for row in vectors.pages()]
    sound = [pack for pack in packs if pack]
    if len(sound) < len(packs):
        problems.append(f"{many(len(packs) - len(sound), 'page is', 'pages are')} damaged")
    width = vectors.dim + 7 >> 3
    for pack in sound:
        keys = pack.all_keys()
        page = (paths or {}).get(pack.page, "a page that is gone")
        lost = sum(key not in rows for key in keys)
        if lost:
            problems.append(f"{page}: {many(lost, 'vector is', 'vectors are')} not there")
        elif pack.signs != b"".join([rows[key][4][:width] for key in keys]):
            problems.append(f"{page}: signs that are not those of its vectors")
    if problems:
        vectors.complain()
    asked, recall = _recall(
        vectors, rows, _spread_out([key for pack in sound for key in pack.all_keys()], most), seconds
    )
    return VectorsChecked(sum(pack.rows for pack in sound), len(rows), tuple(problems), asked, recall)


def _spread_out(keys: list[int], most: int) -> list[int]:
    """Some of them, from all pages, none twice."""
    return list(dict.fromkeys(keys[:: max(1, len(keys) // most)]))[:most]


def _recall(
    vectors: Vectors, rows: dict[int, tuple[Any, ...]], keys: Iterable[int], seconds: float
) -> tuple[int, float | None]:
    """How many were asked, and the share of the true ten that the search finds."""
    matrix = vectors.matrix(load=True)
    entries = _entries(vectors)
    deadline = time.monotonic() + seconds
    shares: list[float] = []
    for key in keys:
        if key not in rows or (shares and time.monotonic() > deadline):
            continue
        _, script, norm, _, planes, _ = rows[key]
        code = Code(script, norm, codes_of(planes, vectors.dim))
        own = entries.get(key, set())
        wanted = _FIRST + len(own)
        exact = matrix.scan(code, None, wanted).cosines if matrix else _compared(code, rows, entries, wanted)
        true = [value for entry, value in exact.items() if entry not in own][:_FIRST]
        found = [value for entry, value in vectors.scan(code, None, wanted).cosines.items() if entry not in own]
        if true:
            shares.append(sum(value >= true[-1] - _MARGIN for value in found[: len(true)]) / len(true))
    return len(shares), sum(shares) / len(shares) if shares else None


def _entries(vectors: Vectors) -> dict[int, set[int]]:
    """Key of a text -> the entries that have its vector."""
    found: dict[int, set[int]] = {}
    for entry, key, _ in vectors.named():
        found.setdefault(key, set()).add(entry)
    return found


def _compared(
    code: Code, rows: dict[int, tuple[Any, ...]], entries: dict[int, set[int]], limit: int
) -> dict[int, float]:
    """All compared, without numpy."""
    asked = CodeQuery(code)
    best: dict[int, float] = {}
    for key, owners in entries.items():
        value = asked.cosine(*rows[key][2:5]) if key in rows else -2.0
        for entry in owners:
            if value > best.get(entry, -2.0):
                best[entry] = value
    return dict(sorted(best.items(), key=lambda pair: (-pair[1], pair[0]))[:limit])
