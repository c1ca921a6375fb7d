"""What `memctl serve` answers: each route with its schemas, an example, and the verb behind it. Nothing private leaves."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from ...errors import NoWorkspace, Usage
from ...hits import answer_json
from ...index.open_memory import OpenMemory
from ...index.resident import Resident
from ...language.dates import parse_when
from ...notes.workspace import Workspace
from ...recall.query import read_query
from .schemas import ANSWER, PACK, PASSAGES, RECALL, RETAIN, Schema, list_of, object_of, text, whole

if TYPE_CHECKING:
    from ...ingest.ingest import RefusedText

__all__ = ["ROUTES", "Route", "Served"]

Body = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Served:
    """What one server serves: the workspace, held open, what time it is, and whether it may be written."""

    resident: Resident
    now: Callable[[], datetime]
    read_only: bool = False

    @property
    def workspace(self) -> Workspace:
        """The workspace, with its settings as they are now."""
        return self.resident.workspace

    @property
    def today(self) -> date:
        """The local day."""
        return self.now().date()

    def answer(self, route: Route, asked: Body) -> dict[str, Any]:
        """What a route answers. NoWorkspace where the folder is gone: that is no memory without anything in it."""
        if not os.path.isdir(self.workspace.root):
            raise NoWorkspace(self.workspace.root, named=True)
        return route.run(self, asked)

    def warm(self) -> None:
        """Bring the index up to date, so that the first answer does not wait for that."""
        from ...recall.recall import recall

        recall(self.workspace, read_query("", self.today), today=self.today, k=1, through=self.resident)


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
    from ...context.memories import memories

    found = memories(
        served.workspace, asked["text"], today=served.today, k=served.workspace.settings.k, through=served.resident
    )
    return {"memories": found.text, "count": found.lines}


def _recall(served: Served, asked: Body) -> dict[str, Any]:
    from ...recall.recall import recall

    today = served.today
    query = read_query(
        asked.get("query", ""), today, about=asked.get("about", ()), kinds=asked.get("kind", ()),
        min_confidence=asked.get("min_confidence"),
        **{name: asked.get(name) for name in ("key", "since", "until", "on", "as_of")},
    )  # fmt: skip
    options = {
        "today": today, "k": int(asked.get("k", served.workspace.settings.k)), "history": asked.get("history", False),
        "vectors": asked.get("vectors", True), "budget": asked.get("budget"), "through": served.resident,
    }  # fmt: skip
    query = replace(query, public=True)
    if asked.get("hops", 1) > 1:
        from ...recall.related import recall_further

        answer = recall_further(served.workspace, query, hops=int(asked["hops"]), **options)
    else:
        answer = recall(served.workspace, query, **options)
    return answer_json(answer, asked.get("explain", False))


def _show(served: Served, asked: Body) -> dict[str, Any]:
    from ...recall.show import show

    found = show(
        served.workspace, asked["ref"], int(asked.get("context", 3)), public=True, through=served.resident
    )  # fmt: skip
    shown = [
        {"source": str(one.citation), "id": one.ref, "first": one.first, "lines": list(one.lines)} for one in found
    ]
    return {"schema": 1, "passages": shown}


def _context(served: Served, asked: Body) -> dict[str, Any]:
    from ...context.assembly import pack_json
    from ...context.context import context

    budget = asked.get("budget")
    pack = context(
        served.workspace, asked.get("message", ""), today=served.today, budget=None if budget is None else int(budget),
        about=asked.get("about", ()), since=asked.get("since"), through=served.resident,
    )  # fmt: skip
    return pack_json(pack)


# -- writing ----------------------------------------------------------------------------------------------------------

_ATTRIBUTES = {
    "confidence": "c", "key": "key", "when": "t", "until": "until", "importance": "i", "outcome": "outcome",
    "task": "task", "why": "why", "source": "src", "ttl": "ttl", "supports": "for", "against": "against",
    "supersedes": "supersedes", "corrects": "corrects", "cue": "cue",
}  # fmt: skip


def _retain(served: Served, asked: Body) -> dict[str, Any]:
    from ...retain.retain import read_fact, retain

    values = {
        name: [str(item) for item in (asked[key] if isinstance(asked[key], list) else [asked[key]])]
        for key, name in _ATTRIBUTES.items()
        if key in asked
    }
    values |= {"private": ["true"]} if asked.get("private") else {}
    fact = read_fact(asked["text"], kind=asked.get("kind"), about=asked.get("about", ()), values=values)
    fact = fact if fact.source else replace(fact, source="agent")
    dry_run = asked.get("dry_run", False)
    memory = OpenMemory(served.workspace, served.now, resident=served.resident)
    done = retain(memory, [fact], _day(asked.get("date"), served.today), dry_run=dry_run)
    (kept,) = done.kept  # its diff stays here: it shows the lines around, private ones too
    return {
        "schema": 1, "citation": str(kept.citation), "id": kept.ref, "already": kept.already, "dry_run": dry_run,
        "warnings": list(done.warnings),
    }  # fmt: skip


def _day(written: str | None, today: date) -> date:
    period = parse_when(written, today) if written is not None else None
    if written is None:
        return today
    if period is None or period.first is None or period.first != period.last:
        raise Usage(f"date {written!r} is not a day", "write 2025-11-27 or yesterday")
    return period.first


def _store(served: Served, asked: Body) -> dict[str, Any]:
    return {name: value for name, value in _retain(served, asked).items() if name in ("citation", "id", "already")}


_INGEST_SECONDS = 10.0


def _ingest_whole(served: Served, asked: Body) -> dict[str, Any]:
    from ...memory import Memory

    apply = not asked.get("dry_run", False)
    memory = Memory(served.workspace, served.now, resident=served.resident)
    done = memory.ingest_exchange(asked["user_msg"], asked["assistant_msg"], apply=apply, seconds=_INGEST_SECONDS)
    return {
        "schema": 1,
        "stored": len(done.kept) if apply else 0,
        "kept": [{"citation": str(one.citation), "id": one.ref, "already": one.already} for one in done.kept],
        "candidates": [
            {"content": one.fact.text, "kind": one.fact.kind.value, "rule": one.rule, "reason": one.reason}
            for one in done.candidates
            if not one.fact.private
        ],
        "refused": _told(served, done.refused),
        "complete": done.complete,
        "warnings": list(done.warnings),
    }


def _told(served: Served, refused: Sequence[RefusedText]) -> list[dict[str, str]]:
    """What was refused and why; where a private line is the reason, not which."""
    from ...index.public import private_entries

    places = served.resident.run(private_entries).places
    hidden = {f"{path}#L{line}" for path, line in places}
    return [
        {"code": one.code, "reason": one.code if hidden & set(_CITED_LINE.findall(one.reason)) else one.reason}
        for one in refused
    ]


_CITED_LINE = re.compile(r"[^\s:]+#L\d+")


def _ingest(served: Served, asked: Body) -> dict[str, Any]:
    return {"stored": _ingest_whole(served, asked)["stored"]}


# -- state ------------------------------------------------------------------------------------------------------------

_STATS = (
    "kinds", "pages", "first_day", "last_day", "entities", "beliefs", "markdown_bytes", "index_bytes", "fresh", "stale",
    "search", "versions",
)  # fmt: skip


def _stats(served: Served, asked: Body) -> dict[str, Any]:
    from ...maintenance.status import status

    state = status(served.workspace)
    found = state.as_json()
    shown: dict[str, Any] = {name: found[name] for name in _STATS}
    return {"schema": 1, **shown, "problems": len(state.problems), "read_only": served.read_only}


def _health(served: Served, asked: Body) -> dict[str, Any]:
    served.resident.run(lambda index: None)
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
