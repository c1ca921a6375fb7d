"""Settings as people write them: read with the place of each value, added to and taken from without touching any other byte."""

from __future__ import annotations

import contextlib
import copy
import json
from typing import Any

import pytest
from hypothesis import given, strategies as st

from memctl.agents.hosts import File, HostEntry, revert, take, with_ours
from memctl.agents.jsonc import Malformed, Misfit, insert, parse_jsonc, remove_member, same, where

KEYS = st.sampled_from(["a", "mcp", "mcpServers", "hooks", "memctl", "é", 'q"uote', "ключ", "键", ""])
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-(10**6), 10**6), st.text(max_size=8),
    st.sampled_from(["// no comment", "/* nor this */", ",}", "]", "\\", "\n"]), st.just(1.5e-3),
)  # fmt: skip
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=3)),
    max_leaves=8,
)
ROOTS = st.dictionaries(KEYS, VALUES, max_size=4)
SPACE = st.sampled_from(
    ["", "", " ", "\n", "\n  ", "\r\n\t", " // a, \"b\": {\n", "/* x */", " /* ]\n } */ ", "//\n", "\n\n", "// , комментарий\n\t", "  \n"]
)  # fmt: skip
VALUE = {"command": "/opt/memctl", "args": ["mcp", "-w", "/заметки/笔记"], "env": {}}


@st.composite
def documents(draw: st.DrawFn) -> tuple[str, Any]:
    """An object, written with blanks, comments and trailing commas wherever they may stand; and what it says."""

    def written(value: Any) -> str:
        if not isinstance(value, dict | list):
            return json.dumps(value, ensure_ascii=draw(st.booleans()))
        parts = []
        for item in value.items() if isinstance(value, dict) else value:
            body = (
                f"{json.dumps(item[0])}{draw(SPACE)}:{draw(SPACE)}{written(item[1])}"
                if isinstance(value, dict)
                else written(item)
            )
            parts.append(f"{draw(SPACE)}{body}{draw(SPACE)}")
        comma = "," + draw(SPACE) if parts and draw(st.booleans()) else ""
        inside = ",".join(parts) + comma if parts else draw(SPACE)
        return f"{{{inside}}}" if isinstance(value, dict) else f"[{inside}]"

    root = draw(ROOTS)
    return f"{draw(SPACE)}{written(root)}{draw(SPACE)}", root


PATHS = st.lists(KEYS, min_size=1, max_size=3).map(tuple)


def expected(root: Any, path: tuple[str, ...], value: Any, item: bool) -> Any:
    """What the document says afterwards; None where it has no place for it."""
    made = copy.deepcopy(root)
    here = made
    for key in path[:-1]:
        here = here.setdefault(key, {})
        if not isinstance(here, dict):
            return None
    if not item:
        return None if path[-1] in here else (here.update({path[-1]: value}), made)[1]
    there = here.setdefault(path[-1], [])
    return (there.append(value), made)[1] if isinstance(there, list) else None


@given(documents(), PATHS, st.booleans())
def test_adding_and_taking_out_again(document: tuple[str, Any], path: tuple[str, ...], item: bool) -> None:
    """Every byte outside of ours stays, the result says what it should, and taken out it says what it said."""
    text, root = document
    assert same(parse_jsonc(text).value, root)
    says = expected(root, path, VALUE, item)
    if says is None:
        with pytest.raises(Misfit):
            insert(text, path, VALUE, item=item)
        return
    after = text
    for at, more in reversed(insert(text, path, VALUE, item=item)):
        after = after[:at] + more + after[at:]
    assert same(parse_jsonc(after).value, says)
    left = remove_member(
        after,
        path,
        VALUE,
        item=item,
        prune={path[:n] for n in range(1, len(path) + 1) if where(parse_jsonc(text), path[:n]) is None},
    )
    assert left is not None and same(parse_jsonc(left).value, root)


PIECES = st.lists(
    st.one_of(
        st.builds(lambda path: HostEntry(path, VALUE), PATHS),
        st.builds(lambda path, n: HostEntry(path, {"n": n}, item=True), PATHS, st.integers(0, 3)),
    ),
    min_size=1, max_size=4,
)  # fmt: skip


@given(documents(), PIECES, st.sampled_from(["json", "json5"]))
def test_a_whole_file(document: tuple[str, Any], pieces: list[HostEntry], form: str) -> None:
    """All pieces of a file: what was inserted is known to the byte, twice is as once, and it comes out again."""
    text, root = document
    file = File("x", form, "", tuple(pieces))
    try:
        new = with_ours(text, file)
    except Misfit:
        return
    assert revert(new.text, new.spans) == text
    assert with_ours(new.text, file).text == new.text
    if new.text != text and len({piece.path for piece in pieces}) == len(pieces):
        there = [piece for piece in pieces if with_ours(text, file._replace(pieces=(piece,))).text == text]
        taken = take(new.text, file._replace(pieces=tuple(p for p in pieces if p not in there)), new.made)
        assert taken is not None and same(parse_jsonc(taken, form == "json5").value, root)


@given(st.text(max_size=60), st.booleans())
def test_any_text_is_read_or_refused_with_a_place(text: str, json5: bool) -> None:
    """Never another exception; and what Python's parser reads, ours reads alike."""
    try:
        found = parse_jsonc(text, json5).value
    except Malformed as error:
        assert error.line >= 1 and error.column >= 1
        with pytest.raises(ValueError):
            json.loads(text, parse_constant=lambda name: (_ for _ in ()).throw(ValueError(name)))
        return
    with contextlib.suppress(ValueError):
        assert same(json.loads(text), found)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{a: 1, $b_2: .5, 'c': 'it\\'s \"x\"',}", {"a": 1, "$b_2": 0.5, "c": 'it\'s "x"'}),
        ("[0x1F, +3, -.5, 5., 1e3, -0X0f]", [31, 3, -0.5, 5.0, 1000.0, -15]),
        ("'line \\\ncontinued \\x41\\u0042\\v'", "line continued AB\v"),
        ("{ключ: true, 键: null}", {"ключ": True, "键": None}),
        ("// only\n/* a */ {} // comments", {}),
    ],
)
def test_json5(text: str, value: Any) -> None:
    """What OpenClaw's settings may hold. Other hosts read JSON with comments, and so do we for them."""
    assert same(parse_jsonc(text, json5=True).value, value)


@pytest.mark.parametrize("text", ["{a: 1}", "{'a': 1}", '{"a": "\x00"}', "[.5]", "[+1]", "[01]", "[1.]", '["\t\n"]', "{,}", "[,]", "[1,,2]", "tru", "[truely]", '{"a" 1}', '"\\x41"'])  # fmt: skip
def test_what_is_json5_only_or_nothing_is_refused(text: str) -> None:
    """With the line and the column."""
    with pytest.raises(Malformed, match="line 1, column"):
        parse_jsonc(text)


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("{}", '{\n  "m": {\n    "x": 1\n  }\n}'),
        ("{\n}\n", '{\n  "m": {\n    "x": 1\n  }\n}\n'),
        ('{"a": 1}', '{"a": 1, "m": {"x": 1}}'),
        ('{"a": 1,}', '{"a": 1, "m": {"x": 1},}'),
        ('{\n\t"a": 1\n}', '{\n\t"a": 1,\n\t"m": {\n\t\t"x": 1\n\t}\n}'),
        ('{\n    "a": 1 // one\n}\n', '{\n    "a": 1, // one\n    "m": {\n        "x": 1\n    }\n}\n'),
        ('{\r\n "a": 1, // one\r\n}', '{\r\n "a": 1, // one\r\n "m": {\r\n  "x": 1\r\n },\r\n}'),
    ],
)
def test_the_style_of_the_document_is_kept(text: str, after: str) -> None:
    """Indentation, line ends, one line, trailing commas, comments behind a value."""
    made = with_ours(text, File("x", "json", "", (HostEntry(("m",), {"x": 1}),)))
    assert made.text == after and revert(made.text, made.spans) == text


def test_the_last_of_two_equal_keys_counts() -> None:
    """As JavaScript reads it."""
    text = '{"m": 1, "m": {"a": 1}}'
    assert with_ours(text, File("x", "json", "", (HostEntry(("m", "b"), 2),))).text == '{"m": 1, "m": {"a": 1, "b": 2}}'
