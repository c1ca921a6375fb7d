"""What the MCP tests share: `memctl mcp` as a process of its own, asked by the SDK's client or by raw lines."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from face_helpers import NOW
from store_helpers import environment

if TYPE_CHECKING:  # the SDK takes a second to load, and every process of the tests collects this file
    from anyio.from_thread import BlockingPortal
    from mcp import Client
    from mcp_types import CallToolResult

ROOT = Path(__file__).parent.parent
T = TypeVar("T")
SECONDS = 60.0  # the longest that a test waits for an answer: a loaded machine is no bug


class Asker:
    """The SDK's own client, for tests that are no coroutines."""

    def __init__(self, portal: BlockingPortal, client: Client) -> None:
        self._portal, self.client = portal, client

    def wait(self, job: Callable[..., Awaitable[T]], *arguments: object) -> T:
        """What a coroutine of the client returns."""
        return self._portal.call(job, *arguments)

    def call(self, tool: str, /, **arguments: Any) -> CallToolResult:
        """A tool's answer; one that does not fit its output schema is a RuntimeError of the client."""
        return self.wait(self.client.call_tool, tool, arguments)

    def read(self, uri: str) -> str:
        """The text of a resource."""
        (contents,) = self.wait(self.client.read_resource, uri).contents
        assert contents.mime_type == "text/markdown"
        return str(contents.text)  # type: ignore[union-attr]


def text_of(result: CallToolResult) -> str:
    """What a model reads of an answer."""
    (block,) = result.content
    assert block.type == "text"
    return block.text


def refusal() -> type[Exception]:
    """What the SDK raises for an error of the protocol."""
    from mcp.shared.exceptions import MCPError

    return MCPError


@contextmanager
def connected(root: Path, *flags: str, mode: str = "auto") -> Iterator[Asker]:
    """A client of a server for this workspace; `mode` is the era of the protocol."""
    from anyio.from_thread import start_blocking_portal
    from mcp import Client, StdioServerParameters, stdio_client

    words = ["-m", "memctl", "mcp", "-w", str(root), *flags]
    server = StdioServerParameters(command=sys.executable, args=words, env=environment(MEMCTL_NOW=NOW), cwd=root)
    with open(os.devnull, "w") as nowhere, start_blocking_portal() as portal:
        client = Client(stdio_client(server, errlog=nowhere), mode=mode, read_timeout_seconds=SECONDS)  # type: ignore[arg-type]
        with portal.wrap_async_context_manager(client):
            yield Asker(portal, client)


class Wire:
    """The server at the other end of two pipes, spoken to in lines."""

    def __init__(self, root: Path, *flags: str, program: str = "") -> None:
        words = ["-c", program] if program else ["-m", "memctl"]
        self.process = subprocess.Popen(
            [sys.executable, *words, "mcp", "-w", str(root), *flags],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(MEMCTL_NOW=NOW), cwd=root,
        )  # fmt: skip
        self.answers: dict[object, dict[str, Any]] = {}
        self.nameless: list[dict[str, Any]] = []
        self.strays: list[bytes] = []
        self.errors = b""
        self._news = threading.Condition()
        self._readers = [threading.Thread(target=job, daemon=True) for job in (self._read, self._read_errors)]
        for reader in self._readers:
            reader.start()

    def _read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            with self._news:
                self._take(line)
                self._news.notify_all()

    def _take(self, line: bytes) -> None:
        try:
            message = json.loads(line)
        except ValueError:
            self.strays.append(line)
            return
        if message.get("jsonrpc") != "2.0":
            self.strays.append(line)
        elif message.get("id") is None:
            self.nameless.append(message)
        else:
            self.answers[message["id"]] = message

    def _read_errors(self) -> None:
        assert self.process.stderr
        self.errors = self.process.stderr.read()

    def send(self, message: Mapping[str, Any] | bytes) -> None:
        """One line to the server."""
        assert self.process.stdin
        line = message if isinstance(message, bytes) else json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def answer(self, id: object) -> dict[str, Any]:
        """The answer to the request with this id."""
        with self._news:
            assert self._news.wait_for(lambda: id in self.answers, SECONDS), (id, self.errors)
            return self.answers[id]

    def complaints(self, count: int) -> list[dict[str, Any]]:
        """So many answers without an id."""
        with self._news:
            assert self._news.wait_for(lambda: len(self.nameless) >= count, SECONDS), (count, self.nameless)
            return self.nameless

    def ask(self, id: object, method: str, params: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The answer to a request."""
        self.send({"id": id, "method": method} | ({} if params is None else {"params": params}))
        return self.answer(id)

    def greet(self, version: str = "2025-06-18") -> dict[str, Any]:
        """The handshake."""
        hello = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "tests", "version": "1"}}
        told = self.ask("hello", "initialize", hello)
        self.send({"method": "notifications/initialized"})
        return told

    def leave(self) -> int:
        """Close standard input and wait; the exit code."""
        assert self.process.stdin
        self.process.stdin.close()
        return self.wait()

    def wait(self) -> int:
        """Wait until the process has ended by itself; its exit code."""
        try:
            code = self.process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        for reader in self._readers:
            reader.join(SECONDS)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream:
                stream.close()
        return code
