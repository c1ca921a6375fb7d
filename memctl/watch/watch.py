"""Watch: keep the index as fresh as the files, and say in one calm line what changed.

Events only say when to look; the ordinary sync decides what changed, and one a minute heals what no event
told. Between two looks no lock is held and no file of the index is open.
"""

from __future__ import annotations

import errno
import logging
import os
import time
import warnings
from collections.abc import Generator, Iterator, Mapping
from contextlib import suppress
from datetime import datetime, time as time_of_day, timedelta
from functools import partial
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple

from ..errors import CannotWrite, ExtraMissing, LockBusy, MemctlError, NoWorkspace
from ..index.open_memory import OpenMemory
from ..index.queries.entries import line_counts
from ..index.sync import SyncReport, changes, sync
from ..markdown.escape import many
from ..notes.settings import SETTINGS
from ..notes.workspace import SKIPPED, Workspace, find_workspace

HEAL_SECONDS = 60.0  # a look that no event asked for: events get lost, and a laptop sleeps
POLL_SECONDS = 2.0  # the same where no events come
SETTLE_SECONDS = 2.5  # a page younger than two seconds is looked at once more (index/sync.py)
GONE_SECONDS = 0.5  # how often it is asked whether the folder is back
RETRY_SECONDS = 5.0  # after a full disk
BUSY_SECONDS = 0.5  # how long another writer is waited for, and then later again
EMBED_SECONDS = 1.0  # how long the model works before it is looked whether something else is to be done
# The next reflect is a day away at most, 25 hours in the night in which the clocks go back: further, the clock was set.
_CLOCK_WAS_WRONG = timedelta(days=2)
_APART = 5  # pages that get a line each; more are counted
_MOST_TOLD = 200  # troubles that are remembered as told
_Lines = dict[str, tuple[int, int]]  # by page, how many came and went


class Noticed(NamedTuple):
    """One line: the kind of event, what to say, and the same as data. What is in the way is `trouble`."""

    event: str
    told: str
    data: dict[str, Any] = {}  # noqa: RUF012
    trouble: bool = False


def look_once(memory: OpenMemory) -> Iterator[Noticed]:
    """Bring the index up to date as `watch` does at its start, and say what that changed.

    LockBusy or CannotWrite if it cannot be.
    """
    report, _ = memory.run(lambda opened: _look(opened, 10.0))
    if report.obstacle:
        raise report.obstacle
    yield _begun(report, memory.workspace)
    yield from _problems(report.problems)


def watch(
    memory: OpenMemory, events: FolderEvents, *, reflect_at: time_of_day | None = None, vectors: bool = True
) -> Iterator[Noticed]:
    """Watch on and on: yields what is noticed, and waits in between. Settings are read again at each look.

    NoWorkspace if it is not there at the start; later its absence is waited out. Only `events.end()` ends it.
    """
    loop, changed = _WatchLoop(memory, events, reflect_at, vectors), True
    try:
        while not events.is_over:
            yield from loop.turn(changed)
            changed = events.wait(loop.patience())
    finally:
        events.stop()


class _WatchLoop:
    """What watch remembers from one look to the next; all of it of bounded size."""

    def __init__(self, memory: OpenMemory, events: FolderEvents, reflect_at: time_of_day | None, vectors: bool) -> None:
        self._given, self._events = memory, events
        root = memory.workspace.root
        self._workspace = find_workspace(str(root), os.environ, root)
        self._begun = self._gone = False
        self._reflect_at = reflect_at
        self._due = _next(reflect_at, memory.now) if reflect_at else None
        self._retry = float("inf")  # when (monotonic) to look again, event or not
        self._took = 0.0
        self._unasked = False  # this look is the one that comes once a minute
        self._unheard = False  # it found something, of which an event may still come
        self._told: dict[str, str] = {}  # what is in the way, by kind, as it was told
        self._problems: dict[str, str] = {}
        self._embeds = vectors
        self._embedder: Any = None
        self._made = 0

    def patience(self) -> float:
        """How long to wait for events."""
        if self._gone:
            return GONE_SECONDS
        steady = HEAL_SECONDS if self._events.problem is None else max(POLL_SECONDS, 10 * self._took)
        seconds = min(steady, self._retry - time.monotonic())
        if self._due:
            seconds = min(seconds, (self._due - self._given.now).total_seconds())
        return max(0.0, seconds)

    def turn(self, changed: bool) -> Iterator[Noticed]:
        """Look, reflect if it is time, and embed as long as nothing changes."""
        if self._unheard and not changed:
            # A network, a mount, or folders for which no watch was left.
            self._events.problem = self._events.problem or "changes come here without events"
        self._unheard, self._unasked = False, not changed and self._retry == float("inf")
        self._retry = float("inf")
        is_there = yield from self._find()
        if is_there:
            yield from self._cover()
            yield from self._see()
            if not self._gone:
                yield from self._reflect()
                yield from self._embed()
        elif not self._gone:
            self._gone = True
            self._events.stop()
            yield Noticed("gone", f"{self._workspace.root} is gone; waiting for it", trouble=True)

    def _memory(self) -> OpenMemory:
        """With the settings of now; its index is open only while it is used."""
        return OpenMemory(self._workspace, lambda: self._given.now)

    def _find(self) -> Generator[Noticed, None, bool]:
        """True if the folder is there, with its settings of now; an empty one in its place is a disk not mounted."""
        root = self._workspace.root
        try:
            if self._begun and not self._events.covers(root) and _is_blank(str(root)):
                return False
            self._workspace = find_workspace(str(root), os.environ, root)
            self._told.pop("settings", None)
        except (NoWorkspace, OSError):
            return False
        except MemctlError as error:
            yield from self._trouble("settings", f"{error.what}; going on with the settings of before")
        return os.path.isdir(root)

    def _cover(self) -> Iterator[Noticed]:
        """Listen to the folder, before the look, so that nothing falls in between."""
        root = self._workspace.root
        if not self._events.covers(root):
            try:
                self._events.start(root)
            except OSError:
                return  # gone again; the next turn says so
        if self._events.problem:
            yield from self._trouble("polling", f"{self._events.problem}; looking every {POLL_SECONDS:g} s instead")
        else:
            self._told.pop("polling", None)
        if self._gone:
            self._gone = False
            yield Noticed("back", f"{root} is back")

    def _see(self) -> Iterator[Noticed]:
        """Sync, and describe the result."""
        workspace, start = self._workspace, time.monotonic()
        try:
            report, lines = self._memory().run(lambda memory: _look(memory, BUSY_SECONDS))
        except MemctlError as error:
            if os.path.isdir(workspace.root):
                cause = f"the index cannot be written: {error.cause}" if isinstance(error, CannotWrite) else error.what
                yield from self._trouble("index", f"{cause}; trying again")
                self._look_again_in(RETRY_SECONDS)
            return
        self._took = time.monotonic() - start
        if not os.path.isdir(workspace.root):
            return
        yield from self._obstacle(report)
        if self._begun:
            yield from _changes(report, lines)
        else:
            self._begun = True
            start_line = _begun(report, workspace)
            yield start_line._replace(told=f"watching {start_line.told}")
        now = dict(list(report.problems.items())[:_MOST_TOLD])
        yield from _problems({path: problem for path, problem in now.items() if self._problems.get(path) != problem})
        self._problems = now
        if report.changed:
            self._unheard = self._unasked and self._events.problem is None
            self._look_again_in(SETTLE_SECONDS)

    def _look_again_in(self, seconds: float) -> None:
        self._retry = min(self._retry, time.monotonic() + seconds)

    def _obstacle(self, report: SyncReport) -> Iterator[Noticed]:
        """What keeps the index from being written, once; and that it is over."""
        if report.stale is None:
            if self._told.pop("index", None):
                yield Noticed("resumed", "the index is written again")
        elif isinstance(report.obstacle, LockBusy):
            self._look_again_in(1.0)
            yield from self._trouble("index", "another memctl is writing; waiting for it")
        else:
            self._look_again_in(RETRY_SECONDS)
            cause = report.obstacle.cause if isinstance(report.obstacle, CannotWrite) else report.stale
            yield from self._trouble("index", f"the index cannot be written: {cause}; trying again")

    def _trouble(self, kind: str, told: str) -> Iterator[Noticed]:
        """Say what is in the way, if that is not what was said last."""
        if self._told.get(kind) != told:
            self._told[kind] = told
            yield Noticed("trouble", told, {"about": kind}, trouble=True)

    def _reflect(self) -> Iterator[Noticed]:
        """Reflect on the last week if it is time; after a sleep past it, once, at the first look."""
        now = self._given.now
        if self._due is None or self._reflect_at is None:
            return
        if self._due - now > _CLOCK_WAS_WRONG:
            self._due = _next(self._reflect_at, now)
        if now < self._due:
            return
        from ..reflect.reflect import reflect

        try:
            done = reflect(self._memory(), since=now.date() - timedelta(days=7))
        except MemctlError as error:
            self._due = now + timedelta(seconds=HEAL_SECONDS)
            yield from self._trouble("reflect", f"reflect: {error.what}; trying again in a minute")
            return
        self._due = _next(self._reflect_at, now)
        self._told.pop("reflect", None)
        if done.pages:  # in a folder that is new, what comes next may be heard too late
            self._look_again_in(SETTLE_SECONDS)
        pages, beliefs = len(done.pages), len(done.beliefs)
        told = f"{many(pages, 'page')} written, {many(beliefs, 'belief')} moved" if done.pages else "nothing changed"
        told += f", {many(done.conflicts, 'conflict')}" if done.conflicts else ""
        data = {"pages": done.pages, "beliefs": [moved.ref for moved in done.beliefs], "conflicts": done.conflicts}
        yield Noticed("reflect", f"reflect: {told}", data)
        for note in done.notes:
            yield Noticed("note", f"reflect: {note}", trouble=True)

    def _embed(self) -> Iterator[Noticed]:
        """Give new lines their vectors, a second at a time, as long as nothing changes and no reflect is due."""
        while self._embeds and not self._events.has_changed and not (self._due and self._given.now >= self._due):
            from ..vectors import models
            from ..vectors.embed import embed

            try:
                self._embedder = self._embedder or models.choose(self._workspace)
            except MemctlError as error:
                yield from self._trouble("vectors", f"{error.what}; {error.cure}")
            if self._embedder is None:
                self._embeds = False
                return
            deadline = time.monotonic() + EMBED_SECONDS
            report = self._memory().run(partial(embed, embedder=self._embedder, deadline=deadline))
            self._made += report.made
            if report.problem:
                self._embeds = False
                yield from self._trouble("vectors", f"{report.problem.what}; going on without vectors")
            elif report.missing and report.made:
                continue
            elif report.missing and report.stopped:  # another memctl embeds, or a page is not as it was read
                self._look_again_in(RETRY_SECONDS)
            break
        if self._made and self._embedder is not None and not self._events.has_changed:
            data = {"made": self._made, "model": self._embedder.name}
            yield Noticed("embedded", f"{many(self._made, 'line')} embedded", data)
            self._made = 0


def _next(at: time_of_day, now: datetime) -> datetime:
    """The first moment after `now` at that time of day."""
    due = datetime.combine(now.date(), at)
    return due if due > now else due + timedelta(days=1)


def _is_blank(root: str) -> bool:
    """True for a folder with neither a sign of a workspace nor a page at its top: what a disk that is gone leaves."""
    signs = (SETTINGS, ".memory", "memory", "bank")
    return not any(name in signs or name.lower().endswith(".md") for name in os.listdir(root))


def _look(memory: OpenMemory, wait: float) -> tuple[SyncReport, _Lines | None]:
    """Sync, and count the lines that came and went where few pages changed."""
    workspace, index = memory.workspace, memory.index
    if index.instead:  # each look would read everything into memory, for nothing
        raise CannotWrite(str(workspace.memory), index.instead)
    found, known = workspace.scan(), index.known()
    steps = changes(found, known)
    if not steps:
        problems = {row.path: row.problem for row in known if row.problem}
        return SyncReport(unchanged=len(found), problems=problems), {}
    if len(steps) > 4 * _APART:
        return sync(workspace, index, wait=wait), None
    before = {step.path: line_counts(index, step.path) for step in steps}
    report = sync(workspace, index, wait=wait, found=found)  # what comes meanwhile is told by the next look
    lines: _Lines = {}
    for path, was in before.items():
        now = line_counts(index, path)
        if now != was:
            lines[path] = (now - was).total(), (was - now).total()
    return report, lines


def _begun(report: SyncReport, workspace: Workspace) -> Noticed:
    pages = report.read + report.unchanged
    data = {"workspace": str(workspace.root), "pages": pages, "read": report.read, "dropped": report.dropped}
    changed = _counted(report).replace(" pages", "").replace(" page", "") or "nothing changed"
    return Noticed("start", f"{workspace.root}: {many(pages, 'page')}, {changed}", data)


def _problems(problems: Mapping[str, str]) -> Iterator[Noticed]:
    for path, problem in sorted(problems.items()):
        yield Noticed("problem", f"{path}: {problem}", {"path": path, "problem": problem}, trouble=True)


def _counted(report: SyncReport) -> str:
    read, dropped = report.read, report.dropped
    told = [f"{many(read, 'page')} read"] if read else []
    told += [f"{dropped:,} dropped" if read else f"{many(dropped, 'page')} dropped"] if dropped else []
    return ", ".join(told)


def _changes(report: SyncReport, lines: _Lines | None) -> Iterator[Noticed]:
    """A line for each page that changed, or one for all of them."""
    if lines is not None and len(lines) <= _APART:
        for path, (come, went) in sorted(lines.items()):
            told = [f"{many(come, 'line')} new"] if come else []
            told += [f"{went:,} gone" if come else f"{many(went, 'line')} gone"] if went else []
            yield Noticed("change", f"{path}: {', '.join(told)}", {"path": path, "new": come, "gone": went})
    elif report.changed:
        yield Noticed("changes", _counted(report), {"read": report.read, "dropped": report.dropped})


# -- events of the folder ---------------------------------------------------------------------------------------------
QUIET = 0.2  # seconds without an event after which a burst counts as over
LONGEST = 2.0  # seconds after which it is looked at even if it goes on
_LOOK = 1.0  # how often it is checked, while waiting, that the folder is still the same
_SHORT = {
    errno.ENOSPC: "more folders than the system watches (fs.inotify.max_user_watches)",
    errno.EMFILE: "no watch left on this system (fs.inotify.max_user_instances)",
}
_KINDS = {"created", "modified", "deleted", "moved", "closed"}  # not "opened": reading a page is not a change


class FolderEvents:
    """Waits for changes of pages, folders and settings under one folder at a time; what is hidden (`.memory`, `.git`) does not count.

    watchdog (extra `watch`) sends events. What has changed, a scan decides: events get lost. Where the system has no watches
    left, `problem` says so, and whoever waits looks every few seconds instead.
    """

    def __init__(self) -> None:
        try:
            from watchdog.observers import Observer
        except ImportError as error:
            raise ExtraMissing("watch", "watchdog") from error
        logging.getLogger("watchdog").addHandler(logging.NullHandler())
        logging.getLogger("watchdog").propagate = False
        # It warns of every folder that it met twice in a burst: pages of text about itself, and harmless.
        warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"watchdog\.")
        self._make: Any = Observer
        self._observer: Any = None
        self._root = ""
        self._covered: tuple[int, int] | None = None
        self._changed: SimpleQueue[None] = SimpleQueue()  # unlike an Event, safe amid a signal
        self.is_over = False
        self._last = 0.0
        self._lost = False
        self.problem: str | None = None  # why no event will come (None: they will)

    def start(self, root: Path) -> None:
        """Listen to this folder from now on, and to no other. OSError where it is not there."""
        self.stop()
        status = os.stat(root)
        self._root, self._covered, self._lost, self.problem = str(root), (status.st_dev, status.st_ino), False, None
        observer = self._make()
        observer.daemon = True
        try:
            _schedule(observer, self, self._root)
            observer.start()
            self.problem = _short_of_watches(self._root)
        except OSError as error:
            self.problem = _SHORT.get(error.errno or 0, f"the folder cannot be watched: {error.strerror or error}")
        except RuntimeError as error:  # no more threads
            self.problem = str(error)
        self._observer = observer

    def stop(self) -> None:
        """Stop listening; waits for threads of the system for a moment at most."""
        observer, self._observer, self._covered = self._observer, None, None
        if observer is not None:
            with suppress(OSError, RuntimeError, KeyError):
                observer.stop()
                if observer.is_alive():
                    observer.join(0.5)

    def covers(self, root: Path) -> bool:
        """True if this very folder is listened to: not one of that name that was moved away or made again."""
        if self._covered is None or self._lost or str(root) != self._root:
            return False
        threads = () if self.problem else (self._observer, *self._observer.emitters)
        with suppress(OSError):
            status = os.stat(root)
            return (status.st_dev, status.st_ino) == self._covered and all(thread.is_alive() for thread in threads)
        return False

    def notify(self) -> None:
        """Something may have changed."""
        self._last = time.monotonic()
        if self._changed.empty():
            self._changed.put(None)

    def end(self) -> None:
        """Let `watch` end at its next turn. A handler of signals may call it."""
        self.is_over = True
        self._changed.put(None)

    @property
    def has_changed(self) -> bool:
        """True if something may have changed since the last `wait`, or watching is over."""
        return self.is_over or not self._changed.empty()

    def wait(self, seconds: float) -> bool:
        """Wait until something changes and the burst is over, the folder is another one, or `seconds` are up (then False)."""
        end = time.monotonic() + seconds
        while not self.is_over:
            with suppress(Empty):
                self._changed.get(timeout=max(0.0, min(_LOOK, end - time.monotonic())))
                break
            if self._covered is not None and not self.covers(Path(self._root)):
                return True
            if time.monotonic() >= end:
                return False
        begin = time.monotonic()
        while (quiet := time.monotonic() - self._last) < QUIET and time.monotonic() - begin < LONGEST:
            time.sleep(QUIET - quiet)
        while not self._changed.empty():  # before anybody looks: what comes while they do counts again
            self._changed.get()
        return True

    def dispatch(self, event: Any) -> None:
        """Take note of an event, if it may be about a page; watchdog calls this for each."""
        if event.event_type not in _KINDS:
            return
        for name in (event.src_path, getattr(event, "dest_path", "")):
            path = os.fsdecode(name)
            if path == self._root and event.event_type in ("deleted", "moved"):
                self._lost = True
                self.notify()
            elif path and self._concerns(path, event.is_directory, event.event_type):
                self.notify()

    def _concerns(self, path: str, is_folder: bool, what: str) -> bool:
        inside = os.path.relpath(path, self._root).split(os.sep)
        if any(part.startswith(".") or part in SKIPPED for part in inside):
            return False
        if is_folder:
            return what != "modified"  # each file in it that comes or goes says so itself
        return path.lower().endswith((".md", ".markdown")) or inside == [SETTINGS]


def _schedule(observer: Any, handler: FolderEvents, root: str) -> None:
    """Ask for the events that count alone, where watchdog can be asked: a scan opens and closes every page."""
    from watchdog import events

    ends = ("CreatedEvent", "ModifiedEvent", "DeletedEvent", "MovedEvent", "FileClosedEvent")
    wanted = [kind for name, kind in vars(events).items() if name.endswith(ends)]
    try:
        observer.schedule(handler, root, recursive=True, event_filter=wanted)
    except TypeError:  # watchdog 4
        observer.schedule(handler, root, recursive=True)


def _short_of_watches(root: str) -> str | None:
    """What to say where Linux watches fewer folders than there are: watchdog passes over those that it gets no watch for."""
    infos = Path("/proc/self/fdinfo")
    if not infos.is_dir():
        return None
    watched = 0
    for info in infos.iterdir():
        with suppress(OSError):
            watched += info.read_text().count("inotify wd:")
    folders = 1
    for above, below, _ in os.walk(root):
        inside = (os.path.join(above, name) for name in below)
        folders += sum(os.access(path, os.R_OK) and not os.path.islink(path) for path in inside)
    left = folders - watched
    return f"no watch on {left:,} of {folders:,} folders (fs.inotify.max_user_watches)" if left > 0 else None
