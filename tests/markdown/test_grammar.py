"""The line grammar.

    KIND[(attributes)] [@Entity …]: narrative, self-contained text

KIND is W world, B experience, O opinion, S observation. Attributes are `key=value`, separated by commas, quoted where
needed. What `parse` understands, `render` writes so that `parse` understands the same; what it does not understand is
a Problem that says where, what and what to write instead. It never raises.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import date

import pytest
from hypothesis import example, given, settings, strategies as st
from strategies import HOSTILE, RAW, examples, facts, growth, texts

from memctl.facts import Citation, Fact, Kind, Period, is_trusted
from memctl.markdown.attributes import ATTRIBUTES
from memctl.markdown.grammar import Problem, parse, printable_line, render, with_attributes

W, B, O, S = Kind.WORLD, Kind.EXPERIENCE, Kind.OPINION, Kind.OBSERVATION  # noqa: E741

# A line, and the fact that it spells.
UNDERSTOOD = [
    # The head: a kind, perhaps entities, a colon. Space is free around all of them.
    ("W: Water is wet.", Fact(W, "Water is wet.")),
    ("B: Fixed the build.", Fact(B, "Fixed the build.")),
    ("O: Tabs are better.", Fact(O, "Tabs are better.")),
    ("S: A busy week.", Fact(S, "A busy week.")),
    ("  W  @Peter :  is in Oslo  ", Fact(W, "is in Oslo", ("Peter",))),
    ("W:no space", Fact(W, "no space")),
    ("W: a: b: c", Fact(W, "a: b: c")),
    # Entities: @Name in any script, [[Wiki Link]], several, each once.
    ("W @Peter @Анна: met", Fact(W, "met", ("Peter", "Анна"))),
    ("W @爱丽丝：住在北京", Fact(W, "住在北京", ("爱丽丝",))),
    ("B @Ирина: Починила сборку.", Fact(B, "Починила сборку.", ("Ирина",))),
    ("W [[Gull Spit]]: is an island", Fact(W, "is an island", ("Gull Spit",))),
    ("W [[Alex Chen#Work|Alex]] @x: met", Fact(W, "met", ("Alex Chen", "x"))),
    ("W @a@b: joined", Fact(W, "joined", ("a", "b"))),
    ("W @Peter @Peter: once", Fact(W, "once", ("Peter",))),
    ("W @node.js @R&D @a/b @c+d: names", Fact(W, "names", ("node.js", "R&D", "a/b", "c+d"))),
    ("W [[a: b]]: colons in links", Fact(W, "colons in links", ("a: b",))),
    # Attributes.
    ("O(c=0.95) @Peter: Prefers tea.", Fact(O, "Prefers tea.", ("Peter",), confidence=0.95)),
    ("O(0.9): A bare number is the confidence.", Fact(O, "A bare number is the confidence.", confidence=0.9)),
    ("O(.5): x", Fact(O, "x", confidence=0.5)),
    ("O( 0.9 , key = db ): x", Fact(O, "x", confidence=0.9, key="db")),
    ("W(key=db): PostgreSQL", Fact(W, "PostgreSQL", key="db")),
    ("W(t=2025-11-27..2025-12-01): x", Fact(W, "x", valid=Period(date(2025, 11, 27), date(2025, 12, 1)))),
    ("W(t=2025-11): x", Fact(W, "x", valid=Period(date(2025, 11, 1), date(2025, 11, 30)))),
    ("W(t=2025-11-27..): x", Fact(W, "x", valid=Period(date(2025, 11, 27), None))),
    ("W(t=..2025-11-27): x", Fact(W, "x", valid=Period(None, date(2025, 11, 27)))),
    ("W(t=2024): x", Fact(W, "x", valid=Period(date(2024, 1, 1), date(2024, 12, 31)))),
    ("W(i=0.8): x", Fact(W, "x", importance=0.8)),
    ('B(outcome=ok,task="deploy, twice",why=tests): x', Fact(B, "x", outcome="ok", task="deploy, twice", why="tests")),
    ("B(outcome=fail): x", Fact(B, "x", outcome="fail")),
    ("O(for=f-1a2b3c4d,for=^o-2,against=f-3): x", Fact(O, "x", supports=("f-1a2b3c4d", "o-2"), refutes=("f-3",))),
    ("W(supersedes=f-1,corrects=f-2): x", Fact(W, "x", supersedes=("f-1",), corrects=("f-2",))),
    ("W(until=2025-12-01): x", Fact(W, "x", until=date(2025, 12, 1))),
    ("W(until=2025-12): x", Fact(W, "x", until=date(2025, 12, 31))),
    ("W(src=web:example.com): x", Fact(W, "x", source="web:example.com")),
    ("W(ttl=90d,private): x", Fact(W, "x", ttl="90d", private=True)),
    ("W(private=true): x", Fact(W, "x", private=True)),
    ('W(cue="short answers, not essays",cue=кратко): x', Fact(W, "x", cues=("short answers, not essays", "кратко"))),
    # What a later version may add is kept, in its order.
    ("W(mood=good,x=): t", Fact(W, "t", extra=(("mood", "good"), ("x", "")))),
    # Quotes protect everything; a backslash protects quotes and itself.
    (r'W(key="a, (b) \"c\" \\ d"): x', Fact(W, "x", key='a, (b) "c" \\ d')),
    ('W(key=" "): x', Fact(W, "x", key=" ")),
    # Full-width punctuation, as a Chinese keyboard gives it.
    ("O（c=0.8，key=饮料） @爱丽丝：喜欢茶", Fact(O, "喜欢茶", ("爱丽丝",), confidence=0.8, key="饮料")),
    # An Obsidian block id at the end is the line's id; a backslash makes it text.
    ("W: x ^abc123", Fact(W, "x", block_id="abc123")),
    ("W: x ^a ^b", Fact(W, "x ^a", block_id="b")),
    ("W: x \\^abc", Fact(W, "x ^abc")),
    ("W: 2^8", Fact(W, "2^8")),
    ("W: x ^not_an_id", Fact(W, "x ^not_an_id")),
    ("W: x  ^abc-1", Fact(W, "x", block_id="abc-1")),
    ("W: x ^", Fact(W, "x ^")),
    ("W: x ^abc y", Fact(W, "x ^abc y")),
    ("W: x \\\\^abc", Fact(W, "x \\^abc")),
    ("W: x ^" + "a" * 64, Fact(W, "x", block_id="a" * 64)),
    ("W: x ^" + "a" * 65, Fact(W, "x ^" + "a" * 65)),
    # Loose lists.
    ("W(): x", Fact(W, "x")),
    ("W(,key=a,): x", Fact(W, "x", key="a")),
]


@pytest.mark.parametrize(("line", "fact"), UNDERSTOOD, ids=[line for line, _ in UNDERSTOOD])
def test_a_line_spells_a_fact(line: str, fact: Fact) -> None:
    assert parse(line) == fact
    assert parse(render(fact)) == fact


# A line that is no fact; the column of what is wrong; a word of the message; a word of the suggestion.
MISUNDERSTOOD = [
    ("", 1, "no kind", "W: text"), ("Just prose", 1, "no kind", "W: Just prose"),
    ("X: unknown", 1, "unknown kind", "W, B, O and S"), ("w: small", 1, "capital", "W, B, O or S"),
    ("o(0.9) @Peter: small", 1, "capital", "W, B, O or S"), ("W(key=db: x", 1, "never closed", "close"),
    ("W(key=db) x", 1, "no colon", "W(key=db) @Name"), ("W @Peter is here", 1, "no colon", "W @Entity: text"),
    ('W(key="db): x', 1, "cannot be read", "quoted"), ('W(key=a "b" c): x', 3, "cannot read", "quote"),
    ("W:", 3, "without text", "after the colon"), ("W: ^abc", 4, "without text", "after the colon"),
    ("O(c=2): x", 3, "from 0 to 1", "c=0.9"), ("O(c=high): x", 3, "from 0 to 1", ""), ("W(i=-1): x", 3, "from 0 to 1", "i=0.8"),
    ("W(0.9): x", 3, "not key=value", "quote"), ("O(yes): x", 3, "not key=value", "quote"),
    ("W(key=): x", 3, "empty value", "key=db"), ("W(key=a,key=b): x", 3, "twice", "key=db"),
    ("W(t=yesterday): x", 3, "2025-11-27..2025-12-01", "t=2025-11-27"), ("W(t=2025-13): x", 3, "not a day", ""),
    ("W(t=2025-12-01..2025-11-27): x", 3, "not a day", ""), ("W(until=2025-11-27..): x", 3, "no last day", "until=2025-12-01"),
    ("B(outcome=maybe): x", 3, "not ok or fail", "outcome=ok"), ("W(for=a b): x", 3, "not an id", "for=f-1a2b3c4d"),
    ("W(src=gossip): x", 3, "user, agent", "src=web"), ("W(ttl=soon): x", 3, "90d", "ttl=90d"),
    ("W(private=no): x", 3, "takes no value", "private"), ("W(sealed=no): x", 3, "takes no value", "sealed"),
    ("W [[#Heading]]: x", 2, "without a page", "[[Name]]"),
]  # fmt: skip


@pytest.mark.parametrize(("line", "column", "message", "suggestion"), MISUNDERSTOOD, ids=[m[0] for m in MISUNDERSTOOD])
def test_what_is_no_fact_says_why_and_what_to_write(line: str, column: int, message: str, suggestion: str) -> None:
    problem = parse(line)
    assert isinstance(problem, Problem)
    assert problem.column == column
    assert message in problem.message
    assert suggestion in problem.suggestion
    assert problem.suggestion


def test_every_attribute_of_the_contract_is_known() -> None:
    """c key t i outcome task why for against supersedes corrects until src ttl; cue; and private and sealed, which have no value."""
    contract = "c key t i outcome task why for against supersedes corrects by settles until src ttl cue"
    assert {each.name for each in ATTRIBUTES} == {*contract.split(), "private", "sealed"}
    assert {each.name: each.kinds for each in ATTRIBUTES if each.kinds != "WBOS"} == {
        "c": "O", "key": "WO", "outcome": "B",
    }  # fmt: skip


ROUND_TRIP = """parse(render(fact)) == fact, whatever stands in the text, the names and the values."""


@given(facts())
@example(Fact(W, "x ^a", block_id="b"))
@example(Fact(W, "\\^a"))
@example(Fact(W, "^a"))
@example(Fact(O, "x", confidence=1e-18, importance=0.1 + 0.2))
@example(Fact(W, "x", ("@a", "b]c".replace("]", ")"), "Dr."), extra=(("a", '"'), ("b", "\\"))))
@settings(max_examples=examples(5000, part=200))
def test_a_fact_survives_being_written_and_read(fact: Fact) -> None:
    assert parse(render(fact)) == fact, ROUND_TRIP


def heads() -> st.SearchStrategy[str]:
    """Lines that are nearly of the grammar."""
    pieces = st.lists(st.one_of(st.sampled_from(HOSTILE), RAW), max_size=4).map("".join)
    middle = st.sampled_from(["", " @a", "(", "(c=1)"])
    return st.builds("{}{}{}{}{}".format, st.sampled_from("WBOSwX"), pieces, middle, pieces, texts(3))


@given(st.one_of(heads(), texts(), RAW))
@example("W(a=\\)): x")
@example("W(a\\=1): x")
@example("O(c=٠.٥): x")
@settings(max_examples=examples(300))
def test_any_string_is_a_fact_or_a_problem(line: str) -> None:
    """And where it is a fact, render spells that fact again, on one line if the line was one."""
    read = parse(line)
    if isinstance(read, Fact):
        assert parse(render(read)) == read
        assert "\n" in line or "\n" not in render(read)
    else:
        assert 1 <= read.column <= len(line) + 1
        assert read.message
        assert read.suggestion


# Strings on which a careless pattern takes quadratic time or worse; n is about their length.
SLOW: dict[str, Callable[[int], str]] = {
    "closing parentheses": lambda n: "W(" + ")" * n + ":",
    "parentheses": lambda n: "W(" + "()" * (n // 2) + ":",
    "quotes": lambda n: "W(" + '"' * (n | 1),
    "backslashes": lambda n: "W(" + "\\" * n,
    "spaces before a quote": lambda n: "W(a=" + " " * n + '"x"y): t',
    "spaces in the list": lambda n: "W(" + " " * n + '"x"y): t',
    "spaces": lambda n: "W" + " " * n + "x",
    "entities without a colon": lambda n: "W" + " @a" * (n // 3) + "!:",
    "entities and spaces": lambda n: "W" + (" @a" + " " * 20) * (n // 23) + "x",
    "one long name": lambda n: "W @" + "a." * (n // 2) + ":",
    "open links": lambda n: "W" + " [[a" * (n // 4),
    "block ids": lambda n: "W: " + " ^a" * (n // 3) + "!",
    "backslashes before an id": lambda n: "W: " + " \\" * (n // 2) + "^a b",
    "attributes": lambda n: "W(" + "a=1," * (n // 4) + "): x",
    "equals signs": lambda n: "W(" + "a=" * (n // 2) + '"): x',
    "commas": lambda n: "W(" + "," * n + '"): x',
    "small kind": lambda n: "w" + " @a" * (n // 3),
    "unknown kind": lambda n: "X(" + ")" * n + " @a" * 9,
}


@pytest.mark.parametrize("name", SLOW)
def test_time_grows_with_the_length_and_not_with_its_square(name: str) -> None:
    assert growth(parse, SLOW[name]) < 3


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2025", Period(date(2025, 1, 1), date(2025, 12, 31))),
        ("2024-02", Period(date(2024, 2, 1), date(2024, 2, 29))),
        ("2025-11-27", Period(date(2025, 11, 27), date(2025, 11, 27))),
        ("2024..2025-02", Period(date(2024, 1, 1), date(2025, 2, 28))),
        ("2025..", Period(date(2025, 1, 1), None)),
        ("..2025", Period(None, date(2025, 12, 31))),
        ("9999-12", Period(date(9999, 12, 1), date(9999, 12, 31))),
        ("", None),
        ("..", None),
        ("2025-1-1", None),
        ("2025-02-30", None),
        ("0000", None),
        ("2026..2025", None),
        ("2025-11-272025", None),
    ],
)
def test_periods_are_days_months_years_and_ranges_with_both_ends_included(text: str, expected: Period | None) -> None:
    assert Period.parse(text) == expected


@given(st.dates(), st.dates())
@example(date(1, 1, 1), date(9999, 12, 31))
@example(date(9999, 12, 1), date(9999, 12, 31))
@example(date(12, 3, 1), date(12, 3, 31))
def test_a_period_is_spelled_as_it_is_read(one: date, other: date) -> None:
    first, last = sorted((one, other))
    for period in (Period(first, last), Period(first, None), Period(None, last), Period(first, first)):
        assert Period.parse(str(period)) == period


def test_the_shortest_spelling_of_a_period() -> None:
    spellings = ["2025", "2025-11", "2025-11-27", "2025-11-27..2025-12-01", "2025-11-27..", "..2025-11-27"]
    assert [str(Period.parse(text)) for text in spellings] == spellings
    assert str(Period()) == ".."


@given(RAW)
def test_one_line_holds_no_control_character_and_no_double_space(text: str) -> None:
    made = printable_line(f"a{text}\n\tb")
    assert made.isprintable() or all(char.isprintable() or char > "\x9f" for char in made)
    assert "  " not in made
    assert len(made.splitlines()) == 1
    made.encode()


def test_flags_set_attributes_by_name() -> None:
    """`retain --confidence 0.9 --for f-1 --for f-2`: the same values as in a line, with the same errors."""
    fact = Fact(O, "x", importance=0.3)
    assert with_attributes(fact, {}) == fact
    made = with_attributes(fact, {"c": ["0.9"], "for": ["f-1", "^f-2"], "private": ["true"]})
    assert made == replace(fact, confidence=0.9, supports=("f-1", "f-2"), private=True)
    wrong = with_attributes(fact, {"c": ["9"]})
    assert isinstance(wrong, Problem)
    assert wrong.message.startswith("--confidence: ")
    assert isinstance(with_attributes(fact, {"key": ["a", "b"]}), Problem)


def test_kinds_have_letters_and_names() -> None:
    assert [Kind.of(word) for word in ("W", "b", "Opinion", "observation", "NOTE")] == [W, B, O, S, Kind.NOTE]
    assert [kind.letter for kind in Kind] == ["W", "B", "O", "S", ""]
    with pytest.raises(ValueError, match="pod"):
        Kind.of("Pod")


def test_periods_hold_days_and_meet() -> None:
    november = Period(date(2025, 11, 1), date(2025, 11, 30))
    assert november.holds(date(2025, 11, 1))
    assert november.holds(date(2025, 11, 30))
    assert not november.holds(date(2025, 12, 1))
    assert not november.holds(date(2025, 10, 31))
    assert Period().holds(date.max)
    assert november.meets(Period(date(2025, 11, 30), None))
    assert not november.meets(Period(date(2025, 12, 1), None))
    assert november.meets(Period(None, date(2025, 11, 1)))
    assert not november.meets(Period(None, date(2025, 10, 31)))
    assert Period().meets(november)


@pytest.mark.parametrize(
    ("text", "spelled"),
    [
        ("memory/2025-11-27.md#L12", "memory/2025-11-27.md#L12"),
        ("memory/2025-11-27.md#L12-L14", "memory/2025-11-27.md#L12-L14"), ("memory/a b.md#L12-14", "memory/a b.md#L12-L14"),
        (" bank/world.md:7 ", "bank/world.md#L7"), ("bank/world.md:7:3", "bank/world.md#L7"), ("a.md#L9-L3", "a.md#L9"),
        ("a.md", None), ("#L3", None), ("f-1a2b3c4d", None),
    ],
)  # fmt: skip
def test_a_citation_is_read_in_the_spellings_of_memctl_github_and_rg(text: str, spelled: str | None) -> None:
    citation = Citation.parse(text)
    assert (str(citation) if citation else None) == spelled


def test_what_came_from_outside_is_not_trusted() -> None:
    assert [is_trusted(source) for source in (None, "user", "agent", "owner")] == [True] * 4
    assert [is_trusted(source) for source in ("tool", "web:x.org", "import", "import:mem0")] == [False] * 4


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("O(0,7): Kurz ist besser", "O(0.7): Kurz ist besser"), ("O(c=0,85,i=0,5) @Анна: Любит чай", "O(0.85,i=0.5) @Анна: Любит чай"),
        ("W(i=0,5,private): 喜欢茶", "W(i=0.5,private): 喜欢茶"), ("O(1,0,key=a): Tea", "O(1.0,key=a): Tea"),
    ],
)  # fmt: skip
def test_a_decimal_comma_is_read_where_nothing_else_can_be_meant(written: str, read: str) -> None:
    assert isinstance(parse(read), Fact) and parse(written) == parse(read)
    for wrong in ("O(0,7,8): x", "W(0,7): x", "O(2,7): x", "W(key=0,7): x", "O(0, 7): x"):
        assert isinstance(parse(wrong), Problem)
