"""Text to the tokens that can stand in a time expression, by `dates.txt` of its languages; other words break a phrase."""

import re
from collections.abc import Iterator
from datetime import date
from functools import cache, cached_property, lru_cache
from typing import Any, NamedTuple

from memctl.facts import Period
from memctl.language.names import han_value, is_han
from memctl.language.words import HAN_CHARS, compiled, languages_of, lines, pattern, without_yo, words_of

Readings = dict[str, Any]  # an int for each class, a Period or None for `iso`
_COMMA: Readings = {",": 0}
_DASH: Readings = {"dash": 0, "conn": 0}

_LOWEST = "〇"  # the lowest character of Chinese dates, and none of HAN_CHARS
_ABBREVIATED = frozenset(["a_month", "a_weekday", "year"])  # "Sept. 5", «5 нояб. 2025 г.»
_BOLD = frozenset(["month", "month_first", "season"])  # what an ordinary word is not, unless written as a name
_LETTERS = r"[^\W\d_\u2e80-\uffff]+"  # beside Chinese there is no space
_WORDS = str.maketrans(
    {n: chr(n).lower() if chr(n).isalpha() else "0" if chr(n).isdigit() else " " for n in range(128)}
)
_LONGEST_HAN = 5
_LONGEST_GAP = 8  # white space inside one expression
_WHOLE = {"a_month": ("month", "lone"), "a_weekday": ("weekday", "relday"), "a_season": ("season",)}
_CORE = frozenset([
    "month_first", "month", "weekday", "weekday_bare", "season", "half", "unit", "ago_unit", "once", "months", "cal",
    "year_mark", "year_mark_bare", "year_abbr", "month_mark", "day_mark", "yearword", "quarterword", "offset", "dayword",
    "yesterday", "tomorrow", "offset_year", "daypart", "part_of_year", "now",
])  # fmt: skip
_SUFFIXES = frozenset(["year_mark", "year_mark_bare", "year_abbr", "cal", "month_mark", "day_mark"])


class DateToken(NamedTuple):
    """One word, number or mark at `start:end`, with what it may mean (class -> value). `tight` is a hyphen inside a word."""

    start: int
    end: int
    readings: Readings
    tight: bool = False


BREAK = DateToken(-1, -1, {})


# --- vocabulary ---------------------------------------------------------------------------------------------------


def _spellings(entry: str) -> Iterator[str]:
    """`март//а` -> март, марта; «трёх» also as «трех»."""
    stem, *endings = entry.split("/")
    for ending in endings or [""]:
        yield from dict.fromkeys((stem + ending, without_yo(stem + ending)))


@cache
def _valued(section: str) -> dict[str, int]:
    return {word: int(value) for word, _, value in (entry.partition("=") for entry in words_of("dates", section))}


# --- numbers and compounds -----------------------------------------------------------------------------------------


def _number(text: str, whole: bool = False) -> Readings:
    if len(text) > 9:
        return {}
    value, readings = int(text), {}
    if len(text) == 4 and (whole or 1000 <= value < 3000):
        readings["year"] = value
        if 1900 <= value < 2200:
            readings["byear"] = value
    if len(text) <= 2 and 1 <= value <= 31:
        readings["day"] = value
    if text[0] != "0" or len(text) == 1:
        readings["num"] = readings["figure"] = value
    return readings


def _han_number(run: str) -> Readings:
    """一..九千九百九十九, or four digits that name a year (二〇二五)."""
    units, tens = _valued("digits"), _valued("tens")
    if all(c in units for c in run):
        digits = "".join(str(units[c]) for c in run)
        return _number(digits) if len(digits) in (1, 4) else {}
    return _number(str(round(han_value(run, units, tens))))


def read_iso(text: str) -> Period | None:
    """The year, month, day or week that `text` spells in ISO 8601 (a time of day is ignored), or None."""
    match = re.fullmatch(r"(\d{4}-\d\d-\d\d)[T ][\d:.,+Z-]+|(\d{4}(?:-\d\d){0,2})|(\d{4})-?W(\d\d)(?:-([1-7]))?", text)
    if not match or not match[3]:
        return Period.parse(match[1] or match[2]) if match else None
    try:
        first, last = (date.fromisocalendar(int(match[3]), int(match[4]), int(match[5] or edge)) for edge in (1, 7))
    except ValueError:
        return None
    return Period(first, last)


@cache
def _compound() -> re.Pattern[str]:
    year, nth, units = (
        "|".join(map(re.escape, listed))
        for listed in (words_of("dates", "year endings"), words_of("dates", "ordinal endings"), _valued("span units"))
    )
    return re.compile(
        rf"(?P<dotted>(\d\d?)\.(\d\d?)\.(\d{{4}})(?:{year})?)|(?P<slashed>(\d{{4}})/(\d\d?)/(\d\d?))"
        rf"|(?P<us>(\d\d?)/(\d\d?)/(\d{{4}}))|(?P<year>(\d{{4}})(?:{year}))"
        rf"|(?P<nth>(\d\d?)(?:{nth}))|(?P<q>q([1-4]))|(?P<h>h([12]))|(?P<clock>(\d\d?):\d\d(?::\d\d)?)"
        rf"|(?P<span>(\d{{1,9}})({units}))",
        re.IGNORECASE,
    )


def _numeric_date(kind: str, a: int, b: int, c: int) -> Period | None:
    """27.11.2025, 2025/11/27, 11/27/2025; None when day and month could be swapped (11/12/2025)."""
    year, month, day = {"slashed": (a, b, c), "dotted": (c, b, a), "us": (c, b, a) if a > 12 else (c, a, b)}[kind]
    if (kind == "dotted" and not 1900 <= year < 2200) or (kind == "us" and a != b and max(a, b) <= 12):
        return None
    try:
        return Period(date(year, month, day), date(year, month, day))
    except ValueError:
        return None


def _compound_readings(text: str, whole: bool) -> Readings | None:
    """What a chunk with digits in it may mean: a number, an ISO date, an ordinal, a quarter; None for anything else."""
    if text.isdecimal():
        return _number(text, whole)
    period = _iso_chunk(text)
    if period and (whole or len(text) > 7 or text[:2] in ("19", "20", "21")):  # 1200-12 is a part number
        return {"iso": period}
    match = _compound().fullmatch(text)
    if not match:
        return None
    parts = [part for part in match.groups() if part][1:]
    value = int(parts[0])
    match match.lastgroup:
        case "dotted" if not whole and len(parts[1]) < 2:  # 1.2.2010 is a version too
            return None
        case "dotted" | "slashed" | "us" as kind:
            return {"iso": _numeric_date(kind, *map(int, parts))}
        case "year":
            return {"year": value, "gyear": value}
        case "q":
            return {"q": (3 * value - 2) * 100 + 3}
        case "h":
            return {"half": (6 * value - 5) * 100 + 6}
        case "nth":
            return ({"nth": value, "day": value} if value <= 31 else {}) | ({"ord": value} if value <= 4 else {})
        case "span":
            return {"span": value, "unit": _valued("span units")[parts[-1].lower()]} if whole else {}
    return {"clock": 0}


def _iso_chunk(text: str) -> Period | None:
    """An ISO date finer than a year, or two of them joined by `..`, `/` or `--`."""
    first, _, last = text.partition(".." if ".." in text else "--" if "--" in text else "/")
    if not last:
        return read_iso(text) if len(text) > 4 else None
    left, right = read_iso(first), read_iso(last)
    if len(text) < 10 or not left or not right or not left.first or not right.last or left.first > right.last:
        return None
    return Period(left.first, right.last)


# --- text to tokens ------------------------------------------------------------------------------------------------


@cache
def _chunks() -> re.Pattern[str]:
    """A run of letters and digits with the marks that glue identifiers, versions, times and paths; or one mark."""
    return re.compile(r"(\w+(?:(?:[-.]{1,2}|[/@+#\\&]|(?<=\d)[:,](?=\d))\w+)*)|([,，、–—~～−-])")


def _expand(name: str, word: str, shy: frozenset[str], shy_alone: frozenset[str]) -> list[str]:
    """All classes of a word listed under `name`, the bold ones first (they are dropped when the word is shy)."""
    if name in ("month_first", "month"):
        return ["month", "lone", "a_month", *(["month_first", "a_month_first"] if name == "month_first" else [])]
    if name == "weekday":
        bold = [] if word in shy else ["relday"] if word in shy_alone else ["weekday", "relday"]
        return [*bold, "a_weekday"]
    return ["season", "a_season"] if name == "season" else [name]


class Lexer:
    """The words of time of some languages, and how a text is cut into tokens by them."""

    def __init__(self, chosen: tuple[str, ...]) -> None:
        self._lower = frozenset(words_of("dates", "shy in lower case", chosen))
        self._table: dict[str, Readings] = {word: {} for word in words_of("dates", "plain", chosen)}
        self._traditional = str.maketrans({pair[0]: pair[1] for pair in words_of("dates", "traditional", chosen)})
        core: set[str] = set()  # words without which, and without a digit, no time is named
        shy, alone = frozenset(words_of("dates", "shy", chosen)), frozenset(words_of("dates", "shy alone", chosen))
        for line in (line for name in chosen for line in lines(name, "dates").get("words", ())):
            name, value, *entries = line.split()
            for word in (word for entry in entries for word in _spellings(entry)):
                readings = self._table.setdefault(word, {})
                readings |= dict.fromkeys(_expand(name, word, shy, alone), int(value))
                core |= {word, word.partition("-")[0]} if name in _CORE else set()
        self._core = frozenset(core)
        self._counted = pattern(chosen, "dates", "counted")
        for word in [w for w in self._table if "ago_unit" in self._table[w]]:
            self._table.update({word + tail: {} for tail in words_of("dates", "opens a word", chosen)})
        first = {word[0] for word in self._core if word[0] >= "\u2e80"} | set(map(chr, self._traditional))
        self._signs = re.compile(rf"[\d{''.join(sorted(first))}]")

    @cached_property
    def _han(self) -> tuple[re.Pattern[str], re.Pattern[str]]:
        """Where a Chinese word or number may start, and a number."""
        numerals = {*_valued("digits"), *_valued("tens")}
        starts = numerals.union(word[0] for word in self._table if is_han(word[0]))
        return re.compile(f"[{''.join(sorted(starts))}]"), re.compile(f"[{''.join(sorted(numerals))}]+")

    def may_hold_time(self, text: str) -> bool:
        """False for a text that surely names no time: one look at its words, for the nine of ten lines without a date."""
        if text.isascii():
            plain = text.translate(_WORDS)
            return "0" in plain or not self._core.isdisjoint(plain.split())
        return bool(self._signs.search(text)) or not self._core.isdisjoint(compiled(_LETTERS).findall(text.lower()))

    def _word(self, text: str, whole: bool) -> Readings | None:
        """What a word may mean, by its spelling and case; None when it means no time."""
        key = text.lower()
        readings = self._table.get(key)
        if readings is None or (not whole and text.istitle()):
            return readings
        if whole:
            return readings | {more: readings[name] for name in _WHOLE.keys() & readings for more in _WHOLE[name]}
        if key in self._lower or (text.isupper() and "month_first" in readings):  # an ordinary word, an enum's constant
            lone = set() if len(key) > 3 or key == "may" else {"lone"}
            return {name: value for name, value in readings.items() if name not in _BOLD | lone}
        return readings

    def _han_tokens(self, run: str, offset: int) -> Iterator[DateToken]:
        """Longest known word first, left to right; ordinary words are read too, so that they guard their edges."""
        run, pos = run.translate(self._traditional), 0
        starts, numbers = self._han
        while found := starts.search(run, pos):
            start = found.start()
            ends = range(min(start + _LONGEST_HAN, len(run)), start, -1)
            pos = next((end for end in ends if run[start:end] in self._table), 0)
            if compiled(self._counted).match(run, start):
                pos -= 1  # a number of days, not the day of this number
            if pos:
                yield DateToken(offset + start, offset + pos, self._table[run[start:pos]])
            elif number := numbers.match(run, start):
                pos = number.end()
                yield DateToken(offset + start, offset + pos, _han_number(number[0]))
            else:
                pos = start + 1

    def _hyphenated(self, text: str, start: int, whole: bool) -> list[DateToken]:
        """`27-Nov-2025`, `mid-November`: a token for each piece; none unless every piece is a known word or number."""
        tokens: list[DateToken] = []
        for piece in text.split("-"):
            if tokens:
                tokens.append(DateToken(start - 1, start, _DASH, tight=True))
            readings = self._word(piece, whole) or _compound_readings(piece, whole)
            if not readings:
                return []
            tokens.append(DateToken(start, start + len(piece), readings))
            start += len(piece) + 1
        return tokens

    def _chunk_tokens(self, text: str, start: int, whole: bool) -> list[DateToken]:
        readings = self._word(text, whole)
        if readings is None and any(c.isdecimal() for c in text):
            readings = _compound_readings(text, whole)
        if readings is not None:
            return [DateToken(start, start + len(text), readings)]
        return self._hyphenated(text, start, whole) if "-" in text and len(text) < 60 else []

    def _spaced_tokens(self, text: str, start: int, end: int, whole: bool) -> Iterator[DateToken]:
        for match in _chunks().finditer(text, start, end):
            chunk = match[1]
            if chunk is None:
                yield DateToken(match.start(), match.end(), _COMMA if match[2] in ",，、" else _DASH)
            # Nearly every word of a text ends here: 1 MB has 200,000 of them.
            elif not chunk.isalpha() or chunk.lower() in self._table:
                yield from self._chunk_tokens(chunk, match.start(), whole)

    def _raw_tokens(self, text: str, whole: bool) -> Iterator[DateToken]:
        end = 0
        for run in re.finditer(f"[{_LOWEST}{HAN_CHARS}]+", text) if text and max(text) >= _LOWEST else ():
            yield from self._spaced_tokens(text, end, run.start(), whole)
            yield from self._han_tokens(run[0], run.start())
            end = run.end()
        yield from self._spaced_tokens(text, end, len(text), whole)

    def tokens(self, text: str, today: date, whole: bool = False) -> list[DateToken]:
        """The tokens of `text`, with BREAK wherever something else stands between two of them.

        `whole`: the text is nothing but one time expression, so that "may" and "sat" can only be a month and a weekday.
        """
        tokens: list[DateToken] = []
        end = 0
        for token in self._raw_tokens(text, whole):
            if "offset_year" in token.readings:
                year = today.year + token.readings["offset_year"]
                token = DateToken(token.start, token.end, {"year": year, "fullyear": year})
            joined = not tokens or tokens[-1] is BREAK
            if not joined:  # unless only white space, or the full stop of an abbreviation, stands between two tokens
                gap = text[end : token.start]
                if gap.startswith(".") and text[end - 1].isalpha() and not _ABBREVIATED.isdisjoint(tokens[-1].readings):
                    gap = gap[1:]
                joined = not gap or (len(gap) <= _LONGEST_GAP and gap.isspace() and gap.count("\n") < 2)
            end = token.end
            if not joined:
                tokens.append(BREAK)
            elif tokens and (merged := _merge(tokens, token, today)):
                token = DateToken(tokens.pop().start, end, merged)
            tokens.append(token if token.readings else BREAK)
        return tokens


lexer = cache(Lexer)
"""The lexer of the languages that stand in a text (`languages_of`)."""


def _merge(tokens: list[DateToken], new: DateToken, today: date) -> Readings | None:
    """`2025 года`, `11月`, `27日`, `last year`: what the last token and the next are together, or None if nothing."""
    old, add = tokens[-1].readings, new.readings
    if _SUFFIXES.isdisjoint(add):
        return None
    number = old.get("day", 0)
    if "year" in old and ("year_mark" in add or ("year_mark_bare" in add and "byear" in old)):
        return {"year": old["year"], "fullyear": old["year"]}
    if "year" in old and "year_abbr" in add:
        return {"year": old["year"], "gyear": old["year"]}
    if "rel" in old and add.get("cal") == 5:
        return {"year": today.year + old["rel"], "fullyear": today.year + old["rel"], "relative": 0}
    if "month_mark" in add and 1 <= number <= 12:
        return dict.fromkeys(("numbered_month", "month", "lone", "a_month"), number)
    before = tokens[-2].readings if len(tokens) > 1 else {}
    if number and "day_mark" in add and {"numbered_month", "month_mark", "conn"} & before.keys():
        return {"nth": number, "day": number}
    return None


@lru_cache(maxsize=64)
def time_tokens(text: str, today: date) -> list[DateToken]:
    """The tokens of running text in its own languages; none where it surely names no time."""
    cutter = lexer(languages_of(text))
    return cutter.tokens(text, today) if cutter.may_hold_time(text) else []
