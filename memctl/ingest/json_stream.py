"""JSON that is too long to hold: whole values one after another out of a stream, each with its line.

json.JSONDecoder wants the whole text, and a parser of events (ijson) gives no lines; here only the brackets are
counted, and json.loads reads what stands between them. Memory is bounded by the longest value, which is bounded too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from .turns import Notes

_MAX_VALUE = 1 << 24  # characters of one value: a message, a line, or a conversation of a ChatGPT export
_GROWTH = 1 << 16
_BETWEEN = "\ufeff\x1e\x00 \t\r\n"  # what may stand around values
_STRUCTURE = re.compile(r'["{}\[\]]')
_IN_STRING = re.compile(r'[^"\\]*+(?:\\.[^"\\]*+)*+', re.DOTALL)
_SCALAR = re.compile(r"[^\s,\[\]{}:\"]*")
_BLANK = re.compile(r"[\s,\ufeff\x1e\x00]*")
_LISTS = {"messages", "conversations", "chat_messages", "history", "turns", "items", "input"}


_STARTS = re.compile(r"[\ufeff\x1e\x00\s]*(?:\[\s*(?:[\[{\]]|\"|$)|\{\s*(?:[\"}]|$))")


class JsonItem(NamedTuple):
    """A value, the lines on which it begins and ends, and its text as it stands."""

    value: Any
    line: int
    end_line: int
    raw: str


class _TextEnded(Exception):
    """Nothing can be read from here on: by default because the text ended inside a value."""

    def __init__(self, told: str = "cut off here; what is whole before it was read") -> None:
        super().__init__(told)


def _number(digits: str) -> int | float:
    return int(digits) if len(digits) < 25 else float("inf")  # Python refuses numbers of thousands of digits


_DECODER = json.JSONDecoder(strict=False, parse_int=_number)


def _loads(raw: str) -> Any:
    """The value of a JSON text; ValueError for what is none, or is nested deeper than can be read."""
    try:
        return _DECODER.decode(raw.strip(_BETWEEN))
    except RecursionError:
        raise ValueError("nested too deeply") from None


class Text:
    """A window on a stream of text: what is before `at` is forgotten, `line` is the line of `at`."""

    def __init__(self, pieces: Iterator[str], line: int = 1) -> None:
        self._pieces = pieces
        self.data = ""
        self.at = 0
        self.line = line

    def more(self) -> bool:
        """Read on; False at the end. Each time by half as much again, so that a long value costs no more than its length."""
        wanted = max(_GROWTH, (len(self.data) - self.at) // 2)
        parts, size = [self.data[self.at :]], 0
        for piece in self._pieces:
            parts.append(piece)
            size += len(piece)
            if size >= wanted:
                break
        self.data, self.at = "".join(parts), 0
        return size > 0

    def peek(self, size: int) -> str:
        """The next `size` characters, or all that are left."""
        while len(self.data) - self.at < size and self.more():
            pass
        return self.data[self.at : self.at + size]

    def forward(self, to: int) -> None:
        """Go on to a place in `data`."""
        self.line += self.data.count("\n", self.at, to)
        self.at = to

    def skip_blank(self) -> str:
        """Go past spaces and commas; the character that stands there, or nothing at the end."""
        while True:
            match = _BLANK.match(self.data, self.at)
            self.forward(match.end() if match else self.at)
            if self.at < len(self.data) or not self.more():
                return self.data[self.at : self.at + 1]

    def value(self) -> str | None:
        """The text of the value that begins here, and go past it. None for one that is too long; _TextEnded where it never ends."""
        depth, here, dropped = 0, self.at, False
        first = self.data[self.at]
        if first not in '{["':
            return self._scalar()
        quoted = first == '"'
        here += quoted
        while True:
            if quoted:
                match = _IN_STRING.match(self.data, here)
                here = match.end() if match else here
                ended = self.data[here : here + 1] == '"'
                here += ended
                quoted = not ended
            else:
                found = _STRUCTURE.search(self.data, here)
                ended = found is not None
                here = found.end() if found else len(self.data)
                if found:
                    quoted = found[0] == '"'
                    depth += (found[0] in "{[") - (found[0] in "}]")
            if ended and not quoted and depth <= 0:
                raw = self.data[self.at : here]
                self.forward(here)
                return None if dropped or len(raw) > _MAX_VALUE else raw
            if here - self.at > _MAX_VALUE:
                self.forward(here)
                dropped = True
            if not ended:
                offset = here - self.at
                if not self.more():
                    raise _TextEnded
                here = self.at + offset

    def _scalar(self) -> str:
        while True:
            match = _SCALAR.match(self.data, self.at)
            end = match.end() if match else self.at
            if end < len(self.data) or end - self.at > 1000 or not self.more():
                raw = self.data[self.at : max(end, self.at + 1)]
                self.forward(self.at + len(raw))
                return raw

    def lines(self, longest: int) -> Iterator[tuple[int, str, bool]]:
        """(number, text, whole) of every line that is left, without its end; of one over `longest` its beginning."""
        cut = ""  # the beginning of a line whose rest is being dropped
        while True:
            end = self.data.rfind("\n", self.at)
            if end >= 0:
                number, block = self.line, self.data[self.at : end].split("\n")
                self.forward(end + 1)
                for below, line in enumerate(block):
                    yield number + below, (cut or line)[:longest], not cut and len(line) <= longest
                    cut = ""
            if len(self.data) - self.at > longest:
                cut = cut or self.data[self.at : self.at + longest]
                self.forward(len(self.data))
            if not self.more():
                if cut or self.at < len(self.data):
                    yield self.line, cut or self.data[self.at :], not cut
                return


def starts_with_json(text: Text) -> bool:
    """True where a text begins as JSON does, or its lines are JSON, the first one perhaps cut."""
    return bool(_STARTS.match(text.peek(4096))) or _is_lines(text)


def json_items(text: Text, notes: Notes) -> Iterator[JsonItem]:
    """Every value of JSON lines, or every member of the lists of a JSON document, one after another."""
    yield from _json_lines(text, notes) if _is_lines(text) else _document(text, notes)


# -- one value a line -------------------------------------------------------------------------------------------------


def _is_lines(text: Text) -> bool:
    """True when the first line, or the second after one that was cut, is an object by itself."""
    start = text.peek(1 << 16)
    if start.count("\n") < 3 and not start.lstrip(_BETWEEN).startswith("["):
        start = text.peek(1 << 20)
    lines = [line for line in start.lstrip(_BETWEEN).split("\n") if line.strip()]
    if not lines or lines[0].startswith("["):
        return False
    if _is_object(lines[0]):
        return True
    cut = '":' in lines[0] or lines[0].rstrip().endswith("}")
    return cut and len(lines) > 2 and lines[1].startswith("{") and _is_object(lines[1])


def _is_object(line: str) -> bool:
    try:
        return isinstance(_loads(line), dict)
    except ValueError:
        return False


def _json_lines(text: Text, notes: Notes) -> Iterator[JsonItem]:
    """The value of each line; a line that is not JSON is told and left out."""
    bad: tuple[int, str] | None = None
    for line, raw, whole in text.lines(_MAX_VALUE):
        if bad:
            notes.say(bad[0], f"not a whole JSON value ({bad[1]}); left out")
            bad = None
        if not whole:
            notes.say(line, f"over {_MAX_VALUE:,} characters in one line; left out")
        elif raw.strip(_BETWEEN):
            try:
                yield JsonItem(_loads(raw), line, line, raw)
            except ValueError as error:
                bad = line, _told(error)
    if bad:
        notes.say(bad[0], f"not a whole JSON value ({bad[1]}; cut off here); left out")


def _told(error: ValueError) -> str:
    return str(getattr(error, "msg", error))[:80]


# -- one document -----------------------------------------------------------------------------------------------------


def _document(text: Text, notes: Notes) -> Iterator[JsonItem]:
    """The messages or conversations of a document: the members of its lists, or the object that it is."""
    try:
        while first := text.skip_blank():
            if first == "[":
                yield from _members(text, notes)
            elif first == "{":
                yield from _object(text, notes)
            else:
                text.value()
    except _TextEnded as cut:
        notes.say(text.line, str(cut))


def _members(text: Text, notes: Notes) -> Iterator[JsonItem]:
    """What stands in a list, each by itself."""
    text.forward(text.at + 1)
    while (first := text.skip_blank()) != "]":
        if not first:
            raise _TextEnded
        if first in ":}":  # cannot be; go on to what may be a value
            text.forward(text.at + 1)
            continue
        item = _item(text, notes)
        if item:
            yield item
    text.forward(text.at + 1)


def _item(text: Text, notes: Notes) -> JsonItem | None:
    line = text.line
    raw = text.value()
    if raw is None:
        notes.say(line, f"a value of over {_MAX_VALUE:,} characters; left out")
        return None
    try:
        return JsonItem(_loads(raw), line, text.line, raw)
    except ValueError as error:
        notes.say(line, f"not JSON ({_told(error)}); left out")
        return None


def _object(text: Text, notes: Notes) -> Iterator[JsonItem]:
    """The members of its lists of messages; the object as a whole where it has none."""
    start = below = text.line
    found: dict[str, Any] = {}
    raws: list[str] = []
    room, listed, cut = _MAX_VALUE, False, None
    text.forward(text.at + 1)
    try:
        while text.skip_blank() != "}":
            key = _key(text, notes)
            if text.skip_blank() == "[" and key in _LISTS:
                listed = True
                yield from _members(text, notes)
                continue
            item = _item(text, notes)
            if item and (room := room - len(item.raw) - len(key) - 64) > 0:
                found[key] = item.value
                # Line for line as in the file, so that a place in it can be told.
                raws.append("\n" * (item.line - below) + f'"{key}":{item.raw}')
                below = item.end_line
        text.forward(text.at + 1)
    except _TextEnded as error:
        cut = error
    if found and not listed:
        yield JsonItem(found, start, text.line, "".join(raws))
    if cut:
        raise cut


def _key(text: Text, notes: Notes) -> str:
    """The name of a member, and go past its colon to where the value begins."""
    if not text.skip_blank():
        raise _TextEnded
    key = _item(text, notes) if text.peek(1) == '"' else None
    if key is None or text.skip_blank() != ":":
        raise _TextEnded("not JSON; what follows was not read")
    text.forward(text.at + 1)
    if not text.skip_blank():
        raise _TextEnded
    return str(key.value)
