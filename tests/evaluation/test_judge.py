"""Judging the few versions of a slot that decide gives what judging all of them gives, for any history."""

from __future__ import annotations

import tempfile
from datetime import date, timedelta
from pathlib import Path

import pytest
from face_helpers import memory_on, write_pages
from hypothesis import given, settings, strategies as st
from strategies import examples

from memctl.index.open_memory import OpenMemory
from memctl.index.queries.entries import Filter, by_ids, newest
from memctl.notes.workspace import Workspace
from memctl.truth.judge import judge

LINES = st.lists(
    st.tuples(
        st.integers(0, 45),
        st.sampled_from(["a", "b", "c"]),
        st.sampled_from(["", "", "", ", src=tool", ", t=2025-10-15..", ", t=2026-02..", ", i=1.0"]),
        st.sampled_from(["", "", "", ", supersedes=id{}", ", corrects=id{}"]),
    ),
    min_size=1,
    max_size=40,
)


WORDS = ["Runs on {}.", "Runs on {}.", "Runs on {}.", "Actually runs on {}."]


def _write(root: Path, lines: list[tuple[int, str, str, str]], words: list[str] | None = None, pages: int = 1) -> None:
    """A log a day (or `pages` of them) with these values of one slot, in these words, one after the other."""
    (root / "memory").mkdir(exist_ok=True)
    logs: dict[str, list[str]] = {}
    for number, (day, value, more, link) in enumerate(lines):
        text = (words or WORDS[:1])[number % len(words or WORDS[:1])].format(value)
        told = f"- W(key=host{more}{link.format(number // 2)}) @Srv: {text} ^id{number}\n"
        suffix = f"-{number % pages}" if number % pages else ""
        logs.setdefault(f"{date(2025, 10, 1) + timedelta(days=day)}{suffix}", []).append(told)
    for name, told in logs.items():
        (root / "memory" / f"{name}.md").write_text("## Retain\n\n" + "".join(told), encoding="utf-8")


@given(LINES, st.permutations(WORDS), st.integers(1, 3))
@settings(max_examples=examples(200))
def test_the_few_decide_as_all_do(lines: list[tuple[int, str, str, str]], words: list[str], pages: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        _write(root, lines, words, pages)

        def compare(at: OpenMemory) -> None:
            at.sync_for_write()
            for number in newest(at.index, Filter("", ()), 100):
                entry = by_ids(at.index, [number])
                few, all_ = (judge(at, entry.values(), whole=whole) for whole in (False, True))
                by = all_.validity[number].replaced_by
                mine = few.validity[number].replaced_by
                assert (mine is None) == (by is None)
                assert few.entries[few.current(number)].content_key == all_.entries[all_.current(number)].content_key
                if by is not None and mine is not None:
                    assert few.entries[mine].ref == all_.entries[by].ref
                    assert few.validity[number].valid == all_.validity[number].valid

        memory_on(Workspace(root)).run(compare)


def _monthly(root: Path, *lines: str) -> None:
    """A log with one line for each month of the year."""
    write_pages(root, {f"memory/2025-0{month}-01.md": f"- {line}\n" for month, line in enumerate(lines, 1)})


def _current(root: Path, ref: str) -> str:
    """What holds now in the place of a line, as far as the line itself tells."""

    def ask(at: OpenMemory) -> str:
        at.sync_for_write()
        entry = next(e for e in by_ids(at.index, newest(at.index, Filter("", ()), 100)).values() if e.ref == ref)
        verdict = judge(at, [entry], whole=False)
        return verdict.entries[verdict.current(entry.id)].ref

    return memory_on(Workspace(root)).run(ask)


def test_untrusted_lines_hide_nothing(tmp_path: Path) -> None:
    told = [(0, "a", "", ""), *((n, f"b{n}", ", src=tool", "") for n in range(1, 20)), (30, "c", "", "")]
    told += [(n, f"d{n}", ", src=tool", "") for n in range(31, 40)]
    _write(tmp_path, told)

    assert _current(tmp_path, "id0") == "id20"


def test_a_chain_of_replacements_is_followed_to_its_end(tmp_path: Path) -> None:
    _monthly(tmp_path, "W: x ^aa1", "W(supersedes=aa1): y ^aa2", "W(supersedes=aa2): z ^aa3")
    assert _current(tmp_path, "aa1") == "aa3"


SAID = [
    ("Alice", "Lives in Berlin.", "Now lives in Lisbon, in Alfama.", "Lives in Berlin, in Mitte."),
    ("Пётр", "Живёт в Риге.", "Пётр теперь живёт в Лиссабоне.", "Живёт в Риге, на шестом этаже."),
    ("陈立", "住在柏林。", "陈立现在住在里斯本。", "住在柏林，六楼。"),
]


@pytest.mark.parametrize(("name", "old", "new", "again"), SAID)
def test_a_relation_that_the_text_states_is_a_slot(tmp_path: Path, name: str, old: str, new: str, again: str) -> None:
    told = {"2025-10-01": (old, "aa1"), "2025-10-05": (again, "aa2"), "2025-11-01": (new, "aa3")}
    write_pages(tmp_path, {f"memory/{day}.md": f"- W @{name}: {text} ^{ref}\n" for day, (text, ref) in told.items()})
    assert _standing(tmp_path) == {
        "aa1": ("2025-10", "aa3"),
        "aa2": ("2025-10-05..2025-10-31", "aa3"),
        "aa3": ("2025-11-01..", None),
    }


def test_what_has_many_values_closes_nothing(tmp_path: Path) -> None:
    _monthly(tmp_path, *(f"W @Alice: Speaks {tongue}. ^{tongue}" for tongue in ("French", "German", "Dutch")))
    assert all(by is None for _, by in _standing(tmp_path).values())


def test_a_word_of_correction_retracts_and_a_pin_holds(tmp_path: Path) -> None:
    lines = ["W @Alice: Lives in Berlin. ^aa1", "W @Alice: Actually lives in Leipzig. ^aa2"]
    _monthly(tmp_path, *lines, "W(i=1.0) @Bob: Lives in Rome. ^bb1", "W @Bob: Lives in Turin. ^bb2")
    assert _standing(tmp_path) == {
        "aa1": ("2025-01", "aa2"),
        "aa2": ("2025-02-01..", None),
        "bb1": ("2025-03-01..", None),
        "bb2": ("2025-04-01..", None),
    }
    (tmp_path / "memory.md").write_text("# Core\n\n## Retain\n- W @Alice: Lives in Basel. ^aa0\n")
    assert _standing(tmp_path)["aa0"] == ("..", None)  # a line on a root page, written by hand: pinned


def _standing(root: Path) -> dict[str, tuple[str, str | None]]:
    def ask(at: OpenMemory) -> dict[str, tuple[str, str | None]]:
        at.sync_for_write()
        verdict = judge(at, by_ids(at.index, newest(at.index, Filter("", ()), 99)).values())
        replaced = {i: s.replaced_by for i, s in verdict.validity.items()}
        return {
            verdict.entries[i].ref: (str(s.valid), verdict.entries[by].ref if (by := replaced[i]) is not None else None)
            for i, s in verdict.validity.items()
        }

    return memory_on(Workspace(root)).run(ask)
