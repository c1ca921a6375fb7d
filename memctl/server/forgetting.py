"""Forgetting for callers that are not the owner: first what would go and a word for exactly that, then with this word."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from ..errors import NothingFound, Refused
from ..facts import fields
from .requests import ONE, answer_schema, list_of

if TYPE_CHECKING:
    from ..memory import Forgetting, Memory

_MOST = 100  # lines that a person can look through before they say yes
_LINE = answer_schema(id="string", source="string", kind="string", reason="string")
FORGOTTEN = answer_schema(schema=ONE, applied="boolean", confirm="string?", warnings="string*", lines=list_of(_LINE))


def forget_confirmed(memory: Memory, confirm: str | None = None, **selectors: Any) -> dict[str, Any]:
    """What would be forgotten, with the `confirm` that stands for exactly that; with this word, what was.

    Private lines are as if they were not there. NothingFound; Refused for too many lines, for another `confirm`, and for a
    line with a private twin, which only the owner can tell apart.
    """
    planned = memory.public().forget(**selectors)
    lines = planned.lines
    if not lines:
        raise NothingFound("nothing to forget", "look with recall, and name lines by their ids")
    if len(lines) > _MOST:
        raise Refused(f"{len(lines)} lines at once", "narrow it down, with before or ids")
    told = [repr(sorted(selectors.items())), *(f"{line.ref} {line.citation}" for line in lines)]
    token = f"forget-{len(lines)}-{hashlib.sha256(json.dumps(told).encode()).hexdigest()[:12]}"
    if confirm is None:
        return _as_json(planned, token)
    if confirm != token:
        raise Refused("the lines to forget have changed since this confirm", "call without confirm and look again")
    ids = list(dict.fromkeys(line.ref for line in lines))
    if [line.citation for line in memory.forget(ids=ids).lines] != [line.citation for line in lines]:
        raise Refused("only the owner may forget one of these", "ask them to run `memctl forget`")
    return _as_json(memory.forget(ids=ids, apply=True), None)


def _as_json(done: Forgetting, token: str | None) -> dict[str, Any]:
    rows = [fields(line, "id=ref source=citation kind reason") for line in done.lines]
    return {"schema": 1, "applied": token is None, "confirm": token, "lines": rows, "warnings": list(done.warnings)}
