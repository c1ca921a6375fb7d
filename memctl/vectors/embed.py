"""Embed: give every line its vector, newest pages first, in the background of everything else; a process that stays does
so in a thread beside its answers.

Embedding takes hours where the index takes seconds, so it stops nobody: no transaction is open while a model works, what
is done is committed about once a second into a file of its own, and whoever comes second goes on without. After a kill
the next pass goes on where this one was; a text that was embedded once is not embedded again.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, nullcontext, suppress
from dataclasses import dataclass
from functools import cache

from ..errors import CannotWrite, ExtraBroken, LockBusy, MemctlError
from ..ids import text_key
from ..index.heal import state_of
from ..index.index import NOT_EMBEDDED, Index
from ..index.lexical import whole_page
from ..index.open_memory import OpenMemory
from ..index.queries.entries import Leaf, entries_on, leaves, page_exists, titles_and_lengths
from ..index.queries.traces import is_unclean
from ..index.reread import CurrentLine, reread, text_of
from ..index.row import Row
from ..index.rows import rows_of
from ..index.sync import sync
from ..language.words import lines
from ..markdown.escape import many
from ..markdown.lines import split_lines
from ..system import locked
from . import models
from .file import Vectors, begin_vectors, drop_vectors, open_vectors
from .models import Embedder
from .tables import Code, Head, StoredVector, head_in, is_same
from .text_to_embed import Piece, page_texts, vector_script

BATCH = 16  # texts given to the model together,
BATCH_LETTERS = 3_000  # and their letters: a batch ends within two seconds, so that a stop is heard
COMMIT_SECONDS = 1.0
_SHARE = 20  # times what a commit took: so long until the next at least
FORGET_SECONDS = 10.0  # how long forget waits for an embedder, which stops when it sees that forget is at work
_TOGETHER = 100  # pages whose vectors are fetched together
_ROUNDS = 5  # for pages that change meanwhile
_LOOK = 0.5  # seconds between two looks of the thread whether the index was written
_SLICE = 1.0  # seconds that it works before it looks whether to stop
_AGAIN = 30.0  # seconds after which it tries again what failed
_STOPPING = 10.0  # seconds that `close` waits for the batch that is being embedded


@dataclass(slots=True)
class EmbedReport:
    """What a pass did."""

    model: str
    entries: int = 0  # that take part in the workspace
    missing: int = 0  # of these, still without a vector
    made: int = 0  # texts that were embedded
    pages: int = 0  # brought up to date
    seconds: float = 0.0
    stopped: str | None = None  # why it did not come to its end; None: it did
    problem: MemctlError | None = None  # the error behind that, for a caller to whom it is one


def embed_workspace(memory: OpenMemory) -> EmbedReport | None:
    """Embed what the index holds, with the model of the settings; None where there is none to take.

    ExtraMissing, Usage or ExtraBroken where the settings name a model that cannot be had.
    """
    embedder = models.choose(memory.workspace)
    return _embed_views(memory, embedder, float("inf")) if embedder else None


def _embed_views(memory: OpenMemory, embedder: Embedder, seconds: float) -> EmbedReport:
    """Embed the owner's entries and then those that others see, for so long each; what was done of the owner's."""
    done = memory.run(lambda at: embed(at, embedder, time.monotonic() + seconds))
    if (seen := memory.public()).workspace.hides:  # its texts are the same, but for short ones below a private line
        seen.run(lambda at: embed(at, embedder, time.monotonic() + seconds))
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
        told = f"stopped: {kept} embedded in this run and kept; the next `memctl index` goes on"
        raise KeyboardInterrupt(told) from stop
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
        if not models.is_of(embedder, *vectors.head[:2]):
            return False
        missing = vectors.missing(memory.index)
        report.missing = missing.entries
        if memory.workspace.hides:  # what others must not see stands in the log until that is cut, as long as one reads
            vectors.truncate()
        return not (missing.pages or missing.gone or vectors.damaged() or vectors.problem)


@cache
def _means(embedder: Embedder) -> list[list[float]]:
    models.load_numpy()
    from .matrix import mean_of

    return [mean_of(embedder.passages(sentences)) for sentences in calibration()]


def calibration() -> list[tuple[str, ...]]:
    """Plain sentences by script (`vector_script`): 0 Latin and all others, 1 Cyrillic, 2 Han.

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
        # Those of the owner, where this is a pass over what others see.
        own = memory.workspace.whole
        self._owners = open_vectors(own) if own.derived != memory.workspace.derived else None

    def run(self) -> None:
        """Rounds over what is missing, until nothing is; then what is of pages that are gone goes: a text may have moved."""
        with closing(self._owners) if self._owners else nullcontext(), closing(self._vectors()) as vectors:
            try:
                for _ in range(_ROUNDS):
                    todo = _to_embed(vectors, self._index)
                    self._total = self._done + sum(leaf.entries for leaf in todo)
                    if not sum(self._page(vectors, leaf) for leaf in todo):
                        break
            except _Stop as stop:
                self._report.stopped = str(stop)
                return
            if (missing := vectors.missing(self._index)).pages:
                self._report.stopped = "pages were written meanwhile; run `memctl index` again"
            else:
                vectors.drop_pages(missing.gone)

    def _vectors(self) -> Vectors:
        embedder, workspace = self._embedder, self._memory.workspace
        head = head_in(workspace.derived)
        means = [] if embedder.dim else _means(embedder)  # one behind a URL knows its length when it has answered
        if head and head[:2] == (embedder.id, embedder.dim):
            return begin_vectors(workspace, *head)
        return begin_vectors(workspace, embedder.id, embedder.dim, means or _means(embedder))

    def _page(self, vectors: Vectors, leaf: Leaf) -> bool:
        """Embed one page; False where it was written meanwhile, so that not all of it could be."""
        read = _rows_of(self._memory, leaf)
        if read is None:
            return False
        rows, texts, whole = read
        codes = vectors.codes(texts)
        if self._owners and self._owners.head == vectors.head:
            codes |= self._owners.codes(texts.keys() - codes.keys())
        last_first = reversed(texts.items())  # the last lines of a page are the newest
        left = {key: text for key, text in last_first if key not in codes}
        try:
            self._fill(vectors, leaf, rows, left, codes)
        finally:  # whatever stops this: the part of the page that was embedded is kept, and found
            complete = vectors.put_page(leaf.id, leaf.rows_sum if whole else b"", rows, codes)
        self._report.pages += 1
        return complete and whole

    def _fill(
        self, vectors: Vectors, leaf: Leaf, rows: Sequence[StoredVector], left: dict[int, str], codes: dict[int, Code]
    ) -> None:
        """Embed the texts of a page that are `left`, into `codes`; about once a second what is done is committed."""
        start, taken = self._done, 0
        next_commit = time.monotonic() + COMMIT_SECONDS
        for batch in batches(list(left.items())):
            if time.monotonic() > self._deadline:
                raise _Stop("the time was up; run `memctl index` to go on")
            if not self._was_unclean and is_unclean(self._index):
                raise _Stop("made way for `memctl forget`; run `memctl index` to go on")
            made = self._embedder.passages([text for _, text in batch])
            try:
                for (key, text), vector in zip(batch, made, strict=True):
                    codes[key] = vectors.encode(vector, vector_script(text))
            except ValueError as error:  # another number of components, or of vectors
                raise ExtraBroken(f"the model {self._embedder.name} fails: {error}") from error
            taken += len(batch)
            self._report.made += len(batch)
            self._tell(start + leaf.entries * taken // len(left))
            if (now := time.monotonic()) > next_commit:
                vectors.put_page(leaf.id, b"", rows, codes)
                took = time.monotonic() - now  # longer with every line of a page
                next_commit = now + max(COMMIT_SECONDS, _SHARE * took)
        self._tell(start + leaf.entries)

    def _tell(self, done: int) -> None:
        self._done = done
        self._memory.progress(done, self._total)


def _to_embed(vectors: Vectors, index: Index) -> list[Leaf]:
    """The pages that are not embedded as they stand, the newest first."""
    pages = set(vectors.missing(index).pages)
    return [leaf for leaf in leaves(index) if leaf.id in pages]


def batches(texts: Sequence[tuple[int, str]]) -> Iterator[list[tuple[int, str]]]:
    """The texts in their order, so few and short at a time that a stop is heard soon."""
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


def _rows_of(memory: OpenMemory, leaf: Leaf) -> tuple[list[StoredVector], dict[int, str], bool] | None:
    """The vectors that a page should have, their texts by key, and whether all its entries stand on disk as indexed.

    None if the index has other rows of it by now.
    """
    with memory.index.reading():
        if not page_exists(memory.index, leaf.id, leaf.rows_sum):
            return None
        entries = entries_on(memory.index, leaf.id)
        titles = titles_and_lengths(memory.index, [leaf.id])
    pieces = pieces_of(entries, reread(memory.workspace, entries))
    digests = {entry.id: entry.digest for entry in entries}
    ids = [*(piece.id for piece in pieces), whole_page(leaf.id)]
    said = page_texts(titles[leaf.id][1] if leaf.id in titles else None, pieces)
    texts, rows = {}, []
    for place, text in said:
        texts[text_key(text)] = text
        rows.append(StoredVector(ids[place], text_key(text), digests.get(ids[place], entries[0].digest)))
    return rows, texts, len(pieces) == len(entries)


def pieces_of(entries: Sequence[Row], seen: Mapping[int, CurrentLine]) -> list[Piece]:
    """Entries of one page, in its order, as what is embedded of them is made from; those not `seen` are left out."""
    pieces = []
    for entry in entries:
        if entry.id in seen:
            text, fact, _ = text_of(entry, seen[entry.id])
            said = (fact.entities, text, fact.cues) if fact else ((), text)
            pieces.append(Piece(entry.id, entry.role, *said))
    return pieces


def texts_of_page(path: str, text: str) -> dict[int, str]:
    """The texts of a page that are embedded, by key, from what it says alone: no index of it is needed."""
    page, raw = rows_of(path, text), split_lines(text)
    entries = [row for row in page.rows if row.block is None and row.role not in NOT_EMBEDDED]
    seen = {row.id: CurrentLine(row.cited, tuple(raw[row.line - 1 : row.end_line])) for row in entries}
    return {text_key(said): said for _, said in page_texts(None if page.day else page.title, pieces_of(entries, seen))}


def take_vectors(
    memory: OpenMemory, embedder: Embedder, means: bytes, fetch: Callable[[list[str], list[int]], Iterable[tuple[int, bytes]]]
) -> None:  # fmt: skip
    """Give a copy of published pages the vectors that `fetch` has of texts on some of them, by key; those of lost lines go.

    ValueError where the embedder did not make them, as far as that shows: by its `means` and by their length. Whether one
    is of its text nobody knows without embedding that: it counts in this copy alone.
    """
    head, kept = Head.unpacked(embedder.id, means), head_in(memory.workspace.derived)
    if not (kept and is_same(kept, head)):
        made = _means(embedder)
        if not is_same(Head(embedder.id, len(made[0]), tuple(map(tuple, made))), head):
            raise ValueError(f"another model is called {embedder.name} there")
    with closing(begin_vectors(memory.workspace, *head)) as vectors:
        todo = _to_embed(vectors, memory.index)
        for start in range(0, len(todo), _TOGETHER):
            read = [(leaf, *said) for leaf in todo[start : start + _TOGETHER] if (said := _rows_of(memory, leaf))]
            texts = {key: text for _, _, keyed, _ in read for key, text in keyed.items()}
            codes = vectors.codes(texts)
            lacking = texts.keys() - codes.keys()
            for key, components in fetch([leaf.path for leaf, *_ in read], list(lacking)) if lacking else ():
                if len(components) != head.dim:
                    raise ValueError(f"a vector of {len(components)} numbers instead of {head.dim}")
                if key in lacking:
                    codes[key] = Code(vector_script(texts[key]), components)
            with vectors.writing():
                for leaf, rows, _, whole in read:
                    vectors.put_page(leaf.id, leaf.rows_sum if whole else b"", rows, codes)
        vectors.drop_pages(vectors.missing(memory.index).gone)
        vectors.truncate()


def sweep_vectors(memory: OpenMemory) -> None:
    """Leave no vector of what a page does not say, or not to others, whatever the model. No embedder is waited for."""
    memory.run(_sweep)
    if (memory.workspace.memory / "public/vectors.sqlite").exists():
        memory.public().run(_sweep)


def _sweep(memory: OpenMemory) -> None:
    if (vectors := open_vectors(memory.workspace)) is None:
        return
    with closing(vectors):
        packs = vectors.packs()
        kept = [leaf for leaf in _to_embed(vectors, memory.index) if leaf.id in packs]
        read = ((packs[leaf.id], _rows_of(memory, leaf)) for leaf in kept)
        lost = any(said and {row.key for row in pack.vectors()} - said[1].keys() for pack, said in read)
        if not lost and not vectors.missing(memory.index).gone:
            vectors.truncate()
        elif not sync(memory.workspace, memory.index).stale and (left := erase_vectors(memory, wait=0)):
            memory.tell(f"vectors of lines that are gone: {left}; run `memctl index` again")


def erase_vectors(memory: OpenMemory, wait: float | None = None) -> str | None:
    """Leave no vector of what no line says any more, without a model; None, or why that could not be done.

    Needs an index that is up to date. A file that cannot be used goes as a whole: it is derived. `wait`: for an embedder.
    """
    workspace = memory.workspace
    try:
        if not any(workspace.derived.glob("vectors.[!l]*")):  # all but the lock
            return None
        with locked(workspace.memory / "embed.lock", FORGET_SECONDS if wait is None else wait):
            if (head := head_in(workspace.derived)) is None:
                drop_vectors(workspace)
                return None
            with closing(begin_vectors(workspace, *head)) as vectors:
                for leaf in _to_embed(vectors, memory.index):
                    rows, texts, whole = _rows_of(memory, leaf) or ([], {}, False)
                    vectors.put_page(leaf.id, leaf.rows_sum if whole else b"", rows, vectors.codes(texts))
                vectors.drop_pages(vectors.missing(memory.index).gone)
                return vectors.truncate()
    except LockBusy:
        return "another memctl is embedding"
    except (CannotWrite, ExtraBroken) as error:
        return error.what


def warm(memory: OpenMemory, bring_up: bool, embeds: bool) -> None:
    """Bring the index up to date, so that the first answer does not wait for it; embed from now on, if the memory stays."""
    if bring_up:
        memory.run(lambda at: sync(at.workspace, at.index, wait=0))
    if embeds and memory.resident:
        memory.resident.keep(lambda: BackgroundEmbedder(memory))


class BackgroundEmbedder:
    """Keeps the vectors of a workspace as fresh as its index until `close`. Nothing happens where no model is to be had."""

    def __init__(self, memory: OpenMemory) -> None:
        self._memory = memory
        self._stop = threading.Event()
        self._told: str | None = None
        self._thread = threading.Thread(target=self._run, name="memctl-embed", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop within a batch; what is embedded is kept."""
        self._stop.set()
        self._thread.join(_STOPPING)

    def _run(self) -> None:
        try:
            embedder = models.choose(self._memory.workspace)  # once, as by the memory that stays
        except MemctlError as error:
            self._tell(f"{error.what}; {error.cure}")
            return
        seen, retry = None, 0.0
        while embedder and not self._stop.wait(_LOOK):
            now = self._written()
            if now == seen and (not retry or time.monotonic() < retry):
                continue
            done = self._embed_all(embedder)
            seen, retry = now, 0.0 if done else time.monotonic() + _AGAIN

    def _embed_all(self, embedder: Embedder) -> bool:
        """Embed until nothing is missing, or it is time to stop; False where something stood in the way."""
        while not self._stop.is_set():
            memory = OpenMemory(self._memory.workspace, lambda: self._memory.now)
            try:
                report = _embed_views(memory, embedder, _SLICE)
            except (MemctlError, OSError) as error:
                self._tell(str(error))
                return False
            if report.problem:
                self._tell(report.problem.what)
                return False
            if not report.missing:
                self._told = None
                return True
            if not report.made:
                return False
        return True

    def _tell(self, why: str) -> None:
        """Say once what keeps lines from being embedded."""
        if why != self._told:
            self._told = why
            self._memory.tell(f"vectors: {why}; going on with words")

    def _written(self) -> list[list[int]]:
        """Changes when the index is written."""
        found = []
        for name in ("index.sqlite", "index.sqlite-wal"):
            with suppress(OSError):
                found.append(state_of(self._memory.workspace.derived / name))
        return found
