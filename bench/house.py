"""`python bench/house.py [TREE] [--check]`: the figures of the code itself, a row each: today, limit, goal, and the first house.

Lines are counted as they stand, blank ones and comments too; data files are not counted. `--check` ends with 1 where a
figure is over its limit. Complexity and the number of parameters are those of ruff (C901, PLR0913).

The first house is the code before its rooms. Its figures are those of this program on `git archive 8598c139 memctl tests README.md`;
what no program can count stands in `BY_HAND` with its source.
"""

from __future__ import annotations

import argparse
import ast
import itertools
import json
import subprocess
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

MODULE_LINES, FUNCTION_LINES, COMPLEXITY, PARAMETERS, RUN, WIDTH = 600, 60, 15, 7, 6, 120


class Figure(NamedTuple):
    """One row: what is counted, how many there were in the first house, how many there are and may be, and the first offenders.

    `goal` is where it should come to, where that is less than what there may be today: lower the limit with the figure.
    """

    name: str
    first: int | None
    value: int
    limit: int
    places: tuple[str, ...] = ()
    goal: int | None = None


BY_HAND = (  # today, limit, goal, first house, what; the first house as searched by its reviewer, before the first move
    (
        "2",
        "",
        "2",
        "19",
        "files to add an attribute: facts.py and markdown/attributes.py, whose docstring is the recipe; 3 with a field of a hit, 6 with a column and a filter of recall",
    ),
    (
        "data",
        "",
        "data",
        "none",
        "files to add a language: no module (docs/languages.md); tests/language/test_languages.py has Spanish as data",
    ),
    ("1", "", "1", "7", "files to change how confidence moves: beliefs/confidence.py"),
    (
        "CI",
        "",
        "120",
        "300",
        "seconds of `make test` on two quiet cores: the last line of that step in CI; here no clock is read",
    ),
)
"""What no program can count."""


def python_files(folder: Path) -> dict[str, str]:
    """The text of every module below a folder, by its path from there."""
    return {path.relative_to(folder).as_posix(): path.read_text("utf-8") for path in sorted(folder.rglob("*.py"))}


def lines_of(text: str) -> int:
    """How many lines a text has."""
    return len(text.splitlines())


def long_functions(modules: dict[str, ast.Module]) -> list[str]:
    """Functions of more lines than FUNCTION_LINES, the longest first; what only declares a command's options apart."""
    found = [
        (body_lines(node), f"{name}:{node.lineno} {node.name}")
        for name, tree in modules.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    return [f"{place} {lines}" for lines, place in sorted(found, reverse=True) if lines > FUNCTION_LINES]


def body_lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of a function; of a command of the command line those below its options."""
    first = node.body[0].lineno if is_command(node) else node.lineno
    return (node.end_lineno or 0) - first + 1


def is_command(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """True for a command of the command line, whose parameters are its options."""
    return (
        bool(node.args.args)
        and node.args.args[0].arg == "call"
        and "call: Call" in ast.unparse(node.args)
        and bool(node.args.defaults or node.args.kw_defaults)
    )


def crowded_functions(modules: dict[str, ast.Module]) -> list[str]:
    """Functions of more than PARAMETERS parameters (self apart), commands apart."""
    found = []
    for name, tree in modules.items():
        for node in ast.walk(tree):
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or is_command(node):
                continue
            every = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            count = len([arg for arg in every if arg.arg not in ("self", "cls")])
            if count > PARAMETERS:
                found.append(f"{name}:{node.lineno} {node.name} {count}")
    return found


def complex_functions(package: Path) -> list[str]:
    """Functions whose cyclomatic complexity is over COMPLEXITY."""
    done = subprocess.run(
        [
            sys.executable, "-m", "ruff", "check", "--isolated", "--select", "C901", "--output-format", "json",
            "--config", f"lint.mccabe.max-complexity = {COMPLEXITY}", str(package),
        ], capture_output=True, text=True, check=False,
    )  # fmt: skip
    rows = json.loads(done.stdout or "[]")
    return [f"{Path(row['filename']).name}:{row['location']['row']} {row['message'].split()[0]}" for row in rows]


def shared_class_names(modules: dict[str, ast.Module]) -> list[str]:
    """Names of classes, underscores apart, that two modules define."""
    owners: dict[str, set[str]] = defaultdict(set)
    for name, tree in modules.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                owners[node.name.lstrip("_")].add(name)
    return [f"{name} ({', '.join(sorted(where))})" for name, where in owners.items() if len(where) > 1]


def shared_function_names(modules: dict[str, ast.Module]) -> list[str]:
    """Names of public functions of modules that two modules define; commands and what a program begins with apart."""
    owners: dict[str, list[str]] = defaultdict(list)
    for name, tree in modules.items():
        for node in tree.body if not name.startswith("cli/") else ():
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_") and node.name != "main":
                owners[node.name].append(name)
    return [f"{name} ({', '.join(where)})" for name, where in owners.items() if len(where) > 1]


def code_lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines that say something by themselves: no blanks, comments, imports or lone punctuation."""
    imports = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Import | ast.ImportFrom))
    skipped = {line for node in imports for line in range(node.lineno, (node.end_lineno or 0) + 1)}
    for number, line in enumerate(text.splitlines(), 1):
        plain = line.strip()
        if number not in skipped and not plain.startswith(("#", "@")) and any(c.isalnum() for c in plain):
            yield number, plain


def repeated_runs(files: dict[str, str]) -> list[str]:
    """Pairs of files that share RUN lines in a row, the first place of each pair."""
    seen: dict[tuple[str, ...], list[tuple[str, int]]] = defaultdict(list)
    for name, text in files.items():
        lines = list(code_lines(text))
        for at in range(len(lines) - RUN + 1):
            seen[tuple(line for _, line in lines[at : at + RUN])].append((name, lines[at][0]))
    pairs: dict[tuple[str, str], str] = {}
    for places in seen.values():
        for (one, line), (other, there) in itertools.pairwise(places):
            pairs.setdefault((one, other), f"{one}:{line} ~ {other}:{there}")
    return list(pairs.values())


PURE = {
    "memctl.beliefs.confidence": "formulas for one belief are set beside each other",
    "memctl.errors": "the man page has the table of its docstring",
    "memctl.evaluation.metrics": "the arithmetic of `memctl eval`",
    "memctl.facts": "what stands for an opinion without a number",
    "memctl.ingest.extract": "counted is what is found before anything of it is left out",
    "memctl.ingest.own_words": "the sentences that may be labelled",
    "memctl.ingest.turns": "what extract is given",
    "memctl.judgement": "the names of the rules",
    "memctl.language.analyzer": "plain FTS5 is given the same terms: a line of Chinese would be one word to it",
    "memctl.language.tokens": "the estimate is held against tokenizers, and weighs what a door says",
    "memctl.language.words": "ripgrep is asked without stop words",
    "memctl.markdown.grammar": "what stance is given",
    "memctl.stance.stance": "pairs are judged one by one, and rules left out",
}
"""The pure modules whose functions benches call by themselves, and why; everything else of them goes through `Memory`."""
BELOW = {
    "hooks": ("context", "fits the weights by which hooks speak: no answer tells the signs of a prompt"),
    "help": ("cli language markdown notes server", "is no bench: it writes docs from the tables themselves"),
    "nearest": ("notes vectors", "times the search among vectors alone: recall orders by days and lines beside it too"),
}
"""What reaches below `Memory` all the same: into which rooms, and why."""
_INSIDE = {"bound", "index", "resident", "run", "sync_for_read", "sync_for_write", "synced", "with_workspace"}


def reaching_below(tree: Path) -> list[str]:
    """Where a bench reaches below `Memory` without standing in PURE or BELOW, and what stands there for nothing."""
    contracts = tomllib.loads((tree / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
    pure = next(each["source_modules"] for each in contracts if each["name"].startswith("Pure modules"))
    found = [f"{name} is no pure module" for name in PURE if not any(f"{name}.".startswith(f"{p}.") for p in pure)]
    unused = {*PURE, *((name, room) for name, (rooms, _) in BELOW.items() for room in rooms.split())}
    for path in sorted((tree / "bench").glob("*.py")):
        for line, what in below_memory(path, tree):
            room = what.removeprefix("memctl.").partition(".")[0]
            if what not in PURE and room not in BELOW.get(path.stem, ("",))[0].split():
                found.append(f"{path.name}:{line} {what}")
            unused -= {what, (path.stem, room)}
    return found + [f"{each} is used by no bench" for each in sorted(map(str, unused))]


def below_memory(path: Path, tree: Path) -> Iterator[tuple[int, str]]:
    """The modules of memctl but itself that a program imports, and the attributes by which it gets at them or at the index."""

    def is_module(name: str) -> bool:
        place = Path(tree, *name.split("."))
        return place.is_dir() or place.with_suffix(".py").exists()

    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "memctl":
            wholes = (f"{node.module}.{alias.name}" for alias in node.names)
            taken = (whole if is_module(whole) else str(node.module) for whole in wholes)
            yield from ((node.lineno, name) for name in taken if name != "memctl")
        elif isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names if alias.name.startswith("memctl."))
        elif isinstance(node, ast.Attribute):
            owner = getattr(node.value, "id", getattr(node.value, "attr", ""))
            is_inside = (owner == "memory" and node.attr in _INSIDE) or (owner == "workspace" and node.attr != "root")
            if is_inside or (owner == "memctl" and is_module(f"memctl.{node.attr}")):
                yield node.lineno, f"{owner}.{node.attr}"


def figures(tree: Path) -> list[Figure]:
    """Every figure of a checkout."""
    package = tree / "memctl"
    files = python_files(package)
    modules = {name: ast.parse(text) for name, text in files.items()}
    tests = python_files(tree / "tests")
    large = [f"{name} {lines_of(text)}" for name, text in files.items() if lines_of(text) > MODULE_LINES]
    counted = {
        (f"functions over {FUNCTION_LINES} lines", 1): long_functions(modules),
        (f"functions of complexity over {COMPLEXITY}", 1): complex_functions(package),
        (f"functions of over {PARAMETERS} parameters", 22): crowded_functions(modules),
        ("class names with two owners", 44): shared_class_names(modules),
        ("public functions with two owners", 52): shared_function_names(modules),
        (f"pairs of files that share {RUN} lines", 2): repeated_runs(files),
        ("benches below Memory", None): reaching_below(tree),
    }
    wide = [
        f"{name}:{n}"
        for name, text in files.items()
        for n, line in enumerate(text.splitlines(), 1)
        if len(line) > WIDTH
    ]
    named = [name for name in files if lines_of(files[name]) and not name.endswith("__init__.py")]
    return [
        Figure("lines in memctl/", 44_593, sum(map(lines_of, files.values())), 47_281, goal=32_000),
        Figure("characters in memctl/", 1_935_477, sum(map(len, files.values())), 2_339_316),
        Figure(f"lines over {WIDTH} characters in memctl/", 577, len(wide), 1_059, tuple(wide)),
        Figure("modules (without room pages)", 251, len(named), 159, goal=160),
        Figure("lines of the largest module", 399, max(map(lines_of, files.values())), MODULE_LINES, tuple(large)),
        *(Figure(name, first, len(found), 0, tuple(found)) for (name, first), found in counted.items()),
        Figure("lines in tests/", 34_468, sum(map(lines_of, tests.values())), 43_425, goal=22_000),
        Figure("lines of README.md", 1_281, lines_of((tree / "README.md").read_text("utf-8")), 160, goal=160),
    ]


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description="The figures of the code itself.")
    parser.add_argument("tree", nargs="?", type=Path, default=Path(__file__).parents[1])
    parser.add_argument("--check", action="store_true", help="exit with 1 where a figure is over its limit")
    parser.add_argument("--all", action="store_true", help="name every offender")
    given = parser.parse_args()
    over = False
    print("   today      limit       goal  first house")
    for figure in figures(given.tree):
        late = figure.value > figure.limit
        over |= late
        goal = f"{figure.goal:,}" if figure.goal is not None else ""
        first = f"{figure.first:,}" if figure.first is not None else "not known"
        row = f"{figure.value:>9,}  {figure.limit:>9,}  {goal:>9}  {first:>9}"
        print(f"{row}  {'OVER ' if late else '     '}{figure.name}")
        for place in figure.places if given.all else figure.places[:5] if late else ():
            print(f"{'':49}{place}")
    for *cells, name in BY_HAND:
        print(f"{'  '.join(f'{each:>9}' for each in cells)}       {name}")
    return int(over and given.check)


if __name__ == "__main__":
    sys.exit(main())
