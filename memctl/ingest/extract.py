"""Turns of a conversation -> candidate facts, by rules in English, Russian and Chinese, without a model.

Each sentence of a person is judged by itself (statements.py) or with what was said before it (conversation.py), of an
assistant only what it did or found out. Two people who talk are both persons. One pass, bounded memory.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import date
from typing import NamedTuple

from ..facts import Fact, Kind
from ..judgement import KEEP_FROM, RULES, Judgement, Tier, judged
from ..language.analyzer import terms
from ..language.names import entity_key
from ..language.relations import relation
from ..markdown.grammar import printable_line, render
from .conversation import Dialogue, EarlierStatement, agreed, continued, corrected, finding, joined, outcome
from .own_words import Sentence, language_of, number, own_sentences, pairs, rx, straight
from .statements import FoundStatement, names_in, narrated, own_part, remembered, standing_rule, statement, with_dates
from .turns import Turn

_GAME_TURNS = 1


class CandidateFact(NamedTuple):
    """A fact that a turn seems to state. `fact.source` is left to whoever knows the file.

    `rule` is one of decision, preference, correction, person, plan, did, state, thing, remember, standing, outcome, agreed,
    chosen, answered, continued, report, finding, diagnosis. What stands below `instead` is added by an ingest.
    """

    fact: Fact
    turn: int  # `Turn.number`
    rule: str
    judgement: Judgement  # whether it is written or asked about, and why
    quote: str  # the sentence as it was said
    corrects: str | None = None  # the text whose place it takes
    instead: tuple[str, str] | None = None  # the old and the new value of a correction that says nothing more
    day: date = date.min  # for which it would be kept
    role: str = ""  # of who said it
    line: int = 0  # of the transcript
    certain: bool = False
    number: int = 0  # among those that are certain, from 1

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
        return render(replace(self.fact, source=None, settles=(), cues=()))


def candidates(turns: Iterable[Turn], *, owner: str | None = None) -> Iterator[CandidateFact]:
    """The candidates of a conversation, in order, each once. What the speaker named `owner` says of themselves has no name.

    Streaming: looks at a few turns before, never ahead. Never raises, whatever the text.
    """
    before = Dialogue()
    for turn in turns:
        before.add_speaker(turn.role, turn.name)
        if owner and entity_key(turn.name or "") == entity_key(owner):
            turn = turn._replace(name=None)
        if turn.role in ("user", "assistant"):
            found = _of_person(turn, before) if turn.role == "user" else _of_assistant(turn, before)
            for each, sentence in found:
                yield from _candidate(turn, each, sentence, before)


def _of_person(turn: Turn, before: Dialogue) -> Iterator[tuple[FoundStatement, Sentence]]:
    """What the sentences of a message state; each is noted in `before` when the next one is asked for."""
    if _is_fiction(turn, before):
        return
    sentences = list(own_sentences(turn.text))
    held_back: tuple[FoundStatement, Sentence] | None = None  # until it is known what the next sentence takes back
    for at, sentence in enumerate(sentences):
        found = _judged(turn, sentence, before, is_first=at == 0)
        if held_back and not found and not held_back[0].outcome:
            yield _both(*held_back, sentence)
        held_back = None
        is_taken_back = at + 1 < len(sentences) and sentences[at + 1].opens("taken_back")
        if found and is_taken_back:
            held_back = found, sentence
        elif found:
            yield found, sentence
        if not found and not sentence.is_question:
            before.statements.append(EarlierStatement(turn.number, sentence.said))
        before.utterances.append(before.utterance(turn, sentence))


def _both(found: FoundStatement, sentence: Sentence, after: Sentence) -> tuple[FoundStatement, Sentence]:
    """A sentence with the one that takes it back ("Actually no, 17"), which says too little alone."""
    gap = "" if sentence.language == "zh" else " "
    joined = Sentence(sentence.said + gap + after.said, sentence.plain + gap + after.plain, sentence.language)
    return found._replace(said=(found.told or found.said) + gap + after.said, told=None), joined


def _judged(turn: Turn, sentence: Sentence, before: Dialogue, is_first: bool) -> FoundStatement | None:
    """What a sentence states: with what was said before it, if it speaks of that, else by itself."""
    if not before.between_people:
        told = remembered(sentence) or standing_rule(sentence)
        if told:
            return told
        if own_part(sentence).has("remember_bare"):
            return _pointed_back(turn, sentence, before)
    if is_first and not before.between_people and (found := agreed(turn, sentence, before)):
        return found
    found = corrected(turn.number, sentence, before) or outcome(turn, sentence, before)
    found = found or statement(before.resolved(turn.number, own_part(sentence)), turn.name)
    if found and found.rule == "did" and sentence.opens("agree"):  # may speak of whom the question names
        said, language = straight(found.said), sentence.language
        if said.casefold() == narrated(said, language).casefold() and not names_in(said, language):
            return joined(turn, sentence, before) or found._replace(rule="did, thin")
    if found and (found.outcome or RULES[f"keep {found.rule}"].tier_from(KEEP_FROM) is Tier.CERTAIN):
        return found
    if found and not own_part(sentence).has("fragment"):
        says_enough = len(terms(found.said)) >= number(sentence.language, "least_terms_alone")
        return found if says_enough else joined(turn, sentence, before) or found
    return joined(turn, sentence, before) or continued(turn, sentence, before) or found


def _pointed_back(turn: Turn, sentence: Sentence, before: Dialogue) -> FoundStatement | None:
    """ "Remember that" alone: what the same one said just before."""
    who = before.utterance(turn, sentence).who
    said = next((each for each in reversed(before.utterances) if each.who == who), None)
    if said is None or turn.number - said.turn > 2 or said.sentence.is_question:
        return None
    part = own_part(said.sentence).said
    return FoundStatement("remember", Kind.WORLD, part, "said to be remembered, just before", 0.9)


def _is_fiction(turn: Turn, before: Dialogue) -> bool:
    """True for a turn of a game or a story: neither it nor the answer to it says anything true. Counts the turns of the game."""
    folded = straight(turn.text[:2000])
    head = Sentence(folded, folded, language_of(folded))
    if before.game_turns and head.has("fiction_ends"):
        before.game_turns = 0
        return False  # the game is over, and what else is said is so
    if head.opens("fiction_start"):
        before.game_turns = -1 if head.has("fiction_stays") else _GAME_TURNS
        return True
    if before.game_turns < 0:
        return True
    before.game_turns = 0
    return False


def _of_assistant(turn: Turn, before: Dialogue) -> Iterator[tuple[FoundStatement, Sentence]]:
    """What an assistant found out about the problem that was reported to it just before."""
    if before.game_turns:
        return
    sentences = list(own_sentences(turn.text))
    report = before.reported(turn, any(each.has("diagnosis_found") for each in sentences))
    last: Sentence | None = None
    for sentence in sentences:
        heard = before.utterance(turn, sentence)
        before.utterances.append(heard)
        found, last = finding(heard, report, last), sentence
        if found:
            yield found, sentence


def _candidate(turn: Turn, found: FoundStatement, sentence: Sentence, before: Dialogue) -> Iterator[CandidateFact]:
    """The candidate for what was found, unless it was said before or recalled from memory."""
    language = sentence.language
    said = rx(language, "filler").sub("", found.told or found.said)
    speaker = turn.name if turn.role == "user" else None
    day = turn.when.date() if turn.when else None
    told, ends = with_dates(narrated(said, language, speaker, turn.role), language, day)
    text = _tidy(told)
    if not text or not before.is_new(text):
        return
    names = names_in(straight(said), language, tuple(before.names))
    before.name(turn.number, names)
    before.statements.append(EarlierStatement(turn.number, text))
    fit = [name for name in names if name.strip() and not set("[]|#\n") & set(name)]
    about = tuple(dict.fromkeys([speaker, *fit] if speaker else fit))[:3]  # between people first who said it
    fact = Fact(
        found.kind, text, about, confidence=found.confidence,
        importance=found.importance, until=None if found.kind is Kind.EXPERIENCE else ends, outcome=found.outcome, task=_tidy(found.task or "") or None, cues=_cues(found, straight(text), language),
    )  # fmt: skip
    corrects = narrated(found.corrects, language, speaker, turn.role) if found.corrects else None
    name = found.rule.partition(",")[0]
    judgement = _judgement(found, before.between_people)
    kept = _of_slot(fact, turn.role == "user" and not speaker)
    quote = sentence.said if sentence.said in turn.text else found.said  # an item of a list has its lead before it
    yield CandidateFact(kept, turn.number, name, judgement, quote, corrects, found.instead)


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


def _of_slot(fact: Fact, alone: bool) -> Fact:
    """The fact about the one whose slot its text fills. When it is true is read from its text, as in any line.

    In a chat of the user's `alone` a slot without a name before it is the owner's, whatever its value names.
    """
    whose = [(), *((name,) for name in fact.entities)] if alone else [(name,) for name in fact.entities]
    for about in whose if fact.kind is Kind.WORLD else ():
        if relation(fact.text, about):
            return replace(fact, entities=about, until=None)
    return fact


def _cues(found: FoundStatement, plain: str, language: str) -> tuple[str, ...]:
    """One to three groups of other words that a person would ask with."""
    rule = f"outcome-{found.outcome}" if found.outcome else found.rule.partition(",")[0]
    topics = [words for pattern, words in pairs(language, "cues") if re.search(pattern, plain, re.IGNORECASE)]
    by_rule = [words for name, words in pairs(language, "rule_cues") if name == rule]
    return tuple(dict.fromkeys([*topics[:2], *by_rule]))
