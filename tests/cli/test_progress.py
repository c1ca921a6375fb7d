"""How far long work is, by a clock of the test's own; and what an interrupted command leaves."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from face_helpers import Done, call, fixture_copy, recent_copy, snapshot, write_pages

from memctl.cli.output import Output
from memctl.cli.terminal import Bar, time_left
from memctl.index import sync
from memctl.memory import Memory


class Screen:
    """What a bar drew, and a clock that goes when it is told to."""

    def __init__(self) -> None:
        self.now, self.drawn = 100.0, [("", "")]
        self.bar = Bar("indexing", self._draw, lambda: self.now)

    def _draw(self, what: str, done: int, total: int, told: str) -> None:
        self.drawn.append((what, told))

    def at(self, seconds: float, done: int, total: int, what: str = "") -> tuple[str, str]:
        """What stands there after the work tells, so many seconds after the last time; empty if nothing was drawn."""
        self.now += seconds
        self.drawn.append(("", ""))
        self.bar.update(done, total, what)
        return self.drawn[-1]


def test_nothing_is_shown_of_short_work() -> None:
    """Half a second is no time; then it is shown, and gone when all is done."""
    screen = Screen()
    assert [screen.at(0.1, done, 100) for done in (0, 10, 20, 30)] == [("", "")] * 4
    assert screen.at(0.2, 40, 100) == ("indexing", "40 of 100")
    assert screen.at(5, 100, 100) == ("", "")


def test_no_time_is_told_before_one_was_measured() -> None:
    """Neither before the first page, nor within a second of it; what came before the first page is no measure."""
    screen = Screen()
    assert screen.at(30, 0, 1000)[1] == "0 of 1,000" == screen.at(30, 0, 1000)[1]
    assert screen.at(30, 1, 1000)[1] == "1 of 1,000" == screen.at(10, 1, 1000)[1]
    assert Screen().at(60, 1, 1000)[1] == "1 of 1,000"
    screen = Screen()
    assert screen.at(1, 10, 1000)[1] == "10 of 1,000"
    assert screen.at(0.5, 20, 1000)[1] == "20 of 1,000"
    assert screen.at(0.5, 30, 1000)[1] == "30 of 1,000 · about 50 s left"


def test_the_time_is_that_of_the_newest_rate() -> None:
    """Work that became slower is told as slow, within seconds."""
    screen = Screen()
    for done in range(1, 11):
        screen.at(1, done * 10, 1000)
    assert screen.drawn[-1][1].endswith("about 90 s left") or screen.drawn[-1][1].endswith("about 2 min left")
    for done in range(1, 20):
        told = screen.at(2, 100 + done, 1000)[1]
    assert told == "119 of 1,000 · about 29 min left"


@pytest.mark.parametrize(
    ("what", "columns", "width"),
    [("indexing", 40, 10), ("indexing", 60, 10), ("indexing", 80, 28), ("embedding (words are ready)", 80, 10), ("indexing", 160, 40)],
)  # fmt: skip
def test_a_bar_keeps_its_width_and_leaves_room(
    what: str, columns: int, width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whatever is told beside it; a terminal puts ^C behind it, which in the next line would leave the bar standing there."""
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("FORCE_COLOR", "1")
    bar = Bar(what, clock=map(float, range(0, 1_000, 10)).__next__)
    bar.update(1, 5434)
    bar.update(84, 5434)
    bar.close()
    drawn = re.split("[\r\n]", re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", capsys.readouterr().err))
    assert {len(re.findall("[━╺╸]", line)) for line in drawn} - {0} == {width}
    assert max(map(len, drawn)) <= columns - 2 or columns < 80


def test_each_part_of_the_work_has_its_own_measure() -> None:
    """Indexing is done, reflecting begins: the rate of one says nothing of the other, and no bar stays full."""
    screen = Screen()
    screen.at(1, 1, 100, "indexing")
    assert screen.at(2, 50, 100, "indexing")[1] == "50 of 100 · a few seconds left"
    assert screen.at(1, 100, 100, "indexing") == ("", "")
    assert screen.at(1, 1, 10) == ("indexing", "1 of 10")
    assert screen.at(1, 0, 0, "merging") == ("merging", "")
    screen.bar.close()
    screen.drawn.clear()
    screen.bar.show()
    assert screen.drawn == []


def test_what_tells_nothing_is_shown_too() -> None:
    """Between two parts of long work, half a second after the first: a line without a measure. Where answers may come, none."""
    for stays in (True, False):
        screen = Screen()
        screen.bar.stays = stays
        assert screen.at(2, 10, 100) == ("indexing", "10 of 100")
        assert screen.at(2, 100, 100) == ("", "")
        screen.now += 0.6
        screen.bar.show()
        assert screen.drawn[-1] == (("indexing", "") if stays else ("", ""))
        assert screen.at(1, 5, 10, "writing")[0] == "writing"
        screen.bar.close()
        screen.drawn.append(("", ""))
        screen.bar.show()
        assert screen.drawn[-1] == ("", "")


def test_what_was_closed_stays_no_longer() -> None:
    """A review that waits for a key shows no bar, though the index was brought up to date once more after it looked."""
    screen = Screen()
    screen.bar.stays = True
    screen.bar.update(0, 0)
    screen.bar.close()
    assert [screen.at(1, done, 1) for done in (0, 1)] == [("indexing", "0 of 1"), ("", "")]
    screen.now += 5
    screen.bar.show()
    assert screen.drawn[-1] == ("", "")


def test_times_are_no_finer_than_they_are_known() -> None:
    """Seconds by fives, minutes, hours."""
    told = [time_left(seconds) for seconds in (0.2, 7, 62, 100, 1000, 5000, 20_000)]
    assert told == [
        "a few seconds left", "about 5 s left", "about 60 s left", "about 2 min left", "about 17 min left", "about 83 min left", "about 6 h left",
    ]  # fmt: skip


class Interrupting:
    """In place of a bar: Ctrl-C when the work has told of itself so often."""

    def __init__(self, after: int) -> None:
        self.left, self.told = after, 0

    def update(self, done: int, total: int, what: str = "") -> None:
        """Count."""
        self.told += 1
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt

    def close(self) -> None:
        """Nothing is shown."""


def interrupted(words: list[str], root: Path, after: int, monkeypatch: pytest.MonkeyPatch) -> tuple[Done, int]:
    """A call that is interrupted when the work tells of itself the n-th time, and how often it did."""
    bar = Interrupting(after)
    with monkeypatch.context() as patch:
        patch.setattr(Output, "bar", lambda self, what: bar)
        return call(words, root), bar.told


def _vault(folder: Path) -> str:
    write_pages(folder, {f"note{number}.md": f"# Note {number}\n\nText {number}.\n" for number in range(9)})
    return str(folder)


def _chat(path: Path) -> str:
    said = [f"We decided to use tool{number} for @Atlas because it is fast." for number in range(40)]
    path.write_text("".join(f'{{"role": "user", "content": "{text}"}}\n' for text in said), "utf-8")
    return str(path)


COMMANDS: dict[str, Any] = {
    "index": lambda other: ["index", "--rebuild"],
    "reflect": lambda other: ["reflect", "--since", "150d"],
    "import": lambda other: ["import", _vault(other / "vault"), "--from", "obsidian", "--all"],
    "ingest": lambda other: ["ingest", _chat(other / "chat.jsonl"), "--apply"],
    "export": lambda other: ["export", "-o", str(other / "out.jsonl")],
}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if name == "reflect" else ()) for name in COMMANDS]
)
def test_interrupted_and_run_again(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exit code 130, one line about what is kept, no traceback; run again, it comes to what one run would have made."""
    monkeypatch.setattr(sync, "BATCH_SECONDS", -1.0)  # it tells of each page, whatever the clock says
    words, out = COMMANDS[name](tmp_path), tmp_path / "out.jsonl"
    whole = recent_copy(tmp_path / "whole")
    done, times = interrupted(words, whole, 0, monkeypatch)
    assert done.code == 0 and times > 1
    made = out.read_text("utf-8") if out.exists() else ""
    for after in sorted({1, times // 2, times}):
        out.unlink(missing_ok=True)
        root = recent_copy(tmp_path / str(after))
        done, _ = interrupted(words, root, after, monkeypatch)
        assert done.code == 130 and not out.exists() and (done.out == "" or name == "index")
        assert done.err.startswith("stopped") and done.err.count("\n") == 1
        assert call(words, root).code in (0, 1)
        assert _pages(root) == _pages(whole)
        assert not made or out.read_text("utf-8") == made
        assert call(["index", "--verify"], root).code == 0


def _pages(root: Path) -> dict[str, object]:
    return {path: text for path, text in snapshot(root).items() if not str(path).startswith(".memory")}


def test_an_interrupted_command_left_nothing_half_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where it is no long work."""

    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Memory, "status", stop)
    assert call(["status"], fixture_copy(tmp_path)) == Done(130, "", "stopped: no page is half written\n")
