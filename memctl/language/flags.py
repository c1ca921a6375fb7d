"""Days in flags and parameters, read in one place."""

from __future__ import annotations

from datetime import date

from ..errors import Usage
from .dates import parse_when


def day_of(name: str, written: str | None, today: date) -> date | None:
    """The one day that `written` names ("2025-11-27", "yesterday"); None for None, Usage for anything else."""
    if written is None:
        return None
    period = parse_when(written, today)
    if period is None or period.first is None or period.first != period.last:
        raise Usage(f"{name} {written!r} is not a day", "write 2025-11-27 or yesterday")
    return period.first


def first_day(
    name: str, written: str | None, today: date, cure: str = "write 7d, 2025-11-27 or 2025-11"
) -> date | None:
    """The day on which the time that `written` names begins ("7d", "2025-11"); None for None, Usage for anything else."""
    if written is None:
        return None
    period = parse_when(written, today)
    if period is None or period.first is None:
        raise Usage(f"{name} {written!r} is not understood", cure)
    return period.first


def last_day(name: str, written: str | None, today: date) -> date | None:
    """The day on which the time that `written` names ends, today for a span such as "30d"; None for None."""
    if written is None:
        return None
    period = parse_when(written, today)
    if period is None:
        raise Usage(f"{name} {written!r} is not understood", "write 2025-11-27, 2025-11 or 30d")
    return period.last or period.first
