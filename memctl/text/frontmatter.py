"""The YAML front matter of a page: what names an entity, as plain strings."""

from __future__ import annotations

from typing import Any

__all__ = ["read_front_matter"]


def read_front_matter(source: str) -> dict[str, str | list[str]] | None:
    """The scalars and lists of scalars in YAML front matter, all as strings; None if it is no YAML mapping.

    Nothing is guessed: `1.10` and `no` stay the words they are.
    """
    if not source.strip():
        return {}
    import yaml

    try:
        read = yaml.load(source, Loader=yaml.BaseLoader)
    except (yaml.YAMLError, ValueError, RecursionError):
        return None
    return {str(key): _plain(value) for key, value in read.items()} if isinstance(read, dict) else None


def _plain(value: Any) -> str | list[str]:
    if isinstance(value, list):
        return [str(item) for item in value if isinstance(item, str)]
    return value if isinstance(value, str) else ""
