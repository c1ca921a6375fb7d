"""Evaluate: how well recall finds what labelled questions ask for, beside baselines, with intervals; and what it missed."""

from __future__ import annotations

import random
import re
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, nullcontext, suppress
from dataclasses import dataclass, field, replace
from datetime import date
from operator import attrgetter, itemgetter
from pathlib import Path
from typing import NamedTuple

from ..errors import ExtraBroken, MemctlError, Usage
from ..facts import Citation, grouped, iso_day
from ..hits import Answer, Hit
from ..index.index import Index
from ..index.open_memory import OpenMemory
from ..index.queries.entries import Query, days_of_pages, entries_at, own_terms, passing
from ..index.queries.filters import condition_of, expiry_if_any
from ..index.reread import page_lines, reread
from ..index.row import Row
from ..index.sync import sync
from ..language.analyzer import query_terms, terms
from ..language.dates import parse_when
from ..language.names import is_han
from ..language.words import HAN_CHARS, default_languages, words
from ..markdown.escape import many
from ..markdown.lines import Role, content_of
from ..notes.workspace import Workspace
from ..recall.query import read_query
from ..recall.recall import recall_in, resolve_about
from ..recall.related import related_to
from ..vectors.file import open_vectors
from ..vectors.models import choice, is_of
from .labels import Golden, LabelledQuestion, LocatedGold, Sessions, lines_of, read_label, read_sessions
from .metrics import Difference, Interval, Ranks, compare, intervals, measure, overlap, place_ranks, rank_in

FAR = 100  # how far down gold is looked for
_SEED = 7
_ALL, _UNTYPED = "", "(no type)"
_DROPPED = "found, but another line of its page ranks higher and stands for it (`recall --per-page 0` lists both)"
_SHOWN = 3  # gold items that point at nothing are named, so many of them
_YMD = re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)")
_MOST = 64  # distinct words of a question
_UNSPACED = f"\u3040-\u30ff{HAN_CHARS}\U00020000-\U0003ffff"
_WORD = re.compile(r"\w+")
_PIECE = re.compile(rf"(?P<run>[{_UNSPACED}]+)|[^\W{_UNSPACED}]+")
_STOPS = (word for name in default_languages() for word in words(name, "stopwords").get("words", ()))
_STOP = frozenset(word for word in _STOPS if not is_han(word[0]))
DEPTH = 50  # hits by which sessions are ranked: ten lines may all be of one
BASELINES = ("fts5", "grep")
RELATED = 10  # lines of the second list, beside as many hits
_BASES = ("recall", "words", "vectors", *BASELINES)
_Places = tuple[Citation, ...]
Table = dict[str, dict[str, dict[str, Interval]]]  # group ("" is all) -> system -> metric


class RawLine(NamedTuple):
    """A line as it stands on disk; `day` is that of its log, empty elsewhere."""

    place: Citation
    text: str
    day: str


class Baselines:
    """The same raw lines, searched in two plain ways."""

    def __init__(self, lines: Iterable[RawLine]) -> None:
        self._db = sqlite3.connect(":memory:")
        self._lines = list(lines)
        said = ((word, number) for number, line in enumerate(self._lines) for word in set(_pieces(line.text)))
        self._holding = grouped(said)
        self._db.execute("CREATE VIRTUAL TABLE plain USING fts5 (line, tokenize = unicode61)")
        numbered = ((number, line.text.replace("\0", " ")) for number, line in enumerate(self._lines))
        self._db.executemany("INSERT INTO plain (rowid, line) VALUES (?, ?)", numbered)

    def close(self) -> None:
        """Let go of them."""
        self._db.close()

    def fts5(self, question: str, limit: int) -> list[Citation]:
        """SQLite's FTS5 as it comes: unicode61, any word of the question, by bm25."""
        words = list(dict.fromkeys(_WORD.findall(question)))[:_MOST]
        if not words:
            return []
        asked = " OR ".join(f'"{word}"' for word in words)
        sql = "SELECT rowid FROM plain WHERE plain MATCH ? ORDER BY bm25(plain), rowid LIMIT ?"
        return [self._lines[row].place for (row,) in self._db.execute(sql, (asked, limit))]

    def grep(self, question: str, limit: int) -> list[Citation]:
        """Lines that hold most of the question's words (without "the" and the like), the newest first among equals."""
        words = list(dict.fromkeys(_pieces(question)))[:_MOST]
        kept = [word for word in words if word not in _STOP] or words
        held = Counter(number for word in kept for number in self._holding.get(word, ()))
        best = sorted(held, key=lambda number: (held[number], self._lines[number].day, number), reverse=True)
        return [self._lines[number].place for number in best[:limit]]


def _pieces(text: str) -> Iterator[str]:
    """Whole words; of Chinese and Japanese, which have no spaces, every two neighbours."""
    for piece in _PIECE.finditer(text.casefold()):
        word = piece[0]
        yield from (word[at : at + 2] for at in range(len(word) - 1)) if piece["run"] and len(word) > 1 else (word,)


class Configuration(NamedTuple):
    """How to search: as recall does by itself, by words only, with vectors, or by a baseline."""

    name: str
    base: str = "recall"
    k: int | None = None  # how many hits are asked for
    hops: int = 1  # with more than one, lines that are related to the hits follow them


class TimedQuery(NamedTuple):
    """A question, the day on which it is asked, and the day up to which it may know."""

    text: str
    today: date
    as_of: date | None = None
    per_page: int = 1

    @property
    def query(self) -> Query:
        """The query that recall makes of it; Usage for one that it refuses."""
        day = self.as_of.isoformat() if self.as_of else None
        return replace(read_query(self.text, self.today, as_of=day), per_page=self.per_page)


def read_configuration(text: str) -> Configuration:
    """`words`, `recall`, `words+k=20`, `fts5` … as a configuration; Usage for any other."""
    base, *more = re.split(r"[+,]", text.strip())
    if "=" in base:
        base, more = "recall", [base, *more]
    flags = {}
    for flag in more:
        match = re.fullmatch(r"(k)=([1-9]\d{0,2})|(hops)=([23])", flag.strip())
        if not match:
            raise Usage(f"configuration {text!r}: {flag!r} is unknown", "flags are +k=N, and +hops=2 or +hops=3")
        flags[match[1] or match[3]] = int(match[2] or match[4])
    if base not in _BASES or (base in BASELINES and "hops" in flags):
        cure = f"{', '.join(_BASES)}, each with +k=N; of recall +hops=2, too"
        raise Usage(f"configuration {text!r} is unknown", cure)
    return Configuration(text.strip(), base, **flags)


def read_configurations(texts: Sequence[str]) -> tuple[Configuration, ...]:
    """One configuration, or two that differ."""
    found = tuple(map(read_configuration, texts))
    if len({configuration.name for configuration in found}) < len(found):
        raise Usage("--compare of a configuration with itself", "name two, such as words recall")
    return found


def places_of(hit: Hit) -> _Places:
    """The lines that a hit shows: its own, those of its twins, and the place of the belief that it stated."""
    return (hit.source, *hit.also, *((hit.belief,) if hit.belief else ()))


class Searcher:
    """Asks the questions of an evaluation."""

    def __init__(self, memory: OpenMemory, baselines: Baselines | None, depth: int) -> None:
        self.memory = memory
        self._baselines = baselines
        self._depth = depth
        self.warnings: Counter[str] = Counter()

    def rank(self, configuration: Configuration, asked: TimedQuery) -> tuple[Sequence[_Places], Sequence[_Places]]:
        """What one configuration finds, best first, each hit by the places that it cites; and what it finds further down.

        Usage for a question that recall refuses.
        """
        if configuration.base in BASELINES:
            assert self._baselines
            search = self._baselines.fts5 if configuration.base == "fts5" else self._baselines.grep
            found = [(place,) for place in search(asked.text, configuration.k or max(self._depth, DEPTH))]
            return found[: self._depth], found
        shown, deep = (configuration.k or k for k in (self._depth, max(self._depth, DEPTH)))
        if configuration.hops > 1:
            shown = deep = configuration.k or RELATED
        answer = self.answer(configuration, asked, shown)
        self.warnings.update(set(answer.warnings))
        hits = [places_of(hit) for hit in (*answer.hits, *(answer.related or ()))]
        return hits, hits if deep == shown else [places_of(hit) for hit in self.answer(configuration, asked, deep).hits]

    def answer(self, configuration: Configuration, asked: TimedQuery, k: int) -> Answer:
        """What recall answers in a configuration."""
        query, memory = asked.query, self.memory.on(asked.today)
        if configuration.base == "words":
            memory = memory.with_workspace(memory.workspace.without_model())
        answer, hops = recall_in(memory, query, k=k), configuration.hops
        return related_to(memory, query, answer, k=RELATED, hops=hops) if hops > 1 else answer


class MissedGold(NamedTuple):
    """A gold item, what its line says, its rank within the first 100, and why it is not among the first few."""

    said: str
    text: str
    rank: int | None
    reason: str
    hit: Hit | None


class Missed(NamedTuple):
    """A question that recall did not answer fully; `instead` came first, `ranks` are those of every system."""

    question: LabelledQuestion
    ranks: Mapping[str, Ranks]
    gold: tuple[MissedGold, ...]
    instead: tuple[Hit, ...]


def explain_miss(
    searcher: Searcher, configuration: Configuration, result: Result, asked: TimedQuery, depth: int
) -> Missed:
    """Look for the gold of a question much further down than `depth`, and say why it is there."""
    question, standing, ranks = result.question, result.standing, result.lines
    looked = configuration if configuration.base not in BASELINES else Configuration("recall")
    try:
        query = asked.query
        hits = searcher.answer(looked, asked, FAR).hits
    except Usage as error:
        gold = tuple(MissedGold(item.gold.said, "", None, f"recall refuses: {error.what}", None) for item in standing)
        return Missed(question, ranks, gold, ())
    far = place_ranks([item.places for item in standing], [places_of(hit) for hit in hits])
    gold = tuple(
        _missed(searcher, query, item, shown if shown and shown <= depth else None, further, hits)
        for item, shown, further in zip(standing, ranks[configuration.name], far, strict=True)
    )
    if None in far:
        lines = searcher.answer(looked, asked._replace(per_page=0), FAR).hits
        dropped = place_ranks([item.places for item in standing], [places_of(hit) for hit in lines])
        pairs = zip(gold, dropped, strict=True)
        gold = tuple(each._replace(reason=_DROPPED) if rank and each.rank is None else each for each, rank in pairs)
    golden = [place for item in standing for place in item.places]
    instead = [hit for hit in hits if not any(overlap(a, b) for a in places_of(hit) for b in golden)]
    return Missed(question, ranks, gold, tuple(instead[:3]))


def _missed(
    searcher: Searcher, query: Query, item: LocatedGold, shown: int | None, far: int | None, hits: Sequence[Hit]
) -> MissedGold:
    if not item.places:
        return MissedGold(item.gold.said, "", None, "the label points at nothing", None)
    index = searcher.memory.index
    entries = [entry for place in item.places for entry in entries_at(index, place)]
    seen = reread(searcher.memory.workspace, entries)
    texts = (content_of(Role(entry.role), seen[entry.id].raw) for entry in entries if entry.id in seen)
    text = " / ".join(" ".join(each.split()) for each in texts)
    hit = hits[far - 1] if far else None
    if shown is not None:
        reason = "found"
    elif hit and hit.superseded_by:
        reason = f"found, and ranked below what replaced it (^{hit.superseded_by})"
    elif hit and hit.expired:
        reason = "found, and ranked lower because it has ended"
    elif hit:
        reason = "found, but others rank higher"
    else:
        expiry = expiry_if_any(index, query.as_of or searcher.memory.today, searcher.memory.workspace.settings.ttl)
        reason = _why_not_found(index, replace(query, expiry=expiry), entries, item.places)
    return MissedGold(item.gold.said, text, shown or far, reason, hit)


def _why_not_found(index: Index, query: Query, entries: Sequence[Row], places: Sequence[Citation]) -> str:
    if not entries:
        return f"not found: {places[0]} is not indexed: a rule or a fence"
    if all(entry.block is not None for entry in entries):
        return "not found: a copy in a managed block; recall shows the line that it cites"
    ids = [entry.id for entry in entries]
    if query.filters and not passing(index, ids, condition_of(query, resolve_about(index, query)[0])):
        return f"not found: left out by the filter {' '.join(query.filters)}"
    if query.expiry and not passing(index, ids, condition_of(Query(expiry=query.expiry), ())):
        return "not found: it is over by its ttl; recall --history shows it"
    held = {term for line in own_terms(index, ids).values() for term in line.split()}
    shared = held & set(query_terms(query.words))
    words = [word.strip(".,;:!?()\"'«»“”") for word in query.words.split() if shared & set(terms(word))]
    said = f"only {', '.join(dict.fromkeys(words))}" if shared else "no word"
    return f"not among the first {FAR}: shares {said} with the question"


@dataclass(frozen=True, slots=True)
class EvalOptions:
    """How to evaluate. Without `now`, figures do not change by themselves from one day to the next."""

    depths: tuple[int, ...] = (1, 5, 10)
    configurations: tuple[Configuration, ...] = (Configuration("recall"),)
    baselines: bool = True
    exclude_gone: bool = False  # leave out gold that points at nothing; otherwise it counts as not found
    as_of: str | None = None
    now: date | None = None  # the present of questions without an `as_of`; None takes the newest log's day
    clock: date = date.min  # the same where there is no log
    only: str | None = None  # the workspace whose questions are taken instead of those of the folder's name
    misses: int = 0


class Result(NamedTuple):
    """One question with the ranks of its gold, by system: among the lines found, and among their sessions."""

    question: LabelledQuestion
    standing: tuple[LocatedGold, ...]
    sessions: tuple[str, ...]
    lines: dict[str, Ranks]
    places: dict[str, Ranks]
    refused: str | None


@dataclass(slots=True)
class Evaluation:
    """What came out. `levels` has "line" and "session" or "page"; `counts` says what was left out or looks odd."""

    systems: tuple[str, ...] = ()
    today: date = date.min
    depths: tuple[int, ...] = ()
    place: str = "page"
    counts: dict[str, int] = field(default_factory=dict)
    sizes: dict[str, dict[str, int]] = field(default_factory=dict)
    levels: dict[str, Table] = field(default_factory=dict)
    differences: dict[str, dict[str, Difference]] = field(default_factory=dict)
    results: list[Result] = field(default_factory=list)
    misses: list[Missed] = field(default_factory=list)
    missed: int = 0
    gone_left_out: bool = False
    notes: list[str] = field(default_factory=list)


def read_questions(path: Path, workspace: str, counts: Counter[str]) -> list[LabelledQuestion]:
    """The questions of a file that are this workspace's and have gold; what is left out is counted."""
    kept: list[LabelledQuestion] = []
    others: Counter[str] = Counter()
    for number, text in lines_of(path):
        try:
            question = read_label(text, number)
        except Usage as error:
            raise Usage(f"{path} {error.what}", error.cure) from None
        if question is None:
            continue
        question = question._replace(file=path.name)
        if question.workspace not in (None, workspace):
            others[question.workspace] += 1
        elif question.gold or question.sessions:
            kept.append(question)
        else:
            counts["without_gold"] += 1
    counts["other_workspaces"] = others.total()
    ids = Counter(question.id for question in kept if question.id)
    counts["shared_ids"] = sum(count for count in ids.values() if count > 1)
    if not kept and others:
        named = ", ".join(name for name, _ in others.most_common(3))
        what = f"{many(others.total(), 'question')}, all of other workspaces than {workspace!r} ({named})"
        raise Usage(f"{path}: {what}", f"say whose are meant, as in --only {others.most_common(1)[0][0]}")
    if not kept:
        count = counts["without_gold"]
        what = f"{many(count, 'question')}, none with gold" if count else "no questions"
        raise Usage(f"{path}: {what}", 'label one: memctl eval --add "question" memory/2025-11-27.md#L12')
    return kept


def evaluate(memory: OpenMemory, path: Path, options: EvalOptions) -> Evaluation:
    """Ask every question of a label file in each configuration, and score what is found."""
    counts: Counter[str] = Counter()
    name = options.only or memory.workspace.root.name
    questions = read_questions(path, name, counts)
    sessions = read_sessions(path.with_name("sessions.jsonl"), name)
    made = memory.run(lambda opened: _run(opened, questions, sessions, options))
    counts += Counter(made.counts)
    made.counts = {key: count for key, count in counts.items() if count}
    _score(made, options)
    return made


def _run(
    memory: OpenMemory, questions: Sequence[LabelledQuestion], sessions: Sessions, options: EvalOptions
) -> Evaluation:
    workspace = memory.workspace
    report = sync(workspace, memory.index, progress=memory.progress)
    days = days_of_pages(memory.index)
    newest = max(filter(None, days.values()), default=None)
    today = options.now or (date.fromisoformat(newest) if newest else options.clock)
    made = Evaluation(today=today, depths=options.depths, place=sessions.word, gone_left_out=options.exclude_gone)
    made.notes += [f"stale: {report.stale}"] if report.stale else []
    baselines = [Configuration(name, name) for name in BASELINES] if options.baselines else []
    asked = list({c.name: c for c in (*options.configurations, *baselines)}.values())
    if any(configuration.base == "vectors" for configuration in asked):
        _need_vectors(workspace)
    made.systems = tuple(configuration.name for configuration in asked)
    golden = Golden(memory)
    counts: Counter[str] = Counter()
    gone: list[str] = []
    plain = any(configuration.base in BASELINES for configuration in asked)
    with closing(Baselines(_raw_lines(workspace, days))) if plain else nullcontext() as plain_lines:
        searcher = Searcher(memory, plain_lines, max(*options.depths, 10))
        for number, question in enumerate(questions):
            memory.progress(number, len(questions))
            found = tuple(map(golden.find, question.gold))
            counts["gold"] += len(found)
            counts["gold_gone"] += sum(not item.places for item in found)
            counts["gold_moved"] += sum(item.moved for item in found)
            counts["gold_changed"] += sum(item.changed for item in found)
            gone += [f"{question.place}: {item.gold.said} points at nothing" for item in found if not item.places]
            kept = tuple(item for item in found if item.places or not options.exclude_gone)
            whose = _sessions_of(question, kept, sessions)
            if kept or whose:
                unasked = Result(question, kept, whose, {}, {}, None)
                made.results.append(_ask(searcher, asked, unasked, sessions, _present(question, today, options)))
            else:
                counts["questions_gone"] += 1
        if options.exclude_gone and not made.results:
            which = "the only question" if len(questions) == 1 else f"all {len(questions):,} questions"
            what = f"nothing is left: the gold of {which} points at nothing, and --gone exclude leaves it out"
            raise Usage(what, f"correct the labels, beginning with {gone[0]}")
        _explain_misses(made, searcher, options)
    made.notes += gone[:_SHOWN] + ([f"and {len(gone) - _SHOWN} more such"] if len(gone) > _SHOWN else [])
    made.notes += [f"{n} of the questions: {text}" for text, n in searcher.warnings.most_common(_SHOWN)]
    counts["refused"] = sum(result.refused is not None for result in made.results)
    made.counts = dict(counts)
    return made


def _need_vectors(workspace: Workspace) -> None:
    """An error where vectors cannot be asked: figures of words must not pass for those of vectors."""
    settings = workspace.settings
    if settings.model == "none" or settings.vector_weight <= 0:
        by = "weight = 0 under [vectors]" if settings.model != "none" else "MEMCTL_VECTORS, or by model under [vectors]"
        cure = 'to switch them on, set that to "auto" (a weight: to 1), and run `memctl index`'
        raise Usage(f"vectors are switched off: by {by}", cure)
    chosen = choice(workspace)
    embedder = chosen.embedder
    if embedder is None:
        raise chosen.problem or Usage("there is no model for vectors", "`memctl status` says what is missing")
    told: list[str] = []
    vectors = open_vectors(workspace, told.append)
    if vectors is None:
        what = ": ".join(["there are no vectors here", *told])
        raise Usage(what, "run `memctl index`; `memctl status` says what is missing")
    with closing(vectors):
        if not is_of(embedder, *vectors.head[:2]):
            what = f"the vectors are of {vectors.head.embedder_id}, and the model is {embedder.id}"
            cure = f"run `memctl index`: it embeds again with {embedder.name}; or install the other model again"
            raise ExtraBroken(what, cure)
    embedder.query("?")  # fails here rather than with every question


def _raw_lines(workspace: Workspace, days: dict[str, str | None]) -> Iterator[RawLine]:
    """Every line that says something, of every page that the index holds."""
    for path, day in sorted(days.items()):
        with suppress(MemctlError):
            said = ((number, text) for number, text in enumerate(page_lines(workspace, path), 1) if text.strip())
            yield from (RawLine(Citation(path, number, number), text, day or "") for number, text in said)


def _sessions_of(question: LabelledQuestion, kept: Sequence[LocatedGold], sessions: Sessions) -> tuple[str, ...]:
    """The gold sessions: as labelled where the sessions are listed, or where nothing else is; else those of the lines."""
    if question.sessions and (sessions.word == "session" or not question.gold):
        return question.sessions
    gone = tuple(item.gold.said for item in kept if not item.places)
    return (*sessions.of_all(item.places[0] for item in kept if item.places), *gone)


def _ask(
    searcher: Searcher, configurations: Sequence[Configuration], result: Result, sessions: Sessions, asked: TimedQuery
) -> Result:
    lines, places, refused = {}, {}, None
    for configuration in configurations:
        try:
            hits, deep = searcher.rank(configuration, asked)
        except Usage as error:
            hits, deep, refused = (), (), refused or error.what
        lines[configuration.name] = place_ranks([item.places for item in result.standing], hits)
        found = sessions.of_all(cited[0] for cited in deep)  # in the order of their best lines
        places[configuration.name] = rank_in(result.sessions, found)
    return result._replace(lines=lines, places=places, refused=refused)


def _present(question: LabelledQuestion, today: date, options: EvalOptions) -> TimedQuery:
    """The question on its day: that of its own `as_of`, of the options, or `today`."""
    written = question.as_of or options.as_of
    if written is None:
        return TimedQuery(question.text, today)
    period = parse_when(written, today)
    day = (period.last or period.first) if period else None
    if day is None and (match := _YMD.search(written)):
        day = iso_day("{}-{:0>2}-{:0>2}".format(*match.groups()))
    if day is None:
        place = f"{question.place}: as_of" if question.as_of else "--as-of"
        raise Usage(f"{place} {written!r} is not understood", "write 2025-11-27 or 2025-11")
    return TimedQuery(question.text, day, day)


def _score(made: Evaluation, options: EvalOptions) -> None:
    """Means with intervals, over all questions and by type, at both levels; and what two configurations differ in."""
    for level, ranks_of in (("line", attrgetter("lines")), (made.place, attrgetter("places"))):
        results = [result for result in made.results if any(ranks_of(result).values())]
        groups = {_ALL: results} if results else {}
        if any(result.question.type for result in results):
            typed = ((result.question.type or _UNTYPED, result) for result in results)
            groups |= grouped(sorted(typed, key=itemgetter(0)))
        figures = {
            group: {name: [measure(ranks_of(result)[name], made.depths) for result in some] for name in made.systems}
            for group, some in groups.items()
        }
        made.sizes[level] = {group: len(some) for group, some in groups.items()}
        made.levels[level] = {  # the same seed: all systems are resampled on the same questions
            group: {name: intervals(rows, random.Random(_SEED)) for name, rows in by_system.items()}
            for group, by_system in figures.items()
        }
        if len(options.configurations) == 2 and groups:
            first, second = (figures[_ALL][configuration.name] for configuration in options.configurations)
            made.differences[level] = compare(first, second, random.Random(_SEED))


def _explain_misses(made: Evaluation, searcher: Searcher, options: EvalOptions) -> None:
    """Why the worst questions are: those with gold beyond the last depth, the emptiest first; of two, where they differ."""
    configuration, depth = options.configurations[-1], max(options.depths)
    first, name = options.configurations[0].name, configuration.name

    def share(result: Result, system: str) -> float:
        return sum(rank is not None and rank <= depth for rank in result.lines[system]) / len(result.lines[system])

    lined = [result for result in made.results if result.standing]
    if len(options.configurations) == 2:
        picked = [result for result in lined if share(result, first) != share(result, name)]
        picked.sort(key=lambda result: share(result, name) - share(result, first))
    else:
        picked = sorted((r for r in lined if share(r, name) < 1), key=lambda result: share(result, name))
    made.missed = len(picked)
    for result in picked[: options.misses]:
        when = _present(result.question, made.today, options)
        made.misses.append(explain_miss(searcher, configuration, result, when, depth))
