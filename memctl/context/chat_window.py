"""Which messages of a chat are sent: system always, the newest exchanges, tool calls with their results; older ones go in
chunks, so that what is sent begins with the same bytes for many turns."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
_QUOTED = r"(?<=[\w./-])#[LM]\d"  # the citation of a recalled line
_SENTENCES = r"(?<=[.!?…\n])(?=\s)|(?<=[。！？\n])"


class Cut(NamedTuple):
    """What is sent: places of messages, in order; `gone` are the places left out; `thinking` of the newest exchange may stay."""

    kept: Sequence[int]
    gone: Sequence[int]
    thinking: bool
    warnings: Sequence[str] = ()


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

    def cost(some: Iterable[int]) -> int:
        return sum(lean[at] for at in some)

    base = before + _PRIMING + cost(fixed)
    groups = _groups(messages, pairs, [at for at in places if at not in set(fixed)])
    if not groups:
        _demand(base, budget, "the system messages take")
        return Cut(fixed, (), False)
    step = ceil(budget / _STEP)
    rounded = min(budget, ceil(base / step) * step)
    room = budget - rounded - limits.room(budget, rounded)
    newest, dropped = _newest(messages, pairs, groups[-1], lean, room)
    _demand(base + cost(newest[:1]), budget, "system and the newest message take")
    _demand(base + cost(newest), budget, "system, the newest message and the last result take")
    costs = [*map(cost, groups[:-1]), cost(newest)]
    start = _start(costs, min(max(room, costs[-1]), budget - base), limits)
    kept = [*fixed, *(at for group in groups[start:-1] for at in group), *newest]
    thought = sum(cost_of(_at(messages, at), count) - lean[at] for at in newest)
    told = []
    if start and len(groups) - start < limits.fewest:
        told.append(f"only the last {len(groups) - start} exchanges fit into the budget")
    if dropped:
        told.append(f"{len(dropped)} messages of the tool calls in the newest exchange are left out")
    gone = [*(at for group in groups[:start] for at in group), *dropped]
    return Cut(sorted(kept), sorted(gone), base + sum(costs[start:]) + thought <= budget, told)


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
    joined = list(range(len(starts) or 1))  # each with the first exchange that it is one with
    for result, call in pairs.items():
        if result in number and call in number:
            first, last = sorted((number[call], number[result]))
            for each in range(first, last + 1):
                joined[each] = min(joined[each], joined[first])
    made: dict[int, list[int]] = {}
    for at in places:
        first = number[at]
        while joined[first] != first:
            first = joined[first]
        made.setdefault(first, []).append(at)
    return [made[key] for key in sorted(made)]


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
    units: list[list[int]] = []  # a call with its results
    for at in group:
        home = next((unit for unit in units if pairs.get(at) in unit), None)
        if home is None:
            units.append([at])
        else:
            home.append(at)
    first = next(unit for unit in units if head in unit)
    rest = [unit for unit in units if unit is not first]
    left = room - sum(lean[at] for at in first)
    while rest and (len(rest) > 1 or rest[0][0] < head) and sum(lean[at] for unit in rest for at in unit) > left:
        rest.pop(0)
    kept = {*first, *(at for unit in rest for at in unit)}
    return [head, *sorted(kept - {head})], [at for at in group if at not in kept]


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
    roles = {at: str(_at(messages, at)["role"]) for at in texts}
    held = {term: sum(term in each for each in words.values()) for term in wanted}
    found = score(weigh(held, len(words)), {at: " ".join(each) for at, each in words.items()}, only_telling=True)
    scores = {at: each.score * (_USER if roles[at] == "user" else 1) for at, each in found.items()}
    best = sorted((at for at in scores if scores[at] > 0), key=lambda at: (-scores[at], -at))
    if asks_beginning(question):
        best = sorted(texts)[:_BEGINNING]
    elif further:
        best += sorted((at for at in texts if at not in set(best)), reverse=True)
    else:
        least = _WEAK * max(scores.values(), default=0.0)
        best = [at for at in best[:_ORIGINALS] if scores[at] >= least]
    return [_original(at, roles[at], texts[at], wanted, name) for at in best]


def _said(messages: Sequence[Message | None], gone: Sequence[int]) -> Iterator[tuple[int, str]]:
    """Places and texts of what the user and the assistant said themselves."""
    asked: frozenset[str] = frozenset()
    for at in gone:
        message = messages[at]
        if message is None or message["role"] not in ("user", "assistant"):
            continue
        text = text_of(without_thinking(message)).strip()
        words = words_of(text)
        is_echo = asked and len(words & asked) >= _ECHO * len(asked) and len(words) <= 2 * len(asked)
        if message["role"] == "user":
            asked = words
        elif is_echo or re.search(_QUOTED, text):
            continue
        if not is_polite(text):  # nor empty
            yield at, text


def _original(at: int, role: str, text: str, wanted: set[str], name: str) -> Item:
    source = f"{name}#M{at + 1}"
    shown = "\n    ".join(line for line in tamed(_passage(text, wanted)).split("\n") if line.strip())
    line = f"- [{' '.join(tamed(source).split())}] {role}: {shown}"
    return Item("recalled", text, source, "", None, role, None, line, "chat")


def _passage(text: str, wanted: set[str]) -> str:
    """The part of a text that speaks of what is asked, in its own words; `…` where something is left out."""
    if len(text) <= _PASSAGE:
        return text
    pieces = [piece for piece in re.split(_SENTENCES, text) if piece and piece.strip()]
    hits = [len(wanted & set(terms(piece))) for piece in pieces]
    first = last = hits.index(max(hits))
    size = len(pieces[first])
    while True:
        if last + 1 < len(pieces) and size + len(pieces[last + 1]) <= _PASSAGE:
            last += 1
            size += len(pieces[last])
        elif first and size + len(pieces[first - 1]) <= _PASSAGE:
            first -= 1
            size += len(pieces[first])
        else:
            break
    shown = "".join(pieces[first : last + 1]).strip()
    shown = shown[:_PASSAGE].rstrip() + " …" if len(shown) > _PASSAGE else shown
    return f"{'… ' if first else ''}{shown}{' …' if last + 1 < len(pieces) and not shown.endswith('…') else ''}"
