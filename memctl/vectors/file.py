"""The vectors: `.memory/vectors.sqlite`, a file of its own, because embedding takes hours where the index takes seconds.

Derived all the same: delete it at any moment. One embedder's vectors only; those of another are never read beside them.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set as AbstractSet
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import CannotWrite, LockBusy
from ..index.index import Index, code as primary_code
from ..index.lexical import whole_page
from ..markdown.escape import many
from ..notes.files import prepare_memory
from ..notes.workspace import Workspace
from ..system import as_cannot_write, locked
from . import tables
from .models import load_numpy
from .tables import NO_HEAD, Code, Head, PageVectors, Scan, StoredVector

if TYPE_CHECKING:
    from .matrix import Matrix, NeighbourGraph

_WAIT = 10.0  # seconds for another writer
_OTHER = "made for another model meanwhile"
_WHOSE = "SELECT id, page_sum, codes_sum, sum, rows"  # of a page the vectors are


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
    vectors = Vectors(path)
    if not (reason := vectors.reopen()):
        return vectors
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
    with locked(path.with_name("vectors.lock"), _WAIT), as_cannot_write(path):
        tables.remove_tables(path)


class Vectors:
    """An open file of vectors, to ask and to fill. Nothing that is wrong with it stops a recall."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.head = NO_HEAD  # whose they are
        self.problem: str | None = None  # what was found damaged and left out so far, in one line
        self._open: sqlite3.Connection | None = None
        self._inode: tuple[int, ...] | None = None  # which file a reader has open
        self._packs: tuple[object, dict[int, PageVectors]] | None = None  # as of a state of the file
        self._matrix: tuple[object, Matrix] | None = None
        self._asked: tuple[Code, Matrix, Any] | None = None  # the last question, and its cosines
        self._places: dict[int, int] | None = None  # key of a text -> a page that has its vector
        self._replaced: dict[int, Code] = {}  # what `put_page` took off its page: another may have that text now

    def reopen(self) -> str:
        """Open the file at the path to read, of the same model if one was open; or say why that cannot be done.

        Once more where that failed or another took its place: SQLite finds a log by name, and so that of another file.
        """
        for _ in range(2):
            self.close()
            self._inode = _inode(self.path)
            try:
                self._open = tables.open_tables(self.path, write=False)
                head = tables.read_head(self._open)
            except tables.DAMAGE as error:
                head = str(error)
            if isinstance(head, Head) and self._inode == _inode(self.path):
                break
        if isinstance(head, Head) and self.head in (NO_HEAD, head):
            self.head = head
            return ""
        self.close()
        return _OTHER if isinstance(head, Head) else head

    def close(self) -> None:
        """Let go of the file."""
        if self._open:
            with suppress(sqlite3.Error):
                self._open.close()
        self._open = self._packs = self._matrix = self._asked = None

    def encode(self, vector: Sequence[float], script: int) -> Code:
        """A vector of this embedder, without the mean of its script. ValueError for another number of components."""
        load_numpy()
        from .matrix import encode

        return encode(vector, self.head.means[script], script)

    def count(self) -> int:
        """How many vectors the pages have."""
        return sum(pack.size for pack in self.packs().values())

    # -- nearest ------------------------------------------------------------------------------------------------------

    def scan(
        self,
        asked: Code,
        allowed: AbstractSet[int] | None = None,
        limit: int = 100,
        graph: NeighbourGraph | None = None,
    ) -> Scan:
        """The best `limit` entries, of those `allowed` if given: all are compared, or without a filter the `graph` is asked."""
        matrix = self.matrix()
        if len(asked.codes) != self.head.dim:
            self.complain(f"vectors of {self.head.dim} numbers, a question of {len(asked.codes)}", damaged=False)
            return Scan(0.0, 0.0, 0, {}, {})
        if graph and allowed is None and graph.holds(matrix) and (found := graph.search(asked, limit)):
            self._asked = None
            return found
        return matrix.scan(self._products(asked, matrix), allowed, limit)

    def cosines(self, asked: Code, ids: Iterable[int], digests: Mapping[int, int]) -> dict[int, float]:
        """How like the question some entries are; those without a vector, or embedded with another digest, are left out."""
        if len(asked.codes) != self.head.dim:
            return {}
        places = (matrix := self.matrix()).places_of(set(ids), digests)
        return matrix.best(places, self._products(asked, matrix, places), len(places))[0]

    def alike(
        self, one: Iterable[int], other: Iterable[int], digests: Mapping[int, int], least: float
    ) -> list[tuple[int, int]]:
        """Pairs of entries, one of each side, whose cosine is at least so much, of those embedded with these digests.

        The nearest first. All are compared at once: bound both sides.
        """
        matrix = self.matrix()
        return matrix.alike(matrix.places_of(set(one), digests), matrix.places_of(set(other), digests), least)

    def by_script(self, asked: Code) -> dict[int, tuple[float, int]]:
        """Script -> the mean cosine of its vectors with the question, and how many were looked at."""
        matrix = self.matrix()
        places = None if self._asked else matrix.sample
        return matrix.by_script(self._products(asked, matrix, places), places)

    def _products(self, asked: Code, matrix: Matrix, places: Any = None) -> Any:
        """The cosines of all vectors, or of some; all are known once they were compared with the question."""
        if self._asked and self._asked[0] == asked and self._asked[1] is matrix:
            return self._asked[2] if places is None else self._asked[2][places]
        found = matrix.products(asked, places)
        if places is None:
            self._asked = asked, matrix, found
        return found

    def matrix(self, shared: Matrix | None = None) -> Matrix:
        """All sound vectors, in memory: read once (or `shared` by another who did), and after a write what changed."""
        load_numpy()
        from .matrix import Matrix

        state = self._state()
        if self._matrix and self._matrix[0] == state:
            return self._matrix[1]
        before = self._matrix[1] if self._matrix else shared
        kept = before.sums if before and before.codes.shape[1] == self.head.dim else {}
        read: dict[int, tuple[PageVectors, Any]] = {}
        if self._open:
            self._open.create_function("is_kept", 2, lambda page, total: kept.get(page) == total)
        select = f"{_WHOSE}, CASE WHEN is_kept(id, sum) THEN NULL ELSE codes END FROM page"
        for row in self.rows(select, by_ranges=True):
            pack = tables.page_vectors(row)
            if pack and before and row[5] is None and kept.get(pack.page) == pack.sum:
                read[pack.page] = pack, before.codes_of(pack.page)
            elif pack and tables.are_codes(row[5], pack, self.head.dim):
                read[pack.page] = pack, row[5]
            else:
                self.complain()
        if self.problem and self._inode not in (None, _inode(self.path)) and not self.reopen():
            self.problem = None
            return self.matrix(shared)
        if self._open and not self._is_of_its_head():
            self.complain(_OTHER, damaged=False)
            read = {}
        packs = {page: read[page][0] for page in sorted(read)}
        if before and kept and kept == {page: pack.sum for page, pack in packs.items()}:
            matrix = before
        else:
            matrix = Matrix([*packs.values()], b"".join(read[page][1] for page in packs), self.head.dim)
        self._matrix, self._packs = (state, matrix), (state, packs)
        return matrix

    # -- rows of the file ---------------------------------------------------------------------------------------------

    def is_there(self) -> bool:
        """True if the file at its path is the one that is open, of the same model still."""
        return self._inode is not None and self._inode == _inode(self.path) and self._is_of_its_head()

    def _is_of_its_head(self) -> bool:
        with suppress(*tables.DAMAGE):
            return self._open is not None and tables.read_head(self._open) == self.head
        return False

    def _state(self) -> object:
        """Changes with every write to the file, by others or by this connection."""
        return [*self.rows("PRAGMA data_version")], self._open and self._open.total_changes

    def packs(self) -> dict[int, PageVectors]:
        """Whose vectors every sound page has, read once until the next write."""
        state = self._state()
        if not self._packs or self._packs[0] != state:
            read = [tables.page_vectors(row) for row in self.rows(f"{_WHOSE} FROM page", by_ranges=True)]
            if None in read:
                self.complain()
            self._packs = state, {pack.page: pack for pack in read if pack}
        return self._packs[1]

    def codes(self, keys: Iterable[int]) -> dict[int, Code]:
        """The vectors of texts by their keys (ids.text_key), on whatever page they are; those that are not there are left out."""
        if self._places is None:
            self._places = {v.key: pack.page for pack in self.packs().values() for v in pack.vectors()}
        wanted = set(keys)
        found = {key: self._replaced[key] for key in wanted & self._replaced.keys()}
        for page in {self._places[key] for key in (wanted - found.keys()) & self._places.keys()}:
            found |= {key: code for key, code in self._codes_on(page) if key in wanted}
        return found

    def _codes_on(self, page: int) -> Iterator[tuple[int, Code]]:
        for *row, codes in self.rows(f"{_WHOSE}, codes FROM page WHERE id = ?", (page,)):
            if (pack := tables.page_vectors(row)) and tables.are_codes(codes, pack, self.head.dim):
                yield from pack.codes(codes)
            else:
                self.complain()

    def damaged(self) -> list[int]:
        """The pages that are not as they were written."""
        rows = self.rows("SELECT * FROM page", by_ranges=True)
        return [row[0] for row in rows if not tables.is_sound(row, self.head.dim)]

    def rows(self, sql: str, values: Sequence[int] = (), by_ranges: bool = False) -> Iterator[tuple[Any, ...]]:
        """The rows of a read, up to where the file cannot be read; `by_ranges` those of all pages, behind it too."""
        try:
            if self._open and by_ranges:
                yield from tables.read_by_ranges(self._open, sql, self.complain)
            elif self._open:
                yield from self._open.execute(sql, values)
        except tables.DAMAGE as error:
            self.complain("" if tables.is_damage(error) else str(error), tables.is_damage(error))

    def complain(self, reason: str = "", damaged: bool = True) -> None:
        """Remember what was wrong."""
        if not self.problem:
            cure = "; `memctl index` repairs it" if damaged else ""
            self.problem = f"{self.path.name}: {reason or 'damaged in places'}{cure}"

    def missing(self, index: Index) -> Missing:
        """What of the index is not embedded as it stands."""
        wanted = {page: (total, count) for page, total, count in index.rows("SELECT id, rows_sum, embedded FROM page")}
        kept = self.packs()
        stale = [page for page, (total, _) in wanted.items() if page not in kept or kept[page].page_sum != total]
        entries = sum(
            _lacking(index, kept[page]) if page in kept and kept[page].rows else wanted[page][1] for page in stale
        )
        return Missing(tuple(stale), tuple(page for page in kept if page not in wanted), entries)

    # -- writing ----------------------------------------------------------------------------------------------------------

    def begin(self, head: Head) -> None:
        """Make ready for vectors of an embedder; use `begin_vectors`."""
        with locked(self.path.with_name("vectors.lock"), _WAIT), self._telling():
            tables.remove_leftovers(self.path)
            if not self._use(head):
                self.close()
                tables.make_tables(self.path, head)
                self._open, self.head = tables.open_tables(self.path, write=True), head
            if self._open:
                self._open.execute("PRAGMA journal_mode = WAL")

    def _use(self, head: Head) -> bool:
        """True if the file as it stands will do: nothing in it is damaged. The vectors of another embedder go."""
        if self.path.is_symlink() or not os.path.lexists(self.path):
            return False
        try:
            self._open = tables.open_tables(self.path, write=True)
            old = tables.read_head(self._open)
            # What nobody reads may be damaged too, and would stop a write: 1 ms for a thousand vectors.
            if not isinstance(old, Head) or self._open.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
                return False
            if not all(tables.is_sound(row, old.dim) for row in self._open.execute("SELECT * FROM page")):
                return False
            self.head = old
            while not tables.is_same(self.head, head):  # some pages at a time: the log takes little of the disk
                with self.writing() as db:
                    if not db.execute("DELETE FROM page WHERE id IN (SELECT id FROM page LIMIT 100)").rowcount:
                        tables.write_head(db, head)
                        self.head = head
                self.truncate()
            return True
        except tables.DAMAGE as error:
            if not tables.is_damage(error):
                raise
            return False

    @contextmanager
    def _telling(self) -> Iterator[None]:
        """Errors of SQLite and of the disk as ours."""
        try:
            yield
        except (OSError, *tables.DAMAGE) as error:
            if primary_code(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                raise LockBusy(str(self.path), _WAIT) from error
            if tables.is_damage(error):
                raise CannotWrite(str(self.path), f"{error} (the next `memctl index` repairs it)") from error
            place = Path(getattr(error, "filename", None) or self.path)  # or what stands in the way of a new one
            stuck = CannotWrite(str(place), getattr(error, "strerror", None) or str(error))
            if _cure(place):
                stuck.cure = f"remove {place}, then run it again"
            raise stuck from error

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction; within another, a part of it. LockBusy, CannotWrite."""
        if not self._open:
            raise CannotWrite(str(self.path), "not open")
        if self._open.in_transaction:
            yield self._open
            return
        with self._telling():
            self._open.execute("BEGIN IMMEDIATE")
            with self._open:
                yield self._open

    def put_page(self, page: int, page_sum: bytes, rows: Iterable[StoredVector], codes: Mapping[int, Code]) -> bool:
        """Say which vectors a page has, all of them, out of `codes` by the keys of their texts; an empty page has none.

        False if some are not there: the others are found, and the page stays among those that are missing.
        """
        listed = sorted(rows)
        kept = [(row, codes[row.key]) for row in listed if row.key in codes]
        is_whole = len(kept) == len(listed)
        self._replaced |= self._codes_on(page)
        with self.writing() as db:
            values = tables.page_row(page, page_sum if is_whole else b"", kept)
            db.execute("INSERT OR REPLACE INTO page VALUES (?, ?, ?, ?, ?, ?)", values)
        for row, _ in kept:
            self._replaced.pop(row.key, None)
            if self._places is not None:
                self._places[row.key] = page
        return is_whole

    def drop_pages(self, pages: Iterable[int]) -> None:
        """Delete the vectors of some pages."""
        with self.writing() as db:
            db.executemany("DELETE FROM page WHERE id = ?", [(page,) for page in pages])

    def truncate(self) -> str | None:
        """Leave nothing of what was deleted in the log beside the file; or say why not."""
        log = self.path.with_name(self.path.name + "-wal")
        try:
            cut = self._open.execute("PRAGMA wal_checkpoint(TRUNCATE)") if self._open and log.exists() else ()
            return "another process reads the vectors" if any(busy for busy, _, _ in cut) else None
        except (*tables.DAMAGE, OSError) as error:
            return str(error)


def _lacking(index: Index, pack: PageVectors) -> int:
    """How many entries of a page have no vector, or one of what they said before."""
    held = {(row.entry, row.digest) for row in pack.vectors()}
    alone = "role = 'fact'" if any(entry == whole_page(pack.page) for entry, _ in held) else "1"
    sql = f"SELECT id, digest FROM embeddable WHERE page = ? AND {alone}"
    return sum(row not in held for row in index.rows(sql, (pack.page,)))


def _inode(path: Path) -> tuple[int, ...] | None:
    """Which file stands at a path, and its state where SQLite looks at no write (a folder that cannot be written)."""
    with suppress(OSError):
        status = os.stat(path)
        state = () if os.access(path.parent, os.W_OK) else (status.st_size, status.st_mtime_ns)
        return status.st_dev, status.st_ino, *state
    return None


class VectorPool:
    """Keeps a file of vectors open between questions, from any thread, with all of it in memory, and a graph of very many.

    The graph is made in a thread, while all vectors are compared: no question waits for it.
    """

    def __init__(self) -> None:
        self._lock, self._reading = threading.Lock(), threading.Lock()
        self._idle: Vectors | None = None
        self._shared: Matrix | None = None  # what was read last: nothing changes it, so that all questions may have it
        self._graph: NeighbourGraph | None = None
        self._maker = threading.Thread(daemon=True)
        self._is_closed = False

    def take(self, workspace: Workspace, note: Callable[[str], object]) -> Vectors | None:
        """The open file, or, while another question has it, the file opened once more. Whoever gets it gives it back."""
        with self._lock:
            held, self._idle = self._idle, None
        if held and held.is_there():
            return held
        if held:
            held.close()
        return open_vectors(workspace, note)

    def scan(self, vectors: Vectors, most: int, asked: Code, allowed: AbstractSet[int] | None, limit: int) -> Scan:
        """As Vectors.scan; from `most` vectors on by the graph, once there is one of them as they are."""
        with self._reading:  # those who ask at once read the file once
            matrix = self._shared = vectors.matrix(self._shared)
        if len(matrix.keys) < most:
            return vectors.scan(asked, allowed, limit)
        with self._lock:
            graph = self._graph
            if not (graph and graph.holds(matrix)) and not self._maker.is_alive():
                self._maker = threading.Thread(target=self._make, args=(matrix, graph), daemon=True)
                self._maker.start()
        return vectors.scan(asked, allowed, limit, graph)

    def _make(self, matrix: Matrix, before: NeighbourGraph | None) -> None:
        from .matrix import graph_of

        self._graph = graph_of(matrix, before)

    def way(self) -> str | None:
        """How the next question is searched in memory, "hnsw" or "exact"; None while nothing is held."""
        return None if not self._idle else "hnsw" if self._graph else "exact"

    def give_back(self, held: Vectors) -> None:
        """Keep it for the next question, unless something is wrong with the file."""
        with self._lock:
            if not (self._idle or self._is_closed or held.problem):
                self._idle = held
                return
        held.close()

    def close(self) -> None:
        """Let go of what is held."""
        with self._lock:
            held, self._idle, self._graph, self._shared, self._is_closed = self._idle, None, None, None, True
        if held:
            held.close()


class VectorsChecked(NamedTuple):
    """How many vectors and texts were looked at, and what is wrong with them, a line each."""

    vectors: int
    texts: int
    problems: tuple[str, ...]


def verify_vectors(workspace: Workspace) -> VectorsChecked | None:
    """Look at every vector; None where there are none."""
    notes: list[str] = []  # empty where there is no file
    vectors = open_vectors(workspace, notes.append)
    if vectors is None:
        return VectorsChecked(0, 0, tuple(notes)) if notes else None
    with closing(vectors):
        keys = [row.key for pack in vectors.packs().values() for row in pack.vectors()]
        bad = len(vectors.damaged())
        problem = f"{many(bad, 'page is', 'pages are')} damaged" if bad else vectors.problem
        return VectorsChecked(len(keys), len(set(keys)), (problem,) if problem else ())
