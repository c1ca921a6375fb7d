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


class HttpRefusal(Exception):
    """Why a request is not answered: the status, a line what, a line what to do; `code` is the command line's exit code."""

    def __init__(self, status: int, what: str, cure: str, code: int | None = None, **headers: str) -> None:
        super().__init__(what)
        self.status = status
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}
        self.body: dict[str, Any] = {"error": what, "cure": cure} | ({} if code is None else {"code": code})


_STATUS = {1: 404, 2: 422, 10: 503, 11: 422, 12: 409, 13: 422, 14: 503, 15: 422, 16: 501, 17: 503}


def refusal_of(error: MemctlError, takes: type[Parameters] | None) -> HttpRefusal:
    """An error of a verb as an answer."""
    status = 500 if isinstance(error, CannotWrite) else _STATUS.get(error.exit_code, 500)
    retry = {"Retry_After": "1"} if status == 503 else {}
    return HttpRefusal(status, *in_callers_words(error, takes), error.exit_code, **retry)


class Gate(NamedTuple):
    """What one server lets through: the names that it goes by, with the port, its token, and the key of the pages to look at."""

    port: int
    token: bytes
    view_key: bytes = b""

    def check_head(self, headers: Mapping[str, Sequence[str]], open_to_all: bool) -> None:
        """HttpRefusal for the head of a request (header names in lower case, every value) that does not pass.

        A name in DNS that leads here sends its own Host, a page in a browser its own Origin: neither is ours.
        """
        if "transfer-encoding" in headers and "content-length" in headers:  # where would the next head begin?
            cure = "send Content-Length or chunks, not both"
            raise HttpRefusal(400, "the body has two lengths", cure, Connection="close")
        host = [name.lower() for name in headers.get("host", ())]
        names = ("127.0.0.1", "localhost", "[::1]")
        ours = {f"{name}:{self.port}" for name in names} | {*(names if self.port == 80 else ())}
        if len(host) != 1 or host[0] not in ours:
            raise HttpRefusal(421, "the Host is not a name of this server", f"ask http://127.0.0.1:{self.port}")
        if headers.get("origin", [f"http://{host[0]}"]) != [f"http://{host[0]}"]:
            raise HttpRefusal(403, "requests of other pages are refused", "send no Origin, as programs do")
        if not open_to_all:
            self._check_token(headers.get("authorization", ()))

    def _check_token(self, given: Sequence[str]) -> None:
        match = re.fullmatch(r"[Bb][Ee][Aa][Rr][Ee][Rr] +(\S+)", given[0]) if len(given) == 1 else None
        if not match or not secrets.compare_digest(match[1].encode("utf-8", "replace"), self.token):
            what = "the token is wrong" if any(given) else "a token is needed"
            cure = "send `Authorization: Bearer …` with what .memory/token holds"
            raise HttpRefusal(401, what, cure, WWW_Authenticate='Bearer realm="memctl"')


_JSON = re.compile(r'application/json(?:\s*;\s*charset="?utf-8"?)?', re.IGNORECASE)


def check_body(headers: Mapping[str, Sequence[str]]) -> None:
    """HttpRefusal for a body that will not be read: by its type, its coding, or the size that it says."""
    kind = headers.get("content-type", ())
    if len(kind) != 1 or not _JSON.fullmatch(kind[0]):
        raise HttpRefusal(415, "the body is not application/json", "send JSON with `Content-Type: application/json`")
    if any(coding.strip().lower() not in ("", "identity") for coding in headers.get("content-encoding", ())):
        raise HttpRefusal(415, "the body is compressed", "send it as it is")
    sizes = headers.get("content-length", ())
    if any(not re.fullmatch("[0-9]{1,7}", size) or int(size) > LARGEST for size in sizes):
        raise too_large()


def too_large() -> HttpRefusal:
    """The answer to a body over the bound, said or sent."""
    return HttpRefusal(413, f"the body is over {LARGEST:,} bytes", "send less at once")


def read_json(body: bytes) -> dict[str, Any]:
    """The JSON object in a body; HttpRefusal for what is not UTF-8, NaN, half of a character, or no object."""
    try:
        read = json.loads(body.decode("utf-8"), parse_constant=_no_constant)
        if b"\\u" in body:
            json.dumps(read, ensure_ascii=False).encode("utf-8")  # raises for half a surrogate pair
    except (ValueError, RecursionError):
        raise HttpRefusal(400, "the body is not JSON in UTF-8", "send one JSON object") from None
    if not isinstance(read, dict):
        raise HttpRefusal(422, "the body is JSON, but not an object", "send one JSON object")
    return read


def _no_constant(name: str) -> None:
    raise ValueError(name)
