"""bank/opinions.md after a merge: where both sides of a conflict are reflect's own, one is taken, for the facts know the rest."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ..text.blocks import Side, conflict_sides, edited, live_blocks, splice
from ..text.lines import split_lines
from ..text.opinions import LEDGER, Entered, Mark, marks_body, read_entries, read_marks

__all__ = ["settled"]

_Marks = Mapping[str, Mark]


def settled(text: str, before: tuple[str, str] | None, is_ours: Callable[[Entered, Mark], bool]) -> str | None:
    """The page without conflict markers: our side, with the marks of both; None if a person has a part in a conflict.

    `before` is the page as ours and theirs had it, None if nobody knows. `is_ours` tells whether nothing in an entry is
    a person's, so that it can be left out here and stated again by the facts.
    """
    sides = conflict_sides(text)
    if sides is None or any(edited(page, LEDGER) for page in before or (side.text for side in sides)):
        return None
    ours, theirs = (read_marks(page) for page in before or (side.text for side in sides))
    entries = [read_entries(side.text)[0] for side in sides]
    if not (
        _is_written(sides[0], entries[0], ours, theirs, is_ours)
        and _is_written(sides[1], entries[1], theirs, ours, is_ours)
    ):
        return None
    kept = {entry.ref: entry for entry in entries[0] if entry.ref}
    there = {entry.ref for entry in entries[1]}
    left_out = [mark for ref, mark in theirs.items() if ref in there and ref not in kept]
    if _took_out(ours, theirs) & (kept.keys() | there) or any("!" in mark.codes.values() for mark in left_out):
        return None
    known = {ref for ref in (*ours, *theirs) if ref in kept or ref in ours or ref not in there}
    return splice(sides[0].text, LEDGER, marks_body({ref: _joined(ref, ours, theirs, kept.get(ref)) for ref in known}))


def _took_out(ours: _Marks, theirs: _Marks) -> set[str]:
    """The beliefs that a person took out on one side only."""
    first, second = ({ref for ref, mark in marks.items() if mark.head is None} for marks in (ours, theirs))
    return first ^ second


def _is_written(
    side: Side, entries: list[Entered], own: _Marks, others: _Marks, is_ours: Callable[[Entered, Mark], bool]
) -> bool:
    """True if each disputed line of a side stands in the block, or in an entry that is reflect's alone."""
    lines = split_lines(side.text.removeprefix("\ufeff"))
    written = {n for b in live_blocks(lines) if b.name == LEDGER for n in range(b.begin, b.end + 1)}
    for entry in entries:
        first, last = entry.span.line, entry.end
        if not side.disputed.isdisjoint(range(first, last + 1)) and is_ours(
            entry, _joined(entry.ref or "", own, others, entry)
        ):
            written |= set(range(first, last + 1))
    return side.disputed <= written


def _joined(ref: str, own: _Marks, others: _Marks, entry: Entered | None) -> Mark:
    """The marks of both sides for a belief: what stands under it now is there, what one of them took out is not."""
    mine, yours = own.get(ref), others.get(ref)
    codes = {**(yours.codes if yours else {}), **(mine.codes if mine else {})}
    standing = {bullet.ref for _, bullet in entry.bullets} if entry else set()
    for mark in filter(None, (mine, yours)):
        codes |= {fact: code for fact, code in mark.codes.items() if (code == "!") is (fact not in standing)}
    numbers = [mark.head for mark in (mine, yours) if mark]
    shown = f"{entry.fact.confidence:.2f}" if entry and entry.fact.confidence is not None else None
    return Mark(shown if shown in numbers else next(iter(numbers), None), codes)
