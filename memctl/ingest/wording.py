"""How a sentence becomes the text of a fact: in the third person, with dates for "yesterday", and whom it is about."""

from __future__ import annotations

import re
from collections.abc import Collection
from datetime import date, timedelta
from functools import cache, partial

from ..facts import Period
from ..language.dates import find_times
from ..language.names import AT_NAME, WIKI_NAME, read_name, stem_key
from .sentences import any_language, each, lines, pairs, rx, vocabulary

_QUOTED = re.compile(
    r"“[^”\n]*”|«[^»\n]*»|「[^」\n]*」|『[^』\n]*』|(?<!\w)\"[^\"\n]*\"(?!\w)|`[^`\n]*`|(?<!\w)'[^'\n]{2,}'(?!\w)"
)
_SHORT = {"'m": " is", "'ve": " has", "'ll": " will", "'d": " would", "": ""}
_REGULAR = ("аю", "яю", "аюсь", "яюсь", "ею", "ирую", "изую", "уюсь")  # ends of regular verbs in the first person
_MOST_NAMES = 3


def narrated(text: str, language: str, owner: str | None = None, role: str = "user") -> str:
    """`text` with I, me and my as `owner` (a name), or as "the user", «пользователь», 用户; "we" stays.

    In Russian, where a verb or a name would have to be inflected in a way that is not known, the speaker stands in front
    of the words as they were said: «Мира: мне больше нравится чай».
    """
    text = text.strip()
    quoted: list[str] = []

    def kept(match: re.Match[str]) -> str:
        quoted.append(match[0])
        return f"\ue000{len(quoted) - 1}\ue001"

    told = _told_by(_QUOTED.sub(kept, text), language, owner, role)
    return _with_capital(re.sub("\ue000(\\d+)\ue001", lambda match: quoted[int(match[1])], told))


def _told_by(text: str, language: str, owner: str | None, role: str) -> str:
    forms = [owner] if owner and role == "user" else lines(language, "speaker")[role == "assistant"].split(", ")
    if language == "en":
        text = _english_verbs(text, forms[0])
    elif language == "ru":
        return _told_in_russian(text, forms)
    return _told_as(text, language, forms)


def _told_as(text: str, language: str, forms: list[str]) -> str:
    """`text` with the pronouns of the first person as the speaker, in the case in which they stand."""
    for pattern, told in pairs(language, "told_as"):
        text = re.sub(pattern, lambda match, told=told: match.expand(told).format(*forms), text, flags=re.IGNORECASE)  # type: ignore[misc]
    return text


def _with_capital(text: str) -> str:
    """`text` with a capital first letter, unless it begins with code or a name that has its own spelling."""
    first = re.match(r"[^\W\d_]+", text)
    if not first or not first[0].islower() or text[first.end() : first.end() + 1] in ("/", "_", ".", "(", "="):
        return text
    return text[0].upper() + text[1:]


def _english_verbs(text: str, who: str) -> str:
    """`text` with "I" and its verb in the third person, and the verbs that follow with "and"."""
    told, count = rx("en", "first_person").subn(partial(_with_verb, who), text)
    if not count:
        return text
    return rx("en", "joined_verb").sub(lambda m: f"{m['and']}{m['also'] or ''} {_third(m['verb'])}", told, count=2)


def _with_verb(who: str, match: re.Match[str]) -> str:
    if (match["verb"] or "").casefold() in ("and", "or") and not match["short"]:
        return match[0]  # a number: "Book I and II"
    short = (match["short"] or "").replace("’", "'").casefold()
    verb = (match["verb"] or "").replace("’", "'")
    helper = " had" if short == "'d" and verb in vocabulary("after_had") else _SHORT[short]
    return f"{who}{helper}{match['adverbs']}{match['space'] or ''}{verb if short else _third(verb)}"


def _third(verb: str) -> str:
    low = verb.casefold()
    irregular = dict(pairs("en", "third_person")).get(low)
    if irregular:
        return irregular
    stays = low in vocabulary("same_in_third_person") or low.endswith(("ed", "n't", "'s", "ing"))
    if stays or not low.isalpha():
        return verb
    if re.search(r"(?:[sxz]|ch|sh|[^aeiou]o)$", low):
        return verb + "es"
    return verb[:-1] + "ies" if re.search(r"[^aeiou]y$", low) else verb + "s"


def _told_in_russian(text: str, forms: list[str]) -> str:
    """`text` told of a speaker whose five cases are known; of another one with the name in front."""
    told = re.sub(r"[А-Яа-яЁё]+", lambda match: _conjugated(match[0]), text)
    has_verb = told != text
    if not has_verb and not rx("ru", "first_person").search(text):
        return text
    if len(forms) == 1:
        return f"{forms[0]}: {text}"
    i = rx("ru", "i")
    has_subject = i.search(told) or rx("ru", "subject_in_another_case").search(text)
    told = i.sub(forms[0], told, count=1)
    told = _told_as(re.sub(rf"{i.pattern}\s*", "", told, flags=re.IGNORECASE), "ru", forms)
    if not has_verb or has_subject or re.search(rf"(?<![\w-]){forms[0]}", told):
        return told
    return f"{forms[0]} {told[0].lower() + told[1:]}"  # «Пью кофе» has its subject in the verb


def _conjugated(word: str) -> str:
    """A verb in the first person singular in the third; any other word as it is."""
    low = word.casefold()
    found = _irregular().get(low)
    if found is None:
        if len(low) <= 4 or not low.endswith(_REGULAR) or low in vocabulary("not_verbs"):
            return word
        stem, tail = (low[:-3], "ся") if low.endswith("юсь") else (low[:-1], "")
        found = stem + "ет" + tail
    return found.capitalize() if word[:1].isupper() else found


@cache
def _irregular() -> dict[str, str]:
    return dict(pair.split(":") for pair in vocabulary("third_person_verbs"))


def dated(text: str, language: str, day: date | None) -> tuple[str, Period | None]:
    """`text` with relative days as dates, and the period it speaks of if it is the only one.

    "yesterday" becomes a date, "last week" keeps its words and gets its days in brackets; dates with a month stay.
    """
    if day is None or day.year < 2 or day.year > 9000:
        return text, None
    quoted = [match.span() for match in _QUOTED.finditer(text)]
    mentions = [m for m in find_times(text, day) if not any(start <= m.start < end for start, end in quoted)]
    later = {(m.start, m.end): m.period for m in find_times(text, day + timedelta(days=37))}
    period: Period | None = None
    for mention in reversed(mentions):
        before, said, after = text[: mention.start], text[mention.start : mention.end], text[mention.end :]
        absolute = any_language("absolute_date", r"\d{4}|[.]\d").search(said)
        if absolute or later.get((mention.start, mention.end)) == mention.period:
            continue
        period = mention.period
        text = before + _as_date(said, period, before, language) + after
    return _with_capital(text), period if len(mentions) == 1 else None


def _as_date(said: str, period: Period, before: str, language: str) -> str:
    if period.first != period.last or period.first is None:
        return f"{said} ({period})"
    return str(period) if language != "en" or rx("en", "before_date").search(before) else f"on {period}"


def names_in(plain: str, language: str, known: Collection[str] = ()) -> tuple[str, ...]:
    """The names that a sentence is about, in order, at most three; `known` were named before in the conversation.

    Only what stands where a name must stand counts: after "my sister", before "lives", after "called". A capital letter
    alone proves nothing, least of all at the beginning of a sentence.
    """
    marked = [read_name(match[0]) for match in re.finditer(rf"(?<![\w@./]){AT_NAME}|{WIKI_NAME}", plain)]
    found = [_name(match, language) for shape in each(language, "named") for match in shape.finditer(plain)]
    names = dict.fromkeys(filter(None, [*marked, *found, *_mentioned(plain, language, known)]))
    return tuple(names)[:_MOST_NAMES]


def _name(match: re.Match[str], language: str) -> str:
    """The name that a pattern found: its group `name`, or `word` where that is a first name; "" for other words."""
    groups = match.groupdict()
    name = _bare(groups.get("name") or groups["word"], language)
    surely = "word" not in groups or " " in name or not re.search("[а-яё]", name)
    return name if surely or rx(language, "first_name").fullmatch(name.replace("ё", "е")) else ""


def _bare(name: str, language: str) -> str:
    """A name without words around it that belong to no name."""
    common = vocabulary("not_names")
    if language == "zh":
        name = name.strip()
        return "" if name in common or name[:2] in common else name
    words = name.replace("’", "'").removesuffix("'s").split()
    while words and words[-1].casefold().removesuffix("'s") in common:
        words.pop()
    if not words or words[0].casefold().removesuffix("'s") in common or "'" in words[0] or len(words[0]) < 2:
        return ""
    return " ".join(words).removesuffix("'s").rstrip(".")


def _mentioned(plain: str, language: str, known: Collection[str]) -> list[str]:
    """Those of the known names that a sentence mentions, by their first word, in Russian in any case."""
    if language == "zh":
        return [name for name in known if name in plain]
    words = set(re.findall(r"[\w&.+-]*\w", plain))
    stems = {stem_key(word) for word in words if word[:1].isupper()} if language == "ru" else set()
    return [name for name in known if name.split()[0] in words or stem_key(name.split()[0]) in stems]


@cache
def _kinds() -> dict[str, re.Pattern[str]]:
    return {
        "date": any_language("value_date", r"\d{4}-\d\d-\d\d|\b\d{1,2}[./]\d{1,2}(?:[./]\d{2,4})?\b"),
        "day": any_language("value_day"),
        "time": any_language("value_time", r"\b\d{1,2}:\d\d\b"),
        "year": re.compile(r"(?<![\d.,-])(?:19|20)\d\d(?![\d.,]\d)"),
        "number": re.compile(r"[£$€¥]?\d+(?:[.,]\d+)*(?: ?%|[kKmM]\b)?"),
        "name": re.compile(
            r"(?<=[\w,] )[A-ZА-ЯЁ][\w.+-]*\w(?: [A-ZА-ЯЁ][\w.+-]*\w)*|(?<=[\u4e00-\u9fff])\s?[A-Za-z][\w.+-]+"
        ),
    }


def value_kinds(text: str) -> dict[str, str]:
    """The first value of each kind in a text, the most exact kind first: date, day, time, year, number, name."""
    return {kind: match[0].strip() for kind, shape in _kinds().items() if (match := shape.search(text))}
