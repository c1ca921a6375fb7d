"""notes/edits.py and resolve_conflict: a real `git merge` of what memctl wrote on two machines."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from store_helpers import git, make_workspace

from memctl.markdown.blocks import edited, resolve_conflict, splice
from memctl.notes.edits import sides_of_merge
from memctl.notes.workspace import Workspace

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")

PAGE = "bank/entities/Пётр.md"
TWENTY = "\n".join(f"- line {number}" for number in range(20))


def merge(root: Path, base: bytes, ours: bytes, theirs: bytes, style: str = "merge") -> Workspace:
    """A repository in which two branches changed the page and were merged."""
    workspace = make_workspace(root, {})
    page = root / PAGE
    page.parent.mkdir(parents=True)
    git(root, "init", "-q", "-b", "main")
    for branch, data in (("main", base), ("theirs", theirs), ("main", ours)):
        git(root, "checkout", "-q", *(["-b"] if branch == "theirs" else []), branch, ok=False)
        page.write_bytes(data)
        git(root, "add", "-A")
        git(root, "commit", "-q", "--allow-empty", "-m", branch)
    git(root, "-c", f"merge.conflictStyle={style}", "merge", "-q", "theirs", ok=False)
    return workspace


def page_with(body: str, mine: str = "Mine.") -> bytes:
    return splice(f"# Пётр\n\n{mine}\n\udcff\n", "summary", body).encode("utf-8", "surrogateescape")


def read(workspace: Workspace) -> str:
    return (workspace.root / PAGE).read_bytes().decode("utf-8", "surrogateescape")


@pytest.mark.parametrize("style", ["merge", "diff3"])
@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (f"- ours\n{TWENTY}", f"{TWENTY}\n- theirs"),  # git merges the lines, and leaves the hashes as a conflict
        (f"- ours\n{TWENTY}", f"- theirs\n{TWENTY}"),
        ("- ours", "- theirs"),
    ],
)
def test_blocks_that_two_machines_wrote_are_no_work_for_a_person(
    tmp_path: Path, style: str, ours: str, theirs: str
) -> None:
    workspace = merge(tmp_path, page_with(TWENTY), page_with(ours), page_with(theirs, "Mine, and theirs."), style)
    text = read(workspace)
    assert "<<<<<<<" in text
    done = resolve_conflict(text, sides_of_merge(workspace, PAGE))
    assert done == page_with(ours, "Mine, and theirs.").decode("utf-8", "surrogateescape")
    # Where only the hashes conflict, a merged line might be a person's: without the sides it is not ours to choose.
    assert resolve_conflict(text) == (text if theirs == f"{TWENTY}\n- theirs" else done)
    assert not edited(done, "summary")


def test_a_line_that_a_person_put_into_a_block_stays_a_conflict(tmp_path: Path) -> None:
    by_hand = page_with(f"{TWENTY}\n- theirs").replace(b"line 9", b"line nine")
    workspace = merge(tmp_path, page_with(TWENTY), page_with(f"- ours\n{TWENTY}"), by_hand)
    text = read(workspace)
    assert "<<<<<<<" in text
    assert resolve_conflict(text, sides_of_merge(workspace, PAGE)) == text


def test_outside_a_merge_there_are_no_sides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = make_workspace(tmp_path, {PAGE: "a\n"})
    assert sides_of_merge(workspace, PAGE) is None
    merge(tmp_path / "w", b"a\n", b"a\nb\n", b"a\n")
    assert sides_of_merge(Workspace(tmp_path / "w"), PAGE) is None
    monkeypatch.setenv("PATH", "")
    assert sides_of_merge(workspace, PAGE) is None


def test_a_page_that_one_side_deleted_has_no_sides(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path, {PAGE: "a\n"})
    git(tmp_path, "init", "-q", "-b", "main")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-q", "-m", "a")
    git(tmp_path, "checkout", "-q", "-b", "theirs")
    (tmp_path / PAGE).unlink()
    git(tmp_path, "commit", "-q", "-am", "gone")
    git(tmp_path, "checkout", "-q", "main")
    (tmp_path / PAGE).write_text("b\n")
    git(tmp_path, "commit", "-q", "-am", "b")
    assert "CONFLICT" in git(tmp_path, "merge", "theirs", ok=False)
    assert sides_of_merge(workspace, PAGE) is None
