"""Names across scripts: phonetic keys, transliteration and pinyin.

Slang writes Latin names by ear («постгрес», «гитхаб», «питон») and Latin keyboards write Russian ones (zhenya). What both
spellings keep are the consonants, so phonetic keys hold those; the first letters say where in a vocabulary to look.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import islice, product

from .analyzer import LATIN, is_cyrillic, simplified
from .names import entity_key, is_han
from .words import words, words_of

_MOST = 16  # beginnings to look under
_CYRILLIC = str.maketrans(
    dict(zip("абвгдезийклмнопрстуфхыэіїєґў", "abvgdeziiklmnoprstufhieiiegu", strict=True))
    | {"ж": "zh", "ц": "ts", "ч": "ch", "ш": "sh", "щ": "sh", "ъ": "", "ь": "", "ю": "iu", "я": "ia", "ё": "e"}
)
_DOUBLED = re.compile(r"(.)\1+")


@cache
def _table(topic: str, section: str) -> dict[str, str]:
    return {left: right for left, _, right in (entry.partition("=") for entry in words_of(topic, section))}


@lru_cache(maxsize=10_000)
def phonetic_key(term: str) -> str:
    """The consonants of a term in either script as far as both scripts tell them apart; `a` for a vowel at its begin."""
    sounds = term.translate(LATIN)
    for written, heard in _table("phonetic", "sounds").items():
        sounds = sounds.replace(written, heard)
    first = "a" if sounds[:1] in tuple("aeiouy") else sounds[:1]
    kept = re.sub(r"[aeiouyh\W\d_]", "", re.sub(r"(.)\1+", r"\1", sounds)[1:])
    return first + kept


def sounds_alike(asked: str, found: str) -> bool:
    """True if a term asked for in one script is the beginning of a name found in the other, by its sound.

    Two consonants must be all there are.
    """
    heard, other = phonetic_key(asked), phonetic_key(found)
    if len(heard) < 2:
        return False
    return other == heard or (len(heard) >= 3 and len(asked) >= 4 and other.startswith(heard))


def other_script_prefixes(term: str) -> list[str]:
    """How the other script may begin a term, likeliest first: what to look under."""
    table = _table("phonetic", "to latin" if is_cyrillic(term) else "to cyrillic")
    parts: list[list[str]] = []
    at = 0
    while at < len(term) and (at < 3 or len(parts) < 2):
        size = next((n for n in (4, 3, 2) if len(term[at : at + n]) == n and term[at : at + n] in table), 1)
        piece = term[at : at + size]
        parts.append(table.get(piece, piece.translate(LATIN)).split("/"))
        at += size
    first = islice(product(*(enumerate(part) for part in parts)), 200)
    ranked = sorted(first, key=lambda found: sum(n for n, _ in found))
    made = dict.fromkeys("".join(piece for _, piece in found) for found in ranked)
    return [start for start in made if len(start) >= 2][:_MOST]


_RULES = (
    (r"c(?=[eiy])", "ts"),
    (r"c(?!h)", "k"),
    (r"(?<=[bdfgklmnprstvz])[yj]o", "e"),
    (r"(?:(?<=[aeiou])|^)[yj]e", "e"),
    (r"[yj]", "i"),
)


@lru_cache(maxsize=50_000)
def transliterate(word: str) -> str:
    """A word of an `entity_key` in Latin letters that all its transliterations share: «Юлия», Julia and Yulia are `iulia`.

    Chinese characters stay, in their simplified form.
    """
    plain = word if word.isascii() else word.translate(_CYRILLIC).translate(simplified())
    for old, new in _table("phonetic", "transliterations").items():
        plain = plain.replace(old, new)
    for pattern, by in _RULES if not {"c", "y", "j"}.isdisjoint(plain) else ():
        plain = re.sub(pattern, by, plain)
    return _DOUBLED.sub(r"\1", plain) or word


@cache
def _pinyin() -> tuple[dict[str, str], dict[str, str]]:
    """The syllable of each character, for surnames and for given names."""
    surnames, given = (
        {char: syllable for syllable, chars in re.findall(r"([a-z]+)([^a-z\s]+)", table) for char in chars}
        for table in (" ".join(words("zh", "names")[section]) for section in ("surnames", "given"))
    )
    return surnames, surnames | given


def is_surname(char: str) -> bool:
    """True for a Chinese character that is a common surname, traditional or simplified."""
    return char.translate(simplified()) in _pinyin()[0]


def pinyin_keys(name: str) -> Iterator[str]:
    """What a Chinese name of two or three characters, or a Latin or Cyrillic one of two or three words, may be in pinyin.

    `surname given`, and for words, of which either may be the surname, the other way round too.
    """
    if 2 <= len(name) <= 3 and all(map(is_han, name)):
        plain = name.translate(simplified())
        surnames, given = _pinyin()
        if plain[0] in surnames and all(char in given for char in plain[1:]):
            yield f"@{surnames[plain[0]]} {''.join(given[char] for char in plain[1:])}"
        return
    words = entity_key(name).translate(_CYRILLIC).split()
    if len(words) in (2, 3) and all(word.isascii() and word.isalpha() and len(word) < 12 for word in words):
        yield f"@{words[0]} {''.join(words[1:])}"
        yield f"@{words[-1]} {''.join(words[:-1])}"
