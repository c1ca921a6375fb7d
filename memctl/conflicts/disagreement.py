"""Two statements about one entity: whether they disagree, and the words that show it.

They do when two of their clauses speak of the same and stance finds each against the other, whichever is asked first.
The words are data (`conflicts.txt` of each language).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from functools import cache, lru_cache
from itertools import product
from typing import NamedTuple

from ..facts import Fact, Kind, Period
from ..language.analyzer import terms
from ..language.names import is_han
from ..language.relations import Relation, relation
from ..language.sentences import is_change, is_past
from ..language.words import languages, lines, words
from ..stance.lexicon import shipped, tokens
from ..stance.phrases import analyse
from ..stance.stance import Stance
from .pairs import HAN_NUMERALS, Marks, are_together, is_part, marks_of, roles_of


class Statement(NamedTuple):
    """A fact read for a closer look: `valid` as it stands today, `day` when it was told."""

    fact: Fact
    valid: Period
    day: date | None


Judge = Callable[[Fact, Fact], Stance]
"""The stance of the second fact on the first."""
Found = tuple[str, str] | None
"""The rule that two statements break, and the words that show it."""

_VALUES, _NUMBERS = "two values on one day", "two numbers on one day"
_ALIKE, _ALIKE_DENIED = 0.5, 0.66  # Dice's coefficient of what two clauses speak of, beside the words that oppose
_SET_ASIDE = frozenset(("if", "hedge", "wonder", "hearsay", "mention"))
_MOST_CLAUSES = 12
_FIRM = 0.6  # an opinion held less firmly than that contradicts nothing
_QUOTES = re.compile(r"[“«„「『\"][^”»“」』\"]{4,}[”»“」』\"]")


@cache
def _pattern(section: str, template: str = "{}") -> re.Pattern[str]:
    """The patterns of a section of all languages, joined, where `{}` stands in the template."""
    found = (line for language in languages() for line in lines(language, "conflicts").get(section, ()))
    return re.compile(template.replace("{}", "|".join(found)), re.IGNORECASE)


@cache
def _words(section: str) -> frozenset[str]:
    return frozenset(word for language in languages() for word in words(language, "conflicts").get(section, ()))


def disagreement(one: Statement, other: Statement, names: frozenset[str], judge: Judge) -> Found:
    """(rule, reason) if two facts about one entity disagree, the older first; None where they do not, or may not.

    `names` are the terms of the entity's names: what both lines share in them says nothing.
    """
    if not one.valid.meets(other.valid) or _is_aside(one.fact) or _is_aside(other.fact):
        return None
    together = are_together(one.day, other.day)
    alike = _alike_clauses(one.fact, other.fact, names)
    if not alike and not together:
        return None
    values, others = ({r.key: r.value for r in _stated(s.fact)} for s in (one, other))
    if key := min(values.keys() & others.keys(), default=None):
        return (_VALUES, key) if together and not is_part(values[key], others[key]) else None
    if _is_unsure(one.fact) or _is_unsure(other.fact):
        return None
    if reason := _other_amount(one.fact, other.fact) if together else None:
        return _NUMBERS, reason
    if not alike or (not together and is_change(other.fact.text)):
        return None
    return _negated(one.fact, other.fact, alike, names, together) or _opposed(
        one.fact, other.fact, alike, together, judge
    )


def _alike_clauses(one: Fact, other: Fact, names: frozenset[str]) -> list[tuple[str, str]]:
    pairs = product(_clauses(one.text), _clauses(other.text))
    return [(mine, its) for mine, its in pairs if _is_alike(mine, its, names)]


def _is_unsure(fact: Fact) -> bool:
    """True for what is hedged, hypothetical, or heard of."""
    return any(clause.flags & _SET_ASIDE for clause in analyse(fact.text, shipped()))


def _other_amount(one: Fact, other: Fact) -> str | None:
    """The two amounts of facts that say how much there is of something; what happened may have happened twice."""
    return None if Kind.EXPERIENCE in (one.kind, other.kind) else _other_number(one.text, other.text)


def _negated(one: Fact, other: Fact, alike: list[tuple[str, str]], names: frozenset[str], together: bool) -> Found:
    """Two clauses that are word for word the same, one of them denied."""
    least = 1 if len(_clauses(one.text)) == len(_clauses(other.text)) == 1 else 2
    for mine, its in alike:
        if _is_denied(mine, its, names, least) and (together or not (is_past(mine) or is_past(its))):
            return "negated", mine
    return None


def _opposed(one: Fact, other: Fact, alike: list[tuple[str, str]], together: bool, judge: Judge) -> Found:
    """What stance finds against each other: the facts as a whole, and two of their clauses whichever is asked first."""
    found = [judge(one, other), judge(other, one)]
    if not any(map(_is_against, found)) or any(s.verdict == "for" or s.reversal for s in found):
        return None
    for mine, its in alike:
        if said := _against(replace(one, text=mine), replace(other, text=its), together, judge):
            return said
    return None


def _against(one: Fact, other: Fact, together: bool, judge: Judge) -> Found:
    """(rule, reason) if two clauses disagree whichever is asked first. What happened on two days does not."""
    if not together and (is_past(one.text) or is_past(other.text)):
        return None
    found, back = judge(one, other), judge(other, one)
    if not (_is_against(found) and _is_against(back)):
        return None
    if " against " not in found.reason:
        return "negated", found.reason.removeprefix("denied: ")
    if re.search(r"\d", found.reason) or any(map(_is_number, re.findall(r"\w+", found.reason))):
        return None  # numbers have stricter rules: _other_number
    return None if _is_doing(one.text) and _is_doing(other.text) else ("opposite", found.reason)


def _is_against(found: Stance) -> bool:
    return found.verdict == "against" and found.sure and found.strength >= 1


def _is_aside(fact: Fact) -> bool:
    """Somebody else's words, a question, something said to somebody, or an opinion that is hardly held."""
    if fact.kind is Kind.OPINION and (0.7 if fact.confidence is None else fact.confidence) < _FIRM:
        return True
    if _pattern("addressed", "[?？]|{}").search(fact.text) or _QUOTES.search(fact.text):
        return True
    before = " ".join(_pattern("reported", "[:：]|{}").split(fact.text)[:-1])
    return any(role.section == "say" for term in terms(before) for role in roles_of(term))


def _stated(fact: Fact) -> list[Relation]:
    """The relations that the clauses of a fact state: also in a report ("checked with Lee: uses MongoDB as …")."""
    pieces = [fact.text, *_pattern("reported", r"[:;,：；，]\s*|{}").split(fact.text)]
    return [found for piece in pieces if (found := relation(piece.strip(), fact.entities))]


def _is_number(word: str) -> bool:
    return any(role.section == "numbers" for role in roles_of(word.casefold()))


def _is_doing(text: str) -> bool:
    """True for what was done: it may have been done twice on one day, once early and once late."""
    return is_past(text) and not _pattern("being").search(text)


# -- clauses that speak of the same -----------------------------------------------------------------------------------


@lru_cache(maxsize=50_000)
def _clauses(text: str) -> tuple[str, ...]:
    signs = r"[.;:!?](?=\s|$)|,(?=\s|[^\W\d])|，(?=\s|\w)|[。；：！？]|\s[—–-]\s"
    pieces = (piece.strip() for piece in _pattern("clause_end", rf"(?:{signs}|{{}})\s*").split(text)[:_MOST_CLAUSES])
    return tuple(filter(None, pieces)) or (text,)


@lru_cache(maxsize=50_000)
def _marks(text: str, names: frozenset[str]) -> Marks:
    return marks_of(" ".join(terms(text)), names)


def _is_alike(one: str, other: str, names: frozenset[str]) -> bool:
    """True when two clauses speak of the same, apart from the words that deny or oppose."""
    if _which(one) != _which(other) or not _is_one_thing(one, other):
        return False
    mine, its = _marks(one, names), _marks(other, names)
    opposed = {name for name, side in mine.sides if (name, -side) in its.sides}
    han = any(map(is_han, one))
    if han:
        first, second = _characters(one, opposed), _characters(other, opposed)
    else:
        first, second = _stems_beside(mine, opposed), _stems_beside(its, opposed)
    if not first and not second:
        return bool(opposed) and not _pattern("pointing").search(f"{one} {other}")
    shared = len(first & second)
    if not opposed and shared < 2 and first != second:
        return False
    return 2 * shared / (len(first) + len(second)) >= (_ALIKE if opposed and not han else _ALIKE_DENIED)


def _stems_beside(marks: Marks, opposed: set[str]) -> set[str]:
    """The stems of a clause that neither deny nor stand on one of the opposed scales."""
    return {s for s in marks.stems - marks.negated if not any(role.name in opposed for role in roles_of(s))}


_OWN_NUMBER = re.compile(r"(?<![0-9A-Za-zА-Яа-яЁё])[0-9A-Za-zА-Яа-яЁё]*\d[0-9A-Za-zА-Яа-яЁё]*(?:[./:][0-9]+)*")


@lru_cache(maxsize=50_000)
def _which(text: str) -> frozenset[str]:
    """The words that tell one of several from the others: "first", "after", «второй», 下午."""
    return frozenset(match[0].casefold() for match in _pattern("which").finditer(text))


def _is_one_thing(one: str, other: str) -> bool:
    """False where each of two clauses has numbers of its own: "sensor A1" and "sensor A2", 10:00 and 15:00."""
    mine, its = set(_OWN_NUMBER.findall(one)), set(_OWN_NUMBER.findall(other))
    return mine <= its or its <= mine


def _is_denied(one: str, other: str, names: frozenset[str], least: int) -> bool:
    """True where two clauses of at least so many words are word for word the same, and one of them is denied."""
    denial, none = _pattern("not"), _pattern("no_denial")
    if bool(denial.search(one)) == bool(denial.search(other)) or none.search(one) or none.search(other):
        return False
    if any(map(is_han, one)):
        mine, its = (_characters(denial.sub(" ", text), set()) for text in (one, other))
        return len(mine) > 1 and mine == its
    here, there = (
        {term for term in (*marks.stems, *(value for _, value in marks.values)) if not denial.fullmatch(term)}
        for marks in (_marks(one, names), _marks(other, names))
    )
    told = len(here - _words("empty")) >= least
    return here == there and told and not _pattern("pointing").search(f"{one} {other}")


_TURNING = frozenset(("not", "no", "stop", "like", "dislike", "ask", "refuse"))


def _characters(text: str, opposed: set[str]) -> set[str]:
    """What a Chinese clause speaks of, character by character: pairs that span two words would be noise."""
    lists, found, at = shipped().characters, set[str](), 0
    while at < len(text):
        size = next((n for n in range(min(6, len(text) - at), 0, -1) if text[at : at + n] in lists), 0)
        roles = lists.get(text[at : at + size], [])
        if not any(role.section in _TURNING or role.name in opposed for role in roles):
            found.update(text[at : at + max(size, 1)])
        at += max(size, 1)
    return {char for char in found if char.isalnum()} - _words("function")


# -- numbers ----------------------------------------------------------------------------------------------------------

_NUMERAL = re.compile(r"[A-Za-zА-Яа-яЁё]{2,}")
_SIGNS = "%°$€£¥₽"
_SAME = {"are": "is", "have": "has", "has": "has", "is": "is"}


@cache
def _number() -> re.Pattern[str]:
    """A number in digits, or in Chinese numerals that stand alone or before a measure word."""
    counted = _pattern("counted").pattern
    return re.compile(rf"\d+(?:[.,:]\d+)*|(?<![一-龥])[{HAN_NUMERALS}]+|[{HAN_NUMERALS}]+(?={counted})")


@cache
def _unit() -> re.Pattern[str]:
    """The unit behind a number, or what is counted: no time, rank, name or number that stands alone."""
    word = r"[一-龥]{1,4}(?![一-龥])|[一-龥]{1,2}|(?![一-龥])[^\W\d_]{1,20}(?![^\W\d_])(?:/[^\W\d_]{1,6}(?![^\W\d_]))?"
    moving = _pattern("moving", r"(?!\s(?:{}))").pattern
    return _pattern("no_unit", rf"\s?(?:[%°][CF]?|(?!{{}})(?:{word})){moving}")


def _other_number(one: str, other: str) -> str | None:
    """ "12 people against 8 people" where two clauses are word for word the same but for one amount; else None."""
    for mine, its in product(_clauses(one), _clauses(other)):
        if is_past(mine) or is_past(its) or _pattern("version").search(mine):
            continue
        text, said = _NUMERAL.sub(_digits, mine), _NUMERAL.sub(_digits, its)
        places, others = list(_number().finditer(text)), list(_number().finditer(said))
        if not places or len(places) != len(others) or _worded(text) != _worded(said):
            continue
        apart = [(a, b) for a, b in zip(places, others, strict=True) if a[0] != b[0]]
        if len(apart) == 1:
            amounts = _amount(text, apart[0][0]), _amount(said, apart[0][1])
            if amounts[0] and amounts[1]:
                return f"{amounts[0]} against {amounts[1]}"
    return None


def _worded(text: str) -> list[str]:
    """Every word but the numbers, small ones too: "before" and "after", «до» and «после», 上午 and 下午 differ."""
    return [
        _SAME.get(token.word, token.stem)
        for token in tokens(_number().sub(" 0 ", text))
        if token.word not in _words("idle") and (token.kind != "p" or token.raw in _SIGNS)
    ]


def _amount(text: str, match: re.Match[str]) -> str | None:
    """ "12 people" for a number that says how much there is of something; None for a time, a version, part of a name.

    What has one amount at a time says so with the verb right before it; what was done has as many as times it was done.
    """
    before, after = text[: match.start()], _unit().match(text, match.end())
    priced = before[-1:] in tuple(_SIGNS[2:])
    said = _pattern("amount_before", "(?:{})[$€£¥₽]?$").search(before)
    if ":" in match[0] or match[0].count(".") > 1 or not said or not (after or priced):
        return None
    return (before[-1] if priced else "") + match[0] + (after[0].rstrip("的了") if after else "")


def _digits(match: re.Match[str]) -> str:
    """A number that is written out, in digits («восемь»: 8); other words as they are."""
    value = next((role.side for role in roles_of(match[0].casefold()) if role.section == "numbers"), None)
    return f"{value:g}" if value is not None else match[0]
