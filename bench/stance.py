"""How well stance judges labelled pairs: macro-F1, each language and class, the confusion table, and the misses.

    python bench/stance.py tests/data/stance/dev.jsonl [--misses] [--ablate]

A line of a file: {"lang": "en", "belief": "O(0.8) @P: …", "fact": "W @P: …", "label": "for|against|neither", "note": "…"}
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from pathlib import Path
from typing import Any

from memctl.facts import Fact
from memctl.markdown.grammar import parse
from memctl.stance import rules
from memctl.stance.stance import Stance, stance

CLASSES = ("for", "against", "neither")


def judged(row: dict[str, Any]) -> Stance:
    """The stance of the pair in `row`; ValueError when a line of it is no fact."""
    belief, fact = parse(row["belief"]), parse(row["fact"])
    if not isinstance(belief, Fact) or not isinstance(fact, Fact):
        raise ValueError(f"not a pair of facts: {row}")
    return stance(belief, fact)


def scores(pairs: Counter[tuple[str, str]]) -> dict[str, tuple[float, float, float]]:
    """(precision, recall, F1) of each class, from counts of (label, verdict)."""
    found = {}
    for name in CLASSES:
        hit = pairs[name, name]
        said = sum(pairs[label, name] for label in CLASSES)
        real = sum(pairs[name, verdict] for verdict in CLASSES)
        precision, recall = hit / said if said else 1.0, hit / real if real else 1.0
        found[name] = (precision, recall, 2 * precision * recall / (precision + recall) if hit else 0.0)
    return found


def report(title: str, pairs: Counter[tuple[str, str]]) -> None:
    """Print one table: the classes with their scores, and where each label went."""
    by_class = scores(pairs)
    macro = sum(score[2] for score in by_class.values()) / len(by_class)
    print(f"\n{title}: {sum(pairs.values())} pairs, macro-F1 {macro:.3f}")
    print(f"  {'label':8} {'prec':>6} {'rec':>6} {'F1':>6}   judged {'  '.join(f'{name:>7}' for name in CLASSES)}")
    for name, (precision, recall, f1) in by_class.items():
        went = "  ".join(f"{pairs[name, verdict]:7}" for verdict in CLASSES)
        print(f"  {name:8} {precision:6.2f} {recall:6.2f} {f1:6.2f}          {went}")


def main() -> None:
    """Read the files, judge every pair, print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--misses", action="store_true", help="list the pairs judged otherwise, with the reason")
    parser.add_argument("--ablate", action="store_true", help="switch each rule off, count what changes")
    options = parser.parse_args()
    rows = [json.loads(line) for path in options.files for line in path.read_text("utf-8").splitlines() if line.strip()]
    tables: dict[str, Counter[tuple[str, str]]] = {}
    for row in rows:
        verdict = judged(row)
        for title in ("all", row["lang"]):
            tables.setdefault(title, Counter())[row["label"], verdict.verdict] += 1
        if options.misses and verdict.verdict != row["label"]:
            print(
                f"{row['lang']} {row['label']:7} -> {verdict.verdict:7} [{verdict.reason}]\n    {row['belief']}\n    {row['fact']}"
            )
    for title, pairs in tables.items():
        report(title, pairs)
    if options.ablate:
        ablate(rows)


def ablate(rows: list[dict[str, Any]]) -> None:
    """For each rule: how many verdicts change without it, and how many more are right with it."""
    everything = rules.RULES
    before = [judged(row).verdict for row in rows]
    for rule in everything:
        rules.RULES = tuple(other for other in everything if other is not rule)
        after = [judged(row).verdict for row in rows]
        changed = [(row["label"], was, now) for row, was, now in zip(rows, before, after, strict=True) if was != now]
        wins = sum((was == label) - (now == label) for label, was, now in changed)
        print(f"  without {rule.__name__:12} {len(changed):4} change, {wins:+d} right with it")
    rules.RULES = everything


if __name__ == "__main__":
    main()
