"""A page as rows for the index. A pure function of its path and text, so an index rebuilt is an index kept up."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote

from ..facts import UNSAID, Fact, Kind, Period, days_before, is_trusted, iso_day
from ..ids import content_key, digest, fact_id, kept_as, page_id, question_id, value_key
from ..language.analyzer import joined_terms, query_terms
from ..language.dates import UNITS, coming, day_and_rest, find_times, log_day, only_begins, shifted, valid_from_text
from ..language.names import TAG, entity_key, mentions, slug, stem_key, tag_key, without_code
from ..language.relations import Relation, listed_in, slot_of
from ..language.sentences import is_change, is_correction, is_past, is_plan, says
from ..language.words import pattern, spoken_in
from ..markdown.attributes import SPAN
from ..markdown.front_matter import read_front_matter
from ..markdown.grammar import OPINIONS, Problem, parse, parse_bullet, split_block_id
from ..markdown.lines import MAX_LINE, Role, cells, with_columns, without_sealed
from ..markdown.page import Entry, Page, parse_page
from ..markdown.private import private_lines
from .lexical import GAP, ORDINAL_BITS
from .row import EntityPage, PageRows, Row

EVIDENCE = "evidence"  # the block of sub-bullets under a belief: copies, like all that reflect writes
FrontMatter = Mapping[str, str | list[str]]
Held = Mapping[tuple[str, int], Row]
FACT_PAGES = {"bank/world.md", "bank/experience.md", OPINIONS}
_NO_FACT = Fact(Kind.NOTE, "")
_SOURCE = re.compile(r"(?:user|agent|tool|web|import)(?::\S.*)?")
_CITED = re.compile(r'#L[\dL-]+ "([a-z0-9][A-Za-z0-9-]*)"\)')  # an id that others made up begins with a capital
_CITED_DAY = re.compile(r"\bmemory/(\d{4}-\d{2}-\d{2})[^\s#/]*\.md#L\d")

_WEEK, _YEAR = 7, 366  # days
_A_DAY = 24  # characters of one, written out
_HEAD = re.compile(r"\s*[WBOS]\s*[(（][^)）]*")
_ATTRIBUTE_NAME = re.compile(r"(?<=[(（,，\s])[^\W\d][\w-]*\s*=")
# With attributes or entities: "W: …" alone may be anything, as may "O(1): …".
_MARKED = re.compile(r"[WBOS](?:\(\s*\w+\s*=|(?:\([^()]*\))? @)")
_TAG = re.compile(rf"(?<![^\s(,;，。、；（])(?<!\]\(){TAG}")
_CLAUSE_END = re.compile(r"[,;.!?…]\s+|\s[-–—]\s|[，。；！？]")
_FILE = re.compile(r"\]\(<?([^()<>\n]+?\.(?:md|markdown))(?:#(?!L\d)[^()<>\n]*)?>?\)", re.IGNORECASE)


def rows_of(path: str, text: str) -> PageRows:
    """The rows of a page. Equal path and text give equal rows."""
    made = iter_rows(path, text)
    return made._replace(rows=tuple(made.rows))


def iter_rows(path: str, text: str, held: Held | None = None) -> PageRows:
    """The same, with rows that are made while somebody goes through them, once: those of 8 MiB take 190 MiB together.

    `held`, rows of an index by role and digest, tell what follows from a line alone.
    """
    page = parse_page(text, facts_everywhere=path in FACT_PAGES)
    day = log_day(path)
    front = read_front_matter(page.front_matter)
    problems = [*page.problems, *(_stray_facts(page) if day else ())]
    if front is None:
        bad = Problem(1, "front matter that is not a YAML mapping, or over 32 KiB", "write `key: value` lines")
        problems.insert(0, (1, bad))
    title = next((entry.content for entry in page.entries if entry.role is Role.HEADING), PurePosixPath(path).stem)
    entity = _entity_page(path, title, front or {})
    fitting = sum(1 for _ in _ordinals(page.entries))
    if fitting < len(page.entries):
        cut = Problem(1, "more entries than a page can have; the rest is not searched", "split the page")
        problems.append((page.entries[fitting].span.line, cut))
    return PageRows(path, day, title, entity, _rows(path, page, front or {}, held or {}), tuple(problems))


def refs_on(path: str, text: str, blocks: bool = True) -> dict[int, str]:
    """The id of the entry on each line, without `blocks` of those outside: twins have different ids."""
    page = parse_page(text, path in FACT_PAGES)
    reader = _EntryReader(path, page, {})
    refs = [(e, reader.ref(e, _names(e))) for e in page.entries]
    return {e.span.line: ref for e, ref in refs if blocks or not e.block}


def _stray_facts(page: Page) -> Iterator[tuple[int, Problem]]:
    """Items of a log that are meant as facts, and stand where none is read."""
    cure = "move it there, or put it into `backticks`"
    stray = Problem(1, "reads as a fact, but facts stand under a heading `Retain`: it is a note", cure)
    for entry in page.entries:
        is_item = entry.role is Role.ITEM and entry.block is None
        if is_item and _MARKED.match(entry.content) and isinstance(parse(entry.content), Fact):
            yield entry.span.line, stray


def _headed(parsed: Page) -> Iterator[str | None]:
    """For each entry the day that a heading above it is, the nearest that is one, as in a diary of a page a month."""
    above: list[tuple[int, str | None]] = []
    for entry in parsed.entries:
        if entry.role is Role.HEADING:
            level = parsed.lines[entry.span.line - 1].lstrip().partition(" ")[0].count("#") or 1
            while above and above[-1][0] >= level:
                above.pop()
            above.append((level, _text(day_and_rest(entry.content)[0]) or (above[-1][1] if above else None)))
        yield above[-1][1] if above else None


def _entity_page(path: str, title: str, front: FrontMatter) -> EntityPage | None:
    """What a page of bank/entities/ says of its entity, and what a note elsewhere does that has other names, as Obsidian keeps
    them: it goes by its file, as links do. An alias with a slash is an address that a site had."""
    is_note, stem = not path.startswith("bank/entities/"), PurePosixPath(path).stem
    written = front.get("aliases", [])
    aliases = [
        a for a in ([written] if isinstance(written, str) else written) if a.strip() and not (is_note and "/" in a)
    ]
    may_name = not is_note or (aliases and not path.startswith(("bank/", "memory/")) and log_day(path) is None)
    if front.get("merged_into") or not may_name:
        return None
    is_same = entity_key(title) == entity_key(stem)  # before a pattern for each page is compiled
    is_title = not is_note and (is_same or re.fullmatch(rf"{re.escape(slug(title))}(?:~\d+)?", stem, re.IGNORECASE))
    name = title if is_title else stem if is_note else " ".join(stem.split("-"))
    type_ = front.get("type")
    source = front.get("src")
    is_outside = not is_trusted(source if isinstance(source, str) else None)
    kind = type_ if isinstance(type_, str) and type_ else None
    return EntityPage(name, kind, tuple(aliases), is_outside, is_note)


def _ordinals(entries: Iterable[Entry]) -> Iterator[int]:
    """The ordinal of each, as many as a page can have, with a gap around headings: lines under another are no neighbours."""
    ordinal = 0
    for entry in entries:
        ordinal += GAP if entry.role is Role.HEADING else 0
        if ordinal >= 1 << ORDINAL_BITS:
            return
        yield ordinal
        ordinal += GAP if entry.role is Role.HEADING else 1


def _rows(path: str, parsed: Page, front: FrontMatter, held: Held) -> Iterator[Row]:
    """A row for each entry; with what the front matter says of all: days, where they come from, tags of the first."""
    reader = _EntryReader(path, parsed, held)
    # Days that front matter tells of a page are for its lines that have none of their own.
    values = (value for key in ("created", "date", "updated") if isinstance(value := front.get(key), str))
    dated = [on for value in values if (on := iso_day(value.strip("[] ")[:10]))]
    told, tags = (str(min(dated)), str(max(dated))) if dated else None, [*_tags_of_page(front)]
    source = front.get("src")
    origin = source if isinstance(source, str) and _SOURCE.fullmatch(source) else None
    for ordinal, entry, headed in zip(_ordinals(parsed.entries), parsed.entries, _headed(parsed), strict=False):
        row = reader.row(ordinal, entry)
        if entry.columns and not row.first and (own := _day_in(entry.content)):
            row = row._replace(first=own, last=own, marked=row.marked | 8)
        days = (headed, headed) if headed and row.block is None else told
        if days and not row.day:  # ids know nothing of it
            row = row._replace(first=row.first or days[0], day=days[1])
        if tags:
            row = row._replace(links="\n".join(filter(None, (row.links, *tags))))
            tags = []
        if origin and (row.origin == "owner" or (is_trusted(row.origin) and not is_trusted(origin))):
            row = row._replace(origin=origin)  # no line of what came from outside can vouch for itself
        yield row


def _day_in(row: str) -> str | None:
    """The day that one cell of a row of a table is, and no other."""
    found = {day_and_rest(cell) for cell in cells(row) if len(cell) <= _A_DAY and re.search(r"\d", cell)}
    days = {str(day) for day, rest in found if day and not rest}
    return days.pop() if len(days) == 1 else None


def _searched(entry: Entry, raw: Sequence[str]) -> str:
    """The text of an entry by which it is found: all of its lines, but of a fact what it says and the values in its head,
    and of a row of a table the cells with their columns.

    The names of attributes are no words of its writer: "where is the key?" does not ask for every `key=`.
    """
    if entry.columns:
        return with_columns(entry.columns, entry.content)
    if entry.fact is None and not entry.forgotten:
        return " ".join(line[:MAX_LINE] for line in raw)
    attributes = _HEAD.match(entry.logical)
    if not attributes:
        return entry.logical
    return _ATTRIBUTE_NAME.sub("", attributes[0]) + entry.logical[attributes.end() :]


class _EntryReader:
    """What the rows of a page share, and the ids that it has given so far."""

    def __init__(self, path: str, parsed: Page, held: Held) -> None:
        self.path, self.lines, self.day, self.held = path, parsed.lines, log_day(path), held
        self.is_log = self.day and not parsed.front_matter
        self.page = page_id(path)
        self.hidden = private_lines(parsed)
        entries = parsed.entries
        shown = (one for one in entries if self.hidden and one.span.line not in self.hidden)
        self.shown = {fact_id(one.kind, _names(one), one.content, self.day or _own_day(one)) for one in shown}
        self.seen = {f"^{entry.forgotten}": 1 for entry in entries if entry.forgotten}

    def row(self, ordinal: int, entry: Entry) -> Row:
        """The row of an entry."""
        fact, names = entry.fact or _NO_FACT, _names(entry)
        raw = self.lines[entry.span.line - 1 : entry.span.end_line]
        raw_digest = digest(raw)
        held = self.held.get((entry.role.value, raw_digest)) if not entry.columns else None
        place: dict[str, Any] = {
            "id": self.page << ORDINAL_BITS | ordinal, "page": self.page, "ref": self.ref(entry, names),
            "line": entry.span.line, "end_line": entry.span.end_line, "heading": entry.heading,
            "private": int(entry.span.line in self.hidden),
        }  # fmt: skip
        # Front matter that the page had then may have said where its lines came from.
        if held and self.is_log and (held.block, held.origin) == (entry.block, fact.source or "owner"):
            return held._replace(**place)
        own = held.own if held else joined_terms(without_sealed(_searched(entry, raw)))
        day = self.day or _own_day(entry)
        slot = _slot(fact, without_sealed(entry.content), day) if entry.fact else None
        period = valid(entry.fact, without_sealed(entry.content), day, slot)
        twin = content_key(entry.content, names)
        evidence = _evidence(entry.content) if self.path == OPINIONS and entry.fact is None else None
        copied = (f"copies {match[1]}" for match in _CITED.finditer(entry.logical)) if entry.block else ()
        called = _called(fact, slot) if slot and slot.key == "name" and not names else None
        told = evidence or "\n".join((*copied, *(_links_in(entry.content) if entry.role is not Role.CODE else ())))
        return Row(
            **place,
            role=entry.role.value,
            kind=fact.kind.value,
            day=_text(day),
            first=_text(period.first),
            last=_text(period.last),
            slot=slot.key if slot else None,
            same=value_key(slot.key, slot.value) if slot and slot.value else twin,
            marked=self._marked(fact, slot, period, day),
            # An opinion without a number is held as such ones are.
            confidence=UNSAID if fact.confidence is None and fact.kind is Kind.OPINION else fact.confidence,
            importance=fact.importance,
            origin=fact.source or "owner",
            block=entry.block or (EVIDENCE if evidence else None),
            digest=raw_digest,
            content_key=twin,
            length=own.count(" ") + 1 if own else 0,
            names="\n".join(dict.fromkeys(map(entity_key, names))),
            links="\n".join(filter(None, (*_links(fact, day), called, told))),
            task=task_key(fact.task or "", *names[:1]) if fact.outcome else None,
            kept=_text(ttl_end(day, fact.ttl)) if fact.ttl and day else None,
            due=None if slot or day is None else _text(_due(fact, without_sealed(entry.content), day, period)),
            path=self.path,
            own=own,
        )

    def _marked(self, fact: Fact, slot: Relation | None, valid: Period, day: date | None) -> int:
        """1 a correction, 2 pinned: important, or on a root page that is no daily note, 4 closes nothing; 8 an event; 16 `day_to_come`."""
        if slot is None:
            return 8 * _happened(fact, valid, day) + 16 * day_to_come(fact, day)
        pinned = (fact.importance or 0) >= 1 or not (self.day or "/" in self.path)
        happened = fact.kind is Kind.EXPERIENCE and fact.key is None
        return (is_correction(fact.text) and slot.closes) + 2 * pinned + 4 * (not slot.closes) + 8 * happened

    def ref(self, entry: Entry, names: Sequence[str]) -> str:
        """The id that the author gave (an Obsidian block id), else the one that the content gives.

        No line gets the id of a forgotten one: a twin keeps its own when the other goes, and what is told again is new. A
        private line takes no id from its twins that others are shown: they know them by the same ids with it and without.
        """
        given = entry.fact.block_id if entry.fact else entry.forgotten
        if entry.fact is None and not given and not parse_bullet(entry.content):
            given = split_block_id(entry.content)[1]
        if given:
            return given
        day = self.day or _own_day(entry)
        base = fact_id(entry.kind, names, entry.content, day)
        sign, twins = (-1, f"-{base}") if base in self.shown and entry.span.line in self.hidden else (1, base)
        while True:
            self.seen[twins] = self.seen.get(twins, 0) + 1
            number = sign * self.seen[twins]
            ref = base if number == 1 else fact_id(entry.kind, names, entry.content, day, number)
            if f"^{ref}" not in self.seen:
                return ref


def _text(day: date | None) -> str | None:
    return day.isoformat() if day else None


def task_key(task: str, entity: str = "") -> str:
    """The form under which spellings of one task meet: its stems, each once, in order. Without a task, `@` and the entity."""
    return " ".join(sorted(set(query_terms(task)))) or task.strip() or f"@{entity_key(entity)}"


def _links(fact: Fact, day: date | None) -> Iterator[str]:
    relations = "supports", "refutes", "supersedes", "corrects", "settles"
    yield from (f"{relation} {target}" for relation in relations for target in getattr(fact, relation))
    if fact.by:
        yield f"by {fact.by}"
    # The note that it was kept from, whole or in part, if it still says what was asked about on that day.
    asked = question_id("keep", *kept_as(fact.kind, fact.entities, fact.text, day)) if fact.settles else ""
    if asked in fact.settles and "#L" in (fact.source or ""):
        yield from (f"kept {ref}" for ref in fact.settles if ref != asked)


def _called(fact: Fact, slot: Relation) -> str | None:
    """What a line without a name says that its owner is called, as `called` and the key of that name."""
    said = [word.strip(".,;:!。，！") for word in entity_key(fact.text).split()]
    runs = (" ".join(said[first:last]) for first in range(len(said)) for last in range(first + 1, len(said) + 1))
    return next((f"called {run}" for run in (*runs, slot.value) if run and stem_key(run) == slot.value), None)


def _evidence(content: str) -> str | None:
    """What a piece of evidence under a belief points at: the line that stated it, spoke for or against it, or ended it, or is gone."""
    bullet = parse_bullet(content)
    if bullet is None:
        return None
    relation = {"stated": "stated", "superseded": "ended", "questioned": "questioned"}.get(bullet.verdict, "weighed")
    return f"{'gone' if bullet.gone else relation} {bullet.ref or '-'}"


def _own_day(entry: Entry) -> date | None:
    """The day of a line on a page without one: its `t=`, else the day in a citation of a log."""
    if entry.fact and entry.fact.valid:
        return entry.fact.valid.first
    match = _CITED_DAY.search(entry.logical)
    return iso_day(match[1]) if match else None


def _names(entry: Entry) -> tuple[str, ...]:
    """Whom an entry is about, as it writes their names."""
    entities = entry.fact.entities if entry.fact else ()
    told = mentions(entry.content)
    return tuple(dict.fromkeys((*entities, *told))) if told else entities


def valid(fact: Fact | None, content: str, day: date | None, slot: Relation | None = None) -> Period:
    """When a line is true: `t=`, else what its text says, else from its day on; `until=` and `ttl=` end it."""
    if fact is None:
        return Period(day)
    period = fact.valid or _said(fact, slot, valid_from_text(content, day), day)
    if fact.until is None and fact.ttl is None:
        return period
    ends = [fact.until, ttl_end(day, fact.ttl) if fact.ttl and day else None, period.last]
    return Period(period.first, min((end for end in ends if end), default=None))


def _said(fact: Fact, slot: Relation | None, said: Period | None, day: date | None) -> Period:
    """What the dates in a text mean for its truth. They date an experience; a state they only begin.

    "Due on 1 December" is true from the day it was told, and "in production since the 15th" does not end on the 15th:
    a slot starts no later than its line unless it says from when on, and only `t=`, `until=` or a newer version end it. A plan is over when its
    day is past.
    """
    key = slot.key if slot and (fact.key or fact.kind is not Kind.EXPERIENCE) else fact.key
    if said is None or key in listed_in("dated"):
        return Period(day)
    if key is not None and not (said.last is None and said.first and day and said.first > day):
        past = said.first if said.first and (day is None or said.first <= day) else day
        return Period(past)
    if fact.kind is not Kind.EXPERIENCE and said.last and _dates_an_aside(fact.text, said, day):
        return Period(day)
    if fact.kind is not Kind.EXPERIENCE and said.last and is_plan(fact.text):
        return Period(day if day and said.last >= day else said.first, said.last)
    if fact.kind is not Kind.EXPERIENCE and said.first == said.last:
        return Period(said.first)
    return said


def _slot(fact: Fact, text: str, day: date | None) -> Relation | None:
    """The slot that a fact fills; none for what happened over a year before it was told: "in 1998 I moved to Lyon"."""
    slot = slot_of(fact)
    if slot is None or not slot.wide or day is None or says("so far", text):
        return slot
    ends = (*(end.start() for end in _CLAUSE_END.finditer(text)), len(text))
    told = (text[:end] for end in ends if (slot_of(replace(fact, text=text[:end])) or Relation("", "")).key == slot.key)
    event = next(told, text)  # "my dog is called Rex, we got him in 2019" fills it before the event
    said = fact.valid or valid_from_text(event, day)
    is_event = is_past(event) or is_change(event) or says("happens", event)
    return None if said and said.last and said.last < days_before(day, _YEAR) and is_event else slot


def _happened(fact: Fact, valid: Period, day: date | None) -> bool:
    """True where the time that a text names tells when something was: "moved to Berlin last week" did not end with the week.

    A week, a month or a year that was over as the line was told, or that stands in a tale of the past; `t=`, `until=` and
    `ttl=` do end a line, and so do "until May", "from 2018 to 2022" and a plan.
    """
    if fact.kind is Kind.EXPERIENCE:
        return True
    if fact.valid or fact.until or fact.ttl or not (valid.first and valid.last and day) or is_plan(fact.text):
        return False
    is_unit = (valid.last - valid.first).days < _WEEK or ".." not in str(valid)  # a range is spelled with dots
    return is_unit and (valid.last < day or is_past(fact.text) or says("happens", fact.text))


def day_to_come(fact: Fact | None, day: date | None) -> int:
    """1 where a fact names a day to come on which no state begins ("postponed to February 2027"), 3 the day of an end."""
    text, said = (fact.text, valid_from_text(fact.text, day)) if fact and day and not fact.valid else ("", None)
    if day is None or not (said and said.first and said.first > day):
        return bool(day and text and coming(text, day)) * (1 + 2 * says("ends", text))
    begins = not says("new day", text) and (says("begins", text) or says("becomes", text))
    return 0 if begins or only_begins(text, day) else 1 + 2 * says("ends", text)


def _due(fact: Fact, text: str, day: date, valid: Period) -> date | None:
    """The last day of what was still to come when it was told: by its time, else the coming one that a date without a year may mean.

    None for what its author gave an end or an outcome, and for what comes every year or only begins: that is never over.
    """
    may_be = fact.kind in (Kind.WORLD, Kind.EXPERIENCE) and not (fact.outcome or fact.until or fact.ttl)
    if not may_be or not (valid.last or valid.first != day or find_times(text, day)):
        return None
    if valid.last and (valid.first or day) <= day and not says("new day", text):
        return None  # a state that goes on until then: its end is no plan
    undated = re.sub(pattern(spoken_in(text), "modality", "new day"), "", text, flags=re.IGNORECASE)
    when, end = coming(undated, day), valid.last or valid.first
    is_told = (valid.first or valid.last or day) > day or (valid.last and says("new day", text)) or is_plan(text)
    if says("yearly", text) or only_begins(text, day) or not (is_told or when):
        return None
    is_near = when and valid == Period(day) and (re.search(r"\d", text) or (when[1] - when[0]).days < _WEEK)
    return end if end and end > day else when[1] if when and is_near else None  # "in November" alone may be any


def _dates_an_aside(text: str, said: Period, day: date | None) -> bool:
    """True where a clause without a time says how things are: "Allergic to nuts, had a rash in 2023" did not end in 2023.

    It stands before the one with the time, or says of itself that it is new.
    """
    alone = day is None or said.first is None or said.first <= day
    times = {clause: find_times(clause, day or said.last or date.min) for clause in _CLAUSE_END.split(text)}
    if said.first is None and any(at and at[0].end - at[0].start == len(its.strip(" .!")) for its, at in times.items()):
        return False  # "…, until 3 May" says when all of it ends
    for clause, found in times.items():
        if found:
            alone = False
        elif is_change(clause) or (alone and len(query_terms(clause)) > 1 and not (is_past(clause) or is_plan(clause))):
            return True
    return False


def ttl_end(day: date, ttl: str) -> date:
    """The last day on which a fact of `day` with this `ttl` (`12h`, `90d`, `4w`, `6mo`, `1y`) is still to be kept.

    Days are whole: of hours, each day begun counts, because the hour of a line is not known. Months and
    years end on the same day of the month, or on its last. ValueError for what is not a ttl.
    """
    return _later(day, ttl, 1)


def kept_from(today: date, ttl: str) -> date:
    """The first day whose facts with this `ttl` are still to be kept on `today`."""
    first = _later(today, ttl, -1)
    while ttl_end(first, ttl) < today:  # a month has no 31st
        first += timedelta(days=1)
    return first


def _later(day: date, ttl: str, sign: int) -> date:
    """The day so much later (1) or earlier (-1); the first or last of all days where it would lie beyond them."""
    match = re.fullmatch(SPAN, ttl)
    if not match:
        raise ValueError(f"not a ttl: {ttl!r}")
    try:
        return shifted(day, sign * int(match[1]), UNITS[match[2]])
    except (OverflowError, ValueError):
        return date.max if sign > 0 else date.min


def _links_in(text: str) -> Iterator[str]:
    """The links of a line as its row keeps them: `tag #key`, or `tags #key` where it holds nothing else and so speaks of its
    page; `leads [key` for a Markdown link to a page. Code is left out."""
    if "#" not in text and "](" not in text:
        return
    prose = without_code(text)
    relation = "tag" if _TAG.sub("", prose).strip(" ,;，、") else "tags"
    yield from (f"{relation} #{tag_key(match[0])}" for match in _TAG.finditer(prose))
    for match in _FILE.finditer(prose):
        yield f"leads [{entity_key(PurePosixPath(unquote(match[1])).stem)}"


def _tags_of_page(front: FrontMatter) -> Iterator[str]:
    """The tags that front matter gives a page, a list or a text, as its first row keeps them."""
    for name in ("tags", "tag"):
        value = front.get(name, [])
        for tag in value if isinstance(value, list) else re.split(r"[\s,，]+", value):
            if key := tag_key(tag):
                yield f"tags #{'-'.join(key.split())}"
