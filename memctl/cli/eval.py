"""The command `eval`: figures of recall on labelled questions, and one more labelled question."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import Usage
from ..hits import hit_json
from ..markdown.escape import many, one_line
from .call import Call, argument, command, flag, one_of, option
from .hits import explained
from .output import BOLD, FAINT

if TYPE_CHECKING:
    from ..memory import Difference, Evaluation, Interval, Labelled, Missed, MissedGold, Result

_EXPLAINED = 5  # misses that --explain alone shows
_ENOUGH = 5  # questions for which an interval is printed
_TEXT = 96  # characters of a line that are shown
_COUNTED = {
    "without_gold": "questions without gold, left out",
    "other_workspaces": "questions of other workspaces, left out",
    "questions_gone": "questions whose gold all points at nothing, left out",
    "shared_ids": "questions with an id that another has too",
    "refused": "questions that recall refuses, nothing found",
    "gold_gone": "gold that points at nothing, {}",
    "gold_moved": "gold that moved, found by its id",
    "gold_changed": "gold whose line was changed since it was labelled, taken as meant",
}


@command("eval", "memctl eval questions.jsonl --misses 5")
def evaluate(
    call: Call,
    words: list[str] | None = argument(
        "[QUESTIONS]",
        "A file of labelled questions, JSON a line [default: questions.jsonl]; citations with --add.",
        default=None,
    ),
    depths: str = option("--k -k", "How deep to look.", "K,K", default="1,5,10"),
    use: str = option(
        "--use", "How to search: recall, words, vectors, fts5, grep; also +k=N, +hops=2.", "CONFIG", default="recall"
    ),
    compare: tuple[str, str] | None = option("--compare", "What B finds beside A, question by question.", "A B"),
    misses: int = option("--misses", "Show N questions that were missed, and why.", "N", default=0, min=0),
    explain: bool = flag("--explain", "Show how the scores of misses came about."),
    least: float | None = option("--min", "Exit code 1 if recall at the last K is below.", "RECALL", min=0, max=1),
    as_of: str | None = option("--as-of", "Ask as of that day where a question says none.", "WHEN"),
    only: str | None = option("--only", "Questions of that workspace [default: the folder's name].", "WORKSPACE"),
    gone: str = option("--gone", "Gold that points at nothing: miss or exclude.", "HOW", default="miss"),
    no_baselines: bool = flag("--no-baselines --no-floors", "Leave out FTS5 and grep."),
    add: str | None = option("--add", "Label a question with the citations that answer it.", "QUESTION"),
    file: str = option("--file", "With --add: the file, in the workspace.", "FILE", default="questions.jsonl"),
    type: str = option("--type", "With --add: figures are given by type.", "TYPE", default=""),
    replace: bool = flag("--replace", "With --add: in the place of the same question."),
    dry_run: bool = flag("--dry-run -n", "With --add: print the diff, write nothing."),
) -> int:
    """How well recall finds what labelled questions ask for: recall@k, NDCG and MRR with intervals, beside baselines."""
    if add is not None:
        options: dict[str, Any] = {"file": file, "type": type, "as_of": as_of, "replacing": replace, "dry_run": dry_run}
        _print_labelled(call, call.memory.label(add, words or [], **options), dry_run)
        return 0
    if len(words or ()) > 1:
        raise Usage("eval takes one file of questions", 'to label one: memctl eval --add "question" CITATION…')
    if replace or dry_run:
        raise Usage("--replace and --dry-run go with --add")
    path = Path(words[0]) if words else call.memory.workspace.root / "questions.jsonl"
    if not words and not path.exists():
        raise Usage(
            "no questions.jsonl in the workspace", 'label one: memctl eval --add "question" memory/2025-11-27.md#L12'
        )
    one_of("--gone", gone, ("miss", "exclude"), "miss (it counts as not found) or exclude (it is left out)")
    with call.progress("asking") as memory:
        made = memory.evaluate(
            path, [use] if compare is None else compare, depths=_depths(depths), baselines=not no_baselines,
            exclude_gone=gone == "exclude", as_of=as_of, now=call.today if call.is_now_given else None, only=only,
            misses=misses or (_EXPLAINED if explain else 0),
        )  # fmt: skip
    return _print_evaluation(call, path, made, explain, least)


def _depths(written: str) -> tuple[int, ...]:
    try:
        found = sorted({int(part) for part in written.split(",")})
    except ValueError:
        found = []
    if not found or not 1 <= found[0] <= found[-1] <= 1000:
        raise Usage(f"--k {written!r} is not understood", "write whole numbers from 1 to 1000, as in 1,5,10")
    return tuple(found)


def _print_labelled(call: Call, done: "Labelled", dry_run: bool) -> None:
    if call.out.json:
        gold = done.question.gold
        told = {"schema": 1, "dry_run": dry_run, "source": str(done.place), "question": done.question.text}
        told |= {"gold": [item.said for item in gold], "gold_ids": [item.ref for item in gold]}
        call.out.raw_json(told | {"already": done.already, "diff": done.diff})
        return
    call.out.lines(done.diff if dry_run else str(done.place))
    if done.already:
        call.out.note(f"already there: {done.place}")


# -- figures ----------------------------------------------------------------------------------------------------------


def _print_evaluation(call: Call, path: Path, made: "Evaluation", explain: bool, least: float | None) -> int:
    """Print the figures; the exit code is 1 if recall at the last depth is below `least`."""
    met = least is None or _recall(made) >= least
    if call.out.json:
        call.out.raw_json(_json(path, made, explain, least, met))
        return 0 if met else 1
    _print_head(call, path, made)
    for level in made.levels:
        if not made.levels[level]:
            continue
        call.out.line()
        if made.differences:
            _print_differences(call, made, level)
        else:
            _print_level(call, made, level)
            _print_types(call, made, level)
    _print_misses(call, made, explain)
    if not met:
        call.out.note(f"recall@{made.depths[-1]} is {_percent(_recall(made))}, below {_percent(least or 0)} (--min)")
    return 0 if met else 1


def _asked(made: "Evaluation") -> str:
    """The system whose figures come first; of two that are compared, the second."""
    return made.systems[1] if made.differences else made.systems[0]


def _recall(made: "Evaluation") -> float:
    table = made.levels["line"].get("", {})
    return table[_asked(made)][f"recall@{made.depths[-1]}"].mean if table else 0.0


# -- text -------------------------------------------------------------------------------------------------------------


def _print_head(call: Call, path: Path, made: "Evaluation") -> None:
    gold = made.counts.get("gold", 0)
    call.out.line(
        f"{path.name}: {many(len(made.results), 'question')}, {many(gold, 'gold item')}; today is {made.today}"
    )
    how = "left out" if made.gone_left_out else "taken as not found (--gone exclude leaves it out)"
    for key, text in _COUNTED.items():
        if made.counts.get(key):
            call.out.note(f"{text.format(how)}: {made.counts[key]:,}")
    call.out.note(*made.notes)


def _print_level(call: Call, made: "Evaluation", level: str) -> None:
    table, first = made.levels[level][""], made.systems[0]
    rows: list[list[str]] = [[f"by {level}, n = {made.sizes[level]['']:,}", first, "95 %", *made.systems[1:]]]
    for metric, interval in table[first].items():
        others = [_percent(table[system][metric].mean) for system in made.systems[1:]]
        rows.append([_named(metric), _percent(interval.mean), _span(interval, made.sizes[level][""]), *others])
    _print_aligned(call, rows)


def _print_types(call: Call, made: "Evaluation", level: str) -> None:
    types = [group for group in made.levels[level] if group]
    if not types:
        return
    k, first = made.depths[-1], made.systems[0]
    metrics = (f"recall_any@{k}", f"recall_all@{k}", "ndcg@10", "mrr@10")
    rows: list[list[str]] = [
        ["type", "n", f"recall@{k}", "95 %", *map(_named, metrics), *(f"{s} recall@{k}" for s in made.systems[1:])]
    ]
    for group in types:
        table = made.levels[level][group]
        own = table[first][f"recall@{k}"]
        rest = [table[first][metric] for metric in metrics] + [table[s][f"recall@{k}"] for s in made.systems[1:]]
        size = made.sizes[level][group]
        figures = [_percent(own.mean), _span(own, size), *(_percent(each.mean) for each in rest)]
        rows.append([one_line(group)[:40], f"{size:,}", *figures])
    call.out.line()
    _print_aligned(call, rows)


def _print_differences(call: Call, made: "Evaluation", level: str) -> None:
    first, second = made.systems[:2]
    table = made.levels[level][""]
    head = f"by {level}, n = {made.sizes[level]['']:,}"
    rows = [[head, first, second, "change", "95 %", "p", "better", "worse", "same"]]
    for metric, change in made.differences[level].items():
        means = (_percent(table[system][metric].mean) for system in (first, second))
        span = f"{_signed(change.low)} to {_signed(change.high)}"
        counts = (f"{count:,}" for count in (change.better, change.worse, change.same))
        rows.append([_named(metric), *means, _signed(change.mean), span, _chance(change.p), *counts])
    _print_aligned(call, rows)


def _print_aligned(call: Call, rows: Sequence[Sequence[str]]) -> None:
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    for number, row in enumerate(rows):
        cells = [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        call.out.emit(call.out.style("  ".join(cells).rstrip(), *(() if number else (BOLD,))))


def _named(metric: str) -> str:
    """As the literature spells it: NDCG@10, MRR@10, but recall_any@5."""
    return metric if metric.startswith("recall") else metric.upper()


def _percent(share: float) -> str:
    return f"{100 * share:.1f}"


def _signed(share: float) -> str:
    return f"{100 * share:+.1f}"


def _span(interval: "Interval", n: int) -> str:
    """Resampling a handful of questions says nothing: three hits of three would be 100.0–100.0."""
    return f"{_percent(interval.low)}–{_percent(interval.high)}" if n >= _ENOUGH else "–"


def _chance(p: float) -> str:
    return "< .001" if p < 0.001 else f"{p:.3f}".removeprefix("0")


def _print_misses(call: Call, made: "Evaluation", explain: bool) -> None:
    if made.misses:
        call.out.line()
    for number, missed in enumerate(made.misses, 1):
        question = missed.question
        label = " · ".join(filter(None, (f"line {question.line}", question.id, question.type)))
        call.out.emit(
            f"{call.out.style(f'{number}.', BOLD)} {call.out.style(_shown(question.text))} {call.out.style(label, FAINT)}"
        )
        for gold, item in enumerate(missed.gold):
            found = [missed.ranks[system][gold] for system in made.systems[:2]] if made.differences else []
            ranks = " → ".join(f"rank {rank}" if rank else "no rank" for rank in found)
            _print_gold(call, item, ranks, explain)
        for hit in missed.instead:
            call.out.line(f"   instead  {hit.source} {_shown(hit.content)}")
            if explain:
                call.out.emit(call.out.style(f"            {explained(hit)}", FAINT))
    if made.missed > len(made.misses):
        were = many(made.missed, "question was", "questions were")
        which = (
            many(made.missed, "question") + " changed places" if made.differences else were + " not answered in full"
        )
        call.out.note(f"{which}; --misses {made.missed} shows all")


def _print_gold(call: Call, item: "MissedGold", ranks: str, explain: bool) -> None:
    place = f"rank {item.rank}" if item.rank else "no rank"
    call.out.line(f"   gold     {item.said} · {ranks or place} · {item.reason}")
    if item.text:
        call.out.line(f"            {_shown(item.text)}")
    if explain and item.hit:
        call.out.emit(call.out.style(f"            {explained(item.hit)}", FAINT))


def _shown(text: str) -> str:
    line = one_line(text)
    return line if len(line) <= _TEXT else f"{line[: _TEXT - 1]}…"


# -- JSON -------------------------------------------------------------------------------------------------------------


def _json(path: Path, made: "Evaluation", explain: bool, least: float | None, met: bool) -> dict[str, Any]:
    return {
        "schema": 1,
        "questions": str(path),
        "n": len(made.results),
        "today": str(made.today),
        "k": list(made.depths),
        "systems": list(made.systems),
        "counts": made.counts,
        "warnings": made.notes,
        "levels": {level: _level_json(made, level) for level in made.levels},
        "min": None if least is None else {"recall": least, "met": met},
        "missed": made.missed,
        "misses": [_missed_json(missed, explain) for missed in made.misses],
        "results": [_result_json(result, made.place) for result in made.results],
    }


def _level_json(made: "Evaluation", level: str) -> dict[str, Any]:
    groups = {
        group: {"n": made.sizes[level][group]}
        | {system: {metric: _rounded(i) for metric, i in metrics.items()} for system, metrics in table.items()}
        for group, table in made.levels[level].items()
    }
    changes = {metric: _rounded(change) for metric, change in made.differences.get(level, {}).items()}
    return {
        "all": groups.pop("", None),
        "types": groups,
        **({"compare": {"from": made.systems[0], "to": made.systems[1], **changes}} if changes else {}),
    }


def _rounded(figures: "Interval | Difference") -> dict[str, float]:
    return {name: round(value, 6) for name, value in figures._asdict().items()}


def _missed_json(missed: "Missed", explain: bool) -> dict[str, Any]:
    return {
        "line": missed.question.line,
        "question": missed.question.text,
        "gold": [
            {"source": item.said, "content": item.text, "rank": item.rank, "reason": item.reason}
            | ({"hit": hit_json(item.hit, explain)} if item.hit else {})
            for item in missed.gold
        ],
        "instead": [hit_json(hit, explain) for hit in missed.instead],
    }


def _result_json(result: "Result", place: str) -> dict[str, Any]:
    question = result.question
    return {
        "line": question.line,
        "id": question.id,
        "type": question.type or None,
        "question": question.text,
        "gold": [
            {"said": item.gold.said, "at": [str(p) for p in item.places], "moved": item.moved, "changed": item.changed}
            for item in result.standing
        ],
        "refused": result.refused,
        "ranks": {
            system: {"line": list(ranks), place: list(result.places[system])} for system, ranks in result.lines.items()
        },
    }
