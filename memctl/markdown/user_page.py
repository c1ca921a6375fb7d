"""A page of a person's own sections, such as memory.md: what it says, and where one more line belongs."""

from __future__ import annotations

import re
from functools import cache, cached_property
from typing import NamedTuple

from ..language.analyzer import query_terms
from ..language.names import entity_key, mentions
from .line_text import LineText
from .lines import Role
from .page import Entry, parse_page

__all__ = ["BULLET", "OwnPage", "Said", "said"]

BULLET = re.compile(r"(?P<indent>[ \t]*)(?P<mark>[-*+])(?P<gap>[ \t]+)(?=\S)")
"""What stands before the words of a bullet."""

_SAME = 0.9  # share of the stems of a text that an entry holds when it says the same
_PEOPLE = {"people", "persons", "люди", "人", "人物", "人员"}


class Said(NamedTuple):
    """What a text says, roughly: its stems, its numbers, and whether it denies."""

    stems: frozenset[str]
    numbers: frozenset[str]
    denies: bool

    def holds(self, other: Said) -> bool:
        """True if this says nearly all of what the other does, with its numbers, and no more denies it."""
        enough = len(self.stems & other.stems) >= _SAME * len(other.stems) > 0
        return enough and other.numbers <= self.numbers and self.denies == other.denies


def said(text: str) -> Said:
    """What a text says, in any of three languages."""
    denials = len(_denials().findall(text))
    return Said(frozenset(query_terms(text)), frozenset(re.findall(r"\d+", text)), denials % 2 == 1)


@cache
def _denials() -> re.Pattern[str]:
    return re.compile(r"\b(?:not|no|never|without|без|не|нет|никогда)\b|n['’]t\b|[不没未无别]", re.IGNORECASE)


class _Section(NamedTuple):
    """A heading, and its entries up to the next heading; lines are 1-based."""

    title: str
    line: int
    last: int
    entries: tuple[Entry, ...]


class OwnPage:
    """A page by its sections. Its text is decoded with `surrogateescape`, so that any bytes survive."""

    def __init__(self, text: str) -> None:
        self.text = text
        page = parse_page(text)
        self._lines = page.lines
        self._entries = [entry for entry in page.entries if entry.role is not Role.HEADING]
        heads = [entry for entry in page.entries if entry.role is Role.HEADING]
        ends = [*(entry.span.line - 1 for entry in heads[1:]), len(page.lines)]
        self._sections = [
            _Section(
                h.content, h.span.end_line, end, tuple(e for e in self._entries if h.span.line < e.span.line <= end)
            )
            for h, end in zip(heads, ends, strict=False)
        ]

    @cached_property
    def said(self) -> list[Said]:
        """What each entry says."""
        return [said(entry.content) for entry in self._entries]

    def cites(self, ref: str) -> bool:
        """True if the id stands in the text."""
        return bool(re.search(rf"(?<![\w-]){re.escape(ref)}(?![\w-])", self.text))

    def fitting(self, subject: str, person: bool) -> str:
        """The title of the section for a line about `subject`: where a bullet names them, else their own; empty for none.

        A person without either goes under "People", if there is such a heading.
        """
        key = entity_key(subject)
        named = [s.title for s in self._sections if any(self._bullet(e) and _names(e, key) for e in s.entries)]
        own = [s.title for s in self._sections if subject and entity_key(s.title) == key]
        people = [s.title for s in self._sections if person and s.title.casefold() in _PEOPLE]
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
        bullets = [entry for entry in section.entries if self._bullet(entry)]
        outer = [entry for entry in bullets if len(self._like(entry)) <= len(self._like(bullets[0]))]
        about = [entry for entry in bullets if subject and _names(entry, entity_key(subject))]
        if outer:
            entry = (about or outer)[-1]
            return self._inserted(self._end(entry, section), self._like(entry) + line)
        last = next((n for n in range(section.last, section.line, -1) if self._lines[n - 1].strip()), section.line)
        return self._inserted(last, "", f"- {line}")

    def _bullet(self, entry: Entry) -> re.Match[str] | None:
        own = entry.block is None and entry.role in (Role.ITEM, Role.FACT)
        return BULLET.match(self._lines[entry.span.line - 1]) if own else None

    def _like(self, entry: Entry) -> str:
        bullet = self._bullet(entry)
        return bullet[0] if bullet else "- "

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
