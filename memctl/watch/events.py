"""Events of a folder: that something in it may have changed. What has, a scan decides: events get lost.

watchdog (extra `watch`) sends them. Where the system has no watches left, `problem` says so, and whoever waits looks every
few seconds instead.
"""

from __future__ import annotations

import errno
import logging
import os
import threading
import time
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

from ..errors import ExtraMissing
from ..notes.settings import SETTINGS

QUIET = 0.2  # seconds without an event after which a burst counts as over
LONGEST = 2.0  # seconds after which it is looked at even if it goes on
_LOOK = 1.0  # how often it is checked, while waiting, that the folder is still the same
_KINDS = {"created", "modified", "deleted", "moved", "closed"}  # not "opened": reading a page is no change
_SKIPPED = {"node_modules", "__pycache__", "venv"}


class FolderEvents:
    """Waits for changes of pages, folders and settings under one folder at a time; what is hidden (`.memory`, `.git`) does not count."""

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
        self._changed = threading.Event()
        self._last = 0.0
        self._lost = False
        self.problem: str | None = None
        """Why no event will come (None: they will)."""

    def start(self, root: Path) -> None:
        """Listen to this folder from now on, and to no other. OSError where it is not there."""
        self.stop()
        status = os.stat(root)
        self._root, self._covered, self._lost, self.problem = str(root), (status.st_dev, status.st_ino), False, None
        observer = self._make()
        observer.daemon = True
        try:
            _schedule(observer, _EventHandler(self), self._root)
            observer.start()
            self.problem = _short_of_watches(self._root)
        except OSError as error:
            self.problem = _explained(error)
        except RuntimeError as error:  # no more threads
            self.problem = str(error)
        self._observer = observer

    def stop(self) -> None:
        """Listen no more; does not wait for threads of the system for longer than a moment."""
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
        try:
            status = os.stat(root)
        except OSError:
            return False
        return (status.st_dev, status.st_ino) == self._covered and (self.problem is not None or self._is_alive())

    def distrust(self) -> None:
        """Something changed and no event came: a network, a mount, or folders for which no watch was left."""
        self.problem = self.problem or "changes come here without events"

    def _is_alive(self) -> bool:
        return bool(self._observer.is_alive()) and all(emitter.is_alive() for emitter in self._observer.emitters)

    def notify(self) -> None:
        """Something may have changed."""
        self._last = time.monotonic()
        self._changed.set()

    @property
    def has_changed(self) -> bool:
        """True if something may have changed since the last `wait`."""
        return self._changed.is_set()

    def wait(self, seconds: float) -> bool:
        """Wait until something changes and the burst is over, the folder is another one, or `seconds` are up (then False)."""
        end = time.monotonic() + seconds
        while not self._changed.wait(max(0.0, min(_LOOK, end - time.monotonic()))):
            if self._covered is not None and not self.covers(Path(self._root)):
                return True
            if time.monotonic() >= end:
                return False
        begin = time.monotonic()
        while (quiet := time.monotonic() - self._last) < QUIET and time.monotonic() - begin < LONGEST:
            time.sleep(QUIET - quiet)
        self._changed.clear()  # before anybody looks: what comes while they do counts again
        return True

    def take(self, event: Any) -> None:
        """Take note of an event of watchdog, if it may be about a page."""
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
        if any(part.startswith(".") or part in _SKIPPED for part in inside):
            return False
        if is_folder:
            return what != "modified"  # each file in it that comes or goes says so itself
        return path.lower().endswith((".md", ".markdown")) or inside == [SETTINGS]


class _EventHandler:
    """What watchdog calls for each event."""

    def __init__(self, events: FolderEvents) -> None:
        self._events = events

    def dispatch(self, event: Any) -> None:
        """Pass an event on."""
        self._events.take(event)


def _schedule(observer: Any, handler: _EventHandler, root: str) -> None:
    """Ask for the events that count alone, where watchdog can be asked: a scan opens and closes every page."""
    from watchdog import events

    wanted = [
        getattr(events, name)
        for name in dir(events)
        if name.endswith(("CreatedEvent", "ModifiedEvent", "DeletedEvent", "MovedEvent")) or name == "FileClosedEvent"
    ]
    try:
        observer.schedule(handler, root, recursive=True, event_filter=wanted)
    except TypeError:  # watchdog 4
        observer.schedule(handler, root, recursive=True)


def _explained(error: OSError) -> str:
    if error.errno == errno.ENOSPC:
        return "more folders than the system watches (fs.inotify.max_user_watches)"
    if error.errno == errno.EMFILE:
        return "no watch left on this system (fs.inotify.max_user_instances)"
    return f"the folder cannot be watched: {error.strerror or error}"


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
    return f"{left:,} of {folders:,} folders have no watch (fs.inotify.max_user_watches)" if left > 0 else None
