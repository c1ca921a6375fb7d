"""Recall: the facts that answer a question, what holds now first, each with a citation that was read again just now.

One way through: query -> search -> truth -> rank -> hits. What one step knows goes to the next in a small frozen value.

Why a line is not among the hits, in the order in which it can fall out:

    index/sync.py              its page is not in the index: unreadable, left out by a setting, or there was no time (`stale`);
                               a rule or a fence of Markdown is no line of the index at all
    notes/workspace.py         it is private, and others than the owner ask (`hides`)
    recall/query.py            a word of the question was taken for a filter; of a long paste only the question is read
    index/queries/filters.py   a filter (`condition_of`; `as_of` leaves out what has no day, too); or the time to keep it is over
    recall/recall.py           no word to look for: the newest alone, of the time asked for if there is one (`_newest`)
    recall/search_words.py     no word of the question in it, or too many lines have more of them
    recall/search_vectors.py   near in meaning, but not near enough to stand without a word
    recall/entry_hits.py       it is front matter, and its page has text to cite instead (`lines_of_pages`)
    recall/rank.py             a twin or a copy of another hit; below the first k
    recall/entry_hits.py       its line is no longer on disk
    recall/recall.py           the search took too long (`SECONDS`); about another of that name (`is_about`); other lines of
                               its document took the places (`per_page`)
    recall/entry_hits.py       a bare heading, a greeting, the head of a table and the like (`says_nothing`)
    recall/surroundings.py     over the budget (`fit_hits`)

`memctl eval --misses 1` on a labelled line (docs/eval.md) tells index, filter, ttl and rank apart, the rest by words shared.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import replace
from datetime import date
from types import MappingProxyType
from typing import NamedTuple

from ..facts import Citation, Kind, Period
from ..hits import Answer, Hit, Version
from ..index.index import Index, TimeUp
from ..index.open_memory import OpenMemory
from ..index.queries.entity_names import KnownNames, entities_named, first_said, keys_of
from ..index.queries.entries import Filter, Query, by_ids, in_slots, newest, passing, read_lines, slot_keys, slot_names
from ..index.queries.evidence import facts_kept_from
from ..index.queries.filters import condition_of, expiry_if_any
from ..index.reread import reread, text_of
from ..index.row import Entity, Row
from ..language.analyzer import query_terms, terms
from ..language.dates import log_day, parse_when
from ..language.names import entity_key, name_terms
from ..language.sentences import is_past
from ..notes.workspace import TEMPLATES
from ..truth.change import ALIKE
from ..truth.judge import Validities, judge
from ..truth.replaced import Replaced, orders, replacements_of
from ..truth.statement import is_of_others, is_of_owner, says_when, without_purpose
from ..truth.validity import versions
from . import entry_hits, wording
from .entry_hits import candidate_of, hits_of, lines_of_pages, owner_names, stating_lines, with_beliefs
from .query import with_aliases, with_phrases, with_tags
from .rank import Candidate, Ranked, Score, order
from .search_vectors import VectorSearch, start_vector_search
from .search_words import named_entities, search_words
from .surroundings import answerable, explain_empty, fit_hits, fit_related, signs_of

_LEAST_CANDIDATES = 40  # that validity and the factors reorder, however few hits are asked for
_CHECKED_FOR_CHANGE = 8  # first places of which a newer line is looked for that may have replaced them in words
_COMPARED_BY_AGE = 10  # first places among which a newer line is put before an older one that tells the same
_SCORE_SHARE = 0.5  # of the older line's score that such a newer line has at least
_WORD_SHARE = 0.5  # of the question's words in the older line that such a newer line has at least
_CHANGED_BOOST = 1.15  # for both lines of a change: where a thing is told in two ways, the question is about its state
_NEVER_TRUE = 0.5  # of its relevance, for what did not happen: nothing that is shown stands in its place
_PROBLEMS_NAMED = 3  # pages with problems that an answer names
SECONDS = 5.0  # the longest that one statement may run before the answer goes without it
_SLOT_BOOST = 1.5  # of the best relevance: what fills the slot that is asked for stands first, whatever the factors do
_OF_OTHERS = 0.6  # of its relevance, for what fills the owner's slot where that of a relative is asked for, and for who is called nearly so
WEAK = 0.4
"""Of the best score: what is below that belongs to another question."""
_A_WORD_OR_TWO = 2
_ROLES_THAT_TELL = frozenset(("fact", "text", "item", "row", "code"))
_LOOKED_FOR_REASONS = 50  # lines that are read where the best may be a reason further down
_REASON_BOOST = 1.3  # for the score of a line that gives a reason where one is asked for


def recall(
    memory: OpenMemory, query: Query, *, k: int = 10, history: bool = False, budget: int | None = None,
    vectors: bool = True, hops: int = 1,
) -> Answer:  # fmt: skip
    """The answer to a query: at most `k` hits, within `budget` tokens if given; without `vectors` by words only.

    With 2 or 3 `hops` it also has at most `k` lines that are related to the hits. The index is brought up to date first,
    within the time that the settings give it and without waiting for another writer; where that is not enough, the
    answer says that it is stale and why.
    """
    start = time.perf_counter()

    def job(bound: OpenMemory) -> Answer:
        report = bound.synced()
        asking = bound if vectors else bound.with_workspace(bound.workspace.without_model())
        answer = recall_in(asking, query, k=k, history=history)
        problems = [f"{path}: {problem}" for path, problem in sorted(report.problems.items())]
        if more := problems[_PROBLEMS_NAMED:]:
            problems[_PROBLEMS_NAMED:] = [f"and more pages with problems ({len(more)}); `memctl check` lists them"]
        answer = answer._replace(stale=report.stale, warnings=(*answer.warnings, *problems))
        answer = answer if budget is None else fit_hits(answer, budget)
        if hops > 1:
            from .related import related_to

            answer = related_to(bound, query, answer, k=k, hops=hops)
            answer = answer if budget is None else fit_related(answer, budget)
        return answer

    return memory.run(job)._replace(took_ms=(time.perf_counter() - start) * 1000)


def recall_in(memory: OpenMemory, query: Query, *, k: int = 10, history: bool = False) -> Answer:
    """The answer from the open index as it is."""
    with memory.index.reading():
        request = _make_request(memory, query, k, history)
        vectors, vectored = start_vector_search(memory, request.query, request.warnings)
        width = max(_LEAST_CANDIDATES, (4 if query.about else 2) * k)
        hits: list[Hit] = []
        more: tuple[str, ...] = ()
        try:
            while True:
                found = _search(request, width, vectors)
                if found:
                    judged, ranked = _rank(request, _judge(request, found))
                    hits, passed_over = _make_hits(request, judged, ranked)
                    hits, more = _count_the_rest(request, judged, ranked, hits, passed_over)
                if not request.about or len(hits) >= k or len(found) < width:
                    break
                width *= 8  # lines about others of that name took the places: look further down
        finally:
            if vectors:
                request.warnings.extend(vectors.close())
        answer = _answer(request, hits, more, bool(found))._replace(vectors=vectored)
    if hits or query.words or not query.pasted or not parse_when(query.pasted, memory.today):
        return answer
    # Only a time was asked for, and nothing is told of it. The words that name that time may stand somewhere.
    warnings = (*query.warnings, "no line is of that time; these lines have its words")
    query = replace(query, words=query.pasted, days=None, pasted="", warnings=warnings)
    return recall_in(memory, query, k=k, history=history)


class _Request(NamedTuple):
    """A question on its way through recall."""

    memory: OpenMemory
    query: Query
    about: Sequence[Entity | str]  # whom the filter of that name means
    condition: Filter  # all filters, as SQL
    k: int
    history: bool
    warnings: list[str]

    @property
    def day(self) -> date:
        """The day as of which is answered."""
        return self.query.as_of or self.memory.today


def _make_request(memory: OpenMemory, query: Query, k: int, history: bool) -> _Request:
    """The query with its words and names looked up in the index, its filters as SQL, and what there is to warn of."""
    query = with_phrases(memory.index, with_tags(memory.index, with_aliases(memory.workspace, query)))
    query = query if query.heading is None else entry_hits.with_sections(memory, query)
    about, warnings = resolve_about(memory.index, query)
    warnings += query.warnings
    if query.pasted and query.words:
        warnings.append(f"out of {len(query.pasted):,} characters the question was taken to be: {query.words[:200]}")
    if query.words and not query_terms(query.words):
        warnings.append("the question has no words to look for; these are the newest")
    if not history:
        expiry = expiry_if_any(memory.index, query.as_of or memory.today, memory.workspace.settings.ttl)
        query = replace(query, expiry=expiry)
    return _Request(memory, query, about, condition_of(query, about), k, history, warnings)


def resolve_about(index: Index, query: Query) -> tuple[list[Entity | str], list[str]]:
    """The entities that the filter names; a name without a page, or of several (with a warning), stands for itself."""
    found: list[Entity | str] = []
    warnings = []
    for name in query.about:
        entities = entities_named(index, name)
        if len(entities) > 1:
            warnings.append(
                f"@{name} may be {' or '.join(e.name for e in entities)}; lines that say only {name} are meant"
            )
        found.append(entities[0] if len(entities) == 1 else name)
    return found, warnings


def _search(request: _Request, width: int, vectors: VectorSearch | None) -> Mapping[int, Score]:
    """The best `width` lines that words and vectors find, and the lines that fill the slot which is asked for.

    The newest lines, where there are no words to look for. Nothing, with a warning, where a statement runs over `SECONDS`.
    """
    index, query = request.memory.index, request.query
    index.limit_time(time.monotonic() + SECONDS)
    try:
        found = search_words(index, query, request.condition, width, vectors) if query.words else None
        if found is None:
            return _newest(request, width)
        if not wording.has_wording("why", query.words):  # the value of a slot is no reason
            found = _with_slots(request, found)
        return _with_definition(request, found)
    except TimeUp:
        request.warnings.append("the search took too long and was cut off; use rarer words or a filter")
        return {}
    finally:
        index.limit_time(float("inf"))


def _with_slots(request: _Request, found: Mapping[int, Score]) -> Mapping[int, Score]:
    """What was found, above it what holds now in the slots that the question asks for: "where do I live?", "which database?"."""
    index, query = request.memory.index, request.query
    owners = _owners_of_slots(request)
    keys = wording.question_keys(query.words, slot_keys(index, owners)) if owners else []
    slots = wording.keys_of_owner(keys, query.words) if "" in owners else keys
    others = {row.id for key in keys if key not in slots for row in in_slots(index, key, [""])}
    found = {i: how._replace(relevance=_OF_OTHERS * how.relevance) if i in others else how for i, how in found.items()}
    rows = [row for slot in slots for row in in_slots(index, slot, owners)]
    if not rows:
        return found
    verdict = judge(request.memory, rows, query.as_of)
    current = {i for i, validity in verdict.validity.items() if validity.holds(request.day)}
    top = _above(found)
    before = {i: found.get(i, Score(0.0, {}, {})) for i in passing(index, current, request.condition)}
    return {**found, **{i: Score(top, {"slot": 1, **each.why}, each.parts) for i, each in before.items()}}


def _owners_of_slots(request: _Request) -> set[str]:
    """The keys of those whose slots the question may ask for: whom it names, else the owner. Nobody where it names a stranger."""
    index, query = request.memory.index, request.query
    said = wording.names_mentioned(slot_names(index, entity_key(query.words)), query.words)
    names = [*query.about, *said, *(entity.name for entity in named_entities(index, query.words))]
    keys = {key for name in names for key in keys_of(index, name)}
    is_of_somebody = wording.names_somebody(query.words) or query.about
    if not keys and (wording.has_wording("own", query.words) or not is_of_somebody):
        return set(owner_names(request.memory))
    return keys


def _above(found: Mapping[int, Score]) -> float:
    """A relevance above all that was found."""
    return _SLOT_BOOST * max((each.relevance for each in found.values()), default=0.5)


def _with_definition(request: _Request, found: Mapping[int, Score]) -> Mapping[int, Score]:
    """What was found, above it the first line on the page of an entity, where the question is who or what that is."""
    index, name = request.memory.index, wording.question_name(request.query.words)
    entities = (entities_named(index, name) or named_entities(index, name)) if name else []
    if len(entities) != 1 or not {*terms(name)} <= {term for known in entities[0].names for term in terms(known)}:
        return found
    first = passing(index, first_said(index, filter(None, [entities[0].page])).values(), request.condition)
    return {**found, **{i: Score(_above(found), {"lexical": 1, "entity": 1}, {}) for i in first}}


def _newest(request: _Request, width: int) -> Mapping[int, Score]:
    """The newest `width` lines, of the time that is asked for if one is."""
    query, spans = request.query, [request.query.days]
    if query.times and not query.days:
        spans = [query.times[0]]
    elif query.times and not query.words:  # around a time: that, then the days beside it, the nearest first
        spans = [wording.widened(query.times[0], away) for away in range(wording.AROUND + 1)]
    ids: dict[int, None] = {}
    for days in spans:
        if len(ids) < width:
            condition = condition_of(replace(query, days=days), request.about)
            ids |= dict.fromkeys(newest(request.memory.index, condition, width))
    return {i: Score(1.0 - place / 10_000, {"recent": place}, {}) for place, i in enumerate(ids, 1)}


class _Judged(NamedTuple):
    """What was found, by id of the row, with the verdict on it and on what replaced it."""

    found: Mapping[int, Score]
    entries: Mapping[int, Row]  # those of it that may be shown
    verdict: Validities
    perhaps_replaced: Mapping[int, Replaced] = MappingProxyType({})  # in words, by a newer line
    told_again: Mapping[int, int] = MappingProxyType({})  # older -> newer line that answers as well and stands above
    kept: Mapping[int, int] = MappingProxyType({})  # note -> the fact that was kept from it, and is shown in its place


def _judge(request: _Request, found: Mapping[int, Score]) -> _Judged:
    """The verdict on what was found; in the place of a belief's head stands the line that stated it."""
    index, query = request.memory.index, request.query
    entries = by_ids(index, found)
    found = stating_lines(index, lines_of_pages(index, found, entries), entries)
    entries |= by_ids(index, passing(index, found.keys() - entries.keys(), request.condition))
    shown = {i: e for i, e in entries.items() if i in found}
    facts = facts_kept_from(index, shown.values())
    passed = passing(index, {one.id for one in facts.values()}, request.condition)
    kept = {i: one.id for i, one in facts.items() if one.id in passed}
    shown |= {one.id: one for one in facts.values() if one.id in passed}
    found = {**{one: found[i] for i, one in kept.items()}, **found}
    return _Judged(found, shown, judge(request.memory, shown.values(), query.as_of, whole=request.history), kept=kept)


def _rank(request: _Request, judged: _Judged) -> tuple[_Judged, list[Ranked]]:
    """The candidates in their final order. What replaced one of them joins them, even if its own words do not match.

    What may have replaced the first of them in words is looked for once the first are known; then all are ordered again.
    """
    ranked = _ordered(request, judged)
    if not all("recent" in each.why for each in judged.found.values()):
        changed = _changed_in_words(request, judged, ranked)
        return changed, ranked if changed is judged else _ordered(request, changed)
    query = request.query
    middle = query.times[0] if query.times else query.days or Period()
    span = query.days or middle
    return judged, sorted(ranked, key=lambda place: _nearest_first(place.candidate, span, middle))


def _ordered(request: _Request, judged: _Judged) -> list[Ranked]:
    """The candidates, and what replaced them, in the order of rank.py. A newer line is as relevant as what it replaced."""
    found, verdict, query, day = judged.found, judged.verdict, request.query, request.day
    replaced = {i: new for i in judged.entries if (new := verdict.current(i)) != i}
    # A filter holds for what replaced a line too: `until=` asks for what was told by then.
    passed = passing(request.memory.index, set(replaced.values()), request.condition)
    replaced = {old: new for old, new in replaced.items() if new in passed}
    perhaps = {old: pair.newer.id for old, pair in judged.perhaps_replaced.items() if old not in replaced}
    another = entry_hits.of_another(query.words, judged.entries, found)
    relevance = {i: found[i].relevance * (_OF_OTHERS if i in another else 1) for i in judged.entries}
    for old, new in (*replaced.items(), *perhaps.items()):
        relevance[new] = max(relevance.get(new, 0.0), found[old].relevance)
    for i in {*perhaps.keys(), *perhaps.values()}:
        relevance[i] *= _CHANGED_BOOST
    for note, fact in judged.kept.items():
        relevance[fact] = max(relevance[fact], relevance.pop(note))
    over = [i for i in relevance if i in verdict.validity and verdict.validity[i].is_over(day)]
    for old, new in replaced.items():
        by = verdict.entries.get(new)
        if verdict.validity[old].retracted and by and by.kind == Kind.OBSERVATION.value:
            relevance[old] *= _NEVER_TRUE
    named = {i for i in relevance if i in found and found[i].why.get("entity")} or _of_the_owner(request, judged)
    candidates = [
        candidate_of(verdict.entries[i], value, i in named) for i, value in relevance.items() if i in verdict.entries
    ]
    return order(candidates, query.times, bool(named), day, replaced, over, {**judged.told_again, **perhaps})


def _told_again(request: _Request, judged: _Judged, ranked: Sequence[Ranked], timed: Set[int]) -> dict[int, int]:
    """For each state among the first lines that a newer one tells as well, as far as the question goes: the newest of these.

    Nothing where a time is asked for: then an older line may be the answer. Where it is asked when something is, the newest
    of the `timed` lines, which say so.
    """
    if request.query.times or request.query.days:
        return {}
    states: list[tuple[float, Row]] = []
    for place in ranked[: min(request.k, _COMPARED_BY_AGE)]:
        row = judged.entries.get(place.candidate.id)
        if row and _is_state(row, bool(timed)) and not judged.verdict.validity[row.id].is_over(request.day):
            states.append((place.score, row))
    words = _question_words(request, [row for _, row in states])
    newest_of: dict[int, int] = {}
    for score, older in states:
        newer = [
            row
            for its_score, row in states
            if row.subject == older.subject
            and (row.id in timed or not timed)
            and ((row.day or "") > (older.day or "") or (timed and older.id not in timed))
            and its_score >= _SCORE_SHARE * score
            and _answers_as_well(request, words[row.id], words[older.id])
        ]
        if words[older.id] and newer:  # of the newest day the best
            newest_of[older.id] = max(newer, key=lambda row: row.day or "").id
    return newest_of


def _timed(request: _Request, entries: Iterable[Row]) -> set[int]:
    """Of some entries, those that say when something is, where that is asked: not when something was done for it."""
    asks = wording.has_wording("when", request.query.words) and not is_past(request.query.words)
    told = [row for row in entries if asks and _is_state(row, asks)]
    seen = reread(request.memory.workspace, told, request.memory.index)
    texts = ((row, text_of(row, seen[row.id]).content) for row in told if row.id in seen)
    wanted = {*query_terms(request.query.words)}
    about = ((row, text) for row, text in texts if wanted.intersection(terms(text)) <= {*terms(without_purpose(text))})
    return {row.id for row, text in about if says_when(text, row.written_on or request.day)}


def _question_words(request: _Request, entries: Sequence[Row]) -> dict[int, frozenset[str]]:
    """The words of the question in each line, but for the names of whom one of them is about: every line about them has these."""
    named = [key for entity in named_entities(request.memory.index, request.query.words) for key in entity.keys]
    wanted = frozenset(query_terms(request.query.words)).difference(name_terms(named))
    lines = read_lines(request.memory.index, [entry.id for entry in entries])
    return {e.id: wanted.intersection(lines[e.id][0].split()) - name_terms(e.named) for e in entries if e.id in lines}


def _answers_as_well(request: _Request, newer: frozenset[str], older: frozenset[str]) -> bool:
    """True if the newer line has half of the question's words that the older has; all of them where no question mark is typed."""
    share = _WORD_SHARE if request.query.words.rstrip().endswith(("?", "\uff1f")) else 1.0
    return len(newer & older) >= share * len(older)


def _is_asked_about(request: _Request, pair: Replaced, newer: frozenset[str], older: frozenset[str]) -> bool:
    """False where the question is about the time in which the older line held, or about what only the older one tells."""
    older_day, newer_day = pair.older.day or "", pair.newer.day or ""
    times = request.query.times
    if times and all(time.last and older_day <= str(time.last) < newer_day for time in times):
        return False
    return pair.judgement.rule != ALIKE or _answers_as_well(request, newer, older)


def _is_state(entry: Row, timed: bool = False) -> bool:
    """True for a fact of a log that no slot puts in order and that is no event; with `timed` for any line of a log."""
    told = entry.is_in_log and entry.block is None and entry.slot is None and entry.role in _ROLES_THAT_TELL
    return told and (timed or (entry.role == "fact" and entry.kind != Kind.EXPERIENCE.value))


def _of_the_owner(request: _Request, judged: _Judged) -> set[int]:
    """Lines without a name that are not about a relative: these are about the owner, if the question names nobody else."""
    query = request.query
    if query.about or not query.words or not is_of_owner(query.words) or is_of_others(" ".join(terms(query.words))):
        return set()
    alone = [i for i, entry in judged.verdict.entries.items() if not entry.names]
    lines = read_lines(request.memory.index, alone)
    return {i for i, (own, _) in lines.items() if not is_of_others(own)}


def _changed_in_words(request: _Request, judged: _Judged, ranked: Sequence[Ranked]) -> _Judged:
    """The same with the lines that a newer one may have replaced in words, or tells as well: these only stand below it."""
    index, verdict = request.memory.index, judged.verdict
    ids = [place.candidate.id for place in ranked[: min(request.k, _CHECKED_FOR_CHANGE)]]
    first = [judged.entries[i] for i in ids if i in judged.entries and not verdict.validity[i].is_over(request.day)]
    pairs = replacements_of(request.memory.on(request.day), first, judged.found)
    passed = passing(index, {pair.newer.id for pair in pairs.values()}, request.condition)
    ahead = {pair.newer.id: old for old, pair in pairs.items() if pair.is_ahead(request.day)} | verdict.ahead(
        request.day
    )
    pairs = {old: pair for old, pair in pairs.items() if pair.newer.id in passed - ahead.keys()}
    compared = [p.candidate.id for p in ranked[:_COMPARED_BY_AGE]]
    shown = [judged.entries[i] for i in compared if i in judged.entries]
    timed = _timed(request, [*shown, *(pair.newer for pair in pairs.values())])
    again = _told_again(request, judged, ranked, timed)
    told_again = {old: new for old, new in again.items() if ahead.get(new) != old} | ahead
    if not pairs and not told_again:
        return judged
    words = _question_words(request, [row for pair in pairs.values() for row in (pair.older, pair.newer)])
    perhaps_replaced = {
        old: pair
        for old, pair in pairs.items()
        if orders(pair)
        and (pair.judgement.rule != ALIKE or old not in timed or pair.newer.id in timed)
        and _is_asked_about(request, pair, words[pair.newer.id], words[old])
    }
    turned = {(pair.newer.id, old) for old, pair in perhaps_replaced.items()}  # a plan says when, and is cancelled
    told_again = {old: new for old, new in told_again.items() if (old, new) not in turned}
    rows = {pair.newer.id: pair.newer for pair in perhaps_replaced.values()}
    unknown = [row for i, row in rows.items() if i not in verdict.validity]
    missing = judge(request.memory, unknown, request.query.as_of)
    verdict = verdict._replace(entries={**verdict.entries, **rows}, validity={**missing.validity, **verdict.validity})
    return judged._replace(verdict=verdict, perhaps_replaced=perhaps_replaced, told_again=told_again)


def _nearest_first(candidate: Candidate, span: Period, middle: Period) -> tuple[bool, bool, int, int]:
    """Sorts what was written within `span` first, in it the nearest to `middle`, then the newest; copies last."""
    day = candidate.day
    if not day:
        return candidate.copy, True, date.max.toordinal(), 0
    away = max(((middle.first or day) - day).days, (day - (middle.last or day)).days, 0)
    return candidate.copy, not span.holds(day), away, -day.toordinal()


def _make_hits(request: _Request, judged: _Judged, ranked: Sequence[Ranked]) -> tuple[list[Hit], set[str]]:
    """The hits: the first `k` places whose lines still stand on disk. Beside them the ids of the lines that were passed over.

    Lines are read again a handful at a time; a twin stands in for a line that is gone. Of a document no more lines are taken
    than the query wants of a page. What only frames a page (a heading, a greeting) answers no question; where nothing else
    has the word or two that were typed, it is the answer.
    """
    memory, verdict, query, known = request.memory, judged.verdict, request.query, KnownNames(request.memory.index)
    originals = [place for place in ranked if not place.candidate.copy]
    places = [
        place._replace(twins=tuple(twin for twin in place.twins if not twin.copy)) for place in originals
    ] or ranked
    hits: list[Hit] = []
    framing: list[Hit] = []
    passed_over: set[str] = set()
    taken_of_page: Counter[str] = Counter()
    has_passage: dict[Citation, Row] = {}  # hits that are shown with what stands around them
    wants_reasons = wording.has_wording("why", query.words)
    enough = max(request.k, _LOOKED_FOR_REASONS) if wants_reasons else request.k
    for start in range(0, len(places), enough):
        piece = places[start : start + enough]
        entries = [verdict.entries[candidate.id] for place in piece for candidate in (place.candidate, *place.twins)]
        read = hits_of(memory, entries, verdict, as_of=query.as_of, known=known)
        for place in piece:
            entry = verdict.entries[place.candidate.id]
            hit = None if entry.block == "keep" else _make_hit(request, judged, place, read)  # not confirmed
            if hit is None or entry_hits.says_nothing(memory, entry, hit):
                framing += [hit] if hit and hit.content not in TEMPLATES else []
                passed_over.add(entry.ref)
                continue
            # A page that is not a log is one thing to read, and its lines are parts of it.
            if query.per_page and entry.role != "fact" and log_day(entry.path) is None:
                taken_of_page[entry.path] += 1
                if taken_of_page[entry.path] > query.per_page:
                    continue
                has_passage[hit.source] = entry
            elif entry_hits.leads_a_list(entry, hit):
                has_passage[hit.source] = entry
            hits.append(hit)
        if len(hits) >= enough:
            break
    is_question = query.in_chat or len(query.words.split()) > _A_WORD_OR_TWO or query.words.endswith(("?", "？"))
    if not hits and not is_question:
        hits = framing
    if wants_reasons:
        hits = _reasons_first(hits)
    shown = [
        entry_hits.as_passage(memory, has_passage[hit.source], hit, judged.found) if hit.source in has_passage else hit
        for hit in hits[: request.k]
    ]
    return with_beliefs(memory, entry_hits.with_notes(memory, shown), query.as_of), passed_over


def _count_the_rest(
    request: _Request, judged: _Judged, ranked: Sequence[Ranked], hits: Sequence[Hit], passed_over: Collection[str]
) -> tuple[list[Hit], tuple[str, ...]]:
    """The hits and, for a line that says where more is told, the day or page of each line that was found besides.

    What was found besides on the page of a hit with a passage is counted in that hit instead.
    """
    shown = {hit.ref for hit in hits} | set(passed_over)
    least = WEAK * max((hit.score for hit in hits), default=math.inf)
    left = []
    for place in ranked:
        entry = judged.verdict.entries[place.candidate.id]
        is_strong = place.score >= least and entry_hits.is_match(judged.found.get(place.candidate.id))
        tells = not place.candidate.copy and entry.role in _ROLES_THAT_TELL
        if is_strong and tells and entry.ref not in shown:
            left.append(entry)
    if request.about:  # whom a line is about, only the line itself says
        read = hits_of(request.memory, left, judged.verdict, as_of=request.query.as_of)
        left = [e for e in left if e.id in read and entry_hits.is_about(read[e.id], request.about)]
    documents = {hit.source.path for hit in hits if hit.passage}
    besides = Counter(entry.path for entry in left if entry.path in documents)
    more = (entry.day or entry.path for entry in left if entry.path not in documents)
    return [replace(hit, more=besides[hit.source.path]) if hit.passage else hit for hit in hits], tuple(more)


def _reasons_first(hits: Sequence[Hit]) -> list[Hit]:
    """A question for reasons lifts lines that give one; that they were replaced since counts nothing there."""
    lifted = [
        replace(hit, score=hit.score * _REASON_BOOST / hit.parts["factors"]["standing"])
        if wording.has_wording("because", hit.content)
        else hit
        for hit in hits
    ]
    return sorted(lifted, key=lambda hit: -hit.score)


def _make_hit(request: _Request, judged: _Judged, place: Ranked, read: Mapping[int, Hit]) -> Hit | None:
    """One place of the ranking as a hit; None if none of its lines is left, or it is not about the names of the filter."""
    standing = [candidate for candidate in (place.candidate, *place.twins) if candidate.id in read]
    if not standing or (request.about and not entry_hits.is_about(read[standing[0].id], request.about)):
        return None
    first, *twins = standing
    found, perhaps = judged.found.get(first.id), judged.perhaps_replaced.get(first.id)
    factors = {name: round(value, 3) for name, value in place.factors._asdict().items()}
    return replace(
        read[first.id],
        score=place.score,
        perhaps_superseded_by=perhaps.newer.ref if perhaps and not read[first.id].superseded_by else None,
        why=dict(found.why) if found else {"replaces": 1},
        parts={"relevance": round(first.relevance, 4), **(found.parts if found else {}), "factors": factors},
        also=tuple(read[twin.id].source for twin in twins if not twin.copy),
        history=_versions(request.memory, first.id, judged.verdict) if request.history else (),
    )


def _versions(memory: OpenMemory, entry: int, verdict: Validities) -> tuple[Version, ...]:
    """Every version of the slot that an entry fills, first to last; without a slot, what it replaced and what replaced it."""
    claims = verdict.claims
    slots = set(claims[entry].slots) if entry in claims else set()
    found = versions(claim for claim in claims.values() if slots.intersection(claim.slots))
    if not found:
        replaced = [i for i, validity in verdict.validity.items() if validity.replaced_by == entry]
        found = versions(claims[i] for i in {entry, *replaced, verdict.current(entry)} if i in claims)
    ids = list(dict.fromkeys(claim.id for claim in found))
    hits = hits_of(memory, (verdict.entries[i] for i in ids), verdict) if len(ids) > 1 else {}
    return tuple(Version(hit.ref, hit.source, hit.valid, hit.content, hit.private) for hit in hits.values())


def _answer(request: _Request, hits: Sequence[Hit], more: tuple[str, ...], found: bool) -> Answer:
    """The hits with what there is to say about them; where there are none, why."""
    query, index, warnings = request.query, request.memory.index, request.warnings
    if hits and all(hit.why.keys() == {"vector"} for hit in hits):
        warnings.append("no page holds a word of the question; these lines are near to it in meaning, if at all")
    empty = [] if hits else [*explain_empty(request.memory, query, request.about, request.condition)]
    if empty and found and query.words and not request.about:
        empty.append("what holds words of it is a heading, a greeting or a template, and answers nothing")
    signs = signs_of(index, query.words, hits)
    return Answer(
        query.pasted or query.words, str(query.as_of) if query.as_of else None, tuple(hits), tuple(warnings), None,
        tuple(empty), answerable=answerable(signs, hits), signs=signs, more=more,
    )  # fmt: skip
