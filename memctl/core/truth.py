"""What holds as of a day: slots with their versions, ends, replacements and corrections. Nothing is ever deleted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from ..facts import Period

__all__ = ["Claim", "Standing", "standings", "versions"]


@dataclass(frozen=True, slots=True)
class Claim:
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


@dataclass(frozen=True, slots=True)
class Standing:
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
    by_ref = {claim.ref: claim for claim in claims}
    spoken = [(claim, by_ref[ref]) for claim in claims if claim.trusted for ref in _targets(claim) if ref in by_ref]
    wrong = {target.id for claim, target in spoken if target.ref in claim.corrects}
    for slot in {slot for claim in claims for slot in claim.slots}:
        _run_slot([c for c in versions(claims) if slot in c.slots and c.id not in wrong], today, found)
    for claim, target in spoken:
        if target.id != claim.id:
            _replace(found, target, claim, retracted=target.id in wrong)
    return found


def _targets(claim: Claim) -> tuple[str, ...]:
    return claim.supersedes + claim.corrects


def _run_slot(line: Sequence[Claim], today: date, found: dict[int, Standing]) -> None:
    begun = [c for c in line if c.valid.first is None or c.valid.first <= today]
    trusted = [c for c in begun if c.trusted]
    for claim in begun:
        later = trusted[trusted.index(claim) + 1 :] if claim.trusted else trusted[-1:]
        successor = next((c for c in later if c.same != claim.same), None)
        if successor is not None:
            _replace(found, claim, successor)


def _replace(found: dict[int, Standing], old: Claim, new: Claim, retracted: bool = False) -> None:
    """End `old` where `new` starts, never later than it ended by itself, and never before it began."""
    standing = found[old.id]
    start = new.valid.first or new.day
    last = standing.valid.last
    if start and old.valid.first and start > old.valid.first:
        end = start - timedelta(days=1)
        last = end if last is None else min(last, end)
    found[old.id] = Standing(Period(standing.valid.first, last), new.id, retracted or standing.retracted)


