"""Which lines of a page are private or sealed: what must not leave this machine through a server, spelling mistakes included.

And which came from outside: with these, what is not shared with other people either.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Sequence, Set
from typing import TYPE_CHECKING, NamedTuple

from ..facts import Fact, is_trusted

if TYPE_CHECKING:
    from .page import Page

_QUOTED = r'"(?:[^"\\]|\\.)*+"'
_INSIDE = rf'(?:[^()\uff08\uff09"]|{_QUOTED})*+'
_OUTSIDE = r"[\"']?(?:tool|web|import)(?![\w-])"
_MOST = 40  # lines over which a head may go on

_ID = re.compile(
    r"(?:[\^\"]|^(?=o-)|(?<!\S)(?:[+-]|[^\s:]{1,6}:(?=[fo]-)))([A-Za-z0-9][A-Za-z0-9-]{0,63})", re.MULTILINE
)
_CITATION = re.compile(r"#(?:L\d|\^)")  # of a line, or of a belief
_MADE_ID = re.compile(r"[fo]-[0-9a-hjkmnp-tv-z]{8}")
_BULLET = re.compile(r"[\s>]*(?:[-*+]|\d{1,9}[.)])\s")


class _Mark(NamedTuple):
    """What makes a line one of those that are looked for: `flag` among its attributes, or a fact that `holds`.

    A page without any of `words` has none. The flag may stand in a quoted value where it is `quoted`.
    """

    flag: str
    words: tuple[str, ...]
    holds: Callable[[Fact], bool]
    quoted: bool = False


_PRIVATE = _Mark(
    r"(?<![\w=:-])(?:private|sealed)(?![\w-])", ("private", "sealed"), lambda fact: fact.private or fact.sealed
)
_FROM_OUTSIDE = _Mark(
    rf"(?<![\w-])src\s*[=:\uff1a]\s*{_OUTSIDE}", ("src",), lambda fact: not is_trusted(fact.source), quoted=True
)
_FRONT = re.compile(rf"^[\s\"']*src[\"']?\s*:\s*{_OUTSIDE}", re.IGNORECASE | re.MULTILINE)


# A head that begins a line, however wrong the rest of it is; and a whole one anywhere in a line.
_BEGINS = r"(?is)[\s>|]*(?:(?:[-*+]|\d{1,9}[.)])\s+|\[[ xX]\]\s+)*[*_`]*[WBOS]\s*[(\uff08](?P<inside>.*)"
_WITHIN = rf"(?i)(?<!\w)(?=[WBOS]\s*[(\uff08](?P<inside>{_INSIDE})[)\uff09])"


def cites(text: str, refs: Collection[str]) -> bool:
    """True for text that names one of these ids, as evidence (`^id`) or as the title of a citation (`"id"`)."""
    return bool(refs) and any(match[1] in refs for match in _ID.finditer(text))


def without_ids(text: str, known: Callable[[Collection[str]], Collection[str]]) -> str:
    """A text of somebody else's in which no id is cited but the `known` ones: others begin with a capital, which no id does.

    A line that cites a private one is hidden: who may write would learn which ids those are, and they are made of words.
    """
    cited = {match[1] for match in _ID.finditer(text) if _MADE_ID.fullmatch(match[1])}
    for ref in cited.difference(known(cited)) if cited else ():
        text = text.replace(ref, ref.capitalize())
    return text


def private_lines(page: Page, refs: Collection[str] = (), mark: _Mark = _PRIVATE) -> frozenset[int]:
    """The 1-based lines of a page that are private: facts that say so, with all that is indented below them.

    A line that means to say so and does not parse counts too, and so does a bullet outside `## Retain`. With `refs`, the
    ids of private lines, what cites one of them is a copy of it or evidence from it, and private as well.
    """
    lines = page.lines
    marked = _marked(lines, mark)
    if not marked and not refs:
        return frozenset()
    if marked:
        marked |= {e.span.line for e in page.entries if e.fact and mark.holds(e.fact)}
    marked |= _citing(lines, refs) if refs else set()
    while True:
        hidden = marked | _below(lines, marked)
        for entry in page.entries:
            span = range(entry.span.line, entry.span.end_line + 1)
            if not hidden.isdisjoint(span):
                hidden.update(span)
        if hidden == marked:
            return frozenset(marked | _emptied(page, marked))
        marked = hidden


def _emptied(page: Page, hidden: Set[int]) -> set[int]:
    """What else was made of hidden lines: in a managed block that holds one, what cites no line, such as related names; and
    the sections all of whose citations are hidden: a task is a heading, and as it was told."""
    from .markers import is_marker

    sections: dict[tuple[str, int], set[int]] = defaultdict(set)
    headings, stale, gone = 0, {e.block for e in page.entries if e.block and e.span.line in hidden}, set[int]()
    for entry in page.entries:
        headings += entry.role.value == "heading"
        span = range(entry.span.line, entry.span.end_line + 1)
        text = page.lines[span.start - 1 : span.stop - 1]
        if entry.block and not is_marker(text[0]):
            sections[entry.block, headings].update(span)
            if entry.block in stale and entry.role.value in ("text", "item") and not _CITATION.search("\n".join(text)):
                gone.update(span)
    cited = {number for number, line in enumerate(page.lines, 1) if "](" in line}
    hidden = hidden | gone
    return gone.union(*(lines for lines in sections.values() if lines & cited and lines & cited <= hidden))


def private_lines_of_text(text: str, refs: Collection[str] = (), mark: _Mark = _PRIVATE) -> frozenset[int]:
    """The same for a page whose path is not known: a bullet anywhere may be a fact."""
    if not _may_say(text, mark) and not cites(text, refs):
        return frozenset()
    from .page import parse_page  # most pages have none, and a recall loads no parser for them

    pages = parse_page(text), parse_page(text, facts_everywhere=True)
    return frozenset().union(*(private_lines(page, refs, mark) for page in pages))


def outside_lines_of_text(text: str, refs: Collection[str] = ()) -> frozenset[int] | None:
    """The lines that came from outside (`src=web`, `tool`, `import`), by the same rules; None for a page that did as a whole."""
    if _may_say(text, _FROM_OUTSIDE):
        from .front_matter import read_front_matter
        from .page import parse_page

        front = parse_page(text).front_matter
        source = (read_front_matter(front) or {}).get("src")
        if _FRONT.search(front) or not is_trusted(source if isinstance(source, str) else None):
            return None
    return private_lines_of_text(text, refs, _FROM_OUTSIDE)


_BREAK = re.compile(r"(\r\n|\r|\n)")


def without_private_lines(text: str, refs: Collection[str] = ()) -> str:
    """A Markdown page with its private lines blank, each with what is indented below it; line numbers stay.

    `refs` are ids of private lines: what cites one of them (a copy that reflect wrote, evidence) is blank too.
    """
    return without_lines(text, private_lines_of_text(text, refs))


def without_lines(text: str, hidden: Collection[int]) -> str:
    """A text with these of its lines blank; line numbers stay."""
    if not hidden:
        return text
    from .markers import find_blocks

    parts = _BREAK.split(text)
    for block in find_blocks(parts[::2]):  # whose hash would prove a guess of what stood there
        if not {*range(block.begin, block.end)}.isdisjoint(hidden):
            parts[2 * block.begin - 2] = parts[2 * block.begin - 2].replace(f" sha={block.sha}", "")
    for number in hidden:
        at = 2 * (number - 1)
        joins = parts[at - 1 : at] == ["\r"] and parts[at + 1 : at + 2] == ["\n"]
        parts[at] = " " if joins or at == len(parts) - 1 else ""  # two line ends would become one; an open line stays
    return "".join(parts)


def _may_say(text: str, mark: _Mark) -> bool:
    low = text.lower()
    return any(word in low for word in mark.words)


def _marked(lines: Sequence[str], mark: _Mark) -> set[int]:
    """Lines on which a head says that its line is private, or what else the mark stands for."""
    found: set[int] = set()
    if not _may_say("\n".join(lines), mark):
        return found
    for number, line in enumerate(lines, 1):
        if "(" not in line and "\uff08" not in line:
            continue
        begun = re.match(_BEGINS, line)
        says = begun and _says(mark, begun["inside"], lines[number : number + _MOST])
        if not says and _may_say(line, mark):
            last_colon = max(line.rfind(":"), line.rfind("\uff1a"), 0)
            heads = re.compile(_WITHIN).finditer(line, 0, last_colon)
            says = any(_holds_flag(mark, head["inside"]) for head in heads)
        if says:
            found.add(number)
    return found


def _says(mark: _Mark, inside: str, after: Sequence[str]) -> bool:
    """True if the attributes that begin here hold the flag; they may go on over the next lines."""
    more, written = inside, _attributes(inside)
    if written is None:
        for line in after:
            if not line.strip() or _BULLET.match(line):
                break
            more += f"\n{line}"
        written = _attributes(more)
    # Where nothing closes them, the word counts wherever it stands: more is hidden then than was meant, never less.
    return bool(re.search(mark.flag, more, re.IGNORECASE)) if written is None else _holds_flag(mark, written)


def _holds_flag(mark: _Mark, written: str) -> bool:
    if not mark.quoted and _may_say(written, mark):
        # One pass: what nothing closes is looked at once, as text.
        written = re.sub(r'"(?:[^"\\]|\\.?)*+("?)', lambda quote: '""' if quote[1] else quote[0], written)
    return _may_say(written, mark) and bool(re.search(mark.flag, written, re.IGNORECASE))


def _attributes(inside: str) -> str | None:
    """What stands before the parenthesis that closes the attributes; None if none does. A quote that nothing closes quotes nothing."""
    # A lookahead gives nothing back, as a possessive group would: Python 3.11.2 loses its way in those.
    match = re.match(rf'((?=(?P<run>(?:[^)\uff09\"]|{_QUOTED})*))(?P=run)(?:"[^)\uff09]*+)?)[)\uff09]', inside)
    return match[1] if match else None


def _citing(lines: Sequence[str], refs: Collection[str]) -> set[int]:
    """Lines that cite one of these ids. Where that is the line that stated a belief, its head says the same."""
    from .grammar import parse_bullet
    from .lines import Role, content_of

    found = {number for number, line in enumerate(lines, 1) if cites(line, refs)}
    for number in tuple(found):
        bullet = parse_bullet(content_of(Role.ITEM, lines[number - 1 : number]))
        if bullet and bullet.verdict == "stated":
            depth = _depth(lines[number - 1])
            above = (n for n in range(number - 1, 0, -1) if lines[n - 1].strip() and _depth(lines[n - 1]) < depth)
            found.add(next(above, number))
    return found


def _below(lines: Sequence[str], marked: Collection[int]) -> set[int]:
    """The lines indented more than a marked one above them, over blank lines too."""
    found: set[int] = set()
    blank: list[int] = []
    above: int | None = None  # the depth of the marked line above
    for number, line in enumerate(lines, 1):
        if not line.strip():
            blank.append(number)
            continue
        depth = _depth(line)
        if above is not None and depth > above:
            found.update((*blank, number))
        else:
            above = depth if number in marked else None
        blank = []
    return found


def _depth(line: str) -> int:
    return len(re.split(r"[^\s>]", line, maxsplit=1)[0].expandtabs(4))
