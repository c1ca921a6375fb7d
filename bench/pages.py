"""Questions on real notes, answered by page: `python bench/pages.py DATA/scale`, and what ripgrep would have needed.

A page is found at the place of the first hit that cites it, in a recall with its default settings. Beside it four ways
in which a person would use ripgrep, ignoring case, with the words of the question that are no function words. `rg`
lists files and ranks none: they are opened by their number of matching lines, most first, then by path.

- rarest: the word that the fewest files hold (of those that any holds).
- all: files that hold every word.
- narrowed: the rarest word, then the next one as well, as long as a file is left.
- any: files that hold at least one of the words.
- best: for each question the way that needs the fewest files, which nobody knows beforehand.

`opened` counts the files up to and including the page, where it is listed at all.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import mean, median
from typing import Any

from sets import content_words, rows_of

import memctl

QUESTIONS = Path(__file__).parents[1] / "tests/data/til/questions.jsonl"
AT = (1, 3, 10)
Places = list[int | None]
Counts = dict[str, int]  # the number of matching lines of each file


def main() -> None:
    """Print a line for memctl, one for each kind of question, and one for each way to use ripgrep."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--questions", type=Path, nargs="+", default=[QUESTIONS], help="one file or several, together")
    parser.add_argument("--vectors", action="store_true", help="with the model that is installed, too")
    parser.add_argument(
        "--misses", action="store_true", help="print what is not in the first three (never of a held set)"
    )
    given = parser.parse_args()
    asked = [row for path in given.questions for row in rows_of(path)]
    with tempfile.TemporaryDirectory() as base:
        for name in sorted({question["workspace"] for question in asked}):
            root = Path(base, name)
            shutil.copytree(given.data / name, root)
            group = [question for question in asked if question["workspace"] == name]
            print(f"{name}: {len(group)} questions, {len(list(root.rglob('*.md')))} pages")
            _memctl(root, group, given.vectors, given.misses)
            _ripgrep(root, group)


def _memctl(root: Path, asked: Sequence[dict[str, Any]], vectors: bool, misses: bool) -> None:
    with memctl.open(root) as memory:
        if vectors:
            memory.sync()
            made = memory.embed()
            print(f"{made.made if made else 0} lines embedded")
        answers = [
            [hit.source.path for hit in memory.recall(question["question"], vectors=vectors).hits] for question in asked
        ]
    places = [_place(question["gold"], found) for question, found in zip(asked, answers, strict=True)]
    print(f"{'memctl':12} {_figures(places)}")
    for kind in sorted({question["type"] for question in asked}):
        print(f"  {kind:10} {_figures([p for q, p in zip(asked, places, strict=True) if q['type'] == kind])}")
    for question, place, found in zip(asked, places, answers, strict=True):
        if misses and (place is None or place > 3):
            print(f"  {place} {question['question']}\n     wanted {question['gold']}, found {found[:3]}")


def _place(gold: Sequence[str], found: Sequence[str]) -> int | None:
    return next((number for number, path in enumerate(found, 1) if path in gold), None)


def _figures(places: Places) -> str:
    within = "  ".join(f"first {k} {sum(p is not None and p <= k for p in places):2}" for k in AT)
    return f"of {len(places):2}  {within}  MRR {mean(1 / p if p else 0 for p in places):.3f}"


# -- ripgrep ----------------------------------------------------------------------------------------------------------


def _ripgrep(root: Path, asked: Sequence[dict[str, Any]]) -> None:
    if not shutil.which("rg"):
        print("ripgrep is not installed (apt-get install ripgrep): left out")
        return
    ways: dict[str, Callable[[list[Counts]], Counts]] = {
        "rarest": lambda found: found[0] if found else {},
        "all": _all,
        "narrowed": _narrowed,
        "any": lambda found: sum(map(Counter, found), Counter()),
    }
    places: dict[str, Places] = {way: [] for way in (*ways, "best")}
    listed: dict[str, list[int]] = {way: [] for way in ways}
    for question in asked:
        found = [_matching(root, word) for word in content_words(question["question"])]
        held = sorted(filter(None, found), key=len)
        for way, choose in ways.items():
            counts = choose(found if way == "all" else held)
            ranked = sorted(counts, key=lambda path: (-counts[path], path))
            places[way].append(_place(question["gold"], ranked))
            listed[way].append(len(ranked))
        places["best"].append(min(filter(None, (places[way][-1] for way in ways)), default=None))
    for way, ranks in places.items():
        opened = [rank for rank in ranks if rank] or [0]
        lists = f"  lists {median(listed[way]):g}" if way in listed else ""
        print(
            f"rg {way:9} {_figures(ranks)}  listed at all {sum(map(bool, ranks))}"
            f"  opened median {median(opened):g}, mean {mean(opened):.1f}{lists}"
        )


def _matching(root: Path, word: str) -> Counts:
    asked = ["rg", "--ignore-case", "--fixed-strings", "--count", "--glob", "*.md", "-e", word, "."]
    out = subprocess.run(asked, cwd=root, capture_output=True, text=True, check=False).stdout
    rows = (line.rpartition(":") for line in out.splitlines())
    return {path.removeprefix("./"): int(count) for path, _, count in rows}


def _all(found: list[Counts]) -> Counts:
    kept = set.intersection(*map(set, found)) if found else set()
    return {path: sum(counts[path] for counts in found) for path in kept}


def _narrowed(found: list[Counts]) -> Counts:
    used = 0
    for number in range(1, len(found) + 1):
        if _all(found[:number]):
            used = number
        else:
            break
    return _all(found[:used])


if __name__ == "__main__":
    main()
