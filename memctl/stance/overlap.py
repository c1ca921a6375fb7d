"""What a clause of a fact shares with a clause of a belief."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from .phrases import Clause, PolarityItem

WORTH = frozenset(("quality", "truth", "success", "reliability", "useful", "trust"))
"""Scales on which one end is plainly better: bad estimates are wrong, good code works."""

Pair = tuple[PolarityItem, PolarityItem]


class Scaled(NamedTuple):
    """A word of the belief and one of the fact on the same scale; `sign` is +1 for the same end, -1 for the other."""

    one: PolarityItem
    other: PolarityItem
    sign: int


class Overlap(NamedTuple):
    """What two clauses share.

    `pairs` are things that both name, `apart` those of them that one affirms and the other denies, `scales` words on the
    same scale; `left` and `over` what belief and fact have beside. `weight` is that of all that is met, `nouns` that of
    the things, `coverage` the share of the belief. `wish` says that the belief is about what somebody wants or likes.
    """

    belief: list[PolarityItem]
    fact: list[PolarityItem]
    wish: bool
    pairs: list[Pair]
    apart: list[Pair]
    scales: list[Scaled]
    left: list[PolarityItem]
    over: list[PolarityItem]
    weight: float
    nouns: float
    coverage: float


def overlap(belief: Clause, clause: Clause, mine: frozenset[str]) -> Overlap:
    """What the two clauses share; `mine` are the keys of the names that the belief is about, which say nothing."""
    held, told = _topics(belief, mine), _topics(clause, mine)
    wish = any(item.att for item in held)
    pairs, scales = _matched(held, told, wish)
    met = {id(one) for one, _ in pairs} | {id(scaled.one) for scaled in scales if scaled.sign > 0}
    used = {id(other) for _, other in pairs} | {id(scaled.other) for scaled in scales}
    left = [one for one in held if id(one) not in met]
    total = _weight(held)
    unit = 1.0 if total >= 1 else 1 / total if total else 0.0  # a belief of one light verb: "enjoys running"
    weight = _weight(one for one in held if id(one) in met)
    return Overlap(
        held,
        told,
        wish,
        pairs,
        _apart(pairs, wish),
        scales,
        left,
        [other for other in told if id(other) not in used],
        unit * weight,
        unit * _weight(one for one, _ in pairs if is_thing(one)),
        min(1.0, weight / total) if total else 0.0,
    )


def _weight(items: Iterable[PolarityItem]) -> float:
    return sum(item.weight for item in items)


def _apart(pairs: list[Pair], wish: bool) -> list[Pair]:
    """The pairs that one text affirms and the other denies; light verbs only where nothing else is shared."""
    heavy = [pair for pair in pairs if not pair[0].light] or pairs
    return [(one, other) for one, other in heavy if sign_of(one, wish) != sign_of(other, wish)]


def _matched(held: list[PolarityItem], told: list[PolarityItem], wish: bool) -> tuple[list[Pair], list[Scaled]]:
    """What each item of the belief is met by: a word on its scale, or the same thing."""
    pairs: list[Pair] = []
    scales: list[Scaled] = []
    for one in held:
        same = [other for other in told if same_thing(one, other, sign_of(other, wish) < 0)]
        scaled = _scaled(one, held, told, wish)
        if scaled and not _is_rather_the_same(scaled, same):
            scales.append(scaled)
        elif same:
            pairs.append((one, max(same, key=lambda other: (other.ids == one.ids, bool(other.att or other.no < 0)))))
    return pairs, scales


def _scaled(one: PolarityItem, held: list[PolarityItem], told: list[PolarityItem], wish: bool) -> Scaled | None:
    """The first word of the fact on a scale of `one`, a wanted one before others."""
    for other in sorted(told, key=lambda item: not item.att) if one.axes else ():
        signs = sign_of(one, wish) * sign_of(other, wish)
        sides = [
            side * its * signs
            for name, side in one.axes
            for same, its in other.axes
            if name == same or {name, same} <= WORTH
        ]
        if sides and not any(same_thing(item, other, False) for item in held if item is not one):
            return Scaled(one, other, 1 if max(sides) > 0 else -1)
    return None


def _is_rather_the_same(scaled: Scaled, same: list[PolarityItem]) -> bool:
    """True where a word that stands on a scale is met by its like, and no wish for the other end speaks louder."""
    return bool(same) and not (scaled.sign < 0 and scaled.other.att and not any(item.att for item in same))


def _topics(clause: Clause, mine: frozenset[str]) -> list[PolarityItem]:
    """The items of a clause but the names of the one it is about, what that is ("our cat Oskar"), and bare attitudes."""
    named = {at for at, phrase in enumerate(clause.phrases) if phrase.key in mine or phrase.word.casefold() in mine}
    kept = [item for item in clause.items if not item.ids & mine and item.at not in named]
    return [item for item in kept if item.at + 1 not in named or item.verb or item.axes or item.weight < 1]


def sign_of(item: PolarityItem, wish: bool) -> int:
    """+1 when the text says or wants it, -1 when it denies or rejects it."""
    if not wish and item.axes and item.att and not item.demand:
        return item.no
    return item.no * (item.att or 1)


def same_thing(one: PolarityItem, other: PolarityItem, denied: bool) -> bool:
    """True when `other` is `one` or a kind of it; what is denied of the general is denied of the special too."""
    if any(name == same and side != its for name, side in one.axes for same, its in other.axes):
        return False
    return bool(one.ids & (other.ids | other.kinds) or (denied and one.kinds & other.ids))


def is_thing(item: PolarityItem) -> bool:
    """False for a word that is only a place on a scale."""
    return not item.axes or any(name.endswith(".") for name in item.ids)


def loose(items: list[PolarityItem]) -> float:
    """The weight of items that are neither light verbs nor scales."""
    return sum(item.weight for item in items if not item.light and not item.axes)
