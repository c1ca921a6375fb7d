"""Time expressions in English, Russian and Chinese: what counts, what does not, and which days are meant."""

from __future__ import annotations

import time
from datetime import date, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memctl.facts import Period
from memctl.language.dates import Mention, find_times, parse_when, valid_from_text

TODAY = date(2025, 11, 29)  # a Saturday

# A whole string, and the days it names; also a mention in free text, with these very borders.
EVERYWHERE = """
today | 2025-11-29
yesterday | 2025-11-28
day before yesterday | 2025-11-27
the day before yesterday | 2025-11-27
tomorrow | 2025-11-30
the day after tomorrow | 2025-12-01
last night | 2025-11-28
this morning | 2025-11-29
last week | 2025-11-17..2025-11-23
this week | 2025-11-24..2025-11-30
next week | 2025-12-01..2025-12-07
the week before last | 2025-11-10..2025-11-16
the month after next | 2026-01
last month | 2025-10
this month | 2025-11
next month | 2025-12
last quarter | 2025-07-01..2025-09-30
this quarter | 2025-10-01..2025-12-31
last year | 2024
this year | 2025
next year | 2026
last weekend | 2025-11-22..2025-11-23
this weekend | 2025-11-29..2025-11-30
next weekend | 2025-12-06..2025-12-07
3 days ago | 2025-11-26
two weeks ago | 2025-11-10..2025-11-16
a month ago | 2025-10
2 quarters ago | 2025-04-01..2025-06-30
5 years ago | 2020
5 hours ago | 2025-11-28..2025-11-29
past 30 days | 2025-10-30..2025-11-29
the last 2 weeks | 2025-11-15..2025-11-29
in the last 24 hours | 2025-11-28..2025-11-29
the past month | 2025-10-29..2025-11-29
the past weekend | 2025-11-22..2025-11-29
next 10 days | 2025-11-29..2025-12-09
in November | 2025-11
in December | 2024-12
in may | 2025-05
in November 2025 | 2025-11
November 2025 | 2025-11
march 2025 | 2025-03
November, 2025 | 2025-11
November last year | 2024-11
Nov 27 | 2025-11-27
Dec 1 | 2024-12-01
Nov. 27, 2025 | 2025-11-27
27 Nov 2025 | 2025-11-27
27-Nov-2025 | 2025-11-27
November 27th, 2025 | 2025-11-27
the 27th of November | 2025-11-27
Friday, November 28, 2025 | 2025-11-28
Sat, 29 Nov 2025 | 2025-11-29
on march 5 | 2025-03-05
on 5 may | 2025-05-05
march 5th | 2025-03-05
Feb 29 | 2024-02-29
27/11/2025 | 2025-11-27
11/27/2025 | 2025-11-27
2025/11/27 | 2025-11-27
Fri Nov 28 16:46:09 2025 | 2025-11-28
2025 Nov 27 | 2025-11-27
Nov 27-28, 2025 | 2025-11-27..2025-11-28
27–28 Nov | 2025-11-27..2025-11-28
from 27 to 30 November | 2025-11-27..2025-11-30
Nov 27–Dec 1, 2025 | 2025-11-27..2025-12-01
Nov 27 – Dec 1 | 2025-11-27..2025-12-01
Dec 20 – Jan 5, 2026 | 2025-12-20..2026-01-05
Nov 27, 2025 to Dec 1 | 2025-11-27..2025-12-01
Nov–Dec 2024 | 2024-11-01..2024-12-31
from March to May 2025 | 2025-03-01..2025-05-31
from November to January | 2025-11-01..2026-01-31
between Nov 1 and Nov 5 | 2025-11-01..2025-11-05
from 2019 to 2021 | 2019-01-01..2021-12-31
in 2024-2025 | 2024-01-01..2025-12-31
2025-11-27 to 2025-12-01 | 2025-11-27..2025-12-01
since March | 2025-03-01..
since March 2025 | 2025-03-01..
since yesterday | 2025-11-28..
since Monday | 2025-11-24..
since 2020 | 2020-01-01..
March 2025 onwards | 2025-03-01..
March 2023 – present | 2023-03-01..
from 2019 to present | 2019-01-01..
until Friday | ..2025-11-28
until 2025-12-01 | ..2025-12-01
before 2025-12-01 | ..2025-11-30
after Nov 27 | 2025-11-28..
last Monday | 2025-11-24
last Saturday | 2025-11-22
this Friday | 2025-11-28
next Friday | 2025-12-05
next Saturday | 2025-12-06
on Friday | 2025-11-28
spring 2025 | 2025-03-01..2025-05-31
winter 2024 | 2024-12-01..2025-02-28
summer of 2025 | 2025-06-01..2025-08-31
in fall 2025 | 2025-09-01..2025-11-30
last summer | 2025-06-01..2025-08-31
last winter | 2024-12-01..2025-02-28
this summer | 2025-06-01..2025-08-31
next spring | 2026-03-01..2026-05-31
last November | 2024-11
next March | 2026-03
Q3 2025 | 2025-07-01..2025-09-30
Q3-2025 | 2025-07-01..2025-09-30
2025-Q3 | 2025-07-01..2025-09-30
in Q3 | 2025-07-01..2025-09-30
H1 2025 | 2025-01-01..2025-06-30
the third quarter of 2025 | 2025-07-01..2025-09-30
early November | 2025-11-01..2025-11-10
mid-November | 2025-11-11..2025-11-20
late November 2025 | 2025-11-21..2025-11-30
early 2025 | 2025-01-01..2025-04-30
end of March 2025 | 2025-03-21..2025-03-31
in 2025 | 2025
throughout 2025 | 2025
in the year 2025 | 2025
2025-11 | 2025-11
2025-11-27 | 2025-11-27
2025-W48 | 2025-11-24..2025-11-30
2025-W48-3 | 2025-11-26
2025-11-27T13:00 | 2025-11-27
2025-11-27T13:00:00.5+03:00 | 2025-11-27
2025-11-27..2025-12-01 | 2025-11-27..2025-12-01
2025-11-27/2025-12-01 | 2025-11-27..2025-12-01
сегодня | 2025-11-29
вчера | 2025-11-28
позавчера | 2025-11-27
послезавтра | 2025-12-01
на прошлой неделе | 2025-11-17..2025-11-23
на позапрошлой неделе | 2025-11-10..2025-11-16
на следующей неделе | 2025-12-01..2025-12-07
в прошлом месяце | 2025-10
в этом году | 2025
в прошлом квартале | 2025-07-01..2025-09-30
на этих выходных | 2025-11-29..2025-11-30
неделю назад | 2025-11-17..2025-11-23
две недели назад | 2025-11-10..2025-11-16
три дня назад | 2025-11-26
5 лет назад | 2020
год тому назад | 2024
полгода назад | 2025-05
за последние 30 дней | 2025-10-30..2025-11-29
за последнюю неделю | 2025-11-22..2025-11-29
последние полгода | 2025-05-29..2025-11-29
27 ноября | 2025-11-27
27-го ноября | 2025-11-27
5 нояб. 2025 | 2025-11-05
27 ноября 2025 года | 2025-11-27
27 ноября прошлого года | 2024-11-27
27.11.2025 | 2025-11-27
в пятницу, 28 ноября 2025 | 2025-11-28
27 мая | 2025-05-27
в мае | 2025-05
в ноябре 2025 | 2025-11
в ноябре прошлого года | 2024-11
в 2025 году | 2025
2024 год | 2024
в 2025 г | 2025
в 2025-м | 2025
в 2025г | 2025
с марта | 2025-03-01..
с 2020 года | 2020-01-01..
до пятницы | ..2025-11-28
до 1 ноября | ..2025-11-01
после 5 мая | 2025-05-06..
в прошлый понедельник | 2025-11-24
в прошлую среду | 2025-11-26
в следующий понедельник | 2025-12-01
летом 2025 | 2025-06-01..2025-08-31
прошлым летом | 2025-06-01..2025-08-31
летом прошлого года | 2024-06-01..2024-08-31
в начале ноября | 2025-11-01..2025-11-10
в конце 2025 года | 2025-09-01..2025-12-31
в III квартале 2025 | 2025-07-01..2025-09-30
3-й квартал 2025 года | 2025-07-01..2025-09-30
27 ноября – 1 декабря 2025 | 2025-11-27..2025-12-01
с 27 по 30 ноября | 2025-11-27..2025-11-30
с 27 ноября по 1 декабря 2025 года | 2025-11-27..2025-12-01
с марта по май 2025 | 2025-03-01..2025-05-31
1031—1095 гг | 1031-01-01..1095-12-31
с 2019 по 2021 год | 2019-01-01..2021-12-31
между 27 и 30 ноября 2025 | 2025-11-27..2025-11-30
今天 | 2025-11-29
昨天 | 2025-11-28
前天 | 2025-11-27
大前天 | 2025-11-26
昨晚 | 2025-11-28
上周 | 2025-11-17..2025-11-23
上上周 | 2025-11-10..2025-11-16
这周 | 2025-11-24..2025-11-30
下周 | 2025-12-01..2025-12-07
上个月 | 2025-10
本月 | 2025-11
上周末 | 2025-11-22..2025-11-23
上个季度 | 2025-07-01..2025-09-30
去年 | 2024
今年 | 2025
前年 | 2023
本年度 | 2025
三天前 | 2025-11-26
两周前 | 2025-11-10..2025-11-16
3个月前 | 2025-08
十二年前 | 2013
一百零五天前 | 2025-08-16
半年前 | 2025-05
2025年前 | ..2024-12-31
最近30天 | 2025-10-30..2025-11-29
过去三个月 | 2025-08-29..2025-11-29
11月 | 2025-11
11月27日 | 2025-11-27
十一月二十七号 | 2025-11-27
2025年11月 | 2025-11
2025年11月27日 | 2025-11-27
2025 年 11 月 27 日 | 2025-11-27
二〇二五年十一月二十七日 | 2025-11-27
2025年 | 2025
去年11月 | 2024-11
明年1月 | 2026-01
上个月27日 | 2025-10-27
上周五 | 2025-11-21
上週五 | 2025-11-21
下周三 | 2025-12-03
这个星期五 | 2025-11-28
去年夏天 | 2024-06-01..2024-08-31
2025年第三季度 | 2025-07-01..2025-09-30
2025年上半年 | 2025-01-01..2025-06-30
2025年底 | 2025-09-01..2025-12-31
去年底 | 2024-09-01..2024-12-31
11月初 | 2025-11-01..2025-11-10
11月27日至12月1日 | 2025-11-27..2025-12-01
11月27日至28日 | 2025-11-27..2025-11-28
11月27-28日 | 2025-11-27..2025-11-28
从三月到五月 | 2025-03-01..2025-05-31
2019-2021年 | 2019-01-01..2021-12-31
自2025年3月以来 | 2025-03-01..
从上周开始 | 2025-11-17..
3月起 | 2025-03-01..
2019年至今 | 2019-01-01..
2025年以前 | ..2024-12-31
11月27日之后 | 2025-11-28..
11月27日为止 | ..2025-11-27
"""

# Only as the whole string: flags such as --since, where nothing else could be meant.
WHOLE_ONLY = """
30d | 2025-10-30..2025-11-29
0d | 2025-11-29
12h | 2025-11-28..2025-11-29
25h | 2025-11-27..2025-11-29
4w | 2025-11-01..2025-11-29
6mo | 2025-05-29..2025-11-29
1y | 2024-11-29..2025-11-29
30Д | 2025-10-30..2025-11-29
90 days | 2025-08-31..2025-11-29
2 weeks | 2025-11-15..2025-11-29
2 недели | 2025-11-15..2025-11-29
неделю | 2025-11-22..2025-11-29
полгода | 2025-05-29..2025-11-29
三个月 | 2025-08-29..2025-11-29
半年 | 2025-05-29..2025-11-29
in 3 days | 2025-12-02
через 3 дня | 2025-12-02
3天后 | 2025-12-02
2025 | 2025
1066 | 1066
0999 | 0999
2025W48 | 2025-11-24..2025-11-30
1200-12 | 1200-12
2025-11-27 13:00 | 2025-11-27
2025-11-27.. | 2025-11-27..
..2025-12-01 | ..2025-12-01
2025-11/.. | 2025-11-01..
../2025-11 | ..2025-11-30
2024/2025 | 2024-01-01..2025-12-31
March..May | 2025-03-01..2025-05-31
last week..today | 2025-11-17..2025-11-29
1.2.2010 | 2010-02-01
from Monday to Friday | 2025-11-24..2025-11-28
с понедельника по пятницу | 2025-11-24..2025-11-28
Monday..Friday | 2025-11-24..2025-11-28
may | 2025-05
MAY | 2025-05
ноябрь | 2025-11
sat | 2025-11-29
Monday | 2025-11-24
среда | 2025-11-26
星期五 | 2025-11-28
summer | 2025-06-01..2025-08-31
fall 2025 | 2025-09-01..2025-11-30
last fall | 2024-09-01..2024-11-30
Q3 | 2025-07-01..2025-09-30
last week. | 2025-11-17..2025-11-23
"""

# Not a time expression, neither whole nor inside.
NEVER = """

..
.. ..
/
hello
Feb 30
30 Feb 2025
2025-02-30
2025-13
2025-00
2025-W60
2025-11-27..nonsense
2025-12-01..2025-11-27
31 ноября
13月
11月31日
0000
12345
99999999999d
5d9f
v2025.1
1.2.3
2025.11
10.0.2025
192.168.1.1
13:56
1,000 days ago
1 000 дней назад
двадцать один день назад
+7 495 123-45-67
555-2025
11/12/2025
fifth quarter of 2025
5 quarter of 2025
prices fall
this may be
the second day
second
march on
the soldiers march 20 miles
item 5 may fail
You may 27 times
message from May
in 2025 requests
in 2048 bytes
in 2000 ms
since 2000 people
2025 requests
from 2025 requests
by 2025 units
grew by 2025
next morning
the week before next
the month before next
в среде разработки
Мая сказала
с 2020 пользователями
в 2025 запросах
2025 г муки
несколько дней назад
上下
日本周边
登上月球
聪明天真
这周围
以前天气
3天前端
第一天
二十
一二三
一万年
memory/2025-11-27.md#L12
backup-2025-11-27.tar
https://example.org/2025/11/27/post
2025-11-27-notes
today()
today.isoformat
@May 5
$2025
next_week
last-week-ish
Spring Boot
open Monday to Friday
on Fridays
"""

# Ordinary words that a flag may mean as a time, but a text does not.
NOT_IN_TEXT = """
may | march | sun | sat | SAT | wed | second | fall | Fall | Q3 | 2025 | November | Friday | мая | среда | 星期五 | 30d
on sat | last may | last fall | this fall | in wed | в среду | fall 2025 | 三天 | 半年 | summer | in 3 days | 5d
dec 5 | grew by 2025 | may 5 | 5 march | the late 1980's | by Jan | reviewed by June | JUNE = 6, JULY = 7 | 6 JULY
1.2.2010
the last Sunday of Oct | last week of school | last year of school
2025-11-27/x | 90 days | in 2024-25 | Nov 27-2 | mid-2025-2 | from Monday to Friday | с понедельника по пятницу
open Monday to Friday
"""

# Inside a sentence: the mentions in brackets.
SENTENCES = """
We moved to Postgres [in November 2025], and left [on Friday, November 28, 2025].
[In 2025] Alice joined; [since March 2025] she leads it.
[Nov 27] is bold, **[2025-11-27]** too: t=[2025-11-27], (([2025-11-27])).
Meet [tomorrow]? [Yesterday]'s log: [2025-11-27] 13:56, 192.168.2.20, v2025.1.2, build 1.2.3.
Reported [two days ago] ([Nov 27]), not on Sun or Sat; they may march in the second fall.
We met [on Friday] to present the plan, and [on Monday] – now it works.
2024 – [Nov 2025] and [yesterday] - [last week] was fine, [Dec 1, 2025] – [Nov 27, 2025] too.
Just checked in. [Last week] was wild, [by September] it ends, [by June 5] too.
[Вчера] решили, что [с марта] Мая работает в среде Linux, а [до 1 декабря 2025 г]. – отпуск.
[В мае] 5 человек, [27 ноября] 2 человека; [на прошлой неделе] и [в прошлом месяце] – никого.
我们[上周五]决定迁移，日本周边[三天前]完成，[2025年11月27日](周四)上线；[今天]前端开会。
会议[上周]开始，[从上周开始]，共3个问题、二十人。
The window is [Nov 27–Dec 1, 2025]; [27 ноября – 1 декабря 2025]; [11月27日至12月1日].
"""


def rows(table: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.split("|")] for line in table.split("\n")[1:-1]]


def spelled(period: Period | None) -> str | None:
    return None if period is None else str(period)


@pytest.mark.parametrize(("text", "days"), rows(EVERYWHERE) + rows(WHOLE_ONLY))
def test_a_whole_string(text: str, days: str) -> None:
    assert spelled(parse_when(text, TODAY)) == days
    assert spelled(parse_when(f"  {text}\n", TODAY)) == days


@pytest.mark.parametrize(("text", "days"), rows(EVERYWHERE))
def test_inside_a_text(text: str, days: str) -> None:
    for before, after in (("", ""), ("Xyz, ", " xyz."), ("(", ")"), ("数据", "。"), ("«", "»")):
        mentions = find_times(before + text + after, TODAY)
        assert [spelled(mention.period) for mention in mentions] == [days]
        span = (before + text + after)[mentions[0].start : mentions[0].end]
        assert span == text


@pytest.mark.parametrize("text", NEVER.split("\n")[1:-1])
def test_never(text: str) -> None:
    assert parse_when(text, TODAY) is None
    assert find_times(text, TODAY) == []
    assert find_times(f"Xyz {text} xyz", TODAY) == []


@pytest.mark.parametrize("text", [cell for row in rows(NOT_IN_TEXT) for cell in row])
def test_ordinary_words_in_a_text(text: str) -> None:
    for before, after in (("", ""), ("the ", " did"), ("`", "`")):
        assert find_times(before + text + after, TODAY) == []


@pytest.mark.parametrize("marked", SENTENCES.split("\n")[1:-1])
def test_sentences(marked: str) -> None:
    text = marked.replace("[", "").replace("]", "")
    expected = [part.split("]")[0] for part in marked.split("[")[1:]]
    assert [text[m.start : m.end] for m in find_times(text, TODAY)] == expected


@pytest.mark.parametrize(
    ("today", "text", "days"),
    [
        ("2025-03-31", "1mo", "2025-02-28..2025-03-31"),
        ("2024-03-31", "1mo", "2024-02-29..2024-03-31"),
        ("2024-02-29", "1y", "2023-02-28..2024-02-29"),
        ("2025-03-31", "last month", "2025-02"),
        ("2025-01-31", "next month", "2025-02"),
        ("2026-01-01", "last month", "2025-12"),
        ("2026-01-01", "yesterday", "2025-12-31"),
        ("2026-01-01", "last week", "2025-12-22..2025-12-28"),
        ("2026-01-01", "this week", "2025-12-29..2026-01-04"),
        ("2026-01-01", "last quarter", "2025-10-01..2025-12-31"),
        ("2026-01-01", "Dec 31", "2025-12-31"),
        ("2026-01-01", "Jan 1", "2026-01-01"),
        ("2026-01-01", "Jan 2", "2025-01-02"),
        ("2025-12-31", "tomorrow", "2026-01-01"),
        ("2025-12-31", "3个月前", "2025-09"),
        ("2025-12-31", "next quarter", "2026-01-01..2026-03-31"),
        ("2025-11-24", "this week", "2025-11-24..2025-11-30"),
        ("2025-11-24", "last Monday", "2025-11-17"),
        ("2025-11-24", "next Monday", "2025-12-01"),
        ("2025-11-24", "Monday", "2025-11-24"),
        ("2025-11-30", "this week", "2025-11-24..2025-11-30"),
        ("2025-11-30", "last weekend", "2025-11-22..2025-11-23"),
        ("2025-11-30", "上周日", "2025-11-23"),
        ("2025-12-01", "last week", "2025-11-24..2025-11-30"),
        ("2025-03-01", "Feb 29", "2024-02-29"),
        ("2025-03-01", "3 days ago", "2025-02-26"),
        ("2024-03-01", "yesterday", "2024-02-29"),
        ("2103-03-01", "Feb 29", "2096-02-29"),
        ("2025-01-15", "last winter", "2023-12-01..2024-02-29"),
        ("2025-01-15", "in winter 2024", "2024-12-01..2025-02-28"),
        ("2025-01-15", "在去年十二月", None),
        ("2025-01-15", "去年十二月", "2024-12"),
        ("2025-03-31", "上个月31日", None),
        ("0001-01-01", "yesterday", None),
        ("0001-01-01", "last year", None),
        ("0001-01-01", "before today", None),
        ("9999-12-31", "tomorrow", None),
        ("9999-12-31", "after today", None),
        ("9999-12-31", "winter 9999", None),
        ("9999-12-31", "this year", "9999"),
        ("9999-12-31", "2 дня назад", "9999-12-29"),
        ("9999-12-31", "9999-02-01 – 5 марта", None),
        ("0005-01-01", "Feb 29", "0004-02-29"),
        ("0003-01-01", "Feb 29", None),
        ("2025-11-29", "28-27 Nov", None),
        ("2025-11-29", "позапрошлое лето", None),
        ("2025-11-29", "上周27日", None),
        ("2025-11-29", "99999 лет назад", None),
        ("2025-11-29", "Feb 30 – Mar 2, 2025", None),
        ("2025-11-29", "Feb 29 – Mar 2, 2027", None),
        ("2025-11-29", "since 30 Feb", None),
        ("2025-11-29", "until nonsense", None),
        ("2025-11-29", "since last week onwards", "2025-11-17.."),
    ],
)
def test_borders_of_months_years_weeks_and_the_calendar(today: str, text: str, days: str | None) -> None:
    assert spelled(parse_when(text, date.fromisoformat(today))) == days


@pytest.mark.parametrize(
    ("text", "day", "days"),
    [
        ("Uses Postgres since 2025-11", TODAY, "2025-11-01.."),
        ("Uses Postgres since 2025-11", None, "2025-11-01.."),
        ("Moved in November 2025; yes, in November 2025", None, "2025-11"),
        ("Ill last week", TODAY, "2025-11-17..2025-11-23"),
        ("Ill last week", None, None),
        ("Yesterday, on 2025-11-27", None, "2025-11-27"),
        ("Yesterday, on 2025-11-27", TODAY, None),
        ("Moved on Nov 27", TODAY, "2025-11-27"),
        ("Moved on Nov 27", None, None),
        ("Release on Dec 5", TODAY, None),
        ("Release in December", TODAY, None),
        ("Meeting on Friday", TODAY, None),
        ("On leave until Friday", TODAY, None),
        ("On leave since Monday", TODAY, "2025-11-24.."),
        ("In 2024 here, in 2025 there", TODAY, None),
        ("Живёт в Берлине с марта 2024 года", None, "2024-03-01.."),
        ("从2024年3月起住在柏林", None, "2024-03-01.."),
        ("Prefers concise replies", TODAY, None),
        ("", None, None),
    ],
)
def test_valid_time_of_a_fact(text: str, day: date | None, days: str | None) -> None:
    assert spelled(valid_from_text(text, day)) == days


# --- properties ------------------------------------------------------------------------------------------------------

DAYS = st.dates(date(1000, 1, 1), date(9999, 12, 31))
WORDS = (
    "in since until from between and to last next this the of on may May March Nov Friday Q3 2025 27 3 days ago week "
    "с по в на прошлой неделе марта года г назад 27-го 上 周 月 年 日 11 三 十 天前 去年 至 以来 2025-11-27 .. "
    "- – , . / @ = \0 \ud800 99999999999 ²"
)
PHRASES = st.lists(st.sampled_from(WORDS.split(" ")), max_size=14)
JUNK = st.one_of(st.text(), PHRASES.map(" ".join), PHRASES.map("".join))


@given(JUNK, st.one_of(st.just(TODAY), st.dates()))
@settings(max_examples=400, deadline=None)
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
@settings(max_examples=200, deadline=None)
def test_a_period_is_read_back(one: date | None, other: date | None, today: date) -> None:
    first, last = sorted((one, other)) if one and other else (one, other)
    if first or last:
        assert parse_when(str(Period(first, last)), today) == Period(first, last)


@given(st.integers(1000, 9999), st.integers(1, 12))
@settings(max_examples=100, deadline=None)
def test_years_and_months_are_read_back(year: int, month: int) -> None:
    after = date(year + month // 12, month % 12 + 1, 1) if (year, month) != (9999, 12) else None
    whole_month = Period(date(year, month, 1), after - timedelta(days=1) if after else date.max)
    for period in (whole_month, Period(date(year, 1, 1), date(year, 12, 31))):
        assert parse_when(str(period), TODAY) == period


@given(st.from_regex(r"\A(v?\d{1,4}(\.\d{1,4}){2,3}|[a-z]+[0-9]+[a-z][a-z0-9_]*|[a-z]+_[a-z0-9_]+|0x[0-9a-f]{6})\Z"))
@settings(max_examples=200, deadline=None)
def test_identifiers_and_versions_are_no_dates(text: str) -> None:
    day_month_year = text.count(".") == 2 and len(text.rsplit(".", 1)[1]) == 4 and text[0] != "v"
    assert day_month_year or find_times(f"in {text} today", TODAY)[:-1] == []


HOSTILE = ["may ", "Nov 27 – ", "с 27 по ", "上周五", "2025-", "1.", "in the ", "-", "\0\ud800", "1,"]


@pytest.mark.parametrize("part", HOSTILE)
def test_time_grows_with_the_text_and_not_its_square(part: str) -> None:
    def seconds(size: int) -> float:
        text, start = part * (size // len(part)), time.process_time()
        find_times(text, TODAY)
        return time.process_time() - start

    seconds(1000)
    small, large = min(seconds(4_000) for _ in range(3)), min(seconds(16_000) for _ in range(2))
    assert large < 12 * small + 0.01
    assert parse_when(part * 100_000, TODAY) is None


def test_a_mention_is_a_value() -> None:
    assert find_times("on 2025-11-27", TODAY) == [Mention(3, 13, Period(date(2025, 11, 27), date(2025, 11, 27)))]
