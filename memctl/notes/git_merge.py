"""Asks git, where a page is in the middle of a merge, how each side had it."""

from __future__ import annotations

import os
import subprocess

from .workspace import Workspace

__all__ = ["sides_of_merge"]

_SECONDS = 10.0


def sides_of_merge(workspace: Workspace, path: str) -> tuple[str, str] | None:
    """The page as ours and theirs had it, decoded with `surrogateescape`, while git has a conflict in it.

    None if there is none, no git, or only one side has the page. Reads the repository, and asks no other machine.
    """
    found = [_stage(workspace, path, stage) for stage in (2, 3)]
    return (found[0], found[1]) if found[0] is not None and found[1] is not None else None


def _stage(workspace: Workspace, path: str, stage: int) -> str | None:
    words = ["git", "cat-file", "blob", f":{stage}:./{path}"]
    quiet = {"GIT_NO_LAZY_FETCH": "1", "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0"}
    try:
        done = subprocess.run(
            words, cwd=workspace.root, capture_output=True, stdin=subprocess.DEVNULL, timeout=_SECONDS,
            env=os.environ | quiet,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.decode("utf-8", "surrogateescape") if done.returncode == 0 else None
