"""`Shared`: publish a workspace, withdraw it, and ask those that others published.

A question travels as nothing but its words, and only where it is asked of `all`; answers are made here, from copies:
`.memory/shared/NAME/`, pages as they were published, with an index. A copy is derived: what is asked first is whether the
server has another revision, and then only what changed travels. Recall ranks in a copy as in any other workspace.
"""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from hashlib import sha256
from typing import Any, NamedTuple

from ..errors import CannotWrite, ExtraBroken, LockBusy, MemctlError, NothingFound, ServerFailed, Usage
from ..facts import Citation
from ..hits import Answer, merge_answers
from ..index.heal import schema_version
from ..index.open_memory import OpenMemory
from ..index.queries.entries import Query
from ..index.resident import Resident
from ..index.sync import build_index
from ..language.analyzer import query_terms, terms
from ..language.synonyms import expansions
from ..notes.files import prepare_memory, write_derived
from ..notes.workspace import Workspace
from ..recall.lookup import Passage, show
from ..recall.query import with_aliases
from ..recall.recall import recall
from ..recall.surroundings import most_hits
from ..system import locked
from ..vectors.embed import take_vectors
from ..vectors.file import drop_vectors
from ..vectors.models import Embedder, choice, loaded, name_elsewhere
from .publish import Published, publish
from .server import SharedServer, SharedSession, SharedWorkspace

ALL = "all"
_NAME = re.compile(r"(?!(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$))[^\W_][\w.-]{0,62}(?<!\.)")
MOST = 20  # workspaces that a question to all is answered from
_WORDS = 64  # of a question that are looked for there
_TRIES = 3  # before an answer waits until nobody brings the copy up to date
_CITED = re.compile(r"(?P<name>[\w.-]+):(?P<place>.+#L[\d-]+L?\d*)(?:@(?P<commit>r\d+|[0-9a-f]{7,64}))?")
_COMMIT = 12  # characters of a commit in a citation
_SECONDS = 60.0  # the longest wait for another process that brings the same copy up to date
_STATE, _HEADS = "copy.json", "heads.json"


class _OpenCopies:
    """What a process that stays keeps open: connections by URL, and the index of each copy."""

    def __init__(self) -> None:
        self.servers, self.copies = dict[str, SharedServer](), dict[Workspace, Resident]()

    def close(self) -> None:
        for server in self.servers.values():
            server.close()
        for copy in self.copies.values():
            copy.close()


class Shared:
    """Shared memory as one workspace sees it. Nothing is sent before a method is called, and nothing but `publish` sends pages."""

    def __init__(self, memory: OpenMemory, url: str | None = None) -> None:
        settings = memory.workspace.settings
        address = url or settings.shared_url
        if not address:
            cure = "give --to postgresql://USER@HOST/DB, or url under [shared] in memctl.toml"
            raise Usage("no server is named", cure)
        self._memory = memory
        self._held = memory.resident.keep(_OpenCopies) if memory.resident else _OpenCopies()
        self._server = self._held.servers.setdefault(address, SharedServer(address, memory.resident is not None))

    def publish(
        self, name: str | None = None, *, team: str | None = None, force: bool = False, dry_run: bool = False
    ) -> Published:
        """Make the server's copy what others may see of this workspace; `name` and `team` are those of the settings otherwise."""
        settings = self._memory.workspace.settings
        chosen, team = self._named(name), team or settings.shared_team
        return publish(self._memory, self._server, chosen, team=team, force=force, dry_run=dry_run)

    def withdraw(self, name: str | None = None) -> str:
        """Take a workspace off the server, and with it the copies of all readers when they ask next; its name."""
        chosen = self._named(name)
        with self._server.transaction(write=True) as at:
            if not at.withdraw(chosen):
                what = f"{at.place} holds no {chosen} that you may withdraw"
                raise NothingFound(what, "memctl recall --in all says what is there")
        return chosen

    def _named(self, name: str | None) -> str:
        chosen = name or self._memory.workspace.settings.shared_name
        if not chosen:
            cure = "give --as NAME, or name under [shared] in memctl.toml"
            raise Usage("the workspace has no name to be published under", cure)
        return _checked(chosen)

    def recall(self, names: Sequence[str], query: Query, *, k: int | None = None, **options: Any) -> Answer:
        """The best `k` hits of published workspaces, of one in the order in which it would answer itself; citations name the commit.

        `names` may be `all`: then those that hold most of the question's rarest words, `k` and 20 at most. `options` are those of recall.
        """
        start = time.perf_counter()
        names = [name if name == ALL else _checked(name) for name in dict.fromkeys(names)]
        usual, budget = self._memory.workspace.settings.k, options.get("budget")
        query = with_aliases(self._memory.workspace, query)
        with self._server.transaction() as at:
            rows, notes = self._chosen(at, names, query, min(k or usual, MOST))
        k = most_hits(k, budget if options.get("hops", 1) == 1 else None, usual)
        if budget:
            options["budget"] = max(1, budget // max(1, len(rows)))
        answers, heads = [], dict[str, dict[str, str]]()
        for row in rows:
            answer, heads[row.workspace] = self._ask(self._copy(at.server, row), query, k, options)
            answers.append((row.workspace, answer))

        def cited(name: str, citation: Citation) -> Citation:
            return citation._replace(path=f"{name}:{citation.path}", commit=heads[name].get(citation.path, ""))

        as_of = str(query.as_of) if query.as_of else None
        answer = merge_answers(answers, k, cited) if answers else Answer(query.words, as_of, (), empty=notes)
        warnings = (*notes, *answer.warnings) if answers else ()
        return answer._replace(warnings=warnings, took_ms=(time.perf_counter() - start) * 1000)

    def _copy(self, server: str, row: SharedWorkspace) -> Copy:
        """The copy of a workspace as the server has it, with its vectors where the reader's model made them."""
        embedder = choice(self._memory.workspace).embedder if row.model else None
        embedder = embedder if embedder and embedder.id == row.model else None
        copy = Copy(self._memory.workspace, row.workspace, embedder.id if embedder else "")
        if copy.is_current(server, row):
            return copy
        with copy.alone():
            if not copy.is_current(server, row):  # another process may have been quicker
                with self._server.transaction() as at:
                    there = at.workspaces([row.workspace])
                    if row.workspace not in there:
                        raise _unseen(at, [row.workspace])
                    row = there[row.workspace]
                    has_lost = copy.fetch(at, row)
                if has_lost:  # nothing of that is left in the index either
                    build_index(copy.workspace, progress=self._memory.progress)
                opened = self._open(copy)
                opened.run(lambda at: at.sync_for_write())
                copy.settle(server, row, self._take_vectors(copy, opened, embedder))
        return copy

    def _take_vectors(self, copy: Copy, opened: OpenMemory, embedder: Embedder | None) -> str:
        """Bring the vectors of a copy up to date; the model whose vectors it has of all lines that have one there."""
        if embedder is None:
            drop_vectors(copy.workspace)
            return ""
        with self._server.transaction() as at:
            there = at.workspaces([copy.name]).get(copy.name)
            if there is None or there.model != embedder.id:  # since we asked
                return ""
            means, fetch = at.means(copy.name), partial(at.codes, copy.name)
            try:
                opened.run(lambda taking: take_vectors(taking, loaded(embedder), means, fetch))
            except (ValueError, CannotWrite, ExtraBroken, LockBusy) as error:
                drop_vectors(copy.workspace)
                self._memory.tell(f"{copy.name}: by words only: its vectors cannot be used: {error}")
                # Until another revision, or the next question.
                return embedder.id if isinstance(error, ValueError) else ""
        return embedder.id

    def _open(self, copy: Copy) -> OpenMemory:
        memory, workspace, resident = self._memory, copy.workspace, None
        if memory.resident:
            resident = self._held.copies.get(workspace) or self._held.copies.setdefault(workspace, Resident(workspace))
        return OpenMemory(workspace, lambda: memory.now, tell=memory.tell, progress=memory.progress, resident=resident)

    def _chosen(
        self, at: SharedSession, names: Sequence[str], query: Query, most: int
    ) -> tuple[list[SharedWorkspace], tuple[str, ...]]:
        """The workspaces to ask, best first, and what is to be said of the choice. Copies of what may not be seen any more go."""
        asked = [name for name in names if name != ALL]
        held = copies_of(self._memory.workspace, at.server)
        found = _by_worth(at, query, most) if ALL in names else []
        there = at.workspaces([*asked, *found[:most], *(copy.name for copy in held)])
        for copy in held:
            if copy.name not in there:
                with copy.alone():
                    shutil.rmtree(copy.root, ignore_errors=True)
        if missing := [name for name in asked if name not in there]:
            raise _unseen(at, missing)
        notes = []
        if len(found) > most:
            best = f"the {most} best of {len(found)} workspaces that hold words of this"
            notes.append(f"asked {best}; --in NAME asks another")
        elif ALL in names and not found:
            notes.append(f"nothing found: none of {at.count()} workspaces at {at.place} holds a word of this")
        return [there[name] for name in dict.fromkeys((*asked, *found[:most]))], tuple(notes)

    def _ask(self, copy: Copy, query: Query, k: int, options: dict[str, Any]) -> tuple[Answer, dict[str, str]]:
        """The answer of a copy as of one revision, with the commits of its pages: asked again where another process changed it."""
        for _ in range(_TRIES):
            before, heads = copy.state(), copy.heads()
            answer = recall(self._open(copy), query, k=k, **options)
            if before and before.whole and copy.state() == before:
                return answer, heads
        with copy.alone():
            return recall(self._open(copy), query, k=k, **options), copy.heads()


def shown(memory: OpenMemory, reference: str, context: int) -> tuple[Passage, ...]:
    """What a citation of shared memory cites, in the copy that answered; nothing for another one. No server is asked."""
    match = _CITED.fullmatch(reference.strip())
    copy = Copy(memory.workspace, match["name"]) if match and _is_name(match["name"]) else None
    if not match or not copy or not (state := copy.state()):
        return ()
    citation, asked, there = Citation.parse(match["place"]), match["commit"] or "", ""
    if citation and state.whole:
        there = copy.heads().get(citation.path, "")
    if not there or (asked[:_COMMIT] != there and (asked[:1] == "r" or not there.startswith(asked))):
        path = citation.path if citation else reference
        what = f"has {path} as of {there}, not {asked}" if there else f"holds no {path}"
        cure = f"`memctl recall --in {copy.name}` brings the copy up to date"
        raise NothingFound(f"the copy of {copy.name} {what}", cure)
    (passage,) = show(OpenMemory(copy.workspace, lambda: memory.now), match["place"], context)
    cited = passage.citation
    return (replace(passage, citation=cited._replace(path=f"{copy.name}:{cited.path}", commit=there)),)


def _unseen(at: SharedSession, names: Sequence[str]) -> NothingFound:
    what = f"{at.place} shares no workspace {', '.join(names)} with you"
    return NothingFound(what, "ask for the role of its team; `recall --in all` asks what you may see")


def _is_name(name: str) -> bool:
    """True for a name that fits a folder on every system, a citation and a list with commas."""
    return bool(_NAME.fullmatch(name)) and name == name.casefold() and name != ALL


def _checked(name: str) -> str:
    if not _is_name(name):
        cure = "use small letters, digits, and - _ . between them; 63 at most"
        raise Usage(f"{name[:80]!r} cannot name a shared workspace", cure)
    return name


def _by_worth(at: SharedSession, query: Query, most: int) -> list[str]:
    """The workspaces that hold a word of the question, or another word for one; first those with most of the rarest.

    Without words the `most` that were published last.
    """
    wanted = list(query_terms(query.words))
    others = [token for tokens, _ in expansions(query.words, wanted, query.aliases) for token in tokens]
    named = [token for name in query.about for token in terms(name)]
    words = list(dict.fromkeys((*wanted, *others, *named)))[:_WORDS]
    if not words:
        return list(filter(_is_name, at.newest(most)))
    holders: dict[str, set[str]] = defaultdict(set)
    for name, word in at.holding(words):
        holders[word].add(name)
    worth = dict.fromkeys(at.analysed_otherwise(schema_version()), 0.0)
    count = at.count()
    for names in holders.values():
        for name in names:
            worth[name] = worth.get(name, 0.0) + math.log(1 + count / len(names))
    return sorted(filter(_is_name, worth), key=lambda name: (-worth[name], name))


class CopyState(NamedTuple):
    """What a copy is of. While pages are being written it is not `whole`, and holds at least what it held before."""

    server: str
    generation: str
    revision: int
    ttl: str
    whole: bool
    model: str = ""  # whose vectors it has of all lines that have one there


class Copy:
    """The copy of one shared workspace, below the derived folder of the reader's own."""

    def __init__(self, workspace: Workspace, name: str, model: str = "") -> None:
        self.name, self._reader = name, workspace
        self._model = model  # of the reader, where it made the vectors there
        self.root = workspace.memory / "shared" / name
        self._derived = self.root / ".memory"

    @property
    def workspace(self) -> Workspace:
        """The copy as a workspace: the reader's settings, how long the publisher keeps facts, all pages."""
        state = self.state()
        ttl = tuple((str(key), str(span)) for key, span in json.loads(state.ttl)) if state else ()
        has_vectors = state and state.model == self._model != ""
        model = name_elsewhere(self._reader) if has_vectors else "none"
        settings = self._reader.settings._replace(ignore=(), aliases=None, ttl=ttl, model=model, sync_seconds=3600.0)
        return Workspace(self.root, settings)

    def state(self) -> CopyState | None:
        """What it is of; None where there is none, or nothing that can be read."""
        with suppress(OSError, ValueError, TypeError):
            return CopyState(*json.loads((self._derived / _STATE).read_bytes()))
        return None

    def heads(self) -> dict[str, str]:
        """The commit of each page, as citations have it, or the publication in which it came."""
        with suppress(OSError, ValueError):
            found: dict[str, str] = json.loads((self._derived / _HEADS).read_bytes())
            return found
        return {}

    def is_current(self, server: str, row: SharedWorkspace) -> bool:
        """True if it is what the server has."""
        state = self.state()
        found = state._replace(model="") if state and not self._model else state  # without a model either will do
        return found == CopyState(server, row.generation, row.revision, row.ttl, True, self._model)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Hold the lock of the copy."""
        folder = prepare_memory(self._reader) / "shared"
        folder.mkdir(mode=0o700, exist_ok=True)
        with locked(folder / f".{self.name}.lock", _SECONDS):
            yield

    def fetch(self, at: SharedSession, row: SharedWorkspace) -> bool:
        """Bring its pages to what the server has, within `alone`; True if more than new lines at their ends changed.

        Killed meanwhile, the next one goes on; `settle` ends it.
        """
        state = self.state()
        is_of = state and (state.server, state.generation) == (at.server, row.generation)
        if not state or not is_of or state.revision > row.revision:
            shutil.rmtree(self.root, ignore_errors=True)
            state = CopyState(at.server, row.generation, 0, "[]", False)
        self._write(_STATE, state._replace(ttl=row.ttl, whole=False))
        has_lost = not state.whole and state.revision > 0
        heads, workspace = self.heads(), self.workspace
        for page in at.changed(self.name, state.revision):
            content = page.content or b""
            if sha256(content).digest() != page.digest:
                cure = "`memctl publish --withdraw`, then publish it again"
                raise ServerFailed(f"{at.place} sent {self.name}:{page.path} damaged", cure)
            if _is_page(workspace, page.path):
                heads[page.path] = page.head[:_COMMIT] or f"r{row.revision}"
                with suppress(FileNotFoundError):
                    has_lost |= not content.startswith((self.root / page.path).read_bytes())
                write_derived(self.root / page.path, content)
        if row.removed > state.revision or not state.whole:
            there = set(at.paths(self.name))
            for path in [each.path for each in workspace.scan() if each.path not in there]:
                heads.pop(path, None)
                (self.root / path).unlink(missing_ok=True)
                has_lost = True
        self._write(_HEADS, heads)
        return has_lost

    def settle(self, server: str, row: SharedWorkspace, model: str) -> None:
        """Write down that it is what the server had, and indexed."""
        self._write(_STATE, CopyState(server, row.generation, row.revision, row.ttl, True, model))

    def _write(self, name: str, content: Any) -> None:
        write_derived(self._derived / name, json.dumps(content).encode())


def copies_of(workspace: Workspace, server: str) -> list[Copy]:
    """The copies that were made of workspaces on a server."""
    try:
        names = sorted(name for name in os.listdir(workspace.memory / "shared") if not name.startswith("."))
    except OSError:
        return []
    found = (Copy(workspace, name) for name in names)
    return [copy for copy in found if (state := copy.state()) and state.server == server]


def _is_page(workspace: Workspace, path: str) -> bool:
    """False for what no publisher of ours sends: a path that leads out of the copy, or to what is not a page."""
    with suppress(MemctlError):
        return workspace.contain(path) == path and workspace.is_page(path)
    return False
