"""bank/opinions.md: its belief entries (the head that states a belief, and its evidence as sub-bullets, oldest first) read and written.

What is written are the numbers and the evidence, brought up to date; everything else stays as it was.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date
from functools import cache
from typing import NamedTuple

from ..facts import Fact, Kind, Span
from ..markdown.blocks import Side, block_body, conflict_sides, edited, splice
from ..markdown.grammar import Bullet, parse_bullet, render, render_bullet
from ..markdown.lines import LineText, Role, content_of, split_lines
from ..markdown.markers import is_marker
from ..markdown.page import Entry, Page, live_blocks, parse_page
from .confidence import Belief, BeliefEntry, LastWritten
from .replay import Replayed

LEDGER = "evidence"  # the managed block that remembers what reflect wrote, so that an edit by hand shows
_ASIDES = (Role.TEXT, Role.CODE, Role.REST)
_TITLE = "# Opinions\n"
_Edit = tuple[int, int, Sequence[str]]


def read_entries(text: str) -> tuple[list[BeliefEntry], Page]:
    """Every belief entry of the page outside managed blocks, in order, and the parsed page."""
    page = parse_page(text, facts_everywhere=True)
    entries = list(page.entries)
    facts = ((at, each.fact) for at, each in enumerate(entries) if each.role is Role.FACT and each.block is None)
    return [_read_entry(entries, at, page.lines) for at, fact in facts if fact and fact.kind is Kind.OPINION], page


def _read_entry(entries: Sequence[Entry], at: int, lines: Sequence[str]) -> BeliefEntry:
    head = entries[at]
    assert head.fact is not None
    depth = _depth(lines[head.span.line - 1])
    bullets: list[tuple[Span, Bullet]] = []
    end = head.span.end_line
    for below in range(at + 1, len(entries)):  # a copy of the rest for each would be square
        entry = entries[below]
        if entry.role is Role.HEADING or entry.block is not None:
            break
        if _depth(lines[entry.span.line - 1]) <= depth:
            if entry.role in _ASIDES and _evidence_follows(entries[below + 1 :], lines, depth):
                continue
            break
        end = entry.span.end_line
        if entry.role is Role.ITEM and (found := _evidence(entry, lines)):
            bullets.append(found)
    return BeliefEntry(head.span, end, head.fact, tuple(bullets), " " * depth)


def _evidence_follows(after: Sequence[Entry], lines: Sequence[str], depth: int) -> bool:
    """True where evidence follows: a comment at the left edge, above it, did not end the belief."""
    following = next((entry for entry in after if entry.role not in _ASIDES), None)
    if following is None or following.role is not Role.ITEM or following.block is not None:
        return False
    return _depth(lines[following.span.line - 1]) > depth and _evidence(following, lines) is not None


def _evidence(entry: Entry, lines: Sequence[str]) -> tuple[Span, Bullet] | None:
    """The bullet that an item spells, and its lines: up to its id. What follows without a blank line is a remark."""
    bullet = parse_bullet(entry.content)
    first, last = entry.span
    for end in range(first, last):
        shorter = parse_bullet(content_of(Role.ITEM, lines[first - 1 : end]))
        if shorter and shorter.ref:
            return Span(first, end), shorter
    return (entry.span, bullet) if bullet else None


def _depth(line: str) -> int:
    return len(line.expandtabs(4)) - len(line.expandtabs(4).lstrip())


@cache
def _head_start() -> re.Pattern[str]:
    quoted = r"\"(?:\\.|[^\"\\])*\""
    return re.compile(
        rf"(?P<before>\s*(?:[-*+]\s+)+O)(?:(?P<open>\s*[(\uff08])(?P<inside>(?:{quoted}|\\.|[^()\uff08\uff09\"\\])*)(?P<close>[)\uff09]))?"
    )


@cache
def _attribute() -> re.Pattern[str]:
    return re.compile(r"(?P<name>[^\s=,\uff0c\"]+\s*=\s*)?(?P<value>\"(?:\\.|[^\"\\])*\"|[^\s,\uff0c\"][^,\uff0c\"]*)")


def head_with(line: str, confidence: str) -> str:
    """The first line of a head with another confidence; every other character stays."""
    match = _head_start().match(line)
    if not match:
        return line
    if match["open"] is None:
        return f"{match['before']}(c={confidence}){line[match.end() :]}"
    inside, after = match["inside"], line[match.start("close") :]
    start = match.start("inside")
    for found in _attribute().finditer(inside):
        name = (found["name"] or "").rstrip(" =\t")
        if name == "c" or (not name and re.fullmatch(r"[\d.]+", found["value"].strip())):
            value = found["value"].rstrip()
            at = start + found.start("value")
            return f"{line[:at]}{confidence}{line[at + len(value) :]}"
    more = f",{inside}" if inside.strip() else ""
    return f"{line[:start]}c={confidence}{more}{after}"


def head_until(line: str, day: date | None) -> str:
    """The first line of a head, which has attributes, with or without `until=`: so a belief that is over shows it."""
    match = _head_start().match(line)
    if not match or match["open"] is None:
        return line
    attributes = _attribute().finditer(match["inside"])
    kept = [found[0].strip() for found in attributes if (found["name"] or "").rstrip(" =\t") != "until"]
    inside = ",".join([*kept, *([f"until={day}"] if day else [])])
    return f"{line[: match.start('inside')]}{inside}{line[match.end('inside') :]}"


def edit_lines(text: str, edits: Iterable[tuple[int, int, Sequence[str]]]) -> str:
    """`text` with lines `first` to `last` (1-based; `last` = `first` - 1 inserts before `first`) replaced.

    Every other byte stays; new lines end as most lines of the page do.
    """
    page = LineText(text)
    in_order = sorted(edits, key=lambda edit: (edit[0], edit[1]))
    for first, last, lines in reversed(in_order):  # from the bottom up, so that line numbers stay right
        page.replace(first, last, lines)
    return str(page)


def removals(
    entries: Iterable[BeliefEntry], lines: Sequence[str], last: bool
) -> Iterator[tuple[int, int, Sequence[str]]]:
    """The edits that take entries away; with the `last` of a page goes the blank line that came with the first."""
    for entry in entries:
        first = entry.span.line
        gap = last and first > 2 and lines[first - 3].strip() and not lines[first - 2].strip()
        yield (first - 1 if gap else first), entry.end, ()


def read_last_written(text: str) -> dict[str, LastWritten]:
    """The marks on the page, by id of the belief; empty where there is no such block."""
    found: dict[str, LastWritten] = {}
    for line in block_body(text, LEDGER):
        words = line.split()
        if len(words) >= 2 and re.fullmatch(r"[\d.]+|-", words[1]):
            head = None if words[1] == "-" else words[1]
            found[words[0]] = LastWritten(head, dict(_read_code(word, words[0], words[1]) for word in words[2:]))
    return found


def last_written_body(marks: Mapping[str, LastWritten]) -> str:
    """The body of the block: a comment, so that it does not show on a rendered page. Empty without marks.

    What every belief has (its own statement, with the number of its head) is an `s`, plain evidence a sign and an id.
    """
    rows = ["<!--", "What reflect wrote above, so that an edit by hand is seen and respected."]
    for name, mark in sorted(marks.items()):
        codes = (_code(code, ref, name, mark.head) for ref, code in sorted(mark.codes.items()))
        rows.append(" ".join([name, mark.head or "-", *codes]))
    return "\n".join([*rows, "-->"]) if marks else ""


def _code(code: str, ref: str, name: str, head: str | None) -> str:
    if ref == _stating(name) and code[0] == "s" and len(code) > 1:
        return "s" if code[1:] == head else code
    return f"{code[0]}{ref}" if code in ("+4", "-4") else f"{code}:{ref}"


def _read_code(word: str, name: str, head: str) -> tuple[str, str]:
    """(id, code) of a word of the block; older pages have a colon in each."""
    code, colon, ref = word.partition(":")
    if colon:
        return ref, code
    if word[0] == "s":
        return _stating(name), word if word[1:] else f"s{head}"
    return word[1:], f"{word[0]}4"


def _stating(name: str) -> str:
    """The id of the line that states a belief, as a rule."""
    return f"f-{name.removeprefix('o-')}"


_Marks = Mapping[str, LastWritten]
_IsOurs = Callable[[BeliefEntry, LastWritten], bool]


def merged_page(text: str, before: tuple[str, str] | None, is_ours: _IsOurs) -> str | None:
    """The page without conflict markers: our side, with the marks of both; None if a person has a part in a conflict.

    `before` is the page as ours and theirs had it, None if nobody knows. `is_ours` tells whether nothing in an entry is
    a person's, so that it can be left out here and stated again by the facts.
    """
    sides = conflict_sides(text)
    pages = before or (tuple(side.text for side in sides) if sides else ())
    if sides is None or any(edited(page, LEDGER) for page in pages):
        return None
    if before and (same := _same_by_hand(text, before, is_ours)):
        return same
    ours, theirs = map(_marks_on, pages)
    entries = [read_entries(side.text)[0] for side in sides]
    if not all(_is_written(side, found, ours, theirs, is_ours) for side, found in zip(sides, entries, strict=True)):
        return None
    return _one_side(sides[0].text, entries, ours, theirs, is_ours)


def _one_side(
    text: str, entries: Sequence[Sequence[BeliefEntry]], ours: _Marks, theirs: _Marks, is_ours: _IsOurs
) -> str | None:
    """The page of our side with the marks of both; None if a person took something out that stands on the other."""
    kept = {entry.ref: entry for entry in entries[0] if entry.ref}
    left_out = {entry.ref for entry in entries[1] if entry.ref} - kept.keys()
    marked = [pair for marks in (ours, theirs) for pair in marks.items()]
    if any(_is_refused(mark, kept.get(ref), ref in left_out) for ref, mark in marked):
        return None
    marks = {ref: _merged_mark(ref, ours, theirs, kept.get(ref)) for ref in ours.keys() | theirs.keys()}
    # All that is reflect's alone goes, disputed or not: so both machines state it again in one order.
    text, free = _by_hand(text, marks, is_ours)
    gone = {ref for ref, mark in marked if mark.head is None}
    left = {ref: marks[ref] for ref in marks if ref in gone or (ref in kept and ref not in free)}
    return splice(text, LEDGER, last_written_body(left))


def _by_hand(page: str, marks: _Marks, is_ours: _IsOurs) -> tuple[str, set[str | None]]:
    """The page without the entries that are reflect's alone and of which no person took evidence out; and their ids."""
    entries = read_entries(page)[0]
    marked = [(entry, marks.get(entry.ref or "")) for entry in entries]
    alone = [entry for entry, mark in marked if mark and "!" not in mark.codes.values() and is_ours(entry, mark)]
    edits = removals(alone, split_lines(page), last=len(alone) == len(entries))
    return edit_lines(page, edits), {entry.ref for entry in alone}


def _same_by_hand(text: str, before: tuple[str, str], is_ours: _IsOurs) -> str | None:
    """What a person has on the page, if that is the same on both sides; None if not, or if there is more of it now."""
    known = {line for page in before for line in split_lines(page)}
    if any(line not in known for side in conflict_sides(text) or () for line in split_lines(side.text)):
        return None
    found = set()
    for page in before:
        marks = _marks_on(page)
        bare, free = _by_hand(page, marks, is_ours)
        kept = {ref: mark for ref, mark in marks.items() if ref not in free}
        found.add(splice(splice(bare, LEDGER, ""), LEDGER, last_written_body(kept)))
    return found.pop() if len(found) == 1 else None


def _marks_on(page: str) -> dict[str, LastWritten]:
    """The marks of a page, with what a person has taken out since: evidence, and whole beliefs (no head)."""
    entries = {entry.ref: entry.refs for entry in read_entries(page)[0]}
    marks = {}
    for ref, mark in read_last_written(page).items():
        codes = {fact: code if fact in entries.get(ref, ()) else "!" for fact, code in mark.codes.items()}
        marks[ref] = LastWritten(mark.head if ref in entries else None, codes)
    return marks


def _is_refused(mark: LastWritten, entry: BeliefEntry | None, left_out: bool) -> bool:
    """True if a person took out on one side what stands on the other, or what would be stated again."""
    if mark.head is None:
        return entry is not None or left_out
    refused = {fact for fact, code in mark.codes.items() if code == "!"}
    return bool(entry and refused & entry.refs) or (left_out and bool(refused))


def _is_written(side: Side, entries: list[BeliefEntry], ours: _Marks, theirs: _Marks, is_ours: _IsOurs) -> bool:
    """True if each disputed line of a side stands in the block, or in an entry that is reflect's alone."""
    lines = split_lines(side.text)
    written = {n for b in live_blocks(lines) if b.name == LEDGER for n in range(b.begin, b.end + 1)}
    for entry in entries:
        inside = range(entry.span.line, entry.end + 1)
        if not side.disputed.isdisjoint(inside) and is_ours(entry, _merged_mark(entry.ref or "", ours, theirs, entry)):
            written.update(inside)
    return side.disputed <= written


def _merged_mark(ref: str, ours: _Marks, theirs: _Marks, entry: BeliefEntry | None) -> LastWritten:
    """The marks of both sides for a belief as it stands on one of them, or has been taken out."""
    marks = [marks[ref] for marks in (ours, theirs) if ref in marks]
    on_page = entry.refs if entry else set()
    pairs = [pair for mark in reversed(marks) for pair in mark.codes.items()]
    codes = {fact: code for fact, code in pairs if (fact in on_page) is (code != "!")}
    if entry is None:
        return LastWritten(None, codes)
    numbers = [mark.head for mark in marks if mark.head]
    shown = f"{entry.fact.confidence:.2f}" if entry.fact.confidence is not None else None
    return LastWritten(shown if shown in numbers else next(iter(numbers), None), codes)


# -- written ----------------------------------------------------------------------------------------------------------


class WrittenPage(NamedTuple):
    """The page's new text, and why something could not be written."""

    text: str
    problem: str | None = None


def write_opinions(text: str, replayed: Replayed) -> WrittenPage:
    """The page with every belief as replayed. Bytes outside belief entries and the managed block stay.

    What cannot be read back afterwards (an open fence swallows it) is not written: then the text comes back as it was.
    """
    lines = split_lines(text)
    if edited(text, LEDGER):
        return WrittenPage(text, "its block `evidence` was edited; remove it, then reflect writes it again")
    halves = any(is_marker(line) and line.split()[2] == LEDGER for line in lines)
    # What a person meant by one must not be guessed.
    if halves and all(block.name != LEDGER for block in live_blocks(lines)):
        lost = "its block `evidence` has lost one of its marker lines"
        return WrittenPage(text, f"{lost}; put it back, or take the rest of the block out")
    edits: list[_Edit] = []
    for belief in replayed.beliefs:
        if belief.entry:
            edits += _entry_edits(belief, belief.entry, lines)
    edits += removals(replayed.withdrawn, lines, last=not replayed.beliefs)
    edits += _new_entries(replayed, lines)
    made = edit_lines(text, edits)
    if not "".join(lines).strip(" ") and replayed.beliefs:
        mark = text[: text.startswith("\ufeff")]
        made = f"{mark}{_TITLE}\n{made.removeprefix(mark)}"
    if made != text or replayed.marks:
        try:
            made = splice(made, LEDGER, last_written_body(replayed.marks))
        except ValueError as error:
            return WrittenPage(text, str(error))
    if not {belief.ref for belief in replayed.beliefs} <= {entry.ref for entry in read_entries(made)[0]}:
        return WrittenPage(text, "an open fence or comment would swallow the beliefs; close it")
    return WrittenPage(made)


def unread_heads(page: Page, entries: Sequence[BeliefEntry], marks: Mapping[str, LastWritten]) -> dict[str, int]:
    """The lines of bullets that end with the id of a belief which reflect knows, and are no belief: a slip of the pen."""
    read = {entry.ref for entry in entries}
    found: dict[str, int] = {}
    for entry in page.entries:
        ref = re.search(r"\s\^([A-Za-z0-9-]+)\s*$", page.lines[entry.span.end_line - 1])
        known = ref is not None and ref[1] not in read and ref[1] in marks and marks[ref[1]].head is not None
        if ref and known and entry.role is Role.ITEM and entry.block is None:
            found.setdefault(ref[1], entry.span.line)
    return found


def _entry_edits(belief: Belief, entry: BeliefEntry, lines: Sequence[str]) -> Iterator[_Edit]:
    first, last = entry.span
    head = list(lines[first - 1 : last])
    if entry.fact.confidence is None or f"{entry.fact.confidence:.2f}" != belief.number:
        head[0] = head_with(head[0], belief.number)
    was_over = any(bullet.verdict == "superseded" for _, bullet in entry.bullets)
    if belief.over != entry.fact.until and (belief.over or was_over):
        head[0] = head_until(head[0], belief.over)
    if entry.ref is None:  # or it stands in the middle, since a person went on below it
        head = [line.rstrip().removesuffix(f" ^{belief.ref}") if f" ^{belief.ref}" in line else line for line in head]
        head[-1] = f"{head[-1].rstrip()} ^{belief.ref}"
    if head != list(lines[first - 1 : last]):
        yield first, last, head
    body = list(lines[last : entry.end])
    new = _body(belief, entry, lines)
    if new != body:
        yield last + 1, entry.end, new


def _body(belief: Belief, entry: BeliefEntry, lines: Sequence[str]) -> list[str]:
    """The lines below a head: evidence in order, each followed by what a person wrote beneath it."""
    raw: dict[Bullet, list[str]] = {}
    below: dict[str | None, list[str]] = {None: []}
    at, owner = entry.span.end_line, None
    indent = f"{entry.indent}  - "
    for span, bullet in entry.bullets:
        below.setdefault(owner, []).extend(lines[at : span.line - 1])
        start = lines[span.line - 1]
        indent = start[: len(start) - len(start.lstrip())] + start.lstrip()[:2]
        raw[bullet] = list(lines[span.line - 1 : span.end_line])
        at, owner = span.end_line, _key(bullet)
    below.setdefault(owner, []).extend(lines[at : entry.end])
    made = below.pop(None)
    kept = {_key(bullet) for bullet in belief.bullets}
    for key in [key for key in below if key not in kept]:
        made += below.pop(key)
    for bullet in belief.bullets:
        made += raw.get(bullet) or [indent + render_bullet(bullet)]
        made += below.pop(_key(bullet), [])
    return made


def _key(bullet: Bullet) -> str:
    return bullet.ref or f"{bullet.day} {bullet.verdict} {bullet.reason}"


def _new_entries(replayed: Replayed, lines: Sequence[str]) -> Iterator[_Edit]:
    """Each new belief behind the last one of ours that was stated before it; the first ones at the end of the page."""
    standing = [(b, b.entry) for b in replayed.beliefs if b.entry]
    at = max((entry.end for _, entry in standing), default=_end(lines))
    at = next((entry.span.line - 1 for b, entry in standing if b.stated in b.found_refs), at)
    places: dict[int, list[str]] = {}
    for belief in replayed.beliefs:
        if belief.entry is None:
            places.setdefault(at, []).extend(_rendered(belief))
        elif belief.stated in belief.found_refs:
            at = belief.entry.end
    for at, made in places.items():
        above = lines[at - 1] if at else ""
        is_item = above.lstrip()[:2] in ("- ", "* ", "+ ") or above[:1].isspace()
        yield at + 1, at, [*([""] if above.strip() and not is_item else []), *made]


def _end(lines: Sequence[str]) -> int:
    blocks = live_blocks(lines)
    end = min((block.begin - 1 for block in blocks if block.name == LEDGER), default=len(lines))
    while end and not lines[end - 1].strip():
        end -= 1
    return end


def _rendered(belief: Belief) -> list[str]:
    head = Fact(Kind.OPINION, belief.fact.text, belief.fact.entities, block_id=belief.ref)
    line = f"- {render(head)}"
    first = head_until(head_with(line, belief.number), belief.over)
    return [first, *(f"  - {render_bullet(bullet)}" for bullet in belief.bullets)]
