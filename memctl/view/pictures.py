"""Drawings and pages of a memory; what draws is loaded when it is first needed, and may not be installed."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import ExtraMissing
from ..index.open_memory import OpenMemory
from ..notes.token import token_of, view_key

if TYPE_CHECKING:
    from .graph import EntityGraph
    from .timeline import Timeline


class ViewWritten(NamedTuple):
    """What `memctl view --out` wrote: how many pages, of how many bytes, and what there was no room for."""

    pages: int
    size: int
    left_out: tuple[str, ...]


class Pictures(NamedTuple):
    """What can be drawn of a memory. Every method raises ExtraMissing without `[view]`."""

    memory: OpenMemory

    def svg(self, drawn: Timeline | EntityGraph) -> str:
        """A timeline or a graph as SVG, with every line that it was made of: the owner's private ones too."""
        return str(_drawing("charts").picture(drawn))

    def write(self, folder: Path) -> ViewWritten:
        """Write the pages into a folder: what others than the owner may see."""
        return ViewWritten(*_drawing("site").write_view(self.memory.public(), folder))

    def page(self, path: str, query: str | None = None) -> str | None:
        """One of these pages, or a stylesheet, by its path; `query` is what the page of search looks for."""
        made: str | None = _drawing("site").view_page(self.memory.public(), path, query)
        return made

    def key(self) -> str:
        """What opens the pages of `memctl serve` in a browser and nothing else."""
        return view_key(token_of(self.memory.workspace)[1])


def _drawing(module: str) -> Any:
    try:
        return import_module(f".{module}", __package__)
    except ImportError as error:
        raise ExtraMissing("view", f"what draws pictures (package {error.name})") from None
