"""Candidates that the heuristics of `ingest` find in labelled transcripts: `python bench/ingest.py FILE... [--misses]`.

A candidate matches a gold item if it comes from the item's turn (or one of its `turns`) and its text (or task) holds all strings of
`must`, casefolded; `a|b` in one of them means either. A second candidate for the same item is wrong: repetition is junk.
Precision is over candidates, recall over gold items. `--misses` shows what was missed, and refuses files named held*:
a rule written because of a held-out line makes the figure worthless.
"""

from __future__ import annotations

import argparse
import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from memctl.ingest.extract import CandidateFact, candidates
from memctl.ingest.turns import Turn
from memctl.markdown.grammar import render

KINDS = {"world": "W", "experience": "B", "opinion": "O"}


def turns_of(dialogue: dict[str, Any]) -> Iterator[Turn]:
    """The turns of a labelled transcript, one line of a file each."""
    for number, turn in enumerate(dialogue["turns"]):
        when = datetime.fromisoformat(turn["when"]) if turn.get("when") else None
        yield Turn(turn["role"], turn["text"], number + 1, number + 1, when, None, number)


def matches(found: CandidateFact, gold: dict[str, Any]) -> bool:
    """True when a candidate says what the item asks for, in a turn where it may."""
    text = f"{found.fact.text} {found.fact.task or ''}".casefold()
    return found.turn in (gold["turn"], *gold.get("turns", ())) and all(
        any(part.casefold() in text for part in must.split("|")) for must in gold["must"]
    )


class Tally:
    """Counts of one language: found and right candidates, gold and matched items by rule, agreement in the rest."""

    def __init__(self) -> None:
        self.found, self.right = Counter[str](), Counter[str]()
        self.gold, self.matched = Counter[str](), Counter[str]()
        self.agreed, self.asked = Counter[str](), Counter[str]()
        self.never = 0
        self.misses: list[str] = []

    def add(self, dialogue: dict[str, Any]) -> None:
        """Score one transcript."""
        name, found, gold = dialogue["id"], list(candidates(turns_of(dialogue))), dialogue["gold"]
        taken: set[int] = set()
        for one in found:
            hits = [at for at, item in enumerate(gold) if matches(one, item)]
            fresh = [at for at in hits if at not in taken]
            self.found[one.rule] += 1
            self.right[one.rule] += bool(fresh)
            never = one.turn in dialogue.get("never", ())
            self.never += never
            if not fresh:
                self.misses.append(f"  + {name}:{one.turn} {one.rule}{' NEVER' if never else ''} {render(one.fact)}")
            for at in fresh:
                self._agree(one, gold[at])
            taken.update(fresh)
        for at, item in enumerate(gold):
            self.gold[item["rule"]] += 1
            self.matched[item["rule"]] += at in taken
            if at not in taken:
                said = dialogue["turns"][item["turn"]]["text"]
                self.misses.append(f"  - {name}:{item['turn']} {item['rule']} {item['must']} in {said[:140]!r}")

    def _agree(self, one: CandidateFact, item: dict[str, Any]) -> None:
        has = {
            "rule": one.rule, "kind": KINDS[one.fact.kind.value], "key": one.fact.key, "outcome": one.fact.outcome,
            "about": item.get("about") if set(item.get("about", ())) <= set(one.fact.entities) else one.fact.entities,
        }  # fmt: skip
        for what, value in has.items():
            if item.get(what) is not None:
                self.asked[what] += 1
                self.agreed[what] += value == item[what]


def share(part: int, whole: int) -> str:
    """`.93 (28/30)` with a 95 % interval (Wilson)."""
    if not whole:
        return "  – (0/0)"
    p, z = part / whole, 1.96
    middle, spread = p + z * z / (2 * whole), z * math.sqrt(p * (1 - p) / whole + z * z / (4 * whole * whole))
    low, high = ((middle + sign * spread) / (1 + z * z / whole) for sign in (-1, 1))
    return f"{p:.2f} ({part}/{whole}; {low:.2f}–{high:.2f})"


def report(name: str, tallies: dict[str, Tally]) -> Iterator[str]:
    """The lines of the table: by language, then by rule over all languages."""
    yield f"{name}\n{'':>12} {'precision':>28} {'recall':>28}  never"
    for language, tally in [*tallies.items(), ("all", merged(tallies.values()))]:
        row = (share(tally.right.total(), tally.found.total()), share(tally.matched.total(), tally.gold.total()))
        yield f"{language:>12} {row[0]:>28} {row[1]:>28}  {tally.never}"
    whole = merged(tallies.values())
    for rule in sorted(whole.gold | whole.found):
        row = (share(whole.right[rule], whole.found[rule]), share(whole.matched[rule], whole.gold[rule]))
        yield f"{rule:>12} {row[0]:>28} {row[1]:>28}"
    yield "of the matched: " + ", ".join(f"{what} {share(whole.agreed[what], n)}" for what, n in whole.asked.items())


def merged(tallies: Iterable[Tally]) -> Tally:
    """The sum of several."""
    whole = Tally()
    for tally in tallies:
        for what in ("found", "right", "gold", "matched", "agreed", "asked"):
            getattr(whole, what).update(getattr(tally, what))
        whole.never += tally.never
    return whole


def main() -> None:
    """Read the files, print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--misses", action="store_true", help="show wrong candidates (+) and missed items (-)")
    given = parser.parse_args()
    if given.misses and any(path.name.startswith("held") for path in given.files):
        parser.error("held-out transcripts are scored, never shown: drop --misses")
    for path in given.files:
        tallies: dict[str, Tally] = {}
        for line in filter(str.strip, path.read_text("utf-8").splitlines()):
            dialogue = json.loads(line)
            tallies.setdefault(dialogue["lang"], Tally()).add(dialogue)
        print("\n".join(report(str(path), tallies)))
        if given.misses:
            print("\n".join(line for tally in tallies.values() for line in tally.misses))


if __name__ == "__main__":
    main()
