"""A transcript as text: which encoding it is in, one kind of line end; and JSON too long to hold, value after value with its line.

json.JSONDecoder wants the whole text, and a parser of events (ijson) gives no lines; here only the brackets are
counted, and json.loads reads what stands between them. Memory is bounded by the longest value, which is bounded too.
"""

import codecs
import json
import re
from collections.abc import Iterable, Iterator
from io import IncrementalNewlineDecoder
from itertools import chain
from typing import Any, NamedTuple

from .turns import Notes

_SAMPLE = 1 << 16  # bytes by which the encoding is judged
_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_CYRILLIC = ("cp1251", "koi8-r", "cp866")
_MAX_VALUE = 1 << 24  # characters of one value: a message, a line, or a conversation of a ChatGPT export
_GROWTH = 1 << 16
_BETWEEN = "\ufeff\x1e\x00 \t\r\n"  # what may stand around values
_STRUCTURE = re.compile(r'["{}\[\]]')
_IN_STRING = re.compile(r'[^"\\]*+(?:\\.[^"\\]*+)*+', re.DOTALL)
_LONGEST_KEY = 40
_LISTS = {"messages", "conversations", "chat_messages", "history", "turns", "items", "input"}
_STARTS = re.compile(r"[\ufeff\x1e\x00\s]*(?:\[\s*(?:[\[{\]]|\"|$)|\{\s*(?:[\"}]|$))")


def known_encoding(name: str) -> bool:
    """True for a name of a text encoding that Python can read piece by piece, whatever the bytes."""
    try:
        if not codecs.lookup(name)._is_text_encoding:
            return False
        codecs.getincrementaldecoder(name)("replace").decode(b"\xff", True)
    except (LookupError, ValueError):
        return False
    return True


def decoded_pieces(pieces: Iterable[bytes], encoding: str | None, notes: Notes) -> Iterator[str]:
    """Text piece by piece, all line ends as `\\n`; what no encoding fits is shown as U+FFFD, and its first line told."""
    stream = iter(pieces)
    head = b""
    for piece in stream:
        head += piece
        if len(head) >= _SAMPLE:
            break
    notes.encoding = encoding or _taken_for(head)
    if not encoding and notes.encoding not in ("utf-8", "utf-8-sig", "utf-16", "utf-32"):
        notes.say(0, f"not UTF-8; taken for {notes.encoding} (--encoding NAME if it is another)")
    codec = codecs.lookup(notes.encoding).name
    if codec in ("utf-16", "utf-32") and not any(head.startswith(mark) for mark, name in _BOMS if name == codec):
        codec += "-le"  # as Windows writes them without a mark
    ends = IncrementalNewlineDecoder(codecs.getincrementaldecoder(codec)("replace"), translate=True)
    line, odd = 1, 0
    for piece in chain([head], filter(None, stream), [b""]):
        try:
            text = ends.decode(piece, final=not piece)
        except UnicodeError:  # some codecs (iso2022_jp) raise whatever they are told about errors
            ends.reset()
            text = "\ufffd" + "\n" * piece.count(b"\n")
        if "\ufffd" in text:
            odd = odd or line + text.count("\n", 0, text.index("\ufffd"))
        line += text.count("\n")
        yield text
    if odd:
        notes.say(odd, f"not all of it is {notes.encoding}; unreadable bytes are shown as \ufffd")


def _taken_for(head: bytes) -> str:
    for mark, name in _BOMS:
        if head.startswith(mark):
            return name
    start = head[:4096]
    if len(start) >= 4 and start.count(0) > len(start) // 4:  # UTF-16: every other byte of plain letters is zero
        even, odd = start[::2].count(0), start[1::2].count(0)
        if min(even, odd) * 4 <= max(even, odd):
            return "utf-16-le" if odd > even else "utf-16-be"
    text = head.decode("utf-8", "replace")
    strange = len(text) - len(text.encode("ascii", "ignore"))
    broken = text.count("\ufffd") - text.endswith("\ufffd")
    if broken <= 0.1 * strange:
        return "utf-8"
    return _chinese(head) or _cyrillic(head) or "cp1252"


def _chinese(head: bytes) -> str | None:
    """GB 18030 where nearly all that is not ASCII reads as common characters of Chinese."""
    text = codecs.getincrementaldecoder("gb18030")("replace").decode(head)
    strange = [char for char in text if char > "\x7f"]
    common = sum(bool(char.encode("gb2312", "ignore")) for char in strange)  # the 7,000 characters of everyday
    return "gb18030" if strange and "\ufffd" not in text and common >= 0.9 * len(strange) else None


def _cyrillic(head: bytes) -> str | None:
    """The Cyrillic code page under which the bytes read as words of small letters."""
    scores = {name: sum(map(len, re.findall("[А-ЯЁ]?[а-яё]{2,}", head.decode(name, "replace")))) for name in _CYRILLIC}
    best = max(scores, key=lambda name: scores[name])
    strange = sum(byte >= 0x80 for byte in head)
    return best if scores[best] >= 0.6 * strange else None


class JsonItem(NamedTuple):
    """A value, the lines on which it begins and ends, and its text as it stands."""

    value: Any
    line: int
    end_line: int
    raw: str


# Python refuses numbers of thousands of digits.
_DECODER = json.JSONDecoder(strict=False, parse_int=lambda digits: int(digits) if len(digits) < 25 else float("inf"))


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
        self.dropped = False  # the value that is being read was too long to be held
        self.is_cut = False  # it ended inside a string

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

    def lines(self, longest: int) -> Iterator[tuple[int, str, bool]]:
        """(number, text, whole) of every line that is left, without its end; of one over `longest` its beginning."""
        number, line = self.line, ""
        for piece in chain([self.data[self.at :]], self._pieces):
            *ended, rest = piece.split("\n")
            for end in ended:
                line += end
                yield number, line[:longest], len(line) <= longest
                number, line = number + 1, ""
            if len(line) <= longest:
                line += rest
        if line:
            yield number, line[:longest], len(line) <= longest


def starts_with_json(text: Text) -> bool:
    """True where a text begins as JSON does, or its lines are JSON, the first one perhaps cut."""
    return bool(_STARTS.match(text.peek(4096))) or _is_lines(text)


def json_items(text: Text, notes: Notes) -> Iterator[JsonItem]:
    """Every value of JSON lines, or every member of the lists of a JSON document, one after another."""
    yield from _json_lines(text, notes) if _is_lines(text) else _document(text, notes)


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


def _document(text: Text, notes: Notes) -> Iterator[JsonItem]:
    """The members of its lists of messages, each by itself; the object as a whole where it has none."""
    opened: list[str] = []
    key, held, line, listing = "", -1, 1, False
    # `held`: how many brackets are open around the value that is being read
    for mark, here in _marks(text):
        depth = len(opened)
        if mark == '"':
            key = text.data[max(0, here - _LONGEST_KEY) : here - 1].rpartition('"')[2]
        elif mark in "{[":
            if depth == 1 and mark == "[" and opened[0] == "{" and key in _LISTS:
                held, listing = -1, True
            elif held < 0 and (mark == "{" if not depth else depth == 1 + listing and opened[-1] == "["):
                text.forward(here - 1)
                held, line, text.dropped = depth, text.line, False
            opened.append(mark)
        elif opened:
            opened.pop()
            listing = listing and depth > 2
            if held == depth - 1:
                raw, held = text.data[text.at : here], -1
                text.forward(here)
                yield from _item(raw, line, text, notes)
        if held < 0:
            text.forward(here)
    if opened or text.is_cut:
        notes.say(text.line, "cut off here; what is whole before it was read")


def _item(raw: str, line: int, text: Text, notes: Notes) -> Iterator[JsonItem]:
    if text.dropped or len(raw) > _MAX_VALUE:
        notes.say(line, f"a value of over {_MAX_VALUE:,} characters; left out")
        return
    try:
        yield JsonItem(_loads(raw), line, text.line, raw)
    except ValueError as error:
        notes.say(line, f"not JSON ({_told(error)}); left out")


def _marks(text: Text) -> Iterator[tuple[str, int]]:
    """Every bracket outside of strings and the quotation mark at the end of each string, with the place behind it in `data`."""
    here, quoted = text.at, False
    while True:
        found = _IN_STRING.match(text.data, here) if quoted else _STRUCTURE.search(text.data, here)
        here = found.end() if found else len(text.data)
        ended = text.data[here : here + 1] == '"' if quoted else found is not None
        here += quoted and ended
        if ended:
            quoted = not quoted if text.data[here - 1] == '"' else quoted
            if not quoted:
                yield text.data[here - 1], here
            continue
        if here - text.at > _MAX_VALUE:
            text.forward(here)
            text.dropped = True
        ahead = here - text.at
        if not text.more():
            text.is_cut = quoted
            return
        here = text.at + ahead
