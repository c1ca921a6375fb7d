"""What retain adds to a page so that its facts stand under `## Retain`, by appending alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

from ..errors import Refused
from ..facts import Fact, Span
from ..language.names import entity_key
from ..language.relations import slot_of
from .grammar import one_line, parse, render
from .lines import MAX_LINE, split_lines
from .page import Page, is_retain, parse_page

__all__ = ["Addition", "addition", "clean", "spans_of"]


@dataclass(frozen=True, slots=True)
class Addition:
    """The text to append (empty: nothing to do), and for each fact where it stands then and whether it did before."""

    text: str
    places: tuple[tuple[Span, bool], ...]


_WRITTEN = ("text", "key", "task", "why", "source")  # what a flag of retain may set to any string


def clean(fact: Fact) -> Fact:
    """The fact as one line can hold it: control characters and line breaks in its text and values become spaces."""
    values: dict[str, Any] = {name: one_line(value) for name in _WRITTEN if (value := getattr(fact, name)) is not None}
    extra = tuple((name, one_line(value)) for name, value in fact.extra)
    cues = tuple(dict.fromkeys(one_line(cue) for cue in fact.cues))
    fact = replace(fact, **values, extra=extra, cues=cues, entities=tuple(one_line(name) for name in fact.entities))
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


def _news(page: Page, facts: Sequence[Fact]) -> list[Fact]:
    """Those of some facts, block ids aside, that do not stand on the page.

    A value that another one after it replaces at once is none if the page has it as history: several values of one slot,
    told again, add nothing.
    """
    there, ever = spans_of(page), spans_of(page, replaced=True)
    last = {slot: at for at, fact in enumerate(facts) if (slot := _slot(fact)) is not None}
    found = []
    for at, fact in enumerate(facts):
        plain = replace(fact, block_id=None)
        if plain not in there and not (plain in ever and last.get(_slot(fact) or ("", ""), at) > at):
            found.append(fact)
    return list(dict.fromkeys(found))


def addition(before: str, facts: Sequence[Fact], day: date) -> Addition:
    """What to append to the log of `day`, whose text is `before`. Facts that stand there already are not added again.

    Where the page ends inside an open code fence or comment, that is closed first: what is kept must be read back.
    """
    page = parse_page(before)
    there = spans_of(page)
    there |= {fact: span for fact, span in spans_of(page, replaced=True).items() if fact not in there}
    fresh = _news(page, facts)
    if not fresh:
        return Addition("", tuple((there[replace(fact, block_id=None)], True) for fact in facts))
    body = "".join(f"- {render(fact)}\n" for fact in fresh)
    for closing in _closings(before):
        text = closing + _opening(before, page, day, bool(closing.strip())) + body
        after = parse_page(_joined(before, text))
        now = spans_of(after, replaced=True) | spans_of(after)
        if all(replace(fact, block_id=None) in now for fact in fresh):
            plain = [replace(fact, block_id=None) for fact in facts]
            old = {replace(fact, block_id=None) for fact in facts} - {replace(fact, block_id=None) for fact in fresh}
            return Addition(text, tuple((now[fact], fact in old) for fact in plain))
    raise Refused(
        "the page ends inside a block that would swallow the line", "close what is open at the end of the page"
    )


def _joined(before: str, text: str) -> str:
    return before + ("\n" if before and not before.endswith(("\n", "\r")) else "") + text


def _opening(before: str, page: Page, day: date, closed: bool) -> str:
    """What stands between the page so far and the first new line."""
    if not before.strip("\ufeff \t\r\n"):
        return f"# {day}\n\n## Retain\n\n"
    if closed or not page.ends_in_retain:
        return ("" if not closed and _ends_blank(page) else "\n") + "## Retain\n\n"
    return "\n" if _ends_in_heading(page) else ""


def _ends_blank(page: Page) -> bool:
    return bool(page.lines) and not page.lines[-1].strip()


def _ends_in_heading(page: Page) -> bool:
    return is_retain(page.lines[-1].strip().lstrip("#"))


def _closings(before: str) -> Iterator[str]:
    """Ways to close what a page may have left open, the likely first. A blank line ends most HTML."""
    yield from ("", "\n")
    longest = dict.fromkeys("`~", 3)
    for line in split_lines(before.removeprefix("\ufeff")):
        bare = line.lstrip(" >")
        for mark in longest:
            longest[mark] = max(longest[mark], len(bare) - len(bare.lstrip(mark)))
    yield from (f"{mark * length}\n" for mark, most in longest.items() for length in sorted({3, most}))
    yield from ("-->\n", "?>\n", "]]>\n")
    html = before.lower()
    tags = sorted(("pre", "script", "style", "textarea"), key=lambda tag: -html.rfind(f"<{tag}"))
    yield from (f"</{tag}>\n" for tag in tags)
