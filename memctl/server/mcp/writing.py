"""What the writing tools of `memctl mcp` do, which are there only with --allow-write. What is private is never told back."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime, time
from typing import TYPE_CHECKING, Any

from ...errors import NothingFound, Refused, Usage
from ...index.open_memory import OpenMemory
from ...index.queries.entries import by_refs
from ...language.dates import parse_when
from ...markdown.grammar import render
from ...markdown.printable import one_line, printable
from .reading import Session, Told, bounded

if TYPE_CHECKING:
    from ...forget.forget import Line
    from ...forget.rules import Asked

__all__ = ["forget", "reflect", "retain"]

_MOST_FORGOTTEN = 100  # lines that a person can look through before they say yes


# -- retain -----------------------------------------------------------------------------------------------------------

_ATTRIBUTES = {
    "confidence": "c", "key": "key", "when": "t", "until": "until", "importance": "i", "outcome": "outcome",
    "task": "task", "why": "why", "source": "src",
}  # fmt: skip


def retain(
    session: Session, *, text: str, kind: str | None = None, about: Sequence[str] = (), supersedes: Sequence[str] = (),
    private: bool = False, dry_run: bool = False, **given: Any,
) -> Told:  # fmt: skip
    """Write a fact down; when this answers, it is on disk. One without a source was said by the agent."""
    from ...retain.retain import read_fact
    from ...retain.retain import retain as run

    values = {_ATTRIBUTES[name]: [str(value)] for name, value in given.items()}
    values |= {"supersedes": list(supersedes)} if supersedes else {}
    values |= {"private": ["true"]} if private else {}
    fact = read_fact(text, kind=kind, about=about, values=values)
    fact = fact if fact.source else replace(fact, source="agent")
    done = run(_memory(session), [fact], session.today(), dry_run=dry_run)
    kept = [{"id": one.ref, "source": str(one.citation), "already": one.already} for one in done.kept]
    line, warnings = render(fact), bounded(done.warnings)
    said = [f"{one.citation} ^{one.ref}" + (" stood there already" if one.already else "") for one in done.kept]
    text = "\n".join(
        ["would be kept as:" if dry_run else "kept:", *said, f"  {printable(line)}", *map(_note, warnings)]
    )
    return Told({"schema": 1, "dry_run": dry_run, "kept": kept, "line": line, "warnings": warnings}, text)


def _memory(session: Session) -> OpenMemory:
    noon = datetime.combine(session.today(), time(12))
    return OpenMemory(session.workspace, lambda: noon, resident=session.resident)


def _note(text: str) -> str:
    return f"note: {printable(one_line(text))}"


# -- reflect ----------------------------------------------------------------------------------------------------------


def reflect(session: Session, *, since: str | None = None, dry_run: bool = False) -> Told:
    """Bring the pages of bank/ up to date with the facts."""
    from ...reflect.reflect import reflect as run

    today = session.today()
    done = run(_memory(session), since=_first_day("since", since, today), dry_run=dry_run)
    beliefs = [
        {"id": moved.ref, "content": moved.text, "before": moved.before, "after": moved.after}
        for moved in done.beliefs[:100]
    ]
    pages, warnings = bounded(done.pages), bounded(done.notes, 20)
    lines = [f"{'would write' if dry_run else 'wrote'} {len(done.pages)} pages" if pages else "nothing changed"]
    lines += [f"  {printable(path)}" for path in pages]
    lines += [f"  {_moved(belief)}" for belief in beliefs]
    lines += [f"{done.conflicts} conflicts; `memctl conflicts` shows them"] if done.conflicts else []
    made = {"schema": 1, "applied": not dry_run, "pages": pages, "beliefs": beliefs, "conflicts": done.conflicts}
    return Told(made | {"warnings": warnings}, "\n".join([*lines, *map(_note, warnings)]))


def _moved(belief: dict[str, Any]) -> str:
    sides = (f"{value:.2f}" if value is not None else "none" for value in (belief["before"], belief["after"]))
    return f"{' → '.join(sides)} {printable(one_line(belief['content']))} ^{belief['id']}"


def _first_day(name: str, written: str | None, today: date) -> date | None:
    if written is None:
        return None
    period = parse_when(written, today)
    if period is None or period.first is None:
        raise Usage(f"{name} {written!r} is not understood", "write 7d, 2025-11-27 or 2025-11")
    return period.first


# -- forget -----------------------------------------------------------------------------------------------------------


def forget(
    session: Session, *, ids: Sequence[str] = (), about: Sequence[str] = (), source: str | None = None,
    before: str | None = None, expired: bool = False, unused: bool = False, confirm: str | None = None,
) -> Told:  # fmt: skip
    """List what would be forgotten, with a word that stands for exactly that; with this word, forget exactly that."""
    from ...forget.forget import forget as run
    from ...forget.rules import Asked

    today = session.today()
    asked = Asked(tuple(ids), tuple(about), source, _first_day("before", before, today), expired, unused)
    planned = run(_memory(session), asked)
    lines = _public(session, planned.lines)
    if not lines:
        raise NothingFound("nothing to forget", "look with recall, and name lines by their ids")
    if len(lines) > _MOST_FORGOTTEN:
        raise Refused(f"{len(lines)} lines at once", "narrow it down, with before or ids")
    token = _token(asked, lines)
    if confirm is None:
        return _forgotten(lines, token, planned.warnings)
    if confirm != token:
        raise Refused("confirm does not stand for what would be forgotten now", "call without confirm and look again")
    done = run(_memory(session), Asked(ids=tuple(dict.fromkeys(line.ref for line in lines))), apply=True)
    return _forgotten(done.lines, None, done.warnings)


def _public(session: Session, lines: Sequence[Line]) -> list[Line]:
    """Without the private ones: what a client cannot see, it cannot forget."""
    found = session.resident.run(lambda index: by_refs(index, {line.ref for line in lines}))
    private = {entry.ref for entry in found if entry.private}
    return [line for line in lines if line.ref not in private]


def _token(asked: Asked, lines: Sequence[Line]) -> str:
    told = [repr(asked), *(f"{line.ref} {line.citation}" for line in lines)]
    return f"forget-{len(lines)}-{hashlib.sha256(json.dumps(told).encode()).hexdigest()[:12]}"


def _forgotten(lines: Sequence[Line], token: str | None, warnings: Sequence[str]) -> Told:
    rows = [
        {"id": line.ref, "source": str(line.citation), "kind": line.kind.value, "reason": line.reason} for line in lines
    ]
    head = f"{len(lines)} lines {'would be' if token else 'are'} forgotten:"
    text = [head, *(f"  {line.citation} ^{line.ref} {printable(line.reason)}".rstrip() for line in lines)]
    text += [f"to do it, call again with confirm={token}"] if token else []
    made = {"schema": 1, "applied": token is None, "confirm": token, "lines": rows, "warnings": bounded(warnings, 20)}
    return Told(made, "\n".join([*text, *map(_note, bounded(warnings, 20))]))
