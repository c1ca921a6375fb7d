"""Retrieval quality through the real index and recall: `python bench/quality.py DATA/locomo [DATA/beam …] --cache FOLDER`.

Words alone and words with vectors (where a model is installed) side by side, over every set that a folder makes
(bench/sets.py). Metrics are means over questions, with a bootstrap interval: fractional recall@k is |gold in the top k| /
|gold|, any@k and all@k ask for one or every gold item, a session ranks where its best line ranks, and gold@N is the share of the
gold lines that a model is given in N tokens (recall of MCP). What is embedded stays in the cache, so that a second run takes minutes.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from sets import Task, tasks

import memctl
from memctl.evaluation.metrics import Difference, Interval, compare, intervals, measure, rank_in

BUDGETS = (500, 2000)  # tokens
# Hits of the second recall, as many as are looked for to fill 2,000 tokens: five sessions are told apart by them, and budgets are filled.
DEPTH = 62
SHOWN = {
    "hit@1": "recall_any@1", "hit@5": "recall_any@5", "recall@10": "recall@10", "ndcg@10": "ndcg@10", "mrr": "mrr@10",
    "session any@5": "session recall_any@5", "session all@5": "session recall_all@5",
    **{f"gold@{budget}": f"gold@{budget}" for budget in BUDGETS},
}  # fmt: skip


class Result(NamedTuple):
    """A question, the lines cited best first, their sessions best first, and the lines that fit into each budget."""

    question: dict[str, Any]
    lines: list[str]
    sessions: list[str]
    within: dict[int, list[str]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, nargs="+")
    parser.add_argument("--words", action="store_true", help="words alone only")
    parser.add_argument("--vectors", action="store_true", help="with vectors only")
    parser.add_argument("--only", default="", help="names of sets, comma-separated: xquad/mixed")
    parser.add_argument("--cache", type=Path, help="folder that keeps workspaces with their vectors for the next run")
    parser.add_argument("--dev", default="", help="workspaces (or pages) that settled weights, comma-separated")
    parser.add_argument("--by-type", action="store_true")
    parser.add_argument("--types", default="", help="ask questions of these types alone, comma-separated")
    parser.add_argument("--markdown", action="store_true", help="one table for a README at the end")
    parser.add_argument("--json", type=Path, help="write the rank of every gold item to a file")
    parser.add_argument("--misses", type=int, default=0, help="print so many questions whose gold is not in the top 10")
    given = parser.parse_args()
    systems = [name for name, left_out in (("words", given.vectors), ("vectors", given.words)) if not left_out]
    rows: list[tuple[str, int, dict[str, dict[str, Interval]]]] = []
    with ExitStack() as stack:
        cache = given.cache or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        cache.mkdir(parents=True, exist_ok=True)
        for task in (task for folder in given.data for task in tasks(folder)):
            if given.only and task.name not in given.only.split(","):
                continue
            if given.types:
                task = task._replace(
                    questions=[q for q in task.questions if q.get("type", "") in given.types.split(",")]
                )
            results = {system: list(evaluate(task, cache, system)) for system in systems}
            for name, group in groups(results, set(filter(None, given.dev.split(","))), given.by_type):
                figures = {system: _rows(found) for system, found in group.items()}
                spans = {system: intervals(found, Random(1)) for system, found in figures.items()}
                _print(task.name, name, figures, spans)
                if name in ("all", "dev", "held out"):
                    rows.append((f"{task.name}, {name}", len(figures[systems[0]]), spans))
            _print_misses(results[systems[-1]], given.misses)
            if given.json:
                _write(given.json, task.name, results)
    if given.markdown:
        print("\n".join(markdown(rows)))


def groups(
    results: dict[str, list[Result]], dev: set[str], by_type: bool
) -> Iterator[tuple[str, dict[str, list[Result]]]]:
    """The results of every system for all questions, for those that settled weights and the others, for each type and the
    others of that type."""
    tests: list[tuple[str, Callable[[dict[str, Any]], bool]]] = [("all", lambda q: True)]
    if dev:
        tests += [("dev", lambda q: _is_dev(q, dev)), ("held out", lambda q: not _is_dev(q, dev))]
    kinds = sorted({r.question.get("type", "") for found in results.values() for r in found}) if by_type else []
    for kind in kinds:
        tests.append((kind, partial(lambda wanted, q: q.get("type", "") == wanted, kind)))
        if dev:
            tests.append(
                (f"{kind}, held out", partial(lambda is_of, q: is_of(q) and not _is_dev(q, dev), tests[-1][1]))
            )
    for name, test in tests:
        group = {system: [r for r in found if test(r.question)] for system, found in results.items()}
        if all(group.values()):
            yield name, group


def _is_dev(question: dict[str, Any], dev: set[str]) -> bool:
    pages = {Path(place.split("#")[0]).stem for place in question["gold"]}
    return question["workspace"] in dev or bool(pages & dev)


# -- asking -----------------------------------------------------------------------------------------------------------


def evaluate(task: Task, cache: Path, system: str) -> Iterator[Result]:
    """What a system finds for every question that has gold."""
    for name, group in task.by_workspace().items():
        root = cache / task.name.split("/")[0] / name
        if not root.exists():
            root.parent.mkdir(parents=True, exist_ok=True)
            task.fill(name, root)
        newest = max((path.stem[:10] for path in root.glob("memory/*.md")), default="2025-01-01")
        with memctl.open(root, now=newest) as memory:
            yield from _ask(memory, group, task.sessions.get(name, {}), system == "vectors")


def _ask(
    memory: memctl.Memory, group: Sequence[dict[str, Any]], sessions: dict[str, str], vectors: bool
) -> Iterator[Result]:
    memory.sync()
    report = memory.embed() if vectors else None
    if report and report.missing:
        raise SystemExit(f"{memory.workspace.root}: {report.missing} entries are not embedded: {report.stopped}")
    for question in group:
        query = memory.query(question["question"], per_page=0)
        recall, told = partial(memory.recall, query, vectors=vectors), partial(memory.told, query, vectors=vectors)
        first, deep = recall(k=10), recall(k=DEPTH)
        if report and (first.vectors is None or first.vectors.missing):
            raise SystemExit(f"{memory.workspace.root}: no vectors took part: {first.warnings}")
        kept = list(dict.fromkeys(sessions[place] for place in _places(deep) if place in sessions))
        within = {budget: _places(told(budget=budget)[0]) for budget in BUDGETS}
        yield Result(question, _places(first), kept, within)


def _places(answer: memctl.Answer) -> list[str]:
    return [str(hit.source) for hit in answer.hits]


# -- figures ----------------------------------------------------------------------------------------------------------


def _rows(results: Sequence[Result]) -> list[dict[str, float]]:
    """Every metric of every question."""
    with_sessions = all(r.question.get("gold_sessions") for r in results) and any(r.sessions for r in results)
    return [_figures(result, with_sessions) for result in results]


def _figures(result: Result, with_sessions: bool) -> dict[str, float]:
    found = measure(rank_in(dict.fromkeys(result.question["gold"]), result.lines), (1, 5, 10))
    gold = set(result.question["gold"])
    found |= {f"gold@{budget}": len(gold & set(lines)) / len(gold) for budget, lines in result.within.items()}
    if with_sessions:
        by_session = measure(rank_in(dict.fromkeys(result.question["gold_sessions"]), result.sessions), (5,))
        found |= {f"session {name}": value for name, value in by_session.items()}
    return found


def _print(
    task: str, group: str, figures: dict[str, list[dict[str, float]]], spans: dict[str, dict[str, Interval]]
) -> None:
    """One block of the report: a line for each system, and how they differ."""
    count = len(next(iter(figures.values())))
    names = [name for name, metric in SHOWN.items() if metric in next(iter(spans.values()))]
    print(f"{f'{task}: {group} ({count})':44}" + "".join(f"{name:>19}" for name in names))
    for system, found in spans.items():
        print(f"  {system:42}" + "".join(f"{_span(found[SHOWN[name]]):>19}" for name in names))
    if len(figures) == 2:
        first, second = figures.values()
        changed = compare(first, second, Random(2))
        print(f"  {'difference':42}" + "".join(f"{_change(changed[SHOWN[name]]):>19}" for name in names), flush=True)


def _span(interval: Interval) -> str:
    return f"{100 * interval.mean:.1f} [{100 * interval.low:.1f}, {100 * interval.high:.1f}]"


def _change(difference: Difference) -> str:
    """With a star where it is more than chance (p < .05)."""
    return f"{100 * difference.mean:+.1f}{'*' if difference.p < 0.05 else ' '}"


def markdown(rows: Sequence[tuple[str, int, dict[str, dict[str, Interval]]]]) -> Iterator[str]:
    """A table with words and vectors side by side, `78.9 → 83.9`."""
    names = [
        name for name, metric in SHOWN.items() if any(metric in found for _, _, all_ in rows for found in all_.values())
    ]
    yield "| | questions | " + " | ".join(names) + " |"
    yield "|---" * (len(names) + 2) + "|"
    for label, count, spans in rows:
        cells = (
            " → ".join(f"{100 * found[SHOWN[name]].mean:.1f}" for found in spans.values() if SHOWN[name] in found)
            for name in names
        )
        yield f"| {label} | {count:,} | " + " | ".join(cells) + " |"


def _print_misses(results: Sequence[Result], count: int) -> None:
    missed = [r for r in results if not set(r.question["gold"]) & set(r.lines)]
    for question, found, *_ in missed[:count]:
        print(f"  - {question['workspace']}: {question['question']} gold {question['gold']} found {found[:3]}")


def _write(path: Path, task: str, results: dict[str, list[Result]]) -> None:
    with path.open("a", encoding="utf-8") as out:
        for system, found in results.items():
            for question, lines, *_ in found:
                ranks = [lines.index(place) + 1 if place in lines else None for place in question["gold"]]
                row = {"set": task, "system": system, "id": question.get("id"), "ranks": ranks}
                out.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main()
