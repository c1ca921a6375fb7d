"""The parts of a model's reply in which nothing is a command: code, quotes, comments, thinking, recalled blocks."""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import cache

__all__ = ["Unread", "thought_before"]

_THINKING = r"think|thinking|thought|thoughts|reasoning|reflection|scratchpad|analysis"


@cache
def _starts() -> re.Pattern[str]:
    """What may begin such a part."""
    return re.compile(
        r"^[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]{1,4})?(?:(?P<fence>`{3,})[^`\n]*$|(?P<tildes>~{3,})[^\n]*$)"
        r"|(?P<quote>^[ \t]*>[^\n]*)|(?P<ticks>`+)|(?P<comment><!--)"
        rf"|<(?P<think>{_THINKING})\b[^<>]{{0,200}}>|<(?P<whole>pre|code|(?:memory|core)-[0-9a-z]{{10,64}})>",
        re.MULTILINE | re.IGNORECASE,
    )


@cache
def _think_end() -> re.Pattern[str]:
    return re.compile(rf"</({_THINKING})\s{{0,8}}>", re.IGNORECASE)


def thought_before(text: str) -> int:
    """Where the answer begins if the reply starts amid its thinking, as when a template has put `<think>` before it; or 0."""
    end = _think_end().search(text)
    if end is None or text[max(0, end.start() - 1) : end.start()] == "`":
        return 0
    opened = re.compile(rf"<(?:{_THINKING})\b[^<>]{{0,200}}>", re.IGNORECASE).search(text, 0, end.start())
    return 0 if opened else end.end()


class Unread:
    """Finds those parts from left to right; all lookups together take time in proportion to the text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._ticks: dict[int, list[int]] | None = None
        self._blank: list[int] = []
        self._fences: list[tuple[int, int, str]] | None = None
        self._tags: dict[str, list[int]] | None = None
        self._comments = True

    def first(self, start: int, end: int) -> tuple[int, int] | None:
        """The first such part that begins in [start, end), as a span, which may go on beyond `end`."""
        while start < end:
            match = _starts().search(self._text, start, end)
            if match is None:
                return None
            close = self._close(match)
            if close is not None:
                return match.start(), close
            start = max(match.end(), start + 1)
        return None

    def _line_end(self, start: int) -> int:
        at = self._text.find("\n", start)
        return at if at >= 0 else len(self._text)

    def _close(self, match: re.Match[str]) -> int | None:
        """Where the part that begins with `match` ends; None if nothing begins there."""
        if match["quote"]:
            return self._line_end(match.end())
        if match["fence"] or match["tildes"]:
            line_end = self._line_end(match.end())  # where the search was to end, `$` took that for the end of a line
            if match["tildes"] or "`" not in self._text[match.end() : line_end]:
                return self._fence_end(line_end, match["fence"] or match["tildes"])
        if match["ticks"] or match["fence"]:
            kind = "ticks" if match["ticks"] else "fence"
            return self._code_end(match.start(kind), len(match[kind]))
        if match["whole"]:
            return self._tag_end(match.end(), match["whole"].lower())
        return self._comment_end(match.end()) if match["comment"] else self._think_end(match)

    def _fence_end(self, start: int, marks: str) -> int:
        """A fence that is not closed goes on to the end of the text."""
        if self._fences is None:
            closing = re.compile(r"^[ \t]*(`{3,}|~{3,})[ \t]*$", re.MULTILINE)
            self._fences = [(found.start(), found.end(), found[1]) for found in closing.finditer(self._text)]
        for at in range(bisect_left(self._fences, (start, 0, "")), len(self._fences)):
            _, end, found = self._fences[at]
            if found[0] == marks[0] and len(found) >= len(marks):
                return end
        return len(self._text)

    def _code_end(self, start: int, length: int) -> int | None:
        """Inline code ends with a run of as many backticks, in the same paragraph."""
        if self._ticks is None:
            self._ticks = {}
            for run in re.finditer("`+", self._text):
                self._ticks.setdefault(len(run[0]), []).append(run.start())
            self._blank = [found.start() for found in re.finditer(r"\n[ \t]*(?=\n)", self._text)]
        runs = self._ticks.get(length, [])
        at, gap = bisect_left(runs, start + 1), bisect_left(self._blank, start)
        if at == len(runs) or (gap < len(self._blank) and self._blank[gap] < runs[at]):
            return None
        return runs[at] + length

    def _comment_end(self, start: int) -> int | None:
        at = self._text.find("-->", start) if self._comments else -1
        self._comments = at >= 0
        return at + 3 if at >= 0 else None

    def _tag_end(self, start: int, name: str) -> int | None:
        """The end of HTML code, or of what memctl recalled and the model repeats: its commands are somebody else's."""
        if self._tags is None:
            self._tags = {}
            for end in re.finditer(r"</(pre|code|(?:memory|core)-[0-9a-z]{10,64})>", self._text, re.IGNORECASE):
                self._tags.setdefault(end[1].lower(), []).append(end.end())
        ends = self._tags.get(name, [])
        at = bisect_left(ends, start)
        if at < len(ends):
            return ends[at]
        return None if name in ("pre", "code") else len(self._text)

    def _think_end(self, match: re.Match[str]) -> int:
        """Thinking that does not end was cut off: nothing after it was meant to be said."""
        for end in _think_end().finditer(self._text, match.end()):
            if end[1].lower() == match["think"].lower():
                return end.end()
        return len(self._text)
