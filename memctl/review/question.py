"""A question that only the owner or their agent can answer: its kind, the lines it is about, the answers, and their line of Markdown.

An answer is a fact of kind S whose `settles=` names the question: a sentence that a person could have typed. Such a line
is told, so what it says is followed, and the question is not asked again as long as the line stands.

What was shown last is kept in .memory/review.json, each question with a hash of its lines, and in .memory/public/review.json
what others than the owner were shown where lines are private; and beside it, in held.json, what the plan of reflect left to be
asked, with a hash of all that it was made from. By it an answer knows that a line was changed since its question was shown, and
a context says how many questions wait without looking for them again. Derived: they may go at any time, and held.json goes as
soon as a page has changed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, NamedTuple

from ..errors import MemctlError
from ..facts import Fact, Kind, Period, fields, iso_day
from ..hits import Hit, hit_json
from ..ids import hashed, question_id
from ..index.open_memory import OpenMemory
from ..index.queries.entries import existing_refs
from ..index.queries.evidence import settled_ids
from ..judgement import standing_of
from ..markdown.escape import beginning, many, one_line
from ..markdown.grammar import QUOTED
from ..notes.files import prepare_memory, write_derived
from ..notes.journal import HELD
from ..notes.workspace import Workspace
from ..system import read_safely
from ..truth.replaced import FEW
from ..truth.validity import has_begun


class Option(NamedTuple):
    """One answer: the key that gives it, what it says, and the line of it, in which roles stand for the lines of the question.

    `links` are the attributes of that line, and of whose lines their ids are: "supports=old,new".
    """

    key: str
    text: str
    line: str = ""
    links: str = ""


class Doubt(NamedTuple):
    """What a room is not sure of: the kind of question, what it is about (ids of lines, or names), and why it is asked.

    Of two lines the older stands first, of a line and a belief the belief.
    """

    kind: str
    about: tuple[str, ...]
    reason: str = ""
    rule: str = ""  # the row of `RULES` that found it

    @property
    def id(self) -> str:
        """The same for the same lines, whoever asks and in whatever order."""
        return question_id(self.kind, *self.about)

    @property
    def settled_by(self) -> tuple[str, ...]:
        """The ids of the questions of which an answer ends it: a line from outside is asked about once, beside whatever it stands."""
        return tuple({self.id: None, question_id("trust", self.about[-1]): None} if self.kind == "trust" else [self.id])


def ids_of_line(ref: str) -> tuple[str, ...]:
    """The ids under which the line of an id may stand: that of a belief follows from that of the line that stated it."""
    return (f"f-{ref[2:]}", ref[2:], ref) if ref.startswith("o-") else (ref,)


class QuestionKind(NamedTuple):
    """One kind of question: what is asked, what its lines are called, and the answers by key.

    `worth` is what an answer is worth beside its age and its names. `owner_only` ones are asked of no agent and no model: they
    let in what came from outside, or write the core page.
    """

    text: str
    roles: tuple[str, ...]
    worth: float
    options: tuple[Option, ...]
    owner_only: bool = False


_PAIR = (
    Option("y", "yes, it replaces it", "{new} replaces {old}", "supersedes=old by=new"),
    Option("b", "both hold", "Both hold: {old} and {new}", "supports=old,new"),
    Option("o", "no, the old one holds", "{old} still holds, and not {new}", "corrects=new by=old"),
    Option("n", "not about the same", "{old} and {new} are not about the same"),
)
KINDS = {
    "replaced": QuestionKind("Does the newer line replace the older one?", ("old", "new"), 0.5, _PAIR),
    "reversed": QuestionKind("Has the newer opinion replaced the older one?", ("old", "new"), 0.5, _PAIR),
    "belief": QuestionKind("Does the line speak for or against the belief?", ("belief", "line"), 0.2, (
        Option("f", "for it", "{line} speaks for {belief}", "supports=belief by=line"),
        Option("a", "against it", "{line} speaks against {belief}", "refutes=belief by=line"),
        Option("n", "neither", "{line} speaks neither for nor against {belief}"),
    )),
    "due": QuestionKind("Its day has passed: did it happen?", ("said",), 0.1, (
        Option("y", "yes", "{said} happened", "by=said"),
        Option("n", "no, it did not", "{said} did not happen", "corrects=said"),
        Option("s", "it is still to come", "{said} is still to come"),
    )),
    "same": QuestionKind("Are these two names of one and the same?", ("one", "other"), 0.3, (
        Option("y", "yes, one", "{one} and {other} are one and the same"),
        Option("n", "no, two", "{one} and {other} are two"),
    )),
    "core": QuestionKind(
        "Does this belong into memory.md, with which every context begins?", ("line",), 0.2,
        (Option("y", "yes, write it there"), Option("n", "no, never")), owner_only=True,
    ),
    "trust": QuestionKind(
        "This came from outside: is it true?", ("yours", "outside"), 0.1,
        (Option("y", "yes, it holds"), Option("n", "no, leave it as it is")), owner_only=True,
    ),
    "keep": QuestionKind("Is this worth keeping?", ("said",), 0.4, (Option("y", "yes, keep it"), Option("n", "no"))),
}  # fmt: skip
"""Every kind of question, in no order: what is worth most is asked first."""
_OF_ONE_DAY = QuestionKind(
    "Does the second line replace the first?", ("first", "second"), 0.5,
    (*_PAIR[:2], _PAIR[2]._replace(text="no, the first one holds"), _PAIR[3]),
)  # fmt: skip

REWORDED = "y"
"""The answer to which the last line of a question may be worded anew."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question as it is shown. `about` is what its id was made of; `names` are those whom its lines are about."""

    kind: str
    about: tuple[str, ...]
    sides: tuple[Hit, ...]
    names: tuple[str, ...] = ()
    why: str = ""
    worth: float = 0.0
    rule: str = ""
    HOW = "y only if the user said so or the newer line makes the older one untrue, b both hold, n not about the same"
    """What whoever is offered an older line is told of the answers, in every door."""

    @property
    def id(self) -> str:
        """Made of the kind and of what it is about: the same question has the same id everywhere."""
        return question_id(self.kind, *self.about)

    @property
    def _as(self) -> QuestionKind:
        """What is asked and how it is answered; of two lines of one day, nobody knows which is newer."""
        of_one_day = self.kind == "replaced" and len({side.day for side in self.sides}) == 1
        return _OF_ONE_DAY if of_one_day else KINDS[self.kind]

    @property
    def text(self) -> str:
        """What is asked."""
        return self._as.text

    @property
    def options(self) -> tuple[Option, ...]:
        """The answers; what only begins later replaces the older line from then on, and what comes from outside that of the owner."""
        first, *rest = self._as.options
        if self.kind == "trust" and len(self.sides) > 1:
            first = first._replace(text="yes, it holds, and replaces yours")
        if self.kind in ("replaced", "reversed") and (begins := _begins(*self.sides)):
            first = first._replace(text=f"yes, from {begins} on")
        return (first, *rest)

    @property
    def roles(self) -> tuple[str, ...]:
        """What each of the lines is called; of fewer lines the last ones."""
        return self._as.roles[-len(self.sides) :] if self.sides else ()

    def as_json(self) -> dict[str, Any]:
        """The question as plain values; keys are only ever added."""
        made = fields(self, "id kind text about=names") | {"sides": [hit_json(side) for side in self.sides]}
        made |= {"options": [fields(one, "key text") for one in self.options], "why": self.why}
        return made | standing_of(self.rule, is_asked=True)

    @property
    def older(self) -> str:
        """Its first line in few words, for whoever has just written the other one."""
        return f"{self.sides[0].day or 'undated'} {_quote(self.sides[0])} ({self.sides[0].source})"

    @property
    def newer(self) -> str:
        """Its last line in few words, for whoever has written several."""
        return f"{_quote(self.sides[-1])} ({self.sides[-1].source})"

    def offer_json(self) -> dict[str, Any]:
        """That line as plain values, and why it is offered; keys are only ever added."""
        return {"question": self.id, "newer": self.about[1], "reason": self.why} | hit_json(self.sides[0])

    @property
    def is_telling(self) -> bool:
        """True where an offer is worth a line to a person too: the two lines share something."""
        return self.why not in ("", FEW)

    @property
    def is_for_owner(self) -> bool:
        """True where an agent or a model may not answer."""
        return KINDS[self.kind].owner_only


def _begins(old: Hit, new: Hit) -> date | None:
    """The day to come until which the older line holds; None where the newer one ends it when told (truth/validity.py)."""
    from ..index.rows import day_to_come  # with the parser of pages, which a context does not need

    first, told = new.valid.first, iso_day(new.day)
    is_later = first and told and told < first and not new.valid.last and has_begun(old.valid, told)
    is_dated = is_later and (day_to_come(old.fact, iso_day(old.day)) or day_to_come(new.fact, told) == 1)
    return first if is_later and not is_dated else None


# -- the line of an answer --------------------------------------------------------------------------------------------


def _quote(hit: Hit) -> str:
    return f"“{beginning(one_line(hit.content), QUOTED)}”"


def answer_line(question: Question, key: str, today: date) -> Fact:
    """The line that an answer adds to today's log; of `core`, which is answered in memory.md, there is none."""
    kind, sides = question.kind, question.sides
    names = tuple(dict.fromkeys(name for side in sides for name in (side.fact.entities if side.fact else ())))
    private = any(side.private for side in sides)
    line = Fact(Kind.OBSERVATION, "", names or question.names, private=private)
    line = replace(line, settles=Doubt(kind, question.about).settled_by)
    if kind in ("trust", "keep"):
        return (_trust if kind == "trust" else _keep)(line, question, key)
    if kind == "same":
        line = replace(line, entities=question.names)
    if kind == "due":  # of a yes, the day is that of the event (review/answer.py)
        line = replace(line, valid=Period(today, today if key == "y" else None))
    option = next(one for one in KINDS[kind].options if one.key == key)
    said = dict(zip(KINDS[kind].roles, question.names if kind == "same" else map(_quote, sides), strict=True))
    refs = dict(zip(said, question.about if kind == "due" else (side.ref for side in sides), strict=False))
    linked = (link.split("=") for link in option.links.split())
    links: dict[str, Any] = {name: tuple(refs[role] for role in roles.split(",")) for name, roles in linked}
    return replace(line, text=option.line.format(**said), **links | {"by": links.get("by", (None,))[0]})


def _trust(line: Fact, question: Question, key: str) -> Fact:
    outside = question.sides[-1]
    if key == "y" and outside.fact:
        return replace(
            outside.fact, source=f"user:{outside.origin}", settles=line.settles, block_id=None, ttl=None,
            supersedes=question.about[:-1],  # what the owner said and this one disagrees with
            private=line.private,
            valid=outside.fact.valid or (Period(outside.valid.first) if outside.valid.first else None),
        )  # fmt: skip
    return replace(line, text=f"What came from {outside.origin} was not confirmed ({outside.source})")


def _keep(line: Fact, question: Question, key: str) -> Fact:
    said = question.sides[-1]
    if key == "y" and said.fact:  # which names the note of a log that it says
        return replace(said.fact, settles=tuple(dict.fromkeys((*line.settles, *said.fact.settles))), block_id=None)
    anchor = (said.origin.partition(":")[2] or "a conversation").strip()
    return replace(line, text=f"A line of {anchor} was not worth keeping", entities=(), private=False)


def reworded(question: Question, line: Fact, text: str) -> Fact:
    """The line of an answer that writes the last side in other words, and replaces that line."""
    said = question.sides[-1]
    if said.fact is None or question.kind in ("trust", "keep"):
        return replace(line, text=text)
    from ..index.rows import ttl_end  # with the parser of pages, which a context does not need

    day, ends = iso_day(said.day), [said.fact.until]
    ends += [ttl_end(day, said.fact.ttl)] if day and said.fact.ttl else []  # the copy is of another day
    made = replace(said.fact, text=text, settles=line.settles, block_id=None, ttl=None, source=None)
    gone = tuple(dict.fromkeys((*line.supersedes, question.about[-1])))
    return replace(
        made, supersedes=gone, corrects=(), supports=(), refutes=(), until=min(filter(None, ends), default=None),
        private=line.private,
    )  # fmt: skip


# -- what was shown last ------------------------------------------------------------------------------------------------

_FILE, OFFERED = "review.json", "offered.json"


class Shown(NamedTuple):
    """A question that was shown: the doubt it came from, and what its lines said."""

    doubt: Doubt
    words: str
    is_public: bool
    unseen: str = ""  # since when an agent may not have seen it, as a time


def hash_of(question: Question) -> str:
    """A hash of what the lines of a question say."""
    return hashed("\0".join(side.content for side in question.sides).encode("utf-8", "replace"), 8).hex()


def remember(workspace: Workspace, questions: Iterable[Question]) -> None:
    """Keep what is shown now, in place of what was shown before. Silent where the folder cannot be written."""
    keep_shown(workspace, {q.id: Shown(Doubt(q.kind, q.about), hash_of(q), not q.is_for_owner) for q in questions})


def forget_shown(workspace: Workspace, answered: str) -> None:
    """Take a question out that was answered."""
    for name in (_FILE, OFFERED):
        keep_shown(workspace, {ref: one for ref, one in last_shown(workspace, name).items() if ref != answered}, name)


def keep_shown(workspace: Workspace, questions: Mapping[str, Shown], name: str = _FILE) -> bool:
    """Keep some questions as shown, in place of those that were; False where the folder cannot be written."""
    rows = [[ref, one.doubt.kind, one.doubt.about, *one[1:]] for ref, one in questions.items()]
    text = json.dumps(rows)
    return text == (_text(workspace, name) or "[]") or _put(workspace, name, text)


def last_shown(workspace: Workspace, name: str = _FILE) -> dict[str, Shown]:
    """What was shown last, by id and in its order; empty where that was not kept."""
    with suppress(ValueError, TypeError):
        rows = json.loads(_text(workspace, name) or "[]")
        return {ref: Shown(Doubt(kind, tuple(map(str, about))), *rest) for ref, kind, about, *rest in rows}
    return {}


def cache_questions(workspace: Workspace, state: str, doubts: Iterable[Doubt]) -> None:
    """Keep what is to be asked of this state of the pages."""
    _put(workspace, HELD, json.dumps([state, [list(doubt) for doubt in doubts]]))


def cached_questions(workspace: Workspace, state: str) -> list[Doubt] | None:
    """The questions that were found for this state of the pages; None where they were not kept."""
    with suppress(ValueError, TypeError):
        known, rows = json.loads(_text(workspace, HELD) or "[0, []]")
        if known == state:
            return [Doubt(kind, tuple(about), *rest) for kind, about, *rest in rows]
    return None


def keep_text(workspace: Workspace, text: str) -> str:
    """Keep an edited text that could not be followed whole; where it stands, empty where it cannot be written."""
    return ".memory/review.txt" if _put(workspace, "review.txt", text) else ""


def _put(workspace: Workspace, name: str, text: str) -> bool:
    with suppress(MemctlError):
        prepare_memory(workspace)
        write_derived(workspace.derived / name, text.encode("utf-8", "replace"))
        return True
    return False


def _text(workspace: Workspace, name: str) -> str:
    with suppress(OSError, ValueError):
        return read_safely(workspace.derived / name).decode()
    return ""


_MOST = 50  # questions that are looked up for the one line


def waiting(memory: OpenMemory) -> int:
    """How many of the questions that were shown last, and of the candidates of ingests, wait: two statements, one page.

    At most 50 are looked up; in a public view those that an agent may answer.
    """
    from . import keep

    public = memory.workspace.hides is not None
    asked = {ref: one.doubt for ref, one in last_shown(memory.workspace).items() if one.is_public or not public}
    asked |= {each.id: Doubt("keep", each.about) for each in keep.kept_candidates(memory.workspace)}
    last = dict(list(asked.items())[-_MOST:])

    def count(at: OpenMemory) -> int:
        answered = settled_ids(at.index, last)
        left = [doubt for ref, doubt in last.items() if ref not in answered]
        lines = [doubt.about for doubt in left if doubt.kind not in ("same", "keep")]
        there = existing_refs(at.index, {each for refs in lines for ref in refs for each in ids_of_line(ref)})
        gone = sum(not all(there.intersection(ids_of_line(ref)) for ref in refs) for refs in lines)
        return len(left) - gone

    return memory.run(count) if last else 0


def waiting_line(memory: OpenMemory) -> str:
    """The one line that a context ends with; empty where nothing waits."""
    count = waiting(memory)
    return f"{many(count, 'question waits', 'questions wait')} for an answer: memctl review" if count else ""
