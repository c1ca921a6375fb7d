"""What the parts of a time expression mean in days: one function for each meaning that a word order can have."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta

from memctl.facts import Period
from memctl.language.dates_lexer import last_day, month_span

__all__ = ["DAY", "MEANINGS", "MONTH", "Slots", "shift"]

Slots = dict[str, int]

DAY = timedelta(days=1)
_HOUR, _DAY, _WEEK, MONTH, _QUARTER, _YEAR, _WEEKEND = range(7)


def shift(day: date, count: int, unit: int) -> date:
    """`day` moved by `count` units; hours round away from it, a day past the end of a month becomes its last."""
    if unit in (_HOUR, _DAY, _WEEK, _WEEKEND):
        hours_in_days = (count + 23) // 24 if count > 0 else count // 24
        return day + timedelta(days={_HOUR: hours_in_days, _DAY: count}.get(unit, 7 * count))
    months = day.year * 12 + day.month - 1 + count * {MONTH: 1, _QUARTER: 3, _YEAR: 12}[unit]
    last = last_day(months // 12, months % 12 + 1)
    return date(months // 12, months % 12 + 1, min(day.day, last.day))


def _around(day: date, unit: int) -> Period:
    """The calendar unit that holds `day`."""
    monday = day - day.weekday() * DAY
    if unit == _WEEK:
        return Period(monday, monday + 6 * DAY)
    if unit == _WEEKEND:
        return Period(monday + 5 * DAY, monday + 6 * DAY)
    if unit == _DAY:
        return Period(day, day)
    months = {MONTH: 1, _QUARTER: 3, _YEAR: 12}[unit]
    return month_span(day.year, (day.month - 1) // months * months + 1, months)


def _one(day: date) -> Period:
    return Period(day, day)


# --- meanings: what the slots of one word order say ------------------------------------------------------------------


def _months(slots: Slots, year: int) -> Period:
    """The month, quarter, half, season or whole year named, in `year`."""
    ordinal = slots.get("ord", slots.get("figure"))
    if ordinal is not None:
        if not 1 <= ordinal <= 4:
            raise ValueError(ordinal)
        return month_span(year, 3 * ordinal - 2, 3)
    if "months_of" in slots:
        return month_span(year, *divmod(slots["months_of"], 100))
    if "season" in slots:
        return month_span(year, slots["season"], 3)
    return month_span(year, slots["month"]) if "month" in slots else month_span(year, 1, 12)


def _third(whole: Period, part: int) -> Period:
    """Early, mid or late: days 1-10, 11-20, 21- of a month, January-April, May-August, September-December of a year."""
    first, last = whole.first, whole.last
    assert first and last  # month_span has both
    if (last - first).days > 300:
        return month_span(first.year, 4 * part - 3, 4)
    return Period(first + (part - 1) * 10 * DAY, last if part == 3 else first + (part * 10 - 1) * DAY)


def _in_year(slots: Slots, year: int) -> Period:
    if "day" in slots:
        first = date(year, slots["month"], slots["day"])
        last = first.replace(day=slots.get("day2", first.day))
        if last < first:
            raise ValueError(last)
        return Period(first, last)
    whole = _months(slots, year)
    return _third(whole, slots["part"]) if "part" in slots else whole


def _nearest(slots: Slots, years: range, fits: Callable[[Period], bool]) -> Period:
    """The first of `years` in which the slots name real days (February 29) that fit; ValueError if none."""
    for year in years:
        try:
            period = _in_year(slots, year)
        except ValueError:
            continue
        if fits(period):
            return period
    raise ValueError(slots)


def _calendar(slots: Slots, today: date) -> Period:
    if "year2" in slots:
        return Period(date(slots["year"], 1, 1), date(slots["year2"], 12, 31))
    if "year" in slots:
        return _in_year(slots, slots["year"])
    return _nearest(slots, range(today.year, today.year - 9, -1), lambda p: p.first is not None and p.first <= today)


def _rel_calendar(slots: Slots, today: date) -> Period:
    """Last November or summer is over, the next one has not begun, this one is of this year."""
    if slots["rel"] == 0:
        return _in_year(slots, today.year)
    if slots["rel"] == 1:
        return _nearest(slots, range(today.year, today.year + 2), lambda p: p.first is not None and p.first > today)
    if slots["rel"] == -1:
        years = range(today.year, today.year - 3, -1)
        return _nearest(slots, years, lambda p: p.last is not None and p.last < today)
    raise ValueError(slots)


def _weekday(slots: Slots, today: date) -> Period:
    return _one(today - (today.weekday() - slots["weekday"]) % 7 * DAY)


def _rel_weekday(slots: Slots, today: date) -> Period:
    if slots["rel"] == 0:
        return _rel_weekday_bare(slots, today)
    if slots["rel"] == -1:
        return _weekday(slots, today - DAY)
    return _one(today + ((slots["weekday"] - today.weekday() - 1) % 7 + 1 + 7 * (slots["rel"] - 1)) * DAY)


def _rel_weekday_bare(slots: Slots, today: date) -> Period:
    return _one(today + (slots["weekday"] - today.weekday() + 7 * slots["rel"]) * DAY)


def _rel_unit(slots: Slots, today: date) -> Period:
    unit, rel = slots["unit"], slots["rel"]
    if "before" in slots or "after" in slots:  # the week before last
        if rel != (-1 if "before" in slots else 1):
            raise ValueError(slots)
        rel *= 2
    return _around(shift(today, rel, unit), unit)


def _rel_day(slots: Slots, today: date) -> Period:
    """上个月27日."""
    return _one(shift(today.replace(day=1), slots["rel"], MONTH).replace(day=slots["day"]))


def _rel_part(slots: Slots, today: date) -> Period:
    if slots["rel"] not in (-1, 0):  # "next morning" belongs to a story, not to today
        raise ValueError(slots)
    return _one(today + slots["rel"] * DAY)


def _offset(slots: Slots, today: date) -> Period:
    return _one(today + slots["offset"] * DAY)


def _offset_two(slots: Slots, today: date) -> Period:
    return _one(today + (-2 if "yesterday" in slots else 2) * DAY)


def _amount(slots: Slots) -> tuple[int, int]:
    """How many of which unit: `30d`, three weeks, неделю, полгода."""
    if "months" in slots:
        return slots["months"], MONTH
    return slots.get("span", slots.get("num", 1)), slots["unit"]


def _ago(slots: Slots, today: date) -> Period:
    count, unit = _amount(slots)
    day = shift(today, -count, unit)
    return Period(day, today) if unit == _HOUR else _around(day, unit)


def _ago_unit(slots: Slots, today: date) -> Period:
    if 1900 <= slots["num"] < 2200 and slots["unit"] == _YEAR:  # 2025年前 is "before 2025"
        return Period(None, date(slots["num"] - 1, 12, 31))
    return _ago(slots, today)


def _past(slots: Slots, today: date) -> Period:
    count, unit = _amount(slots)
    return Period(shift(today, -count, unit), today)


def _ahead(slots: Slots, today: date) -> Period:
    return Period(today, shift(today, *_amount(slots)))


def _later(slots: Slots, today: date) -> Period:
    return _one(shift(today, *_amount(slots)))


MEANINGS: dict[str, Callable[[Slots, date], Period]] = {
    "calendar": _calendar,
    "rel_calendar": _rel_calendar,
    "weekday": _weekday,
    "rel_weekday": _rel_weekday,
    "rel_weekday_bare": _rel_weekday_bare,
    "rel_unit": _rel_unit,
    "rel_day": _rel_day,
    "rel_part": _rel_part,
    "offset": _offset,
    "offset_two": _offset_two,
    "ago": _ago,
    "ago_unit": _ago_unit,
    "past": _past,
    "ahead": _ahead,
    "later": _later,
}
