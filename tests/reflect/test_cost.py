"""What makes a night cheap changes nothing: rows from lines that are known already, an index that is fresh at its end."""

from __future__ import annotations

import json
import shutil
from datetime import date, timedelta
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

import pytest
from face_helpers import TODAY, fixture_copy, memory_on, write_pages
from store_helpers import synced

from memctl.ids import question_id
from memctl.index.heal import with_index
from memctl.index.index import Index
from memctl.index.reread import reread
from memctl.index.rows import iter_rows, rows_of
from memctl.index.sync import sync, verify
from memctl.language.analyzer import joined_terms
from memctl.notes.workspace import Workspace
from memctl.recall import entry_hits
from memctl.reflect import fact_source, reflect as night
from memctl.reflect.record import read_record
from memctl.reflect.reflect import reflect

PATH = "bank/world.md"
PAGE = """# World

<!-- memctl:begin world sha=00 -->
### Ann

- **role**: Leads the gateway. · [2025-11-17#L5](../memory/2025-11-17.md#L5 "f-1a2b3c4d")
  - failed: the timeout of `nginx.conf`, 504 · [2025-11-18#L7](../memory/2025-11-18.md#L7)
<!-- memctl:end world -->

- W @Ann: Анна любит чай. 喜欢茶 ^a
- W @Ann, cue="night watch": Twice the same line.
- W @Ann, cue="night watch": Twice the same line.

```
a fence, and what stands in it
```
"""


@pytest.mark.parametrize(("path", "made"), [(PATH, "joined_terms"), ("memory/2025-11-27.md", "valid")])
def test_what_is_held_gives_equal_rows(path: str, made: str) -> None:
    held = {(row.role, row.digest): row for row in rows_of(path, PAGE).rows}
    changed = PAGE.replace("### Ann", "### Ann\n\n- a new line", 1).replace("- W", "- B", 1)
    for text in (PAGE, changed):
        with patch(f"memctl.index.rows.{made}", side_effect=AssertionError) if text is PAGE else patch.dict({}):
            page = iter_rows(path, text, held)
            page = page._replace(rows=tuple(page.rows))
        assert page == rows_of(path, text)


def test_a_page_that_changed_is_read_with_what_the_index_holds(tmp_path: Path) -> None:
    workspace = write_pages(tmp_path / "notes", {PATH: PAGE})
    with_index(workspace, lambda index: sync(workspace, index))
    (workspace.root / PATH).write_text(PAGE.replace("### Ann\n", "### Ann\n\n- a new line\n", 1), "utf-8")
    with patch("memctl.index.rows.joined_terms", wraps=joined_terms) as made:
        with_index(workspace, lambda index: sync(workspace, index))
    assert made.call_count == 1 and not verify(workspace).differences


def test_reflect_leaves_a_fresh_index(tmp_path: Path) -> None:
    """Also where it took every round, since pages came into being whose lines others cite."""
    workspace = Workspace(fixture_copy(tmp_path))
    for page in (workspace.root / "bank").rglob("*.md"):
        page.unlink()
    assert reflect(memory_on(workspace, TODAY)).pages
    assert not with_index(workspace, lambda index: sync(workspace, index)).changed


FEW, MANY = 30, 90  # days


@pytest.fixture(scope="module")
def diaries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """So many days about five names, one of them on every day, and a reflect upon all of them; to be copied."""
    folder = tmp_path_factory.mktemp("diaries")
    for days in (FEW, MANY):
        reflect(memory_on(diary(folder / str(days), days), date(2025, 11, 1)))
    return folder


def diary(folder: Path, days: int) -> Workspace:
    pages = {}
    for number in range(days):
        day, dice = date(2025, 10, 31) - timedelta(days=number), Random(number)
        pages[f"memory/{day}.md"] = (
            "## Retain\n\n"
            f"- W(key={dice.choice(['db', 'city'])}) @Otter: value {dice.randint(1, 9)} of {number}\n"
            f"- B(outcome=ok,task=landing) @{dice.choice(['Heron', 'Сокол', '海鸥'])}: landed {dice.randint(1, 99)} boxes on trip {number}\n"
            f"- O(0.8) @Otter: {dice.choice(['prefers', 'дважды', '两次'])} mooring {number}\n"
        )
    return write_pages(folder, pages)


class Work:
    """Counts the lines read again from disk, and the statements asked of the index."""

    def __init__(self, patched: pytest.MonkeyPatch) -> None:
        self.lines = self.statements = 0
        real, ask = reread, Index.rows

        def read(*args: Any) -> dict[int, Any]:
            found = real(*args)
            self.lines += len(found)
            return found

        def rows(index: Index, *args: Any) -> list[tuple[Any, ...]]:
            self.statements += 1
            return ask(index, *args)

        for module in (fact_source, entry_hits):
            patched.setattr(module, "reread", read)
        patched.setattr(Index, "rows", rows)
        patched.setattr(night, "conflicts_in", lambda *_, **__: ())


@pytest.mark.parametrize(
    "line",
    ["- W @Newt: Swims\n- B @Newt: Dived\n", "- W(key=city) @Heron: Lives in Riga\n", "- O(0.9) @海鸥: 喜欢风\n"],
)
def test_a_day_costs_no_more_after_many(
    diaries: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    """What is read grows with what was told, and with the beliefs of one page, not with what stands before it."""
    counts = []
    for days in (FEW, MANY):
        workspace = Workspace(shutil.copytree(diaries / str(days), tmp_path / str(days)).resolve())
        synced(workspace)  # a copied page is read again
        held = (workspace.root / "bank/opinions.md").read_text("utf-8").count("\n- O")
        (workspace.root / "memory/2025-11-02.md").write_text(f"## Retain\n\n{line}", "utf-8")
        with monkeypatch.context() as patched:
            work = Work(patched)
            assert reflect(memory_on(workspace, date(2025, 11, 2)), since=date(2025, 11, 2)).pages
        counts.append((work.lines, work.statements, held))
    (few, asked, held), (many, more, all_held) = counts
    assert many - few <= 2 * (all_held - held) + 30 and more <= asked + 10, counts


def test_an_answer_costs_the_days_since_its_line(
    diaries: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In words by `settles=` alone too; only of an answer that is taken out nobody knows what it was about."""
    workspace = Workspace(shutil.copytree(diaries / str(MANY), tmp_path / "copy").resolve())
    told = "- O(0.9) @Heron: Loves rainy summer evenings ^f-old\n- W @Heron: Hates rainy summer evenings ^f-new\n"
    day, log = date(2025, 11, 1), workspace.root / "memory/2025-11-01.md"
    (workspace.root / "memory/2025-10-31-late.md").write_text(f"## Retain\n\n{told}", "utf-8")
    log.write_text("## Retain\n\n", "utf-8")
    reflect(memory_on(workspace, day))
    assert "f-new" in (workspace.root / "bank/opinions.md").read_text("utf-8")
    before, read = log.read_bytes(), {}
    settled = question_id("belief", "o-old", "f-new")
    for what, line in {"nothing": "", "answer": f"- S(settles={settled}): Not about it\n", "gone": ""}.items():
        log.write_bytes(before + line.encode())
        with monkeypatch.context() as patched:
            work = Work(patched)
            reflect(memory_on(workspace, day), since=day)
        read[what] = work.lines
        assert ("f-new" in (workspace.root / "bank/opinions.md").read_text("utf-8")) == (what != "answer")
    assert read["nothing"] == 0 and read["gone"] - read["answer"] > 2 * MANY, read  # three facts a day


def test_nothing_is_read_where_nothing_changed(diaries: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = Workspace((diaries / str(FEW)).resolve())
    with monkeypatch.context() as patched:
        work = Work(patched)
        assert not reflect(memory_on(workspace, date(2025, 11, 1)), since=date(2025, 10, 1)).pages
    assert work.statements < 40 and work.lines == 0, (work.lines, work.statements)


def test_what_is_kept_in_no_shape_that_is_known_makes_all_again(diaries: Path, tmp_path: Path) -> None:
    workspace = Workspace(shutil.copytree(diaries / str(FEW), tmp_path / "copy").resolve())
    kept = workspace.memory / "reflected.json"
    made = json.loads(kept.read_text("utf-8"))
    shapes = (None, 1, [None], {"1": None}, [["x", "y"]])
    for each in ([], made | {"new": 1}, *({**made, name: shape} for name in made for shape in shapes)):
        kept.write_text(json.dumps(each), "utf-8")
        assert read_record(workspace) is None, each
    kept.write_text("[" * 100_000, "utf-8")
    assert not reflect(memory_on(workspace, date(2025, 11, 1)), since=date(2025, 11, 1)).pages
    assert read_record(workspace) is not None


def test_all_facts_are_read_once_and_a_day_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a first reflect holds grows with its beliefs, not with what was told; that names get pages makes nothing twice."""
    workspace, sizes, read = diary(tmp_path, FEW), list[int](), fact_source.FactSource.evidence

    def counted(source: fact_source.FactSource, entries: Any) -> Any:
        some = list(entries)
        sizes.append(len(some))
        return read(source, some)

    monkeypatch.setattr(fact_source.FactSource, "evidence", counted)
    unmarked = "- W @Newt: Was seen by Heron\n- W @Newt: Рядом был Сокол\n- W @Newt: 看见了海鸥\n"
    (workspace.root / "memory/2025-01-01.md").write_text(f"## Retain\n\n{unmarked}", "utf-8")
    assert "bank/entities/海鸥.md" in reflect(memory_on(workspace, date(2025, 11, 1))).pages
    assert max(sizes) == 3 and sum(sizes) == 3 * FEW + 3, sizes
