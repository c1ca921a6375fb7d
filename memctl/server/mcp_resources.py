"""The resources of `memctl mcp`: the core page, pinned pages, the newest logs and entity pages, as Markdown without private lines."""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import quote, unquote

from ..errors import NothingFound
from .mcp_tools import Session

__all__ = ["PAGE_OF_LIST", "TEMPLATES", "Listed", "listed", "read"]

PAGE_OF_LIST = 100
"""Resources in one page of the list."""
TEMPLATES = (
    ("entity", "memctl://entity/{name}", "The page of a person, project or thing, by any of its names."),
    ("log", "memctl://log/{day}", "The log of a day: 2025-11-27."),
)


class Listed(NamedTuple):
    """One resource: where it is, what it is called, what it is."""

    uri: str
    title: str
    description: str


def listed(session: Session, start: int = 0) -> tuple[list[Listed], int | None]:
    """The resources from number `start` on, and with which number the next page of the list begins."""
    found = session.memory.public_pages()
    end = start + PAGE_OF_LIST
    shown = [
        Listed(
            f"memctl://{page.kind}/{quote(page.name, safe='' if page.kind == 'entity' else '/')}",
            page.name,
            page.description,
        )
        for page in found[start:end]
    ]
    return shown, end if end < len(found) else None


def read(session: Session, uri: str) -> str:
    """The text of a resource; NothingFound for one that is not offered, whatever stands on disk."""
    match = re.fullmatch(r"memctl://(page|log|entity)/(.+)", uri, re.DOTALL)
    if not match or len(uri) > 4096:
        raise NothingFound(f"there is no resource {uri[:200]!r}", "resources/list has them all")
    return session.memory.public_page(match[1], unquote(match[2]))
