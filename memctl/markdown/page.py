"""A Markdown page as entries: facts under `## Retain`, notes everywhere else, each with its lines. Nothing is dropped."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from ..facts import Fact, Kind, Span
from ..language.words import words_of
from .grammar import Problem, parse
from .lines import MAX_LINE, TABLE_RULE, Role, content_of, split_lines
from .markers import FORGOTTEN, Block, disputed_lines, find_blocks, is_marker, read_tombstone

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

_CODE_LINES = 24  # a longer code block becomes several entries, cut at blank lines where there are any
# Markdown in which a marker line is text: code fences, and HTML that goes on over blank lines and comments.
# Where no line may open any, blocks are found without a parser.
_SWALLOWS = re.compile(r" {0,3}(?:```|~~~|<(?:script|pre|style|textarea)(?=[\s>]|$)|<\?|<!\[CDATA\[)", re.IGNORECASE)
_SAYS_SOMETHING = re.compile(r"[^\W_]|[^\x00-\x7f\s]")


class Entry(NamedTuple):
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
    columns: str = ""  # of a row of a table, the head above it

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


def is_retain(heading: str) -> bool:
    """True for the heading of a section of facts, in any of its languages and in any case."""
    return heading.strip(" \t:\uff1a").casefold() in words_of("language", "retain heading")


@cache
def _markdown() -> MarkdownIt:
    """Block rules only: inline parsing costs 11 s/MB on hostile input, and only lines are needed."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark").enable("table")
    parser.core.ruler.enableOnly(["normalize", "block"])
    return parser


class MarkdownBlock(NamedTuple):
    """A block of a page: a token of markdown-it, its 1-based lines, and where it stands.

    `marker` is that of the list item that the block begins, empty for any other; `depth` is how many items are around it,
    `level` that of a heading which nothing is around.
    """

    type: str
    first: int
    last: int
    marker: str = ""
    depth: int = 0
    is_quoted: bool = False
    level: int = 0
    markup: str = ""


class _PageReader:
    """Where the walk over the blocks stands."""

    def __init__(self, lines: list[str], facts_everywhere: bool) -> None:
        self.lines = lines
        self.facts_everywhere = facts_everywhere
        self.entries: list[Entry] = []
        self.opaque: list[MarkdownBlock] = []  # code and HTML: markers in them may be text
        self.covered = bytearray(len(lines) + 1)  # a byte a line, 1 where an entry holds it
        self.heading = ""
        self.retain_level = 0  # level of the Retain heading we are under; 0 is none
        self.columns, self.last_row = "", 0  # the head of the table that we are in, and the line of its last row

    def walk(self, blocks: Iterable[MarkdownBlock]) -> None:
        """Keep each block as an entry or several."""
        for block in blocks:
            if block.type == "paragraph_open":
                self._add_paragraph(block)
            elif block.type == "heading_open":
                self._add_heading(block)
            elif block.type == "tr_open":
                self._add_row(block.first, block.last)
            else:
                self.opaque.append(block)
                for first, last in _cut(self.lines, block):
                    self.add(Role.CODE, first, last)

    def _add_row(self, first: int, last: int) -> None:
        """Keep a row of a table, with the head above it; the rule below a head is no row."""
        is_head = self.last_row + 1 != first and any(map(TABLE_RULE.fullmatch, self.lines[last : last + 1]))
        self.add(Role.ROW, first, last, "" if is_head else self.columns)
        if is_head:
            self.columns, last = content_of(Role.ROW, self.lines[first - 1 : last]), last + 1
        self.last_row = last

    def add(self, role: Role, first: int, last: int, columns: str = "") -> None:
        """Keep lines `first` to `last` (1-based) as an entry, unless they are there already or say nothing."""
        raw = self._take(first, last)
        if raw:
            content = content_of(role, raw)
            span = Span(first, first + len(raw) - 1)
            self.entries.append(Entry(role, span, content, content, self.heading, columns=columns))

    def _take(self, first: int, last: int) -> list[str]:
        """The lines of a new entry; none where it is there already, says nothing, or is a tombstone and so kept."""
        while last > first and not self.lines[last - 1].strip():
            last -= 1
        raw = self.lines[first - 1 : last]
        is_known = 0 not in self.covered[first : last + 1]
        self.covered[first : last + 1] = b"\1" * (last + 1 - first)
        if is_known or not any(map(_SAYS_SOMETHING.search, raw)):
            return []
        return [] if "<!-- memctl:" in raw[0] and self._add_tombstone(first, last) else raw

    def _add_tombstone(self, first: int, last: int) -> bool:
        """Keep lines that are a tombstone as an entry without content; the further lines of one belong to its first."""
        found = [read_tombstone(line) for line in self.lines[first - 1 : last]]
        if found[0] is None or not all(found):
            return False
        ref = found[0].ref
        before = self.entries[-1] if self.entries and found[0].part > 1 else None
        if before and before.forgotten == ref and before.span.end_line == first - 1:
            self.entries.pop()
            first = before.span.line
        self.entries.append(Entry(Role.REST, Span(first, last), "", "", self.heading, block=FORGOTTEN, forgotten=ref))
        return True

    def _add_heading(self, block: MarkdownBlock) -> None:
        content = content_of(Role.HEADING, self.lines[block.first - 1 : block.last])
        if block.level:
            self.heading = content
            if is_retain(content):
                self.retain_level = block.level
            elif block.level <= self.retain_level:
                self.retain_level = 0
        self.add(Role.HEADING, block.first, block.last)

    def _add_paragraph(self, block: MarkdownBlock) -> None:
        first, last = block.first, block.last
        if block.is_quoted or not (self.retain_level or self.facts_everywhere):
            self.add(Role.ITEM if block.marker else Role.TEXT, first, last)
            return
        own = last
        if block.marker:
            # Prose right under a fact is none of it, as it is in Markdown: a fact goes on over indented lines only.
            own = next((n for n in range(first, last) if not self.lines[n][:1].isspace()), last)
            self._add_candidate(block, first, own)
        if not block.marker or own < last:
            self._add_candidate(block._replace(marker=""), own + 1 if block.marker else first, last)

    def _add_candidate(self, block: MarkdownBlock, first: int, last: int) -> None:
        """Keep a paragraph where facts are expected: as a fact, or as a note that says why it is none."""
        raw = self._take(first, last)
        if not raw:
            return
        role = Role.ITEM if block.marker else Role.TEXT
        logical, span = content_of(role, raw), Span(first, first + len(raw) - 1)
        problem = _NO_BULLET
        if block.marker and block.marker in "-*+":
            read = parse(logical)
            if isinstance(read, Fact):
                self.entries.append(Entry(Role.FACT, span, logical, read.text, self.heading, read))
                return
            problem = read._replace(column=read.column + max(0, raw[0].find(content_of(Role.FACT, raw[:1]))))
        told = problem if self.retain_level and block.depth <= 1 else None
        self.entries.append(Entry(role, span, logical, logical, self.heading, problem=told))


_NO_BULLET = Problem(1, "not a bullet", "facts are bullets: `- W: text`; put a heading before prose")


def _cut(lines: Sequence[str], block: MarkdownBlock) -> Iterator[tuple[int, int]]:
    """Pieces of a long code block: at a blank line once half a piece is full, and wherever a piece is full."""
    start = block.first
    for number in range(block.first, block.last):
        size = number - start + 1
        if size >= _CODE_LINES or (size >= _CODE_LINES // 2 and not lines[number - 1].strip()):
            yield start, number
            start = number + 1
    yield start, block.last


def parse_page(text: str, facts_everywhere: bool = False) -> Page:
    """Read a page. `facts_everywhere` is for bank/world.md and its like, where every bullet may be a fact.

    Every line that holds a letter, a digit or a symbol stands in exactly one entry.
    """
    lines = split_lines(text)
    problems: list[tuple[int, Problem]] = []
    for number, line in enumerate(lines, 1):
        if len(line) > MAX_LINE:
            told = f"a line of {len(line)} characters; only the first {MAX_LINE} are searched"
            problems.append((number, Problem(MAX_LINE + 1, told, "break the line")))
    shown = _shown(lines)
    front = front_matter_end(lines)
    reader = _PageReader([line[:MAX_LINE] for line in lines[:front]] + shown[front:], facts_everywhere)
    for number in range(2, front):
        reader.add(Role.REST, number, number)
    plain = plain_blocks(shown)
    reader.walk(_in_pieces(shown) if plain is None else plain)
    for number in range(1, len(lines) + 1):  # link definitions, nesting deeper than the parser goes
        if not reader.covered[number]:
            reader.heading = ""
            reader.add(Role.REST, number, number)
    entries = sorted(reader.entries, key=lambda e: e.span.line)
    if plain is None:
        hidden = _hidden_lines(reader.opaque, shown)
        names = dict(disputed_lines(shown, hidden))
        for block in find_blocks(shown, hidden):
            names |= dict.fromkeys(range(block.begin, block.end + 1), block.name)
        entries = [entry._replace(block=names.get(entry.span.line, entry.block)) for entry in entries]
    problems += [(e.span.line, e.problem) for e in entries if e.problem]
    problems.sort(key=lambda problem: problem[0])
    yaml = "\n".join(lines[1 : front - 1]) if front else ""
    return Page(tuple(lines), tuple(entries), yaml, reader.retain_level > 0, tuple(problems))


def front_matter_end(lines: Sequence[str]) -> int:
    """The line that closes YAML front matter; 0 without front matter."""
    if not lines or lines[0].rstrip() != "---":
        return 0
    return next((n for n, line in enumerate(lines[1:], 2) if line.rstrip() in ("---", "...")), 0)


def _shown(lines: Sequence[str]) -> list[str]:
    """The lines as they are read as Markdown: front matter is blank, what is too long is cut."""
    front = front_matter_end(lines)
    return [""] * front + [line[:MAX_LINE] for line in lines[front:]]


def _blocks(lines: Sequence[str]) -> list[MarkdownBlock]:
    """The blocks of a page as markdown-it sees them."""
    found: list[MarkdownBlock] = []
    items: list[str] = []  # the marker of each open list item, empty once it has its paragraph
    quotes = 0
    for token in _markdown().parse("\n".join(lines) + "\n"):
        match token.type:
            case "list_item_open":
                items.append(token.markup)
            case "list_item_close":
                items.pop()
            case "blockquote_open":
                quotes += 1
            case "blockquote_close":
                quotes -= 1
            case "paragraph_open" | "heading_open" | "tr_open" | "fence" | "code_block" | "html_block" if token.map:
                first, last = token.map[0] + 1, token.map[1]
                is_paragraph = token.type == "paragraph_open"
                marker = items[-1] if is_paragraph and items else ""
                level = int(token.tag[1]) if token.type == "heading_open" and token.level == 0 else 0
                block = MarkdownBlock(token.type, first, last, marker, len(items), quotes > 0, level, token.markup)
                found.append(block)
                # What follows a tombstone in its item did not begin that, and does not now.
                if items and (is_paragraph or (token.type == "html_block" and read_tombstone(lines[first - 1]))):
                    items[-1] = ""
    return found


# What may go on over the start of a piece: a fence, HTML. Block markers are HTML too, of one line each.
_OPENER = re.compile(r"[ \t>*+.)\d-]*(?:```|~~~|<)")
# What ends every list, quote and paragraph before it, and is a piece of its own meaning: a heading or bullet at the edge.
_EDGE = re.compile(r"\#{1,6} +[^\s#]|[-*+] [^\W_]|[-*+] \*\*[^\W_]")


def _in_pieces(lines: Sequence[str]) -> Iterator[MarkdownBlock]:
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
            yield from _piece(lines[start:number], start)
            start = number
        if marker:
            yield MarkdownBlock("html_block", number + 1, number + 1)
            start = number + 1
    yield from _piece(lines[start:], start)


def _piece(piece: Sequence[str], start: int) -> Iterator[MarkdownBlock]:
    """The blocks of some lines: flat ones, a bullet with flat ones two spaces below it, or whatever else it may be."""
    found = plain_blocks(piece)
    if found is None and any(piece[:1]) and all(line.startswith("  - ") for line in piece[1:] if line):
        flat = plain_blocks([piece[0], *(line[2:] for line in piece[1:])])
        if flat and len(flat) == sum(map(bool, piece)) and all(block.marker for block in flat):
            found = [flat[0], *(block._replace(depth=2) for block in flat[1:])]
    return _moved(_blocks(piece) if found is None else found, start)


def _moved(blocks: Iterable[MarkdownBlock], by: int) -> Iterator[MarkdownBlock]:
    return (block._replace(first=block.first + by, last=block.last + by) for block in blocks)


# A first character that can open nothing but a paragraph: no list, quote, fence, heading, rule, table, HTML, definition.
_TEXT = (
    r"(?:[^\W\d_]|[^\x00-\x7f\s]|[\"'(@$&%,.!?;/\\^{}]|\d(?!\d{0,8}[.)](?:\s|$))"
    r"|`{1,2}(?=[^`])|\*{1,2}(?=[^\s*])|_{1,2}(?=[^\s_])|\[\[|\#(?=[^\s\#]))"
)
_PLAIN_LINE = re.compile(
    rf"(?P<blank>[ \t]*)|(?P<heading>\#{{1,6}})[ ]+\S.*|(?P<bullet>[-*+])[ ]{_TEXT}.*|(?P<more>[ ]{{1,3}}){_TEXT}.*|(?P<text>{_TEXT}).*",
    re.DOTALL,
)


def plain_blocks(lines: Sequence[str]) -> list[MarkdownBlock] | None:
    """The blocks of a page in markdown-it's terms, or None for a page that is not plain."""
    blocks: list[MarkdownBlock] = []
    is_open = False  # a paragraph, which the next line may go on with
    for number, line in enumerate(lines, 1):
        match = _PLAIN_LINE.fullmatch(line)
        kind = match.lastgroup if match else None
        if is_open and kind in ("text", "more"):
            blocks[-1] = blocks[-1]._replace(last=number)
        elif match is None or kind == "more":  # a paragraph of its own inside an item, or an indented one: not for us
            return None
        elif kind == "heading":
            blocks.append(MarkdownBlock("heading_open", number, number, level=len(match["heading"])))
        elif kind != "blank":
            marker = match["bullet"] or ""
            blocks.append(MarkdownBlock("paragraph_open", number, number, marker, len(marker)))
        is_open = kind in ("bullet", "text", "more")
    return blocks


def _hidden_lines(blocks: Iterable[MarkdownBlock], lines: Sequence[str]) -> set[int]:
    """The 1-based lines that stand inside a code fence, or inside HTML that ends at a tag of its own."""
    hidden: set[int] = set()
    for block in blocks:
        if block.type == "fence" or (block.type == "html_block" and _SWALLOWS.match(lines[block.first - 1])):
            hidden.update(range(block.first, block.last + 1))
    return hidden


def live_blocks(lines: Sequence[str]) -> list[Block]:
    """The managed blocks of a page (its lines, without the byte order mark) as `parse_page` sees them.

    Markers in front matter, in a code fence or in HTML such as `<pre>` are text.
    """
    shown = _shown(lines)
    if not any(map(is_marker, shown)):
        return []
    return find_blocks(shown, _hidden_lines(_blocks(shown), shown) if any(map(_SWALLOWS.match, shown)) else ())


_CLOSINGS = {"<?": "?>", "<![cdata[": "]]>"}


def open_end(lines: Sequence[str]) -> str:
    """The line that closes what a page leaves open at its end and would swallow a marker there; empty if nothing is."""
    shown = _shown(lines)
    last = _blocks([*shown, "", "x"])[-1] if any(map(_SWALLOWS.match, shown)) else None
    if last is None or last.last <= len(shown) + 1 or last.type not in ("fence", "html_block"):
        return ""
    if last.type == "fence":
        return last.markup
    opening = shown[last.first - 1].strip(" ").lower()
    tag = re.match(r"<(script|pre|style|textarea)", opening)
    closing = f"</{tag[1]}>" if tag else ""
    return next((close for start, close in _CLOSINGS.items() if opening.startswith(start)), closing)
