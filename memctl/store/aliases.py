"""The workspace's own words for one thing: the TOML file that `[recall] aliases` names."""

from __future__ import annotations

from dataclasses import replace

from ..core.query import Query
from ..errors import BadSettings
from .workspace import SETTINGS, Workspace

__all__ = ["with_aliases"]

_SHAPE = 'is a list of words: kubernetes = ["k8s", "кубер"]'


def with_aliases(workspace: Workspace, query: Query) -> Query:
    """The query, with the workspace's groups of words; BadSettings where the file cannot be followed.

    Each key of the file is a word, and its value the list of what else is said for it.
    """
    path = workspace.settings.aliases
    if path is None:
        return query
    import tomllib

    file = workspace.root / workspace.contain(path)
    try:
        read = tomllib.loads(file.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BadSettings(workspace.root / SETTINGS, f"recall.aliases = {path!r}: {error}") from error
    for name, words in read.items():
        if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
            raise BadSettings(file, f"{name} {_SHAPE}")
    groups = (
        tuple(" ".join(word.replace(",", " ").split()) for word in (name, *words)) for name, words in read.items()
    )
    return replace(query, aliases=tuple(groups))
