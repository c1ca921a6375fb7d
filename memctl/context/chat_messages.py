"""A chat in OpenAI message form: read, cleaned of what must not be repeated, and its tool calls kept with their results."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..errors import Usage
from ..language.tokens import Counter
from .fence import fenced_blocks, without_fenced

Message = dict[str, Any]
"""One message as its sender wrote it; keys that memctl does not know stay as they are."""

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
    return checked(read.get("messages") if isinstance(read, dict) else read, name)


_FORM = 'the form is [{"role": "user", "content": "…"}, …]'


def checked(messages: Any, name: str = "the chat") -> list[Message]:
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


def text_of(message: Message) -> str:
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
    held = "".join([block for m in ends for block in fenced_blocks(text_of(m))][-1:])
    unknown = sorted({message["role"] for message in messages} - _ROLES)
    warnings = [f"role {role!r} is unknown; its messages are kept" for role in unknown]
    return list(map(_unfenced, messages)), warnings, held


def _unfenced(message: Message) -> Message | None:
    """A message without our blocks; None for a system message that held nothing else: we put it there."""
    made = _rewritten(message, without_fenced)
    only_ours = made is not message and is_system(message) and not text_of(made).strip()
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
        changed: Any = change(text) if isinstance(text, str) else text
        if changed == text:
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
    """The ids of the calls that a message answers; [""] where it does not say, None where it is no result."""
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
    for at, message in enumerate(
        made[:end]
    ):  # from the last message that is no result on, calls may still wait for theirs
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
    if "tool_calls" in made:
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
