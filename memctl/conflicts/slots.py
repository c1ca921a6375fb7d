"""Two values in one slot that the order of versions does not settle: told on one day, pinned, or from outside. Pure.

Lines that time puts in order do not disagree: the newer one holds (truth/validity.py).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from typing import NamedTuple

from ..facts import Fact
from ..language.analyzer import query_terms
from ..language.names import script_of
from ..language.relations import relation
from ..language.sentences import is_change
from ..truth.validity import Claim, Validity, has_begun, has_ended, versions

SAME_DAY, PINNED, OUTSIDE = "same slot, same day, other value", "pinned against newer", "other value from outside"


class SlotPair(NamedTuple):
    """Two facts by id, the older first, and the rule by which they may disagree."""

    first: int
    second: int
    rule: str


def in_slots(claims: Iterable[Claim], standing: Mapping[int, Validity], today: date) -> list[SlotPair]:
    """Pairs within slots that the order of versions does not settle."""
    slots: dict[tuple[str, str], list[Claim]] = defaultdict(list)
    named: set[str] = set()
    for claim in claims:
        for slot in claim.slots:
            slots[slot].append(claim)
        named.update((*claim.supersedes, *claim.corrects) if claim.trusted else ())
    found = (pair for _, line in sorted(slots.items()) for pair in _in_slot(versions(line), standing, today, named))
    return list(dict.fromkeys(found))


def _in_slot(
    line: Sequence[Claim], standing: Mapping[int, Validity], today: date, named: set[str]
) -> Iterator[SlotPair]:
    holding = {claim.same: claim for claim in line if claim.trusted and standing[claim.id].holds(today)}
    if not holding:
        return
    *others, newest = sorted(holding.values(), key=lambda c: (c.valid.first or date.min, c.day or date.min, c.place))
    for other in others:
        yield SlotPair(other.id, newest.id, PINNED if other.pinned or newest.pinned else SAME_DAY)
    for claim in line:
        current = has_begun(claim.valid, today) and not has_ended(claim.valid, today)
        if current and claim.same not in holding and claim.ref not in named:
            yield from _beside(claim, newest, standing)


def _beside(claim: Claim, newest: Claim, standing: Mapping[int, Validity]) -> Iterator[SlotPair]:
    """A value that does not hold, against the newest that does: told together with it, or later by somebody untrusted."""
    # Only their places on the page order these two.
    together = (claim.valid.first, claim.day) == (newest.valid.first, newest.day) and not newest.amends
    if claim.trusted and standing[claim.id].replaced_by == newest.id and together:
        yield SlotPair(claim.id, newest.id, SAME_DAY)
    elif not claim.trusted and (claim.valid.first or date.min) >= (newest.valid.first or date.min):
        yield SlotPair(newest.id, claim.id, OUTSIDE)


def values_differ(one: Fact, other: Fact, rule: str) -> bool:
    """False where two lines of a slot may well give it one value, in other words or another language.

    And where the later line of one day says itself that things changed.
    """
    if script_of(one.text) != script_of(other.text) or (rule == SAME_DAY and is_change(other.text)):
        return False
    values = [relation(fact.text, fact.entities) for fact in (one, other)]
    if values[0] and values[1] and values[0].key == values[1].key:
        mine, its = values[0].value, values[1].value
        return not (mine.startswith(its) or its.startswith(mine))  # "lisbon" and "lisbon old town"
    stems = [set(query_terms(fact.text)) for fact in (one, other)]
    return not (stems[0] <= stems[1] or stems[1] <= stems[0])
