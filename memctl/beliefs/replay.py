"""Which beliefs there are and what speaks for and against each: facts replayed in the order of their days.

The result depends on the facts and on what people changed by hand, never on earlier results of its own or on the order
in which files arrived: what reflect wrote within the window is found again, or goes.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from datetime import date
from itertools import chain, combinations, groupby
from operator import attrgetter
from sys import intern
from typing import NamedTuple

from ..facts import UNSAID, Citation, Fact, Kind
from ..ids import belief_id, question_id, question_ids
from ..judgement import Judgement
from ..markdown.grammar import Bullet, code_of
from ..stance import stance
from ..stance.stance import topics
from ..truth import change
from . import confidence
from .confidence import BeliefEntry, LastWritten

_MOST_NAMED = 5  # names that a line marks, of which every combination is looked up
_Names = tuple[frozenset[str], frozenset[str]]  # keys of names, and all their spellings on both sides
Judge = Callable[[Fact, Fact], Judgement | None]
"""What a fact says of a belief; None where that is nothing, or not worth a question."""


class TrustedFact(NamedTuple):
    """A trusted fact as evidence. `names` are the keys of those it names; `day` is when it was written down."""

    ref: str
    fact: Fact
    day: date
    citation: Citation
    names: frozenset[str]


class ExplicitEvidence(NamedTuple):
    """Evidence that is named by ids: a line with `for=` or its like, or an answer, `S(for=o-1,by=f-2)`, that speaks for one."""

    links: Fact  # the fact whose `for=`, `against=` and `supersedes=` count
    line: TrustedFact  # the evidence: the same line, or the one that an answer names
    weight: float = 1.0

    @property
    def key(self) -> str:
        """Equal for answers that say the same of the same line."""
        return repr((self.line.ref, self.weight, self.links.supports, self.links.refutes, self.links.supersedes))


class UncertainPair(NamedTuple):
    """A belief and a fact that may speak to it, for `memctl review`: no number changes until somebody answers."""

    belief: str  # their ids
    fact: str
    judgement: Judgement  # of kind evidence, or reversal where the holder may have changed their mind
    day: date  # of the fact

    @property
    def question(self) -> str:
        """The id of the question, by the name of its kind in review."""
        return question_id("reversed" if self.judgement.kind == "reversal" else "belief", self.belief, self.fact)


class Moved(NamedTuple):
    """A belief whose confidence changed; `before` is None for a new one, `after` for one taken back."""

    ref: str
    text: str
    before: float | None
    after: float | None


class Replayed(NamedTuple):
    """What a replay finds."""

    beliefs: tuple[confidence.Belief, ...]  # in the order of their statements
    withdrawn: tuple[BeliefEntry, ...]  # what reflect takes back from the page
    marks: Mapping[str, LastWritten]  # what the page is to remember, by id of the belief
    notes: tuple[str, ...]  # what a person should know
    open_questions: tuple[UncertainPair, ...] = ()  # the pairs that only an owner can judge and has not
    uncertain: tuple[UncertainPair, ...] = ()  # all such pairs, also those about a belief that is over by now

    def moved(self, confidences: Mapping[str | None, float | None]) -> list[Moved]:
        """The beliefs whose number changed; `confidences` are earlier ones of those that do not stand on the page, by id."""
        found = []
        for belief in self.beliefs:
            before = belief.entry.fact.confidence if belief.entry else confidences.get(belief.ref)
            if not belief.fact.private and (before is None or f"{before:.2f}" != belief.number):
                found.append(Moved(belief.ref, belief.fact.text, before, float(belief.number)))
        found += [Moved(entry.ref or "", entry.fact.text, entry.fact.confidence, None) for entry in self.withdrawn]
        return found


Days = Iterable[Sequence[TrustedFact]]
_AT_ONCE = 1_000  # beliefs whose evidence is looked up together


class ReplayInput(NamedTuple):
    """What a replay knows beside the page. Its *window* are the days from one on whose facts are replayed.

    Evidence older than the window stays as it stands on the page. An id without a place is of a line that is gone.
    """

    facts: Sequence[TrustedFact]  # all of the window; with `days` those that the page cites or that name others by id
    places: Mapping[str, confidence.Place]  # of the ids that the page cites
    forgotten: Set[str]  # ids that were forgotten on purpose, or whose lines count no more though they stand
    names_of: Callable[[Fact], frozenset[str]]  # the keys of those whom a fact names
    judge: Judge
    today: date
    unread: Mapping[str, int] = {}  # id of a belief -> line of its head, which does not parse: neither here nor gone
    answers: Sequence[ExplicitEvidence] = ()
    settled: Set[str] = frozenset()  # ids of questions that were answered
    days: Days | None = None  # all facts of the window, a day at a time from the oldest on, so that few need be held
    place_of: Callable[[Set[str]], Mapping[str, confidence.Place]] = lambda refs: {}  # of ids of facts of the window
    canonical: Callable[[str], str] | None = None  # the key of a name, where judge_view judges and nothing else
    before: Sequence[tuple[str, TrustedFact]] = ()  # uncertain pairs from before it: id of the belief, and the fact


def replay_beliefs(entries: Sequence[BeliefEntry], written: Mapping[str, LastWritten], inputs: ReplayInput) -> Replayed:
    """The beliefs that the entries on the page and the facts of the window make; `written` is what reflect last wrote."""
    run = _Run(written, inputs)
    run.add_entries(entries)
    in_order = sorted(run.by_ref.values(), key=lambda line: (line.day, line.ref))
    by_day = (list(facts) for _, facts in groupby(in_order, key=attrgetter("day")))
    for facts in inputs.days or by_day:
        run.add_day(facts)
    run.ask_again()
    run.link()
    beliefs = sorted(run.beliefs, key=lambda b: (b.day, b.ref))
    for start in range(0, len(beliefs), _AT_ONCE):
        some = beliefs[start : start + _AT_ONCE]
        places = run.places(some)
        for belief in some:
            confidence.renumber(belief, places)
    alive = {belief.ref for belief in beliefs}
    withdrawn = [entry for ref, entry in run.derivable.items() if ref not in alive]
    kept = {belief.ref: belief.mark for belief in beliefs} | run.removed
    open_questions, uncertain = tuple(run.open_questions()), tuple(run.uncertain)
    return Replayed(tuple(beliefs), tuple(withdrawn), kept, tuple(run.notes), open_questions, uncertain)


def is_ours(
    entry: BeliefEntry, mark: LastWritten | None, by_ref: Mapping[str, TrustedFact],
    places: Mapping[str, confidence.Place], forgotten: Set[str],
) -> bool:  # fmt: skip
    """True if nothing in the entry is a person's, and all of it can be found again, or is gone for good."""
    stated = confidence.stated_in(entry)
    if mark is None or mark.head is None or stated is None or stated.ref is None or confidence.is_edited(entry, mark):
        return False
    if stated.ref in forgotten:
        return True
    refs = {bullet.ref for _, bullet in entry.bullets}
    is_changed = any(mark.codes.get(bullet.ref or "") != code_of(bullet) for _, bullet in entry.bullets)
    if is_changed or confidence.is_remarked(entry) or confidence.is_attributed(entry):
        return False
    if not refs & places.keys():
        return confidence.is_worded_as_stated(entry, stated)
    fact = by_ref.get(stated.ref)
    same = fact and entry.fact.text == fact.fact.text and entry.fact.entities == fact.fact.entities
    return bool(same) and refs <= by_ref.keys() | forgotten


class _Run:
    """One replay: the entries of the page, then the facts of the window day by day, then the evidence that is named by ids."""

    def __init__(self, written: Mapping[str, LastWritten], inputs: ReplayInput) -> None:
        self.marks, self.inputs = written, inputs
        self.by_ref = {fact.ref: fact for fact in inputs.facts}
        self.beliefs: list[confidence.Belief] = []
        self.derivable: dict[str, BeliefEntry] = {}  # entries that are all ours: their facts state them again
        self.removed: dict[str, LastWritten] = {}  # beliefs that a person removed from the page
        self.notes: list[str] = []  # for a person to read
        self.uncertain: list[UncertainPair] = []
        self._by_id: dict[str, confidence.Belief] = {}  # by the id of the belief, and of the line that stated it
        self._by_text: dict[str, list[confidence.Belief]] = defaultdict(list)
        self._about: dict[str, list[confidence.Belief]] = defaultdict(list)  # by the keys of names
        # By some of those whom they mark, for all combinations: their keys, then as they are written.
        self._groups: dict[frozenset[str], dict[frozenset[str], list[confidence.Belief]]] = defaultdict(dict)
        self._wide: list[confidence.Belief] = []  # that mark too many for that
        self._spellings: dict[str, None] = {}  # of all whom they mark
        # By the rarest of the keys that a line must share for any judgement: common words join no pair. An index for
        # all names that a line and a belief may have in common, without which both are read.
        self._by_keys: dict[_Names, dict[str, tuple[confidence.Belief, ...]]] = defaultdict(dict)
        self._read = Counter[tuple[_Names, frozenset[str]]]()  # how many beliefs of a group are in an index
        self._often = Counter[str]()  # how often a key was sought
        self._judgements: dict[tuple[str, str], Judgement | None] = {}  # of one day, by belief and fact
        self._cited: set[str | None] = set()  # ids of the lines that became evidence
        self._of_window = set(self.by_ref)  # ids of facts whose places `places` may ask for
        self._not_restated: set[str] = set()  # ids of opinions that bring no belief back
        self._explicit = [*(ExplicitEvidence(fact.fact, fact) for fact in self.by_ref.values()), *inputs.answers]
        self._ended_by: dict[str, list[TrustedFact]] = defaultdict(list)  # id of a belief -> what says that it ends it
        self._named_by: dict[str, set[str]] = defaultdict(set)  # id of a line -> ids that it, or an answer, names
        for links, line, _ in self._explicit:
            for ref in links.supersedes:
                self._ended_by[ref].append(line)
            self._named_by[line.ref].update((*links.supports, *links.refutes, *links.supersedes))

    def add_entries(self, entries: Sequence[BeliefEntry]) -> None:
        """Beliefs that a person wrote or changed stay; those that are all ours are stated again by their facts."""
        seen: dict[str, BeliefEntry] = {}
        for entry in entries:
            ref = entry.ref or confidence.own_id(entry)
            if ref in seen:
                taken = f"^{ref} is taken by line {seen[ref].span.line}"
                self.notes.append(f"line {entry.span.line}: {taken}; give one another id")
                continue
            seen[ref] = entry
            if is_ours(entry, self.marks.get(ref), self.by_ref, self.inputs.places, self.inputs.forgotten):
                self.derivable[ref] = entry
            else:
                self._add(self._belief_on_page(ref, entry))
        for ref, mark in self.marks.items():
            stated = next((fact for fact, code in mark.codes.items() if code.startswith("s")), None)
            if ref in seen or stated in self.inputs.forgotten:
                continue
            self.removed[ref] = LastWritten(None, mark.codes)
            if line := self.inputs.unread.get(ref):
                self.removed[ref] = mark
                what = f"^{ref} does not read as a belief; correct the line, or remove the belief"
                self.notes.append(f"line {line}: {what}")
            # What was said again of such a belief does not bring it back under another id.
            self._not_restated |= {fact for fact in mark.codes if belief_id(fact) not in self.marks}

    def _belief_on_page(self, ref: str, entry: BeliefEntry) -> confidence.Belief:
        mark, today = self.marks.get(ref), self.inputs.today
        stated = confidence.stated_in(entry)
        # Where a person went on below the id, it stands in the middle of the text.
        fact = entry.fact if entry.ref else replace(entry.fact, text=entry.fact.text.replace(f" ^{ref} ", " "))
        first = stated or confidence.stated_by_hand(entry, today)
        belief = confidence.Belief(
            ref, fact, self.inputs.names_of(entry.fact), first.day, first.ref, entry, refused=confidence.refused(entry, mark)
        )  # fmt: skip
        if stated is None:
            belief.bullets.append(first)
        for _, bullet in entry.bullets:
            kept = self._kept_bullet(belief, bullet, mark)
            if kept and not (kept.ref and (kept.ref, kept.verdict) in {(b.ref, b.verdict) for b in belief.bullets}):
                belief.bullets.append(kept)
                if kept.verdict == "superseded" and not kept.gone:
                    belief.over = min(filter(None, (belief.over, kept.day)))
        if confidence.is_edited(entry, mark):
            belief.bullets = [b for b in belief.bullets if (b.day, b.verdict) != (today, "set")]
            belief.bullets.append(Bullet(today, "set", 1.0, entry.fact.confidence, reason="by hand"))
        return belief

    def _kept_bullet(self, belief: confidence.Belief, bullet: Bullet, mark: LastWritten | None) -> Bullet | None:
        """The bullet as it stays, with its line found again; None if it is ours to find again, or forgotten."""
        ref = bullet.ref
        if ref is None:
            return bullet
        ours = mark is not None and mark.codes.get(ref) == code_of(bullet)
        if ours:
            belief.found_refs.add(ref)
        place = self.inputs.places.get(ref)
        is_told = ours and ref in self.by_ref and bullet.verdict != "stated"
        is_answered = bullet.verdict == "questioned" and self._is_answered(belief, ref)
        if is_told or is_answered or (ref in self.inputs.forgotten and (ours or not place)):
            return None
        if place:
            return bullet._replace(citation=place.citation, gone=None)
        path = bullet.citation.path if bullet.citation else bullet.gone
        if path and (ours or bullet.gone):
            if not bullet.gone:
                self.notes.append(f"{belief.ref}: the line ^{ref} is gone from {path}; it counts no more")
            return bullet._replace(citation=None, gone=path, after=None)
        if path:
            self.notes.append(f"{belief.ref}: ^{ref} is on no page; the evidence was added by hand and stays")
        return bullet

    def _add(self, belief: confidence.Belief) -> None:
        self.beliefs.append(belief)
        self._by_id[belief.ref] = belief
        if belief.stated:
            self._by_id[belief.stated] = belief
        self._by_text[belief.fact.text].append(belief)
        for name in belief.names:
            self._about[name].append(belief)
        marked = belief.fact.entities if self.inputs.canonical else ()
        self._spellings.update(dict.fromkeys(marked))
        for keys, written in self._combinations(marked) or ():
            self._groups[keys].setdefault(written, []).append(belief)
        self._wide += [belief] if self._combinations(marked) is None else []
        # At once, not with the other links: a line of a later day is no evidence for this belief any more.
        for line in (*self._ended_by.get(belief.ref, ()), *self._ended_by.get(belief.stated or "", ())):
            if line.ref != belief.stated:
                self._end(belief, line, "")

    def add_day(self, day: Sequence[TrustedFact]) -> None:
        """Apply the facts of one day. Nobody knows which of them came first, and their ids are no reason.

        So what ends an older belief ends it for the whole day, and what is not an opinion speaks to those of the same day.
        """
        self._judgements = {}
        opinions = [line for line in day if line.fact.kind is Kind.OPINION]
        others = [line for line in day if line.fact.kind is not Kind.OPINION]
        self._reverse(day, only_older=True)
        for line in opinions:
            self._apply(line)
        self._reverse(others, only_older=False)
        for line in others:
            self._apply(line)
        self._of_window.update(line.ref for line in day if line.ref in self._cited)

    def places(self, beliefs: Iterable[confidence.Belief]) -> dict[str, confidence.Place]:
        """Where the lines are that some beliefs rest on."""
        refs = {bullet.ref for belief in beliefs for bullet in belief.bullets if bullet.ref}
        known = {ref: self.inputs.places[ref] for ref in refs if ref in self.inputs.places}
        return known | dict(self.inputs.place_of((refs & self._of_window) - known.keys()))

    def _reverse(self, facts: Iterable[TrustedFact], only_older: bool) -> None:
        """Let facts end the beliefs whose holder surely thinks otherwise now; with `only_older` those of earlier days."""
        for line in facts:
            for belief in self._related(line):
                is_older = not only_older or belief.day < line.day
                judgement = self._judgement(belief, line) if is_older else None
                if judgement and judgement.is_certain and judgement.kind == "reversal":
                    self._end(belief, line, judgement.reason)

    def _judgement(self, belief: confidence.Belief, line: TrustedFact) -> Judgement | None:
        """What the fact says of the belief by its words; what it or an answer says by ids is not judged by words too."""
        pair = belief.ref, line.ref
        if pair not in self._judgements:
            answered = self._is_answered(belief, line.ref)
            self._judgements[pair] = None if answered else self.inputs.judge(belief.fact, line.fact)
        return self._judgements[pair]

    def _is_answered(self, belief: confidence.Belief, ref: str) -> bool:
        """True if the line names the belief by its id, an answer does so for it, or the question of the two is settled."""
        named = not self._named_by.get(ref, set()).isdisjoint((belief.ref, belief.stated))
        return named or not self.inputs.settled.isdisjoint(question_ids(belief.stated or "", ref, belief.ref))

    def _apply(self, line: TrustedFact) -> None:
        """Let a fact speak for or against the beliefs stated before it, and state one of its own if it is an opinion."""
        is_opinion, says_again = line.fact.kind is Kind.OPINION, False
        for belief in self._related(line):
            if is_opinion and belief.fact.text == line.fact.text:
                self._add_evidence(belief, _evidence(line, "for"))
                says_again = True
                continue
            judgement = self._judgement(belief, line)
            if judgement is None:
                continue
            weight = confidence.INFERRED if judgement.is_certain else confidence.ASKED.get(judgement.rule)
            if not weight:
                self._ask(belief, line, judgement)
            elif judgement.kind == "reversal":
                self._end(belief, line, judgement.reason)
            else:
                self._add_evidence(belief, _evidence(line, judgement.verdict, weight, judgement.reason))
        if is_opinion and not says_again:
            self._state(line)

    def _ask(self, belief: confidence.Belief, line: TrustedFact, judgement: Judgement) -> None:
        """Leave a pair to be asked. Where the holder may think otherwise now, the older belief is marked until then."""
        self.uncertain.append(UncertainPair(belief.ref, line.ref, judgement, line.day))
        if judgement.kind == "reversal":
            self._add_evidence(belief, _evidence(line, "questioned", reason=judgement.reason))

    def ask_again(self) -> None:
        """Judge the uncertain pairs from before the window again: what is still uncertain stays a question."""
        for ref, line in self.inputs.before:
            belief = self._by_id.get(ref)
            judgement = self._judgement(belief, line) if belief else None
            if belief and judgement and not judgement.is_certain:
                self.uncertain.append(UncertainPair(belief.ref, line.ref, judgement, line.day))

    def open_questions(self) -> list[UncertainPair]:
        """What is to be asked of beliefs that still stand, without evidence that a person took out or that is counted."""
        found = []
        for pair in self.uncertain:
            belief = self._by_id[pair.belief]
            known = {bullet.ref for bullet in belief.bullets if bullet.verdict != "questioned"} | belief.refused
            # Whether it still holds, then what speaks for it.
            first = belief.is_current or pair.judgement.kind == "reversal"
            if belief.over is None and first and pair.fact not in known:
                found.append(pair)
        return found

    def _related(self, line: TrustedFact) -> list[confidence.Belief]:
        """Beliefs about somebody whom the fact names, with a topic in common, stated no later and not over.

        Where it names nobody, those about nobody in the same words.
        """
        same = self._by_text.get(line.fact.text, ())
        if not line.names:
            return [belief for belief in same if not belief.names and self._is_open(belief, line)]
        about = topics(line.fact.text, frozenset(line.fact.entities))
        found = {belief.ref: belief for belief in (*same, *self._found(line))}
        known = (b for _, b in sorted(found.items()) if self._is_open(b, line) and not b.names.isdisjoint(line.names))
        return [b for b in known if not about.isdisjoint(topics(b.fact.text, frozenset(b.fact.entities)))]

    def _combinations(self, names: Iterable[str]) -> list[_Names] | None:
        """Some names in every combination: their keys, and as they are written; None for too many."""
        written, canonical = defaultdict[str, set[str]](set), self.inputs.canonical or str
        for name in names:
            written[canonical(name)].add(name)
        if len(written) > _MOST_NAMED:
            return None
        chosen = chain.from_iterable(combinations(sorted(written), n + 1) for n in range(len(written)))
        return [(frozenset(keys), frozenset().union(*map(written.__getitem__, keys))) for keys in chosen]

    def _found(self, line: TrustedFact) -> Iterator[confidence.Belief]:
        """Beliefs to which a line may speak, and others: all of its names for another judge, or where it marks too many."""
        text, is_opinion, marked = line.fact.text, line.fact.kind is Kind.OPINION, line.fact.entities
        told = self._combinations(marked or [name for name in self._spellings if name in text])
        if told is None or self.inputs.canonical is None:
            yield from chain.from_iterable(self._about.get(name, ()) for name in sorted(line.names))
            return
        yield from self._wide
        for keys, said in told:
            for written, beliefs in self._groups.get(keys, {}).items():
                both = keys, written | said if marked else written
                self._index(both, written, beliefs)
                views = change.view_given(text, keys) if is_opinion else ()
                for given in filter(None, chain(stance.given(text, both[1], is_opinion), views)):
                    yield from self._by_keys[both].get(min(given, key=lambda key: (self._often[key], key)), ())

    def _index(self, names: _Names, written: frozenset[str], beliefs: Sequence[confidence.Belief]) -> None:
        index = self._by_keys[names]
        for belief in beliefs[self._read[names, written] :]:
            text = belief.fact.text
            for keys, least in chain(stance.sought(text, names[1]), change.view_sought(text, names[0])):
                self._often.update(keys)
                rarest = sorted(keys, key=lambda key: (self._often[key], key))[: max(0, len(keys) - least + 1)]
                index.update((intern(key), (*index.get(key, ()), belief)) for key in rarest)
        self._read[names, written] = len(beliefs)

    def _is_open(self, belief: confidence.Belief, line: TrustedFact) -> bool:
        if belief.over is not None and belief.over <= line.day:
            return False
        if line.fact.kind is not Kind.OPINION:
            return belief.day <= line.day
        return (belief.day, belief.stated or "") < (line.day, line.ref)

    def _state(self, line: TrustedFact) -> None:
        ref = belief_id(line.ref)
        if line.ref in self._by_id or ref in self._by_id or ref in self.removed or line.ref in self._not_restated:
            return
        number, entry = line.fact.confidence, self.derivable.get(ref)
        fact = Fact(Kind.OPINION, line.fact.text, line.fact.entities, block_id=ref)
        belief = confidence.Belief(ref, fact, line.names, line.day, line.ref, entry)
        belief.refused = confidence.refused(entry, self.marks.get(ref)) if entry else frozenset()
        value = UNSAID if number is None else number
        belief.bullets.append(Bullet(line.day, "stated", 1.0, value, number is None, None, line.citation, "", line.ref))
        belief.found_refs.add(line.ref)
        self._cited.add(line.ref)
        self._add(belief)

    def link(self) -> None:
        """Explicit evidence; it may speak to a belief that is stated later."""
        for links, line, weight in self._explicit:
            for verdict, refs in (("for", links.supports), ("against", links.refutes)):
                for belief in filter(None, map(self._by_id.get, refs)):
                    if line.ref != belief.stated:
                        self._add_evidence(belief, _evidence(line, verdict, weight))

    def _add_evidence(self, belief: confidence.Belief, bullet: Bullet) -> bool:
        """Put a piece of evidence below a belief. False if its line is there already, or a person took it out."""
        if bullet.ref in belief.refused or any(b.ref == bullet.ref for b in belief.bullets):
            return False
        belief.bullets.append(bullet)
        belief.found_refs.add(bullet.ref or "")
        self._cited.add(bullet.ref)
        return True

    def _end(self, belief: confidence.Belief, line: TrustedFact, reason: str) -> None:
        if self._add_evidence(belief, _evidence(line, "superseded", reason=reason)):
            belief.over = min(filter(None, (belief.over, line.day)))


def _evidence(line: TrustedFact, verdict: str, weight: float = 1.0, reason: str = "") -> Bullet:
    """A fact as a piece of evidence."""
    return Bullet(line.day, verdict, weight, citation=line.citation, reason=reason, ref=line.ref)
