"""Time expressions in any language of data/ -> whole-day periods, seen from a `today` that is an argument.

dateparser was not used: it takes over 200 ms to import and reads dates into ordinary words ("may", "sat", "1.2.3").
Words and their orders are data (dates.txt of each language), text becomes tokens (dates_lexer), a trie finds the longest
order, and one function for each meaning turns it into days. Weeks start on Monday; seasons are northern and meteorological
("winter 2025" begins in December 2025). "3 weeks ago" is that calendar week, "last 3 weeks" the 21 days to today.
"""

import re
from collections.abc import Callable
from contextlib import suppress
from datetime import date, timedelta
from functools import cache, lru_cache
from itertools import product
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from memctl.facts import Period, iso_day, last_of_month
from memctl.language.dates_lexer import DateToken, lexer, read_iso, time_tokens
from memctl.language.sentences import is_past, is_plan, says
from memctl.language.words import beside, default_languages, languages, languages_of, lines, pattern, rivals, words_of

from ..errors import Usage

_LONGEST_PHRASE = 100  # characters of a string that is one time expression
_NEAR = timedelta(days=183)  # half a year: beyond it the coming May 5 is nearer than the last
_MOST_OF_A_YEAR = timedelta(days=300)  # beyond it the May that has just begun is nearer
_Slots = dict[str, Any]  # what the words of an order say: a number each, the Period of `iso`
_DAY = timedelta(days=1)
_HOUR, _ONE_DAY, _WEEK, _MONTH, _QUARTER, _YEAR, _WEEKEND = range(7)
_MONTHS_OF = {_MONTH: 1, _QUARTER: 3, _YEAR: 12}
UNITS = {"h": _HOUR, "d": _ONE_DAY, "w": _WEEK, "mo": _MONTH, "y": _YEAR}
_WEEKDAY_FIRST = ("", "on", "a_weekday", "a_weekday ,", "on a_weekday", "on a_weekday ,")  # (WD) in a rule
_SLOT_OF = (
    dict.fromkeys(("month_first", "a_month", "a_month_first", "numbered_month", "lone"), "month")
    | dict.fromkeys(("byear", "fullyear", "gyear"), "year")
    | dict.fromkeys(("a_weekday", "relday", "weekday_bare"), "weekday")
    | dict.fromkeys(("part_of", "part_after", "part_of_year"), "part")
    | dict.fromkeys(("cal", "once", "ago_unit"), "unit")
    | dict.fromkeys(("q", "half"), "months_of")
    | {"rel_after": "rel", "rel_week": "rel", "offset_shy": "offset", "nth": "day", "a_season": "season"}
)
_OPENERS = ("since", "until", "before", "after", "from", "between")
_CALENDAR = frozenset(["calendar", "iso"])
_CLOSERS = {f"{name}_end": name for name in ("since", "after", "before", "until")} | {"start_end": "since"}
_SHUT_LEFT = frozenset("@/\\#$€£¥№_")
_SHUT_RIGHT = frozenset("@/\\#_%$°")
_CODE_RIGHT = frozenset("([=")


class Mention(NamedTuple):
    """A time expression at `text[start:end]` and the whole days that it names.

    `cycle`: days after which the same words fit again ("Friday" 7, "May 5" 365); 0 when they name one day for good.
    """

    start: int
    end: int
    period: Period
    cycle: int = 0


def shifted(day: date, count: int, unit: int) -> date:
    """`day` moved by `count` units; hours round away from it, a day past the end of a month becomes its last."""
    if unit not in _MONTHS_OF:
        hours_in_days = (count + 23) // 24 if count > 0 else count // 24
        return day + timedelta(days={_HOUR: hours_in_days, _ONE_DAY: count}.get(unit, 7 * count))
    year, month = divmod(day.year * 12 + day.month - 1 + count * _MONTHS_OF[unit], 12)
    return date(year, month + 1, min(day.day, last_of_month(year, month + 1).day))


def _around(day: date, unit: int) -> Period:
    if unit == _ONE_DAY:
        return _one(day)
    if unit in (_WEEK, _WEEKEND):
        monday = day - day.weekday() * _DAY
        return Period(monday if unit == _WEEK else monday + 5 * _DAY, monday + 6 * _DAY)
    months = _MONTHS_OF[unit]
    return Period.months(day.year, (day.month - 1) // months * months + 1, months)


def _one(day: date) -> Period:
    return Period(day, day)


def _months(slots: _Slots, year: int) -> Period:
    ordinal = slots.get("ord", slots.get("figure"))
    if ordinal is not None or "months_of" in slots:
        return Period.months(year, *(divmod(slots["months_of"], 100) if ordinal is None else (3 * ordinal - 2, 3)))
    if "season" in slots:
        return Period.months(year, slots["season"], 3)
    return Period.months(year, slots["month"]) if "month" in slots else Period.months(year, 1, 12)


def _in_year(slots: _Slots, year: int) -> Period:
    if "day" in slots:
        first = date(year, slots["month"], slots["day"])
        last = first.replace(day=slots.get("day2", first.day))
        if last < first:
            raise ValueError(last)
        return Period(first, last)
    begin, end = whole = _months(slots, year)
    if "part" not in slots:
        return whole
    assert begin and end  # months have both
    part = slots["part"]  # early, mid or late: January-April, May-August, September-December of a year
    if (end - begin).days > 300:
        return Period.months(year, 4 * part - 3, 4)
    return Period(begin + (part - 1) * 10 * _DAY, end if part == 3 else begin + (part * 10 - 1) * _DAY)


def _nearest(slots: _Slots, years: range, fits: Callable[[date, date], bool]) -> Period:
    """The first of `years` in which the slots name real days (February 29) that fit; ValueError if none."""
    for year in years:
        with suppress(ValueError):
            period = _in_year(slots, year)
            if period.first and period.last and fits(period.first, period.last):
                return period
    raise ValueError(slots)


def _calendar(slots: _Slots, today: date) -> Period:
    if "year2" in slots:
        return Period(date(slots["year"], 1, 1), date(slots["year2"], 12, 31))
    if "year" in slots:
        return _in_year(slots, slots["year"])
    return _nearest(slots, range(today.year, today.year - 9, -1), lambda first, last: first <= today)


def _rel_calendar(slots: _Slots, today: date) -> Period:
    """Last November or summer is over, the next one has not begun, this one is of this year."""
    year = today.year
    match slots["rel"]:
        case 0:
            return _in_year(slots, year)
        case 1:
            return _nearest(slots, range(year, year + 2), lambda first, last: first > today)
        case -1:
            return _nearest(slots, range(year, year - 3, -1), lambda first, last: last < today)
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
    return _around(shifted(today, rel, unit), unit)


def _rel_part(slots: _Slots, today: date) -> Period:
    if slots["rel"] not in (-1, 0):  # "next morning" belongs to a story, not to today
        raise ValueError(slots)
    return _one(today + slots["rel"] * _DAY)


def _moved(slots: _Slots, today: date, way: int) -> date:
    """`today` moved by what is named, back (-1) or ahead (1): `30d`, three weeks, неделю, полгода."""
    if "months" in slots:
        return shifted(today, way * slots["months"], _MONTH)
    count = slots["span"] if "span" in slots else slots.get("num", 1)
    return shifted(today, way * count, slots["unit"])


def _ago(slots: _Slots, today: date) -> Period:
    day, unit = _moved(slots, today, -1), _MONTH if "months" in slots else slots["unit"]
    return Period(day, today) if unit == _HOUR else _around(day, unit)


def _ago_unit(slots: _Slots, today: date) -> Period:
    if 1900 <= slots["num"] < 2200 and slots["unit"] == _YEAR:  # 2025年前 is "before 2025"
        return Period(None, date(slots["num"] - 1, 12, 31))
    return _ago(slots, today)


_MEANINGS: dict[str, Callable[[_Slots, date], Period | None]] = {
    meaning.__name__[1:]: meaning
    for meaning in (
        _calendar, _rel_calendar, _weekday, _rel_weekday, _rel_weekday_bare, _rel_unit, _rel_part, _ago, _ago_unit,
    )
} | {
    "iso": lambda slots, today: slots["iso"],
    "rel_day": lambda slots, today: _one(shifted(today.replace(day=1), slots["rel"], _MONTH).replace(day=slots["day"])),
    "offset": lambda slots, today: _one(today + slots["offset"] * _DAY),
    "offset_two": lambda slots, today: _one(today + (-2 if "yesterday" in slots else 2) * _DAY),
    "past": lambda slots, today: Period(_moved(slots, today, -1), today),
    "ahead": lambda slots, today: Period(today, _moved(slots, today, 1)),
    "later": lambda slots, today: _one(_moved(slots, today, 1)),
}  # fmt: skip


@cache
def _orders() -> dict[str, Any]:
    """A trie over word classes; where an order may end, "" has its level, which says where it counts, and its meaning."""
    root: dict[str, Any] = {"iso": {"": (0, "iso")}}
    for line in (line for name in languages() for line in lines(name, "dates").get("orders", ())):
        level, meaning, *items = line.split()
        choices: list[list[list[str]]] = []  # of each item the runs of word classes that it may be
        for item in items:
            names = _WEEKDAY_FIRST if item == "(WD)" else item.rstrip("?").split("|")
            choices.append([name.split() for name in names] + [[]] * item.endswith("?"))
        for choice in product(*choices):
            node = root
            for name in (name for part in choice for name in part):
                node = node.setdefault(name, {})
            if "" not in node or int(level) < node[""][0]:  # of an order that two languages share, the wider use
                node[""] = int(level), meaning
    return root


class _DatePhrase(NamedTuple):
    """A whole expression up to token `end`; no period when it is shaped like a date and is none (February 30)."""

    end: int
    period: Period | None
    cycle: int
    bare_year: bool = False


class _Point(NamedTuple):
    """The longest word order at a token, ending before token `end`."""

    end: int
    level: int
    meaning: str
    slots: _Slots
    bare_year: bool

    @property
    def cycle(self) -> int:
        """Days after which the same words fit again ("Friday" 7, "May 5" 365); 0 when they name one day for good."""
        if self.meaning == "weekday":
            return 7
        return 365 if self.meaning == "calendar" and "year" not in self.slots else 0

    def on(self, today: date) -> Period | None:
        """The days meant when it is `today`; None when such days do not exist."""
        try:
            return _MEANINGS[self.meaning](self.slots, today)
        except (ValueError, OverflowError):
            return None

    def phrase(self, today: date, bound: str = "", more: int = 0) -> _DatePhrase:
        """The point, or what "since", "until", "before" or "after" it means, with `more` tokens behind it."""
        period = self.on(today)
        # Who says "next Friday" on a Wednesday may mean that of this week or of the next.
        in_week = self._replace(slots=self.slots | {"rel": 0}).on(today) if self.meaning == "rel_weekday" else None
        cycle = 7 if in_week and period == in_week and self.slots["rel"] > 0 else self.cycle
        period = _bounded(bound, period) if bound and period else period
        return _DatePhrase(self.end + more, period, cycle, self.bare_year and not more)


def _point(tokens: list[DateToken], at: int, level: int) -> _Point | None:
    found: list[tuple[int, int, str, list[str]]] = []
    open_paths: list[tuple[int, dict[str, Any], list[str]]] = [(at, _orders(), [])]
    while open_paths:
        end, node, path = open_paths.pop()
        if "" in node and node[""][0] <= level:
            found.append((end, *node[""], path))
        readings = tokens[end].readings if end < len(tokens) else ()
        open_paths += [(end + 1, node[name], [*path, name]) for name in readings if name in node]
    if not found:
        return None
    end, level, meaning, path = max(found, key=lambda each: (each[0], -each[1]))
    slots: _Slots = {}
    for name, token in zip(path, tokens[at:end], strict=True):
        slot = _SLOT_OF.get(name, name)
        slots[slot + "2" if slot in slots else slot] = token.readings[name]
        if name == "span":
            slots["unit"] = token.readings["unit"]
    return _Point(end, level, meaning, slots, path[-1] == "byear")


def _bounded(kind: str, period: Period) -> Period | None:
    """The period open on one side that "since", "until", "before" or "after" a period means."""
    if period.first is None or period.last is None:
        return None
    try:
        match kind:
            case "since":
                return Period(period.first, None)
            case "until":
                return Period(None, period.last)
            case "before":
                return Period(None, period.first - _DAY)
        return Period(period.last + _DAY, None)
    except OverflowError:
        return None


def _range(first: _Point, second: _Point, today: date) -> Period | None:
    """From the first day of one to the last of the other; a year or week that one lacks comes from the other."""
    left, right = first.on(today), second.on(today)
    try:
        if first.cycle and not second.cycle and right and right.last:
            left = first.on(right.last)
        elif second.cycle and left and left.first:
            right = second.on(left.first + 6 * _DAY if second.cycle == 7 else shifted(left.first, 12, _MONTH) - _DAY)
    except (ValueError, OverflowError):
        return None
    if not (left and right and left.first and right.last and left.first <= right.last):
        return None
    if (first.cycle or second.cycle) and right.last - left.first > 2 * _NEAR:
        return None
    return Period(left.first, right.last)


def _is(tokens: list[DateToken], at: int, *names: str) -> bool:
    return at < len(tokens) and any(name in tokens[at].readings for name in names)


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
        return first.phrase(today)
    closer = _closer(tokens, first.end, opener)
    if closer:
        return first.phrase(today, closer, 1)
    if opener in ("from", "between") or (first.bare_year and not tokens[at].readings[opener]):
        return None
    return first.phrase(today, opener)


def _closer(tokens: list[DateToken], at: int, opener: str = "") -> str:
    """The kind of bound that a word after a point sets (以来, 之前, onwards); empty if none."""
    name = next((name for name in _CLOSERS if _is(tokens, at, name)), "")
    # 会议上周开始 does not mean "since", 从上周开始 does
    return "" if not name or (name == "start_end" and not opener) else _CLOSERS[name]


def _ranged(
    tokens: list[DateToken], at: int, first: _Point, opener: str, today: date, level: int
) -> _DatePhrase | None:
    """`first` + to + a point, or + to + "present"; None for a week's rhythm (Monday to Friday)."""
    opens = opener or _is(tokens, first.end, "dash")  # "on Nov 27 to present the plan" has neither
    if opens and first.meaning in _CALENDAR and _is(tokens, first.end, "conn") and _is(tokens, first.end + 1, "now"):
        return first.phrase(today, "since", 2)
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
        found.append(point.phrase(today))
        if closer := _closer(tokens, point.end):
            found.append(point.phrase(today, closer, 1))
    found += [_opened(tokens, at, name, today, level) for name in _OPENERS if name in tokens[at].readings]
    return max(filter(None, found), key=lambda phrase: phrase.end, default=None)


def _counts_things(text: str, end: int) -> bool:
    """True when a number that ends at `end` counts what follows ("in 2025 requests", «в 2025 запросах»)."""
    word = next(iter(text[end : end + 40].split()), "").rstrip(".,;:!?)")
    if not word.islower() or not text[end : end + 1].isspace() or word in words_of("dates", "no plurals"):
        return False
    return word in words_of("dates", "counted") or (
        len(word) > 3 and word.endswith(words_of("dates", "plural endings"))
    )


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
    following = tokens[phrase.end : phrase.end + 1]
    if following and following[0].tight:
        return False
    # "the last Sunday of October" is not the one before today
    is_last_of = following and "of" in following[0].readings
    if is_last_of and any({"rel", "relative"} & token.readings.keys() for token in tokens[at : phrase.end + 1]):
        return False
    return not (phrase.bare_year and (after in ("'", "’") or _counts_things(text, end)))


@lru_cache(maxsize=64)  # the rules ask in turn for the times of one line
def find_times(text: str, today: date, is_from_since: bool = False) -> tuple[Mention, ...]:
    """All time expressions in free text, left to right, without overlaps; offsets are characters of `text`.

    Precision first: a bare year, month, weekday or duration ("2025", "May", "Friday", "30d") by itself is not a mention.
    `is_from_since` reads "from May" as "since May", which elsewhere says where from.
    """
    tokens = time_tokens(text, today)
    if is_from_since:
        if not any("from" in token.readings for token in tokens):
            return find_times(text, today)
        tokens = [t._replace(readings={"since": 1} | t.readings) if "from" in t.readings else t for t in tokens]
    first_words = {*_orders(), *_OPENERS} if tokens else set[str]()
    at, found = 0, list[Mention]()
    while at < len(tokens):
        phrase = None if first_words.isdisjoint(tokens[at].readings) else _phrase(tokens, at, today, 0)
        if phrase is None:
            at += 1
            continue
        if phrase.period and _stands_alone(text, tokens, at, phrase):
            found.append(Mention(tokens[at].start, tokens[phrase.end - 1].end, phrase.period, phrase.cycle))
        at = phrase.end
    return tuple(found)


def _whole(text: str, today: date) -> Period | None:
    """The days that a text without a range sign names, in the default languages or else in one of the others."""
    period = read_iso(text)
    if period or not text:
        return period
    others = [beside(name) for default in default_languages() for name in rivals(default)]
    for chosen in (default_languages(), *others):
        tokens = lexer(chosen).tokens(text, today, whole=True)
        phrase = _phrase(tokens, 0, today, 2) if tokens and tokens[0].start == 0 else None
        is_all = phrase and phrase.end == len(tokens) and text[tokens[-1].end :] in ("", ".")
        if phrase and phrase.period and is_all:
            return phrase.period
    return None


def _interval(left: str, right: str, today: date) -> Period | None:
    """`a..b`, `a..`, `..b`: either side may be any time expression, not both empty."""
    start, end = _whole(left, today) or Period(), _whole(right, today) or Period()
    if (left and not start.first) or (right and not end.last) or not (left or right):
        return None
    return None if start.first and end.last and start.first > end.last else Period(start.first, end.last)


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


def _settled(mention: Mention, day: date, past: bool) -> bool:
    """False for a day without a year or week that may as well be the coming one: any Friday, half a year back, and, but
    for "since", in a text that tells of nothing past ("our wedding is on December 12")."""
    (first, last), cycle = mention.period, mention.cycle
    if not cycle:
        return True
    if first is not None and last is None:
        return cycle <= 7 or day - first < _NEAR
    return cycle > 7 and past and first is not None and last is not None and day - last < _NEAR


@lru_cache(maxsize=64)
def valid_from_text(text: str, day: date | None) -> Period | None:
    """When a fact says that it is true; None when it says nothing, or several things, or one that can be read two ways.

    `day` is the day of the log; without it only expressions that do not depend on a day count.
    """
    if day is None:
        once, again = (set(find_times(text, date(year, 5, 17))) for year in (1999, 2013))
        periods = {mention.period for mention in once & again}
    else:
        if ahead := _ahead(text, day):
            return ahead
        hits = find_times(text, day)
        past = bool(hits) and is_past(text)  # nearly all lines name no time
        if not all(_settled(mention, day, past) for mention in hits):
            return None
        periods = {mention.period for mention in hits}
    return periods.pop() if len(periods) == 1 else None


def _ahead(text: str, day: date) -> Period | None:
    """What a text told on `day` says to begin on a day to come, the one time that it names: "goes up from May", «с мая вырастет»,
    从五月起涨. Without a year the next one is meant, if a verb before it or a plan says so; else only if it is nearer than the last."""
    hits = find_times(text, day, is_from_since=True)
    if len(hits) != 1 or hits[0].cycle == 7 or is_past(text) or says("so far", text):
        return None
    start, end, (first, last), cycle = hits[0]
    if first is None or last:
        return None
    breaks = re.compile(rf"(?i)[,;!?…]\s|\.\s|[，。；！？]|{pattern(languages_of(text), 'modality', 'aside')}")
    before, after = breaks.split(text[:start])[-1], breaks.split(text[end:])[0]
    clause = before + text[start:end] + after
    if cycle and first < day:
        first = shifted(first, 12, _MONTH)
    begins = is_plan(clause) or says("begins", before)
    near = first - day < (_MOST_OF_A_YEAR if begins else _NEAR * says("may begin", clause))
    return Period(first) if first > day and (near or not cycle) else None


def coming(text: str, day: date) -> tuple[date, date] | None:
    """The first and last day that a text told on `day` may mean by a date without a year: the next ones, within half a year.

    None where it tells of the past, or names several times. A guess: enough for a question, too little for when something holds.
    """
    hits = find_times(text, day)
    if len(hits) != 1 or hits[0].cycle <= 7 or is_past(text):
        return None
    first, last = hits[0].period
    if first and last and first <= day:
        first, last = shifted(first, 12, _MONTH), shifted(last, 12, _MONTH)
    return (first, last) if first and last and first < day + _NEAR else None


def only_begins(text: str, day: date) -> bool:
    """True where a text told on `day` names a day from which on something holds: "from Monday on", «с понедельника», 从周一起."""
    return any(at.period.last is None for at in find_times(text, day, is_from_since=True))


@lru_cache(maxsize=4096)
def day_and_rest(name: str) -> tuple[date | None, str]:
    """The day that a name begins with (`20251127`, `27.11.2025`) or is (`27 November 2025`), None without; and what follows."""
    match = re.match(r"((?:19|20)\d\d|\d{4}(?=-))(-?)(\d\d)\2(\d\d)(?!\d)", name)
    if match:
        year, _, month, day = match.groups()
    elif match := re.match(r"(\d\d?)\.(\d\d?)\.(\d{4})(?!\d)", name):
        day, month, year = match.groups()
    if match and (found := iso_day(f"{year}-{month:0>2}-{day:0>2}")):
        return found, name[match.end() :]
    if re.search(r"\d{4}", name):
        once, again = (parse_when(name, date(year, 5, 17)) for year in (1999, 2013))
        if once and once == again and once.first == once.last:
            return once.first, ""
    return None, name


def log_day(path: str) -> date | None:
    """The day of a page, by its file name: of a log, `memory/2025-11-27-standup.md`, or of a daily note of any program."""
    return day_and_rest(PurePosixPath(path).stem)[0]


def day_of(name: str, written: str | None, today: date) -> date | None:
    """The one day that `written` names ("2025-11-27", "yesterday"); None for None, Usage for anything else."""
    first, last = parse_when(written or "", today) or Period()
    if written is not None and (first is None or first != last):
        raise Usage(f"{name} {written!r} is not a day", "write 2025-11-27 or yesterday")
    return first


def first_day(
    name: str, written: str | None, today: date, cure: str = "write 7d, 2025-11-27 or 2025-11"
) -> date | None:
    """The day on which the time that `written` names begins ("7d", "2025-11"); None for None, Usage for anything else."""
    period = parse_when(written or "", today)
    if written is not None and not (period and period.first):
        raise Usage(f"{name} {written!r} is not understood", cure)
    return period.first if period else None


def last_day(name: str, written: str | None, today: date) -> date | None:
    """The day on which the time that `written` names ends, today for a span such as "30d"; None for None."""
    period = parse_when(written or "", today)
    if written is not None and period is None:
        raise Usage(f"{name} {written!r} is not understood", "write 2025-11-27, 2025-11 or 30d")
    return period.last or period.first if period else None
