"""What was replaced in words: pairs of lines, an older and a newer one, that no mark relates and that cannot both hold today.

Recall asks for what it is about to show (`replacements_of`), review, conflicts and reflect for what was told lately
(`replaced_since`). All get the same pairs: of the earlier lines about the same names, the nearest one
that truth/change.py judges. A trusted line that relates the two, or answers the question, ends the matter.
"""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from datetime import date
from itertools import islice, permutations, product
from typing import NamedTuple

from ..facts import Kind, days_before, is_trusted
from ..ids import belief_id, question_id, question_ids
from ..index.index import Index
from ..index.lexical import SHORT, idf, select_terms
from ..index.open_memory import OpenMemory
from ..index.queries import entries as queries
from ..index.queries.entity_names import KnownNames, keys_of, keys_of_person, pages_called
from ..index.queries.evidence import (
    facts_kept_from,
    has_marked,
    lines_of_facts,
    newest_beside,
    settled_ids,
    side_by_side,
)
from ..index.queries.filters import expiry_on
from ..index.reread import reread, text_of
from ..index.row import Row
from ..judgement import Judgement, Tier, judged
from ..language.analyzer import stop_terms, terms
from ..language.names import is_han, name_terms
from ..language.sentences import is_change, is_past, is_plan, split_sentences
from ..language.words import EVERYWHERE, lines
from ..markdown.grammar import OPINIONS
from ..markdown.lines import Role
from . import statement as reading
from .change import ALIKE, HEARSAY, KIND, NEVER, VALUE, VIEWS, PairJudgement, Statement, judge_change, judge_series
from .judge import Validities, judge
from .validity import has_begun, has_ended

_LONGEST = 1_200  # characters of a note that are read
_AT_ONCE = 500  # lines that are read together
_LIKELY = 12  # lines that recall reads to see whether they tell of a change
_BESIDE = 24  # earlier lines that a newer one is held against
_POSTINGS = 3_000  # of the terms that find them
_POSTINGS_TELLING = 800  # of those that find later ones, for each recall
_FOUND = 24  # later lines that they find, of facts and of others
_FIRM = 0.6  # an opinion held less firmly than that replaces nothing
_FIRST = 2  # of the entries that recall shows
_NEWER = 8  # newer lines of which recall makes sure that the older one is the nearest
_ONE_SENTENCE = 0.9  # how near two lines of one name are that say the same with another value
_AS_NEAR = 0.75  # of the nearness of the nearest: what recall marks, so that no other wording of it seems to hold
_OFFERED = 3  # earlier lines of which a newer one may replace one, in the eyes of whoever wrote it
_FEW = 3  # states of an entity that are all offered, beside one that is no event
FEW = "one of few"
"""The reason that is given where an entity has at most `_FEW` states."""
_SINCE = 31  # days after something happened, in which an older state may still be told
_TALE = 2  # words that tell of a change at some time and of nothing else: "in 1998 I moved to Lyon"
_REPLACES = ("supersedes ", "corrects ")  # a line that does so says itself what it replaces,
_POINTS = (*_REPLACES, "supports ", "refutes ")  # or what it is about
_TELLING = 0.25  # of the weight of what two lines share: enough to offer the older one,
_TELLING_NOBODY = 0.7  # beside a line that names nobody more than one word, or than the topic
_TOPIC, _EVENT = 0.5, 0.6  # with more for one topic, and less for what happened
_MEANING = 0.5  # in the order of what is offered, for the nearest by vectors
_USUAL = 50  # entries that are thought to be in every store, so that a word of a small one tells something too


class Replaced(NamedTuple):
    """Two lines about one thing: the newer one replaces the older, cancels it, or cannot hold beside it.

    `judgement.kind` is "replacement" (verdicts "replaces", "cancels"), "reversal" of an opinion (verdict "ended") or "conflict"
    (verdict "disagrees"); its tier says whether that is certain or to be asked. Of several older lines the nearest is meant.
    """

    older: Row
    newer: Row
    judgement: Judgement
    nearness: float = 1.0

    @property
    def asked_as(self) -> tuple[str, str, str]:
        """The kind of review that asks about it, and the ids of the two in its order: what came from outside stands second;
        of two opinions the belief that the older one states, as reflect asks."""
        first, second = sorted((self.older, self.newer), key=lambda row: not is_trusted(row.origin))
        if not is_trusted(second.origin):
            return "trust", first.ref, second.ref
        is_view = self.judgement.rule in VIEWS and first.kind == second.kind == Kind.OPINION.value
        return ("reversed", belief_id(first.ref), second.ref) if is_view else ("replaced", first.ref, second.ref)

    def is_ahead(self, today: date) -> bool:
        """True where the newer line only begins after `today`, and the older one has begun: until then it holds."""
        new, is_dated = self.newer.valid, self.older.dated or self.newer.dated == 1
        had_begun = has_begun(self.older.valid, self.newer.written_on or today)
        return had_begun and not (is_dated or new.last or has_begun(new, today))


def replaced_since(
    memory: OpenMemory, since: date | None = None, names: Collection[str] | None = None, facts: bool = False
) -> tuple[Replaced, ...]:
    """Every such pair whose newer line was told from `since` on (None: ever) until today, the newest first.

    With `names`, those about the entity that goes by these keys; with `facts`, those of which the newer line is a fact, and
    which both hold; else the newer one may have been replaced since: then it ended the older one, and not what replaced it.

    Reads from the open index. The work grows with the lines told since then, not with the store. Pairs that a trusted
    line settles, relates or says to hold side by side are left out, and so is what holds no longer.
    """
    finder = _Finder(memory)
    fresh = queries.written_between(memory.index, since, memory.today)
    if names is not None:
        fresh = [entry for entry in fresh if not set(names).isdisjoint(entry.named)]
    fresh = [entry for entry in fresh if entry.role == Role.FACT.value] if facts else fresh
    known = memory.index.remembered("older", dict[int, Sequence[Replaced]])
    unknown = sorted((entry for entry in fresh if entry.id not in known), key=lambda entry: entry.names)
    for done, entry in enumerate(unknown):  # lines about one name are held against the same ones
        if not done % _AT_ONCE:
            finder.read(unknown[done : done + _AT_ONCE])
        known[entry.id] = finder.older(entry) or ()
        memory.progress(done + 1, len(unknown), "comparing")
    found = [pair for entry in fresh for pair in known[entry.id]]
    pairs = _nearest(_standing(memory, found, in_chains=not facts)).values()
    is_reflected = bool(lines_of_facts(memory.index))  # else no reflect wrote what became of a belief
    asked = (pair for pair in pairs if not (is_reflected and _is_evidence(memory, pair)))
    return tuple(sorted(asked, key=lambda pair: pair.newer.told, reverse=True))


def replacements_of(memory: OpenMemory, entries: Iterable[Row], beside: Collection[int]) -> dict[int, Replaced]:
    """For those of some entries that a newer line may replace in words: the pair, by the older one's id.

    Reads from the open index, with a bounded number of statements for all of them. Lines told after today do not count.
    `beside` are entries that were found with them, among which a newer line may be.
    """
    finder = _Finder(memory)
    wanted = [entry for entry in entries if _speaks(entry)]
    newer: dict[int, Row] = {}
    for some in (wanted[:_FIRST], wanted[_FIRST:]):  # what is shown first is looked at by itself
        newer |= {entry.id: entry for entry in (finder.telling(some, beside) if some else ())[:_NEWER]}
    newer |= finder.waiting(wanted)
    best = _best(_standing(memory, [pair for entry in newer.values() for pair in finder.older(entry)]))
    kept = facts_kept_from(memory.index, wanted)
    return {row.id: best[said] for row in wanted if (said := kept.get(row.id, row).id) in best}


def _best(standing: Sequence[Replaced]) -> dict[int, Replaced]:
    """By older line the pair of the newest that may replace it, but for what is nearer to another one."""
    nearest, best = _nearest(standing), dict[int, Replaced]()
    for pair in sorted(standing, key=lambda pair: pair.newer.told):
        known = best.get(pair.older.id)
        if pair.nearness >= _AS_NEAR * max(nearest[pair.newer.id].nearness, known.nearness if known else 0.0):
            best[pair.older.id] = pair
    return best


def waiting_beside(memory: OpenMemory, entries: Sequence[Row]) -> dict[int, Row]:
    """For those of some lines about one name that a newer one of them, or of their slot, may have replaced: the newest such.

    Words are weighed among these lines: unlike what `replacements_of` finds it follows from the lines about one name alone.
    """
    finder = _Finder(memory)
    pairs = [pair for row in finder.waiting(entries).values() for pair in finder.in_slot(row)]
    pairs += finder.among(sorted(filter(_speaks, entries), key=lambda row: row.told))
    return {older: pair.newer for older, pair in _best(_standing(memory, pairs)).items() if orders(pair)}


def may_replace(
    memory: OpenMemory, newer: Row, beside: Collection[str] = (), alike: Sequence[int] = ()
) -> list[Replaced]:
    """The three earlier lines of the same entity, likest first, that a line may replace whatever its words: for whoever
    wrote it, and knows. `judgement.reason` is empty where the two share nothing.

    `beside` are the ids of lines written together with it, `alike` the entries nearest to it by vectors, nearest first.
    Reads a bounded number of rows of the open index.
    """
    if _names_another(newer, _POINTS) or not _speaks(newer) or not is_trusted(newer.origin):
        return []
    finder = _Finder(memory)
    likely = [pair for pair in finder.older_about_same(newer, alike) if pair.older.ref not in beside]
    standing = _standing(memory, [pair for pair in likely if finder.is_told(pair)])
    undated = {pair.older.id for pair in standing if pair.older.kind == Kind.NOTE.value and not pair.older.day}
    states = {pair.older.id for pair in standing if pair.older.kind != Kind.EXPERIENCE.value} - undated
    few = FEW if len(states) <= _FEW and newer.kind != Kind.EXPERIENCE.value else ""
    reasons = ((pair, pair.judgement.reason or few * (pair.older.id in states)) for pair in standing)
    found = [pair._replace(judgement=pair.judgement._replace(reason=why)) for pair, why in reasons]
    return [pair for pair in found if pair.older.id in states or pair.judgement.reason][:_OFFERED]


def _other_of_two(key: str) -> str:
    """City for country and the other way: what moves may fill the one slot or the other; empty for other keys."""
    pairs = (line.split() for line in lines(EVERYWHERE, "slots")["one inside the other"])
    return next((other for pair in pairs if key in pair for other in pair if other != key), "")


def orders(pair: Replaced) -> bool:
    """True where the newer line is shown first: it was told by somebody trusted, on a later day, and not from hearsay."""
    told = is_trusted(pair.newer.origin) and pair.judgement.rule not in (HEARSAY, NEVER)
    return told and (pair.judgement.kind == "replacement" or (pair.older.day or "") < (pair.newer.day or ""))


def _names_another(entry: Row, relations: tuple[str, ...]) -> bool:
    return any(link.startswith(relations) for link in entry.links.split("\n"))


def _speaks(entry: Row) -> bool:
    """False for copies, what memctl wrote, notes that are of no day, and an opinion that is hardly held."""
    if entry.block is not None or entry.kind == Kind.OBSERVATION.value or entry.path == OPINIONS:
        return False
    if entry.role == Role.FACT.value:
        return entry.kind != Kind.OPINION.value or (entry.confidence or 0.0) >= _FIRM
    return entry.is_in_log and entry.role in ("text", "item") and entry.day is not None


class _Finder:
    """Finds earlier lines that a newer one may replace; each line is read once."""

    def __init__(self, memory: OpenMemory) -> None:
        self._memory, self._index = memory, memory.index
        self._statements: dict[int, Statement] = {}
        self._keys: dict[str, dict[str, None]] = {}
        self._weights: dict[str, float] = {}
        self._unweighed: list[Statement] = []

    def read(self, entries: Iterable[Row]) -> None:
        """Read the lines of entries as they stand on disk now."""
        fresh = [entry for entry in entries if entry.id not in self._statements]
        seen = reread(self._memory.workspace, fresh, self._index)
        for entry in (entry for entry in fresh if entry.id in seen):
            text = text_of(entry, seen[entry.id])
            said = text.content if text.fact else text.content[:_LONGEST]
            names = name_terms(self._names(entry)) if entry.names else frozenset[str]()
            self._statements[entry.id] = Statement(said, names, Kind(entry.kind), entry.written_on, entry.slot)
            self._unweighed.append(self._statements[entry.id])

    def _names(self, entry: Row) -> Set[str]:
        """The keys of those that a line names, in order, all that each goes by; of the owner the empty one too."""
        if entry.names not in self._keys:
            keys = dict.fromkeys(k for name in entry.named or ("",) for k in keys_of_person(self._index, name))
            self._keys[entry.names] = keys if any(keys) else {}
        return self._keys[entry.names].keys()

    def older(self, entry: Row) -> list[Replaced]:
        """The earlier lines that an entry may replace, by their words."""
        statement = self._statements.get(entry.id)
        if not statement or not _speaks(entry) or statement.speaker in reading.listed("machine"):
            return []
        chosen = select_terms(queries.frequencies(self._index, _leading(statement), own=True), _POSTINGS)
        like = queries.lines_like(self._index, entry, list(self._names(entry)), chosen, _BESIDE) if chosen else []
        told = self._at_most(entry, _TALE)
        before = [row for row in like if _speaks(row) and row.told < told and self._is_other(row, entry)]
        self.read(before)
        changed = {other: change for other in before if (change := self._changed(other, entry))}
        if any(change.judgement.rule == VALUE for change in changed.values()):
            facts = [row for row in before if row.role == Role.FACT.value and row not in changed]
            read = ((row, self._statements.get(row.id)) for row in facts)
            changed |= {row: earlier for row, said in read if said and (earlier := judge_series(said, statement))}
        found = self.in_slot(entry)
        for other, change in changed.items():
            trusted = is_trusted(other.origin) and is_trusted(entry.origin)
            judgement = change.judgement if trusted else change.judgement._replace(tier=Tier.ASKED)
            found.append(Replaced(other, entry, judgement, change.nearness))
        return found

    def _at_most(self, entry: Row, words: int | None = None) -> tuple[str, str, int]:
        """The turn before which lines were told that an entry may replace: a tale of some time ends nothing told long after it.

        With `words` only a tale of so few: a longer one tells more than what was then ("left Acme, where I began in 2012").
        """
        said = self._statements.get(entry.id)
        done = entry.valid.last if entry.happened else entry.valid.first if said and is_past(said.text) else None
        if words is not None and not (said and len(said.sentences) == 1 and len(said.sentences[0].words) <= words):
            done = None
        return min(entry.told, (str(days_before(done, -_SINCE) if done else date.max), "", 0))

    def in_slot(self, entry: Row) -> list[Replaced]:
        """What an entry that closes nothing may replace in its slot, one that tells of a move in the other of city and country,
        and one of the owner's, told by name or without, among those told the other way."""
        if entry.slot is None or not is_trusted(entry.origin):
            return []
        said, own = self._statements.get(entry.id), keys_of(self._index, entry.subject)
        marks = {mark for each in (said.sentences if said else ()) for mark in each.marks}
        if marks & {"part", "passing"}:
            return []
        slots = [entry.slot] + [_other_of_two(entry.slot)] * bool(said and is_change(said.text))
        names = keys_of_person(self._index, entry.subject)
        held = (row for slot in slots for row in queries.in_slots(self._index, slot, names))
        open_ = (row for row in held if not (entry.closes and row.slot == entry.slot and row.subject in own))
        told = self._at_most(entry)
        before = (row for row in open_ if row.told < told and row.same != entry.same and is_trusted(row.origin))
        judgement = judged("replacement", "replaces", HEARSAY if "unsure" in marks else "replaced: slot", entry.slot)
        return [Replaced(row, entry, judgement) for row in before]

    def waiting(self, entries: Iterable[Row]) -> dict[int, Row]:
        """Lines, by id, that fill the slots of some entries and close nothing, and of the other of city and country the newest."""
        slots = {(entry.slot, keys_of_person(self._index, entry.subject)) for entry in entries if entry.slot}
        marked = sorted(slot for slot in slots if has_marked(self._index, *slot))
        rows = [row for slot in marked for row in queries.in_slots(self._index, *slot) if not row.closes]
        beside = sorted((other, names) for slot, names in slots if (other := _other_of_two(slot)))
        rows += [max(held, key=lambda row: row.told) for at in beside if (held := queries.in_slots(self._index, *at))]
        self.read(rows)
        return {row.id: row for row in rows}

    def among(self, entries: Sequence[Row]) -> list[Replaced]:
        """The pairs of some lines about one name, from old to new, of which the newer may replace the older by its words."""
        self.read(entries)
        said = [line for entry in entries if (line := self._statements.get(entry.id))]
        words = [{word for each in line.sentences for word in each.words} for line in said]
        counts = Counter(word for own in words for word in own)
        self._weights |= {word: _relative_idf(count, len(said) + _USUAL) for word, count in counts.items()}
        self._unweighed.clear()
        found = list[Replaced]()
        for newer, told in [(entry, self._at_most(entry, _TALE)) for entry in entries]:
            before = (row for row in entries if row.told < told and self._is_beside(row, newer))
            changes = ((row, self._changed(row, newer)) for row in before if self._is_other(row, newer))
            found += [Replaced(row, newer, change.judgement, change.nearness) for row, change in changes if change]
        # Among so few lines every word is telling: what is only alike must be one sentence with another value.
        return [pair for pair in found if pair.judgement.rule != ALIKE or pair.nearness > _ONE_SENTENCE]

    def older_about_same(self, entry: Row, alike: Sequence[int]) -> list[Replaced]:
        """Earlier lines about the same, by search terms alone: likest first, then the newest, what happened last."""
        names = list(self._names(entry))
        if entry.slot and len(queries.slot_ids(self._index, entry.slot, names[:1] or [""])) > 1:
            return self.in_slot(entry)  # its slot says what it replaces
        own = set(queries.own_terms(self._index, [entry.id]).get(entry.id, "").split())
        self.read((entry,))
        said = self._statements[entry.id].sentences if entry.id in self._statements else ()
        hollow = {
            term for each in said for name in ("time", "now") for term in terms(reading.section_words(name, each.text))
        }
        hollow |= set(filter(reading.is_numeral, own)) | reading.listed("idle")
        told = {"now", "change", "new", "ended", "cancelled", "record"}  # else what happened needs two words of a state
        happened = bool(said) and all("event" in each.marks and told.isdisjoint(each.marks) for each in said)
        idle = stop_terms() | reading.listed("attitudes") | name_terms(names)
        mine = {term for term in own if len(term) > 1 and "=" not in term} - idle
        led = frozenset[str]().union(*map(reading.led_to, mine))
        counted = queries.rarest(self._index, mine | led, _POSTINGS_TELLING)
        like = queries.lines_like(self._index, entry, names, list(counted), _BESIDE) if counted else []
        rows = {row.id: row for row in (*like, *newest_beside(self._index, entry, names, _BESIDE))}
        rows |= queries.by_ids(self._index, alike)
        notes = self._notes_about(names)
        rows = {i: row for i, row in rows.items() if self._may_give_way(row, entry, own)} | notes
        total = queries.entry_count(self._index, own=True) + _USUAL
        nearest = {i: place for place, i in enumerate(i for i in alike if i in rows)}
        found, least = list[Replaced](), _TELLING if names else _TELLING_NOBODY
        for i, its in queries.own_terms(self._index, rows).items():
            held = set(its.split())
            shared = sum(_relative_idf(counted[term], total) for term in mine & held & counted.keys())
            shared += _TOPIC * (not led.isdisjoint(held)) - _EVENT * (rows[i].kind == Kind.EXPERIENCE.value)
            needed = happened and not (i in notes and any(is_change(each.text) for each in said))
            telling = shared > least and len(mine & held - hollow) > needed
            why = "shared words" if telling else "nearest in meaning" if nearest.get(i) == 0 else ""
            why = why or "one topic" * (i in notes and not led.isdisjoint(held))
            worth = shared + _MEANING * (1 - nearest.get(i, len(nearest)) / max(len(nearest), 1))
            judgement = Judgement("replacement", "replaces", Tier.ASKED, why)
            found.append(Replaced(rows[i], entry, judgement, round(worth, 6)))
        return sorted(found, key=lambda pair: (pair.nearness, pair.older.told), reverse=True)[:_LIKELY]

    def _notes_about(self, names: Sequence[str]) -> dict[int, Row]:
        """What a page called so says in single sentences and on no day: it stood there before the line that is being written."""
        found = {
            row.id: row._replace(names=key)
            for key, page in pages_called(self._index, names).items()
            for row in queries.undated_notes(self._index, page, _BESIDE)
        }
        self.read(found.values())
        said = {i: split_sentences(self._statements[i].text) for i in found if i in self._statements}
        return {i: found[i] for i, sentences in said.items() if len([*sentences]) == 1}

    def is_told(self, pair: Replaced) -> bool:
        """False for a plan beside what is none, and for what happened beside a state, unless it says that things changed."""
        self.read((pair.older, pair.newer))
        older, newer = (self._statements[row.id].text if row.id in self._statements else "" for row in pair[:2])
        is_apart = not pair.judgement.rule and pair.newer.kind == Kind.EXPERIENCE.value != pair.older.kind
        return not (is_plan(newer) and not is_plan(older)) and (not is_apart or is_change(newer))

    def _may_give_way(self, older: Row, newer: Row, said: Set[str]) -> bool:
        """True for an earlier trusted fact or item about the same; beside one that names nobody, about those in its text too."""
        if not is_trusted(older.origin) or older.role not in (Role.FACT.value, Role.ITEM.value) or not _speaks(older):
            return False
        # An attempt is no state, and a slot gives way to its own values alone.
        is_apart = newer.task or older.task or None not in (newer.slot, older.slot)
        if is_apart or older.told >= self._at_most(newer, _TALE):
            return False
        is_meant = newer.names or not older.names or "" in self._names(older) or self._is_named(older, said)
        return bool(is_meant) and self._is_beside(older, newer) and self._is_other(older, newer)

    def _is_named(self, entry: Row, said: Set[str]) -> bool:
        """True where some search terms name one of those whom an entry is about."""
        return any(name and name <= said for name in ({*terms(key)} for key in self._names(entry)))

    def _changed(self, older: Row, newer: Row) -> PairJudgement | None:
        """What a newer line makes of an older one; one that names nobody speaks of the owner, or says in its text of whom."""
        if _names_another(newer, _REPLACES):
            return None
        one, other = self._statements.get(older.id), self._statements.get(newer.id)
        about = tuple(sorted((self._names(older) & self._names(newer)) - {""}))
        change = judge_change(one, other, self._weight, about) if one and other else None
        if not change or not other or not older.names or newer.names or change.judgement.rule == KIND:
            return change
        is_owner = not self._names(older).isdisjoint(self._names(newer))
        return change if is_owner or self._is_named(older, {*terms(other.text)}) else None

    def _weight(self, word: str) -> float:
        """How telling a word of the lines is that were read. Most are told apart before their words are weighed."""
        if word not in self._weights:
            words = {word for each in self._unweighed for said in each.sentences for word in said.words}
            self._unweighed.clear()
            known = queries.frequencies(self._index, words, own=True)
            total = queries.entry_count(self._index, own=True) + _USUAL
            self._weights |= {word: _relative_idf(known.get(word, 1), total) for word in words}
        return self._weights[word]

    def _is_beside(self, older: Row, newer: Row) -> bool:
        """True for two lines in order that are about one name, or of which the newer names nobody: those that `older` reads."""
        same = not newer.names and (not older.names or older.slot is not None)
        return (same or not self._names(newer).isdisjoint(self._names(older))) and older.told < newer.told

    def _is_other(self, one: Row, other: Row) -> bool:
        """False for twins, for two voices from outside, and for versions of one slot, which truth puts in order."""
        if None not in (one.slot, other.slot) and one.slot != other.slot:
            return False
        if one.content_key == other.content_key or not (is_trusted(one.origin) or is_trusted(other.origin)):
            return False
        is_same_slot = one.slot is not None and one.slot == other.slot
        return not (is_same_slot and [*self._names(one), ""][:1] == [*self._names(other), ""][:1])

    def telling(self, entries: Sequence[Row], beside: Collection[int]) -> list[Row]:
        """Lines told after some entries that may say of one of them that it changed, the likest first.

        Search terms tell which pairs are worth reading; mostly none is.
        """
        held = queries.read_lines(self._index, {*(entry.id for entry in entries), *beside})
        leading = {entry.id: _leading_terms(held[entry.id][0] if entry.id in held else "") for entry in entries}
        names = {entry.id: name_terms(self._names(entry)) for entry in entries}
        led = {i: {t[: reading.STEM] for t in own if is_han(t[0]) or t not in names[i]} for i, own in leading.items()}
        chosen = queries.rarest(self._index, set().union(*leading.values()), _POSTINGS_TELLING)
        alone = len(entries) <= _FIRST or not beside  # what stands further below is held against what was found with it
        ids = self._told_later(entries, chosen) if chosen and alone else []
        found = queries.by_ids(self._index, {*ids, *beside})
        held = {**held, **queries.read_lines(self._index, ids)}
        first, until = min(entry.day or "" for entry in entries), str(self._memory.today)
        likely: dict[int, list[Row]] = {}
        markers = reading.listed("told by")
        for row in (found[i] for i in dict.fromkeys((*beside, *ids)) if i in held and i in found):
            own = held[row.id][0].split()
            if chosen.keys().isdisjoint(own) or not (first <= (row.day or "") <= until and _speaks(row)):
                continue
            older = [entry for entry in entries if self._is_beside(entry, row)]
            is_told = row.id in beside or row.kind != Kind.NOTE.value
            if older and (is_told or not markers.isdisjoint(own) or any(map(reading.is_numeral, own))):
                heads = {term[: reading.STEM] for term in own}
                older = [entry for entry in older if not heads.isdisjoint(led[entry.id])]
                likely[row.id] = [entry for entry in older if self._is_other(entry, row)]
            if len(likely) == _LIKELY:
                break
        self.read(dict.fromkeys(entry for older in likely.values() for entry in older))
        read = {entry.id: self._statements[entry.id] for entry in entries if entry.id in self._statements}
        short = {i for i, line in read.items() if any(not said.is_long for said in line.sentences)}
        likely = {i: [entry for entry in older if entry.id in short] for i, older in likely.items()}
        self.read(found[i] for i, older in likely.items() if older)
        return [found[i] for i, older in likely.items() if any(self._changed(entry, found[i]) for entry in older)]

    def _told_later(self, entries: Sequence[Row], chosen: Mapping[str, int]) -> list[int]:
        """Lines about the same names told from the first of the entries on that hold one of the terms, the likest first:
        facts, then what holds one of the words by which changes are told.
        """
        since, until = min(entry.day or "" for entry in entries), str(self._memory.today)
        names = {name for entry in entries for name in self._names(entry)}
        factual = {n for entry in entries if entry.kind != Kind.NOTE.value for n in self._names(entry) or ("",)}
        if any(not entry.names or entry.slot is not None for entry in entries):
            names.add("")
        lines = queries.lines_holding(self._index, chosen, names, since, until)
        about = {i: fact and not factual.isdisjoint(its.split("\n")) for i, (its, fact) in lines.items()}
        held = {i: own.split() for i, (own, _) in queries.read_lines(self._index, about).items()}
        markers = reading.listed("told by")
        total, usual = queries.entry_count(self._index, own=True), sum(map(len, held.values())) / max(len(held), 1)
        worth = {term: idf(count, total) for term, count in chosen.items()}
        weight = {
            i: sum(worth[term] for term in worth.keys() & own) / (SHORT + len(own) / usual) for i, own in held.items()
        }
        likest = sorted(held, key=lambda i: (-round(weight[i], 9), i))
        facts = [i for i in likest if about[i]]
        told = (i for i in likest if not markers.isdisjoint(held[i]))
        return list(dict.fromkeys((*facts[:_FOUND], *islice(told, _FOUND))))


def _relative_idf(count: int, total: int) -> float:
    """How telling a term is that stands in so many of all entries, from 0 to 1."""
    return math.log(1 + total / count) / math.log(1 + total)


def _leading(statement: Statement) -> list[str]:
    """Search terms that lead to earlier lines which a line may replace; none for a note that can replace nothing."""
    marked = {"now", "change", "new", "ended", "cancelled", "denied"}
    found: dict[str, None] = {}
    for said in statement.sentences:
        telling = said.marks & marked or said.numbers or said.times or said.words & reading.opposites().keys()
        if (telling or statement.is_brief) and not said.is_long:
            found |= dict.fromkeys(said.words)
            found |= dict.fromkeys(term for topic in said.topics for term in reading.topic_terms()[topic])
            found |= dict.fromkeys(term for kind, _ in said.kinds for term in reading.kind_terms()[kind])
            found |= dict.fromkeys(its for word in said.words for its in reading.opposites().get(word, ()))
    return list(found)


def _leading_terms(own: str) -> set[str]:
    """The same from the search terms of a line alone: what it is about, and what leads to other values of that."""
    found = {term for term in own.split() if "=" not in term and not term.isdigit()} - stop_terms()
    return found.union(*map(reading.led_to, found), *(reading.opposites().get(term, ()) for term in found))


def _standing(memory: OpenMemory, found: Sequence[Replaced], in_chains: bool = False) -> list[Replaced]:
    """Those pairs of which both sides hold today, and that no line has settled.

    With `in_chains`, those too of which the newer side was replaced, in place of the pair of the older one with what replaced it.
    """
    over = expiry_on(memory.today, memory.workspace.settings.ttl)
    kept = [pair for pair in _of_statements(memory.index, found) if not over.reason(pair.newer, None)]
    verdict = judge(memory, {row.id: row for pair in kept for row in (pair.older, pair.newer)}.values(), whole=False)
    # Named by a trusted line, as an answer does; what only a newer value of a slot replaced is in no chain.
    named = {ref for claim in verdict.claims.values() if in_chains and claim.trusted for ref in claim.supersedes}
    left = unsettled(memory.index, [pair for pair in kept if _hold(pair, verdict, memory.today, named)])
    beyond = {(pair.older.id, verdict.validity[pair.newer.id].replaced_by) for pair in left}
    return [pair for pair in left if (pair.older.id, pair.newer.id) not in beyond]


def _of_statements(index: Index, found: Sequence[Replaced]) -> list[Replaced]:
    """The pairs, one of each two statements, the nearest: a fact stands for the note that it was kept from."""
    kept = facts_kept_from(index, {row.id: row for pair in found for row in (pair.older, pair.newer)}.values())
    made: dict[frozenset[int], Replaced] = {}
    for pair in found:
        older, newer = (kept.get(row.id, row) for row in (pair.older, pair.newer))
        both = frozenset((older.id, newer.id))
        if both not in made or made[both].nearness < pair.nearness:
            made[both] = pair._replace(older=older, newer=newer)
    return [pair for both, pair in made.items() if len(both) == 2]


def _hold(pair: Replaced, verdict: Validities, today: date, named: Set[str]) -> bool:
    """True where both hold today, or the newer one was replaced by a line that names it; it may speak of a day to come."""
    older, newer = verdict.validity[pair.older.id], verdict.validity[pair.newer.id]
    are_dated = pair.older.dated and pair.newer.dated
    if pair.judgement.rule == ALIKE and (are_dated or any(has_ended(said.valid, today) for said in (older, newer))):
        return False  # what happened, or is to be, at one time and at another
    begins = older.valid.first if pair.judgement.kind == "replacement" else None
    holds = older.holds(max(today, begins or today))  # now, or when it is to begin
    if pair.judgement.rule == NEVER:  # what was done once is over, and was done
        return not any(said.retracted or said.replaced_by is not None for said in (older, newer))
    if newer.replaced_by is not None and pair.newer.ref in named:
        return holds and not newer.retracted
    stands = newer.replaced_by is None and not newer.retracted  # whatever day it speaks of
    told = stands if pair.judgement.kind == "replacement" else newer.holds(today)
    return holds and told


def unsettled(index: Index, pairs: Sequence[Replaced]) -> list[Replaced]:
    """Those pairs that no trusted line has settled, as they are or said before, or related."""
    beside = side_by_side(index, {row.ref for pair in pairs for row in (pair.older, pair.newer)})
    asked = {question_id(*pair.asked_as): pair for pair in pairs}
    about = {number: {number, question_id("trust", pair.asked_as[-1])} for number, pair in asked.items()}
    for number, pair in asked.items():
        older, newer = ({row.ref, *row.notes} for row in (pair.older, pair.newer))
        for one, other in product(older, newer):  # of a belief that one of them states, too
            about[number] |= question_ids(one, other) | question_ids(other, one)
    answered = settled_ids(index, set().union(*about.values()))
    said = {number: (pair.older.content_key, pair.newer.content_key) for number, pair in asked.items()}
    over = {said[number] for number in asked if not answered.isdisjoint(about[number])}
    return [pair for number, pair in asked.items() if said[number] not in over and not _is_related(pair, beside)]


def _is_related(pair: Replaced, beside: Mapping[str, set[int]]) -> bool:
    """True where one line replaces, corrects, supports or refutes the other, and where a third speaks for both."""
    for one, other in ((pair.older, pair.newer), (pair.newer, pair.older)):
        if any(link.partition(" ")[2] in (other.ref, belief_id(other.ref)) for link in one.links.split("\n")):
            return True
    return bool(beside.get(pair.older.ref, set()) & beside.get(pair.newer.ref, set()))


def _is_evidence(memory: OpenMemory, pair: Replaced) -> bool:
    """True where one line states a belief for or against which the other surely speaks: then reflect writes what becomes
    of it, and nobody is asked. Told from the lines, whether reflect has written that yet or not."""
    rows = [row for row in (pair.older, pair.newer) if is_trusted(row.origin) and not row.private]
    if len(rows) < 2 or all(row.kind != Kind.OPINION.value for row in rows):
        return False
    from ..stance.stance import stance  # of which most recalls know nothing

    known, seen = KnownNames(memory.index), reread(memory.workspace, rows, memory.index)
    told = [(row, fact) for row in rows if row.id in seen and (fact := text_of(row, seen[row.id]).fact)]
    ordered = ((one, other) for one, other in permutations(told, 2) if (one[0].day or "") <= (other[0].day or ""))
    beliefs = ((held, said) for (row, held), (_, said) in ordered if row.kind == Kind.OPINION.value)
    found = (stance(*pair, canonical=known.key_of) for pair in beliefs)
    return any(judgement and judgement.is_certain for judgement in found)


def _nearest(found: Iterable[Replaced]) -> dict[int, Replaced]:
    """By newer line, of the earlier ones that it may replace the nearest; of two as near, the newer."""
    ordered = sorted(found, key=lambda pair: (round(pair.nearness, 6), pair.older.told))
    return {pair.newer.id: pair for pair in ordered}
