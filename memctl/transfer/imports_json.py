"""Exports in JSON as pages of a workspace: mem0's memories become facts, ChatGPT's conversations pages of dialogue."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import date, timedelta
from typing import Any, NamedTuple

from ..facts import Fact, Kind
from ..ingest.transcripts.read import Turn, moment
from ..language.names import slug
from ..markdown.grammar import one_line
from .imports import Left

__all__ = ["Memory", "conversation_page", "is_memory", "memory_of"]

_TEXT = ("memory", "text", "content")
_KNOWN = {"id", "memory", "text", "content", "user_id", "created_at", "updated_at", "metadata", "categories"}
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_NO_NAMES = {"default", "default_user", "user", "me", "none", ""}


class Memory(NamedTuple):
    """One memory as a fact, the day on which it was kept, and what of it has no place in a fact."""

    fact: Fact
    day: date
    left: tuple[Left, ...]


def is_memory(value: Any) -> bool:
    """True for an object of a mem0 export."""
    return isinstance(value, dict) and isinstance(value.get("memory"), str)


def memory_of(
    value: Mapping[str, Any], place: str, today: date, source: str | None, undated: date | None = None
) -> Memory | None:
    """The fact that an object of a mem0 export is; None for one that says nothing.

    One without a day gets `undated`, which should be the same the next time; a day to come is not believed.
    """
    text = next((one_line(value[key]) for key in _TEXT if isinstance(value.get(key), str) and value[key].strip()), "")
    if not text:
        return None
    kept, left = _attributes(value, place)
    told = moment(value.get("created_at"))
    name = value.get("user_id")
    names = (name.strip(),) if isinstance(name, str) and _is_name(name) else ()
    number = value.get("id")
    block = number if isinstance(number, str) and _UUID.fullmatch(number) else None  # no other: it could be one of ours
    if number is not None and block is None:
        kept.append(("id", str(number)))
    fact = Fact(Kind.WORLD, text, names, source=source, extra=tuple(kept), block_id=block)
    day = told.date() if told and told.date() <= today + timedelta(days=1) else undated or today
    return Memory(fact, day, tuple(left))


def _is_name(text: str) -> bool:
    return text.strip().casefold() not in _NO_NAMES and bool(re.fullmatch(r"[^\W\d_][\w .'-]{0,60}", text.strip()))


def _attributes(value: Mapping[str, Any], place: str) -> tuple[list[tuple[str, str]], list[Left]]:
    """What a line can say of the rest of an object, and what it cannot."""
    kept: list[tuple[str, str]] = []
    left: list[Left] = []
    categories = value.get("categories")
    if isinstance(categories, list) and categories:
        kept.append(("categories", " ".join(map(str, categories))))
    updated = moment(value.get("updated_at"))
    if updated and value.get("updated_at") != value.get("created_at"):
        kept.append(("updated", str(updated.date())))
    about = value.get("metadata")
    for name, item in sorted(about.items()) if isinstance(about, dict) else ():
        if isinstance(item, (str, int, float)) and re.fullmatch(r"[a-z][a-z0-9_-]{0,30}", str(name)):
            kept.append((f"meta-{name}", one_line(str(item))))
        else:
            left.append(Left(place, f"metadata {str(name)[:40]!r} is no plain value"))
    others = Counter(str(key)[:40] for key in value if key not in _KNOWN and value[key] is not None)
    if others:
        left.append(Left(place, f"keys without a place in a fact: {', '.join(sorted(others))}"))
    return kept, left


def conversation_page(title: str, turns: Iterable[Turn], source: str | None, number: str) -> tuple[str, str] | None:
    """(path, text) of the page for a conversation; None for one in which nobody says anything."""
    told = list(turns)
    spoken = [turn for turn in told if turn.role in ("user", "assistant") and turn.text.strip()]
    if not spoken:
        return None
    day = next((turn.when.date() for turn in spoken if turn.when), None)
    head = f"---\nsrc: {source}\n---\n" if source else ""
    name = slug(title)[:60] or "conversation"
    place = f"memory/{day}-chatgpt-{name}" if day else f"bank/chatgpt/{name}"
    body = "\n".join(_spoken(spoken))
    return (
        f"{place}-{slug(number)[: 8 if _UUID.fullmatch(number) else 36]}.md",
        f"{head}# {one_line(title) or 'Conversation'}\n\n{body}",
    )


def _spoken(turns: Iterable[Turn]) -> Iterator[str]:
    """Each turn under its speaker; code that was left open is closed, so that it swallows nobody else's words."""
    for turn in turns:
        text = turn.text.strip("\n")
        fences = re.findall(r"(?m)^[ \t]*(`{3,}|~{3,})", text)
        closing = f"\n{fences[-1]}" if len(fences) % 2 else ""
        yield f"**{'User' if turn.role == 'user' else 'Assistant'}:**\n\n{text}{closing}\n"
