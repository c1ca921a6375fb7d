"""A process that stays embeds what is stored."""

from __future__ import annotations

import threading
from datetime import datetime
from pathlib import Path

import pytest
from face_helpers import write_pages
from hash_embedder import HashEmbedder, use

import memctl
from memctl.errors import ExtraBroken


def opened(root: Path, **more: object) -> memctl.Memory:
    return memctl.open(root, now=datetime(2025, 11, 30), **more)


def test_what_is_stored_gets_its_vector_without_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is told by the model's batches, not by a clock; a closed thread embeds no more, and what it did is kept."""
    monkeypatch.setenv("MEMCTL_VECTORS", "auto")
    done = threading.Event()
    use(
        monkeypatch, HashEmbedder(before=lambda texts: done.set() if any("gateway" in text for text in texts) else None)
    )
    write_pages(tmp_path, {"memory/2025-11-20.md": "- W: Tea at four\n"})
    with opened(tmp_path) as memory:
        memory.warm(embed=True)
        memory.retain("The gateway runs on port 8080", about="gateway")
        assert done.wait(20)
    assert not [thread for thread in threading.enumerate() if thread.name == "memctl-embed"]
    with opened(tmp_path) as memory:
        state = memory.status().vectors
        assert state["embedded"] >= 1 and state["used"]
        memory.retain("The proxy runs on port 9090", about="proxy")
    with opened(tmp_path) as again:
        again.embed()
        assert again.status().vectors["missing"] == 0


def test_a_model_that_fails_is_said_once_and_words_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMCTL_VECTORS", "auto")

    def fail(texts: object) -> None:
        raise ExtraBroken("the model hash fails: gone")

    use(monkeypatch, HashEmbedder(before=fail))
    write_pages(tmp_path, {"memory/2025-11-20.md": "- W: Tea at four\n"})
    heard, told = threading.Event(), list[str]()
    with opened(tmp_path, tell=lambda line: (told.append(line), heard.set())) as memory:
        memory.warm(embed=True)
        assert heard.wait(20)
        assert told == ["vectors: the model hash fails: gone; going on with words"]
        assert memory.recall("tea").hits
