"""Does memctl know what it doesn't know? `python bench/answerable.py SHARED [--fit]`, SHARED with locomo/ and xquad/.

Questions of a folder's own pages against questions of other pages put to it: as they are, and with the names of those who
speak there exchanged for those who speak here (a swapped premise). Prints AUROC and calibration error (ten bins) for each
group; `--fit` fits the weights of memctl/recall/surroundings.py on the development part and prints them. Type 5 of LoCoMo
(a true question about the wrong speaker) stands apart: words cannot tell it.
"""

from __future__ import annotations

import argparse
import re
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from math import exp
from pathlib import Path
from typing import Any, NamedTuple

from sets import rows_of

import memctl

LOCOMO_DEV, LOCOMO_HELD = ("conv-26", "conv-30"), ("conv-41", "conv-42", "conv-43")
LANGUAGES = ("en", "ru", "zh")
_SPEAKER = re.compile(r"\*\*([^*]+)\*\*:")
_MOST = 150  # questions of one kind and folder


class Row(NamedTuple):
    """A question put to a folder: its group, whether the folder holds the answer, what recall says of that and what it saw."""

    group: str
    held: bool
    right: bool
    answerable: float
    signs: tuple[float, ...]


def main() -> None:
    """Print a line for each group."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("shared", type=Path)
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--held", action="store_true", help="look at the held part too")
    given = parser.parse_args()
    rows = [*_locomo(given.shared / "locomo", given.held), *_xquad(given.shared / "xquad", given.held)]
    if given.fit:
        weights = _fit([row for row in rows if not row.held and "type 5" not in row.group])
        print("BIAS, WEIGHTS =", [round(weight, 2) for weight in weights])
        rows = [row._replace(answerable=_logistic(weights, row.signs)) for row in rows]
    for held in (False, True):
        for group in sorted({row.group for row in rows if row.held is held}):
            chosen = [row for row in rows if row.held is held and row.group == group]
            _print(f"{'held' if held else 'dev'} {group}", [(row.answerable, row.right) for row in chosen])


# -- sets -------------------------------------------------------------------------------------------------------------


def _locomo(folder: Path, look: bool) -> Iterator[Row]:
    asked = _read(folder)
    for part, held in ((LOCOMO_DEV, False), (LOCOMO_HELD, True)):
        if held and not look:
            continue
        for name in part:
            other = part[(part.index(name) + 1) % len(part)]
            own = [q["question"] for q in asked if q["workspace"] == name and not q["type"].startswith("5")]
            wrong = [q["question"] for q in asked if q["workspace"] == name and q["type"].startswith("5")]
            theirs = [q["question"] for q in asked if q["workspace"] == other and not q["type"].startswith("5")]
            swapped = _renamed(theirs, _speakers(folder / other), _speakers(folder / name))
            yield from _put(
                folder / name,
                held,
                [("locomo", True, own), ("locomo", False, theirs), ("locomo, names swapped", True, own),
                 ("locomo, names swapped", False, swapped), ("locomo, type 5", True, own), ("locomo, type 5", False, wrong)],
            )  # fmt: skip


def _xquad(folder: Path, look: bool) -> Iterator[Row]:
    asked = _read(folder)
    for language in LANGUAGES:
        for half, held in ((0, False), (1, True)):
            if held and not look:
                continue
            quarter = [f"article-{n:02}" for n in range(24) if n % 4 == half]
            others = [f"article-{n:02}" for n in range(24) if n % 4 == half + 2]
            mine = [q["question"] for q in asked if q["workspace"] == language and _article(q) in quarter]
            theirs = [q["question"] for q in asked if q["workspace"] == language and _article(q) in others]
            with tempfile.TemporaryDirectory() as made:
                shutil.copytree(folder / language, made, dirs_exist_ok=True)
                for path in Path(made, "bank").glob("article-*.md"):
                    if path.stem not in quarter:
                        path.unlink()
                group = f"xquad {language}"
                yield from _put(Path(made), held, [(group, True, mine), (group, False, theirs)])


def _article(question: dict[str, Any]) -> str:
    return Path(question["gold"][0].partition("#")[0]).stem


def _read(folder: Path) -> list[dict[str, Any]]:
    return [q for q in rows_of(folder / "questions.jsonl") if q.get("gold")]


def _speakers(folder: Path) -> list[str]:
    text = "\n".join(path.read_text("utf-8") for path in folder.glob("memory/*.md"))
    said = _SPEAKER.findall(text)
    return sorted(set(said), key=lambda name: -said.count(name))[:2]


def _renamed(questions: Sequence[str], old: Sequence[str], new: Sequence[str]) -> list[str]:
    pairs = dict(zip(old, new, strict=True))
    return [re.sub("|".join(old), lambda match: pairs[match[0]], question) for question in questions]


def _put(folder: Path, held: bool, sets: Sequence[tuple[str, bool, Sequence[str]]]) -> Iterator[Row]:
    """Every question of some sets put to a folder."""
    with tempfile.TemporaryDirectory() as made:
        root = Path(made, "w")
        shutil.copytree(folder, root)
        days = sorted(path.stem[:10] for path in root.glob("memory/*.md"))
        with memctl.open(root, now=days[-1] if days else "2025-11-30") as memory:
            for group, right, questions in sets:
                for question in questions[:: max(1, len(questions) // _MOST)]:
                    yield Row(group, held, right, *_asked(memory, question))


def _asked(memory: memctl.Memory, question: str) -> tuple[float, tuple[float, ...]]:
    """How likely recall calls an answer, and the signs that `--fit` weighs."""
    answer = memory.recall(memory.query(question, per_page=0), k=10, vectors=False)
    assert answer.signs, f"a question without words: {question}"
    return answer.answerable or 0.0, answer.signs


# -- figures ----------------------------------------------------------------------------------------------------------


def _logistic(weights: Sequence[float], signs: Sequence[float]) -> float:
    return 1 / (1 + exp(-weights[0] - sum(w * x for w, x in zip(weights[1:], signs, strict=True))))


def _fit(rows: Sequence[Row], steps: int = 400, ridge: float = 1e-4) -> list[float]:
    """Weights of a logistic, the bias first; both answers and all groups weigh the same, exchanged names half."""
    keys = [(row.group, row.right) for row in rows]
    share = {key: (0.5 if "," in key[0] else 1) / keys.count(key) / len(set(keys)) for key in set(keys)}
    data = [([1.0, *row.signs], float(row.right), share[key]) for row, key in zip(rows, keys, strict=True)]
    size = len(data[0][0])
    # The curvature of a logistic is nowhere above a quarter: this bound needs no step size and cannot overshoot.
    bound = [
        [sum(w * 0.25 * x[i] * x[j] for x, _, w in data) + ridge * (i == j) for j in range(size)] for i in range(size)
    ]
    found = [0.0] * size
    for _ in range(steps):
        slope = [ridge * each for each in found]
        for x, y, w in data:
            error = w * (_logistic(found, x[1:]) - y)
            for i, each in enumerate(x):
                slope[i] += error * each
        found = [old - step for old, step in zip(found, solved(bound, slope), strict=True)]
    return found


def solved(matrix: Sequence[Sequence[float]], right: Sequence[float]) -> list[float]:
    """Gauss, with the largest first."""
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    for at in range(len(rows)):
        best = max(range(at, len(rows)), key=lambda n: abs(rows[n][at]))
        rows[at], rows[best] = rows[best], rows[at]
        rows[at] = [value / rows[at][at] for value in rows[at]]
        for other in range(len(rows)):
            if other != at:
                rows[other] = [a - rows[other][at] * b for a, b in zip(rows[other], rows[at], strict=True)]
    return [row[-1] for row in rows]


def _print(name: str, pairs: Sequence[tuple[float, bool]]) -> None:
    good = [value for value, right in pairs if right]
    bad = [value for value, right in pairs if not right]
    wins = sum((a > b) + 0.5 * (a == b) for a in good for b in bad)
    # Both kinds weigh the same, however many questions of each there are.
    error = 0.0
    for low in range(10):
        bin_ = [(v, r, 0.5 / len(good if r else bad)) for v, r in pairs if low <= min(v * 10, 9.999) < low + 1]
        error += abs(sum(w * (v - r) for v, r, w in bin_))
    print(
        f"{name:32} own {len(good):4}  others {len(bad):4}  AUROC {wins / len(good) / len(bad):.3f}  calibration error {error:.3f}"
    )


if __name__ == "__main__":
    main()
