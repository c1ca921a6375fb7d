"""What is asked of the index: words and filters."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date

from ..facts import Kind, Period

__all__ = ["Query"]


@dataclass(frozen=True, slots=True)
class Query:
    """What is asked. `days` is a hard filter on when things were written or happened; `times` only lift what they meet.

    `words` is the question without its filters; an empty one asks for the newest within the filters. `aliases` are the
    workspace's own groups of words for one thing. `pasted` is what the question was taken from, where that is more.
    `warnings` go with the answer. A `public` one is answered as if there were no private lines, for a server.
    """

    words: str = ""
    about: tuple[str, ...] = ()
    kinds: tuple[Kind, ...] = ()
    key: str | None = None
    days: Period | None = None
    as_of: date | None = None
    min_confidence: float | None = None
    times: tuple[Period, ...] = ()
    aliases: tuple[tuple[str, ...], ...] = field(default=(), compare=False)
    pasted: str = field(default="", compare=False)
    warnings: tuple[str, ...] = field(default=(), compare=False)
    public: bool = False

    @property
    def filters(self) -> list[str]:
        """The filters in force, as a person would write them."""
        named = [("about", a) for a in self.about] + [("kind", k.value) for k in self.kinds]
        named += [(name, str(value)) for name, value in self._single() if value is not None]
        return [f"{name}:{value}" for name, value in named]

    def _single(self) -> list[tuple[str, object]]:
        days = self.days or Period()
        return [
            ("key", self.key),
            ("since", days.first),
            ("until", days.last),
            ("as-of", self.as_of),
            ("min-confidence", self.min_confidence),
        ]
