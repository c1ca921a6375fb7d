"""What `memctl serve` answers: each route with its schemas, an example, and the verb behind it. Nothing private leaves."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..errors import NoWorkspace
from ..hits import answer_json
from ..memory import Memory
from .http_schemas import ANSWER, PACK, PASSAGES, RECALL, RETAIN, Schema, list_of, object_of, text, whole

__all__ = ["ROUTES", "Route", "Served"]

Body = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Served:
    """What one server serves: the memory, held open, and whether it may be written."""

    memory: Memory
    read_only: bool = False

    def answer(self, route: Route, asked: Body) -> dict[str, Any]:
        """What a route answers. NoWorkspace where the folder is gone: that is not an empty memory."""
        root = self.memory.workspace.root
        if not os.path.isdir(root):
            raise NoWorkspace(root, named=True)
        return route.run(self, asked)


class Route(NamedTuple):
    """One route. `takes` is None for GET; `example` is a body that works on any workspace."""

    method: str
    path: str
    summary: str
    answers: Schema
    run: Callable[[Served, Body], dict[str, Any]]
    takes: Schema | None = None
    example: Body | None = None
    writes: bool = False


# -- recall -----------------------------------------------------------------------------------------------------------


def _memories(served: Served, asked: Body) -> dict[str, Any]:
    found = served.memory.memories(asked["text"])
    return {"memories": found.text, "count": found.lines}


def _recall(served: Served, asked: Body) -> dict[str, Any]:
    filters = {name: asked.get(name) for name in ("key", "since", "until", "on", "as_of", "min_confidence")}
    query = served.memory.query(
        asked.get("query", ""), public=True, about=asked.get("about", ()), kinds=asked.get("kind", ()), **filters
    )
    answer = served.memory.recall(
        query, k=asked.get("k"), history=asked.get("history", False), vectors=asked.get("vectors", True),
        budget=asked.get("budget"), hops=asked.get("hops", 1),
    )  # fmt: skip
    return answer_json(answer, asked.get("explain", False))


def _show(served: Served, asked: Body) -> dict[str, Any]:
    found = served.memory.show(asked["ref"], int(asked.get("context", 3)), public=True)
    return {"schema": 1, "passages": [passage.as_json() for passage in found]}


def _context(served: Served, asked: Body) -> dict[str, Any]:
    pack = served.memory.context(
        asked.get("message", ""), budget=asked.get("budget"), about=asked.get("about", ()), since=asked.get("since")
    )
    return pack.as_json()


# -- writing ----------------------------------------------------------------------------------------------------------


def _retain(served: Served, asked: Body) -> dict[str, Any]:
    given = {name: value for name, value in asked.items() if name not in ("text", "date")}
    done = served.memory.retain(asked["text"], day=asked.get("date"), said_by="agent", **given)
    (kept,) = done.kept  # its diff stays here: it shows the lines around, private ones too
    made = {"schema": 1, "citation": str(kept.citation), "id": kept.ref, "already": kept.already}
    return made | {"dry_run": asked.get("dry_run", False), "warnings": list(done.warnings)}


def _store(served: Served, asked: Body) -> dict[str, Any]:
    return {name: value for name, value in _retain(served, asked).items() if name in ("citation", "id", "already")}


def _ingest_whole(served: Served, asked: Body) -> dict[str, Any]:
    apply = not asked.get("dry_run", False)
    done = served.memory.ingest_exchange(asked["user_msg"], asked["assistant_msg"], apply=apply)
    return {
        "schema": 1,
        "stored": len(done.kept) if apply else 0,
        "kept": [{"citation": str(one.citation), "id": one.ref, "already": one.already} for one in done.kept],
        "candidates": [
            {"content": one.fact.text, "kind": one.fact.kind.value, "rule": one.rule, "reason": one.reason}
            for one in done.candidates
        ],
        "refused": [{"code": one.code, "reason": one.reason} for one in done.refused],
        "complete": done.complete,
        "warnings": list(done.warnings),
    }


def _ingest(served: Served, asked: Body) -> dict[str, Any]:
    return {"stored": _ingest_whole(served, asked)["stored"]}


# -- state ------------------------------------------------------------------------------------------------------------

_STATS = (
    "kinds", "pages", "first_day", "last_day", "entities", "beliefs", "markdown_bytes", "index_bytes", "fresh", "stale",
    "search", "versions",
)  # fmt: skip


def _stats(served: Served, asked: Body) -> dict[str, Any]:
    state = served.memory.status()
    found = state.as_json()
    shown: dict[str, Any] = {name: found[name] for name in _STATS}
    return {"schema": 1, **shown, "problems": len(state.problems), "read_only": served.read_only}


def _health(served: Served, asked: Body) -> dict[str, Any]:
    served.memory.run(lambda memory: None)
    return {"status": "ok"}


# -- the list ---------------------------------------------------------------------------------------------------------

_STRING, _WHOLE, _BOOLEAN = ({"type": name} for name in ("string", "integer", "boolean"))
_STRINGS = list_of(_STRING)
_STATS_SCHEMA = object_of(
    {
        "schema": {"const": 1}, "kinds": {"type": "object", "additionalProperties": _WHOLE}, "pages": _WHOLE,
        "entities": _WHOLE, "beliefs": _WHOLE, "fresh": _BOOLEAN, "stale": {"type": ["string", "null"]},
        "first_day": {"type": ["string", "null"]}, "last_day": {"type": ["string", "null"]}, "search": _STRING,
        "markdown_bytes": _WHOLE, "index_bytes": _WHOLE, "versions": {"type": "object"}, "problems": _WHOLE,
        "read_only": _BOOLEAN,
    }
)  # fmt: skip
_CITED = {"citation": _STRING, "id": _STRING, "already": _BOOLEAN}
_MESSAGE = text("Plain text.", longest=1_000_000)
_EXCHANGE = {"user_msg": _MESSAGE, "assistant_msg": _MESSAGE}
_SAID = {"user_msg": "Remember: the demo is on Friday.", "assistant_msg": "Noted."}

ROUTES = (
    Route(
        "POST", "/recall", "What belongs to a message, as a block for a prompt; empty and 0 where nothing does",
        object_of({"memories": _STRING, "count": _WHOLE}), _memories,
        object_of({"text": text("A message, as it was said.", longest=200_000)}, closed=True), {"text": "Why PostgreSQL?"},
    ),
    Route(
        "POST", "/ingest", "Keep what is worth keeping of one exchange; says how many facts it kept",
        object_of({"stored": _WHOLE}), _ingest, object_of(_EXCHANGE, closed=True), _SAID, writes=True,
    ),
    Route(
        "POST", "/store", "Write one fact down; when this answers, it is on disk",
        object_of(_CITED), _store,
        object_of({"text": RETAIN["properties"]["text"]}, {"source": RETAIN["properties"]["source"]}, closed=True),
        {"text": "O(0.9) @Peter: Prefers short replies"}, writes=True,
    ),
    Route("GET", "/stats", "Counts, days, sizes and freshness", _STATS_SCHEMA, _stats),
    Route("POST", "/v1/recall", "Facts with their proof: all of `memctl recall --json`", ANSWER, _recall, RECALL, {"query": "why PostgreSQL", "k": 3}),
    Route(
        "POST", "/v1/show", "The lines that a citation, an id, an entity or a page points at", PASSAGES, _show,
        object_of(
            {"ref": text("path#L12, an id, an entity or a page.", minLength=1)},
            {"context": whole(0, 1000, 3, "Lines around it.")}, closed=True,
        ),
        {"ref": "memory.md"},
    ),
    Route(
        "POST", "/v1/context", "A prompt pack: core, lessons, recent lines, what belongs to a message; trusted lines only",
        PACK, _context,
        object_of(
            {},
            {
                "message": text("The newest message.", longest=200_000),
                "budget": whole(1, 10_000_000, description="Tokens [default: as in memctl.toml]."),
                "about": RECALL["properties"]["about"], "since": RECALL["properties"]["since"],
            },
            closed=True,
        ),
        {"message": "Why PostgreSQL?", "budget": 2000},
    ),
    Route(
        "POST", "/v1/retain", "Write one fact down, with all of its attributes",
        object_of({"schema": {"const": 1}, **_CITED, "dry_run": _BOOLEAN, "warnings": _STRINGS}), _retain, RETAIN,
        {"text": "The demo is on Friday", "about": ["Atlas"], "source": "user"}, writes=True,
    ),
    Route(
        "POST", "/v1/ingest", "Keep what is worth keeping of one exchange, and say what, why, and what was refused",
        object_of(
            {
                "schema": {"const": 1}, "stored": _WHOLE, "kept": list_of(object_of(_CITED)), "complete": _BOOLEAN,
                "candidates": list_of(object_of({"content": _STRING, "kind": _STRING, "rule": _STRING, "reason": _STRING})),
                "refused": list_of(object_of({"code": _STRING, "reason": _STRING})), "warnings": _STRINGS,
            }
        ),
        _ingest_whole,
        object_of(_EXCHANGE, {"dry_run": {"type": "boolean", "default": False}}, closed=True), _SAID, writes=True,
    ),
    Route("GET", "/v1/status", "The same as /stats", _STATS_SCHEMA, _stats),
    Route("GET", "/v1/health", "Answers as long as the index can be opened", object_of({"status": _STRING}), _health),
)  # fmt: skip
