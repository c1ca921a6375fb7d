"""What is offered to whoever writes a line: the earlier lines that it may replace, as questions that wait for nobody."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import closing, nullcontext, suppress
from typing import TYPE_CHECKING

from ..index.open_memory import OpenMemory
from ..index.queries.entries import Filter, Query, entries_at
from ..markdown.lines import SEALED
from ..recall.entry_hits import hits_of
from ..system import locked
from ..truth.replaced import may_replace
from .question import OFFERED, Doubt, Question, Shown, keep_shown, shown, words_of

if TYPE_CHECKING:
    from ..retain.retain import RetainedFact

_AT_ONCE = 10  # facts of one call, beyond which nothing is offered
_LAST = 30  # offers that can be answered: those of one call and of some before it, since agents write several facts in a row
_NEAREST = 100  # entries nearest by vectors, of which those of the same entity count


def near(memory: OpenMemory, kept: Sequence[RetainedFact], vectors: bool) -> tuple[tuple[Question, ...], ...]:
    """For each fact that was just kept the earlier lines that it may replace, as questions which `answer` takes by their id.

    Nobody waits for an answer: `review` and contexts do not know of them, and later ones take their place. None for what stood
    there already, is sealed or not trusted, and none where anything goes wrong: the facts are on disk.
    """
    none, refs = ((),) * len(kept), {each.ref for each in kept}
    if len(kept) > _AT_ONCE:
        return none
    with suppress(Exception):  # of any kind: the facts are on disk
        found = memory.run(lambda at: tuple(_near(at, each, refs, vectors) for each in kept))
        fresh = {q.id: Shown(Doubt(q.kind, q.about), words_of(q), True) for each in found for q in each}
        with locked(memory.workspace.memory / "offered.lock", 0.5) if fresh else nullcontext():
            last = [*(shown(memory.workspace, OFFERED) | fresh).items()][-_LAST:]
            if not fresh or keep_shown(memory.workspace, dict(last), OFFERED):
                return found
    return none


def _near(memory: OpenMemory, kept: RetainedFact, beside: Collection[str], vectors: bool) -> tuple[Question, ...]:
    rows = [row for row in entries_at(memory.index, kept.citation) if row.ref == kept.ref]
    if kept.already or kept.fact.sealed or len(rows) != 1:
        return ()
    said = f"{', '.join(kept.fact.entities)}: {kept.fact.text}".removeprefix(": ")  # as lines are embedded
    found = may_replace(memory, rows[0], beside, _alike(memory, said) if vectors else ())
    hits = hits_of(memory, [*rows, *(pair.older for pair in found)])
    sides = ((hits.get(pair.older.id), hits.get(pair.newer.id), pair.judgement.reason) for pair in found)
    return tuple(
        Question("replaced", (old.ref, new.ref), (old, new), why=why)
        for old, new, why in sides
        if old and new and SEALED not in old.content
    )


def _alike(memory: OpenMemory, text: str) -> list[int]:
    """The entries nearest in meaning, the nearest first; none where there are no vectors."""
    from ..recall.search_vectors import start_vector_search

    search, _ = start_vector_search(memory, Query(text), [])
    with closing(search) if search else nullcontext():
        return search.nearest(memory.index, Filter("", ()), _NEAREST) if search else []
