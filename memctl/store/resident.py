"""A workspace held open by a process that answers many questions: servers, `watch`, and programs that call the library."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from .heal import with_index
from .index import Index
from .workspace import Workspace

__all__ = ["Resident"]

T = TypeVar("T")


class Resident:
    """One workspace, many questions, from any thread. `close` when done; also a context manager."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace

    def run(self, job: Callable[[Index], T]) -> T:
        """What `job` makes of the index, as `with_index` would have it."""
        return with_index(self.workspace, job)

    def close(self) -> None:
        """Let go of what is held open; `run` afterwards opens it again."""

    def __enter__(self) -> Resident:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
