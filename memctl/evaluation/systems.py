"""The ways of searching that `eval` compares: recall in one configuration or another, and the floors."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from datetime import date
from typing import NamedTuple

from ..errors import Usage
from ..facts import Citation
from ..hits import Answer, Hit
from ..index.index import Index
from ..index.open_memory import OpenMemory
from ..notes.workspace import Workspace
from ..recall.query import read_query
from ..recall.recall import recall_in
from ..recall.related import related_to
from .baselines import Floors

__all__ = ["DEPTH", "FLOORS", "Configuration", "Ranking", "Searcher", "places_of", "read_configuration"]

DEPTH = 50  # hits by which sessions are ranked: ten lines may all be of one
FLOORS = ("fts5", "grep")
RELATED = 10  # lines of the second list, beside as many hits
_BASES = ("recall", "words", "vectors", *FLOORS)
_Places = tuple[Citation, ...]


class Configuration(NamedTuple):
    """How to search: as recall does by itself, by words only, with vectors, or by a floor.

    `k` hits are asked for, if given. With more than one of `hops` the lines that are related to the hits follow them.
    """

    name: str
    base: str = "recall"
    k: int | None = None
    hops: int = 1


class Ranking(NamedTuple):
    """What a search found, best first, each hit by the places that it cites; `deep` goes on where `hits` end."""

    hits: Sequence[_Places]
    deep: Sequence[_Places]
    refused: str | None = None


def read_configuration(text: str) -> Configuration:
    """`words`, `recall`, `words+k=20`, `fts5` … as a configuration; Usage for any other."""
    base, *more = re.split(r"[+,]", text.strip())
    if "=" in base:
        base, more = "recall", [base, *more]
    flags = {}
    for flag in more:
        match = re.fullmatch(r"(k)=([1-9]\d{0,2})|(hops)=([23])", flag.strip())
        if not match:
            raise Usage(f"configuration {text!r}: {flag!r} is unknown", "flags are +k=N, and +hops=2 or +hops=3")
        flags[match[1] or match[3]] = int(match[2] or match[4])
    if base not in _BASES or (base in FLOORS and "hops" in flags):
        raise Usage(
            f"configuration {text!r} is unknown", f"{', '.join(_BASES)}, each with +k=N; of recall +hops=2, too"
        )
    return Configuration(text.strip(), base, **flags)


def read_configurations(texts: Sequence[str]) -> tuple[Configuration, ...]:
    """One configuration, or two that differ."""
    found = tuple(map(read_configuration, texts))
    if len({configuration.name for configuration in found}) < len(found):
        raise Usage("--compare of a configuration with itself", "name two, such as words recall")
    return found


def places_of(hit: Hit) -> _Places:
    """The lines that a hit shows: its own, those of its twins, and the place of the belief that it stated."""
    return (hit.source, *hit.also, *((hit.belief,) if hit.belief else ()))


class Searcher:
    """Asks the questions of an evaluation."""

    def __init__(self, workspace: Workspace, index: Index, floors: Floors | None, depth: int) -> None:
        self.workspace = workspace
        self._index = index
        self._floors = floors
        self._depth = depth
        self.warnings: Counter[str] = Counter()

    def rank(self, configuration: Configuration, question: str, today: date, as_of: date | None) -> Ranking:
        """What one configuration finds; a question that recall refuses finds nothing, and says why."""
        if configuration.base in FLOORS:
            return self._plain(configuration, question)
        shown, deep = (configuration.k or k for k in (self._depth, max(self._depth, DEPTH)))
        if configuration.hops > 1:
            shown = deep = configuration.k or RELATED
        try:
            answer = self.answer(configuration, question, today, as_of, shown)
            self.warnings.update(set(answer.warnings))
            hits = [places_of(hit) for hit in (*answer.hits, *(answer.related or ()))]
            if deep == shown:
                return Ranking(hits, hits)
            more = self.answer(configuration, question, today, as_of, deep).hits
        except Usage as error:
            return Ranking((), (), error.what)
        return Ranking(hits, [places_of(hit) for hit in more])

    def answer(self, configuration: Configuration, question: str, today: date, as_of: date | None, k: int) -> Answer:
        """What recall answers in a configuration."""
        query = read_query(question, today, as_of=as_of.isoformat() if as_of else None)
        workspace = self.workspace.without_model() if configuration.base == "words" else self.workspace
        memory = OpenMemory(workspace).on(today).bound(self._index)
        answer = recall_in(memory, query, k=k)
        return (
            answer if configuration.hops == 1 else related_to(memory, query, answer, k=RELATED, hops=configuration.hops)
        )

    def _plain(self, configuration: Configuration, question: str) -> Ranking:
        if self._floors is None:
            return Ranking((), ())
        search = self._floors.fts5 if configuration.base == "fts5" else self._floors.grep
        found = [(place,) for place in search(question, configuration.k or max(self._depth, DEPTH))]
        return Ranking(found[: self._depth], found)
