"""The graph of neighbours, built in memory: as good as the exact search, which answers wherever there is none."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from vectors.test_vector_store import DIM, begun, filled, vector

from memctl.ids import text_key
from memctl.notes.workspace import Workspace
from memctl.vectors import file, matrix
from memctl.vectors.file import Nearest, PackRow, Vectors, open_vectors
from memctl.vectors.quantized import Code, encode

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


def test_the_graph_finds_what_the_exact_search_finds(vectors: Vectors) -> None:
    """And equal vectors give an equal graph."""
    nearest, again = Nearest(vectors, 1), Nearest(vectors, 1)
    assert nearest.how == "exact" and nearest.prepare() and nearest.how == "hnsw" and again.prepare()
    assert overlap(nearest, vectors) >= 0.98
    assert all(again.scan(asked(n), None, 10) == nearest.scan(asked(n), None, 10) for n in range(20))
    assert nearest.problem is None


def fails(*_: object) -> bool:
    """What hnswlib raises."""
    raise RuntimeError("out of luck")


def test_where_there_is_no_graph_the_search_is_exact(
    workspace: Workspace, vectors: Vectors, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With few texts, a filter, too little memory, a failing package or none, and in a process that does not stay."""
    few, nearest = Nearest(vectors), Nearest(vectors, 1)
    assert not few.prepare() and few.how == "exact" and few.problem is None and nearest.prepare()
    allowed = range(1 << 22, (1 << 22) + 50)
    assert nearest.scan(asked(1), allowed, 5) == vectors.scan(asked(1), allowed, 5)
    assert nearest.scan(Code(0, 1.0, bytes(3)), None, 5).n == 0
    single = open_vectors(workspace)
    assert single
    with closing(single):
        assert not Nearest(single, 1).prepare()
        assert len(Nearest(single, 1).scan(asked(1), None, 5).cosines) == 5
    with monkeypatch.context() as little:
        little.setattr(file, "MOST_BYTES", 1000)
        assert not Nearest(vectors, 1).prepare()
    with monkeypatch.context() as failing:
        failing.setattr(matrix.NeighbourGraph, "follow", fails)
        broken = Nearest(vectors, 1)
        assert not broken.prepare() and "the search is exact" in (broken.problem or "")
        assert overlap(broken, vectors, 3) == 1
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
