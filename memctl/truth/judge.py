"""The validity of entries: gathers every version of their slots, and lets truth/validity.py judge."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from functools import lru_cache
from typing import NamedTuple

from ..facts import is_trusted
from ..index.index import Index
from ..index.queries.beliefs import has_marked
from ..index.queries.entries import by_ids, by_refs, citing, private_refs, private_versions, slot_around, slot_ids
from ..index.queries.names import keys_of
from ..index.row import Row
from .validity import Claim, Validity, validities


class Validities(NamedTuple):
    """The validity of every entry looked at, those entries and their claims, by id."""

    validity: Mapping[int, Validity]
    entries: Mapping[int, Row]
    claims: Mapping[int, Claim]

    def current(self, entry: int) -> int:
        """What replaced an entry in the end; the entry itself if nothing did."""
        seen = {entry}
        while (by := self.validity[entry].replaced_by) is not None and by not in seen:
            seen.add(by)
            entry = by
        return entry


def judge(
    index: Index, entries: Iterable[Row], today: date, as_of: date | None = None, whole: bool = True,
    apart: bool = False,
) -> Validities:  # fmt: skip
    """The validity of `entries` on `today`, with the other versions of their slots and all that replaces them.

    With `as_of`, only what was written down by then counts. `whole` gathers every version; without it, those that
    decide about these entries, as long as no line names what it replaces. `apart` is for what others may read: a private
    line repeats no other, so that nobody learns from what it leaves standing that they guessed its value.
    """
    wanted = list(entries)
    apart = apart and bool(private_refs(index))
    known, entities = _gather(index, wanted, None if whole or as_of else today.isoformat(), apart)
    if apart:
        known |= {e.id: e._replace(same=e.id) for e in known.values() if e.private}
    if as_of is not None:
        known = {i: e for i, e in known.items() if e.day is not None and e.day <= as_of.isoformat()}
    claims = {e.id: _claim(e, entities.get(e.subject, e.subject)) for e in known.values()}
    return Validities(validities(list(claims.values()), today), known, claims)


def _gather(
    index: Index, entries: Sequence[Row], today: str | None, apart: bool = False
) -> tuple[dict[int, Row], dict[str, str]]:
    """The entries with all that bears on them, and for each name key the first of its entity's.

    Slots and links are followed in turn until nothing is new: what replaces a line may stand in another slot, or be
    replaced itself. With `today` only the deciding versions of a slot are taken, unless there are links; `apart` takes private
    ones too that repeat another.
    """
    known = {entry.id: entry for entry in entries}
    names: dict[str, tuple[str, ...]] = {}
    whole: dict[tuple[str, str], bool] = {}  # the slots that were asked for, and whether for all of their versions
    fresh = list(entries)
    while fresh:
        ids: set[int] = set()
        for entry in (entry for entry in fresh if entry.slot is not None and entry.block is None):
            slot, subject = entry.slot or "", entry.subject
            if subject not in names:
                names[subject] = keys_of(index, subject)
            its, place = names[subject], (slot, names[subject][0])
            if place not in whole:
                whole[place] = today is None or has_marked(index, slot, its)
                ids |= set(slot_ids(index, slot, its)) if whole[place] else set()
            if not whole[place]:
                ids |= slot_around(index, slot, its, entry, today or "")
        for slot, name in whole if apart else ():
            ids |= set(private_versions(index, slot, keys_of(index, name)))
        found = list(by_ids(index, ids - known.keys()).values())
        linked = _linked_to(index, [*fresh, *found])
        if linked and today is not None:
            return _gather(index, entries, None)
        fresh = [e for e in {e.id: e for e in (*found, *linked)}.values() if e.id not in known]
        known.update((e.id, e) for e in fresh)
        if today is not None:
            break
    return known, {key: keys[0] for keys in names.values() for key in keys}


def _linked_to(index: Index, entries: Sequence[Row]) -> list[Row]:
    targets = [
        ref for entry in entries for relation in ("supersedes", "corrects", "by") for ref in _linked(entry, relation)
    ]
    return [*citing(index, [e.ref for e in entries]), *by_refs(index, targets)]


@lru_cache(maxsize=4096)
def _claim(entry: Row, entity: str) -> Claim:
    """An entry as a claim about an entity; a copy says nothing by itself."""
    return Claim(
        entry.id,
        entry.ref,
        ((entity, entry.slot),) if entry.slot is not None and entry.block is None else (),
        entry.valid,
        entry.told_on,
        entry.same,
        is_trusted(entry.origin),
        entry.place,
        _linked(entry, "supersedes"),
        _linked(entry, "corrects"),
        bool(entry.marked & 1),
        bool(entry.marked & 2),
        next(iter(_linked(entry, "by")), None),
    )


def _linked(entry: Row, relation: str) -> tuple[str, ...]:
    if not entry.links or entry.block is not None:
        return ()
    start = f"{relation} "
    return tuple(line.removeprefix(start) for line in entry.links.split("\n") if line.startswith(start))
