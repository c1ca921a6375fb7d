"""Single-valued relations read from the sentence (algorithms.md, Truth, 2): a slot closes older lines, so doubt fills none."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memctl.facts import Fact
from memctl.language.relations import Relation, relation, relation_key, slot_of
from memctl.markdown.grammar import parse

STATED = """
city      | Alice        | Lives in Berlin.
city      | Alice        | Alice lives in Berlin
city      | Alice        | She now lives in Lisbon, in Alfama.
city      | Alice Chen   | Alice Chen lives in Lisbon
city      | Alice Chen   | Chen still lives in Lisbon
city      | Alice-Chen   | Since 2023, Alice resides in New York
city      | Alice        | Her city is Lisbon
country   | Alice        | Lives in Germany
country   | Пётр         | Живёт в Германии
country   | 陈立         | 住在德国
city      | Пётр         | Живёт в Лиссабоне
city      | Пётр         | Пётр сейчас живёт в Риге.
city      | 陈立         | 住在里斯本
city      | 陈立         | 陈立现在住在里斯本，六楼。
city      | 陈立         | 2025 年 9 月 18 日起住在里斯本，之前住柏林；新家六楼，电梯坏着。
employer  | Bob          | Works at Globex.
employer  | Bob          | Currently works for Initech as a nurse
employer  | Bob          | Is employed by Globex
employer  | Пётр         | Работает в компании Ромашка
employer  | Пётр         | Работает в «Ромашке»
employer  | Никита       | Работает в Яндексе.
employer  | 陆遥         | 在腾讯工作。
employer  | 陆遥         | 就职于腾讯
role      | Bob          | Works as a nurse
role      | Bob          | Is hardware lead since 2025-10-01, no longer a volunteer.
role      | Bob          | Is the CTO of Globex
role      | Bob          | Her role is product manager.
role      | Пётр         | Работает инженером
role      | Пётр         | Должность — технический директор
role      | 陈立         | 担任项目经理
status    | Atlas        | Status: blocked
status    | Atlas        | Atlas is in beta since May
status    | Козодой      | Статус: на паузе
status    | 夜鹰         | 状态：已暂停
version   | Curlew       | The current release is 1.0.0-rc.2, with 188,402 rings.
version   | Curlew       | Curlew's latest version is v2.3
version   | Козодой      | Последняя версия Козодоя: 1.4
version   | 夜鹰         | 夜鹰的当前版本是 1.4
owner     | Curlew       | The owner of Curlew is Irina
owner     | Curlew       | Is owned by Irina
owner     | Козодой      | Владелец — Ирина
owner     | 夜鹰         | 负责人是陈立
manager   | Bob          | Reports to Carol
deadline  | Curlew       | Is due on 2025-11-28, the last extension.
deadline  | Curlew       | The deadline is 5 May
deadline  | Козодой      | Срок сдачи — 28 ноября
deadline  | 夜鹰         | 截止日期是11月28日
db        | Curlew       | Curlew uses MongoDB as its primary database.
db        | Atlas        | The database is PostgreSQL 17 since 2025-11-27
db        | Козодой      | Использует PostgreSQL в качестве базы данных
db        | 夜鹰         | 使用PostgreSQL作为数据库
birthday  | Alice        | Was born on 3 May 1990
birthday  | Пётр         | День рождения — 5 мая
birthday  | 陈立         | 生日是5月5日
age       | Alice        | Is 34 years old
phone     | Alice        | Phone number: +49 30 1234567
email     | Alice        | Her email address is a@b.org.
timezone  | Alice        | Time zone is CET
spouse    | Alice        | Is married to Bob
spouse    | Пётр         | Женат на Анне
spouse    | 陈立         | 妻子是爱丽丝
license   | Curlew       | Is licensed under the MIT licence
host      | Curlew       | Is hosted on Fly.io
city      | Alice        | Actually, she lives in Lisbon.
city      | Пётр         | На самом деле живёт в Риге
city      | 陈立         | 其实住在里斯本
"""

NOT_STATED = """
Alice     | Lived in Berlin
Alice     | Used to live in Berlin
Alice     | Wants to live in Berlin
Alice     | Will live in Berlin
Alice     | Does not live in Berlin
Alice     | No longer lives in Berlin
Alice     | Does she live in Berlin?
Alice     | Lives in Berlin?
Alice     | Maybe lives in Berlin
Alice     | Lives in Berlin, probably
Alice     | Lives in Berlin if the visa comes
Alice     | If approved, works at Globex
Alice     | "Lives in Berlin", said Bob
Alice     | Bob says that she lives in Berlin
Alice     | Lives in Berlin, according to Bob
Alice     | Her brother lives in Berlin
Alice     | Alice's brother lives in Berlin
Alice     | Bob lives in Berlin
Alice     | They live in Berlin
Alice     | Lives in Berlin and works at Globex
Alice     | Lives in Berlin. Also plays the cello in a band.
Alice     | Lives in Lisbon in the summer
Alice     | Lives in a lighthouse
Alice     | Lives in the old mill
Alice     | Lives in fear of the dog
Alice     | Works at Acme and Initech
Alice     | Works at night
Alice     | Works as expected
Alice     | Works for hours
Alice     | Is a good manager
Alice     | Is the lead of Curlew
Alice     | Is a member of the chess club
Alice     | Speaks German
Alice     | Likes Lisbon
Curlew    | Is live in Germany
Curlew    | Is due soon
Curlew    | Uses PostgreSQL
Curlew    | Version 1.0 is due on 2025-10-31
Curlew    | The old database is PostgreSQL
Curlew    | The release is late
Curlew    | The status page is down
Curlew    | The owner is unknown
Curlew    | The owner is not Bob
Пётр      | Раньше жил в Берлине
Пётр      | Не живёт в Берлине
Пётр      | Хочет жить в Берлине
Пётр      | Возможно, живёт в Берлине
Пётр      | Живёт в Берлине?
Пётр      | Живёт в Берлине летом
Пётр      | Живёт в старом доме
Пётр      | Брат живёт в Риге
Пётр      | Живёт в Берлине и работает в Google
Пётр      | Работает в Москве
Пётр      | Работает в саду
Бот       | Работает в Docker
陈立      | 不住在北京
陈立      | 曾住在北京
陈立      | 想住在北京
陈立      | 可能住在北京
陈立      | 住在北京吗？
陈立      | 住在新家六楼
陈立      | 他弟弟住在北京
陈立      | 爱丽丝住在北京
陈立      | 在北京工作
陈立      | 在家工作
陈立      | 住在北京并在腾讯工作
陈立      | 不再担任项目经理
爱丽丝    | 住在柏林的陈立家
爱丽丝    | 爱丽丝放暑假，在柏林的陈立家住两个星期
"""


def rows(table: str) -> list[list[str]]:
    """The cells of each line of a table."""
    return [[cell.strip() for cell in line.split("|")] for line in table.strip().split("\n")]


@pytest.mark.parametrize(("key", "name", "text"), rows(STATED))
def test_a_plain_statement_fills_a_slot(key: str, name: str, text: str) -> None:
    assert relation_key(text, [name]) == key


@pytest.mark.parametrize(("name", "text"), rows(NOT_STATED))
def test_whatever_is_in_doubt_fills_none(name: str, text: str) -> None:
    assert relation(text, [name]) is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Lives in Berlin.", "Alice lives in Berlin, in Neukölln, on the fourth floor"),
        ("Works at Globex", "Works at Globex as an engineer"),
        ("Живёт в Риге", "Сейчас живёт в Риге, на шестом этаже"),
        ("住在里斯本", "现在住在里斯本，六楼"),
        ("The version is 1.2", "The current release is 1.2, out on Friday"),
    ],
)
def test_a_value_said_in_other_words_is_the_same_value(one: str, other: str) -> None:
    names = ["Alice"]
    assert relation(one, names) == relation(other, names)


@pytest.mark.parametrize(
    ("names", "text", "found"),
    [
        ([], "Lives in Berlin", False),
        ([], "[[Alice Chen]] lives in Berlin", True),
        ([], "@Alice lives in Berlin", True),
        ([], "The manager of @Alice lives in Berlin", False),
        (["Alice", "Bob"], "Lives in Berlin", False),
        (["Alice", "Bob"], "Alice lives in Berlin", True),
        (["Alice", "Bob"], "Bob lives in Berlin", False),
        (["Alice"], "@Bob lives in Berlin", False),
        (["Alice"], "Works at [[Globex]].", True),
    ],
)
def test_the_subject_is_the_one_entity_of_the_line(names: list[str], text: str, found: bool) -> None:
    assert (relation(text, names) is not None) is found


def fact(line: str) -> Fact:
    """The fact that a line spells."""
    read = parse(line)
    assert isinstance(read, Fact)
    return read


def test_a_key_that_the_author_wrote_comes_first() -> None:
    assert slot_of(fact("W(key=home) @Alice: Lives in Berlin")) == Relation("home", "")
    assert slot_of(fact("W @Alice: Lives in Berlin")) == Relation("city", "berlin")
    assert slot_of(fact("W @Alice: Likes Berlin")) is None


@pytest.mark.parametrize("kind", "BOS")
def test_only_facts_about_the_world_state_relations(kind: str) -> None:
    assert slot_of(fact(f"{kind} @Alice: Lives in Berlin")) is None


def test_a_user_may_add_relations() -> None:
    extra = {"team": ["plays for"], "队": ["效力于"]}
    assert relation("Plays for Ajax since May", ["Bob"], extra) == Relation("team", "ajax")
    assert relation("陈立效力于上海队", ["陈立"], extra) == Relation("队", "上海队")
    assert relation("Plays for Ajax", ["Bob"]) is None
    assert relation("Perhaps plays for Ajax", ["Bob"], extra) is None


PIECES = st.sampled_from(
    [
        "lives",
        "in",
        "works",
        "at",
        "Berlin",
        "Alice's",
        "the",
        "current",
        "release",
        "is",
        "1.2",
        "not",
        "maybe",
        "@Bob",
        "[[X]]",
        "живёт",
        "в",
        "Риге",
        "статус",
        "—",
        ":",
        ",",
        ".",
        "?",
        "住在",
        "里斯本",
        "担任",
        "经理",
        "的",
        "是",
    ]
)


@given(
    st.lists(PIECES | st.text(max_size=5), max_size=12).map(" ".join),
    st.lists(st.text(min_size=1, max_size=8), max_size=2),
)
@settings(max_examples=300)
def test_any_text_has_an_answer(text: str, names: list[str]) -> None:
    found = relation(text, names)
    assert found is None or (found.key and found.value and len(found.value) <= 80)
    assert relation(text, names) == found


@given(
    st.sampled_from([row[2] for row in rows(STATED)]),
    st.sampled_from(["Maybe ", "If so, ", "Bob says: ", "Наверное, ", "据说", "“"]),
)
def test_what_stands_before_the_subject_undoes_it(text: str, before: str) -> None:
    assert relation(before + text, ["Alice"]) is None


def test_a_line_that_states_nothing_is_cheap() -> None:
    lines = ["Replayed the queue from the SD card after the router hung; 52 packets, none lost."] * 500
    relation(lines[0], ["Nightjar"])
    start = time.perf_counter()
    for line in lines:
        relation(line, ["Nightjar"])
    assert (time.perf_counter() - start) / len(lines) < 100e-6  # some 4 µs; the rest is for a busy machine


@pytest.mark.parametrize(
    "hostile", ["lives in " * 30, "the " * 70 + "status", "is " * 90, "住在" * 140, "x is owned by" + " a" * 100]
)
def test_no_line_takes_long(hostile: str) -> None:
    start = time.perf_counter()
    relation(hostile, ["x"])
    assert time.perf_counter() - start < 0.2
