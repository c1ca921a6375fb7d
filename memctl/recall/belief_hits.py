"""A belief is one hit: the line that stated it, with the confidence and the newest evidence of its entry in the bank."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from datetime import date

from ..errors import MemctlError
from ..facts import Citation, Kind
from ..hits import Hit
from ..index.index import Index
from ..index.queries.beliefs import Chain, beliefs_stated_by, chain_of, placed
from ..index.queries.entries import by_refs
from ..index.reread import page_lines, reread
from ..index.row import Row
from ..markdown.evidence_line import OPINIONS, parse_bullet
from ..markdown.lines import Role, content_of
from ..notes.workspace import Workspace
from .search_words import Found

__all__ = ["as_stated", "believed"]

_SHOWN = 3  # pieces of evidence that a hit names


def as_stated(index: Index, found: Mapping[int, Found], entries: Mapping[int, Row]) -> Mapping[int, Found]:
    """What was found, with the line that stated a belief in the place of its head on bank/opinions.md."""
    heads = {
        i: e for i, e in entries.items() if e.path == OPINIONS and e.kind == Kind.OPINION.value and e.block is None
    }
    stated = {i: chain.stated for i in heads if (chain := chain_of(index, i)) and chain.stated}
    if not stated:
        return found
    origin = {entry.ref: entry.id for entry in reversed(placed(index, stated.values()))}
    instead = {i: origin[ref] for i, ref in stated.items() if ref in origin}
    made: dict[int, Found] = {}
    for i, how in found.items():
        number = instead.get(i, i)
        if number not in made or made[number].relevance < how.relevance:
            made[number] = how
    return made


def believed(workspace: Workspace, index: Index, hits: Sequence[Hit], as_of: date | None) -> list[Hit]:
    """The hits, of which those that stated a belief show how firmly it is held now (or was, as of a day), and why."""
    opinions = [hit.ref for hit in hits if hit.kind is Kind.OPINION]
    chains = beliefs_stated_by(index, opinions) if opinions else {}
    if not chains:
        return list(hits)
    try:
        lines = page_lines(workspace, OPINIONS)
    except MemctlError:
        return list(hits)
    made = [
        _with_belief(workspace, index, hit, chains[hit.ref], lines, as_of) if hit.ref in chains else hit for hit in hits
    ]
    return _sunk(made, {hit.ref for hit, old in zip(made, hits, strict=True) if hit.superseded_by != old.superseded_by})


def _sunk(hits: Sequence[Hit], ended: Set[str]) -> list[Hit]:
    """The hits, of which each that said the end of a belief stands before it, and takes the better score."""
    made = list(hits)
    for hit in [hit for hit in hits if hit.ref in ended]:
        old = made.index(hit)
        new = next((at for at, other in enumerate(made) if other.ref == hit.superseded_by), old)
        if new > old:
            newer = made.pop(new)
            made.insert(old, replace(newer, score=max(newer.score, hit.score)))
    return made


def _with_belief(
    workspace: Workspace, index: Index, hit: Hit, chain: Chain, lines: Sequence[str], as_of: date | None
) -> Hit:
    bullets = [parse_bullet(content_of(Role.ITEM, lines[line - 1 : end])) for line, end, _, _ in chain.evidence]
    known = [b for b in bullets if b and not b.gone and (as_of is None or b.day <= as_of)]
    confidence = chain.confidence
    if as_of is not None:
        numbers = [b.number if b.after is None else b.after for b in known]
        confidence = next((n for n in reversed(numbers) if n is not None), hit.confidence)
    ended = next((b.ref for b in known if b.verdict == "superseded"), None)
    weighed = [b.ref for b in known if b.verdict in ("for", "against") and b.ref][-_SHOWN:]
    entries = by_refs(index, weighed)
    seen = reread(workspace, entries)
    cited = {
        e.ref: Citation(e.path, seen[e.id].line, seen[e.id].end_line)
        for e in reversed(entries)
        if e.id in seen and e.block is None
    }
    return replace(
        hit,
        confidence=hit.confidence if confidence is None else confidence,
        superseded_by=hit.superseded_by or ended,
        belief=Citation(OPINIONS, chain.line, chain.end_line),
        evidence=tuple(cited[ref] for ref in reversed(weighed) if ref in cited),
    )
