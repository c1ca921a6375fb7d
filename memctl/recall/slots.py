"""Fact: slots. The newest line with an (entity, key) is its current value, older ones are its history."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import date
from typing import NamedTuple

from ..errors import NothingFound
from ..hits import Hit
from ..index.heal import with_index
from ..index.index import Index
from ..index.queries.entries import in_slots, slot_keys
from ..index.queries.names import keys_of
from ..index.reread import reread
from ..index.sync import freshen, silent
from ..notes.workspace import Workspace
from ..truth.judge import judge
from ..truth.validity import Claim, Standing, versions
from .entry_hits import hit_of

__all__ = ["current_slots", "get_fact", "history"]


class _Version(NamedTuple):
    claim: Claim
    standing: Standing
    hit: Hit


def history(
    workspace: Workspace,
    key: str,
    about: str | None,
    today: date,
    as_of: date | None = None,
    tell: Callable[[str], None] = silent,
) -> tuple[Hit, ...]:
    """Every version of a slot from the first to the last, with the days on which it held; NothingFound if there is none.

    Without `about`, the versions of everybody's slot of that key, one bearer after the other.
    """
    found = with_index(workspace, lambda index: _fresh(workspace, index, key, about, today, as_of, tell))
    return tuple(version.hit for version in found)


def get_fact(
    workspace: Workspace,
    key: str,
    about: str | None,
    today: date,
    as_of: date | None = None,
    tell: Callable[[str], None] = silent,
) -> tuple[Hit, ...]:
    """The current value of a slot (of each bearer, without `about`); NothingFound if nothing holds on that day."""
    found = with_index(workspace, lambda index: _fresh(workspace, index, key, about, today, as_of, tell))
    holding = _current(found, as_of or today)
    if not holding:
        raise NothingFound(f"nothing holds for {key!r} now", f"`memctl fact history {key}` shows what did")
    return holding


def _current(found: Iterable[_Version], today: date) -> tuple[Hit, ...]:
    """What holds, in order; of several lines that give one value, the newest."""
    newest = {(v.claim.slots, v.claim.same): v.hit for v in found if v.standing.holds(today)}
    return tuple(newest.values())


def _fresh(
    workspace: Workspace,
    index: Index,
    key: str,
    about: str | None,
    today: date,
    as_of: date | None,
    tell: Callable[[str], None],
) -> list[_Version]:
    freshen(workspace, index, tell)
    names = None if about is None else keys_of(index, about.removeprefix("@"))
    found = _versions(workspace, index, key, names, as_of or today, as_of)
    if not found:
        whose = (f" of {about}" if about else "") + (f" as of {as_of}" if as_of else "")
        raise NothingFound(f"no fact has key={key}{whose}", _instead(index, key, names))
    return found


def _instead(index: Index, key: str, names: tuple[str, ...] | None) -> str:
    """What to ask for where a slot is empty."""
    if in_slots(index, key, names):
        return f"it was filled later; `memctl fact history {key}` shows how"
    keys = slot_keys(index, names) if names else []
    return f"known keys: {', '.join(keys)}" if keys else "see `memctl recall key:…`"


def _versions(
    workspace: Workspace, index: Index, key: str, names: tuple[str, ...] | None, today: date, as_of: date | None
) -> list[_Version]:
    entries = {entry.id: entry for entry in in_slots(index, key, names)}
    verdict = judge(index, entries.values(), today, as_of)
    claims = [verdict.claims[i] for i in entries if i in verdict.claims]
    by_bearer = sorted({claim.slots for claim in claims})
    ordered = [claim for bearer in by_bearer for claim in versions(c for c in claims if c.slots == bearer)]
    seen = reread(workspace, entries.values())
    return [
        _Version(c, verdict.standings[c.id], hit_of(index, entries[c.id], seen[c.id], verdict, today))
        for c in ordered
        if c.id in seen
    ]


def current_slots(workspace: Workspace, index: Index, name: str, today: date) -> tuple[tuple[str, Hit], ...]:
    """(key, current value) of every slot of an entity that holds something today."""
    names = keys_of(index, name)
    found = [
        (key, hit)
        for key in slot_keys(index, names)
        for hit in _current(_versions(workspace, index, key, names, today, None), today)
    ]
    return tuple(found)
