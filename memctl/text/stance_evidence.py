"""What is no word for word answer to a belief, but evidence: how a thing is judged, how long it took, when somebody rose."""

from __future__ import annotations

from itertools import pairwise

from .stance_bond import Bond, View, is_thing, loose, sign_of
from .stance_items import Item
from .stance_reading import Clause
from .stance_units import is_verb

__all__ = ["JUDGED", "by_measure", "by_worth", "is_other_thing", "is_other_use", "kept_word"]

JUDGED = frozenset(
    ("quality", "useful", "interest", "beautiful", "delight", "truth", "safety", "comfortable", "energy", "trust")
)
"""Scales whose ends tell whether somebody likes a thing: who finds hiking boring does not love it."""


def by_worth(bond: Bond, belief: Clause, clause: Clause) -> View | None:
    """A thing that is liked or not, called good or bad: "finds hiking boring" says no to "loves hiking"."""
    if not bond.wish or bond.nouns < 1 or bond.coverage < 0.6 or bond.scales:
        return None
    things = [(a, b) for a, b in bond.pairs if is_thing(a) and not a.light]
    for one, other in things:
        said = _judgement(bond, clause, other)
        if said is None or any(i.att for _, i in things if i.segment == other.segment and not _later(clause, i, said)):
            continue
        side = sum(side for name, side in said.axes if name in JUDGED)
        sign = sign_of(one, True) * sign_of(said._replace(demand=False), False) * (1 if side > 0 else -1)
        if sign > 0:
            return View("for", bond.weight, f'"{said.word}" of {other.word}')
        return View("against", bond.weight, f'"{said.word}" of {other.word}') if bond.coverage >= 0.7 else None
    return None


def _later(clause: Clause, item: Item, said: Item) -> bool:
    """True when the attitude of an item comes from what follows the judgement: "finds it dull and wants to stop"."""
    return not any(
        unit.sections & {"like", "dislike", "ask", "refuse"} for unit in clause.units[: said.at] if unit.kind != "p"
    )


def _judgement(bond: Bond, clause: Clause, thing: Item) -> Item | None:
    """The judging word that follows a thing in its segment ("found the film dull"), with no other thing between."""
    for item in sorted(bond.over, key=lambda i: i.at):
        if item.segment != thing.segment or item.at <= thing.at:
            continue
        if any(name in JUDGED for name, _ in item.axes):
            heads = {i.at for i in bond.over if not i.axes and not i.light and not i.verb}
            return None if item.at + 1 in heads else item
        if is_thing(item) and not item.light and not item.verb:
            return None
    return None


# -- how long, and when ------------------------------------------------------------------------------------------------

_MINUTE, _HOUR, _DAY = 60.0, 3600.0, 86400.0
_TOOK = frozenset(("took", "takes", "take", "taking", "needed", "needs", "waited", "waiting", "lasted", "after", "within", "for", "in", "only"))  # fmt: skip
_TALK = frozenset(("reply.", "message.", "email.", "review.", "help."))
_ROSE = frozenset(("wake.", "run.", "gym.", "labour.", "breakfast."))


def by_measure(bond: Bond, belief: Clause, clause: Clause) -> View | None:
    """A length of time for what is said to be quick or slow, an hour for who rises early or late."""
    for one in bond.left:
        for name, side in one.axes:
            found = _promise(clause) if name == "reliability" and not loose(bond.left) else None
            if name in ("speed", "early"):
                found = _pace(bond, clause) if name == "speed" else _hour(bond, clause)
            if not found or (loose([i for i in bond.left if i is not one and not i.verb])):
                continue
            end, text = found
            if end * side * sign_of(one, bond.wish) > 0:
                return View("for", 1.0, f'{text} as "{one.word}"')
            return View("against", 1.0, f'"{one.word}" against {text}')
    return None


def _pace(bond: Bond, clause: Clause) -> tuple[int, str] | None:
    """+1 for a short time, -1 for a long one, of the thing that both speak of."""
    if not bond.pairs or any(item.no < 0 for _, item in bond.pairs):
        return None
    talk = any(item.ids & _TALK for pair in bond.pairs for item in pair)
    slow, quick = (_DAY, _HOUR) if talk else (20 * _MINUTE, 10.0)
    for number in clause.quantities:
        before = {unit.word.casefold() for unit in clause.units[max(0, number.at - 3) : number.at]}
        if number.dimension != "time" or not before & _TOOK or number.denied:
            continue
        if number.low >= slow:
            return -1, number.text
        if number.high <= quick:
            return 1, number.text
    return None


def _promise(clause: Clause) -> tuple[int, str] | None:
    """+1 for a promise kept, -1 for one that is not: who keeps his word is reliable."""
    said = next((unit for unit in clause.units if unit.sections >= {"plan", "say"}), None)
    sign = kept_word(clause) if said else 0
    return (sign, f"{said.word}, and did" if sign > 0 else f"{said.word}, and did not") if said and sign else None


def kept_word(clause: Clause) -> int:
    """+1 when what is planned is then said to be done («обещала прислать и прислала»), -1 when not done; 0 for neither."""
    units = clause.units
    start = next((at for at, unit in enumerate(units) if "plan" in unit.sections), len(units))
    for at in range(start + 3, len(units)):
        parted = any("coordinate" in u.sections or u.kind == "p" for u in units[start:at])
        again = units[at].kind == "w" and any(unit.key == units[at].key for unit in units[start + 1 : at])
        if parted and again and is_verb(units[at]):
            return -1 if units[at - 1].sections & {"not", "never"} else 1
    return 0


def _hour(bond: Bond, clause: Clause) -> tuple[int, str] | None:
    """+1 for rising or starting by seven, -1 for ten or later."""
    if not any(item.ids & _ROSE for item in bond.fact):
        return None
    noon = next((unit.word for unit in clause.units if unit.word.casefold() in ("noon", "midday")), "")
    clock = next((q for q in clause.quantities if q.dimension == "clock"), None)
    minutes, text = (clock.low, clock.text) if clock else (720.0, noon)
    if not text:
        return None
    denied = any(unit.sections & {"not", "no", "stop"} for unit in clause.units)
    until = any(unit.word.casefold() in ("before", "until", "till") for unit in clause.units)
    if denied != (until and denied):
        return None
    return (1, text) if minutes <= 420 and not denied else (-1, text) if 600 <= minutes <= 900 else None


# -- another thing of the same name ------------------------------------------------------------------------------------


def is_other_thing(bond: Bond, item: Item) -> bool:
    """True for the first half of a compound that the belief does not have: a coffee table is no coffee."""
    if item.segment < 0 or not item.word.isascii() or bond.units[item.at].kind not in "wi":
        return False
    head = next((i for i in bond.over if i.at == item.at + 1 and i.segment == item.segment), None)
    if head is None or head.verb or head.axes or head.light or head.weight < 1 or head.word.endswith(("ly", "ing")):
        return False
    before = [u.word.casefold() for u, n in zip(bond.units, bond.segments, strict=True) if n == item.segment]
    return not _EATEN & set(before) and not is_verb(bond.units[item.at + 1])


def is_other_use(bond: Bond, item: Item) -> bool:
    """True when the belief is about eating or drinking, and the fact does something else with it: "feeds the fish"."""
    if not any(one.word.casefold() in _EATEN for one in bond.belief) or not item.word.isascii():
        return False
    here = [unit for unit, n in zip(bond.units, bond.segments, strict=True) if n == item.segment and n >= 0]
    if _EATEN & {unit.word.casefold() for unit in here}:
        return False
    return any(
        not unit.sections
        and unit.kind == "w"
        and (is_verb(unit) or after.word.casefold() in ("the", "a", "his", "her"))
        for unit, after in pairwise(here)
    )


_EATEN = frozenset(("eat", "eats", "ate", "eating", "drink", "drinks", "drank", "drinking", "had", "ordered", "orders"))
