"""A managed block of sections, one a subject, of which some are written anew and the others kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ..language.names import entity_key

__all__ = ["merged", "split_sections"]

_HEAD = "### "


def split_sections(body: str) -> dict[str, str]:
    """The sections of a body by their heading, each without it."""
    found: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in body.split("\n"):
        if line.startswith(_HEAD):
            lines = found.setdefault(line.removeprefix(_HEAD).strip(), [])
        else:
            lines.append(line)
    return {name: "\n".join(lines).strip("\n") for name, lines in found.items()}


def merged(before: str, fresh: Mapping[str, str], whole: bool, key: Callable[[str], str] = entity_key) -> str:
    """The body with `fresh` sections in the place of older ones of the same name; an empty one goes.

    With `whole`, nothing older stays. Sections stand in the order of their names. Names are the same that `key` folds
    to the same: as facts come in, another spelling may become the usual one.
    """
    known = {key(name) for name in fresh}
    sections = {} if whole else {name: text for name, text in split_sections(before).items() if key(name) not in known}
    sections |= fresh
    names = sorted((name for name, text in sections.items() if text.strip()), key=lambda name: (entity_key(name), name))
    return "\n\n".join(f"{_HEAD}{name}\n\n{sections[name].strip(chr(10))}" for name in names)
