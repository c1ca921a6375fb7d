"""A dialogue written down in Markdown: `**User:**`, `User:`, `## User`, «Я:», "用户：", or questions after `> `."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from functools import cache
from typing import NamedTuple

from ..language.words import languages
from .patterns import pairs
from .turns import MAX_TEXT, Notes, Turn, moment

_STAMP = r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)?"
_WHO = r"(?P<who>[^\W\d_][\w .-]{0,30}?)"
_BEFORE = rf"(?:[\[(](?P<before>{_STAMP})[\])]\s{{0,3}})?"
_AFTER = rf"(?:\s{{0,3}}(?:[\[(]|[-–—,]\s?|)(?P<after>{_STAMP})[\])]?)?"
_STYLES: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("bold", re.compile(rf"{_BEFORE}(?:\*\*|__){_WHO}{_AFTER}\s?(?:[:：]\s?(?:\*\*|__)|(?:\*\*|__){_AFTER.replace('after', 'later')}\s?[:：]|(?:\*\*|__)\s*$)\s*")),
    ("heading", re.compile(rf"\#{{1,6}}\s{{1,3}}(?:\*\*)?{_BEFORE}{_WHO}{_AFTER}\s?[:：]?(?:\*\*)?\s*$")),
    ("plain", re.compile(rf"{_BEFORE}[«\"“]?{_WHO}{_AFTER}[»\"”]?\s?[:：](?!//)\s*")),
)  # fmt: skip
_DAY = re.compile(r"\#{0,6}\s{0,3}\**(\d{4}-\d\d-\d\d)\**\s*$")
_FENCE = re.compile(r"\s{0,3}(`{3,}|~{3,})")
_OPEN_FENCE = 2000  # lines after which a fence that nothing closes was none


@cache
def _speakers() -> dict[str, str]:
    """The role of everybody who may be named as a speaker, in every language."""
    table = (pair for language in languages() for pair in pairs(language, "speakers"))
    return {name: role for names, role in table for name in names.split("|")}


class Label(NamedTuple):
    """Who begins to speak on a line, how that was marked, when, and what stands on the line behind it."""

    role: str
    style: str
    name: str
    when: datetime | None
    rest: str


def label_of(line: str, owner: str | None = None) -> Label | None:
    """The speaker that a line names; `owner` is a name that the user goes by."""
    if line[:1] in (" ", "\t") or not line.strip():
        return None
    for style, pattern in _STYLES:
        match = pattern.match(line[:200])
        if match:
            name = " ".join(match["who"].split())
            role = "user" if owner and name.casefold() == owner.casefold() else _speakers().get(name.casefold())
            stamps = match.groupdict()
            when = moment(stamps.get("before") or stamps.get("after") or stamps.get("later"))
            return Label(role, style, name, when, line[match.end() :]) if role else None
    return None


class _TurnReader:
    """The turn that is being read, and what marks the next one."""

    def __init__(self) -> None:
        self.style: str | None = None
        self.role: str | None = None
        self.name: str | None = None
        self.when: datetime | None = None
        self.day: datetime | None = None
        self.first = self.last = 0
        self.size = 0
        self.lines: list[str] = []
        self.fence = ""
        self.fenced = 0

    def begin(self, label: Label, number: int) -> None:
        self.style = self.style or label.style
        self.role, self.name = label.role, label.name
        self.when = label.when or self.day
        self.first = self.last = number
        self.lines, self.size = [label.rest], len(label.rest)
        self.fence = ""

    def add(self, line: str, number: int) -> None:
        if self.size <= MAX_TEXT:
            self.lines.append(line)
            self.size += len(line) + 1
        if line.strip():
            self.last = number

    def turn(self) -> Turn | None:
        if self.role is None:
            return None
        named = self.name if self.name and self.name.casefold() not in _speakers() else None
        return Turn(self.role, "\n".join(self.lines).rstrip(), self.first, self.last, self.when, named)

    def in_fence(self, line: str) -> bool:
        """True on a line of a code block, its fences too: there nobody is named."""
        mark = _FENCE.match(line)
        if self.fence:
            self.fenced += 1
            closes = mark and mark[1].startswith(self.fence) and not line.strip().strip(self.fence[0])
            if closes or self.fenced > _OPEN_FENCE:
                self.fence = ""
            return True
        if mark:
            self.fence, self.fenced = mark[1], 0
        return bool(mark)


def markdown_turns(lines: Iterable[tuple[int, str, bool]], notes: Notes, owner: str | None = None) -> Iterator[Turn]:
    """The turns of a dialogue. The first speaker's mark is the mark of all: another kind inside is part of a text."""
    reader = _TurnReader()
    quoted: list[str] = []
    for number, raw, _ in lines:
        line = raw.removeprefix("\ufeff") if number == 1 else raw
        label = None if not line or reader.in_fence(line) else label_of(line, owner)
        if label and reader.style in (None, label.style):
            quoted = []
            if turn := reader.turn():
                yield turn
            reader.begin(label, number)
        elif line and (day := _DAY.match(line)):
            reader.day = moment(day[1])
        elif reader.role is not None:
            reader.add(line, number)
        elif len(quoted) < 100_000:
            quoted.append(line)
    if turn := reader.turn():
        yield turn
    elif quoted:
        yield from _quoted_turns(quoted, notes)


def _quoted_turns(lines: list[str], notes: Notes) -> Iterator[Turn]:
    """A page without speakers where the user's words stand after `> ` and the answers do not."""
    if {line.startswith(">") for line in lines if line.strip()} != {True, False}:
        notes.say(0, "no speaker is marked: begin turns with `User:` and `Assistant:`")
        return
    start, quoted = 0, False
    for number, line in enumerate([*lines, ""]):
        if number == len(lines) or (line.strip() and line.startswith(">") != quoted):
            text = "\n".join(re.sub(r"^>\s?", "", each) for each in lines[start:number])
            if text.strip():
                yield Turn("user" if quoted else "assistant", text.rstrip(), start + 1, number)
            start, quoted = number, line.startswith(">")
