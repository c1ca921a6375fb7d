"""Memories: what belongs to a message as text for a prompt, as a program asks over HTTP that knows nothing of hits."""

from __future__ import annotations

from datetime import date
from typing import NamedTuple

from ..index.open_memory import OpenMemory
from ..index.queries.entries import Query
from ..index.resident import Resident
from ..language.analyzer import query_terms
from ..language.tokens import estimate
from ..notes.workspace import Workspace
from ..recall.recall import recall
from .assembly import fitting, item_of, recalled_block
from .layers import asked

__all__ = ["Memories", "memories"]

_WEAK = 0.4  # of the best score, as in a context (context/layers.py)


class Memories(NamedTuple):
    """A fenced block of cited lines, and how many; empty and 0 where nothing belongs to the message."""

    text: str
    lines: int


def memories(
    workspace: Workspace, message: str, *, today: date, k: int = 10, budget: int = 2000, through: Resident | None = None
) -> Memories:
    """The best `k` lines for a message that fit into `budget` tokens, the untrusted ones marked, without private ones.

    Lines far weaker than the best belong to another question. What looks like a filter in a message is only words.
    """
    query = asked(message, Query(public=True), today)
    if not query_terms(query.words):
        return Memories("", 0)
    hits = recall(OpenMemory(workspace, resident=through).on(today), query, k=k).hits
    least = _WEAK * max((hit.score for hit in hits), default=0.0)
    kept = [hit for hit in hits if hit.score >= least and not hit.retracted]
    items = fitting([item_of(hit, "recalled") for hit in kept], budget, estimate)
    return Memories(recalled_block(items), len(items))
