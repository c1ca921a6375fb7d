"""Questions of beliefs, conflicts, truth and reflect: facts of a window, of a name or of a slot, and what cites them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from datetime import date
from typing import NamedTuple

from ...facts import UNTRUSTED, is_trusted
from ...ids import page_id
from ...language.names import entity_key
from ...markdown.evidence_line import OPINIONS
from ..index import Index
from ..lexical import ORDINAL_BITS
from .entries import Query, Stored, by_ids, by_refs, condition_of
from .names import keys_of

__all__ = [
    "Chain",
    "Light",
    "ToldFact",
    "about_names",
    "at_place",
    "beliefs_stated_by",
    "chain_of",
    "days_told",
    "facts_about",
    "facts_between",
    "forgotten_refs",
    "has_marked",
    "important",
    "keys_by_entity",
    "may_be_retracted",
    "mention_count",
    "merged_pages",
    "named_since",
    "names_told",
    "naming",
    "outcomes_of",
    "pages_of_names",
    "placed",
    "replacing_between",
    "said_since",
    "side_by_side",
    "slots_filled",
    "tasks_between",
    "terms_held",
    "weighed",
]

_ROWS = "SELECT id, role, line, end_line, confidence, links FROM entry WHERE id >= ? AND id < ? ORDER BY id LIMIT 400"


class Chain(NamedTuple):
    """A belief's head on its page, and its evidence: lines, relation (stated, weighed, ended) and the id it points at."""

    head: int
    line: int
    end_line: int
    confidence: float | None
    evidence: tuple[tuple[int, int, str, str], ...]

    @property
    def stated(self) -> str | None:
        """The id of the line that stated it."""
        return next((ref for _, _, relation, ref in self.evidence if relation == "stated" and ref != "-"), None)


def chain_of(index: Index, head: int) -> Chain | None:
    """The belief whose head is this entry, None if there is no such entry."""
    rows = index.rows(_ROWS, (head, ((head >> ORDINAL_BITS) + 1) << ORDINAL_BITS))
    if not rows or rows[0][0] != head:
        return None
    evidence = []
    for _, role, line, end_line, _, links in rows[1:]:
        if role in ("fact", "heading"):
            break
        if links:
            relation, _, ref = links.partition(" ")
            evidence.append((line, end_line, relation, ref))
    _, _, line, end_line, confidence, _ = rows[0]
    return Chain(head, line, end_line, confidence, tuple(evidence))


def beliefs_stated_by(index: Index, refs: Iterable[str]) -> dict[str, Chain]:
    """The belief that each of some lines stated, by the id of the line; lines that stated none are left out."""
    bullets = index.rows_in("SELECT target, entry FROM link WHERE relation = 'stated' AND target IN ({keys})", refs)
    before = "SELECT max(id) FROM entry WHERE id < ? AND id >= ? AND role = 'fact'"
    found: dict[str, Chain] = {}
    for ref, bullet in sorted(bullets, reverse=True):
        head = index.rows(before, (bullet, bullet >> ORDINAL_BITS << ORDINAL_BITS))[0][0]
        chain = chain_of(index, head) if head is not None else None
        if chain:
            found[ref] = chain
    return found


_BELIEFS = page_id(OPINIONS) << ORDINAL_BITS
# The heads of beliefs are the lines that stated them, once more.
_SAID = (
    "entry.role = 'fact' AND entry.block IS NULL AND entry.kind IN ('world', 'experience', 'opinion') "
    f"AND entry.id NOT BETWEEN {_BELIEFS} AND {_BELIEFS + (1 << ORDINAL_BITS) - 1}"
)


class ToldFact(NamedTuple):
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


def keys_by_entity(index: Index) -> dict[str, set[str]]:
    """Every name key that facts are written about, by the first key of its bearer; each bearer once."""
    found: dict[str, set[str]] = defaultdict(set)
    pages = bool(index.rows("SELECT 1 FROM entity LIMIT 1"))
    for (name,) in index.rows("SELECT DISTINCT name FROM mention ORDER BY name"):
        found[keys_of(index, name)[0] if pages else name].add(name)
    return dict(found)


def facts_about(index: Index, names: Iterable[str], limit: int) -> list[ToldFact]:
    """The newest `limit` facts that name one of these keys, the newest first; neither copies nor observations."""
    fields = ", ".join(f"entry.{name}" for name in ToldFact._fields[:-1])
    sql = (
        f"SELECT DISTINCT {fields}, words.own FROM mention JOIN entry ON entry.id = mention.entry "
        f"JOIN words ON words.rowid = entry.id WHERE mention.name IN ({{keys}}) AND {_SAID}"
    )
    found = {row[0]: ToldFact(*row) for row in index.rows_in(sql, names)}
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


_BELIEF_PAGE = page_id(OPINIONS)
# What may enter a page or move a belief: no summary of the tool's own, told by the owner, an agent or nobody in particular, and not for this machine alone.
_MAY_COUNT = (
    "entry.role = 'fact' AND entry.kind <> 'observation' AND entry.block IS NULL AND entry.private = 0 "
    + "".join(f"AND entry.origin <> '{origin}' AND entry.origin NOT LIKE '{origin}:%' " for origin in UNTRUSTED)
    + f"AND entry.id NOT BETWEEN {_BELIEF_PAGE << ORDINAL_BITS} AND {((_BELIEF_PAGE + 1) << ORDINAL_BITS) - 1}"
)


class Light(NamedTuple):
    """What decides whether a fact is shown, without its text."""

    id: int
    kind: str
    day: str | None
    first: str | None
    last: str | None
    slot: str | None
    importance: float | None
    content_key: int
    names: str
    ref: str


def facts_between(index: Index, since: date | None, until: date) -> list[Stored]:
    """Facts that count, written down from `since` (None: ever) to `until`, without the tool's own observations."""
    sql = f"SELECT entry.id FROM entry WHERE {_MAY_COUNT} AND entry.day >= ? AND entry.day <= ?"
    ids = [i for (i,) in index.rows(sql, (str(since) if since else "", str(until)))]
    return list(by_ids(index, ids).values())


def named_since(index: Index, since: date | None, until: date) -> set[str]:
    """Keys of the names on facts that count, written down in those days."""
    sql = f"SELECT DISTINCT names FROM entry WHERE {_MAY_COUNT} AND entry.day >= ? AND entry.day <= ?"
    rows = index.rows(sql, (str(since) if since else "", str(until)))
    return {name for (names,) in rows for name in names.split("\n") if name}


def names_told(index: Index, until: date) -> set[str]:
    """Keys of the names on facts that count, written down until that day: `named_since` ever, a name at a time.

    No more is read than the list of names, and of each the lines up to the first that counts.
    """
    sql = (
        "WITH RECURSIVE each (name) AS (SELECT min(name) FROM mention UNION ALL "
        "SELECT (SELECT min(name) FROM mention WHERE name > each.name) FROM each WHERE each.name IS NOT NULL) "
        "SELECT each.name FROM each WHERE each.name <> '' AND EXISTS (SELECT 1 FROM mention CROSS JOIN entry "
        f"ON entry.id = mention.entry WHERE mention.name = each.name AND {_MAY_COUNT} AND entry.day >= '' AND entry.day <= ?)"
    )
    return {name for (name,) in index.rows(sql, (str(until),))}


def replacing_between(index: Index, since: date, until: date) -> list[Stored]:
    """Facts of any kind, written down in those days, that fill a slot or say what they replace."""
    sql = (
        "SELECT id FROM entry WHERE role = 'fact' AND block IS NULL AND day >= ? AND day <= ? "
        "AND (slot IS NOT NULL OR links <> '')"
    )
    return list(by_ids(index, [i for (i,) in index.rows(sql, (str(since), str(until)))]).values())


def naming(index: Index, names: Iterable[str], until: date) -> list[Stored]:
    """Facts that count and may name one of these without marking it, whenever they were written down."""
    found: dict[int, Stored] = {}
    for name in names:
        named = condition_of(index, Query(), [name])
        sql = (
            f"SELECT entry.id FROM entry WHERE {_MAY_COUNT} AND entry.day <= ? AND {named.sql} "
            "AND entry.id NOT IN (SELECT entry FROM mention WHERE name = ?)"
        )
        values = (str(until), *named.values, entity_key(name))
        found |= by_ids(index, [i for (i,) in index.rows(sql, values)])
    return list(found.values())


def about_names(index: Index, names: Iterable[str], until: date) -> list[Light]:
    """Facts that count and name, as @Name or [[Name]], the bearer of one of these keys; by day, then place."""
    sql = (
        f"SELECT DISTINCT {', '.join(f'entry.{name}' for name in Light._fields)} FROM mention "
        f"JOIN entry ON entry.id = mention.entry WHERE mention.name IN ({{keys}}) AND {_MAY_COUNT}"
    )
    found = {row[0]: Light(*row) for row in index.rows_in(sql, names)}
    last = str(until)
    return sorted(
        (light for light in found.values() if light.day is None or light.day <= last),
        key=lambda light: (light.day or "", light.ref, light.id),
    )


def tasks_between(index: Index, since: date | None, until: date) -> list[str]:
    """The tasks whose outcome was written down in those days; empty for one that has no name."""
    sql = f"SELECT DISTINCT task FROM entry WHERE task IS NOT NULL AND {_MAY_COUNT} AND day >= ? AND day <= ?"
    return sorted(task for (task,) in index.rows(sql, (str(since) if since else "", str(until))))


def outcomes_of(index: Index, tasks: Iterable[str], until: date) -> list[Stored]:
    """Every fact with an outcome of one of these tasks."""
    sql = f"SELECT entry.id FROM entry WHERE task IN ({{keys}}) AND {_MAY_COUNT}"
    entries = by_ids(index, (i for (i,) in index.rows_in(sql, tasks))).values()
    return [entry for entry in entries if entry.day is None or entry.day <= str(until)]


def important(index: Index, least: float, until: date) -> list[int]:
    """Ids of the facts that count whose author gave them at least this importance."""
    sql = f"SELECT entry.id FROM entry WHERE {_MAY_COUNT} AND importance >= ? AND day <= ? ORDER BY id"
    return [i for (i,) in index.rows(sql, (least, str(until)))]


def days_told(index: Index, refs: Iterable[str], until: date) -> dict[str, list[str]]:
    """The days of the other lines that count and say the same as some facts, or name them as evidence, by id."""
    wanted = list(refs)
    said = index.rows_in("SELECT id, ref, content_key FROM entry WHERE ref IN ({keys}) AND block IS NULL", wanted)
    of_key: dict[int, set[str]] = {}
    for _, ref, key in said:
        of_key.setdefault(key, set()).add(ref)
    own = {number for number, _, _ in said}
    twins = f"SELECT id, content_key, day FROM entry WHERE content_key IN ({{keys}}) AND {_MAY_COUNT}"
    naming = f"SELECT target, day FROM link JOIN entry ON entry.id = entry WHERE target IN ({{keys}}) AND {_MAY_COUNT}"
    told = [(ref, day) for number, key, day in index.rows_in(twins, of_key) if number not in own for ref in of_key[key]]
    found: dict[str, list[str]] = {}
    for ref, day in [*told, *index.rows_in(naming, wanted)]:
        if day is not None and day <= str(until):
            found.setdefault(ref, []).append(day)
    return {ref: sorted(days) for ref, days in found.items()}


def may_be_retracted(index: Index, entries: Iterable[Stored]) -> list[Stored]:
    """Those of some entries that a line corrects by their id, or that fill a slot in which somebody is corrected."""
    found = list(entries)
    refs = index.rows_in(
        "SELECT DISTINCT target FROM link WHERE relation = 'corrects' AND target IN ({keys})", (e.ref for e in found)
    )
    corrected = {ref for (ref,) in refs}
    keys = {key for (key,) in index.rows("SELECT DISTINCT key FROM slot WHERE marked")}
    return [entry for entry in found if entry.ref in corrected or entry.slot in keys]


def placed(index: Index, refs: Iterable[str]) -> list[Stored]:
    """Where the lines with these ids stand; neither copies in managed blocks nor bank/opinions.md.

    Lines from outside come last: an imported page may bear the ids of the owner's lines, and never stands for them.
    """
    found = [entry for entry in by_refs(index, refs) if entry.block is None and entry.path != OPINIONS]
    return sorted(found, key=lambda entry: not is_trusted(entry.origin))


def forgotten_refs(index: Index, refs: Iterable[str]) -> set[str]:
    """Those of some ids that a tombstone says were forgotten on purpose."""
    sql = "SELECT ref FROM entry WHERE block = 'forgotten' AND ref IN ({keys})"
    return {ref for (ref,) in index.rows_in(sql, refs)}


def merged_pages(index: Index) -> list[str]:
    """Pages in the folder of entities that are none, being merged into another, and still hold what reflect wrote."""
    sql = (
        "SELECT path FROM page WHERE path LIKE 'bank/entities/%' AND id NOT IN (SELECT page FROM entity) AND sha256 <> x'' "
        f"AND EXISTS (SELECT 1 FROM entry WHERE entry.id >= page.id << {ORDINAL_BITS} "
        f"AND entry.id < (page.id + 1) << {ORDINAL_BITS} AND block = 'summary') ORDER BY path"
    )
    return [path for (path,) in index.rows(sql)]


def terms_held(index: Index, path: str) -> dict[tuple[str, int], str]:
    """The search terms of the lines of a page, by role and digest."""
    sql = (
        "SELECT entry.role, entry.digest, words.own FROM page JOIN entry "
        f"ON entry.id >= page.id << {ORDINAL_BITS} AND entry.id < (page.id + 1) << {ORDINAL_BITS} "
        "JOIN words ON words.rowid = entry.id WHERE page.path = ?"
    )
    return {(role, digest): own for role, digest, own in index.rows(sql, (path,))}


def pages_of_names(index: Index, names: Iterable[str]) -> dict[str, str]:
    """The path of the page that bears each of these keys as its own name; names without a page are left out."""
    sql = "SELECT entity.key, page.path FROM entity JOIN page ON page.id = entity.page WHERE entity.key IN ({keys})"
    found: dict[str, str] = {}
    for key, path in sorted(index.rows_in(sql, map(entity_key, names))):
        found.setdefault(key, path)
    return found
