"""What holds as of a day: slots with their versions, ends, replacements and corrections. Nothing is deleted."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, timedelta
from typing import NamedTuple

from ..facts import Period, grouped

_Slot = tuple[str, str]
_Version = tuple[date, date, tuple[str, int]]


class Claim(NamedTuple):
    """A fact as truth sees it."""

    id: int
    ref: str
    slots: tuple[_Slot, ...]  # pairs of entity and key
    valid: Period
    day: date | None  # when it was told
    same: int  # equal for claims that give a slot the same value
    trusted: bool
    place: tuple[str, int]  # page and line: orders what nothing else orders
    supersedes: tuple[str, ...] = ()
    corrects: tuple[str, ...] = ()
    amends: bool = False  # it says, in words, that what its slot held was never true
    pinned: bool = False  # no rule closes it, only a line that names it
    happened: bool = False  # it tells what was at some time, and is no less true after that
    by: str | None = None  # the line that supersedes or corrects in its place
    closes: bool = True  # another value of its slot; else it fills an empty slot only
    dated: int = 0  # 1: it names a day to come on which no state begins, 3: that of an end
    spoken_for: frozenset[int] = frozenset()  # the lines that do: one that speaks for two says that both hold


class Validity(NamedTuple):
    """How a claim holds on a day: when it was true, what replaced it (an id), whether it was never true at all.

    One that waits closes nothing and stands beside another value of its slot, until the owner says which of them holds.
    """

    valid: Period
    replaced_by: int | None = None
    retracted: bool = False
    happened: bool = False
    waits: bool = False

    def is_over(self, today: date) -> bool:
        """True when something replaced the claim, or its time is past."""
        return self.replaced_by is not None or self.retracted or (not self.happened and has_ended(self.valid, today))

    def holds(self, today: date) -> bool:
        """True when the claim is current on `today`: it has begun, is not over, and waits for no answer."""
        return has_begun(self.valid, today) and not self.is_over(today) and not self.waits


def has_begun(valid: Period, today: date) -> bool:
    """False for what is only true from a later day on."""
    return valid.first is None or valid.first <= today


def has_ended(valid: Period, today: date) -> bool:
    """True for a span that is past. What happened on a single day is not over: it is what happened."""
    return valid.last is not None and valid.last < today and valid.first != valid.last


def versions(claims: Iterable[Claim]) -> list[Claim]:
    """The claims of one slot from the first version to the last: by when they became true, then by when they were told.

    A line written late about an earlier time therefore becomes history instead of news. One that closes nothing does not.
    """
    return sorted(claims, key=_version)


def _version(claim: Claim) -> _Version:
    first = claim.valid.first if claim.closes else claim.day
    return (first or date.min, claim.day or date.min, claim.place)


def validities(claims: Sequence[Claim], today: date) -> Mapping[int, Validity]:
    """The validity of every claim on `today`, which must be given all versions of the slots concerned.

    A newer version replaces an older one once it is true itself; a repetition of the same value does not. What came
    from outside (untrusted) never replaces what the owner said, and nothing replaces what is pinned unless it names it.
    """
    # What an answer says that it happened holds from that day on.
    days = {c.by: c.valid.first for c in claims if c.by and c.trusted and c.valid.last}
    happened = {c.id: c._replace(valid=Period(days[c.ref], c.valid.last), dated=0) for c in claims if c.ref in days}
    claims = [happened.get(c.id, c) for c in claims] if happened else claims
    found = {claim.id: Validity(claim.valid, happened=claim.happened) for claim in claims}
    has_links = any(claim.supersedes or claim.corrects for claim in claims)
    in_order = versions(claims if has_links else [claim for claim in claims if claim.slots])
    links = list(_links(in_order)) if has_links else []
    never_true = {older.id for _, older, corrects in links if corrects}
    true = (claim for claim in in_order if claim.id not in never_true)
    slots = grouped((slot, claim) for claim in true for slot in dict.fromkeys(claim.slots))
    for in_slot in slots.values():
        if len(in_slot) > 1:
            _replace_within_slot(in_slot, today, found)
    for newer, older, corrects in links:
        # What is superseded is true until the other begins, or its end; a plan and a date are over when another one is told.
        start = newer.valid.first or newer.day
        if start and newer.day and (newer.dated == 1 or older.dated or not has_begun(older.valid, newer.day)):
            start = min(start, newer.day)
        if corrects or start is None or start <= today:
            _replace(found, older, newer, retracted=older.id in never_true, start=start)
    for in_slot in slots.values():
        _wait_for_answers(in_slot, today, found)
    return found


def _wait_for_answers(claims: Sequence[Claim], today: date, found: dict[int, Validity]) -> None:
    """Let those claims of one slot wait that close nothing and give it another value than it holds."""
    held: Claim | None = None
    for claim in claims:
        if claim.trusted and found[claim.id].holds(today):
            if claim.closes or held is None:
                held = claim
            elif claim.same != held.same and held.spoken_for.isdisjoint(claim.spoken_for):
                found[claim.id] = found[claim.id]._replace(waits=True)
    for claim in claims:  # what happened is not replaced by what holds now, and does not stand beside it
        if held and claim.happened and claim.same != held.same and held.spoken_for.isdisjoint(claim.spoken_for):
            found[claim.id] = found[claim.id]._replace(waits=True)


def _links(claims: Sequence[Claim]) -> Iterator[tuple[Claim, Claim, bool]]:
    """(newer, older, corrects) for each claim that a trusted line names; `corrects` if it says that this was never true.

    `newer` is that line itself, or the one that it names to stand in its place (`by`).
    """
    by_ref = grouped((claim.ref, claim) for claim in claims)
    for claim in claims:
        refs = [(ref, False) for ref in claim.supersedes] + [(ref, True) for ref in claim.corrects]
        for ref, corrects in refs if claim.trusted else ():
            newer = by_ref.get(claim.by or "", [claim])[0]
            if ref not in (claim.ref, newer.ref):
                yield from ((newer, older, corrects) for older in by_ref.get(ref, ()))


def _replace_within_slot(claims: Sequence[Claim], today: date, found: dict[int, Validity]) -> None:
    """End and retract the claims of one slot, which are in order of versions."""
    corrected = dict(_corrected_in_words([claim for claim in claims if claim.trusted and claim.closes]))
    begun = [claim for claim in claims if has_begun(claim.valid, today)]
    told = [claim for claim in begun if claim.trusted and claim.id not in corrected]
    closing = [claim for claim in told if claim.closes]
    for claim in begun if closing else ():
        if not (claim.trusted or claim.happened) and claim.same != closing[-1].same:
            _replace(found, claim, closing[-1])
    for claim, successor in zip(told, _successors(told, closing), strict=True):
        if successor is not None and not (claim.pinned or claim.happened):
            _replace(found, claim, successor)
    by_id = {claim.id: claim for claim in claims}
    for wrong, right in corrected.items():
        _replace(found, by_id[wrong], by_id[right], retracted=True)


def _successors(claims: Sequence[Claim], closing: Sequence[Claim]) -> Iterator[Claim | None]:
    """For each claim the first later one that says something else, of those that close another value.

    Nothing orders two claims of one day on two pages: neither is the later one, and both hold (a conflict).
    """
    next_other: list[int | None] = [None] * len(closing)  # for each place the next one with another value
    for i in range(len(closing) - 2, -1, -1):
        next_other[i] = i + 1 if closing[i + 1].same != closing[i].same else next_other[i + 1]
    days = [_version(claim)[:2] for claim in closing]

    def other_from(place: int, same: int) -> int | None:
        if place == len(closing) or closing[place].same != same:
            return place if place < len(closing) else None
        return next_other[place]

    passed = 0
    for claim in claims:
        passed += claim.closes
        day, page = _version(claim)[:2], claim.place[0]
        found = other_from(passed, claim.same)
        if found is None or (days[found], closing[found].place[0]) != (day, page):
            found = other_from(bisect_right(days, day), claim.same)
        yield None if found is None else closing[found]


def _corrected_in_words(claims: Sequence[Claim]) -> Iterator[tuple[int, int]]:
    """(wrong, right) for each claim that another one corrects in words: what the slot held when that one was told."""
    if not any(claim.amends for claim in claims):
        return
    known: list[Claim] = []  # what was told so far and not corrected, in order of versions
    for claim in sorted(claims, key=lambda claim: (claim.day or date.min, claim.place)):
        if claim.amends:
            held = _held_when_told(known, claim)
            if not any(wrong.pinned for wrong in known[held]):
                yield from ((wrong.id, claim.id) for wrong in known[held])
                del known[held]
        insort(known, claim, key=_version)


def _held_when_told(known: Sequence[Claim], claim: Claim) -> slice:
    """Where in `known` the claims stand of the value that the slot held when another one was told; nowhere if it is the same."""
    told = claim.day or date.min
    last = (max(told, claim.valid.first or told), date.max, ("\U0010ffff", 0))
    start = end = bisect_right(known, last, key=_version)
    value = known[end - 1].same if end else claim.same
    while start and value != claim.same and known[start - 1].same == value:
        start -= 1
    return slice(start, end)


def _replace(
    found: dict[int, Validity], old: Claim, new: Claim, retracted: bool = False, start: date | None = None
) -> None:
    """End `old` where `new` starts, or earlier at `start`, never later than it ended by itself, and never before it began."""
    validity = found[old.id]
    start = start or new.valid.first or new.day
    first, last = validity.valid
    if old.happened and old.day and first and last and first < old.day <= last:
        first = old.day  # "decided not to this year": of the time before it was told nothing is known
    if start and (old.valid.first or date.min) < start:
        end = start - timedelta(days=1)
        last = end if last is None else min(last, end)
    found[old.id] = Validity(Period(first, last), new.id, retracted or validity.retracted)
