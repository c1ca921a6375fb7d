"""What the tests of verbs and faces share: copies of the fixture workspace, and the command line in this process."""

from __future__ import annotations

import atexit
import contextlib
import io
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from functools import cache
from pathlib import Path
from typing import Any

from processes import start_memctl
from store_helpers import make_workspace

from memctl.cli.call import load, run
from memctl.hits import Answer, Hit
from memctl.index.resident import Resident
from memctl.memory import Memory
from memctl.notes.workspace import Workspace

FIXTURES = Path(__file__).parent.parent / "fixtures"
NOW = "2025-11-30"
TODAY = date(2025, 11, 30)


@dataclass(frozen=True, slots=True)
class Done:
    """What a call of the command line left: its exit code and its two streams."""

    code: int
    out: str
    err: str

    @property
    def both(self) -> str:
        """Everything that a terminal would have shown."""
        return self.out + self.err


@cache
def _indexed(make: Callable[[Path], Path]) -> Path:
    """A workspace with the index of its pages, made once in a process and removed at its end."""
    folder = Path(tempfile.mkdtemp(prefix="memctl-fixture-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    root = make(folder)
    with memory_on(Workspace(root.resolve())) as memory:
        memory.sync()
    return root


def bare_copy(folder: Path) -> Path:
    """A fresh copy of the fixture workspace, with the modification times of the original and no index."""
    return Path(shutil.copytree(FIXTURES / "workspace", folder / "workspace", ignore=shutil.ignore_patterns(".memory")))


def fixture_copy(folder: Path) -> Path:
    """The same with an index, as a folder that was copied whole: its pages are looked at again but not parsed."""
    return Path(shutil.copytree(_indexed(bare_copy), folder / "workspace"))


def recent_copy(folder: Path) -> Path:
    """The same with its newest logs alone and no index: for what holds in any workspace, at a third of the work."""
    root = bare_copy(folder)
    for log in sorted((root / "memory").glob("*.md"))[:-12]:
        log.unlink()
    return root


def reflected_copy(folder: Path) -> Path:
    """The same after `memctl reflect --since 150d`; tests/cli/test_expected.py proves that it is what reflect writes."""
    return Path(shutil.copytree(_indexed(_reflected), folder / "workspace"))


def _reflected(folder: Path) -> Path:
    pages = shutil.ignore_patterns("proposals.md")  # which only --propose-core writes
    return Path(shutil.copytree(FIXTURES / "reflected", bare_copy(folder), ignore=pages, dirs_exist_ok=True))


def write_pages(root: Path, pages: Mapping[str, str]) -> Workspace:
    """A workspace with these pages. Facts may stand alone: a page of bullets only is given its `## Retain`."""
    told = {path: f"## Retain\n\n{text}" if text.startswith("- ") else text for path, text in pages.items()}
    return make_workspace(root, told)


def memory_on(
    workspace: Workspace,
    day: date = TODAY,
    tell: Callable[[str], None] = lambda note: None,
    resident: Resident | None = None,
) -> Memory:
    """The memory of a workspace on a day; `tell` hears its notes."""
    return Memory(workspace, lambda: datetime.combine(day, time()), tell=tell, resident=resident)


def ask(workspace: Workspace, words: str, *, k: int = 10, today: date = TODAY, **more: Any) -> Answer:
    """Recall through the public verb; `more` are the filters of `read_query` and the options of `recall`."""
    return memory_on(workspace, today).recall(words, k=k, **more)


def contents(answer: Answer) -> list[str]:
    """The text of every hit, best first."""
    return [hit.content for hit in answer.hits]


def sources(answer: Answer) -> list[str]:
    """The citation of every hit, best first."""
    return [str(hit.source) for hit in answer.hits]


def the_hit(answer: Answer, content: str) -> Hit:
    """The one hit whose text begins so."""
    (found,) = (hit for hit in answer.hits if hit.content.startswith(content))
    return found


@contextlib.contextmanager
def _environment(cwd: Path, stdin: str, env: Mapping[str, str]) -> Iterator[None]:
    import sys

    before, here, given = dict(os.environ), Path.cwd(), sys.stdin
    os.environ.pop("MEMCTL_WORKSPACE", None)
    os.environ.update({"MEMCTL_NOW": NOW, "COLUMNS": "100", **env})
    os.chdir(cwd)
    sys.stdin = io.TextIOWrapper(io.BytesIO(stdin.encode("utf-8", "surrogateescape")), encoding="utf-8")
    try:
        yield
    finally:
        sys.stdin = given
        os.chdir(here)
        os.environ.clear()
        os.environ.update(before)


@cache
def _program() -> Any:
    """The whole command line, made ready to be called once for all tests."""
    from typer.main import get_command

    return get_command(load([]))


def call(words: Sequence[str], cwd: Path, *, stdin: str = "", merged: bool = False, **env: str) -> Done:
    """`memctl WORDS…` in the folder `cwd`, in this process, through the same door as the real command.

    With `merged`, `out` holds both streams in the order of a terminal.
    """
    out = io.StringIO()
    err = out if merged else io.StringIO()
    with _environment(cwd, stdin, env), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run(_program(), list(words))
    return Done(code, out.getvalue(), "" if merged else err.getvalue())


def on_terminal(words: Sequence[str], cwd: Path, **env: str) -> str:
    """What a terminal would receive from the real command."""
    import pty
    from multiprocessing.connection import wait

    parent, child = pty.openpty()
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("MEMCTL_", "NO_COLOR"))}
    settings = {
        "MEMCTL_NOW": NOW, "MEMCTL_VECTORS": "none", "TERM": "xterm-256color", "COLUMNS": "120", "LC_ALL": "C.UTF-8",
        "MEMCTL_PAGER": "cat",  # less would wait for a key
    }  # fmt: skip
    process = start_memctl(words, kept | settings | env, cwd, [os.ttyname(child)] * 3)
    received = b""
    try:
        while parent in wait([parent, process.sentinel]):
            received += os.read(parent, 65536)
        os.close(child)
        while piece := os.read(parent, 65536):
            received += piece
    except OSError:
        pass  # Linux: the other side has closed
    finally:
        os.close(parent)
        process.join(60)
    return received.decode("utf-8", "surrogateescape").replace("\r\n", "\n")


def all_commands() -> Iterator[list[str]]:
    """The words of every command: those of the program and of its groups."""
    app = load([])
    yield from ([str(command.name)] for command in app.registered_commands)
    for group in app.registered_groups:
        for command in group.typer_instance.registered_commands if group.typer_instance else ():
            yield [str(group.name), str(command.name)]


def snapshot(root: Path) -> dict[str, bytes]:
    """Every file of a workspace but the derived ones, by path."""
    files = (path for path in sorted(root.rglob("*")) if path.is_file() and ".memory" not in path.parts)
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in files}
