"""Chat: a list of messages in, the list to send out: within the budget, with what belongs to the newest message recalled.

`Window` keeps such a list for a program.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping, Sequence
from datetime import date, datetime, time
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from ..index.open_memory import OpenMemory
from ..index.resident import Resident
from ..language.tokens import Counter
from ..notes.workspace import Workspace, find_workspace
from ..recall.answer import plain_words, repeats
from ..recall.wording import is_polite
from .chat_messages import (
    ChatLimits,
    Message,
    checked,
    cleaned,
    cost_of,
    cut,
    is_system,
    is_turn,
    originals,
    paired,
    questions_of,
    set_beside,
    text_of,
    without_thinking,
)
from .context import ContextOptions, core_of, room_beside, staleness
from .counters import counter_of
from .layers import Layers
from .pack import Item, fitting, recalled_block, stable_part
from .session import session_file, session_items, session_notes

_SAME = 0.7  # share of its words from which an older message says what a line of the workspace says
_BEHIND = ("recalled", "session")  # layers that stand behind the newest message
_MARKS = 60  # tokens of the marks and the head of a block


class Prepared(NamedTuple):
    """`messages` is ready to send: `used` of `budget` tokens. `dropped` counts messages of the chat that are not in it."""

    messages: list[Message]
    used: int
    budget: int
    warnings: tuple[str, ...]
    items: tuple[Item, ...]
    dropped: int

    def as_json(self) -> dict[str, Any]:
        """The chat as plain values."""
        items = [item.as_json() for item in self.items]
        counts = {"used": self.used, "budget": self.budget, "dropped": self.dropped}
        return {"schema": 1, "messages": self.messages} | counts | {"items": items, "warnings": list(self.warnings)}


def prepare(
    memory: OpenMemory, messages: Sequence[Any], options: ContextOptions, *, core: bool = True, name: str = "chat"
) -> Prepared:
    """The messages to send for a chat, within the budget.

    System messages stay whole, with the core, the known facts and the lessons behind the first of them (without `core`: none of them); the last
    5 to 10 exchanges stay (more, where there is room); thinking of past exchanges goes; what belongs to the newest message
    is recalled behind it, from the workspace and from the messages that are no longer sent (cited as `name#M12`). Nothing
    that is given is changed. Usage for what is not a chat, OverBudget where system and the newest message do not fit.
    """
    given = checked(messages)
    memory = memory if options.private else memory.public()
    budget, count, filters = options.settled(memory)

    def job(opened: OpenMemory) -> Prepared:
        text, warnings = core_of(opened) if core else ("", [])
        warnings += staleness(opened)
        layers = Layers(opened, count, filters, text)
        left = room_beside(text, budget, count)
        known = layers.known(left) if core else []
        lessons = layers.lessons(int(left * layers.share("lessons")), known) if core else []
        before = [*known, *lessons]
        inject = options.inject or opened.workspace.settings.inject
        stable = stable_part(text, {"known": known, "lessons": lessons})
        made = _Chat(given, stable, budget, count, name, layers, inject == "system")
        items = made.recall(before, made.session(options.session) if options.session is not None else [])
        told = tuple(dict.fromkeys([*made.warnings, *warnings, *layers.warnings]))
        return Prepared(made.messages, made.used, budget, told, (*before, *items), len(made.cut.gone))

    return memory.run(job)


class _Chat:
    """One chat on its way: cleaned, cut, with what was recalled."""

    def __init__(
        self, given: Sequence[Message], stable: str, budget: int, count: Counter, name: str, layers: Layers, as_system: bool
    ) -> None:  # fmt: skip
        """Put the stable part behind the first system message and cut what does not fit."""
        self._budget, self._count, self._name, self._layers, self._as_system = budget, count, name, layers, as_system
        settings = layers.workspace.settings
        self._limits = ChatLimits(layers.share("recalled"), settings.recalled_most, settings.exchanges, settings.chunk)
        found, warnings, self._held = cleaned(given)
        self._all, pairs, orphans = paired(found)
        opening: list[Message] = []
        if stable:
            for at, message in enumerate(self._all):
                if message is not None and is_system(message) and text_of(message).strip():
                    self._all[at] = set_beside(message, stable)
                    break
            else:
                opening = [{"role": "system", "content": stable}]
        spent = sum(cost_of(message, count) for message in opening)
        self.cut = cut(self._all, pairs, budget, count, spent, self._limits)
        self.warnings = [*warnings, *orphans, *self.cut.warnings]
        sent = {at: self._all[at] or {"role": ""} for at in self.cut.kept}
        self._newest = max((at for at, message in sent.items() if is_turn(message)), default=-1)
        self._places = {at: len(opening) + place for place, at in enumerate(sent)}
        thinking = self._newest if self.cut.thinking else len(self._all)  # from there on it stays
        self.messages = opening + [m if at >= thinking else without_thinking(m) for at, m in sent.items()]

    @property
    def used(self) -> int:
        """Tokens of what is sent."""
        return 3 + sum(cost_of(message, self._count) for message in self.messages)

    def session(self, name: str) -> list[Item]:
        """What was stated in this session and stands in no message that is sent, within its share."""
        said = session_notes(self._layers.workspace, name, self._all)
        items = session_items(said, self.cut.gone, name, self._name)
        return fitting(items, int(self._budget * self._layers.share("session")), self._count)

    def recall(self, before: Sequence[Item], session: list[Item]) -> list[Item]:
        """Put what belongs to the newest message behind it. A block that stands there already stays, if it fits."""
        if self._newest < 0:
            self.warnings.append("no message of a user: nothing is recalled")
            return []
        if self._held and self._put(self._held):
            return []
        room = min(self._budget - self.used, max(self._limits.room(self._budget), _MARKS)) - _MARKS
        room -= self._layers.cost(session)
        if room <= 0:
            return []
        gone, unsent = self.cut.gone, set(self.cut.gone)
        note = f"Messages {gone[0] + 1} to {gone[-1] + 1} of this chat are not shown." if len(gone) > 1 else ""
        # A question leans on what is sent: the same chat sent again asks the same.
        for question in questions_of([None if at in unsent else m for at, m in enumerate(self._all)], self._newest):
            items = self._belonging(question, room, (*before, *session))
            items = [*session, *items, *self._further(question, (*before, *session, *items))] if items else []
            while items:
                if any(self._put(recalled_block(items, *told)) for told in ((note, self._layers.rest), ())):
                    return items
                items.pop()
        return session if session and self._put(recalled_block(session)) else []

    def _further(self, question: str, before: Sequence[Item]) -> list[Item]:
        """More messages that are no longer sent, by worth, where the budget has room for them; as they were said one after the other."""
        if is_polite(text_of(self._all[self._newest] or {})):
            return []
        taken = self._layers.cost(each for each in before if each.layer in _BEHIND)
        room = min(self._budget - self.used, self._limits.most) - _MARKS - taken
        older = originals(self._all, self.cut.gone, question, self._name, further=True)
        return sorted(fitting(older, room, self._count, before), key=lambda item: int(item.source.rpartition("#M")[2]))

    def _belonging(self, question: str, room: int, before: Sequence[Item]) -> list[Item]:
        """What the workspace and the messages no longer sent say about a question, within a room of tokens."""
        cost = self._layers.cost
        older = originals(self._all, self.cut.gone, question, self._name)
        found = self._layers.recalled(question, room, before)
        first = fitting(found, room - min(cost(older), room // 3), self._count, before)
        told = [plain_words(item.text) for item in (*before, *first)]
        fresh = [item for item in older if not repeats(item.text, told, _SAME)]
        kept = fitting(fresh, room - cost(first), self._count, (*before, *first))
        # An original that holds a line of the workspace and more does not push it out: the line has the citation.
        return [*fitting(found, room - cost(kept), self._count, before), *kept]

    def _put(self, block: str) -> bool:
        """Set a block behind the newest message of the user; False, with nothing changed, if it does not fit."""
        place, plain = self._places[self._newest], self.messages
        if self._as_system:
            behind = [plain[place], {"role": "system", "content": block}]
        else:
            behind = [set_beside(plain[place], block)]
        self.messages = [*plain[:place], *behind, *plain[place + 1 :]]
        if self.used > self._budget:
            self.messages = plain
        return self.messages is not plain


# -- the chat of a program --------------------------------------------------------------------------------------------

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
        if not isinstance(workspace, Workspace):
            workspace = find_workspace(str(workspace), os.environ, Path.cwd())
        self.budget, self.private, self.core = budget, private, core
        self.session = session
        self.inject: str | None = None
        """Where what is recalled stands: "user" (in the newest message) or "system" (behind it); None: as in the settings."""
        if session is not None:
            session_file(workspace, session)  # Usage for a name that is none
        # Each call counts the whole chat, of which one message is new.
        self.count: Counter = lru_cache(_COUNTED)(counter if callable(counter) else counter_of(workspace, counter))
        clock = datetime.now if today is None else lambda: datetime.combine(today, time())
        self._memory = OpenMemory(workspace, clock, resident=Resident(workspace))
        self._lock = threading.RLock()
        self._chat: list[Message] = []
        self.last: Prepared | None = None  # what the last `messages` made

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
            self.last = prepare(self._memory, self._chat if chat is None else list(chat), options, core=self.core)
            return self.last.messages

    def end(self) -> None:
        """End the session: what was stated in it is forgotten, but for what `ingest` wrote down."""
        if self.session is not None:
            session_file(self.workspace, self.session).unlink(missing_ok=True)

    def close(self) -> None:
        """Let go of the index; the chat stays, the session too."""
        self._memory.close()

    def __enter__(self) -> Window:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
