"""Other names for an entity, and two entities as one. All of it stands in front matter, so it can be taken back."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import NamedTuple, Self

from ..errors import NothingFound, PageUnreadable, Refused, Usage
from ..index.open_memory import OpenMemory
from ..index.queries.entity_names import entities_named, near_name
from ..index.queries.entries import Filter, by_ids, filling_slots, match, own_terms
from ..index.row import Entity
from ..index.rows import rows_of
from ..language.analyzer import terms
from ..language.names import entity_key, link_target, name_terms, slug
from ..language.secrets import find_secrets
from ..markdown.front_matter import front_values, with_names, with_value
from ..notes.edits import Edit, apply, as_indexed, read_for_edit, writing_alone
from ..truth.judge import judge

ENTITIES = "bank/entities/"
MERGED_INTO = "merged_into"
"""The key in the front matter of a page whose entity is merged into another one: it names that one."""

_RESERVED = {"con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(1, 10))}
_NAME_BYTES = 240  # of a file name, which most disks end at 255
_BY_HAND = "correct the front matter by hand; nothing was changed"


@dataclass(slots=True)
class Named:
    """What was done, or with a dry run would be: whose page it is, names given and taken, pages written, the diff."""

    entity: str
    path: str
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    pages: tuple[str, ...] = ()
    diff: str = ""
    notes: list[str] = field(default_factory=list)


_Planned = tuple[Named, list[Edit]]


def alias(
    memory: OpenMemory, name: str, aliases: Sequence[str], *, remove: bool = False, dry_run: bool = False
) -> Named:
    """Give an entity other names, or take them away; a page is made for one that has none.

    Refused for a name of another entity, Usage for one of several, NothingFound if there is nothing to take away,
    PageUnreadable for front matter that is not YAML.
    """
    subject, others = _checked(name), list(dict.fromkeys(map(_checked, aliases)))
    plan = _without_aliases if remove else _with_aliases
    return _run(memory, lambda at: plan(at, subject, others), dry_run)


def merge(memory: OpenMemory, name: str, into: str, *, undo: bool = False, dry_run: bool = False) -> Named:
    """Make `name` another name of `into`; with `undo`, an entity of its own again.

    The names of the one, its own first, are added to the aliases of the other, and its page, if it has one, says
    `merged_into`; neither changes otherwise. Refused for chains and cycles of merges.
    """
    plan = _parted if undo else _merged
    return _run(memory, lambda at: plan(at, _checked(name), _checked(into)), dry_run)


def page_path(name: str, taken: Iterable[str]) -> str:
    """Where the page of an entity goes: its slug, or `slug~2` … where `taken` paths have that, in whatever case.

    Names that a disk or Windows does not allow are avoided.
    """
    used = {_folded(path) for path in taken}
    stem = slug(name)
    while len(stem.encode()) > _NAME_BYTES:
        stem = stem[:-1]
    stems = [stem, *(f"{stem}~{n}" for n in range(2, len(used) + 3))]
    free = (f"{ENTITIES}{one}.md" for one in stems if one.casefold() not in _RESERVED)
    return next(path for path in free if _folded(path) not in used)


def _folded(path: str) -> str:
    return unicodedata.normalize("NFC", path).casefold()


def _checked(written: str) -> str:
    """A name as given, without `@` or brackets; Usage or Refused for what cannot be one."""
    bare = written.strip().removeprefix("@").strip()
    name = link_target(bare[2:-2]) if bare.startswith("[[") and bare.endswith("]]") else " ".join(bare.split())
    if not name or len(name) > 200 or any(unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp") for char in bare):
        raise Usage(f"{written!r} is not a name", "a name is one line of at most 200 characters")
    if find_secrets(name):
        raise Refused(f"{name[:4]}… looks like a secret ({find_secrets(name)[0].name})", "give another name")
    return name


def _run(memory: OpenMemory, plan: Callable[[OpenMemory], _Planned], dry_run: bool) -> Named:
    """Plan on a fresh index, then write page by page; what was cut off half-way is completed by the same call."""

    def job(at: OpenMemory) -> _Planned:
        at.sync_for_write()
        return plan(at)

    with nullcontext() if dry_run else writing_alone(memory.workspace, "reflect"):
        named, edits = memory.run(job)
        named.pages = tuple(edit.path for edit in edits if edit.is_change)
        named.diff = "".join(edit.diff() for edit in edits)
        if not dry_run:
            apply(memory.workspace, edits)
    return named


class _EntityFile(NamedTuple):
    """An entity page as it is on disk, or will be made, and what it says."""

    file: Edit
    name: str
    aliases: tuple[str, ...] = ()
    merged_into: str | None = None

    @property
    def path(self) -> str:
        return self.file.path

    @property
    def key(self) -> str:
        return entity_key(self.name)

    @property
    def keys(self) -> set[str]:
        return {self.key, *map(entity_key, self.aliases)}

    def is_into(self, other: Self) -> bool:
        """True if it is merged into another entity."""
        return entity_key(self.merged_into or "") in other.keys

    def edited(self, edit: Callable[[str], str]) -> Edit:
        """A change of the page; PageUnreadable if its front matter cannot be edited."""
        try:
            return self.file._replace(after=edit(self.file.after))
        except ValueError as error:
            raise PageUnreadable(self.path, str(error), _BY_HAND) from error


def _read(memory: OpenMemory, path: str) -> _EntityFile:
    """An entity page; PageUnreadable if its front matter cannot be edited."""
    file = read_for_edit(memory.workspace, path)
    try:
        into = front_values(file.after).get(MERGED_INTO)
        entity = rows_of(path, with_value(as_indexed(file.after), MERGED_INTO, None)).entity
    except ValueError as error:
        raise PageUnreadable(path, str(error), _BY_HAND) from error
    name, aliases = (entity.name, entity.aliases) if entity else (PurePosixPath(path).stem, ())
    return _EntityFile(file, name, aliases, into if isinstance(into, str) else None)


def _find(memory: OpenMemory, name: str) -> _EntityFile | None:
    """The page of the entity with exactly this name, its own rather than an alias; Usage if several have it."""
    key = entity_key(name)
    found = entities_named(memory.index, name)
    exact = [entity for entity in found if key in entity.keys]
    own = [entity for entity in exact if entity.key == key] or exact
    if len(own) > 1:
        raise Usage(f"{name!r} may be {_listed(own, 'or')}", "`memctl check` lists names that several pages share")
    if found and not exact:
        raise Usage(f"no entity is named just {name!r}, but {_listed(found, 'and')}", "give the whole name")
    return _read(memory, own[0].path) if own else None


def _new(memory: OpenMemory, name: str) -> _EntityFile:
    """The page that an entity without one will have."""
    taken = [found.path for found in memory.workspace.scan() if found.path.startswith(ENTITIES)]
    path, usual = page_path(name, taken), _folded(f"{ENTITIES}{slug(name)}.md")
    if clash := next((other for other in taken if _folded(other) == usual), None):
        _read(memory, clash)  # an unreadable page may be theirs: no second one beside it
    text = f"---\naliases: []\n---\n\n# {name}\n"
    entity = rows_of(path, text).entity
    if entity and entity_key(entity.name) != entity_key(name):  # its file had to be called otherwise
        text = with_names(text, add=[name])
        entity = rows_of(path, text).entity
    return _EntityFile(Edit(path, None, text), entity.name if entity else name, entity.aliases if entity else ())


def _merged_pages(memory: OpenMemory) -> list[_EntityFile]:
    """Every page that says `merged_into`."""
    ids = match(memory.index, terms(MERGED_INTO)[:1], Filter("", ()), 1_000_000)
    found: list[_EntityFile] = []
    for path in sorted({entry.path for entry in by_ids(memory.index, ids).values()}):
        with suppress(PageUnreadable):  # another page that only has the word: `memctl check` names it
            page = _read(memory, path)
            found += [page] if path.startswith(ENTITIES) or page.aliases else []
    return [page for page in found if page.merged_into]


def _listed(entities: Sequence[Entity], word: str) -> str:
    return f" {word} ".join(sorted(entity.name for entity in entities))


def _command(name: str, into: str, option: str = "") -> str:
    return f'`memctl entity merge "{name}" "{into}"{option}`'


def _with_aliases(memory: OpenMemory, name: str, aliases: Sequence[str]) -> _Planned:
    page = _find(memory, name) or _new(memory, name)
    for other in aliases:
        for entity in entities_named(memory.index, other):
            if entity_key(other) in entity.keys and entity.path != page.path:
                cure = f"if they are one: {_command(entity.name, page.name)}"
                raise Refused(f"{other} is already a name of {entity.name}", cure)
    added = tuple(other for other in aliases if entity_key(other) not in page.keys)
    notes = [f"{page.name} already has the name {other}" for other in aliases if other not in added]
    notes += [*_unknown(memory, name, page, added), *_two_values(memory, page, added)]
    edit = page.edited(lambda text: with_names(text, add=added))
    return Named(page.name, page.path, added=added, notes=notes), [edit]


def _two_values(memory: OpenMemory, page: _EntityFile, added: Sequence[str]) -> list[str]:
    """A note on the slots that hold one value for the entity and another one for the names that it is given."""
    given, today = set(map(entity_key, added)), memory.today
    verdict = judge(memory, filling_slots(memory.index, {*given, *page.keys}))
    said = own_terms(memory.index, verdict.entries)
    held: dict[str, tuple[set[object], set[object]]] = {}
    for row in verdict.entries.values():
        if row.slot and row.id in verdict.validity and verdict.validity[row.id].holds(today):
            # Of a line with `key=` nobody knows which words are the value.
            value = {*said[row.id].split()} - name_terms(row.named) if row.same == row.content_key else {row.same}
            held.setdefault(row.slot, (set(), set()))[row.subject in given].add(frozenset(value))
    slots = sorted(key for key, (own, new) in held.items() if own and new and own != new)
    doubt = "two values, of which the newest holds now; are they two? Then `memctl undo`"
    return [f"{' and '.join(slots)}: {doubt}"] if slots else []


def _unknown(memory: OpenMemory, name: str, page: _EntityFile, added: Sequence[str]) -> list[str]:
    """A note on a name that only now gets a page, and that is like another one or stands in no line."""
    if page.file.before is not None:
        return []
    near = near_name(memory, name)
    near = None if entity_key(near or "") in map(entity_key, added) else near
    if not near and match(memory.index, terms(name), Filter("", ()), 1):
        return []
    asked = f"did you mean {near}" if near else "no line has it: a slip"
    return [f"{name!r} is a new name; {asked}? Then `memctl undo`"]


def _without_aliases(memory: OpenMemory, name: str, aliases: Sequence[str]) -> _Planned:
    page = _find(memory, name)
    listed = {entity_key(other): other for other in page.aliases} if page else {}
    wanted = set(map(entity_key, aliases))
    if page is None or not wanted & listed.keys():
        own = page is not None and page.key in wanted
        cure = "it is the page's own name; rename the page" if own else "`memctl entity show` lists aliases"
        raise NothingFound(f"{' and '.join(aliases)}: not an alias of {page.name if page else name}", cure)
    for other in _merged_pages(memory):
        if other.is_into(page) and other.key in wanted:
            cure = f"{_command(other.name, page.name, ' --undo')} takes both back"
            raise Refused(f"{other.name} has a page, which is merged into {page.name}", cure)
    removed = tuple(listed[entity_key(other)] for other in aliases if entity_key(other) in listed)
    notes = [f"{other} is not an alias of {page.name}" for other in aliases if entity_key(other) not in listed]
    edit = page.edited(lambda text: with_names(text, remove=removed))
    return Named(page.name, page.path, removed=removed, notes=notes), [edit]


def _merged(memory: OpenMemory, name: str, into: str) -> _Planned:
    one, merged = _find(memory, name), _merged_pages(memory)
    other = _find(memory, into) or _new(memory, into)
    if other.file.before is None and not match(memory.index, terms(into), Filter("", ()), 1):
        raise NothingFound(f"no line or page has the name {into}", f'`memctl entity alias "{into}" "{name}"` makes it')
    if one and one.path == other.path:
        _check_names_of_one(one, name, into, merged)
        return Named(other.name, other.path, notes=[f"{other.name} already has the name {name}"]), []
    if one:
        _check_may_merge(one, name, merged)
    names = (one.name, *one.aliases) if one else (name,)
    added = tuple(dict.fromkeys(n for n in names if entity_key(n) not in other.keys))
    notes = [*_unknown(memory, into, other, added), *_two_values(memory, other, added)]
    edits = [other.edited(lambda text: with_names(text, add=added))]
    if one:
        edits.append(one.edited(lambda text: with_value(text, MERGED_INTO, other.name)))
    return Named(other.name, other.path, added=added, notes=notes), edits


def _check_may_merge(one: _EntityFile, name: str, merged: Sequence[_EntityFile]) -> None:
    """Usage for an alias, or a name that is merged already; Refused for an entity that others are merged into."""
    if one.key != entity_key(name):
        if any(page.key == entity_key(name) for page in merged):
            raise Usage(f"{name} is merged into {one.name}", f"{_command(name, one.name, ' --undo')} first")
        cure = f'merge "{one.name}" itself, or `memctl entity alias "{one.name}" "{name}" --remove` first'
        raise Usage(f"{name} is an alias of {one.name}", cure)
    for page in merged:
        if page.is_into(one):
            cure = f"{_command(page.name, one.name, ' --undo')} first; merges make no chains"
            raise Refused(f"{page.name} is merged into {one.name}", cure)


def _check_names_of_one(page: _EntityFile, name: str, into: str, merged: Sequence[_EntityFile]) -> None:
    """Two names of one entity: Usage for one name twice, Refused where `name` is its own and `into` the other."""
    if entity_key(name) == entity_key(into):
        raise Usage(f"{name} and {into} are one name", "name two")
    if entity_key(name) == page.key:
        whole = next((other.name for other in merged if other.key == entity_key(into)), None)
        cure = f"{_command(whole, page.name, ' --undo')} first" if whole else "it needs no merge"
        raise Refused(f"{into} is {'merged into' if whole else 'an alias of'} {page.name} already", cure)


def _parted(memory: OpenMemory, name: str, into: str) -> _Planned:
    other, key = _find(memory, into), entity_key(name)
    one = next((page for page in _merged_pages(memory) if page.key == key), None)
    if one and (other is None or not one.is_into(other)):
        cure = f'memctl entity merge "{name}" "{one.merged_into}" --undo'
        raise Usage(f"{name} is merged into {one.merged_into}", cure)
    listed = list(map(entity_key, other.aliases)) if other else []
    if other is None or (key not in listed and not one):
        raise NothingFound(f"{name} is not merged into {into}", "`memctl entity list` shows who has which names")
    if one is None:  # without a page; or an undo that was cut off half-way
        page = _find(memory, name)
        one = page if page and page.path != other.path else None
    # A merge adds the name first, then the aliases; what stood there before it, it did not add.
    start = listed.index(key) if key in listed else 0
    gone = one.keys if one else {key}
    removed = tuple(n for n in other.aliases[start:] if entity_key(n) in gone)
    edits = [one.edited(lambda text: with_value(text, MERGED_INTO, None))] if one else []
    edits.append(other.edited(lambda text: with_names(text, remove=removed)))
    return Named(other.name, other.path, removed=removed), edits
