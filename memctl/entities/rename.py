"""Naming: other names for an entity, and two entities as one. All of it stands in front matter, so it can be taken back."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import NamedTuple

from ..errors import LockBusy, NothingFound, PageUnreadable, Refused, Usage
from ..index.open_memory import OpenMemory
from ..index.queries.entries import Filter, by_ids, match
from ..index.queries.names import resolve
from ..index.row import Entity, EntityPage
from ..index.rows import rows_of
from ..index.sync import sync
from ..language.analyzer import terms
from ..language.names import entity_key, link_target, slug
from ..language.secrets import find_secrets
from ..markdown.front_edit import front_values, with_names, with_value
from ..notes.edits import Edit, apply, as_indexed, read_for_edit
from ..notes.replace import writing_alone

__all__ = ["ENTITIES", "MERGED_INTO", "Named", "alias", "merge", "page_path"]

ENTITIES = "bank/entities/"
MERGED_INTO = "merged_into"
"""The key in the front matter of a page whose entity is another one's: it names that one."""

_RESERVED = {"con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(1, 10))}
_NAME_BYTES = 240  # of a file name, which most disks end at 255


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


class _Page(NamedTuple):
    """An entity page as it is on disk, or will be made, and what it says."""

    file: Edit
    entity: EntityPage
    merged_into: str | None

    @property
    def path(self) -> str:
        """Its path in the workspace."""
        return self.file.path

    @property
    def names(self) -> list[str]:
        """Its name and its aliases."""
        return [self.entity.name, *self.entity.aliases]

    @property
    def keys(self) -> set[str]:
        """The same as keys."""
        return set(map(entity_key, self.names))


def alias(
    memory: OpenMemory, name: str, aliases: Sequence[str], *, remove: bool = False, dry_run: bool = False
) -> Named:
    """Give an entity other names, or take them away; a page is made for one that has none.

    Refused for a name that is somebody else's, Usage for one that several bear, NothingFound if there is nothing to
    take away, PageUnreadable for front matter that is no YAML.
    """
    wanted = list(dict.fromkeys(_name(written) for written in aliases))

    def plan(desk: _Desk) -> tuple[Named, list[Edit]]:
        return _taken(desk, _name(name), wanted) if remove else _given(desk, _name(name), wanted)

    return _done(memory, plan, dry_run)


def merge(memory: OpenMemory, name: str, into: str, *, undo: bool = False, dry_run: bool = False) -> Named:
    """Make `name` another name of `into`; with `undo`, somebody of its own again.

    The names of the one, its own first, are added to the aliases of the other, and its page, if it has one, says
    `merged_into`; neither changes otherwise. Refused for chains and cycles of merges.
    """

    def plan(desk: _Desk) -> tuple[Named, list[Edit]]:
        return (_parted if undo else _merged)(desk, _name(name), _name(into))

    return _done(memory, plan, dry_run)


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


def _name(written: str) -> str:
    """A name as given, without `@` or brackets; Usage or Refused for what can be none."""
    bare = written.strip().removeprefix("@").strip()
    name = link_target(bare[2:-2]) if bare.startswith("[[") and bare.endswith("]]") else " ".join(bare.split())
    if not name or len(name) > 200 or any(unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp") for char in bare):
        raise Usage(f"{written!r} is no name", "a name is one line of at most 200 characters")
    if find_secrets(name):
        raise Refused(f"{name[:4]}… looks like a {find_secrets(name)[0].name}", "give another name")
    return name


# -- who is who -------------------------------------------------------------------------------------------------------


class _Desk:
    """The workspace and its fresh index: finds the pages that names belong to."""

    def __init__(self, memory: OpenMemory) -> None:
        self._workspace, self._index = memory.workspace, memory.index

    def page(self, path: str) -> _Page:
        """An entity page; PageUnreadable if its front matter cannot be edited."""
        file = read_for_edit(self._workspace, path)
        try:
            into = front_values(file.after).get(MERGED_INTO)
            entity = rows_of(path, with_value(as_indexed(file.after), MERGED_INTO, None)).entity
        except ValueError as error:
            raise _unreadable(path, error) from error
        stem = PurePosixPath(path).stem
        return _Page(file, entity or EntityPage(stem, None, ()), into if isinstance(into, str) else None)

    def bearer(self, name: str) -> _Page | None:
        """The page of who bears exactly this name, as their own rather than as an alias; Usage if several do."""
        key = entity_key(name)
        found = resolve(self._index, name)
        exact = [entity for entity in found if key in entity.keys]
        own = [entity for entity in exact if entity.key == key] or exact
        if len(own) > 1:
            raise Usage(f"{name!r} may be {_and(own, 'or')}", "`memctl check` lists names that stand on several pages")
        if found and not exact:
            raise Usage(f"nobody is called just {name!r}, but {_and(found)}", "give the whole name")
        return self.page(own[0].path) if own else None

    def others(self, name: str, path: str) -> list[Entity]:
        """Who else than the page at `path` bears exactly this name."""
        found = resolve(self._index, name)
        return [entity for entity in found if entity_key(name) in entity.keys and entity.path != path]

    def new(self, name: str) -> _Page:
        """The page that an entity without one will have."""
        taken = [found.path for found in self._workspace.scan() if found.path.startswith(ENTITIES)]
        path = page_path(name, taken)
        clash = next((other for other in taken if _folded(other) == _folded(f"{ENTITIES}{slug(name)}.md")), None)
        if clash:
            self.page(clash)  # an unreadable page may be theirs: no second one beside it
        text = f"---\naliases: []\n---\n\n# {name}\n"
        entity = rows_of(path, text).entity
        if entity and entity_key(entity.name) != entity_key(name):  # its file had to be called otherwise
            text = with_names(text, add=[name])
        return _Page(Edit(path, None, text), rows_of(path, text).entity or EntityPage(name, None, ()), None)

    def merged(self) -> list[_Page]:
        """Every page that says `merged_into`."""
        ids = match(self._index, terms(MERGED_INTO)[:1], Filter("", ()), 1_000_000)
        paths = {entry.path for entry in by_ids(self._index, ids).values()}
        return [page for path in sorted(paths) if path.startswith(ENTITIES) for page in self._if_merged(path)]

    def _if_merged(self, path: str) -> Iterator[_Page]:
        with suppress(PageUnreadable):  # another page that only has the word: `memctl check` names it
            page = self.page(path)
            if page.merged_into:
                yield page


def _and(entities: Sequence[Entity], word: str = "and") -> str:
    return f" {word} ".join(sorted(entity.name for entity in entities))


def _unreadable(path: str, error: ValueError) -> PageUnreadable:
    return PageUnreadable(path, str(error), "mend the front matter by hand; nothing was changed")


def _edited(page: _Page, edit: Callable[[str], str]) -> Edit:
    try:
        return page.file._replace(after=edit(page.file.after))
    except ValueError as error:
        raise _unreadable(page.path, error) from error


def _done(memory: OpenMemory, plan: Callable[[_Desk], tuple[Named, list[Edit]]], dry_run: bool) -> Named:
    """Plan on a fresh index, then write page by page; what was cut off half-way is completed by the same call."""

    def job(at: OpenMemory) -> tuple[Named, list[Edit]]:
        state = sync(at.workspace, at.index)
        if state.stale:
            raise state.obstacle or LockBusy(str(at.workspace.memory), 10.0)
        return plan(_Desk(at))

    with nullcontext() if dry_run else writing_alone(memory.workspace, "reflect"):
        named, edits = memory.run(job)
        named.pages = tuple(edit.path for edit in edits if edit.is_change)
        named.diff = "".join(edit.diff() for edit in edits)
        if not dry_run:
            apply(memory.workspace, edits)
    return named


# -- aliases ----------------------------------------------------------------------------------------------------------


def _given(desk: _Desk, name: str, aliases: Sequence[str]) -> tuple[Named, list[Edit]]:
    page = desk.bearer(name) or desk.new(name)
    named = Named(page.entity.name, page.path)
    for other in aliases:
        for entity in desk.others(other, page.path):
            cure = f'if they are one: `memctl entity merge "{entity.name}" "{page.entity.name}"`'
            raise Refused(f"{other} is already a name of {entity.name}", cure)
    named.added = tuple(other for other in aliases if entity_key(other) not in page.keys)
    named.notes = [f"{other} is a name of {page.entity.name} already" for other in aliases if other not in named.added]
    return named, [_edited(page, lambda text: with_names(text, add=named.added))]


def _taken(desk: _Desk, name: str, aliases: Sequence[str]) -> tuple[Named, list[Edit]]:
    page = desk.bearer(name)
    listed = {entity_key(other): other for other in page.entity.aliases} if page else {}
    if page is None or not any(entity_key(other) in listed for other in aliases):
        own = page is not None and entity_key(page.entity.name) in map(entity_key, aliases)
        cure = (
            "that is what the page itself is called; rename the page" if own else "`memctl entity show` lists aliases"
        )
        raise NothingFound(f"{' and '.join(aliases)}: no alias of {page.entity.name if page else name}", cure)
    for other in desk.merged():
        if entity_key(other.merged_into or "") in page.keys and entity_key(other.entity.name) in map(
            entity_key, aliases
        ):
            cure = f'`memctl entity merge "{other.entity.name}" "{page.entity.name}" --undo` takes both back'
            raise Refused(f"{other.entity.name} has a page, which is merged into {page.entity.name}", cure)
    named = Named(page.entity.name, page.path)
    named.removed = tuple(listed[entity_key(other)] for other in aliases if entity_key(other) in listed)
    named.notes = [f"{other} is no alias of {page.entity.name}" for other in aliases if entity_key(other) not in listed]
    return named, [_edited(page, lambda text: with_names(text, remove=named.removed))]


# -- merges -----------------------------------------------------------------------------------------------------------


def _merged(desk: _Desk, name: str, into: str) -> tuple[Named, list[Edit]]:
    one, merged = desk.bearer(name), desk.merged()
    other = desk.bearer(into) or desk.new(into)
    if one and one.path == other.path:
        return _one_already(one, name, into, merged), []
    if one and entity_key(one.entity.name) != entity_key(name):
        raise _not_to_merge(name, one, merged)
    for page in merged:
        if one and entity_key(page.merged_into or "") in one.keys:
            cure = f'`memctl entity merge "{page.entity.name}" "{one.entity.name}" --undo` first; merges make no chains'
            raise Refused(f"{page.entity.name} is merged into {one.entity.name}", cure)
    names = one.names if one else [name]
    named = Named(other.entity.name, other.path)
    named.added = tuple(dict.fromkeys(n for n in names if entity_key(n) not in other.keys))
    edits = [_edited(other, lambda text: with_names(text, add=named.added))]
    if one:
        edits.append(_edited(one, lambda text: with_value(text, MERGED_INTO, other.entity.name)))
    return named, edits


def _not_to_merge(name: str, bearer: _Page, merged: Sequence[_Page]) -> Usage:
    """The name is not one to merge: it is somebody's alias, or was merged before."""
    owner = bearer.entity.name
    if any(entity_key(page.entity.name) == entity_key(name) for page in merged):
        return Usage(f"{name} is merged into {owner}", f'`memctl entity merge "{name}" "{owner}" --undo` first')
    cure = f'merge "{owner}" itself, or `memctl entity alias "{owner}" "{name}" --remove` first'
    return Usage(f"{name} is an alias of {owner}", cure)


def _one_already(page: _Page, name: str, into: str, merged: Sequence[_Page]) -> Named:
    """Two names of one entity: merged before, or never two."""
    own = entity_key(page.entity.name)
    if entity_key(name) == entity_key(into):
        raise Usage(f"{name} and {into} are one name", "name two")
    if entity_key(name) == own:
        whole = next((other.entity.name for other in merged if entity_key(other.entity.name) == entity_key(into)), None)
        cure = f'`memctl entity merge "{whole}" "{page.entity.name}" --undo` first' if whole else "it needs no merge"
        state = "merged into" if whole else "an alias of"
        raise Refused(f"{into} is {state} {page.entity.name} already", cure)
    return Named(page.entity.name, page.path, notes=[f"{name} is a name of {page.entity.name} already"])


def _parted(desk: _Desk, name: str, into: str) -> tuple[Named, list[Edit]]:
    other = desk.bearer(into)
    key = entity_key(name)
    found = [page for page in desk.merged() if entity_key(page.entity.name) == key]
    one = found[0] if found else None
    if one and (other is None or entity_key(one.merged_into or "") not in other.keys):
        raise Usage(
            f"{name} is merged into {one.merged_into}", f'memctl entity merge "{name}" "{one.merged_into}" --undo'
        )
    if one is None:  # without a page; or an undo that was cut off half-way
        page = desk.bearer(name)
        one = page if page and other and page.path != other.path else None
    listed = list(map(entity_key, other.entity.aliases)) if other else []
    if other is None or (key not in listed and not found):
        raise NothingFound(f"{name} is not merged into {into}", "`memctl entity list` shows who has which names")
    # A merge adds the name first, then the aliases; what stood there before it, it did not add.
    start = listed.index(key) if key in listed else 0
    gone = one.keys if one else {key}
    named = Named(other.entity.name, other.path)
    named.removed = tuple(n for n in other.entity.aliases[start:] if entity_key(n) in gone)
    edits = [_edited(one, lambda text: with_value(text, MERGED_INTO, None))] if one else []
    return named, [*edits, _edited(other, lambda text: with_names(text, remove=named.removed))]
