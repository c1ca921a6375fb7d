"""The validity of entries: gathers every version of their slots, and lets truth/validity.py judge."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

from ..facts import is_trusted
from ..index.index import Index
from ..index.open_memory import OpenMemory
from ..index.queries.entity_names import keys_of
from ..index.queries.entries import by_ids, by_refs, citing, private_refs, private_versions, slot_around, slot_ids
from ..index.queries.evidence import facts_kept_from, has_marked, side_by_side
from ..index.row import Row
from .validity import Claim, Validity, has_begun, validities


class Validities(NamedTuple):
    """The validity of every entry looked at, those entries and their claims, by id."""

    validity: Mapping[int, Validity]
    entries: Mapping[int, Row]
    claims: Mapping[int, Claim]

    def current(self, entry: int) -> int:
        """What replaced an entry in the end; the entry itself if nothing did."""
        seen = {entry}
        while (newer := self.validity[entry].replaced_by) is not None and newer not in seen:
            seen.add(newer)
            entry = newer
        return entry

    def ahead(self, today: date) -> dict[int, int]:
        """By each line that only begins after `today` one that it is told to replace then, and that holds until it does."""
        ids = {claim.ref: claim.id for claim in self.claims.values()}
        trusted = (claim for claim in self.claims.values() if claim.trusted)
        named = ((ids.get(claim.by or claim.ref), ids.get(ref)) for claim in trusted for ref in claim.supersedes)
        pairs = ((new, old) for new, old in named if new is not None and old is not None)
        begun = {i for i, claim in self.claims.items() if has_begun(claim.valid, today)}
        return {
            n: old for n, old in pairs if old in begun and n not in begun and self.validity[old].replaced_by is None
        }


def judge(
    memory: OpenMemory, entries: Iterable[Row], as_of: date | None = None, *, whole: bool = True, public: bool = False
) -> Validities:
    """The validity of `entries` today, with the other versions of their slots and all that replaces them.

    With `as_of`, that of this day, and only what was written down by then counts. `whole` gathers every version; without it, those that
    decide about these entries, as long as no line names what it replaces. With `public` a private line repeats no other:
    otherwise somebody who guessed its value would learn so from a line that it leaves standing.
    """
    index, today, wanted = memory.index, as_of or memory.today, list(entries)
    public = public and bool(private_refs(index))
    known, entities = _gather(index, wanted, None if whole or as_of else today.isoformat(), public)
    if public:
        known |= {e.id: e._replace(same=e.id) for e in known.values() if e.private}
    if as_of is not None:
        known = {i: e for i, e in known.items() if e.day is not None and e.day <= as_of.isoformat()}
    claims = {e.id: _claim(e, entities.get(e.subject, e.subject)) for e in known.values()}
    if not all(claim.closes for claim in claims.values()):
        beside = side_by_side(index, {ref for e in known.values() for ref in (e.ref, *e.notes)}, str(today))
        spoken = {e.id: [beside.get(ref, ()) for ref in (e.ref, *e.notes)] for e in known.values()}
        claims = {i: c._replace(spoken_for=frozenset(chain(*spoken[i]))) for i, c in claims.items()}
    kept = {i: one for i, one in facts_kept_from(index, known.values()).items() if one.id in known}
    said = {known[i].ref: one.ref for i, one in kept.items()}
    claims = {i: _of_statements(claim, said) for i, claim in claims.items()} if said else claims
    found = validities(list(claims.values()), today)
    return Validities({**found, **{i: found[one.id] for i, one in kept.items()}}, known, claims)


def _of_statements(claim: Claim, said: Mapping[str, str]) -> Claim:
    """A claim that names, of a note and the fact that was kept from it, the fact."""
    replaced, untrue = (tuple(said.get(ref, ref) for ref in refs) for refs in (claim.supersedes, claim.corrects))
    return claim._replace(supersedes=replaced, corrects=untrue, by=said.get(claim.by or "", claim.by))


def _gather(
    index: Index, entries: Sequence[Row], deciding_on: str | None, public: bool = False
) -> tuple[dict[int, Row], dict[str, str]]:
    """The entries with all that bears on them, by id; and for each key of a name the key by which its entity goes.

    Slots and links are followed in turn until nothing is new: what replaces a line may stand in another slot, or be
    replaced itself. With a day in `deciding_on` one turn is enough, and of a slot only the versions that decide on that day
    are taken; where there are links, all is gathered after all. With `public` also private versions are taken.
    """
    known = {entry.id: entry for entry in entries}
    known |= {one.id: one for one in facts_kept_from(index, entries).values()}
    keys_of_subject: dict[str, tuple[str, ...]] = {}
    is_whole: dict[tuple[str, str], bool] = {}  # the slots so far, and whether all of their versions were taken
    fresh = list(known.values())
    while fresh:
        ids: set[int] = set()
        for entry in fresh:
            if entry.slot is None or entry.block is not None:
                continue
            if entry.subject not in keys_of_subject:
                keys_of_subject[entry.subject] = keys_of(index, entry.subject)
            keys = keys_of_subject[entry.subject]
            place = entry.slot, keys[0]
            if place not in is_whole:
                is_whole[place] = deciding_on is None or has_marked(index, entry.slot, keys)
                if is_whole[place]:
                    ids.update(slot_ids(index, entry.slot, keys))
            if not is_whole[place]:
                ids |= slot_around(index, entry.slot, keys, entry, deciding_on or "")
        for slot, name in is_whole if public else ():
            ids.update(private_versions(index, slot, keys_of(index, name)))
        found = list(by_ids(index, ids - known.keys()).values())
        gathered = [*fresh, *found]
        targets = [ref for e in gathered for way in ("supersedes", "corrects", "by") for ref in _linked(e, way)]
        # Those that name them, and those that they name.
        linked = [*citing(index, [ref for e in gathered for ref in (e.ref, *e.notes)]), *by_refs(index, targets)]
        linked += facts_kept_from(index, linked).values()
        if linked and deciding_on is not None:
            return _gather(index, entries, None)
        new = {entry.id: entry for entry in (*found, *linked) if entry.id not in known}
        known |= new
        fresh = list(new.values())
        if deciding_on is not None:
            break
    return known, {key: keys[0] for keys in keys_of_subject.values() for key in keys}


@lru_cache(maxsize=4096)
def _claim(entry: Row, entity: str) -> Claim:
    """An entry as a claim about an entity; a copy says nothing by itself."""
    return Claim(
        entry.id,
        entry.ref,
        ((entity, entry.slot),) if entry.slot is not None and entry.block is None else (),
        entry.valid,
        entry.written_on,
        entry.same,
        is_trusted(entry.origin),
        entry.place,
        supersedes=_linked(entry, "supersedes"),
        corrects=_linked(entry, "corrects"),
        amends=bool(entry.marked & 1),
        pinned=bool(entry.marked & 2),
        closes=entry.closes,
        happened=entry.happened,
        dated=entry.dated,
        by=next(iter(_linked(entry, "by")), None),
    )


def _linked(entry: Row, relation: str) -> tuple[str, ...]:
    if not entry.links or entry.block is not None:
        return ()
    start = f"{relation} "
    return tuple(line.removeprefix(start) for line in entry.links.split("\n") if line.startswith(start))
