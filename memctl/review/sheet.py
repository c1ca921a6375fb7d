"""All questions as one text for an editor: a block each, in which an answer is written and the last line may be reworded.

What is left is answered, what is deleted is for later. A block that cannot be followed is named and changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..errors import MemctlError
from ..index.open_memory import OpenMemory
from ..markdown.escape import one_line
from .answer import Answered, answer
from .question import REWORDED, Question
from .shown import drop_text, keep_text

_INTRO = (
    "# Write the key of an answer behind `answer:`. A block that you delete, or leave without an answer, is for later.\n"
    "# The last line of a question may be worded anew: with the answer y it is kept as you write it.\n"
)
_HEAD = re.compile(r"\[(q-[0-9a-z]{8})\].*")
_LINE = re.compile(r" {2}(?P<role>[a-z]+): ?(?P<text>.*)")
_ANSWER = re.compile(r"answer:\s*(?P<key>\S*)\s*")


class SheetAnswer(NamedTuple):
    """What somebody wrote into a block: the key, and the last line in other words (empty: as it was)."""

    question: str
    key: str
    text: str = ""


def written(questions: Sequence[Question]) -> str:
    """The text of some questions."""
    return _INTRO + "".join(f"\n{_block(question)}" for question in questions)


def _block(question: Question) -> str:
    sides = zip(question.roles, question.sides, strict=True)
    lines = [f"  {role}: {one_line(side.content)}" for role, side in sides]
    told = [f"{side.day or 'undated'} {side.source}" for side in question.sides] + [*question.names, question.why]
    options = " · ".join(f"{one.key} {one.text}" for one in question.options)
    comments = [f"  # {one_line(' · '.join(filter(None, told)))}", f"  # {options}"]
    return "\n".join([f"[{question.id}] {question.text}", *lines, *comments, "answer:", ""])


def replies_in(text: str, questions: Sequence[Question]) -> tuple[list[SheetAnswer], list[str]]:
    """The answers in an edited text, and a line for each block that cannot be followed."""
    known = {question.id: question for question in questions}
    replies: dict[str, SheetAnswer] = {}
    problems: list[str] = []
    for ref, lines in _blocks(text, problems):
        if ref not in known or ref in replies:
            problems.append(f"{ref}: " + ("stands twice; the first counts" if ref in replies else "no such question"))
            continue
        reply = _reply(known[ref], lines)
        if isinstance(reply, str):
            problems.append(f"{ref}: {reply}")
        elif reply.key:
            replies[ref] = reply
    return list(replies.values()), problems


def _blocks(text: str, problems: list[str]) -> Iterator[tuple[str, list[str]]]:
    """The lines of each block behind its id; what stands before the first one is a problem unless it is a comment."""
    ref, lines = "", list[str]()
    for line in text.replace("\r\n", "\n").split("\n"):
        if match := _HEAD.fullmatch(line.rstrip()):
            if ref:
                yield ref, lines
            ref, lines = match[1], []
        elif line.strip() and not line.lstrip().startswith("#"):
            if ref:
                lines.append(line)
            else:
                problems.append(f"{one_line(line)[:60]!r} stands in no block")
    if ref:
        yield ref, lines


def _reply(question: Question, lines: Sequence[str]) -> SheetAnswer | str:
    """The answer in a block, or why it cannot be followed."""
    roles = dict(zip(question.roles, (one_line(side.content) for side in question.sides), strict=True))
    said, key = dict(roles), ""
    for line in lines:
        if match := _ANSWER.fullmatch(line):
            key = match["key"].lower()
        elif (match := _LINE.fullmatch(line)) and match["role"] in roles:
            said[match["role"]] = one_line(match["text"])
        else:
            return f"{one_line(line)[:60]!r} is neither a line of it nor its answer"
    last = question.roles[-1] if roles else ""
    changed = [role for role in roles if said[role] != roles[role]]
    if changed and changed != [last]:
        return f"only the line `{last}` can be worded anew; edit the page to change another"
    if key and key not in (one.key for one in question.options):
        return f"no answer {key!r}; one of {', '.join(one.key for one in question.options)}"
    return SheetAnswer(question.id, key or (REWORDED if changed else ""), said[last] if changed else "")


def answer_text(
    memory: OpenMemory, questions: Sequence[Question], text: str, *, dry_run: bool = False
) -> tuple[list[Answered], list[str]]:
    """Give the answers of an edited text; what was done, and a line for each that could not be given.

    Where there is such a line, the whole text is kept in .memory/review.txt.
    """
    replies, problems = replies_in(text, questions)
    done: list[Answered] = []
    for reply in replies:
        try:
            done.append(answer(memory, reply.question, reply.key, text=reply.text or None, dry_run=dry_run))
        except MemctlError as error:
            problems.append(f"{reply.question}: {error.what}; {error.cure}")
    if not problems:
        drop_text(memory.workspace)
    if problems and (place := keep_text(memory.workspace, text)):
        problems.append(f"what you wrote stands in {place}")
    return done, problems
