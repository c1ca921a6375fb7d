"""Nearest neighbours by a graph (hnswlib), for a process that stays and has very many vectors; exact in all other cases.

A single command never gains: to open the graph takes longer than to look at every vector. Its file `.memory/vectors.hnsw`
is derived from the vectors and checked before it is loaded, because hnswlib takes the process down over a damaged one.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import CannotWrite, LockBusy
from ..notes.system import OPEN_SAFELY, locked
from .quantized import Code
from .search import Scan
from .tables import remove_graph

if TYPE_CHECKING:
    from .file import Vectors
    from .search import Matrix

CROSSOVER = 150_000
"""Texts from which to compare all takes longer than to embed the question (14 ms); the graph takes 2 (bench/nearest.py)."""
_FORMAT = 1
_M, _BUILD, _SEARCH = 16, 200, 600  # links a node, how far to look when one is added, and when one is asked for
_FEW = 256  # texts that are added while somebody waits for an answer
_CHANGED = 0.1  # of all texts: beyond that it is built again
_SAMPLE = 1024
MOST_BYTES = 4 << 30
"""A graph that would take more memory is not made."""


class Nearest:
    """The neighbours of a question among the vectors of a resident process.

    `prepare` loads or builds the graph (minutes for a million texts; it may run in a thread). Before it has, without the
    package, below `at_least` texts, with a filter, or after anything went wrong (`problem`), the search is exact.
    """

    def __init__(self, vectors: Vectors, at_least: int | None = None) -> None:
        self.problem: str | None = None
        self.vectors = vectors
        self._at_least = CROSSOVER if at_least is None else at_least
        self._file = vectors.path.with_name("vectors.hnsw")
        self._graph: _HnswGraph | None = None

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
            self._graph.forget_state()
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
        """Have a graph of the vectors as they stand: loaded if the file fits them, else built and saved. False: exact."""
        matrix = self.vectors.matrix()
        if not matrix or len(matrix.keys) < self._at_least or _memory_of(matrix) > MOST_BYTES:
            return False
        try:
            import hnswlib  # noqa: F401
        except ImportError:
            return False
        if self._agrees(matrix):
            return True
        try:
            with locked(self._file.with_name("hnsw.lock"), 0):
                loaded = _HnswGraph.load(self._file, self.vectors.embedder_id, matrix)
                self._graph = loaded or _HnswGraph.build(matrix)
                if not loaded:
                    self._graph.save(self._file, self.vectors.embedder_id)
                    if not self.vectors.is_loaded():  # a text of it may have been forgotten meanwhile
                        remove_graph(self._file.parent)
        except LockBusy:  # another process is at it
            self._graph = _HnswGraph.build(matrix)
        except (CannotWrite, OSError, RuntimeError, MemoryError) as error:
            self.problem = f"{self._file.name}: {' '.join(str(error).split())[:200]}; the search is exact instead"
        return self._agrees(matrix)

    def _agrees(self, matrix: Matrix) -> bool:
        """True for a graph of these vectors, once the few that came or went since are."""
        if self._graph is None or len(matrix.keys) < self._at_least:
            return False
        try:
            if not self._graph.follow(matrix):
                self._graph = None
        except RuntimeError as error:
            self._graph = None
            self.problem = f"{self._file.name}: {error}; the search is exact instead"
        return self._graph is not None


def _memory_of(matrix: Matrix) -> int:
    """About what a graph of these vectors takes."""
    return len(matrix.keys) * (4 * matrix.dim + 12 * _M + 64)


class _HnswGraph:
    """An hnswlib index whose labels are the keys of the texts."""

    def __init__(self, index: Any, keys: Any) -> None:
        self._index = index
        self._keys = keys  # int64, rising: what is in it and not deleted
        self._state: tuple[int, int] | None = None
        self._built = len(keys)
        self._order: Any = None
        self._starts: Any = None

    @classmethod
    def build(cls, matrix: Matrix) -> _HnswGraph:
        """From nothing, by one thread and in the order of keys: equal vectors give an equal graph."""
        import hnswlib

        index = hnswlib.Index(space="ip", dim=matrix.dim)
        index.init_index(_room(len(matrix.keys)), M=_M, ef_construction=_BUILD, random_seed=1)
        graph = cls(index, matrix.keys)
        graph._add(matrix, range(len(matrix.keys)))
        index.set_ef(_SEARCH)
        return graph

    def _add(self, matrix: Matrix, places: Any) -> None:
        import numpy as np

        chosen = np.asarray(places, np.int64)
        for start in range(0, len(chosen), 10_000):
            piece = chosen[start : start + 10_000]
            self._index.add_items(_units(matrix, piece), matrix.keys[piece].view(np.uint64), num_threads=1)

    def follow(self, matrix: Matrix) -> bool:
        """Take in what changed. False if that is too much for now."""
        import numpy as np

        if self._state == matrix.state:
            return True
        fresh = np.flatnonzero(~np.isin(matrix.keys, self._keys, assume_unique=True))
        gone = self._keys[~np.isin(self._keys, matrix.keys, assume_unique=True)]
        if len(fresh) > _FEW or len(fresh) + len(gone) > _CHANGED * self._built:
            return False
        if self._index.get_current_count() + len(fresh) > self._index.get_max_elements():
            return False
        for key in gone.view(np.uint64):
            self._index.mark_deleted(int(key))
        self._add(matrix, fresh)
        self._keys = matrix.keys
        self._order = np.argsort(matrix.places, kind="stable")
        self._starts = np.searchsorted(matrix.places[self._order], np.arange(len(matrix.keys) + 1))
        self._state = matrix.state
        return True

    def forget_state(self) -> None:
        """The next vectors are read through another connection, whose states are counted again."""
        self._state = None

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

    # -- the file -----------------------------------------------------------------------------------------------------

    def save(self, path: Path, embedder_id: str) -> None:
        """Write the graph, then what it has to look like."""
        fresh = path.with_name(path.name + ".new")
        with suppress(FileNotFoundError):
            fresh.unlink()
        try:
            self._index.save_index(str(fresh))
            with suppress(OSError):
                os.chmod(fresh, os.stat(path.with_name("vectors.sqlite")).st_mode & 0o666)
            total = _file_sum(fresh)
            _state_file(path).unlink(missing_ok=True)
            fresh.replace(path)
        finally:
            fresh.unlink(missing_ok=True)
        state = _state(embedder_id, self._keys, self._index.dim) | {"size": path.stat().st_size, "sum": total}
        fd = os.open(_state_file(path), os.O_WRONLY | os.O_CREAT | os.O_EXCL | OPEN_SAFELY, 0o666)
        with open(fd, "w", encoding="ascii") as stream:
            json.dump(state, stream)

    @classmethod
    def load(cls, path: Path, embedder_id: str, matrix: Matrix) -> _HnswGraph | None:
        """From the file, if it is to the last byte as it was saved and holds these very texts, give or take a few."""
        import hnswlib
        import numpy as np

        kept = _read_state(path)
        expected = _state(embedder_id, matrix.keys, matrix.dim)
        if not kept or any(kept.get(name) != expected[name] for name in ("format", "embedder", "dim", "links")):
            return None
        size, count = kept.get("size"), kept.get("count")
        if not isinstance(size, int) or not isinstance(count, int):
            return None
        try:
            if path.stat().st_size != size or size > MOST_BYTES or _file_sum(path) != kept.get("sum"):
                return None
        except OSError:
            return None
        index = hnswlib.Index(space="ip", dim=matrix.dim)
        index.load_index(str(path), max_elements=_room(count))
        index.set_ef(_SEARCH)
        keys = np.sort(np.array(index.get_ids_list(), np.uint64).view(np.int64))
        if _key_sum(keys) != kept.get("keys"):
            return None
        graph = cls(index, keys)
        return graph if graph.follow(matrix) else None


def _room(count: int) -> int:
    return count + max(1024, count // 10)


def _units(matrix: Matrix, places: Any) -> Any:
    import numpy as np

    norms = np.maximum(matrix.norms[places], 1.0).astype(np.float32)
    return matrix.codes[places].astype(np.float32) / norms[:, None]


def _state(embedder_id: str, keys: Any, dim: int) -> dict[str, object]:
    return {
        "format": _FORMAT, "embedder": embedder_id, "dim": dim, "links": [_M, _BUILD], "count": len(keys), "keys": _key_sum(keys),
    }  # fmt: skip


def _key_sum(keys: Any) -> str:
    from hashlib import blake2b

    return blake2b(keys.astype("<i8").tobytes(), digest_size=16).hexdigest()


def _file_sum(path: Path) -> str:
    from hashlib import blake2b, file_digest

    fd = os.open(path, os.O_RDONLY | OPEN_SAFELY)
    with open(fd, "rb") as stream:
        return file_digest(stream, lambda: blake2b(digest_size=16)).hexdigest()


def _state_file(path: Path) -> Path:
    return path.with_name(path.name + ".json")


def _read_state(path: Path) -> dict[str, object] | None:
    try:
        fd = os.open(_state_file(path), os.O_RDONLY | OPEN_SAFELY)
        with open(fd, encoding="ascii") as stream:
            read = json.loads(stream.read(4096))
    except (OSError, ValueError, RecursionError):
        return None
    return read if isinstance(read, dict) else None
