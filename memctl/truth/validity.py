"""What holds as of a day: slots with their versions, ends, replacements and corrections. Nothing is deleted."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, timedelta
from itertools import groupby
from typing import NamedTuple

from ..facts import Period

_Slot = tuple[str, str]
_Version = tuple[date, date, tuple[str, int]]


class Claim(NamedTuple):
    """A fact as truth sees it. `slots` are (entity, key) pairs; `place` orders lines that nothing else orders.

    `same` is equal for claims that give a slot the same value. `amends`: it says, in words, that what its slot held was
    never true. `pinned`: no rule closes it, only a line that names it. `by`: the line that supersedes or corrects in its place.
    """

    id: int
    ref: str
    slots: tuple[_Slot, ...]
    valid: Period
    day: date | None
    same: int
    trusted: bool
    place: tuple[str, int]
    supersedes: tuple[str, ...] = ()
    corrects: tuple[str, ...] = ()
    amends: bool = False
    pinned: bool = False
    by: str | None = None


class Validity(NamedTuple):
    """How a claim holds on a day: when it was true, what replaced it (an id), whether it was never true at all."""

    valid: Period
    replaced_by: int | None = None
    retracted: bool = False

    def is_over(self, today: date) -> bool:
        """True when something replaced the claim, or its time is past."""
        return self.replaced_by is not None or self.retracted or has_ended(self.valid, today)

    def holds(self, today: date) -> bool:
        """True when the claim is current on `today`: it has begun and is not over."""
        return has_begun(self.valid, today) and not self.is_over(today)


def has_begun(valid: Period, today: date) -> bool:
    """False for what is only true from a later day on."""
    return valid.first is None or valid.first <= today


def has_ended(valid: Period, today: date) -> bool:
    """True for a span that is past. What happened on a single day is not over: it is what happened."""
    return valid.last is not None and valid.last < today and valid.first != valid.last


def versions(claims: Iterable[Claim]) -> list[Claim]:
    """The claims of one slot from the first version to the last: by when they became true, then by when they were told.

    A line written late about an earlier time therefore becomes history instead of news.
    """
    return sorted(claims, key=_version)


def _version(claim: Claim) -> _Version:
    return (claim.valid.first or date.min, claim.day or date.min, claim.place)


def validities(claims: Sequence[Claim], today: date) -> Mapping[int, Validity]:
    """The validity of every claim on `today`, which must be given all versions of the slots concerned.

    A newer version replaces an older one once it is true itself; a repetition of the same value does not. What came
    from outside (untrusted) never replaces what the owner said, and nothing replaces what is pinned unless it names it.
    """
    found = {claim.id: Validity(claim.valid) for claim in claims}
    naming = any(claim.supersedes or claim.corrects for claim in claims)
    in_order = versions(claims if naming else [claim for claim in claims if claim.slots])
    named = list(_named(in_order)) if naming else []
    wrong = {target.id for _, target, corrects in named if corrects}
    slots: dict[_Slot, list[Claim]] = {}
    for claim in in_order:
        for slot in dict.fromkeys(claim.slots) if claim.id not in wrong else ():
            slots.setdefault(slot, []).append(claim)
    for line in slots.values():
        if len(line) > 1:
            _run_slot(line, today, found)
    for claim, target, corrects in named:
        # What is superseded is true until the other begins; a plan is over when another one is told in its place.
        was_ahead = claim.day is not None and not has_begun(target.valid, claim.day)
        if corrects or was_ahead or has_begun(claim.valid, today):
            _replace(found, target, claim, retracted=target.id in wrong)
    return found


def _named(claims: Sequence[Claim]) -> Iterator[tuple[Claim, Claim, bool]]:
    """(what replaces, claim that a trusted line names, True if it says that this was never true)."""
    by_ref: dict[str, list[Claim]] = {}
    for claim in claims:
        by_ref.setdefault(claim.ref, []).append(claim)
    for claim in claims:
        refs = [(ref, False) for ref in claim.supersedes] + [(ref, True) for ref in claim.corrects]
        for ref, corrects in refs if claim.trusted else ():
            doer = by_ref.get(claim.by or "", [claim])[0]
            yield from ((doer, target, corrects) for target in by_ref.get(ref, ()) if ref not in (claim.ref, doer.ref))


def _run_slot(line: Sequence[Claim], today: date, found: dict[int, Validity]) -> None:
    """End and retract the claims of one slot, which are in order of versions."""
    amended = dict(_amended([claim for claim in line if claim.trusted]))
    begun = [claim for claim in line if has_begun(claim.valid, today)]
    trusted = [claim for claim in begun if claim.trusted and claim.id not in amended]
    for claim in begun if trusted else ():
        if not claim.trusted and claim.same != trusted[-1].same:
            _replace(found, claim, trusted[-1])
    for claim, successor in zip(trusted, _successors(trusted), strict=True):
        if successor is not None and not claim.pinned:
            _replace(found, claim, trusted[successor])
    by_id = {claim.id: claim for claim in line}
    for wrong, right in amended.items():
        _replace(found, by_id[wrong], by_id[right], retracted=True)


def _successors(line: Sequence[Claim]) -> Iterator[int | None]:
    """For each claim the place of the first later one that says something else.

    Nothing orders two claims of one day on two pages: neither is the later one, and both hold (a conflict).
    """
    other = list(_next_other([claim.same for claim in line]))
    for _, group in groupby(range(len(line)), key=lambda i: _version(line[i])[:2]):
        members = list(group)
        after = members[-1] + 1
        for _, page in groupby(members, key=lambda i: line[i].place[0]):
            lines = list(page)
            for at, inside in zip(lines, _next_other([line[i].same for i in lines]), strict=True):
                if inside is not None:
                    yield lines[inside]
                elif after < len(line) and line[after].same == line[at].same:
                    yield other[after]
                else:
                    yield after if after < len(line) else None


def _next_other(values: Sequence[int]) -> list[int | None]:
    """For each place the next one with another value."""
    found: list[int | None] = [None] * len(values)
    for i in range(len(values) - 2, -1, -1):
        found[i] = i + 1 if values[i + 1] != values[i] else found[i + 1]
    return found


def _amended(line: Sequence[Claim]) -> Iterator[tuple[int, int]]:
    """(wrong, right) for each claim that another one corrects in words: what the slot held when that one was told."""
    if not any(claim.amends for claim in line):
        return
    known: list[Claim] = []  # what was told so far and not corrected, in order of versions
    for claim in sorted(line, key=lambda claim: (claim.day or date.min, claim.place)):
        if claim.amends:
            told = claim.day or date.min
            last = (max(told, claim.valid.first or told), date.max, ("\U0010ffff", 0))
            start = end = bisect_right(known, last, key=_version)
            value = known[end - 1].same if end else claim.same
            while start and value != claim.same and known[start - 1].same == value:
                start -= 1
            if not any(held.pinned for held in known[start:end]):
                yield from ((held.id, claim.id) for held in known[start:end])
                del known[start:end]
        insort(known, claim, key=_version)


def _replace(found: dict[int, Validity], old: Claim, new: Claim, retracted: bool = False) -> None:
    """End `old` where `new` starts, never later than it ended by itself, and never before it began."""
    validity = found[old.id]
    start = new.valid.first or new.day
    last = validity.valid.last
    if start and (old.valid.first or date.min) < start:
        end = start - timedelta(days=1)
        last = end if last is None else min(last, end)
    found[old.id] = Validity(Period(validity.valid.first, last), new.id, retracted or validity.retracted)
