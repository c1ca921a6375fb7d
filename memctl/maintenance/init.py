"""Init: make a folder a workspace. Never overwrites; run twice, the second changes nothing."""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from ..errors import MemctlError, Usage
from ..notes.edits import GitFailed, ask_git, create
from ..notes.files import prepare_memory, read_page
from ..notes.workspace import PAGES, Workspace
from ..system import as_cannot_write

_SETTINGS = "# Settings of this memctl workspace; every key is optional (docs/settings.md lists them).\n"
_MERGE = "memory/*.md text merge=union"
"""The line of .gitattributes by which the logs of two machines merge, whichever ends of lines an editor writes."""

_GIT = {".gitignore": ".memory/\n", ".gitattributes": f"{_MERGE}\n"}


class InitReport(NamedTuple):
    """A workspace, the paths in it that were made, and what its owner should know."""

    root: Path
    paths: list[str]
    notes: list[str]
    found: bool = False
    """The folder held pages before."""


def init(folder: Path, git: bool = False) -> InitReport:
    """Make what is missing of a workspace in `folder`; nothing is overwritten.

    With `git`, .gitignore keeps `.memory/` out, .gitattributes lets logs of two machines merge line by line, and git
    has these files: in the repository that the folder is in, or in a new one.
    """
    if folder.exists() and not folder.is_dir():
        raise Usage(f"{folder} is a file", "name a folder")
    with as_cannot_write(folder):
        folder.mkdir(parents=True, exist_ok=True)
        workspace = Workspace(folder.resolve())
        found = any(page.path not in PAGES for page in workspace.scan())
        new_log = not (workspace.root / "memory").exists()
        (workspace.root / "memory").mkdir(exist_ok=True)
        (workspace.root / "bank" / "entities").mkdir(parents=True, exist_ok=True)
    made = ["memory/"] if new_log else []
    pages = PAGES | {"memctl.toml": _SETTINGS} | (_GIT if git else {})
    made += [path for path, text in sorted(pages.items()) if create(workspace, path, text)]
    prepare_memory(workspace)
    notes = []
    if git:
        own = [path for path, text in sorted(pages.items()) if _is_own(workspace, path, text)]
        try:
            notes = _committed(workspace.root, own)
        except GitFailed as failed:  # the workspace is whole without
            notes = [f"git: nothing is committed: {failed}; once that is settled, run it again"]
        if _is_unmerged(workspace):
            what = f"without `{_MERGE}`: git will not merge the logs of two machines"
            notes.append(f".gitattributes stays as it is, {what}")
    return InitReport(workspace.root, made, notes, found)


def _is_own(workspace: Workspace, path: str, text: str) -> bool:
    """True for a file that is as `init` makes it, now or an earlier time; any other is its owner's."""
    with suppress(MemctlError):
        return read_page(workspace, path).text == text
    return False


def _is_unmerged(workspace: Workspace) -> bool:
    """True if a .gitattributes that was there before lacks the line by which logs of two machines merge."""
    with suppress(MemctlError):
        for line in read_page(workspace, ".gitattributes").text.splitlines():
            pattern, *attributes = line.split() or [""]
            is_for_logs = pattern.removeprefix("/").startswith("memory/") or pattern in ("*", "*.md", "**/*.md")
            if is_for_logs and "merge=union" in attributes:
                return False
    return True


def _committed(root: Path, own: Sequence[str]) -> list[str]:
    """Commit the files `own` of a folder, in a new repository where it is in none; what was done, if anything was to do."""
    try:
        top = ask_git(root, "rev-parse", "--show-toplevel").strip()
    except GitFailed as failed:
        if "not a git repository" not in str(failed):
            raise
        top = ""
        ask_git(root, "init", "--quiet")
    others = ask_git(root, "ls-files", "--others", "--exclude-standard", "--", *own).splitlines()
    added = ask_git(root, "diff", "--cached", "--name-only", "--diff-filter=A", "--relative", "--", *own).splitlines()
    new = sorted({*others, *added})
    if not new:
        return []
    try:
        ask_git(root, "var", "GIT_COMMITTER_IDENT")
    except GitFailed:
        name = "`git config --global user.name NAME` and `git config --global user.email MAIL`"
        raise GitFailed(f"it does not know you; {name}") from None
    ask_git(root, "add", "--", *new)
    ask_git(root, "commit", "--quiet", "--message", "A workspace of memctl", "--", *new)
    where = f"to {top}" if top else "to a new repository"
    return [f"git: {len(new)} files committed {where}; your own files are left to you"]
