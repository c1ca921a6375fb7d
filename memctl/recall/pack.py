"""What fits: hits within a token budget, the best first, none cut in half."""

from __future__ import annotations

from collections.abc import Sequence

from ..hits import Hit
from ..language.tokens import estimate as tokens

__all__ = ["cost", "fit", "tokens"]


def cost(hit: Hit) -> int:
    """Tokens of a hit as it is printed: content, citation, date, names, what replaced it, its twins and its history."""
    told = [
        hit.content,
        hit.source,
        hit.day,
        hit.kind.value,
        hit.heading,
        *hit.entities,
        hit.ref,
        hit.origin,
        *hit.also,
        *hit.via,
    ]
    marks = [hit.valid, hit.superseded_by] if hit.superseded_by or hit.expired else []
    chain = [part for version in hit.history for part in (version.content, version.source, version.valid)]
    return tokens(" ".join(str(part) for part in (*told, *marks, *chain))) + 16


def fit(hits: Sequence[Hit], budget: int, before: Sequence[Hit] = ()) -> tuple[Hit, ...]:
    """The hits that fit into `budget` tokens, in their order. One that says again what a better one says is left out.

    A hit too large for what is left is passed over, so that smaller ones behind it still come. `before` are those that
    stand above already.
    """
    kept: list[Hit] = []
    left = budget
    for hit in hits:
        if cost(hit) <= left and not any(_repeats(hit, other) for other in (*before, *kept)):
            kept.append(hit)
            left -= cost(hit)
    return tuple(kept)


def _repeats(hit: Hit, other: Hit) -> bool:
    """True when nine of ten words of a hit stand in the other."""
    words = set(hit.content.casefold().split())
    return bool(words) and len(words & set(other.content.casefold().split())) >= 0.9 * len(words)
