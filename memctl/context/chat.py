"""Chat: a list of messages in, the list to send out: within the budget, with what belongs to the newest message recalled.

`Window` keeps such a list for a program.
"""

from __future__ import annotations

import json
import os
import re
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime, time
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, Self

from ..errors import MemctlError, Usage
from ..facts import grouped
from ..index.open_memory import OpenMemory
from ..index.resident import Resident
from ..ingest.conversation import whole_value
from ..ingest.extract import CandidateFact, candidates
from ..ingest.own_words import Sentence, language_of, own_sentences, starts
from ..ingest.turns import Turn
from ..language.analyzer import query_terms
from ..language.secrets import find_secrets
from ..language.tokens import Counter
from ..notes.files import SESSION, prepare_memory, write_derived
from ..notes.workspace import Workspace, find_workspace
from ..recall.surroundings import plain_words, repeats
from ..recall.wording import is_polite
from ..system import locked
from . import chat_messages
from .chat_messages import ChatLimits, Message, cost_of, is_system, is_turn, newest_question, prose_of, set_beside
from .context import ContextOptions, core_of, counter_of, room_beside, staleness
from .layers import Layers
from .pack import Item, fitting, plain, recalled_block, stable_part

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
    given = chat_messages.checked_messages(messages)
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
        made = _Chat.of(given, stable, budget, count, name, layers, as_system=inject == "system")
        items = made.recall(before, made.session(options.session) if options.session is not None else [])
        told = tuple(dict.fromkeys([*made.warnings, *warnings, *layers.warnings]))
        return Prepared(made.messages, made.used, budget, told, (*before, *items), len(made.cut.gone))

    return memory.run(job)


@dataclass
class _Chat:
    """One chat on its way: cleaned, cut, with what was recalled."""

    _layers: Layers
    _budget: int
    _count: Counter
    _name: str
    _as_system: bool
    _limits: ChatLimits
    _all: list[Message | None]
    _held: str  # the block that its newest message has already
    cut: chat_messages.Cut
    _newest: int  # the message of the user that is answered; -1 for none
    _place: int  # of it among those that are sent
    messages: list[Message]
    warnings: list[str]

    @classmethod
    def of(
        cls, given: Sequence[Message], stable: str, budget: int, count: Counter, name: str, layers: Layers, *, as_system: bool
    ) -> _Chat:  # fmt: skip
        """The chat with the stable part behind its first system message, without what does not fit."""
        settings = layers.workspace.settings
        limits = ChatLimits(layers.share("recalled"), settings.recalled_most, settings.exchanges, settings.chunk)
        found, warnings, held = chat_messages.cleaned(given)
        whole, pairs, orphans = chat_messages.paired(found)
        opening = _put_stable(whole, stable)
        spent = sum(cost_of(message, count) for message in opening)
        cut = chat_messages.cut(whole, pairs, budget, count, spent, limits)
        sent = {at: whole[at] or {"role": ""} for at in cut.kept}
        newest = max((at for at, message in sent.items() if is_turn(message)), default=-1)
        place = len(opening) + list(sent).index(newest) if newest >= 0 else -1
        thinking = newest if cut.thinking else len(whole)  # from there on it stays
        messages = opening + [m if at >= thinking else chat_messages.without_thinking(m) for at, m in sent.items()]
        told = [*warnings, *orphans, *cut.warnings]
        return cls(layers, budget, count, name, as_system, limits, whole, held, cut, newest, place, messages, told)

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
        for question in newest_question([None if at in unsent else m for at, m in enumerate(self._all)], self._newest):
            items = self._belonging(question, room, (*before, *session))
            items = [*session, *items, *self._further(question, (*before, *session, *items))] if items else []
            while items:
                if any(self._put(recalled_block(items, *told)) for told in ((note, self._layers.rest), ())):
                    return items
                items.pop()
        return session if session and self._put(recalled_block(session)) else []

    def _further(self, question: str, before: Sequence[Item]) -> list[Item]:
        """More messages that are no longer sent, by worth, where the budget has room for them; as they were said one after the other."""
        if is_polite(prose_of(self._all[self._newest] or {})):
            return []
        taken = self._layers.cost(each for each in before if each.layer in _BEHIND)
        room = min(self._budget - self.used, self._limits.most) - _MARKS - taken
        older = chat_messages.originals(self._all, self.cut.gone, question, self._name, further=True)
        return sorted(fitting(older, room, self._count, before), key=lambda item: int(item.source.rpartition("#M")[2]))

    def _belonging(self, question: str, room: int, before: Sequence[Item]) -> list[Item]:
        """What the workspace and the messages no longer sent say about a question, within a room of tokens."""
        cost = self._layers.cost
        older = chat_messages.originals(self._all, self.cut.gone, question, self._name)
        found = self._layers.recalled(question, room, before)
        first = fitting(found, room - min(cost(older), room // 3), self._count, before)
        told = [plain_words(item.text) for item in (*before, *first)]
        fresh = [item for item in older if not repeats(item.text, told, _SAME)]
        kept = fitting(fresh, room - cost(first), self._count, (*before, *first))
        # An original that holds a line of the workspace and more does not push it out: the line has the citation.
        return [*fitting(found, room - cost(kept), self._count, before), *kept]

    def _put(self, block: str) -> bool:
        """Set a block behind the newest message of the user; False, with nothing changed, if it does not fit."""
        place, plain = self._place, self.messages
        if self._as_system:
            behind = [plain[place], {"role": "system", "content": block}]
        else:
            behind = [set_beside(plain[place], block)]
        self.messages = [*plain[:place], *behind, *plain[place + 1 :]]
        if self.used > self._budget:
            self.messages = plain
        return self.messages is not plain


def _put_stable(messages: list[Message | None], stable: str) -> list[Message]:
    """Put the stable part behind the first system message; without one, the message in which it opens the chat."""
    if not stable:
        return []
    for at, message in enumerate(messages):
        if message is not None and is_system(message) and prose_of(message).strip():
            messages[at] = set_beside(message, stable)
            return []
    return [{"role": "system", "content": stable}]


# -- the layer of a session: what its user stated about the task, until the session ends -------------------------------

# Scratch, in `.memory/session-NAME.json`: what is worth more is for `ingest` to write into the logs. Kept in the words that
# were said, but for secrets; `forget` deletes it, since those words may be what is to be forgotten.

_LAST = ("wish_length", "wish_language")  # of these the last one holds
_WISHES = (*_LAST, "wish", "at_work")
_MOST = 100  # statements of one session
_SECONDS = 2.0  # the longest wait for another process of the same session
_TAGGED = re.compile(r"<(\w+[_-][\w-]+)\b[^<>]*>.*?</\1>", re.DOTALL)  # what programs put into a message


def stated(messages: Sequence[Message | None], before: Sequence[str] = ()) -> dict[str, int]:
    """What the user stated in a chat, in their own words, each with the place of its message; the last of each stands.

    What was stated `before` has places below 0; a correction takes the place of that too.
    """
    texts = [prose_of(each) if each is not None and is_turn(each) else "" for each in messages]
    here = " ".join(" ".join(texts).split())
    earlier = [each for each in before if each not in here]
    said = enumerate([*earlier, *texts], -len(earlier))
    own = {at: _TAGGED.sub(" ", text) for at, text in said if text}
    turns = [Turn("user", text, 1, 1, number=at) for at, text in own.items()]
    wishes = [(turn.number, each.said, None) for turn in turns for each in own_sentences(turn.text) if _is_wish(each)]
    facts = [(each.turn, each.quote, each) for each in candidates(turns)]
    found, told = dict[str, int](), dict[str, str]()
    for at, quote, fact in sorted([*facts, *wishes], key=lambda each: (each[0], own[each[0]].find(each[1]))):
        if find_secrets(quote):
            continue
        quote = " ".join(quote.split())
        if fact:
            found.pop(_corrected(fact, list(found), told), None)
            told[fact.fact.text] = quote
        found.pop(quote, None)
        found[quote] = at
    return {said: found[said] for said in _holding(list(found))}


def _corrected(fact: CandidateFact, said: Sequence[str], told: Mapping[str, str]) -> str:
    """The statement that one corrects: it names it, or the value in it; an empty text where there is none."""
    if fact.corrects and fact.corrects in told:
        return told[fact.corrects]
    old = fact.instead[0] if fact.instead else ""
    valued = next((each for each in reversed(said) if old and whole_value(old, each)), "")
    if valued or not starts(language_of(fact.quote), "correct_start").match(fact.quote):
        return valued
    own = set(query_terms(fact.quote))  # the newest statement that has half of its words
    shared = ((each, set(query_terms(each))) for each in reversed(said))
    return next((each for each, words in shared if 2 * len(own & words) >= min(len(own), len(words)) > 0), "")


def _is_wish(sentence: Sentence) -> bool:
    """True for what says how the user wants to be answered, or what is being done."""
    asked = sentence.is_question and not (_last_of(sentence) and sentence.opens("wish_asked"))
    return not asked and not sentence.has("reported") and any(map(sentence.has, _WISHES))


def _last_of(sentence: Sentence) -> set[str]:
    return {name for name in _LAST if sentence.has(name)}


def _holding(every: list[str]) -> list[str]:
    """Statements without those of a length or a language that a later one takes the place of."""
    said: set[str] = set()
    kept = []
    for text in reversed(every):
        names = {name for sentence in own_sentences(text) for name in _last_of(sentence)}
        if not names or names - said:
            kept.append(text)
        said |= names
    return kept[::-1]


def session_file(workspace: Workspace, name: str) -> Path:
    """Where the statements of a session are kept; Usage for a name that can be no file's."""
    if not re.fullmatch(r"\w[\w.-]{0,63}", str(name)):
        raise Usage(f"{name!r} is not a session name", "write up to 64 letters, digits, - and _")
    return workspace.whole.memory / f"{SESSION}{name}.json"


def session_notes(workspace: Workspace, name: str, messages: Sequence[Message | None]) -> dict[str, int]:
    """Every statement of a session, those of earlier runs among them, oldest first, and its place in the chat; kept if one is new."""
    file = session_file(workspace, name)

    def said() -> list[str]:
        with suppress(OSError, ValueError, KeyError, TypeError):
            return [each for each in json.loads(file.read_text("utf-8"))["stated"] if isinstance(each, str)]
        return []

    def with_these(before: list[str]) -> dict[str, int]:
        return dict(list(stated(messages, before).items())[-_MOST:])

    before = said()
    told = with_these(before)
    if list(told) != before:
        with suppress(OSError, MemctlError):  # scratch: a full disk ends no chat
            folder = prepare_memory(workspace.whole)
            with locked(folder / "session.lock", _SECONDS):  # another process may have added to it
                told = with_these(said())
                write_derived(file, json.dumps({"stated": list(told)}).encode())
    return told


def session_items(told: Mapping[str, int], gone: Sequence[int], name: str, chat: str) -> list[Item]:
    """What of the session no message that is sent says, the newest first: cited by its message, or by the session's name."""
    left = set(gone)
    lost = ((said, at) for said, at in told.items() if at < 0 or at in left)
    by_source = grouped((f"{chat}#M{at + 1}" if at >= 0 else f"session {name}", said) for said, at in lost)
    items = []
    for source, text in ((source, " ".join(parts)) for source, parts in reversed(by_source.items())):
        line = f"- [{plain(source)}] user, in this session: {plain(text)}"
        items.append(Item("session", text, source, "", None, "user", None, line, "session"))
    return items


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
            self._chat += chat_messages.checked_messages(list(messages))

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

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
