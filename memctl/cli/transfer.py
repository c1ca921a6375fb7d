"""The commands `import` and `export`: other memories in, plain data out."""

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import NothingFound, Usage
from .call import Call, command

if TYPE_CHECKING:
    from ..transfer.importing import Imported

__all__ = ["register"]

_NO_ROWS = {
    "facts": "facts are bullets under `## Retain`; notes stay in their Markdown",
    "beliefs": "`memctl reflect` makes them of opinions",
}
_SHOWN = 20  # lines about what was left, unless --all


def register(app: typer.Typer) -> None:
    """Add the commands of this module to the command line."""
    command(app, "import", "memctl import ~/vault --from obsidian --dry-run")(take_in)
    command(app, "export", "memctl export beliefs --format csv -o beliefs.csv")(give_out)


def take_in(
    call: Call,
    source: Annotated[Path, typer.Argument(metavar="SOURCE", help="A folder of notes, or a JSON export.")],
    kind: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="KIND",
            help="openclaw, obsidian, claude-code, basic-memory, mem0 or chatgpt [default: by what it looks like].",
        ),
    ] = None,
    name: Annotated[
        str | None, typer.Option("--name", metavar="NAME", help="What to call it [default: its folder].")
    ] = None,
    entities: Annotated[
        str | None,
        typer.Option(
            "--entities", metavar="FOLDER", help="Notes of that folder are each about one thing: entity pages."
        ),
    ] = None,
    trusted: Annotated[
        bool, typer.Option("--trusted", help="My own words: do not mark them as imported, let them count in beliefs.")
    ] = False,
    allow_secrets: Annotated[bool, typer.Option("--allow-secrets", help="Also take what looks like a secret.")] = False,
    everything: Annotated[bool, typer.Option("--all", help="Name everything that was left, however much.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", "-n", help="Print the diff and write nothing.")] = False,
) -> int:
    """Take in another memory. Nothing is overwritten; what was not understood is named. Run again, it goes on."""
    from ..memory import Memory
    from ..transfer.importing import ImportOptions

    options = ImportOptions(kind, name, entities, trusted, dry_run, allow_secrets)
    done = Memory(call.workspace, lambda: call.now).import_(source, options)
    _print(call, done, dry_run, everything)
    return 0 if done.pages or done.same or done.kept or done.known else 1


def _print(call: Call, done: "Imported", dry_run: bool, everything: bool) -> None:
    if call.out.json:
        left = [{"place": place, "reason": reason} for place, reason in done.left]
        counts = {
            "kind": done.kind,
            "pages": done.pages,
            "logs": done.logs,
            "same": done.same,
            "facts": done.kept,
            "known": done.known,
        }
        call.out.raw_json(counts | {"left": left, "warnings": done.warnings, "diff": done.diff})
        return
    if dry_run:
        for line in done.diff.splitlines():
            call.out.line(line)
    else:
        for path in (*done.pages, *done.logs):
            call.out.line(path)
    there = f"; here already: {done.same + done.known:,}" if done.same or done.known else ""
    verb = "would come" if dry_run else "came"
    call.out.note(f"{done.kind}: {_many(len(done.pages), 'page')} and {_many(done.kept, 'fact')} {verb} in{there}")
    shown = done.left if everything else done.left[:_SHOWN]
    for place, reason in shown:
        call.out.note(f"left: {place}: {reason}")
    if len(done.left) > len(shown):
        call.out.note(f"left: {len(done.left) - len(shown):,} more; --all names them")
    for warning in done.warnings:
        call.out.note(warning)


def _many(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def give_out(
    call: Call,
    what: Annotated[
        str, typer.Argument(metavar="[WHAT]", help="facts, or beliefs with their whole history.")
    ] = "facts",
    form: Annotated[
        str, typer.Option("--format", metavar="FORMAT", help="jsonl, csv, or sqlite (facts and beliefs in one file).")
    ] = "jsonl",
    output: Annotated[Path | None, typer.Option("--output", "-o", metavar="FILE", help="[default: stdout]")] = None,
    about: Annotated[
        list[str] | None, typer.Option("--about", "-a", metavar="NAME", help="Whom or what it is about.")
    ] = None,
    kinds: Annotated[list[str] | None, typer.Option("--kind", metavar="KIND", help="Facts of that kind.")] = None,
    since: Annotated[str | None, typer.Option("--since", metavar="WHEN", help="Facts from then on.")] = None,
    until: Annotated[str | None, typer.Option("--until", metavar="WHEN", help="Facts up to then.")] = None,
    as_of: Annotated[str | None, typer.Option("--as-of", metavar="WHEN", help="As it stood on that day.")] = None,
    public: Annotated[bool, typer.Option("--public", help="Without private facts.")] = False,
) -> int:
    """Write facts or beliefs as plain data: JSON lines, CSV, or a SQLite file."""
    from ..memory import Memory
    from ..recall.query import read_query
    from ..transfer.export import BELIEF_COLUMNS, FACT_COLUMNS, target_of

    if what not in ("facts", "beliefs"):
        raise Usage(f"{what!r} cannot be exported", "facts or beliefs")
    if form not in ("jsonl", "csv", "sqlite"):
        raise Usage(f"--format {form!r} is not known", "jsonl, csv or sqlite")
    if what == "beliefs" and form != "sqlite" and (kinds or since or until or len(about or ()) > 1):
        raise Usage("beliefs are chosen by one --about and --as-of", "export facts for the other filters")
    if form == "sqlite" and output is None:
        raise Usage("a SQLite file needs a name", "--output memory.db")
    target = None if output is None else target_of(output, call.workspace)
    query = read_query("", call.today, about=about or (), kinds=kinds or (), since=since, until=until, as_of=as_of)
    memory = Memory(call.workspace, lambda: call.now, tell=call.out.note)
    facts: list[Mapping[str, Any]] = []
    history: list[Mapping[str, Any]] = []
    if what == "facts" or form == "sqlite":
        memory.export_facts(query, facts.append, public=public)
    if what == "beliefs" or form == "sqlite":
        only = about[0] if about else None
        history += memory.export_beliefs(about=only, as_of=query.as_of, public=public)
    rows, columns = (facts, FACT_COLUMNS) if what == "facts" else (history, BELIEF_COLUMNS)
    if not rows and not (form == "sqlite" and (facts or history)):
        raise NothingFound(f"there are no {what} to export", _NO_ROWS[what])
    if form == "sqlite":
        _write_database(target or Path(), facts, history)
        count = len(facts) + len(history)
    else:
        _write_text(call, target, _csv(rows, columns) if form == "csv" else _jsonl(rows))
        count = len(rows)
    if output is not None:
        call.out.note(f"{_many(count, 'row')} in {output}")
    return 0


def _write_database(path: Path, facts: Sequence[Mapping[str, Any]], history: Sequence[Mapping[str, Any]]) -> None:
    from ..transfer.export import write_tables

    write_tables(path, {"facts": (("path", "line"), facts), "beliefs": (("belief", "number"), history)})


def _write_text(call: Call, path: Path | None, pieces: Iterator[str]) -> None:
    if path is None:
        for piece in pieces:
            call.out.line(piece.rstrip("\r\n"))
        return
    from ..transfer.export import replace_file

    replace_file(path, pieces)


def _jsonl(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for row in rows:
        yield json.dumps(row, ensure_ascii=True) + "\n"


def _csv(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> Iterator[str]:
    """RFC 4180; a list is its parts with `; ` between them, an object JSON, nothing an empty cell.

    What a spreadsheet would take for a formula gets a `'` before it: facts may be the words of strangers.
    """
    for row in (dict(zip(columns, columns, strict=True)), *rows):
        line = io.StringIO()
        csv.writer(line).writerow([_cell(row[name]) for name in columns])
        yield line.getvalue()


_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\uff1d", "\uff0b", "\uff0d", "\uff20")


def _cell(value: Any) -> str:
    text = _plain(value)
    return f"'{text}" if text.startswith(_FORMULA) and not isinstance(value, int | float) else text


def _plain(value: Any) -> str:
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False) if value else ""
    if isinstance(value, list):
        return "; ".join(map(str, value))
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
