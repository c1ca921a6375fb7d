"""The command review: questions that only an owner can answer, on a screen, as text, as JSON, and one at a time."""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer

from ..errors import MemctlError, Usage
from ..markdown.escape import many, one_line
from .call import DRY_RUN, Call, argument, command, flag, one_of, option
from .moves import edit_text
from .output import BOLD, FAINT, UNBROKEN
from .render_hits import place_of

if TYPE_CHECKING:
    from ..memory import Answered, Question

_HANDFUL = 5
_AS_THEY_ARE = ("same", "core")  # kinds of questions whose line cannot be reworded


@command("review", "memctl review")
def review(
    call: Call,
    reference: list[str] | None = argument("[ID OPTION]", "A question and the key of its answer.", default=None),
    *,
    text: str | None = option("--text", "With the answer y: the line in other words.", "TEXT"),
    edit: bool = flag("--edit", "Answer in $EDITOR, all questions in one text."),
    by: str | None = option("--by", "llm: let the local model of [llm] answer; its lines are marked.", "WHO"),
    source: str | None = option("--source", "Who answers: user, or agent, who is asked nothing private or of trust [default: user].", "SRC"),
    k: int = option("--k -k", "How many questions at most.", default=_HANDFUL, min=1, max=1000),
    dry_run: bool = DRY_RUN,
) -> int:  # fmt: skip
    """Answer what only you can: does this replace that, did it happen, is this the same name? Exit code 1 if nothing waits.

    On a terminal one question a screen, one key each; elsewhere the questions as text. An answer is a line of today's log:
    delete it, and the question is asked again.
    """
    one_of("--source", source, ("user", "agent"), "user or agent")
    if reference:
        if len(reference) != 2:
            raise Usage("review takes a question and an answer", "memctl review ID OPTION, or memctl review")
        memory, said_by = (call.memory.public(), "agent") if source == "agent" else (call.memory, None)
        done = memory.answer(*reference, text=text, said_by=said_by, dry_run=dry_run)
        if call.out.json:
            return call.out.raw_json(done.as_json() | {"diff": done.diff})
        _print_done(call, done, dry_run)
        return 0
    one_of("--by", by, ("llm",))
    if edit and by:
        raise Usage("--edit and --by together", "choose one")
    if text is not None or source is not None:
        raise Usage(f"--{'source' if text is None else 'text'} without a question", "memctl review ID OPTION")
    with call.progress("looking") as memory:
        found = memory.review()
    if edit or by:
        return _answer_many(call, found if edit else found[:k], edit, dry_run)
    if call.out.json:
        listed = [each.as_json() for each in found[:k]]
        return call.out.raw_json({"schema": 1, "questions": listed, "waiting": len(found)}, found)
    if found and sys.stdin.isatty() and sys.stdout.isatty():
        _Screen(call, found[:k], len(found), dry_run).run()
    else:
        for question in found[:k]:
            call.out.emit(f"{call.out.style(question.id, BOLD)} {call.out.style(question.text, BOLD)}")
            _print_sides(call, question)
            call.out.say("   " + " · ".join(f"{one.key} {one.text}" for one in question.options))
        more = f", {len(found) - k} more" if len(found) > k else ""
        how = f"{many(min(len(found), k), 'question')}{more}; memctl review ID OPTION answers one"
        call.out.note(how if found else "no question waits")
    return 0 if found else 1


def _print_sides(call: Call, question: "Question") -> None:
    out = call.out
    for role, side in zip(question.roles, question.sides, strict=True):
        origin = "" if side.origin == "owner" else f" · {side.origin}"
        place = f"{place_of(call, side.source)}{out.style(origin, FAINT)}"
        said = out.style(one_line(side.content))
        out.emit(f"   {out.style(f'{role:7}', FAINT)} {out.style(side.day or 'undated', FAINT)}  {said}  {place}")
    if question.kind == "same":
        out.say(f"   {' and '.join(question.names)}")
    if question.why:
        out.emit(out.style(f"   {one_line(question.why)}", FAINT))


def _print_done(call: Call, done: "Answered", dry_run: bool) -> None:
    if done.citation and not dry_run:
        call.out.line(f"{done.citation}: {done.line.partition(': ')[2]}")
    else:
        call.out.diff(done.diff)
    call.out.note(*(f"warning: {warning}" for warning in done.warnings))


def _answer_many(call: Call, asked: "Sequence[Question]", edit: bool, dry_run: bool) -> int:
    """The answers of an edited text, or of the local model; the exit code is 1 where there are none."""
    if not asked:
        call.out.note("no question waits")
        return 1
    if edit:
        text = edit_text(call.memory.review_text(asked), ".txt")
        if text is None:
            call.out.note("not saved; nothing was answered")
            return 1
        done, problems = call.memory.answer_text(asked, text, dry_run=dry_run)
    else:
        done, problems = call.memory.answer_by_model(asked, dry_run=dry_run)
    if call.out.json:
        answers = [each.as_json() | {"diff": each.diff} for each in done]
        return call.out.raw_json({"schema": 1, "answers": answers, "warnings": problems}, done)
    for each in done:
        _print_done(call, each, dry_run)
    call.out.note(*problems)
    return 0 if done else 1


class _Screen:
    """Questions one after the other, each answered by one key; what is answered is written at once."""

    def __init__(self, call: Call, asked: "Sequence[Question]", waiting: int, dry_run: bool) -> None:
        self._call, self._asked, self._waiting, self._dry_run = call, asked, waiting, dry_run
        self._at = 0
        self._done: list[tuple[int, Answered]] = []

    def run(self) -> None:
        """Until every question was shown, or the owner leaves."""
        key = ""
        while self._at < len(self._asked) and key != "q":
            question = self._asked[self._at]
            self._show(question)
            try:
                key = typer.getchar().lower()
            except (KeyboardInterrupt, EOFError):
                key = "q"
            try:
                self._do(question, key)
            except MemctlError as error:
                self._call.out.error(error)
        left = self._waiting - len(self._done)
        self._call.out.line(f"{many(len(self._done), 'answer')}; {many(left, 'question waits', 'questions wait')}")

    def _show(self, question: "Question") -> None:
        out = self._call.out
        head = f"{many(self._waiting, 'question')} · {self._at + 1} of {len(self._asked)}"
        out.line("")
        out.emit(f"{out.style(head, FAINT)}   {out.style(', '.join(question.names), BOLD)}")
        out.emit(out.style(question.text, BOLD))
        out.line("")
        _print_sides(self._call, question)
        out.line("")
        out.say("   " + "   ".join(f"[{one.key}] {one.text}".replace(" ", UNBROKEN) for one in question.options))
        edit = "[e] edit   " if question.kind not in _AS_THEY_ARE else ""
        undo = "[u] undo   " if self._done else ""
        out.emit(out.style(f"   {edit}[l] later   {undo}[q] quit", FAINT))

    def _do(self, question: "Question", key: str) -> None:
        """Do what a key says; nothing for one that says nothing here."""
        if key == "l":
            self._at += 1
        elif key == "u" and self._done:
            at, done = self._done.pop()
            if not self._dry_run:
                self._call.memory.take_back(done)
            self._at = at
        elif key == "e" and question.kind not in _AS_THEY_ARE:
            said = question.sides[-1].content
            text = edit_text(said, ".md")
            if text and one_line(text) != one_line(said):
                self._give(question, "y", text)
        elif key in (one.key for one in question.options):
            self._give(question, key)

    def _give(self, question: "Question", key: str, text: str | None = None) -> None:
        at, self._at = self._at, self._at + 1  # an answer that cannot be given is left for later
        done = self._call.memory.answer(question.id, key, text=text, dry_run=self._dry_run)
        _print_done(self._call, done, self._dry_run)
        self._done.append((at, done))
