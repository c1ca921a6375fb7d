"""Vectors in memory: made into int8, compared all at once by numpy, or by a graph (hnswlib) where there are very many.

It imports numpy, and so is imported only where vectors are made or asked.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterator, Mapping, Sequence, Set as AbstractSet
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np

from ..index.lexical import row_id
from .tables import Code, PageVectors, Scan
from .text_to_embed import LATIN, SCRIPTS

MOST_BYTES = 4 << 30  # A graph that would take more memory is not made
_ROWS = 256  # multiplied at a time: as 32-bit numbers they fit into the cache (with 4,096: three times as long)
_M, _BUILD, _SEARCH = 16, 200, 600  # links a node, how far to look when one is added, and when one is asked for
_FEW = 256  # texts that are added to a graph,
_CHANGED = 0.1  # and the share of all texts: beyond that it is built again
_SAMPLE = 1024  # vectors by which a graph knows the mean and the deviation of all
ROW = np.dtype([("ordinal", "<u4"), ("script", "<u4"), ("key", "<i8"), ("digest", "<i8")])  # as tables.py packs one


def _units(vectors: Any) -> Any:
    """Each at length 1; all zeros for what has no direction."""
    rows = np.asarray(vectors, np.float64)
    with np.errstate(all="ignore"):
        lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
        return np.where((lengths > 0) & np.isfinite(lengths), rows / lengths, 0.0)


def mean_of(vectors: Sequence[Sequence[float]]) -> list[float]:
    """The mean of vectors, each at length 1 first: what `encode` takes away."""
    mean: list[float] = _units(vectors).mean(0).tolist()
    return mean


def encode(vector: Sequence[float], mean: Sequence[float], script: int = LATIN) -> Code:
    """Length 1, minus the mean, as int8. ValueError for another number of components.

    What has no direction (zeros, NaN) becomes zeros, which are like nothing else.
    """
    unit = _units(vector)
    if unit.shape != (len(mean),):
        raise ValueError(f"{unit.size} numbers instead of {len(mean)}")
    centred = unit - np.asarray(mean) if unit.any() else unit
    most = np.abs(centred).max(initial=0.0) or 1.0
    return Code(script, np.rint(centred * (127 / most)).astype(np.int8).tobytes())


def _lengths(rows: Any) -> Any:
    return np.sqrt(np.einsum("ij,ij->i", rows, rows).astype(np.float64))


def _pieces(codes: Any) -> Iterator[Any]:
    """All rows, as 32-bit numbers."""
    for start in range(0, max(len(codes), 1), _ROWS):
        yield codes[start : start + _ROWS].astype(np.float32)


class Matrix:
    """All vectors of a file as of one moment, in the order of their entries. Nothing changes it but what it finds out of itself."""

    def __init__(self, packs: Sequence[PageVectors], codes: bytes, dim: int) -> None:
        """`codes` are those of `packs`, which are in the order of their pages."""
        rows = np.frombuffer(b"".join([pack.rows for pack in packs]), ROW)
        self.codes = np.frombuffer(codes, np.int8).reshape(len(rows), dim)
        counts = [pack.size for pack in packs]
        first = np.array([row_id(pack.page, 0) for pack in packs], np.int64)
        self.entries = np.repeat(first, counts) + rows["ordinal"]
        self.keys, self.digests, self.scripts = (
            np.ascontiguousarray(rows[name]) for name in ("key", "digest", "script")
        )
        self.sums = {pack.page: pack.sum for pack in packs}
        self._places = dict(zip(self.sums, map(slice, accumulate(counts, initial=0), accumulate(counts)), strict=True))

    def codes_of(self, page: int) -> Any:
        """Those of the vectors of a page."""
        return self.codes[self._places[page]]

    @cached_property
    def sample(self) -> Any:
        """The places of some, by chance."""
        return np.sort(np.random.default_rng(1).permutation(len(self.keys))[:_SAMPLE])

    @cached_property
    def norms(self) -> Any:
        """The length of each."""
        return np.concatenate([_lengths(piece) for piece in _pieces(self.codes)])

    def products(self, asked: Code, places: Any = None) -> Any:
        """The cosine of every vector, or of some. 32-bit floats hold these sums of whole numbers exactly."""
        wanted = np.frombuffer(asked.codes, np.int8).astype(np.float32)
        codes, norms = (self.codes, self.norms) if places is None else (self.codes[places], self.norms[places])
        found = np.concatenate([piece @ wanted for piece in _pieces(codes)]).astype(np.float64)
        lengths = norms * float(_lengths(wanted[None])[0])
        return np.divide(found, lengths, out=np.zeros_like(found), where=lengths > 0)

    def scan(self, found: Any, allowed: AbstractSet[int] | None, limit: int) -> Scan:
        """The best `limit` entries, of those `allowed` if given, by the cosines of all."""
        chosen = np.arange(len(found))
        if allowed is not None:
            chosen = np.flatnonzero(np.isin(self.entries, np.fromiter(allowed, np.int64, len(allowed))))
        return Scan(*_about(found), len(found), *self.best(chosen, found[chosen], limit))

    def best(self, chosen: Any, found: Any, limit: int) -> tuple[dict[int, float], dict[int, int]]:
        """The best entries of some vectors: entry -> cosine, entry -> digest."""
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
                if entry not in cosines:
                    if len(cosines) == limit:
                        break
                    cosines[entry] = float(found[place])
                    digests[entry] = int(self.digests[chosen[place]])
            if len(cosines) >= limit or wanted >= len(found):
                return cosines, digests
            wanted *= 4

    def places_of(self, ids: Collection[int], digests: Mapping[int, int]) -> Any:
        """Where the vectors of some entries stand; of those that were embedded with another digest not."""
        known = np.array(sorted(set(ids) & digests.keys()), np.int64)
        first, last = (np.searchsorted(self.entries, known, side) for side in ("left", "right"))
        places = [place for start, end in zip(first, last, strict=True) for place in range(start, end)]
        return np.array([p for p in places if self.digests[p] == digests[int(self.entries[p])]], np.int64)

    def alike(self, one: Any, other: Any, least: float) -> list[tuple[int, int]]:
        """Pairs of entries, one of each side, whose cosine is at least so much, the nearest first; given their places."""
        norms = np.maximum(self.norms, 1.0).astype(np.float32)[:, None]
        mine, its = (self.codes[places].astype(np.float32) / norms[places] for places in (one, other))
        found = mine @ its.T
        near = np.argwhere(found >= least)
        order = np.argsort(-found[near[:, 0], near[:, 1]], kind="stable")
        return [(int(self.entries[one[row]]), int(self.entries[other[column]])) for row, column in near[order].tolist()]

    def by_script(self, found: Any, places: Any) -> dict[int, tuple[float, int]]:
        """Script -> the mean of these cosines, of all vectors or of those at `places`, and how many these are."""
        scripts = self.scripts if places is None else self.scripts[places]
        each = ((script, found[scripts == script]) for script in SCRIPTS)
        return {script: (float(values.mean()), len(values)) for script, values in each if len(values)}


def _about(found: Any) -> tuple[float, float]:
    return (float(found.mean()), float(found.std())) if len(found) else (0.0, 0.0)


class NeighbourGraph:
    """An hnswlib index whose labels are the keys of the texts; built by one thread in their order: equal vectors, equal graph."""

    def __init__(self, matrix: Matrix) -> None:
        """ImportError without hnswlib."""
        import hnswlib

        self._lock = threading.Lock()
        self._match(matrix)
        self._built, dim = len(self._keys), matrix.codes.shape[1]
        self._index = hnswlib.Index(space="ip", dim=dim)
        self._index.init_index(self._built + max(1024, self._built // 10), M=_M, ef_construction=_BUILD, random_seed=1)
        self._add(self._keys)

    def _match(self, matrix: Matrix) -> None:
        """Which vectors each text has in this matrix."""
        self.matrix = matrix
        self._order = np.argsort(matrix.keys, kind="stable")
        self._keys, self._starts = np.unique(matrix.keys[self._order], return_index=True)

    def holds(self, matrix: Matrix) -> bool:
        """True if it is a graph of these vectors."""
        return self.matrix is matrix or self.matrix.sums == matrix.sums

    def _add(self, keys: Any) -> None:
        places = self._order[self._starts[np.searchsorted(self._keys, keys)]]
        for start in range(0, len(keys), 10_000):
            units = self.matrix.codes[places[start : start + 10_000]].astype(np.float32)
            units /= np.maximum(_lengths(units), 1.0).astype(np.float32)[:, None]
            self._index.add_items(units, keys[start : start + 10_000].view(np.uint64), num_threads=1)

    def follow(self, matrix: Matrix) -> bool:
        """Take in what changed. False if that is too much for now."""
        before, keys = self._keys, np.unique(matrix.keys)
        fresh, gone = np.setdiff1d(keys, before), np.setdiff1d(before, keys)
        if len(fresh) > _FEW or len(fresh) + len(gone) > _CHANGED * self._built:
            return False
        if self._index.get_current_count() + len(fresh) > self._index.get_max_elements():
            return False
        with self._lock:
            for key in gone.view(np.uint64):
                self._index.mark_deleted(int(key))
            self._match(matrix)
            self._add(fresh)
        return True

    def search(self, asked: Code, limit: int) -> Scan | None:
        """The best entries; None if the graph gives none."""
        wanted = np.frombuffer(asked.codes, np.int8).astype(np.float32)
        with self._lock:
            count = min(len(self._keys), max(2 * limit, 20))
            self._index.set_ef(max(_SEARCH, count))
            try:
                labels, _ = self._index.knn_query(wanted / max(_lengths(wanted[None])[0], 1.0), k=count, num_threads=1)
            except RuntimeError:  # a graph whose parts hang together too loosely for so many
                return None
            texts, matrix = np.searchsorted(self._keys, labels[0].view(np.int64)), self.matrix
            ends = np.append(self._starts, len(self._order))
            chosen = np.concatenate([self._order[ends[text] : ends[text + 1]] for text in texts])
        about = _about(matrix.products(asked, matrix.sample))
        return Scan(*about, len(matrix.keys), *matrix.best(chosen, matrix.products(asked, chosen), limit))


def graph_of(matrix: Matrix, before: NeighbourGraph | None) -> NeighbourGraph | None:
    """A graph of all vectors (a minute for 200,000 texts): that of before, if few texts changed. None where none can be made."""
    count, dim = matrix.codes.shape
    if count * (4 * dim + 12 * _M + 64) > MOST_BYTES:
        return None
    try:
        return before if before and before.follow(matrix) else NeighbourGraph(matrix)
    except (ImportError, RuntimeError, MemoryError):
        return None
