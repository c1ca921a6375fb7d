"""Chat: a list of messages in, the list to send out: within the budget, with what belongs to the newest message recalled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..index.open_memory import OpenMemory
from ..language.tokens import Counter
from ..notes.settings import Settings
from ..recall.asked import is_polite
from .chat_messages import (
    Message,
    checked,
    cleaned,
    cost_of,
    is_system,
    is_turn,
    paired,
    set_beside,
    text_of,
    without_thinking,
)
from .chat_window import ChatLimits, Cut, cut, originals, questions_of
from .context import ContextOptions, core_of, room_beside, staleness
from .layers import Layers
from .pack import Item, fitting, recalled_block, repeats, share_of, stable_part, words_of
from .session import SessionNotes, session_items

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
        made = _Chat(given, budget, count, name, opened.workspace.settings, options.inject)
        text, warnings = core_of(opened) if core else ("", [])
        warnings += staleness(opened)
        layers = Layers(opened, count, filters, text)
        left = room_beside(text, budget, count)
        known = layers.known(left) if core else []
        lessons = layers.lessons(int(left * layers.share("lessons")), known) if core else []
        made.begin(stable_part(text, {"known": known, "lessons": lessons}))
        notes = SessionNotes(opened.workspace, options.session) if options.session is not None else None
        items = made.recall(
            layers, [*known, *lessons], made.session(notes, options.session or "", layers) if notes else []
        )
        told = dict.fromkeys([*made.warnings, *warnings, *layers.warnings])
        return Prepared(made.messages, made.used, budget, tuple(told), (*known, *lessons, *items), len(made.cut.gone))

    return memory.run(job)


class _Chat:
    """One chat on its way: cleaned, cut, with what was recalled."""

    def __init__(
        self, given: Sequence[Message], budget: int, count: Counter, name: str, settings: Settings, inject: str | None
    ) -> None:
        self._budget, self._count, self._name = budget, count, name
        self._as_system = (inject or settings.inject) == "system"
        self._limits = ChatLimits(
            share_of(settings, "recalled"), settings.recalled_most, settings.exchanges, settings.chunk
        )
        found, warnings, self._held = cleaned(given)
        self._all, self._pairs, orphans = paired(found)
        self.warnings = [*warnings, *orphans]
        self.messages: list[Message] = []
        self.cut = Cut((), (), 0, False)
        self._newest = -1

    def begin(self, stable: str) -> None:
        """Put the stable part behind the first system message and cut what does not fit."""
        first = next(
            (at for at, m in enumerate(self._all) if m is not None and is_system(m) and text_of(m).strip()), None
        )
        if stable and first is not None:
            self._all[first] = set_beside(self._all[first] or {}, stable)
        opening: list[Message] = [{"role": "system", "content": stable}] if stable and first is None else []
        spent = sum(cost_of(message, self._count) for message in opening)
        self.cut = cut(self._all, self._pairs, self._budget, self._count, spent, self._limits)
        self.warnings += self.cut.warnings
        newest = [at for at in self.cut.kept if is_turn(self._all[at] or {"role": ""})]
        self._newest = newest[-1] if newest else -1
        self._places = {at: len(opening) + place for place, at in enumerate(self.cut.kept)}
        self.messages = [*opening]
        for at in self.cut.kept:
            message = self._all[at] or {}
            keeps_thinking = self.cut.thinking and at >= self._newest
            self.messages.append(message if keeps_thinking else without_thinking(message))

    @property
    def used(self) -> int:
        """Tokens of what is sent."""
        return 3 + sum(cost_of(message, self._count) for message in self.messages)

    def session(self, notes: SessionNotes, name: str, layers: Layers) -> list[Item]:
        """What was stated in this session and stands in no message that is sent, within its share."""
        items = session_items(notes.add(self._all), self.cut.gone, name, self._name)
        return fitting(items, int(self._budget * layers.share("session")), self._count)

    def recall(self, layers: Layers, before: Sequence[Item], session: list[Item]) -> list[Item]:
        """Put what belongs to the newest message behind it. A block that stands there already stays, if it fits."""
        if self._newest < 0:
            self.warnings.append("no message of a user: nothing is recalled")
            return []
        if self._held and self._put(self._held):
            return []
        room = min(self._budget - self.used, max(self._limits.room(self._budget), _MARKS)) - _MARKS
        room -= layers.cost(session)
        if room <= 0:
            return []
        gone = set(self.cut.gone)  # a question leans on what is sent: the same chat sent again asks the same
        for question in questions_of([None if at in gone else m for at, m in enumerate(self._all)], self._newest):
            items = self._belonging(layers, question, room, (*before, *session))
            items = [*session, *items, *self._further(layers, question, (*before, *session, *items))] if items else []
            while items:
                if any(self._put(recalled_block(items, *told)) for told in ((self._note(), layers.rest), ())):
                    return items
                items.pop()
        return session if session and self._put(recalled_block(session)) else []

    def _further(self, layers: Layers, question: str, before: Sequence[Item]) -> list[Item]:
        """More messages that are no longer sent, by worth, where the budget has room for them; as they were said one after the other."""
        if is_polite(text_of(self._all[self._newest] or {})):
            return []
        room = (
            min(self._budget - self.used, self._limits.most)
            - _MARKS
            - layers.cost(each for each in before if each.layer in _BEHIND)
        )
        more = fitting(
            originals(self._all, self.cut.gone, question, self._name, further=True), room, self._count, before
        )
        return sorted(more, key=lambda item: int(item.source.rpartition("#M")[2]))

    def _belonging(self, layers: Layers, question: str, room: int, before: Sequence[Item]) -> list[Item]:
        """What the workspace and the messages no longer sent say about a question, within a room of tokens."""
        older = originals(self._all, self.cut.gone, question, self._name)
        found = layers.recalled(question, room, before)
        first = fitting(found, room - min(layers.cost(older), room // 3), self._count, before)
        told = [words_of(item.text) for item in (*before, *first)]
        fresh = [item for item in older if not repeats(item.text, told, _SAME)]
        kept = fitting(fresh, room - layers.cost(first), self._count, (*before, *first))
        # An original that holds a line of the workspace and more does not push it out: the line has the citation.
        return [*fitting(found, room - layers.cost(kept), self._count, before), *kept]

    def _note(self) -> str:
        gone = [at + 1 for at in self.cut.gone]
        return f"Messages {gone[0]} to {gone[-1]} of this chat are not shown." if len(gone) > 1 else ""

    def _put(self, block: str) -> bool:
        """Set a block behind the newest message of the user; False, with nothing changed, if it does not fit."""
        place = self._places[self._newest]
        plain = list(self.messages)
        if self._as_system:
            self.messages.insert(place + 1, {"role": "system", "content": block})
        else:
            self.messages[place] = set_beside(plain[place], block)
        if self.used > self._budget:
            self.messages = plain
            return False
        return True
