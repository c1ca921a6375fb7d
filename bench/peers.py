"""memctl beside what else one could take: `python bench/peers.py [--data FOLDER…] [--peers memctl ripgrep …]`.

Everything is installed into a throw-away folder (`--folder` keeps it) by pip and npm, each tool apart, and asked the same
questions on copies of the same notes, as its README says it is used from a shell. Without `--data` the notes are made up (2,000
lines, 50 questions: they tell of speed, of quality little); a folder of data holds workspaces and a `questions.jsonl` as for bench/quality.py, or else the questions
of `--questions` are put to its workspaces. `--every N` takes each Nth question.

Printed is a Markdown table for each set. CPU is user and system time of a command and all it starts, `wall` says how long it
took on this machine, whatever else it did. A question is one process (of tools with a library three, the others are put to that). Of its answer, up to 20 results: `lines@10` is the share
of the gold lines that stand in the first ten, whatever the size of these; `lines in 2,000` that of those that stand in the first
2,000 characters of text, which is what an agent pays for; `pages@5` the share of the gold pages among the first five pages.
A line stands there if its first 80 letters do, or the whole of it. `notes changed` counts the notes that indexing wrote to.
What could not be run says why.
"""

from __future__ import annotations

import argparse
import platform
import re
import shutil
import statistics
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from generate import STOP_WORDS, make_workspace
from peers_tools import PEERS, CannotRun, Peer, Piece, Used
from sets import rows_of, tasks

TIL = Path(__file__).parents[1] / "tests" / "data" / "til" / "held.jsonl"
RESULTS, FIRST, PAGES, CHARACTERS = 20, 10, 5, 2_000
SEEN = 80  # letters by which a line is known
_MARKS = re.compile(r"^\s*(?:[-*+]|#+)?\s*(?:\d\d:\d\d\s+)?(?:\*\*[^*]+\*\*:|[WBOS](?:\([^)]*\))?(?: @[^\s:]+)*:)?\s*")
HEAD = (
    "", "version", "index CPU s (wall)", "index MB", "question CPU ms (wall)", "lines@10", "lines in 2,000", "pages@5",
    "notes changed",
)  # fmt: skip


class Asked(NamedTuple):
    """A set: its name, and the questions of each of its workspaces."""

    name: str
    questions: dict[Path, list[dict[str, Any]]]

    def asked(self) -> int:
        """How many questions there are."""
        return sum(map(len, self.questions.values()))


def main() -> None:
    """Install, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, nargs="+", default=[])
    parser.add_argument(
        "--questions",
        type=Path,
        default=TIL,
        help="for a folder of data without questions of its own",
    )
    parser.add_argument("--every", type=int, default=1, help="ask each Nth question only")
    parser.add_argument("--workspaces", type=int, help="of each set the first N only")
    parser.add_argument(
        "--versions",
        nargs="+",
        default=[],
        help="as pip writes them, where the newest cannot be had",
    )
    parser.add_argument("--peers", nargs="+", default=list(PEERS), choices=list(PEERS))
    parser.add_argument("--folder", type=Path, help="where to install; kept, and used again")
    given = parser.parse_args()
    base = _own_folder(given.folder)
    try:
        sets = list(_sets(given.data, given.questions, given.every, base / "made-up"))
        sets = [Asked(name, dict(list(asked.items())[: given.workspaces])) for name, asked in sets]
        said = {}
        for name in given.peers:
            peer = PEERS[name](base)
            peer.choose(given.versions)
            print(f"{name}: installing", file=sys.stderr, flush=True)
            said[name] = [_row(peer, asked, base / "run" / name) for asked in sets]
        words = " ".join(Path(word).name if "/" in word else word for word in sys.argv[1:] if word)
        print(f"{date.today()}, Python {platform.python_version()}, `python bench/peers.py {words}`")
        for name in given.peers:
            print(f"- {name}: {' '.join((PEERS[name].__doc__ or '').split())}")
        for number, asked in enumerate(sets):
            print(f"\n{asked.name}: {asked.asked()} questions, {len(asked.questions)} workspaces\n")
            print("| " + " | ".join(HEAD) + " |\n|" + "---|" * len(HEAD))
            for name, rows in said.items():
                print(f"| {name} | {rows[number]} |")
    finally:
        if not given.folder:
            shutil.rmtree(base, ignore_errors=True)


def _own_folder(asked: Path | None) -> Path:
    """A new folder, or the one that is given: what stands in it is replaced, so it must be empty or of an earlier run."""
    base = (asked or Path(tempfile.mkdtemp(prefix="memctl-peers-"))).resolve()
    mark = base / ".memctl-peers"
    if base.exists() and any(base.iterdir()) and not mark.exists():
        raise SystemExit(f"{base} is not empty, and not of an earlier run\n  give --folder a new one")
    base.mkdir(parents=True, exist_ok=True)
    mark.touch()
    return base


# -- what is asked ------------------------------------------------------------------------------------------------------


def _sets(data: Sequence[Path], questions: Path, every: int, made: Path) -> Iterator[Asked]:
    """The sets of the folders that are given, or a made-up one."""
    for folder in data:
        own = [task for task in tasks(folder) if task.name == folder.name]
        rows = own[0].questions if own else rows_of(questions)
        found: dict[Path, list[dict[str, Any]]] = {}
        for row in rows[::every]:
            found.setdefault(folder / row["workspace"], []).append(row)
        yield Asked(folder.name, found)
    if not data:
        shutil.rmtree(made, ignore_errors=True)
        make_workspace(made, 2_000)
        yield Asked("made up", {made: list(_known_lines(made, 50))[::every]})


def _known_lines(root: Path, count: int) -> Iterator[dict[str, Any]]:
    """Questions for lines drawn by chance: its names, the two words of the line that most lines hold, three stop words."""
    chance = Random(7)
    lines = [
        (f"{page.relative_to(root).as_posix()}#L{number}", line)
        for page in sorted((root / "memory").glob("*.md"))
        for number, line in enumerate(page.read_text("utf-8").splitlines(), 1)
        if line.startswith("- ") and line.isascii()
    ]
    common = Counter(word for _, line in lines for word in set(re.findall(r"[a-z]{3,}", line.lower())))
    for place, line in chance.sample(lines, count):
        head, _, text = line.partition(": ")
        found = sorted(set(re.findall(r"[a-z]{3,}", text.lower())) - set(STOP_WORDS))
        telling = sorted(found, key=lambda word: -common[word])[:2]
        asked = [*re.findall(r"@(\S+)", head), *telling, *chance.sample(STOP_WORDS, 3)]
        chance.shuffle(asked)
        yield {"question": " ".join(asked) + "?", "gold": [place]}


# -- what comes back ----------------------------------------------------------------------------------------------------


def _row(peer: Peer, asked: Asked, folder: Path) -> str:
    """The cells of a peer for a set."""
    try:
        peer.install()
        return " | ".join([peer.version, *_measured(peer, asked, folder)])
    except CannotRun as problem:
        print(f"{type(peer).__name__}: {problem}", file=sys.stderr, flush=True)
        return " | ".join(
            [
                peer.version or "–",
                f"could not be run: {problem}",
                *["–"] * (len(HEAD) - 3),
            ]
        )


def _measured(peer: Peer, asked: Asked, folder: Path) -> Iterator[str]:
    indexing, size, changed = Used(0, 0), 0, 0
    each: list[Used] = []
    scores: list[dict[str, float]] = []
    for number, (source, questions) in enumerate(asked.questions.items()):
        shutil.rmtree(folder, ignore_errors=True)
        notes = folder / "notes"
        shutil.copytree(source, notes)
        before = {page: page.read_bytes() for page in notes.rglob("*.md")}
        peer.home, peer.costed = folder / "home", not number
        peer.home.mkdir()
        print(
            f"{type(peer).__name__}: {asked.name} {number + 1}, {len(before)} notes",
            file=sys.stderr,
            flush=True,
        )
        with peer.running():
            indexing += peer.index(notes)
            size += peer.size(notes)
            changed += sum(not page.exists() or page.read_bytes() != text for page, text in before.items())
            for question, (pieces, used) in zip(questions, peer.answers(questions, notes, RESULTS), strict=True):
                each += [used] if used else []
                scores.append(_scored(question["gold"], pieces, source))
    shutil.rmtree(folder, ignore_errors=True)
    yield f"{indexing.cpu:.2f} ({indexing.wall:.1f})" if indexing.cpu else "none"
    yield f"{size / 1e6:.1f}" if size else "none"
    yield f"{1000 * statistics.median(one.cpu for one in each):.0f} ({1000 * statistics.median(one.wall for one in each):.0f})"
    for name in ("lines@10", "lines in 2,000", "pages@5"):
        known = [score[name] for score in scores if name in score]
        yield f"{100 * statistics.mean(known):.1f}" if known else "–"
    yield str(changed)


def _scored(gold: Sequence[str], pieces: Sequence[Piece], root: Path) -> dict[str, float]:
    """The three shares of one question; pages alone where the gold are pages."""
    pages = list(dict.fromkeys(piece.path for piece in pieces))[:PAGES]
    wanted = {place.partition("#")[0] for place in gold}
    scores = {"pages@5": len(wanted & set(pages)) / len(wanted)}
    lines = [_line_at(root, place) for place in gold if "#L" in place]
    if lines:
        first, budget, left = "", "", CHARACTERS
        for number, piece in enumerate(pieces):
            first += _letters(piece.text) + "\n" if number < FIRST else ""
            budget += _letters(piece.text[: max(left, 0)]) + "\n"
            left -= len(piece.text) + 1
        scores["lines@10"] = statistics.mean(line in first for line in lines)
        scores["lines in 2,000"] = statistics.mean(line in budget for line in lines)
    return scores


def _line_at(root: Path, place: str) -> str:
    """The letters by which a cited line is known, without the marks before it."""
    path, _, number = place.partition("#L")
    line = (root / path).read_text("utf-8").splitlines()[int(number) - 1]
    return _letters(_MARKS.sub("", line) or line)[:SEEN]


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text)).casefold()


if __name__ == "__main__":
    main()
