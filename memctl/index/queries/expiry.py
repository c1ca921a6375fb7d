"""Facts whose time to be kept is over: by their own `ttl=`, else by the rules of the settings for kinds and origins."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Any, NamedTuple

from ..index import Index
from ..row import Row

PINNED = 0.9  # importance from which a line is kept, whatever the rules say


class TtlRule(NamedTuple):
    """A rule of the settings: the kind or origin that it is for, how long that is kept, and from which day on it is now."""

    name: str
    ttl: str
    first: str


class Expiry(NamedTuple):
    """What is over on a day. A line with a `ttl=` of its own is under no rule; of several rules any ends a line."""

    day: str
    rules: tuple[TtlRule, ...] = ()

    def condition(self) -> tuple[str, list[Any]]:
        """The SQL condition on `entry` that is true for what is over, and its values."""
        values: list[Any] = [self.day]
        parts = ["coalesce(entry.kept, '9999') < ?"]
        for rule in self.rules:
            parts.append(
                "entry.role = 'fact' AND entry.kept IS NULL AND coalesce(entry.importance, 0) < ? "
                "AND coalesce(entry.day, '9999') < ? AND (entry.kind = ? OR entry.origin = ? OR entry.origin LIKE ?)"
            )
            values += [PINNED, rule.first, rule.name, rule.name, f"{rule.name}:%"]
        return " OR ".join(f"({part})" for part in parts), values

    def reason(self, row: Row, ttl: str | None) -> str | None:
        """Why a fact, whose own `ttl=` is given, is over; None if it is not."""
        if row.kept is not None:
            return f"ttl={ttl} ran out on {row.kept}" if row.kept < self.day else None
        if row.day is None or (row.importance or 0) >= PINNED:
            return None
        whose = (row.kind, row.origin.partition(":")[0])
        found = (rule for rule in self.rules if rule.name in whose and row.day < rule.first)
        return next((f"told on {row.day}, and {rule.name} is kept for {rule.ttl}" for rule in found), None)


def expiry_on(day: date, ttl: Sequence[tuple[str, str]]) -> Expiry:
    """What is over on a day by the lines themselves and by the rules of the settings."""
    rules: tuple[TtlRule, ...] = ()
    if ttl:
        from ..rows import kept_from  # with the parser of pages, which a recall does not need

        rules = tuple(TtlRule(name, span, str(kept_from(day, span))) for name, span in ttl)
    return Expiry(day.isoformat(), rules)


def expiry_if_any(index: Index, day: date, ttl: Sequence[tuple[str, str]]) -> Expiry | None:
    """The same; None where no line can be over, so that a search needs no condition."""
    found = expiry_on(day, ttl)
    if found.rules or index.rows("SELECT 1 FROM entry WHERE kept < ? LIMIT 1", (found.day,)):
        return found
    return None
