"""The numbers and names by which pages, lines and facts are known again: hashes of what they say."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import TYPE_CHECKING

from .facts import Kind
from .language.names import entity_key, stem_key

if TYPE_CHECKING:
    from hashlib import blake2b
else:
    try:
        from _blake2 import blake2b  # hashlib would load OpenSSL first: 3 ms of every recall
    except ImportError:
        from hashlib import blake2b

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"  # Crockford's base 32: no letter that looks like a digit
_PAIRS = [first + second for first in ALPHABET for second in ALPHABET]


def hashed(data: bytes, size: int) -> bytes:
    """BLAKE2b of `data` in `size` bytes."""
    return blake2b(data, digest_size=size).digest()


def hasher(size: int) -> blake2b:
    """The same of data that comes in pieces."""
    return blake2b(digest_size=size)


def page_id(path: str) -> int:
    """A number for a page that depends on its path alone (41 bits, so that ids of rows fit into 63)."""
    return int.from_bytes(hashed(path.encode(), 8)) >> 23


def digest(raw: Sequence[str]) -> int:
    """64 bits of the lines that a citation stands for; spaces at line ends do not count."""
    return text_key("\n".join([line.rstrip() for line in raw]))


def content_key(content: str, names: Sequence[str]) -> int:
    """64 bits that are equal for twins: the same words about the same entities, whatever the day and the case."""
    return text_key("\0".join([" ".join(content.casefold().split()), *sorted(entity_key(name) for name in names)]))


def value_key(slot: str, value: str) -> int:
    """64 bits that are equal for lines that give a slot the same value in other words, or in another case («Милан», «Милане»)."""
    while (stem := stem_key(value)) != value and len(stem) < len(value):
        value = stem
    return text_key(f"{slot}\0{value}")


def text_key(text: str) -> int:
    """64 bits by which a text is known again, one that was embedded too."""
    return int.from_bytes(hashed(text.encode("utf-8", "replace"), 8), signed=True)


def fact_id(kind: Kind, names: Sequence[str], content: str, day: date | None, ordinal: int = 0) -> str:
    """`f-` and 8 characters (40 bits) of what a fact says; the ordinal tells twins on one page apart."""
    parts = [kind.value, *names, "", " ".join(content.split()), str(day or ""), str(ordinal or "")]
    return f"f-{_spelled(parts)}"


def question_id(kind: str, *about: str) -> str:
    """`q-` and 8 characters of what a question is about: a kind of review, and two ids or names in any order."""
    return f"q-{_spelled([kind, *sorted(about)])}"


def kept_as(kind: Kind, names: Sequence[str], text: str, day: date | None) -> tuple[str, str]:
    """What the question is about whether a fact said on a day is worth keeping: that day and its words."""
    return str(day), " ".join([kind.letter, *names, ":", text])


def part_id(ref: str) -> str:
    """The id that stands in `settles=` of a fact kept from a part of a note; of one kept from the whole, `ref` does."""
    return f"n-{_spelled([ref])}"


def belief_id(ref: str) -> str:
    """The id of the belief that the fact `ref` states."""
    return f"o-{ref.removeprefix('f-')}"


def question_ids(one: str, other: str, belief: str = "") -> set[str]:
    """The ids under which review may ask about two lines, the first of which states a belief: one answer ends them all."""
    held = belief or belief_id(one)
    return {question_id("replaced", one, other), *(question_id(kind, held, other) for kind in ("reversed", "belief"))}


def _spelled(parts: Sequence[str]) -> str:
    number = int.from_bytes(hashed("\0".join(parts).encode("utf-8", "replace"), 5))
    return _PAIRS[number >> 30] + _PAIRS[number >> 20 & 1023] + _PAIRS[number >> 10 & 1023] + _PAIRS[number & 1023]
