"""Outcomes -> lessons: what was tried at a task, how often it worked, and why it failed. Counting, no language model.

What somebody merely did is not a lesson: it takes two outcomes of a way, or one with a reason or an importance.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from functools import lru_cache
from math import sqrt
from typing import Any, NamedTuple, TypeVar

from ..facts import Citation, grouped
from ..hits import Hit
from ..language.analyzer import query_terms, stop_terms, terms
from ..language.names import entity_key, is_han, script_of
from ..language.words import languages, pattern

RELIABLE = 5  # successes from which a strategy is reliable
LABELS = ("reliable", "recurring failure", "tentative")  # of strategies, the best first
LISTED = 30  # ways of a task that are listed, and lines of each section of an entity's page
RECURRING = 2  # failures from which a failure is recurring
_RECENT = 5  # outcomes by which a strategy is judged: what worked long ago and fails now is not reliable
_LAPSES = 1  # failures among these that a reliable strategy may have
_WEIGHTY = 0.7  # importance by which its author says that one outcome is a lesson
_GIVEN = 0.25  # weight of a shared word that the task or its entities give: it tells no strategy from another
_EXACT = 2.0  # weight of a path, a command, an error code: it means the same in every language
_CLAUSE_END = (
    r"(?P<code>(`++)[^`]*+(?:(?!\2(?!`))`++[^`]*+)*\2(?!`))"
    r"|[;；。！？，]|[.!?…](?=\s+(?![a-zа-яё]))|\s[—–](?=\s)"
)
# A path, a file, a dotted or camelCased name, an option, a word with digits in it; not `SD-card`.
_JOINT = r"(?:[_/\\@]|::|[a-z][A-Z]|\w\.\w|[A-Za-z]-?[0-9]|[0-9][A-Za-z])"
_IDENTIFIER = rf"(?=.*[A-Za-z])[!-~]*?{_JOINT}[!-~]*|--?[A-Za-z][\w-]*"
T = TypeVar("T")


class TaskOutcome(NamedTuple):
    """An experience with `outcome=`: what was done for which task (may be empty), whether it worked, why not."""

    task: str
    ok: bool
    text: str
    why: str | None
    entities: tuple[str, ...]
    day: str | None
    citation: Citation
    ref: str
    importance: float | None = None

    @property
    def is_explicit(self) -> bool:
        """True if its author meant it as a lesson: it names its task, and says why or that it matters."""
        return bool(self.task.strip()) and bool(self.why or (self.importance or 0) >= _WEIGHTY)


def outcome_of(hit: Hit) -> TaskOutcome | None:
    """What a hit says of a task; None for one without an outcome."""
    fact = hit.fact
    if fact is None or not fact.outcome:
        return None
    return TaskOutcome(
        fact.task or "", fact.outcome == "ok", hit.content, fact.why, hit.entities, hit.day, hit.source, hit.ref, hit.importance
    )  # fmt: skip


class Failure(NamedTuple):
    """A reason for which several tasks failed, in the words of the newest; (task, how often) by the count."""

    reason: str
    counts: tuple[tuple[str, int], ...]


class Strategy(NamedTuple):
    """A way of doing something, named by its most typical telling. `outcomes` run from the oldest to the newest."""

    name: str
    ok: int
    failed: int
    labels: tuple[str, ...]
    outcomes: tuple[TaskOutcome, ...]

    @property
    def is_to_avoid(self) -> bool:
        """True for what fails again and again, and is not reliable all the same."""
        return self.labels[0] == "recurring failure"

    @property
    def reasons(self) -> list[tuple[str, int]]:
        """Why it failed, in the newest words of each reason, and how often; the commonest first."""
        failed = (outcome.why for outcome in self.outcomes if outcome.why and not outcome.ok)
        reasons = grouped((reason_key(why), why) for why in failed)
        return sorted(((why[-1], len(why)) for why in reasons.values()), key=lambda each: -each[1])


class Task(NamedTuple):
    """What strategies are for. Outcomes that name no task have an `entity` instead, or neither."""

    name: str
    entity: str
    strategies: tuple[Strategy, ...]

    @property
    def shown(self) -> list[Strategy]:
        """The ways that are listed: of many those of which something is known, those tried again, and the newest."""
        return best(self.strategies, lambda w: (w.labels[0] != LABELS[-1], len(w.outcomes) > 1, _age(w.outcomes[-1])))

    @property
    def failures(self) -> dict[str, int]:
        """How often it failed for each reason, by the id of the newest line that gives it."""
        failed = [one for strategy in self.strategies for one in strategy.outcomes if one.why and not one.ok]
        counts = Counter(reason_key(one.why or "") for one in failed)
        newest = {
            reason_key(one.why or ""): one.ref for one in sorted(failed, key=lambda one: (one.day or "", one.citation))
        }
        return {newest[key]: count for key, count in counts.items()}

    def is_called(self, words: str) -> bool:
        """True where `words` are words of its name or half of them, or the name of its entity."""
        own, asked = set(query_terms(self.name)), set(query_terms(words))
        most = asked <= own or 2 * len(own & asked) >= len(own)
        return entity_key(words) == entity_key(self.entity or self.name) or bool(own & asked and most)


def lessons(outcomes: Iterable[TaskOutcome]) -> tuple[Task, ...]:
    """The outcomes by task and strategy: tasks by name, then entities, then the rest. Their order does not matter."""
    groups = grouped((_group(outcome), outcome) for outcome in sorted(outcomes, key=_age))
    tasks = [_task(rank, group) for (rank, _), group in groups.items()]
    taught = [task for task in tasks if task.strategies]
    return tuple(sorted(taught, key=lambda t: (not t.name, not t.entity, entity_key(t.name or t.entity), t.name)))


def best(items: Sequence[T], worth: Callable[[T], Any]) -> list[T]:
    """Of many items as many as are listed, those that are worth most, in the order in which they come."""
    places = sorted(range(len(items)), key=lambda at: worth(items[at]), reverse=True)[:LISTED]
    return [items[at] for at in sorted(places)]


def labels(outcomes: Sequence[bool], lately_failed: bool = False) -> tuple[str, ...]:
    """What the outcomes of a strategy, the oldest first, say of it: reliable, a recurring failure, both, or tentative.

    Reliable from 5 successes on, a recurring failure from 2 failures on, if the newest five bear it out; nothing is reliable
    where the newest five of its task failed, whatever was tried.
    """
    recent = outcomes[-_RECENT:]
    is_reliable = not lately_failed and sum(outcomes) >= RELIABLE and recent.count(False) <= _LAPSES
    recurs = outcomes.count(False) >= RECURRING and not all(recent)
    found = [word for word, applies in (("reliable", is_reliable), ("recurring failure", recurs)) if applies]
    return tuple(found) or ("tentative",)


def failures(counted: Iterable[tuple[str, str, int, str]]) -> tuple[Failure, ...]:
    """What several tasks failed for, of (reason, task, how often, newest day): the commonest first."""
    groups = grouped((reason_key(each[0]), each) for each in counted)
    found = []
    for group in groups.values():
        by_task: Counter[str] = Counter()
        for _, task, count, _ in group:
            by_task[task] += count
        if len(by_task) > 1:
            newest = max(group, key=lambda each: (each[3], each[0]))[0]
            found.append(Failure(newest, tuple(sorted(by_task.items(), key=lambda pair: (-pair[1], pair[0])))))
    return tuple(sorted(found, key=lambda each: (-sum(count for _, count in each.counts), each.reason)))


def reason_key(why: str) -> frozenset[str]:
    """Equal for a reason in the same words, whatever their order and endings."""
    return frozenset(query_terms(why)) or frozenset((why.casefold().strip(),))


def first_clause(text: str) -> str:
    """What was done: `text` up to a semicolon, the end of the sentence or a Chinese comma; code is not cut."""
    for match in re.finditer(_CLAUSE_END, text):
        before = text[: match.start()].strip()
        if not match["code"] and len(before) >= (6 if match[0] == "，" else 1):
            return before
    return text.strip().rstrip(".") or text


def _age(outcome: TaskOutcome) -> tuple[str, Citation, str, str]:
    return (outcome.day or "", outcome.citation, outcome.ref, repr(outcome))


def _group(outcome: TaskOutcome) -> tuple[int, tuple[str, ...]]:
    """One key for a task in other words and case; without a task, the entity that comes first."""
    if outcome.task.strip():
        return (0, tuple(sorted(set(query_terms(outcome.task)))) or (outcome.task.strip(),))
    return (1, (entity_key(outcome.entities[0]),)) if outcome.entities else (2, ())


def _task(rank: int, group: Sequence[TaskOutcome]) -> Task:
    """The strategies of one group, whose outcomes come from the oldest to the newest."""
    name = _commonest(" ".join(o.task.split()) for o in group) if rank == 0 else ""
    entity = _commonest(o.entities[0] for o in group) if rank == 1 else ""
    names = {name, entity, *(entity for o in group for entity in o.entities)}
    likeness = _Likeness([_clause(o.text) for o in group], {term for each in names for term in terms(each)})
    ways = ([group[at] for at in members] for members in likeness.components())
    taught = rank == 0 and len(group) > 1  # two outcomes of one task tell which way is the better one
    lately_failed = rank == 0 and len(group) >= _RECENT and not any(one.ok for one in group[-_RECENT:])
    found = [_strategy(way, likeness, lately_failed) for way in ways if taught or len(way) > 1 or way[0].is_explicit]
    return Task(name, entity, tuple(sorted(found, key=_rank)))


def _commonest(spellings: Iterable[str]) -> str:
    counted = Counter(spellings)
    return min(counted, key=lambda spelling: (-counted[spelling], spelling))


def _strategy(outcomes: Sequence[TaskOutcome], likeness: _Likeness, lately_failed: bool) -> Strategy:
    worked = [outcome.ok for outcome in outcomes]
    typical = outcomes[likeness.most_typical([_clause(outcome.text) for outcome in outcomes])]
    found = labels(worked, lately_failed)
    return Strategy(first_clause(typical.text), worked.count(True), worked.count(False), found, tuple(outcomes))


def _rank(strategy: Strategy) -> tuple[int, str, tuple[str, Citation, str, str]]:
    return (LABELS.index(strategy.labels[0]), strategy.name.casefold(), _age(strategy.outcomes[0]))


class _ActionClause(NamedTuple):
    """The first clause of a text as words. `action` is the first that is not an identifier, `script` its script.

    `apart` is what tells two ways in the same words apart: what was not done, and what was done before what.
    """

    words: frozenset[str]
    identifiers: frozenset[str]
    action: str
    script: str
    apart: tuple[tuple[str, str], ...]


@lru_cache(maxsize=4096)
def _clause(text: str) -> _ActionClause:
    clause = first_clause(text)
    found = list(_words(clause))
    action = next((word for word, is_identifier in found if not is_identifier), "")
    identifiers = frozenset(word for word, is_identifier in found if is_identifier)
    told_apart = [
        (kind, next((term for term in query_terms(clause[mark.end() :]) if len(term) > 1), ""))
        for kind in ("negated", "ordered", "reversed")
        for mark in re.finditer(rf"(?i){pattern(languages(), 'pages', kind)}", clause)
    ]
    script = script_of(action)
    if script != "han" and told_apart and told_apart[-1][0] != "negated":
        told_apart.append(("action", action))  # the same words in another order
    words = frozenset(word for word, _ in found)
    return _ActionClause(words, identifiers, action, script, tuple(dict.fromkeys(told_apart)))


def _words(clause: str) -> Iterator[tuple[str, bool]]:
    """The words of a clause, stemmed, and whether each is an identifier. Numbers differ every time and say nothing."""
    apart = re.split(r"(`++)(.+?)\1", clause)
    for prose, code in zip(apart[::3], [*apart[2::3], ""], strict=True):
        for chunk in prose.split():
            yield from _prose(chunk)
        bare = (chunk.strip(",;:()[]{}\"'").casefold() for chunk in code.split())
        yield from ((word, True) for word in bare if word and not _is_number(word))


@lru_cache(maxsize=20_000)
def _prose(chunk: str) -> Sequence[tuple[str, bool]]:
    bare = chunk.strip(",;:.!?()[]{}\"'«»“”…、，：（）")
    if re.fullmatch(_IDENTIFIER, bare):
        return [] if _is_number(bare.casefold()) else [(bare.casefold(), True)]
    words: list[tuple[str, bool]] = []
    for piece in re.split(r"[-/–—]", bare):
        if re.fullmatch(r"[A-Z][A-Z0-9]+", piece):
            words.append((piece.casefold(), True))
        else:
            found = [term for term in query_terms(piece) if term not in stop_terms() and not _is_number(term)]
            words += [(term, False) for term in found if len(term) > 1 or not is_han(term) or found == [term]]
    return words


def _is_number(word: str) -> bool:
    """True for `41,280`, `02:50`, `9gb`, `v1.0.0-rc.1`, and for what has no letter or digit at all."""
    return bool(re.fullmatch(r"v?[0-9][\d\W_]*(?:[a-z]{1,3}[\d\W_]*){0,2}|[\d\W_]*", word))


class _Likeness:
    """Which clauses of one task tell of the same strategy. `given` are words that the task and its entities give."""

    def __init__(self, clauses: Sequence[_ActionClause], given: Set[str]) -> None:
        self._places = grouped((clause, at) for at, clause in enumerate(clauses))
        self._identifiers = {word for clause in clauses for word in clause.identifiers}
        self._given = given
        self._used = Counter(word for clause in self._places for word in clause.words)

    def components(self) -> Iterator[list[int]]:
        """Connected components of the clauses that are alike, as places in order: no order of arrival can matter.

        A clause meets only those with which it shares one of its rarer words: of two that are alike, the lighter
        shares more than half of its weight and the heavier more than a third, so the words left out cannot suffice.
        """
        half = {clause: self._rarest(clause, 1 / 2) for clause in self._places}
        third = {clause: self._rarest(clause, 1 / 3) for clause in self._places}
        by_half, by_third = _by_word(half), _by_word(third)
        waiting = dict.fromkeys(self._places)
        while waiting:
            reached = [waiting.popitem()[0]]
            for clause in reached:
                for word in third[clause]:
                    by_third[word].pop(clause, None)
                    by_half[word].pop(clause, None)
                near = {other: None for word in third[clause] for other in by_half[word]}
                near |= {other: None for word in half[clause] for other in by_third[word]}
                alike = [other for other in near if other in waiting and self._alike(clause, other)]
                for other in alike:
                    del waiting[other]
                reached += alike
            yield sorted(at for clause in reached for at in self._places[clause])

    def most_typical(self, clauses: Sequence[_ActionClause]) -> int:
        """The place of the clause that is nearest to all of them (cosine to their sum); the first of equals."""
        total = Counter(word for clause in clauses for word in clause.words)

        def nearness(clause: _ActionClause) -> float:
            length = sqrt(sum(self._weight(word) ** 2 for word in clause.words))
            return sum(self._weight(word) ** 2 * total[word] for word in clause.words) / length if length else 0.0

        return max(range(len(clauses)), key=lambda at: (round(nearness(clauses[at]), 9), -at))

    def _alike(self, one: _ActionClause, other: _ActionClause) -> bool:
        """True when two clauses do the same: the same action, the same not done, in the same order, Dice coefficient above .6.

        One half is enough when one says all that the other does, and between scripts, where two identifiers must be shared.
        """
        shared, apart = one.words & other.words, one.words ^ other.words
        if one.apart != other.apart or not self._same_action(one, other, shared):
            return False
        common = sum(_GIVEN if word in self._given else self._weight(word) for word in shared)
        lenient = one.script != other.script or one.words <= other.words or other.words <= one.words
        return (6 if lenient else 4) * common > 3 * sum(map(self._weight, apart))

    def _same_action(self, one: _ActionClause, other: _ActionClause, shared: Set[str]) -> bool:
        if one.script != other.script:
            return len(shared & self._identifiers) >= 2  # no word can be shared
        if one.script == "han" or not one.action:
            return True  # its pairs of characters have no order that would tell the verb
        return one.action in other.words or other.action in one.words

    def _rarest(self, clause: _ActionClause, share: float) -> list[str]:
        """The rarest words of a clause, so many that those left out have no more than `share` of its weight."""
        words = sorted(clause.words, key=lambda word: (self._used[word], word))
        left = share * sum(map(self._weight, words))
        while words and (left := left - self._weight(words[-1])) >= 0:
            words.pop()
        return words

    def _weight(self, word: str) -> float:
        return _EXACT if word in self._identifiers else 1.0


def _by_word(kept: Mapping[_ActionClause, Sequence[str]]) -> dict[str, dict[_ActionClause, None]]:
    found: dict[str, dict[_ActionClause, None]] = defaultdict(dict)
    for clause, words in kept.items():
        for word in words:
            found[word][clause] = None
    return found
