"""Proposals for memory.md: what has been true, important and cited often and long enough, each as a reviewable diff.

A person accepts a proposal or refuses it for good; nothing else ever writes memory.md. A proposal is read back from the
page that shows it, so that what is accepted is what was shown.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from datetime import date
from pathlib import PurePosixPath
from typing import NamedTuple

from ..beliefs.confidence import Belief
from ..errors import NothingFound, Refused
from ..facts import Citation, Kind, is_trusted
from ..hits import Hit
from ..index.index import Index
from ..index.open_memory import OpenMemory
from ..index.queries.entity_names import entities_named
from ..index.queries.entries import by_ids, by_refs
from ..index.queries.evidence import days_cited, important
from ..language.analyzer import query_terms
from ..language.names import entity_key, has_han, mentions
from ..language.words import languages, lines, pattern, words_of
from ..markdown.blocks import block_body, unmanaged_lines
from ..markdown.escape import heading, inline, many
from ..markdown.grammar import OPINIONS
from ..markdown.lines import LineText, Role
from ..markdown.page import Entry, parse_page
from ..notes.edits import apply, diff, read_for_edit, writing_alone
from ..notes.workspace import CORE_PAGE
from ..truth.judge import judge
from .fact_source import FactSource
from .lessons import Task

PAGE, BLOCK = "bank/proposals.md", "proposals"

IMPORTANCE = 0.8  # `i=` from which a fact may belong into memory.md
CONFIDENCE = 0.85  # confidence from which a belief or a lesson may, if it rests on …
EVIDENCE = 3  # … so many pieces of evidence
FURTHER_DAYS = 2  # days after the first on which it was told or cited again
STANDING_DAYS = 30  # days since it was first told
AT_ONCE = 10  # proposals shown at a time: a page to read, not a backlog
_AGAIN = "`memctl reflect --propose-core` writes them again"
_INTRO = (
    "`memctl reflect --accept N` writes one into memory.md, `memctl reflect --refuse N` drops it for good; so does its id\n"
    "below this block. Nothing is applied by itself."
)
_HEAD = re.compile(r"### (?P<number>\d{1,4})\. (?P<subject>.*)")
_WHY = re.compile(r"(?P<reason>.*?)(?:\. Goes under “(?P<under>.*)”)?\. `\^(?P<ref>[A-Za-z0-9][A-Za-z0-9-]{0,63})`")
_ID = re.compile(r"\^([A-Za-z0-9][A-Za-z0-9-]{0,63})|(?<![\w-])([fo]-[0-9a-z]{8})(?![\w-])")


class CoreCandidate(NamedTuple):
    """A fact, belief or lesson that may belong into memory.md; the subject is the first of its `entities`.

    `days` counts the days on which it was told or cited, the first included, `citations` the lines that cite or repeat it
    on other days. `confidence` and `evidence` are those of a belief; of a lesson, the share of its outcomes that agree, and
    their number. `person` is true if the subject's page says `type: person`.
    """

    text: str
    ref: str
    citation: Citation
    entities: tuple[str, ...]
    first_day: date
    importance: float = 0
    confidence: float = 0
    evidence: int = 0
    citations: int = 0
    days: int = 1
    lesson: bool = False
    person: bool = False

    @property
    def is_firm(self) -> bool:
        """True for a confidence of 0.85 and more from three pieces of evidence."""
        return self.confidence >= CONFIDENCE and self.evidence >= EVIDENCE


class CoreProposal(NamedTuple):
    """A line for memory.md: its Markdown without the bullet, the heading it goes under (empty: none fits), and why."""

    number: int
    subject: str
    line: str
    ref: str
    under: str
    reason: str


def is_due(candidate: CoreCandidate, today: date) -> bool:
    """The rule: important (at least 0.8), or firm; cited on two further days; 30 days old."""
    long = (today - candidate.first_day).days >= STANDING_DAYS and candidate.days > FURTHER_DAYS
    return long and (candidate.importance >= IMPORTANCE or candidate.is_firm)


def proposals(
    candidates: Iterable[CoreCandidate], core_text: str, refused: Collection[str], today: date
) -> tuple[CoreProposal, ...]:
    """What to propose, numbered from 1, oldest first; the order of the candidates does not matter.

    Left out is what memory.md says already, what was refused, and what another proposal says.
    """
    due = [c for c in candidates if c.ref not in refused and is_due(c, today)]
    chosen: list[CoreCandidate] = []
    core = _UserPage(core_text)
    known = [_gist_of(entry.content) for entry in core.entries]
    for candidate in sorted(due, key=_rank):
        what = _gist_of(". ".join([*candidate.entities[:1], candidate.text]))  # a word that begins a line is no name
        if len(chosen) < AT_ONCE and not core.cites(candidate.ref) and not any(one.holds(what) for one in known):
            chosen.append(candidate)
            known.append(what)
    chosen.sort(key=lambda c: (c.first_day, c.citation, c.ref))
    made = []
    for number, each in enumerate(chosen, 1):
        subject = each.entities[0] if each.entities else ""
        under = core.fitting(subject, each.person)
        made.append(CoreProposal(number, subject, _line(each, subject), each.ref, under, _reason(each)))
    return tuple(made)


def _rank(candidate: CoreCandidate) -> tuple[float, int, int, date, Citation, str]:
    weight = max(candidate.importance, candidate.confidence if candidate.is_firm else 0)
    return (-weight, -candidate.days, -candidate.citations, candidate.first_day, candidate.citation, candidate.ref)


def _line(candidate: CoreCandidate, subject: str) -> str:
    """The text, its subject in front unless it is named, and the citation; the link's title keeps the id."""
    key = re.escape(entity_key(subject))
    bounded = key if has_han(subject) else rf"(?<!\w){key}(?!\w)"
    named = not subject or re.search(bounded, entity_key(candidate.text))
    # A name with brackets or a bar cannot stand in a wiki link.
    prefix = "" if named else f"[[{subject}]]: " if not re.search(r"[\[\]|#^]", subject) else f"{inline(subject)}: "
    cited = candidate.citation
    lines = str(cited).removeprefix(f"{cited.path}#")
    shown = PurePosixPath(cited.path).stem if cited.path.startswith("memory/") else PurePosixPath(cited.path).name
    target = re.sub(r"[\x00-\x20\"#%&'()*<>?\[\\\]^`{|}~]", lambda match: f"%{ord(match[0]):02X}", cited.path)
    return f'{prefix}{inline(candidate.text)} [{inline(shown)}#{lines}]({target}#{lines} "{candidate.ref}")'


def _reason(candidate: CoreCandidate) -> str:
    weighty = [f"importance {candidate.importance:g}"] if candidate.importance >= IMPORTANCE else []
    if candidate.is_firm:
        share, count = candidate.confidence, candidate.evidence
        worked = f"worked {many(round(share * count), 'time')} out of {count}"
        weighty.append(worked if candidate.lesson else f"held at {share:.2f} by {many(count, 'piece')} of evidence")
    cited = f", {many(candidate.citations, 'time')}" if candidate.citations >= candidate.days else ""
    return f"{' and '.join(weighty)}; told or cited on {many(candidate.days, 'day')}{cited}; true since {candidate.first_day}"


def with_line(core_text: str, proposal: CoreProposal) -> str:
    """memory.md with the line of a proposal; unchanged if it cites that fact already."""
    core = _UserPage(core_text)
    if core.cites(proposal.ref):
        return core_text
    return core.with_bullet(proposal.line, (proposal.under, *_headings("from logs"), "From the logs"), proposal.subject)


def _headings(section: str) -> tuple[str, ...]:
    """The headings of such a section in each language; where the page has none, the English one is made."""
    return tuple(line for name in languages() for line in lines(name, "pages").get(section, ()))


def proposals_body(items: Sequence[CoreProposal], core_text: str) -> str:
    """The body of the managed block of bank/proposals.md; empty if there is nothing to propose."""
    parts = [_INTRO] if items else []
    for item in items:
        change = diff(CORE_PAGE, core_text, with_line(core_text, item))
        longest = max(map(len, re.findall(r"`+", change)), default=0)
        fence = "`" * max(3, longest + 1)
        under = f". Goes under “{item.under}”" if item.under else ""
        title = heading(item.subject) if item.subject else "Without a name"
        why = f"{item.reason[:1].upper()}{item.reason[1:]}{under}. `^{item.ref}`"
        parts.append(f"### {item.number}. {title}\n\n{why}\n\n{fence}diff\n{change}{fence}")
    return "\n\n".join(parts)


def read_proposals(page_text: str) -> tuple[CoreProposal, ...]:
    """The proposals as bank/proposals.md shows them; one that a person made unreadable is left out."""
    body = block_body(page_text, BLOCK)
    starts = [n for n, line in enumerate(body) if _HEAD.fullmatch(line)]
    shown = (_shown(body[start:end]) for start, end in zip(starts, [*starts[1:], len(body)], strict=False))
    return tuple(proposal for proposal in shown if proposal)


def _shown(lines: Sequence[str]) -> CoreProposal | None:
    head = _HEAD.fullmatch(lines[0])
    why = next(filter(None, map(_WHY.fullmatch, lines[1:])), None)
    added = [line[1:] for line in lines if line.startswith("+") and not line.startswith("+++ ")]
    bullet = next(((line, match) for line in added if (match := _BULLET.match(line))), None)
    if not head or not why or not bullet:
        return None
    line = bullet[0][bullet[1].end() :]
    named = mentions(line)
    subject = next((name for name in named if heading(name) == head["subject"]), head["subject"])
    return CoreProposal(int(head["number"]), subject, line, why["ref"], why["under"] or "", why["reason"])


def refused_in(page_text: str) -> set[str]:
    """The ids that stand in bank/proposals.md outside the managed block: what was refused for good."""
    return {match[1] or match[2] for _, line in unmanaged_lines(page_text) for match in _ID.finditer(line)}


def with_refusal(page_text: str, proposal: CoreProposal, today: date) -> str:
    """bank/proposals.md with the id of a proposal under `## Refused`, behind the block; unchanged if it stands there."""
    if proposal.ref in refused_in(page_text):
        return page_text
    line = f"^{proposal.ref} · refused {today}" + (f" · {inline(proposal.subject)}" if proposal.subject else "")
    return _UserPage(page_text).with_bullet(line, (*_headings("refused"), "Refused"))


def proposable(source: FactSource, beliefs: Iterable[Belief], tasks: Iterable[Task]) -> list[CoreCandidate]:
    """Everything that might be proposed: important facts, beliefs and reliable strategies, with how often each was told."""
    index, today = source.memory.index, source.memory.today
    facts = source.hits(by_ids(index, important(index, IMPORTANCE, today)).values())
    cited_on = days_cited(index, [hit.ref for hit in facts], today)
    found = [*_facts(facts, cited_on), *filter(None, map(_belief, beliefs)), *_lessons(tasks)]
    return [each._replace(person=bool(each.entities) and is_person(index, each.entities[0])) for each in found]


def _facts(hits: Iterable[Hit], cited_on: Mapping[str, Sequence[str]]) -> Iterator[CoreCandidate]:
    seen: set[tuple[str, ...]] = set()
    for hit in sorted(hits, key=lambda hit: (hit.day or "", hit.source)):  # of what was said again, the first
        stands = not (hit.superseded_by or hit.expired or hit.retracted or (hit.content, *hit.entities) in seen)
        if hit.kind is Kind.WORLD and hit.day and stands:
            seen.add((hit.content, *hit.entities))
            days = cited_on.get(hit.ref, ())
            first = date.fromisoformat(min([hit.day, *days]))
            yield CoreCandidate(
                hit.content, hit.ref, hit.source, hit.entities, first, hit.importance or 0, citations=len(days),
                days=len({hit.day, *days}),
            )  # fmt: skip


def _belief(belief: Belief) -> CoreCandidate | None:
    counted = [bullet for bullet in belief.bullets if not bullet.gone]
    stated = next((b for b in counted if b.verdict == "stated" and b.ref == belief.stated), None)
    if not belief.is_current or stated is None or stated.citation is None or stated.ref is None:
        return None
    # Told, or said again in the same words: what a rule found is no reason to stand on the core page.
    evidence = [bullet for bullet in counted if bullet.verdict in ("for", "against") and bullet.strength == 1.0]
    return CoreCandidate(
        belief.fact.text, stated.ref, stated.citation, belief.fact.entities, belief.day, confidence=float(belief.number),
        evidence=len(evidence), citations=len(evidence), days=len({bullet.day for bullet in (stated, *evidence)}),
    )  # fmt: skip


def _lessons(tasks: Iterable[Task]) -> Iterator[CoreCandidate]:
    for task in tasks:
        for way in task.strategies:
            days = {outcome.day for outcome in way.outcomes if outcome.day}
            if "reliable" not in way.labels or not days:
                continue
            first, total = way.outcomes[0], len(way.outcomes)
            yield CoreCandidate(
                f"{task.name}: {way.name}" if task.name else way.name, first.ref, first.citation, first.entities,
                date.fromisoformat(min(days)), confidence=way.ok / total, evidence=total, citations=total - 1,
                days=len(days), lesson=True,
            )  # fmt: skip


def is_person(index: Index, name: str) -> bool:
    """True where the page of the one who has this name says `type: person`."""
    return [(found.type or "").casefold() for found in entities_named(index, entity_key(name))] == ["person"]


def decide(memory: OpenMemory, number: int, is_accepted: bool, dry_run: bool) -> str:
    """Write proposal `number` of bank/proposals.md into memory.md, or note there that it is never made again.

    Returns the diff, empty if that stands there. NothingFound if no such proposal is shown; Refused for one to accept whose
    fact no longer holds, is gone, private or not trusted, or that somebody refused.
    """
    workspace = memory.workspace
    with nullcontext() if dry_run else writing_alone(workspace, "reflect"):
        page = read_for_edit(workspace, PAGE)
        shown = {proposal.number: proposal for proposal in read_proposals(page.after)}
        if number not in shown:
            which = f"it shows {', '.join(map(str, shown))}; " if shown else ""
            raise NothingFound(f"{PAGE} shows no proposal {number}", which + _AGAIN)
        proposal = shown[number]
        if not is_accepted:
            edit = page._replace(after=with_refusal(page.after, proposal, memory.today))
        elif proposal.ref in refused_in(page.after):
            raise Refused(f"proposal {number} was refused before", f"take its id out of {PAGE}, below the block")
        elif reason := memory.run(lambda at: _stale(at, proposal)):
            raise Refused(f"proposal {number} is out of date: {reason}", _AGAIN)
        else:
            core = read_for_edit(workspace, CORE_PAGE)
            edit = core._replace(after=with_line(core.after, proposal))
        if not dry_run:
            apply(workspace, [edit])
        return edit.diff()


def _stale(memory: OpenMemory, proposal: CoreProposal) -> str:
    """Why the fact behind a proposal may not be accepted any more; empty if it may."""
    memory.sync_for_write()
    entries = [entry for entry in by_refs(memory.index, [proposal.ref]) if entry.block is None and entry.path != PAGE]
    verdict = judge(memory, entries, whole=False)
    reasons = []
    for entry in entries:
        if not verdict.validity[entry.id].holds(memory.today):
            reasons.append("does not hold any more")
        elif entry.private or not is_trusted(entry.origin):
            reasons.append("is private" if entry.private else f"comes from {entry.origin}")
        elif entry.path == OPINIONS and (entry.confidence or 0) < 0.5:
            reasons.append(f"is held at {entry.confidence} only")
        else:  # of twins, one that holds is enough
            return ""
    return f"^{proposal.ref} {next(iter(reasons), 'is gone')}"


# -- a page of a person, and where a line fits into it ---------------------------------------------------------------

_BULLET = re.compile(r"[ \t]*[-*+][ \t]+(?=\S)")  # what stands before the words of one
_SAME = 0.9  # share of the stems of a text that an entry holds when it says the same


class _Gist(NamedTuple):
    """What a text says, roughly: its stems, its numbers, and whether it denies."""

    stems: frozenset[str]
    numbers: frozenset[str]
    denies: bool

    def holds(self, other: _Gist) -> bool:
        """True if this says nearly all of what the other does, with its numbers, and no more denies it."""
        enough = len(self.stems & other.stems) >= _SAME * len(other.stems) > 0
        return enough and other.numbers <= self.numbers and self.denies == other.denies


def _gist_of(text: str) -> _Gist:
    denials = len(re.findall(rf"(?i){pattern(languages(), 'pages', 'denial')}", text))
    return _Gist(frozenset(query_terms(text)), frozenset(re.findall(r"\d+", text)), denials % 2 == 1)


class _Section(NamedTuple):
    """A heading, and its entries up to the next heading; lines are 1-based."""

    title: str
    line: int
    last: int
    entries: list[Entry]


class _UserPage:
    """A page by its sections. Its text is decoded with `surrogateescape`, so that any bytes survive."""

    def __init__(self, text: str) -> None:
        self.text = text
        page = parse_page(text)
        self._lines = page.lines
        self.entries: list[Entry] = []
        self._sections: list[_Section] = []
        self._bullets: dict[Entry, str] = {}  # a bullet of a person's -> what stands before its words
        for entry in page.entries:
            if entry.role is Role.HEADING:
                if self._sections:
                    self._sections[-1] = self._sections[-1]._replace(last=entry.span.line - 1)
                self._sections.append(_Section(entry.content, entry.span.end_line, len(page.lines), []))
                continue
            self.entries.append(entry)
            if self._sections:
                self._sections[-1].entries.append(entry)
            match = _BULLET.match(page.lines[entry.span.line - 1])
            if match and entry.block is None and entry.role in (Role.ITEM, Role.FACT):
                self._bullets[entry] = match[0]

    def cites(self, ref: str) -> bool:
        """True if the id stands in the text."""
        return bool(re.search(rf"(?<![\w-]){re.escape(ref)}(?![\w-])", self.text))

    def fitting(self, subject: str, person: bool) -> str:
        """The title of the section for a line about `subject`: where a bullet names them, else their own; empty for none.

        A person without either goes under "People", if there is such a heading.
        """
        key = entity_key(subject)
        named = [s.title for s in self._sections if any(e in self._bullets and _names(e, key) for e in s.entries)]
        own = [s.title for s in self._sections if subject and entity_key(s.title) == key]
        headings = words_of("pages", "people heading")
        people = [s.title for s in self._sections if person and s.title.casefold() in headings]
        return next(iter((*named[:1], *own, *people)), "")

    def with_bullet(self, line: str, titles: tuple[str, ...], subject: str = "") -> str:
        """The text with one bullet more, in the first of the sections named `titles` that there is.

        It stands below the last bullet about `subject`, else below the last bullet, else at the section's end. Without
        such a section, one with the last of the titles is made at the end of the page.
        """
        found = (s for title in titles for s in self._sections if title and s.title == title)
        section = next(found, None)
        bullets = [entry for entry in section.entries if entry in self._bullets] if section else []
        if section is None:
            blank = [""] if self._lines and self._lines[-1].strip() else []
            after, new = len(self._lines), [*blank, f"## {titles[-1]}", "", f"- {line}"]
        elif bullets:
            depth = len(self._bullets[bullets[0]])
            outer = [entry for entry in bullets if len(self._bullets[entry]) <= depth]
            about = [entry for entry in bullets if subject and _names(entry, entity_key(subject))]
            entry = (about or outer)[-1]
            after, new = self._end(entry, section), [self._bullets[entry] + line]
        else:
            lines = range(section.last, section.line, -1)
            after, new = next((n for n in lines if self._lines[n - 1].strip()), section.line), ["", f"- {line}"]
        page = LineText(self.text)
        page.insert(after, new)
        return str(page)

    def _end(self, entry: Entry, section: _Section) -> int:
        """The last line of a bullet with all that is nested below it."""
        end, indent = entry.span.end_line, _indent(self._lines[entry.span.line - 1])
        for number in range(end + 1, section.last + 1):
            line = self._lines[number - 1]
            if line.strip() and _indent(line) <= indent:
                break
            end = number if line.strip() else end
        return end


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _names(entry: Entry, key: str) -> bool:
    return bool(key) and key in map(entity_key, mentions(entry.content))
