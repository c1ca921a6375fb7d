"""Names of entities as they are written: `@Имя`, `@爱丽丝`, `[[Wiki Link]]`; their spellings meet whatever their case and accents."""

from __future__ import annotations

import unicodedata

import pytest
from counting import call_growth
from hypothesis import example, given, settings
from strategies import examples, names

from memctl.facts import Fact, Kind
from memctl.language.names import entity_key, link_target, mentions, read_name, script_of, slug, spell
from memctl.markdown.grammar import parse, render


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("ask @Peter.", ("Peter",)), ("(@Peter, @Анна) и @爱丽丝！", ("Peter", "Анна", "爱丽丝")),
        ("@node.js and @a-b/c", ("node.js", "a-b/c")), ("[[Gull Spit]] and [[Gull Spit#North|the north]]", ("Gull Spit",)),
        ("@[[Alex Chen]]", ("Alex Chen",)), ("@Peter and @Peter", ("Peter",)), ("mail bob@example.com", ()),
        ("path/@x or user.@x", ()), ("[[#Heading]] here", ()), ("[[a [[b]] c]]", ("b",)),
        ("in `@code` and ``[[code]]`` and `unclosed @Open", ("Open",)), ("nobody", ()), ("@ alone, @@", ()),
    ],
)  # fmt: skip
def test_names_written_in_running_text(text: str, named: tuple[str, ...]) -> None:
    assert mentions(text) == named


@pytest.mark.parametrize(("text", "script"), [
    ("Vive en Ávila", "latin"), ("на PostgreSQL", "cyrillic"), ("PostgreSQL 用于", "han"), ("Ελλάδα", "greek"), ("2025, …", "latin"),
])  # fmt: skip
def test_the_script_of_a_text(text: str, script: str) -> None:
    assert script_of(text) == script


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
@settings(max_examples=examples(100))
def test_a_key_is_never_empty_and_is_its_own_key(name: str) -> None:
    assert entity_key(name)
    assert entity_key(entity_key(name)) == entity_key(name)


@given(names())
@example("a.b.")
@settings(max_examples=examples(100))
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
@settings(max_examples=examples(100))
def test_a_file_name_never_leads_out_of_its_folder(name: str) -> None:
    made = slug(name)
    assert made
    assert not set(made) & set('/\\:*?"<>|\0')
    assert not made.startswith(".")
    assert made == made.strip()


def test_backticks_without_end_take_no_time() -> None:
    assert call_growth(mentions, lambda n: "@" + "`" * n) < 2.5
