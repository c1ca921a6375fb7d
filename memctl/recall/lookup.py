"""What is looked up by its name instead of searched: the passage of a citation, an entity, the fact in a slot."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from operator import itemgetter
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from ..errors import MemctlError, NothingFound, PageUnreadable, Usage
from ..facts import Citation
from ..hits import Hit
from ..index.index import Index
from ..index.open_memory import OpenMemory, on_fresh_index
from ..index.queries import entity_names as queries
from ..index.queries.entity_names import entities_named, entity_named, keys_of, mentions_of, near_name
from ..index.queries.entries import Query, by_refs, filling_slots, in_slots, slot_keys
from ..index.queries.filters import pages_like, titles_below
from ..index.reread import page_lines, reread, text_of
from ..index.row import Row
from ..language.dates import day_of
from ..language.names import bare_name, entity_key, link_target
from ..notes.workspace import Workspace
from ..truth.judge import judge
from ..truth.replaced import orders, replacements_of
from ..truth.validity import versions
from .entry_hits import hits_of, owner_names, slots_holding
from .recall import recall_in

_ID = re.compile(r"\^?([A-Za-z0-9][A-Za-z0-9-]{0,63})")
_SPAN = re.compile(r"(?:#L|\.md:)(\d{1,9})-L?(\d{1,9})$")
_GLOB = re.compile(r"[*?]|\[[^\[\]]+\](?!\])")
_PLACE = re.compile(r"\.md\b|[#:]L?\d|\*")  # no name, but the path of a page, a citation or a glob
_INDEX_PAGES = ("index.md", "_index.md", "readme.md")


@dataclass(frozen=True, slots=True)
class Passage:
    """Lines of a page: `lines[0]` is line `first`; those of the citation are the ones asked for."""

    citation: Citation
    first: int
    lines: tuple[str, ...]
    ref: str | None = None

    def as_json(self) -> dict[str, Any]:
        """The passage as plain values."""
        return {"source": str(self.citation), "id": self.ref, "first": self.first, "lines": list(self.lines)}


def show_all(memory: OpenMemory, words: Sequence[str], context: int = 3) -> tuple[Passage, ...]:
    """What references point at that come as words: several references, or one name or path with spaces in it."""
    apart: list[str] = []
    for word in words:
        if word.startswith("^") and apart:  # an id behind its citation
            word = f"{apart.pop()} {word}"
        apart.append(word)
    ways = [[" ".join(words)], apart]
    failed: MemctlError | None = None
    for way in reversed(ways) if any(map(_PLACE.search, apart)) else ways:
        shown: list[Passage] = []
        failures: list[MemctlError] = []
        for reference in way:
            try:
                shown += show(memory, reference, context)
            except (NothingFound, PageUnreadable) as error:
                failures.append(error)
        if not failures:
            return tuple(shown)
        failed = failures[0] if failed is None or len(failures) < len(way) else failed
    raise failed or Usage("nothing to show")


def show(memory: OpenMemory, reference: str, context: int = 3) -> tuple[Passage, ...]:
    """The passages that a reference points at; NothingFound if there are none, OutsideWorkspace for foreign paths.

    A glob points at every page that it meets. A citation with an id (`memory/2025-11-27.md#L12 ^f-1a2b3c4d`) is followed by the id, wherever its line moved.
    In a public view only pages that recall searches are shown, and no lines that are blank there.
    """
    if (span := _SPAN.search(reference)) and int(span[2]) < int(span[1]):
        raise Usage(f"{reference!r} ends before it begins", f"write #L{span[2]}-L{span[1]}")
    where, _, ref = reference.strip().rpartition(" ^")
    citation = Citation.parse(where or reference)
    if citation and not where:
        return (_passage(memory.workspace, citation, context),)

    def job(bound: OpenMemory) -> tuple[Passage, ...]:
        bound.sync_for_read()
        found = _named_passages(bound, ref or reference.strip(), context)
        found = found or ((_passage(bound.workspace, citation, context),) if citation else ())
        if not found:
            raise _not_found(bound, reference)
        return found

    return memory.run(job)


def _not_found(memory: OpenMemory, reference: str) -> NothingFound:
    """What to say of a name without a page, and of one that nothing has."""
    name = bare_name(reference)
    if mentions_of(memory.index, [entity_key(name)], 1):
        return NothingFound(f"{name!r} has no page yet", "`memctl recall` finds the lines that name it")
    near = near_name(memory, reference)
    cure = f"did you mean {near}?" if near else "name a citation (path#L12), an id, an entity or a page"
    return NothingFound(f"nothing is named {reference!r}", cure)


def place(memory: OpenMemory, reference: str) -> Citation:
    """Where a reference stands; for a day, the end of its log, which need not exist. Usage for what stands on several pages."""
    given = reference.strip()
    if given == "today" or re.fullmatch(r"\d{4}-\d{2}-\d{2}", given):
        day = memory.today if given == "today" else day_of("the day", given, memory.today)
        path = f"memory/{day}.md"
        stands = (memory.workspace.root / path).exists()
        last = max(1, len(page_lines(memory.workspace, path))) if stands else 1
        return Citation(path, last, last)
    found = [passage.citation for passage in show(memory, given, 0)]
    if len(found) > 1:
        raise Usage(f"{given!r} may be {' or '.join(map(str, found))}", "name one of these")
    return found[0]


def _lines(workspace: Workspace, path: str) -> list[str]:
    """The lines of a page as it is on disk; in a public view, of one that recall searches."""
    if workspace.hides is not None and not workspace.is_page(path):
        raise NothingFound(f"{path} is not a page of the workspace", "name a page that recall searches")
    return page_lines(workspace, path)


def _passage(workspace: Workspace, citation: Citation, context: int, ref: str | None = None) -> Passage:
    """The lines of a citation with those around it."""
    path = workspace.contain(citation.path)
    lines = _lines(workspace, path)
    if citation.line < 1 or citation.line > len(lines):
        what = f"{path} has {len(lines)} lines, and no line {citation.line}"
        raise NothingFound(what, "find it with `memctl recall`")
    last = min(citation.end_line, len(lines))
    if workspace.hides is not None and not any(map(str.strip, lines[citation.line - 1 : last])):
        raise NothingFound(f"nothing to show at {path}#L{citation.line}", "find another with `memctl recall`")
    first = max(1, citation.line - context)
    return Passage(Citation(path, citation.line, last), first, tuple(lines[first - 1 : last + context]), ref)


def _whole(workspace: Workspace, path: str) -> Passage:
    contained = workspace.contain(path)
    lines = _lines(workspace, contained)
    return Passage(Citation(contained, 1, max(1, len(lines))), 1, tuple(lines))


def _is_page(workspace: Workspace, path: str) -> bool:
    """True for the path of a file that can be shown whole."""
    contained = workspace.contain(path)
    is_shown = workspace.hides is None or workspace.is_page(contained)
    return is_shown and path.endswith(".md") and (workspace.root / contained).is_file()


def _named_passages(memory: OpenMemory, name: str, context: int) -> tuple[Passage, ...]:
    """What has this id; else the page of the entity of this name, the page at this path, the pages called so."""
    workspace, index = memory.workspace, memory.index
    match = _ID.fullmatch(name)
    entries = by_refs(index, [match[1]]) if match else []
    seen = reread(workspace, entries, index)
    if seen:
        places = [(e.ref, seen[e.id].cited) for e in entries if e.id in seen]
        return tuple(_passage(workspace, at, context, ref) for ref, at in places)
    paths = [entity.path for entity in entities_named(index, bare_name(name))]
    paths = paths or [path for path in (name, f"{name}.md") if _is_page(workspace, path)]
    paths = paths or (pages_like(index, name) if _GLOB.search(name) else []) or _pages_named(index, bare_name(name))
    return tuple(_whole(workspace, path) for path in paths)


def _pages_named(index: Index, name: str) -> list[str]:
    """The pages in any folder whose file has this name; without one, those with this title."""
    key, titles = entity_key(link_target(name).removesuffix(".md")), titles_below(index, "")
    files = [path for path in titles if entity_key(PurePosixPath(path).stem) == key]
    return files or [path for path, title in titles.items() if key and entity_key(title) == key]


class Document(NamedTuple):
    """A page of a folder, or a folder in it with its number of `pages`; title and description are those of its index page."""

    path: str
    title: str
    description: str
    pages: int | None = None


@on_fresh_index
def documents(memory: OpenMemory, folder: str = "") -> tuple[Document, ...]:
    """What stands in a folder, the pages in it first; NothingFound where there is no page."""
    inside = memory.workspace.contain(folder or ".").strip(".")
    prefix = f"{inside}/" if inside else ""
    titles = titles_below(memory.index, prefix)
    if not titles:
        raise NothingFound(f"no page stands in {folder or 'the workspace'}", "`memctl docs` lists the folders")
    count = Counter(path[len(prefix) :].partition("/")[0] for path in titles if "/" in path[len(prefix) :])
    own = [path for path in titles if "/" not in path[len(prefix) :]]
    found = [Document(path, titles[path], _description(memory, path)) for path in own]
    for name, pages in sorted(count.items()):
        path = f"{prefix}{name}/"
        below = (page for page in titles if page.startswith(path))
        about = next((page for page in below if page[len(path) :].lower() in _INDEX_PAGES), "")
        found.append(Document(path, titles.get(about, ""), _description(memory, about), pages))
    return tuple(found)


def _description(memory: OpenMemory, path: str) -> str:
    """What the front matter of a page says that it is for."""
    lines = _whole(memory.workspace, path).lines if path else ()
    if lines[:1] != ("---",):
        return ""
    from ..markdown.front_matter import front_values

    try:
        found = front_values("\n".join(lines)).get("description", "")
    except ValueError:  # `memctl check` names it
        return ""
    return " ".join((found if isinstance(found, str) else ", ".join(found)).split())


@dataclass(frozen=True, slots=True)
class EntityLine:
    """One entity in the list: `path` is its page, None while it has none; `mentions` counts lines that name it."""

    name: str
    type: str | None
    aliases: tuple[str, ...]
    mentions: int
    path: str | None


@dataclass(frozen=True, slots=True)
class EntityView:
    """One entity: what holds now by slot, and its newest lines."""

    line: EntityLine
    slots: tuple[Hit, ...]
    newest: tuple[Hit, ...]


@on_fresh_index
def list_entities(
    memory: OpenMemory, spelled_out: int | None = None, type: str | None = None
) -> tuple[EntityLine, ...]:
    """Every entity with a page, and every name written as @Name or [[Name]] without one, most mentioned first; or those of a `type`,
    NothingFound if that is unknown.

    With `spelled_out` only so many names without a page are read from their lines; the others are in small letters.
    """
    lines = sorted(_entity_lines(memory.index), key=lambda line: -line.mentions)
    spelled = _spellings(memory, [line.name for line in lines if line.path is None][:spelled_out])
    named = [line if line.path else replace(line, name=spelled.get(line.name, line.name)) for line in lines]
    found = tuple(sorted(named, key=lambda line: (-line.mentions, line.path is None, line.name)))
    if type is None:
        return found
    known = {line.type for line in found if line.type}
    found = tuple(line for line in found if line.type and line.type.casefold() == type.strip().casefold())
    if not found:
        listed = ", ".join(sorted(known)) or "none; write `type:` on an entity page"
        raise NothingFound(f"no entity has the type {type!r}", f"the types are {listed}")
    return found


def _entity_lines(index: Index) -> list[EntityLine]:
    counts = dict(queries.mentioned(index))
    lines = []
    for entity in queries.all_entities(index):
        total = sum(counts.pop(key, 0) for key in entity.keys)
        aliases = tuple(name for name in entity.names if name != entity.name)
        lines.append(EntityLine(entity.name, entity.type, aliases, total, entity.path))
    return [*lines, *(EntityLine(key, None, (), count, None) for key, count in counts.items())]


def _spellings(memory: OpenMemory, keys: Sequence[str]) -> dict[str, str]:
    """How names without a page are written most often, by key, as far as some of their lines show."""
    named = mentions_of(memory.index, keys)
    entries = {entry.id: entry for found in named.values() for entry in found}
    seen = reread(memory.workspace, entries.values(), memory.index)
    written: dict[str, str] = {}
    for key, found in named.items():
        names = (name for entry in found if entry.id in seen for name in text_of(entry, seen[entry.id]).names)
        count = Counter(name for name in names if entity_key(name) == key)
        if count:
            written[key] = min(count, key=lambda name: (-count[name], name))
    return written


@on_fresh_index
def show_entity(memory: OpenMemory, name: str, k: int = 10) -> EntityView:
    """One entity as of today; NothingFound for an unknown name, Usage for one that several have."""
    found = entity_named(memory.index, name)
    known = None if isinstance(found, str) else found
    wanted = known.name if known else name
    hits = recall_in(memory, Query(about=(wanted,)), k=k).hits
    if not known and not hits:
        raise NothingFound(f"no entity is named {name!r}", queries.unknown_name(memory, name))
    lines = _entity_lines(memory.index) if known else ()
    line = next((each for each in lines if known and each.path == known.path), None)
    return EntityView(line or EntityLine(wanted, None, (), len(hits), None), current_slots(memory, wanted), hits)


@on_fresh_index
def facts(memory: OpenMemory, about: str | None = None, as_of: date | None = None) -> tuple[Hit, ...]:
    """Every slot that holds something on a day, the owner's first, then by name and key; `about` one name only."""
    return _holding(memory, filling_slots(memory.index, _keys(memory.index, about)), as_of)


@on_fresh_index
def history(memory: OpenMemory, key: str, about: str | None = None, as_of: date | None = None) -> tuple[Hit, ...]:
    """Every version of a slot from the first to the last, with the days on which it held; NothingFound if there is none.

    Without `about`, the versions of every entity's slot of that key, one entity after the other.
    """
    rows = {row.id: row for row in _slot(memory, key, about, as_of)}
    verdict = judge(memory, rows.values(), as_of)
    claims = [verdict.claims[i] for i in rows if i in verdict.claims]
    ordered = [c for slot in sorted({c.slots for c in claims}) for c in versions(c for c in claims if c.slots == slot)]
    hits = hits_of(memory, rows.values(), verdict, as_of=as_of)
    found = [hits[claim.id] for claim in ordered if claim.id in hits]
    return tuple(found) if as_of else with_replacements(memory, found)


@on_fresh_index
def get_fact(memory: OpenMemory, key: str, about: str | None = None, as_of: date | None = None) -> tuple[Hit, ...]:
    """The current value of a slot (of each entity, without `about`); NothingFound if nothing holds on that day."""
    found = _holding(memory, _slot(memory, key, about, as_of), as_of)
    if not found:
        raise NothingFound(f"nothing holds for {key!r} now", f"`memctl fact history {key}` shows what did")
    return found


def current_slots(memory: OpenMemory, name: str) -> tuple[Hit, ...]:
    """The current value of every slot of an entity that holds something today; an empty name is the owner's."""
    names = owner_names(memory) if not name else keys_of(memory.index, name)
    return _holding(memory, filling_slots(memory.index, names))


def _holding(memory: OpenMemory, rows: Sequence[Row], as_of: date | None = None) -> tuple[Hit, ...]:
    """What slots hold, by whose they are and their keys, each with the line that may have replaced it in words."""
    found = [hit for _, hit in sorted(slots_holding(memory, rows, as_of), key=itemgetter(0))]
    return tuple(found) if as_of else with_replacements(memory, found)


def with_replacements(memory: OpenMemory, hits: Sequence[Hit]) -> tuple[Hit, ...]:
    """The hits, each with the newer line that may have replaced it in words."""
    rows = by_refs(memory.index, [hit.ref for hit in hits])
    pairs = replacements_of(memory, (row for row in rows if row.block is None), ())
    newer = {pair.older.ref: pair.newer.ref for pair in pairs.values() if orders(pair)}
    return tuple(hit if hit.superseded_by else replace(hit, perhaps_superseded_by=newer.get(hit.ref)) for hit in hits)


def _keys(index: Index, about: str | None) -> tuple[str, ...] | None:
    return None if about is None else keys_of(index, bare_name(about))


def _slot(memory: OpenMemory, key: str, about: str | None, as_of: date | None) -> list[Row]:
    """Every fact that fills a slot and was told by a day; NothingFound, with what to ask for instead, if there is none."""
    names = _keys(memory.index, about)
    rows = in_slots(memory.index, key, names)
    if any(as_of is None or (row.day and row.day <= as_of.isoformat()) for row in rows):
        return rows
    keys = slot_keys(memory.index, names) if names else []
    cure = f"known keys: {', '.join(keys)}" if keys else "`memctl fact list` shows what is filled"
    cure = f"it was filled later; `memctl fact history {key}` shows how" if rows else cure
    whose = (f" of {about}" if about else "") + (f" as of {as_of}" if as_of else "")
    raise NothingFound(f"no fact has key={key}{whose}", cure)
