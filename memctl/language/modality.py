"""How a line is meant: as the correction of another one, or as a plan. English, Russian and Chinese."""

from __future__ import annotations

import re
from functools import cache

__all__ = ["is_change", "is_correction", "is_past", "is_plan"]

_CORRECTIONS = (
    r"\bactually\b|^\W*(?:correction|erratum|in fact|scratch that|my mistake)\b|\bi was (?:wrong|mistaken)\b|\bi misspoke\b"
    r"|\b(?:was|were) (?:wrong|mistaken|an error|a mistake|a typo|mistyped|swapped|misspelled)\b"
    r"|\bnot (?!only\b|just\b|merely\b)(?:\S+ ){1,6}?but (?!also\b)"
    r"|\bна самом деле\b|\bв действительности\b|\bвообще-то\b|^\W*(?:поправка|исправление|уточнение)\b|\bошиб(?:ся|лась|лись|очно)\b"
    r"|\bне (?!только\b|просто\b)[^,.;]{1,40}, а (?!также\b|еще\b|ещё\b)"
    r"|其实|实际上|事实上|^\W*(?:更正|纠正)|[搞写说记弄]错|不是[^，。；]{1,20}[，,]?而?是"
)
# A value that was true until now is no mistake.
_CHANGES = (
    r"\b(?:now|no longer|any ?more|moved|switched|changed|since|became|promoted|used to|until|from now on)\b"
    r"|\b(?:теперь|больше не|уже не|переехал\w*|перешел|перешёл|перешл\w+|сменил\w*|стал\w*|раньше|до сих пор|отныне)\b"
    r"|现在|如今|不再|搬|改为|改成|换成|升为|成为|以前|从前|之前|起"
)
_PLANS = (
    r"\b(?:is|are|was|were|has been) (?:now |still )?(?:planned|scheduled|due|booked|slated|expected|going to|meant to|supposed to|set (?:for|to))\b"
    r"|\b(?:plans?|intends?|hopes?|aims?|wants?|means) to\b|\b(?-i:will|shall)\b"
    r"|^will (?:not |probably |never )?(?!(?:\w+s|\w+ed|left|went|came|and|or|does|didn't)\b)[a-z]"
    r"|\bпланиру\w+|\bзапланирован\w*|\bсобира(?:ет|ют|ем)ся\b|\bнамерен\w*|\bназначен\w*|\bсостоится\b|\bбуд(?:ет|ут)\b|\bдолж(?:ен|на|но|ны)\b"
    r"|计划|打算|预定|安排在|将于|将在|将会|准备在|截止|预计|定于"
)

_NOUNS = "зеркал|начал|канал|журнал|сигнал|материал|отдел|портал|терминал|персонал|финал|генерал|филиал|метал|скал|одеял|идеал|квартал|капитал|подвал|вокзал|интервал|потенциал|сериал|предел|раздел"
_PAST = (
    r"\b(?:was|were|did|didn't|had|hadn't|wasn't|weren't|went|came|got|made|took|found|left|lost|saw|said|told|broke|froze|ran|fell)\b"
    r"|^(?!(?:\S+ ){0,2}(?:is|isn't|are|aren't|be|been|gets|has|hasn't|have|haven't|can|can't|cannot|may|must|not)\b)(?:\S+ ){0,2}?\w{2,}ed\b"
    rf"|\b(?!(?:{_NOUNS})[аоеуы]?м?\b)\w{{2,}}(?:ал|ял|ил|ел|ул|ыл|шел|шёл|шл)(?:а|о|и|ся|ась|ось|ись)?\b"
    r"|了(?!解)|过(?=[，。；]|$)|没能"
)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


def is_correction(text: str) -> bool:
    """True for a line that says of another that it was never true: "actually …", "not X but Y", «не X, а Y», 其实."""
    return bool(_compiled(_CORRECTIONS).search(text)) and not is_change(text)


def is_change(text: str) -> bool:
    """True for a line that says of itself that things are no longer as they were: "now", "moved", «теперь», 改为."""
    return bool(_compiled(_CHANGES).search(text))


def is_past(text: str) -> bool:
    """True for what happened at some time: another day may have seen the opposite."""
    return bool(_compiled(_PAST).search(text))


def is_plan(text: str) -> bool:
    """True for a line about what is to come: "is planned for", "will", «собирается», 计划. Its day ends it."""
    return bool(_compiled(_PLANS).search(text))
