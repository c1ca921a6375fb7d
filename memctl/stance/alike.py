"""What makes two clauses alike enough to agree by their words alone: what is shared must be the point, not only a name."""

from __future__ import annotations

from ..facts import Fact
from ..language.names import is_han
from .evidence import is_other_thing
from .overlap import WORTH, Bond, View, is_thing, same_thing, sign_of
from .phrases import Item
from .reading import Clause
from .subject import BESIDE
from .units import is_verb

__all__ = ["about_the_same", "acts", "alike"]


def about_the_same(bond: Bond, one: Item, other: Item) -> bool:
    """False when an adjective stands right before a noun that the other text does not have."""
    for item, items, side in ((one, bond.belief, 0), (other, bond.fact, 1)):
        head = next(
            (i for i in items if i.at == item.at + 1 and i.segment == item.segment and not i.light and not i.axes), None
        )
        if side == 0 and one.att and one.att == other.att:
            continue  # both feel the same: who cannot stand the cold hates cold weather
        if head is not None and not item.verb and not any(pair[side] is head for pair in bond.pairs):
            return False
    return True


def acts(bond: Bond, item: Item) -> bool:
    """True when a thing is wanted or something is done with it, not only named."""
    if item.att > 0 or item.verb:
        return True
    here = [(at, unit) for at, unit in enumerate(bond.units) if bond.segments[at] == item.segment]
    named = any(
        unit.key in bond.mine or unit.word.casefold() in bond.mine or "own" in unit.sections for _, unit in here
    )
    return any(is_verb(unit) and (at < item.at or (named and "light" in unit.sections)) for at, unit in here)


def alike(bond: Bond, belief: Clause, clause: Clause, fact: Fact, words: str) -> View | None:
    """For, when enough is shared and nothing stands against it; for a taste, something must have been done."""
    if any(sign < 0 for _, _, sign in bond.scales) or any("receive" in unit.sections for unit in clause.units):
        return None
    segments = {b.segment for _, b in bond.pairs}
    only = {clause.segments[at] for at, unit in enumerate(clause.units) if unit.word.casefold() in _ONLY}
    limited = any(i.segment in only and any(same_thing(b, i, False) for b in bond.belief) for i in bond.fact)
    if limited and "only" not in bond.flags:
        return None
    bad = [
        i
        for i in bond.over
        if i.segment in segments and any(n in WORTH and s * sign_of(i, False) < 0 for n, s in i.axes)
    ]
    if not bond.wish and bad and not any(n in WORTH for item in bond.belief for n, _ in item.axes):
        return None
    if not any(about_the_same(bond, a, b) for a, b in bond.pairs if not a.light) and any(a.axes for a, _ in bond.pairs):
        return None
    if bond.wish and any(s * sign_of(i, False) < 0 for i in bond.over if i.verb for n, s in i.axes if n == "possess"):
        return None
    things = [b for a, b in bond.pairs if is_thing(a) and not b.light]
    if all(len(b.word) == 1 and b.weight == 0.6 and is_han(b.word) for _, b in bond.pairs):
        return None  # one character of words that no list has
    if (not things and _does_else(bond, segments)) or _only_a_place(bond, belief, clause):
        return None
    if bond.wish and things and fact.outcome != "ok" and not any(b.att or b.no < 0 or acts(bond, b) for b in things):
        return None
    helped = fact.outcome == "ok" and any(n in _GOOD and s > 0 for item in bond.left for n, s in item.axes)
    left = [item for item in bond.left if item.axes and not (helped and any(n in _GOOD for n, _ in item.axes))]
    if belief.quantities and bond.coverage < 0.9:  # a number is the point of a line that has one
        return None
    if _only_names(bond) or _other_choice(bond) or _only_named(bond, belief, fact) or _is_called(bond, clause):
        return None
    first = min((item.at for item in bond.belief), default=-1)  # who or what it is about need not be named again
    said = any(one.axes for one, _ in bond.pairs)
    missing = [item for item in bond.left if not item.light and not (said and item.at == first and not item.axes)]
    if missing and not bond.wish and bond.coverage < 0.75 and fact.outcome != "ok":
        return None
    enough = bond.weight >= 1 and bond.coverage >= (
        0.5 if bond.wish or bond.weight >= 2 or fact.outcome == "ok" else 0.6
    )
    if (enough and not left) or (bond.weight >= 2 and bond.coverage >= 0.7):
        return View("for", bond.weight, f"same words: {words}")
    return None


def _only_named(bond: Bond, belief: Clause, fact: Fact) -> bool:
    """True when one thing is all that is shared, neither what is done nor what it is like: "owns a car", "washed a car"."""
    if bond.wish or fact.outcome == "ok" or len(bond.pairs) != 1 or len(belief.units) < 2:
        return False
    one, other = bond.pairs[0]
    if one.axes or one.light or one.verb or other.verb or one.no < 0 or other.no < 0 or other.att or other.segment < 0:
        return False
    if any(number.dimension != "period" for number in belief.quantities):
        return False
    if any(unit.word.casefold() in _ABLE or unit.word[0] in "会懂" for unit in belief.units):
        return False
    where = [{unit.word.casefold() for unit in units[max(0, at - 2) : at]} & BESIDE for units, at in ((belief.units, one.at), (bond.units, other.at))]  # fmt: skip
    if where[0] & where[1]:  # kept in the safe, lies in the safe
        return False
    own = bond.units[other.at - 1 : other.at] + bond.units[other.at - 2 : other.at - 1]
    mine = any("own" in unit.sections for unit in own) and not any("kin" in unit.sections for unit in own)
    return not (mine or is_verb(bond.units[other.at]))


_ABLE = frozenset(("knows", "can", "знает", "умеет", "能", "能处理"))


def _is_called(bond: Bond, clause: Clause) -> bool:
    """True when somebody calls the thing names that no list has: "called his new boss a bully"."""
    names = [at for at, unit in enumerate(clause.units) if unit.word.casefold() in _CALLED]
    pairs = [b for a, b in bond.pairs if not a.light]
    return bond.wish and any(b.at > at and not b.att for at in names for b in pairs)


_CALLED = frozenset(("called", "calls", "назвал", "назвала", "называет", "骂", "称"))


def _only_names(bond: Bond) -> bool:
    """True when the one thing shared only tells whose or what kind another thing is: "has a Philips toothbrush"."""
    pairs = [pair for pair in bond.pairs if not pair[0].light]
    other = pairs[0][1] if pairs else None
    if other and bond.wish and len(pairs) == 1 and not other.att and is_other_thing(bond, other):
        return True
    if not other or bond.wish or len(bond.pairs) > 1 or not any(item.light and item.verb for item in bond.left):
        return False
    if is_other_thing(bond, other):
        return True
    before = next((i for i in bond.over if i.at == other.at - 1 and i.segment == other.segment), None)
    return before is not None and not (before.light or before.axes or before.verb or other.word.isascii())


def _other_choice(bond: Bond) -> bool:
    """True when the fact names another weekday, colour or the like than the belief."""
    return any(
        name == same and value != other
        for one in bond.left
        for name, value in one.choices
        for item in bond.over
        for same, other in item.choices
    )


def _only_a_place(bond: Bond, belief: Clause, clause: Clause) -> bool:
    """True when the one thing shared is where it is, and the subject of what is said: "kept in the safe", "the safe is grey"."""
    pairs = [pair for pair in bond.pairs if not pair[0].light]
    if bond.wish or len(pairs) != 1 or len(bond.pairs) > 1 or not any(item.light for item in bond.left):
        return False
    one, other = pairs[0]
    first = next((at for at, unit in enumerate(clause.units) if unit.word.casefold() not in ("the", "a", "an")), -1)
    before = {unit.word.casefold() for unit in belief.units[max(0, one.at - 2) : one.at]}
    verb = any(item.light and item.at > other.at for item in bond.over)
    return (
        verb and other.at == first and not is_han(other.word[0]) and bool(before & {"in", "on", "at", "в", "во", "на"})
    )


def _does_else(bond: Bond, segments: set[int]) -> bool:
    """True when each says only how something is done, and that is not the same: going to bed early, leaving early."""
    if not all({name for name, _ in a.axes} <= _MANNER for a, _ in bond.pairs):
        return False
    acts = [i for i in bond.over if i.segment in segments and i.light and i.verb]
    return bool(acts) and any(i.light and i.verb for i in bond.left) and not any(a.light for a, _ in bond.pairs)


_MANNER = frozenset(("early", "punctual", "speed", "latency"))
_ONLY = frozenset(
    ("only", "exclusively", "solely", "только", "лишь", "исключительно", "只", "仅", "只有", "只会", "只肯")
)
_GOOD = frozenset(("useful", "success", "quality", "speed", "reliability"))
