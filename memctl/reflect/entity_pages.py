"""Facts -> the body of a managed block, in Markdown: entity pages, world, experience, lessons. One fact a line, each cited.

The text of a fact is data: it may look like Markdown, but it never opens a block, ends ours or unstrikes what is struck.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from ..facts import Citation, Kind, Period
from ..language.names import entity_key, heads, is_han, stem_word
from ..markdown.escape import heading, link, literal, quoted, relative
from .lessons import Strategy, Task, TaskOutcome

_NEWEST = 3  # citations shown of what was said or done again and again


class PageLine(NamedTuple):
    """A fact as a page shows it. `entities` are named as their pages name them, the subject first; `also` are twins.

    `valid` is when it was true as far as is known today, `replaced_by` where its successor stands; of what is `over`
    without one, the successor may not be shown.
    """

    text: str
    day: str | None
    valid: Period
    citation: Citation
    ref: str
    kind: Kind
    entities: tuple[str, ...] = ()
    slot: str | None = None
    importance: float | None = None
    replaced_by: Citation | None = None
    retracted: bool = False
    also: tuple[Citation, ...] = ()
    over: bool = False


class BeliefLine(NamedTuple):
    """A belief as a page shows it: `trend` is rising, falling or steady, `citation` its place in bank/opinions.md."""

    text: str
    confidence: float
    trend: str
    contested: bool
    citation: Citation
    ref: str
    count_for: int = 0
    count_against: int = 0


class About(NamedTuple):
    """All that an entity's page tells: (slot, current line) pairs, beliefs, plans, history, (name, page, shared facts).

    `pages` are the pages of other names, to link to.
    """

    name: str
    now: Sequence[tuple[str, PageLine]] = ()
    beliefs: Sequence[BeliefLine] = ()
    plans: Sequence[PageLine] = ()
    timeline: Sequence[PageLine] = ()
    related: Sequence[tuple[str, str | None, int]] = ()
    maybe_same: Sequence[str] = ()
    pages: Mapping[str, str] = {}

    @property
    def names(self) -> set[str]:
        """Everybody whom the lines name."""
        lines = (*(line for _, line in self.now), *self.plans, *self.timeline)
        return {name for line in lines for name in line.entities}


# -- bodies -----------------------------------------------------------------------------------------------------------


def entity_body(about: About, page: str) -> str:
    """The body of an entity's block on `page`; a section that has nothing to tell is left out. Empty for no facts.

    What is listed comes in an order of its own, not in that of the arguments; a timeline runs from old to new.
    """
    place = _PageContext.of(
        page, about.name, {**about.pages, **{name: path for name, path, _ in about.related if path}}
    )
    now = ((entity_key(slot), slot, _age(line), _state(line, place, slot)) for slot, line in about.now)
    related = ((*_closeness(name, shared), _related(name, shared, place)) for name, _, shared in about.related)
    sections = {
        "Now": _listed(now),
        "Beliefs": _listed((*_rank(held), _belief(held, place)) for held in about.beliefs),
        "Plans": _listed((_age(line), _event(line, place)) for line in about.plans),
        "Timeline": _listed((_age(line), _event(line, place)) for line in about.timeline),
        "Related": _listed(related),
        "Maybe the same": _listed((entity_key(other), _maybe(about.name, other)) for other in about.maybe_same),
    }
    return "\n\n".join(f"## {title}\n\n{items}" for title, items in sections.items() if items)


def world_body(lines: Sequence[PageLine], page: str, name: str = "", pages: Mapping[str, str] | None = None) -> str:
    """The durable facts of one entity, then its slots, each from old to new; what no longer holds is struck through.

    `name` is the entity whose list it is, `pages` the page of each other entity by name (to link to it).
    """
    place = _PageContext.of(page, name, pages)
    return _listed(((line.slot or "").casefold(), _age(line), _state(line, place, line.slot or "")) for line in lines)


def experience_body(
    lines: Sequence[PageLine], page: str, name: str = "", pages: Mapping[str, str] | None = None
) -> str:
    """What was done, oldest first, each line led by its day. The arguments are those of `world_body`."""
    place = _PageContext.of(page, name, pages)
    return _listed((_age(line), _event(line, place)) for line in lines)


def lessons_body(tasks: Sequence[Task], page: str) -> str:
    """A `###` section a task with its strategies, the reliable ones first, and why each failed."""
    return "\n\n".join(f"### {task_heading(task)}\n\n{_strategies(task, _PageContext(page))}" for task in tasks)


def task_heading(task: Task) -> str:
    """The heading of a task, without its hashes: its name, else the entity it is about."""
    return heading(task.name or (f"{task.entity} (no task named)" if task.entity else "Without a task"))


# -- one line ---------------------------------------------------------------------------------------------------------


class _PageContext(NamedTuple):
    """Where a line will stand: the page, whose it is, and the pages of others by `entity_key`."""

    page: str
    name: str = ""
    pages: Mapping[str, str] = {}

    @classmethod
    def of(cls, page: str, name: str, pages: Mapping[str, str] | None) -> _PageContext:
        return cls(page, name, {entity_key(other): path for other, path in (pages or {}).items()})


def _listed(ranked: Iterable[tuple[Any, ...]]) -> str:
    """The list of what stands last in each tuple, in the order of the tuples, each item once."""
    return "\n".join(f"- {item}" for item in dict.fromkeys(each[-1] for each in sorted(ranked)))


def _joined(*parts: str) -> str:
    return " · ".join(filter(None, parts))


def _state(line: PageLine, place: _PageContext, slot: str = "") -> str:
    """What holds, or held: its slot, the words, since when if the log's day does not say it, the proof."""
    words = _subject(line, place) + _words(line, struck=line.retracted or line.over or line.replaced_by is not None)
    shown = f"**{literal(slot)}**: {words}" if literal(slot) else words
    return _joined(shown, _span(line), *_remarks(line, place), _proof(line, place))


def _event(line: PageLine, place: _PageContext) -> str:
    """What happened, led by when. What was true in its time is not struck through, only what never was."""
    when, words = _when(line), _subject(line, place) + _words(line, struck=line.retracted)
    return _joined(when, words, *_remarks(line, place), _proof(line, place, when))


def _words(line: PageLine, struck: bool) -> str:
    words = quoted(line.text, struck)
    return f"~~{words}~~" if struck and words else words  # four tildes would open a code block


def _remarks(line: PageLine, place: _PageContext) -> Iterator[str]:
    if line.kind is Kind.OPINION:
        yield "opinion"
    others = [
        name for name in _others(line, place) if name != _subject_name(line, place) and not _names(line.text, name)
    ]
    if others:
        yield "with " + ", ".join(_entity(name, place) for name in others)
    if line.retracted and line.replaced_by is None:
        yield "never true"
    if line.replaced_by is not None:
        yield ("never true, see " if line.retracted else "→ ") + _cite(line.replaced_by, place)


def _proof(line: PageLine, place: _PageContext, said: str = "") -> str:
    """The citation of a line, and those of the newest lines that say the same."""
    twins = sorted(set(line.also) - {line.citation})
    more = f" and {len(twins) - _NEWEST} more" if len(twins) > _NEWEST else ""
    also = ", ".join(_cite(twin, place) for twin in twins[-_NEWEST:])
    return _cite(line.citation, place, line.ref, said) + (f", also {also}{more}" if also else "")


def _belief(held: BeliefLine, place: _PageContext) -> str:
    counts = [f"{count} {side}" for side, count in (("for", held.count_for), ("against", held.count_against)) if count]
    sure = f"{held.confidence:.2f} {_TRENDS.get(held.trend, '')}".rstrip()
    proof = link("why", f"{relative(held.citation.path, place.page)}#^{held.ref}")
    return _joined(sure, quoted(held.text), "contested" if held.contested else "", ", ".join(counts), proof)


_TRENDS = {"rising": "↗", "falling": "↘", "steady": "→"}


def _related(name: str, shared: int, place: _PageContext) -> str:
    return _joined(_entity(name, place), _about_as_many(shared))


def _maybe(name: str, other: str) -> str:
    """A near name, with the command that makes the two one where it can be copied into any shell."""
    plain = all(re.fullmatch(r"[\w .&+-]+", each) for each in (name, other))
    return _joined(literal(other), f'`memctl entity merge "{other}" "{name}"`' if plain else "")


def _strategies(task: Task, place: _PageContext) -> str:
    return "\n".join(line for strategy in task.strategies for line in _strategy(strategy, place))


def _strategy(strategy: Strategy, place: _PageContext) -> Iterator[str]:
    counts = [f"{count} {word}" for count, word in ((strategy.ok, "ok"), (strategy.failed, "failed")) if count]
    cited = [_cite(one.citation, place, one.ref) for one in strategy.outcomes[-_NEWEST:]]
    more = len(strategy.outcomes) - len(cited)
    proof = ", ".join(cited) + (f" and {more} more" if more else "")
    yield f"- **{', '.join(strategy.labels)}** · " + _joined(quoted(strategy.name), ", ".join(counts), proof)
    for one in _reasons(strategy.outcomes)[-_NEWEST:]:
        yield "  - " + _joined(f"failed: {quoted(one.why or '')}", _cite(one.citation, place, one.ref))


def _reasons(outcomes: Sequence[TaskOutcome]) -> list[TaskOutcome]:
    """The newest failure with each reason, in the order of the outcomes."""
    newest = {" ".join(one.why.casefold().split()): one for one in outcomes if one.why and not one.ok}
    return [one for one in outcomes if one in newest.values()]


# -- order, time, numbers ---------------------------------------------------------------------------------------------


def _age(line: PageLine) -> tuple[str, str, Citation, str]:
    """The order of time: when it became true, then when it was told; what has no date comes first."""
    begun = line.valid.first or line.valid.last
    return (str(begun) if begun else line.day or "", line.day or "", line.citation, line.ref)


def _rank(held: BeliefLine) -> tuple[bool, str, str]:
    """What is held comes before what is doubted; among each the words decide, so that a number moves no line."""
    return (held.confidence < 0.5, held.text.casefold(), held.ref)


def _closeness(name: str, shared: int) -> tuple[int, str]:
    """By the count as shown, so that one more shared fact seldom moves a line."""
    return (-_floored(shared), entity_key(name))


def _floored(count: int) -> int:
    """`count` up to 4, then the nearest of 5, 10, 20, 50, 100 … below."""
    digit, unit = int(str(count)[0]), 10 ** (len(str(count)) - 1)
    return count if count < 5 else unit * max(step for step in (1, 2, 5) if step <= digit)


def _about_as_many(count: int) -> str:
    return f"{_floored(count)}+" if count >= 5 else str(count)


def _when(line: PageLine) -> str:
    first, last = line.valid
    if first is None and last is None:
        return line.day or ""
    if first is None:
        return f"until {last}"
    return _start(first, line) if last is None else str(line.valid)


def _span(line: PageLine) -> str:
    """When it was true, as far as the day of the log does not tell."""
    first, last = line.valid
    if last is None:
        return f"since {_start(first, line)}" if first and str(first) != line.day else ""
    return _when(line) if _when(line) != line.day else ""


def _start(first: date, line: PageLine) -> str:
    """A new year's day that is not the log's was most likely written as a year (`t=2009..`)."""
    return f"{first.year:04d}" if (first.month, first.day) == (1, 1) and str(first) != line.day else str(first)


# -- entities and citations -------------------------------------------------------------------------------------------


def _others(line: PageLine, place: _PageContext) -> list[str]:
    own = entity_key(place.name) if place.name else None
    return [name for name in dict.fromkeys(line.entities) if entity_key(name) != own]


def _names(text: str, name: str) -> bool:
    """True when a word of the name, in any form, or the name in Han characters stands in the text."""
    words = {stem_word(word) for word in entity_key(name).split() if len(word) > 2 and not is_han(word[0])}
    return bool(words & heads(text)) if words else name in text


def _subject_name(line: PageLine, place: _PageContext) -> str | None:
    """Whom a line is about first, when that is not whose page this is."""
    others = _others(line, place)
    return others[0] if others and line.entities[0] == others[0] else None


def _subject(line: PageLine, place: _PageContext) -> str:
    name = _subject_name(line, place)
    return f"{_entity(name, place)}: " if name else ""


def _entity(name: str, place: _PageContext) -> str:
    """A name with a link that works on GitHub too, and in Obsidian whatever the page is called."""
    path, shown = place.pages.get(entity_key(name)), literal(name) or "?"
    return link(shown, relative(path, place.page)) if path else shown


def _cite(citation: Citation, place: _PageContext, ref: str = "", said: str = "") -> str:
    """`[2025-07-04#L12](../../memory/2025-07-04.md#L12 "f-1a2b3c4d")`; without the day where the line has `said` it.

    The id is the link's title: it can be followed when the line moves, and Obsidian does not take it for a second block id.
    """
    path = PurePosixPath(citation.path)
    name = path.stem if citation.path.startswith("memory/") else path.name
    lines = str(citation).removeprefix(f"{citation.path}#")
    shown = lines if name == said else f"{literal(name)}#{lines}"
    return link(shown, f"{relative(citation.path, place.page)}#{lines}", ref)
