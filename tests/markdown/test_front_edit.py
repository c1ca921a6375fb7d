"""Editing front matter: one key changes, it reads back as meant, and every other byte of the page stays."""

from __future__ import annotations

import pytest
from hypothesis import assume, example, given, strategies as st

from memctl.language.names import entity_key
from memctl.markdown.front_matter import front_values, with_names, with_value


def aliases(text: str) -> list[str]:
    """The names that a page lists."""
    found = front_values(text).get("aliases", [])
    return found if isinstance(found, list) else [found] if found else []


FORMS = {
    "flow": ("aliases: [陈立, 老陈]", "aliases: [陈立, 老陈, Чэнь Ли]"),
    "flow with a last comma": ("aliases: [a, b, ]", "aliases: [a, b, Чэнь Ли, ]"),
    "flow over lines": (
        "aliases: [\n  a, # first\n  b  # last\n]",
        "aliases: [\n  a, # first\n  b, Чэнь Ли  # last\n]",
    ),
    "flow, in single quotes": ("aliases: ['a', 'b']", "aliases: ['a', 'b', 'Чэнь Ли']"),
    "flow, in double quotes": ('aliases: ["a"]', 'aliases: ["a", "Чэнь Ли"]'),
    "empty flow": ("aliases: []  # nobody yet", "aliases: [Чэнь Ли]  # nobody yet"),
    "empty flow with a comment": ("aliases: [ # none\n]", "aliases: [Чэнь Ли # none\n]"),
    "block": ("aliases:\n  - a\n  - b # the second", "aliases:\n  - a\n  - b # the second\n  - Чэнь Ли"),
    "block, not indented": ("aliases:\n- a\n- b", "aliases:\n- a\n- b\n- Чэнь Ли"),
    "block, wide": ("aliases:\n    -   a", "aliases:\n    -   a\n    -   Чэнь Ли"),
    "block with an empty line": ("aliases:\n  - a\n\n  - b\n", "aliases:\n  - a\n\n  - b\n  - Чэнь Ли\n"),
    "block with an empty item": ("aliases:\n  - a\n  -", "aliases:\n  - a\n  -\n  - Чэнь Ли"),
    "no value": ("aliases:", "aliases:\n- Чэнь Ли"),
    "no value, a comment": ("aliases:   # later\n  # or never", "aliases:   # later\n- Чэнь Ли\n  # or never"),
    "no key": ("# mine\ntags: [x]", "# mine\ntags: [x]\naliases:\n  - Чэнь Ли"),
}


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"], ids=["LF", "CRLF", "CR"])
@pytest.mark.parametrize("form", FORMS)
def test_a_list_keeps_its_form(form: str, newline: str) -> None:
    """One name more, where a person would have put it; taken out again, the old bytes are back."""
    page = "\ufeff---\ntype: person\n{}\nborn: 1970 # about\n---\n\n# Chen\n\nbody\n".replace("\n", newline)
    before, after = (page.format(part.replace("\n", newline)) for part in FORMS[form])
    if form == "no key":
        before, after = (text.replace("born: 1970 # about" + newline, "") for text in (before, after))
    made = with_names(before, add=["Чэнь Ли"])
    assert made == after
    assert "Чэнь Ли" in aliases(made)
    assert with_names(made, remove=["чэнь-ли"]) == before


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("aliases: Bob # him", "aliases: [Bob, Чэнь Ли] # him"),
        ('aliases: "Bob, the elder"', 'aliases: ["Bob, the elder", "Чэнь Ли"]'),
        ("aliases: Bob, the elder", 'aliases: ["Bob, the elder", "Чэнь Ли"]'),
        ("aliases: ''", "aliases: [Чэнь Ли]"),
        ("aliases:\n  Bob\n  Brown", "aliases:\n  [Bob Brown, Чэнь Ли]"),
    ],
)
def test_a_single_name_becomes_a_list(before: str, after: str) -> None:
    """`aliases: Bob` is a list of one; written as one, it stays so."""
    page = "---\n{}\ntype: person\n---\n# x\n"
    made = with_names(page.format(before), add=["Чэнь Ли"])
    assert made == page.format(after)
    assert aliases(with_names(made, remove=["Чэнь Ли"])) == aliases(page.format(before))


@pytest.mark.parametrize(
    "body", ["# Chen\n", "", "\n\n# Chen", "\r\n# Chen\r\n", "---\nno end of it\n", "\ufeff# Chen\n", "\ufeff"]
)
def test_front_matter_is_made_above_the_page(body: str) -> None:
    """And goes with the last name in it."""
    made = with_names(body, add=["陈立"])
    assert aliases(made) == ["陈立"]
    assert made.endswith(body.removeprefix("\ufeff"))
    assert made.startswith("\ufeff") == body.startswith("\ufeff")
    assert with_names(made, remove=["陈立"]) == body
    merged = with_value(body, "merged_into", "Alex Chen")
    assert front_values(merged)["merged_into"] == "Alex Chen"
    assert with_value(merged, "merged_into", None) == body


def test_where_the_old_bytes_do_not_come_back() -> None:
    """Front matter that held nothing goes with the last name; a single name stays a list."""
    assert with_names(with_names("---\n---\nbody", add=["a"]), remove=["a"]) == "body"
    assert with_names(with_names("---\naliases: b\n---\n", add=["a"]), remove=["a"]) == "---\naliases: [b]\n---\n"
    assert with_names("---\naliases: b\n---\n", remove=["B"]) == "---\naliases:\n---\n"


def test_a_name_is_listed_once() -> None:
    """Whatever its case, its accents, and its separators."""
    page = "---\naliases: [Gull-Spit]\n---\n"
    assert with_names(page, add=["gull spit", "Gull_Spit"]) == page
    assert with_names("---\naliases: Ёлка\n---\n", add=["елка"]) == "---\naliases: Ёлка\n---\n"
    twice = "---\naliases: [Bob, bob, Rob]\n---\n"
    assert with_names(twice, remove=["BOB"]) == "---\naliases: [Rob]\n---\n"


@pytest.mark.parametrize(
    ("before", "name", "after"),
    [
        ("aliases: [a, b, c]", "a", "aliases: [b, c]"),
        ("aliases: [a, b, c]", "b", "aliases: [a, c]"),
        ("aliases: [a,]", "a", "aliases: []"),
        ("aliases: [a, # one\n b]", "b", "aliases: [a # one\n ]"),
        ("aliases: [a # one\n , b]", "a", "aliases: [# one\n , b]"),
        ("aliases:\n  - a\n  # about b\n  - b\n", "a", "aliases:\n  # about b\n  - b\n"),
        ("aliases:\n  - a b\n    c\nx: y", "a b c", "x: y"),
        ("aliases: [a]", "z", "aliases: [a]"),
        ("other: [a]", "a", "other: [a]"),
        ("aliases: Bob", "Rob", "aliases: Bob"),
    ],
)
def test_removing(before: str, name: str, after: str) -> None:
    """One comma goes with a name; comments about the others stay."""
    page = "---\n{}\nt: z\n---\n"
    try:
        assert with_names(page.format(before), remove=[name]) == page.format(after)
    except ValueError:
        assert "# one\n ," in before  # `[, b]` is no YAML: refused, not broken


SPELLED = {
    "O'Brien": "O'Brien", "C#": "C#", "C++": "C++", "K-417": "K-417", "a: b": '"a: b"', "a, b": '"a, b"', "#1": '"#1"',
    "a #b": '"a #b"', "@Peter": '"@Peter"', "no": '"no"', "Null": '"Null"', "1.10": '"1.10"', "2025-11-27": '"2025-11-27"',
    "-x": '"-x"', 'the "Boss"': 'the "Boss"', '"Boss"': r'"\"Boss\""', "a\\b": "a\\b", "a\u2028b": r'"a\u2028b"', "[x]": '"[x]"',
    "%": '"%"', "爱丽丝 🐦": "爱丽丝 🐦",
}  # fmt: skip


@pytest.mark.parametrize("name", SPELLED)
def test_names_are_quoted_where_yaml_needs_it(name: str) -> None:
    """And where one reader would see a number, a date or a truth value and another a word."""
    assert with_names("---\naliases: []\n---\n", add=[name]) == f"---\naliases: [{SPELLED[name]}]\n---\n"
    assert aliases(with_names("", add=[name])) == [name]
    assert front_values(with_value("", "merged_into", name)) == {"merged_into": name}


@pytest.mark.parametrize(
    "page",
    [
        "---\n[not, a, mapping]\n---\n",
        "---\na: [\n---\n",
        "---\na: b: c\n---\n",
        "---\n{aliases: [a]}\n---\n",
        "---\naliases: |\n  a\n  b\n---\n",
        "---\naliases: {a: b}\n---\n",
        "---\nb: &x [p]\naliases: *x\n---\n",
        "---\naliases:\n  - [a]\n---\n",
        f"---\ntext: {'x' * 33_000}\n---\n",
    ],
)
def test_what_cannot_be_edited_is_refused(page: str) -> None:
    """With a reason of one line."""
    with pytest.raises(ValueError, match=r"\A[^\n]+\Z"):
        with_names(page, add=["Bob"])


@pytest.mark.parametrize(
    ("front", "names"),
    [
        ("? aliases\n: [a]", ["a", "Bob"]),
        ("aliases: [a]\naliases: [b]", ["b", "Bob"]),
        ("aliases: &x [a]\nt: z", ["a", "Bob"]),
        ("aliases: [a, [b]]", ["a", "Bob"]),
    ],
)
def test_strange_lists_are_edited_too(front: str, names: list[str]) -> None:
    """As long as it is clear what the page says."""
    assert aliases(with_names(f"---\n{front}\n---\n", add=["Bob"])) == names


@pytest.mark.parametrize("name", ["", " ", "a\nb", "a\x00", "\udc80"])
def test_what_is_no_name_is_refused(name: str) -> None:
    """Nothing that could forge a line or is no text."""
    with pytest.raises(ValueError, match="not a name"):
        with_names("# x\n", add=[name])


@pytest.mark.parametrize(
    ("before", "value", "after"),
    [
        ("merged_into: a # why\nt: z", "b", "merged_into: b # why\nt: z"),
        ("merged_into: 'a'\nt: z", "b", "merged_into: 'b'\nt: z"),
        ("merged_into:\nt: z", "b", "merged_into: b\nt: z"),
        ("merged_into:\n  - a\n  # c\n  - b\nt: z", "b", "merged_into: b\nt: z"),
        ("merged_into: |\n  a\nt: z", "b", "merged_into: b\nt: z"),
        ("merged_into: >\n  a\n\n\nt: z", None, "t: z"),
        ("merged_into: {a: [b]}\nt: z", None, "t: z"),
        ("merged_into:\n  a:\n    - b\n    - c\nt: z", None, "t: z"),
        ("  x: y\n  t: z", "b", "  x: y\n  t: z\n  merged_into: b"),
    ],
)
def test_a_value_is_set_and_taken_out(before: str, value: str | None, after: str) -> None:
    """Whatever stood there."""
    assert with_value(f"---\n{before}\n---\nbody", "merged_into", value) == f"---\n{after}\n---\nbody"


def test_front_matter_stays_readable() -> None:
    """What would grow too long to be read, and a value of several lines, is refused."""
    with pytest.raises(ValueError, match="over 32 KiB"):
        with_names(f"---\naliases: [{'x' * 32_700}]\n---\n", add=["y" * 60])
    with pytest.raises(ValueError, match="one line"):
        with_value("", "merged_into", "a\nb")


def test_bytes_that_are_no_utf_8_survive() -> None:
    """A page is decoded with surrogateescape; its own key may hold such bytes too."""
    page = b"---\naliases: [Zo\xeb, Ann]\nborn: \xff\n---\n\xfe body".decode("utf-8", "surrogateescape")
    made = with_names(page, add=["Bob"], remove=["Ann"])
    assert made.encode("utf-8", "surrogateescape") == b"---\naliases: [Zo\xeb, Bob]\nborn: \xff\n---\n\xfe body"
    single = b"---\naliases: Zo\xeb, x\n---\n".decode("utf-8", "surrogateescape")
    with pytest.raises(ValueError, match="UTF-8"):
        with_names(single, add=["Bob"])


NAMES = st.one_of(
    st.sampled_from(
        ["Ann", "Анна Каренина", "陈立", "O'Brien", "C#", "a: b", "no", "1.10", "x, y", '"q"', "- z", "# h"]
    ),
    st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=12).filter(str.strip),
)
OTHERS = st.lists(
    st.sampled_from(
        ["type: person", "# a comment", "", "tags: [x, 'y z'] # t", "n:\n  m:\n    - 1\n    - 2", "q: |\n  a\n\n  b"]
    ),
    max_size=3,
    unique_by=lambda line: line[:2],
)
LISTS = st.sampled_from(
    [
        "", "aliases: []", "aliases:", "aliases: [p, 'q r']", 'aliases:\n  - p\n  - "q"', "aliases:\n- p # c",
        "aliases: [\n p,\n q,\n]",
    ]
)  # fmt: skip
BODIES = st.text(st.characters(exclude_characters="\r"), max_size=40)


@given(
    before=OTHERS,
    own=LISTS,
    after=OTHERS,
    body=BODIES,
    crlf=st.booleans(),
    bom=st.booleans(),
    names=st.lists(NAMES, max_size=3),
)
@example(before=[], own="", after=[], body="", crlf=False, bom=False, names=["a"])
def test_only_the_key_changes(
    before: list[str], own: str, after: list[str], body: str, crlf: bool, bom: bool, names: list[str]
) -> None:
    """Any names, any page: what stands before and behind the list is the same bytes; adding and removing is undone."""
    assume(not any(line and line[:2] in {other[:2] for other in before} for line in after))
    end = "\r\n" if crlf else "\n"
    head, tail = (end.join([*lines, ""]).replace("\r\n", "\n").replace("\n", end) for lines in (before, after))
    top = ("\ufeff" if bom else "") + f"---{end}{head}"
    bottom = f"{tail}---{end}" + body.replace("\n", end)
    page = top + (own + "\n" if own else "").replace("\n", end) + bottom
    had = aliases(page)
    names = list({entity_key(name): name for name in names if entity_key(name) not in map(entity_key, had)}.values())
    made = with_names(page, add=names)
    assert aliases(made) == had + names
    if own:
        assert made.startswith(top) and made.endswith(bottom)
    else:
        assert made.startswith(top + tail) and made.endswith(bottom.removeprefix(tail))
    merged = with_value(page, "merged_into", names[0] if names else "B")
    assert front_values(merged)["merged_into"] == (names[0] if names else "B")
    if own or before or after:
        assert with_names(made, remove=names) == page
        assert with_value(merged, "merged_into", None) == page


@given(st.text(st.sampled_from("ab :-[]{}#,'\"|>&*?\n\r \ufeff\u2028\udc80"), max_size=40), NAMES)
def test_anything_is_edited_rightly_or_refused(inside: str, name: str) -> None:
    """Front matter made of YAML's own marks: the result reads back as meant and the body is whole, or ValueError."""
    page = f"---\n{inside}\n---\nbody\n"
    try:
        made = with_names(page, add=[name])
    except ValueError:
        return
    assert entity_key(name) in map(entity_key, aliases(made))
    assert made.endswith("body\n")
    try:
        back = with_names(made, remove=[name])
    except ValueError:
        return
    assert entity_key(name) not in map(entity_key, aliases(back))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("---\r\ntype: person\naliases: [a]\r\n---\nx\n", "---\r\ntype: person\naliases: [a, b]\n---\nx\n"),
        ("---\r\ntype: person\r\naliases: a\n---\nx\n", "---\r\ntype: person\r\naliases: [a, b]\n---\nx\n"),
        ("", "---\naliases:\n  - b\n---\n"),
        ("---\n  aliases:\n---\n", "---\n  aliases:\n  - b\n---\n"),
        ("---\ntags: [x]\naliases: []\n---\n", "---\ntags: [x]\naliases: [b]\n---\n"),
    ],
)
def test_only_the_line_of_the_list_changes(text: str, expected: str) -> None:
    """Line ends of the others stay, though they are mixed; an empty page gets no empty line."""
    assert with_names(text, add=["b"]) == expected
