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
from memctl.vectors.embed import calibration, embed

LOG = "memory/2025-11-27.md"
PAGES = {
    LOG: "- W @Peter: likes tea ^f-tea00001\n- W @Ирина: пьёт кофе по утрам\n- W(key=city) @爱丽丝: 住在北京\n",
    "memory/2025-11-28.md": "- W: rain over the harbour\n",
    "bank/plan.md": "# Plan\n\nOne line of a document.\n\nВторая строка документа.\n",
}
QUESTIONS = (
    "why PostgreSQL?",
    "что решили про базу",
    "饺子",
    "when did the tests fail",
    "last week",
    "kind:opinion",
    "",
)
SENTENCES = {sentence for some in calibration() for sentence in some}


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


def publish(server: Postgres, root: Path, embeds: bool = True, user: str = "alice", **more: Any) -> Published:
    """Embed and publish a folder for team atlas."""
    with memory_on(Workspace(root.resolve())) as memory:
        memory.sync()
        if embeds:
            memory.embed()
        return memory.shared(server.url(user)).publish("notes", **{"team": "atlas", **more})


def reader_in(folder: Path) -> Memory:
    """An empty workspace that asks."""
    return memory_on(write_pages(folder, {}))


def asked(server: Postgres, reader: Memory, words: str, user: str = "bob", **more: Any) -> Answer:
    """What the published workspace answers to a user."""
    return reader.shared(server.url(user)).recall(["notes"], reader.query(words), k=10, **more)


def found(answer: Answer) -> list[Any]:
    """What is said of each hit, without whose it is."""
    return [
        (hit.source.path.removeprefix("notes:"), hit.source.line, hit.content, hit.why, hit.score)
        for hit in answer.hits
    ]


def copy_of(reader: Memory) -> Workspace:
    """The copy that a reader has."""
    return Workspace(reader.workspace.memory / "shared" / "notes")


def stored(server: Postgres, columns: str = "path, key, codes::text") -> list[Any]:
    """The vectors on the server."""
    return server.sql(f"SELECT {columns} FROM memctl.vectors ORDER BY path, key")


def test_answers_are_those_of_vectors_made_here(typed: Postgres, tmp_path: Path, model: HashEmbedder) -> None:
    """The same rows of the same file, the same hits in the same order with the same scores; and no text of it is embedded again."""
    root = bare_copy(tmp_path)
    assert publish(typed, root).vectors > 200
    assert publish(typed, root)[:7] == publish(typed, root)[:7] and publish(typed, root).vectors == 0
    reader = reader_in(tmp_path / "r")
    model.asked.clear()
    answers = {words: found(asked(typed, reader, words)) for words in QUESTIONS}
    assert set(model.asked) == SENTENCES
    local = tmp_path / "local"
    shutil.copytree(copy_of(reader).root, local, ignore=shutil.ignore_patterns(".memory"))
    with memory_on(Workspace(local.resolve())) as memory:
        memory.sync()
        memory.embed()
        assert packs(copy_of(reader)) == packs(memory.workspace)
        assert answers == {words: found(memory.recall(words, k=10)) for words in QUESTIONS}
    assert sum("vector" in each[3] for hits in answers.values() for each in hits) > 10


def test_what_stays_at_home_has_no_vector_there(server: Postgres, tmp_path: Path) -> None:
    """Of private lines, sealed ones and those from outside there is no key; each key is of a text without them."""
    for flag in ("private", "src=web", "sealed"):
        stores = []
        for side in ("with", "without"):
            log, page = PAGES[LOG], PAGES["bank/plan.md"]
            for line in ("zanzibarite is rare", "тайнослов знает", "秘藏鲸鱼"):
                log = log.replace("\n", f"\n- W({flag}) @Peter: {line}\n" if side == "with" else "\n\n", 1)
                page += (
                    f"\n- W({flag}): {line}\n\nA short line below.\n"
                    if side == "with"
                    else "\n\n\nA short line below.\n"
                )
            server.sql("TRUNCATE memctl.workspaces CASCADE")
            assert publish(
                server, write_pages(tmp_path / flag / side, PAGES | {LOG: log, "bank/plan.md": page}).root
            ).sent
            stores.append(set(stored(server)))
        assert stores[0] <= stores[1] and len(stores[0]) >= 4, flag


def test_only_new_texts_travel_and_what_is_forgotten_goes(typed: Postgres, tmp_path: Path) -> None:
    """From the server with the next publication, from a copy with the next question; nothing that stands is sent again."""
    root, reader = write_pages(tmp_path / "w", PAGES).root, reader_in(tmp_path / "r")
    first = publish(typed, root).vectors
    assert asked(typed, reader, "tea").hits and len(packs(copy_of(reader))[1]) == first == len(stored(typed))
    with open(root / LOG, "a") as page:
        page.write("- W: новое 新的\n")
    assert publish(typed, root).vectors == 1
    (tea,) = (key for _, key, *_ in stored(typed) if key == text_key("Peter: likes tea"))
    with memory_on(Workspace(root)) as memory:
        memory.forget(ids=["f-tea00001"], apply=True)
    assert publish(typed, root, embeds=False).vectors == 0 and tea not in [row[1] for row in stored(typed)]
    asked(typed, reader, "кофе")
    assert {row[0] for row in packs(copy_of(reader))[1]} == {row[1] for row in stored(typed)}
    (root / "memory/2025-11-28.md").unlink()
    publish(typed, root, user="keeper", team="birch")
    assert {row[0] for row in stored(typed)} == {LOG, "bank/plan.md"}
    assert {row[0] for row in stored(typed, "team, path")} == {"birch"} and typed.sql(
        "SELECT bool_and(embedded) FROM memctl.pages"
    ) == [(True,)]


def test_vectors_may_come_later_than_their_pages(server: Postgres, tmp_path: Path, model: HashEmbedder) -> None:
    """Where the publisher embeds afterwards no page travels again; a reader who gets the model afterwards takes them then."""
    root, late = write_pages(tmp_path / "w", PAGES).root, reader_in(tmp_path / "late")
    assert publish(server, root, embeds=False).vectors == 0
    plain = asked(server, late, "tea drinkers")
    done = publish(server, root)
    assert (done.sent, done.revision) == ((), 2) and done.vectors == len(stored(server)) > 0
    none = memory_on(late.workspace.without_model())
    assert (
        found(asked(server, none, "tea drinkers")) == found(plain)
        and not (copy_of(late).memory / "vectors.sqlite").exists()
    )
    assert "vector" in asked(server, late, "tea drinkers").hits[0].why
    kept = copy_of(late).memory / "vectors.sqlite"
    assert found(asked(server, none, "tea drinkers")) == found(plain) and kept.exists()
    model.asked.clear()
    assert "vector" in asked(server, late, "кофе").hits[0].why and not model.asked


def test_a_reader_with_another_model_is_answered_by_words(
    server: Postgres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a word about it; one that only has the same name is found out, and said."""
    publish(server, write_pages(tmp_path / "w", PAGES).root)
    plain = found(asked(server, reader_in(tmp_path / "n"), "кофе", vectors=False))
    use(monkeypatch, HashEmbedder("2"))
    answer = asked(server, other := reader_in(tmp_path / "o"), "кофе")
    assert found(answer) == plain and not answer.warnings and not (copy_of(other).memory / "vectors.sqlite").exists()
    monkeypatch.setattr(models, "_LOADED", {})
    use(monkeypatch, _Impostor())
    for _ in range(2):
        answer = asked(server, other, "кофе")
        assert found(answer) == plain and len(answer.warnings) == 1
        assert (
            "answered by words only" in answer.warnings[0]
            and "another model is called hash there" in answer.warnings[0]
        )


class _Impostor(HashEmbedder):
    """Another model with the name of the first, as two may have behind the same address on two machines."""

    def passages(self, texts: Sequence[str]) -> list[Sequence[float]]:
        return [vector[::-1] for vector in super().passages(texts)]


@pytest.mark.parametrize("bad", ["[1, 2]", [3] * (DIM + 1), [300] * DIM, [0.5] * DIM, [], "[NaN]"])
def test_a_damaged_vector_is_refused(typed: Postgres, tmp_path: Path, bad: Any) -> None:
    """One line says so, words answer, and no vector of that copy is used until it is published anew."""
    root, reader = write_pages(tmp_path / "w", PAGES).root, reader_in(tmp_path / "r")
    publish(typed, root)
    sql = "UPDATE memctl.vectors SET codes = %s WHERE path = %s"
    try:
        typed.sql(sql, str(bad), LOG)
    except psycopg.errors.DataException:
        return  # the type itself refuses it
    plain = found(asked(typed, reader, "кофе", vectors=False))
    for _ in range(2):
        answer = asked(typed, reader, "кофе")
        assert found(answer) == plain
        (told,) = answer.warnings
        assert "\n" not in told and "are damaged" in told and len(told) < 200
    with memory_on(Workspace(root)) as memory:
        memory.shared(typed.url("alice")).withdraw("notes")
    publish(typed, root)
    assert "vector" in asked(typed, reader, "кофе").hits[0].why


def test_a_publisher_whose_model_changes(server: Postgres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The vectors there stay those of one model: the first until the second has all lines, then those of the second."""
    root, reader = write_pages(tmp_path / "w", PAGES).root, reader_in(tmp_path / "r")
    publish(server, root)
    before = stored(server)
    with memory_on(Workspace(root)) as memory:
        use(monkeypatch, HashEmbedder("2"))
        memory.run(lambda at: embed(at, HashEmbedder("2"), 0.0))
        done = memory.shared(server.url("alice")).publish("notes", team="atlas")
    assert done.vectors == 0 and done.notes == (
        "the vectors there stay those of hash 1 until `memctl index` has embedded every line here",
    )
    assert stored(server) == before and server.sql("SELECT model FROM memctl.workspaces") == [("hash 1",)]
    assert publish(server, root).vectors == len(before) and server.sql("SELECT model FROM memctl.workspaces") == [
        ("hash 2",)
    ]
    assert "vector" in asked(server, reader, "кофе").hits[0].why
    use(monkeypatch)
    assert not [hit for hit in asked(server, reader, "кофе").hits if "vector" in hit.why]


def test_forged_vectors(server: Postgres, tmp_path: Path, model: HashEmbedder) -> None:
    """Another team reads, changes and adds none. What a member forges counts for lines of that copy alone, and only where it has the text."""
    publish(server, write_pages(tmp_path / "w", PAGES).root)
    before = stored(server)
    row = "INSERT INTO memctl.vectors VALUES ('notes', '{}', '{}', {}, '{}')"
    with psycopg.connect(server.url("carol"), autocommit=True) as carol:
        for statement in (
            "SELECT key FROM memctl.vectors",
            "DELETE FROM memctl.vectors RETURNING 1",
            "UPDATE memctl.vectors SET key = 1 RETURNING 1",
        ):
            assert carol.execute(statement).fetchall() == []
        for team in ("atlas", "birch"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                carol.execute(row.format(LOG, team, 7, "x"))
    assert stored(server) == before
    reader = memory_on(write_pages(tmp_path / "r", {"memory/2025-11-20.md": "- W: my own tea\n"}))
    reader.sync()
    reader.embed()
    own = packs(reader.workspace)
    with psycopg.connect(server.url("bob"), autocommit=True) as bob:
        bob.execute(row.format(LOG, "atlas", text_key("my own tea"), "x" * DIM))
    asked(server, reader, "tea")
    assert packs(reader.workspace) == own and {key for key, *_ in packs(copy_of(reader))[1]} == {
        key for _, key, *_ in before
    }


def test_a_reader_that_is_stopped_before_the_vectors(
    server: Postgres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next question goes on, and answers as if nothing had been."""
    publish(server, write_pages(tmp_path / "w", PAGES).root)
    reader, fresh = reader_in(tmp_path / "r"), reader_in(tmp_path / "f")

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as broken, pytest.raises(KeyboardInterrupt):
        broken.setattr(room, "take_vectors", stop)
        asked(server, reader, "кофе")
    assert found(asked(server, reader, "кофе")) == found(asked(server, fresh, "кофе")) != []
    assert packs(copy_of(reader)) == packs(copy_of(fresh))
