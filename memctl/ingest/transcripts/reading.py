"""A transcript of any known format as turns, out of a stream of bytes: never the whole of it in memory, never an error."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from .bytes import decoded
from .chatgpt import conversation_turns, is_conversation
from .codex import codex_turns, is_codex
from .json_stream import Item, Text, document, is_lines, json_lines
from .markdown import markdown_turns
from .messages import claude_code_turns, is_claude_code, is_message, message_turns
from .read import Notes, Turn, numbered

__all__ = ["FORMS", "read_transcript"]

FORMS = ("openai", "claude-code", "codex", "chatgpt", "markdown")
_JSON = re.compile(r"[\ufeff\x1e\x00\s]*(?:\[\s*(?:[\[{\]]|\"|$)|\{\s*(?:[\"}]|$))")
_MAX_LINE = 1 << 20


def read_transcript(
    pieces: Iterable[bytes], notes: Notes, *, form: str | None = None, encoding: str | None = None,
    owner: str | None = None, first_line: int = 1,
) -> Iterator[Turn]:  # fmt: skip
    """The turns of a transcript given in pieces. `notes` tells afterwards what it was taken for and what was odd.

    `form` is one of `FORMS` and overrides what the content looks like, `encoding` likewise; `owner` is a name that
    stands for the user in a dialogue, `first_line` the number of the first line of JSON lines. Any bytes are read; what
    makes no sense is told and left out.
    """
    text = Text(decoded(pieces, encoding, notes), first_line)
    if form == "markdown" or (form is None and not _JSON.match(text.peek(4096)) and not is_lines(text)):
        notes.form = "markdown"
        return numbered(markdown_turns(text.lines(_MAX_LINE), notes, owner), notes)
    notes.form = form or ""
    return numbered(_json_turns(text, notes), notes)


def _json_turns(text: Text, notes: Notes) -> Iterator[Turn]:
    any_turn = False
    for item in json_lines(text, notes) if is_lines(text) else document(text, notes):
        for turn in _turns(item, notes, notes.form):
            any_turn = True
            yield turn
    notes.form = notes.form or "openai"
    if not any_turn:
        notes.say(0, "no message in it")


def _turns(item: Item, notes: Notes, form: str) -> Iterator[Turn]:
    """The turns of a value: a message, a conversation, or a list of either."""
    value = item.value
    if is_conversation(value) and form in ("", "chatgpt"):
        notes.form = notes.form or "chatgpt"
        yield from conversation_turns(value, item.line, item.raw, notes)
    elif form == "chatgpt":
        notes.count(item.line, "no conversation of a ChatGPT export; left out")
    elif is_claude_code(value) and form in ("", "claude-code"):
        notes.form = notes.form or "claude-code"
        yield from claude_code_turns(value, item.line, item.end_line, notes)
    elif is_codex(value) and form in ("", "codex"):
        notes.form = notes.form or "codex"
        yield from codex_turns(value, item.line, item.end_line, notes)
    elif not is_message(value) and (inner := _inner(value)) is not None:
        for part in inner:
            yield from _turns(item._replace(value=part), notes, form)
    else:
        if is_message(value):
            notes.form = notes.form or "openai"
        yield from message_turns(value, item.line, item.end_line, notes)


def _inner(value: Any) -> list[Any] | None:
    """The messages that a value holds."""
    if isinstance(value, list):
        return value
    if isinstance(value, dict):
        for key in ("messages", "conversations", "chat_messages", "history", "turns"):
            if isinstance(value.get(key), list):
                return list(value[key])
    return None
