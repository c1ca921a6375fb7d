"""What raw lines of a page say: all that is needed to read a cited line again, without parsing its page."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Enum
from functools import cache

__all__ = ["MAX_LINE", "Role", "content_of", "split_lines"]

MAX_LINE = 16 * 1024  # characters of one line that are read; the rest is reported, not indexed


class Role(Enum):
    """What an entry is in Markdown; it decides how its content is read from its raw lines."""

    FACT = "fact"
    TEXT = "text"
    ITEM = "item"
    ROW = "row"
    HEADING = "heading"
    CODE = "code"
    REST = "rest"


def split_lines(text: str) -> list[str]:
    """Lines as editors and citations count them: ended by LF, CRLF or CR and by nothing else; a final one is no line."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return lines[:-1] if lines[-1] == "" else lines


_QUOTE = re.compile(r"^\s*(?:>\s?)+")
_MARKER = re.compile(r"^\s*(?:(?:[-*+]\s+)+|\d{1,9}[.)]\s+)(?=\S)")
_HASHES = re.compile(r"^\s*#{1,6}(?:\s+|$)|(?<!\s)\s++#++\s*+$")
_UNDERLINE = re.compile(r"\s*(?:=+|-+)\s*")


@cache
def _han_break() -> re.Pattern[str]:
    """A line break inside Chinese. Compiled when first needed: it takes 3 ms."""
    han = r"[\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]"
    return re.compile(rf"(?<={han})\n(?={han})")


def content_of(role: Role, raw: Sequence[str]) -> str:
    """What raw lines say, without Markdown's markers. Depends on nothing else, so a cited line can be re-read alone."""
    if role is Role.CODE:
        return "\n".join(raw)
    lines = [_QUOTE.sub("", line) if ">" in line else line for line in raw]
    if role in (Role.FACT, Role.ITEM, Role.HEADING):
        lines[:1] = [_MARKER.sub("", line) for line in lines[:1]]
    if role is Role.HEADING:
        lines = [_HASHES.sub("", line) for line in lines if not _UNDERLINE.fullmatch(line)]
    if len(lines) == 1:
        return lines[0].strip()
    text = "\n".join(filter(None, (line.strip() for line in lines)))
    # A soft break is a space, except inside Chinese, which has none.
    return (text if text.isascii() else _han_break().sub("", text)).replace("\n", " ")
