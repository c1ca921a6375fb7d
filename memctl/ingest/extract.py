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

from ..facts import Fact, Kind, Period
from ..language.relations import DATED, relation_key
from ..markdown.grammar import one_line
from .conversation import Before, Statement, agreed, answered, corrected, outcome, reported
from .patterns import fold, language_of, pairs, rx, starts
from .sentences import Sentence, sentences
from .statements import Found, judged, opened, own_part
from .turns import Turn
from .wording import dated, names_in, narrated

__all__ = ["Candidate", "candidates"]

_GAME_TURNS = 1
_CALL_OFF = 40  # characters of a turn that only ends a game
_NEAR = 4  # turns over which a pronoun may reach back


class Candidate(NamedTuple):
    """A fact that a turn seems to state. `fact.source` is left to whoever knows the file.

    `turn` is `Turn.number`; `rule` one of decision, preference, correction, fact, person, project, remember, outcome;
    `reason` says what was seen, in words that a person can check; `quote` is the sentence as it was said.
    """

    fact: Fact
    turn: int
    rule: str
    reason: str
    quote: str


def candidates(turns: Iterable[Turn], *, owner: str | None = None) -> Iterator[Candidate]:
    """The candidates of a conversation, in order, each once; `owner` is the name of the person who speaks as the user.

    Streaming: looks at a few turns before, never ahead. Never raises, whatever the text.
    """
    before = Before()
    for turn in turns:
        if turn.role in ("user", "assistant"):
            before.hear(turn.text)
        if turn.role == "user":
            yield from _from_user(turn, before, owner)
        elif turn.role == "assistant":
            yield from _from_assistant(turn, before, owner)


# -- the person -------------------------------------------------------------------------------------------------------


def _from_user(turn: Turn, before: Before, owner: str | None) -> Iterator[Candidate]:
    if _is_fiction(turn, before):
        return
    before.problem = before.problem if before.attempt else None
    said = list(sentences(turn.text))
    before.attempt = None
    held: tuple[_Told, Sentence] | None = None
    for at, sentence in enumerate(said):
        found = _judged(turn, sentence, before, not at)
        if held and not found and not held[0].outcome:
            yield from _made(turn, *_both(*held, sentence), before, owner)
        held = None
        if found and at + 1 < len(said) and starts(said[at + 1].language, "taken_back").match(said[at + 1].plain):
            held = found, sentence
        elif found:
            yield from _made(turn, found, sentence, before, owner)
        _note(turn, sentence, before, found)


class _Told(NamedTuple):
    """What was found, with what only earlier turns tell."""

    found: Found
    outcome: str | None = None
    task: str | None = None
    context: str | None = None  # told instead of the sentence's own words, already in the third person


def _both(told: _Told, sentence: Sentence, after: Sentence) -> tuple[_Told, Sentence]:
    """A sentence with the one that takes it back ("Actually no, 17"), which says too little alone."""
    gap = "" if sentence.language == "zh" else " "
    joined = Sentence(sentence.said + gap + after.said, sentence.plain + gap + after.plain, sentence.language)
    said = (told.context or told.found.said) + gap + after.said
    return told._replace(found=replace(told.found, said=said), context=None), joined


def _judged(turn: Turn, sentence: Sentence, before: Before, first: bool) -> _Told | None:
    number = turn.number
    yes = agreed(number, sentence, before) if first else None
    if yes:
        return _Told(yes, context=yes.said)
    answer = answered(number, sentence, before) if first else None
    if answer:
        return _Told(answer, context=answer.said)
    no = corrected(number, sentence, before)
    if no:
        return _Told(no[0], context=no[1])
    tried = outcome(number, sentence, before)
    if tried:
        return _Told(tried.found, tried.came, tried.task, tried.text)
    if rx(sentence.language, "remember_bare").search(own_part(sentence).plain):
        return _pointed_back(number, before)
    found = judged(_resolved(number, sentence, before))
    if found and found.rule == "decision" and rx(sentence.language, "anaphor_object").search(found.said):
        meant = before.proposed(number, 2)
        if not meant or meant.offer:
            return None
        return _Told(found, context=f"{found.said.rstrip(' .!。！')}: {meant.clause}")
    return _Told(found) if found else None


def _pointed_back(number: int, before: Before) -> _Told | None:
    """ "Remember that" alone: what was said just before."""
    if not before.last_said or number - before.last_said[0] > 2:
        return None
    said = before.last_said[1]
    if rx(said.language, "question").search(said.plain):
        return None
    return _Told(Found("remember", Kind.WORLD, own_part(said).said, "said to be remembered, just before", 0.9))


def _note(turn: Turn, sentence: Sentence, before: Before, found: _Told | None) -> None:
    """Keep what the next sentences may point at."""
    language = sentence.language
    before.last_said = (turn.number, sentence)
    if not found and not rx(language, "question").search(sentence.plain):
        before.statements.append(Statement(turn.number, sentence.said, language, False))
    if opened(sentence, "attempt_start"):
        before.attempt = sentence.said
    if rx(language, "problem").search(sentence.plain) and not (found and found.outcome):
        before.problem = own_part(sentence).said.strip(" .?!。？！")


def _is_fiction(turn: Turn, before: Before) -> bool:
    """A game or a story: neither this turn nor the answer to it says anything true."""
    head = fold(turn.text[:2000])
    language = language_of(head)
    if rx(language, "fiction_ends").search(head):
        before.fiction = 0
        return len(head) < _CALL_OFF
    if starts(language, "fiction_start").match(head) or rx(language, "fiction_opens").search(head):
        before.fiction = -1 if rx(language, "fiction_stays").search(head) else _GAME_TURNS
        return True
    if before.fiction < 0:
        return True
    before.fiction = 0
    return False


# -- the assistant ----------------------------------------------------------------------------------------------------


def _from_assistant(turn: Turn, before: Before, owner: str | None) -> Iterator[Candidate]:
    if before.fiction:
        return
    before.listen(turn.number, turn.text)
    for sentence in sentences(turn.text):
        found = reported(sentence)
        if found:
            came = "fail" if rx(sentence.language, "failed").search(sentence.plain) else "ok"
            yield from _made(turn, _Told(found, came if found.rule == "outcome" else None), sentence, before, owner)
        elif len(sentence.said) < 200 and not rx(sentence.language, "question").search(sentence.plain):
            before.statements.append(Statement(turn.number, sentence.said, sentence.language, False))


# -- from what was found to a fact ------------------------------------------------------------------------------------


def _made(turn: Turn, told: _Told, sentence: Sentence, before: Before, owner: str | None) -> Iterator[Candidate]:
    found, language = told.found, sentence.language
    said = told.context or found.said
    day = turn.when.date() if turn.when else None
    text, period = dated(narrated(said, language, owner, turn.role), language, day)
    text = _tidy(text)
    if not text or before.is_recalled(text) or before.is_recalled(sentence.said) or not before.is_new(text):
        return
    names = names_in(fold(found.said if not told.context else said), language, tuple(before.names))
    before.name(names)
    _remember_subjects(turn.number, names, found, before)
    before.statements.append(Statement(turn.number, text, language, True))
    fact = Fact(
        found.kind, text, _about(names, text, owner), confidence=found.confidence, importance=found.importance, valid=period,
        outcome=told.outcome if found.kind is Kind.EXPERIENCE else None, task=_tidy(told.task or "") or None,
        cues=_cues(found, told, fold(text), language),
    )  # fmt: skip
    yield Candidate(_with_key(fact), turn.number, found.rule, one_line(found.reason), sentence.said)


def _tidy(text: str) -> str:
    """One line without marks of a list at its ends, closed by a full stop as it was."""
    return one_line(re.sub(r"[*_]{2}", "", text)).strip(" ,;:-–—•·、，；：")


def _about(names: tuple[str, ...], text: str, owner: str | None) -> tuple[str, ...]:
    names = tuple(name for name in names if name.strip() and not set("[]|#\n") & set(name))
    return (*names, owner)[:3] if owner and owner in text and owner not in names else names


def _with_key(fact: Fact) -> Fact:
    """The fact with the slot that its text fills; a date that is the value is no time at which it holds."""
    if fact.kind is not Kind.WORLD or not fact.entities:
        return fact
    key = relation_key(fact.text, fact.entities[:1])
    if not key:
        return fact
    valid: Period | None = None if key in DATED else fact.valid
    return replace(fact, key=key, entities=fact.entities[:1], valid=valid)


def _resolved(number: int, sentence: Sentence, before: Before) -> Sentence:
    """The sentence with "she" or "it" at its beginning as the name that was spoken of a little before."""
    said, plain, language = sentence
    for pattern, named in (("he_start", before.person), ("it_start", before.thing)):
        match = starts(language, pattern).match(plain) if named and number - named[0] <= _NEAR else None
        if match and named:
            name = named[1]
            return Sentence(name + said[match.end() :], fold(name) + plain[match.end() :], language)
    return sentence


def _remember_subjects(number: int, names: tuple[str, ...], found: Found, before: Before) -> None:
    if names:
        before.person = (number, names[0])
        before.thing = before.thing if found.rule == "person" else before.person


def _cues(found: Found, told: _Told, plain: str, language: str) -> tuple[str, ...]:
    """One to three groups of other words that a person would ask with."""
    by_rule = dict(pairs(language, "rule_cues"))
    name = f"outcome-{told.outcome}" if told.outcome else found.rule
    topics = [words for pattern, words in pairs(language, "cues") if re.search(pattern, plain, re.IGNORECASE)]
    return tuple(dict.fromkeys([*topics[:2], *filter(None, [by_rule.get(name)])]))
