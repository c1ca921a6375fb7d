"""Has anything under a workspace changed since the last question? On Linux the kernel knows; elsewhere nobody says.

The kernel queues an event before the call that made the change returns, so a program that writes and then asks is never
told "no". watchdog, which `memctl watch` uses, waits half a second for the other half of a rename, and so cannot say it.
"""

from __future__ import annotations

import ctypes
import os
import sys
from contextlib import suppress

from ..notes.workspace import Workspace

__all__ = ["Inotify"]

_MODIFY, _ATTRIB, _MOVED_FROM, _MOVED_TO, _CREATE, _DELETE, _GONE, _MOVED = 2, 4, 64, 128, 256, 512, 1024, 2048
_ONLY_FOLDERS, _NO_LINKS = 0x01000000, 0x02000000
_WANTED = _MODIFY | _ATTRIB | _MOVED_FROM | _MOVED_TO | _CREATE | _DELETE | _GONE | _MOVED | _ONLY_FOLDERS | _NO_LINKS
_PIECE = 1 << 16


class Inotify:
    """Watches the folders of a workspace. Not for files on a network, nor for writes through a memory map or another hard
    link: whoever asks has to look for himself now and then."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._fd = -1
        self._add = None
        if sys.platform == "linux":
            with suppress(OSError, AttributeError):
                system = ctypes.CDLL(None, use_errno=True)
                self._add = system.inotify_add_watch
                self._fd = system.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        self._armed = False

    def rang(self) -> bool:
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
        """Watch every folder that may hold pages; False where the system lets us watch no more.

        Each is watched before it is listed, so that a folder made meanwhile rings.
        """
        whole = self._hears(os.fsencode(self._workspace.root))
        for folder, names, _ in os.walk(self._workspace.root):
            names[:] = [name for name in names if not name.startswith(".") and name not in self._workspace.skipped]
            whole = all([whole, *(self._hears(os.fsencode(os.path.join(folder, name))) for name in names)])
        return whole

    def _hears(self, folder: bytes) -> bool:
        return bool(self._add and self._add(self._fd, folder, _WANTED) >= 0)

    def close(self) -> None:
        """Stop watching."""
        if self._fd >= 0:
            os.close(self._fd)
        self._fd = -1
