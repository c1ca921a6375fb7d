"""Text made safe to show: names and words as Markdown, links, and anything on a terminal."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple, TypeVar

from ..facts import Span

# C0 and C1 controls but the tab, bidirectional and invisible characters, tags, lone surrogates: all can make a terminal
# do or show what the text does not say. A line break too: a file name may hold one, and forge a line of an answer.
UNSEEN = (
    "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0"
    "\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e0fff"
)
"""These without the line breaks of every page, as the inside of a class of a regex."""
_UNSAFE = re.compile(f"[\n\r{UNSEEN}]")


def printable(text: str) -> str:
    """`text` with every character that could steer a terminal written out, such as `\\x1b` or `\\u202e`."""
    return _UNSAFE.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


def one_line(text: str) -> str:
    """`text` with its line breaks and other white space as single spaces."""
    return " ".join(text.split())


class Source(NamedTuple):
    """What a link that memctl wrote points at: lines of a page (None: the block with this id), and the fact's id."""

    path: str
    lines: Span | None
    ref: str


# -- text as data -----------------------------------------------------------------------------------------------------


def beginning(text: str, most: int) -> str:
    """The first characters of a text that is longer, and a mark that it goes on."""
    return text if len(text) <= most else text[:most].rstrip() + " …"


def inline(text: str, struck: bool = False) -> str:
    """`text` on one line of Markdown, as little escaped as can be: what it shows by itself it shows there, and no more.

    Emphasis, code and links stay; all other marks become letters. With `struck` it may stand between `~~`.
    """
    line = _one_line(text)
    alone = line.count("~") == 1

    def disarmed(match: re.Match[str]) -> str:
        if match.lastgroup == "url":
            return re.sub(_IN_URLS, lambda found: found[0] if is_calm(found) else f"%{ord(found[0]):X}", match[0])
        kept = match.lastgroup == "kept" or is_calm(match)
        return match[0] if kept else "".join(f"\\{char}" for char in match[0])

    def is_calm(match: re.Match[str]) -> bool:
        """A tilde alone strikes nothing («3~5 дней»), nor do those that can only open (`~/notes`)."""
        return match[0] == "~" and not struck and (match.lastgroup == "opener" or alone)

    return _escape_opening(re.sub(_SPECIALS, disarmed, line))


# What may need a backslash, from left to right: escapes, code spans and links in angle brackets need none.
_SPECIALS = (
    r"(?P<kept>\\[!-/:-@\[-`{-~]|(?P<ticks>`++)[^`]*+(?:(?!(?P=ticks)(?!`))`++[^`]*+)*(?P=ticks)(?!`)"
    r"|<(?:https?|ftp)://[^\s<>]*+>)"
    r"|(?P<url>(?:(?<![A-Za-z])(?:https?|ftp)://|(?<![^\s*_~(])www\.)\S++)"
    r"|(?P<opener>(?<!\S)~(?!~)|(?<=[/(])~(?=[^\W_]))"
    r"|`++|<(?=[A-Za-z/!?])|~|!(?=\[)|(?<=\])\((?=\s*<)|%%++|\$\$++|\\\Z"
)
# On GitHub a bare link goes on to the next space, backslashes and all: there only a percent sign can disarm.
_IN_URLS = r"(?P<opener>(?<=/)~(?=[^\W_]))|[~<`]|(?<=!)\[|\\\Z"


def _one_line(text: str) -> str:
    return re.sub(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+", " ", text).strip()


def literal(name: str) -> str:
    """`name` as letters and nothing else, for a label or between markers of ours."""
    return _escape_opening(re.sub(r"([\\`*~\[\]<$%]|(?<![^\W_])_|_(?![^\W_])|&(?=#?\w+;))", r"\\\1", _one_line(name)))


def _escape_opening(line: str) -> str:
    """`line` so that nothing in it is a marker of a block, when it comes first in a list item or a heading."""
    return re.sub(
        r"^(?:(?=#{1,6}(?:\s|$)|[-+*](?:\s|$)|>|\[[ xX]\]\s|\[[^\[\]]+\]:)|([0-9]{1,9})(?=[.)](?:\s|$)))", r"\1\\", line
    )


def heading(name: str) -> str:
    """A name as the text of a heading. One that would open a section of facts («Retain») is put in quotes."""
    from .page import is_retain  # with the parser, which most of those who print do not need

    shown = re.sub(r"(?<!\S)(#+)$", r"\\\1", inline(name))
    return f"“{shown}”" if is_retain(shown) else shown or "?"


def link(shown: str, target: str, title: str = "") -> str:
    """A Markdown link; `shown` and `target` must be escaped already (`literal`, `relative`)."""
    return f'[{shown}]({target} "{title}")' if title else f"[{shown}]({target})"


def relative(path: str, page: str) -> str:
    """The path from the folder of `page`, percent-encoded where Markdown needs it; other scripts stay readable."""
    here, there = page.split("/")[:-1], path.split("/")
    shared = 0
    while shared < min(len(here), len(there) - 1) and here[shared] == there[shared]:
        shared += 1
    return re.sub(
        r"[\x00-\x20\x7f-\xa0\"#%&'()*:<>?\[\\\]^`{|}!$~\ud800-\udfff]|\s",
        lambda match: "".join(f"%{byte:02X}" for byte in match[0].encode("utf-8", "surrogateescape")),
        "/".join([".."] * (len(here) - shared) + there[shared:]),
    )


def sources(body: str, page: str) -> Iterator[Source]:
    """What the links of a body that stands on `page` point at, in order: lines by number, beliefs by id."""
    links = re.finditer(
        r"\]\((?P<path>[^()<>\s#]+\.md)#(?:L(?P<line>[0-9]{1,9})(?:-L(?P<end>[0-9]{1,9}))?|\^(?P<id>[A-Za-z0-9-]+))"
        r"(?: \"(?P<ref>[^\"]*)\")?\)",
        body,
    )
    for match in links:
        target = re.sub(
            r"(?:%[0-9A-F]{2})+",
            lambda coded: bytes.fromhex(coded[0].replace("%", "")).decode("utf-8", "surrogateescape"),
            match["path"],
        )
        parts = page.split("/")[:-1]
        for part in target.split("/"):
            parts = parts[:-1] if part == ".." else [*parts, part]
        lines = Span(int(match["line"]), int(match["end"] or match["line"])) if match["line"] else None
        yield Source("/".join(parts), lines, match["id"] or match["ref"] or "")


def many(count: int, one: str, several: str = "") -> str:
    """`1 line is`, `1,200 lines are`; without `several` an s makes it."""
    return f"{count:,} {one if count == 1 else several or one + 's'}"


COMMAND = r"SAVE[_ -]?FACT|GET[_ -]?FACT|SEARCH[_ -]?MEMORY|SAVE[_ -]?DOC|READ[_ -]?DOC|ANSWER(?=[^\]】］\n]{1,60}\bq-)"
"""The names of bracket commands (agents/brackets.py), as models spell them; "answer" is a word too, so it needs an id."""


V = TypeVar("V")


def defused(value: V) -> V:
    """Text, or plain values with text in them, in which no bracket command is left: whoever repeats it gives no command."""
    made: Any = value
    if isinstance(value, str):
        made = re.sub(rf"(?i)[\[【［](?=[\s\W_]{{0,8}}(?:{COMMAND})(?![\w-]))", "(", value)
    elif isinstance(value, dict):
        made = {defused(key): defused(item) for key, item in value.items()}
    elif isinstance(value, list | tuple):
        made = [defused(item) for item in value]
    return made  # type: ignore[no-any-return]
