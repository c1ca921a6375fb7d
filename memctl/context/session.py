"""The layer of a session: what its user stated about the task at hand and how they want things, until the session ends.

Scratch, in `.memory/session-NAME.json`: what is worth more is for `ingest` to write into the logs. Kept in the words that were
said, but for secrets; `forget` deletes it, since those words may be what is to be forgotten.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from secrets import token_hex

from ..errors import Usage
from ..ingest.extract import candidates
from ..ingest.sentences import Sentence, sentences
from ..ingest.turns import Turn
from ..language.secrets import find_secrets
from ..notes.files import SESSION, prepare_memory
from ..notes.workspace import Workspace
from ..system import OPEN_SAFELY
from .chat_messages import Message, is_turn, text_of
from .fence import tamed
from .pack import Item

_LAST = ("wish_length", "wish_language")  # of these the last one holds
_WISHES = (*_LAST, "wish", "at_work")
_MOST = 100  # statements of one session


def stated(messages: Sequence[Message | None]) -> dict[str, int]:
    """What the user stated in a chat, in their own words, each with the place of its message; the last of each stands."""
    turns = [Turn("user", text_of(m), 1, 1, number=at) for at, m in enumerate(messages) if m is not None and is_turn(m)]
    kept = [(each.turn, each.quote, each.corrects) for each in candidates(turns)]
    kept += [(turn.number, each.said, None) for turn in turns for each in sentences(turn.text) if _is_wish(each)]
    found: dict[str, int] = {}
    for at, quote, corrects in sorted(kept, key=lambda each: each[0]):
        if not find_secrets(quote):
            found.pop(corrects or "", None)
            found[" ".join(quote.split())] = at
    return {said: found[said] for said in _holding(list(found))}


def _is_wish(sentence: Sentence) -> bool:
    """True for what says how the user wants to be answered, or what is being done."""
    asked = sentence.is_question and not (_last_of(sentence) and sentence.opens("wish_asked"))
    return not asked and any(map(sentence.has, _WISHES))


def _last_of(sentence: Sentence) -> set[str]:
    return {name for name in _LAST if sentence.has(name)}


def _holding(every: list[str]) -> list[str]:
    """Statements without those of a length or a language that a later one takes the place of."""
    said: set[str] = set()
    kept = []
    for text in reversed(every):
        names = {name for sentence in sentences(text) for name in _last_of(sentence)}
        if not names or names - said:
            kept.append(text)
        said |= names
    return kept[::-1]


class SessionNotes:
    """The statements of one session, those of earlier runs among them. Usage for a name that can be no file's."""

    def __init__(self, workspace: Workspace, name: str) -> None:
        if not re.fullmatch(r"\w[\w.-]{0,63}", str(name)):
            raise Usage(f"{name!r} is no name of a session", "write up to 64 letters, digits, - and _")
        self._workspace, self._name = workspace.whole, name

    @property
    def _file(self) -> Path:
        return self._workspace.memory / f"{SESSION}{self._name}.json"

    def _read(self) -> list[str]:
        try:
            read = json.loads(self._file.read_text("utf-8"))
            return [each for each in read["stated"] if isinstance(each, str)]
        except (OSError, ValueError, KeyError, TypeError):
            return []

    def add(self, told: Mapping[str, int]) -> list[str]:
        """Every statement of the session, oldest first, with these; they are kept if they are new."""
        before = self._read()
        every = _holding([*(each for each in before if each not in told), *told])[-_MOST:]
        if every != before:
            made = prepare_memory(self._workspace) / f"{SESSION}{token_hex(8)}"
            with suppress(OSError):  # scratch: a full disk ends no chat
                fd = os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL | OPEN_SAFELY, 0o600)
                with open(fd, "w", encoding="ascii") as stream:
                    json.dump({"stated": every}, stream)
                os.replace(made, self._file)
            made.unlink(missing_ok=True)
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
