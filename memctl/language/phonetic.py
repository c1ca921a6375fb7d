"""The same name in Latin and in Cyrillic letters: how the other script may begin it, and whether two sound alike.

Slang writes Latin names by ear («постгрес», «гитхаб», «питон») and Latin keyboards write Russian ones (zhenya). What
both spellings keep are the consonants, so those are compared; the first letters say where in a vocabulary to look.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import islice, product

from .analyzer import LATIN, is_cyrillic

__all__ = ["alike", "latin", "skeleton", "starts"]

_MOST = 16  # beginnings to look under
_TO_LATIN = {
    "а": "a u", "в": "v w", "дж": "j dj g", "е": "e ye", "ж": "j zh g", "з": "z s", "и": "i y e", "й": "y i", "к": "k c q ck ch",
    "о": "o a", "с": "s c", "у": "u o w oo", "ф": "f ph", "х": "h ch kh", "ц": "c ts", "ч": "ch", "ш": "sh", "щ": "sch sh", "ы": "y i",
    "э": "e a", "ю": "u yu", "я": "ya ia a", "ай": "i y ai", "ей": "a ay ai ey", "кс": "x ks", "ь": "", "ъ": "",
}  # fmt: skip
_TO_CYRILLIC = {
    "a": "а", "b": "б", "c": "к ц с", "ch": "ч х к", "ck": "к", "d": "д", "e": "е э", "f": "ф", "g": "г дж ж", "h": "х г", "i": "и",
    "ia": "я иа", "iu": "ю", "j": "дж й ж", "ju": "ю", "ja": "я", "k": "к", "kh": "х", "l": "л", "m": "м", "n": "н", "o": "о", "p": "п",
    "ph": "ф", "q": "к", "r": "р", "s": "с з", "sh": "ш", "sch": "щ ш", "shch": "щ", "t": "т", "th": "т", "ts": "ц", "u": "у ю", "v": "в",
    "w": "в у", "x": "кс х", "y": "и й ы", "ya": "я", "ye": "е", "yo": "е", "yu": "ю", "z": "з ц", "zh": "ж",
}  # fmt: skip
_SOUNDS = (
    ("dzh", "j"), ("dj", "j"), ("zh", "j"), ("shch", "s"), ("sch", "s"), ("sh", "s"), ("ch", "k"), ("kh", "h"), ("ck", "k"), ("ce", "se"),
    ("ci", "si"), ("cy", "sy"), ("ph", "f"), ("x", "ks"), ("qu", "kv"), ("c", "k"), ("q", "k"), ("w", "v"), ("z", "s"),
)  # fmt: skip


def latin(term: str) -> str:
    """A Cyrillic term letter by letter in Latin ones."""
    return term.translate(LATIN)


@lru_cache(maxsize=10_000)
def skeleton(term: str) -> str:
    """The consonants of a term in either script as far as both scripts tell them apart; `a` for a vowel at its begin."""
    sounds = latin(term)
    for written, heard in _SOUNDS:
        sounds = sounds.replace(written, heard)
    first = "a" if sounds[:1] in tuple("aeiouy") else sounds[:1]
    kept = re.sub(r"[aeiouyh\W\d_]", "", re.sub(r"(.)\1+", r"\1", sounds)[1:])
    return first + kept


def alike(asked: str, found: str) -> bool:
    """True if a term asked for in one script is the beginning of a name found in the other, by its sound.

    Two consonants must be all there are.
    """
    heard, other = skeleton(asked), skeleton(found)
    if len(heard) < 2:
        return False
    return other == heard or (len(heard) >= 3 and len(asked) >= 4 and other.startswith(heard))


def starts(term: str) -> list[str]:
    """How the other script may begin a term, likeliest first: what to look under."""
    table = _TO_LATIN if is_cyrillic(term) else _TO_CYRILLIC
    parts: list[list[str]] = []
    at = 0
    while at < len(term) and (at < 3 or len(parts) < 2):
        size = next((n for n in (4, 3, 2) if len(term[at : at + n]) == n and term[at : at + n] in table), 1)
        piece = term[at : at + size]
        parts.append(table.get(piece, latin(piece)).split(" "))
        at += size
    ranked = sorted(
        islice(product(*(enumerate(part) for part in parts)), 200), key=lambda found: sum(n for n, _ in found)
    )
    made = dict.fromkeys("".join(piece for _, piece in found) for found in ranked)
    return [start for start in made if len(start) >= 2][:_MOST]
