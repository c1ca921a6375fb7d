"""The repository of `init --git`: memctl's own files are committed, and nothing else of the folder is touched."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

_SECONDS = 60.0  # a hook or a key of the owner's may take its time
_LATER = "once that is settled, run it again"


class _GitFailed(Exception):
    """What git said, or why it could not be asked."""


def commit_own(root: Path, own: Sequence[str]) -> str:
    """Commit the files `own` of a folder, in a new repository where it is in none; what was done, in a line.

    Empty where git has them all. What keeps git from it is said and is no error: the workspace is whole without.
    """
    try:
        return _committed(root, own)
    except _GitFailed as failed:
        return f"git: nothing is committed: {failed}"


def _committed(root: Path, own: Sequence[str]) -> str:
    try:
        top = _git(root, "rev-parse", "--show-toplevel")
    except _GitFailed as failed:
        if "not a git repository" not in str(failed):
            raise
        top = ""
        _git(root, "init", "--quiet")
    others = _git(root, "ls-files", "--others", "--exclude-standard", "--", *own).splitlines()
    added = _git(root, "diff", "--cached", "--name-only", "--diff-filter=A", "--relative", "--", *own).splitlines()
    new = sorted({*others, *added})
    if not new:
        return ""
    try:
        _git(root, "var", "GIT_COMMITTER_IDENT")
    except _GitFailed:
        name = "`git config --global user.name NAME` and `git config --global user.email MAIL`"
        raise _GitFailed(f"it does not know you; {name}, then run this again") from None
    _git(root, "add", "--", *new)
    _git(root, "commit", "--quiet", "--message", "A workspace of memctl", "--", *new)
    where = f"to {top}" if top else "to a new repository"
    return f"git: {len(new)} files committed {where}; your own files are left to you"


def _git(root: Path, *words: str) -> str:
    """What git prints. It asks nothing, and knows no repository but the one that the folder is in."""
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("GIT_DIR", "GIT_WORK", "GIT_INDEX"))
    }
    try:
        done = subprocess.run(
            ["git", *words], cwd=root, env=kept | {"LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0"}, capture_output=True,
            stdin=subprocess.DEVNULL, timeout=_SECONDS, encoding="utf-8", errors="replace",
        )  # fmt: skip
    except FileNotFoundError:
        raise _GitFailed(f"it is not installed; {_LATER}") from None
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _GitFailed(f"{error}; {_LATER}") from error
    if done.returncode:
        said = " ".join(done.stderr.split()) or f"`git {words[0]}` ended with {done.returncode}"
        raise _GitFailed(f"{said[:300]}; {_LATER}")
    return done.stdout.strip()
