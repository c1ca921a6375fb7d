"""What an ingest was not sure of: candidates in the managed block `keep` of bank/review.md, until somebody answers.

Lines in a block are copies for the index: they count in nothing and enter no context. Each is the line that it would be,
behind the day on which it was said, with the id of its question; below it stands why it is not certain.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import date
from typing import NamedTuple

from ..errors import MemctlError, Refused
from ..facts import Fact
from ..ids import kept_as, question_id
from ..markdown.blocks import edited, splice
from ..markdown.grammar import clean, parse, printable_line, render
from ..markdown.lines import split_lines
from ..markdown.page import live_blocks
from ..notes.edits import apply, read_for_edit, writing_alone
from ..notes.workspace import Workspace

PAGE = "bank/review.md"
BLOCK = "keep"
_INTRO = "What was said and may be worth keeping; `memctl review` asks. Nothing here counts until it is answered."
_HEAD = re.compile(r"- (?P<day>\d{4}-\d{2}-\d{2}) · (?P<line>.+)")
_WHY = "  - "


class Uncertain(NamedTuple):
    """A candidate that somebody is to judge: the fact with its `src`, the day on which it was said, why it is not certain.

    `line` is where it stands on its page; 0 before it does.
    """

    fact: Fact
    day: date
    reason: str = ""
    line: int = 0

    @property
    def about(self) -> tuple[str, str]:
        """What its question is about: the day and the words."""
        return kept_as(self.fact.kind, self.fact.entities, self.fact.text, self.day)

    @property
    def id(self) -> str:
        """The id of its question: the same for the same words of the same day."""
        return question_id("keep", *self.about)


def kept_candidates(workspace: Workspace) -> tuple[Uncertain, ...]:
    """The candidates in the block, in its order; none where the page cannot be read. What is not a candidate is left out."""
    with suppress(MemctlError):
        return tuple(candidates_in(read_for_edit(workspace, PAGE).after))
    return ()


def change_candidates(workspace: Workspace, new: Iterable[Uncertain] = (), gone: Collection[str] = ()) -> int:
    """Put candidates into the block, each once, or take some out by their ids; by how many it grew. Refused if edited."""
    fresh = {made.id: made for made in (each._replace(fact=clean(each.fact)) for each in new)}
    if not (fresh or gone):
        return 0
    with writing_alone(workspace, "keep"):
        page = read_for_edit(workspace, PAGE)
        there = {each.id: each for each in candidates_in(page.after)}
        wanted = [each for ref, each in there.items() if ref not in gone]
        wanted += [each for ref, each in fresh.items() if ref not in there]
        if wanted == list(there.values()):
            return 0
        if edited(page.after, BLOCK):
            what = f"{PAGE}: the block `{BLOCK}` was edited by hand"
            raise Refused(what, "take its two marker lines out to keep the edit; then a new block is made")
        text = splice(page.after or "# Review\n", BLOCK, candidates_body(wanted))
        apply(workspace, [page._replace(after=text)])
        return len(wanted) - len(there)


# -- the block --------------------------------------------------------------------------------------------------------


def candidates_body(candidates: Sequence[Uncertain]) -> str:
    """The body of the block; empty without candidates. `candidates_in` reads it back."""
    lines = [_INTRO, ""] if candidates else []
    for each in candidates:
        lines.append(f"- {each.day} · {render(replace(each.fact, block_id=each.id))}")
        if reason := printable_line(each.reason):
            lines.append(_WHY + reason)
    return "\n".join(lines)


def candidates_in(text: str) -> Iterator[Uncertain]:
    """The candidates in the block of a page; what is not a candidate is left out."""
    lines = split_lines(text)
    block = next((block for block in live_blocks(lines) if block.name == BLOCK), None)
    for number in range(block.begin + 1, block.end) if block else ():
        match = _HEAD.fullmatch(lines[number - 1])
        fact = parse(match["line"]) if match else None
        if match and isinstance(fact, Fact):
            below = lines[number]
            reason = below.removeprefix(_WHY) if below.startswith(_WHY) else ""
            with suppress(ValueError):  # no such day: a person changed it
                yield Uncertain(replace(fact, block_id=None), date.fromisoformat(match["day"]), reason, number)
