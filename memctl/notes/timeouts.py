"""Runs a piece of work so that it cannot keep its caller longer than it has time, whatever hangs in it.

The work is done by a child process: neither a regular expression that holds the interpreter nor a disk that does not
answer can hold up the parent. What is worth finishing goes on after the parent has left.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

__all__ = ["Outcome", "bounded"]

_MOST = 1024 * 1024  # bytes that a piece of work may answer


class Outcome(NamedTuple):
    """What came of it: the answer; or None, and `trouble` in a word or two (late, goes on, the name of an exception)."""

    answer: bytes | None
    trouble: str = ""


def bounded(job: Callable[[], bytes], seconds: float, *, finish: float = 0.0) -> Outcome:
    """The answer of `job`, after at most `seconds`; one that takes longer is ended, or has `finish` seconds more on its own."""
    if not hasattr(os, "fork") or threading.active_count() > 1:
        return _in_thread(job, seconds)
    reader, writer = os.pipe()
    try:
        child = os.fork()
    except OSError as error:  # no process to be had
        os.close(reader)
        os.close(writer)
        return Outcome(None, f"OSError: {error.strerror}")
    if child == 0:
        os.close(reader)
        _work(job, writer, seconds + max(finish, 1.0))
    os.close(writer)
    data, is_done = _read(reader, time.monotonic() + seconds)
    os.close(reader)
    if is_done:
        with suppress(ChildProcessError):
            os.waitpid(child, 0)
    elif not finish:
        os.kill(child, signal.SIGKILL)
        with suppress(ChildProcessError):
            os.waitpid(child, os.WNOHANG)
    if not is_done:
        return Outcome(None, "goes on" if finish else "late")
    if data[:1] == b"=":
        return Outcome(data[1:])
    return Outcome(None, data[1:].decode("utf-8", "replace") if data else "ended by a signal")


def _work(job: Callable[[], bytes], writer: int, seconds: float) -> None:
    """What the child does. It never returns; whatever is raised in it is told to the parent by name and place."""
    told = b"!"
    try:
        os.setsid()  # a host that ends its hooks does not end this
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(int(seconds) + 1)
        void = os.open(os.devnull, os.O_WRONLY)
        os.dup2(void, 1)
        os.dup2(void, 2)
        told = b"=" + job()[:_MOST]
    finally:
        kind, _, trace = sys.exc_info()
        if kind is not None:
            while trace is not None and trace.tb_next:
                trace = trace.tb_next
            place = f" at {os.path.basename(trace.tb_frame.f_code.co_filename)}:{trace.tb_lineno}" if trace else ""
            told = f"!{kind.__name__}{place}".encode()
        _tell(writer, told)
        os._exit(0)


def _tell(writer: int, told: bytes) -> None:
    with suppress(OSError):  # the parent has left
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)
        while told:
            told = told[os.write(writer, told) :]


def _read(reader: int, deadline: float) -> tuple[bytes, bool]:
    """All that the child says until it ends; False if it has not ended by then."""
    data = b""
    while (left := deadline - time.monotonic()) > 0:
        if not select.select([reader], [], [], left)[0]:
            break
        piece = os.read(reader, 65536)
        if not piece:
            return data, True
        data += piece
    return b"", False


def _in_thread(job: Callable[[], bytes], seconds: float) -> Outcome:
    """Where there is no fork: a thread, which ends with the process."""
    done: list[bytes] = []
    trouble: list[str] = []

    def work() -> None:
        done.append(job())

    def note(args: threading.ExceptHookArgs) -> None:
        trouble.append(args.exc_type.__name__)

    before, threading.excepthook = threading.excepthook, note
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(seconds)
    threading.excepthook = before
    return Outcome(done[0]) if done else Outcome(None, trouble[0] if trouble else "late")
