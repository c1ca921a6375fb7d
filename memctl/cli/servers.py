"""The commands that stay: `serve` over HTTP, `mcp` over stdin and stdout, `watch`."""

import logging
import re
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, time as time_of_day, timedelta
from types import FrameType
from typing import TYPE_CHECKING

from ..errors import ExtraMissing, Usage
from ..markdown.escape import one_line
from .call import Call, command, flag, option

if TYPE_CHECKING:
    from ..watch.watch import FolderEvents, Noticed

_HOSTS = {"127.0.0.1": "127.0.0.1", "localhost": "127.0.0.1", "::1": "::1"}


@command("serve", "memctl serve --port 7733")
def serve(
    call: Call,
    port: int = option("--port -p", "The port; 0 finds a free one.", default=7733, min=0, max=65535),
    host: str = option("--host", "127.0.0.1 or ::1; nothing else is this machine alone.", "ADDRESS", default="127.0.0.1"),
    read_only: bool = flag("--read-only", "Refuse what writes: /store, /ingest, /v1/retain, /v1/ingest."),
    verbose: bool = flag("--verbose", "A line for each request on stderr: route, status, time."),
) -> int:  # fmt: skip
    """Answer over HTTP on this machine until it is stopped. Needs the token in .memory/token; private lines stay here."""
    if host not in _HOSTS:
        cure = "127.0.0.1 or ::1; for others, put a tunnel before it"
        raise Usage(f"--host {host!r} is not this machine alone", cure)
    root = call.memory.workspace.root
    try:
        from ..server.http_app import Gate, application, listen, run
        from ..server.http_routes import Served
    except ImportError as error:
        raise ExtraMissing("serve", f"what serves HTTP (package {error.name})") from None
    path, token = call.memory.server_token()
    listening = listen(_HOSTS[host], port)
    port = listening.getsockname()[1]
    url = f"http://{f'[{host}]' if ':' in host else '127.0.0.1'}:{port}"
    with call.stay() as memory:
        memory.warm(embed=not read_only)
        gate = Gate(port, token.encode("ascii"), memory.pictures().key().encode("ascii"))
        app, threads = application(Served(memory, read_only), gate, call.out.note if verbose else None, url)
        if call.out.json:
            call.out.raw_json({"schema": 1, "url": url, "token_file": str(path), "read_only": read_only})
        else:
            call.out.line(url)
        call.out.note(f"serving {root}" + (", reading only" if read_only else ""))
        call.out.note(f"the token is in {path}; stop with Ctrl+C")
        call.out.flush()
        return run(app, threads, listening)


@command("mcp", "memctl mcp -w ~/notes")
def mcp(
    call: Call,
    allow_write: bool = flag("--allow-write", "Also offer answer, retain, reflect and forget; without it they do not exist."),
    text_only: bool = flag("--text-only", "No JSON beside the text, for clients that would hand it to the model instead."),
) -> None:  # fmt: skip
    """Serve this workspace to one MCP client over stdin and stdout.

    Opens no port. Lines marked private never leave. What recall returns, the model behind the client sees.
    """
    call.memory  # noqa: B018 - NoWorkspace before anything else
    try:
        from ..server.mcp_server import serve
        from ..server.mcp_tools import Session
    except ImportError as error:
        raise ExtraMissing("serve", f"{error.name or 'pydantic'}, which `memctl mcp` needs,") from error
    _log_to(call.out.note)
    if sys.stdin.isatty():
        call.out.note("an MCP server: waits for messages on stdin until Ctrl-C; `memctl connect` tells a host of it")
    with call.stay() as memory:
        memory.warm(sync=False, embed=allow_write)
        serve(Session(memory, allow_write, not text_only))


def _log_to(note: Callable[[str], None]) -> None:
    """What is logged goes to stderr, a line each and never a traceback."""

    class NoteHandler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            error = record.exc_info[1] if record.exc_info else None
            note(one_line(f"{record.getMessage()}{f' ({type(error).__name__}: {error})' if error else ''}")[:500])

    logging.basicConfig(level=logging.WARNING, handlers=[NoteHandler()], force=True)


@command("watch", "memctl watch --reflect-at 03:00")
def watch(
    call: Call,
    reflect_at: str | None = option("--reflect-at", "Reflect on the last 7 days once a day, then.", "HH:MM"),
    no_vectors: bool = flag("--no-vectors", "Words only: embed nothing."),
    once: bool = flag("--once", "Look once and end; needs no watchdog."),
) -> int:
    """Keep the index as fresh as the files, until it is stopped. Prints one line for each change."""
    from ..memory import Memory

    start, given = time.monotonic(), call.now

    def clock() -> datetime:
        """The time of the machine; or the one that was given, going on from there."""
        return given + timedelta(seconds=time.monotonic() - start) if call.is_now_given else datetime.now()

    at = None if reflect_at is None else _time_of(reflect_at)
    memory = Memory(call.memory.workspace._replace(command=None), clock, tell=call.out.note)
    if once:
        for noticed in memory.watch(None):
            _print_noticed(call, noticed, clock())
        return 0

    from ..watch.watch import FolderEvents

    events = FolderEvents()
    came, call.stopped = _stop_on_signals(events), ""  # to stop it is how it ends
    # Where the system's watches run out, a thread of watchdog dies of it: the next look finds that, and says so itself.
    threading.excepthook = lambda _: None
    with suppress(KeyboardInterrupt):
        for noticed in memory.watch(events, reflect_at=at, vectors=not no_vectors):
            _print_noticed(call, noticed, clock())
    if signal.SIGTERM not in came:
        raise KeyboardInterrupt
    return 0


def _stop_on_signals(events: "FolderEvents") -> list[int]:
    """From now on SIGTERM (what systemd sends) stops as Ctrl-C does; the list tells afterwards which came.

    An interrupt is lost where Python ignores exceptions (a callback of a weak reference, amid an import): the events end too.
    What a handler waits for may be what it interrupted, perhaps another handler: no lock is taken in it.
    """
    came: list[int] = []

    def stop(number: int, frame: FrameType | None) -> None:
        came.append(number)
        events.end()
        if len(came) == 1:
            raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)  # a shell that starts it in the background has it ignored
    lost = sys.unraisablehook
    sys.unraisablehook = lambda it: None if it.exc_type is KeyboardInterrupt else lost(it)
    return came


def _time_of(written: str) -> time_of_day:
    match = re.fullmatch(r"(\d{1,2}):(\d{2})", written.strip())
    if not match or int(match[1]) > 23 or int(match[2]) > 59:
        raise Usage(f"--reflect-at {written!r} is not a time of day", "write 03:00")
    return time_of_day(int(match[1]), int(match[2]))


def _print_noticed(call: Call, noticed: "Noticed", now: datetime) -> None:
    """A line on stdout, JSON with --json; what is in the way goes to stderr, where people look."""
    if call.out.json:
        told = {"at": now.isoformat(timespec="seconds"), "event": noticed.event, "told": noticed.told}
        call.out.raw_json(told | noticed.data)
    elif noticed.trouble:
        call.out.note(f"{now:%H:%M:%S} {noticed.told}")
    else:
        call.out.line(f"{now:%H:%M:%S} {noticed.told}")
    call.out.flush()
