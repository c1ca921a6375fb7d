"""The sessions of OpenAI Codex (`rollout-….jsonl`): a message stands in an envelope, beside much that nobody said."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .messages import message_turns
from .read import Notes, Turn, moment

__all__ = ["codex_turns", "is_codex"]

_ENVELOPES = {"session_meta", "response_item", "event_msg", "turn_context", "world_state", "compacted", "token_usage_record"}  # fmt: skip
# What the program says in the user's place: instructions of the folder, where it runs, what the user did elsewhere.
_INSERTED = ("# AGENTS.md instructions", "<environment_context>", "<user_instructions>", "<INSTRUCTIONS>", "<turn_aborted>", "<user_shell_command>", "<skill>")  # fmt: skip


def is_codex(value: Any) -> bool:
    """True for a line of a Codex session."""
    if not isinstance(value, dict) or "role" in value or "payload" not in value:
        return False
    kind = value.get("type")
    return isinstance(kind, str) and kind in _ENVELOPES


def codex_turns(value: dict[str, Any], line: int, end_line: int, notes: Notes) -> Iterator[Turn]:
    """The turns of a line: what user and assistant said. Events repeat it, and the rest nobody said."""
    payload = value.get("payload")
    if value["type"] != "response_item" or not isinstance(payload, dict):
        return
    if payload.get("type") != "message" or payload.get("role") not in ("user", "assistant"):
        return
    for turn in message_turns(payload, line, end_line, notes, moment(value.get("timestamp"))):
        if turn.role == "user" and turn.text.lstrip().startswith(_INSERTED):
            notes.count(line, "a message that the program wrote in the user's place; left out")
        else:
            yield turn
