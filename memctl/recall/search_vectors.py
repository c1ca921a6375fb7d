"""The channel of meaning: how near the vectors of lines are to that of a question. Whatever is wrong here, words answer alone.

The model is loaded and the question embedded in a thread beside the word search. Nothing is imported for it where there
are no vectors, and no numpy ever.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ..errors import MemctlError
from ..hits import Vectored
from ..index.index import Index
from ..index.queries.entries import Filter, Query, filtered, passing
from ..notes.workspace import Workspace

if TYPE_CHECKING:
    from ..vectors.file import Vectors
    from ..vectors.models import Embedder
    from ..vectors.quantized import Code
    from .fusion import Fused, Usual

__all__ = ["NEAREST", "Meaning", "Near", "Weighed", "meaning_of"]

NEAREST = 50  # entries that meaning adds to those that words find
_PATIENCE = 30.0  # seconds for a model to load and to embed the question
_SECONDS, _NOTICED = 5.0, 0.5  # what one search may take (recall/recall.py), counted anew after such a wait
_MOST_PASSING = 1_000_000  # entries that pass a filter
_ALONE = 1.5  # deviations: a line that no word speaks for is no answer unless it is so near,
_UNSAID, _MANY = (
    2.0,
    100,
)  # and nearer where no word of the question stands anywhere, in a store that has so many lines,
_TOLD = 3  # and says as much in terms: "Status: accepted" lies near everything
_REACH = (-2, -1, 1, 2)  # lines beside a candidate, whose nearness counts in part (recall/fusion.py)


class Near(NamedTuple):
    """An entry in the channel: its rank in it, its cosine, and how many deviations that is above what is usual."""

    rank: int
    cosine: float
    deviations: float


class Meaning:
    """One question to the vectors, being embedded. `close` when done."""

    def __init__(self, vectors: Vectors, embedder: Embedder, text: str, weight: float) -> None:
        self._vectors, self._embedder, self._text, self._weight = vectors, embedder, text, weight
        self._vector: Sequence[float] | None = None
        self.failed: str | None = None
        """Why there is no vector of the question, in one line."""
        self._usual: Usual | None = None
        self._thread = threading.Thread(target=self._embed, daemon=True)
        self._thread.start()

    def _embed(self) -> None:
        try:
            self._vector = self._embedder.query(self._text)
        except MemctlError as error:
            self.failed = error.what
        except Exception as error:  # in a thread: nobody else would hear of it
            self.failed = f"the model {self._embedder.name} fails: {type(error).__name__}"

    def close(self) -> None:
        """Let go of the file."""
        self._vectors.close()

    @property
    def problem(self) -> str | None:
        """What was found damaged in the file, in one line."""
        return self._vectors.problem

    def _asked(self) -> Code | None:
        """The question's vector, once it is there; None where there is none to be had."""
        from ..vectors.quantized import script_of

        self._thread.join(_PATIENCE)
        if self._vector is None:
            self.failed = self.failed or f"the model {self._embedder.name} takes over {_PATIENCE:.0f} s"
            return None
        try:
            return self._vectors.encode(self._vector, script_of(self._text))
        except ValueError as error:
            self.failed = f"the model {self._embedder.name} fails: {error}"
            return None

    def nearest(self, index: Index, condition: Filter, limit: int) -> list[int]:
        """The entries nearest to the question that pass a condition, the nearest first."""
        start = time.monotonic()
        asked = self._asked()
        if time.monotonic() - start > _NOTICED:
            index.limit_time(time.monotonic() + _SECONDS)  # what the model took is not the search's
        if asked is None:
            return []
        from ..index.queries.entries import digests_of
        from .fusion import Usual

        allowed = set(filtered(index, condition, _MOST_PASSING)) if condition.sql else None
        scan = self._vectors.scan(asked, allowed, max(limit, NEAREST))
        now = digests_of(index, scan.cosines)
        found = {i: value for i, value in scan.cosines.items() if now.get(i) == scan.digests.get(i)}
        standing = passing(index, found, condition)
        self._usual = Usual(scan.mean, scan.sd, scan.n)
        return [i for i in found if i in standing]

    def fuse(
        self, index: Index, words: Mapping[int, float], nearest: Collection[int], own: Mapping[int, str],
        exact: Mapping[int, int],
    ) -> Weighed:  # fmt: skip
        """Words and meaning together: for the entries that words found (with their relevance) and the `nearest`.

        `own` are the terms of entries, by which their script is known; `exact` as in recall/fusion.py.
        """
        from ..index.queries.entries import digests_of
        from ..vectors.quantized import script_of
        from .fusion import fuse, smoothed, standard

        asked = self._asked()
        if asked is None or self._usual is None:
            return Weighed({}, {})
        rows = words.keys() | set(nearest)
        around = rows | {row + step for row in rows for step in _REACH}
        cosines = self._vectors.cosines(asked, around, digests_of(index, around))
        levels = self._vectors.by_script(asked)
        mixed = len(levels) > 1
        scripts = {row: script_of(own.get(row, "")[:_READ]) for row in around} if mixed else {}
        plain = standard(cosines, self._usual._replace(scripts=levels) if mixed else self._usual, scripts)
        near = {row: value for row, value in smoothed(plain).items() if row in rows}
        only = next(iter(levels), asked.script)
        foreign = {row for row in rows if scripts.get(row, only) != asked.script}
        tell = {row for row in near if own.get(row, "").count(" ") + 1 >= _TOLD}
        least = _ALONE if words or self._usual.n < _MANY else _UNSAID
        near = {row: value for row, value in near.items() if row in words or (value >= least and row in tell)}
        ranked = sorted(near, key=lambda row: (-round(near[row], 9), row))
        shown = {row: Near(rank, cosines[row], near[row]) for rank, row in enumerate(ranked, 1)}
        return Weighed(fuse(words, near, foreign, self._weight, exact), shown)


_READ = 200  # characters of terms that tell a script


class Weighed(NamedTuple):
    """What came of both: relevance by entry, and the place of entries in the channel of meaning. Empty where it failed."""

    fused: Mapping[int, Fused]
    near: Mapping[int, Near]


def meaning_of(
    workspace: Workspace, index: Index, query: Query, warnings: list[str]
) -> tuple[Meaning | None, Vectored | None]:
    """The question on its way to the vectors, and how much these know. None where words answer alone; why, if it is not
    by the settings, stands in `warnings`."""
    settings = workspace.settings
    if settings.model == "none" or settings.vector_weight <= 0 or not query.words:
        return None, None
    from ..vectors.models import choice

    chosen = choice(workspace)
    embedder = chosen.embedder
    held = os.path.lexists(workspace.memory / "vectors.sqlite")
    if embedder is None:
        if chosen.problem and (held or settings.model != "auto"):
            warnings.append(f"answered by words only: {chosen.problem.what} ({chosen.problem.cure})")
        return None, None
    from ..index.queries.entries import embeddable

    if not held:
        return None, Vectored(embedder.name, 0, embeddable(index))
    from ..vectors.file import open_vectors

    vectors = open_vectors(workspace, note=warnings.append)
    if vectors is None:
        return None, Vectored(embedder.name, 0, embeddable(index))
    if (vectors.embedder_id, vectors.dim) != (embedder.id, embedder.dim):
        vectors.close()
        warnings.append(
            f"answered by words only: the vectors are not of {embedder.name} as it is now; run `memctl index`"
        )
        return None, Vectored(embedder.name, 0, embeddable(index))
    meaning = Meaning(vectors, _kept(embedder), query.words, settings.vector_weight)
    missing = vectors.missing(index).entries
    return meaning, Vectored(embedder.name, vectors.count(), missing)


_LOADED: dict[tuple[type, str], Embedder] = {}


def _kept(embedder: Embedder) -> Embedder:
    """The same model as last time in this process, so that one that answers many questions is loaded once."""
    return _LOADED.setdefault((type(embedder), embedder.id), embedder)
