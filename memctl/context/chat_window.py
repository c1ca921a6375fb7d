"""Which messages of a chat are sent: system always, the newest exchanges, tool calls with their results; older ones go in
chunks, so that what is sent begins with the same bytes for many turns."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import accumulate
from math import ceil
from typing import NamedTuple

from ..errors import OverBudget
from ..index.lexical import score, weigh
from ..language.analyzer import query_terms, terms
from ..language.tokens import Counter
from ..recall.asked import asks_beginning, asks_something, is_courtesy, is_polite
from .chat_messages import Message, cost_of, is_system, is_turn, text_of, without_thinking
from .fence import tamed
from .pack import Item, words_of

_STEP = 20  # what stands before the chat counts in twentieths of the budget: a line more in it moves no cut
_ORIGINALS = 12
_BEGINNING = 4  # messages that are the beginning of a chat
_WEAK = 0.4  # of the best score: what is below that belongs to another question
_USER = 1.2  # what the user said counts more than an answer to it
_PASSAGE = 600  # characters of an older message that are shown at most
_ECHO = 0.8  # share of the words of a message that an answer of about its length repeats
_PRIMING = 3  # tokens with which an answer begins


class Cut(NamedTuple):
    """What is sent: places of messages, in order, and how many tokens they take; `gone` are the places left out."""

    kept: tuple[int, ...]
    gone: tuple[int, ...]
    used: int
    thinking: bool
    warnings: tuple[str, ...] = ()


class ChatLimits(NamedTuple):
    """How a chat is cut: `recalled` is the share kept free for what is recalled, and `most` its tokens; `fewest` exchanges are
    kept if they fit at all, and `low` is how full the room for the chat is after a chunk of exchanges has gone."""

    recalled: float = 0.2
    most: int = 4000
    fewest: int = 5
    low: float = 0.5

    def room(self, budget: int, base: int = 0) -> int:
        """Tokens kept free for what is recalled."""
        return min(self.most, int(self.recalled * max(0, budget - base)))


def cut(
    messages: Sequence[Message | None], pairs: Mapping[int, int], budget: int, count: Counter, before: int = 0, limits: ChatLimits | None = None,
) -> Cut:  # fmt: skip
    """What is sent of a cleaned chat, within `budget`, of which `before` is spent. OverBudget where system and the newest
    message do not fit.

    The cut is found by playing the chat back from its beginning: a later call with more messages makes the same
    decisions about the older ones, and so does one that is given what an earlier call gave back.
    """
    limits = limits or ChatLimits()
    places = [at for at, message in enumerate(messages) if message is not None]
    lean = {at: cost_of(without_thinking(_at(messages, at)), count) for at in places}
    fixed = [at for at in places if is_system(_at(messages, at))]
    base = before + _PRIMING + sum(lean[at] for at in fixed)
    groups = _groups(messages, pairs, [at for at in places if at not in set(fixed)])
    if not groups:
        _demand(base, budget, "the system messages take")
        return Cut(tuple(fixed), (), base, False)
    step = ceil(budget / _STEP)
    rounded = min(budget, ceil(base / step) * step)
    room = budget - rounded - limits.room(budget, rounded)
    newest, dropped = _newest(messages, pairs, groups[-1], lean, room)
    _demand(base + sum(lean[at] for at in newest[:1]), budget, "system and the newest message take")
    _demand(base + sum(lean[at] for at in newest), budget, "system, the newest message and the last result take")
    room = max(room, sum(lean[at] for at in newest))
    room = min(room, budget - base)
    costs = [sum(lean[at] for at in group) for group in groups[:-1]] + [sum(lean[at] for at in newest)]
    start = _start(costs, room, limits)
    kept = sorted([*fixed, *(at for group in groups[start:-1] for at in group), *newest])
    used = base + sum(costs[start:])
    thought = sum(cost_of(_at(messages, at), count) - lean[at] for at in newest)
    gone = sorted([*(at for group in groups[:start] for at in group), *dropped])
    return Cut(
        tuple(kept),
        tuple(gone),
        used + thought * (used + thought <= budget),
        used + thought <= budget,
        _told(groups, start, dropped, limits.fewest),
    )


def _told(groups: Sequence[Sequence[int]], start: int, dropped: Sequence[int], fewest: int) -> tuple[str, ...]:
    told = []
    if start and len(groups) - start < fewest:
        told.append(f"only the last {len(groups) - start} exchanges fit into the budget")
    if dropped:
        told.append(f"{len(dropped)} messages of the tool calls in the newest exchange are left out")
    return tuple(told)


def _at(messages: Sequence[Message | None], at: int) -> Message:
    message = messages[at]
    assert message is not None
    return message


def _demand(needed: int, budget: int, what: str) -> None:
    if needed > budget:
        raise OverBudget(
            f"{what} {needed:,} tokens, the budget is {budget:,}; neither is ever cut",
            f"give --budget {needed} or more, or shorten that message",
            needed,
        )


def _groups(messages: Sequence[Message | None], pairs: Mapping[int, int], places: Sequence[int]) -> list[list[int]]:
    """Exchanges: a message of the user with all that follows it. What stands before the first joins it; exchanges
    between which a tool call and its result are split are one."""
    starts = [at for at in places if is_turn(_at(messages, at))]
    number = {at: max(0, bisect_right(starts, at) - 1) for at in places}
    joined = list(range(len(starts) or 1))
    for result, call in pairs.items():
        if result in number and call in number:
            first, last = sorted((number[call], number[result]))
            for each in range(first, last + 1):
                joined[each] = min(joined[each], joined[first])
    made: dict[int, list[int]] = {}
    for at in places:
        made.setdefault(_root(joined, number[at]), []).append(at)
    return [made[key] for key in sorted(made)]


def _root(joined: Sequence[int], number: int) -> int:
    while joined[number] != number:
        number = joined[number]
    return number


def _start(costs: Sequence[int], room: int, limits: ChatLimits) -> int:
    """The first exchange that is kept, after playing all of them: chunks go where the room is full."""
    sums = [0, *accumulate(costs)]
    start = 0
    for last in range(len(costs)):
        if sums[last + 1] - sums[start] <= room:
            continue
        for share, least in ((limits.low, limits.fewest), (1.0, 1)):
            while sums[last + 1] - sums[start] > share * room and last - start + 1 > least:
                start += 1
            if sums[last + 1] - sums[start] <= room:
                break
    return start


def _newest(
    messages: Sequence[Message | None],
    pairs: Mapping[int, int],
    group: Sequence[int],
    lean: Mapping[int, int],
    room: int,
) -> tuple[list[int], list[int]]:
    """The newest exchange; where it alone is too long, without its older tool calls and answers: (kept, left out)."""
    head = max((at for at in group if is_turn(_at(messages, at))), default=group[0])
    units: list[list[int]] = []
    for at in group:
        call = pairs.get(at)
        home = next((unit for unit in units if call in unit), None) if call is not None else None
        if home is None:
            units.append([at])
        else:
            home.append(at)
    first = next(unit for unit in units if head in unit)
    rest = [unit for unit in units if unit is not first]
    left = room - sum(lean[at] for at in first)
    while rest and (len(rest) > 1 or rest[0][0] < head) and sum(lean[at] for unit in rest for at in unit) > left:
        rest.pop(0)
    kept = sorted([*first, *(at for unit in rest for at in unit)])
    kept = [head, *(at for at in kept if at != head)] if head in kept else kept
    return kept, [at for at in group if at not in set(kept)]


def questions_of(messages: Sequence[Message | None], newest: int) -> Iterator[str]:
    """What the newest message asks; one of a word or two by itself first, if it says anything, then with the one before it.

    Thanks and greetings ask nothing.
    """
    message = messages[newest]
    text = text_of(message) if message else ""
    if is_courtesy(text):
        return
    if asks_something(text) or len(query_terms(text)) > 2:
        yield text
    if len(query_terms(text)) <= 2:
        before = (m for m in reversed(messages[:newest]) if m is not None and is_turn(m))
        yield "\n".join(filter(None, (text, text_of(next(before, {"role": "user"})))))


def originals(
    messages: Sequence[Message | None], gone: Sequence[int], question: str, name: str, further: bool = False
) -> list[Item]:
    """What older messages, no longer sent, said about a question, in their own words: best first, cited by number.

    Only what the user and the assistant said: results of tools came from outside. What the assistant only echoed, or
    answered out of recalled lines, is no original. Ranked as lines are, by their words and those beside them. With `further` all
    of them, behind those that speak of the question the newest: to use what is left of a budget.
    """
    texts = dict(_said(messages, gone))
    wanted = set(query_terms(question))
    words = {at: terms(text) for at, text in texts.items()}
    if not wanted or not words:
        return []
    if asks_beginning(question):
        first = sorted(texts)[:_BEGINNING]
        return [_original(at, _role(messages, at), texts[at], wanted, name) for at in first]
    held = {term: sum(term in each for each in words.values()) for term in wanted}
    found = score(weigh(held, len(words)), {at: " ".join(each) for at, each in words.items()}, only_telling=True)
    scores = {at: each.score * (_USER if _role(messages, at) == "user" else 1) for at, each in found.items()}
    best = sorted((at for at in scores if scores[at] > 0), key=lambda at: (-scores[at], -at))
    if further:
        rest = sorted((at for at in texts if at not in set(best)), reverse=True)
        return [_original(at, _role(messages, at), texts[at], wanted, name) for at in (*best, *rest)]
    best = best[:_ORIGINALS]
    least = _WEAK * max((scores[at] for at in best), default=0.0)
    return [_original(at, _role(messages, at), texts[at], wanted, name) for at in best if scores[at] >= least]


def _role(messages: Sequence[Message | None], at: int) -> str:
    return str(_at(messages, at)["role"])


def _said(messages: Sequence[Message | None], gone: Sequence[int]) -> Iterator[tuple[int, str]]:
    """Places and texts of what the user and the assistant said themselves."""
    asked: frozenset[str] = frozenset()
    for at in gone:
        message = messages[at]
        if message is None or message["role"] not in ("user", "assistant"):
            continue
        text = text_of(without_thinking(message)).strip()
        words = words_of(text)
        if message["role"] == "user":
            asked = words
        elif _quoted().search(text) or (
            asked and len(words & asked) >= _ECHO * len(asked) and len(words) <= 2 * len(asked)
        ):
            continue
        if not is_polite(text):  # nor empty
            yield at, text


@cache
def _quoted() -> re.Pattern[str]:
    """The citation of a recalled line."""
    return re.compile(r"(?<=[\w./-])#[LM]\d")


def _original(at: int, role: str, text: str, wanted: set[str], name: str) -> Item:
    source = f"{name}#M{at + 1}"
    shown = "\n    ".join(line for line in tamed(_passage(text, wanted)).split("\n") if line.strip())
    return Item(
        "recalled", text, source, "", None, role, None, f"- [{' '.join(tamed(source).split())}] {role}: {shown}", "chat"
    )


def _passage(text: str, wanted: set[str]) -> str:
    """The part of a text that speaks of what is asked, in its own words; `…` where something is left out."""
    if len(text) <= _PASSAGE:
        return text
    pieces = [piece for piece in _sentences().split(text) if piece and piece.strip()]
    hits = [len(wanted & set(terms(piece))) for piece in pieces]
    best = max(range(len(pieces)), key=lambda at: (hits[at], -at))
    first = last = best
    size = len(pieces[best])
    while True:
        after, before = last + 1, first - 1
        if after < len(pieces) and size + len(pieces[after]) <= _PASSAGE:
            size, last = size + len(pieces[after]), after
        elif before >= 0 and size + len(pieces[before]) <= _PASSAGE:
            size, first = size + len(pieces[before]), before
        else:
            break
    shown = "".join(pieces[first : last + 1]).strip()
    shown = shown[:_PASSAGE].rstrip() + " …" if len(shown) > _PASSAGE else shown
    return f"{'… ' if first else ''}{shown}{' …' if last + 1 < len(pieces) and not shown.endswith('…') else ''}"


@cache
def _sentences() -> re.Pattern[str]:
    return re.compile(r"(?<=[.!?…\n])(?=\s)|(?<=[。！？\n])")
