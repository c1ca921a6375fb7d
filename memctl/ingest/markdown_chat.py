"""A dialogue written down in Markdown: `**User:**`, `User:`, `## User`, «Я:», "用户：", names of people, or questions after `> `.

Who speaks is found out from its beginning: the first speaker's mark is the mark of all, with its level, bullet, clock and
blank line, and another one inside of a text begins no turn. A text may imitate all of that: what stands below the words of
somebody less trusted is nobody's for sure.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime
from functools import cache
from itertools import chain, islice
from typing import NamedTuple

from ..language.words import languages
from .sentences import pairs
from .turns import MAX_TEXT, Notes, Turn, moment

_STAMP = r"(?:\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)?|\d\d:\d\d(?::\d\d)?)"
_WHO = r"(?P<who>[^\W\d_][\w .'’-]{0,30}?)"
_BEFORE = rf"(?P<bullet>[-*+]\s{{1,3}})?(?:[\[(]?(?P<before>{_STAMP})[\])]?\s{{1,3}})?"
_AFTER = rf"(?:\s{{0,3}}(?:[\[(]|[-–—,]\s?|)(?P<after>{_STAMP})[\])]?)?"
_STYLES: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("bold", re.compile(rf"{_BEFORE}(?:\*\*|__){_WHO}{_AFTER}\s?(?:[:：]\s?(?:\*\*|__)|(?:\*\*|__){_AFTER.replace('after', 'later')}\s?[:：]|(?:\*\*|__)\s*$)\s*")),
    ("heading", re.compile(rf"(?P<level>\#{{1,6}})\s{{1,3}}(?:\*\*)?{_BEFORE}{_WHO}{_AFTER}\s?[:：]?(?:\*\*)?\s*$")),
    ("plain", re.compile(rf"{_BEFORE}[«\"“]?{_WHO}{_AFTER}[»\"”]?\s?[:：](?!//)\s*")),
)  # fmt: skip
_DAY = re.compile(r"\#{0,6}\s{0,3}\**(\d{4}-\d\d-\d\d)\**\s*$")
_FENCE = re.compile(r"\s{0,3}(`{3,}|~{3,})")
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


def label_of(line: str) -> Label | None:
    """The name that a line begins with, if it is marked as a speaker's may be."""
    if line[:1] in (" ", "\t") or not line.strip():
        return None
    for style, pattern in _STYLES:
        if match := pattern.match(line[:200]):
            groups = match.groupdict()
            stamp = groups.get("before") or groups.get("after") or groups.get("later") or ""
            marks = (style, groups.get("level") or "", "bullet" if groups["bullet"] else "")
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
        role = self.roles.get(label.name.casefold())
        marked = label.style == self.style and bool(label.stamp) >= self.stamped and after_blank >= self.spaced
        leads_here = role == "user" and before.rstrip("*_ ").endswith((":", "："))
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
    first = next((label for label, _ in labels if label.name.casefold() in known), None)
    has_agent = any(known.get(label.name.casefold()) == "assistant" for label, _ in labels)
    if first is None or (not has_agent and first.name.casefold() not in _speakers()):
        first = labels[0][0] if labels else None
        alike = [(label, starts) for label, starts in labels if first and label.style == first.style]
        people = Counter(label.name.casefold() for label, _ in alike)
        if first is None or not 2 <= len(people) <= _MOST_PEOPLE or len(alike) < _MOSTLY * blocks:
            return (
                _Cast(known, first.style, False, False) if owner and first and first.name.casefold() in known else None
            )
        known = dict.fromkeys(people, "user")
    alike = [
        (label, starts) for label, starts in labels if label.style == first.style and label.name.casefold() in known
    ]
    if "user" not in {known[label.name.casefold()] for label, _ in alike}:  # a name in place of "User"
        others = Counter(label.name.casefold() for label, _ in labels if label.style == first.style) - Counter(
            dict.fromkeys(known, len(labels))
        )
        known |= {name: "user" for name, count in others.most_common(1) if count > 1}
    stamped = sum(bool(label.stamp) for label, _ in alike) >= _MOSTLY * len(alike)
    return _Cast(known, first.style, stamped, len(alike) > 1 and alike[1][1])


class _Fence:
    """The code block, if any, that a line is in: there nobody is named."""

    def __init__(self) -> None:
        self._mark, self._lines = "", 0

    def holds(self, line: str) -> bool:
        """True on a line of a code block, its fences too."""
        mark = _FENCE.match(line)
        if self._mark:
            self._lines += 1
            closes = mark and mark[1].startswith(self._mark) and not line.strip().strip(self._mark[0])
            if closes or self._lines > _OPEN_FENCE:
                self._mark = ""
            return True
        if mark:
            self._mark, self._lines = mark[1], 0
        return bool(mark)


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
    """The turns of a dialogue. Of two by the user on end the first, where more paragraphs follow, may stand inside of the answer above."""
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
        yield turn._replace(sure=wanted <= lowest)


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
        label = None if fence.holds(line) else label_of(line)
        before = spoken.above if spoken and spoken.role == "assistant" else ""
        role = cast.role(label, not above.strip(), before) if label else None
        above = line
        if label and role:
            if spoken:
                yield spoken.turn()
            named = None if label.name.casefold() in _speakers() else label.name
            spoken, fence = _Spoken(role, named, _when(label.stamp, day), number, label.rest), _Fence()
        elif line and (heading := _DAY.match(line)):
            day = heading[1]
        elif spoken:
            spoken.add(line, number)
    if spoken:
        yield spoken.turn()


def _when(stamp: str, day: str) -> datetime | None:
    if stamp and "-" not in stamp:
        return moment(f"{day}T{stamp}") if day else None
    return moment(stamp or day)


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
