"""Stands in for sentence-transformers in test processes: serves any folder with the model of tests/hash_embedder.py.

FAKE_GATE is a folder: before its batch n the model writes `at-n` there; with `hold-n` there it waits until that is gone.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))
from hash_embedder import hashed


class SentenceTransformer:
    """A model that is read from a folder."""

    def __init__(self, path: str, **options: Any) -> None:
        assert options["local_files_only"] and not options["trust_remote_code"]
        self.prompts: dict[str, str] = {}
        self._batches = 0

    def encode(self, texts: list[str], **_: Any) -> list[list[float]]:
        """A vector for each text."""
        gate = os.environ.get("FAKE_GATE")
        if gate:
            self._batches += 1
            (Path(gate) / f"at-{self._batches}").touch()
            while (Path(gate) / f"hold-{self._batches}").exists():
                time.sleep(0.01)
        return [hashed(text) for text in texts]
