"""`memctl act` on the command line: a model's reply in, the reply without its commands and their results out."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import Usage
from .call import Call, command

if TYPE_CHECKING:
    from ..agents.act import Acted, Result

__all__ = ["register"]

_MOST_BYTES = 16 * 1024 * 1024


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    command(app, "act", "memctl act reply.txt")(act)


def act(
    call: Call,
    file: Annotated[str, typer.Argument(metavar="[FILE]", help="The reply; - is stdin [default: -].")] = "-",
    read_only: Annotated[bool, typer.Option("--read-only", help="Refuse SAVE_FACT and SAVE_DOC.")] = False,
    private: Annotated[
        bool, typer.Option("--private", help="Let private lines in, for a model on this machine.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", "-n", help="Print the diff of what would be saved, and save nothing.")
    ] = False,
) -> int:
    """Do what the bracket commands in a model's reply ask for. Prints the reply without them, then the results.

    Exit code 1 if any command was refused, failed or found nothing; the others are done all the same.
    """
    from ..agents.act import Permissions
    from ..agents.act import act as run

    workspace = call.workspace
    done = run(workspace, _reply(file), today=call.today, may=Permissions(dry_run, read_only, private))
    if call.out.json:
        results = [_json(result) for result in done.results]
        call.out.raw_json({"schema": 1, "reply": done.reply, "results": results, "ignored": done.ignored})
    else:
        _print(call, done)
    if done.ignored:
        call.out.note(f"not done, because in code, a quote, a comment or thinking: {done.ignored}")
    return 1 if done.failed else 0


def _reply(file: str) -> str:
    """The reply as text; bytes that are no UTF-8 are shown as such."""
    piped = getattr(sys.stdin, "buffer", None)
    if file == "-":
        data = piped.read(_MOST_BYTES) if piped else sys.stdin.read().encode("utf-8", "replace")
        return _decoded(data)
    try:
        with open(file, "rb") as stream:
            return _decoded(stream.read(_MOST_BYTES))
    except OSError as error:
        raise Usage(f"{Path(file).name}: {error.strerror or error}", "name a file that holds the reply") from error


def _decoded(data: bytes) -> str:
    return data.decode("utf-8-sig", "replace").replace("\r\n", "\n")


def _print(call: Call, done: "Acted") -> None:
    from ..context.fence import fence, tamed

    for line in done.reply.strip("\n").split("\n") if done.reply.strip() else ():
        call.out.line(line)
    if not done.results:
        return
    if done.reply.strip():
        call.out.line()
    for result in done.results:
        state = "" if result.ok else "failed: "
        cure = f"; {result.cure}" if result.cure else ""
        call.out.line(f"[{result.command}] {state}{result.told}{cure}")
        for line in result.diff.removesuffix("\n").split("\n") if result.diff else ():
            call.out.line(line)
        for line in fence(tamed(result.recalled)).split("\n") if result.recalled else ():
            call.out.line(line)


def _json(result: "Result") -> dict[str, Any]:
    made: dict[str, Any] = {"command": result.command, "line": result.line, "ok": result.ok}
    if not result.ok:
        return made | {"error": result.told, "cure": result.cure, "code": result.code}
    made |= {"told": result.told, **result.data}
    return made | ({"diff": result.diff} if result.diff else {})
