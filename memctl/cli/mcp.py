"""`memctl mcp` on the command line: one workspace for one MCP client, until it has gone."""

import logging
import sys
from collections.abc import Callable
from datetime import date
from typing import Annotated

import typer

from ..errors import ExtraMissing
from ..markdown.printable import one_line
from .call import Call

__all__ = ["mcp"]


def mcp(
    call: Call,
    allow_write: Annotated[
        bool, typer.Option("--allow-write", help="Also offer retain, reflect and forget; without it they do not exist.")
    ] = False,
    text_only: Annotated[
        bool,
        typer.Option(
            "--text-only", help="No JSON beside the text, for clients that would hand it to the model instead."
        ),
    ] = False,
) -> None:
    """Serve this workspace to one MCP client over stdin and stdout.

    Opens no port. Lines marked private never leave. What recall returns, the model behind the client sees.
    """
    workspace = call.workspace
    try:
        from ..server.mcp.server import serve  # with the SDK: half a second
    except ImportError as error:
        raise ExtraMissing("serve", f"{error.name or 'mcp'}, which `memctl mcp` needs,") from error
    from ..index.resident import Resident
    from ..server.mcp.reading import Session

    _log_calmly(call.out.note)
    if sys.stdin.isatty():
        call.out.note(
            "an MCP server: waits for a client's messages on stdin, Ctrl-C ends it; `memctl connect` tells a host of it"
        )
    with Resident(workspace) as resident:
        today = (lambda: call.today) if call.told_now else date.today
        serve(Session(resident, today, allow_write, not text_only))


def _log_calmly(note: Callable[[str], None]) -> None:
    """What the SDK has to say goes to stderr, a line each and never a traceback."""

    class Calm(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            error = record.exc_info[1] if record.exc_info else None
            note(one_line(f"{record.getMessage()}{f' ({type(error).__name__}: {error})' if error else ''}")[:500])

    logging.basicConfig(level=logging.WARNING, handlers=[Calm()], force=True)
