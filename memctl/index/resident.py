"""A workspace held open by a process that answers many questions: servers, and programs that call the library."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from ..errors import MemctlError
from ..notes.settings import SETTINGS, read_settings
from ..notes.workspace import SKIPPED, Workspace
from ..system import inotify
from .heal import DAMAGE, close_index, open_index, seal_holds, state_of, with_index
from .index import Index

if TYPE_CHECKING:
    from .sync import SyncReport

_MODIFY, _ATTRIB, _MOVED_FROM, _MOVED_TO, _CREATE, _DELETE, _GONE, _MOVED = 2, 4, 64, 128, 256, 512, 1024, 2048
_ONLY_FOLDERS, _NO_LINKS = 0x01000000, 0x02000000
_WANTED = _MODIFY | _ATTRIB | _MOVED_FROM | _MOVED_TO | _CREATE | _DELETE | _GONE | _MOVED | _ONLY_FOLDERS | _NO_LINKS
_PIECE = 1 << 16


class FolderWatch:
    """Watches the folders of a workspace. Not for files on a network, nor for writes through a memory map or another hard
    link: callers must look at the files now and then."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._fd, self._add = inotify()
        self._armed = False

    def has_changed(self) -> bool:
        """True when something changed since the last call, or may have; folders that are new are watched from now on."""
        if self._fd < 0:
            return True
        changed = not self._armed
        try:
            while os.read(self._fd, _PIECE):
                changed = True
        except BlockingIOError:
            pass
        except OSError:
            changed, self._armed = True, False
        if changed:
            self._armed = self._watch()
        return changed

    def _watch(self) -> bool:
        """Watch every folder that may hold pages; False where the system allows no further watches.

        Each is watched before it is listed, so that a folder made meanwhile is noticed.
        """
        watched = [self._add(self._fd, os.fsencode(self._workspace.root), _WANTED)]
        for folder, names, _ in os.walk(self._workspace.root):
            names[:] = [name for name in names if not name.startswith(".") and name not in SKIPPED]
            watched += [self._add(self._fd, os.fsencode(os.path.join(folder, name)), _WANTED) for name in names]
        return min(watched) >= 0

    def close(self) -> None:
        """Stop watching."""
        if self._fd >= 0:
            os.close(self._fd)
        self._fd = -1


class Closable(Protocol):
    """What a room holds open between calls."""

    def close(self) -> None: ...


T = TypeVar("T")
C = TypeVar("C", bound=Closable)
_MOST_IDLE = 4
_TRUSTED, _LONGEST = 1.0, 10.0  # seconds for which the watch is believed without a look: some changes raise no event
_REST = 50  # times as long as a look took: 20,000 files take .2 s, which would else be a sixth of the time


class Resident:
    """One workspace, many questions, from any thread. `close` when done; also a context manager.

    What the index answered is remembered until it changes, a connection is used again as long as its file is as we left
    it, and where nothing in the folder changed since the last sync, the next question needs none.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._read_at = _state_of_settings(workspace)
        self._lock = threading.RLock()
        self._idle: list[Index] = []
        self._watch: FolderWatch | None = None
        self._turn = 0
        self._settled: tuple[float, SyncReport] | None = None
        self._kept: dict[Callable[[], Any], Any] = {}
        self._view: Resident | None = None

    @property
    def workspace(self) -> Workspace:
        """The workspace with its settings as they are now: a page that is ignored from now on is never shown again.

        The model stays the one that was chosen at the start; settings that cannot be read change nothing.
        """
        if (state := _state_of_settings(self._workspace)) != self._read_at:
            with suppress(MemctlError):
                read = read_settings(self._workspace.root / SETTINGS)
                read = read._replace(model=self._workspace.settings.model)
                self._workspace = self._workspace._replace(settings=read)
            self._read_at = state
        return self._workspace

    def run(self, job: Callable[[Index], T]) -> T:
        """What `job` makes of the index, as `with_index` would have it: one that is damaged is made again, and so is the job."""
        index = self._take()
        damaged = False
        try:
            return job(index)
        except DAMAGE:
            damaged = True
        finally:
            self._give_back(index, damaged)
        self._unsettle()
        return with_index(self.workspace, job)

    def _take(self) -> Index:
        while True:
            with self._lock:
                index = self._idle.pop() if self._idle else None
            if index is None:
                self._unsettle()  # a new index may know nothing yet
                index = open_index(self.workspace)
                index.stays = True
                return index
            if seal_holds(index.path):
                return index
            close_index(index)

    def _give_back(self, index: Index, damaged: bool) -> None:
        """Keep what can be used again: not what was written through, since the next process wants to know how we left it."""
        if not damaged and index.path and not index.unsealed:
            with self._lock:
                if len(self._idle) < _MOST_IDLE:
                    self._idle.append(index)
                    return
        index.unsealed = index.unsealed and not damaged
        close_index(index)

    def synced(self, sync: Callable[[], SyncReport]) -> SyncReport:
        """What `sync` finds; or what it found last, if nothing changed since and the index was fresh then."""
        with self._lock:
            self._watch = self._watch or FolderWatch(self.workspace)
            if self._watch.has_changed():
                self._unsettle()
            began, turn = time.monotonic(), self._turn
            if self._settled and began <= self._settled[0]:
                return self._settled[1]
        found = sync()
        now = time.monotonic()
        with self._lock:
            if found.stale is None and turn == self._turn:
                self._settled = now + min(max(_TRUSTED, _REST * (now - began)), _LONGEST), found
        return found

    def _unsettle(self) -> None:
        with self._lock:
            self._turn += 1
            self._settled = None

    def keep(self, make: Callable[[], C]) -> C:
        """What `make` made the first time; it is closed with this. For rooms above, which hold files of their own open."""
        with self._lock:
            if make not in self._kept:
                self._kept[make] = make()
            kept: C = self._kept[make]
            return kept

    def view(self, workspace: Workspace) -> Resident:
        """The same for a public view of this workspace; closed with this, or when other lines are hidden."""
        with self._lock:
            old = self._view
            if old and old.workspace.hides == workspace.hides:
                return old
            self._view = made = Resident(workspace)
        if old:
            old.close()
        return made

    def close(self) -> None:
        """Let go of what is held open; `run` afterwards opens it again."""
        if self._view:
            self._view.close()
        with self._lock:
            idle, self._idle, watch, self._watch = self._idle, [], self._watch, None
            kept, self._kept = self._kept, {}
            self._settled = None
        for each in kept.values():
            each.close()
        for index in idle:
            close_index(index)
        if watch:
            watch.close()

    def __enter__(self) -> Resident:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _state_of_settings(workspace: Workspace) -> list[int]:
    """What changes when the settings are written."""
    with suppress(OSError):
        return state_of(workspace.root / SETTINGS)
    return []
