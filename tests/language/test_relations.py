"""Single-valued relations read from the sentence: a slot closes older lines, so doubt fills none."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from counting import calls
from hypothesis import given, settings, strategies as st
from strategies import examples

from memctl.facts import Fact
from memctl.language.names import stem_key
from memctl.language.relations import Relation, relation, slot_of
from memctl.markdown.grammar import parse


def labelled(part: str) -> list[dict[str, str]]:
    """The lines of a part of the corpus."""
    text = (Path(__file__).parents[1] / f"data/relations/{part}.jsonl").read_text("utf-8")
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.parametrize(
    ("part", "wrong", "missed"),
    [("rules", 0, 0), ("hostile", 0, 0), ("dev", 4, 10), ("held", 1, 3), ("other-open", 0, 10), ("other-held", 0, 44)],
)
def test_what_is_stated_fills_a_slot_and_whatever_is_in_doubt_none(part: str, wrong: int, missed: int) -> None:
    false, silent = [], []
    for line in labelled(part):
        found = relation(line["text"], [name for name in line.get("about", "").split(", ") if name])
        said = stem_key(line.get("value", ""))[:4]
        if found and (found.key != line.get("key") or not found.value.startswith(said)):
            false.append(line["text"])
        if not found and "key" in line:
            silent.append(line["text"])
    assert len(false) <= wrong, false
    assert len(silent) <= missed, silent


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Lives in Berlin.", "Alice lives in Berlin, in Neukölln, on the fourth floor"),
        ("Живёт в Риге", "Сейчас живёт в Риге, на шестом этаже"),
        ("住在里斯本", "现在住在里斯本，六楼"),
        ("The version is 1.2", "The current release is 1.2, out on Friday"),
    ],
)
def test_a_value_said_in_other_words_is_the_same_value(one: str, other: str) -> None:
    names = ["Alice"]
    first, second = relation(one, names), relation(other, names)
    assert first and second and first[:2] == second[:2]


def fact(line: str) -> Fact:
    """The fact that a line spells."""
    read = parse(line)
    assert isinstance(read, Fact)
    return read


def test_a_key_that_the_author_wrote_comes_first() -> None:
    assert slot_of(fact("W(key=home) @Alice: Lives in Berlin")) == Relation("home", "")
    assert slot_of(fact("W @Alice: Lives in Berlin")) == Relation("city", "berlin")
    assert slot_of(fact("B @Alice: Moved to Berlin last week")) == Relation("city", "berlin", True, closes=False)
    assert not any(slot_of(fact(f"{kind} @Alice: Lives in Berlin")) for kind in "OS")


PIECES = st.sampled_from(
    [
        "lives", "in", "works", "at", "Berlin", "Alice's", "the", "current", "release", "is", "1.2", "not", "maybe", "@Bob",
        "[[X]]", "живёт", "в", "Риге", "статус", "—", ":", ",", ".", "?", "住在", "里斯本", "担任", "经理", "的", "是",
    ]
)  # fmt: skip


@given(
    st.lists(PIECES | st.text(max_size=5), max_size=12).map(" ".join),
    st.lists(st.text(min_size=1, max_size=8), max_size=2),
)
@settings(max_examples=examples(300))
def test_any_text_has_an_answer(text: str, names: list[str]) -> None:
    found = relation(text, names)
    assert found is None or (found.key and found.value and len(found.value) <= 80)
    assert relation(text, names) == found


@given(
    st.sampled_from([line["text"] for line in labelled("rules") if line.get("about") == "Alice" and "key" in line]),
    st.sampled_from(["Maybe ", "If so, ", "Bob says: ", "Наверное, ", "据说", "“"]),
)
def test_what_stands_before_the_subject_undoes_it(text: str, before: str) -> None:
    assert relation(before + text, ["Alice"]) is None


def test_a_line_that_states_nothing_is_cheap() -> None:
    """No pattern is tried on it: a handful of calls."""
    line = "Replayed the queue from the SD card after the router hung; 52 packets, none lost."
    relation(line, ["Nightjar"])
    assert calls(lambda: relation(line, ["Nightjar"])) < 25


@pytest.mark.parametrize("hostile", ["lives in ", "the ", "is ", "住在", "x is owned by a "])
def test_a_long_line_states_nothing(hostile: str) -> None:
    """A line of more than 300 characters says more than one thing, and is not looked at."""
    assert relation(hostile * (300 // len(hostile) + 1), ["x"]) is None
    assert calls(lambda: relation(hostile * 10_000, ["x"])) < 5


@pytest.mark.parametrize(("text", "closes"), [
    ("I live in Porto.", True), ("I now live in Porto", True), ("I live in Porto now.", True), ("I live in Porto with my brother", False),
    ("We use MySQL", True), ("We moved to MySQL, and rolled it back.", False),
    ("My name is Wrong", False), ("I work at Starbucks, on Fridays from home", False),
    ("Живу в Твери", True), ("Живу в Твери, на выходных у мамы", False), ("Меня зовут Папа", False),
    ("Имя: README", False), ("Project: Phase 2", False),
    ("我住在苏州", True), ("我住在苏州，这个月", False), ("我叫代驾", False),
])  # fmt: skip
def test_what_goes_on_behind_a_value_closes_nothing(text: str, closes: bool) -> None:
    said = relation(text)
    assert said and said.closes is closes


def test_the_manual_says_what_fills_a_slot_and_what_does_not() -> None:
    page = (Path(__file__).parents[2] / "docs" / "keeping.md").read_text("utf-8")
    part = page.partition("A sentence has to say whose it is:")[2].partition("What is asked, denied")[0]
    fills, _, none = part.partition("Of nobody it fills none:")
    told = re.findall(r"[\"«]?([^\"«»,]+(?:, [^\"«»]+?)?)[\"»]? \(`(\w+)`\)", fills)
    assert len(told) == 10
    for text, key in told:
        assert (found := relation(text.strip())) and found.key == key, text
    (named,) = re.findall(r"- W @(\w+): ([^\"]+)\"", fills)
    assert relation(named[1], [named[0]])
    for text in re.findall(r"\"([^\"]+)\"", none):
        assert relation(text) is None, text
