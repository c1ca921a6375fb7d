"""Numbers with their units, times of the day and dates of a clause, as intervals that can be compared."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ..language.analyzer import stop_terms

if TYPE_CHECKING:
    from .lexicon import Role
    from .units import Unit

__all__ = ["Quantity", "agree", "quantities"]


class Quantity(NamedTuple):
    """A number: what is measured (a unit, `clock`, `date`, or `of` the things counted), its bounds, as written."""

    dimension: str
    low: float
    high: float
    of: frozenset[str]
    text: str
    at: int
    denied: bool = False


_HAN = {char: value for value, char in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2, "半": 0.5}
_HAN_UNITS = {"十": 10, "百": 100, "千": 1000, "万": 10000}
_LATE = frozenset(("pm", "p.m", "вечера", "下午", "晚上", "傍晚", "evening", "afternoon", "дня"))
_SIGNS = {"$": "dollar", "€": "money", "£": "pound", "%": "share", "¥": "yuan", "₽": "rouble", "°": "degree"}


def quantities(units: Sequence[Unit]) -> tuple[Quantity, ...]:
    """Every number of a clause that measures something, in order."""
    return tuple(_found(units))


def _found(units: Sequence[Unit]) -> Iterator[Quantity]:
    for at, unit in enumerate(units):
        value = _number(unit)
        if value is None and unit.word.casefold() in ("a", "an") and _has(units, at + 1, "units"):
            value = None if _has(units, at - 1, "units") or _is_amount(units[:at]) else 1.0  # "40 euros a month"
        if value is None and (bare := _period(units, at) or _bare_unit(units, at)):
            yield bare
        if value is None:
            continue
        quantity = _date(units, at, value) or _clock(units, at, value) or _measure(units, at, value)
        if quantity:
            yield quantity._replace(denied=any(_has(units, n, "not") for n in (at - 1, at - 2)))


def _is_amount(before: Sequence[Unit]) -> bool:
    """True when a number stands right before: "40 cups a day" is a rate."""
    return any(_number(unit) is not None for unit in before[-2:])


def _period(units: Sequence[Unit], at: int) -> Quantity | None:
    """How often: "hourly", "once a day", «каждый час», 每小时."""
    word = units[at].word.casefold()
    seconds = _PERIODS.get(word)
    if (
        seconds is None
        and word in ("every", "each", "каждый", "каждую", "каждое", "once", "раз")
        and at + 1 < len(units)
    ):
        ahead = at + 2 if _word(units, at + 1) in ("a", "an", "в") else at + 1
        if (ahead == at + 1) == (word not in ("once", "раз")):
            seconds = next((r.side for u in units[ahead : ahead + 1] for r in u.roles if _is_time(r)), None)
    return Quantity("period", seconds, seconds, frozenset(), word, at) if seconds else None


def _is_time(role: Role) -> bool:
    return role.section == "units" and role.name == "time"


_PERIODS = {
    "hourly": 3600.0, "daily": 86400.0, "weekly": 604800.0, "monthly": 2592000.0, "ежечасно": 3600.0,
    "ежедневно": 86400.0, "еженедельно": 604800.0, "ежемесячно": 2592000.0, "每小时": 3600.0, "每天": 86400.0,
    "每周": 604800.0, "每星期": 604800.0, "每月": 2592000.0, "每个月": 2592000.0, "раз в сутки": 86400.0,
}  # fmt: skip


def _bare_unit(units: Sequence[Unit], at: int) -> Quantity | None:
    """«За минуту» is within one, «пару минут» some two or three."""
    word, before = units[at].word.casefold(), _word(units, at - 1)
    role = next((r for r in units[at].roles if r.section == "units" and r.name == "time"), None)
    if role and before in _PAIR:
        return Quantity("time", 1.5 * role.side, 3.5 * role.side, frozenset(), f"{before} {word}", at)
    until = _word(units, at + 1) == "до"  # «за час до» is a point of time
    if role and before == "за":
        return Quantity("time", role.side if until else 0.0, role.side, frozenset(), f"{before} {word}", at)
    if word in _WITHIN:
        return Quantity("time", _WITHIN[word] if until else 0.0, _WITHIN[word], frozenset(), word, at)
    return None


_PAIR = frozenset(("пару", "пара", "пары", "couple of"))
_WITHIN = {
    "当天": 86400.0,
    "当日": 86400.0,
    "同一天": 86400.0,
    "за секунду": 1.0,
    "за минуту": 60.0,
    "за час": 3600.0,
    "за день": 86400.0,
    "за сутки": 86400.0,
}


def _number(unit: Unit) -> float | None:
    if unit.kind != "n":
        return next((role.side for role in unit.roles if role.section == "numbers"), None)
    text = unit.word
    if len(text) > 15:
        return None
    if text[0] in _HAN or text[0] in _HAN_UNITS or text[0] == "几":
        return _han_number(text)
    if re.fullmatch(r"\d+(?:[.,]\d+)?", text):
        return (
            float(text.replace(",", ".")) if not re.fullmatch(r"\d{1,3},\d{3}", text) else float(text.replace(",", ""))
        )
    bare = re.sub(r"[,\u00a0\u202f]", "", text)
    return float(bare) if re.fullmatch(r"\d+(?:\.\d+)?", bare) else 0.0 if re.fullmatch(r"[\d:\-]+", text) else None


def _han_number(text: str) -> float | None:
    total, digit = 0.0, 0.0
    for char in text:
        if char in _HAN_UNITS:
            total += (digit or 1) * _HAN_UNITS[char]
            digit = 0
        elif char in _HAN:
            digit = digit * 10 + _HAN[char] if char != "半" else 0.5
        else:
            return None
    return total + digit


def _has(units: Sequence[Unit], at: int, section: str) -> bool:
    return 0 <= at < len(units) and section in units[at].sections


def _word(units: Sequence[Unit], at: int) -> str:
    return units[at].word.casefold() if 0 <= at < len(units) else ""


def _date(units: Sequence[Unit], at: int, value: float) -> Quantity | None:
    text = units[at].word
    if iso := re.fullmatch(r"(\d{4})-(\d\d)-(\d\d)", text):
        return _point("date", int(iso[2]) * 100 + int(iso[3]), text, at)
    for place in (at + 1, at - 1):
        month = next((r.side for r in units[place].roles if r.section == "months"), 0) if 0 <= place < len(units) else 0
        if month and 1 <= value <= 31:
            return _point("date", month * 100 + value, f"{units[min(at, place)].word} {units[max(at, place)].word}", at)
    if _word(units, at + 1) == "月" and units[at + 2 : at + 3] and (day := _number(units[at + 2])):
        return _point("date", value * 100 + day, f"{text}月{units[at + 2].word}日", at)
    return (
        Quantity("", 0, 0, frozenset(), "", -1)
        if _word(units, at + 1) in ("日", "号") or _word(units, at + 1) == "月"
        else None
    )


def _point(dimension: str, value: float, text: str, at: int) -> Quantity:
    return Quantity(dimension, value, value, frozenset(), text, at)


def _clock(units: Sequence[Unit], at: int, value: float) -> Quantity | None:
    text = units[at].word
    around = {_word(units, n) for n in range(max(0, at - 2), min(len(units), at + 4)) if n != at}
    if colon := re.fullmatch(r"(\d{1,2}):(\d\d)", text):
        minutes = int(colon[1]) * 60 + int(colon[2])
    elif value <= 24 and (_has(units, at + 1, "clock") or (_has(units, at - 1, "at") and _bare(units, at))):
        past = _number(units[at + 2]) if _word(units, at + 1) == "点" and at + 2 < len(units) else None
        minutes = int(value * 60) + (30 if _word(units, at + 1) == "点半" else int(past or 0))
    else:
        return None
    if minutes < 720 and around & _LATE:
        minutes += 720
    return _point("clock", minutes, text if ":" in text else f"{text} {_word(units, at + 1)}".strip(), at)


def _bare(units: Sequence[Unit], at: int) -> bool:
    """True for a number that counts nothing: "at 9", "в 9 и"."""
    if at + 1 >= len(units) or "." in units[at].word:
        return at + 1 >= len(units)
    after = units[at + 1]
    if after.sections & {"about_now", "coordinate"} or after.key in stop_terms():
        return True
    return after.kind == "p" or _word(units, at + 1) in ("in", "and", "this", "every", "each", "on", "и", "or", "утра")


def _measure(units: Sequence[Unit], at: int, value: float) -> Quantity | None:
    text, size, dimension, factor = units[at].word, at + 1, "", 1.0
    if _word(units, at - 1) in _SIGNS:
        dimension = _SIGNS[_word(units, at - 1)]
    elif _word(units, at + 1) in _SIGNS:
        dimension, size = _SIGNS[_word(units, at + 1)], at + 2
    elif role := next((r for r in units[at + 1].roles if r.section == "units"), None) if at + 1 < len(units) else None:
        dimension, factor, size = role.name, role.side, at + 2
    of: frozenset[str] = frozenset()
    if not dimension and _word(units, at - 1) in _LABELLED and _ends_here(units, at):
        return Quantity(f"no. of {_word(units, at - 1)}", value, value, of, f"{_word(units, at - 1)} {text}", at)
    if not dimension and _word(units, at - 1) == "of" and at > 1 and _ends_here(units, at):
        return Quantity("count", value, value, frozenset((units[at - 2].key,)), text, at)
    if not dimension or dimension.startswith("item"):
        of = frozenset(_counted(units, size)) if value == int(value) and "." not in text else frozenset()
        if not of and not dimension:
            return None
        dimension = "count" if of else dimension
    words = " ".join(unit.word for unit in units[at : max(size, at + 2)]) if units[at].kind != "h" else text
    low = high = value * factor
    before = [n for n in (at - 1, at - 2) if n >= 0]
    if any(_has(units, n, "under") or _word(units, n) == "<" for n in before) or _has(units, size, "under"):
        low = 0.0
    elif any(_has(units, n, "over") or _word(units, n) == ">" for n in before) or _has(units, size, "over"):
        high = float("inf")
    elif any(_has(units, n, "roughly") for n in before) or _has(units, size, "roughly"):
        low, high = low * 0.85, high * 1.15
    return Quantity(dimension, low, high, of, words, at)


_LABELLED = frozenset(
    ("port", "room", "floor", "gate", "platform", "seat", "building", "desk", "locker", "house", "flat", "ward")
)


def _ends_here(units: Sequence[Unit], at: int) -> bool:
    """True when a number counts nothing that follows."""
    after = units[at + 1 : at + 2]
    return not after or after[0].kind == "p" or after[0].key in stop_terms() or "about_now" in after[0].sections


def _counted(units: Sequence[Unit], at: int) -> Iterator[str]:
    """The keys of the one or two things that a number counts."""
    found = 0
    if _word(units, at - 2) == "of" and at > 2 and units[at - 3].kind == "w":
        yield units[at - 3].key  # "batches of 100 mails" counts in batches, too
    for unit in units[at : at + 3]:
        if unit.key in stop_terms():
            continue
        if unit.kind == "p" or found == 2 or (unit.kind in "nhw" and unit.sections & {"at", "not", "because"}):
            return
        groups = [f"{role.name}." for role in unit.roles if role.section == "groups"]
        if groups or not unit.sections or unit.sections & {"scales", "kinds", "light", "kin"}:
            found += 1
            yield from groups or [unit.key]


def agree(one: Quantity, other: Quantity) -> bool | None:
    """True when both can be right, False when they cannot, None when they measure different things."""
    if one.dimension != other.dimension or not one.dimension or (one.dimension == "count" and not one.of & other.of):
        return None
    low, high = max(one.low, other.low), min(one.high, other.high)
    if one.dimension == "clock":
        return one.low == other.low or (abs(one.low - other.low) == 720 and min(one.low, other.low) <= 720)
    if one.dimension == "date" or one.dimension.startswith("no. of "):
        return one.low == other.low
    return low <= high * 1.02 + 1e-9
