"""Does a fact speak for a belief, against it, or neither? Rules and word lists, no model; every verdict has its reason.

Both texts become clauses of signed items (phrases.py). Two clauses that share a topic agree or disagree by the product
of the signs of what they share (overlap.py, rules.py). A false contradiction costs more than a missed one, so "against"
asks for both sides: all that the denying text denies must be what the other affirms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from ..facts import Fact, Period
from ..language.names import entity_key, is_han
from .lexicon import Lexicon, Phrase, shipped, tokens
from .phrases import Clause, analyse, is_verb
from .rules import RuleVerdict, judge


class Stance(NamedTuple):
    """What a fact says about a belief.

    `verdict` is "for", "against" or "neither"; `strength` 1.0 plain, 0.5 hedged, 0.0 neither; `reason` a short phrase
    with the words found; `sure` False where the rules cannot tell and a model may; `reversal` True for an explicit end
    of this very claim ("no longer", «передумал», 不再).
    """

    verdict: str
    strength: float
    reason: str
    sure: bool = True
    reversal: bool = False


_ASIDE = {
    "question": "a question",
    "if": "hypothetical",
    "past": "another time",
    "hearsay": "somebody else's words",
    "quoted": "somebody else's words",
    "although": "only conceded",
}
_NOT_YET = {"wonder": "a question", "plan": "a plan", "mention": "only mentions the subject"}
_LONG_PAST = 27  # days of a closed period that, without a clock, tells of a time gone by


def stance(
    belief: Fact,
    fact: Fact,
    *,
    canonical: Callable[[str], str] = entity_key,
    valid: tuple[Period | None, Period | None] = (None, None),
    lexicon: Lexicon | None = None,
) -> Stance:
    """Whether `fact` speaks for or against `belief`.

    `canonical` maps a name to the key of its entity; `valid` says when each is true, where the caller knows;
    `lexicon` replaces the shipped word lists. Never raises; the same arguments give the same answer.
    """
    words = lexicon or shipped()
    own = {canonical(name) for name in belief.entities}
    theirs = {canonical(name) for name in fact.entities}
    if own and theirs and not own & theirs:
        return _neither(f"about {fact.entities[0]}, not {belief.entities[0]}")
    if valid[0] and valid[1] and not valid[0].meets(valid[1]):
        return _neither("another time")
    han = tuple(sorted({name for name in (*belief.entities, *fact.entities) if name and all(map(is_han, name))}))
    held, said = analyse(belief.text, words, han), analyse(fact.text, words, han)
    if _are_same_words(belief.text, fact.text) and not any(c.flags & {"wonder", "question", "if"} for c in said):
        return Stance("for", 1.0, "the same words")
    if valid == (None, None) and fact.valid and not belief.valid and _is_long_past(fact.valid):
        return _neither("another time")
    names = _names(belief, fact, held, said, canonical)
    return _strongest(list(_verdicts(held, said, names, fact.outcome == "ok")))


def _neither(reason: str, sure: bool = True) -> Stance:
    return Stance("neither", 0.0, reason, sure)


def _are_same_words(one: str, other: str) -> bool:
    if max(len(one), len(other)) > 2000:
        return one.strip() == other.strip()
    first, second = ([token.word for token in tokens(text) if token.kind != "p"] for text in (one, other))
    return first == second and bool(first)


def _is_long_past(period: Period) -> bool:
    return bool(period.first and period.last) and (period.last - period.first).days >= _LONG_PAST  # type: ignore[operator]


def _strongest(found: list[RuleVerdict]) -> Stance:
    """The verdict about most of the belief; of two that disagree, what is said last in the fact."""
    spoken = [each for each in found if each.verdict != "neither" and each.verdict != "aside"]
    if not spoken:
        best = max(found, key=lambda each: each.weight, default=RuleVerdict("neither", 0, "nothing in common"))
        return _neither(best.reason, sure=best.verdict == "aside" or best.weight < 1)
    best = max(spoken, key=lambda each: (each.weight, each.place, each.verdict == "against"))
    rivals = [each for each in spoken if each.verdict != best.verdict and each.weight >= best.weight - 0.3]
    if rivals and all(each.place == best.place for each in rivals):
        return _neither(f"{best.reason}, but {rivals[0].reason}", sure=False)
    best = max([best, *rivals], key=lambda each: each.place)
    reversal = best.reversal and best.verdict == "against"
    return Stance(best.verdict, 0.5 if best.hedged else 1.0, best.reason, True, reversal)


def _verdicts(held: Sequence[Clause], said: Sequence[Clause], names: _Names, ok: bool) -> Iterator[RuleVerdict]:
    """What each clause of a fact says about each clause of a belief."""
    teller, sentence = "", -1
    for place, whole in enumerate(said):
        teller = teller if whole.sentence == sentence else ""
        sentence = whole.sentence
        clause, other, teller = _own_part(whole, names, teller)
        for belief in held:
            part, not_yet = _settled_part(belief, clause)
            aside = next((why for flag, why in _ASIDE.items() if flag in whole.flags - belief.flags), "")
            aside = aside or (other if whole.items and not clause.items else not_yet if not part.items else "")
            found = judge(belief, part, names.mine, ok)
            if aside:
                found = found._replace(verdict="aside", reason=aside)
            yield found._replace(hedged="hedge" in whole.flags, place=place)


def _settled_part(belief: Clause, clause: Clause) -> tuple[Clause, str]:
    """A clause without the segments that only plan, mention or wonder, and why; what the belief does too stays."""
    gone = {
        clause.segments[at]: reason
        for at, phrase in enumerate(clause.phrases)
        for flag, reason in _NOT_YET.items()
        if flag in phrase.sections and flag not in belief.flags
    }
    return (clause.without(set(gone)), next(iter(gone.values()))) if gone else (clause, "")


# -- whose words, and about whom --------------------------------------------------------------------------------------


class _Names(NamedTuple):
    """Keys of the names that the belief is about, of the other names of the fact, and of the words of the belief."""

    mine: frozenset[str]
    strange: frozenset[str]
    known: frozenset[str]


_PREDICATES = frozenset(
    ["like", "dislike", "ask", "refuse", "stop", "not", "light", "say", "scales", "hedge", "change", "slots"]
)


def _names(
    belief: Fact, fact: Fact, held: Sequence[Clause], said: Sequence[Clause], canonical: Callable[[str], str]
) -> _Names:
    own = {canonical(name) for name in belief.entities}
    mine = frozenset(key for name in belief.entities for key in _keys(name))
    mine |= {
        phrase.key
        for clause in (*held, *said)
        for phrase in clause.phrases
        if (phrase.capital or phrase.kind in "ir" or "people" in phrase.sections) and canonical(phrase.word) in own
    }
    strange = frozenset(key for name in fact.entities if canonical(name) not in own for key in _keys(name)) - mine
    return _Names(mine, strange, frozenset(phrase.key for clause in held for phrase in clause.phrases))


def _keys(name: str) -> Iterator[str]:
    for token in tokens(name):
        yield from (token.stem, token.word)
        if token.kind == "h":
            yield from (token.raw[n : n + 2] for n in range(len(token.raw) - 1))


def _own_part(clause: Clause, names: _Names, teller: str) -> tuple[Clause, str, str]:
    """The clause without what is about or by somebody else; who that is; whose words the rest of the sentence is."""
    gone: set[int] = set()
    other = teller
    for segment in dict.fromkeys(clause.segments):
        part = [phrase for phrase, n in zip(clause.phrases, clause.segments, strict=True) if n == segment]
        who = teller or _subject(part, names)
        if not who:
            continue
        gone.add(segment)
        if teller:
            continue
        other = f"about {who}"
        if any(phrase.sections & {"say", "hearsay", "source"} for phrase in part):
            other = teller = f"the words of {who}"
        elif not _has_predicate(part, names):  # "the neighbour's cat, a friend of ours, …"
            teller = other
    return (clause.without(gone), other, teller) if gone else (clause, "", teller)


def _has_predicate(part: Sequence[Phrase], names: _Names) -> bool:
    """True where a segment says something beside a name."""
    rest = (p for p in part if not p.capital and not set(p.key.split()) & (names.strange | names.mine))
    return any(p.sections & (_PREDICATES - {"scales"}) or (p.kind in "wrh" and not p.sections) for p in rest)


def _subject(part: Sequence[Phrase], names: _Names) -> str:
    """Somebody else who is named before the predicate of a segment."""
    for at, phrase in enumerate(part[:7]):
        keys = {*phrase.key.split(), phrase.word.casefold()}
        kin_next = any("kin" in after.sections and after.key not in names.known for after in part[at + 1 : at + 3])
        if keys & names.mine or ("own" in phrase.sections and "whose" not in phrase.sections):
            if not kin_next:
                return ""
        elif at and "beside" in part[at - 1].sections:
            continue
        elif phrase.key in names.known:
            return ""
        elif phrase.sections & {"kin", "people"} or keys & names.strange:
            joined = any(set(p.key.split()) & names.mine for p in part[at + 2 : at + 4])
            return "" if joined and "coordinate" in part[at + 1].sections else phrase.word
        elif phrase.sections & _PREDICATES or phrase.kind == "p" or is_verb(phrase):
            return ""
    return ""
