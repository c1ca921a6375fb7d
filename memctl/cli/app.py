"""The command line: which module has which command, and what `memctl` alone says."""

import importlib
from typing import Any

import typer
from typer.core import TyperGroup

from ..errors import MemctlError, NoWorkspace
from .output import Output

_COMMANDS = {
    "Start": {"init": "workspace", "connect": "agents", "completion": "workspace", "status": "workspace"},
    "Write": {"retain": "facts", "ingest": "transfer", "import": "transfer"},
    "Ask": {"recall": "facts", "why": "beliefs", "context": "agents"},
    "Look": {"show": "facts", "open": "moves", "log": "moves", "timeline": "pictures", "graph": "pictures", "view": "pictures", "fact": "facts", "entity": "entities", "docs": "entities", "belief": "beliefs", "lessons": "beliefs"},
    "Tend": {
        "review": "review", "reflect": "beliefs", "conflicts": "beliefs", "resolve": "beliefs", "undo": "moves", "forget": "forget", "check": "workspace",
        "index": "workspace", "eval": "eval", "vault": "workspace", "export": "transfer",
        "publish": "transfer",
    },
    "For programs": {"mcp": "servers", "serve": "servers", "watch": "servers", "act": "agents", "hook": "agents"},
}  # fmt: skip
"""What people do, and the commands for it with the module of each, in the order of `memctl --help`."""
_MODULES = {name: module for commands in _COMMANDS.values() for name, module in commands.items()}
HELP: dict[str, Any] = {"help_option_names": ["-h", "--help"], "max_content_width": 160}
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
    context_settings=HELP,
    help="Offline memory for AI agents and people, in a folder of Markdown that they own.",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def load(arguments: list[str]) -> typer.Typer:
    """The command line with the commands that `arguments` ask for; all of them where that is not one command's name.

    Commands cost start-up even where they are not called (0.4 ms each), so the module of one joins when it is.
    """
    first = next((word for word in arguments if not word.startswith("-")), "")
    for module in [_MODULES[first]] if first in _MODULES else _MODULES.values():
        importlib.import_module(f".{module}", __package__)
    order = list(_MODULES)
    app.registered_commands.sort(key=lambda each: order.index(each.name or ""))
    app.registered_groups.sort(key=lambda each: order.index(each.name or ""))
    return app


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
