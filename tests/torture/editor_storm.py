"""R5: an editor saves a page, by rename and in place, many times a second, while retains or rewrites of it go on."""

from __future__ import annotations

import multiprocessing
import os
import random
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any, NamedTuple

from face_helpers import memory_on
from store_helpers import DAY, LOG, make_workspace, strays

from memctl.errors import PageChanged
from memctl.index.sync import build_index as index, verify
from memctl.markdown.blocks import splice
from memctl.markdown.markers import is_marker
from memctl.notes.edits import replace
from memctl.notes.workspace import Workspace
from memctl.reflect.reflect import reflect
from memctl.retain.retain import read_fact, retain

THINKS = 0.003  # seconds between loading a page and saving it
RESTS = 0.03
FEW = 3  # saves of the person at the least
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


def edit(
    root: Path,
    stop: Event,
    seed: int,
    out: multiprocessing.Queue,  # type: ignore[type-arg]
    saved: Any,  # a shared count
    pages: str = "memory/2*.md",
) -> None:
    """A person who loads the last of these pages, adds a line above the managed blocks and saves, until told to stop."""
    dice, lines, spans = random.Random(seed), [], []
    while not stop.is_set():
        start = time.monotonic_ns()
        page = max(root.glob(pages))
        loaded = page.read_bytes()
        mine = f"A person wrote line {len(lines)} by hand"
        rows = loaded.decode().split("\n")
        end = next((at for at, row in enumerate(rows) if is_marker(row)), len(rows) - 1)
        at = dice.randrange(end) if end > 0 else 0
        rows.insert(at, mine)
        time.sleep(THINKS)
        (save_by_rename if dice.random() < 0.5 else save_in_place)(page, "\n".join(rows).encode())
        spans.append(Span(start, time.monotonic_ns()))
        lines.append(mine)
        saved.value = len(lines)
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
        stop, out, saved = context.Event(), context.Queue(), context.Value("i", 0)
        editor = context.Process(target=edit, args=(workspace.root, stop, seed, out, saved))
        editor.start()
        written: dict[str, Span] = {}
        while len(written) < retains or saved.value < FEW:
            with suppress(PageChanged):  # it gave way, and said so: told again, as a person would
                written |= [_timed_retain(workspace, len(written))]
        stop.set()
        lines, saves = out.get(timeout=60)
        editor.join(60)
        return _look(workspace, lines, saves, written)


def _timed_retain(workspace: Workspace, number: int) -> tuple[str, Span]:
    text = f"Fact number {number} of the storm"
    start = time.monotonic_ns()
    retain(memory_on(workspace), [read_fact(text)], DAY + timedelta(days=number // A_DAY))
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


# -- whole pages ------------------------------------------------------------------------------------------------------


class Rewrites(NamedTuple):
    """What became of the rewrites: how many were done, how many gave way, and the lines of the person that are gone."""

    human: int
    done: int
    gave_way: int
    human_lost: list[str]
    left: list[str]


ATLAS = "bank/entities/Atlas.md"


def rewriting(saves: int, seed: int = 5) -> Rewrites:
    """Write a managed block anew as fast as it goes, while a person saves the same page so often; then look for their lines."""
    return _beside_an_editor(_rewrite, saves, seed)


def reflecting(saves: int, seed: int = 5) -> Rewrites:
    """Retain and reflect by turns, while a person edits the page that reflect writes."""
    return _beside_an_editor(_reflect, saves, seed)


def _beside_an_editor(job: Callable[[Workspace, int], tuple[bool, bool]], saves: int, seed: int) -> Rewrites:
    with tempfile.TemporaryDirectory() as folder:
        workspace = make_workspace(Path(folder).resolve(), {ATLAS: "# Atlas\n\nMine.\n"})
        context = multiprocessing.get_context("spawn")
        stop, out, saved = context.Event(), context.Queue(), context.Value("i", 0)
        editor = context.Process(target=edit, args=(workspace.root, stop, seed, out, saved, ATLAS))
        editor.start()
        done = gave_way = 0
        try:
            while saved.value < saves:
                is_done, has_given_way = job(workspace, done + gave_way)
                done, gave_way = done + is_done, gave_way + has_given_way
        finally:
            stop.set()
        lines, _ = out.get(timeout=60)
        editor.join(60)
        there = (workspace.root / ATLAS).read_text(encoding="utf-8").split("\n")
        left = strays(workspace) + [path.name for path in workspace.root.rglob("recovered-*")]
        return Rewrites(len(lines), done, gave_way, [line for line in lines if line not in there], left)


def _rewrite(workspace: Workspace, number: int) -> tuple[bool, bool]:
    before = (workspace.root / ATLAS).read_bytes()
    after = splice(before.decode("utf-8", "surrogateescape"), "now", f"- Rewrite {number}")
    try:
        replace(workspace, ATLAS, before, after.encode("utf-8", "surrogateescape"))
    except PageChanged:
        return False, True
    return True, False


def _reflect(workspace: Workspace, number: int) -> tuple[bool, bool]:
    retain(memory_on(workspace), [read_fact(f"W @Atlas: Reflection number {number}")], DAY)
    report = reflect(memory_on(workspace, DAY))
    return ATLAS in report.pages, bool(report.notes)
