"""What a request must be before anything looks at what it asks: exact Host and Origin, the token, JSON of a bounded size.

Pure decisions over the head of a request; a page on the web can send requests to this machine, but none that pass.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ..errors import CannotWrite, MemctlError
from .requests import Parameters, in_callers_words

LARGEST = 1024 * 1024
"""Bytes of a body."""


class HttpRefusal(NamedTuple):
    """Why a request is not answered: the status, a line what, a line what to do."""

    status: int
    what: str
    cure: str
    code: int | None = None
    headers: tuple[tuple[str, str], ...] = ()

    def as_json(self) -> dict[str, Any]:
        """The body of the answer; `code` is the exit code of the same error on the command line."""
        return {"error": self.what, "cure": self.cure} | ({} if self.code is None else {"code": self.code})


_STATUS = {1: 404, 2: 422, 10: 503, 11: 422, 12: 409, 13: 422, 14: 503, 15: 422, 16: 501, 17: 503}


def refusal_of(error: MemctlError, takes: type[Parameters] | None) -> HttpRefusal:
    """An error of a verb as an answer."""
    status = 500 if isinstance(error, CannotWrite) else _STATUS.get(error.exit_code, 500)
    headers = (("Retry-After", "1"),) if status == 503 else ()
    return HttpRefusal(status, *in_callers_words(error, takes), error.exit_code, headers)


class Gate(NamedTuple):
    """What one server lets through: the names that it goes by, with the port, its token, and the key of the pages to look at."""

    port: int
    token: bytes
    view_key: bytes = b""

    @property
    def hosts(self) -> frozenset[str]:
        """Every Host that means this server."""
        names = [f"{name}:{self.port}" for name in ("127.0.0.1", "localhost", "[::1]")]
        return frozenset([*names, *(("127.0.0.1", "localhost", "[::1]") if self.port == 80 else ())])

    def check_head(self, headers: Mapping[str, Sequence[str]], open_to_all: bool) -> HttpRefusal | None:
        """Why the head of a request (header names in lower case, every value) does not pass; None if it does.

        A name in DNS that leads here sends its own Host, a page in a browser its own Origin: neither is ours.
        """
        if "transfer-encoding" in headers and "content-length" in headers:  # where would the next head begin?
            closing = (("Connection", "close"),)
            return HttpRefusal(
                400, "the body has two lengths", "send Content-Length or chunks, not both", headers=closing
            )
        host = headers.get("host", ())
        if len(host) != 1 or host[0].lower() not in self.hosts:
            return HttpRefusal(421, "the Host is not a name of this server", f"ask http://127.0.0.1:{self.port}")
        origin = headers.get("origin", ())
        if origin and (len(origin) != 1 or origin[0] != f"http://{host[0].lower()}"):
            return HttpRefusal(403, "requests of other pages are refused", "send no Origin, as programs do")
        return None if open_to_all else self._check_token(headers.get("authorization", ()))

    def _check_token(self, given: Sequence[str]) -> HttpRefusal | None:
        match = re.fullmatch(r"[Bb][Ee][Aa][Rr][Ee][Rr] +(\S+)", given[0]) if len(given) == 1 else None
        if match and secrets.compare_digest(match[1].encode("utf-8", "replace"), self.token):
            return None
        challenge = ("WWW-Authenticate", 'Bearer realm="memctl"')
        what = "the token is wrong" if any(given) else "a token is needed"
        return HttpRefusal(
            401, what, "send `Authorization: Bearer …` with what .memory/token holds", headers=(challenge,)
        )

    def check_body(self, headers: Mapping[str, Sequence[str]]) -> HttpRefusal | None:
        """Why a body will not be read: its type, its coding, or the size that it says."""
        kind = headers.get("content-type", ())
        if len(kind) != 1 or not _JSON.fullmatch(kind[0]):
            return HttpRefusal(
                415, "the body is not application/json", "send JSON with `Content-Type: application/json`"
            )
        if any(coding.strip().lower() not in ("", "identity") for coding in headers.get("content-encoding", ())):
            return HttpRefusal(415, "the body is compressed", "send it as it is")
        sizes = headers.get("content-length", ())
        return (
            too_large() if any(not re.fullmatch("[0-9]{1,7}", size) or int(size) > LARGEST for size in sizes) else None
        )


_JSON = re.compile(r'application/json(?:\s*;\s*charset="?utf-8"?)?', re.IGNORECASE)


def too_large() -> HttpRefusal:
    """The answer to a body over the bound, said or sent."""
    return HttpRefusal(413, f"the body is over {LARGEST:,} bytes", "send less at once")


def read_json(body: bytes) -> dict[str, Any] | HttpRefusal:
    """The JSON object in a body; UTF-8, no NaN, no half of a character."""
    try:
        read = json.loads(body.decode("utf-8"), parse_constant=_no_constant)
        if b"\\u" in body:
            json.dumps(read, ensure_ascii=False).encode("utf-8")  # raises for half a surrogate pair
    except (ValueError, RecursionError):
        return HttpRefusal(400, "the body is not JSON in UTF-8", "send one JSON object")
    if not isinstance(read, dict):
        return HttpRefusal(422, "the body is JSON, but not an object", "send one JSON object")
    return read


def _no_constant(name: str) -> None:
    raise ValueError(name)
