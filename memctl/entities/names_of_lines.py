"""Who is meant by a name: on a line, or without a mark in its text."""

from __future__ import annotations

from ..index.index import Index
from ..index.queries.names import has_entities, listed_names, resolve
from ..language.names import Listed, find_names, heads


class KnownNames:
    """Looks each name up once: plain mentions in texts, and the entities of written names."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._any = has_entities(index)
        self._pages: dict[str, str] = {}
        self._asked: set[str] = set()
        self._listed: dict[str, list[Listed]] = {}
        self._named: dict[str, tuple[str, ...]] = index.remembered("named", dict) if index.stays else {}

    def in_text(self, text: str) -> tuple[str, ...]:
        """The entities that a text names without marking them."""
        if not self._any:
            return ()
        if text not in self._named:
            self._named[text] = self._find(text)
        return self._named[text]

    def _find(self, text: str) -> tuple[str, ...]:
        found = heads(text)
        fresh = found - self._asked
        if fresh:
            self._asked |= fresh
            self._listed |= listed_names(self._index, fresh)
        return () if found.isdisjoint(self._listed) else find_names(text, self._listed)

    def known_as(self, name: str) -> str:
        """The name on the page of its entity; the name itself without a page, or with pages of several entities."""
        if name not in self._pages:
            found = resolve(self._index, name) if self._any else []
            self._pages[name] = found[0].name if len(found) == 1 else name
        return self._pages[name]
