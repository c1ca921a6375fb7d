"""What the writing tools of `memctl mcp` do, which are there only with --allow-write. What is private is never told back."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..errors import NothingFound, Refused
from ..markdown.grammar import render
from ..markdown.printable import one_line, printable
from .mcp_tools import Session, Told, bounded

if TYPE_CHECKING:
    from ..memory import Line

__all__ = ["forget", "reflect", "retain"]

_MOST_FORGOTTEN = 100  # lines that a person can look through before they say yes


# -- retain -----------------------------------------------------------------------------------------------------------


def retain(session: Session, *, text: str, dry_run: bool = False, **given: Any) -> Told:
    """Write a fact down; when this answers, it is on disk. One without a source was said by the agent."""
    done = session.memory.retain(text, dry_run=dry_run, said_by="agent", **given)
    (fact,) = (one.fact for one in done.kept)
    kept = [{"id": one.ref, "source": str(one.citation), "already": one.already} for one in done.kept]
    line, warnings = render(fact), bounded(done.warnings)
    said = [f"{one.citation} ^{one.ref}" + (" stood there already" if one.already else "") for one in done.kept]
    text = "\n".join(
        ["would be kept as:" if dry_run else "kept:", *said, f"  {printable(line)}", *map(_note, warnings)]
    )
    return Told({"schema": 1, "dry_run": dry_run, "kept": kept, "line": line, "warnings": warnings}, text)


def _note(text: str) -> str:
    return f"note: {printable(one_line(text))}"


# -- reflect ----------------------------------------------------------------------------------------------------------


def reflect(session: Session, *, since: str | None = None, dry_run: bool = False) -> Told:
    """Bring the pages of bank/ up to date with the facts."""
    done = session.memory.reflect(since=since, dry_run=dry_run)
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


# -- forget -----------------------------------------------------------------------------------------------------------


def forget(session: Session, *, confirm: str | None = None, **selectors: Any) -> Told:
    """List what would be forgotten, with a word that stands for exactly that; with this word, forget exactly that."""
    planned = session.memory.forget(public=True, **selectors)
    lines = planned.lines
    if not lines:
        raise NothingFound("nothing to forget", "look with recall, and name lines by their ids")
    if len(lines) > _MOST_FORGOTTEN:
        raise Refused(f"{len(lines)} lines at once", "narrow it down, with before or ids")
    token = _token(selectors, lines)
    if confirm is None:
        return _forgotten(lines, token, planned.warnings)
    if confirm != token:
        raise Refused("confirm does not stand for what would be forgotten now", "call without confirm and look again")
    done = session.memory.forget(ids=list(dict.fromkeys(line.ref for line in lines)), apply=True)
    return _forgotten(done.lines, None, done.warnings)


def _token(selectors: Mapping[str, Any], lines: Sequence[Line]) -> str:
    told = [repr(sorted(selectors.items())), *(f"{line.ref} {line.citation}" for line in lines)]
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
