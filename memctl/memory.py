"""Memory: the public library. The command line, the servers, hooks and watch are thin over it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import date, datetime
from functools import partial
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Unpack

from .errors import Usage
from .facts import Period, known_options, moment, several
from .index.open_memory import OpenMemory, record_recalled, silent
from .notes.workspace import current_folder, find_workspace

if TYPE_CHECKING:
    # The modules that the methods call, and what these return; what others name from here stands as `X as X`.
    from datetime import time as time_of_day

    from .beliefs import view
    from .beliefs.view import BeliefView as BeliefView, Reasons
    from .conflicts import listing
    from .conflicts.listing import Conflict
    from .context import chat, chat_messages, context
    from .context.chat import Prepared
    from .context.context import Memories, PublicPage
    from .context.pack import Pack as Pack
    from .entities import rename
    from .entities.rename import Named as Named
    from .evaluation import evaluate, labels
    from .evaluation.evaluate import Evaluation as Evaluation
    from .evaluation.labels import Labelled
    from .evaluation.metrics import Difference as Difference, Interval as Interval
    from .facts import Citation, Fact
    from .forget import forget, select
    from .forget.forget import Forgetting as Forgetting, ForgottenLine as ForgottenLine
    from .hits import Answer, Hit
    from .index import sync
    from .index.queries.entries import Query
    from .index.sync import SyncReport, Verified
    from .ingest import ingest
    from .ingest.ingest import (
        CandidateFact as CandidateFact,
        Ingested as Ingested,
        SourceConversation as SourceConversation,
    )
    from .language import analyzer, dates
    from .maintenance import check, init, status, undo
    from .maintenance.check import Finding
    from .maintenance.init import InitReport
    from .maintenance.status import Glance, Status
    from .maintenance.undo import Undone
    from .notes import files
    from .recall import lookup, query, recall, surroundings
    from .recall.lookup import Document, EntityLine, EntityView, Passage as Passage
    from .recall.query import QueryFilters
    from .reflect import fact_source, proposals, record, reflect
    from .reflect.lessons import Task as Task
    from .reflect.reflect import Reflected
    from .retain import retain
    from .retain.retain import Retained as Retained
    from .review import answer, collect, offers
    from .review.answer import Answered as Answered
    from .review.question import Question as Question
    from .shared import shared
    from .shared.shared import Shared
    from .transfer import export, importing
    from .transfer.export import Exported as Exported
    from .transfer.importing import Imported
    from .vault import vault
    from .vault.vault import Vault as Vault
    from .vectors import embed, file
    from .vectors.embed import EmbedReport as EmbedReport
    from .vectors.file import VectorsChecked as VectorsChecked
    from .view import pictures
    from .view.pictures import EntityGraph as EntityGraph, Pictures, Timeline as Timeline
    from .watch import watch
    from .watch.watch import FolderEvents, Noticed

else:

    class _Module:
        """A module of a room below, loaded when a method first needs it: to open a memory stays cheap."""

        def __init__(self, path: str) -> None:
            self._path = path

        def __getattr__(self, name: str) -> Any:
            return getattr(import_module(self._path, __package__), name)

    _ROOMS = {
        "beliefs": "view", "conflicts": "listing", "context": "chat chat_messages context",
        "entities": "rename", "evaluation": "evaluate labels", "forget": "forget select", "index": "sync",
        "ingest": "ingest", "language": "analyzer dates", "maintenance": "check init status undo", "notes": "files",
        "recall": "lookup query recall surroundings", "reflect": "fact_source proposals record reflect", "retain": "retain",
        "review": "answer collect offers", "shared": "shared", "transfer": "export importing", "vault": "vault",
        "vectors": "embed file", "view": "pictures", "watch": "watch",
    }  # fmt: skip
    for _room, _names in _ROOMS.items():
        globals().update({name: _Module(f".{_room}.{name}") for name in _names.split()})


def open_memory(
    path: str | os.PathLike[str] | None = None, *, now: date | str | None = None, tell: Callable[[str], None] = silent,
    resident: bool = True,
) -> Memory:  # fmt: skip
    """The memory in a folder; without `path` the one that MEMCTL_WORKSPACE or the current folder names.

    `now` is the present: a time, a day, or either as text ("2025-11-27", Usage for what is none); None is the clock. `tell` is
    given notes beside an answer. The index stays open between calls, from any thread, until `close`, unless not `resident`.
    """
    workspace = find_workspace(None if path is None else os.fspath(path), os.environ, current_folder())
    clock = datetime.now if now is None else partial(moment, moment(now))
    if not resident:
        command = f"{clock().isoformat(timespec='seconds')} {os.urandom(4).hex()}"
        return Memory(workspace._replace(command=command), clock, tell=tell)
    from .index.resident import Resident

    return Memory(workspace, clock, tell=tell, resident=Resident(workspace))


def init_workspace(folder: Path, *, git: bool = False) -> InitReport:
    """Make a folder a workspace; nothing is overwritten."""
    return init.init(folder, git)


class Memory(OpenMemory):
    """A folder of Markdown as memory: every verb of memctl as a method.

    Days and spans (`since`, `until`, `on`, `as_of`, `when`) are written as on the command line: "30d", "2025-11",
    "last week". What a method cannot do it says as a `MemctlError`, whose `what` and `cure` are a line each.
    """

    def retain(
        self, text: str | Fact | Sequence[str | Fact], *, kind: str | None = None, about: str | Sequence[str] = (),
        day: str | None = None, said_by: str | None = None, dry_run: bool = False, allow_secrets: bool = False,
        **attributes: Any,
    ) -> Retained:  # fmt: skip
        """Write facts down in the log of `day` (today's); they are on disk when it returns.

        `attributes` are those of the grammar by their long or short names (markdown/attributes.py): confidence=0.9,
        key="city", until="2026-01-01". `said_by` is the program that hands them in, None the owner: it is the source of
        facts that name none, or somebody trusted more, and it does not repeat what came from outside.
        """
        given = (text,) if text is None else several(text)
        facts = retain.read_facts(given, kind=kind, about=several(about), attributes=attributes)
        said, facts = facts, retain.as_said(self, facts, said_by) if said_by else facts
        on = dates.day_of("--date", day, self.today) or self.today
        done = retain.retain(self, facts, on, dry_run=dry_run, allow_secrets=allow_secrets)
        lost = {one.source for one, kept in zip(said, facts, strict=True) if one.source not in (None, kept.source)}
        kept_as = f"is kept as src={said_by}: [server] may_speak_as_user is off"
        told = [f"src={source} {kept_as}" for source in sorted(lost, key=str)]
        done = replace(done, warnings=(*done.warnings, *told))
        if said_by or dry_run:  # who is not the owner hears of no other names; a dry run makes no index
            return done
        with suppress(Exception):  # of any kind: the facts are on disk
            done = replace(done, warnings=(*done.warnings, *self.run(lambda at: tuple(retain.slips(at, facts)))))
        return done

    def near(self, done: Retained, *, aside: bool = False) -> tuple[tuple[Question, ...], ...]:
        """For each fact that was just kept, up to three earlier lines that it may replace, as questions for whoever wrote it.

        `answer` takes them by id; they do not wait in `review`. None for more than ten facts at once. What is shown `aside`, where
        an agent may not look, is found by words alone, and the hook beside the agent's next prompt asks once more.
        """
        return offers.near(self, done.kept, aside)

    def query(self, text: str = "", *, per_page: int = 1, **filters: Unpack[QueryFilters]) -> Query:
        """A query of words and filters; of a document `per_page` lines are hits at most, as passages (0: all, as lines)."""
        return replace(query.read_query(text, self.today, **filters), per_page=per_page)

    def recall(
        self, query: str | Query = "", *, k: int | None = None, budget: int | None = None, history: bool = False,
        hops: int = 1, vectors: bool = True, **filters: Unpack[QueryFilters],
    ) -> Answer:  # fmt: skip
        """The best `k` facts for a question, each with its citation; without a question the newest.

        `budget` is in tokens; without `k` it is filled. With `hops` 2 or 3 there are `related` lines; without `vectors` words alone.
        """
        for name, number in (("k", k), ("budget", budget), ("hops", hops)):
            if not isinstance(number, int | None):
                raise Usage(f"{name} must be a whole number, not {number!r}")
        asked = self.query(query, **filters) if isinstance(query, str) else query
        k = surroundings.most_hits(k, budget if hops == 1 else None, self.workspace.settings.k)
        answer = recall.recall(self, asked, k=k, budget=budget, history=history, hops=hops, vectors=vectors)
        self._record(hit.ref for hit in answer.hits)
        return answer

    def matches(self, question: str, text: str) -> list[tuple[int, int]]:
        """Where words of `text` stand that a question asks for, whatever their endings: start and end of each."""
        return analyzer.matches(question, text)

    def reflect(self, *, since: str | None = None, dry_run: bool = False, propose: bool = False) -> Reflected:
        """Bring the pages of bank/ up to date with what changed; without `since` all of them. `since` bounds the conflicts counted, too."""
        first = dates.first_day("--since", since, self.today)
        last = record.read_record(self.workspace)

        def ask(memory: OpenMemory, done: Reflected) -> None:
            done.pages.extend([] if dry_run else ingest.ask_of_logs(memory, first))
            if done.pages and not dry_run:
                collect.refresh(memory)
            done.notes += check.brought_back(memory, last.pages if last else {})

        command = self.workspace.command and f"{self.workspace.command} reflect"  # undo --skip goes past it
        memory = self.with_workspace(self.workspace._replace(command=command))
        return reflect.reflect(memory, since=first, dry_run=dry_run, propose=propose, then=ask)

    def show(self, reference: str | Sequence[str], context: int = 3) -> tuple[Passage, ...]:
        """What a citation, an id, a name, a page or a glob stands for, or several, with `context` lines around it."""
        words = [reference] if isinstance(reference, str) else reference
        if self.workspace.hides is None and any(":" in each.partition("#L")[0] and "#L" in each for each in words):
            copied = [shared.shown(self, each, context) for each in words]
            if any(copied):
                pairs = zip(words, copied, strict=True)
                return tuple(chain(*(found or lookup.show_all(self, [each], context) for each, found in pairs)))
        return lookup.show_all(self, words, context)

    def said_in(self, reference: str | Sequence[str], context: int = 1) -> tuple[SourceConversation, ...]:
        """The turns in which facts were said, with `context` turns around each, wherever their transcript lies now."""
        return ingest.said_in(self, [reference] if isinstance(reference, str) else reference, context)

    def documents(self, folder: str = "") -> tuple[Document, ...]:
        """The pages of a folder and the folders in it, with titles and descriptions."""
        return lookup.documents(self, folder)

    def lessons(self, task: str | None = None) -> tuple[Task, ...]:
        """What worked and what failed, by task, counted from outcomes; of one task, named in about these words."""
        return fact_source.task_lessons(self, task)

    def place(self, reference: str) -> Citation:
        """Where a citation, an id, a name, a page or a day (`today`, 2025-11-27) stands; the log of a day need not exist."""
        return lookup.place(self, reference)

    def entities(self, type: str | None = None) -> tuple[EntityLine, ...]:
        """Every entity with a page and every name that lines are about, or those of a `type`; most mentioned first."""
        return lookup.list_entities(self, type=type)

    def entity(self, name: str, k: int = 10) -> EntityView:
        """One entity: its names, what holds now, its newest `k` lines. NothingFound for an unknown name."""
        return lookup.show_entity(self, name.removeprefix("@"), k)

    def facts(self, about: str | None = None, *, as_of: str | None = None) -> tuple[Hit, ...]:
        """The current line of every slot, the owner's first, or of those `about` one name."""
        return lookup.facts(self, about, self._as_of(as_of))

    def fact(self, key: str, about: str | None = None, *, as_of: str | None = None) -> tuple[Hit, ...]:
        """The current line of a slot, one for each entity that has it."""
        return lookup.get_fact(self, key, about, self._as_of(as_of))

    def fact_history(self, key: str, about: str | None = None, *, as_of: str | None = None) -> tuple[Hit, ...]:
        """Every version of a slot, oldest first."""
        return lookup.history(self, key, about, self._as_of(as_of))

    def beliefs(self, *, about: str | None = None, as_of: str | None = None) -> tuple[BeliefView, ...]:
        """Every belief with its confidence and evidence, the firmest first."""
        return view.beliefs(self, about=about, as_of=self._as_of(as_of))

    def belief(self, reference: str, *, as_of: str | None = None) -> BeliefView:
        """One belief by its id, the id of the line that stated it, or words of it."""
        return view.show_belief(self, reference, as_of=self._as_of(as_of))

    def why(self, reference: str, *, as_of: str | None = None) -> Reasons:
        """Why a fact or belief holds: what it replaced, what replaced it, its evidence."""
        return view.why(self, reference, as_of=self._as_of(as_of))

    def timeline(
        self, about: str | None = None, *, since: str | None = None, until: str | None = None, events: int = 40
    ) -> Timeline:
        """What held, what happened and what was believed, of one entity or of what was told last."""
        asked = self.query(since=since, until=until)
        return pictures.timeline(self, about, asked.days or Period(), events)

    def graph(self, name: str, *, most: int = 12) -> EntityGraph:
        """An entity and the `most` names that stand on most lines with it."""
        return pictures.graph(self, name, most)

    def pictures(self) -> Pictures:
        """Drawings as SVG of what this memory answered, and pages of what others than the owner may see (extra `[view]`)."""
        return pictures.Pictures(self)

    def conflicts(self, *, about: str | None = None) -> tuple[Conflict, ...]:
        """Pairs of facts that cannot both hold."""
        return listing.conflicts(self, about)

    def check(self) -> tuple[Finding, ...]:
        """What is wrong with the pages: grammar, citations, links, ids, secrets, conflicts."""
        return check.check(self)

    def glance(self) -> Glance:
        """Where one is: counts of pages and facts, and whether the index is as new as they; cheap."""
        return status.glance(self)

    def status(self) -> Status:
        """Counts, freshness, sizes, and what is optional and missing."""
        return self.run(status.status)

    def resolve(
        self, chosen: str, other: str, *, both: bool = False, since: str | None = None, because: str | None = None,
        dry_run: bool = False,
    ) -> Retained:  # fmt: skip
        """Add a line to today's log by which `chosen` stands over `other`, or `both` hold."""
        day = dates.first_day("--from", since, self.today)
        return listing.resolve(self, chosen, other, both=both, since=day, because=because, dry_run=dry_run)

    def review(self) -> tuple[Question, ...]:
        """The questions that wait, worth most first; in a public view without those that only the owner answers."""
        return collect.questions(self)

    def answer(
        self, question: str, option: str, *, text: str | None = None, said_by: str | None = None, dry_run: bool = False
    ) -> Answered:
        """Answer a question of `review` by its id and the key of an option, with a line of today's log.

        `text` words that line anew; `said_by` is the source of the answer, None the owner.
        """
        return answer.answer(self, question, option, text=text, said_by=said_by, dry_run=dry_run)

    def review_text(self, questions: Sequence[Question]) -> str:
        """Questions as one text for an editor, a block each."""
        return answer.questions_text(questions)

    def answer_text(
        self, questions: Sequence[Question], text: str, *, dry_run: bool = False
    ) -> tuple[list[Answered], list[str]]:
        """Give the answers that an edited `review_text` holds; what was done, and a line for each block that could not be."""
        return answer.answer_text(self, questions, text, dry_run=dry_run)

    def answer_by_model(
        self, questions: Sequence[Question], *, dry_run: bool = False
    ) -> tuple[list[Answered], list[str]]:
        """Let the local model of the settings answer; what was done, and a line for what went wrong."""
        return answer.answer_by_model(self, questions, dry_run=dry_run)

    def undo(self, *, dry_run: bool = False, skip: bool = False) -> Undone:
        """Take back what the last command (no resident memory) wrote, or with `skip` the one before, if it stands as written."""
        return undo.undo(self, dry_run=dry_run, skip=skip)

    def take_back(self, answered: Answered) -> None:
        """Undo an answer that was just given."""
        answer.take_back(self, answered)

    def alias(self, name: str, aliases: Sequence[str], *, remove: bool = False, dry_run: bool = False) -> Named:
        """Add other names to the page of an entity, or `remove` them."""
        return rename.alias(self, name, aliases, remove=remove, dry_run=dry_run)

    def merge(self, name: str, into: str, *, undo: bool = False, dry_run: bool = False) -> Named:
        """Make `name` another name of `into`, or `undo` that."""
        return rename.merge(self, name, into, undo=undo, dry_run=dry_run)

    def accept_proposal(self, number: int, *, dry_run: bool = False) -> str:
        """Apply a proposal of bank/proposals.md to memory.md; the diff."""
        return proposals.decide(self, number, True, dry_run)

    def refuse_proposal(self, number: int, *, dry_run: bool = False) -> str:
        """Never propose that again; the diff of bank/proposals.md."""
        return proposals.decide(self, number, False, dry_run)

    def forget(
        self, *, apply: bool = False, suggest: bool = False, before: str | None = None, **selectors: Any
    ) -> Forgetting:
        """Replace lines by tombstones and take every copy of them out; without `apply` nothing changes.

        `selectors` are ids, about, source, expired, unused, include_exempt; all must hold. With `suggest`, what could go and why.
        """
        day = dates.first_day("--before", before, self.today, "write 2025-11-27, 2025-11 or 90d")
        given: Any = {key: several(each) if key in ("ids", "about") else each for key, each in selectors.items()}
        asked = select.Selectors(before=day, **known_options(select.Selectors, given))
        return forget.suggest(self, asked) if suggest else forget.forget(self, asked, apply=apply)

    def context(
        self, message: str = "", *, budget: int | None = None, about: str | Sequence[str] = (), since: str | None = None,
        private: bool = False, counter: str | None = None, stable: bool = True,
    ) -> Pack:  # fmt: skip
        """What an agent is given before it answers `message`, within `budget` tokens: core, lessons, recalled lines.

        `counter` counts the tokens: estimate, an encoding of tiktoken, the path of a tokenizer.json. Not `stable`: by the message alone.
        """
        count = context.counter_of(self.workspace, counter)
        made = context.ContextOptions(budget, several(about), since, private, count)
        pack = context.context(self, message, made, stable=stable)
        self._record(item.ref for item in pack.items)
        return pack

    def _record(self, refs: Iterable[str]) -> None:
        """Remember what was recalled, if the settings want that."""
        if self.workspace.settings.record:
            record_recalled(self, refs)

    def session_start(self, budget: int) -> Pack:
        """What every session is given, within `budget` tokens: core, lessons, recent lines."""
        return context.context(self, "", context.ContextOptions(budget), recalled=False)

    def beside_prompt(self, prompt: str, budget: int, most: int) -> str:
        """The fenced block of at most `most` lines that belong to a prompt; mostly empty. By words, without private lines."""
        return context.beside_prompt(self.public(), prompt, budget, most)

    def chat(
        self, messages: str | Sequence[Mapping[str, Any]], *, source: str = "the chat", counter: str | None = None,
        core: bool = True, name: str = "chat", **options: Any,
    ) -> Prepared:  # fmt: skip
        """The messages to send for a chat (a list, or JSON), within a budget; `options` as for `context`.

        Without `core`, core and lessons are not in it. Messages that are not sent are cited as `name#M12`.
        """
        given = chat_messages.read_chat(messages, source) if isinstance(messages, str) else messages
        known_options(context.ContextOptions, options)
        made = context.ContextOptions(**options | {"count": context.counter_of(self.workspace, counter)})
        return chat.prepare(self, given, made, core=core, name=name)

    def end_session(self, name: str) -> None:
        """Forget what was stated in a session of `chat`."""
        chat.session_file(self.workspace, name).unlink(missing_ok=True)

    def told(
        self, query: str | Query, *, k: int | None = None, budget: int = 1500, history: bool = False, hops: int = 1,
        vectors: bool = True,
    ) -> tuple[Answer, str]:  # fmt: skip
        """What `recall` answers within `budget` tokens of text, filled without `k`, and that text as a model reads it: one
        fenced block of cited passages, empty without hits."""
        asked = self.query(query) if isinstance(query, str) else query
        most = surroundings.most_hits(k, budget if hops == 1 else None, self.workspace.settings.k)
        found = recall.recall(self, asked, k=most, history=history, hops=hops, vectors=vectors)
        answer, text = context.told(self, found, budget)
        self._record(hit.ref for hit in answer.hits)
        return answer, text

    def memories(self, message: str, *, k: int | None = None, hops: int = 1, budget: int = 2000) -> Memories:
        """A fenced block of the best `k` public lines for a message, within `budget` tokens; `hops` as in recall."""
        most = k or self.workspace.settings.k
        return context.memories(self.public(), message, k=most, hops=hops, budget=budget)

    def ingest(
        self, transcript: str | Path | BinaryIO, *, apply: bool = False, seconds: float | None = None, day: str | None = None,
        owner: str | None = None, **options: Any,
    ) -> Ingested:  # fmt: skip
        """Candidate facts of a transcript, a file or an open stream; with `apply` they are retained.

        `day` is for messages without a time, `owner` is the speaker who is the owner; `options` are the other fields of IngestOptions in
        ingest/ingest.py. With `seconds`, of a long session only the newest part is looked at.
        """
        made = ingest.read_options(day=dates.day_of("--date", day, self.today), owner=owner, **options)
        transcript = Path(transcript) if isinstance(transcript, str) else transcript
        return ingest.ingest(self, transcript, apply=apply, options=made, seconds=seconds)

    def ingest_exchange(self, user: str, assistant: str, *, apply: bool = True, seconds: float = 10.0) -> Ingested:
        """The same for one question and its answer."""
        return ingest.ingest_exchange(self, user, assistant, apply=apply, seconds=seconds)

    def public_pages(self) -> tuple[PublicPage, ...]:
        """The pages that a server offers: the core, the newest logs, those of entities."""
        return self.public().run(context.public_pages)

    def public_page(self, kind: str, name: str) -> str:
        """The text of such a page (core, log or entity, by its name) without private lines; NothingFound for others."""
        return self.public().run(lambda memory: context.public_page(memory, kind, name))

    def vault(self, ask: Callable[[str], str]) -> Vault:
        """The sealed lines and their keys; `ask` is given a prompt and returns what is typed, unseen."""
        return vault.Vault(self, ask)

    def shared(self, url: str | None = None) -> Shared:
        """Shared memory on a PostgreSQL server, that of the settings unless `url` names it: publish to it, ask it (extra `[shared]`)."""
        return shared.Shared(self, url)

    def import_(
        self, source: str | Path, *, kind: str | None = None, name: str | None = None, entities: str | None = None,
        trusted: bool = False, dry_run: bool = False, allow_secrets: bool = False,
    ) -> Imported:  # fmt: skip
        """Take in another memory: a folder of notes or a JSON export; transfer/importing.py `ImportOptions` says what each means."""
        made = importing.ImportOptions(kind, name, entities, trusted, dry_run, allow_secrets)
        return importing.import_memory(self, Path(source), made)

    def export(self, what: str = "facts", **filters: Unpack[QueryFilters]) -> Exported:
        """Every fact within the filters, or every belief with its whole history, as rows."""
        return export.export(self, what, self.query(**filters))

    def write_export(self, path: str | Path, content: Iterable[str] | Mapping[str, Exported]) -> None:
        """Write text, or tables as a SQLite file, in place of what stands at `path`; Usage for what must not be replaced."""
        export.write_export(Path(path), self.workspace, content)

    def watch(
        self, events: FolderEvents | None, *, reflect_at: time_of_day | None = None, vectors: bool = True
    ) -> Iterator[Noticed]:
        """Keep the index as fresh as the files, for ever: yields what is noticed, waits for `events` (none: looks once).

        Reflects once a day at `reflect_at`; without `vectors` nothing is embedded.
        """
        if events is None:
            return watch.look_once(self)
        return watch.watch(self, events, reflect_at=reflect_at, vectors=vectors)

    def sync(self, *, rebuild: bool = False) -> SyncReport:
        """Bring the index up to date with the files, or make it again from them; vectors of what is gone go."""
        done = sync.build_index(self.workspace, rebuild=rebuild, progress=self.progress)
        embed.sweep_vectors(self)
        return done

    def verify(self) -> Verified:
        """Compare the index, row by row, with one made again from the files."""
        return sync.verify(self.workspace)

    def embed(self) -> EmbedReport | None:
        """Embed the lines that have no vector yet; None without a model."""
        return embed.embed_workspace(self)

    def verify_vectors(self) -> VectorsChecked | None:
        """Look at every vector; None where there are none."""
        return file.verify_vectors(self.workspace)

    def warm(self, *, sync: bool = True, embed: bool = False) -> None:
        """`sync` without waiting for another writer; with `embed` a thread embeds what is written, until `close`."""
        from .vectors.embed import warm

        warm(self, sync, embed)

    def evaluate(
        self, questions: str | Path, configurations: Sequence[str] = ("recall",), **options: Any
    ) -> Evaluation:
        """Measure how well recall, or two configurations of search, answer labelled questions; `options` as in `EvalOptions`."""
        options |= {"configurations": evaluate.read_configurations(configurations), "clock": self.today}
        made = evaluate.EvalOptions(**known_options(evaluate.EvalOptions, options))
        return evaluate.evaluate(self, Path(questions), made)

    def label(
        self, question: str, citations: Sequence[str], *, file: str | None = None, type: str = "",
        as_of: str | None = None, replacing: bool = False, dry_run: bool = False,
    ) -> Labelled:  # fmt: skip
        """Add a labelled question to a file of the workspace; evaluation/labels.py `LabelOptions` says what each means."""
        day = self._as_of(as_of)
        made = labels.LabelOptions(
            labels.QUESTIONS if file is None else file, type, str(day) if day else None, replacing, dry_run
        )
        return labels.label(self, question, citations, made)

    def server_token(self) -> tuple[Path, str]:
        """Where the token of `memctl serve` stands, and the token; made on first use."""
        return files.token_of(self.workspace)

    def __enter__(self) -> Memory:
        return self

    def _as_of(self, written: str | None) -> date | None:
        return dates.last_day("--as-of", written, self.today)
