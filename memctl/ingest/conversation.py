"""Sentences that mean something only with an earlier turn: "yes, do that", "no, it's Friday", "that fixed it".

`Before` remembers what the next sentence may speak of: the last proposal, what was stated, who was named. It is bounded.
"""

from __future__ import annotations

import re
from collections import deque
from typing import NamedTuple

from ..facts import Kind
from ..language.analyzer import terms
from .patterns import fold, rx, starts
from .sentences import Sentence, recalled_lines, sentences
from .statements import Found, opened, own_part
from .wording import value_kinds

__all__ = ["Before", "Statement", "Tried", "agreed", "answered", "corrected", "outcome", "reported"]

_STATEMENTS = 60
_NAMES = 100
_RECALLED = 200
_ADVICE = 1200  # characters from which an answer that asks nothing is advice: a yes to it thanks for it
_PROPOSALS = 8
_CLAUSES = 240  # characters of several proposals together


class Statement(NamedTuple):
    """A sentence that stated something, as it will be told, and its turn."""

    turn: int
    text: str
    language: str
    kept: bool  # whether it became a candidate


class Proposal(NamedTuple):
    """What the assistant proposed to do, as a clause, and its turn."""

    turn: int
    clause: str
    language: str
    offer: bool  # of work on its reply ("shall I add comments?"), which decides nothing
    weight: int  # 2 firm, 1 one way among others, 0 "do it"


class Before:
    """The state of a conversation, of bounded size."""

    def __init__(self) -> None:
        self.statements: deque[Statement] = deque(maxlen=_STATEMENTS)
        self.proposals: deque[Proposal] = deque(maxlen=_PROPOSALS)
        self.recalled: deque[frozenset[str]] = deque(maxlen=_RECALLED)
        self.names: dict[str, None] = {}
        self.told: dict[str, None] = {}
        self.problem: str | None = None
        self.attempt: str | None = None
        self.person: tuple[int, str] | None = None
        self.thing: tuple[int, str] | None = None
        self.last_said: tuple[int, Sentence] | None = None
        self.question: tuple[int, Sentence] | None = None
        self.fiction = 0  # further turns of a game; -1 until it is ended

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
        if key in self.told:
            return False
        self.told[key] = None
        if len(self.told) > 2000:
            del self.told[next(iter(self.told))]
        return True

    def hear(self, text: str) -> None:
        """Note the memory that stands in a message: what repeats it is no news."""
        if "/" in text or ".md#L" in text or "^" in text or "@" in text:
            for line in recalled_lines(text):
                if words := frozenset(terms(line)):
                    self.recalled.append(words)

    def is_recalled(self, text: str) -> bool:
        """True for a text most of whose words stand together in memory that was shown."""
        words = set(terms(text))
        return bool(words) and any(len(words & line) >= 0.75 * len(words) for line in self.recalled)

    def listen(self, turn: int, text: str) -> None:
        """Keep what the assistant proposes in this turn."""
        last, found = None, []
        for said in sentences(text):
            if one := _proposal(turn, said):
                found.append(one)
            if said.plain.endswith(("?", "？")):
                last = said
        self.question = (turn, last) if last else None
        if len(text) <= _ADVICE or (last and len(found) <= _PROPOSALS):
            self.proposals.extend(found[-_PROPOSALS:])

    def proposed(self, turn: int, back: int) -> Proposal | None:
        """What was proposed in the newest turn that proposed anything, of the `back` turns before `turn`.

        Several proposals of one turn become one, with " + " between; a firm one ("I suggest") makes vague ones needless.
        """
        newest = next((one.turn for one in reversed(self.proposals) if turn - back <= one.turn < turn), None)
        found = [one for one in self.proposals if one.turn == newest]
        if not found:
            return None
        found = [one for one in found if not one.offer] or found
        best = max(one.weight for one in found)
        chosen = [one for one in found if one.weight == best][-2:]
        clause = " + ".join(one.clause for one in chosen)
        return chosen[-1]._replace(clause=clause if len(clause) <= _CLAUSES else chosen[-1].clause)

    def corrected(self, turn: int, old: str | None, said: str) -> tuple[Statement, str, str] | None:
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


def _proposal(turn: int, said: Sentence) -> Proposal | None:
    language = said.language
    mark = rx(language, "proposal").search(said.plain)
    if not mark and not starts(language, "proposal_verb").match(said.plain):
        return None
    lead = starts(language, "proposal_lead").match(said.plain)
    end = lead.end() if lead and lead.end() < len(said.plain) - 3 else 0
    clause = re.sub(r"[\s?!.。？！:：]+$", "", said.said[end:])
    clause = re.sub(rx(language, "proposal_tail").pattern, "", clause, flags=re.IGNORECASE)
    if len(clause) < 3:
        return None
    offer = bool(rx(language, "offer").search(said.plain))
    firm = 2 if rx(language, "proposal_strong").search(said.plain) else 1
    weight = 0 if rx(language, "proposal_weak").search(clause) else firm
    return Proposal(turn, clause, language, offer, weight)


_YES_LENGTH = 60  # characters of a yes; a longer answer says what it means itself
_ANSWER_LENGTH = 60
_AGREED = {"en": "Agreed: ", "ru": "Решено: ", "zh": "决定："}


class Tried(NamedTuple):
    """An attempt and what came of it: `text` is told instead of the sentence, where that alone names no attempt."""

    found: Found
    came: str
    task: str | None
    text: str | None


# -- agreement --------------------------------------------------------------------------------------------------------


def agreed(number: int, sentence: Sentence, before: Before) -> Found | None:
    """The decision that a bare yes makes of the assistant's last proposal."""
    language, plain = sentence.language, sentence.plain.strip()
    lead = opened(sentence, "agree_start")
    if not lead or len(plain) > _YES_LENGTH or plain.endswith(("?", "？")):
        return None
    rest = plain[lead.end() :]
    if re.sub(rx(language, "agree_rest").pattern, "", rest, flags=re.IGNORECASE).strip(" ,.!;:，。！、～~)👍-–—"):
        return None
    meant = before.proposed(number, 1)
    if not meant or meant.offer:
        return None
    clause = meant.clause if meant.language != "en" else meant.clause[0].lower() + meant.clause[1:]
    said = f"{_AGREED[meant.language]}{clause}"
    return Found("decision", Kind.EXPERIENCE, said, f"agreed to what was proposed in turn {meant.turn}: {plain!r}", 0.7)


def answered(number: int, sentence: Sentence, before: Before) -> Found | None:
    """A fact, or a choice, in a short answer to the assistant's question: told with the question, or it says nothing."""
    part = own_part(sentence)
    language, plain = part.language, part.plain.strip()
    if before.question is None or before.question[0] != number - 1 or len(plain) > _ANSWER_LENGTH:
        return None
    asked = before.question[1]
    if rx(asked.language, "reply_question").search(asked.plain) or rx(language, "unknown").search(plain):
        return None
    if any(rx(language, name).search(plain) for name in ("question", "mood")) or opened(part, "agree_start"):
        return None
    body = plain.strip(" .!。！").casefold()
    if rx(asked.language, "either_or").search(asked.plain) and body in asked.plain.casefold():
        said = f"{part.said.strip(' .!。！')} — {asked.said}"
        return Found("decision", Kind.EXPERIENCE, said, f"chosen when asked in turn {number - 1}", 0.6)
    exact = value_kinds(" " + plain).keys() - {"number"} or any(map(str.isdigit, plain)) or len(plain.split()) <= 3
    if exact and rx(asked.language, "asked").search(asked.plain):
        said = f"{asked.said} — {part.said}"
        return Found("fact", Kind.WORLD, said, f"the answer to a question in turn {number - 1}", 0.5)
    return None


# -- corrections ------------------------------------------------------------------------------------------------------


def corrected(number: int, whole: Sentence, before: Before) -> tuple[Found, str | None] | None:
    """A correction, and its statement in the words of what it corrects, where it has too few of its own."""
    said, plain, language = whole
    strong = bool(rx(language, "correct_strong").search(plain))
    first = None
    for _ in range(4):
        lead = starts(language, "correct_start").match(plain)
        if not lead or not 0 < lead.end() < len(plain):
            break
        first = first or lead[0].strip()
        said, plain = said[lead.end() :], plain[lead.end() :]
    part = own_part(Sentence(said, plain, language))
    said, plain = part.said, part.plain
    pair = rx(language, "correct_pair").search(plain)
    new, old = _sides(pair) if pair else ("", "")
    if not (strong or first or (pair and value_kinds(" " + new).keys() & value_kinds(" " + old).keys())):
        return None
    if len(plain) < 4 or _is_no_statement(part, bool(pair)):
        return None
    earlier = before.corrected(number, old or None, plain)
    values = value_kinds(" " + plain)
    weak = bool(first) and not strong and not pair
    if (
        weak
        and not (earlier and values and starts(language, "pronoun_start").match(plain))
        and not _denies(first or "", language)
    ):
        return None
    if not (pair or strong or (earlier and values)):
        return None
    return _correction(part, strong, pair is not None, (new, old), earlier, first)


def _sides(pair: re.Match[str]) -> tuple[str, str]:
    groups = {name: value.strip() for name, value in pair.groupdict().items() if value}
    new = next((value for name, value in groups.items() if name.startswith("new")), "")
    return new, next((value for name, value in groups.items() if name.startswith("old")), "")


def _value(new: str, old: str, language: str) -> str:
    """What of the new side takes the place of the old one: "it is 14 nets" for "12" is 14."""
    is_, was = value_kinds(" " + new), value_kinds(" " + old)
    kind = next((kind for kind in was if kind in is_), None)
    if kind and was[kind] == old:
        return is_[kind]
    return "" if starts(language, "pronoun_start").match(new) else new


def _is_no_statement(part: Sentence, pair: bool) -> bool:
    asked = any(rx(part.language, name).search(part.plain) for name in ("question", "local"))
    return (
        asked
        or bool(opened(part, "request_start"))
        or (not pair and bool(rx(part.language, "hypothetical").search(part.plain)))
    )


def _denies(first: str, language: str) -> bool:
    return bool(starts(language, "deny_start").match(first))


def _correction(
    part: Sentence,
    strong: bool,
    pair: bool,
    sides: tuple[str, str],
    earlier: tuple[Statement, str, str] | None,
    first: str | None,
) -> tuple[Found, str | None] | None:
    new, old = sides
    context, which = None, ""
    short = bool(starts(part.language, "pronoun_start").match(part.plain)) or len(part.plain) < 14
    if earlier:
        statement, was, becomes = earlier
        which = f", corrects turn {statement.turn}: {statement.text[:80]!r}"
        becomes = becomes or _value(new, old, part.language)
        if short and becomes and was:
            context = statement.text.replace(was, becomes)
    if short and context is None and not (pair and strong) and not old:
        return None
    opening = first or ("not this but that" if pair else "a correction")
    return Found("correction", Kind.WORLD, part.said, f"a correction: {opening!r}{which}", 0.8), context


# -- outcomes ---------------------------------------------------------------------------------------------------------


def outcome(number: int, sentence: Sentence, before: Before) -> Tried | None:
    """An attempt that the user reports, with its outcome; what was tried comes from the turn before, where need be."""
    part = own_part(sentence)
    said, plain, language = part
    if rx(language, "question").search(plain) or rx(language, "outcome_not").search(sentence.plain):
        return None
    if opened(part, "request_start"):
        return None
    good, bad = rx(language, "worked").search(plain), rx(language, "failed").search(plain)
    if not good and not bad:
        return None
    ok = not bad or bool(good and good.start() > bad.end())
    match = good if ok else bad
    what = _tried_in(part, match)
    meant = before.proposed(number, 3)
    if meant and meant.offer:
        meant = None
    if what and rx(language, "outcome_person").search(what):
        return None
    if what and not (meant and _is_echo(what, language)):
        task = before.problem if before.problem and before.problem not in said else what
        return Tried(_found(match, part.said, ok), "ok" if ok else "fail", task, None)
    answers = meant is not None and meant.turn == number - 1 and len(plain) <= _ANSWER_LENGTH
    answers = answers and not any(rx(language, name).search(plain) for name in ("person", "fact_sure", "preference"))
    if not what and not opened(part, "outcome_pronoun") and not answers:
        return None
    tried = before.attempt or (meant.clause if meant else None)
    if not tried:
        return None
    tried = tried.rstrip(" .!。！")
    clause = said[0].lower() + said[1:] if language == "en" and said[1:2].islower() else said
    return Tried(_found(match, said, ok), "ok" if ok else "fail", before.problem or tried, f"{tried} — {clause}")


def _is_echo(what: str, language: str) -> bool:
    """True for "did it", «увеличил», 调了: what was done is said by the turn before."""
    return len(what) <= 6 if language == "zh" else len(what.split()) <= 3


def _found(match: re.Match[str] | None, said: str, ok: bool) -> Found:
    told = match[0].strip() if match else ""
    return Found(
        "outcome", Kind.EXPERIENCE, said, f"an attempt that {'worked' if ok else 'did not work'}: {told!r}", 0.6
    )


def _tried_in(part: Sentence, match: re.Match[str] | None) -> str:
    """What the sentence itself says was tried, or nothing."""
    own = rx(part.language, "outcome_own").search(part.plain)
    if not own or not match:
        return ""
    what = next((v for name, v in own.groupdict().items() if v and name.startswith("what")), "").strip(" ,;:，；—–-")
    if opened(Sentence(what, what, part.language), "outcome_empty") or len(what) < (2 if part.language == "zh" else 4):
        return ""
    return what


# -- the assistant ----------------------------------------------------------------------------------------------------


def reported(sentence: Sentence) -> Found | None:
    """What the assistant says that it did in the world, or promises to do; not what it wrote in its reply."""
    part = own_part(sentence)
    language = part.language
    match = rx(language, "report").search(part.plain)
    if match and not rx(language, "report_not").search(part.plain) and _is_exact(part.plain, language):
        reason = f"the assistant reports what it did: {match[0].strip()!r}"
        return Found("outcome", Kind.EXPERIENCE, part.said, reason, 0.5)
    promise = rx(language, "commitment").search(part.plain)
    if promise and rx(language, "remind_need").search(part.plain):
        return Found("decision", Kind.EXPERIENCE, part.said, f"the assistant promises: {promise[0]!r}", 0.5)
    return None


def _is_exact(plain: str, language: str) -> bool:
    """A path, a number, a version or a name."""
    inner = fold(plain)[2:]
    if language == "zh":
        return bool(re.search(r"\d|[A-Za-z]{3,}", inner))
    return bool(re.search(r"\d|[\w-]+/[\w./-]+|\w+\.\w{1,5}\b|(?<![.!?]\s)\b(?!I\b)[A-ZА-ЯЁ][\w]+|`|\b\w+_\w+", inner))
