"""Questions of beliefs, conflicts, truth, reflect and review: facts of a window, of a name or of a slot, and what cites them."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import date
from itertools import chain
from typing import NamedTuple

from ...facts import grouped, is_trusted
from ...language.names import entity_key
from ...markdown.grammar import OPINIONS
from ..index import Index
from ..row import Row
from .entity_names import keys_of
from .entries import Query, by_ids, by_refs, selected, selected_in
from .filters import condition_of

_ROWS = (
    "SELECT id, role, line, end_line, confidence, links FROM entry WHERE id >= ?1 "
    "AND page = (SELECT page FROM entry WHERE id = ?1) ORDER BY id LIMIT 400"
)


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
    """The belief whose head is this entry, None if there is none."""
    rows = index.rows(_ROWS, (head,))
    if not rows:
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
    before = (
        "SELECT max(id) FROM entry WHERE id < ?1 AND page = (SELECT page FROM entry WHERE id = ?1) AND role = 'fact'"
    )
    heads = ((ref, index.column(before, (bullet,))[0]) for ref, bullet in sorted(bullets, reverse=True))
    return {ref: belief for ref, head in heads if (belief := chain_of(index, head))}


class BeliefLines(NamedTuple):
    """Where a belief stands on bank/opinions.md: its id, its first line, and the line before which all of it ends, if any."""

    ref: str
    line: int
    before: int | None


_HEADS = (
    "SELECT DISTINCT head.ref, head.line, (SELECT CASE WHEN after.page = head.page THEN after.line END FROM entry AS after "
    "WHERE after.id > head.id AND after.role IN ('fact', 'heading') ORDER BY after.id LIMIT 1) FROM live AS head "
    f"WHERE head.page = (SELECT id FROM page WHERE path = '{OPINIONS}') AND head.kind = 'opinion' AND head.role = 'fact' AND "
)


def heads_about(index: Index, names: Iterable[str]) -> list[BeliefLines]:
    """The beliefs that name one of these keys, in page order."""
    sql = f"{_HEADS} head.id IN (SELECT entry FROM mention WHERE name IN ({{keys}}))"
    return sorted(map(BeliefLines._make, index.rows_in(sql, names)), key=lambda head: head.line)


def lines_of_facts(index: Index) -> list[int]:
    """The lines on which a fact begins on bank/opinions.md."""
    sql = f"SELECT line FROM live WHERE role = 'fact' AND page = (SELECT id FROM page WHERE path = '{OPINIONS}')"
    return index.column(sql)


def heads_concerning(index: Index, ref: str) -> list[BeliefLines]:
    """The beliefs with this id or a piece of evidence that has it, in page order, and those whose id is not written down."""
    above = "SELECT max(id) FROM entry AS above WHERE above.id < bullet.id AND above.role = 'fact'"
    cited = f"SELECT ({above}) FROM link JOIN entry AS bullet ON bullet.id = link.entry WHERE target = ?1 AND block = 'evidence'"
    sql = f"{_HEADS} (head.ref = ?1 OR head.id IN ({cited}) OR head.ref NOT LIKE 'o-%') ORDER BY head.line"
    return list(map(BeliefLines._make, index.rows(sql, (ref,))))


def has_marked(index: Index, key: str, names: Iterable[str]) -> bool:
    """True when a slot holds a correction in words or a pinned line: then every version of it decides."""
    sql = "SELECT 1 FROM slot WHERE key = ? AND name = ? AND marked LIMIT 1"
    return any(index.rows(sql, (key, name)) for name in names)


def newest_about(index: Index, names: Iterable[str]) -> int | None:
    """The id of the newest fact that names one of these keys; neither a copy nor an observation."""
    sql = (
        "SELECT coalesce(facts.day, '') AS since, facts.id FROM mention JOIN facts ON facts.id = mention.entry "
        "WHERE mention.name IN ({keys}) AND facts.kind <> 'observation' ORDER BY since DESC, facts.id DESC LIMIT 1"
    )
    found: tuple[str, int | None] = max(index.rows_in(sql, names), default=("", None))
    return found[1]


_READ = 500  # lines about a name, and of the newest ones of all, among which the newest about it are found


def newest_beside(index: Index, entry: Row, names: Sequence[str], limit: int) -> list[Row]:
    """Trusted facts about the same names, or about none, told no later, the newest of them; not all of a common name are read."""
    marks = ", ".join("?" * len(names))
    about = f"EXISTS (SELECT 1 FROM mention WHERE name IN ({marks}) AND entry = trusted.id)" if names else "names = ''"
    about = f"({about} OR names = '')" if "" in names else about
    sql = (
        f"SELECT id FROM trusted WHERE id IN (SELECT * FROM (SELECT entry FROM mention CROSS JOIN facts ON facts.id = entry "
        f"WHERE name IN ({marks}) LIMIT {_READ}) UNION SELECT * FROM (SELECT id FROM facts WHERE day <= ? ORDER BY day DESC LIMIT {_READ})) AND {about} "
        "AND is_fact AND kind <> 'observation' AND +day <= ? AND id <> ? ORDER BY +day DESC, id DESC LIMIT ?"
    )
    return selected(index, sql, (*names, entry.day, *names, entry.day, entry.id, limit))


def facts_since(index: Index, since: date) -> list[int]:
    """Ids of the facts written down from a day on; neither copies nor observations."""
    return index.column("SELECT id FROM facts WHERE day >= ? AND kind <> 'observation'", (str(since),))


def slots_filled(index: Index, names: Iterable[str] | None) -> list[tuple[str, str, int, int]]:
    """(key, name, fact, value) of everything that fills a slot of these names; of everybody, with None."""
    sql = "SELECT key, name, entry, same FROM slot"
    if names is None:
        return index.rows(f"{sql} ORDER BY key, name, first, entry")
    return index.rows_in(f"{sql} WHERE name IN ({{keys}}) ORDER BY key, name, first, entry", names)


def side_by_side(index: Index, refs: Iterable[str], until: str = "9999") -> dict[str, set[int]]:
    """For each id the trusted lines that speak for it, told by that day: one line that speaks for two says that they agree."""
    sql = (
        "SELECT link.target, link.entry FROM link JOIN trusted ON trusted.id = link.entry "
        "WHERE link.relation = 'supports' AND coalesce(trusted.day, '') <= ? AND link.target IN ({keys})"
    )
    found: dict[str, set[int]] = defaultdict(set)
    for target, entry in index.rows_in(sql, refs, (until,)):
        found[target].add(entry)
    return found


def facts_between(index: Index, since: date | None, until: date) -> list[Row]:
    """Facts that count, written down from `since` (None: ever) to `until`, without the tool's own observations."""
    sql = "SELECT id FROM countable WHERE day >= ? AND day <= ?"
    return selected(index, sql, (str(since or ""), str(until)))


def counting(index: Index, refs: Iterable[str]) -> list[Row]:
    """The facts with these ids that count."""
    return selected_in(index, "SELECT id FROM countable WHERE ref IN ({keys})", refs)


def days_between(index: Index, since: date, until: date) -> list[str]:
    """The days, in order, on which facts that count were written down."""
    sql = "SELECT DISTINCT day FROM countable WHERE day >= ? AND day <= ? ORDER BY day"
    return index.column(sql, (str(since), str(until)))


_TWINS = "ref IN (SELECT ref FROM countable WHERE day >= ?1 AND day <= ?2 GROUP BY ref HAVING count(*) > 1)"
_LINKED = "id IN (SELECT entry FROM link WHERE relation IN ('supports', 'refutes', 'supersedes'))"


def cited_or_linking(index: Index, since: date, until: date, refs: Iterable[str]) -> tuple[list[int], list[int]]:
    """Ids of those facts that count, of these days, which share their id with another; and of others that bear one of
    these ids or name another line by its id."""
    days = str(since), str(until)
    within = "SELECT id FROM countable WHERE day >= ?1 AND day <= ?2 AND"
    twins = index.column(f"{within} {_TWINS}", days)
    named = index.rows_in("SELECT id, day FROM countable WHERE day IS NOT NULL AND ref IN ({keys})", refs)
    others = {i for i, day in named if days[0] <= day <= days[1]}
    others |= set(index.column(f"{within} {_LINKED}", days))
    return twins, sorted(others.difference(twins))


def answers_until(index: Index, until: date) -> list[Row]:
    """Trusted lines of memctl's own kind that say what others say, end something, or settle a question."""
    sql = (
        "SELECT DISTINCT public.id FROM link CROSS JOIN public ON public.id = link.entry WHERE is_trusted AND relation IN "
        "('by', 'settles', 'supersedes', 'supports') AND role = 'fact' AND kind = 'observation' AND day <= ?"
    )
    return selected(index, sql, (str(until),))


def names_of_facts(index: Index, until: date) -> set[str]:
    """Keys of the names on facts that count, written down until that day: `named_since` ever, a name at a time.

    No more is read than the list of names, and of each the lines up to the first that counts.
    """
    sql = (
        "WITH RECURSIVE each (name) AS (SELECT min(name) FROM mention UNION ALL "
        "SELECT (SELECT min(name) FROM mention WHERE name > each.name) FROM each WHERE each.name IS NOT NULL) "
        "SELECT each.name FROM each WHERE each.name <> '' AND EXISTS (SELECT 1 FROM mention CROSS JOIN countable "
        "ON countable.id = mention.entry WHERE mention.name = each.name AND countable.day >= '' AND countable.day <= ?)"
    )
    return set(index.column(sql, (str(until),)))


def page_hashes(index: Index) -> list[tuple[int, str]]:
    """The number and the content hash of every page."""
    return [(page, sha.hex()[:16]) for page, sha in index.rows("SELECT id, sha256 FROM page")]


def names_of_pages(index: Index) -> dict[str, list[str]]:
    """Of each entity's page, by path: its name, its type, and every key it goes by."""
    sql = (
        "SELECT page.path, entity.name, coalesce(entity.type, ''), alias.key FROM entity JOIN page ON page.id = entity.page "
        "JOIN alias ON alias.page = entity.page ORDER BY page.path, alias.key"
    )
    found: dict[str, list[str]] = {}
    for path, name, kind, key in index.rows(sql):
        found.setdefault(path, [name, kind]).append(key)
    return found


def facts_on(index: Index, pages: Iterable[int]) -> list[Row]:
    """The facts on some pages, whoever told them."""
    return selected_in(index, "SELECT id FROM facts WHERE page IN ({keys})", pages)


def first_days(index: Index, pages: Iterable[int]) -> dict[int, str]:
    """The first day on which a fact of each of some pages was told, `9` where no fact of it has one; by the page's number."""
    sql = "SELECT page, min(coalesce(day, '9')) FROM facts WHERE page IN ({keys}) GROUP BY page"
    return dict(index.rows_in(sql, pages))


def opinions_from(index: Index, since: date, until: date) -> list[str]:
    """The ids of the opinions that count and were written down on these days."""
    sql = "SELECT ref FROM countable WHERE kind = 'opinion' AND day >= ? AND day <= ?"
    return index.column(sql, (str(since), str(until)))


def facts_turning(index: Index, after: date, until: date) -> list[Row]:
    """The facts for which something changed by the calendar alone since the day `after`: told on a day that has come, begun, over."""
    sql = (
        "SELECT id FROM facts WHERE day > ?1 AND day <= ?2 UNION SELECT id FROM facts WHERE first > ?1 AND first <= ?2 "
        "UNION SELECT id FROM facts WHERE last >= ?1 AND last < ?2 UNION SELECT id FROM facts WHERE due >= ?1 AND due < ?2"
    )
    return selected(index, sql, (str(after), str(until)))


# The first condition is that of the index `entry_said`, without which every line is gone through.
_AHEAD = "(first IS NOT day OR last IS NOT NULL) AND day < first AND coalesce(last, first) = first"


def facts_due(index: Index, since: date, until: date) -> list[Row]:
    """Facts that count and were told before the one day for which they are, which is one of these."""
    sql = f"SELECT id FROM countable WHERE first >= ? AND first <= ? AND {_AHEAD}"
    return selected(index, sql, (str(since), str(until)))


def days_due(index: Index, until: date) -> list[str]:
    """The days for which facts that count were told before."""
    sql = f"SELECT DISTINCT first FROM countable WHERE {_AHEAD} AND first <= ?"
    return index.column(sql, (str(until),))


def speaking(index: Index, refs: Iterable[str], until: date) -> list[Row]:
    """Facts that count and speak for, against or in place of one of these ids."""
    sql = (
        "SELECT entry FROM link JOIN countable ON countable.id = link.entry WHERE day <= ? "
        "AND relation IN ('supports', 'refutes', 'supersedes') AND target IN ({keys})"
    )
    return selected_in(index, sql, refs, (str(until),))


def retractable(index: Index) -> list[int]:
    """Ids of facts that a line corrects by their id, and of those in a slot in which a line corrects in words, slot by slot."""
    named = index.column("SELECT live.id FROM link JOIN live ON live.ref = target WHERE relation = 'corrects'")
    slots = "SELECT entry FROM slot WHERE key IN (SELECT key FROM slot WHERE marked AND marked & 3) ORDER BY key, name"
    return list(dict.fromkeys([*named, *index.column(slots)]))


def naming(index: Index, names: Iterable[str], until: date) -> list[Row]:
    """Facts that count and may name one of these without marking it, whenever they were written down."""
    found: dict[int, Row] = {}
    for name in names:
        named = condition_of(Query(), [name])
        sql = (
            f"SELECT entry.id FROM countable AS entry WHERE entry.day <= ? AND {named.sql} "
            "AND entry.id NOT IN (SELECT entry FROM mention WHERE name = ?)"
        )
        values = (str(until), *named.values, entity_key(name))
        found |= by_ids(index, index.column(sql, values))
    return list(found.values())


def about_names(index: Index, names: Iterable[str]) -> list[Row]:
    """Facts that count and name, as @Name or [[Name]], the entity with one of these keys; by day, then id."""
    sql = "SELECT id FROM mention JOIN countable ON countable.id = mention.entry WHERE mention.name IN ({keys})"
    return sorted(selected_in(index, sql, names), key=_day_and_ref)


def about_nobody(index: Index) -> list[Row]:
    """Facts that count and name nobody, if they fill a slot or their author called them important; by day, then id."""
    sql = "SELECT id FROM countable WHERE names = '' AND (importance > 0 OR slot IS NOT NULL)"
    return sorted(selected(index, sql), key=_day_and_ref)


def _day_and_ref(row: Row) -> tuple[str, str, int]:
    return row.day or "", row.ref, row.id


def tasks_until(index: Index, until: date) -> list[str]:
    """The tasks whose outcome was written down by that day; empty for one that has no name."""
    sql = "SELECT DISTINCT task FROM countable WHERE task IS NOT NULL AND day <= ?"
    return sorted(index.column(sql, (str(until),)))


def outcomes_of(index: Index, tasks: Iterable[str], until: date, most: int = -1) -> list[Row]:
    """Every fact with an outcome of one of these tasks, or `most` of each, the newest.

    `@key` stands for the outcomes of an entity that name no task, under all its names.
    """
    told = {t: [f"@{key}" for key in keys_of(index, t[1:])] if t.startswith("@") else [t] for t in tasks}
    sql = "SELECT id FROM countable WHERE task = ? AND coalesce(day, '') <= ? ORDER BY day DESC, id DESC LIMIT ?"
    wanted = dict.fromkeys(task for written in told.values() for task in written)
    found = (index.column(sql, (task, str(until), most)) for task in wanted)
    return list(by_ids(index, chain.from_iterable(found)).values())


def important(index: Index, least: float, until: date) -> list[int]:
    """Ids of the facts that count whose author gave them at least this importance."""
    sql = "SELECT id FROM countable WHERE importance >= ? AND day <= ? ORDER BY id"
    return index.column(sql, (least, str(until)))


def days_cited(index: Index, refs: Iterable[str], until: date) -> dict[str, list[str]]:
    """The days of the other lines that count and say the same as some facts, or name them as evidence, by id."""
    wanted = list(refs)
    said = index.rows_in("SELECT id, ref, content_key FROM live WHERE ref IN ({keys})", wanted)
    of_key: dict[int, set[str]] = {}
    for _, ref, key in said:
        of_key.setdefault(key, set()).add(ref)
    own = {(number, ref) for number, ref, _ in said}
    twins = "SELECT id, content_key, day FROM countable WHERE content_key IN ({keys})"
    naming = "SELECT target, day FROM link JOIN countable ON countable.id = link.entry WHERE target IN ({keys})"
    same = ((ref, number, day) for number, key, day in index.rows_in(twins, of_key) for ref in of_key[key])
    told = [(ref, day) for ref, number, day in same if (number, ref) not in own]
    told += index.rows_in(naming, wanted)
    found = grouped((ref, day) for ref, day in told if day is not None and day <= str(until))
    return {ref: sorted(days) for ref, days in found.items()}


def may_be_retracted(index: Index, entries: Iterable[Row]) -> list[Row]:
    """Those of some entries that a line corrects by their id, or that fill a slot in which somebody is corrected."""
    found = list(entries)
    sql = "SELECT target FROM link WHERE relation = 'corrects' AND target IN ({keys})"
    corrected = set(index.column_in(sql, (entry.ref for entry in found)))
    keys = set(index.column("SELECT DISTINCT key FROM slot WHERE marked AND marked & 3"))
    return [entry for entry in found if entry.ref in corrected or entry.slot in keys]


def placed(index: Index, refs: Iterable[str]) -> list[Row]:
    """Where the lines with these ids stand; neither copies in managed blocks nor bank/opinions.md.

    Lines from outside come last: an imported page may bear the ids of the owner's lines, and never stands for them.
    """
    found = [entry for entry in by_refs(index, refs) if entry.block is None and entry.path != OPINIONS]
    return sorted(found, key=lambda entry: not is_trusted(entry.origin))


def forgotten_refs(index: Index, refs: Iterable[str]) -> set[str]:
    """Those of some ids that a tombstone says were forgotten on purpose."""
    sql = "SELECT ref FROM entry WHERE block = 'forgotten' AND ref IN ({keys})"
    return set(index.column_in(sql, refs))


def merged_pages(index: Index) -> list[str]:
    """Pages in the folder of entities that are none, being merged into another, and still hold what reflect wrote."""
    sql = (
        "SELECT path FROM page WHERE path LIKE 'bank/entities/%' AND id NOT IN (SELECT page FROM entity) AND sha256 <> x'' "
        "AND EXISTS (SELECT 1 FROM entry WHERE entry.page = page.id AND block = 'summary') ORDER BY path"
    )
    return index.column(sql)


def pages_of_names(index: Index, names: Iterable[str]) -> dict[str, str]:
    """The path of the page whose own name has each of these keys; names without a page are left out."""
    sql = "SELECT entity.key, page.path FROM entity JOIN page ON page.id = entity.page WHERE entity.key IN ({keys})"
    return dict(sorted(index.rows_in(sql, map(entity_key, names)), reverse=True))


# -- questions of review ----------------------------------------------------------------------------------------------

_SETTLING = (
    "SELECT link.target, link.entry FROM link JOIN trusted ON trusted.id = link.entry "
    "WHERE link.relation = 'settles' AND link.target IN ({keys})"
)


def settled(index: Index, questions: Iterable[str]) -> dict[str, Row]:
    """The trusted line that answers each question, the newest; unanswered ones are left out."""
    found = index.rows_in(_SETTLING, questions)
    entries = by_ids(index, (entry for _, entry in found))
    listed = sorted((entries[entry].day or "", entry, target) for target, entry in found if entry in entries)
    return {target: entries[entry] for _, entry, target in listed}


def settled_ids(index: Index, questions: Iterable[str]) -> set[str]:
    """Those of some questions that a trusted line answers."""
    return set(index.column_in(_SETTLING, questions))


def facts_kept_from(index: Index, rows: Iterable[Row]) -> dict[int, Row]:
    """By the ids of notes, and of more facts kept from them that hold as long, the fact that stands for them: the first
    trusted one kept from the whole of the note, rather without an end. None where the note or that fact was reworded."""
    said = [row for row in rows if row.notes]
    sql = "SELECT entry FROM link JOIN trusted ON trusted.id = entry WHERE relation = 'kept' AND target IN ({keys})"
    facts = selected_in(index, sql, {row.notes[0] for row in said})
    facts.sort(key=lambda fact: bool(fact.last or fact.kept))
    kept = grouped((ref, fact) for fact in facts for ref in fact.notes)
    alike = grouped((row.id, fact) for row in said for fact in kept.get(row.notes[0], ()) if _holds_as(fact, row))
    return {i: facts[0] for i, facts in alike.items() if facts[0].id != i}


def _holds_as(fact: Row, other: Row) -> bool:
    """True for a note, and a fact that fills the same slot and holds as long."""
    told = ((row.slot, row.first, row.last, row.kept) for row in (fact, other))
    return other.kind == "note" or len({*told}) == 1


def answer_lines(index: Index) -> list[Row]:
    """Lines of memctl's own kind that settle a question, in page order."""
    sql = (
        "SELECT DISTINCT live.id FROM link CROSS JOIN live ON live.id = link.entry "
        "WHERE relation = 'settles' AND kind = 'observation'"
    )
    return selected(index, sql)


def past_plans(index: Index, today: date, since: date) -> list[Row]:
    """Facts about a day that was still to come when they were told and has passed since, not before `since`."""
    return selected(index, "SELECT id FROM countable WHERE due < ? AND due >= ?", (str(today), str(since)))


def from_outside(index: Index, since: date) -> list[Row]:
    """Facts that are not trusted and were told from a day on; no copies, nothing private."""
    sql = "SELECT id FROM public WHERE is_fact AND NOT is_trusted AND day >= ? AND kind <> 'observation'"
    return selected(index, sql, (str(since),))
