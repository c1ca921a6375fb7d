"""What conflicts and truth ask of the index: slots whose order does not decide alone, facts by whom they are about."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from datetime import date
from typing import NamedTuple

from ...ids import page_id
from ...markdown.evidence_line import OPINIONS
from ..index import Index
from ..lexical import ORDINAL_BITS
from .entries import Stored, by_ids, keys_of

__all__ = [
    "Told",
    "at_place",
    "bearers",
    "facts_about",
    "has_marked",
    "mention_count",
    "said_since",
    "side_by_side",
    "slots_filled",
    "weighed",
]

_BELIEFS = page_id(OPINIONS) << ORDINAL_BITS
# The heads of beliefs are the lines that stated them, once more.
_SAID = (
    "entry.role = 'fact' AND entry.block IS NULL AND entry.kind IN ('world', 'experience', 'opinion') "
    f"AND entry.id NOT BETWEEN {_BELIEFS} AND {_BELIEFS + (1 << ORDINAL_BITS) - 1}"
)


class Told(NamedTuple):
    """A fact by whom it is about, with its search terms: what finds pairs worth a closer look, without reading a page."""

    id: int
    kind: str
    day: str | None
    first: str | None
    last: str | None
    origin: str
    confidence: float | None
    content_key: int
    own: str


def has_marked(index: Index, key: str, names: Iterable[str]) -> bool:
    """True when a slot holds a correction in words or a pinned line: then every version of it decides."""
    sql = "SELECT 1 FROM slot WHERE key = ? AND name = ? AND marked LIMIT 1"
    return any(index.rows(sql, (key, name)) for name in names)


def bearers(index: Index) -> dict[str, set[str]]:
    """Every name key that facts are written about, by the first key of its bearer; each bearer once."""
    found: dict[str, set[str]] = defaultdict(set)
    pages = bool(index.rows("SELECT 1 FROM entity LIMIT 1"))
    for (name,) in index.rows("SELECT DISTINCT name FROM mention ORDER BY name"):
        found[keys_of(index, name)[0] if pages else name].add(name)
    return dict(found)


def facts_about(index: Index, names: Iterable[str], limit: int) -> list[Told]:
    """The newest `limit` facts that name one of these keys, the newest first; neither copies nor observations."""
    fields = ", ".join(f"entry.{name}" for name in Told._fields[:-1])
    sql = (
        f"SELECT DISTINCT {fields}, words.own FROM mention JOIN entry ON entry.id = mention.entry "
        f"JOIN words ON words.rowid = entry.id WHERE mention.name IN ({{keys}}) AND {_SAID}"
    )
    found = {row[0]: Told(*row) for row in index.rows_in(sql, names)}
    return sorted(found.values(), key=lambda told: (told.day or "", told.id), reverse=True)[:limit]


def said_since(index: Index, since: date) -> list[int]:
    """Ids of the facts written down from a day on; neither copies nor observations."""
    return [i for (i,) in index.rows(f"SELECT id FROM entry WHERE day >= ? AND {_SAID}", (str(since),))]


def mention_count(index: Index, names: Iterable[str]) -> int:
    """How many entries of any kind name one of these keys, each key for itself."""
    counts = index.rows_in("SELECT count(*) FROM mention WHERE name IN ({keys})", names)
    return sum(count for (count,) in counts)


def slots_filled(index: Index, names: Iterable[str] | None) -> list[tuple[str, str, int, int]]:
    """(key, name, fact, value) of everything that fills a slot of these names; of everybody, with None."""
    sql = "SELECT key, name, entry, same FROM slot"
    if names is None:
        return index.rows(f"{sql} ORDER BY key, name, first, entry")
    return index.rows_in(f"{sql} WHERE name IN ({{keys}}) ORDER BY key, name, first, entry", names)


def side_by_side(index: Index, refs: Iterable[str]) -> dict[str, set[int]]:
    """For each id the trusted lines that speak for it: one line that speaks for two says that they agree."""
    sql = (
        "SELECT link.target, link.entry FROM link JOIN entry ON entry.id = link.entry WHERE link.relation = 'supports' "
        "AND entry.block IS NULL AND entry.origin NOT IN ('tool', 'web', 'import') AND entry.origin NOT LIKE 'tool:%' "
        "AND entry.origin NOT LIKE 'web:%' AND entry.origin NOT LIKE 'import:%' AND link.target IN ({keys})"
    )
    found: dict[str, set[int]] = defaultdict(set)
    for target, entry in index.rows_in(sql, refs):
        found[target].add(entry)
    return found


def weighed(index: Index, refs: Iterable[str]) -> dict[str, set[str]]:
    """What the beliefs make of each id: `stated` one, or `weighed` for or against one; ids of no belief are left out."""
    found: dict[str, set[str]] = defaultdict(set)
    for target, relation in index.rows_in(
        "SELECT DISTINCT target, relation FROM link WHERE relation IN ('stated', 'weighed') AND target IN ({keys})",
        refs,
    ):
        found[target].add(relation)
    return found


def at_place(index: Index, path: str, line: int) -> list[Stored]:
    """The entries that stand on a line of a page."""
    low = page_id(path) << ORDINAL_BITS
    rows = index.rows("SELECT page.id FROM page WHERE page.path = ?", (path,))
    low = rows[0][0] << ORDINAL_BITS if rows else low
    sql = "SELECT id FROM entry WHERE id >= ? AND id < ? AND line <= ? AND end_line >= ?"
    ids = [i for (i,) in index.rows(sql, (low, low + (1 << ORDINAL_BITS), line, line))]
    return list(by_ids(index, ids).values())
