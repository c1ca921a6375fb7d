"""The layer of a session: what its user stated about the task at hand and how they want things, until the session ends.

Scratch, in `.memory/sessions/`: what is worth more is for `ingest` to write into the logs. Kept in the words that were said.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from ..errors import Usage
from ..ingest.extract import candidates
from ..ingest.turns import Turn
from ..notes.files import prepare_memory
from ..notes.workspace import Workspace
from .chat_messages import Message, is_turn, text_of
from .fence import tamed
from .pack import Item

_RULES = frozenset(
    ["preference", "standing", "remember", "plan", "state", "decision", "correction", "agreed", "chosen", "did"]
)
_MOST = 100  # statements of one session


def stated(messages: Sequence[Message | None]) -> dict[str, int]:
    """What the user stated in a chat, in their own words, each with the place of its message; the last of each stands."""
    turns = [Turn("user", text_of(m), 1, 1, number=at) for at, m in enumerate(messages) if m is not None and is_turn(m)]
    found: dict[str, int] = {}
    for each in candidates(turns):
        if each.rule in _RULES:
            found.pop(each.corrects or "", None)
            found[" ".join(each.quote.split())] = each.turn
    return found


class SessionNotes:
    """The statements of one session, those of earlier runs among them. Usage for a name that can be no file's."""

    def __init__(self, workspace: Workspace, name: str) -> None:
        if not re.fullmatch(r"\w[\w.-]{0,63}", name):
            raise Usage(f"{name!r} is no name of a session", "write up to 64 letters, digits, - and _")
        self._workspace, self._name = workspace.whole, name

    @property
    def _file(self) -> Path:
        return self._workspace.memory / "sessions" / f"{self._name}.json"

    def _read(self) -> list[str]:
        try:
            read = json.loads(self._file.read_text("utf-8"))
            return [each for each in read["stated"] if isinstance(each, str)]
        except (OSError, ValueError, KeyError, TypeError):
            return []

    def add(self, told: Mapping[str, int]) -> list[str]:
        """Every statement of the session, oldest first, with these; they are kept if they are new."""
        before = self._read()
        every = [*(each for each in before if each not in told), *told][-_MOST:]
        if every != before:
            folder = prepare_memory(self._workspace) / "sessions"
            folder.mkdir(mode=0o700, exist_ok=True)
            beside = folder / f"{self._name}.part"
            beside.write_text(json.dumps({"stated": every}), "utf-8")
            os.replace(beside, self._file)
        return every

    def end(self) -> None:
        """Forget what was stated in it."""
        self._file.unlink(missing_ok=True)


def session_items(
    every: Sequence[str], told: Mapping[str, int], gone: Sequence[int], name: str, chat: str
) -> list[Item]:
    """What of the session no message that is sent says, the newest first: cited by its message, or by the session's name."""
    left = set(gone)
    by_source: dict[str, list[str]] = {}
    for said in every:
        if said not in told or told[said] in left:
            source = f"{chat}#M{told[said] + 1}" if said in told else f"session {name}"
            by_source.setdefault(source, []).append(said)
    items = []
    for source, parts in reversed(by_source.items()):
        text = " ".join(parts)
        line = f"- [{' '.join(tamed(source).split())}] user, in this session: {' '.join(tamed(text).split())}"
        items.append(Item("session", text, source, "", None, "user", None, line, "session"))
    return items
