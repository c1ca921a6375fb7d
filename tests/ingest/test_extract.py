"""Candidate facts of a conversation, by rules, in three languages: what is found, what must not be, and what it is called.

tests/data/ingest/talks.jsonl holds conversations and what is found in them: [turn, rule, words of the text, outcome, tier];
a turn begins with `A: ` (assistant), `T: ` (tool), `P: ` or `Q: ` (Anna and Boris, two people), or, for the user, with nothing.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Iterator
from datetime import datetime
from itertools import count
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given, strategies as st
from strategies import texts

from memctl.facts import Kind
from memctl.ingest.extract import CandidateFact, candidates
from memctl.ingest.own_words import own_sentences
from memctl.ingest.statements import narrated
from memctl.ingest.turns import Turn
from memctl.judgement import Tier
from memctl.language.relations import slot_of
from memctl.markdown.grammar import parse, render

ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests" / "data" / "ingest"
NOON = datetime(2026, 3, 4, 12)


def corpus(name: str) -> list[dict[str, Any]]:
    """The lines of a corpus."""
    return [json.loads(line) for line in (DATA / name).read_text("utf-8").splitlines()]


def talk(*said: str, owner: str | None = None, when: datetime | None = NOON) -> list[CandidateFact]:
    """The candidates of a conversation."""
    roles = {"A": "assistant", "T": "tool", "S": "system", "K": "thinking"}
    turns = []
    for number, line in enumerate(said):
        who = line[:1] if line[1:3] == ": " else ""
        person = {"P": "Anna", "Q": "Boris"}.get(who)
        said_by = roles.get(who, "user")
        turns.append(Turn(said_by, line[3:] if who else line, number + 1, number + 1, when, person, number))
    return list(candidates(turns, owner=owner))


TALKS = corpus("talks.jsonl")
STATED = [each["said"][0] for each in TALKS if each["kind"] == "stated"]
NOTHING = [each["said"][0] for each in TALKS if each["kind"] == "nothing"]


@pytest.mark.parametrize(
    "said",
    ["My name is Peter.", "I live in Leeds.", "Меня зовут Пётр.", "Я живу в Самаре.", "我叫王伟。", "我住在苏州。"],
)
def test_a_name_and_a_home_are_certain_in_any_script(said: str) -> None:
    """A Chinese name has no capital that would show it."""
    assert [found.judgement.tier for found in talk(said)] == [Tier.CERTAIN]
    assert talk("你知道我住哪里吗？") == []


@pytest.mark.parametrize("case", TALKS, ids=[f"{each['kind']}: {each['said'][-1][:60]}" for each in TALKS])
def test_what_is_found(case: dict[str, Any]) -> None:
    """Statements in three languages, what an earlier turn tells, what is taken back; nothing of questions, games and pastes."""
    found = talk(*case["said"])
    assert [one.turn for one in found] == [expected[0] for expected in case["found"]], found
    for one, (turn, rule, words, came, tier) in zip(found, case["found"], strict=True):
        assert (rule, came, tier) == (one.rule, one.fact.outcome, one.judgement.tier.value), one
        assert (words or "") in one.fact.text, one
        assert one.quote in case["said"][turn] and one.reason and one.fact.source is None
        assert (case.get("corrects") or None) == one.corrects or one is not found[-1]


def test_what_a_candidate_carries() -> None:
    """Importance, cues to be found by, a kind, an outcome."""
    found = talk("Remember that I'm allergic to nuts.")[0].fact
    assert found.importance == 0.9 and any("food" in cue for cue in found.cues)
    for case in corpus("cues.jsonl"):
        assert (case["words"] in talk(case["said"])[0].fact.cues) is case["cued"], case
    failed = talk("I tried magnesium for a month, didn't notice any difference")[0].fact
    assert (failed.kind, failed.outcome) == (Kind.EXPERIENCE, "fail")
    never = ("I've never finished a novel by Tolstoy.", "Я никогда не ездил в Японию на поезде", "我从来没去过日本京都")
    assert [talk(said)[0].fact.kind for said in never] == [Kind.WORLD] * 3  # nothing happened
    corrected = talk("The surgery on my knee was in 2019.", "A: Noted.", "No, wait, it was in 2018, not 2019.")[1]
    assert "turn 0" in corrected.reason and corrected.corrects == "The surgery on the user's knee was in 2019."


def test_importance_puts_first_what_was_meant_to_last() -> None:
    """What was said to be remembered, then rules, decisions, facts, what happened, what is hardly exact."""
    said = (
        "Remember that I'm allergic to nuts.", "Always answer in metric units.", "We decided to move the server to Riga in May.",
        "I have lived in Leeds since 2012.", "I painted the fence in Leeds in May 2012.", "I painted the fence on Friday.",
    )  # fmt: skip
    weights = [each.fact.importance or 0 for each in talk(*said)]
    assert len(weights) == len(said) and weights == sorted(weights, reverse=True), weights


def test_a_sentence_in_a_language_without_rules_is_left_alone() -> None:
    assert talk("Yo vivo en Madrid con la familia.") == []
    assert talk("I live in Madrid with the family.")


@pytest.mark.parametrize("said", STATED[::3])
def test_nothing_comes_from_tools_the_system_thoughts_and_explanations(said: str) -> None:
    """The statements of a person are nobody's in the mouth of another."""
    assert [talk(f"{role}: {said}") for role in "TSK"] == [[], [], []]
    assert [one for one in talk("Explain.", f"A: {said}") if one.rule not in ("report", "finding")] == []


def test_a_line_is_about_the_one_whose_slot_it_fills() -> None:
    """Of the owner, whoever is named beside them, and of the person whom a pronoun means."""
    found = talk("My sister Anna lives in Porto. She lives in Lisbon.", "My boss is Anna Smith.", owner="Mira")
    assert [(one.fact.entities, (slot_of(one.fact) or ())[:2]) for one in found[1:]] == [
        (("Anna",), ("city", "lisbon")),
        ((), ("manager", "anna smith")),
    ]


@pytest.mark.parametrize(
    "said", ["My birthday is tomorrow.", "The deadline of @Curlew is tomorrow.", "记住：小李的生日是明天。"]
)
def test_a_date_that_is_the_value_is_no_time_at_which_it_holds(said: str) -> None:
    """It was told as true today, and replaces what was told before."""
    (one,) = talk(said, owner="Mira")
    assert "2026-03-05" in one.fact.text and one.fact.valid is None


def test_two_people_are_both_persons() -> None:
    """What each says is about them by name, whoever owns the memory; a request to the other one is no order to the agent."""
    found = talk(
        "P: I've been a nurse in Oslo for ten years.", "Q: Remember that I work at Siemens in Munich.", owner="Mira"
    )
    assert [(one.fact.entities, one.fact.text) for one in found[:1]] == [
        (("Anna",), "Anna has been a nurse in Oslo for ten years.")
    ]
    assert all(one.judgement.tier is not Tier.TOLD for one in found)


@pytest.mark.parametrize("case", corpus("retold.jsonl"), ids=lambda case: str(case["said"]))
def test_the_first_person_becomes_the_speaker(case: dict[str, Any]) -> None:
    """retold.jsonl."""
    assert narrated(case["said"], case["language"], case["owner"]) == case["told"]


@pytest.mark.parametrize(("said", "told"), [
    ("I booked the flights to Oslo yesterday.", "on 2026-03-03"), ("Вчера забронировала гостевой дом в Казбеги.", "2026-03-03"),
    ("昨天订好了去杭州的机票。", "2026-03-03"), ("We're six now, two left last week.", "last week (2026-02-23..2026-03-01)"),
    ("Нас теперь шестеро, на прошлой неделе двое ушли.", "(2026-02-23..2026-03-01)"), ("我们团队现在6个人，上周走了两个。", "(2026-02-23..2026-03-01)"),
    ("Remember: this Friday the office is closed", "On 2026-03-06 the office is closed 2026-03-06"), ("Запомни: завтра офис закрыт", "закрыт 2026-03-05"), ("记住：本周五办公室不开门", "不开门 2026-03-06"), ("Remember: as of tomorrow the office is closed", "closed None"),
    ("Remember: John joins us tomorrow", "2026-03-05 None"), ("Remember: we get a dog tomorrow", "2026-03-05 None"), ("Запомни: завтра берём собаку", "собаку None"), ("记住：我们明天领养一只狗", "狗 None"), ("Remember: I am 40 today", "2026-03-04 None"), ("Remember: the office is closed today", "2026-03-04 2026-03-04"), ("We fly to Oslo next Friday.", "next Friday"), ("我下周三四请假，带我妈去医院。", "下周三四"), ("My knee is sore after yesterday's run.", "yesterday's"),
    ("Goran will write the migration by Monday.", "by Monday"), ("Договор с Альфой подписываем в понедельник.", "в понедельник"), ("Anna is in Porto until next week.", "until next week."), ("В прошлый понедельник забронировала дом в Казбеги.", "В прошлый понедельник"), ("今晚八点和李娜吃饭。", "今晚 (2026-03-04)"),
])  # fmt: skip
def test_yesterday_becomes_a_date(said: str, told: str) -> None:
    """In the text, where a day of an aside ends nothing and a day to come does (`until=`), and where only one day can be meant."""
    (found,) = talk(said)
    assert told in f"{found.fact.text} {found.fact.until}" and found.fact.valid is None
    (undated,) = talk(said, when=None)
    assert "2026-" not in undated.fact.text


# -- any text ---------------------------------------------------------------------------------------------------------

LINES = st.lists(st.one_of(texts(), st.sampled_from(STATED + NOTHING)), max_size=4).map("\n".join)
ROLES = st.sampled_from(["user", "user", "assistant", "tool", "system", "thinking", "other"])


@given(st.lists(st.tuples(ROLES, LINES), max_size=6), st.sampled_from([None, "Mira", "Олег", "林雨", "a b"]))
def test_any_conversation_yields_lines_that_read_back(said: list[tuple[str, str]], owner: str | None) -> None:
    """Never an error, and every candidate is a line of the grammar."""
    turns = [Turn(role, text, n + 1, n + 1, NOON, None, n) for n, (role, text) in enumerate(said)]
    for found in candidates(turns, owner=owner):
        assert parse(render(found.fact)) == found.fact
        assert 0 <= found.turn < len(turns)
        assert "\n" not in render(found.fact) + found.reason


@given(LINES)
def test_sentences_keep_their_places(text: str) -> None:
    """What is blanked out of a sentence leaves as many characters."""
    assert all(len(sentence.said) == len(sentence.plain) for sentence in own_sentences(text))


def test_one_turn_at_a_time() -> None:
    """A conversation without an end is read as it comes."""
    endless: Iterator[Turn] = (Turn("user", f"I live in Porto number {n}.", 1, 1, None, None, n) for n in count())
    found = candidates(endless)
    assert [next(found).turn for _ in range(3)] == [0, 1, 2]


# -- the labelled half that rules were written on ---------------------------------------------------------------------


def bench() -> ModuleType:
    """bench/ingest.py."""
    sys.path.insert(0, str(ROOT / "bench"))
    spec = importlib.util.spec_from_file_location("bench_ingest", ROOT / "bench" / "ingest.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("language", ["en", "ru", "zh"])
def test_precision_and_recall_on_the_development_transcripts(language: str) -> None:
    """dev.jsonl: what is written is right, what matters is written or asked. The held half is measured by `make judge`, unseen."""
    tally = bench().Tally()
    for dialogue in corpus("dev.jsonl"):
        if dialogue["lang"] == language:
            tally.add(dialogue)
    assert tally.right.total() / tally.found.total() >= 0.9, tally.misses
    assert tally.matched.total() / tally.gold.total() >= 0.7, tally.misses


BEFORE = {
    "en": ("The meeting with Paul is on Tuesday at 3 in room 204.", "You could restart the router and set the MTU to 1400."),
    "ru": ("Встреча с Павлом во вторник в 15:00.", "Попробуйте перезагрузить роутер и поставить MTU 1400."),
    "zh": ("和小王的会议是周二下午三点。", "可以重启路由器，把 MTU 设为 1400。"),
}  # fmt: skip


@pytest.mark.parametrize("language", ["en", "ru", "zh"])
def test_single_sentences(language: str) -> None:
    """phrases.jsonl: 60 % of what is to be kept is written or asked about, of what is not at most 2 % is written, 12 % asked."""
    hits: dict[bool, list[bool]] = {True: [], False: []}
    written: list[bool] = []
    for line in corpus("phrases.jsonl"):
        if line["lang"] == language:
            found = talk(BEFORE[language][0], f"A: {BEFORE[language][1]}", line["said"])
            hits[line["keep"]].append(any(one.turn == 2 for one in found))
            written.append(not line["keep"] and any(one.turn == 2 and one.judgement.is_certain for one in found))
    assert sum(hits[True]) >= 0.6 * len(hits[True])
    assert sum(hits[False]) <= 0.12 * len(hits[False]) and sum(written) <= 0.02 * len(hits[False])
