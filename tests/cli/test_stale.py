"""S16: an answer from an index that is missing, partial or old is whole, or says `stale` in its JSON and in its text."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from face_helpers import call, recent_copy

READS = [  # context before review: it says how many of the questions that were shown wait
    ["context", "why PostgreSQL?"], ["recall", "which database does Curlew use?"], ["show", "Curlew"], ["fact", "list"], ["fact", "get", "db", "--about", "Curlew"],
    ["fact", "history", "db", "--about", "Curlew"], ["entity", "list"], ["entity", "show", "Curlew"], ["belief", "list"],
    ["belief", "show", "o-n3wk7vfa"], ["why", "o-n3wk7vfa"], ["conflicts"], ["review"], ["check"],
    ["status"],
]  # fmt: skip
LATE = (
    "# 2025-11-29\n\n## Retain\n\n- W(key=db) @Curlew: The database is DuckDB now\n- W(key=port) @Curlew: 7000\n"
    "- O(0.9) @Irina: Likes DuckDB\n- W @Gull-Spit: The station has 13 nets\n"
)
OWN = ("took_ms", "index_bytes", "markdown_bytes", "fresh", "workspace")


@pytest.fixture(scope="module")
def behind(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace whose index does not know its newest page yet, and where a recall may take no time to read it."""
    root = recent_copy(tmp_path_factory.mktemp("behind"))
    call(["index"], root)
    (root / "memory" / "2025-11-29-late.md").write_text(LATE, "utf-8")
    with (root / "memctl.toml").open("a") as settings:
        settings.write("\n[recall]\nsync_seconds = 0\n")
    for page in root.rglob("*.md"):
        os.utime(page, (1_700_000_000, 1_700_000_000))  # a page saved within two seconds is read again
    return root


@pytest.fixture(scope="module")
def fresh(behind: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same files, with an index that was just made."""
    root = tmp_path_factory.mktemp("fresh") / "workspace"
    shutil.copytree(behind, root, ignore=shutil.ignore_patterns("index*"))
    call(["index"], root)
    return root


def answer(words: list[str], root: Path) -> tuple[int, dict[str, object], str]:
    done = call([*words, "--json", "--quiet"], root)
    return done.code, {key: value for key, value in json.loads(done.out).items() if key not in OWN}, done.err


@pytest.mark.parametrize("words", READS, ids=" ".join)
def test_a_missing_or_partial_index_is_made_whole(words: list[str], behind: Path, fresh: Path, tmp_path: Path) -> None:
    """By everything but a recall and a context, whose time is short: they say that they are stale."""
    partial, missing = tmp_path / "partial", tmp_path / "missing"
    shutil.copytree(behind, partial)
    shutil.copytree(behind, missing, ignore=shutil.ignore_patterns("index*"))
    wanted = answer(words, fresh)
    assert answer(words, missing) == wanted
    found = answer(words, partial)
    assert found == wanted or (words[0] in ("recall", "context", "status") and found[1]["stale"])


@pytest.mark.parametrize("words", READS, ids=" ".join)
def test_an_index_that_cannot_be_written_says_so(words: list[str], behind: Path, tmp_path: Path) -> None:
    """Another process keeps it locked: what the newest page says is missing, and the answer says that."""
    root = tmp_path / "workspace"
    shutil.copytree(behind, root)
    with closing(sqlite3.connect(root / ".memory" / "index.sqlite", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        code, found, _ = answer(words, root)
        told = call(words, root, merged=True).out
    assert code in (0, 1) and found["stale"] and "stale: " in told
