"""A model for tests: words hashed into 64 numbers, so that texts with the same words are near. No package, no download.

In this process: `use(monkeypatch)` makes it what every workspace chooses. In others: `model_folder` makes a folder that
`[vectors] model` may name, and tests/fakes, on PYTHONPATH, holds a `sentence_transformers` that serves it with this model.
"""

from __future__ import annotations

import json
import math
import operator
from collections.abc import Callable, Sequence
from pathlib import Path
from zlib import crc32

import pytest

from memctl.language.analyzer import terms
from memctl.notes.workspace import Workspace
from memctl.vectors import models as embedders
from memctl.vectors.tables import Code, PageVectors

DIM = 64
FAKES = Path(__file__).parent / "fakes"


def hashed(text: str) -> list[float]:
    """64 numbers for a text: a sum over its terms, and a little of everything so that none is zero."""
    vector = [0.1] * DIM
    for term in terms(text):
        for letter in range(4):
            number = crc32(f"{term}/{letter}".encode())
            vector[number % DIM] += 1 if number & 1024 else -1
    return vector


def cosine(a: Code, b: Code) -> float:
    """How alike two vectors are, from -1 to 1; 0 beside one without direction."""
    one, other = (memoryview(code.codes).cast("b").tolist() for code in (a, b))
    lengths = math.hypot(*one) * math.hypot(*other)
    return sum(map(operator.mul, one, other)) / lengths if lengths else 0.0


class HashEmbedder:
    """What vectors/models.py calls an Embedder. It remembers every passage, and calls `before` with each batch."""

    name = "hash"
    dim = DIM

    def __init__(self, version: str = "1", before: Callable[[Sequence[str]], None] | None = None) -> None:
        self.id = f"hash {version}"
        self.asked: list[str] = []
        self._before = before

    def passages(self, texts: Sequence[str]) -> list[Sequence[float]]:
        """A vector for each text."""
        if self._before:
            self._before(texts)
        self.asked += texts
        return [hashed(text) for text in texts]

    def query(self, text: str) -> Sequence[float]:
        """The vector of a question."""
        return hashed(text)


def use(monkeypatch: pytest.MonkeyPatch, embedder: HashEmbedder | None = None) -> HashEmbedder:
    """Let every workspace of this process choose this model."""
    chosen = embedder or HashEmbedder()
    monkeypatch.setattr(embedders, "choose", lambda workspace: chosen)
    return chosen


def model_folder(folder: Path, *, hidden_size: int = DIM) -> Path:
    """A folder as sentence-transformers has it: one module, its settings, its weights (none)."""
    folder.mkdir(parents=True)
    module = {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"}
    (folder / "modules.json").write_text(json.dumps([module]))
    (folder / "config.json").write_text(json.dumps({"hidden_size": hidden_size}))
    (folder / "model.safetensors").write_bytes(b"weights")
    return folder


def packs(workspace: Workspace) -> tuple[list[tuple[object, ...]], list[tuple[object, ...]]]:
    """Every row of the file of vectors, and the vectors themselves by the keys of their texts: (key, script, numbers)."""
    import sqlite3
    from contextlib import closing

    with closing(sqlite3.connect(workspace.memory / "vectors.sqlite")) as db:
        rows = db.execute("SELECT * FROM page ORDER BY id").fetchall()
    listed = {(key, *code) for *pack, codes in rows for key, code in PageVectors(*pack).codes(codes)}
    return rows, sorted(listed)
