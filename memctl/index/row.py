"""What the index keeps of a page: one row an entry, the tables derived from rows, and the sum that proves both."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date
from typing import TYPE_CHECKING, Any, NamedTuple

from ..facts import Citation, Period, is_trusted, iso_day
from ..ids import hashed
from ..language.dates import log_day

if TYPE_CHECKING:
    from ..markdown.grammar import Problem

_MADE = tuple(
    f"bank/{made}" for made in ("entities/", "digest/", "world.md", "experience.md", "lessons.md", "proposals.md")
)


class Row(NamedTuple):
    """One entry as the index keeps it; dates are ISO strings, which sort as they should."""

    id: int  # page id << 22 | ordinal, so neighbours on a page are neighbours in the index
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
    kept: str | None
    due: str | None
    # These two are no columns of `entry`.
    path: str  # of the page
    own: str = ""  # the search terms (table `words`), empty where nobody asked

    @property
    def written_on(self) -> date | None:
        """When it was written down."""
        return iso_day(self.day)

    @property
    def valid(self) -> Period:
        """When it says that it is true."""
        return Period(iso_day(self.first), iso_day(self.last))

    @property
    def closes(self) -> bool:
        """True where it ends another value of its slot; else it fills an empty slot only."""
        return not self.marked & 4

    @property
    def happened(self) -> bool:
        """True where its time tells when something was: it is no less true after that."""
        return bool(self.marked & 8)

    @property
    def dated(self) -> int:
        """1 where it names a day to come on which no state begins, 3 where that is the day of an end."""
        return self.marked >> 4

    @property
    def named(self) -> tuple[str, ...]:
        """The keys of those whom it names."""
        return tuple(self.names.split("\n")) if self.names else ()

    @property
    def subject(self) -> str:
        """The key of the first of them; empty for none."""
        return self.names.partition("\n")[0]

    @property
    def notes(self) -> tuple[str, ...]:
        """The ids of the notes that say the same: of a note its own, of a fact what it was kept from."""
        if self.kind == "note":
            return () if self.block else (self.ref,)
        return tuple(line.removeprefix("kept ") for line in self.links.split("\n") if line.startswith("kept f-"))

    @property
    def is_in_log(self) -> bool:
        """True on a page of memory/, and on one whose name is a day, as daily notes have it."""
        return self.path.startswith("memory/") or log_day(self.path) is not None

    @property
    def place(self) -> tuple[str, int]:
        """Where it begins."""
        return self.path, self.line

    @property
    def told(self) -> tuple[str, str, int]:
        """Its turn among all lines, as they were told."""
        return self.day or "", self.path, self.line

    @property
    def cited(self) -> Citation:
        """Its lines when it was indexed."""
        return Citation(self.path, self.line, self.end_line)

    @property
    def is_aside(self) -> bool:
        """True for what memctl wrote: copies in managed blocks, beliefs, and headings of the pages that reflect makes."""
        is_made = self.path == "bank/opinions.md" or (self.role == "heading" and self.path.startswith(_MADE))
        return is_made or self.block is not None


class EntityPage(NamedTuple):
    """What `bank/entities/Slug.md`, or a note, says of its entity; `is_outside` if the page came from outside."""

    name: str
    type: str | None
    aliases: tuple[str, ...]
    is_outside: bool = False
    is_note: bool = False


class Entity(NamedTuple):
    """Whom a name stands for: the key that all names share, how a person writes it, every key and spelling."""

    key: str
    name: str
    type: str | None
    path: str
    keys: tuple[str, ...]
    names: tuple[str, ...]
    page: int | None = None  # of the entity; without one, a name stands for itself


class PageRows(NamedTuple):
    """Everything that the index knows of one page. `rows` may be made while somebody goes through them, once."""

    path: str
    day: date | None
    title: str
    entity: EntityPage | None
    rows: Iterable[Row]
    problems: tuple[tuple[int, Problem], ...]


SELECT_ABOUT = (
    "SELECT rows_sum, id, path, day, title, entries, aside, terms, embedded, sha256, problem FROM page ORDER BY id"
)
SELECT_NAMES = (
    "SELECT page, key, name, type FROM naming",
    "SELECT page, key, head, stem, name FROM named ORDER BY key",
)


def page_sum(about: tuple[Any, ...], names: Iterable[tuple[Any, ...]], rows: bytes) -> bytes:
    """16 bytes over a page (its columns from `path` on in SELECT_ABOUT), its names, and the hash of its `rows_bytes`."""
    whole = [rows, *(tuple(row) for row in (about, *names))]
    return hashed(repr(whole).encode("utf-8", "replace"), 16)


def rows_bytes(rows: Iterable[tuple[Any, ...]]) -> bytes:
    """What the sum of rows, with their terms, is made of."""
    return "".join(repr(tuple(row)) for row in rows).encode("utf-8", "replace")


_NAMES, _LINKS, _SLOT, _BLOCK, _FIRST, _ORIGIN, _SAME, _MARKED = map(
    Row._fields.index, ("names", "links", "slot", "block", "first", "origin", "same", "marked")
)


def mention_rows(rows: Iterable[tuple[Any, ...]]) -> Iterator[tuple[str, int]]:
    """The columns of `mention` for rows."""
    return ((name, row[0]) for row in rows for name in row[_NAMES].split("\n") if name)


def link_rows(rows: Iterable[tuple[Any, ...]]) -> Iterator[tuple[str, str, int]]:
    """The columns of `link` for rows."""
    for row in rows:
        for line in row[_LINKS].split("\n") if row[_LINKS] else ():
            relation, target = line.split(" ", 1)
            yield target, relation, row[0]


def slot_rows(rows: Iterable[tuple[Any, ...]]) -> Iterator[tuple[str, str, str, int, int, int, int]]:
    """The columns of `slot` for the rows that fill one; a copy in a managed block fills none."""
    for row in rows:
        if row[_SLOT] is not None and row[_BLOCK] is None:
            subject = row[_NAMES].split("\n", 1)[0]
            trusted = int(is_trusted(row[_ORIGIN]))
            yield row[_SLOT], subject, row[_FIRST] or "", row[0], trusted, row[_SAME], row[_MARKED]
