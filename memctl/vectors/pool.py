"""The vectors of a process that stays: one open file with all of them in memory, taken by one question at a time."""

from __future__ import annotations

import threading
from collections.abc import Collection
from contextlib import suppress

from ..errors import MemctlError
from ..notes.workspace import Workspace
from .file import Vectors, open_vectors
from .matrix import Matrix, NeighbourGraph, Scan
from .quantized import Code
from .tables import DAMAGE

CROSSOVER = 150_000
"""Texts from which to compare all takes longer than to embed the question (14 ms); the graph takes 2 (bench/nearest.py)."""
MOST_BYTES = 4 << 30
"""A graph that would take more memory is not made."""
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
                held = Nearest(vectors)
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
