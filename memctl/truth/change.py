"""Whether a newer line replaces an older one in words, or cannot hold beside it. Pure: two statements in, a judgement out.

A line is a *state* ("lives in Leeds") or an *event* ("ran 5 km"); events replace nothing and are not replaced. A sentence
replaces an earlier one where it carries a marker of change and speaks of the same, where both say the same with another
number or time, or where both give one topic ("residence") another value. Two things that one likes are no change.
Somebody else's word asks at most; a line that is not trusted decides nothing.
"""

import math
import re
from collections.abc import Callable, Iterable, Iterator
from datetime import date
from functools import cached_property
from itertools import product
from typing import NamedTuple

from ..facts import Fact, Kind
from ..judgement import Judgement, judged
from ..language.analyzer import terms
from ..language.names import entity_key, has_han, name_terms
from ..language.relations import listed_in
from ..language.words import HAN_CHARS
from . import statement as reading
from .statement import OF_FACTS, STEM, ReadSentence, is_numeral, listed, opposites, read_sentences, section_words

Weight = Callable[[str], float]
"""How telling a word is, from 0 (in every line) to 1."""

_SAME = 0.75  # of what two sentences are about, that both share, to be one sentence with another value
_NEAR = 0.3  # of what the shorter of two sentences is about, to speak of one thing
_ALIKE = 0.4  # of notes, where "now" is all that tells of a change
_HALF, _BRIEF = 0.45, 3  # of notes: that part of the shorter one, and words that a brief one has
_ENDED = 0.6  # of what the older one is about, that the newer one says is over
_AT_MARKER = 0.5  # weight of what both share that stands at a marker of change
_FEWEST = 0.25  # weight of what both share, below which a marker of change says nothing
_TELLING = 0.55  # of facts: that weight with a marker of change, or with another number or time
_ALONE = 0.75  # and without either, where both begin with it or it is half
_TWO_WORDS = 1.0  # and elsewhere: no single word weighs as much
KIND, ALIKE, NEVER, HEARSAY = "replaced: kind", "replaced: alike", "conflict: never", "replaced: hearsay"
VALUE, OPPOSITE, VIEW = "replaced: value", "conflict: opposite", "another view"
VIEWS = (VALUE, OPPOSITE, VIEW)  # of two opinions: the holder may think otherwise now
_OF_SERIES = 0.2  # the nearness of what is a value of the same measure, and no more: it is asked about last


class Statement(NamedTuple):
    """A line as the judge sees it: `names` are the search terms of those it is about, `day` when it was told."""

    text: str
    names: frozenset[str]
    kind: Kind
    day: date | None
    key: str | None = None

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
        return reading.speaker_of(self.text)


class PairJudgement(NamedTuple):
    """A judgement and how near the two lines are, from 0 to 1: of several older lines the nearest is meant."""

    nearness: float
    judgement: Judgement


def judge_change(
    older: Statement, newer: Statement, weight: Weight = lambda _: 1.0, about: tuple[str, ...] = ()
) -> PairJudgement | None:
    """What the newer of two lines about one entity makes of the older; None where both may well hold. With `about`, whose
    lines they are, of opinions also what only stance is sure enough of."""
    if older.speaker != newer.speaker or newer.speaker in listed("machine"):
        return None
    sides = ([said for said in side.sentences if not said.is_long] for side in (older, newer))
    lines = _Lines(older, newer, weight)
    pairs = (_Pair(lines, one, other) for one, other in product(*sides) if _may_tell(one, other))
    found = [judgement for judgement in map(_judged, pairs) if judgement]
    # A part of a sentence may be the nearest, and lack the word that tells of the change.
    firmest = max(found, key=lambda one: (one.judgement.rule != ALIKE, one.nearness), default=None)
    if older.kind is newer.kind is Kind.OPINION and (firmest is None or firmest.judgement.rule in (ALIKE, OPPOSITE)):
        from ..stance.stance import is_told_from_other_end, stance  # of which most recalls know nothing

        is_sure = firmest is not None and firmest.judgement.rule == OPPOSITE
        view = None if is_sure or not about else stance(*(Fact(said.kind, said.text, about) for said in (older, newer)))
        view = view if view and view.kind == "reversal" and not view.is_certain else None
        if (view or firmest) and is_told_from_other_end(older.text, newer.text):
            return None
        if view:
            return PairJudgement(firmest.nearness if firmest else 1.0, view)
    return firmest and firmest._replace(nearness=max(one.nearness for one in found))


def judge_series(older: Statement, newer: Statement) -> PairJudgement | None:
    """Of two facts that name one thing, another amount of one measure, in whatever words: where the newer one is known to
    replace an amount of that thing, the older one may be another of its values."""
    lines = _Lines(older, newer, lambda _: 1.0)
    measured = ((one, other) for one, other in product(older.sentences, newer.sentences) if one.units & other.units)
    pairs = (_Pair(lines, one, other) for one, other in measured if _is_one_subject(one, other))
    named = (pair for pair in pairs if pair.is_named and not pair.is_guess and _may_change(pair))
    against = next(filter(None, map(_against_value, named)), "")
    return PairJudgement(_OF_SERIES, judged("replacement", "replaces", ALIKE, against)) if against else None


def judge_view(belief: Fact, fact: Fact, canonical: Callable[[str], str] = entity_key) -> Judgement | None:
    """What a fact says of a belief (stance/stance.py); where that is no reversal, an opinion of the same words with another
    number, another time or an opposite is one."""
    from ..stance.stance import stance

    found = stance(belief, fact, canonical=canonical)
    about = {canonical(name) for name in belief.entities} & {canonical(name) for name in fact.entities}
    if fact.kind is not Kind.OPINION or not about or (found and (found.is_certain or found.kind == "reversal")):
        return found
    older, newer = (Statement(said.text, name_terms(about), fact.kind, None) for said in (belief, fact))
    change = judge_change(older._replace(day=date.min), newer._replace(day=date.max))
    if not change or change.judgement.rule not in VIEWS:
        return found
    return judged("reversal", "ended", VIEW, f"{VIEW}: {change.judgement.reason}")


def view_sought(belief: str, about: frozenset[str]) -> Iterator[tuple[frozenset[str], int]]:
    """Of a belief: sets of keys, and how many of one an opinion must have given for `judge_view` to find another view where
    `stance` finds none; `about` are the keys of those whom both name."""
    for said in read_sentences(belief, name_terms(about)):
        heads, count = frozenset(f"#{word[:STEM]}" for word in said.words), len(said.words)
        shared = math.ceil(_SAME / 2 * (count + 1))  # so many words of it at least, beside another number or time
        yield heads if said.numbers or said.times else frozenset(), max(1, len(heads) - (count - shared))
        opposed = said.words & opposites().keys()  # all its other words are the same
        yield frozenset(f"!{word} {sorted(said.words - {word})}" for word in opposed), 1


def view_given(opinion: str, about: frozenset[str]) -> Iterator[frozenset[str]]:
    """Of an opinion: what meets the keys that `view_sought` has of beliefs."""
    for said in read_sentences(opinion, name_terms(about)):
        yield from (frozenset((f"#{word[:STEM]}",)) for word in said.words if said.numbers or said.times)
        for word in said.words & opposites().keys():
            yield from (frozenset((f"!{other} {sorted(said.words - {word})}",)) for other in opposites()[word])


class _Lines:
    """Two lines, and what is the same for every pair of their sentences."""

    def __init__(self, older: Statement, newer: Statement, weight: Weight) -> None:
        self.older, self.newer, self.weight = older, newer, weight
        # Where nothing but their places orders the two.
        self.together = older.day is None or newer.day is None or older.day == newer.day
        self.of_facts = older.is_brief and newer.is_brief  # or brief notes that are no part of a conversation
        self.of_notes = Kind.NOTE in (older.kind, newer.kind)
        self.of_opinions = older.kind is newer.kind is Kind.OPINION
        self.is_told_apart = newer.kind is Kind.EXPERIENCE is not older.kind  # a state, and what happened later
        self.most_sentences = max(len(older.sentences), len(newer.sentences))
        self._whole: dict[frozenset[str], float] = {}

    def weigh(self, words: Iterable[str]) -> float:
        """The weight of some words together."""
        return sum(map(self.weight, words))

    def weigh_all(self, sentence: ReadSentence) -> float:
        """The weight of all words of a sentence, which stands beside many others."""
        if sentence.words not in self._whole:
            self._whole[sentence.words] = self.weigh(sentence.words)
        return self._whole[sentence.words]


class _Pair:
    """A sentence of the older line beside one of the newer."""

    def __init__(self, lines: _Lines, one: ReadSentence, other: ReadSentence) -> None:
        self.lines, self.one, self.other = lines, one, other
        self.shared = _shared(one.words, other.words)
        # Somebody else is said to have said it, or nobody is sure; what one wants oneself is an opinion.
        self.is_guess = other.is_unsure and not lines.of_opinions
        self.at_two_times = bool(one.times and other.times and one.times != other.times)

    @cached_property
    def common(self) -> frozenset[str]:
        """The shared words but units, which two things may share; the measures of one thing that both sentences name are with
        them, and where the line says no more than an amount, all are."""
        if all(said.words <= said.units | said.money for said in self.lines.newer.sentences):
            return self.shared
        units = self.one.units | self.other.units
        # "runs 5 km" and "commute is 12 km"
        are_two = self.shared <= units and not (self.one.words <= units or self.other.words <= units)
        theirs = self.other.units if are_two or not self.is_named else frozenset()
        return self.shared.difference(self.other.money, listed("intent"), theirs)

    @cached_property
    def is_named(self) -> bool:
        """True where both sentences name whom their lines are about."""
        mine, its = terms(self.one.text), terms(self.other.text)
        return not self.lines.newer.names.isdisjoint(self.lines.older.names.intersection(mine, its))

    @property
    def identified(self) -> set[str]:
        """The terms of names with a digit in the newer one: they say whom it is about, as any name does."""
        return {*terms(" ".join(self.other.identifiers))}

    @property
    def both_name(self) -> set[str]:
        """The terms of names in both, by their capitals: a place, a firm or a person that two matters have in common."""
        texts = self.one.text, self.other.text
        mine, its = ({*terms(" ".join(re.findall(r"\b[A-ZА-Я][^\W\d_]+", text)))} for text in texts)
        return mine & its & {*terms(" ".join(re.findall(r"(?<=\w )[A-ZА-Я][^\W\d_]+", ". ".join(texts))))}

    @cached_property
    def telling(self) -> float:
        """The weight of what two facts share, but for words like "likes", which they may share about two things, and for whom."""
        if not (self.common and self.lines.of_facts):
            return 0.0
        words = self.common - listed("attitudes") - self.identified - self.one.aside - self.other.aside
        return self.lines.weigh([word for word in words if word not in opposites()])

    def found(self, rule: str, reason: str, nearness: float, verdict: str = "replaces") -> PairJudgement:
        """The judgement of a rule on the two; a guess asks, whatever the rule, and is half as near."""
        kind = "conflict" if verdict == "disagrees" else "replacement"
        if self.is_guess and rule != NEVER:
            rule, nearness = HEARSAY, nearness / 2
        return PairJudgement(nearness, judged(kind, verdict, rule, reason))


def _shared(one: frozenset[str], other: frozenset[str]) -> frozenset[str]:
    """The words of the one that the other has too, in some form."""
    alike, heads = one & other, {word[:STEM] for word in other}
    rest = (word for word in one - alike if word[:STEM] in heads)
    return alike.union(word for word in rest if any(_is_form(word, its) for its in other))


def _may_tell(one: ReadSentence, other: ReadSentence) -> bool:
    """False without a word, a kind or a topic in common, or two words that may be opposites; and for two subjects."""
    kinds = ({kind for kind, _ in said.kinds} for said in (one, other))
    are_near = _shared(one.words, other.words) or len(one.words) == len(other.words) == 1 or set.intersection(*kinds)
    return bool(are_near or (one.topics and one.topics & other.topics)) and _is_one_subject(one, other)


def _is_form(one: str, other: str) -> bool:
    """True for one stem, or for two of which one goes on for a few letters ("edit", "editor")."""
    short, long = sorted((one, other), key=len)
    return one == other or (len(short) >= STEM and len(long) - len(short) < 4 and long.startswith(short))


def _judged(pair: _Pair) -> PairJudgement | None:
    one, other = pair.one, pair.other
    if {"never"} & (one.marks ^ other.marks):
        return _never(pair)
    if not _may_change(pair):
        return None
    lines = pair.lines
    same = _compared(pair, pair.shared)
    found = _other_value(pair, same) or _denied(pair, same)
    is_elsewhere = frozenset() < pair.shared <= other.brought  # "moved the ficus to the kitchen", where others stand
    if found or lines.together or "kept" in other.marks or is_elsewhere:
        return found
    like = _compared(pair, pair.common)
    return next(filter(None, (rule(pair, like) for rule in (_ended, _changed, _topic, _alike))), None)


def _may_change(pair: _Pair) -> bool:
    """False where the older line tells what happened, or a guess, and where the newer one adds to it."""
    one, other = pair.one, pair.other
    lines = pair.lines
    if "added" in other.marks or ("part" in other.marks - one.marks and not one.times):
        return False
    is_passing = "passing" in other.marks - one.marks and not other.numbers
    if is_passing or ("unsure" in one.marks and not lines.of_opinions):
        return False
    if "record" in one.marks and lines.of_facts:
        return True
    if lines.of_facts and lines.older.kind is not Kind.EXPERIENCE:
        return "event" not in one.marks & other.marks or bool(other.marks & {"cancelled", "change", "now"})
    if (lines.older.kind is Kind.EXPERIENCE or "event" in one.marks) and "cancelled" not in other.marks:
        return False
    # Of a log, sentences that each say one thing, told on two days; a diary tells a story, and "!" of a moment.
    is_plain = not lines.together and not one.text.rstrip().endswith(("!", "！"))
    return lines.of_facts or (is_plain and (bool(lines.older.speaker) or lines.most_sentences <= _BRIEF))


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


def _compared(pair: _Pair, words: frozenset[str]) -> _SharedWeight:
    shared, mine, its = pair.lines.weigh(words), pair.lines.weigh_all(pair.one), pair.lines.weigh_all(pair.other)
    alike = 2 * shared / (mine + its) if mine + its else 0.0
    return _SharedWeight(shared, alike, shared / mine if mine else 0.0, shared / its if its else 0.0)


def _is_one_subject(one: ReadSentence, other: ReadSentence) -> bool:
    """False where the sentences are about two people of a family, or about the first and the second of several."""
    for mine, its in ((one, other), (other, one)):
        if not (mine.kin <= its.kin | its.people or _is_named_in(mine, its)):
            return False
    named = one.identifiers, other.identifiers
    if named[0] and named[1] and not (named[0] <= named[1] or named[1] <= named[0]):
        return False
    which, other_which = one.modified, other.modified
    are_two = which.isdisjoint(other_which | other.words) and other_which.isdisjoint(one.words)
    if (which and other_which and are_two) or "another" in other.marks - one.marks:
        return False
    return one.which == other.which or not (one.which and other.which)


def _is_named_in(one: ReadSentence, other: ReadSentence) -> bool:
    """True where the other sentence begins with the name of the one of a family that the first is about: "my sister Julia …"."""
    if has_han(one.text):
        begins = (word for word in one.words & other.words if other.text.startswith(word))
        return len(one.kin) == 1 and any(kin + word in one.text for word in begins for kin in one.kin)
    called = re.findall(r"(?=\b([^\W_]+) ([^\W_]+)\b(?!['’]))", one.text)
    names = [name for kin, name in called if name[0].isupper() and {*terms(kin)} == one.kin]
    return any(re.match(rf"{name} (?=[^\W\d_]{{3}})(?![^\W_]*[A-ZА-Я])", other.text) for name in names)


def _other_value(pair: _Pair, like: _SharedWeight) -> PairJudgement | None:
    """One sentence with another number, or another time."""
    done = "event" in pair.other.marks and not {"change", "new"} & pair.other.marks and not pair.lines.of_facts
    if done or like.alike < _SAME or pair.lines.is_told_apart or not (against := _against_value(pair)):
        return None
    if not pair.lines.together or {"now", "change"} & pair.other.marks:
        return pair.found(VALUE, against, like.middle)
    amounts = pair.one.numbers + pair.other.numbers
    if len(pair.one.numbers) == len(pair.other.numbers) == 1 and all(amount.stated for amount in amounts):
        return pair.found("conflict: number", against, like.alike, "disagrees")
    return None


def _against_value(pair: _Pair) -> str:
    """The number or time in the newer sentence that stands against one of the older; empty where none does."""
    one, other = pair.one, pair.other
    if one.beside and other.beside and one.beside != other.beside:
        return ""
    for mine, its in product(one.numbers, other.numbers) if not pair.at_two_times else ():
        counted = bool(pair.lines.of_facts or pair.shared - {mine.unit, its.unit})
        if mine.value != its.value and counted and _is_form(mine.unit or "-", its.unit or "-"):
            return f"{mine.text} against {its.text}"
    if one.times and other.times and not one.times & other.times and not pair.lines.together:
        return " against ".join(section_words("time", said.text) for said in (one, other))
    return ""


def _ended(pair: _Pair, like: _SharedWeight) -> PairJudgement | None:
    """The newer sentence says that what the older one states is over, or that the plan is off."""
    one, other = pair.one, pair.other
    over = "ended" in other.marks and "denied" not in one.marks and like.covered >= _ENDED
    off = "cancelled" in other.marks and (like.near >= _NEAR or one.topics & other.topics)
    if "unsure" in other.marks or not (over or off):
        return None
    return pair.found("replaced: ended", _spelled(pair.one, pair.common), 0.5 + like.near / 2, "cancels")


def _spelled(sentence: ReadSentence, stems: frozenset[str]) -> str:
    """The pieces of a sentence that some of its words cover, as they stand in it, each once."""
    text = sentence.text
    found = [word for word in re.finditer(rf"[^\W_{HAN_CHARS}]+", text) if not stems.isdisjoint(terms(word[0])[:1])]
    found += [pair for stem in filter(has_han, stems) for pair in re.finditer(stem, text)]
    covered = {i for each in found for i in range(*each.span())}
    return " ".join(dict.fromkeys("".join(char if i in covered else " " for i, char in enumerate(text)).split()))


def _denied(pair: _Pair, like: _SharedWeight) -> PairJudgement | None:
    """Word for word the same, one of them denied or with an opposite in it: both cannot hold."""
    one, other = pair.one, pair.other
    if {"now", "change", "event", "unsure"} & other.marks:
        return None
    is_one_denied = ("denied" in one.marks) != ("denied" in other.marks)
    says_less = "denied" in other.marks - one.marks and "plan" not in one.marks and like.of_newer > 0.99
    if ((is_one_denied and like.alike > 0.99) or says_less) and _is_whole(pair):
        return pair.found("conflict: denied", _spelled(pair.one, pair.common), like.alike, "disagrees")
    mine, its = one.words - other.words, other.words - one.words
    if len(mine) == len(its) == 1 and its <= opposites().get(min(mine), frozenset()) and not is_one_denied:
        against = f"{_spelled(one, mine)} against {_spelled(other, its)}"
        return pair.found(OPPOSITE, against, 1.0, "disagrees")
    return None


def _never(pair: _Pair) -> PairJudgement | None:
    """That something was never done, and that it was: what was done later ends the first, else both cannot be true."""
    denies, says = sorted((pair.one, pair.other), key=lambda said: "never" not in said.marks)
    part = pair.lines.weigh(pair.shared) / (min(map(pair.lines.weigh_all, (denies, says))) or 1.0)
    telling = [word for word in pair.shared if pair.lines.weight(word) >= _FEWEST]
    if says.marks & {"denied", "unsure", "plan", "added"} or len(telling) < 2 or part < _HALF:
        return None
    later = says is pair.other and not pair.lines.together
    return pair.found(NEVER, _spelled(pair.one, pair.common), part, "replaces" if later else "disagrees")


def _is_whole(pair: _Pair) -> bool:
    """True for two facts that share some words; else where each sentence is all that its line says, in few words."""
    sizes = len(pair.lines.older.sentences), len(pair.lines.newer.sentences), len(pair.one.words) // (_BRIEF + 1)
    return sizes == (1, 1, 0) or (pair.lines.of_facts and len(pair.shared) > 1)


def _changed(pair: _Pair, like: _SharedWeight) -> PairJudgement | None:
    """A marker of change on the same matter. Of notes, which say more than facts, more of it must be the same."""
    marks = pair.other.marks & {"now", "change", "new"}
    if not marks or like.shared < _FEWEST:
        return None
    at = pair.common & pair.other.changed
    at -= pair.identified if marks == {"new"} else set()  # "a new battery in NJ-02": what is new is not the box
    at_marker = pair.lines.weigh(at) >= _AT_MARKER
    if pair.lines.of_facts and not pair.lines.of_notes:
        found = at_marker or (marks != {"new"} and (pair.telling >= _TELLING or like.near >= _HALF))
    else:
        brief = max(len(pair.one.words), len(pair.other.words)) <= 2 * _BRIEF
        much = like.near >= _HALF and (len(pair.common) > 1 or len(pair.one.words) <= _BRIEF)
        told = "change" in marks or ("now" in marks and like.alike >= _ALIKE)
        found = told and (much or ("change" in marks and at_marker and brief))
    return pair.found("replaced: change", _spelled(pair.one, pair.common), like.middle) if found else None


def _topic(pair: _Pair, like: _SharedWeight) -> PairJudgement | None:
    """Another value of what one has one of, or another name of one kind; of notes, where a marker says so; two facts need none."""
    one, other, lines = pair.one, pair.other, pair.lines
    is_of_one = lines.of_facts and bool(lines.older.names or like.shared)
    both = {name for name in one.topics & other.topics if is_of_one or not name.startswith(OF_FACTS)}
    both &= listed_in("topics of becoming") if lines.is_told_apart else both
    both = {name for name in both if _is_of_one(name, one, other)}
    alike = lines.of_facts and lines.older.names and lines.older.kind is lines.newer.kind
    alone = alike and any(not name.startswith(OF_FACTS) for name in both)
    if not (both or (one.kinds and other.kinds)) or not (other.marks & {"now", "change"} or pair.telling or alone):
        return None
    if _says_no_more(pair):
        return None
    if both:
        spelled = filter(None, (_spelled(each, reading.topic_terms()[min(both)]) for each in (one, other)))
        return pair.found("replaced: topic", " against ".join(dict.fromkeys(spelled)) or min(both), 0.3 + like.near / 2)
    if lines.is_told_apart or not (lines.older.key or lines.older.names or like.shared):
        return None  # a listed name alone may be of anything
    for (kind, mine), (its_kind, its) in product(sorted(one.kinds), sorted(other.kinds)):
        if kind == its_kind and (kind, its) not in one.kinds:
            said = [_spelled(of, frozenset({name})) or name for of, name in ((one, mine), (other, its))]
            return pair.found(KIND, " against ".join(said), 0.3 + like.near / 2)
    return None


def _is_of_one(topic: str, one: ReadSentence, other: ReadSentence) -> bool:
    """False where one of the sentences is about somebody or something that the other one does not name: "our office moved"."""
    mine, its = ({word for name, word in said.others if name == topic} for said in (one, other))
    return not (mine | its) or bool(mine & (its | other.words) or its & one.words)


def _alike(pair: _Pair, like: _SharedWeight) -> PairJudgement | None:
    """Two facts that share a telling word, the newer with another value or what else became of it."""
    if pair.telling < _TELLING or "kept" in pair.other.marks or pair.lines.is_told_apart or pair.is_guess:
        return None
    if _says_no_more(pair):
        return None
    against = _against_value(pair)
    is_of_one = like.alike >= _HALF or _begin_alike(pair)
    needed, part = (_TELLING if against else _ALONE if is_of_one else _TWO_WORDS), _NEAR
    if pair.lines.of_notes:  # which do not say whom they are about
        needed, part = 2 * needed, _HALF
    enough = pair.telling >= needed and like.near >= part and (bool(against) or not pair.common <= pair.both_name)
    return pair.found(ALIKE, against or _spelled(pair.one, pair.common), like.middle) if enough else None


def _begin_alike(pair: _Pair) -> bool:
    """True where the first words that tell what the sentences are about are one: "Passport is in the safe", "Passport in the drawer"."""
    first = [next((term for term in terms(said.text) if term in said.words), "") for said in (pair.one, pair.other)]
    return bool(first[0]) and _is_form(*first)


def _says_no_more(pair: _Pair) -> bool:
    """True where one of the sentences says what the other one says, with the same numbers and times: it is a detail of it."""
    one, other = pair.one, pair.other
    if len(pair.shared) < min(len(one.words), len(other.words)) or not pair.shared or pair.at_two_times:
        return False
    mine, its = (frozenset(filter(is_numeral, terms(said.text))) for said in (one, other))
    return mine <= its or its <= mine
