"""The week in five to ten sentences, each cited: what changed, what was decided, what failed, what waits, what mattered.

Written as of the week's last day, so that a week that is over is not written anew.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, timedelta
from itertools import chain, islice
from operator import attrgetter
from typing import NamedTuple

from ..beliefs.confidence import Belief
from ..facts import Citation, is_trusted
from ..hits import Hit
from ..ids import text_key
from ..index.lexical import page_of
from ..index.open_memory import OpenMemory
from ..index.queries.evidence import facts_between, facts_due
from ..index.reread import reread, text_of
from ..index.row import Row
from ..language.dates import only_begins
from ..language.names import entity_key
from ..language.sentences import says
from ..language.words import languages, pattern
from ..markdown.escape import inline, one_line
from ..recall.entry_hits import hits_of
from ..truth.judge import Validities, judge
from .entity_pages import LinkContext, cite
from .fact_source import IMPORTANT, FactSource

ENOUGH = 12  # facts of a week from which it has a page: fewer are as quickly read in the logs
_FEWEST, _MOST = 5, 10  # sentences
_SHARE = 4  # facts for each sentence
_OF_ONE_KIND = 4
_AT_ONCE = 32  # lines that are read together, the likeliest first
_STEP = 0.1  # of confidence: a smaller move is no news


class DigestSentence(NamedTuple):
    """One thing about a week; `lead` is changed, decided, failed, waits or happened."""

    lead: str
    text: str
    citation: Citation
    ref: str

    @property
    def key(self) -> int:
        """64 bits by which it is known again: a line that was reworded tells something new."""
        return text_key(f"{self.lead} {self.text}")


class Week(NamedTuple):
    """What a week has to tell, and the pages that were read for it; `facts` is how many were told in it."""

    sentences: tuple[DigestSentence, ...] = ()
    facts: int = 0
    pages: frozenset[int] = frozenset()


def title_of(week: str) -> str:
    """The heading of the page of a week such as `2025-W48`."""
    first = _monday(week)
    return f"# Week {int(week[6:])} of {week[:4]}, {first} to {first + timedelta(days=6)}\n"


def digest_body(week: Week, page: str) -> str:
    """The body of its block; empty for a week in which little was told."""
    if week.facts < ENOUGH:
        return ""
    place = LinkContext(page)
    shown = (
        (each.lead.capitalize(), inline(each.text), cite(each.citation, place, each.ref)) for each in week.sentences
    )
    return "\n".join(f"- {lead}: {text} · {proof}" for lead, text, proof in shown)


def week_content(memory: OpenMemory, source: FactSource, beliefs: Iterable[Belief], week: str) -> Week:
    """What a week has to tell; `beliefs` are those that something was said of in it."""
    first = _monday(week)
    last = min(first + timedelta(days=6), memory.today)
    if last < first:
        return Week()
    rows = facts_between(memory.index, first, last)
    due = facts_due(memory.index, first, last)
    verdict = judge(memory, [*rows, *due], last, public=True)
    lines = _WeekLines(source, verdict)
    changed = chain(lines.changed(rows), _moved(beliefs, first, last))
    open_rows = [row for row in rows if row.kind != "world" or row.due is None or row.due > str(last)]
    kinds = (changed, lines.decided(rows), lines.failed(rows), lines.waiting(due), lines.important(open_rows))
    pages = frozenset(page_of(number) for number in (*(row.id for row in rows), *verdict.entries))
    return Week(_chosen(kinds, min(_MOST, max(_FEWEST, len(rows) // _SHARE))), len(rows), pages)


def _monday(week: str) -> date:
    return date.fromisocalendar(int(week[:4]), int(week[6:]), 1)


def _chosen(kinds: Iterable[Iterable[DigestSentence]], most: int) -> tuple[DigestSentence, ...]:
    """A few of each kind, each line once, in the order of the kinds."""
    found: dict[str, DigestSentence] = {}
    for kind in kinds:
        fresh = (each for each in kind if each.ref not in found)
        found |= {each.ref: each for each in islice(fresh, min(_OF_ONE_KIND, max(0, most - len(found))))}
    return tuple(found.values())


class _WeekLines:
    """The lines of a week as sentences, the important before the newest."""

    def __init__(self, source: FactSource, verdict: Validities) -> None:
        self._source, self._verdict = source, verdict

    def _hits(self, rows: Iterable[Row], saying: str = "") -> Iterator[tuple[Row, Hit]]:
        ordered = sorted(sorted(rows, key=lambda row: row.ref), key=lambda row: row.day or "", reverse=True)
        ordered.sort(key=lambda row: -(row.importance or 0))
        newest = {row.ref: row for row in sorted(ordered, key=attrgetter("place"))}  # of twins
        for start in range(0, len(ordered), _AT_ONCE):
            some = ordered[start : start + _AT_ONCE]
            if saying:
                # Of all the other lines nobody need know whom they name.
                seen = reread(self._source.memory.workspace, [newest[row.ref] for row in some])
                read = ((row, seen.get(newest[row.ref].id)) for row in some)
                some = [row for row, here in read if here and re.search(saying, text_of(row, here).content)]
            hits = self._read([newest[row.ref] for row in some])
            yield from ((row, hit) for row in some if (hit := hits.get(newest[row.ref].id)))

    def _read(self, rows: Sequence[Row]) -> dict[int, Hit]:
        """Lines as they stand on disk, whether they hold or not, by id."""
        return hits_of(self._source.memory, rows, Validities({}, {}, {}), known=self._source.known)

    def changed(self, rows: Sequence[Row]) -> Iterator[DigestSentence]:
        """What replaced an older line."""
        older: dict[int, Row] = {}
        for number, standing in self._verdict.validity.items():
            entry, by = self._verdict.entries.get(number), standing.replaced_by
            newer = self._verdict.entries.get(by or 0)
            is_repeated = entry and newer and entry.content_key == newer.content_key  # by an answer, into its slot
            if by is not None and entry and not is_repeated and is_trusted(entry.origin) and not entry.private:
                older[by] = max(entry, older.get(by, entry), key=lambda e: e.day or "")
        for row, hit in self._hits(row for row in rows if row.id in older):
            was = self._read([older[row.id]]).get(older[row.id].id)
            before = f" (before: {one_line(was.content).rstrip('.')})" if was else ""
            yield _sentence("changed", hit, f"{hit.content}{before}")

    def decided(self, rows: Sequence[Row]) -> Iterator[DigestSentence]:
        """What the words say was decided."""
        saying = f"(?i){pattern(languages(), 'pages', 'decided')}"
        for row, hit in self._hits((row for row in rows if row.kind != "opinion"), saying):
            if self._stands(row):
                yield _sentence("decided", hit, hit.content)

    def failed(self, rows: Sequence[Row]) -> Iterator[DigestSentence]:
        """Attempts that failed, with the reason."""
        for _, hit in self._hits(row for row in rows if row.task is not None):
            if hit.fact and hit.fact.outcome == "fail":
                why = f" ({hit.fact.why})" if hit.fact.why else ""
                yield _sentence("failed", hit, f"{hit.content}{why}")

    def waiting(self, rows: Sequence[Row]) -> Iterator[DigestSentence]:
        """What was planned for this week, and is not known to have happened."""
        for row, hit in self._hits(rows):
            day = date.fromisoformat(row.day) if row.day else self._source.memory.today
            if self._stands(row) and not says("yearly", hit.content) and not only_begins(hit.content, day):
                yield _sentence("waits for an answer", hit, f"{hit.content} ({row.first})")

    def important(self, rows: Sequence[Row]) -> Iterator[DigestSentence]:
        """Everything else that mattered."""
        mattered = (row for row in rows if (row.importance or 0) >= IMPORTANT or row.kind == "experience")
        for row, hit in self._hits(mattered):
            if self._stands(row):
                yield _sentence("happened" if row.kind == "experience" else "noted", hit, hit.content)

    def _stands(self, row: Row) -> bool:
        standing = self._verdict.validity[row.id]
        return standing.replaced_by is None and not standing.retracted


def _moved(beliefs: Iterable[Belief], first: date, last: date) -> Iterator[DigestSentence]:
    """Beliefs that ended in these days, or whose confidence moved far."""
    for belief in beliefs:
        dated = ((b, b.citation) for b in belief.bullets if first <= b.day <= last)
        moving = [(b, citation) for b, citation in dated if citation and b.verdict != "stated"]
        numbers = [(b.day, b.shown) for b in belief.bullets if not b.gone]
        before = [n for day, n in numbers if day < first and n is not None]
        after = [n for day, n in numbers if first <= day <= last and n is not None]
        ended = [(b, citation) for b, citation in moving if b.verdict == "superseded"]
        if ended:
            bullet, citation = ended[0]
            yield DigestSentence("no longer believed", belief.fact.text, citation, bullet.ref or "")
        elif moving and before and after and abs(after[-1] - before[-1]) >= _STEP:
            bullet, citation = moving[-1]
            text = f"{belief.fact.text} ({before[-1]:.2f} → {after[-1]:.2f})"
            yield DigestSentence("changed", text, citation, bullet.ref or "")


def _sentence(lead: str, hit: Hit, text: str) -> DigestSentence:
    """A line as a sentence that names whom it is about."""
    who = hit.entities[0] if hit.entities else ""
    names = not who or entity_key(who) in entity_key(text)
    return DigestSentence(lead, one_line(text if names else f"{who}: {text}"), hit.source, hit.ref)
