"""Retain: write facts down in the log of a day. When it returns, they are on disk; only then is the index told."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date

from ..errors import MemctlError, Refused, Usage
from ..facts import Citation, Fact, Kind, Span
from ..index.heal import with_index
from ..index.rows import rows_of
from ..index.sync import sync
from ..language.relations import slot_of
from ..language.secrets import find_secrets
from ..markdown.additions import addition, clean, spans_of
from ..markdown.diff import diff
from ..markdown.grammar import Problem, parse, render, with_attributes
from ..markdown.page import parse_page
from ..notes.files import append, confirm, in_style, read_page
from ..notes.workspace import Workspace

__all__ = ["Kept", "Retained", "read_fact", "retain"]


@dataclass(frozen=True, slots=True)
class Kept:
    """A fact on disk: where, under which id, and whether it stood there before."""

    citation: Citation
    ref: str
    fact: Fact
    already: bool


@dataclass(frozen=True, slots=True)
class Retained:
    """What retain did, or with `dry_run` would do (`diff`); `warnings` are about the index, never about the facts."""

    kept: tuple[Kept, ...]
    diff: str
    warnings: tuple[str, ...] = ()


_LOOKS_LIKE_GRAMMAR = re.compile(r"[WBOS](?:\s*[(\uff08]|\s+@?\[\[|\s+@\w)")


def read_fact(
    text: str, *, kind: str | None = None, about: Sequence[str] = (), values: Mapping[str, Sequence[str]] | None = None
) -> Fact:
    """The fact in a full grammar line, or in plain text with flags. Usage for a line that only tries to be grammar."""
    bare = re.sub(r"^\s*[-*+]\s+", "", text).strip()
    read = parse(bare)
    if isinstance(read, Problem):
        if _LOOKS_LIKE_GRAMMAR.match(bare):
            raise Usage(f"column {read.column}: {read.message}", read.suggestion)
        read = Fact(_default_kind(values or {}), bare)
    if kind is not None:
        read = replace(read, kind=_kind(kind))
    names = tuple(dict.fromkeys([*read.entities, *(name.removeprefix("@").strip("[]") for name in about)]))
    if any(not name.strip() or re.search(r"[\[\]|#\n]", name) for name in names):
        raise Usage("--about needs a name without [ ] | or #")
    read = with_attributes(replace(read, entities=names), values or {})
    if isinstance(read, Problem):
        raise Usage(read.message, read.suggestion)
    return clean(read)


def _default_kind(values: Mapping[str, Sequence[str]]) -> Kind:
    """A confidence makes an opinion, an outcome an experience; anything else is about the world."""
    return Kind.OPINION if values.get("c") else Kind.EXPERIENCE if values.get("outcome") else Kind.WORLD


def _kind(word: str) -> Kind:
    try:
        found = Kind.of(word)
    except ValueError:
        found = Kind.NOTE
    if found is Kind.NOTE:
        raise Usage(f"--kind {word!r} is no kind of fact", "world, experience, opinion or observation (or W, B, O, S)")
    return found


def retain(
    workspace: Workspace, facts: Sequence[Fact], day: date, *, dry_run: bool = False, allow_secrets: bool = False
) -> Retained:
    """Append facts to the log of `day`. What stands there already, on any page of that day, is named and not repeated."""
    if not allow_secrets:
        _refuse_secrets(facts)
    path = workspace.contain(f"memory/{day}.md")
    elsewhere = _told_elsewhere(workspace, path, day)
    here = [fact for fact in facts if replace(fact, block_id=None) not in elsewhere]
    before, added, places = _append(workspace, path, here, day, dry_run)
    if not dry_run:
        there = (elsewhere.get(replace(fact, block_id=None)) for fact in facts)
        for other in sorted({kept.citation.path for kept in there if kept}):
            confirm(workspace, other)
    refs = _refs(path, before + added)
    standing = {
        replace(fact, block_id=None): Kept(Citation(path, s.line, s.end_line), refs[s.line], fact, old)
        for fact, (s, old) in zip(here, places, strict=True)
    } | elsewhere
    kept = tuple(standing[replace(fact, block_id=None)] for fact in facts)
    change = diff(path, before, before + added) if dry_run else ""
    return Retained(kept, change, () if dry_run or not added else _tell_index(workspace))


def _append(
    workspace: Workspace, path: str, facts: Sequence[Fact], day: date, dry_run: bool
) -> tuple[str, str, Sequence[tuple[Span, bool]]]:
    found: list[Sequence[tuple[Span, bool]]] = [()]

    def compose(text: str) -> str:
        made = addition(text, facts, day)
        found[0] = made.places
        return made.text

    if not facts:
        return "", "", ()
    if dry_run:
        before = read_page(workspace, path).text if (workspace.root / path).exists() else ""
        return before, in_style(compose(before), before), found[0]
    done = append(workspace, path, compose)
    return done.before, done.added, found[0]


def _refs(path: str, text: str) -> dict[int, str]:
    """The id of the entry on each line, as the index will know it: twins on a page have ids of their own."""
    return {row.line: row.ref for row in rows_of(path, text).rows}


def _refuse_secrets(facts: Sequence[Fact]) -> None:
    for fact in facts:
        found = find_secrets(render(fact))
        if found:
            raise Refused(f"this looks like a {found[0].name}", "take it out, or say --allow-secrets if it is none")


def _told_elsewhere(workspace: Workspace, path: str, day: date) -> dict[Fact, Kept]:
    """The facts on the other pages of the same day (`memory/2025-11-27-standup.md`).

    Not those of slots: which value is the newest, the order of lines on one page must say.
    """
    found: dict[Fact, Kept] = {}
    for page in sorted((workspace.root / "memory").glob(f"{day}-*.md")):
        other = f"memory/{page.name}"
        try:
            text = read_page(workspace, other).text
        except MemctlError:
            continue
        refs = _refs(other, text)
        for fact, span in spans_of(parse_page(text)).items():
            if slot_of(fact) is None:
                found[fact] = Kept(Citation(other, span.line, span.end_line), refs[span.line], fact, True)
    return found


def _tell_index(workspace: Workspace) -> tuple[str, ...]:
    """Bring the index up to date, a little: the facts are kept already, so trouble here is only worth a warning."""
    try:
        stale = with_index(workspace, lambda index: sync(workspace, index, wait=0.5, seconds=1.0).stale)
    except Exception as error:  # whatever it is, it must not make a kept fact look like a lost one
        stale = str(error)
    return (f"kept, but not indexed yet: {stale}",) if stale else ()
