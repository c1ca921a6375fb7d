"""Relations that have one value at a time, read from the sentence itself: "lives in Lisbon" fills the slot `city`.

A closed registry (relations.txt of each language). Only a plain main clause at the start of a line counts:
affirmative, in the present tense, unhedged, about the one entity of the line. Whatever is in doubt fills no slot, because a
slot that is filled enters every context; an unknown relation may have many values, and fills none.

A line without an entity is the owner's: "my name is Ivan", "our database is PostgreSQL", "the user lives in Lisbon".
Not all end another value (`Relation.closes`): a wider wording ("Moved to Hamburg"), a sentence that goes on behind its value
and a name of which only the shape is known fill an empty slot, and whether they replace a value is a question.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from functools import cache, lru_cache, partial
from itertools import product
from typing import NamedTuple

from ..facts import Fact, Kind
from .dates import find_times
from .names import AT_NAME, WIKI_NAME, entity_key, has_han, read_name, stem_key
from .sentences import is_change
from .words import EVERYWHERE, HAN_CHARS, beside, compiled, languages, lines, pattern, without_yo, words_of

_LONGEST = 300  # characters of a line; a longer one says more than one thing
_HEAD = 90  # characters in which the relation must be said, and all of one in a wider wording
_ANY_DAY = date(2000, 1, 1)  # where a time stands in a text is the same on all
_WORD = re.compile(r"[^\W_]+")
_MARKED = re.compile(r"(?<!P)<(=?)([^>]+)>")
_OBJECT = r"(?P<value>.+)"
_UNSPACED_OBJECT = "(?P<value>[^，。；、（(！!]{1,40})"
_FULL_STOPS = " \t.!。！"
_QUOTED = frozenset("\"'“”«»「」„:：;(")
_SENTENCE = r"[.!]\s+(?:\S+\s+){2}\S|[。！].{4}"
_NAME_WORD = rf"(?:\[\[[^\]]+\]\]|@?[A-ZÀ-ÞŠŽА-Я{HAN_CHARS}][\w&.+-]*(?:['’](?:[A-Z]\w+|s\b))?)"
_FOLDING = re.IGNORECASE | re.DOTALL
_ANY_CASE = frozenset(("date", "day", "version", "title", "job", "job_ru", "state", "store", "dbms"))
_MARKS = re.compile(r"[\"«»“”„「」『』]|(?<!\w)['‘]|['’](?!\w)")  # what stands between them, somebody else may say
_NAMED = ("town", "somewhere", "place", "name", "human", "somebody", "whole", "firm")
_PEOPLE = ("human", "given", "kin", "holder", "surnamed")  # nobody of the name of a town is certain; `somebody` is
_ALONE = frozenset((*_NAMED, "person", "kin", "holder", "zone", "dbms", "version"))  # nothing goes on behind it
# What goes on to the end of its clause (of other kinds the shape is all), and what may be made of words that cast a doubt
# elsewhere: May, 谷歌, ann@example.org.
_LOOSE = frozenset(("date", "day", "number", "licence", "post", "quoted", "titled", "called", "own_name", "nick"))
_SHAPED = frozenset(("quoted", "titled", "called", "own_name", "nick", "whole", "org"))
_PROPER = frozenset((*_NAMED, *_PEOPLE, "person", "org", "own_name", "email"))


@cache
def listed_in(section: str) -> frozenset[str]:
    """The keys of slots, or names of topics, that a section of slots.txt lists."""
    return frozenset(words_of("slots", section, (EVERYWHERE,)))


class Relation(NamedTuple):
    """A single-valued relation and its value, folded so that spellings meet: ("city", "lisbon")."""

    key: str
    value: str
    wide: bool = False  # in a wider wording
    closes: bool = True  # it ends another value; else it fills an empty slot only


class _Rule(NamedTuple):
    """How one relation is said in one language. One of the owner's `own` names its subject itself."""

    key: str
    frame: str
    value: str
    phrase: str
    language: str
    own: bool
    wide: bool

    @property
    def beside(self) -> tuple[str, ...]:
        """The languages whose words may stand around it."""
        return beside(self.language)

    @property
    def trailing(self) -> re.Pattern[str]:
        """What may stand between its subject and it, or behind all: "now"."""
        return compiled(rf"[\s，,]*(?:{pattern(self.beside, 'relations', 'trailing')})$", _FOLDING)


def slot_of(fact: Fact) -> Relation | None:
    """The slot that a fact fills: its `key=`, else the relation that its text states; None for none.

    With `key=` the value is empty: what of the text is the value, only its author knows. What happened closes nothing.
    """
    if fact.key is not None:
        return Relation(fact.key, "")
    found = relation(fact.text, fact.entities) if fact.kind in (Kind.WORLD, Kind.EXPERIENCE) else None
    return found._replace(closes=False) if found and fact.kind is Kind.EXPERIENCE else found


def relation(text: str, names: Sequence[str] = ()) -> Relation | None:
    """The single-valued relation that `text` states, or None. Pure, and cheap for a line that states none.

    `names` stand before the colon of the line. The subject is left out, a pronoun, or the first of them by name; where
    there is none, a `@Name` that begins the text. None where two are stated: the line would end with either.
    """
    if len(text) > _LONGEST:
        return None
    rules = (rule for rule in _candidates(text) if not (rule.wide and rule.own and names))
    found = list(filter(None, (_stated(rule, text, names) for rule in rules)))
    return min(found, key=lambda said: (said.wide, not said.closes)) if len({said.key for said in found}) == 1 else None


def _candidates(text: str) -> Iterator[_Rule]:
    head = text[:_HEAD]
    if not head.isascii():
        head = without_yo(head)
        if has_han(head):
            begun = _han_rules()
            for first in sorted(begun.keys() & set(head)):
                yield from (rule for trigger, rule in begun[first] if trigger in head)
    known = _triggers()
    hits = known.keys() & _WORD.findall(head.casefold())
    yield from dict.fromkeys(rule for hit in sorted(hits) for rule in known[hit])


def _rules(section: str) -> Iterator[_Rule]:
    """The rules of a section in every language, those of its twin about the owner, and the wider ones of both."""
    for language, own, wide in product(languages(), ("", "own "), ("", "wide ")):
        for line in lines(language, "relations").get(f"{own}{wide}{section}", ()):
            key, frame, value, phrase = map(str.strip, line.split("|", 3))
            yield _Rule(key, frame, value, phrase, language, bool(own), bool(wide))


@cache
def _triggers() -> dict[str, list[_Rule]]:
    """Each word by which a rule is noticed, with the rules to try then."""
    found: dict[str, list[_Rule]] = {}
    for rule in _rules("rules"):
        for marked, choices in _MARKED.findall(rule.phrase):
            for choice in (pattern(rule.beside, "relations", choices) if marked else choices).split("|"):
                found.setdefault(_WORD.findall(choice)[0].casefold(), []).append(rule)
    return found


@cache
def _han_rules() -> dict[str, list[tuple[str, _Rule]]]:
    """The rules of languages without spaces: under a first character, the characters by which each is noticed."""
    found: dict[str, list[tuple[str, _Rule]]] = {}
    for rule in _rules("unspaced rules"):
        marked = _MARKED.search(rule.phrase)
        before = marked[2] if marked else rule.phrase.partition(" ")[0].strip("(?:)")
        for word in before.split("|") if rule.frame == "around" else rule.phrase.split():
            made = rule if rule.frame == "around" else rule._replace(frame=f"unspaced {rule.frame}", phrase=word)
            found.setdefault(word[0], []).append((word, made))
    return found


@cache
def _searched(rule: _Rule) -> re.Pattern[str]:
    """The pattern of a rule when it is first needed: all together take 70 ms, and most pages need a few."""
    said = _MARKED.sub(lambda marked: "" if marked[1] else f"(?:{marked[2]})", rule.phrase)
    words = partial(pattern, (rule.language,), "relations")
    if rule.frame == "whole":
        begins = r"\A" if said.startswith("{}") else r"\b"
        said = rf"{begins}(?i:{said})\b".replace("{}", ")(?P<value>[^,;:]{1,40}?)(?i:")
    elif rule.frame == "verb":
        gap = "*" if said.endswith("?") else "+"
        said = rf"\b(?i:{said})\s{gap}{_OBJECT}"
    elif rule.frame == "noun":
        said = words("noun frame").replace("{phrase}", said)
    elif rule.frame == "around":
        before, after = said.split(" ", 1)
        said = rf"(?:{before})(?P<value>[^，。；、]{{1,20}}?){after}(?=[，。；]|{words('behind a value')}|$|\d)"
    else:
        copula = f"(?:{words('copula')})" if rule.frame == "unspaced noun" else ""
        said = rf"{said}{copula}\s*{_UNSPACED_OBJECT}"
    return re.compile(said, re.DOTALL)


def _stated(rule: _Rule, text: str, names: Sequence[str]) -> Relation | None:
    plain = without_yo(text)
    plain = _without_times(plain) if rule.wide and rule.key not in listed_in("dated") else plain
    match = None if rule.wide and len(plain) > _HEAD else _searched(rule).search(plain)
    if not match or match.start() > _HEAD or not _is_subject(plain[: match.start()], names, rule, match):
        return None
    told, said = _value(rule, match["value"])
    behind = match["value"].lstrip()[len(told) :] + plain[match.end() :]
    own = "" if rule.value in _PROPER else _MARKS.sub("", told)
    words = f"{plain[match.start() : match.start('value')]}{own} {behind}"
    is_part = rule.wide and match.end() < len(plain) and match["value"].strip() != told.strip()
    if not said or is_part or not _is_over(rule, behind) or _is_doubtful(words, rule.beside):
        return None
    others = (line.split() for line in lines(EVERYWHERE, "slots")["values of another"])
    word = said.replace(" ", "_")
    other = (to for key, listed, to in others if key == rule.key and word in words_of("relations", listed))
    # What goes on behind a value may take it back, unless the line says before it that things changed; and of some kinds
    # of values the shape alone is known.
    is_now = is_change(behind) and rule.trailing.fullmatch(behind.rstrip(_FULL_STOPS))
    is_firm = is_now or not behind.strip(_FULL_STOPS) or (not rule.own and is_change(plain[: match.start("value")]))
    is_shape = rule.own and (rule.value in _SHAPED or (rule.value, rule.frame) == ("name", "noun"))
    closes = rule.value == "title" or (is_firm and not rule.wide and not is_shape)
    return Relation(next(other, rule.key), said, rule.wide, closes)


@lru_cache(maxsize=512)
def _without_times(text: str) -> str:
    """A text without the times that tell when, but for those that cast a doubt: "moved to York last week" names a home."""
    for time in reversed(find_times(text, _ANY_DAY)):
        if not _is_doubtful(text[time.start : time.end], languages()):
            before, _, last = text[: time.start].rstrip(" (（").rpartition(" ")
            kept = before if last in words_of("relations", "after the value") else f"{before} {last}"
            text = f"{kept} {text[time.end :].lstrip(' )）')}".strip()
    return text


def _is_subject(before: str, names: Sequence[str], rule: _Rule, match: re.Match[str]) -> bool:
    """What stands before the relation is the entity of the line: nothing, a pronoun, or its name."""
    leading = compiled(rf"(?:{pattern(rule.beside, 'relations', 'leading')})[,，]?\s*", _FOLDING)
    bare, is_noun = before.strip(), rule.frame.endswith("noun")
    for _ in range(3):
        bare = rule.trailing.sub("", leading.sub("", bare, count=1)).strip(" ,，")
    of = match.groupdict().get("of")
    # "@Atlas: our project is called Atlas" names what it speaks of.
    told = rule.own and len(names) == 1 and entity_key(match["value"]).startswith(entity_key(names[0]))
    alone = told or not names if rule.own else len(names) == 1
    names = () if told else names
    folded = bare.casefold()
    if of:
        known = _is_name(of, names) or _is_inflected(of, names) or _is_owner(of, names, ("own owners",), rule)
        return known and folded in {"", *words_of("relations", "articles", rule.beside)}
    if not bare:
        return alone and (before == before.strip() or not before.strip() or bool(leading.match(before)))
    own = ("own pronouns", "own owners") if rule.own else ("own owners" if is_noun else "own pronouns",)
    if (is_owner := _is_owner(bare, names, own, rule)) or rule.own:
        return is_owner
    if folded in words_of("relations", "owners" if is_noun else "pronouns", rule.beside):
        return alone
    if is_noun:
        bare = re.sub(f"(?:{pattern(rule.beside, 'relations', 'possessive')})$", "", bare)
    return _is_name(bare, names)


def _is_owner(bare: str, names: Sequence[str], sections: Iterable[str], rule: _Rule) -> bool:
    """True for the owner of the memory, on a line without an entity: "our database", "the user"."""
    said = "|".join(word for section in sections for word in words_of("relations", section, rule.beside))
    return not names and bool(compiled(said, _FOLDING).fullmatch(bare))


def _is_name(bare: str, names: Sequence[str]) -> bool:
    """True for the first name of the line, in full or by its first or last words («Ирина» for «Ирина Волкова»)."""
    marked = compiled(rf"(?P<name>{AT_NAME}|{WIKI_NAME})", re.DOTALL).fullmatch(bare)
    if marked:
        return not names or entity_key(read_name(marked["name"])) == entity_key(names[0])
    if not names or _QUOTED & set(bare):
        return False
    said, full = stem_key(bare).split(), stem_key(names[0]).split()
    return bool(said) and (full[: len(said)] == said or full[-len(said) :] == said)


def _is_inflected(name: str, names: Sequence[str]) -> bool:
    """True for a genitive that the stemmer does not lead back («Сергея»): all but two letters are those of the name."""
    said, full = entity_key(name).split(), entity_key(names[0]).split() if names else []
    return len(said) == len(full) and all(
        len(short) > 3 and short[:-2] == long[: len(short) - 2] and len(long) - len(short) < 3
        for short, long in (sorted(pair, key=len) for pair in zip(said, full, strict=True))
    )


def _is_over(rule: _Rule, behind: str) -> bool:
    """True where a value ends with its clause, or a word goes on that says no more of it; of a title its shape says so."""
    words = () if rule.wide else words_of("relations", "after the value", rule.beside)
    ends = "|".join((pattern(rule.beside, "relations", "behind"), *(rf"{word}\b" for word in words)))
    return rule.value == "title" or bool(compiled(rf"\s*(?:$|{ends})", _FOLDING).match(behind))


def _is_doubtful(said: str, chosen: tuple[str, ...]) -> bool:
    """A condition, a hedge, a question, a quotation, a passing state, or a second statement in the same line."""
    folded = said.casefold()
    return bool(
        _MARKS.search(said)
        or compiled(rf"\?|{pattern(chosen, 'relations', 'hedges')}", re.DOTALL).search(folded)
        or compiled(pattern(chosen, "relations", "cased"), re.DOTALL).search(said)
        or compiled(pattern(chosen, "relations", "second clause"), re.DOTALL).search(folded)
        or compiled(_SENTENCE, re.DOTALL).search(said)
    )


@cache
def _ends(chosen: tuple[str, ...]) -> re.Pattern[str]:
    ending = "|".join(sorted(words_of("relations", "after the value", chosen)))
    return re.compile(rf"[,;，。；、（(!！]|\.(?:\s|$)|\s[—–-]\s|\s(?:{ending})\s")


def _is_refused(kind: str, rest: str, told: str, chosen: tuple[str, ...]) -> bool:
    """True for a negation or a question word, for several names, and for a common noun where a name is wanted."""
    said = partial(pattern, chosen, "relations")
    placed = kind not in ("name", "whole") and _is_listed(told, "cities", "countries")
    named = kind in ("town", "somewhere", "name", "human", "somebody", "given", "firm") and not placed
    return bool(
        re.match(said("no value"), rest, re.IGNORECASE)
        or re.search(said("question words"), rest[:20])
        or (kind in _ALONE and re.search(said("several"), told))
        or (named and (re.match(said("no name"), rest) or _is_common(told, chosen)))
        or (kind in ("place", "org", "firm", *_PEOPLE) and placed is not (kind == "place"))
        or (kind in ("town", "somewhere", "place", "org", "somebody", *_PEOPLE) and _is_listed(told, "software"))
        or (kind in ("somebody", *_PEOPLE) and _is_listed(told, "employers"))
        or (kind == "town" and not placed and not re.search(_shape("place ending", chosen), told, re.IGNORECASE))
    )


def _is_common(told: str, chosen: tuple[str, ...]) -> bool:
    """True where each word is a common one of the language: "Fear", "Mr Right", «Тишина», "Room 7"."""
    ending = compiled(pattern(chosen, "relations", "common ending"), _FOLDING)
    said = [word for word in entity_key(told).split() if len(word) > 1 and word.isalpha()]
    return bool(said) and all(ending.search(word) or _is_listed(word, "common") for word in said)


def _value(rule: _Rule, rest: str) -> tuple[str, str]:
    """What of `rest` is the value, and that folded; empty where it is not of the kind that the relation takes."""
    rest, kind, chosen = rest.strip(), rule.value, rule.beside
    shape = _shape(kind, chosen)
    match = compiled(shape, _FOLDING if kind in _ANY_CASE else re.DOTALL).match(rest) if shape else None
    said = match[0] if match and kind not in _LOOSE else _ends(chosen).split(rest)[0]
    if (shape and not match) or _is_refused(kind, rest, told := said.strip(" .:"), chosen):
        return "", ""
    left_out = rf"(?<!\w)@|^(?:{pattern(chosen, 'relations', 'name article')})|[\[\]\"'«»“”「」《》`]"
    return said, stem_key(re.sub(left_out, "", told))[:80]


@cache
def _shape(kind: str, chosen: tuple[str, ...]) -> str:
    """What a value of a kind looks like at its beginning; empty when it may be anything."""
    said = []
    for name in chosen:
        for line in lines(name, "relations").get("values", ()):
            if line.startswith(f"{kind} = "):
                shape = line.removeprefix(f"{kind} = ")
                said.append(re.sub(r"<([\w ]+)>", lambda at: pattern(chosen, "relations", at[1]), shape))
    article = pattern(chosen, "relations", "name article")
    quoted = r"[«\"“][^»\"”]+[»\"”]"
    word = rf"(?:(?:{pattern(chosen, 'relations', 'inside a name')}) )*(?:{_NAME_WORD}|v?\d[\w.]*)"
    named = rf"(?:{article})?(?:{quoted}|{_NAME_WORD}(?: {word})*)"
    ending = "|".join(sorted(words_of("relations", "after the value", chosen)))
    plain = {
        **dict.fromkeys(_NAMED, named),
        "version": r"[\"'`]?v?\d+(?:\.\d+)*[\w.+-]*",
        "email": r"(?a:[`<]?[\w.+-]+@[\w-]+\.[\w.-]+)",
        "phone": r"(?!\d{1,4}[-./]\d\d?[-./]\d{1,4}\b(?![- ]))\+?[\d()][\d\s()-]{4,}\d",
        "number": r".*\d",
    }
    shape = plain.get(kind) or "|".join(said)
    return rf"(?:{shape})(?=\s*(?:$|[.,;:!(（—–，。；])|\s(?:{ending})\b)" if shape and kind in _ALONE else shape


def _is_listed(said: str, *sections: str) -> bool:
    """True where the first word stands in one of these sections of any language, as it is written or by its stem."""
    first = entity_key(said).partition(" ")[0]
    known = {first, stem_key(first)}
    return any(not known.isdisjoint(words_of("relations", section)) for section in sections)
