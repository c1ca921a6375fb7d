"""How much `memctl review` asks, and what answers are worth: `python bench/review.py load FOLDER… | owner`.

`load`: each workspace of chats below a folder (such as those of LoCoMo and BEAM, one turn a line) is lived through day by day:
its chats are ingested, and once a week reflected on and reviewed; nobody answers. Printed are the questions that are new in
each week that had a chat. `owner`: the six personas of tests/data/unseen with an owner who answers every question by the
labels of changes.jsonl; printed is what recall puts first before and after.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from statistics import median, quantiles

import unseen

import memctl
from memctl.memory import Memory, init_workspace

_TURN = re.compile(r"- (?:\d\d:\d\d )?\*\*(?P<who>[^*]+)\*\*: (?P<text>.*)")


def main() -> None:
    """What the command line asks for."""
    match sys.argv[1:]:
        case ["load", *folders] if folders:
            load([root for folder in folders for root in sorted(Path(folder).iterdir()) if (root / "memory").is_dir()])
        case ["owner"]:
            owner()
        case _:
            print(__doc__)


# -- load ---------------------------------------------------------------------------------------------------------------


def load(roots: list[Path]) -> None:
    """The new questions of every week that had a chat."""
    every: list[int] = []
    for root in roots:
        weeks = list(lived(root))
        counts = [sum(week.values()) for week in weeks]
        kinds = sum(weeks, Counter[str]())
        print(
            f"{root.name:12} {len(weeks)} weeks, {sum(counts)} questions, {spread(counts)}; {dict(kinds)}", flush=True
        )
        every += counts
    print(f"all: {len(every)} weeks, {spread(every)}")


def spread(counts: list[int]) -> str:
    """The median and the 90th percentile."""
    most = quantiles(counts, n=10, method="inclusive")[-1] if len(counts) > 1 else max(counts, default=0)
    return f"a week: median {median(counts or [0]):g}, 90th percentile {most:g}, most {max(counts, default=0)}"


def lived(root: Path) -> Iterator[Counter[str]]:
    """The new questions by kind, week by week, of a workspace whose chats are ingested as they happen."""
    logs = {datetime.fromisoformat(path.stem[:10]): path for path in sorted((root / "memory").glob("*.md"))}
    known: set[str] = set()
    with tempfile.TemporaryDirectory() as folder:
        workspace = Path(folder) / "ws"
        init_workspace(workspace)
        weeks = sorted({day - timedelta(days=day.weekday()) for day in logs})
        for monday in weeks:
            for day in (day for day in logs if monday <= day < monday + timedelta(days=7)):
                chat = Path(folder) / f"{day:%Y-%m-%d}.md"
                chat.write_text(as_chat(logs[day].read_text("utf-8")), "utf-8")
                on(workspace, day).ingest(chat, apply=True, day=f"{day:%Y-%m-%d}")
            memory = on(workspace, monday + timedelta(days=7))
            memory.reflect()
            found = [question for question in memory.review() if question.id not in known]
            known |= {question.id for question in found}
            yield Counter(question.kind for question in found)


def on(root: Path, day: datetime) -> Memory:
    """The memory of a folder on a day."""
    return memctl.open(root, now=day, resident=False)


def as_chat(text: str) -> str:
    """A log of turns as a chat in Markdown."""
    return "\n".join(f"**{turn['who']}:** {turn['text']}\n" for turn in map(_TURN.fullmatch, text.split("\n")) if turn)


# -- owner --------------------------------------------------------------------------------------------------------------


def owner() -> None:
    """What recall puts first before and after every question was answered by the labels."""
    before, after, given = Counter[str](), Counter[str](), Counter[str]()
    for name, mine in unseen.by("workspace", unseen.rows("changes.jsonl")):
        with unseen.folder(f"owner-{name}") as root:
            unseen.write_month(root, name)
            memory = on(root, datetime.fromisoformat(unseen.NOW))
            changed = [row for row in mine if row["change"]]
            before += first(memory, changed)
            gold = {(older, row["current"]) for row in changed for older in row["older"]}
            for question in memory.review():
                if key := truthful(question.kind, [str(side.source) for side in question.sides], gold):
                    memory.answer(question.id, key)
                    given[f"{question.kind} {key}"] += 1
            memory.reflect()
            after += first(memory, changed)
    print(f"answers: {dict(given)}")
    for told, one in (("before", before), ("after", after)):
        print(
            f"{told:7} current first {one['first']} of {one['all']}, the older one above it {one['above']}, marked {one['marked']}"
        )


def truthful(kind: str, sides: list[str], gold: set[tuple[str, str]]) -> str | None:
    """What the labels say: a pair that is a change is one, all others hold side by side; nothing is known of the rest."""
    if kind in ("replaced", "reversed"):
        return "y" if tuple(sides) in gold else "o" if tuple(sides[::-1]) in gold else "b"
    return "n" if kind == "belief" else None


def first(memory: Memory, changed: list[unseen.Row]) -> Counter[str]:
    """How often the current line stands first, an older one above it, and the older ones are marked."""
    count: Counter[str] = Counter()
    for row in changed:
        hits = memory.recall(row["question"], k=20).hits
        at = {s: n for s in (*row["older"], row["current"]) for n, hit in enumerate(hits) if unseen.shows(hit, s)}
        place = at.get(row["current"], len(hits))
        older = [at[source] for source in row["older"] if source in at]
        marked = bool(older) and all(unseen.marked(hits[n]) for n in older)
        count.update(all=1, first=place == 0, above=any(n < place for n in older), marked=marked)
    return count


if __name__ == "__main__":
    main()
