"""Beliefs as text: bank/opinions.md with their numbers and evidence brought up to date, everything else as it was."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import NamedTuple

from ..facts import Fact, Kind
from ..markdown.blocks import edited, splice
from ..markdown.evidence_line import Bullet, render_bullet
from ..markdown.grammar import render
from ..markdown.lines import Role, split_lines
from ..markdown.markers import is_marker
from ..markdown.page import Page, live_blocks
from . import page_read
from .confidence import Belief
from .replay import Replayed

_TITLE = "# Opinions\n"
_Edit = tuple[int, int, Sequence[str]]


class WrittenPage(NamedTuple):
    """The page's new text, the line of each belief on it by id, and why something could not be written."""

    text: str
    lines: dict[str, int]
    problem: str | None = None


def write_opinions(text: str, replayed: Replayed) -> WrittenPage:
    """The page with every belief as replayed. Bytes outside belief entries and the managed block stay.

    What cannot be read back afterwards (an open fence swallows it) is not written: then the text comes back as it was.
    """
    if edited(text, page_read.LEDGER):
        return WrittenPage(
            text, _lines(text), "its block `evidence` was edited; remove it, then reflect writes it again"
        )
    if not _is_whole(text):
        problem = (
            "its block `evidence` has lost one of its marker lines; put it back, or take the rest of the block out"
        )
        return WrittenPage(text, _lines(text), problem)
    edits: list[_Edit] = []
    lines = split_lines(text.removeprefix("\ufeff"))
    for belief in replayed.beliefs:
        if belief.entry:
            edits += _entry_edits(belief, belief.entry, lines)
    edits += page_read.removals(replayed.withdrawn, lines, last=not replayed.beliefs)
    edits += _new_entries([b for b in replayed.beliefs if b.entry is None], replayed, lines)
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    made = page_read.edit_lines(text, edits)
    if not text.strip("\ufeff \r\n") and replayed.beliefs:
        made = f"{mark}{_TITLE}\n{made.removeprefix(mark)}"
    try:
        made = (
            splice(made, page_read.LEDGER, page_read.last_written_body(replayed.marks))
            if made != text or replayed.marks
            else made
        )
    except ValueError as error:
        return WrittenPage(text, _lines(text), str(error))
    where = _lines(made)
    lost = [belief.ref for belief in replayed.beliefs if belief.ref not in where]
    if lost:
        return WrittenPage(text, _lines(text), "an open fence or comment would swallow the beliefs; close it")
    return WrittenPage(made, where)


def unread_heads(
    page: Page, entries: Sequence[page_read.BeliefEntry], marks: Mapping[str, page_read.LastWritten]
) -> dict[str, int]:
    """The lines of bullets that end with the id of a belief which reflect knows, and are no belief: a slip of the pen."""
    read = {entry.ref for entry in entries}
    found: dict[str, int] = {}
    for entry in page.entries:
        ref = re.search(r"\s\^([A-Za-z0-9-]+)\s*$", page.lines[entry.span.end_line - 1])
        known = ref is not None and ref[1] not in read and ref[1] in marks and marks[ref[1]].head is not None
        if ref and known and entry.role is Role.ITEM and entry.block is None:
            found.setdefault(ref[1], entry.span.line)
    return found


def _is_whole(text: str) -> bool:
    """False where one marker of the block stands alone: what a person meant by it must not be guessed."""
    lines = split_lines(text.removeprefix("\ufeff"))
    halves = sum(is_marker(line) and line.split()[2] == page_read.LEDGER for line in lines)
    return halves == 0 or any(block.name == page_read.LEDGER for block in live_blocks(lines))


def _lines(text: str) -> dict[str, int]:
    found: dict[str, int] = {}
    for entry in page_read.read_entries(text)[0]:
        found.setdefault(entry.ref or "", entry.span.line)
    return found


def _entry_edits(belief: Belief, entry: page_read.BeliefEntry, lines: Sequence[str]) -> Iterator[_Edit]:
    first, last = entry.span
    head = list(lines[first - 1 : last])
    if entry.fact.confidence is None or f"{entry.fact.confidence:.2f}" != belief.number:
        head[0] = page_read.head_with(head[0], belief.number)
    if belief.over != entry.fact.until and (belief.over or entry.is_over):
        head[0] = page_read.head_until(head[0], belief.over)
    if entry.ref is None:  # or it stands in the middle, since a person went on below it
        head = [line.rstrip().removesuffix(f" ^{belief.ref}") if f" ^{belief.ref}" in line else line for line in head]
        head[-1] = f"{head[-1].rstrip()} ^{belief.ref}"
    if head != list(lines[first - 1 : last]):
        yield first, last, head
    body = list(lines[last : entry.end])
    new = _body(belief, entry, lines)
    if new != body:
        yield last + 1, entry.end, new


def _body(belief: Belief, entry: page_read.BeliefEntry, lines: Sequence[str]) -> list[str]:
    """The lines below a head: evidence in order, each followed by what a person wrote beneath it."""
    raw: dict[Bullet, list[str]] = {}
    below: dict[str | None, list[str]] = {None: []}
    at, owner = entry.span.end_line, None
    indent = f"{entry.indent}  - "
    for span, bullet in entry.bullets:
        below.setdefault(owner, []).extend(lines[at : span.line - 1])
        start = lines[span.line - 1]
        indent = start[: len(start) - len(start.lstrip())] + start.lstrip()[:2]
        raw[bullet] = list(lines[span.line - 1 : span.end_line])
        at, owner = span.end_line, _key(bullet)
    below.setdefault(owner, []).extend(lines[at : entry.end])
    made = below.pop(None)
    kept = {_key(bullet) for bullet in belief.items}
    for key in [key for key in below if key not in kept]:
        made += below.pop(key)
    for bullet in belief.items:
        made += raw.get(bullet) or [indent + render_bullet(bullet)]
        made += below.pop(_key(bullet), [])
    return made


def _key(bullet: Bullet) -> str:
    return bullet.ref or f"{bullet.day} {bullet.verdict} {bullet.reason}"


def _new_entries(new: Sequence[Belief], replayed: Replayed, lines: Sequence[str]) -> Iterator[_Edit]:
    """Each new belief behind the last one of ours that was stated before it; the first ones at the end of the page."""
    withdrawn = {entry.span.line for entry in replayed.withdrawn}
    standing = [(b, b.entry) for b in replayed.beliefs if b.entry and b.entry.span.line not in withdrawn]
    ours = [(b.day, b.ref, entry) for b, entry in standing if b.stated in b.machine]
    end = max((entry.end for _, entry in standing), default=_end(lines))
    places: dict[int, list[Belief]] = {}
    for belief in new:
        places.setdefault(_place_for(belief, ours, end), []).append(belief)
    for at, beliefs in places.items():
        made = [line for belief in sorted(beliefs, key=lambda b: (b.day, b.ref)) for line in rendered(belief)]
        gap = [""] if at and lines[at - 1].strip() and not _is_item(lines[at - 1]) else []
        yield at + 1, at, [*gap, *made]


def _place_for(belief: Belief, ours: Sequence[tuple[date, str, page_read.BeliefEntry]], end: int) -> int:
    own = (belief.day, belief.ref)
    before = [(day, ref, entry.end) for day, ref, entry in ours if (day, ref) < own]
    after = [(day, ref, entry.span.line) for day, ref, entry in ours if (day, ref) > own]
    if before:
        return max(before)[2]
    return min(after)[2] - 1 if after else end


def _is_item(line: str) -> bool:
    return line.lstrip()[:2] in ("- ", "* ", "+ ") or line[:1].isspace()


def _end(lines: Sequence[str]) -> int:
    blocks = live_blocks(lines)
    end = min((block.begin - 1 for block in blocks if block.name == page_read.LEDGER), default=len(lines))
    while end and not lines[end - 1].strip():
        end -= 1
    return end


def rendered(belief: Belief) -> list[str]:
    """The lines of a belief that has no place yet."""
    head = Fact(Kind.OPINION, belief.fact.text, belief.fact.entities, block_id=belief.ref)
    line = f"- {render(head)}"
    first = page_read.head_until(page_read.head_with(line, belief.number), belief.over)
    return [first, *(f"  - {render_bullet(bullet)}" for bullet in belief.items)]
