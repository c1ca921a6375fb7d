"""Whose words a clause is and whom it is about: what somebody else says, or is, speaks for nobody's belief."""

from __future__ import annotations

from typing import NamedTuple

from ..language.names import is_han
from .overlap import Bond
from .phrases import EVENTS, TIMES, Item
from .reading import Clause
from .units import Unit, is_verb

__all__ = ["Names", "is_strange", "own_part", "without"]


class Names(NamedTuple):
    """Keys of the names that the belief is about, of the other names of the fact, and of the words of the belief."""

    mine: frozenset[str]
    strange: frozenset[str]
    known: frozenset[str]


PREDICATES = frozenset(
    ("like", "dislike", "ask", "refuse", "stop", "not", "light", "say", "scales", "hedge", "change", "slots")
)
_AND = frozenset(("and", "и", "和", "与", "&", "、"))
WHOSE = frozenset(("his", "her", "their", "its", "my", "our", "его", "ее", "их"))
_THAT = frozenset(("that", "что", "будто"))
BESIDE = frozenset(
    (
        *("at", "in", "on", "during", "after", "before", "for", "with", "from", "by", "under", "over", "since"),
        *("в", "во", "на", "за", "после", "до", "перед", "с", "со", "у", "при", "из", "по", "к", "под", "над", "между"),
        *("от", "для", "在", "从", "跟", "和", "于", "对", "把", "将", "给"),
    )
)
"""Prepositions: what follows one is no subject."""


def own_part(clause: Clause, names: Names, hearsay: str) -> tuple[Clause, str, str]:
    """The clause without what is about or by somebody else; who that is; whose words the rest of the sentence is."""
    units, segments = clause.units, clause.segments
    gone: set[int] = set()
    other = hearsay
    whole = bool(hearsay)
    for segment in dict.fromkeys(segments):
        part = [unit for unit, n in zip(units, segments, strict=True) if n == segment]
        if whole:
            gone.add(segment)
            continue
        told = _according(part, names)
        who, rest = (told, False) if told else _subject(part, names)
        if not who:
            continue
        other = who
        spoken = bool(told) or any(unit.sections & {"say", "hearsay", "source"} for unit in part)
        if spoken or not rest:
            whole = True
            hearsay = f"the words of {who}" if spoken else f"about {who}"
        gone.add(segment)
    if not gone:
        return clause, "", hearsay
    return without(clause, gone), hearsay or f"about {other}", hearsay


def without(clause: Clause, gone: set[int]) -> Clause:
    """A clause without what stands in some of its segments."""
    segments = clause.segments
    items = tuple(item for item in clause.items if item.segment not in gone)
    numbers = tuple(number for number in clause.quantities if segments[number.at] not in gone)
    slots = tuple(slot for slot in clause.slots if segments[slot[1]] not in gone)
    return clause._replace(items=items, quantities=numbers, slots=slots)


def _subject(part: list[Unit], names: Names) -> tuple[str, bool]:
    """(somebody else who is the subject of a segment, or of what is said in it; has it a predicate?)."""
    who = _other(part, names)
    if not who:
        says = next((n for n, unit in enumerate(part) if "say" in unit.sections), None)
        if says is not None:
            that = next(
                (n for n in range(says + 1, min(says + 5, len(part))) if part[n].word.casefold() in _THAT), None
            )
            told = part[says].key in ("tell", "told", "告诉")
            if that is not None or not told:
                who = _other(part[(says if that is None else that) + 1 :], names)
                return who, True
    loose = (unit for unit in part if not unit.capital and not set(unit.key.split()) & (names.strange | names.mine))
    return who, any(
        unit.sections & (PREDICATES - {"scales"}) or (unit.kind in "wrh" and not unit.sections) for unit in loose
    )


def _other(units: list[Unit], names: Names) -> str:
    """The first bearer of a name before the predicate, if it is not the one the belief is about."""
    for at, unit in enumerate(units[:7]):
        keys = {*unit.key.split(), unit.word.casefold()}
        if at and units[at - 1].word.casefold() in BESIDE and not keys & names.mine:
            continue
        after = units[at + 1 : at + 3]
        kin_next = any("kin" in next_.sections and next_.key not in names.known for next_ in after)
        if keys & names.mine:
            if not kin_next:
                return ""
        elif "own" in unit.sections:
            if unit.word.casefold() not in WHOSE and not (is_han(unit.word[0]) and kin_next):
                return ""
        elif unit.key in names.known:
            return ""
        elif "kin" in unit.sections or "people" in unit.sections or keys & names.strange:
            joined = after and after[0].word.casefold() in _AND
            if joined and any(set(u.key.split()) & names.mine for u in units[at + 2 : at + 4]):
                return ""
            return unit.word
        elif unit.sections & PREDICATES or unit.kind == "p" or is_verb(unit):
            return ""
        elif at == 0 and unit.capital and not unit.sections and _hates(units[1:2]):
            return unit.word
    return ""


def _hates(after: list[Unit]) -> bool:
    """True for "likes" and the like: what stands before it at the beginning of a line is a name."""
    return any(
        unit.sections & {"like", "dislike"} and unit.word.endswith("s") and unit.word.isascii() for unit in after
    )


def _according(part: list[Unit], names: Names) -> str:
    """Whose word a segment takes: "according to Bob", 据小王说."""
    for at, unit in enumerate(part):
        if "by" not in unit.sections:
            continue
        after = part[at + 1 : at + 5]
        if any(set(u.key.split()) & names.mine for u in after):
            return ""
        if is_han(unit.word[0]):
            says = next((n for n, u in enumerate(after) if "say" in u.sections), 0)
            return "".join(u.word for u in after[:says]) if says else ""
        return next((u.word for u in after if u.capital or u.sections & {"people", "kin", "source"}), "")
    return ""


def is_strange(bond: Bond, belief: Clause, clause: Clause, item: Item, against: bool) -> bool:
    """True when a segment is about another thing: "the train was late" says nothing of who is punctual.

    A belief that names its bearer ("The CI is flaky") is about a thing, and parts of it speak for it, but not against it.
    """
    own = any(_is_own(unit, bond) for unit in belief.units)
    if own and not against:
        return False
    personal = bool(_ways(item) & _PERSONAL)
    here = [i for i in bond.over if i.segment == item.segment and i is not item and not i.ids & TIMES]
    part = [unit for unit, n in zip(clause.units, clause.segments, strict=True) if n == item.segment]
    if own and not any(_is_own(unit, bond) for unit in part):
        told = {name for i in belief.items for name in i.ids}
        here = [
            i
            for i in here
            if not i.ids & told and (i.at < item.at or not (personal or (item.verb and _beside(clause.units, i.at))))
        ]
        if not personal:
            return any(_is_other(i) for i in here)
    things = {
        i.at
        for i in here
        if not (((i.light or i.verb) and not _named_thing(clause.units, i.at)) or i.axes)
        and not (personal and is_han(i.word[0]) and i.ids & EVENTS)
        and not (personal and i.ids & _WORKS)
    }
    for at, unit in enumerate(clause.units):
        if clause.segments[at] != item.segment:
            continue
        if at >= item.at or _is_own(unit, bond):
            return False
        if "own" in unit.sections and unit.word.casefold() not in WHOSE:
            return False
        if at in things:
            return not _beside(clause.units, at)
        if unit.sections & PREDICATES or any(i.verb and i.at == at for i in bond.fact):
            return False
        if unit.word.isascii() and is_verb(unit):
            return False
    return False


def _is_own(unit: Unit, bond: Bond) -> bool:
    return unit.key in bond.mine or unit.word.casefold() in bond.mine


def _is_other(item: Item) -> bool:
    """True for a thing or a place that a statement about something named does not mention."""
    if item.light or item.felt or any(name in _WHEN for name, _ in item.choices):
        return False
    return bool(_ways(item) <= _PLACES) if item.axes else item.weight >= 0.5


def _ways(item: Item) -> set[str]:
    return {name for name, _ in item.axes}


_WHEN = frozenset(("month", "weekday", "daypart", "season"))
_PLACES = frozenset(("remote", "indoor"))
_PERSONAL = frozenset(("punctual", "calm", "polite", "careful", "patience", "tidy", "kind", "mood", "courage"))
_WORKS = frozenset(("report.", "code.", "homework.", "document.", "document", "letter."))


def _named_thing(units: tuple[Unit, ...], at: int) -> bool:
    """True for a word after an article: "the train" is a noun, whatever else it may be."""
    return at > 0 and units[at - 1].word.casefold() in ("the", "a", "an")


def _beside(units: tuple[Unit, ...], at: int) -> bool:
    """True for a circumstance before the predicate: "at the barbecue", «за год», 聚餐时."""
    before = [unit.word.casefold() for unit in units[max(0, at - 2) : at]]
    after = units[at + 1].word if at + 1 < len(units) else ""
    return bool(BESIDE.intersection(before)) or after in (
        "时",
        "的时候",
        "前",
        "后",
        "以后",
        "之后",
        "之前",
        "里",
        "上",
        "期间",
    )
