"""What is no word for word answer to a belief, but evidence: how a thing is judged, how long it took, when somebody rose."""

from __future__ import annotations

from itertools import pairwise

from ..facts import Fact
from ..language.names import is_han
from .overlap import Bond, View, is_thing, loose, sign_of
from .phrases import Item
from .reading import Clause
from .units import is_verb

__all__ = ["JUDGED", "by_measure", "by_now", "by_outcome", "by_worth", "is_other_thing", "is_other_use", "kept_word"]

JUDGED = frozenset(
    ("quality", "useful", "interest", "beautiful", "delight", "truth", "safety", "comfortable", "energy", "trust")
)
"""Scales whose ends tell whether somebody likes a thing: who finds hiking boring does not love it."""


_REMEDY = frozenset(
    ("useful", "success", "quality", "reliability", "speed", "growth", "calm", "safety", "healthy", "sleep")
)


def by_outcome(bond: Bond, belief: Clause, fact: Fact) -> View | None:
    """What was done and how it went: the trial of a remedy that went well speaks for it, whatever is said to be gone."""
    if fact.outcome not in ("ok", "fail") or any(unit.sections & {"not", "never"} for unit in belief.units):
        return None
    things = [(a, b) for a, b in bond.pairs if not a.light]
    if not things or (len(things) < 2 and bond.coverage < 0.3):
        return None
    words = ", ".join(dict.fromkeys(other.word for _, other in things))
    remedy = any(name in _REMEDY and side > 0 for item in bond.belief for name, side in item.axes)
    if fact.outcome == "ok" and (remedy or len(things) > 1):
        return View("for", bond.weight, f"went well: {words}")
    if fact.outcome == "fail" and remedy and not any(item.no < 0 for item in bond.belief):
        return View("against", bond.weight, f"failed: {words}")
    return None


def by_now(bond: Bond, clause: Clause) -> View | None:
    """The same verb with another name, said to be so now: "drives a Skoda now, sold the Volvo" ends "drives a Volvo"."""
    held = [one for one in bond.belief if one.name or is_han(one.word[0])]
    for one, other in bond.pairs:
        here = {at for at, n in enumerate(clause.segments) if n == other.segment}
        now = any("about_now" in clause.units[at].sections for at in here)
        if not (one.verb and now) or one.no * other.no < 0 or bond.wish:
            continue
        new = [i for i in bond.over if i.segment == other.segment and other.at < i.at and not i.light and not i.axes]
        old = [a for a in held if a.at > one.at and not a.axes]
        again = any(b.segment == other.segment and b is not other and not b.light for _, b in bond.pairs)
        if old and new and not again and (new[0].name or is_han(new[0].word[0])):
            return View("against", bond.weight + 1, f"{old[0].word}, but now {new[0].word}")
    return None


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
            if name == "punctual" and not loose([i for i in bond.left if i.at != bond.belief[0].at]):
                found = _appointment(clause)
            if name in ("speed", "early"):
                found = _pace(bond, clause) if name == "speed" else _hour(bond, clause)
            if not found or (name != "punctual" and loose([i for i in bond.left if i is not one and not i.verb])):
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


_CAME = frozenset(("door", "there", "arrived", "came", "turned", "showed", "стоял", "стояла", "пришел", "пришла", "приехал", "приехала", "подъехал", "явился", "явилась", "到", "才到", "就到", "到了", "赶到", "来"))  # fmt: skip


def _appointment(clause: Clause) -> tuple[int, str] | None:
    """+1 for who is there by the hour that is named as the appointed one, -1 for who comes later."""
    clocks = [number for number in clause.quantities if number.dimension == "clock"]
    if len(clocks) != 2:
        return None
    there = [at for at, unit in enumerate(clause.units) if _CAME & set(unit.word.casefold().split())]
    near = [min(abs(clock.at - at) for at in there) for clock in clocks] if there else []
    if not near or near[0] == near[1]:
        return None
    came, due = clocks if near[0] < near[1] else clocks[::-1]
    return (1 if came.low <= due.low + 2 else -1, f"{came.text} for {due.text}")


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
    if not any(_is_eating(one.word) for one in bond.belief) or bond.without:
        return False
    here = [unit for unit, n in zip(bond.units, bond.segments, strict=True) if n == item.segment and n >= 0]
    if any(_is_eating(unit.word) for unit in here):
        return False
    if is_han(item.word[0]):
        return any(unit.word in ("把", "将") for unit in here)
    if not item.word.isascii():
        return any(unit.kind == "w" and not unit.sections and is_verb(unit) for unit in here)
    return any(
        unit.kind == "w"
        and not unit.sections & _FELT
        and (is_verb(unit) or (not unit.sections and after.word.casefold() in ("the", "a", "his", "her")))
        for unit, after in pairwise(here)
    )


def _is_eating(word: str) -> bool:
    return word.casefold() in _EATEN or word[0] in "吃喝饮"


_FELT = frozenset(("like", "dislike", "ask", "refuse", "stop", "not"))
_EATEN = frozenset(
    (
        *("eat", "eats", "ate", "eating", "drink", "drinks", "drank", "drinking", "had", "ordered", "orders"),
        *("tasted", "finished", "devoured", "wolfed", "sipped", "swallowed", "took", "takes", "helped"),
        *("ест", "едят", "ел", "ела", "ели", "съел", "съела", "съели", "пьет", "пьют", "пил", "пила", "пили"),
        *("выпил", "выпила", "выпили", "заказал", "заказала", "взял", "взяла", "попросил", "попросила"),
    )
)
