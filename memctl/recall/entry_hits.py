"""Entries of the index as hits: judged, read again from disk just now, as their author wrote them.

A belief is one hit: the line that stated it, with the confidence and the newest evidence of its entry in the bank. A line of
a document stands in its passage, so that nobody reads an answer without its heading or its question.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date

from ..errors import MemctlError
from ..facts import Citation, Kind, is_trusted
from ..hits import Hit, PassageLine
from ..index.index import Index
from ..index.lexical import page_of, row_id
from ..index.open_memory import OpenMemory
from ..index.queries.entity_names import KnownNames, first_said, pages_called
from ..index.queries.entries import Query, by_ids, by_refs, in_slots, is_bare_heading, slot_names
from ..index.queries.evidence import Chain, beliefs_stated_by, chain_of, placed
from ..index.queries.filters import headings_on, headings_with
from ..index.reread import CurrentLine, page_lines, reread, text_of
from ..index.row import Entity, Row
from ..language.analyzer import query_terms, terms
from ..language.names import entity_key, name_terms
from ..language.sentences import opens_fence
from ..language.words import EVERYWHERE, words_of
from ..markdown.grammar import OPINIONS, parse_bullet
from ..markdown.lines import TABLE_RULE, Role, content_of
from ..notes.workspace import TEMPLATES
from ..truth.judge import Validities, judge
from ..truth.validity import has_ended, versions
from .rank import Candidate, Score
from .wording import as_words, is_mere_date, is_polite, names_mentioned, points_back

_LITTLE = 0.6  # of its relevance, for front matter and for a link: as for a heading
_SHOWN = 3  # pieces of evidence that a hit names
_FIRST = 3  # hits whose neighbours are looked at
_SAID = frozenset((Role.TEXT.value, Role.ITEM.value, Role.FACT.value))
_AROUND = (-2, -1, 0, 1, 2)  # lines of a passage, none of them beyond a heading (GAP in index/lexical.py),
_BELOW = (0, 4, 5, 6)  # and those of one that a heading begins
_LISTED = range(9)  # and those of one that leads a list
_LONGEST = 600  # characters that stand around the line that was found
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*")
_NAMING = re.compile(r"(?:alias(?:es)?|tags?|type):", re.IGNORECASE)


def hits_of(
    memory: OpenMemory, entries: Iterable[Row], verdict: Validities | None = None, *, as_of: date | None = None,
    seen: Mapping[int, CurrentLine] | None = None, known: KnownNames | None = None,
) -> dict[int, Hit]:  # fmt: skip
    """The entries as hits by id, in their order, as of a day (today); an entry whose lines are gone is left out.

    What was judged or read before is given as `verdict` and `seen`. `known` keeps the names that earlier calls looked up.
    """
    wanted = list(entries)
    day = as_of or memory.today
    verdict = verdict or judge(memory, wanted, as_of, whole=False)
    seen = reread(memory.workspace, wanted, memory.index) if seen is None else seen
    known = known or KnownNames(memory.index)
    return {e.id: _hit(e, seen[e.id], verdict, day, known) for e in wanted if e.id in seen}


def _hit(entry: Row, seen: CurrentLine, verdict: Validities, day: date, names: KnownNames) -> Hit:
    """An entry as it was just read, with its validity, each entity once, the marked ones first; a name without a page as it was written."""
    text = text_of(entry, seen)
    standing = verdict.validity.get(entry.id)
    by = standing.replaced_by if standing else None
    valid = standing.valid if standing else entry.valid
    known = [*map(names.known_as, text.names), *names.in_text(text.content)]
    named = dict.fromkeys(map(entity_key, known), "") | {entity_key(name): name for name in reversed(known)}
    return Hit(
        ref=entry.ref,
        kind=Kind(entry.kind),
        day=entry.day,
        valid=valid,
        entities=tuple(named.values()),
        content=text.content,
        source=seen.cited,
        heading=entry.heading,
        confidence=entry.confidence,
        importance=entry.importance,
        origin=entry.origin,
        private=bool(entry.private),
        superseded_by=verdict.entries[by].ref if by is not None else None,
        expired=has_ended(valid, day)
        and not entry.happened
        and entry.kind != Kind.EXPERIENCE.value,  # what happened, happened
        retracted=bool(standing and standing.retracted),
        fact=text.fact,
        key=entry.slot,
        whose=known[0] if text.fact and text.names else "",
    )


Slot = tuple[str, str]
"""An entity and a key."""


def slots_holding(memory: OpenMemory, rows: Sequence[Row], as_of: date | None = None) -> list[tuple[Slot, Hit]]:
    """Of facts that fill slots, those that hold on a day; of several that give one value, the newest."""
    verdict = judge(memory, rows, as_of)
    claims = [verdict.claims[row.id] for row in rows if row.id in verdict.claims]
    current = [c for c in claims if c.slots and verdict.validity[c.id].holds(as_of or memory.today)]
    newest = {(claim.slots, claim.same): claim for claim in versions(current)}
    hits = hits_of(memory, (verdict.entries[claim.id] for claim in newest.values()), verdict, as_of=as_of)
    return [(claim.slots[0], hits[claim.id]) for claim in newest.values() if claim.id in hits]


def owner_names(memory: OpenMemory) -> tuple[str, ...]:
    """The keys under which slots of the owner stand: none, and names that he told of as his own (data/slots.txt)."""
    index = memory.index
    naming, belonging = (words_of("slots", f"{what} of the owner", (EVERYWHERE,)) for what in ("names", "belongings"))
    told = slots_holding(memory, [row for key in naming for row in in_slots(index, key, ("",))])
    owned = {row.subject for key in belonging for row in in_slots(index, key, None)}
    names = slot_names(index)
    said = {n for _, hit in told if len(hit.content) <= _A_NAME for n in names_mentioned(names, hit.content)}
    return ("", *(n for n in names if n and (n in owned or n in said)))


_A_NAME = 60  # characters of a line that tells a name and little else


def candidate_of(entry: Row, relevance: float, named: bool) -> Candidate:
    """An entry as the ranking sees it. A copy repeats other lines; so does the answer to a question of review."""
    settles = entry.links.startswith("settles ") or "\nsettles " in entry.links
    is_repeated = entry.block is not None or (entry.kind == Kind.OBSERVATION.value and settles)
    return Candidate(
        entry.id, Kind(entry.kind), entry.role, entry.written_on, entry.valid, entry.importance, entry.content_key,
        is_repeated, entry.place, relevance, named, not is_trusted(entry.origin),
    )  # fmt: skip


def is_about(hit: Hit, about: Sequence[Entity | str]) -> bool:
    """True if the line names everybody asked for, in its list or its text. A line about "Alex Chen" is not about an Alex."""
    named = {entity_key(name) for name in hit.entities}
    wanted = [set(who.keys) if isinstance(who, Entity) else {entity_key(who)} for who in about]
    if all(keys & named for keys in wanted):
        return True
    text = entity_key(hit.content)
    for name in sorted(filter(None, named), key=len, reverse=True):
        text = re.sub(as_words(name), "|", text)
    return all(keys & named or names_mentioned(keys, text) for keys in wanted)


def of_another(words: str, entries: Mapping[int, Row], found: Mapping[int, Score]) -> set[int]:
    """Lines about another whose name begins as one that a question names in full: "Mei Ling" where it says "Mei Lin"."""
    wanted = {*query_terms(words)}
    names = {key: terms(key) for entry in entries.values() for key in entry.named}
    asked = [{*said} for said in names.values() if said and wanted.issuperset(said)]
    near = ((key, {*own}, said) for key, own in names.items() for said in asked if own and own[0] in said)
    alike = {key for key, own, said in near if own - said and said - own}
    others = [i for i, entry in entries.items() if not alike.isdisjoint(entry.named) and "entity" not in found[i].why]
    held = {i: {*str(found[i].parts.get("own", "")).split(), *name_terms(entries[i].named)} for i in others}
    return {i for i in others if not any(said <= held[i] for said in asked)}


def stating_lines(index: Index, found: Mapping[int, Score], entries: Mapping[int, Row]) -> Mapping[int, Score]:
    """What was found, with the line that stated a belief in the place of its head on bank/opinions.md."""
    heads = (i for i, e in entries.items() if e.path == OPINIONS and e.kind == Kind.OPINION.value and e.block is None)
    stated = {i: chain.stated for i in heads if (chain := chain_of(index, i)) and chain.stated}
    if not stated:
        return found
    line_of = {entry.ref: entry.id for entry in reversed(placed(index, stated.values()))}
    made: dict[int, Score] = {}
    for i, how in found.items():
        line = line_of.get(stated.get(i, ""), i)
        if line not in made or made[line].relevance < how.relevance:
            made[line] = how
    return made


def lines_of_pages(index: Index, found: Mapping[int, Score], entries: Mapping[int, Row]) -> Mapping[int, Score]:
    """What was found, with the best line of its page, or the first, in the place of front matter.

    A note that has nothing of the question but a link to a page stands below that page.
    """
    links = _only_linking(index, found, entries)
    front = {i: entry.page for i, entry in entries.items() if entry.role == Role.REST.value and entry.block is None}
    first = first_said(index, {*links.values(), *front.values()}) if links or front else {}
    links = {i: page for i, page in links.items() if page in first}
    front = {i: page for i, page in front.items() if i < first.get(page, 0)}  # else there is nothing else to cite
    placed_elsewhere = links | front
    said = (i for i, entry in entries.items() if entry.role in _SAID and i not in placed_elsewhere)
    best = {entries[i].page: i for i in sorted(said, key=lambda i: (found[i].relevance, -i))}
    little = {i: found[i]._replace(relevance=_LITTLE * found[i].relevance) for i in placed_elsewhere}
    made = {i: little[i] if i in links else how for i, how in found.items() if i not in front}
    for i, page in placed_elsewhere.items():
        line, worth = best.get(page, first[page]), (little[i] if i in front else found[i]).relevance
        known = made.get(line, Score(0.0, {"near": 1}, found[i].parts))
        made[line] = known._replace(relevance=max(known.relevance, worth))
    return made


def _only_linking(index: Index, found: Mapping[int, Score], entries: Mapping[int, Row]) -> dict[int, int]:
    """The notes of which the question has only words that name a page they link to -> that page."""
    own = {i: set(found[i].parts.get("own", "").split()) for i in entries}
    titles: dict[int, set[str]] = {}
    for i, entry in entries.items():
        if entry.role in (Role.HEADING.value, Role.REST.value):
            titles.setdefault(entry.page, set()).update(own[i])
    any_title = set[str]().union(*titles.values())

    def is_name(i: int, key: str) -> bool:
        return own[i] <= name_terms([key]) and 2 * len(own[i]) > len(terms(key))

    notes = (i for i, e in entries.items() if own[i] and e.role in (Role.TEXT.value, Role.ITEM.value))
    links = [(i, key) for i in notes for key in entries[i].named if own[i] <= any_title or is_name(i, key)]
    called = pages_called(index, {key for _, key in links})
    pages = [(i, key, called[key]) for i, key in links if called.get(key, entries[i].page) != entries[i].page]
    return {i: page for i, key, page in pages if is_name(i, key) or own[i] <= titles.get(page, set())}


def with_beliefs(memory: OpenMemory, hits: Sequence[Hit], as_of: date | None) -> list[Hit]:
    """The hits, of which those that stated a belief show its confidence now (or as of a day) and its evidence.

    Each that ended a belief stands before it, and takes the better score.
    """
    opinions = [hit.ref for hit in hits if hit.kind is Kind.OPINION]
    chains = beliefs_stated_by(memory.index, opinions) if opinions else {}
    if not chains:
        return list(hits)
    try:
        lines = page_lines(memory.workspace, OPINIONS)
    except MemctlError:
        return list(hits)
    made = [_with_belief(memory, hit, chains[hit.ref], lines, as_of) if hit.ref in chains else hit for hit in hits]
    for hit in [hit for hit, before in zip(made, hits, strict=True) if hit.superseded_by != before.superseded_by]:
        old = made.index(hit)
        new = next((at for at, other in enumerate(made) if other.ref == hit.superseded_by), old)
        if new > old:
            newer = made.pop(new)
            made.insert(old, replace(newer, score=max(newer.score, hit.score)))
    return made


def with_notes(memory: OpenMemory, hits: Sequence[Hit]) -> list[Hit]:
    """The hits, each that was kept from a note with the place of the note beside those of its twins."""
    facts = by_refs(memory.index, [hit.ref for hit in hits if hit.fact and hit.fact.settles])
    notes = [row for row in by_refs(memory.index, {ref for fact in facts for ref in fact.notes}) if row.notes]
    seen = reread(memory.workspace, notes, memory.index)
    places = {row.ref: seen[row.id].cited for row in notes if row.id in seen}
    told = {fact.ref: [places[ref] for ref in fact.notes if ref in places] for fact in facts if not fact.block}
    return [replace(hit, also=tuple(dict.fromkeys((*hit.also, *told.get(hit.ref, ()))))) for hit in hits]


def _with_belief(memory: OpenMemory, hit: Hit, chain: Chain, lines: Sequence[str], as_of: date | None) -> Hit:
    bullets = [parse_bullet(content_of(Role.ITEM, lines[line - 1 : end])) for line, end, _, _ in chain.evidence]
    known = [b for b in bullets if b and not b.gone and (as_of is None or b.day <= as_of)]
    numbers = (b.shown for b in reversed(known))
    confidence = chain.confidence if as_of is None else next((n for n in numbers if n is not None), None)
    weighed = [b.ref for b in known if b.verdict in ("for", "against") and b.ref][-_SHOWN:]
    entries = [entry for entry in by_refs(memory.index, weighed) if entry.block is None]
    seen = reread(memory.workspace, entries, memory.index)
    cited = {e.ref: seen[e.id].cited for e in reversed(entries) if e.id in seen}
    return replace(
        hit,
        confidence=hit.confidence if confidence is None else confidence,
        superseded_by=hit.superseded_by or next((b.ref for b in known if b.verdict == "superseded"), None),
        belief=Citation(OPINIONS, chain.line, chain.end_line),
        evidence=tuple(cited[ref] for ref in reversed(weighed) if ref in cited),
    )


# -- passages of documents ----------------------------------------------------------------------------------------------


def leads_a_list(entry: Row, hit: Hit) -> bool:
    """True for a note that ends in a colon: what it says stands in the items below."""
    return entry.role in _SAID and hit.content.rstrip().endswith((":", "："))


def says_nothing(memory: OpenMemory, entry: Row, hit: Hit) -> bool:
    """True for politeness, and for the skeleton of a page: a date as a heading, one with nothing below, the words of
    `init`, the head of a table, other names and tags in the front matter."""
    if entry.role == Role.HEADING.value:
        bare = is_mere_date(hit.content, memory.today) or is_bare_heading(memory.index, entry)
        return bare or is_polite(hit.content)
    if entry.role == Role.ROW.value:
        return any(map(TABLE_RULE.fullmatch, _lines(memory, hit.source.path)[hit.source.end_line :][:1]))
    if entry.role == Role.REST.value and _NAMING.match(hit.content):
        return True
    return hit.content in TEMPLATES or (entry.role != Role.FACT.value and is_polite(hit.content))


def as_passage(memory: OpenMemory, entry: Row, hit: Hit, found: Mapping[int, Score]) -> Hit:
    """A hit with the headings above it and the lines around it, of which those that were found are marked."""
    leads = leads_a_list(entry, hit)
    steps = _LISTED if leads else _BELOW if entry.role == Role.HEADING.value else _AROUND
    rows = by_ids(memory.index, (entry.id + step for step in steps)).values()
    rows_here = [r for r in rows if r.page == entry.page and r.block is None]
    read = hits_of(memory, [r for r in rows_here if not leads or r.id == entry.id or r.role == Role.ITEM.value])
    near, room = {entry.id}, _LONGEST
    for i in sorted(read.keys() - near, key=lambda i: abs(i - entry.id)):
        room -= len(read[i].content)
        near |= {i} if room >= 0 else set()
    marked = {i: i == entry.id or (is_match(found.get(i)) and not read[i].superseded_by) for i in near & read.keys()}
    head = _head_of_table(memory, entry, hit)
    lines = tuple(
        PassageLine(hit.source.line, hit.source.end_line, hit.content, marked[i])
        for i, hit in sorted(read.items())
        if i in near
    )
    lines = (head, *lines) if head and head.line < lines[0].line else lines
    above = tuple(_headings(_lines(memory, hit.source.path)[: hit.source.line - 1]))
    path = above if not hit.heading or hit.heading in above else (*above, hit.heading)
    return replace(hit, passage=lines, heading_path=path)


def _head_of_table(memory: OpenMemory, entry: Row, hit: Hit) -> PassageLine | None:
    """The head of the table that a hit is a row of; None for any other."""
    lines = _lines(memory, hit.source.path)[: hit.source.line - 1] if entry.role == Role.ROW.value else []
    rule = next((at for at in range(len(lines) - 1, 0, -1) if TABLE_RULE.fullmatch(lines[at]) or not lines[at]), 0)
    return PassageLine(rule, rule, content_of(Role.ROW, [lines[rule - 1]]), False) if rule and lines[rule] else None


def is_match(found: Score | None) -> bool:
    """True for what was found by its own words or by its meaning, not by the lines beside it."""
    return found is not None and bool(found.why.keys() & {"lexical", "vector", "slot", "recent"})


def with_sections(memory: OpenMemory, query: Query) -> Query:
    """The query with the rows below each heading that has the words of its `heading`, those of headings below it too."""
    found: list[tuple[int, int]] = []
    pages: dict[str, dict[int, int]] = {}
    for path, row in headings_with(memory.index, query.heading or ""):
        if path not in pages:
            lines = _lines(memory, path)
            pages[path] = {i: _level(lines, line) for i, line in headings_on(memory.index, path)}
        last = row_id(page_of(row) + 1, 0)
        end = next((i for i, level in pages[path].items() if i > row and level <= pages[path][row]), last)
        found.append((row, end - 1))
    return replace(query, sections=tuple(found))


def _level(lines: Sequence[str], line: int) -> int:
    match = _HEADING.fullmatch(lines[line - 1]) if line <= len(lines) else None
    return len(match[1]) if match else 1 + ("-" in "".join(lines[line : line + 1]))  # underlined with = or -


def _headings(lines: Iterable[str]) -> Iterator[str]:
    """The headings under which what follows some lines stands, the widest first."""
    above: dict[int, str] = {}
    fenced = False
    for line in lines:
        fenced ^= bool(opens_fence(line))
        if not fenced and (match := _HEADING.fullmatch(line)):
            above = {level: text for level, text in above.items() if level < len(match[1])} | {len(match[1]): match[2]}
    return iter(above.values())


def _lines(memory: OpenMemory, path: str) -> list[str]:
    try:
        return page_lines(memory.workspace, path)
    except MemctlError:
        return []


def with_neighbours(memory: OpenMemory, hits: Sequence[Hit]) -> list[Hit]:
    """The hits, each with its neighbour behind it: before a line that begins with a pronoun, after one that asks or leads on."""
    steps: dict[tuple[str, int], int] = {}
    for hit in hits[:_FIRST]:
        if points_back(hit.content) or hit.content.rstrip().endswith(("?", "？", ":", "：")):
            steps[hit.source.path, hit.source.line] = -1 if points_back(hit.content) else 1
    rows = by_refs(memory.index, [hit.ref for hit in hits[:_FIRST]]) if steps else []
    places = {row.id + steps[at]: at for row in rows if (at := row.place) in steps}
    found = [row for row in by_ids(memory.index, places).values() if row.block is None and row.role in _SAID]
    stands = {(hit.source.path, hit.source.line) for hit in hits}
    behind = {
        places[i]: hit
        for i, hit in hits_of(memory, found).items()
        if not is_polite(hit.content) and (hit.source.path, hit.source.line) not in stands
    }
    beside = ((hit, behind.get((hit.source.path, hit.source.line))) for hit in hits)
    return [each for pair in beside for each in pair if each]
