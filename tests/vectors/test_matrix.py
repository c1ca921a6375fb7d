"""The graph of neighbours is as good as the exact search, which answers wherever there is none."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from vectors.test_vector_store import DIM, begun, filled, opened, put, vector

from memctl.ids import text_key
from memctl.notes.workspace import Workspace
from memctl.vectors import matrix
from memctl.vectors.file import Vectors
from memctl.vectors.matrix import NeighbourGraph, encode, graph_of
from memctl.vectors.tables import Code, StoredVector

pytest.importorskip("hnswlib")


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """2,000 vectors."""
    return filled(tmp_path, 20, 100)


@pytest.fixture
def vectors(workspace: Workspace) -> Iterator[Vectors]:
    """Its file, open."""
    with closing(opened(workspace)) as found:
        yield found


def asked(seed: object) -> Code:
    """A question."""
    return encode(vector(seed), [0.0] * DIM)


def graph(vectors: Vectors, before: NeighbourGraph | None = None) -> NeighbourGraph:
    """Of these vectors, which must be possible."""
    made = graph_of(vectors.matrix(), before)
    assert made
    return made


def overlap(vectors: Vectors, made: NeighbourGraph, count: int = 40) -> float:
    """recall@10 against the exact search; the cosines must be the same to the last bit."""
    shared = 0
    for number in range(count):
        near, exact = vectors.scan(asked(number), None, 10, made), vectors.scan(asked(number), None, 10)
        assert all(exact.cosines.get(entry, value) == value for entry, value in near.cosines.items())
        assert list(near.cosines.values()) == sorted(near.cosines.values(), reverse=True)
        assert near.n == exact.n
        assert near.mean == pytest.approx(exact.mean, abs=0.02) and near.sd == pytest.approx(exact.sd, rel=0.1)
        shared += len(near.cosines.keys() & exact.cosines.keys())
    return shared / (10 * count)


def test_the_graph_finds_what_the_exact_search_finds(vectors: Vectors) -> None:
    """And equal vectors give an equal graph; what else is asked of a question is the same, but for a mean by chance."""
    first, again = graph(vectors), graph(vectors)
    assert overlap(vectors, first) >= 0.98
    assert all(again.search(asked(n), 10) == first.search(asked(n), 10) for n in range(20))
    found = vectors.scan(asked(1), None, 10, first)
    assert vectors.cosines(asked(1), found.cosines, found.digests) == found.cosines
    ((mean, number),) = vectors.by_script(asked(1)).values()
    assert number == 1024 and mean == pytest.approx(found.mean)


def fails(*_: object) -> bool:
    """What hnswlib raises."""
    raise RuntimeError("out of luck")


def test_where_there_is_no_graph_the_search_is_exact(vectors: Vectors, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a filter, another dimension, too little memory, a failing package or none."""
    made = graph(vectors)
    allowed = frozenset(range(1 << 22, (1 << 22) + 50))
    with monkeypatch.context() as broken:
        broken.setattr(NeighbourGraph, "search", lambda *_: pytest.fail("asked"))
        assert vectors.scan(asked(1), allowed, 5, made) == vectors.scan(asked(1), allowed, 5)
        assert vectors.scan(Code(0, bytes(3)), None, 5, made).n == 0 and vectors.problem
    with monkeypatch.context() as loose:
        loose.setattr(NeighbourGraph, "search", lambda *_: None)
        assert overlap(vectors, made, 3) == 1
    with monkeypatch.context() as little:
        little.setattr(matrix, "MOST_BYTES", 1000)
        assert graph_of(vectors.matrix(), None) is None
    with monkeypatch.context() as failing:
        failing.setattr(NeighbourGraph, "_add", fails)
        assert graph_of(vectors.matrix(), None) is None
    monkeypatch.setitem(sys.modules, "hnswlib", None)
    assert graph_of(vectors.matrix(), None) is None


def test_what_comes_and_goes_is_followed(workspace: Workspace, vectors: Vectors) -> None:
    """A few lines at once; of very many a new graph is built; twins and windows count by the best."""
    first = graph(vectors)
    with closing(begun(workspace)) as writer:
        codes = {7: asked("new")} | writer.codes([text_key("1 1")])
        rows = [StoredVector(0, 7, 1), StoredVector(0, text_key("1 1"), 1), StoredVector(1, 7, 2)]
        writer.put_page(99, b"", rows, codes)
        writer.drop_pages([3])
    assert not first.holds(vectors.matrix())
    second = graph(vectors, first)
    assert second is first and second.holds(vectors.matrix())
    found = vectors.scan(asked("new"), None, 2, second).cosines
    assert found == {99 << 22: pytest.approx(1), 99 << 22 | 1: pytest.approx(1)}
    assert overlap(vectors, second, 20) >= 0.97
    assert not any(entry >> 22 == 3 for n in range(20) for entry in vectors.scan(asked(n), None, 10, second).cosines)
    with closing(begun(workspace)) as writer:
        put(writer, 100, {1000 + n: vector(n) for n in range(400)})
    third = graph(vectors, second)
    assert third is not second
    assert vectors.scan(asked(5), None, 1, third).cosines == {100 << 22 | 5: pytest.approx(1)}


def test_an_empty_store(tmp_path: Path) -> None:
    """No vectors, no exception; one vector is found."""
    with closing(begun(Workspace(tmp_path))) as writer:
        assert writer.scan(asked(1), None, 5).cosines == {} == writer.by_script(asked(1))
        assert put(writer, 1, {1: vector(1)})
        for made in (None, graph(writer)):
            assert writer.scan(asked(1), None, 5, made).cosines == {1 << 22: pytest.approx(1)}
