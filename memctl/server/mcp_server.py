"""The MCP server behind `memctl mcp`: what the protocol asks for, answered by the verbs.

The protocol is spoken here and not by its SDK, which takes half a second to load; the tests ask with the SDK's own client.
Verbs run in threads, so that a slow one holds up nothing; those that write, one at a time.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from .. import __version__
from ..errors import MemctlError, NoWorkspace
from ..markdown.escape import defused
from . import mcp_tools
from .mcp_tools import INSTRUCTIONS, Session, Tool, ToolAnswer, offered
from .mcp_wire import INVALID_REQUEST, Ended, Id, Message, MessageError, Wire
from .requests import in_callers_words

_READERS = 4  # verbs that read at a time
_GRACE = 0.6  # seconds that a write may go on after the client has gone
_UNEXPECTED = (OSError, ValueError, LookupError, ArithmeticError, RecursionError, MemoryError)

_METHOD_NOT_FOUND, _INVALID_PARAMS, _INTERNAL_ERROR, _UNSUPPORTED_VERSION = -32601, -32602, -32603, -32022
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

Result = dict[str, Any]
Params = Mapping[str, Any]


def serve(session: Session) -> None:
    """Serve one client over stdin and stdout until it has gone."""
    wire = Wire()
    face = _Face(session, wire)
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


class _Face:
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
            "resources/templates/list": _Method(self._list_templates, {"cursor?": str}),
            "resources/read": _Method(self._read_resource, {"uri": str}, True),
        }

    # -- the protocol -------------------------------------------------------------------------------------------------

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
        if self._waiting.pop(str(id), None) is None:
            return
        error = job.exception()
        if error is None:
            self._wire.send(id, {"result": self._enveloped(job.result(), method)})
            return
        if not isinstance(error, MessageError):
            logging.getLogger(__name__).error("a request failed", exc_info=error)
            error = MessageError(_INTERNAL_ERROR, "unexpected; please report this")
        self._wire.send(id, {"error": error.error})

    def _method(self, name: str, params: Params) -> _Method:
        """The method, if this client may call it now and with these parameters. The first request decides the era."""
        meta = params.get("_meta")
        says_version = isinstance(meta, dict) and f"{_META}protocolVersion" in meta
        if self._modern is None:
            self._modern = name != "initialize" and says_version
        if self._modern:
            _check_envelope(name, params)
        elif says_version and name != "initialize":
            told = (
                f"this connection began with a handshake; requests with the envelope of {_MODERN} do not belong to it"
            )
            raise MessageError(INVALID_REQUEST, told)
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
        told = {"protocolVersion": version, "serverInfo": _SERVER}
        return told | _OFFERS

    # -- the memory ---------------------------------------------------------------------------------------------------

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
        wait(tuple(self._waiting.values()), _GRACE)

    def finish(self) -> None:
        """Wait a little for a write that is going on, let none begin, and let what was answered reach the client."""
        self._writing.acquire(timeout=_GRACE)
        self._wire.flush(_GRACE / 2)

    # -- tools --------------------------------------------------------------------------------------------------------

    def _call_tool(self, params: Params) -> Result:
        """What a tool answers; what goes wrong is an answer too, from which a model can learn what to do."""
        tool = self._tools.get(params["name"])
        if tool is None:
            raise MessageError(_INVALID_PARAMS, f"there is no tool {params['name'][:100]!r}")
        try:
            answer = self._run_tool(tool, params.get("arguments") or {})
        except MemctlError as error:
            return _failed(error, tool)
        except _UNEXPECTED as error:
            logging.getLogger(__name__).error("%s failed", tool.name, exc_info=error)
            return _failed(MemctlError(f"unexpected {type(error).__name__} in {tool.name}", "please report this"), tool)
        told = _content(answer.text, False)
        return told | ({"structuredContent": defused(answer.structured)} if self._session.structured else {})

    def _run_tool(self, tool: Tool, given: Mapping[str, Any]) -> ToolAnswer:
        arguments = tool.read(given)
        self._ready()
        session = replace(self._session, memory=self._session.memory.paused())
        if not tool.writes:
            return tool.run(session, **arguments)
        with self._writing:
            return tool.run(session, **arguments)

    # -- prompts ------------------------------------------------------------------------------------------------------

    def _get_prompt(self, params: Params) -> Result:
        given = params.get("arguments") or {}
        prompt, text = self._or_refuse(partial(mcp_tools.prompted, self._session, params["name"], given))
        message = {"role": "user", "content": {"type": "text", "text": defused(text)}}
        return {"description": prompt.description, "messages": [message]}

    # -- resources ----------------------------------------------------------------------------------------------------

    def _list_resources(self, params: Params) -> Result:
        start = _start(params.get("cursor"))
        found, end = self._or_refuse(partial(mcp_tools.listed, self._session, start))
        resources = [
            {"name": one.title, "uri": one.uri, "description": one.description, "mimeType": "text/markdown"}
            for one in found
        ]
        return {"resources": resources} | ({} if end is None else {"nextCursor": str(end)})

    def _list_templates(self, params: Params) -> Result:
        made = [
            {"name": name, "uriTemplate": uri, "description": told, "mimeType": "text/markdown"}
            for name, uri, told in mcp_tools.TEMPLATES
        ]
        return {"resourceTemplates": made}

    def _read_resource(self, params: Params) -> Result:
        text = self._or_refuse(partial(mcp_tools.read, self._session, params["uri"]))
        return {"contents": [{"uri": params["uri"], "mimeType": "text/markdown", "text": defused(text)}]}

    def _or_refuse(self, job: Callable[[], Any]) -> Any:
        try:
            self._ready()
            return job()
        except MemctlError as error:
            raise MessageError(_INVALID_PARAMS, "; ".join(in_callers_words(error))) from None


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
        raise MessageError(_INVALID_PARAMS, f"{keys[0]} is no string")
    if version != _MODERN:
        data = {"supported": [_MODERN], "requested": version}
        raise MessageError(_UNSUPPORTED_VERSION, "Unsupported protocol version", data)


def _start(cursor: str | None) -> int:
    if cursor is None:
        return 0
    if not (cursor.isascii() and cursor.isdecimal() and len(cursor) <= 9):
        raise MessageError(_INVALID_PARAMS, "this cursor is not known")
    return int(cursor)


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
