"""Adds to a JSON document and takes out of it again, touching no other byte: comments, order, indentation and line ends stay."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from .jsonc import Element, Malformed, Node, parse, same

__all__ = ["Insertion", "Misfit", "insert", "remove", "where"]

_BLANK = " \t\r\n"
_REST = re.compile(r"(?:[ \t]|/\*[^\n\r]*?\*/)*(?://[^\n\r]*)?")  # what else stands on the line of an element


class Misfit(ValueError):
    """The document holds something else in the place where ours should go."""


class Insertion(NamedTuple):
    """New text before position `at` of the text as it is."""

    at: int
    text: str


def where(root: Node, path: Sequence[str]) -> Node | None:
    """The value at the end of a path of keys, None where there is none; Misfit where a step is no object."""
    node: Node | None = root
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


def _into(text: str, container: Node, key: str | None, value: Any) -> list[Insertion]:
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


def _indents(text: str, container: Node) -> tuple[str, str]:
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
    root = parse(text, json5)
    holder = where(root, path if item else path[:-1])
    if holder is None:
        return None
    places = [
        number
        for number, element in enumerate(holder.elements)
        if (item or element.key == path[-1]) and (not item or same(element.node.value, value))
    ]
    if not places:
        return None
    if not same(holder.elements[places[-1]].node.value, value):
        raise Misfit(f"{'.'.join(path)} is not what memctl wrote")
    result = _without(text, holder, places[-1], json5)
    above = tuple(path if item else path[:-1])
    left = where(parse(result, json5), above)
    if above and above in prune and left is not None and not left.elements:
        return remove(result, above, left.value, json5=json5, prune=prune) or result
    return result


def _without(text: str, holder: Node, number: int, json5: bool) -> str:
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
        if _says(kept, holder.start, expected, json5):
            return kept
    raise Misfit("it cannot be taken out without touching what stands around it")


def _says(text: str, start: int, expected: Sequence[Element], json5: bool) -> bool:
    """True if the container at `start` holds just these elements."""
    try:
        found = _container_at(parse(text, json5), start)
    except Malformed:
        return False
    pairs = [(element.key, element.node.value) for element in expected]
    return found is not None and same([(e.key, e.node.value) for e in found.elements], pairs)


def _container_at(node: Node, start: int) -> Node | None:
    while node.start != start:
        inner = next((e.node for e in node.elements if e.node.start <= start < e.node.end), None)
        if inner is None:
            return None
        node = inner
    return node
