"""Judging the few versions of a slot that decide gives what judging all of them gives, for any history."""

from __future__ import annotations

import tempfile
from datetime import date, timedelta
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from memctl.store.heal import with_index
from memctl.store.index import Index
from memctl.store.questions import Filter, by_ids, newest
from memctl.store.workspace import Workspace
from memctl.verbs.sync import sync
from memctl.verbs.truth import judge

TODAY = date(2025, 11, 30)
LINES = st.lists(
    st.tuples(
        st.integers(0, 45),
        st.sampled_from(["a", "b", "c"]),
        st.sampled_from(["", "", "", ", src=tool", ", t=2025-10-15..", ", t=2026-02.."]),
        st.sampled_from(["", "", "", ", supersedes=id{}", ", corrects=id{}"]),
    ),
    min_size=1,
    max_size=40,
)


def _write(root: Path, lines: list[tuple[int, str, str, str]]) -> None:
    (root / "memory").mkdir(exist_ok=True)
    days: dict[date, list[str]] = {}
    for number, (day, value, more, link) in enumerate(lines):
        told = f"- W(key=host{more}{link.format(number // 2)}) @Srv: Runs on {value}. ^id{number}\n"
        days.setdefault(date(2025, 10, 1) + timedelta(days=day), []).append(told)
    for day, told in days.items():
        (root / "memory" / f"{day}.md").write_text("## Retain\n\n" + "".join(told), encoding="utf-8")


@given(LINES)
@settings(max_examples=60, deadline=None)
def test_the_few_decide_as_all_do(lines: list[tuple[int, str, str, str]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        _write(root, lines)

        def compare(index: Index) -> None:
            sync(Workspace(root), index)
            for number in newest(index, Filter("", ()), 100):
                entry = by_ids(index, [number])
                few, all_ = (judge(index, entry.values(), TODAY, whole=whole) for whole in (False, True))
                by = all_.standings[number].replaced_by
                mine = few.standings[number].replaced_by
                assert (mine is None) == (by is None)
                assert few.entries[few.current(number)].content_key == all_.entries[all_.current(number)].content_key
                if by is not None and mine is not None:
                    assert few.entries[mine].ref == all_.entries[by].ref
                    assert few.standings[number].valid == all_.standings[number].valid

        with_index(Workspace(root), compare)


def test_untrusted_lines_hide_nothing(tmp_path: Path) -> None:
    told = [(0, "a", "", ""), *((n, f"b{n}", ", src=tool", "") for n in range(1, 20)), (30, "c", "", "")]
    told += [(n, f"d{n}", ", src=tool", "") for n in range(31, 40)]
    _write(tmp_path, told)

    def ask(index: Index) -> str | None:
        sync(Workspace(tmp_path), index)
        entry = next(e for e in by_ids(index, newest(index, Filter("", ()), 100)).values() if e.ref == "id0")
        verdict = judge(index, [entry], TODAY, whole=False)
        return verdict.entries[verdict.current(entry.id)].ref

    assert with_index(Workspace(tmp_path), ask) == "id20"


def test_a_chain_of_replacements_is_followed_to_its_end(tmp_path: Path) -> None:
    (tmp_path / "memory").mkdir()
    for month, line in enumerate(("W: x ^aa1", "W(supersedes=aa1): y ^aa2", "W(supersedes=aa2): z ^aa3"), 1):
        (tmp_path / "memory" / f"2025-0{month}-01.md").write_text(f"## Retain\n- {line}\n")

    def ask(index: Index) -> str:
        sync(Workspace(tmp_path), index)
        entry = next(e for e in by_ids(index, newest(index, Filter("", ()), 9)).values() if e.ref == "aa1")
        verdict = judge(index, [entry], TODAY, whole=False)
        return verdict.entries[verdict.current(entry.id)].ref

    assert with_index(Workspace(tmp_path), ask) == "aa3"
