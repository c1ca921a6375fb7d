"""Recall over more than one hop: what belongs to the hits by the names that lines share, each with the way that leads to it."""

from __future__ import annotations

import re
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING, Any, NamedTuple

from ..entities.names_of_lines import KnownNames
from ..facts import Citation, Fact
from ..hits import Answer, Hit
from ..index.heal import with_index
from ..index.index import Index, TimeUp
from ..index.queries.entries import Query, by_ids, by_refs, condition_of, entry_count, own_terms, passing
from ..index.queries.names import (
    NamedEntity,
    NamingLine,
    entities_of_keys,
    entities_of_pages,
    joined,
    lines_naming,
    names_from,
    naming_lines,
    page_of,
    spellings,
    spellings_by_head,
)
from ..index.reread import Seen, reread
from ..index.row import Row
from ..language.analyzer import terms
from ..language.names import entity_key, find_names, mentions
from ..markdown.counting import many
from ..markdown.grammar import parse
from ..markdown.lines import Role, content_of
from ..notes.workspace import Workspace
from ..truth.judge import Judgement, judge
from .association import Graph, Reached, hub_limit, in_turn, reach, spread, sunk
from .belief_hits import as_stated, believed
from .entry_hits import hit_of
from .pack import cost, fit
from .rank import Ranked, order
from .recall import candidate_of, recall
from .search_words import Found

if TYPE_CHECKING:
    from ..index.resident import Resident

__all__ = ["Web", "entries_of", "recall_further", "related_to", "seeds_of"]

SEEDS = 10
MOST = 100  # lines of one name that are fetched: a name with more gives each of them next to nothing
WIDEST = 40  # lines of the second hop from which the third goes on, the likeliest first
_SHARP = 3  # a hit that holds most of the question is worth more than three with a single word of it
_ENDED = 0.75  # a way over a line whose time is past is worth less, as such a hit is
_SECONDS = 2.0
_TRIES = 3
_SPARE = 5  # lines looked at beyond those that fit, for twins
_HEADING = 8  # tokens of what stands between the two lists


def recall_further(
    workspace: Workspace,
    query: Query,
    *,
    today: date,
    hops: int,
    k: int = 10,
    budget: int | None = None,
    **options: Any,
) -> Answer:
    """What `recall` answers, its hits untouched, and beside them at most `k` lines that are related to them.

    The walk starts at the first ten hits. The filters on time, kind and confidence hold for what is shown, `about` and
    `key` only for where it starts; with `as_of`, nothing that was told later is on any way. `budget` holds for both
    lists together, and the hits come first.
    """
    start = time.perf_counter()
    answer = recall(workspace, query, today=today, k=k, budget=budget, **options)
    through: Resident | None = options.get("through")

    def job(index: Index) -> Answer:
        return related_to(workspace, index, query, answer, today=today, k=k, hops=hops)

    answer = through.run(job) if through else with_index(workspace, job)
    if budget is not None:
        answer = _within(answer, budget)
    return answer._replace(took_ms=(time.perf_counter() - start) * 1000)


def _within(answer: Answer, budget: int) -> Answer:
    """What the hits leave of a budget goes to the related lines; where that is too little for any, the answer says so."""
    left = budget - sum(map(cost, answer.hits)) - _HEADING
    whole = fit(answer.related or (), sum(map(cost, answer.related or ())), answer.hits)
    kept = fit(answer.related or (), left, answer.hits)
    if kept or not whole or not answer.hits:
        return answer._replace(related=kept)
    why = (
        f"{many(len(whole), 'line is', 'lines are')} related to these, and the budget of {budget} tokens leaves room for none; "
        f"the shortest takes {min(map(cost, whole))}"
    )
    return answer._replace(related=(), crowded=True, warnings=(*answer.warnings, why))


def related_to(
    workspace: Workspace, index: Index, query: Query, answer: Answer, *, today: date, k: int, hops: int
) -> Answer:
    """The same from an index as it stands, to an answer that it gave.

    Where the walk takes too long, one step over marked names, in one statement, has to do.
    """
    warnings = answer.warnings
    for reached in (hops, 1):
        index.limit_time(time.monotonic() + _SECONDS)
        try:
            with index.reading():
                found = _related(workspace, index, query, answer, today, k, reached)
                further = answer._replace(related=tuple(found), warnings=warnings)
                return _shared(index, further) if query.public else further
        except TimeUp:
            warnings = (*answer.warnings, "looking for what is related took too long; only the nearest is shown")
        finally:
            index.limit_time(float("inf"))
    return answer._replace(related=(), warnings=warnings)


def _shared(index: Index, answer: Answer) -> Answer:
    """Nothing private leaves, nor what only a private line leads to."""
    from ..index.public import private_entries, without_private

    return without_private(answer, private_entries(index))


def _related(
    workspace: Workspace, index: Index, query: Query, answer: Answer, today: date, k: int, hops: int
) -> list[Hit]:
    seeds = seeds_of(index, answer.hits)
    if not seeds:
        return []
    now = query.as_of or today
    web = Web(index, query)
    if hops > 1:
        web.grow(seeds, hops)
    else:
        web.join(seeds, 4 * k)
        hops = 2
    direct = entries_of(index, answer.hits)
    told = {entry.content_key for entry, _ in direct.values()}
    wanted = replace(query, words="", about=(), key=None, times=())
    shown = passing(index, web.lines.keys() - direct.keys(), condition_of(index, wanted, ()))
    shown = {i for i in shown if web.lines[i].content_key not in told}
    looked = _Looked(workspace, index, now, query.as_of, web)
    for _ in range(_TRIES):
        found = [each for each in reach(web.graph, seeds, hops) if each.line in shown]
        best = _best(found, hops, k + _SPARE)
        if not looked.refute(best):
            break
    return looked.hits(best, direct, k)


def _best(found: Sequence[Reached], hops: int, width: int) -> list[Reached]:
    """As many of each distance as may be shown."""
    return [each for distance in range(2, hops + 1) for each in [e for e in found if e.hops == distance][:width]]


def entries_of(index: Index, hits: Sequence[Hit]) -> dict[int, tuple[Row, Hit]]:
    """The rows of the hits, in their order."""
    rows = {(e.ref, e.path): e for e in reversed(by_refs(index, [hit.ref for hit in hits])) if e.block is None}
    places = ((rows.get((hit.ref, hit.source.path)), hit) for hit in hits)
    return {entry.id: (entry, hit) for entry, hit in places if entry}


def seeds_of(index: Index, hits: Sequence[Hit]) -> dict[int, float]:
    """Where the walk starts, and how often: the better of the first hits much more often. What was never true leads nowhere."""
    found = entries_of(index, [hit for hit in hits[:SEEDS] if hit.score > 0 and not hit.retracted])
    return {line: hit.score**_SHARP for line, (_, hit) in found.items()}


# -- the graph around the hits ----------------------------------------------------------------------------------------


class Web:
    """The part of the store around some lines: who is named on each, and on which lines each name stands."""

    def __init__(self, index: Index, query: Query) -> None:
        self._index = index
        self._known_by_then = condition_of(index, Query(as_of=query.as_of, public=query.public), ())
        self._total = entry_count(index)
        self.lines: dict[int, NamingLine] = {}
        self.on: dict[int, set[str]] = {}
        self.who: dict[str, NamedEntity] = {}
        self._borne: dict[str, int] = {}
        self._named: set[int] = set()
        keys = names_from(index, {0: " ".join(terms(query.words))}).get(0, set()) | set(map(entity_key, query.about))
        self._asked = {bearer.key for bearer in entities_of_keys(index, sorted(keys)).values()}

    @property
    def graph(self) -> Graph:
        """What the walk needs: names whose lines were not looked at lead nowhere."""
        on = {line: sorted(name for name in names if name in self._borne) for line, names in self.on.items()}
        return Graph(on, self._borne, self._total, self._asked)

    def grow(self, seeds: Mapping[int, float], hops: int) -> None:
        """Look so far around the seeds: their names and the lines with those; for three hops, once more from the likeliest."""
        self._add(naming_lines(self._index, seeds, self._known_by_then))
        for hop in range(2, hops + 1):
            edge = seeds if hop == 2 else spread(self.graph, seeds, 0.85, rounds=2)
            chosen = sorted((line for line in edge if line in self.lines), key=lambda line: (-edge[line], line))
            self._name(chosen[:WIDEST])
            self._widen(dict.fromkeys(name for line in chosen[:WIDEST] for name in sorted(self.on[line])))

    def join(self, seeds: Mapping[int, float], limit: int) -> list[int]:
        """One step in one statement, over marked names alone; the best lines are returned."""
        lines = naming_lines(self._index, seeds, self._known_by_then)
        self._add(lines)
        self._mark(lines)
        weights = {name: 0.0 for line in lines for name in self.on[line.id]}
        for line in lines:
            for name in self.on[line.id]:
                weights[name] += seeds[line.id] / len(self.on[line.id])
        asked = [(key, name, weight) for name, weight in weights.items() for key in self.who[name].keys]
        found = [number for number, _ in joined(self._index, asked, limit, hub_limit(self._total), seeds)]
        fresh = naming_lines(self._index, found, self._known_by_then)
        self._add(fresh)
        self._mark(fresh)
        self._borne = dict.fromkeys(weights, 1)
        return found

    def _mark(self, lines: Sequence[NamingLine]) -> None:
        """Note the marked names of some lines."""
        who = entities_of_keys(self._index, (key for line in lines for key in line.names))
        for line in lines:
            self.who |= {who[key].key: who[key] for key in line.names if who[key].key not in self.who}
            self.on[line.id].update(who[key].key for key in line.names)

    def _add(self, lines: Iterable[NamingLine]) -> None:
        for line in lines:
            self.lines[line.id] = line
            self.on.setdefault(line.id, set())

    def _name(self, ids: Sequence[int]) -> None:
        """Find out who is named on some lines: marked, unmarked, or by the page that they stand on."""
        fresh = [line for line in ids if line not in self._named]
        self._named.update(fresh)
        plain = names_from(self._index, own_terms(self._index, fresh))
        named = {line: [*self.lines[line].names, *sorted(plain.get(line, ()))] for line in fresh}
        who = entities_of_keys(self._index, (key for keys in named.values() for key in keys))
        owners = entities_of_pages(self._index, {page_of(line) for line in fresh})
        for line, keys in named.items():
            borne = [who[key] for key in keys]
            borne += [owners[page_of(line)]] if page_of(line) in owners else []
            self.who |= {bearer.key: bearer for bearer in borne if bearer.key not in self.who}
            self.on[line].update(bearer.key for bearer in borne)

    def _widen(self, keys: Iterable[str]) -> None:
        """Fetch the lines of these names, unless they are hubs."""
        most = min(MOST, hub_limit(self._total))
        fresh = [key for key in keys if key not in self._borne]
        told = {key: lines_naming(self._index, self.who[key], most) for key in fresh}
        self._borne |= dict.fromkeys(told, self._total)
        told = {key: ids for key, ids in told.items() if len(ids) <= most}
        self._add(
            naming_lines(
                self._index, {i for ids in told.values() for i in ids} - self.lines.keys(), self._known_by_then
            )
        )
        for key, ids in told.items():
            speaking = [line for line in ids if line in self.on]
            self._borne[key] = len(speaking)
            for line in speaking:
                self.on[line].add(key)


# -- what was found, looked at ----------------------------------------------------------------------------------------


class _Text(NamedTuple):
    """A line as it stands on disk: its text and the names marked on it."""

    content: str
    marked: tuple[str, ...]


class _Looked:
    """Reads every line on the ways again: a name that only seemed to stand there, or a line that is gone, carries nothing."""

    def __init__(self, workspace: Workspace, index: Index, now: date, as_of: date | None, web: Web) -> None:
        self._workspace, self._index, self._now, self._as_of, self._web = workspace, index, now, as_of, web
        self._entries: dict[int, Row] = {}
        self._seen: dict[int, Seen] = {}
        self._texts: dict[int, _Text] = {}
        self._verdict = Judgement({}, {}, {})

    def refute(self, found: Sequence[Reached]) -> bool:
        """Take out of the web what does not hold on these ways; True if there was anything."""
        self._read({step for each in found for step in each.path[::2] if isinstance(step, int)})
        wrong = False
        for each in found:
            for at in range(1, len(each.path), 2):
                name = str(each.path[at])
                for line in (each.path[at - 1], each.path[at + 1]):
                    if isinstance(line, int) and name in self._web.on[line] and not self._names(line, name):
                        self._web.on[line].discard(name)
                        wrong = True
            for at in range(2, len(each.path) - 1, 2):
                line = int(each.path[at])
                standing = self._verdict.standings.get(line)
                if standing and standing.retracted and len(self._web.on[line]) > 1:
                    self._web.on[line] = {str(each.path[at - 1])}  # may be shown, but nothing follows from it
                    wrong = True
        return wrong

    def _read(self, ids: Collection[int]) -> None:
        fresh = by_ids(self._index, ids - self._entries.keys())
        if not fresh:
            return
        self._entries |= fresh
        self._seen |= reread(self._workspace, fresh.values())
        self._verdict = judge(self._index, self._entries.values(), self._now, self._as_of, whole=False)
        for number, entry in fresh.items():
            if number in self._seen:
                text = content_of(Role(entry.role), self._seen[number].raw)
                read = parse(text) if entry.role == Role.FACT.value else None
                fact = read if isinstance(read, Fact) else None
                content = fact.text if fact else text
                self._texts[number] = _Text(content, (*(fact.entities if fact else ()), *mentions(content)))

    def _names(self, line: int, key: str) -> bool:
        """True if the line on disk names this bearer: by a mark, in its text, or by standing on his page."""
        if line not in self._texts:
            return False
        text, who = self._texts[line], self._web.who[key]
        if who.page == page_of(line) or {entity_key(name) for name in text.marked} & set(who.keys):
            return True
        if find_names(text.content, spellings_by_head(who)):
            return True
        joined = [key for key in who.keys if not key.isalpha()]  # "node-7" and "node_7" are one word to find_names
        folded = entity_key(text.content) if joined else ""
        return any(re.search(rf"(?<!\w){re.escape(key)}(?!\w)", folded) for key in joined)

    def hits(self, found: Sequence[Reached], direct: Collection[int], k: int) -> list[Hit]:
        """The lines as hits, best first: the nearer and the farther in turn, what was replaced below what replaced it."""
        top = max((each.score for each in found), default=0.0) or 1.0
        ways = {each.line: each for each in found if each.line in self._seen}
        channel = {line: Found(each.score / top * self._worth(each), {}, {}) for line, each in ways.items()}
        stated = as_stated(
            self._index, channel, {i: self._entries[i] for i in channel}
        )  # a belief is the line that stated it
        ranked, replaced = self._ranked({i: stated[i].relevance for i in channel if i in stated and i not in direct})
        near, far = ([r for r in ranked if (ways[r.candidate.id].hops > 2) is beyond] for beyond in (False, True))
        known = KnownNames(self._index)
        hits: list[Hit] = []
        for rank, place in enumerate(sunk(in_turn(near, far), replaced)[:k], 1):
            entry = self._entries[place.candidate.id]
            hit = hit_of(self._index, entry, self._seen[entry.id], self._verdict, self._now, known)
            way = ways[entry.id]
            also = tuple(self._citation(twin.id) for twin in place.twins if self._entries[twin.id].block is None)
            parts = {"hops": way.hops, "walk": round(way.score, 6)}
            told = tuple(self._told(way.path, at) for at in range(len(way.path)))
            hits.append(replace(hit, score=place.score, why={"related": rank}, parts=parts, also=also, via=told))
        return believed(self._workspace, self._index, hits, self._as_of)

    def _worth(self, way: Reached) -> float:
        """Less for every line on the way, but the last, whose time is past; the last is judged as any hit is."""
        over = (self._verdict.standings.get(int(line)) for line in way.path[:-1:2])
        return float(_ENDED ** sum(1 for standing in over if standing and standing.is_over(self._now)))

    def _ranked(self, relevance: Mapping[int, float]) -> tuple[list[Ranked], dict[int, int]]:
        verdict = self._verdict
        current = {i: verdict.current(i) for i in relevance if i in verdict.standings}
        replaced = {i: by for i, by in current.items() if by != i}
        over = [i for i in current if verdict.standings[i].is_over(self._now)]
        candidates = [candidate_of(self._entries[i], value, False) for i, value in relevance.items()]
        return order(candidates, (), False, self._now, {}, over), replaced

    def _citation(self, line: int) -> Citation:
        seen = self._seen[line]
        return Citation(self._entries[line].path, seen.line, seen.end_line)

    def _told(self, path: Sequence[int | str], at: int) -> str:
        """A step as a reader sees it: the id of a line, a name as its page or the nearest line writes it."""
        step = path[at]
        if isinstance(step, int):
            return self._entries[step].ref
        who = self._web.who[step]
        beside = [self._texts[line] for line in (path[at + 1], path[at - 1]) if isinstance(line, int)]
        marked = (name for text in beside for name in text.marked if entity_key(name) in who.keys)
        return who.name if who.page is not None else next(marked, _spelled(who, beside))


def _spelled(who: NamedEntity, texts: Sequence[_Text]) -> str:
    """A name without a page as one of the texts writes it, or with a capital."""
    places = ((text.content, text.content.lower().find(who.key)) for text in texts)
    return next((text[at : at + len(who.key)] for text, at in places if at >= 0), spellings(who)[0].name)
