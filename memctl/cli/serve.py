"""`memctl serve` and its neighbours on the command line."""

from datetime import datetime
from typing import Annotated

import typer

from ..errors import ExtraMissing, Usage
from .call import Call, command

__all__ = ["register"]

_PORT = 7733
_HOSTS = {"127.0.0.1": "127.0.0.1", "localhost": "127.0.0.1", "::1": "::1"}


def register(app: typer.Typer) -> None:
    """Add the commands of this module to the command line."""
    from .mcp import mcp

    command(app, "serve", "memctl serve --port 7733")(serve)
    command(app, "mcp", "memctl mcp -w ~/notes")(mcp)


def serve(
    call: Call,
    port: Annotated[int, typer.Option("--port", "-p", min=0, max=65535, help="The port; 0 finds a free one.")] = _PORT,
    host: Annotated[
        str, typer.Option("--host", metavar="ADDRESS", help="127.0.0.1 or ::1; nothing else is this machine alone.")
    ] = "127.0.0.1",
    read_only: Annotated[
        bool, typer.Option("--read-only", help="Refuse what writes: /store, /ingest, /v1/retain, /v1/ingest.")
    ] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", help="A line for each request on stderr: route, status, time.")
    ] = False,
) -> int:
    """Answer over HTTP on this machine until it is stopped. Needs the token in .memory/token; private lines stay here."""
    if host not in _HOSTS:
        raise Usage(
            f"--host {host!r} is not this machine alone", "127.0.0.1 or ::1; for others, put a tunnel before it"
        )
    workspace = call.workspace
    try:
        import jsonschema  # type: ignore[import-untyped]  # noqa: F401 - needed for the first request

        from ..server.http import app as http
        from ..server.http.gate import Gate
    except ImportError as error:
        raise ExtraMissing("serve", f"what serves HTTP (package {error.name})") from None
    from ..index.resident import Resident
    from ..server.http.routes import Served
    from ..server.http.token import token_of

    path, token = token_of(workspace)
    listening = http.listen(_HOSTS[host], port)
    url = f"http://{f'[{host}]' if ':' in host else '127.0.0.1'}:{listening.port}"
    with Resident(workspace) as resident:
        served = Served(resident, (lambda: call.now) if call.told_now else datetime.now, read_only)
        served.warm()
        app, verbs = http.application(
            served, Gate(listening.port, token.encode("ascii")), call.out.note if verbose else None, url
        )
        if call.out.json:
            call.out.raw_json({"url": url, "token_file": str(path), "read_only": read_only})
        else:
            call.out.line(url)
        call.out.note(f"serving {workspace.root}" + (", reading only" if read_only else ""))
        call.out.note(f"the token is in {path}; stop with Ctrl+C")
        call.out.flush()
        return http.run(app, verbs, listening)
