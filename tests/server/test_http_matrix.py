"""S7: a matrix of requests through a real socket: Host, Origin, type, token, size, method. None wrongly let in or refused."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from random import Random

import pytest
from face_helpers import write_pages
from http_helpers import TOKEN, Reply, Running, serving
from strategies import examples

from memctl.server.http_app import LARGEST

PAGES = {"memory/2025-11-01.md": "- W @Atlas: the database is PostgreSQL\n"}
GOOD, BODY = "application/json", b'{"text": "database"}'

# Each value with the status that it earns; None is well. What is wrong first in this order decides.
HOSTS = {
    "127.0.0.1:{port}": None, "localhost:{port}": None, "[::1]:{port}": None, "LOCALHOST:{port}": None,
    "127.0.0.1": 421, "127.0.0.1:1": 421, "evil.example:{port}": 421, "localhost.evil.example:{port}": 421,
    "127.0.0.1:{port}.evil.example": 421, "evil@127.0.0.1:{port}": 421, "127.0.0.2:{port}": 421, "0.0.0.0:{port}": 421, "": 421,
}  # fmt: skip
ORIGINS = {
    None: None, "http://{host}": None, "null": 403, "http://evil.example": 403, "https://{host}": 403,
    "http://127.0.0.1": 403, "http://{host}.evil.example": 403, "": 403,
}  # fmt: skip
TOKENS = {
    f"Bearer {TOKEN}": None, f"bearer {TOKEN}": None, None: 401, "Bearer": 401, f"Bearer {TOKEN[1:]}": 401,
    f"Bearer {TOKEN}x": 401, f"Basic {TOKEN}": 401, TOKEN: 401, "Bearer ": 401, f"Bearer {'T' * 43}": 401,
}  # fmt: skip
METHODS = {"POST": None, "GET": 405, "PUT": 405, "DELETE": 405, "PATCH": 405, "OPTIONS": 405, "HEAD": 405, "TRACE": 405}
TYPES = {
    GOOD: None, f"{GOOD}; charset=utf-8": None, "Application/JSON": None, None: 415, "text/plain": 415,
    "application/x-www-form-urlencoded": 415, "multipart/form-data; boundary=x": 415, "application/jsonp": 415,
    "text/plain; application/json": 415, f"{GOOD}, text/plain": 415, f"{GOOD}; charset=utf-16": 415,
}  # fmt: skip
SIZES = {"small": None, "largest": None, "chunked": None, "over": 413, "chunked over": 413, "says too much": 413}
DIMENSIONS = (HOSTS, ORIGINS, TOKENS, METHODS, TYPES, SIZES)


def cases() -> Iterator[tuple[tuple[str | None, ...], int | None]]:
    """Every pair of values of two dimensions with all others well, the full product of two well and one bad of each, and more in `make torture`."""
    well = [next(iter(each)) for each in DIMENSIONS]
    seen: set[tuple[str | None, ...]] = set()
    for one, other in itertools.combinations(range(len(DIMENSIONS)), 2):
        for a, b in itertools.product(DIMENSIONS[one], DIMENSIONS[other]):
            made = list(well)
            made[one], made[other] = a, b
            seen.add(tuple(made))
    few = [
        [k for k, v in each.items() if v is None][:2] + [k for k, v in each.items() if v][:1]
        for each in DIMENSIONS[:-1]
    ]
    seen |= {(*made, "small") for made in itertools.product(*few)}
    seen |= set(Random(7).sample([*itertools.product(*DIMENSIONS)], examples(2_000, 0, 2_001)))
    for made in sorted(seen, key=repr):
        yield made, next((each[value] for each, value in zip(DIMENSIONS, made, strict=True) if each[value]), None)


def send(server: Running, case: tuple[str | None, ...]) -> Reply:
    """One case as a request."""
    host, origin, token, method, kind, size = case
    host = (host or "").format(port=server.port)
    origin = None if origin is None else origin.format(host=host.lower() or "x")
    lines = [f"{method} /recall HTTP/1.1", f"Host: {host}", "Connection: close"]
    given = {"Origin": origin, "Authorization": token, "Content-Type": kind}
    lines += [f"{name}: {value}" for name, value in given.items() if value is not None]
    body = BODY
    if size in ("largest", "over"):
        body += b" " * (LARGEST - len(body) + (size == "over"))
    if size in ("chunked", "chunked over"):
        piece = b" " * 65536
        pieces = [BODY, *([piece] * (LARGEST // len(piece)) if size == "chunked over" else [])]
        body = b"".join(b"%x\r\n%s\r\n" % (len(p), p) for p in pieces) + b"0\r\n\r\n"
        lines.append("Transfer-Encoding: chunked")
    else:
        lines.append(f"Content-Length: {LARGEST + 1 if size == 'says too much' else len(body)}")
    return server.send("\r\n".join([*lines, "", ""]).encode("latin-1") + body)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """One server for all cases."""
    with serving(write_pages(tmp_path_factory.mktemp("matrix"), PAGES)) as made:
        yield made


def test_matrix(server: Running) -> None:
    """Every case has the status that it earns, and an answer that says no more than that."""
    wrong, accepted, refused = [], 0, 0
    for case, expected in cases():
        reply = send(server, case)
        if reply.status != (expected or 200):
            wrong.append((case, expected, reply.status, reply.body[:200]))
        accepted += expected is None
        refused += expected is not None
        assert not [name for name in reply.headers if name.startswith("access-control")], case
        assert "server" not in reply.headers
        assert reply.status == 200 or case[3] == "HEAD" or set(reply.json) == {"error", "cure"}, reply.body
        assert reply.status == 200 or b"PostgreSQL" not in reply.body
    assert accepted + refused >= 96
    print(f"S7 HTTP {accepted + refused} requests ({accepted} to let in, {refused} to refuse), {len(wrong)} wrong")
    assert not wrong, wrong[:5]


RAW = {
    "no Host": b"POST /recall HTTP/1.1\r\nAuthorization: Bearer %s\r\n\r\n",
    "two Hosts": b"POST /recall HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nHost: evil.example\r\nAuthorization: Bearer %s\r\n\r\n",
    "HTTP/1.0 without Host": b"GET /stats HTTP/1.0\r\nAuthorization: Bearer %s\r\n\r\n",
    "two tokens": b"GET /stats HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAuthorization: Bearer %s\r\nAuthorization: Bearer x\r\n\r\n",
    "two Origins": b"GET /stats HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nOrigin: http://127.0.0.1:%d\r\nOrigin: null\r\nAuthorization: Bearer %s\r\n\r\n",
    "a folded header": b"GET /stats HTTP/1.1\r\nHost: evil.example\r\n 127.0.0.1:%d\r\nAuthorization: Bearer %s\r\n\r\n",
    "a foreign target": b"GET http://127.0.0.1:%d/stats HTTP/1.1\r\nHost: evil.example\r\nAuthorization: Bearer %s\r\n\r\n",
    "smuggled": b"POST /recall HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
    b"GET /stats HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAuthorization: Bearer %s\r\n\r\n",
    "two lengths": b"POST /recall HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\n"
    b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /stats HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n",
    "a websocket": b"GET /stats HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
    "TLS": b"\x16\x03\x01\x00\xa5\x01\x00\x00\xa1\x03\x03",
    "noise": b"\x00\xff\xfe nonsense\r\n\r\n",
    "a token in the address": b"GET /stats?token=%s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n",
    "compressed": b"POST /recall HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\n"
    b"Content-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}",
}


@pytest.mark.parametrize("name", RAW)
def test_odd_requests(server: Running, name: str) -> None:
    """What no client sends by accident is refused too, and the server goes on."""
    data = RAW[name].replace(b"%d", str(server.port).encode()).replace(b"%s", TOKEN.encode())
    reply = server.send(data)
    assert 400 <= reply.status < 500, reply
    assert set(reply.json) == {"error", "cure"}
    assert server.get("/stats").status == 200


def test_the_two_documents_need_no_token_and_nothing_else_does_without(server: Running) -> None:
    """The page and the description are the same for every workspace; they keep to Host and Origin too."""
    for path in ("/", "/openapi.json"):
        assert server.get(path, Authorization="").status == 200
        assert server.get(path, Authorization="", Host="evil.example").status == 421
        assert server.get(path, Authorization="", Origin="http://evil.example").status == 403
        assert server.post(path, {}, Authorization="").status == 401
    for path in ("/stats", "/v1/status", "/v1/health", "/nope", "//", "/openapi.json/", "/../", "/recall"):
        assert server.get(path, Authorization="").status == 401
