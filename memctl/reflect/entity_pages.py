"""Facts -> the body of a managed block, in Markdown: entity pages, world, experience, lessons. One fact a line, each cited.

The text of a fact is data: it may look like Markdown, but it never opens a block, ends ours or unstrikes what is struck.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from pathlib import PurePosixPath
from typing import NamedTuple

from ..facts import Citation
from ..hits import Hit
from ..index.rows import rows_of, task_key
from ..language.names import entity_key, heads, is_han, stem_word
from ..language.words import languages, pattern
from ..markdown.escape import heading, inline, link, literal, many, relative
from ..markdown.front_matter import with_names
from ..markdown.grammar import OPINIONS
from .lessons import LISTED, Failure, Strategy, Task, best

_NEWEST = 3  # citations shown of what was done again and again
_TRENDS = {"rising": " ↗", "falling": " ↘"}


class PageLine(NamedTuple):
    """A fact as a page shows it, where its successor stands if the page names that, the line that it replaced itself, and a
    newer one that may have replaced it: nobody has said so yet."""

    hit: Hit
    replaced_by: Citation | None = None
    before: Hit | None = None
    perhaps: Hit | None = None
    due: str = ""  # that it, or what waits below its slot, was to be on a day: it has passed, and nobody said more


class BeliefLine(NamedTuple):
    """A belief as a page shows it."""

    text: str
    confidence: float
    trend: str  # rising, falling or steady
    contested: bool
    ref: str  # its id in bank/opinions.md
    count_for: int = 0
    count_against: int = 0
    holder: str = ""  # empty on the holder's own page
    before: tuple[str, ...] = ()  # the words of what it replaced


class About(NamedTuple):
    """All that pages show of a name: on its own page in this order, or on the shared pages where it has none."""

    name: str
    defined: PageLine | None = None  # who or what it is, where the page itself does not say so
    now: Sequence[PageLine] = ()  # lines that hold, those of slots first
    beliefs: Sequence[BeliefLine] = ()
    plans: Sequence[PageLine] = ()
    events: Sequence[PageLine] = ()
    related: Sequence[str] = ()  # names
    world: Sequence[PageLine] = ()  # for the page that names without one share, as the next
    experience: Sequence[PageLine] = ()
    pages: Set[int] = frozenset()  # the numbers of the pages that all this was made from

    @property
    def is_empty(self) -> bool:
        """True if there is nothing to tell on its own page."""
        return not (self.defined or self.now or self.beliefs or self.plans or self.events or self.related)

    @property
    def names(self) -> set[str]:
        """Everybody whom the lines name."""
        lines = (self.defined, *self.now, *self.plans, *self.events, *self.world, *self.experience)
        hits = [hit for line in filter(None, lines) for hit in (line.hit, line.before, line.perhaps) if hit]
        return {*self.related, *(each.holder for each in self.beliefs)}.union(*(hit.entities for hit in hits))


class LinkContext(NamedTuple):
    """Where a line will stand, and how names are linked there."""

    page: str
    name: str = ""  # whose page it is
    pages: Mapping[str, str] = {}  # of others, by `entity_key`
    wiki: str = ""  # empty for Markdown links, else what stands in `[[…]]`: "name", or "file", by which Obsidian goes


def new_page(name: str, path: str) -> str | None:
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


def entity_body(about: About, place: LinkContext) -> str:
    """The body of an entity's block; a section that has nothing to tell is left out. Empty for no facts."""
    related = ", ".join(_entity(name, place) for name in about.related)
    now = best(about.now, lambda line: (line.hit.importance or 0, _when(line.hit), line.hit.ref))
    held = best(about.beliefs, lambda each: (each.count_for + each.count_against, each.confidence, each.ref))
    sections = {
        "Facts": _listed([*(_state(line, place) for line in now), *_rest(about.now, now, "fact list")]),
        "Beliefs": _listed([*(_belief(each, place) for each in held), *_rest(about.beliefs, held, "belief list")]),
        "Plans": _listed(_event(line, place) for line in about.plans),
        "What happened": _listed(_event(line, place) for line in about.events),
        "Related": related,
    }
    parts = [f"## {title}\n\n{items}" for title, items in sections.items() if items]
    first = _listed([_state(about.defined, place)] if about.defined else ())
    return "\n\n".join(filter(None, [first, *parts]))


def world_body(lines: Sequence[PageLine], place: LinkContext, done: bool = False) -> str:
    """The durable facts of one name, each slot from old to new; what holds no more is struck through and cites what does.
    What was `done`, and what is of its day, is led by its day."""
    dated = [done or (line.hit.key is None and is_of_its_day(line.hit.content)) for line in lines]
    return _listed((_event if its else _state)(line, place) for line, its in zip(lines, dated, strict=True))


def is_of_its_day(text: str) -> bool:
    """True where a word means the day of telling ("currently", «на этой неделе», 最近): on a later day it says something else."""
    return bool(re.search(f"(?i){pattern(languages(), 'pages', 'passing')}", text))


def lessons_body(tasks: Sequence[Task], place: LinkContext) -> str:
    """A `###` section a task: how often it worked, its strategies, the reliable ones first, and why each failed."""
    parts = []
    for task in tasks:
        name = task.name or (f"{task.entity} (no task named)" if task.entity else "Without a task")
        parts.append(f"### {heading(name)}\n\n{_lesson(task, place)}")
    return "\n\n".join(parts)


def task_of_section(title: str) -> str:
    """The key of the task that a section of bank/lessons.md is about, by its title."""
    entity = title.removesuffix(" (no task named)")
    if entity != title:
        return task_key("", entity)
    return "@" if title == "Without a task" else task_key(title)


def failures_body(failures: Sequence[Failure]) -> str:
    """What failed for one reason at several tasks, the commonest: `lock timeout: deploy 2, migrate 1`."""
    counts = (", ".join(f"{literal(task)} {count}" for task, count in each.counts[:LISTED]) for each in failures)
    return _listed(f"{inline(each.reason)}: {count}" for each, count in zip(failures[:LISTED], counts, strict=False))


def _listed(items: Iterable[str]) -> str:
    return "\n".join(f"- {item}" for item in dict.fromkeys(items))


def _rest(known: Sequence[object], shown: Sequence[object], command: str) -> Iterator[str]:
    """How many more there are than a page shows, and what lists them."""
    if len(known) > len(shown):
        yield f"and {len(known) - len(shown):,} more: `memctl {command}`"


def _joined(*parts: str) -> str:
    return " · ".join(filter(None, parts))


def _state(line: PageLine, place: LinkContext) -> str:
    """What holds, or held: its slot, the words, since when if the log's day does not say it, the proof; below it what it replaced."""
    hit = line.hit
    words = _subject(hit, place) + _words(hit, struck=hit.retracted or hit.superseded_by is not None)
    shown = f"**{literal(hit.key)}**: {words}" if hit.key and literal(hit.key) else words
    head = _joined(shown, _span(hit), *_remarks(line, place), _proof(hit, place))
    for name, other in (("perhaps replaced by", line.perhaps if hit.key else None), ("before", line.before)):
        if other:
            words = _words(other, struck=other is line.before)
            due = line.due if other is line.perhaps else ""
            head += f"\n  - {name}: {_joined(words, _span(other), due, _proof(other, place))}"
    return head


def _event(line: PageLine, place: LinkContext) -> str:
    """What happened, led by when. What was true in its time is not struck through, only what never was."""
    hit = line.hit
    when, cited = _when(hit), _proof(hit, place)
    words = _subject(hit, place) + _words(hit, struck=hit.retracted)
    lead, *rest = (cited,) if cited.startswith(f"[{when}](") else (when, cited)
    return _joined(lead, words, *_remarks(line, place), *rest)


def _words(hit: Hit, struck: bool) -> str:
    words = inline(hit.content, struck)
    return f"~~{words}~~" if struck and words else words  # four tildes would open a code block


def _remarks(line: PageLine, place: LinkContext) -> Iterator[str]:
    who, others = _who(line.hit, place)
    others = [name for name in others if name != who and not _says(line.hit.content, name)]
    if others:
        yield "with " + ", ".join(_entity(name, place) for name in others)
    if line.replaced_by is not None:
        yield ("never true, see " if line.hit.retracted else "→ ") + cite(line.replaced_by, place)
    elif line.hit.retracted:
        yield "never true"
    if line.perhaps and not line.hit.key:
        yield "perhaps replaced by " + cite(line.perhaps.source, place, line.perhaps.ref)
    if not (line.perhaps and line.hit.key):
        yield line.due


def _proof(hit: Hit, place: LinkContext) -> str:
    """The citation of a line, and that of the newest line which says the same."""
    twins = sorted(set(hit.also) - {hit.source})
    also = f", {many(len(twins) + 1, 'time')}, last {cite(twins[-1], place)}" if twins else ""
    return cite(hit.source, place, hit.ref) + also


def _belief(held: BeliefLine, place: LinkContext) -> str:
    counts = [f"{count} {side}" for side, count in (("for", held.count_for), ("against", held.count_against)) if count]
    sure = f"{held.confidence:.2f}{_TRENDS.get(held.trend, '')}"
    words = (f"{_entity(held.holder, place)}: " if held.holder else "") + inline(held.text)
    why = link("why", f"{relative(OPINIONS, place.page)}#^{held.ref}")
    head = _joined(words, sure, "contested" if held.contested else "", ", ".join(counts), why)
    return "\n".join([head, *(f"  - before: ~~{inline(old, struck=True)}~~" for old in held.before)])


def _lesson(task: Task, place: LinkContext) -> str:
    """How often a task worked and failed, with the newest reasons, each once; below it its strategies."""
    outcomes = [one for strategy in task.strategies for one in strategy.outcomes]
    newest_of_reason = {" ".join(one.why.casefold().split()): one for one in outcomes if one.why and not one.ok}
    failures = sorted(newest_of_reason.values(), key=lambda one: (one.day or "", one.citation))[-_NEWEST:]
    ok = sum(one.ok for one in outcomes)
    failed = len(outcomes) - ok
    why = ", ".join(cite(one.citation, place, one.ref, one.why or "") for one in failures)
    reasons = f" ({why})" if failures else ""
    total = ", ".join(filter(None, [f"{ok} ok" if ok else "", f"{failed} failed{reasons}" if failed else ""]))
    ways = (_strategy(strategy, place) for strategy in task.shown)
    return f"{total}\n\n" + _listed([*ways, *_rest(task.strategies, task.shown, "lessons --all")])


def _strategy(strategy: Strategy, place: LinkContext) -> str:
    counts = [f"{count} {word}" for count, word in ((strategy.ok, "ok"), (strategy.failed, "failed")) if count]
    cited = [cite(one.citation, place, one.ref) for one in strategy.outcomes[-_NEWEST:]]
    more = len(strategy.outcomes) - len(cited)
    shown = ", ".join(cited) + (f" and {more} more" if more else "")
    return f"**{', '.join(strategy.labels)}** · " + _joined(inline(strategy.name), ", ".join(counts), shown)


def _when(hit: Hit) -> str:
    first, last = hit.valid
    if first is None:
        return f"until {last}" if last else hit.day or ""
    if last is not None:
        return str(hit.valid)
    # A new year's day that is not the log's was most likely written as a year (`t=2009..`).
    return f"{first.year:04d}" if (first.month, first.day) == (1, 1) and str(first) != hit.day else str(first)


def _span(hit: Hit) -> str:
    """When it was true, as far as the day of the log does not tell."""
    when = _when(hit)
    return "" if when == (hit.day or "") else f"since {when}" if hit.valid.last is None else when


def _who(hit: Hit, place: LinkContext) -> tuple[str | None, list[str]]:
    """Whom a line is about (None for the one whose page this is, and for nobody); all whom it names but that one."""
    own = entity_key(place.name) if place.name else None
    others = [name for name in dict.fromkeys(hit.entities) if entity_key(name) != own]
    subject = hit.entities[0] if hit.entities else None
    return (subject if subject in others else None), others


def _says(text: str, name: str) -> bool:
    """True when a word of the name, in any form, or the name in Han characters stands in the text."""
    words = {stem_word(word) for word in entity_key(name).split() if len(word) > 2 and not is_han(word[0])}
    return bool(words & heads(text)) if words else name in text


def _subject(hit: Hit, place: LinkContext) -> str:
    """`Anna: ` before a line about somebody else than the page is; empty where it is about whose page this is."""
    name, _ = _who(hit, place)
    return f"{_entity(name, place)}: " if name and not entity_key(hit.content).startswith(entity_key(name)) else ""


def _entity(name: str, place: LinkContext) -> str:
    """A name with a link to its page, as the workspace writes links."""
    path, shown = place.pages.get(entity_key(name)), literal(name) or "?"
    if not path:
        return shown
    file = PurePosixPath(path).stem
    if not place.wiki or shown != name or set("|#^[]") & {*name, *file}:
        return link(shown, relative(path, place.page))
    return f"[[{name}]]" if place.wiki == "name" or file == name else f"[[{file}|{name}]]"


def cite(citation: Citation, place: LinkContext, ref: str = "", words: str = "") -> str:
    """`[2025-07-04](../../memory/2025-07-04.md#L12 "f-1a2b3c4d")`, or with `words` there; it can be followed when the line moves.

    The id is the link's title, for Obsidian would take `^id` for a second block id.
    """
    path = PurePosixPath(citation.path)
    lines = str(citation).removeprefix(f"{citation.path}#")
    shown = words or (path.stem if citation.path.startswith("memory/") else path.name)
    return link(literal(shown), f"{relative(citation.path, place.page)}#{lines}", ref)
