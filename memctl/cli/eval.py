"""The command `eval`: its arguments, and one labelled question written down."""

from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import Usage
from .call import Call, command

if TYPE_CHECKING:
    from ..evaluation.evaluate import Options
    from ..evaluation.labels import Labelled

__all__ = ["register"]

_EXPLAINED = 5  # misses that --explain alone shows


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    command(app, "eval", "memctl eval questions.jsonl --misses 5")(evaluate)


def evaluate(
    call: Call,
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[QUESTIONS]",
            help="A file of labelled questions, JSON a line [default: questions.jsonl]; citations with --add.",
        ),
    ] = None,
    depths: Annotated[str, typer.Option("--k", "-k", metavar="K,K", help="How deep to look.")] = "1,5,10",
    use: Annotated[
        str,
        typer.Option(
            "--use", metavar="CONFIG", help="How to search: recall, words, vectors, fts5, grep; also +k=N, +hops=2."
        ),
    ] = "recall",
    compare: Annotated[
        tuple[str, str] | None,
        typer.Option("--compare", metavar="A B", help="What B finds beside A, question by question."),
    ] = None,
    misses: Annotated[
        int, typer.Option("--misses", min=0, metavar="N", help="Show N questions that were missed, and why.")
    ] = 0,
    explain: Annotated[bool, typer.Option("--explain", help="Show how the scores of misses came about.")] = False,
    least: Annotated[
        float | None,
        typer.Option("--min", min=0, max=1, metavar="RECALL", help="Exit code 1 if recall at the last K is below."),
    ] = None,
    as_of: Annotated[
        str | None, typer.Option("--as-of", metavar="WHEN", help="Ask as of that day where a question says none.")
    ] = None,
    only: Annotated[
        str | None,
        typer.Option("--only", metavar="NAME", help="Questions of that workspace [default: the folder's name]."),
    ] = None,
    gone: Annotated[
        str, typer.Option("--gone", metavar="HOW", help="Gold that points at nothing: miss or exclude.")
    ] = "miss",
    no_floors: Annotated[bool, typer.Option("--no-floors", help="Leave out FTS5 and grep.")] = False,
    add: Annotated[
        str | None,
        typer.Option("--add", metavar="QUESTION", help="Label a question with the citations that answer it."),
    ] = None,
    file: Annotated[
        str, typer.Option("--file", metavar="FILE", help="With --add: the file, in the workspace.")
    ] = "questions.jsonl",
    type: Annotated[str, typer.Option("--type", metavar="TYPE", help="With --add: figures are given by type.")] = "",
    replace: Annotated[bool, typer.Option("--replace", help="With --add: in the place of the same question.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", "-n", help="With --add: print the diff, write nothing.")
    ] = False,
) -> int:
    """How well recall finds what labelled questions ask for: recall@k, NDCG and MRR with intervals, beside floors."""
    if add is not None:
        return _add(call, add, words or [], file=file, type=type, as_of=as_of, replacing=replace, dry_run=dry_run)
    if len(words or ()) > 1:
        raise Usage("eval takes one file of questions", 'to label one: memctl eval --add "question" CITATION…')
    if replace or dry_run:
        raise Usage("--replace and --dry-run go with --add")
    from ..evaluation.evaluate import evaluate as run
    from .eval_report import print_evaluation

    path = Path(words[0]) if words else call.workspace.root / "questions.jsonl"
    if not words and not path.exists():
        raise Usage(
            "no questions.jsonl in the workspace", 'label one: memctl eval --add "question" memory/2025-11-27.md#L12'
        )
    misses = misses or (_EXPLAINED if explain else 0)
    options = _options(call, depths, [use] if compare is None else list(compare), gone, no_floors, as_of, only, misses)
    with call.out.progress("asking") as progress:
        made = run(call.workspace, path, options, progress)
    return print_evaluation(call, path, made, explain, least)


def _options(
    call: Call, depths: str, configurations: list[str], gone: str, no_floors: bool, as_of: str | None, only: str | None,
    misses: int,
) -> "Options":  # fmt: skip
    from ..evaluation.evaluate import Options
    from ..evaluation.systems import read_configuration

    if gone not in ("miss", "exclude"):
        raise Usage(f"--gone {gone!r} is unknown", "miss (it counts as not found) or exclude (it is left out)")
    asked = tuple(map(read_configuration, configurations))
    if len({configuration.name for configuration in asked}) < len(configurations):
        raise Usage("--compare of a configuration with itself", "name two, such as words recall")
    return Options(
        depths=_depths(depths), configurations=asked, floors=not no_floors and len(asked) == 1, exclude_gone=gone == "exclude",
        as_of=as_of, now=call.today if call.told_now else None, clock=call.today, only=only, misses=misses,
    )  # fmt: skip


def _depths(written: str) -> tuple[int, ...]:
    try:
        found = sorted({int(part) for part in written.split(",")})
    except ValueError:
        found = []
    if not found or not 1 <= found[0] <= found[-1] <= 1000:
        raise Usage(f"--k {written!r} is not understood", "write whole numbers from 1 to 1000, as in 1,5,10")
    return tuple(found)


def _add(
    call: Call, question: str, citations: list[str], *, file: str, type: str, as_of: str | None, replacing: bool,
    dry_run: bool,
) -> int:  # fmt: skip
    from ..evaluation.labels import label

    day = _day(as_of, call.today)
    done = label(
        call.workspace, question, citations, file=file, type=type, as_of=day, replacing=replacing, dry_run=dry_run
    )
    if call.out.json:
        call.out.raw_json(_labelled_json(done, dry_run))
        return 0
    if dry_run:
        for line in filter(None, done.diff.split("\n")):
            call.out.line(line)
    else:
        call.out.line(str(done.place))
    if done.already:
        call.out.note(f"already there: {done.place}")
    return 0


def _day(written: str | None, today: date) -> str | None:
    from .app import _as_of

    day = _as_of(written, today)
    return day.isoformat() if day else None


def _labelled_json(done: "Labelled", dry_run: bool) -> dict[str, object]:
    return {
        "schema": 1,
        "dry_run": dry_run,
        "source": str(done.place),
        "question": done.question.text,
        "gold": [item.said for item in done.question.gold],
        "gold_ids": [item.ref for item in done.question.gold],
        "already": done.already,
        "diff": done.diff,
    }
