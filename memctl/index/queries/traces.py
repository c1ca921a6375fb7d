"""What forget asks of the index, and how it makes sure that nothing of what is gone is left in the file."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from operator import attrgetter

from ...errors import CannotWrite, LockBusy
from ...facts import HALF_LIFE_DAYS, Kind, days_before
from ...language.names import entity_key
from ...markdown.grammar import OPINIONS
from ...markdown.lines import Role
from ...markdown.markers import FORGOTTEN
from ...notes.workspace import Workspace
from ...system import as_cannot_write
from ..index import LEFTOVERS, UNCLEAN, Index
from ..row import Entity, Row
from .entries import Filter, Query, by_ids, selected, selected_in
from .filters import Expiry, condition_of

OUTDATED = 365  # days after which what was replaced is outdated
LOW = 0.5  # importance up to which an unneeded line may go; also that of a line that says nothing about it
MAY_GO = (Role.FACT, Role.TEXT, Role.ITEM, Role.ROW)
"""What a tombstone can stand for. Headings, code and front matter hold a page together: those are a person's to edit."""
_DURABLE_DAYS = 365  # half of what a fact about the world needs to be old: it has no half-life
_ROLES = ", ".join(f"'{role.value}'" for role in MAY_GO)
_NO_BELIEF = f"entry.page IS NOT (SELECT id FROM page WHERE path = '{OPINIONS}')"
_IN_LOGS = "entry.page IN (SELECT page.id FROM page WHERE page.day IS NOT NULL)"
_FACTS = "entry.role = 'fact'"


def forgettable(index: Index, conditions: Sequence[Filter]) -> list[Row]:
    """The entries that pass every condition, by page and line; no headings, no code, no copies, no tombstones."""
    # Evidence under a belief is not a line of its own.
    return _passing(index, f"entry.role IN ({_ROLES}) AND (entry.role = 'fact' OR {_NO_BELIEF})", conditions)


def fixed(index: Index, conditions: Sequence[Filter]) -> list[Row]:
    """The headings, code and the like that pass every condition, by page and line: no tombstone can stand for them."""
    return _passing(index, f"entry.role NOT IN ({_ROLES})", conditions)


def _passing(index: Index, what: str, conditions: Sequence[Filter]) -> list[Row]:
    where = " AND ".join([what, *(f"({part.sql})" for part in conditions)])
    values = [value for part in conditions for value in part.values]
    found = selected(index, f"SELECT entry.id FROM live AS entry WHERE {where}", tuple(values))
    return sorted(found, key=attrgetter("place"))


def narrowed(
    whom: Iterable[Entity | str], refs: Sequence[str] | None, before: date | None, source: str | None
) -> Iterator[Filter]:
    """A condition for each that is given: what names them all as @Name or [[Name]] (of an entity, also what holds all words of one
    of its names), has one of these ids, was told before a day (what has none never passes), came from an origin that begins so.
    """
    for who in whom:
        named = Filter("entry.id IN (SELECT entry FROM mention WHERE name = ?)", (entity_key(str(who)),))
        yield condition_of(Query(), [who]) if isinstance(who, Entity) else named
    if refs is not None:
        yield Filter(f"entry.ref IN ({', '.join('?' * len(refs))})", tuple(refs))
    if before:
        yield Filter("entry.day < ?", (before.isoformat(),))
    if source:
        yield Filter("substr(entry.origin, 1, ?) = ?", (len(source), source))


def with_an_end(expiry: Expiry) -> Filter:
    """Facts that may be over: a last day that is past, or not to be kept any longer."""
    over = expiry.condition()
    return Filter(f"{_FACTS} AND (entry.last < ? OR {over.sql})", (expiry.day, *over.values))


def unneeded(today: date) -> Filter:
    """Old facts of the logs, of low importance, that no line names by its id. Elsewhere a person put them on purpose.

    Old is what was told two half-lives of its recency ago, two years for the world.
    """
    aging = (Kind.WORLD, Kind.EXPERIENCE, Kind.OPINION, Kind.OBSERVATION)
    old_before = {kind.value: days_before(today, 2 * HALF_LIFE_DAYS.get(kind, _DURABLE_DAYS)) for kind in aging}
    aged = " OR ".join("(entry.kind = ? AND entry.day < ?)" for _ in aging)
    values = [value for kind, day in old_before.items() for value in (kind, day.isoformat())]
    sql = (
        f"{_FACTS} AND {_IN_LOGS} AND ({aged}) AND coalesce(entry.importance, ?) <= ? "
        "AND NOT EXISTS (SELECT 1 FROM link WHERE link.target = entry.ref AND link.relation <> 'copies')"
    )
    return Filter(sql, (*values, LOW, LOW))


def with_successors(today: date) -> Filter:
    """Facts that another may have replaced long ago: those of slots, and those that a line says it replaces."""
    sql = (
        f"{_FACTS} AND entry.day < ? AND (entry.slot IS NOT NULL OR EXISTS (SELECT 1 FROM link "
        "WHERE link.target = entry.ref AND link.relation IN ('supersedes', 'corrects')))"
    )
    return Filter(sql, (days_before(today, OUTDATED).isoformat(),))


def duplicated() -> Filter:
    """Facts whose words another fact of the same kind has too; not those of slots, which come back for a reason."""
    sql = (
        "entry.id IN (SELECT id FROM facts WHERE slot IS NULL AND (kind, content_key) IN "
        "(SELECT kind, content_key FROM facts WHERE slot IS NULL GROUP BY kind, content_key HAVING count(*) > 1))"
    )
    return Filter(sql, ())


def linked_to(index: Index, refs: Iterable[str]) -> list[tuple[str, str, Row]]:
    """(id, relation, entry) for every line that names one of these ids in its attributes."""
    rows = index.rows_in("SELECT target, relation, entry FROM link WHERE target IN ({keys})", refs)
    entries = by_ids(index, (entry for _, _, entry in rows))
    found = [(target, relation, entries[entry]) for target, relation, entry in rows if entry in entries]
    return sorted(found, key=lambda link: (link[2].path, link[2].line, *link[:2]))


def same_words(index: Index, keys: Iterable[int]) -> list[Row]:
    """Facts with the words of others, by their content keys."""
    found = selected_in(index, "SELECT id FROM facts WHERE content_key IN ({keys})", keys)
    return sorted(found, key=attrgetter("place"))


def tombstones(index: Index) -> list[Row]:
    """The tombstones of all pages."""
    return sorted(selected(index, f"SELECT id FROM entry WHERE block = '{FORGOTTEN}'"), key=attrgetter("place"))


def copies_on(index: Index) -> list[tuple[str, str]]:
    """(page, name) of every managed block that says something."""
    sql = (
        "SELECT DISTINCT page.path, entry.block FROM entry JOIN page ON page.id = entry.page "
        f"WHERE entry.block <> '{FORGOTTEN}' ORDER BY 1, 2"
    )
    return index.rows(sql)


def mark_unclean(index: Index) -> None:
    """Remember in the file itself that words of it are about to be forgotten: a kill may come before `expunge`."""
    if not index.frozen:
        with index.writing():
            index.number |= UNCLEAN


def is_unclean(index: Index) -> bool:
    """True from `mark_unclean` until `expunge` has come to its end."""
    return bool(index.number & UNCLEAN)


def has_leftovers(index: Index) -> bool:
    """True where rows were deleted whose bytes `expunge` has not taken out of the file yet."""
    return bool(index.number & (UNCLEAN | LEFTOVERS))


def expunge(index: Index) -> str | None:
    """Leave no byte of deleted rows in the file and its log; None, or why that could not be done.

    What was deleted stays in the word index until that is merged, in free pages of SQLite, and in the write-ahead log.
    """
    if index.frozen or index.instead:
        return index.frozen or index.instead
    try:
        with index.writing():
            index.run("INSERT INTO words (words) VALUES ('optimize')")
        index.run("PRAGMA busy_timeout = 2000")
        index.run("VACUUM")
        if not (busy := index.rows("PRAGMA wal_checkpoint (TRUNCATE)")[0][0]):
            with index.writing():
                index.number &= ~(UNCLEAN | LEFTOVERS)
    except (LockBusy, CannotWrite) as error:
        return error.what
    except sqlite3.OperationalError as error:  # locked, or the disk is full
        return str(error)
    return "another memctl is reading it" if busy else None


def drop_derived(workspace: Workspace) -> None:
    """Remove what else was made of the lines: a broken index, what review showed last or was answered with and could not follow,
    what reflect made bank/ from, what a process was writing when it was killed, what hooks had to say (a page of a name is its path)."""
    # reflected.json has hashes of pages as they were, which prove a guess, and names; the next reflect makes all again.
    names = ("index.broken", "review.json", "offered.json", "held.json", "review.txt", "hooks.log")
    derived = [workspace.derived / name for name in names]
    reflected = workspace.memory / "reflected.json", workspace.memory / "reflected.part"
    parts = {*workspace.memory.glob(".*.part"), *workspace.derived.glob(".*.part")}
    for path in (*derived, *reflected, *parts):
        with as_cannot_write(path):
            path.unlink(missing_ok=True)
