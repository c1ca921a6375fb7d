"""What the walk over names asks of the index: the names on lines, whose they are, and the lines that bear them. All bounded."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from ...language.analyzer import terms
from ...language.names import is_han, stem_head, stem_key
from ...language.names_in_text import Listed, by_head
from ..index import Index
from ..lexical import ORDINAL_BITS, match_expression
from .entries import Filter

__all__ = [
    "Bearer",
    "Line",
    "bearers",
    "borne_by",
    "by_heads",
    "joined",
    "lines_of",
    "listed",
    "names_from",
    "page_bearers",
    "page_of",
]

# A line that names somebody in prose. Code does not (`@property`), a heading stands for others, a copy says nothing.
_SPEAKS = "entry.block IS NULL AND entry.role IN ('fact', 'text', 'item', 'row')"
_GAP = 4  # terms between two words of a name
_HAN = 500
_STEPS = 8  # names tried for one beginning
_ENDING = 3  # letters that a name may have beyond its stem


class Line(NamedTuple):
    """A line that may lie on a way: the keys of the names marked on it, and which lines are its twins."""

    id: int
    names: tuple[str, ...]
    content_key: int
    ref: str


class Bearer(NamedTuple):
    """Whom a name stands for: the key that all his names share, his name, all keys and spellings, and his page's number."""

    key: str
    name: str
    keys: tuple[str, ...]
    names: tuple[str, ...]
    page: int | None = None


# -- who is who -------------------------------------------------------------------------------------------------------


def bearers(index: Index, keys: Iterable[str]) -> dict[str, Bearer]:
    """Whom each key of a name stands for. One without a page, or with several bearers, stands for itself."""
    wanted = [key for key in dict.fromkeys(keys) if key]
    pages: dict[str, list[int]] = {}
    for key, page in index.rows_in("SELECT key, page FROM alias WHERE key IN ({keys}) ORDER BY key, page", wanted):
        pages.setdefault(key, []).append(page)
    for key in (key for key in wanted if key not in pages and " " not in key):
        # A first name alone: the full names that begin with it; "!" is the character after the space.
        found = index.rows("SELECT page FROM entity WHERE key >= ? AND key < ? LIMIT 2", (key + " ", key + "!"))
        pages[key] = [page for (page,) in found]
    known = page_bearers(index, (found[0] for found in pages.values() if len(found) == 1))
    made: dict[str, Bearer] = {}
    for key in wanted:
        borne = known.get(pages[key][0]) if len(pages.get(key, ())) == 1 else None
        made[key] = borne._replace(keys=_once((*borne.keys, key))) if borne else Bearer(key, key, (key,), (key,))
    return made


def _once(keys: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(keys))


def page_bearers(index: Index, pages: Iterable[int]) -> dict[int, Bearer]:
    """The entities that these pages are about, by page."""
    wanted = list(pages)
    names: dict[int, list[tuple[str, str]]] = {}
    sql = "SELECT page, key, name FROM alias WHERE page IN ({keys}) ORDER BY page, key"
    for page, key, name in index.rows_in(sql, wanted):
        names.setdefault(page, []).append((key, name))
    return {
        page: Bearer(key, name, _once((key, *(k for k, _ in names[page]))), tuple(n for _, n in names[page]), page)
        for page, key, name in index.rows_in("SELECT page, key, name FROM entity WHERE page IN ({keys})", wanted)
        if page in names
    }


# -- from a line to names ---------------------------------------------------------------------------------------------


def lines_of(index: Index, ids: Iterable[int], condition: Filter) -> list[Line]:
    """Those of some entries that speak and pass a condition, by id."""
    where = f"{_SPEAKS} AND {condition.sql}" if condition.sql else _SPEAKS
    listed = ", ".join(str(int(i)) for i in ids)
    sql = f"SELECT id, names, content_key, ref FROM entry WHERE id IN ({listed}) AND {where} ORDER BY id"
    return [
        Line(number, tuple(filter(None, names.split("\n"))), key, ref)
        for number, names, key, ref in index.rows(sql, condition.values)
    ]


def names_from(index: Index, texts: Mapping[int, str]) -> dict[int, set[str]]:
    """Keys of the names that lines hold without a mark, by line: those of pages, and those that are marked elsewhere.

    `texts` are the lines' search terms, which have lost their capitals: what is shown is looked at again.
    """
    words = {word for own in texts.values() for word in own.split() if len(word) > 1 or is_han(word)}
    words |= {word + end for word in words if "а" <= word[:1] <= "я" for end in ("ов", "ев")}  # «Петров» stays whole
    known = index.rows_in("SELECT key, name FROM alias WHERE head IN ({keys})", words)
    if any(map(is_han, words)):  # terms are in simplified characters, names as they are written
        known += index.rows("SELECT key, name FROM alias WHERE head >= '\u3400' AND head < '\ua000' LIMIT ?", (_HAN,))
    known += [(key, key) for key in _marked(index, words, texts.values())]
    by_term: dict[str, list[tuple[str, str]]] = {}
    for key, name in known:
        for run in _runs(name, key):
            by_term.setdefault(run.partition(" ")[0], []).append((f" {run} ", key))
    found: dict[int, set[str]] = {}
    for line, own in texts.items() if by_term else ():
        spaced = f" {own} "
        held = {key for term in by_term.keys() & set(own.split()) for run, key in by_term[term] if _holds(spaced, run)}
        if held:
            found[line] = held
    return found


def _holds(spaced: str, run: str) -> bool:
    """True if the terms of a name follow each other, with room for those of a word in parts ("OpenSeeds Labs")."""
    if run in spaced or " " not in run.strip() or is_han(run[1]):
        return run in spaced
    return bool(re.search(rf"(?:\S+ ){{0,{_GAP}}}".join(re.escape(f"{term} ") for term in run.split()), spaced))


def _runs(*spellings: str) -> list[str]:
    """How a name stands among the search terms of a line: Chinese characters come one by one, then in pairs."""
    whole = (terms(name) for name in spellings)
    han = ([term for term in found if len(term) == 1] if any(map(is_han, found)) else found for found in whole)
    return list(dict.fromkeys(" ".join(run) for run in han if run))


def _marked(index: Index, words: Collection[str], texts: Iterable[str]) -> set[str]:
    """Names written as @Name or [[Name]] somewhere that begin with one of these terms.

    The table of names is not stemmed, so the first few names from each stem on are looked at ("atla" leads to "atlas",
    perhaps by way of "atlantic"), and of those with several words ("entity 12") the ones with the next word too.
    """
    found = _beginning(index, {word: word for word in words})
    firsts: dict[str, set[str]] = {}
    for name in found:
        first, more, _ = name.partition(" ")
        if more:
            firsts.setdefault(stem_head(name), set()).add(first)
    pairs = {pair for own in texts for pair in pairwise(own.split()) if pair[0] in firsts}
    return found | _beginning(index, {f"{first} {after}": term for term, after in pairs for first in firsts[term]})


def _beginning(index: Index, wanted: Mapping[str, str]) -> set[str]:
    """Names that begin so and have the stem that stands beside it as their first."""
    found: set[str] = set()
    asked = [(begin, begin) for begin in sorted({w[:-1] if w.endswith("i") and len(w) > 3 else w for w in wanted})]
    stems = {*wanted.values()}
    for _ in range(_STEPS):
        next_ = [(begin, name) for begin, name in _next_names(index, asked) if name and name.startswith(begin)]
        found |= {name for _, name in next_ if stem_head(name) in stems or is_han(name[0])}
        asked = [(begin, _past(begin, name)) for begin, name in next_]
        if not asked:
            break
    return found


def _past(begin: str, name: str) -> str:
    """Where to look next: past this name, and past all that go on as it does where that is no ending any more."""
    first = name.partition(" ")[0]
    return name + "\x01" if len(first) <= len(begin) + _ENDING else first[: len(begin) + _ENDING + 1] + "\U0010ffff"


def _next_names(index: Index, asked: Sequence[tuple[str, str]]) -> Iterable[tuple[str, str | None]]:
    """For each (word, place), the first name in the index that does not stand before the place."""
    for start in range(0, len(asked), 200):
        piece = asked[start : start + 200]
        marks = ", ".join(["(?, ?)"] * len(piece))
        sql = (
            f"WITH asked (word, place) AS (VALUES {marks}) "
            "SELECT word, (SELECT name FROM mention WHERE name >= place ORDER BY name LIMIT 1) FROM asked"
        )
        yield from index.rows(sql, [value for pair in piece for value in pair])


# -- from a name to lines ---------------------------------------------------------------------------------------------


def borne_by(index: Index, who: Bearer, most: int) -> list[int]:
    """Ids of the lines that name somebody: by a mark, on his own page, or by the words of one of his names.

    More than `most` of them are not all given, but so many that it shows. Words that stand on that many lines are no
    way to tell a name.
    """
    marks = ", ".join("?" * len(who.keys))
    sql = f"SELECT entry FROM mention WHERE name IN ({marks}) LIMIT ?"
    found = {number for (number,) in index.rows(sql, (*who.keys, most + 1))}
    if who.page is not None:
        low, high = who.page << ORDINAL_BITS, (who.page + 1) << ORDINAL_BITS
        rows = index.rows(f"SELECT id FROM entry WHERE id >= ? AND id < ? AND {_SPEAKS} LIMIT ?", (low, high, most + 1))
        found |= {number for (number,) in rows}
    if len(found) <= most:
        asked = " OR ".join(map(_near, _runs(*who.names, *who.keys)))
        rows = index.rows("SELECT rowid FROM words WHERE words MATCH ? LIMIT ?", (asked, most + 1)) if asked else []
        found |= {number for (number,) in rows} if len(rows) <= most else set()
    return sorted(found)


def _near(run: str) -> str:
    """The FTS5 expression for the terms of a name, one after the other, with as much room as `_holds` gives them."""
    quoted = match_expression([run])
    return quoted if " " not in run or is_han(run[0]) else f"NEAR({' '.join(map(_quoted, run.split()))}, {_GAP})"


def _quoted(term: str) -> str:
    return match_expression([term])


def joined(
    index: Index, seeds: Sequence[tuple[str, str, float]], limit: int, hub: int, left_out: Iterable[int]
) -> list[tuple[int, float]]:
    """One step in one statement: the lines that share marked names with the seeds, best first, with their weights.

    `seeds` are (key, bearer, weight). Each name gives its weight away in equal parts, a hub none: without that, the
    answer goes from bad to worse as hubs grow. The fast form of two hops; the walk also sees names without marks.
    """
    if not seeds:
        return []
    marks = ", ".join(["(?, ?, ?)"] * len(seeds))
    out = ", ".join(str(int(i)) for i in left_out)
    sql = (
        f"WITH seed (name, bearer, weight) AS (VALUES {marks}), "
        "told AS (SELECT DISTINCT seed.bearer, mention.entry FROM seed JOIN mention ON mention.name = seed.name), "
        "part AS (SELECT bearer, 1.0 / count(*) AS each FROM told GROUP BY bearer HAVING count(*) <= ?), "
        "given AS (SELECT bearer, max(weight) AS weight FROM seed GROUP BY bearer) "
        "SELECT told.entry, sum(given.weight * part.each) FROM told JOIN part ON part.bearer = told.bearer "
        "JOIN given ON given.bearer = told.bearer JOIN entry ON entry.id = told.entry "
        f"WHERE {_SPEAKS} AND told.entry NOT IN ({out}) GROUP BY told.entry ORDER BY 2 DESC, 1 LIMIT ?"
    )
    values: list[Any] = [value for seed in seeds for value in seed]
    return [(number, weight) for number, weight in index.rows(sql, (*values, hub, limit))]


def listed(who: Bearer) -> list[Listed]:
    """The names of somebody as `find_names` wants them; without a page, one that begins with a capital."""
    names = who.names if who.page is not None else (who.key[:1].upper() + who.key[1:],)
    return [Listed(stem_key(name), name, who.key) for name in names]


def by_heads(who: Bearer) -> dict[str, list[Listed]]:
    """The same by what a text looks them up with."""
    return by_head((stem_head(name.name), name) for name in listed(who))


def page_of(line: int) -> int:
    """The number of the page that a line stands on."""
    return line >> ORDINAL_BITS
