"""One sentence of a person -> what it states that should be kept, if anything, and why. The rules that need no earlier turn.

Precision first: what may be a question, a wish, a request about the reply, somebody else's words or a passing mood is left
out before any rule looks at it. A standing rule ("always …") and "remember …" are looked for earlier, since they are
spoken as requests.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..facts import Kind
from .patterns import rx, starts
from .sentences import Sentence

__all__ = ["Found", "judged", "opened", "own_part"]

_CLAUSE = {"en": 9, "ru": 9, "zh": 5}
_MINIMUM = {"en": 8, "ru": 7, "zh": 4}  # characters that a statement needs


@dataclass(frozen=True, slots=True)
class Found:
    """A statement to keep: `said` is the part of the sentence that states it."""

    rule: str
    kind: Kind
    said: str
    reason: str
    importance: float
    confidence: float | None = None


def own_part(sentence: Sentence) -> Sentence:
    """The sentence without what leads into it ("ok, by the way, …") and without a question or request behind it."""
    said, plain, language = sentence
    for _ in range(5):
        lead = starts(language, "filler_start").match(plain)
        if not lead or not 0 < lead.end() < len(plain):
            break
        said, plain = said[lead.end() :], plain[lead.end() :]
    tail = next((m for m in rx(language, "clause_end").finditer(plain) if m.start() >= _MINIMUM[language]), None)
    if tail:
        said, plain = said[: tail.start()], plain[: tail.start()]
    return Sentence(said, plain, language)


def opened(sentence: Sentence, name: str) -> re.Match[str] | None:
    """The match of a pattern at the beginning of a sentence."""
    return starts(sentence.language, name).match(sentence.plain)


def judged(whole: Sentence) -> Found | None:
    """What a sentence of the user states by itself, or None."""
    kept = remembered(whole)
    if kept:
        return kept
    part = own_part(whole)
    plain, language = part.plain, part.language
    if len(plain.strip()) < _MINIMUM[language] or _holds(part, "remember_bare"):
        return None
    rule = None if _holds(part, "question") else _standing(part)
    if rule or opened(part, "hypothetical_start"):
        return rule
    return _stated(part) or _in_clause(part)


def _stated(part: Sentence, strict: bool = False) -> Found | None:
    """What a statement states; `strict` for a clause of a sentence that is none, where only a sure sign counts."""
    if _holds(part, "question"):
        return None
    rule = _standing(part)
    if rule:
        return rule
    if _holds(part, "hypothetical") or _is_reported(part):
        return None
    if opened(part, "request_start") or _holds(part, "local"):
        return _decision(part) if _holds(part, "decision") and not _holds(part, "local") else None
    return _decision(part) or _preference(part) or _fact(part, strict)


def _in_clause(part: Sentence) -> Found | None:
    """The first clause of a question or a request that states something: "I'm allergic to nuts, can I eat this?"."""
    gated = _holds(part, "question") or _holds(part, "hypothetical") or opened(part, "request_start")
    if not gated or _is_reported(part):
        return None
    begin = 0
    ends = [*((m.start(), m.end()) for m in rx(part.language, "clause").finditer(part.plain)), (len(part.plain),) * 2]
    for end, after in ends[:12]:
        clause = Sentence(part.said[begin:end], part.plain[begin:end], part.language)
        begin = after
        if (
            len(clause.plain) < _CLAUSE[part.language]
            or opened(clause, "depends_start")
            or opened(clause, "hypothetical_start")
        ):
            continue
        found = _stated(clause, strict=True)
        if found:
            return found
    return None


def _holds(sentence: Sentence, name: str) -> bool:
    return bool(rx(sentence.language, name).search(sentence.plain))


def _is_mood(part: Sentence) -> bool:
    """Small talk or how somebody feels now: at the beginning, or as half of what is said."""
    match = rx(part.language, "mood").search(part.plain)
    return bool(match) and (match.start() < 3 or len(part.plain) - match.start() > 0.5 * len(part.plain))  # type: ignore[union-attr]


def _is_reported(part: Sentence) -> bool:
    """Somebody else's words. What a doctor or a landlord says is kept, with the speaker's name in it."""
    return _holds(part, "reported") and not _holds(part, "authority")


# -- remember ---------------------------------------------------------------------------------------------------------


def remembered(whole: Sentence) -> Found | None:
    """What follows "remember that", or stands before ", please remember"."""
    said, plain, language = whole
    for _ in range(4):
        lead = starts(language, "filler_start").match(plain)
        if not lead or not 0 < lead.end() < len(plain) or starts(language, "remember_start").match(plain):
            break
        said, plain = said[lead.end() :], plain[lead.end() :]
    if rx(language, "remember_not").search(plain) or rx(language, "remember_bare").search(plain):
        return None
    lead = starts(language, "remember_start").match(plain)
    tail = rx(language, "remember_end").search(plain)
    rest = said[lead.end() :] if lead else said[: tail.start()] if tail and tail.start() else ""
    rest = rest.strip(" ,:：，—–-")
    if len(rest) < _MINIMUM[language] or (lead and plain.rstrip().endswith(("?", "？")) and not lead[0].strip()):
        return None
    mark = plain[: lead.end()].strip() if lead else plain[tail.start() :].strip(" ,，") if tail else ""
    return Found("remember", Kind.WORLD, rest, f"said to be remembered: {mark!r}", 0.9)


# -- decisions and preferences ----------------------------------------------------------------------------------------


def _decision(part: Sentence) -> Found | None:
    match = rx(part.language, "decision").search(part.plain)
    if not match or _holds(part, "decision_not") or _is_mood(part):
        return None
    return Found("decision", Kind.EXPERIENCE, part.said, f"a decision: {match[0]!r}", 0.7)


def _standing(part: Sentence) -> Found | None:
    """A rule for all times: "always …", "from now on …", "don't ever …"; spoken to the assistant."""
    lead = opened(part, "rule_start")
    mark = rx(part.language, "rule_mark").search(part.plain)
    if not (lead or (mark and (opened(part, "request_start") or opened(part, "rule_need")))):
        return None
    if not _holds(part, "rule_need") or _holds(part, "rule_not"):
        return None
    told = (lead or mark)[0].strip() if (lead or mark) else ""  # type: ignore[index]
    return Found("preference", Kind.OPINION, part.said, f"a standing rule: {told!r}", 0.8, 0.9)


def _preference(part: Sentence) -> Found | None:
    match = rx(part.language, "preference").search(part.plain)
    if not match or _holds(part, "preference_not") or _holds(part, "anaphor_object"):
        return None
    sure = 0.5 if _holds(part, "hedge") else 0.8
    return Found("preference", Kind.OPINION, part.said, f"a preference: {match[0]!r}", 0.6, sure)


# -- facts ------------------------------------------------------------------------------------------------------------

_FACTS = ("person", "name_start", "fact_self", "fact_mine", "fact_the", "fact_any")


def _fact(whole: Sentence, strict: bool = False) -> Found | None:
    part = _unhedged(whole)
    if _holds(part, "mine_not") or _is_mood(part):
        return None
    name = next((name for name in _FACTS if _stands(part, name)), "")
    if not name:
        return None
    sure = name == "person" or _holds(part, "fact_sure")
    if not (sure or is_specific(part)) or (strict and not sure):
        return None
    if name in ("fact_any", "fact_self", "fact_mine") and _holds(part, "passing") and not _holds(part, "event"):
        return None
    if _holds(part, "trouble") and not (sure and is_specific(part)):
        return None
    hedged = _holds(whole, "hedge")
    if hedged and name == "fact_any" and not sure and whole is part:
        return None
    if name == "fact_any" and _holds(part, "passing"):
        return None
    kind = Kind.OPINION if hedged else Kind.EXPERIENCE if _holds(part, "event") else Kind.WORLD
    rule = "person" if name == "person" else "project" if _holds(part, "project") else "fact"
    match = (starts if name == "name_start" else rx)(part.language, name).search(part.plain)
    told = match[0].strip()[:60] if match else ""
    reason = f"{'said with a doubt' if hedged else 'stated'} about {_ABOUT[rule]}: {told!r}"
    return Found(rule, kind, whole.said, reason, 0.5 if hedged else 0.6, 0.5 if hedged else None)


def _unhedged(part: Sentence) -> Sentence:
    """The sentence without "I think that" before it."""
    lead = opened(part, "hedge_start")
    return Sentence(part.said[lead.end() :], part.plain[lead.end() :], part.language) if lead else part


_ABOUT = {"person": "a person", "project": "a project", "fact": "what lasts"}


def _stands(part: Sentence, name: str) -> bool:
    return bool(opened(part, name)) if name == "name_start" else _holds(part, name)


def is_specific(part: Sentence) -> bool:
    """A number, a name, or a word that says more than "it" and "thing"."""
    body = part.plain.strip()
    if any(map(str.isdigit, body)) or _holds(part, "specific_word"):
        return True
    inner = re.sub(r"^\W*\w+", "", body)
    if part.language == "zh":
        return bool(re.search(r"[A-Za-z]{2,}|[“「《]", body))
    return bool(re.search(r"(?<![.!?:]\s)\b(?!I\b|I')[A-ZА-ЯЁ]\w*|[«\"“`]|\w[/_]\w", inner))
