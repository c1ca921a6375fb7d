"""Where new lines go: facts under `## Retain` of a log, one bullet in a section of a person's page."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from typing import Any, NamedTuple

from ..errors import Refused
from ..facts import Fact, Span
from ..language.analyzer import query_terms
from ..language.names import entity_key, mentions
from ..language.relations import slot_of
from ..language.words import languages, pattern, words_of
from .attributes import ATTRIBUTES
from .grammar import parse, printable_line, render
from .lines import MAX_LINE, LineText, Role, split_lines
from .page import Entry, Page, is_retain, open_end, parse_page


@dataclass(frozen=True, slots=True)
class Addition:
    """The text to append (empty: nothing to do), and for each fact where it stands then and whether it did before."""

    text: str
    places: tuple[tuple[Span, bool], ...]


_WRITTEN = ("text", *(each.field for each in ATTRIBUTES if each.is_text and not each.many))


def clean(fact: Fact) -> Fact:
    """The fact as one line can hold it: control characters and line breaks in its text and values become spaces."""
    values: dict[str, Any] = {
        name: printable_line(value) for name in _WRITTEN if (value := getattr(fact, name)) is not None
    }
    extra = tuple((name, printable_line(value)) for name, value in fact.extra)
    cues = tuple(dict.fromkeys(printable_line(cue) for cue in fact.cues))
    fact = replace(
        fact, **values, extra=extra, cues=cues, entities=tuple(printable_line(name) for name in fact.entities)
    )
    if not fact.text:
        raise Refused("nothing is left of the text", "write what is to be kept")
    if len(render(fact)) > MAX_LINE - 2:
        raise Refused(f"a line over {MAX_LINE:,} characters would not be read back", "keep it in a page of its own")
    if parse(render(fact)) != fact:
        raise Refused(
            "a value that the line grammar cannot hold", "write names without [ ] | # and values that are not empty"
        )
    return fact


def spans_of(page: Page, replaced: bool = False) -> dict[Fact, Span]:
    """Where each fact of a page stands first; block ids do not make facts differ.

    A value of a slot that another one on the page replaced does not stand any more: telling it again is news. Asked for
    `replaced` ones too, it is where it was told last.
    """
    found: dict[Fact, Span] = {}
    slots: dict[tuple[str, str], Fact] = {}
    for entry in page.entries:
        if entry.fact:
            fact = replace(entry.fact, block_id=None)
            slot = None if replaced else _slot(fact)
            if slot is not None:
                before = slots.get(slot, fact)
                if before != fact:
                    found.pop(before, None)
                slots[slot] = fact
            if replaced:
                found[fact] = entry.span
            found.setdefault(fact, entry.span)
    return found


def _slot(fact: Fact) -> tuple[str, str] | None:
    filled = slot_of(fact)
    return (filled.key, entity_key(fact.entities[0]) if fact.entities else "") if filled else None


def addition(before: str, facts: Sequence[Fact], day: date) -> Addition:
    """What to append to the log of `day`, whose text is `before`. Facts that stand there already are not added again.

    Where the page ends inside an open code fence or comment, that is closed first: what is kept must be read back.
    """
    page = parse_page(before)
    there, ever = spans_of(page), spans_of(page, replaced=True)
    plain = [replace(fact, block_id=None) for fact in facts]
    slots = list(map(_slot, facts))
    last = {slot: at for at, slot in enumerate(slots)}
    fresh: dict[Fact, Fact] = {}  # with its block id -> without
    for at, (fact, bare) in enumerate(zip(facts, plain, strict=True)):
        # What another value after it replaces at once is no news if the page has it as history.
        is_history = bare in ever and slots[at] is not None and last[slots[at]] > at
        if bare not in there and not is_history:
            fresh[fact] = bare
    if not fresh:
        return Addition("", tuple(((ever | there)[fact], True) for fact in plain))
    new = set(fresh.values())
    body = "".join(f"- {render(fact)}\n" for fact in fresh)
    for closing in _closings(before):
        text = closing + _opening(before, page, day, bool(closing.strip())) + body
        gap = "\n" if before and not before.endswith(("\n", "\r")) else ""
        after = parse_page(before + gap + text)
        now = spans_of(after, replaced=True) | spans_of(after)
        if new <= now.keys():
            return Addition(text, tuple((now[fact], fact not in new) for fact in plain))
    raise Refused(
        "the page ends inside a block that would swallow the line", "close what is open at the end of the page"
    )


def _opening(before: str, page: Page, day: date, closed: bool) -> str:
    """What stands between the page so far and the first new line."""
    if not before.strip("\ufeff \t\r\n"):
        return f"# {day}\n\n## Retain\n\n"
    if closed or not page.ends_in_retain:
        ends_blank = bool(page.lines) and not page.lines[-1].strip()
        return ("" if ends_blank and not closed else "\n") + "## Retain\n\n"
    ends_in_heading = is_retain(page.lines[-1].strip().lstrip("#"))
    return "\n" if ends_in_heading else ""


def _closings(before: str) -> Iterator[str]:
    """Ways to close what a page may have left open, the likely first. A blank line ends most HTML."""
    yield from ("", "\n")
    if closing := open_end(split_lines(before.removeprefix("\ufeff"))):
        yield f"{closing}\n"
    yield "-->\n"


BULLET = re.compile(r"(?P<indent>[ \t]*)(?P<mark>[-*+])(?P<gap>[ \t]+)(?=\S)")
"""What stands before the words of a bullet."""

_SAME = 0.9  # share of the stems of a text that an entry holds when it says the same


class Gist(NamedTuple):
    """What a text says, roughly: its stems, its numbers, and whether it denies."""

    stems: frozenset[str]
    numbers: frozenset[str]
    denies: bool

    def holds(self, other: Gist) -> bool:
        """True if this says nearly all of what the other does, with its numbers, and no more denies it."""
        enough = len(self.stems & other.stems) >= _SAME * len(other.stems) > 0
        return enough and other.numbers <= self.numbers and self.denies == other.denies


def gist_of(text: str) -> Gist:
    """What a text says."""
    denials = len(re.findall(rf"(?i){pattern(languages(), 'pages', 'denial')}", text))
    return Gist(frozenset(query_terms(text)), frozenset(re.findall(r"\d+", text)), denials % 2 == 1)


class _Section(NamedTuple):
    """A heading, and its entries up to the next heading; lines are 1-based."""

    title: str
    line: int
    last: int
    entries: list[Entry]


class UserPage:
    """A page by its sections. Its text is decoded with `surrogateescape`, so that any bytes survive."""

    def __init__(self, text: str) -> None:
        self.text = text
        page = parse_page(text)
        self._lines = page.lines
        self._entries: list[Entry] = []
        self._sections: list[_Section] = []
        self._bullets: dict[Entry, str] = {}  # a bullet of a person's -> what stands before its words
        for entry in page.entries:
            if entry.role is Role.HEADING:
                if self._sections:
                    self._sections[-1] = self._sections[-1]._replace(last=entry.span.line - 1)
                self._sections.append(_Section(entry.content, entry.span.end_line, len(page.lines), []))
                continue
            self._entries.append(entry)
            if self._sections:
                self._sections[-1].entries.append(entry)
            match = BULLET.match(page.lines[entry.span.line - 1])
            if match and entry.block is None and entry.role in (Role.ITEM, Role.FACT):
                self._bullets[entry] = match[0]

    @cached_property
    def said(self) -> list[Gist]:
        """What each entry says."""
        return [gist_of(entry.content) for entry in self._entries]

    def cites(self, ref: str) -> bool:
        """True if the id stands in the text."""
        return bool(re.search(rf"(?<![\w-]){re.escape(ref)}(?![\w-])", self.text))

    def fitting(self, subject: str, person: bool) -> str:
        """The title of the section for a line about `subject`: where a bullet names them, else their own; empty for none.

        A person without either goes under "People", if there is such a heading.
        """
        key = entity_key(subject)
        named = [s.title for s in self._sections if any(e in self._bullets and _names(e, key) for e in s.entries)]
        own = [s.title for s in self._sections if subject and entity_key(s.title) == key]
        headings = words_of("pages", "people heading")
        people = [s.title for s in self._sections if person and s.title.casefold() in headings]
        return next(iter((*named[:1], *own, *people)), "")

    def with_bullet(self, line: str, titles: tuple[str, ...], subject: str = "") -> str:
        """The text with one bullet more, in the first of the sections named `titles` that there is.

        It stands below the last bullet about `subject`, else below the last bullet, else at the section's end. Without
        such a section, one with the last of the titles is made at the end of the page.
        """
        found = (s for title in titles for s in self._sections if title and s.title == title)
        section = next(found, None)
        if section is None:
            blank = [""] if self._lines and self._lines[-1].strip() else []
            return self._inserted(len(self._lines), *blank, f"## {titles[-1]}", "", f"- {line}")
        bullets = [entry for entry in section.entries if entry in self._bullets]
        if bullets:
            depth = len(self._bullets[bullets[0]])
            outer = [entry for entry in bullets if len(self._bullets[entry]) <= depth]
            about = [entry for entry in bullets if subject and _names(entry, entity_key(subject))]
            entry = (about or outer)[-1]
            return self._inserted(self._end(entry, section), self._bullets[entry] + line)
        last = next((n for n in range(section.last, section.line, -1) if self._lines[n - 1].strip()), section.line)
        return self._inserted(last, "", f"- {line}")

    def _end(self, entry: Entry, section: _Section) -> int:
        """The last line of a bullet with all that is nested below it."""
        end, indent = entry.span.end_line, _indent(self._lines[entry.span.line - 1])
        for number in range(end + 1, section.last + 1):
            line = self._lines[number - 1]
            if line.strip() and _indent(line) <= indent:
                break
            end = number if line.strip() else end
        return end

    def _inserted(self, after: int, *new: str) -> str:
        """The text with lines behind line `after`, in its line endings; every other byte stays."""
        page = LineText(self.text)
        page.insert(after, new)
        return str(page)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _names(entry: Entry, key: str) -> bool:
    return bool(key) and key in map(entity_key, mentions(entry.content))
