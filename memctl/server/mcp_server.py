"""The MCP server behind `memctl mcp`: what the protocol asks for, answered by the verbs, one JSON-RPC message a line.

The protocol is spoken here and not by its SDK, which takes half a second to load; the tests ask with the SDK's own client.
Verbs run in threads, so that a slow one holds up nothing; those that write, one at a time. A message has a largest size, and
what is none is answered. A signal ends the process at once; a client that has gone, or no longer reads, cannot keep it.
"""

from __future__ import annotations

import json
import logging
import os
import re
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import nullcontext, suppress
from dataclasses import replace
from functools import partial
from queue import SimpleQueue
from types import FrameType
from typing import Any, BinaryIO, NamedTuple

from .. import __version__
from ..errors import MemctlError, NoWorkspace
from ..markdown.escape import defused
from . import mcp_tools
from .mcp_tools import INSTRUCTIONS, Session, Tool, offered
from .requests import in_callers_words

_READERS = 4  # verbs that read at a time
GRACE = 0.6  # seconds that a write may go on after the client has gone
_UNEXPECTED = (OSError, ValueError, LookupError, ArithmeticError, RecursionError, MemoryError)

_PARSE_ERROR, _INVALID_REQUEST, _METHOD_NOT_FOUND = -32700, -32600, -32601
_INVALID_PARAMS, _INTERNAL_ERROR, _UNSUPPORTED_VERSION = -32602, -32603, -32022
_HANDSHAKE = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")  # versions that begin with `initialize`
_MODERN = "2026-07-28"  # the version in which every request says who asks
_META = "io.modelcontextprotocol/"
_SERVER = {"name": "memctl", "title": "memctl memory", "version": __version__}
_CAPABILITIES = {
    "prompts": {"listChanged": False},
    "resources": {"listChanged": False, "subscribe": False},
    "tools": {"listChanged": False},
}
_OFFERS = {"capabilities": _CAPABILITIES, "instructions": INSTRUCTIONS}
_LONGEST = 4 * 2**20  # bytes of the largest message that is read
_SECONDS = 0.9  # that the process has to end once the client has gone
_ID = rb'"id"\s*:\s*(?:(\d{1,15})|"([\w.:/-]{1,200})")'
_ID_FIRST = re.compile(rb'\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?' + _ID)
_ID_LAST = re.compile(rb",\s*" + _ID + rb'\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$')
_NO_MESSAGE = "neither a request, a notification nor a response of JSON-RPC 2.0; batches are not served"

Id = int | str
Message = dict[str, Any]
Result = dict[str, Any]
Params = Mapping[str, Any]


class MessageError(Exception):
    """Why a message gets no result, as JSON-RPC says it."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
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
                self.send(None, {"error": error.error})
        _on_signals(signal.SIG_IGN)
        _end_soon()

    def send(self, id: Id | None, answer: Mapping[str, Any]) -> None:
        """Answer a request with a result or an error. What is not a letter of Unicode goes as its number."""
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
            raw = self._stream.readline(_LONGEST)
            if len(raw) < _LONGEST or raw.endswith(b"\n"):
                return raw
            end = raw
            while not end.endswith(b"\n") and (piece := self._stream.readline(_LONGEST)):
                end = end[-400:] + piece
            told = f"a message of more than {_LONGEST:,} bytes"
            id = _id(_ID_FIRST.match(raw) or _ID_LAST.search(end[-400:]))
            self.send(id, {"error": MessageError(_INVALID_REQUEST, told).error})


def _message(line: bytes) -> Message | None:
    """The request or notification in a line; None for a response, since nothing is asked of clients."""
    try:
        sent = json.loads(line.decode("utf-8", "replace"))
        if b"\\u" in line:
            json.dumps(sent, ensure_ascii=False).encode()  # half of a pair of surrogates is not text
    except (ValueError, RecursionError):
        raise MessageError(_PARSE_ERROR, "not JSON: one message a line") from None
    if not isinstance(sent, dict) or sent.get("jsonrpc") != "2.0":
        raise MessageError(_INVALID_REQUEST, _NO_MESSAGE)
    if "method" not in sent and "id" in sent and ("result" in sent or "error" in sent):
        return None
    if "id" in sent and "method" in sent and type(sent["id"]) not in (int, str):
        raise MessageError(_INVALID_REQUEST, "the id of a request is a string or a whole number")
    if not isinstance(sent.get("method"), str) or not isinstance(sent.get("params"), dict | None):
        raise MessageError(_INVALID_REQUEST, _NO_MESSAGE)
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


def serve(session: Session) -> None:
    """Serve one client over stdin and stdout until it has gone."""
    wire = Wire()
    face = Face(session, wire)
    face.warm_up()
    with suppress(Ended):
        for message in wire.messages():
            face.take(message)
        face.answer_the_rest()
    face.finish()


class _Method(NamedTuple):
    """What answers a method. `takes` are its parameters with their types, `?` for one that may be left out."""

    run: Callable[[Params], Result]
    takes: Mapping[str, type]
    in_thread: bool = False
    cached: bool = True


class Face:
    """What a client may ask, answered by the verbs."""

    def __init__(self, session: Session, wire: Wire) -> None:
        self._session, self._wire = session, wire
        self._tools = offered(session.allow_write)
        self._readers, self._writers = ThreadPoolExecutor(_READERS), ThreadPoolExecutor(1)
        self._writing = threading.Lock()
        self._warm = threading.Event()
        self._greeted = False
        self._modern: bool | None = None  # until the first request
        self._waiting: dict[str, Future[Result]] = {}  # what is to be answered; a request that is taken back goes
        self._sent = threading.Condition()
        self._methods = {
            "ping": _Method(lambda _: {}, {}, cached=False),
            "initialize": _Method(
                self._initialize, {"protocolVersion": str, "capabilities": dict, "clientInfo": dict}, cached=False
            ),
            "server/discover": _Method(lambda _: {"supportedVersions": [_MODERN]} | _OFFERS, {}),
            "tools/list": _Method(
                lambda _: {"tools": [_as_tool(tool, session.structured) for tool in self._tools.values()]},
                {"cursor?": str},
            ),
            "tools/call": _Method(self._call_tool, {"name": str, "arguments?": dict}, True, False),
            "prompts/list": _Method(lambda _: {"prompts": [p.as_json() for p in mcp_tools.PROMPTS]}, {"cursor?": str}),
            "prompts/get": _Method(self._get_prompt, {"name": str, "arguments?": dict}, True, False),
            "resources/list": _Method(self._list_resources, {"cursor?": str}, True),
            "resources/templates/list": _Method(lambda _: {"resourceTemplates": mcp_tools.TEMPLATES}, {"cursor?": str}),
            "resources/read": _Method(self._read_resource, {"uri": str}, True),
        }

    def take(self, message: Message) -> None:
        """Take one request or notification; its answer is sent when it is there."""
        method, params = message["method"], message.get("params") or {}
        if "id" not in message:
            if method == "notifications/cancelled" and (taken := self._waiting.pop(str(params.get("requestId")), None)):
                taken.cancel()
            return
        id = message["id"]
        try:
            found = self._method(method, params)
            if not found.in_thread:
                self._wire.send(id, {"result": self._enveloped(found.run(params), found)})
                return
        except MessageError as error:
            self._wire.send(id, {"error": error.error})
            return
        tool = self._tools.get(params["name"]) if method == "tools/call" else None
        job = (self._writers if tool and tool.writes else self._readers).submit(found.run, params)
        self._waiting[str(id)] = job
        job.add_done_callback(partial(self._done, id, found))

    def _done(self, id: Id, method: _Method, job: Future[Result]) -> None:
        """Answer what a thread has done, unless the request was taken back."""
        if str(id) not in self._waiting:
            return
        try:
            self._wire.send(id, self._answer(method, job))
        finally:
            with self._sent:  # only now: who waits for a job alone may end before its answer is sent
                self._waiting.pop(str(id), None)
                self._sent.notify_all()

    def _answer(self, method: _Method, job: Future[Result]) -> Result:
        error = job.exception()
        if error is None:
            return {"result": self._enveloped(job.result(), method)}
        if isinstance(error, MemctlError):
            error = MessageError(_INVALID_PARAMS, "; ".join(in_callers_words(error)))
        elif not isinstance(error, MessageError):
            logging.getLogger(__name__).error("a request failed", exc_info=error)
            error = MessageError(_INTERNAL_ERROR, "unexpected; please report this")
        return {"error": error.error}

    def _method(self, name: str, params: Params) -> _Method:
        """The method, if this client may call it now and with these parameters. The first request decides the era."""
        meta = params.get("_meta")
        says_version = isinstance(meta, dict) and f"{_META}protocolVersion" in meta
        if self._modern is None:
            self._modern = name != "initialize" and says_version
        if self._modern:
            _check_envelope(name, params)
        elif says_version and name != "initialize":
            told = f"requests with the envelope of {_MODERN} do not belong to it"
            raise MessageError(_INVALID_REQUEST, f"this connection began with a handshake; {told}")
        found = self._methods.get(name)
        if found is None or name in (("ping", "initialize") if self._modern else ("server/discover",)):
            raise MessageError(_METHOD_NOT_FOUND, "Method not found", name[:200])
        if not (self._modern or self._greeted or name in ("ping", "initialize")):
            raise MessageError(_INVALID_PARAMS, "call initialize first")
        for parameter, kind in found.takes.items():
            value = params.get(parameter.rstrip("?"))
            if not isinstance(value, kind) and not (value is None and parameter.endswith("?")):
                told = f"{parameter.rstrip('?')} of {name} is {'a text' if kind is str else 'an object'}"
                raise MessageError(_INVALID_PARAMS, told)
        return found

    def _enveloped(self, result: Result, method: _Method) -> Result:
        if not self._modern:
            return result
        told = {"ttlMs": 0, "cacheScope": "private"} if method.cached else {}
        return result | told | {"resultType": "complete", "_meta": {f"{_META}serverInfo": _SERVER}}

    def _initialize(self, params: Params) -> Result:
        client = params["clientInfo"]
        if not (isinstance(client.get("name"), str) and isinstance(client.get("version"), str)):
            raise MessageError(_INVALID_PARAMS, "clientInfo has a name and a version")
        asked = params["protocolVersion"]
        self._greeted = True
        version = asked if asked in _HANDSHAKE else _HANDSHAKE[-1]
        return {"protocolVersion": version, "serverInfo": _SERVER} | _OFFERS

    def warm_up(self) -> None:
        """Bring the index up to date while the client introduces itself: calls that come together would not wait for one
        another, and those that find it half made would find nothing."""

        def warm() -> None:
            with suppress(MemctlError, *_UNEXPECTED):  # the first call will say it
                self._session.memory.warm()
            self._warm.set()

        threading.Thread(target=warm, daemon=True).start()

    def _ready(self) -> None:
        """Before any verb: the folder is there, and the first sync is done or has had its time."""
        workspace = self._session.memory.workspace
        if not workspace.root.is_dir():
            raise NoWorkspace(workspace.root, named=True)
        self._warm.wait(workspace.settings.sync_seconds)

    def answer_the_rest(self) -> None:
        """Wait a little for what was asked before the client closed its end: it may still read, such as behind a pipe."""
        with self._sent:
            self._sent.wait_for(lambda: not self._waiting, GRACE)

    def finish(self) -> None:
        """Wait a little for a write that is going on, let none begin, and let what was answered reach the client."""
        self._writing.acquire(timeout=GRACE)
        self._wire.flush(GRACE / 2)

    def _call_tool(self, params: Params) -> Result:
        """What a tool answers; what goes wrong is an answer too, from which a model can learn what to do."""
        tool = self._tools.get(params["name"])
        if tool is None:
            what = f"there is no tool {params['name'][:100]!r}"
            if params["name"] in offered(True):
                what += (
                    "; this server only reads: whoever runs it may let it write (docs/mcp.md), or use the command line"
                )
            raise MessageError(_INVALID_PARAMS, what)
        try:
            arguments = tool.read(params.get("arguments") or {})
            self._ready()
            session = replace(self._session, memory=self._session.memory.paused())
            with self._writing if tool.writes else nullcontext():
                answer = tool.run(session, **arguments)
        except MemctlError as error:
            return _failed(error, tool)
        except _UNEXPECTED as error:
            logging.getLogger(__name__).error("%s failed", tool.name, exc_info=error)
            return _failed(MemctlError(f"unexpected {type(error).__name__} in {tool.name}", "please report this"), tool)
        structured = {"structuredContent": defused(answer.structured)} if self._session.structured else {}
        return _content(answer.text, False) | structured

    def _get_prompt(self, params: Params) -> Result:
        self._ready()
        prompt, text = mcp_tools.prompted(self._session, params["name"], params.get("arguments") or {})
        message = {"role": "user", "content": {"type": "text", "text": defused(text)}}
        return {"description": prompt.description, "messages": [message]}

    def _list_resources(self, params: Params) -> Result:
        cursor = "0" if params.get("cursor") is None else params["cursor"]
        if not (cursor.isascii() and cursor.isdecimal() and len(cursor) <= 9):
            raise MessageError(_INVALID_PARAMS, "this cursor is not known")
        self._ready()
        found, end = mcp_tools.list_resources(self._session, int(cursor))
        return {"resources": found} | ({} if end is None else {"nextCursor": str(end)})

    def _read_resource(self, params: Params) -> Result:
        self._ready()
        text = mcp_tools.read_resource(self._session, params["uri"])
        return {"contents": [{"uri": params["uri"], "mimeType": "text/markdown", "text": defused(text)}]}


def _check_envelope(name: str, params: Params) -> None:
    """Refuse a request without what each of the modern era says of itself."""
    if name == "initialize":
        asked = params.get("protocolVersion")
        data = {"supported": [_MODERN]} | ({"requested": asked} if isinstance(asked, str) else {})
        raise MessageError(_UNSUPPORTED_VERSION, f"this connection speaks {_MODERN}, without a handshake", data)
    meta = params.get("_meta")
    keys = (f"{_META}protocolVersion", f"{_META}clientCapabilities")
    if missing := [key for key in keys if not isinstance(meta, dict) or key not in meta]:
        raise MessageError(_INVALID_PARAMS, f"params._meta lacks {', '.join(missing)}")
    version = params["_meta"][keys[0]]
    if not isinstance(version, str):
        raise MessageError(_INVALID_PARAMS, f"{keys[0]} is not a string")
    if version != _MODERN:
        data = {"supported": [_MODERN], "requested": version}
        raise MessageError(_UNSUPPORTED_VERSION, "Unsupported protocol version", data)


def _as_tool(tool: Tool, structured: bool) -> Result:
    hints = {
        "title": tool.title, "readOnlyHint": not tool.writes, "destructiveHint": tool.destroys,
        "idempotentHint": True, "openWorldHint": False,
    }  # fmt: skip
    told = {"name": tool.name, "title": tool.title, "description": tool.description, "inputSchema": tool.input_schema}
    return told | ({"outputSchema": dict(tool.answers)} if structured else {}) | {"annotations": hints}


def _content(text: str, is_error: bool) -> Result:
    return {"content": [{"type": "text", "text": defused(text)}], "isError": is_error}


def _failed(error: MemctlError, tool: Tool) -> Result:
    """An error as two lines. No structured content: some clients would hold it to the schema of an answer."""
    what, cure = in_callers_words(error, tool.takes)
    return _content(f"{what[:1000]}\n{cure[:300]}", True)
