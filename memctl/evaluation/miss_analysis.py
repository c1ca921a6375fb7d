"""Why a question was missed: where its gold ranks, what came instead, and what stood in the way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import NamedTuple

from ..errors import Usage
from ..facts import Citation
from ..hits import Hit
from ..index.index import Index
from ..index.queries.entries import Query, condition_of, entries_at, own_terms, passing
from ..index.queries.names import resolve
from ..index.reread import reread
from ..index.row import Entity, Row
from ..language.analyzer import query_terms, terms
from ..markdown.lines import Role, content_of
from ..recall.query import read_query
from .gold_labels import Standing
from .label_lines import Question
from .metrics import Ranks, overlap, place_ranks
from .systems import FLOORS, Configuration, Searcher, places_of

__all__ = ["FAR", "Missed", "MissedGold", "explain_miss"]

FAR = 100  # how far down gold is looked for


class MissedGold(NamedTuple):
    """A gold item, what its line says, its rank within the first 100, and why it is not among the first few."""

    said: str
    text: str
    rank: int | None
    reason: str
    hit: Hit | None


class Missed(NamedTuple):
    """A question that recall did not answer fully; `instead` came first, `ranks` are those of every system."""

    question: Question
    ranks: Mapping[str, Ranks]
    gold: tuple[MissedGold, ...]
    instead: tuple[Hit, ...]


def explain_miss(
    searcher: Searcher, index: Index, configuration: Configuration, question: Question, standing: Sequence[Standing],
    ranks: Mapping[str, Ranks], depth: int, today: date, as_of: date | None,
) -> Missed:  # fmt: skip
    """Look for the gold of a question much further down than `depth`, and say why it is there."""
    looked = configuration if configuration.base not in FLOORS else Configuration("recall")
    try:
        query = read_query(question.text, today, as_of=as_of.isoformat() if as_of else None)
        hits = searcher.answer(looked, question.text, today, as_of, FAR).hits
    except Usage as error:
        gold = tuple(MissedGold(item.gold.said, "", None, f"recall refuses: {error.what}", None) for item in standing)
        return Missed(question, ranks, gold, ())
    far = place_ranks([item.places for item in standing], [places_of(hit) for hit in hits])
    gold = tuple(
        _missed(searcher, index, query, item, shown if shown and shown <= depth else None, further, hits)
        for item, shown, further in zip(standing, ranks[configuration.name], far, strict=True)
    )
    golden = [place for item in standing for place in item.places]
    instead = [hit for hit in hits if not any(overlap(a, b) for a in places_of(hit) for b in golden)]
    return Missed(question, ranks, gold, tuple(instead[:3]))


def _missed(
    searcher: Searcher, index: Index, query: Query, item: Standing, shown: int | None, far: int | None,
    hits: Sequence[Hit],
) -> MissedGold:  # fmt: skip
    if not item.places:
        return MissedGold(item.gold.said, "", None, "the label points at nothing", None)
    entries = [entry for place in item.places for entry in entries_at(index, place)]
    text = _text_of(searcher, entries)
    hit = hits[far - 1] if far else None
    if shown is not None:
        reason = "found"
    elif hit and hit.superseded_by:
        reason = f"found, and ranked below what replaced it (^{hit.superseded_by})"
    elif hit and hit.expired:
        reason = "found, and ranked lower because it has ended"
    elif hit:
        reason = "found, but others rank higher"
    else:
        reason = _why_not_found(index, query, entries, item.places)
    return MissedGold(item.gold.said, text, shown or far, reason, hit)


def _text_of(searcher: Searcher, entries: Sequence[Row]) -> str:
    seen = reread(searcher.workspace, entries)
    texts = (content_of(Role(entry.role), seen[entry.id].raw) for entry in entries if entry.id in seen)
    return " / ".join(" ".join(text.split()) for text in texts)


def _why_not_found(index: Index, query: Query, entries: Sequence[Row], places: Sequence[Citation]) -> str:
    if not entries:
        return f"not found: {places[0]} is no text that is indexed (a rule, a fence)"
    if all(entry.block is not None for entry in entries):
        return "not found: a copy in a managed block; recall shows the line that it cites"
    ids = [entry.id for entry in entries]
    about: list[Entity | str] = []
    for name in query.about:
        known = resolve(index, name)
        about.append(known[0] if len(known) == 1 else name)
    if query.filters and not passing(index, ids, condition_of(index, query, about)):
        return f"not found: left out by the filter {' '.join(query.filters)}"
    held = {term for line in own_terms(index, ids).values() for term in line.split()}
    shared = held & set(query_terms(query.words))
    words = [word.strip(".,;:!?()\"'«»“”") for word in query.words.split() if shared & set(terms(word))]
    said = f"only {', '.join(dict.fromkeys(words))}" if shared else "no word"
    return f"not among the first {FAR}: shares {said} with the question"
