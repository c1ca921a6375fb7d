"""One sentence of a person -> what it states that should be kept, if anything, and why. No earlier turn is needed here.

A sentence is looked at clause by clause: what asks, requests, wishes or doubts is cut off, and what is left must say
something by itself, about the one who speaks, somebody or something by name. Whether it is written or asked about is
for `judgement.RULES` to say: each rule stands there twice, for what is exact and, with ", thin", for what is not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from functools import lru_cache
from itertools import groupby
from typing import NamedTuple

from ..facts import Kind
from ..language.dates import find_times
from .sentences import Sentence, any_language

_MINIMUM = {"zh": 5}  # characters that a statement needs; 9 in other languages
_FEWEST = 2  # terms that it needs
_AIM = 3  # ways in which what somebody is at must be exact
_DECIDED = 5  # terms that a decision needs to say what was decided
_TELLING = 5  # terms from which an inexact statement is worth a question
ROOMY = 6  # terms from which a statement counts as exact in one more way
_CLOSED = re.compile(
    r"\"[^\"\n]*\"|“[^”\n]*”|«[^»\n]*»|「[^」\n]*」|\([^()\n]*\)|（[^（）\n]*）|`[^`\n]*`"
)  # nothing ends in there
_ANY_DAY = date(2024, 5, 15)  # whether a time is named does not depend on the day


_Clause = tuple[Sentence, int, int]  # with where it begins and ends
_LEAST = {"goal": _AIM, "mine": 2, "preference": 0, "decision": 0, "standing": 0}
"""How exact a statement must be by a rule to be worth a question; 1 for other rules."""


class FoundStatement(NamedTuple):
    """A statement to keep: `said` is the part of the sentence that states it, `rule` and `reason` by what it was found.

    `outcome` and `task` are of an attempt. `told` is told instead of `said` where only earlier turns say what is meant.
    `corrects` is the text that it takes the place of, where that is known; else `instead` may be the old and the new value.
    """

    rule: str
    kind: Kind
    said: str
    reason: str
    importance: float
    confidence: float | None = None
    outcome: str | None = None
    task: str | None = None
    told: str | None = None
    corrects: str | None = None
    instead: tuple[str, str] | None = None


class _KeepAs(NamedTuple):
    kind: Kind
    importance: float
    reason: str
    confidence: float | None = None


_RULES = {
    "decision": _KeepAs(Kind.EXPERIENCE, 0.75, "a decision"),
    "preference": _KeepAs(Kind.OPINION, 0.65, "a preference", 0.8),
    "person": _KeepAs(Kind.WORLD, 0.6, "about a person"),
    "named_person": _KeepAs(Kind.WORLD, 0.6, "about a person"),
    "plan": _KeepAs(Kind.WORLD, 0.55, "a plan"),
    "state": _KeepAs(Kind.WORLD, 0.55, "what is so"),
    "did": _KeepAs(Kind.EXPERIENCE, 0.45, "what somebody did"),
    "mine": _KeepAs(Kind.WORLD, 0.5, "what is so"),
    "thing": _KeepAs(Kind.WORLD, 0.5, "what is so"),
    "goal": _KeepAs(Kind.WORLD, 0.4, "what somebody is at"),
}
"""The rules in the order in which they are tried; each is a pattern of the same name."""


def own_part(sentence: Sentence) -> Sentence:
    """The sentence without what leads into it: "ok, by the way, …"."""
    return sentence.without_leads("lead")


def standing_rule(whole: Sentence) -> FoundStatement | None:
    """A rule for all times, spoken to the assistant: "always …", "from now on …"."""
    part = own_part(whole)
    sign = None if part.is_question or part.has("standing_not") else part.opens("standing")
    if not sign or len(part.words) < 2:
        return None
    return FoundStatement("standing", Kind.OPINION, part.said, f"a standing rule: {sign[0].strip()!r}", 0.8, 0.9)


def remembered(whole: Sentence) -> FoundStatement | None:
    """What follows "remember that", or stands before ", please remember"."""
    part = whole
    while not part.opens("remember") and (rest := part.without_leads("lead", most=1)) is not part:
        part = rest
    lead, tail = part.opens("remember"), part.has("remember_end")
    if part.has("remember_not") or part.has("remember_bare"):
        return None
    if lead:
        rest_of, mark = part.said[lead.end() :], lead[0]
    elif tail:
        rest_of, mark = part.said[: tail.start()], tail[0]
    else:
        return None
    rest_of = rest_of.strip(" ,:：，—–-")
    if len(rest_of) < 4 or part.is_question:
        return None
    return FoundStatement("remember", Kind.WORLD, rest_of, f"said to be remembered: {mark.strip(' ,，')!r}", 0.9)


def statement(whole: Sentence) -> FoundStatement | None:
    """What a sentence states by itself, by the first rule that its clauses fit; said with a doubt it is an opinion."""
    part = own_part(whole)
    doubt = part.opens("hedge")
    if not doubt:
        return _stated(part)
    found = _stated(part.cut(doubt.end()))
    if not found:
        return None
    reason = f"said with a doubt, {found.reason}"
    return found._replace(rule="doubted", kind=Kind.OPINION, said=part.said, reason=reason, confidence=0.5)


def _stated(sentence: Sentence) -> FoundStatement | None:
    parts = list(stated_parts(sentence))
    for part in parts:
        exact = exactness(part)
        told = max(exact, int(len(part.words) >= _TELLING))
        for rule, kept in _RULES.items():
            sign = part.has(rule) if told >= _LEAST.get(rule, 1) and not part.has(f"{rule}_not") else None
            if sign:
                sure = exact >= 2 and (rule != "decision" or len(set(part.words)) >= _DECIDED)
                name = rule if sure else f"{rule}, thin"
                importance = kept.importance if sure else round(kept.importance - 0.15, 2)
                reason = f"{kept.reason}: {sign[0].strip()[:60]!r}"
                return FoundStatement(name, kept.kind, part.said.strip(), reason, importance, kept.confidence)
    exact_one = next((part for part in parts if exactness(part) >= 2 and not part.has("praise")), None)
    if exact_one is None:
        return None
    return FoundStatement("exact", Kind.WORLD, exact_one.said.strip(), "an exact statement", 0.35)


def stated_parts(whole: Sentence) -> Iterator[Sentence]:
    """The runs of clauses that state something and can be read alone, without a question or a doubt around them."""
    part = own_part(whole)
    if part.opens("condition"):
        return
    for good, run in groupby(_clauses(part), key=_is_statement):
        whole_run = list(run) if good else []
        found = _readable(part, _trimmed(whole_run))
        if found is None and any(exactness(clause[0]) > _AIM for clause in whole_run):
            found = _readable(part, whole_run)
        if found:
            yield found


def _readable(part: Sentence, clauses: list[_Clause]) -> Sentence | None:
    """Some clauses of a sentence as one, where they can be read alone."""
    found = part.cut(clauses[0][1], clauses[-1][2]).without_leads("lead") if clauses else None
    return found if found and _stands_alone(found, clauses[0][0]) else None


def _clauses(part: Sentence) -> Iterator[_Clause]:
    begin = 0
    closed = [found.span() for found in _CLOSED.finditer(part.plain)]
    for mark in part.all("bridge"):
        if mark.start() > begin and not any(first < mark.start() < last for first, last in closed):
            yield part.cut(begin, mark.start()), begin, mark.start()
            begin = mark.end()
    yield part.cut(begin), begin, len(part.plain)


def _is_statement(clause: _Clause) -> bool:
    said = clause[0]
    if said.is_question or any(map(said.has, ("unsure", "you", "reported"))):
        return False
    return bool(said.has("decision")) or not said.opens("ask")


def _trimmed(run: list[_Clause]) -> list[_Clause]:
    """A run of clauses without those at its ends that say nothing."""
    first, last = 0, len(run)
    while first < last and _says_nothing(run[first], len(run)):
        first += 1
    while first < last and not exactness(run[last - 1][0]) and _says_nothing(run[last - 1], len(run)):
        last -= 1
    return run[first:last]


def _says_nothing(clause: _Clause, beside: int) -> bool:
    """True at the ends of a run for what passes, and, beside something else, for what somebody is only at."""
    return bool(clause[0].has("passing") or (beside > 1 and clause[0].has("goal") and exactness(clause[0]) < _AIM))


def _stands_alone(part: Sentence, first: Sentence) -> bool:
    """False for what is too short to say something, and for what points at something outside of itself."""
    if len(part.plain.strip()) < _MINIMUM.get(part.language, 9) or len(part.words) < _FEWEST:
        return False
    return not (part.has("dangling_start") or part.has("dangling") or _opening(own_part(first)).has("dangling_it"))


def _opening(clause: Sentence) -> Sentence:
    """A clause up to where something was named that a pronoun may stand for."""
    least = _MINIMUM.get(clause.language, 9)
    mark = next((found for found in clause.all("joint") if found.start() >= least), None)
    return clause.cut(0, mark.start()) if mark else clause


@lru_cache(maxsize=64)
def exactness(part: Sentence) -> int:
    """In how many ways a statement is exact: a time, a number, a name, a relative, length."""
    plain = part.plain.strip()
    inner = re.sub(r"^\W*\w+", "", plain)
    ways = (
        bool(find_times(plain, _ANY_DAY)) or any_language("value_day").search(plain),
        any(map(str.isdigit, plain)),
        re.search(r"(?<![.!?:]\s)\b(?!I\b|I')[A-ZА-ЯЁ]\w+|[«“「《]|[\u4e00-\u9fff]\s?[A-Za-z]{2}", inner),
        part.has("relative"),
        part.has("lasting"),
        len(part.words) >= ROOMY,
    )
    return sum(map(bool, ways))
