"""`memctl watch` on the command line: one line for each thing noticed, and a quick end when it is told to stop."""

import os
import re
import signal
import threading
import time
from datetime import datetime, timedelta
from datetime import time as time_of_day
from functools import partial
from types import FrameType
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import Usage
from ..notes.workspace import find_workspace
from .call import Call, command

if TYPE_CHECKING:
    from ..watch.watch import Noticed

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    command(app, "watch", "memctl watch --reflect-at 03:00")(watch)


def watch(
    call: Call,
    reflect_at: Annotated[
        str | None, typer.Option("--reflect-at", metavar="HH:MM", help="Reflect on the last 7 days once a day, then.")
    ] = None,
    no_vectors: Annotated[bool, typer.Option("--no-vectors", help="Words only: embed nothing.")] = False,
    once: Annotated[bool, typer.Option("--once", help="Look once and end; needs no watchdog.")] = False,
) -> int:
    """Keep the index as fresh as the files, until it is stopped. Prints one line for each change."""
    from ..watch.watch import look_once
    from ..watch.watch import watch as run

    start, given = time.monotonic(), call.now

    def clock() -> datetime:
        """The time of the machine; or the one that was given, going on from there."""
        return given + timedelta(seconds=time.monotonic() - start) if call.told_now else datetime.now()

    at = _time(reflect_at)
    root = call.workspace.root
    if once:
        for noticed in look_once(call.workspace):
            _print(call, noticed, clock())
        return 0

    from ..watch.watcher import Bell

    terminated = _listen()
    # Where the system's watches run out, a thread of watchdog dies of it: the next look finds that, and says so itself.
    threading.excepthook = lambda _: None
    try:
        reopen = partial(find_workspace, str(root), os.environ, root)
        for noticed in run(reopen, Bell(), clock, reflect_at=at, vectors=not no_vectors):
            _print(call, noticed, clock())
    except KeyboardInterrupt:
        if not terminated.is_set():
            raise
    return 0


def _listen() -> threading.Event:
    """From now on SIGTERM (what systemd sends) stops as Ctrl-C does; the event tells afterwards which it was."""
    terminated = threading.Event()

    def stop(number: int, frame: FrameType | None) -> None:
        if number == signal.SIGTERM:
            terminated.set()
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)  # a shell that starts it in the background has it ignored
    return terminated


def _time(written: str | None) -> time_of_day | None:
    if written is None:
        return None
    match = re.fullmatch(r"(\d{1,2}):(\d{2})", written.strip())
    if not match or int(match[1]) > 23 or int(match[2]) > 59:
        raise Usage(f"--reflect-at {written!r} is no time of day", "write 03:00")
    return time_of_day(int(match[1]), int(match[2]))


def _print(call: Call, noticed: "Noticed", now: datetime) -> None:
    """A line on stdout, JSON with --json; what is in the way goes to stderr, where people look."""
    if call.out.json:
        told = {"at": now.isoformat(timespec="seconds"), "event": noticed.event, "told": noticed.told}
        call.out.raw_json(told | noticed.data)
    elif noticed.trouble:
        call.out.note(f"{now:%H:%M:%S} {noticed.told}")
    else:
        call.out.line(f"{now:%H:%M:%S} {noticed.told}")
    call.out.flush()
