"""J1 to J3: what is judged of text by another hand, beside what is wanted.

J2 lets memctl live through conversations (folders of `$MEMCTL_BENCH`, ../shared/bench without it: locomo/conv-*, beam/*-*), and
counts the labels that a reader gave each sentence of the bank/ it made (tests/data/bank). What nobody has read counts against it.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "bench"))


def _figures(part: str, of: str) -> str:
    bench = [sys.executable, str(ROOT / "bench" / "unseen.py"), part, "--of", of]
    return subprocess.run(bench, capture_output=True, text=True, cwd=ROOT, check=True).stdout


def main(short: bool = False) -> bool:
    """Print the rows; True if all of them are met."""
    figures = _figures("changes", "unseen3") + _figures(
        "evidence", "unseen2"
    )  # each the newest whose lines nobody used
    (changes,) = re.findall(r"(?m)^changes words +first (\d+).*marked or asked (\d+), ", figures)
    first, known = map(int, changes)
    print(f"J3 changed in plain words: current first {first} of 30 (27), older marked or asked {known} (27)")
    written = re.findall(r"written as (\w+) +right (\d+) of (\d+)", figures)
    right, of = sum(int(one) for _, one, _ in written), sum(int(all_) for *_, all_ in written)
    print(f"J1 judgements that were written: {right} of {of} right (.95);", *map(" ".join, written))
    is_useful = _bank_is_useful()
    return first >= 27 and known >= 27 and right >= 0.95 * of and is_useful


def _bank_is_useful() -> bool:
    import bank

    conversations = Path(os.environ.get("MEMCTL_BENCH", ROOT.parent / "shared/bench"))
    folders = sorted((*conversations.glob("locomo/conv-*"), *conversations.glob("beam/*-*")))
    if not folders:
        print(f"J2 can't run: no conversations in {conversations}; name the folder that has them in MEMCTL_BENCH")
        return False
    with tempfile.TemporaryDirectory() as out:
        for folder in folders:
            bank.lived(folder, Path(out, folder.name), 400)
        found = bank.read_by_hand(Path(out, folder.name) for folder in folders)
    all_of, useful, misleading = found.total(), found["useful"], found["misleading"]
    told = f"useful {useful} ({useful / all_of:.3f}; .85), misleading {misleading} ({misleading / all_of:.3f}; .02)"
    print(f"J2 sentences of bank/ after {len(folders)} conversations {all_of}: {told}, not read {found['unread']}")
    return useful >= 0.85 * all_of and misleading + found["unread"] <= 0.02 * all_of
