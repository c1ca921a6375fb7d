"""Everyday moves: open a page in the owner's editor, what was written lately, take the last command back, forget lines, pick a hit (`recall -i`)."""

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import ExtraMissing, MemctlError, Usage
from ..facts import Period, fields
from ..hits import Hit, answer_json
from ..markdown.escape import many, one_line, printable
from .call import DRY_RUN, Call, argument, command, flag, option
from .output import FAINT, YELLOW, Output, fitted
from .render_hits import place_of, print_hit
from .terminal import wrapped

if TYPE_CHECKING:
    from prompt_toolkit.formatted_text import StyleAndTextTuples

    from ..memory import Forgetting, Memory


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
        if _program(words) in _IN_TERMINAL.split() and not (sys.stdin.isatty() and sys.stdout.isatty()):
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
    try:
        query = call.memory.query(kinds=kinds, since=since, on=None if since else day)
    except Usage as error:
        error.what = error.what if within else error.what.replace("--on", "the day", 1)
        raise
    first, last = query.days or Period()
    answer = call.memory.recall(query, k=1000, history=True)
    begin, end = str(first), str(last or call.now.date())
    told = [hit for hit in answer.hits if hit.day and begin <= hit.day <= end]
    told.sort(key=lambda hit: (hit.day, hit.source.path, hit.source.line))
    moves = [
        (before.confidence if before else None, point, view)
        for view in call.memory.beliefs()
        for before, point in zip((None, *view.curve), view.curve, strict=False)
        if begin <= str(point.day) <= end
    ]
    moves.sort(key=lambda move: (move[1].day, move[2].ref))
    if call.out.json:
        made = [{"id": v.ref, "day": str(p.day), "from": b, "to": p.confidence, "content": v.text} for b, p, v in moves]
        found = answer_json(answer._replace(hits=tuple(told))) | {"beliefs": made}
        return call.out.raw_json(found, told or moves)
    for number, hit in enumerate(told, 1):
        print_hit(call, hit, number)
    for before, point, view in moves:
        change = f"{'' if before is None else f'{before:.2f} '}→ {point.confidence:.2f}"
        call.out.line(f"{point.day} belief {change} {', '.join(view.entities)}: {view.text} ^{view.ref}")
    if not told and not moves:
        when = "yet today" if not since and first == last == call.now.date() else "then"
        asked = f"`memctl recall --since {begin} --until {end}` shows notes, if there are any"
        call.out.note(f"no fact was written down {when}; {asked}")
    return 0 if told or moves else 1


@command("undo", "memctl undo --dry-run")
def undo(
    call: Call,
    skip: bool = flag("--skip", "Leave the last command as it is; take back the one before it, past each reflect."),
    dry_run: bool = DRY_RUN,
) -> None:
    """Take back what the last command wrote, if it stands as it was written. Again, it goes further back.

    Lines that others added since stay. What was edited since stays too: then nothing is undone, and the diff shows what would
    have been. forget is never undone, nor what a server, a hook or an editor wrote. Of a reflect only new
    pages are taken back, since what it replaced is made from your lines: take back the command before it by --skip, then reflect.
    """
    done = call.memory.undo(dry_run=dry_run, skip=skip)
    if call.out.json:
        told = {"schema": 1, "undone": not dry_run and not done.problem, "written": done.at}
        call.out.raw_json(told | {"pages": list(done.pages), "diff": done.diff})
    else:
        call.out.diff(done.diff)
    if done.problem:
        raise done.problem
    if not dry_run:
        call.out.note(f"took back what was written at {done.at} in {', '.join(done.pages)}")


_ORIGINS = ("owner", "user", "agent", "tool", "web", "import")
_MOST_LEFT = 20


@command("forget", "memctl forget --expired --apply")
def forget(
    call: Call,
    *,
    ids: list[str] | None = option("--id", "That line; may be given again.", "ID"),
    about: list[str] | None = option(
        "--about -a",
        "Lines that mark @NAME or [[NAME]], also about others; where NAME has a page, lines that name it plainly too.",
        "NAME",
    ),
    source: str | None = option("--source", "From there: web, tool, import, import:lab, agent …", "SRC"),
    before: str | None = option("--before", "Told before that day: 2025-01, or 90d ago.", "WHEN"),
    expired: bool = flag("--expired", "Facts whose ttl= ran out, or whose until= or t= is past."),
    unused: bool = flag("--unused", "Old facts of low importance that nothing cites and no slot holds."),
    suggest: bool = flag("--suggest", "List what could go, with the reason each, and change nothing."),
    include_exempt: bool = flag("--include-exempt", "With --about or --source: what is exempt, too."),
    apply: bool = flag("--apply", "Do it; without this the diff is shown and nothing changes."),
    dry_run: bool = flag("--dry-run -n", "Print the diff and write nothing; this is the default."),
) -> int:
    """Forget lines: a tombstone without the text stays in their place, and every copy goes. Selectors all must hold.

    Exempt but for --id: identity, health, relationships, preferences, security, what is pinned (i=0.9), notes outside
    the logs.
    """
    if apply and (dry_run or suggest):
        raise Usage(f"--apply and {'--dry-run' if dry_run else '--suggest'} together", "choose one")
    if source is not None and source.partition(":")[0] not in _ORIGINS:
        raise Usage(f"--source {source!r} is not an origin", f"one of {', '.join(_ORIGINS)}, with or without :name")
    done = call.memory.forget(
        apply=apply, suggest=suggest, ids=tuple(ids or ()), about=tuple(about or ()), source=source, before=before,
        expired=expired, unused=unused, include_exempt=include_exempt,
    )  # fmt: skip
    out, count = call.out, len(done.lines)
    found = count or (done.already and not suggest)
    if out.json:
        return out.raw_json(_json(done, suggest, apply), found)
    if suggest:
        for line in done.lines:
            id, why = out.style("^" + line.ref, FAINT), out.style(line.reason, YELLOW)
            out.emit(f"{place_of(call, line.citation)} {id} {why}", 3)
            out.say(f"   {one_line(line.content or '')}")
    else:
        _print_forgotten(out, done, apply)
    _print_rest(out, done)
    if suggest:
        out.note("`memctl forget --id ID` shows how each would go" if count else "nothing to suggest")
    elif not found:
        out.note("nothing to forget")
    elif count and not apply:
        out.note(f"{many(count, 'line')} would be forgotten; --apply does it")
    return 0 if found else 1


def _print_forgotten(out: Output, done: "Forgetting", is_applied: bool) -> None:
    out.diff(done.diff)
    if is_applied:
        for line in done.lines:
            out.line(f"forgotten: {line.citation} ^{line.ref}" + (f" ({line.reason})" if line.reason else ""))
        out.line(*(f"forgotten: belief ^{ref}" for ref in done.beliefs))
        out.line(*(f"rewritten: {path}" for path in done.scrubbed))
    out.note(*(f"forgotten before: {place}" for place in done.already))


def _json(done: "Forgetting", suggest: bool, is_applied: bool) -> dict[str, Any]:
    line = "id=ref source=citation kind reason"
    if suggest:
        lines = [fields(each, f"{line} content") for each in done.lines]
        return {"schema": 1, "suggestions": lines} | fields(done, "exempt spared left")
    made = {"schema": 1, "dry_run": not is_applied, "forgotten": [fields(each, line) for each in done.lines]}
    return made | fields(done, "scrubbed beliefs left exempt spared already diff warnings")


def _print_rest(out: Output, done: "Forgetting") -> None:
    out.note(*(f"stays: {text}" for text in done.left[:_MOST_LEFT]))
    if len(done.left) > _MOST_LEFT:
        out.note(f"stays: and {len(done.left) - _MOST_LEFT} more; --json lists them")
    out.note(*(f"exempt: {text}" for text in done.spared[:_MOST_LEFT]))
    if done.exempt:
        counts = ", ".join(f"{count} {why}" for why, count in sorted(done.exempt.items()))
        out.note(f"exempt: {counts}; --id forgets one by name")
    out.note(*(f"warning: {text}" for text in done.warnings))


_USUAL = ("sensible-editor", "editor", "nano", "vim", "vi", "notepad")
_NAME_ONE = "name one: export EDITOR=nano"
_AT_LINE = {
    "vi vim nvim view gvim mvim nano pico emacs emacsclient kak micro joe jed ne mcedit gedit bbedit sensible-editor editor": "+{line} {path}",
    "code code-insiders code-oss codium vscodium cursor windsurf trae": "--goto {path}:{line}",
    "subl sublime_text zed zeditor hx helix lapce atom": "{path}:{line}",
    "idea pycharm webstorm goland clion rubymine phpstorm rider rustrover studio fleet": "--line {line} {path}",
    "kate kwrite mate": "-l {line} {path}",
    "notepad++": "-n{line} {path}",
}
"""How editors are told the line; any other is told by a command of its own: EDITOR='ed2 {path}:{line}'."""
_IN_TERMINAL = "vi vim nvim view nano pico emacs kak micro joe jed ne mcedit hx helix sensible-editor editor"


def edit_text(text: str, suffix: str) -> str | None:
    """The text as the owner saved it; None where nothing was saved. Usage where there is no editor, or it fails."""
    with tempfile.TemporaryDirectory(prefix="memctl-") as folder:  # mode 0700
        path = Path(folder, f"memctl{suffix}")
        path.write_text(text, "utf-8")
        os.utime(path, ns=(0, 0))  # so that a save shows, however coarse the clock of the disk
        run_editor(editor_command(path))
        return path.read_text("utf-8", "replace") if path.stat().st_mtime_ns else None


def editor_command(path: Path, line: int | None = None) -> list[str]:
    """The words that open a file in the owner's editor, at a line if it is known how. Usage where no editor is set.

    Only the environment names it: settings travel with a folder, and a folder of somebody else's must not start programs.
    """
    named = os.environ.get("VISUAL") or os.environ.get("EDITOR") or next(filter(shutil.which, _USUAL), "")
    try:
        words = shlex.split(named)
    except ValueError as error:
        raise Usage(f"the editor {named!r} does not start: {error}", _NAME_ONE) from error
    if not words:
        raise Usage("no editor is set", _NAME_ONE)
    if not any("{path}" in word for word in words):
        known = (way for names, way in _AT_LINE.items() if line and _program(words) in names.split())
        words += next(known, "{path}").split()
    return [word.replace("{line}", str(line or 1)).replace("{path}", str(path)) for word in words]


def _program(words: list[str]) -> str:
    return Path(words[0]).name.lower().removesuffix(".exe").removesuffix(".cmd")


def run_editor(command: list[str]) -> None:
    """Start an editor and wait until it is left. Usage where it does not start, or ends with an error."""
    try:
        code = subprocess.run(command, check=False).returncode
    except OSError as error:
        raise Usage(f"the editor {command[0]!r} does not start: {error.strerror}", _NAME_ONE) from error
    if code:
        raise Usage(f"the editor {command[0]!r} ended with {code}", "nothing was changed; try again")


# -- the picker of recall -i ------------------------------------------------------------------------------------------

_CONTEXT = 3  # lines around a hit
_DAY, _NUMBER = 10, 7  # columns of a day, and in front of a line of a page


def pick_and_open(call: Call, words: str, filters: dict[str, Any]) -> int:
    """Let the owner choose a hit, and open it in their editor; the exit code is 1 if none was chosen."""
    cure = "without -i it prints: memctl recall WORDS"
    if call.out.json:
        raise Usage("recall -i takes no --json: it is for a person who types", cure)
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise Usage("recall -i needs a terminal, and there is none", cure)
    call.memory.recall("", k=1)  # what has to be indexed first is, with a bar, before the picker takes the screen
    call.close_bar()
    with call.stay() as memory:
        hit = pick(memory, words, filters)
        if hit:
            open_at(call, memory.workspace.root / hit.source.path, hit.source.line)
    return 0 if hit else 1


class _Picker:
    """What the picker shows: the hits for what is typed, which of them is chosen, and the lines of its page."""

    def __init__(self, memory: "Memory", filters: dict[str, Any], width: Callable[[], int]) -> None:
        self._memory, self._filters, self._width = memory, filters, width
        self.hits: tuple[Hit, ...] = ()

    def ask(self, words: str) -> None:
        self.hits, self.at, self._told = (), 0, "nothing found"
        try:
            self.hits = self._memory.recall(words, **self._filters).hits
        except MemctlError as error:  # such as a filter that is not typed to its end
            self._told = error.what

    def move(self, by: int, _: object) -> None:
        self.at = max(0, min(self.at + by, len(self.hits) - 1))

    def rows(self) -> "StyleAndTextTuples":
        """The list, a line each with its style; where a hit stands is told beside its text if the text keeps most of the line."""
        rows: StyleAndTextTuples = []
        for number, hit in enumerate(self.hits):
            place, width = f"  {hit.source}", self._width()
            if width - len(place) <= 2 * len(place) + _DAY:
                place = ""
            how = hit.standing.partition(" by ^")[0].rpartition(", ")[2]  # "replaced": the rest stands below the list
            text = f"[{how}] {one_line(hit.content)}" if how else one_line(hit.content)
            line = fitted(f"{hit.day or '':{_DAY}}  {text}", width - len(place)) + printable(place)
            rows.append(("reverse" if number == self.at else "", f"{line}\n"))
        return rows or [("", " ")]

    def below(self) -> list[str]:
        """What stands below the list, in lines as wide as the screen: the page around the hit that is chosen."""
        lines = [self._told]
        if self.hits:
            hit = self.hits[self.at]
            (passage,) = self._memory.show(str(hit.source), _CONTEXT)
            numbered = enumerate(passage.lines, passage.first)
            marked = [f"{'>' if n == hit.source.line else ' '} {n:4} {printable(line)}" for n, line in numbered]
            lines = [f"{passage.citation}{''.join(f' [{mark}]' for mark in hit.marks)}", *marked]
        return [part for line in lines for part in wrapped(line, self._width(), _NUMBER)]

    def marked(self) -> int:
        """The row of the hit itself there: on a low screen that is what must be seen."""
        return next((n for n, line in enumerate(self.below()) if line[:1] == ">"), 0)


def pick(memory: "Memory", words: str, filters: dict[str, Any]) -> Hit | None:
    """The hit that is chosen with Enter, None after Esc; `filters` are those of recall."""
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
    picker, keys = _Picker(memory, filters, lambda: get_app().output.get_size().columns), KeyBindings()
    picker.ask(words)
    typed = Buffer(document=Document(words), multiline=False, on_text_changed=lambda typed: picker.ask(typed.text))
    for name, by in {"down": 1, "c-n": 1, "up": -1, "c-p": -1, "pagedown": 10, "pageup": -10}.items():
        keys.add(name)(partial(picker.move, by))
    keys.add("enter")(lambda event: event.app.exit(picker.hits[picker.at]) if picker.hits else None)
    for name in ("escape", "c-c", "c-d"):
        keys.add(name, eager=True)(lambda event: event.app.exit(None))
    lines = FormattedTextControl(picker.rows, get_cursor_position=lambda: Point(0, picker.at))
    below, marked = lambda: "\n".join(picker.below()), lambda: Point(0, picker.marked())
    page = FormattedTextControl(below, get_cursor_position=marked)
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
