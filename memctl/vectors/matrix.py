"""All vectors in memory, for a process that stays: compared by numpy, or by a graph (hnswlib) where there are very many.

A single command never gains: to load them takes longer than to look at every vector in the file.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, NamedTuple

from ..index.lexical import ORDINAL_BITS
from .models import one_thread
from .quantized import Code
from .tables import PageVectors

_ROWS = 4096  # multiplied at a time: what fits into the processor's cache as 32-bit numbers
_M, _BUILD, _SEARCH = 16, 200, 600  # links a node, how far to look when one is added, and when one is asked for
_FEW = 256  # texts that are added while somebody waits for an answer
_CHANGED = 0.1  # of all texts: beyond that it is built again
_SAMPLE = 1024


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
        one_thread()
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

    @property
    def graph_bytes(self) -> int:
        """About what a graph of these vectors takes."""
        return len(self.keys) * (4 * self.dim + 12 * _M + 64)

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

        count = len(matrix.keys)
        self._index = hnswlib.Index(space="ip", dim=matrix.dim)
        self._index.init_index(count + max(1024, count // 10), M=_M, ef_construction=_BUILD, random_seed=1)
        self._keys = matrix.keys  # int64, rising: what is in it and not deleted
        self.state: tuple[int, int] | None = None
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

        if self.state == matrix.state:
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
        self.state = matrix.state
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
