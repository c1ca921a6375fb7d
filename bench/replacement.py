"""Facts that changed in natural words: whether recall shows the current line first, and what is asked about the rest.

    python bench/replacement.py              the half that the rules were developed on
    python bench/replacement.py --held       the half that was not looked at: the figures to report
    python bench/replacement.py --natural    the third set, of everyday changes; with --held the third of it that was held
    python bench/replacement.py --asked      the fourth set, of changes that share few words or none, and their questions; with --held
    python bench/replacement.py --wrong      print what is not as it should be
    python bench/replacement.py --pairs FILE how often each rule is right on labelled pairs, each in a workspace of its own
    python bench/replacement.py --real DIR   what is found in workspaces by other people (locomo, beam, scale), and of what
                                             labels are known (tests/data/replacement/labels.txt), how often each rule is right

The sets are tests/data/replacement: changes of one fact among 300 others, once as they stand and once with `key=`; pairs that
both hold; and updates, told to an assistant on two days, with the question whose answer changed. All goes through `Memory`.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from sets import rows_of

import memctl

DATA = Path(__file__).parent.parent / "tests" / "data" / "replacement"
FACT = re.compile(r"[WBO](?=[ (:@])")
FIRST, TODAY = date(2025, 6, 2), datetime(2025, 9, 1, 12)


class Row(NamedTuple):
    """One line of a set: its columns without blanks around them."""

    cells: tuple[str, ...]


def rows(name: str) -> list[Row]:
    """The rows of a set."""
    lines = (DATA / f"{name}.txt").read_text("utf-8").splitlines()
    return [Row(tuple(cell.strip() for cell in line.split(" | "))) for line in lines if line and line[0] != "#"]


def keyed(line: str, key: str) -> str:
    """A line as a fact with a key; a note becomes a fact of the owner's."""
    if re.match(r"[WB] ", line):
        return f"{line[0]}(key={key}){line[1:]}"
    return f"W(key={key}): {line}"


def written(root: Path, told: Iterable[tuple[int, str]]) -> None:
    """Logs with lines, each by the number of its day; facts under their own heading."""
    pages: dict[date, list[str]] = defaultdict(lambda: ["# Log", ""])
    for number, line in sorted(told, key=lambda one: bool(FACT.match(one[1]))):
        page = pages[FIRST + timedelta(days=number)]
        if FACT.match(line) and "## Retain" not in page:
            page += ["", "## Retain", ""]
        page.append(f"- {line}")
    (root / "memory").mkdir(parents=True)
    for day, lines in pages.items():
        (root / "memory" / f"{day}.md").write_text("\n".join(lines) + "\n", "utf-8")


def said(line: str) -> str:
    """What a line says without its head."""
    return re.sub(r"^[WBOS](?:\([^)]*\))?\s*(?:@\S+\s*)*:\s*", "", line)


class Pair(NamedTuple):
    """Two lines that are asked about, each as it stands and where, and why: the rule comes first."""

    older: str
    newer: str
    places: tuple[str, str]
    why: str

    @property
    def rule(self) -> str:
        """The rule that found it."""
        first, _, rest = self.why.partition(": ")
        return f"conflict: {rest.partition(': ')[0]}" if first == "conflict" else f"replaced: {first}"


def found_in(memory: memctl.Memory) -> list[Pair]:
    """Every pair of which `review` asks whether one line replaces the other: of those told in the last 90 days."""
    asked = (each for each in memory.review() if each.kind in ("replaced", "trust") and len(each.sides) == 2)
    pairs = ((sorted(each.sides, key=_told), each.why) for each in asked)
    return [Pair(a.content, b.content, (str(a.source), str(b.source)), why) for (a, b), why in pairs]


def _told(hit: memctl.Hit) -> tuple[str, int]:
    return hit.day or "", hit.source.line


class Figures(NamedTuple):
    """What one run counts."""

    first: int
    marked: int
    of: int
    asked: int
    false: int
    lines: int
    steady: int
    steady_of: int
    wrongly: int


def changes(half: str, language: str, with_key: bool, wrong: bool) -> Figures:
    """Every change of one owner among all others and the pairs that both hold."""
    cases = [row.cells for row in rows(f"changes-{half}") if row.cells[0] == language]
    both = [row.cells for row in rows(f"negatives-{half}") if row.cells[0] == language]
    told: list[tuple[int, str]] = []
    for number, (_, line) in enumerate(row.cells for row in rows("others")):
        told.append((number * 7 % 80, line))
    for number, case in enumerate(cases):
        lines = (keyed(line, case[1]) for line in case[2:4]) if with_key else case[2:4]
        told += zip((number % 20, 40 + number % 25), lines, strict=True)
    for number, case in enumerate(both):
        told += zip((number % 20, 40 + number % 25), case[2:4], strict=True)
    root = Path(tempfile.mkdtemp())
    written(root, told)
    pairs = {(said(case[2]), said(case[3])) for case in cases}
    heard = {(said(case[2]), said(case[3])) for case in both if case[1] in ("hearsay", "слухи", "传闻")}
    first = marked = 0
    with memctl.open(root, now=TODAY) as memory:
        found = {(pair.older, pair.newer): pair for pair in found_in(memory)}
        for case in cases:
            hits = memory.recall(case[4]).hits
            old, new = said(case[2]), said(case[3])
            is_first = bool(hits) and hits[0].content == new
            older = next((hit for hit in hits if hit.content == old), None)
            is_marked = bool(older and (older.superseded_by or getattr(older, "perhaps_superseded_by", None)))
            is_marked = is_marked or (old, new) in found
            first, marked = first + is_first, marked + is_marked
            if wrong and not (is_first and is_marked):
                print(
                    f"  {'' if is_first else 'not first '}{'' if is_marked else 'not marked '}| {old} | {new} | {case[4]}"
                )
                print("     ", [hit.content[:40] for hit in hits[:3]])
        steady, wrongly = steadiness(memory, [case for case in both if len(case) > 4], wrong)
    false = [pair for pair in found if pair not in pairs and pair not in heard]
    for pair in false if wrong else ():
        print("  false:", found[pair].rule, "|", *pair, sep=" | ")
    shutil.rmtree(root)
    asked = sum(len(case) > 4 for case in both)
    return Figures(first, marked, len(cases), len(found), len(false), len(told), steady, asked, wrongly)


def steadiness(memory: memctl.Memory, cases: Iterable[tuple[str, ...]], wrong: bool) -> tuple[int, int]:
    """Of lines that a newer one only resembles: how many still answer their question first, and how many are marked."""
    first = marked = 0
    for case in cases:
        hits = memory.recall(case[4]).hits
        old = said(case[2])
        older = next((hit for hit in hits if hit.content == old), None)
        is_marked = bool(older and (older.superseded_by or getattr(older, "perhaps_superseded_by", None)))
        first, marked = first + (bool(hits) and hits[0].content == old), marked + is_marked
        if wrong and (is_marked or not hits or hits[0].content != old):
            print(f"  steady{' marked' if is_marked else ''} | {old} | {case[3]} | {case[4]}")
            print("     ", [hit.content[:40] for hit in hits[:3]])
    return first, marked


def updates(half: str, language: str, wrong: bool) -> tuple[int, int]:
    """Updates told to an assistant: how often the first hit is the current one, of how many."""
    cases = [row.cells for row in rows(f"updates-{half}") if row.cells[0] == language]
    told: list[tuple[int, str]] = []
    for number, case in enumerate(cases):
        told += zip(
            (number % 20, 40 + number % 25), (f"09:{number:02} **User**: {line}" for line in case[1:3]), strict=True
        )
    for number, (_, line) in enumerate(row.cells for row in rows("others")):
        if not FACT.match(line):
            told.append((number * 7 % 80, f"10:{number % 60:02} **User**: {line}"))
    root = Path(tempfile.mkdtemp())
    written(root, told)
    right = 0
    with memctl.open(root, now=TODAY) as memory:
        for case in cases:
            hits = memory.recall(case[3]).hits
            good = bool(hits) and hits[0].content.endswith(case[2])
            right += good
            if wrong and not good:
                print("  update:", *case[1:], sep=" | ")
                print("     ", [hit.content[14:54] for hit in hits[:3]])
    shutil.rmtree(root)
    return right, len(cases)


def main() -> int:
    """Print the figures; the exit code is 0."""
    read = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    read.add_argument("--held", action="store_true")
    read.add_argument("--natural", dest="named", action="store_const", const="natural", default="")
    read.add_argument("--asked", dest="named", action="store_const", const="asked")
    read.add_argument("--wrong", action="store_true")
    read.add_argument("--pairs", type=Path)
    read.add_argument("--real", type=Path, nargs="*")
    given = read.parse_args()
    if given.pairs:
        return labelled(given.pairs)
    if given.real:
        return real(given.real, given.wrong)
    half = "-".join(filter(None, (given.named, "held" * given.held))) or "dev"
    for with_key in (False, True):
        each = [changes(half, language, with_key, given.wrong) for language in ("en", "ru", "zh")]
        got = Figures(*map(sum, zip(*each, strict=True)))
        print(
            f"{half}, {'with key=' if with_key else 'words only'}: current first {got.first} of {got.of}, older marked or asked "
            f"{got.marked} of {got.of}; found {got.asked}, false {got.false} in {got.lines} lines"
        )
        if got.steady_of:
            print(
                f"    what nothing replaced is first {got.steady} of {got.steady_of}, marked all the same {got.wrongly}"
            )
    if given.named:
        return 0
    told = [updates(half, language, given.wrong) for language in ("en", "ru", "zh")]
    right, of = map(sum, zip(*told, strict=True))
    print(f"{half}, updates: the first hit is the current one {right} of {of}")
    return 0


def labelled(path: Path) -> int:
    """Per rule how many of the pairs that it finds are labelled "replaces"; and how many of these nothing finds."""
    count: Counter[tuple[str, str]] = Counter()
    for row in rows_of(path):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "memory").mkdir()
            for side in ("older", "newer"):
                day = row[f"{side}_day"]
                page = Path(folder, f"memory/{day}.md")
                page.write_text(f"# {day}\n\n- {row[side].removeprefix('- ')}\n", "utf-8")
            with memctl.open(folder, now=row["newer_day"]) as memory:
                rules = [pair.rule for pair in found_in(memory)] or ["nothing"]
                count.update((rule, row["label"]) for rule in rules)
    for rule in sorted({rule for rule, _ in count}):
        of = sum(number for (its, _), number in count.items() if its == rule)
        print(f"  {rule:20} {count[rule, 'replaces']} of {of} are labelled to replace")
    return 0


def found_meanwhile(root: Path) -> list[Pair]:
    """Every pair that an owner is asked about who looks at `review` every 90 days and answers nothing."""
    days = sorted(date.fromisoformat(page.stem[:10]) for page in (root / "memory").glob("*.md"))
    looks = [days[0] + timedelta(days=number) for number in range(90, (days[-1] - days[0]).days, 90)]
    found: dict[tuple[str, str], Pair] = {}
    for day in (*looks, days[-1]):
        with memctl.open(root, now=day) as memory:
            found |= {pair.places: pair for pair in found_in(memory)}
    return list(found.values())


def labels() -> dict[tuple[str, str, str], bool]:
    """Pairs by other people, by (workspace, older, newer), and whether the newer line really changes what the older says."""
    held = {}
    path = DATA / "labels.txt"
    for line in path.read_text("utf-8").splitlines() if path.exists() else ():
        if line and line[0] != "#":
            name, older, newer, label = line.split()
            held[name, older, newer] = label == "yes"
    return held


def real(roots: Iterable[Path], wrong: bool) -> int:
    """What is found in logs that nobody wrote for this, a workspace each."""
    known = labels()
    counts: Counter[str] = Counter()
    right: Counter[str] = Counter()
    of: Counter[str] = Counter()
    for root in roots:
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder) / root.name
            shutil.copytree(root, copy, ignore=shutil.ignore_patterns(".memory"))
            pairs = found_meanwhile(copy)
            print(f"{root.name}: {len(pairs)} pairs")
            for pair in pairs:
                counts[pair.rule] += 1
                label = known.get((root.name, *pair.places))
                if label is not None:
                    of[pair.rule] += 1
                    right[pair.rule] += label
                if wrong:
                    print(f"{root.name} {pair.places[0]} {pair.places[1]} {label} [{pair.why}]")
                    print("   ", pair.older, pair.newer, sep="\n      ")
    for rule, count in counts.most_common():
        print(f"  {rule:20} {count:4} found, {right[rule]} of {of[rule]} labelled ones right")
    return 0


if __name__ == "__main__":
    sys.exit(main())
