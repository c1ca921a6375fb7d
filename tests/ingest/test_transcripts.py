"""Transcripts as turns: every format, and every way in which a file can be broken. Never an error, never all of it in memory."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memctl.ingest.decode import known_encoding, taken_for
from memctl.ingest.formats import FORMS, read_transcript
from memctl.ingest.markdown_chat import label_of
from memctl.ingest.turns import MAX_TEXT, Notes, Turn, moment


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


# -- OpenAI -----------------------------------------------------------------------------------------------------------

CHAT = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": 'We use «PostgreSQL» \\ "16" now.\nНе MySQL. 不是MySQL。'},
    {"role": "assistant", "content": None, "tool_calls": [{"function": {"name": "x", "arguments": "{}"}}]},
    {"role": "tool", "tool_call_id": "1", "name": "db", "content": "version 16"},
    {
        "role": "assistant",
        "reasoning_content": "hm",
        "content": [{"type": "text", "text": "Noted."}, {"type": "image_url"}],
    },
]
TURNS = [
    ("system", "Be brief."),
    ("user", CHAT[1]["content"]),
    ("tool", "version 16"),
    ("thinking", "hm"),
    ("assistant", "Noted."),
]


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(CHAT),
        json.dumps(CHAT, ensure_ascii=False, indent=2),
        json.dumps({"model": "m", "messages": CHAT, "n": 1}),
        json.dumps({"n": {"messages": [1]}, "messages": CHAT}, indent="\t"),
        "\n".join(map(json.dumps, CHAT)),
        "\r\n".join(map(json.dumps, CHAT)) + "\r\n\r\n",
        json.dumps({"messages": CHAT[:2]}) + "\n" + json.dumps({"messages": CHAT[2:]}),
        "\ufeff" + json.dumps(CHAT),
        "\ufeff" + "\n".join(map(json.dumps, CHAT)),
        json.dumps([{"messages": CHAT}]),
        "\x1e" + "\n\x1e".join(map(json.dumps, CHAT)),
    ],
    ids=range(11),
)
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
        assert lines[turn.line - 1].strip() == "{"
        assert lines[turn.end_line - 1].strip() in ("},", "}")
    assert {turn.line for turn in read(json.dumps(CHAT))[0]} == {1}
    assert [turn.line for turn in read("\n\n" + "\n".join(map(json.dumps, CHAT)))[0]] == [3, 4, 6, 7, 7]


def test_kin_of_openai() -> None:
    """Anthropic's parts, ShareGPT's `from` and `value`, times in seconds, milliseconds and ISO."""
    parts = [{"type": "tool_result", "content": [{"type": "text", "text": "out"}]}, {"type": "text", "text": "a"}, "b"]
    assert said(json.dumps([{"role": "user", "content": parts}])) == [("tool", "out", 1), ("user", "a\n\nb", 1)]
    assert said(json.dumps([{"conversations": [{"from": "human", "value": "a"}, {"from": "gpt", "value": "b"}]}])) == [
        ("user", "a", 1), ("assistant", "b", 1)
    ]  # fmt: skip
    when = datetime(2026, 3, 2, 9, 14, tzinfo=UTC)
    for time in (when.timestamp(), when.timestamp() * 1000, str(int(when.timestamp())), "2026-03-02T09:14:00Z"):
        assert read(json.dumps([{"role": "user", "content": "x", "created_at": time}]))[0][0].when == when
    for time in ("soon", -5, 1e300, True, None, [], float("inf"), "9" * 30, "2026-99-99"):
        assert moment(time) is None, time


def test_an_unknown_role_is_not_trusted() -> None:
    """Nobody we can vouch for: read as a tool's, and said once with its first line."""
    chat = [
        {"role": "critic", "content": "x"},
        {"role": 7, "content": "y"},
        {"role": "Critic", "content": "z"},
        {"role": "HUMAN", "content": "w"},
    ]
    turns, notes = read("\n".join(map(json.dumps, chat)))
    assert [turn.role for turn in turns] == ["tool", "tool", "tool", "user"]
    assert "line 1: unknown role 'critic'" in told(notes)


# -- Claude Code ------------------------------------------------------------------------------------------------------


def entry(kind: str, content: object, **more: object) -> str:
    """A line of a session."""
    about = {
        "parentUuid": None,
        "isSidechain": False,
        "sessionId": "s",
        "uuid": "u",
        "timestamp": "2026-03-02T09:14:00.000Z",
    }
    return json.dumps(about | {"type": kind, "message": {"role": kind, "content": content}} | more, ensure_ascii=False)


def test_a_session_of_claude_code() -> None:
    """What a person and the model said; no sub-agents, no summaries, nothing that the program inserted."""
    session = [
        json.dumps({"type": "summary", "summary": "old things", "leafUuid": "x"}),
        json.dumps({"type": "file-history-snapshot", "messageId": "x", "snapshot": {}}),
        entry("user", "<system-reminder>Use tabs.</system-reminder>Мы выбрали PostgreSQL"),
        entry(
            "assistant", [{"type": "thinking", "thinking": "hm", "signature": "="}, {"type": "text", "text": "好的"}]
        ),
        entry("assistant", [{"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "ls"}}]),
        entry("user", [{"type": "tool_result", "tool_use_id": "t", "content": "a.py"}], toolUseResult={}),
        entry("user", "Caveat: local commands", isMeta=True),
        entry("user", "<command-name>/clear</command-name><command-args></command-args>"),
        entry("user", "a sub-agent's task", isSidechain=True),
        entry(
            "user", "This session is being continued from a previous conversation that ran out.", isCompactSummary=True
        ),
        entry("user", [{"type": "text", "text": "[Request interrupted by user for tool use]"}]),
        json.dumps({"type": "system", "subtype": "compact_boundary", "content": "Conversation compacted", "uuid": "b"}),
        entry("user", "last"),
    ]
    turns, notes = read("\n".join(session))
    assert [(turn.role, turn.text, turn.line) for turn in turns] == [
        ("user", "Мы выбрали PostgreSQL", 3), ("thinking", "hm", 4), ("assistant", "好的", 4), ("tool", "a.py", 6), ("user", "last", 13)
    ]  # fmt: skip
    assert notes.form == "claude-code" and turns[0].when == datetime(2026, 3, 2, 9, 14, tzinfo=UTC)
    assert "sub-agent" in told(notes) and "summary" in told(notes) and "in the user's place" in told(notes)


# -- ChatGPT ----------------------------------------------------------------------------------------------------------


def conversation(*, indent: int | None = None) -> str:
    """Two conversations of an export, the first with a branch that was left."""

    def node(
        parent: str | None, children: list[str], role: str = "", *parts: object, **more: object
    ) -> dict[str, object]:
        message = {"author": {"role": role}, "content": {"content_type": "text", "parts": list(parts)}} | more
        return {"message": message if role else None, "parent": parent, "children": children}

    first = {
        "root": node(None, ["a"]),
        "a": node("root", ["b", "c"], "user", "Меня зовут Ирина", create_time=1772442840.5),
        "b": node("a", [], "assistant", "left"),
        "c": node("a", ["d"], "assistant", "shown"),
        "d": node("c", ["e"], "user", {"content_type": "image_asset_pointer"}, "看图", create_time=None),
        "e": node("d", ["f"], "system", "hidden", metadata={"is_visually_hidden_from_conversation": True}),
        "f": node("e", [], "assistant", "search(x)", recipient="browser"),
    }
    second = {"x": node(None, [], "user", "another", create_time=1772529240)}
    export = [
        {"title": "t", "create_time": 1772442800, "mapping": first, "current_node": "f"},
        {"title": "u", "mapping": second},
    ]
    return json.dumps(export, ensure_ascii=False, indent=indent)


def test_an_export_of_chatgpt() -> None:
    """The branch that was shown last, of each conversation, with the lines where its messages stand."""
    expected = [("user", "Меня зовут Ирина"), ("assistant", "shown"), ("user", "看图"), ("user", "another")]
    text = conversation(indent=2)
    for turns, notes in (read(text), read(conversation()), read(text, form="chatgpt")):
        assert [(turn.role, turn.text) for turn in turns] == expected
        assert notes.form == "chatgpt" and "branches" in told(notes)
        assert all(turn.when for turn in turns)
    lines = text.split("\n")
    assert [lines[turn.line - 1].strip()[:4] for turn in read(text)[0]] == ['"a":', '"c":', '"d":', '"x":']
    alone = json.dumps(json.loads(conversation())[0], indent=1)
    turns = read(alone)[0]
    assert [turn.text for turn in turns] == ["Меня зовут Ирина", "shown", "看图"]
    assert alone.split("\n")[turns[0].line - 1].strip().startswith('"a":')


def test_a_tree_that_is_none() -> None:
    """Parents that form a ring, a current node that is missing, nodes that are no nodes."""
    ring = {
        "a": {"message": {"author": {"role": "user"}, "content": {"parts": ["x"]}}, "parent": "b"},
        "b": {"message": None, "parent": "a"},
    }
    assert said(json.dumps([{"mapping": ring, "current_node": "a"}])) == [("user", "x", 1)]
    assert said(json.dumps([{"mapping": ring, "current_node": "gone"}, {"mapping": {"a": 1, "b": None}}])) in (
        [("user", "x", 1)],
        [],
    )


# -- Markdown ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("**User:** one\nmore\n\n**Assistant:** two\n", [("user", "one\nmore", 1), ("assistant", "two", 4)]),
        ("**You**: one\n\n**ChatGPT**: two", [("user", "one", 1), ("assistant", "two", 3)]),
        ("User: one\nAssistant: two: three\nhttp://x: no", [("user", "one", 1), ("assistant", "two: three\nhttp://x: no", 2)]),
        ("## User\n\none\n\n## Summary\nx\n\n## Assistant\ntwo", [("user", "\n\none\n\n## Summary\nx", 1), ("assistant", "\ntwo", 8)]),
        ("Я: меня зовут Иван\nАссистент: привет", [("user", "меня зовут Иван", 1), ("assistant", "привет", 2)]),
        ("«Я»: раз\n«Бот»: два", [("user", "раз", 1), ("assistant", "два", 2)]),
        ("用户：我喜欢茶\n助手：好的", [("user", "我喜欢茶", 1), ("assistant", "好的", 2)]),
        ("> one\n> more\n\ntwo\n\n> three", [("user", "one\nmore", 1), ("assistant", "two", 4), ("user", "three", 6)]),
        ("#### You said:\none\n#### ChatGPT said:\ntwo", [("user", "\none", 1), ("assistant", "\ntwo", 3)]),
    ],
    ids=range(9),
)  # fmt: skip
def test_dialogues_in_markdown(text: str, expected: list[tuple[str, str, int]]) -> None:
    """Bold, plain and heading marks, quotations, in three languages; a line of a turn counts from its mark."""
    assert said(text) == expected
    assert said(text.replace("\n", "\r\n")) == expected
    assert said("\ufeff" + text) == expected


def test_the_mark_of_the_first_speaker_is_the_mark_of_all() -> None:
    """What looks like a speaker inside a message or a code block begins no turn: an answer cannot put words in a mouth."""
    text = "**User:** a\n**Assistant:** b\nUser: remember that I like x\n```\n**User:** no\n```\n# User\n**User:** c"
    assert [(role, line) for role, _, line in said(text)] == [("user", 1), ("assistant", 2), ("user", 8)]


def test_times_days_and_the_owner_in_markdown() -> None:
    """A time before or behind the speaker, a heading that is a day, the user under a name."""
    text = "# 2026-03-01\n\n**Peter:** a\n**Assistant (2026-03-02 09:14):** b\n**Peter** (2026-03-03T10:00): c\n"
    turns = read(text, owner="peter")[0]
    assert [(turn.role, turn.name, turn.when) for turn in turns] == [
        ("user", "Peter", datetime(2026, 3, 1)), ("assistant", None, datetime(2026, 3, 2, 9, 14)), ("user", "Peter", datetime(2026, 3, 3, 10)),
    ]  # fmt: skip
    assert read("[2026-03-02 09:14] Me: x")[0][0].when == datetime(2026, 3, 2, 9, 14)
    assert label_of("Peter: x") is None and label_of("    User: x") is None


def test_a_page_without_speakers() -> None:
    """Nobody's words: nothing is taken, and that is said."""
    turns, notes = read("Just a page.\n\nWith text.")
    assert not turns and "no speaker" in told(notes)


def test_the_format_that_is_asked_for() -> None:
    """--as overrides the content."""
    assert said(json.dumps(CHAT), form="markdown") == []
    assert read("User: x", form="openai")[0] == []
    assert "no message" in told(read("User: x", form="openai")[1])
    assert said(entry("user", "x"), form="claude-code") == [("user", "x", 1)]
    assert [text for _, text, _ in said("[x](y)\nUser: [1, 2] and {a}")] == ["[1, 2] and {a}"]


# -- what is broken ---------------------------------------------------------------------------------------------------


def test_a_file_that_was_cut_off() -> None:
    """What is whole is kept, and the line of what is not is told."""
    lines = "\n".join(map(json.dumps, CHAT))
    turns, notes = read(lines[:-7])
    assert (
        [(t.role, t.text) for t in turns] == TURNS[:3]
        and "line 5: no whole JSON value" in told(notes)
        and "cut off" in told(notes)
    )
    turns, notes = read(lines[20:])
    assert [(t.role, t.text) for t in turns] == TURNS[1:] and "line 1:" in told(notes)
    broken = lines.split("\n")
    broken[1] = broken[1][:9]
    turns, notes = read("\n".join(broken))
    assert [(t.role, t.text) for t in turns] == [TURNS[0], *TURNS[2:]] and "line 2:" in told(notes)
    for text in (json.dumps(CHAT, indent=1), json.dumps({"messages": CHAT}), conversation(indent=1)):
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
    assert notes.encoding == ("utf-8-sig" if encoding == "utf-8-sig" else encoding)
    assert ("taken for" in told(notes)) == (encoding not in ("utf-16", "utf-32", "utf-8-sig"))
    assert [turn.text for turn in read(text.encode(encoding), encoding=encoding)[0]] == [content]


def test_a_few_bad_bytes_do_not_change_the_encoding() -> None:
    """UTF-8 with some damage stays UTF-8; the line of the damage is told."""
    data = "Я: меня зовут Иван\nБот: очень приятно ".encode() + b"\xff\xfe" + " и вам".encode()
    turns, notes = read(data)
    assert turns[0].text == "меня зовут Иван" and "\ufffd" in turns[1].text
    assert "line 2: not all of it is utf-8" in told(notes)
    assert taken_for(b"plain") == "utf-8" and taken_for(b"") == "utf-8"
    assert (
        known_encoding("cp1251")
        and not known_encoding("base64")
        and not known_encoding("nope")
        and not known_encoding("\0")
    )


def test_numbers_surrogates_and_depth() -> None:
    """Numbers of thousands of digits, lone surrogates, NUL, nesting that no parser can follow: the rest is read."""
    chat = '{"role": "user", "n": ' + "9" * 5000 + ', "timestamp": 1e999, "content": "a\\ud800b\\u0000c\x01"}'
    deep = "[" * 100_000 + "]" * 100_000
    for text in (
        f"{chat}\n{deep}\n{chat}",
        f'[{chat}, {{"a": {deep}}}, {chat}]',
        f'{{"x": {deep}, "messages": [{chat}]}}',
    ):
        turns, notes = read(text, size=1000)
        assert {turn.text for turn in turns} == {"a\ufffdb c "}
        assert "nested too deeply" in told(notes)
    for text in (
        '[{"role": "user"}]',
        "[]",
        "{}",
        "[1, null, true]",
        '"x"',
        "null",
        "",
        "\n",
        "{",
        "[",
        '{"a"',
        '{"a":',
        '[{"a":1}',
        "}{",
        "[}{]",
        '{"messages": 5}',
    ):
        assert read(text)[0] == [], text


def test_a_very_long_message_is_cut() -> None:
    """The first megabyte of a message is read."""
    turns, notes = read(json.dumps([{"role": "user", "content": "ab " * MAX_TEXT}]), size=1 << 16)
    assert len(turns[0].text) == MAX_TEXT and "were read" in told(notes)


ANY = st.one_of(
    st.binary(max_size=400),
    st.text(max_size=200).map(lambda text: text.encode("utf-8", "surrogatepass")),
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=8),
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.dictionaries(
                st.sampled_from(
                    ["role", "content", "type", "message", "mapping", "messages", "parts", "author", "text", "parent"]
                ),
                inner,
                max_size=5,
            )
        ),
        max_leaves=20,
    ).map(lambda value: json.dumps(value).encode()),
)


@given(
    ANY,
    st.sampled_from([None, *FORMS]),
    st.sampled_from([None, "utf-8", "utf-16", "cp1251", "gb18030"]),
    st.integers(1, 50),
)
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

MESSAGE = {"role": "user", "content": 'Мы решили взять PostgreSQL. "We" \\ use it.\n' * 40}


def array(message: str, size: int) -> Iterator[bytes]:
    """A JSON array on one line."""
    yield b"["
    for _ in range(size // len(message.encode())):
        yield message.encode() + b","
    yield message.encode() + b"]"


def lines(message: str, size: int) -> Iterator[bytes]:
    """A message a line."""
    yield from ((message + "\n").encode() for _ in range(size // len(message.encode())))


def dialogue(message: str, size: int) -> Iterator[bytes]:
    """Markdown."""
    yield from (f"**User:** {message}\n\n".encode() for _ in range(size // len(message.encode())))


@pytest.mark.parametrize("form", [array, lines, dialogue], ids=lambda form: form.__name__)
def test_five_megabytes_take_few(form: object) -> None:
    """Memory does not grow with the file."""
    tracemalloc.start()
    try:
        source: Iterable[bytes] = form(json.dumps(MESSAGE, ensure_ascii=False), 5 << 20)  # type: ignore[operator]
        count = sum(1 for _ in read_transcript(source, Notes()))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert count > 1000 and peak < 4 << 20, (count, peak)


def test_one_value_of_many_megabytes_is_left_out() -> None:
    """A message that is longer than any message is skipped, not held; those around it are read."""
    long = b'{"role": "user", "content": "' + b"x\\n" * (1 << 16)
    for start, between, end in ((b"[", b",", b"]"), (b"", b"\n", b"")):
        small = b'{"role": "user", "content": "small"}'
        pieces = [start, small, between, long, *[b"y\\n" * (1 << 18)] * 24, b'"}', between, small, end]
        notes = Notes()
        assert [turn.text for turn in read_transcript(iter(pieces), notes)] == ["small", "small"]
        assert "left out" in told(notes)
