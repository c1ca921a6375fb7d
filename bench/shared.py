"""Shared memory under load: `python bench/shared.py --workspaces 50 --facts 20000 --clients 32`; without arguments a small form, in a minute or so.

A PostgreSQL of its own (tests/postgres.py) that syncs its log, with the workspaces published one after the other: `--contents`
different ones, each under several names. Then one folder of a reader with `--processes` processes that stay, as `memctl serve`
does, and `--clients` threads among them, each asking one question after the other: of one workspace (`in`, of `--asked` of
them), and of all (`all`). `alone` is the same of one client. Wall time, with what else the machine did meanwhile; CPU time
where it is said. `holding` is the statement that finds the workspaces for `all`, at the server alone, each with so many there.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "bench"), str(ROOT / "tests")]

from generate import make_queries, make_workspace  # noqa: E402
from postgres import Postgres, folder_for_server  # noqa: E402

import memctl  # noqa: E402
from memctl.language.analyzer import query_terms  # noqa: E402

NOW = datetime(2025, 11, 30)


def main() -> None:
    """Print a line for each figure."""
    given = arguments()
    if given.reader:
        ask(given)
        return
    os.environ["MEMCTL_VECTORS"] = "none"
    folder, work = folder_for_server(), Path(tempfile.mkdtemp(prefix="memctl-shared-"))
    server = Postgres(folder, fsync="on", shared_buffers="256MB")
    try:
        print(
            f"{given.workspaces} workspaces of {given.facts:,} facts ({given.contents} contents), PostgreSQL {server.sql('SHOW server_version')[0][0]}"
        )
        publish_all(given, server, work)
        load(given, server, work)
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)
        shutil.rmtree(work, ignore_errors=True)


def arguments() -> argparse.Namespace:
    """What was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workspaces", type=int, default=8)
    parser.add_argument("--facts", type=int, default=1_000)
    parser.add_argument("--contents", type=int, default=2)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--asked", type=int, default=4, help="workspaces of which the reader keeps a copy")
    parser.add_argument("--questions", type=int, default=15, help="of each client, of each kind")
    parser.add_argument("--kinds", default="in,all")
    parser.add_argument("--reader", nargs=3, metavar=("URL", "FOLDER", "KIND"), help=argparse.SUPPRESS)
    return parser.parse_args()


def publish_all(given: argparse.Namespace, server: Postgres, work: Path) -> None:
    """Publish every workspace, the growth on the way, then a day's new lines."""
    roots = []
    for number in range(given.contents):
        roots.append(work / f"content{number}")
        make_workspace(roots[-1], given.facts, seed=number + 1)
        with memctl.open(roots[-1], now=NOW) as memory:
            memory.sync()
    print(f"{'workspaces':>10}{'rows/s':>10}{'rows/CPU s':>12}{'database':>12}{'holding p50':>13}{'p99':>9}")
    steps = sorted({max(1, given.workspaces // 10), max(1, given.workspaces // 3), given.workspaces})
    done, wall, used = 0, 0.0, 0.0
    for step in steps:
        for number in range(done, step):
            with memctl.open(roots[number % given.contents], now=NOW) as memory:
                start, cpu = time.perf_counter(), time.process_time()
                memory.shared(server.url()).publish(f"w{number}")
                wall, used = wall + time.perf_counter() - start, used + time.process_time() - cpu
        done = step
        server.sql("ANALYZE memctl.pages")
        size = server.sql("SELECT pg_database_size('memctl')")[0][0] / 2**20
        rows = step * given.facts
        p50, p99 = holding(server)
        print(f"{step:>10}{rows / wall:>10,.0f}{rows / used:>12,.0f}{size:>9,.0f} MB{p50:>10.1f} ms{p99:>6.1f} ms")
    with open(next(iter(sorted((roots[0] / "memory").glob("*.md"), reverse=True))), "a") as log:
        log.write("\n## Retain\n\n" + "".join(f"- W: a new line {number}\n" for number in range(20)))
    with memctl.open(roots[0], now=NOW) as memory:
        start = time.perf_counter()
        sent = memory.shared(server.url()).publish("w0").sent
        print(f"20 new lines in one page: {len(sent)} page sent, {time.perf_counter() - start:.2f} s")


def holding(server: Postgres) -> tuple[float, float]:
    """p50 and p99 of the statement that finds who holds the words of a question."""
    import psycopg

    times = []
    with psycopg.connect(server.url(), autocommit=True) as connection:
        for question in make_queries(60):
            start = time.perf_counter()
            connection.execute("SELECT workspace, word FROM memctl.holding(%s)", [query_terms(question)]).fetchall()
            times.append((time.perf_counter() - start) * 1000)
    return percentile(times, 0.5), percentile(times, 0.99)


def load(given: argparse.Namespace, server: Postgres, work: Path) -> None:
    """One reader's folder: the first question to each workspace, then one client and many."""
    reader = work / "reader"
    (reader / "memory").mkdir(parents=True)
    names = [f"w{number}" for number in range(min(given.asked, given.workspaces))]
    firsts = []
    with memctl.open(reader, now=NOW) as memory:
        for name in names:
            start = time.perf_counter()
            memory.shared(server.url()).recall([name], memory.query("harbour"))
            firsts.append(time.perf_counter() - start)
    print(f"first question to a workspace (its pages travel and are indexed): {statistics.median(firsts):.2f} s")
    print(f"{'question':12}{'clients':>8}{'p50':>11}{'p99':>11}{'a second':>10}{'CPU each':>13}")
    for kind in given.kinds.split(","):
        for clients, processes in ((1, 1), (given.clients, given.processes)):
            told, seconds, used = run_clients(given, server.url(), reader, kind, clients, processes)
            p50, p99 = percentile(told, 0.5), percentile(told, 0.99)
            print(f"{kind:12}{clients:>8}{p50:>8.1f} ms{p99:>8.1f} ms{len(told) / seconds:>10.1f}{used:>10.1f} ms")


def run_clients(
    given: argparse.Namespace, url: str, reader: Path, kind: str, clients: int, processes: int
) -> tuple[list[float], float, float]:
    """The milliseconds of every answer, how long all of it took, and the CPU milliseconds of one in the reader."""
    words = [sys.executable, __file__, "--reader", url, str(reader), kind, "--questions", str(given.questions)]
    words += ["--asked", str(min(given.asked, given.workspaces)), "--clients", str(max(1, clients // processes))]
    running = [
        subprocess.Popen(words, stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True) for _ in range(processes)
    ]
    for each in running:
        assert each.stdout and each.stdout.readline() == "ready\n"
    start = time.perf_counter()
    for each in running:
        assert each.stdin
        each.stdin.write("\n")
        each.stdin.flush()
    told = [json.loads(each.communicate()[0]) for each in running]
    times = [one for part, _ in told for one in part]
    return times, time.perf_counter() - start, 1000 * sum(used for _, used in told) / len(times)


def ask(given: argparse.Namespace) -> None:
    """One process of a reader: a thread for each client."""
    url, folder, kind = given.reader
    times: list[float] = []
    questions = make_queries(given.clients * given.questions + 5)
    with memctl.open(folder, now=NOW) as memory:
        shared = memory.shared(url)

        def one(question: str, rng: random.Random) -> float:
            name = "all" if kind == "all" else f"w{rng.randrange(given.asked)}"
            start = time.perf_counter()
            shared.recall([name], memory.query(question))
            return (time.perf_counter() - start) * 1000

        def client(number: int) -> None:
            rng = random.Random(f"{os.getpid()} {number}")
            for question in questions[number * given.questions : (number + 1) * given.questions]:
                times.append(one(question, rng))

        for number, question in enumerate(questions[-5:]):
            one(question, random.Random(number))  # what is only done once is not measured
        print("ready", flush=True)
        sys.stdin.readline()
        start = time.process_time()
        threads = [threading.Thread(target=client, args=[number]) for number in range(given.clients)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        used = time.process_time() - start
    print(json.dumps([times, used]))


def percentile(values: Sequence[float], part: float) -> float:
    """The value below which so large a part of them lies."""
    return sorted(values)[min(len(values) - 1, int(len(values) * part))]


if __name__ == "__main__":
    main()
