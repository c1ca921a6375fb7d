"""Vectors that travel with the pages of shared memory: a reader with the same model embeds the question alone. Against a real server."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import psycopg
import pytest
from face_helpers import bare_copy, memory_on, write_pages
from hash_embedder import DIM, HashEmbedder, packs, use
from postgres import Postgres

from memctl.hits import Answer
from memctl.ids import text_key
from memctl.memory import Memory
from memctl.notes.workspace import Workspace
from memctl.shared import shared as room
from memctl.shared.publish import Published
from memctl.shared.server import SharedServer
from memctl.vectors import models
from memctl.vectors.embed import embed

LOG = "memory/2025-11-27.md"
PAGES = {
    LOG: "- W @Peter: likes tea ^f-tea00001\n- W @Ирина: пьёт кофе по утрам\n- W(key=city) @爱丽丝: 住在北京\n",
    "memory/2025-11-28.md": "- W: rain over the harbour\n",
    "bank/plan.md": "# Plan\n\nOne line of a document.\n\nВторая строка документа.\n",
}
QUESTIONS = ("why PostgreSQL?", "что решили про базу", "饺子", "when did the tests fail", "last week", "")


@pytest.fixture(autouse=True)
def model(monkeypatch: pytest.MonkeyPatch) -> HashEmbedder:
    """The model of everybody here."""
    monkeypatch.setattr(models, "_LOADED", {})
    made = HashEmbedder()
    monkeypatch.setattr(models, "choose", lambda workspace: None if workspace.settings.model == "none" else made)
    return made


@pytest.fixture(params=["bytea", "vector"])
def typed(server: Postgres, request: pytest.FixtureRequest) -> Iterator[Postgres]:
    """The server with vectors as bytes, and as a type of pgvector."""
    if request.param == "vector":
        if not server.sql("SELECT 1 FROM pg_available_extensions WHERE name = 'vector'"):
            pytest.skip("this PostgreSQL has no pgvector")
        server.sql("DROP SCHEMA memctl CASCADE; CREATE EXTENSION vector")
        with SharedServer(server.url()).transaction(write=True):
            pass
    yield server
    if request.param == "vector":
        server.sql("DROP SCHEMA memctl CASCADE; DROP EXTENSION vector")


def publish(server: Postgres, root: Path, embeds: bool = True) -> Published:
    """Embed and publish a folder as alice."""
    with memory_on(Workspace(root.resolve())) as memory:
        memory.sync()
        if embeds:
            memory.embed()
        return memory.shared(server.url("alice")).publish("notes", team="atlas")


def asked(server: Postgres, reader: Memory, words: str, **more: Any) -> list[Any]:
    """What bob is answered: where each hit stands, what it says, its rank in each channel, its score."""
    return said(reader.shared(server.url("bob")).recall(["notes"], reader.query(words), k=10, **more))


def said(answer: Answer) -> list[Any]:
    """The hits of an answer, as far as they are those of another workspace with these pages."""
    return [(str(h.source).split("@")[0].removeprefix("notes:"), h.content, h.why, h.score) for h in answer.hits]


def by_meaning(found: list[Any]) -> bool:
    """True if vectors took part in an answer."""
    return any("vector" in why for _, _, why, _ in found)


def copy_of(reader: Memory) -> Workspace:
    """The copy that a reader has."""
    return Workspace(reader.workspace.memory / "shared" / "notes")


def stored(server: Postgres) -> list[Any]:
    """The vectors on the server: page, key, numbers."""
    both = "memctl.pages, unnest(keys, codes) AS its (key, code)"
    return server.sql(f"SELECT path, key, code::text FROM {both} ORDER BY 1, 2")


def test_answers_are_those_of_vectors_made_here(typed: Postgres, tmp_path: Path, model: HashEmbedder) -> None:
    """The same rows of the same file, the same hits in the same order with the same scores; no line is embedded again."""
    root, reader = bare_copy(tmp_path), memory_on(write_pages(tmp_path / "r", {}))
    assert publish(typed, root).vectors == len(stored(typed)) > 200
    assert (again := publish(typed, root)).sent == () and again.vectors == 0 and again.revision == 1
    model.asked.clear()
    answers = {words: asked(typed, reader, words) for words in QUESTIONS}
    assert not model.asked and sum(map(by_meaning, answers.values())) > 3
    local = tmp_path / "local"
    shutil.copytree(copy_of(reader).root, local, ignore=shutil.ignore_patterns(".memory"))
    with memory_on(Workspace(local.resolve())) as memory:
        memory.sync()
        memory.embed()
        assert packs(copy_of(reader)) == packs(memory.workspace)
        assert {words: said(memory.recall(words, k=10)) for words in QUESTIONS} == answers


@pytest.mark.parametrize("flag", ["private", "src=web", "sealed"])
def test_what_stays_at_home_has_no_vector_there(server: Postgres, tmp_path: Path, flag: str) -> None:
    """Nor a key; each key is that of a text without such lines."""
    stores = []
    for hidden in (f"- W({flag}) @Peter: zanzibarite\n- W({flag}): тайнослов\n- W({flag}): 秘藏鲸鱼\n", "\n\n\n"):
        log, page = f"- W: stays\n{hidden}- W: остаётся\n", f"# Plan\n\n{hidden}\nA short line below.\n"
        server.sql("TRUNCATE memctl.workspaces CASCADE")
        publish(server, write_pages(tmp_path / str(len(stores)), {LOG: log, "bank/plan.md": page}).root)
        stores.append(set(stored(server)))
    assert stores[0] <= stores[1] and len(stores[0]) >= 2


def test_vectors_come_and_go_with_their_lines(typed: Postgres, tmp_path: Path, model: HashEmbedder) -> None:
    """Of lines embedded after they were published, new ones, forgotten ones, pages that go: there, then in the copy."""
    root, reader = write_pages(tmp_path / "w", PAGES).root, memory_on(write_pages(tmp_path / "r", {}))
    assert publish(typed, root, embeds=False).vectors == 0
    assert not by_meaning(asked(typed, reader, "tea drinkers"))
    assert publish(typed, root).vectors == len(stored(typed)) == 5
    assert by_meaning(asked(typed, reader, "tea drinkers"))
    with open(root / LOG, "a") as page:
        page.write("- W: новое 新的\n")
    assert publish(typed, root, embeds=False).vectors == 3 and len(stored(typed)) == 5
    assert publish(typed, root).sent == (LOG,) and len(stored(typed)) == 6 and publish(typed, root).sent == ()
    with memory_on(Workspace(root)) as memory:
        memory.forget(ids=["f-tea00001"], apply=True)
    (root / "memory/2025-11-28.md").unlink()
    publish(typed, root, embeds=False)
    model.asked.clear()
    asked(typed, reader, "кофе")
    keys, gone = {key for _, key, _ in stored(typed)}, text_key("Peter: likes tea")
    assert {key for key, *_ in packs(copy_of(reader))[1]} == keys and len(keys) == 4 and gone not in keys
    assert gone.to_bytes(8, signed=True) not in (copy_of(reader).memory / "vectors.sqlite").read_bytes()
    assert not model.asked


class _Impostor(HashEmbedder):
    """Another model with the name of the first, as two may have behind the same address on two machines."""

    def passages(self, texts: Sequence[str]) -> list[Sequence[float]]:
        return [vector[::-1] for vector in super().passages(texts)]


def test_a_reader_with_no_model_or_another(server: Postgres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Is answered by words, without a word about it; one that only has the same name is found out, and that is said once."""
    root, told = write_pages(tmp_path / "w", PAGES).root, list[str]()
    publish(server, root)
    reader = memory_on(write_pages(tmp_path / "r", {}), tell=told.append)
    plain = asked(server, memory_on(reader.workspace.without_model()), "кофе")
    with monkeypatch.context() as other:
        use(other, HashEmbedder("2"))
        assert asked(server, reader, "кофе") == plain != [] and not by_meaning(plain) and not told
        assert not (copy_of(reader).memory / "vectors.sqlite").exists()
        other.setattr(models, "_LOADED", {})
        use(other, _Impostor())
        assert asked(server, reader, "кофе") == asked(server, reader, "кофе") == plain
        assert told == ["notes: by words only: its vectors cannot be used: another model is called hash there"]
    write_pages(tmp_path / "w", {"memory/2025-11-29.md": "- W: x\n"})
    publish(server, root)
    assert by_meaning(asked(server, reader, "кофе"))


@pytest.mark.parametrize("bad", [[1, 2], [3] * (DIM + 1), [300] * DIM, [0.5] * DIM, ["NaN"] * DIM, [1e30] * DIM])
def test_a_damaged_vector_is_refused(typed: Postgres, tmp_path: Path, bad: list[Any]) -> None:
    """One line says so, words answer, and no vector of that copy is used until it is published anew."""
    root, told = write_pages(tmp_path / "w", PAGES).root, list[str]()
    reader = memory_on(write_pages(tmp_path / "r", {}), tell=told.append)
    publish(typed, root)
    try:
        typed.sql("UPDATE memctl.pages SET codes[2] = %s WHERE path = %s", str(bad).replace("'", ""), LOG)
    except psycopg.errors.DataException:
        return  # the type itself refuses it
    plain = asked(typed, reader, "кофе", vectors=False)
    assert asked(typed, reader, "кофе") == asked(typed, reader, "кофе") == plain != []
    assert len(told) == 1 and "\n" not in told[0] and "vectors cannot be used" in told[0] and len(told[0]) < 200
    with memory_on(Workspace(root)) as memory:
        memory.shared(typed.url("alice")).withdraw("notes")
    publish(typed, root)
    assert by_meaning(asked(typed, reader, "кофе"))


def test_a_publisher_whose_model_changes(server: Postgres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The vectors there are of one model: the first until the second has all lines, then the second."""
    root, reader = write_pages(tmp_path / "w", PAGES).root, memory_on(write_pages(tmp_path / "r", {}))
    publish(server, root)
    before = stored(server)
    use(monkeypatch, HashEmbedder("2"))
    with memory_on(Workspace(root)) as memory:
        memory.run(lambda at: embed(at, HashEmbedder("2"), 0.0))
    (note,) = publish(server, root, embeds=False).notes
    assert note == "the vectors there stay those of hash 1 until `memctl index` has embedded every line here"
    assert stored(server) == before and not by_meaning(asked(server, reader, "кофе"))
    assert publish(server, root).vectors == len(before) and by_meaning(asked(server, reader, "кофе"))
    use(monkeypatch)
    assert not by_meaning(asked(server, reader, "кофе"))


def test_a_forged_vector_counts_for_a_line_of_that_copy_alone(server: Postgres, tmp_path: Path) -> None:
    """A member may lie about lines that he may write as well; not about a text of another page, a copy or the reader's own."""
    publish(server, write_pages(tmp_path / "w", PAGES).root)
    reader = memory_on(write_pages(tmp_path / "r", {LOG: "- W: my own tea\n"}))
    reader.sync()
    reader.embed()
    own, there = packs(reader.workspace), {key for _, key, _ in stored(server)}
    forged = "UPDATE memctl.pages SET keys = keys || %s::bigint, codes = codes || %s::bytea WHERE path = %s"
    for user, changed in (("carol", 0), ("bob", 1)):
        with psycopg.connect(server.url(user), autocommit=True) as connection:
            assert connection.execute(forged, (text_key("my own tea"), b"x" * DIM, LOG)).rowcount == changed
    asked(server, reader, "tea")
    assert packs(reader.workspace) == own and {key for key, *_ in packs(copy_of(reader))[1]} == there


def test_a_reader_that_is_stopped(server: Postgres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before the vectors: the next question goes on, and answers as if nothing had been."""
    publish(server, write_pages(tmp_path / "w", PAGES).root)
    reader, fresh = (memory_on(write_pages(tmp_path / name, {})) for name in ("r", "f"))
    with monkeypatch.context() as broken, pytest.raises(KeyError):
        broken.setattr(room, "loaded", {}.__getitem__)
        asked(server, reader, "кофе")
    assert asked(server, reader, "кофе") == asked(server, fresh, "кофе") != []
    assert packs(copy_of(reader)) == packs(copy_of(fresh))
