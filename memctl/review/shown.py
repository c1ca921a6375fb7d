"""What was shown last: each question with the words of its lines, in .memory/review.json. Derived: it may go at any time.

By it an answer knows that a line was changed since its question was shown, and a context says how many questions wait
without looking for them again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from contextlib import suppress
from typing import Any, NamedTuple

from ..errors import MemctlError
from ..ids import hashed
from ..notes.files import prepare_memory
from ..notes.workspace import Workspace
from .question import Doubt, Question

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
    _write(
        workspace,
        [[q.id, q.kind, list(q.about), q.why, words_of(q), not (q.is_private or q.is_for_owner)] for q in questions],
    )


def forget_shown(workspace: Workspace, answered: str) -> None:
    """Take a question out that was answered."""
    left = ((ref, one) for ref, one in shown(workspace).items() if ref != answered)
    _write(
        workspace,
        [[ref, one.doubt.kind, list(one.doubt.about), one.doubt.reason, one.words, one.is_public] for ref, one in left],
    )


def _write(workspace: Workspace, rows: list[list[Any]]) -> None:
    text = json.dumps(rows)
    if text == _text(workspace):
        return
    with suppress(OSError, MemctlError):
        path = prepare_memory(workspace) / _FILE
        made = path.with_name(f"{_FILE}-{os.getpid()}")
        made.write_text(text, encoding="ascii")
        os.replace(made, path)


def shown(workspace: Workspace) -> dict[str, Shown]:
    """What was shown last, by id and in its order; nothing where nobody knows."""
    with suppress(ValueError, TypeError):
        rows = json.loads(_text(workspace) or "[]")
        return {
            ref: Shown(Doubt(kind, tuple(about), why), words, is_public)
            for ref, kind, about, why, words, is_public in rows
        }
    return {}


def _text(workspace: Workspace) -> str:
    with suppress(OSError, ValueError):
        return (workspace.memory / _FILE).read_text(encoding="ascii")
    return ""
