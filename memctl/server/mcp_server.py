"""The MCP server behind `memctl mcp`: what the SDK asks for, answered by the verbs.

Verbs run in threads, so that a slow one holds up nothing; those that write, one at a time.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

import anyio
import anyio.to_thread
import mcp_types as types
from mcp import MCPError
from mcp.server import Server

from .. import __version__
from ..errors import MemctlError, NoWorkspace
from ..markdown.escape import defused, one_line
from . import mcp_tools
from .mcp_tools import INSTRUCTIONS, Session, Tool, ToolAnswer, offered
from .mcp_wire import wire

T = TypeVar("T")
_READERS = 4  # verbs that read at a time
_GRACE = 0.6  # seconds that a write may go on after the client has gone
_UNEXPECTED = (OSError, ValueError, LookupError, ArithmeticError, RecursionError, MemoryError)


def serve(session: Session) -> None:
    """Serve one client over stdin and stdout until it has gone."""
    face = _Face(session)
    try:
        anyio.run(face.serve)
    except* ConnectionError:
        pass  # gone without reading to the end
    face.finish()


class _Face:
    """What the SDK asks of a server, answered by the verbs."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._tools = offered(session.allow_write)
        self._readers, self._writers = anyio.CapacityLimiter(_READERS), anyio.CapacityLimiter(1)
        self._writing = threading.Lock()
        self._warm = threading.Event()

    async def serve(self) -> None:
        """Serve until the client has gone."""
        server = self._server()
        threading.Thread(target=self._warm_up, daemon=True).start()
        async with wire() as (read, write):
            await server.run(read, write, server.create_initialization_options())

    def _warm_up(self) -> None:
        """Bring the index up to date while the client introduces itself: calls that come together would not wait for one
        another, and those that find it half made would find nothing."""
        with suppress(MemctlError, *_UNEXPECTED):  # the first call will say it
            self._session.memory.warm()
        self._warm.set()

    def _ready(self) -> None:
        """Before any verb: the folder is there, and the first sync is done or has had its time."""
        workspace = self._session.memory.workspace
        if not workspace.root.is_dir():
            raise NoWorkspace(workspace.root, named=True)
        self._warm.wait(workspace.settings.sync_seconds)

    def finish(self) -> None:
        """Wait a little for a write that is going on, and let none begin."""
        self._writing.acquire(timeout=_GRACE)

    def _server(self) -> Server[Any]:
        server: Server[Any] = Server(
            "memctl", version=__version__, title="memctl memory", instructions=INSTRUCTIONS,
            on_list_tools=self._list_tools, on_call_tool=self._call_tool, on_list_resources=self._list_resources,
            on_list_resource_templates=self._list_templates, on_read_resource=self._read_resource,
        )  # fmt: skip
        server.middleware.clear()  # telemetry, which would tell whatever exporter is installed of every question
        return server

    async def _in_thread(self, job: Callable[[], T], writes: bool = False) -> T:
        limiter = self._writers if writes else self._readers
        return await anyio.to_thread.run_sync(job, abandon_on_cancel=True, limiter=limiter)

    # -- tools --------------------------------------------------------------------------------------------------------

    async def _list_tools(self, context: Any, params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_as_tool(tool, self._session.structured) for tool in self._tools.values()])

    async def _call_tool(self, context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        tool = self._tools.get(params.name)
        if tool is None:
            raise MCPError(types.INVALID_PARAMS, f"there is no tool {params.name[:100]!r}")
        return await self._in_thread(partial(self._answer, tool, params.arguments or {}), tool.writes)

    def _answer(self, tool: Tool, given: Mapping[str, Any]) -> types.CallToolResult:
        """What a tool answers; what goes wrong is an answer too, from which a model can learn what to do."""
        try:
            answer = self._run_tool(tool, given)
        except MemctlError as error:
            return _failed(error)
        except _UNEXPECTED as error:
            logging.getLogger(__name__).error("%s failed", tool.name, exc_info=error)
            return _failed(MemctlError(f"unexpected {type(error).__name__} in {tool.name}", "please report this"))
        structured = defused(answer.structured) if self._session.structured else None
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=defused(answer.text))], structured_content=structured
        )

    def _run_tool(self, tool: Tool, given: Mapping[str, Any]) -> ToolAnswer:
        arguments = tool.read(given)
        self._ready()
        session = replace(self._session, memory=self._session.memory.paused())
        if not tool.writes:
            return tool.run(session, **arguments)
        with self._writing:
            return tool.run(session, **arguments)

    # -- resources ----------------------------------------------------------------------------------------------------

    async def _list_resources(
        self, context: Any, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        start = _start(params.cursor if params else None)
        found, end = await self._in_thread(partial(self._or_refuse, partial(mcp_tools.listed, self._session, start)))
        resources = [
            types.Resource(name=one.title, uri=one.uri, description=one.description, mime_type="text/markdown")
            for one in found
        ]
        return types.ListResourcesResult(resources=resources, next_cursor=None if end is None else str(end))

    async def _list_templates(self, context: Any, params: Any) -> types.ListResourceTemplatesResult:
        made = [
            types.ResourceTemplate(name=name, uri_template=uri, description=told, mime_type="text/markdown")
            for name, uri, told in mcp_tools.TEMPLATES
        ]
        return types.ListResourceTemplatesResult(resource_templates=made)

    async def _read_resource(self, context: Any, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        text = await self._in_thread(partial(self._or_refuse, partial(mcp_tools.read, self._session, params.uri)))
        contents = types.TextResourceContents(uri=params.uri, mime_type="text/markdown", text=defused(text))
        return types.ReadResourceResult(contents=[contents])

    def _or_refuse(self, job: Callable[[], T]) -> T:
        try:
            self._ready()
            return job()
        except MemctlError as error:
            raise MCPError(types.INVALID_PARAMS, f"{one_line(error.what)}; {one_line(error.cure)}") from None


def _start(cursor: str | None) -> int:
    if cursor is None:
        return 0
    if not (cursor.isascii() and cursor.isdecimal() and len(cursor) <= 9):
        raise MCPError(types.INVALID_PARAMS, "this cursor is not known")
    return int(cursor)


def _as_tool(tool: Tool, structured: bool) -> types.Tool:
    hints = types.ToolAnnotations(
        title=tool.title, read_only_hint=not tool.writes, destructive_hint=tool.destroys,
        idempotent_hint=True, open_world_hint=False,
    )  # fmt: skip
    return types.Tool(
        name=tool.name, title=tool.title, description=tool.description, input_schema=tool.input_schema,
        output_schema=dict(tool.answers) if structured else None, annotations=hints,
    )  # fmt: skip


def _failed(error: MemctlError) -> types.CallToolResult:
    """An error as two lines. No structured content: some clients would hold it to the schema of an answer."""
    text = f"{one_line(error.what)[:1000]}\n{one_line(error.cure)[:300]}"
    return types.CallToolResult(content=[types.TextContent(type="text", text=defused(text))], is_error=True)
