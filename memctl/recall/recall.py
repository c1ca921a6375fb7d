"""Recall: the facts that answer a question, current truth first, each with a citation that was read again just now."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING

from ..entities.names_of_lines import KnownNames
from ..facts import Citation, Fact, Kind, Period
from ..hits import Answer, Hit, Version
from ..index.heal import with_index
from ..index.index import Index, TimeUp
from ..index.queries.entries import Filter, Query, by_ids, condition_of, newest, passing
from ..index.queries.names import resolve
from ..index.reread import Seen, reread
from ..index.row import Entity, Row
from ..index.sync import SyncReport, sync
from ..language.analyzer import query_terms
from ..language.names import entity_key
from ..markdown.grammar import parse
from ..markdown.lines import Role, content_of
from ..notes.workspace import Workspace
from ..truth.judge import Judgement, judge, period_of
from ..truth.validity import versions
from .belief_hits import as_stated, believed
from .entry_hits import hit_of
from .explain_empty import why_empty
from .pack import cost, fit
from .rank import Candidate, Ranked, order
from .search_vectors import Meaning, meaning_of
from .search_words import Found, by_words

if TYPE_CHECKING:
    from ..index.resident import Resident

__all__ = ["candidate_of", "freshened", "hit_of", "recall", "recall_in"]

_FEWEST = 40  # candidates that truth and the factors reorder, however few are asked for
_FEW_PRIVATE = 100  # lines: they can take that many of the places that the channels have
_SECONDS = 5.0  # the longest that one statement may run before the answer goes without it
_WORD = re.compile(r"[^\W_]+")


def recall(
    workspace: Workspace, query: Query, *, today: date, k: int = 10, history: bool = False, budget: int | None = None,
    vectors: bool = True, through: Resident | None = None,
) -> Answer:  # fmt: skip
    """The answer to a query: at most `k` hits, within `budget` tokens if given; without `vectors` by words only.

    A process that stays asks `through` the workspace that it holds open.

    The index is brought up to date first, within the time that the settings give it and without waiting for another
    writer; where that is not enough, the answer says that it is stale and why.
    """
    start = time.perf_counter()
    workspace = workspace if vectors else workspace.without_model()

    def job(index: Index) -> Answer:
        report = freshened(workspace, index, through)
        answer = recall_in(workspace, index, query, today=today, k=k, history=history)
        warnings = tuple(f"{path}: {problem}" for path, problem in sorted(report.problems.items()))
        return answer._replace(stale=report.stale, warnings=answer.warnings + _shortened(warnings))

    answer = through.run(job) if through else with_index(workspace, job)
    if budget is not None:
        answer = _within(answer, budget)
    return answer._replace(took_ms=(time.perf_counter() - start) * 1000)


def freshened(workspace: Workspace, index: Index, through: Resident | None) -> SyncReport:
    """What a sync found; in a process that stays the last one, where nothing has changed since."""
    look = through.look() if through else None
    if look and look.known is not None:
        known: SyncReport = look.known
        return known
    report = sync(workspace, index, wait=0, seconds=workspace.settings.sync_seconds)
    if through and look and report.stale is None:
        through.settle(look, report)
    return report


def _within(answer: Answer, budget: int) -> Answer:
    """The answer within a budget; one that becomes empty by it says so."""
    hits = fit(answer.hits, budget)
    if hits or not answer.hits:
        return answer._replace(hits=hits)
    least = min(map(cost, answer.hits))
    return answer._replace(
        hits=(), empty=(f"{len(answer.hits)} found, and none fits into {budget} tokens; the shortest takes {least}",)
    )


def _shortened(warnings: Sequence[str]) -> tuple[str, ...]:
    more = len(warnings) - 3
    return (
        (*warnings[:3], f"and {more} more pages with problems; `memctl check` lists them")
        if more > 0
        else tuple(warnings)
    )


def recall_in(
    workspace: Workspace, index: Index, query: Query, *, today: date, k: int, history: bool = False
) -> Answer:
    """The answer from an index as it stands."""
    now = query.as_of or today
    if workspace.settings.aliases:
        from .workspace_aliases import with_aliases

        query = with_aliases(workspace, query)
    with index.reading():
        about, warnings = resolve_about(index, query)
        warnings += query.warnings
        if query.pasted:
            warnings.append(
                f"out of {len(query.pasted):,} characters the question was taken to be: {query.words[:200]}"
            )
        if query.words and not query_terms(query.words):
            warnings.append("the question has no words to look for; these are the newest")
        condition = condition_of(index, _as_asked(index, query), about)
        width = _width(query, k)
        meaning, vectors = meaning_of(workspace, index, query, warnings)
        try:
            found = _in_time(index, query, condition, width, warnings, meaning)
            hits = _hits(workspace, index, query, about, condition, found, now, k, history)
            while about and len(hits) < k and len(found) >= width:  # the lines of namesakes took the places
                width *= 8
                found = _in_time(index, query, condition, width, warnings, meaning)
                hits = _hits(workspace, index, query, about, condition, found, now, k, history) if found else hits
        finally:
            if meaning:
                meaning.close()
                warnings += [f"answered by words only: {meaning.failed}"] if meaning.failed else []
                warnings += [meaning.problem] if meaning.problem else []
        if hits and all(hit.why.keys() == {"vector"} for hit in hits):
            warnings.append("no page holds a word of the question; these lines are near to it in meaning, if at all")
        empty = () if hits else why_empty(index, query, about, condition)
        as_of = str(query.as_of) if query.as_of else None
        answer = Answer(
            query.pasted or query.words, as_of, tuple(hits), tuple(warnings), None, tuple(empty), vectors=vectors
        )
        return _shared(index, answer) if query.public else answer


def _as_asked(index: Index, query: Query) -> Query:
    """The question that the channels are asked. A few private lines are left out afterwards: a condition costs more."""
    if not query.public:
        return query
    from ..index.public import private_ids

    return query if len(private_ids(index)) > _FEW_PRIVATE else replace(query, public=False)


def _shared(index: Index, answer: Answer) -> Answer:
    """The last wall: whatever the channels did, nothing private leaves."""
    from ..index.public import private_entries, without_private

    private = private_entries(index)
    return without_private(answer, private) if private.refs else answer


def _in_time(
    index: Index, query: Query, condition: Filter, width: int, warnings: list[str], meaning: Meaning | None
) -> Mapping[int, Found]:
    """What the channels find within a few seconds; none of it, with a warning, where that takes longer."""
    index.limit_time(time.monotonic() + _SECONDS)
    try:
        return _candidates(index, query, condition, width, meaning)
    except TimeUp:
        warnings.append("the search took too long and was cut off; use rarer words or a filter")
        return {}
    finally:
        index.limit_time(float("inf"))


def resolve_about(index: Index, query: Query) -> tuple[list[Entity | str], list[str]]:
    """Whom the filter means; a name without a page stands for itself, one that several bear too, with a warning."""
    found: list[Entity | str] = []
    warnings = []
    for name in query.about:
        entities = resolve(index, name)
        if len(entities) > 1:
            warnings.append(
                f"@{name} may be {' or '.join(e.name for e in entities)}; lines that say only {name} are meant"
            )
        found.append(entities[0] if len(entities) == 1 else name)
    return found, warnings


def _candidates(
    index: Index, query: Query, condition: Filter, width: int, meaning: Meaning | None = None
) -> Mapping[int, Found]:
    """The best `width` that the channels find: words and meaning, and where there are no words to look for, the newest
    within the filters."""
    if query.words:
        found = by_words(index, query, condition, width, meaning)
        if found is not None:
            return found
    if query.public or (query.times and not query.days):
        within = replace(query, days=query.days or next(iter(query.times), None))
        condition = condition_of(index, within, resolve_about(index, query)[0])
    ids = newest(index, condition, width)
    return {i: Found(1.0 - place / 10_000, {"recent": place}, {}) for place, i in enumerate(ids, 1)}


def _width(query: Query, k: int) -> int:
    """How many candidates are looked at for `k` hits; a name drops those that only mean another of its bearers."""
    return max(_FEWEST, (4 if query.about else 2) * k)


def _hits(
    workspace: Workspace, index: Index, query: Query, about: Sequence[Entity | str], condition: Filter,
    found: Mapping[int, Found], now: date, k: int, history: bool,
) -> list[Hit]:  # fmt: skip
    entries = by_ids(index, found)
    found = as_stated(index, found, entries)
    joining = found.keys() - entries.keys()
    entries = {i: e for i, e in (entries | by_ids(index, passing(index, joining, condition))).items() if i in found}
    if query.public:
        entries = {i: e for i, e in entries.items() if not e.private}
    verdict = judge(index, entries.values(), now, query.as_of, whole=history)
    ranked = _ranked(index, query, condition, found, entries, verdict, now)
    known = KnownNames(index)
    hits: list[Hit] = []
    for place, seen in _standing(workspace, index, ranked, verdict.entries, k):
        entry = verdict.entries[place.candidate.id]
        hit = hit_of(index, entry, seen[entry.id], verdict, now, known)
        if about and not _is_about(hit, about):
            continue
        why = dict(found[entry.id].why) if entry.id in found else {"replaces": 1}
        also, chain = _twins(place, verdict.entries, seen), _chain(workspace, entry, verdict) if history else ()
        hits.append(replace(hit, score=place.score, why=why, parts=_parts(place, found), also=also, history=chain))
        if len(hits) == k:
            break
    return believed(workspace, index, hits, query.as_of)


def _ranked(
    index: Index, query: Query, condition: Filter, found: Mapping[int, Found], entries: Mapping[int, Row],
    verdict: Judgement, now: date,
) -> list[Ranked]:  # fmt: skip
    """The candidates in their final order. What replaced one of them joins them, even if its own words do not match.

    A filter holds for what joins them too: `until=` asks for what was told by then.
    """
    replaced = {i: verdict.current(i) for i in entries if verdict.current(i) != i}
    joining = passing(index, set(replaced.values()), condition)
    if query.public:
        joining = {i for i in joining if i in verdict.entries and not verdict.entries[i].private}
    replaced = {old: new for old, new in replaced.items() if new in joining}
    pulled = {new: max(found[old].relevance for old, n in replaced.items() if n == new) for new in replaced.values()}
    relevance = {i: found[i].relevance for i in entries}
    relevance |= {i: max(value, relevance.get(i, 0.0)) for i, value in pulled.items()}
    named = {i for i in relevance if i in found and found[i].why.get("entity")}
    candidates = [
        candidate_of(verdict.entries[i], value, i in named) for i, value in relevance.items() if i in verdict.entries
    ]
    over = [i for i in relevance if i in verdict.standings and verdict.standings[i].is_over(now)]
    ranked = order(candidates, query.times, bool(named), now, replaced, over)
    asked = next((days for days in (query.days, *query.times) if days), Period())
    by_time = all("recent" in found[i].why for i in found)
    return sorted(ranked, key=lambda place: _newest_first(place.candidate, asked)) if by_time else ranked


def _newest_first(candidate: Candidate, asked: Period) -> tuple[bool, bool, int]:
    """What was written in the time asked for, then what is only about it; the newest of each first."""
    day = candidate.day
    return candidate.copy, not (day and asked.holds(day)), -(day.toordinal() if day else 0)


def candidate_of(entry: Row, relevance: float, named: bool) -> Candidate:
    """An entry on its way into an answer."""
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
    workspace: Workspace, index: Index, ranked: Sequence[Ranked], entries: Mapping[int, Row], k: int
) -> Iterator[tuple[Ranked, Mapping[int, Seen]]]:
    """The ranked entries that still stand on disk, read again a handful at a time; a twin stands in for one that is gone."""
    copies_too = not any(not place.candidate.copy for place in ranked)
    places = [place for place in ranked if copies_too or not place.candidate.copy]
    for start in range(0, len(places), k):
        piece = places[start : start + k]
        bodies = [[c for c in (place.candidate, *place.twins) if copies_too or not c.copy] for place in piece]
        seen = reread(workspace, (entries[c.id] for group in bodies for c in group), index)
        for place, group in zip(piece, bodies, strict=True):
            left = [c for c in group if c.id in seen]
            if left:
                yield place._replace(candidate=left[0], twins=tuple(left[1:])), {c.id: seen[c.id] for c in left}


def _is_about(hit: Hit, about: Sequence[Entity | str]) -> bool:
    """Every name asked for is among the hit's own: "Alex Chen" is no line about an Alex alone."""
    named = {entity_key(name) for name in hit.entities}
    wanted = [set(who.keys) if isinstance(who, Entity) else {entity_key(who)} for who in about]
    if all(keys & named for keys in wanted):
        return True
    text = _words_of(hit.content)
    for name in sorted(hit.entities, key=len, reverse=True):
        text = text.replace(_words_of(name), " | ")
    return all(keys & named or any(_words_of(key) in text for key in keys) for keys in wanted)


def _words_of(text: str) -> str:
    """The words of a text between single spaces, so that whole words can be looked for in it."""
    return " ".join(["", *_WORD.findall(entity_key(text)), ""])


def _parts(place: Ranked, found: Mapping[int, Found]) -> dict[str, object]:
    bent = {name: round(getattr(place.factors, name), 3) for name in place.factors._fields}
    own = found.get(place.candidate.id)
    return {"relevance": round(place.candidate.relevance, 4), **(own.parts if own else {}), "factors": bent}


def _twins(place: Ranked, entries: Mapping[int, Row], seen: Mapping[int, Seen]) -> tuple[Citation, ...]:
    places = ((entries[twin.id], seen[twin.id]) for twin in place.twins)
    return tuple(Citation(entry.path, at.line, at.end_line) for entry, at in places if entry.block is None)


def _chain(workspace: Workspace, entry: Row, verdict: Judgement) -> tuple[Version, ...]:
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
    return Version(entry.ref, place, verdict.standings[number].valid, content, bool(entry.private))
