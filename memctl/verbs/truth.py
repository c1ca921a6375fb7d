"""What stands where: gathers every version of the slots that some entries fill, and lets core/truth.py judge."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date

from ..core.truth import Claim, Standing, standings
from ..facts import Period, is_trusted
from ..store.index import Index
from ..store.questions import Stored, by_refs, citing, in_slots, keys_of

__all__ = ["Judgement", "claim_of", "judge", "period_of"]


@dataclass(frozen=True, slots=True)
class Judgement:
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


def judge(index: Index, entries: Iterable[Stored], today: date, as_of: date | None = None) -> Judgement:
    """The standing of `entries` on `today`, with every other version of their slots and all that corrects them.

    With `as_of`, only what was written down by then counts.
    """
    known: dict[int, Stored] = {entry.id: entry for entry in entries}
    bearers: dict[str, str] = {}
    for key, name in {(e.slot, _subject(e)) for e in known.values() if e.slot is not None and e.block is None}:
        names = keys_of(index, name) if name else ("",)
        bearers |= dict.fromkeys(names, names[0])
        known |= {e.id: e for e in in_slots(index, key or "", names)}
    known |= {e.id: e for e in citing(index, [e.ref for e in known.values()])}
    known |= {e.id: e for e in by_refs(index, _targets(known.values()))}
    if as_of is not None:
        known = {i: e for i, e in known.items() if e.day is not None and e.day <= as_of.isoformat()}
    claims = {e.id: claim_of(e, bearers) for e in known.values()}
    return Judgement(standings(list(claims.values()), today), known, claims)


def _subject(entry: Stored) -> str:
    return entry.names.split("\n", 1)[0]


def _targets(entries: Iterable[Stored]) -> list[str]:
    links = [line.split(" ", 1) for entry in entries for line in entry.links.split("\n") if line]
    return [target for relation, target in links if relation in ("supersedes", "corrects")]


def claim_of(entry: Stored, bearers: Mapping[str, str]) -> Claim:
    """An entry as a claim; all names of one bearer make one slot."""
    links: dict[str, list[str]] = {"supersedes": [], "corrects": []}
    for line in filter(None, entry.links.split("\n")):
        relation, target = line.split(" ", 1)
        links.setdefault(relation, []).append(target)
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
        tuple(links["supersedes"]),
        tuple(links["corrects"]),
    )


def period_of(entry: Stored) -> Period:
    """When an entry says that it is true."""
    first, last = (date.fromisoformat(day) if day else None for day in (entry.first, entry.last))
    return Period(first, last)
