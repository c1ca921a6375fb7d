"""Lines that memctl writes and recognises: the two markers of a managed block, and tombstones of forgotten lines."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import NamedTuple

from ..facts import Span
from ..ids import hashed
from .lines import LineText, Role

NAME = r"[\w./-]{1,200}"  # what a block may be called
_START = "<!-- memctl:"
_BEGIN = re.compile(rf"<!-- memctl:begin (?P<name>{NAME})(?: sha=(?P<sha>[0-9a-f]+))? -->\s*")
_END = re.compile(rf"<!-- memctl:end (?P<name>{NAME}) -->\s*")


@dataclass(frozen=True, slots=True)
class Block:
    """A managed block; `begin` and `end` are the 1-based lines of its markers."""

    name: str
    sha: str | None
    begin: int
    end: int


def is_marker(line: str) -> bool:
    """True for a line that opens or closes a managed block. Markers stand at the start of a line of their own."""
    return line.startswith(_START) and bool(_BEGIN.fullmatch(line) or _END.fullmatch(line))


def find_blocks(lines: Sequence[str], hidden: Collection[int] = ()) -> list[Block]:
    """The closed managed blocks of a page, in order. A block that is never closed, or nested, is the owner's text.

    `hidden` are 1-based lines on which nothing is a marker: front matter, code fences.
    """
    found: list[Block] = []
    opened: tuple[int, re.Match[str]] | None = None
    for number, line in enumerate(lines, 1):
        if not line.startswith(_START) or number in hidden:
            continue
        if begin := _BEGIN.fullmatch(line):
            opened = (number, begin)
        elif (end := _END.fullmatch(line)) and opened and opened[1]["name"] == end["name"]:
            found.append(Block(end["name"], opened[1]["sha"], opened[0], number))
            opened = None
    return found


def disputed_lines(lines: Sequence[str], hidden: Collection[int] = ()) -> Iterator[tuple[int, str]]:
    """The lines of blocks inside of what git left of a merge, with the name of each block: one side of it is never closed."""
    name, is_open = "", False
    for number, line in enumerate(lines, 1):
        if line[:7] in ("<<<<<<<", "|||||||", "=======", ">>>>>>>"):
            name, is_open = "", line[0] == "<" or (is_open and line[0] != ">")
        elif is_open and line.startswith(_START) and number not in hidden:
            begin = _BEGIN.fullmatch(line)
            name = begin["name"] if begin else ""
        if name:
            yield number, name


def body_of(lines: Sequence[str], block: Block) -> list[str]:
    """The lines between the markers of a block of the page `lines`."""
    return list(lines[block.begin : block.end - 1])


def sha_of(body: Iterable[str]) -> str:
    """The first 8 hex digits of BLAKE2b over the lines, without space at the end of a line and of the whole.

    Total: a lone surrogate (a byte that is not UTF-8) counts as itself. It tells a person's edit, it is not a signature.
    """
    text = "\n".join(line.rstrip() for line in body).rstrip()
    return hashed(text.encode("utf-8", "surrogatepass"), 64).hex()[:8]


def block_is_edited(lines: Sequence[str], block: Block) -> bool:
    """True if what stands in the block is not what memctl wrote: then it is a person's, and must not be overwritten.

    An empty pair of markers without a hash is where a person wants the block to be, and not an edit.
    """
    body = body_of(lines, block)
    return any(map(str.strip, body)) if block.sha is None else block.sha != sha_of(body)


FORGOTTEN = "forgotten"
"""The name of the block in which the index keeps tombstones: like a copy, none of them is an answer."""

_TOMBSTONE = "<!-- memctl:forgotten "


class Tombstone(NamedTuple):
    """One line of a tombstone: an id of its own, the day on which it was forgotten, line `part` of `parts`."""

    ref: str
    day: date
    part: int = 1
    parts: int = 1


def tells_nothing(ref: str) -> bool:
    """False for an id made of what a line says (ids.py): in a tombstone it would prove a guess of what stood there."""
    return not re.fullmatch(r"[a-z]-[0-9a-z]{8}", ref)


class Redaction(NamedTuple):
    """Lines of a page that are to be forgotten, the id that they have, what they are in Markdown, the tombstone's id."""

    span: Span
    ref: str
    role: Role = Role.FACT
    named: str = ""


def render_tombstone(tombstone: Tombstone) -> str:
    """The comment, without the bullet that may stand in front: `read_tombstone` of it gives the tombstone back."""
    part = f" {tombstone.part}/{tombstone.parts}" if tombstone.parts > 1 else ""
    return f"{_TOMBSTONE}{tombstone.ref} {tombstone.day}{part} -->"


def read_tombstone(line: str) -> Tombstone | None:
    """The tombstone that a line of a page is, None for any other line: one that says anything else is no tombstone."""
    if _TOMBSTONE not in line:
        return None
    match = re.fullmatch(
        r"[ \t>|]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*<!-- memctl:forgotten (?P<ref>[A-Za-z0-9][A-Za-z0-9-]{0,63})"
        r" (?P<day>\d{4}-\d{2}-\d{2})(?: (?P<part>[1-9]\d{0,5})/(?P<parts>[1-9]\d{0,5}))? -->[ \t|]*",
        line,
    )
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
    for span, ref, role, named in redactions:
        parts = span.end_line - span.line + 1
        first = page.lines[span.line - 1]
        for number in range(span.line, span.end_line + 1):
            comment = render_tombstone(Tombstone(named or ref, day, number - span.line + 1, parts))
            before, after = _around(first, page.lines[number - 1], role, number > span.line)
            page.lines[number - 1] = before + comment + after
    return str(page)


def _around(first: str, line: str, role: Role, further: bool) -> tuple[str, str]:
    """What stands before and behind the comment: the markers of the entry, or the bars of a table's row."""
    if role is Role.ROW:
        container = _container(line)
        bare = line[len(container) :].strip().removeprefix("|")
        bare = bare[:-1] if bare.endswith("|") and not bare.endswith("\\|") else bare
        # A table's head must keep as many cells as the rule below it.
        return f"{container}| ", " |" * (len(re.findall(r"(?<!\\)\|", bare)) + 1)
    is_item = role in (Role.FACT, Role.ITEM)
    container = _container(first, r"(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*(?=[^ \t]|$)" if is_item else "")
    return (re.sub(r"[^\s>]", " ", container) if further else container), ""


def _container(line: str, markers: str = "") -> str:
    match = re.match(rf"[ \t>]*{markers}", line)
    return match[0] if match else ""
