"""What git knows of the pages of a workspace. Reads the repository, and asks no other machine."""

from __future__ import annotations

import os
import subprocess

from .workspace import Workspace

_QUIET = {"GIT_NO_LAZY_FETCH": "1", "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0"}


def git(workspace: Workspace, *words: str, seconds: float = 10.0) -> bytes | None:
    """What a command of git prints; None without git, outside of a repository, where it fails or takes too long."""
    try:
        done = subprocess.run(
            ["git", "-c", "core.fsmonitor=false", *words], cwd=workspace.root, capture_output=True, stdin=subprocess.DEVNULL,
            timeout=seconds, env=os.environ | _QUIET,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None


def head(workspace: Workspace) -> tuple[str, frozenset[str]]:
    """The commit that is checked out, and the paths of files that it does not hold as they are; ("", none) without one."""
    commit = git(workspace, "rev-parse", "--verify", "HEAD")
    changed = git(workspace, "diff", "--name-only", "--relative", "-z", "HEAD")
    others = git(workspace, "ls-files", "--others", "-z")
    if commit is None or changed is None or others is None:
        return "", frozenset()
    paths = (changed + others).decode("utf-8", "surrogateescape").split("\0")
    return commit.decode("ascii").strip(), frozenset(filter(None, paths))


def is_behind(workspace: Workspace, commit: str) -> bool:
    """True for a commit that is not among those which led to the one that is checked out."""
    return git(workspace, "merge-base", "--is-ancestor", commit, "HEAD") is None
