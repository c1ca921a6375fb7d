"""The plan of a reflect: which pages of bank/ get which text, from the rows of the index and the day.

Nothing is written here: `Planner.plan` yields the pages one by one, and reflect.py carries each out before it asks for the next.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from datetime import date
from typing import NamedTuple

from ..beliefs.confidence import Belief, BeliefEntry, LastWritten
from ..beliefs.opinions_page import merged_page, read_entries, read_last_written, unread_heads, write_opinions
from ..beliefs.replay import Judge, Moved, Replayed, ReplayInput, is_ours, replay_beliefs
from ..entities.rename import ENTITIES, page_path
from ..errors import MemctlError
from ..facts import Fact, grouped, is_trusted
from ..ids import page_id
from ..index.open_memory import OpenMemory
from ..index.queries import evidence as queries
from ..index.queries.entity_names import all_entities, entities_named, pages_called
from ..index.queries.traces import tombstones
from ..judgement import Judgement, judged
from ..language.names import entity_key
from ..markdown import blocks
from ..markdown.escape import heading
from ..markdown.front_matter import source_of
from ..markdown.grammar import OPINIONS
from ..notes.edits import Edit, read_for_edit, sides_of_merge
from ..notes.workspace import CORE_PAGE, Workspace
from ..truth.change import judge_view
from . import entity_pages
from .digest import DigestSentence, digest_body, title_of, week_content
from .entity_pages import About, BeliefLine, LinkContext, new_page, task_of_section
from .fact_source import FactSource, FactsSince
from .lessons import failures, lessons
from .proposals import BLOCK, PAGE, is_person, proposable, proposals, proposals_body, refused_in
from .record import EXPERIENCE, LESSONS, WORLD, in_conflict, new_record, newly_answered, outdated, read_record, week_of

_SEVERAL = "Failed for the same reason"  # the section of bank/lessons.md across tasks
_SURE = 0.9  # probability from which the answer of a model of inference counts
_NOBODY = "Without a name"  # the section of facts about nobody


class PlannedBlock(NamedTuple):
    """A managed block that a page is to hold: its name, what `body` makes of the text of the page, and how a new page begins."""

    path: str
    name: str
    start: str
    body: Callable[[str], str]


class Planner:
    """Plans one round. `record` is what is to be remembered if every page of it gets written."""

    def __init__(self, memory: OpenMemory, whole: bool = False) -> None:
        self._memory, self._workspace, self._index = memory, memory.workspace, memory.index
        self._today, self._facts = memory.today, FactSource(memory)
        self.last = last = read_record(memory.workspace)
        self.record = new_record(memory, last)
        self._changes = outdated(memory, last, self.record, whole or in_conflict(memory.workspace))
        if self._changes.whole:
            self.record.parts, self.record.failed, self.record.met, self.record.answers = {}, {}, [], []
        self._wiki = self._facts.wiki_links()
        self._entities = {each.path: each for each in all_entities(self._index)}
        self.moved: list[Moved] = []
        self.notes: list[str] = []  # for a person
        self.digest: tuple[DigestSentence, ...] = ()

    def name_pages(self) -> list[Edit]:
        """The pages that names are to get, with nothing but the name: whoever plans when they are written knows them all."""
        if self._changes.is_empty:
            return []
        paths = self._paths(self._touched(set()))
        missing = ((name, path) for name, path in paths.items() if not self._exists(path))
        return [Edit(path, None, new_page(name, path) or "") for name, path in missing if self._facts.has_lines(name)]

    def plan(self, propose: bool) -> Iterator[PlannedBlock | Edit]:
        """Every page that may have to change, in the order in which they are written."""
        if self._changes.is_empty and not propose:
            return
        bearers = grouped((entity.key, path) for path, entity in sorted(self._entities.items()))
        several = [", ".join(paths) for _, paths in sorted(bearers.items()) if len(paths) > 1]
        self.notes += [f"{paths} bear one name, so only one of them is written; merge them" for paths in several]
        replay = yield from self._opinions()
        replay = replay._replace(beliefs=tuple(b for b in replay.beliefs if not b.fact.private), marks={})
        yield from self._names(replay)
        yield from self._lessons()
        yield from self._digests(replay)
        if propose and (block := self.proposals(replay)):
            yield block

    def _exists(self, path: str) -> bool:
        return (self._workspace.root / path).exists()

    def _remember_part(self, part: str, sources: Iterable[int], written_on: Iterable[str]) -> None:
        """Note from which pages (their numbers) a part is made, and on which it stands: it is made again when one changes."""
        self.record.parts[part] = sorted({*sources, *map(page_id, written_on)})

    # -- bank/opinions.md ---------------------------------------------------------------------------------------------

    def _opinions(self) -> Generator[Edit, None, Replayed]:
        """Plan bank/opinions.md; returns what the beliefs are."""
        page = self._read_opinions()
        replay = self._replay(page)
        if page.edit and page.may_write and (replay.beliefs or page.entries or page.marks):
            written = write_opinions(page.text, replay)
            yield page.edit._replace(after=written.text)
            if written.problem:
                self.record.program = ""  # what was found is kept nowhere: the next reflect finds it again
                self.notes.append(f"{OPINIONS}: {written.problem}")
            else:
                self.moved = replay.moved(page.confidences)
        return replay

    def replay_for_review(self) -> Replayed:
        """What the beliefs are and what is to be asked about all of them; the largest page is not planned for that."""
        return self._replay(self._read_opinions(), ask_again=True)

    def _read_opinions(self) -> _OpinionsPage:
        """bank/opinions.md without conflicts of a merge. Where a person has a part in one it is our side, and is not written."""
        edit = read_or_note(self._workspace, OPINIONS, self.notes)
        if edit is None:
            self.record.program = ""
        text, may_write, confidences = edit.after if edit else "", True, dict[str | None, float | None]()
        sides = blocks.conflict_sides(text) if "<<<<<<<" in text else None
        if sides and sides[0].disputed | sides[1].disputed:
            ours, theirs = (read_entries(side.text)[0] for side in sides)
            confidences = {entry.ref: entry.fact.confidence for entry in ours}
            merged = self._merged_opinions(text, [*ours, *theirs])
            text, may_write = merged or sides[0].text, bool(merged)
        entries, parsed = read_entries(text)
        marks = read_last_written(text)
        unread = unread_heads(parsed, entries, marks)
        return _OpinionsPage(edit, text, may_write, confidences, entries, marks, unread)

    def _merged_opinions(self, text: str, entries: Sequence[BeliefEntry]) -> str | None:
        """The page with both sides of a merge, which have these entries; None, and a note, where a person has to settle it."""
        refs = {ref for entry in entries for ref in entry.refs}
        by_ref = {fact.ref: fact for fact in FactsSince(self._facts, self._changes.first or date.max, refs).first}
        places, void = self._facts.places(refs)
        # A tombstone has no id: what stands nowhere, and is cited on a page with one, was forgotten on the other side.
        stones, cited = {row.path for row in tombstones(self._index)}, [b for each in entries for _, b in each.bullets]
        void |= {b.ref for b in cited if b.ref and b.ref not in places and b.citation and b.citation.path in stones}
        before = sides_of_merge(self._workspace, OPINIONS)
        merged = merged_page(text, before, lambda entry, mark: is_ours(entry, mark, by_ref, places, void))
        if merged is None:
            self.notes.append(
                f"{OPINIONS}: a conflict of a merge with a person's words in it; settle it by hand, or take one side "
                f"(`git checkout --ours {OPINIONS}`) and reflect adds what the facts of the other say"
            )
        return merged

    def _replay(self, page: _OpinionsPage, ask_again: bool = False) -> Replayed:
        """Replay the beliefs; with `ask_again` the uncertain pairs from before the window are judged again."""
        cited = {ref for entry in page.entries for ref in entry.refs}
        cited |= {ref for mark in page.marks.values() for ref in mark.codes}
        places, forgotten = self._facts.places(cited)
        # Evidence that counts no more had kept other lines of its day silent.
        again = [bullet.day for entry in page.entries for _, bullet in entry.bullets if bullet.ref in forgotten]
        answers, answered = self._facts.answers()
        again += newly_answered(self.record, self._changes.first == date.min, answers, answered, page.entries)
        first = min([self._changes.first or date.max, *again])
        canonical = self._facts.known.key_of
        window = FactsSince(self._facts, first, cited | {answer.line.ref for answer in answers})
        inputs = ReplayInput(
            window.first, places, forgotten, self._facts.names_of, _stance_judge(self._workspace, canonical),
            self._today, page.unread, answers, answered, days=window.days(),
            place_of=lambda refs: self._facts.places(refs)[0],
            canonical=None if self._workspace.settings.nli else canonical,
        )  # fmt: skip
        earlier = [(day, belief, ref) for day, belief, ref in self.record.met if day < str(window.since)]
        if ask_again:
            counting = queries.counting(self._index, {ref for _, _, ref in earlier})
            facts = {fact.ref: fact for fact in self._facts.evidence(counting)}
            inputs = inputs._replace(before=[(belief, facts[ref]) for _, belief, ref in earlier if ref in facts])
        replay = replay_beliefs(page.entries, page.marks, inputs)
        found = ((str(pair.day), pair.belief, pair.fact) for pair in replay.uncertain)
        # Without doubles: older lines that speak by id are judged again.
        self.record.met = list(map(list, dict.fromkeys((*earlier, *found))))
        self.notes += [f"{OPINIONS}: {note}" for note in replay.notes]
        return replay

    # -- bank/entities/, bank/world.md, bank/experience.md ------------------------------------------------------------

    def _names(self, replay: Replayed) -> Iterator[PlannedBlock]:
        """Plan the pages of entities, and what world.md and experience.md tell of names without one."""
        beliefs_of = self._beliefs_by_name(replay)
        keys = {key for belief in replay.beliefs if belief.moved for key in belief.names}
        keys |= {key for entry in replay.withdrawn for key in self._facts.names_of(entry.fact)}
        names = self._touched(keys)
        paths = self._paths(names)

        def about_name(name: str) -> About:
            beliefs = beliefs_of[entity_key(name)] if name in paths else ()
            return self._facts.about(name, paths.get(name))._replace(beliefs=beliefs)

        new = {name: about_name(name) for name, path in paths.items() if not self._exists(path)}
        for name, about in new.items():
            if about.is_empty:
                del paths[name]  # nothing to tell yet: no page, and no link to it
        world: dict[str, str] = {}
        experience: dict[str, str] = {}
        for count, name in enumerate(sorted(names, key=entity_key), 1):
            about = new.pop(name) if name in new else about_name(name)
            path, title = paths.get(name), heading(name) if name else _NOBODY
            place = LinkContext(path or WORLD, name, self._links(about, paths), self._wiki)
            world[title] = entity_pages.world_body(about.world, place)
            experience[title] = entity_pages.world_body(about.experience, place._replace(page=EXPERIENCE), done=True)
            if path is not None:
                yield self._entity_page(about, place)
            shared = [page for page, body in ((WORLD, world[title]), (EXPERIENCE, experience[title])) if body]
            self._remember_part(f"@{entity_key(name) if name else ''}", about.pages, [path] if path else shared)
            self._memory.progress(count, len(names))
        for path in queries.merged_pages(self._index):
            yield PlannedBlock(path, "summary", "", lambda _: "")
        yield from self._shared_page(WORLD, "World", world)
        yield from self._shared_page(EXPERIENCE, "Experience", experience)

    def _touched(self, keys: Set[str]) -> dict[str, int]:
        """How many facts name each of those whose part is made again, because of a change or of beliefs about these."""
        keys = keys | self._changes.names
        if self._changes.whole:
            keys |= {"", *(each.key for each in self._entities.values())}
            keys |= queries.names_of_facts(self._index, self._today)
        names = {self._facts.known.known_as(key) if key else "" for key in keys}
        counts = {}
        for name in names:
            if not name or len(entities_named(self._index, name)) < 2:
                facts = self._facts.facts_of(name)
                counts[self._facts.spelled(name, facts) if name else ""] = len(facts)
        return counts

    def _paths(self, names: Mapping[str, int]) -> dict[str, str]:
        """Where the page of each name is, or will be: a name without one gets it from so many facts on.

        Nothing of the owner's is written on a page that came from outside, nor on a note: its name is one without a page. In a
        vault none is made beside a note of that name, for `[[Name]]` leads to the note.
        """
        known = queries.pages_of_names(self._index, filter(None, names))
        found: dict[str, str] = {}
        taken = set(self._entities)
        folder = self._workspace.root / ENTITIES
        files = {f"{ENTITIES}{file.name}" for file in folder.iterdir()} if folder.is_dir() else set()
        others = {path.casefold(): path for path in files - taken}
        notes = pages_called(self._index, set(map(entity_key, names))) if self._wiki else {}
        for name, count in sorted(names.items()):
            path = known.get(entity_key(name)) if name else None
            if (path is not None and self._is_of_others(path)) or (not path and entity_key(name) in notes):
                continue
            if name and path is None and count >= self._workspace.settings.page_from:
                path = page_path(name, taken)
                other = others.get(path.casefold())
                if other or new_page(name, path) is None:
                    why = f"{other} is not the page of an entity" if other else "a page cannot spell that name"
                    self.notes.append(f"{name} has no page: {why}; make one by hand")
                    continue
                taken.add(path)
            if path is not None:
                found[name] = path
        return found

    def _is_of_others(self, path: str) -> bool:
        """True for a note of a person, and for a page whose front matter says that all of it came from outside."""
        if not path.startswith(ENTITIES):
            return True
        with suppress(MemctlError):
            return not is_trusted(source_of(read_for_edit(self._workspace, path).after))
        return False

    def _beliefs_by_name(self, replay: Replayed) -> dict[str, list[BeliefLine]]:
        """The beliefs for the page of each name, by its key: those it holds, and those about it, whose holder is named."""
        beliefs_of: dict[str, list[BeliefLine]] = defaultdict(list)
        ended: dict[str, tuple[str, ...]] = defaultdict(tuple)  # the words of the beliefs that a line ended, by its id
        for belief in replay.beliefs:
            for bullet in belief.bullets if belief.over else ():
                if bullet.verdict == "superseded" and bullet.ref:
                    ended[bullet.ref] += (belief.fact.text,)
        # What is held comes before what is doubted; among each the words decide, so that a number moves no line.
        current = (belief for belief in replay.beliefs if belief.is_current)
        for belief in sorted(current, key=lambda b: (float(b.number) < 0.5, b.fact.text.casefold(), b.ref)):
            named = [self._facts.known.key_of(name) for name in belief.fact.entities]
            people = [key for key in named if is_person(self._index, key)]
            ledger, before = belief.ledger, ended.get(belief.stated or "", ())
            line = BeliefLine(
                belief.fact.text, float(belief.number), ledger.trend, ledger.contested, belief.ref,
                belief.counts("for"), belief.counts("against"), before=before,
            )  # fmt: skip
            for key in dict.fromkeys([*people[:1], *named[:1]]):
                holder = people[0] if people and key != people[0] else ""
                beliefs_of[key].append(line._replace(holder=self._facts.known.known_as(holder) if holder else ""))
        return beliefs_of

    def _links(self, about: About, paths: Mapping[str, str]) -> dict[str, str]:
        named = about.names - {about.name}
        pages = queries.pages_of_names(self._index, named)
        found = {entity_key(name): paths.get(name) or pages.get(entity_key(name)) for name in named}
        return {key: path for key, path in found.items() if path}

    def _entity_page(self, about: About, place: LinkContext) -> PlannedBlock:
        """The page of an entity. It begins with who or what that is, unless the owner says so on it."""

        def body(text: str) -> str:
            own = [line for _, line in blocks.unmanaged_lines(text) if line.strip()]
            dashes = [at for at, line in enumerate(own) if line.strip() == "---"]
            prose = own[dashes[1] + 1 :] if len(dashes) > 1 and dashes[0] == 0 else own  # below its front matter
            if about.defined and any(line[0] != "#" for line in prose):
                return entity_pages.entity_body(about._replace(defined=None, now=[about.defined, *about.now]), place)
            return entity_pages.entity_body(about, place)

        return PlannedBlock(place.page, "summary", new_page(about.name, place.page) or "", body)

    def _shared_page(self, path: str, title: str, sections: Mapping[str, str]) -> Iterator[PlannedBlock]:
        """Plan a page with a section for each name."""
        name = title.lower()

        def body(text: str) -> str:
            return blocks.merge_sections("\n".join(blocks.block_body(text, name)), sections, self._changes.whole)

        if any(sections.values()) or self._exists(path):
            yield PlannedBlock(path, name, f"# {title}\n", body)

    def _lessons(self) -> Iterator[PlannedBlock]:
        """Plan bank/lessons.md: the tasks whose outcomes changed, each from all of them, and what failed across tasks."""
        whole = self._changes.whole
        tasks = set(queries.tasks_until(self._index, self._today)) if whole else self._changes.tasks
        outcomes_of = {task: self._facts.outcomes([task]) for task in sorted(tasks)}
        learned = lessons(outcome for outcomes in outcomes_of.values() for outcome in outcomes)
        sections = blocks.split_sections(entity_pages.lessons_body(learned, LinkContext(LESSONS)))
        written_on = [LESSONS] if sections or self._exists(LESSONS) else []
        for task, outcomes in outcomes_of.items():
            self._remember_part(f"#{task}", {page_id(outcome.citation.path) for outcome in outcomes}, written_on)
        kept = {title: refs for title, refs in self.record.failed.items() if task_of_section(title) not in tasks}
        self.record.failed = kept | {task.name: refs for task in learned if task.name and (refs := task.failures)}
        shared = entity_pages.failures_body(failures(self._facts.reasons(self.record.failed)))

        def body(text: str) -> str:
            before = "\n".join(blocks.block_body(text, "lessons"))
            titles = blocks.split_sections(before)
            emptied = {title: "" for title in titles if task_of_section(title) in tasks or title == _SEVERAL}
            across_tasks = {_SEVERAL: shared} if shared else {}
            return blocks.merge_sections(before, emptied | sections | across_tasks, whole, task_of_section)

        if written_on or tasks:
            yield PlannedBlock(LESSONS, "lessons", "# Lessons\n", body)

    def _digests(self, replay: Replayed) -> Iterator[PlannedBlock]:
        """Plan the digests of the weeks in which something changed."""
        with_evidence_in: dict[str, list[Belief]] = defaultdict(list)
        for belief in replay.beliefs:
            for week in {week_of(str(bullet.day)) for bullet in belief.bullets if bullet.verdict != "stated"}:
                with_evidence_in[week].append(belief)
        for week in sorted(self._weeks(replay)):
            page = f"bank/digest/{week}.md"
            content = week_content(self._memory, self._facts, with_evidence_in[week], week)
            body = digest_body(content, page)
            if body or self._exists(page):
                yield PlannedBlock(page, "digest", title_of(week), lambda _, body=body: body)  # type: ignore[misc]
            if content.facts:
                self._remember_part(week, content.pages, [page] if body else [])
            self._tell(week, content.sentences)

    def _tell(self, week: str, sentences: Sequence[DigestSentence]) -> None:
        """Report what the last reflect did not know of a week; of the weeks before that one nothing, and without it the newest."""
        if self.last is None:
            self.digest = tuple(sentences) or self.digest
        elif week >= week_of(min(self.last.day, self.record.day)):
            self.digest += tuple(each for each in sentences if each.key not in self.last.told)
        if week == week_of(self.record.day):
            self.record.told = [each.key for each in sentences]

    def _weeks(self, replay: Replayed) -> set[str]:
        """The weeks of what changed: lines, and evidence of beliefs that moved or were taken back."""
        days = {day for belief in replay.beliefs if belief.moved for day in belief.days_moved}
        days |= {b.day for entry in replay.withdrawn for _, b in entry.bullets}
        found = self._changes.weeks | {week_of(str(day)) for day in days if day <= self._today}
        if self._changes.whole:
            days_of_facts = queries.days_between(self._index, date.min, self._today)
            found |= set(map(week_of, (*days_of_facts, *queries.days_due(self._index, self._today))))
        return found

    def proposals(self, replay: Replayed) -> PlannedBlock | None:
        """Plan bank/proposals.md, from the whole workspace whatever changed; None where it or memory.md cannot be read."""
        tasks = lessons(self._facts.outcomes(queries.tasks_until(self._index, self._today)))
        due = proposable(self._facts, replay.beliefs, tasks)
        core, page = (read_or_note(self._workspace, path, self.notes) for path in (CORE_PAGE, PAGE))
        if core is None or page is None:
            return None
        body = proposals_body(proposals(due, core.after, refused_in(page.after), self._today), core.after)
        return PlannedBlock(PAGE, BLOCK, "# Proposals\n", lambda _: body)


class _OpinionsPage(NamedTuple):
    """bank/opinions.md as it was read; `edit` is None for a page that cannot be."""

    edit: Edit | None
    text: str  # without conflicts of a merge
    may_write: bool
    confidences: Mapping[str | None, float | None]  # those that our side of a merge had, by id
    entries: Sequence[BeliefEntry]
    marks: Mapping[str, LastWritten]
    unread: Mapping[str, int]  # id of a belief -> line of its head, which does not parse


def read_or_note(workspace: Workspace, path: str, notes: list[str]) -> Edit | None:
    """A page as an edit that changes nothing; None, and a note, for one that cannot be read."""
    try:
        return read_for_edit(workspace, path)
    except MemctlError as error:
        notes.append(f"{error.what}; {error.cure}")
        return None


def _stance_judge(workspace: Workspace, canonical: Callable[[str], str]) -> Judge:
    """The judge of this workspace. Where the settings name a model, it says which way a question leans, and asks its own."""
    path = workspace.settings.nli
    model = None
    if path:
        from ..local_model import inference_model

        model = inference_model(workspace.root / path)

    def judge(belief: Fact, fact: Fact) -> Judgement | None:
        found = judge_view(belief, fact, canonical)
        if model is None or not belief.entities or (found and (found.is_certain or found.kind == "reversal")):
            return found
        verdict, probability = model(belief.text, fact.text)
        if verdict == "neither" or probability < _SURE:
            return found
        return judged("evidence", verdict, "model", f"model: {probability:.2f}")

    return judge
