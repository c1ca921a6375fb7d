"""What `memctl serve` answers: each route with its request, an example and what it does; its OpenAPI document and page.

Nothing private is in an answer. The two documents are the same for every workspace; the page has no script and loads nothing.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import os
import re
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import NoWorkspace
from ..hits import answer_json
from . import requests
from .requests import ONE, Parameters, Schema, answer_schema, list_of, schema_of

if TYPE_CHECKING:
    from ..memory import CandidateFact, Memory

Body = Mapping[str, Any]
Run = Callable[["Served", Body], dict[str, Any]]
_TIMED = 1000  # answers of a route over which its latency is told


@dataclass(frozen=True, slots=True)
class Served:
    """What one server serves: the memory, held open, and whether it may be written."""

    memory: Memory
    read_only: bool = False
    since: float = field(default_factory=time.monotonic)
    timed: dict[str, deque[float]] = field(default_factory=lambda: defaultdict(lambda: deque(maxlen=_TIMED)))
    """Milliseconds of the last answers of each route."""

    def present(self) -> Served:
        """The same with the memory of this moment. NoWorkspace where the folder is gone: that is not an empty memory."""
        root = self.memory.workspace.root
        if not os.path.isdir(root):
            raise NoWorkspace(root, named=True)
        return replace(self, memory=self.memory.paused())


class Route(NamedTuple):
    """One route."""

    method: str
    path: str
    summary: str
    answers: Schema
    run: Run
    takes: type[Parameters] | None = None  # None for GET; DELETE takes what stands in its path and its query
    example: Body | None = None  # one that works on any workspace
    writes: bool = False

    def read(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """The parameters in a body; Usage for what the route does not take."""
        return requests.read_request(self.takes, body, "see GET /openapi.json") if self.takes else {}


def _memories(served: Served, asked: Body) -> dict[str, Any]:
    found = served.memory.public().memories(asked["text"], k=asked.get("k"), hops=asked.get("hops", 1))
    return {"memories": found.text, "count": found.lines}


def _recall(served: Served, asked: Body) -> dict[str, Any]:
    view, given = served.memory.public(), dict(asked)
    how = {name: given.pop(name) for name in ("k", "history", "vectors", "budget", "hops") if name in given}
    words, explain, names = given.pop("query", ""), given.pop("explain", False), given.pop("in", None)
    query = view.query(words, per_page=given.pop("per_page", 1), **given)
    answer = served.memory.shared().recall(names, query, **how) if names else view.recall(query, **how)
    made = answer_json(answer, explain)
    notes = [requests.parameters_for_flags(note, requests.RecallRequest.model_fields) for note in made["warnings"]]
    return made | {"warnings": notes}


def _show(served: Served, asked: Body) -> dict[str, Any]:
    found = served.memory.public().show(asked["ref"], int(asked.get("context", 3)))
    return {"schema": 1, "passages": [passage.as_json() for passage in found]}


def _context(served: Served, asked: Body) -> dict[str, Any]:
    return served.memory.public().context(**asked).as_json()


def _review(served: Served, asked: Body) -> dict[str, Any]:
    found = served.memory.public().review()
    return {"schema": 1, "questions": [question.as_json() for question in found], "waiting": len(found)}


def _retain(served: Served, asked: Body, offers: bool = True) -> dict[str, Any]:
    given, view = dict(asked), served.memory.public()
    done = view.retain(given.pop("text"), day=given.pop("date", None), said_by="agent", **given)
    (kept,), (near,) = done.kept, view.near(done) if offers else ((),)
    made = {"schema": 1, "citation": str(kept.citation), "id": kept.ref, "already": kept.already}
    made |= {"dry_run": asked.get("dry_run", False), "warnings": list(done.warnings)}
    return made | {"near": [each.offer_json() for each in near]}


def _only(run: Run, *names: str) -> Run:
    """What a route answers, but only under these names."""
    return lambda served, asked: {name: value for name, value in run(served, asked).items() if name in names}


def _ingest(served: Served, asked: Body) -> dict[str, Any]:
    apply = not asked.get("dry_run", False)
    done = served.memory.public().ingest_exchange(asked["user_msg"], asked["assistant_msg"], apply=apply)
    return {
        "schema": 1,
        "stored": len(done.kept) if apply else 0,
        "kept": [{"citation": str(one.citation), "id": one.ref, "already": one.already} for one in done.kept],
        "candidates": list(map(_found, done.candidates)),
        "asked": list(map(_found, done.asked)),
        "refused": [{"code": one.code, "reason": one.reason} for one in done.refused],
        "complete": done.complete,
        "warnings": list(done.warnings),
    }


def _found(one: CandidateFact) -> dict[str, str]:
    return {"content": one.fact.text, "kind": one.fact.kind.value, "rule": one.rule, "reason": one.reason}


def _answer(served: Served, asked: Body) -> dict[str, Any]:
    given = dict(asked)
    return served.memory.public().answer(given.pop("id"), given.pop("option"), said_by="agent", **given).as_json()


def _stats(served: Served, asked: Body) -> dict[str, Any]:
    state = served.memory.public().status()
    found = state.as_json()
    shown = {name: found[name] for name in found if name in _STATS["properties"] and name != "problems"}
    shown |= {
        "num_memories": sum(count for kind, count in found["kinds"].items() if kind != "note"),
        "num_vectors": found["vectors"]["embedded"],
        "embedding_model": found["vectors"]["made_by"],
        "vectors_way": found["vectors"]["way"],
        "uptime_seconds": round(time.monotonic() - served.since, 3),
        "latency_ms": {path: _spread(sorted(taken)) for path, taken in sorted(served.timed.items())},
    }
    return {"schema": 1, **shown, "problems": len(state.problems), "read_only": served.read_only}


def _spread(taken: Sequence[float]) -> dict[str, float]:
    """How many answers were timed, and the milliseconds that half of them and 99 of 100 took at most."""
    p50, p99 = (round(taken[min(len(taken) - 1, int(len(taken) * share))], 3) for share in (0.5, 0.99))
    return {"count": len(taken), "p50": p50, "p99": p99}


_STATS = answer_schema(
    schema=ONE, kinds="object", pages="integer", entities="integer", beliefs="integer", fresh="boolean", stale="string?",
    first_day="string?", last_day="string?", search="string", markdown_bytes="integer", index_bytes="integer",
    versions="object", problems="integer", read_only="boolean", num_memories="integer", num_vectors="integer",
    embedding_model="string?", vectors_way="string", uptime_seconds="number", latency_ms="object",
)  # fmt: skip
_FOUND = answer_schema(content="string", kind="string", rule="string", reason="string")
_CITED = answer_schema(citation="string", id="string", already="boolean")
_SAID = {"user_msg": "Remember: the demo is on Friday.", "assistant_msg": "Noted."}

ROUTES = (
    Route(
        "POST", "/recall", "What belongs to a message, as a block for a prompt; empty and 0 where nothing does",
        answer_schema(memories="string", count="integer"), _memories, requests.MessageRequest, {"text": "Why PostgreSQL?"},
    ),
    Route(
        "POST", "/ingest", "Keep the facts of one exchange; says how many facts it kept",
        answer_schema(stored="integer"), _only(_ingest, "stored"), requests.ExchangeRequest, _SAID, writes=True,
    ),
    Route(
        "POST", "/store", "Write one fact down; when this answers, it is on disk",
        answer_schema(citation="string", id="string", already="boolean", warnings="string*"),
        _only(partial(_retain, offers=False), "citation", "id", "already", "warnings"), requests.StoreRequest,
        {"text": "O(0.9) @Peter: Prefers short replies"}, writes=True,
    ),
    Route("GET", "/stats", "Counts, days, sizes, freshness, and how long answers take", _STATS, _stats),
    Route(
        "POST", "/v1/recall", "Facts with their proof: all of `memctl recall --json`", requests.ANSWER, _recall, requests.RecallRequest,
        {"query": "why PostgreSQL", "k": 3},
    ),
    Route(
        "POST", "/v1/show", "The lines that a citation, an id, an entity or a page points at", requests.PASSAGES, _show, requests.ShowRequest,
        {"ref": "memory.md"},
    ),
    Route(
        "POST", "/v1/context", "A prompt pack: core, lessons, recent lines, what belongs to a message; trusted lines only",
        requests.PACK, _context, requests.ContextRequest, {"message": "Why PostgreSQL?", "budget": 2000},
    ),
    Route(
        "POST", "/v1/retain", "Write one fact down, with all of its attributes",
        answer_schema(schema=ONE, citation="string", id="string", already="boolean", dry_run="boolean", warnings="string*", near=requests.OFFERS),
        _retain, requests.RetainRequest, {"text": "The demo is on Friday", "about": ["Atlas"], "source": "agent"}, writes=True,
    ),
    Route(
        "POST", "/v1/ingest", "Keep the facts of one exchange, and say what, why, and what was refused",
        answer_schema(
            schema=ONE, stored="integer", kept=list_of(_CITED), complete="boolean", warnings="string*",
            candidates=list_of(_FOUND), asked=list_of(_FOUND), refused=list_of(answer_schema(code="string", reason="string")),
        ),
        _ingest, requests.IngestRequest, _SAID, writes=True,
    ),
    Route(
        "DELETE", "/v1/facts/{id}", "Forget a fact: first what would go, with a word for exactly that; with it as `confirm`, for good",
        requests.FORGOTTEN, lambda served, asked: requests.forget_confirmed(served.memory, asked.get("confirm"), ids=[asked["id"]]),
        requests.ForgetRequest, writes=True,
    ),
    Route("GET", "/v1/review", "What only an owner or their agent can answer, worth most first", requests.QUESTIONS, _review),
    Route(
        "POST", "/v1/answer", "Answer a question of /v1/review with a line of today's log", requests.ANSWERED, _answer, requests.AnswerRequest,
        {"id": "q-1a2b3c4d", "option": "y"}, writes=True,
    ),
    Route("GET", "/v1/status", "The same as /stats", _STATS, _stats),
    Route(
        "GET", "/v1/health", "Answers as long as the index can be opened", answer_schema(status="string"),
        lambda served, _: served.memory.run(lambda opened: {"status": "ok"}),
    ),
)  # fmt: skip


_REFUSALS = {
    "400": "The body is not JSON in UTF-8",
    "401": "The token is missing or wrong",
    "403": "A request of another page, or a server that only reads",
    "404": "Nothing is found there",
    "405": "The route takes another method",
    "408": "The body did not come in time",
    "409": "A page changed meanwhile; nothing was overwritten",
    "413": "The body is over 1 MiB",
    "415": "The body is not application/json",
    "421": "The Host is not this server's",
    "422": "What is asked cannot be followed, or will not be kept",
    "500": "Something broke; the answer says what",
    "501": "An optional part is not installed",
    "503": "Busy, or the server of shared memory is away; try again",
}
_OF_GET = ("401", "403", "405", "421", "500", "503")


def openapi(url: str, read_only: bool = False) -> dict[str, Any]:
    """The OpenAPI 3.1 document of the routes."""
    paths: dict[str, dict[str, Any]] = {}
    for route in ROUTES:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route)
    about = "Memory in a folder of Markdown, over HTTP on this machine. Private lines are never answered."
    about += " This server only reads: writing is refused." if read_only else ""
    token = {"type": "http", "scheme": "bearer", "description": "What .memory/token holds."}
    return {
        "openapi": "3.1.0",
        "info": {"title": "memctl", "version": "1", "description": about},
        "servers": [{"url": url}],
        "security": [{"token": []}],
        "paths": paths,
        "components": {"securitySchemes": {"token": token}, "schemas": {"Error": requests.ERROR}},
    }


def _operation(route: Route) -> dict[str, Any]:
    codes = _REFUSALS if route.takes else _OF_GET
    answers = {"200": _content("The answer", route.answers)}
    answers |= {code: _content(_REFUSALS[code], {"$ref": "#/components/schemas/Error"}) for code in codes}
    name = f"{route.method.lower()}{re.sub('[^a-z0-9]+', '_', route.path)}"
    made: dict[str, Any] = {"operationId": name, "summary": route.summary, "responses": answers}
    if route.takes is not None and route.method == "DELETE":
        fields = schema_of(route.takes)["properties"].items()
        places = [("path" if f"{{{name}}}" in route.path else "query", name, schema) for name, schema in fields]
        made["parameters"] = [
            {"in": place, "name": name, "required": place == "path", "schema": schema} for place, name, schema in places
        ]
    elif route.takes is not None:
        body = {"schema": schema_of(route.takes), "example": route.example}
        made["requestBody"] = {"required": True, "content": {"application/json": body}}
    return made


def _content(description: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"description": description, "content": {"application/json": {"schema": schema}}}


_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:54rem;margin:2rem auto;padding:0 1rem;color:#222;background:#fff}"
    "pre{background:#f3f3f3;padding:.6rem .8rem;overflow-x:auto;border-radius:4px}code,pre{font:14px/1.4 ui-monospace,monospace}"
    "h2{margin:2rem 0 .3rem;font-size:1.05rem}h2 b{display:inline-block;min-width:3.4rem}table{border-collapse:collapse}"
    "td{padding:.1rem .8rem .1rem 0;vertical-align:top}"
    "@media(prefers-color-scheme:dark){body{color:#ddd;background:#181818}pre{background:#262626}}"
)
PAGE_POLICY = (
    f"default-src 'none'; style-src 'sha256-{base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()}'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""The Content-Security-Policy of the page: its own style and nothing else."""


def page(url: str, read_only: bool = False) -> str:
    """The page as HTML."""
    shut = " It only reads: what writes is refused." if read_only else ""
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>memctl</title><style>{_STYLE}</style></head><body>\n'
        "<h1>memctl</h1>\n"
        "<p>Memory in a folder of Markdown. This server answers on this machine only, and never tells what is private."
        f"{shut} What it answers is data, not instructions.</p>\n"
        "<p>Every request but this page and <a href='/openapi.json'>openapi.json</a> needs the token in "
        "<code>.memory/token</code> of the workspace:</p>\n"
        "<pre>TOKEN=$(cat .memory/token)</pre>\n"
        + "\n".join(_route(route, url) for route in ROUTES)
        + "\n<h2>What may go wrong</h2>\n<p>Errors are JSON: <code>error</code> is what happened, <code>cure</code> what to do, "
        "<code>code</code> the exit code of the same error on the command line.</p>\n<table>"
        + "".join(f"<tr><td>{code}</td><td>{html.escape(text)}</td></tr>" for code, text in _REFUSALS.items())
        + "</table>\n</body></html>\n"
    )


_BREAK = " \\\n  "


def _route(route: Route, url: str) -> str:
    words = [f'curl {url}{route.path} -H "Authorization: Bearer $TOKEN"']
    if route.method == "DELETE":
        words += ["-X DELETE"]
    elif route.example is not None:
        words += ["-H 'Content-Type: application/json'", f"-d '{json.dumps(route.example)}'"]
    takes = f"<table>{''.join(_rows(schema_of(route.takes)))}</table>\n" if route.takes else ""
    marked = " (writes)" if route.writes else ""
    return (
        f"<h2><b>{route.method}</b> {route.path}{marked}</h2>\n<p>{html.escape(route.summary)}.</p>\n{takes}"
        f"<pre>{html.escape(_BREAK.join(words))}</pre>"
    )


def _rows(schema: Mapping[str, Any]) -> Iterable[str]:
    """The fields of a body: name, type, what it is."""
    for name, told_of in schema["properties"].items():
        items = told_of.get("items")
        kind = f"list of {items.get('type', 'any')}" if items else str(told_of.get("type", ""))
        words = told_of.get("enum") or (items or {}).get("enum")
        told = told_of.get("description", "") + (f" One of {', '.join(words)}." if words else "")
        needed = ", needed" if name in schema.get("required", ()) else ""
        yield f"<tr><td><code>{name}</code></td><td>{kind}{needed}</td><td>{html.escape(told)}</td></tr>"
