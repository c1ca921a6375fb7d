"""The rules of stance: from what two clauses share to a verdict with its reason."""

from __future__ import annotations

from ..facts import Fact
from ..language.names import is_han
from .alike import about_the_same, acts, alike
from .evidence import JUDGED, by_measure, by_now, by_outcome, by_worth, is_other_thing, is_other_use
from .lexicon import stem_word
from .overlap import Bond, View, is_thing, loose, same_thing, sign_of
from .phrases import TIMES, Item
from .quantities import Quantity, agree
from .reading import Clause
from .subject import is_strange
from .units import is_verb

__all__ = ["View", "judge"]


def judge(belief: Clause, clause: Clause, mine: frozenset[str], fact: Fact, key: str = "") -> View:
    """How a clause of `fact` speaks of a clause of a belief; `key` is the slot that both stand in, if they do."""
    bond = Bond(belief, clause, mine, key)
    reversal = "reversal" in clause.flags
    for rule in (
        _by_key,
        _by_now,
        _by_attitude,
        _by_number,
        _by_slot,
        _by_choice,
        _by_trial,
        _by_scale,
        _by_worth,
        _by_sign,
    ):
        view = rule(bond, belief, clause, fact)
        if view:
            return view._replace(reversal=reversal)
    view = by_measure(bond, belief, clause)
    if view:
        return view
    words = ", ".join(dict.fromkeys(one.word for one, _ in bond.pairs)) or "nothing in common"
    return View("neither", bond.weight, f"in common only: {words}" if bond.pairs else words)


def _by_key(bond: Bond, belief: Clause, clause: Clause, fact: Fact) -> View | None:
    """In one slot, the same value or another one; a slot has one value at a time."""
    if not bond.key or _numbers(belief, clause):
        return None
    old, new = (_values(items) for items in (bond.belief, bond.fact))
    shared = [pair for pair in bond.pairs if pair[0] in old]
    if shared and not bond.apart and not any(s < 0 for _, _, s in bond.scales):
        return View("for", bond.weight + 1, f"{bond.key}: {shared[0][1].word}")
    if shared or not old or not new or not _comparable(old[0], new[0]):
        return None
    if all(sign_of(item, bond.wish) > 0 for item in (*old, *new)):
        return View("against", bond.weight + 1, f"{bond.key}: {old[0].word} against {new[0].word}")
    return None


def _values(items: list[Item]) -> list[Item]:
    """What a line in a slot names: its names, else its things."""
    things = [item for item in items if not (item.light or item.axes)]
    return [item for item in things if item.name] or things


def _comparable(one: Item, other: Item) -> bool:
    """False for names in two scripts: nobody knows whether Рига is Riga."""
    return _script(one.word) == _script(other.word)


def _script(word: str) -> str:
    first = next((char for char in word if char.isalpha()), "a")
    return "han" if is_han(first) else "latin" if first < "\u0370" else "other"


def _by_now(bond: Bond, belief: Clause, clause: Clause, fact: Fact) -> View | None:
    """What somebody does now with another thing."""
    return by_now(bond, clause)


def _numbers(belief: Clause, clause: Clause) -> list[tuple[Quantity, Quantity, bool]]:
    """The numbers of two clauses that measure the same, and whether both can be right."""
    return [
        (one, other, equal != other.denied)
        for one in belief.quantities
        for other in clause.quantities
        if (equal := agree(one, other)) is not None and (equal or not other.denied)
    ]


def _by_attitude(bond: Bond, belief: Clause, clause: Clause, fact: Fact) -> View | None:
    """The very same attitude ("allergic", «доволен») beside the same thing, denied by neither."""
    felt = {unit.key for unit in belief.units if unit.sections & {"like", "dislike"}}
    again = [unit for unit in clause.units if unit.key in felt]
    denied = any(b.att > 0 or b.no < 0 for _, b in bond.apart) or any(
        unit.sections & {"not", "stop", "untrue", "no", "never"} for c in (belief, clause) for unit in c.units
    )
    if (
        again
        and bond.nouns >= 1
        and not denied
        and bond.coverage >= 0.5
        and not any(sign < 0 for _, _, sign in bond.scales)
    ):
        return View("for", bond.weight + 0.5, f"same words: {again[0].word}, {bond.pairs[0][1].word}")
    return None


def _by_number(bond: Bond, belief: Clause, clause: Clause, fact: Fact) -> View | None:
    """Equal or different numbers, times or dates of the same thing."""
    found = _numbers(belief, clause)
    if not found:
        return None
    found = [pair for pair in found if pair[0].dimension != "period"] or found  # "40 euros a month" is about the euros
    about = {b.segment for _, b in bond.pairs}
    found = [pair for pair in found if clause.segments[pair[1].at] in about] or found
    equal = [pair for pair in found if pair[2] and not pair[1].denied]
    one, other, _ = (equal or found)[0]
    tied = one.dimension == "age" or bond.key or sum(item.weight for item in bond.belief) < 1
    acts = any(i.verb for i in bond.left) and any(i.verb for i in bond.over) and "change" not in clause.flags
    named = any(i.name for i in bond.left) and any(i.name for i in bond.over)
    if not equal and any(is_other_thing(bond, b) for _, b in bond.pairs):
        return None
    if not tied and (bond.weight < 1 or bond.coverage < 0.5 or ((acts or named) and not equal)):
        return None
    if equal and (bond.apart or any(sign < 0 for _, _, sign in bond.scales)):
        return None
    if equal and _countered(bond, belief):
        return View("against", bond.weight + 1, f"denied: {other.text}") if bond.coverage >= 0.5 else None
    if equal and _denies(belief) != _denies(clause):
        return None if bond.pairs else View("against", bond.weight + 1, f"denied: {other.text}")
    if equal and one.dimension == "period":
        return None  # as often: the rest decides
    if equal:
        return View("for", bond.weight + 1, f"{other.text} as {one.text}")
    said = f"denied: {other.text}" if other.denied else f"{one.text} against {other.text}"
    return View("against", bond.weight + 1, said)


def _countered(bond: Bond, belief: Clause) -> bool:
    """True when the fact has the other end of a scale that a word of the belief stands on, its attitude too."""
    ways = {(role.name, role.side) for unit in belief.units for role in unit.roles if role.section == "scales"}
    return any((name, -side * item.no) in ways for item in bond.over for name, side in item.axes)


def _denies(clause: Clause) -> bool:
    """True when a clause with nothing but a number turns it down."""
    return any(unit.sections & {"not", "no", "dislike", "stop"} for unit in clause.units)


def _by_slot(bond: Bond, belief: Clause, clause: Clause, fact: Fact) -> View | None:
    """Another value of a relation that has one at a time."""
    for name, at in belief.slots:
        for same, place in clause.slots:
            if name != same:
                continue
            old, new = (_value(items, n, name == "place") for items, n in ((bond.belief, at), (bond.fact, place)))
            known = any(same_thing(a, b, True) for a in old for b in bond.fact) or any(
                same_thing(a, b, True) for a in new for b in bond.belief
            )
            if not old or not new or known or not _comparable(old[0], new[0]):
                continue
            if all(sign_of(item, False) > 0 for item in (*old, *new)):
                return View("against", bond.weight + 1, f"{old[0].word} against {new[0].word}")
    return None


def _value(items: list[Item], at: int, any_noun: bool) -> list[Item]:
    """What stands right after a relation: names, and for places any noun."""
    found = [item for item in items if at < item.at <= at + 4 and not item.light]
    return [
        item
        for item in found
        if item.segment == found[0].segment
        and (item.name or any_noun or is_han(item.word[0]))
        and not item.axes
        and not any(name in ("weekday", "daypart") for name, _ in item.choices)
    ]


def _by_choice(bond: Bond, belief: Clause, clause: Clause, fact: Fact) -> View | None:
    """Another of several of which only one holds: morning and evening for the same meeting."""
    for one in bond.left:
        for name, value in one.choices:
            if not _one_at_a_time(name, bond, clause, fact):
                continue
            named = [(o, v) for o in bond.fact for same, v in o.choices if same == name]
            if not named or any(v == value for _, v in named) or sign_of(one, bond.wish) < 0:
                continue
            others = [o for o, _ in named if sign_of(o, bond.wish) > 0 and not any(o.ids & b.ids for b in bond.belief)]
            if others:
                return View("against", bond.weight + 0.5, f'"{one.word}" against "{others[0].word}"')
    return None


def _one_at_a_time(name: str, bond: Bond, clause: Clause, fact: Fact) -> bool:
    """True when a choice excludes another: said of the same thing, or said to be so now; never for a single day."""
    if name == "maindb":
        return bool(bond.pairs)
    changed = "change" in clause.flags
    if name == "weekday" and _is_schedule(bond):
        return True
    if not changed and (name in _MANY or any(unit.key in _ONCE for unit in clause.units)):
        return False
    return (bond.coverage >= 0.5 and bond.nouns >= 1) or (changed and bool(bond.pairs) and len(bond.left) <= 2)


def _is_schedule(bond: Bond) -> bool:
    """True when a thing has a day, and nothing else but the day is different."""
    first = min(bond.belief, key=lambda item: item.at)
    days = [item for item in bond.left if item.choices]
    rest = [item for item in bond.over if not item.choices and item.segment in {b.segment for _, b in bond.pairs}]
    return (
        not (first.light or first.verb)
        and len(days) == len([item for item in bond.left if not item.light]) == 1
        and not any(item.weight >= 1 for item in rest)
    )


_MANY = frozenset(("weekday", "month", "colour", "drink", "season", "level"))
_ONCE = frozenset(stem_word(word) for word in ("today", "yesterday", "once", "сегодня", "вчера", "однажды")) | {
    "今天", "昨天", "这次", "昨晚", "今早", "今晚", "有一次",
}  # fmt: skip


def _by_scale(bond: Bond, belief: Clause, clause: Clause, fact: Fact) -> View | None:
    """The same or opposite ends of a scale, said of the same thing."""
    fit = [pair for pair in bond.scales if about_the_same(bond, pair[0], pair[1])]
    if not fit:
        return None
    apart = [pair for pair in bond.scales if pair[2] < 0]
    if len(apart) > 1:
        return View("neither", bond.weight, f'another thing: "{apart[0][1].word}", not "{apart[0][0].word}"')
    one, other, sign = next((pair for pair in fit if pair[2] < 0), fit[0])
    if bond.nouns < 1 and (loose(bond.left) or is_strange(bond, belief, clause, other, sign < 0)):
        return None
    crossed = not {name for name, _ in one.axes} & {name for name, _ in other.axes}
    if (sign < 0 and crossed and fact.outcome == "ok") or bond.reach(one) < (0.6 if crossed else 0.45):
        return None
    taken = any(name in _TAKEN for name, _ in other.axes) and is_thing(other) and sign_of(other, bond.wish) > 0
    if sign < 0 and taken and not _embraces(bond, other) and not acts(bond, other):
        return None
    if sign < 0:
        return View("against", bond.weight + 1, f'"{one.word}" against "{other.word}"')
    if any(b.segment != other.segment for _, b in bond.apart):
        return None
    return View("for", bond.weight, f'"{other.word}" as "{one.word}"')


_TAKEN = frozenset(("meat", "alcohol", "drinking", "smoking", "smoke", "spice", "gluten", "milk"))
"""Scales with things on them that say something of who takes them, and nothing where they are only named."""


def _by_trial(bond: Bond, belief: Clause, clause: Clause, fact: Fact) -> View | None:
    """How a trial went."""
    return by_outcome(bond, belief, fact)


def _by_worth(bond: Bond, belief: Clause, clause: Clause, fact: Fact) -> View | None:
    """What a liked or disliked thing is called."""
    return by_worth(bond, belief, clause)


def _by_sign(bond: Bond, belief: Clause, clause: Clause, fact: Fact) -> View | None:
    """The same things, affirmed by both or denied by one."""
    if not bond.pairs:
        return None
    words = ", ".join(dict.fromkeys(other.word for _, other in bond.pairs if not other.light)) or bond.pairs[0][1].word
    if not bond.apart:
        return alike(bond, belief, clause, fact, words)
    if bond.nouns < 1 and loose(bond.left):
        return None
    apart = bond.apart
    if any(sign > 0 and other.att and other.segment != apart[0][1].segment for _, other, sign in bond.scales):
        return None
    denies = sign_of(apart[0][1], bond.wish) < 0
    if bond.nouns < 1 and is_strange(bond, belief, clause, apart[0][1], True):
        return None
    texts = bond.fact if denies else bond.belief
    segments = {pair[1 if denies else 0].segment for pair in apart}
    no = [item for item in texts if item.segment in segments and sign_of(item, bond.wish) < 0 and not item.excess]
    others = bond.belief if denies else bond.fact
    total = sum(_part(item) for item in no) + (_limits(bond, clause, segments) if denies else 0)
    met = [
        item
        for item in no
        if any(same_thing(item, o, True) or same_thing(o, item, True) for o in others)
        or (denies and item.segment >= 0 and bond.units[item.at].key in bond.keys)  # "supports", "is not supported"
    ]
    share = sum(map(_part, met)) / total if total else 0
    if not denies and all(is_other_thing(bond, other) or is_other_use(bond, other) for _, other in apart):
        return None
    done = any(_embraces(bond, other) or (not bond.wish and acts(bond, other)) for _, other in apart)
    if not denies and not done and (bond.wish or any(item.light and not item.axes for item in bond.belief)):
        return None
    if not denies and all(_is_subject(bond, other) for _, other in apart):
        return None
    ended = denies and "reversal" in clause.flags
    judged = any(name in JUDGED for item in bond.left for name, _ in item.axes)
    if denies and judged and not bond.wish and not ended:  # the point of the belief is not what is denied
        return None
    if not denies and any(a.fewer and not b.att for a, b in apart):
        return None
    if share >= 0.7 and bond.coverage >= (0.4 if ended else 0.5) and bond.weight >= 1:
        return View("against", bond.weight, f"denied: {words}")
    return None


def _limits(bond: Bond, clause: Clause, segments: set[int]) -> float:
    """The weight of what a denial is limited to: "no coffee after noon" leaves the morning's coffee alone."""
    if "reversal" in clause.flags or not any(i.no < 0 and i.segment in segments for i in bond.fact):
        return 0
    marks = [
        (clause.segments[at], is_han(unit.word[0])) for at, unit in enumerate(clause.units) if "when" in unit.sections
    ]
    limited = {at + 1 for at, han in marks if not han and at in segments} | {
        at for at, han in marks if han and at + 1 in segments
    }
    clocks = [q for q in clause.quantities if q.dimension == "clock" and clause.segments[q.at] in segments | limited]
    added = [i for i in bond.fact if i.segment in limited and not any(same_thing(b, i, True) for b in bond.belief)]
    return sum(max(1.0, _part(item)) for item in added) + len(clocks)


def _part(item: Item) -> float:
    """The weight of an item in a denial; a time counts in full, for it limits what is denied."""
    return 1.0 if item.ids & TIMES else item.weight


def _embraces(bond: Bond, item: Item) -> bool:
    """True when a thing is wanted or taken: by a verb that does not say what became of it, nobody knows."""
    if item.att > 0 or item.verb:
        return True
    here = [(at, unit) for at, unit in enumerate(bond.units) if bond.segments[at] == item.segment]
    return any(
        ("light" in unit.sections or unit.word.casefold() in ("had", "has"))
        and (at < item.at or not unit.word.isascii())
        for at, unit in here
    )


def _is_subject(bond: Bond, item: Item) -> bool:
    """True for a thing that does something itself: "Windows got an update" says nothing of who uses it."""
    if bond.wish or item.segment < 0 or not item.word.isascii() or item.at > 1 or not item.word[0].isupper():
        return False
    after = bond.units[item.at + 1 : item.at + 2]
    return any(is_verb(unit) or "receive" in unit.sections for unit in after)
