"""Pairs of facts that may disagree, found without reading a page: in one slot, or about one entity.

Lines that time or a slot puts in order do not disagree: the newer one holds. What is left are two values on one day, a
pinned line against a newer one, a word against its opposite, a statement against its negation.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from functools import cache, lru_cache
from itertools import combinations
from typing import NamedTuple

from ..facts import Fact
from ..language.analyzer import query_terms, stop_terms, terms
from ..language.names import is_han
from ..language.relations import relation
from ..language.sentences import is_change
from ..stance.lexicon import PhraseRole, shipped, tokens
from ..truth.validity import Claim, Validity, has_begun, has_ended, versions

SAME_DAY, PINNED, OUTSIDE = "same slot, same day, other value", "pinned against newer", "other value from outside"


class Pair(NamedTuple):
    """Two facts by id, the older first, and the rule by which they may disagree."""

    first: int
    second: int
    rule: str


# -- in one slot ------------------------------------------------------------------------------------------------------


def in_slots(claims: Iterable[Claim], standing: Mapping[int, Validity], today: date) -> list[Pair]:
    """Pairs within slots that the order of versions does not settle."""
    slots: dict[tuple[str, str], list[Claim]] = defaultdict(list)
    named: set[str] = set()
    for claim in claims:
        for slot in claim.slots:
            slots[slot].append(claim)
        named.update((*claim.supersedes, *claim.corrects) if claim.trusted else ())
    found = (pair for _, line in sorted(slots.items()) for pair in _in_slot(versions(line), standing, today, named))
    return list(dict.fromkeys(found))


def _in_slot(line: Sequence[Claim], standing: Mapping[int, Validity], today: date, named: set[str]) -> Iterator[Pair]:
    holding = {claim.same: claim for claim in line if claim.trusted and standing[claim.id].holds(today)}
    if not holding:
        return
    *others, newest = sorted(holding.values(), key=lambda c: (c.valid.first or date.min, c.day or date.min, c.place))
    for other in others:
        yield Pair(other.id, newest.id, PINNED if other.pinned or newest.pinned else SAME_DAY)
    for claim in line:
        current = has_begun(claim.valid, today) and not has_ended(claim.valid, today)
        if current and claim.same not in holding and claim.ref not in named:
            yield from _beside(claim, newest, standing)


def _beside(claim: Claim, newest: Claim, standing: Mapping[int, Validity]) -> Iterator[Pair]:
    """A value that does not hold, against the newest that does: told together with it, or later by somebody untrusted."""
    if claim.trusted and standing[claim.id].replaced_by == newest.id and _told_together(claim, newest):
        yield Pair(claim.id, newest.id, SAME_DAY)
    elif not claim.trusted and (claim.valid.first or date.min) >= (newest.valid.first or date.min):
        yield Pair(newest.id, claim.id, OUTSIDE)


def _told_together(one: Claim, other: Claim) -> bool:
    """Only their places on the page order these two."""
    return (one.valid.first, one.day) == (other.valid.first, other.day) and not other.amends


def values_differ(one: Fact, other: Fact, rule: str) -> bool:
    """False where two lines of a slot may well give it one value, in other words or another language.

    And where the later line of one day says itself that things changed.
    """
    if _script(one.text) != _script(other.text) or (rule == SAME_DAY and is_change(other.text)):
        return False
    values = [relation(fact.text, fact.entities) for fact in (one, other)]
    if values[0] and values[1] and values[0].key == values[1].key:
        return not is_part(values[0].value, values[1].value)
    stems = [set(query_terms(fact.text)) for fact in (one, other)]
    return not (stems[0] <= stems[1] or stems[1] <= stems[0])


def is_part(one: str, other: str) -> bool:
    """True where one value only says more of the other: "lisbon" and "lisbon old town"."""
    return one.startswith(other) or other.startswith(one)


def _script(text: str) -> str:
    if any(map(is_han, text)):
        return "han"
    return "cyrillic" if re.search("[А-Яа-яЁё]", text) else "latin"


# -- about one entity: pairs worth a closer look ----------------------------------------------------------------------


class Marks(NamedTuple):
    """What of a fact's search terms can make it disagree with another one.

    `sides` are ends of scales ("length" long), `values` members of kinds with one value (a weekday, a number).
    """

    stems: frozenset[str]
    negated: frozenset[str]
    sides: frozenset[tuple[str, float]]
    values: frozenset[tuple[str, str]]


_POLES = {"like": ("like", 1.0), "dislike": ("like", -1.0), "ask": ("ask", 1.0), "refuse": ("ask", -1.0)}
_NEGATORS = frozenset(("not", "no", "stop"))
HAN_NUMERALS = "零〇一二两三四五六七八九十百千万"
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_FEW = 400  # facts of an entity of which every pair is looked at
_TOGETHER = 6  # of its common terms, the rarest, that make pairs three at once
_COMMON = 64  # facts of a larger entity in which a term may stand to make pairs


def marks_of(own: str, names: frozenset[str]) -> Marks:
    """The marks of a fact by its search terms, `names` being those of its entities."""
    found = [(term, _mark(term)) for term in own.split() if term not in names and "=" not in term]
    return Marks(
        frozenset(term for term, mark in found if mark.stem),
        frozenset(term for term, mark in found if mark.negates),
        frozenset(side for _, mark in found for side in mark.sides),
        frozenset(value for _, mark in found for value in mark.values),
    )


class _Mark(NamedTuple):
    stem: bool
    negates: bool
    sides: tuple[tuple[str, float], ...]
    values: tuple[tuple[str, str], ...]


@lru_cache(maxsize=100_000)
def _mark(term: str) -> _Mark:
    """What one term is good for."""
    roles = roles_of(term)
    scales = [(role.name, role.side) for role in roles if role.section == "scales"]
    kinds = [(role.name or "number", term) for role in roles if role.section in ("choices", "numbers")]
    number = bool(_NUMBER.fullmatch(term))
    return _Mark(
        _is_stem(term),
        any(role.section in _NEGATORS for role in roles),
        (*scales, *(_POLES[role.section] for role in roles if role.section in _POLES)),
        (*kinds, *([("number", term)] if number else ())),
    )


@lru_cache(maxsize=100_000)
def roles_of(term: str) -> tuple[PhraseRole, ...]:
    """What the word lists of stance say of a search term."""
    lists = shipped()
    if is_han(term[0]):
        return (PhraseRole("numbers"),) if term in HAN_NUMERALS else tuple(lists.characters.get(term, ()))
    stems = lists.phrases.get(term, []) + lists.phrases.get(f"={term}", [])
    own = tuple(role for key, given in stems if len(key) == 1 for role in given) + _numerals().get(term, ())
    matched = lists.match(found, 0)[1] if (found := tokens(term)) else ()
    return tuple(dict.fromkeys((*own, *matched)))


@cache
def _numerals() -> dict[str, tuple[PhraseRole, ...]]:
    """The stems of written-out numbers, which the lists hold as they are spelled."""
    return {
        stem: (role,)
        for found in shipped().phrases.values()
        for key, given in found
        for role in given
        if role.section == "numbers" and len(key) == 1
        for stem in terms(key[0].removeprefix("="))[:1]
    }


def are_together(one: object, other: object) -> bool:
    """True for two facts told on one day, as far as anybody knows: None is a day that nobody knows."""
    return one is None or other is None or one == other


def may_disagree(one: Marks, other: Marks, together: bool) -> bool:
    """False for most pairs: nothing is denied, opposite, or (told `together`) another value."""
    if bool(one.negated) != bool(other.negated) or one.negated != other.negated:
        return True
    if any((name, -side) in other.sides for name, side in one.sides):
        return True
    if not together:
        return False
    names = {name for name, _ in one.values} & {name for name, _ in other.values}
    return any(_of(one, name) != _of(other, name) for name in names)


def _of(marks: Marks, wanted: str) -> set[str]:
    return {value for name, value in marks.values if name == wanted}


def pairs_worth(facts: Sequence[Marks], days: Sequence[str | None], limit: int) -> tuple[list[tuple[int, int]], int]:
    """Places of pairs that share enough of what they say and may disagree, the likeliest first, and how many there were.

    `days` says when each fact was told.
    """
    shared: dict[tuple[int, int], int] = defaultdict(int)
    for places in _postings(facts).values():
        if len(places) > 1 and (len(facts) <= _FEW or len(places) <= _COMMON):
            for pair in combinations(places, 2):
                shared[pair] += 1
    scored = []
    for (i, j), count in shared.items():
        likeness = _likeness(facts[i], len(facts[j].stems), count)
        if _is_like(facts[i], len(facts[j].stems), count) and may_disagree(
            facts[i], facts[j], are_together(days[i], days[j])
        ):
            scored.append((-likeness, i, j))
    scored.sort()
    return [(i, j) for _, i, j in scored[:limit]], len(scored)


def pairs_with(
    facts: Sequence[str], days: Sequence[str | None], names: frozenset[str], fresh: Sequence[int], limit: int
) -> list[tuple[int, int]]:
    """Those of `pairs_worth` that have one of the places `fresh` in them, of facts by their search terms.

    Few meet all, so that no term is too common to be looked at, and the marks of what nobody meets are never made.
    """
    marks: dict[int, Marks] = {}
    stems = [{term for term in own.split() if term not in names and _is_stem(term)} for own in facts]
    new = set(fresh)
    scored = []
    for place in fresh:
        mine, spoken = marks_of(facts[place], names), stems[place]
        most = len({name for name, _ in mine.sides})  # that both may share beside their stems
        for other, its in enumerate(stems):
            count = len(spoken & its)
            if other == place or (other in new and other < place) or not _is_like(mine, len(its), count + most):
                continue
            i, j = sorted((place, other))
            for at in (i, j):
                marks[at] = marks.get(at) or marks_of(facts[at], names)
            count += len({name for name, _ in marks[i].sides} & {name for name, _ in marks[j].sides})
            if _is_like(mine, len(its), count) and may_disagree(marks[i], marks[j], are_together(days[i], days[j])):
                scored.append((-_likeness(mine, len(its), count), i, j))
    return [(i, j) for _, i, j in sorted(scored)[:limit]]


@lru_cache(maxsize=100_000)
def _is_stem(term: str) -> bool:
    """True for a term that tells what a fact is about: no number, attribute or stop word."""
    number = bool(_NUMBER.fullmatch(term))
    return not number and "=" not in term and len(term) > (1 if is_han(term[0]) else 2) and term not in stop_terms()


def _likeness(one: Marks, stems: int, count: int) -> float:
    """How much of what the shorter of two facts says, of which the other has so many `stems`, they share."""
    return count / (1 + min(len(one.stems), stems))


def _is_like(one: Marks, stems: int, count: int) -> bool:
    likeness = _likeness(one, stems, count)
    return likeness >= 0.3 or (count > 1 and likeness >= 0.2)


def _spoken(marks: Marks) -> set[str]:
    return {*marks.stems, *(value for _, value in marks.values)}


def _postings(facts: Sequence[Marks]) -> dict[object, list[int]]:
    """The places of facts by what they speak of; in a large entity also by three terms at once, as each is common."""
    found: dict[object, list[int]] = defaultdict(list)
    for place, marks in enumerate(facts):
        for stem in (*marks.stems, *(f"={name}" for name, _ in marks.sides)):
            found[stem].append(place)
    if len(facts) > _FEW:
        counts = Counter(term for marks in facts for term in _spoken(marks))
        for place, marks in enumerate(facts):
            few = sorted((counts[term], term) for term in _spoken(marks) if counts[term] > 1)[:_TOGETHER]
            for several in combinations([stem for _, stem in few], 3):
                found[several].append(place)
    return found
