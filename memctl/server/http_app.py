"""`memctl serve`: the verbs over HTTP on this machine. The only user of starlette, uvicorn and sockets.

What a request must be before anything looks at what it asks: exact Host and Origin, the token, JSON of a bounded size.
Verbs run in threads: those that read beside each other; those that write one at a time and apart, and those that ask another
server, so that no reader waits for a writer or for that server.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
import secrets
import signal
import socket
import threading
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from types import FrameType
from typing import Any, NamedTuple
from urllib.parse import parse_qs

import uvicorn
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route as Path
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from ..errors import CannotWrite, MemctlError, PortBusy, Usage
from ..markdown.escape import defused
from ..system import REUSES_PORTS
from .http_routes import PAGE_POLICY, ROUTES, Route, Served, openapi, page
from .requests import in_callers_words

LARGEST = 1024 * 1024  # bytes of a body
_THREADS = {"read": 4, "write": 1, "shared": 4}  # verbs of each kind at a time
WAITING = 64  # requests that may wait for each of them
CONNECTIONS = 128
HEAD_SECONDS = 10.0  # within which the head of a request comes
BODY_SECONDS = 10.0  # and its body
_DRAINED, _DRAIN_SECONDS = 8 * LARGEST, 2.0  # what is taken in of a body that was refused
_GRACE = 10  # seconds that running requests are given when the server stops

_ALWAYS = {
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
}

# -- the gate ---------------------------------------------------------------------------------------------------------
# Decisions over the head of a request: a page on the web can send requests to this machine, but none that pass.


class HttpRefusal(Exception):
    """Why a request is not answered: the status, a line what, a line what to do; `code` is the command line's exit code."""

    def __init__(self, status: int, what: str, cure: str, code: int | None = None, **headers: str) -> None:
        super().__init__(what)
        self.status = status
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}
        self.body: dict[str, Any] = {"error": what, "cure": cure} | ({} if code is None else {"code": code})


_STATUS = {1: 404, 2: 422, 10: 503, 11: 422, 12: 409, 13: 422, 14: 503, 15: 422, 16: 501, 17: 503}


class Gate(NamedTuple):
    """What one server lets through: the names that it goes by, with the port, its token, and the key of the pages to look at."""

    port: int
    token: bytes
    view_key: bytes = b""

    def check_head(self, headers: Headers, open_to_all: bool) -> None:
        """HttpRefusal for the head of a request that does not pass.

        A name in DNS that leads here sends its own Host, a page in a browser its own Origin: neither is ours.
        """
        if "transfer-encoding" in headers and "content-length" in headers:  # where would the next head begin?
            cure = "send Content-Length or chunks, not both"
            raise HttpRefusal(400, "the body has two lengths", cure, Connection="close")
        host = [name.lower() for name in headers.getlist("host")]
        names = ("127.0.0.1", "localhost", "[::1]")
        ours = {f"{name}:{self.port}" for name in names} | {*(names if self.port == 80 else ())}
        if len(host) != 1 or host[0] not in ours:
            raise HttpRefusal(421, "the Host is not a name of this server", f"ask http://127.0.0.1:{self.port}")
        if headers.getlist("origin") not in ([], [f"http://{host[0]}"]):
            raise HttpRefusal(403, "requests of other pages are refused", "send no Origin, as programs do")
        if open_to_all:
            return
        given = headers.getlist("authorization")
        match = re.fullmatch(r"[Bb][Ee][Aa][Rr][Ee][Rr] +(\S+)", given[0]) if len(given) == 1 else None
        if not match or not secrets.compare_digest(match[1].encode("utf-8", "replace"), self.token):
            what = "the token is wrong" if any(given) else "a token is needed"
            cure = "send `Authorization: Bearer …` with what .memory/token holds"
            raise HttpRefusal(401, what, cure, WWW_Authenticate='Bearer realm="memctl"')


_JSON = re.compile(r'application/json(?:\s*;\s*charset="?utf-8"?)?', re.IGNORECASE)


def check_body(headers: Headers) -> None:
    """HttpRefusal for a body that will not be read: by its type, its coding, or the size that it says."""
    kind = headers.getlist("content-type")
    if len(kind) != 1 or not _JSON.fullmatch(kind[0]):
        raise HttpRefusal(415, "the body is not application/json", "send JSON with `Content-Type: application/json`")
    if any(coding.strip().lower() not in ("", "identity") for coding in headers.getlist("content-encoding")):
        raise HttpRefusal(415, "the body is compressed", "send it as it is")
    sizes = headers.getlist("content-length")
    if any(not re.fullmatch("[0-9]{1,7}", size) or int(size) > LARGEST for size in sizes):
        raise too_large()


def too_large() -> HttpRefusal:
    """The answer to a body over the bound, said or sent."""
    return HttpRefusal(413, f"the body is over {LARGEST:,} bytes", "send less at once")


def read_json(body: bytes) -> dict[str, Any]:
    """The JSON object in a body; HttpRefusal for what is not UTF-8, NaN, half of a character, or no object."""
    try:
        read = json.loads(body.decode("utf-8"), parse_constant=int)  # ValueError for NaN and Infinity
        if b"\\u" in body:
            json.dumps(read, ensure_ascii=False).encode("utf-8")  # raises for half a surrogate pair
    except (ValueError, RecursionError):
        raise HttpRefusal(400, "the body is not JSON in UTF-8", "send one JSON object") from None
    if not isinstance(read, dict):
        raise HttpRefusal(422, "the body is JSON, but not an object", "send one JSON object")
    return read


def _answer(value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    body = json.dumps(defused(value), ensure_ascii=True, separators=(",", ":")).encode("ascii")
    return Response(body, status, headers=_ALWAYS | dict(headers or {}), media_type="application/json")


async def _refuse(request: Request, error: Exception) -> Response:
    """What went wrong, as an answer. Of a bug only its kind, not what was asked or where it happened."""
    if isinstance(error, HTTPException):  # starlette knows which routes and methods there are
        if error.status_code == 405:
            what = f"{request.scope['path']} does not take {request.method}"
            error = HttpRefusal(405, what, "see Allow", None, **dict(error.headers or {}))
        else:
            error = HttpRefusal(error.status_code, "there is no such route", "GET /openapi.json lists them")
    elif isinstance(error, MemctlError):
        status = 500 if isinstance(error, CannotWrite) else _STATUS.get(error.exit_code, 500)
        retry = {"Retry_After": "1"} if status == 503 else {}
        said = in_callers_words(error, request.scope.get("memctl.takes"))
        error = HttpRefusal(status, *said, error.exit_code, **retry)
    elif not isinstance(error, HttpRefusal):
        error = HttpRefusal(500, f"unexpected {type(error).__name__}", "please report this", 70)
    return _answer(error.body, error.status, error.headers)


def _guarded(app: ASGIApp, gate: Gate, log: Callable[[str], None] | None) -> ASGIApp:
    """The gate before an application: what does not pass is answered here, before any of the body is read."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        start, status = time.perf_counter(), 0
        path = scope["path"]
        viewed = path == VIEW or path.startswith(f"{VIEW}/")
        headers = Headers(scope=scope)
        has_more = ("content-length" in headers or "transfer-encoding" in headers) and "expect" not in headers

        async def counted() -> Any:
            nonlocal has_more
            message = await receive()
            has_more = message.get("more_body", False)
            return message

        async def watched(message: Any) -> None:
            nonlocal status
            if "status" in message and has_more:
                await _drain(counted)
            status = message.get("status", status)
            await send(message)

        answering = app
        try:
            gate.check_head(headers, viewed or (path in _OPEN and scope["method"] in ("GET", "HEAD")))
            if viewed:
                check_view(gate.view_key, path, scope["query_string"], headers)
            scope["memctl.known"] = path not in _OPEN
        except HttpRefusal as refusal:
            answering = _answer(refusal.body, refusal.status, refusal.headers)
        try:
            await answering(scope, counted, watched)
        except ClientDisconnect:
            status = 499
        finally:
            if log:
                route = scope.get("memctl.route")  # as it is written, without what a request puts in its place
                path = VIEW if viewed else route or (path if path in _KNOWN else "(no route)")
                method = scope["method"] if scope["method"] in ("GET", "HEAD", "POST", "DELETE") else "(other)"
                log(f"{method} {path} {status} {(time.perf_counter() - start) * 1000:.1f} ms")

    return answer


async def _drain(receive: Receive) -> None:
    """Take in what a client is still sending of a refused body: it could not read the answer before, or not at all."""
    taken = 0
    with suppress(TimeoutError):
        async with asyncio.timeout(_DRAIN_SECONDS):
            while taken < _DRAINED:
                async with asyncio.timeout(_DRAIN_SECONDS / 20):
                    message = await receive()
                taken += len(message.get("body", b""))
                if not message.get("more_body"):
                    return


_OPEN = ("/", "/openapi.json")
_KNOWN = {*_OPEN, *(route.path for route in ROUTES)}


async def _read(request: Request) -> bytes:
    """The body, counted while it comes."""
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for chunk in request.stream():
                body += chunk
                if len(body) > LARGEST:
                    raise too_large()
    except TimeoutError:
        raise HttpRefusal(408, "the body did not come in time", "send it at once", Connection="close") from None
    return bytes(body)


class Verbs:
    """The threads in which verbs run."""

    def __init__(self) -> None:
        self._pools = {kind: ThreadPoolExecutor(most, f"memctl-{kind}") for kind, most in _THREADS.items()}
        self._running = Counter[str]()

    async def run(self, job: Callable[[], Any], kind: str = "read") -> Any:
        """What a job gives; HttpRefusal where too many of its kind are waiting."""
        if self._running[kind] >= WAITING:
            raise HttpRefusal(503, "too many requests at once", "try again in a moment", Retry_After="1")
        self._running[kind] += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._pools[kind], job)
        finally:
            self._running[kind] -= 1

    def close(self) -> None:
        """Let what runs come to its end; what waits is dropped."""
        for pool in self._pools.values():
            pool.shutdown(wait=True, cancel_futures=True)


def _endpoint(route: Route, served: Served, verbs: Verbs) -> Callable[[Request], Awaitable[Response]]:
    """The handler of a route."""

    async def handle(request: Request) -> Response:
        request.scope["memctl.route"], request.scope["memctl.takes"] = route.path, route.takes
        start = time.perf_counter()
        body: dict[str, Any] = {}
        if route.method == "DELETE":
            body = request.path_params | dict(request.query_params)
        elif route.takes:
            check_body(request.headers)
            sent = await _read(request)
            start = time.perf_counter()
            body = read_json(sent)
        try:
            asked = route.read(body)
        except Usage as error:
            raise HttpRefusal(422, error.what, error.cure, error.exit_code) from None
        if route.writes and served.read_only:
            raise HttpRefusal(403, "this server only reads", "ask the owner, who may start it otherwise")
        kind = "write" if route.writes else "shared" if asked.get("in") else "read"
        made = await verbs.run(lambda: route.run(served.present(), asked), kind)
        answer, taken = _answer(made), (time.perf_counter() - start) * 1000
        served.timed[route.path].append(taken)
        answer.headers["Server-Timing"] = f"handler;dur={taken:.3f}"
        return answer

    return handle


def application(
    served: Served, gate: Gate, log: Callable[[str], None] | None = None, url: str | None = None
) -> tuple[ASGIApp, Verbs]:
    """The whole as an ASGI application, and the threads that it uses."""
    verbs, url = Verbs(), url or f"http://127.0.0.1:{gate.port}"
    policy = _ALWAYS | {"Content-Security-Policy": PAGE_POLICY}
    fixed = {
        "/": Response(page(url, served.read_only), headers=policy, media_type="text/html"),
        "/openapi.json": _answer(openapi(url, served.read_only)),
    }

    async def document(request: Request) -> Response:
        return fixed[request.scope["path"]]

    routes = [Path(path, document, methods=["GET"]) for path in fixed]
    viewed = partial(answer_view, served, gate.view_key, verbs)
    routes += [Path(path, viewed, methods=["GET"]) for path in (VIEW, VIEW + "/{path:path}")]
    routes += [Path(route.path, _endpoint(route, served, verbs), methods=[route.method]) for route in ROUTES]
    handled = (HTTPException, HttpRefusal, MemctlError, Exception)
    app = Starlette(routes=routes, exception_handlers=dict.fromkeys(handled, _refuse))
    app.router.redirect_slashes = False
    return _guarded(app, gate, log), verbs


class _Connection(H11Protocol):
    """One connection. A head that does not come in time ends it. Where there are too many, one that never said anything
    with the token goes, the oldest first: a crowd without it shuts nobody out."""

    _deadline: asyncio.TimerHandle | None = None
    _came = 0.0
    is_known = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._came = self.loop.time()
        every = (each for each in self.connections if isinstance(each, _Connection))
        still_open = [each for each in every if not each.transport.is_closing()]
        if len(still_open) > CONNECTIONS:
            idle = (each for each in still_open if not each.cycle or each.cycle.response_complete)
            strangers = [each for each in idle if not each.is_known]
            min(strangers, key=lambda each: each._came, default=self).transport.abort()
        self._await_head()

    def _await_head(self) -> None:
        if self._deadline:
            self._deadline.cancel()
        self._deadline = self.loop.call_later(HEAD_SECONDS, self.transport.abort)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._deadline and self.cycle and not self.cycle.response_complete:
            self._deadline.cancel()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self.is_known |= bool(self.scope and self.scope.get("memctl.known"))
        if not self.transport.is_closing():
            self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._deadline:
            self._deadline.cancel()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        refusal = HttpRefusal(400, "that is not an HTTP request", "see GET /openapi.json")
        body = json.dumps(refusal.body)
        head = f"HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        self.transport.write((head + body).encode("ascii"))
        self.transport.close()


class _Server(uvicorn.Server):
    """A server that remembers which signal stopped it, in the place of dying of it."""

    stopped_by: int = 0

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self.stopped_by = self.stopped_by or sig
        super().handle_exit(sig, frame)


def listen(host: str, port: int) -> socket.socket:
    """Listen on a loopback address; port 0 is any free one. PortBusy if it is taken, Usage if it may not be had."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # The protocol by name: asyncio turns Nagle's wait (40 ms an answer) off only where it reads TCP here.
    made = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if REUSES_PORTS:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((host, port))
        made.listen(CONNECTIONS)
    except PermissionError:
        made.close()
        raise Usage(f"port {port} may not be used", "name one above 1023, or --port 0") from None
    except OSError as error:
        made.close()
        if port:
            raise PortBusy(port) from error
        raise Usage(f"{host}: {error.strerror}", "leave --host out") from error
    return made


def run(
    app: ASGIApp, verbs: Verbs, at: socket.socket, ready: Callable[[Callable[[], None]], None] | None = None
) -> int:
    """Serve until a signal comes; running requests are finished within some seconds. Returns the exit code.

    `ready` is given what stops the server, once it is made: for one that runs in a thread.
    """
    for name in ("uvicorn", "asyncio"):  # they would print tracebacks, and what was asked
        logging.getLogger(name).addHandler(logging.NullHandler())
        logging.getLogger(name).propagate = False
    config = uvicorn.Config(
        app, http=_Connection, ws="none", lifespan="off", loop="asyncio", log_config=None, access_log=False,
        server_header=False, timeout_keep_alive=5, timeout_graceful_shutdown=_GRACE,
    )  # fmt: skip
    server = _Server(config)
    if ready:
        ready(lambda: setattr(server, "should_exit", True))
    try:
        server.run([at])
    finally:
        at.close()
        verbs.close()
    return 130 if server.stopped_by == signal.SIGINT else 0


# -- the pages of view ------------------------------------------------------------------------------------------------
# The pages of `memctl view` over HTTP: a link with a key is exchanged for a cookie, and the cookie opens pages, nothing else.
#
# The key is made of the token (notes/files.py) and is none: what it opens only reads, and private lines are in no page.

VIEW = "/view"
_COOKIE = "memctl_view"
_LONGEST = 200  # characters of a search
_POLICY = "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
_WELCOME = '<!doctype html><html lang="en"><title>memctl</title><p><a href="index.html">Open the memory</a></p></html>'


def check_view(key: bytes, path: str, query: bytes, headers: Headers) -> None:
    """HttpRefusal for a page that is not shown: without the key in the link of the login, or in the cookie that it gave."""
    if path == f"{VIEW}/login":
        given = parse_qs(query.decode("latin-1")).get("key", [""])
    else:
        given = re.findall(rf"(?:^|;\s*){_COOKIE}=([0-9a-f]+)", "; ".join(headers.getlist("cookie")))
    if not (key and len(given) == 1 and secrets.compare_digest(given[0].encode("utf-8", "replace"), key)):
        raise HttpRefusal(401, "these pages need their link", "run `memctl view` and open what it prints")


async def answer_view(served: Served, key: bytes, verbs: Verbs, request: Request) -> Response:
    """A page, a stylesheet, or at the login the cookie."""
    path = request.path_params.get("path", "")
    headers = _ALWAYS | {"Content-Security-Policy": _POLICY}
    if path == "login":
        cookie = f"{_COOKIE}={key.decode('ascii')}; Path={VIEW}; HttpOnly; SameSite=Strict"
        # not a redirect: a browser that comes from elsewhere would follow it without the new cookie
        headers |= {"Set-Cookie": cookie, "Refresh": "0; url=index.html"}
        return Response(_WELCOME, headers=headers, media_type="text/html")
    if request.scope["path"] == VIEW:
        return Response(status_code=303, headers=headers | {"Location": f"{VIEW}/index.html"})
    query = request.query_params.get("q", "")[:_LONGEST]
    made = await verbs.run(lambda: served.present().memory.pictures().page(path or "index.html", query))
    if made is None:
        raise HttpRefusal(404, "there is no such page", f"begin at {VIEW}/index.html")
    return Response(made, headers=headers, media_type="text/css" if path.endswith(".css") else "text/html")
