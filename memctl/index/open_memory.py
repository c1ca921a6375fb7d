"""OpenMemory: what a call carries: the workspace, its open index, the clock, who hears of progress; and what calls answered."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Set
from contextlib import suppress
from copy import copy
from dataclasses import replace
from datetime import date, datetime
from functools import partial, wraps
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

from ..errors import LockBusy, MemctlError
from ..facts import days_before
from ..notes.files import prepare_memory
from ..notes.workspace import Workspace
from ..system import append_bounded
from .heal import with_index
from .index import Index, Progress, silent as silent
from .queries.entries import private_refs

if TYPE_CHECKING:
    from .resident import Resident
    from .sync import SyncReport

M = TypeVar("M", bound="OpenMemory")
T = TypeVar("T")
P = ParamSpec("P")


def on_fresh_index(read: Callable[Concatenate[M, P], T]) -> Callable[Concatenate[M, P], T]:
    """A function of a memory that finds its index open, and brought up to date (`sync_for_read`)."""

    @wraps(read)
    def called(memory: M, /, *args: P.args, **options: P.kwargs) -> T:
        def job(opened: M) -> T:
            opened.sync_for_read()
            return read(opened, *args, **options)

        return memory.run(job)

    return called


class OpenMemory:
    """A workspace as a call sees it; made once at the door and handed down instead of its parts.

    Inside of `run`, `index` is the open index and `now` stands still.
    """

    def __init__(
        self,
        workspace: Workspace,
        clock: Callable[[], datetime] = datetime.now,
        *,
        tell: Callable[[str], None] = silent,  # is given notes beside the answer, one line each
        progress: Progress = silent,  # is told how much is done
        resident: Resident | None = None,  # keeps the index open between calls
    ) -> None:
        self._workspace, self._clock, self._index = workspace, clock, None
        self.tell, self.progress, self.resident = tell, progress, resident

    _index: Index | None
    _known: SyncReport | None = None
    _owner: OpenMemory | None = None

    @property
    def workspace(self) -> Workspace:
        """The folder with its settings; those of a resident one are as they are now."""
        found = self.resident.workspace if self.resident and self._index is None else self._workspace
        hides = self._workspace.hides
        return found if found.hides is hides else found._replace(hides=hides)

    def public(self: M) -> M:
        """The same as others than the owner may see it: as if its private lines did not exist. For one call: it syncs here.

        Where there are none it is this memory, with its index.
        """
        if self._workspace.hides is not None:
            return self
        view = copy(self)
        view._owner = self
        view._known, refs = self.run(lambda at: (at.synced(), private_refs(at.index)))
        view._workspace = self.workspace._replace(hides=refs)
        if refs:
            view._index = None
            view.resident = self.resident and self.resident.view(view._workspace)
        return view

    @property
    def now(self) -> datetime:
        """The present, by the clock that `open` was given."""
        return self._clock()

    @property
    def today(self) -> date:
        """The local day of `now`."""
        return self._clock().date()

    @property
    def index(self) -> Index:
        """The open index; only inside of `run`."""
        assert self._index is not None, "no index outside of run"
        return self._index

    @property
    def owner(self) -> OpenMemory:
        """The memory that this is a public view of; itself otherwise."""
        return self._owner or self

    def run(self: M, job: Callable[[M], T]) -> T:
        """What `job` makes of this memory with its index open; a damaged index is made again, and so is the job.

        Called inside of a job, it uses the index that is open.
        """
        if self._index is not None:
            return job(self)
        run = self.resident.run if self.resident else partial(with_index, self.workspace)
        return run(lambda index: job(self.bound(index)))

    def synced(self, *, whole: bool = False) -> SyncReport:
        """Bring the open index up to date, without waiting for another writer.

        What changed has the time of the settings, or all it takes if `whole`; a first index is built to its end, and
        `progress` hears how far it is. A resident memory does not look again where nothing has changed since it last did.
        """
        from .sync import sync

        known = self._known
        if known and not self.workspace.hides and not self.index.fresh and not (whole and known.stale):
            return known
        seconds = None if whole else self.workspace.settings.sync_seconds
        job = partial(sync, self.workspace, self.index, wait=0, seconds=seconds, progress=self.progress)
        report = self.telling(self.resident.synced(job) if self.resident else job())
        return replace(report, stale=known.stale) if known and known.stale and not report.stale else report

    def sync_for_write(self, *, parallel: bool = False) -> None:
        """Bring the open index up to date. What keeps it from that is an error: for writers, who must not miss a line.

        `parallel` lets other processes read the pages.
        """
        from .sync import sync

        report = self.telling(sync(self.workspace, self.index, parallel=parallel, progress=self.progress))
        if report.stale:
            raise report.obstacle or LockBusy(str(self.workspace.memory), 10.0)

    def sync_for_read(self) -> None:
        """`synced`, without a limit of time in a process of one command; `tell` gets a note if the index is stale."""
        if stale := self.synced(whole=self.resident is None).stale:
            self.tell(f"stale: {stale}")

    def telling(self, report: SyncReport) -> SyncReport:
        """The report, after `tell` got a note for each folder that cannot be read, which is not the same as empty."""
        for folder in ("bank", "memory"):
            if problem := report.problems.get(folder):
                self.tell(f"{folder}: {problem}")
        return report

    def _but(self: M, **changed: object) -> M:
        other = copy(self)
        vars(other).update(changed)
        return other

    def paused(self: M) -> M:
        """The same with `now` standing still, for one call of a process that stays."""
        now = self.now
        return self._but(_clock=lambda: now)

    def with_workspace(self: M, workspace: Workspace) -> M:
        """The same with other settings, such as without a model, for one call."""
        return self._but(_workspace=workspace)

    def bound(self: M, index: Index) -> M:
        """The same with an index that is open already."""
        now = self.now
        return self._but(_workspace=self.workspace, _clock=lambda: now, _index=index)

    def on(self: M, day: date) -> M:
        """The same with another day for today."""
        return self._but(_clock=lambda: datetime.combine(day, datetime.min.time()))

    def close(self) -> None:
        """Let go of the index; the next call opens it again."""
        if self.resident:
            self.resident.close()

    def __exit__(self, *_: object) -> None:
        self.close()


# -- which lines were recalled lately: `.memory/recalled`, kept only where `[recall] record` says so -------------------
# A line for each answer: its day and the ids.

_FILE, _BEFORE = "recalled", "recalled.1"
_MOST = 128 * 1024  # bytes, from which on a new file begins; the one before is kept
_DAYS = 90  # that count as lately


def record_recalled(memory: OpenMemory, refs: Iterable[str]) -> None:
    """Remember that these lines were answers. Trouble there stops no answer: the file is derived."""
    if ids := " ".join(refs):
        with suppress(OSError, MemctlError):
            append_bounded(prepare_memory(memory.workspace) / _FILE, f"{memory.today} {ids}\n".encode(), _MOST)


def drop_recalled(workspace: Workspace, refs: Set[str]) -> None:
    """Take the ids of lines that are forgotten out of the record."""
    for name in (_BEFORE, _FILE):
        with suppress(OSError):
            path = workspace.memory / name
            text = path.read_text("ascii", "replace")
            kept = re.sub(r" (\S+)", lambda match: "" if match[1] in refs else match[0], text)
            if kept != text:
                path.write_text(kept, "ascii", "replace")


def recalled_lately(memory: OpenMemory) -> Counter[str]:
    """How often each line was an answer in the last 90 days, as far as that was recorded."""
    first = str(days_before(memory.today, _DAYS))
    found: Counter[str] = Counter()
    for name in (_BEFORE, _FILE) if memory.workspace.settings.record else ():
        with suppress(OSError):
            for line in (memory.workspace.memory / name).read_text("ascii", "replace").splitlines():
                day, *refs = line.split() or [""]
                found.update(refs if day >= first else ())
    return found
