"""Labelled questions: one JSON object a line, with what must be found. Reads and writes such lines; opens no file."""

from __future__ import annotations

import json
from itertools import zip_longest
from typing import Any, NamedTuple

from ..errors import Usage
from ..facts import Citation

__all__ = ["Gold", "Question", "Target", "read_label", "render_label", "same_question", "target_of"]


class Gold(NamedTuple):
    """One item that answers, as the label says it: a citation, an id or a page, and the id of the cited line if kept."""

    said: str
    ref: str | None = None


class Target(NamedTuple):
    """What the words of a gold item mean: lines, an id, or both, where the id knows better."""

    citation: Citation | None
    ref: str | None


class Question(NamedTuple):
    """A labelled question, and the line of the file on which it stands."""

    line: int
    text: str
    gold: tuple[Gold, ...] = ()
    sessions: tuple[str, ...] = ()
    type: str = ""
    as_of: str | None = None
    workspace: str | None = None
    id: str | None = None
    file: str = ""

    @property
    def place(self) -> str:
        """`questions.jsonl line 4`."""
        return f"{self.file} line {self.line}".lstrip()


_CURE = 'write one JSON object a line: {"question": "…", "gold": ["memory/2025-11-27.md#L12"]}'


def read_label(text: str, line: int) -> Question | None:
    """The question on a line of a label file, None for a blank one; Usage, which names the line, for anything else.

    Unknown keys are ignored. `gold` and `gold_sessions` may be a single string; `session` is another name of the latter.
    """
    bare = text.strip(" \t\r\n\0\ufeff")  # a power failure leaves zeros, an editor a byte order mark
    if not bare:
        return None
    try:
        read = json.loads(bare)
    except (ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else getattr(error, "msg", str(error))
        raise Usage(f"line {line} is not JSON: {reason}", _CURE) from None
    if not isinstance(read, dict):
        raise Usage(f"line {line} is no JSON object", _CURE)
    question = read.get("question")
    if not isinstance(question, str) or not question.strip():
        raise Usage(f'line {line} has no "question"', _CURE)
    as_of = read.get("as_of")
    if as_of is not None and not isinstance(as_of, str):
        raise Usage(f'line {line}: "as_of" is not a day', 'write "as_of": "2025-11-27"')
    sessions = _strings(read, "gold_sessions", line) or _strings(read, "session", line)
    return Question(
        line, _clean(question), _gold(read, line), tuple(dict.fromkeys(filter(None, sessions))), _word(read.get("type")) or "",
        as_of or None, _word(read.get("workspace")), _word(read.get("id")),
    )  # fmt: skip


def _gold(read: dict[str, Any], line: int) -> tuple[Gold, ...]:
    """Citations with their ids; an id without a citation stands for itself."""
    pairs = zip_longest(_strings(read, "gold", line), _strings(read, "gold_ids", line), fillvalue="")
    items = (Gold(said or ref, ref.removeprefix("^") or None if said else None) for said, ref in pairs if said or ref)
    return tuple({item.said: item for item in items}.values())


def _strings(read: dict[str, Any], key: str, line: int) -> list[str]:
    value = read.get(key)
    listed = [value] if isinstance(value, str) else [] if value is None else value
    if not isinstance(listed, list) or not all(item is None or isinstance(item, str) for item in listed):
        raise Usage(f'line {line}: "{key}" is no list of strings', _CURE)
    return [_clean(item or "").strip() for item in listed]


def _word(value: object) -> str | None:
    return None if value is None or value == "" else _clean(value if isinstance(value, str) else json.dumps(value))


def _clean(text: str) -> str:
    """Text that can be looked for and printed: JSON may spell zeros and halves of characters."""
    return text.replace("\0", " ").encode("utf-8", "replace").decode("utf-8")


def target_of(said: str) -> Target:
    """`path#L12`, `path#L12-L14`, `path#L12 ^id`, `^id`, `id`, or `path.md` for any line of that page."""
    where, _, ref = said.strip().rpartition(" ^")
    citation = Citation.parse(where or said)
    if citation is None and said.strip().lower().endswith((".md", ".markdown")):
        citation = Citation(said.strip(), 1, 10**9)
    if citation:
        return Target(citation, ref if where else None)
    return Target(None, said.strip().removeprefix("^"))


def same_question(one: str, other: str) -> bool:
    """True for questions that differ in case and spaces only."""
    return " ".join(one.casefold().split()) == " ".join(other.casefold().split())


def render_label(question: Question, onto: str | None = None) -> str:
    """The line that `read_label` reads as this question, without its line break.

    `onto` is the line whose place it takes: what that says beside the label (`answer`, any key of yours) stays.
    """
    made: dict[str, Any] = json.loads(onto.strip(" \t\r\n\0\ufeff")) if onto else {}
    ids = [item.ref for item in question.gold]
    made |= {"question": question.text, "type": question.type or None, "as_of": question.as_of}
    made |= {"gold": [item.said for item in question.gold], "gold_ids": ids if any(ids) else None}
    made |= {"gold_sessions": None, "session": None}  # they were those of other gold
    return json.dumps({key: value for key, value in made.items() if value is not None}, ensure_ascii=False)
