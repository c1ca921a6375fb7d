"""Turns of a conversation -> candidate facts, by rules in English, Russian and Chinese, without a model.

Each sentence of a person is judged by itself (statements.py) or with what was said before it (conversation.py), of an
assistant only what it did or found out. Two people who talk are both persons. One pass, bounded memory.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import date
from typing import NamedTuple

from ..facts import Fact, Kind
from ..judgement import KEEP_FROM, RULES, Judgement, Tier, judged
from ..language.analyzer import terms
from ..language.relations import DATED, relation
from ..markdown.grammar import printable_line, render
from .conversation import Before, EarlierStatement, agreed, continued, corrected, found_out, joined, outcome
from .own_words import Sentence, fold, language_of, own_sentences, pairs
from .statements import FoundStatement, dated, names_in, narrated, own_part, remembered, standing_rule, statement
from .turns import Turn

_GAME_TURNS = 1
_ENOUGH = {"zh": 18}  # terms of a statement that is not joined to what it replies to; 6 in other languages


class CandidateFact(NamedTuple):
    """A fact that a turn seems to state. `fact.source` is left to whoever knows the file.

    `turn` is `Turn.number`; `rule` one of decision, preference, correction, person, plan, did, state, thing, remember,
    standing, outcome, agreed, chosen, answered, continued, report, finding, diagnosis; `judgement` says whether it is written or asked about,
    and why; `quote` is the sentence as it was said. `corrects` is the text whose place it takes,
    `instead` the old and the new value of a correction that says nothing more.

    An ingest adds for which `day` it would be kept, who said it (`role`) and on which `line` of the transcript, and whether it
    is `certain`; of what is, the `number`, counted from 1.
    """

    fact: Fact
    turn: int
    rule: str
    judgement: Judgement
    quote: str
    corrects: str | None = None
    instead: tuple[str, str] | None = None
    day: date = date.min
    role: str = ""
    line: int = 0
    certain: bool = False
    number: int = 0

    @property
    def reason(self) -> str:
        """What was seen, in words that a person can check."""
        return self.judgement.reason

    @property
    def anchor(self) -> str:
        """Where in which transcript it was said, `chat.jsonl#L12`; empty for an exchange."""
        return (self.fact.source or "").partition(":")[2]

    @property
    def text(self) -> str:
        """The line of the log that it would be."""
        return render(self.fact)

    @property
    def shown(self) -> str:
        """The same without its source and cues."""
        return render(replace(self.fact, source=None, cues=()))


def candidates(turns: Iterable[Turn], *, owner: str | None = None) -> Iterator[CandidateFact]:
    """The candidates of a conversation, in order, each once; `owner` is the name of the person who speaks as the user.

    Streaming: looks at a few turns before, never ahead. Never raises, whatever the text.
    """
    before = Before(owner)
    for turn in turns:
        before.meet(turn.role, turn.name)
        if turn.role in ("user", "assistant"):
            found = _of_person(turn, before) if turn.role == "user" else _of_assistant(turn, before)
            for each, sentence in found:
                yield from _candidate(turn, each, sentence, before, owner)


def _of_person(turn: Turn, before: Before) -> Iterator[tuple[FoundStatement, Sentence]]:
    """What the sentences of a message state; each is noted in `before` when the next one is asked for."""
    if _is_fiction(turn, before):
        return
    said = list(own_sentences(turn.text))
    held: tuple[FoundStatement, Sentence] | None = None
    for at, sentence in enumerate(said):
        found = _judged(turn, sentence, before, not at)
        if held and not found and not held[0].outcome:
            yield _both(*held, sentence)
        held = None
        if found and at + 1 < len(said) and said[at + 1].opens("taken_back"):
            held = found, sentence
        elif found:
            yield found, sentence
        if not found and not sentence.is_question:
            before.statements.append(EarlierStatement(turn.number, sentence.said))
        before.heard.append(before.as_heard(turn, sentence))


def _both(found: FoundStatement, sentence: Sentence, after: Sentence) -> tuple[FoundStatement, Sentence]:
    """A sentence with the one that takes it back ("Actually no, 17"), which says too little alone."""
    gap = "" if sentence.language == "zh" else " "
    joined = Sentence(sentence.said + gap + after.said, sentence.plain + gap + after.plain, sentence.language)
    return found._replace(said=(found.told or found.said) + gap + after.said, told=None), joined


def _judged(turn: Turn, sentence: Sentence, before: Before, first: bool) -> FoundStatement | None:
    """What a sentence states: with what was said before it, if it speaks of that, else by itself."""
    number = turn.number
    if not before.between_people:
        told = remembered(sentence) or standing_rule(sentence)
        if told:
            return told
        if own_part(sentence).has("remember_bare"):
            return _pointed_back(turn, sentence, before)
    if first and not before.between_people and (found := agreed(turn, sentence, before)):
        return found
    found = corrected(number, sentence, before) or outcome(turn, sentence, before)
    found = found or statement(before.resolved(number, own_part(sentence)))
    if found and (found.outcome or RULES[f"keep {found.rule}"].tier_from(KEEP_FROM) is Tier.CERTAIN):
        return found
    alone = found and len(terms(found.said)) >= _ENOUGH.get(sentence.language, 6)
    return found if alone else joined(turn, sentence, before) or found or continued(turn, sentence, before)


def _pointed_back(turn: Turn, sentence: Sentence, before: Before) -> FoundStatement | None:
    """ "Remember that" alone: what the same one said just before."""
    who = before.as_heard(turn, sentence).who
    said = next((each for each in reversed(before.heard) if each.who == who), None)
    if said is None or turn.number - said.turn > 2 or said.sentence.is_question:
        return None
    part = own_part(said.sentence).said
    return FoundStatement("remember", Kind.WORLD, part, "said to be remembered, just before", 0.9)


def _is_fiction(turn: Turn, before: Before) -> bool:
    """A game or a story: neither this turn nor the answer to it says anything true."""
    folded = fold(turn.text[:2000])
    head = Sentence(folded, folded, language_of(folded))
    if before.fiction and head.has("fiction_ends"):
        before.fiction = 0
        return False  # the game is over, and what else is said is so
    if head.opens("fiction_start"):
        before.fiction = -1 if head.has("fiction_stays") else _GAME_TURNS
        return True
    if before.fiction < 0:
        return True
    before.fiction = 0
    return False


def _of_assistant(turn: Turn, before: Before) -> Iterator[tuple[FoundStatement, Sentence]]:
    if before.fiction:
        return
    said = list(own_sentences(turn.text))
    report, after = before.reported(turn, any(each.has("diagnosis_found") for each in said)), None
    for sentence in said:
        before.heard.append(heard := before.as_heard(turn, sentence))
        found, after = found_out(heard, report, after), sentence
        if found:
            yield found, sentence


def _candidate(
    turn: Turn, found: FoundStatement, sentence: Sentence, before: Before, owner: str | None
) -> Iterator[CandidateFact]:
    """The candidate for what was found, unless it was said before or recalled from memory."""
    language, said = sentence.language, found.told or found.said
    speaker = (turn.name or owner) if turn.role == "user" else None
    day = turn.when.date() if turn.when else None
    text, period = dated(narrated(said, language, speaker, turn.role), language, day)
    text = _tidy(text)
    if not text or not before.is_new(text):
        return
    names = names_in(fold(said), language, tuple(before.names))
    before.name(turn.number, names)
    before.statements.append(EarlierStatement(turn.number, text))
    fact = Fact(
        found.kind, text, _about(names, text, speaker if turn.name else None, owner), confidence=found.confidence,
        importance=found.importance, valid=period, outcome=found.outcome, task=_tidy(found.task or "") or None, cues=_cues(found, fold(text), language),
    )  # fmt: skip
    corrects = narrated(found.corrects, language, speaker, turn.role) if found.corrects else None
    name = found.rule.partition(",")[0]
    judgement = _judgement(found, before.between_people)
    kept = _of_slot(fact, turn.role == "user" and not speaker, day)
    yield CandidateFact(kept, turn.number, name, judgement, sentence.said, corrects, found.instead)


def _judgement(found: FoundStatement, between_people: bool) -> Judgement:
    """Told where the person said so; else what the measured precision of the rule allows, in a chat of two people maybe another."""
    reason = printable_line(found.reason)
    if found.rule in ("remember", "standing"):
        return Judgement("keep", found.rule, Tier.TOLD, reason)
    apart = f"keep {found.rule}, between people"
    return judged("keep", found.rule, apart if between_people and apart in RULES else f"keep {found.rule}", reason)


def _tidy(text: str) -> str:
    """One line without marks of a list at its ends, closed by a full stop as it was."""
    return printable_line(re.sub(r"[*_]{2}", "", text)).strip(" ,;:-–—•·、，；：")


def _about(names: tuple[str, ...], text: str, speaker: str | None, owner: str | None) -> tuple[str, ...]:
    """Whom a line is about: in a chat of two people first who said it."""
    names = tuple(name for name in names if name.strip() and not set("[]|#\n") & set(name))
    own = speaker or (owner if owner and owner in text else None)
    return tuple(dict.fromkeys([*([own] if speaker and own else []), *names, *([own] if own else [])]))[:3]


def _of_slot(fact: Fact, alone: bool, day: date | None) -> Fact:
    """The fact about the one whose slot its text fills. A time before `day` is when it began, unless it is the value.

    In a chat of the user's `alone` a slot without a name before it is the owner's, whatever its value names.
    """
    whose = [(), *((name,) for name in fact.entities)] if alone else [(name,) for name in fact.entities]
    for about in whose if fact.kind is Kind.WORLD else ():
        if found := relation(fact.text, about):
            valid = fact.valid
            if valid and valid.last and day and valid.last <= day:
                valid = valid._replace(last=None)
            return replace(fact, entities=about, valid=None if found.key in DATED else valid)
    return fact


def _cues(found: FoundStatement, plain: str, language: str) -> tuple[str, ...]:
    """One to three groups of other words that a person would ask with."""
    rule = f"outcome-{found.outcome}" if found.outcome else found.rule.partition(",")[0]
    topics = [words for pattern, words in pairs(language, "cues") if re.search(pattern, plain, re.IGNORECASE)]
    by_rule = [words for name, words in pairs(language, "rule_cues") if name == rule]
    return tuple(dict.fromkeys([*topics[:2], *by_rule]))
