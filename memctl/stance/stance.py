"""Does a fact speak for a belief, against it, or end it? Few rules, each measured; what is not certain is asked or left alone.

Both texts become views, and two views of one thing agree or disagree by their signs. "For" needs a shared
object, "against" and an end a shared object and a shared predicate. What somebody else said, what is asked, planned or
past says nothing, and neither do the names of those whom both lines are about.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, lru_cache
from itertools import product
from types import MappingProxyType
from typing import NamedTuple

from ..facts import Fact, Kind
from ..judgement import Judgement, judged
from ..language.analyzer import fold, stop_terms, terms
from ..language.names import entity_key, has_han, is_han, letter_script
from ..language.synonyms import groups
from ..language.words import HAN_CHARS, languages, lines, pattern, without_yo

_SILENT = frozenset(("aside", "hearsay"))
_DOUBTED = frozenset(("aside", "hearsay", "hedge", "past", "unsure"))
"""Marks of which no rule is certain: what has one is at most a question. Take none out, a rule would END beliefs then; what a
question weighs until it is answered stands in beliefs/confidence.py. `hedge` is of words, `unsure` of how a clause is built."""
_TURNING = frozenset(("now", "turn"))
_ALIKE = 1 / 3  # of what a view is about, for a question
_SEVERAL = 2  # things that two plain statements must share, for a question


class ViewPair(NamedTuple):
    """A view of a belief and one of a fact about the same thing, and the texts that they stand in."""

    held: View
    said: View
    belief: Reading
    fact: Reading

    @property
    def shared(self) -> frozenset[str]:
        """The things that both are about."""
        return self.held.things & self.said.things

    @property
    def agree(self) -> bool:
        """True where neither or both are denied."""
        return self.held.sign == self.said.sign


Found = tuple[str, str] | None  # the kind of a judgement and its verdict


def no_longer(pair: ViewPair) -> Found:
    """What the belief says is over: "no longer", «перестал», 不再."""
    most = pair.shared == pair.said.things and 2 * len(pair.shared) >= len(pair.held.things)
    return ("reversal", "ended") if pair.said.ended and not pair.agree and most else None


def another_instead(pair: ViewPair) -> Found:
    """Something else came in its place: "coffee instead of tea", «кофе вместо чая», 不是9点."""
    same = pair.shared == pair.said.things and pair.held.felt == pair.said.felt
    less = [view.things for view in pair.belief.views if view.instead]  # "tea over coffee": only "coffee over tea"
    same = same and (not less or any(view.things in less for view in pair.fact.views if not view.instead))
    return ("reversal", "ended") if pair.said.instead and not pair.agree and same else None


def opposite_attitude(pair: ViewPair) -> Found:
    """The holder dislikes what they liked, or the other way round; what they like less than something is not disliked."""
    felt = pair.held.felt and pair.held.felt == pair.said.felt and not (pair.held.instead or pair.said.instead)
    return ("evidence", "against") if felt and not pair.agree and pair.held.things == pair.said.things else None


def the_same_again(pair: ViewPair) -> Found:
    """The same is liked, wanted or disliked again; or a plain line is about the very same as the belief, and nothing else."""
    held, said, belief, fact = pair
    mine, its = (_listed_terms("prepositions") & text.small for text in (belief, fact))
    if held.felt:  # and both begin with the same: "likes playing" is not "loves watching them play"
        same = said.things == held.things and held.head == said.head and mine <= its
        same = same and belief.in_order(pair.shared) == fact.in_order(pair.shared)
    else:  # as it is written: an ending may tell who does it to whom
        same = belief.things == fact.things and mine == its and [*belief.words.values()] == [*fact.words.values()]
    # Nothing turns or limits the fact that does not turn the belief: "likes tea, but only at night".
    turned = fact.marks & _TURNING <= belief.marks and belief.marks & {"turn"} <= fact.marks
    plain = turned and belief.denials == fact.denials and held.instead == said.instead
    return ("evidence", "for") if same and plain and pair.agree and held.felt == said.felt else None


def denied(pair: ViewPair) -> Found:
    """A plain statement, all of it, is denied; or what it denies is done."""
    whole = pair.held.things == pair.belief.things and pair.held.things <= pair.said.things
    return ("evidence", "against") if whole and not pair.held.felt and not pair.agree else None


RULES: tuple[Callable[[ViewPair], Found], ...] = (
    no_longer, another_instead, opposite_attitude, the_same_again, denied,
)  # fmt: skip


def stance(belief: Fact, fact: Fact, *, canonical: Callable[[str], str] = entity_key) -> Judgement | None:
    """What `fact` says of `belief`: evidence "for" or "against", a reversal "ended", or None where that needs no question.

    `canonical` maps a name to the key of its entity. Both must name the same one. Never raises.
    """
    told = fact.entities or tuple(name for name in belief.entities if name in fact.text)
    shared = {canonical(name) for name in belief.entities} & {canonical(name) for name in told}
    apart = belief.valid and fact.valid and not belief.valid.meets(fact.valid)
    if not shared or apart:
        return None
    names = frozenset(name for name in (*belief.entities, *told) if canonical(name) in shared)
    # No rule speaks and nothing is asked, whatever the marks, where no two views are whole or alike.
    plain_held, plain_said = read_statement(belief.text, names, False), read_statement(fact.text, names, False)
    pairs = [ViewPair(*views, plain_held, plain_said) for views in product(plain_held.views, plain_said.views)]
    is_opinion = fact.kind is Kind.OPINION
    if not any(_is_alike(pair, is_opinion) or pair.shared in (pair.held.things, pair.said.things) for pair in pairs):
        return None
    held, said = read_statement(belief.text, names), read_statement(fact.text, names)
    mine, its = ([v for v in text.views if v.things and not v.marks & _SILENT] for text in (held, said))
    pairs = [ViewPair(*views, held, said) for views in product(mine, its)]
    others = any(canonical(name) not in shared for name in told)
    other = held.letters != said.letters or opposed(held.spelled, said.spelled) is not None
    other |= not _listed_terms("telling").isdisjoint(held.small ^ said.small)
    doubts = (held.marks | said.marks) & _DOUBTED
    if others or other:
        return _asked(pairs, is_opinion)
    return (None if doubts else next(_found(pairs, is_opinion), None)) or _asked(
        pairs, is_opinion, doubts == {"hedge"} <= said.marks
    )


def sought(text: str, names: frozenset[str]) -> Iterator[tuple[frozenset[str], int]]:
    """Of a belief: sets of keys, and how many of one of them a fact must have `given` for `stance` to find anything.

    That follows from the rules and `_is_alike`. "-" stands before what may be over, "|" and "=" before ends of scales.
    """
    read = read_statement(text, names, False)
    felt = any(view.felt for view in read.views)
    least = 1 if felt or len(read.things) <= _SEVERAL else _SEVERAL
    for things, about in ((view.things, view.things | view.before) for view in read.views):
        yield about, max(least, math.ceil(_ALIKE * len(about)))
        yield things, len(things)
        yield frozenset(f"-{thing}" for thing in things), 1
        yield frozenset(f"{sign}{end}" for end in _ends(things) for sign in ("|=" if len(things) == 1 else "|")), 1


def given(text: str, names: frozenset[str], is_opinion: bool) -> Iterator[frozenset[str]]:
    """Of a fact: what meets what beliefs have `sought`; of keys in one set a belief must have all."""
    for view in read_statement(text, names, False).views:
        yield from (frozenset((thing,)) for thing in view.things | view.before)
        if view.ended or view.instead:
            yield frozenset(f"-{thing}" for thing in view.things)
        for language, number, side in _ends(view.things) if is_opinion else ():
            end = language, number, -side
            yield from (frozenset((f"{sign}{end}",)) for sign in ("|=" if len(view.things) == 1 else "="))


def _found(pairs: list[ViewPair], is_opinion: bool) -> Iterator[Judgement]:
    """What the rules say, the surest rule first. Where somebody else may be meant (`before`), no rule speaks; one time ends nothing.

    Who holds the opposite opinion now has ended the older one.
    """
    for rule in RULES:
        for pair in pairs:
            unsure = pair.held.before | pair.said.before or (pair.held.marks | pair.said.marks) & _DOUBTED
            found = None if unsure else rule(pair)
            if found and found[1] != "for" and "once" in pair.belief.marks | pair.fact.marks:
                continue
            if found and rule is opposite_attitude and is_opinion:
                found = ("reversal", "ended")
            if found:
                name = rule.__name__.replace("_", " ")
                yield judged(*found, name, f"{name}: {_words(pair, pair.shared)}")


def _asked(pairs: list[ViewPair], is_opinion: bool, is_hedged: bool = False) -> Judgement | None:
    """The question that two lines about the same are worth: what a person likes or wants, or most of a statement."""
    worth = [pair for pair in pairs if _is_alike(pair, is_opinion)]
    if not worth:
        return None
    pair = max(worth, key=lambda each: len(_both(each)))
    ends, turned = opposed(pair.belief.spelled, pair.fact.spelled), _is_turned_round(pair.belief, pair.fact)
    if ends and turned and _says_the_same(pair.belief, pair.fact, ends):
        ends, turned = None, False
    elif ends and not turned and not _is_one_subject(pair, ends):
        ends = None
    agree = pair.agree and not ends
    words = _words(pair, _both(pair))
    if ends:
        words = f"{pair.belief.spellings.get(ends[0], ends[0])}, {pair.fact.spellings.get(ends[1], ends[1])}"
    numbers = [one.letters.union(filter(str.isdigit, one.things)) for one in (pair.belief, pair.fact)]
    changed = not agree or "now" in pair.said.marks or bool(all(numbers) and not numbers[0] & numbers[1])
    felt = changed and pair.held.felt == pair.said.felt and pair.held.felt
    if is_opinion and (felt or ends or turned):
        return judged("reversal", "ended", "another view", f"another view: {words}")
    is_hedged &= "unsure" not in pair.held.marks | pair.said.marks
    rule = "same topic, hedged" if is_hedged else "same topic"
    return judged("evidence", "for" if agree else "against", rule, f"same topic: {words}")


def _words(pair: ViewPair, shared: frozenset[str]) -> str:
    """The words of the fact for what is shared, in their order; of Chinese, pairs of characters that overlap are one."""
    said = ", ".join(word for key, word in reversed(pair.fact.words.items()) if key in shared)
    return re.sub(r"(?<=[\u3400-\u9fff])([\u3400-\u9fff]), \1(?=[\u3400-\u9fff])", r"\1", said)


def _both(pair: ViewPair) -> frozenset[str]:
    return (pair.held.things | pair.held.before) & (pair.said.things | pair.said.before)


def _is_turned_round(held: Reading, said: Reading) -> bool:
    """True where both compare the same things, and name them in another order: "tabs are better than spaces"."""
    both = held.things & said.things
    return "compared" in held.marks & said.marks and held.in_order(both) != said.in_order(both)


def is_told_from_other_end(one: str, other: str) -> bool:
    """True for two comparisons that say the same: "Anna is taller than Ben", "Ben is shorter than Anna"."""
    held, said = read_statement(one), read_statement(other)
    ends = opposed(held.spelled, said.spelled) if _is_turned_round(held, said) else None
    return ends is not None and _says_the_same(held, said, ends)


def _says_the_same(held: Reading, said: Reading, ends: tuple[str, str]) -> bool:
    """True where two comparisons from the two ends of a scale are of the same things, and both or none deny."""
    return held.denials == said.denials and held.things - {*ends} == said.things - {*ends}


def _is_one_subject(pair: ViewPair, ends: tuple[str, str]) -> bool:
    """False where each side names first, beside the ends of a scale, what the other does not: a kitchen, a bedroom."""
    near = _group_of("near")
    apart = ([key for key in reversed(side.words) if key in side.things - {*ends}] for side in (pair.belief, pair.fact))
    named = [[near.get(key, key) for key in keys] for keys in apart]
    return not all(named) or named[0][0] in named[1] or named[1][0] in named[0]


def _is_alike(pair: ViewPair, is_opinion: bool) -> bool:
    """True where two views share a third of what that of the belief is about.

    Of a long belief without an attitude several things must be shared; of one with an attitude, what that is about. An
    opinion that is nothing but the other end of a scale is about the same: "should be calmer".
    """
    ends = opposed(pair.held.things, pair.said.things) if is_opinion else None
    if ends and ({ends[0]} == pair.held.things or {ends[1]} == pair.said.things):
        return _is_one_subject(pair, ends)
    shared, about = _both(pair), len(pair.held.things | pair.held.before)
    felt = any(view.felt for view in pair.belief.views)
    if felt and not pair.held.felt:
        return False
    short = len(pair.belief.things) <= _SEVERAL or felt
    return len(shared) >= _ALIKE * about and len(shared) >= (1 if short else _SEVERAL)


# -- the view of a text -----------------------------------------------------------------------------------------------
# A text as stance reads it: views, each of something, with its sign, and why it may not count.
#
# The words are patterns (`language/data/<language>/stance.txt`). An attitude or a denial reaches to the right, up to the end
# of its clause or to the next attitude; one with nothing to its right is about what stands before it.

_TURNS = ("hearsay", "instead", "end", "dislike", "prefer", "like", "want", "not", "anymore", "than")
_FELT = frozenset(("dislike", "prefer", "like", "want"))
_DENYING = frozenset(("instead", "end", "dislike", "not"))
_MARKS = ("aside", "hedge", "hearsay", "past", "now", "turn", "once", "compared")
_MOST_CHARACTERS = 2000
_SIGNS = " .,;:!?…()[]{}«»“”\"'*"
_LETTER = re.compile(
    f"(?:(?<=[{HAN_CHARS}])|(?<=\\w[\\s-])|(?<=\\w\\s[«“\"']))([A-HJ-ZА-Я])(?![A-Za-zА-Яа-яё0-9]|['’.]\\w)"
)
End = tuple[str, int, int]  # a language, a scale of it, and 1 or -1 for one of its ends


class View(NamedTuple):
    """What a clause says of something.

    `things` are keys of what it is about, `head` the first of them, `before` those of what stands before an attitude: whose attitude it is. `sign` is -1
    for what is denied, disliked or over. `felt` is `like` or `want` for an attitude, empty for a plain statement. `ended`:
    it held until now; `instead`: something else took its place. `marks` say why it may not count (`_DOUBTED`), that it is new
    (`now`), limited (`turn`), of one time (`once`), or a comparison (`compared`).
    """

    things: frozenset[str] = frozenset()
    head: str = ""
    before: frozenset[str] = frozenset()
    sign: int = 1
    felt: str = ""
    ended: bool = False
    instead: bool = False
    marks: frozenset[str] = frozenset()


class Reading(NamedTuple):
    """A text: its views in order, all its marks, how often it denies, dislikes or ends something, and its words by their keys.

    `letters` tell one of its kind from another: "vitamin C", «группа Б», 方案A. `small` are keys of words that are nobody's object.
    """

    views: tuple[View, ...]
    marks: frozenset[str]
    denials: int
    words: dict[str, str]
    letters: frozenset[str]
    small: frozenset[str]
    spellings: Mapping[str, str] = MappingProxyType({})  # of all words

    @property
    def things(self) -> frozenset[str]:
        """All that it is about."""
        return frozenset(thing for view in self.views for thing in view.things | view.before)

    @property
    def spelled(self) -> frozenset[str]:
        """The same, with the words that are nobody's object: "before lunch" is not "after lunch"."""
        return self.things | self.small

    def in_order(self, things: frozenset[str]) -> list[str]:
        """Some of what it is about, as it comes: "tabs are better than spaces"."""
        return [key for key in reversed(self.words) if key in things]


@lru_cache(maxsize=8192)
def read_statement(text: str, names: frozenset[str] = frozenset(), marked: bool = True) -> Reading:
    """What a text says; `names` are the spellings of whom it is about, which say nothing. Never fails.

    Without `marked` its views alone, and these without their marks, which cost the most.
    """
    own, others = _own_words(text[:_MOST_CHARACTERS], names)
    operators, known, clause_ends = _patterns(frozenset(map(letter_script, own)))
    marking = {name: mark for name, mark in known.items() if mark.search(own)} if marked else {}
    found: list[View] = []
    for sentence in re.split(r"(?<=[.!?;])\s|(?<=[。！？；])", own):
        heard: frozenset[str] = frozenset()
        for clause in clause_ends.split(sentence):
            marks = frozenset(name for name, mark in marking.items() if mark.search(clause))
            found += _views(clause, operators, marks | heard, found[-1] if found else None)
            heard |= marks & {"hearsay"}
    if not marked:
        return Reading(tuple(found), frozenset(), 0, {}, frozenset(), frozenset())
    denials = sum(match.lastgroup in _DENYING for match in operators.finditer(own))
    marks = frozenset(marking) | ({"hearsay"} if others or _is_liked(text, names, operators) else set())
    plain = operators.sub(" ", known["now"].sub(" ", own))
    small = (_light() | _listed_terms("telling")).intersection(_plain(plain))
    small |= {match["light"] or "" for match in _pieces().finditer(plain)}
    words, letters = dict(reversed(_keys(own))), frozenset(_LETTER.findall(text))
    return Reading(tuple(found), marks, denials, words, letters, small, dict(_spelled(own)))


def _is_liked(text: str, names: frozenset[str], operators: re.Pattern[str]) -> bool:
    """True where the names stand behind an attitude alone: "the dog likes Anna" is no view of hers."""
    felt = (match.start() for match in operators.finditer(text) if match.lastgroup in _FELT)
    places = [match.start() for name in names for match in _spelling_of(name).finditer(text)]
    return bool(places) and min(places) > next(felt, len(text))


def topics(text: str, names: frozenset[str] = frozenset()) -> frozenset[str]:
    """What a line is about, beside these names, and its scales: two lines without a common topic say nothing of each other."""
    things = read_statement(text, names, False).things
    return things.union(f"{language} {number}" for language, number, _ in _ends(things))


def opposed(one: frozenset[str], other: frozenset[str]) -> tuple[str, str] | None:
    """Two words, one of each side, that stand at the two ends of a scale of which neither side has both."""
    mine, its = _ends(one), _ends(other)
    for language, number, side in sorted(mine.keys()):
        end, turned = (language, number, side), (language, number, -side)
        if turned in its and turned not in mine and end not in its:
            return mine[end], its[turned]
    return None


@cache
def _patterns(scripts: frozenset[str]) -> tuple[re.Pattern[str], dict[str, re.Pattern[str]], re.Pattern[str]]:
    """What turns, ends or colours a view, what marks it, and where clauses end, in the languages written in these scripts."""
    chosen = tuple(name for name in languages() if scripts & set(lines(name, "language").get("script", ())))
    turns = "|".join(f"(?P<{name}>{pattern(chosen, 'stance', name)})" for name in _TURNS)
    ends = rf"[,，、:：()（）](?!\d)|\s[—–-]\s|{pattern(chosen, 'stance', 'clause')}"
    marks = {name: re.compile(pattern(chosen, "stance", name), re.IGNORECASE) for name in _MARKS}
    return re.compile(turns, re.IGNORECASE), marks, re.compile(ends, re.IGNORECASE)


def _listed(section: str) -> Iterator[str]:
    return (line for language in languages() for line in lines(language, "stance").get(section, ()))


@cache
def _light() -> frozenset[str]:
    """Keys of words that no statement has as its object."""
    return stop_terms() | _listed_terms("light")


@cache
def _listed_terms(section: str) -> frozenset[str]:
    return frozenset(term for line in _listed(section) for word in line.split() for term in terms(word))


@cache
def _scales() -> dict[str, frozenset[End]]:
    """The scales on which a word stands, by its key, and the end of each."""
    found: dict[str, frozenset[End]] = {}
    for language in languages():
        sections = lines(language, "stance")
        for number, line in enumerate((*sections.get("scales", ()), *sections.get("small scales", ()))):
            for side, end in zip((1, -1), line.split("|"), strict=True):
                for word in end.split(","):
                    key = " ".join(_plain(word))
                    found[key] = found.get(key, frozenset()) | {(language, number, side)}
    return found


@cache
def _group_of(section: str = "") -> dict[str, str]:
    """The first spelling of the group of other words for the same thing, by each single word of it."""
    found: dict[str, str] = {}
    for line in groups(section):
        spelled = [part.strip().lstrip("~+").strip() for part in line.split(",")]
        keys = [key for key in map(_plain, spelled) if len(key) == 1]
        for key in keys:
            found.setdefault(key[0], keys[0][0])
    return found


@cache
def _pieces() -> re.Pattern[str]:
    light = _alternation(word for line in _listed("light") for word in line.split())
    whole = _alternation(end.strip() for line in _listed("scales") for end in re.split("[,|]", line))
    return re.compile(
        rf"(?P<whole>{whole})|(?P<light>{light})|(?P<run>(?:(?!{light}|{whole})[{HAN_CHARS}])+)|[^\s{HAN_CHARS}]+"
    )


def _alternation(words: Iterable[str]) -> str:
    """The Chinese ones of some words, the longest first: they are cut out of a run that knows no spaces."""
    return "|".join(sorted((word for word in words if is_han(word[0])), key=len, reverse=True))


def _spelled(text: str) -> Iterator[tuple[str, str]]:
    """(key, as written) of each word: its stem; of a run of Chinese its pairs of characters, or the one that stands alone."""
    if not has_han(text):
        yield from ((found[0], word.strip(_SIGNS)) for word in text.split() if (found := terms(word)))
        return
    for match in _pieces().finditer(text):
        run = match["run"]
        if match["whole"]:
            yield match["whole"], match["whole"]
        elif run:
            yield from ((part, part) for part in [run[n : n + 2] for n in range(len(run) - 1)] or [run])
        elif not match["light"] and (found := terms(match[0])):
            yield found[0], match[0].strip(_SIGNS)


def _plain(text: str) -> list[str]:
    return [key for key, _ in _spelled(text)]


def _keys(text: str) -> list[tuple[str, str]]:
    """What a stretch of text is about, as `_spelled`, without function words and words that are nobody's object."""
    found = ((key, word) for key, word in _spelled(text) if key not in _light() and any(map(str.isalnum, key)))
    return [(_group_of().get(key, key), word) for key, word in found if len(key) > 1 or is_han(key) or key.isdigit()]


def _about(view: View, text: str) -> View:
    """The view, which is also about what `text` names."""
    keys = [key for key, _ in _keys(text)]
    return view._replace(things=view.things | set(keys), head=view.head or next(iter(keys), ""))


def _ends(things: frozenset[str]) -> dict[End, str]:
    return {end: thing for thing in sorted(things) for end in _scales().get(thing, ())}


# -- from text to clauses ---------------------------------------------------------------------------------------------

_QUOTED = re.compile(r"[«“「『\"][^»”」』\"]*[»”」』\"]")
_LONG = 3  # words of a quotation that is not a name


def _own_words(text: str, names: frozenset[str]) -> tuple[str, bool]:
    """The text without names and without what others said, and whether others said something.

    Before a person's own quoted words stand but their name and words that are nobody's object: "Anna said again: …".
    """
    text = without_yo(text)
    for name in sorted(names, key=len, reverse=True):
        text = _spelling_of(name).sub(" ", text)
    kept, at, others = "", 0, False
    for match in _QUOTED.finditer(text):
        is_others = len(_plain(match[0])) >= _LONG and bool(_keys(text[at : match.start()]))
        others |= is_others
        kept += text[at : match.start()] + (" " if is_others else match[0])
        at = match.end()
    return fold(kept + text[at:]), others


@lru_cache(maxsize=4096)
def _spelling_of(name: str) -> re.Pattern[str]:
    """A name in any case, with an @ and the endings of its language."""
    stem = re.sub(r"(?<=[а-яё]{2})[аеийоуыьэюя]$", "", without_yo(name.casefold()))
    ends = "" if is_han(name[-1:]) else r"(?:['’]s|[а-яё]{0,3})?(?!\w)"
    start = "" if is_han(name[:1]) else r"(?<!\w)"
    return re.compile(rf"{start}@?{re.escape(stem)}{ends}", re.IGNORECASE)


def _views(clause: str, operators: re.Pattern[str], marks: frozenset[str], last: View | None) -> list[View]:
    """The views of a clause with these marks; `last` is the view before it."""
    view, at = View(marks=marks), 0
    made: list[View] = []
    prefers, first = False, ""
    for match in operators.finditer(clause):
        view = _about(view, clause[at : match.start()])
        at = match.end()
        kind = match.lastgroup or ""
        if kind == "than" and prefers and view.things and view.sign > 0:
            kind = "instead"
        if kind in ("hearsay", "than"):
            continue
        prefers = kind == "prefer"
        if kind == "anymore":
            view = view._replace(ended=view.ended or view.sign < 0)
            continue
        turned = view.felt or view.ended or view.sign < 0
        unsure = marks | {"unsure"}  # "hates tea without milk", "does not mean to stop"
        if turned and kind == "not":
            view = view._replace(marks=unsure)
        if view.things and (turned or kind == "instead"):
            made.append(view)
            view = View(marks=unsure if kind == "end" else marks)
        elif view.things:
            first = view.head
            view = view._replace(things=frozenset(), head="", before=view.things)
        view = _turned(view, kind, made[-1] if made else last)
    view = _about(view, clause[at:])
    if not view.things and view.before:
        view = view._replace(things=view.before, head=first, before=frozenset())
    return [*made, view] if view.things or view.ended else made


def _turned(view: View, kind: str, last: View | None) -> View:
    if kind == "instead":  # "does not prefer coffee to tea", "for long trips prefers planes to trains"
        unsure = {"unsure"} if last and (last.sign < 0 or last.before) else set()
        return view._replace(sign=-1, instead=True, felt=last.felt if last else "", marks=view.marks | unsure)
    if kind == "not":
        return view._replace(sign=-view.sign)
    if kind == "end":  # who wants to stop, or did not, has not stopped
        unsure = {"unsure"} if view.felt or view.sign < 0 else set()
        return view._replace(sign=-1, ended=True, marks=view.marks | unsure)
    return view._replace(felt="want" if kind == "want" else "like", sign=-view.sign if kind == "dislike" else view.sign)
