"""The question in a long paste: what stands around it does not drown it, and a short question is left exactly as it is."""

from __future__ import annotations

import json
import os
import re
import sys
from datetime import date
from pathlib import Path

import pytest
from face_helpers import ask, call, contents, write_pages
from hypothesis import example, given, settings, strategies as st
from strategies import examples, texts

from memctl.recall.query import read_query
from memctl.recall.question_in_paste import SHORT, clean_question

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))
import prompts

TODAY = date(2025, 11, 29)
QUESTIONS = [
    "What did Caroline research?", "Which database did the orders service get, and who decided it?", "Почему не взяли монгу?",
    "Сколько раз Ирина меняла пароль, и когда в последний раз?", "为什么选择了这个数据库？", "谁负责部署？什么时候？",
    "When the ferry was late, where did we sleep?", "How do I deploy?", "Is the gateway's retry budget 3?",
    "@Irina since:2025-06-01 what does she drink?",
]  # fmt: skip
REQUESTS = [
    "Tell me about the harbour crane", "List the ports that the ferry visits in order", "Напомни адрес Ирины",
    "Расскажи про переезд офиса", "告诉我伊琳娜的地址", "who repaired the winch",
]  # fmt: skip


@pytest.mark.parametrize("luggage", prompts.LUGGAGE)
def test_a_question_is_found_whatever_stands_around_it(luggage: str) -> None:
    """Prompts, talks, logs, mails, chat templates: the query is the one that the bare question makes, filters included."""
    for question in QUESTIONS:
        assert read_query(prompts.LUGGAGE[luggage](question), TODAY) == read_query(question, TODAY)


BEFORE = [
    "en prompt, blank line", "terse prompt, new line", "ru prompt", "zh prompt", "talk", "messages", "chat template", "tags",
    "tags on a line", "roles", "stack trace", "log",
]  # fmt: skip


@pytest.mark.parametrize("luggage", BEFORE)
def test_a_request_without_a_mark_is_found(luggage: str) -> None:
    for asked in REQUESTS:
        assert read_query(prompts.LUGGAGE[luggage](asked), TODAY) == read_query(asked, TODAY)


@pytest.mark.parametrize(
    "luggage",
    ["en prompt, blank line", "ru prompt", "zh prompt", "messages", "chat template", "tags", "tags on a line"],
)
@pytest.mark.parametrize("words", ["gateway retry budget", "пароль ирины", "部署 星期二", "ECONNRESET orders"])
def test_bare_words_after_a_prompt_are_found(words: str, luggage: str) -> None:
    assert read_query(prompts.LUGGAGE[luggage](words), TODAY).words == words


@given(texts())
@example("User: hi\n\nAssistant: x")
@example("<question>x</question>")
@example('[{"role": "user", "content": "x"}]')
@example("Answer briefly.\n\nWhat is x?")
@settings(max_examples=examples(200))
def test_a_short_text_is_not_touched(text: str) -> None:
    if len(text.strip()) <= SHORT:
        assert clean_question(text) == text


@pytest.mark.parametrize(
    ("story", "asks"),
    [
        ("We were at the sea with Ida. ", "What was her dog's name?"),
        ("Мы были с Идой у моря. ", "Как звали её собаку?"),
        ("我们和伊达去了海边。", "她的狗叫什么？"),
    ],
)
def test_one_line_is_one_question(story: str, asks: str) -> None:
    """What somebody typed, as many sentences as it takes before it asks."""
    typed = story * (500 // len(story)) + asks
    assert clean_question(typed) == typed


@given(
    st.lists(
        st.one_of(
            texts(),
            st.sampled_from([*QUESTIONS, prompts.TALK, prompts.LOG, "User:", "```", "<a>", "</a>", "[{", "\n\n"]),
        ),
        max_size=12,
    )
)
@settings(max_examples=examples(150), deadline=None)
def test_what_comes_out_stood_in_the_text(pieces: list[str]) -> None:
    """Nothing is made up, nothing becomes empty."""
    text = "\n".join(pieces)
    found = clean_question(text)
    assert found == text or any(map(str.isalnum, found))
    if not any(mark in text for mark in ("<|", "[INST]", "{", "[/")):
        pieces = re.split(r"\s+|(?<=[。！？])", found)  # Chinese sentences join without a space
        assert all(piece in text for piece in pieces)


LONG = [
    "I have been thinking a lot about moving to the coast next year, because the flat is too small and the rent went up twice since "
    "March. My sister thinks it is a bad idea. Where did I say the best school was, and what did Anna think of it?",
    "gateway retry budget timeout connection reset by peer orders service staging cluster three zones postgres failover replica lag "
    "primary switch runbook owner pager rotation handover notes incident review action items follow up ticket list",
    "Когда мы осенью обсуждали переезд в новый офис, Ирина говорила, что договор аренды заканчивается в декабре, а Пётр предлагал "
    "продлить его ещё на полгода. Чем закончился этот разговор, и кто в итоге должен был звонить арендодателю?",
    "我们秋天讨论搬到新办公室的时候，伊琳娜说租约十二月到期，彼得建议再延长半年。" * 6 + "最后是谁给房东打的电话？",
]


@pytest.mark.parametrize("text", LONG)
def test_a_long_question_without_luggage_is_not_touched(text: str) -> None:
    assert len(text) > SHORT and clean_question(text) == text


def test_a_paste_that_asks_nothing_is_looked_for_as_it_is() -> None:
    """A note, a stack trace alone: its own words are all there is."""
    note = "The ferry leaves the harbour at seven. The winch was repaired in March.\n\nThe crane is next. " * 5
    assert clean_question(note) == note
    assert clean_question(prompts.TRACE) == prompts.TRACE and clean_question(
        prompts.LOG.replace("?", ".")
    ) == prompts.LOG.replace("?", ".")


def test_a_filter_in_the_luggage_is_not_the_askers() -> None:
    """A pasted @name or since: must not hide every answer; those in the question hold."""
    pasted = f"{prompts.TALK}\n@priya maybe? key:cleanup kind:opinion\n\n"
    query = read_query(f"{pasted}What does @Irina drink?", TODAY)
    assert (query.words, query.filters) == ("What does drink?", ["about:Irina"])
    assert read_query(f"{pasted}What does Irina drink?", TODAY).filters == []
    assert read_query(f"{pasted}What does Irina drink since:30d?", TODAY).words.startswith("What does Irina drink")


def test_flags_hold_whatever_is_pasted() -> None:
    assert read_query(f"{prompts.ENGLISH}\n\nWho?", TODAY, about=["Irina"]).filters == ["about:Irina"]


def test_recall_says_what_it_looked_for_and_keeps_what_was_asked(tmp_path: Path) -> None:
    """One warning with the question that was understood; the answer's query is the whole text."""
    workspace = write_pages(
        tmp_path, {"memory/2025-11-01.md": "- W: Irina repaired the winch.\n- W: Peter drinks tea.\n"}
    )
    text = f"{prompts.ENGLISH}\n\nWho repaired the winch?"
    answer = ask(workspace, text)
    assert contents(answer)[:1] == ["Irina repaired the winch."]
    assert (
        answer.query == text
        and "Who repaired the winch?" in answer.warnings[0]
        and f"{len(text):,}" in answer.warnings[0]
    )
    assert not ask(workspace, "Who repaired the winch?").warnings
    done = call(["recall", "--json", text], tmp_path)
    assert done.code == 0 and json.loads(done.out)["query"] == text


@pytest.mark.parametrize(
    "piece",
    ["a", "?", "？", "\n", " \n", "<a>", "<a></a>", "<|im_start|>", "User:", "User: ", "A: b?\n", "[{", '{"', '{"content": [', "```\n", "> x\n", "«", '"', "(", "- x\n", "# x\n",
     "x. ", "你是。", "Anna: yes\n", "\x00", "\ud800", "1:", ":", "- - ", "    x\n", "a b c: d e f: "],
)  # fmt: skip
def test_hostile_text_costs_little(piece: str) -> None:
    """15 KB of anything, much more in `make torture`: what takes quadratic time never ends there."""
    long = piece * ((250_000 if os.environ.get("MEMCTL_TORTURE") else 15_000) // len(piece))
    for text in (long, f"What is it?\n\n{long}"):
        assert clean_question(text)


def test_deep_json_is_no_trouble() -> None:
    for text in ('[{"content":' * 5_000, "[" * 50_000, '{"messages":' * 4_000 + "1"):
        assert clean_question(f"{text}\n\nWho repaired the winch?")


LOGGED = "We saw this yesterday:\n" + "".join(
    f"2025-11-02 10:22:{n:02} ERROR gw upload failed: ECONNRESET on POST /v0/packets\n" for n in range(3)
)
TRACE = """Traceback (most recent call last):
  File "curlew/api/rings.py", line 88, in post_ring
    self.store.insert(ring)
  File "curlew/store.py", line 41, in insert
    raise RingError("E_RING_DUP K-417")
RingError: E_RING_DUP K-417
"""


@pytest.mark.parametrize(
    ("paste", "question", "thing"),
    [
        (LOGGED, "What causes it?", "ECONNRESET"),
        (TRACE, "почему это происходит?", "E_RING_DUP"),
        (LOGGED, "这是什么原因？", "ECONNRESET"),
    ],
)
def test_what_this_means_stays_with_the_question(paste: str, question: str, thing: str) -> None:
    """A question that says little but "this" keeps the identifiers of a short paste; one that says what it means does not."""
    assert clean_question(f"{paste}\n{question}").startswith(question) and thing in clean_question(
        f"{paste}\n{question}"
    )
    whole = "Where does Irina keep the spare keys of the tower?"
    assert clean_question(f"{paste}\n{whole}") == whole
