"""The wire of `memctl mcp`: one JSON-RPC message a line on stdin and stdout, through the SDK's own transport.

What this adds to it: a message has a largest size, what is none is answered instead of dropped, a signal ends it at once,
and a client that has gone, or no longer reads, cannot keep the process.
"""

from __future__ import annotations

import json
import os
import re
import signal
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import BinaryIO, cast

import anyio
import anyio.abc
import anyio.to_thread
from anyio.streams.memory import MemoryObjectReceiveStream
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp_types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError, RequestId
from pydantic import ValidationError

LONGEST = 4 * 2**20
"""Bytes of the largest message that is read."""
_SECONDS = 0.9  # that the process has to end once the client has gone
_ID = rb'"id"\s*:\s*(?:(\d{1,15})|"([\w.:/-]{1,200})")'
_ID_FIRST = re.compile(rb'\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?' + _ID)
_ID_LAST = re.compile(rb",\s*" + _ID + rb'\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$')

Streams = tuple[MemoryObjectReceiveStream[SessionMessage | Exception], anyio.abc.ObjectSendStream[SessionMessage]]


@asynccontextmanager
async def wire() -> AsyncIterator[Streams]:
    """The streams of messages from and to the client, until it has gone or a signal ends them."""
    lines = _Lines(_take_stdin())
    with anyio.CancelScope() as everything:
        async with stdio_server(stdin=cast("anyio.AsyncFile[str]", lines)) as (read, write):
            send, receive = anyio.create_memory_object_stream[SessionMessage | Exception](0)

            async def answer(id: RequestId | None, code: int, message: str) -> None:
                error = JSONRPCError(jsonrpc="2.0", id=id, error=ErrorData(code=code, message=message))
                with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
                    await write.send(SessionMessage(error))

            async def relay() -> None:
                with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
                    async with send:
                        async for item in read:
                            if isinstance(item, Exception):
                                await answer(None, *_complaint(item))
                            else:
                                await send.send(item)

            lines.refuse = answer
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(relay)
                tasks.start_soon(_until_signalled, everything)
                yield receive, cast("anyio.abc.ObjectSendStream[SessionMessage]", write)
                tasks.cancel_scope.cancel()
            if not lines.ended:
                everything.cancel()  # the next line may never come


def _complaint(error: Exception) -> tuple[int, str]:
    """Why a line is not a message."""
    if isinstance(error, ValidationError) and error.errors(include_url=False)[0]["type"] == "json_invalid":
        return PARSE_ERROR, "not JSON: one message a line"
    return INVALID_REQUEST, "neither a request, a notification nor a response of JSON-RPC 2.0; batches are not served"


async def _until_signalled(scope: anyio.CancelScope) -> None:
    """End everything on SIGTERM or SIGINT, where there are signals."""
    with suppress(NotImplementedError), anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
        async for _ in signals:
            _end_soon()
            scope.cancel()


def _end_soon() -> None:
    """End the process in a second, whatever hangs: what is on disk is whole at any moment."""
    timer = threading.Timer(_SECONDS, os._exit, (0,))
    timer.daemon = True
    timer.start()


def _take_stdin() -> BinaryIO:
    """Standard input for ourselves alone: whatever else reads it, a child process too, finds nothing there."""
    ours = os.dup(0)
    os.set_inheritable(ours, False)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return open(ours, "rb", closefd=False)  # a thread may still be reading it when all else is over


class _TooLong(Exception):
    """A line over the limit; `id` is that of the request in it, if it can be told."""

    def __init__(self, id: RequestId | None) -> None:
        self.id = id


class _Lines:
    """The lines of a stream, as the SDK's transport wants them: each read in a thread that may be abandoned."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.ended = False
        self.refuse: Callable[[RequestId | None, int, str], Awaitable[None]] | None = None

    def __aiter__(self) -> _Lines:
        return self

    async def __anext__(self) -> str:
        while True:
            try:
                line = await anyio.to_thread.run_sync(self._line, abandon_on_cancel=True)
            except _TooLong as error:
                if self.refuse:
                    await self.refuse(error.id, INVALID_REQUEST, f"a message of more than {LONGEST:,} bytes")
                continue
            if not line:
                self.ended = True
                _end_soon()
                raise StopAsyncIteration
            if _has_bad_id(line) and self.refuse:
                await self.refuse(None, INVALID_REQUEST, "the id of a request is a string or a whole number")
            elif line.strip():
                return line

    def _line(self) -> str:
        raw = self._stream.readline(LONGEST)
        if len(raw) < LONGEST or raw.endswith(b"\n"):
            return raw.decode("utf-8", "replace")
        head = end = raw
        while not end.endswith(b"\n") and (piece := self._stream.readline(LONGEST)):
            end = end[-400:] + piece
        raise _TooLong(_id(_ID_FIRST.match(head) or _ID_LAST.search(end[-400:])))


def _has_bad_id(line: str) -> bool:
    """True for a message with an id that no answer could bear: the SDK would drop it, or answer another one."""
    if '"id"' not in line:
        return False
    try:
        sent = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return isinstance(sent, dict) and "id" in sent and "method" in sent and type(sent["id"]) not in (int, str)


def _id(match: re.Match[bytes] | None) -> RequestId | None:
    return None if match is None else int(match[1]) if match[1] else match[2].decode()
