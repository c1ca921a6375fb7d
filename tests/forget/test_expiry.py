"""What is over leaves recall: by `ttl=` of the line, by `[ttl]` of the settings; and what was recalled lately is not unused."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path

import pytest
from face_helpers import TODAY, call, contents, memory_on, write_pages
from hypothesis import given, strategies as st

from memctl.index.open_memory import recalled_lately
from memctl.index.rows import kept_from, ttl_end
from memctl.memory import Memory

LOG = """
- W(ttl=7d) @Atlas: The kettle is broken
- W(ttl=1y) @Atlas: The kettle is blue
- B(src=agent) @Atlas: Чайник починили в мастерской
- W(src=web:example.com) @Atlas: 水壶 costs nine euros
- W(src=web:example.com, i=0.9) @Atlas: 水壶 is under warranty
- W @Atlas: Чайник стоит на кухне
"""
ALL = [line.partition(": ")[2] for line in LOG.strip().split("\n")]
BROKEN, BLUE, REPAIRED, PRICE, WARRANTY, KITCHEN = ALL


def memory(root: Path, settings: str = "", day: date = TODAY) -> Memory:
    """The lines, told on the first of October, two months before the day."""
    write_pages(root, {"memory/2025-10-01.md": LOG.strip() + "\n", "memctl.toml": settings})
    from memctl.notes.workspace import find_workspace

    return memory_on(find_workspace(str(root), {}, root), day)


@pytest.mark.parametrize(
    ("settings", "gone"),
    [
        ("", {BROKEN}),
        ('[ttl]\nexperience = "30d"\n', {BROKEN, REPAIRED}),
        ('[ttl]\nagent = "1mo"\nweb = "90d"\n', {BROKEN, REPAIRED}),
        ('[ttl]\nweb = "1w"\n', {BROKEN, PRICE}),
        ('[ttl]\nworld = "1mo"\nexperience = "1y"\n', {BROKEN, PRICE, KITCHEN}),
        ('[ttl]\nowner = "59d"\n', {BROKEN, KITCHEN}),
        ('[ttl]\nowner = "60d"\n', {BROKEN}),
    ],
)
def test_what_is_over_is_no_hit(tmp_path: Path, settings: str, gone: set[str]) -> None:
    """A line goes by its own word first; what is pinned stays. `--history` and an earlier day show it; `forget` lists it."""
    opened = memory(tmp_path, settings)
    asked = {text: opened.recall(text, k=20) for text in ALL}
    assert {text for text in ALL if text not in contents(asked[text])} == gone
    assert {text for text in ALL if text not in contents(opened.recall(about=["Atlas"], k=20))} == gone
    for text in gone:
        assert text in contents(opened.recall(text, k=20, history=True))
        assert text in contents(opened.recall(text, k=20, as_of="2025-10-05"))
    planned = opened.forget(expired=True, include_exempt=False)
    assert {ALL[line.citation.line - 3] for line in planned.lines} == gone
    assert not planned.lines or all(line.reason for line in planned.lines)


def test_an_empty_answer_says_so(tmp_path: Path) -> None:
    """That a line was there, and how to see it."""
    memory(tmp_path)
    done = call(["recall", "broken"], tmp_path)
    assert (done.code, done.out) == (1, "") and "is over by its ttl; --history shows it" in done.err
    assert BROKEN in call(["recall", "broken", "--history"], tmp_path).out


@given(st.dates(date(1, 1, 1), date(9999, 12, 31)), st.integers(0, 99_999), st.sampled_from(["h", "d", "w", "mo", "y"]))
def test_the_first_day_that_is_kept(today: date, number: int, unit: str) -> None:
    """The day before it is over on that day, and it is not."""
    ttl = f"{number}{unit}"
    first = kept_from(today, ttl)
    assert ttl_end(first, ttl) >= today
    assert first == date.min or ttl_end(first - timedelta(days=1), ttl) < today


OLD = "- W: The {} is in the shed ^{}\n"
NAMES = ["ladder", "лопата", "铲子"]


def recorded(root: Path, settings: str = "[recall]\nrecord = true\n") -> Memory:
    """Three lines so old that nothing but use keeps them."""
    lines = "".join(OLD.format(name, f"x-{at}") for at, name in enumerate(NAMES))
    write_pages(root, {"memory/2015-10-01.md": lines, "memctl.toml": settings})
    from memctl.notes.workspace import find_workspace

    return memory_on(find_workspace(str(root), {}, root))


def test_what_was_recalled_lately_is_not_unused(tmp_path: Path) -> None:
    """Counted by answers of recall and context; off by default, and then nothing is written."""
    opened = recorded(tmp_path)
    assert [line.ref for line in opened.forget(unused=True).lines] == ["x-0", "x-1", "x-2"]
    for _ in range(2):
        opened.recall("лопата")
    assert recalled_lately(opened) == {"x-1": 2}
    assert [line.ref for line in opened.forget(unused=True).lines] == ["x-0", "x-2"]
    opened.context("where is the 铲子?")
    assert recalled_lately(opened)["x-2"] == 1
    later = memory_on(opened.workspace, TODAY + timedelta(days=91))
    assert not recalled_lately(later)
    off = recorded(tmp_path / "off", "")
    off.recall("ladder")
    assert not recalled_lately(off) and not (off.workspace.memory / "recalled").exists()


def test_the_record_is_bounded_and_nobody_waits_for_it(tmp_path: Path) -> None:
    """Two files of 128 KiB; rubbish in it, or a folder in its place, changes no answer."""
    opened = recorded(tmp_path)
    opened.recall("ladder")
    path = opened.workspace.memory / "recalled"
    path.write_bytes(path.read_bytes() + b"\xff\n\nrubbish\n" + b"2025-11-29 x-2\n" * 9000)
    opened.recall("ladder")
    assert path.with_name("recalled.1").stat().st_size > 128 * 1024 and not path.exists()
    opened.recall("ladder")
    assert recalled_lately(opened) == {"x-0": 3, "x-2": 9000}
    path.unlink()
    path.mkdir()
    assert contents(opened.recall("ladder")) == ["The ladder is in the shed"]
