"""A client of `memctl serve`, with the standard library alone: for agents that ask a memory and never wait long for it.

from memctl.client import Client
memory = Client.of("~/notes")
block = memory.recall("why PostgreSQL?")  # "" where nothing belongs to it, or no answer came within half a second
"""

from __future__ import annotations

import http.client
import json
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import quote, urlencode
from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener

from .errors import MemctlError

URL = "http://127.0.0.1:7733"
_LARGEST = 16 << 20  # bytes of an answer that are read


class Unanswered(MemctlError):
    """The server did not answer, or answered that it will not do this; `status` is that of HTTP, 0 without an answer."""

    exit_code = 14

    def __init__(self, what: str, cure: str, status: int = 0) -> None:
        super().__init__(what, cure)
        self.status = status


class _NoRedirect(HTTPRedirectHandler):
    """The token goes nowhere else."""

    def redirect_request(self, *given: Any) -> None: ...


class Client:
    """One server. `seconds` bound each wait for it: connecting, and each piece of an answer.

    `recall` and `ingest` never raise, since a chat goes on without its memory: `problem` says why the last of them had no
    answer (None: it had). The others raise Unanswered.
    """

    def __init__(self, token: str, url: str = URL, seconds: float = 0.5) -> None:
        self.url, self.seconds = url.rstrip("/"), seconds
        self.problem: Unanswered | None = None
        self._token = token
        self._opener = build_opener(ProxyHandler({}), _NoRedirect)

    @classmethod
    def of(cls, workspace: str | Path, url: str = URL, seconds: float = 0.5) -> Client:
        """A client of the server of a workspace, whose token stands there. Unanswered where none was started yet."""
        path = Path(workspace).expanduser() / ".memory/token"
        try:
            return cls(path.read_text("ascii").strip(), url, seconds)
        except (OSError, ValueError) as error:
            raise Unanswered(f"no token in {path}", f"start it with `memctl serve -w {workspace}`") from error

    def recall(self, text: str, *, k: int | None = None, hops: int = 1) -> str:
        """What belongs to a message, as a fenced block for a prompt; empty where nothing does."""
        more = {"k": k} if k else {}
        more |= {"hops": hops} if hops > 1 else {}
        return str(self._told("/recall", {"text": text, **more}).get("memories", ""))

    def ingest(self, user_msg: str, assistant_msg: str) -> int:
        """Hand in one exchange after it took place; how many facts were kept of it."""
        return int(self._told("/ingest", {"user_msg": user_msg, "assistant_msg": assistant_msg}).get("stored", 0))

    def store(self, text: str, *, source: str | None = None) -> str:
        """Write one fact down; its citation. When this returns, it is on disk."""
        return str(self.ask("POST", "/store", {"text": text, **({"source": source} if source else {})})["citation"])

    def stats(self) -> dict[str, Any]:
        """Counts, days, sizes, freshness, and how long answers take."""
        return self.ask("GET", "/stats")

    def delete(self, ref: str, confirm: str | None = None) -> dict[str, Any]:
        """What would be forgotten with a fact, and the `confirm` that stands for exactly that; with it, what was."""
        query = f"?{urlencode({'confirm': confirm})}" if confirm else ""
        return self.ask("DELETE", f"/v1/facts/{quote(ref, safe='')}{query}")

    def _told(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """The answer, or nothing and a `problem`."""
        self.problem = None
        try:
            return self.ask("POST", path, body)
        except Unanswered as error:
            self.problem = error
            return {}

    def ask(self, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        """The JSON that a route answers (GET /openapi.json lists them); Unanswered for anything else."""
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode("ascii")
        try:
            request = Request(self.url + path, data, headers, method=method)
            with self._opener.open(request, timeout=self.seconds) as answer:
                made = json.loads(answer.read(_LARGEST))
        except HTTPError as error:
            raise _refused(error) from error
        except (OSError, ValueError, http.client.HTTPException) as error:
            reason = getattr(error, "reason", None) or error
            raise Unanswered(f"{self.url} gave no answer: {reason}", "is `memctl serve` running there?") from error
        if not isinstance(made, dict):
            raise Unanswered(f"{self.url} answered something else", "is it `memctl serve` that listens there?")
        return made


def _refused(error: HTTPError) -> Unanswered:
    """What the server says of its refusal."""
    with error:
        try:
            told = json.loads(error.read(_LARGEST))
            return Unanswered(str(told["error"]), str(told["cure"]), error.code)
        except (OSError, ValueError, LookupError, TypeError, http.client.HTTPException):
            return Unanswered(f"HTTP {error.code}", "is it `memctl serve` that listens there?", error.code)
