"""What the tests of `memctl serve` share: a server in a thread, a client that sends any bytes, and the command as a process."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from face_helpers import NOW

from memctl.index.resident import Resident
from memctl.memory import Memory
from memctl.notes.workspace import Workspace
from memctl.server.http_app import Gate, application, listen, run
from memctl.server.http_routes import Served

TOKEN = "t" * 43


@dataclass(frozen=True, slots=True)
class Reply:
    """One response: its status, its headers in lower case, its body."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)


@dataclass(slots=True)
class Running:
    """A server that runs, and how to ask it."""

    port: int
    token: str = TOKEN
    log: list[str] = field(default_factory=list)

    @property
    def url(self) -> str:
        """Where it is."""
        return f"http://127.0.0.1:{self.port}"

    def connect(self) -> socket.socket:
        """A connection of one's own."""
        return socket.create_connection(("127.0.0.1", self.port), timeout=20)

    def send(self, data: bytes) -> Reply:
        """What comes back for these bytes."""
        with self.connect() as made:
            with suppress(BrokenPipeError, ConnectionResetError):  # refused before all was sent: the answer is there
                made.sendall(data)
            return read_reply(made)

    def get(self, path: str, **headers: str) -> Reply:
        """A GET with the token."""
        return self.send(request("GET", path, self.headers(**headers)))

    def delete(self, path: str, **headers: str) -> Reply:
        """A DELETE with the token."""
        return self.send(request("DELETE", path, self.headers(**headers)))

    def post(self, path: str, body: object, **headers: str) -> Reply:
        """A POST of JSON (bytes go as they are) with the token."""
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        return self.send(request("POST", path, self.headers(**{"Content-Type": "application/json", **headers}), data))

    def headers(self, **more: str) -> dict[str, str]:
        """The usual headers."""
        return {"Host": f"127.0.0.1:{self.port}", "Authorization": f"Bearer {self.token}"} | more


def request(method: str, path: str, headers: Mapping[str, str], body: bytes | None = None) -> bytes:
    """The bytes of a request."""
    lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items() if value is not None)]
    if body is not None:
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join([*lines, "Connection: close", "", ""]).encode("latin-1") + (body or b"")


def read_reply(made: socket.socket) -> Reply:
    """One response; status 0 where the connection ended without one."""
    data = b""
    try:
        while b"\r\n\r\n" not in data and (piece := made.recv(65536)):
            data += piece
        head, _, body = data.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines[1:])}
        length = int(headers.get("content-length", 0))
        while len(body) < length and (piece := made.recv(65536)):
            body += piece
    except ConnectionResetError:
        return Reply(0, {}, b"")
    return Reply(int(lines[0].split()[1]), headers, body[:length]) if lines[0] else Reply(0, {}, b"")


@contextmanager
def serving(
    workspace: Workspace, read_only: bool = False, now: Callable[[], datetime] | None = None
) -> Iterator[Running]:
    """A server of a workspace in a thread of this process, on a free port."""
    at = listen("127.0.0.1", 0)
    made = Running(at.getsockname()[1])
    stop: list[Callable[[], None]] = []
    is_ready = threading.Event()

    def ready(stopping: Callable[[], None]) -> None:
        stop.append(stopping)
        is_ready.set()

    workspace = workspace.without_model()
    clock = now or (lambda: datetime.fromisoformat(NOW))
    with Memory(workspace, clock, resident=Resident(workspace)) as memory:
        served = Served(memory, read_only)
        app, verbs = application(served, Gate(made.port, TOKEN.encode()), made.log.append)
        thread = threading.Thread(target=run, args=(app, verbs, at, ready))
        thread.start()
        try:
            is_ready.wait(10)
            yield made
        finally:
            stop[0]()
            thread.join(20)
            assert not thread.is_alive()


@contextmanager
def serve_process(root: Path, *options: str) -> Iterator[tuple[subprocess.Popen[str], Running]]:
    """`memctl serve` as a process of its own, on a free port; killed at the end if it still runs."""
    process = subprocess.Popen(
        [sys.executable, "-m", "memctl", "serve", "--port", "0", "--json", *options], cwd=root, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=os.environ | {"MEMCTL_NOW": NOW, "MEMCTL_VECTORS": "none"},
    )  # fmt: skip
    try:
        assert process.stdout
        told = json.loads(process.stdout.readline())
        token = Path(told["token_file"]).read_text(encoding="ascii").strip()
        yield process, Running(int(told["url"].rpartition(":")[2]), token)
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()
