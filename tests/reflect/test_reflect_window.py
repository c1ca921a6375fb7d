"""A windowed reflect does what the window asks for: what it reads does not grow with what stands before it."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest
from face_helpers import TODAY, fixture_copy, memory_on, write_pages
from hypothesis import assume, given
from hypothesis import strategies as st

from memctl.conflicts.listing import Conflict, conflicts_in, conflicts_since
from memctl.conflicts.pairs import marks_of, pairs_with, pairs_worth
from memctl.index.heal import with_index
from memctl.index.queries.beliefs import said_since
from memctl.index.queries.entries import by_ids
from memctl.index.reread import Seen, reread
from memctl.index.row import Row
from memctl.index.sync import sync
from memctl.language.analyzer import terms
from memctl.notes.workspace import Workspace
from memctl.recall import entry_hits
from memctl.reflect import fact_source
from memctl.reflect import reflect as night
from memctl.reflect.fact_source import FactSource
from memctl.reflect.reflect import reflect

WORDS = (
    "prefers", "dislikes", "long", "short", "replies", "nets", "eleven", "twelve", "11", "12", "not", "лодка", "любит", "не", "чай", "длинный", "короткий", "喜欢", "讨厌", "回复",
)  # fmt: skip


# -- conflicts --------------------------------------------------------------------------------------------------------


@given(st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=7, unique=True), max_size=9), st.data())
def test_pairs_with_a_fact_of_the_window_are_those_of_all_pairs(texts: list[list[str]], data: st.DataObject) -> None:
    facts = [" ".join(terms(" ".join(words))) for words in texts]
    fresh = sorted(data.draw(st.sets(st.integers(0, len(facts) - 1)) if facts else st.just(set[int]())))
    marks = [marks_of(own, frozenset()) for own in facts]
    # What names both ends of a scale shares it twice with all others there, and once here.
    assume(not any(len(one.sides) > len(dict(one.sides)) for one in marks))
    days = [data.draw(st.sampled_from([None, "2025-11-01", "2025-11-02"])) for _ in facts]
    every, _ = pairs_worth(marks, days, 1_000)
    some = pairs_with(facts, days, frozenset(), fresh, 1_000)
    assert some == [(i, j) for i, j in every if {i, j} & set(fresh)]


def all_conflicts(workspace: Workspace, today: date) -> tuple[Conflict, ...]:
    """Those of a fresh index, however long it takes to be fresh."""
    with_index(workspace, lambda index: sync(workspace, index))
    return memory_on(workspace, today).run(conflicts_in)


@pytest.mark.parametrize("since", [date(2025, 11, 17), date(2025, 11, 18), date(2025, 11, 19), date(2020, 1, 1)])
def test_conflicts_of_the_window_are_those_that_its_facts_have_a_part_in(tmp_path: Path, since: date) -> None:
    workspace = Workspace(fixture_copy(tmp_path))
    every = all_conflicts(workspace, TODAY)
    some = memory_on(workspace, TODAY).run(lambda memory: conflicts_since(memory, since))
    fresh = with_index(workspace, lambda index: {e.ref for e in by_ids(index, said_since(index, since)).values()})
    assert [str(one) for one in some] == [str(one) for one in every if {hit.ref for hit in one.sides} & fresh]
    assert since > date(2025, 11, 18) or some


def test_the_report_counts_the_conflicts_of_the_window(tmp_path: Path) -> None:
    workspace = write_pages(
        tmp_path,
        {
            "memory/2025-09-01.md": "## Retain\n\n- W @Otter: Has 11 nets\n- W @Otter: Has 12 nets\n",
            "memory/2025-11-29.md": "## Retain\n\n- W(key=db) @Otter: Redis\n- W(key=db) @Otter: MySQL\n",
        },
    )
    every = all_conflicts(workspace, date(2025, 11, 30))
    done = reflect(memory_on(workspace, date(2025, 11, 30)), since=date(2025, 11, 23), dry_run=True)
    assert done.conflicts == sum("2025-11-29" in str(one) for one in every) == len(every) - 1 == 1


# -- what is read -----------------------------------------------------------------------------------------------------


def hub(folder: Path, days: int) -> Workspace:
    """So many days of one name with slots, events and opinions, then one day that is the same for all."""
    pages = {}
    for number in range(days):
        day, dice = date(2025, 10, 31) - timedelta(days=number), Random(number)
        lines = [
            f"- W(key={dice.choice(['db', 'city'])}) @Otter: value {dice.randint(1, 9)} of {number}",
            f"- B @Otter: landed {dice.randint(1, 99)} boxes on trip {number}",
            f"- W(i=0.8) @Otter: {dice.choice(['prefers', 'дважды', '两次'])} mooring {number}",
        ]
        pages[f"memory/{day}.md"] = "## Retain\n\n" + "\n".join(lines) + "\n"
    pages["memory/2025-11-29.md"] = "## Retain\n\n- W(key=db) @Otter: value 10\n- B @Otter: landed with @Heron\n"
    pages["bank/entities/Otter.md"] = "# Otter\n"
    return write_pages(folder, pages)


def lines_read(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> int:
    """How many lines a reflect of seven days reads again from the logs for its pages."""
    read: list[int] = []

    def counted(*args: object) -> dict[int, Seen]:
        found = reread(*args)  # type: ignore[arg-type]
        read.append(len(found))
        return found

    with monkeypatch.context() as patch:
        for module in (fact_source, entry_hits):
            patch.setattr(module, "reread", counted)
        reflect(memory_on(workspace, date(2025, 11, 30)), since=date(2025, 11, 23))
    return sum(read)


def test_a_hub_costs_no_more_when_its_history_is_longer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    few, many = (lines_read(hub(tmp_path / str(days), days), monkeypatch) for days in (120, 480))
    assert many <= 1.1 * few


def test_what_is_left_unread_shows_nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same bytes as from reading everything that might have been shown."""
    choose = FactSource._choose

    def everything(self: FactSource, candidates: Any, entries: dict[int, Row]) -> Any:
        self.hits(list(entries.values()))
        return choose(self, candidates, entries)[0], set(entries)

    made = []
    for name in ("some", "all"):
        workspace = hub(tmp_path / name, 120)
        reflect(memory_on(workspace, date(2025, 11, 30)))
        made.append({path.name: path.read_bytes() for path in sorted((workspace.root / "bank").rglob("*.md"))})
        monkeypatch.setattr(FactSource, "_choose", everything)
    assert made[0] == made[1]
    assert b"Otter" in made[0]["world.md"]


def test_reflect_asks_for_the_conflicts_of_the_window_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*args: object) -> None:
        raise AssertionError("a windowed reflect compared everything")

    workspace = hub(tmp_path, 5)
    monkeypatch.setattr(night, "conflicts_in", never)
    reflect(memory_on(workspace, date(2025, 11, 30)), since=date(2025, 11, 23))
