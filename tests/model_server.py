"""A local model as a test needs it: a real HTTP server on this machine that answers as it is told."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Act = Callable[[BaseHTTPRequestHandler, dict[str, Any]], None]


def completion(content: Any) -> bytes:
    """A chat completion with this content; what is no text is spelled as JSON."""
    text = content if isinstance(content, str) else json.dumps(content)
    return json.dumps({"choices": [{"message": {"role": "assistant", "content": text}}]}).encode()


def saying(content: Any, status: int = 200) -> Act:
    """A server that answers so."""

    def act(handler: BaseHTTPRequestHandler, _: dict[str, Any]) -> None:
        body = content if isinstance(content, bytes) else completion(content)
        handler.send_response(status)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    return act


@contextmanager
def server(act: Act) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """A real HTTP server on this machine, and the requests that it was sent."""
    seen: list[dict[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            seen.append({"path": self.path, "headers": dict(self.headers), **asked})
            with suppress(OSError):  # the client had enough
                act(self, asked)

        def log_message(self, *_: Any) -> None:
            pass

    listening = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    listening.daemon_threads = True
    threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{listening.server_port}/v1", seen
    finally:
        listening.shutdown()
        listening.server_close()
