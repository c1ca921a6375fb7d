"""The pages of `memctl view` over HTTP: a link with a key is exchanged for a cookie, and the cookie opens pages, nothing else.

The key is made of the token (notes/token.py) and is none: what it opens only reads, and private lines are in no page.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import Response

from ..errors import MemctlError
from .http_gate import HttpRefusal, refusal_of
from .http_routes import Served

VIEW = "/view"
_COOKIE = "memctl_view"
_LONGEST = 200  # characters of a search
_POLICY = "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
_WELCOME = '<!doctype html><html lang="en"><title>memctl</title><p><a href="index.html">Open the memory</a></p></html>'

Run = Callable[[Callable[[], object]], Awaitable[object]]


def is_view(path: str) -> bool:
    """True for the paths of these pages."""
    return path == VIEW or path.startswith(f"{VIEW}/")


def check_view(key: bytes, path: str, query: bytes, headers: Mapping[str, Sequence[str]]) -> HttpRefusal | None:
    """Why a page is not shown; None with the key in the link of the login, or in the cookie that it gave."""
    if path == f"{VIEW}/login":
        given = parse_qs(query.decode("latin-1")).get("key", [""])
    else:
        given = re.findall(rf"(?:^|;\s*){_COOKIE}=([0-9a-f]+)", "; ".join(headers.get("cookie", ())))
    if key and len(given) == 1 and secrets.compare_digest(given[0].encode("utf-8", "replace"), key):
        return None
    return HttpRefusal(401, "these pages need their link", "run `memctl view` and open what it prints")


async def answer_view(request: Request, served: Served, key: bytes, run: Run) -> Response | HttpRefusal:
    """A page, a stylesheet, or at the login the cookie."""
    path = request.path_params.get("path", "")
    headers = {"Content-Security-Policy": _POLICY}
    if path == "login":
        cookie = f"{_COOKIE}={key.decode('ascii')}; Path={VIEW}; HttpOnly; SameSite=Strict"
        # not a redirect: a browser that comes from elsewhere would follow it without the new cookie
        return Response(
            _WELCOME, headers=headers | {"Set-Cookie": cookie, "Refresh": "0; url=index.html"}, media_type="text/html"
        )
    if request.scope["path"] == VIEW:
        return Response(status_code=303, headers=headers | {"Location": f"{VIEW}/index.html"})
    query = request.query_params.get("q", "")[:_LONGEST]
    try:
        made = await run(partial(served.page, path or "index.html", query))
    except MemctlError as error:
        return refusal_of(error, None)
    if isinstance(made, HttpRefusal):
        return made
    if made is None:
        return HttpRefusal(404, "there is no such page", f"begin at {VIEW}/index.html")
    return Response(str(made), headers=headers, media_type="text/css" if path.endswith(".css") else "text/html")
