"""`recall --in`: the same rows in the same order as at home, from a copy that holds what the server has and nothing else."""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from face_helpers import TODAY, bare_copy, call, memory_on, write_pages
from http_helpers import serving
from hypothesis import HealthCheck, given, settings, strategies as st
from postgres import PASSWORD, Postgres
from store_helpers import git
from strategies import examples, line_facts, pages as any_page, texts

from memctl.errors import NothingFound
from memctl.hits import Answer, Hit
from memctl.markdown.grammar import render
from memctl.memory import Memory
from memctl.notes.workspace import Workspace, find_workspace
from memctl.shared import shared as room

LOG = "memory/2025-11-27.md"
PAGES = {
    LOG: "- W @Peter: likes tea ^f-tea00001\n- W @Ирина: пьёт кофе по утрам\n- W(key=city) @爱丽丝: 住在北京\n",
    "memory/2025-11-28.md": "- W: rain over the harbour\n",
}


def publish(server: Postgres, root: Path, name: str = "notes", user: str = "alice", team: str = "atlas") -> None:
    """Publish a folder for a team."""
    with memory_on(Workspace(root.resolve())) as memory:
        memory.shared(server.url(user)).publish(name, team=team)


@pytest.fixture
def reader(tmp_path: Path) -> Memory:
    """An empty workspace that asks."""
    return memory_on(write_pages(tmp_path / "reader", {}))


def asked(
    server: Postgres, reader: Memory, words: str, *names: str, user: str = "bob", k: int = 10, **filters: Any
) -> Answer:
    """What published workspaces answer to a user."""
    return reader.shared(server.url(user)).recall(names or ["notes"], reader.query(words, **filters), k=k)


def at_home(hits: Sequence[Hit], name: str = "notes") -> list[Hit]:
    """Hits as their own workspace would spell them."""
    found = []
    for hit in hits:
        assert hit.workspace == name and hit.source.path.startswith(f"{name}:") and hit.source.commit
        cited = [
            tuple(c._replace(path=c.path.removeprefix(f"{name}:"), commit="") for c in each)
            for each in ((hit.source,), hit.also, hit.evidence, (hit.belief,) if hit.belief else ())
        ]
        source, also, evidence, belief = cited
        own = {"source": source[0], "also": also, "evidence": evidence, "belief": belief[0] if belief else None}
        found.append(replace(hit, workspace="", **own))
    return found


def as_sent(server: Postgres, folder: Path, name: str = "notes") -> Memory:
    """A workspace that holds what was sent, and nothing else."""
    rows = server.sql("SELECT path, content FROM memctl.pages WHERE workspace = %s", name)
    for path, content in rows:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    return memory_on(Workspace(folder.resolve()))


def same(server: Postgres, reader: Memory, home: Memory, words: str, **filters: Any) -> int:
    """How many hits there are; they are those of another workspace, in its order, with its scores."""
    with home:
        there = home.recall(words, k=10, **filters)
    answer = asked(server, reader, words, **filters)
    assert at_home(answer.hits) == list(there.hits)
    assert (answer.more, answer.answerable) == (there.more, there.answerable)
    return len(there.hits)


QUESTIONS = (
    "why PostgreSQL?", "", "Irina", "что решили про базу", "饺子", "current release", "when did the tests fail", "who likes concise replies",
    "@Curlew db", "last week", "gateway timeout", "kind:opinion", "nothing of the kind zzz",
)  # fmt: skip


@pytest.mark.parametrize("has_outside", [True, False])
def test_the_fixture_answers_as_at_home(server: Postgres, reader: Memory, tmp_path: Path, has_outside: bool) -> None:
    """Facts, notes, beliefs and slots in three languages. Without lines from outside, which stay at home, it is the public view."""
    root = bare_copy(tmp_path)
    for page in () if has_outside else root.rglob("*.md"):
        if "src=" in (text := page.read_text()):
            page.write_text("\n".join("" if "src=" in line else line for line in text.split("\n")))
    publish(server, root)
    home = as_sent(server, tmp_path / "sent") if has_outside else memory_on(Workspace(root.resolve())).public()
    assert sum(same(server, reader, home, words) for words in QUESTIONS) > 80
    same(server, reader, home, "release", about=["Curlew"], since="2025-11-01")


@given(
    st.lists(line_facts(), max_size=5),
    any_page(8),
    st.lists(texts(2), min_size=2, max_size=2),
)
@settings(
    max_examples=examples(150, 15), suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
def test_any_workspace_answers_as_what_is_sent(server: Postgres, facts: list[Any], page: str, words: list[str]) -> None:
    """Whatever its pages hold: the same rows, the same order, the same scores. The public view's, where no line is from outside."""
    if "\ud800" in page:
        return
    folder = Path(tempfile.mkdtemp())
    log = "".join(f"- {render(fact)}\n" for fact in facts) or "- W: one\n"
    root = write_pages(folder / "w", {LOG: log.encode(errors="replace").decode(), "bank/page.md": page}).root
    server.sql("TRUNCATE memctl.workspaces CASCADE")
    publish(server, root)
    reader = memory_on(write_pages(folder / "r", {}))
    homes = [as_sent(server, folder / "sent")]
    if "src" not in (log + page).lower():
        homes.append(memory_on(Workspace(root.resolve())).public())
    for question in (*words, "", facts[0].text if facts else "one"):
        try:
            memory_on(Workspace(root)).query(question)
        except Exception:
            continue
        for home in homes:
            same(server, reader, home, question)
    shutil.rmtree(folder)


def test_what_a_line_from_outside_changes_at_home(server: Postgres, reader: Memory, tmp_path: Path) -> None:
    """It counts among the lines there, so that other words are rare: a copy is asked as what was sent is, in another order."""
    said = "- W: harbour {0}\n- W: tariff {0}\n- W: office harbour {0}\n"
    log = (
        "".join(said.format(f"of {name}") for name in ("one", "two"))
        + "- W(src=web): office office tariff office\n" * 3
    )
    root = write_pages(tmp_path / "w", {LOG: log}).root
    publish(server, root)
    assert same(server, reader, as_sent(server, tmp_path / "sent"), "harbour office tariff") == 6
    with pytest.raises(AssertionError):
        same(server, reader, memory_on(Workspace(root)).public(), "harbour office tariff")


def files(reader: Memory, name: str = "notes") -> dict[str, tuple[int, bytes]]:
    """The pages of a copy, with their inodes."""
    root = reader.workspace.memory / "shared" / name
    return {
        path.relative_to(root).as_posix(): (path.stat().st_ino, path.read_bytes())
        for path in sorted(root.rglob("*.md"))
    }


def test_only_what_changed_is_fetched(server: Postgres, reader: Memory, tmp_path: Path) -> None:
    """A page that stays is not written again; one that goes is gone."""
    root = write_pages(tmp_path / "w", PAGES).root
    publish(server, root)
    assert len(asked(server, reader, "tea").hits) == 1
    before = files(reader)
    assert {path: data.decode() for path, (_, data) in before.items()} == {
        path: (root / path).read_text() for path in PAGES
    }
    (root / "memory/2025-11-29.md").write_text("## Retain\n\n- W: новый чай\n")
    publish(server, root)
    assert len(asked(server, reader, "чай").hits) == 1
    after = files(reader)
    assert {path: after[path] for path in PAGES} == before
    (root / "memory/2025-11-28.md").unlink()
    publish(server, root)
    assert not asked(server, reader, "harbour").hits
    assert sorted(files(reader)) == [LOG, "memory/2025-11-29.md"]


def test_what_was_forgotten_is_in_no_file_of_a_copy(server: Postgres, reader: Memory, tmp_path: Path) -> None:
    """When the reader asks next: not in a page, not in the index."""
    root = write_pages(tmp_path / "w", {LOG: PAGES[LOG] + "- W @Peter: zanzibarite тайнослов ^f-gone0001\n"}).root
    publish(server, root)
    assert len(asked(server, reader, "zanzibarite").hits) == 1
    with memory_on(Workspace(root)) as memory:
        memory.forget(ids=["f-gone0001"], apply=True)
    publish(server, root)
    assert not asked(server, reader, "zanzibarite").hits and asked(server, reader, "tea").hits
    copy = reader.workspace.memory / "shared"
    every = [path.read_bytes() for path in copy.rglob("*") if path.is_file()]
    assert every and not [data for data in every if b"zanzibarit" in data or "тайнослов".encode() in data]


@pytest.mark.parametrize("how", ["withdrawn", "another team", "no longer a member"])
def test_a_copy_goes_with_the_right_to_see_it(server: Postgres, reader: Memory, tmp_path: Path, how: str) -> None:
    """At the next contact, whatever is asked then."""
    root = write_pages(tmp_path / "w", PAGES).root
    publish(server, root)
    publish(server, root, "other", user="carol", team="birch")
    asked(server, reader, "tea", user="bob")
    assert files(reader)
    if how == "withdrawn":
        memory_on(Workspace(root)).shared(server.url("alice")).withdraw("notes")
    elif how == "another team":
        server.sql("UPDATE memctl.workspaces SET team = 'birch'; UPDATE memctl.pages SET team = 'birch'")
    else:
        server.sql("REVOKE atlas FROM bob")
    try:
        with pytest.raises(
            NothingFound, match="shares no workspace other with you" if how != "another team" else "shares no"
        ):
            asked(server, reader, "tea", "other")
        assert not files(reader)
        with pytest.raises(NothingFound, match="shares no workspace notes with you"):
            asked(server, reader, "tea")
    finally:
        server.sql("GRANT atlas TO bob")


def test_a_name_that_was_taken_again(server: Postgres, reader: Memory, tmp_path: Path) -> None:
    """Withdrawn and published anew, at the same revision: another workspace, none of the old one's lines."""
    publish(server, write_pages(tmp_path / "a", PAGES).root)
    assert asked(server, reader, "tea").hits
    memory_on(Workspace(tmp_path / "a")).shared(server.url("alice")).withdraw("notes")
    publish(server, write_pages(tmp_path / "b", {LOG: "- W: coffee\n"}).root)
    assert not asked(server, reader, "tea").hits and asked(server, reader, "coffee").hits
    assert list(files(reader)) == [LOG]


def test_all_asks_those_that_hold_its_words(
    server: Postgres, reader: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only their pages travel; those with the rarest words first, and what was left out is said."""
    for number in range(6):
        said = {0: "- W: zanzibarite is rare\n", 5: "- W: чайник закипел\n"}.get(number, "")
        root = write_pages(tmp_path / f"{number}", {LOG: f"- W: harbour number {number}\n{said}"}).root
        publish(server, root, f"n{number}")
    root = write_pages(tmp_path / "hidden", {LOG: "- W: zanzibarite of others\n"}).root
    publish(server, root, "hidden", "carol", "birch")
    answer = asked(server, reader, "zanzibarite", "all")
    assert [str(hit.source) for hit in answer.hits] == ["n0:memory/2025-11-27.md#L4@r1"]
    assert sorted(path.name for path in (reader.workspace.memory / "shared").iterdir() if path.name[0] != ".") == ["n0"]
    assert [hit.workspace for hit in asked(server, reader, "чайники", "all").hits] == ["n5"]
    monkeypatch.setattr(room, "MOST", 2)
    answer = asked(server, reader, "harbour zanzibarite", "all")
    assert answer.hits[0].workspace == "n0"
    assert answer.warnings[0] == "asked the 2 best of 6 workspaces that hold words of this; --in NAME asks another"
    nothing = asked(server, reader, "qqqqq", "all")
    assert nothing.empty == (
        f"nothing found: none of 6 workspaces at 127.0.0.1:{server.port}/memctl holds a word of this",
    )


def test_the_role_that_was_set_decides(server: Postgres, reader: Memory, tmp_path: Path) -> None:
    """One login for many, as behind a pool of connections: `SET ROLE` is who asks, for rows and for what `all` finds."""
    publish(server, write_pages(tmp_path / "w", PAGES).root)
    publish(server, write_pages(tmp_path / "o", {LOG: "- W: tea of birch\n"}).root, "other", "carol", "birch")
    for role, seen in (("bob", ["notes"]), ("carol", ["other"])):
        shared = reader.shared(f"{server.url()}?options=-c%20role%3D{role}")
        assert [hit.workspace for hit in shared.recall(["all"], reader.query("tea")).hits] == seen


def test_several_by_name(server: Postgres, reader: Memory, tmp_path: Path) -> None:
    """The best of each by turns, each with its name."""
    for name in ("one", "two"):
        said = f"- W: harbour of {name}\n- W: another harbour of {name}\n"
        publish(server, write_pages(tmp_path / name, {LOG: said}).root, name)
    assert [hit.workspace for hit in asked(server, reader, "harbour", "two", "one").hits] == ["two", "one"] * 2


def test_how_long_facts_are_kept_is_the_publishers(server: Postgres, reader: Memory, tmp_path: Path) -> None:
    """`[ttl]` goes with the workspace, and is followed where it changes."""
    root = write_pages(tmp_path / "w", {"memory/2025-06-01.md": "- W: tea\n"}).root
    publish(server, root)
    assert asked(server, reader, "tea").hits
    (root / "memctl.toml").write_text('[ttl]\nworld = "30d"\n')
    with memory_on(find_workspace(str(root), {}, root)) as memory:
        memory.shared(server.url("alice")).publish("notes", team="atlas")
    assert not asked(server, reader, "tea").hits


def test_a_server_that_sends_what_nobody_published(server: Postgres, reader: Memory, tmp_path: Path) -> None:
    """A path that leads out of the copy, or to no page, is not written."""
    publish(server, write_pages(tmp_path / "w", PAGES).root)
    sql = "INSERT INTO memctl.pages SELECT workspace, %s, team, revision, digest, content, head, terms FROM memctl.pages WHERE path = %s"
    for path in (
        "../../../evil.md", "/tmp/evil.md", ".hidden.md", "x/../../evil.md", "memctl.toml", ".memory/copy.json", "a\nb.txt",
    ):  # fmt: skip
        server.sql(sql, path, LOG)
    assert len(asked(server, reader, "tea").hits) == 1
    assert sorted(files(reader)) == sorted(PAGES)
    server.sql("INSERT INTO memctl.workspaces (workspace, team) VALUES ('../../x', 'atlas')")
    server.sql("UPDATE memctl.pages SET workspace = '../../x'")
    assert not asked(server, reader, "tea", "all").hits and not asked(server, reader, "", "all").warnings
    assert not list(tmp_path.rglob("evil.md")) and not Path("/tmp/evil.md").exists()


def test_the_command(server: Postgres, tmp_path: Path) -> None:
    """Text, JSON and paths; the settings name the server, and a pipe gets citations."""
    publish(server, write_pages(tmp_path / "w", PAGES).root)
    root = write_pages(tmp_path / "r", {}).root
    (root / "memctl.toml").write_text(f'[shared]\nurl = "postgresql://bob@127.0.0.1:{server.port}/memctl"\n')
    words = ["recall", "кофе", "--in", "notes"]
    done = call(words, root, PGPASSWORD=PASSWORD)
    assert done.code == 0 and done.out.startswith("1. notes:memory/2025-11-27.md#L4@r1 · 2025-11-27 · world · Ирина")
    told = json.loads(call([*words, "--json"], root, PGPASSWORD=PASSWORD).out)
    hit = told["hits"][0]
    assert (hit["source"], hit["workspace"], hit["line"]) == ("notes:memory/2025-11-27.md#L4@r1", "notes", 4)
    assert call([*words, "--format", "paths"], root, PGPASSWORD=PASSWORD).out == "notes:memory/2025-11-27.md\n"
    missing = call(["recall", "x", "--in", "nobody"], root, PGPASSWORD=PASSWORD)
    assert missing.code == 1 and "shares no workspace nobody with you" in missing.err
    assert call(["recall", "x", "--in", "notes", "-i"], root).code == 2
    assert call(["recall", "x", "--in", "../x"], root).code == 2


def test_a_citation_is_opened(server: Postgres, tmp_path: Path) -> None:
    """By `show`, in the copy that answered, without the server; of another publication, page or name it says which it has."""
    source = write_pages(tmp_path / "w", PAGES).root
    publish(server, source)
    root = write_pages(tmp_path / "r", {LOG: "- W: own\n"}).root
    reader = memory_on(Workspace(root.resolve()))
    (hit,) = asked(server, reader, "кофе").hits
    place = f"notes:{LOG}#L4@r1"
    assert str(hit.source) == place
    done = call(["show", place, f"{LOG}#L3", "-C", "0"], root)
    assert done.out.split("\n")[0] == place and "пьёт кофе по утрам" in done.out and "W: own" in done.out
    told = json.loads(call(["show", place.removesuffix("@r1"), "--json"], root).out)["passages"]
    assert told[0]["source"] == place and len(told[0]["lines"]) == 5
    for other, said in (
        ("notes:memory/2025-11-27.md#L4@r10", f"the copy of notes has {LOG} as of r1, not r10"),
        ("notes:memory/2025-11-27.md#L4@abcdef0", f"the copy of notes has {LOG} as of r1, not abcdef0"),
        ("notes:memory/2020-01-01.md#L4@r1", "the copy of notes holds no memory/2020-01-01.md"),
        ("notes:../../../memctl.toml#L1@r1", "the copy of notes holds no ../../../memctl.toml"),
        ("others:memory/2025-11-27.md#L4@r1", "nothing is named"),
    ):
        failed = call(["show", other], root)
        assert failed.code == 1 and said in failed.err, failed.both
    with pytest.raises(NothingFound):  # nor to a client of the reader's own server
        reader.public().show(place)
    git(source, "init", "-q", "-b", "main"), git(source, "add", "memory"), git(source, "commit", "-qm", "x")
    commit = git(source, "rev-parse", "HEAD").strip()
    publish(server, source)
    (hit,) = asked(server, reader, "кофе").hits
    for cited in (str(hit.source), f"notes:{LOG}#L4@{commit}", f"notes:{LOG}#L4@{commit[:7]}"):
        assert reader.show(cited)[0].citation == hit.source
    with pytest.raises(NothingFound, match=f"as of {commit[:12]}, not r1"):
        reader.show(place)


def test_served(server: Postgres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Several servers of one reader answer what the command does, and follow what is published meanwhile; without a server 503."""
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    source = write_pages(tmp_path / "w", PAGES).root
    publish(server, source)
    root = write_pages(tmp_path / "r", {}).root
    (root / "memctl.toml").write_text(f'[shared]\nurl = "postgresql://bob@127.0.0.1:{server.port}/memctl"\n')
    workspace = find_workspace(str(root), {}, root)
    asking = {"query": "кофе", "in": ["notes"]}
    with serving(workspace) as one, serving(workspace) as two:
        said = json.loads(call(["recall", "кофе", "--in", "notes", "--json"], root).out)
        for running in (one, two, one):
            told = running.post("/v1/recall", asking).json
            assert told | {"took_ms": 0} == said | {"took_ms": 0}
        with open(source / LOG, "a") as page:
            page.write("- W: ещё кофе\n")
        publish(server, source)
        assert [len(running.post("/v1/recall", asking).json["hits"]) for running in (two, one)] == [2, 2]
        assert two.post("/v1/recall", asking | {"in": ["../x"]}).status == 422
        assert two.post("/v1/recall", asking | {"in": ["nobody"]}).status == 404
        server.kill()
        assert two.post("/v1/recall", asking).status == 503
        assert two.post("/v1/recall", {"query": "кофе"}).json["hits"] == []
        server.start()
        assert len(two.post("/v1/recall", asking).json["hits"]) == 2


def test_a_budget_is_for_all_of_it(server: Postgres, reader: Memory, tmp_path: Path) -> None:
    """Whatever the number of workspaces; without `k` it is filled, as at home."""
    for name in ("one", "two", "three"):
        said = "".join(f"- W: harbour {n} of {name}\n" for n in range(12))
        publish(server, write_pages(tmp_path / name, {LOG: said}).root, name)
    shared, query = reader.shared(server.url("bob")), reader.query("harbour")
    assert len(shared.recall(["all"], query, k=40).hits) == 36
    assert 0 < len(shared.recall(["all"], query, k=40, budget=300).hits) < 12
    with memory_on(Workspace((tmp_path / "one").resolve())) as memory:
        assert len(home := memory.public().recall(query, budget=2000).hits) == 12
    assert at_home(shared.recall(["one"], query, budget=2000).hits, "one") == list(home)


def test_without_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Publishing and asking name what to install; everything local works."""
    monkeypatch.setitem(sys.modules, "psycopg", None)
    root = write_pages(tmp_path, PAGES).root
    for words in (["publish", "--to", "postgresql://x/y", "--as", "a"], ["recall", "tea", "--in", "a"]):
        (root / "memctl.toml").write_text('[shared]\nurl = "postgresql://x/y"\n')
        done = call(words, root)
        assert done.code == 16 and "psycopg is not installed" in done.err and "memctl-workspace[shared]" in done.err
    assert "likes tea" in call(["recall", "tea"], root).out


def test_the_reader_keeps_nothing_of_a_question(server: Postgres, tmp_path: Path) -> None:
    """Asking leaves no row on the server, and a reader of a team writes none."""
    publish(server, write_pages(tmp_path / "w", PAGES).root)
    before = server.sql("SELECT * FROM memctl.workspaces"), server.sql("SELECT * FROM memctl.pages")
    asked(server, memory_on(write_pages(tmp_path / "r", {}), TODAY), "tea", "all")
    assert (server.sql("SELECT * FROM memctl.workspaces"), server.sql("SELECT * FROM memctl.pages")) == before
