"""What was said, turn by turn: the words that readers of transcripts and those who look for facts in them share."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, NamedTuple

MAX_TEXT = 1 << 17  # characters of one message; what is longer was pasted, and nobody's statement stands in its middle
_MAX_NOTICES = 50
ROLES: dict[str, str] = {
    name: role
    for role, names in {
        "user": "user human customer client",
        "assistant": "assistant ai bot model chatgpt gpt claude agent",
        "system": "system developer instructions root platform",
        "tool": "tool function tool_result ipython function_call_output",
        "thinking": "thinking reasoning analysis",
    }.items()
    for name in names.split()
}
_UNFIT = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")


class Turn(NamedTuple):
    """One message, or one part of it, and where in the file it stands.

    Lines count from 1; in JSON the line on which the message begins, and 1 everywhere in a file of one line.
    `number` counts from 0; candidates name it. `sure` is False where the mark of its speaker may be in another's text.
    """

    role: str  # user | assistant | system | tool | thinking
    text: str
    line: int
    end_line: int
    when: datetime | None = None
    name: str | None = None
    number: int = 0
    sure: bool = True


class Notice(NamedTuple):
    """Something odd about a transcript, and the line where it shows first (0: the file as a whole)."""

    line: int
    text: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.text}" if self.line else self.text


@dataclass(slots=True)
class Notes:
    """What a reader found out on its way: the format and encoding that it took the file for, and what was odd."""

    form: str = ""
    encoding: str = ""
    notices: list[Notice] = field(default_factory=list)
    counted: dict[str, list[int]] = field(default_factory=dict)

    def say(self, line: int, text: str) -> None:
        """Remember one oddity; of very many only the first."""
        if len(self.notices) < _MAX_NOTICES:
            self.notices.append(Notice(line, text))

    def count(self, line: int, text: str) -> None:
        """Remember an oddity that comes often: told once, with its first line and how often it came."""
        if text in self.counted or len(self.counted) < _MAX_NOTICES:
            self.counted.setdefault(text, [line, 0])[1] += 1

    def all(self) -> list[Notice]:
        """Everything that was odd, in the order of the file."""
        often = (
            Notice(line, text if times == 1 else f"{text} ({times:,} times)")
            for text, (line, times) in self.counted.items()
        )
        return sorted([*self.notices, *often], key=lambda notice: notice.line)


def role_of(word: Any, line: int, notes: Notes) -> str:
    """The role that a file names; an unknown role is read as a tool, which is not trusted, and noted."""
    name = word.strip().casefold() if isinstance(word, str) else ""
    if name in ROLES:
        return ROLES[name]
    spelled = without_controls(word)[:40] if isinstance(word, str) else type(word).__name__
    notes.count(line, f"unknown role {spelled!r}, read as a tool's words, which are not trusted")
    return "tool"


def without_controls(text: str) -> str:
    """`text` without control characters and lone surrogates, which no file can keep; as many lines as before."""
    return _SURROGATE.sub("\ufffd", _UNFIT.sub(" ", text))


def time_of(value: Any) -> datetime | None:
    """The time that a number (seconds, milliseconds, microseconds) or an ISO string stands for; None for all else."""
    if isinstance(value, str) and re.fullmatch(r"\d{9,17}(?:\.\d{1,9})?", value.strip()):
        value = float(value)
    try:
        if isinstance(value, int | float) and not isinstance(value, bool):
            seconds = float(value)
            if not 1e8 < seconds < 1e17:
                return None
            while seconds > 1e11:
                seconds /= 1000
            return datetime.fromtimestamp(seconds, UTC)
        return datetime.fromisoformat(value.strip()[:40]) if isinstance(value, str) else None
    except (ValueError, OverflowError, OSError):
        return None


def numbered(turns: Iterable[Turn], notes: Notes) -> Iterator[Turn]:
    """Turns with their numbers, their texts fit to be kept and no longer than `MAX_TEXT`; none that says nothing."""
    number = 0
    for turn in turns:
        text = turn.text
        if len(text) > MAX_TEXT:
            notes.say(turn.line, f"a message of {len(text):,} characters; its first {MAX_TEXT:,} were read")
            text = text[:MAX_TEXT]
        text = without_controls(text)
        if text.strip():
            yield turn._replace(text=text, number=number)
            number += 1
