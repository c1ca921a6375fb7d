"""docs/design-sources.md: every mechanism has a command, and each of them does what it did when the page was written."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from face_helpers import Done, call, fixture_copy

PAGE = (Path(__file__).parents[2] / "docs" / "design-sources.md").read_text("utf-8")
ROWS = [
    re.split(r" (?<!\\)\| ", line.strip("|"))
    for line in PAGE.splitlines()
    if line.startswith("| ") and "| mechanism |" not in line
]
EMPTY = {"memctl recall xylophone", "memctl forget --unused"}


def _done(command: str, root: Path) -> Done:
    """What the last of some commands printed; `echo '…' | memctl …` gives it an input."""
    done = Done(0, "", "")
    for each in command.replace("\\|", "|").split(" && "):
        echo, _, piped = each.rpartition(" | ")
        given = shlex.split(echo)[1] if echo else ""
        done = call(shlex.split(piped)[1:], root, stdin=given)
        assert done.code == 0 or (done.code == 1 and command in EMPTY), (each, done)
    return done


def test_every_row_names_a_command_that_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It ends well and prints what its row says, or nothing where that is the answer; no row is a promise."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    root = fixture_copy(tmp_path)
    assert len(ROWS) > 60 and not re.search(r"\bplanned\b|\bto come\b|\bnot yet\b", PAGE)
    for row in ROWS:
        assert len(row) == 3, row
        ((command, shows),) = re.findall(r"^ ?`([^`]*memctl [^`]+)`(?: shows `([^`]+)`)? ?$", row[2])
        out = _done(command, root).out
        assert shows in out if shows else out.strip() or command in EMPTY, (command, shows, out)
