"""Everyday moves: open the page behind an answer in the owner's editor."""

from pathlib import Path

import typer

from ..errors import Usage
from .call import DRY_RUN, Call, argument, command, flag
from .editor import editor_command, needs_terminal, run_editor


def register(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    command(app, "open", "memctl open memory/2025-11-27.md#L12")(open_page)
    command(app, "undo", "memctl undo --dry-run")(undo)


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
