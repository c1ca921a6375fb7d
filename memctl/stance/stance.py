"""Does a fact speak for a belief, against it, or end it? Few rules, each measured; what is not certain is asked or left alone.

Both texts become views (reading.py), and two views of one thing agree or disagree by their signs. "For" needs a shared
object, "against" and an end a shared object and a shared predicate. What somebody else said, what is asked, planned or
past says nothing, and neither do the names of those whom both lines are about.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import NamedTuple

from ..facts import Fact, Kind
from ..judgement import Judgement, judged
from ..language.names import entity_key
from .reading import Reading, View, opposed, read

_SILENT = frozenset(("aside", "hearsay"))
_UNSURE = frozenset(("aside", "hearsay", "hedge", "past"))
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

    @property
    def is_whole(self) -> bool:
        """True where one of the two is about nothing that the other is not about."""
        return bool(self.shared) and self.shared in (self.held.things, self.said.things)

    @property
    def is_same(self) -> bool:
        """True where moreover both begin with the same: "likes playing" is not "loves watching them play"."""
        return self.is_whole and self.held.head == self.said.head

    @property
    def is_again(self) -> bool:
        """True where nothing turns or limits the fact that does not turn the belief: "likes tea, but only at night"."""
        plain = self.fact.marks & _TURNING <= self.belief.marks
        return self.agree and plain and self.belief.denials == self.fact.denials


Found = tuple[str, str] | None
"""The kind of a judgement and its verdict."""


def no_longer(pair: ViewPair) -> Found:
    """What the belief says is over: "no longer", «перестал», 不再."""
    most = 2 * len(pair.shared) >= len(pair.held.things)
    return ("reversal", "ended") if pair.said.ended and not pair.agree and pair.is_whole and most else None


def another_instead(pair: ViewPair) -> Found:
    """Something else came in its place: "coffee instead of tea", «кофе вместо чая», 不是9点."""
    return ("reversal", "ended") if pair.said.instead and not pair.agree and pair.is_whole else None


def opposite_attitude(pair: ViewPair) -> Found:
    """The holder dislikes what they liked, or the other way round."""
    felt = pair.held.felt and pair.held.felt == pair.said.felt
    return ("evidence", "against") if felt and not pair.agree and pair.held.things == pair.said.things else None


def the_same_again(pair: ViewPair) -> Found:
    """The same is liked, wanted or disliked again; or a plain line is about the very same as the belief, and nothing else."""
    if pair.held.felt != pair.said.felt or not pair.is_again:
        return None
    same = pair.is_same if pair.held.felt else pair.belief.things == pair.fact.things == pair.shared
    return ("evidence", "for") if same else None


def denied(pair: ViewPair) -> Found:
    """A plain statement, all of it, is denied; or what it denies is done."""
    whole = pair.held.things == pair.belief.things and pair.held.things <= pair.said.things
    return ("evidence", "against") if whole and not pair.held.felt and not pair.agree else None


RULES: tuple[Callable[[ViewPair], Found], ...] = (
    no_longer,
    another_instead,
    opposite_attitude,
    the_same_again,
    denied,
)


def stance(belief: Fact, fact: Fact, *, canonical: Callable[[str], str] = entity_key) -> Judgement | None:
    """What `fact` says of `belief`: evidence "for" or "against", a reversal "ended", or None where that needs no question.

    `canonical` maps a name to the key of its entity. Both must name the same one. Never raises; the same arguments give
    the same answer.
    """
    told = fact.entities or tuple(name for name in belief.entities if name in fact.text)
    shared = {canonical(name) for name in belief.entities} & {canonical(name) for name in told}
    apart = belief.valid and fact.valid and not belief.valid.meets(fact.valid)
    if not shared or apart:
        return None
    names = frozenset(name for name in (*belief.entities, *told) if canonical(name) in shared)
    held, said = read(belief.text, names), read(fact.text, names)
    pairs = [ViewPair(*views, held, said) for views in product(_counting(held), _counting(said))]
    others = any(canonical(name) not in shared for name in told)
    plain = not (others or (held.marks | said.marks) & _UNSURE or opposed(held.things, said.things))
    is_opinion = fact.kind is Kind.OPINION
    return (next(_found(pairs, is_opinion), None) if plain else None) or _asked(pairs, is_opinion)


def _counting(text: Reading) -> list[View]:
    return [view for view in text.views if view.things and not view.marks & _SILENT]


def _found(pairs: list[ViewPair], is_opinion: bool) -> Iterator[Judgement]:
    """What the rules say, the surest rule first. Where somebody else may be meant (`before`), no rule speaks.

    Who holds the opposite opinion now has ended the older one.
    """
    for rule in RULES:
        for pair in pairs:
            found = None if pair.held.before | pair.said.before else rule(pair)
            if found and rule is opposite_attitude and is_opinion:
                found = ("reversal", "ended")
            if found:
                name = rule.__name__.replace("_", " ")
                yield judged(*found, name, f"{name}: {_words(pair, pair.shared)}")


def _asked(pairs: list[ViewPair], is_opinion: bool) -> Judgement | None:
    """The question that two lines about the same are worth: what a person likes or wants, or most of a statement."""
    worth = [pair for pair in pairs if _is_alike(pair)]
    if not worth:
        return None
    pair = max(worth, key=lambda each: len(_both(each)))
    held, said = pair.belief.things, pair.fact.things
    ends = opposed(held, said)
    agree = pair.agree and not ends
    words = (
        _words(pair, _both(pair))
        if ends is None
        else f"{pair.belief.words.get(ends[0], ends[0])}, {pair.fact.words.get(ends[1], ends[1])}"
    )
    numbers = [{thing for thing in things if thing.isdigit()} for things in (held, said)]
    changed = not agree or "now" in pair.said.marks or bool(numbers[0] and numbers[1] and not numbers[0] & numbers[1])
    if is_opinion and changed and pair.held.felt == pair.said.felt and pair.held.felt:
        return judged("reversal", "ended", "another view", f"another view: {words}")
    return judged("evidence", "for" if agree else "against", "same topic", f"same topic: {words}")


def _words(pair: ViewPair, shared: frozenset[str]) -> str:
    """The words of the fact for what is shared, in their order."""
    return ", ".join(word for key, word in reversed(pair.fact.words.items()) if key in shared)


def _both(pair: ViewPair) -> frozenset[str]:
    return (pair.held.things | pair.held.before) & (pair.said.things | pair.said.before)


def _is_alike(pair: ViewPair) -> bool:
    """True where two views share a third of what one of them is about: two attitudes of either, else of the belief's.

    Of a long belief without an attitude several things must be shared.
    """
    shared, about = _both(pair), len(pair.held.things | pair.held.before)
    if pair.held.felt and pair.said.felt:
        about = min(about, len(pair.said.things | pair.said.before))
    short = len(pair.belief.things) <= _SEVERAL or any(view.felt for view in pair.belief.views)
    return len(shared) >= _ALIKE * about and len(shared) >= (1 if short else _SEVERAL)
