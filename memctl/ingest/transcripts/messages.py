"""Messages as programs keep them: OpenAI's and its kin (Anthropic, ShareGPT), and the sessions of Claude Code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from .read import Notes, Turn, moment, role_of

__all__ = ["claude_code_turns", "is_claude_code", "is_message", "message_turns"]

_TIMES = ("timestamp", "created_at", "create_time", "created", "time", "date", "ts", "when")
_THOUGHTS = ("reasoning_content", "reasoning", "thinking", "thoughts")
_TOOLS = {"tool_result", "function_call_output", "tool_use_result", "server_tool_result", "web_search_tool_result"}


def is_message(value: Any) -> bool:
    """True for an object that says who speaks."""
    return isinstance(value, dict) and any(
        isinstance(value.get(key), str) for key in ("role", "from", "author", "speaker")
    )


def message_turns(value: Any, line: int, end_line: int, notes: Notes, when: datetime | None = None) -> Iterator[Turn]:
    """The turns of one message: what was thought, what was said, and what tools answered, each apart."""
    if not isinstance(value, dict):
        return
    word = next((value[key] for key in ("role", "from", "author", "speaker") if key in value), None)
    if word is None and str(value.get("type")) in _TOOLS:
        word = "tool"
    if word is None:
        notes.count(line, "an object that says no role; left out")
        return
    role = role_of(word, line, notes)
    when = next((found for key in _TIMES if (found := moment(value.get(key)))), when)
    named = value.get("name")
    name = named[:80] if isinstance(named, str) else None
    for key in _THOUGHTS:
        if isinstance(value.get(key), str):
            yield Turn("thinking", value[key], line, end_line, when, name)
    content = next((value[key] for key in ("content", "value", "text", "output", "parts") if key in value), None)
    for kind, text in _parts(content, role, line, notes):
        yield Turn(kind, text, line, end_line, when, name)


def _parts(content: Any, role: str, line: int, notes: Notes) -> Iterator[tuple[str, str]]:
    """(role, text) of a content: parts of one role that follow each other are one text."""
    said: list[tuple[str, str]] = []
    for part in content if isinstance(content, list) else [content]:
        found = _part(part, role, line, notes)
        if found and said and said[-1][0] == found[0]:
            said[-1] = found[0], f"{said[-1][1]}\n\n{found[1]}"
        elif found:
            said.append(found)
    return iter(said)


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
    for key in ("text", "refusal", "transcript"):
        if isinstance(part.get(key), str):
            return role, part[key]
    return None


# -- Claude Code ------------------------------------------------------------------------------------------------------

# What the program wrote into a user's message: what was run, what it answered, what the model is reminded of.
_INSERTED = (
    "system-reminder", "command-name", "command-message", "command-args", "local-command-stdout",
    "local-command-stderr", "local-command-caveat", "bash-input", "bash-stdout", "bash-stderr", "ide_opened_file",
    "ide_selection", "ide_diagnostics", "task-notification", "teammate-message",
)  # fmt: skip
_SUMMARY = "This session is being continued from a previous conversation"
_INTERRUPTED = re.compile(r"\[Request interrupted by user[^\]\n]{0,40}\]")


def is_claude_code(value: Any) -> bool:
    """True for a line of a Claude Code session; other programs that put a message into an envelope are read so too."""
    return isinstance(value, dict) and (
        isinstance(value.get("message"), dict)
        or (
            "type" in value
            and "role" not in value
            and any(k in value for k in ("sessionId", "leafUuid", "messageId", "uuid"))
        )
    )


def claude_code_turns(value: dict[str, Any], line: int, end_line: int, notes: Notes) -> Iterator[Turn]:
    """The turns of a line of a session: no sub-agents (their `user` is a program), no summaries, no inserted text.

    Branches that were rewound stay: what was said there was said. A forked session repeats lines; as known they fall out.
    """
    message = value.get("message")
    if not isinstance(message, dict):
        return  # summaries, snapshots, queue operations, progress, system events
    if value.get("isSidechain"):
        notes.count(line, "a message of a sub-agent; left out")
        return
    if value.get("isCompactSummary") or value.get("isVisibleInTranscriptOnly"):
        notes.count(line, "a summary of what went before; left out")
        return
    inserted = bool(value.get("isMeta"))
    when = moment(value.get("timestamp"))
    role = message.get("role", value.get("type"))
    for turn in message_turns({**message, "role": role}, line, end_line, notes, when):
        if turn.role != "user":
            yield turn
        elif inserted or turn.text.lstrip().startswith(_SUMMARY):
            notes.count(line, "a message that the program wrote in the user's place; left out")
        else:
            yield turn._replace(text=_INTERRUPTED.sub("", _without(turn.text)))


def _without(text: str) -> str:
    """A user's message without what the program put into it; an insertion that never ends goes to the end of the text."""
    for tag in _INSERTED:
        opening, closing = f"<{tag}>", f"</{tag}>"
        while (start := text.find(opening)) >= 0:
            end = text.find(closing, start)
            text = text[:start] + (text[end + len(closing) :] if end >= 0 else "")
    return text
