"""Relations that have one value at a time, read from the sentence itself: "lives in Lisbon" fills the slot `city`.

A closed registry (relations_words.py), which `extra` may add to. Only a plain main clause at the start of a line counts:
affirmative, in the present tense, unhedged, about the one entity of the line. Whatever is in doubt fills no slot, because
a slot that is filled closes older lines; an unknown relation may have many values, and closes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from ..facts import Fact, Kind
from . import relations_words as words
from .names import AT_NAME, WIKI_NAME, entity_key, is_han, read_name, stem_key

__all__ = ["DATED", "Relation", "relation", "relation_key", "slot_of"]

DATED = frozenset(("birthday", "deadline"))
"""Keys whose value is a date: it says nothing of when the line is true."""

_LONGEST = 300  # characters of a line; a longer one says more than one thing
_HEAD = 90  # characters in which the relation must be said
_WORD = re.compile(r"[^\W_]+")
_NO_EXTRA: Mapping[str, Sequence[str]] = {}


class Relation(NamedTuple):
    """A single-valued relation and its value, folded so that spellings meet: ("city", "lisbon")."""

    key: str
    value: str


class _Rule(NamedTuple):
    key: str
    noun: bool
    value: str
    pattern: str


def slot_of(fact: Fact, extra: Mapping[str, Sequence[str]] = _NO_EXTRA) -> Relation | None:
    """The slot that a fact fills: its `key=`, else the relation that the text of a world fact states; None for none.

    With `key=` the value is empty: what of the text is the value, only its author knows.
    """
    if fact.key is not None:
        return Relation(fact.key, "")
    return relation(fact.text, fact.entities, extra) if fact.kind is Kind.WORLD else None


def relation_key(text: str, names: Sequence[str] = (), extra: Mapping[str, Sequence[str]] = _NO_EXTRA) -> str | None:
    """The key of the relation that `text` states about the one entity of its line, or None."""
    found = relation(text, names, extra)
    return found.key if found else None


def relation(text: str, names: Sequence[str] = (), extra: Mapping[str, Sequence[str]] = _NO_EXTRA) -> Relation | None:
    """The single-valued relation that `text` states, or None. Pure, and cheap for a line that states none.

    `names` stand before the colon of the line. The subject is left out, a pronoun, or the first of them by name; where
    there is none, a `@Name` that begins the text. `extra` adds phrases to a key: {"team": ["plays for"]}.
    """
    if len(text) > _LONGEST:
        return None
    for rule in _candidates(text, extra):
        found = _stated(rule, text, names)
        if found:
            return found
    return None


# -- which rules may fit ----------------------------------------------------------------------------------------------


def _candidates(text: str, extra: Mapping[str, Sequence[str]]) -> Iterator[_Rule]:
    head = text[:_HEAD]
    known = _triggers()
    if not head.isascii():
        head = head.replace("ё", "е")
        if _han_letters().search(head):
            yield from (rule for trigger, rule in _han_rules() if trigger in head)
    hits = known.keys() & _WORD.findall(head.casefold())
    if hits:
        yield from dict.fromkeys(rule for hit in sorted(hits) for rule in known[hit])
    for key, phrases in extra.items():
        yield from (_extra_rule(key, phrase) for phrase in phrases if phrase.casefold() in head.casefold())


@cache
def _triggers() -> dict[str, list[_Rule]]:
    """Each word by which a rule is noticed, with the rules to try then."""
    found: dict[str, list[_Rule]] = {}
    for line in words.RULES.split("\n")[1:-1]:
        key, frame, value, phrase = (part.strip() for part in line.split("|", 3))
        noticed = re.findall(r"<(=?)([^>]+)>", phrase)
        phrase = re.sub(r"<(=?)([^>]+)>", lambda m: "" if m[1] else f"(?:{m[2]})", phrase)
        rule = _rule(key, frame, value, phrase)
        for marked, choices in noticed:
            listed = getattr(words, {"titles": "BARE_TITLES", "states": "STATES"}[choices]) if marked else choices
            for choice in listed.split("|"):
                found.setdefault(_WORD.findall(choice)[0], []).append(rule)
    return found


@cache
def _han_rules() -> tuple[tuple[str, _Rule], ...]:
    found = []
    for line in words.RULES_HAN.split("\n")[1:-1]:
        key, frame, value, phrases = (part.strip() for part in line.split("|", 3))
        if frame == "around":
            before, after = phrases.split(" ", 1)
            pattern = rf"(?:{before})(?P<value>[^，。；、]{{1,20}}?){after}(?=[，。；了的]|$|\d)"
            found += [(one, _Rule(key, False, value, pattern)) for one in before.strip("(?:)").split("|")]
            continue
        for phrase in phrases.split():
            copula = r"(?:现在|目前|已经|已)?(?:是|为|改为|变为|改成|换成|：|:)" if frame == "noun" else ""
            pattern = rf"{phrase}{copula}\s*(?P<value>[^，。；、（(！!]{{1,40}})"
            found.append((phrase, _Rule(key, frame == "noun", value, pattern)))
    return tuple(found)


@lru_cache(maxsize=512)
def _compiled(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """A pattern when it is first needed: all together take 70 ms, and most pages need a few."""
    return re.compile(pattern, flags | re.DOTALL)


@cache
def _han_letters() -> re.Pattern[str]:
    """The first characters of Chinese triggers: a line without one needs no closer look."""
    return _compiled("[" + "".join(sorted({trigger[0] for trigger, _ in _han_rules()})) + "]")


@cache
def _extra_rule(key: str, phrase: str) -> _Rule:
    if any(map(is_han, phrase)):
        return _Rule(key, False, "any", rf"{re.escape(phrase)}\s*(?P<value>[^，。；、（(！!]{{1,40}})")
    return _rule(key, "verb", "any", re.escape(phrase))


_NOW = r"(?:now|currently|still|presently|теперь|сейчас)"
_OBJECT = r"(?P<value>.+)"


def _rule(key: str, frame: str, value: str, phrase: str) -> _Rule:
    cyrillic = bool(re.search("[а-я]", phrase))
    if frame == "whole":
        pattern = rf"\b(?i:{phrase})\b".replace("{}", ")(?P<value>[^,;:]{1,40}?)(?i:")
    elif frame == "verb":
        pattern = (
            rf"\b(?i:{phrase})\s*{_OBJECT}"
            if "<=" in phrase or phrase.endswith("?")
            else rf"\b(?i:{phrase})\s+{_OBJECT}"
        )
    elif cyrillic:
        of = r"(?:\s+(?P<of>[^,;:—–]{1,40}?))?"
        pattern = rf"\b(?i:{phrase}){of}\s*(?:[—–:]|\s-\s|\s(?=теперь|сейчас))\s*(?:(?:теперь|сейчас|это)\s+[—–-]?\s*)?{_OBJECT}"
    else:
        of = r"(?:\s+(?:of|for)\s+(?P<of>[^,;:]{1,40}?))?"
        pattern = rf"\b(?i:{phrase}){of}(?:\s+is(?:\s+{_NOW})?|:)\s+{_OBJECT}"
    return _Rule(key, frame == "noun", value, pattern)


# -- whether one does -------------------------------------------------------------------------------------------------


def _stated(rule: _Rule, text: str, names: Sequence[str]) -> Relation | None:
    plain = text.replace("ё", "е").replace("Ё", "Е")  # the same length, so places hold
    match = _compiled(rule.pattern).search(plain)
    if not match or match.start() > _HEAD or not _is_subject(plain[: match.start()], names, rule.noun, match):
        return None
    said = _value(rule.value, match["value"])
    if said is None or _is_doubtful(plain[match.start() :]):
        return None
    key = "country" if rule.key == "city" and _is_country(said) else rule.key
    return Relation(key, said)


_LEADING = (
    r"(?:(?:actually|in fact|correction|на самом деле|вообще-то|в действительности|поправка|исправление)\b[,:]?|其实|实际上|更正[:：]"
    r"|(?:now|currently|at present|these days|сейчас|теперь|ныне|в настоящее время)\b|(?:since|as of|starting|с|начиная с) [^,]{1,25},"
    r"|(?:自|从)?[\d年月日 ]+(?:日|月|年)?(?:起|以来|开始)|现在|目前|如今|现)[,，]?\s*"
)
_TRAILING = r"[\s，,]*(?:\b(?:actually|now|currently|still|already|presently|officially|permanently|сейчас|теперь|уже|ныне|постоянно|по-прежнему|все еще|на самом деле)|其实|实际上|现在|目前|如今|已经|已|仍然|仍|现|一直|[自从]?[\d年月日 ]+(?:起|以来|开始))$"
_PRONOUNS = frozenset(("he", "she", "it", "он", "она", "оно", "他", "她", "它"))
_OWNERS = frozenset(
    (
        "his",
        "her",
        "its",
        "their",
        "the",
        "our",
        "его",
        "ее",
        "наш",
        "наша",
        "他的",
        "她的",
        "它的",
        "其",
        "他",
        "她",
        "它",
        "该项目的",
        "项目的",
    )
)


def _is_subject(before: str, names: Sequence[str], noun: bool, match: re.Match[str]) -> bool:
    """What stands before the relation is the entity of the line: nothing, a pronoun, or its name."""
    leading, trailing = _compiled(_LEADING, re.IGNORECASE), _compiled(_TRAILING, re.IGNORECASE)
    bare = before.strip()
    for _ in range(3):
        bare = trailing.sub("", leading.sub("", bare, count=1)).strip(" ,，")
    of = match.groupdict().get("of")
    alone = len(names) == 1
    if of:
        return (_is_name(of, names) or _is_inflected(of, names)) and bare.casefold() in ("", "the")
    if not bare:
        return alone and (before == before.strip() or not before.strip() or bool(leading.match(before)))
    folded = bare.casefold()
    if folded in _PRONOUNS and not noun:
        return alone
    if noun and folded in _OWNERS:
        return alone
    if noun:
        bare = re.sub(r"(?:['’]s|['’]|的)$", "", bare)
    return _is_name(bare, names)


_QUOTED = frozenset("\"'“”«»「」„:：;(")


def _is_name(bare: str, names: Sequence[str]) -> bool:
    """True for the first name of the line, in full or by its first or last words («Ирина» for «Ирина Волкова»)."""
    marked = _compiled(rf"(?P<name>{AT_NAME}|{WIKI_NAME})").fullmatch(bare)
    if marked:
        spelled = read_name(marked["name"])
        return not names or entity_key(spelled) == entity_key(names[0])
    if not names or _QUOTED & set(bare):
        return False
    said, full = stem_key(bare).split(), stem_key(names[0]).split()
    return bool(said) and (full[: len(said)] == said or full[-len(said) :] == said)


def _is_inflected(name: str, names: Sequence[str]) -> bool:
    """True for a genitive that the stemmer does not lead back («Козодоя»): all but two letters are those of the name."""
    said, full = entity_key(name).split(), entity_key(names[0]).split() if names else []
    return len(said) == len(full) and all(
        len(short) > 3 and short[:-2] == long[: len(short) - 2] and len(long) - len(short) < 3
        for short, long in (sorted(pair, key=len) for pair in zip(said, full, strict=True))
    )


_SENTENCE = r"[.!]\s+(?:\S+\s+){2}\S|[。！].{4}"


def _is_doubtful(said: str) -> bool:
    """A condition, a hedge, a question, a passing state, or a second statement in the same line."""
    folded = said.casefold()
    return bool(
        _compiled(f"{words.HEDGES}|{words.HEDGES_HAN}").search(folded)
        or _compiled(words.CASED).search(said)
        or _compiled(words.SECOND_CLAUSE).search(folded)
        or _compiled(_SENTENCE).search(said)
    )


# -- values -----------------------------------------------------------------------------------------------------------

_CUT = (
    r"[,;，。；、（(!！]|\.(?:\s|$)|\s[—–-]\s|\s(?:since|with|on|in|as|for|from|until|because|after|where|which|who|at|near|and has|"
    r"с|со|вместе|на|в|во|для|из|от|до|где|который|которая|потому|после|около|рядом)\s"
)
_NOTHING = (
    r"(?:not|never|no|none|unknown|unclear|undecided|tbd|n/a|being|to be|still|yet|what|who|where|when|how|whoever|anyone|"
    r"не|нет|ни|неизвест\w+|кто|что|где|когда)\b|未|不|没|待定|谁|什么|哪"
)
_SEVERAL = r"\s(?:and|or|и|или)\s|[、和与或]"
_NAMED = r"(?:[Tt]he )?[\"'«“`]?(?:@|\[\[)?[A-ZА-Я\u3400-\u9fff]"


def _value(kind: str, rest: str) -> str | None:
    """What of `rest` is the value, folded; None where it is not of the kind that the relation takes."""
    rest = rest.strip()
    if re.match(_NOTHING, rest, re.IGNORECASE) or re.search("谁|什么|哪", rest[:20]):
        return None
    shape = _shapes().get(kind)
    match = _compiled(shape, re.IGNORECASE if kind in _ANY_CASE else 0).match(rest) if shape else None
    if shape and not match:
        return None
    if kind in ("place", "name", "firm") and _compiled(_SEVERAL).search(_compiled(_CUT).split(rest)[0]):
        return None
    if kind in ("place", "name") and match and re.match(r"[Tt]he (?!Hague|Netherlands|U[SK]\b|[A-Z]\w+ \w+)", rest):
        return None
    if kind == "firm" and match:
        if _is_no_firm(match[0]):
            return None
        rest = match[0]
    chosen = (
        match[0]
        if match and kind in ("version", "email", "phone", "title", "state", "job", "job_ru")
        else _compiled(_CUT).split(rest)[0]
    )
    folded = stem_key(re.sub(r"[\[\]@\"'«»“”`]", "", chosen).strip(" .:"))
    if not folded or (kind == "place" and any(map(is_han, folded)) and not _is_han_place(folded)):
        return None
    return folded[:80]


_ANY_CASE = frozenset(("date", "version", "title", "job", "job_ru", "state"))


@cache
def _shapes() -> dict[str, str]:
    """What a value of each kind looks like at its beginning."""
    modifiers = r"(?:(?!an? |good|great|best|bad|worst|only|first|same|one |very)[\w-]+ ){0,2}?"
    board = r"c[a-z]o|president|chair\w*|principal|dean|rector|editor"
    end = r"(?=\s*(?:$|[,;.(]|(?:since|until|because|now|again|as of)\b))"
    return {
        "place": _NAMED,
        "name": _NAMED,
        "date": rf".{{0,12}}?(?:{words.DATES})",
        "version": r"[\"'`]?v?\d+(?:\.\d+)*[\w.+-]*",
        "email": r"[`<]?[\w.+-]+@[\w-]+\.[\w.-]+",
        "phone": r"\+?[\d()][\d\s()-]{4,}\d",
        "number": r".*\d",
        "title": (
            rf"{modifiers}(?:{board})\b(?! [a-z]*s\b)|{modifiers}(?:{words.BARE_TITLES})\b(?!\s(?:of|for|on|in|behind|who)\b)"
            rf"|.{{0,8}}?(?:{words.HAN_TITLES})(?=$|[，。；（(])"
        ),
        "job": rf"(?:[\w-]+ ){{0,2}}?(?:{words.BARE_TITLES}|{words.WORKS})\b",
        "job_ru": words.TITLES_RU,
        "state": rf"(?:{words.STATES})\b{end}",
        "firm": (
            r"(?:компании|фирме|студии|банке|корпорации|издательстве|агентстве|университете|институте) [«\"“]?[A-ZА-Я][^,;.]*"
            r"|[«\"“][^»\"”]+[»\"”]|[A-ZА-Я][\w&.-]+(?: [A-ZА-Я][\w&.-]+)*|[\u3400-\u9fff][^的]{1,13}$"
        ),
    }


def _is_han_place(value: str) -> bool:
    return "的" not in value and 2 <= len(value) <= 10 and not re.search(words.HAN_NO_PLACE, value)


def _is_no_firm(said: str) -> bool:
    """A town, a country or a program, as far as they are listed; in Chinese, a place that ends as places do."""
    first = stem_key(said).split(" ")[0]
    if any(map(is_han, said)):
        bare = said.removesuffix("市")
        return (
            bare in _listed(words.CITIES)
            or bare in _listed(words.COUNTRIES)
            or bool(re.search(words.HAN_NO_FIRM, bare))
        )
    return first in _listed(words.CITIES) or first in _listed(words.COUNTRIES) or first in words.SOFTWARE.split()


@cache
def _listed(names: str) -> frozenset[str]:
    return frozenset((*names.split(), *map(stem_key, names.split())))


def _is_country(value: str) -> bool:
    return value in _listed(words.COUNTRIES)
