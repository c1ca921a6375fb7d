"""All vectors in memory: the graph of neighbours is as good as the exact search, which answers wherever there is none."""

from __future__ import annotations

import sys
from contextlib import closing
from pathlib import Path

import pytest
from vectors.test_vector_store import DIM, begun, filled, vector

from memctl.ids import text_key
from memctl.notes.workspace import Workspace
from memctl.vectors import matrix
from memctl.vectors.matrix import LoadedVectors, hold
from memctl.vectors.quantized import Code, encode
from memctl.vectors.tables import StoredVector

pytest.importorskip("numpy")
pytest.importorskip("hnswlib")


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """2,000 vectors; a graph is made of any number."""
    filled(tmp_path, 20, 100)
    return graphed(tmp_path)


def graphed(root: Path) -> Workspace:
    """A workspace whose settings want a graph of any number of texts."""
    workspace = Workspace(root)
    return Workspace(root, workspace.settings._replace(hnsw_from=1))


def held(workspace: Workspace, before: LoadedVectors | None = None) -> LoadedVectors:
    """Its vectors in memory, which must be there."""
    found = hold(workspace, before)
    assert found
    return found


def asked(seed: object) -> Code:
    """A question."""
    return encode(vector(seed), [0.0] * DIM)


def overlap(held: LoadedVectors, count: int = 40) -> float:
    """recall@10 against the exact search; the cosines must be the same to the last bit."""
    shared = 0
    for number in range(count):
        near, exact = held.scan(asked(number), None, 10), held.matrix.scan(asked(number), None, 10)
        assert all(exact.cosines.get(entry, value) == value for entry, value in near.cosines.items())
        assert list(near.cosines.values()) == sorted(near.cosines.values(), reverse=True)
        assert near.n == exact.n
        assert near.mean == pytest.approx(exact.mean, abs=0.02) and near.sd == pytest.approx(exact.sd, rel=0.1)
        shared += len(near.cosines.keys() & exact.cosines.keys())
    return shared / (10 * count)


def test_the_graph_finds_what_the_exact_search_finds(workspace: Workspace) -> None:
    """And equal vectors give an equal graph."""
    first, again = held(workspace), held(workspace)
    assert first.how == again.how == "hnsw" and overlap(first) >= 0.98
    assert all(again.scan(asked(n), None, 10) == first.scan(asked(n), None, 10) for n in range(20))


def fails(*_: object) -> bool:
    """What hnswlib raises."""
    raise RuntimeError("out of luck")


def test_where_there_is_no_graph_the_search_is_exact(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """With few texts, a filter, too little memory, a failing package or none."""
    assert held(Workspace(workspace.root)).how == "exact"
    with_graph = held(workspace)
    allowed = frozenset(range(1 << 22, (1 << 22) + 50))
    assert with_graph.scan(asked(1), allowed, 5) == with_graph.matrix.scan(asked(1), allowed, 5)
    assert with_graph.scan(Code(0, 1.0, bytes(3)), None, 5).n == 0 and with_graph.vectors.problem
    with monkeypatch.context() as little:
        little.setattr(matrix, "MOST_BYTES", 1000)
        assert held(workspace).how == "exact"
    with monkeypatch.context() as failing:
        failing.setattr(matrix.NeighbourGraph, "_add", fails)
        assert held(workspace).how == "exact" and overlap(held(workspace), 3) == 1
    monkeypatch.setitem(sys.modules, "hnswlib", None)
    assert held(workspace).how == "exact"


def test_what_comes_and_goes_is_followed(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """A few lines at once; of very many a new graph is built; twins and windows count by the best."""
    built: list[int] = []
    make = matrix.NeighbourGraph.__init__
    monkeypatch.setattr(
        matrix.NeighbourGraph, "__init__", lambda self, rows: built.append(len(rows.keys)) or make(self, rows)
    )
    first = held(workspace)
    assert first.is_current()
    with closing(begun(workspace)) as writer:
        writer.put_codes({7: asked("new")})
        writer.put_pack(99, b"", [StoredVector(0, 7, 1), StoredVector(0, text_key("1 1"), 1), StoredVector(1, 7, 2)])
        writer.drop_packs([3])
        writer.sweep()
    assert not first.is_current()
    second = held(workspace, first)
    assert built == [2000] and second.how == "hnsw"
    found = second.scan(asked("new"), None, 2).cosines
    assert found == {99 << 22: pytest.approx(1), 99 << 22 | 1: pytest.approx(1)}
    assert overlap(second, 20) >= 0.97
    assert not any(entry >> 22 == 3 for n in range(20) for entry in second.scan(asked(n), None, 10).cosines)
    with closing(begun(workspace)) as writer:
        codes = {1000 + n: asked(n) for n in range(400)}
        writer.put_codes(codes)
        writer.put_pack(100, b"", [StoredVector(n, key, n) for n, key in enumerate(codes)])
    third = held(workspace, second)
    assert built == [2000, 2301] and third.how == "hnsw"
    assert third.scan(asked(5), None, 1).cosines == {100 << 22 | 5: pytest.approx(1)}


def test_an_empty_store(tmp_path: Path) -> None:
    """No vectors, no exception; one vector is found."""
    workspace = graphed(tmp_path)
    assert hold(workspace) is None
    with closing(begun(workspace)) as writer:
        assert held(workspace).scan(asked(1), None, 5).cosines == {}
        writer.put_codes({1: asked(1)})
        writer.put_pack(1, b"", [StoredVector(0, 1, 0)])
        assert held(workspace).scan(asked(1), None, 5).cosines == {1 << 22: pytest.approx(1)}
