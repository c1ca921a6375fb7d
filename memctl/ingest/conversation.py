"""Sentences that mean something only with an earlier turn: "yes, do that", "no, it's Friday", "that fixed it".

`Before` remembers what the next sentence may speak of: the last proposal, what was stated, who was named. It is bounded.
"""

from __future__ import annotations

import re
from collections import deque
from typing import NamedTuple

from ..facts import Kind
from ..language.analyzer import terms
from .patterns import rx, setting, starts
from .sentences import Sentence, recalled_lines, sentences
from .statements import FoundStatement, own_part
from .wording import value_kinds

_STATEMENTS = 60
_NAMES = 100
_RECALLED = 200
_TOLD = 2000
_ADVICE = 1200  # characters from which an answer that asks nothing is advice: a yes to it thanks for it
_PROPOSALS = 8
_CLAUSES = 240  # characters of several proposals together
_SHORT = 60  # characters of a yes or an answer; a longer one says what it means itself


class EarlierStatement(NamedTuple):
    """A sentence that stated something, as it will be told, and its turn."""

    turn: int
    text: str


class SpokenProposal(NamedTuple):
    """What the assistant proposed to do, as a clause, and its turn."""

    turn: int
    clause: str
    language: str
    offer: bool  # of work on its reply ("shall I add comments?"), which decides nothing
    weight: int  # 2 firm, 1 one way among others, 0 "do it"


class Before:
    """The state of a conversation, of bounded size."""

    def __init__(self) -> None:
        self.statements: deque[EarlierStatement] = deque(maxlen=_STATEMENTS)
        self.names: dict[str, None] = {}
        self.problem: str | None = None
        self.attempt: str | None = None
        self.person: tuple[int, str] | None = None
        self.thing: tuple[int, str] | None = None
        self.last_said: tuple[int, Sentence] | None = None
        self.question: tuple[int, Sentence] | None = None
        self.fiction = 0  # further turns of a game; -1 until it is ended
        self._proposals: deque[SpokenProposal] = deque(maxlen=_PROPOSALS)
        self._recalled: deque[frozenset[str]] = deque(maxlen=_RECALLED)
        self._told: dict[str, None] = {}

    def name(self, names: tuple[str, ...]) -> None:
        """Keep names for later mentions, the newest ones."""
        for one in names:
            self.names.pop(one, None)
            self.names[one] = None
        while len(self.names) > _NAMES:
            del self.names[next(iter(self.names))]

    def is_new(self, text: str) -> bool:
        """False for a text that was a candidate before: said twice is kept once."""
        key = " ".join(sorted(set(terms(text)))) or text
        if key in self._told:
            return False
        self._told[key] = None
        if len(self._told) > _TOLD:
            del self._told[next(iter(self._told))]
        return True

    def hear(self, text: str) -> None:
        """Note the memory that stands in a message: what repeats it is not news."""
        if "/" in text or ".md#L" in text or "^" in text or "@" in text:
            self._recalled.extend(filter(None, (frozenset(terms(line)) for line in recalled_lines(text))))

    def is_recalled(self, text: str) -> bool:
        """True for a text most of whose words stand together in memory that was shown."""
        words = set(terms(text))
        return bool(words) and any(len(words & line) >= 0.75 * len(words) for line in self._recalled)

    def listen(self, turn: int, text: str) -> None:
        """Keep what the assistant proposes in this turn, and its last question."""
        said = list(sentences(text))
        found = [proposal for each in said if (proposal := _proposal(turn, each))]
        asked = [each for each in said if each.is_question]
        self.question = (turn, asked[-1]) if asked else None
        if len(text) <= _ADVICE or (asked and len(found) <= _PROPOSALS):
            self._proposals.extend(found[-_PROPOSALS:])

    def proposed(self, turn: int, back: int) -> SpokenProposal | None:
        """What was proposed in the newest turn that proposed anything, of the `back` turns before `turn`.

        Several proposals of one turn become one, with " + " between; a firm one ("I suggest") makes vague ones needless.
        """
        newest = next((one.turn for one in reversed(self._proposals) if turn - back <= one.turn < turn), None)
        found = [one for one in self._proposals if one.turn == newest]
        if not found:
            return None
        found = [one for one in found if not one.offer] or found
        best = max(one.weight for one in found)
        chosen = [one for one in found if one.weight == best][-2:]
        clause = " + ".join(one.clause for one in chosen)
        return chosen[-1]._replace(clause=clause if len(clause) <= _CLAUSES else chosen[-1].clause)

    def corrected(self, turn: int, old: str | None, said: str) -> tuple[EarlierStatement, str, str] | None:
        """The newest earlier statement that a correction is about, its value, and the value that takes its place."""
        new = value_kinds(said)
        for one in reversed(self.statements):
            if old and (found := _whole(old, one.text)) and _is_about(said, old, one.text):
                return one, found, ""
            if not old and one.turn < turn and turn - one.turn <= 6:
                was = value_kinds(one.text)
                kind = next((kind for kind in new if kind in was and was[kind] != new[kind]), None)
                if kind:
                    return one, was[kind], new[kind]
        return None


def _whole(value: str, text: str) -> str | None:
    """A value as it stands in a text, as whole words and in no name of code: `queue_12` does not say 12."""
    apart = ("", "") if re.search(r"[\u4e00-\u9fff]", value) else (r"(?<![\w`.])", r"(?![\w`]|\.\d)")
    found = re.search(apart[0] + re.escape(value) + apart[1], text, re.IGNORECASE)
    return found[0] if found else None


def _is_about(correction: str, old: str, text: str) -> bool:
    """False for a bare number in a sentence that shares no other word with its correction."""
    if re.search(r"[^\W\d]", old):
        return True
    words = {term for term in terms(correction) if not term.isdigit()}
    return not words or bool(words & set(terms(text)))


def _proposal(turn: int, said: Sentence) -> SpokenProposal | None:
    if not said.has("proposal") and not said.opens("proposal_verb"):
        return None
    lead = said.opens("proposal_lead")
    begin = lead.end() if lead and lead.end() < len(said.plain) - 3 else 0
    clause = re.sub(r"[\s?!.。？！:：]+$", "", said.said[begin:])
    clause = rx(said.language, "proposal_tail").sub("", clause)
    if len(clause) < 3:
        return None
    firm = 2 if said.has("proposal_strong") else 1
    weight = 0 if rx(said.language, "proposal_weak").search(clause) else firm
    return SpokenProposal(turn, clause, said.language, bool(said.has("offer")), weight)


# -- agreement and answers --------------------------------------------------------------------------------------------


def agreed(number: int, sentence: Sentence, before: Before) -> FoundStatement | None:
    """The decision that a bare yes makes of the assistant's last proposal."""
    plain = sentence.plain.strip()
    lead = sentence.opens("agree_start")
    if not lead or len(plain) > _SHORT or sentence.is_question:
        return None
    rest = rx(sentence.language, "agree_rest").sub("", plain[lead.end() :])
    meant = before.proposed(number, 1)
    if rest.strip(" ,.!;:，。！、～~)👍-–—") or not meant or meant.offer:
        return None
    clause = meant.clause if meant.language != "en" else meant.clause[0].lower() + meant.clause[1:]
    said = setting(meant.language, "agreed") + clause
    reason = f"agreed to what was proposed in turn {meant.turn}: {plain!r}"
    return FoundStatement("decision", Kind.EXPERIENCE, said, reason, 0.7, told=said)


def answered(number: int, sentence: Sentence, before: Before) -> FoundStatement | None:
    """A fact, or a choice, in a short answer to the assistant's question: told with the question, or it says nothing."""
    part = own_part(sentence)
    plain = part.plain.strip()
    if before.question is None or before.question[0] != number - 1 or len(plain) > _SHORT:
        return None
    asked = before.question[1]
    if asked.has("reply_question") or any(map(part.has, ("unknown", "question", "mood"))) or part.opens("agree_start"):
        return None
    body = plain.strip(" .!。！")
    if asked.has("either_or") and body.casefold() in asked.plain.casefold():
        said = f"{part.said.strip(' .!。！')} — {asked.said}"
        return FoundStatement(
            "decision", Kind.EXPERIENCE, said, f"chosen when asked in turn {number - 1}", 0.6, told=said
        )
    exact = _values(plain).keys() - {"number"} or any(map(str.isdigit, plain)) or len(plain.split()) <= 3
    if exact and asked.has("asked"):
        said = f"{asked.said} — {part.said}"
        return FoundStatement(
            "fact", Kind.WORLD, said, f"the answer to a question in turn {number - 1}", 0.5, told=said
        )
    return None


# -- corrections ------------------------------------------------------------------------------------------------------


def corrected(number: int, whole: Sentence, before: Before) -> FoundStatement | None:
    """A correction; in the words of what it corrects, where it has too few of its own."""
    part, first = _without_denial(whole)
    pair = part.has("correct_pair")
    new, old = _side(pair, "new"), _side(pair, "old")
    strong = bool(whole.has("correct_strong"))
    if not (strong or first or _values(new).keys() & _values(old).keys()) or _states_nothing(part, bool(pair)):
        return None
    earlier = before.corrected(number, old or None, part.plain)
    if not strong and not pair and not (earlier and _denies(part, first)):
        return None
    short = bool(part.opens("pronoun_start")) or len(part.plain) < 14
    told = _corrected_text(earlier, new, old, part.language) if short and earlier else None
    if short and told is None and not old:
        return None
    which = f", corrects turn {earlier[0].turn}: {earlier[0].text[:80]!r}" if earlier else ""
    reason = f"a correction: {first or ('not this but that' if pair else 'a correction')!r}{which}"
    return FoundStatement("correction", Kind.WORLD, part.said, reason, 0.8, told=told)


def _without_denial(whole: Sentence) -> tuple[Sentence, str]:
    """What a sentence says behind "no, wait, …", and the first of these words."""
    rest = whole.without_leads("correct_start", most=4)
    lead = whole.opens("correct_start") if rest is not whole else None
    return own_part(rest), lead[0].strip() if lead else ""


def _denies(part: Sentence, first: str) -> bool:
    """True for another value behind a "no" or of an "it": "no, …" alone may deny anything."""
    clear = starts(part.language, "deny_start").match(first) or part.opens("pronoun_start")
    return bool(clear and _values(part.plain))


def _corrected_text(earlier: tuple[EarlierStatement, str, str], new: str, old: str, language: str) -> str | None:
    """The earlier statement with the new value in the place of the old one."""
    stated, was, becomes = earlier
    becomes = becomes or _replacement(new, old, language)
    return stated.text.replace(was, becomes) if becomes and was else None


def _values(said: str) -> dict[str, str]:
    """The values in a part of a sentence, whose first word may be a name."""
    return value_kinds(" " + said)


def _side(pair: re.Match[str] | None, side: str) -> str:
    """The new or the old value of "not this but that"."""
    groups = pair.groupdict() if pair else {}
    return next((value.strip() for name, value in groups.items() if value and name.startswith(side)), "")


def _replacement(new: str, old: str, language: str) -> str:
    """What of the new side takes the place of the old one: "it is 14 nets" for "12" is 14."""
    becomes, was = _values(new), _values(old)
    kind = next((kind for kind in was if kind in becomes), None)
    if kind and was[kind] == old:
        return becomes[kind]
    return "" if starts(language, "pronoun_start").match(new) else new


def _states_nothing(part: Sentence, pair: bool) -> bool:
    hypothetical = not pair and part.has("hypothetical")
    asks = part.has("question") or part.has("local") or part.opens("request_start")
    return len(part.plain) < 4 or bool(asks or hypothetical)


# -- outcomes ---------------------------------------------------------------------------------------------------------


def outcome(number: int, sentence: Sentence, before: Before) -> FoundStatement | None:
    """An attempt that the user reports, with its outcome; what was tried comes from the turn before, where need be."""
    part = own_part(sentence)
    found = None if sentence.has("outcome_not") else _result(part)
    if found is None:
        return None
    what = _tried_in(part)
    if what and rx(part.language, "outcome_person").search(what):
        return None
    proposal = before.proposed(number, 3)
    proposal = None if proposal and proposal.offer else proposal
    if what and not (proposal and _is_echo(what, part.language)):
        apart = before.problem and before.problem not in part.said
        return found._replace(task=before.problem if apart else what)
    tried = (before.attempt or (proposal.clause if proposal else "")).rstrip(" .!。！")
    if not tried or not (what or part.opens("outcome_pronoun") or _answers(part, proposal, number)):
        return None
    return found._replace(task=before.problem or tried, told=f"{tried} — {_continued(part)}")


def _continued(part: Sentence) -> str:
    """A sentence as it goes on behind a dash: in English with a small letter."""
    lower = part.language == "en" and part.said[1:2].islower()
    return part.said[0].lower() + part.said[1:] if lower else part.said


def _result(part: Sentence) -> FoundStatement | None:
    """Whether a sentence says that something worked or that it did not; None where it says neither, asks or requests."""
    good, bad = part.has("worked"), part.has("failed")
    sign = bad if bad and not (good and good.start() > bad.end()) else good
    if not sign or part.has("question") or part.opens("request_start"):
        return None
    reason = f"an attempt that {'worked' if sign is good else 'did not work'}: {sign[0].strip()!r}"
    return FoundStatement("outcome", Kind.EXPERIENCE, part.said, reason, 0.6, outcome="ok" if sign is good else "fail")


def _answers(part: Sentence, proposal: SpokenProposal | None, number: int) -> bool:
    """True for a short answer to a proposal of the turn before that states nothing of its own."""
    near = proposal is not None and proposal.turn == number - 1 and len(part.plain) <= _SHORT
    return near and not any(map(part.has, ("person", "fact_sure", "preference")))


def _is_echo(what: str, language: str) -> bool:
    """True for "did it", «увеличил», 调了: what was done is said by the turn before."""
    return len(what) <= 6 if language == "zh" else len(what.split()) <= 3


def _tried_in(part: Sentence) -> str:
    """What the sentence itself says was tried, or nothing."""
    what = _side(part.has("outcome_own"), "what").strip(" ,;:，；—–-")
    empty = Sentence(what, what, part.language).opens("outcome_empty")
    return "" if empty or len(what) < (2 if part.language == "zh" else 4) else what


def reported(sentence: Sentence) -> FoundStatement | None:
    """What the assistant says that it did in the world, or promises to do; not what it wrote in its reply."""
    part = own_part(sentence)
    did = part.has("report")
    if did and not part.has("report_not") and _is_exact(part):
        came = "fail" if sentence.has("failed") else "ok"
        reason = f"the assistant reports what it did: {did[0].strip()!r}"
        return FoundStatement("outcome", Kind.EXPERIENCE, part.said, reason, 0.5, outcome=came)
    promise = part.has("commitment")
    if promise and part.has("remind_need"):
        return FoundStatement("decision", Kind.EXPERIENCE, part.said, f"the assistant promises: {promise[0]!r}", 0.5)
    return None


def _is_exact(part: Sentence) -> bool:
    """A path, a number, a version or a name."""
    inner = part.plain[2:]
    if part.language == "zh":
        return bool(re.search(r"\d|[A-Za-z]{3,}", inner))
    return bool(re.search(r"\d|[\w-]+/[\w./-]+|\w+\.\w{1,5}\b|(?<![.!?]\s)\b(?!I\b)[A-ZА-ЯЁ][\w]+|`|\b\w+_\w+", inner))
