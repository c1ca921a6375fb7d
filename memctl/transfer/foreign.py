"""Notes, memories and conversations of other programs as pages and facts of a workspace.

A note stays as its author wrote it. It gets one line of front matter that says where it came from, and where it holds
facts in another spelling (basic-memory) those lines are spelled as facts; whatever else another program would have made
of it stays text, and is named. Memories of mem0 become facts, conversations of ChatGPT pages of dialogue.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import date, timedelta
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from ..errors import Usage
from ..facts import Fact, Kind, is_trusted, iso_day
from ..ids import fact_id
from ..ingest.turns import Turn, time_of, without_controls
from ..language.dates import day_and_rest
from ..language.names import entity_key, slug
from ..language.sentences import opens_fence
from ..markdown.front_matter import front_values, with_value
from ..markdown.grammar import OPINIONS, Problem, parse, printable_line, render

KINDS = ("memctl", "openclaw", "obsidian", "claude-code", "basic-memory", "mem0", "chatgpt")


class Skip(NamedTuple):
    """What was not taken, or not understood and only kept as text: where it stands, and why."""

    place: str
    reason: str


def place_of(kind: str, name: str, path: str, entities: str | None = None) -> str:
    """Where a note goes: memctl's and OpenClaw's to the same place, a daily note to its day, others below `bank/KIND/NAME/`.

    Notes in the folder `entities` become entity pages.
    """
    note = PurePosixPath(path)
    if kind in ("memctl", "openclaw"):
        return path
    day, rest = day_and_rest(note.stem)
    if kind == "obsidian" and day and rest[:1] in ("", " ", "_", "-"):
        return f"memory/{day}-{slug(f'{name} {rest}'.strip())}.md"
    if entities is not None and note.is_relative_to(entities):
        return f"bank/entities/{slug(note.stem)}.md"
    return place_below(kind, name, path)


def place_below(kind: str, name: str, path: str) -> str:
    """The path of a note that becomes a plain page, apart from the notes of other sources."""
    return f"bank/{kind}/{slug(name)}/{path}"


def imported(kind: str, origin: str, path: str, text: str, source: str | None) -> tuple[str, list[Skip]]:
    """The text of the page that a note becomes, and what in it means nothing here; `source` is put into its front matter.

    Usage if its front matter is not YAML, so that the mark cannot be set.
    """
    left = list(_unknown(kind, origin, text))
    if kind == "basic-memory":
        try:
            title = front_values(text).get("title")
        except ValueError:
            title = None
        named = title if isinstance(title, str) and title.strip() else PurePosixPath(path).stem
        text = _with_facts(text, named)
    if source is not None:
        try:
            text = with_value(text, "src", source)
        except ValueError as error:
            what = f"its front matter cannot be read ({error}); repair it, or import with --trusted"
            raise Usage(what, "see it in its own program") from error
    return text, left


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


def _unknown(kind: str, origin: str, text: str) -> Iterator[Skip]:
    for pattern, reason in _CONSTRUCTS.get(kind, ()):
        found = list(re.finditer(pattern, text))
        if found:
            line = text.count("\n", 0, found[0].start()) + 1
            more = f", and {len(found) - 1} more" if len(found) > 1 else ""
            yield Skip(f"{origin}#L{line}", f"{reason}: {' '.join(found[0][0].split())[:60]!r}{more}")


# -- basic-memory ------------------------------------------------------------------------------------------------------

_OBSERVATION = re.compile(r"[-*][ \t]+\[(?P<category>[^\[\]\n]{2,40})\][ \t]+(?P<text>\S.*)")
_HEADING = re.compile(r"(#{1,6})[ \t]+observations?[ \t]*#*[ \t]*", re.IGNORECASE)
_ANY_HEADING = re.compile(r"#{1,6}[ \t]")
_OPINIONS = {"preference", "opinion", "belief", "idea"}
_DEEDS = {"experience", "event", "attempt", "lesson", "outcome"}


def _with_facts(text: str, title: str) -> str:
    """The note with its observations spelled as facts about its title, under a heading that says so."""
    lines = text.split("\n")
    inside = fenced = False
    for number, line in enumerate(lines):
        bare = line.rstrip("\r")
        fenced ^= bool(opens_fence(bare.lstrip()))
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


# -- mem0, and memctl itself -------------------------------------------------------------------------------------------

_TEXT = ("memory", "text", "content")
_KNOWN = {"id", "memory", "text", "content", "user_id", "created_at", "updated_at", "metadata", "categories"}
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_NO_NAMES = {"default", "default_user", "user", "me", "none", ""}


class ForeignMemory(NamedTuple):
    """One memory as a fact, the day on which it was kept, and what of it has no place in a fact."""

    fact: Fact
    day: date
    left: tuple[Skip, ...]


def is_memory(value: Any) -> bool:
    """True for an object of a mem0 export."""
    return isinstance(value, dict) and isinstance(value.get("memory"), str)


def is_exported(value: Any) -> bool:
    """True for a row of `memctl export`."""
    return isinstance(value, dict) and all(isinstance(value.get(key), str) for key in ("written", "origin", "path"))


def memory_of(
    value: Mapping[str, Any], place: str, today: date, source: str | None, undated: date | None = None
) -> ForeignMemory | None:
    """The fact that an object of an export is; None for one that says nothing.

    One without a day gets `undated`, which should be the same the next time; a day to come is not believed.
    """
    if is_exported(value):
        return _of_row(value, today, source, undated or today)
    texts = (value[key] for key in _TEXT if isinstance(value.get(key), str) and value[key].strip())
    text = printable_line(next(texts, ""))
    if not text:
        return None
    kept, left = _attributes(value, place)
    told = time_of(value.get("created_at"))
    name = value.get("user_id")
    name = name.strip() if isinstance(name, str) and name.strip().casefold() not in _NO_NAMES else ""
    names = (name,) if re.fullmatch(r"[^\W\d_][\w .'-]{0,60}", name) else ()
    number = value.get("id")
    block = number if isinstance(number, str) and _UUID.fullmatch(number) else None  # no other: it could be one of ours
    if number is not None and block is None:
        kept.append(("id", str(number)))
    fact = Fact(Kind.WORLD, text, names, source=source, extra=tuple(kept), block_id=block)
    day = told.date() if told and told.date() <= today + timedelta(days=1) else undated or today
    return ForeignMemory(fact, day, tuple(left))


def _attributes(value: Mapping[str, Any], place: str) -> tuple[list[tuple[str, str]], list[Skip]]:
    """What a line can say of the rest of an object, and what it cannot."""
    kept: list[tuple[str, str]] = []
    left: list[Skip] = []
    categories = value.get("categories")
    if isinstance(categories, list) and categories:
        kept.append(("categories", " ".join(map(str, categories))))
    updated = time_of(value.get("updated_at"))
    if updated and value.get("updated_at") != value.get("created_at"):
        kept.append(("updated", str(updated.date())))
    about = value.get("metadata")
    for name, item in sorted(about.items()) if isinstance(about, dict) else ():
        if isinstance(item, (str, int, float)) and re.fullmatch(r"[a-z][a-z0-9_-]{0,30}", str(name)):
            kept.append((f"meta-{name}", printable_line(str(item))))
        else:
            left.append(Skip(place, f"metadata {str(name)[:40]!r} is not a plain value"))
    others = Counter(str(key)[:40] for key in value if key not in _KNOWN and value[key] is not None)
    if others:
        left.append(Skip(place, f"keys without a place in a fact: {', '.join(sorted(others))}"))
    return kept, left


def _of_row(value: Mapping[str, Any], today: date, source: str | None, undated: date) -> ForeignMemory:
    """The fact of a row of `memctl export`, with what its page said of it and the id by which others cite it.

    Of a `source` it is by that, unless it is less trusted by itself. Usage for a line that is no fact, and for a belief.
    """
    if value["path"] == OPINIONS:
        raise Usage("a belief: `memctl reflect` draws it from its lines again")
    read = parse(value["written"])
    if isinstance(read, Problem):
        raise Usage(f"column {read.column}: {read.message}")
    day = min(today, iso_day(str(value.get("day"))) or undated)
    ref, told = value.get("id"), value["origin"] if value["origin"] != "owner" else None
    if read.sealed:
        raise Usage("a sealed line: an export does not hold its text")
    names, known_as = read.entities, value.get("entities")
    # Pages with aliases do not travel: where nobody else is named, a head takes the name that it stood for.
    if isinstance(known_as, list) and len(known_as) == len(names) and all(isinstance(name, str) for name in known_as):
        heads, known = ({*map(entity_key, some)} for some in (names, known_as))
        names = names if heads == known else tuple(known_as)
    is_known = ref == fact_id(read.kind, names, read.text, day)
    fact = replace(
        read,
        entities=names,
        private=read.private or value.get("private") is True,
        source=told if source is None or not is_trusted(told) else source,
        block_id=None if is_known or not isinstance(ref, str) else ref,
    )
    return ForeignMemory(fact, day, ())


# -- ChatGPT -----------------------------------------------------------------------------------------------------------


def conversation_page(title: str, turns: Iterable[Turn], source: str | None, number: str) -> tuple[str, str] | None:
    """(path, text) of the page for a conversation; None for one in which nobody says anything."""
    spoken = [turn for turn in turns if turn.role in ("user", "assistant") and turn.text.strip()]
    if not spoken:
        return None
    day = next((turn.when.date() for turn in spoken if turn.when), None)
    head = f"---\nsrc: {source}\n---\n" if source else ""
    name = slug(title)[:60] or "conversation"
    place = f"memory/{day}-chatgpt-{name}" if day else f"bank/chatgpt/{name}"
    body = "\n".join(_spoken(spoken))
    path = f"{place}-{slug(number)[: 8 if _UUID.fullmatch(number) else 36]}.md"
    return path, f"{head}# {printable_line(title) or 'Conversation'}\n\n{body}"


def _spoken(turns: Iterable[Turn]) -> Iterator[str]:
    """Each turn under its speaker; code that was left open is closed, so that it swallows nobody else's words."""
    for turn in turns:
        text = without_controls(turn.text).strip("\n")
        fences = re.findall(r"(?m)^[ \t]*(`{3,}|~{3,})", text)
        closing = f"\n{fences[-1]}" if len(fences) % 2 else ""
        yield f"**{'User' if turn.role == 'user' else 'Assistant'}:**\n\n{text}{closing}\n"
