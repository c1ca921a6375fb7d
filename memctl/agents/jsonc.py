"""JSON as people keep it in settings (comments, trailing commas; JSON5 where a host reads that), with the place of each value."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, NamedTuple

__all__ = ["Element", "Malformed", "Node", "parse", "same"]

_DEPTH = 200
_SPACE = re.compile(r"(?:[ \t\r\n\f\v\u00a0\ufeff\u2028\u2029]|//[^\n\r]*|/\*[\s\S]*?\*/)*")
_STRING = re.compile(r'"((?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*)"')
_STRING5 = re.compile(r"""(["'])((?:(?!\1)[^\\\n\r]|\\(?:\r\n|[\s\S]))*)\1""")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?(?![\w.])")
_NUMBER5 = re.compile(
    r"[-+]?(?:0[xX][0-9a-fA-F]+|Infinity|NaN|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)(?![\w.])"
)
_NAME5 = re.compile(r"(?:[^\W\d]|[$_])[\w$]*")
_WORD = re.compile(r"\w+")
_WORDS = {"true": True, "false": False, "null": None}


def _no_constant(name: str) -> Any:
    raise ValueError(name)


_PLAIN = json.JSONDecoder(parse_constant=_no_constant)
_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "0": "\0"}


class Malformed(ValueError):
    """The text is not what the host could read; `line` and `column` count from 1."""

    def __init__(self, text: str, at: int, what: str) -> None:
        self.line = text.count("\n", 0, at) + 1
        self.column = at - (text.rfind("\n", 0, at) + 1) + 1
        super().__init__(f"line {self.line}, column {self.column}: {what}")


class Node:
    """One value: its span in the text, its meaning, and the elements of an object or an array, read when asked for."""

    __slots__ = ("_elements", "_read", "end", "start", "value")

    def __init__(
        self, start: int, end: int, value: Any, read: Callable[[int], tuple[Element, ...]] | None = None
    ) -> None:
        self.start, self.end, self.value = start, end, value
        self._read = read
        self._elements: tuple[Element, ...] | None = None if read else ()

    @property
    def elements(self) -> tuple[Element, ...]:
        """The members of an object or items of an array in order; nothing for other values."""
        if self._elements is None:
            self._elements = self._read(self.start) if self._read else ()
        return self._elements

    def child(self, key: str) -> Node | None:
        """What an object says for `key`; the last one, where it says so twice."""
        return next((element.node for element in reversed(self.elements) if element.key == key), None)


class Element(NamedTuple):
    """One member of an object (with its key) or item of an array; `comma` is where the comma after it stands."""

    key: str | None
    start: int
    node: Node
    comma: int | None


def parse(text: str, json5: bool = False) -> Node:
    """The document with the place of every value; Malformed with line and column where it is none."""
    reader = _Reader(text, json5)
    at = reader.space(0)
    node = reader.value(at, 0)
    at = reader.space(node.end)
    if at < len(text):
        raise Malformed(text, at, f"{_shown(text, at)} after the end of the document")
    return node


def same(one: Any, other: Any) -> bool:
    """True for equal JSON values; true is not 1."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def _shown(text: str, at: int) -> str:
    return repr(text[at]) if at < len(text) else "the end of the file"


class _Reader:
    """Reads values at positions of one text."""

    def __init__(self, text: str, json5: bool) -> None:
        self.text = text
        self.json5 = json5

    def space(self, at: int) -> int:
        match = _SPACE.match(self.text, at)
        end = match.end() if match else at
        if self.text.startswith("/*", end):
            raise Malformed(self.text, end, "a comment that is not closed")
        return end

    def value(self, at: int, depth: int) -> Node:
        if depth > _DEPTH:
            raise Malformed(self.text, at, f"nested over {_DEPTH} deep")
        first = self.text[at : at + 1]
        if first in ("{", "["):
            return self.plain(at) or self.container(at, depth)
        if first == '"' or (first == "'" and self.json5):
            return self.string(at)
        number = (_NUMBER5 if self.json5 else _NUMBER).match(self.text, at)
        if number:
            return Node(at, number.end(), _number(number[0]))
        word = _WORD.match(self.text, at)
        if word and word[0] in _WORDS:
            return Node(at, word.end(), _WORDS[word[0]])
        raise Malformed(self.text, at, f"{_shown(self.text, at)} where a value should stand")

    def string(self, at: int) -> Node:
        match = (_STRING5 if self.json5 else _STRING).match(self.text, at)
        if not match:
            raise Malformed(self.text, at, "a string that is not closed, or holds what it may not")
        return Node(at, match.end(), _unescaped(match[2]) if self.json5 else json.loads(match[0]))

    def plain(self, at: int) -> Node | None:
        """An object or an array without comments and such, as Python's parser reads it, 20 times as fast."""
        try:
            value, end = _PLAIN.raw_decode(self.text, at)
        except (ValueError, RecursionError):
            return None
        return Node(at, end, value, lambda start: self.container(start, 0).elements)

    def container(self, at: int, depth: int) -> Node:
        """An object or an array with the places of what is in it. A comma may follow the last element."""
        closing = "}" if self.text[at] == "{" else "]"
        elements: list[Element] = []
        start, at = at, self.space(at + 1)
        while not self.text.startswith(closing, at):
            if elements and elements[-1].comma is None:
                raise Malformed(self.text, at, f"{_shown(self.text, at)} where a comma or {closing} should stand")
            key, begin = None, at
            if closing == "}":
                key, at = self.key(at)
            node = self.value(at, depth + 1)
            at = self.space(node.end)
            comma = at if self.text.startswith(",", at) else None
            elements.append(Element(key, begin, node, comma))
            at = at if comma is None else self.space(at + 1)
        found = tuple(elements)
        values = [element.node.value for element in found]
        value = dict(zip((e.key for e in found), values, strict=True)) if closing == "}" else values
        return Node(start, at + 1, value, lambda _: found)

    def key(self, at: int) -> tuple[str, int]:
        """The key at `at`, and where its value begins."""
        name = _NAME5.match(self.text, at) if self.json5 else None
        if name:
            key, end = name[0], name.end()
        elif self.text[at : at + 1] in ('"', "'" if self.json5 else '"'):
            named = self.string(at)
            key, end = named.value, named.end
        else:
            raise Malformed(self.text, at, f"{_shown(self.text, at)} where a key should stand")
        end = self.space(end)
        if not self.text.startswith(":", end):
            raise Malformed(self.text, end, f"{_shown(self.text, end)} where a colon should stand")
        return key, self.space(end + 1)


def _number(written: str) -> float | int:
    plain = written.lstrip("+-")
    if plain[:2].lower() == "0x":
        value: float | int = int(plain, 16)
    elif re.fullmatch(r"[0-9]+", plain):
        value = int(plain) if len(plain) < 400 else float("inf")
    else:
        value = float(plain.replace("Infinity", "inf"))
    return -value if written.startswith("-") else value


def _unescaped(body: str) -> str:
    def meant(match: re.Match[str]) -> str:
        code = match[1]
        if code[0] in "ux" and len(code) > 1:
            return chr(int(code[1:], 16))
        return "" if code[0] in "\r\n\u2028\u2029" else _ESCAPES.get(code, code)

    return re.sub(r"\\(u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|\r\n|[\s\S])", meant, body)
