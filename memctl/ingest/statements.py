"""One sentence of a person -> what it states that should be kept, if anything, and why. The rules that need no earlier turn.

Precision first: what may be a question, a wish, a request about the reply, somebody else's words or a passing mood is left
out before any rule looks at it. A standing rule ("always …") and "remember …" are looked for earlier, since they are
spoken as requests.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from ..facts import Kind
from .sentences import Sentence

_CLAUSE = {"zh": 5}  # characters that a clause of a longer sentence needs; 9 in other languages
_MINIMUM = {"en": 8, "ru": 7, "zh": 4}  # characters that a statement needs


class FoundStatement(NamedTuple):
    """A statement to keep: `said` is the part of the sentence that states it, `rule` and `reason` by what it was found.

    `outcome` and `task` are of an attempt. `told` is told instead of `said` where only earlier turns say what is meant.
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


def own_part(sentence: Sentence) -> Sentence:
    """The sentence without what leads into it ("ok, by the way, …") and without a question or request behind it."""
    part = sentence.without_leads("filler_start")
    tail = next((m for m in part.all("clause_end") if m.start() >= _MINIMUM[part.language]), None)
    return part.cut(0, tail.start()) if tail else part


def statement(whole: Sentence) -> FoundStatement | None:
    """What a sentence of the user states by itself, or None."""
    kept = _remembered(whole)
    if kept:
        return kept
    part = own_part(whole)
    if len(part.plain.strip()) < _MINIMUM[part.language] or part.has("remember_bare"):
        return None
    rule = None if part.has("question") else _standing_rule(part)
    if rule or part.opens("hypothetical_start"):
        return rule
    return _stated(part) or _in_clause(part)


def _stated(part: Sentence, strict: bool = False) -> FoundStatement | None:
    """What a statement states; `strict` for a clause of a sentence that is none, where only a sure sign counts."""
    if part.has("question"):
        return None
    rule = _standing_rule(part)
    if rule:
        return rule
    if part.has("hypothetical") or _is_reported(part):
        return None
    if part.has("local"):
        return None
    if part.opens("request_start"):
        return _decision(part)
    return _decision(part) or _preference(part) or _fact(part, strict)


def _in_clause(part: Sentence) -> FoundStatement | None:
    """The first clause of a question or a request that states something: "I'm allergic to nuts, can I eat this?"."""
    gated = part.has("question") or part.has("hypothetical") or part.opens("request_start")
    if not gated or _is_reported(part):
        return None
    begin = 0
    ends = [*((m.start(), m.end()) for m in part.all("clause")), (len(part.plain), len(part.plain))]
    for end, after in ends[:12]:
        clause = part.cut(begin, end)
        begin = after
        depends = clause.opens("depends_start") or clause.opens("hypothetical_start")
        if len(clause.plain) >= _CLAUSE.get(part.language, 9) and not depends:
            found = _stated(clause, strict=True)
            if found:
                return found
    return None


def _is_mood(part: Sentence) -> bool:
    """Small talk or how somebody feels now: at the beginning, or as half of what is said."""
    match = part.has("mood")
    return match is not None and (match.start() < 3 or len(part.plain) - match.start() > 0.5 * len(part.plain))


def _is_reported(part: Sentence) -> bool:
    """Somebody else's words. What a doctor or a landlord says is kept, with the speaker's name in it."""
    return bool(part.has("reported")) and not part.has("authority")


def _remembered(whole: Sentence) -> FoundStatement | None:
    """What follows "remember that", or stands before ", please remember"."""
    part = whole.without_leads("filler_start", most=4, unless="remember_start")
    if part.has("remember_not") or part.has("remember_bare"):
        return None
    lead, tail = part.opens("remember_start"), part.has("remember_end")
    if lead:
        rest, mark = part.said[lead.end() :], part.plain[: lead.end()].strip()
    elif tail:
        rest, mark = part.said[: tail.start()], part.plain[tail.start() :].strip(" ,，")
    else:
        return None
    rest = rest.strip(" ,:：，—–-")
    if len(rest) < _MINIMUM[part.language] or (lead and part.is_question and not lead[0].strip()):
        return None
    return FoundStatement("remember", Kind.WORLD, rest, f"said to be remembered: {mark!r}", 0.9)


def _decision(part: Sentence) -> FoundStatement | None:
    match = part.has("decision")
    if not match or part.has("decision_not") or _is_mood(part):
        return None
    return FoundStatement("decision", Kind.EXPERIENCE, part.said, f"a decision: {match[0]!r}", 0.7)


def _standing_rule(part: Sentence) -> FoundStatement | None:
    """A rule for all times: "always …", "from now on …", "don't ever …"; spoken to the assistant."""
    sign = part.opens("rule_start")
    if not sign and (part.opens("request_start") or part.opens("rule_need")):
        sign = part.has("rule_mark")
    if not sign or not part.has("rule_need") or part.has("rule_not"):
        return None
    return FoundStatement("preference", Kind.OPINION, part.said, f"a standing rule: {sign[0].strip()!r}", 0.8, 0.9)


def _preference(part: Sentence) -> FoundStatement | None:
    match = part.has("preference")
    if not match or part.has("preference_not") or part.has("anaphor_object"):
        return None
    sure = 0.5 if part.has("hedge") else 0.8
    return FoundStatement("preference", Kind.OPINION, part.said, f"a preference: {match[0]!r}", 0.6, sure)


# -- facts ------------------------------------------------------------------------------------------------------------

_FACTS = ("person", "name_start", "fact_self", "fact_mine", "fact_the", "fact_any")
_ABOUT = {"person": "a person", "project": "a project", "fact": "what lasts"}


def _fact(whole: Sentence, strict: bool) -> FoundStatement | None:
    """A fact about a person, a project or what lasts; said with a doubt it is an opinion."""
    part = whole.without_leads("hedge_start", most=1)  # "I think that"
    name, sign = _fact_sign(part)
    if not sign or part.has("mine_not") or _is_mood(part):
        return None
    sure = name == "person" or bool(part.has("fact_sure"))
    hedged = bool(whole.has("hedge"))
    doubtful = not sure and (strict or (hedged and name == "fact_any" and whole is part))
    if doubtful or not _is_worth_keeping(part, name, sure):
        return None
    rule = "person" if name == "person" else "project" if part.has("project") else "fact"
    reason = f"{'said with a doubt' if hedged else 'stated'} about {_ABOUT[rule]}: {sign[0].strip()[:60]!r}"
    if hedged:
        return FoundStatement(rule, Kind.OPINION, whole.said, reason, 0.5, 0.5)
    return FoundStatement(rule, Kind.EXPERIENCE if part.has("event") else Kind.WORLD, whole.said, reason, 0.6)


def _fact_sign(part: Sentence) -> tuple[str, re.Match[str] | None]:
    """The first pattern of a fact that a sentence holds, by name."""
    signs = ((name, part.opens(name) if name == "name_start" else part.has(name)) for name in _FACTS)
    return next(((name, sign) for name, sign in signs if sign), ("", None))


def _is_worth_keeping(part: Sentence, name: str, sure: bool) -> bool:
    """True for what is sure or specific, and neither a trouble of the moment nor a thing of today."""
    specific = _is_specific(part)
    if part.has("trouble"):
        return sure and specific and not _passes(part, name)
    return (sure or specific) and not _passes(part, name)


def _passes(part: Sentence, name: str) -> bool:
    """True for what holds today only. What somebody did stays, unless it is of nobody in particular."""
    lasts = name in ("person", "name_start", "fact_the") or (name != "fact_any" and part.has("event"))
    return not lasts and bool(part.has("passing"))


def _is_specific(part: Sentence) -> bool:
    """A number, a name, or a word that says more than "it" and "thing"."""
    body = part.plain.strip()
    if any(map(str.isdigit, body)) or part.has("specific_word"):
        return True
    inner = re.sub(r"^\W*\w+", "", body)
    if part.language == "zh":
        return bool(re.search(r"[A-Za-z]{2,}|[“「《]", body))
    return bool(re.search(r"(?<![.!?:]\s)\b(?!I\b|I')[A-ZА-ЯЁ]\w*|[«\"“`]|\w[/_]\w", inner))
