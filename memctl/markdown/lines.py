"""Lines of a page: splitting, what raw lines say without Markdown's markers, and edits that keep every other byte."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Enum
from functools import cache

MAX_LINE = 16 * 1024  # characters of one line that are read; the rest is reported, not indexed
_BOM = "\ufeff"


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
    """Lines as editors and citations count them, without a BOM: ended by LF, CRLF, CR alone; a final one is no line."""
    lines = text.removeprefix(_BOM).replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return lines[:-1] if lines[-1] == "" else lines


_QUOTE = re.compile(r"^\s*(?:>\s?)+")
_MARKER = re.compile(r"^\s*(?:(?:[-*+]\s+)+|\d{1,9}[.)]\s+)(?=\S)")
_HASHES = re.compile(r"^\s*#{1,6}(?:\s+|$)|(?<!\s)\s++#++\s*+$")
_UNDERLINE = re.compile(r"\s*(?:=+|-+)\s*")

_HAN = r"[\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]"


def content_of(role: Role, raw: Sequence[str]) -> str:
    """What raw lines say, without Markdown's markers. Depends on nothing else, so a cited line can be re-read alone."""
    if role is Role.CODE:
        return "\n".join(raw)
    lines = [_QUOTE.sub("", line) if ">" in line else line for line in raw]
    if lines and role in (Role.FACT, Role.ITEM, Role.HEADING):
        lines[0] = _MARKER.sub("", lines[0])
    if role is Role.HEADING:
        lines = [_HASHES.sub("", line) for line in lines if not _UNDERLINE.fullmatch(line)]
    if len(lines) == 1:
        return lines[0].strip()
    text = "\n".join(filter(None, (line.strip() for line in lines)))
    # A soft break is a space, except inside Chinese, which has none.
    return (text if text.isascii() else re.sub(rf"(?<={_HAN})\n(?={_HAN})", "", text)).replace("\n", " ")


# Below the head of a table.
TABLE_RULE = re.compile(r"[\s>]*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*")
_MOST_OF_HEAD, _MOST_OF_COLUMN = 400, 40  # characters of it that are searched with each row below


def cells(row: str) -> list[str]:
    """The cells of a row of a table."""
    bare = row.strip().removeprefix("|")
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", bare.removesuffix("|"))]


def with_columns(head: str, row: str) -> str:
    """The cells of a row that hold something, each behind what stands above it in the head of its table."""
    above = [column[:_MOST_OF_COLUMN] for column in cells(head[:_MOST_OF_HEAD])]
    held = cells(row)
    named = (f"{column} {cell}" for column, cell in zip(above, held, strict=False) if cell)
    return " ".join((*named, *held[len(above) :]))


SEALED = "(sealed)"  # what a reader is shown in the place of a ciphertext


@cache
def sealed_text() -> re.Pattern[str]:
    """The text of a sealed line: an age ciphertext in base64, which begins with `age-encryption.org/v1`."""
    return re.compile(r"age:YWdlLWVuY3J5cHRpb24ub3JnL3Yx[A-Za-z0-9+/]+={0,2}")


def without_sealed(text: str, instead: str = "") -> str:
    """`text` without ciphertexts: they are no words."""
    return sealed_text().sub(instead, text) if "age:" in text else text


_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


def whole_lines(text: str) -> list[str]:
    """The lines of a text with their ends."""
    return _LINE.findall(text)


class LineText:
    """A page as lines without their ends. Lines are counted from 1; what is not edited keeps every byte.

    `lines` may be read, and an element set, at any time; lines come and go through `replace`, which keeps their ends.
    """

    def __init__(self, text: str) -> None:
        self.bom = _BOM if text.startswith(_BOM) else ""
        whole = whole_lines(text.removeprefix(_BOM))
        self.lines = [line.rstrip("\r\n") for line in whole]
        self.ends = [line[len(bare) :] for line, bare in zip(whole, self.lines, strict=True)]

    def __str__(self) -> str:
        return self.bom + "".join([bare + end for bare, end in zip(self.lines, self.ends, strict=True)])

    def insert(self, after: int, new: Sequence[str]) -> None:
        """Put lines behind line `after`; 0 is the top of the page."""
        self.replace(after + 1, after, new)

    def replace(self, first: int, last: int, new: Sequence[str], newline: str | None = None) -> None:
        """Put lines in the place of lines `first` to `last`; `last` = `first` - 1 only inserts, no lines only delete.

        They end as most lines of the page do, or with `newline`. A page without a final newline is left without one.
        """
        newline = newline or max(("\n", "\r\n", "\r"), key=self.ends.count)
        was_closed = not self.ends or bool(self.ends[-1])
        self.lines[first - 1 : last] = new
        self.ends[first - 1 : last] = [newline] * len(new)
        if not self.lines:
            return
        new_lines = range(first - 1, first - 1 + len(new))
        for at in {first - 2, first + len(new) - 2}:
            if 0 <= at < len(self.lines) - 1:
                self.ends[at] = self.ends[at] or newline
                if self.ends[at] == "\r" and (self.lines[at + 1], self.ends[at + 1]) == ("", "\n"):
                    self.ends[at if at in new_lines else at + 1] = "\r\n"  # or the two would become one line end
        if not was_closed and self.lines[-1]:
            self.ends[-1] = ""


def common_start(one: Sequence[object], other: Sequence[object]) -> int:
    """How many items two sequences, such as texts or lists of lines, begin with alike."""
    return next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
