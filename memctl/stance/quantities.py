"""Numbers with their units, times of the day and dates of a clause, as intervals that can be compared."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ..language.analyzer import stop_terms

if TYPE_CHECKING:
    from .lexicon import Phrase, PhraseRole

NUMERALS = "零〇一二两三四五六七八九十百千万半几"
_DIGITS = {char: float(value) for value, char in enumerate("零一二三四五六七八九")} | {"〇": 0.0, "两": 2.0}
_TENS = {"十": 10.0, "百": 100.0, "千": 1000.0, "万": 10000.0}
_SIGNS = {"$": "dollar", "€": "money", "£": "pound", "%": "share", "¥": "yuan", "₽": "rouble", "°": "degree"}
_HALF_DAY = 720  # minutes


class Quantity(NamedTuple):
    """A number: what is measured (a unit, `clock`, `date`, or `of` the things counted), its bounds, as written."""

    dimension: str
    low: float
    high: float
    of: frozenset[str]
    text: str
    at: int
    denied: bool = False


def quantities(phrases: Sequence[Phrase]) -> tuple[Quantity, ...]:
    """Every number of a clause that measures something, in order."""
    found = []
    for at in range(len(phrases)):
        quantity = _quantity(phrases, at)
        if quantity and quantity.at >= 0:
            denied = any(_has(phrases, n, "not") for n in (at - 1, at - 2))
            found.append(quantity._replace(denied=denied))
    return tuple(found)


def agree(one: Quantity, other: Quantity) -> bool | None:
    """True when both can be right, False when they cannot, None when they measure different things."""
    if one.dimension != other.dimension or (one.dimension == "count" and not one.of & other.of):
        return None
    if one.dimension == "clock":
        return one.low == other.low or (abs(one.low - other.low) == _HALF_DAY and min(one.low, other.low) <= _HALF_DAY)
    if one.dimension == "date":
        return one.low == other.low
    return max(one.low, other.low) <= min(one.high, other.high) * 1.02 + 1e-9


def _quantity(phrases: Sequence[Phrase], at: int) -> Quantity | None:
    value = _number(phrases[at])
    if value is None and _word(phrases, at) in ("a", "an") and _unit(phrases, at + 1) and not _is_rate(phrases, at):
        value = 1.0
    if value is None:
        return None
    return _date(phrases, at, value) or _clock(phrases, at, value) or _measure(phrases, at, value)


def _is_rate(phrases: Sequence[Phrase], at: int) -> bool:
    """True for the "a day" of "40 cups a day"."""
    return any(_number(p) is not None or _has([p], 0, "units") for p in phrases[max(0, at - 2) : at])


def _number(phrase: Phrase) -> float | None:
    if phrase.kind != "n":
        return next((role.side for role in phrase.roles if role.section == "numbers"), None)
    text = re.sub(r"[\u00a0\u202f]|,(?=\d{3}(?!\d))", "", phrase.word)
    if text[0] in NUMERALS:
        return _han_number(text)
    return float(text.replace(",", ".")) if re.fullmatch(r"\d{1,15}(?:[.,]\d{1,9})?", text) else 0.0


def _han_number(text: str) -> float | None:
    total, digit = 0.0, 0.0
    for char in text:
        if char in _TENS:
            total += (digit or 1) * _TENS[char]
            digit = 0
        elif char == "半":
            digit += 0.5
        elif char in _DIGITS:
            digit = digit * 10 + _DIGITS[char]
        else:
            return None
    return total + digit


def _has(phrases: Sequence[Phrase], at: int, section: str) -> bool:
    return 0 <= at < len(phrases) and section in phrases[at].sections


def _word(phrases: Sequence[Phrase], at: int) -> str:
    return phrases[at].word.casefold() if 0 <= at < len(phrases) else ""


def _unit(phrases: Sequence[Phrase], at: int) -> PhraseRole | None:
    return (
        next((role for role in phrases[at].roles if role.section == "units"), None) if 0 <= at < len(phrases) else None
    )


def _point(dimension: str, value: float, text: str, at: int) -> Quantity:
    return Quantity(dimension, value, value, frozenset(), text, at)


def _date(phrases: Sequence[Phrase], at: int, value: float) -> Quantity | None:
    """A day of a month; a number that only belongs to one has no place (`at` -1)."""
    text, after = phrases[at].word, _word(phrases, at + 1)
    if iso := re.fullmatch(r"\d{4}-(\d\d)-(\d\d)", text):
        return _point("date", int(iso[1]) * 100 + int(iso[2]), text, at)
    for place in (at + 1, at - 1):
        if _has(phrases, place, "months") and 1 <= value <= 31:
            month = next(role.side for role in phrases[place].roles if role.section == "months")
            said = " ".join(phrases[n].word for n in sorted((at, place)))
            return _point("date", month * 100 + value, said, at)
    if after == "月" and at + 2 < len(phrases) and (day := _number(phrases[at + 2])):
        return _point("date", value * 100 + day, f"{text}月{phrases[at + 2].word}日", at)
    return _point("", 0, text, -1) if after in ("日", "号", "月") else None


def _clock(phrases: Sequence[Phrase], at: int, value: float) -> Quantity | None:
    text, after = phrases[at].word, _word(phrases, at + 1)
    if colon := re.fullmatch(r"(\d{1,2}):(\d\d)", text):
        minutes = int(colon[1]) * 60 + int(colon[2])
    elif value <= 24 and (_has(phrases, at + 1, "clock") or (_has(phrases, at - 1, "at") and _is_bare(phrases, at))):
        past = _number(phrases[at + 2]) if after == "点" and at + 2 < len(phrases) else None
        minutes = int(value * 60) + (30 if after == "点半" else int(past or 0))
    else:
        return None
    late = any(_has(phrases, n, "late") for n in range(at - 2, at + 4))
    minutes += _HALF_DAY if minutes < _HALF_DAY and late else 0
    return _point("clock", minutes, text if ":" in text else f"{text} {after}".strip(), at)


def _is_bare(phrases: Sequence[Phrase], at: int) -> bool:
    """True for a number that counts nothing: "at 9", «в 9 и»."""
    if at + 1 >= len(phrases):
        return True
    after = phrases[at + 1]
    bare = (
        after.kind == "p"
        or after.key in stop_terms()
        or bool(after.sections & {"about_now", "coordinate", "every", "late"})
    )
    return bare and "." not in phrases[at].word


def _measure(phrases: Sequence[Phrase], at: int, value: float) -> Quantity | None:
    """A number with its unit, or with the things that it counts."""
    dimension, factor, end = _dimension(phrases, at)
    of = frozenset[str]()
    if not dimension or dimension.startswith("item"):
        of = frozenset(_counted(phrases, end)) if value == int(value) else of
        dimension = "count" if of else dimension
    if not dimension:
        return None
    low, high = _bounds(phrases, at, end, value * factor)
    text = (
        " ".join(phrase.word for phrase in phrases[at : max(end, at + 2)])
        if phrases[at].kind != "h"
        else phrases[at].word
    )
    return Quantity(dimension, low, high, of, text, at)


def _dimension(phrases: Sequence[Phrase], at: int) -> tuple[str, float, int]:
    """(dimension, factor, where what follows begins) of a number; "" without a unit."""
    if before := _SIGNS.get(_word(phrases, at - 1)):
        return before, 1.0, at + 1
    if after := _SIGNS.get(_word(phrases, at + 1)):
        return after, 1.0, at + 2
    unit = _unit(phrases, at + 1)
    return (unit.name, unit.side, at + 2) if unit else ("", 1.0, at + 1)


def _bounds(phrases: Sequence[Phrase], at: int, end: int, value: float) -> tuple[float, float]:
    """The interval that a number means with "under", "over" or "about" beside it."""
    beside = (at - 1, at - 2, end)
    if any(_has(phrases, n, "under") or _word(phrases, n) == "<" for n in beside):
        return 0.0, value
    if any(_has(phrases, n, "over") or _word(phrases, n) == ">" for n in beside):
        return value, float("inf")
    if any(_has(phrases, n, "roughly") for n in beside):
        return value * 0.85, value * 1.15
    return value, value


def _counted(phrases: Sequence[Phrase], at: int) -> Iterator[str]:
    """The keys of the one or two things that a number counts."""
    found = 0
    for phrase in phrases[at : at + 3]:
        if phrase.key in stop_terms():
            continue
        if phrase.kind == "p" or found == 2 or phrase.sections & {"at", "not", "because"}:
            return
        groups = [f"{role.name}." for role in phrase.roles if role.section == "groups"]
        if groups or not phrase.sections or phrase.sections & {"scales", "kinds", "light", "kin"}:
            found += 1
            yield from groups or [phrase.key]
