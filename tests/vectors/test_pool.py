"""A process that stays holds the vectors in memory, the same hits as from a fresh process by fewer reads; and it embeds what is stored."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest
from face_helpers import write_pages
from hash_embedder import HashEmbedder, use
from store_helpers import at_once

import memctl
from memctl.errors import ExtraBroken
from memctl.ids import text_key
from memctl.index.sync import build_index
from memctl.vectors import matrix
from memctl.vectors.file import VectorPool, open_vectors

LINES = [
    "The gateway runs on port 8080",
    "Шлюз работает на порту 8080",
    "网关 运行 在 8080 端口",
    "Tea at four with Irina",
]
NOW = datetime(2025, 11, 30)
QUESTION = "which port has the gateway?"


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[memctl.Memory]:
    """Resident, with vectors of every line."""
    use(monkeypatch)
    monkeypatch.setenv("MEMCTL_VECTORS", "auto")
    write_pages(tmp_path, {f"memory/2025-11-{10 + day}.md": f"- W: {line}\n" for day, line in enumerate(LINES)})
    with memctl.open(tmp_path, now=NOW) as opened:
        opened.sync()
        opened.embed()
        yield opened


def pool(memory: memctl.Memory) -> VectorPool:
    """What it holds, once a graph is made."""
    assert memory.resident
    held = memory.resident.keep(VectorPool)
    if held._maker.ident:
        held._maker.join()
    return held


Hits = list[tuple[str, float, dict[str, int]]]


def recalled(memory: memctl.Memory, question: str = QUESTION) -> Hits:
    """The hits of an answer."""
    return [(hit.ref, hit.score, hit.why) for hit in memory.recall(question).hits]


def fresh(memory: memctl.Memory, question: str = QUESTION) -> Hits:
    """What a process that just started answers."""
    with memctl.open(memory.workspace.root, now=NOW, resident=False) as other:
        return recalled(other, question)


def warmed(memory: memctl.Memory) -> None:
    """A question, which loads the vectors."""
    memory.recall(QUESTION)
    pool(memory)


@pytest.mark.parametrize("way", ["exact", "hnsw"])
def test_a_resident_recall_goes_by_the_vectors_in_memory_and_finds_the_same(
    memory: memctl.Memory, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    """All are compared, or from `hnsw_from` texts on the graph is asked, once it is made; after a write once more."""
    if way == "hnsw":
        pytest.importorskip("hnswlib")
    number = 2 if way == "hnsw" else 1_000
    (memory.workspace.root / "memctl.toml").write_text(f"[vectors]\nhnsw_from = {number}\n")
    asked: list[str] = []
    for owner, name in ((matrix.Matrix, "scan"), (matrix.NeighbourGraph, "search")):
        inner = getattr(owner, name)
        monkeypatch.setattr(owner, name, lambda *args, inner=inner, name=name: asked.append(name) or inner(*args))
    assert memory.status().vectors["way"] == "file"
    warmed(memory)
    assert asked == ["scan"], "no question waits for a graph"
    assert memory.status().vectors["way"] == way
    questions = (QUESTION, "Irina", "порт шлюза", "网关")
    expected, asked[:] = [fresh(memory, question) for question in questions], []
    assert [recalled(memory, question) for question in questions] == expected
    assert asked == ["search" if way == "hnsw" else "scan"] * 4
    memory.retain("The gateway moved to port 9090", about="gateway")
    memory.embed()
    warmed(memory)
    expected_after, asked[:] = fresh(memory), []
    assert recalled(memory) == expected_after and asked == ["search" if way == "hnsw" else "scan"]
    assert any("9090" in hit.content for hit in memory.recall(QUESTION).hits)


def test_a_question_reads_the_file_once(memory: memctl.Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    """It stays open, and what it holds in memory; of what is written since, the page alone is read."""
    warmed(memory)
    made: list[int] = []
    inner = matrix.Matrix.__init__
    monkeypatch.setattr(matrix.Matrix, "__init__", lambda self, *args: made.append(1) or inner(self, *args))
    for _ in range(3):
        recalled(memory)
    assert not made
    memory.retain("The gateway moved to port 9090", about="gateway")
    memory.embed()
    recalled(memory)
    assert made == [1]


def test_questions_at_once_share_one_matrix(memory: memctl.Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each has the file open for itself; what they hold in memory is read once, and all hear the same."""
    expected, heard, made = fresh(memory), list[Hits](), list[int]()
    inner = matrix.Matrix.__init__
    monkeypatch.setattr(matrix.Matrix, "__init__", lambda self, *args: made.append(1) or inner(self, *args))
    at_once(6, lambda _: heard.append(recalled(memory)))
    assert heard == [expected] * 6 and made == [1]


def test_a_line_made_private_is_in_no_file_of_what_others_see(memory: memctl.Memory) -> None:
    """Not even in the log, while a process that stays holds the file."""
    for day, line in ((14, "Tea"), (10, LINES[0])):
        write_pages(memory.workspace.root, {f"memory/2025-11-{day}.md": f"- W(private): {line}\n"})
        build_index(memory.workspace)
        vectors = open_vectors(memory.public().workspace)
        codes = vectors.codes([text_key(LINES[0])]) if vectors else {}
        memory.embed()
        memory.public().recall(QUESTION)
    raw = b"".join(path.read_bytes() for path in memory.public().workspace.derived.glob("vectors.sqlite*"))
    assert codes and not any(code.codes in raw for code in codes.values())


def test_vectors_that_were_deleted_and_made_again_are_read_again(memory: memctl.Memory) -> None:
    """The file in memory is another one by then."""
    warmed(memory)
    (memory.workspace.memory / "vectors.sqlite").unlink()
    assert recalled(memory) == fresh(memory)
    memory.embed()
    for _ in range(3):
        assert recalled(memory) == fresh(memory)
        pool(memory)
    memory.close()
    assert recalled(memory) == fresh(memory), "closed, it opens again"


def test_what_is_stored_gets_its_vector_without_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is told by the model's batches, not by a clock; a closed thread embeds no more, and what it did is kept."""
    monkeypatch.setenv("MEMCTL_VECTORS", "auto")
    done = threading.Event()
    use(
        monkeypatch, HashEmbedder(before=lambda texts: done.set() if any("gateway" in text for text in texts) else None)
    )
    write_pages(tmp_path, {"memory/2025-11-20.md": "- W: Tea at four\n"})
    with memctl.open(tmp_path, now=NOW) as memory:
        memory.warm(embed=True)
        memory.retain("The gateway runs on port 8080", about="gateway")
        assert done.wait(20)
    assert not [thread for thread in threading.enumerate() if thread.name == "memctl-embed"]
    with memctl.open(tmp_path, now=NOW) as memory:
        state = memory.status().vectors
        assert state["embedded"] >= 1 and state["used"]
        memory.retain("The proxy runs on port 9090", about="proxy")
    with memctl.open(tmp_path, now=NOW) as again:
        again.embed()
        assert again.status().vectors["missing"] == 0


def test_a_model_that_fails_is_said_once_and_words_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMCTL_VECTORS", "auto")

    def fail(texts: object) -> None:
        raise ExtraBroken("the model hash fails: gone")

    use(monkeypatch, HashEmbedder(before=fail))
    write_pages(tmp_path, {"memory/2025-11-20.md": "- W: Tea at four\n"})
    heard, told = threading.Event(), list[str]()
    with memctl.open(tmp_path, now=NOW, tell=lambda line: (told.append(line), heard.set())) as memory:
        memory.warm(embed=True)
        assert heard.wait(20)
        assert told == ["vectors: the model hash fails: gone; going on with words"]
        assert memory.recall("tea").hits
