"""How likely memory holds an answer to a question at all, from words alone: a small logistic over what recall found.

The weights were fitted by `python bench/answerable.py DATA --fit` on half of the conversations of LoCoMo and half of the
articles of XQuAD (English, Russian, Chinese): questions of the own pages against questions of others, the names in them
exchanged for names of here too; docs/retrieval.md has what it gives on the other halves.
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


class Signs(NamedTuple):
    """What speaks for an answer, each about 0 to 1; shares are of the idf of the question's words."""

    own: float  # share in the line that has most
    near: float  # the same with the lines beside it and its headings
    known: float  # share of words that stand anywhere
    top: float  # relevance of the best hit
    lead: float  # what it has more than the fifth
    named: float  # share of the names in the question that stand anywhere; 1 without one
    alone: float  # 1 for a question of one word
    slot: float  # 1 where a slot answers; no set has any, its weight is chosen


WEIGHTS = Signs(own=6.30, near=0.56, known=2.64, top=10.12, lead=1.29, named=3.37, alone=-4.00, slot=3.0)
BIAS = -8.28


def signs_of(index: Index, words: str, hits: Sequence[Hit]) -> Signs:
    """The signs for a question and its hits."""
    wanted = query_terms(words)
    counts, total = frequencies(index, wanted), entry_count(index)
    weights = {term: idf(counts.get(term, 0), total) for term in wanted}
    whole = sum(weights.values()) or 1.0
    own = near = 0.0
    for hit in hits[:_LOOKED_AT]:
        said = set(str(hit.parts.get("own", "")).split())
        around = said.union(*(str(hit.parts.get(part, "")).split() for part in ("near", "heading")))
        own = max(own, sum(weights.get(term, 0.0) for term in said) / whole)
        near = max(near, sum(weights.get(term, 0.0) for term in around) / whole)
    found = [float(hit.parts.get("relevance", 0.0)) for hit in hits[:_LOOKED_AT]]
    known = sum(weight for term, weight in weights.items() if counts.get(term)) / whole
    names = [term for word in words.split()[1:] if word[:1].isupper() for term in terms(word)]
    named = sum(bool(counts.get(name)) for name in names) / len(names) if names else 1.0
    top = found[0] if found else 0.0
    slot = float(any("slot" in hit.why for hit in hits[:1]))
    return Signs(own, near, known, top, top - found[-1] if found else 0.0, named, 1 / (len(wanted) or 1), slot)


def likelihood(signs: Signs) -> float:
    """0 to 1."""
    return 1 / (1 + math.exp(-BIAS - sum(weight * sign for weight, sign in zip(WEIGHTS, signs, strict=True))))


def answerable(index: Index, words: str, hits: Sequence[Hit]) -> float | None:
    """How likely one of the hits answers the question; None where it has no words."""
    if not query_terms(words):
        return None
    return likelihood(signs_of(index, words, hits)) if hits else 0.0
