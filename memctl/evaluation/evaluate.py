"""Evaluate: how well recall finds what labelled questions ask for, beside baselines, with intervals; and what it missed."""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass, field
from datetime import date
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

from ..errors import ExtraBroken, MemctlError, Usage
from ..facts import Citation
from ..hits import Hit
from ..index.index import Index
from ..index.open_memory import OpenMemory
from ..index.queries.entries import Query, days_of_pages, entries_at, own_terms, passing
from ..index.queries.filters import condition_of
from ..index.reread import page_lines, reread
from ..index.row import Row
from ..index.sync import sync
from ..language.analyzer import query_terms, terms
from ..language.dates import parse_when
from ..markdown.escape import many
from ..markdown.lines import Role, content_of
from ..notes.workspace import Workspace
from ..recall.recall import resolve_about
from ..vectors.file import open_vectors
from ..vectors.models import choice, is_of
from .labels import Golden, LabelledQuestion, Sessions, Standing, lines_of, read_label, read_sessions
from .metrics import Difference, Interval, Ranks, compare, intervals, measure, overlap, place_ranks, rank_in
from .systems import BASELINES, AskedOn, Configuration, RawLine, Searcher, places_of, plain_baselines

FAR = 100  # how far down gold is looked for
_SEED = 7
_ALL = ""
_SHOWN = 3  # gold items that point at nothing are named, so many of them
_YMD = re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)")
Table = dict[str, dict[str, dict[str, Interval]]]  # group ("" is all) -> system -> metric


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
    searcher: Searcher, configuration: Configuration, result: Result, asked: AskedOn, depth: int
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
    golden = [place for item in standing for place in item.places]
    instead = [hit for hit in hits if not any(overlap(a, b) for a in places_of(hit) for b in golden)]
    return Missed(question, ranks, gold, tuple(instead[:3]))


def _missed(
    searcher: Searcher, query: Query, item: Standing, shown: int | None, far: int | None, hits: Sequence[Hit]
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
        reason = _why_not_found(index, query, entries, item.places)
    return MissedGold(item.gold.said, text, shown or far, reason, hit)


def _why_not_found(index: Index, query: Query, entries: Sequence[Row], places: Sequence[Citation]) -> str:
    if not entries:
        return f"not found: {places[0]} is not indexed: a rule or a fence"
    if all(entry.block is not None for entry in entries):
        return "not found: a copy in a managed block; recall shows the line that it cites"
    ids = [entry.id for entry in entries]
    if query.filters and not passing(index, ids, condition_of(query, resolve_about(index, query)[0])):
        return f"not found: left out by the filter {' '.join(query.filters)}"
    held = {term for line in own_terms(index, ids).values() for term in line.split()}
    shared = held & set(query_terms(query.words))
    words = [word.strip(".,;:!?()\"'«»“”") for word in query.words.split() if shared & set(terms(word))]
    said = f"only {', '.join(dict.fromkeys(words))}" if shared else "no word"
    return f"not among the first {FAR}: shares {said} with the question"


@dataclass(frozen=True, slots=True)
class EvalOptions:
    """How to evaluate.

    `now` is the present of questions without an `as_of`; None takes the newest log's day (`clock` where there is no log),
    so figures do not change by themselves from one day to the next. `only` is the workspace whose questions are taken
    instead of those of the folder's name.
    `exclude_gone` leaves out gold that points at nothing; otherwise it counts as not found.
    """

    depths: tuple[int, ...] = (1, 5, 10)
    configurations: tuple[Configuration, ...] = (Configuration("recall"),)
    baselines: bool = True
    exclude_gone: bool = False
    as_of: str | None = None
    now: date | None = None
    clock: date = date.min
    only: str | None = None
    misses: int = 0


class Result(NamedTuple):
    """One question with the ranks of its gold, by system: among the lines found, and among their sessions."""

    question: LabelledQuestion
    standing: tuple[Standing, ...]
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
        raise Usage(
            f"{path}: {many(others.total(), 'question')}, all of other workspaces than {workspace!r} ({named})",
            f"say whose are meant, as in --only {others.most_common(1)[0][0]}",
        )
    if not kept:
        what = (
            f"{many(counts['without_gold'], 'question')}, none with gold" if counts["without_gold"] else "no questions"
        )
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
    with plain_baselines(_raw_lines(workspace, days)) if plain else nullcontext() as plain_lines:
        searcher = Searcher(memory, plain_lines, max(*options.depths, 10))
        for number, question in enumerate(questions):
            memory.progress(number, len(questions))
            found = tuple(map(golden.find, question.gold))
            counts += Counter(_counted(found))
            gone += [f"{question.place}: {item.gold.said} points at nothing" for item in found if not item.places]
            kept = tuple(item for item in found if item.places or not options.exclude_gone)
            whose = _sessions_of(question, kept, sessions)
            if kept or whose:
                unasked = Result(question, kept, whose, {}, {}, None)
                made.results.append(_ask(searcher, asked, unasked, sessions, _present(question, today, options)))
            else:
                counts["questions_gone"] += 1
        if options.exclude_gone and not made.results:
            raise Usage(
                f"nothing is left: the gold of {'the only question' if len(questions) == 1 else f'all {len(questions):,} questions'} "
                "points at nothing, and --gone exclude leaves it out",
                f"correct the labels, beginning with {gone[0]}",
            )
        _explain_misses(made, searcher, asked, options)
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
        raise Usage(
            f"vectors are switched off: by {by}",
            'to switch them on, set that to "auto" (a weight: to 1), and run `memctl index`',
        )
    chosen = choice(workspace)
    embedder = chosen.embedder
    if embedder is None:
        raise chosen.problem or Usage("there is no model for vectors", "`memctl status` says what is missing")
    told: list[str] = []
    vectors = open_vectors(workspace, told.append)
    if vectors is None:
        raise Usage(
            f"there are no vectors here{': ' if told else ''}{'; '.join(told)}",
            "run `memctl index`; `memctl status` says what is missing",
        )
    with closing(vectors):
        if not is_of(embedder, vectors.head):
            raise ExtraBroken(
                f"the vectors are of {vectors.head.embedder_id}, and the model is {embedder.id}",
                f"run `memctl index`: it embeds again with {embedder.name}; or install the other model again",
            )
    embedder.query("?")  # fails here rather than with every question


def _raw_lines(workspace: Workspace, days: dict[str, str | None]) -> Iterator[RawLine]:
    """Every line that says something, of every page that the index holds."""
    for path, day in sorted(days.items()):
        try:
            lines = page_lines(workspace, path)
        except MemctlError:
            continue
        for number, text in enumerate(lines, 1):
            if text.strip():
                yield RawLine(Citation(path, number, number), text, day or "")


def _counted(found: Sequence[Standing]) -> Iterator[str]:
    for item in found:
        yield "gold"
        if not item.places:
            yield "gold_gone"
        elif item.moved:
            yield "gold_moved"
        elif item.changed:
            yield "gold_changed"


def _sessions_of(question: LabelledQuestion, kept: Sequence[Standing], sessions: Sessions) -> tuple[str, ...]:
    """The gold sessions: as labelled where the sessions are listed, or where nothing else is; else those of the lines."""
    if question.sessions and (sessions.word == "session" or not question.gold):
        return question.sessions
    gone = tuple(item.gold.said for item in kept if not item.places)
    return (*sessions.of_all(item.places[0] for item in kept if item.places), *gone)


def _ask(
    searcher: Searcher, configurations: Sequence[Configuration], result: Result, sessions: Sessions, asked: AskedOn
) -> Result:
    lines, places, refused = {}, {}, None
    for configuration in configurations:
        ranking = searcher.rank(configuration, asked)
        lines[configuration.name] = place_ranks([item.places for item in result.standing], ranking.hits)
        found = sessions.of_all(cited[0] for cited in ranking.deep)  # in the order of their best lines
        places[configuration.name] = rank_in(result.sessions, found)
        refused = refused or ranking.refused
    return result._replace(lines=lines, places=places, refused=refused)


def _present(question: LabelledQuestion, today: date, options: EvalOptions) -> AskedOn:
    """The question on its day: that of its own `as_of`, of the options, or `today`."""
    written = question.as_of or options.as_of
    if written is None:
        return AskedOn(question.text, today)
    period = parse_when(written, today)
    day = (period.last or period.first) if period else None
    match = _YMD.search(written) if day is None else None
    try:
        day = date(*map(int, match.groups())) if match else day
    except ValueError:
        day = None
    if day is None:
        place = f"{question.place}: as_of" if question.as_of else "--as-of"
        raise Usage(f"{place} {written!r} is not understood", "write 2025-11-27 or 2025-11")
    return AskedOn(question.text, day, day)


def _score(made: Evaluation, options: EvalOptions) -> None:
    """Means with intervals, over all questions and by type, at both levels; and what two configurations differ in."""
    for level, ranks_of in (("line", attrgetter("lines")), (made.place, attrgetter("places"))):
        groups = _groups([r for r in made.results if any(ranks_of(r).values())])
        made.sizes[level] = {group: len(results) for group, results in groups.items()}
        made.levels[level] = {
            group: _table(made.systems, results, ranks_of, made.depths) for group, results in groups.items()
        }
        if len(options.configurations) == 2 and groups:
            first, second = (
                [measure(ranks_of(result)[configuration.name], made.depths) for result in groups[_ALL]]
                for configuration in options.configurations
            )
            made.differences[level] = compare(first, second, random.Random(_SEED))


def _groups(results: Sequence[Result]) -> dict[str, list[Result]]:
    groups: dict[str, list[Result]] = defaultdict(list)
    for result in results:
        groups[result.question.type or "(no type)"].append(result)
    typed = dict(sorted(groups.items())) if any(result.question.type for result in results) else {}
    return ({_ALL: list(results)} if results else {}) | typed


def _table(
    systems: Sequence[str], results: Sequence[Result], ranks_of: Callable[[Result], dict[str, Ranks]], depths: Sequence[int]
) -> dict[str, dict[str, Interval]]:  # fmt: skip
    """system -> metric -> mean and interval; all systems are resampled on the same questions."""
    rows = [
        {f"{system}\n{metric}": v for system in systems for metric, v in measure(ranks_of(r)[system], depths).items()}
        for r in results
    ]
    table: dict[str, dict[str, Interval]] = defaultdict(dict)
    for key, interval in intervals(rows, random.Random(_SEED)).items():
        system, _, metric = key.partition("\n")
        table[system][metric] = interval
    return dict(table)


def _explain_misses(made: Evaluation, searcher: Searcher, asked: Sequence[Configuration], options: EvalOptions) -> None:
    """Why the worst questions are: those with gold beyond the last depth, the emptiest first; of two, where they differ."""
    name, depth = asked[len(options.configurations) - 1].name, max(options.depths)

    def share(result: Result, system: str) -> float:
        return sum(rank is not None and rank <= depth for rank in result.lines[system]) / len(result.lines[system])

    lined = [result for result in made.results if result.standing]
    if len(options.configurations) == 2:
        first = asked[0].name
        picked = [result for result in lined if share(result, first) != share(result, name)]
        picked.sort(key=lambda result: share(result, name) - share(result, first))
    else:
        picked = sorted((r for r in lined if share(r, name) < 1), key=lambda result: share(result, name))
    made.missed = len(picked)
    configuration = asked[len(options.configurations) - 1]
    for result in picked[: options.misses]:
        when = _present(result.question, made.today, options)
        made.misses.append(explain_miss(searcher, configuration, result, when, depth))
