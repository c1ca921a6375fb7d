"""Lines that belong to the hits of an answer without sharing its words, each with the way that leads to it.

Lines and names make a graph of two sides. A walker starts at a hit, goes to one of its names (the rarer, the likelier),
from there to any line with that name, and on; where it comes to often is related. A name on very many lines leads nowhere
in particular, so no walk goes through it.
"""

import math
import re
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import NamedTuple, TypeVar

from ..facts import grouped
from ..hits import Answer, Hit
from ..index.index import Index, TimeUp
from ..index.lexical import page_of
from ..index.open_memory import OpenMemory
from ..index.queries import entity_names as queries
from ..index.queries.entity_names import NamingLine
from ..index.queries.entries import Query, by_ids, by_refs, entry_count, own_terms, passing
from ..index.queries.filters import condition_of
from ..index.reread import CurrentLine, EntryText, reread, text_of
from ..index.row import Entity, Row
from ..language.analyzer import terms
from ..language.names import entity_key, find_names, stem_head
from ..truth.judge import Validities, judge
from .entry_hits import candidate_of, hits_of, stating_lines, with_beliefs
from .rank import ENDED, Score, order

_FEW, _SHARE = 50, 0.05  # a name on more lines than that, or that part of all, is a hub
_ASKED = 0.1  # what a name in the question weighs
_TURNS = (0, 0, 1, 0, 1)
_SEEDS = 10
MOST_LINES = 100  # lines of one name that are fetched: a name with more gives each of them next to nothing
WIDEST = 40  # lines of the second hop from which the third goes on, the likeliest first
_SHARP = 3  # a hit that holds most of the question is worth more than three with a single word of it
_SECONDS = 2.0
_TRIES = 3
_SPARE = 5  # lines looked at beyond those that fit, for twins
T = TypeVar("T")


def related_to(memory: OpenMemory, query: Query, answer: Answer, *, k: int, hops: int) -> Answer:
    """An answer of the open index with at most `k` lines that are related to its hits, which stay as they are.

    The walk starts at the first ten hits. The filters on time, kind and confidence hold for what is shown, `about` and
    `key` only for where it starts; with `as_of`, nothing that was told later is on any way.
    """
    index = memory.index
    index.limit_time(time.monotonic() + _SECONDS)
    try:
        with index.reading():
            return answer._replace(related=tuple(_related(memory, query, answer, k, hops)))
    except TimeUp:
        return answer._replace(related=(), warnings=(*answer.warnings, "looking for what is related took too long"))
    finally:
        index.limit_time(float("inf"))


def _related(memory: OpenMemory, query: Query, answer: Answer, k: int, hops: int) -> list[Hit]:
    seeds = seeds_of(memory.index, answer.hits)
    if not seeds:
        return []
    web = Web(memory.index, query)
    web.grow(seeds, hops)
    direct = rows_of_hits(memory.index, answer.hits)
    told = {row.content_key for row, _ in direct.values()}
    wanted = replace(query, words="", about=(), key=None, times=())
    shown = passing(memory.index, web.lines.keys() - direct.keys(), condition_of(wanted, ()))
    shown = {i for i in shown if web.lines[i].content_key not in told}
    checked = _CheckedLines(memory, query.as_of, web)
    for _ in range(_TRIES):
        found = [each for each in reach(web.graph, seeds, hops) if each.line in shown]
        apart = ([each for each in found if each.hops == distance] for distance in range(2, hops + 1))
        best = [each for some in apart for each in some[: k + _SPARE]]
        if not checked.refute(best):
            break
    return checked.hits(best, direct, k)


def rows_of_hits(index: Index, hits: Sequence[Hit]) -> dict[int, tuple[Row, Hit]]:
    """The rows of the hits, in their order."""
    rows = {(e.ref, e.path): e for e in reversed(by_refs(index, [hit.ref for hit in hits])) if e.block is None}
    places = ((rows.get((hit.ref, hit.source.path)), hit) for hit in hits)
    return {row.id: (row, hit) for row, hit in places if row}


def seeds_of(index: Index, hits: Sequence[Hit]) -> dict[int, float]:
    """Where the walk starts, and how often: the better of the first hits much more often. What was never true leads nowhere."""
    found = rows_of_hits(index, [hit for hit in hits[:_SEEDS] if hit.score > 0 and not hit.retracted])
    return {line: hit.score**_SHARP for line, (_, hit) in found.items()}


# -- the walk ---------------------------------------------------------------------------------------------------------


class Graph(NamedTuple):
    """Lines with the names on them; `document_frequency` is on how many of all `total` lines a name stands.

    `asked` are names in the question: lines with them are hits by that, so little of the walk goes that way.
    """

    lines: Mapping[int, Collection[str]]
    document_frequency: Mapping[str, int]
    total: int
    asked: Collection[str] = ()


class Reached(NamedTuple):
    """A line that the walk came to: how often, how many lines lie on the way (itself included), and the best way there.

    `path` alternates lines and names, from the hit where it began.
    """

    line: int
    score: float
    hops: int
    path: tuple[int | str, ...]


def hub_limit(total: int) -> int:
    """On how many of `total` lines a name may stand and still lead anywhere: 50, or 5 % where that is more."""
    return max(_FEW, int(_SHARE * total))


def reach(graph: Graph, seeds: Mapping[int, float], hops: int) -> list[Reached]:
    """The lines within so many hops of the seeds, best first; the seeds themselves (one hop) are left out.

    A line has what comes to it over all of its shortest ways, and names the likeliest of them.
    """
    names, lines = _sides(graph)
    edge = {line: weight for line, weight in sorted(seeds.items()) if line in graph.lines and weight > 0}
    whole = math.fsum(edge.values())
    edge = {line: weight / whole for line, weight in edge.items()}
    ways: dict[int, tuple[int | str, ...]] = {line: (line,) for line in edge}
    found: list[Reached] = []
    for hop in range(2, hops + 1):
        met: dict[str, list[tuple[float, int]]] = {}
        for line, amount in sorted(edge.items()):
            for name, share in names[line]:
                met.setdefault(name, []).append((amount * share, -line))
        come: dict[int, list[tuple[float, str]]] = {}
        for name, parts in sorted(met.items()):
            share, its = lines[name]
            for line in its:
                if line not in ways:
                    come.setdefault(line, []).append((math.fsum(part for part, _ in parts) * share, name))
        edge = {line: math.fsum(part for part, _ in parts) for line, parts in come.items()}
        fresh = {line: max(parts, key=lambda part: part[0])[1] for line, parts in come.items()}
        ways |= {line: (*ways[-max(met[name])[1]], name, line) for line, name in fresh.items()}
        found += [Reached(line, edge[line], hop, ways[line]) for line in fresh]
    return sorted(found, key=lambda each: (-round(each.score, 12), each.hops, each.line))


def _sides(graph: Graph) -> tuple[dict[int, list[tuple[str, float]]], dict[str, tuple[float, list[int]]]]:
    """The graph without its hubs, in a fixed order: names and their shares by line, shares and lines by name."""
    limit = hub_limit(graph.total)
    lines = grouped((name, line) for line in sorted(graph.lines) for name in graph.lines[line])
    frequency = {name: max(graph.document_frequency.get(name, 0), len(found)) for name, found in lines.items()}
    names: dict[int, list[tuple[str, float]]] = {line: [] for line in sorted(graph.lines)}
    sides: dict[str, tuple[float, list[int]]] = {}
    for name, found in sorted(lines.items()):
        if frequency[name] <= limit:
            sides[name] = 1 / frequency[name], found
            weight = math.log(1 + graph.total / frequency[name]) * (_ASKED if name in graph.asked else 1)
            for line in found:
                names[line].append((name, weight))
    for line, listed in names.items():
        whole = math.fsum(weight for _, weight in listed)
        names[line] = [(name, weight / whole) for name, weight in listed]
    return names, sides


def in_turn(near: Sequence[T], far: Sequence[T]) -> list[T]:
    """Three of five places to the nearer lines, two to the farther: those are many, and hardly one would come up by score."""
    queues = iter(near), iter(far)
    taken = (next(queues[turn], None) for _ in range(len(near) + len(far)) for turn in _TURNS)
    return [each for each in taken if each is not None]


class Web:
    """The part of the store around some lines: who is named on each, and on which lines each name stands."""

    def __init__(self, index: Index, query: Query) -> None:
        self._index = index
        self._known_by_then = condition_of(Query(as_of=query.as_of), ())
        self._total = entry_count(index)
        self.lines: dict[int, NamingLine] = {}
        self.on: dict[int, set[str]] = {}
        self.who: dict[str, Entity] = {}
        self._frequency: dict[str, int] = {}
        self._named: set[int] = set()
        about = set(map(entity_key, query.about))
        keys = queries.names_from(index, {0: " ".join(terms(query.words))}).get(0, set()) | about
        self._asked = {entity.key for entity in queries.entities_of_keys(index, sorted(keys)).values()}

    @property
    def graph(self) -> Graph:
        """What the walk needs: names whose lines were not looked at lead nowhere."""
        on = {line: sorted(name for name in names if name in self._frequency) for line, names in self.on.items()}
        return Graph(on, self._frequency, self._total, self._asked)

    def grow(self, seeds: Mapping[int, float], hops: int) -> None:
        """Look so far around the seeds: their names and the lines with those; for three hops, once more from the likeliest."""
        self._add(seeds)
        for hop in range(2, hops + 1):
            edge = {**seeds, **({} if hop == 2 else {each.line: each.score for each in reach(self.graph, seeds, 2)})}
            chosen = sorted((line for line in edge if line in self.lines), key=lambda line: (-edge[line], line))
            self._name(chosen[:WIDEST])
            self._widen(dict.fromkeys(name for line in chosen[:WIDEST] for name in sorted(self.on[line])))

    def _add(self, ids: Iterable[int]) -> None:
        for line in queries.naming_lines(self._index, ids, self._known_by_then):
            self.lines[line.id] = line
            self.on.setdefault(line.id, set())

    def _name(self, ids: Sequence[int]) -> None:
        """Find out who is named on some lines: marked, unmarked, or by the page that they stand on."""
        fresh = [line for line in ids if line not in self._named]
        self._named.update(fresh)
        plain = queries.names_from(self._index, own_terms(self._index, fresh))
        named = {line: [*self.lines[line].names, *sorted(plain.get(line, ()))] for line in fresh}
        who = queries.entities_of_keys(self._index, (key for keys in named.values() for key in keys))
        owners = queries.entities_of_pages(self._index, {page_of(line) for line in fresh})
        for line, keys in named.items():
            entities = [who[key] for key in keys]
            entities += [owners[page_of(line)]] if page_of(line) in owners else []
            self.who |= {entity.key: entity for entity in entities if entity.key not in self.who}
            self.on[line].update(entity.key for entity in entities)

    def _widen(self, keys: Iterable[str]) -> None:
        """Fetch the lines of these names, unless they are hubs."""
        most = min(MOST_LINES, hub_limit(self._total))
        fresh = [key for key in keys if key not in self._frequency]
        told = {key: queries.lines_naming(self._index, self.who[key], most) for key in fresh}
        self._frequency |= dict.fromkeys(told, self._total)
        told = {key: ids for key, ids in told.items() if len(ids) <= most}
        self._add({i for ids in told.values() for i in ids} - self.lines.keys())
        for key, ids in told.items():
            speaking = [line for line in ids if line in self.on]
            self._frequency[key] = len(speaking)
            for line in speaking:
                self.on[line].add(key)


class _CheckedLines:
    """Reads every line on the ways again: a name that only seemed to stand there, or a line that is gone, carries nothing."""

    def __init__(self, memory: OpenMemory, as_of: date | None, web: Web) -> None:
        self._memory, self._as_of, self._web = memory, as_of, web
        self._day = as_of or memory.today
        self._entries: dict[int, Row] = {}
        self._seen: dict[int, CurrentLine] = {}
        self._texts: dict[int, EntryText] = {}
        self._verdict = Validities({}, {}, {})

    def refute(self, found: Sequence[Reached]) -> bool:
        """Take out of the web what does not hold on these ways; True if there was anything."""
        steps = {step for each in found for step in each.path[::2] if isinstance(step, int)}
        if fresh := by_ids(self._memory.index, steps - self._entries.keys()):
            self._entries |= fresh
            self._seen |= reread(self._memory.workspace, fresh.values(), self._memory.index)
            self._texts |= {i: text_of(entry, self._seen[i]) for i, entry in fresh.items() if i in self._seen}
            self._verdict = judge(self._memory, self._entries.values(), self._as_of, whole=False)
        was = {line: set(names) for line, names in self._web.on.items()}
        for each in found:
            for at in range(1, len(each.path), 2):
                name = str(each.path[at])
                for line in (each.path[at - 1], each.path[at + 1]):
                    if isinstance(line, int) and name in self._web.on[line] and not self._names(line, name):
                        self._web.on[line].discard(name)
            for at in range(2, len(each.path) - 1, 2):
                line = int(each.path[at])
                standing = self._verdict.validity.get(line)
                if standing and standing.retracted and len(self._web.on[line]) > 1:
                    self._web.on[line] = {str(each.path[at - 1])}  # may be shown, but nothing follows from it
        return self._web.on != was

    def _names(self, line: int, key: str) -> bool:
        """True if the line on disk names this entity: by a mark, in its text, or by standing on its page."""
        if line not in self._texts:
            return False
        text, who = self._texts[line], self._web.who[key]
        if who.page == page_of(line) or {entity_key(name) for name in text.names} & set(who.keys):
            return True
        if find_names(text.content, grouped((stem_head(name.name), name) for name in queries.spellings(who))):
            return True
        joined = [key for key in who.keys if not key.isalpha()]  # "node-7" and "node_7" are one word to find_names
        folded = entity_key(text.content) if joined else ""
        return any(re.search(rf"(?<!\w){re.escape(key)}(?!\w)", folded) for key in joined)

    def hits(self, found: Sequence[Reached], direct: Collection[int], k: int) -> list[Hit]:
        """The lines as hits, best first: the nearer and the farther in turn, what was replaced below what replaced it."""
        verdict, top = self._verdict, max((each.score for each in found), default=0.0) or 1.0
        ways = {each.line: each for each in found if each.line in self._seen}
        walked: dict[int, Score] = {}
        for line, way in ways.items():
            # A line on the way, but the last, whose time is past, makes it worth less; the last is judged as any hit is.
            past = (verdict.validity.get(int(step)) for step in way.path[:-1:2])
            worth = ENDED ** sum(1 for standing in past if standing and standing.is_over(self._day))
            walked[line] = Score(way.score / top * worth, {}, {})
        stated = stating_lines(self._memory.index, walked, {i: self._entries[i] for i in walked})
        relevance = {i: stated[i].relevance for i in walked if i in stated and i not in direct}
        over = [i for i in relevance if i in verdict.validity and verdict.validity[i].is_over(self._day)]
        candidates = [candidate_of(self._entries[i], value, False) for i, value in relevance.items()]
        ranked = order(candidates, (), False, self._day, {}, over)
        near, far = ([r for r in ranked if (ways[r.candidate.id].hops > 2) is beyond] for beyond in (False, True))
        by_line = {place.candidate.id: place for place in in_turn(near, far)}
        current = (verdict.current(i) if i in verdict.validity else i for i in by_line)
        lines = dict.fromkeys(i for pair in zip(current, by_line, strict=True) for i in pair if i in by_line)
        places = [by_line[i] for i in lines][:k]
        entries = [self._entries[c.id] for place in places for c in (place.candidate, *place.twins)]
        read = hits_of(self._memory, entries, verdict, as_of=self._as_of, seen=self._seen)
        hits: list[Hit] = []
        for rank, place in enumerate(places, 1):
            hit, way = read[place.candidate.id], ways[place.candidate.id]
            also = tuple(read[twin.id].source for twin in place.twins if not twin.copy)
            parts = {"hops": way.hops, "walk": round(way.score, 6)}
            via = tuple(self._step(way.path, at) for at in range(len(way.path)))
            hits.append(replace(hit, score=place.score, why={"related": rank}, parts=parts, also=also, via=via))
        return with_beliefs(self._memory, hits, self._as_of)

    def _step(self, path: Sequence[int | str], at: int) -> str:
        """A step as a reader sees it: the id of a line, a name as its page or the nearest line writes it."""
        step = path[at]
        if isinstance(step, int):
            return self._entries[step].ref
        who = self._web.who[step]
        beside = [self._texts[line] for line in (path[at + 1], path[at - 1]) if isinstance(line, int)]
        marked = (name for text in beside for name in text.names if entity_key(name) in who.keys)
        if who.page is not None:
            return who.name
        # As one of the lines writes it, or with a capital.
        places = ((text.content, text.content.lower().find(who.key)) for text in beside)
        plain = (text[at : at + len(who.key)] for text, at in places if at >= 0)
        return next(marked, None) or next(plain, queries.spellings(who)[0].name)
