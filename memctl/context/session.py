"""The layer of a session: what its user stated about the task at hand and how they want things, until the session ends.

Scratch, in `.memory/session-NAME.json`: what is worth more is for `ingest` to write into the logs. Kept in the words that were
said, but for secrets; `forget` deletes it, since those words may be what is to be forgotten.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from ..errors import MemctlError, Usage
from ..ingest.conversation import whole_value
from ..ingest.extract import CandidateFact, candidates
from ..ingest.own_words import Sentence, language_of, own_sentences, starts
from ..ingest.turns import Turn
from ..language.analyzer import query_terms
from ..language.secrets import find_secrets
from ..notes.files import SESSION, prepare_memory, write_derived
from ..notes.workspace import Workspace
from ..system import locked
from .chat_messages import Message, is_turn, text_of
from .pack import Item, plain

_LAST = ("wish_length", "wish_language")  # of these the last one holds
_WISHES = (*_LAST, "wish", "at_work")
_MOST = 100  # statements of one session
_SECONDS = 2.0  # the longest wait for another process of the same session
_TAGGED = re.compile(r"<(\w+[_-][\w-]+)\b[^<>]*>.*?</\1>", re.DOTALL)  # what programs put into a message


def stated(messages: Sequence[Message | None], before: Sequence[str] = ()) -> dict[str, int]:
    """What the user stated in a chat, in their own words, each with the place of its message; the last of each stands.

    What was stated `before` has places below 0; a correction takes the place of that too.
    """
    texts = [text_of(each) if each is not None and is_turn(each) else "" for each in messages]
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
    by_source: dict[str, list[str]] = {}
    for said, at in told.items():
        if at < 0 or at in left:
            source = f"{chat}#M{at + 1}" if at >= 0 else f"session {name}"
            by_source.setdefault(source, []).append(said)
    items = []
    for source, text in ((source, " ".join(parts)) for source, parts in reversed(by_source.items())):
        line = f"- [{plain(source)}] user, in this session: {plain(text)}"
        items.append(Item("session", text, source, "", None, "user", None, line, "session"))
    return items
