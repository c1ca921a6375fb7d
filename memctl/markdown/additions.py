"""Where new lines go: facts under `## Retain` of a log."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

from ..errors import Refused
from ..facts import Fact, Span
from ..language.names import entity_key
from ..language.relations import slot_of
from .attributes import ATTRIBUTES
from .grammar import parse, printable_line, render
from .lines import MAX_LINE, split_lines
from .page import Page, is_retain, open_end, parse_page


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
    raise Refused("the page ends inside an open block", "close the block at the end of the page")


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
