"""One call of a command: its memory, its clock, its output; which commands there are, and how they are declared; where errors become exit codes."""

import errno
import functools
import importlib
import inspect
import io
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from copy import copy
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperGroup

from ..errors import CannotAnswer, MemctlError, NoWorkspace, Usage
from ..facts import moment
from .output import Output

if TYPE_CHECKING:
    from ..memory import Memory
    from .terminal import Bar


@dataclass(slots=True)
class Call:
    """What every command is given: the memory, what time it is, how it answers."""

    out: Output
    named: str | None = None
    also: tuple[str, ...] = ()  # more workspaces, for a command that takes several
    now: datetime = field(default_factory=datetime.now)
    is_now_given: bool = False  # `--now` or MEMCTL_NOW says what the present is, and not the clock
    stopped: str = "stopped: no page is half written"  # what is said when the call is interrupted
    _memory: "Memory | None" = None
    _bar: "Bar | None" = None

    @property
    def memory(self) -> "Memory":
        """The memory that `--workspace`, MEMCTL_WORKSPACE or the folder names; NoWorkspace without one."""
        if self._memory is None:
            self._memory = self._open(self.named)
            self._follow("indexing")  # a first question may have to read the whole folder
        return self._memory

    def _open(self, name: str | None) -> "Memory":
        from ..memory import open_memory

        return open_memory(name, now=self.now, tell=self.out.beside, resident=False)

    def _follow(self, what: str) -> None:
        self.close_bar()
        self._bar = self.out.bar(what)
        if self._bar and self._memory:
            self._memory.progress = self._bar.update

    def each(self) -> Iterator[tuple[str, "Memory"]]:
        """The memory of every workspace that was named, and its name."""
        yield self.named or "", self.memory
        for name in self.also:
            yield name, self._open(name)

    def stay(self) -> "Memory":
        """The same for a process that stays: the index is kept open, and the clock goes on unless `--now` was given."""
        from ..memory import open_memory

        return open_memory(self.named, now=self.now if self.is_now_given else None)

    @contextmanager
    def progress(self, what: str, stopped: str = "") -> Iterator["Memory"]:
        """The memory, with a bar on a terminal while it works; `stopped` is said when that is interrupted."""
        memory, self.stopped = self.memory, stopped or self.stopped
        self._follow(what)
        if self._bar:
            self._bar.stays = True
            self._bar.update(0, 0)
        try:
            yield memory
        finally:
            self.close_bar()

    def close_bar(self) -> None:
        """Take the bar away, if one is shown."""
        if self._bar:
            self._bar.close()


# -- which module has which command, and what `memctl` alone says -----------------------------------------------------

_COMMANDS = {
    "Start": {"init": "setup", "connect": "agents", "completion": "setup", "status": "setup"},
    "Write": {"retain": "remember", "ingest": "transfer", "import": "transfer"},
    "Ask": {"recall": "remember", "why": "beliefs", "context": "agents"},
    "Look": {"show": "remember", "open": "moves", "log": "moves", "timeline": "look", "graph": "look", "view": "look", "fact": "remember", "entity": "look", "docs": "look", "belief": "beliefs", "lessons": "beliefs"},
    "Tend": {
        "review": "review", "reflect": "beliefs", "conflicts": "beliefs", "resolve": "beliefs", "undo": "moves", "forget": "moves", "check": "setup",
        "index": "setup", "eval": "eval", "vault": "setup", "export": "transfer",
        "publish": "transfer",
    },
    "For programs": {"mcp": "servers", "serve": "servers", "watch": "servers", "act": "agents", "hook": "agents"},
}  # fmt: skip
"""What people do, and the commands for it with the module of each, in the order of `memctl --help`."""
_MODULES = {name: module for commands in _COMMANDS.values() for name, module in commands.items()}
_HELP: dict[str, Any] = {"help_option_names": ["-h", "--help"], "max_content_width": 160}
"""How help is asked for, and its greatest width; below that it is as wide as the terminal."""


class _Grouped(TyperGroup):
    """The program, whose help lists the commands by what people do with them."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write a section for each group; a description that is too long for the terminal is wrapped, not cut."""
        for title, commands in _COMMANDS.items():
            with formatter.section(title):
                formatter.write_dl([(name, self.commands[name].get_short_help_str(200)) for name in commands])


app = typer.Typer(
    name="memctl",
    cls=_Grouped,
    context_settings=_HELP,
    help="Offline memory for AI agents and people, in a folder of Markdown that they own.",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def load(arguments: list[str]) -> typer.Typer:
    """The command line with the command that `arguments` begin with; with all where that is no command's name.

    Commands cost start-up even where they are not called (0.4 ms each), so only the one that is called is made.
    """
    wanted = [word for word in arguments[:1] if word in _MODULES] or list(_MODULES)
    for name in wanted:
        importlib.import_module(f".{_MODULES[name]}", __package__)

    def chosen(declared: list[Any]) -> list[Any]:
        return sorted((each for each in declared if each.name in wanted), key=lambda each: wanted.index(each.name))

    made = copy(app)
    made.registered_commands, made.registered_groups = chosen(app.registered_commands), chosen(app.registered_groups)
    return made


def _print_version(wanted: bool) -> None:
    if wanted:
        from .. import __version__

        Output().line(f"memctl {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def main(
    context: typer.Context,
    version: bool = typer.Option(False, "--version", is_eager=True, callback=_print_version, help="Print the version."),
) -> None:
    """What stands before the command; without a command, where you are and what to do next."""
    if context.invoked_subcommand is not None:
        return
    from .. import __version__
    from ..memory import open_memory

    out = Output()
    next_steps = [("recall QUESTION", "ask"), ("retain FACT", "write a fact down")]
    try:
        memory = open_memory(resident=False)
        out.table(("", ""), memory.glance().lines())
        next_steps += [("status", "more about this workspace")]
    except NoWorkspace as error:
        out.say(f"memctl {__version__}, offline memory in a folder of Markdown; {error.what}", 0)
        next_steps = [("init ~/notes --git", "make one"), ("recall QUESTION -w DIR", "or ask any folder of Markdown")]
    except MemctlError as error:
        out.say(f"{error.what}; {error.cure}", 0)
    out.line("Next:")
    for words, purpose in [*next_steps, ("--help", "every command")]:
        out.line(f"  memctl {words:24}{purpose}")


def option(names: str, help: str, metavar: str | None = None, default: Any = None, **bounds: Any) -> Any:
    """An option, as the default of a parameter; `names` with a space between."""
    return typer.Option(default, *names.split(), metavar=metavar, help=help, **bounds)


def flag(names: str, help: str) -> Any:
    """An option without a value, false unless given."""
    return typer.Option(False, *names.split(), help=help)


def argument(metavar: str | None, help: str, default: Any = ...) -> Any:
    """A positional argument, required without a default."""
    return typer.Argument(default, metavar=metavar, help=help)


def one_of(name: str, value: str | None, known: Sequence[str], cure: str = "") -> None:
    """Usage for a value that is not one of the known ones."""
    if value is not None and value not in known:
        raise Usage(f"{name} {value!r} is unknown", cure or ", ".join(known))


ABOUT = option("--about -a", "Whom or what it is about; may be given again.", "NAME")
AS_OF = option("--as-of", "Answer as of that day, from what was known by then.", "WHEN")
DRY_RUN = flag("--dry-run -n", "Print the diff and write nothing.")
_GROUPS = {
    "fact": "Slots: the newest line with an (entity, key) is current; one that plain words fill may wait for `review`.",
    "entity": "Who and what the workspace knows.",
    "belief": "What is believed, how firmly, and why.",
}


def parameter(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    """A parameter of a command that is not written out in its function."""
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


_COMMON = [
    parameter("workspace", list[str] | None, option("--workspace -w", "The workspace [default: MEMCTL_WORKSPACE, or the nearest above].", "DIR")),
    parameter("json", bool, flag("--json", "Print JSON.")),
    parameter("quiet", bool, flag("--quiet -q", "Print the answer only, no notes.")),
    parameter("now", str | None, option("--now", "Take this as the present; it hides no line told later [default: MEMCTL_NOW, or the clock].", "WHEN")),
    parameter("debug", bool, flag("--debug", "Show a traceback when something breaks.")),
]  # fmt: skip


def command(
    name: str, example: str, more: Sequence[inspect.Parameter] = (), after: str = "", paged: bool = False, several: bool = False
) -> Callable[[Callable[..., int | None]], Callable[..., int | None]]:  # fmt: skip
    """A function `(call, …)` is a command with the options that all commands share; "fact get" is `get` of a group.

    Its docstring is the help, `example` stands below it; what it returns is the exit code (None is 0). `more` parameters
    stand behind the one that is called `after`; the function takes them as keywords. `paged` answers go through a pager on
    a terminal where they are longer than it; `several` workspaces may be named.
    """

    def declare(function: Callable[..., int | None]) -> Callable[..., int | None]:
        declared = [*inspect.signature(function).parameters.values()][1:]
        own = [each.replace(kind=each.KEYWORD_ONLY) for each in declared if each.kind is not each.VAR_KEYWORD]
        place = next((at for at, each in enumerate(own, 1) if each.name == after), len(own))

        @functools.wraps(function)
        def called(**values: Any) -> None:
            given = {each.name: values.pop(each.name) for each in _COMMON}
            named, *also = dict.fromkeys(given["workspace"] or [None])
            if also and not several:
                what = f"--workspace is given {len(also) + 1} times, and `memctl {name}` takes one"
                raise Usage(what, "name one; `memctl recall` takes several")
            present = given["now"] or os.environ.get("MEMCTL_NOW")
            now = moment(present) if present else datetime.now()
            call = Call(Output(given["json"], given["quiet"]), named, tuple(also), now, bool(present))
            is_paged = paged and not (values.get("unseal") or values.get("interactive"))
            try:
                with call.out.paged() if is_paged else nullcontext():
                    code = function(call, **values) or 0
                raise typer.Exit(code)
            except KeyboardInterrupt as stop:
                call.close_bar()
                if said := stop.args[0] if stop.args else call.stopped:
                    call.out.note(said)
                raise
            finally:
                call.close_bar()

        called.__signature__ = inspect.Signature([*own[:place], *more, *own[place:], *_COMMON])  # type: ignore[attr-defined]
        called.__annotations__ = {}
        text = inspect.cleandoc(function.__doc__ or "")
        group, _, last = name.rpartition(" ")
        program = _group(group) if group else app
        program.command(last, context_settings=_HELP, help=f"{text}\n\nExample: {example}")(called)
        return function

    return declare


@functools.cache
def _group(name: str) -> typer.Typer:
    """A group of commands, such as `memctl fact`, made for its first."""
    made = typer.Typer(help=_GROUPS[name], no_args_is_help=True, rich_markup_mode=None)
    app.add_typer(made, name=name)
    return made


def run(app: typer.Typer, arguments: list[str]) -> int:
    """Run the command line and return its exit code. Errors are two lines on stderr; a traceback only with --debug."""
    # A fact pasted with its bullet is not an option: no option begins with a dash and a space.
    words = [word[2:] if word.startswith("- ") else word for word in arguments]
    if words[:1] == ["recall"]:
        words = [f" {word}" if _is_left_out(word) else word for word in words]
    out = Output(json="--json" in words[: words.index("--") if "--" in words else None])
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # what a stream that is not UTF-8 cannot show is written out
            stream.reconfigure(errors="backslashreplace")
    try:
        code = app(words, prog_name="memctl", standalone_mode=False)
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except MemctlError as error:
        out.error(error)
        return CannotAnswer.exit_code if _cannot_answer(out) else error.exit_code
    except (KeyboardInterrupt, EOFError):  # the second at a prompt
        return 130
    except (BrokenPipeError, SystemExit):  # the parser makes the second of the first
        answer_nobody()  # the reader (`head`) has seen enough
        return 0
    except Exception as error:  # the boundary: what is not ours must still end in a line, not in a traceback
        return CannotAnswer.exit_code if _cannot_answer(out, error) else _foreign(out, error, arguments)


_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


def _cannot_answer(out: Output, error: Exception | None = None) -> bool:
    """True where the answer cannot leave, for another reason than a reader who is gone; then that is said."""
    try:
        sys.stdout.flush()
        if not isinstance(error, OSError) or error.filename or error.errno not in _FULL:  # an error of a file names it
            return False
    except OSError as stuck:
        error = stuck
    answer_nobody()
    if not isinstance(error, BrokenPipeError):
        out.error(CannotAnswer(error.strerror or str(error)))
    return not isinstance(error, BrokenPipeError)


def answer_nobody() -> None:
    """Let go of stdout: Python would complain once more when it flushes at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _is_left_out(word: str) -> bool:
    """True for `-mongo` in a question: no flags of one letter, and none of the options that take a text (-a, -f, -w)."""
    return word[:1] == "-" and len(word) > 3 and word[1:].isalpha() and word[1] not in "afw"


def _foreign(out: Output, error: Exception, arguments: list[str]) -> int:
    if type(error).__name__ == "NoArgsIsHelpError":
        out.note(*str(error).split("\n"))
        return 2
    if hasattr(error, "format_message"):  # the command line parser's own errors
        context = getattr(error, "ctx", None)  # an option without its value has none
        typed = arguments[: 2 if arguments[:1] and arguments[0] in _GROUPS else 1]
        path = context.command_path if context else " ".join(["memctl", *typed])
        out.error(Usage(error.format_message(), f"see `{path} --help`"))
        return 2
    if "--debug" in arguments:
        raise error
    what = f"unexpected {type(error).__name__}: {error}"
    out.error(MemctlError(what, "please report this with the output of the same command and --debug"))
    return 70
