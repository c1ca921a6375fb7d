"""Window: the chat of a program, kept within a budget, with what belongs to each message recalled from a workspace."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping, Sequence
from datetime import date, datetime, time
from functools import lru_cache
from pathlib import Path
from types import TracebackType
from typing import Any

from ..index.open_memory import OpenMemory
from ..index.resident import Resident
from ..language.tokens import Counter
from ..notes.workspace import Workspace, find_workspace
from .chat import Prepared, prepare
from .chat_messages import Message, checked
from .context import ContextOptions
from .counters import counter_of
from .session import SessionNotes

_COUNTED = 8192  # texts whose count is kept: a chat is counted from its beginning, every turn


class Window:
    """The context window of a program that talks to a model.

    >>> with memctl.Window("~/notes", budget=32_000) as window:      # doctest: +SKIP
    ...     window.add("system", "You are a careful engineer.")
    ...     window.add("user", "Why did we choose PostgreSQL?")
    ...     reply = client.chat.completions.create(model="local", messages=window.messages())
    ...     window.add("assistant", reply.choices[0].message.content)

    The window keeps the whole chat; `messages()` makes the list that is sent. `budget` is what the prompt may take: the
    model's window less the room for its answer. `counter` is a name as in `--counter`, or a function from text to tokens.
    Under the name `session`, what the user states about the task and how they want things stays in the prompt until `end`,
    whatever leaves the window, and whenever the program is started again. `today` fixes the day, for tests. Any thread may call it; calls wait for each other. `close` when done.
    """

    def __init__(
        self, workspace: str | os.PathLike[str] | Workspace, budget: int = 32_000, counter: str | Counter | None = None, *,
        private: bool = False, core: bool = True, today: date | None = None, session: str | None = None,
    ) -> None:  # fmt: skip
        found = (
            workspace if isinstance(workspace, Workspace) else find_workspace(str(workspace), os.environ, Path.cwd())
        )
        self.budget, self.private, self.core = budget, private, core
        self.session = session
        self.inject: str | None = None
        """Where what is recalled stands: "user" (in the newest message) or "system" (behind it); None: as in the settings."""
        self._notes = SessionNotes(found, session) if session is not None else None
        # Each call counts the whole chat, of which one message is new.
        self.count: Counter = lru_cache(_COUNTED)(counter if callable(counter) else counter_of(found, counter))
        clock = datetime.now if today is None else lambda: datetime.combine(today, time())
        self._memory = OpenMemory(found, clock, resident=Resident(found))
        self._lock = threading.RLock()
        self._chat: list[Message] = []
        self.last: Prepared | None = None
        """What the last `messages` made: tokens used, warnings, the recalled lines with their citations."""

    @property
    def workspace(self) -> Workspace:
        """The workspace, with its settings as they are now."""
        return self._memory.workspace

    def add(self, role: str, content: str | list[Any] | None = None, **more: Any) -> None:
        """Add a message to the chat: `more` are its other fields, such as `tool_calls` or `tool_call_id`."""
        self.extend([{"role": role, "content": content, **more}])

    def extend(self, messages: Sequence[Mapping[str, Any]]) -> None:
        """Add messages as they are."""
        with self._lock:
            self._chat += checked(list(messages))

    @property
    def chat(self) -> list[Message]:
        """Every message that was added, as it was given."""
        with self._lock:
            return list(self._chat)

    def messages(self, chat: Sequence[Mapping[str, Any]] | None = None) -> list[Message]:
        """The messages to send for what was added, or for a chat that the program keeps itself.

        OverBudget where the system messages and the newest one do not fit; nothing of those is ever cut.
        """
        with self._lock:
            options = ContextOptions(
                self.budget, private=self.private, count=self.count, inject=self.inject, session=self.session
            )
            given = self._chat if chat is None else list(chat)
            self.last = prepare(self._memory, given, options, core=self.core)
            return self.last.messages

    def end(self) -> None:
        """End the session: what was stated in it is forgotten, but for what `ingest` wrote down."""
        if self._notes:
            self._notes.end()

    def close(self) -> None:
        """Let go of the index; the chat stays, the session too."""
        if self._memory.resident:
            self._memory.resident.close()

    def __enter__(self) -> Window:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
