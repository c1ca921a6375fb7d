"""bank/opinions.md after a merge: where both sides of a conflict are reflect's own, one is taken, for the facts know the rest."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ..markdown.blocks import Side, conflict_sides, edited, splice
from ..markdown.lines import split_lines
from ..markdown.page import live_blocks
from .page_read import (
    LEDGER,
    BeliefEntry,
    LastWritten,
    edit_lines,
    last_written_body,
    read_entries,
    read_last_written,
    removals,
)

_Marks = Mapping[str, LastWritten]
_IsOurs = Callable[[BeliefEntry, LastWritten], bool]


def settled(text: str, before: tuple[str, str] | None, is_ours: _IsOurs) -> str | None:
    """The page without conflict markers: our side, with the marks of both; None if a person has a part in a conflict.

    `before` is the page as ours and theirs had it, None if nobody knows. `is_ours` tells whether nothing in an entry is
    a person's, so that it can be left out here and stated again by the facts.
    """
    sides = conflict_sides(text)
    pages = before or (tuple(side.text for side in sides) if sides else ())
    if sides is None or any(edited(page, LEDGER) for page in pages):
        return None
    if before and (bare := _bare(text, before, is_ours)):
        return bare
    ours, theirs = map(_told_by, pages)
    entries = [read_entries(side.text)[0] for side in sides]
    if not all(_is_written(side, found, ours, theirs, is_ours) for side, found in zip(sides, entries, strict=True)):
        return None
    return _one_side(sides[0].text, entries, ours, theirs, is_ours)


def _one_side(
    text: str, entries: Sequence[Sequence[BeliefEntry]], ours: _Marks, theirs: _Marks, is_ours: _IsOurs
) -> str | None:
    """The page of our side with the marks of both; None if a person took something out that stands on the other."""
    kept = {entry.ref: entry for entry in entries[0] if entry.ref}
    left_out = {entry.ref for entry in entries[1] if entry.ref} - kept.keys()
    marked = [pair for marks in (ours, theirs) for pair in marks.items()]
    if any(_is_refused(mark, kept.get(ref), ref in left_out) for ref, mark in marked):
        return None
    marks = {ref: _joined(ref, ours, theirs, kept.get(ref)) for ref in ours.keys() | theirs.keys()}
    # All that is reflect's alone goes, disputed or not: so both machines state it again in one order.
    alone = [entry for ref, entry in kept.items() if _is_alone(entry, marks, is_ours)]
    free = {entry.ref for entry in alone}
    gone = {ref for ref, mark in marked if mark.head is None}
    text = _without(alone, text, last=len(alone) == len(entries[0]))
    standing = {ref: marks[ref] for ref in marks if ref in gone or (ref in kept and ref not in free)}
    return splice(text, LEDGER, last_written_body(standing))


def _is_alone(entry: BeliefEntry, marks: _Marks, is_ours: _IsOurs) -> bool:
    """True if an entry is reflect's alone, and no person has taken evidence out of it."""
    mark = marks.get(entry.ref or "")
    return mark is not None and "!" not in mark.codes.values() and is_ours(entry, mark)


def _bare(text: str, before: tuple[str, str], is_ours: _IsOurs) -> str | None:
    """What a person has on the page, if that is the same on both sides; None if not, or if there is more of it now."""
    known = {line for page in before for line in split_lines(page)}
    if any(line not in known for side in conflict_sides(text) or () for line in split_lines(side.text)):
        return None
    (ours, mine), (theirs, yours) = (_kept(page, is_ours) for page in before)
    return splice(ours, LEDGER, last_written_body(mine)) if (ours, mine) == (theirs, yours) else None


def _kept(page: str, is_ours: _IsOurs) -> tuple[str, _Marks]:
    """A page without what is reflect's alone, and the marks of the rest."""
    marks, entries = _told_by(page), read_entries(page)[0]
    alone = [entry for entry in entries if _is_alone(entry, marks, is_ours)]
    text = splice(_without(alone, page, last=len(alone) == len(entries)), LEDGER, "")
    free = {entry.ref for entry in alone}
    return text, {ref: mark for ref, mark in marks.items() if ref not in free}


def _without(entries: list[BeliefEntry], text: str, last: bool) -> str:
    return edit_lines(text, removals(entries, split_lines(text.removeprefix("\ufeff")), last))


def _told_by(page: str) -> dict[str, LastWritten]:
    """The marks of a page, with what a person has taken out since: evidence, and whole beliefs (no head)."""
    entries = {entry.ref: {bullet.ref for _, bullet in entry.bullets} for entry in read_entries(page)[0]}
    return {
        ref: LastWritten(
            mark.head if ref in entries else None,
            {fact: code if fact in entries.get(ref, ()) else "!" for fact, code in mark.codes.items()},
        )
        for ref, mark in read_last_written(page).items()
    }


def _is_refused(mark: LastWritten, entry: BeliefEntry | None, left_out: bool) -> bool:
    """True if a person took out on one side what stands on the other, or what would be stated again."""
    if mark.head is None:
        return entry is not None or left_out
    standing = {bullet.ref for _, bullet in entry.bullets} if entry else set()
    refused = {fact for fact, code in mark.codes.items() if code == "!"}
    return bool(refused & standing) or (left_out and bool(refused))


def _is_written(
    side: Side,
    entries: list[BeliefEntry],
    ours: _Marks,
    theirs: _Marks,
    is_ours: _IsOurs,
) -> bool:
    """True if each disputed line of a side stands in the block, or in an entry that is reflect's alone."""
    lines = split_lines(side.text.removeprefix("\ufeff"))
    written = {n for b in live_blocks(lines) if b.name == LEDGER for n in range(b.begin, b.end + 1)}
    for entry in entries:
        inside = range(entry.span.line, entry.end + 1)
        if not side.disputed.isdisjoint(inside) and is_ours(entry, _joined(entry.ref or "", ours, theirs, entry)):
            written.update(inside)
    return side.disputed <= written


def _joined(ref: str, ours: _Marks, theirs: _Marks, entry: BeliefEntry | None) -> LastWritten:
    """The marks of both sides for a belief as it stands on one of them, or has been taken out."""
    marks = [marks[ref] for marks in (ours, theirs) if ref in marks]
    standing = {bullet.ref for _, bullet in entry.bullets} if entry else set()
    codes = {
        fact: code
        for mark in reversed(marks)
        for fact, code in mark.codes.items()
        if (fact in standing) is (code != "!")
    }
    if entry is None:
        return LastWritten(None, codes)
    numbers = [mark.head for mark in marks if mark.head]
    shown = f"{entry.fact.confidence:.2f}" if entry.fact.confidence is not None else None
    return LastWritten(shown if shown in numbers else next(iter(numbers), None), codes)
