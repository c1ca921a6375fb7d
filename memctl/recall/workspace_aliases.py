"""The workspace's own words for one thing: the TOML file that `[recall] aliases` names."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

from ..errors import PageUnreadable
from ..index.queries.entries import Query
from ..notes.workspace import SETTINGS, Workspace

__all__ = ["Fault", "aliases_fault", "with_aliases"]


class Fault(NamedTuple):
    """Why the file at `path` cannot be followed, and what to do."""

    path: str
    what: str
    cure: str


def with_aliases(workspace: Workspace, query: Query) -> Query:
    """The query with the workspace's groups of words, or without them and with a warning that says why."""
    found = _read(workspace)
    if isinstance(found, Fault):
        warning = f"answered without the aliases of {found.path}: {found.what}; {found.cure}"
        return replace(query, warnings=(*query.warnings, warning))
    groups = (
        tuple(" ".join(word.replace(",", " ").split()) for word in (name, *words)) for name, words in found.items()
    )
    return replace(query, aliases=tuple(groups))


def aliases_fault(workspace: Workspace) -> Fault | None:
    """What is wrong with the file, if there is one."""
    found = _read(workspace)
    return found if isinstance(found, Fault) else None


def _read(workspace: Workspace) -> dict[str, list[str]] | Fault:
    """Each key is a word, and its value the list of what else is said for it. OutsideWorkspace for a path that leads out."""
    path = workspace.settings.aliases
    if path is None:
        return {}
    import tomllib

    elsewhere = f"mend `aliases` under [recall] in {SETTINGS}, or take it out"
    try:
        file = workspace.root / workspace.contain(path)
        if file.exists() and not file.is_file():
            return Fault(path, "it is a folder" if file.is_dir() else "it is no regular file", elsewhere)
        return _checked(path, tomllib.loads(file.read_text(encoding="utf-8-sig")))
    except FileNotFoundError:
        return Fault(path, "there is no such file", elsewhere)
    except PageUnreadable as error:
        return Fault(path, error.reason, elsewhere)
    except OSError as error:
        return Fault(path, f"it cannot be read: {error.strerror or error}", elsewhere)
    except UnicodeDecodeError:
        return Fault(path, "it is not UTF-8", "save it as UTF-8")
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else error
        return Fault(path, f"it is not TOML: {reason}", "mend that line")


def _checked(path: str, read: dict[str, Any]) -> dict[str, list[str]] | Fault:
    for name, words in read.items():
        if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
            return Fault(path, f"{name} is no list of words", 'write it as in kubernetes = ["k8s", "кубер"]')
    return read
