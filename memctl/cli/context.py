"""The command `context`: a prompt pack for a message, or a chat ready to send."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import Usage
from .call import Call, command

if TYPE_CHECKING:
    from ..context.assembly import Pack
    from ..context.chat import Prepared
    from ..language.tokens import Counter

__all__ = ["register"]

_FORMATS = ("text", "json", "stable", "recalled")


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    command(app, "context", 'memctl context "why did we leave MongoDB?" --budget 4000')(context)


def context(
    call: Call,
    message: Annotated[
        list[str] | None, typer.Argument(metavar="[MESSAGE]", help="What the user says now; - reads it from stdin.")
    ] = None,
    messages: Annotated[
        str | None,
        typer.Option(
            "--messages",
            "-m",
            metavar="FILE",
            help="A chat as JSON (- for stdin): print the messages to send instead.",
        ),
    ] = None,
    budget: Annotated[
        int | None,
        typer.Option(
            "--budget",
            "-b",
            min=1,
            metavar="TOKENS",
            help="Never more tokens than that [default: 8000, or memctl.toml].",
        ),
    ] = None,
    about: Annotated[
        list[str] | None,
        typer.Option("--about", "-a", metavar="NAME", help="Whom or what it is about; may be given again."),
    ] = None,
    since: Annotated[
        str | None, typer.Option("--since", metavar="WHEN", help='Lines from then on: 30d, 2025-11, "last week".')
    ] = None,
    private: Annotated[
        bool, typer.Option("--private", help="Private lines too: for a model on this machine only.")
    ] = False,
    no_core: Annotated[bool, typer.Option("--no-core", help="With --messages: no core and lessons in it.")] = False,
    counter: Annotated[
        str | None,
        typer.Option(
            "--counter",
            metavar="NAME",
            help="estimate, an encoding of tiktoken, or the path of a tokenizer.json [default: estimate, or memctl.toml].",
        ),
    ] = None,
    format: Annotated[
        str | None,
        typer.Option("--format", "-f", metavar="FORMAT", help="text, json, stable or recalled [default: text]."),
    ] = None,
) -> int:
    """What an agent is given before it answers: core, lessons, recent lines, and what belongs to the message, cited."""
    from ..context.counters import counter_of

    if format not in (None, *_FORMATS):
        raise Usage(f"--format {format!r} is unknown", ", ".join(_FORMATS))
    count = counter_of(call.workspace, counter)
    if messages is not None:
        if message or format in ("stable", "recalled"):
            raise Usage(
                "--messages takes no MESSAGE and no such --format", "the newest message of the chat is the message"
            )
        return _chat(call, messages, budget, about or [], since, private, not no_core, count, format)
    from ..context.context import context as run

    said = sys.stdin.read() if message == ["-"] else " ".join(message or ())
    pack = run(
        call.workspace,
        said,
        today=call.today,
        budget=budget,
        about=about or (),
        since=since,
        private=private,
        count=count,
    )
    return _print_pack(call, pack, format or ("json" if call.out.json else "text"))


def _print_pack(call: Call, pack: "Pack", format: str) -> int:
    from ..context.assembly import pack_json

    for warning in pack.warnings:
        call.out.note(warning)
    if format == "json":
        call.out.raw_json(pack_json(pack))
        return 0
    text = {"text": pack.text, "stable": pack.stable, "recalled": pack.recalled}[format]
    for line in text.split("\n") if text else ():
        call.out.line(line)
    spent = ", ".join(f"{name} {tokens}" for name, tokens in pack.layers.items())
    call.out.note(f"{pack.used} of {pack.budget} tokens: {spent}")
    return 0


def _chat(
    call: Call, source: str, budget: int | None, about: list[str], since: str | None, private: bool, core: bool,
    count: "Counter", format: str | None,
) -> int:  # fmt: skip
    from ..context.chat import prepare
    from ..context.chat_messages import read_chat

    name = "chat" if source == "-" else Path(source).name
    made = prepare(
        call.workspace, read_chat(_read(source), "stdin" if source == "-" else source), today=call.today, budget=budget,
        about=about, since=since, private=private, core=core, count=count, name=name,
    )  # fmt: skip
    for warning in made.warnings:
        call.out.note(warning)
    call.out.raw_json(_chat_json(made) if call.out.json or format == "json" else made.messages)
    call.out.note(
        f"{made.used} of {made.budget} tokens; {made.dropped} messages are not sent, {len(made.items)} lines recalled"
    )
    return 0


def _chat_json(made: "Prepared") -> dict[str, object]:
    from ..context.assembly import item_json

    return {
        "schema": 1,
        "messages": made.messages,
        "used": made.used,
        "budget": made.budget,
        "dropped": made.dropped,
        "items": [item_json(item) for item in made.items],
        "warnings": list(made.warnings),
    }


def _read(source: str) -> str:
    """The text of a file, or of stdin; Usage for what cannot be read."""
    cure = "name a file of messages as JSON in UTF-8"
    try:
        data = sys.stdin.buffer.read() if source == "-" else Path(source).read_bytes()
    except OSError as error:
        raise Usage(f"{source}: {error.strerror or error}", cure) from error
    try:
        return data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
    except UnicodeDecodeError as error:
        raise Usage(f"{source}: byte {error.start} is not UTF-8", cure) from error
