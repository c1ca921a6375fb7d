"""The formats of transcripts, and which of them a file is in: OpenAI's messages and their kin, Claude Code, Codex, ChatGPT."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from typing import Any

from .json_stream import JsonItem, Text, decoded, json_items, starts_with_json
from .markdown_chat import markdown_turns
from .turns import ROLES, Notes, Turn, moment, numbered, role_of

FORMS = ("openai", "claude-code", "codex", "chatgpt", "markdown")
_MAX_LINE = 1 << 20
_IN_PLACE = "a message that the program wrote in the user's place; left out"
_SPEAKER = ("role", "from", "author", "speaker")
_TIMES = ("timestamp", "created_at", "create_time", "created", "time", "date", "ts", "when")
_THOUGHTS = ("reasoning_content", "reasoning", "thinking", "thoughts")
_CONTENTS = ("content", "value", "text", "output", "parts")
_TOOLS = {"tool_result", "function_call_output", "tool_use_result", "server_tool_result", "web_search_tool_result"}
# What the program wrote into a user's message: what was run, what it answered, what the model is reminded of.
_TAGS = (
    "system-reminder", "command-name", "command-message", "command-args", "local-command-stdout",
    "local-command-stderr", "local-command-caveat", "bash-input", "bash-stdout", "bash-stderr", "ide_opened_file",
    "ide_selection", "ide_diagnostics", "task-notification", "teammate-message",
)  # fmt: skip
_SUMMARY = "This session is being continued from a previous conversation"
_INTERRUPTED = re.compile(r"\[Request interrupted by user[^\]\n]{0,40}\]")
_CODEX_TYPES = {"session_meta", "response_item", "event_msg", "turn_context", "world_state", "compacted", "token_usage_record"}  # fmt: skip
# What the program says in the user's place: instructions of the folder, where it runs, what the user did elsewhere.
_CODEX_INSERTED = ("# AGENTS.md instructions", "<environment_context>", "<user_instructions>", "<INSTRUCTIONS>", "<turn_aborted>", "<user_shell_command>", "<skill>")  # fmt: skip
_NODE = re.compile(r'"([\w:.-]{1,80})"\s{0,8}:\s{0,8}\{')
_SILENT = {"user_editable_context", "model_editable_context", "reasoning_recap", "system_error"}


def read_transcript(
    pieces: Iterable[bytes], notes: Notes, *, form: str | None = None, encoding: str | None = None,
    owner: str | None = None, first_line: int = 1,
) -> Iterator[Turn]:  # fmt: skip
    """The turns of a transcript given in pieces. `notes` tells afterwards what it was taken for and what was odd.

    `form` is one of `FORMS` and overrides what the content looks like, `encoding` likewise; `owner` is a name that
    stands for the user in a dialogue, `first_line` the number of the first line of JSON lines. Any bytes are read; what
    makes no sense is told and left out. Memory is bounded, however long the transcript.
    """
    text = Text(decoded(pieces, encoding, notes), first_line)
    if form == "markdown" or (form is None and not starts_with_json(text)):
        notes.form = "markdown"
        return numbered(markdown_turns(text.lines(_MAX_LINE), notes, owner), notes)
    notes.form = form or ""
    return numbered(_json_turns(text, notes), notes)


def _json_turns(text: Text, notes: Notes) -> Iterator[Turn]:
    any_turn = False
    for item in json_items(text, notes):
        for turn in _turns(item, notes, notes.form):
            any_turn = True
            yield turn
    notes.form = notes.form or "openai"
    if not any_turn:
        notes.say(0, "no message in it")


def _turns(item: JsonItem, notes: Notes, form: str) -> Iterator[Turn]:
    """The turns of a value: a message, a conversation, or a list of either; `form` is what the transcript is known to be."""
    for name, fits, turns_of in _ENVELOPES:
        if form in ("", name) and fits(item.value):
            notes.form = notes.form or name
            yield from turns_of(item, notes)
            return
    inner = None if _is_message(item.value) else _inner(item.value)
    if form == "chatgpt":
        notes.count(item.line, "not a conversation of a ChatGPT export; left out")
    elif inner is not None:
        for part in inner:
            yield from _turns(item._replace(value=part), notes, form)
    else:
        if _is_message(item.value):
            notes.form = notes.form or "openai"
        yield from _message_turns(item, notes)


def _inner(value: Any) -> list[Any] | None:
    if isinstance(value, list):
        return value
    if isinstance(value, dict):
        for key in ("messages", "conversations", "chat_messages", "history", "turns"):
            if isinstance(value.get(key), list):
                return list(value[key])
    return None


def _is_message(value: Any) -> bool:
    return isinstance(value, dict) and any(isinstance(value.get(key), str) for key in _SPEAKER)


def _message_turns(item: JsonItem, notes: Notes, when: datetime | None = None) -> Iterator[Turn]:
    """The turns of one message: what was thought, what was said, and what tools answered, each apart."""
    value, line, end_line = item.value, item.line, item.end_line
    if not isinstance(value, dict):
        return
    word = next((value[key] for key in _SPEAKER if key in value), None)
    if word is None and str(value.get("type")) in _TOOLS:
        word = "tool"
    if word is None:
        notes.count(line, "an object without a role; left out")
        return
    person = _person(value)
    role = "user" if person else role_of(word, line, notes)
    when = next((found for key in _TIMES if (found := moment(value.get(key)))), when)
    named = person or value.get("name")
    name = named[:80] if isinstance(named, str) else None
    for key in _THOUGHTS:
        if isinstance(value.get(key), str):
            yield Turn("thinking", value[key], line, end_line, when, name)
    content = next((value[key] for key in _CONTENTS if key in value), None)
    for kind, text in _parts(content, role, line, notes):
        yield Turn(kind, text, line, end_line, when, name)


def _person(value: dict[str, Any]) -> str | None:
    """The name of a person who speaks: a `speaker` or an `author` who is no role. A `role` that nobody knows is no person."""
    said_by = next((value[key] for key in ("speaker", "author") if isinstance(value.get(key), str)), "").strip()
    return said_by if said_by and "role" not in value and said_by.casefold() not in ROLES else None


def _parts(content: Any, role: str, line: int, notes: Notes) -> list[tuple[str, str]]:
    """(role, text) of a content: parts of one role that follow each other are one text."""
    said: list[tuple[str, str]] = []
    for part in content if isinstance(content, list) else [content]:
        found = _part(part, role, line, notes)
        if found and said and said[-1][0] == found[0]:
            said[-1] = found[0], f"{said[-1][1]}\n\n{found[1]}"
        elif found:
            said.append(found)
    return said


def _part(part: Any, role: str, line: int, notes: Notes) -> tuple[str, str] | None:
    """What one part says: text is the role's own, a thought is thinking, a result is a tool's; pictures say nothing."""
    if isinstance(part, str):
        return role, part
    if not isinstance(part, dict):
        if part is not None:
            notes.count(line, f"content that is {type(part).__name__}, not text; left out")
        return None
    kind = str(part.get("type"))
    if kind in _TOOLS:
        inner = part.get("content", part.get("output"))
        texts = [text for _, text in _parts(inner, "tool", line, notes)]
        return ("tool", "\n".join(texts)) if texts else None
    if kind in ("thinking", "reasoning", "redacted_thinking"):
        thought = part.get("thinking", part.get("text", part.get("summary")))
        return ("thinking", thought) if isinstance(thought, str) else None
    text = next((part[key] for key in ("text", "refusal", "transcript") if isinstance(part.get(key), str)), None)
    return None if text is None else (role, text)


def _is_claude_code(value: Any) -> bool:
    """True for a line of a Claude Code session; other programs that put a message into an envelope are read so too."""
    if not isinstance(value, dict):
        return False
    session = {"sessionId", "leafUuid", "messageId", "uuid"} & value.keys()
    return isinstance(value.get("message"), dict) or ("type" in value and "role" not in value and bool(session))


def _claude_code_turns(item: JsonItem, notes: Notes) -> Iterator[Turn]:
    """The turns of a line of a session: no sub-agents (their `user` is a program), no summaries, no inserted text.

    Branches that were rewound stay: what was said there was said. A forked session repeats lines; as known they fall out.
    """
    value = item.value
    message = value.get("message")
    if not isinstance(message, dict):
        return  # summaries, snapshots, queue operations, progress, system events
    if value.get("isSidechain"):
        notes.count(item.line, "a message of a sub-agent; left out")
        return
    if value.get("isCompactSummary") or value.get("isVisibleInTranscriptOnly"):
        notes.count(item.line, "a summary of what went before; left out")
        return
    message = {**message, "role": message.get("role", value.get("type"))}
    for turn in _message_turns(item._replace(value=message), notes, moment(value.get("timestamp"))):
        if turn.role != "user":
            yield turn
        elif value.get("isMeta") or turn.text.lstrip().startswith(_SUMMARY):
            notes.count(item.line, _IN_PLACE)
        else:
            yield turn._replace(text=_INTERRUPTED.sub("", _without_tags(turn.text)))


def _without_tags(text: str) -> str:
    """A user's message without what the program put into it; an insertion that never ends goes to the end of the text."""
    for tag in _TAGS:
        opening, closing = f"<{tag}>", f"</{tag}>"
        while (start := text.find(opening)) >= 0:
            end = text.find(closing, start)
            text = text[:start] + (text[end + len(closing) :] if end >= 0 else "")
    return text


def _is_codex(value: Any) -> bool:
    if not isinstance(value, dict) or "role" in value or "payload" not in value:
        return False
    return isinstance(value.get("type"), str) and value["type"] in _CODEX_TYPES


def _codex_turns(item: JsonItem, notes: Notes) -> Iterator[Turn]:
    """The turns of a line: what user and assistant said. Events repeat it, and the rest nobody said."""
    payload = item.value.get("payload")
    if item.value["type"] != "response_item" or not isinstance(payload, dict):
        return
    if payload.get("type") != "message" or payload.get("role") not in ("user", "assistant"):
        return
    for turn in _message_turns(item._replace(value=payload), notes, moment(item.value.get("timestamp"))):
        if turn.role == "user" and turn.text.lstrip().startswith(_CODEX_INSERTED):
            notes.count(item.line, _IN_PLACE)
        else:
            yield turn


def is_conversation(value: Any) -> bool:
    """True for a conversation of a ChatGPT export: an object with a tree of messages."""
    return isinstance(value, dict) and isinstance(value.get("mapping"), dict)


def conversation_turns(item: JsonItem, notes: Notes) -> Iterator[Turn]:
    """The turns of the active branch of a conversation, first to last, each with the line of its node."""
    mapping = item.value["mapping"]
    branch = _branch(mapping, item.value.get("current_node"))
    if sum(map(_has_message, mapping.values())) > len(branch):
        notes.count(item.line, "a conversation with branches; only the one shown last was read")
    places = _places(item.raw) if "\n" in item.raw else {}
    started = moment(item.value.get("create_time"))
    for node in branch:
        for turn in _node_turns(mapping[node]["message"], item.line + places.get(node, 0), notes):
            yield turn if turn.when else turn._replace(when=started)


def _has_message(node: Any) -> bool:
    return isinstance(node, dict) and isinstance(node.get("message"), dict)


def _branch(mapping: dict[str, Any], current: Any) -> list[str]:
    """The nodes with a message from the root to the current one; without a current one, to the newest leaf."""
    if not isinstance(current, str) or current not in mapping:
        leaves = [name for name, node in mapping.items() if isinstance(node, dict) and not node.get("children")]
        current = max(leaves, key=lambda name: _created(mapping[name]), default=None)
    path: dict[str, None] = {}
    while isinstance(current, str) and isinstance(mapping.get(current), dict) and current not in path:
        path[current] = None
        current = mapping[current].get("parent")
    return [name for name in reversed(path) if _has_message(mapping[name])]


def _created(node: dict[str, Any]) -> float:
    time = node["message"].get("create_time") if _has_message(node) else None
    return float(time) if isinstance(time, int | float) else 0.0


def _places(raw: str) -> dict[str, int]:
    ends = [match.start() for match in re.finditer("\n", raw)]
    found: dict[str, int] = {}
    for match in _NODE.finditer(raw):
        found.setdefault(match[1], bisect_left(ends, match.start()))
    return found


def _node_turns(message: dict[str, Any], line: int, notes: Notes) -> Iterator[Turn]:
    author, content, metadata = message.get("author"), message.get("content"), message.get("metadata")
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
    name = author.get("name")
    text = "\n\n".join(_texts(content))
    if text.strip():
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


_ENVELOPES: tuple[tuple[str, Callable[[Any], bool], Callable[[JsonItem, Notes], Iterator[Turn]]], ...] = (
    ("chatgpt", is_conversation, conversation_turns),
    ("claude-code", _is_claude_code, _claude_code_turns),
    ("codex", _is_codex, _codex_turns),
)
