"""Names of entities (contract, section 3): `@Имя`, `@爱丽丝`, `[[Wiki Link]]`, plain mentions of a known name or alias.

Spellings of one name meet whatever their case, accents, `ё`, hyphens and spaces; an inflected name meets its own.
"""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import example, given, settings
from strategies import growth, names, texts

from memctl.facts import Fact, Kind
from memctl.language.names import (
    Listed,
    by_head,
    entity_key,
    find_names,
    heads,
    link_target,
    mentions,
    read_name,
    slug,
    spell,
    stem_head,
    stem_key,
)
from memctl.markdown.grammar import parse, render


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("ask @Peter.", ("Peter",)),
        ("(@Peter, @Анна) и @爱丽丝！", ("Peter", "Анна", "爱丽丝")),
        ("@node.js and @a-b/c", ("node.js", "a-b/c")),
        ("[[Gull Spit]] and [[Gull Spit#North|the north]]", ("Gull Spit",)),
        ("@[[Alex Chen]]", ("Alex Chen",)),
        ("@Peter and @Peter", ("Peter",)),
        ("mail bob@example.com", ()),
        ("path/@x or user.@x", ()),
        ("[[#Heading]] here", ()),
        ("[[a [[b]] c]]", ("b",)),
        ("in `@code` and ``[[code]]`` and `unclosed @Open", ("Open",)),
        ("nobody", ()),
        ("@ alone, @@", ()),
    ],
)
def test_names_written_in_running_text(text: str, named: tuple[str, ...]) -> None:
    assert mentions(text) == named


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Peter", "PETER"),
        ("Alex Chen", "alex-chen"),
        ("Alex_Chen", " Alex  Chen "),
        ("Пётр", "ПЕТР"),
        ("José", "jose"),
        ("Ｗｉｄｅ", "wide"),
        ("Straße", "STRASSE"),
        ("Сергей", unicodedata.normalize("NFD", "Сергей")),
        ("Йод", unicodedata.normalize("NFD", "йод")),
    ],
)
def test_spellings_of_one_name(one: str, other: str) -> None:
    """Files come back from macOS with their letters taken apart; that makes no other name."""
    assert entity_key(one) == entity_key(other)


@pytest.mark.parametrize(("one", "other"), [("Сергей", "Сергеи"), ("C", "C++"), ("R&D", "RD"), ("爱丽丝", "爱丽")])
def test_names_that_differ(one: str, other: str) -> None:
    assert entity_key(one) != entity_key(other)


@given(names())
@settings(max_examples=100)
def test_a_key_is_never_empty_and_is_its_own_key(name: str) -> None:
    assert entity_key(name)
    assert entity_key(entity_key(name)) == entity_key(name)


@given(names())
@example("a.b.")
@settings(max_examples=100)
def test_a_name_is_spelled_so_that_it_reads_back(name: str) -> None:
    assert read_name(spell(name)) == name
    assert parse(render(Fact(Kind.WORLD, "x", (name,)))) == Fact(Kind.WORLD, "x", (name,))


def test_a_simple_name_is_spelled_simply() -> None:
    assert [spell(name) for name in ("Peter", "Имя", "爱丽丝", "C++")] == ["@Peter", "@Имя", "@爱丽丝", "@C++"]
    assert [spell(name) for name in ("Alex Chen", "Dr.", "@x")] == ["[[Alex Chen]]", "[[Dr.]]", "[[@x]]"]


def test_a_link_points_at_a_page() -> None:
    pairs = {"A": "A", " A  B ": "A B", "A#H": "A", "A|b": "A", "A#H|b": "A", "#H": ""}
    assert {inside: link_target(inside) for inside in pairs} == pairs


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Alex Chen", "Alex-Chen"),
        ("Остров Чайкин", "Остров-Чайкин"),
        ("爱丽丝", "爱丽丝"),
        ("C++", "C++"),
        ("node.js", "node.js"),
        ("O'Neill & Sons", "O'Neill-Sons"),
        ("../../etc/passwd", "etc-passwd"),
        ("a/b\\c:d", "a-b-c-d"),
        ("...", "unnamed"),
        ("x" * 200, "x" * 80),
        (unicodedata.normalize("NFD", "Ёж"), "Ёж"),
    ],
)
def test_the_file_name_of_an_entity(name: str, expected: str) -> None:
    assert slug(name) == expected


@given(names())
@settings(max_examples=100)
def test_a_file_name_never_leads_out_of_its_folder(name: str) -> None:
    made = slug(name)
    assert made
    assert not set(made) & set('/\\:*?"<>|\0')
    assert not made.startswith(".")
    assert made == made.strip()


# -- plain mentions ---------------------------------------------------------------------------------------------------


def known(*listed: tuple[str, str]) -> dict[str, list[Listed]]:
    """(name or alias, entity) pairs as the index hands them over."""
    return by_head((stem_head(name), Listed(stem_key(name), name, entity)) for name, entity in listed)


PEOPLE = known(
    ("Alex Chen", "Alex Chen"),
    ("Alex", "Alex Petrov"),
    ("Will", "Will"),
    ("Ирина", "Ирина Волкова"),
    ("Пётр", "Пётр"),
    ("Петров", "Петров"),
    ("爱丽丝", "Alice"),
    ("Alice", "Alice"),
    ("gull spit", "Gull Spit"),
    ("Sam", "Sam One"),
    ("Sam", "Sam Two"),
)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("Alex Chen called", ("Alex Chen",)),  # longest first
        ("Alex called Alex Chen", ("Alex Petrov", "Alex Chen")),
        ("what will Will like", ("Will",)),
        ("what will happen", ()),
        ("Gull Spit, GULL SPIT, gull spit", ("Gull Spit",)),
        ("Написала Ирине и видела Ирину", ("Ирина Волкова",)),
        ("我和爱丽丝开会", ("Alice",)),
        ("爱吃面的人", ()),
        ("Alice и 爱丽丝", ("Alice",)),
        ("Спроси Петрова, а не Петра", ("Петров", "Пётр")),  # a surname is not the name in it
        ("Sam called", ()),  # two bear it
        ("Alexander", ()),  # whole words only
        ("", ()),
    ],
)
def test_a_plain_mention_of_a_known_name(text: str, named: tuple[str, ...]) -> None:
    assert find_names(text, PEOPLE) == named
    assert not named or heads(text) & set(PEOPLE)


def test_without_known_names_nobody_is_named() -> None:
    assert find_names("Alex Chen called", {}) == ()


@given(texts())
@settings(max_examples=100)
def test_only_what_is_looked_up_is_found(text: str) -> None:
    """A name found stands under a head that `heads` gives, so that the index need not be read whole."""
    some = {head: PEOPLE[head] for head in heads(text) & set(PEOPLE)}
    assert find_names(text, some) == find_names(text, PEOPLE)


def test_backticks_without_end_take_no_time() -> None:
    assert growth(mentions, lambda n: "@" + "`" * n) < 3
