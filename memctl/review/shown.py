"""What was shown last: each question with a hash of its lines, in .memory/review.json, and in .memory/public/review.json what
others than the owner were shown where lines are private; and beside it, in held.json, what the plan of reflect left to be asked, with a
hash of all that it was made from. Derived: they may go at any time, and held.json goes as soon as a page has changed.

By it an answer knows that a line was changed since its question was shown, and a context says how many questions wait
without looking for them again.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import suppress
from typing import NamedTuple

from ..errors import MemctlError
from ..ids import hashed
from ..index.open_memory import OpenMemory
from ..index.queries.beliefs import settled_ids
from ..index.queries.entries import refs_standing
from ..markdown.escape import many
from ..notes.files import prepare_memory, write_derived
from ..notes.journal import HELD
from ..notes.workspace import Workspace
from . import keep
from .question import Doubt, Question, ids_of_line

_FILE = "review.json"


class Shown(NamedTuple):
    """A question that was shown: the doubt it came from, and what its lines said."""

    doubt: Doubt
    words: str
    is_public: bool


def words_of(question: Question) -> str:
    """A hash of what the lines of a question say."""
    return hashed("\0".join(side.content for side in question.sides).encode("utf-8", "replace"), 8).hex()


def remember(workspace: Workspace, questions: Iterable[Question]) -> None:
    """Keep what is shown now, in place of what was shown before. Silent where the folder cannot be written."""
    rows = [[q.id, q.kind, list(q.about), words_of(q), not q.is_for_owner] for q in questions]
    if (text := json.dumps(rows)) != _text(workspace, _FILE):
        _put(workspace, _FILE, text)


def forget_shown(workspace: Workspace, answered: str) -> None:
    """Take a question out that was answered."""
    left = ((ref, one) for ref, one in shown(workspace).items() if ref != answered)
    rows = [[ref, one.doubt.kind, list(one.doubt.about), one.words, one.is_public] for ref, one in left]
    _put(workspace, _FILE, json.dumps(rows))


def shown(workspace: Workspace) -> dict[str, Shown]:
    """What was shown last, by id and in its order; nothing where nobody knows."""
    with suppress(ValueError, TypeError):
        rows = json.loads(_text(workspace, _FILE) or "[]")
        return {ref: Shown(Doubt(kind, tuple(about)), words, is_public) for ref, kind, about, words, is_public in rows}
    return {}


def remember_held(workspace: Workspace, state: str, doubts: Iterable[Doubt]) -> None:
    """Keep what is to be asked of this state of the pages."""
    _put(workspace, HELD, json.dumps([state, [list(doubt) for doubt in doubts]]))


def read_held(workspace: Workspace, state: str) -> list[Doubt] | None:
    """What was to be asked of this state of the pages; None where nobody knows."""
    with suppress(ValueError, TypeError):
        known, rows = json.loads(_text(workspace, HELD) or "[0, []]")
        if known == state:
            return [Doubt(kind, tuple(about), reason) for kind, about, reason in rows]
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
        return (workspace.derived / name).read_text(encoding="utf-8")
    return ""


_MOST = 50  # questions that are looked up for the one line


def waiting(memory: OpenMemory) -> int:
    """How many of the questions that were shown last, and of the candidates of ingests, wait: two statements, one page.

    At most 50 are looked up; in a public view those that an agent may answer.
    """
    public = memory.workspace.hides is not None
    asked = {ref: one.doubt for ref, one in shown(memory.workspace).items() if one.is_public or not public}
    asked |= {each.id: Doubt("keep", each.about) for each in keep.read(memory.workspace)}
    last = dict(list(asked.items())[-_MOST:])

    def count(at: OpenMemory) -> int:
        answered = settled_ids(at.index, last)
        left = [doubt for ref, doubt in last.items() if ref not in answered]
        lines = [doubt.about for doubt in left if doubt.kind not in ("same", "keep")]
        there = refs_standing(at.index, {each for refs in lines for ref in refs for each in ids_of_line(ref)})
        gone = sum(not all(there.intersection(ids_of_line(ref)) for ref in refs) for refs in lines)
        return len(left) - gone

    return memory.run(count) if last else 0


def waiting_line(memory: OpenMemory) -> str:
    """The one line that a context ends with; empty where nothing waits."""
    count = waiting(memory)
    return f"{many(count, 'question waits', 'questions wait')} for an answer: memctl review" if count else ""
