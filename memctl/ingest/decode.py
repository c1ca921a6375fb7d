"""The bytes of a transcript as text: which encoding they are in, piece by piece, with one kind of line end."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator
from io import IncrementalNewlineDecoder
from itertools import chain

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


def known_encoding(name: str) -> bool:
    """True for a name of a text encoding that Python can read piece by piece."""
    try:
        return codecs.lookup(name)._is_text_encoding and bool(codecs.getincrementaldecoder(name))
    except (LookupError, ValueError):
        return False


def decoded(pieces: Iterable[bytes], encoding: str | None, notes: Notes) -> Iterator[str]:
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
    decoder = _Decoder(_with_order(notes.encoding, head))
    ends = IncrementalNewlineDecoder(None, translate=True)
    line, odd = 1, 0
    for piece in chain([head], stream):
        text = ends.decode(decoder.decode(piece))
        if "\ufffd" in text:
            odd = odd or line + text.count("\n", 0, text.index("\ufffd"))
        line += text.count("\n")
        yield text
    text = ends.decode(decoder.decode(b"", True), True)
    if "\ufffd" in text:
        odd = odd or line
    if odd:
        notes.say(odd, f"not all of it is {notes.encoding}; unreadable bytes are shown as \ufffd")
    yield text


class _Decoder:
    """An incremental decoder that never raises: some of them do so whatever they are told about errors."""

    def __init__(self, name: str) -> None:
        self._own = codecs.getincrementaldecoder(name)("replace")

    def decode(self, piece: bytes, final: bool = False) -> str:
        """The text of a piece."""
        try:
            return self._own.decode(piece, final)
        except UnicodeError:
            self._own.reset()
            return "\ufffd" * piece.count(b"\n") or "\ufffd"


def _with_order(name: str, head: bytes) -> str:
    """UTF-16 and UTF-32 without a mark are little-endian, as Windows writes them."""
    known = codecs.lookup(name).name
    marked = any(head.startswith(mark) for mark, mine in _BOMS if mine == known)
    return f"{known}-le" if known in ("utf-16", "utf-32") and not marked else known


def _taken_for(head: bytes) -> str:
    """The encoding that the beginning of a file speaks for."""
    for mark, name in _BOMS:
        if head.startswith(mark):
            return name
    wide = _without_mark(head)
    if wide:
        return wide
    text = head.decode("utf-8", "replace")
    strange = len(text) - len(text.encode("ascii", "ignore"))
    broken = text.count("\ufffd") - (1 if text.endswith("\ufffd") else 0)
    if broken <= max(0.1 * strange, 0):
        return "utf-8"
    return _chinese(head) or _cyrillic(head) or "cp1252"


def _without_mark(head: bytes) -> str | None:
    """UTF-16 without a mark: every other byte of plain letters is zero."""
    start = head[:4096]
    if len(start) >= 4 and start.count(0) > len(start) // 4:
        even, odd = start[::2].count(0), start[1::2].count(0)
        if min(even, odd) * 4 <= max(even, odd):
            return "utf-16-le" if odd > even else "utf-16-be"
    return None


def _chinese(head: bytes) -> str | None:
    """GB 18030 where nearly all that is not ASCII reads as common characters of Chinese."""
    text = codecs.getincrementaldecoder("gb18030")("replace").decode(head)
    strange = [char for char in text if char > "\x7f"]
    common = sum(bool(char.encode("gb2312", "ignore")) for char in strange)  # the 7,000 characters of everyday
    return "gb18030" if strange and "\ufffd" not in text and common >= 0.9 * len(strange) else None


def _cyrillic(head: bytes) -> str | None:
    """The Cyrillic code page under which the bytes read as words of small letters."""
    scores = {name: _small(head.decode(name, "replace")) for name in _CYRILLIC}
    best = max(scores, key=lambda name: scores[name])
    strange = sum(byte >= 0x80 for byte in head)
    return best if scores[best] >= 0.6 * strange else None


def _small(text: str) -> int:
    """Small Cyrillic letters that stand beside another letter of the same kind."""
    return sum(map(len, re.findall("[А-ЯЁ]?[а-яё]{2,}", text)))
