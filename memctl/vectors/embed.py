"""Embed: give every line its vector, newest pages first, in the background of everything else.

Embedding takes hours where the index takes seconds, so it stops nobody: no transaction is open while a model works, what
is done is committed about once a second into a file of its own, and whoever comes second goes on without. After a kill
the next pass goes on where this one was; a text that was embedded once is not embedded again.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass

from ..errors import CannotWrite, ExtraBroken, LockBusy, MemctlError
from ..facts import Fact
from ..ids import text_key
from ..index.lexical import ORDINAL_BITS
from ..index.open_memory import OpenMemory
from ..index.queries.entries import Leaf, entries_of, leaves, page_stands
from ..index.queries.forget import is_unclean
from ..index.reread import reread
from ..index.row import Row
from ..language.words import lines
from ..markdown.escape import many
from ..markdown.grammar import parse
from ..markdown.lines import SEALED, Role, content_of, without_sealed
from ..notes.workspace import Workspace
from ..system import locked
from . import models
from .file import PackRow, Vectors, drop_vectors, has_vectors, open_vectors
from .models import Embedder
from .quantized import Code, mean_of, script_of
from .text_to_embed import Piece, embedded_texts

BATCH = 16  # texts given to the model together,
BATCH_LETTERS = 3_000  # and their letters: a batch ends within two seconds, so that a stop is heard
COMMIT_SECONDS = 1.0
PARTLY_SECONDS = 10.0  # after so long at one page, what is done of it can be found already
FORGET_SECONDS = 10.0  # how long forget waits for an embedder, which stops when it sees that forget is at work
_ROUNDS = 5  # for pages that change meanwhile


@dataclass(slots=True)
class EmbedReport:
    """What a pass did: `made` texts were embedded, `pages` brought up to date, `swept` vectors of lost lines deleted.

    `entries` take part in the workspace, `missing` of them still have no vector. `stopped` says why it did not come to
    its end (None: it did), and `problem` is the error behind that, for a caller to whom it is one.
    """

    model: str
    entries: int = 0
    missing: int = 0
    made: int = 0
    pages: int = 0
    swept: int = 0
    seconds: float = 0.0
    stopped: str | None = None
    problem: MemctlError | None = None

    @property
    def rate(self) -> float:
        """Texts a second."""
        return self.made / self.seconds if self.seconds else 0.0


def embed_workspace(memory: OpenMemory) -> EmbedReport | None:
    """Embed what the index holds, with the model of the settings; None where there is none to take.

    ExtraMissing, Usage or ExtraBroken where the settings name a model that cannot be had.
    """
    embedder = models.choose(memory.workspace)
    if embedder is None:
        return None
    done = memory.run(lambda opened: embed(opened, embedder))
    if (seen := memory.public()).workspace.hides:  # its texts are the same, but for short ones below a private line
        seen.run(lambda opened: embed(opened, embedder))
    return done


def embed(memory: OpenMemory, embedder: Embedder, deadline: float = float("inf")) -> EmbedReport:
    """Embed the entries of the index that have no vector yet, until `deadline` (time.monotonic).

    Never raises for what stands in its way: answers by words stay possible. Only a damaged index is the caller's, and
    KeyboardInterrupt, which then says how much is kept.
    """
    report = EmbedReport(embedder.name)
    start = time.monotonic()
    if _is_done(memory, embedder, report):
        return report
    lock = memory.workspace.memory / "embed.lock"
    try:
        with locked(lock, 0):
            _Pass(memory, embedder, report, deadline).run()
    except LockBusy as error:
        second = str(lock) in error.what
        report.stopped, report.problem = ("another memctl is embedding", None) if second else (error.what, error)
    except (CannotWrite, ExtraBroken) as error:
        report.stopped, report.problem = error.what, error
    except KeyboardInterrupt as stop:
        kept = many(report.made, "text was", "texts were")
        raise KeyboardInterrupt(
            f"stopped: {kept} embedded in this run and kept; the next `memctl index` goes on"
        ) from stop
    report.seconds = time.monotonic() - start
    _is_done(memory, embedder, report)
    return report


def _is_done(memory: OpenMemory, embedder: Embedder, report: EmbedReport) -> bool:
    """Count what there is and what is missing, without model, lock or write; True where nothing is to be done."""
    report.entries = report.missing = sum(leaf.entries for leaf in leaves(memory.index))
    vectors = open_vectors(memory.workspace)
    if vectors is None:
        return not report.entries
    with closing(vectors):
        if not models.is_of(embedder, vectors.embedder_id, vectors.dim):
            return False
        missing = vectors.missing(memory.index)
        report.missing = missing.entries
        return vectors.swept and not (missing.pages or missing.gone or vectors.problem)


def means_of(embedder: Embedder) -> list[list[float]]:
    """Where a model puts text of each script: the means of the calibration sentences."""
    return [mean_of(embedder.passages(sentences)) for sentences in calibration()]


def calibration() -> list[tuple[str, ...]]:
    """Plain sentences by script (`script_of`): 0 Latin and all others, 1 Cyrillic, 2 Han.

    Subtracting their mean makes cosines of different languages comparable. Fixed sentences instead of the workspace's own
    lines make the means a function of the model alone, so vectors may be deleted and made again without changing an answer.
    """
    return [lines(language, "calibration")[""] for language in ("en", "ru", "zh")]


class _Stop(Exception):
    """The pass ends here, and says why."""


class _Pass:
    """One pass over the pages, under the lock of embedders."""

    def __init__(self, memory: OpenMemory, embedder: Embedder, report: EmbedReport, deadline: float) -> None:
        self._memory, self._index, self._embedder = memory, memory.index, embedder
        self._report, self._deadline = report, deadline
        self._was_unclean = is_unclean(memory.index)
        self._done = self._total = 0

    def run(self) -> None:
        """Rounds over what is missing, until nothing is; then what no line has any more goes."""
        with closing(self._vectors()) as vectors:
            try:
                for _ in range(_ROUNDS):
                    if not self._round(vectors):
                        break
            except _Stop as stop:
                self._report.stopped = str(stop)
                return
            if vectors.missing(self._index).pages:
                self._report.stopped = "pages were written meanwhile; run `memctl index` again"
            else:
                self._report.swept = vectors.sweep()

    def _vectors(self) -> Vectors:
        embedder = self._embedder
        # An endpoint is asked how long they are.
        means: Sequence[Sequence[float]] = () if embedder.dim else means_of(embedder)
        kept = open_vectors(self._memory.workspace)
        if kept:
            with closing(kept):
                means = kept.means if (kept.embedder_id, kept.dim) == (embedder.id, embedder.dim) else means
        return _begun(self._memory.workspace, embedder.id, embedder.dim, means or means_of(embedder))

    def _round(self, vectors: Vectors) -> int:
        """Every page that is missing now; returns how many were made whole."""
        missing = vectors.missing(self._index)
        pages = set(missing.pages)
        todo = [leaf for leaf in leaves(self._index) if leaf.id in pages]
        if missing.gone:
            vectors.drop_packs(missing.gone)
        self._total = self._done + sum(leaf.entries for leaf in todo)
        return sum(self._page(vectors, leaf) for leaf in todo)

    def _page(self, vectors: Vectors, leaf: Leaf) -> bool:
        """Embed one page; False where it was written meanwhile, so that not all of it could be."""
        read = _rows_of(self._memory, leaf)
        if read is None:
            return False
        rows, texts, whole = read
        left = dict(reversed(texts.items()))  # the last lines of a page are the newest
        vectors.take(left.keys() - vectors.known(left), self._memory.workspace.whole)
        for key in vectors.known(left):
            del left[key]
        try:
            self._fill(vectors, leaf, rows, left)
        finally:  # whatever stops this: the part of the page that was embedded is found
            complete = vectors.put_pack(leaf.id, leaf.rows_sum if whole else b"", rows)
        self._report.pages += 1
        return complete and whole

    def _fill(self, vectors: Vectors, leaf: Leaf, rows: Sequence[PackRow], left: dict[int, str]) -> None:
        start, taken = self._done, 0
        saved = partly = time.monotonic()
        codes: dict[int, Code] = {}
        try:
            for batch in _batches(list(left.items())):
                self._look_up()
                codes |= self._codes(vectors, batch)
                taken += len(batch)
                self._report.made += len(batch)
                self._tell(start + leaf.entries * taken // len(left))
                now = time.monotonic()
                if now - saved > COMMIT_SECONDS:
                    vectors.put_codes(codes)
                    codes, saved = {}, now
                    if now - partly > PARTLY_SECONDS:
                        vectors.put_pack(leaf.id, b"", rows)
                        partly = now
        finally:  # whatever stops this: what was embedded is kept
            if codes:
                vectors.put_codes(codes)
        self._tell(start + leaf.entries)

    def _codes(self, vectors: Vectors, batch: Sequence[tuple[int, str]]) -> dict[int, Code]:
        made = self._embedder.passages([text for _, text in batch])
        try:
            return {
                key: vectors.encode(vector, script_of(text)) for (key, text), vector in zip(batch, made, strict=True)
            }
        except ValueError as error:  # another number of components, or of vectors
            raise ExtraBroken(f"the model {self._embedder.name} fails: {error}") from error

    def _tell(self, done: int) -> None:
        self._done = done
        self._memory.progress(done, self._total)

    def _look_up(self) -> None:
        """Between batches: is there a reason to stop?"""
        if time.monotonic() > self._deadline:
            raise _Stop("the time was up; run `memctl index` to go on")
        if not self._was_unclean and is_unclean(self._index):
            raise _Stop("made way for `memctl forget`; run `memctl index` to go on")


def _begun(workspace: Workspace, embedder: str, dim: int, means: Sequence[Sequence[float]]) -> Vectors:
    vectors = open_vectors(workspace, write=True)
    assert vectors is not None  # never, to write
    vectors.begin(embedder, dim, means)
    return vectors


def _batches(texts: Sequence[tuple[int, str]]) -> Iterator[list[tuple[int, str]]]:
    batch: list[tuple[int, str]] = []
    letters = 0
    for key, text in texts:
        if batch and (len(batch) == BATCH or letters + len(text) > BATCH_LETTERS):
            yield batch
            batch, letters = [], 0
        batch.append((key, text))
        letters += len(text)
    if batch:
        yield batch


def _rows_of(memory: OpenMemory, leaf: Leaf) -> tuple[list[PackRow], dict[int, str], bool] | None:
    """The vectors that a page should have, their texts by key, and whether all its entries stand on disk as indexed.

    None if the index has other rows of it by now.
    """
    with memory.index.reading():
        if not page_stands(memory.index, leaf.id, leaf.rows_sum):
            return None
        entries = entries_of(memory.index, leaf.id)
    pieces = pieces_of(memory.workspace, entries)
    digests = {entry.id: entry.digest for entry in entries}
    rows, texts = [], {}
    for place, text in embedded_texts(pieces):
        key = text_key(text)
        texts[key] = text
        number = pieces[place].id
        rows.append(PackRow(number & ((1 << ORDINAL_BITS) - 1), digests[number], key))
    return rows, texts, len(pieces) == len(entries)


def pieces_of(workspace: Workspace, entries: Sequence[Row]) -> list[Piece]:
    """Entries of one page, in its order, as what is embedded of them is made from; those not on disk are left out."""
    seen = reread(workspace, entries)
    return [_piece(entry, seen[entry.id].raw) for entry in entries if entry.id in seen]


def _piece(entry: Row, raw: Sequence[str]) -> Piece:
    role = Role(entry.role)
    text = without_sealed(content_of(role, raw), SEALED)
    read = parse(text) if role is Role.FACT else None
    if isinstance(read, Fact):
        return Piece(entry.id, entry.role, entry.heading, read.entities, read.text, read.cues)
    return Piece(entry.id, entry.role, entry.heading, (), text)


def erase_vectors(memory: OpenMemory) -> str | None:
    """Leave no vector of what no line says any more, without a model; None, or why that could not be done.

    Needs an index that is up to date. A file that cannot be used goes as a whole: it is derived.
    """
    workspace, index = memory.workspace, memory.index
    try:
        if not has_vectors(workspace) and not (workspace.derived / "vectors.broken").exists():
            return None
        with locked(workspace.memory / "embed.lock", FORGET_SECONDS):
            kept = open_vectors(workspace)
            if kept is None:
                drop_vectors(workspace)
                return None
            with closing(kept):
                head = kept.embedder_id, kept.dim, kept.means
            with closing(_begun(workspace, *head)) as vectors:
                missing = vectors.missing(index)
                pages = set(missing.pages)
                vectors.drop_packs(missing.gone)
                for leaf in leaves(index):
                    if leaf.id in pages:
                        rows, _, whole = _rows_of(memory, leaf) or ([], {}, False)
                        vectors.put_pack(leaf.id, leaf.rows_sum if whole else b"", rows)
                vectors.sweep()
                return vectors.truncate()
    except LockBusy:
        return "another memctl is embedding"
    except CannotWrite as error:
        return error.what
