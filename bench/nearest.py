"""Nearest neighbours: `python bench/nearest.py 10000 100000`: open and query time, recall@10 against exact 32-bit floats.

On made-up vectors, 384 components: topics, subtopics and lines around centres whose components shrink as those of real
sentence vectors do, with a common part that centring leaves; or, with --like FILE.npz (array V, unit length), on mixtures
a + w(b - c) of real ones, which keep their shape. Questions are lines of their own, or Q of that file. Each way (all
compared, or a graph of hnswlib) is timed in a process of its own, in CPU milliseconds of one core.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[name] = "1"

DIM, PAGE, ASKED = 384, 100, 100
WAYS = ("exact", "hnsw")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sizes", type=int, nargs="*", default=[10_000, 100_000])
    parser.add_argument("--like", type=Path, help="an .npz with real vectors V, and questions Q")
    parser.add_argument("--ways", default=",".join(WAYS))
    parser.add_argument("--run", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.run:
        print(json.dumps(run(given.run[0], Path(given.run[1]))))
        return
    print(
        f"vectors: {'like ' + given.like.name if given.like else 'made up'}, {DIM} components, {PAGE} a page, {ASKED} questions"
    )
    print(
        f"{'rows':>9} {'way':6} {'open ms':>8} {'first ms':>9} {'query ms':>9} {'recall@10':>9} {'made s':>7} {'MiB':>7}"
    )
    for size in given.sizes:
        with tempfile.TemporaryDirectory() as folder:
            make(Path(folder), size, given.like)
            for way in given.ways.split(","):
                done = subprocess.run(
                    [sys.executable, __file__, "--run", way, folder], capture_output=True, text=True, env=os.environ
                )
                if done.returncode:
                    print(f"{size:9,} {way:6} {done.stderr.strip().splitlines()[-1]}")
                    continue
                told = json.loads(done.stdout)
                print(
                    f"{size:9,} {way:6} {told['open']:8.1f} {told['first']:9.1f} {told['query']:9.2f} "
                    f"{told['recall']:9.3f} {told['made']:7.1f} {told['bytes'] / 2**20:7.1f}", flush=True,
                )  # fmt: skip


# -- vectors ----------------------------------------------------------------------------------------------------------


def make(folder: Path, size: int, like: Path | None) -> None:
    """A workspace with a file of vectors, the questions as codes, and the true ten of each."""
    import numpy as np

    from memctl.notes.workspace import Workspace
    from memctl.vectors.file import begin_vectors
    from memctl.vectors.matrix import encode
    from memctl.vectors.tables import Code, StoredVector

    random = np.random.default_rng(1)
    rows, asked = mixed(random, size, like) if like else made_up(random, size)
    mean = [0.0] * DIM
    truth = [np.argsort(-(rows @ question), kind="stable")[:10].tolist() for question in asked]
    vectors = begin_vectors(Workspace(folder), "bench", DIM, [mean] * 3)
    scale = 127 / np.abs(rows).max(1, keepdims=True)
    codes = np.rint(rows * scale).astype(np.int8)
    keys = random.permutation(np.iinfo(np.int64).max // size * np.arange(1, size + 1)).tolist()
    with vectors.writing():
        for start in range(0, size, PAGE):
            places = range(start, min(start + PAGE, size))
            page = {keys[place]: Code(0, codes[place].tobytes()) for place in places}
            vectors.put_page(start // PAGE + 1, b"sum", [StoredVector(p - start, keys[p], p) for p in places], page)
    vectors.truncate()
    vectors.close()
    questions = [encode(question.tolist(), mean) for question in asked]
    kept = {"asked": [code.codes.hex() for code in questions], "truth": truth}
    (folder / "questions.json").write_text(json.dumps(kept))


def unit(rows: Any) -> Any:
    """At length 1."""
    import numpy as np

    return (rows / np.linalg.norm(rows, axis=-1, keepdims=True)).astype(np.float32)


def made_up(random: Any, size: int) -> tuple[Any, Any]:
    """Centres within centres; the components shrink with k^-.5, and lines share a tenth with all others."""
    import numpy as np

    shape = (np.arange(1, DIM + 1) ** -0.5).astype(np.float32)
    turn = np.linalg.qr(random.normal(size=(DIM, DIM)))[0].astype(np.float32)

    def around(count: int) -> Any:
        return random.normal(size=(count, DIM)).astype(np.float32) * shape

    topics, subtopics, common = around(200), around(max(200, size // 20)), around(1) * 0.5
    which = random.integers(0, len(subtopics), size + ASKED)
    lines = common + 0.5 * topics[which % 200] + 0.6 * subtopics[which]
    for start in range(0, len(lines), 10_000):
        lines[start : start + 10_000] += 0.9 * around(len(lines[start : start + 10_000]))
    lines = unit(lines @ turn)
    return lines[:size], lines[size:]


def mixed(random: Any, size: int, like: Path) -> tuple[Any, Any]:
    """Real vectors and, beyond their number, a + w(b - c) of them."""
    import numpy as np

    kept = np.load(like)
    real, asked = kept["V"], kept["Q"]
    asked = asked[random.permutation(len(asked))[:ASKED]]
    if size <= len(real):
        return real[random.permutation(len(real))[:size]], asked
    one, two, three = random.integers(0, len(real), (3, size - len(real)))
    share = random.uniform(0.3, 0.8, (size - len(real), 1)).astype(np.float32)
    return np.concatenate([real, unit(real[one] + share * (real[two] - real[three]))]), asked


# -- one way, in a process of its own ---------------------------------------------------------------------------------


def run(way: str, folder: Path) -> dict[str, float]:
    """Open, ask the first question, ask the others."""
    from time import process_time

    from memctl.notes.workspace import Workspace
    from memctl.vectors.file import open_vectors
    from memctl.vectors.tables import Code
    from memctl.vectors.text_to_embed import LATIN

    kept = json.loads((folder / "questions.json").read_text())
    asked = [Code(LATIN, bytes.fromhex(codes)) for codes in kept["asked"]]
    start = process_time()
    vectors = open_vectors(Workspace(folder))
    assert vectors
    matrix, graph = vectors.matrix(), None
    opened = process_time()
    if way == "hnsw":
        from memctl.vectors.matrix import graph_of

        graph = graph_of(matrix, None)
        if not graph:
            raise SystemExit("hnswlib is not there")
    made = process_time()
    answers = [vectors.scan(asked[0], None, 10, graph)]
    first = process_time()
    answers += [vectors.scan(code, None, 10, graph) for code in asked[1:]]
    end = process_time()
    hits = [
        len({(entry >> 22) * PAGE - PAGE + (entry & 4_194_303) for entry in scan.cosines} & set(true)) / 10
        for scan, true in zip(answers, kept["truth"], strict=True)
    ]
    return {
        "open": 1000 * (opened - start),
        "first": 1000 * (first - made),
        "query": 1000 * (end - first) / (len(asked) - 1),
        "recall": sum(hits) / len(hits),
        "made": made - opened,
        "bytes": vectors.path.stat().st_size,
    }


if __name__ == "__main__":
    main()
