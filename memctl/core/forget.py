"""What may be forgotten, and why: expiry, age without use, exempt classes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta

from ..facts import Fact, Kind
from ..text.exempt import Classes
from ..text.lines import Role
from ..text.ttl import ttl_end
from .rank import HALF_LIFE_DAYS
from .rows import day_of

__all__ = [
    "LOW",
    "MAY_GO",
    "PINNED",
    "Asked",
    "exempt",
    "expired",
    "is_from",
    "old_before",
    "outdated_before",
    "ran_out",
]

PINNED = 0.9
"""Importance from which a line is never forgotten in bulk."""
LOW = 0.5
"""Importance up to which a line that nobody needs may go; also that of a line that says nothing about it."""
MAY_GO = (Role.FACT, Role.TEXT, Role.ITEM, Role.ROW)
"""What a tombstone can stand for. Headings, code and front matter hold a page together: those are a person's to edit."""
_DURABLE_DAYS = 365  # half of what a fact about the world needs to be old: it has no half-life
_OUTDATED_DAYS = 365


@dataclass(frozen=True, slots=True)
class Asked:
    """The selectors of a call; all that are given must hold."""

    ids: tuple[str, ...] = ()
    about: tuple[str, ...] = ()
    source: str | None = None
    before: date | None = None
    expired: bool = False
    unused: bool = False
    include_exempt: bool = False

    @property
    def any(self) -> bool:
        """True if there is a selector at all."""
        return bool(self.ids or self.about or self.source or self.before or self.expired or self.unused)


# -- reasons ----------------------------------------------------------------------------------------------------------


def ran_out(fact: Fact, day: date | None, today: date) -> date | None:
    """The day on which the `ttl=` of a fact told on `day` ran out, None if it did not, or there is none."""
    end = ttl_end(day, fact.ttl) if fact.ttl and day else None
    return end if end and end < today else None


def expired(fact: Fact, day: date | None, today: date) -> str | None:
    """Why a fact is over by what its author wrote, None if it is not.

    `ttl=` ran out; `until=` passed; or the span of `t=` did, unless it is that of an experience or a single day: what
    happened, happened, and does not end.
    """
    end = ran_out(fact, day, today)
    if end:
        return f"ttl={fact.ttl} ran out on {end}"
    if fact.until and fact.until < today:
        return f"ended on {fact.until}"
    span = fact.valid
    if span and span.last and span.last < today and span.first != span.last and fact.kind is not Kind.EXPERIENCE:
        return f"ended on {span.last}"
    return None


def old_before(kind: Kind, today: date) -> date:
    """The day before which a line of this kind is old: two half-lives of its recency ago, two years for the world."""
    return today - timedelta(days=2 * HALF_LIFE_DAYS.get(kind, _DURABLE_DAYS))


def outdated_before(today: date) -> date:
    """What was replaced before this day is outdated: a year ago."""
    return today - timedelta(days=_OUTDATED_DAYS)


def is_from(origin: str, source: str) -> bool:
    """True for an origin that is `source` or a part of it: `import` takes `import:lab` in, `web` not `webhook`."""
    rest = origin.removeprefix(source)
    return origin.startswith(source) and not rest[:1].isalnum()


def exempt(path: str, fact: Fact | None, content: str, importance: float | None, classes: Classes) -> str | None:
    """Why a line is not forgotten in bulk, None if it may be: its class, its importance, or the page it stands on."""
    if importance is not None and importance >= PINNED:
        return "pinned"
    if fact is None and day_of(path) is None:
        return "a note outside the logs"
    key = fact.key.replace("_", " ").replace("-", " ") if fact and fact.key else ""
    return classes.of(f"{key} · {content}" if key else content)
