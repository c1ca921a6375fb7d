"""How likely memory holds an answer to a question at all, from words alone: a small logistic over what recall found.

The weights were fitted by `python bench/answerable.py DATA --fit` on half of the conversations of LoCoMo and half of the
articles of XQuAD (English, Russian, Chinese): questions of the own pages against questions of others, the names in them
exchanged for names of here (at half the weight) too; docs/retrieval.md has what it gives on the other halves.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from ..hits import Hit
from ..index.index import Index
from ..index.lexical import idf
from ..index.queries.entries import entry_count, frequencies
from ..language.analyzer import query_terms, terms

_LOOKED_AT = 5  # hits
_SELF = ("I", "I'm")  # capitals that name nobody


class Signs(NamedTuple):
    """What speaks for an answer, each about 0 to 1; shares are of the idf of the question's words without its names."""

    own: float  # share in the line that has most and bears the names of the question; less where some are missing
    known: float  # share of words that stand anywhere
    top: float  # relevance of the best hit
    named: float  # share of the names in the question that the best line bears; 1 without one
    alone: float  # 1 for a question of one word
    slot: float  # 1 where a slot answers; no set has any, its weight is chosen


WEIGHTS = Signs(own=4.21, known=1.25, top=13.05, named=1.17, alone=-6.36, slot=3.0)
BIAS = -4.95


def signs_of(index: Index, words: str, hits: Sequence[Hit]) -> Signs:
    """The signs for a question and its hits."""
    wanted = query_terms(words)
    names = {t for word in words.split()[1:] if word[:1].isupper() and word not in _SELF for t in terms(word)} & {
        *wanted
    }
    counts, total = frequencies(index, wanted), entry_count(index)
    weights = {term: idf(counts.get(term, 0), total) for term in wanted if term not in names}
    whole = sum(weights.values()) or 1.0
    said = [set(str(hit.parts.get("own", "")).split()) for hit in hits[:_LOOKED_AT]]
    borne = [len(names & held) / len(names) if names else 1.0 for held in said] or [0.0]
    own = (
        sum(weights.get(term, 0.0) for term in held) / whole * share for held, share in zip(said, borne, strict=False)
    )
    known = sum(weight for term, weight in weights.items() if counts.get(term)) / whole
    top = float(hits[0].parts.get("relevance", 0.0)) if hits else 0.0
    slot = float(any("slot" in hit.why for hit in hits[:1]))
    return Signs(max(own, default=0.0), known, top, borne[0], 1 / (len(wanted) or 1), slot)


def likelihood(signs: Signs) -> float:
    """0 to 1."""
    return 1 / (1 + math.exp(-BIAS - sum(weight * sign for weight, sign in zip(WEIGHTS, signs, strict=True))))


def answerable(index: Index, words: str, hits: Sequence[Hit]) -> float | None:
    """How likely one of the hits answers the question; None where it has no words."""
    if not query_terms(words):
        return None
    return likelihood(signs_of(index, words, hits)) if hits else 0.0
