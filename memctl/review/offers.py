"""What is offered to whoever writes a line: the earlier lines that it may replace, as questions that wait for nobody."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import closing, nullcontext, suppress
from datetime import timedelta
from typing import TYPE_CHECKING

from ..index.open_memory import OpenMemory, on_fresh_index
from ..index.queries.entries import Filter, Query, entries_at, own_lines
from ..index.row import Row
from ..markdown.lines import SEALED, Role
from ..notes.workspace import Workspace
from ..recall.entry_hits import hits_of
from ..system import locked
from ..truth.replaced import may_replace
from .question import OFFERED, Doubt, Question, Shown, hash_of, keep_shown, last_shown

if TYPE_CHECKING:
    from ..retain.retain import RetainedFact

_AT_ONCE = 10  # facts of one call, beyond which nothing is offered
_LAST = 30  # offers that can be answered: those of one call and of some before it, since agents write several facts in a row
_NEAREST = 100  # entries nearest by vectors, of which those of the same entity count
_MINUTES = 15  # after which an agent is not asked about what it saved any more: another one may be there
_AGAIN = 2  # offers that are shown once more


def near(memory: OpenMemory, kept: Sequence[RetainedFact], aside: bool) -> tuple[tuple[Question, ...], ...]:
    """For each fact that was just kept the earlier lines that it may replace, as questions which `answer` takes by their id.

    Nobody waits for an answer: `review` and contexts do not know of them, and later ones take their place. None for what stood
    there already, is sealed or not trusted, and none where anything goes wrong: the facts are on disk. What is shown `aside` is
    found by words alone, and brought back by `unanswered` where an agent wrote the fact.
    """
    none, refs = ((),) * len(kept), {each.ref for each in kept}
    if len(kept) > _AT_ONCE:
        return none
    with suppress(Exception):  # of any kind: the facts are on disk
        if memory.workspace.hides:  # a view may have been made beside the memory that wrote
            memory.run(lambda at: at.synced())
        found = memory.run(lambda at: tuple(_near(at, each, refs, not aside) for each in kept))
        time = memory.now.isoformat(timespec="seconds") if aside else ""
        if _keep(memory.workspace, [question for each in found for question in each], time):
            return found
    return none


@on_fresh_index
def offered_beside(memory: OpenMemory, path: str, lines: Collection[int]) -> list[Question]:
    """The same for facts on some lines of a page, whoever wrote them there: the last ten, none twice, nothing without a reason."""
    known = {one.doubt.about[-1] for one in last_shown(memory.workspace, OFFERED).values()}
    rows = {row.ref: row for row in own_lines(memory.index, path) if row.line in lines}
    facts = (row for ref, row in rows.items() if row.role == Role.FACT.value and ref not in known)
    fresh = sorted(facts, key=lambda row: row.line)[-_AT_ONCE:]
    found = [each for row in fresh for each in _offers(memory, row, rows) if each.why]
    return found if _keep(memory.workspace, found) else []


@on_fresh_index
def unanswered(memory: OpenMemory) -> list[Question]:
    """At most two offers of the last minutes that an agent may not have seen; once. Of a public view: none about private lines."""
    view = memory.workspace
    if not any(one.unseen for one in last_shown(view, OFFERED).values()):
        return []
    from .collect import open_questions

    with locked(view.memory / "offered.lock", 0.5):
        last = last_shown(view, OFFERED)
        keep_shown(view, {ref: one._replace(unseen="") for ref, one in last.items()}, OFFERED)
    since = (memory.now - timedelta(minutes=_MINUTES)).isoformat(timespec="seconds")
    found = [*open_questions(memory, [one.doubt for one in last.values() if one.unseen >= since])][:_AGAIN]
    return found if _keep(memory.workspace, found) else []


def _keep(workspace: Workspace, found: Sequence[Question], unseen: str = "") -> bool:
    """Keep some offers beside the last ones, so that they can be answered; False where that could not be done."""
    asks = {q.id: q.is_telling and q.sides[-1].origin == "agent" for q in found}
    fresh = {q.id: Shown(Doubt(q.kind, q.about), hash_of(q), True, unseen * asks[q.id]) for q in found}
    with locked(workspace.memory / "offered.lock", 0.5) if fresh else nullcontext():
        last = [*(last_shown(workspace, OFFERED) | fresh).items()][-_LAST:]
        return not fresh or keep_shown(workspace, dict(last), OFFERED)


def _near(memory: OpenMemory, kept: RetainedFact, beside: Collection[str], vectors: bool) -> tuple[Question, ...]:
    rows = [row for row in entries_at(memory.index, kept.citation) if row.ref == kept.ref]
    if kept.already or len(rows) != 1:
        return ()
    said = f"{', '.join(kept.fact.entities)}: {kept.fact.text}".removeprefix(": ")  # as lines are embedded
    return _offers(memory, rows[0], beside, _alike(memory, said) if vectors else ())


def _offers(memory: OpenMemory, row: Row, beside: Collection[str], alike: Sequence[int] = ()) -> tuple[Question, ...]:
    found = may_replace(memory, row, beside, alike)
    hits = hits_of(memory, [row, *(pair.older for pair in found)])
    sides = ((hits.get(pair.older.id), hits.get(pair.newer.id), pair.judgement.reason) for pair in found)
    return tuple(
        Question("replaced", (old.ref, new.ref), (old, new), why=why)
        for old, new, why in sides
        if old and new and SEALED not in old.content + new.content
    )


def _alike(memory: OpenMemory, text: str) -> list[int]:
    """The entries nearest in meaning, the nearest first; none where there are no vectors."""
    from ..recall.search_vectors import start_vector_search

    search, _ = start_vector_search(memory, Query(text), [])
    with closing(search) if search else nullcontext():
        return search.nearest(memory.index, Filter("", ()), _NEAREST) if search else []
