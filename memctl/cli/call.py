"""One call of a command: its workspace, its clock, its output; and the one boundary where errors become exit codes."""

import functools
import inspect
import io
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import MemctlError, Usage
from ..notes.workspace import Workspace, current_folder, find_workspace
from .output import Output

if TYPE_CHECKING:
    from ..memory import Memory

__all__ = ["Call", "command", "run"]


@dataclass(slots=True)
class Call:
    """What every command is given: where it works, what time it is, how it answers."""

    out: Output
    named: str | None = None
    now: datetime = field(default_factory=datetime.now)
    found: Workspace | None = None
    told_now: bool = False
    """True where `--now` or MEMCTL_NOW says what the present is, and not the clock."""

    @property
    def today(self) -> date:
        """The local day of `--now`, MEMCTL_NOW or the clock."""
        return self.now.date()

    @property
    def workspace(self) -> Workspace:
        """The workspace that `--workspace`, MEMCTL_WORKSPACE or the folder names; NoWorkspace without one."""
        if self.found is None:
            self.found = find_workspace(self.named, os.environ, current_folder())
        return self.found

    @property
    def memory(self) -> "Memory":
        """The memory in that workspace, as of now; its notes go to the terminal."""
        from ..memory import Memory

        return Memory(self.workspace, lambda: self.now, tell=self.out.note)


_COMMON: dict[str, Any] = {
    "workspace": Annotated[
        str | None,
        typer.Option(
            "--workspace", "-w", metavar="DIR", help="The workspace [default: MEMCTL_WORKSPACE, or the nearest above]."
        ),
    ],
    "json": Annotated[bool, typer.Option("--json", help="Print JSON.")],
    "quiet": Annotated[bool, typer.Option("--quiet", "-q", help="Print the answer only, no notes.")],
    "now": Annotated[
        str | None,
        typer.Option("--now", metavar="WHEN", help="Take this as the present [default: MEMCTL_NOW, or the clock]."),
    ],
    "debug": Annotated[bool, typer.Option("--debug", help="Show a traceback when something breaks.")],
}
_DEFAULTS = {"workspace": None, "json": False, "quiet": False, "now": None, "debug": False}


def command(
    app: typer.Typer, name: str, example: str
) -> Callable[[Callable[..., int | None]], Callable[..., int | None]]:
    """Register a function `(call, …)` as a command with the options that all commands share.

    Its docstring is the help, `example` stands below it; what it returns is the exit code (None is 0).
    """

    def register(function: Callable[..., int | None]) -> Callable[..., int | None]:
        signature = inspect.signature(function)
        own = list(signature.parameters.values())[1:]
        shared = [
            inspect.Parameter(key, inspect.Parameter.KEYWORD_ONLY, default=_DEFAULTS[key], annotation=annotation)
            for key, annotation in _COMMON.items()
        ]

        @functools.wraps(function)
        def called(**values: Any) -> None:
            given = {key: values.pop(key) for key in _COMMON}
            told = bool(given["now"] or os.environ.get("MEMCTL_NOW"))
            call = Call(Output(given["json"], given["quiet"]), given["workspace"], _clock(given["now"]), told_now=told)
            raise typer.Exit(function(call, **values) or 0)

        called.__signature__ = inspect.Signature([*(p.replace(kind=p.KEYWORD_ONLY) for p in own), *shared])  # type: ignore[attr-defined]
        called.__annotations__ = {}
        text = inspect.cleandoc(function.__doc__ or "")
        app.command(
            name, context_settings={"help_option_names": ["-h", "--help"]}, help=f"{text}\n\nExample: {example}"
        )(called)
        return function

    return register


def _clock(given: str | None) -> datetime:
    written = given or os.environ.get("MEMCTL_NOW")
    if not written:
        return datetime.now()
    try:
        return datetime.fromisoformat(written)
    except ValueError:
        raise Usage(f"the time {written!r} is not understood", "write it as 2025-11-27 or 2025-11-27T13:00") from None


def run(app: typer.Typer, arguments: list[str]) -> int:
    """Run the command line and return its exit code. Errors are two lines on stderr; a traceback only with --debug."""
    # A fact pasted with its bullet is no option: no option begins with a dash and a space.
    words = [word[2:] if word.startswith("- ") else word for word in arguments]
    out = Output()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(
            stream, io.TextIOWrapper
        ):  # a terminal or pipe that is not UTF-8 gets what it cannot show written out
            stream.reconfigure(errors="backslashreplace")
    try:
        code = app(words, prog_name="memctl", standalone_mode=False)
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except MemctlError as error:
        out.error(error)
        return error.exit_code
    except KeyboardInterrupt:
        return 130
    except (BrokenPipeError, SystemExit):  # the parser makes the second of the first
        # The reader (`head`) has seen enough; Python would complain once more when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:  # the boundary: what is not ours must still end in a line, not in a traceback
        return _foreign(out, error, "--debug" in arguments)


def _foreign(out: Output, error: Exception, debug: bool) -> int:
    if type(error).__name__ == "NoArgsIsHelpError":
        for line in str(error).split("\n"):
            out.note(line)
        return 2
    if hasattr(error, "format_message"):  # the command line parser's own errors
        context = getattr(error, "ctx", None)
        path = context.command_path if context else "memctl"
        out.error(Usage(error.format_message(), f"see `{path} --help`"))
        return 2
    if debug:
        raise error
    what = f"unexpected {type(error).__name__}: {error}"
    out.error(MemctlError(what, "please report this with the output of the same command and --debug"))
    return 70
