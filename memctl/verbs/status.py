"""Status: what the workspace holds, how fresh the index is, what it costs, what is missing."""

from __future__ import annotations

import platform
from dataclasses import asdict, dataclass
from typing import Any

from .. import __version__
from ..store.heal import with_index
from ..store.index import Index
from ..store.questions import census
from ..store.workspace import Workspace
from .sync import sync

__all__ = ["Status", "status"]


@dataclass(frozen=True, slots=True)
class Status:
    """Counts of entries by kind and of pages; sizes in bytes; `problems` by page."""

    workspace: str
    kinds: dict[str, int]
    pages: int
    first_day: str | None
    last_day: str | None
    entities: int
    beliefs: int
    markdown_bytes: int
    index_bytes: int
    fresh: bool
    stale: str | None
    problems: dict[str, str]
    search: str
    versions: dict[str, str]

    def as_json(self) -> dict[str, Any]:
        """The same as plain values."""
        return asdict(self)

    def lines(self) -> list[tuple[str, object]]:
        """(what, value) for people."""
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in self.kinds.items()) or "none"
        days = f", {self.first_day} to {self.last_day}" if self.first_day else ""
        return [
            ("workspace", self.workspace),
            ("entries", kinds),
            ("pages", f"{self.pages:,}{days}"),
            ("entities", f"{self.entities:,} with a page"),
            ("beliefs", f"{self.beliefs:,} in bank/opinions.md"),
            (
                "index",
                f"{'fresh' if self.fresh else 'stale: ' + str(self.stale)}, {_size(self.index_bytes)} for {_size(self.markdown_bytes)}",
            ),
            ("search", self.search),
            *(("problem", f"{path}: {problem}") for path, problem in sorted(self.problems.items())),
            ("versions", ", ".join(f"{name} {version}" for name, version in self.versions.items())),
        ]


def status(workspace: Workspace) -> Status:
    """The state of a workspace, after bringing its index up to date within the usual time."""
    return with_index(workspace, lambda index: _status(workspace, index))


def _status(workspace: Workspace, index: Index) -> Status:
    report = sync(workspace, index, wait=0, seconds=workspace.settings.sync_seconds)
    counted = census(index)
    pages, size, _, first, last = counted["pages"][0]
    path = workspace.memory / "index.sqlite"
    files = (path, path.with_name(path.name + "-wal"))
    return Status(
        workspace=str(workspace.root),
        kinds=dict(counted["kinds"]),
        pages=pages,
        first_day=first,
        last_day=last,
        entities=counted["entities"][0][0],
        beliefs=counted["beliefs"][0][0],
        markdown_bytes=size or 0,
        index_bytes=sum(file.stat().st_size for file in files if file.exists()),
        fresh=report.stale is None,
        stale=report.stale,
        problems=report.problems,
        search="words, names and dates; no vectors in this version",
        versions={"memctl": __version__, "python": platform.python_version(), "sqlite": counted["sqlite"][0][0]},
    )


def _size(count: int) -> str:
    return f"{count / 2**20:,.1f} MiB" if count >= 2**20 else f"{count / 1024:,.1f} KiB"
