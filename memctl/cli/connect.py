"""The commands `connect` and `hook`: their arguments, and what stands in a host's files written down."""

import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import Refused, Usage
from ..notes.workspace import current_folder
from .call import Call, command

if TYPE_CHECKING:
    from ..agents.connect import Connected, Planned

__all__ = ["connect", "hook", "register"]

_WINDOWS = sys.platform == "win32"


def register(app: typer.Typer) -> None:
    """Add the commands of this module to the command line."""
    command(app, "connect", "memctl connect claude-code --write")(connect)
    command(app, "hook", "memctl hook prompt < event.json")(hook)


def connect(
    call: Call,
    host: Annotated[str, typer.Argument(metavar="HOST", help="claude-code, openclaw, codex or cursor.")],
    write: Annotated[bool, typer.Option("--write", help="Merge it into the files; otherwise only show it.")] = False,
    undo: Annotated[bool, typer.Option("--undo", help="Take out of the files what memctl put there.")] = False,
    scope: Annotated[
        str, typer.Option("--scope", metavar="SCOPE", help="user: your own files; project: those of this folder.")
    ] = "user",
    allow_write: Annotated[
        bool, typer.Option("--allow-write", help="Let the MCP server retain, reflect and forget.")
    ] = False,
    no_hooks: Annotated[bool, typer.Option("--no-hooks", help="The MCP server only.")] = False,
    program: Annotated[
        str | None, typer.Option("--command", metavar="WORDS", help="How the host starts memctl [default: as now].")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", "-n", help="Print the diff and write nothing.")] = False,
) -> None:
    """Connect an agent to this workspace: MCP server, hooks, instructions, in the files where its host looks for them."""
    from subprocess import list2cmdline

    from ..agents.connect import connect as run
    from ..agents.connect import disconnect
    from ..agents.hosts import HOSTS, SCOPES, Wish

    if host not in HOSTS:
        raise Usage(f"no host {host!r} is known", f"one of {', '.join(HOSTS)}; docs/connect.md has what others need")
    if scope not in SCOPES:
        raise Usage(f"--scope {scope!r} is unknown", "user or project")
    if write and undo:
        raise Usage("--write and --undo exclude each other")
    folder = current_folder()
    if scope == "project" and not folder.is_absolute():
        raise Usage("the folder in which you stand is gone", "go into the project, then run it again")
    quote = list2cmdline if _WINDOWS else shlex.join
    words = _this_program() if program is None else _named(program)
    wish = Wish(
        host, scope, call.workspace.root, words, quote, os.environ, Path.home(), folder,
        allow_write=allow_write, hooks=not no_hooks,
    )  # fmt: skip
    wanted = (write or undo) and not dry_run
    _print(call, wish.host, wish.scope, (disconnect if undo else run)(call.workspace, wish, write=wanted), wanted, undo)


def _named(program: str) -> tuple[str, ...]:
    """The words of --command; a path is made absolute."""
    try:
        words = shlex.split(program, posix=not _WINDOWS)
    except ValueError as error:
        raise Usage(f"--command is not understood: {error}", "quote it as for a shell") from None
    if not words:
        raise Usage("--command is empty", "name the program, as in --command 'uvx --from memctl-workspace memctl'")
    first = os.path.abspath(os.path.expanduser(words[0])) if os.path.dirname(words[0]) else words[0]
    return (first, *words[1:])


def _this_program() -> tuple[str, ...]:
    """The words that start the memctl which runs now, from any folder."""
    script = os.path.abspath(sys.argv[0])
    if os.path.basename(script).lower() in ("memctl", "memctl.exe") and os.access(script, os.X_OK):
        return (script,)
    return (sys.executable, "-m", "memctl")


_DONE = {"new": "made", "changed": "changed", "removed": "removed", "same": "as it is", "refused": "left alone"}
_PLANNED = {"new": "would be made", "changed": "would change", "removed": "would be removed", "same": "as it is"}


def _print(call: Call, host: str, scope: str, made: "Connected", wanted: bool, undo: bool) -> None:
    if call.out.json:
        files = [_file_json(file) for file in made.files]
        call.out.raw_json(
            {"schema": 1, "host": host, "scope": scope, "undo": undo, "written": made.written, "files": files, "notes": made.notes}
        )  # fmt: skip
    else:
        for file in made.files:
            _print_file(call, file, wanted and not made.problems, undo)
        for note in made.notes:
            call.out.note(note)
    if made.problems:
        file = made.problems[0]
        left = "nothing was written" if wanted else "it would be left alone"
        cure = (
            "take that part out by hand, then run it again"
            if undo
            else "put in by hand what is shown, or move that part away"
        )
        raise Refused(f"{file.held.path}: {file.problem}; {left}", cure)
    if not call.out.json and not wanted and any(file.diff for file in made.files):
        call.out.note("nothing is written yet: " + ("run it without --dry-run" if undo else "add --write"))


def _print_file(call: Call, file: "Planned", is_done: bool, undo: bool) -> None:
    link = f" -> {file.held.target}" if file.held.is_linked else ""
    told = _DONE if is_done or file.problem else _PLANNED
    call.out.line(f"{file.held.path}{link}: {file.title}, {told[file.state]}")
    if file.problem:
        call.out.line(f"  {file.problem}; {'this was put there' if undo else 'this belongs there'}:")
    for line in (file.fragment if file.problem else "" if is_done else file.diff).rstrip("\n").split("\n"):
        if line:
            call.out.line(line)


def _file_json(file: "Planned") -> dict[str, object]:
    return {
        "path": str(file.held.path),
        "target": str(file.held.target),
        "what": file.title,
        "state": file.state,
        "diff": file.diff,
        "problem": file.problem,
        "fragment": file.fragment,
    }


def hook(
    call: Call,
    event: Annotated[str, typer.Argument(metavar="EVENT", help="session-start, prompt, pre-compact or session-end.")],
) -> None:
    """What hosts run at certain moments: reads their JSON on stdin, answers in theirs. Never fails, never keeps them waiting."""
    from ..agents.hooks import run_hook

    answer = run_hook(event, call.named, call.now, sys.stdin)
    try:
        if answer:
            call.out.raw_json(answer)
            call.out.flush()
    except OSError:  # nobody listens any more, or a full disk: Python would complain once more when it flushes at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
