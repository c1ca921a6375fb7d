"""What bank/ looks like after three months of somebody's conversations: `python bench/bank.py ../shared/bench/locomo/conv-26`.

The conversation is ingested session by session and reflected upon once a week, as an owner's cron job does. Printed are
the bytes of bank/ over those of the logs, and how many lines the diff of a week has in which nothing was told. With `--out` the
workspace stays there, to be read and labelled line by line.
"""

from __future__ import annotations

import argparse
import difflib
import hashlib
import io
import json
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import date, datetime, time, timedelta
from pathlib import Path

import memctl

LABELS = Path(__file__).parents[1] / "tests/data/bank/labels.tsv"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "conversations", nargs="+", type=Path, help="folders with memory/YYYY-MM-DD.md, one turn a line"
    )
    parser.add_argument("--days", type=int, default=92)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    print(f"{'conversation':<14}{'facts':>7}{'logs':>9}{'bank':>9}{'share':>7}{'lines':>7}{'quiet':>7}")
    for folder in given.conversations:
        root = (given.out / folder.name) if given.out else Path(tempfile.mkdtemp(prefix="memctl-bank-"))
        shutil.rmtree(root, ignore_errors=True)
        diffs = lived(folder, root, given.days)
        logs, pages = size(root / "memory"), size(root / "bank")
        facts = sum(line.startswith("- ") for page in (root / "memory").glob("*.md") for line in page.open())
        lines = len(list(sentences(root)))
        print(
            f"{folder.name:<14}{facts:>7}{logs:>9}{pages:>9}{pages / max(logs, 1):>7.2f}{lines:>7}{diffs[-1]:>7}",
            flush=True,
        )
        if not given.out:
            shutil.rmtree(root)


def lived(folder: Path, root: Path, days: int) -> list[int]:
    """Ingest the sessions of the first so many days, with a reflect after each week and after a quiet one; the diffs' lines."""
    (root / "memory").mkdir(parents=True)
    sessions = sorted((folder / "memory").glob("*.md"))
    first = date.fromisoformat(sessions[0].stem[:10])
    due, diffs, day = first + timedelta(days=7), [], first
    for session in sessions:
        day = date.fromisoformat(session.stem[:10])
        if (day - first).days > days:
            break
        while due <= day:
            diffs.append(reflected(root, due))
            due += timedelta(days=7)
        at(root, day).ingest(io.BytesIO(transcript(session)), apply=True, day=str(day), form="openai")
    return [*diffs, reflected(root, due), reflected(root, due + timedelta(days=7))]


def transcript(session: Path) -> bytes:
    """The turns of a day as a chat in OpenAI's form; of two people both are users with a name."""
    turns = re.findall(r"(?m)^- (?:\d\d:\d\d )?\*\*(.+?)\*\*: (.*)$", session.read_text("utf-8"))
    said = [
        {"role": who, "content": text}
        if who in ("user", "assistant")
        else {"role": "user", "name": who, "content": text}
        for who, text in turns
    ]
    return json.dumps(said).encode()


def at(root: Path, day: date) -> memctl.Memory:
    """The workspace as it is opened on a day."""
    return memctl.open(root, now=datetime.combine(day, time(23)))


def reflected(root: Path, day: date) -> int:
    """How many lines the diff of a week's reflect has: those that came and those that went."""
    before = texts(root)
    at(root, day).reflect(since="7d")
    after = texts(root)
    return sum(
        line[0] in "+-" and line[:3] not in ("+++", "---")
        for path in {*before, *after}
        for line in difflib.unified_diff(before.get(path, []), after.get(path, []), n=0)
    )


def texts(root: Path) -> dict[str, list[str]]:
    """The lines of every page of bank/."""
    pages = [path for path in (root / "bank").rglob("*.md") if path.name != "review.md"]
    return {str(path): path.read_text("utf-8").splitlines() for path in pages}


def size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*.md") if path.name != "review.md")


def sentences(root: Path) -> Iterator[str]:
    """What bank/ says, line by line: list items of its pages, without the evidence below beliefs."""
    for path, lines in sorted(texts(root).items()):
        yield from (f"{Path(path).name}: {line}" for line in lines if line.startswith("- "))


def read_by_hand(roots: Iterable[Path]) -> Counter[str]:
    """How many sentences have which label of tests/data/bank/labels.tsv; `unread` without one."""
    labels = dict(line.split("\t") for line in LABELS.read_text("utf-8").splitlines() if not line.startswith("#"))
    return Counter(labels.get(name_of(sentence), "unread") for root in roots for sentence in sentences(root))


def name_of(sentence: str) -> str:
    """A hash of a sentence, without what its links and ids are: so that labels hold no word of a conversation."""
    return hashlib.blake2b(re.sub(r"\]\([^)]*\)|\^\S+", "", sentence).encode(), digest_size=8).hexdigest()


if __name__ == "__main__":
    main()
