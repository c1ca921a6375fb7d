"""What may be forgotten, and why: expiry, age without use, exempt classes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from ..facts import Fact, Kind
from ..index.rows import day_of
from ..markdown.ttl import ttl_end
from .exempt import Classes

__all__ = [
    "PINNED",
    "Asked",
    "exempt",
    "expired",
    "is_from",
    "ran_out",
]

PINNED = 0.9
"""Importance from which a line is never forgotten in bulk."""


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
