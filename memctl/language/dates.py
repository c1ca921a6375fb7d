"""Time expressions in any language of data/ -> whole-day periods, seen from a `today` that is an argument.

dateparser was not used: it takes over 200 ms to import and reads dates into ordinary words ("may", "sat", "1.2.3").
Words and their orders are data (dates.txt of each language), text becomes tokens (dates_lexer), a trie finds the longest
order, and one function for each meaning turns it into days. Weeks start on Monday; seasons are northern and meteorological
("winter 2025" begins in December 2025). "3 weeks ago" is that calendar week, "last 3 weeks" the 21 days to today.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache
from itertools import product

from memctl.facts import Period
from memctl.language.dates_lexer import DateToken, last_of_month, lexer, month_span, read_iso
from memctl.language.sentences import is_past
from memctl.language.words import beside, default_languages, languages, languages_of, lines, rivals, words

from ..errors import Usage

_LONGEST_PHRASE = 100  # characters of a string that is one time expression
_NEAR = timedelta(days=183)  # half a year: beyond it the coming May 5 is nearer than the last
_Slots = dict[str, int]
_DAY = timedelta(days=1)
_HOUR, _ONE_DAY, _WEEK, _MONTH, _QUARTER, _YEAR, _WEEKEND = range(7)
_WEEKDAY_FIRST = ("", "on", "a_weekday", "a_weekday ,", "on a_weekday", "on a_weekday ,")  # (WD) in a rule
_SLOT_OF = (
    dict.fromkeys(("month_first", "a_month", "a_month_first", "numbered_month", "lone"), "month")
    | dict.fromkeys(("byear", "fullyear", "gyear"), "year")
    | dict.fromkeys(("a_weekday", "relday", "weekday_bare"), "weekday")
    | dict.fromkeys(("part_of", "part_after", "part_of_year"), "part")
    | dict.fromkeys(("cal", "once", "ago_unit"), "unit")
    | dict.fromkeys(("q", "half"), "months_of")
    | {"rel_after": "rel", "offset_shy": "offset", "nth": "day", "a_season": "season"}
)
_OPENERS = ("since", "until", "before", "after", "from", "between")
_CALENDAR = frozenset(["calendar", "iso"])
_CLOSERS = {f"{name}_end": name for name in ("since", "after", "before", "until")} | {"start_end": "since"}
_SHUT_LEFT = frozenset("@/\\#$€£¥№_")
_SHUT_RIGHT = frozenset("@/\\#_%$°")
_CODE_RIGHT = frozenset("([=")


@dataclass(frozen=True, slots=True)
class Mention:
    """A time expression at `text[start:end]` and the whole days that it names."""

    start: int
    end: int
    period: Period


def _shift(day: date, count: int, unit: int) -> date:
    """`day` moved by `count` units; hours round away from it, a day past the end of a month becomes its last."""
    if unit in (_HOUR, _ONE_DAY, _WEEK, _WEEKEND):
        hours_in_days = (count + 23) // 24 if count > 0 else count // 24
        return day + timedelta(days={_HOUR: hours_in_days, _ONE_DAY: count}.get(unit, 7 * count))
    months = day.year * 12 + day.month - 1 + count * {_MONTH: 1, _QUARTER: 3, _YEAR: 12}[unit]
    last = last_of_month(months // 12, months % 12 + 1)
    return date(months // 12, months % 12 + 1, min(day.day, last.day))


def _around(day: date, unit: int) -> Period:
    monday = day - day.weekday() * _DAY
    if unit == _WEEK:
        return Period(monday, monday + 6 * _DAY)
    if unit == _WEEKEND:
        return Period(monday + 5 * _DAY, monday + 6 * _DAY)
    if unit == _ONE_DAY:
        return _one(day)
    months = {_MONTH: 1, _QUARTER: 3, _YEAR: 12}[unit]
    return month_span(day.year, (day.month - 1) // months * months + 1, months)


def _one(day: date) -> Period:
    return Period(day, day)


def _months(slots: _Slots, year: int) -> Period:
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
    return Period(first + (part - 1) * 10 * _DAY, last if part == 3 else first + (part * 10 - 1) * _DAY)


def _in_year(slots: _Slots, year: int) -> Period:
    if "day" in slots:
        first = date(year, slots["month"], slots["day"])
        last = first.replace(day=slots.get("day2", first.day))
        if last < first:
            raise ValueError(last)
        return Period(first, last)
    whole = _months(slots, year)
    return _third(whole, slots["part"]) if "part" in slots else whole


def _nearest(slots: _Slots, years: range, fits: Callable[[Period], bool]) -> Period:
    """The first of `years` in which the slots name real days (February 29) that fit; ValueError if none."""
    for year in years:
        try:
            period = _in_year(slots, year)
        except ValueError:
            continue
        if fits(period):
            return period
    raise ValueError(slots)


def _calendar(slots: _Slots, today: date) -> Period:
    if "year2" in slots:
        return Period(date(slots["year"], 1, 1), date(slots["year2"], 12, 31))
    if "year" in slots:
        return _in_year(slots, slots["year"])
    return _nearest(slots, range(today.year, today.year - 9, -1), lambda p: p.first is not None and p.first <= today)


def _rel_calendar(slots: _Slots, today: date) -> Period:
    """Last November or summer is over, the next one has not begun, this one is of this year."""
    if slots["rel"] == 0:
        return _in_year(slots, today.year)
    if slots["rel"] == 1:
        return _nearest(slots, range(today.year, today.year + 2), lambda p: p.first is not None and p.first > today)
    if slots["rel"] == -1:
        years = range(today.year, today.year - 3, -1)
        return _nearest(slots, years, lambda p: p.last is not None and p.last < today)
    raise ValueError(slots)


def _weekday(slots: _Slots, today: date) -> Period:
    return _one(today - (today.weekday() - slots["weekday"]) % 7 * _DAY)


def _rel_weekday(slots: _Slots, today: date) -> Period:
    if slots["rel"] == 0:
        return _rel_weekday_bare(slots, today)
    if slots["rel"] == -1:
        return _weekday(slots, today - _DAY)
    return _one(today + ((slots["weekday"] - today.weekday() - 1) % 7 + 1 + 7 * (slots["rel"] - 1)) * _DAY)


def _rel_weekday_bare(slots: _Slots, today: date) -> Period:
    return _one(today + (slots["weekday"] - today.weekday() + 7 * slots["rel"]) * _DAY)


def _rel_unit(slots: _Slots, today: date) -> Period:
    unit, rel = slots["unit"], slots["rel"]
    if "before" in slots or "after" in slots:  # the week before last
        if rel != (-1 if "before" in slots else 1):
            raise ValueError(slots)
        rel *= 2
    return _around(_shift(today, rel, unit), unit)


def _rel_part(slots: _Slots, today: date) -> Period:
    if slots["rel"] not in (-1, 0):  # "next morning" belongs to a story, not to today
        raise ValueError(slots)
    return _one(today + slots["rel"] * _DAY)


def _amount(slots: _Slots) -> tuple[int, int]:
    """How many of which unit: `30d`, three weeks, неделю, полгода."""
    if "months" in slots:
        return slots["months"], _MONTH
    return slots.get("span", slots.get("num", 1)), slots["unit"]


def _ago(slots: _Slots, today: date) -> Period:
    count, unit = _amount(slots)
    day = _shift(today, -count, unit)
    return Period(day, today) if unit == _HOUR else _around(day, unit)


def _ago_unit(slots: _Slots, today: date) -> Period:
    if 1900 <= slots["num"] < 2200 and slots["unit"] == _YEAR:  # 2025年前 is "before 2025"
        return Period(None, date(slots["num"] - 1, 12, 31))
    return _ago(slots, today)


def _past(slots: _Slots, today: date) -> Period:
    count, unit = _amount(slots)
    return Period(_shift(today, -count, unit), today)


_MEANINGS: dict[str, Callable[[_Slots, date], Period]] = {
    meaning.__name__[1:]: meaning
    for meaning in (
        _calendar, _rel_calendar, _weekday, _rel_weekday, _rel_weekday_bare, _rel_unit, _rel_part, _ago, _ago_unit, _past,
    )
} | {
    "rel_day": lambda slots, today: _one(_shift(today.replace(day=1), slots["rel"], _MONTH).replace(day=slots["day"])),
    "offset": lambda slots, today: _one(today + slots["offset"] * _DAY),
    "offset_two": lambda slots, today: _one(today + (-2 if "yesterday" in slots else 2) * _DAY),
    "ahead": lambda slots, today: Period(today, _shift(today, *_amount(slots))),
    "later": lambda slots, today: _one(_shift(today, *_amount(slots))),
}  # fmt: skip


class _Node:
    """A trie over word classes; `meaning` is set where an order may end, `level` says where it counts."""

    __slots__ = ("level", "meaning", "next")

    def __init__(self) -> None:
        self.next: dict[str, _Node] = {}
        self.meaning, self.level = "", 9


def _choices(item: str) -> list[list[str]]:
    if item == "(WD)":
        return [order.split() for order in _WEEKDAY_FIRST]
    names = [[name] for name in item.rstrip("?").split("|")]
    return [*names, []] if item.endswith("?") else names


@cache
def _orders() -> _Node:
    root = _Node()
    for line in (line for name in languages() for line in lines(name, "dates").get("orders", ())):
        level, meaning, *items = line.split()
        for choice in product(*map(_choices, items)):
            node = root
            for name in (name for part in choice for name in part):
                node = node.next.setdefault(name, _Node())
            node.meaning, node.level = meaning, int(level)
    return root


def _fill(path: list[str], tokens: list[DateToken]) -> _Slots:
    slots: _Slots = {}
    for name, token in zip(path, tokens, strict=True):
        slot = _SLOT_OF.get(name, name)
        slots[slot + "2" if slot in slots else slot] = token.readings[name]
        if name == "span":
            slots["unit"] = token.readings["unit"]
    return slots


class _Point:
    """The longest word order at a token, ending before token `end`; `period` is set for an ISO date."""

    __slots__ = ("bare_year", "end", "level", "meaning", "period", "slots")

    def __init__(self, end: int, level: int, meaning: str, slots: _Slots, last: str, period: Period | None) -> None:
        self.end, self.level, self.meaning, self.slots, self.period = end, level, meaning, slots, period
        self.bare_year = last == "byear"

    @property
    def cycle(self) -> int:
        """Days after which the same words fit again ("Friday" 7, "May 5" 365); 0 when they name one day for good."""
        if self.meaning == "weekday":
            return 7
        return 365 if self.meaning == "calendar" and "year" not in self.slots else 0

    def on(self, today: date) -> Period | None:
        """The days meant when it is `today`; None when such days do not exist."""
        if self.meaning == "iso":
            return self.period
        try:
            return _MEANINGS[self.meaning](self.slots, today)
        except (ValueError, OverflowError):
            return None


def _point(tokens: list[DateToken], at: int, level: int) -> _Point | None:
    if at < len(tokens) and "iso" in tokens[at].readings:
        return _Point(at + 1, 0, "iso", {}, "iso", tokens[at].period)
    best: tuple[int, _Node, list[str]] | None = None
    open_paths: list[tuple[int, _Node, list[str]]] = [(at, _orders(), [])]
    while open_paths:
        end, node, path = open_paths.pop()
        if node.level <= level and (best is None or (end, best[1].level) > (best[0], node.level)):
            best = end, node, path
        if end < len(tokens) and node.next:
            steps = [name for name in tokens[end].readings if name in node.next]
            open_paths += [(end + 1, node.next[name], [*path, name]) for name in steps]
    if best is None:
        return None
    end, node, path = best
    return _Point(end, node.level, node.meaning, _fill(path, tokens[at:end]), path[-1], None)


_BOUNDS: dict[str, Callable[[date, date], tuple[date | None, date | None]]] = {
    "since": lambda first, last: (first, None),
    "until": lambda first, last: (None, last),
    "before": lambda first, last: (None, first - _DAY),
    "after": lambda first, last: (last + _DAY, None),
}


def _bounded(kind: str, period: Period | None) -> Period | None:
    """The period open on one side that "since", "until", "before" or "after" a period means."""
    if period is None or period.first is None or period.last is None:
        return None
    try:
        return Period(*_BOUNDS[kind](period.first, period.last))
    except OverflowError:
        return None


def _range(first: _Point, second: _Point, today: date) -> Period | None:
    """From the first day of one to the last of the other; a year or week that one lacks comes from the other."""
    left, right = first.on(today), second.on(today)
    try:
        if first.cycle and not second.cycle and right and right.last:
            left = first.on(right.last)
        elif second.cycle and left and left.first:
            right = second.on(left.first + 6 * _DAY if second.cycle == 7 else _shift(left.first, 12, _MONTH) - _DAY)
    except (ValueError, OverflowError):
        return None
    if not (left and right and left.first and right.last and left.first <= right.last):
        return None
    if (first.cycle or second.cycle) and right.last - left.first > 2 * _NEAR:
        return None
    return Period(left.first, right.last)


def _is(tokens: list[DateToken], at: int, *names: str) -> bool:
    return at < len(tokens) and any(name in tokens[at].readings for name in names)


class _DatePhrase:
    """A whole expression up to token `end`; no period when it is shaped like a date and is none (February 30)."""

    __slots__ = ("bare_year", "cycle", "end", "period")

    def __init__(self, end: int, period: Period | None, cycle: int = 0, bare_year: bool = False) -> None:
        self.end, self.period, self.cycle, self.bare_year = end, period, cycle, bare_year


def _opened(tokens: list[DateToken], at: int, opener: str, today: date, level: int) -> _DatePhrase | None:
    """since/until/before/after/from/between + a point or a range."""
    first = _point(tokens, at + 1, max(level, 1))
    if first is None or (first.meaning == "weekday" and _is(tokens, first.end, "conn") and not level):
        return None
    ranged = _ranged(tokens, at + 1, first, opener, today, level)
    if ranged:
        return ranged if opener in ("from", "since", "between") else None
    if level == 0 and first.end == at + 2 and _is(tokens, at, "by") and _is(tokens, at + 1, "name"):
        return None  # "reviewed by June" names a person
    if opener in ("from", "since") and not first.slots.keys().isdisjoint(("day2", "year2")):  # 27-28 Nov, 2019-2021
        return _DatePhrase(first.end, first.on(today), first.cycle, first.bare_year)
    closer = _closer(tokens, first.end, opener)
    if closer:
        return _DatePhrase(first.end + 1, _bounded(closer, first.on(today)), first.cycle)
    if opener in ("from", "between") or (first.bare_year and not tokens[at].readings[opener]):
        return None
    return _DatePhrase(first.end, _bounded(opener, first.on(today)), first.cycle, first.bare_year)


def _closer(tokens: list[DateToken], at: int, opener: str = "") -> str:
    """The kind of bound that a word after a point sets (以来, 之前, onwards); empty if none."""
    names = [name for name in _CLOSERS if _is(tokens, at, name)]
    if not names or (names[0] == "start_end" and not opener):  # 会议上周开始 does not mean "since", 从上周开始 does
        return ""
    return _CLOSERS[names[0]]


def _ranged(
    tokens: list[DateToken], at: int, first: _Point, opener: str, today: date, level: int
) -> _DatePhrase | None:
    """`first` + to + a point, or + to + "present"; None for a week's rhythm (Monday to Friday)."""
    opens = opener or _is(tokens, first.end, "dash")  # "on Nov 27 to present the plan" has neither
    if opens and first.meaning in _CALENDAR and _is(tokens, first.end, "conn") and _is(tokens, first.end + 1, "now"):
        return _DatePhrase(first.end + 2, _bounded("since", first.on(today)), first.cycle)
    goes_on = _is(tokens, first.end, "and" if opener == "between" else "conn")
    second = _point(tokens, first.end + 1, max(level, 1 if opener else 0)) if goes_on else None
    if second is None or (not (opener or level) and not {first.meaning, second.meaning} <= _CALENDAR):
        return None
    if level == 0 and (second.meaning == "weekday" or not (opener or first.level == 0 or _is(tokens, at, "month"))):
        return None
    period = _range(first, second, today)
    return _DatePhrase(second.end, period, min(first.cycle, second.cycle), second.bare_year) if period else None


def _phrase(tokens: list[DateToken], at: int, today: date, level: int) -> _DatePhrase | None:
    found: list[_DatePhrase | None] = []
    point = _point(tokens, at, max(level, 1))
    if point:
        found.append(_ranged(tokens, at, point, "", today, level))
        point = point if point.level <= level else _point(tokens, at, level)
    if point:
        found.append(_DatePhrase(point.end, point.on(today), point.cycle, point.bare_year))
    if point and (closer := _closer(tokens, point.end)):
        found.append(_DatePhrase(point.end + 1, _bounded(closer, point.on(today)), point.cycle))
    found += [_opened(tokens, at, name, today, level) for name in _OPENERS if name in tokens[at].readings]
    return max(filter(None, found), key=lambda phrase: phrase.end, default=None)


def _counts_things(text: str, end: int) -> bool:
    """True when a number that ends at `end` counts what follows ("in 2025 requests", «в 2025 запросах»)."""
    word = next(iter(text[end : end + 40].split()), "").rstrip(".,;:!?)")
    counted, endings, plain = _counted()
    if not word.islower() or not text[end : end + 1].isspace() or word in plain:
        return False
    return word in counted or (len(word) > 3 and word.endswith(endings))


@cache
def _counted() -> tuple[tuple[str, ...], ...]:
    """Units that are counted, the endings of plurals, and words with such an ending that are none; of all languages."""
    sections = ("counted", "plural endings", "no plurals")
    return tuple(tuple(word for name in languages() for word in words(name, "dates").get(s, ())) for s in sections)


def _is_last_of(tokens: list[DateToken]) -> bool:
    """True for "the last Sunday of October": the last one of something, not the one before today."""
    return "of" in tokens[-1].readings and any({"rel", "relative"} & token.readings.keys() for token in tokens)


def _stands_alone(text: str, tokens: list[DateToken], at: int, phrase: _DatePhrase) -> bool:
    """False inside a path, handle, call, sum of money or hyphenated word, or after another number (1 000 days ago)."""
    start, end = tokens[at].start, tokens[phrase.end - 1].end
    before, after = text[start - 1 : start], text[end : end + 1]
    if after in _CODE_RIGHT and text[end - 1].isascii() and text[end - 1].isalpha():
        return False
    if before in _SHUT_LEFT or after in _SHUT_RIGHT or (before in ("+", "-", ".") and text[start].isdigit()):
        return False
    if at and (tokens[at - 1].tight or ("num" in tokens[at].readings and "num" in tokens[at - 1].readings)):
        return False
    if phrase.end < len(tokens) and (tokens[phrase.end].tight or _is_last_of(tokens[at : phrase.end + 1])):
        return False
    return not (phrase.bare_year and (after in ("'", "’") or _counts_things(text, end)))


@cache
def _first_words() -> frozenset[str]:
    return frozenset(_orders().next) | {"iso", *_OPENERS}


def _scan(text: str, today: date) -> Iterator[tuple[Mention, int]]:
    cutter = lexer(languages_of(text))
    tokens = cutter.tokens(text, today) if cutter.may_hold_time(text) else []
    first_words = _first_words() if tokens else frozenset()
    at = 0
    while at < len(tokens):
        idle = first_words.isdisjoint(tokens[at].readings)
        phrase = None if idle else _phrase(tokens, at, today, 0)
        if phrase is None:
            at += 1
            continue
        if phrase.period and _stands_alone(text, tokens, at, phrase):
            yield Mention(tokens[at].start, tokens[phrase.end - 1].end, phrase.period), phrase.cycle
        at = phrase.end


def find_times(text: str, today: date) -> list[Mention]:
    """All time expressions in free text, left to right, without overlaps; offsets are characters of `text`.

    Precision first: a bare year, month, weekday or duration ("2025", "May", "Friday", "30d") by itself is not a mention.
    """
    return [mention for mention, _ in _scan(text, today)]


def _whole(text: str, today: date) -> Period | None:
    """The days that a text without a range sign names, in the default languages or else in one of the others."""
    period = read_iso(text)
    if period or not text:
        return period
    others = [beside(name) for default in default_languages() for name in rivals(default)]
    return next((found for chosen in (default_languages(), *others) if (found := _whole_in(text, today, chosen))), None)


def _whole_in(text: str, today: date, chosen: tuple[str, ...]) -> Period | None:
    tokens = lexer(chosen).tokens(text, today, whole=True)
    phrase = _phrase(tokens, 0, today, 2) if tokens and tokens[0].start == 0 else None
    if phrase is None or phrase.end < len(tokens) or text[tokens[-1].end :] not in ("", "."):
        return None
    return phrase.period


def _interval(left: str, right: str, today: date) -> Period | None:
    """`a..b`, `a..`, `..b`: either side may be any time expression, not both empty."""
    first, last = _whole(left, today), _whole(right, today)
    if (left and not (first and first.first)) or (right and not (last and last.last)) or not (left or right):
        return None
    start, end = first.first if first else None, last.last if last else None
    return None if start and end and start > end else Period(start, end)


def parse_when(text: str, today: date) -> Period | None:
    """The days that `text` as a whole names, seen from `today`; None when it is not one time expression.

    A month, day or weekday without a year or week is the most recent one that is not after `today`. A duration (`30d`,
    "2 weeks") reaches back from `today`, hours rounded outward to days. An interval that ends before it begins is None.
    """
    text = text.strip().replace("/..", "..").replace("../", "..")  # EDTF spells an open end so
    if len(text) > _LONGEST_PHRASE:
        return None
    left, dots, right = text.partition("..")
    if dots:
        return _interval(left.strip(), right.strip(), today)
    left, slash, right = text.partition("/")
    if slash and all(not side or read_iso(side) for side in (left, right)):
        return _interval(left, right, today)
    return _whole(text, today)


def _settled(period: Period, cycle: int, day: date, past: bool) -> bool:
    """False for a day without a year or week that may as well be the coming one: any Friday, half a year back, and, but
    for "since", in a text that tells of nothing past ("our wedding is on December 12")."""
    if not cycle:
        return True
    if period.first is not None and period.last is None:
        return cycle <= 7 or day - period.first < _NEAR
    return cycle > 7 and past and period.first is not None and period.last is not None and day - period.last < _NEAR


def valid_from_text(text: str, day: date | None) -> Period | None:
    """When a fact says that it is true; None when it says nothing, or several things, or one that can be read two ways.

    `day` is the day of the log; without it only expressions that do not depend on a day count.
    """
    if day is None:
        once, again = (set(find_times(text, date(year, 5, 17))) for year in (1999, 2013))
        periods = {mention.period for mention in once & again}
    else:
        hits = list(_scan(text, day))
        past = bool(hits) and is_past(text)  # nearly all lines name no time
        if not all(_settled(mention.period, cycle, day, past) for mention, cycle in hits):
            return None
        periods = {mention.period for mention, _ in hits}
    return periods.pop() if len(periods) == 1 else None


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
