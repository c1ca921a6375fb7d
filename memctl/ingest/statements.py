"""One sentence of a person -> what it states that should be kept, if anything, and why. No earlier turn is needed here.

A sentence is looked at clause by clause: what asks, requests, wishes or doubts is cut off, and what is left must say
something by itself, about the one who speaks, somebody or something by name. Whether it is written or asked about is
for `judgement.RULES` to say: each rule stands there twice, for what is exact and, with ", thin", for what is not.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from datetime import date, timedelta
from functools import cache, lru_cache, partial
from itertools import groupby
from typing import NamedTuple

from ..facts import Kind
from ..language.dates import find_times, only_begins
from ..language.names import AT_NAME, WIKI_NAME, as_listed, find_names, read_name
from ..language.relations import relation
from ..language.sentences import BRACKETED, quotations, says
from ..language.words import HAN_CHARS
from .own_words import ITEM_WITHIN, Sentence, any_language, each, number, pairs, phrases, rx, straight, vocabulary

_FEWEST = 2  # terms that it needs
_AIM = 3  # ways in which a goal must be exact
_DECIDED = 5  # words that a decision needs to say what was decided
_SAYING = 3  # terms that a statement needs which is exact in but one way
_TELLING = 4  # terms from which an inexact statement is worth a question
_ROOMY = 6  # terms from which a statement counts as exact in one more way
_CODE, _SINGLE = r"`[^`\n]*`", r"(?<!\w)'[^'\n]{2,}'(?!\w)"
_COMMA = re.compile(r"[,，](?!\d)\s*")
_ANY_DAY = date(2024, 5, 15)  # whether a time is named does not depend on the day
_Clause = tuple[Sentence, int, int]  # with where it begins and ends
_LEAST = {"goal": _AIM, "mine": 2, "preference": 0, "decision": 0, "standing": 0, "named_person": 0}
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
    "goal": _KeepAs(Kind.WORLD, 0.4, "what somebody wants to reach"),
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


def statement(sentence: Sentence, speaker: str | None = None) -> FoundStatement | None:
    """What a sentence states by itself, by the first rule that its clauses fit; nothing where it is said with a doubt."""
    own = own_part(sentence)
    if own.opens("hedge"):
        return None
    if not own.is_question and (slot := relation(own.said)) and not slot.wide:
        return FoundStatement("state", Kind.WORLD, own.said.strip(), f"the {slot.key} of whoever says it", 0.55)
    parts = list(stated_parts(sentence))
    for part in parts:
        exact = exactness(part)
        told = max(exact, int(len(part.words) >= _TELLING))
        for rule, kept in _RULES.items():
            sign = part.has(rule) if told >= _LEAST.get(rule, 1) and not part.has(f"{rule}_not") else None
            if sign:
                is_cut = part.has("fragment") or ITEM_WITHIN.search(part.plain) or _is_of_another(part.plain, speaker)
                whole = not is_cut and (rule != "decision" or part.size >= _DECIDED)
                sure = _LEAST.get(rule, 1) >= 2 or (exact >= 2 and whole)
                name = rule if sure else f"{rule}, thin"
                importance = kept.importance if sure else round(kept.importance - 0.15, 2)
                reason = f"{kept.reason}: {sign[0].strip()[:60]!r}"
                # What somebody never did is how things stand, and nothing that happened on that day.
                never = rule == "did" and rx(part.language, "never").search(sign[0])
                kind = Kind.WORLD if never else kept.kind
                return FoundStatement(name, kind, part.said.strip(), reason, importance, kept.confidence)
    least = 2 if sentence.is_question or sentence.opens("ask") else 1
    telling = (part for part in parts if len(part.words) >= _SAYING and not part.has("praise"))
    exact_one = next((part for part in telling if exactness(part) >= 2 or values(part) >= least), None)
    said = exact_one.said.strip() if exact_one else ""
    return FoundStatement("exact", Kind.WORLD, said, "an exact statement", 0.35) if said else None


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
    apart = [found.span() for found in quotations(BRACKETED, _CODE).finditer(part.plain)]
    marks = list(part.all("bridge"))
    if part.is_question or part.opens("ask"):
        marks = sorted([*marks, *_COMMA.finditer(part.plain)], key=lambda mark: (mark.start(), -mark.end()))
    for mark in marks:
        if mark.start() > begin and not any(first < mark.start() < last for first, last in apart):
            yield part.cut(begin, mark.start()), begin, mark.start()
            begin = mark.end()
    yield part.cut(begin), begin, len(part.plain)


def _is_statement(clause: _Clause) -> bool:
    said = clause[0]
    in_doubt = said.is_question or any(map(said.has, ("unsure", "you", "reported")))
    return not in_doubt and bool(said.has("decision") or not said.opens("ask"))


def _trimmed(run: list[_Clause]) -> list[_Clause]:
    """A run of clauses without those at its ends that say nothing."""
    first, last = 0, len(run)
    while first < last and _says_nothing(run[first], len(run)):
        first += 1
    while first < last and not exactness(run[last - 1][0]) and _says_nothing(run[last - 1], len(run)):
        last -= 1
    return run[first:last]


def _says_nothing(clause: _Clause, beside: int) -> bool:
    """True for a remark in passing, unless a decision stands before it, and beside other clauses for a goal that is not exact."""
    passing, decision = clause[0].has("passing"), clause[0].has("decision")
    passes = passing and not (decision and decision.end() <= passing.start())
    return bool(passes or (beside > 1 and clause[0].has("goal") and exactness(clause[0]) < _AIM))


def _stands_alone(part: Sentence, first: Sentence) -> bool:
    """False for what is too short to say something, and for what points at something outside of itself."""
    if len(part.plain.strip()) < number(part.language, "least_characters") or len(part.words) < _FEWEST:
        return False
    return not (part.has("dangling_start") or part.has("dangling") or _opening(own_part(first)).has("dangling_it"))


def _opening(clause: Sentence) -> Sentence:
    """A clause up to where something was named that a pronoun may stand for."""
    least = number(clause.language, "least_characters")
    mark = next((found for found in clause.all("joint") if found.start() >= least), None)
    return clause.cut(0, mark.start()) if mark else clause


def exactness(part: Sentence) -> int:
    """In how many ways a statement is exact: by its values, or by length."""
    return values(part) + (len(part.words) >= _ROOMY)


@lru_cache(maxsize=64)
def values(part: Sentence) -> int:
    """How many of these a statement names: a time, a number, a name, a relative, what lasts."""
    plain = part.plain.strip()
    inner = re.sub(r"^\W*\w+|,? [A-ZА-ЯЁ]\w+\W*$" if plain.endswith("!") else r"^\W*\w+|, [A-ZА-ЯЁ]\w+\W*$", "", plain)
    ways = (
        bool(find_times(plain, _ANY_DAY)) or any_language("value_day").search(plain),
        any(map(str.isdigit, plain)) or any_language("value_number").search(plain),
        re.search(rf"(?<![.!?:]\s)\b(?!I\b|I')[A-ZА-ЯЁ]\w+|[«“「《](?=\S)|[{HAN_CHARS}]\s?[A-Za-z]{{2}}", inner)
        or part.has("name_follows"),
        part.has("relative"),
        part.has("lasting"),
    )
    return sum(map(bool, ways))


# -- wording ----------------------------------------------------------------------------------------------------------

_SHORT = {"'m": " is", "'ve": " has", "'ll": " will", "'d": " would", "": ""}
_REGULAR = ("аю", "яю", "аюсь", "яюсь", "ею", "ирую", "изую", "уюсь")  # ends of regular verbs in the first person
_MOST_NAMES = 3


def narrated(text: str, language: str, owner: str | None = None, role: str = "user") -> str:
    """`text` with I, me and my as `owner` (a name), or as "the user", «пользователь», 用户; "we" stays.

    In Russian, where a verb or a name would have to be inflected in a way that is not known, the speaker stands in front
    of the words as they were said: «Мира: мне больше нравится чай». What has another subject too stays as it was said.
    """
    text = text.strip()
    words: list[str] = []

    def kept(match: re.Match[str]) -> str:
        words.append(match[0])
        return f"\ue000{len(words) - 1}\ue001"

    told = _told_by(quotations(_CODE, _SINGLE).sub(kept, text), language, owner, role)
    return _with_capital(re.sub("\ue000(\\d+)\ue001", lambda match: words[int(match[1])], told))


def _told_by(text: str, language: str, owner: str | None, role: str) -> str:
    forms = [owner] if owner and role == "user" else phrases(language, "speaker")[role == "assistant"].split(", ")
    if language == "en":
        text, count = rx("en", "first_person").subn(partial(_with_verb, forms[0]), text)
        if count:  # the verbs that follow with "and" have the same subject
            text = rx("en", "joined_verb").sub(
                lambda m: f"{m['and']}{m['also'] or ''} {_third(m['verb'])}", text, count=2
            )
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


def _with_verb(who: str, match: re.Match[str]) -> str:
    if (match["verb"] or "").casefold() in vocabulary("between_numerals") and not match["short"]:
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
    if not (has_verb or rx("ru", "first_person").search(text)) or (len(forms) > 1 and _is_of_another(text)):
        return text
    if len(forms) == 1:
        return text if text.startswith(f"{forms[0]}: ") else f"{forms[0]}: {text}"
    i = rx("ru", "i")
    has_subject = i.search(told) or rx("ru", "subject_in_another_case").search(text)
    told = i.sub(forms[0], told, count=1)
    told = _told_as(re.sub(rf"{i.pattern}\s*", "", told, flags=re.IGNORECASE), "ru", forms)
    if not has_verb or has_subject or re.search(rf"(?<![\w-]){forms[0]}", told):
        return told
    return f"{forms[0]} {told[0].lower() + told[1:]}"  # «Пью кофе» has its subject in the verb


def _is_of_another(text: str, speaker: str | None = None) -> bool:
    """True where a verb of a nameless speaker stands behind another subject and verb: «Брат женится, ищу подарок»."""
    verbs = (word.start() for word in re.finditer(r"[А-Яа-яЁё]+", text) if _conjugated(word[0]) != word[0])
    return not speaker and any(rx("ru", "another_subject").search(straight(text[:begin])) for begin in verbs)


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


def with_dates(text: str, language: str, day: date | None) -> tuple[str, date | None]:
    """`text` with relative days as dates: "yesterday" becomes one, "last week" and "tonight" get theirs in brackets.

    With the only day that it names, where it is not past and says what is so on that day alone: "tomorrow the office is closed" ends.

    What may be one of two days stays as it was said: "on Friday", "next Friday" on a Wednesday, "until next week".
    """
    if day is None or day.year < 2 or day.year > 9000:
        return text, None
    apart = [*quotations(_CODE, _SINGLE).finditer(text), *rx(language, "kept_days").finditer(text)]
    later = {each[:3] for each in find_times(text, day + timedelta(days=37))}
    mentions = find_times(text, day)
    goes_on = only_begins(text, day) or any(says(each, text) for each in ("may begin", "change", "past"))
    is_passing = len(mentions) == 1 and says("of a day", text) and not goes_on
    ends: date | None = None
    for mention in reversed(mentions):
        is_apart = any(each.start() < mention.end and mention.start < each.end() for each in apart)
        if is_apart or mention[:3] in later or mention.cycle or (first := mention.period.first) is None:
            continue
        ends = first if first == mention.period.last and first >= day and is_passing else None
        before, said, days = text[: mention.start], text[mention.start : mention.end], str(mention.period)
        if first != mention.period.last or rx(language, "part_of_day").search(said):
            days = f"{said} ({days})"
        elif language == "en" and not rx("en", "before_date").search(before):
            days = f"on {days}"
        text = before + days + text[mention.end :]
    return _with_capital(text), ends


def names_in(plain: str, language: str, known: Collection[str] = ()) -> tuple[str, ...]:
    """The names that a sentence is about, in order, at most three; `known` were named before in the conversation.

    Only what stands where a name must stand counts: after "my sister", before "lives", after "called". A capital letter
    alone proves nothing, least of all at the beginning of a sentence.
    """
    marked = [read_name(match[0]) for match in re.finditer(rf"(?<![\w@./]){AT_NAME}|{WIKI_NAME}", plain)]
    found = [_name(match, language) for shape in each(language, "named") for match in shape.finditer(plain)]
    names = dict.fromkeys(filter(None, [*marked, *found, *_mentioned(plain, known)]))
    return tuple(names)[:_MOST_NAMES]


def _name(match: re.Match[str], language: str) -> str:
    """The name that a pattern found: its group `name`, or `word` where that is a first name; "" for other words."""
    groups = match.groupdict()
    name = _bare(groups.get("name") or groups["word"], language)
    surely = "word" not in groups or " " in name or not re.search("[а-яё]", name)
    return name if surely or rx(language, "first_name").fullmatch(straight(name)) else ""


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


def _mentioned(plain: str, known: Collection[str]) -> list[str]:
    """Those of the known names that a sentence mentions, by their first word, whatever its ending."""
    found = find_names(plain, as_listed(name.split()[0] for name in known))
    return [name for name in known if name.split()[0] in found]


@cache
def _kinds() -> dict[str, re.Pattern[str]]:
    return {
        "date": any_language("value_date", r"\d{4}-\d\d-\d\d|\b\d{1,2}[./]\d{1,2}(?:[./]\d{2,4})?\b"),
        "day": any_language("value_day"),
        "time": any_language("value_time", r"\b\d{1,2}:\d\d\b"),
        "year": re.compile(r"(?<![\d.,-])(?:19|20)\d\d(?![\d.,]\d)"),
        "number": any_language("numeral", r"[£$€¥]?(?:\d{1,3}(?:\s\d{3})+(?!\s?\d)|\d+(?:[.,]\d+)*)(?: ?%|[kKmM]\b)?"),
        "name": re.compile(
            rf"(?<=[\w,] )[A-ZА-ЯЁ][\w.+-]*\w(?: [A-ZА-ЯЁ][\w.+-]*\w)*|(?<=[{HAN_CHARS}])\s?[A-Za-z][\w.+-]+"
        ),
    }


def value_kinds(text: str) -> dict[str, str]:
    """The first value of each kind in a text, the most exact kind first: date, day, time, year, number, name."""
    return {kind: match[0].strip() for kind, shape in _kinds().items() if (match := shape.search(text))}
