"""Pages without what was forgotten: tombstones in its place, no copies in managed blocks, no evidence under beliefs."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import date
from posixpath import dirname, join, normpath
from typing import NamedTuple
from urllib.parse import unquote

from ..beliefs import confidence, opinions_page as opinions
from ..beliefs.confidence import BeliefEntry, LastWritten
from ..beliefs.replay import Replayed, ReplayInput, replay_beliefs
from ..facts import Fact, Span
from ..ids import digest
from ..index.rows import FACT_PAGES, rows_of
from ..markdown.blocks import edited, splice
from ..markdown.grammar import OPINIONS, code_of
from ..markdown.lines import Role, split_lines
from ..markdown.markers import Redaction, block_is_edited, body_of, redact
from ..markdown.page import Page, live_blocks, parse_page
from ..notes.edits import as_indexed


class RedactionTarget(NamedTuple):
    """An entry to forget: its id, the digest of its lines, where they stood a moment ago, and the id of its tombstone."""

    ref: str
    digest: int
    span: Span
    named: str = ""


class Gone(NamedTuple):
    """What is gone: the ids that no line has any longer, and the lines that citations may name, by page."""

    refs: frozenset[str]
    places: Mapping[str, Sequence[tuple[Span, str]]]


def redact_safely(
    path: str, text: str, targets: Collection[RedactionTarget], day: date
) -> tuple[str, list[Redaction], list[Redaction]]:
    """The page with tombstones for `targets`, which went, and which stay because another entry would change without them.

    That is rare: text right below a bullet, without a blank line, can become a heading when the bullet goes.
    """
    before = _page(path, text)
    wanted = _redactions(path, text, before, targets)

    def is_safe(chosen: Collection[Redaction]) -> bool:
        after = _page(path, redact(text, chosen, day))
        gone = {redaction.span.line for redaction in chosen}
        return _others(after, gone) == _others(before, gone)

    done = wanted
    if not is_safe(wanted):
        done = []
        for redaction in wanted:
            if is_safe([*done, redaction]):
                done.append(redaction)
    return redact(text, done, day), done, [redaction for redaction in wanted if redaction not in done]


def _page(path: str, text: str) -> Page:
    return parse_page(as_indexed(text), facts_everywhere=path in FACT_PAGES)


def _others(page: Page, without: Collection[int]) -> list[tuple[object, ...]]:
    """What the entries of a page are, apart from those that begin on some lines."""
    kept = (entry for entry in page.entries if entry.span.line not in without)
    return [(e.role, e.span, e.content, e.heading, e.fact, e.block) for e in kept]


def _redactions(path: str, text: str, page: Page, targets: Collection[RedactionTarget]) -> list[Redaction]:
    """The targets where they were, or wherever they moved since: the id tells which of several equal lines is meant."""
    roles = {entry.span: entry.role for entry in page.entries if entry.block is None}
    here = [t for t in targets if t.span in roles and digest(page.lines[t.span.line - 1 : t.span.end_line]) == t.digest]
    found = [Redaction(target.span, target.ref, roles[target.span], target.named) for target in here]
    moved = {(t.ref, t.digest): t.named for t in targets if t not in here}
    for row in rows_of(path, as_indexed(text)).rows if moved else ():
        if row.block is None and (named := moved.get((row.ref, row.digest))) is not None:
            found.append(Redaction(Span(row.line, row.end_line), row.ref, Role(row.role), named))
    return sorted(found)


_PLACE = re.compile(r"([^\s()<>\[\]\"]+\.(?:md|markdown))#L(\d{1,9})(?:-L?(\d{1,9}))?")
_ID = re.compile(r"(?:(?<![\w^])\^|(?<=\d )\")([A-Za-z0-9][A-Za-z0-9-]{0,63})\b")


_SETTLES = re.compile(r"\bsettles=([A-Za-z0-9-]+)")


def cited(line: str, page: str, gone: Gone) -> set[str]:
    """The ids of what a line of `page` points at: by an id of it, or where the line names no id, by its place."""
    if "#L" not in line and "^" not in line:
        return set()
    ids = {match[1] for match in _ID.finditer(line)}
    found = {*ids, *_SETTLES.findall(line)} & gone.refs
    for match in _PLACE.finditer(line):
        first = int(match[2])
        last = max(first, int(match[3] or first))
        told = unquote(match[1].rpartition("src=user:")[2])  # by a link, or a fact that was kept from it
        for path in {told, normpath(join(dirname(page), told))}:
            for at, ref in gone.places.get(path, ()):
                # Where the line names ids too, another line may stand there by now: the id decides.
                if at.line <= last and first <= at.end_line and (not ids or ref in ids):
                    found.add(ref)
    return found


def without_copies(page: str, text: str, gone: Gone) -> tuple[str, list[str]]:
    """The page without the lines of its managed blocks that cite what is gone, and the edited blocks, which stay."""
    by_hand: list[str] = []
    lines = split_lines(text)
    first_of = {block.name: block for block in reversed(live_blocks(lines))}
    for name, block in first_of.items():
        body = body_of(lines, block)
        kept = _uncited(body, page, gone) if name != opinions.LEDGER else body
        if len(kept) == len(body):
            continue
        if block_is_edited(lines, block):
            by_hand.append(name)
            continue
        text = splice(text, name, "\n".join(kept))
    return text, by_hand


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


class CleanedBeliefs(NamedTuple):
    """bank/opinions.md without what is gone: the ids of the beliefs that went, and what a person has to look at."""

    text: str
    removed: Sequence[str] = ()
    left: Sequence[str] = ()


def without_evidence(
    text: str, gone: Gone, stating: Mapping[str, Fact], chosen: Collection[str], *, places: Mapping[str, confidence.Place],
    names_of: Callable[[Fact], frozenset[str]], today: date,
) -> CleanedBeliefs:  # fmt: skip
    """The page without the evidence that is gone, the other numbers replayed.

    Beliefs that were `chosen`, and those that only repeat a line that is gone (`stating` has its facts by id), go with their evidence.
    A belief that a person changed stays and is named.
    """
    entries = [e for e in opinions.read_entries(text)[0] if e.ref in chosen or e.refs & gone.refs]
    if not entries:
        return CleanedBeliefs(text)
    marks = opinions.read_last_written(text)
    copies = [e for e in entries if e.ref in chosen or _is_copy(e, marks.get(e.ref or ""), gone, stating)]
    made = opinions.edit_lines(text, [(e.span.line, e.end, ()) for e in copies])
    taken = _refs(copies)
    kept = {ref: marks[ref] for ref in marks if ref not in taken}
    if edited(text, opinions.LEDGER):
        why = f"{OPINIONS}: the block `{opinions.LEDGER}` was edited by hand; other evidence stays until reflect can write"
        return CleanedBeliefs(made, taken, [why])
    if len(kept) < len(marks):
        made = splice(made, opinions.LEDGER, opinions.last_written_body(kept))
    standing, page = opinions.read_entries(made)
    there = {ref: places[ref] for ref in places.keys() - gone.refs}
    unread = opinions.unread_heads(page, standing, kept)
    given = ReplayInput((), there, gone.refs, names_of, lambda belief, fact: None, today, unread)
    replay = replay_beliefs(standing, kept, given)
    changed = set(_refs(entries)).difference(taken)
    return _written(made, replay, changed, kept, gone)._replace(removed=[*taken, *_refs(replay.withdrawn)])


def _refs(entries: Iterable[BeliefEntry]) -> list[str]:
    return [entry.ref for entry in entries if entry.ref]


def _written(
    text: str, replay: Replayed, changed: Collection[str], marks: Mapping[str, LastWritten], gone: Gone
) -> CleanedBeliefs:
    """The page with the beliefs that lost evidence written again, and those named that lost their statement."""
    withdrawn = {entry.ref for entry in replay.withdrawn}
    beliefs = tuple(b for b in replay.beliefs if b.entry and b.entry.ref in changed and b.entry.ref not in withdrawn)
    known = {ref: mark for ref, mark in marks.items() if ref not in withdrawn}
    known |= {belief.ref: belief.mark for belief in beliefs if belief.ref in marks}
    if beliefs or withdrawn:
        text = opinions.write_opinions(text, replay._replace(beliefs=beliefs, marks=known)).text
    left = [
        f"{OPINIONS}#L{entry.span.line} ^{entry.ref} was changed by a person, and its statement is gone; "
        f"--id {entry.ref} takes it too"
        for entry in (belief.entry for belief in beliefs if belief.entry)
        if any(bullet.verdict == "stated" and bullet.ref in gone.refs for _, bullet in entry.bullets)
    ]
    return CleanedBeliefs(text, left=left)


def _is_copy(entry: BeliefEntry, mark: LastWritten | None, gone: Gone, stating: Mapping[str, Fact]) -> bool:
    """True for a belief that repeats a line that is gone, word for word, and that no person changed."""
    bullets = [bullet for _, bullet in entry.bullets]
    stated = [bullet.ref or "" for bullet in bullets if bullet.verdict == "stated"]
    if not stated or not gone.refs.issuperset(stated):
        return False
    same = any(stating[ref].text.split() == entry.fact.text.split() for ref in stated if ref in stating)
    by_hand = any(bullet.ref is None or bullet.verdict == "set" for bullet in bullets)
    recoded = mark is not None and any(mark.codes.get(bullet.ref or "") != code_of(bullet) for bullet in bullets)
    changed = confidence.is_remarked(entry) or confidence.is_edited(entry, mark)
    return same and not (by_hand or recoded or changed)
