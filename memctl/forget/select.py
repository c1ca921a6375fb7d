"""Which lines a call of forget means, why each, and which are exempt because of what they are about."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cache
from typing import NamedTuple

from ..beliefs.opinions_page import read_entries
from ..errors import MemctlError, NothingFound
from ..facts import Fact, Kind, Span, days_before, grouped, is_trusted
from ..ids import part_id
from ..index.index import Index
from ..index.open_memory import OpenMemory, recalled_lately
from ..index.queries import traces as queries
from ..index.queries.entity_names import KnownNames, entity_named, mention_counts, unknown_name
from ..index.queries.entries import Filter, by_refs
from ..index.queries.evidence import answer_lines
from ..index.queries.filters import PINNED, Expiry, expiry_on
from ..index.reread import CurrentLine, reread, text_of
from ..index.row import Entity, Row
from ..language.dates import log_day
from ..language.names import entity_key, has_han, is_han, stem_word
from ..language.words import languages, toml
from ..markdown.blocks import unmanaged_lines
from ..markdown.escape import one_line
from ..markdown.grammar import OPINIONS, QUOTED
from ..markdown.lines import SEALED, Role
from ..markdown.markers import FORGOTTEN
from ..notes.edits import Edit
from ..notes.files import read_page
from ..notes.workspace import CORE_PAGE, Workspace
from ..truth.judge import judge
from .erase import Gone, cited


@dataclass(frozen=True, slots=True)
class Selectors:
    """What a call means; all that are given must hold."""

    ids: tuple[str, ...] = ()
    about: tuple[str, ...] = ()
    source: str | None = None
    before: date | None = None
    expired: bool = False
    unused: bool = False
    include_exempt: bool = False

    @property
    def any(self) -> bool:
        """True if there is a selector at all."""
        return bool(self.ids or self.about or self.source or self.before or self.expired or self.unused)


class Chosen(NamedTuple):
    """An entry that is to be forgotten, as it stands on disk, and why."""

    entry: Row
    seen: CurrentLine
    content: str
    fact: Fact | None
    reason: str = ""

    @property
    def place(self) -> str:
        """Its first line and its id, for a note."""
        return f"{self.entry.path}#L{self.seen.cited.line} ^{self.entry.ref}"

    @property
    def span(self) -> Span:
        """The numbers of its first and last line."""
        return Span(self.seen.cited.line, self.seen.cited.end_line)

    @property
    def is_belief(self) -> bool:
        """True for a belief, which goes as a whole; other facts on its page get a tombstone."""
        return self.entry.path == OPINIONS and self.entry.kind == Kind.OPINION.value


@dataclass(slots=True)
class Selection:
    """What is chosen, how many lines are exempt by their reason and which these are, ids forgotten before, and what a person has to do."""

    chosen: list[Chosen] = field(default_factory=list)
    exempt: Counter[str] = field(default_factory=Counter)
    spared: list[str] = field(default_factory=list)
    already: list[Row] = field(default_factory=list)
    left: list[str] = field(default_factory=list)


def select(memory: OpenMemory, selectors: Selectors) -> Selection:
    """The lines that all selectors mean. Usage for a name of several entities, NothingFound for an unknown id."""
    search = _Search(memory, selectors)
    found = search.found
    if selectors.ids and not search.ids:
        return found
    conditions = [queries.with_an_end(search.expiry)] if selectors.expired else []
    conditions += [queries.unneeded(memory.today)] if selectors.unused else []
    chosen = search.entries(*conditions)
    if selectors.expired:
        chosen = list(search.expired(chosen))
    if selectors.unused:
        chosen = list(search.unused(chosen))
    chosen = list(search.writable(chosen))
    if selectors.about:
        found.left += [_by_hand(one.entry) for one in search.entries(*conditions, query=queries.fixed)]
    if selectors.ids:
        chosen += search.stating(chosen)
    chosen += search.writable(search.kept(chosen))
    if selectors.ids:
        chosen += search.answers(chosen)
    elif not selectors.include_exempt:
        chosen = list(search.without_exempt(chosen))
    found.chosen = sorted(chosen, key=_place)
    return found


def suggested(memory: OpenMemory, selectors: Selectors) -> Selection:
    """What could be forgotten, with the reason each; the selectors narrow it. Nothing that is exempt."""
    search, today = _Search(memory, selectors), memory.today
    every = not selectors.expired and not selectors.unused
    reasons: list[Iterable[Chosen]] = []
    if selectors.expired or every:
        reasons.append(search.expired(search.entries(queries.with_an_end(search.expiry))))
    if every:
        within = {one.entry.id for one in search.entries(queries.duplicated())}
        twice = search.read(queries.forgettable(memory.index, [queries.duplicated()]))
        reasons.append(search.outdated(search.entries(queries.with_successors(today))))
        reasons.append(one for one in search.uncited(_repeated(twice)) if one.entry.id in within)
    if selectors.unused or every:
        reasons.append(search.unused(search.entries(queries.unneeded(today))))
    first = {one.entry.id: one for reason in reversed([list(reason) for reason in reasons]) for one in reason}
    search.found.chosen = sorted(search.without_exempt(search.writable(first.values())), key=_place)
    return search.found


def _place(one: Chosen) -> tuple[str, int]:
    return one.entry.path, one.seen.cited.line


class _Search:
    """The search for the lines of one call; `found` is filled on the way."""

    def __init__(self, memory: OpenMemory, selectors: Selectors) -> None:
        self._memory, self._workspace, self._index, self._today = memory, memory.workspace, memory.index, memory.today
        self._selectors = selectors
        self._known = KnownNames(memory.index)
        self._recalled = recalled_lately(memory)
        self.expiry = expiry_on(memory.today, memory.workspace.settings.ttl)
        self.found = Selection()
        self.ids = self._known_ids()
        self._whom = [entity_named(memory.index, name) for name in selectors.about]
        for name in (who for who in self._whom if isinstance(who, str)):
            if not mention_counts(memory.index, [entity_key(name)]):
                memory.tell(f"no line names {name!r}; {unknown_name(memory, name)}")

    def _known_ids(self) -> tuple[str, ...]:
        """The ids asked for that lines have; of the others, `found` says what became of them."""
        wanted = tuple(dict.fromkeys(ref.removeprefix("^") for ref in self._selectors.ids))
        entries = by_refs(self._index, wanted)
        living = {entry.ref for entry in entries if entry.block is None}
        self.found.already = [entry for entry in entries if entry.block == FORGOTTEN and entry.ref not in living]
        missing = [ref for ref in wanted if ref not in {entry.ref for entry in entries}]
        if missing and len(missing) < len(wanted):  # a call that was cut short may have forgotten these
            self.found.left += [f"^{ref}: no line has this id" for ref in missing]
        elif missing:
            raise NothingFound(f"no line has the id ^{missing[0]}", "`memctl recall` prints the id of each line")
        for entry in entries:
            if entry.block is None and Role(entry.role) not in queries.MAY_GO:
                self.found.left.append(_by_hand(entry))
            elif entry.path == OPINIONS and entry.role != Role.FACT.value:
                what = "is evidence: forget the line that it cites, or the belief"
                self.found.left.append(f"{entry.path}#L{entry.line} {what}")
            elif entry.block and entry.block != FORGOTTEN and entry.ref not in living:
                self.found.left.append(f"{entry.path}#L{entry.line} is a copy: forget the line that it cites")
        return tuple(ref for ref in wanted if ref in living)

    def entries(
        self, *more: Filter, query: Callable[[Index, Sequence[Filter]], list[Row]] = queries.forgettable
    ) -> list[Chosen]:
        """The entries that pass the selectors and some more conditions, as they stand on disk."""
        given = self._selectors
        ids = self.ids if given.ids else None
        conditions = [*queries.narrowed(self._whom, ids, given.before, given.source), *more]
        return [one for one in self.read(query(self._index, conditions)) if self._fits(one)]

    def _fits(self, one: Chosen) -> bool:
        source, origin = self._selectors.source, one.entry.origin
        # `import` includes `import:lab`, `web` does not include `webhook`.
        part = origin.startswith(source) and not origin.removeprefix(source)[:1].isalnum() if source else True
        return part and all(self._names(one, who) for who in self._whom)

    def _names(self, one: Chosen, who: Entity | str) -> bool:
        """True if a line names somebody: marked, or plainly in its text if a page has the name."""
        written = set(one.entry.named)
        if isinstance(who, Entity):
            return bool(written & {who.key, *who.keys}) or who.name in self._known.in_text(one.content)
        return entity_key(who) in written  # a word that no page knows as a name may be just a word

    def read(self, entries: Sequence[Row]) -> Iterator[Chosen]:
        """The entries as they stand on disk; one that is gone is left out."""
        seen = reread(self._workspace, entries)
        for entry in entries:
            if entry.id in seen:
                text = text_of(entry, seen[entry.id])
                yield Chosen(entry, seen[entry.id], text.content, text.fact)

    def stating(self, chosen: Sequence[Chosen]) -> list[Chosen]:
        """The lines that stated the chosen beliefs: with them the belief would come back."""
        refs = {one.entry.ref for one in chosen if one.is_belief}
        if not refs:
            return []
        entries = read_entries(read_page(self._workspace, OPINIONS).text)[0]
        told = [(bullet, entry.ref) for entry in entries if entry.ref in refs for _, bullet in entry.bullets]
        owners = {bullet.ref: ref or "" for bullet, ref in told if bullet.ref and bullet.verdict == "stated"}
        known = {one.entry.id for one in chosen}
        lines = by_refs(self._index, owners)
        lines = [e for e in lines if e.block is None and e.path != OPINIONS and e.id not in known]
        return [one._replace(reason=f"states ^{owners[one.entry.ref]}") for one in self.read(lines)]

    def kept(self, chosen: Sequence[Chosen]) -> list[Chosen]:
        """The facts that were kept from a chosen note of the owner's, whole or in part, and that nobody changed since."""
        own = [one.entry for one in chosen if not one.fact and is_trusted(one.entry.origin)]
        notes = {key: ref for row in own for ref in row.notes for key in (ref, part_id(ref))}
        kept = {row: notes[ref] for ref, how, row in queries.linked_to(self._index, notes) if how == "kept"}
        known = {one.entry.id for one in chosen}
        fresh = [row for row in kept if row.block is None and is_trusted(row.origin) and row.id not in known]
        return [one._replace(reason=f"kept from ^{kept[one.entry]}") for one in self.read(fresh)]

    def answers(self, chosen: Sequence[Chosen]) -> Iterator[Chosen]:
        """The answers to questions of review that quote a chosen line: copies, though they stand in a log."""
        known = {one.entry.id for one in chosen}
        told = [one for one in chosen if one.content not in ("", SEALED)]
        quoted = {f"“{one_line(one.content)[:QUOTED].rstrip()}": one.entry.ref for one in told}
        lines = [entry for entry in answer_lines(self._index) if entry.id not in known] if quoted else []
        for one in self.read(lines):
            if ref := next((ref for text, ref in quoted.items() if text in one.content), None):
                yield one._replace(reason=f"quotes ^{ref}")

    def expired(self, chosen: Iterable[Chosen]) -> Iterator[Chosen]:
        """Those that are over by what their author wrote."""
        for one in chosen:
            if reason := _expired(one, self.expiry, self._today):
                yield one._replace(reason=reason)

    def unused(self, chosen: Sequence[Chosen]) -> Iterator[Chosen]:
        """Those that are not a belief of the owner's, not the current value of a slot, cited nowhere, not recalled lately."""
        validities = judge(self._memory, [one.entry for one in chosen])
        filling = {claim.id for claim in validities.claims.values() if claim.slots}
        current = {i for i in filling if validities.validity[i].holds(self._today)}
        idle = [one for one in chosen if not self._recalled[one.entry.ref]]
        idle = [o for o in idle if not (o.entry.kind == Kind.OPINION.value and is_trusted(o.entry.origin))]
        for one in self.uncited(o for o in idle if o.entry.id not in current):
            weight = "no importance" if one.entry.importance is None else f"importance {one.entry.importance:g}"
            yield one._replace(reason=f"told on {one.entry.day}, {weight}, cited nowhere")

    def outdated(self, chosen: Sequence[Chosen]) -> Iterator[Chosen]:
        """Those that were replaced long ago."""
        validities = judge(self._memory, [one.entry for one in chosen])
        for one in chosen:
            validity = validities.validity[one.entry.id]
            by = validities.entries.get(validity.replaced_by) if validity.replaced_by is not None else None
            since = by and (by.first or by.day)
            if by and since and since < days_before(self._today, queries.OUTDATED).isoformat():
                yield one._replace(reason=f"replaced since {since} by ^{by.ref}")

    def uncited(self, chosen: Iterable[Chosen]) -> list[Chosen]:
        """Those that no line of a page cites. The blocks that reflect writes do not count: its output proves no use."""
        kept = list(chosen)
        if not kept:
            return []
        wanted = gone_of(kept, {o.entry.ref for o in kept})
        own = {(o.entry.path, number) for o in kept for number in range(o.span.line, o.span.end_line + 1)}
        named: set[str] = set()
        for path, text in citing_pages(self._workspace, {}):
            lines = (line for number, line in unmanaged_lines(text) if (path, number) not in own)
            named.update(*(cited(line, path, wanted) for line in lines))
        return [one for one in kept if one.entry.ref not in named]

    def writable(self, chosen: Iterable[Chosen]) -> Iterator[Chosen]:
        """Those on pages that memctl may write: pages at the root are the owner's alone, apart from the core."""
        for one in chosen:
            if "/" in one.entry.path or one.entry.path == CORE_PAGE:
                yield one
            else:
                self.found.left.append(f"{one.place} is on a page that memctl never writes: edit it by hand")

    def without_exempt(self, chosen: Iterable[Chosen]) -> Iterator[Chosen]:
        """Those that are not exempt. A `ttl=` that ran out is its author's own word, whatever the line is about."""
        for one in chosen:
            why = _exempt(one)
            if why and not (one.entry.kept and one.entry.kept < self.expiry.day):
                self.found.exempt[why] += 1
                self.found.spared.append(f"{one.place} ({why})")
            else:
                yield one


def gone_of(chosen: Iterable[Chosen], refs: Set[str]) -> Gone:
    """What is gone with some lines: the ids that no other line has, and the lines that citations may name."""
    return Gone(frozenset(refs), grouped((one.entry.path, (one.span, one.entry.ref)) for one in chosen))


def citing_pages(workspace: Workspace, planned: Mapping[str, Edit]) -> Iterator[tuple[str, str]]:
    """The path and text of each page that may cite a line, as `planned` or on disk; unreadable pages are left out."""
    for page in workspace.scan():
        edit = planned.get(page.path)
        with suppress(MemctlError):
            yield page.path, edit.after if edit else read_page(workspace, page.path).text if page.status else ""


def _by_hand(entry: Row) -> str:
    what = {"heading": "a heading", "code": "code"}.get(entry.role, "not a line of its own")
    return f"{entry.path}#L{entry.line} ^{entry.ref} is {what}: edit it by hand"


def _expired(one: Chosen, expiry: Expiry, today: date) -> str | None:
    """Why a fact is over by what its author wrote, or by a rule of the settings; None if it is not.

    `ttl=` ran out, or `until=` or the span of `t=` passed; that of an experience or a single day does not count.
    """
    fact = one.fact
    if fact is None:
        return None
    if reason := expiry.reason(one.entry, fact.ttl):
        return reason
    if fact.until and fact.until < today:
        return f"ended on {fact.until}"
    span = fact.valid
    if span and span.last and span.last < today and span.first != span.last and fact.kind is not Kind.EXPERIENCE:
        return f"ended on {span.last}"
    return None


def _repeated(chosen: Iterable[Chosen]) -> Iterator[Chosen]:
    """Exact twins apart from the first of each: the owner's before others', then the oldest.

    What was done or thought on another day is another event, or evidence, and not a twin.
    """
    groups: dict[object, list[Chosen]] = {}
    for one in chosen:
        if one.fact:
            bare = replace(one.fact, text="", entities=(), block_id=None, confidence=None, source=None, importance=None)
            day = one.entry.day if one.fact.kind in (Kind.EXPERIENCE, Kind.OPINION) else None
            groups.setdefault((one.entry.content_key, bare, day), []).append(one)
    for group in groups.values():
        group.sort(key=lambda o: (not is_trusted(o.entry.origin), o.entry.day or "", *_place(o)))
        for one in group[1:]:
            yield one._replace(reason=f"repeats {group[0].place}")


def _exempt(one: Chosen) -> str | None:
    """Why a line is not forgotten in bulk, None if it may be: its class, its importance, or the page it stands on."""
    if one.entry.importance is not None and one.entry.importance >= PINNED:
        return "pinned"
    if one.fact is None and log_day(one.entry.path) is None:
        return "a note outside the logs"
    key = one.fact.key.replace("_", " ").replace("-", " ") if one.fact and one.fact.key else ""
    return _class_of(f"{key} · {one.content}" if key else one.content)


def _class_of(text: str) -> str | None:
    """The exempt class of a text by the first of its words that has one: identity, health, relationship and so on."""
    forms = [(stem_word(word), f"={word}") for word in _words(text)]
    phrases, han = _exempt_phrases()
    for at, first in enumerate(forms):
        for phrase, name in [*phrases.get(first[0], []), *phrases.get(first[1], [])]:
            here = forms[at : at + len(phrase)]
            if len(here) == len(phrase) and all(word in form for word, form in zip(phrase, here, strict=True)):
                return name
    found = [(text.index(phrase), name) for phrase, name in han if phrase in text]
    return min(found, key=lambda each: each[0], default=(0, None))[1]


_Phrases = Mapping[str, list[tuple[tuple[str, ...], str]]]


@cache
def _exempt_phrases() -> tuple[_Phrases, Sequence[tuple[str, str]]]:
    """The phrases of the data files with the class of each, by their first word, and those in Han characters.

    A word is a stem, or with `=` in front the word as it stands.
    """
    phrases: dict[str, list[tuple[tuple[str, ...], str]]] = {}
    han: list[tuple[str, str]] = []
    lists = [toml(language, "exempt") for language in languages()]
    for name in dict.fromkeys(name for listed in lists for name in listed):
        for written in ",".join(listed.get(name, "") for listed in lists).split(","):
            phrase = " ".join(written.split())
            if has_han(phrase):
                han.append((phrase, name))
            elif words := _words(phrase.removeprefix("=")):
                form = "={}".format if phrase.startswith("=") else stem_word
                phrases.setdefault(form(words[0]), []).append((tuple(map(form, words)), name))
    return phrases, han


_WORD = re.compile(r"\w+(?:[-'’]\w+)*")


def _words(text: str) -> list[str]:
    folded = unicodedata.normalize("NFKC", text).casefold().replace("’", "'")
    return [match[0] for match in _WORD.finditer(folded) if not is_han(match[0][0])]
