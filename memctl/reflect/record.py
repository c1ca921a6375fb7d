"""The record of a build: what each part of bank/ was made from, as `make` knows it, and what therefore has to be made again.

Kept in `.memory/`, by hashes, ids and names; derived, so that without it everything is made again. `forget` removes it.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence, Set
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from ..beliefs.confidence import BeliefEntry, own_id, stated_in
from ..beliefs.replay import ExplicitEvidence
from ..errors import MemctlError
from ..ids import page_id, question_ids
from ..index.open_memory import OpenMemory
from ..index.queries import evidence as queries
from ..index.queries.entries import by_ids, by_refs
from ..markdown import blocks
from ..markdown.grammar import OPINIONS
from ..notes.edits import Edit, read_for_edit
from ..notes.files import prepare_memory
from ..notes.workspace import Workspace
from ..system import read_safely
from ..truth.judge import judge
from .fact_source import retracted_lines

WORLD, EXPERIENCE, LESSONS = "bank/world.md", "bank/experience.md", "bank/lessons.md"
_FILE = "reflected.json"
_AT_ONCE = 1_000  # facts that are judged together
_PROGRAM = Path(__file__).parent.parent
_ROOMS = ("reflect", "beliefs", "conflicts", "truth", "stance", "language", "markdown", "index", "recall", "review")


@dataclass(slots=True)
class BuildRecord:
    """What bank/ was made from on a day.

    `pages` has, by number, the hash of every page and the first day on which its facts were written; `names` has all names of
    each entity's page; `retracted` the day of each line that was never true, by id; `answers` what the answers of
    `memctl review` say; `parts` the pages that were read for each part (`@name`, `#task`, `2025-W48`), its own among them;
    `failed` the failures of each task, by the id of the newest; `met` the day, the belief and the fact of each pair that only
    an owner can judge; `told` the sentences of the digest of that day's week, by 64 bits of each.
    """

    day: str
    program: str
    pages: dict[int, tuple[str, str]] = field(default_factory=dict)
    names: dict[str, list[str]] = field(default_factory=dict)
    retracted: dict[str, str] = field(default_factory=dict)
    answers: list[str] = field(default_factory=list)
    parts: dict[str, list[int]] = field(default_factory=dict)
    failed: dict[str, dict[str, int]] = field(default_factory=dict)
    met: list[list[str]] = field(default_factory=list)
    told: list[int] = field(default_factory=list)

    def note(self, path: str, text: bytes) -> None:
        """A page holds this text now, which reflect wrote."""
        self.pages[page_id(path)] = (_sha(text), self.pages.get(page_id(path), ("", ""))[1])


class Changes(NamedTuple):
    """What has to be made again: with `whole`, everything; `first` is the first day whose facts beliefs are replayed from."""

    whole: bool
    names: set[str]
    tasks: set[str]
    weeks: set[str]
    first: date | None

    @property
    def is_empty(self) -> bool:
        """True if bank/ is as it is to be."""
        return not any(self)


def read_record(workspace: Workspace) -> BuildRecord | None:
    """The record of the last reflect; None where it cannot be read."""
    with suppress(OSError, ValueError, RecursionError):
        read = json.loads(read_safely(workspace.memory / _FILE))
        named = isinstance(read, dict) and read.keys() == _SHAPE.keys()
        if named and all(_is_like(read[name], sample) for name, sample in _SHAPE.items()):
            record = BuildRecord(**read)
            record.pages = {int(number): (sha, day) for number, (sha, day) in record.pages.items()}
            for day in (record.day, *(day for day, _, _ in record.met), *filter(None, record.retracted.values())):
                date.fromisoformat(day)
            return record
    return None


_SHAPE: dict[str, Any] = {
    "day": "", "program": "", "pages": {"": [""]}, "names": {"": [""]}, "retracted": {"": ""}, "answers": [""],
    "parts": {"": [0]}, "failed": {"": {"": 0}}, "met": [[""]], "told": [0],
}  # fmt: skip


def _is_like(value: object, sample: object) -> bool:
    """True for a value of JSON whose parts are of the types of those of the sample."""
    if isinstance(sample, dict):
        return isinstance(value, dict) and all(_is_like(each, sample[""]) for each in value.values())
    if isinstance(sample, list):
        return isinstance(value, list) and all(_is_like(each, sample[0]) for each in value)
    return type(value) is type(sample)


def write_record(workspace: Workspace, record: BuildRecord | None) -> None:
    """Keep it for the next reflect; None forgets it. Without it the next one only takes longer."""
    path = prepare_memory(workspace) / _FILE
    with suppress(OSError):  # what a kill cuts off does not read as JSON
        path.unlink(missing_ok=True)
        if record is not None:
            path.write_text(json.dumps(asdict(record)), "utf-8")


def new_record(memory: OpenMemory, last: BuildRecord | None) -> BuildRecord:
    """The pages as they are now, and the parts that `last` knows of; `first days` of pages that stayed are taken from there."""
    index = memory.index
    found = BuildRecord(str(memory.today), program_of(memory.workspace), names=queries.names_of_pages(index))
    before = last.pages if last else {}
    hashes = dict(queries.page_hashes(index))
    fresh = {number for number, sha in hashes.items() if number not in before or before[number][0] != sha}
    days = queries.first_days(index, fresh)
    for number, sha in hashes.items():
        found.pages[number] = (sha, days.get(number, "")) if number in fresh else before[number]
    corrected = queries.retractable(index)
    for start in range(0, len(corrected), _AT_ONCE):
        found.retracted |= retracted_lines(memory, by_ids(index, corrected[start : start + _AT_ONCE]).values())
    if last is not None:
        found.answers, found.parts = last.answers, dict(last.parts)
        found.failed, found.met, found.told = dict(last.failed), last.met, last.told
    return found


def outdated(memory: OpenMemory, last: BuildRecord | None, now: BuildRecord, whole: bool) -> Changes:
    """What has to be made again: what a change of pages, of names or of the day may reach.

    All of it with `whole`, where nothing is known, where somebody turned back the clock or changed a page about everybody,
    by hand or by git: another machine may have known less. Nothing where nothing changed.
    """
    index, today = memory.index, memory.today
    if last is None or whole or last.program != now.program or last.day > now.day:
        return Changes(True, set(), set(), set(), date.min)
    then = date.fromisoformat(last.day)
    changed = last.pages.items() ^ now.pages.items()
    pages = {number for number, _ in changed}
    if not pages.isdisjoint(map(page_id, (OPINIONS, WORLD, EXPERIENCE, LESSONS))):
        return Changes(True, set(), set(), set(), date.min)
    facts = queries.facts_on(index, pages)
    rows = {row.id: row for row in (*facts, *queries.facts_turning(index, then, today))}
    if not rows and last == now:
        return Changes(False, set(), set(), set(), None)
    flipped = last.retracted.items() ^ now.retracted.items()
    fresh = [*rows.values(), *by_refs(index, {ref for ref, _ in flipped})]
    reached = judge(memory, fresh, whole=False).entries.values()
    both = (*last.names.items(), *now.names.items())
    renamed = {key for path, keys in both if last.names.get(path) != now.names.get(path) for key in keys[2:]}
    named = [*(row.names for row in reached), *(fact.names for fact in queries.about_names(index, renamed))]
    names = renamed | {name for listed in named for name in listed.split("\n")}
    tasks = {row.task for row in reached if row.task}
    days = {row.day for row in facts} | {day for _, (_, day) in changed} | {day for _, day in flipped}
    # A week is shown as it was at its end: what was written later, or turns with the calendar, changes no word of it.
    earliest = week_of(min(day for day in (*days, last.day) if day))
    weeks = {week_of(day) for row in reached for day in (row.day, row.first, row.last) if day}
    weeks = {week_of(last.day), week_of(now.day), *(week for week in weeks if week >= earliest)}
    parts = [part for part, sources in last.parts.items() if not pages.isdisjoint(sources)]
    names |= {part[1:] for part in parts if part[0] == "@"}
    tasks |= {part[1:] for part in parts if part[0] == "#"}
    weeks |= {part for part in parts if part[0] not in "@#"}
    days |= {row.day for row in rows.values() if (row.day or "") > last.day}
    days |= {row.day for row in queries.naming(index, renamed, today)}
    first = min((date.fromisoformat(day) for day in days if day and day <= now.day), default=None)
    return Changes(False, names, tasks, weeks, first)


def newly_answered(
    record: BuildRecord, whole: bool, answers: Sequence[ExplicitEvidence], settled: Set[str],
    entries: Sequence[BeliefEntry],
) -> list[date]:  # fmt: skip
    """The days of the lines that an answer speaks of which is new since the last reflect; the record gets the answers."""
    day_of = {answer.key: answer.line.day for answer in answers}
    before, record.answers = set(record.answers), sorted((*day_of, *settled))
    if whole or before.difference(day_of, settled):
        return [date.min]  # all days: which line an answer meant that is gone, nobody knows
    days = [day for key, day in day_of.items() if key not in before]
    new, lines_of = settled - before, defaultdict[str, list[tuple[date, str]]](list)
    for day, belief, line in record.met:
        lines_of[belief].append((date.fromisoformat(day), line))
    for entry in entries if new else ():
        belief, stated = entry.ref or own_id(entry), stated_in(entry)
        lines = [*((bullet.day, bullet.ref or "") for _, bullet in entry.bullets), *lines_of[belief]]
        stating = (stated.ref if stated else "") or ""
        days += [on for on, line in lines if not new.isdisjoint(question_ids(stating, line, belief))]
    return days


def week_of(day: str) -> str:
    """`2025-W48`."""
    year, week, _ = date.fromisoformat(day).isocalendar()
    return f"{year:04d}-W{week:02d}"


def in_conflict(workspace: Workspace) -> bool:
    """True if one of the pages about everybody holds an unresolved merge: what the other machine wrote may be old."""
    for path in (OPINIONS, WORLD, EXPERIENCE, LESSONS):
        with suppress(MemctlError):  # the plan reports what is wrong with that page
            if b"\n<<<<<<<" in (read_for_edit(workspace, path).before or b""):
                return True
    return False


def moves_lines(edit: Edit) -> bool:
    """True if lines of a person stand elsewhere afterwards: then what cites them has to be written again."""
    if edit.path == OPINIONS or edit.before is None:
        return False
    texts = map(blocks.unmanaged_lines, (edit.text_before, edit.after))
    before, after = ([number for number, line in lines if line.strip()] for lines in texts)
    return before != after


def program_of(workspace: Workspace) -> str:
    """Changes with the program, its words, and the settings."""
    return _sha(f"{_program()} {workspace.settings!r}".encode())


@cache
def _program() -> str:
    found = (path for room in _ROOMS for path in (_PROGRAM / room).rglob("*"))
    files = [path for path in found if path.suffix in (".py", ".txt", ".toml")]
    return _sha(b"\0".join(path.read_bytes() for path in sorted([*files, *_PROGRAM.glob("*.py")])))


def _sha(data: bytes) -> str:
    from hashlib import sha256

    return sha256(data).hexdigest()[:16]
