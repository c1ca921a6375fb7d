"""Blocks of a plain page without a Markdown parser: headings, paragraphs and flat bullets, as most logs are.

markdown-it decides what Markdown means. This reads the subset whose blocks one look at each line settles, and declines
every other page; a test holds the two equal. It makes a full index twice as fast, and a recall after a retain does not
import markdown-it (50 ms).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

__all__ = ["Block", "plain_blocks"]


class Block(NamedTuple):
    """The part of a markdown-it token that tells where a block stands; `map` counts lines from 0, end excluded."""

    type: str
    map: list[int] | None = None
    markup: str = ""
    tag: str = ""
    level: int = 0


# A first character that can open nothing but a paragraph: no list, quote, fence, heading, rule, table, HTML, definition.
_TEXT = (
    r"(?:[^\W\d_]|[^\x00-\x7f\s]|[\"'(@$&%,.!?;/\\^{}]|\d(?!\d{0,8}[.)](?:\s|$))"
    r"|`{1,2}(?=[^`])|\*{1,2}(?=[^\s*])|_{1,2}(?=[^\s_])|\[\[|\#(?=[^\s\#]))"
)
_LINE = re.compile(
    rf"(?P<blank>[ \t]*)|(?P<heading>\#{{1,6}})[ ]+\S.*|(?P<bullet>[-*+])[ ]{_TEXT}.*|(?P<more>[ ]{{1,3}}){_TEXT}.*|(?P<text>{_TEXT}).*",
    re.DOTALL,
)
_CLOSE = Block("list_item_close")


def plain_blocks(lines: Sequence[str]) -> list[Block] | None:
    """The blocks of a page in markdown-it's terms, or None for a page that is not plain."""
    blocks: list[Block] = []
    started: int | None = None  # the first line of the paragraph that is open
    marker = ""
    for number, line in enumerate(lines):
        match = _LINE.fullmatch(line)
        if match is None:
            return None
        kind = match.lastgroup
        if started is not None and kind in ("text", "more"):
            continue
        if kind == "more":  # a paragraph of its own inside an item, or an indented one: not for us
            return None
        if started is not None:
            _end(blocks, started, number, marker)
            started = None
        if kind == "heading":
            blocks.append(Block("heading_open", [number, number + 1], tag=f"h{len(match['heading'])}"))
        elif kind in ("bullet", "text"):
            started, marker = number, match["bullet"] or ""
    if started is not None:
        _end(blocks, started, len(lines), marker)
    return blocks


def _end(blocks: list[Block], first: int, after: int, marker: str) -> None:
    """Close a paragraph; one with a marker is the first of its list item."""
    if marker:
        blocks += (Block("list_item_open", None, marker), Block("paragraph_open", [first, after]), _CLOSE)
    else:
        blocks.append(Block("paragraph_open", [first, after]))
