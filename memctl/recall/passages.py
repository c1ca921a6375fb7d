"""Passages: what stands around a found line, so that nobody reads an answer without its heading or its question."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from ..errors import MemctlError
from ..hits import Hit, PassageLine
from ..index.lexical import ORDINAL_BITS
from ..index.open_memory import OpenMemory
from ..index.queries.entries import Query, by_ids, by_refs, is_bare_heading
from ..index.queries.filters import headings_on, headings_with
from ..index.reread import page_lines
from ..index.row import Row
from ..language.sentences import opens_fence
from ..markdown.lines import Role
from ..notes.workspace import TEMPLATES
from .asked import is_mere_date, is_polite, points_back
from .entry_hits import hits_of
from .rank import Found

_FIRST = 3  # hits whose neighbours are looked at
_SAID = frozenset((Role.TEXT.value, Role.ITEM.value, Role.FACT.value))
_AROUND = (-2, -1, 0, 1, 2)  # lines of a passage, none of them beyond a heading (GAP in index/lexical.py),
_BELOW = (0, 4, 5, 6)  # and those of one that a heading begins
_LONGEST = 600  # characters that stand around the line that was found
_LOG = re.compile(r"(?:.*/)?\d{4}-\d\d-\d\d[^/]*")
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*")
_RULE = re.compile(r"[\s>]*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*")


def is_of_document(entry: Row) -> bool:
    """True for a note on a page that is no log: such a page is one thing to read, and its lines are parts of it."""
    return entry.role != Role.FACT.value and not _LOG.fullmatch(entry.path)


_NAMING = re.compile(r"(?:alias(?:es)?|tags?|type):", re.IGNORECASE)


def says_nothing(memory: OpenMemory, entry: Row, hit: Hit) -> bool:
    """True for politeness, and for the skeleton of a page: a date as a heading, one with nothing below, the words of
    `init`, the head of a table, other names and tags in the front matter."""
    if entry.role == Role.HEADING.value:
        return is_mere_date(hit.content, memory.today) or is_bare_heading(memory.index, entry)
    if entry.role == Role.ROW.value:
        return any(map(_RULE.fullmatch, _lines(memory, hit.source.path)[hit.source.end_line :][:1]))
    if entry.role == Role.REST.value and _NAMING.match(hit.content):
        return True
    return hit.content in TEMPLATES or (entry.role != Role.FACT.value and is_polite(hit.content))


def as_passage(memory: OpenMemory, entry: Row, hit: Hit, found: Mapping[int, Found]) -> Hit:
    """A hit on a document with the headings above it and the lines around it, of which those that were found are marked."""
    steps = _BELOW if entry.role == Role.HEADING.value else _AROUND
    rows = by_ids(memory.index, (entry.id + step for step in steps)).values()
    read = hits_of(memory, [r for r in rows if r.page == entry.page and r.block is None])
    near, room = {entry.id}, _LONGEST
    for i in sorted(read.keys() - near, key=lambda i: abs(i - entry.id)):
        room -= len(read[i].content)
        near |= {i} if room >= 0 else set()
    marked = {i: i == entry.id or is_match(found.get(i)) for i in near}
    lines = tuple(
        PassageLine(hit.source.line, hit.source.end_line, hit.content, marked[i])
        for i, hit in sorted(read.items())
        if i in near
    )
    above = tuple(_headings(_lines(memory, hit.source.path)[: hit.source.line - 1]))
    path = above if not hit.heading or hit.heading in above else (*above, hit.heading)
    return replace(hit, passage=lines, heading_path=path)


def is_match(found: Found | None) -> bool:
    """True for what was found by its own words or by its meaning, not by the lines beside it."""
    return found is not None and bool(found.why.keys() & {"lexical", "vector", "slot", "recent"})


def with_sections(memory: OpenMemory, query: Query) -> Query:
    """The query with the rows below each heading that has the words of its `heading`, those of headings below it too."""
    found: list[tuple[int, int]] = []
    pages: dict[str, dict[int, int]] = {}
    for path, row in headings_with(memory.index, query.heading or ""):
        if path not in pages:
            lines = _lines(memory, path)
            pages[path] = {i: _level(lines, line) for i, line in headings_on(memory.index, path)}
        last = ((row >> ORDINAL_BITS) + 1) << ORDINAL_BITS
        end = next((i for i, level in pages[path].items() if i > row and level <= pages[path][row]), last)
        found.append((row, end - 1))
    return replace(query, sections=tuple(found))


def _level(lines: Sequence[str], line: int) -> int:
    match = _HEADING.fullmatch(lines[line - 1]) if line <= len(lines) else None
    return len(match[1]) if match else 1 + ("-" in "".join(lines[line : line + 1]))  # underlined with = or -


def _headings(lines: Iterable[str]) -> Iterator[str]:
    """The headings under which what follows some lines stands, the widest first."""
    above: dict[int, str] = {}
    fenced = False
    for line in lines:
        fenced ^= bool(opens_fence(line))
        if not fenced and (match := _HEADING.fullmatch(line)):
            above = {level: text for level, text in above.items() if level < len(match[1])} | {len(match[1]): match[2]}
    return iter(above.values())


def _lines(memory: OpenMemory, path: str) -> list[str]:
    try:
        return page_lines(memory.workspace, path)
    except MemctlError:
        return []


def with_neighbours(memory: OpenMemory, hits: Sequence[Hit]) -> list[Hit]:
    """The hits, each with its neighbour behind it: before a line that begins with a pronoun, after one that asks."""
    steps: dict[tuple[str, int], int] = {}
    for hit in hits[:_FIRST]:
        if points_back(hit.content) or hit.content.rstrip().endswith(("?", "？")):
            steps[hit.source.path, hit.source.line] = -1 if points_back(hit.content) else 1
    rows = by_refs(memory.index, [hit.ref for hit in hits[:_FIRST]]) if steps else []
    places = {row.id + steps[at]: at for row in rows if (at := (row.path, row.line)) in steps}
    found = [row for row in by_ids(memory.index, places).values() if row.block is None and row.role in _SAID]
    stands = {(hit.source.path, hit.source.line) for hit in hits}
    behind = {
        places[i]: hit
        for i, hit in hits_of(memory, found).items()
        if not is_polite(hit.content) and (hit.source.path, hit.source.line) not in stands
    }
    beside = ((hit, behind.get((hit.source.path, hit.source.line))) for hit in hits)
    return [each for pair in beside for each in pair if each]
