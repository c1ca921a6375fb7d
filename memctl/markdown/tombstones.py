"""Tombstones: what stands in the place of a forgotten line. Its id and the day, not its text; as many lines as before.

    - <!-- memctl:forgotten f-1a2b3c4d 2025-11-30 -->

The bullet stays, so that a list stays one list and what is nested under the line stays nested. A line that went on over
several becomes as many comments, each closed on its own line (`… 2025-11-30 1/3 -->`): cut one out, and nothing below
it is swallowed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date
from functools import cache
from typing import NamedTuple

from ..facts import Span
from .line_text import LineText
from .lines import Role

__all__ = ["BLOCK", "Redaction", "Tombstone", "read_tombstone", "redact", "render_tombstone"]

BLOCK = "forgotten"
"""The name of the block in which the index keeps tombstones: like a copy, none of them is an answer."""

_SIGN = "<!-- memctl:forgotten "
_MARKERS = re.compile(r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*(?=[^ \t]|$)")
_CONTAINER = re.compile(r"[ \t>]*")


class Tombstone(NamedTuple):
    """One line of a tombstone: the id that is gone, the day on which it was forgotten, line `part` of `parts`."""

    ref: str
    day: date
    part: int = 1
    parts: int = 1


class Redaction(NamedTuple):
    """Lines of a page that are to be forgotten, the id that they have, what they are in Markdown."""

    span: Span
    ref: str
    role: Role = Role.FACT


@cache
def _pattern() -> re.Pattern[str]:
    return re.compile(
        r"[ \t>|]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*<!-- memctl:forgotten (?P<ref>[A-Za-z0-9][A-Za-z0-9-]{0,63})"
        r" (?P<day>\d{4}-\d{2}-\d{2})(?: (?P<part>[1-9]\d{0,5})/(?P<parts>[1-9]\d{0,5}))? -->[ \t|]*"
    )


def render_tombstone(tombstone: Tombstone) -> str:
    """The comment, without the bullet that may stand in front: `read_tombstone` of it gives the tombstone back."""
    part = f" {tombstone.part}/{tombstone.parts}" if tombstone.parts > 1 else ""
    return f"{_SIGN}{tombstone.ref} {tombstone.day}{part} -->"


def read_tombstone(line: str) -> Tombstone | None:
    """The tombstone that a line of a page is, None for any other line: one that says anything else is no tombstone."""
    if _SIGN not in line:
        return None
    match = _pattern().fullmatch(line)
    if not match:
        return None
    try:
        day = date.fromisoformat(match["day"])
    except ValueError:
        return None
    part, parts = int(match["part"] or 1), int(match["parts"] or 1)
    return Tombstone(match["ref"], day, part, parts) if part <= parts and (parts > 1) == bool(match["part"]) else None


def redact(text: str, redactions: Iterable[Redaction], day: date) -> str:
    """The page with a tombstone for each redaction. No line comes or goes, and every byte of the other lines stays.

    `text` is the page as decoded with `surrogateescape`, with its byte order mark.
    """
    page = LineText(text)
    for span, ref, role in redactions:
        parts = span.end_line - span.line + 1
        first = page.lines[span.line - 1]
        for number in range(span.line, span.end_line + 1):
            comment = render_tombstone(Tombstone(ref, day, number - span.line + 1, parts))
            before, after = _around(first, page.lines[number - 1], role, number > span.line)
            page.lines[number - 1] = before + comment + after
    return str(page)


def _around(first: str, line: str, role: Role, further: bool) -> tuple[str, str]:
    """What stands before and behind the comment: the markers of the entry, or the bars of a table's row."""
    if role is Role.ROW:
        match = _CONTAINER.match(line)
        before = match[0] if match else ""
        return f"{before}| ", " |" * _cells(line[len(before) :])
    match = _MARKERS.match(first) if role in (Role.FACT, Role.ITEM) else _CONTAINER.match(first)
    markers = match[0] if match else ""
    return (re.sub(r"[^\s>]", " ", markers) if further else markers), ""


def _cells(row: str) -> int:
    """How many cells a row has: a table's head must keep as many as the rule below it."""
    bare = row.strip()
    inner = bare.removeprefix("|")
    inner = inner[:-1] if inner.endswith("|") and not inner.endswith("\\|") else inner
    return len(re.findall(r"(?<!\\)\|", inner)) + 1
