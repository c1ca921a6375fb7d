"""Turns of a conversation -> candidate facts, by rules in English, Russian and Chinese, without a model.

A person's sentences are judged one by one (statements.py); of the assistant's only what it says that it did, and what the
person agreed to. A few turns are remembered (conversation.py), so that "that worked" can say what did, and a correction
what it corrects. One pass, bounded memory.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple

from ..facts import Fact, Kind
from ..language.relations import DATED, relation_key
from ..markdown.grammar import one_line
from .conversation import Before, EarlierStatement, agreed, answered, corrected, outcome, reported
from .patterns import fold, language_of, pairs
from .sentences import Sentence, sentences
from .statements import FoundStatement, own_part, statement
from .turns import Turn
from .wording import dated, names_in, narrated

_GAME_TURNS = 1
_CALL_OFF = 40  # characters of a turn that only ends a game
_NEAR = 4  # turns over which a pronoun may reach back


class CandidateFact(NamedTuple):
    """A fact that a turn seems to state. `fact.source` is left to whoever knows the file.

    `turn` is `Turn.number`; `rule` one of decision, preference, correction, fact, person, project, remember, outcome;
    `reason` says what was seen, in words that a person can check; `quote` is the sentence as it was said.
    """

    fact: Fact
    turn: int
    rule: str
    reason: str
    quote: str


def candidates(turns: Iterable[Turn], *, owner: str | None = None) -> Iterator[CandidateFact]:
    """The candidates of a conversation, in order, each once; `owner` is the name of the person who speaks as the user.

    Streaming: looks at a few turns before, never ahead. Never raises, whatever the text.
    """
    before = Before()
    for turn in turns:
        if turn.role in ("user", "assistant"):
            before.hear(turn.text)
            found = _of_user(turn, before) if turn.role == "user" else _of_assistant(turn, before)
            for each, sentence in found:
                yield from _candidate(turn, each, sentence, before, owner)


# -- the person -------------------------------------------------------------------------------------------------------


def _of_user(turn: Turn, before: Before) -> Iterator[tuple[FoundStatement, Sentence]]:
    """What the sentences of a message state; each is noted in `before` when the next one is asked for."""
    if _is_fiction(turn, before):
        return
    before.problem = before.problem if before.attempt else None
    before.attempt = None
    said = list(sentences(turn.text))
    held: tuple[FoundStatement, Sentence] | None = None
    for at, sentence in enumerate(said):
        found = _judged(turn.number, sentence, before, not at)
        if held and not found and not held[0].outcome:
            yield _both(*held, sentence)
        held = None
        if found and at + 1 < len(said) and said[at + 1].opens("taken_back"):
            held = found, sentence
        elif found:
            yield found, sentence
        _note(turn, sentence, before, found)


def _both(found: FoundStatement, sentence: Sentence, after: Sentence) -> tuple[FoundStatement, Sentence]:
    """A sentence with the one that takes it back ("Actually no, 17"), which says too little alone."""
    gap = "" if sentence.language == "zh" else " "
    joined = Sentence(sentence.said + gap + after.said, sentence.plain + gap + after.plain, sentence.language)
    return found._replace(said=(found.told or found.said) + gap + after.said, told=None), joined


def _judged(number: int, sentence: Sentence, before: Before, first: bool) -> FoundStatement | None:
    """What a sentence states: with what was said before it, if it speaks of that, else by itself."""
    if first and (found := agreed(number, sentence, before) or answered(number, sentence, before)):
        return found
    found = corrected(number, sentence, before) or outcome(number, sentence, before)
    if found:
        return found
    if own_part(sentence).has("remember_bare"):
        return _pointed_back(number, before)
    found = statement(_resolved(number, sentence, before))
    if not found or found.rule != "decision" or not sentence._replace(plain=found.said).has("anaphor_object"):
        return found
    meant = before.proposed(number, 2)
    return found._replace(told=f"{found.said.rstrip(' .!。！')}: {meant.clause}") if meant and not meant.offer else None


def _pointed_back(number: int, before: Before) -> FoundStatement | None:
    """ "Remember that" alone: what was said just before."""
    if not before.last_said or number - before.last_said[0] > 2 or before.last_said[1].has("question"):
        return None
    said = own_part(before.last_said[1]).said
    return FoundStatement("remember", Kind.WORLD, said, "said to be remembered, just before", 0.9)


def _resolved(number: int, sentence: Sentence, before: Before) -> Sentence:
    """The sentence with "she" or "it" at its beginning as the name that was spoken of a little before."""
    for pronoun, named in (("he_start", before.person), ("it_start", before.thing)):
        match = sentence.opens(pronoun) if named and number - named[0] <= _NEAR else None
        if match and named:
            rest = sentence.cut(match.end())
            return Sentence(named[1] + rest.said, fold(named[1]) + rest.plain, sentence.language)
    return sentence


def _note(turn: Turn, sentence: Sentence, before: Before, found: FoundStatement | None) -> None:
    """Keep what the next sentences may point at."""
    before.last_said = (turn.number, sentence)
    if not found and not sentence.has("question"):
        before.statements.append(EarlierStatement(turn.number, sentence.said))
    if sentence.opens("attempt_start"):
        before.attempt = sentence.said
    if sentence.has("problem") and not (found and found.outcome):
        before.problem = own_part(sentence).said.strip(" .?!。？！")


def _is_fiction(turn: Turn, before: Before) -> bool:
    """A game or a story: neither this turn nor the answer to it says anything true."""
    folded = fold(turn.text[:2000])
    head = Sentence(folded, folded, language_of(folded))
    if head.has("fiction_ends"):
        before.fiction = 0
        return len(folded) < _CALL_OFF
    if head.opens("fiction_start") or head.has("fiction_opens"):
        before.fiction = -1 if head.has("fiction_stays") else _GAME_TURNS
        return True
    if before.fiction < 0:
        return True
    before.fiction = 0
    return False


# -- the assistant ----------------------------------------------------------------------------------------------------


def _of_assistant(turn: Turn, before: Before) -> Iterator[tuple[FoundStatement, Sentence]]:
    if before.fiction:
        return
    before.listen(turn.number, turn.text)
    for sentence in sentences(turn.text):
        found = reported(sentence)
        if found:
            yield found, sentence
        elif len(sentence.said) < 200 and not sentence.has("question"):
            before.statements.append(EarlierStatement(turn.number, sentence.said))


# -- from what was found to a fact ------------------------------------------------------------------------------------


def _candidate(
    turn: Turn, found: FoundStatement, sentence: Sentence, before: Before, owner: str | None
) -> Iterator[CandidateFact]:
    """The candidate for what was found, unless it was said before or recalled from memory."""
    language, said = sentence.language, found.told or found.said
    day = turn.when.date() if turn.when else None
    text, period = dated(narrated(said, language, owner, turn.role), language, day)
    text = _tidy(text)
    if not text or before.is_recalled(text) or before.is_recalled(sentence.said) or not before.is_new(text):
        return
    names = names_in(fold(said), language, tuple(before.names))
    before.name(names)
    if names:
        before.person = (turn.number, names[0])
        before.thing = before.thing if found.rule == "person" else before.person
    before.statements.append(EarlierStatement(turn.number, text))
    fact = Fact(
        found.kind, text, _about(names, text, owner), confidence=found.confidence, importance=found.importance, valid=period,
        outcome=found.outcome, task=_tidy(found.task or "") or None, cues=_cues(found, fold(text), language),
    )  # fmt: skip
    yield CandidateFact(_with_key(fact), turn.number, found.rule, one_line(found.reason), sentence.said)


def _tidy(text: str) -> str:
    """One line without marks of a list at its ends, closed by a full stop as it was."""
    return one_line(re.sub(r"[*_]{2}", "", text)).strip(" ,;:-–—•·、，；：")


def _about(names: tuple[str, ...], text: str, owner: str | None) -> tuple[str, ...]:
    names = tuple(name for name in names if name.strip() and not set("[]|#\n") & set(name))
    return (*names, owner)[:3] if owner and owner in text and owner not in names else names


def _with_key(fact: Fact) -> Fact:
    """The fact with the slot that its text fills; a date that is the value is not a time at which it holds."""
    if fact.kind is not Kind.WORLD or not fact.entities:
        return fact
    key = relation_key(fact.text, fact.entities[:1])
    if not key:
        return fact
    return replace(fact, key=key, entities=fact.entities[:1], valid=None if key in DATED else fact.valid)


def _cues(found: FoundStatement, plain: str, language: str) -> tuple[str, ...]:
    """One to three groups of other words that a person would ask with."""
    rule = f"outcome-{found.outcome}" if found.outcome else found.rule
    topics = [words for pattern, words in pairs(language, "cues") if re.search(pattern, plain, re.IGNORECASE)]
    by_rule = [words for name, words in pairs(language, "rule_cues") if name == rule]
    return tuple(dict.fromkeys([*topics[:2], *by_rule]))
