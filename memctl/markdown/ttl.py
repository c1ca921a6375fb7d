"""`ttl=`: how long a fact is to be kept."""

from __future__ import annotations

import re
from calendar import monthrange
from datetime import date, timedelta

__all__ = ["ttl_end"]

_DAYS = {"d": 1, "w": 7}
_MONTHS = {"mo": 1, "y": 12}


def ttl_end(day: date, ttl: str) -> date:
    """The last day on which a fact of `day` with this `ttl` (`12h`, `90d`, `4w`, `6mo`, `1y`) is still to be kept.

    Days are whole: of hours, each day begun counts, for nobody knows the hour at which a line was written. Months and
    years end on the same day of the month, or on its last. ValueError for what is no ttl.
    """
    match = re.fullmatch(r"(\d{1,5})(h|d|w|mo|y)", ttl)
    if not match:
        raise ValueError(f"not a ttl: {ttl!r}")
    number, unit = int(match[1]), match[2]
    try:
        if unit in _MONTHS:
            return _months_later(day, number * _MONTHS[unit])
        return day + timedelta(days=-(-number // 24) if unit == "h" else number * _DAYS[unit])
    except (OverflowError, ValueError):  # past the year 9999
        return date.max


def _months_later(day: date, months: int) -> date:
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    if year > date.max.year:
        return date.max
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))
