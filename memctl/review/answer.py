"""Answering a question: one line of the log, another name on a page, or a line of memory.md. All of it can be taken back."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, NamedTuple

from ..entities.rename import merge
from ..errors import NothingFound, Refused, Usage
from ..facts import Citation
from ..index.open_memory import OpenMemory
from ..index.queries.names import resolve
from ..index.queries.review import mention_counts, settled
from ..language.names import entity_key
from ..markdown.grammar import one_line
from ..markdown.lines import LineText
from ..notes.edits import Edit, apply, read_for_edit
from ..notes.replace import writing_alone
from ..reflect.proposals import CORE, with_line, with_refusal
from ..retain.retain import retain
from . import keep
from .collect import open_questions, questions
from .question import REWORDED, Question, answer_line, reworded
from .shown import forget_shown, shown, words_of
from .sources import core_proposal

_TAKEN_BACK = 20  # answered candidates that stay in their block, so that an answer goes with its line


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer: to which question, by which option, where its line stands, and the change that it made or would make.

    `added` are the lines that were written, each with its page, and `merged` the names that became one: what `take_back`
    takes out again.
    """

    question: Question
    option: str
    citation: Citation | None = None
    line: str = ""
    diff: str = ""
    dry_run: bool = False
    added: tuple[tuple[str, str], ...] = ()
    merged: tuple[str, str] | None = None
    warnings: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """The answer as plain values, without its diff, which shows the lines around it."""
        source = str(self.citation) if self.citation else None
        made = {"schema": 1, "dry_run": self.dry_run, "id": self.question.id, "option": self.option, "source": source}
        return made | {"line": self.line, "warnings": list(self.warnings)}


class _Given(NamedTuple):
    option: str
    text: str
    said_by: str | None
    dry_run: bool


def answer(
    memory: OpenMemory, asked: str, option: str, *, text: str | None = None, said_by: str | None = None,
    dry_run: bool = False,
) -> Answered:  # fmt: skip
    """Answer the open question with the id `asked` by one of its options; one at a time in a workspace.

    `text` words the last line of the question anew, beside the answer yes. `said_by` is the source of the answer: None is
    the owner, who alone answers some. NothingFound for an id that no open question has, or whose lines changed since it was
    shown; Refused for one that is settled, or that only the owner answers; Usage for an option that it does not have. Whatever is raised, nothing was written.
    """
    ref = asked.strip().removeprefix("^")
    given = _Given(option.strip(), one_line(text or ""), said_by, dry_run)
    with writing_alone(memory.workspace, "review"):
        question = memory.run(lambda at: _find(at, ref))
        if said_by is not None and question.is_for_owner:
            raise Refused(f"only the owner answers {ref}", "ask them to run `memctl review`")
        if given.option not in (one.key for one in question.options):
            keys = ", ".join(f"{one.key} ({one.text})" for one in question.options)
            raise Usage(f"{ref} has no answer {given.option!r}", f"one of: {keys}")
        if given.text and (given.option != REWORDED or question.kind in ("same", "core")):
            raise Usage(f"other words go with the answer {REWORDED} to a question about a line", "leave the text out")
        done = _core(memory, question, given) if question.kind == "core" else _logged(memory, question, given)
        if not dry_run:
            forget_shown(memory.workspace, ref)
        return done


def _find(memory: OpenMemory, ref: str) -> Question:
    """The open question with this id, as it was shown last if it was."""
    memory.sync_for_write()
    if line := settled(memory.index, [ref]).get(ref):
        place = Citation(line.path, line.line, line.end_line)
        raise Refused(f"{ref} is settled, by {place}", "delete that line to be asked again")
    last = shown(memory.workspace).get(ref)
    if last is None:
        found = next((each for each in questions(memory) if each.id == ref), None)
        if found is None:
            raise _unknown(ref)
        return found
    with memory.index.reading():
        left = open_questions(memory, [last.doubt])
    if not left or words_of(left[0]) != last.words:
        what = f"{ref} is asked no more as it was shown: a line of it was changed, settled or taken away"
        raise NothingFound(what, "`memctl review` shows what is asked now")
    return left[0]


def _unknown(ref: str) -> NothingFound:
    return NothingFound(f"no open question has the id {ref[:80]!r}", "`memctl review` lists them")


# -- giving it ----------------------------------------------------------------------------------------------------------


def _logged(memory: OpenMemory, question: Question, given: _Given) -> Answered:
    """The answer as a line of the log: today's, or that of the day on which a candidate was said."""
    line = answer_line(question, given.option, memory.today)
    if given.text:  # whose words are new: they are those of whoever answers
        line = replace(reworded(question, line, given.text), source=given.said_by)
    elif given.said_by and line.source is None:  # what was said by somebody else stays theirs
        line = replace(line, source=given.said_by)
    is_kept = question.kind == "keep" and given.option == REWORDED
    day = date.fromisoformat(question.sides[-1].day or "") if is_kept else memory.today
    names, change, warnings = None, "", list[str]()
    if question.kind == "same" and given.option == REWORDED:
        names = memory.run(lambda at: _direction(at, question))
        change = merge(memory.owner, *names, dry_run=given.dry_run).diff
    done = retain(memory, [line], day, dry_run=given.dry_run)
    if question.kind == "keep" and not given.dry_run:
        warnings += _without_answered(memory)
    (kept,) = done.kept
    added = () if kept.already or given.dry_run else ((kept.citation.path, f"- {kept.line}"),)
    return Answered(
        question, given.option, kept.citation, kept.line, done.diff + change, given.dry_run, added, names,
        (*done.warnings, *warnings),
    )  # fmt: skip


def _direction(memory: OpenMemory, question: Question) -> tuple[str, str]:
    """Which name becomes the other one's: that without a page, with fewer lines, the shorter one."""
    counts = mention_counts(memory.index, map(entity_key, question.names))

    def weight(name: str) -> tuple[bool, int, int, str]:
        return bool(resolve(memory.index, name)), counts.get(entity_key(name), 0), len(name), name

    lighter, heavier = sorted(question.names, key=weight)
    return lighter, heavier


def _without_answered(memory: OpenMemory) -> list[str]:
    """Take candidates out of the block that were answered before the last few: whoever deletes a line is asked again."""
    refs = [kept.candidate.id for kept in keep.read(memory.workspace)]
    answered = memory.run(lambda at: settled(at.index, refs))
    try:
        keep.remove(memory.workspace.whole, [ref for ref in refs if ref in answered][:-_TAKEN_BACK])
    except Refused as error:  # a person changed the block: the line of the answer settles it all the same
        return [f"{error.what}; {error.cure}"]
    return []


def _core(memory: OpenMemory, question: Question, given: _Given) -> Answered:
    """The answer as a line of memory.md, or as the id under `## Refused` of bank/proposals.md."""

    def plan(at: OpenMemory) -> Edit | None:
        if not (found := core_proposal(at, question.about[0])):
            return None
        proposal, page = found
        if given.option != REWORDED:
            return page._replace(after=with_refusal(page.after, proposal, at.today))
        core = read_for_edit(at.workspace, CORE)
        return core._replace(after=with_line(core.after, proposal))

    edit = memory.run(plan)
    if edit is None:
        raise _unknown(question.id)
    if not given.dry_run:
        apply(memory.workspace, [edit])
    change = edit.diff()
    new = [line[1:] for line in change.split("\n") if line.startswith("+") and not line.startswith("+++ ")]
    added = () if given.dry_run else tuple((edit.path, line) for line in new if line.strip())
    return Answered(question, given.option, None, "", change, given.dry_run, added)


# -- taking it back -----------------------------------------------------------------------------------------------------


def take_back(memory: OpenMemory, done: Answered) -> None:
    """Undo an answer that was just given. NothingFound, with nothing changed, where its lines do not stand as written."""
    with writing_alone(memory.workspace, "review"):
        edits = []
        for path in dict.fromkeys(path for path, _ in done.added):
            page = read_for_edit(memory.workspace, path)
            text = _without_lines(page.after, [line for at, line in done.added if at == path])
            if text is None:
                raise NothingFound(f"the answer in {path} was changed meanwhile", "take it back by hand")
            edits.append(page._replace(after=text))
        apply(memory.workspace, edits)
        if done.merged:
            merge(memory, *done.merged, undo=True)


def _without_lines(text: str, gone: Iterable[str]) -> str | None:
    """The text without some of its lines, the last of each; None if one does not stand there."""
    page = LineText(text)
    for line in gone:
        at = next((n for n in range(len(page.lines), 0, -1) if page.lines[n - 1] == line), None)
        if at is None:
            return None
        page.replace(at, at, ())
    return str(page)
