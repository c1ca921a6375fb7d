"""Questions about entries: words and filters, entries by id, place or page, and what few rooms ask beside."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from itertools import chain, islice
from operator import attrgetter
from sys import intern
from typing import Any, Literal, NamedTuple

from ...facts import Citation, Kind, Period, grouped, several
from ...markdown.attributes import FILTERS
from ...markdown.grammar import OPINIONS
from ..index import SELECT_ROW, SELECT_STORED, Index
from ..lexical import ORDINAL_BITS, SHORT, idf, match_expression, row_id, select_terms
from ..row import Row


def private_refs(index: Index) -> frozenset[str]:
    """The ids that others may not read, and of the beliefs that such lines state; where there are any, the paths of `unnamed`
    pages as well. Asked for once until the index changes."""

    def found() -> frozenset[str]:
        refs = index.column("SELECT ref FROM hidden")
        pages = index.column("SELECT path FROM unnamed") if refs else ()
        return frozenset([*refs, *(f"o-{ref.removeprefix('f-')}" for ref in refs), *pages])

    return index.remembered("private", found)


def outside_refs(index: Index) -> frozenset[str]:
    """The ids of all lines that came from outside."""
    return frozenset(index.column("SELECT ref FROM outside"))


@dataclass(frozen=True, slots=True)
class Query:
    """What is asked."""

    words: str = ""  # the question without its filters; an empty one asks for the newest within the filters
    about: tuple[str, ...] = ()
    kinds: tuple[Kind, ...] = ()
    key: str | None = None
    days: Period | None = None  # a hard filter on when things were written or happened
    as_of: date | None = None
    min_confidence: float | None = None
    tags: tuple[str, ...] = ()
    links_to: tuple[str, ...] = ()
    times: tuple[Period, ...] = ()  # they only lift what they meet
    aliases: tuple[tuple[str, ...], ...] = field(default=(), compare=False)  # own groups of words for one thing
    pasted: str = field(default="", compare=False)  # what the question was taken from, where that is more
    warnings: tuple[str, ...] = field(default=(), compare=False)  # these go with the answer
    expiry: Filter | None = None  # what is over; that is no hit
    per_page: int = 0  # lines of a document that are hits at most, and these are passages; 0: all, as plain lines
    columns: tuple[tuple[str, Any], ...] = ()  # of a row, and what each must have: that text, or that number at least
    paths: tuple[str, ...] = ()  # globs, of which a page meets one
    heading: str | None = None
    phrases: tuple[str, ...] = ()  # the words of each stand together in a line
    without: tuple[str, ...] = ()  # the words of each stand nowhere in it
    sections: tuple[tuple[int, int], ...] = field(default=(), compare=False)  # of rows below headings with these words
    in_chat: bool = field(default=False, compare=False)  # said as a message: "thanks" finds no thanks there

    @property
    def filters(self) -> list[str]:
        """The filters in force, as a person would write them."""
        days, told = self.days or Period(), []
        values = {"since": days.first, "until": days.last} | dict(self.columns)
        for each in FILTERS:
            name = each.column or each.name
            held: Any = values.get(name) if each.field in ("columns", "days") else getattr(self, each.field)
            told += [f"{each.name}:{getattr(one, 'value', one)}" for one in several(held)]
        return [*told, *(f'"{phrase}"' for phrase in self.phrases), *(f"-{word}" for word in self.without)]


class Filter(NamedTuple):
    """The SQL condition on `entry` that a query's filters make, and its values. An empty one lets everything pass."""

    sql: str
    values: tuple[Any, ...]


_MOST_KEPT = 50_000  # terms whose frequency is remembered: some 10 MB
_MOST_TOLD = 300_000  # lines that are remembered by their terms: some 30 MB


def entry_count(index: Index, own: bool = False) -> int:
    """How many entries there are; with `own` without those that memctl wrote."""
    sql = "SELECT coalesce(sum(entries), 0), coalesce(sum(entries - aside), 0) FROM page"
    return int(index.remembered("count", lambda: index.rows(sql)[0])[own])


def frequencies(index: Index, wanted: Iterable[str], own: bool = False) -> dict[str, int]:
    """In how many entries each term stands, with `own` in how many that memctl did not write; terms that stand in none are left out."""
    known = index.remembered("frequencies", dict[str, tuple[int, int]])
    asked = set(wanted)
    fresh = {term for term in asked if term not in known}  # `asked - known.keys()` walks through all that is known
    if len(known) + len(fresh) > _MOST_KEPT:
        known.clear()
        fresh = asked
    if fresh:  # FTS5 counts by reading where the term stands: the commoner, the longer
        known |= dict.fromkeys(fresh, (0, 0))
        sql = "SELECT term, sum(doc), sum(doc * (col = 'own')) FROM vocabulary WHERE term IN ({keys}) GROUP BY term"
        known |= {term: (count, its) for term, count, its in index.rows_in(sql, fresh)}
    return {term: known[term][own] for term in asked if known[term][own]}


def rarest(index: Index, wanted: Iterable[str], budget: int) -> dict[str, int]:
    """The terms that `select_terms` chooses for a budget, with the number of entries, but for memctl's, in which each stands.

    FTS5 reads every place of a term to count them. Here it stops where the budget is over: a common term is never chosen.
    """
    known = index.remembered(f"entries up to {budget}", dict[str, int])
    asked = set(wanted)
    if len(known) + len(asked) > _MOST_KEPT:
        known.clear()
    sql = "SELECT count(*) FROM (SELECT 1 FROM words WHERE words MATCH ? LIMIT ?)"
    for term in [term for term in asked if term not in known]:
        known[term] = index.rows(sql, [match_expression((term,), own=True), budget + 1])[0][0]
    held = {term: known[term] for term in asked if known[term]}
    if min(held.values(), default=0) > budget:  # all are common, of which the rarest is chosen
        held = frequencies(index, asked, own=True)
    return {term: held[term] for term in select_terms(held, budget)}


def completions(index: Index, prefix: str, limit: int = 20) -> list[str]:
    """Terms that begin with `prefix`, the commonest first."""
    high = prefix + "\U0010ffff"
    sql = "SELECT term FROM vocabulary WHERE term >= ? AND term < ? GROUP BY term ORDER BY sum(doc) DESC, term LIMIT ?"
    return index.column(sql, (prefix, high, limit))


def match(index: Index, wanted: Sequence[str], condition: Filter, limit: int, view: str = "entry") -> list[int]:
    """The ids of the best `limit` entries of a view, by FTS5's bm25, that hold any wanted term."""
    joined = f"JOIN {view} AS entry ON entry.id = words.rowid WHERE {condition.sql} AND" if condition.sql else "WHERE"
    sql = f"SELECT words.rowid FROM words {joined} words MATCH ? ORDER BY bm25(words), words.rowid LIMIT ?"
    return index.column(sql, (*condition.values, match_expression(wanted), limit))


def read_lines(index: Index, ids: Iterable[int]) -> dict[int, tuple[str, str]]:
    """The terms of entries, joined by spaces, and the nearest heading above each; unknown ids are left out."""
    sql = (  # the words as FTS5 keeps them: half the time of asking its table for each row
        "SELECT entry.id, c0 || c1, entry.heading FROM entry CROSS JOIN words_content "
        "ON words_content.id = entry.id WHERE entry.id IN ({keys})"
    )
    return index.cached_each("lines", ids, sql, lambda row: (row[1], row[2]))


def titles_and_lengths(index: Index, pages: Iterable[int]) -> dict[int, tuple[str, str, int, int]]:
    """Page -> path, title, number of terms and of entries, of those pages that are no daily logs."""
    sql = "SELECT id, path, title, terms, entries FROM page WHERE day IS NULL AND id IN ({keys})"
    return {page: (path, title, length, count) for page, path, title, length, count in index.rows_in(sql, pages)}


def rows_holding(index: Index, wanted: Iterable[str], page: int) -> list[int]:
    """The ids of the lines of a page that hold one of these terms."""
    sql = "SELECT rowid FROM words WHERE words MATCH ? AND rowid >= ? AND rowid < ?"
    return index.column(sql, (match_expression(wanted), row_id(page, 0), row_id(page + 1, 0)))


def passing(index: Index, ids: Iterable[int], condition: Filter) -> set[int]:
    """Those of some entries that pass a condition."""
    if not condition.sql:
        return set(ids)
    sql = f"SELECT id FROM entry WHERE {condition.sql} AND id IN ({{keys}})"
    return set(index.column_in(sql, ids, condition.values))


def mentioning(index: Index, ids: Iterable[int], keys: Iterable[str]) -> set[int]:
    """Those of some entries that name, as @Name or [[Name]], one of the entities with these keys."""
    wanted = list(ids)
    sql = "SELECT entry FROM mention WHERE name = ? AND entry IN ({keys})"
    return {entry for key in set(keys) for entry in index.column_in(sql, wanted, (key,))}


def own_terms(index: Index, ids: Iterable[int]) -> dict[int, str]:
    """The terms of entries, joined by spaces; unknown ids are left out."""
    return dict(index.rows_in("SELECT id, c0 || c1 FROM words_content WHERE id IN ({keys})", ids))


def filtered(index: Index, condition: Filter, limit: int) -> list[int]:
    """Ids that pass a condition, at most `limit` of them, in page order."""
    return index.column(f"SELECT id FROM entry WHERE {condition.sql} LIMIT ?", (*condition.values, limit))


def newest(index: Index, condition: Filter, limit: int) -> list[int]:
    """Ids that pass a condition, newest day first; facts before notes of the same day, undated last."""
    where = condition.sql or "1"
    sql = (
        f"SELECT id FROM live AS entry WHERE {where} AND role NOT IN ('heading', 'rest') "
        "ORDER BY day IS NULL, day DESC, kind = 'note', id LIMIT ?"
    )
    return index.column(sql, (*condition.values, limit))


_JOINED = f"SELECT {SELECT_STORED}, page.path FROM entry JOIN page ON page.id = entry.page"


def by_ids(index: Index, ids: Iterable[int]) -> dict[int, Row]:
    """Entries by id, in page order."""
    return index.cached_each("entries", ids, f"{_JOINED} WHERE entry.id IN ({{keys}})", lambda row: Row(*row))


def selected(index: Index, sql: str, values: tuple[Any, ...] = ()) -> list[Row]:
    """The entries whose ids a statement gives, in page order."""
    return list(by_ids(index, index.column(sql, values)).values())


def selected_in(index: Index, sql: str, keys: Iterable[Any], first: Sequence[Any] = ()) -> list[Row]:
    """The same of a statement with `{keys}` in it (`Index.rows_in`)."""
    return list(by_ids(index, index.column_in(sql, keys, first)).values())


def by_refs(index: Index, refs: Iterable[str]) -> list[Row]:
    """Every entry that has one of these ids, in page order. Twins on different pages may share one."""
    found = [Row(*row) for row in index.rows_in(f"{_JOINED} WHERE entry.ref IN ({{keys}})", refs)]
    return sorted(found, key=attrgetter("place"))


def existing_refs(index: Index, refs: Iterable[str]) -> set[str]:
    """Those of some ids that a line has, copies left out."""
    return set(index.column_in("SELECT DISTINCT ref FROM live WHERE ref IN ({keys})", refs))


def slot_ids(index: Index, key: str, names: Iterable[str] | None) -> list[int]:
    """Ids of every fact in the slot `key` of the entities that go by these name keys; of everybody, with None."""
    if names is None:
        return index.column("SELECT entry FROM slot WHERE key = ?", (key,))
    sql = "SELECT entry FROM slot WHERE key = ? AND name = ?"
    return [entry for name in names for (entry,) in index.rows(sql, (key, name))]


def private_versions(index: Index, key: str, names: Iterable[str]) -> set[int]:
    """Ids of the private facts in that slot."""
    sql = "SELECT slot.entry FROM slot JOIN entry ON entry.id = slot.entry WHERE private = 1 AND key = ? AND name = ?"
    return {entry for name in names for (entry,) in index.rows(sql, (key, name))}


def in_slots(index: Index, key: str, names: Iterable[str] | None) -> list[Row]:
    """Those facts themselves."""
    return list(by_ids(index, slot_ids(index, key, names)).values())


def filling_slots(index: Index, names: Iterable[str] | None, most: int | None = None) -> list[Row]:
    """Every fact that fills a slot of one of these names, or of any; with `most` the newest of each name."""
    sql = "SELECT DISTINCT entry FROM slot"
    if names is None:
        return selected(index, sql)
    if most is None:
        return selected_in(index, f"{sql} WHERE name IN ({{keys}})", names)
    newest = f"{sql} WHERE name = ? ORDER BY first DESC, entry DESC LIMIT ?"
    return list(by_ids(index, chain.from_iterable(index.column(newest, (name, most)) for name in names)).values())


def newest_slots(index: Index, limit: int) -> list[tuple[str, str]]:
    """The slots (key, name) that were filled last, the newest first."""
    sql = "SELECT key, name FROM slot GROUP BY key, name ORDER BY max(first) DESC, key, name LIMIT ?"
    return index.rows(sql, (limit,))


def slot_names(index: Index, text: str | None = None) -> list[str]:
    """The keys of all names that slots are about; the empty one is the owner's. With a text, those that may stand in it."""
    if text is None or index.stays:  # a process that stays asks for all of them, once
        return index.column("SELECT DISTINCT name FROM slot ORDER BY name")
    sql = "SELECT DISTINCT name FROM slot WHERE instr(?, name) ORDER BY name"
    return index.column(sql, [text.encode("utf-8", "replace").decode()])


_AROUND = (
    "SELECT * FROM (SELECT entry FROM slot WHERE key = ?1 AND name = ?2 AND first >= ?3 AND same <> ?4 AND trusted "
    "ORDER BY first, entry LIMIT 12) UNION ALL SELECT * FROM (SELECT entry FROM slot WHERE key = ?1 AND name = ?2 "
    "AND first <= ?5 AND trusted ORDER BY first DESC, entry DESC LIMIT 4)"
)


def slot_around(index: Index, key: str, names: Iterable[str], entry: Row, today: str) -> set[int]:
    """Ids of the versions of a slot that decide about one of them: those after it that say something else, and the newest.

    A slot that is filled again every day has hundreds of versions; which of them holds, and what replaced this one, shows
    in these few. What is not trusted replaces nothing.
    """
    about = (entry.first or "", entry.same, today)
    return {i for name in names for (i,) in index.rows(_AROUND, (key, name, *about))}


_KEYS_OF = (  # from key to key, of which there are few, instead of through every version of every slot
    "WITH RECURSIVE each (key) AS (SELECT min(key) FROM slot UNION ALL "
    "SELECT (SELECT min(key) FROM slot WHERE key > each.key) FROM each WHERE each.key IS NOT NULL) "
    "SELECT key FROM each WHERE EXISTS (SELECT 1 FROM slot WHERE slot.key = each.key AND name = ?)"
)


def slot_keys(index: Index, names: Iterable[str]) -> list[str]:
    """The keys of every slot that facts about these names fill."""
    return sorted({key for name in names for (key,) in index.rows(_KEYS_OF, (name,))})


def written_between(index: Index, since: date | None, until: date) -> list[Row]:
    """Lines that say something by themselves, written down in those days (None: ever, or on no day), as they stand."""
    sql = "SELECT id FROM speaking WHERE day >= ?1 AND day <= ?2 OR ?1 = '' AND day IS NULL"
    return selected(index, sql, (str(since or ""), str(until)))


def lines_like(index: Index, entry: Row, names: Sequence[str], wanted: Sequence[str], limit: int) -> list[Row]:
    """Lines about the same names that hold any of these terms and were told no later, the likest first.

    Beside an entry without a name: lines without one, and what fills a slot.
    """
    marks = ", ".join("?" * len(names))
    # Line by line: as a list, a name on each of 20,000 lines would take longer than all the rest.
    named = f"EXISTS (SELECT 1 FROM mention WHERE name IN ({marks}) AND mention.entry = words.rowid)"
    about = named if names else _NAMELESS
    if "" in names:  # the owner's, told by name or without
        nameless = "entry.names = ''" if names[0] else _NAMELESS
        about = f"({named} OR {nameless})"
    until, asked = entry.day or "9999", (tuple(names), tuple(wanted))
    held = f"FROM words JOIN speaking AS entry ON entry.id = words.rowid WHERE {about} AND words MATCH ?"
    last = index.remembered("lines like", dict[tuple[tuple[str, ...], ...], list[tuple[int, str]]])
    if asked not in last:
        sql = f"SELECT words.rowid {held} AND entry.id <> ? AND coalesce(entry.day, '') <= ? LIMIT ?"
        found = index.column(sql, (*names, match_expression(wanted, own=True), entry.id, until, limit + 1))
        if len(found) <= limit:  # only where there are too many does it tell which are the likest
            return list(by_ids(index, found).values())
        last.clear()
        last[asked] = _likest(index, held, names, wanted)
    earlier = (i for i, day in last[asked] if i != entry.id and day <= until)  # for many lines in one wording
    return list(by_ids(index, islice(earlier, limit)).values())


def _likest(index: Index, held: str, names: Sequence[str], wanted: Sequence[str]) -> list[tuple[int, str]]:
    """The ids of the lines that hold one of the terms, with their days, by bm25 as if memctl had written none of all lines."""
    counts, total = frequencies(index, wanted, own=True), entry_count(index, own=True)
    said: dict[int, tuple[str, int]] = {}
    worth: dict[int, float] = {}
    for term in sorted(counts):
        sql = f"SELECT words.rowid, coalesce(entry.day, ''), entry.length {held}"
        for i, day, length in index.rows(sql, (*names, match_expression((term,), own=True))):
            said[i] = day, length
            worth[i] = worth.get(i, 0.0) + idf(counts[term], total)
    usual = sum(length for _, length in said.values()) / max(len(said), 1)
    ranked = sorted(said, key=lambda i: (-round(worth[i] / (SHORT + said[i][1] / usual), 9), i))
    return [(i, said[i][0]) for i in ranked]


def undated_notes(index: Index, page: int, limit: int) -> list[Row]:
    """Trusted paragraphs and items of a page that are of no day, in its order."""
    sql = "SELECT id FROM trusted WHERE page = ? AND day IS NULL AND kind = 'note' AND role IN ('text', 'item') ORDER BY id LIMIT ?"
    return selected(index, sql, (page, limit))


_NAMELESS = "(entry.names = '' OR entry.slot IS NOT NULL)"


def lines_holding(
    index: Index, wanted: Iterable[str], names: Collection[str], since: str, until: str
) -> dict[int, tuple[str, bool]]:
    """Lines of those days about one of the names that hold one of the terms: id -> the names on it, and whether it is a fact.

    FTS5's bm25 would take as long again as the search.
    """
    about: dict[str, bool] = {}
    found: dict[int, tuple[str, bool]] = {}
    if not index.stays:  # then nothing is kept by term, and one statement does
        rows = index.rows(f"{_TOLD} AND entry.day BETWEEN ? AND ?", [match_expression(wanted), since, until])
        sought = set(names)
        return {i: (its, bool(fact)) for i, _, fact, its in rows if not sought.isdisjoint(its.split("\n"))}
    for term in wanted:
        for line_names, held in _dated_lines_with(index, term).items():
            if line_names not in about:
                about[line_names] = not set(names).isdisjoint(line_names.split("\n"))
            if about[line_names]:
                found |= {i: (line_names, bool(fact)) for i, day, fact in held if since <= day <= until}
    return found


_TOLD = (
    "SELECT words.rowid, entry.day, entry.role = 'fact', entry.names FROM words JOIN speaking AS entry "
    "ON entry.id = words.rowid WHERE words MATCH ?"
)
_DatedLines = dict[str, list[tuple[int, str, int]]]


def _dated_lines_with(index: Index, term: str) -> _DatedLines:
    """By the names on them, the lines that hold a term: id, day, and whether it is a fact. A resident process asks once a term."""
    known, size = index.remembered("told", lambda: (dict[str, _DatedLines](), Counter[str]()))
    if term in known:
        return known[term]
    found: _DatedLines = {}
    for number, day, fact, line_names in index.rows(f"{_TOLD} AND entry.day IS NOT NULL", [match_expression((term,))]):
        found.setdefault(line_names, []).append((number, intern(day), fact))
        size["lines"] += 1
    if size["lines"] > _MOST_TOLD:
        known.clear()
        size.clear()
    else:
        known[term] = found
    return found


def is_bare_heading(index: Index, heading: Row) -> bool:
    """True for a heading without a line of its own: another heading, the end of the page or what memctl wrote follows."""
    sql = "SELECT role FROM live WHERE page = ? AND id > ? ORDER BY id LIMIT 1"
    return index.rows(sql, (heading.page, heading.id)) in ([], [("heading",)])


def citing(index: Index, refs: Iterable[str]) -> list[Row]:
    """Entries that supersede or correct one of these ids, or say that it happened."""
    sql = (
        "SELECT entry FROM link WHERE (relation IN ('supersedes', 'corrects') OR (relation = 'by' "
        "AND (SELECT last FROM entry WHERE id = link.entry) IS NOT NULL)) AND target IN ({keys})"
    )
    return selected_in(index, sql, refs)


_DUMPS = (
    "SELECT 'page', path, day, title, entries, aside, terms, embedded, sha256, problem FROM page ORDER BY path",
    f"SELECT 'entry', page.path, entry.id & {(1 << ORDINAL_BITS) - 1}, {SELECT_STORED.replace('entry.id, entry.page, ', '')}, words.own || words.aside "
    "FROM entry JOIN page ON page.id = entry.page JOIN words ON words.rowid = entry.id ORDER BY 2, 3",
    "SELECT 'mention', name, entry FROM mention ORDER BY 2, 3",
    "SELECT 'link', target, relation, entry FROM link ORDER BY 2, 3, 4",
    "SELECT 'slot', key, name, first, entry, trusted, same, marked FROM slot ORDER BY 2, 3, 4, 5",
    "SELECT 'entity', entity.key, entity.name, type, page.path FROM entity JOIN page ON page.id = entity.page ORDER BY 2, 5",
    "SELECT 'alias', alias.key, head, stem, name, page.path FROM alias JOIN page ON page.id = alias.page ORDER BY 2, 6",
    "SELECT 'word', term, col, doc, cnt FROM vocabulary ORDER BY 2, 3",
)


def dump(index: Index) -> Iterator[tuple[Any, ...]]:
    """Every row of an index in an order of its own content: equal for equal Markdown, however the index came about."""
    for sql in _DUMPS:
        yield from index.each(sql)


def indexed_rows(index: Index, path: str) -> dict[tuple[str, int], Row]:
    """The rows of a page by role and digest, but for those of tables, which may become heads of one."""
    found = index.rows(SELECT_ROW.replace("entry.page =", "page.path ="), (path,))
    return {(row.role, row.digest): row for row in map(Row._make, found) if row.role != "row"}


_HEADS = f"page = (SELECT id FROM page WHERE path = '{OPINIONS}') AND kind = 'opinion'"


def census(index: Index) -> dict[str, list[tuple[Any, ...]]]:
    """Counts for `status`: entries by kind, beliefs apart, pages and those with problems."""
    return {
        "kinds": index.rows(
            f"SELECT kind, count(*) FROM live WHERE role <> 'heading' AND NOT coalesce({_HEADS}, 0) "
            "GROUP BY kind ORDER BY kind"
        ),
        "beliefs": index.rows(f"SELECT count(*) FROM live WHERE {_HEADS}"),
        "pages": index.rows("SELECT count(*), sum(size), sum(problem IS NOT NULL), min(day), max(day) FROM page"),
        "entities": index.rows("SELECT count(*) FROM entity"),
        "sqlite": index.rows("SELECT sqlite_version()"),
    }


ON_PAGE = "page = (SELECT id FROM page WHERE path = ?)"


def recent_tasks(index: Index, until: date, limit: int) -> list[str]:
    """The tasks whose outcomes were told last, the last one first; `@key` for the outcomes of an entity that name no task."""
    sql = (
        "SELECT task, max(day) AS newest FROM live WHERE task IS NOT NULL AND day <= ? "
        "GROUP BY task ORDER BY newest DESC, task LIMIT ?"
    )
    return [task for task, _ in index.rows(sql, (str(until), limit))]


def own_lines(index: Index, path: str) -> list[Row]:
    """The lines of a page that no block of memctl's holds, in order; no headings."""
    sql = f"SELECT id FROM live WHERE {ON_PAGE} AND role <> 'heading' ORDER BY id"
    return selected(index, sql, (path,))


def copied_places(index: Index, refs: Iterable[str]) -> set[tuple[str, int]]:
    """Where lines with these ids stand in managed blocks: path and line."""
    sql = (
        "SELECT page.path, entry.line FROM entry JOIN page ON page.id = entry.page "
        "WHERE entry.block IS NOT NULL AND entry.ref IN ({keys})"
    )
    return {(path, line) for path, line in index.rows_in(sql, refs)}


def days_of_pages(index: Index) -> dict[str, str | None]:
    """The day of every page that could be read; None for a page that is not a log."""
    return dict(index.rows("SELECT path, day FROM page WHERE sha256 <> x''"))


def entries_at(index: Index, place: Citation) -> list[Row]:
    """The entries that share a line with a citation, in page order."""
    sql = f"{_JOINED} WHERE page.path = ? AND entry.line <= ? AND entry.end_line >= ? ORDER BY entry.id"
    return [Row(*row) for row in index.rows(sql, (place.path, place.end_line, place.line))]


def saying(index: Index, keys: Iterable[int]) -> dict[int, list[Row]]:
    """Lines of any kind by content key: the same words about the same entities; no copies, oldest id first."""
    sql = "SELECT id FROM live WHERE role <> 'heading' AND content_key IN ({keys})"
    return grouped((entry.content_key, entry) for entry in selected_in(index, sql, keys))


def holding(index: Index, phrase: Sequence[str], limit: int = 12) -> list[Row]:
    """Lines in which these terms stand one after the other; no copies."""
    return _matching(index, [" ".join(phrase)], limit, "live")


def own_and_entry(
    index: Index, wanted: Sequence[str], limit: int = 8, view: Literal["live", "trusted", "outside"] = "live"
) -> list[tuple[frozenset[str], Row]]:
    """The lines that hold most of these terms by bm25, each with all of its own; no copies."""
    found = _matching(index, wanted, limit, view)
    own = own_terms(index, [entry.id for entry in found])
    return [(frozenset(own.get(entry.id, "").split()), entry) for entry in found]


def _matching(index: Index, wanted: Sequence[str], limit: int, view: str) -> list[Row]:
    ids = match(index, wanted, Filter("entry.role <> 'heading'", ()), limit, view)
    entries = by_ids(index, ids)
    return [entries[i] for i in ids if i in entries]


def fact_ids(index: Index, condition: Filter) -> list[int]:
    """Ids of facts, without copies, oldest day first, undated last; those of one day in page order."""
    where = f"AND {condition.sql}" if condition.sql else ""
    sql = f"SELECT id FROM live AS entry WHERE role = 'fact' {where} ORDER BY day IS NULL, day, id"
    return index.column(sql, condition.values)


class Leaf(NamedTuple):
    """A page as the vectors know it: its number, its path, the sum of its rows, and how many entries take part."""

    id: int
    path: str
    rows_sum: bytes
    entries: int


def leaves(index: Index) -> list[Leaf]:
    """Every page, newest first: by the day of a log, else by the day on which it was saved."""
    sql = (
        "SELECT id, path, rows_sum, embedded FROM page "
        "ORDER BY coalesce(day, date(mtime_ns / 1000000000, 'unixepoch')) DESC, path"
    )
    return [Leaf(*row) for row in index.rows(sql)]


def entries_on(index: Index, page: int) -> list[Row]:
    """The entries of a page that take part, in its order."""
    return selected(index, "SELECT id FROM embeddable WHERE page = ?", (page,))


def digests_of(index: Index, ids: Iterable[int]) -> dict[int, int]:
    """The digest of some entries as they stand in the index; unknown ids are left out."""
    return dict(index.rows_in("SELECT id, digest FROM entry WHERE id IN ({keys})", ids))


def first_lines(index: Index, pages: Iterable[int], condition: Filter) -> dict[int, int]:
    """Page -> the first of its entries that take part and pass a condition."""
    passing = f"entry.page = page.id AND {condition.sql or 1} ORDER BY entry.id LIMIT 1"
    sql = f"SELECT id, (SELECT entry.id FROM embeddable AS entry WHERE {passing}) FROM page WHERE id IN ({{keys}})"
    return {page: first for page, first in index.rows_in(sql, pages, condition.values) if first}


def embeddable(index: Index) -> int:
    """How many entries take part."""
    return int(index.rows("SELECT coalesce(sum(embedded), 0) FROM page")[0][0])


def page_exists(index: Index, page: int, rows_sum: bytes) -> bool:
    """True while the index holds these rows of a page."""
    return index.rows("SELECT rows_sum FROM page WHERE id = ?", (page,)) == [(rows_sum,)]


def line_counts(index: Index, path: str) -> Counter[int]:
    """The lines that the entries of a page have, by the digest of each entry."""
    sql = f"SELECT digest, sum(end_line - line + 1) FROM entry WHERE {ON_PAGE} GROUP BY digest"
    return Counter(dict(index.rows(sql, (path,))))
