"""docs/design-sources.md: every mechanism has a command, and each of them does what it did when the page was written."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from face_helpers import call, fixture_copy

PAGE = (Path(__file__).parents[2] / "docs" / "design-sources.md").read_text("utf-8")
ROWS = [
    line.strip("|").split(" | ") for line in PAGE.splitlines() if line.startswith("| ") and "| mechanism |" not in line
]
EMPTY = {"memctl recall xylophone", "memctl forget --unused"}


def test_every_row_names_a_command_that_runs(tmp_path: Path) -> None:
    """It ends well, and says something but where nothing is the answer; no row is a promise."""
    root = fixture_copy(tmp_path)
    assert len(ROWS) > 60 and not re.search(r"\bplanned\b|\bto come\b|\bnot yet\b", PAGE)
    for row in ROWS:
        assert len(row) == 3, row
        (command,) = re.findall(r"`(memctl .+)`\s*$", row[2])
        done = call(shlex.split(command)[1:], root)
        assert done.code == 0 or (done.code == 1 and command in EMPTY), (command, done)
        assert done.out.strip() or command in EMPTY, command
