"""The first minute: `memctl` alone says where one is, `init --git` leaves a repository, with git or without."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from face_helpers import bare_copy, call, snapshot, write_pages
from store_helpers import git

KNOWN = {f"GIT_{who}_{what}": "quill@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
OWN = ["bank/experience.md", "bank/lessons.md", "bank/opinions.md", "bank/world.md", "memctl.toml", "memory.md"]


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Git knows nobody, and no repository above the folder of the test."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", "/dev/null")
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    for name in KNOWN:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delenv("EMAIL", raising=False)


def test_alone_without_a_workspace(tmp_path: Path) -> None:
    """How to make one, exit 0."""
    done = call([], tmp_path)
    assert done.code == 0 and "no workspace" in done.out and "memctl init" in done.out
    assert len(done.out.splitlines()) <= 10
    assert "no folder at" in call([], tmp_path, MEMCTL_WORKSPACE=str(tmp_path / "lost")).out


def test_alone_in_a_workspace(tmp_path: Path) -> None:
    """Pages, facts and whether the index is fresh; it makes and changes nothing."""
    root = bare_copy(tmp_path)
    done = call([], root)
    assert done.code == 0 and "63 pages\n" in done.out and "not made yet" in done.out
    assert len(done.out.splitlines()) <= 10
    assert not (root / ".memory").exists()
    call(["index"], root)
    assert "63 pages, 146 facts" in call([], root).out and "fresh" in call([], root).out
    (root / "bank" / "new.md").write_text("A new page.\n")
    before = (root / ".memory" / "index.sqlite").read_bytes()
    assert "64 pages" in (told := call([], root).out) and "1 page changed since" in told
    assert (root / ".memory" / "index.sqlite").read_bytes() == before


def test_alone_after_undo(tmp_path: Path) -> None:
    """What was taken back is not counted any more; there is nothing left to undo, and git is not named where there is none."""
    root = write_pages(tmp_path / "ws", {"memory.md": "# Core\n"}).root
    call(["retain", "Чай 茶 tea"], root)
    assert "1 fact" in call([], root).out
    assert call(["undo"], root).code == 0
    assert "0 facts" in (told := call([], root).out) and "fresh" in told
    again = call(["undo"], root)
    assert again.code == 1 and "nothing to undo" in again.err and "git" not in again.err


def test_alone_with_settings_that_cannot_be_followed(tmp_path: Path) -> None:
    """It still answers, and says which line to correct."""
    (tmp_path / "memctl.toml").write_text("colour = true\n")
    done = call([], tmp_path)
    assert done.code == 0 and "unknown key 'colour'" in done.out


def test_a_new_repository_holds_what_init_made_and_nothing_else(tmp_path: Path) -> None:
    """The owner's notes stay untracked; run again, nothing is committed."""
    (tmp_path / "mine.md").write_text("Mine.\n")
    (tmp_path / "memory.md").write_text("Mine too.\n")
    done = call(["init", "--git"], tmp_path, **KNOWN)
    assert done.code == 0 and "7 files committed to a new repository" in done.err
    assert [line.split()[1] for line in done.err.splitlines()[-3:]] == ["recall", "retain", "connect"]
    held = sorted([".gitattributes", ".gitignore", *OWN[:-1]])
    assert git(tmp_path, "ls-tree", "-r", "--name-only", "HEAD").splitlines() == held
    before = snapshot(tmp_path)
    again = call(["init", "--git"], tmp_path, **KNOWN)
    assert again.code == 0 and "nothing changed" in again.err and "git:" not in again.err
    assert snapshot(tmp_path) == before


def test_in_a_repository_what_is_staged_stays_staged(tmp_path: Path) -> None:
    """A folder inside of somebody's repository gets no repository of its own."""
    git(tmp_path, "init", "--quiet")
    (tmp_path / "code.py").write_text("pass\n")
    git(tmp_path, "add", "code.py")
    call(["init", "notes"], tmp_path)
    of_a_hook = {"GIT_DIR": "elsewhere", "GIT_WORK_TREE": "elsewhere", "GIT_INDEX_FILE": str(tmp_path / "no/index")}
    done = call(["init", "notes", "--git"], tmp_path, **KNOWN, **of_a_hook)
    assert "8 files committed to" in done.err and not (tmp_path / "notes" / ".git").exists()
    assert git(tmp_path, "status", "--porcelain") == "A  code.py\n"


def test_without_git_or_a_name_the_workspace_is_whole(tmp_path: Path) -> None:
    """What keeps git from it is a line, and no failure; with a name the next call commits."""
    (tmp_path / "bin").mkdir()
    done = call(["init", "bare", "--git"], tmp_path, PATH=str(tmp_path / "bin"))
    assert done.code == 0 and "git: nothing is committed: it is not installed" in done.err
    unknown = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "user.useConfigOnly", "GIT_CONFIG_VALUE_0": "true"}
    done = call(["init", "notes", "--git"], tmp_path, **unknown)
    assert done.code == 0 and "it does not know you" in done.err and (tmp_path / "notes" / "memory.md").exists()
    assert "8 files committed" in call(["init", "notes", "--git"], tmp_path, **KNOWN).err


def test_a_git_that_fails_is_told_in_its_own_words(tmp_path: Path) -> None:
    """A hook that refuses, a repository that cannot be read."""
    assert shutil.which("git")
    git(tmp_path, "init", "--quiet")
    hook = tmp_path / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho 'not on a Sunday' >&2\nexit 1\n")
    hook.chmod(0o755)
    done = call(["init", "--git"], tmp_path, **KNOWN)
    assert done.code == 0 and "git: nothing is committed: not on a Sunday" in done.err
