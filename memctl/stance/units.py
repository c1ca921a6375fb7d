"""Text as phrases of the word lists: one unit each, Chinese cut into words, with what each is good for."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, lru_cache
from typing import NamedTuple

from ..language.analyzer import irregular_forms
from .lexicon import Lexicon, Role, Token

__all__ = ["BARRIERS", "CONTENT", "OPERATORS", "Unit", "is_barrier", "is_verb", "units_of"]


class Unit(NamedTuple):
    """One phrase of the lists, or a word that no list has: its spelling, its key and its roles."""

    word: str
    key: str
    kind: str  # as Token.kind, or "a run" of unknown Han characters: "r"
    capital: bool
    roles: tuple[Role, ...]
    sections: frozenset[str]
    start: int
    relations: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()


CONTENT = frozenset(("groups", "kinds", "choices", "scales", "kin", "people", "light", "source"))
OPERATORS = frozenset(("not", "no", "never", "stop", "like", "dislike", "ask", "refuse", "never_fails"))
BARRIERS = frozenset(",，、:：()（）—–")


def units_of(found: tuple[Token, ...], lexicon: Lexicon, names: tuple[str, ...]) -> list[Unit]:
    """The longest phrases of the lists, in order; `names` are Han words to keep whole."""
    units: list[Unit] = []
    at = 0
    related: dict[int, tuple[str, ...]] = {}
    for place, token in enumerate(found):
        if token.kind == "w" and (found_there := lexicon.relation(found, place))[0]:
            related[place + found_there[0] - 1] = tuple(role.name for role in found_there[1])
    while at < len(found):
        token = found[at]
        if token.kind == "h":
            units += _han(token, lexicon, names)
            at += 1
            continue
        size, roles = lexicon.match(found, at) if token.kind in "wi" or token.raw in "<>" else (1, ())
        words = found[at : at + size]
        word = " ".join(part.raw for part in words)
        key = token.stem if size == 1 else " ".join(part.stem for part in words)
        roles = _fit(roles, token)
        relations = tuple(name for n in range(at, at + size) for name in related.get(n, ()))
        parts = lexicon.groups(words) if size > 1 and not any(part.word in _NEGATIVE for part in words) else ()
        units.append(
            Unit(word, key, token.kind, token.raw[:1].isupper(), roles, _sections(roles), token.start, relations, parts)
        )
        at += size
    return units


_NEGATIVE = frozenset(
    ("no", "not", "without", "never", "non", "un", "без", "не", "нет", "ни", "poorly", "missing", "free")
)


def _fit(roles: tuple[Role, ...], token: Token) -> tuple[Role, ...]:
    """Without the roles that the spelling rules out: `will` is nobody's name, `Will` no plan (but at the beginning)."""
    if not any(role.section == "people" for role in roles):
        return roles
    named = token.raw[:1].isupper()
    return tuple(role for role in roles if (role.section == "people") == named)


@lru_cache(maxsize=4096)
def _sections(roles: tuple[Role, ...]) -> frozenset[str]:
    return frozenset(role.section for role in roles)


def is_barrier(unit: Unit) -> bool:
    """True for a sign that ends the scope of a negation: a comma, a colon, a bracket, a dash."""
    return unit.kind == "p" and unit.word in BARRIERS


# -- Chinese -----------------------------------------------------------------------------------------------------------

_HOURS = ("点半", "点钟", "点整", "点多", "点左右", "点前", "点后")
_NUMERALS = "零〇一二两三四五六七八九十百千万半几"


def _han(token: Token, lexicon: Lexicon, names: tuple[str, ...]) -> Iterator[Unit]:
    """The words of a run; what no list knows is a run of its own; numerals before a measure are numbers."""
    text, loose = token.raw, 0
    for at, size, numeral in _cut(text, lexicon, names):
        word = text[at : at + size]
        meeting = word == "会" and loose == at and _is_meeting(text, at)
        if (
            not meeting
            and not numeral
            and size == 1
            and word in lexicon.characters
            and _joins(text, at, loose, lexicon)
        ):
            continue
        yield from _run(text[loose:at], token.start + loose)
        loose = at + size
        if numeral:
            yield Unit(word, word, "n", False, (), frozenset(), token.start + at)
            continue
        key = "会议" if meeting else word
        roles = tuple(lexicon.characters.get(key, ()))
        related = _relations(text, at, at + size, lexicon)
        yield Unit(word, key, "h", False, roles, _sections(roles), token.start + at, related)
    yield from _run(text[loose:], token.start + loose)


def _is_meeting(text: str, at: int) -> bool:
    """True for 会 as a noun: 周二的会."""
    return text[at + 1 :] in ("", "了") and text[:at].endswith(("的", "次", "个", "场"))


def _cut(text: str, lexicon: Lexicon, names: tuple[str, ...]) -> list[tuple[int, int, bool]]:
    """(place, size, is it a numeral) of the known words of a run, with the fewest characters left over, then the fewest words."""
    best: list[tuple[float, tuple[int, int, bool] | None, int]] = [(0.0, None, -1)]
    for end in range(1, len(text) + 1):
        options: list[tuple[float, tuple[int, int, bool] | None, int]] = [(best[end - 1][0] + 3.0, None, end - 1)]
        for start in range(max(0, end - lexicon.longest), end):
            word = text[start:end]
            split = start > 0 and len(word) > 1 and text[start - 1] in _NUMERALS and word[0] in _NUMERALS + "点"
            cost = None if split and word not in names and word not in _HOURS else _cost(word, lexicon, names)
            if cost is not None:
                numeral = all(char in _NUMERALS for char in word)
                options.append((best[start][0] + cost, (start, end - start, numeral), start))
        best.append(min(options, key=lambda option: option[0]))
    found: list[tuple[int, int, bool]] = []
    at = len(text)
    while at > 0:
        _, word_at, before = best[at]
        if word_at:
            found.append(word_at)
        at = before
    return found[::-1]


def _cost(word: str, lexicon: Lexicon, names: tuple[str, ...]) -> float | None:
    if word in names:
        return 0.1
    if roles := lexicon.characters.get(word):
        return 1.2 if len(word) == 1 else 0.9 if _sections(tuple(roles)) & OPERATORS else 1.0
    if word in lexicon.common:
        return 1.05
    return 1.0 if all(char in _NUMERALS for char in word) else None


def _longest(text: str, at: int, lexicon: Lexicon) -> int:
    """Characters of the longest known word at a place; 0 when there is none."""
    for size in range(min(lexicon.longest, len(text) - at), 0, -1):
        word = text[at : at + size]
        if word in lexicon.characters or word in lexicon.common:
            return size
    return 0


def _relations(text: str, start: int, end: int, lexicon: Lexicon) -> tuple[str, ...]:
    """The relations whose name ends where a word ends."""
    return tuple(
        role.name
        for first in range(max(0, end - lexicon.longest), end)
        for role in lexicon.han_relations.get(text[first:end], ())
    )


def _joins(text: str, at: int, loose: int, lexicon: Lexicon) -> bool:
    """True for a known character beside an unknown one: 大 in 大提琴 is not large. Verbs and particles stay apart."""
    sections = _sections(tuple(lexicon.characters[text[at]]))
    if not sections & {"scales", "groups", "kinds", "choices"} or sections & (OPERATORS | {"light", "units", "clock"}):
        return False
    if loose < at:
        return True
    rest = text[at + 1 : at + 1 + lexicon.longest]
    return bool(rest) and rest[0] not in _NUMERALS and not _longest(rest, 0, lexicon)


def _run(text: str, start: int) -> Iterator[Unit]:
    if text:
        yield Unit(text, text, "r", False, (), frozenset(), start)


# -- what somebody does ------------------------------------------------------------------------------------------------


def is_verb(unit: Unit) -> bool:
    """True when a unit is likely what somebody does."""
    return unit.kind != "p" and (_is_verb(unit) or unit.word.casefold() in _COMING)


def _is_verb(unit: Unit) -> bool:
    """A guess from the ending, good enough to tell "flew to Oslo" from "flights to Oslo"."""
    word = unit.word.casefold()
    if "light" in unit.sections:
        return True
    if word.isascii():
        return word.endswith("ed") or word in _past() or (word.endswith("ing") and "choices" not in unit.sections)
    return unit.kind == "w" and word.endswith(_PAST_RU)


@cache
def _past() -> frozenset[str]:
    """English past forms that share no ending."""
    return frozenset(irregular_forms("en"))


_PAST_RU = (
    "л",
    "ла",
    "ли",
    "ло",
    "лся",
    "лась",
    "лись",
    "лось",
    "ет",
    "ит",
    "ют",
    "ут",
    "ат",
    "ят",
    "ется",
    "ится",
    "ются",
    "ятся",
)
_COMING = frozenset(
    (
        "comes",
        "goes",
        "come",
        "go",
        "does",
        "has",
        "makes",
        "gets",
        "puts",
        "lets",
        "tries",
        "shows",
        "brings",
        "turns",
        "идет",
        "ходит",
        "去",
        "来",
    )
)
