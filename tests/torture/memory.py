"""S10: the most memory that a process takes to index one page of 8 MiB, and 10,000 pages."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from store_helpers import LOG, PAGES, environment, make_workspace

_RUN = (
    "import resource, sys; from memctl.cli.call import load, run; "
    "code = run(load(sys.argv[1:]), sys.argv[1:]); "
    "print(code, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
)


def peak(root: Path, *words: str) -> float:
    """MiB at the most, of a process of its own."""
    run = [sys.executable, "-c", _RUN, *words, "-w", str(root), "-q"]
    done = subprocess.run(run, capture_output=True, text=True, timeout=600, env=environment())
    code, kilobytes = done.stdout.split()[-2:]
    assert code == "0", done.stderr
    return int(kilobytes) / (1 if sys.platform == "linux" else 1024) / 1024


def big_page(root: Path) -> Path:
    """One page of 8 MiB: facts, prose and a table, as a log that was never cut."""
    piece = (
        PAGES[LOG].partition("## Retain")[2]
        + "\nProse about [[Atlas]] and the Fjord room, line after line.\n\n| a | 1 |\n"
    )
    text = "# 2025-11-27\n\n## Retain\n" + piece * (8 * 2**20 // len(piece) - 1)
    return make_workspace(root, {LOG: text}).root


def many_pages(root: Path, count: int) -> Path:
    pages = {
        f"bank/{number // 100}/{number}.md": PAGES[LOG].replace("Atlas", f"Atlas{number % 50}")
        for number in range(count)
    }
    return make_workspace(root, pages).root


def main(short: bool = False) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        big = big_page(Path(folder) / "big")
        many = many_pages(Path(folder) / "many", 500 if short else 10_000)
        one, ten = peak(big, "index"), peak(many, "index")
        (many / ".memory/index.seal").unlink()
        proof, question = peak(many, "status"), peak(big, "recall", "Fjord")
    print(
        f"S10 MiB at the most: one page of 8 MiB {one:.0f}, recall on it {question:.0f}, "
        f"many pages {ten:.0f}, proof of their index {proof:.0f}"
    )
    return one < 200 and max(ten, proof) < 300
