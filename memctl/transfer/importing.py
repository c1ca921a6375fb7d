"""Import: other memories in. Notes become pages of their own, memories facts; nothing here is overwritten, nothing there touched."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from ..errors import CannotWrite, OutsideWorkspace, PageUnreadable, Refused, Usage
from ..facts import Fact
from ..index.open_memory import OpenMemory
from ..index.queries.entity_names import paths_by_name
from ..index.queries.entries import existing_refs
from ..index.rows import rows_of
from ..index.sync import sync
from ..ingest.formats import conversation_turns, is_conversation
from ..ingest.ingest import open_transcript
from ..ingest.json_stream import JsonItem, Text, decoded_pieces, json_items
from ..ingest.turns import Notes
from ..language.dates import log_day
from ..language.names import entity_key
from ..language.secrets import find_secrets
from ..markdown.grammar import OPINIONS, clean, render
from ..markdown.lines import without_sealed
from ..notes.edits import apply, create, diff, read_for_edit
from ..notes.files import read_page
from ..notes.workspace import PAGES, PageFile, Workspace
from ..retain.retain import retain
from ..review.keep import PAGE
from .foreign import KINDS, Skip, conversation_page, imported, is_exported, is_memory, memory_of, place_below, place_of

_FILES = {"mem0", "chatgpt"}
_NOTES = (".md", ".markdown")
_OTHERS = {".git", ".memory", "node_modules", "__pycache__"}  # folders of a vault that hold nobody's words


class ImportOptions(NamedTuple):
    """How to import.

    `kind` is one of `KINDS`; None is by what the source looks like. `name` tells several sources of one kind apart; None is
    the name of the folder. `entities` is a folder of notes about one thing each, which become entity pages. A `trusted`
    source is the owner's own: its pages are not marked, so its facts count in beliefs and contexts.
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
    left: list[Skip] = field(default_factory=list)
    diff: str = ""
    warnings: list[str] = field(default_factory=list)


def import_memory(memory: OpenMemory, source: Path, options: ImportOptions) -> Imported:
    """Take in the memory at `source`: a folder of notes or a JSON export.

    Usage for what is not of a known kind, PageUnreadable for what is not there; a page that exists and differs is left, and
    so named. Run again, it goes on where it was stopped.
    """
    source = Path(os.path.expanduser(source))
    if not source.exists():
        raise PageUnreadable(str(source), "No such file or directory", "name a folder of notes, or a JSON export")
    kind = options.kind or _kind_of(source)
    if kind not in KINDS:
        raise Usage(f"--from {kind!r} is not a known kind of memory", ", ".join(KINDS))
    is_data = source.is_file() and source.suffix.lower() not in _NOTES
    if kind in _FILES if source.is_dir() else (kind not in _FILES and is_data and kind != "memctl"):
        raise Usage(f"{source} is {'a folder' if source.is_dir() else 'a file'}, and {kind} is not", "see --from")
    found, root = source.resolve(), memory.workspace.root
    if found.is_relative_to(root) or root.is_relative_to(found):
        what = f"one of {source} and the workspace {root} lies inside the other"
        raise Usage(what, f"a folder of Markdown needs no import: memctl recall … -w {source}")
    memory.run(lambda at: at.sync_for_read())
    run = _Import(memory, found, kind, options)
    done = run.done
    try:
        run.export() if kind in _FILES or is_data else run.notes()
    except CannotWrite as error:
        error.what += f" of it; what came in before stays: pages {len(done.pages)}, facts {done.kept}"
        raise
    if not options.dry_run and (done.pages or done.kept):
        stale = memory.run(lambda bound: sync(bound.workspace, bound.index, progress=bound.progress).stale)
        done.warnings += [f"kept, but not indexed yet: {stale}"] if stale else []
    return done


def _kind_of(source: Path) -> str:
    """The kind of memory that a file or folder looks like; Usage where that cannot be told."""
    if source.is_dir():
        kind = _kind_of_folder(source)
    elif source.suffix.lower() in _NOTES:
        kind = "claude-code"
    else:
        value = next((item.value for item in _items(Workspace(source.parent), source, Notes())), None)
        known = {"chatgpt": is_conversation(value), "memctl": is_exported(value), "mem0": bool(_memories(value))}
        kind = next((kind for kind, is_it in known.items() if is_it), None)
    if kind is None:
        cure = f"say which with --from: {', '.join(KINDS)}"
        raise Usage(f"{source} does not look like a memory of a known kind", cure)
    return kind


def _kind_of_folder(folder: Path) -> str | None:
    names = {entry.name for entry in os.scandir(folder)}
    if "memctl.toml" in names:
        return "memctl"
    if ".obsidian" in names:
        return "obsidian"
    if {"SOUL.md", "AGENTS.md", "IDENTITY.md"} & names and {"MEMORY.md", "memory.md", "memory"} & names:
        return "openclaw"
    if {"MEMORY.md", "CLAUDE.md"} & names:
        return "claude-code"
    if {"memory", "bank"} <= names and any(log_day(page.name) for page in (folder / "memory").glob("*.md")):
        return "memctl"
    home = Workspace(folder.resolve())
    texts = (read_page(home, page.path).text for page in home.scan()[:20] if page.status)
    return "basic-memory" if any("\npermalink:" in text[:2000] for text in texts) else None


def _items(workspace: Workspace, path: Path, notes: Notes) -> Iterator[JsonItem]:
    with open_transcript(workspace, path) as opened:
        yield from json_items(Text(decoded_pieces(opened.pieces, None, notes)), notes)


def _memories(value: Any) -> list[dict[str, Any]]:
    """The memories that a value of an export holds: itself, or those in its list."""
    if is_memory(value) or is_exported(value):
        return [value]
    lists = (value.get(key) for key in ("results", "memories", "data")) if isinstance(value, dict) else ()
    found = next((listed for listed in lists if isinstance(listed, list)), [])
    return [one for one in found if isinstance(one, dict)]


class _Import:
    def __init__(self, memory: OpenMemory, source: Path, kind: str, options: ImportOptions) -> None:
        self._memory, self._source, self._kind, self._options = memory, source, kind, options
        self._workspace = memory.workspace
        self._mark = None if options.trusted else f"import:{kind}"
        self._written: set[str] = set()
        self._claimed: set[str] = set()
        self.done = Imported(kind)

    def notes(self) -> None:
        """Every note of a folder, or the one that `source` is."""
        folder = self._source if self._source.is_dir() else self._source.parent
        # Of Claude Code's `…/projects/-home-me-shop/memory` the project.
        called = folder.parent.name.lstrip("-") if folder.name == "memory" and folder.parent.name else folder.name
        name = self._options.name or called
        home = Workspace(folder)
        pages = home.scan()
        for done, found in enumerate(pages):
            self._memory.progress(done, len(pages), "importing")
            if self._source in (folder, folder / found.path):
                with self._leaving(found.path):
                    self._note(home, found, name)
        if self._source == folder:
            self.done.left += _other_files(folder)

    def _place(self, name: str, origin: str) -> str:
        """Where a note goes: below `bank/KIND/NAME/` if another one of this source has its place, or if it speaks for the owner."""
        path = place_of(self._kind, name, origin, self._options.entities)
        # What stands there is what reflect holds for true, what review asks, what goes into every context.
        # What stands at the root, hosts of agents read as instructions.
        speaks = path in PAGES or path.lower() in (OPINIONS, PAGE) or not path.startswith(("memory/", "bank/"))
        if self._mark and speaks:
            path = place_below(self._kind, name, PurePosixPath(path).name)
            reason = f"beliefs of others do not count here, nor what else speaks for them: it is text, in {path}; --trusted takes it over"
            self._leave(origin, reason)
        elif path in self._claimed:
            path = place_below(self._kind, name, origin)
        self._claimed.add(path)
        return path

    def _note(self, home: Workspace, found: PageFile, name: str) -> None:
        if found.problem:
            raise Usage(found.problem)
        path = self._place(name, found.path)
        read = read_page(home, found.path)
        if read.warning:
            raise Usage(f"{read.warning}; repair it there first")
        self._refuse_secrets(read.text)
        text, left = imported(self._kind, found.path, path, read.text, self._mark)
        with self._leaving(found.path):
            self._write(path, text)
        self.done.left += left

    def export(self) -> None:
        """Every memory or conversation of a JSON file."""
        notes = Notes()
        days: defaultdict[date, list[Fact]] = defaultdict(list)
        for count, item in enumerate(_items(self._workspace, self._source, notes), 1):
            self._memory.progress(count, 0, "reading")
            place = f"{self._source.name}#L{item.line}"
            if self._kind == "chatgpt":
                with self._leaving(place):
                    self._conversation(item, place, count, notes)
            else:
                for day, fact in self._facts(item, place):
                    days[day].append(fact)
        for done, (day, facts) in enumerate(sorted(days.items())):
            self._memory.progress(done, len(days), "importing")
            self._retain(day, facts)
        for notice in notes.all():
            self._leave(f"{self._source.name}#L{notice.line}", notice.text)

    def _conversation(self, item: JsonItem, place: str, count: int, notes: Notes) -> None:
        if not is_conversation(item.value):
            raise Usage("not a conversation")
        title = item.value.get("title")
        title = title if isinstance(title, str) and title.strip() else "Conversation"
        number = str(item.value.get("conversation_id") or item.value.get("id") or count)
        turns = list(conversation_turns(item, notes))
        made = conversation_page(title, turns, self._mark, number)
        if made is None:
            raise Usage(f"no message has text in {title[:60]!r}")
        others = Counter(turn.role for turn in turns if turn.role not in ("user", "assistant"))
        for role, times in sorted(others.items()):
            self._leave(place, f"messages by {role}: {times}")
        self._refuse_secrets(made[1])
        self._write(*made)

    def _facts(self, item: JsonItem, place: str) -> Iterator[tuple[date, Fact]]:
        """The facts of an object of an export, each with its day."""
        found = _memories(item.value)
        today = self._memory.today
        undated = min(today, date.fromtimestamp(self._source.stat().st_mtime))
        if not found:
            self._leave(place, "not a memory")
        for number, value in enumerate(found, 1):
            at = place if len(found) == 1 else f"{place}, {number}"
            with self._leaving(at):
                memory = memory_of(value, at, today, self._mark, undated)
                if memory is None:
                    raise Usage("a memory without text")
                self.done.left += memory.left
                fact = clean(memory.fact)
                secret = find_secrets(without_sealed(render(fact)))
                if secret and not self._options.allow_secrets:
                    raise Usage(f"looks like a {secret[0].name}")
                yield memory.day, fact

    @contextmanager
    def _leaving(self, place: str) -> Iterator[None]:
        """What cannot be taken is named, with the reason, and the import goes on; a disk that takes nothing ends it."""
        try:
            yield
        except (OutsideWorkspace, PageUnreadable, Refused, Usage) as error:
            if isinstance(error, CannotWrite):
                raise
            self._leave(place, error.what)

    def _refuse_secrets(self, text: str) -> None:
        for secret in () if self._options.allow_secrets else find_secrets(text):
            line = text.count("\n", 0, secret.start) + 1
            raise Usage(f"line {line} looks like a {secret.name}; take it out, or --allow-secrets")

    def _write(self, path: str, text: str) -> None:
        """Write a new page; an existing one is never overwritten, but for one that is still as `init` makes it."""
        path = self._workspace.contain(path)
        page = read_for_edit(self._workspace, path)
        is_there = path in self._written or (page.before is not None and page.after not in {PAGES.get(path)} - {text})
        if not is_there:
            if self._mark and (taken := self._taken_names(path, text)):
                raise Usage(f"it claims the name {taken}; take that out of its names there, or --trusted")
            self._written.add(path)
            if self._options.dry_run:
                self.done.diff += diff(path, page.after, text)
            elif page.before is None:
                is_there = not create(self._workspace, path, text)
            else:
                apply(self._workspace, [page._replace(after=text)])
        if not is_there:
            self.done.pages.append(path)
        elif path not in self._written and read_page(self._workspace, path).text == text:
            self.done.same += 1
        else:
            raise Usage(f"{path} is there and says something else; it stays as it is")

    def _taken_names(self, path: str, text: str) -> str:
        """The names of an entity page that another page here has: it would be ambiguous between the two."""
        entity = rows_of(path, text).entity if path.startswith("bank/entities/") else None
        names = (entity.name, *entity.aliases) if entity else ()
        found = ((name, self._names_here.get(entity_key(name), path)) for name in names)
        return " and ".join(f"{name!r}, which is {there}" for name, there in found if there != path)

    @cached_property
    def _names_here(self) -> Mapping[str, str]:
        return self._memory.run(lambda at: paths_by_name(at.index))

    def _retain(self, day: date, facts: list[Fact]) -> None:
        options = self._options
        ids = {fact.block_id for fact in facts if fact.block_id}
        taken = self._memory.run(lambda at: existing_refs(at.index, ids))  # no other line may pass for one that is here
        facts = [replace(fact, block_id=None) if fact.block_id in taken else fact for fact in facts]
        made = retain(self._memory, facts, day, dry_run=options.dry_run, allow_secrets=options.allow_secrets)
        new = sum(not kept.already for kept in made.kept)
        self.done.known += len(made.kept) - new
        self.done.kept += new
        self.done.diff += made.diff
        if new:
            self.done.logs.append(f"memory/{day}.md")

    def _leave(self, place: str, reason: str) -> None:
        self.done.left.append(Skip(place, reason))


def _other_files(folder: Path) -> Iterator[Skip]:
    """Every file of a folder that is not a note, by itself; settings of the program as one."""
    for root, names, files in os.walk(folder):
        below = Path(root).relative_to(folder)
        for hidden in sorted(name for name in names if name.startswith(".") and name not in _OTHERS):
            yield Skip(str(below / hidden), "settings of the other program")
        names[:] = sorted(name for name in names if not name.startswith(".") and name not in _OTHERS)
        for name in sorted(files):
            if not name.lower().endswith(_NOTES):
                yield Skip(str(below / name), "not Markdown; stays where it is")
