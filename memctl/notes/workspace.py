"""Where things are: finds the workspace, contains every path in it, reads its settings, lists its pages."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from operator import itemgetter
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from ..errors import NoWorkspace, OutsideWorkspace, PageUnreadable
from .settings import SETTINGS, Settings, read_settings

CORE_PAGE = "memory.md"  # the page that every context begins with
PAGES = {
    CORE_PAGE: "# Memory\n\nWhat is always true and always needed. Keep it to one screen; it is in every context.\n",
    "bank/world.md": "# World\n\nObjective facts that last.\n",
    "bank/experience.md": "# Experience\n\nWhat was done, and what came of it.\n",
    "bank/opinions.md": "# Opinions\n\nBeliefs with their confidence and dated evidence.\n",
    "bank/lessons.md": "# Lessons\n\nWhat worked, what failed, how often.\n",
}
"""The pages that `init` makes, whole."""

# The sentence of each: no answer to anything.
TEMPLATES = frozenset(text.rstrip().rpartition("\n")[2] for text in PAGES.values())
SIGNS = (SETTINGS, ".memory", "memory")
SKIPPED = frozenset({"node_modules", "__pycache__", "venv"})  # folders that never hold pages, beside hidden ones


class PageFile(NamedTuple):
    """A page on disk. `status` is None, and `problem` says why, where it cannot be a page."""

    path: str
    status: os.stat_result | None
    problem: str | None = None


class Workspace(NamedTuple):
    """A folder of Markdown; with `hides` a public view of it, which may append to a page, and changes none."""

    root: Path  # absolute and free of symbolic links
    settings: Settings = Settings()
    hides: frozenset[str] | None = None  # ids of private lines: pages are read without what cites them; pages left out
    command: str | None = None  # the call of the command line whose writes `undo` may take back

    @property
    def memory(self) -> Path:
        """The derived folder, `.memory`."""
        return self.root / ".memory"

    @property
    def whole(self) -> Workspace:
        """The same as its owner sees it."""
        return self._replace(hides=None) if self.hides is not None else self

    @property
    def derived(self) -> Path:
        """Where what is made of these pages stands: index and vectors. A view that hides nothing has the owner's."""
        return self.memory / "public" if self.hides else self.memory

    def without_model(self) -> Workspace:
        """The same folder for one call by words only."""
        return self._replace(settings=self.settings._replace(model="none"))

    def contain(self, path: str) -> str:
        """`path` as a workspace path (forward slashes); OutsideWorkspace if it leads out, PageUnreadable if unusable."""
        if not _is_spellable(path):
            shown = path.replace("\0", "\\0")[:80]
            raise PageUnreadable(shown, "not a path", "name a page by its path in the workspace")
        plain = Path(path)
        inside = os.path.relpath(plain, self.root) if plain.is_absolute() else os.path.normpath(plain)
        parts = Path(inside).parts
        if ".." in parts or Path(inside).is_absolute():
            raise OutsideWorkspace(path)
        if any(self._is_link(PurePosixPath(*parts[:depth])) for depth in range(1, len(parts) + 1)):
            raise OutsideWorkspace(path, "goes through a symbolic link")
        return PurePosixPath(*parts).as_posix()

    def _is_link(self, path: PurePosixPath) -> bool:
        try:
            return (self.root / path).is_symlink()
        except OSError as error:  # a name of 300 bytes, a folder that may not be searched
            raise PageUnreadable(str(path)[:80], error.strerror or str(error)) from error

    def scan(self) -> list[PageFile]:
        """Every Markdown file, sorted by path: not hidden, not ignored, not in a workspace of its own inside this one."""
        found: list[PageFile] = []
        folders = [""]
        while folders:  # a loop: a tree may be deeper than Python's stack
            found += self._list(folders.pop(), folders)
        # Two names that are not UTF-8 may be spelled alike; one line about them is enough.
        return list({page.path: page for page in sorted(found, key=itemgetter(0))}.values())

    def is_page(self, path: str) -> bool:
        """True for a contained path that `scan` may list: no hidden file, nothing ignored, Markdown."""
        parts = PurePosixPath(path).parts
        above = ["/".join(parts[:depth]) for depth in range(1, len(parts) + 1)]
        return (
            path.lower().endswith((".md", ".markdown"))
            and not any(part.startswith(".") or part in SKIPPED for part in parts)
            and not any(self._ignored(each) for each in above)
            and not any(_is_workspace(self.root / folder) for folder in above[:-1])
        )

    def _list(self, prefix: str, folders: list[str]) -> Iterator[PageFile]:
        """The pages of one folder; folders in it that are to be listed too are added to `folders`."""
        try:
            with os.scandir(self.root / prefix) as entries:
                for entry in entries:
                    path = prefix + entry.name
                    if entry.name.startswith(".") or ((self.settings.ignore or self.hides) and self._ignored(path)):
                        continue
                    if entry.is_dir(follow_symlinks=False):
                        if entry.name not in SKIPPED and not _is_workspace(self.root / path):
                            folders.append(f"{path}/")
                    elif entry.name.lower().endswith((".md", ".markdown")):
                        yield _page(path, entry)
                    elif entry.is_symlink() and os.path.isdir(entry):  # False for a link to itself; is_dir() raises
                        yield PageFile(_spelled(path), None, "symbolic link to a folder, not followed")
        except OSError as error:
            yield PageFile(_spelled(prefix.rstrip("/")) or ".", None, f"folder cannot be listed: {error.strerror}")

    def _ignored(self, path: str) -> bool:
        return path in (self.hides or ()) or any(ignores(glob, path) for glob in self.settings.ignore)


def ignores(glob: str, path: str) -> bool:
    """True where a glob of `ignore` leaves out a path, of a page or a folder."""
    return fnmatchcase(path, glob) or fnmatchcase(f"{path}/", glob)


def _page(path: str, entry: os.DirEntry[str]) -> PageFile:
    if not path.isascii() and _spelled(path) != path:
        return PageFile(_spelled(path), None, "file name is not UTF-8")
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError as error:
        return PageFile(path, None, f"cannot be looked at: {error.strerror}")
    if stat.S_ISREG(status.st_mode):
        return PageFile(path, status)
    link = stat.S_ISLNK(status.st_mode)
    return PageFile(path, None, "symbolic link, not followed" if link else "not a regular file")


def _spelled(path: str) -> str:
    """A path as text; bytes of a name that are not UTF-8 are written out."""
    return path if path.isascii() else os.fsencode(path).decode("utf-8", "backslashreplace")


def _is_spellable(path: str) -> bool:
    try:
        return "\0" not in path and len(os.fsencode(path)) <= 4096
    except UnicodeEncodeError:
        return False


def _is_workspace(folder: Path) -> bool:
    """True for a folder with settings of its own. Its derived folder is no sign: a recall in there must change nothing here."""
    return os.path.exists(folder / SETTINGS)


def current_folder() -> Path:
    """The folder in which the program stands; one that was removed meanwhile has nothing in it and nothing above."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        return Path()


def find_root(named: str | None, environ: Mapping[str, str], here: Path) -> Path:
    """The folder that `--workspace` or MEMCTL_WORKSPACE names, else the nearest workspace at or above `here`."""
    if choice := named or environ.get("MEMCTL_WORKSPACE"):
        root = Path(os.path.expanduser(choice))
        if not os.path.isdir(root):
            raise NoWorkspace(root, named=True)
    else:
        root = next((d for d in (here, *here.parents) if any(os.path.exists(d / sign) for sign in SIGNS)), Path())
        if root == Path():
            raise NoWorkspace(here)
    return root.resolve()


def find_workspace(named: str | None, environ: Mapping[str, str], here: Path) -> Workspace:
    """The workspace there, with its settings; MEMCTL_VECTORS stands for `model` under `[vectors]`."""
    root = find_root(named, environ, here)
    settings = read_settings(root / SETTINGS)
    model = environ.get("MEMCTL_VECTORS")
    return Workspace(root, settings._replace(model=model) if model else settings)
