"""Who bears a name: entities with a page, their aliases, and names by the word they begin with."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from ...language.names import entity_key
from ...language.names_in_text import Listed, by_head
from ..index import Index

__all__ = ["Entity", "all_entities", "bearers", "has_entities", "keys_of", "listed_names", "resolve"]

_FEW = 512  # names that are read at once, at the first question;
_MANY = 20_000  # as many by a process that asks on,
_OFTEN = 1_000  # once it has looked so many names up one by one

_ALIASES = "SELECT key, page, head, stem, name FROM alias"
_ENTITY = (
    "SELECT entity.key, entity.name, entity.type, page.path, entity.page FROM entity JOIN page ON page.id = entity.page"
)


class Entity(NamedTuple):
    """An entity with a page: its key, its name as a person writes it, every key it goes by, and where its page is."""

    key: str
    name: str
    type: str | None
    path: str
    keys: tuple[str, ...] = ()
    names: tuple[str, ...] = ()


class _Names:
    """All names of a workspace. It answers what the statements below answer."""

    def __init__(self, index: Index) -> None:
        aliases: dict[int, list[tuple[str, str]]] = {}
        listed: list[tuple[str, int, str, str]] = []
        self._by_key: dict[str, list[int]] = {}
        for key, page, head, stem, name in index.rows(f"{_ALIASES} ORDER BY key, page"):
            aliases.setdefault(page, []).append((key, name))
            self._by_key.setdefault(key, []).append(page)
            listed.append((head, page, stem, name))
        self.entities: dict[int, Entity] = {}
        self._by_word: dict[str, list[int]] = {}
        for *row, page in index.rows(f"{_ENTITY} ORDER BY entity.page"):
            self.entities[page] = _with_aliases(row, aliases.get(page, ()))
            word, space, _ = row[0].partition(" ")
            if word and space:
                self._by_word.setdefault(word, []).append(page)
        self.by_head = by_head(
            (head, Listed(stem, name, self.entities[page].name)) for head, page, stem, name in listed
            if page in self.entities
        )  # fmt: skip

    def resolve(self, key: str) -> list[Entity]:
        """The bearers of a name key; those whose full name begins with it, where nobody bears it."""
        pages = self._by_key.get(key) or self._by_word.get(key) or ()
        return [self.entities[page] for page in pages if page in self.entities]


class _Lookups:
    """How many names there are, up to some number, and how often they were asked for one by one."""

    def __init__(self, index: Index) -> None:
        self.count, self.asked = _count(index, _FEW), 0
        self.names = _Names(index) if 0 < self.count <= _FEW else None


def _lookups(index: Index) -> _Lookups:
    return index.remembered("names", lambda: _Lookups(index))


def _names(index: Index) -> _Names | None:
    """All names, where they are few, or where a process asks for so many that they are worth reading."""
    if index.is_writing:
        return None
    found = _lookups(index)
    if not found.names:
        found.asked += 1
        if found.asked == _OFTEN and _count(index, _MANY) <= _MANY:
            found.names = _Names(index)
    return found.names


def _count(index: Index, most: int) -> int:
    """How many names there are; of more than `most`, one more than that."""
    return int(index.rows("SELECT count(*) FROM (SELECT 1 FROM alias LIMIT ?)", (most + 1,))[0][0])


def resolve(index: Index, name: str) -> list[Entity]:
    """The entities that a name may mean; one is an answer, several are a choice that only the asker can make.

    Exact name or alias first; else, for a single word, the full names that begin with it.
    """
    key = entity_key(name)
    if known := _names(index):
        return known.resolve(key)
    pages = index.rows("SELECT page FROM alias WHERE key = ?", (key,))
    if not pages and key and " " not in key:
        # A full name starts with the word and a space; "!" is the character after the space.
        pages = index.rows("SELECT page FROM entity WHERE key >= ? AND key < ? ORDER BY key", (key + " ", key + "!"))
    return [
        _with_names(index, row)
        for row in index.rows_in(f"{_ENTITY} WHERE entity.page IN ({{keys}})", (p for (p,) in pages))
    ]


def keys_of(index: Index, name: str) -> tuple[str, ...]:
    """Every key under which the bearer of a name is written, its page's own first; unless exactly one entity fits, itself."""
    found = resolve(index, name)
    key = entity_key(name)
    return tuple(dict.fromkeys((found[0].key, key, *found[0].keys))) if len(found) == 1 else (key,)


def _with_names(index: Index, row: tuple[Any, ...]) -> Entity:
    return _with_aliases(row[:4], index.rows("SELECT key, name FROM alias WHERE page = ? ORDER BY key", (row[4],)))


def _with_aliases(about: Iterable[Any], aliases: Iterable[tuple[Any, ...]]) -> Entity:
    listed = list(aliases)
    key, name, kind, path = about
    return Entity(key, name, kind, path, tuple(key for key, _ in listed), tuple(name for _, name in listed))


def all_entities(index: Index) -> list[Entity]:
    """Every entity that has a page, by name."""
    return [_with_names(index, row) for row in index.rows(f"{_ENTITY} ORDER BY entity.key")]


def bearers(index: Index) -> dict[str, str]:
    """The page of every name and alias, by key; the first page, where several bear one name."""
    rows = index.rows(
        "SELECT alias.key, page.path FROM alias JOIN page ON page.id = alias.page ORDER BY page.path DESC"
    )
    return dict(rows)


def listed_names(index: Index, wanted: Iterable[str]) -> dict[str, list[Listed]]:
    """The names that begin with one of these heads (language/names_in_text.py), by head."""
    if known := _names(index):
        return {head: known.by_head[head] for head in wanted if head in known.by_head}
    sql = (
        "SELECT alias.head, alias.stem, alias.name, entity.name FROM alias JOIN entity ON entity.page = alias.page "
        "WHERE alias.head IN ({keys}) ORDER BY alias.head, entity.key"
    )
    return by_head((head, Listed(*rest)) for head, *rest in index.rows_in(sql, wanted))


def has_entities(index: Index) -> bool:
    """False in a workspace without a single entity page."""
    return bool(index.rows("SELECT 1 FROM entity LIMIT 1") if index.is_writing else _lookups(index).count)
