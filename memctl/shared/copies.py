"""The copy of a shared workspace that a reader keeps: `.memory/shared/NAME/`, pages as they were published, with an index.

It is derived: what is asked first is whether the server has another revision, and then only what changed travels. The
copy is a workspace like any other, so recall ranks in it as it ranks at home.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import MemctlError, ServerFailed
from ..notes.files import prepare_memory, write_derived
from ..notes.workspace import Workspace
from ..system import locked
from .server import SharedSession, SharedWorkspace

_SECONDS = 60.0  # the longest wait for another process that brings the same copy up to date
_STATE, _HEADS = "copy.json", "heads.json"


class CopyState(NamedTuple):
    """What a copy is of. While pages are being written it is not `whole`, and holds at least what it held before."""

    server: str
    generation: str
    revision: int
    ttl: str
    whole: bool


class Copy:
    """The copy of one shared workspace, below the derived folder of the reader's own."""

    def __init__(self, workspace: Workspace, name: str) -> None:
        self.name, self._reader = name, workspace
        self.root = workspace.memory / "shared" / name

    @property
    def workspace(self) -> Workspace:
        """The copy as a workspace: the reader's settings, how long the publisher keeps facts, all pages."""
        state = self.state()
        ttl = tuple((str(key), str(span)) for key, span in json.loads(state.ttl)) if state else ()
        return Workspace(
            self.root,
            self._reader.settings._replace(ignore=(), aliases=None, ttl=ttl, model="none", sync_seconds=3600.0),
        )

    @property
    def _derived(self) -> Path:
        return self.root / ".memory"

    def state(self) -> CopyState | None:
        """What it is of; None where there is none, or nothing that can be read."""
        with suppress(OSError, ValueError, TypeError):
            return CopyState(*json.loads((self._derived / _STATE).read_bytes()))
        return None

    def heads(self) -> dict[str, str]:
        """The commit of each page that stands in one."""
        with suppress(OSError, ValueError):
            found: dict[str, str] = json.loads((self._derived / _HEADS).read_bytes())
            return found
        return {}

    def is_current(self, server: str, row: SharedWorkspace) -> bool:
        """True if it is what the server has."""
        return self.state() == _state_of(server, row)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Hold the lock of the copy."""
        folder = prepare_memory(self._reader) / "shared"
        folder.mkdir(mode=0o700, exist_ok=True)
        with locked(folder / f".{self.name}.lock", _SECONDS):
            yield

    def fetch(self, at: SharedSession, row: SharedWorkspace) -> bool:
        """Bring its pages to what the server has, within `alone`; True if more than new lines at their ends changed.

        Killed meanwhile, the next one goes on; `settle` ends it.
        """
        state = self.state()
        if (
            not state
            or (state.server, state.generation) != (at.server, row.generation)
            or state.revision > row.revision
        ):
            shutil.rmtree(self.root, ignore_errors=True)
            state = CopyState(at.server, row.generation, 0, "[]", False)
        self._write(_STATE, state._replace(ttl=row.ttl, whole=False))
        has_lost = not state.whole and state.revision > 0
        heads, workspace = self.heads(), self.workspace
        for page in at.changed(self.name, state.revision):
            content = page.content or b""
            if sha256(content).digest() != page.digest:
                raise ServerFailed(f"{at.place} sent {self.name}:{page.path} damaged", "publish that workspace again")
            if _is_page(workspace, page.path):
                heads[page.path] = page.head or f"r{row.revision}"
                with suppress(FileNotFoundError):
                    has_lost |= not content.startswith((self.root / page.path).read_bytes())
                write_derived(self.root / page.path, content)
        if row.removed > state.revision or not state.whole:
            there = at.paths(self.name)
            for path in [each.path for each in workspace.scan() if each.path not in there]:
                heads.pop(path, None)
                (self.root / path).unlink(missing_ok=True)
                has_lost = True
        self._write(_HEADS, heads)
        return has_lost

    def settle(self, server: str, row: SharedWorkspace) -> None:
        """Write down that it is what the server had, and indexed."""
        self._write(_STATE, _state_of(server, row))

    def _write(self, name: str, content: Any) -> None:
        write_derived(self._derived / name, json.dumps(content).encode())

    def drop(self) -> None:
        """Take it away: it was withdrawn, or may no longer be seen here."""
        with self.alone():
            shutil.rmtree(self.root, ignore_errors=True)


def copies_of(workspace: Workspace, server: str) -> list[Copy]:
    """The copies that were made of workspaces on a server."""
    try:
        names = sorted(name for name in os.listdir(workspace.memory / "shared") if not name.startswith("."))
    except OSError:
        return []
    found = (Copy(workspace, name) for name in names)
    return [copy for copy in found if (state := copy.state()) and state.server == server]


def _state_of(server: str, row: SharedWorkspace) -> CopyState:
    return CopyState(server, row.generation, row.revision, row.ttl, True)


def _is_page(workspace: Workspace, path: str) -> bool:
    """False for what no publisher of ours sends: a path that leads out of the copy, or to what is no page."""
    try:
        return workspace.contain(path) == path and workspace.is_page(path)
    except MemctlError:
        return False
