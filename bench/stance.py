"""How right stance is on labelled pairs: by rule what it judged and how often that was right, and how many it found at all.

    python bench/stance.py [FILE...] [--misses] [--ablate]
    python bench/stance.py --tell FOLDER NAME... > lines.jsonl          # what ingest makes of conversations
    python bench/stance.py --lines lines.jsonl [LABELS...] [--misses]   # the labelled pairs among those lines

A line of a file: {"lang": "en", "belief": "O(0.8) @P: …", "fact": "W @P: …", "label": "for|against|reversal|neither"}; where no
label of a file says reversal, an end counts as against. Without files: all sets of tests/data/stance that no rule was built on.

FOLDER holds conversations by another hand (`locomo/conv-26/memory/2023-05-08.md`, a turn a line: `- **Name**: text`), which are
ingested day by day, each person once as the owner. The labels (tests/data/stance/conversations-*.jsonl) name lines by citation
and id, never by text. They are of the lines that ingest made at 74ce291: check that out and run its ingest with this file
(`PYTHONPATH=<there> python bench/stance.py --tell …`); a later ingest makes other lines, of which few are labelled.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import date, datetime
from pathlib import Path
from typing import Any

from generate import init_workspace
from sets import rows_of

import memctl
from memctl.judgement import RULES
from memctl.markdown.grammar import parse
from memctl.stance import stance as judging

SETS = ("held", "more-en", "more-ru", "more-zh", "evidence-held", "evidence-more")
_DATA = Path(__file__).parents[1] / "tests" / "data" / "stance"
_TURN = re.compile(r"- (?:\d\d:\d\d )?\*\*(?P<who>[^*]+)\*\*: ?(?P<text>.*)")
_USER = "Sam"  # the name that the user of a chat with an assistant goes by here


def judged(row: dict[str, Any], ends: bool = True) -> tuple[str, str, str]:
    """(rule, verdict, reason) of a pair; the verdict is a label, neither where nothing is said."""
    belief, fact = parse(row["belief"]), parse(row["fact"])
    if not isinstance(belief, memctl.Fact) or not isinstance(fact, memctl.Fact):
        raise ValueError(f"not a pair of facts: {row}")
    found = judging.stance(belief, fact)
    if found is None:
        return "", "neither", ""
    verdict = found.verdict if found.kind == "evidence" else "reversal" if ends else "against"
    return found.rule, verdict, found.reason


def report(title: str, rows: list[dict[str, Any]], misses: bool) -> None:
    """Print what each rule judged and how often that was right; then how many of the true pairs were written or asked."""
    ends = any(row["label"] == "reversal" for row in rows)
    right: Counter[tuple[str, str]] = Counter()
    said: Counter[tuple[str, str]] = Counter()
    by_tier: Counter[str] = Counter()
    for row in rows:
        rule, verdict, reason = judged(row, ends)
        is_true = row["label"] != "neither"
        by_tier["true"] += is_true
        if rule:
            said[rule, verdict] += 1
            right[rule, verdict] += verdict == row["label"]
            by_tier[RULES[rule].tier_from().value] += is_true
        if misses and verdict != row["label"]:
            print(f"{row['label']:8} -> {verdict:8} [{reason}]\n    {row['belief']}\n    {row['fact']}")
    print(
        f"\n{title}: {len(rows)} pairs, {by_tier['true']} speak; written {by_tier['certain']}, asked {by_tier['asked']}"
    )
    for (rule, verdict), count in sorted(said.items(), key=lambda each: (RULES[each[0][0]].tier_from().value, each[0])):
        tier = "written" if RULES[rule].tier_from().value == "certain" else "asked"
        print(f"  {tier:8} {rule:18} {verdict:9} right {right[rule, verdict]:3} of {count:3}")


def ablate(rows: list[dict[str, Any]]) -> None:
    """For each rule: how many verdicts change without it, and how many more are right with it."""
    everything = judging.RULES
    before = [judged(row)[1] for row in rows]
    for rule in everything:
        judging.RULES = tuple(other for other in everything if other is not rule)
        after = [judged(row)[1] for row in rows]
        changed = [(row["label"], was, now) for row, was, now in zip(rows, before, after, strict=True) if was != now]
        wins = sum((was == label) - (now == label) for label, was, now in changed)
        print(f"  without {rule.__name__:18} {len(changed):4} change, {wins:+d} right with it")
    judging.RULES = everything


# -- conversations ----------------------------------------------------------------------------------------------------


def told_in(conversation: Path) -> Iterator[tuple[str, str, str]]:
    """(citation, id, line) of everything that ingest keeps of a conversation, each speaker once as the owner."""
    pages = sorted(conversation.glob("memory/*.md"))
    lines = (line for page in pages for line in page.read_text("utf-8").splitlines())
    speakers = {match["who"] for line in lines if (match := _TURN.match(line))}
    owners = sorted(speakers - {"user", "assistant"}) or ["user"]
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "ws"
        init_workspace(root)
        for page in pages:
            day = date.fromisoformat(page.stem)
            moment = datetime(day.year, day.month, day.day, 23)
            for owner in owners:
                transcript = Path(folder) / owner / page.name
                transcript.parent.mkdir(exist_ok=True)
                transcript.write_text(_as_user(page.read_text("utf-8"), owner), "utf-8")
                with memctl.open(root, now=moment) as memory:
                    done = memory.ingest(transcript, apply=True, form="markdown", day=str(day), llm=False)
                for each, kept in zip(done.candidates, done.kept, strict=True):
                    if each.role == "user" or owner == "user":
                        place = f"{'/'.join(conversation.parts[-2:])}/memory/{page.name}#L{each.line}"
                        yield place, kept.ref, each.shown


def _as_user(text: str, owner: str) -> str:
    """A log as a transcript in which the owner speaks by name to an assistant; every line keeps its number."""
    made, name = [], _USER if owner == "user" else owner
    for line in text.splitlines():
        match = _TURN.match(line)
        made.append(f"**{name if match['who'] == owner else 'Assistant'}:** {match['text']}" if match else line)
    return "\n".join(made) + "\n"


def labelled(lines: Path, labels: Iterable[dict[str, str]]) -> list[dict[str, Any]]:
    """The labelled pairs of which both lines are among those that were told."""
    told = {(row["at"], row["id"]): row["line"] for row in rows_of(lines)}
    found = []
    for each in labels:
        belief, fact = (told.get(tuple(each[side].split(" "))) for side in ("belief", "fact"))  # type: ignore[arg-type]
        if belief and fact:
            found.append({"belief": belief, "fact": fact, "label": each["label"]})
    return found


def main() -> None:
    """Read the files, judge every pair, print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--tell", type=Path, help="print what ingest makes of the conversations of this folder")
    parser.add_argument("--lines", type=Path, help="the lines that the labels cite")
    parser.add_argument("--misses", action="store_true", help="list the pairs judged otherwise, with the reason")
    parser.add_argument("--ablate", action="store_true", help="switch each rule off, count what changes")
    options = parser.parse_args()
    if options.tell:
        for name in options.files:
            for place, ref, line in told_in(options.tell / name):
                print(json.dumps({"at": place, "id": ref, "line": line}, ensure_ascii=False), flush=True)
        return
    everything = []
    sets = ("conversations-dev", "conversations-held") if options.lines else SETS
    for path in options.files or [_DATA / f"{name}.jsonl" for name in sets]:
        rows = rows_of(path)
        if options.lines:
            found = labelled(options.lines, rows)
            print(f"{path.name}: {len(found)} of {len(rows)} labelled pairs are told")
            rows = found
        report(path.stem, rows, options.misses)
        everything += rows
    if options.ablate:
        ablate(everything)


if __name__ == "__main__":
    main()
