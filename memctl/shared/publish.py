"""What leaves this machine for shared memory, and how it gets there.

Only `Sendable` reads what is sent: pages as others than their owner see them, without what came from outside and what
looks like a secret. The rest of this module handles paths and hashes.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, suppress
from hashlib import sha256
from typing import NamedTuple

from ..errors import MemctlError, Refused
from ..index.heal import schema_version
from ..index.open_memory import OpenMemory
from ..index.queries.entries import outside_refs
from ..language.analyzer import terms
from ..language.secrets import find_secrets
from ..markdown.escape import many
from ..markdown.private import outside_lines_of_text, without_lines
from ..notes.edits import git, head, is_behind
from ..notes.files import prepare_memory, read_page, write_derived
from ..notes.workspace import Workspace
from ..system import read_safely
from ..vectors.embed import texts_of_page
from ..vectors.file import open_vectors
from ..vectors.tables import Head, is_same
from .server import SharedPage, SharedServer, SharedSession, SharedWorkspace

_STATE = "shared.json"


class Published(NamedTuple):
    """What a publication did: paths that were `sent` and `removed`, pages that stand there now, notes, `vectors` that were sent."""

    place: str
    name: str
    revision: int
    sent: tuple[str, ...]
    removed: tuple[str, ...]
    pages: int
    notes: tuple[str, ...] = ()
    vectors: int = 0


class Sendable:
    """The pages of a workspace as they may leave it. Made of the public view alone."""

    def __init__(self, memory: OpenMemory) -> None:

        def outside(at: OpenMemory) -> frozenset[str]:
            at.sync_for_write()  # what repeats a private line or one from outside is known by its id: of all of them
            return outside_refs(at.index)

        self._outside = memory.run(outside)
        self.view = memory.public()
        self._workspace = self.view.workspace
        assert self._workspace.hides is not None, "not a public view"
        self.secrets, self.digests = 0, dict[str, bytes]()
        for page in self._workspace.scan():
            if page.status and (content := self.content(page.path)) is not None:
                self.digests[page.path] = sha256(content).digest()

    def content(self, path: str) -> bytes | None:
        """The bytes of a page that may be sent; None where nothing of it may, or nothing is there."""
        try:
            text = read_page(self._workspace, path).text
        except MemctlError:
            return None
        hidden = outside_lines_of_text(text, self._outside)
        if hidden is None:
            return None
        text = without_lines(text, hidden)
        if found := find_secrets(text):
            ends = ((text.count("\n", 0, one.start) + 1, text.count("\n", 0, one.end) + 1) for one in found)
            lines = {line for first, last in ends for line in range(first, last + 1)}
            self.secrets += len(found)
            text = "\n".join("" if at in lines else line for at, line in enumerate(text.split("\n"), 1))
        return text.encode() if text.strip() else None


def publish(
    memory: OpenMemory, server: SharedServer, name: str, *, team: str | None, force: bool, dry_run: bool
) -> Published:
    """Make the server's pages those of this workspace, in one transaction; what is there already does not travel.

    Refused where somebody else published what this workspace does not know of, unless `force`.
    """
    pages = Sendable(memory)
    commit, uncommitted = head(memory.workspace)
    heads = {path: "" if path in uncommitted else commit for path in pages.digests}
    analysis, ttl = schema_version(), json.dumps(memory.workspace.settings.ttl)
    why = f"{many(pages.secrets, 'line')} not sent: `memctl check` says what looks like a secret there"
    notes = (why,) if pages.secrets else ()
    with suppress(_DryRun), closing(_OwnVectors(pages)) as vectors, server.transaction(write=True) as at:
        before = at.claim(name, team)
        known, digests = at.known(name), pages.digests
        changed = {path for path, digest in digests.items() if path in known and known[path].digest != digest}
        removed = sorted(known.keys() - digests.keys())
        notes = (*notes, *vectors.compare(at, before))
        every = before.analysis != analysis or vectors.anew
        sent = [
            path for path in digests if every or path not in known or path in changed or vectors.has_more(known[path])
        ]
        ignored = git(memory.workspace, "ls-files", "--others", "--ignored", "--exclude-standard", "-z") or ""
        if left_out := sorted({*ignored.split("\0")}.intersection(sent) - known.keys()):
            told = f"{many(len(left_out), 'page')} that git ignores too, such as {left_out[0]}"
            notes = (*notes, f"{told}; `ignore` in memctl.toml leaves pages out")
        cited = {path: heads[path] for path in digests if path not in sent and heads[path] and not known[path].head}
        after = before._replace(
            team=team or before.team, revision=before.revision + 1, removed=before.revision + 1 if removed else before.removed,
            head=commit if all(heads.values()) else "", token=secrets.token_hex(16), analysis=analysis, ttl=ttl,
            model=vectors.model, means=vectors.means,
        )  # fmt: skip
        if before.revision and not (sent or removed or cited) and (before.team, before.ttl) == (after.team, ttl):
            return Published(at.place, name, before.revision, (), (), len(heads), notes)
        own, key = _own_publications(memory.workspace), f"{at.server} {name}"
        tokens = own.get(key, [])  # of publications that this workspace made or began
        # Once a page went, what is new here may be that page, of a publisher who is behind.
        returns = before.removed and digests.keys() - known.keys()
        if (changed or removed or returns) and not force:
            _check(memory.workspace, before, tokens)
        done = Published(at.place, name, after.revision, tuple(sent), tuple(removed), len(heads), notes)
        if dry_run:
            raise _DryRun
        # Before it is committed: a process may be killed right after that, or right before.
        own[key] = [*(token for token in tokens if token == before.token), after.token]
        write_derived(prepare_memory(memory.workspace) / _STATE, json.dumps(own).encode())
        read = _read(pages, heads, sent, vectors)
        at.write(before, after, read, cited, removed, lambda count: memory.progress(count, len(sent), "publishing"))
        done = done._replace(vectors=vectors.sent)
    return done


class _DryRun(Exception):
    """Takes back what a transaction did so far."""


def _check(workspace: Workspace, before: SharedWorkspace, tokens: Sequence[str]) -> None:
    """Refused for what somebody else published from what this workspace does not hold: as a push that is not a fast-forward."""
    if before.token in tokens or (before.head and not is_behind(workspace, before.head)):
        return
    what = f"{before.workspace} was published by {before.publisher} on {before.published} from pages that this workspace lacks"
    raise Refused(what, "git pull, then publish again; or --force puts the pages here in place of those there")


class _OwnVectors:
    """The vectors that this workspace has of what it sends, found by the texts of that: none is of a line that stays at home."""

    def __init__(self, pages: Sendable) -> None:
        self._pages, self._file = pages, open_vectors(pages.view.workspace)
        self.anew, self.sent = False, 0

    def close(self) -> None:
        """Let go of the file."""
        if self._file:
            self._file.close()
        self._file = None

    def compare(self, at: SharedSession, before: SharedWorkspace) -> tuple[str, ...]:
        """Those of another `model` take the place of those there, `anew`, once every line has one; else a note says why not."""
        self.model, self.means, own = before.model, at.means(before.workspace), self._file
        if own is None or is_same(own.head, Head.unpacked(self.model, self.means)):
            return ()
        if self.model and self._pages.view.run(lambda view: own.missing(view.index).pages):
            self.close()
            return (f"the vectors there stay those of {self.model} until `memctl index` has embedded every line here",)
        self.anew, self.model, self.means = True, own.head.embedder_id, own.head.packed
        return ()

    def of(self, path: str, content: bytes) -> tuple[int, dict[int, bytes]]:
        """How many texts of a page at most have no vector here, and the vectors of the others by key."""
        if (own := self._file) is None:
            return len(content), {}
        keys = texts_of_page(path, content.decode()).keys()
        codes = {key: code.codes for key, code in own.codes(keys).items()}
        return len(keys) - len(codes), codes

    def has_more(self, page: SharedPage) -> bool:
        """True if texts of a page were embedded since it was sent."""
        return page.lacking > 0 and self.of(page.path, self._pages.content(page.path) or b"")[0] < page.lacking


def _read(pages: Sendable, heads: Mapping[str, str], sent: Sequence[str], own: _OwnVectors) -> Iterator[SharedPage]:
    """What is sent of each path, read again; a page that changed meanwhile stands in no commit."""
    for path in sent:
        if (content := pages.content(path)) is not None:
            digest, (lacking, codes) = sha256(content).digest(), own.of(path, content)
            commit = heads[path] if digest == pages.digests[path] else ""
            own.sent += len(codes)
            yield SharedPage(path, digest, commit, content, sorted(set(terms(content.decode()))), lacking, codes)


def _own_publications(workspace: Workspace) -> dict[str, list[str]]:
    """By which a workspace knows again what it published itself, by server and name, without a word of any page."""
    with suppress(OSError, ValueError):
        kept = json.loads(read_safely(workspace.memory / _STATE))
        return {str(key): [str(each) for each in value] for key, value in kept.items()}
    return {}
