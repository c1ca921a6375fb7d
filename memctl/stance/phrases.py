"""A text as stance reads it: phrases of the word lists, items with their signs, clauses.

The sign of an item is the product of the negations and attitudes in whose scope it stands: "did not complain about long
replies" says no against `replies` nor `long`. Scopes run to the right up to a comma, "because" and the like; an
operator with nothing to its right («кофе больше не пьёт») looks to its left.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from ..language.analyzer import irregular_forms, stop_terms
from .lexicon import Lexicon, Phrase, PhraseRole, Token, tokens
from .quantities import NUMERALS, Quantity, quantities

OPERATORS = frozenset(("not", "no", "never", "stop", "like", "dislike", "ask", "refuse", "never_fails"))
_FELT = frozenset(("like", "dislike", "ask", "refuse", "stop"))
_CONTENT = frozenset(("groups", "kinds", "choices", "scales", "kin", "people", "light", "source"))
_FLAGS = frozenset(
    ("hedge", "past", "plan", "if", "wonder", "mention", "hearsay", "reversal", "change", "compare_other", "although")
)
_BARRIERS = frozenset(",，、:：()（）—–")
_ENDS = frozenset(".!?…;。！？；")
_QUOTES = {"«": "»", "“": "”", "「": "」", "『": "』", "《": "》", '"': '"', "„": "“"}
_MOST_CHARACTERS = 2000
_MOST_ITEMS = 80  # of one clause: a longer one is a paste, and pairs grow with the square


class PolarityItem(NamedTuple):
    """Something that a clause speaks of, with its sign.

    `ids` name what it is (groups such as `coffee.`, else its stem), `kinds` the more general things it is one of, `axes`
    its ends of scales, `choices` the sets of which only one holds. `no` is -1 under an odd number of negations, `att` +1
    wanted or liked, -1 refused or disliked; `demand` says that it is asked for or refused, not felt.
    """

    word: str
    ids: frozenset[str]
    kinds: frozenset[str]
    axes: tuple[tuple[str, float], ...]
    choices: tuple[tuple[str, str], ...]
    weight: float
    light: bool  # a verb that says little by itself: drink, go
    name: bool
    verb: bool
    at: int  # which phrase of the clause
    segment: int
    no: int = 1
    att: int = 0
    demand: bool = False


class Clause(NamedTuple):
    """A stretch of text with one view: what it speaks of, how much of it, and why it may not count.

    `segments` has the number of the segment of each phrase: what stands between two commas and the like.
    """

    items: tuple[PolarityItem, ...]
    quantities: tuple[Quantity, ...]
    phrases: tuple[Phrase, ...]
    flags: frozenset[str]
    slots: tuple[tuple[str, int], ...]
    segments: tuple[int, ...]
    sentence: int

    def without(self, gone: set[int]) -> Clause:
        """The clause without what stands in some of its segments."""
        return self._replace(
            items=tuple(item for item in self.items if item.segment not in gone),
            quantities=tuple(number for number in self.quantities if self.segments[number.at] not in gone),
            slots=tuple(slot for slot in self.slots if self.segments[slot[1]] not in gone),
        )


@lru_cache(maxsize=2048)
def analyse(text: str, lexicon: Lexicon, names: tuple[str, ...] = ()) -> tuple[Clause, ...]:
    """The clauses of `text`, in order. `names` are Han words to keep whole. Time in proportion to the length; never fails."""
    phrases = list(_phrases_of(tokens(text[:_MOST_CHARACTERS]), lexicon, names))
    return tuple(
        _clause(part, number, asked)
        for number, (sentence, asked) in enumerate(_sentences(phrases))
        for part in _parts(sentence)
    )


def _sentences(phrases: Sequence[Phrase]) -> Iterator[tuple[list[Phrase], bool]]:
    """(phrases, is it a question) of each sentence; marks inside quotes end nothing."""
    held: list[Phrase] = []
    closing = ""
    for phrase in phrases:
        if closing:
            closing = "" if phrase.word == closing else closing
        elif phrase.word in _ENDS:
            if held:
                yield held, phrase.word in "?？"
            held = []
            continue
        else:
            closing = _QUOTES.get(phrase.word, "")
        held.append(phrase)
    if held:
        yield held, any(phrase.word in "?？" for phrase in held)


def _parts(sentence: Sequence[Phrase]) -> Iterator[list[Phrase]]:
    """A sentence cut before "but" and "although"."""
    held: list[Phrase] = []
    for phrase in sentence:
        if phrase.sections & {"but", "although"} and held:
            yield held
            held = []
        held.append(phrase)
    if held:
        yield held


def _clause(phrases: list[Phrase], number: int, asked: bool) -> Clause:
    kept = _unquoted(phrases)
    flags = {section for phrase in kept for section in phrase.sections & _FLAGS}
    flags |= {"question"} if asked else set()
    flags |= {"quoted"} if len(kept) < len(phrases) else set()
    numbers = quantities(kept)
    counted = {number.at for number in numbers if "scales" not in kept[number.at].sections}
    reader = _PhraseReader(kept)
    slots = tuple((name, at) for at, phrase in enumerate(kept) for name in phrase.relations)
    told = tuple(item for item in reader.items if item.at not in counted)[:_MOST_ITEMS]
    return Clause(told, numbers, tuple(kept), frozenset(flags), slots, tuple(reader.segments), number)


def _unquoted(phrases: list[Phrase]) -> list[Phrase]:
    """The phrases outside of quotes; a quoted name of one or two words stays."""
    kept: list[Phrase] = []
    at = 0
    while at < len(phrases):
        closing = _QUOTES.get(phrases[at].word)
        end = next((n for n in range(at + 1, len(phrases)) if phrases[n].word == closing), 0) if closing else 0
        if end > at + 3:
            at = end + 1
            continue
        kept.append(phrases[at])
        at += 1
    return kept


# -- phrases ----------------------------------------------------------------------------------------------------------


def _phrases_of(found: tuple[Token, ...], lexicon: Lexicon, names: tuple[str, ...]) -> Iterator[Phrase]:
    """The longest phrases of the lists, in order; `names` are Han words to keep whole."""
    related: dict[int, tuple[str, ...]] = {}
    for place, token in enumerate(found):
        size, roles = lexicon.relation(found, place) if token.kind == "w" else (0, ())
        if size:
            related[place + size - 1] = tuple(role.name for role in roles)
    at = 0
    while at < len(found):
        token = found[at]
        if token.kind == "h":
            yield from _han(token, lexicon, names)
            at += 1
            continue
        size, roles = lexicon.match(found, at) if token.kind in "wi" or token.raw in "<>" else (1, ())
        words = found[at : at + size]
        key = " ".join(part.stem for part in words)
        relations = tuple(name for n in range(at, at + size) for name in related.get(n, ()))
        parts = lexicon.groups(words) if size > 1 else ()
        capital = token.raw[:1].isupper()
        word = " ".join(part.raw for part in words)
        yield Phrase(word, key, token.kind, capital, roles, _sections(roles), token.start, relations, parts)
        at += size


def _sections(roles: tuple[PhraseRole, ...]) -> frozenset[str]:
    return frozenset(role.section for role in roles)


def _han(token: Token, lexicon: Lexicon, names: tuple[str, ...]) -> Iterator[Phrase]:
    """The words of a run of Han characters; what no list knows is a run of its own, numerals are numbers."""
    text, loose = token.raw, 0
    for at, end in _cut(text, lexicon, names):
        word = text[at:end]
        if loose < at:
            yield _run(text[loose:at], token.start + loose)
        loose = end
        if all(char in NUMERALS for char in word):
            yield Phrase(word, word, "n", False, (), frozenset(), token.start + at)
            continue
        roles = tuple(lexicon.characters.get(word, ()))
        related = tuple(
            role.name
            for first in range(max(0, end - lexicon.longest), end)
            for role in lexicon.han_relations.get(text[first:end], ())
        )
        yield Phrase(word, word, "h", False, roles, _sections(roles), token.start + at, related)
    if loose < len(text):
        yield _run(text[loose:], token.start + loose)


def _run(text: str, start: int) -> Phrase:
    return Phrase(text, text, "r", False, (), frozenset(), start)


def _cut(text: str, lexicon: Lexicon, names: tuple[str, ...]) -> list[tuple[int, int]]:
    """(begin, end) of the known words of a run, with the fewest characters left over, then the fewest words."""
    best: list[tuple[float, int, bool]] = [(0.0, -1, False)]  # cost up to here, where its last word begins, is it known
    for end in range(1, len(text) + 1):
        options = [(best[end - 1][0] + 3.0, end - 1, False)]
        for start in range(max(0, end - lexicon.longest), end):
            word = text[start:end]
            cost = _cost(word, lexicon, names)
            if cost is not None:
                options.append((best[start][0] + cost, start, True))
        best.append(min(options, key=lambda option: option[0]))
    found: list[tuple[int, int]] = []
    at = len(text)
    while at > 0:
        _, start, known = best[at]
        if known:
            found.append((start, at))
        at = start
    return found[::-1]


def _cost(word: str, lexicon: Lexicon, names: tuple[str, ...]) -> float | None:
    if word in names:
        return 0.1
    if roles := lexicon.characters.get(word):
        return 1.2 if len(word) == 1 else 0.9 if _sections(tuple(roles)) & OPERATORS else 1.0
    if word in lexicon.common:
        return 1.05
    return 1.0 if all(char in NUMERALS for char in word) else None


_VERB_ENDINGS = ("л", "ла", "ли", "ло", "лся", "лась", "лись", "лось", "ет", "ит", "ют", "ут", "ат", "ят", "ется", "ится", "ются", "ятся")  # fmt: skip


@cache
def _irregular() -> frozenset[str]:
    """English past forms that share no ending."""
    return frozenset(irregular_forms("en"))


def is_verb(phrase: Phrase) -> bool:
    """True when a phrase is likely what somebody does: a guess from its ending, good enough for "flew to Oslo"."""
    word = phrase.word.casefold()
    if phrase.kind == "p" or phrase.sections & {"light", "doing"}:
        return phrase.kind != "p"
    if word.isascii():
        ongoing = word.endswith("ing") and "choices" not in phrase.sections
        return word.endswith("ed") or word in _irregular() or ongoing
    return phrase.kind == "w" and word.endswith(_VERB_ENDINGS)


def _is_barrier(phrase: Phrase) -> bool:
    """True for a sign that ends the scope of a negation: a comma, a colon, a bracket, a dash."""
    return phrase.kind == "p" and phrase.word in _BARRIERS


# -- scopes -----------------------------------------------------------------------------------------------------------

_ATTITUDES = {
    "like": (1, False),
    "dislike": (-1, False),
    "ask": (1, True),
    "refuse": (-1, True),
    "never_fails": (1, False),
}


class _Scope:
    """What holds at a place in a segment: the parity of negations and the attitude."""

    def __init__(self, att: int = 0) -> None:
        self.no, self.att, self.demand = 1, att, False
        self.joined = False  # after "and": the next attitude is not one about an attitude
        self.spoken = 0  # items since the last attitude
        self.prefers = False  # "prefers tea to": what follows is what tea is preferred to

    def feel(self, section: str, prefers: bool) -> tuple[int, int] | None:
        """Take on an attitude; one about another attitude turns it round ("hates to like")."""
        sign, demand = _ATTITUDES[section]
        nested = self.att if self.att and not self.joined else 1
        self.att, self.demand = nested * sign * self.no, demand
        self.no, self.joined, self.spoken = 1, False, 0
        self.prefers = prefers and self.att > 0
        return None if section == "ask" else (1, self.att)


class _Pending(NamedTuple):
    """An operator that looks to its left if nothing follows it: how many items stood before it; may it leave its segment?"""

    place: int
    segment: int
    no: int
    att: int
    far: bool
    demand: bool


class _PhraseReader:
    """Reads a clause phrase by phrase: what it speaks of, under which negations and attitudes."""

    def __init__(self, phrases: Sequence[Phrase]) -> None:
        self.phrases = phrases
        self.items: list[PolarityItem] = []
        self.segments: list[int] = []
        self._pending: list[_Pending] = []
        self._scope, self._segment, self._untrue = _Scope(), 0, 0
        concord = any(phrase.sections & {"not", "stop"} for phrase in phrases)  # «никогда не» denies once
        self._negations = frozenset(("not", "no")) | (frozenset() if concord else {"never"})
        for at, phrase in enumerate(phrases):
            self.segments.append(self._segment)
            if _is_barrier(phrase) or phrase.sections & {"because", "when"}:
                self._part(at)
            elif "untrue" in phrase.sections:
                self._scope.no, self._untrue = -self._scope.no, 1
            else:
                self._read(at)
        for pending in self._pending:
            self._look_left(pending)
        felt = {item.at for item in self.items if phrases[item.at].sections & _FELT}
        if any(not item.light and item.at not in felt for item in self.items):  # an attitude beside what it is about
            self.items = [item for item in self.items if item.at not in felt]

    def _part(self, at: int) -> None:
        """Begin a new segment, but at the comma of a list."""
        if self.phrases[at].word == "、":
            return
        self._segment += 1
        self._untrue -= 1
        self._scope = _Scope(_carried(self._scope, self.phrases, at))
        self._scope.no = -1 if self._untrue == 0 and self.phrases[at].word in ",，" else 1

    def _read(self, at: int) -> None:
        phrase, before = self.phrases[at], len(self.items)
        self.items += _made(phrase, at, self._segment, self._scope)
        self._scope.spoken += len(self.items) - before
        denied = self._scope.no < 0
        operator = self._operate(at)
        if not operator:
            return
        no, att = operator
        if att and denied and self._pending and self._pending[-1][:2] == (before, self._segment):
            self._pending.pop()  # "does not like": one operator, which looks to the left as such
        far = bool(att) or not phrase.word.isascii()
        self._pending.append(_Pending(len(self.items), self._segment, no, att, far, self._scope.demand))

    def _operate(self, at: int) -> tuple[int, int] | None:
        """Let an operator change the scope; (no, att) to hand to the left if nothing follows it."""
        scope, found = self._scope, self.phrases[at].sections
        if "plain" in found:
            return None
        if "coordinate" in found:
            _join(scope, self.phrases, at)
        if scope.prefers and scope.spoken and found & {"than", "preferred_to"}:
            scope.att, scope.prefers = -1, False
            return None
        if "stop" in found:
            scope.no = -1 if "reversal" in found else -scope.no
            return (scope.no, 0) if scope.no < 0 else None
        if found & self._negations:
            scope.no = -scope.no
            return (-1, 0) if "no" not in found else None
        section = next((name for name in _ATTITUDES if name in found), "")
        return scope.feel(section, "prefer" in found) if section else None

    def _look_left(self, pending: _Pending) -> None:
        """Hand an operator that nothing follows to what stands before it in its segment, or else in the clause."""
        place, segment, no, att, far, demand = pending
        if any(item.segment == segment and _is_object(item) for item in self.items[place:]):
            return
        near = [n for n in range(place) if self.items[n].segment == segment]
        for n in near or (range(place) if far else ()):
            item = self.items[n]
            if att and (not item.att or (item.demand and att < 0)):
                kept = 1 if att < 0 and item.segment != segment else item.no  # "did not touch it, hates it" denies once
                asked = item.demand or (demand and n in near)
                self.items[n] = item._replace(att=att * (item.att or 1), demand=asked, no=kept)
            elif no < 0 and not att:
                self.items[n] = item._replace(no=-1)


def _is_object(item: PolarityItem) -> bool:
    """True for what an operator before it is about."""
    return not item.light and not (item.verb and not item.word.isascii())


def _carried(scope: _Scope, phrases: Sequence[Phrase], at: int) -> int:
    """The attitude that goes on behind a comma: "complained that it …", "is glad, because …"."""
    if scope.demand or scope.spoken:
        return 0
    goes_on = any(phrase.sections & {"because", "that"} for phrase in phrases[at : at + 2])
    return scope.att if goes_on else 0


def _join(scope: _Scope, phrases: Sequence[Phrase], at: int) -> None:
    """After "and", a verb begins a new scope; before a noun the scope goes on."""
    scope.joined = True
    for after in phrases[at + 1 : at + 3] if "either" not in phrases[at].sections else ():
        if after.sections & OPERATORS or is_verb(after):
            scope.no, scope.att = 1, 0
        if not after.sections & {"only", "about_now", "generic", "more"}:
            break


# -- items ------------------------------------------------------------------------------------------------------------

_LIGHT_GROUPS = frozenset(("speak.", "labour.", "go.", "run.", "money."))
_TIMES = frozenset(
    f"{name}."
    for name in [
        "morning",
        "afternoon",
        "evening",
        "night",
        "noon",
        "weekend",
        "monday",
        "tuesday",
        "wednesday",
        "thursday",
        "friday",
        "saturday",
        "sunday",
    ]
)


def _made(phrase: Phrase, at: int, segment: int, scope: _Scope) -> list[PolarityItem]:
    """The item that a phrase is, under the scope that it stands in; of an unknown Han run one for each two characters."""
    if phrase.kind in "pn" or _is_silent(phrase):
        return []
    roles = [role for role in phrase.roles if role.section in _CONTENT]
    groups = [f"{role.name}." for role in roles if role.section == "groups"]
    ids = frozenset(groups or [f"{name}." for name in phrase.parts] or (phrase.key,))
    light = _is_light(phrase, groups)
    named = {section: [role for role in roles if role.section == section] for section in ("kinds", "scales", "choices")}
    made = PolarityItem(
        phrase.word,
        ids,
        frozenset(f"{role.name}." for role in named["kinds"]),
        tuple((role.name, role.side) for role in named["scales"]),
        tuple((role.name, min(ids)) for role in named["choices"]),
        _weight(phrase, ids, light),
        light,
        _is_name(phrase),
        is_verb(phrase),
        at,
        segment,
        scope.no,
        scope.att,
        scope.demand,
    )
    if phrase.kind != "r" or len(phrase.word) < 3:
        return [made]
    pairs = [phrase.word[n : n + 2] for n in range(len(phrase.word) - 1)]
    return [made._replace(ids=frozenset((pair,)), weight=1.2 / len(pairs)) for pair in pairs[:12]]


def _is_name(phrase: Phrase) -> bool:
    """True for an identifier or a word with a capital; at the beginning of a line only English is sure."""
    return phrase.kind == "i" or (phrase.capital and (phrase.start > 0 or phrase.word.isascii()))


def _is_light(phrase: Phrase, groups: list[str]) -> bool:
    """True for a verb that says little by itself."""
    weak = set(groups) <= _LIGHT_GROUPS and bool(groups or "light" in phrase.sections)
    return weak and not phrase.sections & {"kinds", "choices", "scales"}


def _weight(phrase: Phrase, ids: frozenset[str], light: bool) -> float:
    """How much of a clause a phrase is: a thing 1, a person or a time half of it, a light verb or an adverb less."""
    if phrase.kind == "r" and len(phrase.word) == 1:
        return 0.6
    if light:
        return 0.4
    return 0.5 if "people" in phrase.sections or ids & _TIMES else 1.0


def _is_silent(phrase: Phrase) -> bool:
    """True for a phrase that only does something to others, or says nothing at all."""
    if "plain" in phrase.sections:
        return not phrase.sections & {"scales", "groups"}
    if not phrase.sections & _CONTENT:
        return bool(phrase.sections) or phrase.key in stop_terms() or (phrase.kind == "w" and len(phrase.word) == 1)
    if "months" in phrase.sections or (phrase.sections & {"less", "more"} and "groups" not in phrase.sections):
        return True
    return phrase.sections & _CONTENT == {"light"} and bool(phrase.sections & OPERATORS)
