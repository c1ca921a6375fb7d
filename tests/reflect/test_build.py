"""Reflect is a function of the Markdown: histories of logs that arrive in any order, day by day, edited line by line.

A few dozen histories by default; MEMCTL_TORTURE=1 runs 1,500, each time others.
"""

from __future__ import annotations

import difflib
import os
import random
import re
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from face_helpers import memory_on, reflected_copy, snapshot
from hypothesis import Phase, given, settings, strategies as st
from page_checks import check_citations, citations, lines_of
from store_helpers import make_workspace

from memctl.beliefs.confidence import Place
from memctl.beliefs.opinions_page import read_entries, read_last_written
from memctl.beliefs.view import belief_view
from memctl.index.rows import rows_of
from memctl.language.names import spell
from memctl.memory import Memory
from memctl.notes.workspace import Workspace
from memctl.recall.lookup import show
from memctl.reflect import reflect as night
from memctl.reflect.reflect import reflect

TORTURE = bool(os.environ.get("MEMCTL_TORTURE"))
ORDERS, BUILDS = (500, 1_000) if TORTURE else (6, 12)
FIRST, TODAY = date(2025, 11, 1), date(2025, 11, 30)
HISTORIES = settings(
    derandomize=not TORTURE, deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink]
)

SAID = {
    "Peter": [
        "Prefers concise replies on WhatsApp", "Does not prefer concise replies on WhatsApp", "Prefers short replies on WhatsApp",
        "No longer prefers concise replies on WhatsApp", "Wants long replies on WhatsApp", "Lives in Lisbon near the harbour",
        "Asked Ирина for concise replies on WhatsApp again",
    ],
    "Ирина": [
        "Любит чай с лимоном по утрам", "Не любит чай с лимоном по утрам", "Больше не любит чай с лимоном по утрам",
        "Пьёт чай с лимоном каждый день", "Попросила у Peter чай с лимоном", "Терпеть не может чай с лимоном",
    ],
    "爱丽丝": ["喜欢简短的回复", "不喜欢简短的回复", "不再喜欢简短的回复", "要求简短的回复和表格", "讨厌简短的回复", "跟Atlas说了简短的回复"],
    "Atlas": [
        "Deployed blue green without downtime", "Deployed blue green, and it failed", "The nightly backup is slow",
        "The nightly backup is fast", "Peter says the nightly backup is slow",
    ],
}  # fmt: skip

LIKE = ["Petter", "Atlass"]  # maybe the same as others; no full name, whose first name would mean it once it has a page


@st.composite
def lines(draw: st.DrawFn, number: int, last: int) -> str:
    """A fact of any kind about one name or two, with the attributes that matter; `last` is the highest id it may name."""
    who = draw(st.sampled_from(sorted(SAID)))
    other = draw(st.sampled_from(["", "", "", *sorted(SAID), *LIKE]))
    kind = draw(st.sampled_from("OOOWWBBS"))
    attributes = [draw(st.sampled_from(["", "0.9", "c=0.333", "0.55"]))] if kind == "O" else []
    if kind in "WO" and draw(st.integers(0, 4)) == 0:
        attributes.append(f"key={draw(st.sampled_from(['city', 'db']))}")
    if kind == "B" and draw(st.booleans()):
        attributes.append(
            f"outcome={draw(st.sampled_from(['ok', 'fail']))},task={draw(st.sampled_from(['deploy', 'чай']))}"
        )
    if draw(st.integers(0, 3)) == 0:
        relation = draw(st.sampled_from(["for", "against", "supersedes", "corrects"]))
        attributes.append(f"{relation}=n{draw(st.integers(0, last))}")
    usual = ["", "", "", "", ""]
    attributes.append(
        draw(st.sampled_from([*usual, "src=web:x.org", "src=tool", "src=agent", "private", "ttl=30d", "i=0.9"]))
    )
    names = spell(who) + (f" {spell(other)}" if other not in ("", who) else "")
    given_id = f" ^n{number}" if draw(st.booleans()) else ""
    written = ",".join(filter(None, attributes))
    return f"- {kind}{f'({written})' if written else ''} {names}: {draw(st.sampled_from(SAID[who]))}{given_id}"


@st.composite
def histories(draw: st.DrawFn, backwards: bool = False) -> dict[str, str]:
    """Logs of five days, two a day at most. With `backwards`, lines point at earlier ones only, or at those of their day."""
    count = draw(st.integers(2, 12))
    days = [FIRST + timedelta(draw(st.integers(0, 4))) for _ in range(count)]
    made: dict[str, list[str]] = {}
    for number, day in enumerate(sorted(days) if backwards else days):
        path = f"memory/{day}{draw(st.sampled_from(['', '', '-standup']))}.md"
        made.setdefault(path, []).append(draw(lines(number, number if backwards else count - 1)))
    return {path: "## Retain\n\n" + "\n".join(found) + "\n" for path, found in sorted(made.items())}


@contextmanager
def workspace(pages: Mapping[str, str] = {}) -> Iterator[Workspace]:
    """An empty workspace, or one with these pages, for as long as it is needed."""
    with tempfile.TemporaryDirectory() as folder:
        yield make_workspace(Path(folder), pages)


def put(made: Workspace, path: str, text: str) -> None:
    """Save a page."""
    (made.root / path).parent.mkdir(parents=True, exist_ok=True)
    (made.root / path).write_bytes(text.encode())


def bank(made: Workspace) -> dict[str, bytes]:
    """The pages of bank/ by path. One that holds nothing but its title is as good as none: what it told was taken back."""
    pages = {path: data for path, data in snapshot(made.root).items() if path.startswith("bank/")}
    return {path: data for path, data in pages.items() if data.strip().count(b"\n") or not data.startswith(b"# ")}


def difference(history: Mapping[str, str], expected: Mapping[str, bytes], got: Mapping[str, bytes]) -> str:
    """What a person needs to see why two banks are not the same."""
    shown = [f"--- {path}\n{text}" for path, text in history.items()]
    for path in sorted({*expected, *got}):
        sides = (expected.get(path, b"").decode().splitlines(), got.get(path, b"").decode().splitlines())
        shown += difflib.unified_diff(*sides, f"expected/{path}", f"got/{path}", lineterm="", n=1)
    return "\n".join(shown)


def same(history: Mapping[str, str], expected: Mapping[str, bytes], got: Mapping[str, bytes]) -> None:
    """Fails with the difference."""
    assert expected == got, difference(history, expected, got)


@given(histories(), st.data())
@settings(HISTORIES, max_examples=ORDERS)
def test_files_in_any_order_give_the_same_bytes(history: dict[str, str], data: st.DataObject) -> None:
    """With reflects in between or not, with `.memory/` deleted at any moment; twice is as once."""
    with workspace(history) as made:
        reflect(memory_on(made, TODAY))
        expected = bank(made)
        assert not reflect(memory_on(made, TODAY)).pages
        shutil.rmtree(made.memory)
        assert not reflect(memory_on(made, TODAY)).pages
        same(history, expected, bank(made))
        check_numbers(made)
    with workspace() as made:
        for path in data.draw(st.permutations(sorted(history))):
            put(made, path, history[path])
            if data.draw(st.booleans()):
                reflect(memory_on(made, TODAY))
            if data.draw(st.integers(0, 3)) == 0:
                shutil.rmtree(made.memory, ignore_errors=True)
        reflect(memory_on(made, TODAY))
        same(history, expected, bank(made))


STATES = [  # of one subject, with other words around them
    "Drives a Volvo", "Drives a Skoda", "The roof leaks", "Rent is 900 a month", "Rent is 950 a month", "Office code is 4417",
    "Office code is 9023", "Ездит на Вольво", "Ездит на Шкоде", "Крыша течёт", "房租每月900", "房租每月950", "屋顶漏水",
]  # fmt: skip


Marks = set[tuple[str, str | None]]


def asked(memory: Memory, texts: Iterable[str]) -> tuple[set[str], set[tuple[str, ...]], Marks, Marks]:
    """What a workspace is unsure of: the questions of replaced lines, the conflicts, and what recall marks; then what is sure."""
    replaced = {each.id for each in memory.review() if each.kind in ("replaced", "trust")}
    pairs = {tuple(hit.ref for hit in each.sides) for each in memory.conflicts()}
    hits = [hit for text in texts for hit in memory.recall(text, k=20).hits if hit.source.path.startswith("memory/")]
    marked = {(hit.ref, hit.perhaps_superseded_by) for hit in hits if hit.perhaps_superseded_by}
    return replaced, pairs, marked, {(hit.ref, hit.superseded_by) for hit in hits}


@given(histories(), st.lists(st.tuples(st.sampled_from(STATES), st.integers(0, 28)), min_size=4, max_size=9))
@settings(HISTORIES, max_examples=ORDERS)
def test_what_reflect_wrote_answers_no_question(history: dict[str, str], states: list[tuple[str, int]]) -> None:
    """The same questions wait, and recall marks the same lines, whether a workspace was reflected on or not; of opinions that
    reflect knows to be over it says so for certain."""
    pages = dict(history)
    for text, day in states:
        path = f"memory/{FIRST + timedelta(day)}.md"
        pages[path] = pages.get(path, "## Retain\n\n") + f"- W @Studio: {text}\n"
    with workspace(pages) as made:
        texts = {line.partition(": ")[2] for page in pages.values() for line in page.splitlines() if ": " in line}
        before = asked(memory_on(made, TODAY), texts)
        reflect(memory_on(made, TODAY))
        *after, sure = asked(memory_on(made, TODAY), texts)
        ended = {pair for pair in before[2] if not {ref for ref, _ in sure - before[3]}.isdisjoint(pair[:1])}
        assert after == [before[0], before[1], before[2] - ended]


class History:
    """One workspace and its clock; every reflect writes what a full one writes on a fresh clone of the files, that day."""

    def __init__(self, made: Workspace, draw: Callable[[st.SearchStrategy[Any]], Any]) -> None:
        self.made, self.draw, self.day, self.number, self.told = made, draw, FIRST, 0, []

    def step(self) -> None:
        """Something happens."""
        what = self.draw(st.sampled_from(STEPS))
        self.told.append(f"{self.day} {what}")
        getattr(self, what)()

    def pick(self, of: Sequence[Any]) -> Any:
        return self.draw(st.sampled_from(of))

    def pages(self, pattern: str) -> list[Path]:
        return sorted(self.made.root.glob(pattern))

    def tell(self) -> None:
        """Lines for a log: mostly of today, sometimes of a day before, or of one to come."""
        day = self.day + timedelta(self.pick([0, 0, 0, 0, -1, -9, 3]))
        page = self.made.root / f"memory/{day}.md"
        text = page.read_text("utf-8") if page.exists() else "## Retain\n\n"
        for _ in range(self.draw(st.integers(1, 4))):
            self.number += 1
            text += self.draw(lines(self.number, self.number)) + "\n"
        page.write_bytes(text.encode())

    def edit(self) -> None:
        if self.pages("memory/*.md"):
            edit_a_log(self.made, random.Random(self.draw(st.integers(0, 999))), 1000 + self.number)

    def date(self) -> None:
        """What begins, ends or falls due later than it is told."""
        self.number += 1
        first, last = (self.day + timedelta(self.pick([-3, 2, 6, 20])) for _ in range(2))
        span = self.pick(
            [f"t={first}", f"t={first}..", f"until={last}", f"t={min(first, last)}..{max(first, last)}", "ttl=5d"]
        )
        key = self.pick(["", ",key=city", ",key=db"])
        page = self.made.root / f"memory/{self.day}.md"
        text = page.read_text("utf-8") if page.exists() else "## Retain\n\n"
        page.write_bytes(
            f"{text}- W({span}{key}) @{self.pick(sorted(SAID))}: Is elsewhere {self.number % 3}\n".encode()
        )

    def answer(self) -> None:
        if asked := [each for each in self.memory().review() if not each.is_for_owner]:
            question = self.pick(asked)
            self.memory().answer(question.id, self.pick(question.options).key)

    def forget(self) -> None:
        refs = sorted(
            {
                row.ref
                for page in self.pages("memory/*.md")
                for row in rows_of(f"memory/{page.name}", page.read_text("utf-8")).rows
                if row.role == "fact"
            }
        )
        if refs:
            self.memory().forget(ids=[self.pick(refs)], apply=True)

    def hand(self) -> None:
        """A person edits a page of bank/."""
        pages = self.pages("bank/**/*.md")
        if not pages:
            return
        page = self.pick(pages)
        text = page.read_text("utf-8").split("\n")
        what = self.pick(["number", "line", "words", "remove", "page", "alias", "marker"])
        if what == "number" and page.name == "opinions.md":
            text = [re.sub(r"^- O\(c=[\d.]+\)", f"- O(c=0.{self.pick([2, 5, 9])})", line, count=1) for line in text]
        elif what in ("line", "remove"):
            at = self.draw(st.integers(0, len(text) - 1))
            text[at : at + 1] = ["A word by hand."] if what == "line" and not text[at].startswith("<!--") else []
        elif what == "page":
            page.unlink()
            return
        elif what == "alias" and page.parent.name == "entities" and text[0] != "---":
            text = ["---", f"aliases: [{self.pick(['Pete', 'Petter', 'Алиса'])}]", "type: person", "---", *text]
        elif what == "marker":
            text = [line for line in text if not line.startswith("<!-- memctl")]
        else:
            text.insert(1, "\nSomebody was here.\n")
        page.write_bytes("\n".join(text).encode())

    def drop(self) -> None:
        """A log is deleted, with all that it alone told."""
        if logs := self.pages("memory/*.md"):
            self.pick(logs).unlink()

    def later(self) -> None:
        self.day += timedelta(self.pick([1, 1, 2, 5, 8, 30]))

    def clone(self) -> None:
        """The index and all else that is derived are gone."""
        shutil.rmtree(self.made.memory, ignore_errors=True)

    def reflect(self) -> None:
        window = self.pick([None, 0, 1, 7, 7, 7, 30])
        with tempfile.TemporaryDirectory() as folder:
            fresh = Workspace(Path(folder).resolve() / "clone")
            shutil.copytree(self.made.root, fresh.root, ignore=shutil.ignore_patterns(".memory"))
            reflect(memory_on(fresh, self.day))
            reflect(memory_on(self.made, self.day), since=None if window is None else self.day - timedelta(window))
            self.told[-1] += f" {window}"
            logs = {
                path: data.decode() for path, data in snapshot(self.made.root).items() if path.startswith("memory/")
            }
            same({"history": "\n".join(self.told)} | logs, snapshot_bank(fresh), snapshot_bank(self.made))

    def memory(self) -> Memory:
        return Memory(self.made, lambda: datetime.combine(self.day, time(12)))


STEPS = [
    *["tell"] * 4, "edit", "date", *["later"] * 2, *["reflect"] * 3, "forget", "hand", "drop", "clone", *["answer"] * 2
]  # fmt: skip


def snapshot_bank(made: Workspace) -> dict[str, bytes]:
    """Every page of bank/ as it is."""
    return {path: data for path, data in snapshot(made.root).items() if path.startswith("bank/")}


@given(st.data())
@settings(HISTORIES, max_examples=BUILDS)
def test_after_any_history_the_bank_is_what_a_fresh_clone_makes_of_the_files(data: st.DataObject) -> None:
    """Edits, edits by hand, lines forgotten, gaps of weeks, dates that come, and windows of any length."""
    none = patch.multiple(night, conflicts_in=lambda *_, **__: ())  # what it counts is on no page
    with workspace() as made, none:
        history = History(made, data.draw)
        for _ in range(data.draw(st.integers(4, 18))):
            history.step()
        history.told.append(f"{history.day} reflect")
        history.reflect()


TOLD = ["2025-07-04", "2025-09-05", "2025-10-20", "2025-07-29", "2025-11-18"]


@pytest.mark.parametrize("log", TOLD if TORTURE else TOLD[3:])
def test_a_deleted_log_leaves_every_page_whatever_the_window(log: str, tmp_path: Path) -> None:
    """Of facts and lessons from before the window too, after a reading command has seen that it is gone."""
    whole, windowed = Workspace(reflected_copy(tmp_path / "a")), Workspace(reflected_copy(tmp_path / "b"))
    for made, since in ((whole, None), (windowed, TODAY)):
        assert not reflect(memory_on(made, TODAY)).pages
        (made.root / f"memory/{log}.md").unlink()
        memory_on(made, TODAY).recall("gateway")
        reflect(memory_on(made, TODAY), since=since)
    assert snapshot_bank(windowed) == snapshot_bank(whole)


def check_numbers(made: Workspace) -> None:
    """Every number on bank/opinions.md is what follows from the evidence beside it, within the bounds."""
    page = made.root / "bank/opinions.md"
    text = page.read_text("utf-8") if page.exists() else ""
    places = {ref: Place(citation, origin) for ref, (citation, origin) in lines_of(made).items()}
    for entry in read_entries(text)[0]:
        belief = belief_view(entry, read_last_written(text).get(entry.ref or ""), places, today=TODAY)
        assert belief is not None and entry.fact.confidence is not None
        assert f"{entry.fact.confidence:.2f}" == f"{belief.ledger.confidence:.2f}", entry
        numbers = [bullet.after for _, bullet in entry.bullets if bullet.after is not None]
        assert numbers == [bullet.after for bullet in belief.evidence if bullet.after is not None]
        assert all(0.02 <= number <= 0.98 for number in (*numbers, entry.fact.confidence))


def edit_a_log(made: Workspace, chance: random.Random, number: int) -> None:
    """Insert, delete, move, swap or reword a line of a log; now and then a line goes to another day, or a file goes."""
    logs = sorted((made.root / "memory").glob("*.md"))
    page = chance.choice(logs)
    found = page.read_text("utf-8").split("\n")
    what = chance.choice(["insert", "insert", "prose", "delete", "move", "reword", "elsewhere", "swap"])
    facts = [n for n, line in enumerate(found) if line.startswith("- ")]
    if what == "prose" or not facts:
        found.insert(chance.randint(0, 2), f"Words {number}, чай, 茶.\n")
    elif what == "insert":
        who = chance.choice(sorted(SAID))
        kind = chance.choice(["O", "O(0.9)", "W", "B", "W(key=city)", "B(outcome=ok,task=deploy)"])
        given_id = f" ^e{number}" if chance.random() < 0.3 else ""
        found.insert(chance.choice(facts), f"- {kind} @{who}: {chance.choice(SAID[who])}{given_id}")
    else:
        at = chance.choice(facts)
        line = found.pop(at)
        if what == "move":
            found.insert(chance.choice(facts), line)
        elif what == "swap":
            found.append(line)
        elif what == "reword":
            text, _, given_id = line.partition(" ^")
            found.insert(at, f"{text}, again" + (f" ^{given_id}" if given_id else ""))
        elif what == "elsewhere":
            other = chance.choice(logs)
            if other != page:
                other.write_bytes((other.read_text("utf-8").rstrip("\n") + f"\n{line}\n").encode())
    page.write_bytes("\n".join(found).encode())


def test_every_citation_resolves_after_a_thousand_edits() -> None:
    """In batches (200 by default), with a reflect behind each; evidence whose line is gone is marked so and moves nothing."""
    chance = random.Random(None if TORTURE else 7)
    with workspace() as made:
        for day in range(8):
            who = [chance.choice(sorted(SAID)) for _ in range(5)]
            told = [
                f"- {chance.choice(['O', 'O(0.8)', 'W', 'B'])} @{name}: {chance.choice(SAID[name])}" for name in who
            ]
            put(made, f"memory/{FIRST + timedelta(day)}.md", f"# Day {day}\n\n## Retain\n\n" + "\n".join(told) + "\n")
        reflect(memory_on(made, TODAY))
        checked = gone = 0
        for batch in range(10 if TORTURE else 2):
            for number in range(100):
                edit_a_log(made, chance, 100 * batch + number)
            reflect(memory_on(made, TODAY))
            checked += check_citations(made)
            check_numbers(made)
            text = (made.root / "bank/opinions.md").read_text("utf-8")
            gone = max(gone, text.count("gone from"))
            if batch % 3 == 0:
                assert not reflect(memory_on(made, TODAY)).pages
                for _, path, (line, end), ref in list(citations(made))[:20]:
                    spelled = f"{path}#L{line}" + (f"-L{end}" if end > line else "")
                    assert show(memory_on(made), f"{spelled} ^{ref}" if ref else spelled), spelled
        print(f"reflect: {checked:,} citations after {batch + 1}00 edits, 0 that do not resolve; {gone} marked as gone")
        assert checked > (500 if TORTURE else 150) and gone > 0
