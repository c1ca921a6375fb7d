"""Candidate facts of a conversation, by rules, in three languages: what is found, what must not be, and what it is called."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterator
from datetime import date, datetime
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import texts

from memctl.facts import Kind, Period
from memctl.ingest.extract import Candidate, candidates
from memctl.ingest.sentences import sentences
from memctl.ingest.turns import Turn
from memctl.ingest.wording import narrated
from memctl.markdown.grammar import parse, render

ROOT = Path(__file__).parents[2]
DEV = ROOT / "tests" / "data" / "ingest" / "dev.jsonl"
NOON = datetime(2026, 3, 4, 12)


def talk(*said: str, owner: str | None = None, when: datetime | None = NOON) -> list[Candidate]:
    """The candidates of a conversation whose turns begin with `A:`, `T:` or, for the user, with nothing."""
    roles = {"A": "assistant", "T": "tool", "S": "system", "K": "thinking"}
    turns = []
    for number, line in enumerate(said):
        role = roles.get(line[:1]) if line[1:3] == ": " else None
        turns.append(Turn(role or "user", line[3:] if role else line, number + 1, number + 1, when, None, number))
    return list(candidates(turns, owner=owner))


# -- what one sentence states -----------------------------------------------------------------------------------------

STATED = [
    ("decision", "Let's go with PostgreSQL 16 then.", "PostgreSQL 16"),
    ("decision", "after some back and forth we decided to freeze hiring until Q3", "freeze hiring"),
    ("decision", "Тогда берём RabbitMQ, Kafka для нас слишком тяжёлая.", "RabbitMQ"),
    ("decision", "Мы с женой решили, что в кухне будет плитка.", "плитка"),
    ("decision", "那就用 Python 吧，团队都熟。", "Python"),
    ("decision", "我和老公商量好了，客厅铺木地板。", "木地板"),
    ("preference", "I prefer tabs over spaces", "prefers tabs"),
    ("preference", "Please never use emojis in anything you write for me.", "emojis"),
    ("preference", "Мне больше нравится чай, чем кофе.", "Пользователю больше нравится чай"),
    ("preference", "Всегда пиши комментарии по-русски.", "по-русски"),
    ("preference", "我最讨厌香薰的味道。", "用户最讨厌香薰"),
    ("preference", "以后写 SQL 关键字一律大写。", "大写"),
    ("correction", "No, actually the budget is 1,800, not 2,000.", "1,800"),
    ("correction", "Нет, на самом деле план был 10,8, а не 11.", "10,8"),
    ("correction", "说错了，截止日期不是 6 月 15 日，而是 6 月 18 日。", "6 月 18 日"),
    ("person", "My sister Anna lives in Porto.", "The user's sister Anna lives in Porto."),
    ("person", "У сына Лёвы аллергия на орехи.", "орехи"),
    ("person", "我女儿叫朵朵，今年七岁。", "用户的女儿叫朵朵"),
    ("project", "Curlew is hosted on Hetzner.", "Hetzner"),
    ("project", "Кстати, база у нас PostgreSQL 15.", "PostgreSQL 15"),
    ("project", "前端是用 React 写的。", "React"),
    ("fact", "I work at Halden Robotics as an engineer.", "The user works at Halden Robotics"),
    ("fact", "Я живу в Казани и работаю ветеринаром.", "Пользователь живёт в Казани и работает"),
    ("fact", "我对青霉素过敏。", "用户对青霉素过敏"),
    ("remember", "Remember that the beta launch is on April 14.", "The beta launch is on April 14"),
    ("remember", "Запомни: релиз 2.0 назначен на 15 мая.", "Релиз 2.0"),
    ("remember", "请记住：内测时间是 5 月 20 日。", "内测时间"),
    ("outcome", "Bleeding the radiators didn't help at all.", "Bleeding the radiators"),
    ("outcome", "Попробовали кэшировать pnpm store, но быстрее не стало.", "pnpm store"),
    ("outcome", "滤网洗过了，没用", "滤网"),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "said", "told"), STATED, ids=[said for _, said, _ in STATED])
def test_a_statement_is_found(rule: str, said: str, told: str) -> None:
    (found,) = talk(said)
    assert found.rule == rule
    assert told in found.fact.text
    assert found.quote == said
    assert found.reason
    assert found.fact.source is None


def test_what_a_candidate_carries() -> None:
    """Importance, cues to be found by, a kind, an outcome; a doubt becomes a belief with its confidence."""
    found = talk("Remember that I'm allergic to nuts.")[0].fact
    assert found.importance == 0.9
    assert any("food" in cue for cue in found.cues)
    doubt = talk("I think the lease of our flat ends in August 2027.")[0].fact
    assert (doubt.kind, doubt.confidence) == (Kind.OPINION, 0.5)
    failed = talk("I tried magnesium for a month, didn't notice any difference")[0].fact
    assert (failed.kind, failed.outcome) == (Kind.EXPERIENCE, "fail")


# -- what is no fact --------------------------------------------------------------------------------------------------

NOTHING = [
    "What are the trade-offs between PostgreSQL 16 and MongoDB 7?", "Should we use Redis or Memcached here",
    "If we moved to Berlin in 2027, taxes would be higher.", "maybe we could use Redis 7 for that", "Imagine I have 10,000 euros.",
    'My neighbour says "I feed my dogs raw meat and I never go back".', "According to this blog, Rust 2 is dying",
    "Make the second paragraph a bit more formal, 3 sentences.", "I need a regex that matches 10 dates", "thanks, that's all for today!",
    "I'm so tired today, slept 4 hours", "The function returns None at line 14", "I'd like a table with 4 columns",
    "Translate this: I live in Paris and I love cheese. My sister Anna works at Siemens.",
    "А если нагрузка вырастет в 10 раз?", "Допустим, в 2027 году мы переедем в Берлин", "Сделай второй абзац короче, 3 строки",
    "В блоге пишут: «я никогда не пью воду в Грузии».", "Так устал сегодня, спал 4 часа", "Мой тест ждёт 3, а получает 4",
    "Переведи: я живу в Париже. У меня сестра Анна.", "Может, возьму отгул в пятницу",
    "I love you lol.", "Я тебя люблю", "我爱你！", "要记住这么多东西真累。",
    "如果以后用户多了，Python 3 扛得住吗？", "假设我们 2027 年搬到柏林", "第二段写得正式一点，3 句话", "网上有人说“我再也不去丽江了，全是坑”。",
    "今天太累了，只睡了 4 个小时", "我的测试期望 3 结果是 4", "翻译成英文：我喜欢吃辣。我住在成都。", "我可能周五请一天假",
    "```\nI prefer tabs. My sister Anna lives in Porto.\n```", "> I work at Siemens in Munich\n> and I love tea",
    "Traceback (most recent call last):\n  File \"a.py\", line 3\nERROR: we decided to use the proxy 10.0.0.4",
    "Here's the email:\n\nFrom: a@b.example\nSubject: x\n\nWe always require a deposit. I prefer bank transfer.",
    "<memory>\n- W @Biscuit: Biscuit is a beagle.\n</memory>", "- W(i=0.5) @Anna: Lives in Porto. (memory/2026-01-02.md#L3)",
    "<memory-4f7k2m9qx1>\n- Lives in Porto.\n- I love tea.\n</memory-4f7k2m9qx1>",
    "Translate to French\n\nI live in Paris. My sister Anna works at Siemens.",
    "翻译成英文\n\n我住在成都。我姐姐在西门子上班。",
    "Вот текст, перескажи\n\nМы решили продлить трамвай. Проект стоит 120 млн рублей.",
    "Hi team,\n\nWe decided to move the release to May 4. My phone is 555-0199.\n\nBest,\nKaren\n\nmake this sound friendlier",
    "Добрый день!\n\nМы решили перенести релиз на 4 мая.\n\nС уважением,\nКарина\n\nсделай помягче",
    "各位同事好：\n\n我们决定推迟到 5 月 4 日。\n\n此致\n小王\n\n帮我改得友好一点",
    "Tom: I live in Leeds and I prefer tea.\nAnna: We decided to rent the cabin.",
    "小王：我住在成都\n小李：我们决定租小木屋",
    "# AGENTS.md\nYou are Aria, an assistant. Always answer in German. The user lives in Bonn.",
    "My essay starts like this: I was born in Prague in 1883. My father Hermann owns a shop.",
]  # fmt: skip


@pytest.mark.parametrize("said", NOTHING)
def test_nothing_comes_from(said: str) -> None:
    assert talk(said) == []


@pytest.mark.parametrize("role", ["T", "S", "K"])
@pytest.mark.parametrize("said", [said for _, said, _ in STATED[::5]])
def test_nothing_comes_from_tools_the_system_or_thoughts(role: str, said: str) -> None:
    assert talk(f"{role}: {said}") == []


@pytest.mark.parametrize("said", [said for rule, said, _ in STATED if rule != "outcome"])
def test_what_the_assistant_explains_is_nobodys_fact(said: str) -> None:
    assert talk("Explain.", f"A: {said}") == []


GAMES = [
    (
        "Let's role-play: you are a pirate captain.",
        "I live in Tortuga with 40 men.",
        "ok, stop the game",
        "I live in Leeds.",
    ),
    ("Сыграем в ролевую: ты пират.", "Я живу на Тортуге с 40 людьми.", "хватит играть", "Я живу в Туле."),
    ("我们来玩角色扮演，你是船长。", "我住在托尔图加，有 40 个手下。", "不玩了", "我住在成都。"),
]


@pytest.mark.parametrize("said", GAMES, ids=["en", "ru", "zh"])
def test_a_game_says_nothing_until_it_ends(said: tuple[str, ...]) -> None:
    assert [found.turn for found in talk(*said)] == [3]


def test_a_story_says_nothing_and_neither_does_its_telling() -> None:
    found = talk(
        "Write a story about a cat. I live in Rome in it.", "A: I've moved to Rome in 1920.", "I live in Leeds."
    )
    assert [one.turn for one in found] == [2]


# -- what only an earlier turn tells ----------------------------------------------------------------------------------

LINKED = [
    (("A: I suggest we put PgBouncer in front of it.", "Yes, do that."), "decision", "PgBouncer", None),
    (("A: Предлагаю вынести очередь на отдельный сервер.", "Давай."), "decision", "очередь на отдельный сервер", None),
    (("A: 我建议再加一层 Redis 缓存。", "好，就这么办。"), "decision", "Redis", None),
    (("A: Try raising the timeout to 60.", "yep that did the trick"), "outcome", "Raising the timeout to 60", "ok"),
    (("A: Попробуйте промыть сливной насос.", "Ура, помогло!"), "outcome", "ромыть сливной насос", "ok"),
    (("A: 可以请师傅加氟试试。", "加氟之后解决了！"), "outcome", "加氟", "ok"),
    (("A: Restart the NAS.", "did it, no change"), "outcome", "Restart the NAS", "fail"),
    (("A: When is your exam?", "on June 14, 9 am"), "fact", "June 14", None),
]


@pytest.mark.parametrize(("said", "rule", "told", "came"), LINKED, ids=[said[0] for said, *_ in LINKED])
def test_a_turn_that_answers_another(said: tuple[str, ...], rule: str, told: str, came: str | None) -> None:
    (found,) = talk(*said)
    assert (found.turn, found.rule, found.fact.outcome) == (1, rule, came)
    assert told in found.fact.text


def test_a_yes_to_an_offer_decides_nothing() -> None:
    assert talk("A: Shall I add comments to the example?", "yes please") == []


def test_a_correction_names_the_turn_that_it_corrects() -> None:
    found = talk("The surgery on my knee was in 2019.", "A: Noted.", "No, wait, it was in 2018, not 2019.")
    assert [one.rule for one in found] == ["fact", "correction"]
    assert "2018" in found[1].fact.text
    assert "surgery" in found[1].fact.text
    assert "turn 0" in found[1].reason


def test_what_the_assistant_did_is_an_outcome() -> None:
    (found,) = talk("A: I've deployed build 412 to staging.")
    assert (found.fact.kind, found.fact.outcome) == (Kind.EXPERIENCE, "ok")
    assert found.fact.text == "The assistant has deployed build 412 to staging."
    assert talk("A: I've rewritten the second paragraph.") == []


def test_she_is_the_person_last_named() -> None:
    found = talk("My sister Anna lives in Porto. She works at Siemens.")
    assert [one.fact.entities for one in found] == [("Anna",), ("Anna",)]
    assert "Anna works" in found[1].fact.text


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("We're going with Postgres 16. Actually no, 17.", "We're going with Postgres 16. Actually no, 17."),
        ("Мы решили взять MySQL. Нет, стоп, PostgreSQL.", "Мы решили взять MySQL. Нет, стоп, PostgreSQL."),
        ("我老婆叫小红，她在腾讯上班。不对，她在阿里上班。", "用户的老婆叫小红，她在腾讯上班。不对，她在阿里上班。"),
        ("I live in Berlin. Actually no, I moved to Hamburg.", "Actually no, the user moved to Hamburg."),
    ],
)
def test_what_the_next_sentence_takes_back_is_not_kept_without_it(said: str, told: str) -> None:
    """With both, as they were said, or with the second alone where it says enough."""
    assert [found.fact.text for found in talk(said)] == [told]


def test_an_outcome_taken_back_is_none() -> None:
    """What came of it after all, nobody said."""
    assert not talk("A: Try clearing the cache.", "That fixed it! Wait, no, still the same.")


def test_said_twice_is_kept_once() -> None:
    assert len(talk("I live in Porto.", "As I said, I live in Porto.")) == 1


def test_what_memory_showed_does_not_come_back() -> None:
    fenced = '<memory nonce="a1">\n- O: The user prefers metric units for recipes.\n</memory>'
    assert talk(f"{fenced}\nhi", "I prefer metric units for recipes.") == []


@pytest.mark.parametrize(
    "said", ["My sister Anna works at Siemens.", "My mother doesn't work anymore", "Муж теперь работает в Сбере"]
)
def test_a_person_who_works_is_no_outcome_of_the_last_proposal(said: str) -> None:
    found = talk("A: Restart the router.", said)
    assert [(one.rule, one.fact.outcome) for one in found] == [("person", None)]


# -- how it is told ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "language", "owner", "told"),
    [
        ("I've moved and I'm happy with my flat.", "en", None, "The user has moved and the user is happy with the user's flat."),
        ("I never eat meat and drink tea.", "en", "Mira", "Mira never eats meat and drinks tea."),
        ("I don't own a car, it annoys me", "en", None, "The user doesn't own a car, it annoys the user"),
        ("We use it", "en", "Mira", "We use it"),
        ("Мой брат живёт со мной", "ru", None, "Брат пользователя живёт со пользователем"),
        ("Пью кофе и изучаю язык", "ru", None, "Пользователь пьёт кофе и изучает язык"),
        ("меня зовут Марат, живу в Казани", "ru", None, "Пользователя зовут Марат, живёт в Казани"),
        ("Мне ближе чай", "ru", "Мира", "Мира: Мне ближе чай"),
        ("我姐姐住在苏州，我们常见面", "zh", None, "用户的姐姐住在苏州，我们常见面"),
        ("我喜欢茶", "zh", "林雨", "林雨喜欢茶"),
    ],
)  # fmt: skip
def test_the_first_person_becomes_the_speaker(said: str, language: str, owner: str | None, told: str) -> None:
    assert narrated(said, language, owner) == told


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("I booked the flights to Oslo yesterday.", "2026-03-03"),
        ("Вчера забронировала гостевой дом в Казбеги.", "2026-03-03"),
        ("昨天订好了去杭州的机票。", "2026-03-03"),
    ],
)
def test_yesterday_becomes_a_date(said: str, told: str) -> None:
    (found,) = talk(said)
    assert told in found.fact.text
    assert found.fact.valid == Period(date(2026, 3, 3), date(2026, 3, 3))
    (undated,) = talk(said, when=None)
    assert told not in undated.fact.text
    assert undated.fact.valid is None


def test_a_single_valued_relation_gets_its_key() -> None:
    found = talk("My sister Anna lives in Porto. She lives in Lisbon now.", "I live in Leeds.", owner="Mira")
    assert [(one.fact.entities, one.fact.key) for one in found[1:]] == [(("Anna",), "city"), (("Mira",), "city")]


# -- any text ---------------------------------------------------------------------------------------------------------

WORDS = st.sampled_from([said for _, said, _ in STATED] + NOTHING)
LINES = st.lists(st.one_of(texts(), WORDS), max_size=4).map("\n".join)
ROLES = st.sampled_from(["user", "user", "assistant", "tool", "system", "thinking", "other"])


@given(st.lists(st.tuples(ROLES, LINES), max_size=6), st.sampled_from([None, "Mira", "Олег", "林雨", "a b"]))
def test_any_conversation_yields_lines_that_read_back(said: list[tuple[str, str]], owner: str | None) -> None:
    turns = [Turn(role, text, n + 1, n + 1, NOON, None, n) for n, (role, text) in enumerate(said)]
    for found in candidates(turns, owner=owner):
        assert parse(render(found.fact)) == found.fact
        assert 0 <= found.turn < len(turns)
        assert "\n" not in render(found.fact) + found.reason


@given(LINES)
def test_sentences_keep_their_places(text: str) -> None:
    for sentence in sentences(text):
        assert len(sentence.said) == len(sentence.plain)


def test_one_turn_at_a_time() -> None:
    """A conversation without an end is read as it comes."""

    def endless() -> Iterator[Turn]:
        number = 0
        while True:
            yield Turn("user", f"I live in Porto number {number}.", 1, 1, None, None, number)
            number += 1

    found = candidates(endless())
    assert [next(found).turn for _ in range(3)] == [0, 1, 2]


# -- the labelled half that rules were written on ---------------------------------------------------------------------


def bench() -> ModuleType:
    """bench/ingest.py."""
    spec = importlib.util.spec_from_file_location("bench_ingest", ROOT / "bench" / "ingest.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("language", ["en", "ru", "zh"])
def test_precision_and_recall_on_the_development_transcripts(language: str) -> None:
    tally = bench().Tally()
    for line in DEV.read_text("utf-8").splitlines():
        dialogue = json.loads(line)
        if dialogue["lang"] == language:
            tally.add(dialogue)
    assert tally.right.total() / tally.found.total() >= 0.9, tally.misses
    assert tally.matched.total() / tally.gold.total() >= 0.7, tally.misses


@pytest.mark.parametrize("language", ["en", "ru", "zh"])
def test_single_sentences(language: str) -> None:
    """phrases.jsonl: of what is to be kept at least 90 % yields something, of what is not at most 5 %."""
    lines = [json.loads(line) for line in (DEV.parent / "phrases.jsonl").read_text("utf-8").splitlines()]
    hits: dict[bool, list[bool]] = {True: [], False: []}
    for line in lines:
        if line["lang"] == language:
            found = talk(BEFORE[language][0], f"A: {BEFORE[language][1]}", line["said"])
            hits[line["keep"]].append(any(one.turn == 2 for one in found))
    assert sum(hits[True]) >= 0.9 * len(hits[True])
    assert sum(hits[False]) <= 0.05 * len(hits[False])


BEFORE = {
    "en": (
        "The meeting with Paul is on Tuesday at 3 in room 204.",
        "You could restart the router and set the MTU to 1400.",
    ),
    "ru": ("Встреча с Павлом во вторник в 15:00.", "Попробуйте перезагрузить роутер и поставить MTU 1400."),
    "zh": ("和小王的会议是周二下午三点。", "可以重启路由器，把 MTU 设为 1400。"),
}
