"""The search by vectors: how near those of lines are to that of the question. Whatever is wrong here, words answer alone.

The model is loaded and the question embedded in a thread beside the word search. Nothing is imported for it where there
are no vectors.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence, Set as AbstractSet
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from ..errors import ExtraBroken, MemctlError
from ..hits import Vectored
from ..index.index import Index
from ..index.lexical import page_of, whole_page
from ..index.open_memory import OpenMemory
from ..index.queries.entries import Filter, Query, digests_of, embeddable, filtered, first_lines
from .rank import UsualCosines, fuse, smoothed, standard

if TYPE_CHECKING:
    from ..vectors.file import Vectors
    from ..vectors.models import Embedder
    from ..vectors.tables import Code, Scan

NEAREST = 50  # entries that vectors add to those that words find
_PATIENCE = 30.0  # seconds for a model to load and to embed the question
_SECONDS, _NOTICED = 5.0, 0.5  # what one search may take (recall/recall.py), counted again after such a wait
_MOST_PASSING = 1_000_000  # entries that pass a filter
_ALONE = 1.5  # deviations: a line that shares no word with the question is not an answer unless it is so near,
_ALONE_UNSAID = 2.0  # and nearer where no word of the question stands anywhere,
_MANY = 100  # in a store that has so many lines,
_LEAST_TERMS = 3  # and says as much in terms: "Status: accepted" lies near everything
_PART = 0.3  # of the nearness of a line, where its page counts as a whole
_REACH = (-2, -1, 1, 2)  # lines beside a candidate, whose nearness counts in part (BESIDE in recall/rank.py)
_READ = 200  # characters of terms that tell a script


class Nearness(NamedTuple):
    """An entry as the vectors see it: its rank in it, its cosine, and how many deviations that is above what is usual."""

    rank: int
    cosine: float
    deviations: float


class VectorSource(NamedTuple):
    """Open vectors, how to search in them, and how to let go of them."""

    vectors: Vectors
    scan: Callable[[Code, AbstractSet[int] | None, int], Scan]
    close: Callable[[], None]


class VectorSearch:
    """One question to the vectors, being embedded. `close` when done."""

    def __init__(self, source: VectorSource, embedder: Embedder, text: str, weight: float) -> None:
        self._source, self._vectors, self._embedder = source, source.vectors, embedder
        self._text, self._weight = text, weight
        self._vector: Sequence[float] | None = None
        self._failed: str | None = None
        self._usual: UsualCosines | None = None
        self._thread = threading.Thread(target=self._embed, daemon=True)
        self._thread.start()

    def _embed(self) -> None:
        try:
            self._vector = self._embedder.query(self._text)
        except MemctlError as error:
            self._failed = error.what
        except Exception as error:  # in a thread, where it would go unnoticed
            self._failed = f"the model {self._embedder.name} fails: {type(error).__name__}"

    def close(self) -> list[str]:
        """Let go of the file; what went wrong, a line each."""
        self._source.close()
        failed = [f"answered by words only: {self._failed}"] if self._failed else []
        return [*failed, *([self._vectors.problem] if self._vectors.problem else [])]

    def _question_code(self) -> Code | None:
        """The question's vector, once it is there; None where there is none to be had."""
        from ..vectors.text_to_embed import vector_script

        self._thread.join(_PATIENCE)
        name, vector = self._embedder.name, self._vector
        if vector is None:
            self._failed = self._failed or f"the model {name} takes over {_PATIENCE:.0f} s"
            return None
        try:
            return self._vectors.encode(vector, vector_script(self._text))
        except ExtraBroken as error:
            self._failed = error.what
        except ValueError:
            self._failed = (
                f"the model {name} gives vectors of {len(vector)} numbers, those that are kept have {self._vectors.head.dim} "
                "(delete .memory/vectors.sqlite and run `memctl index`)"
            )
        return None

    def nearest(self, index: Index, condition: Filter, limit: int) -> list[int]:
        """The entries nearest to the question that pass a condition, the nearest first; of a document the first there."""
        start = time.monotonic()
        asked = self._question_code()
        if time.monotonic() - start > _NOTICED:
            index.limit_time(time.monotonic() + _SECONDS)  # what the model took is not the search's
        if asked is None:
            return []
        allowed = set(filtered(index, condition, _MOST_PASSING)) if condition.sql else None
        allowed = allowed and allowed.union(map(whole_page, {page_of(i) for i in allowed}))
        scan = self._source.scan(asked, allowed, max(limit, NEAREST))
        self._usual = UsualCosines(scan.mean, scan.sd, scan.n)
        now = digests_of(index, scan.digests)
        pages = [page_of(i) for i in scan.digests if i == whole_page(page_of(i))]
        first = {whole_page(page): entry for page, entry in first_lines(index, pages, condition).items()}
        found = (first.get(i, i) for i, digest in scan.digests.items() if i in first or now.get(i) == digest)
        return list(dict.fromkeys(found))

    def fuse(
        self, index: Index, words: Mapping[int, float], nearest: Collection[int], own: Mapping[int, str],
        exact: Mapping[int, int], parts: Collection[int],
    ) -> tuple[dict[int, float], dict[int, Nearness], dict[int, float]]:  # fmt: skip
        """Words and vectors together: the relevance of the entries that words found (given with theirs) and of the
        `nearest`, how near these are, and page -> how near it is as a whole. Empty where the vectors failed.

        `own` are the terms of entries, by which their script is known; `exact` as in recall/rank.py. `parts` are lines of
        documents, which count less for themselves where their page counts as a whole, by whose vector they stand.
        """
        from ..vectors.text_to_embed import vector_script

        asked, usual = self._question_code(), self._usual
        if asked is None or usual is None:
            return {}, {}, {}
        rows = words.keys() | set(nearest)
        around = rows | {row + step for row in rows for step in _REACH}
        digests = digests_of(index, around)
        by_page = self._whole_pages(asked, index, {page_of(row) for row in rows})
        cosines = {row: by_page[page_of(row)] for row in digests if page_of(row) in by_page}
        cosines |= self._vectors.cosines(asked, around, digests)
        levels = self._vectors.by_script(asked)
        scripts = {row: vector_script(own.get(row, "")[:_READ]) for row in around} if len(levels) > 1 else {}
        usual = usual._replace(scripts=levels) if scripts else usual
        whole = standard(by_page, usual, {page_of(row): scripts.get(row, 0) for row in rows})
        deviations = smoothed(standard(cosines, usual, scripts))
        deviations |= {row: _PART * deviations[row] for row in parts if row in cosines and page_of(row) in whole}
        least = _ALONE if words or usual.n < _MANY else _ALONE_UNSAID
        best = {row: max(value, whole.get(page_of(row), 0.0)) for row, value in deviations.items() if row in rows}
        alone = {
            row for row, value in best.items() if value >= least and own.get(row, "").count(" ") + 1 >= _LEAST_TERMS
        }
        near = {row: value for row, value in deviations.items() if row in words or row in alone}
        ranked = sorted(near, key=lambda row: (-round(near[row], 9), row))
        shown = {row: Nearness(rank, cosines[row], near[row]) for rank, row in enumerate(ranked, 1)}
        only = next(iter(levels), asked.script)
        foreign = {row for row in rows if scripts.get(row, only) != asked.script}
        return fuse(words, near, foreign, self._weight, exact), shown, {p: z * self._weight for p, z in whole.items()}

    def _whole_pages(self, asked: Code, index: Index, pages: Collection[int]) -> dict[int, float]:
        """Page -> how like the question it is as a whole, of those that have such a vector."""
        first = first_lines(index, pages, Filter("", ()))
        now = digests_of(index, first.values())
        digests = {whole_page(page): now[entry] for page, entry in first.items()}
        return {page_of(i): cosine for i, cosine in self._vectors.cosines(asked, digests, digests).items()}


def start_vector_search(
    memory: OpenMemory, query: Query, warnings: list[str]
) -> tuple[VectorSearch | None, Vectored | None]:
    """The question on its way to the vectors, and how much these know; None where words answer alone, with a warning
    that says why, unless it is by the settings."""
    settings, index = memory.workspace.settings, memory.index
    if settings.model == "none" or settings.vector_weight <= 0 or not query.words:
        return None, None
    from ..vectors.models import choice, is_of, loaded

    chosen = choice(memory.workspace)
    embedder = chosen.embedder
    held = os.path.lexists(memory.workspace.derived / "vectors.sqlite")
    if embedder is None:
        if chosen.problem and (held or settings.model != "auto"):
            warnings.append(f"answered by words only: {chosen.problem.what} ({chosen.problem.cure})")
        return None, None
    source = _open_source(memory, warnings) if held else None
    if source and not is_of(embedder, *source.vectors.head[:2]):
        source.close()
        source = None
        why = f"the vectors are not of {embedder.name} as it is now; run `memctl index`"
        warnings.append(f"answered by words only: {why}")
    if source is None:
        return None, Vectored(embedder.name, 0, embeddable(index))
    search = VectorSearch(source, loaded(embedder), query.words, settings.vector_weight)
    try:
        return search, Vectored(embedder.name, source.vectors.count(), source.vectors.missing(index).entries)
    except BaseException:
        search.close()
        raise


def _open_source(memory: OpenMemory, warnings: list[str]) -> VectorSource | None:
    """The vectors that a resident memory holds; else the file, opened for this question."""
    from ..vectors.file import VectorPool, open_vectors

    if memory.resident:
        pool, settings = memory.resident.keep(VectorPool), memory.workspace.settings
        if (held := pool.take(memory.workspace, warnings.append)) is None:
            return None
        return VectorSource(held, partial(pool.scan, held, settings.hnsw_from), lambda: pool.give_back(held))
    vectors = open_vectors(memory.workspace, warnings.append)
    return VectorSource(vectors, vectors.scan, vectors.close) if vectors else None
