"""The wire of `memctl mcp`: one JSON-RPC message a line on stdin and stdout.

A message has a largest size, what is none is answered instead of dropped, a signal ends it at once, and a client that has
gone, or no longer reads, cannot keep the process.
"""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import suppress
from queue import SimpleQueue
from types import FrameType
from typing import Any, BinaryIO

LONGEST = 4 * 2**20
"""Bytes of the largest message that is read."""
PARSE_ERROR, INVALID_REQUEST = -32700, -32600
_SECONDS = 0.9  # that the process has to end once the client has gone
_ID = rb'"id"\s*:\s*(?:(\d{1,15})|"([\w.:/-]{1,200})")'
_ID_FIRST = re.compile(rb'\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?' + _ID)
_ID_LAST = re.compile(rb",\s*" + _ID + rb'\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$')
_NO_MESSAGE = "neither a request, a notification nor a response of JSON-RPC 2.0; batches are not served"

Id = int | str
Message = dict[str, Any]


class MessageError(Exception):
    """Why a message gets no result, as JSON-RPC says it; `id` is that of the request, where it can be told."""

    def __init__(self, code: int, message: str, data: Any = None, id: Id | None = None) -> None:
        super().__init__(message)
        self.id = id
        self.error = {"code": code, "message": message} | ({} if data is None else {"data": data})


class Ended(BaseException):
    """A signal came: nothing more is read, nothing more is begun."""


class Wire:
    """The messages from and to one client. Sent ones are written by a thread: a client that does not read stops only it."""

    def __init__(self) -> None:
        self._stream = _take(0, os.O_RDONLY)
        self._out = _take(1, os.O_WRONLY)
        self._outgoing: SimpleQueue[bytes | threading.Event] = SimpleQueue()
        threading.Thread(target=self._write, daemon=True).start()

    def messages(self) -> Iterator[Message]:
        """The requests and notifications of the client, until it has gone. Others are answered here. A signal is Ended."""
        _on_signals(_end)
        while line := self._line():
            try:
                if line.strip() and (message := _message(line)) is not None:
                    yield message
            except MessageError as error:
                self.send(error.id, {"error": error.error})
        _on_signals(signal.SIG_IGN)
        _end_soon()

    def send(self, id: Id | None, answer: Mapping[str, Any]) -> None:
        """Answer a request with a result or an error. What is no letter of Unicode goes as its number."""
        text = json.dumps({"jsonrpc": "2.0", "id": id, **answer}, ensure_ascii=False, separators=(",", ":"))
        self._outgoing.put(text.encode("utf-8", "backslashreplace") + b"\n")

    def flush(self, seconds: float) -> None:
        """Wait until what was sent is written, at most so long."""
        written = threading.Event()
        self._outgoing.put(written)
        written.wait(seconds)

    def _write(self) -> None:
        while True:
            told = self._outgoing.get()
            if isinstance(told, threading.Event):
                told.set()
                continue
            with suppress(OSError):  # gone without reading to the end
                while told:
                    told = told[os.write(self._out.fileno(), told) :]

    def _line(self) -> bytes:
        """The next line; empty at the end. One over the limit is answered and passed over."""
        while True:
            raw = self._stream.readline(LONGEST)
            if len(raw) < LONGEST or raw.endswith(b"\n"):
                return raw
            end = raw
            while not end.endswith(b"\n") and (piece := self._stream.readline(LONGEST)):
                end = end[-400:] + piece
            told = f"a message of more than {LONGEST:,} bytes"
            error = MessageError(INVALID_REQUEST, told, id=_id(_ID_FIRST.match(raw) or _ID_LAST.search(end[-400:])))
            self.send(error.id, {"error": error.error})


def _message(line: bytes) -> Message | None:
    """The request or notification in a line; None for a response, since nothing is asked of clients."""
    try:
        sent = json.loads(line.decode("utf-8", "replace"))
        if b"\\u" in line:
            json.dumps(sent, ensure_ascii=False).encode()  # half of a pair of surrogates is no text
    except (ValueError, RecursionError):
        raise MessageError(PARSE_ERROR, "not JSON: one message a line") from None
    if not isinstance(sent, dict) or sent.get("jsonrpc") != "2.0":
        raise MessageError(INVALID_REQUEST, _NO_MESSAGE)
    if "method" not in sent and "id" in sent and ("result" in sent or "error" in sent):
        return None
    if "id" in sent and "method" in sent and type(sent["id"]) not in (int, str):
        raise MessageError(INVALID_REQUEST, "the id of a request is a string or a whole number")
    if not isinstance(sent.get("method"), str) or not isinstance(sent.get("params"), dict | None):
        raise MessageError(INVALID_REQUEST, _NO_MESSAGE)
    return sent


def _on_signals(handler: Any) -> None:
    for number in (signal.SIGTERM, signal.SIGINT):
        with suppress(ValueError):  # not in the main thread
            signal.signal(number, handler)


def _end(number: int, frame: FrameType | None) -> None:
    _on_signals(signal.SIG_IGN)
    _end_soon()
    raise Ended


def _end_soon() -> None:
    """End the process in a second, whatever hangs: what is on disk is whole at any moment."""
    timer = threading.Timer(_SECONDS, os._exit, (0,))
    timer.daemon = True
    timer.start()


def _take(number: int, how: int) -> BinaryIO:
    """Standard input or output for ourselves alone: whatever else uses it, a child process too, meets nothing there."""
    if number:
        sys.stdout.flush()
    ours = os.dup(number)
    os.set_inheritable(ours, False)
    nothing = os.open(os.devnull, how)
    os.dup2(nothing, number)
    os.close(nothing)
    return open(ours, "wb" if number else "rb", closefd=False)  # a thread may still be at it when all else is over


def _id(match: re.Match[bytes] | None) -> Id | None:
    return None if match is None else int(match[1]) if match[1] else match[2].decode()
