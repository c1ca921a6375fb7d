"""The rules of stance: from what two clauses share to a verdict with its reason. The first rule that knows decides.

A rule stays only if it wins on pairs that nobody wrote it for: `bench/stance.py --ablate` switches each off and counts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ..language.names import is_han
from .overlap import Overlap, is_thing, loose, overlap, same_thing, sign_of
from .phrases import Clause, PolarityItem, is_verb
from .quantities import agree


class RuleVerdict(NamedTuple):
    """What a clause says of another one; `weight` is how much they share, `place` which clause of the fact it is."""

    verdict: str
    weight: float
    reason: str
    hedged: bool = False
    reversal: bool = False
    place: int = 0


class Compared(NamedTuple):
    """A clause of a belief and one of a fact; `ok` says that a trial went well."""

    belief: Clause
    clause: Clause
    shared: Overlap
    ok: bool

    def here(self, item: PolarityItem) -> list[int]:
        """The places of the phrases in the segment of an item of the fact."""
        return [at for at, segment in enumerate(self.clause.segments) if segment == item.segment]


def judge(belief: Clause, clause: Clause, mine: frozenset[str], ok: bool = False) -> RuleVerdict:
    """How a clause of a fact speaks of a clause of a belief; `mine` are the keys of the names it is about."""
    shared = overlap(belief, clause, mine)
    compared = Compared(belief, clause, shared, ok)
    for rule in RULES:
        if found := rule(compared):
            return found._replace(reversal="reversal" in clause.flags)
    words = _words(one for one, _ in shared.pairs)
    return RuleVerdict("neither", shared.weight, f"in common only: {words}" if words else "nothing in common")


def _words(items: object) -> str:
    return ", ".join(dict.fromkeys(item.word for item in items))  # type: ignore[attr-defined]


# -- values -----------------------------------------------------------------------------------------------------------


def by_slot(compared: Compared) -> RuleVerdict | None:
    """Another value of a relation that has one at a time ("lives in")."""
    shared = compared.shared
    for name, at in compared.belief.slots:
        for same, place in compared.clause.slots:
            old = _value_after(shared.belief, at, name == "place")
            new = _value_after(shared.fact, place, name == "place")
            if name != same or not _are_affirmed_values(old, new, False):
                continue
            if any(same_thing(a, b, True) for a in old for b in shared.fact):
                continue
            if not any(same_thing(a, b, True) for a in new for b in shared.belief):
                return RuleVerdict("against", shared.weight + 1, f"{old[0].word} against {new[0].word}")
    return None


def _are_affirmed_values(old: list[PolarityItem], new: list[PolarityItem], wish: bool) -> bool:
    """True for values that nobody denies, in one script: nobody knows whether Рига is Riga."""
    affirmed = bool(old and new) and all(sign_of(item, wish) > 0 for item in (*old, *new))
    return affirmed and _script(old[0].word) == _script(new[0].word)


def _value_after(items: list[PolarityItem], at: int, any_noun: bool) -> list[PolarityItem]:
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


def _script(word: str) -> str:
    first = next((char for char in word if char.isalpha()), "a")
    return "han" if is_han(first) else "latin" if first < "\u0370" else "other"


def by_number(compared: Compared) -> RuleVerdict | None:
    """Equal or different numbers, times or dates of the same thing."""
    shared = compared.shared
    pairs = [
        (one, other, agree(one, other)) for one in compared.belief.quantities for other in compared.clause.quantities
    ]
    equal = [(one, other) for one, other, same in pairs if same]
    found = equal or [(one, other) for one, other, same in pairs if same is False and not other.denied]
    if not found or (found[0][0].dimension != "age" and not _is_of_one_thing(shared)):
        return None
    one, other = found[0]
    if other.denied:
        return RuleVerdict("against", shared.weight + 1, f"denied: {other.text}")
    if not equal:
        return RuleVerdict("against", shared.weight + 1, f"{one.text} against {other.text}")
    opposed = shared.apart or any(scaled.sign < 0 for scaled in shared.scales)
    if opposed or _denies(compared.belief) != _denies(compared.clause):
        return None
    return RuleVerdict("for", shared.weight + 1, f"{other.text} as {one.text}")


def _denies(clause: Clause) -> bool:
    return any(phrase.sections & {"not", "no", "dislike", "stop"} for phrase in clause.phrases)


def _is_of_one_thing(shared: Overlap) -> bool:
    """True where numbers belong to what both clauses speak of."""
    alone = sum(item.weight for item in shared.belief) < 1
    return alone or (shared.weight >= 1 and shared.coverage >= 0.5)


_MANY = frozenset(("weekday", "month", "colour", "drink", "season", "level"))


def by_choice(compared: Compared) -> RuleVerdict | None:
    """Another of several of which only one holds: morning and evening for the same meeting."""
    shared = compared.shared
    changed = "change" in compared.clause.flags
    tied = (shared.coverage >= 0.5 and shared.nouns >= 1) or (changed and bool(shared.pairs) and len(shared.left) <= 2)
    for one in shared.left if tied else ():
        names = {name for name, _ in one.choices if changed or name not in _MANY}
        other = _other_choice(shared, names)
        if other and sign_of(one, shared.wish) > 0 and sign_of(other, shared.wish) > 0:
            return RuleVerdict("against", shared.weight + 0.5, f'"{one.word}" against "{other.word}"')
    return None


def _other_choice(shared: Overlap, names: set[str]) -> PolarityItem | None:
    """What the fact names of a set of which only one holds; None where the belief names it as well."""
    own = {value for item in shared.belief for _, value in item.choices}
    others = [other for other in shared.fact for name, _ in other.choices if name in names]
    return others[0] if others and not any(value in own for o in others for _, value in o.choices) else None


# -- scales -----------------------------------------------------------------------------------------------------------


def by_scale(compared: Compared) -> RuleVerdict | None:
    """The same or opposite ends of a scale, said of the same thing."""
    shared = compared.shared
    fit = [scaled for scaled in shared.scales if _is_about_the_same(shared, scaled.one, scaled.other)]
    apart = [scaled for scaled in shared.scales if scaled.sign < 0]
    if not fit or len(apart) > 1 or (shared.nouns < 1 and loose(shared.left)):
        return None
    one, other, sign = next((scaled for scaled in fit if scaled.sign < 0), fit[0])
    if sign < 0:
        return RuleVerdict("against", shared.weight + 1, f'"{one.word}" against "{other.word}"')
    return RuleVerdict("for", shared.weight, f'"{other.word}" as "{one.word}"')


def _is_about_the_same(shared: Overlap, one: PolarityItem, other: PolarityItem) -> bool:
    """False when an adjective stands right before a noun that the other text does not have."""
    for item, items, side in ((one, shared.belief, 0), (other, shared.fact, 1)):
        head = next((i for i in items if i.at == item.at + 1 and i.segment == item.segment), None)
        if head and not (head.light or head.axes or item.verb or any(pair[side] is head for pair in shared.pairs)):
            return False
    return True


# -- the same things, affirmed or denied ------------------------------------------------------------------------------


_REMEDY = frozenset(
    ["useful", "success", "quality", "reliability", "speed", "growth", "calm", "safety", "healthy", "sleep"]
)


def by_trial(compared: Compared) -> RuleVerdict | None:
    """A remedy that was tried and went well speaks for it, whatever is said to be gone."""
    shared = compared.shared
    things = [other for one, other in shared.pairs if not one.light]
    denied = any(phrase.sections & {"not", "never"} for phrase in compared.belief.phrases)
    if not compared.ok or denied or not things or (len(things) < 2 and shared.coverage < 0.3):
        return None
    remedy = any(name in _REMEDY and side > 0 for item in shared.belief for name, side in item.axes)
    return RuleVerdict("for", shared.weight, f"went well: {_words(things)}") if remedy or len(things) > 1 else None


def by_denial(compared: Compared) -> RuleVerdict | None:
    """What one affirms and the other denies: all that is denied must be what the other speaks of."""
    shared = compared.shared
    if not shared.apart or (shared.nouns < 1 and loose(shared.left)):
        return None
    denies = sign_of(shared.apart[0][1], shared.wish) < 0
    if _is_beside_the_point(compared) if denies else not _is_taken(compared):
        return None
    least = 0.4 if denies and "reversal" in compared.clause.flags else 0.5
    if _denied_share(compared, denies) < 0.7 or shared.coverage < least or shared.weight < 1:
        return None
    return RuleVerdict("against", shared.weight, f"denied: {_shared_words(shared)}")


def _denied_share(compared: Compared, denies: bool) -> float:
    """The share of what the denying text denies that the other one speaks of; `denies` says that it is the fact."""
    shared = compared.shared
    said, others = (shared.fact, shared.belief) if denies else (shared.belief, shared.fact)
    segments = {pair[1 if denies else 0].segment for pair in shared.apart}
    denied = [item for item in said if item.segment in segments and sign_of(item, shared.wish) < 0]
    met = [item for item in denied if any(same_thing(item, o, True) or same_thing(o, item, True) for o in others)]
    total = sum(item.weight for item in denied) + (_limits(compared, segments) if denies else 0)
    return sum(item.weight for item in met) / total if total else 0


_JUDGED = frozenset(
    ["quality", "useful", "interest", "beautiful", "delight", "truth", "safety", "comfortable", "energy", "trust"]
)


def _is_beside_the_point(compared: Compared) -> bool:
    """True where a belief judges a thing, and the fact denies the thing, not the judgement."""
    shared = compared.shared
    judged = any(name in _JUDGED for item in shared.left for name, _ in item.axes)
    return judged and not shared.wish and "reversal" not in compared.clause.flags


def _is_taken(compared: Compared) -> bool:
    """True where the fact does what the belief denies, and does not only name it: "does not eat beef", "ordered beef"."""
    return any(_is_done(compared, other) for _, other in compared.shared.apart)


def _is_done(compared: Compared, item: PolarityItem) -> bool:
    """True when a thing is wanted or taken: of a verb that does not say what became of it, nobody knows."""
    if item.att > 0 or item.verb:
        return True
    before = (at for at in compared.here(item) if at < item.at or not item.word.isascii())
    return any("light" in compared.clause.phrases[at].sections for at in before)


def _is_acted_on(compared: Compared, item: PolarityItem) -> bool:
    """True when something is done with a thing, whatever it is."""
    before = (at for at in compared.here(item) if at < item.at)
    return _is_done(compared, item) or any(is_verb(compared.clause.phrases[at]) for at in before)


def _limits(compared: Compared, segments: set[int]) -> float:
    """The weight of what a denial is limited to: "no coffee after noon" leaves the morning's coffee alone."""
    clause = compared.clause
    marks = [(clause.segments[at], is_han(p.word[0])) for at, p in enumerate(clause.phrases) if "when" in p.sections]
    limited = {at + 1 for at, han in marks if not han and at in segments}
    limited |= {at for at, han in marks if han and at + 1 in segments}
    times = [q for q in clause.quantities if q.dimension == "clock" and clause.segments[q.at] in segments | limited]
    added = [i for i in compared.shared.fact if i.segment in limited]
    beside = [i for i in added if not any(same_thing(b, i, True) for b in compared.shared.belief)]
    return sum(max(1.0, item.weight) for item in beside) + len(times)


def by_words(compared: Compared) -> RuleVerdict | None:
    """The same things said again: enough of them, and the point of the belief among them."""
    shared = compared.shared
    if not shared.pairs or shared.apart or any(scaled.sign < 0 for scaled in shared.scales):
        return None
    if _is_only_named(compared) or _names_another_choice(shared) or not _is_the_point(compared):
        return None
    least = 0.5 if shared.wish or shared.weight >= 2 or compared.ok else 0.6
    enough = shared.weight >= 1 and shared.coverage >= least and not any(item.axes for item in shared.left)
    if not enough and not (shared.weight >= 2 and shared.coverage >= 0.7):
        return None
    return RuleVerdict("for", shared.weight, f"same words: {_shared_words(shared)}")


def _is_the_point(compared: Compared) -> bool:
    """True when what is shared is what the belief says: its number, its adjective, for a taste something done."""
    shared = compared.shared
    if compared.belief.quantities and shared.coverage < 0.9:
        return False
    described = [(one, other) for one, other in shared.pairs if one.axes]
    if described and not any(_is_about_the_same(shared, one, other) for one, other in shared.pairs):
        return False
    if compared.ok:
        return True
    if not shared.wish:
        return shared.coverage >= 0.75 or all(item.light for item in shared.left)
    things = [other for one, other in shared.pairs if is_thing(one) and not other.light]
    return not things or any(item.att or item.no < 0 or _is_acted_on(compared, item) for item in things)


def _shared_words(shared: Overlap) -> str:
    return _words(other for _, other in shared.pairs if not other.light) or shared.pairs[0][1].word


def _is_only_named(compared: Compared) -> bool:
    """True when one thing is all that is shared, neither what is done nor what it is like: "owns a car", "washed a car"."""
    shared = compared.shared
    if shared.wish or compared.ok or len(shared.pairs) != 1 or len(compared.belief.phrases) < 2:
        return False
    one, other = shared.pairs[0]
    spoken = one.axes or one.light or one.verb or other.verb or one.no < 0 or other.no < 0 or other.att
    return not spoken and not compared.belief.quantities


def _names_another_choice(shared: Overlap) -> bool:
    """True when the fact has another name, weekday, colour or the like than the belief."""
    mine = {choice for item in shared.left for choice in item.choices}
    its = {choice for item in shared.over for choice in item.choices}
    renamed = any(item.name for item in shared.left) and any(item.name for item in shared.over)
    return renamed or any(name == same and value != other for name, value in mine for same, other in its)


RULES: tuple[Callable[[Compared], RuleVerdict | None], ...] = (
    by_number,
    by_slot,
    by_choice,
    by_trial,
    by_scale,
    by_denial,
    by_words,
)
