"""Recall: the facts that answer a question, current truth first, each with a citation that was read again just now."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date

from ..core.hits import Answer, Hit, Version
from ..core.known_names import find_names, heads
from ..core.pack import fit
from ..core.query import Query
from ..core.rank import Candidate, Ranked, order
from ..core.truth import versions
from ..errors import Usage
from ..facts import Citation, Fact, Kind, Period
from ..store.heal import with_index
from ..store.index import Index
from ..store.questions import Entity, Filter, Stored, by_ids, condition_of, has_entities, listed_names, newest, resolve
from ..store.reread import Seen, reread
from ..store.workspace import Workspace
from ..text.grammar import parse
from ..text.names import entity_key, mentions
from ..text.page import Role, content_of
from .emptiness import why_empty
from .sync import sync
from .truth import Judgement, judge, period_of
from .words import Found, by_words

__all__ = ["hit_of", "recall", "recall_in"]

_JUDGED = 40  # of the best candidates: truth reorders within these
_SECONDS = 5.0  # the longest that one statement may run before the answer goes without it


def recall(
    workspace: Workspace, query: Query, *, today: date, k: int = 10, history: bool = False, budget: int | None = None
) -> Answer:
    """The answer to a query: at most `k` hits, within `budget` tokens if given.

    The index is brought up to date first, within the time that the settings give it and without waiting for another
    writer; where that is not enough, the answer says that it is stale and why.
    """
    start = time.perf_counter()

    def job(index: Index) -> Answer:
        report = sync(workspace, index, wait=0, seconds=workspace.settings.sync_seconds)
        answer = recall_in(workspace, index, query, today=today, k=k, history=history)
        warnings = tuple(f"{path}: {problem}" for path, problem in sorted(report.problems.items()))
        return replace(answer, stale=report.stale, warnings=answer.warnings + _shortened(warnings))

    answer = with_index(workspace, job)
    hits = answer.hits if budget is None else fit(answer.hits, budget)
    return replace(answer, hits=hits, took_ms=(time.perf_counter() - start) * 1000)


def _shortened(warnings: Sequence[str]) -> tuple[str, ...]:
    more = len(warnings) - 3
    return (*warnings[:3], f"and {more} more pages with problems; `memctl check` lists them") if more > 0 else tuple(warnings)


def recall_in(workspace: Workspace, index: Index, query: Query, *, today: date, k: int, history: bool = False) -> Answer:
    """The answer from an index as it stands."""
    now = query.as_of or today
    with index.reading():
        index.limit_time(time.monotonic() + _SECONDS)
        about, warnings = _resolve_about(index, query)
        condition = condition_of(index, query, about)
        try:
            found = _candidates(index, query, condition, k)
        except sqlite3.OperationalError as error:
            if "interrupted" not in str(error):
                raise
            found, warnings = {}, [*warnings, "the search took too long and was cut off; use rarer words or a filter"]
        index.limit_time(float("inf"))
        hits = _hits(workspace, index, query, about, found, now, k, history)
        empty = () if hits else why_empty(index, query, about, condition)
    as_of = str(query.as_of) if query.as_of else None
    return Answer(query.words, as_of, tuple(hits), tuple(warnings), None, tuple(empty))


def _resolve_about(index: Index, query: Query) -> tuple[list[Entity | str], list[str]]:
    """Whom the filter means; a name without a page stands for itself, one that several bear too, with a warning."""
    found: list[Entity | str] = []
    warnings = []
    for name in query.about:
        entities = resolve(index, name)
        if len(entities) > 1:
            warnings.append(f"@{name} may be {' or '.join(e.name for e in entities)}; lines that say only {name} are meant")
        found.append(entities[0] if len(entities) == 1 else name)
    return found, warnings


def _candidates(index: Index, query: Query, condition: Filter, k: int) -> Mapping[int, Found]:
    """What the channels find: words, and where there are none to look for, the newest within the filters."""
    if query.words:
        found = by_words(index, query, condition)
        if found is not None:
            return found
    if query.times and not query.days:
        within = replace(query, days=query.times[0])
        condition = condition_of(index, within, _resolve_about(index, query)[0])
    ids = newest(index, condition, 4 * k + 20)
    return {i: Found(1.0 - place / 10_000, {"recent": place}) for place, i in enumerate(ids, 1)}


def _hits(
    workspace: Workspace, index: Index, query: Query, about: Sequence[Entity | str], found: Mapping[int, Found],
    now: date, k: int, history: bool,
) -> list[Hit]:  # fmt: skip
    best = sorted(found, key=lambda i: (-round(found[i].relevance, 9), i))[: max(_JUDGED, 4 * k)]
    entries = by_ids(index, best)
    verdict = judge(index, entries.values(), now, query.as_of)
    ranked = _ranked(query, found, entries, verdict, now)
    known = _Names(index)
    hits: list[Hit] = []
    for place, seen in _standing(workspace, ranked, verdict.entries, k):
        entry = verdict.entries[place.candidate.id]
        hit = hit_of(index, entry, seen, verdict, now, known)
        if about and not _is_about(hit, about):
            continue
        why = dict(found[entry.id].why) if entry.id in found else {"replaces": 1}
        hit = replace(hit, score=place.score, why=why, parts=_parts(place, found), also=_twins(place, verdict.entries))
        hits.append(replace(hit, history=_chain(workspace, entry, verdict)) if history else hit)
        if len(hits) == k:
            break
    return hits


def _ranked(
    query: Query, found: Mapping[int, Found], entries: Mapping[int, Stored], verdict: Judgement, now: date
) -> list[Ranked]:
    """The candidates in their final order. What replaced one of them joins them, even if its own words do not match."""
    replaced = {i: verdict.current(i) for i in entries if verdict.current(i) != i}
    pulled = {new: max(found[old].relevance for old, n in replaced.items() if n == new) for new in replaced.values()}
    relevance = {i: found[i].relevance for i in entries}
    relevance |= {i: max(value, relevance.get(i, 0.0)) for i, value in pulled.items()}
    named = {i for i in relevance if i in found and found[i].why.get("entity")}
    candidates = [_candidate(verdict.entries[i], value, i in named) for i, value in relevance.items() if i in verdict.entries]
    over = [i for i in relevance if i in verdict.standings and not verdict.standings[i].holds(now)]
    return order(candidates, query.times, bool(named), now, replaced, over)


def _candidate(entry: Stored, relevance: float, named: bool) -> Candidate:
    return Candidate(
        entry.id,
        Kind(entry.kind),
        entry.role,
        date.fromisoformat(entry.day) if entry.day else None,
        period_of(entry),
        entry.importance,
        entry.content_key,
        entry.block is not None,
        (entry.path, entry.line),
        relevance,
        named,
    )


def _standing(
    workspace: Workspace, ranked: Sequence[Ranked], entries: Mapping[int, Stored], k: int
) -> Iterator[tuple[Ranked, Seen]]:
    """The ranked entries that still stand on disk, read again a handful at a time."""
    copies_too = not any(not place.candidate.copy for place in ranked)
    places = [place for place in ranked if copies_too or not place.candidate.copy]
    for start in range(0, len(places), k):
        piece = places[start : start + k]
        seen = reread(workspace, (entries[place.candidate.id] for place in piece))
        yield from ((place, seen[place.candidate.id]) for place in piece if place.candidate.id in seen)


def _is_about(hit: Hit, about: Sequence[Entity | str]) -> bool:
    """Every name asked for is among the hit's own: "Alex Chen" is no line about an Alex alone."""
    named = {entity_key(name) for name in hit.entities}
    wanted = [set(who.keys) if isinstance(who, Entity) else {entity_key(who)} for who in about]
    words = {entity_key(word) for word in hit.content.split()}
    return all(keys & named or (len(keys) == 1 and keys & words) for keys in wanted)


def _parts(place: Ranked, found: Mapping[int, Found]) -> dict[str, object]:
    bent = {name: round(getattr(place.factors, name), 3) for name in place.factors.__slots__}
    own = found.get(place.candidate.id)
    return {"relevance": round(place.candidate.relevance, 4), **(own.parts if own else {}), "factors": bent}


def _twins(place: Ranked, entries: Mapping[int, Stored]) -> tuple[Citation, ...]:
    return tuple(Citation(e.path, e.line, e.end_line) for e in (entries[t.id] for t in place.twins) if e.block is None)


# -- one entry as a hit -----------------------------------------------------------------------------------------------


class _Names:
    """Looks up plain mentions of known names, text by text."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._any = has_entities(index)

    def in_text(self, text: str) -> tuple[str, ...]:
        return find_names(text, listed_names(self._index, heads(text))) if self._any else ()


def hit_of(
    index: Index, entry: Stored, seen: Seen, verdict: Judgement, today: date, names: _Names | None = None
) -> Hit:
    """An entry as it was just read, with its standing."""
    role = Role(entry.role)
    text = content_of(role, seen.raw)
    read = parse(text) if role is Role.FACT else None
    fact = read if isinstance(read, Fact) else None
    content = fact.text if fact else text
    standing = verdict.standings.get(entry.id)
    by = standing.replaced_by if standing else None
    valid = standing.valid if standing else period_of(entry)
    written = (*(fact.entities if fact else ()), *mentions(content))
    return Hit(
        ref=entry.ref,
        kind=Kind(entry.kind),
        day=entry.day,
        valid=valid,
        entities=_as_known(index, written, (names or _Names(index)).in_text(content)),
        content=content,
        source=Citation(entry.path, seen.line, seen.end_line),
        heading=entry.heading,
        confidence=entry.confidence,
        importance=entry.importance,
        origin=entry.origin,
        private=bool(entry.private),
        superseded_by=verdict.entries[by].ref if by is not None else None,
        expired=valid.last is not None and valid.last < today,
        retracted=bool(standing and standing.retracted),
        fact=fact,
    )


def _as_known(index: Index, written: Sequence[str], plain: Sequence[str]) -> tuple[str, ...]:
    """Names as their pages give them, each bearer once; a name without a page as it was written."""
    names: dict[str, str] = {}
    for name in written:
        found = resolve(index, name)
        known = found[0].name if len(found) == 1 else name
        names.setdefault(entity_key(known), known)
    for name in plain:
        names.setdefault(entity_key(name), name)
    return tuple(names.values())


def _chain(workspace: Workspace, entry: Stored, verdict: Judgement) -> tuple[Version, ...]:
    """Every version of the slot that an entry fills, first to last."""
    slots = verdict.claims[entry.id].slots if entry.id in verdict.claims else ()
    line = versions(claim for claim in verdict.claims.values() if set(claim.slots) & set(slots))
    linked = {entry.id, *(i for i, s in verdict.standings.items() if s.replaced_by == entry.id)}
    if not line:
        line = versions(verdict.claims[i] for i in (*linked, verdict.current(entry.id)) if i in verdict.claims)
    line = list({claim.id: claim for claim in line}.values())
    if len(line) < 2:
        return ()
    seen = reread(workspace, (verdict.entries[claim.id] for claim in line))
    return tuple(_version(verdict, claim.id, seen[claim.id]) for claim in line if claim.id in seen)


def _version(verdict: Judgement, number: int, seen: Seen) -> Version:
    entry = verdict.entries[number]
    read = parse(content_of(Role.FACT, seen.raw))
    content = read.text if isinstance(read, Fact) else content_of(Role(entry.role), seen.raw)
    place = Citation(entry.path, seen.line, seen.end_line)
    return Version(entry.ref, place, verdict.standings[number].valid, content)
