"""What goes wrong between here and there: one line, one cure, exit code 17, nothing half visible, and nothing local that waits."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import traceback
from datetime import datetime
from pathlib import Path
from typing import Any

import psycopg
import pytest
from face_helpers import call, memory_on, write_pages
from http_helpers import serving
from postgres import PASSWORD, Postgres, free_port
from store_helpers import is_two_lines

from memctl.errors import MemctlError, Refused, ServerFailed
from memctl.memory import Memory, open_memory
from memctl.notes.workspace import Workspace, find_workspace
from memctl.shared import server as remote

LOG = "memory/2025-11-27.md"
PAGES = {LOG: "- W @Peter: likes tea\n- W @Ирина: пьёт кофе\n- W @爱丽丝: 住在北京\n"}
SECRET = "c0rrect-horse/бат+тери%"


def publish(server: Postgres, root: Path, **more: Any) -> Any:
    """Publish a folder as alice."""
    return memory_on(Workspace(root.resolve())).shared(server.url("alice")).publish("notes", team="atlas", **more)


def asked(server: Postgres, memory: Memory, words: str = "tea") -> list[str]:
    """The citations and lines that bob is answered."""
    answer = memory.shared(server.url("bob")).recall(["notes"], memory.query(words))
    return [f"{hit.source} {hit.content}" for hit in answer.hits]


def test_no_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exit code 17 at once for what needs it; what does not never tries to reach it, settings or not."""
    root = write_pages(tmp_path, PAGES).root
    (root / "memctl.toml").write_text(
        f'[shared]\nurl = "postgresql://alice@127.0.0.1:{free_port()}/memctl"\nname = "notes"\n'
    )
    for words in ("publish", "publish --withdraw", "recall tea --in notes", "recall tea --in all"):
        done = call(words.split(), root)
        assert done.code == 17 and is_two_lines(done.err) and "everything local works" in done.err, done.err

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a connection was tried")

    monkeypatch.setattr(psycopg, "connect", refuse)
    for words in ("recall tea", "retain W:x", "status", "check", "reflect", "index", "context tea", "recall"):
        assert call(words.split(), root).code == 0, words


def test_a_server_that_says_nothing(tmp_path: Path) -> None:
    """One that takes the connection and stays silent is waited for no longer than its address allows."""
    root = write_pages(tmp_path, PAGES).root
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        url = f"postgresql://alice@127.0.0.1:{silent.getsockname()[1]}/memctl?connect_timeout=2"
        done = call(["publish", "--to", url, "--as", "notes"], root)
    assert done.code == 17 and is_two_lines(done.err), done.err


def test_a_wrong_password_is_never_printed(server: Postgres, tmp_path: Path) -> None:
    """Not from the address, not from the environment, not in JSON, not with --debug; nor that of an address that cannot be read."""
    from urllib.parse import quote

    root = write_pages(tmp_path, PAGES).root
    spelled = quote(SECRET, safe="")
    plain = f"postgresql://alice@127.0.0.1:{server.port}/memctl"
    for url in (plain.replace("@", f":{spelled}@"), f"{plain}?password={spelled}", plain):
        for words in (["publish", "--to", url, "--as", "notes"], ["publish", "--to", url, "--as", "notes", "--json"]):
            done = call(words, root, PGPASSWORD=SECRET)
            assert done.code == 17 and SECRET not in done.both and spelled not in done.both
            assert "password authentication failed" in done.both and "~/.pgpass" in done.both
    for url in (
        f"postgresql://alice:{SECRET}@@::x/%zz", f"host=x password={SECRET} what", f"postgresql://a:{SECRET}@h:port/db",
        "postgresql://a:бат/it@h/db", "postgresql://a:p@бат@h/db", "postgresql://a:бат%zz@h/db",
    ):  # fmt: skip
        done = call(["publish", "--to", url, "--as", "notes", "--debug"], root)
        assert done.code in (2, 17) and SECRET not in done.both and "бат" not in done.both, done.both
        with pytest.raises(MemctlError) as failed:
            memory_on(Workspace(root)).shared(url).publish("notes")
        assert "бат" not in "".join(traceback.format_exception(failed.value))
    (root / "memctl.toml").write_text(f'[shared]\nurl = "postgresql://alice:{SECRET}@h/db"\n')
    done = call(["recall", "tea"], root)
    assert done.code == 2 and "~/.pgpass" in done.err and SECRET not in done.err


@pytest.mark.parametrize(("version", "cure"), [(0, "DROP SCHEMA memctl CASCADE"), (99, "update memctl")])
def test_an_old_schema_and_a_newer_one(server: Postgres, tmp_path: Path, version: int, cure: str) -> None:
    """Are refused for reading and writing, with what to do; nothing is changed."""
    root = write_pages(tmp_path, PAGES).root
    publish(server, root)
    server.sql("UPDATE memctl.meta SET version = %s", version)
    url = server.url("alice")
    (root / LOG).write_text("## Retain\n\n- W: changed\n")
    (root / "memctl.toml").write_text(f'[shared]\nurl = "postgresql://alice@127.0.0.1:{server.port}/memctl"\n')
    for words in (["publish", "--to", url, "--as", "notes"], ["recall", "tea", "--in", "notes"]):
        done = call(words, root, PGPASSWORD=PASSWORD)
        assert done.code == 17 and is_two_lines(done.err) and cure in done.err, done.err
    assert server.sql("SELECT revision FROM memctl.workspaces") == [(1,)]


def test_a_server_without_the_schema(server: Postgres, tmp_path: Path) -> None:
    """Is told apart from one that cannot be reached."""
    server.sql("DROP SCHEMA memctl CASCADE")
    with pytest.raises(ServerFailed, match="holds no shared memory"):
        asked(server, memory_on(write_pages(tmp_path, {})))


MANY = {f"memory/2024-{m:02}-{d:02}.md": f"- W: harbour {m} {d} REV\n" for m in range(1, 13) for d in range(1, 26)}


def many(revision: int) -> dict[str, str]:
    """300 pages that name their revision."""
    return {path: text.replace("REV", f"revision{revision}") for path, text in MANY.items()}


def run_and_die(code: str, *words: object) -> None:
    """Run Python in a process of its own that kills itself with SIGKILL."""
    command, env = [sys.executable, "-c", code, *map(str, words)], os.environ | {"MEMCTL_VECTORS": "none"}
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    assert done.returncode == -signal.SIGKILL, done.stderr[-800:]


def revisions(server: Postgres) -> tuple[set[str], list[Any]]:
    """What the pages on the server name, and the number of the workspace's revision."""
    rows, numbers = map(server.sql, ("SELECT content FROM memctl.pages", "SELECT revision FROM memctl.workspaces"))
    return {bytes(content).decode().split()[-1] for (content,) in rows}, numbers


def test_a_publisher_that_is_killed(server: Postgres, tmp_path: Path) -> None:
    """In the middle of sending: the server has what it had, and the same folder publishes again without being taken for another."""
    root = write_pages(tmp_path / "w", many(1)).root
    publish(server, root)
    write_pages(tmp_path / "w", many(2))
    dying = "import os, sys; from memctl.memory import open_memory; m = open_memory(sys.argv[1]); "
    dying += "m.progress = lambda done, of, what: os.kill(os.getpid(), 9) if what == 'publishing' else None; "
    dying += "m.shared(sys.argv[2]).publish('notes', team='atlas')"
    run_and_die(dying, root, server.url("alice"))
    assert revisions(server) == ({"revision1"}, [(1,)])
    write_pages(tmp_path / "w", many(3))
    run_and_die(dying, root, server.url("alice"))
    assert len(publish(server, root).sent) == 300
    assert revisions(server) == ({"revision3"}, [(2,)])


def test_a_publisher_that_is_killed_after_the_last_word(server: Postgres, tmp_path: Path) -> None:
    """What it committed is its own: it goes on without --force."""
    root = write_pages(tmp_path / "w", PAGES).root
    dying = "import os, sys; from memctl.memory import open_memory; from memctl.shared import server; "
    dying += (
        "server.SharedServer._connected = (lambda old: lambda self: Dies(old(self)))(server.SharedServer._connected)\n"
    )
    dying += "class Dies:\n    def __init__(self, inner): self.inner = inner\n"
    dying += "    def __getattr__(self, name): return getattr(self.inner, name)\n    def close(self): os.kill(os.getpid(), 9)\n"
    dying += "m = open_memory(sys.argv[1], resident=False); m.shared(sys.argv[2]).publish('notes', team='atlas')"
    run_and_die(dying, root, server.url("alice"))
    assert server.sql("SELECT revision FROM memctl.workspaces") == [(1,)]
    (root / LOG).write_text("## Retain\n\n- W: changed\n")
    assert publish(server, root).sent == (LOG,)


def test_a_reader_that_is_killed(server: Postgres, tmp_path: Path) -> None:
    """In the middle of fetching: the next one goes on, and answers as if nothing had been."""
    root = write_pages(tmp_path / "w", many(1)).root
    publish(server, root)
    reader = memory_on(write_pages(tmp_path / "r", {}))
    dying = "import os, sys; from memctl.memory import open_memory; from memctl.shared import shared as copies; old = copies.write_derived\n"
    dying += "def write(path, data):\n    count.append(path)\n    os.kill(os.getpid(), 9) if len(count) > 100 else old(path, data)\n"
    dying += "count = []; copies.write_derived = write; m = open_memory(sys.argv[1], resident=False); "
    dying += "m.shared(sys.argv[2]).recall(['notes'], m.query('harbour'))"
    run_and_die(dying, reader.workspace.root, server.url("bob"))
    root.joinpath("memory/2024-01-01.md").unlink()
    publish(server, root)
    fresh = memory_on(write_pages(tmp_path / "fresh", {}))
    assert asked(server, reader, "harbour 3") == asked(server, fresh, "harbour 3") != []
    assert not asked(server, reader, "2024-01-01 harbour 1 1")[0].startswith("notes:memory/2024-01-01")
    run_and_die(dying, write_pages(tmp_path / "again", {}).root, server.url("bob"))


def test_a_server_that_dies_while_it_is_written_to(server: Postgres, tmp_path: Path) -> None:
    """One line and 17; when it is back, it has what it had before, and all of it arrives the next time."""
    root = write_pages(tmp_path / "w", many(1)).root
    publish(server, root)
    write_pages(tmp_path / "w", many(2))
    memory = memory_on(Workspace(root))
    memory.progress = lambda done, of, what: server.kill() if what == "publishing" and server.runs else None
    with pytest.raises(ServerFailed) as failed:
        memory.shared(server.url("alice")).publish("notes", team="atlas")
    assert "\n" not in failed.value.what and PASSWORD not in failed.value.what
    server.start()
    assert revisions(server) == ({"revision1"}, [(1,)])
    publish(server, root)
    assert revisions(server) == ({"revision2"}, [(2,)])


def test_a_damaged_page_is_not_shown_and_the_cure_cures(server: Postgres, tmp_path: Path) -> None:
    """Published again it would not travel, since its digest stands: withdrawn before, it does."""
    root = write_pages(tmp_path / "w", PAGES).root
    publish(server, root)
    server.sql("UPDATE memctl.pages SET content = 'tea'")
    reader = memory_on(write_pages(tmp_path / "r", {}))
    with pytest.raises(ServerFailed, match=f"notes:{LOG} damaged") as failed:
        asked(server, reader)
    assert "--withdraw" in failed.value.cure
    memory_on(Workspace(root.resolve())).shared(server.url("alice")).withdraw("notes")
    publish(server, root)
    assert asked(server, reader) == [f"notes:{LOG}#L3@r1 likes tea"]


def test_an_empty_name_is_none(tmp_path: Path) -> None:
    """`--in "$TEAM"` with nothing in it is no question to this workspace."""
    root = write_pages(tmp_path, PAGES).root
    (root / "memctl.toml").write_text(f'[shared]\nurl = "postgresql://alice@127.0.0.1:{free_port()}/memctl"\n')
    done = call(["recall", "tea", "--in", ""], root)
    assert done.code == 2 and is_two_lines(done.err) and not done.out


def test_the_driver_says_nothing_beside_us() -> None:
    """psycopg tells its log of a pipeline that broke; where nobody set one up, Python would print that."""
    program = "import logging, memctl.shared.server; logging.getLogger('psycopg').warning('the connection is lost')"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stderr == ""


def test_a_server_that_dies_between_questions(server: Postgres, tmp_path: Path) -> None:
    """17 while it is away; a process that stays asks it again when it is back, over another connection."""
    root = write_pages(tmp_path / "w", PAGES).root
    publish(server, root)
    with open_memory(write_pages(tmp_path / "r", {}).root, now=datetime(2025, 11, 30)) as reader:
        before = asked(server, reader)
        assert asked(server, reader) == before == ["notes:memory/2025-11-27.md#L3@r1 likes tea"]
        server.kill()
        with pytest.raises(ServerFailed):
            asked(server, reader)
        assert reader.recall("tea").hits == ()  # local, and not waiting
        server.start()
        assert asked(server, reader) == before
        (root / LOG).write_text("## Retain\n\n- W: green tea\n")
        publish(server, root)
        assert asked(server, reader) == ["notes:memory/2025-11-27.md#L3@r2 green tea"]


def test_a_server_that_falls_silent(server: Postgres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the middle of asking: it is given up. Whoever asks `serve` for what is here never waits for those who ask for what is there."""
    publish(server, write_pages(tmp_path / "w", PAGES).root)
    root = write_pages(tmp_path / "r", {LOG: "- W: local harbour\n"}).root
    (root / "memctl.toml").write_text(f'[shared]\nurl = "postgresql://bob@127.0.0.1:{server.port}/memctl"\n')
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    answers: list[int] = []

    def ask() -> None:
        answers.append(len(running.post("/v1/recall", {"query": "tea", "in": ["notes"]}).json["hits"]))

    waiting = [threading.Thread(target=ask) for _ in range(6)]
    waits = "SELECT count(*) FROM pg_locks WHERE NOT granted"
    with psycopg.connect(server.url()) as silent, serving(find_workspace(str(root), {}, root)) as running:
        silent.execute("LOCK TABLE memctl.meta")
        for thread in waiting:
            thread.start()
        while server.sql(waits)[0][0] < 4:
            assert not answers
        assert len(running.post("/v1/recall", {"query": "harbour"}).json["hits"]) == 1 and not answers
        monkeypatch.setattr(remote, "SILENCE", 0.3)
        with pytest.raises(ServerFailed, match="closed the connection"):
            asked(server, memory_on(write_pages(tmp_path / "o", {})))
        silent.rollback()
        for thread in waiting:
            thread.join()
    assert answers == [1] * 6


def test_an_answer_is_of_one_revision(server: Postgres, tmp_path: Path) -> None:
    """Readers of one folder, in threads as in processes that serve, ask while another publishes: no answer mixes two states."""
    pages = dict(list(MANY.items())[:12])
    root = write_pages(tmp_path / "w", pages).root
    publish(server, root)
    folder, mixed, count = write_pages(tmp_path / "r", {}).root, list[set[str]](), [0]
    done = threading.Event()

    def read(resident: bool) -> None:
        with open_memory(folder, now=datetime(2025, 11, 30), resident=resident) as memory:
            shared = memory.shared(server.url("bob"))
            while not done.is_set():
                answer = shared.recall(["notes"], memory.query("harbour"), k=20)
                said = {hit.content.split()[-1] for hit in answer.hits}
                count[0] += 1
                if len(said) != 1 or len(answer.hits) != 12:
                    mixed.append(said)

    readers = [threading.Thread(target=read, args=[resident]) for resident in (True, True, False)]
    for thread in readers:
        thread.start()
    for revision in range(6):
        write_pages(tmp_path / "w", {path: text.replace("REV", f"v{revision}") for path, text in pages.items()})
        publish(server, root)
    done.set()
    for thread in readers:
        thread.join()
    assert not mixed and count[0] >= 3


def test_clocks_apart(server: Postgres, tmp_path: Path) -> None:
    """What stands there and who may overwrite what follows from no clock of any publisher or reader."""
    one, other = (write_pages(tmp_path / name, PAGES).root for name in ("one", "other"))
    stores = []
    for year in (1999, 2099):
        server.sql("TRUNCATE memctl.workspaces CASCADE")
        memory = Memory(Workspace(one), lambda year=year: datetime(year, 1, 1))
        memory.shared(server.url("alice")).publish("notes", team="atlas")
        stores.append(server.sql("SELECT path, revision, digest, terms FROM memctl.pages ORDER BY 1"))
        (one / ".memory" / "shared.json").unlink()
    assert stores[0] == stores[1]
    (other / LOG).write_text("## Retain\n\n- W: later by its own clock\n")
    with pytest.raises(Refused):
        Memory(Workspace(other), lambda: datetime(2199, 1, 1)).shared(server.url("alice")).publish(
            "notes", team="atlas"
        )


def test_a_database_that_is_not_unicode(server: Postgres, tmp_path: Path) -> None:
    """Chinese terms have no place in it: it is refused before anything is made there."""
    server.sql("DROP DATABASE IF EXISTS latin")
    server.sql("CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0")
    root = write_pages(tmp_path, PAGES).root
    done = call(["publish", "--to", server.url(database="latin"), "--as", "notes"], root)
    assert done.code == 17 and "encoded in LATIN1" in done.err and "createdb -E UTF8" in done.err
