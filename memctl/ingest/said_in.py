"""Back from a fact to the conversation in which it was said, also when the transcript has moved or was edited since."""

from __future__ import annotations

import os
import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import MemctlError, NothingFound
from ..facts import Fact
from ..index.open_memory import OpenMemory
from ..language.analyzer import terms
from ..language.dates import log_day
from ..markdown.grammar import parse
from ..markdown.lines import Role, content_of
from ..recall.lookup import Passage, show_all
from .formats import read_transcript
from .ingest import open_transcript, prose_turns
from .turns import Notes, Turn

_SOURCE = re.compile(r"\w+:(?P<path>.+)#L(?P<line>\d+)")
_ENDINGS = (".jsonl", ".json", ".md", ".txt")
_SAYS = 0.6  # of the terms of a fact: what a turn that says it holds at the least, since ingest shortens and joins


class SourceConversation(NamedTuple):
    """A conversation at the point where a fact was said: `turns[place]` of the transcript at `path` says it.

    `cited` is where the fact says that it stands.
    """

    ref: str | None
    cited: str
    path: str
    turns: tuple[Turn, ...]
    place: int

    def as_json(self) -> dict[str, Any]:
        """The conversation as plain values."""
        turns = [{"role": turn.role, "line": turn.line, "text": turn.text} for turn in self.turns]
        return {"id": self.ref, "cited": self.cited, "path": self.path, "turns": turns, "said": self.place}


def said_in(memory: OpenMemory, references: Sequence[str], context: int = 1) -> tuple[SourceConversation, ...]:
    """Where the facts that references point at were said, with `context` turns around each; NothingFound for what is none.

    The transcript is looked for where the fact says that it lies, then by its name and by its words anywhere in the workspace.
    """
    return tuple(_conversation(memory, passage, context) for passage in show_all(memory, references, 0))


def _conversation(memory: OpenMemory, passage: Passage, context: int) -> SourceConversation:
    fact = parse(content_of(Role.FACT, passage.lines))
    source = _SOURCE.fullmatch(fact.source or "") if isinstance(fact, Fact) else None
    if not isinstance(fact, Fact) or source is None:
        cure = "name a fact whose `src=` names a transcript, such as src=user:chat.md#L3"
        raise NothingFound(f"{passage.citation} does not say in which conversation it was said", cure)
    wanted, cited = frozenset(terms(fact.text)), source[0].partition(":")[2]
    for path in _places(memory, source["path"]):
        if found := _turns_around(_turns(memory, path), wanted, int(source["line"]), context):
            return SourceConversation(passage.ref, cited, path, *found)
    what = f"no file of the workspace says what {passage.citation} was taken from; it was {cited}"
    raise NothingFound(what, "put the transcript back, into any folder of the workspace")


def _places(memory: OpenMemory, cited: str) -> list[str]:
    """Where a transcript may lie, the likeliest first; of memory/ and bank/ only what has its name."""
    root, name = memory.workspace.root, Path(cited).name
    near: list[str] = []
    for folder, folders, files in os.walk(root):
        folders[:] = [each for each in folders if not each.startswith(".")]
        for each in files:
            path = Path(folder, each).relative_to(root).as_posix()
            if each == name or (path.endswith(_ENDINGS) and not path.startswith(("memory/", "bank/"))):
                near.append(path)
    return sorted(near, key=lambda path: (path != cited, Path(path).name != name, path))


def _turns_around(
    said: Iterable[Turn], wanted: frozenset[str], line: int, context: int
) -> tuple[tuple[Turn, ...], int] | None:
    """The turn that says most of it, of several the one on that line, with those around it and its place among them."""
    before: deque[Turn] = deque(maxlen=context)
    best, found, place = (0, False), list[Turn](), 0
    for turn in said:
        score = len(wanted.intersection(terms(turn.text))), turn.line <= line <= turn.end_line
        if score[0] >= max(1, _SAYS * len(wanted)) and score > best:
            best, found, place = score, [*before, turn], len(before)
        elif found and len(found) <= place + context:
            found.append(turn)
        before.append(turn)
    return (tuple(found), place) if found else None


def _turns(memory: OpenMemory, path: str) -> Iterator[Turn]:
    """What was said in a file; nothing where it cannot be read, or leads out of the workspace."""
    with suppress(MemctlError):
        if log_day(memory.workspace.contain(path)) and path.startswith("memory/"):
            yield from prose_turns(memory, path, Notes())
        elif memory.workspace.hides is None:  # a transcript is not a page: others than the owner do not see it
            with open_transcript(memory.workspace, memory.workspace.root / path) as source:
                yield from read_transcript(source.pieces, Notes())
