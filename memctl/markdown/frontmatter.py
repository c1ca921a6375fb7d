"""The YAML front matter of a page: what names an entity, as plain strings."""

from __future__ import annotations

from typing import Any

__all__ = ["MAX_FRONT_MATTER", "read_front_matter"]

MAX_FRONT_MATTER = 32 * 1024  # characters; YAML takes 7 s/MB


def read_front_matter(source: str) -> dict[str, str | list[str]] | None:
    """The scalars and lists of scalars in YAML front matter, all as strings; None if it is no mapping, or too long.

    Nothing is guessed: `1.10` and `no` stay the words they are.
    """
    if not source.strip():
        return {}
    if len(source) > MAX_FRONT_MATTER:
        return None
    import yaml

    try:
        read = yaml.load(source, Loader=yaml.BaseLoader)
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError):
        return None
    return {str(key): _plain(value) for key, value in read.items()} if isinstance(read, dict) else None


def _plain(value: Any) -> str | list[str]:
    if isinstance(value, list):
        return [str(item) for item in value if isinstance(item, str)]
    return value if isinstance(value, str) else ""
