"""Whether a newer line replaces an older one in words, or cannot hold beside it. Pure: two statements in, a judgement out.

A line is a *state* ("lives in Leeds") or an *event* ("ran 5 km"); events replace nothing and are not replaced. A sentence
replaces an earlier one where it carries a marker of change and speaks of the same, where both say the same with another
number or time, or where both give one topic ("residence") another value. Two things that one likes are no change.
Somebody else's word asks at most; a line that is not trusted decides nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date
from itertools import product
from typing import NamedTuple

from ..facts import Kind
from ..judgement import Judgement, judged
from ..language.analyzer import terms
from ..language.names import has_han
from .statement import ReadSentence, is_machine, is_numeral, opposites, read_sentences, speaker_of

Weight = Callable[[str], float]
"""How telling a word is, from 0 (in every line) to 1."""

_SAME = 0.75  # of what two sentences are about, that both share, to be one sentence with another value
_NEAR = 0.3  # of what the shorter of two sentences is about, to speak of one thing
_ALIKE = 0.4  # of notes, where "now" is all that tells of a change
_HALF, _BRIEF = 0.45, 3  # of notes: that part of the shorter one, and words that a brief one has
_OF_FACTS = "of facts: "  # topics that a line must say whose they are
_ENDED = 0.6  # of what the older one is about, that the newer one says is over
_AT_MARKER = 0.5  # weight of what both share that stands at a marker of change
_FEWEST = 0.25  # weight of what both share, below which a marker of change says nothing
_TELLING = 0.55  # of facts: that weight with a marker of change, or with another number or time
_ALONE = 0.75  # and without either
KIND, ALIKE, NEVER = "replaced: kind", "replaced: alike", "conflict: never"


STEM = 4
"""Letters that two forms of a word share at least."""


class Statement(NamedTuple):
    """A line as the judge sees it: `names` are the search terms of those it is about, `day` when it was told."""

    text: str
    names: frozenset[str]
    kind: Kind
    day: date | None
    key: str | None = None
    trusted: bool = True

    @property
    def sentences(self) -> tuple[ReadSentence, ...]:
        """What it says, read once."""
        return read_sentences(self.text, self.names)

    @property
    def is_brief(self) -> bool:
        """True for a fact, and for a note of few sentences that is no part of a conversation."""
        return self.kind is not Kind.NOTE or not (self.speaker or len(self.sentences) > _BRIEF)

    @property
    def speaker(self) -> str:
        """Who says it, in a log of a conversation."""
        return speaker_of(self.text)


class PairJudgement(NamedTuple):
    """A judgement and how near the two lines are, from 0 to 1: of several older lines the nearest is meant."""

    nearness: float
    judgement: Judgement


def judge_change(older: Statement, newer: Statement, weight: Weight = lambda _: 1.0) -> PairJudgement | None:
    """What the newer of two lines about one entity makes of the older; None where both may well hold."""
    if older.speaker != newer.speaker or is_machine(newer.speaker):
        return None
    sides = ([said for said in side.sentences if not said.is_long] for side in (older, newer))
    pairs = (_Pair(older, newer, one, other, _shared(one, other), weight) for one, other in product(*sides))
    found = [judgement for judgement in map(_judged, pairs) if judgement]
    # A part of a sentence may be the nearest, and lack the word that tells of the change.
    firmest = max(found, key=lambda one: (one.judgement.rule != ALIKE, one.nearness), default=None)
    return firmest and firmest._replace(nearness=max(one.nearness for one in found))


class _Pair(NamedTuple):
    older: Statement
    newer: Statement
    one: ReadSentence
    other: ReadSentence
    shared: frozenset[str]
    weight: Weight

    @property
    def together(self) -> bool:
        """True where nothing but their places orders the two."""
        return self.older.day is None or self.newer.day is None or self.older.day == self.newer.day

    @property
    def of_facts(self) -> bool:
        """True for two facts, or brief notes that are no part of a conversation."""
        return self.older.is_brief and self.newer.is_brief

    @property
    def of_notes(self) -> bool:
        """True where one of the lines is no fact."""
        return Kind.NOTE in (self.older.kind, self.newer.kind)

    @property
    def of_opinions(self) -> bool:
        """True for what somebody wants or thinks, and wanted or thought before."""
        return self.older.kind is self.newer.kind is Kind.OPINION

    @property
    def is_guess(self) -> bool:
        """True where somebody else is said to have said it, or nobody is sure; what one wants oneself is an opinion."""
        return "unsure" in self.other.marks and not self.of_opinions

    @property
    def is_told_apart(self) -> bool:
        """True for a state and something that happened later."""
        return self.newer.kind is Kind.EXPERIENCE is not self.older.kind

    @property
    def identified(self) -> set[str]:
        """The terms of names with a digit in the newer one: they say whom it is about, as any name does."""
        return {*terms(" ".join(_identifiers(self.other.text)))}

    def telling(self) -> float:
        """The weight of what two facts share, but for words like "likes", which they may share about two things, and for whom."""
        return self.weigh(self.shared - opposites().keys() - self.identified) if self.of_facts else 0.0

    def weigh(self, words: frozenset[str]) -> float:
        """The weight of some words together."""
        return sum(map(self.weight, words))


def _shared(one: ReadSentence, other: ReadSentence) -> frozenset[str]:
    """The words of the older sentence that the newer one has too, in some form; whom both are about says nothing."""
    alike = one.words & other.words
    heads = {word[:STEM] for word in other.words}
    rest = (word for word in one.words - alike if word[:STEM] in heads)
    return alike.union(word for word in rest if any(_is_form(word, its) for its in other.words))


def _is_form(one: str, other: str) -> bool:
    """True for one stem, or for two of which one goes on for a few letters ("edit", "editor")."""
    if one == other:
        return True
    short, long = sorted((one, other), key=len)
    return len(short) >= STEM and len(long) - len(short) < 4 and long.startswith(short)


def _judged(pair: _Pair) -> PairJudgement | None:
    one, other = pair.one, pair.other
    if not _is_one_subject(one, other):
        return None
    if {"never"} & (one.marks ^ other.marks):
        return _never(pair)
    if not _may_change(pair):
        return None
    shared = pair.weigh(pair.shared)
    mine, its = pair.weigh(one.words), pair.weigh(other.words)
    alike = 2 * shared / (mine + its) if mine + its else 0.0
    like = _SharedWeight(shared, alike, shared / mine if mine else 0.0, shared / its if its else 0.0)
    for rule in (_other_value, _denied, *((_ended, _changed, _topic, _alike) if not pair.together else ())):
        found = rule(pair, like)
        if found:
            return _heard(found) if pair.is_guess else found
    return None


def _may_change(pair: _Pair) -> bool:
    """False where the older line tells what happened, or a guess, and where the newer one adds to it."""
    one, other = pair.one, pair.other
    if "added" in other.marks or ("unsure" in one.marks and not pair.of_opinions):
        return False
    if "record" in one.marks and pair.of_facts:
        return True
    if pair.of_facts and pair.older.kind is not Kind.EXPERIENCE:
        return "event" not in one.marks & other.marks or bool(other.marks & {"cancelled", "change", "now"})
    happened = pair.older.kind is Kind.EXPERIENCE or "event" in one.marks
    return (not happened or "cancelled" in other.marks) and (pair.of_facts or _is_plain(pair))


def _is_plain(pair: _Pair) -> bool:
    """True for two sentences of a log that each say one thing, told on two days, the older one without an exclamation."""
    if not pair.older.speaker and max(len(pair.older.sentences), len(pair.newer.sentences)) > _BRIEF:
        return False  # a diary tells a story
    return not pair.together and not pair.one.text.rstrip().endswith(("!", "！"))


def _heard(found: PairJudgement) -> PairJudgement:
    """What somebody else is said to have said, or a guess: it asks, whatever the rule."""
    kind, verdict, _, reason, _ = found.judgement
    return PairJudgement(found.nearness / 2, judged(kind, verdict, "replaced: hearsay", reason))


class _SharedWeight(NamedTuple):
    """Of two sentences: the weight of what both share, Dice's coefficient, the part of the older and of the newer one."""

    shared: float
    alike: float
    covered: float
    of_newer: float

    @property
    def near(self) -> float:
        """The part of the shorter one."""
        return max(self.covered, self.of_newer)

    @property
    def middle(self) -> float:
        """How near the two are, where several older lines are compared."""
        return (self.near + self.alike) / 2


def _is_one_subject(one: ReadSentence, other: ReadSentence) -> bool:
    """False where the sentences are about two people of a family, or about the first and the second of several."""
    mine, its = one.kin | one.people, other.kin | other.people
    if not (one.kin <= its and other.kin <= mine):
        return False
    named = _identifiers(one.text), _identifiers(other.text)
    if named[0] and named[1] and not (named[0] <= named[1] or named[1] <= named[0]):
        return False
    return one.which == other.which or not (one.which and other.which)


def _identifiers(text: str) -> set[str]:
    """Names with a digit in them ("NJ-02", "T1"): two of them are two things."""
    return set(re.findall(r"(?<![\w-])[a-zа-я]+-?\d+[a-zа-я\d-]*", text.casefold()))


def _found(pair: _Pair, verdict: str, rule: str, reason: str, nearness: float) -> PairJudgement:
    kind = "conflict" if verdict == "disagrees" else "replacement"
    judgement = judged(kind, verdict, rule, reason)
    return PairJudgement(nearness, judgement)


def _other_value(pair: _Pair, like: _SharedWeight) -> PairJudgement | None:
    """One sentence with another number, or another time."""
    done = "event" in pair.other.marks and not {"change", "new"} & pair.other.marks and not pair.of_facts
    if done or like.alike < _SAME or pair.is_told_apart or not (against := _against_value(pair)):
        return None
    if not pair.together or {"now", "change"} & pair.other.marks:
        return _found(pair, "replaces", "replaced: value", against, like.middle)
    amounts = pair.one.numbers + pair.other.numbers
    if len(pair.one.numbers) == len(pair.other.numbers) == 1 and all(amount.stated for amount in amounts):
        return _found(pair, "disagrees", "conflict: number", against, like.alike)
    return None


def _against_value(pair: _Pair) -> str:
    """The number or time in the newer sentence that stands against one of the older; empty where none does."""
    one, other = pair.one, pair.other
    if bool(one.beside and other.beside and one.beside != other.beside):
        return ""
    for mine, its in product(one.numbers, other.numbers):
        counted = _is_form(mine.unit or "-", its.unit or "-") and (pair.of_facts or pair.shared - {mine.unit, its.unit})
        if mine.value != its.value and counted and not _at_two_times(one, other):
            return _against(mine.text, its.text)
    if one.times and other.times and not one.times & other.times and not pair.together:
        return _against(*(" ".join(sorted(times)) for times in (one.times, other.times)))
    return ""


def _at_two_times(one: ReadSentence, other: ReadSentence) -> bool:
    return bool(one.times and other.times and one.times != other.times)


def _against(one: str, other: str) -> str:
    return f"{one} against {other}"


def _ended(pair: _Pair, like: _SharedWeight) -> PairJudgement | None:
    """The newer sentence says that what the older one states is over, or that the plan is off."""
    if "unsure" in pair.other.marks:
        return None
    if "ended" in pair.other.marks and "denied" not in pair.one.marks and like.covered >= _ENDED:
        return _found(pair, "cancels", "replaced: ended", _words(pair), 0.5 + like.near / 2)
    if "cancelled" in pair.other.marks and (like.near >= _NEAR or pair.one.topics & pair.other.topics):
        return _found(pair, "cancels", "replaced: ended", _words(pair), 0.5 + like.near / 2)
    return None


def _words(pair: _Pair) -> str:
    return _spelled(pair.one, pair.shared)


def _spelled(sentence: ReadSentence, stems: frozenset[str]) -> str:
    if has_han(sentence.text):
        return " ".join(word for word in sentence.ordered if word in stems)
    return " ".join(word for word in re.findall(r"[^\W_]+", sentence.text) if not stems.isdisjoint(terms(word)[:1]))


def _denied(pair: _Pair, like: _SharedWeight) -> PairJudgement | None:
    """Word for word the same, one of them denied or with an opposite in it: both cannot hold."""
    one, other = pair.one, pair.other
    if {"now", "change", "event", "unsure"} & other.marks:
        return None
    if ("denied" in one.marks) != ("denied" in other.marks) and like.alike > 0.99 and _is_whole(pair):
        return _found(pair, "disagrees", "conflict: denied", _words(pair), like.alike)
    if "denied" in other.marks - one.marks and "plan" not in one.marks and like.of_newer > 0.99 and _is_whole(pair):
        return _found(pair, "disagrees", "conflict: denied", _words(pair), like.alike)
    apart = one.words - other.words, other.words - one.words
    if len(apart[0]) != 1 or len(apart[1]) != 1:
        return None
    against = [(mine, its) for mine in apart[0] for its in apart[1] if its in opposites().get(mine, ())]
    if against and ("denied" in one.marks) == ("denied" in other.marks):
        sides = _spelled(one, apart[0]), _spelled(other, apart[1])
        return _found(pair, "disagrees", "conflict: opposite", _against(*sides), 1.0)
    return None


def _never(pair: _Pair) -> PairJudgement | None:
    """That something was never done, and that it was: what was done later ends the first, else both cannot be true."""
    denies, says = sorted((pair.one, pair.other), key=lambda said: "never" not in said.marks)
    part = pair.weigh(pair.shared) / (min(pair.weigh(denies.words), pair.weigh(says.words)) or 1.0)
    telling = [word for word in pair.shared if pair.weight(word) >= _FEWEST]
    if says.marks & {"denied", "unsure", "plan", "added"} or len(telling) < 2 or part < _HALF:
        return None
    later = says is pair.other and not pair.together
    return _found(pair, "replaces" if later else "disagrees", NEVER, _words(pair), part)


def _is_whole(pair: _Pair) -> bool:
    """True for two facts that share some words; else where each sentence is all that its line says, in few words."""
    sizes = len(pair.older.sentences), len(pair.newer.sentences), len(pair.one.words) // (_BRIEF + 1)
    alone = sizes == (1, 1, 0)
    return alone or (pair.of_facts and len(pair.shared) > 1)


def _changed(pair: _Pair, like: _SharedWeight) -> PairJudgement | None:
    """A marker of change on the same matter. Of notes, which say more than facts, more of it must be the same."""
    marks = pair.other.marks & {"now", "change", "new"}
    if not marks or like.shared < _FEWEST:
        return None
    at = pair.shared & pair.other.changed
    at -= pair.identified if marks == {"new"} else set()  # "a new battery in NJ-02": what is new is not the box
    at_marker = pair.weigh(at) >= _AT_MARKER
    if pair.of_facts and not pair.of_notes:
        found = at_marker or (marks != {"new"} and (pair.telling() >= _TELLING or like.near >= _HALF))
    else:
        brief = max(len(pair.one.words), len(pair.other.words)) <= 2 * _BRIEF
        much = like.near >= _HALF and (len(pair.shared) > 1 or len(pair.one.words) <= _BRIEF)
        told = "change" in marks or ("now" in marks and like.alike >= _ALIKE)
        found = told and (much or ("change" in marks and at_marker and brief))
    return _found(pair, "replaces", "replaced: change", _words(pair), like.middle) if found else None


def _topic(pair: _Pair, like: _SharedWeight) -> PairJudgement | None:
    """Another value of what one has one of, or another name of one kind; of notes, where a marker says so; two facts need none."""
    one, other = pair.one, pair.other
    both = {name for name in one.topics & other.topics if pair.of_facts or not name.startswith(_OF_FACTS)}
    alike = pair.of_facts and pair.older.names and pair.older.kind is pair.newer.kind
    alone = alike and any(not name.startswith(_OF_FACTS) for name in both)
    if not (other.marks & {"now", "change"} or pair.telling() or alone) or pair.is_told_apart or _says_no_more(pair):
        return None
    if both:
        return _found(pair, "replaces", "replaced: topic", min(both), 0.3 + like.near / 2)
    for (kind, mine), (its_kind, its) in product(sorted(one.kinds), sorted(other.kinds)):
        if kind == its_kind and (kind, its) not in one.kinds and _is_one_thing(pair, like):
            return _found(pair, "replaces", KIND, _against(mine, its), 0.3 + like.near / 2)
    return None


def _is_one_thing(pair: _Pair, like: _SharedWeight) -> bool:
    """True where a line names whom it is about, fills a slot, or shares a word: a listed name alone may be of anything."""
    return bool(pair.older.key or pair.older.names or like.shared)


def _alike(pair: _Pair, like: _SharedWeight) -> PairJudgement | None:
    """Two facts that share a telling word, the newer with another value or what else became of it."""
    if "kept" in pair.other.marks or pair.is_told_apart or pair.is_guess or _says_no_more(pair):
        return None
    against = _against_value(pair)
    needed, part = (_TELLING if against else _ALONE), _NEAR
    if pair.of_notes:  # which do not say whom they are about
        needed, part = 2 * needed, _HALF
    enough = pair.telling() >= needed and like.near >= part
    return _found(pair, "replaces", ALIKE, against or _words(pair), like.middle) if enough else None


def _says_no_more(pair: _Pair) -> bool:
    """True where one of the sentences says what the other one says, with the same numbers and times: it is a detail of it."""
    one, other = pair.one, pair.other
    if len(pair.shared) < min(len(one.words), len(other.words)) or not pair.shared or _at_two_times(one, other):
        return False
    mine, its = (frozenset(filter(is_numeral, terms(said.text))) for said in (one, other))
    return mine <= its or its <= mine
