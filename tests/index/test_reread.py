"""index/reread.py: a cited line is read again where it stands now."""

from __future__ import annotations

from pathlib import Path

import pytest
from store_helpers import make_workspace, synced

from memctl.index.heal import with_index
from memctl.index.queries.entries import own_lines
from memctl.index.reread import reread

PAGE = "bank/notes.md"
LINE = "Пётр keeps the keys, 爱丽丝 the codes."


@pytest.mark.parametrize(
    ("copies", "expected"), [((1,), 3), ((3, 9), 7), ((1, 8), 3), ((0, 3, 10), 7), ((2, 4), 5), ((), None)]
)
def test_a_line_that_moved_is_found_at_its_nearest_copy(
    tmp_path: Path, copies: tuple[int, ...], expected: int | None
) -> None:
    """It stood on line 5; copies stand elsewhere now, and other lines where it was. Without a copy it is gone."""
    workspace = make_workspace(tmp_path, {PAGE: f"One.\n\nTwo.\n\n{LINE}\n"})
    synced(workspace)
    paragraphs = [f"Other {n}." for n in range(12)]
    for number in copies:
        paragraphs[number] = LINE
    (tmp_path / PAGE).write_text("\n\n".join(paragraphs) + "\n", "utf-8")

    def job(index):
        (entry,) = (e for e in own_lines(index, PAGE) if e.line == 5)
        return reread(workspace, [entry]).get(entry.id)

    seen = with_index(workspace, job)
    assert (seen and (seen.line, seen.raw)) == (expected and (expected, (LINE,)))
