"""What may leave this machine through a server: which lines are private, and answers and pages without them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

from ..facts import Citation
from ..hits import Answer, Hit
from ..markdown.private import cites, private_lines_of_text
from ..markdown.private import without_private_lines as without_private_lines
from .index import Index

PRIVATE = "private"
"""What stands in the place of the id of a private line that replaced a shown one: that it is outdated, but not by what."""


class Private(NamedTuple):
    """The private lines of a workspace: their ids, and every line of a page on which one stands."""

    refs: frozenset[str] = frozenset()
    places: frozenset[tuple[str, int]] = frozenset()

    def holds(self, citation: Citation) -> bool:
        """True if a citation points at a line that is private."""
        return any((citation.path, n) in self.places for n in range(citation.line, citation.end_line + 1))


NOTHING_PRIVATE = Private()


def without_private(answer: Answer, private: Private = NOTHING_PRIVATE) -> Answer:
    """An answer without private lines, and without what only they say: ways over them, versions, twins, evidence, copies."""
    hits = tuple(_shared(answer.hits, private))
    related = None if answer.related is None else tuple(_shared(answer.related, private))
    return answer._replace(hits=hits, related=related)


def _shared(hits: Iterable[Hit], private: Private) -> Iterable[Hit]:
    for hit in hits:
        if hit.private or cites(hit.content, private.refs) or private.refs & set(hit.via):
            continue
        told, asked = hit.superseded_by in private.refs, hit.perhaps_superseded_by in private.refs
        yield replace(
            hit,
            heading="" if private_lines_of_text(hit.heading) else hit.heading,
            heading_path=tuple(h for h in hit.heading_path if not private_lines_of_text(h)),
            passage=tuple(line for line in hit.passage if not cites(line.content, private.refs)),
            superseded_by=PRIVATE if told else hit.superseded_by,
            perhaps_superseded_by=None if asked else hit.perhaps_superseded_by,
            also=_public(hit.also, private),
            evidence=_public(hit.evidence, private),
            belief=None if hit.belief and private.holds(hit.belief) else hit.belief,
            history=tuple(v for v in hit.history if not v.private and not private.holds(v.source)),
            parts={name: value for name, value in hit.parts.items() if name != "near"},
        )


def _public(citations: Iterable[Citation], private: Private) -> tuple[Citation, ...]:
    return tuple(citation for citation in citations if not private.holds(citation))


def private_ids(index: Index) -> frozenset[int]:
    """The ids of all private entries; asked for once until the index changes."""
    return index.remembered("private", lambda: frozenset(row[0] for row in index.rows(_IDS)))


def private_entries(index: Index) -> Private:
    """The private lines of the workspace, by id and by place; asked for once until the index changes."""
    return index.remembered("private places", lambda: _private_entries(index)) if private_ids(index) else Private()


def _private_entries(index: Index) -> Private:
    found = index.rows(_ENTRIES)
    places = frozenset((path, n) for _, path, line, end_line in found for n in range(line, end_line + 1))
    return Private(frozenset(row[0] for row in found), places)


_IDS = "SELECT id FROM entry WHERE private = 1"
_ENTRIES = "SELECT ref, path, line, end_line FROM entry CROSS JOIN page ON page.id = entry.page WHERE private = 1"
