"""Turns of a conversation -> candidate facts, by rules in English, Russian and Chinese, without a model.

Each sentence of a person is judged by itself (statements.py) or with what was said before it ("yes, do that", "no, it's
Friday", "that fixed it", "van then"), of an assistant only what it did or found out. `Before` remembers what the next
sentence may speak of: what was proposed and asked, what was stated, who was named; what the earlier turn says is told along,
and what no earlier turn explains is nothing. Two people who talk are both persons. One pass, bounded memory.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import date
from itertools import zip_longest
from typing import NamedTuple

from ..facts import Fact, Kind
from ..judgement import RULES, Judgement, Tier, judged
from ..language.analyzer import terms
from ..language.relations import DATED, relation
from ..markdown.grammar import printable_line, render
from .sentences import Sentence, each, fold, language_of, lines, pairs, rx, sentences
from .statements import (
    ROOMY,
    FoundStatement,
    dated,
    exactness,
    names_in,
    narrated,
    own_part,
    remembered,
    standing_rule,
    statement,
    value_kinds,
    whole_value,
)
from .turns import Turn

_CALL_OFF = 40  # characters of a turn that only ends a game
_ENOUGH = 6  # terms of a statement that is not joined to what it replies to
_STATEMENTS, _NAMES = 60, 100  # how much is remembered
_HEARD = 12  # sentences to which a reply may belong
_SHORT = 60  # characters of a yes, a choice or an answer; a longer one says what it means itself
_PROPOSALS = 4  # sentences of one turn that propose; more are a list of advice, to which a yes is thanks
_REPLY = 200  # characters of a message that replies, and of what it replies to
_NO_REPLY = ("unsure", "reported", "praise")  # no reply that says something
_INNER_QUOTES = str.maketrans("“”", "‘’")
_NEAR = 4  # turns over which a pronoun may reach back
_CORRECTABLE = 6  # turns over which a correction without the old value may reach back


class CandidateFact(NamedTuple):
    """A fact that a turn seems to state. `fact.source` is left to whoever knows the file.

    `turn` is `Turn.number`; `rule` one of decision, preference, correction, person, plan, did, state, thing, remember,
    standing, outcome, agreed, chosen, answered, report, finding, diagnosis; `judgement` says whether it is written or asked about,
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
    """The candidates of a conversation, in order; `owner` is the name of the person who speaks as the user.

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
    said = [] if _is_fiction(turn, before) else list(sentences(turn.text))
    for sentence, following in zip_longest(said, said[1:]):
        found = _judged(turn, sentence, before)
        if found and not (following and following.opens("taken_back")):
            yield found, sentence
        elif not sentence.is_question:
            before.statements.append(EarlierStatement(turn.number, sentence.said))
        before.heard.append(before.as_heard(turn, sentence))


def _judged(turn: Turn, sentence: Sentence, before: Before) -> FoundStatement | None:
    """What a sentence states: with what was said before it, if it speaks of that, else by itself."""
    if not before.between_people:
        begins = not before.heard or before.heard[-1].turn != turn.number
        told = remembered(sentence) or standing_rule(sentence) or (agreed(turn, sentence, before) if begins else None)
        if told:
            return told
    found = corrected(turn.number, sentence, before) or outcome(turn, sentence, before)
    found = found or statement(before.resolved(turn.number, own_part(sentence)))
    if found and (_judgement(found, False).is_certain or len(terms(found.said)) >= _ENOUGH):
        return found
    return joined(turn, sentence, before) or found


def _is_fiction(turn: Turn, before: Before) -> bool:
    """A game or a story: neither this turn nor the answer to it says anything true."""
    folded = fold(turn.text[:2000])
    head = Sentence(folded, folded, language_of(folded))
    if head.has("fiction_ends"):
        before.fiction = 0
        return len(folded) < _CALL_OFF
    if head.opens("fiction_start"):
        before.fiction = -1 if head.has("fiction_stays") else 1
    elif before.fiction > 0:
        before.fiction = 0
    return before.fiction != 0


def _of_assistant(turn: Turn, before: Before) -> Iterator[tuple[FoundStatement, Sentence]]:
    if before.fiction:
        return
    report = before.reported(turn.number)
    for sentence in sentences(turn.text):
        before.heard.append(heard := before.as_heard(turn, sentence))
        if found := found_out(heard, report):
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
    if not text:
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
    alone = turn.role == "user" and not (turn.name or owner)
    yield CandidateFact(_with_key(fact, alone), turn.number, name, judgement, sentence.said, corrects, found.instead)


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


def _with_key(fact: Fact, alone: bool) -> Fact:
    """The fact with the slot that its text fills; a date that is the value is not a time at which it holds.

    Whose name is told in a chat of the user's `alone` is the user: a slot without a name before it is the owner's.
    """
    if fact.kind is not Kind.WORLD or not fact.entities:
        return fact
    for entity in fact.entities:
        if found := relation(fact.text, (entity,)):
            about = () if alone and found.key == "name" else (entity,)
            return replace(fact, key=found.key, entities=about, valid=None if found.key in DATED else fact.valid)
    return fact


def _cues(found: FoundStatement, plain: str, language: str) -> tuple[str, ...]:
    """One to three groups of other words that a person would ask with."""
    rule = f"outcome-{found.outcome}" if found.outcome else found.rule.partition(",")[0]
    topics = [words for pattern, words in pairs(language, "cues") if re.search(pattern, plain, re.IGNORECASE)]
    by_rule = [words for name, words in pairs(language, "rule_cues") if name == rule]
    return tuple(dict.fromkeys([*topics[:2], *by_rule]))


# -- what a sentence means only with an earlier turn ------------------------------------------------------------------


class EarlierStatement(NamedTuple):
    """A sentence that stated something, as it will be told, and its turn."""

    turn: int
    text: str


class Heard(NamedTuple):
    """A sentence of an earlier turn, and who said it."""

    turn: int
    who: str
    sentence: Sentence


class Before:
    """The state of a conversation, of bounded size."""

    def __init__(self, owner: str | None = None) -> None:
        self._owner = owner
        self.statements: deque[EarlierStatement] = deque(maxlen=_STATEMENTS)
        self.names: dict[str, None] = {}
        self.person: tuple[int, str] | None = None
        self.heard: deque[Heard] = deque(maxlen=_HEARD)
        self.replied = -1  # the last turn of which a sentence was told with what it replies to
        self._people: set[str] = set()
        self._assistant = False
        self.fiction = 0  # 1 in a story or a game of one turn, -1 in one that goes on until it is ended

    def meet(self, role: str, name: str | None) -> None:
        """Note who speaks."""
        self._assistant = self._assistant or role == "assistant"
        if role == "user" and name and len(self._people) < _NAMES:
            self._people.add(name)

    def as_heard(self, turn: Turn, sentence: Sentence) -> Heard:
        """A sentence with the name of who said it, or with what a user and an assistant are called in its language."""
        name = turn.name or (self._owner if turn.role == "user" else None)
        return Heard(
            turn.number, name or lines(sentence.language, "speaker")[turn.role == "assistant"].split(", ")[0], sentence
        )

    def reported(self, turn: int) -> Heard | None:
        """The sentence, said to the assistant just before its turn, that says or asks what is wrong; None where none does."""
        said = (each for each in self.heard if each.turn == turn - 1 and len(each.sentence.said) <= _REPLY)
        return next((each for each in said if each.sentence.has("problem")), None)

    @property
    def between_people(self) -> bool:
        """True where persons talk with each other: what one asks for is no order to an agent."""
        return not self._assistant and len(self._people) > 1

    def name(self, turn: int, names: tuple[str, ...]) -> None:
        """Keep names for later mentions, the newest ones, and the person of whom "she" may be said: one, or nobody."""
        for one in names:
            self.names.pop(one, None)
            self.names[one] = None
        while len(self.names) > _NAMES:
            del self.names[next(iter(self.names))]
        if len(names) == 1:
            self.person = (turn, names[0])
        elif names:
            self.person = None

    def asked(self, turn: int) -> Heard | None:
        """What a reply belongs to: the last question of the turn before, or its last sentence."""
        last = [each for each in reversed(self.heard) if each.turn == turn - 1]
        return next((each for each in last if each.sentence.is_question), last[0] if last else None)

    def tried(self, turn: int) -> Heard | None:
        """What was tried or proposed last, in this turn or the one before."""
        near = (each for each in reversed(self.heard) if turn - each.turn <= 1)
        return next((each for each in near if _proposes(each.sentence) or each.sentence.opens("tried")), None)

    def resolved(self, turn: int, sentence: Sentence) -> Sentence:
        """The sentence with "she" at its beginning as the one who was named a little before."""
        match = sentence.opens("she")
        if not match or self.person is None or turn - self.person[0] > _NEAR:
            return sentence
        rest = sentence.cut(match.end())
        return Sentence(self.person[1] + rest.said, self.person[1] + rest.plain, sentence.language)


def _proposes(said: Sentence) -> bool:
    """True for a sentence that proposes or says to do something; not for an offer of work on the answer."""
    asks = said.opens("ask") and not said.is_question
    return bool((said.has("proposal") or asks) and not said.has("offer") and len(said.words) >= 2)


def _told(heard: Iterable[Heard]) -> str:
    """What was said, each behind its speaker and between quotation marks, so that "you" and "it" mean what they meant."""
    return " — ".join(f"{each.who}: “{each.sentence.said.translate(_INNER_QUOTES)}”" for each in heard)


def agreed(turn: Turn, sentence: Sentence, before: Before) -> FoundStatement | None:
    """A bare yes to what was proposed in the turn before; one of many proposals is advice, to which a yes is thanks."""
    plain = sentence.plain.strip()
    lead = sentence.opens("agree")
    if not lead or len(plain) > _SHORT or sentence.is_question:
        return None
    rest = rx(sentence.language, "agree_rest").sub("", plain[lead.end() :]).strip(" ,.!;:，。！、～~)👍-–—")
    last = [each for each in before.heard if each.turn == turn.number - 1]
    found = [each for each in last if _proposes(each.sentence)]
    if rest or not 0 < len(found) <= _PROPOSALS or any(each.sentence.is_question for each in last if each != found[-1]):
        return None
    said = _told((found[-1], before.as_heard(turn, sentence)))
    return FoundStatement(
        "agreed", Kind.EXPERIENCE, said, f"agreed to what turn {turn.number - 1} proposed", 0.7, told=said
    )


def joined(turn: Turn, sentence: Sentence, before: Before) -> FoundStatement | None:
    """A short reply with what it replies to: "Van then." says something beside "Kees lends us the van"."""
    part = own_part(sentence)
    own = set(part.words)
    asked, lead = before.asked(turn.number), part.opens("lead")
    only_leads = lead and lead.end() == len(part.plain)  # "Thanks, Mel!"
    says_nothing = not own or only_leads or part.is_question or any(map(part.has, _NO_REPLY))
    if asked is None or says_nothing or before.replied == turn.number:
        return None
    if len(turn.text) > _REPLY or len(asked.sentence.said) > _REPLY:
        return None
    chooses = _chooses(part, asked.sentence, own)
    has_value = exactness(part) - (len(own) >= ROOMY) or part.opens("value")  # length is no value
    answers = has_value and asked.sentence.is_question and not part.opens("ask")
    if part.has("dangling") if chooses else not answers:
        return None
    before.replied = turn.number
    said = _told((asked, before.as_heard(turn, sentence)))
    rule = "chosen" if chooses else "answered"
    return FoundStatement(rule, Kind.WORLD, said, f"a reply to turn {asked.turn}", 0.5, told=said)


def _chooses(part: Sentence, last: Sentence, own: set[str]) -> bool:
    """True for a reply to "this or that", and for "make it thirty" where something fits it."""
    fits = own & set(last.words) or last.is_question or (last.opens("value") and part.opens("value"))
    return bool(last.has("either_or") or (part.opens("chosen") and fits))


def corrected(number: int, whole: Sentence, before: Before) -> FoundStatement | None:
    """A correction; in the words of what it corrects, where it has too few of its own."""
    rest = whole.without_leads("correct_start", most=4)
    denies = rest is not whole
    part = own_part(rest)
    pair = part.has("correct_pair")
    new, old = _side(pair, "new"), _side(pair, "old")
    alike = _values(new).keys() & _values(old).keys()
    if not (denies or alike or whole.has("correct_strong")) or part.is_question or part.has("you"):
        return None
    earlier, told = _earlier(number, before, part.plain, new, old)
    short = part.has("dangling_start") or len(terms(part.plain)) < 4
    if not (earlier or pair) or (short and not told and not alike):
        return None
    which = f", corrects turn {earlier.turn}: {earlier.text[:80]!r}" if earlier else ""
    mark = "not this but that" if pair else "it was otherwise"
    return FoundStatement(
        "correction", Kind.WORLD, part.said, f"a correction, {mark}{which}", 0.8,
        told=(told or whole.said) if short else None, corrects=earlier.text if earlier else None,
        instead=(old, _value_for(new, old)) if alike and not earlier else None,
    )  # fmt: skip


def _earlier(turn: int, before: Before, said: str, new: str, old: str) -> tuple[EarlierStatement | None, str]:
    """The newest earlier statement that a correction is about, and it with the new value: "it is 14 nets" for "12" is 14."""
    values = _values(said)
    for one in reversed(before.statements):
        if old and (found := whole_value(old, one.text)):
            becomes = _value_for(new, old)
            return one, one.text.replace(found, becomes) if becomes else ""
        elif not old and one.turn < turn and turn - one.turn <= _CORRECTABLE:
            was = value_kinds(one.text)
            if kind := next((kind for kind in values if kind in was and was[kind] != values[kind]), None):
                return one, one.text.replace(was[kind], values[kind])
    return None, ""


def _value_for(new: str, old: str) -> str:
    """The value of the same kind that takes the place of an old one; all of the new side where the old is no bare value."""
    values, olds = _values(new), _values(old)
    kind = next((kind for kind in olds if kind in values), None)
    return values[kind] if kind and olds[kind] == old else new


def _values(said: str) -> dict[str, str]:
    """The values in a part of a sentence, whose first word may be a name."""
    return value_kinds(" " + said)


def _side(pair: re.Match[str] | None, side: str) -> str:
    groups = pair.groupdict() if pair else {}
    return next((value.strip() for name, value in groups.items() if value and name.startswith(side)), "")


def outcome(turn: Turn, sentence: Sentence, before: Before) -> FoundStatement | None:
    """An attempt and what came of it. What was tried is named, here or in one of the turns before; else it is nothing."""
    part = own_part(sentence)
    good, bad = part.has("worked"), part.has("failed")
    sign = bad if bad and not (good and good.start() > bad.end()) else good
    if not sign or part.is_question or part.has("decision"):
        return None
    came = "fail" if sign is bad else "ok"
    reason = f"an attempt that {'failed' if sign is bad else 'worked'}: {sign[0].strip()!r}"
    named = next(
        (match["what"].strip() for shape in each(part.language, "tried") if (match := shape.search(part.plain))), ""
    )
    if named:
        return FoundStatement("outcome", Kind.EXPERIENCE, part.said, reason, 0.6, outcome=came, task=named)
    tried = before.tried(turn.number)
    if tried is None or len(part.plain) > _SHORT or part.has("relative"):
        return None
    task, told = tried.sentence.said.strip(" .!。！"), _told((tried, before.as_heard(turn, sentence)))
    return FoundStatement("outcome, thin", Kind.EXPERIENCE, part.said, reason, 0.5, outcome=came, task=task, told=told)


def found_out(heard: Heard, report: Heard | None = None) -> FoundStatement | None:
    """What the assistant did in the world or found out; not what it wrote, advises or explains.

    Where somebody just reported that something is wrong, what it looked up or gives as the cause is a diagnosis. It is told
    with the report where it shares no word with it.
    """
    part = own_part(heard.sentence)
    looked = part.opens("looked")
    part = part.cut(looked.end()) if looked else part
    cause = (looked or part.has("diagnosis")) if report else None
    if report and cause and not (part.is_question or part.has("diagnosis_not")) and _is_exact(part):
        alone = bool(set(part.words) & set(report.sentence.words)) and not part.has("dangling_start")
        reason = f"the assistant's diagnosis: {cause[0].strip()[:60]!r}"
        told = None if alone else _told((report, heard._replace(sentence=part)))
        return FoundStatement("diagnosis", Kind.WORLD, part.said, reason, 0.55, told=told)
    if part.is_question or part.has("found_not") or part.has("dangling_start"):
        return None
    did, found = None if looked else part.has("report"), looked or part.has("found")
    sign = did or found
    if not sign or not _is_exact(part):
        return None
    came = ("fail" if part.has("failed") else "ok") if did else None
    reason = f"the assistant {'says what it did' if did else 'found out'}: {sign[0].strip()!r}"
    kind = Kind.EXPERIENCE if did else Kind.WORLD
    return FoundStatement("report" if did else "finding", kind, part.said, reason, 0.5, outcome=came)


def _is_exact(part: Sentence) -> bool:
    """A path, a number, a version, a name, or words enough to say what is meant."""
    inner = part.plain[2:]
    if part.language == "zh":
        return bool(re.search(r"\d|[A-Za-z]{3,}", inner)) or len(inner) > 8
    return len(terms(inner)) >= 4 or bool(re.search(r"\d|\w/\w|\w+\.\w{1,5}\b|`|\b\w+_\w+", inner))
