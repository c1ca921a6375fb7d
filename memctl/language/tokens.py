"""How many tokens a language model makes of a text: an estimate without any tokenizer, and what a counter is.

The weights were fitted to the largest count that Tekken, Qwen, Llama 3 and 4, DeepSeek and o200k give for a text, so that
a budget kept by this estimate is not exceeded by more than a tenth with any of them; `bench/tokens.py` measures it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from math import ceil

Counter = Callable[[str], int]
"""What counts the tokens of a text."""

_CLASSES = (
    # letter, weight of each character, ranges of code points
    ("l", 0.9, ((0xC0, 0x24F), (0x1E00, 0x1EFF))),  # Latin with accents: counted with words as well
    ("g", 0.95, ((0x370, 0x3FF),)),
    ("r", 0.0, ((0x400, 0x52F),)),  # Cyrillic is counted by words
    ("H", 1.1, ((0x590, 0x5FF),)),
    ("b", 0.4, ((0x600, 0x6FF),)),
    ("d", 1.1, ((0x900, 0x97F),)),
    ("T", 0.6, ((0xE00, 0xE7F),)),
    ("k", 0.6, ((0x3040, 0x30FF),)),
    ("K", 0.8, ((0xAC00, 0xD7AF),)),
    ("h", 1.08, ((0x4E00, 0x9FFF),)),
    ("p", 0.6, ((0x80, 0xBF), (0x2010, 0x205F), (0x3000, 0x303F), (0xFF00, 0xFFEF))),
    ("s", 1.3, ((0x2000, 0x200F), (0x2060, 0x2BFF), (0xFE00, 0xFE0F))),
    ("e", 4.0, ((0x10000, 0x10FFFF),)),
)
_OTHER = 2.2  # a character of another script: up to three bytes, each a token at worst
_WEIGHTS = {letter: weight for letter, weight, _ in _CLASSES} | {"o": _OTHER, "c": 1.0, "t": 0.5}
_DIGIT, _DIGIT_AFTER_SPACE, _MIXED = 1.0, 0.8, 0.75
_INNER, _LONG, _CAPITAL = 0.45, 0.45, 0.56
_PUNCTUATION, _RUN, _RARE, _BREAK = 0.4, 0.5, 0.3, 0.8
_CYRILLIC, _CYRILLIC_LONG = 0.95, 0.78


class _Classes(dict[int, str]):
    """Code point -> the letter of its class, filled as characters are met."""

    def __missing__(self, code: int) -> str:
        self[code] = letter = _class_of(code)
        return letter


def _class_of(code: int) -> str:
    char = chr(code)
    if code < 0x80:
        if char.isalpha():
            return "a" if char.islower() else "A"
        named = {" ": " ", "\n": "n", "\r": "n", "\t": "t"}
        return "0" if char.isdigit() else named.get(char, "c" if code < 32 or code == 127 else ".")
    return next((letter for letter, _, spans in _CLASSES if any(a <= code <= b for a, b in spans)), "o")


_classes = _Classes()


_PATTERNS = (
    r"A?[al]+|A+",  # words
    r"(?<=[^ Aal])A?[al]+|(?<=[^ Aal])A+",  # a word behind a sign or a digit, which often share a token
    r"(?<=[al]{5})[al]+",  # the end of a long word
    r"(?<=A)A",
    r"(?<!r)r",
    r"(?<=rrrr)r",
    r"(?<!\.)\.",
    r"(?<=\.\.)\.",  # regular expressions, base64: signs that stand together in no usual way
    r"n+",
    r"0[aA]|[aA]0",
)


@cache
def _compiled() -> tuple[re.Pattern[str], ...]:
    return tuple(map(re.compile, _PATTERNS))


def estimate(text: str) -> int:
    """About how many tokens `text` is; rather too many than too few, in any script.

    Words count by their length, digits one by one, other scripts by what their characters cost the vocabularies of
    today. One of 32,000 pieces (Llama 2) needs more for Cyrillic and Chinese: name its tokenizer.json as counter.
    """
    if not text:
        return 0
    read = text.translate(_classes)
    found = (pattern.findall(read) for pattern in _compiled())
    words, inner, long, capitals, cyrillic, cyrillic_long, runs, rare, breaks, mixed = found
    total = len(words) - _INNER * len(inner) + _LONG * sum(map(len, long)) + _CAPITAL * len(capitals)
    total += _DIGIT * read.count("0") + _DIGIT_AFTER_SPACE * read.count(" 0") + _MIXED * len(mixed)
    signs = _RUN * len(runs) + _RARE * len(rare) + _PUNCTUATION * read.count(".")
    total += signs + _BREAK * len(breaks) + 0.3 * read.count("  ")
    total += _CYRILLIC * len(cyrillic) + _CYRILLIC_LONG * len(cyrillic_long)
    if not text.isascii():
        total += sum(weight * read.count(letter) for letter, weight in _WEIGHTS.items())
    else:
        total += read.count("c") + 0.5 * read.count("t")
    return ceil(total)
