"""Managed blocks: the only parts of a page that memctl writes by itself. Every other byte of the page stays as it is."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from ..language.names import entity_key
from .lines import LineText, split_lines, whole_lines
from .markers import NAME, Block, block_is_edited, body_of, sha_of
from .page import live_blocks, open_end


def splice(text: str, name: str, body: str) -> str:
    """The page with `body` in its block `name`: in its place, or after a blank line at the end if there is none.

    An empty body takes the block away, and the blank line before it. All other bytes stay: byte order mark, line ends
    (the block takes those of the page), a missing final newline. What the end of the page left open (a code fence, a
    `<script>`) is closed before a new block. The body is `without_markers` first. Overwrites whatever stands in the block: ask
    `edited` before. Twice is as once. ValueError for a name that no marker can hold, and where the block would not be
    found again in this page.
    """
    if not re.fullmatch(NAME, name):
        raise ValueError(f"no name for a block: {name!r}")
    page, new = LineText(text), without_markers(body)
    block = _live_block(page.lines, name)
    begin = f"<!-- memctl:begin {name} sha={sha_of(new)} -->"
    if not any(map(str.strip, new)):
        if block:
            blank_above = block.begin > 1 and not page.lines[block.begin - 2].strip()
            page.replace(block.begin - blank_above, block.end, ())
        return str(page)
    if block and block.sha == sha_of(new) and body_of(page.lines, block) == new:
        return text
    if block:  # its markers keep their line ends
        page.replace(block.begin, block.end - 1, [begin, *new], page.ends[block.begin - 1])
    else:
        above = [*filter(None, [open_end(page.lines)]), *([""] if page.lines else [])]
        page.insert(len(page.lines), [*above, begin, *new, f"<!-- memctl:end {name} -->"])
    done = split_lines(str(page))
    there = _live_block(done, name)
    if there is None or body_of(done, there) != new or block_is_edited(done, there):
        raise ValueError(f"block `{name}` would not be found again; close what is open above it (front matter, HTML)")
    return str(page)


def _live_block(lines: Sequence[str], name: str) -> Block | None:
    return next((block for block in live_blocks(lines) if block.name == name), None)


def edited(text: str, name: str) -> bool:
    """True if the page has a block `name` and a person changed what stands in it."""
    lines = split_lines(text)
    block = _live_block(lines, name)
    return block is not None and block_is_edited(lines, block)


def block_body(text: str, name: str) -> list[str]:
    """The lines of the block `name` of a page; none without one."""
    lines = split_lines(text)
    block = _live_block(lines, name)
    return body_of(lines, block) if block else []


def unmanaged_lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines of a page outside its managed blocks, each with its number."""
    lines = split_lines(text)
    managed = _numbers(live_blocks(lines))
    return ((number, line) for number, line in enumerate(lines, 1) if number not in managed)


def _numbers(blocks: Iterable[Block]) -> set[int]:
    return {number for block in blocks for number in range(block.begin, block.end + 1)}


def doubled(text: str) -> list[str]:
    """The names that more than one block of the page has, in order. Only the first of each is live."""
    names = [block.name for block in live_blocks(split_lines(text))]
    return [name for name in dict.fromkeys(names) if names.count(name) > 1]


def without_markers(body: str) -> list[str]:
    """The lines of a body as they can stand in a block: nothing in them forges a marker or swallows the closing one.

    A line like a marker gets a backslash in front, which Markdown does not show; open code fences and HTML are closed.
    """
    lines = [f"\\{line}" if line.startswith("<!-- memctl:") else line for line in split_lines(body)]
    closing = open_end(["", *lines])  # a body that begins with a rule has no front matter
    return [*lines, closing] if closing else lines


class Side(NamedTuple):
    """A page as one side of a merge has it now, and which of its lines (1-based, not blank) come from a conflict."""

    text: str
    disputed: set[int]


def resolve_conflict(text: str, before: tuple[str, str] | None = None) -> str:
    """The page without git's conflict markers, if both sides of every conflict are nothing but what memctl wrote.

    Then our side is taken, and reflect writes the block again from the facts of both. If any conflict touches a line
    that a person wrote, or a block that a person edited, the text comes back unchanged. So it does where git merged
    the lines of a block and left only the two hashes as a conflict, for a person's edit might be among those lines;
    `before`, the page as ours and theirs had it (`git show :2:PATH` and `:3:PATH`), settles that.
    """
    sides = conflict_sides(text) if "<<<<<<<" in text else None
    if sides is None:
        return text
    if all(_is_written(side, _unedited(side.text)) for side in sides):
        return sides[0].text
    if before is None:
        return text
    sound = set.intersection(*map(_unedited, before)) - {name for side in sides for name in doubled(side.text)}
    if not all(_is_written(side, sound) for side in sides):
        return text
    result, mine = sides[0].text, split_lines(before[0])
    blocks = [
        block for side in sides for block in live_blocks(split_lines(side.text)) if _numbers([block]) & side.disputed
    ]
    for name in sorted({block.name for block in blocks}):
        block = _live_block(mine, name)
        result = splice(result, name, "\n".join(body_of(mine, block))) if block else result
    return result


_CONFLICT = re.compile(r"(<{7}|\|{7}|={7}|>{7})(?: .*)?", re.DOTALL)
_NEXT = {"": "<", "<": "|=", "|": "=", "=": ">"}  # what may follow which conflict marker


def conflict_sides(text: str) -> tuple[Side, Side] | None:
    """Both sides of a page with conflicts; None if they are not such as git writes: not closed, or about nothing."""
    kept: dict[str, list[str]] = {"<": [], "=": []}  # the lines of ours and of theirs
    disputed: dict[str, set[int]] = {"<": set(), "=": set()}
    state, is_about_something = "", False
    for line in whole_lines(text):
        match = _CONFLICT.fullmatch(line.rstrip("\r\n"))
        if match and (state or match[1][0] == "<"):
            if match[1][0] not in _NEXT[state]:
                return None
            state = match[1][0].replace(">", "")
            if not state and not is_about_something:
                return None
            is_about_something = is_about_something and bool(state)
            continue
        for side in kept:
            if state in ("", side):
                kept[side].append(line)
            if state == side and line.strip():
                disputed[side].add(len(kept[side]))
                is_about_something = True
    ours, theirs = (Side("".join(kept[side]), disputed[side]) for side in kept)
    return None if state else (ours, theirs)


def _unedited(text: str) -> set[str]:
    """The names of the blocks of a page that stand there as memctl wrote them."""
    lines = split_lines(text)
    return {block.name for block in live_blocks(lines) if not block_is_edited(lines, block)}


def _is_written(side: Side, sound: set[str]) -> bool:
    """True if each disputed line stands in one of the blocks that are sound."""
    return side.disputed <= _numbers(block for block in live_blocks(split_lines(side.text)) if block.name in sound)


_HEAD = "### "


def split_sections(body: str) -> dict[str, str]:
    """The sections of a body by their heading, each without it."""
    found: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in body.split("\n"):
        if line.startswith(_HEAD):
            lines = found.setdefault(line.removeprefix(_HEAD).strip(), [])
        else:
            lines.append(line)
    return {name: "\n".join(lines).strip("\n") for name, lines in found.items()}


def merge_sections(before: str, fresh: Mapping[str, str], whole: bool, key: Callable[[str], str] = entity_key) -> str:
    """The body with `fresh` sections in the place of older ones of the same name; an empty one goes.

    With `whole`, nothing older stays. Sections stand in the order of their names. Names are the same that `key` folds
    to the same: as facts come in, another spelling may become the usual one.
    """
    known = {key(name) for name in fresh}
    sections = {} if whole else {name: text for name, text in split_sections(before).items() if key(name) not in known}
    sections |= fresh
    names = sorted((name for name, text in sections.items() if text.strip()), key=lambda name: (entity_key(name), name))
    return "\n\n".join(f"{_HEAD}{name}\n\n{sections[name].strip(chr(10))}" for name in names)
