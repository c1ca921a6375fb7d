"""What the tests of the store share: a small workspace, the command line as a process, and the index as plain rows."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path

import pytest
from processes import run_memctl

from memctl.errors import MemctlError
from memctl.index.heal import open_scratch, with_index
from memctl.index.queries.entries import dump
from memctl.index.sync import SyncReport, sync
from memctl.notes.workspace import Workspace

DAY = date(2025, 11, 27)
LOG = "memory/2025-11-27.md"

PAGES = {
    LOG: (
        "# 2025-11-27\n\nA long day in the Fjord room.\n\n## Retain\n\n"
        "- W(key=db) @Atlas: The database is PostgreSQL 16 ^f-atlas-db\n"
        "- O(0.9) @Peter: Prefers concise replies\n"
        "- B(outcome=ok,task=deploy) @Atlas: Deployed with [[Blue Green]]\n"
        "- W(supersedes=f-atlas-db,key=db) @Atlas: The database is PostgreSQL 17 since 2025-11-27\n"
    ),
    "memory/2025-11-26-standup.md": "# Standup\n\n## Запомнить\n\n- W @Пётр: Живёт в Лиссабоне\n- not a fact\n",
    "bank/entities/Peter.md": "---\naliases: [Pete, Пётр]\ntype: person\n---\n# Peter\n\nLeads Atlas.\n",
    "bank/entities/Atlas.md": "# Atlas\n\n| part | port |\n|---|---|\n| api | 8080 |\n",
    "bank/decisions/why-postgres.md": "# Why PostgreSQL\n\nRow-level security.\n\n```sql\nSELECT 1;\n```\n",
    "memory.md": "# Memory\n\n爱丽丝 keeps the keys.\n",
}


def make_workspace(root: Path, pages: Mapping[str, str] = PAGES) -> Workspace:
    """A workspace at `root` with these pages and no index yet."""
    (root / "memory").mkdir(parents=True, exist_ok=True)
    for path, text in pages.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(text.encode())
    return Workspace(root.resolve())


def synced(workspace: Workspace, seconds: float | None = None) -> SyncReport:
    """Bring the index up to date and close it."""
    return with_index(workspace, lambda index: sync(workspace, index, seconds=seconds))


def rows(workspace: Workspace) -> list[tuple[object, ...]]:
    """Every row of the index after a sync."""

    def job(index):
        sync(workspace, index)
        return list(dump(index))

    return with_index(workspace, job)


def rebuilt(workspace: Workspace) -> list[tuple[object, ...]]:
    """Every row that an index made anew would hold."""
    with open_scratch() as index:
        sync(workspace, index)
        return list(dump(index))


def memctl(
    *words: str | bytes,
    cwd: Path | None = None,
    stdin: str | bytes = "",
    seconds: float = 60,
    before: tuple[str, ...] = (),
) -> subprocess.CompletedProcess[str]:
    """Run the command line in a process of its own, as a user does; `before` is put in front of it (`strace …`)."""
    given = stdin.encode() if isinstance(stdin, str) else stdin
    plain = [word for word in words if isinstance(word, str)]
    if before in ((), AS_ANYBODY) and len(plain) == len(words):
        done = run_memctl(plain, given, environment(), cwd, seconds, powerless=bool(before))
    else:
        command = [*before, sys.executable, "-m", "memctl", *words]
        done = subprocess.run(command, cwd=cwd, input=given, capture_output=True, timeout=seconds, env=environment())
    return subprocess.CompletedProcess(
        done.args, done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")
    )


def table(name: str) -> list[list[str]]:
    """The cells of a table in tests/data/pairs, a list a row."""
    lines = (Path(__file__).parent / f"data/pairs/{name}.txt").read_text("utf-8").splitlines()
    return [[cell.strip() for cell in line.split("|")] for line in lines]


def recorded(given: Path, found: str, update: bool) -> str:
    """What was found before in the lines of a file, which stands beside it; written anew by `pytest --update-corpus`."""
    expected = given.with_suffix(".expected")
    if update:
        expected.write_text(found, encoding="utf-8", newline="\n")
    return expected.read_text("utf-8")


def refusal(job: Callable[[], object]) -> str:
    """How a call is refused: the kind of error, what it says and what to do about it."""
    with pytest.raises(MemctlError) as error:
        job()
    return f"{type(error.value).__name__}: {error.value.what}; {error.value.cure}"


def environment(**more: str) -> dict[str, str]:
    """The environment of a test process: one clock, one hash seed, this memctl."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("MEMCTL_")}
    here = str(Path(__file__).parent.parent)
    return (
        kept
        | {"MEMCTL_NOW": "2025-11-27T12:00", "MEMCTL_VECTORS": "none", "PYTHONPATH": here}
        | {"PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}
        | more
    )


def git(root: Path, *words: str, ok: bool = True) -> str:
    """What git answers nobody in particular, without settings from outside; where `ok`, it must succeed."""
    who = [
        "-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false", "-c", "core.autocrlf=false",
    ]  # fmt: skip
    done = subprocess.run(
        ["git", *who, *words], cwd=root, capture_output=True, text=True, encoding="utf-8", errors="replace",
        env=environment(GIT_CONFIG_GLOBAL=os.devnull, GIT_CONFIG_NOSYSTEM="1"),
    )  # fmt: skip
    assert not ok or done.returncode == 0, (words, done.stdout, done.stderr)
    return done.stdout


# Root may write everywhere; without its capabilities it may write what its mode allows, as anybody else.
AS_ANYBODY = (
    ("setpriv", "--bounding-set", "-all", "--inh-caps", "-all") if hasattr(os, "geteuid") and os.geteuid() == 0 else ()
)


def is_two_lines(stderr: str) -> bool:
    """True for an error as the contract wants it: one line what, one line what to do, no traceback."""
    lines = stderr.rstrip("\n").split("\n")
    return (
        len(lines) == 2 and lines[0].startswith("memctl: ") and lines[1].startswith("  ") and "Traceback" not in stderr
    )


def strays(workspace: Workspace) -> list[str]:
    """Files that memctl may not leave behind: anything that is no page and no known file of the derived folder."""
    known = {
        ".gitignore", "public", "recalled", "reflected.json", "undo.jsonl", "index.sqlite", "index.sqlite-wal", "index.sqlite-shm",
        "index.seal", "index.broken", "lock", "reflect.lock", "review.lock", "keep.lock", "review.json", "offered.json", "offered.lock", "embed.lock",
        "shared", "shared.json", "vectors.lock", "vectors.sqlite", "vectors.sqlite-wal", "vectors.sqlite-shm",
    }  # fmt: skip
    derived = [p.name for p in workspace.memory.iterdir() if p.name not in known] if workspace.memory.exists() else []
    pages = [
        str(p)
        for p in workspace.root.rglob("*")
        if p.is_file() and ".memory" not in p.parts and p.suffix not in (".md", ".toml")
    ]
    return derived + pages


def at_once(count: int, job: Callable[[int], object]) -> None:
    """Do a job that often at the same time, to the end; what one of them raises is raised."""
    with ThreadPoolExecutor(count) as pool:
        list(pool.map(job, range(count)))


def failing(monkeypatch: pytest.MonkeyPatch, name: str, number: int) -> None:
    """Let a function of `os` fail with an error number from now on."""

    def fail(*args: object, **more: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, name, fail)
