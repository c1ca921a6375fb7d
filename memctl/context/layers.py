"""The layers of a context, each from the index and read again from disk: lessons, recent lines, what belongs to a message."""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import replace
from datetime import date
from itertools import islice

from ..facts import Kind, is_trusted
from ..hits import BY_WORDS, Hit, more_line
from ..index.open_memory import OpenMemory
from ..index.queries.entity_names import KnownNames
from ..index.queries.entries import Query, by_refs, copied_places, own_lines, recent_tasks, slot_names
from ..index.queries.evidence import outcomes_of
from ..language.analyzer import query_terms, terms
from ..language.names import entity_key, mentions
from ..language.tokens import Counter
from ..notes.workspace import CORE_PAGE, Workspace
from ..recall.entry_hits import hits_of, with_neighbours
from ..recall.lookup import current_slots, with_replacements
from ..recall.query import question_in, with_times
from ..recall.recall import WEAK, recall_in
from ..recall.surroundings import most_hits, plain_words, repeats
from ..recall.wording import has_wording, names_mentioned
from ..reflect.lessons import LABELS, lessons, outcome_of
from .pack import Item, fitting, is_open, item_of, lesson_item, newest_days, slot_item


def core_page(workspace: Workspace) -> str:
    """memory.md; where there is none, the MEMORY.md that other hosts keep."""
    return next((page for page in (CORE_PAGE, "MEMORY.md") if (workspace.root / page).is_file()), CORE_PAGE)


_SHARES = {"known": 0.1, "lessons": 0.15, "recent": 0.25, "recalled": 0.2, "session": 0.1}
_RECENT = 80  # newest lines that are looked at
_RECALLED = 30  # lines that are looked at for a message, or more where there is room for them
_MOST = 2000  # lines looked at where most are untrusted
_BELIEFS, _NAMED, _SLOTS = 5, 3, 6
_LEAST_KNOWN = 250  # tokens for what is known, however small the budget: some ten facts
_TASKS = 30  # whose outcomes were told last
_OUTCOMES = 40  # the newest of each task: they are read from disk
_TAUGHT = 4
_MOST_LESSONS = 60


class Layers:
    """What may be told, one call long. `filters` holds for every layer; `warnings` says what vectors could not do."""

    def __init__(self, memory: OpenMemory, count: Counter, filters: Query, core: str) -> None:
        self._memory, self._index, self._today, self._count = memory, memory.index, memory.today, count
        self._filters, self.workspace = filters, memory.workspace
        self._core_pages = {core_page(memory.workspace), *memory.workspace.settings.pinned}
        self._core = [plain_words(line) for line in core.split("\n") if line.strip()]
        self.warnings: list[str] = []
        self.rest = ""  # where what belongs to the message goes on
        self.found: list[Hit] = []  # what recall found for the message and may be told
        self.outside: Tally[str] = Tally()  # in how many untrusted lines that it found each term stands

    def cost(self, items: Iterable[Item]) -> int:
        """Tokens of some items."""
        return sum(self._count(item.line) + 1 for item in items)

    def share(self, layer: str) -> float:
        """What part of the budget that the core leaves a layer may take; what it does not take flows on to those behind it.

        In a chat, `recalled` and `session` are parts of the whole budget.
        """
        return dict(self.workspace.settings.shares).get(layer, _SHARES[layer])

    def known(self, left: int) -> list[Item]:
        """What holds now for the owner, slot by slot, in a small part of what is left. The same for any message."""
        room = min(max(int(left * self.share("known")), _LEAST_KNOWN), left // 2)
        return fitting(self._fresh(self._held("", "known")), room, self._count)

    def _held(self, name: str, layer: str, section: str = "") -> list[Item]:
        """The current values of the slots of an entity, or of the owner, as items."""
        slots = self._index.remembered(f"slots {self._today} {name}", lambda: self._slots(name))
        open_slots = ((hit, newer) for hit, newer in slots if self._may_enter(hit))
        return [slot_item(h, n if n and self._may_enter(n) else None, layer, section) for h, n in open_slots]

    def _slots(self, name: str) -> list[tuple[Hit, Hit | None]]:
        """The value of each slot, and the line that may have replaced it in words."""
        held = current_slots(self._memory, name)
        rows = by_refs(self._index, filter(None, (hit.perhaps_superseded_by for hit in held)))
        newer = {hit.ref: hit for hit in hits_of(self._memory, (row for row in rows if row.block is None)).values()}
        return [(hit, newer.get(hit.perhaps_superseded_by or "")) for hit in held]

    def lessons(self, room: int, before: Sequence[Item] = ()) -> list[Item]:
        """The owner's own lines on bank/lessons.md, then what was counted: reliable ways first. The same for any message."""
        items = self._index.remembered(f"lessons {self._today} {self._filters}", self._all_lessons)
        return fitting(self._fresh(items), room, self._count, before)

    def _all_lessons(self) -> list[Item]:
        written: list[Item] = []
        if not self._filters.about and not self._filters.days:
            entries = [e for e in own_lines(self._index, "bank/lessons.md") if e.role in ("item", "fact")]
            hits = hits_of(self._memory, entries).values()
            written = [item_of(hit, "lessons", "lessons") for hit in hits if self._may_enter(hit)]
        tasks = recent_tasks(self._index, self._today, _TASKS)
        return [*written, *self._counted(tasks, "lessons")][:_MOST_LESSONS]

    def _counted(self, tasks: Sequence[str], layer: str) -> list[Item]:
        """What the outcomes of some tasks teach, best known first."""
        days, about = self._filters.days, set(map(entity_key, self._filters.about))
        most = -1 if about or days else _OUTCOMES  # what a filter leaves may be older
        entries = outcomes_of(self._index, tasks, self._today, most)
        counts = Tally(entry.task for entry in entries)
        lately = {entry.ref for entry in entries if counts[entry.task] == most}  # of tasks that may have older ones
        hits = hits_of(self._memory, entries).values()
        told = [outcome for hit in hits if self._may_enter(hit) and (outcome := outcome_of(hit))]
        if days:
            told = [outcome for outcome in told if outcome.day and days.holds(date.fromisoformat(outcome.day))]
        if about:
            told = [outcome for outcome in told if about & set(map(entity_key, outcome.entities))]
        found = [(task, strategy) for task in lessons(told) for strategy in task.strategies]
        found.sort(key=lambda pair: (LABELS.index(pair[1].labels[0]), -(pair[1].ok + pair[1].failed)))
        return [
            lesson_item(task, way, layer, _OUTCOMES if way.outcomes[-1].ref in lately else None) for task, way in found
        ]

    def recent(self, room: int, before: Sequence[Item] = ()) -> list[Item]:
        """The newest lines of the logs that fit, oldest first; what was replaced since is not among them."""
        hits = self._open(replace(self._filters, words="", times=()), _RECENT)
        wanted = [h for h in hits if h.day and h.source.path.startswith("memory/") and not h.superseded_by]
        marked = with_replacements(self._memory, wanted)
        places = {hit.ref: str(hit.source) for hit in marked}
        said = [plain_words(item.text) for item in before]
        made = self._fresh(item_of(hit, "recent", replaced_by=places.get(_newer(hit))) for hit in marked)
        items = [item for item in made if not repeats(item.text, said)]
        return newest_days(sorted(items, key=lambda item: item.day or "", reverse=True), room, self._count)

    def recalled(self, message: str, room: int, before: Sequence[Item] = ()) -> list[Item]:
        """What belongs to a message and does not stand in `before` or the core, best first within `room`."""
        query = query_of(message, self._filters, self._today)
        if not query_terms(query.words) and not query.pasted:  # nothing is asked, not even what happened then
            return []
        found = self._open(query, most_hits(None, room, _RECALLED))
        least = WEAK * max((hit.score for hit in found), default=0.0)
        # What is far weaker than the best belongs to another question.
        found = [hit for hit in found if hit.score >= least]
        if not has_wording("why", query.words):  # that lifts lines that give a reason, replaced or not
            found.sort(key=lambda hit: hit.superseded_by is not None)
        hits = self.found = [hit for hit in with_neighbours(self._memory, found) if self._may_enter(hit)]
        places = {hit.ref: str(hit.source) for hit in hits}
        sections = {Kind.OPINION: "beliefs"}
        lines = [item_of(hit, "recalled", sections.get(hit.kind, ""), places.get(_newer(hit))) for hit in hits]
        now = fitting(self._fresh(self._now(query)), room // 3, self._count, before)
        ordered = [*now, *self._taught(query, hits), *lines[:5], *self._beliefs(query, hits), *lines[5:]]
        kept = fitting(self._fresh(ordered), room, self._count, before)
        shown = {item.source for item in (*before, *kept)}
        left = [hit.day or hit.source.path for hit in hits if str(hit.source) not in shown]
        self.rest = more_line(left, (item.day or item.source.partition("#")[0] for item in kept))
        newer = {str(hit.source): places.get(_newer(hit)) for hit in hits if _newer(hit)}
        while alone := {old for old in newer.keys() & shown if newer[old] not in shown}:
            shown -= alone  # nothing old without what came in its place, which may be old itself
        return [item for item in kept if item.source in shown]

    def _now(self, query: Query) -> Iterator[Item]:
        """What holds now of whom the message names: the current values of their slots."""
        known = KnownNames(self._index)
        written = (known.known_as(name) for name in (*query.about, *mentions(query.words)))
        said = names_mentioned(slot_names(self._index, entity_key(query.words)), query.words)
        named = {entity_key(name): name for name in (*written, *known.in_text(query.words), *said)}
        for name in list(named.values())[:_NAMED]:
            yield from self._held(name, "recalled", "now")[:_SLOTS]

    def _beliefs(self, query: Query, hits: Sequence[Hit]) -> list[Item]:
        """Opinions with their confidence of today, if they belong to the question as much as what was found."""
        least = WEAK * max((hit.score for hit in hits), default=0.0)
        found = self._open(replace(query, kinds=(Kind.OPINION,)), _BELIEFS)
        return [item_of(h, "recalled", "beliefs") for h in found if h.score >= least and not h.superseded_by]

    def _taught(self, query: Query, hits: Sequence[Hit]) -> list[Item]:
        """Lessons of the tasks that the message names or that were found for it."""
        tried = [hit.ref for hit in hits if hit.fact and hit.fact.outcome]
        held = {entry.ref: entry.task for entry in by_refs(self._index, tried) if entry.task}
        words = set(query_terms(query.words))
        named = (t for t in recent_tasks(self._index, self._today, 10 * _TASKS) if _names(t, words))
        tasks = [*islice(named, _TAUGHT), *(held[ref] for ref in tried if ref in held)]
        return self._counted(list(dict.fromkeys(tasks))[:_TAUGHT], "recalled")[:_BELIEFS]

    def _open(self, query: Query, k: int) -> list[Hit]:
        """What recall finds and may be told: `k` of it, or half of that where untrusted lines stand before them."""
        width = k
        while True:
            answer = recall_in(self._memory, query, k=width)
            self.warnings += (warning for warning in answer.warnings if warning.startswith(BY_WORDS))
            copies = copied_places(self._index, [hit.ref for hit in answer.hits])
            hits = [h for h in answer.hits if (h.source.path, h.source.line) not in copies and self._may_enter(h)]
            if 2 * len(hits) >= k or len(answer.hits) < width or width >= _MOST:
                untrusted = [hit for hit in answer.hits for _ in (hit.source, *hit.also) if not is_trusted(hit.origin)]
                self.outside |= Tally(term for hit in untrusted for term in {*terms(hit.content)})
                return hits[:k]
            width *= 4

    def _may_enter(self, hit: Hit) -> bool:
        return is_open(hit) and hit.source.path not in self._core_pages

    def _fresh(self, items: Iterable[Item]) -> list[Item]:
        """The items that the core does not say."""
        return [item for item in items if not repeats(item.text, self._core)]


def query_of(message: str, filters: Query, today: date) -> Query:
    """The question that a message asks, with the filters of the call: what looks like a filter in it is only words."""
    words = " ".join(question_in(message).split())
    return with_times(replace(filters, words=words, in_chat=True), today)


def _names(task: str, words: Set[str]) -> bool:
    """True if a message has half of the words of a task."""
    stems = set(task.split())
    return not task.startswith("@") and 2 * len(stems & words) >= len(stems)


def _newer(hit: Hit) -> str:
    """The id of the line that replaced a hit, or may have; empty where none did."""
    return hit.superseded_by or hit.perhaps_superseded_by or ""
