"""The graph of neighbours: as good as the exact search, and never trusted where its file is not as it was saved."""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from vectors.test_vector_store import DIM, begun, filled, vector

from memctl.notes.workspace import Workspace
from memctl.vectors import hnsw
from memctl.vectors.file import PackRow, Vectors, open_vectors
from memctl.vectors.hnsw import Nearest
from memctl.vectors.quantized import Code, text_key

pytest.importorskip("numpy")
pytest.importorskip("hnswlib")


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """2,000 vectors."""
    return filled(tmp_path, 20, 100)


@pytest.fixture
def vectors(workspace: Workspace) -> Iterator[Vectors]:
    """All in memory."""
    found = open_vectors(workspace, resident=True)
    assert found
    with closing(found):
        yield found


def asked(seed: object) -> Code:
    """A question."""
    from memctl.vectors.quantized import encode

    return encode(vector(seed), [0.0] * DIM)


def overlap(nearest: Nearest, vectors: Vectors, count: int = 40) -> float:
    """recall@10 against the exact search; the cosines must be the same to the last bit."""
    shared = 0
    for number in range(count):
        near, exact = nearest.scan(asked(number), None, 10), vectors.scan(asked(number), None, 10)
        assert all(exact.cosines.get(entry, value) == value for entry, value in near.cosines.items())
        assert list(near.cosines.values()) == sorted(near.cosines.values(), reverse=True)
        assert near.n == exact.n
        assert near.mean == pytest.approx(exact.mean, abs=0.02) and near.sd == pytest.approx(exact.sd, rel=0.1)
        shared += len(near.cosines.keys() & exact.cosines.keys())
    return shared / (10 * count)


def test_the_graph_finds_what_the_exact_search_finds(workspace: Workspace, vectors: Vectors) -> None:
    """Built, saved, loaded by the next process without building."""
    nearest = Nearest(vectors, 1)
    assert nearest.how == "exact" and nearest.prepare() and nearest.how == "hnsw"
    assert overlap(nearest, vectors) >= 0.98
    again = Nearest(vectors, 1)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(hnsw._HnswGraph, "build", lambda *_: pytest.fail("built again"))
        assert again.prepare()
    assert all(again.scan(asked(n), None, 10) == nearest.scan(asked(n), None, 10) for n in range(20))
    assert nearest.problem is None and again.problem is None


def test_equal_vectors_give_an_equal_graph(tmp_path: Path) -> None:
    """Byte by byte, in whatever order they came."""
    files = []
    for name in ("one", "other"):
        workspace = filled(tmp_path / name, 5, 100)
        found = open_vectors(workspace, resident=True)
        assert found
        with closing(found):
            assert Nearest(found, 1).prepare()
        files.append((workspace.memory / "vectors.hnsw").read_bytes())
    assert files[0] == files[1]


def test_below_the_crossover_with_a_filter_and_without_memory_or_package_it_is_exact(
    workspace: Workspace, vectors: Vectors, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same answer from the same call; so in a process that does not stay, which would only lose by a graph."""
    few = Nearest(vectors)
    assert not few.prepare() and few.how == "exact" and few.problem is None
    assert few.scan(asked(1), None, 5) == vectors.scan(asked(1), None, 5)
    nearest = Nearest(vectors, 1)
    assert nearest.prepare()
    allowed = range(1 << 22, (1 << 22) + 50)
    assert nearest.scan(asked(1), allowed, 5) == vectors.scan(asked(1), allowed, 5)
    assert nearest.scan(Code(0, 1.0, bytes(3)), None, 5).n == 0
    with monkeypatch.context() as little:
        little.setattr(hnsw, "MOST_BYTES", 1000)
        assert not Nearest(vectors, 1).prepare()
    single = open_vectors(workspace)
    assert single
    with closing(single):
        assert not Nearest(single, 1).prepare()
        assert len(Nearest(single, 1).scan(asked(1), None, 5).cosines) == 5
    monkeypatch.setitem(sys.modules, "hnswlib", None)
    assert not Nearest(vectors, 1).prepare()
    assert Nearest(vectors, 1).scan(asked(1), None, 5) == vectors.scan(asked(1), None, 5)


def test_what_comes_and_goes_is_followed(workspace: Workspace, vectors: Vectors) -> None:
    """A few lines at once; very many only after the next `prepare`; twins and windows count by the best."""
    nearest = Nearest(vectors, 1)
    assert nearest.prepare()
    with closing(begun(workspace)) as writer:
        writer.put_codes({7: asked("new")})
        writer.put_pack(99, b"", [PackRow(0, 1, 7), PackRow(0, 1, text_key("1 1")), PackRow(1, 2, 7)])
        writer.drop_packs([3])
        writer.sweep()
    assert nearest.how == "hnsw"
    found = nearest.scan(asked("new"), None, 2).cosines
    assert found == {99 << 22: pytest.approx(1), 99 << 22 | 1: pytest.approx(1)}
    assert overlap(nearest, vectors, 20) >= 0.97
    assert not any(entry >> 22 == 3 for n in range(20) for entry in nearest.scan(asked(n), None, 10).cosines)
    with closing(begun(workspace)) as writer:
        codes = {1000 + n: asked(n) for n in range(400)}
        writer.put_codes(codes)
        writer.put_pack(100, b"", [PackRow(n, n, key) for n, key in enumerate(codes)])
    assert nearest.how == "exact"
    assert nearest.scan(asked(5), None, 1).cosines == {100 << 22 | 5: pytest.approx(1)}
    assert nearest.prepare() and nearest.how == "hnsw"
    assert nearest.scan(asked(5), None, 1).cosines == {100 << 22 | 5: pytest.approx(1)}


def test_an_empty_store(tmp_path: Path) -> None:
    """No vectors, no graph, no exception; one vector is found."""
    workspace = Workspace(tmp_path)
    with closing(begun(workspace)) as writer:
        found = open_vectors(workspace, resident=True)
        assert found
        with closing(found):
            assert not Nearest(found, 1).prepare()
            assert Nearest(found, 1).scan(asked(1), None, 5).cosines == {}
            writer.put_codes({1: asked(1)})
            writer.put_pack(1, b"", [PackRow(0, 0, 1)])
            nearest = Nearest(found, 1)
            assert nearest.prepare()
            assert nearest.scan(asked(1), None, 5).cosines == {1 << 22: pytest.approx(1)}


DAMAGED = {
    "flipped": lambda data, numbers: _flipped(data, numbers),
    "cut": lambda data, numbers: data[: numbers.randrange(len(data))],
    "empty": lambda data, numbers: b"",
    "other": lambda data, numbers: bytes(numbers.randrange(256) for _ in range(5000)),
    "longer": lambda data, numbers: data + b"x",
}


def _flipped(data: bytes, numbers: random.Random) -> bytes:
    changed = bytearray(data)
    changed[numbers.randrange(len(changed))] ^= 1 << numbers.randrange(8)
    return bytes(changed)


@pytest.mark.parametrize("name", ["vectors.hnsw", "vectors.hnsw.json"])
@pytest.mark.parametrize("kind", DAMAGED)
def test_a_damaged_file_is_never_loaded(
    workspace: Workspace, vectors: Vectors, name: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """hnswlib would crash, or wait for ever: the file is built again, and is whole afterwards."""
    assert Nearest(vectors, 1).prepare()
    path = workspace.memory / name
    whole = path.read_bytes()
    numbers = random.Random(f"{name} {kind}")
    for _ in range(5):
        damaged = DAMAGED[kind](whole, numbers)
        if name.endswith("json") and _means_the_same(damaged, whole):
            continue
        path.write_bytes(damaged)
        built = []
        build = hnsw._HnswGraph.build
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(hnsw._HnswGraph, "build", lambda matrix: built.append(1) or build(matrix))  # noqa: B023
            nearest = Nearest(vectors, 1)
            assert nearest.prepare()
        assert built == [1] and nearest.problem is None
        assert path.read_bytes() == whole


def _means_the_same(damaged: bytes, whole: bytes) -> bool:
    try:
        return bool(json.loads(damaged) == json.loads(whole))
    except ValueError:
        return False


def test_a_graph_of_other_vectors_is_built_again(workspace: Workspace, vectors: Vectors) -> None:
    """Another embedder, or texts that all changed."""
    assert Nearest(vectors, 1).prepare()
    with closing(begun(workspace, "other")) as writer:
        writer.put_codes({n: asked(n) for n in range(50)})
        writer.put_pack(1, b"", [PackRow(n, n, n) for n in range(50)])
    found = open_vectors(workspace, resident=True)
    assert found
    with closing(found):
        nearest = Nearest(found, 1)
        assert nearest.prepare()
        assert nearest.scan(asked(3), None, 1).cosines == {1 << 22 | 3: pytest.approx(1)}


def test_a_place_that_cannot_be_written_is_said(workspace: Workspace, vectors: Vectors) -> None:
    """The search goes on."""
    (workspace.memory / "vectors.hnsw").mkdir()
    (workspace.memory / "vectors.hnsw/full").write_text("x")
    nearest = Nearest(vectors, 1)
    nearest.prepare()
    assert nearest.problem and "vectors.hnsw" in nearest.problem
    assert overlap(nearest, vectors, 5) >= 0.9
