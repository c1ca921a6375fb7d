"""Forget: put tombstones in the place of lines, and take every copy of them out of pages, evidence and index.

Copies go first and the lines themselves last, so that after a kill in between the same call finds them again and
completes. Everything that is written is a function of the Markdown, the selectors and the day.

What is left of a line, and where:

    markdown/markers.py        in its page, in its place, a `Tombstone`: the day and a random id (an id that a person gave it stays)
    index/rows.py              the row of that tombstone; where other lines named the id of the line, they name the new one
    notes/journal.py           in undo.jsonl, that this command is not undone (`never_undone`)

Nothing of it, no text, name, id or hash:

    forget/erase.py            managed blocks (`without_copies`), evidence and beliefs (`without_evidence`)
    index/queries/traces.py    both indexes, deleted bytes too (`expunge`); review's and reflect's files, partly written ones (`drop_derived`)
    vectors/embed.py           vectors (`erase_vectors`)
    index/open_memory.py       the record of what was recalled (`drop_recalled`)
    here, `_expunge`           session files and copies of shared memory go as a whole

Not ours to change, and named in the report (`left`, `warnings`): git's history, the transcript that told it, lines of the same
words, labels of `memctl eval`, pages that a person wrote about it, managed blocks that somebody edited. What was published to
shared memory stands there until the next `publish`; pages of `view --out`, exports and backups are not looked for.

A new file of .memory/ goes by one of these. Tests: `test_not_a_byte_is_left` and `test_no_derived_file_confirms_a_guess`
(tests/forget/test_forget.py), `test_forgotten_lines_go` (tests/shared/test_publish.py), tests/torture/forgotten.py.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from secrets import token_hex
from shutil import rmtree
from typing import NamedTuple

from ..beliefs.opinions_page import read_entries
from ..errors import CannotWrite, MemctlError, PageChanged, PageUnreadable, Usage
from ..facts import Citation, Kind, grouped
from ..ids import part_id
from ..index.open_memory import OpenMemory, drop_recalled
from ..index.queries import traces as queries
from ..index.queries.entries import by_refs
from ..index.rows import refs_on
from ..index.sync import sync
from ..markdown.attributes import ATTRIBUTES
from ..markdown.blocks import unmanaged_lines
from ..markdown.grammar import OPINIONS
from ..markdown.lines import LineText
from ..markdown.markers import read_tombstone, tells_nothing
from ..notes.edits import Edit, apply, as_indexed, read_for_edit, writing_alone
from ..notes.files import SESSION
from ..notes.journal import never_undone
from ..notes.workspace import Workspace
from ..reflect.fact_source import FactSource
from ..system import read_safely
from ..vectors.embed import erase_vectors
from .erase import RedactionTarget, cited, redact_safely, without_copies, without_evidence
from .select import Chosen, Selection, Selectors, citing_pages, gone_of, select, suggested

_REFLECTED = {"summary", "lessons", "digest"}  # blocks by which it is known that reflect wrote pages here
_QUESTION = re.compile(r"(?<![\w-])q-[0-9a-z]{8}(?![\w-])")
_ROUNDS = 3  # for pages that somebody saves meanwhile
_SPELLED = {each.field: each.name for each in ATTRIBUTES}


class ForgottenLine(NamedTuple):
    """A line that was, or may be, forgotten. `content` is given only for a suggestion."""

    ref: str
    citation: Citation
    kind: Kind
    reason: str = ""
    content: str | None = None

    @classmethod
    def of(cls, one: Chosen, content: str | None = None) -> ForgottenLine:
        """A chosen line as the report shows it."""
        return cls(one.entry.ref, one.seen.cited, Kind(one.entry.kind), one.reason, content)


@dataclass(slots=True)
class Forgetting:
    """What forget did, or without `apply` would do."""

    lines: list[ForgottenLine] = field(default_factory=list)
    diff: str = ""
    scrubbed: list[str] = field(default_factory=list)  # pages that lost copies
    beliefs: list[str] = field(default_factory=list)  # ids of those that went
    left: list[str] = field(default_factory=list)  # what still points at what is gone, or could not go
    exempt: dict[str, int] = field(default_factory=dict)  # how many lines were spared for each reason
    spared: list[str] = field(default_factory=list)  # these lines
    already: list[Citation] = field(default_factory=list)  # forgotten before
    warnings: list[str] = field(default_factory=list)

    def add(self, plan: _ForgetPlanner, not_written: Collection[str] = ()) -> None:
        """Report a plan, apart from the pages that could not be written."""
        known, found = {line.ref for line in self.lines}, plan.selection
        self.lines += [ForgottenLine.of(one) for one in found.chosen if one.entry.path not in not_written]
        self.scrubbed = list(dict.fromkeys([*self.scrubbed, *(p for p in plan.scrubbed if p not in not_written)]))
        self.beliefs = list(dict.fromkeys([*self.beliefs, *plan.beliefs]))
        self.left, self.exempt, self.spared = found.left, dict(found.exempt), found.spared
        self.already = [e.cited for e in found.already if e.ref not in known]


def suggest(memory: OpenMemory, selectors: Selectors) -> Forgetting:
    """What could be forgotten, with the reason and the text of each line. Changes nothing."""
    _check(selectors)

    def job(at: OpenMemory) -> Selection:
        _freshen(at)
        with at.index.reading():
            return suggested(at, selectors)

    found = memory.run(job)
    lines = [ForgottenLine.of(one, one.content) for one in found.chosen]
    already = [e.cited for e in found.already]
    return Forgetting(lines, left=found.left, exempt=dict(found.exempt), spared=found.spared, already=already)


def forget(memory: OpenMemory, selectors: Selectors, *, apply: bool = False) -> Forgetting:
    """Forget what all selectors mean; without `apply`, only show how.

    Usage without a selector, NothingFound for an id that no line has, PageChanged where somebody keeps saving a page:
    what is done by then is done, and the same call completes it.
    """
    if not selectors.any:
        cure = "give --id, --about, --source, --before, --expired or --unused; or --suggest"
        raise Usage("nothing says which lines to forget", cure)
    _check(selectors)
    report = Forgetting()
    if apply:
        _apply(memory, selectors, report)
    else:
        planned = memory.run(lambda at: _plan(at, selectors))
        report.add(planned)
        report.diff = "".join(edit.diff() for edit in planned.edits)
    root = memory.workspace.root
    if report.lines and any((folder / ".git").exists() for folder in (root, *root.parents)):
        report.warnings.append("git keeps what was committed: its history still holds the text")
    return report


def _check(selectors: Selectors) -> None:
    if selectors.include_exempt and not (selectors.about or selectors.source or selectors.ids):
        raise Usage("--include-exempt is for --about and --source", "name the others by --id")


def _freshen(memory: OpenMemory) -> None:
    """Bring the index up to date: what is not in it could not be chosen. One that cannot be written stays as it is."""
    if not memory.index.frozen:
        memory.sync_for_write(parallel=True)


def _apply(memory: OpenMemory, selectors: Selectors, report: Forgetting) -> None:
    is_reflected = is_done = False
    try:
        with writing_alone(memory.workspace, "reflect"):
            was_stopped = memory.run(lambda at: queries.is_unclean(at.index))  # a run before this one, half-way
            for _ in range(_ROUNDS):
                planned = memory.run(lambda at: _plan(at, selectors))
                is_reflected |= planned.is_reflected and bool(planned.selection.chosen or was_stopped)
                if planned.edits:
                    never_undone(memory.workspace, "forget")
                    memory.run(lambda at: queries.mark_unclean(at.index))
                changed = _write(memory.workspace, planned.edits)
                report.add(planned, changed)
                if not changed:
                    break
            else:
                raise PageChanged(changed[0])
        is_done = not is_reflected or _reflect(memory, report)
    finally:
        if report.lines:  # the hash of a short text gives it away
            never_undone(memory.workspace, "forget")
        _expunge(memory, report)
        if not is_done:  # the next call goes on
            with suppress(MemctlError):
                memory.run(lambda at: queries.mark_unclean(at.index))


def _write(workspace: Workspace, edits: Sequence[Edit]) -> list[str]:
    """Write the planned pages; returns those that somebody saved meanwhile, which stay as saved."""
    done = apply(workspace, edits, stop=False)
    for path, error in done.failed.items():
        if isinstance(error, CannotWrite):
            count = f"{len(done.written)} of {len(edits)} pages are done"
            reason = f"cannot write: {error.cause}; {count}, this one is as it was"
            cure = "free space or correct the permissions, then run the same command again: it completes"
            raise PageUnreadable(path, reason, cure) from error
        if not isinstance(error, PageChanged):
            raise error
    return list(done.failed)


def _reflect(memory: OpenMemory, report: Forgetting) -> bool:
    """Let reflect write the pages again that lost a line. Trouble there is a warning, and False: the lines are forgotten."""
    from ..reflect.reflect import reflect

    try:
        done = reflect(memory, since=memory.today)
    except MemctlError as error:
        report.warnings.append(f"forgotten, but the pages are not written again: {error.what}; run `memctl reflect`")
        return False
    report.scrubbed = list(dict.fromkeys([*report.scrubbed, *done.pages]))
    return True


def _expunge(memory: OpenMemory, report: Forgetting) -> None:
    """Leave no byte of the lines in the index and in the vectors; a warning where that cannot be done."""

    def job(at: OpenMemory) -> str | None:
        cleaning = bool(report.lines) or queries.is_unclean(at.index)
        stale = sync(at.workspace, at.index, progress=at.progress).stale
        if stale or not cleaning:
            return stale
        drop_recalled(at.workspace, {line.ref for line in report.lines})
        for path in at.workspace.memory.glob(f"{SESSION}*"):  # a chat may have stated the same in other words
            path.unlink(missing_ok=True)
        copies = (
            at.workspace.memory / "shared"
        )  # what was published here and read back is among them; each is fetched again
        rmtree(copies, ignore_errors=True)
        view, why = at.public(), None
        if view.workspace.hides:
            why = view.run(_cleaned)
        elif (folder := at.workspace.memory / "public").exists():
            rmtree(folder)  # made when there were private lines
        return why or _cleaned(at) or (f"{copies} could not be removed" if copies.exists() else None)

    try:
        why = memory.run(job)
    except (OSError, MemctlError) as error:
        why = str(error)
    if why:
        cure = "run the same command again, or delete .memory"
        report.warnings.append(f"the index may still hold words of it ({why}); {cure}")


def _cleaned(at: OpenMemory) -> str | None:
    """Clean one index and its vectors; None, or why that could not be done."""
    queries.drop_derived(at.workspace)
    if why := sync(at.workspace, at.index, progress=at.progress).stale:
        return why
    left = erase_vectors(at)
    why = queries.expunge(at.index)
    if left and not why:
        queries.mark_unclean(at.index)  # so that the next call looks at the vectors again
    return why or (f"vectors: {left}" if left else None)


def _plan(memory: OpenMemory, selectors: Selectors) -> _ForgetPlanner:
    """The plan of one call. Writes nothing but the index, which it brings up to date."""
    _freshen(memory)
    with memory.index.reading():
        planner = _ForgetPlanner(memory, select(memory, selectors))
        if planner.selection.chosen:
            planner.redact_lines()
            planner.clean_beliefs()
            planner.clean_blocks()
            planner.look_around()
        planner.rename_ids()
        planner.finish()
        return planner


class _ForgetPlanner:
    """Plans one call of forget, page by page: `edits` in the order in which they are to be written.

    `is_reflected` if reflect wrote pages, and is to write them again.
    """

    def __init__(self, memory: OpenMemory, selection: Selection) -> None:
        self._workspace, self._index, self._today = memory.workspace, memory.index, memory.today
        self._facts = FactSource(memory)
        self._pages: dict[str, Edit] = {}
        self._redacted: set[str] = set()
        self._gone = gone_of((), set())
        self._left = selection.left
        self._new_ids: dict[str, str] = {}  # the ids of tombstones, by those that the lines had
        self.selection, self.is_reflected = selection, False
        self.edits: list[Edit] = []
        self.scrubbed: list[str] = []
        self.beliefs: list[str] = []

    def _read(self, path: str) -> str | None:
        """The page as planned so far; None if it cannot be read."""
        if path not in self._pages:
            try:
                self._pages[path] = read_for_edit(self._workspace, path)
            except MemctlError as error:
                self._left.append(error.what)
                return None
        return self._pages[path].after

    def _put(self, path: str, text: str) -> None:
        self._pages[path] = self._pages[path]._replace(after=text)

    def _new_id(self, ref: str) -> str:
        """The id of the tombstone of a line: a random one, unless the line bears one that a person gave it."""
        return ref if tells_nothing(ref) else self._new_ids.setdefault(ref, f"x-{token_hex(5)}")

    def redact_lines(self) -> None:
        """Plan the tombstones; a line that cannot go without harm to its neighbours is not chosen any more."""
        by_page = grouped((one.entry.path, one) for one in self.selection.chosen)
        kept: list[Chosen] = []
        for path, chosen in by_page.items():
            lines = [one for one in chosen if not one.is_belief]
            text = self._read(path)
            if text is None:
                continue
            targets = {
                RedactionTarget(one.entry.ref, one.entry.digest, one.span, self._new_id(one.entry.ref)) for one in lines
            }
            made, done, stuck = redact_safely(path, text, targets, self._today)
            if done:
                self._put(path, made)
                self._note_new_ids(path, text, made)
                self._redacted.add(path)
            harmful = [one for one in lines if one.entry.ref in {redaction.ref for redaction in stuck}]
            why = "is joined to the line below: put a blank line between them first"
            self._left += [f"{one.place} {why}" for one in harmful]
            kept += [one for one in chosen if one not in harmful]
        self.selection.chosen = kept
        chosen_ids, refs = {one.entry.id for one in kept}, {one.entry.ref for one in kept}
        still_borne = {e.ref for e in by_refs(self._index, refs) if e.block is None and e.id not in chosen_ids}
        self._gone = gone_of(kept, refs - still_borne)

    def _note_new_ids(self, path: str, before: str, after: str) -> None:
        """Note which lines bear another id once a page is redacted: a twin takes the id of the one that goes."""
        new = refs_on(path, as_indexed(after), blocks=False)
        for line, ref in refs_on(path, as_indexed(before), blocks=False).items():
            if not tells_nothing(ref) and new.get(line, ref) != ref:
                self._new_ids[ref] = new[line]

    def clean_beliefs(self) -> None:
        """Plan bank/opinions.md: no evidence that is gone, no belief that only repeats what is gone."""
        text = self._read(OPINIONS)
        if not text:
            return
        chosen = self.selection.chosen
        named = {one.entry.ref for one in chosen if one.is_belief}
        stating = {one.entry.ref: one.fact for one in chosen if one.fact and not one.is_belief}
        refs = {ref for entry in read_entries(text)[0] for ref in entry.refs}
        made = without_evidence(
            text, self._gone, stating, named, places=self._facts.places(refs)[0], names_of=self._facts.names_of,
            today=self._today,
        )  # fmt: skip
        self._put(OPINIONS, made.text)
        self.beliefs = list(made.removed)
        self._left += made.left
        self._gone = self._gone._replace(refs=self._gone.refs | set(made.removed))

    def clean_blocks(self) -> None:
        """Plan the pages with managed blocks."""
        answered = (ref for one in self.selection.chosen if one.fact for ref in one.fact.settles)
        asked = {ref for ref in answered if ref.startswith("q-")}
        asked |= {part_id(ref) for ref in self._gone.refs}  # candidates, answered or not
        gone = self._gone._replace(refs=self._gone.refs | asked)
        for path in dict.fromkeys(path for path, _ in queries.copies_on(self._index)):
            text = self._read(path)
            if text is not None:
                made, edited = without_copies(path, text, gone)
                self._put(path, made)
                why = "cites what is gone, and was edited by hand"
                self._left += [f"{path}: the block `{name}` {why}" for name in edited]

    def look_around(self) -> None:
        """Name what still points at what is gone, lines of the same words, and transcripts from which it could be ingested again."""
        chosen = self.selection.chosen
        origins = (one.fact.source for one in chosen if one.fact and one.fact.source and not one.entry.notes)
        told_in = {source.partition(":")[2].rpartition("#L")[0] for source in origins}
        again = "was ingested: as long as it is there, it can be ingested again"
        self._left += [f"{name} {again}" for name in sorted(filter(None, told_in))]
        chosen_ids = {one.entry.id for one in chosen}
        for ref, relation, entry in queries.linked_to(self._index, self._gone.refs):
            if relation in _SPELLED and entry.id not in chosen_ids:
                self._left.append(f"{entry.path}#L{entry.line} ^{entry.ref} says {_SPELLED[relation]}={ref}")
        for note in by_refs(self._index, {ref for one in chosen if one.fact for ref in one.entry.notes}):
            if note.notes and note.id not in chosen_ids:
                self._left.append(f"{note.path}#L{note.line} ^{note.ref} is the note that it was kept from")
        for entry in queries.same_words(self._index, {one.entry.content_key for one in chosen if one.fact}):
            if entry.id not in chosen_ids:
                self._left.append(f"{entry.path}#L{entry.line} ^{entry.ref} has the same words")
        for file in sorted(self._workspace.root.glob("*.jsonl")):  # where `memctl eval --add` keeps labels
            with suppress(OSError):
                for number, label in enumerate(read_safely(file).splitlines(), 1):
                    told = sorted(ref for ref in self._gone.refs if f'"{ref}"'.encode() in label)
                    self._left += [f"{file.name}#L{number} is a label for {ref}" for ref in told]
        for path, text in citing_pages(self._workspace, self._pages):
            for number, line in unmanaged_lines(text) if "#L" in text or "^" in text else ():
                if not read_tombstone(line):
                    self._left += [f"{path}#L{number} cites ^{ref}" for ref in sorted(cited(line, path, self._gone))]

    def rename_ids(self) -> None:
        """Plan that no tombstone and no line outside of managed blocks names an id that tells what was forgotten."""
        older_stones = {row.ref for row in queries.tombstones(self._index) if not tells_nothing(row.ref)}
        still_borne = {entry.ref for entry in by_refs(self._index, older_stones) if entry.block is None}
        for ref in older_stones | self._gone.refs:
            self._new_id(ref)
        telling = set(self._new_ids)
        either = "|".join(map(re.escape, sorted(telling - still_borne)))
        pattern = re.compile(rf"(?<![\w-])(?:{either})(?![\w-])") if either else None

        def renamed(line: str) -> str:
            if stone := read_tombstone(line):
                return line.replace(f" {stone.ref} ", f" {self._new_ids.get(stone.ref, stone.ref)} ", 1)
            made = pattern.sub(lambda match: self._new_ids[match[0]], line) if pattern else line
            # The id of a question tells what it was made of, too.
            return made if made == line else _QUESTION.sub(lambda _: f"q-{token_hex(4)}", made)

        for path, text in citing_pages(self._workspace, self._pages) if telling else ():
            if any(ref in text for ref in telling):
                page = LineText(text)
                for number, line in list(unmanaged_lines(text)):
                    page.lines[number - 1] = renamed(line)
                if (made := str(page)) != text and self._read(path) is not None:
                    self._put(path, made)

    def finish(self) -> None:
        """Put the edits in order: copies before lines."""
        edits = [page for page in self._pages.values() if page.is_change]
        self.edits = sorted(edits, key=lambda edit: (edit.path in self._redacted, edit.path))
        self.scrubbed = [edit.path for edit in self.edits if edit.path not in self._redacted]
        self.selection.left = list(dict.fromkeys(self._left))
        self.is_reflected = any(name in _REFLECTED for _, name in queries.copies_on(self._index))
