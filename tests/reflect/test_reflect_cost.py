"""What makes a night cheap changes nothing: rows from lines that are known already, an index that is fresh at its end."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import patch

from face_helpers import TODAY, fixture_copy, memory_on, write_pages

from memctl.index import sync as sync_module
from memctl.index.heal import with_index
from memctl.index.queries.beliefs import terms_held
from memctl.index.rows import rows_of
from memctl.index.sync import sync, verify
from memctl.notes.workspace import Workspace
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


def test_terms_that_are_held_give_equal_rows() -> None:
    rows = rows_of(PATH, PAGE)
    held = {(row.role, row.digest): row.own for row in rows.rows}
    changed = PAGE.replace("### Ann", "### Ann\n\n- a new line", 1).replace("- W", "- B", 1)
    for text in (PAGE, changed):
        with patch("memctl.index.rows.terms", side_effect=AssertionError) if text is PAGE else patch.dict({}):
            made = rows_of(PATH, text, held)
        assert made == rows_of(PATH, text)


def test_a_large_page_that_changed_is_read_with_what_the_index_holds(tmp_path: Path) -> None:
    workspace = write_pages(tmp_path / "notes", {PATH: PAGE})
    with_index(workspace, lambda index: sync(workspace, index))
    held = with_index(workspace, lambda index: terms_held(index, PATH))
    assert held == {(row.role, row.digest): row.own for row in rows_of(PATH, PAGE).rows}
    (workspace.root / PATH).write_text(PAGE.replace("### Ann\n", "### Ann\n\n- a new line\n", 1), "utf-8")
    with (
        patch.object(sync_module, "_LARGE_PAGE", 1),
        patch("memctl.index.rows.terms", side_effect=lambda _: ["new"]) as made,
    ):
        with_index(workspace, lambda index: sync(workspace, index))
    assert made.call_count == 1
    (workspace.root / PATH).write_text(PAGE.replace("### Ann\n", "### Ann\n\n- an old line\n", 1), "utf-8")
    with patch.object(sync_module, "_LARGE_PAGE", 1):
        with_index(workspace, lambda index: sync(workspace, index))
    assert not verify(workspace).differences


def test_reflect_leaves_a_fresh_index(tmp_path: Path) -> None:
    """Also where it took every round, since pages came into being whose lines others cite."""
    workspace = Workspace(fixture_copy(tmp_path))
    for page in (workspace.root / "bank").rglob("*.md"):
        page.unlink()
    assert reflect(memory_on(workspace, TODAY)).changed
    assert not with_index(workspace, lambda index: sync(workspace, index)).changed
