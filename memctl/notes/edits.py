"""Planned changes of pages: what a page held, what it is to hold, the diff between the two, and the one way to write them."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from ..errors import CannotWrite, MemctlError, PageChanged, PageUnreadable
from .files import read_page
from .replace import replace
from .workspace import Workspace


class Edit(NamedTuple):
    """A planned change of a page: its bytes as they were read (None: no such page yet) and its text afterwards.

    Texts are decoded with `surrogateescape`, so that bytes which are not UTF-8 survive. A page that was read and not
    changed is an Edit too; `edit._replace(after=...)` plans a change of it.
    """

    path: str
    before: bytes | None
    after: str

    @property
    def text_before(self) -> str:
        """The text as it was read; empty for a new page."""
        return decoded(self.before)

    @property
    def is_change(self) -> bool:
        """True if the page would hold another text afterwards."""
        return self.after != self.text_before

    def diff(self) -> str:
        """The unified diff of the change; empty without one."""
        return diff(self.path, self.text_before, self.after)


def decoded(data: bytes | None) -> str:
    """The text of a page's bytes, from which each byte can be restored."""
    return (data or b"").decode("utf-8", "surrogateescape")


def encoded(text: str) -> bytes:
    """The bytes of a text that was decoded so."""
    return text.encode("utf-8", "surrogateescape")


def as_indexed(text: str) -> str:
    """A text with replacement characters for bytes that are not UTF-8, as pages are read for the index."""
    return text if text.isascii() else encoded(text).decode("utf-8", "replace")


def read_for_edit(workspace: Workspace, path: str) -> Edit:
    """A page as it is on disk, as an edit that changes nothing; `before` is None where there is no file.

    PageUnreadable or OutsideWorkspace for a page that cannot be read.
    """
    if not (workspace.root / path).exists():
        return Edit(path, None, "")
    data = read_page(workspace, workspace.contain(path)).data
    return Edit(path, data, decoded(data))


@dataclass(slots=True)
class Applied:
    """What became of some edits: the pages that were written, and the error of each page that was not, in order."""

    written: list[str] = field(default_factory=list)
    failed: dict[str, MemctlError] = field(default_factory=dict)
    disk_error: CannotWrite | None = None  # ended the run early: no page after it was tried


def apply(workspace: Workspace, edits: Iterable[Edit], *, stop: bool = True, done: Applied | None = None) -> Applied:
    """Write the changes, page by page, each by swap under the lock of the workspace; edits without a change are skipped.

    A page that is not any more what was read keeps what it holds: PageChanged, where `stop`, before anything after it is
    written; otherwise it is named in `failed` and the other pages are written. Likewise for a page that cannot be
    written. A full or read-only disk ends the run: CannotWrite where `stop`, otherwise `disk_error`. What becomes
    of them is added to `done`, where it is given.
    """
    done = Applied() if done is None else done
    for edit in edits:
        if not edit.is_change or done.disk_error:
            continue
        try:
            replace(workspace, edit.path, edit.before, encoded(edit.after))
            done.written.append(edit.path)
        except (PageChanged, PageUnreadable) as error:
            if stop:
                raise
            done.failed[edit.path] = error
            done.disk_error = error if isinstance(error, CannotWrite) else None
    return done


def diff(path: str, before: str, after: str) -> str:
    """The change of a page as a unified diff that git applies; empty without a change. Every `--dry-run` shows it."""
    from difflib import unified_diff

    old, new = (re.findall(r"[^\n]*\n|[^\n]+", text) for text in (before, after))
    lines = unified_diff(old, new, f"a/{path}" if before else "/dev/null", f"b/{path}")
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


# -- what git knows ---------------------------------------------------------------------------------------------------
# It is asked of the repository alone, never of another machine.

_QUIET = {"LC_ALL": "C", "GIT_NO_LAZY_FETCH": "1", "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0"}


class GitFailed(Exception):
    """What git said, or why it could not be asked."""


def ask_git(root: Path, *words: str, seconds: float = 60.0) -> str:
    """What git prints, as pages are decoded. It asks nothing, and knows no repository but the one that the folder is in."""
    others = ("GIT_DIR", "GIT_WORK", "GIT_INDEX")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(others)}
    try:
        done = subprocess.run(
            ["git", "-c", "core.fsmonitor=false", *words], cwd=root, env=kept | _QUIET, capture_output=True,
            stdin=subprocess.DEVNULL, timeout=seconds,
        )  # fmt: skip
    except FileNotFoundError:
        raise GitFailed("it is not installed") from None
    except (OSError, subprocess.TimeoutExpired) as error:
        raise GitFailed(str(error)) from error
    if done.returncode:
        said = " ".join(done.stderr.decode("utf-8", "replace").split())
        raise GitFailed((said or f"`git {words[0]}` ended with {done.returncode}")[:300])
    return decoded(done.stdout)


def git(workspace: Workspace, *words: str) -> str | None:
    """The same; None without git, outside of a repository, where it fails or takes ten seconds."""
    with suppress(GitFailed):
        return ask_git(workspace.root, *words, seconds=10.0)
    return None


def head(workspace: Workspace) -> tuple[str, frozenset[str]]:
    """The commit that is checked out, and the paths of files that it does not hold as they are; ("", none) without one."""
    commit = git(workspace, "rev-parse", "--verify", "HEAD")
    changed = git(workspace, "diff", "--name-only", "--relative", "-z", "HEAD")
    others = git(workspace, "ls-files", "--others", "-z")
    if commit is None or changed is None or others is None:
        return "", frozenset()
    return commit.strip(), frozenset(filter(None, (changed + others).split("\0")))


def is_behind(workspace: Workspace, commit: str) -> bool:
    """True for a commit that is not among those which led to the one that is checked out."""
    return git(workspace, "merge-base", "--is-ancestor", commit, "HEAD") is None


def sides_of_merge(workspace: Workspace, path: str) -> tuple[str, str] | None:
    """The page as ours and theirs had it, decoded with `surrogateescape`, while git has a conflict in it.

    None if there is none, no git, or only one side has the page.
    """
    ours, theirs = (git(workspace, "cat-file", "blob", f":{stage}:./{path}") for stage in (2, 3))
    return None if ours is None or theirs is None else (ours, theirs)
