"""Retain: write facts down in the log of a day. When it returns, they are on disk; the index follows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date
from itertools import islice
from typing import Any

from ..errors import MemctlError, Refused, Usage
from ..facts import Citation, Fact, Kind, Span, is_trusted, said_as
from ..index.open_memory import OpenMemory
from ..index.queries.entity_names import entities_named, mention_counts, near_name
from ..index.queries.entries import by_refs, existing_refs, own_and_entry
from ..index.row import Row
from ..index.rows import refs_on
from ..index.sync import sync
from ..language.analyzer import is_identifier, query_terms, stop_terms, terms
from ..language.names import bare_name, entity_key
from ..language.relations import slot_of
from ..language.secrets import find_secrets
from ..language.sentences import split_sentences
from ..markdown.attributes import ATTRIBUTES
from ..markdown.grammar import Problem, clean, parse, render, with_attributes
from ..markdown.lines import sealed_text, split_lines, without_sealed
from ..markdown.page import Page, is_retain, open_end, parse_page
from ..markdown.private import without_ids
from ..notes.edits import diff
from ..notes.files import append, confirm, in_style, read_page
from ..notes.workspace import Workspace


@dataclass(frozen=True, slots=True)
class RetainedFact:
    """A fact on disk: where, under which id, and whether it stood there before."""

    citation: Citation
    ref: str
    fact: Fact
    already: bool

    @property
    def line(self) -> str:
        """The fact as a line of the grammar."""
        return render(self.fact)

    def as_json(self) -> dict[str, Any]:
        """It as plain values, without its text."""
        return {"id": self.ref, "source": str(self.citation), "already": self.already}


@dataclass(frozen=True, slots=True)
class Retained:
    """What retain did, or with `dry_run` would do (`diff`); `warnings` are about the index, and about what may be a slip."""

    kept: tuple[RetainedFact, ...]
    diff: str
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Addition:
    """The text to append (empty: nothing to do), and for each fact where it stands then and whether it did before."""

    text: str
    places: tuple[tuple[Span, bool], ...]


_LOOKS_LIKE_GRAMMAR = re.compile(r"[WBOS](?:\s*[(\uff08]|\s+@?\[\[|\s+@\w)")


def read_facts(
    given: Sequence[str | Fact], *, kind: str | None, about: Sequence[str], attributes: Mapping[str, Any]
) -> list[Fact]:
    """The facts in lines of grammar or plain text, with attributes by their long or short names."""
    short = {name: each.name for each in ATTRIBUTES for name in (each.name, each.long)}
    values: dict[str, list[str]] = {}
    for name, value in attributes.items():
        if value not in (None, False, [], ()):
            if name not in short:
                raise Usage(f"no attribute is named {name!r}", f"one of {', '.join(each.long for each in ATTRIBUTES)}")
            several = value if isinstance(value, list | tuple) else [value]
            values[short[name]] = ["true" if each is True else str(each) for each in several]
    if other := [type(each).__name__ for each in given if not isinstance(each, str | Fact)]:
        raise Usage(f"{other[0]} is not a fact", "hand in a text, a memctl.Fact, or several")
    return [read_fact(each, kind=kind, about=about, values=values) if isinstance(each, str) else each for each in given]


def read_fact(
    text: str, *, kind: str | None = None, about: Sequence[str] = (), values: Mapping[str, Sequence[str]] | None = None
) -> Fact:
    """The fact in a full grammar line, or in plain text with flags. Usage for a line that only tries to be grammar."""
    given = values or {}
    bare = re.sub(r"^\s*[-*+]\s+", "", text).strip()
    read = parse(bare)
    if isinstance(read, Problem):
        if _LOOKS_LIKE_GRAMMAR.match(bare):
            raise Usage(f"{bare[:60]!r}, column {read.column}: {read.message}", read.suggestion)
        usual = Kind.OPINION if given.get("c") else Kind.EXPERIENCE if given.get("outcome") else Kind.WORLD
        read = Fact(usual, bare)
    if kind is not None:
        read = replace(read, kind=fact_kind(kind, f"--kind {kind!r}", " (or W, B, O, S)"))
    names = tuple(dict.fromkeys([*read.entities, *map(bare_name, about)]))
    if any(not name.strip() or re.search(r"[\[\]|#\n]", name) for name in names):
        raise Usage("--about needs a name without [ ] | or #")
    read = with_attributes(replace(read, entities=names), given)
    if isinstance(read, Problem):
        raise Usage(read.message, read.suggestion)
    return clean(read)


def fact_kind(word: str, said: str, more: str = "") -> Kind:
    """The kind of fact that a word names; Usage for another, in which it stands as it was `said`."""
    with suppress(ValueError):
        if (found := Kind.of(word)) is not Kind.NOTE:
            return found
    raise Usage(f"{said} is not a kind of fact", f"world, experience, opinion or observation{more}")


# -- what a program hands in ------------------------------------------------------------------------------------------

_ECHO = 0.8  # the share of the words of a fact that one line holds from which they are that line coming back
_FEWEST = 3  # words from which on that share is told; fewer must all stand in a line that has little else,
_OTHERS = 4  # so many times their number at most
_LOOKED = 24  # words by which such lines are looked up


def as_said(memory: OpenMemory, facts: Iterable[Fact], speaker: str) -> list[Fact]:
    """The facts in the name of the program that hands them in, which trust nothing that came from outside.

    Refused for one that passes off as its own what an untrusted line says and no trusted one does. None settles a question,
    which some answer for themselves alone: `review` has a way for that.
    """
    as_user = memory.workspace.settings.may_speak_as_user
    made = [replace(fact, source=said_as(fact.source, speaker, as_user), settles=()) for fact in facts]
    own = [fact for fact in made if is_trusted(fact.source)]
    if own and (line := memory.run(lambda at: _echoed(at, own))):
        what = f"it repeats {line.path}#L{line.line}, which came from {line.origin}"
        raise Refused(what, "keep it with source=web, or let the owner write it, if it is true")
    return made


def _echoed(memory: OpenMemory, facts: Iterable[Fact]) -> Row | None:
    """The line from outside that one of the facts repeats, where no trusted line says the same."""
    memory.sync_for_read()
    for said in (said for fact in facts for said in _words_said(fact)):
        words = sorted(said)[:_LOOKED]
        found = (own_and_entry(memory.index, words, 16, view) for view in ("outside", "trusted"))
        outside, trusted = (
            [line for own, line in lines if _repeats(said, own, set(terms(line.origin)))] for lines in found
        )
        if outside and not trusted:
            return outside[0]
    return None


def _words_said(fact: Fact) -> Iterator[set[str]]:
    """The words of a fact, and those of each of its sentences that says something: one that echoes may stand among others."""
    names = {term for name in fact.entities for term in terms(name)}
    yield names | set(query_terms(fact.text))
    sentences = list(islice(split_sentences(fact.text), _LOOKED))
    for words in map(query_terms, sentences if len(sentences) > 1 else ()):
        if len(words) >= _FEWEST:
            yield names | set(words)


def _repeats(said: Set[str], own: Set[str], origin: Set[str]) -> bool:
    """True for words that nearly all stand in a line, and every number and name; few words only where it has few more."""
    exact = {term for term in said if is_identifier(term) or any(map(str.isdigit, term))}
    if len(said) >= _FEWEST:
        return exact <= own and len(said & own) >= _ECHO * len(said)
    has_command = "save" in own and not own.isdisjoint(("fact", "doc"))
    return bool(said) and said <= own and (has_command or len(own - stop_terms() - origin) <= _OTHERS * len(said))


def retain(
    memory: OpenMemory, facts: Sequence[Fact], day: date, *, dry_run: bool = False, allow_secrets: bool = False
) -> Retained:
    """Append facts to the log of `day`. What stands on a page of that day already is named and not repeated."""
    workspace = memory.workspace
    if workspace.hides is not None:
        facts = [_of_others(memory, fact) for fact in facts]
    if any(fact.sealed and not sealed_text().fullmatch(fact.text) for fact in facts):
        cure = "`memctl retain --sealed` reads it from stdin or asks for it: `ps` and histories know arguments"
        raise Refused("the text of a sealed line is never an argument", cure)
    for number, fact in enumerate(() if allow_secrets else facts, 1):
        if found := find_secrets(without_sealed(render(fact))):
            cure = "seal it: `memctl retain --sealed`; or add --allow-secrets"
            said = f"fact {number} of {len(facts)}" if len(facts) > 1 else "this"
            raise Refused(f"{said} looks like a secret ({found[0].name})", cure)
    path = workspace.contain(f"memory/{day}.md")
    known = _kept_elsewhere(workspace, path, day)
    bare = [replace(fact, block_id=None) for fact in facts]
    here = [fact for fact, key in zip(facts, bare, strict=True) if key not in known]
    before, added = _append(workspace, path, here, day, dry_run) if here else ("", Addition("", ()))
    if not dry_run:
        for other in sorted({known[key].citation.path for key in bare if key in known}):
            confirm(workspace, other)
    refs = refs_on(path, before + added.text)
    for fact, (span, already) in zip(here, added.places, strict=True):
        kept = RetainedFact(Citation(path, span.line, span.end_line), refs[span.line], fact, already)
        known[replace(fact, block_id=None)] = kept
    change = diff(path, before, before + added.text) if dry_run else ""
    warnings = _update_index(memory) if added.text and not dry_run else ()
    return Retained(tuple(known[key] for key in bare), change, warnings)


def _of_others(memory: OpenMemory, fact: Fact) -> Fact:
    """A fact as somebody may hand it in who does not see everything: with no id of its own, and citing what they see."""
    bare = replace(fact, block_id=None)
    line = render(bare)
    if (made := citing_known(memory, line)) == line:
        return bare
    read = parse(made)
    if isinstance(read, Problem):
        raise Refused("it cites a line that is not there", "leave out the id")
    return read


def citing_known(memory: OpenMemory, text: str) -> str:
    """A text in which no id is cited that no line has."""
    return without_ids(text, lambda refs: memory.run(lambda at: existing_refs(at.index, refs)))


def _append(workspace: Workspace, path: str, facts: Sequence[Fact], day: date, dry_run: bool) -> tuple[str, Addition]:
    """The page as it was, and what was added to it."""
    made = Addition("", ())

    def compose(text: str) -> str:
        nonlocal made
        made = addition(text, facts, day)
        return made.text

    if dry_run:
        before = read_page(workspace, path).text if (workspace.root / path).exists() else ""
        added = in_style(compose(before), before)
    else:
        before, added = append(workspace, path, compose)
    return before, replace(made, text=added)


def _kept_elsewhere(workspace: Workspace, path: str, day: date) -> dict[Fact, RetainedFact]:
    """The facts on the other pages of the same day (`memory/2025-11-27-standup.md`).

    Without those of slots: the order of lines on one page says which value is the newest.
    """
    found: dict[Fact, RetainedFact] = {}
    for page in sorted((workspace.root / "memory").glob(f"{day}-*.md")):
        other = f"memory/{page.name}"
        try:
            text = read_page(workspace, other).text
        except MemctlError:
            continue
        refs = refs_on(other, text)
        for fact, span in spans_of(parse_page(text))[0].items():
            if _slot(fact) is None:
                found[fact] = RetainedFact(Citation(other, span.line, span.end_line), refs[span.line], fact, True)
    return found


def _update_index(memory: OpenMemory) -> tuple[str, ...]:
    """Bring the index up to date within a second. The facts are kept already, so trouble here is a warning."""
    try:
        stale = memory.run(lambda at: sync(at.workspace, at.index, wait=0.5, seconds=1.0).stale)
    except Exception as error:  # of any kind: the fact is on disk
        stale = str(error)
    return (f"kept, but not indexed yet: {stale}",) if stale else ()


# -- where new lines go: under `## Retain` of a log -------------------------------------------------------------------


def spans_of(page: Page) -> tuple[dict[Fact, Span], dict[Fact, Span]]:
    """Where each fact of a page stands first: those that stand, and all. Block ids do not make facts differ.

    A value of a slot that another one on the page replaced does not stand: telling it again is news.
    """
    there, ever = dict[Fact, Span](), dict[Fact, Span]()
    slots: dict[tuple[str, str], Fact] = {}
    for entry in page.entries:
        if entry.fact:
            fact = replace(entry.fact, block_id=None) if entry.fact.block_id else entry.fact
            slot = _slot(fact)
            if slot is not None:
                if slots.get(slot, fact) != fact:
                    there.pop(slots[slot], None)
                slots[slot] = fact
            ever[fact] = entry.span
            there.setdefault(fact, entry.span)
    return there, ever | there


def _slot(fact: Fact) -> tuple[str, str] | None:
    filled = slot_of(fact)
    return (filled.key, entity_key(fact.entities[0]) if fact.entities else "") if filled and filled.closes else None


def addition(before: str, facts: Sequence[Fact], day: date) -> Addition:
    """What to append to the log of `day`, whose text is `before`. Facts that stand there already are not added again.

    Where the page ends inside an open code fence or comment, that is closed first: what is kept must be read back.
    """
    page = parse_page(before)
    there, ever = spans_of(page)
    plain = [replace(fact, block_id=None) for fact in facts]
    slots = list(map(_slot, facts))
    last = {slot: at for at, slot in enumerate(slots)}
    fresh: dict[Fact, Fact] = {}  # with its block id -> without
    for at, (fact, bare) in enumerate(zip(facts, plain, strict=True)):
        # What another value after it replaces at once is no news if the page has it as history.
        is_history = bare in ever and slots[at] is not None and last[slots[at]] > at
        if bare not in there and not is_history:
            fresh[fact] = bare
    if not fresh:
        return Addition("", tuple((ever[fact], True) for fact in plain))
    new = set(fresh.values())
    body = "".join(f"- {render(fact)}\n" for fact in fresh)
    for closing in _closings(before):
        text = closing + _opening(before, page, day, bool(closing.strip())) + body
        gap = "\n" if before and not before.endswith(("\n", "\r")) else ""
        now = spans_of(parse_page(before + gap + text))[1]
        if new <= now.keys():
            return Addition(text, tuple((now[fact], fact not in new) for fact in plain))
    raise Refused("the page ends inside an open block", "close the block at the end of the page")


def _opening(before: str, page: Page, day: date, closed: bool) -> str:
    """What stands between the page so far and the first new line."""
    if not before.strip("\ufeff \t\r\n"):
        return f"# {day}\n\n## Retain\n\n"
    if closed or not page.ends_in_retain:
        ends_blank = bool(page.lines) and not page.lines[-1].strip()
        return ("" if ends_blank and not closed else "\n") + "## Retain\n\n"
    ends_in_heading = is_retain(page.lines[-1].strip().lstrip("#"))
    return "\n" if ends_in_heading else ""


def _closings(before: str) -> Iterator[str]:
    """Ways to close what a page may have left open, the likely first. A blank line ends most HTML."""
    yield from ("", "\n")
    if closing := open_end(split_lines(before)):
        yield f"{closing}\n"
    yield "-->\n"


# -- slips ------------------------------------------------------------------------------------------------------------


def slips(memory: OpenMemory, facts: Sequence[Fact]) -> Iterator[str]:
    """What may be a slip of the pen in facts that were kept: names and ids; a line for each."""
    for name in dict.fromkeys(name for fact in facts for name in fact.entities):
        found, key = entities_named(memory.index, name), entity_key(name)
        if len(found) > 1:
            yield f"{name!r} may be {' or '.join(each.name for each in found)}: `memctl undo`, then give the whole name"
        elif not found and mention_counts(memory.index, [key]).get(key, 0) <= sum(name in f.entities for f in facts):
            near = near_name(memory, key)
            yield from [f"{name!r} is a new name; did you mean {near}? Then `memctl undo`"] if near else []
    named = ((*fact.supports, *fact.refutes, *fact.supersedes, *fact.corrects, fact.by) for fact in facts)
    given = {ref for refs in named for ref in refs if ref}
    there = {row.ref for row in by_refs(memory.index, given)}
    cure = "`memctl undo`, then give one that `memctl recall` prints"
    yield from (f"no line has the id ^{ref}: {cure}" for ref in sorted(given - there))
