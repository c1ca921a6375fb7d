"""Entries of the index as hits: judged, read again from disk just now, as their author wrote them.

A belief is one hit: the line that stated it, with the confidence and the newest evidence of its entry in the bank.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace
from datetime import date
from functools import lru_cache
from typing import NamedTuple

from ..errors import MemctlError
from ..facts import Citation, Fact, Kind
from ..hits import Hit
from ..index.index import Index
from ..index.open_memory import OpenMemory
from ..index.queries.beliefs import Chain, beliefs_stated_by, chain_of, placed
from ..index.queries.entries import by_refs, in_slots, slot_names
from ..index.queries.names import KnownNames
from ..index.reread import Seen, page_lines, reread
from ..index.row import Row
from ..language.names import entity_key, mentions
from ..markdown.evidence_line import OPINIONS, Bullet, parse_bullet
from ..markdown.grammar import parse
from ..markdown.lines import SEALED, Role, content_of, without_sealed
from ..truth.judge import Validities, judge, period_of
from ..truth.validity import has_ended, versions
from .asked import is_said
from .rank import Candidate, Found

_SHOWN = 3  # pieces of evidence that a hit names


def hits_of(
    memory: OpenMemory, entries: Iterable[Row], verdict: Validities | None = None, *, as_of: date | None = None,
    seen: Mapping[int, Seen] | None = None, known: KnownNames | None = None, whole: bool = True,
) -> dict[int, Hit]:  # fmt: skip
    """The entries as hits by id, in their order, as of a day (today); an entry whose lines are gone is left out.

    What was judged or read before is given as `verdict` and `seen`, else this judges (`whole` as in truth/judge.py) and
    reads. `known` shares the names that were looked up between calls.
    """
    wanted = list(entries)
    day = as_of or memory.today
    verdict = verdict or judge(memory.index, wanted, day, as_of, whole=whole)
    seen = reread(memory.workspace, wanted, memory.index) if seen is None else seen
    known = known or KnownNames(memory.index)
    return {e.id: _hit(e, seen[e.id], verdict, day, known) for e in wanted if e.id in seen}


def _hit(entry: Row, seen: Seen, verdict: Validities, day: date, known: KnownNames) -> Hit:
    """An entry as it was just read, with its validity."""
    text = text_of(entry, seen)
    standing = verdict.validity.get(entry.id)
    by = standing.replaced_by if standing else None
    valid = standing.valid if standing else period_of(entry)
    return Hit(
        ref=entry.ref,
        kind=Kind(entry.kind),
        day=entry.day,
        valid=valid,
        entities=_as_known(known, text.names, text.content),
        content=text.content,
        source=Citation(entry.path, seen.line, seen.end_line),
        heading=entry.heading,
        confidence=entry.confidence,
        importance=entry.importance,
        origin=entry.origin,
        private=bool(entry.private),
        superseded_by=verdict.entries[by].ref if by is not None else None,
        expired=has_ended(valid, day) and entry.kind != Kind.EXPERIENCE.value,  # what happened, happened
        retracted=bool(standing and standing.retracted),
        fact=text.fact,
        key=entry.slot,
    )


class EntryText(NamedTuple):
    """What the lines of an entry say, the fact that they are, and the names written on them."""

    content: str
    fact: Fact | None
    names: tuple[str, ...]


def text_of(entry: Row, seen: Seen) -> EntryText:
    """The text of an entry as it stands on disk."""
    return _text(Role(entry.role), seen.raw)


@lru_cache(maxsize=8192)
def _text(role: Role, raw: tuple[str, ...]) -> EntryText:
    text = without_sealed(content_of(role, raw), SEALED)
    read = parse(text) if role is Role.FACT else None
    fact = read if isinstance(read, Fact) else None
    content = fact.text if fact else text
    return EntryText(content, fact, (*(fact.entities if fact else ()), *mentions(content)))


def _as_known(names: KnownNames, written: Sequence[str], text: str) -> tuple[str, ...]:
    """The names written on a line and those in its text, each entity once; a name without a page as it was written."""
    known = [*(names.known_as(name) for name in written), *names.in_text(text)]
    return tuple({entity_key(name): name for name in reversed(known)}.values())[::-1]


Slot = tuple[str, str]
"""An entity and a key."""


def slots_holding(memory: OpenMemory, rows: Sequence[Row], as_of: date | None = None) -> list[tuple[Slot, Hit]]:
    """Of facts that fill slots, those that hold on a day; of several that give one value, the newest."""
    verdict = judge(memory.index, rows, as_of or memory.today, as_of)
    claims = [verdict.claims[row.id] for row in rows if row.id in verdict.claims]
    current = [c for c in claims if c.slots and verdict.validity[c.id].holds(as_of or memory.today)]
    newest = {(claim.slots, claim.same): claim for claim in versions(current)}
    hits = hits_of(memory, (verdict.entries[claim.id] for claim in newest.values()), verdict, as_of=as_of)
    return [(claim.slots[0], hits[claim.id]) for claim in newest.values() if claim.id in hits]


def owner_names(memory: OpenMemory) -> tuple[str, ...]:
    """The keys under which slots of the owner stand: none, those of the name and the project that he told of."""
    index = memory.index
    told = slots_holding(memory, [row for key in ("name", "project") for row in in_slots(index, key, ("",))])
    said = [f" {entity_key(hit.content)} " for _, hit in told if len(hit.content) <= _A_NAME]
    projects = {row.names.split("\n", 1)[0] for row in in_slots(index, "project", None)}
    names = slot_names(index)
    return ("", *(n for n in names if n and (n in projects or any(is_said(n, text) for text in said))))


_A_NAME = 60  # characters of a line that tells a name and little else


def candidate_of(entry: Row, relevance: float, named: bool) -> Candidate:
    """An entry as the ranking sees it."""
    return Candidate(
        entry.id,
        Kind(entry.kind),
        entry.role,
        date.fromisoformat(entry.day) if entry.day else None,
        period_of(entry),
        entry.importance,
        entry.content_key,
        entry.block is not None or is_answer(entry),
        (entry.path, entry.line),
        relevance,
        named,
    )


def is_answer(entry: Row) -> bool:
    """True for the answer to a question of review: it repeats the lines that it is about, which speak for themselves."""
    return entry.kind == Kind.OBSERVATION.value and entry.links.startswith("settles ") | ("\nsettles " in entry.links)


def stating_lines(index: Index, found: Mapping[int, Found], entries: Mapping[int, Row]) -> Mapping[int, Found]:
    """What was found, with the line that stated a belief in the place of its head on bank/opinions.md."""
    heads = (i for i, e in entries.items() if e.path == OPINIONS and e.kind == Kind.OPINION.value and e.block is None)
    stated = {i: chain.stated for i in heads if (chain := chain_of(index, i)) and chain.stated}
    if not stated:
        return found
    line_of = {entry.ref: entry.id for entry in reversed(placed(index, stated.values()))}
    made: dict[int, Found] = {}
    for i, how in found.items():
        line = line_of.get(stated.get(i, ""), i)
        if line not in made or made[line].relevance < how.relevance:
            made[line] = how
    return made


def with_beliefs(memory: OpenMemory, hits: Sequence[Hit], as_of: date | None) -> list[Hit]:
    """The hits, of which those that stated a belief show its confidence now (or as of a day) and its evidence."""
    opinions = [hit.ref for hit in hits if hit.kind is Kind.OPINION]
    chains = beliefs_stated_by(memory.index, opinions) if opinions else {}
    if not chains:
        return list(hits)
    try:
        lines = page_lines(memory.workspace, OPINIONS)
    except MemctlError:
        return list(hits)
    made = [_with_belief(memory, hit, chains[hit.ref], lines, as_of) if hit.ref in chains else hit for hit in hits]
    return _sunk(made, {hit.ref for hit, old in zip(made, hits, strict=True) if hit.superseded_by != old.superseded_by})


def _sunk(hits: Sequence[Hit], ended: Set[str]) -> list[Hit]:
    """The hits, of which each that ended a belief stands before it, and takes the better score."""
    made = list(hits)
    for hit in [hit for hit in hits if hit.ref in ended]:
        old = made.index(hit)
        new = next((at for at, other in enumerate(made) if other.ref == hit.superseded_by), old)
        if new > old:
            newer = made.pop(new)
            made.insert(old, replace(newer, score=max(newer.score, hit.score)))
    return made


def _with_belief(memory: OpenMemory, hit: Hit, chain: Chain, lines: Sequence[str], as_of: date | None) -> Hit:
    bullets = [parse_bullet(content_of(Role.ITEM, lines[line - 1 : end])) for line, end, _, _ in chain.evidence]
    known = [b for b in bullets if b and not b.gone and (as_of is None or b.day <= as_of)]
    numbers = (b.shown for b in reversed(known))
    confidence = chain.confidence if as_of is None else next((n for n in numbers if n is not None), None)
    ended = next((b.ref for b in known if b.verdict == "superseded"), None)
    return replace(
        hit,
        confidence=hit.confidence if confidence is None else confidence,
        superseded_by=hit.superseded_by or ended,
        belief=Citation(OPINIONS, chain.line, chain.end_line),
        evidence=_newest_evidence(memory, known),
    )


def _newest_evidence(memory: OpenMemory, bullets: Sequence[Bullet]) -> tuple[Citation, ...]:
    weighed = [b.ref for b in bullets if b.verdict in ("for", "against") and b.ref][-_SHOWN:]
    entries = [entry for entry in by_refs(memory.index, weighed) if entry.block is None]
    seen = reread(memory.workspace, entries, memory.index)
    cited = {e.ref: Citation(e.path, seen[e.id].line, seen[e.id].end_line) for e in reversed(entries) if e.id in seen}
    return tuple(cited[ref] for ref in reversed(weighed) if ref in cited)
