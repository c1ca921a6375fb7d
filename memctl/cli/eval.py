"""The command `eval`: figures of recall on labelled questions, and one more labelled question."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import Usage
from ..facts import fields
from ..hits import hit_json
from ..markdown.escape import many, one_line
from .call import Call, argument, command, flag, one_of, option
from .output import BOLD, FAINT
from .render_hits import explained

if TYPE_CHECKING:
    from ..memory import Difference, Evaluation, Interval

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
    words: list[str] | None = argument("[QUESTIONS]", "A file of labelled questions, JSON a line [default: questions.jsonl]; citations with --add.", default=None),
    *,
    depths: str = option("--k -k", "How deep to look.", "K,K", default="1,5,10"),
    use: str = option("--use", "How to search: recall, words, vectors, fts5, grep; also +k=N, +hops=2.", "CONFIG", default="recall"),
    compare: tuple[str, str] | None = option("--compare", "What B finds beside A, question by question.", "A B"),
    misses: int = option("--misses", "Show N questions that were missed, and why.", "N", default=0, min=0),
    explain: bool = flag("--explain", "Show how the scores of misses came about."),
    least: float | None = option("--min", "Exit code 1 if recall at the last K is below.", "RECALL", min=0, max=1),
    as_of: str | None = option("--as-of", "Ask as of that day if the question names none.", "WHEN"),
    only: str | None = option("--only", "Questions of that workspace [default: the folder's name].", "WORKSPACE"),
    gone: str = option("--gone", "A label that points at no line: count it as a miss, or exclude it.", "HOW", default="miss"),
    no_baselines: bool = flag("--no-baselines --no-floors", "Leave out FTS5 and grep."),
    add: str | None = option("--add", "Label a question with the citations that answer it.", "QUESTION"),
    file: str = option("--file", "With --add: the file, in the workspace.", "FILE", default="questions.jsonl"),
    type: str = option("--type", "With --add: figures are given by type.", "TYPE", default=""),
    replace: bool = flag("--replace", "With --add: in the place of the same question."),
    dry_run: bool = flag("--dry-run -n", "With --add: print the diff, write nothing."),
) -> int:  # fmt: skip
    """How well recall finds what labelled questions ask for: recall@k, NDCG and MRR with intervals, beside baselines."""
    if add is not None:
        done = call.memory.label(
            add, words or [], file=file, type=type, as_of=as_of, replacing=replace, dry_run=dry_run
        )
        if call.out.json:
            gold = done.question.gold
            told = {"schema": 1, "dry_run": dry_run, "source": str(done.place), "question": done.question.text}
            told |= {"gold": [item.said for item in gold], "gold_ids": [item.ref for item in gold]}
            return call.out.raw_json(told | {"already": done.already, "diff": done.diff})
        call.out.lines(done.diff if dry_run else str(done.place))
        if done.already:
            call.out.note(f"already there: {done.place}")
        return 0
    if len(words or ()) > 1:
        raise Usage("eval takes one file of questions", 'to label one: memctl eval --add "question" CITATION…')
    if replace or dry_run:
        raise Usage("--replace and --dry-run go with --add")
    path = Path(words[0]) if words else call.memory.workspace.root / "questions.jsonl"
    if not words and not path.exists():
        cure = 'label one: memctl eval --add "question" memory/2025-11-27.md#L12'
        raise Usage("no questions.jsonl in the workspace", cure)
    one_of("--gone", gone, ("miss", "exclude"), "miss (it counts as not found) or exclude (it is left out)")
    with call.progress("asking") as memory:
        made = memory.evaluate(
            path, [use] if compare is None else compare, depths=_depths(depths), baselines=not no_baselines,
            exclude_gone=gone == "exclude", as_of=as_of, now=call.now.date() if call.is_now_given else None, only=only,
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


def _print_evaluation(call: Call, path: Path, made: "Evaluation", explain: bool, least: float | None) -> int:
    """Print the figures; the exit code is 1 if recall at the last depth is below `least`."""
    system = made.systems[1 if made.differences else 0]  # of two that are compared, the second
    table = made.levels["line"].get("", {})
    recall = table[system][f"recall@{made.depths[-1]}"].mean if table else 0.0
    met = least is None or recall >= least
    if call.out.json:
        return call.out.raw_json(_json(path, made, explain, least, met), met)
    gold = many(made.counts.get("gold", 0), "gold item")
    call.out.line(f"{path.name}: {many(len(made.results), 'question')}, {gold}; today is {made.today}")
    how = "left out" if made.gone_left_out else "taken as not found (--gone exclude leaves it out)"
    for key, text in _COUNTED.items():
        if made.counts.get(key):
            call.out.note(f"{text.format(how)}: {made.counts[key]:,}")
    call.out.note(*made.notes)
    for level in (level for level, groups in made.levels.items() if groups):
        if made.differences:
            _print_aligned(call, _change_rows(made, level))
        else:
            _print_aligned(call, _figure_rows(made, level))
            _print_aligned(call, _type_rows(made, level))
    _print_misses(call, made, explain)
    if not met:
        call.out.note(f"recall@{made.depths[-1]} is {_percent(recall)}, below {_percent(least or 0)} (--min)")
    return 0 if met else 1


def _figure_rows(made: "Evaluation", level: str) -> list[list[str]]:
    """Each metric of the first system with its interval, and of the others."""
    table, (first, *others), size = made.levels[level][""], made.systems, made.sizes[level][""]
    rows = [[f"by {level}, n = {size:,}", first, "95 %", *others]]
    for metric, interval in table[first].items():
        means = [_percent(table[system][metric].mean) for system in others]
        rows.append([_named(metric), _percent(interval.mean), _span(interval, size), *means])
    return rows


def _type_rows(made: "Evaluation", level: str) -> list[list[str]]:
    """The same by type of question: some metrics of the first system, recall of the others; empty without types."""
    recall, (first, *others) = f"recall@{made.depths[-1]}", made.systems
    metrics = (f"recall_any@{made.depths[-1]}", f"recall_all@{made.depths[-1]}", "ndcg@10", "mrr@10")
    rows = [["type", "n", recall, "95 %", *map(_named, metrics), *(f"{system} {recall}" for system in others)]]
    for group, table in made.levels[level].items():
        if group:
            size, own = made.sizes[level][group], table[first]
            means = [_percent(each.mean) for each in [own[m] for m in metrics] + [table[s][recall] for s in others]]
            span = _span(own[recall], size)
            rows.append([one_line(group)[:40], f"{size:,}", _percent(own[recall].mean), span, *means])
    return rows if len(rows) > 1 else []


def _change_rows(made: "Evaluation", level: str) -> list[list[str]]:
    """What the second system changes of each metric."""
    table, head = made.levels[level][""], f"by {level}, n = {made.sizes[level]['']:,}"
    rows = [[head, *made.systems[:2], "change", "95 %", "p", "better", "worse", "same"]]
    for metric, change in made.differences[level].items():
        means = (_percent(table[system][metric].mean) for system in made.systems[:2])
        span = f"{_percent(change.low, '+')} to {_percent(change.high, '+')}"
        chance = "< .001" if change.p < 0.001 else f"{change.p:.3f}".removeprefix("0")
        counts = (f"{count:,}" for count in (change.better, change.worse, change.same))
        rows.append([_named(metric), *means, _percent(change.mean, "+"), span, chance, *counts])
    return rows


def _print_aligned(call: Call, rows: Sequence[Sequence[str]]) -> None:
    """Print a table below a blank line, its first row bold; nothing without rows."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for number, row in enumerate(rows):
        if number == 0:
            call.out.line("")
        cells = [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        call.out.emit(call.out.style("  ".join(cells).rstrip(), *(() if number else (BOLD,))))


def _named(metric: str) -> str:
    """As the literature spells it: NDCG@10, MRR@10, but recall_any@5."""
    return metric if metric.startswith("recall") else metric.upper()


def _percent(share: float, sign: str = "") -> str:
    return f"{100 * share:{sign}.1f}"


def _span(interval: "Interval", n: int) -> str:
    """Resampling a handful of questions says nothing: three hits of three would be 100.0–100.0."""
    return f"{_percent(interval.low)}–{_percent(interval.high)}" if n >= _ENOUGH else "–"


def _print_misses(call: Call, made: "Evaluation", explain: bool) -> None:
    out = call.out
    for number, missed in enumerate(made.misses, 1):
        if number == 1:
            out.line("")
        question = missed.question
        label = " · ".join(filter(None, (f"line {question.line}", question.id, question.type)))
        out.emit(f"{out.style(f'{number}.', BOLD)} {out.style(_shown(question.text))} {out.style(label, FAINT)}")
        for at, item in enumerate(missed.gold):
            compared = [missed.ranks[system][at] for system in made.systems[:2]] if made.differences else [item.rank]
            ranks = " → ".join(f"rank {rank}" if rank else "no rank" for rank in compared)
            out.line(f"   gold     {item.said} · {ranks} · {item.reason}")
            if item.text:
                out.line(f"            {_shown(item.text)}")
            if explain and item.hit:
                out.emit(out.style(f"            {explained(item.hit)}", FAINT))
        for hit in missed.instead:
            out.line(f"   instead  {hit.source} {_shown(hit.content)}")
            if explain:
                out.emit(out.style(f"            {explained(hit)}", FAINT))
    if made.missed > len(made.misses):
        which = many(made.missed, "question was", "questions were") + " not answered in full"
        if made.differences:
            which = many(made.missed, "question") + " changed places"
        out.note(f"{which}; --misses {made.missed} shows all")


def _shown(text: str) -> str:
    line = one_line(text)
    return line if len(line) <= _TEXT else f"{line[: _TEXT - 1]}…"


def _json(path: Path, made: "Evaluation", explain: bool, least: float | None, met: bool) -> dict[str, Any]:
    misses, results = [], []
    for missed in made.misses:
        hits = ({"hit": hit_json(item.hit, explain)} if item.hit else {} for item in missed.gold)
        shown = zip(missed.gold, hits, strict=True)
        gold = [fields(item, "source=said content=text rank reason") | hit for item, hit in shown]
        instead = [hit_json(hit, explain) for hit in missed.instead]
        told = fields(missed, "line=question.line question=question.text")
        misses.append(told | {"gold": gold, "instead": instead})
    for result in made.results:
        gold = [fields(item, "said=gold.said at=places moved changed") for item in result.standing]
        lines, places = result.lines.items(), result.places
        ranks = {system: {"line": list(each), made.place: list(places[system])} for system, each in lines}
        told = fields(result.question, "line id") | {"type": result.question.type or None}
        told |= fields(result.question, "question=text") | {"gold": gold, "refused": result.refused, "ranks": ranks}
        results.append(told)
    told = {"schema": 1, "questions": str(path), "n": len(made.results)}
    told |= fields(made, "today k=depths systems counts warnings=notes")
    told |= {"levels": {level: _level_json(made, level) for level in made.levels}}
    told |= {"min": None if least is None else {"recall": least, "met": met}}
    return told | {"missed": made.missed, "misses": misses, "results": results}


def _level_json(made: "Evaluation", level: str) -> dict[str, Any]:
    def rounded(figures: "Mapping[str, Interval | Difference]") -> dict[str, dict[str, float]]:
        return {metric: {k: round(v, 6) for k, v in each._asdict().items()} for metric, each in figures.items()}

    groups = {
        group: {"n": made.sizes[level][group]} | {system: rounded(metrics) for system, metrics in table.items()}
        for group, table in made.levels[level].items()
    }
    told: dict[str, Any] = {"all": groups.pop("", None), "types": groups}
    if changes := made.differences.get(level):
        told["compare"] = {"from": made.systems[0], "to": made.systems[1], **rounded(changes)}
    return told
