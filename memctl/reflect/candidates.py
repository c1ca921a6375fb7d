"""What may belong into memory.md: important facts, firm beliefs and reliable strategies, with how often they were told."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date

from ..beliefs.belief import Belief
from ..facts import Kind
from ..hits import Hit
from ..index.index import Index
from ..index.queries.beliefs import days_told, important
from ..index.queries.entries import by_ids
from ..index.queries.names import resolve
from ..language.names import entity_key
from .fact_source import FactSource
from .lessons import RELIABLE, Task
from .proposals import IMPORTANCE, Candidate

__all__ = ["candidates"]


def candidates(
    index: Index, gathering: FactSource, beliefs: Iterable[Belief], tasks: Iterable[Task], today: date
) -> list[Candidate]:
    """Everything that might be proposed; reflect/proposals.py decides."""
    facts = gathering.hits(list(by_ids(index, important(index, IMPORTANCE, today)).values()))
    told = days_told(index, [hit.ref for hit in facts], today)
    found = [_fact(index, hit, told.get(hit.ref, ())) for hit in facts if hit.kind is Kind.WORLD and hit.day]
    found += [made for belief in beliefs if (made := _belief(index, belief)) is not None]
    return found + [made for task in tasks for made in _lessons(index, task)]


def _fact(index: Index, hit: Hit, days: Sequence[str]) -> Candidate:
    first = min([hit.day or "", *days])
    return Candidate(
        hit.content, hit.ref, hit.source, hit.entities, "W", date.fromisoformat(first), importance=hit.importance,
        citations=len(days), days=len({hit.day, *days}), holds=hit.superseded_by is None and not hit.expired and not hit.retracted,
        private=hit.private, person=_is_person(index, hit.entities),
    )  # fmt: skip


def _belief(index: Index, belief: Belief) -> Candidate | None:
    counted = [bullet for bullet in belief.items if not bullet.gone]
    stated = next((b for b in counted if b.verdict == "stated" and b.ref == belief.stated), None)
    if stated is None or stated.citation is None or stated.ref is None:
        return None
    evidence = [bullet for bullet in counted if bullet.verdict in ("for", "against")]
    return Candidate(
        belief.fact.text, stated.ref, stated.citation, belief.fact.entities, "O", belief.day, confidence=float(belief.number),
        evidence=len(evidence), citations=len(evidence), days=len({bullet.day for bullet in counted}),
        holds=belief.over is None, person=_is_person(index, belief.fact.entities),
    )  # fmt: skip


def _lessons(index: Index, task: Task) -> Iterable[Candidate]:
    for strategy in task.strategies:
        days = {outcome.day for outcome in strategy.outcomes if outcome.day}
        if strategy.ok < RELIABLE or not days:
            continue
        first = strategy.outcomes[0]
        total = strategy.ok + strategy.failed
        text = f"{task.name}: {strategy.name}" if task.name else strategy.name
        yield Candidate(
            text, first.ref, first.citation, first.entities, "lesson", date.fromisoformat(min(days)),
            confidence=strategy.ok / total, evidence=total, citations=total - 1, days=len(days),
            person=_is_person(index, first.entities),
        )  # fmt: skip


def _is_person(index: Index, names: Sequence[str]) -> bool:
    found = resolve(index, entity_key(names[0])) if names else []
    return len(found) == 1 and (found[0].type or "").casefold() == "person"
