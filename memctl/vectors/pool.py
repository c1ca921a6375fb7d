"""The vectors of a process that stays: one open file with all of them in memory, taken by one question at a time."""

from __future__ import annotations

import threading
from contextlib import suppress

from ..errors import MemctlError
from ..notes.workspace import Workspace
from .file import open_vectors
from .matrix import Nearest
from .tables import DAMAGE

_TROUBLE = (MemctlError, OSError, RuntimeError, ValueError, MemoryError, ImportError, *DAMAGE)
"""What the file, numpy or the graph may raise while they are loaded."""


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
