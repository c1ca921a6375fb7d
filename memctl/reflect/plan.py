"""What reflect would write: the planned edits of bank/, page by page, from the facts as they stand."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date
from functools import partial
from typing import NamedTuple

from ..beliefs.belief import Belief
from ..beliefs.merge import settled
from ..beliefs.page_read import BeliefEntry, LastWritten, read_entries, read_last_written
from ..beliefs.page_write import unread_heads, write_opinions
from ..beliefs.replay import Replayed, ReplayInput, TrustedFact, is_ours, replay_beliefs
from ..beliefs.stance_judge import stance_judge
from ..entities.rename import page_path
from ..errors import MemctlError
from ..facts import Citation
from ..index.open_memory import OpenMemory
from ..index.queries.beliefs import merged_pages, named_since, pages_of_names, tasks_between
from ..index.queries.names import keys_of, resolve
from ..index.rows import rows_of, task_key
from ..language.names import entity_key
from ..markdown.blocks import body_of, conflict_sides, edited, live_blocks, splice, untangle
from ..markdown.evidence_line import OPINIONS
from ..markdown.front_edit import front_values, with_names
from ..markdown.lines import split_lines
from ..markdown.sections import merged, split_sections
from ..notes.edits import Edit, read_for_edit
from ..notes.files import read_page
from ..notes.git_merge import sides_of_merge
from ..notes.workspace import Workspace
from .candidates import candidates
from .entity_pages import Held, entity_body, experience_body, heading, lessons_body, world_body
from .fact_source import FactSource
from .lessons import lessons
from .proposals import BLOCK, CORE, PAGE, proposals, proposals_body, refused_in

__all__ = ["Moved", "Plan", "Planner", "in_conflict"]

_WORLD, _EXPERIENCE, _LESSONS = "bank/world.md", "bank/experience.md", "bank/lessons.md"
_TITLES = {_WORLD: "World", _EXPERIENCE: "Experience", _LESSONS: "Lessons", OPINIONS: "Opinions"}


class Moved(NamedTuple):
    """A belief whose confidence is not what it was; `before` is None for a new one, `after` for one taken back."""

    ref: str
    text: str
    before: float | None
    after: float | None


@dataclass(slots=True)
class Plan:
    """Everything that one reflect would do; `new` are names that get their page now."""

    edits: list[Edit] = field(default_factory=list)
    moved: list[Moved] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    new: set[str] = field(default_factory=set)


class Planner:
    """Plans the edits of one reflect, page by page. `new` are names whose pages it made a moment ago.

    Older facts that name them may say more now: a plain mention counts from the page on, and others link to it.
    `names` and `tasks` are written anew whatever the window holds about them.
    """

    def __init__(
        self, memory: OpenMemory, since: date | None, new: set[str],
        names: Collection[str] = (), tasks: Collection[str] = (),
    ) -> None:  # fmt: skip
        self._named, self._tasks = names, tasks
        self._workspace, self._index, self._today = memory.workspace, memory.index, memory.today
        self._since, self._progress = since, memory.progress
        self._gathering = FactSource(memory)
        self._window = self._gathering.window(since, new if since else ())
        self._around = self._gathering.around(self._window, since, new) if since else ()
        self.plan = Plan()

    # -- pages --------------------------------------------------------------------------------------------------------

    def _read(self, path: str) -> Edit | None:
        """The page as it is on disk; None if it cannot be read."""
        try:
            return read_for_edit(self._workspace, path)
        except MemctlError as error:
            self.plan.notes.append(f"{error.what}; {error.cure}")
            return None

    def _untangled(self, path: str, text: str) -> str:
        """The page without conflicts of a merge whose sides are both nothing but what memctl wrote."""
        return untangle(text, sides_of_merge(self._workspace, path)) if "<<<<<<<" in text else text

    def _put(self, page: Edit, after: str) -> None:
        if after != page.text_before:
            self.plan.edits.append(page._replace(after=after))

    def _block(self, path: str, name: str, start: str, body: Callable[[str], str]) -> None:
        """Plan a page with the managed block `name` holding what `body` makes of the one before; a new one has a `start`."""
        page = self._read(path)
        if page is None:
            return
        text = self._untangled(path, page.after)
        try:
            front_values(text)
        except ValueError as error:
            self.plan.notes.append(f"{path}: {error}; mend it, or nobody is known by the names in it")
        if edited(text, name):
            self.plan.notes.append(
                f"{path}: the block `{name}` was edited by hand and is left alone; take its two marker lines out to "
                "keep the edit, or the whole block to have it written anew"
            )
            return
        new = body(_body(text, name))
        try:
            after = splice(text or (start if new else ""), name, new)
        except ValueError as error:
            self.plan.notes.append(f"{path}: {error}")
            return
        self._put(page, after)

    # -- beliefs ------------------------------------------------------------------------------------------------------

    def beliefs(self) -> Replayed:
        """Plan bank/opinions.md."""
        read = self._read(OPINIONS)
        text = read.after if read else ""
        was: dict[str | None, float | None] = {}
        told = self._gathering.evidence(self._window)
        if "<<<<<<<" in text and (sides := conflict_sides(text)) and sides[0].disputed | sides[1].disputed:
            merged = self._merged(text, told, [side.text for side in sides])
            read, text = (read, merged) if merged else (None, sides[0].text)
            was = {entry.ref: entry.fact.confidence for entry in read_entries(sides[0].text)[0]}
        entries, page = read_entries(text)
        marks = read_last_written(text)
        cited = {b.ref for entry in entries for _, b in entry.bullets if b.ref}
        cited |= {ref for mark in marks.values() for ref in mark.codes}
        places, forgotten = self._gathering.places(cited | {fact.ref for fact in told})
        if self._since and (reopened := self._reopened(entries, marks, forgotten)):
            told = self._gathering.evidence(self._gathering.window(self._since, reopened))
            places, forgotten = self._gathering.places(cited | {fact.ref for fact in told})
        judge = stance_judge(self._workspace, self._gathering.known)
        given = ReplayInput(
            told, places, forgotten, self._gathering.names_of, judge, self._today, unread_heads(page, entries, marks)
        )
        replay = replay_beliefs(entries, marks, given)
        self.plan.notes += [f"{OPINIONS}: {note}" for note in replay.notes]
        if read is not None and (replay.beliefs or entries or marks):
            written = write_opinions(text, replay)
            if written.problem:
                self.plan.notes.append(f"{OPINIONS}: {written.problem}")
            self._put(read, written.text)
            self.plan.moved = [] if written.problem else _moved(replay, was)
        return replay

    def _merged(self, text: str, told: Sequence[TrustedFact], sides: Sequence[str]) -> str | None:
        """The page without the conflicts of a merge, None (and a word about it) if a person has a part in them."""
        by_ref = {fact.ref: fact for fact in told}
        refs = {bullet.ref for side in sides for entry in read_entries(side)[0] for _, bullet in entry.bullets}
        places, void = self._gathering.places({ref for ref in refs if ref} | by_ref.keys())
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
        """The names of beliefs whose statement or end counts no more: older facts may then speak otherwise."""
        found: set[str] = set()
        for entry in entries:
            mark = marks.get(entry.ref or "")
            codes = mark.codes if mark else {}
            if any(code[0] in "sx" and ref in forgotten for ref, code in codes.items()):
                found |= self._gathering.names_of(entry.fact)
        return {key for name in found for key in keys_of(self._index, name)}

    # -- entities, world, experience ----------------------------------------------------------------------------------

    def entities(self, replay: Replayed) -> None:
        """Plan the pages of the entities that the window names, and their sections of world.md and experience.md."""
        held: dict[str, list[Held]] = defaultdict(list)
        for belief in replay.beliefs:
            for key in belief.names if belief.over is None else ():
                held[key].append(_held(belief))
        names_like = self._gathering.similar
        names = self._touched(replay)
        paths = self._paths(names)
        world: dict[str, str] = {}
        experience: dict[str, str] = {}
        for done, name in enumerate(sorted(names, key=entity_key), 1):
            about, durable = self._gathering.about(name, lambda other: self._path_of(other, paths))
            about = about._replace(beliefs=held[entity_key(name)])
            pages = {other: path for other in durable.names | about.names if (path := self._path_of(other, paths))}
            title = heading(name)
            world[title] = world_body(durable.world, _WORLD, name, pages)
            experience[title] = experience_body(durable.experience, _EXPERIENCE, name, pages)
            if name in paths:
                bearer = self._gathering.known.known_as(entity_key(name))
                others = (other.bearer for other in names_like.near(bearer))
                # A first name that fits this full name alone means it already.
                near = tuple(self._gathering.spelled(o) for o in others if self._gathering.known.known_as(o) != bearer)
                text = entity_body(about._replace(maybe_same=near, pages=pages), paths[name])
                self._block(paths[name], "summary", _new_page(name, paths[name]) or "", partial(_replaced_by, text))
            self._progress(done, len(names))
        for path in merged_pages(self._index):
            self._block(path, "summary", "", partial(_replaced_by, ""))
        whole = self._since is None
        for path, sections in ((_WORLD, world), (_EXPERIENCE, experience)):
            name = path.rpartition("/")[2].removesuffix(".md")
            if whole or any(sections.values()) or (self._workspace.root / path).exists():
                self._block(path, name, f"# {_TITLES[path]}\n", partial(merged, fresh=sections, whole=whole))

    def _touched(self, replay: Replayed) -> dict[str, int]:
        """The names that get their pages written, each with how many facts it has; no name that several may bear."""
        keys = named_since(self._index, self._since, self._today)
        known = self._gathering.known
        names = {known.known_as(key) for key in keys}
        names |= {known.known_as(key) for belief in replay.beliefs for key in belief.names if belief.moved}
        names |= {known.known_as(key) for entry in replay.withdrawn for key in self._gathering.names_of(entry.fact)}
        names |= {known.known_as(key) for entry in self._around for key in entry.names.split("\n") if key}
        names |= {known.known_as(name) for name in self._named}
        if self._since is None:
            names |= {entity.name for entity in self._gathering.entities}
        else:
            near = {other.bearer for name in names for other in self._gathering.similar.near(name)}
            names |= {name for name in near if pages_of_names(self._index, [name])}
        found: dict[str, int] = {}
        for name in names:
            if len(resolve(self._index, name)) < 2:
                found[self._gathering.spelled(name)] = len(self._gathering.facts_of(name))
        return found

    def _paths(self, names: dict[str, int]) -> dict[str, str]:
        """Where the page of each name is, or will be: a name without one gets it from so many facts on."""
        known = pages_of_names(self._index, names)
        found: dict[str, str] = {}
        taken = {entity.path for entity in self._gathering.entities}
        others = {path.casefold(): path for path in self._files() - taken}
        for name, count in sorted(names.items()):
            path = known.get(entity_key(name))
            if path is None and count >= self._workspace.settings.page_from:
                path = page_path(name, taken)
                if path.casefold() in others or _new_page(name, path) is None:
                    why = (
                        f"{others[path.casefold()]} is none" if path.casefold() in others else "none can bear that name"
                    )
                    self.plan.notes.append(f"{name} has no page, and {why}; make one by hand")
                    continue
                taken.add(path)
                self.plan.new.add(name)
            if path is not None:
                found[name] = path
        return found

    def _files(self) -> set[str]:
        """What lies in the folder of entity pages, page of an entity or not."""
        folder = self._workspace.root / "bank/entities"
        return {f"bank/entities/{file.name}" for file in folder.iterdir()} if folder.is_dir() else set()

    def _path_of(self, name: str, planned: dict[str, str]) -> str | None:
        return planned.get(name) or pages_of_names(self._index, [name]).get(entity_key(name))

    # -- lessons ------------------------------------------------------------------------------------------------------

    def lessons(self) -> None:
        """Plan bank/lessons.md: the tasks with an outcome in the window, each from all its outcomes."""
        tasks = {*tasks_between(self._index, self._since, self._today)} | {e.task for e in self._around if e.task}
        tasks |= set(self._tasks)
        made = lessons(self._gathering.outcomes(tasks))
        sections = split_sections(lessons_body(made, _LESSONS))

        def body(before: str) -> str:
            empty = {title: "" for title in split_sections(before) if _task_of(title) in tasks}
            return merged(before, empty | sections, self._since is None, _task_of)

        if sections or tasks or (self._since is None and (self._workspace.root / _LESSONS).exists()):
            self._block(_LESSONS, "lessons", f"# {_TITLES[_LESSONS]}\n", body)

    # -- proposals ----------------------------------------------------------------------------------------------------

    def proposals(self, replay: Replayed) -> None:
        """Plan bank/proposals.md, from the whole workspace: what belongs into memory.md is no matter of a window."""
        tasks = lessons(self._gathering.outcomes(tasks_between(self._index, None, self._today)))
        due = candidates(self._index, self._gathering, replay.beliefs, tasks, self._today)
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


def _replaced_by(new: str, _: str) -> str:
    """A body that owes nothing to the one before."""
    return new


def _body(text: str, name: str) -> str:
    lines = split_lines(text.removeprefix("\ufeff"))
    block = next((block for block in live_blocks(lines) if block.name == name), None)
    return "\n".join(body_of(lines, block)) if block else ""


def in_conflict(workspace: Workspace) -> bool:
    """True if one of the pages that hold something of everybody is in the middle of a merge."""
    found = False
    for path in (OPINIONS, _WORLD, _EXPERIENCE, _LESSONS):
        if (workspace.root / path).exists():
            with suppress(MemctlError):  # the plan says what is wrong with that page
                found = found or b"\n<<<<<<<" in read_page(workspace, workspace.contain(path)).data
    return found


def _moved(replay: Replayed, was: Mapping[str | None, float | None]) -> list[Moved]:
    found = []
    for belief in replay.beliefs:
        before = belief.entry.fact.confidence if belief.entry else was.get(belief.ref)
        if before is None or f"{before:.2f}" != belief.number:
            found.append(Moved(belief.ref, belief.fact.text, before, float(belief.number)))
    found += [Moved(entry.ref or "", entry.fact.text, entry.fact.confidence, None) for entry in replay.withdrawn]
    return found


def _held(belief: Belief) -> Held:
    standing = belief.standing
    return Held(
        belief.fact.text, float(belief.number), standing.trend, standing.contested, Citation(OPINIONS, 1, 1), belief.ref,
        belief.counts("for"), belief.counts("against"),
    )  # fmt: skip
