"""The filters of a query as one SQL condition on `entry`: whom it is about, when, where it stands, which words it has; what is over."""

from collections.abc import Iterable, Sequence
from datetime import date
from itertools import groupby
from typing import Any, NamedTuple

from ...language.analyzer import terms
from ...language.names import entity_key, is_han, tag_key
from ..index import Index
from ..lexical import ORDINAL_BITS, match_expression
from ..row import Entity, Row
from .entries import ON_PAGE, Filter, Query


def condition_of(query: Query, about: Sequence[Entity | str]) -> Filter:
    """The condition that the query's filters make; `about` holds what its names were resolved to."""
    parts = [*map(_named, about), *_plain_conditions(query)]
    return Filter(" AND ".join(sql for sql, _ in parts), tuple(value for _, values in parts for value in values))


def _plain_conditions(query: Query) -> Iterable[tuple[str, list[Any]]]:
    if query.kinds:
        marks = ", ".join("?" * len(query.kinds))
        yield f"entry.kind IN ({marks})", [kind.value for kind in query.kinds]
    if query.expiry is not None:
        yield f"NOT ({query.expiry.sql})", list(query.expiry.values)
    if query.key is not None:
        yield "entry.id IN (SELECT entry FROM slot WHERE slot.key = ?)", [query.key]
    for tag in query.tags:
        yield _TAGGED, [*_tag_range(tag), *_tag_range(tag)]
    for page in query.links_to:
        yield _LEADS, [entity_key(page)] * 2
    if query.min_confidence is not None:
        yield f"(entry.confidence IS NULL OR coalesce({_CURRENT}, entry.confidence) >= ?)", [query.min_confidence]
    if query.as_of is not None:
        yield "entry.day <= ?", [query.as_of.isoformat()]
    yield from _selections(query)
    if query.days is not None:
        first = query.days.first.isoformat() if query.days.first else "0000"
        last = query.days.last.isoformat() if query.days.last else "9999-99"
        yield _WITHIN, [first, last, last, first, first]


def _selections(query: Query) -> Iterable[tuple[str, list[Any]]]:
    """What picks lines by where they stand, by how much they matter and by the very words in them."""
    for column, value in query.columns:
        yield f"entry.{column} {'=' if isinstance(value, str) else '>='} ?", [value]
    if query.paths:
        globs = [glob for path in query.paths for glob in _globs(path)]
        yield f"entry.page IN (SELECT id FROM page WHERE {' OR '.join(['path GLOB ?'] * len(globs))})", globs
    if query.heading is not None:
        yield _BELOW, [f"[{','.join(f'[{first}, {last}]' for first, last in query.sections)}]"]
    for phrase in query.phrases:
        yield "entry.id IN (SELECT rowid FROM words WHERE words MATCH ?)", [as_phrase(phrase)]
    for word in query.without:
        yield "entry.id NOT IN (SELECT rowid FROM words WHERE words MATCH ?)", [as_phrase(word)]


_BELOW = "entry.id IN (SELECT at.id FROM json_each(?) AS section JOIN entry AS at ON at.id BETWEEN section.value ->> 0 AND section.value ->> 1)"


def _globs(path: str) -> list[str]:
    """A path or glob of pages as SQLite's globs: the page, what is below a folder, a name in any folder."""
    glob = path.replace("[!", "[^")
    spelled = dict.fromkeys((glob, glob.replace("**/", "")))
    return [each for one in spelled for each in (one, f"{one}/*", *(() if "/" in one else (f"*/{one}",)))]


def as_phrase(text: str) -> str:
    """The expression for words that stand together; empty without words. Of Chinese, pairs of characters do."""
    runs = [list(run) for _, run in groupby(terms(text), lambda term: is_han(term[0]))]
    pairs = ([term for term in run if len(term) > 1] if is_han(run[0][0]) else run for run in runs)
    return " AND ".join(match_expression([" ".join(pair or run)]) for pair, run in zip(pairs, runs, strict=True))


def has_phrase(index: Index, phrase: str) -> bool:
    """True if some line has the words of a phrase together."""
    return bool(index.rows("SELECT 1 FROM words WHERE words MATCH ? LIMIT 1", (as_phrase(phrase),)))


def pages_like(index: Index, path: str) -> list[str]:
    """The paths of the pages that could be read and that a path or glob means."""
    globs = _globs(path)
    sql = f"SELECT path FROM page WHERE sha256 <> x'' AND ({' OR '.join(['path GLOB ?'] * len(globs))}) ORDER BY path"
    return index.column(sql, tuple(globs))


def titles_below(index: Index, prefix: str) -> dict[str, str]:
    """The pages whose paths begin so, with their titles, by path."""
    sql = "SELECT path, title FROM page WHERE substr(path, 1, ?) = ? AND sha256 <> x'' ORDER BY path"
    return dict(index.rows(sql, (len(prefix), prefix)))


def headings_with(index: Index, heading: str) -> list[tuple[str, int]]:
    """The headings that have the words of a text one after the other: path and row."""
    sql = (
        "SELECT page.path, entry.id FROM words JOIN entry ON entry.id = words.rowid JOIN page ON page.id = entry.page "
        "WHERE words MATCH ? AND entry.role = 'heading' ORDER BY entry.id"
    )
    return index.rows(sql, (as_phrase(heading),))


def headings_on(index: Index, path: str) -> list[tuple[int, int]]:
    """The headings of a page in its order: row and line."""
    return index.rows(f"SELECT id, line FROM entry WHERE {ON_PAGE} AND role = 'heading' ORDER BY id", (path,))


_OF_TAG = "(target = ? OR (target >= ? AND target < ?))"
_TAGGED = (
    f"(entry.id IN (SELECT entry FROM link WHERE {_OF_TAG} AND relation = 'tag') OR "
    f"entry.page IN (SELECT entry >> {ORDINAL_BITS} FROM link WHERE {_OF_TAG} AND relation = 'tags'))"
)
# Lines that name a page as [[Page]] or @Page, by any of its names, or link to its file.
_LEADS = (
    "entry.id IN (WITH own (key) AS (SELECT ? UNION SELECT key FROM named WHERE page IN (SELECT page FROM named WHERE key = ?)) "
    "SELECT entry FROM mention WHERE name IN own UNION SELECT entry FROM link WHERE relation = 'leads' AND target IN (SELECT '[' || key FROM own))"
)


def _tag_range(tag: str) -> list[str]:
    """A tag and those below it: `#a` and from `#a/` to the sign behind the slash."""
    key = f"#{tag_key(tag)}"
    return [key, f"{key}/", f"{key}0"]


def has_tag(index: Index, tag: str) -> bool:
    """True if some line or page has the tag or one below it."""
    return bool(index.rows(f"SELECT 1 FROM link WHERE {_OF_TAG} LIMIT 1", _tag_range(tag)))


# How firmly the belief that a line stated is held now: the number in the head above its `stated` in bank/opinions.md.
_CURRENT = (
    "(SELECT head.confidence FROM link JOIN entry AS bullet ON bullet.id = link.entry JOIN entry AS head ON head.id = (SELECT max(id) FROM entry AS above "
    "WHERE above.id < link.entry AND above.page = bullet.page AND above.role = 'fact') "
    "WHERE link.target = entry.ref AND link.relation = 'stated' LIMIT 1)"
)
# Written on one of those days, or about them: a fact that begins then, or a closed span that reaches into them.
_WITHIN = (
    "entry.id IN (SELECT id FROM entry WHERE day >= ? AND day <= ? UNION SELECT id FROM entry "
    "WHERE (first IS NOT day OR last IS NOT NULL) AND first <= ? AND (first >= ? OR last >= ?))"
)


def _named(who: Entity | str) -> tuple[str, list[Any]]:
    """Entries that name somebody as @Name or [[Name]], or hold all words of one of the names."""
    keys, names = (who.keys, who.names) if isinstance(who, Entity) else ((entity_key(who),), (who,))
    marks = ", ".join("?" * len(keys))
    spelled = filter(None, (dict.fromkeys(terms(name)) for name in names))
    phrases = [f"({' AND '.join(match_expression([term]) for term in found)})" for found in spelled]
    words = "SELECT rowid FROM words WHERE words MATCH ?" if phrases else "SELECT NULL WHERE ? IS NULL AND 0"
    sql = f"entry.id IN (SELECT entry FROM mention WHERE name IN ({marks}) UNION {words})"
    return sql, [*keys, " OR ".join(phrases) or None]


# -- what is over: facts whose time to be kept has ended, by their own `ttl=`, else by the rules of the settings -------

PINNED = 0.9  # importance from which a line is kept, whatever the rules say


class TtlRule(NamedTuple):
    """A rule of the settings: the kind or origin that it is for, how long that is kept, and from which day on it is now."""

    name: str
    ttl: str
    first: str


class Expiry(NamedTuple):
    """What is over on a day. A line with a `ttl=` of its own is under no rule; of several rules any ends a line."""

    day: str
    rules: tuple[TtlRule, ...] = ()

    def condition(self) -> Filter:
        """The condition that is true for what is over."""
        values: list[Any] = [self.day]
        parts = ["coalesce(entry.kept, '9999') < ?"]
        for rule in self.rules:
            parts.append(
                "entry.role = 'fact' AND entry.kept IS NULL AND coalesce(entry.importance, 0) < ? "
                "AND coalesce(entry.day, '9999') < ? AND (entry.kind = ? OR entry.origin = ? OR entry.origin LIKE ?)"
            )
            values += [PINNED, rule.first, rule.name, rule.name, f"{rule.name}:%"]
        return Filter(" OR ".join(f"({part})" for part in parts), tuple(values))

    def reason(self, row: Row, ttl: str | None) -> str | None:
        """Why a fact, whose own `ttl=` is given, is over; None if it is not."""
        if row.kept is not None:
            return f"ttl={ttl} ran out on {row.kept}" if row.kept < self.day else None
        if row.day is None or (row.importance or 0) >= PINNED:
            return None
        whose = (row.kind, row.origin.partition(":")[0])
        found = (rule for rule in self.rules if rule.name in whose and row.day < rule.first)
        return next((f"told on {row.day}, and {rule.name} is kept for {rule.ttl}" for rule in found), None)


def expiry_on(day: date, ttl: Sequence[tuple[str, str]]) -> Expiry:
    """What is over on a day by the lines themselves and by the rules of the settings."""
    rules: tuple[TtlRule, ...] = ()
    if ttl:
        from ..rows import kept_from  # with the parser of pages, which a recall does not need

        rules = tuple(TtlRule(name, span, str(kept_from(day, span))) for name, span in ttl)
    return Expiry(day.isoformat(), rules)


def expiry_if_any(index: Index, day: date, ttl: Sequence[tuple[str, str]]) -> Filter | None:
    """The condition that is true for it; None where no line can be over, so that a search needs none."""
    found = expiry_on(day, ttl)
    if found.rules or index.rows("SELECT 1 FROM entry WHERE kept < ? LIMIT 1", (found.day,)):
        return found.condition()
    return None
