"""A week of an agent with a window of 32K tokens, with memctl and without: `python bench/week.py` prints everything.

A scripted model behind a real HTTP endpoint (week_model.py) answers 200 messages over seven simulated days
(week_chat.py). With memctl, `memctl.Window` makes each prompt, and every evening the day's transcript goes through
`memctl ingest --apply` and `memctl reflect --since 7d`, as cron would do it; beside it the same week with plain truncation:
the system message and as many of the newest messages as fit. The week is lived three times: with memctl, with memctl and `.memory/`
deleted on day 4 (every prompt must be the same), and without.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from pathlib import Path
from typing import NamedTuple

from week_chat import FIRST_DAY, QUESTIONS, UNKNOWN, Question, week
from week_life import SHORT, Lived, Scale, Turn, counters, digest, line_of, live
from week_model import Message


class RetainedFact(NamedTuple):
    """A line that was written into a log, and what of the script it tells; None: junk."""

    line: str
    tells: tuple[str, ...] | None


def main() -> int:
    """Live the weeks, print the figures; 1 if a promise does not hold."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--short", action="store_true", help="less work between what is told, a window of 8K")
    parser.add_argument("--window", type=int, help="of so many tokens: 4096, 8192, 32768; below 32768 with less work")
    parser.add_argument("--inject", choices=("user", "system"), default="user", help="where recalled lines stand")
    parser.add_argument("--keep", type=Path, help="leave the workspace here, to look at")
    parser.add_argument("--vectors", action="store_true", help="by meaning, too, with the model that is installed")
    given = parser.parse_args()
    if not given.vectors:
        os.environ["MEMCTL_VECTORS"] = "none"
    with tempfile.TemporaryDirectory(prefix="memctl-week-") as made:
        folder = given.keep or Path(made)
        counts = counters()
        scale = SHORT if given.short else Scale()
        if given.window:
            scale = Scale(given.window < Scale().window, given.window, max(512, given.window // 16))
        scale = scale._replace(inject=given.inject)
        remembered = live(folder / "with", scale, counts)
        forgot = live(folder / "deleted", scale, counts, delete_on=4)
        plain = live(None, scale, counts)
        return 0 if report(remembered, forgot, plain, counts) else 1


def is_right(asked: Question, reply: str) -> bool:
    """True for an answer in the words in which it was told."""
    low = reply.casefold()
    return all(word in low for word in asked.words) and not (asked.wrong and asked.wrong in low)


def is_proven(folder: Path, asked: Question, reply: str) -> bool:
    """True if the reply cites a line of the log of the day on which it was told, whose `src=` leads to those words."""
    if asked.words == (UNKNOWN,):
        return True
    day = FIRST_DAY.date() + timedelta(days=asked.day - 1)
    cited = re.search(rf"\[(memory/{day}[\w-]*\.md)#L(\d+)", reply)
    if not cited:
        return False
    line = line_of(folder, cited[1], int(cited[2]))
    said = str(source_of(folder, line)[1]["content"]).casefold()
    return all(word in said and word in line.casefold() for word in asked.words)


def kept_lines(lived: Lived) -> Iterator[RetainedFact]:
    """Every fact line of the logs, with what of the script it tells. What was told already, or not so, is junk, too."""
    folder = lived.workspace
    assert folder
    told = {said.when.isoformat(): said for said in week(lived.scale.short)}
    seen: set[tuple[str, ...]] = set()
    for page in sorted(folder.glob("memory/*.md")):
        for line in page.read_text(encoding="utf-8").splitlines():
            if not re.match(r"- [WBOS]\b", line):
                continue
            said, tells = source_of(folder, line)[1], None
            if (script := told.get(said["timestamp"])) and is_said(line, said["content"]):
                tells = next((words for words in script.keep if all(w in line.casefold() for w in words)), None)
            yield RetainedFact(f"{page.name}: {line}", None if tells in seen else tells)
            if tells:
                seen.add(tells)


def is_said(line: str, content: str) -> bool:
    """True if half of the words of a kept line stand in the message that it cites."""
    words = re.findall(r"[\u4e00-\u9fff]|\w+", re.sub(r"^- \w(\(.*?\))?[^:]*: ", "", line).casefold())
    return sum(word in content.casefold() for word in words) >= len(words) / 2


def source_of(folder: Path, line: str) -> tuple[str, Message]:
    """Where a kept line says that it was said, and the message that stands there."""
    source = re.search(r"src=\"?\w+:([^,\")]+)#L(\d+)", line)
    if not source:
        return "", {"content": "", "timestamp": ""}
    message: Message = json.loads(line_of(folder, source[1], int(source[2])))
    return source[0], message


# --- Printing ---------------------------------------------------------------------------------------------------------


def report(remembered: Lived, forgot: Lived, plain: Lived, counts: Mapping[str, object]) -> bool:
    """Print the figures; True if what must hold holds."""
    scale, calls = remembered.scale, sum(not turn.reply for turn in remembered.turns)
    print(
        f"{2 * (len(remembered.turns) - calls)} messages and {calls} tool calls in 7 days, {remembered.told:,} tokens; "
        f"window {scale.window:,}, prompt budget {scale.budget:,}; counters: {', '.join(counts)}\n"
    )
    bare = dict(asked_on_day_7(plain))
    for name, turn in asked_on_day_7(remembered):
        print(QUESTIONS[name].text)
        print(f"  with     {mark(name, turn.reply)} {turn.reply}")
        print(f"  without  {mark(name, bare[name].reply)} {bare[name].reply}")
    print(f"\n{'':<42}{'with memctl':>14}{'without':>14}")
    for title, shown in ROWS:
        print(f"{title:<42}{shown(remembered):>14}{shown(plain):>14}")
    wrong = [f"{name}: {reply}" for name, reply in remembered.later.items() if not is_right(QUESTIONS[name], reply)]
    print("wrong in a new chat:" + "".join(f"\n  {one}" for one in wrong or ["nothing"]))
    for lived, name in ((remembered, "with memctl"), (plain, "without")):
        why = Counter(turn.broke for turn in lived.turns[1:] if turn.broke)
        print(f"prefix broke, {name}: {', '.join(f'{n} x {reason}' for reason, n in why.items()) or 'never'}")
    print_kept(remembered)
    told = promises(remembered, forgot)
    print("\n" + "\n".join(f"{'holds ' if holds else 'BROKEN'}  {promise}" for promise, holds in told.items()))
    return all(told.values())


def print_kept(lived: Lived) -> None:
    """How many lines were written into the logs, and which of them should not."""
    kept = list(kept_lines(lived))
    junk = [one for one in kept if one.tells is None]
    worth = sum(len(said.keep) for said in week())
    print(f"facts kept: {len(kept)}; of {worth} worth keeping {len(kept) - len(junk)}; junk {len(junk)}")
    for one in junk:
        print(f"  junk  {one.line}")


def promises(lived: Lived, forgot: Lived) -> dict[str, bool]:
    """What must hold of a week with memctl, and of one in which `.memory/` was deleted."""
    folder, first = lived.workspace, ("name", "project", "why")
    assert folder
    asked = {**dict.fromkeys(first, ""), **{n: t.reply for n, t in asked_on_day_7(lived) if n in first}}
    both = [*asked.items(), *((name, lived.later[name]) for name in first)]
    return {
        "name, project and why, on day 7 and in a new chat, in the words of day 1": all(
            is_right(QUESTIONS[n], r) for n, r in both
        ),
        "each of these with a citation that leads to those words": all(
            is_proven(folder, QUESTIONS[n], r) for n, r in both
        ),
        "no prompt above the budget, by any counter": max(max(t.tokens, t.real) for t in lived.turns)
        <= lived.scale.budget,
        "`memctl context --messages` makes the prompts of memctl.Window": lived.alike,
        "every prompt and answer the same with .memory/ deleted on day 4": [digest(t.prompt) for t in lived.turns]
        == [digest(t.prompt) for t in forgot.turns]
        and lived.later == forgot.later,
    }


def mark(name: str, reply: str) -> str:
    return "✓" if is_right(QUESTIONS[name], reply) else "✗"


def filled(lived: Lived) -> float:
    """Tokens of a prompt that is shorter than what was said."""
    found = [turn.tokens for turn in lived.turns if len(turn.prompt) < turn.said_before]
    return statistics.mean(found) if found else 0.0


def asked_on_day_7(lived: Lived) -> list[tuple[str, Turn]]:
    last = FIRST_DAY.date() + timedelta(days=6)
    return [(turn.said.ask, turn) for turn in lived.turns if turn.said.ask and turn.said.when.date() == last]


def _right(lived: Lived) -> str:
    asked = asked_on_day_7(lived)
    return f"{sum(is_right(QUESTIONS[n], t.reply) for n, t in asked)}/{len(asked)}"


def _right_later(lived: Lived) -> str:
    return f"{sum(is_right(QUESTIONS[n], r) for n, r in lived.later.items())}/{len(lived.later)}"


def _proven(lived: Lived) -> str:
    if not lived.workspace:
        return "-"
    folder = lived.workspace
    return f"{sum(is_right(QUESTIONS[n], r) and is_proven(folder, QUESTIONS[n], r) for n, r in lived.later.items())}/{len(lived.later)}"


ROWS: tuple[tuple[str, Callable[[Lived], str]], ...] = (
    ("questions of day 7 right", _right),
    ("the same in a new chat the next morning", _right_later),
    ("  of these with a citation that proves it", _proven),
    ("prompt tokens, max (estimate)", lambda w: f"{max(t.tokens for t in w.turns):,}"),
    ("prompt tokens, mean where messages are left out", lambda w: f"{filled(w):,.0f}"),
    ("prompt tokens, max (real tokenizers)", lambda w: f"{max(t.real for t in w.turns):,}"),
    ("prompt bytes as the turn before, mean", lambda w: f"{statistics.mean(t.shared for t in w.turns[1:]):.1%}"),
    ("prompt bytes as the turn before, median", lambda w: f"{statistics.median(t.shared for t in w.turns[1:]):.1%}"),
    ("turns whose prefix broke", lambda w: f"{sum(t.broke is not None for t in w.turns[1:])}/{len(w.turns) - 1}"),
    ("time per prompt, median ms", lambda w: f"{statistics.median(t.seconds for t in w.turns) * 1000:.1f}"),
    ("time per prompt, max ms", lambda w: f"{max(t.seconds for t in w.turns) * 1000:.1f}"),
    ("an evening (ingest, reflect), median s", lambda w: f"{statistics.median(w.evenings):.2f}" if w.evenings else "-"),
)


if __name__ == "__main__":
    sys.exit(main())
