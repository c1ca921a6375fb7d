"""Retrieval quality through the real index and recall: `python bench/quality.py DATA/locomo [DATA/beam …]`.

A data folder holds `questions.jsonl` (`workspace`, `question`, `gold` citations, optional `type`, `gold_sessions`) and,
for figures by session, `sessions.jsonl` (`workspace`, `source`, `session`); each workspace is a folder of Markdown in it.
Metrics are means over questions: fractional recall@k is |gold in the top k| / |gold|, any@k and all@k ask for one or
every gold item, and a session ranks where its best line ranks.
"""

from __future__ import annotations

import argparse
import json
import math
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

from memctl.core.query import read_query
from memctl.store.heal import with_index
from memctl.store.index import Index
from memctl.store.questions import census
from memctl.store.workspace import Workspace, find_workspace
from memctl.verbs.recall import recall_in
from memctl.verbs.sync import sync

DEPTH = 50  # hits of the second recall, by which five sessions are told apart
Result = tuple[dict[str, Any], list[str], list[str]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, nargs="+")
    parser.add_argument("--questions", default="questions.jsonl")
    parser.add_argument(
        "--dev", default="", help="workspaces used for settling weights, comma-separated; reported apart"
    )
    parser.add_argument("--by-type", action="store_true")
    parser.add_argument("--misses", type=int, default=0, help="print so many questions whose gold is not in the top 10")
    given = parser.parse_args()
    for folder in given.data:
        results = list(evaluate(folder, folder / given.questions))
        print(f"{folder.name}/{given.questions}: {len(results)} questions with gold")
        dev = set(filter(None, given.dev.split(",")))
        groups = {"all": results}
        groups |= {"dev": [r for r in results if r[0]["workspace"] in dev]} if dev else {}
        groups |= {"held out": [r for r in results if r[0]["workspace"] not in dev]} if dev else {}
        groups |= by_type(results) if given.by_type else {}
        for name, group in groups.items():
            if group:
                print(f"  {name:28} n={len(group):5} " + "  ".join(f"{k} {v:.1f}" for k, v in figures(group).items()))
        _print_misses(results, given.misses)


def by_type(results: Sequence[Result]) -> dict[str, list[Result]]:
    """Results grouped by the type of their question."""
    groups: dict[str, list[Result]] = defaultdict(list)
    for result in results:
        groups[result[0].get("type", "")].append(result)
    return dict(sorted(groups.items()))


def evaluate(folder: Path, questions: Path) -> Iterator[Result]:
    """(question, cited lines best first, their sessions best first) for every question that has gold."""
    asked: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for line in questions.read_text("utf-8").splitlines():
        question = json.loads(line)
        if question["gold"]:
            asked[question["workspace"]].append(question)
    sessions = _sessions(folder / "sessions.jsonl")
    for name, group in asked.items():
        with tempfile.TemporaryDirectory() as temporary:
            root = Path(temporary) / "workspace"
            shutil.copytree(folder / name, root)
            workspace = find_workspace(str(root), {}, root)
            yield from with_index(workspace, partial(_ask, workspace, group, sessions.get(name, {})))


def _sessions(path: Path) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for line in path.read_text("utf-8").splitlines() if path.exists() else ():
        row = json.loads(line)
        found[row["workspace"]][row["source"]] = row["session"]
    return found


def _ask(workspace: Workspace, group: Sequence[dict[str, Any]], sessions: dict[str, str], index: Index) -> list[Result]:
    sync(workspace, index)
    newest = census(index)["pages"][0][4]
    today = date.fromisoformat(newest) if newest else date(2025, 1, 1)
    results = []
    for question in group:
        query = read_query(question["question"], today)
        sources, deep = (
            [str(hit.source) for hit in recall_in(workspace, index, query, today=today, k=k).hits] for k in (10, DEPTH)
        )
        results.append((question, sources, list(dict.fromkeys(sessions[s] for s in deep if s in sessions))))
    return results


def figures(results: Sequence[Result]) -> dict[str, float]:
    """The means, in per cent, of every metric that the questions allow."""
    line = [(set(q["gold"]), sources) for q, sources, _ in results]
    means = {
        "hit@1": _mean(_any(gold, found, 1) for gold, found in line),
        "recall@10": _mean(len(gold & set(found[:10])) / len(gold) for gold, found in line),
        "ndcg@10": _mean(_ndcg(gold, found) for gold, found in line),
        "mrr": _mean(next((1 / n for n, f in enumerate(found, 1) if f in gold), 0.0) for gold, found in line),
    }
    session = [(set(q["gold_sessions"]), found) for q, _, found in results if q.get("gold_sessions") and found]
    if session:
        total = len([q for q, _, _ in results if q.get("gold_sessions")])
        means |= {
            "session any@5": 100 * sum(_any(gold, found, 5) for gold, found in session) / total,
            "session all@5": 100 * sum(gold <= set(found[:5]) for gold, found in session) / total,
        }
    return means


def _mean(values: Iterator[float]) -> float:
    found = list(values)
    return 100 * sum(found) / len(found)


def _any(gold: set[str], found: Sequence[str], k: int) -> float:
    return float(bool(gold & set(found[:k])))


def _ndcg(gold: set[str], found: Sequence[str]) -> float:
    gain = sum(1 / math.log2(n + 1) for n, source in enumerate(found[:10], 1) if source in gold)
    return gain / sum(1 / math.log2(n + 1) for n in range(1, min(len(gold), 10) + 1))


def _print_misses(results: Sequence[Result], count: int) -> None:
    missed = [(q, found) for q, found, _ in results if not set(q["gold"]) & set(found[:10])]
    for question, found in missed[:count]:
        print(f"  - {question['workspace']}: {question['question']} gold {question['gold']} found {found[:3]}")


if __name__ == "__main__":
    main()
