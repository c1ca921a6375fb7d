"""R4, R11: many processes that write and read at once. None loses a line, none is told that the database is locked."""

from __future__ import annotations

import random
import re
import tempfile
from collections.abc import Callable
from pathlib import Path

from face_helpers import memory_on
from processes import forkserver
from store_helpers import DAY, LOG, make_workspace, strays

from memctl.errors import PageChanged
from memctl.index.sync import build_index as index, verify
from memctl.maintenance.status import status
from memctl.markdown.blocks import splice
from memctl.markdown.markers import body_of
from memctl.markdown.page import live_blocks
from memctl.notes.edits import replace
from memctl.notes.workspace import Workspace
from memctl.recall.query import read_query
from memctl.recall.recall import recall
from memctl.reflect.reflect import reflect
from memctl.retain.retain import read_fact, retain

PROCESSES = 8


def together(job: Callable[..., list[str]], root: Path, count: int) -> list[str]:
    """What eight processes that run `job(root, number, count)` return, as one list."""
    with forkserver().Pool(PROCESSES) as pool:
        parts = pool.starmap(job, [(root, number, count) for number in range(PROCESSES)], chunksize=1)
    return [line for part in parts for line in part]


def write_many(root: Path, number: int, count: int) -> list[str]:
    """Retain `count` facts; returns those that were acknowledged as new."""
    workspace = Workspace(root)
    kept = []
    for at in range(count):
        text = f"Worker {number} wrote line {at} of {count}"
        done = retain(memory_on(workspace), [read_fact(text)], DAY)
        if done.kept and not done.kept[0].already:
            kept.append(text)
    return kept


def lost_lines(processes_times: int) -> tuple[int, list[str]]:
    """(acknowledged facts, what is wrong) after 8 processes retained `processes_times` facts each."""
    with tempfile.TemporaryDirectory() as folder:
        workspace = make_workspace(Path(folder).resolve(), {})
        kept = together(write_many, workspace.root, processes_times)
        lines = (workspace.root / LOG).read_text(encoding="utf-8").split("\n")
        wrong = [f"lost {text}" for text in kept if lines.count(f"- W: {text}") != 1]
        whole = re.compile(rf"# {DAY}|## Retain||- W: Worker \d wrote line \d+ of {processes_times}")
        wrong += [f"torn {line!r}" for line in lines if not whole.fullmatch(line)]
        index(workspace)
        return len(kept), wrong + list(verify(workspace).differences)


def rewrite_many(root: Path, number: int, count: int) -> list[str]:
    """Odd workers retain; even ones write their own managed block of the same log anew. Returns the facts kept."""
    if number % 2:
        return write_many(root, number, count)
    for at in range(count):
        while True:
            before = (root / LOG).read_bytes()
            after = splice(before.decode(), f"worker/{number}", f"- Rewrite {at}").encode()
            try:
                replace(Workspace(root), LOG, before, after)
                break
            except PageChanged:
                continue
    return [f"worker/{number}"]


def lost_between_writers(count: int) -> tuple[int, list[str]]:
    """(writes, what is wrong) after four processes appended to a page and four replaced it, `count` times each."""
    with tempfile.TemporaryDirectory() as folder:
        workspace = make_workspace(Path(folder).resolve(), {LOG: f"# {DAY}\n\nMine.\n\n## Retain\n\n- W: First\n"})
        kept = together(rewrite_many, workspace.root, count)
        text = (workspace.root / LOG).read_text(encoding="utf-8")
        lines = text.split("\n")
        bodies = {block.name: body_of(lines, block) for block in live_blocks(lines)}
        wrong = [f"lost {text}" for text in kept if not text.startswith("worker/") and lines.count(f"- W: {text}") != 1]
        wrong += [f"block {name} says {body}" for name, body in bodies.items() if body != [f"- Rewrite {count - 1}"]]
        wrong += [f"{len(bodies)} blocks"] if len(bodies) != PROCESSES // 2 else []
        wrong += [line for line in ("Mine.", "- W: First") if lines.count(line) != 1]
        return PROCESSES * count, wrong + strays(workspace)


def do_many(root: Path, number: int, count: int) -> list[str]:
    """A mixed life: retains, recalls, syncs, statuses. Returns what failed; a stale answer that says so is none."""
    workspace, dice, failed = Workspace(root), random.Random(number), []
    for at in range(count):
        try:
            _do(
                workspace,
                dice.choice(("retain", "retain", "recall", "recall", "recall", "index", "status", "reflect")),
                f"{number}.{at}",
            )
        except Exception as error:  # any exception is a finding here
            failed.append(f"{type(error).__name__}: {error}")
    return failed


def _do(workspace: Workspace, what: str, name: str) -> None:
    if what == "retain":
        retain(memory_on(workspace), [read_fact(f"Note {name} about the Fjord room", about=["Atlas"])], DAY)
    elif what == "recall":
        answer = recall(memory_on(workspace, DAY), read_query("PostgreSQL", DAY))
        if not answer.hits and not answer.stale:
            raise AssertionError("an empty answer that does not say why")
    elif what == "index":
        index(workspace)
    elif what == "reflect":
        reflect(memory_on(workspace, DAY))
    else:
        memory_on(workspace).run(status)


def busy_calls(calls: int, fresh: bool = True) -> tuple[int, list[str]]:
    """(calls, failures) of 8 processes that read and write at once, from no index on or from a finished one."""
    with tempfile.TemporaryDirectory() as folder:
        workspace = make_workspace(Path(folder).resolve())
        if not fresh:
            index(workspace)
        failed = together(do_many, workspace.root, calls // PROCESSES)
        index(workspace)
        return calls, failed + list(verify(workspace).differences)
