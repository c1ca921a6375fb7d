"""J1 and J3: what is judged of text by another hand (tests/data/unseen2), beside what is wanted. J2 is read by people."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def _figures(*sets: str) -> str:
    done = subprocess.run(
        [sys.executable, str(ROOT / "bench" / "unseen.py"), *sets], capture_output=True, text=True, cwd=ROOT, check=True
    )
    return done.stdout


def main(short: bool = False) -> bool:
    """Print the rows; True if all of them are met, which J2 never is by a command."""
    changes = re.search(r"^changes words +first (\d+).*marked or asked (\d+), ", _figures("changes"), re.MULTILINE)
    assert changes
    first, known = int(changes[1]), int(changes[2])
    print(f"J3 changed in plain words: current first {first} of 30 (27), older marked or asked {known} (27)")
    written = re.findall(r"written (?:as \w+ +)?right (\d+) (?:of (\d+))", _figures("evidence"))
    right, of = sum(int(one) for one, _ in written), sum(int(all_) for _, all_ in written)
    print(f"J1 evidence that was written: {right} of {of} right (.95)")
    print(
        "J2 bank/ read line by line: no command can; `python bench/bank.py` lists the lines, docs/benchmarks.md has the last reading"
    )
    return first >= 27 and known >= 27 and right >= 0.95 * of and False
