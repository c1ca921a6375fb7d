"""All vectors in memory, for a process that stays: compared by numpy, or by a graph (hnswlib) where there are very many.

A single command never gains: to load them takes longer than to look at every vector in the file.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from ..index.lexical import ORDINAL_BITS
from .quantized import Code
from .tables import PageVectors

if TYPE_CHECKING:
    from .file import Vectors

_ROWS = 4096  # multiplied at a time: what fits into the processor's cache as 32-bit numbers


class Scan(NamedTuple):
    """The entries nearest to a question, the best first, and how like it all `n` vectors are (for z-scores).

    `digests` are those of the entries as they were embedded: one that has another digest now must be left out.
    """

    mean: float
    sd: float
    n: int
    cosines: dict[int, float]
    digests: dict[int, int]


class Matrix:
    """Codes by key, and the vectors of entries as rows that point to them."""

    def __init__(self, state: tuple[int, int], dim: int, codes: Any, keys: Any, norms: Any, rows: Any) -> None:
        self.state = state
        self.dim = dim
        self.codes, self.keys, self.norms = codes, keys, norms
        """int8 [m, dim]; int64 [m], rising; float64 [m]."""
        self.entries, self.digests, self.places = rows
        """Of each vector: its entry, the digest of that, its place among the codes."""

    @classmethod
    def load(
        cls, state: tuple[int, int], packs: Iterable[PageVectors], rows: Iterable[tuple[Any, ...]], dim: int
    ) -> Matrix | None:
        """From sound pages and sound rows of `code`; None without numpy."""
        for name in (
            "OMP_NUM_THREADS",
            "OPENBLAS_NUM_THREADS",
        ):  # a second thread waits for the first: up to 100 times slower
            os.environ.setdefault(name, "1")
        try:
            import numpy as np
        except ImportError:
            return None
        keys, norms, planes = [], [], bytearray()
        for row in rows:
            keys.append(row[0])
            norms.append(row[2])
            planes += row[4]
        order = np.argsort(np.array(keys, np.int64), kind="stable")
        sorted_keys = np.array(keys, np.int64)[order]
        matrix = _from_planes(np.frombuffer(bytes(planes), np.uint8).reshape(len(keys), 8, dim + 7 >> 3)[order], dim)
        parts = [
            (
                np.frombuffer(pack.ordinals, "<u4").astype(np.int64) + (pack.page << ORDINAL_BITS),
                pack.digests,
                pack.keys,
            )
            for pack in packs
        ]
        entries = np.concatenate([part[0] for part in parts]) if parts else np.zeros(0, np.int64)
        digests = np.frombuffer(b"".join(part[1] for part in parts), "<i8").astype(np.int64)
        named = np.frombuffer(b"".join(part[2] for part in parts), "<i8").astype(np.int64)
        places = np.searchsorted(sorted_keys, named)
        there = places < len(sorted_keys)
        there[there] = sorted_keys[places[there]] == named[there]
        held = (entries[there], digests[there], places[there])
        return cls(state, dim, matrix, sorted_keys, np.array(norms, np.float64)[order], held)

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

    def scan(self, asked: Code, allowed: Collection[int] | None, limit: int) -> Scan:
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
            if wanted < len(found):
                edge = np.partition(found, len(found) - wanted)[len(found) - wanted]
                near = np.flatnonzero(found >= edge)
            else:
                near = np.arange(len(found))
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
    """Planes of bits as int8."""
    import numpy as np

    codes = np.empty((len(planes), dim), np.uint8)
    for start in range(0, len(planes), _ROWS):
        bits = np.unpackbits(planes[start : start + _ROWS], axis=2)[:, :, -dim:]
        codes[start : start + _ROWS] = sum(bits[:, 7 - bit] << bit for bit in range(8))
    return (codes ^ 128).view(np.int8)


# -- a graph of them --------------------------------------------------------------------------------------------------

CROSSOVER = 150_000
"""Texts from which to compare all takes longer than to embed the question (14 ms); the graph takes 2 (bench/nearest.py)."""
_M, _BUILD, _SEARCH = 16, 200, 600  # links a node, how far to look when one is added, and when one is asked for
_FEW = 256  # texts that are added while somebody waits for an answer
_CHANGED = 0.1  # of all texts: beyond that it is built again
_SAMPLE = 1024
MOST_BYTES = 4 << 30
"""A graph that would take more memory is not made."""


class Nearest:
    """The neighbours of a question among the vectors of a resident process.

    `prepare` builds the graph (a minute for 200,000 texts; it may run in a thread). Before it has, without the package, below
    `at_least` texts, with a filter, or after anything went wrong (`problem`), the search is exact.
    """

    def __init__(self, vectors: Vectors, at_least: int | None = None) -> None:
        self.problem: str | None = None
        self.vectors = vectors
        self._at_least = CROSSOVER if at_least is None else at_least
        self._graph: _Graph | None = None

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
        """Have a graph of the vectors as they stand; False where the search is exact."""
        matrix = self.vectors.matrix()
        if not matrix or len(matrix.keys) < self._at_least or _memory_of(matrix) > MOST_BYTES:
            return False
        if not self._agrees(matrix):
            try:
                self._graph = _Graph(matrix)
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


def _memory_of(matrix: Matrix) -> int:
    """About what a graph of these vectors takes."""
    return len(matrix.keys) * (4 * matrix.dim + 12 * _M + 64)


class _Graph:
    """An hnswlib index whose labels are the keys of the texts; built by one thread in their order: equal vectors, equal graph."""

    def __init__(self, matrix: Matrix) -> None:
        import hnswlib

        count = len(matrix.keys)
        self._index = hnswlib.Index(space="ip", dim=matrix.dim)
        self._index.init_index(count + max(1024, count // 10), M=_M, ef_construction=_BUILD, random_seed=1)
        self._keys = matrix.keys  # int64, rising: what is in it and not deleted
        self._state: tuple[int, int] | None = None
        self._built = count
        self._order: Any = None
        self._starts: Any = None
        self._add(matrix, range(count))

    def _add(self, matrix: Matrix, places: Any) -> None:
        import numpy as np

        chosen = np.asarray(places, np.int64)
        for start in range(0, len(chosen), 10_000):
            piece = chosen[start : start + 10_000]
            norms = np.maximum(matrix.norms[piece], 1.0).astype(np.float32)
            units = matrix.codes[piece].astype(np.float32) / norms[:, None]
            self._index.add_items(units, matrix.keys[piece].view(np.uint64), num_threads=1)

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
