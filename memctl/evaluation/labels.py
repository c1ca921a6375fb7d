"""Label: write a question and the lines that answer it into a file of the workspace, for `eval` to ask."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..errors import NothingFound, Usage
from ..facts import Citation
from ..index.heal import with_index
from ..index.index import Index
from ..index.queries.entries import entries_at
from ..index.sync import sync
from ..notes.edits import diff
from ..notes.files import confirm, in_style
from ..notes.workspace import Workspace
from .gold_labels import Golden
from .label_lines import Gold, Question, read_label, render_label, same_question, target_of
from .labelled import add_line, rewrite, text_of

__all__ = ["QUESTIONS", "Labelled", "label"]

QUESTIONS = "questions.jsonl"


class Labelled(NamedTuple):
    """Where the labelled question stands now (`path#Lline`), as it was written; `already` if it stood there before."""

    place: Citation
    question: Question
    already: bool
    diff: str


def label(
    workspace: Workspace, text: str, citations: Sequence[str], *, file: str = QUESTIONS, type: str = "",
    as_of: str | None = None, replacing: bool = False, dry_run: bool = False,
) -> Labelled:  # fmt: skip
    """Append a labelled question durably; each citation must point at something, and its line's id is kept beside it.

    The same question again says where it stands. With other citations it is an error, unless `replacing`.
    """
    path = _label_file(workspace, file)
    said = " ".join(text.replace("\0", " ").encode("utf-8", "replace").decode("utf-8").split())
    if not said:
        raise Usage("the question is empty", 'memctl eval --add "question" memory/2025-11-27.md#L12')
    if not citations:
        raise Usage(
            "a labelled question needs what answers it", "name citations (path#L12) or ids; `memctl recall` prints them"
        )
    gold = with_index(workspace, lambda index: _gold(workspace, index, citations))
    asked = Question(0, said, gold, type=type, as_of=as_of)
    if replacing:
        return _rewrite(workspace, path, asked, dry_run)
    return _append(workspace, path, asked, dry_run)


def _label_file(workspace: Workspace, file: str) -> str:
    path = workspace.contain(file)
    if not path.lower().endswith((".jsonl", ".ndjson")) or path.startswith(".memory/"):
        raise Usage(f"{file} is no place for labels", "name a .jsonl file of the workspace; .memory/ is derived")
    return path


def _gold(workspace: Workspace, index: Index, citations: Sequence[str]) -> tuple[Gold, ...]:
    sync(workspace, index)
    golden = Golden(workspace, index)
    found: dict[str, Gold] = {}
    for said in citations:
        target = target_of(said)
        standing = golden.find(Gold(said))
        if not standing.places:
            raise NothingFound(
                f"{said!r} points at nothing", "cite a line that says something, as `memctl recall` prints it"
            )
        for place in standing.places if target.citation is None else standing.places[:1]:
            whole = place.end_line == 10**9
            refs = {entry.ref for entry in entries_at(index, place) if entry.block is None} if not whole else set()
            spelt = place.path if whole else str(place)
            found[spelt] = Gold(spelt, target.ref or (refs.pop() if len(refs) == 1 else None))
    return tuple(found.values())


def _append(workspace: Workspace, path: str, asked: Question, dry_run: bool) -> Labelled:
    line = f"{render_label(asked)}\n"
    if dry_run:
        before = text_of(workspace, path)
        there = _there(path, before, asked)
        added = "" if there else in_style(line, before)
        return there or _labelled(path, before, added, asked, diff(path, before, before + added))
    done = add_line(workspace, path, lambda before: "" if _there(path, before, asked) else line)
    there = _there(path, done.before, asked)
    if there:
        return there
    return _labelled(path, done.before, done.added, asked, "")


def _labelled(path: str, before: str, added: str, asked: Question, change: str) -> Labelled:
    number = (before + added).count("\n")
    return Labelled(Citation(path, number, number), asked._replace(line=number), False, change)


def _there(path: str, before: str, asked: Question) -> Labelled | None:
    """The same question where it stands; Usage if it is labelled otherwise there."""
    for question in _questions(path, before):
        if same_question(question.text, asked.text):
            place = Citation(path, question.line, question.line)
            if {_key(item) for item in question.gold} != {_key(item) for item in asked.gold}:
                raise Usage(f"{place} asks the same and is labelled otherwise", "--replace puts this in its place")
            return Labelled(place, question, True, "")
    return None


def _key(item: Gold) -> str:
    return item.ref or item.said


def _questions(path: str, text: str) -> list[Question]:
    try:
        read = (read_label(line, number) for number, line in enumerate(text.replace("\r\n", "\n").split("\n"), 1))
        return [question for question in read if question]
    except Usage as error:
        raise Usage(f"{path}: {error.what}", error.cure) from None


def _rewrite(workspace: Workspace, path: str, asked: Question, dry_run: bool) -> Labelled:
    before = text_of(workspace, path)
    old = next((question for question in _questions(path, before) if same_question(question.text, asked.text)), None)
    if old is None:
        return _append(workspace, path, asked, dry_run)
    made = asked._replace(line=old.line, id=old.id, type=asked.type or old.type, as_of=asked.as_of or old.as_of)
    lines = before.split("\n")
    ending = "\r" if lines[old.line - 1].endswith("\r") else ""
    lines[old.line - 1] = render_label(made, lines[old.line - 1]) + ending
    after = "\n".join(lines)
    place = Citation(path, old.line, old.line)
    if dry_run:
        return Labelled(place, made, before == after, diff(path, before, after))
    if before == after:
        confirm(workspace, path)
    else:
        rewrite(workspace, path, before, after)
    return Labelled(place, made, before == after, "")
