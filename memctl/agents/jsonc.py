"""JSON as people keep it in settings (comments, trailing commas; JSON5 where a host reads that): read, added to, taken from.

Every other byte stays: comments, order, indentation and line ends.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence
from contextlib import suppress
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
_PLAIN = json.JSONDecoder(parse_constant=int)  # ValueError for NaN and Infinity
_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "0": "\0"}


class Malformed(ValueError):
    """The text is not what the host could read; `line` and `column` count from 1."""

    def __init__(self, text: str, at: int, what: str) -> None:
        self.line = text.count("\n", 0, at) + 1
        self.column = at - (text.rfind("\n", 0, at) + 1) + 1
        super().__init__(f"line {self.line}, column {self.column}: {what}")


class JsonNode(NamedTuple):
    """One value: its span in the text, and its meaning."""

    start: int
    end: int
    value: Any
    reader: _JsonReader

    @property
    def elements(self) -> list[JsonElement]:
        """The members of an object or items of an array in order; nothing for other values."""
        return self.reader.elements(self.start, 0)[0] if isinstance(self.value, dict | list) else []


class JsonElement(NamedTuple):
    """One member of an object (with its key) or item of an array; `comma` is where the comma after it stands."""

    key: str | None
    start: int
    node: JsonNode
    comma: int | None

    @property
    def end(self) -> int:
        """Where it ends, with its comma."""
        return self.node.end if self.comma is None else self.comma + 1


def parse_jsonc(text: str, json5: bool = False) -> JsonNode:
    """The document with the place of every value; Malformed with line and column where it is none."""
    reader = _JsonReader(text, json5)
    node = reader.value(reader.space(0), 0)
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
    def __init__(self, text: str, json5: bool) -> None:
        self.text, self.json5 = text, json5

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
            value, end = self.container(at, depth)
        elif first == '"' or (first == "'" and self.json5):
            value, end = self.string(at)
        elif number := (_NUMBER5 if self.json5 else _NUMBER).match(self.text, at):
            value, end = _number(number[0]), number.end()
        elif (word := _WORD.match(self.text, at)) and word[0] in _WORDS:
            value, end = _WORDS[word[0]], word.end()
        else:
            raise Malformed(self.text, at, f"{_shown(self.text, at)} where a value should stand")
        return JsonNode(at, end, value, self)

    def string(self, at: int) -> tuple[str, int]:
        match = (_STRING5 if self.json5 else _STRING).match(self.text, at)
        if not match:
            raise Malformed(self.text, at, "a string that is not closed, or holds what it may not")
        return _unescaped(match[2]) if self.json5 else json.loads(match[0]), match.end()

    def container(self, at: int, depth: int) -> tuple[Any, int]:
        """An object or an array; without comments and such Python's parser reads it 20 times as fast."""
        try:
            return _PLAIN.raw_decode(self.text, at)
        except (ValueError, RecursionError):
            elements, end = self.elements(at, depth)
        if self.text[at] == "{":
            return {element.key: element.node.value for element in elements}, end
        return [element.node.value for element in elements], end

    def elements(self, at: int, depth: int) -> tuple[list[JsonElement], int]:
        """What is in an object or an array, and where that ends. A comma may follow the last element."""
        closing = "}" if self.text[at] == "{" else "]"
        found: list[JsonElement] = []
        at = self.space(at + 1)
        while not self.text.startswith(closing, at):
            if found and found[-1].comma is None:
                raise Malformed(self.text, at, f"{_shown(self.text, at)} where a comma or {closing} should stand")
            key, begin = None, at
            if closing == "}":
                key, at = self.key(at)
            node = self.value(at, depth + 1)
            at = self.space(node.end)
            comma = at if self.text.startswith(",", at) else None
            found.append(JsonElement(key, begin, node, comma))
            at = at if comma is None else self.space(at + 1)
        return found, at + 1

    def key(self, at: int) -> tuple[str, int]:
        """The key at `at`, and where its value begins."""
        if self.json5 and (name := _NAME5.match(self.text, at)):
            key, end = name[0], name.end()
        elif self.text[at : at + 1] in ('"', "'" if self.json5 else '"'):
            key, end = self.string(at)
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


_REST = re.compile(r"(?:[ \t]|/\*[^\n\r]*?\*/)*(?://[^\n\r]*)?")  # what else stands on the line of an element


class Misfit(ValueError):
    """The document holds something else in the place where ours should go."""


def where(root: JsonNode, path: Sequence[str]) -> JsonNode | None:
    """The value at the end of a path of keys, None where there is none; Misfit where a step is not an object."""
    node: JsonNode | None = root
    for depth, key in enumerate(path):
        if node is None:
            return None
        if not isinstance(node.value, dict):
            raise Misfit(f"{'.'.join(path[:depth]) or 'the document'} is not an object")
        named = (element.node for element in reversed(node.elements) if element.key == key)
        node = next(named, None)  # the last one, where it stands there twice
    return node


def insert(
    text: str, path: Sequence[str], value: Any, *, item: bool = False, json5: bool = False
) -> list[tuple[int, str]]:
    """What to insert, and before which positions, so that `path` says `value`; with `item`, so that the list there has it too.

    Objects and lists on the way are made where they are missing. The path itself must not be there yet (without `item`).
    """
    root = parse_jsonc(text, json5)
    depth = len(path)
    while (node := where(root, path[:depth])) is None:
        depth -= 1
    if depth == len(path):
        if not item or not isinstance(node.value, list):
            raise Misfit(f"{'.'.join(path)} is {'not a list' if item else 'there already'}")
        return _into(text, node, "", value)
    if not isinstance(node.value, dict):
        raise Misfit(f"{'.'.join(path[:depth]) or 'the document'} is not an object")
    wrapped = [value] if item else value
    for key in reversed(path[depth + 1 :]):
        wrapped = {key: wrapped}
    return _into(text, node, f"{json.dumps(path[depth], ensure_ascii=False)}: ", wrapped)


def _into(text: str, container: JsonNode, label: str, value: Any) -> list[tuple[int, str]]:
    """An element more at the end of a container, in its style."""
    newline = "\r\n" if "\r\n" in text else "\n"
    outer = inner = _indent_at(text, container.start)
    elements = container.elements
    last = elements[-1] if elements else None
    if last and "\n" not in text[container.start : last.start]:  # all on one line, so ours too
        made = label + json.dumps(value, ensure_ascii=False)
        return [(last.end, f", {made}" if last.comma is None else f" {made},")]
    if last and "\n" in text[container.start : elements[0].start]:
        inner = _indent_at(text, elements[0].start)
    else:
        usual = re.search(r"\{[ \t]*\r?\n([ \t]+)\S", text)  # as the first member of the document stands
        inner += usual[1] if usual else "  "
    made = f"\n{label}{json.dumps(value, ensure_ascii=False, indent=inner[len(outer) :] or '  ')}"
    made = made.replace("\n", newline + inner)
    if last is None:
        end = "" if "\n" in text[container.start : container.end] else newline + outer
        return [(container.start + 1, made + end)]
    rest = _REST.match(text, last.end)
    line_end = rest.end() if rest else last.end
    if last.comma is not None:
        return [(line_end, f"{made},")]
    return [(last.end, f",{made}")] if line_end == last.end else [(last.end, ","), (line_end, made)]


def _indent_at(text: str, at: int) -> str:
    """The indentation of the line on which `at` is, as far as `at`."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def remove_member(
    text: str, path: Sequence[str], value: Any, *, item: bool = False, json5: bool = False, prune: Collection[tuple[str, ...]] = ()
) -> str | None:  # fmt: skip
    """The text without the member at `path`, or without the item of the list there, that says `value`; None if it is not there.

    Objects and lists at the paths of `prune` go too when nothing is left in them. Misfit where something else stands there.
    """
    above = tuple(path if item else path[:-1])
    holder = where(parse_jsonc(text, json5), above)
    elements = enumerate(holder.elements if holder else ())
    places = [n for n, each in elements if (same(each.node.value, value) if item else each.key == path[-1])]
    if holder is None or not places:
        return None
    if not same(holder.elements[places[-1]].node.value, value):
        raise Misfit(f"{'.'.join(path)} is not what memctl wrote")
    result = _without(text, above, holder, places[-1], json5)
    left = where(parse_jsonc(result, json5), above)
    if above and above in prune and left is not None and not left.elements:
        return remove_member(result, above, left.value, json5=json5, prune=prune) or result
    return result


def _without(text: str, path: Sequence[str], holder: JsonNode, number: int, json5: bool) -> str:
    """The text without one element and the blank before it; with it where a comment needs the line end."""
    elements = holder.elements
    element = elements.pop(number)
    expected = [(each.key, each.node.value) for each in elements]
    drop = elements[-1].comma if elements and number == len(elements) and element.comma is None else None
    for first in (len(text[: element.start].rstrip(" \t\r\n")), element.start):
        kept = text[:first] + text[element.end :]
        if drop is not None:
            kept = kept[:drop] + kept[drop + 1 :]
        if not elements and not (text[holder.start + 1 : first] + text[element.end : holder.end - 1]).strip():
            kept = text[: holder.start + 1] + text[holder.end - 1 :]
        with suppress(Malformed, Misfit):
            found = where(parse_jsonc(kept, json5), path)
            if found is not None and same([(each.key, each.node.value) for each in found.elements], expected):
                return kept
    raise Misfit("it cannot be removed without changing the text around it")
