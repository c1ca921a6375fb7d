"""The neighbours of an entity: who and what stands on the same lines with it, and which of these stand together."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

from ..errors import NothingFound
from ..facts import Citation, fields
from ..index.open_memory import OpenMemory, on_fresh_index
from ..index.queries.entries import Filter, by_ids, own_terms
from ..index.queries.names import entities_of_keys, lines_naming, names_from, naming_lines, unknown_name
from ..index.reread import reread
from ..language.names import entity_key
from ..markdown.escape import one_line
from ..recall.entry_hits import text_of
from .timeline import whom

_LINES = 2_000  # lines that are looked at


class Edge(NamedTuple):
    """Two names that stand on `lines` lines together, of which `source` is the newest."""

    one: str
    other: str
    lines: int
    source: Citation


@dataclass(frozen=True, slots=True)
class EntityGraph:
    """An entity and its neighbours, those with most lines first; `more` neighbours are left out."""

    name: str
    neighbours: tuple[str, ...]
    edges: tuple[Edge, ...]
    more: int = 0

    def as_json(self) -> dict[str, Any]:
        """The graph as plain values."""
        edges = [fields(edge, "one other lines source") for edge in self.edges]
        return {"schema": 1, "about": self.name, "neighbours": list(self.neighbours), "edges": edges, "more": self.more}

    def as_mermaid(self) -> str:
        """The graph in the language of Mermaid."""
        number = {name: f"n{at}" for at, name in enumerate((self.name, *self.neighbours))}
        rows = [f'  {node}["{_mermaid(name)}"]' for name, node in number.items()]
        rows += [f"  {number[edge.one]} ---|{edge.lines}| {number[edge.other]}" for edge in self.edges]
        return "\n".join(["graph LR", *rows])


def _mermaid(name: str) -> str:
    """A name as letters alone: anything that Mermaid, HTML or Markdown would read is written by its number."""
    return re.sub(r"[^\w .,'’-]", lambda match: f"#{ord(match[0])};", one_line(name))


@on_fresh_index
def graph(memory: OpenMemory, name: str, most: int) -> EntityGraph:
    """The `most` nearest neighbours of an entity; NothingFound for a name that nothing is about."""
    return graph_in(memory, whom(memory, name), most)


def graph_in(memory: OpenMemory, name: str, most: int, lines: int = _LINES) -> EntityGraph:
    """The same from the open index as it is."""
    index, key = memory.index, entity_key(name)
    who = entities_of_keys(index, [key])[key]
    ids = lines_naming(index, who, lines)[-lines:]
    said = naming_lines(index, ids, Filter("", ()))
    if not said:
        raise NothingFound(f"nothing is told of {name!r}", unknown_name(memory.workspace, memory.index, name))
    unmarked = names_from(index, own_terms(index, [line.id for line in said]))
    keys = {line.id: {*line.names, *unmarked.get(line.id, ())} for line in said}
    known = entities_of_keys(index, {each for found in keys.values() for each in found})
    held = {line: {known[each].key for each in found if each} - {who.key} for line, found in keys.items()}
    count = Counter(other for found in held.values() for other in found)
    nearest = sorted(count, key=lambda other: (-count[other], other))[:most]
    pairs: dict[tuple[str, str], list[int]] = {}
    for line, found in held.items():
        inside = sorted(found & set(nearest))
        for pair in [*((who.key, other) for other in inside), *combinations(inside, 2)]:
            pairs.setdefault(pair, []).append(line)
    rows = by_ids(index, (line for found in pairs.values() for line in found))
    by_age = {pair: sorted((rows[i].day or "", i) for i in found) for pair, found in pairs.items()}
    newest = {pair: rows[found[-1][1]] for pair, found in by_age.items()}
    seen = reread(memory.workspace, newest.values(), index)
    shown = {entity.key: entity.name for entity in known.values()} | {who.key: who.name if who.page else name}
    texts = [text_of(row, seen[row.id]).content for row in newest.values() if row.id in seen]
    for each in (each for each in nearest if shown[each] == each):  # without a page: as a line spells it
        matches = (re.search(re.escape(each), text, re.IGNORECASE) for text in texts)
        shown[each] = next((match[0] for match in matches if match), each)
    edges = []
    for (one, other), row in newest.items():
        if found_line := seen.get(row.id):
            place = Citation(row.path, found_line.line, found_line.end_line)
            edges.append(Edge(shown[one], shown[other], len(pairs[one, other]), place))
    return EntityGraph(shown[who.key], tuple(shown[each] for each in nearest), tuple(edges), len(count) - len(nearest))
