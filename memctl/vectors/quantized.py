"""A vector as it is kept, and the script of a text, which decides what a vector loses first. Pure, and without numpy.

A vector is brought to length 1, loses the mean of its script (else lines of one language stand nearer to each other than
to their meaning in another), and is kept as int8 components (vectors/matrix.py).
"""

from __future__ import annotations

from typing import NamedTuple

LATIN, CYRILLIC, HAN = SCRIPTS = range(3)
_LOOKED = 400  # characters that decide the script of a text
# A few letters of another script move a vector: «用 nginx 做 reverse proxy» lies with Chinese, «закрыл PR в memctl» with
# Russian (multilingual-e5-small). Kana and hangul lie nearest to Han, Greek to Cyrillic.
_CYRILLIC_WEIGHT, _HAN_WEIGHT = 4, 10


class Code(NamedTuple):
    """A centred vector: the script whose mean was taken away, and int8 components."""

    script: int
    codes: bytes


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
