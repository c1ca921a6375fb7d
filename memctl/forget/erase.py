"""Pages without what was forgotten: tombstones in its place, no copy of it in managed blocks, no evidence of it under beliefs."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import date
from posixpath import dirname, join, normpath
from typing import NamedTuple
from urllib.parse import unquote

from ..beliefs.belief import Belief, Place
from ..beliefs.page_read import (
    LEDGER,
    BeliefEntry,
    LastWritten,
    edit_lines,
    last_written_body,
    read_entries,
    read_last_written,
)
from ..beliefs.page_write import unread_heads, write_opinions
from ..beliefs.replay import ReplayInput, replay_beliefs
from ..facts import Fact, Span
from ..ids import digest
from ..index.row import Row
from ..index.rows import FACT_PAGES, rows_of
from ..markdown.blocks import body_of, edited, is_edited, live_blocks, splice
from ..markdown.evidence_line import OPINIONS, code_of
from ..markdown.lines import Role, split_lines
from ..markdown.page import Entry, Page, parse_page
from ..markdown.tombstones import Grave, bury
from ..stance.stance import Stance

__all__ = [
    "Buried",
    "Gone",
    "Scrubbed",
    "Target",
    "Unsaid",
    "bury_soundly",
    "cited",
    "gone_with",
    "without_copies",
    "without_evidence",
]


class Target(NamedTuple):
    """An entry to forget: its id, the digest of its lines, and where they stood a moment ago."""

    ref: str
    digest: int
    span: Span


class Gone(NamedTuple):
    """What is no more: the ids that no line bears any longer, and the lines that citations may name, by page."""

    refs: frozenset[str]
    places: Mapping[str, Sequence[tuple[Span, str]]]


def gone_with(refs: Iterable[str], places: Iterable[tuple[str, Span, str]]) -> Gone:
    """A Gone of ids, and of (page, lines, id) triples."""
    by_page: dict[str, list[tuple[Span, str]]] = {}
    for path, span, ref in places:
        by_page.setdefault(path, []).append((span, ref))
    return Gone(frozenset(refs), by_page)


class Buried(NamedTuple):
    """A page with its tombstones, the entries that went, and those whose going would have changed others."""

    text: str
    done: tuple[Grave, ...]
    stuck: tuple[Grave, ...] = ()


class Scrubbed(NamedTuple):
    """A page without lines that copy what is gone, how many went, and the blocks that a person edited."""

    text: str
    lost: int = 0
    edited: tuple[str, ...] = ()


def bury_soundly(path: str, text: str, targets: Collection[Target], day: date) -> Buried:
    """The page with tombstones for `targets`. An entry stays if without it another one would no longer be what it is.

    That is rare: text right below a bullet, without a blank line, can become a heading when the bullet goes.
    """
    before = _page(path, text)
    graves = _graves(path, text, before, targets)
    made = bury(text, graves, day)
    if _is_sound(path, before, made, graves):
        return Buried(made, tuple(graves))
    done: list[Grave] = []
    stuck: list[Grave] = []
    for grave in graves:
        tried = bury(text, [*done, grave], day)
        (done if _is_sound(path, before, tried, [*done, grave]) else stuck).append(grave)
    return Buried(bury(text, done, day), tuple(done), tuple(stuck))


def _shown(text: str) -> str:
    """The text as pages are read for the index: what is no UTF-8 is a replacement character."""
    return text if text.isascii() else text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _page(path: str, text: str) -> Page:
    return parse_page(_shown(text), facts_everywhere=path in FACT_PAGES)


def _graves(path: str, text: str, page: Page, targets: Collection[Target]) -> list[Grave]:
    """The targets where they were, or wherever they moved since: the id tells which of several equal lines is meant."""
    roles = {entry.span: entry.role for entry in page.entries if entry.block is None}
    here = [t for t in targets if t.span in roles and digest(page.lines[t.span.line - 1 : t.span.end_line]) == t.digest]
    found = [Grave(target.span, target.ref, roles[target.span]) for target in here]
    moved = {(target.ref, target.digest) for target in targets} - {(target.ref, target.digest) for target in here}
    rows = rows_of(path, _shown(text)).rows if moved else ()
    found += [_grave(row) for row in rows if row.block is None and (row.ref, row.digest) in moved]
    return sorted(found)


def _grave(row: Row) -> Grave:
    return Grave(Span(row.line, row.end_line), row.ref, Role(row.role))


def _is_sound(path: str, before: Page, made: str, graves: Sequence[Grave]) -> bool:
    gone = {grave.span.line for grave in graves}
    after = [_what(entry) for entry in _page(path, made).entries if entry.span.line not in gone]
    return after == [_what(entry) for entry in before.entries if entry.span.line not in gone]


def _what(entry: Entry) -> tuple[object, ...]:
    return entry.role, entry.span, entry.content, entry.heading, entry.fact, entry.block


# -- copies -----------------------------------------------------------------------------------------------------------

_PLACE = re.compile(r"([^\s()<>\[\]\"]+\.(?:md|markdown))#L(\d{1,9})(?:-L?(\d{1,9}))?")
_ID = re.compile(r"(?:(?<![\w^])\^|(?<=\d )\")([A-Za-z0-9][A-Za-z0-9-]{0,63})\b")


def cited(line: str, page: str, gone: Gone) -> set[str]:
    """The ids of what a line of `page` points at: by an id of it, or where the line names no id, by its place."""
    if "#L" not in line and "^" not in line:
        return set()
    ids = {match[1] for match in _ID.finditer(line)}
    found = ids & gone.refs
    for match in _PLACE.finditer(line):
        first = int(match[2])
        last = max(first, int(match[3] or first))
        for path in {unquote(match[1]), normpath(join(dirname(page), unquote(match[1])))}:
            for at, ref in gone.places.get(path, ()):
                # Where ids are told too, another line may stand there by now: the id decides.
                if at.line <= last and first <= at.end_line and (not ids or ref in ids):
                    found.add(ref)
    return found


def without_copies(page: str, text: str, gone: Gone) -> Scrubbed:
    """The page without the lines of its managed blocks that cite what is gone; an edited block stays and is named."""
    count = 0
    by_hand: list[str] = []
    lines = split_lines(text.removeprefix("\ufeff"))
    first_of = {block.name: block for block in reversed(live_blocks(lines))}
    for name, block in first_of.items():
        body = body_of(lines, block)
        kept = _uncited(body, page, gone) if name != LEDGER else body
        if len(kept) == len(body):
            continue
        if is_edited(lines, block):
            by_hand.append(name)
            continue
        count += len(body) - len(kept)
        text = splice(text, name, "\n".join(kept))
    return Scrubbed(text, count, tuple(by_hand))


def _uncited(body: Sequence[str], page: str, gone: Gone) -> list[str]:
    """The body without the lines that cite, what such an item goes on over, and headings that have nothing left."""
    kept: list[str] = []
    heading: int | None = None  # of a section that lost a line and has none so far
    depth: int | None = None  # of the item that is being left out
    for line in body:
        indent = len(line) - len(line.lstrip())
        if depth is not None and line.strip() and indent > depth:
            continue
        depth = indent if cited(line, page, gone) else None
        if depth is not None:
            heading = next((at for at in range(len(kept) - 1, -1, -1) if kept[at].strip()), None)
            continue
        if line.startswith("#") and heading is not None and kept[heading].startswith("#"):
            del kept[heading:]
        heading = None if line.strip() else heading
        kept.append(line)
    if heading is not None and kept[heading].startswith("#"):
        del kept[heading:]
    return kept


# -- beliefs ----------------------------------------------------------------------------------------------------------


class Unsaid(NamedTuple):
    """bank/opinions.md without what is gone: ids of the beliefs that went, of those that lost evidence, what stays."""

    text: str
    removed: tuple[str, ...] = ()
    replayed: tuple[str, ...] = ()
    left: tuple[str, ...] = ()


def without_evidence(
    text: str, gone: Gone, told: Mapping[str, Fact], chosen: Collection[str], *, places: Mapping[str, Place],
    names_of: Callable[[Fact], frozenset[str]], today: date,
) -> Unsaid:  # fmt: skip
    """The page without the evidence that is gone, the other numbers replayed.

    Beliefs that were `chosen`, and those that only repeat a line that is gone (`told`, by id), go with their evidence.
    A belief that a person changed stays, and is named.
    """
    entries = [entry for entry in read_entries(text)[0] if _concerns(entry, gone, chosen)]
    if not entries:
        return Unsaid(text)
    marks = read_last_written(text)
    copies = [e for e in entries if e.ref in chosen or _is_copy(e, marks.get(e.ref or ""), gone, told)]
    made = edit_lines(text, [(e.span.line, e.end, ()) for e in copies])
    taken = {entry.ref for entry in copies}
    kept = {ref: known for ref, known in marks.items() if ref not in taken}
    if edited(text, LEDGER):
        why = f"{OPINIONS}: the block `{LEDGER}` was edited by hand; other evidence stays until reflect can write"
        return Unsaid(made, tuple(filter(None, taken)), (), (why,))
    if len(kept) < len(marks):
        made = splice(made, LEDGER, last_written_body(kept))
    standing, page = read_entries(made)
    there = {ref: place for ref, place in places.items() if ref not in gone.refs}
    unread = unread_heads(page, standing, kept)
    replay = replay_beliefs(standing, kept, ReplayInput((), there, gone.refs, names_of, _never, today, unread))
    changed = {entry.ref for entry in entries} - taken - {entry.ref for entry in replay.withdrawn}
    beliefs = tuple(belief for belief in replay.beliefs if belief.entry and belief.entry.ref in changed)
    known = {ref: mark for ref, mark in kept.items() if ref not in {entry.ref for entry in replay.withdrawn}}
    known |= {belief.ref: belief.mark for belief in beliefs if belief.ref in kept}
    if beliefs or replay.withdrawn:
        made = write_opinions(made, replay._replace(beliefs=beliefs, marks=known)).text
    removed = [entry.ref for entry in (*copies, *replay.withdrawn) if entry.ref]
    left = [_stays(belief) for belief in beliefs if _lost_its_source(belief, gone)]
    return Unsaid(made, tuple(removed), tuple(belief.ref for belief in beliefs), tuple(left))


def _concerns(entry: BeliefEntry, gone: Gone, chosen: Collection[str]) -> bool:
    return entry.ref in chosen or any(bullet.ref in gone.refs for _, bullet in entry.bullets)


def _lost_its_source(belief: Belief, gone: Gone) -> bool:
    bullets = belief.entry.bullets if belief.entry else ()
    return any(bullet.verdict == "stated" and bullet.ref in gone.refs for _, bullet in bullets)


def _is_copy(entry: BeliefEntry, mark: LastWritten | None, gone: Gone, told: Mapping[str, Fact]) -> bool:
    """True for a belief that says what a line that is gone said, word for word, and in which nobody wrote since."""
    bullets = [bullet for _, bullet in entry.bullets]
    stated = [bullet.ref or "" for bullet in bullets if bullet.verdict == "stated"]
    if not stated or not gone.refs.issuperset(stated):
        return False
    same = any(told[ref].text.split() == entry.fact.text.split() for ref in stated if ref in told)
    own_lines = entry.end - entry.span.end_line - sum(span.end_line - span.line + 1 for span, _ in entry.bullets)
    by_hand = any(bullet.ref is None or bullet.verdict == "set" for bullet in bullets)
    recoded = mark is not None and any(mark.codes.get(bullet.ref or "") != code_of(bullet) for bullet in bullets)
    return same and not own_lines and not by_hand and not recoded and not _is_renumbered(entry, mark)


def _is_renumbered(entry: BeliefEntry, mark: LastWritten | None) -> bool:
    """True if the number in the head is neither what reflect wrote nor what follows from the evidence."""
    shown = [b.number if b.after is None else b.after for _, b in entry.bullets]
    expected = {f"{number:.2f}" for number in shown[-1:] if number is not None} | ({mark.head} if mark else set())
    return entry.fact.confidence is not None and bool(expected) and f"{entry.fact.confidence:.2f}" not in expected


def _stays(belief: Belief) -> str:
    place = f"{OPINIONS}#L{belief.entry.span.line if belief.entry else 1} ^{belief.ref}"
    return f"{place} was changed by a person, and its statement is gone; --id {belief.ref} takes it too"


def _never(belief: Fact, fact: Fact) -> Stance:
    return Stance("neither", 0.0, "")
