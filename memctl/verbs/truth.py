"""What stands where: gathers every version of the slots that some entries fill, and lets core/truth.py judge."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import NamedTuple

from ..core.truth import Claim, Standing, standings
from ..facts import Period, is_trusted
from ..store.index import Index
from ..store.questions import Stored, by_ids, by_refs, citing, keys_of, slot_around, slot_ids

__all__ = ["Judgement", "claim_of", "judge", "period_of"]


class Judgement(NamedTuple):
    """The standing of every entry looked at, and those entries, by id; `slots` maps a slot to its entries."""

    standings: Mapping[int, Standing]
    entries: Mapping[int, Stored]
    claims: Mapping[int, Claim]

    def current(self, entry: int) -> int:
        """What replaced an entry in the end; the entry itself if nothing did."""
        seen = {entry}
        while (by := self.standings[entry].replaced_by) is not None and by not in seen:
            seen.add(by)
            entry = by
        return entry


def judge(
    index: Index, entries: Iterable[Stored], today: date, as_of: date | None = None, whole: bool = True
) -> Judgement:
    """The standing of `entries` on `today`, with the other versions of their slots and all that replaces them.

    With `as_of`, only what was written down by then counts. `whole` gathers every version; without it, those that
    decide about these entries, as long as no line names what it replaces.
    """
    wanted = list(entries)
    known, bearers = _gather(index, wanted, None if whole or as_of else today.isoformat())
    if as_of is not None:
        known = {i: e for i, e in known.items() if e.day is not None and e.day <= as_of.isoformat()}
    claims = {e.id: claim_of(e, bearers) for e in known.values()}
    return Judgement(standings(list(claims.values()), today), known, claims)


def _gather(index: Index, entries: Sequence[Stored], today: str | None) -> tuple[dict[int, Stored], dict[str, str]]:
    """The entries with all that bears on them, and for each name key the first of its bearer's.

    Slots and links are followed in turn until nothing is new: what replaces a line may stand in another slot, or be
    replaced itself. With `today` only the deciding versions of a slot are taken, unless there are links.
    """
    known = {entry.id: entry for entry in entries}
    names: dict[str, tuple[str, ...]] = {}
    fresh = list(entries)
    while fresh:
        ids = {i for e in fresh if e.slot is not None and e.block is None for i in _versions(index, e, names, today)}
        found = list(by_ids(index, ids - known.keys()).values())
        linked = _linked_to(index, [*fresh, *found])
        if linked and today is not None:
            return _gather(index, entries, None)
        fresh = [e for e in {e.id: e for e in (*found, *linked)}.values() if e.id not in known]
        known.update((e.id, e) for e in fresh)
        if today is not None:
            break
    return known, {key: keys[0] for keys in names.values() for key in keys}


def _versions(index: Index, entry: Stored, names: dict[str, tuple[str, ...]], today: str | None) -> Iterable[int]:
    subject = _subject(entry)
    if subject not in names:
        names[subject] = keys_of(index, subject) if subject else ("",)
    if today is None:
        return slot_ids(index, entry.slot or "", names[subject])
    return slot_around(index, entry.slot or "", names[subject], entry, today)


def _linked_to(index: Index, entries: Sequence[Stored]) -> list[Stored]:
    """What supersedes or corrects these entries, and what they do."""
    return [*citing(index, [e.ref for e in entries]), *by_refs(index, _targets(entries))]


def _subject(entry: Stored) -> str:
    return entry.names.split("\n", 1)[0]


def _targets(entries: Iterable[Stored]) -> list[str]:
    return [ref for entry in entries for relation in ("supersedes ", "corrects ") for ref in _linked(entry, relation)]


def claim_of(entry: Stored, bearers: Mapping[str, str]) -> Claim:
    """An entry as a claim; all names of one bearer make one slot."""
    subject = _subject(entry)
    slots = ((bearers.get(subject, subject), entry.slot),) if entry.slot is not None else ()
    return Claim(
        entry.id,
        entry.ref,
        slots if entry.block is None else (),
        period_of(entry),
        date.fromisoformat(entry.day) if entry.day else None,
        entry.content_key,
        is_trusted(entry.origin),
        (entry.path, entry.line),
        _linked(entry, "supersedes "),
        _linked(entry, "corrects "),
    )


def _linked(entry: Stored, relation: str) -> tuple[str, ...]:
    if not entry.links:
        return ()
    return tuple(line.removeprefix(relation) for line in entry.links.split("\n") if line.startswith(relation))


def period_of(entry: Stored) -> Period:
    """When an entry says that it is true."""
    return Period(
        date.fromisoformat(entry.first) if entry.first else None, date.fromisoformat(entry.last) if entry.last else None
    )
