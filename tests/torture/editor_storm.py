"""R5, the append part: an editor saves the log, by rename and in place, 25 times a second, while retains go on."""

from __future__ import annotations

import multiprocessing
import os
import random
import tempfile
import time
from datetime import timedelta
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import NamedTuple

from store_helpers import DAY, LOG, make_workspace

from memctl.store.workspace import Workspace
from memctl.verbs.index import index, verify
from memctl.verbs.retain import read_fact, retain

THINKS = 0.003  # seconds between loading a page and saving it
RESTS = 0.03
A_DAY = 100  # retains, then a new log begins


class Span(NamedTuple):
    """From the moment a page was loaded (or a retain began) until it was saved (or acknowledged), in ns."""

    start: int
    end: int


class Storm(NamedTuple):
    """What became of the storm; over an `overwritten` fact an editor saved its older copy, which nobody can prevent."""

    human: int
    facts: int
    human_lost: list[str]
    facts_lost: list[str]
    overwritten: int
    differences: tuple[str, ...]


def edit(root: Path, stop: Event, seed: int, out: multiprocessing.Queue) -> None:  # type: ignore[type-arg]
    """A person who loads the log, adds a line somewhere and saves, until told to stop."""
    dice, lines, spans = random.Random(seed), [], []
    while not stop.is_set():
        start = time.monotonic_ns()
        page = max((root / "memory").glob("*.md"))
        loaded = page.read_bytes()
        mine = f"A person wrote line {len(lines)} by hand"
        rows = loaded.decode().split("\n")
        at = dice.randrange(len(rows) - 1) if len(rows) > 1 else 0
        rows.insert(at, mine)
        time.sleep(THINKS)
        (save_by_rename if dice.random() < 0.5 else save_in_place)(page, "\n".join(rows).encode())
        spans.append(Span(start, time.monotonic_ns()))
        lines.append(mine)
        time.sleep(RESTS)
    out.put((lines, spans))


def save_by_rename(page: Path, data: bytes) -> None:
    new = page.with_name(".log.swp")
    new.write_bytes(data)
    os.replace(new, page)


def save_in_place(page: Path, data: bytes) -> None:
    with open(page, "r+b") as stream:
        stream.truncate(0)
        stream.write(data)


def storm(retains: int, seed: int = 5) -> Storm:
    """Retain while a person edits, then look for every line of both."""
    with tempfile.TemporaryDirectory() as folder:
        workspace = make_workspace(Path(folder).resolve(), {LOG: f"# {DAY}\n\nA day.\n\n## Retain\n\n- W: First\n"})
        context = multiprocessing.get_context("spawn")
        stop, out = context.Event(), context.Queue()
        editor = context.Process(target=edit, args=(workspace.root, stop, seed, out))
        editor.start()
        written = dict(_timed_retain(workspace, number) for number in range(retains))
        stop.set()
        lines, saves = out.get(timeout=60)
        editor.join(60)
        return _look(workspace, lines, saves, written)


def _timed_retain(workspace: Workspace, number: int) -> tuple[str, Span]:
    text = f"Fact number {number} of the storm"
    start = time.monotonic_ns()
    retain(workspace, [read_fact(text)], DAY + timedelta(days=number // A_DAY))
    return text, Span(start, time.monotonic_ns())


def _look(workspace: Workspace, lines: list[str], saves: list[Span], written: dict[str, Span]) -> Storm:
    there = [
        line
        for page in (workspace.root / "memory").glob("*.md")
        for line in page.read_text(encoding="utf-8").split("\n")
    ]
    gone = [(text, span) for text, span in written.items() if f"- W: {text}" not in there]
    lost = [text for text, span in gone if not any(s.start <= span.end and span.start <= s.end for s in saves)]
    index(workspace)
    human_lost = [line for line in lines if line not in there]
    return Storm(len(lines), len(written), human_lost, lost, len(gone) - len(lost), verify(workspace).differences)


def main(short: bool = False) -> bool:
    done = storm(150 if short else 1500)
    print(
        f"R5 append: human saves {done.human} destroyed {len(done.human_lost)}; facts {done.facts} "
        f"lost {len(done.facts_lost)}; overwritten by an editor's older copy {done.overwritten}"
    )
    for line in (*done.human_lost, *done.facts_lost, *done.differences):
        print(f"   {line}")
    return not (done.human_lost or done.facts_lost or done.differences)
