"""Import: other memories in. Notes become pages of their own, memories facts; nothing here is overwritten, nothing there touched."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from ..errors import CannotWrite, MemctlError, NothingFound, Refused, Usage
from ..facts import Fact
from ..index.heal import with_index
from ..index.index import Index
from ..index.queries.entities import bearers
from ..index.rows import rows_of
from ..index.sync import freshen, silent, sync
from ..ingest.transcripts.bytes import decoded
from ..ingest.transcripts.chatgpt import conversation_turns, is_conversation
from ..ingest.transcripts.file import open_transcript
from ..ingest.transcripts.json_stream import Item, Text, document, is_lines, json_lines
from ..ingest.transcripts.read import Notes
from ..language.names import entity_key
from ..language.secrets import find_secrets
from ..markdown.additions import clean
from ..markdown.diff import diff
from ..markdown.evidence_line import OPINIONS
from ..markdown.grammar import render
from ..notes.files import create, read_page
from ..notes.workspace import Workspace
from ..retain.retain import retain
from .imports import KINDS, Left, NotAPage, Page, imported, place_below, place_of
from .imports_json import Memory, conversation_page, is_memory, memory_of

__all__ = ["Imported", "Options", "import_memory", "kind_of"]

_FILES = {"mem0", "chatgpt"}
_NOTES = (".md", ".markdown")
_OTHERS = {".git", ".memory", "node_modules", "__pycache__"}  # folders of a vault that hold nobody's words


class Options(NamedTuple):
    """How to import: `name` tells several sources of one kind apart, `entities` is a folder of notes about one thing each.

    A `trusted` source is the owner's own: its pages are not marked, so its facts count in beliefs and contexts.
    """

    kind: str | None = None
    name: str | None = None
    entities: str | None = None
    trusted: bool = False
    dry_run: bool = False
    allow_secrets: bool = False


@dataclass(slots=True)
class Imported:
    """What an import did, or with `dry_run` would do.

    `pages` are those written, `same` how many stood here already; `kept` is how many facts came into `logs`, `known` how
    many were there. `left` names everything that was not taken, or is here only as text.
    """

    kind: str
    pages: list[str] = field(default_factory=list)
    logs: list[str] = field(default_factory=list)
    same: int = 0
    kept: int = 0
    known: int = 0
    left: list[Left] = field(default_factory=list)
    diff: str = ""
    warnings: list[str] = field(default_factory=list)


def import_memory(
    workspace: Workspace, source: Path, today: date, options: Options, tell: Callable[[str], None] = silent
) -> Imported:
    """Take in the memory at `source`: a folder of notes or a JSON export.

    Usage for what is of no known kind, NothingFound for what holds nothing; a page that exists and differs is left, and
    so named. Run again, it goes on where it was stopped.
    """
    source = Path(os.path.expanduser(source))
    if not source.exists():
        raise NothingFound(f"there is nothing at {source}", "name a folder of notes, or a JSON export")
    kind = options.kind or kind_of(source)
    if kind not in KINDS:
        raise Usage(f"--from {kind!r} is no kind of memory", ", ".join(KINDS))
    if kind in _FILES if source.is_dir() else (kind not in _FILES and source.suffix.lower() not in _NOTES):
        raise Usage(f"{source} is {'a folder' if source.is_dir() else 'a file'}, and {kind} is not", "see --from")
    _keep_apart(workspace, source)
    done = Imported(kind)
    run = _Run(workspace, source.resolve(), kind, today, options, done, tell)
    try:
        run.export() if kind in _FILES else run.notes()
    except CannotWrite as error:
        error.what += f" of it; {len(done.pages)} pages and {done.kept} facts came in before, and stay"
        raise
    if not options.dry_run and (done.pages or done.kept):
        stale = with_index(workspace, lambda index: sync(workspace, index).stale)
        done.warnings += [f"kept, but not indexed yet: {stale}"] if stale else []
    return done


def _keep_apart(workspace: Workspace, source: Path) -> None:
    found = source.resolve()
    if found == workspace.root or found in workspace.root.parents or workspace.root in found.parents:
        raise Usage(
            f"{source} and the workspace {workspace.root} lie one in the other",
            f"a folder of Markdown needs no import: memctl recall … -w {source}",
        )


# -- which memory ------------------------------------------------------------------------------------------------------


def kind_of(source: Path) -> str:
    """The kind of memory that a file or folder looks like; Usage where that cannot be told."""
    if source.is_file():
        if source.suffix.lower() in _NOTES:
            return "claude-code"
        kind = _kind_of_export(source)
    else:
        kind = _kind_of_folder(source)
    if kind is None:
        raise Usage(f"{source} looks like no memory known here", f"say which with --from: {', '.join(KINDS)}")
    return kind


def _kind_of_folder(folder: Path) -> str | None:
    names = {entry.name for entry in os.scandir(folder)}
    if ".obsidian" in names:
        return "obsidian"
    if {"SOUL.md", "AGENTS.md", "IDENTITY.md"} & names and {"MEMORY.md", "memory.md", "memory"} & names:
        return "openclaw"
    if "MEMORY.md" in names or "CLAUDE.md" in names:
        return "claude-code"
    for page in Workspace(folder.resolve()).scan()[:20]:
        if page.status:
            text = read_page(Workspace(folder.resolve()), page.path).text
            if "\npermalink:" in text[:2000]:
                return "basic-memory"
    return None


def _kind_of_export(path: Path) -> str | None:
    with open_transcript(Workspace(path.parent), path) as opened:
        text = Text(decoded(opened.pieces, None, Notes()))
        for item in _items(text, Notes()):
            value = item.value
            return "chatgpt" if is_conversation(value) else "mem0" if _memories(value) else None
    return None


def _items(text: Text, notes: Notes) -> Iterator[Item]:
    yield from json_lines(text, notes) if is_lines(text) else document(text, notes)


def _memories(value: object) -> list[dict[str, object]]:
    """The memories that a value of a mem0 export holds: itself, or those in its list."""
    if isinstance(value, dict) and is_memory(value):
        return [value]
    for key in ("results", "memories", "data"):
        if isinstance(value, dict) and isinstance(value.get(key), list):
            return [one for one in value[key] if isinstance(one, dict)]
    return []


# -- doing it ----------------------------------------------------------------------------------------------------------


class _Run:
    """One import on its way."""

    def __init__(
        self, workspace: Workspace, source: Path, kind: str, today: date, options: Options, done: Imported,
        tell: Callable[[str], None],
    ) -> None:  # fmt: skip
        self._workspace, self._source, self._kind, self._today = workspace, source, kind, today
        self._options, self._done, self._tell = options, done, tell
        self._mark = None if options.trusted else f"import:{kind}"
        self._written: set[str] = set()
        self._claimed: set[str] = set()
        self._bearers: dict[str, str] | None = None

    def notes(self) -> None:
        """Every note of a folder, or the one that `source` is."""
        folder = self._source if self._source.is_dir() else self._source.parent
        name = self._options.name or _name_of(folder)
        home = Workspace(folder)
        for found in home.scan():
            if self._source != folder and found.path != self._source.name:
                continue
            if found.problem:
                self._leave(found.path, found.problem)
                continue
            self._note(home, found.path, self._place(name, found.path))
        if self._source == folder:
            self._done.left += _no_notes(folder)

    def _place(self, name: str, origin: str) -> str:
        """Where a note goes: below `bank/KIND/NAME/` if another one of this source has its place, or if it claims beliefs."""
        path = place_of(self._kind, name, origin, self._options.entities)
        if self._mark and path.lower() == OPINIONS:  # what stands there is what reflect holds for true
            path = place_below(self._kind, name, PurePosixPath(path).name)
            self._leave(
                origin, f"the beliefs of others are none here: it is text, in {path}; --trusted takes them over"
            )
        elif path in self._claimed:
            path = place_below(self._kind, name, origin)
        self._claimed.add(path)
        return path

    def _note(self, home: Workspace, origin: str, path: str) -> None:
        try:
            read = read_page(home, origin)
        except MemctlError as error:
            self._leave(origin, error.what)
            return
        if read.warning:
            self._leave(origin, f"{read.warning}; mend it there first")
            return
        if self._has_secret(origin, read.text):
            return
        try:
            page, left = imported(self._kind, origin, path, read.text, self._mark)
        except NotAPage as error:
            self._leave(origin, str(error))
            return
        self._write(page)
        self._done.left += left

    def _taken_names(self, page: Page) -> str:
        """The names of an entity page that somebody else here bears: it would stand between the two."""
        entity = rows_of(page.path, page.text).entity if page.path.startswith("bank/entities/") else None
        names = (entity.name, *entity.aliases) if entity else ()
        if names and self._bearers is None:
            self._bearers = with_index(self._workspace, self._names_here)
        found = ((name, (self._bearers or {}).get(entity_key(name), page.path)) for name in names)
        return " and ".join(f"{name!r}, which is {path}" for name, path in found if path != page.path)

    def _names_here(self, index: Index) -> dict[str, str]:
        freshen(self._workspace, index, self._tell)
        return bearers(index)

    def export(self) -> None:
        """Every memory or conversation of a JSON file."""
        notes = Notes()
        days: dict[date, list[Fact]] = {}
        with ExitStack() as stack:
            opened = stack.enter_context(open_transcript(self._workspace, self._source))
            for count, item in enumerate(_items(Text(decoded(opened.pieces, None, notes)), notes), 1):
                if self._kind == "chatgpt":
                    self._conversation(item, count, notes)
                else:
                    for memory in self._facts(item):
                        days.setdefault(memory.day, []).append(memory.fact)
        for day, facts in sorted(days.items()):
            self._retain(day, facts)
        places = ((f"{self._source.name}#L{notice.line}", notice.text) for notice in notes.all())
        self._done.left += [Left(place, text) for place, text in places]

    def _conversation(self, item: Item, count: int, notes: Notes) -> None:
        place = f"{self._source.name}#L{item.line}"
        if not is_conversation(item.value):
            self._leave(place, "no conversation")
            return
        title = item.value.get("title")
        title = title if isinstance(title, str) and title.strip() else "Conversation"
        number = str(item.value.get("conversation_id") or item.value.get("id") or count)
        turns = list(conversation_turns(item.value, item.line, item.raw, notes))
        made = conversation_page(title, turns, self._mark, number)
        if made is None:
            self._leave(place, f"nobody says anything in {title[:60]!r}")
            return
        silent_turns = Counter(turn.role for turn in turns if turn.role not in ("user", "assistant"))
        for role, count in sorted(silent_turns.items()):
            self._leave(place, f"{count} messages by {role}")
        if not self._has_secret(place, made[1]):
            self._write(Page(*made, place))

    def _facts(self, item: Item) -> Iterator[Memory]:
        place = f"{self._source.name}#L{item.line}"
        found = _memories(item.value)
        undated = min(self._today, date.fromtimestamp(self._source.stat().st_mtime))
        if not found:
            self._leave(place, "no memory")
        for number, value in enumerate(found, 1):
            at = place if len(found) == 1 else f"{place}, {number}"
            memory = memory_of(value, at, self._today, self._mark, undated)
            if memory is None:
                self._leave(at, "a memory that says nothing")
                continue
            self._done.left += memory.left
            try:
                fact = clean(memory.fact)
            except Refused as error:
                self._leave(at, error.what)
                continue
            secret = find_secrets(render(fact))
            if secret and not self._options.allow_secrets:
                self._leave(at, f"looks like a {secret[0].name}")
                continue
            yield memory._replace(fact=fact)

    # -- writing --

    def _has_secret(self, origin: str, text: str) -> bool:
        secret = None if self._options.allow_secrets else next(iter(find_secrets(text)), None)
        if secret:
            line = text.count("\n", 0, secret.start) + 1
            self._leave(origin, f"line {line} looks like a {secret.name}; take it out, or --allow-secrets")
        return secret is not None

    def _write(self, page: Page) -> None:
        """A page of its own; one that is there is never written over."""
        try:
            path = self._workspace.contain(page.path)
        except MemctlError as error:
            self._leave(page.origin, error.what)
            return
        if path in self._written or (self._workspace.root / path).exists():
            self._exists(page, path)
            return
        if self._mark and (taken := self._taken_names(page)):
            self._leave(page.origin, f"it calls itself {taken}; take that out of its names there, or --trusted")
            return
        self._written.add(path)
        if self._options.dry_run:
            self._done.diff += diff(path, "", page.text)
        elif not create(self._workspace, path, page.text):
            self._exists(page, path)
            return
        self._done.pages.append(path)
        self._tell(path)

    def _exists(self, page: Page, path: str) -> None:
        try:
            same = path not in self._written and read_page(self._workspace, path).text == page.text
        except MemctlError as error:
            self._leave(page.origin, error.what)
            return
        if same:
            self._done.same += 1
        else:
            self._leave(page.origin, f"{path} is there and says something else; it stays as it is")

    def _retain(self, day: date, facts: list[Fact]) -> None:
        made = retain(
            self._workspace, facts, day, dry_run=self._options.dry_run, allow_secrets=self._options.allow_secrets
        )
        self._done.known += sum(kept.already for kept in made.kept)
        self._done.kept += sum(not kept.already for kept in made.kept)
        self._done.diff += made.diff
        if any(not kept.already for kept in made.kept):
            self._done.logs.append(f"memory/{day}.md")
        self._tell(f"memory/{day}.md")

    def _leave(self, place: str, reason: str) -> None:
        self._done.left.append(Left(place, reason))


def _name_of(folder: Path) -> str:
    """What a folder is called; of Claude Code's `…/projects/-home-me-shop/memory` the project."""
    return folder.parent.name.lstrip("-") if folder.name == "memory" and folder.parent.name else folder.name


def _no_notes(folder: Path) -> Iterable[Left]:
    """Every other file of a folder, by itself; settings of the program as one."""
    for root, names, files in os.walk(folder):
        for hidden in sorted(name for name in names if name.startswith(".") and name not in _OTHERS):
            yield Left(os.path.relpath(os.path.join(root, hidden), folder), "settings of the other program")
        names[:] = sorted(name for name in names if not name.startswith(".") and name not in _OTHERS)
        for name in sorted(files):
            if not name.lower().endswith(_NOTES):
                yield Left(os.path.relpath(os.path.join(root, name), folder), "no Markdown; stays where it is")
