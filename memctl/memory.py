"""Memory: the public library. The command line, the servers, hooks and watch are thin over it."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from .index.open_memory import OpenMemory
from .notes.workspace import current_folder, find_workspace

if TYPE_CHECKING:
    from .beliefs.view import BeliefView, Reasons
    from .conflicts.listing import Conflict
    from .context.assembly import Pack
    from .context.chat import Prepared
    from .context.memories import Memories
    from .entities.rename import Named
    from .evaluation.evaluate import Evaluation
    from .evaluation.evaluate import Options as EvalOptions
    from .evaluation.labels import Labelled
    from .facts import Fact
    from .forget.forget import Forgetting
    from .hits import Answer, Hit
    from .index.maintain import Verified
    from .index.queries.entries import Query
    from .index.sync import SyncReport
    from .ingest.ingest import Ingested, IngestOptions
    from .language.tokens import Counter
    from .maintenance.check import Finding
    from .maintenance.status import Status
    from .recall.entities import EntityLine, EntityView
    from .recall.show import Passage
    from .reflect.reflect import Reflected
    from .retain.retain import Retained
    from .transfer.importing import Imported, ImportOptions
    from .vectors.embed import EmbedReport
    from .vectors.verify_vectors import VectorsChecked

__all__ = ["Memory", "open_memory"]


def open_memory(path: str | os.PathLike[str] | None = None, *, now: datetime | None = None) -> Memory:
    """The memory in a folder; without `path` the one that MEMCTL_WORKSPACE or the current folder names.

    `now` is what counts as the present, for tests and for answers as of a day; None is the clock. The index stays open
    between calls, from any thread: use it as a context manager, or `close` it. NoWorkspace where there is none.
    """
    from .index.resident import Resident

    named = None if path is None else os.fspath(path)
    workspace = find_workspace(named, os.environ, current_folder())
    clock = datetime.now if now is None else lambda: now
    return Memory(workspace, clock, resident=Resident(workspace))


class Memory(OpenMemory):
    """A folder of Markdown as memory: every verb of memctl as a method.

    Days and spans (`since`, `until`, `on`, `as_of`, `when`) are written as on the command line: "30d", "2025-11",
    "last week". What a method cannot do it says as a `MemctlError`, whose `what` and `cure` are a line each.
    """

    # -- the three verbs ----------------------------------------------------------------------------------------------

    def retain(
        self, text: str | Fact | Sequence[str | Fact], *, kind: str | None = None, about: str | Sequence[str] = (),
        day: date | None = None, dry_run: bool = False, allow_secrets: bool = False, **attributes: Any,
    ) -> Retained:  # fmt: skip
        """Write facts down in the log of `day` (today's); they are on disk when it returns.

        `attributes` are those of the grammar, in their long or short form: confidence=0.9, key="city", until="2026-01-01".
        """
        from .retain.retain import read_fact, retain

        names = [about] if isinstance(about, str) else about
        values = {_SHORT.get(name, name): _written(value) for name, value in attributes.items() if value is not None}
        given = [text] if isinstance(text, str) or not isinstance(text, Sequence) else text
        facts = [
            read_fact(each, kind=kind, about=names, values=values) if isinstance(each, str) else each for each in given
        ]
        return retain(self, facts, day or self.today, dry_run=dry_run, allow_secrets=allow_secrets)

    def recall(
        self, query: str | Query = "", *, k: int | None = None, budget: int | None = None, history: bool = False,
        hops: int = 1, vectors: bool = True, **filters: Any,
    ) -> Answer:  # fmt: skip
        """The best `k` facts for a question, each with its citation; without a question the newest.

        `filters` are since, until, on, as_of, about, kinds, key and min_confidence. `budget` is in tokens. With `hops` 2 or
        3 the answer also has `related` lines. Without `vectors` by words alone.
        """
        from .recall.query import read_query
        from .recall.recall import recall

        asked = read_query(query, self.today, **filters) if isinstance(query, str) else query
        workspace = self.workspace if vectors else self.workspace.without_model()
        options: dict[str, Any] = {"k": k or workspace.settings.k, "history": history, "budget": budget}
        if hops > 1:
            from .recall.related import recall_further

            return recall_further(workspace, asked, today=self.today, hops=hops, through=self.resident, **options)
        return recall(workspace, asked, today=self.today, through=self.resident, **options)

    def reflect(
        self, *, since: str | None = None, dry_run: bool = False, propose: bool = False,
        names: Collection[str] = (), tasks: Collection[str] = (),
    ) -> Reflected:  # fmt: skip
        """Bring the pages of bank/ up to date with what was written down from `since` on (all of it)."""
        from .language.flags import first_day
        from .reflect.reflect import reflect

        first = first_day("--since", since, self.today)
        return reflect(self, since=first, dry_run=dry_run, propose=propose, names=names, tasks=tasks)

    # -- looking ------------------------------------------------------------------------------------------------------

    def show(self, reference: str, context: int = 3, *, public: bool = False) -> tuple[Passage, ...]:
        """What a citation, an id, a name or a page stands for, with `context` lines around it."""
        from .recall.show import show

        return show(self.workspace, reference, context, self.tell, public=public, through=self.resident)

    def entities(self) -> tuple[EntityLine, ...]:
        """Every entity with a page and every name that lines are about, most mentioned first."""
        from .recall.entities import list_entities

        return list_entities(self.workspace, self.tell)

    def entity(self, name: str, k: int = 10) -> EntityView:
        """One entity: its names, what holds now, its newest `k` lines. NothingFound for a name that nobody has."""
        from .recall.entities import show_entity

        return show_entity(self.workspace, name.removeprefix("@"), self.today, k, self.tell)

    def fact(self, key: str, about: str | None = None, *, as_of: str | None = None) -> tuple[Hit, ...]:
        """The current line of a slot, one for each entity that has it."""
        from .recall.slots import get_fact

        return get_fact(self.workspace, key, about, self.today, self._as_of(as_of), self.tell)

    def fact_history(self, key: str, about: str | None = None, *, as_of: str | None = None) -> tuple[Hit, ...]:
        """Every version of a slot, oldest first."""
        from .recall.slots import history

        return history(self.workspace, key, about, self.today, self._as_of(as_of), self.tell)

    def beliefs(self, *, about: str | None = None, as_of: str | None = None) -> tuple[BeliefView, ...]:
        """Every belief with its confidence and evidence, the firmest first."""
        from .beliefs.view import beliefs

        return beliefs(self, about=about, as_of=self._as_of(as_of))

    def belief(self, reference: str, *, as_of: str | None = None) -> BeliefView:
        """One belief by its id, the id of the line that stated it, or words of it."""
        from .beliefs.view import show_belief

        return show_belief(self, reference, as_of=self._as_of(as_of))

    def why(self, reference: str, *, as_of: str | None = None) -> Reasons:
        """Why a fact or belief holds: what it replaced, what replaced it, its evidence."""
        from .beliefs.view import why

        return why(self, reference, as_of=self._as_of(as_of))

    def conflicts(self, *, about: str | None = None) -> tuple[Conflict, ...]:
        """Pairs of facts that cannot both hold."""
        from .conflicts.listing import conflicts

        return conflicts(self, about)

    def check(self) -> tuple[Finding, ...]:
        """What is wrong with the pages: grammar, citations, links, ids, secrets, conflicts."""
        from .maintenance.check import check

        return check(self.workspace, self.today)

    def status(self) -> Status:
        """Counts, freshness, sizes, and what is optional and missing."""
        from .maintenance.status import status

        return status(self.workspace)

    # -- deciding -----------------------------------------------------------------------------------------------------

    def resolve(
        self, chosen: str, other: str, *, both: bool = False, since: str | None = None, because: str | None = None,
        dry_run: bool = False,
    ) -> Retained:  # fmt: skip
        """Add a line to today's log by which `chosen` stands over `other`, or `both` hold."""
        from .conflicts.resolve import resolve
        from .language.flags import first_day

        day = first_day("--from", since, self.today)
        return resolve(self, chosen, other, both=both, since=day, because=because, dry_run=dry_run)

    def alias(self, name: str, aliases: Sequence[str], *, remove: bool = False, dry_run: bool = False) -> Named:
        """Add other names to the page of an entity, or `remove` them."""
        from .entities.rename import alias

        return alias(self, name, aliases, remove=remove, dry_run=dry_run)

    def merge(self, name: str, into: str, *, undo: bool = False, dry_run: bool = False) -> Named:
        """Make `name` another name of `into`, or `undo` that."""
        from .entities.rename import merge

        return merge(self, name, into, undo=undo, dry_run=dry_run)

    def accept_proposal(self, number: int, *, dry_run: bool = False) -> str:
        """Apply a proposal of bank/proposals.md to memory.md; the diff."""
        from .reflect.proposals import accept

        return accept(self, number, dry_run)

    def refuse_proposal(self, number: int, *, dry_run: bool = False) -> str:
        """Never propose that again; the diff of bank/proposals.md."""
        from .reflect.proposals import refuse

        return refuse(self, number, dry_run)

    def forget(self, *, apply: bool = False, suggest: bool = False, **selectors: Any) -> Forgetting:
        """Replace lines by tombstones and take every copy of them out; without `apply` nothing changes.

        `selectors` are ids, about, source, before, expired, unused, include_exempt (forget/rules.py); all must hold. With
        `suggest`, what could go and why.
        """
        from .forget.forget import forget
        from .forget.forget import suggest as look
        from .forget.rules import Asked

        asked = Asked(**selectors)
        return look(self, asked) if suggest else forget(self, asked, apply=apply)

    # -- agents -------------------------------------------------------------------------------------------------------

    def context(
        self, message: str = "", *, budget: int | None = None, about: Sequence[str] = (), since: str | None = None,
        private: bool = False, count: Counter | None = None,
    ) -> Pack:  # fmt: skip
        """What an agent is given before it answers `message`, within `budget` tokens: core, lessons, recalled lines."""
        from .context.context import context

        return context(
            self.workspace, message, today=self.today, budget=budget, about=about, since=since, private=private,
            count=count, through=self.resident,
        )  # fmt: skip

    def chat(self, messages: Sequence[Mapping[str, Any]], **options: Any) -> Prepared:
        """The messages to send for a chat, within a budget (context/chat.py `prepare` has the options)."""
        from .context.chat import prepare

        return prepare(self.workspace, messages, today=self.today, through=self.resident, **options)

    def memories(self, message: str, *, k: int = 10, budget: int = 2000) -> Memories:
        """A fenced block of the best `k` public lines for a message, within `budget` tokens."""
        from .context.memories import memories

        return memories(self.workspace, message, today=self.today, k=k, budget=budget, through=self.resident)

    def ingest(
        self, transcript: Path | BinaryIO, *, apply: bool = False, options: IngestOptions | None = None,
        seconds: float | None = None,
    ) -> Ingested:  # fmt: skip
        """Candidate facts of a transcript, a file or an open stream; with `apply` they are retained.

        With `seconds` there is a hurry: only the newest part of a long file is looked at, and that as far as time allows.
        """
        from .ingest.ingest import IngestOptions, ingest

        return ingest(self, transcript, apply=apply, options=options or IngestOptions(), seconds=seconds)

    def ingest_exchange(
        self, user_msg: str, assistant_msg: str, *, apply: bool = True, options: IngestOptions | None = None,
        seconds: float | None = None,
    ) -> Ingested:  # fmt: skip
        """Candidate facts of one question and its answer, for the log of today; without `apply` nothing is retained."""
        from .ingest.ingest import IngestOptions, ingest_exchange

        options = options or IngestOptions(llm=False)
        return ingest_exchange(self, user_msg, assistant_msg, apply=apply, options=options, seconds=seconds)

    # -- in and out ---------------------------------------------------------------------------------------------------

    def import_(self, source: Path, options: ImportOptions | None = None) -> Imported:
        """Take in another memory: a folder of notes or a JSON export."""
        from .transfer.importing import ImportOptions, import_memory

        return import_memory(self, source, options or ImportOptions())

    def export_facts(self, query: Query, take: Callable[[Mapping[str, Any]], None], *, public: bool = False) -> int:
        """Give every fact within the filters of a query to `take`, a row each; how many there were."""
        from .transfer.export import export_facts

        return export_facts(self, query, take, public)

    def export_beliefs(
        self, *, about: str | None = None, as_of: date | None = None, public: bool = False
    ) -> Iterator[dict[str, Any]]:
        """Every belief with its whole history, a row for each piece of evidence."""
        from .transfer.export import export_beliefs

        return export_beliefs(self, about=about, as_of=as_of, public=public)

    # -- the index ----------------------------------------------------------------------------------------------------

    def sync(self, *, rebuild: bool = False) -> SyncReport:
        """Bring the index up to date with the files, or make it again from them."""
        from .index.maintain import index

        return index(self.workspace, rebuild=rebuild, progress=self.progress)

    def verify(self) -> Verified:
        """Compare the index, row by row, with one made again from the files."""
        from .index.maintain import verify

        return verify(self.workspace)

    def embed(self) -> EmbedReport | None:
        """Embed the lines that have no vector yet; None without a model."""
        from .vectors.embed import embed_workspace

        return embed_workspace(self.workspace, self.progress)

    def verify_vectors(self) -> VectorsChecked | None:
        """Look at every vector, and at what the quick search misses of them; None without a model."""
        from .vectors.verify_vectors import verify_vectors

        return verify_vectors(self.workspace)

    def evaluate(self, questions: Path, options: EvalOptions) -> Evaluation:
        """Measure recall on labelled questions."""
        from .evaluation.evaluate import evaluate

        return evaluate(self.workspace, questions, options, self.progress)

    def label(self, question: str, citations: Sequence[str], **options: Any) -> Labelled:
        """Add a labelled question to a file of the workspace (evaluation/labels.py has the options)."""
        from .evaluation.labels import label

        return label(self.workspace, question, citations, **options)

    # -- open and close -----------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Let go of the index; the next call opens it again."""
        if self.resident:
            self.resident.close()

    def __enter__(self) -> Memory:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _as_of(self, written: str | None) -> date | None:
        from .language.flags import last_day

        return last_day("--as-of", written, self.today)


_SHORT = {"confidence": "c", "when": "t", "importance": "i", "source": "src", "supports": "for"}


def _written(value: Any) -> list[str]:
    """An attribute's value as the grammar reads it: one string for each."""
    if isinstance(value, bool):
        return ["true" if value else "false"]
    return [str(each) for each in value] if isinstance(value, list | tuple) else [str(value)]
