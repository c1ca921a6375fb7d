"""What of a line is given to a model that embeds it, and the script by whose mean its vector is centred. Pure: a vector is known
again by the text it was made from."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

RECIPE = 4  # raise it with every change of what is embedded: vectors of another recipe are not used
CAP = 1_200  # characters of one text, about 300 tokens; what is longer costs seconds (100 KB: 43 s)
_WIDE = 3  # a Han character costs a model about as much as three Latin letters
_BREAK = 120  # characters before the cap in which a space is looked for
# A short line in a log is often an answer whose question stands one line above: so much of its end goes before it.
# Measured on LoCoMo (docs/retrieval.md); a line that long says enough by itself, and a fact is written to stand alone.
_ABOVE = 120
_SHORT = 400
_BEGINNING = 800  # of a document: its title and what it says first
_LONG_PAGE = 6_000  # characters of prose; a longer document says more than it begins with, so its lines have vectors
LATIN, CYRILLIC, HAN = SCRIPTS = range(3)
_LOOKED = 400  # characters that decide the script of a text
# A few letters of another script move a vector: «用 nginx 做 reverse proxy» lies with Chinese, «закрыл PR в memctl» with
# Russian (multilingual-e5-small). Kana and hangul lie nearest to Han, Greek to Cyrillic.
_CYRILLIC_WEIGHT, _HAN_WEIGHT = 4, 10


class Piece(NamedTuple):
    """An entry as far as its vector needs it."""

    id: int
    role: str
    names: tuple[str, ...]  # those that its head gives and its content may not repeat
    content: str
    cues: tuple[str, ...] = ()  # further texts by which it is to be found: each becomes a vector of its own


def embedded_texts(pieces: Sequence[Piece]) -> Iterator[tuple[int, str]]:
    """(place in `pieces`, text) for each vector of a page, in its order.

    An entry has several where it has cues; of a long line it is the beginning. One that says nothing has none.
    """
    own = [embeddable_text(_said(piece)) for piece in pieces]
    for place, piece in enumerate(pieces):
        text = own[place]
        follows = place and piece.role != "fact" and pieces[place - 1].id == piece.id - 1
        if text and follows and _fitting(text, _SHORT) == len(text):
            above = own[place - 1]
            end = above[len(above) - _fitting(above[::-1], _ABOVE) :].lstrip()
            text = f"{end} {text}".lstrip()
        yield from ((place, shortened(said)) for said in (text, *map(embeddable_text, piece.cues)) if said)


def page_texts(title: str | None, pieces: Sequence[Piece]) -> Iterator[tuple[int, str]]:
    """The same of any page; a daily log has no title."""
    return embedded_texts(pieces) if title is None else document_texts(title, pieces)


def document_texts(title: str, pieces: Sequence[Piece]) -> Iterator[tuple[int, str]]:
    """The same of a document. A fact and a long paragraph speak for themselves, short lines of a short document that is not a list by
    their page, whose title and beginning stand behind the last piece; unless half of it or more are such paragraphs."""
    notes = [piece for piece in pieces if piece.role != "fact"]
    texts = {piece.id: embeddable_text(piece.content) for piece in notes if piece.role in ("text", "item")}
    long = {i for i, text in texts.items() if _fitting(text, _SHORT) < len(text)}
    has_whole = len(notes) > 2 * len(long)
    is_list = sum(piece.role in ("item", "row") for piece in notes) * 3 > len(notes) * 2
    by_line = not has_whole or is_list or sum(map(len, texts.values())) > _LONG_PAGE
    alone = {piece.id for piece in pieces if by_line or piece.role == "fact" or piece.id in long}
    yield from ((place, text) for place, text in embedded_texts(pieces) if pieces[place].id in alone)
    if has_whole:
        prose = " ".join(piece.content[:_BEGINNING] for piece in notes if piece.role != "code")
        yield len(pieces), shortened(embeddable_text(f"{title}. {prose}"), _BEGINNING)


def _said(piece: Piece) -> str:
    missing = [name for name in piece.names if name not in piece.content]
    return f"{', '.join(missing)}: {piece.content}" if missing else piece.content


def embeddable_text(text: str) -> str:
    """`text` on one line, without what breaks a model: a NUL ends it early, a lone surrogate cannot be encoded."""
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode("utf-8")
    return " ".join(re.sub("[\x00-\x1f\x7f\ufffe\uffff]+", " ", text).split())


def shortened(text: str, cap: int = CAP) -> str:
    """The beginning of `text` that fits, up to a space where there is one near."""
    return text[: _fitting(text, cap)].rstrip()


def _fitting(text: str, cap: int) -> int:
    if len(text) * (1 if text.isascii() else _WIDE) <= cap:
        return len(text)
    cost = end = 0
    for letter in text:
        cost += _WIDE if letter >= "\u2e80" else 1
        if cost > cap:
            break
        end += 1
    space = text.rfind(" ", max(1, end - _BREAK), end + 1) if end < len(text) else -1
    return space if space > 0 else end


def vector_script(text: str) -> int:
    """The script whose mean a text is nearest to: LATIN (and most others), CYRILLIC (and Greek) or HAN (and kana, hangul)."""
    if text.isascii():
        return LATIN
    letters = [ord(c) for c in text[:_LOOKED] if c.isalpha()]
    cyrillic = sum(0x370 <= c < 0x530 for c in letters)
    han = sum(_is_han(c) for c in letters)
    counts = (len(letters) - cyrillic - han, _CYRILLIC_WEIGHT * cyrillic, _HAN_WEIGHT * han)
    return counts.index(max(counts))


def _is_han(c: int) -> bool:
    return 0x3040 <= c < 0xA000 or 0xAC00 <= c < 0xD7B0 or 0xF900 <= c < 0xFB00 or 0x20000 <= c < 0x32000
