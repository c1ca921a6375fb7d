"""Managed blocks: the only parts of a page that memctl writes by itself, between two marker lines."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Block", "find_blocks", "is_marker"]

_BEGIN = re.compile(r"<!-- memctl:begin (?P<name>[\w./-]+)(?: sha=(?P<sha>[0-9a-f]+))? -->\s*")
_END = re.compile(r"<!-- memctl:end (?P<name>[\w./-]+) -->\s*")


@dataclass(frozen=True, slots=True)
class Block:
    """A managed block; `begin` and `end` are the 1-based lines of its markers."""

    name: str
    sha: str | None
    begin: int
    end: int


def is_marker(line: str) -> bool:
    """True for a line that opens or closes a managed block. Markers stand at the start of a line of their own."""
    return bool(_BEGIN.fullmatch(line) or _END.fullmatch(line))


def find_blocks(lines: Sequence[str]) -> list[Block]:
    """The closed managed blocks of a page, in order. A block that is never closed, or nested, is the owner's text."""
    found: list[Block] = []
    opened: tuple[int, re.Match[str]] | None = None
    for number, line in enumerate(lines, 1):
        if not line.startswith("<!-- memctl:"):
            continue
        if begin := _BEGIN.fullmatch(line):
            opened = (number, begin)
        elif (end := _END.fullmatch(line)) and opened and opened[1]["name"] == end["name"]:
            found.append(Block(end["name"], opened[1]["sha"], opened[0], number))
            opened = None
    return found
