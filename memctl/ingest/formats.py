"""The formats of transcripts, and which one a file has: messages as of OpenAI, Claude Code, Codex, ChatGPT, Markdown."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from functools import cache
from itertools import chain, islice
from typing import Any, NamedTuple

from ..language.sentences import opens_fence
from ..language.words import languages
from .json_stream import JsonItem, Text, decoded_pieces, json_items, starts_with_json
from .own_words import pairs
from .turns import MAX_TEXT, ROLES, Notes, Turn, numbered, role_of, time_of

FORMS = ("openai", "claude-code", "codex", "chatgpt", "markdown")
_MAX_LINE = 1 << 20
_IN_PLACE = "a message that the program wrote in the user's place; left out"
_SPEAKER = ("role", "from", "author", "speaker")
_TIMES = ("timestamp", "created_at", "create_time", "created", "time", "date", "ts", "when")
_THOUGHTS = ("reasoning_content", "reasoning", "thinking", "thoughts")
_LISTS = ("messages", "conversations", "chat_messages", "history", "turns")
_CONTENTS = ("content", "value", "text", "output", "parts")
_TOOLS = {"tool_result", "function_call_output", "tool_use_result", "server_tool_result", "web_search_tool_result"}
# What the program wrote into a user's message: what was run, what it answered, what the model is reminded of. One that
# never ends goes to the end of the message.
_INSERTED = re.compile(
    r"<(system-reminder|command-(?:name|message|args)|local-command-(?:stdout|stderr|caveat)|bash-(?:input|stdout|stderr)"
    r"|ide_(?:opened_file|selection|diagnostics)|task-notification|teammate-message)>.*?(?:</\1>|\Z)"
    r"|\[Request interrupted by user[^\]\n]{0,40}\]", re.DOTALL,
)  # fmt: skip
_SUMMARY = "This session is being continued from a previous conversation"
_CODEX_TYPES = {"session_meta", "response_item", "event_msg", "turn_context", "world_state", "compacted", "token_usage_record"}  # fmt: skip
# What the program says in the user's place: instructions of the folder, where it runs, what the user did elsewhere.
_CODEX_INSERTED = ("# AGENTS.md instructions", "<environment_context>", "<user_instructions>", "<INSTRUCTIONS>", "<turn_aborted>", "<user_shell_command>", "<skill>")  # fmt: skip
_NODE = re.compile(r'"([\w:.-]{1,80})"\s{0,8}:\s{0,8}\{')
_SILENT = {"user_editable_context", "model_editable_context", "reasoning_recap", "system_error"}


def read_transcript(
    pieces: Iterable[bytes], notes: Notes, *, form: str | None = None, encoding: str | None = None,
    owner: str | None = None, first_line: int = 1,
) -> Iterator[Turn]:  # fmt: skip
    """The turns of a transcript given in pieces. `notes` tells afterwards what it was taken for and what was odd.

    `form` is one of `FORMS` and overrides what the content looks like, `encoding` likewise; `owner` is a name that
    stands for the user in a dialogue, `first_line` the number of the first line of JSON lines. Any bytes are read; what
    makes no sense is told and left out. Memory is bounded, however long the transcript.
    """
    text = Text(decoded_pieces(pieces, encoding, notes), first_line)
    if form == "markdown" or (form is None and not starts_with_json(text)):
        notes.form = "markdown"
        return numbered(markdown_turns(text.lines(_MAX_LINE), notes, owner), notes)
    notes.form = form or ""
    return numbered(_json_turns(text, notes), notes)


def _json_turns(text: Text, notes: Notes) -> Iterator[Turn]:
    any_turn = False
    for item in json_items(text, notes):
        for turn in _turns(item, notes, notes.form):
            any_turn = True
            yield turn
    notes.form = notes.form or "openai"
    if not any_turn:
        notes.say(0, "no message in it")


def _turns(item: JsonItem, notes: Notes, form: str) -> Iterator[Turn]:
    """The turns of a value: a message, a conversation, or a list of either; `form` is what the transcript is known to be."""
    for name, fits, turns_of in _ENVELOPES:
        if form in ("", name) and fits(item.value):
            notes.form = notes.form or name
            yield from turns_of(item, notes)
            return
    inner = None if _is_message(item.value) else _inner(item.value)
    if form == "chatgpt":
        notes.count(item.line, "not a conversation of a ChatGPT export; left out")
    elif inner is not None:
        for part in inner:
            yield from _turns(item._replace(value=part), notes, form)
    else:
        if _is_message(item.value):
            notes.form = notes.form or "openai"
        yield from _message_turns(item, notes)


def _inner(value: Any) -> list[Any] | None:
    """The list that a value is, or the list of messages in it."""
    lists = [value.get(key) for key in _LISTS] if isinstance(value, dict) else [value]
    return next((each for each in lists if isinstance(each, list)), None)


def _is_message(value: Any) -> bool:
    return isinstance(value, dict) and any(isinstance(value.get(key), str) for key in _SPEAKER)


def _message_turns(item: JsonItem, notes: Notes, when: datetime | None = None) -> Iterator[Turn]:
    """The turns of one message: what was thought, what was said, and what tools answered, each apart."""
    value, line = item.value, item.line
    if not isinstance(value, dict):
        return
    word = next((value[key] for key in _SPEAKER if key in value), None)
    if word is None and str(value.get("type")) in _TOOLS:
        word = "tool"
    if word is None:
        notes.count(line, "an object without a role; left out")
        return
    # A `speaker` or an `author` who is not a role is a person; a `role` that nobody knows is none.
    said_by = next((value[key] for key in ("speaker", "author") if isinstance(value.get(key), str)), "").strip()
    person = said_by if "role" not in value and said_by.casefold() not in ROLES else ""
    role = "user" if person else role_of(word, line, notes)
    when = next((found for key in _TIMES if (found := time_of(value.get(key)))), when)
    named = person or value.get("name")
    name = named[:80] if isinstance(named, str) else None
    said = [("thinking", value[key]) for key in _THOUGHTS if isinstance(value.get(key), str)]
    content = next((value[key] for key in _CONTENTS if key in value), None)
    for kind, text in [*said, *_parts(content, role, line, notes)]:
        yield Turn(kind, text, line, item.end_line, when, name)


def _parts(content: Any, role: str, line: int, notes: Notes) -> list[tuple[str, str]]:
    """(role, text) of a content: parts of one role that follow each other are one text."""
    said: list[tuple[str, str]] = []
    for part in content if isinstance(content, list) else [content]:
        found = _part(part, role, line, notes)
        if found and said and said[-1][0] == found[0]:
            said[-1] = found[0], f"{said[-1][1]}\n\n{found[1]}"
        elif found:
            said.append(found)
    return said


def _part(part: Any, role: str, line: int, notes: Notes) -> tuple[str, str] | None:
    """What one part says: text is the role's own, a thought is thinking, a result is a tool's; pictures say nothing."""
    if isinstance(part, str):
        return role, part
    if not isinstance(part, dict):
        if part is not None:
            notes.count(line, f"content that is {type(part).__name__}, not text; left out")
        return None
    kind = str(part.get("type"))
    if kind in _TOOLS:
        inner = part.get("content", part.get("output"))
        texts = [text for _, text in _parts(inner, "tool", line, notes)]
        return ("tool", "\n".join(texts)) if texts else None
    if kind in ("thinking", "reasoning", "redacted_thinking"):
        thought = part.get("thinking", part.get("text", part.get("summary")))
        return ("thinking", thought) if isinstance(thought, str) else None
    text = next((part[key] for key in ("text", "refusal", "transcript") if isinstance(part.get(key), str)), None)
    return None if text is None else (role, text)


def _is_claude_code(value: Any) -> bool:
    """True for a line of a Claude Code session; other programs that put a message into an envelope are read so too."""
    if not isinstance(value, dict):
        return False
    has_session = not {"sessionId", "leafUuid", "messageId", "uuid"}.isdisjoint(value)
    return isinstance(value.get("message"), dict) or ("type" in value and "role" not in value and has_session)


def _claude_code_turns(item: JsonItem, notes: Notes) -> Iterator[Turn]:
    """The turns of a line of a session: no sub-agents (their `user` is a program), no summaries, no inserted text.

    Branches that were rewound stay: what was said there was said. A forked session repeats lines; as known they fall out.
    """
    value = item.value
    message = value.get("message")
    if not isinstance(message, dict):
        return  # summaries, snapshots, queue operations, progress, system events
    is_summary = value.get("isCompactSummary") or value.get("isVisibleInTranscriptOnly")
    if value.get("isSidechain") or is_summary:
        what = "a message of a sub-agent" if value.get("isSidechain") else "a summary of what went before"
        notes.count(item.line, f"{what}; left out")
        return
    message = {**message, "role": message.get("role", value.get("type"))}
    for turn in _message_turns(item._replace(value=message), notes, time_of(value.get("timestamp"))):
        if turn.role != "user":
            yield turn
        elif value.get("isMeta") or turn.text.lstrip().startswith(_SUMMARY):
            notes.count(item.line, _IN_PLACE)
        else:
            yield turn._replace(text=_INSERTED.sub("", turn.text))


def _is_codex(value: Any) -> bool:
    has_payload = isinstance(value, dict) and "role" not in value and "payload" in value
    return has_payload and isinstance(value.get("type"), str) and value["type"] in _CODEX_TYPES


def _codex_turns(item: JsonItem, notes: Notes) -> Iterator[Turn]:
    """The turns of a line: what user and assistant said. Events repeat it, and the rest nobody said."""
    payload = item.value["payload"]
    is_message = isinstance(payload, dict) and payload.get("type") == "message"
    if item.value["type"] != "response_item" or not is_message or payload.get("role") not in ("user", "assistant"):
        return
    for turn in _message_turns(item._replace(value=payload), notes, time_of(item.value.get("timestamp"))):
        if turn.role == "user" and turn.text.lstrip().startswith(_CODEX_INSERTED):
            notes.count(item.line, _IN_PLACE)
        else:
            yield turn


def is_conversation(value: Any) -> bool:
    """True for a conversation of a ChatGPT export: an object with a tree of messages."""
    return isinstance(value, dict) and isinstance(value.get("mapping"), dict)


def conversation_turns(item: JsonItem, notes: Notes) -> Iterator[Turn]:
    """The turns of the active branch of a conversation, first to last, each with the line of its node."""
    mapping = item.value["mapping"]
    branch = _branch(mapping, item.value.get("current_node"))
    if sum(map(_has_message, mapping.values())) > len(branch):
        notes.count(item.line, "a conversation with branches; only the one shown last was read")
    places: dict[str, int] = {}  # how many lines below the beginning a node stands
    if "\n" in item.raw:
        ends = [match.start() for match in re.finditer("\n", item.raw)]
        for match in _NODE.finditer(item.raw):
            places.setdefault(match[1], bisect_left(ends, match.start()))
    started = time_of(item.value.get("create_time"))
    for node in branch:
        for turn in _node_turns(mapping[node]["message"], item.line + places.get(node, 0), notes):
            yield turn if turn.when else turn._replace(when=started)


def _has_message(node: Any) -> bool:
    return isinstance(node, dict) and isinstance(node.get("message"), dict)


def _branch(mapping: dict[str, Any], current: Any) -> list[str]:
    """The nodes with a message from the root to the current one; without a current one, to the newest leaf."""

    def created(name: str) -> float:
        time = mapping[name]["message"].get("create_time") if _has_message(mapping[name]) else None
        return float(time) if isinstance(time, int | float) else 0.0

    if not isinstance(current, str) or current not in mapping:
        leaves = [name for name, node in mapping.items() if isinstance(node, dict) and not node.get("children")]
        current = max(leaves, key=created, default=None)
    path: dict[str, None] = {}
    while isinstance(current, str) and isinstance(mapping.get(current), dict) and current not in path:
        path[current] = None
        current = mapping[current].get("parent")
    return [name for name in reversed(path) if _has_message(mapping[name])]


def _node_turns(message: dict[str, Any], line: int, notes: Notes) -> Iterator[Turn]:
    author, content, metadata = message.get("author"), message.get("content"), message.get("metadata")
    hidden = isinstance(metadata, dict) and metadata.get("is_visually_hidden_from_conversation")
    if not isinstance(author, dict) or not isinstance(content, dict) or hidden:
        return
    kind = str(content.get("content_type"))
    if kind in _SILENT:
        return
    role = role_of(author.get("role"), line, notes)
    if kind == "thoughts":
        role = "thinking"
    elif role == "assistant" and (kind == "code" or message.get("recipient") not in (None, "all")):
        return  # what it had a tool do
    elif kind in ("execution_output", "tether_quote", "tether_browsing_display"):
        role = "tool"
    name = author.get("name")
    text = "\n\n".join(_texts(content))
    if text.strip():
        yield Turn(role, text, line, line, time_of(message.get("create_time")), name if isinstance(name, str) else None)


def _texts(content: dict[str, Any]) -> Iterator[str]:
    """The texts of a content: its parts, of those with pictures and voice what was written or heard."""
    parts = content.get("parts")
    if not isinstance(parts, list):
        parts = content.get("thoughts") if isinstance(content.get("thoughts"), list) else [content]
    for part in parts or ():
        if isinstance(part, str):
            yield part
        elif isinstance(part, dict):
            yield from (part[key] for key in ("text", "content", "result") if isinstance(part.get(key), str))


_ENVELOPES: tuple[tuple[str, Callable[[Any], bool], Callable[[JsonItem, Notes], Iterator[Turn]]], ...] = (
    ("chatgpt", is_conversation, conversation_turns),
    ("claude-code", _is_claude_code, _claude_code_turns),
    ("codex", _is_codex, _codex_turns),
)


# -- chats written as Markdown ----------------------------------------------------------------------------------------
# A dialogue written down in Markdown: `**User:**`, `User:`, `## User`, «Я:», "用户：", names of people, or questions after `> `.
#
# Who speaks is found out from its beginning: the first speaker's mark is the mark of all, with its level, bullet, clock and
# blank line, and another one inside of a text begins no turn. A text may imitate all of that: what stands below the words of
# somebody less trusted is nobody's for sure.

_STAMP = r"(?:\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)?|\d\d:\d\d(?::\d\d)?)"
_WHO = r"(?P<who>[^\W\d_][\w .'’-]{0,30}?)"
_BEFORE = rf"(?P<bullet>[-*+]\s{{1,3}})?(?:[\[(]?(?P<before>{_STAMP})[\])]?\s{{1,3}})?"
_AFTER = rf"(?:\s{{0,3}}(?:[\[(]|[-–—,]\s?|)(?P<after>{_STAMP})[\])]?)?"
_STYLES: dict[str, re.Pattern[str]] = {
    "bold": re.compile(rf"{_BEFORE}(?:\*\*|__){_WHO}{_AFTER}\s?(?:[:：]\s?(?:\*\*|__)|(?:\*\*|__){_AFTER.replace('after', 'later')}\s?[:：]|(?:\*\*|__)\s*$)\s*"),
    "heading": re.compile(rf"(?P<level>\#{{1,6}})\s{{1,3}}(?:\*\*)?{_BEFORE}{_WHO}{_AFTER}\s?[:：]?(?:\*\*)?\s*$"),
    "plain": re.compile(rf"{_BEFORE}[«\"“]?{_WHO}{_AFTER}[»\"”]?\s?[:：](?!//)\s*"),
}  # fmt: skip
_OPENS = '-*+[(_«"“'  # what may stand before a name or a time
_DAY = re.compile(r"\#{0,6}\s{0,3}\**(\d{4}-\d\d-\d\d)\**\s*$")
_OPEN_FENCE = 2000  # lines after which a fence that nothing closes was none
_AHEAD = 400  # lines by which it is judged who speaks
_MOST_PEOPLE = 4
_MOST_LINES = 100_000  # of a page without speakers
_MOSTLY = 0.7  # the share of a dialogue's paragraphs that begin with a speaker, and of speakers with a time


@cache
def _speakers() -> dict[str, str]:
    table = (pair for language in languages() for pair in pairs(language, "speakers"))
    return {name: role for names, role in table for name in names.split("|")}


class Label(NamedTuple):
    """A name that may be a speaker's at the beginning of a line, how it is marked, when, and what stands behind it."""

    name: str
    style: tuple[str, ...]
    stamp: str
    rest: str

    @property
    def key(self) -> str:
        """The name as names are compared."""
        return self.name.casefold()


def label_of(line: str) -> Label | None:
    """The name that a line begins with, if it is marked as a speaker's may be."""
    head, first = line[:200], line[:1]
    if not first or not (first.isalnum() or first == "#" or first in _OPENS):
        return None
    colon, bold = ":" in head or "：" in head, "**" in head or "__" in head
    for style in ("heading",) if first == "#" else ("bold", "plain") if bold else ("plain",) if colon else ():
        if match := _STYLES[style].match(head):
            stamp = match["before"] or match["after"] or (match["later"] if style == "bold" else "") or ""
            marks = (style, match["level"] if style == "heading" else "", "bullet" if match["bullet"] else "")
            return Label(" ".join(match["who"].split()), marks, stamp, line[match.end() :])
    return None


class _Cast(NamedTuple):
    """Who speaks in a dialogue, by the names folded, and what marks a turn."""

    roles: dict[str, str]
    style: tuple[str, ...]
    stamped: bool
    spaced: bool

    def role(self, label: Label, after_blank: bool, before: str) -> str | None:
        """The role of a label that begins a turn here; `before` is the line above of an answer, which may lead to an example."""
        role = self.roles.get(label.key)
        marked = label.style == self.style and bool(label.stamp) >= self.stamped and after_blank >= self.spaced
        leads_here = role == "user" and before and before.rstrip("*_ ").endswith((":", "："))
        return role if marked and not leads_here else None


def _cast(lines: list[str], owner: str | None) -> _Cast | None:
    """Who speaks: those whose role is known; else people, where nearly every paragraph begins with one of a few names."""
    fence, labels, blocks = _Fence(), list[tuple[Label, bool]](), 0
    for above, line in zip(["", *lines], lines, strict=False):
        if fence.holds(line) or not line.strip():
            continue
        label, starts = label_of(line), not above.strip()
        if label is None and line.startswith("#"):
            continue
        blocks += starts or label is not None
        if label:
            labels.append((label, starts))
    known = dict(_speakers()) | ({owner.casefold(): "user"} if owner else {})
    first = next((label for label, _ in labels if label.key in known), None)
    has_agent = any(known.get(label.key) == "assistant" for label, _ in labels)
    if first is None or (not has_agent and first.key not in _speakers()):
        if not labels:
            return None
        first = labels[0][0]
        people = Counter(label.key for label, _ in labels if label.style == first.style)
        if not 2 <= len(people) <= _MOST_PEOPLE or people.total() < _MOSTLY * blocks:
            return _Cast(known, first.style, False, False) if owner and first.key in known else None
        known = dict.fromkeys(people, "user")
    styled = [(label, starts) for label, starts in labels if label.style == first.style]
    alike = [(label, starts) for label, starts in styled if label.key in known]
    if "user" not in {known[label.key] for label, _ in alike}:  # a name in place of "User"
        others = Counter(label.key for label, _ in styled if label.key not in known)
        known |= {name: "user" for name, count in others.most_common(1) if count > 1}
    stamped = sum(bool(label.stamp) for label, _ in alike) >= _MOSTLY * len(alike)
    return _Cast(known, first.style, stamped, len(alike) > 1 and alike[1][1])


class _Fence:
    """The code block, if any, that a line is in: there nobody is named."""

    def __init__(self) -> None:
        self._mark, self._lines = "", 0

    def holds(self, line: str) -> bool:
        """True on a line of a code block, its fences too."""
        mark = opens_fence(line) if "`" in line or "~" in line else ""
        if not self._mark:
            self._mark, self._lines = mark, 0
            return bool(mark)
        self._lines += 1
        closes = mark and mark.startswith(self._mark) and not line.strip().strip(self._mark[0])
        if closes or self._lines > _OPEN_FENCE:
            self._mark = ""
        return True


class _Spoken:
    def __init__(self, role: str, name: str | None, when: datetime | None, number: int, text: str) -> None:
        self.role, self.name, self.when = role, name, when
        self.first = self.last = number
        self._lines, self._size = [text], len(text)
        self.above = text if text.strip() else ""

    def add(self, line: str, number: int) -> None:
        """One more line; of a very long text only the beginning is kept."""
        if self._size <= MAX_TEXT:
            self._lines.append(line)
            self._size += len(line) + 1
        if line.strip():
            self.last, self.above = number, line

    def turn(self) -> Turn:
        """The turn as it was read."""
        return Turn(self.role, "\n".join(self._lines).rstrip(), self.first, self.last, self.when, self.name)


def markdown_turns(lines: Iterable[tuple[int, str, bool]], notes: Notes, owner: str | None = None) -> Iterator[Turn]:
    """The turns of a dialogue. Where two turns of the user follow each other, the first may be a part of the answer above it."""
    above, last = "", None
    for turn in _with_sureness(_marked_turns(lines, notes, owner)):
        if last is not None:
            if (above, last.role, turn.role) == ("assistant", "user", "user") and "\n\n" in last.text.strip():
                notes.count(last.line, "marked as the user's amid an answer; taken as a part of that")
                last = last._replace(role="assistant")
            yield last
            above = last.role
        last = turn
    if last is not None:
        yield last


def _with_sureness(turns: Iterable[Turn]) -> Iterator[Turn]:
    """Turns that are sure where all words above are trusted as much: of the user, of the agent, of tools; people do not vouch for each other."""
    first, lowest = None, 2
    for turn in turns:
        first = first or (turn.role, turn.name)
        wanted = 2 if turn.role == "user" else 0 if turn.role == "tool" else 1
        lowest = min(lowest, wanted if (turn.role, turn.name) == first else 1 if wanted else 0)
        yield turn if turn.sure == (wanted <= lowest) else turn._replace(sure=wanted <= lowest)


def _marked_turns(lines: Iterable[tuple[int, str, bool]], notes: Notes, owner: str | None) -> Iterator[Turn]:
    numbered = ((number, line.removeprefix("\ufeff") if number == 1 else line) for number, line, _ in lines)
    ahead = list(islice(numbered, _AHEAD))
    cast = _cast([line for _, line in ahead], owner)
    if cast is None:
        yield from _quoted_turns([line for _, line in chain(ahead, islice(numbered, _MOST_LINES))], notes)
        return
    spoken: _Spoken | None = None
    day, fence, above = "", _Fence(), ""
    for number, line in chain(ahead, numbered):
        label, role = None, None
        if line and not fence.holds(line) and (label := label_of(line)):
            before = spoken.above if spoken and spoken.role == "assistant" else ""
            role = cast.role(label, not above.strip(), before)
        above = line
        if label and role:
            if spoken:
                yield spoken.turn()
            named = None if label.key in _speakers() else label.name
            spoken, fence = _Spoken(role, named, _when(label.stamp, day), number, label.rest), _Fence()
        elif line and (heading := _DAY.match(line)):
            day = heading[1]
        elif spoken:
            spoken.add(line, number)
    if spoken:
        yield spoken.turn()


def _when(stamp: str, day: str) -> datetime | None:
    """The time of a turn: its own, a clock on the day of the heading above, or that day."""
    if stamp and "-" not in stamp:
        return time_of(f"{day}T{stamp}") if day else None
    return time_of(stamp or day) if stamp or day else None


def _quoted_turns(lines: list[str], notes: Notes) -> Iterator[Turn]:
    """A page without speakers where the user's words stand after `> ` and the answers do not."""
    if {line.startswith(">") for line in lines if line.strip()} != {True, False}:
        notes.say(0, "no speaker is marked: begin turns with `User:` and `Assistant:`, or with two names")
        return
    start, quoted = 0, False
    for number, line in enumerate([*lines, ""]):
        if number == len(lines) or (line.strip() and line.startswith(">") != quoted):
            text = "\n".join(re.sub(r"^>\s?", "", each) for each in lines[start:number])
            if text.strip():
                yield Turn("user" if quoted else "assistant", text.rstrip(), start + 1, number)
            start, quoted = number, line.startswith(">")
