"""Does a fact speak for a belief, against it, or neither? Rules and word lists, no model; every verdict has its reason.

Both texts become clauses of signed items (stance_reading, stance_items). Two clauses that share a topic agree or
disagree by the product of the signs of what they share (stance_rules): a scale (short and long), a thing under negation or
attitude, a number, a choice of which only one holds. A false contradiction costs more than a missed one, so "against"
asks for a bond on both sides: all that the denying text denies must be what the other affirms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from ..facts import Fact, Period
from ..language.names import entity_key, is_han
from .evidence import kept_word
from .lexicon import Lexicon, shipped, tokens
from .reading import Clause, analyse
from .rules import View, judge
from .subject import Names, own_part, without
from .units import OPERATORS, Unit, is_verb

__all__ = ["Stance", "stance"]


class Stance(NamedTuple):
    """What a fact says about a belief.

    `verdict` is "for", "against" or "neither"; `strength` 1.0 plain, 0.5 hedged, 0.0 neither; `reason` a short phrase
    with the words found; `sure` False where the rules cannot tell and a model may; `reversal` True for an explicit end of this very
    claim ("no longer", «передумал», 不再).
    """

    verdict: str
    strength: float
    reason: str
    sure: bool = True
    reversal: bool = False


PART = {"wonder": "a question", "plan": "a plan", "mention": "only mentions the subject"}
ASIDE = {
    "question": "a question",
    "if": "hypothetical",
    "past": "another time",
    "year": "another time",
    "hearsay": "somebody else's words",
    "quoted": "somebody else's words",
    "compare_other": "a comparison with somebody else",
}


def stance(
    belief: Fact,
    fact: Fact,
    *,
    canonical: Callable[[str], str] = entity_key,
    valid: tuple[Period | None, Period | None] = (None, None),
    lexicon: Lexicon | None = None,
) -> Stance:
    """Whether `fact` speaks for or against `belief`.

    `canonical` maps a name to the key of its bearer; `valid` says when each is true, where the caller knows;
    `lexicon` replaces the shipped word lists. Never raises; the same arguments give the same answer.
    """
    words = lexicon or shipped()
    own = {canonical(name) for name in belief.entities}
    theirs = {canonical(name) for name in fact.entities}
    if own and theirs and not own & theirs:
        return _neither(f"about {fact.entities[0]}, not {belief.entities[0]}")
    if valid[0] and valid[1] and not valid[0].meets(valid[1]):
        return _neither("another time")
    han = tuple(sorted({name for name in (*belief.entities, *fact.entities) if name and all(map(is_han, name))}))
    held, said = analyse(belief.text, words, han), analyse(fact.text, words, han)
    mine = frozenset(key for name in belief.entities for key in _keys(name))
    mine |= {
        unit.key for clause in (*held, *said) for unit in clause.units if _named(unit) and canonical(unit.word) in own
    }
    strange = frozenset(key for name in fact.entities if canonical(name) not in own for key in _keys(name)) - mine
    if _same_words(belief.text, fact.text) and not any(c.flags & {"wonder", "question", "if"} for c in said):
        return Stance("for", 1.0, "the same words")
    if valid == (None, None) and fact.valid and not belief.valid and _long_past(fact.valid):
        return _neither("another time")
    known = frozenset(unit.key for clause in held for unit in clause.units)
    told = frozenset(unit.key for clause in said for unit in clause.units)
    held = _points(held, Names(mine, frozenset(), told))
    key = fact.key if fact.key and belief.key and entity_key(fact.key) == entity_key(belief.key) else ""
    return _weigh(list(_views(held, said, Names(mine, strange, known), fact, key)))


def _neither(reason: str, sure: bool = True) -> Stance:
    return Stance("neither", 0.0, reason, sure)


def _keys(name: str) -> Iterator[str]:
    for token in tokens(name):
        yield token.stem
        yield token.word
        if token.kind == "h":
            yield from (token.raw[n : n + 2] for n in range(len(token.raw) - 1))


def _named(unit: Unit) -> bool:
    """True for what may be a name or an alias in running text."""
    return unit.capital or unit.kind in "ir" or "people" in unit.sections


def _same_words(one: str, other: str) -> bool:
    if max(len(one), len(other)) > 2000:
        return one.strip() == other.strip()
    first, second = ([t.word for t in tokens(text) if t.kind != "p"] for text in (one, other))
    return first == second and bool(first)


def _long_past(period: Period) -> bool:
    """True for a closed period of a month or more: without a clock, the best sign that a fact is about a time gone by."""
    return bool(period.first and period.last) and (period.last - period.first).days >= 27  # type: ignore[operator]


def _weigh(views: list[View]) -> Stance:
    """The view with the strongest bond; of two that disagree, what is said last in the fact."""
    spoken = [view for view in views if view.verdict in ("for", "against")]
    if not spoken:
        best = max(views, key=lambda view: view.bond, default=View("neither", 0, "nothing in common"))
        return _neither(best.reason, sure=best.verdict == "aside" or best.bond < 1)
    best = max(spoken, key=lambda view: (view.bond, view.place, view.verdict == "against"))
    rivals = [view for view in spoken if view.verdict != best.verdict and view.bond >= best.bond - 0.3]
    if rivals and all(view.place == best.place for view in rivals):
        return _neither(f"{best.reason}, but {rivals[0].reason}", sure=False)
    best = max([best, *rivals], key=lambda view: view.place)
    against = best.verdict == "against"
    return Stance(best.verdict, 0.5 if best.hedged else 1.0, best.reason, True, best.reversal and against)


def _views(held: tuple[Clause, ...], said: tuple[Clause, ...], names: Names, fact: Fact, key: str) -> Iterator[View]:
    """What each clause of a fact says about each clause of a belief."""
    hearsay, sentence = "", -1
    for place, whole in enumerate(said):
        hearsay = hearsay if whole.sentence == sentence else ""
        sentence = whole.sentence
        clause, other, hearsay = own_part(whole, names, hearsay)
        for belief in held:
            part, meant = _meant(belief, clause)
            wished = meant == PART["plan"] and any(item.att for item in belief.items)  # who plans it, wants it
            aside = _aside(belief, whole._replace(flags=whole.flags - {"past"}) if _turned_past(whole) else whole)
            reason = aside or (other if not clause.items and whole.items else meant if not part.items else "")
            view = judge(belief, clause if wished else part, names.mine, fact, key)
            if (reason or wished) and (aside or not (wished and view.verdict == "for")):
                view = (
                    view._replace(verdict="aside", reason=reason or meant)
                    if reason or view.verdict == "against"
                    else view
                )
            elif "although" in whole.flags and len(said) > 1 and (view.verdict == "for" or _is_neutral(whole)):
                rest = judge(belief, without(part, {whole.segments[0]}), names.mine, fact, key)
                same = rest.verdict == view.verdict
                view = rest if same else view._replace(verdict="aside", reason="only conceded")
            yield view._replace(hedged=wished or "hedge" in whole.flags, place=place)


def _is_neutral(clause: Clause) -> bool:
    """True for a concession that neither denies nor likes anything: "although the plane was cheaper"."""
    first = [unit for unit, n in zip(clause.units, clause.segments, strict=True) if n == clause.segments[0]]
    return not any(unit.sections & OPERATORS for unit in first)


def _points(held: tuple[Clause, ...], names: Names) -> tuple[Clause, ...]:
    """The clauses of a belief that make its point: not an afterthought, and not about somebody the fact does not name."""
    own = [own_part(clause, names, "")[0] for clause in held]
    weights = [sum(item.weight for item in clause.items) for clause in own]
    return tuple(clause for clause, weight in zip(own, weights, strict=True) if weight >= 0.4 * sum(weights))


def _aside(belief: Clause, clause: Clause) -> str:
    """Why a clause does not count, if it does not; what the belief shares (a plan, a past) does not part them."""
    return next((reason for flag, reason in ASIDE.items() if flag in clause.flags and flag not in belief.flags), "")


def _turned_past(clause: Clause) -> int:
    """The segment from which a clause tells of another time ("..., it used to take twenty"); 0 when all of it does."""
    at = next((at for at, unit in enumerate(clause.units) if "past" in unit.sections), 0)
    segment = clause.segments[at] if at else 0
    here = [unit for unit, n in zip(clause.units, clause.segments, strict=True) if n == segment and unit.kind != "p"]
    fresh = bool(here) and "past" in here[0].sections and any(map(is_verb, here))
    return segment if fresh and any(item.segment < segment for item in clause.items) else 0


def _meant(belief: Clause, clause: Clause) -> tuple[Clause, str]:
    """A clause without the segments that only plan, mention or wonder, and the reason."""
    gone: dict[int, str] = {}
    if (then := _turned_past(clause)) and "past" not in belief.flags:
        gone = {n: ASIDE["past"] for n in set(clause.segments) if n >= then}
    for at, unit in enumerate(clause.units):
        for flag, reason in PART.items():
            if flag in unit.sections and flag not in belief.flags and not (flag == "plan" and kept_word(clause)):
                segment = clause.segments[at]
                gone[segment] = reason
                if flag == "wonder" and all(after.kind == "p" for after in clause.units[at + 1 : at + 2]):
                    gone.setdefault(segment + 1, reason)
    return (without(clause, set(gone)), next(iter(gone.values()))) if gone else (clause, "")
