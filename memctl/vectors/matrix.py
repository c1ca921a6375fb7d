"""All vectors in memory as one numpy matrix, for a process that stays: exact, and far quicker than line by line.

Never on the path of a single command: to import numpy costs more than the whole search.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from typing import Any

from ..index.lexical import ORDINAL_BITS
from .quantized import Code
from .vector_file import Pack

__all__ = ["Matrix"]

_ROWS = 4096  # multiplied at a time: what fits into the processor's cache as 32-bit numbers


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
        cls, state: tuple[int, int], packs: Iterable[Pack], rows: Iterable[tuple[Any, ...]], dim: int
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

    def scan(
        self, asked: Code, allowed: Collection[int] | None, limit: int
    ) -> tuple[float, float, int, dict[int, float], dict[int, int]]:
        """The fields of a Scan, exact."""
        import numpy as np

        found = self.products(asked)[self.places]
        about = (float(found.mean()), float(found.std()), len(found)) if len(found) else (0.0, 0.0, 0)
        chosen = np.arange(len(found))
        if allowed is not None:
            chosen = np.flatnonzero(np.isin(self.entries, np.fromiter(allowed, np.int64, len(allowed))))
        return *about, *self.best(chosen, found[chosen], limit)

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
