"""Conflicts that were planted, with hard negatives beside them: precision and recall by language.

    python bench/conflicts.py            the half that conflicts were developed on
    python bench/conflicts.py --held     the half that was not looked at: the figures to report
    python bench/conflicts.py --wrong    print every pair that was missed, and every one found that is none

Each case of tests/data/conflicts is a workspace of a few lines, with the pairs that disagree on a day. Every case goes
through the command's own verb: pages on disk, an index, citations read again.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from sets import rows_of

import memctl

DATA = Path(__file__).parent.parent / "tests" / "data" / "conflicts"


class Outcome(NamedTuple):
    """One case: the pairs that are there, the pairs that were found, each with its rule."""

    case: dict[str, Any]
    there: set[frozenset[int]]
    found: dict[frozenset[int], str]


def cases(name: str) -> list[dict[str, Any]]:
    """The cases of one half."""
    return rows_of(DATA / f"{name}.jsonl")


def tried(case: dict[str, Any], root: Path) -> Outcome:
    """What the verb finds in a workspace that holds just these lines."""
    places: dict[tuple[str, int], int] = {}
    pages: dict[str, list[str]] = defaultdict(lambda: ["## Retain", ""])
    for number, fact in enumerate(case["facts"]):
        page = pages[f"memory/{fact['day']}.md"]
        page.append(f"- {fact['line']}")
        places[f"memory/{fact['day']}.md", len(page)] = number
    (root / "memory").mkdir()
    for path, lines in pages.items():
        (root / path).write_text("\n".join(lines) + "\n", encoding="utf-8")
    with memctl.open(root, now=datetime.fromisoformat(case["today"])) as memory:
        listed = memory.conflicts()
    found = {frozenset(places[hit.source.path, hit.source.line] for hit in c.sides): str(c) for c in listed}
    return Outcome(case, {frozenset(pair) for pair in case["conflicts"]}, found)


def outcomes(name: str) -> Iterator[Outcome]:
    """Every case of one half, tried."""
    for case in cases(name):
        with tempfile.TemporaryDirectory() as folder:
            yield tried(case, Path(folder))


def main() -> int:
    """Print the table; the exit code is 0."""
    read = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    read.add_argument("--held", action="store_true")
    read.add_argument("--wrong", action="store_true")
    given = read.parse_args()
    name = "held" if given.held else "dev"
    hits: Counter[str] = Counter()
    there: Counter[str] = Counter()
    found: Counter[str] = Counter()
    kinds: dict[str, Counter[str]] = defaultdict(Counter)
    for outcome in outcomes(name):
        good = len(outcome.there & outcome.found.keys())
        for group in (outcome.case["lang"], "all"):
            hits[group] += good
            there[group] += len(outcome.there)
            found[group] += len(outcome.found)
        right = outcome.there == outcome.found.keys()
        kinds[outcome.case["kind"]]["right" if right else "wrong"] += 1
        if given.wrong and not right:
            print_wrong(outcome)
    print(f"conflicts, {name} half: {sum(map(sum, (c.values() for c in kinds.values())))} cases")
    for group in sorted(there, key=lambda g: (g == "all", g)):
        precision = hits[group] / found[group] if found[group] else 1.0
        recall = hits[group] / there[group] if there[group] else 1.0
        print(
            f"  {group:4} precision {precision:.3f} ({hits[group]}/{found[group]})  recall {recall:.3f} ({hits[group]}/{there[group]})"
        )
    for kind, count in sorted(kinds.items()):
        print(f"  {kind:20} {count['right']} of {count.total()} cases right")
    return 0


def print_wrong(outcome: Outcome) -> None:
    """One case with what was missed and what was found that is none."""
    print(outcome.case["lang"], outcome.case["kind"])
    for number, fact in enumerate(outcome.case["facts"]):
        print(f"    {number} {fact['day']} {fact['line']}")
    for pair in outcome.there - outcome.found.keys():
        print(f"  missed {sorted(pair)}")
    for pair in outcome.found.keys() - outcome.there:
        print(f"  none, but found {sorted(pair)}: {outcome.found[pair]}")


if __name__ == "__main__":
    sys.exit(main())
