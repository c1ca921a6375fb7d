"""Embeds in a thread, beside a server's answers, what was stored since: a line is found in other words within seconds.

The thread opens the index for itself, works a second at a time, and keeps what it did: a kill loses a second of it.
"""

from __future__ import annotations

import os
import threading
import time

from ..errors import MemctlError
from ..index.open_memory import OpenMemory
from ..index.sync import sync
from . import models
from .embed import embed
from .models import Embedder

_LOOK = 0.5  # seconds between two looks whether the index was written
_SLICE = 1.0  # seconds that the model works before it is looked whether to stop
_AGAIN = 30.0  # seconds after which what failed is tried again
_STOPPING = 10.0  # seconds that `close` waits for the batch that is being embedded


def warm(memory: OpenMemory, bring_up: bool, embeds: bool) -> None:
    """Bring the index up to date, so that the first answer does not wait for it; embed from now on, if the memory stays."""
    if bring_up:
        memory.run(lambda at: sync(at.workspace, at.index, wait=0))
    if embeds and memory.resident:
        memory.resident.keep(lambda: BackgroundEmbedder(memory))


class BackgroundEmbedder:
    """Keeps the vectors of a workspace as fresh as its index until `close`. Nothing happens where no model is to be had."""

    def __init__(self, memory: OpenMemory) -> None:
        self._memory = memory
        self._stop = threading.Event()
        self._told: str | None = None
        self._thread = threading.Thread(target=self._run, name="memctl-embed", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop within a batch; what is embedded is kept."""
        self._stop.set()
        self._thread.join(_STOPPING)

    def _run(self) -> None:
        embedder = self._choose()
        seen, retry = None, 0.0
        while embedder and not self._stop.wait(_LOOK):
            now = self._written()
            if now == seen and (not retry or time.monotonic() < retry):
                continue
            done = self._embed_all(embedder)
            seen, retry = now, 0.0 if done else time.monotonic() + _AGAIN

    def _choose(self) -> Embedder | None:
        """The model of the settings; asked once, as by the memory that stays."""
        try:
            return models.choose(self._memory.workspace)
        except MemctlError as error:
            self._tell(f"{error.what}; {error.cure}")
            return None

    def _embed_all(self, embedder: Embedder) -> bool:
        """Embed until nothing is missing, or it is time to stop; False where something stood in the way."""
        while not self._stop.is_set():
            memory = OpenMemory(self._memory.workspace, lambda: self._memory.now)
            try:
                report = memory.run(lambda at: embed(at, embedder, time.monotonic() + _SLICE))
                public = memory.public()
                if public.workspace.hides:
                    public.run(lambda at: embed(at, embedder, time.monotonic() + _SLICE))
            except (MemctlError, OSError) as error:
                self._tell(str(error))
                return False
            if report.problem:
                self._tell(report.problem.what)
                return False
            if not report.missing:
                self._told = None
                return True
            if not report.made:
                return False
        return True

    def _tell(self, why: str) -> None:
        """Say once what keeps lines from being embedded."""
        if why != self._told:
            self._told = why
            self._memory.tell(f"vectors: {why}; going on with words")

    def _written(self) -> tuple[tuple[int, int], ...]:
        """Changes when the index is written."""
        found = []
        for name in ("index.sqlite", "index.sqlite-wal"):
            try:
                status = os.stat(self._memory.workspace.derived / name)
                found.append((status.st_mtime_ns, status.st_size))
            except OSError:
                found.append((0, 0))
        return tuple(found)
