"""Calls of HTTP and MCP on a memory, without a server: a function of whatever has the `memory` that is asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from memctl.server.http_routes import ROUTES, Served
from memctl.server.mcp_tools import Session, offered

Call = Callable[[Any], Any]


def http(path: str, /, **body: Any) -> Call:
    """A request."""
    (route,) = (each for each in ROUTES if each.path == path)
    return lambda on: route.run(Served(on.memory).present(), route.read(body))


def mcp(name: str, /, **given: Any) -> Call:
    """A call of a tool."""
    tool = offered(True)[name]
    return lambda on: tool.run(Session(on.memory.paused(), True), **tool.read(given))
