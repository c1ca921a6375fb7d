"""What `ingest` finds in labelled conversations, written and asked: `python bench/ingest.py FILE... [--misses]`, and in day logs
by another hand: `python bench/ingest.py --logs FOLDER --labels FILE` with the chats in FOLDER/locomo and FOLDER/beam.

A candidate of a labelled transcript matches a gold item if it comes from the item's turn (or one of its `turns`) and its text
(or task) holds all strings of `must`, casefolded; `a|b` in one of them means either. A second candidate for the same item is
wrong: repetition is junk. Precision is over written candidates, recall over gold items, written or asked.

Labels of day logs are citations: `chat`, `cite` (path#Lline), a hash of the text, and whether it is worth keeping and true and
readable alone (`good`); with `said` in place of `text` the hash is that of a sentence that is worth it (`good`) or not.
`--sample N` prints candidates and sentences that have no label yet, `--part held` those of the held chats.
`--misses` refuses files named held*: a rule written because of a held-out line makes the figure worthless.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from sets import rows_of, wilson

from memctl.ingest.extract import CandidateFact, candidates
from memctl.ingest.own_words import own_sentences
from memctl.ingest.turns import Turn

KINDS = {"world": "W", "experience": "B", "opinion": "O"}
DEV = {"locomo/conv-26", "locomo/conv-42", "beam/100K-1", "beam/100K-4", "beam/100K-6"}
LINE = re.compile(r"- (?:(\d\d:\d\d) )?\*\*(.+?)\*\*: (.*)")
IMAGE = re.compile(r"\s*\[image:[^\]]*\]")


# -- transcripts with gold items --------------------------------------------------------------------------------------


def turns_of(dialogue: dict[str, Any]) -> Iterator[Turn]:
    """The turns of a labelled transcript, one line of a file each."""
    for number, turn in enumerate(dialogue["turns"]):
        when = datetime.fromisoformat(turn["when"]) if turn.get("when") else None
        yield Turn(turn["role"], turn["text"], number + 1, number + 1, when, turn.get("name"), number)


def matches(found: CandidateFact, gold: dict[str, Any]) -> bool:
    """True when a candidate says what the item asks for, in a turn where it may."""
    text = f"{found.fact.text} {found.fact.task or ''}".casefold()
    return found.turn in (gold["turn"], *gold.get("turns", ())) and all(
        any(part.casefold() in text for part in must.split("|")) for must in gold["must"]
    )


class Tally:
    """Counts of one language: written and right candidates, gold items, and those that were written or asked about."""

    def __init__(self) -> None:
        self.found, self.right, self.asked = Counter[str](), Counter[str](), Counter[str]()
        self.gold, self.matched = Counter[str](), Counter[str]()
        self.never = 0
        self.misses: list[str] = []

    def add(self, dialogue: dict[str, Any]) -> None:
        """Score one transcript."""
        name, found, gold = dialogue["id"], list(candidates(turns_of(dialogue))), dialogue["gold"]
        taken: set[int] = set()
        for one in found:
            fresh = [at for at, item in enumerate(gold) if matches(one, item) and at not in taken]
            written = one.judgement.is_certain
            (self.found if written else self.asked)[one.rule] += 1
            self.right[one.rule] += bool(fresh) and written
            never = one.turn in dialogue.get("never", ())
            self.never += never and written
            if not fresh:
                mark = "+" if written else "?"
                self.misses.append(f"  {mark} {name}:{one.turn} {one.rule}{' NEVER' if never else ''} {one.text}")
            taken.update(fresh)
        for at, item in enumerate(gold):
            self.gold[item["rule"]] += 1
            self.matched[item["rule"]] += at in taken
            if at not in taken:
                said = dialogue["turns"][item["turn"]]["text"]
                self.misses.append(f"  - {name}:{item['turn']} {item['rule']} {item['must']} in {said[:140]!r}")


def share(part: int, whole: int) -> str:
    """`.93 (28/30)` with a 95 % interval (Wilson)."""
    if not whole:
        return "  – (0/0)"
    low, high = wilson(part, whole)
    return f"{part / whole:.2f} ({part}/{whole}; {low:.2f}–{high:.2f})"


def report(name: str, tallies: dict[str, Tally]) -> Iterator[str]:
    """The lines of the table: by language, then by rule over all languages."""
    yield f"{name}\n{'':>12} {'precision, written':>28} {'recall, written or asked':>28}  asked  never"
    for language, tally in [*tallies.items(), ("all", merged(tallies.values()))]:
        row = (share(tally.right.total(), tally.found.total()), share(tally.matched.total(), tally.gold.total()))
        yield f"{language:>12} {row[0]:>28} {row[1]:>28} {tally.asked.total():>6} {tally.never:>6}"
    whole = merged(tallies.values())
    for rule in sorted(whole.found | whole.asked):
        yield f"{rule:>12} {share(whole.right[rule], whole.found[rule]):>28} {'':>28} {whole.asked[rule]:>6}"


def merged(tallies: Iterable[Tally]) -> Tally:
    """The sum of several."""
    whole = Tally()
    for tally in tallies:
        for what in ("found", "right", "asked", "gold", "matched"):
            getattr(whole, what).update(getattr(tally, what))
        whole.never += tally.never
    return whole


# -- day logs by another hand -----------------------------------------------------------------------------------------


class LogLine(NamedTuple):
    """One turn of a day log."""

    cite: str
    turn: Turn


def chat_of(logs: Path, name: str) -> list[LogLine]:
    """The turns of a chat: people by their names, or a user and an assistant."""
    lines: list[LogLine] = []
    for page in sorted((logs / name / "memory").glob("*.md")):
        for number, line in enumerate(page.read_text("utf-8").split("\n"), 1):
            if match := LINE.match(line):
                clock, who, text = match.groups()
                person = who not in ("user", "assistant")
                when = datetime.fromisoformat(f"{page.stem}T{clock or '12:00'}")
                said = IMAGE.sub("", text)
                turn = Turn("user" if person else who, said, number, number, when, who if person else None, len(lines))
                lines.append(LogLine(f"memory/{page.name}#L{number}", turn))
    return lines


def short_hash(text: str) -> str:
    """Eight characters by which a text is known again without being stored."""
    return sha256(text.encode()).hexdigest()[:8]


def chats(logs: Path, part: str) -> list[str]:
    """The names of the chats of one part."""
    every = [
        f"{kind}/{each.name}"
        for kind in ("locomo", "beam")
        for each in sorted((logs / kind).iterdir())
        if each.is_dir()
    ]
    return [name for name in every if (name in DEV) == (part == "dev")]


def sample(logs: Path, part: str, count: int, labels: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Rows to label: candidates, at most `count` a rule and kind of chat, and half as many sentences of persons."""
    known = {(row["chat"], row["cite"], row.get("text") or row.get("said")) for row in labels}
    pools: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for name in chats(logs, part):
        lines = chat_of(logs, name)
        for one in candidates(line.turn for line in lines):
            row = {
                "chat": name,
                "cite": lines[one.turn].cite,
                "text": short_hash(one.fact.text),
                "rule": one.judgement.rule or one.rule,
            }
            pools.setdefault((name.split("/")[0], row["rule"]), []).append(row | {"line": one.text, "quote": one.quote})
        for line in lines:
            for sentence in own_sentences(line.turn.text) if line.turn.role == "user" else ():
                row = {"chat": name, "cite": line.cite, "said": short_hash(sentence.said)}
                pools.setdefault((name.split("/")[0], "said"), []).append(row | {"quote": sentence.said})
    for (_, rule), rows in sorted(pools.items()):
        fresh = [row for row in rows if (row["chat"], row["cite"], row.get("text") or row.get("said")) not in known]
        random.Random(7).shuffle(fresh)
        yield from fresh[: count * 4 if rule == "said" else count]


def measure(logs: Path, part: str, labels: list[dict[str, Any]]) -> Iterator[str]:
    """Precision of what is written and of each rule, recall of sentences that are worth it; people and assistants apart."""
    good = {(row["chat"], row["cite"], row["text"]): row["good"] for row in labels if "text" in row}
    worth = {(row["chat"], row["cite"], row["said"]) for row in labels if "said" in row and row["good"]}
    rules: dict[str, list[bool]] = {}
    for kind in ("locomo", "beam"):
        written: list[bool] = []
        asked: list[bool] = []
        count, covered, wanted = Counter[str](), 0, 0
        for name in (each for each in chats(logs, part) if each.startswith(kind)):
            lines, quotes = chat_of(logs, name), set()
            for one in candidates(line.turn for line in lines):
                cite, tier = lines[one.turn].cite, one.judgement.is_certain
                count["written" if tier else "asked"] += 1
                quotes.add((name, cite, short_hash(one.quote)))
                label = good.get((name, cite, short_hash(one.fact.text)))
                if label is not None:
                    (written if tier else asked).append(label)
                    rules.setdefault(one.judgement.rule or one.rule, []).append(label)
            own = {key for key in worth if key[0] == name}
            wanted, covered = wanted + len(own), covered + len(own & quotes)
        who = "two people" if kind == "locomo" else "user and assistant"
        yield f"{part}, {who}: {count['written']} written, {count['asked']} asked"
        yield f"  written, right {share(sum(written), len(written))}; asked, worth it {share(sum(asked), len(asked))}; worthy sentences written or asked {share(covered, wanted)}"
    for rule, found in sorted(rules.items()):
        yield f"{rule:>24} {share(sum(found), len(found))}"


def main() -> None:
    """Read the files, print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--misses", action="store_true", help="show wrong (+), asked (?) and missed items (-)")
    parser.add_argument("--logs", type=Path, help="a folder with locomo/ and beam/")
    parser.add_argument("--labels", type=Path, default=Path("tests/data/ingest/labels.jsonl"))
    parser.add_argument("--part", choices=("dev", "held"), default="dev")
    parser.add_argument("--sample", type=int, metavar="N")
    given = parser.parse_args()
    if given.misses and any(path.name.startswith("held") for path in given.files):
        parser.error("held-out transcripts are scored, never shown: drop --misses")
    for path in given.files:
        tallies: dict[str, Tally] = {}
        for dialogue in rows_of(path):
            tallies.setdefault(dialogue["lang"], Tally()).add(dialogue)
        print("\n".join(report(str(path), tallies)))
        if given.misses:
            print("\n".join(line for tally in tallies.values() for line in tally.misses))
    if given.logs:
        rows = rows_of(given.labels) if given.labels.exists() else []
        if given.sample:
            for row in sample(given.logs, given.part, given.sample, rows):
                print(json.dumps(row, ensure_ascii=False))
        else:
            print("\n".join(measure(given.logs, given.part, rows)))


if __name__ == "__main__":
    main()
