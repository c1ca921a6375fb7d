"""Everyday moves: open a page in the editor, what was written lately, take the last command back, pick a hit (`recall -i`)."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import ExtraMissing, MemctlError, Usage
from ..facts import Period
from ..hits import Hit, answer_json
from ..markdown.escape import one_line, printable
from .call import DRY_RUN, Call, argument, command, flag, option
from .editor import editor_command, needs_terminal, run_editor
from .hits import print_hit
from .output import fitted
from .terminal import wrapped

if TYPE_CHECKING:
    from prompt_toolkit.formatted_text import StyleAndTextTuples

    from ..memory import Memory


@command("open", "memctl open memory/2025-11-27.md#L12")
def open_page(
    call: Call,
    reference: list[str] = argument("REF", "A citation, an id, a name, a page, a day (2025-11-27), or today."),
    only_print: bool = flag("--print", "Print path:line and open nothing."),
) -> None:
    """Open what a reference points at in $VISUAL or $EDITOR, at its line.

    The log of a day that has none yet is opened all the same, and is there once you save it. An editor that memctl does not
    know is told the line by a command of its own: EDITOR='my-editor {path}:{line}'.
    """
    place = call.memory.place(" ".join(reference))
    path = call.memory.workspace.root / place.path
    if call.out.json:
        found = {"schema": 1, "source": str(place), "path": str(path), "line": place.line, "exists": path.exists()}
        call.out.raw_json(found)
    elif only_print:
        call.out.line(f"{path}:{place.line}")
    if not path.exists():
        call.out.note(f"{place.path} is not there yet; saving makes it; facts go under `## Retain`")
    if not only_print:
        open_at(call, path, place.line)


def open_at(call: Call, path: Path, line: int) -> None:
    """Open a file in the owner's editor; where there is none, or no terminal for it, the place is printed. Usage then."""
    try:
        words = editor_command(path, line)
        if needs_terminal(words):
            cure = "open that place by hand; `memctl open --print` prints it alone"
            raise Usage(f"{words[0]} needs a terminal, and there is none", cure)
        run_editor(words)
    except Usage:
        if not call.out.json:
            call.out.line(f"{path}:{line}")
        raise


@command("log", "memctl log --since 7d")
def log(
    call: Call,
    on: list[str] | None = argument("[WHEN]", "A day, a month or a phrase [default: today].", default=None),
    since: str | None = option("--since", "From then on: 7d, 2025-11, yesterday.", "WHEN"),
    within: str | None = option("--on", "The same as WHEN.", "WHEN"),
) -> int:
    """What was written down on a day, oldest first: facts with what they replaced, and how beliefs moved."""
    if on and within:
        raise Usage("WHEN and --on are the same", "give one of them")
    kinds = ("world", "experience", "opinion", "observation")
    day = within or " ".join(on or ()) or "today"
    query = call.memory.query(kinds=kinds, since=since, on=None if since else day)
    first, last = query.days or Period()
    answer = call.memory.recall(query, k=1000, history=True)
    told = [hit for hit in answer.hits if hit.day and str(first) <= str(hit.day) <= str(last or call.today)]
    told.sort(key=lambda hit: (str(hit.day), hit.source.path, hit.source.line))
    moves = [
        (before.confidence if before else None, point, view)
        for view in call.memory.beliefs()
        for before, point in zip((None, *view.curve), view.curve, strict=False)
        if str(first) <= str(point.day) <= str(last or call.today)
    ]
    moves.sort(key=lambda move: (move[1].day, move[2].ref))
    if call.out.json:
        moved = [
            {"id": v.ref, "day": str(p.day), "from": b, "to": p.confidence, "content": v.text} for b, p, v in moves
        ]
        call.out.raw_json(answer_json(answer._replace(hits=tuple(told))) | {"beliefs": moved})
        return 0 if told or moves else 1
    for number, hit in enumerate(told, 1):
        print_hit(call, hit, number)
    for before, point, view in moves:
        change = f"{'' if before is None else f'{before:.2f} '}→ {point.confidence:.2f}"
        call.out.line(f"{point.day} belief {change} {', '.join(view.entities)}: {view.text} ^{view.ref}")
    if not told and not moves:
        is_today = not since and first == last == call.today
        call.out.note(f"nothing was written down {'yet today' if is_today else 'then'}")
    return 0 if told or moves else 1


@command("undo", "memctl undo --dry-run")
def undo(
    call: Call,
    skip: bool = flag("--skip", "Leave the last command as it is, and take back the one before it."),
    dry_run: bool = DRY_RUN,
) -> None:
    """Take back what the last command wrote, if it stands as it was written. Again, it goes further back.

    Lines that others added since stay. What was edited since stays too: then nothing is undone, and the diff shows what would
    have been. forget is never undone, nor what a server, a hook or an editor wrote.
    """
    done = call.memory.undo(dry_run=dry_run, skip=skip)
    if call.out.json:
        is_undone = not dry_run and not done.problem
        call.out.raw_json(
            {"schema": 1, "undone": is_undone, "written": done.at, "pages": list(done.pages), "diff": done.diff}
        )
    else:
        call.out.diff(done.diff)
    if done.problem:
        raise done.problem
    if not dry_run:
        call.out.note(f"took back what was written at {done.at} in {', '.join(done.pages)}")


# -- the picker of recall -i ------------------------------------------------------------------------------------------

_CONTEXT = 3  # lines around a hit
_DAY, _NUMBER = 10, 7  # columns of a day, and in front of a line of a page


def pick_and_open(call: Call, words: str, search: "Callable[[Memory, str], Sequence[Hit]]") -> int:
    """Let the owner choose a hit, and open it in their editor; the exit code is 1 if none was chosen."""
    cure = "without -i it prints: memctl recall WORDS"
    if call.out.json:
        raise Usage("recall -i takes no --json: it is for a person who types", cure)
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise Usage("recall -i needs a terminal, and there is none", cure)
    call.memory.recall("", k=1)  # what has to be indexed first is, with a bar, before the picker takes the screen
    call.close_bar()
    with call.stay() as memory:
        hit = pick(words, lambda typed: search(memory, typed), lambda one: _around(memory, one))
        if hit:
            open_at(call, memory.workspace.root / hit.source.path, hit.source.line)
    return 0 if hit else 1


def _around(memory: "Memory", hit: Hit) -> str:
    (passage,) = memory.show(str(hit.source), _CONTEXT)
    lines = enumerate(passage.lines, passage.first)
    marked = (f"{'>' if n == hit.source.line else ' '} {n:4} {printable(line)}" for n, line in lines)
    marks = "".join(f" [{mark}]" for mark in hit.marks)
    return "\n".join([f"{passage.citation}{marks}", *marked])


@dataclass(slots=True)
class _Picker:
    """What the picker shows: the hits for what is typed, which of them is chosen, and `around` it the lines of its page."""

    search: Callable[[str], Sequence[Hit]]
    around: Callable[[Hit], str]
    width: Callable[[], int]
    hits: Sequence[Hit] = ()
    at: int = 0
    told: str = ""

    def ask(self, words: str) -> None:
        """Search for other words."""
        self.hits, self.at, self.told = (), 0, "nothing found"
        try:
            self.hits = self.search(words)
        except MemctlError as error:  # such as a filter that is not typed to its end
            self.told = error.what

    def move(self, by: int, _: object) -> None:
        """Choose another hit."""
        self.at = max(0, min(self.at + by, len(self.hits) - 1))

    def rows(self) -> "StyleAndTextTuples":
        """The list, a line each with its style; where a hit stands is told beside its text if the text keeps most of the line."""
        rows: StyleAndTextTuples = []
        for number, hit in enumerate(self.hits):
            place = f"  {hit.source}"
            room = self.width() - len(place)
            room, place = (room, place) if room > 2 * len(place) + _DAY else (self.width(), "")
            how = hit.standing.partition(" by ^")[0].rpartition(", ")[2]  # "replaced": the rest stands below the list
            text = f"[{how}] {one_line(hit.content)}" if how else one_line(hit.content)
            line = fitted(f"{hit.day or '':{_DAY}}  {text}", room) + printable(place)
            rows.append(("reverse" if number == self.at else "", f"{line}\n"))
        return rows or [("", " ")]

    def below(self) -> str:
        """What stands below the list, in lines as wide as the screen."""
        lines = self.around(self.hits[self.at]).split("\n") if self.hits else [self.told]
        return "\n".join(part for line in lines for part in wrapped(line, self.width(), _NUMBER))

    def marked(self) -> int:
        """The row of the hit itself there: on a low screen that is what must be seen."""
        return next((n for n, line in enumerate(self.below().split("\n")) if line[:1] == ">"), 0)


def pick(words: str, search: Callable[[str], Sequence[Hit]], around: Callable[[Hit], str]) -> Hit | None:
    """The hit that is chosen with Enter, None after Esc; `around` is the text below the list for one."""
    try:
        from prompt_toolkit import Application
        from prompt_toolkit.application import get_app
        from prompt_toolkit.buffer import Buffer
        from prompt_toolkit.data_structures import Point
        from prompt_toolkit.document import Document
        from prompt_toolkit.key_binding import KeyBindings
        from prompt_toolkit.layout import BufferControl, Dimension, FormattedTextControl, Layout
        from prompt_toolkit.layout.containers import HSplit, ScrollOffsets, Window
        from prompt_toolkit.layout.processors import BeforeInput
    except ImportError as error:
        raise ExtraMissing("tui", "prompt_toolkit") from error
    picker, keys = _Picker(search, around, lambda: get_app().output.get_size().columns), KeyBindings()
    picker.ask(words)
    typed = Buffer(document=Document(words), multiline=False, on_text_changed=lambda typed: picker.ask(typed.text))
    moves = {"down": 1, "c-n": 1, "up": -1, "c-p": -1, "pagedown": 10, "pageup": -10}
    for name, by in moves.items():
        keys.add(name)(partial(picker.move, by))
    keys.add("enter")(lambda event: event.app.exit(picker.hits[picker.at]) if picker.hits else None)
    for name in ("escape", "c-c", "c-d"):
        keys.add(name, eager=True)(lambda event: event.app.exit(None))
    lines = FormattedTextControl(picker.rows, get_cursor_position=lambda: Point(0, picker.at))
    page = FormattedTextControl(picker.below, get_cursor_position=lambda: Point(0, picker.marked()))
    whole, shown = 2 * _CONTEXT + 4, partial(Window, always_hide_cursor=True)
    high = Dimension(1, whole, preferred=whole)
    parts = [
        Window(BufferControl(typed, [BeforeInput("> ")]), height=1),
        shown(lines, height=Dimension(min=1)),
        Window(char="─", height=1),
        shown(page, wrap_lines=True, height=high, scroll_offsets=ScrollOffsets(bottom=_CONTEXT)),
        Window(FormattedTextControl("Enter opens · ↑ ↓ choose · Esc leaves"), height=1, style="reverse"),
    ]
    app: Application[Hit | None] = Application(Layout(HSplit(parts)), key_bindings=keys, full_screen=True)
    return app.run()
