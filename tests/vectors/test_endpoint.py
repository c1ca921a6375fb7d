"""Vectors from a server on this machine that speaks as OpenAI's embeddings do, and every way in which it can fail."""

from __future__ import annotations

import importlib.util
import json
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from face_helpers import call, write_pages
from hash_embedder import hashed
from model_server import saying, server

import memctl

PAGES = {
    "memory/2025-11-27.md": "## Retain\n\n- W @Atlas: The database is PostgreSQL\n- W @Пётр: Живёт в Лиссабоне\n- W @爱丽丝: 爱丽丝管理钥匙\n"
}


def answer(handler: BaseHTTPRequestHandler, asked: dict[str, Any]) -> None:
    """What such a server answers, in an order of its own."""
    rows = [{"index": number, "embedding": hashed(text)} for number, text in enumerate(asked["input"])]
    saying(json.dumps({"object": "list", "data": rows[::-1]}).encode())(handler, asked)


def made(folder: Path, url: str, model: str = "nomic-embed") -> Path:
    """A workspace whose vectors come from there."""
    root = write_pages(folder, PAGES).root
    (root / "memctl.toml").write_text(f'[vectors]\nurl = "{url}"\nmodel = "{model}"\n', "utf-8")
    return root


@pytest.fixture(autouse=True)
def by_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """The settings choose, not the environment."""
    monkeypatch.delenv("MEMCTL_VECTORS", raising=False)


def used(root: Path) -> dict[str, Any]:
    """What status says of the vectors."""
    told: dict[str, Any] = json.loads(call(["status", "--json"], root).out)["vectors"]
    return told


@pytest.mark.parametrize(
    ("question", "found"),
    [("which database?", "PostgreSQL"), ("где живёт Пётр?", "Лиссабоне"), ("谁管理钥匙？", "钥匙")],
)
def test_index_and_recall(tmp_path: Path, question: str, found: str) -> None:
    """The lines are embedded there, and so is the question; without the server words answer, and one line says why."""
    with server(answer) as (url, seen):
        root = made(tmp_path, url)
        assert call(["index"], root).code == 0
        assert used(root)["embedded"] == 3 and used(root)["used"] and used(root)["model"] == "nomic-embed"
        sent = len(seen)
        done = call(["recall", question], root)
        assert found in done.out and "words only" not in done.err
        assert seen[-1]["input"] == [question] and len(seen) == sent + 1
        assert {each["path"] for each in seen} == {"/v1/embeddings"} and {each["model"] for each in seen} == {
            "nomic-embed"
        }
        assert call(["index"], root).code == 0 and len(seen) == sent + 1  # what is done is not asked for again
    done = call(["recall", question], root)
    assert done.code == 0 and found in done.out and done.err.count("answered by words only") == 1
    assert used(root)["embedded"] == 3


def test_without_numpy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exit code 16 with the install command; a recall answers by words, and one line says why."""
    find = importlib.util.find_spec
    with server(answer) as (url, seen):
        root = made(tmp_path, url)
        assert call(["index"], root).code == 0
        monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "numpy" else find(name))
        sent, done = len(seen), call(["index"], root)
        assert done.code == 16 and "numpy" in done.err and "pip install 'memctl-workspace[" in done.err
        done = call(["recall", "which database?"], root)
        assert done.code == 0 and "PostgreSQL" in done.out and done.err.count("answered by words only") == 1
        assert used(root)["embedded"] == 3 and not used(root)["used"] and len(seen) == sent


def test_what_is_kept_is_not_embedded_again(tmp_path: Path) -> None:
    """Such a server may round otherwise each time: a new page costs its own lines."""
    rounds = [0]

    def act(handler: BaseHTTPRequestHandler, asked: dict[str, Any]) -> None:
        rounds[0] += 1
        vectors = ([x + rounds[0] / 500 for x in hashed(text)] for text in asked["input"])
        saying(_rows(*vectors))(handler, asked)

    with server(act) as (url, seen):
        root = made(tmp_path, url)
        assert call(["index"], root).code == 0
        (root / "memory/2025-11-28.md").write_text("## Retain\n\n- W @Atlas: Has a new dashboard\n", "utf-8")
        sent = len(seen)
        assert call(["index"], root).code == 0
        texts = [text for each in seen[sent:] for text in each["input"]]
        assert [text for text in texts if "dashboard" in text] and not [text for text in texts if "PostgreSQL" in text]


def test_e5_gets_its_prompts(tmp_path: Path) -> None:
    """As its model card wants them, and no other model."""
    with server(answer) as (url, seen):
        root = made(tmp_path, url, "multilingual-e5-base")
        call(["index"], root)
        call(["recall", "which database?"], root)
        assert all(text.startswith("passage: ") for each in seen[:-1] for text in each["input"])
        assert seen[-1]["input"] == ["query: which database?"]


def _rows(*vectors: Any) -> bytes:
    return json.dumps(
        {"data": [{"index": number, "embedding": vector} for number, vector in enumerate(vectors)]}
    ).encode()


BAD = {
    "not there": saying(b"{}", 404), "broken": saying(b"{}", 500), "rubbish": saying(b"\xff<html>"), "empty": saying(b""),
    "no list": saying(b'{"data": 1}'), "too few": saying(_rows([1.0, 2.0])), "no numbers": saying(_rows(*["x"] * 64)),
    "nan": saying(b'{"data": [' + b",".join(b'{"index": %d, "embedding": [NaN, 1]}' % n for n in range(64)) + b"]}"),
    "zeros": saying(_rows(*[[0.0, 0.0]] * 64)), "of other lengths": saying(_rows(*[[1.0] * (n + 1) for n in range(64)])),
    "nested": saying(b"[" * 100_000),
}  # fmt: skip


@pytest.mark.parametrize("what", BAD)
def test_a_server_that_fails(tmp_path: Path, what: str) -> None:
    """Words answer, the index is whole, and one line says what is wrong; nothing is kept of what it answered."""
    with server(BAD[what]) as (url, _):
        root = made(tmp_path, url)
        done = call(["index"], root)
        assert done.code in (0, 16) and "nomic-embed" in done.err and "Traceback" not in done.err
        assert used(root)["embedded"] == 0
        assert "PostgreSQL" in call(["recall", "which database?"], root).out


def test_a_server_that_answers_a_question_with_another_length(tmp_path: Path) -> None:
    """Words answer, and one line says why."""

    def act(handler: BaseHTTPRequestHandler, asked: dict[str, Any]) -> None:
        (answer if len(asked["input"]) > 1 else saying(_rows([1.0, 2.0, 3.0])))(handler, asked)

    with server(act) as (url, _):
        root = made(tmp_path, url)
        call(["index"], root)
        done = call(["recall", "which database?"], root)
        assert done.code == 0 and "PostgreSQL" in done.out and done.err.count("answered by words only") == 1
        assert "vectors of 3 numbers, those that are kept have" in done.err and "run `memctl index`)" in done.err


@pytest.mark.parametrize(("length", "embedded"), [(4096, 3), (4097, 0)])
def test_long_vectors(tmp_path: Path, length: int, embedded: int) -> None:
    """A full batch with all digits is more than a mebibyte; what is too long for the file is said, with a cure that fits."""

    def act(handler: BaseHTTPRequestHandler, asked: dict[str, Any]) -> None:
        saying(
            _rows(*[[0.1 + 1e-17 * n, *[-0.012345678901234567] * (length - 1)] for n in range(len(asked["input"]))])
        )(handler, asked)

    with server(act) as (url, _):
        root = made(tmp_path, url)
        done = call(["index"], root)
        assert used(root)["embedded"] == embedded
        assert bool(embedded) or (
            "vectors of 4,097 numbers; 4,096 are the most" in done.err and "serve a model" in done.err
        )


def test_a_slow_server_keeps_a_process_waiting_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever waits half a second for `serve` would have no memory at all for as long as the model hangs."""
    with server(answer) as (url, seen):
        root = made(tmp_path, url)
        call(["index"], root)
        monkeypatch.setattr("memctl.vectors.models.QUESTION_SECONDS", 0.0)
        before = len(seen)
        with memctl.open(root) as memory:
            told = [memory.recall("which database?") for _ in range(3)]
        assert len(seen) <= before + 1
        assert [each.warnings[0].rpartition(": ")[2] for each in told] == [
            "it took too long",
            *["it took too long a moment ago"] * 2,
        ]


@pytest.mark.parametrize(
    "url", ["http://10.0.0.1:11434/v1", "https://127.0.0.1/v1", "http://example.com/v1", "ftp://x", "nonsense"]
)
def test_only_this_machine_is_asked(tmp_path: Path, url: str) -> None:
    """A folder that came from elsewhere sends no line of it away: its settings are refused before anything is done."""
    done = call(["recall", "which database?"], made(tmp_path, url))
    assert done.code == 2 and "vectors.url must be the URL of a server on this machine" in done.err and not done.out
