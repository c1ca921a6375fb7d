"""`memctl.client` and the routes that it asks: store, recall, ingest, stats, delete, and servers that do their worst."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
from face_helpers import write_pages
from http_helpers import Running, serving
from model_server import saying, server as stranger

from memctl.client import Client, Unanswered
from memctl.notes.workspace import Workspace

SAID = (
    ("The staging database runs on port 5433", "which port does staging use?"),
    ("Архив лежит на складе в Твери", "где лежит архив?"),
    ("备份服务器在上海机房", "备份服务器在哪里？"),
)


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """Public lines and a private one, a twin of one of them beside it."""
    page = "## Retain\n\n- W @Atlas: The crane creaks ^f-crane\n- W(private) @Atlas: The PIN is 7391 ^f-pin\n"
    return write_pages(tmp_path, {"memory/2025-11-01.md": page})


@pytest.fixture
def server(workspace: Workspace) -> Iterator[Running]:
    """A server of it."""
    with serving(workspace) as made:
        yield made


@pytest.fixture
def client(server: Running) -> Client:
    """A client that may wait for a busy machine."""
    return Client(server.token, server.url, seconds=30)


@pytest.mark.parametrize(("text", "question"), SAID)
def test_what_is_stored_is_recalled(client: Client, text: str, question: str) -> None:
    """In three languages; what has no answer is empty and no problem."""
    citation = client.store(text)
    assert citation.startswith("memory/2025-11-30.md#L")
    block = client.recall(question, k=3, hops=2)
    assert text in block and citation in block and client.problem is None
    assert client.recall("xylophone") == "" and client.problem is None


def test_an_exchange(client: Client) -> None:
    """How many facts were kept of it."""
    assert client.ingest("Remember: the demo is on Friday.", "Noted.") == 1
    assert client.ingest("Thanks!", "You are welcome.") == 0


@pytest.mark.parametrize(
    ("user", "assistant", "question", "told"),
    [
        ("Why is checkout slow?", "I checked the plan: the users table has no index on its login column.", "users index", "has no index"),
        ("Почему тормозит база?", "Проверил: в таблице users нет индекса по полю email.", "индекс email", "нет индекса"),
        ("帮我看看数据库为什么慢", "检查了一下，是 users 表缺少 email 字段的索引...", "users 索引", "缺少 email 字段的索引"),
    ],
)  # fmt: skip
def test_a_bug_report_and_its_diagnosis(
    client: Client, workspace: Workspace, user: str, assistant: str, question: str, told: str
) -> None:
    """What the assistant found out is kept, said by an agent, with no model; advice is not."""
    assert client.ingest(user, assistant) == 1
    assert told in client.recall(question)
    (line,) = (workspace.root / "memory/2025-11-30.md").read_text("utf-8").splitlines()[-1:]
    assert told in line and "src=agent" in line
    assert client.ingest("How do I find slow queries?", "You can turn on the slow query log.") == 0


def test_stats(client: Client) -> None:
    """Counts without the private line, time since the start, and what answers took."""
    client.recall("crane")
    stats = client.stats()
    assert (stats["num_memories"], stats["num_vectors"], stats["embedding_model"]) == (1, 0, None)
    assert stats["vectors_way"] == "exact" or stats["vectors_way"] == "file"
    assert isinstance(stats["uptime_seconds"], int | float)
    taken = stats["latency_ms"]["/recall"]
    assert taken["count"] == 1 and {"p50", "p99"} <= taken.keys()


def test_delete_in_two_steps(client: Client, workspace: Workspace) -> None:
    """First what would go and a word for it, which then forgets; another word does not."""
    page = workspace.root / "memory/2025-11-01.md"
    before = page.read_bytes()
    planned = client.delete("f-crane")
    assert (planned["applied"], [line["id"] for line in planned["lines"]]) == (False, ["f-crane"])
    with pytest.raises(Unanswered, match="have changed since this confirm"):
        client.delete("f-crane", "forget-1-000000000000")
    assert page.read_bytes() == before
    done = client.delete("f-crane", planned["confirm"])
    assert (done["applied"], done["confirm"]) == (True, None)
    assert "creaks" not in page.read_text("utf-8") and "7391" in page.read_text("utf-8")
    with pytest.raises(Unanswered) as told:
        client.delete("f-crane")
    assert told.value.status == 404


@pytest.mark.parametrize("ref", ["f-nowhere", "f-pin", "a?b=1", "爱"])
@pytest.mark.parametrize("confirm", [None, "forget-1-000000000000"])
def test_an_unknown_id_and_a_private_one_are_refused_alike(client: Client, ref: str, confirm: str | None) -> None:
    """Nothing is told of a line that others may not see."""
    with pytest.raises(Unanswered) as told:
        client.delete(ref, confirm)
    assert (told.value.status, told.value.what) == (404, f"no line has the id ^{ref}")
    assert told.value.cure == "recall prints the id of each line"


def test_delete_takes_nothing_else(server: Running, workspace: Workspace) -> None:
    """Unknown parameters, other methods, a server that only reads."""
    assert server.delete("/v1/facts/f-crane?apply=1").status == 422
    assert server.get("/v1/facts/f-crane").status == 405
    assert server.delete("/v1/facts/").status == 404
    assert server.delete(f"/v1/facts/{'f' * 201}").status == 422
    with serving(workspace, read_only=True) as other:
        assert other.delete("/v1/facts/f-crane").status == 403
    assert not any("f-crane" in line for line in server.log)


def test_nobody_is_there() -> None:
    """A chat goes on without its memory; what must be done is told, and a workspace that was never served too."""
    client = Client("t", "http://127.0.0.1:9", seconds=0.2)
    assert (client.recall("x"), client.ingest("x", "y")) == ("", 0)
    assert client.problem and "no answer" in client.problem.what and "memctl serve" in client.problem.cure
    with pytest.raises(Unanswered):
        client.store("x")
    with pytest.raises(Unanswered, match="no token"):
        Client.of("nowhere")


def test_the_token_is_read_and_a_wrong_one_is_refused(server: Running, workspace: Workspace) -> None:
    """`Client.of` takes that of the workspace."""
    (workspace.root / ".memory").mkdir(exist_ok=True)
    (workspace.root / ".memory/token").write_text(server.token + "\n")
    assert "creaks" in Client.of(workspace.root, server.url, 30).recall("crane")
    client = Client("wrong", server.url, 30)
    assert client.recall("crane") == "" and client.problem and client.problem.status == 401


def _away(handler: BaseHTTPRequestHandler, _: object) -> None:
    handler.send_response(302)
    handler.send_header("Location", "http://127.0.0.1:9/stolen")
    handler.end_headers()


STRANGERS = {
    "away": _away, "refused": saying(b"<html>", 500), "list": saying(b"[1]"), "rubbish": saying(b"\xff{"), "short": saying(b""),
    "html": saying(b"<html>"),
}  # fmt: skip


@pytest.mark.parametrize("what", STRANGERS)
def test_a_stranger_answers(what: str) -> None:
    """Another server on that port: no traceback, no redirect, nothing believed."""
    with stranger(STRANGERS[what]) as (url, _):
        client = Client("t", url, seconds=30)
        assert client.recall("x") == "" and client.problem


def test_it_loads_the_standard_library_alone() -> None:
    """A program that only asks pays for no part of memctl but this."""
    code = "import sys, memctl.client; print(*sorted(name for name in sys.modules if name.startswith('memctl')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["memctl", "memctl.client", "memctl.errors"]
