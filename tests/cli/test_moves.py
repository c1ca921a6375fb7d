"""Everyday moves: open, undo, log, the picker."""

from __future__ import annotations

from pathlib import Path

import pytest
from face_helpers import call, fixture_copy

from memctl.cli.editor import editor_command


@pytest.mark.parametrize(
    ("editor", "words"),
    [
        ("vim", ["vim", "+7", "/n o/a.md"]),
        ("/usr/bin/nvim -p", ["/usr/bin/nvim", "-p", "+7", "/n o/a.md"]),
        ("emacsclient -nw", ["emacsclient", "-nw", "+7", "/n o/a.md"]),
        ("code --wait", ["code", "--wait", "--goto", "/n o/a.md:7"]),
        ("hx", ["hx", "/n o/a.md:7"]),
        ("pycharm", ["pycharm", "--line", "7", "/n o/a.md"]),
        ("Notepad++.exe", ["Notepad++.exe", "-n7", "/n o/a.md"]),
        ("strange", ["strange", "/n o/a.md"]),
        ("strange --at={line} {path}", ["strange", "--at=7", "/n o/a.md"]),
    ],
)
def test_an_editor_is_told_the_line(editor: str, words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Each in its own way, and a path with a space stays one word."""
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", editor)
    assert editor_command(Path("/n o/a.md"), 7) == words


def test_an_id_opens_where_its_line_moved(tmp_path: Path) -> None:
    """The line of an id is looked up, not remembered."""
    root = fixture_copy(tmp_path)
    place, ref = call(["retain", "The kettle is blue"], root).out.split()
    path, line = place.split("#L")
    page = root / path
    page.write_text("one more line\n" + page.read_text("utf-8"), "utf-8")
    assert call(["open", "--print", ref], root).out == f"{page}:{int(line) + 1}\n"


@pytest.mark.parametrize("editor", ["'", "", "/no/such/thing"])
def test_no_editor_is_two_lines_and_the_place(editor: str, tmp_path: Path) -> None:
    """What happened, what to do, exit code 2; the place is on stdout."""
    root = fixture_copy(tmp_path)
    done = call(["open", "Alice"], root, EDITOR=editor, VISUAL="", PATH="")
    assert (done.code, done.out) == (2, f"{root}/bank/entities/Alice.md:1\n")
    assert len(done.err.splitlines()) == 2 and "export EDITOR" in done.err
