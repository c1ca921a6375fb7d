"""What a call of forget would change, page by page: copies and evidence first, the lines themselves last."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ..beliefs.page_read import read_entries
from ..errors import LockBusy, MemctlError
from ..facts import Kind
from ..index.open_memory import OpenMemory
from ..index.queries.beliefs import pages_of_names
from ..index.queries.entries import by_refs
from ..index.queries.forget import copies_on, linked_to, same_words
from ..index.sync import sync
from ..markdown.evidence_line import OPINIONS
from ..markdown.lines import split_lines
from ..markdown.page import live_blocks
from ..markdown.tombstones import read_tombstone
from ..notes.files import read_page
from ..reflect.fact_source import FactSource
from .erase import Gone, Target, Unsaid, bury_soundly, cited, gone_with, without_copies, without_evidence
from .rules import Asked
from .select import Chosen, Selection, select

__all__ = ["Edit", "Plan", "freshly", "plan", "text_of"]

_LESSONS = "bank/lessons.md"
_ATTRIBUTES = {"supports": "for", "refutes": "against", "supersedes": "supersedes", "corrects": "corrects"}


class Edit(NamedTuple):
    """A page to write: its path, its bytes as they were read, its new text (decoded with `surrogateescape`)."""

    path: str
    before: bytes
    after: str


@dataclass(slots=True)
class Plan:
    """Edits in the order in which they are to be written, and what is to be reflected upon afterwards."""

    selection: Selection
    edits: list[Edit] = field(default_factory=list)
    scrubbed: list[str] = field(default_factory=list)
    beliefs: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    names: frozenset[str] = frozenset()
    tasks: frozenset[str] = frozenset()


def plan(memory: OpenMemory, asked: Asked) -> Plan:
    """The plan of one call. Reads pages and the index, writes nothing but the index, which it brings up to date."""
    freshly(memory)
    with memory.index.reading():
        planner = _Planner(memory, select(memory, asked))
        if planner.plan.selection.chosen:
            planner.bury()
            planner.unsay()
            planner.scrub()
            planner.look_around()
        return planner.finish()


class _Planner:
    """Plans one call of forget, page by page."""

    def __init__(self, memory: OpenMemory, selection: Selection) -> None:
        self._workspace, self._index, self._today = memory.workspace, memory.index, memory.today
        self._gathering = FactSource(memory)
        self._texts: dict[str, tuple[bytes, str]] = {}
        self._graves: set[str] = set()
        self._gone = Gone(frozenset(), {})
        self.plan = Plan(selection, left=selection.left)

    def _read(self, path: str) -> str | None:
        """The page as planned so far; None if it cannot be read."""
        if path not in self._texts:
            try:
                data = read_page(self._workspace, path).data
            except MemctlError as error:
                self.plan.left.append(error.what)
                return None
            self._texts[path] = data, text_of(data)
        return self._texts[path][1]

    def _put(self, path: str, text: str) -> None:
        self._texts[path] = self._texts[path][0], text

    def bury(self) -> None:
        """Plan the tombstones; what could not go without harm to its neighbours is not chosen any more."""
        by_page: dict[str, list[Chosen]] = {}
        for one in self.plan.selection.chosen:
            by_page.setdefault(one.entry.path, []).append(one)
        kept: list[Chosen] = []
        for path, chosen in by_page.items():
            lines = [one for one in chosen if not _is_belief(one)]
            text = self._read(path) if lines else ""
            if text is None:
                continue
            targets = {Target(one.entry.ref, one.entry.digest, one.span) for one in lines}
            buried = bury_soundly(path, text, targets, self._today) if lines else None
            if buried and buried.done:
                self._put(path, buried.text)
                self._graves.add(path)
            stuck = {grave.ref for grave in buried.stuck} if buried else set()
            for one in chosen:
                if one.entry.ref in stuck and not _is_belief(one):
                    place = f"{path}#L{one.seen.line} ^{one.entry.ref}"
                    self.plan.left.append(f"{place} stands too close to what follows: put a blank line below it first")
                else:
                    kept.append(one)
        self.plan.selection.chosen = kept
        self._gone = self._what_goes(kept)

    def _what_goes(self, chosen: Sequence[Chosen]) -> Gone:
        """The ids that no line bears any more, and the places of all lines that go."""
        mine = {one.entry.id for one in chosen}
        refs = {one.entry.ref for one in chosen}
        living = {e.ref for e in by_refs(self._index, refs) if e.block is None and e.id not in mine}
        return gone_with(refs - living, ((one.entry.path, one.span, one.entry.ref) for one in chosen))

    def unsay(self) -> None:
        """Plan bank/opinions.md: no evidence that is gone, no belief that only repeats what is gone."""
        if not (self._workspace.root / OPINIONS).exists():
            return
        text = self._read(OPINIONS)
        if text is None:
            return
        chosen = self.plan.selection.chosen
        asked = {one.entry.ref for one in chosen if _is_belief(one)}
        told = {one.entry.ref: one.fact for one in chosen if one.fact and not _is_belief(one)}
        refs = {b.ref for entry in read_entries(text)[0] for _, b in entry.bullets if b.ref}
        made: Unsaid = without_evidence(
            text, self._gone, told, asked, places=self._gathering.places(refs)[0], names_of=self._gathering.names_of,
            today=self._today,
        )  # fmt: skip
        self._put(OPINIONS, made.text)
        self.plan.beliefs = list(made.removed)
        self.plan.left += made.left
        self._gone = self._gone._replace(refs=self._gone.refs | set(made.removed))

    def scrub(self) -> None:
        """Plan the pages with managed blocks."""
        for path in dict.fromkeys(path for path, _ in copies_on(self._index)):
            text = self._read(path)
            if text is None:
                continue
            made = without_copies(path, text, self._gone)
            self._put(path, made.text)
            place = f"{path}: the block"
            self.plan.left += [f"{place} `{name}` cites what is gone, and was edited by hand" for name in made.edited]

    # -- what stays ---------------------------------------------------------------------------------------------------

    def look_around(self) -> None:
        """Name what still points at what is gone, and lines of the same words."""
        chosen = self.plan.selection.chosen
        mine = {one.entry.id for one in chosen}
        for ref, relation, entry in linked_to(self._index, self._gone.refs):
            if relation in _ATTRIBUTES and entry.id not in mine:
                self.plan.left.append(f"{entry.path}#L{entry.line} ^{entry.ref} says {_ATTRIBUTES[relation]}={ref}")
        for entry in same_words(self._index, {one.entry.content_key for one in chosen if one.fact}):
            if entry.id not in mine:
                self.plan.left.append(f"{entry.path}#L{entry.line} ^{entry.ref} has the same words")
        for page in self._workspace.scan():
            if page.status:
                self.plan.left += self._citing(page.path)

    def _citing(self, path: str) -> Iterable[str]:
        """The lines of a page that a person wrote and that cite what is gone."""
        if path in self._texts:
            text = self._texts[path][1]
        else:
            try:
                text = read_page(self._workspace, path).text
            except MemctlError:
                return
        if "#L" not in text and "^" not in text:
            return
        lines = split_lines(text.removeprefix("\ufeff"))
        copies = {number for block in live_blocks(lines) for number in range(block.begin, block.end + 1)}
        for number, line in enumerate(lines, 1):
            if number not in copies and not read_tombstone(line):
                for ref in sorted(cited(line, path, self._gone)):
                    yield f"{path}#L{number} cites ^{ref}"

    # -- the end ------------------------------------------------------------------------------------------------------

    def finish(self) -> Plan:
        """The plan: copies before lines."""
        changed = [(path, before, after) for path, (before, after) in self._texts.items() if text_of(before) != after]
        changed.sort(key=lambda edit: (edit[0] in self._graves, edit[0]))
        self.plan.edits = [Edit(*edit) for edit in changed]
        self.plan.scrubbed = [path for path, _, _ in changed if path not in self._graves]
        self.plan.left = list(dict.fromkeys(self.plan.left))
        self._remember()
        return self.plan

    def _remember(self) -> None:
        """Whose pages reflect is to write anew: only those that it wrote before."""
        chosen, blocks = self.plan.selection.chosen, set(copies_on(self._index))
        names = {name for one in chosen if one.fact for name in self._gathering.names_of(one.fact)}
        paths = pages_of_names(self._index, names)
        self.plan.names = frozenset(name for name in names if (paths.get(name), "summary") in blocks)
        tasks = frozenset(one.entry.task for one in chosen if one.entry.task is not None)
        self.plan.tasks = tasks if (_LESSONS, "lessons") in blocks else frozenset()


def _is_belief(one: Chosen) -> bool:
    """True for the entry of a belief, which goes as a whole; other facts on that page get a tombstone."""
    return one.entry.path == OPINIONS and one.entry.kind == Kind.OPINION.value


def freshly(memory: OpenMemory) -> None:
    """Bring the index up to date. What is not in it could not be chosen, so a stale one is an error."""
    state = sync(memory.workspace, memory.index, parallel=True)
    if state.stale and not memory.index.frozen:
        raise state.obstacle or LockBusy(str(memory.workspace.memory), 10.0)


def text_of(data: bytes) -> str:
    """The text of a page's bytes: each byte can be had back from it."""
    return data.decode("utf-8", "surrogateescape")
