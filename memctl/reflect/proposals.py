"""Proposals for memory.md: what has been true, important and cited often and long enough, each as a reviewable diff.

Nothing here writes; a person accepts a proposal or refuses it for good. A proposal can be read back from the page that
shows it, so that what is accepted is what was shown.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from datetime import date
from pathlib import PurePosixPath
from typing import NamedTuple

from ..facts import Citation
from ..language.names import entity_key, is_han, mentions
from ..markdown.blocks import body_of, live_blocks
from ..markdown.lines import split_lines
from ..markdown.user_page import BULLET, OwnPage, Said, said
from ..notes.edits import diff
from .entity_pages import heading, quoted

__all__ = [
    "BLOCK",
    "CORE",
    "PAGE",
    "Candidate",
    "Proposal",
    "accept",
    "diff_of",
    "is_due",
    "proposals",
    "proposals_body",
    "read_proposals",
    "refuse",
    "refused_in",
    "says",
]

CORE, PAGE, BLOCK = "memory.md", "bank/proposals.md", "proposals"

IMPORTANCE = 0.8
"""`i=` from which a fact may belong into memory.md."""

CONFIDENCE = 0.85
"""Confidence from which a belief or a lesson may, if it rests on …"""

EVIDENCE = 3
"""… so many pieces of evidence."""

FURTHER_DAYS = 2
"""Days after the first on which it was told or cited again."""

STANDING_DAYS = 30
"""Days since it was first told."""

AT_ONCE = 10
"""Proposals shown at a time: a page to read, not a backlog."""

_KINDS = {"W", "O", "world", "opinion", "lesson"}


class Candidate(NamedTuple):
    """A fact, belief or lesson that may belong into memory.md; the subject is the first of its `entities`.

    `kind` is W, O or lesson. `days` counts the days on which it was told or cited, the first included, `citations` the
    lines and pages that cite or repeat it on other days. `confidence` and `evidence` are those of a belief; of a lesson,
    the share of its outcomes that agree, and their number. `person` is true if the subject's page says `type: person`.
    """

    text: str
    ref: str
    citation: Citation
    entities: tuple[str, ...]
    kind: str
    first_day: date
    importance: float | None = None
    confidence: float | None = None
    evidence: int = 0
    citations: int = 0
    days: int = 1
    holds: bool = True
    trusted: bool = True
    private: bool = False
    person: bool = False


class Proposal(NamedTuple):
    """A line for memory.md: its Markdown without the bullet, the heading it goes under (empty: none fits), and why."""

    number: int
    subject: str
    line: str
    ref: str
    under: str
    reason: str


# -- what is proposed -------------------------------------------------------------------------------------------------


def is_due(candidate: Candidate, today: date) -> bool:
    """The rule: holds, trusted, not private; important, or a firm belief; cited on two further days; 30 days old.

    Importance is at least 0.8; firm is a confidence of 0.85 and more from three pieces of evidence.
    """
    may = candidate.holds and candidate.trusted and not candidate.private and candidate.kind in _KINDS
    weighty = (candidate.importance or 0) >= IMPORTANCE or _is_firm(candidate)
    long = (today - candidate.first_day).days >= STANDING_DAYS and candidate.days > FURTHER_DAYS
    return may and weighty and long


def _is_firm(candidate: Candidate) -> bool:
    return (candidate.confidence or 0) >= CONFIDENCE and candidate.evidence >= EVIDENCE


def proposals(
    candidates: Iterable[Candidate], core_text: str, refused: Collection[str], today: date
) -> tuple[Proposal, ...]:
    """What to propose, numbered from 1, oldest first; the order of the candidates does not matter.

    Left out is what memory.md says already, what was refused, and what another proposal says.
    """
    due = [c for c in candidates if c.ref not in refused and is_due(c, today)]
    chosen: list[Candidate] = []
    core = OwnPage(core_text)
    known = [*core.said]
    for candidate in sorted(due, key=_rank):
        what = _said(candidate)
        if len(chosen) < AT_ONCE and not core.cites(candidate.ref) and not any(one.holds(what) for one in known):
            chosen.append(candidate)
            known.append(what)
    chosen.sort(key=lambda c: (c.first_day, c.citation, c.ref))
    return tuple(_proposal(number, c, core) for number, c in enumerate(chosen, 1))


def _rank(candidate: Candidate) -> tuple[float, int, int, date, Citation, str]:
    weight = max(candidate.importance or 0, candidate.confidence or 0 if _is_firm(candidate) else 0)
    return (-weight, -candidate.days, -candidate.citations, candidate.first_day, candidate.citation, candidate.ref)


def says(core_text: str, candidate: Candidate) -> bool:
    """True if memory.md says it already: it cites the fact, or one of its entries holds nearly all of the words."""
    core = OwnPage(core_text)
    return core.cites(candidate.ref) or any(entry.holds(_said(candidate)) for entry in core.said)


def _said(candidate: Candidate) -> Said:
    return said(" ".join([*candidate.entities[:1], candidate.text]))


def _proposal(number: int, candidate: Candidate, core: OwnPage) -> Proposal:
    subject = candidate.entities[0] if candidate.entities else ""
    return Proposal(
        number, subject, _line(candidate, subject), candidate.ref, core.fitting(subject, candidate.person), _reason(candidate)
    )  # fmt: skip


def _line(candidate: Candidate, subject: str) -> str:
    """The text, its subject in front unless it is named, and the citation; the link's title keeps the id."""
    key = re.escape(entity_key(subject))
    bounded = key if any(map(is_han, subject)) else rf"(?<!\w){key}(?!\w)"
    named = not subject or re.search(bounded, entity_key(candidate.text))
    # A name with brackets or a bar cannot stand in a wiki link.
    prefix = "" if named else f"[[{subject}]]: " if not re.search(r"[\[\]|#^]", subject) else f"{quoted(subject)}: "
    cited = candidate.citation
    lines = str(cited).removeprefix(f"{cited.path}#")
    shown = PurePosixPath(cited.path).stem if cited.path.startswith("memory/") else PurePosixPath(cited.path).name
    target = re.sub(r"[\x00-\x20\"#%&'()*<>?\[\\\]^`{|}~]", lambda match: f"%{ord(match[0]):02X}", cited.path)
    return f'{prefix}{quoted(candidate.text)} [{quoted(shown)}#{lines}]({target}#{lines} "{candidate.ref}")'


def _reason(candidate: Candidate) -> str:
    weighty = [f"importance {candidate.importance:g}"] if (candidate.importance or 0) >= IMPORTANCE else []
    if _is_firm(candidate):
        share, count = candidate.confidence or 0, candidate.evidence
        worked = f"worked {round(share * count)} times out of {count}"
        weighty.append(worked if candidate.kind == "lesson" else f"held at {share:.2f} by {count} pieces of evidence")
    cited = f", {candidate.citations} times" if candidate.citations >= candidate.days else ""
    return f"{' and '.join(weighty)}; told or cited on {candidate.days} days{cited}; true since {candidate.first_day}"


# -- memory.md --------------------------------------------------------------------------------------------------------

_LOGS = ("Из журналов", "来自日志", "From the logs")  # the last is the one that is made


def accept(core_text: str, proposal: Proposal) -> str:
    """memory.md with the line of a proposal; as it is, if it cites that fact already."""
    core = OwnPage(core_text)
    if core.cites(proposal.ref):
        return core_text
    return core.with_bullet(proposal.line, (proposal.under, *_LOGS), proposal.subject)


def diff_of(proposal: Proposal, core_text: str) -> str:
    """The unified diff of memory.md that a proposal would make."""
    return diff(CORE, core_text, accept(core_text, proposal))


# -- bank/proposals.md ------------------------------------------------------------------------------------------------

_INTRO = (
    "`memctl reflect --accept N` writes one into memory.md, `memctl reflect --refuse N` drops it for good; so does its id\n"
    "below this block. Nothing is applied by itself."
)
_HEAD = re.compile(r"### (?P<number>\d{1,4})\. (?P<subject>.*)")
_WHY = re.compile(r"(?P<reason>.*?)(?:\. Goes under “(?P<under>.*)”)?\. `\^(?P<ref>[A-Za-z0-9][A-Za-z0-9-]{0,63})`")
_ID = re.compile(r"\^([A-Za-z0-9][A-Za-z0-9-]{0,63})|(?<![\w-])([fo]-[0-9a-z]{8})(?![\w-])")
_REFUSED = ("Отклонено", "已拒绝", "Refused")


def proposals_body(items: Sequence[Proposal], core_text: str) -> str:
    """The body of the managed block of bank/proposals.md; empty if there is nothing to propose."""
    parts = [_INTRO] if items else []
    for item in items:
        change = diff_of(item, core_text)
        longest = max(map(len, re.findall(r"`+", change)), default=0)
        fence = "`" * max(3, longest + 1)
        under = f". Goes under “{item.under}”" if item.under else ""
        title = heading(item.subject) if item.subject else "Without a name"
        why = f"{item.reason[:1].upper()}{item.reason[1:]}{under}. `^{item.ref}`"
        parts.append(f"### {item.number}. {title}\n\n{why}\n\n{fence}diff\n{change}{fence}")
    return "\n\n".join(parts)


def read_proposals(page_text: str) -> tuple[Proposal, ...]:
    """The proposals as bank/proposals.md shows them; one that a person made unreadable is left out."""
    lines = split_lines(page_text.removeprefix("\ufeff"))
    block = next((block for block in live_blocks(lines) if block.name == BLOCK), None)
    body = body_of(lines, block) if block else []
    starts = [n for n, line in enumerate(body) if _HEAD.fullmatch(line)]
    shown = (_shown(body[start:end]) for start, end in zip(starts, [*starts[1:], len(body)], strict=False))
    return tuple(proposal for proposal in shown if proposal)


def _shown(lines: Sequence[str]) -> Proposal | None:
    head = _HEAD.fullmatch(lines[0])
    why = next(filter(None, map(_WHY.fullmatch, lines[1:])), None)
    added = [line[1:] for line in lines if line.startswith("+") and not line.startswith("+++ ")]
    bullet = next(((line, match) for line in added if (match := BULLET.match(line))), None)
    if not head or not why or not bullet:
        return None
    line = bullet[0][bullet[1].end() :]
    named = mentions(line)
    subject = next((name for name in named if heading(name) == head["subject"]), head["subject"])
    return Proposal(int(head["number"]), subject, line, why["ref"], why["under"] or "", why["reason"])


def refused_in(page_text: str) -> set[str]:
    """The ids that stand in bank/proposals.md outside the managed block: what was refused for good."""
    lines = split_lines(page_text.removeprefix("\ufeff"))
    block = next((block for block in live_blocks(lines) if block.name == BLOCK), None)
    own = [line for n, line in enumerate(lines, 1) if not block or not block.begin <= n <= block.end]
    return {match[1] or match[2] for line in own for match in _ID.finditer(line)}


def refuse(page_text: str, proposal: Proposal, today: date) -> str:
    """bank/proposals.md with the id of a proposal under `## Refused`, behind the block; as it is, if it stands there."""
    if proposal.ref in refused_in(page_text):
        return page_text
    line = f"^{proposal.ref} · refused {today}" + (f" · {quoted(proposal.subject)}" if proposal.subject else "")
    return OwnPage(page_text).with_bullet(line, _REFUSED)
