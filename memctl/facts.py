"""The words that every room speaks: frozen values with no behaviour beyond their own spelling."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from enum import Enum
from operator import attrgetter
from pathlib import PurePath
from typing import Any, NamedTuple, TypeVar

from .errors import Usage

K = TypeVar("K")
V = TypeVar("V")
UNTRUSTED = ("tool", "web", "import")


class Kind(Enum):
    """What a line is. The value is the name in JSON; `letter` is the spelling in Markdown."""

    WORLD = "world"
    EXPERIENCE = "experience"
    OPINION = "opinion"
    OBSERVATION = "observation"
    NOTE = "note"

    @property
    def letter(self) -> str:
        """`W`, `B`, `O` or `S`; empty for a note, which has no head."""
        return _LETTERS[self]

    @classmethod
    def of(cls, word: str) -> Kind:
        """The kind named by a letter or a name in any case; ValueError for anything else."""
        return _KINDS.get(word.upper()) or cls(word.lower())


_LETTERS = dict(zip(Kind, ("W", "B", "O", "S", ""), strict=True))
_KINDS = {letter: kind for kind, letter in _LETTERS.items() if letter}

UNSAID = 0.7
"""Confidence of an opinion whose author wrote no number."""
HALF_LIFE_DAYS = {Kind.EXPERIENCE: 90, Kind.OPINION: 180, Kind.OBSERVATION: 180, Kind.NOTE: 180}
"""Days after which half of a line's recency is left; what is true of the world does not age (0.5 always)."""


def several(given: Any) -> tuple[Any, ...]:
    """What was given where one or several may stand: a text alone is one, not its letters; None is nothing."""
    one = isinstance(given, str | Mapping) or not isinstance(given, Iterable)
    return () if given is None else (given,) if one else tuple(given)


def known_options(takes: Callable[..., Any], given: Mapping[str, Any]) -> Mapping[str, Any]:
    """The options of a call, each of which `takes` knows by name; Usage for another."""
    known = getattr(takes, "__kwdefaults__", None) or takes.__annotations__
    if unknown := given.keys() - known:
        raise Usage(f"no option is named {min(unknown)!r}", ", ".join(known))
    return given


def iso_day(text: str | None) -> date | None:
    """The day that an ISO text spells; None for none, and for what is no day."""
    try:
        return date.fromisoformat(text) if text else None
    except ValueError:
        return None


def days_before(day: date, count: int) -> date:
    """The day so many days earlier; the first of all days where there is none."""
    return date.fromordinal(max(1, day.toordinal() - count))


def moment(given: date | str) -> datetime:
    """A time as such, also from its ISO text; a day is its midnight. Usage for anything else."""
    try:
        return given if isinstance(given, datetime) else datetime.fromisoformat(str(given))
    except ValueError:
        raise Usage(f"the time {given!r} is not understood", "write it as 2025-11-27 or 2025-11-27T13:00") from None


def last_of_month(year: int, month: int) -> date:
    """The last day of `month` (1-12)."""
    return date(year, 12, 31) if month == 12 else date(year, month + 1, 1) - timedelta(days=1)


class Period(NamedTuple):
    """Whole days from `first` to `last`, both included; None is open on that side."""

    first: date | None = None
    last: date | None = None

    @classmethod
    def months(cls, year: int, month: int, count: int = 1) -> Period:
        """The `count` whole months from `month` (1-12) of `year`; ValueError outside the calendar."""
        years, index = divmod(month - 2 + count, 12)
        return cls(date(year, month, 1), last_of_month(year + years, index + 1))

    @classmethod
    def parse(cls, text: str) -> Period | None:
        """The days of `2025`, `2025-11`, `2025-11-27`, `A..B`, `A..` or `..B` (both ends included); None for other text."""
        match = re.fullmatch(rf"({_DAY})?(\.\.)?({_DAY})?", text)
        if not match or not (match[1] or match[3]) or (match[3] and not match[2]):
            return None
        try:
            first = _days(match[1]).first
            last = _days(match[3] if match[2] else match[1]).last
        except ValueError:
            return None
        return None if first and last and first > last else cls(first, last)

    def holds(self, day: date) -> bool:
        """True when `day` lies inside."""
        return (self.first is None or self.first <= day) and (self.last is None or day <= self.last)

    def meets(self, other: Period) -> bool:
        """True when the two share at least one day."""
        starts = [p.first for p in (self, other) if p.first]
        ends = [p.last for p in (self, other) if p.last]
        return not starts or not ends or max(starts) <= min(ends)

    def __str__(self) -> str:
        """The shortest spelling: `2025`, `2025-11`, `2025-11-27`, `2025-11-27..2025-12-01`, `2025-11-27..`."""
        first, last = self.first, self.last
        if first is None or last is None:
            return f"{first or ''}..{last or ''}"
        if first == last:
            return str(first)
        if (first.month, first.day, last.month, last.day, first.year) == (1, 1, 12, 31, last.year):
            return f"{first.year:04d}"
        after = last + timedelta(days=1) if last < date.max else last
        whole_month = first.day == 1 and after.day == 1 and (last.year, last.month) == (first.year, first.month)
        return f"{first:%Y-%m}".zfill(7) if whole_month else f"{first}..{last}"


_DAY = r"\d{4}(?:-\d{2}(?:-\d{2})?)?"


def _days(written: str | None) -> Period:
    """The days of a year, a month or a day; open on both sides for none. ValueError for what the calendar has not."""
    match [int(part) for part in (written or "").split("-") if part]:
        case [year]:
            return Period.months(year, 1, 12)
        case [year, month]:
            return Period.months(year, month)
        case [year, month, day]:
            return Period(date(year, month, day), date(year, month, day))
    return Period()


class Span(NamedTuple):
    """Where text stands in a page: 1-based lines, both included."""

    line: int
    end_line: int


class Citation(NamedTuple):
    """`path#L12` or `path#L12-L14`; the path is relative to the workspace, with forward slashes.

    Of shared memory `NAME:path#L12@COMMIT`: the page as it stood in that commit, or in that publication (`r12`).
    """

    path: str
    line: int
    end_line: int
    commit: str = ""

    def __str__(self) -> str:
        last = f"-L{self.end_line}" if self.end_line > self.line else ""
        return f"{self.path}#L{self.line}{last}" + (f"@{self.commit}" if self.commit else "")

    @classmethod
    def parse(cls, text: str) -> Citation | None:
        """The citation that `text` spells, or None. `path:12` (the spelling of rg) and `path.md:12-14` are understood too."""
        match = re.fullmatch(r"(.+?)(?:(?:#L|(?<=\.md):)(\d{1,9})(?:-L?(\d{1,9}))?|:(\d{1,9}))(?::\d+)?", text.strip())
        if not match:
            return None
        line = int(match[2] or match[4])
        return cls(match[1], line, max(line, int(match[3] or line)))


@dataclass(frozen=True, slots=True)
class Fact:
    """One line of the grammar, as its author wrote it. None means that the author said nothing.

    `valid` is the `t=` attribute, `sources` of evidence are ids in `supports` (`for=`) and `refutes` (`against=`).
    `by` is the line in whose place this one speaks: what it supports, refutes, supersedes or corrects, that line does.
    `settles` are ids of questions (judgement.py) that the line answers. A `sealed` one has an age ciphertext as its text.
    `cues` (`cue=`) are other words for it, to be found by: searched, never shown. `extra` keeps attributes that this version does not know, in their order.
    """

    kind: Kind
    text: str
    entities: tuple[str, ...] = ()
    confidence: float | None = None
    key: str | None = None
    valid: Period | None = None
    until: date | None = None
    importance: float | None = None
    outcome: str | None = None
    task: str | None = None
    why: str | None = None
    supports: tuple[str, ...] = ()
    refutes: tuple[str, ...] = ()
    supersedes: tuple[str, ...] = ()
    corrects: tuple[str, ...] = ()
    by: str | None = None
    settles: tuple[str, ...] = ()
    source: str | None = None
    ttl: str | None = None
    private: bool = False
    sealed: bool = False
    cues: tuple[str, ...] = ()
    extra: tuple[tuple[str, str], ...] = ()
    block_id: str | None = None


def is_trusted(source: str | None) -> bool:
    """False for `tool`, `web` and `import` origins (with or without `:name`); the owner's own lines are trusted."""
    return (source or "").partition(":")[0] not in UNTRUSTED


def said_as(source: str | None, speaker: str | None, as_user: bool = False) -> str | None:
    """The origin of a line that `speaker` hands in, None for the owner: a program never speaks as somebody trusted more
    than it is, unless the owner lets it speak as the user."""
    allowed = ("agent", "llm", *UNTRUSTED, *(("user",) if as_user else ()))
    if speaker is None or (source or "").partition(":")[0] in allowed:
        return source
    return speaker


def fields(record: object, names: str) -> dict[str, Any]:
    """Attributes of a record as values of JSON: `"day source=citation kind=fact.kind"` has them in that order, under these keys.

    A list is made of a tuple, text of a day, of a citation and of a path, in lists too.
    """
    pairs = ((key, path or key) for key, _, path in (name.partition("=") for name in names.split()))
    return {key: _plain(attrgetter(path)(record)) for key, path in pairs}


def _plain(value: Any) -> Any:
    if isinstance(value, Citation | date | PurePath):
        return str(value)
    if isinstance(value, Kind):
        return value.value
    return list(map(_plain, value)) if isinstance(value, tuple | list) else value


def grouped(pairs: Iterable[tuple[K, V]]) -> defaultdict[K, list[V]]:
    """What comes second in some pairs, by what comes first, in their order."""
    found: defaultdict[K, list[V]] = defaultdict(list)
    for key, value in pairs:
        found[key].append(value)
    return found
