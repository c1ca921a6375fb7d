"""JSON Schemas of what `memctl serve` takes and answers, written by hand; requests are checked by the very same."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .http_gate import Refusal

__all__ = [
    "ANSWER",
    "ERROR",
    "PACK",
    "PASSAGES",
    "RECALL",
    "RETAIN",
    "Schema",
    "checker",
    "list_of",
    "object_of",
    "one_of",
    "text",
    "whole",
]

Schema = Mapping[str, Any]

_WHEN = '30d, 2025-11, 2025-11-27 or a phrase such as "last week"'


def text(description: str = "", longest: int = 1000, **more: Any) -> Schema:
    """A text of bounded length."""
    return _told({"type": "string", "maxLength": longest, **more}, description)


def whole(least: int, most: int, default: int | None = None, description: str = "") -> Schema:
    """A whole number within bounds."""
    made = {"type": "integer", "minimum": least, "maximum": most}
    return _told(made if default is None else made | {"default": default}, description)


def list_of(items: Schema, description: str = "", most: int | None = None) -> Schema:
    """A list of such items."""
    return _told({"type": "array", "items": items} | ({} if most is None else {"maxItems": most}), description)


def one_of(*words: str) -> Schema:
    """One of some words."""
    return {"type": "string", "enum": list(words)}


def object_of(
    required: Mapping[str, Schema], optional: Mapping[str, Schema] | None = None, closed: bool = False
) -> Schema:
    """An object with these keys; a closed one has no others."""
    made: dict[str, Any] = {"type": "object", "properties": {**required, **(optional or {})}}
    made |= {"required": list(required)} if required else {}
    return made | ({"additionalProperties": False} if closed else {})


def _told(schema: dict[str, Any], description: str) -> Schema:
    return schema | ({"description": description} if description else {})


def _flag(description: str) -> Schema:
    return _told({"type": "boolean", "default": False}, description)


def _share(description: str) -> Schema:
    return _told({"type": "number", "minimum": 0, "maximum": 1}, description)


_STRING, _WHOLE, _NUMBER, _BOOLEAN = ({"type": name} for name in ("string", "integer", "number", "boolean"))
_STRING_OR_NULL, _NUMBER_OR_NULL = {"type": ["string", "null"]}, {"type": ["number", "null"]}
_STRINGS = list_of(_STRING)
_SCHEMA = {"const": 1}

# -- what is taken ----------------------------------------------------------------------------------------------------

_NAMES = list_of(text(longest=200, minLength=1), "Whom or what it is about.", most=50)
RECALL = object_of(
    {},
    {
        "query": text("Words; also @Name, kind:opinion, since:30d, key:db. Without: the newest.", longest=200_000),
        "k": whole(1, 1000, description="How many hits at most [default: as in memctl.toml]."),
        "since": text(_WHEN), "until": text(_WHEN), "on": text(_WHEN),
        "as_of": text("Answer as of that day, from what was known by then."),
        "about": _NAMES,
        "kind": list_of(one_of("world", "experience", "opinion", "observation", "note"), most=5),
        "key": text("Only facts that fill this slot."),
        "min_confidence": _share("Leave out opinions held less surely."),
        "vectors": _told({"type": "boolean", "default": True}, "False: by words only."),
        "hops": whole(1, 3, 1, "2 or 3: also what the hits lead to by the names they share."),
        "budget": whole(1, 10_000_000, description="Never more than that many tokens."),
        "history": _flag("Every version of what a hit says."),
        "explain": _flag("How each score came about."),
    },
    closed=True,
)  # fmt: skip
RETAIN = object_of(
    {"text": text("A full grammar line, or plain text.", longest=16_000, minLength=1)},
    {
        "kind": one_of("world", "experience", "opinion", "observation"),
        "about": _NAMES,
        "confidence": _share("How sure; makes an opinion."),
        "key": text("The slot that it fills."),
        "when": text("When it is true: 2025-11, 2025-11-27..2025-12-01."),
        "until": text("The day on which it ends."),
        "importance": _share("How important."),
        "outcome": one_of("ok", "fail"),
        "task": text("What was attempted."), "why": text("Why it came out so."),
        "supports": list_of(text(longest=70), "Ids of what it speaks for.", most=50),
        "against": list_of(text(longest=70), "Ids of what it speaks against.", most=50),
        "supersedes": list_of(text(longest=70), "Ids of what it replaces.", most=50),
        "corrects": list_of(text(longest=70), "Ids of what was never true.", most=50),
        "source": text("user, agent, tool, web or import, with :name [default: agent]. tool, web, import are untrusted."),
        "ttl": text("Forget after that long: 90d."),
        "cue": list_of(text(), "Other words to find it by; never shown.", most=20),
        "private": _flag("Kept, and never answered by this server."),
        "date": text("The log's day [default: today]."),
        "dry_run": _flag("Write nothing; the answer says what would stand where."),
    },
    closed=True,
)  # fmt: skip

# -- what is answered -------------------------------------------------------------------------------------------------

_VALID = object_of({"from": _STRING_OR_NULL, "to": _STRING_OR_NULL})
_HIT = object_of(
    {
        "id": _STRING, "kind": _STRING, "timestamp": _STRING_OR_NULL, "valid": _VALID, "entities": _STRINGS,
        "content": _STRING, "source": _STRING, "path": _STRING, "line": _WHOLE, "end_line": _WHOLE, "heading": _STRING,
        "confidence": _NUMBER_OR_NULL, "importance": _NUMBER_OR_NULL, "origin": _STRING, "trusted": _BOOLEAN,
        "superseded_by": _STRING_OR_NULL, "score": _NUMBER,
        "why": {"type": "object", "additionalProperties": _WHOLE},
    },
    {
        "expired": _BOOLEAN, "retracted": _BOOLEAN, "also": _STRINGS, "belief": _STRING, "evidence": _STRINGS, "via": _STRINGS,
        "history": list_of(object_of({"id": _STRING, "source": _STRING, "valid": _VALID, "content": _STRING})),
        "explain": {"type": "object"},
    },
)  # fmt: skip
ANSWER = object_of(
    {
        "schema": _SCHEMA, "query": _STRING, "as_of": _STRING_OR_NULL, "stale": _BOOLEAN, "warnings": _STRINGS,
        "took_ms": _NUMBER, "hits": list_of(_HIT),
    },
    {"related": list_of(_HIT), "vectors": object_of({"model": _STRING, "embedded": _WHOLE, "missing": _WHOLE})},
)  # fmt: skip
PASSAGES = object_of(
    {
        "schema": _SCHEMA,
        "passages": list_of(
            object_of({"source": _STRING, "id": _STRING_OR_NULL, "first": _WHOLE, "lines": _STRINGS})
        ),
    }
)  # fmt: skip
PACK = object_of(
    {
        "schema": _SCHEMA, "text": _STRING, "stable": _STRING, "recalled": _STRING, "budget": _WHOLE, "used": _WHOLE,
        "layers": {"type": "object", "additionalProperties": _WHOLE}, "warnings": _STRINGS,
        "items": list_of(object_of({"layer": _STRING, "id": _STRING, "content": _STRING, "source": _STRING})),
    }
)  # fmt: skip
ERROR = object_of({"error": _STRING, "cure": _STRING}, {"code": _WHOLE})


def checker(schema: Schema) -> Callable[[Mapping[str, Any]], Refusal | None]:
    """A check of request bodies against a schema; the first thing that is wrong is told, in one line."""
    from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

    validator = Draft202012Validator(dict(schema))

    def check(body: Mapping[str, Any]) -> Refusal | None:
        error = next(validator.iter_errors(body), None)
        if error is None:
            return None
        where = ".".join(map(str, error.absolute_path))
        what = " ".join(error.message.split())
        what = what if len(what) <= 200 else f"not valid by `{error.validator}`"
        return Refusal(422, f"{where}: {what}" if where else what, "see GET /openapi.json")

    return check
