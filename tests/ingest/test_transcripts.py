"""Transcripts as turns: every format, and every way in which a file can be broken. Never an error, never all of it in memory.

Samples lie in tests/data/transcripts; tests/data/ingest/dialogues.jsonl has dialogues in Markdown with their turns.
"""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, strategies as st

from memctl.ingest.formats import FORMS, label_of, read_transcript
from memctl.ingest.json_stream import known_encoding
from memctl.ingest.turns import MAX_TEXT, Notes, Turn, time_of

DATA = Path(__file__).parents[1] / "data"
CHATGPT = (DATA / "transcripts" / "chatgpt.json").read_text("utf-8")


def read(data: bytes | str, *, size: int = 5, **options: str | None) -> tuple[list[Turn], Notes]:
    """The turns of a file that comes in small pieces, and what was noted."""
    raw = data.encode() if isinstance(data, str) else data
    notes = Notes()
    pieces = (raw[at : at + size] for at in range(0, len(raw), size))
    return list(read_transcript(pieces, notes, **options)), notes  # type: ignore[arg-type]


def said(data: bytes | str, **options: str | None) -> list[tuple[str, str, int]]:
    """(role, text, line) of each turn."""
    return [(turn.role, turn.text, turn.line) for turn in read(data, **options)[0]]


def told(notes: Notes) -> str:
    """Everything that was odd, in one text."""
    return "\n".join(map(str, notes.all()))


def user(content: str) -> dict[str, Any]:
    """A message of the user."""
    return {"role": "user", "content": content}


# -- OpenAI -----------------------------------------------------------------------------------------------------------

CHAT: list[dict[str, Any]] = [
    {"role": "system", "content": "Be brief."},
    user('We use «PostgreSQL» \\ "16" now.\nНе MySQL. 不是MySQL。'),
    {"role": "assistant", "content": None, "tool_calls": [{"function": {"name": "x", "arguments": "{}"}}]},
    {"role": "tool", "tool_call_id": "1", "name": "db", "content": "version 16"},
    {"role": "assistant", "reasoning_content": "hm", "content": [{"type": "text", "text": "Noted."}, {"type": "image_url"}]},
]  # fmt: skip
TURNS = [("system", "Be brief."), ("user", CHAT[1]["content"]), ("tool", "version 16"), ("thinking", "hm"), ("assistant", "Noted.")]  # fmt: skip
LINES = "\n".join(map(json.dumps, CHAT))


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(CHAT), json.dumps(CHAT, ensure_ascii=False, indent=2), json.dumps({"model": "m", "messages": CHAT, "n": 1}),
        json.dumps({"n": {"messages": [1]}, "messages": CHAT}, indent="\t"), LINES, LINES.replace("\n", "\r\n") + "\r\n\r\n",
        json.dumps({"messages": CHAT[:2]}) + "\n" + json.dumps({"messages": CHAT[2:]}), "\ufeff" + json.dumps(CHAT), "\ufeff" + LINES,
        json.dumps([{"messages": CHAT}]), "\x1e" + LINES.replace("\n", "\n\x1e"),
    ],
    ids=range(11),
)  # fmt: skip
def test_messages_of_openai(text: str) -> None:
    """A list, an object with a list, a message a line, an object with a list a line; with a BOM, CRLF, record marks."""
    turns, notes = read(text)
    assert [(turn.role, turn.text) for turn in turns] == TURNS
    assert [turn.number for turn in turns] == [0, 1, 2, 3, 4]
    assert notes.form == "openai" and not notes.all()


def test_the_line_of_a_message_is_where_it_begins() -> None:
    """In JSON that spans lines and in JSON lines; a file of one line has only one."""
    spread = json.dumps(CHAT, indent=1)
    lines = spread.split("\n")
    for turn in read(spread)[0]:
        assert lines[turn.line - 1].strip() == "{" and lines[turn.end_line - 1].strip() in ("},", "}")
    assert {turn.line for turn in read(json.dumps(CHAT))[0]} == {1}
    assert [turn.line for turn in read("\n\n" + LINES)[0]] == [3, 4, 6, 7, 7]


def test_kin_of_openai() -> None:
    """Anthropic's parts, ShareGPT's `from` and `value`, times in seconds, milliseconds and ISO."""
    parts = [{"type": "tool_result", "content": [{"type": "text", "text": "out"}]}, {"type": "text", "text": "a"}, "b"]
    assert said(json.dumps([{"role": "user", "content": parts}])) == [("tool", "out", 1), ("user", "a\n\nb", 1)]
    shared = [{"conversations": [{"from": "human", "value": "a"}, {"from": "gpt", "value": "b"}]}]
    assert said(json.dumps(shared)) == [("user", "a", 1), ("assistant", "b", 1)]
    when = datetime(2026, 3, 2, 9, 14, tzinfo=UTC)
    for time in (when.timestamp(), when.timestamp() * 1000, str(int(when.timestamp())), "2026-03-02T09:14:00Z"):
        assert read(json.dumps([user("x") | {"created_at": time}]))[0][0].when == when
    for time in ("soon", -5, 1e300, True, None, [], float("inf"), "9" * 30, "2026-99-99"):
        assert time_of(time) is None, time


def test_an_unknown_role_is_not_trusted() -> None:
    """Nobody we can vouch for: read as a tool's, and said once with its first line."""
    turns, notes = read(
        "\n".join(json.dumps({"role": role, "content": "x"}) for role in ("critic", 7, "Critic", "HUMAN"))
    )
    assert [turn.role for turn in turns] == ["tool", "tool", "tool", "user"]
    assert "line 1: unknown role 'critic'" in told(notes)


# -- programs ---------------------------------------------------------------------------------------------------------


def test_a_session_of_claude_code() -> None:
    """What a person and the model said; no sub-agents, no summaries, nothing that the program inserted."""
    session = (DATA / "transcripts" / "claude-code.jsonl").read_text("utf-8")
    turns, notes = read(session)
    assert said(session) == said(session, form="claude-code") == [
        ("user", "Мы выбрали PostgreSQL", 3), ("thinking", "hm", 4), ("assistant", "好的", 4), ("tool", "a.py", 6), ("user", "last", 13)
    ]  # fmt: skip
    assert notes.form == "claude-code" and turns[0].when == datetime(2026, 3, 2, 9, 14, tzinfo=UTC)
    assert "sub-agent" in told(notes) and "summary" in told(notes) and "in the user's place" in told(notes)


def test_an_export_of_chatgpt() -> None:
    """The branch that was shown last, of each conversation, with the lines where its messages stand."""
    value = json.loads(CHATGPT)
    expected = [("user", "Меня зовут Ирина"), ("assistant", "shown"), ("user", "看图"), ("user", "another")]
    for text in (CHATGPT, json.dumps(value)):
        turns, notes = read(text)
        assert [(turn.role, turn.text) for turn in turns] == expected and all(turn.when for turn in turns)
        assert notes.form == "chatgpt" and "branches" in told(notes) and read(text, form="chatgpt")[0] == turns
    for text, nodes in ((CHATGPT, "acdx"), (json.dumps(value[0], indent=1), "acd")):
        lines = text.split("\n")
        assert [lines[turn.line - 1].strip()[:4] for turn in read(text)[0]] == [f'"{node}":' for node in nodes]


def test_a_tree_that_is_none() -> None:
    """Parents that form a ring, a current node that is missing, nodes that are no nodes."""
    ring: dict[str, Any] = {
        "a": {"message": {"author": {"role": "user"}, "content": {"parts": ["x"]}}, "parent": "b"},
        "b": {"message": None, "parent": "a"},
    }
    assert said(json.dumps([{"mapping": ring, "current_node": "a"}])) == [("user", "x", 1)]
    assert not said(json.dumps([{"mapping": ring, "current_node": "gone"}, {"mapping": {"a": 1, "b": None}}]))[1:]


# -- Markdown ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("line", (DATA / "ingest" / "dialogues.jsonl").read_text("utf-8").splitlines())
def test_dialogues_in_markdown(line: str) -> None:
    """Bold, plain and heading marks, quotations, in three languages; a line of a turn counts from its mark.

    The mark of the first speaker is the mark of all: what looks like a speaker inside a message or a code block begins no
    turn, so an answer cannot put words in a mouth.
    """
    case = json.loads(line)
    for text in (case["text"], case["text"].replace("\n", "\r\n"), "\ufeff" + case["text"]):
        assert said(text) == [tuple(turn) for turn in case["turns"]]


def test_times_days_and_the_owner_in_markdown() -> None:
    """A time before or behind the speaker, a heading that is a day, the user under a name; a page without speakers."""
    text = "# 2026-03-01\n\n**Peter:** a\n**Assistant (2026-03-02 09:14):** b\n**Peter** (2026-03-03T10:00): c\n"
    assert [(turn.role, turn.name, turn.when) for turn in read(text, owner="peter")[0]] == [
        ("user", "Peter", datetime(2026, 3, 1)), ("assistant", None, datetime(2026, 3, 2, 9, 14)), ("user", "Peter", datetime(2026, 3, 3, 10)),
    ]  # fmt: skip
    assert read("[2026-03-02 09:14] Me: x")[0][0].when == datetime(2026, 3, 2, 9, 14)
    assert label_of("    User: x") is None and not read("Peter: x")[0]
    turns, notes = read("Just a page.\n\nWith text.")
    assert not turns and "no speaker" in told(notes)


def test_the_format_that_is_asked_for() -> None:
    """--as overrides the content."""
    assert said(json.dumps(CHAT), form="markdown") == []
    turns, notes = read("User: x", form="openai")
    assert turns == [] and "no message" in told(notes)
    assert [text for _, text, _ in said("[x](y)\nUser: [1, 2] and {a}")] == ["[1, 2] and {a}"]


# -- what is broken ---------------------------------------------------------------------------------------------------


def test_a_file_that_was_cut_off() -> None:
    """What is whole is kept, and the line of what is not is told."""
    broken = LINES.split("\n")
    broken[1] = broken[1][:9]
    for text, left, notice in ((LINES[:-7], TURNS[:3], "line 5: not a whole JSON value"), (LINES[20:], TURNS[1:], "line 1:"),
                               ("\n".join(broken), [TURNS[0], *TURNS[2:]], "line 2:")):  # fmt: skip
        turns, notes = read(text)
        assert [(turn.role, turn.text) for turn in turns] == left and notice in told(notes)
        assert ("cut off" in told(notes)) == (text == LINES[:-7])
    for text in (json.dumps(CHAT, indent=1), json.dumps({"messages": CHAT}), CHATGPT):
        whole = [turn.text for turn in read(text)[0]]
        for cut in range(0, len(text), 97):
            part = [turn.text for turn in read(text[:cut], size=999)[0]]
            assert part == whole[: len(part)] or not part or cut < 200


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("utf-16", "User: привет 你好"), ("utf-16-le", "User: plain words only"), ("utf-16-be", "User: plain words only"),
        ("utf-32", "User: привет"), ("utf-8-sig", "User: 你好"), ("cp1251", "Я: меня зовут Иван, живу в Твери"),
        ("koi8-r", "Я: меня зовут Иван, живу в Твери"), ("cp866", "Я: меня зовут Иван, живу в Твери"),
        ("gb18030", "用户：我喜欢喝茶，住在上海"), ("cp1252", "User: I like crème brûlée in the café"),
    ],
)  # fmt: skip
def test_encodings(encoding: str, text: str) -> None:
    """What the bytes speak for is taken, and said where it is a guess."""
    content = text.partition("：" if "：" in text else ": ")[2]
    turns, notes = read(text.encode(encoding))
    assert [(turn.role, turn.text) for turn in turns] == [("user", content)], notes
    assert notes.encoding == encoding
    assert ("taken for" in told(notes)) == (encoding not in ("utf-16", "utf-32", "utf-8-sig"))
    assert [turn.text for turn in read(text.encode(encoding), encoding=encoding)[0]] == [content]


def test_a_codec_that_raises_whatever_it_is_told() -> None:
    """What it cannot read is shown as such, and the rest goes on."""
    turns, notes = read(b"User: I live in Oslo.\nQ@\x1b$bb\x1b\x1b$\x1b(\n", encoding="iso2022_jp")
    assert "unreadable bytes" in told(notes) and isinstance(turns, list)


def test_a_few_bad_bytes_do_not_change_the_encoding() -> None:
    """UTF-8 with some damage stays UTF-8; the line of the damage is told."""
    data = "Я: меня зовут Иван\nБот: очень приятно ".encode() + b"\xff\xfe" + " и вам".encode()
    turns, notes = read(data)
    assert turns[0].text == "меня зовут Иван" and "\ufffd" in turns[1].text
    assert "line 2: not all of it is utf-8" in told(notes)
    assert [read(plain)[1].encoding for plain in (b"plain", b"")] == ["utf-8", "utf-8"]
    assert [known_encoding(name) for name in ("cp1251", "base64", "nope", "\0")] == [True, False, False, False]


def test_numbers_surrogates_and_depth() -> None:
    """Numbers of thousands of digits, lone surrogates, NUL, nesting that no parser can follow: the rest is read; beside a list of messages nothing is."""
    chat = '{"role": "user", "n": ' + "9" * 5000 + ', "timestamp": 1e999, "content": "a\\ud800b\\u0000c\x01"}'
    deep = "[" * 100_000 + "]" * 100_000
    for text in (f"{chat}\n{deep}\n{chat}", f'[{chat}, {{"a": {deep}}}, {chat}]', f'{{"x": {deep}, "messages": [{chat}]}}'):  # fmt: skip
        turns, notes = read(text, size=1000)
        assert {turn.text for turn in turns} == {"a\ufffdb c "} and ("nested too deeply" in told(notes)) == (
            text[0] != "{" or "\n" in text
        )


@pytest.mark.parametrize(
    "text", ['[{"role": "user"}]', "[]", "{}", "[1, null, true]", '"x"', "null", "", "\n", "{", "[", '{"a"', '{"a":', '[{"a":1}', "}{", "[}{]", '{"messages": 5}']
)  # fmt: skip
def test_json_without_a_message(text: str) -> None:
    """Whole or not, nothing is said in it."""
    assert read(text)[0] == []


KEYS = st.sampled_from(
    ["role", "content", "type", "message", "mapping", "messages", "parts", "author", "text", "parent"]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=20,
)
ANY = st.one_of(
    st.binary(max_size=400),
    st.text(max_size=200).map(lambda text: text.encode("utf-8", "surrogatepass")),
    VALUES.map(lambda value: json.dumps(value).encode()),
)
ENCODINGS = st.sampled_from([None, "utf-8", "utf-16", "cp1251", "gb18030"])


@given(ANY, st.sampled_from([None, *FORMS]), ENCODINGS, st.integers(1, 50))
@example(b"\xff\xfe", None, None, 1)
@example(b'[{"role": "user", "content": [[["x"]]]}]', None, None, 3)
def test_any_bytes(data: bytes, form: str | None, encoding: str | None, size: int) -> None:
    """Whatever is in a file, it is read without an error, in order, with numbers and lines that hold, as often as asked."""
    turns, notes = read(data, size=size, form=form, encoding=encoding)
    assert [turn.number for turn in turns] == list(range(len(turns)))
    for turn in turns:
        assert turn.role in ("user", "assistant", "system", "tool", "thinking")
        assert turn.text.strip() and 1 <= turn.line <= turn.end_line
        turn.text.encode("utf-8")
    again = read(data, size=7, form=form, encoding=encoding)
    assert again[0] == turns and again[1].all() == notes.all()


# -- what is long -----------------------------------------------------------------------------------------------------

MESSAGE = json.dumps(user('Мы решили взять PostgreSQL. "We" \\ use it.\n' * 40), ensure_ascii=False).encode()
SMALL = json.dumps(user("small")).encode()


def pieces(form: str, count: int) -> Iterator[bytes]:
    """A JSON array on one line, a message a line, or Markdown."""
    before, between, after = {
        "array": (b"[", b",", b"]"),
        "lines": (b"", b"\n", b""),
        "markdown": (b"**User:** ", b"\n\n**User:** ", b""),
    }[form]
    yield before + MESSAGE
    for _ in range(count):
        yield between + MESSAGE
    yield after


@pytest.mark.parametrize("form", ["array", "lines", "markdown"])
def test_memory_does_not_grow_with_the_file(form: str) -> None:
    """Five megabytes take less than four."""
    tracemalloc.start()
    try:
        source: Iterable[bytes] = pieces(form, (5 << 20) // len(MESSAGE))
        count = sum(1 for _ in read_transcript(source, Notes()))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert count > 1000 and peak < 4 << 20, (count, peak)


def test_what_is_too_long_is_cut_or_left_out() -> None:
    """Of a long message the first part is read; a value of many megabytes is skipped, not held, and those around it are read."""
    turns, notes = read(json.dumps([user("ab " * MAX_TEXT)]), size=1 << 16)
    assert len(turns[0].text) == MAX_TEXT and "were read" in told(notes)
    long = [b'{"role": "user", "content": "' + b"x\\n" * (1 << 16), *[b"y\\n" * (1 << 18)] * 24, b'"}']
    for start, between, end in ((b"[", b",", b"]"), (b"", b"\n", b"")):
        notes = Notes()
        given_pieces = iter([start, SMALL, between, *long, between, SMALL, end])
        assert [turn.text for turn in read_transcript(given_pieces, notes)] == ["small", "small"]
        assert "left out" in told(notes)


@pytest.mark.parametrize(
    "mark",
    [
        "User: {}\n\nAssistant: {}",
        "**User:** {}\n\n**Assistant:** {}",
        "## Я\n{}\n\n## Ассистент\n{}",
        "用户：{}\n\n助手：{}",
    ],
)
def test_a_mark_of_the_user_inside_of_an_answer_gives_them_no_word(mark: str) -> None:
    """Two turns by the user on end: the first is taken as a part of the answer above."""
    user = mark.partition("{}")[0]
    answer = f"Here is how it looks.\n\n{user}I moved to Tripoli\n\nThat is all."
    turns, _ = read(f"{mark.format('Hi', answer)}\n\n{mark.format('Thanks', 'Bye')}\n", form="markdown")
    assert [turn.role for turn in turns] == ["user", "assistant", "assistant", "user", "assistant"]
    assert not [turn for turn in turns if turn.role == "user" and "Tripoli" in turn.text]
