"""Conversations of a ChatGPT export: a tree of messages each, of which the branch that was shown last is read."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from typing import Any

from .read import Notes, Turn, moment, role_of

__all__ = ["conversation_turns", "is_conversation"]

_NODE = re.compile(r'"([\w:.-]{1,80})"\s{0,8}:\s{0,8}\{')
_SILENT = {"user_editable_context", "model_editable_context", "reasoning_recap", "system_error"}


def is_conversation(value: Any) -> bool:
    """True for an object with a tree of messages."""
    return isinstance(value, dict) and isinstance(value.get("mapping"), dict)


def conversation_turns(value: dict[str, Any], line: int, raw: str, notes: Notes) -> Iterator[Turn]:
    """The turns of the active branch, first to last; `raw` is the conversation's text, which begins on `line`."""
    mapping = value["mapping"]
    branch = _branch(mapping, value.get("current_node"))
    spoken = sum(isinstance(node, dict) and isinstance(node.get("message"), dict) for node in mapping.values())
    if spoken > len(branch):
        notes.count(line, "a conversation with branches; only the one shown last was read")
    places = _places(raw) if "\n" in raw else {}
    started = moment(value.get("create_time"))
    for node in branch:
        at = line + places.get(node, 0)
        for turn in _turns(mapping[node]["message"], at, notes):
            yield turn if turn.when else turn._replace(when=started)


def _branch(mapping: dict[str, Any], current: Any) -> list[str]:
    """The nodes with a message from the root to the current one; without a current one, to the newest leaf."""
    if not isinstance(current, str) or current not in mapping:
        leaves = [name for name, node in mapping.items() if isinstance(node, dict) and not node.get("children")]
        current = max(leaves, key=lambda name: _created(mapping[name]), default=None)
    found: list[str] = []
    seen: set[str] = set()
    while isinstance(current, str) and current in mapping and current not in seen:
        seen.add(current)
        node = mapping[current]
        if not isinstance(node, dict):
            break
        if isinstance(node.get("message"), dict):
            found.append(current)
        current = node.get("parent")
    return found[::-1]


def _created(node: dict[str, Any]) -> float:
    message = node.get("message")
    time = message.get("create_time") if isinstance(message, dict) else None
    return float(time) if isinstance(time, int | float) else 0.0


def _places(raw: str) -> dict[str, int]:
    """How many lines below the beginning each node stands."""
    ends = [match.start() for match in re.finditer("\n", raw)]
    found: dict[str, int] = {}
    for match in _NODE.finditer(raw):
        found.setdefault(match[1], bisect_left(ends, match.start()))
    return found


def _turns(message: dict[str, Any], line: int, notes: Notes) -> Iterator[Turn]:
    author, content = message.get("author"), message.get("content")
    metadata = message.get("metadata")
    hidden = isinstance(metadata, dict) and metadata.get("is_visually_hidden_from_conversation")
    if not isinstance(author, dict) or not isinstance(content, dict) or hidden:
        return
    kind = str(content.get("content_type"))
    if kind in _SILENT:
        return
    role = role_of(author.get("role"), line, notes)
    if kind == "thoughts":
        role = "thinking"
    elif role == "assistant" and (kind == "code" or message.get("recipient") not in (None, "all")):
        return  # what it had a tool do
    elif kind in ("execution_output", "tether_quote", "tether_browsing_display"):
        role = "tool"
    text = "\n\n".join(_texts(content))
    if text.strip():
        name = author.get("name")
        yield Turn(role, text, line, line, moment(message.get("create_time")), name if isinstance(name, str) else None)


def _texts(content: dict[str, Any]) -> Iterator[str]:
    """The texts of a content: its parts, of those with pictures and voice what was written or heard."""
    parts = content.get("parts")
    if not isinstance(parts, list):
        parts = content.get("thoughts") if isinstance(content.get("thoughts"), list) else [content]
    for part in parts or ():
        if isinstance(part, str):
            yield part
        elif isinstance(part, dict):
            yield from (part[key] for key in ("text", "content", "result") if isinstance(part.get(key), str))
