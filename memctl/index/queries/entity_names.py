"""Questions about names: which entity has a name, which names lines hold, which lines name an entity, who is meant by a name."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from ...errors import Usage
from ...facts import grouped, is_trusted
from ...language.analyzer import SURNAME_ENDS, terms
from ...language.entity_key import entity_key
from ...language.names import Listed, bare_name, find_names, heads, is_han, mentions, stem_head, stem_key
from ...language.words import HAN_CHARS
from ...markdown.grammar import OPINIONS
from ..index import Index
from ..lexical import match_expression
from ..reread import reread
from ..row import Entity, Row
from .entries import Filter, by_ids, in_slots

if TYPE_CHECKING:
    from ..open_memory import OpenMemory

_FEW = 512  # names that are read at once
_TEXTS = 20_000  # of which a process that stays remembers whom they name: some 10 MB
_NAME_WORDS = 4  # of a name that is looked for in a text; of a Chinese one, characters
_ALIKE = 0.8  # how alike two spellings are (difflib) from which one may be a slip for the other


class _FewNames(NamedTuple):
    """All names of a workspace that has few: entities by page; by key the pages that it may mean; names by head."""

    entities: dict[int, Entity]
    pages: dict[str, list[int]]
    listed: dict[str, list[Listed]]


def _few_names(index: Index) -> _FewNames | None:
    """All names, read once until the index changes; None where there are many, or the index is being written."""

    def read() -> _FewNames | None:
        rows = index.rows("SELECT key, page, head, stem, name FROM alias ORDER BY key, page LIMIT ?", (_FEW + 1,))
        if len(rows) > _FEW:
            return None
        entities = _entities(index, index.column("SELECT page FROM entity"))
        rows = [row for row in rows if row[1] in entities]  # another process may have dropped a page in between
        pages = grouped((key, page) for key, page, *_ in rows)
        begun = grouped((who.key.partition(" ")[0], page) for page, who in entities.items() if " " in who.key)
        listed = ((head, Listed(stem, name, entities[page].name)) for _, page, head, stem, name in rows)
        return _FewNames(entities, {**begun, **pages}, grouped(listed))

    return None if index.is_writing else index.remembered("names", read)


def entities_named(index: Index, name: str) -> list[Entity]:
    """The entities that a name may mean; one is an answer, several are a choice that only the asker can make.

    Exact name or alias first; else, for a single word, the full names that begin with it.
    """
    key = entity_key(name)
    if few := _few_names(index):
        return [few.entities[page] for page in few.pages.get(key, ())]
    pages = index.column("SELECT page FROM alias WHERE key = ?", (key,)) or _beginning_with(index, key)
    return list(_entities(index, pages).values())


def _beginning_with(index: Index, word: str) -> list[int]:
    """The pages of the entities whose full names begin with a single word."""
    if not word or " " in word:
        return []
    # "!" is the character after the space.
    return index.column("SELECT page FROM entity WHERE key >= ? AND key < ?", (f"{word} ", f"{word}!"))


def entity_named(index: Index, written: str) -> Entity | str:
    """The entity that a name means, however it is marked; without one the bare name. Usage where several have it."""
    name = bare_name(written)
    found = entities_named(index, name)
    if len(found) > 1:
        raise Usage(f"{name!r} may be {' or '.join(entity.name for entity in found)}", "give the whole name")
    return found[0] if found else name


def keys_of(index: Index, name: str) -> tuple[str, ...]:
    """Every key of the entity with a name, its page's own first; where not exactly one fits, and for no name, itself."""
    found = entities_named(index, name) if name else []
    key = entity_key(name)
    return tuple(dict.fromkeys((found[0].key, key, *found[0].keys))) if len(found) == 1 else (key,)


def keys_of_person(index: Index, name: str) -> tuple[str, ...]:
    """The same, and of the owner both: lines about them by the name that they told are about whom lines without one are."""
    keys, owner = keys_of(index, name), index.remembered("owner", lambda: _owner_keys(index))
    is_owner = owner and (name == "" or owner & {*keys})
    return tuple(dict.fromkeys((*keys, *sorted(owner), ""))) if is_owner else keys


def _owner_keys(index: Index) -> frozenset[str]:
    """The keys under which the owner goes: what the newest trusted line tells, in full and the first word of it."""
    told = sorted((row.told, row.links) for row in in_slots(index, "name", ("",)) if is_trusted(row.origin))
    links = f"\n{told[-1][1]}\n" if told else ""
    full = links.partition("\ncalled ")[2].partition("\n")[0]
    known = {key: keys_of(index, key) for key in (full, full.partition(" ")[0]) if key}
    return frozenset(its for key, keys in known.items() if keys == (key,) or full in keys for its in keys)


def all_entities(index: Index) -> list[Entity]:
    """Every entity that has a page, by name."""
    return sorted(_entities(index, index.column("SELECT page FROM entity")).values(), key=lambda entity: entity.key)


def paths_by_name(index: Index) -> dict[str, str]:
    """The page of every name and alias, by key; the first page, where several bear one name."""
    sql = "SELECT alias.key, page.path FROM alias JOIN page ON page.id = alias.page ORDER BY page.path DESC"
    return dict(index.rows(sql))


def listed_names(index: Index, wanted: Iterable[str]) -> dict[str, list[Listed]]:
    """The names that begin with one of these heads (language/names.py), by head."""
    if few := _few_names(index):
        return {head: few.listed[head] for head in wanted if head in few.listed}
    sql = (
        "SELECT alias.head, alias.stem, alias.name, entity.name FROM alias JOIN entity ON entity.page = alias.page "
        "WHERE alias.head IN ({keys}) ORDER BY alias.head, entity.key"
    )
    return grouped((head, Listed(*rest)) for head, *rest in index.rows_in(sql, wanted))


def near_name(memory: OpenMemory, name: str) -> str | None:
    """The known name that is spelled or sounds nearly alike, with the same numbers in it, as a line of the owner writes it."""
    from difflib import get_close_matches

    from ...language.phonetic import transliterate

    def spelled() -> dict[str, tuple[str, str]]:
        known = {key: key for key, _ in mentioned(memory.index)}
        known |= {entity_key(own): own for each in all_entities(memory.index) for own in each.names}
        return {key: (own, transliterate(key)) for key, own in known.items()}

    def closest(word: str, others: Iterable[str]) -> str:
        letters, most = set(word), 1 - _ALIKE + 1e-9
        likely = [one for one in others if len(letters ^ {*one}) <= most * (len(word) + len(one))]
        return "".join(get_close_matches(word, likely, 1, _ALIKE))

    key = entity_key(bare_name(name))
    known = memory.index.remembered("spelled", spelled)
    sounds = {own: sound for own, (_, sound) in known.items() if own != key}
    heard = {sound: own for own, sound in sounds.items()}
    near = closest(key, sounds) or heard.get(closest(transliterate(key), heard))
    if not near or re.findall(r"\d+", near) != re.findall(r"\d+", key):
        return None
    found = known[near][0]
    lines = reread(memory.workspace, mentions_of(memory.index, [found], 1).get(found, ()))
    written = (own for line in lines.values() for own in mentions("\n".join(line.raw)) if entity_key(own) == found)
    return next(written, found)


def names_told(index: Index, text: str) -> tuple[str, ...]:
    """The names that trusted lines mark and a text holds, with a capital or in Chinese; of one within another the longer."""
    words = [word.span() for word in re.finditer(rf"[^\W{HAN_CHARS}][\w.+-]*[^\W{HAN_CHARS}]|[{HAN_CHARS}]", text)]
    ends = ((begin, end) for at, (begin, _) in enumerate(words) for _, end in words[at : at + _NAME_WORDS])
    runs = {
        entity_key(text[begin:end]): text[begin:end]
        for begin, end in ends
        if end - begin > 1 and not text[begin].islower()
    }
    sql = "SELECT DISTINCT name FROM mention JOIN trusted ON trusted.id = entry WHERE name IN ({keys})"
    told = [runs[key] for key in index.column_in(sql, runs)]
    return tuple(sorted((name for name in told if not any(name in own != name for own in told)), key=text.find))


def unknown_name(memory: OpenMemory, name: str) -> str:
    """What to do about a name that nothing is known of."""
    near = near_name(memory, name)
    return f"did you mean {near}?" if near else "`memctl entity list` has all names"


def has_entities(index: Index) -> bool:
    """False in a workspace without a single entity page."""
    few = _few_names(index)
    return bool(few.pages) if few else bool(index.rows("SELECT 1 FROM entity LIMIT 1"))


# Beliefs that reflect took from a line: the heads above `stated` in bank/opinions.md; those by hand cite none.
_ON_BELIEFS = f"page = (SELECT id FROM page WHERE path = '{OPINIONS}')"
_TAKEN = (
    "SELECT (SELECT max(id) FROM entry AS above WHERE above.id < bullet.id AND above.role = 'fact' "
    "AND above.page = bullet.page) FROM link JOIN entry AS bullet ON bullet.id = link.entry "
    "WHERE relation = 'stated' AND target <> '-'"
)
_WRITTEN_NAMES = (
    "FROM mention JOIN live ON live.id = mention.entry "
    f"WHERE NOT coalesce(live.{_ON_BELIEFS} AND (live.role <> 'fact' OR live.id IN ({_TAKEN})), 0)"
)


def mentioned(index: Index) -> list[tuple[str, int]]:
    """Keys of every name that is written as @Name or [[Name]], with the number of entries, most mentioned first.

    What reflect writes is left out: blocks, evidence, and the heads of beliefs that it took from a line.
    """
    return index.rows(f"SELECT name, count(*) {_WRITTEN_NAMES} GROUP BY name ORDER BY 2 DESC, 1")


def mentions_of(index: Index, keys: Iterable[str], most: int = 9) -> dict[str, list[Row]]:
    """Some of those entries for each key, at most so many: they show how the name is spelled."""
    first: dict[str, list[int]] = {}
    for name, entry in index.rows_in(f"SELECT name, entry {_WRITTEN_NAMES} AND name IN ({{keys}}) ORDER BY 1, 2", keys):
        if len(first.setdefault(name, [])) < most:
            first[name].append(entry)
    entries = by_ids(index, (entry for listed in first.values() for entry in listed))
    return {name: [entries[entry] for entry in listed if entry in entries] for name, listed in first.items()}


def mention_counts(index: Index, names: Iterable[str]) -> dict[str, int]:
    """How many lines, but for what memctl wrote, name each of these keys; names that no line has are left out."""
    sql = "SELECT name, count(*) FROM mention CROSS JOIN live ON live.id = entry WHERE name IN ({keys}) GROUP BY name"
    return dict(index.rows_in(sql, names))


def core_names(index: Index) -> set[str]:
    """The keys of the names on memory.md."""
    sql = (
        "SELECT DISTINCT mention.name FROM page JOIN entry ON entry.page = page.id JOIN mention ON mention.entry = entry.id "
        "WHERE page.path = 'memory.md'"
    )
    return set(index.column(sql))


_GAP = 4  # terms between two words of a name
_MOST = 500  # Chinese names that are read at once
_STEPS = 8  # names tried for one beginning
_ENDING = 3  # letters that a name may have beyond its stem


class NamingLine(NamedTuple):
    """A line that may lie on a way: the keys of the names marked on it, and which lines are its twins."""

    id: int
    names: tuple[str, ...]
    content_key: int
    ref: str


def entities_of_keys(index: Index, keys: Iterable[str]) -> dict[str, Entity]:
    """Whom each key of a name stands for. One without a page, or that several entities share, stands for itself."""
    wanted = [key for key in dict.fromkeys(keys) if key]
    pages: dict[str, list[int]] = grouped(index.rows_in("SELECT key, page FROM alias WHERE key IN ({keys})", wanted))
    for key in wanted:
        pages[key] = pages.get(key) or _beginning_with(index, key)
    known = entities_of_pages(index, (found[0] for found in pages.values() if len(found) == 1))
    made: dict[str, Entity] = {}
    for key in wanted:
        if entity := known.get(pages[key][0]) if len(pages[key]) == 1 else None:
            made[key] = entity._replace(keys=tuple(dict.fromkeys((*entity.keys, key))))
        else:
            made[key] = Entity(key, key, None, "", (key,), (key,))
    return made


def entities_of_pages(index: Index, pages: Iterable[int]) -> dict[int, Entity]:
    """The entities that these pages are about and name, by page; the key of its own name is the first of each."""
    found = _entities(index, pages)
    return {
        page: each._replace(keys=tuple(dict.fromkeys((each.key, *each.keys))))
        for page, each in found.items()
        if each.names
    }


def _entities(index: Index, pages: Iterable[int]) -> dict[int, Entity]:
    """The entities of these pages, by page, with the names that hold."""
    wanted = list(pages)
    sql = "SELECT page, key, name FROM alias WHERE page IN ({keys}) ORDER BY page, key"
    aliases = grouped((page, names) for page, *names in index.rows_in(sql, wanted))
    sql = (
        "SELECT entity.key, entity.name, entity.type, page.path, entity.page FROM entity JOIN page ON page.id = entity.page "
        "WHERE entity.page IN ({keys}) ORDER BY entity.page"
    )
    found: dict[int, Entity] = {}
    for key, name, kind, path, page in index.rows_in(sql, wanted):
        keys, names = [own for own, _ in aliases[page]], [own for _, own in aliases[page]]
        found[page] = Entity(key, name, kind, path, tuple(keys), tuple(names), page)
    return found


def naming_lines(index: Index, ids: Iterable[int], condition: Filter) -> list[NamingLine]:
    """Those of some entries that speak and pass a condition, by id."""
    where = condition.sql or "1"
    wanted = ", ".join(str(int(i)) for i in ids)
    sql = f"SELECT id, names, content_key, ref FROM statement AS entry WHERE id IN ({wanted}) AND {where} ORDER BY id"
    return [
        NamingLine(number, tuple(filter(None, names.split("\n"))), key, ref)
        for number, names, key, ref in index.rows(sql, condition.values)
    ]


def names_from(index: Index, texts: Mapping[int, str]) -> dict[int, set[str]]:
    """Keys of the names that lines hold without a mark, by line: those of pages, and those that are marked elsewhere.

    `texts` are the lines' search terms, which have lost their capitals: what is shown is looked at again.
    """
    words = {word for own in texts.values() for word in own.split() if len(word) > 1 or is_han(word)}
    words |= {word + end for word in words if "а" <= word[:1] <= "я" for end in SURNAME_ENDS}  # «Петров» stays whole
    known = index.rows_in("SELECT key, name FROM alias WHERE head IN ({keys})", words)
    if any(map(is_han, words)):  # terms are in simplified characters, names as they are written
        known += index.rows("SELECT key, name FROM alias WHERE head >= '\u3400' AND head < '\ua000' LIMIT ?", (_MOST,))
    known += [(key, key) for key in _marked(index, words, texts.values())]
    runs = ((run, key) for key, name in known for run in _runs(name, key))
    by_term = grouped((run.partition(" ")[0], (f" {run} ", key)) for run, key in runs)
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
    """Where to look next: past this name, and past all that go on as it does where that is not an ending any more."""
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


def lines_replaced(index: Index, names: Iterable[str]) -> list[int]:
    """What is told of the world about one of these names, fills no slot, and is named by a line as replaced."""
    sql = (
        "SELECT DISTINCT facts.id FROM mention JOIN facts ON facts.id = mention.entry WHERE name IN ({keys}) "
        "AND kind = 'world' AND slot IS NULL AND ref IN (SELECT target FROM link WHERE relation = 'supersedes')"
    )
    return index.column_in(sql, names)


def lines_naming(index: Index, who: Entity, most: int) -> list[int]:
    """Ids of the lines that name somebody: by a mark, on his own page, or by the words of one of his names.

    Of more than `most` of them only so many are given that it shows. Words that stand on so many lines tell no name.
    """
    marks = ", ".join("?" * len(who.keys))
    sql = f"SELECT entry FROM mention WHERE name IN ({marks}) LIMIT ?"
    found = set(index.column(sql, (*who.keys, most + 1)))
    if who.page is not None:
        rows = index.rows("SELECT id FROM statement WHERE page = ? LIMIT ?", (who.page, most + 1))
        found |= {number for (number,) in rows}
    if len(found) <= most:
        asked = " OR ".join(map(_near, _runs(*who.names, *who.keys)))
        rows = index.rows("SELECT rowid FROM words WHERE words MATCH ? LIMIT ?", (asked, most + 1)) if asked else []
        found |= {number for (number,) in rows} if len(rows) <= most else set()
    return sorted(found)


def _near(run: str) -> str:
    """The FTS5 expression for the terms of a name, one after the other, with as much room as `_holds` gives them."""
    if " " not in run or is_han(run[0]):
        return match_expression([run])
    return f"NEAR({' '.join(match_expression([term]) for term in run.split())}, {_GAP})"


def spellings(who: Entity) -> list[Listed]:
    """The names of somebody as `find_names` wants them; without a page, one that begins with a capital."""
    names = who.names if who.page is not None else (who.key[:1].upper() + who.key[1:],)
    return [Listed(stem_key(name), name, who.key) for name in names]


def first_said(index: Index, pages: Iterable[int]) -> dict[int, int]:
    """Page -> the first line that it says, but for its front matter, headings and what memctl wrote."""
    sql = "SELECT page, min(id) FROM live WHERE page IN ({keys}) AND role IN ('text', 'item', 'fact') GROUP BY page"
    return dict(index.rows_in(sql, pages))


def pages_called(index: Index, keys: Collection[str]) -> dict[str, int]:
    """The pages whose files are called so, by the key of that name; of several, the first."""
    paths = index.rows("SELECT path, id FROM page ORDER BY path DESC", ()) if keys else ()
    found = ((entity_key(PurePosixPath(path).stem), page) for path, page in paths)
    return {key: page for key, page in found if key in keys}


class KnownNames:
    """Looks each name up once: plain mentions in texts, and the entities of written names."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._any = has_entities(index)
        self._pages: dict[str, str] = {}
        self._asked: set[str] = set()
        self._listed: dict[str, list[Listed]] = {}
        self._named: dict[str, tuple[str, ...]] = index.remembered("named", dict) if index.stays else {}

    def in_text(self, text: str) -> tuple[str, ...]:
        """The entities that a text names without marking them."""
        if not self._any:
            return ()
        if text not in self._named:
            if len(self._named) >= _TEXTS:
                self._named.clear()
            self._named[text] = self._find(text)
        return self._named[text]

    def _find(self, text: str) -> tuple[str, ...]:
        found = heads(text)
        if fresh := found - self._asked:
            self._asked |= fresh
            self._listed |= listed_names(self._index, fresh)
        return () if found.isdisjoint(self._listed) else find_names(text, self._listed)

    def known_as(self, name: str) -> str:
        """The name on the page of its entity; the name itself without a page, or with pages of several entities."""
        if name not in self._pages:
            found = entities_named(self._index, name) if self._any else []
            self._pages[name] = found[0].name if len(found) == 1 else name
        return self._pages[name]

    def key_of(self, name: str) -> str:
        """The key of an entity by any of its names."""
        return entity_key(self.known_as(name))
