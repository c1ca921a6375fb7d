"""Which lines a call of forget means, why each, and which are left alone because of what they are about."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import NamedTuple

from ..beliefs.page_read import read_entries
from ..entities.names_of_lines import KnownNames
from ..errors import MemctlError, NothingFound, Usage
from ..facts import Fact, Kind, Span, is_trusted
from ..index.index import Index
from ..index.open_memory import OpenMemory
from ..index.queries.entries import Filter, by_refs
from ..index.queries.forget import (
    MAY_GO,
    fixed,
    forgettable,
    outdated_before,
    said_about,
    said_before,
    said_twice,
    sourced,
    tombstones,
    unneeded,
    with_an_end,
    with_ids,
    with_successors,
)
from ..index.queries.names import resolve
from ..index.reread import Seen, reread
from ..index.row import Entity, Row
from ..language.names import entity_key
from ..markdown.evidence_line import OPINIONS
from ..markdown.grammar import parse
from ..markdown.lines import Role, content_of, split_lines
from ..markdown.page import live_blocks
from ..markdown.tombstones import BLOCK
from ..notes.files import read_page
from ..notes.workspace import Workspace
from ..truth.judge import Judgement, judge
from .erase import cited, gone_with
from .exempt import classes
from .rules import Asked, exempt, expired, is_from, ran_out

__all__ = ["Chosen", "Selection", "select", "suggested"]

_CORE = "memory.md"


class Chosen(NamedTuple):
    """An entry that is to be forgotten, as it stands on disk, and why."""

    entry: Row
    seen: Seen
    content: str
    fact: Fact | None
    reason: str = ""

    @property
    def span(self) -> Span:
        """Its lines on the page."""
        return Span(self.seen.line, self.seen.end_line)

    @property
    def day(self) -> date | None:
        """When it was told."""
        return date.fromisoformat(self.entry.day) if self.entry.day else None


@dataclass(slots=True)
class Selection:
    """What is chosen, how many lines are exempt by their reason, ids forgotten before, and what a person must see to."""

    chosen: list[Chosen] = field(default_factory=list)
    exempt: Counter[str] = field(default_factory=Counter)
    already: list[Row] = field(default_factory=list)
    left: list[str] = field(default_factory=list)


def select(memory: OpenMemory, asked: Asked) -> Selection:
    """The lines that all selectors mean. Usage for a name that several bear, NothingFound for an id that nothing has."""
    workspace, index, today = memory.workspace, memory.index, memory.today
    found = Selection()
    ids = _known_ids(index, asked, found)
    if asked.ids and not ids:
        return found
    conditions, whom = _conditions(index, asked, ids)
    conditions += [with_an_end(today)] if asked.expired else []
    conditions += [unneeded(today)] if asked.unused else []
    about = _About(index, whom)
    chosen = [one for one in _read(workspace, forgettable(index, conditions)) if _fits(one, asked, about)]
    if asked.expired:
        chosen = list(_expired(chosen, today))
    if asked.unused:
        chosen = list(_unused(workspace, index, chosen, today))
    chosen = list(_writable(chosen, found))
    if asked.about:
        found.left += [
            _by_hand(one.entry) for one in _read(workspace, fixed(index, conditions)) if _fits(one, asked, about)
        ]
    if asked.ids:
        chosen += _stating(workspace, index, chosen)
    elif not asked.include_exempt:
        chosen = list(_without_exempt(chosen, today, found.exempt))
    found.chosen = sorted(chosen, key=lambda one: (one.entry.path, one.seen.line))
    return found


def suggested(memory: OpenMemory, asked: Asked) -> Selection:
    """What could be forgotten, with the reason each; the selectors narrow it. Nothing that is exempt."""
    workspace, index, today = memory.workspace, memory.index, memory.today
    found = Selection()
    ids = _known_ids(index, asked, found)
    base, whom = _conditions(index, asked, ids)
    about = _About(index, whom)

    def those(*more: Filter) -> list[Chosen]:
        return [one for one in _read(workspace, forgettable(index, [*base, *more])) if _fits(one, asked, about)]

    all_reasons = not asked.expired and not asked.unused
    reasons: list[Iterable[Chosen]] = []
    if asked.expired or all_reasons:
        reasons.append(_expired(those(with_an_end(today)), today))
    if all_reasons:
        within = {one.entry.id for one in those(said_twice())}
        twice = _read(workspace, forgettable(index, [said_twice()]))
        reasons.append(_outdated(index, those(with_successors(today)), today))
        reasons.append(one for one in _uncited(workspace, _repeated(twice)) if one.entry.id in within)
    if asked.unused or all_reasons:
        reasons.append(_unused(workspace, index, those(unneeded(today)), today))
    first = {one.entry.id: one for reason in reversed([list(reason) for reason in reasons]) for one in reason}
    kept = _without_exempt(_writable(first.values(), found), today, found.exempt)
    found.chosen = sorted(kept, key=lambda one: (one.entry.path, one.seen.line))
    return found


# -- selectors --------------------------------------------------------------------------------------------------------


def _known_ids(index: Index, asked: Asked, found: Selection) -> tuple[str, ...]:
    """The ids asked for that lines bear; of the others, what became of them is told."""
    wanted = tuple(dict.fromkeys(ref.removeprefix("^") for ref in asked.ids))
    entries = by_refs(index, wanted)
    living = {entry.ref for entry in entries if entry.block is None}
    found.already = [entry for entry in tombstones(index, wanted) if entry.ref not in living]
    missing = [ref for ref in wanted if ref not in {entry.ref for entry in entries}]
    if missing:
        raise NothingFound(f"no line has the id ^{missing[0]}", "`memctl recall` prints the id of each line")
    for entry in entries:
        if entry.block is None and Role(entry.role) not in MAY_GO:
            found.left.append(_by_hand(entry))
        elif entry.path == OPINIONS and entry.role != Role.FACT.value:
            found.left.append(f"{entry.path}#L{entry.line} is evidence: forget the line that it cites, or the belief")
        elif entry.block and entry.block != BLOCK and entry.ref not in living:
            found.left.append(f"{entry.path}#L{entry.line} is a copy: forget the line that it cites")
    return tuple(ref for ref in wanted if ref in living)


def _by_hand(entry: Row) -> str:
    what = {"heading": "a heading", "code": "code"}.get(entry.role, "no line of its own")
    return f"{entry.path}#L{entry.line} ^{entry.ref} is {what}: edit it by hand"


def _conditions(index: Index, asked: Asked, ids: Sequence[str]) -> tuple[list[Filter], list[Entity | str]]:
    whom = [_bearer(index, name.removeprefix("@").removeprefix("[[").removesuffix("]]")) for name in asked.about]
    conditions = [said_about(index, who) for who in whom]
    conditions += [with_ids(ids)] if asked.ids else []
    conditions += [said_before(asked.before)] if asked.before else []
    conditions += [sourced(asked.source)] if asked.source else []
    return conditions, whom


def _bearer(index: Index, name: str) -> Entity | str:
    found = resolve(index, name)
    if len(found) > 1:
        raise Usage(f"{name} may be {' or '.join(e.name for e in found)}", "give the full name")
    return found[0] if found else name


class _About:
    """Whether a line names everybody asked for: marked, or plainly in its text if a page has the name."""

    def __init__(self, index: Index, whom: Sequence[Entity | str]) -> None:
        self._whom = whom
        self._known = KnownNames(index)

    def holds(self, one: Chosen) -> bool:
        written = set(one.entry.names.split("\n"))
        return all(self._is_named(who, one.content, written) for who in self._whom)

    def _is_named(self, who: Entity | str, content: str, written: set[str]) -> bool:
        if isinstance(who, Entity):
            return bool(written & {who.key, *who.keys}) or who.name in self._known.in_text(content)
        return entity_key(who) in written  # a word that no page knows as a name may be just a word


def _fits(one: Chosen, asked: Asked, about: _About) -> bool:
    return (not asked.source or is_from(one.entry.origin, asked.source)) and about.holds(one)


def _read(workspace: Workspace, entries: Sequence[Row]) -> Iterator[Chosen]:
    """The entries as they stand on disk; one that is not there any more is left out."""
    seen = reread(workspace, entries)
    for entry in entries:
        if entry.id in seen:
            role = Role(entry.role)
            text = content_of(role, seen[entry.id].raw)
            fact = parse(text) if role is Role.FACT else None
            yield (
                Chosen(entry, seen[entry.id], fact.text, fact)
                if isinstance(fact, Fact)
                else Chosen(entry, seen[entry.id], text, None)
            )


def _stating(workspace: Workspace, index: Index, chosen: Sequence[Chosen]) -> list[Chosen]:
    """The lines that stated the chosen beliefs: with them the belief would come back."""
    refs = {one.entry.ref for one in chosen if one.entry.path == OPINIONS and one.entry.kind == Kind.OPINION.value}
    if not refs:
        return []
    entries = read_entries(read_page(workspace, OPINIONS).text)[0]
    owners = {
        bullet.ref: entry.ref or ""
        for entry in entries
        for _, bullet in entry.bullets
        if entry.ref in refs and bullet.verdict == "stated" and bullet.ref
    }
    known = {one.entry.id for one in chosen}
    lines = [e for e in by_refs(index, owners) if e.block is None and e.path != OPINIONS and e.id not in known]
    return [one._replace(reason=f"states ^{owners[one.entry.ref]}") for one in _read(workspace, lines)]


# -- reasons ----------------------------------------------------------------------------------------------------------


def _expired(chosen: Iterable[Chosen], today: date) -> Iterator[Chosen]:
    for one in chosen:
        reason = expired(one.fact, one.day, today) if one.fact else None
        if reason:
            yield one._replace(reason=reason)


def _unused(workspace: Workspace, index: Index, chosen: Sequence[Chosen], today: date) -> Iterator[Chosen]:
    """Those that are no belief of the owner's, no current value of a slot, and cited nowhere."""
    verdict = judge(index, [one.entry for one in chosen], today)
    idle = [one for one in chosen if not _is_held(one.entry) and not _is_current(one.entry, verdict, today)]
    for one in _uncited(workspace, idle):
        weight = "no importance" if one.entry.importance is None else f"importance {one.entry.importance:g}"
        yield one._replace(reason=f"told on {one.entry.day}, {weight}, cited nowhere")


def _is_held(entry: Row) -> bool:
    return entry.kind == Kind.OPINION.value and is_trusted(entry.origin)


def _is_current(entry: Row, verdict: Judgement, today: date) -> bool:
    slots = verdict.claims[entry.id].slots if entry.id in verdict.claims else ()
    return bool(slots) and verdict.standings[entry.id].holds(today)


def _outdated(index: Index, chosen: Sequence[Chosen], today: date) -> Iterator[Chosen]:
    verdict = judge(index, [one.entry for one in chosen], today)
    for one in chosen:
        standing = verdict.standings[one.entry.id]
        by = verdict.entries.get(standing.replaced_by) if standing.replaced_by is not None else None
        since = by and (by.first or by.day)
        if by and since and since < outdated_before(today).isoformat():
            yield one._replace(reason=f"replaced since {since} by ^{by.ref}")


def _repeated(chosen: Iterable[Chosen]) -> Iterator[Chosen]:
    """Exact twins but for the first of each: the owner's before others', then the oldest.

    What was done or thought on another day is another event, or evidence, and no twin.
    """
    groups: dict[object, list[Chosen]] = {}
    for one in chosen:
        if one.fact:
            bare = replace(one.fact, text="", entities=(), block_id=None, confidence=None, source=None, importance=None)
            day = one.entry.day if one.fact.kind in (Kind.EXPERIENCE, Kind.OPINION) else None
            groups.setdefault((one.entry.content_key, bare, day), []).append(one)
    for group in groups.values():
        group.sort(key=lambda o: (not is_trusted(o.entry.origin), o.entry.day or "", o.entry.path, o.seen.line))
        for one in group[1:]:
            yield one._replace(reason=f"repeats {group[0].entry.path}#L{group[0].seen.line} ^{group[0].entry.ref}")


def _uncited(workspace: Workspace, chosen: Iterable[Chosen]) -> list[Chosen]:
    """Those that no line of a page cites, but for the blocks that reflect writes: its own output proves no use."""
    kept = list(chosen)
    if not kept:
        return []
    wanted = gone_with((o.entry.ref for o in kept), ((o.entry.path, o.span, o.entry.ref) for o in kept))
    own = {(o.entry.path, number) for o in kept for number in range(o.seen.line, o.seen.end_line + 1)}
    named: set[str] = set()
    for page in workspace.scan():
        try:
            text = read_page(workspace, page.path).text if page.status else ""
        except MemctlError:
            continue
        if "#L" not in text and "^" not in text:
            continue
        lines = split_lines(text.removeprefix("\ufeff"))
        copies = {number for block in live_blocks(lines) for number in range(block.begin, block.end + 1)}
        for number, line in enumerate(lines, 1):
            if number not in copies and (page.path, number) not in own:
                named |= cited(line, page.path, wanted)
    return [one for one in kept if one.entry.ref not in named]


# -- what stays -------------------------------------------------------------------------------------------------------


def _writable(chosen: Iterable[Chosen], found: Selection) -> Iterator[Chosen]:
    """What stands on pages that memctl may write: those at the root are the owner's alone, but for the core."""
    for one in chosen:
        if "/" in one.entry.path or one.entry.path == _CORE:
            yield one
        else:
            place = f"{one.entry.path}#L{one.seen.line} ^{one.entry.ref}"
            found.left.append(f"{place} is on a page that memctl never writes: edit it by hand")


def _without_exempt(chosen: Iterable[Chosen], today: date, counts: Counter[str]) -> Iterator[Chosen]:
    """What is not exempt. A `ttl=` that ran out is its author's own word, whatever the line is about."""
    for one in chosen:
        why = exempt(one.entry.path, one.fact, one.content, one.entry.importance, classes())
        if why and not (one.fact and ran_out(one.fact, one.day, today)):
            counts[why] += 1
        else:
            yield one
