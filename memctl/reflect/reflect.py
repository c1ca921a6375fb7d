"""Reflect: recent facts become entity pages, beliefs with evidence, and lessons. Every sentence carries its citation.

A pure function of the Markdown and the day: a second run changes nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from datetime import date
from typing import NamedTuple

from ..beliefs.belief import Belief
from ..beliefs.merge import settled
from ..beliefs.page_read import BeliefEntry, LastWritten, read_entries, read_last_written
from ..beliefs.page_write import unread_heads, write_opinions
from ..beliefs.replay import Replayed, ReplayInput, TrustedFact, is_ours, replay_beliefs
from ..beliefs.stance_judge import stance_judge
from ..conflicts.listing import conflicts_in, conflicts_since
from ..entities.rename import ENTITIES, page_path
from ..errors import MemctlError, PageChanged
from ..facts import Citation
from ..index.open_memory import OpenMemory
from ..index.queries.beliefs import merged_pages, named_since, pages_of_names, tasks_between
from ..index.queries.names import keys_of, resolve
from ..index.rows import rows_of, task_key
from ..index.sync import sync
from ..language.names import entity_key
from ..markdown.blocks import (
    block_body,
    conflict_sides,
    edited,
    merged,
    resolve_conflict,
    splice,
    split_sections,
    unmanaged_lines,
)
from ..markdown.escape import heading
from ..markdown.evidence_line import OPINIONS
from ..markdown.front_matter import front_values, with_names
from ..markdown.page import Page
from ..notes.edits import Edit, apply, read_for_edit, sides_of_merge
from ..notes.replace import writing_alone
from ..notes.workspace import Workspace
from .entity_pages import BeliefLine, entity_body, experience_body, lessons_body, world_body
from .fact_source import FactSource
from .lessons import lessons
from .proposals import BLOCK, CORE, PAGE, candidates, proposals, proposals_body, refused_in

_WORLD, _EXPERIENCE, _LESSONS = "bank/world.md", "bank/experience.md", "bank/lessons.md"
_ROUNDS = 3  # what is written may move lines that something else cites; the second round finds nothing else


class Moved(NamedTuple):
    """A belief whose confidence changed; `before` is None for a new one, `after` for one taken back."""

    ref: str
    text: str
    before: float | None
    after: float | None


@dataclass(slots=True)
class Reflected:
    """What reflect did, or with `dry_run` would do: pages by path, beliefs that moved, notes for a person.

    `conflicts` counts the pairs of facts that disagree: all of them, or those with a fact of the window.
    """

    pages: list[str] = field(default_factory=list)
    beliefs: list[Moved] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    conflicts: int = 0
    diff: str = ""

    @property
    def changed(self) -> bool:
        """True if any page was, or would be, written."""
        return bool(self.pages)

    def add(self, plan: Plan) -> None:
        """Report the beliefs and notes of a round."""
        known = {moved.ref: moved for moved in self.beliefs}
        for moved in plan.moved:
            known[moved.ref] = moved._replace(before=known[moved.ref].before) if moved.ref in known else moved
        self.beliefs = list(known.values())
        self.notes = list(dict.fromkeys([*self.notes, *plan.notes]))


@dataclass(slots=True)
class Plan:
    """What one round of reflect writes; `new` are names that get their page now."""

    edits: list[Edit] = field(default_factory=list)
    moved: list[Moved] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    new: set[str] = field(default_factory=set)


def reflect(
    memory: OpenMemory, *, since: date | None = None, dry_run: bool = False, propose: bool = False,
    names: Collection[str] = (), tasks: Collection[str] = (),
) -> Reflected:  # fmt: skip
    """Bring the pages of bank/ up to date with the facts written down from `since` on (None: with all).

    `names` and `tasks` (as index/rows.py `task_key` folds them) are written whatever the window holds about them.
    LockBusy while another reflect runs. A page that somebody saves meanwhile is left as they saved it, with a note.
    """
    workspace, report = memory.workspace, Reflected()
    new: set[str] = set()
    since = None if _in_conflict(workspace) else since  # what the other machine wrote may be older than the window

    def job(at: OpenMemory) -> Plan:
        at.sync_for_write()
        with at.index.reading():
            planner = Planner(at, since, new, names, tasks)
            replay = planner.beliefs()
            planner.entities(replay)
            planner.lessons()
            if propose:
                planner.proposals(replay)
        return planner.plan

    with nullcontext() if dry_run else writing_alone(workspace, "reflect"):
        for _ in range(1 if dry_run else _ROUNDS):
            plan = memory.run(job)
            report.add(plan)
            new |= plan.new
            if dry_run:
                report.diff = "".join(edit.diff() for edit in plan.edits)
                report.pages = [edit.path for edit in plan.edits]
            elif not _write(workspace, plan.edits, report) or not (plan.new or any(map(_moves_lines, plan.edits))):
                break
        if report.pages and not dry_run:  # so that the next reader and the count below find a fresh index
            memory.run(lambda at: sync(at.workspace, at.index, wait=1.0))
    report.conflicts = memory.run(lambda at: _conflicts(at, since))
    return report


def _conflicts(memory: OpenMemory, since: date | None) -> int:
    return len(conflicts_in(memory) if since is None else conflicts_since(memory, since))


def _moves_lines(edit: Edit) -> bool:
    """True if lines of a person stand elsewhere afterwards: then what cites them has to be written again."""
    if edit.path == OPINIONS or edit.before is None:
        return False
    before, after = (
        [n for n, line in unmanaged_lines(text) if line.strip()] for text in (edit.text_before, edit.after)
    )
    return before != after


def _write(workspace: Workspace, edits: Sequence[Edit], report: Reflected) -> bool:
    """Write the planned pages; False if none could be written."""
    done = apply(workspace, edits, stop=False)
    if done.disk_error:
        raise done.disk_error
    for path, error in done.failed.items():
        saved = f"{path} was saved by somebody meanwhile; the next reflect writes it"
        report.notes.append(saved if isinstance(error, PageChanged) else f"{error.what}; {error.cure}")
    report.pages += [path for path in done.written if path not in report.pages]
    return bool(done.written)


def _in_conflict(workspace: Workspace) -> bool:
    """True if one of the pages about everybody holds an unresolved merge."""
    for path in (OPINIONS, _WORLD, _EXPERIENCE, _LESSONS):
        with suppress(MemctlError):  # the plan reports what is wrong with that page
            page = read_for_edit(workspace, path)
            if page.before and b"\n<<<<<<<" in page.before:
                return True
    return False


# -- the plan ---------------------------------------------------------------------------------------------------------


class Planner:
    """Plans the edits of one reflect, page by page. `new` are names whose pages it made a moment ago.

    Older facts that name them may say more now: a plain mention counts from the page on, and others link to it.
    `names` and `tasks` are written whatever the window holds about them.
    """

    def __init__(
        self, memory: OpenMemory, since: date | None, new: set[str],
        names: Collection[str] = (), tasks: Collection[str] = (),
    ) -> None:  # fmt: skip
        self._named, self._tasks = names, tasks
        self._workspace, self._index, self._today = memory.workspace, memory.index, memory.today
        self._since, self._progress = since, memory.progress
        self._facts = FactSource(memory)
        self._window = self._facts.window(since, new if since else ())
        self._around = self._facts.around(self._window, since, new) if since else ()
        self.plan = Plan()

    # -- pages --------------------------------------------------------------------------------------------------------

    def _read(self, path: str) -> Edit | None:
        """The page as it is on disk; None if it cannot be read."""
        try:
            return read_for_edit(self._workspace, path)
        except MemctlError as error:
            self.plan.notes.append(f"{error.what}; {error.cure}")
            return None

    def _put(self, page: Edit, after: str) -> None:
        if after != page.text_before:
            self.plan.edits.append(page._replace(after=after))

    def _block(self, path: str, name: str, start: str, body: Callable[[str], str]) -> None:
        """Plan a page with the managed block `name` holding what `body` makes of the one before; a new one has a `start`."""
        page = self._read(path)
        if page is None:
            return
        text = page.after
        if "<<<<<<<" in text:
            text = resolve_conflict(text, sides_of_merge(self._workspace, path))
        try:
            front_values(text)
        except ValueError as error:
            self.plan.notes.append(f"{path}: {error}; until it is corrected, its names are not known")
        if edited(text, name):
            self.plan.notes.append(
                f"{path}: the block `{name}` was edited by hand and is left alone; take its two marker lines out to "
                "keep the edit, or the whole block to have it written again"
            )
            return
        new = body("\n".join(block_body(text, name)))
        try:
            after = splice(text or (start if new else ""), name, new)
        except ValueError as error:
            self.plan.notes.append(f"{path}: {error}")
            return
        self._put(page, after)

    # -- beliefs ------------------------------------------------------------------------------------------------------

    def beliefs(self) -> Replayed:
        """Plan bank/opinions.md."""
        page = self._read(OPINIONS)
        facts = self._facts.evidence(self._window)
        text, was, may_write = self._resolved(page.after if page else "", facts)
        entries, parsed = read_entries(text)
        marks = read_last_written(text)
        replay = replay_beliefs(entries, marks, self._replay_input(entries, marks, facts, parsed))
        self.plan.notes += [f"{OPINIONS}: {note}" for note in replay.notes]
        if page and may_write and (replay.beliefs or entries or marks):
            written = write_opinions(text, replay)
            self._put(page, written.text)
            if written.problem:
                self.plan.notes.append(f"{OPINIONS}: {written.problem}")
            else:
                self.plan.moved = _moved(replay, was)
        return replay

    def _replay_input(
        self, entries: Sequence[BeliefEntry], marks: Mapping[str, LastWritten], facts: Sequence[TrustedFact], page: Page
    ) -> ReplayInput:
        cited = {ref for entry in entries for ref in entry.refs}
        cited |= {ref for mark in marks.values() for ref in mark.codes}
        places, forgotten = self._facts.places(cited | {fact.ref for fact in facts})
        if self._since and (reopened := self._reopened(entries, marks, forgotten)):
            facts = self._facts.evidence(self._facts.window(self._since, reopened))
            places, forgotten = self._facts.places(cited | {fact.ref for fact in facts})
        judge, unread = stance_judge(self._workspace, self._facts.known), unread_heads(page, entries, marks)
        answers, settled = self._facts.answers()
        return ReplayInput(facts, places, forgotten, self._facts.names_of, judge, self._today, unread, answers, settled)

    def _resolved(self, text: str, facts: Sequence[TrustedFact]) -> tuple[str, dict[str | None, float | None], bool]:
        """The page without conflicts of a merge, the confidences it had, and whether it may be written.

        Where a person has a part in a conflict, it is our side, which is not written.
        """
        sides = conflict_sides(text) if "<<<<<<<" in text else None
        if not sides or not sides[0].disputed | sides[1].disputed:
            return text, {}, True
        merged = self._merged(text, facts, [side.text for side in sides])
        was = {entry.ref: entry.fact.confidence for entry in read_entries(sides[0].text)[0]}
        return merged or sides[0].text, was, bool(merged)

    def _merged(self, text: str, facts: Sequence[TrustedFact], sides: Sequence[str]) -> str | None:
        """The page without the conflicts of a merge; None, with a note, if a person wrote some of it."""
        by_ref = {fact.ref: fact for fact in facts}
        refs = {ref for side in sides for entry in read_entries(side)[0] for ref in entry.refs}
        places, void = self._facts.places(refs | by_ref.keys())
        before = sides_of_merge(self._workspace, OPINIONS)
        merged = settled(text, before, lambda entry, mark: is_ours(entry, mark, by_ref, places, void))
        if merged is None:
            self.plan.notes.append(
                f"{OPINIONS}: a conflict of a merge with a person's words in it; settle it by hand, or take one side "
                f"(`git checkout --ours {OPINIONS}`) and reflect adds what the facts of the other say"
            )
        return merged

    def _reopened(
        self, entries: Iterable[BeliefEntry], marks: Mapping[str, LastWritten], forgotten: Set[str]
    ) -> set[str]:
        """The names of beliefs whose statement or end no longer counts: older facts may then be judged differently."""
        found: set[str] = set()
        for entry in entries:
            mark = marks.get(entry.ref or "")
            codes = mark.codes if mark else {}
            if any(code[0] in "sx" and ref in forgotten for ref, code in codes.items()):
                found |= self._facts.names_of(entry.fact)
        return {key for name in found for key in keys_of(self._index, name)}

    # -- entities, world, experience ----------------------------------------------------------------------------------

    def entities(self, replay: Replayed) -> None:
        """Plan the pages of the entities that the window names, and their sections of world.md and experience.md."""
        held: dict[str, list[BeliefLine]] = defaultdict(list)
        for belief in replay.beliefs:
            for key in belief.names if belief.is_current else ():
                held[key].append(_belief_line(belief))
        names = self._touched(replay)
        paths = self._paths(names)
        world: dict[str, str] = {}
        experience: dict[str, str] = {}
        for done, name in enumerate(sorted(names, key=entity_key), 1):
            about, durable = self._facts.about(name, lambda other: self._path_of(other, paths))
            pages = {other: path for other in durable.names | about.names if (path := self._path_of(other, paths))}
            title = heading(name)
            world[title] = world_body(durable.world, _WORLD, name, pages)
            experience[title] = experience_body(durable.experience, _EXPERIENCE, name, pages)
            if name in paths:
                near = self._maybe_same(name)
                about = about._replace(beliefs=held[entity_key(name)], maybe_same=near, pages=pages)
                self._summary(paths[name], _new_page(name, paths[name]) or "", entity_body(about, paths[name]))
            self._progress(done, len(names))
        for path in merged_pages(self._index):
            self._summary(path, "", "")
        self._shared(_WORLD, "World", world)
        self._shared(_EXPERIENCE, "Experience", experience)

    def _summary(self, path: str, start: str, text: str) -> None:
        self._block(path, "summary", start, lambda _: text)

    def _shared(self, path: str, title: str, sections: Mapping[str, str]) -> None:
        """Plan a page with a section for each entity."""
        whole = self._since is None
        if whole or any(sections.values()) or (self._workspace.root / path).exists():
            self._block(path, title.lower(), f"# {title}\n", lambda before: merged(before, sections, whole))

    def _maybe_same(self, name: str) -> tuple[str, ...]:
        """The names that may mean the same entity; not a first name that means this full name already."""
        known_as = self._facts.known.known_as
        own = known_as(entity_key(name))
        near = (other.entity for other in self._facts.similar.near(own))
        return tuple(self._facts.spelled(other) for other in near if known_as(other) != own)

    def _touched(self, replay: Replayed) -> dict[str, int]:
        """The names that get their pages written, each with how many facts it has; no name of several entities."""
        keys = named_since(self._index, self._since, self._today) | self._changed(replay)
        names = {self._facts.known.known_as(key) for key in (*keys, *self._named)}
        if self._since is None:
            names |= {entity.name for entity in self._facts.entities}
        else:
            near = {other.entity for name in names for other in self._facts.similar.near(name)}
            names |= {name for name in near if pages_of_names(self._index, [name])}
        single = [name for name in names if len(resolve(self._index, name)) < 2]
        return {self._facts.spelled(name): len(self._facts.facts_of(name)) for name in single}

    def _changed(self, replay: Replayed) -> set[str]:
        """The keys of the names whose beliefs moved, and of those that the pages may have to show differently."""
        keys = {key for belief in replay.beliefs for key in belief.names if belief.moved}
        keys |= {key for entry in replay.withdrawn for key in self._facts.names_of(entry.fact)}
        return keys | {key for entry in self._around for key in entry.names.split("\n") if key}

    def _paths(self, names: Mapping[str, int]) -> dict[str, str]:
        """Where the page of each name is, or will be: a name without one gets it from so many facts on."""
        known = pages_of_names(self._index, names)
        found: dict[str, str] = {}
        taken = {entity.path for entity in self._facts.entities}
        folder = self._workspace.root / ENTITIES
        files = {f"{ENTITIES}{file.name}" for file in folder.iterdir()} if folder.is_dir() else set()
        others = {path.casefold(): path for path in files - taken}
        for name, count in sorted(names.items()):
            path = known.get(entity_key(name))
            if path is None and count >= self._workspace.settings.page_from:
                path = page_path(name, taken)
                other = others.get(path.casefold())
                if other or _new_page(name, path) is None:
                    why = f"{other} is not the page of an entity" if other else "a page cannot spell that name"
                    self.plan.notes.append(f"{name} has no page: {why}; make one by hand")
                    continue
                taken.add(path)
                self.plan.new.add(name)
            if path is not None:
                found[name] = path
        return found

    def _path_of(self, name: str, planned: Mapping[str, str]) -> str | None:
        return planned.get(name) or pages_of_names(self._index, [name]).get(entity_key(name))

    # -- lessons ------------------------------------------------------------------------------------------------------

    def lessons(self) -> None:
        """Plan bank/lessons.md: the tasks with an outcome in the window, each from all its outcomes."""
        tasks = {*tasks_between(self._index, self._since, self._today)} | {e.task for e in self._around if e.task}
        tasks |= set(self._tasks)
        made = lessons(self._facts.outcomes(tasks))
        sections = split_sections(lessons_body(made, _LESSONS))

        def body(before: str) -> str:
            empty = {title: "" for title in split_sections(before) if _task_of(title) in tasks}
            return merged(before, empty | sections, self._since is None, _task_of)

        if sections or tasks or (self._since is None and (self._workspace.root / _LESSONS).exists()):
            self._block(_LESSONS, "lessons", "# Lessons\n", body)

    # -- proposals ----------------------------------------------------------------------------------------------------

    def proposals(self, replay: Replayed) -> None:
        """Plan bank/proposals.md, from the whole workspace whatever the window."""
        tasks = lessons(self._facts.outcomes(tasks_between(self._index, None, self._today)))
        due = candidates(self._index, self._facts, replay.beliefs, tasks, self._today)
        core, page = self._read(CORE), self._read(PAGE)
        if core is None or page is None:
            return
        made = proposals(due, core.after, refused_in(page.after), self._today)
        self._block(PAGE, BLOCK, "# Proposals\n", lambda _: proposals_body(made, core.after))


def _new_page(name: str, path: str) -> str | None:
    """How the page of a name begins: with the name in its front matter too, where file and heading do not spell it.

    None for a name that cannot be written there: its page would not be found again.
    """
    text = f"# {heading(name)}\n"
    entity = rows_of(path, text).entity
    if entity and entity_key(entity.name) == entity_key(name):
        return text
    try:
        return with_names(text, add=[name])
    except ValueError:
        return None


def _task_of(title: str) -> str:
    """The key of the task that a section of bank/lessons.md is about."""
    entity = title.removesuffix(" (no task named)")
    return task_key("", entity) if entity != title else "@" if title == "Without a task" else task_key(title)


def _moved(replay: Replayed, was: Mapping[str | None, float | None]) -> list[Moved]:
    found = []
    for belief in replay.beliefs:
        before = belief.entry.fact.confidence if belief.entry else was.get(belief.ref)
        if before is None or f"{before:.2f}" != belief.number:
            found.append(Moved(belief.ref, belief.fact.text, before, float(belief.number)))
    found += [Moved(entry.ref or "", entry.fact.text, entry.fact.confidence, None) for entry in replay.withdrawn]
    return found


def _belief_line(belief: Belief) -> BeliefLine:
    standing = belief.standing
    return BeliefLine(
        belief.fact.text, float(belief.number), standing.trend, standing.contested, Citation(OPINIONS, 1, 1), belief.ref,
        belief.counts("for"), belief.counts("against"),
    )  # fmt: skip
