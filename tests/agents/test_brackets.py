"""Bracket commands: found however badly they are quoted, never where they only look alike."""

from __future__ import annotations

import pytest
from counting import call_growth
from hypothesis import given, strategies as st

from memctl.agents.brackets import COMMANDS, Command, read_reply


def one(text: str) -> Command:
    """The only command of a reply, which is to be done."""
    (found,) = read_reply(text).commands
    assert found.problem is None
    return found


QUOTED = [
    ('[SAVE_FACT key="city" value="Lisbon"]', "city", "Lisbon"),
    ("[SAVE_FACT key='city' value='Lisbon']", "city", "Lisbon"),
    ("[SAVE_FACT key=“city” value=“Lisbon”]", "city", "Lisbon"),
    ("[SAVE_FACT key=‘city’ value=‘Lisbon’]", "city", "Lisbon"),
    ("[SAVE_FACT key=«город» value=«Лиссабон»]", "город", "Лиссабон"),
    ("[SAVE_FACT key=„город“ value=„Лиссабон“]", "город", "Лиссабон"),
    ("【SAVE_FACT key=“城市” value=“里斯本，葡萄牙”】", "城市", "里斯本，葡萄牙"),
    ("［SAVE_FACT key＝「城市」 value＝『里斯本』］", "城市", "里斯本"),
    ("[SAVE_FACT key=city value=Lisbon]", "city", "Lisbon"),
    ("[SAVE_FACT key=city, value=Lisbon, Portugal]", "city", "Lisbon, Portugal"),
    ('[save_fact Key="city" VALUE="Lisbon"]', "city", "Lisbon"),
    ('[SAVE-FACT key="city" value="Lisbon" ]', "city", "Lisbon"),
    ('[SAVE_FACT: key: "city", value: "Lisbon"]', "city", "Lisbon"),
    ('[SAVE_FACT(key="city", value="Lisbon")]', "city", "Lisbon"),
    ('[SAVE_FACT {"key": "city", "value": "Lisbon"}]', "city", "Lisbon"),
    ('[SAVE_FACT\n  key="city"\n  value="Lisbon"\n]', "city", "Lisbon"),
    ('[SAVE_FACT value="Lisbon" key="city"]', "city", "Lisbon"),
    ('[SAVE_FACT key="city value="Lisbon"]', "city", "Lisbon"),
    ('[SAVE_FACT key="city" value="Lisbon]', "city", "Lisbon"),
    ('[SAVE_FACT key="city" value=Lisbon"]', "city", 'Lisbon"'),
    ('[SAVE_FACT key=“city" value="Lisbon”]', "city", "Lisbon"),
    ('[SAVE_FACT key="q" value="He said "hi" and left"]', "q", 'He said "hi" and left'),
    ('[SAVE_FACT key="q" value="He said \\"hi\\""]', "q", 'He said "hi"'),
    ("[SAVE_FACT key='q' value='it's Peter's']", "q", "it's Peter's"),
    ("[SAVE_FACT key=«q» value=«он сказал «привет» и ушёл»]", "q", "он сказал «привет» и ушёл"),
    ('[SAVE_FACT key="q" value="see [docs](a.md) and x["y"]"]', "q", 'see [docs](a.md) and x["y"]'),
    ('[SAVE_FACT key="q" value="a, b; c: d = e"]', "q", "a, b; c: d = e"),
    ('[SAVE_FACT key="q" value="two\nlines"]', "q", "two\nlines"),
    ('[SAVE_FACT key="q" value="Ask with [GET_FACT key=\\"q\\"]"]', "q", 'Ask with [GET_FACT key="q"]'),
]


@pytest.mark.parametrize(("text", "key", "value"), QUOTED, ids=[text for text, _, _ in QUOTED])
def test_quotation_marks_of_every_kind(text: str, key: str, value: str) -> None:
    """Single, curly, angular, Chinese, missing, unescaped, none."""
    reply = read_reply(f"Before. {text} After.")
    (found,) = reply.commands
    assert (found.name, found.values, found.problem) == ("SAVE_FACT", {"key": key, "value": value}, None)
    assert reply.text == "Before.  After."


LOOKALIKES = [
    "[SAVE_FACT](docs/act.md)", "[SAVE_FACT]", "[^SAVE_FACT]", "- [ ] SAVE_FACT key", "- [x] SAVE_DOC", "[GET_FACT docs](https://a.b/c)",
    "![SEARCH_MEMORY diagram](x.png)", "[READ_DOC notes][1]", "[SAVE_FACTORY key=1]", "SAVE_FACT key=a value=b", "\\[SAVE_FACT key=\"a\" value=\"b\"]",
    "[[SAVE_FACT]]", "[save fact]: https://a.b", "[GET_FACT key=\"a\"](https://a.b)", "[]", "[", "【】",
]  # fmt: skip


@pytest.mark.parametrize("text", LOOKALIKES)
def test_what_only_looks_alike_is_text(text: str) -> None:
    """Links, checkboxes, footnotes, names in prose."""
    assert read_reply(f"See {text} there.") == (f"See {text} there.", (), 0)


C = '[SAVE_FACT key="a" value="b"]'
HIDDEN = [
    f"`{C}`", f"``x ` {C}``", f"```\n{C}\n```", f"~~~text\n{C}\n~~~", f"````\n```\n{C}\n````", f"- ```\n  {C}\n  ```", f"> {C}",
    f">> said: {C}", f"<think>{C}</think>", f"<thinking>\n{C}\n</thinking>", f"<!-- {C} -->", f"Hm, {C} perhaps?\n</think>\nYes.",
    f"<pre>\n{C}\n</pre>", f"<code>{C}</code>", f"<memory-73khvmszee>\n- said: {C}\n</memory-73khvmszee>",
    f"```\n{C}", f"<think>{C}", f"<memory-73khvmszee>\n- [a.md#L1] {C}",
]  # fmt: skip


@pytest.mark.parametrize("text", HIDDEN)
def test_in_code_quotes_comments_and_thinking_nothing_is_done(text: str) -> None:
    """It is counted, so that nobody wonders."""
    assert read_reply(text) == (text, (), 1)


def test_after_them_commands_count_again() -> None:
    """A part that ends, ends."""
    for text in HIDDEN[:-3]:
        assert [c.values["key"] for c in read_reply(f'{text}\n\n[GET_FACT key="z"]').commands] == ["z"], text
    assert one(f"It`s {C}").values["key"] == "a"  # one backtick opens nothing
    assert one(f"A <code> tag: {C}").values["key"] == "a"  # nor does a tag that is never closed


def test_what_follows_a_quotation_that_does_not_end_may_be_a_part_of_it() -> None:
    """The command keeps its own words; those after it are not done, and say so. A forgotten mark inside of one is no end."""
    text = '[SAVE_FACT key="c value="d"] [SAVE_FACT key="a" value="b]\n[SEARCH_MEMORY query="f"]'
    found = read_reply(text)
    assert [c.values for c in found.commands] == [{"key": "c", "value": "d"}, {"key": "a", "value": "b"}, {}]
    assert found.commands[2].problem == "this command stands inside another one" and "SEARCH_MEMORY" in found.text


def test_a_value_may_stand_alone() -> None:
    """For the commands that ask."""
    text = '[GET_FACT city] [SEARCH_MEMORY "why not [x]?"] [SEARCH_MEMORY почему не MongoDB?] [READ_DOC notes/plan]'
    assert [tuple(c.values.items()) for c in read_reply(text).commands] == [
        (("key", "city"),), (("query", "why not [x]?"),), (("query", "почему не MongoDB?"),), (("name", "notes/plan"),),
    ]  # fmt: skip


DOCUMENT = """# План "Б"

- [ ] measure [1], then ["a", "b"] 测量
```python
print("[SAVE_FACT key="x" value="y"]")
```

> quoted"""


def test_a_document_is_many_lines_with_anything_in_them() -> None:
    """Code, lists, quotation marks, commands that are only shown."""
    reply = read_reply(f'Done.\n[SAVE_DOC folder="notes" name="plan" content="{DOCUMENT}"]\nBye.\n')
    assert [c.values for c in reply.commands] == [{"folder": "notes", "name": "plan", "content": DOCUMENT}]
    assert reply.text == "Done.\nBye.\n"


def test_line_ends_of_a_document_may_be_escaped() -> None:
    """As in JSON; but a Windows path is one."""
    assert one(r'[SAVE_DOC name="a" content="# T\n\n- x"]').values["content"] == "# T\n\n- x"
    assert one(r'[SAVE_DOC name="a" content="in C:\new\table"]').values["content"] == r"in C:\new\table"


@pytest.mark.parametrize(
    "text",
    ['[SAVE_FACT key="a" value="b', '[SAVE_FACT key="a" value="b"', "[SAVE_FACT", "[SAVE_DOC folder=\"a\" name=\"b\" content=\"# T\n\nmore"],
)  # fmt: skip
def test_a_reply_that_was_cut_off(text: str) -> None:
    """The command is reported and stays in the text."""
    reply = read_reply(f'[GET_FACT key="x"]\nSo: {text}')
    assert [(c.name, c.problem) for c in reply.commands] == [
        ("GET_FACT", None), (text[1:].split()[0], "the reply ends inside this command"),
    ]  # fmt: skip
    assert reply.text == f"So: {text}"


def test_a_command_that_is_not_closed_amid_a_reply() -> None:
    """It ends where the next begins."""
    found = read_reply('[SAVE_FACT key="a" value="b"\n\n[GET_FACT key="c"]').commands
    assert [(c.values, c.problem) for c in found] == [({}, "this command has no closing bracket"), ({"key": "c"}, None)]


def test_thousands_of_commands() -> None:
    """Are no reply: those after the first thousand stay text, and are counted."""
    reply = read_reply(f"{C}\n" * 1005)
    assert (len(reply.commands), reply.ignored, reply.text) == (1000, 5, f"{C}\n" * 5)


def test_lines_of_commands() -> None:
    """1-based, in the reply as it came."""
    assert [c.line for c in read_reply(f"a\n{C} {C}\n\n{C}").commands] == [2, 2, 4]


PIECES = st.sampled_from(
    ["[", "]", "【", "】", '"', "'", "“", "”", "«", "»", "`", "```", "\n", "\n\n", "> ", "<think>", "</think>", "<!--", "-->", " ", "\\", "=", ",",
     "key=", "value=", "content=", "name=", "query=", "[SAVE_FACT ", "[GET_FACT ", "[SAVE_DOC ", "[READ_DOC ", "[SEARCH_MEMORY ", "【SAVE_FACT ",
     "(", ")", "текст", "文本", "word", "~~~", ":", "{", "}"]
)  # fmt: skip


@given(st.lists(PIECES | st.text(max_size=4), max_size=60).map("".join))
def test_whatever_comes(text: str) -> None:
    """Never raises; spans do not overlap; what is left is the text outside, in order, byte for byte."""
    reply = read_reply(text)
    at = 0
    outside = []
    for command in reply.commands:
        assert at <= command.start < command.end <= len(text) and command.name in COMMANDS
        if command.problem is None:
            outside.append(text[at : command.start])
            at = command.end
    outside.append(text[at:])
    assert "".join("".join(outside).split()) == "".join(reply.text.split())
    rest = iter(text)
    assert all(char in rest for char in reply.text)
    if not reply.commands:
        assert reply.text == text


VALUES = st.text(
    st.characters(exclude_characters='"\\[]【】［］`<>“”„‟＂″»', exclude_categories=["Cs", "Cc", "Zl", "Zp"]),
    min_size=1,
)


@given(VALUES.map(str.strip).filter(bool), VALUES.map(str.strip).filter(bool), st.text("ab\n", max_size=9))
def test_what_is_written_well_is_read_as_written(key: str, value: str, around: str) -> None:
    """Whatever the values are."""
    found = one(f'{around}x [SAVE_FACT key="{key}" value="{value}"] y{around}')
    assert found.values == {"key": key, "value": value}


HOSTILE = [
    "[", "[SAVE_FACT ", '[SAVE_FACT key="', "[SAVE_FACT key=«", '[SAVE_DOC folder="a" name="b" content="x', '[SAVE_DOC content="x"] [',
    '[SAVE_FACT key="a" value="b"]\n', "` ", "`[SAVE_FACT key=", "```\n~~~\n", "<think>", "<think></thought>", "<!--", '<!--[SAVE_FACT key="',
    "[GET_FACT a\n \n", "[GET_FACT a]", '[GET_FACT key="a"](x.y ', '[GET_FACT key="a"](./', '[SAVE_FACT key="a\n\n', "[SEARCH_MEMORY x ",
    "[SAVE_DOC content=«]\n", '[SAVE_FACT key="a" value=', "> ", '[SAVE_FACT key="\\"', "[SAVE_DOC content='x] ", "【", '"] [GET_FACT ',
]  # fmt: skip


@pytest.mark.parametrize("seed", HOSTILE)
def test_linear_on_hostile_input(seed: str) -> None:
    """S9: twice the text takes less than three times as many calls; a square would take four times as many."""
    assert call_growth(read_reply, lambda size: seed * (size // len(seed)) + ' [GET_FACT key="»', 5_000) < 3
