"""What a clause of a fact shares with a clause of a belief."""

from __future__ import annotations

from typing import NamedTuple

from .phrases import Item
from .reading import Clause
from .units import Unit

__all__ = ["WORTH", "Bond", "View", "is_thing", "loose", "same_thing", "sign_of"]


WORTH = frozenset(("quality", "truth", "success", "reliability", "useful", "trust"))
"""Scales on which one end is plainly better: bad estimates are wrong, good code works."""


_KEPT = {"reliability", "punctual"}  # a bus that comes late is not reliable
_WITHOUT = frozenset(("without", "без", "不加", "不放", "不带"))


class View(NamedTuple):
    """One reading of a pair of clauses: the verdict with the weight of its bond."""

    verdict: str
    bond: float
    reason: str
    hedged: bool = False
    reversal: bool = False
    place: int = 0


class Bond:
    """What two clauses share: pairs of things, scales, and the weight of what is left over on each side."""

    def __init__(self, belief: Clause, clause: Clause, mine: frozenset[str], key: str = "") -> None:
        self.flags, self.key = belief.flags, key
        self.mine, self.units, self.segments = mine, clause.units, clause.segments
        self.belief = _topics(belief, mine, True)
        self.fact = _topics(clause, mine, False)
        self.keys = frozenset(unit.key for unit in belief.units if unit.kind != "p")
        self.without = any(unit.word.casefold() in _WITHOUT for unit in belief.units)
        self.wish = any(item.att for item in self.belief)
        if self.wish:
            too = {item.segment for item in self.fact if item.excess > 0}
            self.fact = [
                item._replace(att=-1) if item.segment in too and not item.att and not item.excess else item
                for item in self.fact
            ]
        self.pairs: list[tuple[Item, Item]] = []
        self.scales: list[tuple[Item, Item, int]] = []
        for one in self.belief:
            if not one.right and not one.old:
                self._meet(one, clause)
        taken = {id(one) for one, _ in self.pairs} | {id(one) for one, _, sign in self.scales if sign > 0}
        met = {id(other) for _, other in self.pairs} | {id(other) for _, other, _ in self.scales}
        counted = [one for one in self.belief if not one.lesser and not one.right and not one.old]
        total = sum(one.weight for one in counted)
        unit = 1.0 if total >= 1 else 1 / total if total else 0.0  # a belief of one light verb: "enjoys running"
        self.nouns = unit * sum(one.weight for one, _ in self.pairs if is_thing(one))
        self.weight = unit * sum(one.weight for one in self.belief if id(one) in taken)
        self.left = [one for one in counted if id(one) not in taken]
        self.over = [one for one in self.fact if id(one) not in met]
        self.coverage = min(1.0, self.weight / total / unit) if total else 0.0
        heavy = [pair for pair in self.pairs if not pair[0].light]
        self.apart = [(a, b) for a, b in heavy or self.pairs if sign_of(a, self.wish) != sign_of(b, self.wish)]

    def reach(self, scale: Item) -> float:
        """The share of the belief that is met when `scale` is counted in, whichever end the fact stands at."""
        counted = [one for one in self.belief if not one.lesser and not one.right and not one.old]
        total = sum(one.weight for one in counted)
        rest = sum(one.weight for one in self.left if one is not scale)
        return 1 - rest / total if total else 0.0

    def _meet(self, one: Item, clause: Clause) -> None:
        """Pair `one` with what the fact says of the same; of several, with what is denied or felt before the neutral."""
        same = [
            o
            for o in self.fact
            if not o.right and (not o.other or one.other) and same_thing(one, o, sign_of(o, self.wish) < 0)
        ]
        found = self._scale(one) if one.axes else None
        part = " " in one.word and bool(one.axes) and not any(o.axes for o in same)
        if found and same and not part and not (found[2] < 0 and found[1].att and not any(o.att for o in same)):
            found = None
        if found:
            self.scales.append(found)
        elif same and not part:
            other = max(same, key=lambda o: (o.ids == one.ids, bool(o.att or o.no < 0)))
            self.pairs.append((one, other))

    def _scale(self, one: Item) -> tuple[Item, Item, int] | None:
        """The first word of the fact on a scale of `one`, a wanted one before others; +1 for the same end, -1 for the other."""
        for other in sorted(self.fact, key=lambda o: not o.att):
            signs = sign_of(one, self.wish) * sign_of(other, self.wish)
            shared = [
                a * b * signs
                for name, a in one.axes
                for same, b in other.axes
                if name == same or {name, same} <= WORTH or {name, same} == _KEPT
            ]
            if shared and not any(same_thing(b, other, False) for b in self.belief if b is not one):
                return one, other, 1 if max(shared) > 0 else -1
        return None


def sign_of(item: Item, wish: bool) -> int:
    """+1 when the text says or wants it, -1 when it denies or rejects it."""
    if item.excess:
        return -item.excess if wish else (1 if item.excess > 0 else -1)
    if not wish and item.axes and item.att and not item.demand:
        return item.no
    return item.no * (item.att or 1)


def same_thing(one: Item, other: Item, denied: bool) -> bool:
    """True when `other` is `one` or a kind of it; what is denied of the general is denied of the special too."""
    if any(name == same and a != b for name, a in one.axes for same, b in other.axes):
        return False
    if one.ids & other.ids or one.ids & other.kinds or (denied and one.kinds & other.ids):
        return True
    return any(_kindred(a, b) for a in one.ids for b in other.ids)


def _kindred(one: str, other: str) -> bool:
    """True for two stems of one family: "rehears" and "rehearsal", «репетир» and «репетиц», "deliveri" and "deliv"."""
    if one[:4] != other[:4] or one[0] > "\u3400" or one[-1] == "." or other[-1] == ".":
        return False
    short, long = sorted((one, other), key=len)
    if len(short) < 5:
        return False
    same = next((n for n, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))
    return same >= max(5, len(short) - 1) and len(long) - same <= 3


def _topics(clause: Clause, mine: frozenset[str], told: bool) -> list[Item]:
    """The items of a clause but the names of the one it is about; of a belief also not what that is ("our cat Oskar")."""
    named = {at for at, unit in enumerate(clause.units) if unit.key in mine or unit.word.casefold() in mine}
    kept = [item for item in clause.items if not item.ids & mine and item.at not in named]
    absent = {clause.segments[at] for at in named if _is_absent(clause.units, at)}
    if absent:  # "there is no ferry on Sundays"
        kept = [item._replace(no=-1) if item.segment in absent else item for item in kept]
    if not told:
        return kept
    kept = [item for item in kept if not item.felt or item.weight > 0.1]
    return [item for item in kept if item.at + 1 not in named or item.verb or item.axes or item.weight < 1]


def _is_absent(units: tuple[Unit, ...], at: int) -> bool:
    """True for "no" right before a name, or «нет» right after it."""
    before, after = units[at - 1].word.casefold() if at else "", units[at + 1 : at + 2]
    return before in ("no", "没有", "没", "нет") or any(unit.word.casefold() == "нет" for unit in after)


def is_thing(item: Item) -> bool:
    """False for a word that is only a place on a scale."""
    return not item.axes or any(name.endswith(".") for name in item.ids)


def loose(items: list[Item]) -> float:
    """The weight of items that are neither light verbs nor scales."""
    return sum(item.weight for item in items if not item.light and not item.axes)
