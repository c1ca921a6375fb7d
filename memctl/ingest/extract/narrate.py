"""Sentences as a log tells them: the first person becomes the speaker, and "yesterday" a date, all else stays as it was said."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, timedelta
from functools import cache

from ...facts import Period
from ...language.dates import find_times
from .words import rx

__all__ = ["dated", "narrated", "with_capital"]

_SPEAKERS = {
    "user": {"en": "the user", "ru": "пользователь", "zh": "用户"},
    "assistant": {"en": "the assistant", "ru": "ассистент", "zh": "助手"},
}


def narrated(text: str, language: str, owner: str | None = None, role: str = "user") -> str:
    """`text` with I, me and my as `owner` (a name), or as "the user", «пользователь», 用户; "we" stays.

    In Russian, where a verb or a name would have to be inflected in a way that is not known, the speaker stands in front
    of the words as they were said: «Мира: мне больше нравится чай».
    """
    who = owner if owner and role == "user" else _SPEAKERS[role][language]
    told = {"en": _english, "ru": _russian, "zh": _chinese}[language](text.strip(), who)
    return with_capital(told)


def with_capital(text: str) -> str:
    """`text` with a capital first letter, unless it begins with code or a name that has its own spelling."""
    first = re.match(r"[^\W\d_]+", text)
    if not first or not first[0].islower() or text[first.end() : first.end() + 1] in ("/", "_", ".", "(", "="):
        return text
    return text[0].upper() + text[1:]


# -- English ----------------------------------------------------------------------------------------------------------

_SAME_LIST = """
was had did went got took made came saw said knew thought found left lost kept met sold told began ran wrote read bought brought built chose drove
fell felt flew forgot gave grew heard held hurt led let paid put quit rode sang sat sent set slept spent spoke stood taught tore threw understood wore
won could can will would should must may might shall cannot can't couldn't won't wouldn't shouldn't mustn't broke became caught cut dealt drank drew
ate fought froze hid hit knit laid lent lit meant rang rose sank shook shot shut stole struck stuck swam swept swore woke wasn't weren't didn't hadn't
were ought used need
"""
_SAME = frozenset(_SAME_LIST.split())
_IRREGULAR = {
    "am": "is",
    "have": "has",
    "do": "does",
    "don't": "doesn't",
    "haven't": "hasn't",
    "are": "is",
    "aren't": "isn't",
}
_SHORT = {"'m": " is", "'ve": " has", "'ll": " will", "'d": " would", "": ""}


def _third(verb: str) -> str:
    """The third person of a verb in the present; a past form stays."""
    low = verb.casefold()
    if low in _IRREGULAR:
        return _IRREGULAR[low]
    if low in _SAME or low.endswith(("ed", "n't", "'s", "ing")) or not low.isalpha():
        return verb
    if re.search(r"(?:[sxz]|ch|sh|[^aeiou]o)$", low):
        return verb + "es"
    return verb[:-1] + "ies" if re.search(r"[^aeiou]y$", low) else verb + "s"


@cache
def _first_person() -> re.Pattern[str]:
    adverb = rx("en", "adverb").pattern
    return re.compile(
        rf"(?<![\w./'’-])[Ii](?P<short>['’](?:m|ve|ll|d))?(?![\w./'’-])(?P<adverbs>(?:\s+(?!do\b){adverb}\b)*)(?:(?P<space>\s+)(?P<verb>[A-Za-z'’]+))?"
    )


_JOINED = r"\b(?P<and>and|but|or|then)(?P<also> (?:also|now|usually|always|never))? (?P<verb>work|live|study|use|have|prefer|like|love|hate|drive|run|own|teach|speak|play|need|want|keep|go|take|do|am|don't|eat|drink|wear|manage|lead|build|write|commute|rent)\b"


def _english(text: str, who: str) -> str:
    acted = False

    def told(match: re.Match[str]) -> str:
        nonlocal acted
        acted = True
        short = (match["short"] or "").replace("’", "'")
        verb = (match["verb"] or "").replace("’", "'")
        if short == "'d" and verb in ("better", "been", "had", "already"):
            short = "had"
            return f"{who} had{match['adverbs']}{match['space'] or ''}{verb}"
        if not short and verb:
            verb = _third(verb)
        return f"{who}{_SHORT[short]}{match['adverbs']}{match['space'] or ''}{verb}"

    text = _first_person().sub(told, text)
    if acted:
        text = re.sub(
            _JOINED, lambda m: f"{m['and']}{m['also'] or ''} {_third(m['verb'])}", text, flags=re.IGNORECASE, count=2
        )
    possessive = f"{who}'s"
    text = re.sub(r"(?<![\w'’-])(?:my|mine)(?![\w'’-])", possessive, text, flags=re.IGNORECASE)
    return re.sub(r"(?<![\w'’-])(?:me|myself)(?![\w'’-])", who, text, flags=re.IGNORECASE)


# -- Russian ----------------------------------------------------------------------------------------------------------

_VERB_LIST = """
: живу:живёт пью:пьёт люблю:любит хожу:ходит езжу:ездит вожу:водит учу:учит учусь:учится хочу:хочет могу:может пишу:пишет сижу:сидит держу:держит
ношу:носит веду:ведёт беру:берёт сплю:спит ем:ест пеку:печёт иду:идёт еду:едет лечу:летит ненавижу:ненавидит вижу:видит встаю:встаёт терплю:терпит
прошу:просит снимаю:снимает готовлюсь:готовится готовлю:готовит лечусь:лечится коплю:копит строю:строит варю:варит переезжаю:переезжает
работаю:работает предпочитаю:предпочитает стараюсь:старается занимаюсь:занимается боюсь:боится кормлю:кормит ложусь:ложится плачу:платит курю:курит
говорю:говорит ищу:ищет выхожу:выходит прихожу:приходит нахожусь:находится отвечаю:отвечает являюсь:является пользуюсь:пользуется хожу:ходит
бегу:бежит смотрю:смотрит верю:верит считаю:считает перехожу:переходит уезжаю:уезжает улетаю:улетает прилетаю:прилетает вешу:весит ращу:растит
выращиваю:выращивает провожу:проводит защищаюсь:защищается сдаю:сдаёт даю:даёт преподаю:преподаёт выношу:выносит буду:будет пойду:пойдёт поеду:поедет
возьму:возьмёт куплю:купит сделаю:сделает перееду:переедет
"""
_VERBS = dict(pair.split(":") for pair in _VERB_LIST.split())
_CASES = {
    "пользователь": ("пользователь", "пользователя", "пользователю", "пользователем", "пользователе"),
    "ассистент": ("ассистент", "ассистента", "ассистенту", "ассистентом", "ассистенте"),
}
_OWN = r"(?P<own>мо(?:й|я|[её]|и|его|ей|ему|им|их|ими|ю|[её]м))"


def _russian(text: str, who: str) -> str:
    first = re.compile(
        r"(?<![\w-])(?:я|меня|мне|мной|мною|мо(?:й|я|[её]|и|его|ей|ему|им|их|ими|ю|[её]м))(?![\w-])", re.I
    )
    verbs = [match for match in re.finditer(r"[а-яё]+", text, re.I) if _first_singular(match[0])]
    if not first.search(text) and not verbs:
        return text
    forms = _CASES.get(who)
    if forms is None:
        return f"{who}: {text}"
    told = re.sub(r"[А-Яа-яЁё]+", lambda m: _conjugated(m[0]), text)
    spoken = re.search(r"(?<![\w-])я(?![\w-])", told, re.I)
    told = re.sub(r"(?<![\w-])я(?![\w-])", forms[0], told, count=1, flags=re.I)
    told = re.sub(r"(?<![\w-])я(?![\w-])\s*", "", told, flags=re.I)
    told = re.sub(
        rf"(?<![\w-]){_OWN} (?P<what>(?:[\w-]+(?:ый|ий|ая|яя|ой|ого|ую|ые|ие) )?[\w-]+)",
        rf"\g<what> {forms[1]}",
        told,
        flags=re.I,
    )
    told = re.sub(r"(?<![\w-])меня(?![\w-])", forms[1], told, flags=re.I)
    told = re.sub(r"(?<![\w-])мне(?![\w-])", forms[2], told, flags=re.I)
    told = re.sub(r"(?<![\w-])мно[йю](?![\w-])", forms[3], told, flags=re.I)
    named = re.search(r"(?<![\w-])меня(?![\w-])", text, re.I)  # «меня зовут Марат, живу в Казани» names its subject
    if verbs and not spoken and not named and forms[2] not in told and not re.search(rf"(?<![\w-]){forms[0]}", told):
        return f"{forms[0]} {told[0].lower() + told[1:]}"  # «Пью кофе» has its subject in the verb
    return told


_NO_VERB_LIST = """
такую какую любую другую новую старую первую вторую третью каждую самую мою свою твою вашу нашу статью семью скамью судью чью пятую шестую седьмую
десятую
"""
_NO_VERB = frozenset(_NO_VERB_LIST.split())


def _first_singular(word: str) -> bool:
    low = word.casefold()
    return low in _VERBS or (
        len(low) > 4
        and low.endswith(("аю", "яю", "аюсь", "яюсь", "ею", "ирую", "изую", "уюсь"))
        and low not in _NO_VERB
    )


def _conjugated(word: str) -> str:
    low = word.casefold()
    if not _first_singular(low):
        return word
    found = _VERBS.get(low)
    if found is None:
        stem, tail = (low[:-3], "ся") if low.endswith("юсь") else (low[:-1], "")
        found = stem + "ет" + tail
    return found.capitalize() if word[:1].isupper() else found


# -- Chinese ----------------------------------------------------------------------------------------------------------


def _chinese(text: str, who: str) -> str:
    kin = rx("zh", "kin").pattern
    text = re.sub(rf"(?<![\u4e00-\u9fff自])?我(?={kin})", f"{who}的", text)
    return re.sub(r"(?<!自)我(?!们|国|方)", who, text)


# -- dates ------------------------------------------------------------------------------------------------------------

_ABSOLUTE = re.compile(
    r"\d{4}|jan|feb|mar(?:ch)?\b|apr|\bmay\b|june?\b|july?\b|aug|sept?|\boct|\bnov|\bdec|январ|феврал|март|апрел|ма[йя]|июн|июл|август|сентябр|октябр|ноябр|декабр|月\s*\d|\d\s*月|[.]\d",
    re.IGNORECASE,
)


def dated(text: str, language: str, day: date | None) -> tuple[str, Period | None]:
    """`text` with relative days as dates, and the period it speaks of if it is the only one.

    "yesterday" becomes a date, "last week" keeps its words and gets its days in brackets; dates with a month stay.
    """
    if day is None or day.year < 2 or day.year > 9000:
        return text, None
    mentions = find_times(text, day)
    later = {(m.start, m.end): m.period for m in find_times(text, day + timedelta(days=37))}
    period: Period | None = None
    for mention in reversed(mentions):
        said = text[mention.start : mention.end]
        if _ABSOLUTE.search(said) or later.get((mention.start, mention.end)) == mention.period:
            continue
        period = mention.period
        text = (
            text[: mention.start]
            + _as_date(said, mention.period, text[: mention.start], language)
            + text[mention.end :]
        )
    return text, period if len(mentions) == 1 else None


def _as_date(said: str, period: Period, before: str, language: str) -> str:
    if period.first != period.last or period.first is None:
        return f"{said} ({period})"
    needs: Callable[[str], object] = re.compile(
        r"\b(?:on|by|until|till|since|from|before|after|for|to|of|is|was)\s*$", re.I
    ).search
    return str(period) if language != "en" or needs(before) else f"on {period}"
