"""Names that a text holds without marking them: whole words, longest first, inflected or not, in any script."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from memctl.facts import grouped
from memctl.language.names import Listed, find_names, heads, stem_head, stem_key

PEOPLE = {
    "Alex Chen": ["陈立", "老陈", "Чэнь Ли"], "Alex Petrov": ["Алексей Петров", "Петров", "彼得罗夫"],
    "Irina Volkova": ["Irina", "Ирина"], "Will": [], "C++": [], "node.js": [], "Gull Spit": ["Чаячья коса"], "O'Brien": [],
    "kafka": [],
}  # fmt: skip


def listing(people: dict[str, list[str]]) -> dict[str, list[Listed]]:
    """Pages and their aliases as the index hands them over."""
    rows = [(name, entity) for entity, aliases in people.items() for name in (entity, *aliases)]
    return grouped((stem_head(name), Listed(stem_key(name), name, entity)) for name, entity in rows)


KNOWN = listing(PEOPLE)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Irina and Alex Chen met", ["Irina Volkova", "Alex Chen"]), ("Irina Volkova met herself", ["Irina Volkova"]),
        ("Irina's thermos", ["Irina Volkova"]), ("Спросили Ирину и Петрова", ["Irina Volkova", "Alex Petrov"]),
        ("на Чаячьей косе", ["Gull Spit"]), ("на чаячьей косе", ["Gull Spit"]), ("a gull spit", []), ("Пётр и Петра", []), ("老陈今天和彼得罗夫吃饭", ["Alex Chen", "Alex Petrov"]),
        ("陈立说", ["Alex Chen"]), ("Alex met a Petrovich", []), ("Will you ask Will?", ["Will"]), ("what will be", []),
        ("Kafka and kafka", ["kafka"]), ("IRINA SHOUTED", ["Irina Volkova"]), ("written in C++, not C", ["C++"]),
        ("O'Brien came", ["O'Brien"]), ("runs on node.js", ["node.js"]), ("Спроси Петрова, а не Петра", ["Alex Petrov"]),
        ("爱吃面的人", []), ("Alexander", []), ("Gull Spit, GULL SPIT", ["Gull Spit"]), ("", []),
    ],
)  # fmt: skip
def test_names_in_text(text: str, found: list[str]) -> None:
    """Whole words, inflected or possessive; a listed capital wants one in the text; Han names stand anywhere."""
    assert list(find_names(text, KNOWN)) == found


def test_the_longest_name_takes_the_place() -> None:
    """`Gull Spit Light` is not also a mention of `Gull Spit`."""
    known = listing({"Gull Spit": [], "Gull Spit Light": [], "鸥": [], "鸥嘴": []})
    assert find_names("at Gull Spit Light", known) == ("Gull Spit Light",)
    assert find_names("鸥嘴的风", known) == ("鸥嘴",)


def test_a_name_of_several_names_nobody() -> None:
    """Two pages list the same alias: the text alone cannot tell which is meant."""
    known = listing({"Alex Chen": ["Alex"], "Alex Petrov": ["Alex"]})
    assert find_names("Alex will do it", known) == ()
    assert find_names("Alex Chen will do it", known) == ("Alex Chen",)


def test_names_come_once_and_in_order() -> None:
    """By their first place in the text, whatever name they go by there."""
    assert find_names("Петров, Irina, Alex Petrov и Ирина", KNOWN) == ("Alex Petrov", "Irina Volkova")


@given(
    st.lists(
        st.sampled_from(
            ["and", "met", ",", "в", "Irina", "Ирину", "老陈", "Alex Chen", "Will", "Gull Spit", "Петрову"]
        ),
        max_size=8,
    )
)
def test_whatever_is_found_can_be_looked_up_by_its_heads(words: list[str]) -> None:
    """`heads` lists every way in: with only the listed names that begin so, the same is found."""
    text = " ".join(words)
    narrowed = {head: listed for head, listed in KNOWN.items() if head in heads(text)}
    assert find_names(text, narrowed) == find_names(text, KNOWN)
    expected = {"Irina": "Irina Volkova", "Ирину": "Irina Volkova", "老陈": "Alex Chen", "Петрову": "Alex Petrov"}
    assert set(find_names(text, KNOWN)) == {
        expected.get(word, word) for word in words if word in expected or word in PEOPLE
    }


def test_nothing_known_names_nothing() -> None:
    """A workspace without entity pages."""
    assert find_names("Irina and Alex Chen", {}) == ()
