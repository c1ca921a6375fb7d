"""JSON as people keep it in settings (comments, trailing commas; JSON5 where a host reads that): read, added to, taken from.

Every other byte stays: comments, order, indentation and line ends.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple

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


class JsonNode:
    """One value: its span in the text, its meaning, and the elements of an object or an array, read when asked for."""

    __slots__ = ("_elements", "_read", "end", "start", "value")

    def __init__(
        self, start: int, end: int, value: Any, read: Callable[[int], tuple[JsonElement, ...]] | None = None
    ) -> None:
        self.start, self.end, self.value = start, end, value
        self._read = read
        self._elements: tuple[JsonElement, ...] | None = None if read else ()

    @property
    def elements(self) -> tuple[JsonElement, ...]:
        """The members of an object or items of an array in order; nothing for other values."""
        if self._elements is None:
            self._elements = self._read(self.start) if self._read else ()
        return self._elements

    def child(self, key: str) -> JsonNode | None:
        """What an object says for `key`; the last one, where it says so twice."""
        return next((element.node for element in reversed(self.elements) if element.key == key), None)


class JsonElement(NamedTuple):
    """One member of an object (with its key) or item of an array; `comma` is where the comma after it stands."""

    key: str | None
    start: int
    node: JsonNode
    comma: int | None


def parse(text: str, json5: bool = False) -> JsonNode:
    """The document with the place of every value; Malformed with line and column where it is none."""
    reader = _JsonReader(text, json5)
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


class _JsonReader:
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

    def value(self, at: int, depth: int) -> JsonNode:
        if depth > _DEPTH:
            raise Malformed(self.text, at, f"nested over {_DEPTH} deep")
        first = self.text[at : at + 1]
        if first in ("{", "["):
            return self.plain(at) or self.container(at, depth)
        if first == '"' or (first == "'" and self.json5):
            return self.string(at)
        number = (_NUMBER5 if self.json5 else _NUMBER).match(self.text, at)
        if number:
            return JsonNode(at, number.end(), _number(number[0]))
        word = _WORD.match(self.text, at)
        if word and word[0] in _WORDS:
            return JsonNode(at, word.end(), _WORDS[word[0]])
        raise Malformed(self.text, at, f"{_shown(self.text, at)} where a value should stand")

    def string(self, at: int) -> JsonNode:
        match = (_STRING5 if self.json5 else _STRING).match(self.text, at)
        if not match:
            raise Malformed(self.text, at, "a string that is not closed, or holds what it may not")
        return JsonNode(at, match.end(), _unescaped(match[2]) if self.json5 else json.loads(match[0]))

    def plain(self, at: int) -> JsonNode | None:
        """An object or an array without comments and such, as Python's parser reads it, 20 times as fast."""
        try:
            value, end = _PLAIN.raw_decode(self.text, at)
        except (ValueError, RecursionError):
            return None
        return JsonNode(at, end, value, lambda start: self.container(start, 0).elements)

    def container(self, at: int, depth: int) -> JsonNode:
        """An object or an array with the places of what is in it. A comma may follow the last element."""
        closing = "}" if self.text[at] == "{" else "]"
        elements: list[JsonElement] = []
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
            elements.append(JsonElement(key, begin, node, comma))
            at = at if comma is None else self.space(at + 1)
        found = tuple(elements)
        values = [element.node.value for element in found]
        value = dict(zip((e.key for e in found), values, strict=True)) if closing == "}" else values
        return JsonNode(start, at + 1, value, lambda _: found)

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


# -- changes ----------------------------------------------------------------------------------------------------------

_BLANK = " \t\r\n"
_REST = re.compile(r"(?:[ \t]|/\*[^\n\r]*?\*/)*(?://[^\n\r]*)?")  # what else stands on the line of an element


class Misfit(ValueError):
    """The document holds something else in the place where ours should go."""


class Insertion(NamedTuple):
    """New text before position `at` of the text as it is."""

    at: int
    text: str


def where(root: JsonNode, path: Sequence[str]) -> JsonNode | None:
    """The value at the end of a path of keys, None where there is none; Misfit where a step is not an object."""
    node: JsonNode | None = root
    for depth, key in enumerate(path):
        if node is None:
            return None
        if not isinstance(node.value, dict):
            raise Misfit(f"{'.'.join(path[:depth]) or 'the document'} is not an object")
        node = node.child(key)
    return node


def insert(text: str, path: Sequence[str], value: Any, *, item: bool = False, json5: bool = False) -> list[Insertion]:
    """What to insert so that `path` says `value`; with `item`, so that the list at `path` has one more item.

    Objects and lists on the way are made where they are missing. The path itself must not be there yet (without `item`).
    """
    root = parse(text, json5)
    depth = len(path)
    while (node := where(root, path[:depth])) is None:
        depth -= 1
    wrapped = [value] if item and depth < len(path) else value
    for key in reversed(path[depth + 1 :]):
        wrapped = {key: wrapped}
    if depth < len(path):
        if not isinstance(node.value, dict):
            raise Misfit(f"{'.'.join(path[:depth]) or 'the document'} is not an object")
        return _into(text, node, path[depth], wrapped)
    if not item or not isinstance(node.value, list):
        raise Misfit(f"{'.'.join(path)} is {'not a list' if item else 'there already'}")
    return _into(text, node, None, value)


def _into(text: str, container: JsonNode, key: str | None, value: Any) -> list[Insertion]:
    """An element more at the end of a container, in its style."""
    newline = "\r\n" if "\r\n" in text else "\n"
    inner, outer = _indents(text, container)
    last = container.elements[-1] if container.elements else None
    label = "" if key is None else f"{json.dumps(key, ensure_ascii=False)}: "
    if last and "\n" not in text[container.start : last.start]:  # all on one line, so ours too
        made = label + json.dumps(value, ensure_ascii=False)
        after = last.node.end if last.comma is None else last.comma + 1
        return [Insertion(after, f" {made}," if last.comma is not None else f", {made}")]
    unit = inner[len(outer) :] or "  "
    made = label + json.dumps(value, ensure_ascii=False, indent=unit)
    made = f"\n{inner}" + made.replace("\n", f"\n{inner}")
    if last is None:
        end = "" if "\n" in text[container.start : container.end] else f"\n{outer}"
        return [Insertion(container.start + 1, (made + end).replace("\n", newline))]
    made = made.replace("\n", newline)
    after = last.node.end if last.comma is None else last.comma + 1
    rest = _REST.match(text, after)
    line_end = rest.end() if rest else after
    if last.comma is not None:
        return [Insertion(line_end, f"{made},")]
    return [Insertion(after, f",{made}")] if line_end == after else [Insertion(after, ","), Insertion(line_end, made)]


def _indents(text: str, container: JsonNode) -> tuple[str, str]:
    """The indentation of the elements of a container, and that of the line on which it begins."""
    outer = _indent_at(text, container.start)
    if container.elements and "\n" in text[container.start : container.elements[0].start]:
        return _indent_at(text, container.elements[0].start), outer
    match = re.search(r"\{[ \t]*\r?\n([ \t]+)\S", text)  # as the first member of the document stands
    return outer + (match[1] if match else "  "), outer


def _indent_at(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def remove(
    text: str,
    path: Sequence[str],
    value: Any,
    *,
    item: bool = False,
    json5: bool = False,
    prune: Collection[tuple[str, ...]] = (),
) -> str | None:
    """The text without the member at `path`, or without the item of the list there, that says `value`; None if it is not there.

    Objects and lists at the paths of `prune` go too when nothing is left in them. Misfit where something else stands there.
    """
    above = tuple(path if item else path[:-1])
    holder = where(parse(text, json5), above)
    if holder is None:
        return None
    places = [
        number
        for number, element in enumerate(holder.elements)
        if (same(element.node.value, value) if item else element.key == path[-1])
    ]
    if not places:
        return None
    if not same(holder.elements[places[-1]].node.value, value):
        raise Misfit(f"{'.'.join(path)} is not what memctl wrote")
    result = _without(text, above, holder, places[-1], json5)
    left = where(parse(result, json5), above)
    if above and above in prune and left is not None and not left.elements:
        return remove(result, above, left.value, json5=json5, prune=prune) or result
    return result


def _without(text: str, path: Sequence[str], holder: JsonNode, number: int, json5: bool) -> str:
    """The text without one element and the blank before it; with it where a comment needs the line end."""
    element = holder.elements[number]
    expected = list(holder.elements)
    del expected[number]
    begin = element.start
    while text[begin - 1] in _BLANK:
        begin -= 1
    end = element.node.end if element.comma is None else element.comma + 1
    before = holder.elements[number - 1] if number else None
    is_last = number == len(holder.elements) - 1
    drop = before.comma if before and is_last and element.comma is None else None
    for first in (begin, element.start):
        kept = text[:first] + text[end:]
        if drop is not None:
            kept = kept[:drop] + kept[drop + 1 :]
        if not expected and not text[holder.start + 1 : first].strip() and not text[end : holder.end - 1].strip():
            kept = text[: holder.start + 1] + text[holder.end - 1 :]
        if _says(kept, path, expected, json5):
            return kept
    raise Misfit("it cannot be taken out without touching what stands around it")


def _says(text: str, path: Sequence[str], expected: Sequence[JsonElement], json5: bool) -> bool:
    """True if the container at `path` holds just these elements."""
    try:
        found = where(parse(text, json5), path)
    except (Malformed, Misfit):
        return False
    pairs = [(element.key, element.node.value) for element in expected]
    return found is not None and same([(e.key, e.node.value) for e in found.elements], pairs)
