"""The two marker lines of a managed block: where they stand, what stands between them, whether a person changed it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .fast_page import Block as Token

if TYPE_CHECKING:
    from hashlib import blake2b
else:
    try:
        from _blake2 import blake2b  # hashlib would load OpenSSL first
    except ImportError:
        from hashlib import blake2b

__all__ = [
    "NAME",
    "Block",
    "begin_marker",
    "body_of",
    "end_marker",
    "find_blocks",
    "hidden_lines",
    "is_edited",
    "is_marker",
    "may_hide",
    "sha_of",
]

NAME = r"[\w./-]{1,200}"  # what a block may be called
_START = "<!-- memctl:"
_BEGIN = re.compile(rf"<!-- memctl:begin (?P<name>{NAME})(?: sha=(?P<sha>[0-9a-f]+))? -->\s*")
_END = re.compile(rf"<!-- memctl:end (?P<name>{NAME}) -->\s*")
# Markdown in which a marker line is no line of its own: code fences, and HTML that goes on over blank lines and comments.
_SWALLOWS = re.compile(r" {0,3}(?:```|~~~|<(?:script|pre|style|textarea)(?=[\s>]|$)|<\?|<!\[CDATA\[)", re.IGNORECASE)


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


def begin_marker(name: str, sha: str) -> str:
    """The line that opens a block whose body has this hash."""
    return f"{_START}begin {name} sha={sha} -->"


def end_marker(name: str) -> str:
    """The line that closes a block."""
    return f"{_START}end {name} -->"


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


def may_hide(lines: Iterable[str]) -> bool:
    """False if no line can open what swallows a marker: then no Markdown parser is needed to find the blocks."""
    return any(map(_SWALLOWS.match, lines))


def hidden_lines(tokens: Iterable[Token], lines: Sequence[str]) -> set[int]:
    """The 1-based lines that stand inside a code fence, or inside HTML that ends at a tag of its own."""
    hidden: set[int] = set()
    for token in tokens:
        if token.map and token.type in ("fence", "html_block"):
            first, after = token.map
            if token.type == "fence" or _SWALLOWS.match(lines[first]):
                hidden.update(range(first + 1, after + 1))
    return hidden


def body_of(lines: Sequence[str], block: Block) -> list[str]:
    """The lines between the markers of a block of the page `lines`."""
    return list(lines[block.begin : block.end - 1])


def sha_of(body: Iterable[str]) -> str:
    """The first 8 hex digits of BLAKE2b over the lines, without space at the end of a line and of the whole.

    Total: a lone surrogate (a byte that is not UTF-8) counts as itself. It tells a person's edit, it is no signature.
    """
    text = "\n".join(line.rstrip() for line in body).rstrip()
    return blake2b(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]


def is_edited(lines: Sequence[str], block: Block) -> bool:
    """True if what stands in the block is not what memctl wrote: then it is a person's, and must not be overwritten.

    An empty pair of markers without a hash is where a person wants the block to be, and not an edit.
    """
    body = body_of(lines, block)
    return any(map(str.strip, body)) if block.sha is None else block.sha != sha_of(body)
