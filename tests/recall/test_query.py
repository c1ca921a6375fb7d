"""A question: words, with filters as flags or inside the words.

    memctl recall "@Peter kind:opinion since:30d key:db what does he drink"

What looks like a filter but is none stays a word; quotes make any filter a word. A flag that means nothing is an error.
"""

from __future__ import annotations

from datetime import date, datetime
from pathlib import Path
from typing import Any

import pytest
from face_helpers import memory_on, write_pages
from hypothesis import example, given, settings, strategies as st
from strategies import examples, names, texts

import memctl
from memctl.errors import Usage
from memctl.facts import Kind, Period
from memctl.index.queries.entries import Query
from memctl.recall.query import read_query

TODAY = date(2025, 11, 29)  # a Saturday
OPINION, WORLD = Kind.OPINION, Kind.WORLD


def read(text: str = "", **flags: Any) -> Query:
    return read_query(text, TODAY, **flags)


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("", Query()),
        ("  what   now ", Query("what now")),
        # Entities.
        ("@Peter drinks", Query("drinks", about=("Peter",))),
        ("what does @Peter, like?", Query("what does , like?", about=("Peter",))),
        ("@Анна @爱丽丝 @Анна", Query(about=("Анна", "爱丽丝"))),
        ("[[Gull Spit]] @[[Alex Chen|Alex]] north", Query("north", about=("Gull Spit", "Alex Chen"))),
        ('about:Peter about:@Anna about:[[A]] about:"Gull Spit"', Query(about=("Peter", "Anna", "A", "Gull Spit"))),
        ("about:[[Gull Spit]] x", Query("x", about=("Gull Spit",))),
        # Kinds and keys.
        ("kind:opinion tea", Query("tea", kinds=(OPINION,))),
        ("kind:o,W kind:note tea", Query("tea", kinds=(OPINION, WORLD, Kind.NOTE))),
        ("key:db", Query(key="db")),
        ('key:"two words"', Query(key="two words")),
        ("min-confidence:0.8 tea", Query("tea", min_confidence=0.8)),
        # Times as filters.
        ("since:2025-11-01 tea", Query("tea", days=Period(date(2025, 11, 1), None))),
        ("until:2025-11 tea", Query("tea", days=Period(None, date(2025, 11, 30)))),
        ("on:2025-11 tea", Query("tea", days=Period(date(2025, 11, 1), date(2025, 11, 30)))),
        ('since:"last week" tea', Query("tea", days=Period(date(2025, 11, 17), None))),
        ("since:30d", Query(days=Period(date(2025, 10, 30), None))),
        ("as-of:2025-11-20", Query(as_of=date(2025, 11, 20))),
        ("as-of:2025-10", Query(as_of=date(2025, 10, 31))),
        # Times in the words only lift what they meet.
        ("tea on 2025-11-20", Query("tea on 2025-11-20", times=(Period(*[date(2025, 11, 20)] * 2),))),
    ],
)
def test_filters_inside_the_words(text: str, query: Query) -> None:
    assert read(text) == query


@pytest.mark.parametrize(
    "text",
    [
        "kind:Pod in Kubernetes", "kind:opinion,Pod", "since:forever", "since:2025-13", "on:off", "min-confidence:high", "min-confidence:2",
        "min-confidence:nan", "about:@", "about:", "key:", "since: 30d", "Kind:opinion", "mykind:opinion", "x@Peter",
        "bob@example.com", "[[#Heading]]", "@ home", "http://x.org/?key:db", 'unclosed "quote', "unclosed [[link",
    ],
)  # fmt: skip
def test_what_looks_like_a_filter_but_is_none_stays_a_word(text: str) -> None:
    query = read(text)
    assert query.words == text
    assert query.filters == []


def test_empty_values_filter_nothing() -> None:
    assert read('key:"" about:"" x') == Query('key:"" about:"" x')


@pytest.mark.parametrize("filter_", ["kind:opinion", "@Peter", "[[Gull Spit]]", "since:30d", "key:db"])
def test_quotes_make_any_filter_a_word(filter_: str) -> None:
    assert read(f'find "{filter_}" here').words == f"find {filter_} here"
    assert read(f'find "{filter_}" here').filters == [f'"{filter_}"']


def test_flags_say_the_same_as_filters() -> None:
    flags = read(
        "tea", about=["Peter", "@Anna", "[[A]]"], kinds=["opinion", "W"], key="db", since="2025-11-01",
        until="2025-11-20", as_of="2025-11-27", min_confidence=0.8,
    )  # fmt: skip
    inside = "@Peter @Anna [[A]] kind:opinion kind:W key:db since:2025-11-01 until:2025-11-20 as-of:2025-11-27 "
    assert flags == read(inside + "min-confidence:0.8 tea")
    assert flags.filters == [
        "about:Peter", "about:Anna", "about:A", "kind:opinion", "kind:world", "key:db", "since:2025-11-01",
        "until:2025-11-20", "as-of:2025-11-27", "min-confidence:0.8",
    ]  # fmt: skip


def test_a_small_confidence_is_a_number_too() -> None:
    assert read(min_confidence=0.00001).min_confidence == 0.00001
    assert read(min_confidence=0).min_confidence == 0


def test_words_win_over_flags_where_only_one_can_hold() -> None:
    assert read("key:b", key="a").key == "b"
    assert read("since:2025-11-02", since="2025-11-01").days == Period(date(2025, 11, 2), None)


def days_of(first: str, last: str) -> Period:
    return Period(date.fromisoformat(first), date.fromisoformat(last))


@pytest.mark.parametrize(
    ("words", "flags", "days"),
    [
        ("what happened yesterday?", {}, ("2025-11-28", "2025-11-28")),
        ("what happened yesterday?", {"as_of": "2025-06-02"}, ("2025-06-01", "2025-06-01")),
        ("What did we do in November 2025?", {}, ("2025-11-01", "2025-11-30")),
        ("around 10 November", {}, ("2025-11-07", "2025-11-13")),
        ("что было около 10 ноября?", {}, ("2025-11-07", "2025-11-13")),
        ("Что мы делали на прошлой неделе?", {}, ("2025-11-17", "2025-11-23")),
        ("上周发生了什么？", {}, ("2025-11-17", "2025-11-23")),
        ("11月10日前后有什么事？", {}, ("2025-11-07", "2025-11-13")),
    ],
)
def test_a_bare_question_for_a_time_is_a_filter(words: str, flags: dict[str, str], days: tuple[str, str]) -> None:
    """What happened then: as with --on; "around" takes in three days to each side."""
    query = read(words, **flags)
    assert (query.words, query.days, query.pasted) == ("", days_of(*days), words)


_TOLD = ((6, 1), (8, 1), (9, 1), (10, 1), (11, 1), (13, 60))  # days, and how many lines on each


@pytest.mark.parametrize(
    "question", ["what happened around 10 November?", "что было около 10 ноября?", "11月10日前后有什么事？"]
)
def test_around_a_time_the_nearest_comes_first(tmp_path: Path, question: str) -> None:
    """Its own day before the days beside it, of two as near the newer, however much was told later; a plain span has the newest first."""
    told = {
        f"memory/2025-11-{day:02}.md": "".join(f"- W @Quay: Line {day}-{n}\n" for n in range(lines))
        for day, lines in _TOLD
    }
    memory = memory_on(write_pages(tmp_path, {path: f"## Retain\n\n{lines}" for path, lines in told.items()}), TODAY)
    days = [hit.day for hit in memory.recall(question, k=5).hits]
    assert [str(day) for day in days] == ["2025-11-10", "2025-11-11", "2025-11-09", "2025-11-08", "2025-11-13"]
    assert str(memory.recall("what happened in November 2025?", k=1).hits[0].day) == "2025-11-13"


@pytest.mark.parametrize("words", ["Who broke the gateway yesterday?", "Кто вчера сломал шлюз?", "昨天谁弄坏了网关？"])
def test_a_time_beside_other_words_lifts(words: str) -> None:
    query = read(words)
    assert (query.words, query.days, query.times) == (words, None, (days_of("2025-11-28", "2025-11-28"),))


@pytest.mark.parametrize(
    ("flags", "cure"),
    [
        ({"kinds": ["Pod"]}, "world, experience, opinion, observation, note"),
        ({"kinds": [""]}, "world"),
        ({"since": "2025-13"}, "30d"),
        ({"until": ""}, "30d"),
        ({"on": "off"}, "30d"),
        ({"as_of": "then"}, "30d"),
        ({"min_confidence": 1.5}, "from 0 to 1"),
        ({"min_confidence": -0.1}, "from 0 to 1"),
        ({"min_confidence": float("nan")}, "from 0 to 1"),
        ({"about": [""]}, "--help"),
        ({"about": ["@"]}, "--help"),
        ({"key": " "}, "--help"),
        ({"since": "2025-11-27", "until": "2025-11-01"}, "swap"),
        ({"since": "2025-11-27", "on": "2025-11-01"}, "leave one out"),
    ],
)
def test_a_flag_that_cannot_be_followed_is_an_error_with_a_cure(flags: dict[str, Any], cure: str) -> None:
    with pytest.raises(Usage) as error:
        read("tea", **flags)
    assert cure in error.value.cure
    assert error.value.exit_code == 2


def test_all_times_must_hold() -> None:
    """In flags and in the words: none takes the place of another."""
    assert read("on:2025-11 tea since:2025-10", since="2025-11-10").days == days_of("2025-11-10", "2025-11-30")
    assert read("tea", on="2025", until="2025-11-10", since="2025-03").days == days_of("2025-03-01", "2025-11-10")


@given(texts())
@example('"a" "b')
@example('about:"@"')
@example("[[ ]]")
@settings(max_examples=examples(150))
def test_any_question_can_be_read(text: str) -> None:
    """The only error that words can make is a span that ends before it begins."""
    try:
        query = read(text)
    except Usage as error:
        assert "after until" in error.what
        return
    assert query.words == " ".join(query.words.split())
    assert all(query.about)
    assert query.key is None or query.key


@given(names().filter(lambda name: not name.startswith("@") and '"' not in name))
@settings(max_examples=examples(100))
def test_any_name_can_be_asked_for(name: str) -> None:
    escaped = name.replace("/", "\\/")  # a plain slash stands behind the folder of a page
    assert read(f"[[{escaped}]] tea") == Query("tea", about=(name,))
    assert read("tea", about=[name]) == Query("tea", about=(name,))


@given(st.lists(st.sampled_from(["kind:Pod", "tea", "vs", "coffee?"]), max_size=5))
def test_words_keep_their_order(words: list[str]) -> None:
    assert read(" @Peter ".join(words) + " key:db").words.split() == words


@pytest.mark.parametrize("now", [TODAY, datetime(2025, 11, 29, 8), "2025-11-29", "2025-11-29T08:00"])
def test_the_present_of_the_library_is_a_time_a_day_or_their_text(tmp_path: Path, now: date | str) -> None:
    """Anything else is refused at once."""
    with memctl.open(write_pages(tmp_path, {}).root, now=now) as memory:
        assert memory.today == TODAY
    with pytest.raises(Usage, match="not understood"):
        memctl.open(tmp_path, now="soon")
