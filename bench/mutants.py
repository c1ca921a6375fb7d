"""`python bench/mutants.py [--sample COUNT] [--seed N] [NAME …]`: which changes of the modules behind the promises no test notices.

mutmut makes the mutants: each a module with one place changed, named by its path and number. Here they are run. Which tests
reach which line is measured once, with coverage, and kept in mutants/ for as long as the code stays the same: of a test file
that changed, only this file is run again. That run is also the proof that every test passes without a mutant. Each mutant
then meets the tests that reach its statement, the quickest first, in a process of its own over a copy of the repository.

A mutant that no test reaches counts as not noticed; one whose tests do not end counts as noticed. Needs mutmut.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import difflib
import hashlib
import importlib.util
import json
import math
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

import coverage
import hypothesis.strategies  # noqa: F401  # loaded once, for all processes that are forked from here
import pytest
from libcst import FunctionDef
from mutmut.mutation.file_mutation import create_mutations, deep_replace

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "mutants"
TREE = FOLDER / "tree"
SETTINGS: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["mutmut"]
MODULES = [
    path.relative_to(ROOT).as_posix() for pattern in SETTINGS["only_mutate"] for path in sorted(ROOT.glob(pattern))
]
PYTEST = ["-q", "--tb=short", "--hypothesis-seed=0", "-W", "ignore::pytest.PytestAssertRewriteWarning"]

NOT_RUN = 9  # none of pytest's exit codes
# a test -> its seconds, and the lines of each module that it reaches
Reached = dict[str, tuple[float, dict[str, list[int]]]]


@dataclass(frozen=True)
class Mutant:
    """One changed place of a module."""

    path: str
    number: int
    source: str
    text: str

    @property
    def name(self) -> str:
        """As it is asked for on the command line."""
        return f"{self.path}:{self.number}"

    @property
    def diff(self) -> str:
        """What it changes."""
        lines = difflib.unified_diff(self.source.splitlines(), self.text.splitlines(), n=1, lineterm="")
        return "\n".join(list(lines)[2:])

    @cached_property
    def function(self) -> list[str]:
        """The name of the function that it changes, behind that of its class."""
        place = [node for node in ast.parse(self.source).body if self._holds(node)]
        if isinstance(place[0], ast.ClassDef):
            place += [node for node in place[0].body if self._holds(node)]
        return [node.name for node in place if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef))]

    def _holds(self, node: ast.stmt) -> bool:
        return node.lineno <= self.lines.start and self.lines.stop <= (node.end_lineno or node.lineno) + 1

    @cached_property
    def lines(self) -> range:
        """The lines of the smallest statement that it changes."""
        pairs = zip(self.source.splitlines(), self.text.splitlines(), strict=False)
        changed = next(number for number, (old, new) in enumerate(pairs, 1) if old != new)
        around = [
            range(node.lineno, (node.end_lineno or node.lineno) + 1)
            for node in ast.walk(ast.parse(self.source))
            if isinstance(node, ast.stmt) and node.lineno <= changed <= (node.end_lineno or node.lineno)
        ]
        return min(around, key=len)


class Module:
    """The mutants of a module: made all at once, written out one by one."""

    def __init__(self, path: str) -> None:
        self.path, self.source = path, (ROOT / path).read_text("utf-8")
        self._module, mutations, _, _ = create_mutations(path, self.source)
        self._mutations = [
            mutation for mutation in mutations if isinstance(mutation.contained_by_top_level_function, FunctionDef)
        ]

    def __len__(self) -> int:
        return len(self._mutations)

    def mutant(self, number: int) -> Mutant:
        """The one with this number, from 0."""
        mutation = self._mutations[number]
        changed: Any = deep_replace(self._module, mutation.original_node, mutation.mutated_node)
        return Mutant(self.path, number, self.source, changed.code)


def sampled(modules: list[Module], count: int, seed: int) -> list[Mutant]:
    """So many of all, each module's part rounded down, and one more for those with the largest rest."""
    total, chance = sum(map(len, modules)), random.Random(seed)
    parts = [divmod(len(module) * count, total) for module in modules]
    most = sorted(range(len(parts)), key=lambda at: -parts[at][1])[: count - sum(part for part, _ in parts)]
    return [
        module.mutant(number)
        for at, module in enumerate(modules)
        for number in sorted(chance.sample(range(len(module)), parts[at][0] + (at in most)))
    ]


def copy_tree() -> None:
    """Make mutants/tree the files of the repository, as they are now; what is equal stays, with its compiled form."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    wanted = {name for name in listed.stdout.splitlines() if (ROOT / name).is_file()}
    for name in wanted:
        new, old = ROOT / name, TREE / name
        if not old.is_file() or old.read_bytes() != new.read_bytes():
            old.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(new, old)
    for folder in ("memctl", "tests", "fixtures"):
        for path in (TREE / folder).rglob("*"):
            if path.is_file() and path.parent.name != "__pycache__" and path.relative_to(TREE).as_posix() not in wanted:
                path.unlink()


def write_module(path: str, text: str) -> None:
    """Put a module of the tree in another form; what was compiled of it goes, for it may be of the same second and length."""
    (TREE / path).write_text(text, "utf-8")
    Path(importlib.util.cache_from_source(str(TREE / path))).unlink(missing_ok=True)


def hash_of(names: list[str]) -> str:
    """Of the files of the tree below these names."""
    paths = [path for name in names for path in sorted([TREE / name, *(TREE / name).rglob("*")]) if path.is_file()]
    parts = [
        b"%s\0%s\0" % (os.fsencode(path.relative_to(TREE)), path.read_bytes())
        for path in paths
        if path.parent.name != "__pycache__"
    ]
    return hashlib.sha256(b"".join(parts)).hexdigest()[:16]


def in_fork(run: Callable[[], int], limit: float | None) -> int:
    """Run this in a fork of the process, with a folder of its own for temporary files: its exit code, or minus a signal."""
    shared = Path("/dev/shm")
    folder = tempfile.mkdtemp(prefix="mutant-", dir=shared if os.access(shared, os.W_OK) else None)
    child = os.fork()
    if not child:
        code = 3
        try:
            os.setsid()
            tempfile.tempdir = os.environ["TMPDIR"] = folder
            if limit:
                resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(limit), math.ceil(limit) + 1))
            code = run()
        finally:
            sys.stdout.flush()
            os._exit(code)
    code = _wait(child, limit and 60 + 10 * limit)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)  # what it left running
    shutil.rmtree(folder, ignore_errors=True)
    return code


def run_pytest(words: list[str], plugin: object, then: Callable[[], object] = int) -> None:
    """Run pytest over the tree in a fork of this process; what it printed is shown if it fails."""
    printed = FOLDER / "output.txt"

    def run() -> int:
        os.chdir(TREE)
        os.environ |= {"PYTHONPATH": str(TREE), "MUTANT_UNDER_TEST": "1"}
        with printed.open("wb") as stream:
            os.dup2(stream.fileno(), 1)
            os.dup2(stream.fileno(), 2)
        code = int(pytest.main([*PYTEST, *SETTINGS["pytest_add_cli_args"], *words], plugins=[plugin]))
        then()
        return code

    if in_fork(run, None):
        sys.exit(f"{printed.read_text('utf-8', 'replace')[-6000:]}\nWithout a mutant, all tests must pass.")


def _wait(child: int, limit: float | None) -> int:
    """Its exit code, or minus the signal that ended it: after so many seconds, one from here."""
    end = time.monotonic() + limit if limit else math.inf
    while True:
        ended, status = os.waitpid(child, os.WNOHANG if limit else 0)
        if ended:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > end:
            os.killpg(child, signal.SIGKILL)
            end = math.inf
        time.sleep(0.02)


def empty_caches() -> None:
    """Forget what the functions of memctl keep, which would answer in place of a mutant."""
    for module in [module for name, module in sys.modules.items() if name.startswith("memctl")]:
        for kept in vars(module).values():
            getattr(kept, "cache_clear", int)()


class Tracing:
    """A plugin of pytest: the lines of the modules that each test reaches, what a wider fixture does with them included."""

    def __init__(self) -> None:
        paths = [str(TREE / path) for path in MODULES]
        self._coverage = coverage.Coverage(data_file=None, config_file=False, include=paths)
        self._seconds: dict[str, float] = {}
        self._wide: dict[str, str] = {}  # a test -> its fixtures that serve more of its file

    def pytest_sessionstart(self) -> None:
        """From the first import on."""
        self._coverage.start()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Nothing that an earlier test left in a cache answers for this one."""
        empty_caches()
        begun = time.perf_counter()
        self._coverage.switch_context(item.nodeid)
        result = yield
        self._coverage.switch_context("")
        self._seconds[item.nodeid] = time.perf_counter() - begun
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any, request: Any) -> Iterator[Any]:
        """What is set up once for many tests belongs to each of them."""
        if fixturedef.scope == "function" or not fixturedef.baseid:
            return (yield)
        test = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" ")[0]
        self._coverage.switch_context(f"fixtures of {test.partition('::')[0]}")
        result = yield
        self._coverage.switch_context(test)
        return result

    def pytest_runtest_call(self, item: pytest.Item) -> None:
        """Which tests have such fixtures."""
        self._wide[item.nodeid] = shared_setup(item)

    def save(self) -> None:
        """Write what was seen, for the process that forked this one."""
        self._coverage.stop()
        data = self._coverage.get_data()
        seen: dict[str, dict[str, list[int]]] = {}
        for path in MODULES:
            for line, contexts in data.contexts_by_lineno(str(TREE / path)).items():
                for context in contexts:
                    seen.setdefault(context, {}).setdefault(path, []).append(line)
        reached = {}
        for test, seconds in self._seconds.items():
            both = [seen.get(test, {}), seen.get(self._wide.get(test, test), {})]
            lines = {path: sorted({line for part in both for line in part.get(path, [])}) for path in MODULES}
            reached[test] = (round(seconds, 3), {path: found for path, found in lines.items() if found})
        (FOLDER / "traced.json").write_text(json.dumps(reached), "utf-8")


def reach() -> Reached:
    """Which tests reach which lines: read, and measured again for the test files that are not as they were."""
    chosen = [path for name in SETTINGS["pytest_add_cli_args_test_selection"] for path in sorted(TREE.glob(name))]
    files = [path for name in chosen for path in ([name] if name.is_file() else sorted(name.rglob("test_*.py")))]
    tests = {path.relative_to(TREE).as_posix() for path in files}
    others = [path for path in (TREE / "tests").rglob("*") if path.is_file() and not path.name.startswith("test_")]
    base = hash_of(["memctl", "fixtures", *sorted(path.relative_to(TREE).as_posix() for path in others)])
    kept_in = FOLDER / "reach.json"
    kept = json.loads(kept_in.read_text("utf-8")) if kept_in.is_file() else {}
    if kept.get("base") != base:
        kept = {"base": base, "files": {}}
    hashes = {name: hash_of([name]) for name in sorted(tests)}
    stale = [name for name in sorted(tests) if kept["files"].get(name, {}).get("hash") != hashes[name]]
    if stale:
        begun = time.monotonic()
        for path in MODULES:  # a changed text alone must not be noticed
            write_module(path, (ROOT / path).read_text("utf-8") + "# as a mutant: not the text that was\n")
        tracing = Tracing()
        run_pytest(stale, tracing, tracing.save)
        for path in MODULES:
            write_module(path, (ROOT / path).read_text("utf-8"))
        reached: Reached = json.loads((FOLDER / "traced.json").read_text("utf-8"))
        for name in stale:
            own = {test: seen for test, seen in reached.items() if test.partition("::")[0] == name}
            kept["files"][name] = {"hash": hashes[name], "tests": own}
        kept_in.write_text(json.dumps(kept), "utf-8")
        print(f"{len(stale)} test files measured in {time.monotonic() - begun:.0f} s", flush=True)
    return {test: seen for name in sorted(tests) for test, seen in kept["files"][name]["tests"].items()}


def shared_setup(item: Any) -> str:
    """The file of a test, if one of its fixtures is set up once for all of that file; else the test."""
    definitions = item._fixtureinfo.name2fixturedefs.values()
    once = any(each[-1].scope != "function" and each[-1].baseid for each in definitions)
    return f"fixtures of {item.nodeid.partition('::')[0]}" if once else str(item.nodeid)


def put_in(mutant: Mutant) -> None:
    """Give the function of a loaded module the code of the mutant, and what it changes of its defaults."""
    module = sys.modules.get(mutant.path.removesuffix(".py").replace("/", "."))
    if module is None:
        return  # it will be read from the tree
    try:
        fresh = executed(mutant.text, module)
    except Exception:
        executed(mutant.source, module)  # so it is the mutant that cannot be loaded
        os._exit(1)
    old, new = (_function(names, mutant.function) for names in (vars(module), fresh))
    old.__code__ = new.__code__
    for kind in ("__defaults__", "__kwdefaults__"):
        values = getattr(new, kind)
        plain = values.values() if isinstance(values, dict) else values or ()
        if all(isinstance(value, (str, bytes, int, float, tuple, type(None))) for value in plain):
            setattr(old, kind, values)


def executed(text: str, module: ModuleType) -> dict[str, Any]:
    """What a text of the module defines."""
    names: dict[str, Any] = {name: vars(module)[name] for name in ("__name__", "__file__", "__package__")}
    exec(compile(text, str(module.__file__), "exec", dont_inherit=True), names)
    return names


def _function(names: Any, path: list[str]) -> Any:
    """The one that is defined at the top, or as a method."""
    found = names[path[0]] if len(path) == 1 else vars(names[path[0]])[path[1]]
    return getattr(found, "__func__", found)


class Running:
    """A plugin of pytest: once the tests are collected, each mutant meets those that reach it, in a fork of what was collected."""

    def __init__(self, mutants: list[Mutant], reached: Reached, found: Callable[[Mutant, str], None]) -> None:
        self._mutants, self._reached, self._found = mutants, reached, found

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """In place of a run of all."""
        empty_caches()
        for mutant in self._mutants:
            lines = set(mutant.lines)
            met = {
                test: seconds
                for test, (seconds, seen) in self._reached.items()
                if mutant.path in seen and not lines.isdisjoint(seen[mutant.path])
            }
            items = [item for item in session.items if item.nodeid in met]
            if len(items) < len(met):
                raise pytest.UsageError(f"pytest did not find all tests of {mutant.name}")
            longest: dict[str, float] = {}
            for item in items:
                longest[shared_setup(item)] = max(longest.get(shared_setup(item), 0), met[item.nodeid])
            items.sort(key=lambda item: (longest[shared_setup(item)], shared_setup(item), met[item.nodeid]))
            self._found(mutant, self._outcome(mutant, items, 20 + 5 * sum(met.values())) if met else "no tests")
        return True

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """One failure is enough."""
        if report.failed:
            os._exit(1)

    def _outcome(self, mutant: Mutant, items: list[pytest.Item], limit: float) -> str:
        def run() -> int:
            try:
                put_in(mutant)
            except Exception:
                return NOT_RUN
            for item, following in zip(items, [*items[1:], None], strict=True):
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            return 0

        write_module(mutant.path, mutant.text)
        try:
            code = in_fork(run, limit)
        finally:
            write_module(mutant.path, mutant.source)
        if code == NOT_RUN:
            raise pytest.UsageError(f"{mutant.name} could not be put into its module")
        return "survived" if code == 0 else "killed" if code > 0 else "timeout"


def interval(part: int, whole: int) -> tuple[float, float]:
    """Wilson's, in which the share of all lies with 95 % certainty."""
    share, z = part / whole, 1.96
    middle, half = share + z * z / (2 * whole), z * math.sqrt(share * (1 - share) / whole + z * z / (4 * whole * whole))
    return (middle - half) / (1 + z * z / whole), (middle + half) / (1 + z * z / whole)


def main() -> None:
    """Run them, one after the other; print the figures by module, and each that nobody noticed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="these mutants, as PATH:NUMBER")
    parser.add_argument("--sample", type=int, help="so many, drawn by chance (without: all)")
    parser.add_argument("--seed", type=int, default=int(time.strftime("%Y%m")), help="of the chance (this month)")
    given = parser.parse_args()
    modules = [module for module in map(Module, MODULES) if len(module)]
    if given.names:
        by_path, asked = {module.path: module for module in modules}, [name.split(":") for name in given.names]
        mutants = [by_path[path].mutant(int(number)) for path, number in asked]
    else:
        mutants = sampled(modules, given.sample or sum(map(len, modules)), given.seed)
    copy_tree()
    reached = reach()
    results_in, state = FOLDER / "results.jsonl", hash_of(["memctl", "fixtures", "tests"])
    results = dict(map(json.loads, results_in.read_text("utf-8").splitlines())) if results_in.is_file() else {}
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    begun = [time.monotonic()]

    def found(mutant: Mutant, result: str) -> None:
        with results_in.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps([f"{state} {mutant.name}", result]) + "\n")
        begun.append(time.monotonic())
        print(f"{result:9} {mutant.name} {begun[-1] - begun[-2]:.1f} s", file=out, flush=True)

    ahead = [mutant for mutant in mutants if given.names or f"{state} {mutant.name}" not in results]
    run_pytest(list(dict.fromkeys(test.partition("::")[0] for test in reached)), Running(ahead, reached, found))
    results = dict(map(json.loads, results_in.read_text("utf-8").splitlines()))
    whole, noticed, missed = Counter[str](), Counter[str](), []
    for mutant in mutants:
        result = results[f"{state} {mutant.name}"]
        whole[mutant.path] += 1
        noticed[mutant.path] += result in ("killed", "timeout")
        if result not in ("killed", "timeout"):
            missed.append((result, mutant))
    for result, mutant in missed:
        print(f"\n{result}: {mutant.name}\n{mutant.diff}")
    print()
    for path, count in whole.items():
        print(f"{path:32} {noticed[path]:4} of {count:4}")
    low, high = interval(noticed.total(), whole.total())
    share = noticed.total() / whole.total()
    print(
        f"{'all':32} {noticed.total():4} of {whole.total():4}: {share:.1%}, of all mutants with 95 % certainty {low:.1%} to {high:.1%}"
    )


if __name__ == "__main__":
    main()
