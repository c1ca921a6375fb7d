"""All vectors in memory, for a process that stays: compared by numpy, or by a graph (hnswlib) where there are very many.

A single command never gains: to load them takes longer than to look at every vector in the file. What the quick search of
the file misses is told by comparing it with all of them.
"""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Set as AbstractSet
from contextlib import closing, suppress
from typing import Any, NamedTuple, Self

from ..errors import MemctlError
from ..ids import page_id
from ..index.lexical import row_id
from ..markdown.escape import many
from ..notes.workspace import Workspace
from .file import Scan, Vectors, inode, open_vectors
from .models import one_thread
from .quantized import Code, codes_of
from .tables import DAMAGE, read_pack

MOST_BYTES = 4 << 30  # A graph that would take more memory is not made
_ROWS = 4096  # multiplied at a time: what fits into the processor's cache as 32-bit numbers
_M, _BUILD, _SEARCH = 16, 200, 600  # links a node, how far to look when one is added, and when one is asked for
_FEW = 256  # texts that are added while somebody waits for an answer
_CHANGED = 0.1  # of all texts: beyond that it is built again
_SAMPLE = 1024
_TROUBLE = (MemctlError, OSError, RuntimeError, ValueError, MemoryError, ImportError, *DAMAGE)
"""What the file, numpy or the graph may raise while they are loaded."""


class Matrix:
    """Codes by key, and the vectors of entries as rows that point to them."""

    def __init__(self, codes: Any, keys: Any, norms: Any, rows: Any) -> None:
        self.codes, self.keys, self.norms = codes, keys, norms  # int8 [m, dim]; int64 [m], rising; float64 [m]
        self.entries, self.digests, self.places = rows  # of each vector: entry, its digest, its place among the codes

    @classmethod
    def load(cls, vectors: Vectors) -> Self:
        """All that is sound in a file, as of one moment. ImportError without numpy."""
        one_thread()
        import numpy as np

        dim = vectors.head.dim
        keys, norms, planes = [], [], bytearray()
        with vectors.one_state():
            packs = list(vectors.packs().values())
            for row in vectors.texts():
                keys.append(row[0])
                norms.append(row[2])
                planes += row[4]
        order = np.argsort(np.array(keys, np.int64), kind="stable")
        sorted_keys = np.array(keys, np.int64)[order]
        codes = _from_planes(np.frombuffer(bytes(planes), np.uint8).reshape(len(keys), 8, dim + 7 >> 3)[order], dim)
        pages = np.repeat(np.array([pack.page for pack in packs], np.int64), [pack.rows for pack in packs])
        ordinals = np.frombuffer(b"".join([pack.ordinals for pack in packs]), "<u4").astype(np.int64)
        digests = np.frombuffer(b"".join([pack.digests for pack in packs]), "<i8").astype(np.int64)
        named = np.frombuffer(b"".join([pack.keys for pack in packs]), "<i8").astype(np.int64)
        places = np.searchsorted(sorted_keys, named)
        there = places < len(sorted_keys)
        there[there] = sorted_keys[places[there]] == named[there]
        ids: Any = row_id(pages, ordinals)  # of each
        rows = ids[there], digests[there], places[there]
        return cls(codes, sorted_keys, np.array(norms, np.float64)[order], rows)

    def products(self, asked: Code, places: Any = None) -> Any:
        """The cosine of every code, or of some. 32-bit floats hold these sums of whole numbers exactly."""
        import numpy as np

        wanted = np.frombuffer(asked.codes, np.int8).astype(np.float32)
        codes, norms = (self.codes, self.norms) if places is None else (self.codes[places], self.norms[places])
        found = np.empty(len(codes), np.float64)
        for start in range(0, len(codes), _ROWS):
            found[start : start + _ROWS] = codes[start : start + _ROWS].astype(np.float32) @ wanted
        lengths = norms * asked.norm
        return np.divide(found, lengths, out=np.zeros_like(found), where=lengths > 0)

    def scan(self, asked: Code, allowed: AbstractSet[int] | None, limit: int) -> Scan:
        """The best `limit` entries, of those `allowed` if given."""
        import numpy as np

        found = self.products(asked)[self.places]
        about = (float(found.mean()), float(found.std()), len(found)) if len(found) else (0.0, 0.0, 0)
        chosen = np.arange(len(found))
        if allowed is not None:
            chosen = np.flatnonzero(np.isin(self.entries, np.fromiter(allowed, np.int64, len(allowed))))
        return Scan(*about, *self.best(chosen, found[chosen], limit))

    def best(self, chosen: Any, found: Any, limit: int) -> tuple[dict[int, float], dict[int, int]]:
        """The best entries of some vectors: entry -> cosine, entry -> digest."""
        import numpy as np

        wanted = limit
        while True:  # an entry may have many vectors
            near = np.arange(len(found))
            if wanted < len(found):
                near = np.flatnonzero(found >= np.partition(found, -wanted)[-wanted])
            order = near[np.lexsort((self.entries[chosen[near]], -found[near]))]
            cosines: dict[int, float] = {}
            digests: dict[int, int] = {}
            for place in order:
                entry = int(self.entries[chosen[place]])
                if entry not in cosines and len(cosines) < limit:
                    cosines[entry] = float(found[place])
                    digests[entry] = int(self.digests[chosen[place]])
            if len(cosines) >= limit or wanted >= len(found):
                return cosines, digests
            wanted *= 4


def _from_planes(planes: Any, dim: int) -> Any:
    import numpy as np

    codes = np.empty((len(planes), dim), np.uint8)
    for start in range(0, len(planes), _ROWS):
        bits = np.unpackbits(planes[start : start + _ROWS], axis=2)[:, :, -dim:]
        codes[start : start + _ROWS] = sum(bits[:, 7 - bit] << bit for bit in range(8))
    return (codes ^ 128).view(np.int8)


class NeighbourGraph:
    """An hnswlib index whose labels are the keys of the texts; built by one thread in their order: equal vectors, equal graph."""

    def __init__(self, matrix: Matrix) -> None:
        """ImportError without hnswlib."""
        import hnswlib

        self._built, dim = matrix.codes.shape
        self._index = hnswlib.Index(space="ip", dim=dim)
        self._index.init_index(self._built + max(1024, self._built // 10), M=_M, ef_construction=_BUILD, random_seed=1)
        self._add(matrix, range(self._built))
        self._match(matrix)

    def _add(self, matrix: Matrix, places: Any) -> None:
        import numpy as np

        chosen = np.asarray(places, np.int64)
        for start in range(0, len(chosen), 10_000):
            piece = chosen[start : start + 10_000]
            norms = np.maximum(matrix.norms[piece], 1.0).astype(np.float32)
            units = matrix.codes[piece].astype(np.float32) / norms[:, None]
            self._index.add_items(units, matrix.keys[piece].view(np.uint64), num_threads=1)

    def _match(self, matrix: Matrix) -> None:
        """Which vectors each text has, now that the graph holds the texts of this matrix."""
        import numpy as np

        self._keys = matrix.keys
        self._order = np.argsort(matrix.places, kind="stable")
        self._starts = np.searchsorted(matrix.places[self._order], np.arange(len(matrix.keys) + 1))

    def follow(self, matrix: Matrix) -> bool:
        """Take in what changed. False if that is too much for now."""
        import numpy as np

        fresh = np.flatnonzero(~np.isin(matrix.keys, self._keys, assume_unique=True))
        gone = self._keys[~np.isin(self._keys, matrix.keys, assume_unique=True)]
        if len(fresh) > _FEW or len(fresh) + len(gone) > _CHANGED * self._built:
            return False
        if self._index.get_current_count() + len(fresh) > self._index.get_max_elements():
            return False
        for key in gone.view(np.uint64):
            self._index.mark_deleted(int(key))
        self._add(matrix, fresh)
        self._match(matrix)
        return True

    def search(self, asked: Code, limit: int, matrix: Matrix) -> Scan | None:
        """The best entries; None if the graph gives none."""
        import numpy as np

        count = min(len(self._keys), max(2 * limit, 20))
        self._index.set_ef(max(_SEARCH, count))
        wanted = np.frombuffer(asked.codes, np.int8).astype(np.float32)
        try:
            labels, _ = self._index.knn_query(wanted / max(asked.norm, 1.0), k=count, num_threads=1)
        except RuntimeError:  # a graph whose parts hang together too loosely for so many
            return None
        near = np.searchsorted(matrix.keys, labels[0].view(np.int64))
        some = np.arange(min(_SAMPLE, len(matrix.keys)))
        cosines = matrix.products(asked, np.concatenate([near, some]))
        vectors = [self._order[self._starts[place] : self._starts[place + 1]] for place in near]
        chosen = np.concatenate(vectors)
        found = np.repeat(cosines[: len(near)], [len(rows) for rows in vectors])
        sample = cosines[len(near) :]
        about = float(sample.mean()), float(sample.std()), len(matrix.places)
        return Scan(*about, *matrix.best(chosen, found, limit))


class LoadedVectors(NamedTuple):
    """An open file of vectors, all of it in memory as it stood at `state`, and a graph of that where one is worth it."""

    vectors: Vectors
    matrix: Matrix
    graph: NeighbourGraph | None
    state: tuple[object, object]

    @property
    def how(self) -> str:
        """What a search without a filter goes by: "hnsw" or "exact"."""
        return "hnsw" if self.graph else "exact"

    def is_current(self) -> bool:
        """True if the file is as it was."""
        return self.state == _state_of(self.vectors)

    def scan(self, asked: Code, allowed: AbstractSet[int] | None, limit: int) -> Scan:
        """The best `limit` entries, as Vectors.scan gives them; the cosines are exact in either case."""
        if len(asked.codes) != self.matrix.codes.shape[1]:
            return self.vectors.scan(asked, allowed, limit)  # which says so
        found = self.graph.search(asked, limit, self.matrix) if self.graph and allowed is None else None
        return found or self.matrix.scan(asked, allowed, limit)


def _state_of(vectors: Vectors) -> tuple[object, object]:
    return vectors.state(), inode(vectors.path)


def hold(workspace: Workspace, before: LoadedVectors | None = None) -> LoadedVectors | None:
    """Load the vectors as they stand, and from `hnsw_from` texts on a graph of them (a minute for 200,000 texts).

    Goes on with the graph of before, if few texts changed. None without vectors, `_TROUBLE` where they cannot be loaded.
    """
    vectors = open_vectors(workspace)
    if vectors is None:
        return None
    try:
        state, matrix = _state_of(vectors), Matrix.load(vectors)
    except _TROUBLE:
        vectors.close()
        raise
    graph = before.graph if before and before.vectors.head == vectors.head else None
    count, dim = matrix.codes.shape
    if count < workspace.settings.hnsw_from or count * (4 * dim + 12 * _M + 64) > MOST_BYTES:
        graph = None
    else:
        try:
            graph = graph if graph and graph.follow(matrix) else NeighbourGraph(matrix)
        except (ImportError, RuntimeError, MemoryError):
            graph = None
    return LoadedVectors(vectors, matrix, graph, state)


class VectorPool:
    """Holds the vectors of a workspace between questions, from any thread.

    They are loaded from the second question on, and after a write, in a thread: no question waits. None without numpy.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: LoadedVectors | None = None
        self._is_out = False  # taken by a question, or being loaded
        self._was_asked = False
        self._is_useless = False  # without numpy, with a file that cannot be loaded, or closed
        self._loader: threading.Thread | None = None

    def take(self, workspace: Workspace) -> LoadedVectors | None:
        """All vectors in memory as the file has them now; None where they are not, and the caller opens the file itself.

        Whoever gets them gives them back.
        """
        with self._lock:
            first, self._was_asked = not self._was_asked, True
            if first or self._is_out or self._is_useless:
                return None
            held, self._idle, self._is_out = self._idle, None, True
        if held and held.is_current():
            return held
        self._loader = threading.Thread(target=self._load, args=(workspace, held), daemon=True)
        self._loader.start()
        return None

    def way(self) -> str | None:
        """How the next question is searched in memory, "hnsw" or "exact"; None while nothing is held."""
        with self._lock:
            return self._idle.how if self._idle and self._idle.is_current() else None

    def give_back(self, held: LoadedVectors | None) -> None:
        """Keep them for the next question, unless something is wrong with the file."""
        with self._lock:
            self._is_out = False
            if held and not held.vectors.problem and not self._is_useless:
                self._idle, held = held, None
        if held:
            held.vectors.close()

    def _load(self, workspace: Workspace, before: LoadedVectors | None) -> None:
        held = None
        try:
            held = hold(workspace, before)
        except _TROUBLE:  # nobody would hear of it in this thread, and questions open the file themselves
            self._is_useless = True
        finally:
            if before:
                before.vectors.close()
            self.give_back(held)

    def wait(self) -> None:
        """Until nothing is being loaded."""
        if self._loader:
            self._loader.join()

    def close(self) -> None:
        """Let go of what is held, and of what is being loaded once it is there."""
        with self._lock:
            held, self._idle, self._is_useless = self._idle, None, True
        if held:
            with suppress(Exception):
                held.vectors.close()


# -- every vector looked at, and what the quick search misses of them --------------------------------------------------

_FIRST = 10  # recall@10
_SECONDS = 10.0  # in which vectors are asked to be checked
_MARGIN = 1e-9  # of two that are equally like the question either will do


class VectorsChecked(NamedTuple):
    """How many vectors and texts were looked at, and what was found."""

    vectors: int
    texts: int
    problems: tuple[str, ...]  # what is wrong, one line each
    asked: int  # stored vectors that were asked for their neighbours, each without itself
    recall: float | None  # recall@10 over these; None where nothing could be asked


def verify_vectors(workspace: Workspace) -> VectorsChecked | None:
    """None where there are no vectors. Ten seconds at most for the questions."""
    notes: list[str] = []  # empty where there is no file
    vectors = open_vectors(workspace, notes.append)
    if vectors is None:
        return VectorsChecked(0, 0, tuple(notes), 0, None) if notes else None
    with closing(vectors):
        return check_vectors(vectors, {page_id(page.path): page.path for page in workspace.scan()})


def check_vectors(vectors: Vectors, paths: Mapping[int, str], most: int = 100) -> VectorsChecked:
    """Check sums, names and signs; then ask up to `most` stored vectors, for ten seconds. `paths` name the pages."""
    rows = {row[0]: row for row in vectors.texts()}
    damaged = sum(1 for _ in vectors.rows("SELECT key FROM code")) - len(rows)
    problems = [f"{many(damaged, 'text is', 'texts are')} damaged"] if damaged else []
    packs = [read_pack(row, vectors.head.dim) for row in vectors.rows("SELECT * FROM pack")]
    sound = [pack for pack in packs if pack]
    if len(sound) < len(packs):
        problems.append(f"{many(len(packs) - len(sound), 'page is', 'pages are')} damaged")
    width = vectors.head.dim + 7 >> 3
    for pack in sound:
        held = pack.all_keys()
        page = paths.get(pack.page, "a page that is gone")
        lost = sum(key not in rows for key in held)
        if lost:
            problems.append(f"{page}: {many(lost, 'vector is', 'vectors are')} not there")
        elif pack.signs != b"".join([rows[key][4][:width] for key in held]):
            problems.append(f"{page}: the stored signs do not match its vectors")
    if problems:
        vectors.complain()
    keys = [key for pack in sound for key in pack.all_keys()]
    spread = list(dict.fromkeys(keys[:: max(1, len(keys) // most)]))[:most]
    asked, recall = _recall(vectors, rows, spread)
    return VectorsChecked(len(keys), len(rows), tuple(problems), asked, recall)


def _recall(vectors: Vectors, rows: dict[int, tuple[Any, ...]], keys: Iterable[int]) -> tuple[int, float | None]:
    """How many were asked, and the share of the true ten that the search finds."""
    try:
        matrix = Matrix.load(vectors)
    except ImportError:
        matrix = None
    entries = defaultdict[int, set[int]](set)  # key of a text -> the entries that have its vector
    for pack in vectors.packs().values():
        for entry, key, _ in pack.vectors():
            entries[key].add(entry)
    deadline = time.monotonic() + _SECONDS
    shares: list[float] = []
    for key in keys:
        if key not in rows or (shares and time.monotonic() > deadline):
            continue
        _, script, norm, _, planes, _ = rows[key]
        code = Code(script, norm, codes_of(planes, vectors.head.dim))
        own = entries.get(key, set())
        wanted = _FIRST + len(own)
        exact = matrix.scan(code, None, wanted) if matrix else vectors.scan(code, None, wanted, exact=True)
        true = [value for entry, value in exact.cosines.items() if entry not in own][:_FIRST]
        found = [value for entry, value in vectors.scan(code, None, wanted).cosines.items() if entry not in own]
        if true:
            shares.append(sum(value >= true[-1] - _MARGIN for value in found[: len(true)]) / len(true))
    return len(shares), sum(shares) / len(shares) if shares else None
