"""Beliefs as text: bank/opinions.md with their numbers and evidence brought up to date, everything else as it was."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from ..facts import Fact, Kind
from ..markdown.blocks import edited, splice
from ..markdown.grammar import Bullet, render, render_bullet
from ..markdown.lines import Role, split_lines
from ..markdown.markers import is_marker
from ..markdown.page import Page, live_blocks
from . import page_read
from .confidence import Belief
from .page_read import LEDGER, BeliefEntry, LastWritten
from .replay import Replayed

_TITLE = "# Opinions\n"
_Edit = tuple[int, int, Sequence[str]]


class WrittenPage(NamedTuple):
    """The page's new text, and why something could not be written."""

    text: str
    problem: str | None = None


def write_opinions(text: str, replayed: Replayed) -> WrittenPage:
    """The page with every belief as replayed. Bytes outside belief entries and the managed block stay.

    What cannot be read back afterwards (an open fence swallows it) is not written: then the text comes back as it was.
    """
    bare = text.removeprefix("\ufeff")
    lines = split_lines(bare)
    if edited(text, LEDGER):
        return WrittenPage(text, "its block `evidence` was edited; remove it, then reflect writes it again")
    halves = any(is_marker(line) and line.split()[2] == LEDGER for line in lines)
    # What a person meant by one must not be guessed.
    if halves and all(block.name != LEDGER for block in live_blocks(lines)):
        lost = "its block `evidence` has lost one of its marker lines"
        return WrittenPage(text, f"{lost}; put it back, or take the rest of the block out")
    edits: list[_Edit] = []
    for belief in replayed.beliefs:
        if belief.entry:
            edits += _entry_edits(belief, belief.entry, lines)
    edits += page_read.removals(replayed.withdrawn, lines, last=not replayed.beliefs)
    edits += _new_entries(replayed, lines)
    made = page_read.edit_lines(text, edits)
    if not bare.strip(" \r\n") and replayed.beliefs:
        mark = text.removesuffix(bare)
        made = f"{mark}{_TITLE}\n{made.removeprefix(mark)}"
    if made != text or replayed.marks:
        try:
            made = splice(made, LEDGER, page_read.last_written_body(replayed.marks))
        except ValueError as error:
            return WrittenPage(text, str(error))
    if not {belief.ref for belief in replayed.beliefs} <= {entry.ref for entry in page_read.read_entries(made)[0]}:
        return WrittenPage(text, "an open fence or comment would swallow the beliefs; close it")
    return WrittenPage(made)


def unread_heads(page: Page, entries: Sequence[BeliefEntry], marks: Mapping[str, LastWritten]) -> dict[str, int]:
    """The lines of bullets that end with the id of a belief which reflect knows, and are no belief: a slip of the pen."""
    read = {entry.ref for entry in entries}
    found: dict[str, int] = {}
    for entry in page.entries:
        ref = re.search(r"\s\^([A-Za-z0-9-]+)\s*$", page.lines[entry.span.end_line - 1])
        known = ref is not None and ref[1] not in read and ref[1] in marks and marks[ref[1]].head is not None
        if ref and known and entry.role is Role.ITEM and entry.block is None:
            found.setdefault(ref[1], entry.span.line)
    return found


def _entry_edits(belief: Belief, entry: BeliefEntry, lines: Sequence[str]) -> Iterator[_Edit]:
    first, last = entry.span
    head = list(lines[first - 1 : last])
    if entry.fact.confidence is None or f"{entry.fact.confidence:.2f}" != belief.number:
        head[0] = page_read.head_with(head[0], belief.number)
    was_over = any(bullet.verdict == "superseded" for _, bullet in entry.bullets)
    if belief.over != entry.fact.until and (belief.over or was_over):
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


def _body(belief: Belief, entry: BeliefEntry, lines: Sequence[str]) -> list[str]:
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
    kept = {_key(bullet) for bullet in belief.bullets}
    for key in [key for key in below if key not in kept]:
        made += below.pop(key)
    for bullet in belief.bullets:
        made += raw.get(bullet) or [indent + render_bullet(bullet)]
        made += below.pop(_key(bullet), [])
    return made


def _key(bullet: Bullet) -> str:
    return bullet.ref or f"{bullet.day} {bullet.verdict} {bullet.reason}"


def _new_entries(replayed: Replayed, lines: Sequence[str]) -> Iterator[_Edit]:
    """Each new belief behind the last one of ours that was stated before it; the first ones at the end of the page."""
    standing = [(b, b.entry) for b in replayed.beliefs if b.entry]
    at = max((entry.end for _, entry in standing), default=_end(lines))
    at = next((entry.span.line - 1 for b, entry in standing if b.stated in b.found_refs), at)
    places: dict[int, list[str]] = {}
    for belief in replayed.beliefs:
        if belief.entry is None:
            places.setdefault(at, []).extend(_rendered(belief))
        elif belief.stated in belief.found_refs:
            at = belief.entry.end
    for at, made in places.items():
        above = lines[at - 1] if at else ""
        is_item = above.lstrip()[:2] in ("- ", "* ", "+ ") or above[:1].isspace()
        yield at + 1, at, [*([""] if above.strip() and not is_item else []), *made]


def _end(lines: Sequence[str]) -> int:
    blocks = live_blocks(lines)
    end = min((block.begin - 1 for block in blocks if block.name == LEDGER), default=len(lines))
    while end and not lines[end - 1].strip():
        end -= 1
    return end


def _rendered(belief: Belief) -> list[str]:
    head = Fact(Kind.OPINION, belief.fact.text, belief.fact.entities, block_id=belief.ref)
    line = f"- {render(head)}"
    first = page_read.head_until(page_read.head_with(line, belief.number), belief.over)
    return [first, *(f"  - {render_bullet(bullet)}" for bullet in belief.bullets)]
