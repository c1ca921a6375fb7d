"""Reflect: facts become entity pages, beliefs with evidence, lessons and the week's digest. Every sentence carries its citation.

A build: bank/ is a pure function of the Markdown and the day. What a part of it was made from is known (made.py), and it is
made again when that, or the day, has changed. `since` bounds what is read again, never what comes out.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date
from functools import partial
from typing import Any, NamedTuple

from ..beliefs.confidence import Belief, own_id, stated_in
from ..beliefs.page_read import BeliefEntry, LastWritten, read_entries, read_last_written, settled
from ..beliefs.page_write import unread_heads, write_opinions
from ..beliefs.replay import AnswerLine, Replayed, ReplayInput, is_ours, replay_beliefs
from ..beliefs.stance_judge import stance_judge
from ..conflicts.listing import conflicts_in
from ..entities.rename import ENTITIES, page_path
from ..errors import MemctlError, PageChanged
from ..facts import fields, is_trusted
from ..ids import page_id, questions_of
from ..index.open_memory import OpenMemory
from ..index.queries.beliefs import days_between, days_due, merged_pages, names_told, pages_of_names, tasks_until
from ..index.queries.entries import by_refs
from ..index.queries.names import all_entities, resolve
from ..index.rows import rows_of, task_key
from ..index.sync import sync
from ..language.names import entity_key
from ..markdown import blocks
from ..markdown.escape import heading
from ..markdown.evidence_line import OPINIONS
from ..markdown.front_matter import front_values, source_of, with_names
from ..markdown.page import Page
from ..notes.edits import Applied, Edit, apply, encoded, read_for_edit, sides_of_merge
from ..notes.replace import writing_alone
from ..notes.workspace import Workspace
from . import entity_pages
from .digest import DigestSentence, digest_body, digest_page, title_of, week_told
from .entity_pages import About, BeliefLine, LinkContext
from .fact_source import FactSource, ToldSince
from .lessons import Task, failures, lessons, reason_key
from .made import EXPERIENCE, LESSONS, WORLD, begin, changes, in_conflict, moves_lines, read_made, week_of, write_made
from .proposals import BLOCK, CORE, PAGE, candidates, proposals, proposals_body, refused_in

_SEVERAL = "Failed for the same reason"  # the section of bank/lessons.md across tasks
_NOBODY = "Without a name"  # the section of facts about nobody
_ROUNDS = 3  # lines that moved change what other pages cite; the second round finds nothing else


class Moved(NamedTuple):
    """A belief whose confidence changed; `before` is None for a new one, `after` for one taken back."""

    ref: str
    text: str
    before: float | None
    after: float | None


class Planner:
    """Plans the edits of one round, page by page. `made` is what is to be remembered if all of them are written.

    With `done` each is written at once, so that no text of another is held; without, they are kept.
    """

    def __init__(self, memory: OpenMemory, since: date | None, done: Applied | None = None) -> None:
        self._memory, self._workspace, self._index = memory, memory.workspace, memory.index
        self._today, self._facts = memory.today, FactSource(memory)
        last = read_made(memory.workspace)
        self.made = begin(memory, last)
        self._changes = changes(memory, last, self.made, None if in_conflict(memory.workspace) else since)
        if self._changes.whole:
            self.made.parts, self.made.failed, self.made.met, self.made.answers = {}, {}, [], []
        self._wiki = wiki_links(memory.workspace)
        self._entities = {each.path: each for each in all_entities(self._index)}
        self.edits: list[Edit] = []
        self._done = done
        self.moved: list[Moved] = []
        self.notes: list[str] = []
        self.digest: tuple[DigestSentence, ...] = ()

    def plan(self, propose: bool) -> None:
        """Plan every page."""
        if self._changes.is_empty and not propose:
            return
        bearers: dict[str, list[str]] = defaultdict(list)
        for path, entity in sorted(self._entities.items()):
            bearers[entity.key].append(path)
        several = [", ".join(paths) for _, paths in sorted(bearers.items()) if len(paths) > 1]
        self.notes += [f"{paths} bear one name, so only one of them is written; merge them" for paths in several]
        replay = self.beliefs()
        replay = replay._replace(beliefs=tuple(b for b in replay.beliefs if not b.fact.private), marks={})
        self.pages(replay)
        self.lessons()
        self._digests(replay)
        if propose:
            self.proposals(replay)

    def name_pages(self) -> bool:
        """Plan the pages that names are to get, with nothing but the name: whoever plans then knows them all. False for none."""
        if self._changes.is_empty:
            return False
        for name, path in self._paths(self._touched(set())).items():
            if not self._exists(path) and self._facts.has_lines(name):
                self.edits.append(Edit(path, None, _new_page(name, path) or ""))
        return bool(self.edits)

    def _exists(self, path: str) -> bool:
        return (self._workspace.root / path).exists()

    def _read(self, path: str) -> Edit | None:
        try:
            return read_for_edit(self._workspace, path)
        except MemctlError as error:
            self.notes.append(f"{error.what}; {error.cure}")
            return None

    def _plan_edit(self, page: Edit, after: str) -> None:
        """Plan that a page has the text `after`; with `done`, write it at once."""
        if after != page.text_before:
            edit = page._replace(after=after)
            if not moves_lines(edit):
                self.made.note(edit.path, encoded(after))
            self.edits.append(edit)
            if self._done is not None:
                apply(self._workspace, [self.edits.pop()], stop=False, done=self._done)

    def _block(self, path: str, name: str, start: str, body: Callable[[str], str]) -> None:
        """Plan a page with the managed block `name` holding what `body` makes of the page before; a new one has a `start`."""
        page = self._read(path)
        if page is None:
            return
        text = page.after
        if "<<<<<<<" in text:
            text = blocks.resolve_conflict(text, sides_of_merge(self._workspace, path))
        try:
            front_values(text)
        except ValueError as error:
            self.notes.append(f"{path}: {error}; until it is corrected, its names are not known")
        if blocks.edited(text, name):
            why = "was edited by hand and is left alone; take its two marker lines out to keep the edit, or the whole block to have it written again"
            if "<<<<<<<" in text and blocks.conflict_sides(text):
                why = "is left alone until the merge is settled of which git left both sides on the page"
            self.notes.append(f"{path}: the block `{name}` {why}")
            return
        new = body(text)
        try:
            after = blocks.splice(text or (start if new else ""), name, new)
        except ValueError as error:
            self.notes.append(f"{path}: {error}")
            return
        self._plan_edit(page, after)

    def beliefs(self, write: bool = True) -> Replayed:
        """Plan bank/opinions.md; without `write` only find what the beliefs are and what is to be asked."""
        page = self._read(OPINIONS)
        if page is None:
            self.made.program = ""
        text, was, may_write = self._resolved(page.after if page else "")
        entries, parsed = read_entries(text)
        marks = read_last_written(text)
        given, met_before = self._replay_input(entries, marks, parsed)
        if not write:
            told = {fact.ref: fact for fact in self._facts.counting({ref for _, _, ref in met_before})}
            given = given._replace(before=[(belief, told[ref]) for _, belief, ref in met_before if ref in told])
        del parsed  # the lines of the largest page
        replay = replay_beliefs(entries, marks, given)
        met_now = ((str(pair.day), pair.belief, pair.fact) for pair in replay.met)
        # Without doubles: older lines that speak by id are met again.
        self.made.met = list(map(list, dict.fromkeys((*map(tuple, met_before), *met_now))))
        self.notes += [f"{OPINIONS}: {note}" for note in replay.notes]
        if write and page and may_write and (replay.beliefs or entries or marks):
            written = write_opinions(text, replay)
            self._plan_edit(page, written.text)
            if written.problem:
                self.made.program = ""  # what was found is kept nowhere: the next reflect finds it again
                self.notes.append(f"{OPINIONS}: {written.problem}")
            else:
                self.moved = _moved(replay, was)
        return replay

    def _replay_input(
        self, entries: Sequence[BeliefEntry], marks: Mapping[str, LastWritten], page: Page
    ) -> tuple[ReplayInput, list[list[str]]]:
        """What the replay is given, and the pairs that were met before its window: day, belief and fact, as `Made` keeps them."""
        cited = {ref for entry in entries for ref in entry.refs}
        cited |= {ref for mark in marks.values() for ref in mark.codes}
        places, forgotten = self._facts.places(cited)
        # Evidence that counts no more had kept other lines of its day silent.
        again = [bullet.day for entry in entries for _, bullet in entry.bullets if bullet.ref in forgotten]
        answers, settled = self._facts.answers()
        again += self._answered(answers, settled, entries)
        first = min([self._changes.first or date.max, *again])
        window = ToldSince(self._facts, first, cited | {answer.by.ref for answer in answers})
        given = ReplayInput(
            window.first, places, forgotten, self._facts.names_of, stance_judge(self._workspace, self._facts.known),
            self._today, unread_heads(page, entries, marks), answers, settled, days=window.days(),
            place_of=lambda refs: self._facts.places(refs)[0],
        )  # fmt: skip
        return given, [pair for pair in self.made.met if pair[0] < str(window.since)]

    def _answered(self, answers: Sequence[AnswerLine], settled: Set[str], entries: Sequence[BeliefEntry]) -> list[date]:
        """The days of the lines that an answer speaks of which is new since the last reflect; the answers are remembered."""
        day_of = {answer.key: answer.by.day for answer in answers}
        before, self.made.answers = set(self.made.answers), sorted((*day_of, *settled))
        if self._changes.first == date.min or before.difference(day_of, settled):
            return [date.min]  # all days: which line an answer meant that is gone, nobody knows
        days = [day for key, day in day_of.items() if key not in before]
        new, lines_of = settled - before, defaultdict[str, list[tuple[date, str]]](list)
        for day, belief, line in self.made.met:
            lines_of[belief].append((date.fromisoformat(day), line))
        for entry in entries if new else ():
            belief, stated = entry.ref or own_id(entry), stated_in(entry)
            lines = [*((bullet.day, bullet.ref or "") for _, bullet in entry.bullets), *lines_of[belief]]
            stating = (stated.ref if stated else "") or ""
            days += [on for on, line in lines if not new.isdisjoint(questions_of(stating, line, belief))]
        return days

    def _resolved(self, text: str) -> tuple[str, dict[str | None, float | None], bool]:
        """The page without conflicts of a merge, the confidences that our side had, and whether it may be written.

        Where a person has a part in a conflict, the page is our side, and is not written; a note says so.
        """
        sides = blocks.conflict_sides(text) if "<<<<<<<" in text else None
        if not sides or not sides[0].disputed | sides[1].disputed:
            return text, {}, True
        ours, theirs = (read_entries(side.text)[0] for side in sides)
        refs = {ref for entry in (*ours, *theirs) for ref in entry.refs}
        by_ref = {fact.ref: fact for fact in ToldSince(self._facts, self._changes.first or date.max, refs).first}
        places, void = self._facts.places(refs)
        before = sides_of_merge(self._workspace, OPINIONS)
        joined = settled(text, before, lambda entry, mark: is_ours(entry, mark, by_ref, places, void))
        if joined is None:
            self.notes.append(
                f"{OPINIONS}: a conflict of a merge with a person's words in it; settle it by hand, or take one side "
                f"(`git checkout --ours {OPINIONS}`) and reflect adds what the facts of the other say"
            )
        return joined or sides[0].text, {entry.ref: entry.fact.confidence for entry in ours}, bool(joined)

    def pages(self, replay: Replayed) -> None:
        """Plan the pages of entities, and what world.md and experience.md tell of names without one."""
        beliefs_of = self._beliefs_by_page(replay)
        keys = {key for belief in replay.beliefs if belief.moved for key in belief.names}
        keys |= {key for entry in replay.withdrawn for key in self._facts.names_of(entry.fact)}
        names = self._touched(keys)
        paths = self._paths(names)

        def told(name: str) -> About:
            beliefs = beliefs_of[entity_key(name)] if name in paths else ()
            return self._facts.told(name, paths.get(name))._replace(beliefs=beliefs)

        fresh = {name: told(name) for name, path in paths.items() if not self._exists(path)}
        for name, about in fresh.items():
            if about.is_empty:
                del paths[name]  # nothing to tell yet: no page, and no link to it
        world: dict[str, str] = {}
        experience: dict[str, str] = {}
        for done, name in enumerate(sorted(names, key=entity_key), 1):
            about = fresh.pop(name) if name in fresh else told(name)
            path, title = paths.get(name), heading(name) if name else _NOBODY
            place = LinkContext(path or WORLD, name, self._links(about, paths), self._wiki)
            world[title] = entity_pages.world_body(about.world, place)
            experience[title] = entity_pages.experience_body(about.experience, place._replace(page=EXPERIENCE))
            if path is not None:
                self._summary(about, place)
            shared = [page for page, body in ((WORLD, world[title]), (EXPERIENCE, experience[title])) if body]
            self._remember_part(f"@{entity_key(name) if name else ''}", about.pages, [path] if path else shared)
            self._memory.progress(done, len(names))
        for path in merged_pages(self._index):
            self._block(path, "summary", "", lambda _: "")
        self._shared(WORLD, "World", world)
        self._shared(EXPERIENCE, "Experience", experience)

    def _links(self, about: About, paths: Mapping[str, str]) -> dict[str, str]:
        named = about.names - {about.name}
        standing = pages_of_names(self._index, named)
        found = {entity_key(name): paths.get(name) or standing.get(entity_key(name)) for name in named}
        return {key: path for key, path in found.items() if path}

    def _summary(self, about: About, place: LinkContext) -> None:
        """Plan the page of an entity. It begins with who or what that is, unless the owner says so on it."""

        def body(text: str) -> str:
            own = [line for _, line in blocks.unmanaged_lines(text) if line.strip()]
            dashes = [at for at, line in enumerate(own) if line.strip() == "---"]
            prose = own[dashes[1] + 1 :] if len(dashes) > 1 and dashes[0] == 0 else own  # below its front matter
            if about.defined and any(line[0] != "#" for line in prose):
                return entity_pages.entity_body(about._replace(defined=None, now=[about.defined, *about.now]), place)
            return entity_pages.entity_body(about, place)

        self._block(place.page, "summary", _new_page(about.name, place.page) or "", body)

    def _remember_part(self, part: str, sources: Iterable[int], written_on: Iterable[str]) -> None:
        """Remember from which pages (their numbers) a part was made, and on which it stands: it is made again when one changes."""
        self.made.parts[part] = sorted({*sources, *map(page_id, written_on)})

    def _shared(self, path: str, title: str, sections: Mapping[str, str]) -> None:
        """Plan a page with a section for each name."""
        name = title.lower()

        def body(text: str) -> str:
            return blocks.merged("\n".join(blocks.block_body(text, name)), sections, self._changes.whole)

        if any(sections.values()) or self._exists(path):
            self._block(path, name, f"# {title}\n", body)

    def _beliefs_by_page(self, replay: Replayed) -> dict[str, list[BeliefLine]]:
        """The beliefs for the page of each name, by its key: those it holds, and those about it, whose holder is named."""
        beliefs_of: dict[str, list[BeliefLine]] = defaultdict(list)
        ended: dict[str, tuple[str, ...]] = defaultdict(tuple)  # the words of the beliefs that a line ended, by its id
        for belief in replay.beliefs:
            for bullet in belief.items if belief.over else ():
                if bullet.verdict == "superseded" and bullet.ref:
                    ended[bullet.ref] += (belief.fact.text,)
        # What is held comes before what is doubted; among each the words decide, so that a number moves no line.
        current = (belief for belief in replay.beliefs if belief.is_current)
        for belief in sorted(current, key=lambda b: (float(b.number) < 0.5, b.fact.text.casefold(), b.ref)):
            named = [entity_key(self._facts.known.known_as(name)) for name in belief.fact.entities]
            found = {key: resolve(self._index, key) for key in named}
            people = [key for key in named if [(it.type or "").casefold() for it in found[key]] == ["person"]]
            standing, before = belief.standing, ended.get(belief.stated or "", ())
            line = BeliefLine(
                belief.fact.text, float(belief.number), standing.trend, standing.contested, belief.ref,
                belief.counts("for"), belief.counts("against"), before=before,
            )  # fmt: skip
            for key in dict.fromkeys([*people[:1], *named[:1]]):
                holder = people[0] if people and key != people[0] else ""
                beliefs_of[key].append(line._replace(holder=self._facts.known.known_as(holder) if holder else ""))
        return beliefs_of

    def _touched(self, keys: Set[str]) -> dict[str, int]:
        """How many facts name each of those whose part is made again, because of a change or of beliefs about these."""
        keys = keys | self._changes.names
        if self._changes.whole:
            keys |= {"", *names_told(self._index, self._today), *(each.key for each in self._entities.values())}
        names = {self._facts.known.known_as(key) if key else "" for key in keys}
        found = {}
        for name in names:
            if not name or len(resolve(self._index, name)) < 2:
                facts = self._facts.facts_of(name)
                found[self._facts.spelled(name, facts) if name else ""] = len(facts)
        return found

    def _paths(self, names: Mapping[str, int]) -> dict[str, str]:
        """Where the page of each name is, or will be: a name without one gets it from so many facts on.

        Nothing of the owner's is written on a page that came from outside: its name is one without a page.
        """
        known = pages_of_names(self._index, filter(None, names))
        found: dict[str, str] = {}
        taken = set(self._entities)
        folder = self._workspace.root / ENTITIES
        files = {f"{ENTITIES}{file.name}" for file in folder.iterdir()} if folder.is_dir() else set()
        others = {path.casefold(): path for path in files - taken}
        for name, count in sorted(names.items()):
            path = known.get(entity_key(name)) if name else None
            if path is not None and self._is_imported(path):
                continue
            if name and path is None and count >= self._workspace.settings.page_from:
                path = page_path(name, taken)
                other = others.get(path.casefold())
                if other or _new_page(name, path) is None:
                    why = f"{other} is not the page of an entity" if other else "a page cannot spell that name"
                    self.notes.append(f"{name} has no page: {why}; make one by hand")
                    continue
                taken.add(path)
            if path is not None:
                found[name] = path
        return found

    def _is_imported(self, path: str) -> bool:
        """True for a page whose front matter says that all of it came from outside."""
        with suppress(MemctlError):
            return not is_trusted(source_of(read_for_edit(self._workspace, path).after))
        return False

    def lessons(self) -> None:
        """Plan bank/lessons.md: the tasks whose outcomes changed, each from all of them, and what failed across tasks."""
        whole = self._changes.whole
        tasks = set(tasks_until(self._index, self._today)) if whole else self._changes.tasks
        told = {task: self._facts.outcomes([task]) for task in sorted(tasks)}
        made = lessons(outcome for outcomes in told.values() for outcome in outcomes)
        sections = blocks.split_sections(entity_pages.lessons_body(made, LinkContext(LESSONS)))
        written_on = [LESSONS] if sections or self._exists(LESSONS) else []
        for task, outcomes in told.items():
            self._remember_part(f"#{task}", {page_id(outcome.citation.path) for outcome in outcomes}, written_on)
        self.made.failed = {title: refs for title, refs in self.made.failed.items() if _task_of(title) not in tasks}
        self.made.failed |= {task.name: refs for task in made if task.name and (refs := _failed(task))}
        shared = entity_pages.failures_body(failures(self._all_failed()))

        def body(text: str) -> str:
            before = "\n".join(blocks.block_body(text, "lessons"))
            titles = blocks.split_sections(before)
            emptied = {title: "" for title in titles if _task_of(title) in tasks or title == _SEVERAL}
            across_tasks = {_SEVERAL: shared} if shared else {}
            return blocks.merged(before, emptied | sections | across_tasks, whole, _task_of)

        if written_on or tasks:
            self._block(LESSONS, "lessons", "# Lessons\n", body)

    def _all_failed(self) -> Iterable[tuple[str, str, int, str]]:
        """(reason, task, how often, newest day) of every task that failed for a reason, each read again from its line."""
        counted = [(ref, task, count) for task, refs in self.made.failed.items() for ref, count in refs.items()]
        hits = {hit.ref: hit for hit in self._facts.hits(by_refs(self._index, {ref for ref, _, _ in counted}))}
        for ref, task, count in counted:
            hit = hits.get(ref)
            if hit and hit.fact and hit.fact.why:
                yield hit.fact.why, task, count, hit.day or ""

    def _digests(self, replay: Replayed) -> None:
        """Plan the digests of the weeks in which something changed."""
        with_evidence_in: dict[str, list[Belief]] = defaultdict(list)
        for belief in replay.beliefs:
            for week in {week_of(str(bullet.day)) for bullet in belief.items if bullet.verdict != "stated"}:
                with_evidence_in[week].append(belief)
        for week in sorted(self._weeks(replay)):
            page = digest_page(week)
            told = week_told(self._memory, self._facts, with_evidence_in[week], week)
            body = digest_body(told, page)
            if body or self._exists(page):
                self._block(page, "digest", title_of(week), lambda _, body=body: body)  # type: ignore[misc]
            if told.facts:
                self._remember_part(week, told.pages, [page] if body else [])
            self.digest = told.sentences or self.digest

    def _weeks(self, replay: Replayed) -> set[str]:
        """The weeks of what changed: lines, and evidence of beliefs that moved or were taken back."""
        days = {day for belief in replay.beliefs if belief.moved for day in belief.days_moved}
        days |= {b.day for entry in replay.withdrawn for _, b in entry.bullets}
        found = self._changes.weeks | {week_of(str(day)) for day in days if day <= self._today}
        if self._changes.whole:
            told = days_between(self._index, date.min, self._today)
            found |= set(map(week_of, (*told, *days_due(self._index, self._today))))
        return found

    def proposals(self, replay: Replayed) -> None:
        """Plan bank/proposals.md, from the whole workspace whatever changed."""
        tasks = lessons(self._facts.outcomes(tasks_until(self._index, self._today)))
        due = candidates(self._index, self._facts, replay.beliefs, tasks, self._today)
        core, page = self._read(CORE), self._read(PAGE)
        if core is None or page is None:
            return
        made = proposals(due, core.after, refused_in(page.after), self._today)
        self._block(PAGE, BLOCK, "# Proposals\n", lambda _: proposals_body(made, core.after))


def wiki_links(workspace: Workspace) -> str:
    """How names are linked (LinkContext.wiki): as the settings say, else `[[Name]]` if the owner writes so on the core page, or
    opens the folder in Obsidian."""
    if workspace.settings.links != "auto":
        return "file" if workspace.settings.links == "wiki" else ""
    with suppress(MemctlError):
        uses = "[[" in read_for_edit(workspace, CORE).after or (workspace.root / ".obsidian").is_dir()
        return "name" if uses else ""
    return ""


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
    """The key of the task that a section of bank/lessons.md is about, by its title (`lessons_body` in entity_pages.py)."""
    entity = title.removesuffix(" (no task named)")
    if entity != title:
        return task_key("", entity)
    return "@" if title == "Without a task" else task_key(title)


def _failed(task: Task) -> dict[str, int]:
    """How often a task failed for each reason, by the id of the newest line that gives it."""
    told = [one for strategy in task.strategies for one in strategy.outcomes if one.why and not one.ok]
    counts = Counter(reason_key(one.why or "") for one in told)
    newest = {reason_key(one.why or ""): one.ref for one in sorted(told, key=lambda one: (one.day or "", one.citation))}
    return {newest[key]: count for key, count in counts.items()}


def _moved(replay: Replayed, was: Mapping[str | None, float | None]) -> list[Moved]:
    found = []
    for belief in replay.beliefs:
        before = belief.entry.fact.confidence if belief.entry else was.get(belief.ref)
        if not belief.fact.private and (before is None or f"{before:.2f}" != belief.number):
            found.append(Moved(belief.ref, belief.fact.text, before, float(belief.number)))
    found += [Moved(entry.ref or "", entry.fact.text, entry.fact.confidence, None) for entry in replay.withdrawn]
    return found


@dataclass(slots=True)
class Reflected:
    """What reflect did, or with `dry_run` would do: pages by path, beliefs that moved, notes for a person, the week's digest.

    `conflicts` counts the pairs of facts that disagree: all of them, or those with a fact told from `since` on.
    """

    pages: list[str] = field(default_factory=list)
    beliefs: list[Moved] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    conflicts: int = 0
    diff: str = ""
    digest: tuple[DigestSentence, ...] = ()

    def as_json(self, applied: bool) -> dict[str, Any]:
        """It as plain values, without the diff."""
        beliefs = [fields(each, "id=ref content=text before after") for each in self.beliefs]
        made = {"schema": 1, "applied": applied, "pages": self.pages, "beliefs": beliefs, "conflicts": self.conflicts}
        return made | {
            "digest": [fields(told, "what=lead text source=citation id=ref") for told in self.digest],
            "warnings": self.notes,
        }

    def add(self, plan: Planner) -> None:
        """Report the beliefs and notes of a round."""
        known = {moved.ref: moved for moved in self.beliefs}
        for moved in plan.moved:
            known[moved.ref] = moved._replace(before=known[moved.ref].before) if moved.ref in known else moved
        self.beliefs = list(known.values())
        self.notes = list(dict.fromkeys([*self.notes, *plan.notes]))
        self.digest = plan.digest or self.digest


def reflect(
    memory: OpenMemory, *, since: date | None = None, dry_run: bool = False, propose: bool = False,
    then: Callable[[OpenMemory, Reflected], None] = lambda _, done: None,
) -> Reflected:  # fmt: skip
    """Bring the pages of bank/ up to date: what is made from anything that changed; all of them where `since` is None.

    Pairs that disagree are counted of what was told from `since` on; `then` is called at the end, with the same index open.
    LockBusy while another reflect runs. A page that somebody saves meanwhile is left as they saved it, with a note.
    """
    workspace, report = memory.workspace, Reflected()
    whole = since is None or in_conflict(workspace)
    new_pages: list[str] = []

    def job(at: OpenMemory, done: Applied | None = None, names_first: bool = not dry_run) -> Planner:
        """Plan a round. Pages that names are to get are written first, so that the plan knows them all."""
        at.sync_for_write()
        with at.index.reading():
            planner = Planner(at, None if whole else since or at.today, done)
            if not (names_first and planner.name_pages()):
                planner.plan(propose)
                return planner
        new_pages.extend(apply(workspace, planner.edits, stop=False).written)
        return job(at, done, names_first=False)

    if dry_run:
        plan = memory.run(job)
        report.add(plan)
        report.diff = "".join(edit.diff() for edit in plan.edits)
        report.pages = [edit.path for edit in plan.edits]
    else:
        with writing_alone(workspace, "reflect"):
            for _ in range(_ROUNDS):
                done = Applied()
                plan = memory.run(partial(job, done=done))
                report.add(plan)
                _written(workspace, plan, done, report)
                saved_meanwhile = any(isinstance(error, PageChanged) for error in done.failed.values())
                if not done.written or (done.failed and not saved_meanwhile):
                    break  # a page that has no room for its text would have none again
                whole = saved_meanwhile  # of the next round
            report.pages += [path for path in new_pages if path not in report.pages]
            if report.pages:  # so that the next reader and the count below find a fresh index
                memory.run(lambda at: sync(at.workspace, at.index, wait=1.0))

    def end(at: OpenMemory) -> None:
        report.conflicts = len(conflicts_in(at, since=since))
        then(at, report)

    memory.run(end)
    return report


def _written(workspace: Workspace, plan: Planner, done: Applied, report: Reflected) -> None:
    """Report what was written, and remember what it was made from unless a page could not be written."""
    write_made(workspace, None if done.failed else plan.made)
    if done.disk_error:
        raise done.disk_error
    for path, error in done.failed.items():
        saved = f"{path} was saved by somebody meanwhile; the next reflect writes it"
        report.notes.append(saved if isinstance(error, PageChanged) else f"{error.what}; {error.cure}")
    report.pages += [path for path in done.written if path not in report.pages]
