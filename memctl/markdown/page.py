"""A Markdown page as entries: facts under `## Retain`, notes everywhere else, each with its lines. Nothing is dropped."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING

from ..facts import Fact, Kind, Span
from ..language.words import languages, words
from .grammar import Problem, parse
from .lines import MAX_LINE, Role, content_of, split_lines
from .markers import FORGOTTEN, Block, BlockToken, find_blocks, hidden_lines, is_marker, may_hide, read_tombstone

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

_CODE_LINES = 24  # a longer code block becomes several entries, cut at blank lines where there are any
_SAYS_SOMETHING = re.compile(r"[^\W_]|[^\x00-\x7f\s]")


@dataclass(frozen=True, slots=True)
class Entry:
    """One recallable piece of a page. `content` is what a person reads; `fact` is set where the grammar was met.

    `logical` is what its raw lines say: the content, but with the head where the entry is a fact. A tombstone says
    nothing: it is kept for the id that is `forgotten`.
    """

    role: Role
    span: Span
    logical: str
    content: str
    heading: str = ""
    fact: Fact | None = None
    problem: Problem | None = None
    block: str | None = None
    forgotten: str | None = None

    @property
    def kind(self) -> Kind:
        """The fact's kind, or note."""
        return self.fact.kind if self.fact else Kind.NOTE


@dataclass(frozen=True, slots=True)
class Page:
    """A parsed page; `front_matter` is its YAML source without the fences, empty if there is none."""

    lines: tuple[str, ...]
    entries: tuple[Entry, ...]
    front_matter: str
    ends_in_retain: bool
    problems: tuple[tuple[int, Problem], ...]

    def columns(self, entry: Entry) -> tuple[int, int]:
        """Where the content of an entry begins in its first line and ends in its last: 1-based, both included."""
        first, last = self.lines[entry.span.line - 1], self.lines[entry.span.end_line - 1]
        return _indent(entry.role, first) + 1, max(1, len(last.rstrip()))


def is_retain(heading: str) -> bool:
    """True for the heading of a section of facts, in any of its languages and in any case."""
    return heading.strip(" \t:\uff1a").casefold() in _retain_headings()


@cache
def _retain_headings() -> frozenset[str]:
    return frozenset(word for name in languages() for word in words(name, "language").get("retain heading", ()))


# -- parsing ----------------------------------------------------------------------------------------------------------


@cache
def _markdown() -> MarkdownIt:
    """BlockToken rules only: inline parsing costs 11 s/MB on hostile input, and only lines are needed."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark").enable("table")
    parser.core.ruler.enableOnly(["normalize", "block"])
    return parser


@dataclass(slots=True)
class _PageReader:
    """Where the walk over the tokens stands."""

    lines: list[str]
    facts_everywhere: bool
    entries: list[Entry] = field(default_factory=list)
    covered: bytearray = field(init=False)  # a byte a line, 1 where an entry holds it
    hiding: list[BlockToken] = field(default_factory=list)  # blocks inside of which a marker may be text
    heading: str = ""
    retain_level: int = 0  # level of the Retain heading we are under; 0 is none

    def __post_init__(self) -> None:
        self.covered = bytearray(len(self.lines) + 1)

    def add(self, role: Role, first: int, last: int) -> Entry | None:
        """Keep lines `first` to `last` (1-based) as an entry, unless they are there already or say nothing."""
        while last > first and not self.lines[last - 1].strip():
            last -= 1
        raw = self.lines[first - 1 : last]
        is_known = all(self.covered[first : last + 1])
        self.covered[first : last + 1] = b"\1" * (last + 1 - first)
        if is_known or not any(map(_SAYS_SOMETHING.search, raw)):
            return None
        if "<!-- memctl:" in raw[0] and self._add_tombstone(first, last):
            return None
        content = content_of(role, raw)
        entry = Entry(role, Span(first, last), content, content, self.heading)
        self.entries.append(entry)
        return entry

    def _add_tombstone(self, first: int, last: int) -> bool:
        """Keep lines that are a tombstone as an entry without content; the further lines of one belong to its first."""
        found = [read_tombstone(line) for line in self.lines[first - 1 : last]]
        if found[0] is None or not all(found):
            return False
        ref = found[0].ref
        before = self.entries[-1] if self.entries and found[0].part > 1 else None
        if before and before.forgotten == ref and before.span.end_line == first - 1:
            self.entries[-1] = replace(before, span=Span(before.span.line, last))
        else:
            self.entries.append(
                Entry(Role.REST, Span(first, last), "", "", self.heading, block=FORGOTTEN, forgotten=ref)
            )
        return True


def parse_page(text: str, facts_everywhere: bool = False) -> Page:
    """Read a page. `facts_everywhere` is for bank/world.md and its like, where every bullet may be a fact.

    Every line that holds a letter, a digit or a symbol stands in exactly one entry.
    """
    lines = split_lines(text.removeprefix("\ufeff"))
    problems: list[tuple[int, Problem]] = []
    for number, line in enumerate(lines, 1):
        if len(line) > MAX_LINE:
            told = f"a line of {len(line)} characters; only the first {MAX_LINE} are searched"
            problems.append((number, Problem(MAX_LINE + 1, told, "break the line")))
    reader = _PageReader([line[:MAX_LINE] for line in lines], facts_everywhere)
    front = front_matter_end(lines)
    for number in range(2, front):
        reader.add(Role.REST, number, number)
    blanked = [""] * front + reader.lines[front:]
    plain = plain_blocks(blanked)
    _walk(reader, _in_pieces(blanked) if plain is None else plain)
    for number in range(1, len(lines) + 1):  # link definitions, nesting deeper than the parser goes
        if not reader.covered[number]:
            reader.heading = ""
            reader.add(Role.REST, number, number)
    managed = find_blocks(blanked, hidden_lines(reader.hiding, blanked)) if plain is None else []
    entries = sorted(reader.entries, key=lambda e: e.span.line)
    if managed:
        names = {number: block.name for block in managed for number in range(block.begin, block.end + 1)}
        entries = [replace(entry, block=names.get(entry.span.line, entry.block)) for entry in entries]
    problems += [(e.span.line, e.problem) for e in entries if e.problem]
    yaml = "\n".join(lines[1 : front - 1]) if front else ""
    return Page(
        tuple(lines), tuple(entries), yaml, reader.retain_level > 0, tuple(sorted(problems, key=lambda p: p[0]))
    )


def _blocks(lines: Sequence[str]) -> list[BlockToken]:
    """The blocks of a page as markdown-it sees them."""
    tokens = _markdown().parse("\n".join(lines) + "\n")
    return [BlockToken(t.type, t.map, t.markup, t.tag, t.level) for t in tokens if t.type in _SEEN]


# -- a page in pieces -------------------------------------------------------------------------------------------------

# What may go on over the start of a piece: a fence, HTML. Block markers are HTML too, of one line each.
_OPENER = re.compile(r"[ \t>*+.)\d-]*(?:```|~~~|<)")
# What ends every list, quote and paragraph before it, and is a piece of its own meaning: a heading or bullet at the edge.
_EDGE = re.compile(r"\#{1,6} +[^\s#]|[-*+] [^\W_]|[-*+] \*\*[^\W_]")


def _in_pieces(lines: Sequence[str]) -> Iterator[BlockToken]:
    """The blocks of a page that is not plain, of which most pieces are: what reflect writes is read without a parser.

    Equal to `_blocks`; a test holds the two together.
    """
    start = 0
    for number, line in enumerate(lines):
        marker = is_marker(line)
        if not marker and _OPENER.match(line):
            yield from _moved(_blocks(lines[start:]), start)
            return
        if marker or _EDGE.match(line):
            yield from _piece(lines, start, number)
            start = number
        if marker:
            yield BlockToken("html_block", [number, number + 1])
            start = number + 1
    yield from _piece(lines, start, len(lines))


def _piece(lines: Sequence[str], first: int, after: int) -> Iterator[BlockToken]:
    """The blocks of some lines: flat ones, a bullet with flat ones two spaces below it, or whatever else it may be."""
    piece = lines[first:after]
    found = plain_blocks(piece)
    if found is None and any(piece[:1]) and all(line.startswith("  - ") for line in piece[1:] if line):
        flat = plain_blocks([piece[0], *(line[2:] for line in piece[1:])])
        if flat and len(flat) == 3 * sum(map(bool, piece)) and all(b.type in _FLAT for b in flat):
            found = [*flat[:2], *flat[3:], flat[2]]
    return _moved(_blocks(piece) if found is None else found, first)


_FLAT = {"list_item_open", "paragraph_open", "list_item_close"}


def _moved(blocks: Iterable[BlockToken], by: int) -> Iterator[BlockToken]:
    return (b._replace(map=[b.map[0] + by, b.map[1] + by]) if b.map and by else b for b in blocks)


def _indent(role: Role, line: str) -> int:
    """How many characters of markers and spaces stand before the content of a line."""
    return max(0, line.find(content_of(role, [line])))


def front_matter_end(lines: Sequence[str]) -> int:
    """The line that closes YAML front matter; 0 without front matter."""
    if not lines or lines[0].rstrip() != "---":
        return 0
    return next((n for n, line in enumerate(lines[1:], 2) if line.rstrip() in ("---", "...")), 0)


def _walk(reader: _PageReader, tokens: Iterable[BlockToken]) -> None:
    """Turn block tokens into entries. `items` holds the marker of each open list item, None once it has its paragraph."""
    items: list[str | None] = []
    quotes = 0
    for token in tokens:
        kind = token.type
        if kind == "list_item_open":
            items.append(token.markup)
        elif kind == "list_item_close":
            items.pop()
        elif kind == "blockquote_open":
            quotes += 1
        elif kind == "blockquote_close":
            quotes -= 1
        elif kind == "paragraph_open":
            marker = items[-1] if items else None
            if marker:
                items[-1] = None
            _add_paragraph(reader, token, marker, depth=len(items), quoted=quotes > 0)
        elif kind == "heading_open":
            _add_heading(reader, token)
        elif kind in _WHOLE and token.map:
            _add_plain(reader, token)
            if items and reader.entries and reader.entries[-1].forgotten:
                items[-1] = None  # what follows in the item did not begin it, and does not now


_WHOLE = {"tr_open": Role.ROW, "fence": Role.CODE, "code_block": Role.CODE, "html_block": Role.CODE}
_SEEN = {
    *_WHOLE,
    "list_item_open",
    "list_item_close",
    "blockquote_open",
    "blockquote_close",
    "paragraph_open",
    "heading_open",
}


def _lines_of(token: BlockToken) -> tuple[int, int]:
    first, after = token.map or [0, 0]
    return first + 1, after


def _add_heading(reader: _PageReader, token: BlockToken) -> None:
    first, last = _lines_of(token)
    content = content_of(Role.HEADING, reader.lines[first - 1 : last])
    if token.level == 0:
        level = int(token.tag[1])
        reader.heading = content
        if is_retain(content):
            reader.retain_level = level
        elif level <= reader.retain_level:
            reader.retain_level = 0
    reader.add(Role.HEADING, first, last)


def _add_paragraph(reader: _PageReader, token: BlockToken, marker: str | None, depth: int, quoted: bool) -> None:
    first, last = _lines_of(token)
    if quoted or not (reader.retain_level or reader.facts_everywhere):
        reader.add(Role.ITEM if marker else Role.TEXT, first, last)
        return
    # Prose right under a fact is none of it, as it is in Markdown: a fact goes on over indented lines only.
    own = next((n for n in range(first + 1, last + 1) if not reader.lines[n - 1][:1].isspace()), last + 1) - 1
    _add_candidate(reader, marker, first, own if marker else last, depth)
    if marker and own < last:
        _add_candidate(reader, None, own + 1, last, depth)


_NO_BULLET = Problem(1, "not a bullet", "facts are bullets: `- W: text`")


def _add_candidate(reader: _PageReader, marker: str | None, first: int, last: int, depth: int) -> None:
    """Keep a paragraph where facts are expected: as a fact, or as a note that says why it is none."""
    entry = reader.add(Role.ITEM if marker else Role.TEXT, first, last)
    if entry is None:
        return
    if marker and marker in "-*+":
        read = parse(entry.logical)
        if isinstance(read, Fact):
            reader.entries[-1] = Entry(Role.FACT, entry.span, entry.logical, read.text, entry.heading, read)
            return
        read = replace(read, column=read.column + _indent(Role.FACT, reader.lines[entry.span.line - 1]))
    else:
        read = _NO_BULLET
    if reader.retain_level and depth <= 1:
        reader.entries[-1] = replace(entry, problem=read)


def _add_plain(reader: _PageReader, token: BlockToken) -> None:
    first, last = _lines_of(token)
    role = _WHOLE[token.type]
    if role is Role.CODE:
        reader.hiding.append(token)
        for start, end in _cut(reader.lines, first, last):
            reader.add(role, start, end)
    else:
        reader.add(role, first, last)


def _cut(lines: Sequence[str], first: int, last: int) -> Iterator[tuple[int, int]]:
    """Pieces of a long code block: at a blank line once half a piece is full, and wherever a piece is full."""
    start = first
    for number in range(first, last):
        size = number - start + 1
        if size >= _CODE_LINES or (size >= _CODE_LINES // 2 and not lines[number - 1].strip()):
            yield start, number
            start = number + 1
    yield start, last


# -- managed blocks ---------------------------------------------------------------------------------------------------


def live_blocks(lines: Sequence[str]) -> list[Block]:
    """The managed blocks of a page (its lines, without the byte order mark) as `parse_page` sees them.

    Markers in front matter, in a code fence or in HTML such as `<pre>` are text.
    """
    front = front_matter_end(lines)
    shown = [""] * front + [line[:MAX_LINE] for line in lines[front:]]
    if not any(map(is_marker, shown)):
        return []
    return find_blocks(shown, hidden_lines(_blocks(shown), shown) if may_hide(shown) else ())


_CLOSINGS = {"<?": "?>", "<![cdata[": "]]>"}


def open_end(lines: Sequence[str]) -> str:
    """The line that closes what a page leaves open at its end and would swallow a marker there; empty if nothing is."""
    front = front_matter_end(lines)
    shown = [""] * front + [line[:MAX_LINE] for line in lines[front:]]
    if not may_hide(shown):
        return ""
    last = next((token for token in reversed(_blocks([*shown, "", "x"])) if token.map), None)
    if last is None or not last.map or last.map[1] <= len(shown) + 1 or last.type not in ("fence", "html_block"):
        return ""
    if last.type == "fence":
        return last.markup
    opening = shown[last.map[0]].strip(" ").lower()
    tag = re.match(r"<(script|pre|style|textarea)", opening)
    closing = f"</{tag[1]}>" if tag else ""
    return next((close for start, close in _CLOSINGS.items() if opening.startswith(start)), closing)


# A first character that can open nothing but a paragraph: no list, quote, fence, heading, rule, table, HTML, definition.
_TEXT = (
    r"(?:[^\W\d_]|[^\x00-\x7f\s]|[\"'(@$&%,.!?;/\\^{}]|\d(?!\d{0,8}[.)](?:\s|$))"
    r"|`{1,2}(?=[^`])|\*{1,2}(?=[^\s*])|_{1,2}(?=[^\s_])|\[\[|\#(?=[^\s\#]))"
)
_PLAIN_LINE = re.compile(
    rf"(?P<blank>[ \t]*)|(?P<heading>\#{{1,6}})[ ]+\S.*|(?P<bullet>[-*+])[ ]{_TEXT}.*|(?P<more>[ ]{{1,3}}){_TEXT}.*|(?P<text>{_TEXT}).*",
    re.DOTALL,
)
_CLOSE = BlockToken("list_item_close")


def plain_blocks(lines: Sequence[str]) -> list[BlockToken] | None:
    """The blocks of a page in markdown-it's terms, or None for a page that is not plain."""
    blocks: list[BlockToken] = []
    started: int | None = None  # the first line of the paragraph that is open
    marker = ""
    for number, line in enumerate(lines):
        match = _PLAIN_LINE.fullmatch(line)
        if match is None:
            return None
        kind = match.lastgroup
        if started is not None and kind in ("text", "more"):
            continue
        if kind == "more":  # a paragraph of its own inside an item, or an indented one: not for us
            return None
        if started is not None:
            _end(blocks, started, number, marker)
            started = None
        if kind == "heading":
            blocks.append(BlockToken("heading_open", [number, number + 1], tag=f"h{len(match['heading'])}"))
        elif kind in ("bullet", "text"):
            started, marker = number, match["bullet"] or ""
    if started is not None:
        _end(blocks, started, len(lines), marker)
    return blocks


def _end(blocks: list[BlockToken], first: int, after: int, marker: str) -> None:
    """Close a paragraph; one with a marker is the first of its list item."""
    if marker:
        blocks += (BlockToken("list_item_open", None, marker), BlockToken("paragraph_open", [first, after]), _CLOSE)
    else:
        blocks.append(BlockToken("paragraph_open", [first, after]))
