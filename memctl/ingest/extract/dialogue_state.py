"""What of a conversation the next sentence may speak of: the last proposal, what was stated, who was named. Bounded."""

from __future__ import annotations

import re
from collections import deque
from typing import NamedTuple

from ...language.analyzer import terms
from .names import value_kinds
from .sentences import Sentence, recalled_lines, sentences
from .words import rx, starts

__all__ = ["Before", "Proposal", "Statement"]

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
