"""A chat in OpenAI message form: read, cleaned of what must not be repeated, its tool calls kept with their results, and cut.

System messages are always sent, then the newest exchanges; older ones leave in chunks, so that the first bytes stay the same.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, pairwise
from math import ceil
from typing import Any, NamedTuple

from ..errors import OverBudget, Usage
from ..index.lexical import score, weigh
from ..language.analyzer import query_terms, stop_terms, terms
from ..language.sentences import sentence_ends
from ..language.tokens import Counter
from ..markdown.escape import beginning, many
from ..recall.surroundings import plain_words
from ..recall.wording import has_wording, is_courtesy, is_polite
from .fence import fenced_blocks, tamed, without_fenced
from .pack import Item, plain

Message = dict[str, Any]  # as its sender wrote it; keys that memctl does not know stay as they are

_SYSTEM = ("system", "developer")
_ROLES = {*_SYSTEM, "user", "assistant", "tool", "function"}
_REASONING = ("reasoning_content", "reasoning", "reasoning_details", "thinking")
_THINKING_PARTS = ("thinking", "redacted_thinking", "reasoning")
_PER_MESSAGE = 4  # tokens of the marks around a message
_PER_CALL = 8
_PICTURE = 1100  # tokens of an image or a sound, whose data is not text: as much as usual encoders take
_PICTURES = ("image_url", "image", "input_image", "input_audio", "audio", "video", "video_url", "file")


def read_chat(text: str, name: str = "the chat") -> list[Message]:
    """The messages of a JSON document: a list, or an object with `messages`. Usage names the place of what is wrong."""
    try:
        read = json.loads(text.removeprefix("\ufeff"))
    except json.JSONDecodeError as error:
        raise Usage(f"{name}: line {error.lineno}, column {error.colno}: {error.msg}", _FORM) from error
    except (ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else "a number of too many digits"
        raise Usage(f"{name}: {reason}", _FORM) from error
    return checked_messages(read.get("messages") if isinstance(read, dict) else read, name)


_FORM = 'the form is [{"role": "user", "content": "…"}, …]'


def checked_messages(messages: Any, name: str = "the chat") -> list[Message]:
    """Messages that can be worked with; Usage says which one cannot."""
    if not isinstance(messages, list | tuple):
        raise Usage(f"{name} is not a list of messages", _FORM)
    if not messages:
        raise Usage(f"{name} has no messages", _FORM)
    for number, message in enumerate(messages, 1):
        if not isinstance(message, Mapping):
            raise Usage(f"{name}: message {number} is not an object", _FORM)
        if not isinstance(message.get("role"), str):
            raise Usage(f"{name}: message {number} has no role", _FORM)
        if not isinstance(message.get("content"), str | list | None):
            raise Usage(f"{name}: message {number}: content is neither text, a list of parts nor null", _FORM)
    return [dict(message) for message in messages]


def is_system(message: Message) -> bool:
    """True for what is never cut."""
    return message["role"] in _SYSTEM


def is_turn(message: Message) -> bool:
    """True for a message that a person sent; results of tools come under the name of the user in one dialect."""
    return message["role"] == "user" and not any(part.get("type") == "tool_result" for part in _parts(message))


def _parts(message: Message) -> list[dict[str, Any]]:
    content = message.get("content")
    return [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []


def prose_of(message: Message) -> str:
    """The text of a message, its parts joined."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    return "\n".join(str(part.get("text") or "") for part in _parts(message) if "text" in part)


def cost_of(message: Message, count: Counter) -> int:
    """Tokens of a message: text, tool calls with their arguments, names; a picture counts as a fixed number."""
    total = _PER_MESSAGE
    for key, value in message.items():
        if key == "role" or value is None:
            continue
        if key == "content":
            total += count(value) if isinstance(value, str) else sum(_part_cost(part, count) for part in value)
        elif key == "tool_calls" and isinstance(value, list):
            total += sum(_PER_CALL + count(_dumped(call)) for call in value)
        else:
            total += count(value if isinstance(value, str) else _dumped(value))
    return total


def _part_cost(part: Any, count: Counter) -> int:
    if not isinstance(part, dict):
        return count(_dumped(part))
    if part.get("type") in _PICTURES:
        return _PICTURE
    text = part.get("text")
    rest = {key: value for key, value in part.items() if key not in ("type", "text")}
    return (count(text) if isinstance(text, str) else 0) + (count(_dumped(rest)) if rest else 0) + 2


def _dumped(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def cleaned(messages: Sequence[Message]) -> tuple[list[Message | None], list[str], str]:
    """The messages without blocks that memctl put into them (None for one that was nothing else), what was odd, and the
    block that already stands in the newest message of the user, if there is one."""
    newest = max((at for at, message in enumerate(messages) if is_turn(message)), default=-1)
    ends = [messages[newest]] if newest >= 0 else []
    ends += [m for m in messages[newest + 1 : newest + 2] if ends and is_system(m) and _unfenced(m) is None]  # `inject`
    held = "".join([block for m in ends for block in fenced_blocks(prose_of(m))][-1:])
    unknown = sorted({message["role"] for message in messages} - _ROLES)
    warnings = [f"role {role!r} is unknown; its messages are kept" for role in unknown]
    return list(map(_unfenced, messages)), warnings, held


def _unfenced(message: Message) -> Message | None:
    """A message without our blocks; None for a system message that held nothing else: we put it there."""
    made = _rewritten(message, without_fenced)
    only_ours = made is not message and is_system(message) and not prose_of(made).strip()
    return None if only_ours and all("text" in part for part in _parts(made)) else made


def _rewritten(message: Message, change: Callable[[str], str]) -> Message:
    """A message with another text; parts that become empty by it go. The same object if nothing changed."""
    content = message.get("content")
    if isinstance(content, str):
        made = change(content)
        return message if made == content else {**message, "content": made}
    if not isinstance(content, list):
        return message
    parts: list[Any] = []
    for part in content:
        text = part.get("text") if isinstance(part, dict) else None
        changed = change(text) if isinstance(text, str) else None
        if changed is None or changed == text:
            parts.append(part)
        elif changed.strip():
            parts.append({**part, "text": changed})
    return message if parts == content else {**message, "content": parts}


def without_thinking(message: Message) -> Message:
    """A message of the assistant without its thinking: in fields, in parts, between tags in the text."""
    if message["role"] != "assistant":
        return message
    made = {key: value for key, value in message.items() if key not in _REASONING}
    content = made.get("content")
    if isinstance(content, list):
        made["content"] = [p for p in content if not (isinstance(p, dict) and p.get("type") in _THINKING_PARTS)]
    return _rewritten(made, _unthought)


def _unthought(text: str) -> str:
    """A text without `<think>…</think>` at the beginning of a line, outside code; or up to a lone `</think>`."""
    if "think" not in text:
        return text
    made = text
    for name in ("think", "thinking"):
        _, mark, rest = made.rpartition(f"</{name}>")  # behind it every opening mark would look in vain, to the end
        if mark:
            closed = len(made) - len(rest.lstrip())
            thought = re.compile(rf"^[ \t]*<{name}>.*?</{name}>\s*", re.DOTALL | re.MULTILINE)
            told = thought.sub(lambda m: m[0] if m.string.count("```", 0, m.start()) % 2 else "", made[:closed])
            made = told + made[closed:]
    if made == text and "<think" not in text:
        made = re.sub(r"\A.*?^</think(?:ing)?>\s*", "", text, count=1, flags=re.DOTALL | re.MULTILINE)
    if re.match(r"\s*<think(?:ing)?>", made) and "</think" not in made:
        made = ""  # it was cut off while thinking
    return made


def _calls(message: Message) -> list[str]:
    """The ids of the calls that a message makes; a name for the older form."""
    calls = message.get("tool_calls")
    found = [str(call.get("id")) for call in calls if isinstance(call, dict)] if isinstance(calls, list) else []
    if isinstance(message.get("function_call"), dict):
        found.append(f"function:{message['function_call'].get('name')}")
    return found + [str(part.get("id")) for part in _parts(message) if part.get("type") == "tool_use"]


def _answers(message: Message) -> list[str] | None:
    """The ids of the calls that a message answers; [""] where it does not say, None where it is not a result."""
    if message["role"] == "tool":
        return [str(message.get("tool_call_id") or "")]
    if message["role"] == "function":
        return [f"function:{message.get('name')}"]
    results = [str(part.get("tool_use_id") or "") for part in _parts(message) if part.get("type") == "tool_result"]
    return results or None


def paired(messages: Sequence[Message | None]) -> tuple[list[Message | None], dict[int, int], list[str]]:
    """The messages without results that answer no call and without calls that nothing answers (but those at the end).

    Also the pairs, as the place of each result and of its call, and what was taken out.
    """
    made = list(messages)
    pairs: dict[int, int] = {}
    opened: dict[str, int] = {}
    answered: set[tuple[int, str]] = set()
    last, end = -1, 0
    warnings: list[str] = []
    for at, message in enumerate(messages):
        if message is None:
            continue
        asked = _calls(message)
        opened |= dict.fromkeys(asked, at)
        last = at if asked else last
        told = _answers(message)
        if told is None:
            end = at
            continue
        found = [opened.get(each, last if not each else -1) for each in told]
        if min(found) < 0:
            made[at] = None
            warnings.append(f"message {at + 1} is left out: it answers a tool call that is not in the chat")
            continue
        pairs[at] = min(found)
        answered |= {(opened.get(each, last), each) for each in told} | {(place, "") for place in found if "" in told}
    # From the last message that is not a result on, calls may still wait for theirs.
    for at, message in enumerate(made[:end]):
        if message is not None:
            made[at] = _without_calls(message, at, answered, warnings)
    return made, pairs, warnings


def _without_calls(message: Message, at: int, answered: set[tuple[int, str]], warnings: list[str]) -> Message | None:
    """A message without the calls that nothing answers; None where nothing is left of it."""
    open_calls = [each for each in _calls(message) if (at, each) not in answered]
    if not open_calls or (at, "") in answered:
        return message
    warnings.append(f"message {at + 1}: a tool call without a result is left out")
    made = dict(message)
    if made.get("tool_calls"):
        made["tool_calls"] = [
            c for c in made["tool_calls"] if not (isinstance(c, dict) and str(c.get("id")) in open_calls)
        ]
        if not made["tool_calls"]:
            del made["tool_calls"]
    if any(each.startswith("function:") for each in open_calls):
        made.pop("function_call", None)
    if isinstance(made.get("content"), list):
        uses = [part for part in _parts(made) if part.get("type") == "tool_use" and str(part.get("id")) in open_calls]
        made["content"] = [part for part in made["content"] if part not in uses]
    return made if made.get("content") or _calls(made) else None


def set_beside(message: Message, block: str) -> Message:
    """A message with a block behind what it says, in the form that its content has."""
    if not block:
        return message
    content = message.get("content")
    if isinstance(content, list):
        return {**message, "content": [*content, {"type": "text", "text": block}]}
    return {**message, "content": f"{content}\n\n{block}" if content else block}


# -- what is sent -----------------------------------------------------------------------------------------------------

_STEP = 20  # what stands before the chat counts in twentieths of the budget: a line more in it moves no cut
_ORIGINALS = 12
_BEGINNING = 4  # messages that are the beginning of a chat
_WEAK = 0.4  # of the best score: what is below that belongs to another question
_USER = 1.2  # what the user said counts more than an answer to it
_PASSAGE = 600  # characters of an older message that are shown at most
_ECHO = 0.8  # share of the words of a message that an answer of about its length repeats
_PRIMING = 3  # tokens with which an answer begins
_QUOTED = r"(?<=[\w./-])#[LM]\d"  # the citation of a recalled line


class Cut(NamedTuple):
    """What is sent: places of messages, in order; `gone` are the places left out; `thinking` of the newest exchange may stay."""

    kept: Sequence[int]
    gone: Sequence[int]
    thinking: bool
    warnings: Sequence[str] = ()


class ChatLimits(NamedTuple):
    """How a chat is cut."""

    recalled: float = 0.2  # the share kept free for what is recalled,
    most: int = 4000  # and so many tokens at most
    fewest: int = 5  # exchanges that are kept if they fit at all
    low: float = 0.5  # how full the room for the chat is after a chunk of exchanges has gone

    def room(self, budget: int, base: int = 0) -> int:
        """Tokens kept free for what is recalled."""
        return min(self.most, int(self.recalled * max(0, budget - base)))


def cut(
    messages: Sequence[Message | None], pairs: Mapping[int, int], budget: int, count: Counter, before: int = 0, limits: ChatLimits | None = None,
) -> Cut:  # fmt: skip
    """What is sent of a cleaned chat, within `budget` less `before`. OverBudget where system and the newest message do not fit.

    The cut is found by playing the chat back from its beginning: a later call with more messages makes the same
    decisions about the older ones, and so does one that is given what an earlier call gave back.
    """
    limits = limits or ChatLimits()
    there = {at: message for at, message in enumerate(messages) if message is not None}
    lean = {at: cost_of(without_thinking(message), count) for at, message in there.items()}
    fixed = [at for at, message in there.items() if is_system(message)]
    turns = [at for at, message in there.items() if is_turn(message)]

    def cost(some: Iterable[int]) -> int:
        return sum(lean[at] for at in some)

    base = before + _PRIMING + cost(fixed)
    groups = _groups(turns, pairs, [at for at in there if at not in set(fixed)])
    if not groups:
        _demand(base, budget, "the system messages take")
        return Cut(fixed, (), False)
    step = ceil(budget / _STEP)
    rounded = min(budget, ceil(base / step) * step)
    room = budget - rounded - limits.room(budget, rounded)
    newest, dropped = _newest(turns, pairs, groups[-1], lean, room)
    _demand(base + cost(newest[:1]), budget, "system and the newest message take")
    _demand(base + cost(newest), budget, "system, the newest message and the last result take")
    costs = [*map(cost, groups[:-1]), cost(newest)]
    start = _start(costs, min(max(room, costs[-1]), budget - base), limits)
    kept = [*fixed, *(at for group in groups[start:-1] for at in group), *newest]
    thought = sum(cost_of(there[at], count) - lean[at] for at in newest)
    told = []
    if start and len(groups) - start < limits.fewest:
        told.append(f"{many(len(groups) - start, 'exchange fits', 'exchanges fit')} into the budget: the last")
    if dropped:
        told.append(f"{many(len(dropped), 'message')} of the tool calls in the newest exchange left out")
    gone = [*(at for group in groups[:start] for at in group), *dropped]
    return Cut(sorted(kept), sorted(gone), base + sum(costs[start:]) + thought <= budget, told)


def _demand(needed: int, budget: int, what: str) -> None:
    if needed > budget:
        cure = f"give --budget {needed} or more, or shorten that message"
        raise OverBudget(f"{what} {needed:,} tokens, the budget is {budget:,}; neither is ever cut", cure, needed)


def _groups(turns: Sequence[int], pairs: Mapping[int, int], places: Sequence[int]) -> list[list[int]]:
    """Exchanges: a message of the user with all that follows it. What stands before the first joins it; exchanges
    between which a tool call and its result are split are one."""
    number = {at: max(0, bisect_right(turns, at) - 1) for at in places}
    joined = list(range(len(turns) or 1))  # each with the first exchange that it is one with
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
    turns: Sequence[int], pairs: Mapping[int, int], group: Sequence[int], lean: Mapping[int, int], room: int
) -> tuple[list[int], list[int]]:
    """The newest exchange; where it alone is too long, without its older tool calls and answers: (kept, left out)."""
    head = max(set(turns).intersection(group), default=group[0])
    units: dict[int, list[int]] = {}  # a call with its results, by its place
    call_of: dict[int | None, int] = {}
    for at in group:
        call_of[at] = call_of.get(pairs.get(at), at)
        units.setdefault(call_of[at], []).append(at)
    first = units.pop(call_of[head])
    rest = list(units.values())
    left = room - sum(lean[at] for at in first)
    while rest and (len(rest) > 1 or rest[0][0] < head) and sum(lean[at] for unit in rest for at in unit) > left:
        rest.pop(0)
    kept = {*first, *(at for unit in rest for at in unit)}
    return [head, *sorted(kept - {head})], [at for at in group if at not in kept]


def newest_question(messages: Sequence[Message | None], newest: int) -> Iterator[str]:
    """What the newest message asks; one of a word or two by itself first, if it says anything, then with the one before it.

    Thanks and greetings ask nothing.
    """
    message = messages[newest]
    text = prose_of(message) if message else ""
    if is_courtesy(text):
        return
    if set(terms(text)) - stop_terms() or len(query_terms(text)) > 2:
        yield text
    if len(query_terms(text)) <= 2:
        before = (m for m in reversed(messages[:newest]) if m is not None and is_turn(m))
        yield "\n".join(filter(None, (text, prose_of(next(before, {"role": "user"})))))


def originals(
    messages: Sequence[Message | None], gone: Sequence[int], question: str, name: str, further: bool = False
) -> list[Item]:
    """What older messages, no longer sent, said about a question, in their own words: best first, cited by number.

    Only what the user and the assistant said: results of tools came from outside. What the assistant only echoed, or
    answered out of recalled lines, is not an original. Ranked as lines are, by their words and those beside them. With `further` all
    of them, behind those that speak of the question the newest: to use what is left of a budget.
    """
    texts = dict(_said(messages, gone))
    wanted = dict.fromkeys(query_terms(question))  # in the order of the question: chance must choose nothing
    words = {at: terms(text) for at, text in texts.items()}
    if not wanted or not words:
        return []
    roles = {at: str(message["role"]) for at, message in enumerate(messages) if message is not None}
    held = {term: sum(term in each for each in words.values()) for term in wanted}
    found = score(weigh(held, len(words)), {at: " ".join(each) for at, each in words.items()}, only_telling=True)
    scores = {at: each.score * (_USER if roles[at] == "user" else 1) for at, each in found.items()}
    best = sorted((at for at in scores if scores[at] > 0), key=lambda at: (-scores[at], -at))
    if has_wording("beginning", question):
        best = sorted(texts)[:_BEGINNING]
    elif further:
        best += sorted((at for at in texts if at not in set(best)), reverse=True)
    else:
        least = _WEAK * max(scores.values(), default=0.0)
        best = [at for at in best[:_ORIGINALS] if scores[at] >= least]
    return [_original(at, roles[at], texts[at], set(wanted), name) for at in best]


def _said(messages: Sequence[Message | None], gone: Sequence[int]) -> Iterator[tuple[int, str]]:
    """Places and texts of what the user and the assistant said themselves."""
    asked: frozenset[str] = frozenset()
    for at in gone:
        message = messages[at]
        if message is None or message["role"] not in ("user", "assistant"):
            continue
        text = prose_of(without_thinking(message)).strip()
        words = plain_words(text)
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
    line = f"- [{plain(source)}] {role}: {shown}"
    return Item("recalled", text, source, "", None, role, None, line, "chat")


def _passage(text: str, wanted: set[str]) -> str:
    """The part of a text that speaks of what is asked, in its own words; `…` where something is left out."""
    if len(text) <= _PASSAGE:
        return text
    ends = pairwise((0, *sentence_ends(text), len(text)))
    pieces = [piece for first, last in ends if (piece := text[first:last]).strip()]
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
    shown = beginning("".join(pieces[first : last + 1]).strip(), _PASSAGE)
    return f"{'… ' if first else ''}{shown}{' …' if last + 1 < len(pieces) and not shown.endswith('…') else ''}"
