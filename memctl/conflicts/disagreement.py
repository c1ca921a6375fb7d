"""Two statements about one entity: whether they disagree, and the words that show it.

They do when two of their clauses speak of the same and stance finds each against the other, whichever is asked first.
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
from ..language.modality import is_change, is_past
from ..language.names import is_han
from ..language.relations import Relation, relation
from ..stance.lexicon import shipped, tokens
from ..stance.reading import analyse
from ..stance.stance import Stance
from .conflicts import HAN_NUMERALS, Marks, is_part, marks_of, roles_of

__all__ = ["Statement", "disagreement"]


class Statement(NamedTuple):
    """A fact read for a closer look: `valid` as it stands today, `day` when it was told."""

    fact: Fact
    valid: Period
    day: date | None


VALUES, NUMBERS = "two values on one day", "two numbers on one day"
_ALIKE, _ALIKE_DENIED = (
    0.5,
    0.66,
)  # Dice's coefficient of what two clauses speak of, beside the words that oppose each other
_CLAUSE = re.compile(
    r"(?:[.;:!?](?=\s|$)|,(?=\s|[^\W\d])|，(?=\s|\w)|[。；：！？]|\s[—–-]\s|\b(?:because|while|although|though|but|потому что|хотя|но)\b|但是?|不过)\s*"
)
_POINTING = re.compile(
    r"\b(?:it|its|it's|that|that's|this|there|he|she|they|oh|aw|wow|это|этот|эта|то|он|она|они)\b|[这那它他她]",
    re.IGNORECASE,
)
_QUOTES = re.compile(r"[“«„「『\"][^”»“」』\"]{4,}[”»“」』\"]")
_SAID = re.compile(r"[:：]|\b(?:that|что)\b")
_BEING = re.compile(
    r"\b(?:was|were|wasn't|weren't|had|lov\w+|lik\w+|hat\w+|enjoy\w+|был\w{,2}|люб\w+|нрав\w+|ненавид\w+)\b|喜欢|讨厌|爱",
    re.IGNORECASE,
)
_ADDRESSED = re.compile(
    r"[?？]|\b(?:you|your|you're|you've|yours|let's|can't wait|ты|вы|тебя|тебе|вас|вам|твой|твоя|ваш|ваша)\b|[你您]",
    re.IGNORECASE,
)
_SET_ASIDE = frozenset(("if", "hedge", "wonder", "hearsay", "mention"))
_MOST_CLAUSES = 12
_FIRM = 0.6  # an opinion held less firmly than that contradicts nothing


def disagreement(
    one: Statement, other: Statement, names: frozenset[str], weigh: Callable[[Fact, Fact], Stance]
) -> tuple[str, str] | None:
    """(rule, reason) if two facts about one entity disagree, the older first; None where they do not, or may not.

    `names` are the terms of the entity's names: what both lines share in them says nothing. `weigh` is the stance of a
    fact on another one.
    """
    if not one.valid.meets(other.valid) or _is_aside(one.fact) or _is_aside(other.fact):
        return None
    together = one.day is None or other.day is None or one.day == other.day
    alike = [
        (mine, its)
        for mine, its in product(_clauses(one.fact.text), _clauses(other.fact.text))
        if _is_alike(mine, its, names)
    ]
    if not alike and not together:
        return None
    mine, others = ({r.key: r.value for r in _stated(s.fact)} for s in (one, other))
    for key in mine.keys() & others.keys():
        differ = together and not is_part(mine[key], others[key])
        return (VALUES, key) if differ else None
    if any(clause.flags & _SET_ASIDE for s in (one, other) for clause in analyse(s.fact.text, shipped())):
        return None
    events = Kind.EXPERIENCE in (one.fact.kind, other.fact.kind)
    if together and not events and (reason := _other_number(one.fact.text, other.fact.text)):
        return NUMBERS, reason
    if not alike or (not together and is_change(other.fact.text)):
        return None
    least = 1 if len(_clauses(one.fact.text)) == len(_clauses(other.fact.text)) == 1 else 2
    for here, there in alike:
        if _is_denied(here, there, names, least) and (together or not (is_past(here) or is_past(there))):
            return "negated", here
    found = [weigh(one.fact, other.fact), weigh(other.fact, one.fact)]
    if not any(map(_is_against, found)) or any(s.verdict == "for" or s.reversal for s in found):
        return None
    for here, there in alike:
        said = _against(replace(one.fact, text=here), replace(other.fact, text=there), together, weigh)
        if said:
            return said
    return None


def _is_aside(fact: Fact) -> bool:
    """Somebody else's words, a question, something said to somebody, or an opinion that is hardly held."""
    if fact.kind is Kind.OPINION and (0.7 if fact.confidence is None else fact.confidence) < _FIRM:
        return True
    if _ADDRESSED.search(fact.text) or _QUOTES.search(fact.text):
        return True
    before = " ".join(_SAID.split(fact.text)[:-1])
    return any(role.section == "say" for t in terms(before) for role in roles_of(t))


def _is_against(found: Stance) -> bool:
    return found.verdict == "against" and found.sure and found.strength >= 1


def _stated(fact: Fact) -> list[Relation]:
    """The relations that the clauses of a fact state: also in a report ("checked with Lee: uses MongoDB as …")."""
    pieces = [fact.text, *re.split(r"[:;,：；，]\s*|\b(?:that|что)\b", fact.text)]
    return [found for piece in pieces if (found := relation(piece.strip(), fact.entities))]


def _against(one: Fact, other: Fact, together: bool, weigh: Callable[[Fact, Fact], Stance]) -> tuple[str, str] | None:
    """(rule, reason) if two clauses disagree whichever is asked first. What happened on two days does not."""
    if not together and (is_past(one.text) or is_past(other.text)):
        return None
    found, back = weigh(one, other), weigh(other, one)
    if not (_is_against(found) and _is_against(back)):
        return None
    if " against " not in found.reason:
        return "negated", found.reason.removeprefix("denied: ")
    if re.search(r"\d", found.reason) or any(map(_is_number, re.findall(r"\w+", found.reason))):
        return None  # numbers have stricter rules: _other_number
    return None if _is_doing(one.text) and _is_doing(other.text) else ("opposite", found.reason)


def _is_number(word: str) -> bool:
    return any(role.section == "numbers" for role in roles_of(word.casefold()))


def _is_doing(text: str) -> bool:
    """True for what was done: it may have been done twice on one day, once early and once late."""
    return is_past(text) and not _BEING.search(text)


@lru_cache(maxsize=50_000)
def _clauses(text: str) -> tuple[str, ...]:
    pieces = [piece.strip() for piece in _CLAUSE.split(text)]
    return tuple(piece for piece in pieces[:_MOST_CLAUSES] if piece) or (text,)


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
        first, second = (
            {stem for stem in marks.stems if not any(role.name in opposed for role in roles_of(stem))} - marks.negated
            for marks in (mine, its)
        )
    if not first and not second:
        return bool(opposed) and not _POINTING.search(f"{one} {other}")
    shared = len(first & second)
    if not opposed and shared < 2 and first != second:
        return False
    return 2 * shared / (len(first) + len(second)) >= (_ALIKE if opposed and not han else _ALIKE_DENIED)


_WHICH = re.compile(
    r"\b(?:before|after|until|during|first|second|third|fourth|fifth|last|next|previous|former|latter|other|another|"
    r"left|right|upper|lower|front|rear|inner|outer|north\w*|south\w*|east\w*|west\w*|"
    r"morning|noon|afternoon|evening|night|\d+(?:st|nd|rd|th))\b"
    r"|\b(?:до|после|перед|перв\w{2,3}|втор(?:ой|ая|ое|ую|ого|ому|ом|ые|ых)|трет(?:ий|ья|ье|ью|ьего)|четв[её]рт\w{2,3}|последн\w{2,3}|следующ\w{2,3}|друг(?:ой|ая|ое|ую|ого)|"
    r"лев\w{2,3}|прав(?:ый|ая|ое|ую|ого|ой|ом)|верхн\w{2,3}|нижн\w{2,3}|передн\w{2,3}|задн\w{2,3}|прошл\w{2,3}|утром|дн[её]м|вечером|ночью)\b"
    rf"|[{HAN_NUMERALS}]+号|第.|[左右东西南北](?=[边侧面门手])|上次|下次|另|之前|之后|以前|以后|早上|上午|中午|下午|晚上|[前后](?=[，,])",
    re.IGNORECASE,
)
_OWN_NUMBER = re.compile(r"(?<![0-9A-Za-zА-Яа-яЁё])[0-9A-Za-zА-Яа-яЁё]*\d[0-9A-Za-zА-Яа-яЁё]*(?:[./:][0-9]+)*")


@lru_cache(maxsize=50_000)
def _which(text: str) -> frozenset[str]:
    """The words that tell one of several from the others: "first", "after", «второй», 下午."""
    return frozenset(match.casefold() for match in _WHICH.findall(text))


def _is_one_thing(one: str, other: str) -> bool:
    """False where each of two clauses has numbers of its own: "sensor A1" and "sensor A2", 10:00 and 15:00."""
    mine, its = set(_OWN_NUMBER.findall(one)), set(_OWN_NUMBER.findall(other))
    return mine <= its or its <= mine


_NOT = re.compile(
    r"\b(?:not|no|never|cannot|nobody|nothing|none|\w+n['’]t|не|нет|никогда|никто|ничего|нельзя)\b|不|没|无|未|別|别",
    re.IGNORECASE,
)
_NO_DENIAL = re.compile(
    r"\bno[tn]? (?:only|just|merely|least|longer|doubt|problem|more|less|yet|later|sooner|matter)\b|\bnone other\b|\bnothing but\b"
    r"|\bне (?:только|просто|менее|более|раз)\b|不仅|不但|不只|不过|不错|不久|没事|没关系|无论|不断|不同|不一定|差不多|不得不|无线|未来|特别|区别",
    re.IGNORECASE,
)


_EMPTY = frozenset(("definit", "realli", "absolut", "total", "exact", "yeah", "okay", "конечн", "точн"))


def _is_denied(one: str, other: str, names: frozenset[str], least: int) -> bool:
    """True where two clauses of at least so many words are word for word the same, and one of them is denied."""
    if bool(_NOT.search(one)) == bool(_NOT.search(other)) or _NO_DENIAL.search(one) or _NO_DENIAL.search(other):
        return False
    if any(map(is_han, one)):
        mine, its = (_characters(_NOT.sub(" ", text), set()) for text in (one, other))
        return len(mine) > 1 and mine == its
    here, there = (
        set(marks.stems | {v for _, v in marks.values}) for marks in (_marks(one, names), _marks(other, names))
    )
    here, there = ({term for term in found if not _NOT.fullmatch(term)} for found in (here, there))
    return here == there and len(here - _EMPTY) >= least and not _POINTING.search(f"{one} {other}")


_TURNING = frozenset(("not", "no", "stop", "like", "dislike", "ask", "refuse"))
_FUNCTION = frozenset("的了很都也就还又太是")


def _characters(text: str, opposed: set[str]) -> set[str]:
    """What a Chinese clause speaks of, character by character: pairs that span two words would be noise."""
    lists, found, at = shipped().characters, set[str](), 0
    while at < len(text):
        size = next((n for n in range(min(6, len(text) - at), 0, -1) if text[at : at + n] in lists), 0)
        roles = lists.get(text[at : at + size], [])
        if not any(role.section in _TURNING or role.name in opposed for role in roles):
            found.update(text[at : at + max(size, 1)])
        at += max(size, 1)
    return {char for char in found if char.isalnum()} - _FUNCTION


# -- numbers ----------------------------------------------------------------------------------------------------------

# What has one amount at a time says so with the verb right before it. What was done has as many as times it was done.
_HAVING = (
    r"is|are|isn['’]t|has|have|weighs?|costs?|holds?|contains?|measures?|seats|sleeps|fits|includes?|comprises?|spans?|lasts?|"
    r"(?:there|it)['’]s|весит|весят|стоит|стоят|имеет|имеют|содержит|содержат|вмещает|вмещают|насчитывает|составляет|занимает|длится|"
    r"есть|равен|равна|равно|равны"
)
_ABOUT = r"about|around|exactly|only|just|now|still|roughly|some|over|under|около|ровно|всего|только|примерно|сейчас"
_MEASURE = (
    "площадь|вес|масса|длина|ширина|высота|глубина|рост|цена|стоимость|возраст|температура|объ[её]м|размер|количество|"
    "число|скорость|мощность|[её]мкость|вместимость"
)
_HAN_HAVING = "(?:有|是|为|重|长|高|宽|深|能坐|可坐|坐得下|容纳|含|值|卖|价格?|重量|长度|高度|宽度|面积|体积|年龄)(?:大?约|共|只|才|仅)?"
_FRAME = (
    rf"(?:\b(?:{_HAVING})(?:\s(?:{_ABOUT}))?\s|\b(?:{_MEASURE})(?:\s[^\W\d]+){{0,2}}\s|^(?:во?|у)\s[^\W\d]+\s"
    rf"|{_HAN_HAVING}\s?)[$€£¥₽]?$"
)
_NO_UNIT = (  # what follows a time, a rank, a name or a number that stands alone
    r"(?:is|are|was|were|of|to|in|at|on|by|for|from|and|or|than|out|off|up|down|now|today|left|late|early|ahead|behind|ago|away|"
    r"before|after|a\.?m|p\.?m|o|st|nd|rd|th|jan\w*|feb\w*|mar(?:ch)?|apr\w*|may|june?|july?|aug\w*|sept?\w*|oct\w*|nov\w*|dec\w*|"
    r"и|или|в|на|до|от|из|по|с|со|сейчас|сегодня|назад|января|февраля|марта|апреля|мая|июня|июля|августа|сентября|октября|ноября|декабря)\b"
    r"|(?:点|时|号|日|月|版|楼|岁?以|的)"
)
_MOVING = r"\s(?:late|early|ahead|behind|away|ago|left)\b"
_VERSIONS = re.compile(
    r"\b(?:versions?|releases?|builds?|revisions?|верси\w+|релиз\w*|сборк\w+)\b|版本?|第", re.IGNORECASE
)
_NUMERAL = re.compile(r"[A-Za-zА-Яа-яЁё]{2,}")
_SIGNS = "%°$€£¥₽"
_IDLE = frozenset(("a", "an", "the", *_ABOUT.split("|")))
_SAME = {"are": "is", "have": "has", "has": "has", "is": "is"}


@cache
def _numbers() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    """What is a number, what stands before one that is an amount, and its unit or what is counted."""
    han = f"(?:(?<![一-龥])[{HAN_NUMERALS}]+|[{HAN_NUMERALS}]+(?=[个只条张位名台间岁年月天小分公米千克元块]))"
    unit = rf"\s?(?:[%°][CF]?|(?!{_NO_UNIT})(?:[一-龥]{{1,4}}(?![一-龥])|[一-龥]{{1,2}}|(?![一-龥])[^\W\d_]{{1,20}}(?![^\W\d_])(?:/[^\W\d_]{{1,6}}(?![^\W\d_]))?))(?!{_MOVING})"
    flags = re.IGNORECASE
    return re.compile(rf"\d+(?:[.,:]\d+)*|{han}"), re.compile(_FRAME, flags), re.compile(unit, flags)


def _other_number(one: str, other: str) -> str | None:
    """ "12 people against 8 people" where two clauses are word for word the same but for one amount; else None."""
    for mine, its in product(_clauses(one), _clauses(other)):
        if is_past(mine) or is_past(its) or _VERSIONS.search(mine):
            continue
        text, said = _NUMERAL.sub(_digits, mine), _NUMERAL.sub(_digits, its)
        number = _numbers()[0]
        places, others = list(number.finditer(text)), list(number.finditer(said))
        if not places or len(places) != len(others) or _worded(text) != _worded(said):
            continue
        apart = [(a, b) for a, b in zip(places, others, strict=True) if a[0] != b[0]]
        if len(apart) == 1:
            amounts = _amount(text, apart[0][0]), _amount(said, apart[0][1])
            if amounts[0] and amounts[1]:
                return f"{amounts[0]} against {amounts[1]}"
    return None


def _worded(text: str) -> list[str]:
    """Every word but the numbers, small ones too: "before" and "after", «до» and «после», 上午 and 下午 tell two things apart."""
    found = tokens(_numbers()[0].sub(" 0 ", text))
    return [
        _SAME.get(token.word, token.stem)
        for token in found
        if token.word not in _IDLE and (token.kind != "p" or token.raw in _SIGNS)
    ]


def _amount(text: str, match: re.Match[str]) -> str | None:
    """ "12 people" for a number that says how much there is of something; None for a time, a version, part of a name."""
    _, frame, unit = _numbers()
    before, after = text[: match.start()], unit.match(text, match.end())
    priced = before[-1:] in tuple(_SIGNS[2:])
    if ":" in match[0] or match[0].count(".") > 1 or not frame.search(before) or not (after or priced):
        return None
    return (before[-1] if priced else "") + match[0] + (after[0].rstrip("的了") if after else "")


def _digits(match: re.Match[str]) -> str:
    """A number that is written out, in digits («восемь»: 8); other words as they are."""
    value = next((role.side for role in roles_of(match[0].casefold()) if role.section == "numbers"), None)
    return f"{value:g}" if value is not None else match[0]
