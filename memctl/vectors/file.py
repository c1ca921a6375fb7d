"""The vectors: `.memory/vectors.sqlite`, a file of its own, because embedding takes hours where the index takes seconds.

Derived all the same: delete it at any moment. One embedder's vectors only; those of another are never read beside them.
"""

from __future__ import annotations

import os
import sqlite3
import struct
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import CannotWrite, LockBusy, MemctlError
from ..ids import page_id
from ..index.index import Index
from ..index.lexical import ORDINAL_BITS
from ..markdown.escape import many
from ..notes.files import prepare_memory
from ..notes.settings import Settings
from ..notes.workspace import Workspace
from ..system import locked
from . import tables
from .matrix import Matrix, NeighbourGraph, Scan
from .quantized import Code, CodeQuery, codes_of
from .search import VectorReader
from .tables import DAMAGE

_WAIT = 10.0  # seconds for another writer
_FIRST = 10  # recall@10
_SECONDS = 10.0  # in which vectors are asked to be checked
_MARGIN = 1e-9  # of two that are equally like the question either will do


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
        db = tables.connect(path, write=False)
        head = tables.read_head(db)
        if isinstance(head, tables.Head):
            return Vectors(path, db, head, resident)
        reason = head
    except tables.DAMAGE as error:
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
            tables.remove(path.with_name(name))
        tables.clear_mark(path)
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
        if tables.is_marked(self.path):
            self.complain()
        return Missing(tuple(stale), tuple(page for page in kept if page not in wanted), entries)

    def begin(self, embedder_id: str, dim: int, means: Sequence[Sequence[float]]) -> None:
        """Make ready for vectors of an embedder. Those of another go; a damaged file is repaired, or made again from what
        is sound in it. CannotWrite, LockBusy.
        """
        embedder_id = embedder_id.encode("utf-8", "replace").decode()  # as it is read again
        head = tables.Head(embedder_id, dim, tuple(tuple(map(float, mean)) for mean in means))
        with locked(self.path.with_name("vectors.lock"), _WAIT), self._telling():
            if not self._use(head):
                self.close()
                if os.path.lexists(self.path):
                    tables.move_aside(self.path)
                self._open = tables.connect(self.path, write=True)
                self._fill(head)
            self._take_over()
            tables.clear_mark(self.path)
            self.problem = None

    def _use(self, head: tables.Head) -> bool:
        """True if the file as it stands will do, now that what was damaged in it is gone."""
        self.close()
        try:
            if self.path.is_symlink():
                self.path.unlink()  # SQLite would follow it out of the workspace
            is_new = not os.path.lexists(self.path)
            self._open = tables.connect(self.path, write=True)
            if is_new:
                self._fill(head)
                return True
            old = tables.read_head(self._open)
            if not isinstance(old, tables.Head):
                return False
            self._head = old
            if old[:2] != head[:2] or not tables.means_agree(old.means, head.means):
                with self._transaction():
                    for table in ("pack", "code", "meta"):
                        self._run(f"DELETE FROM {table}")
                    tables.write_head(self._open, head)
                self._head = head
            # A page that nobody reads may be damaged too, and would stop a write: 1 ms for a thousand vectors.
            whole: bool = self._open.execute("PRAGMA quick_check(1)").fetchone() == ("ok",)
            if whole and tables.is_marked(self.path):
                self._delete_unsound_rows()
            return whole
        except tables.DAMAGE as error:
            if not tables.is_damage(error):
                raise
            return False

    def _fill(self, head: tables.Head) -> None:
        """Make the tables of a new file, readable by those who may read the index."""
        assert self._open
        with suppress(OSError):
            os.chmod(self.path, os.stat(self.path.with_name("index.sqlite")).st_mode & 0o666)
        tables.create(self._open)
        self._head = head
        with self._transaction():
            tables.write_head(self._open, head)

    def _delete_unsound_rows(self) -> None:
        """Delete the rows that are not as they were written; their pages are missing then."""
        assert self._open
        rows = self._open.execute("SELECT * FROM code")
        keys = {row[0]: tables.is_sound_code(row, self.dim) for row in rows}
        with self._transaction():
            self._open.executemany("DELETE FROM code WHERE key = ?", [(k,) for k, sound in keys.items() if not sound])
            for row in self._open.execute("SELECT * FROM pack").fetchall():
                pack = tables.read_pack(row, self.dim)
                if not pack or not all(keys.get(key) for key in pack.all_keys()):
                    self._run("DELETE FROM pack WHERE page = ?", row[0])

    def _take_over(self) -> None:
        """What is sound in a broken file that was set aside, now or before a kill; then that goes."""
        broken = self.path.with_name("vectors.broken")
        if not self._open or not self._head or not any(self.path.parent.glob("vectors.broken*")):
            return
        with self._transaction():
            self._open.executemany(
                "INSERT OR IGNORE INTO code VALUES (?, ?, ?, ?, ?, ?)", tables.salvage(broken, self._head)
            )
        tables.remove(broken)

    @contextmanager
    def _telling(self) -> Iterator[None]:
        """Errors of SQLite and of the disk as ours."""
        try:
            yield
        except tables.DAMAGE as error:
            if getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                raise LockBusy(str(self.path), _WAIT) from error
            if tables.is_damage(error):
                tables.leave_mark(self.path)
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
            self._run("PRAGMA user_version = 1")  # until `sweep`, so that a stop before it is seen

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
        """Keep vectors by the key of their text (ids.text_key)."""
        rows = [tables.code_row(key, code) for key, code in codes.items()]
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
        pack = tables.PageVectors(
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
        if gone or not self.swept:
            with self.writing():
                self._run_all("DELETE FROM code WHERE key = ?", gone)
                self._run("PRAGMA user_version = 0")
        return len(gone)

    @property
    def swept(self) -> bool:
        """False if something was written since the last `sweep`: a text that no page has may be left."""
        return list(self._rows("PRAGMA user_version")) == [(0,)]

    def truncate(self) -> str | None:
        """Leave nothing of what was deleted, in the log beside the file or in a file made from it; or say why not."""
        try:
            tables.remove(self.path.with_name("vectors.broken"))
            for busy, _, _ in self._open.execute("PRAGMA wal_checkpoint(TRUNCATE)") if self._open else ():
                return "another process reads the vectors" if busy else None
        except (*tables.DAMAGE, OSError) as error:
            return str(error)
        return None


def _lacking(index: Index, page: int, pack: tables.PageVectors) -> int:
    """How many entries of a page have no vector, or one of what they said before."""
    low = page << ORDINAL_BITS
    held = {(low | ordinal, digest) for ordinal, digest in zip(pack.all_ordinals(), pack.all_digests(), strict=True)}
    sql = "SELECT id, digest FROM embeddable WHERE page = ?"
    return sum(row not in held for row in index.rows(sql, (page,)))


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


def check_vectors(vectors: Vectors, most: int = 100, paths: Mapping[int, str] | None = None) -> VectorsChecked:
    """Check sums, names and signs; then ask up to `most` stored vectors, for ten seconds. `paths` name the pages."""
    rows = {row[0]: row for row in vectors.texts()}  # what is not sound is said below, with its number
    damaged = sum(1 for _ in vectors._rows("SELECT key FROM code")) - len(rows)
    problems = [f"{many(damaged, 'text is', 'texts are')} damaged"] if damaged else []
    packs = [tables.read_pack(row, vectors.dim) for row in vectors._rows("SELECT * FROM pack")]
    sound = [pack for pack in packs if pack]
    if len(sound) < len(packs):
        problems.append(f"{many(len(packs) - len(sound), 'page is', 'pages are')} damaged")
    width = vectors.dim + 7 >> 3
    for pack in sound:
        held = pack.all_keys()
        page = (paths or {}).get(pack.page, "a page that is gone")
        lost = sum(key not in rows for key in held)
        if lost:
            problems.append(f"{page}: {many(lost, 'vector is', 'vectors are')} not there")
        elif pack.signs != b"".join([rows[key][4][:width] for key in held]):
            problems.append(f"{page}: signs that are not those of its vectors")
    if problems:
        vectors.complain()
    keys = [key for pack in sound for key in pack.all_keys()]
    spread = list(dict.fromkeys(keys[:: max(1, len(keys) // most)]))[:most]
    asked, recall = _recall(vectors, rows, spread)
    return VectorsChecked(sum(pack.rows for pack in sound), len(rows), tuple(problems), asked, recall)


def _recall(vectors: Vectors, rows: dict[int, tuple[Any, ...]], keys: Iterable[int]) -> tuple[int, float | None]:
    """How many were asked, and the share of the true ten that the search finds."""
    matrix = vectors.matrix(load=True)
    entries = defaultdict[int, set[int]](set)  # key of a text -> the entries that have its vector
    for entry, key, _ in vectors.named():
        entries[key].add(entry)
    deadline = time.monotonic() + _SECONDS
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


CROSSOVER = Settings().hnsw_from
"""Texts from which to compare all takes longer than to embed the question (14 ms); the graph takes 2 (bench/nearest.py)."""
MOST_BYTES = 4 << 30  # A graph that would take more memory is not made
_TROUBLE = (MemctlError, OSError, RuntimeError, ValueError, MemoryError, ImportError, *DAMAGE)
"""What the file, numpy or the graph may raise while they are loaded."""


class Nearest:
    """The neighbours of a question among the vectors of a resident process.

    `prepare` builds the graph (a minute for 200,000 texts; it may run in a thread). Before it has, without the package, below
    `at_least` texts, with a filter, or after anything went wrong (`problem`), the search is exact.
    """

    def __init__(self, vectors: Vectors, at_least: int | None = None) -> None:
        self.problem: str | None = None
        self.vectors = vectors
        self._at_least = CROSSOVER if at_least is None else at_least
        self._graph: NeighbourGraph | None = None

    @property
    def how(self) -> str:
        """What the next search without a filter goes by: "hnsw" or "exact"."""
        matrix = self.vectors.matrix()
        return "hnsw" if matrix and self._agrees(matrix) else "exact"

    def renew(self, vectors: Vectors) -> None:
        """Go on with the same file of vectors, opened again; the graph is kept if it is of the same embedder."""
        if (vectors.embedder_id, vectors.dim) != (self.vectors.embedder_id, self.vectors.dim):
            self._graph = None
        if self._graph:
            self._graph.state = None  # counted again through another connection
        self.vectors.close()
        self.vectors = vectors

    def scan(self, asked: Code, allowed: Collection[int] | None = None, limit: int = 100) -> Scan:
        """The best `limit` entries, as Vectors.scan gives them; the cosines are exact in either case."""
        matrix = self.vectors.matrix()
        if allowed is None and matrix and len(asked.codes) == matrix.dim and self._agrees(matrix) and self._graph:
            found = self._graph.search(asked, limit, matrix)
            if found:
                return found
        return self.vectors.scan(asked, allowed, limit)

    def prepare(self) -> bool:
        """Have a graph of the vectors as they stand; False where the search is exact."""
        matrix = self.vectors.matrix()
        if not matrix or len(matrix.keys) < self._at_least or matrix.graph_bytes > MOST_BYTES:
            return False
        if not self._agrees(matrix):
            try:
                self._graph = NeighbourGraph(matrix)
            except ImportError:
                return False
            except (RuntimeError, MemoryError) as error:
                self._fail(error)
        return self._agrees(matrix)

    def _fail(self, error: Exception) -> None:
        self._graph = None
        self.problem = f"no graph of the vectors: {' '.join(str(error).split())[:200]}; the search is exact instead"

    def _agrees(self, matrix: Matrix) -> bool:
        """True for a graph of these vectors, once the few that came or went since are."""
        if self._graph is None or len(matrix.keys) < self._at_least:
            return False
        try:
            if not self._graph.follow(matrix):
                self._graph = None
        except RuntimeError as error:
            self._fail(error)
        return self._graph is not None


class VectorPool:
    """Holds `Vectors(resident=True)` and their graph between questions, from any thread.

    They are loaded from the second question on, and again after a write, in a thread of their own: no question waits for
    that. Without numpy nothing is ever held.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: Nearest | None = None
        self._is_out = False  # taken by a question, or being loaded
        self._was_asked = self._is_closed = self._is_useless = False
        self._loader: threading.Thread | None = None

    def take(self, workspace: Workspace) -> Nearest | None:
        """All vectors in memory as the file has them now; None where they are not, and the caller opens the file itself.

        Whoever gets them gives them back.
        """
        with self._lock:
            first, self._was_asked = not self._was_asked, True
            if first or self._is_out or self._is_closed or self._is_useless:
                return None
            held, self._idle, self._is_out = self._idle, None, True
        if held and held.vectors.is_loaded():
            return held
        self._loader = threading.Thread(target=self._load, args=(workspace, held), daemon=True)
        self._loader.start()
        return None

    def way(self) -> str | None:
        """How the next question is searched in memory, "hnsw" or "exact"; None while nothing is held."""
        with self._lock:
            return self._idle.how if self._idle and self._idle.vectors.is_loaded() else None

    def give_back(self, held: Nearest | None) -> None:
        """Keep them for the next question, unless something is wrong with the file."""
        with self._lock:
            self._is_out = False
            if held and not held.vectors.problem and not self._is_closed:
                self._idle, held = held, None
        if held:
            held.vectors.close()

    def _load(self, workspace: Workspace, held: Nearest | None) -> None:
        try:
            vectors = open_vectors(workspace, resident=True)
            if vectors is None:
                return
            if held:
                held.renew(vectors)
            else:
                held = Nearest(vectors, workspace.settings.hnsw_from)
            self._is_useless = vectors.matrix() is None
            if not self._is_closed:
                held.prepare()
        except _TROUBLE:  # nobody would hear of it in this thread, and questions open the file themselves
            self._is_useless = True
        finally:
            if self._is_useless and held:
                held.vectors.close()
                held = None
            self.give_back(held)

    def wait(self) -> None:
        """Until nothing is being loaded."""
        if self._loader:
            self._loader.join()

    def close(self) -> None:
        """Let go of what is held, and of what is being loaded once it is there."""
        with self._lock:
            held, self._idle, self._is_closed = self._idle, None, True
        if held:
            with suppress(Exception):
                held.vectors.close()
