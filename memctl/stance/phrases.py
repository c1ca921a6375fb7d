"""What a clause speaks of, each item with its sign.

The sign of an item is the product of the negations and attitudes in whose scope it stands: "did not complain about long
replies" says no against `replies` nor `long`. Scopes run to the right up to a comma, "because" and the like; an
operator with nothing to its right («кофе больше не пьёт») looks to its left.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ..language.analyzer import stop_terms
from ..language.names import is_han
from .units import CONTENT, OPERATORS, Unit, is_barrier, is_verb

__all__ = ["ATTITUDES", "EVENTS", "TIMES", "Item", "items_of"]


class Item(NamedTuple):
    """Something that a clause speaks of."""

    word: str
    ids: frozenset[str]  # what it is: names of groups (`coffee.`), else its stem
    kinds: frozenset[str]  # the more general things that it is one of
    axes: tuple[tuple[str, float], ...]  # scales, with the end: +1 or -1
    choices: tuple[tuple[str, str], ...]  # sets of which only one holds, with its own value
    weight: float
    light: bool  # a verb that says little by itself: drink, go
    name: bool
    at: int  # which unit of the clause
    segment: int
    no: int = 1  # -1 under an odd number of negations
    att: int = 0  # +1 wanted or liked, -1 refused or disliked, 0 neither
    demand: bool = False  # the attitude asks or refuses, rather than likes or dislikes
    excess: int = 0  # +1 "too long", -1 "not long enough"
    right: bool = False  # after "than": it belongs to the thing compared with
    lesser: bool = False  # what something else is preferred to
    verb: bool = False
    felt: bool = False  # the attitude or operator itself
    other: bool = False  # "another job"
    fewer: bool = False  # "fewer meetings"
    old: bool = False  # "switched from A"
    aside: bool = False  # "after the update": no denial that follows is about it


ATTITUDES = {
    "like": (1, False),
    "dislike": (-1, False),
    "ask": (1, True),
    "refuse": (-1, True),
    "never_fails": (1, False),
}
TIMES = frozenset(
    f"{name}."
    for name in (
        *("morning", "afternoon", "evening", "night", "noon", "weekend"),
        *("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"),
    )
)

# -- scopes ------------------------------------------------------------------------------------------------------------


class _Scope:
    """What holds at a place in a segment: parity of negations, the attitude, what is pending."""

    def __init__(self) -> None:
        self.no, self.att, self.demand = 1, 0, False
        self.excess = self.less = 0
        self.joined = self.right = self.flipped = self.enough = self.compares = False
        self.spoken = 0  # items since the last attitude
        self.changes = self.old = False  # "switched from A": A is what was
        self.context = False  # "before the nets open": when, not what


def items_of(units: list[Unit]) -> tuple[tuple[Item, ...], tuple[int, ...]]:
    """The items of a clause, and the segment of each unit."""
    items: list[Item] = []
    segments: list[int] = []
    scope, segment = _Scope(), 0
    concord = any(unit.sections & {"not", "stop"} for unit in units)
    pending: list[_Pending] = []
    untrue = 0
    for at, unit in enumerate(units):
        segments.append(segment)
        if is_barrier(unit) or unit.sections & {"because", "when"}:
            if not (unit.word in ",，、" and _lists_on(units, at)):
                segment += 1
                goes_on = "because" in unit.sections or (at + 1 < len(units) and units[at + 1].word.casefold() in _THAT)
                felt = scope.att if goes_on and not scope.demand and not scope.spoken else 0
                if "when" in unit.sections and is_han(unit.word[0]):
                    items = [_circumstance(item) if item.segment == segment - 1 else item for item in items]
                scope = _Scope()
                scope.att, scope.context = felt, "when" in unit.sections and not felt and not is_han(unit.word[0])
                untrue -= 1
                if untrue == 0 and unit.word in ",，":
                    scope.no = -1
            continue
        if "denial" in unit.sections and any(item.segment == segment for item in items):
            items = [item._replace(no=-item.no) if item.segment == segment else item for item in items]
            continue
        if "untrue" in unit.sections:
            scope.no, untrue = -scope.no, 1
            continue
        last = at + 1 == len(units) or is_barrier(units[at + 1])
        made = _item(unit, units[at - 1], last, at, segment, scope)
        items += made
        scope.spoken += len(made)
        denied = scope.no < 0
        if operator := _operate(unit, scope, units, at, concord):
            if operator[1] and denied and pending and pending[-1][:2] == (len(items) - len(made), segment):
                pending.pop()
            beside = [part for part in (units[at - 1 : at] + units[at + 1 : at + 2]) if "anaphor" in part.sections]
            place = -1 if _is_passive(units, at) else len(items)
            far = bool(operator[1]) or not unit.word.isascii() or unit.word.casefold() == "none"
            anew = _is_anew(units, at)
            pending.append(
                _Pending(
                    place, -1 if beside and segment and operator[1] else segment, *operator, far, scope.demand, anew
                )
            )
    if any(not item.light and not item.felt for item in items):
        items = [_felt(item) if item.felt else item for item in items]
    return tuple(item for item in _leftwards(items, pending) if item.weight), tuple(segments)


_THAT = frozenset(("что", "когда", "если", "that", "when", "because"))


def _lists_on(units: list[Unit], at: int) -> bool:
    """True for the comma of a list: "tea, coffee or juice"; one or two plain words, then a comma or a conjunction."""
    for ahead in range(at + 1, min(at + 4, len(units))):
        unit = units[ahead]
        if unit.sections & OPERATORS or "light" in unit.sections:
            return False
        if ahead > at + 1 and (unit.word in ("or", "nor", "and", "или", "и", "ни", "或", "和", "、", "or")):
            return True
    return units[at].word == "、"


def _operate(unit: Unit, scope: _Scope, units: list[Unit], at: int, concord: bool) -> tuple[int, int] | None:
    """Let an operator change the scope; (no, att) to hand to the left if nothing follows it."""
    found = unit.sections
    if "scales" in found and len(unit.word) > 2 and is_han(unit.word[0]):
        found -= {"not"}  # 看都没看: the denial is in the scale
    if "plain" in found:
        return None
    if "coordinate" in found:
        _join(scope, units, at)
    if scope.demand and scope.att > 0 and _is_unknown_act(unit, units[at - 1] if at else unit):
        scope.att = 0
    if "too" in found:
        scope.excess = 3
    if "enough" in found:
        scope.enough = True
    if "less" in found and not found & {"ask", "refuse"}:
        scope.less = 2
    if "reduce" in found and scope.att:
        scope.less = 3
    if "than" in found:
        scope.right = True
        scope.flipped = bool(scope.att)
    if scope.compares and scope.spoken and unit.word.casefold() in ("to", "over"):
        scope.flipped = True
    if unit.word == "over" and scope.att < 0 and scope.spoken:
        scope.att = 0
    if unit.word in ("少", "少了") and at + 1 < len(units) and units[at + 1].kind == "n":
        return (-1, 0)
    if _turns(scope, found):
        return None
    if "stop" in found:
        scope.no = -1 if "reversal" in found else -scope.no
        return (scope.no, 0) if scope.no < 0 else None
    if "not" in found or "no" in found or ("never" in found and not concord):
        scope.no = -scope.no
        return (-1, 0) if "no" not in found else None
    for section, (sign, demand) in ATTITUDES.items():
        if section in found:
            if scope.no < 0 and "mild" in found:
                return None
            nested = scope.att if scope.att and not scope.joined else 1
            scope.att, scope.demand = nested * sign * scope.no, demand
            scope.no, scope.joined, scope.spoken, scope.flipped = 1, False, 0, False
            scope.compares = "prefer" in found and scope.att > 0
            return None if section == "ask" else (1, scope.att)
    return None


def _turns(scope: _Scope, found: frozenset[str]) -> bool:
    """Follow "switched from A to B" and "replaced A with B": A is denied, B is not."""
    if "replace" in found or (scope.changes and "away" in found):
        scope.old, scope.no = True, -1
        return True
    if scope.old and "onto" in found:
        scope.old, scope.no = False, 1
        return True
    scope.changes = scope.changes or "change" in found
    return False


def _is_unknown_act(unit: Unit, before: Unit) -> bool:
    """True for a verb of no list after "asked to": whether it is good for its object, nobody knows."""
    if unit.sections or unit.kind != "w":
        return False
    return before.word == "to" or (unit.word.endswith(("ть", "ти", "чь")) and not unit.word.isascii())


def _join(scope: _Scope, units: list[Unit], at: int) -> None:
    """After "and", a verb begins anew; after "or" and before a noun the scope goes on."""
    scope.joined = True
    if at + 1 < len(units) and units[at].word.casefold() not in ("or", "nor", "или", "ни", "或", "或者"):
        for after in units[at + 1 : at + 3]:
            if after.sections & OPERATORS or is_verb(after):
                scope.no, scope.att = 1, 0
            if not after.sections & {"only", "about_now", "generic", "more"}:
                break


def _is_anew(units: list[Unit], at: int) -> bool:
    """True right after "and", or "and has": what stands before that is another statement."""
    while at > 0 and units[at - 1].word.casefold() in ("has", "have", "had", "he", "she", "they"):
        at -= 1
    return at > 0 and "coordinate" in units[at - 1].sections


class _Pending(NamedTuple):
    """An operator that may look to its left: how many items stood before it (-1: all), may it look past its segment."""

    place: int
    segment: int
    no: int
    att: int
    far: bool
    demand: bool
    anew: bool  # right after "and": a verb before that is another statement


def _is_passive(units: list[Unit], at: int) -> bool:
    """True for the "not" of "is not supported", which denies the subject."""
    be = units[at].word.casefold() in ("isn't", "aren't", "wasn't", "weren't") or (
        at > 0 and units[at].word.casefold() == "not" and units[at - 1].word.casefold() in ("is", "are", "was", "were")
    )
    return be and at + 1 < len(units) and units[at + 1].word.endswith("ed")


def _leftwards(items: list[Item], pending: Iterable[_Pending]) -> list[Item]:
    """Hand an operator that nothing follows to what stands before it in its segment, or else in the clause."""
    for place, segment, no, att, far, demand, anew in pending:
        end = place if place >= 0 else len(items)
        if any(
            not (item.light or (item.verb and not item.word.isascii()))
            for item in items[end:]
            if item.segment == segment
        ):
            continue
        near = [
            n for n in range(end) if items[n].segment == segment and not items[n].felt and not (anew and items[n].verb)
        ]
        for n in near or (range(end) if far else ()):
            item = items[n]
            if item.segment != segment >= 0 and item.no * (item.att or 1) < 0 and (att < 0 or no < 0):
                continue  # "turned the desk down, does not want it" refuses once
            if att and (not item.att or (item.demand and att < 0)):
                sign = att * (item.att or 1) if segment >= 0 else att
                no = 1 if att < 0 and item.segment != segment else item.no  # "did not touch it, hates it" denies once
                items[n] = item._replace(att=sign, demand=item.demand or (demand and n in near), no=no)
            elif no < 0 and not att and not item.aside and item.word.split(" ")[0].casefold() not in _LACKING:
                items[n] = item._replace(no=-1)
    return items


_LACKING = frozenset(("without", "no", "not", "без", "не", "нет"))


# -- items -------------------------------------------------------------------------------------------------------------


def _item(unit: Unit, before: Unit, last: bool, at: int, segment: int, scope: _Scope) -> list[Item]:
    if unit.kind == "p" or unit.kind == "n" or _is_silent(unit):
        return []
    names = [role for role in unit.roles if role.section in CONTENT]
    axes = tuple((role.name, role.side) for role in names if role.section == "scales")
    if unit.key in _FUNCTIONS and last:
        axes = (*axes, ("success", 1.0))
    groups = [f"{role.name}." for role in names if role.section == "groups"]
    ids = frozenset(groups or [f"{name}." for name in unit.parts] or (unit.key,))
    kinds = frozenset(f"{role.name}." for role in names if role.section == "kinds")
    choices = tuple((role.name, min(ids)) for role in names if role.section == "choices")
    sections = unit.sections
    light = (
        not sections & {"kinds", "choices", "scales"}
        and set(groups) <= _VERBS
        and ("light" in sections or bool(groups))
    )
    named = (
        unit.kind == "i"
        or (unit.capital and unit.start > 0)
        or (unit.word.isascii() and unit.kind == "w" and unit.capital)
    )
    adjunct = "people" in sections or bool(ids & TIMES)
    often = any(name == "plantype" for name, _ in choices) or (
        unit.kind == "w" and not sections and unit.word.endswith("ly")
    )
    aside = bool(ids & EVENTS) and bool(at) and before.word.casefold() in _PREPOSITIONS
    weight = 0.4 if light else 0.3 if often or aside else 0.5 if adjunct else 1.0
    no = scope.no
    if scope.less:
        scope.less -= 1
        if axes or scope.att:
            no, scope.less = -no, 0
    lesser = scope.flipped or (scope.compares and scope.spoken == 1 and unit.word.endswith(("у", "ю", "ам", "ям")))
    if lesser and not light:
        no = -1
    excess = 0
    if scope.excess:
        scope.excess -= 1
        if axes:
            excess, scope.excess = int(not scope.demand), 0
    if scope.enough and scope.no < 0:
        excess = -1
    base = Item(
        unit.word,
        ids,
        kinds,
        axes,
        choices,
        weight,
        light,
        named,
        at,
        segment,
        no,
        scope.att,
        scope.demand,
        excess,
        scope.right and not scope.flipped,
        lesser,
        is_verb(unit),
        bool(sections & _OPERATING),
    )
    base = _circumstance(base)._replace(aside=not scope.spoken) if scope.context else base._replace(old=scope.old)
    if no != scope.no and not lesser:
        base = base._replace(fewer=True)
    if at and "another" in before.sections and not (scope.att > 0 and scope.demand):
        base = base._replace(other=True)
    if unit.kind != "r" or len(unit.word) < 3:
        return [base._replace(weight=0.6)] if unit.kind == "r" and len(unit.word) == 1 else [base]
    pairs = [unit.word[n : n + 2] for n in range(len(unit.word) - 1)]
    return [base._replace(ids=frozenset((pair,)), weight=1.2 / len(pairs)) for pair in pairs[:12]]


_OPERATING = frozenset(("like", "dislike", "ask", "refuse", "stop"))
_FUNCTIONS = frozenset(("work", "работа"))
_NAMED = frozenset(("Go", "Swift", "Scratch", "Notion", "Word", "Teams", "Signal", "Edge", "Make", "Rest", "Go's"))
EVENTS = frozenset(("meeting.", "party.", "dinner.", "lunch.", "breakfast.", "phonecall.", "trip."))
_PREPOSITIONS = frozenset(
    ("in", "at", "on", "during", "after", "before", "на", "в", "за", "во", "после", "перед", "the", "在")
)
_VERBS = frozenset(("speak.", "labour.", "go.", "run.", "money."))


def _circumstance(item: Item) -> Item:
    """What only says when: half as much, and no place on a scale."""
    return item._replace(weight=item.weight / 2, axes=())


def _felt(item: Item) -> Item:
    """An attitude beside what it is about: only what it says of somebody's temper is left of it."""
    axes = tuple(axis for axis in item.axes if axis[0] in _TEMPER)
    return item._replace(light=True, weight=0.01 if axes else 0.0, axes=axes)


_TEMPER = frozenset(("calm", "polite"))


def _is_silent(unit: Unit) -> bool:
    if unit.capital and unit.start and unit.word.isascii() and unit.word in _NAMED:
        return False
    if unit.sections & {"plain"}:
        return not unit.sections & {"scales", "groups"}
    if not unit.sections & CONTENT:
        return bool(unit.sections) or unit.key in stop_terms() or (unit.kind == "w" and len(unit.word) == 1)
    if "months" in unit.sections or (unit.sections & {"less", "more"} and "groups" not in unit.sections):
        return True
    return unit.sections & CONTENT == {"light"} and bool(unit.sections & {"ask", "refuse", "stop", "like", "dislike"})
