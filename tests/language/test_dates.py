"""Time expressions in English, Russian and Chinese: what counts, what does not, and which days are meant."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path

import pytest
from counting import call_growth
from hypothesis import given, settings, strategies as st
from strategies import examples

from memctl.facts import Period
from memctl.language.dates import Mention, find_times, parse_when, valid_from_text
from memctl.language.dates_lexer import Lexer

TODAY = date(2025, 11, 29)  # a Saturday


def listed(section: str) -> list[str]:
    """The lines of a section of the corpus."""
    text = (Path(__file__).parents[1] / "data/language/dates.txt").read_text("utf-8")
    found = text.partition(f"[{section}]\n")[2].partition("\n\n")[0].split("\n")
    return [line for line in found if line]


def rows(section: str) -> list[list[str]]:
    """The cells of each line."""
    return [[cell.strip() for cell in line.split(" | ")] for line in listed(section)]


def spelled(period: Period | None) -> str:
    return "none" if period is None else str(period)


def test_a_whole_string() -> None:
    for text, days in rows("everywhere") + rows("whole strings only"):
        for said in (text, f"  {text}\n"):
            assert spelled(parse_when(said, TODAY)) == days, said


def test_inside_a_text() -> None:
    for text, days in rows("everywhere"):
        for before, after in (("", ""), ("Xyz, ", " xyz."), ("(", ")"), ("数据", "。"), ("«", "»")):
            said = before + text + after
            found = [(spelled(m.period), said[m.start : m.end]) for m in find_times(said, TODAY)]
            assert found == [(days, text)], said


def test_never() -> None:
    for text in listed("never"):
        assert parse_when(text, TODAY) is None, text
        assert find_times(text, TODAY) == find_times(f"Xyz {text} xyz", TODAY) == (), text


def test_ordinary_words_in_a_text() -> None:
    for text in (cell for row in rows("not in a text") for cell in row):
        for before, after in (("", ""), ("the ", " did"), ("`", "`")):
            assert find_times(before + text + after, TODAY) == (), text


def test_sentences() -> None:
    for marked in listed("sentences"):
        text = marked.replace("[", "").replace("]", "")
        expected = [part.split("]")[0] for part in marked.split("[")[1:]]
        assert [text[m.start : m.end] for m in find_times(text, TODAY)] == expected


def test_borders_of_months_years_weeks_and_the_calendar() -> None:
    for today, text, days in rows("borders"):
        assert spelled(parse_when(text, date.fromisoformat(today))) == days, (today, text)


def test_valid_time_of_a_fact() -> None:
    for text, day, days in rows("valid"):
        assert spelled(valid_from_text(text, TODAY if day == "today" else None)) == days, (text, day)


DAYS = st.dates(date(1000, 1, 1), date(9999, 12, 31))
WORDS = (
    "in since until from between and to last next this the of on may May March Nov Friday Q3 2025 27 3 days ago week "
    "с по в на прошлой неделе марта года г назад 27-го 上 周 月 年 日 11 三 十 天前 去年 至 以来 2025-11-27 .. "
    "- – , . / @ = \0 \ud800 99999999999 ²"
)
PHRASES = st.lists(st.sampled_from(WORDS.split(" ")), max_size=14)
JUNK = st.one_of(st.text(), PHRASES.map(" ".join), PHRASES.map("".join))


@given(JUNK, st.one_of(st.just(TODAY), st.dates()))
@settings(max_examples=examples(400), deadline=None)
def test_nothing_raises_and_spans_increase(text: str, today: date) -> None:
    parse_when(text, today)
    valid_from_text(text, today)
    end = 0
    for mention in find_times(text, today):
        assert end <= mention.start < mention.end <= len(text)
        assert mention.period != Period()
        end = mention.end
    valid_from_text(text, None)


@given(st.one_of(DAYS, st.none()), st.one_of(DAYS, st.none()), st.dates())
@settings(max_examples=examples(200), deadline=None)
def test_a_period_is_read_back(one: date | None, other: date | None, today: date) -> None:
    first, last = sorted((one, other)) if one and other else (one, other)
    if first or last:
        assert parse_when(str(Period(first, last)), today) == Period(first, last)


@given(st.integers(1000, 9999), st.integers(1, 12))
@settings(max_examples=examples(100), deadline=None)
def test_years_and_months_are_read_back(year: int, month: int) -> None:
    after = date(year + month // 12, month % 12 + 1, 1) if (year, month) != (9999, 12) else None
    whole_month = Period(date(year, month, 1), after - timedelta(days=1) if after else date.max)
    for period in (whole_month, Period(date(year, 1, 1), date(year, 12, 31))):
        assert parse_when(str(period), TODAY) == period


@given(st.from_regex(r"\A(v?\d{1,4}(\.\d{1,4}){2,3}|[a-z]+[0-9]+[a-z][a-z0-9_]*|[a-z]+_[a-z0-9_]+|0x[0-9a-f]{6})\Z"))
@settings(max_examples=examples(200), deadline=None)
def test_identifiers_and_versions_are_no_dates(text: str) -> None:
    day_month_year = text.count(".") == 2 and len(text.rsplit(".", 1)[1]) == 4 and text[0] != "v"
    assert day_month_year or find_times(f"in {text} today", TODAY)[:-1] == ()


HOSTILE = ["may ", "Nov 27 – ", "с 27 по ", "上周五", "2025-", "1.", "in the ", "-", "\0\ud800", "1,"]


@pytest.mark.parametrize("part", HOSTILE)
def test_work_grows_with_the_text_and_not_its_square(part: str) -> None:
    assert call_growth(lambda text: find_times(text, TODAY), lambda n: part * (n // len(part))) < 2.5
    assert parse_when(part * 100_000, TODAY) is None


@pytest.mark.parametrize("text", ["na terça-feira", "na segunda-feira", "ВО ВТОРНИК-ДЕНЬ"])
def test_a_word_with_a_hyphen_is_one(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a language whose weekdays are written so; no part of them is a word of its own."""
    words = {"words": ("weekday 1 terça-feira segunda-feira вторник-день",)}
    monkeypatch.setattr("memctl.language.dates_lexer.lines", lambda *_: words)
    assert (pt := Lexer(("pt",))).may_hold_time(text) and "weekday" in pt.tokens(text, TODAY)[-1].readings


def test_a_mention_is_a_value() -> None:
    assert find_times("on 2025-11-27", TODAY) == (Mention(3, 13, Period(date(2025, 11, 27), date(2025, 11, 27))),)
