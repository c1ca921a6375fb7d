"""A walk: what belongs to an answer without sharing its words, by the names that lines have in common.

Lines and names make a graph of two sides. A walker starts at a hit, goes to one of its names (the rarer, the likelier),
from there to any line with that name, and on; where it comes to often is related. A name on very many lines leads nowhere
in particular, so no walk goes through it.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple, TypeVar

from .rank import Ranked

_FEW, _SHARE = 50, 0.05
_ASKED = 0.1
_TURNS = (0, 0, 1, 0, 1)
T = TypeVar("T")


class Graph(NamedTuple):
    """Lines with the names on them; `document_frequency` is on how many lines a name stands, seen here or
    not, of `total` in all.

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


def name_idf(document_frequency: int, total: int) -> float:
    """How much a name on `document_frequency` of `total` lines tells: ln(1 + N / n)."""
    return math.log(1 + total / max(1, document_frequency))


class _Sides(NamedTuple):
    """The graph without its hubs, in a fixed order: names of a line with their share, lines of a name, the share of each."""

    names: dict[int, list[tuple[str, float]]]
    lines: dict[str, list[int]]
    each: dict[str, float]


def _sides(graph: Graph) -> _Sides:
    limit = hub_limit(graph.total)
    lines: dict[str, list[int]] = {}
    for line in sorted(graph.lines):
        for name in graph.lines[line]:
            lines.setdefault(name, []).append(line)
    frequency = {name: max(graph.document_frequency.get(name, 0), len(found)) for name, found in lines.items()}
    lines = {name: found for name, found in sorted(lines.items()) if frequency[name] <= limit}
    names: dict[int, list[tuple[str, float]]] = {line: [] for line in sorted(graph.lines)}
    for name, found in lines.items():
        weight = name_idf(frequency[name], graph.total) * (_ASKED if name in graph.asked else 1)
        for line in found:
            names[line].append((name, weight))
    for line, listed in names.items():
        whole = math.fsum(weight for _, weight in listed)
        names[line] = [(name, weight / whole) for name, weight in listed]
    return _Sides(names, lines, {name: 1 / frequency[name] for name in lines})


def reach(graph: Graph, seeds: Mapping[int, float], hops: int) -> list[Reached]:
    """The lines within so many hops of the seeds, best first; the seeds themselves (one hop) are left out.

    A line has what comes to it over all of its shortest ways, and names the likeliest of them.
    """
    sides = _sides(graph)
    edge = {line: weight for line, weight in sorted(seeds.items()) if line in graph.lines and weight > 0}
    whole = math.fsum(edge.values())
    edge = {line: weight / whole for line, weight in edge.items()}
    ways: dict[int, tuple[int | str, ...]] = {line: (line,) for line in edge}
    found: list[Reached] = []
    for hop in range(2, hops + 1):
        met: dict[str, list[tuple[float, int]]] = {}
        for line, amount in sorted(edge.items()):
            for name, share in sides.names[line]:
                met.setdefault(name, []).append((amount * share, -line))
        come: dict[int, list[tuple[float, str]]] = {}
        for name, parts in sorted(met.items()):
            for line in sides.lines[name]:
                if line not in ways:
                    come.setdefault(line, []).append((math.fsum(part for part, _ in parts) * sides.each[name], name))
        edge = {line: math.fsum(part for part, _ in parts) for line, parts in come.items()}
        fresh = {line: max(parts, key=lambda part: part[0])[1] for line, parts in come.items()}
        ways |= {line: (*ways[-max(met[name])[1]], name, line) for line, name in fresh.items()}
        found += [Reached(line, edge[line], hop, ways[line]) for line in fresh]
    return sorted(found, key=lambda each: (-round(each.score, 12), each.hops, each.line))


def in_turn(near: Sequence[T], far: Sequence[T]) -> list[T]:
    """Three of five places to the nearer lines, two to the farther: those are many, and hardly one would come up by score."""
    queues = iter(near), iter(far)
    left = len(near) + len(far)
    taken = (next(queues[turn], None) for _ in range(left) for turn in _TURNS)
    return [each for each in taken if each is not None]


def below_replacement(ranked: Sequence[Ranked], replaced: Mapping[int, int]) -> list[Ranked]:
    """The same places, each that was replaced directly below what replaced it, where both are there."""
    places = {place.candidate.id: place for place in ranked}
    made: dict[int, Ranked] = {}
    for place in ranked:
        newer = places.get(replaced.get(place.candidate.id, place.candidate.id), place)
        made.setdefault(newer.candidate.id, newer)
        made.setdefault(place.candidate.id, place)
    return list(made.values())
