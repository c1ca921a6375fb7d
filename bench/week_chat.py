"""What is said in the week of bench/week.py: a hundred user messages over seven days, three languages, one person.

Facts are told once, between work that fills the window many times over. `keep` says what a careful person would write
down of a message (words that prove it), and nothing where nothing is worth it: what is kept beyond that is junk.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import cycle
from typing import NamedTuple

__all__ = ["FIRST_DAY", "QUESTIONS", "UNKNOWN", "Question", "Said", "week"]

FIRST_DAY = datetime(2025, 11, 3, 9, 0)
UNKNOWN = "unknown"  # what a question expects that nobody ever answered


class Said(NamedTuple):
    """One message of the user, what of it is worth keeping, and what goes with it."""

    text: str
    keep: tuple[tuple[str, ...], ...] = ()
    paste: str | None = None  # log, code or mail
    ask: str | None = None  # the question of QUESTIONS that it puts
    when: datetime = FIRST_DAY


class Question(NamedTuple):
    """A question and the words, as they were said, that a right answer holds."""

    text: str
    words: tuple[str, ...]
    day: int = 1  # on which it was told
    wrong: str | None = None  # what held before, or never


QUESTIONS = {
    "name": Question("What is my name?", ("vera solheim",)),
    "project": Question("What is the project called, and what is it for?", ("heron", "ringing data")),
    "why": Question("Why PostgreSQL?", ("because", "ring numbers need foreign keys")),
    "style": Question("Какие ответы я предпочитаю?", ("коротк",)),
    "export": Question("数据导出由谁负责？", ("丽娜",)),
    "charts": Question("图表用什么库？", ("echarts",), 2),
    "permit": Question("What is the permit number?", ("nr-2041-b",), 2),
    "admin": Question("Кто отвечает за сервер?", ("дроздов",), 2),
    "where": Question("Где стоит сервер?", ("маяк",), 3),
    "bluetooth": Question("Did the Bluetooth sync work?", ("bluetooth", "40 records"), 3),
    "release": Question("When is the release?", ("15 december",), 4, wrong="for 1 december"),
    "nets": Question("How many mist nets are there?", ("14",), 5, wrong="are 12"),
    "disk": Question("备份硬盘在哪里？", ("红色抽屉",), 5),
    "buttons": Question("Какие кнопки предпочитают волонтёры?", ("больш",), 6),
    "sister": Question("When is my sister's birthday?", (UNKNOWN,)),
    "licence": Question("Какая у нас лицензия на карты?", (UNKNOWN,)),
    # The same first three in the other languages: the words of the answer are those of day 1 all the same.
    "name, ru": Question("Как меня зовут?", ("vera solheim",)),
    "name, zh": Question("我叫什么名字？", ("vera solheim",)),
    "why, ru": Question("Почему PostgreSQL?", ("because", "ring numbers need foreign keys")),
    "why, zh": Question("为什么选 PostgreSQL？", ("because", "ring numbers need foreign keys")),
}


def _ask(name: str) -> Said:
    return Said(QUESTIONS[name].text, ask=name)


# Told, by day. A message without `keep` here is a trap: it looks like a fact and is none.
_TOLD: tuple[tuple[Said, ...], ...] = (
    (
        Said("Hi! My name is Vera Solheim, I run the bird observatory on Skarvøy.", (("vera solheim",),)),
        Said(
            "The project is called Heron: an offline notebook for ringing data, so that volunteers can log birds without a signal.",
            (("heron", "ringing"),),
        ),
        Said(
            "We decided on PostgreSQL, not MongoDB, because ring numbers need foreign keys and one bird is caught on many days.",
            (("postgresql",),),
        ),
        Said("Пожалуйста, всегда отвечай коротко: я читаю с телефона на ветру.", (("коротко",),)),
        Said("The release is planned for 1 December.", (("1 december",),)),
        Said("Maybe we should just use SQLite on the server?"),
        Said("丽娜负责数据导出，她每周五把文件发给哥本哈根。", (("丽娜", "导出"),)),
    ),
    (
        _ask("project"),
        Said("There are 12 mist nets at the station, all on the north side.", (("12 mist nets",),)),
        Said("我们决定图表只用 ECharts，不用 D3。", (("echarts",),)),
        Said("Паша, то есть Павел Дроздов, отвечает за сервер, застать его можно только вечером.", (("дроздов",),)),
        Said('A friend wrote to me: "we decided to use MySQL and never looked back". What would you say to that?'),
        Said("Remember: the ringing permit number is NR-2041-B.", (("nr-2041-b",),)),
        Said("А если бы мы взяли монгу, потеряли бы мы данные?"),
    ),
    (
        _ask("admin"),
        Said("Сервер стоит в подвале маяка, ключ у смотрителя.", (("маяка",),)),
        Said("We tried to sync over Bluetooth this morning and it failed: 40 records were lost.", (("bluetooth",),)),
        Said("把这句话翻译成英文：我们决定放弃地图。"),
        Said("我喜欢深色主题，地图不要用卫星图。", (("深色",),)),
        Said("haha a gull stole my sandwich"),
        Said("What do you make of this?", paste="mail"),
    ),
    (
        _ask("why"),
        Said(
            "We decided to move the release to 15 December, because the tablets arrive late.",
            (("15 december",),),
        ),
        Said("Попробовали синхронизацию по кабелю: получилось, 1200 записей без потерь.", (("кабелю",),)),
        Said("I never want emoji in commit messages.", (("emoji",),)),
        Said("要是以后加 Redis 会怎么样？"),
        Said("Переведи на английский: «Мы решили перенести релиз на март»."),
    ),
    (
        _ask("release"),
        Said("Correction: it is 14 mist nets, not 12.", (("14 mist nets",),)),
        Said("记住：备份硬盘放在办公室的红色抽屉里。", (("红色抽屉",),)),
        Said("Мы решили отказаться от Bluetooth и оставить только кабель.", (("bluetooth", "кабель"),)),
        Said("ок, спасибо"),
        _ask("export"),
    ),
    (
        _ask("nets"),
        Said(
            "Dr Amara Okafor is our ornithologist, she checks every measurement beyond three standard deviations.",
            (("okafor",),),
        ),
        Said("今天试了离线地图，成功了，加载只要两秒。", (("离线地图",),)),
        Said("Волонтёры предпочитают большие кнопки, потому что работают в перчатках.", (("кнопки",),)),
        Said("好的，谢谢！"),
        Said("If I were to write a paper about all this, where would I send it?"),
    ),
    tuple(map(_ask, QUESTIONS)),
)

# Work: asked in turn, with something pasted now and then. None of it is worth keeping.
_WORK = (
    Said("Write the migration that adds a `moult` column to the captures table."),
    Said("Разбери этот лог, почему очередь не двигается?", paste="log"),
    Said("给 captures 表写一个分页查询，按时间倒序。"),
    Said("Run the tests of the sync module, please."),
    Said("Why is this slow?", paste="code"),
    Said("Напиши функцию, которая проверяет контрольную цифру кольца."),
    Said("这段代码有什么问题？", paste="code"),
    Said("Explain how a conflict-free replicated counter works, with an example."),
    Said("Запусти проверку миграций."),
    Said("Give me a checklist for testing tablets in the rain."),
    Said("帮我解释一下这段日志。", paste="log"),
    Said("Draft the README section about installing on a tablet."),
    Said("Как лучше хранить промеры крыла: числом или строкой?"),
    Said("用 TypeScript 写一个离线队列。"),
    Said("Review this function.", paste="code"),
    Said("Сравни три способа сжать фотографии на планшете."),
    Said("跑一下同步模块的测试。"),
    Said("What does this stack trace mean?", paste="log"),
    Said("Write a parser for the old CSV files, semicolons and decimal commas."),
    Said("Объясни, как работает индекс по выражению."),
    Said("写一个脚本检查重复的环号。"),
    Said("How would you lay out the capture form for one hand?"),
    Said("Напиши тесты для разбора дат в старых журналах."),
    Said("这个错误是什么意思？", paste="log"),
)
_A_DAY = (14, 14, 13, 13, 13, 13, 20)  # exchanges: a hundred


def week(short: bool = False) -> Iterator[Said]:
    """Every message of the user in order, with its time; `short` leaves most of the work out."""
    work = (said._replace(text=f"{said.text} (#{number})") for number, said in enumerate(cycle(_WORK), 1))
    for day, (told, number) in enumerate(zip(_TOLD, _A_DAY, strict=True)):
        for turn, said in enumerate(_mixed(told, work, max(0, number - len(told)), short)):
            yield said._replace(when=FIRST_DAY + timedelta(days=day, minutes=31 * turn))


def _mixed(told: tuple[Said, ...], work: Iterator[Said], number: int, short: bool) -> Iterator[Said]:
    """What is told, with `number` pieces of work spread between."""
    number = min(number, 2) if short else number
    for place, said in enumerate(told):
        yield said
        yield from (next(work) for _ in range(number * (place + 1) // len(told) - number * place // len(told)))
