"""What the index keeps of a page."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ..markdown.grammar import Problem

__all__ = ["Entity", "EntityPage", "PageRows", "Row"]


class Row(NamedTuple):
    """One entry as the index keeps it; dates are ISO strings, which sort as they should.

    `id` is page id << 22 | ordinal, so neighbours on a page are neighbours in the index. The last two fields are no
    columns of `entry`: `path` is that of the page, `own` the search terms (table `words`), empty where nobody asked.
    """

    id: int
    page: int
    ref: str
    role: str
    kind: str
    line: int
    end_line: int
    heading: str
    day: str | None
    first: str | None
    last: str | None
    slot: str | None
    same: int
    marked: int
    confidence: float | None
    importance: float | None
    origin: str
    private: int
    block: str | None
    digest: int
    content_key: int
    length: int
    names: str
    links: str
    task: str | None
    path: str
    own: str = ""


class EntityPage(NamedTuple):
    """What `bank/entities/Slug.md` says of its entity."""

    name: str
    type: str | None
    aliases: tuple[str, ...]


class Entity(NamedTuple):
    """An entity with a page: its key, its name as a person writes it, every key it goes by, and where its page is."""

    key: str
    name: str
    type: str | None
    path: str
    keys: tuple[str, ...] = ()
    names: tuple[str, ...] = ()


class PageRows(NamedTuple):
    """Everything that the index knows of one page."""

    path: str
    day: date | None
    title: str
    entity: EntityPage | None
    rows: tuple[Row, ...]
    problems: tuple[tuple[int, Problem], ...]
