"""What holds as of a day: slots with their versions, ends, replacements and corrections. Nothing is ever deleted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, timedelta
from typing import NamedTuple

from ..facts import Period

__all__ = ["Claim", "Standing", "standings", "versions"]


class Claim(NamedTuple):
    """A fact as truth sees it. `slots` are (entity, key) pairs; `place` orders lines that nothing else orders."""

    id: int
    ref: str
    slots: tuple[tuple[str, str], ...]
    valid: Period
    day: date | None
    same: int
    trusted: bool
    place: tuple[str, int]
    supersedes: tuple[str, ...] = ()
    corrects: tuple[str, ...] = ()


class Standing(NamedTuple):
    """How a claim stands on a day: when it was true, what replaced it (an id), whether it was never true at all."""

    valid: Period
    replaced_by: int | None = None
    retracted: bool = False

    def holds(self, today: date) -> bool:
        """True when the claim is current on `today`."""
        return self.replaced_by is None and not self.retracted and (self.valid.last is None or self.valid.last >= today)


def versions(claims: Iterable[Claim]) -> list[Claim]:
    """The claims of one slot from the first version to the last: by when they became true, then by when they were told.

    A line written late about an earlier time therefore becomes history instead of news (algorithms.md, Truth, 3).
    """
    earliest = date.min
    return sorted(claims, key=lambda c: (c.valid.first or earliest, c.day or earliest, c.place))


def standings(claims: Sequence[Claim], today: date) -> Mapping[int, Standing]:
    """The standing of every claim on `today`, which must be given all versions of the slots concerned.

    A newer version replaces an older one once it is true itself; a repetition of the same words does not. What came
    from outside (untrusted) never replaces what the owner said.
    """
    found = {claim.id: Standing(claim.valid) for claim in claims}
    in_order = versions(claims)
    by_ref: dict[str, list[Claim]] = {}
    for claim in in_order:
        by_ref.setdefault(claim.ref, []).append(claim)
    told = [claim for claim in in_order if claim.trusted]
    wrong = {t.id for claim in told for ref in claim.corrects for t in by_ref.get(ref, ()) if ref != claim.ref}
    slots: dict[tuple[str, str], list[Claim]] = {}
    for claim in in_order:
        for slot in dict.fromkeys(claim.slots) if claim.id not in wrong else ():
            slots.setdefault(slot, []).append(claim)
    for line in slots.values():
        _run_slot(line, today, found)
    for claim in told:
        for target in (t for ref in _targets(claim, today) for t in by_ref.get(ref, ()) if ref != claim.ref):
            _replace(found, target, claim, retracted=target.id in wrong)
    return found


def _begun(claim: Claim, today: date) -> bool:
    return claim.valid.first is None or claim.valid.first <= today


def _targets(claim: Claim, today: date) -> tuple[str, ...]:
    """What a claim replaces: what it corrects was never true, what it supersedes is true until it begins itself."""
    return (claim.supersedes if _begun(claim, today) else ()) + claim.corrects


def _run_slot(line: Sequence[Claim], today: date, found: dict[int, Standing]) -> None:
    """`line` is in order of versions. The successor of each is the next trusted one that says something else."""
    trusted = [claim for claim in line if claim.trusted and _begun(claim, today)]
    newest = trusted[-1] if trusted else None
    for claim in line:
        if newest and not claim.trusted and claim.same != newest.same and _begun(claim, today):
            _replace(found, claim, newest)
    successor: Claim | None = None
    for claim, later in zip(reversed(trusted[:-1]), reversed(trusted[1:]), strict=True):
        successor = later if later.same != claim.same else successor
        if successor is not None:
            _replace(found, claim, successor)


def _replace(found: dict[int, Standing], old: Claim, new: Claim, retracted: bool = False) -> None:
    """End `old` where `new` starts, never later than it ended by itself, and never before it began."""
    standing = found[old.id]
    start = new.valid.first or new.day
    last = standing.valid.last
    if start and (old.valid.first or date.min) < start:
        end = start - timedelta(days=1)
        last = end if last is None else min(last, end)
    found[old.id] = Standing(Period(standing.valid.first, last), new.id, retracted or standing.retracted)
