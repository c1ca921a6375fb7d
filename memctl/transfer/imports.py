"""Notes of other programs as pages of a workspace: what changes in them, and what of them means nothing here.

A note stays as its author wrote it. It gets one line of front matter that says where it came from, and where it holds
facts in another spelling (basic-memory) those lines are spelled as facts; whatever else another program would have made
of it stays text, and is named.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from pathlib import PurePosixPath
from typing import NamedTuple

from ..facts import Fact, Kind
from ..language.names import slug
from ..markdown.front_edit import front_values, with_value
from ..markdown.grammar import render

__all__ = ["KINDS", "Left", "NotAPage", "Page", "imported", "place_below", "place_of"]

KINDS = ("openclaw", "obsidian", "claude-code", "basic-memory", "mem0", "chatgpt")


class Page(NamedTuple):
    """A page to write, and which file it was made from."""

    path: str
    text: str
    origin: str


class Left(NamedTuple):
    """What was not taken, or not understood and only kept as text: where it stands, and why."""

    place: str
    reason: str


class NotAPage(ValueError):
    """A note that cannot be marked as imported; the reason is its text."""


def place_of(kind: str, name: str, path: str, entities: str | None = None) -> str:
    """Where a note goes: OpenClaw's to the same place, a daily note to its day, others below `bank/KIND/NAME/`.

    Notes in the folder `entities` become entity pages.
    """
    note = PurePosixPath(path)
    if kind == "openclaw":
        return path
    if kind == "obsidian" and _begins_with_a_day(note.stem):
        rest = slug(f"{name} {note.stem[10:]}".strip())
        return f"memory/{note.stem[:10]}-{rest}.md"
    if entities is not None and note.is_relative_to(entities):
        return f"bank/entities/{slug(note.stem)}.md"
    return place_below(kind, name, path)


def place_below(kind: str, name: str, path: str) -> str:
    """Where a note is nothing but a note, and meets those of no other source."""
    return f"bank/{kind}/{slug(name)}/{path}"


def _begins_with_a_day(stem: str) -> bool:
    if not re.fullmatch(r"\d{4}-\d{2}-\d{2}(?:[ _-].*)?", stem, re.ASCII):
        return False
    try:
        date.fromisoformat(stem[:10])
    except ValueError:
        return False
    return True


def imported(kind: str, origin: str, path: str, text: str, source: str | None) -> tuple[Page, list[Left]]:
    """The page that a note becomes, and what in it means nothing here; `source` is put into its front matter.

    NotAPage if its front matter is no YAML, so that the mark cannot be set.
    """
    left = list(_unknown(kind, origin, text))
    if kind == "basic-memory":
        text = _with_facts(text, _title(text, path))
    if source is not None:
        try:
            text = with_value(text, "src", source)
        except ValueError as error:
            raise NotAPage(f"its front matter cannot be read ({error}); mend it, or import with --trusted") from error
    return Page(path, text, origin), left


# -- what other programs make of a note --------------------------------------------------------------------------------

_CONSTRUCTS = {
    "obsidian": (
        (r"!\[\[[^\]\n]{1,300}\]\]", "embeds are not shown in place"),
        (r"(?m)^[ \t]*(?:```|~~~)[ \t]*(?:dataviewjs?|query|tasks)\b", "queries are not run"),
        (r"(?m)^(?:[-*+][ \t]+)?[\w -]{1,60}::[ \t]", "inline fields are text"),
        (r"(?s)%%.{1,2000}?%%", "comments are text"),
        (r"<%", "template commands are text"),
    ),
    "claude-code": ((r"(?m)(?:^|\s)@[~./][^\s`]{1,300}", "references to other files are not followed"),),
    "basic-memory": ((r"memory://\S{1,300}", "memory:// addresses are text"),),
}


def _unknown(kind: str, origin: str, text: str) -> Iterator[Left]:
    for pattern, reason in _CONSTRUCTS.get(kind, ()):
        found = list(re.finditer(pattern, text))
        if found:
            line = text.count("\n", 0, found[0].start()) + 1
            more = f", and {len(found) - 1} more" if len(found) > 1 else ""
            yield Left(f"{origin}#L{line}", f"{reason}: {' '.join(found[0][0].split())[:60]!r}{more}")


# -- basic-memory ------------------------------------------------------------------------------------------------------

_OBSERVATION = re.compile(r"[-*][ \t]+\[(?P<category>[^\[\]\n]{2,40})\][ \t]+(?P<text>\S.*)")
_HEADING = re.compile(r"(#{1,6})[ \t]+observations?[ \t]*#*[ \t]*", re.IGNORECASE)
_ANY_HEADING = re.compile(r"#{1,6}[ \t]")
_OPINIONS = {"preference", "opinion", "belief", "idea"}
_DEEDS = {"experience", "event", "attempt", "lesson", "outcome"}


def _title(text: str, path: str) -> str:
    try:
        title = front_values(text).get("title")
    except ValueError:
        title = None
    return title if isinstance(title, str) and title.strip() else PurePosixPath(path).stem


def _with_facts(text: str, title: str) -> str:
    """The note with its observations spelled as facts about its title, under a heading that says so."""
    lines = text.split("\n")
    inside = fenced = False
    for number, line in enumerate(lines):
        bare = line.rstrip("\r")
        fenced ^= bool(re.match(r"[ \t]*(?:```|~~~)", bare))
        if fenced:
            continue
        if heading := _HEADING.fullmatch(bare):
            inside = True
            lines[number] = f"{heading[1]} Retain{line[len(bare) :]}"
        elif _ANY_HEADING.match(bare):
            inside = False
        elif inside and (found := _OBSERVATION.fullmatch(bare)):
            lines[number] = f"- {_fact(found, title)}{line[len(bare) :]}"
    return "\n".join(lines)


def _fact(found: re.Match[str], title: str) -> str:
    category = found["category"].strip()
    word = category.casefold()
    kind = Kind.OPINION if word in _OPINIONS else Kind.EXPERIENCE if word in _DEEDS else Kind.WORLD
    name = re.sub(r"[\[\]|#^\s]+", " ", title).strip()
    about = (name,) if name else ()
    return render(Fact(kind, found["text"].strip(), about, extra=(("category", category),)))
