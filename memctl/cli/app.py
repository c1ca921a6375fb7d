"""The command line: arguments in, one verb, its answer out. Each command imports its verb when it runs."""

import importlib
import sys
from datetime import date
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from ..errors import Usage
from .call import Call, command
from .output import Output

__all__ = ["app", "load"]

_HELP = {"help_option_names": ["-h", "--help"]}
app = typer.Typer(
    name="memctl",
    context_settings=_HELP,
    help="Offline memory for AI agents and people, in a folder of Markdown that they own.",
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
entity = typer.Typer(help="Who and what the workspace knows.", no_args_is_help=True, rich_markup_mode=None)
fact = typer.Typer(
    help="Slots: the newest line with an (entity, key) is current.", no_args_is_help=True, rich_markup_mode=None
)
app.add_typer(entity, name="entity")
app.add_typer(fact, name="fact")


_HERE = {"init", "retain", "recall", "show", "index", "status", "check", "fact"}
_ELSEWHERE = {
    "reflect": ("reflect", "belief", "why"), "conflicts": ("conflicts", "resolve"), "forget": ("forget",),
    "entity": ("entity",), "eval": ("eval",), "context": ("context",), "ingest": ("ingest",), "act": ("act",),
    "watch": ("watch",), "serve": ("serve", "mcp"), "connect": ("connect", "hook"), "transfer": ("import", "export"),
}  # fmt: skip
_loaded: set[str] = set()


def load(arguments: list[str]) -> typer.Typer:
    """The command line with the commands that `arguments` ask for; all of them where that is not one command's name.

    Commands cost start-up even where they are not called (0.4 ms each), so those of other modules join when they are.
    """
    first = next((word for word in arguments if not word.startswith("-")), None)
    wanted = [module for module, names in _ELSEWHERE.items() if first in names] if first not in _HERE else []
    for module in wanted if wanted or first in _HERE else _ELSEWHERE:
        if module not in _loaded:
            _loaded.add(module)
            importlib.import_module(f".{module}", __package__).register(entity if module == "entity" else app)
    return app


def _print_version(wanted: bool) -> None:
    if wanted:
        from .. import __version__

        Output().line(f"memctl {__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_print_version, help="Print the version.")
    ] = False,
) -> None:
    """What stands before the command."""


About = Annotated[
    list[str] | None,
    typer.Option("--about", "-a", metavar="NAME", help="Whom or what it is about; may be given again."),
]
OneAbout = Annotated[str | None, typer.Option("--about", "-a", metavar="NAME", help="Whose slot.")]
AsOf = Annotated[
    str | None, typer.Option("--as-of", metavar="WHEN", help="Answer as of that day, from what was known by then.")
]
DryRun = Annotated[bool, typer.Option("--dry-run", "-n", help="Print the diff and write nothing.")]
Limit = Annotated[int, typer.Option("--k", "-k", min=1, max=1000, help="How many at most.")]


def _word(name: str, text: str, metavar: str = "TEXT") -> object:
    return Annotated[str | None, typer.Option(name, metavar=metavar, help=text)]


@command(app, "init", "memctl init ~/notes --git")
def init(
    call: Call,
    folder: Annotated[Path, typer.Argument(metavar="[DIR]", help="The folder.")] = Path("."),
    git: Annotated[bool, typer.Option("--git", help="Add .gitignore and .gitattributes.")] = False,
) -> None:
    """Make a folder a workspace. Never overwrites; run again, it changes nothing."""
    from ..maintenance.init import MERGE, unmerged
    from ..maintenance.init import init as run

    workspace, made = run(Path(call.named) if call.named and folder == Path(".") else folder, git)
    if git and unmerged(workspace):
        call.out.note(f".gitattributes stays as it is, without `{MERGE}`: git will not merge the logs of two machines")
    if call.out.json:
        call.out.raw_json({"workspace": str(workspace.root), "made": made})
        return
    for path in made:
        call.out.line(path)
    call.out.note(f"{workspace.root} is a workspace" + ("" if made else " already; nothing changed"))


@command(app, "retain", 'memctl retain "Peter prefers concise replies" --about Peter --confidence 0.9')
def retain(
    call: Call,
    text: Annotated[
        list[str], typer.Argument(metavar="TEXT…", help="A grammar line or plain text; - reads lines from stdin.")
    ],
    kind: _word("--kind", "world, experience, opinion or observation.", "KIND") = None,  # type: ignore[valid-type]
    about: About = None,
    confidence: _word("--confidence", "How sure, from 0 to 1; makes an opinion.", "C") = None,  # type: ignore[valid-type]
    key: _word("--key", "The slot that it fills.", "KEY") = None,  # type: ignore[valid-type]
    when: _word("--when", "When it is true: 2025-11, 2025-11-27..2025-12-01.", "TIME") = None,  # type: ignore[valid-type]
    until: _word("--until", "The day on which it ends.", "DAY") = None,  # type: ignore[valid-type]
    importance: _word("--importance", "From 0 to 1.", "I") = None,  # type: ignore[valid-type]
    outcome: _word("--outcome", "ok or fail.", "OUTCOME") = None,  # type: ignore[valid-type]
    task: _word("--task", "What was attempted.") = None,  # type: ignore[valid-type]
    why: _word("--why", "Why it came out so.") = None,  # type: ignore[valid-type]
    supports: Annotated[list[str] | None, typer.Option("--for", metavar="ID", help="Evidence for that belief.")] = None,
    against: Annotated[list[str] | None, typer.Option("--against", metavar="ID", help="Evidence against it.")] = None,
    supersedes: Annotated[
        list[str] | None, typer.Option("--supersedes", metavar="ID", help="What it replaces.")
    ] = None,
    corrects: Annotated[list[str] | None, typer.Option("--corrects", metavar="ID", help="What was never true.")] = None,
    source: _word("--source", "user, agent, tool, web or import, with :name.", "SRC") = None,  # type: ignore[valid-type]
    ttl: _word("--ttl", "Forget after that long: 90d.", "SPAN") = None,  # type: ignore[valid-type]
    cue: Annotated[
        list[str] | None, typer.Option("--cue", metavar="TEXT", help="Other words to find it by; never shown.")
    ] = None,
    private: Annotated[bool, typer.Option("--private", help="Never leaves this machine through a server.")] = False,
    day: _word("--date", "The log's day [default: today].", "DAY") = None,  # type: ignore[valid-type]
    allow_secrets: Annotated[
        bool, typer.Option("--allow-secrets", help="Keep it even if it looks like a secret.")
    ] = False,
    dry_run: DryRun = False,
) -> None:
    """Write a fact down in today's log. When it answers, the fact is on disk."""
    from ..index.open_memory import OpenMemory
    from ..retain.retain import read_fact
    from ..retain.retain import retain as run
    from .printing import print_retained

    given = {
        "c": confidence, "key": key, "t": when, "until": until, "i": importance, "outcome": outcome, "task": task,
        "why": why, "src": source, "ttl": ttl, "private": "true" if private else None,
    }  # fmt: skip
    values: dict[str, list[str]] = {name: [value] for name, value in given.items() if value is not None}
    many = {"for": supports, "against": against, "supersedes": supersedes, "corrects": corrects, "cue": cue}
    values |= {name: list(items) for name, items in many.items() if items}
    lines = [line for line in sys.stdin.read().splitlines() if line.strip()] if text == ["-"] else [" ".join(text)]
    if not lines:
        raise Usage("nothing to retain on stdin", "pipe in one fact a line")
    facts = [read_fact(line, kind=kind, about=about or (), values=values) for line in lines]
    print_retained(
        call,
        run(OpenMemory(call.workspace), facts, _day(day, call.today), dry_run=dry_run, allow_secrets=allow_secrets),
        dry_run,
    )


def _day(written: str | None, today: date) -> date:
    from ..language.dates import parse_when

    if written is None:
        return today
    period = parse_when(written, today)
    if period is None or period.first is None or period.first != period.last:
        raise Usage(f"--date {written!r} is not a day", "write 2025-11-27 or yesterday")
    return period.first


@command(app, "recall", 'memctl recall "why PostgreSQL?" --since 90d --about Atlas')
def recall(
    call: Call,
    query: Annotated[
        list[str] | None, typer.Argument(metavar="[QUERY]…", help="Words; also @Name, kind:opinion, since:30d, key:db.")
    ] = None,
    k: Annotated[
        int | None, typer.Option("--k", "-k", min=1, max=1000, help="How many hits at most [default: 10].")
    ] = None,
    since: _word("--since", 'From then on: 30d, 2025-11, "last week".', "WHEN") = None,  # type: ignore[valid-type]
    until: _word("--until", "Up to then.", "WHEN") = None,  # type: ignore[valid-type]
    on: _word("--on", "Within that day, month or phrase.", "WHEN") = None,  # type: ignore[valid-type]
    as_of: AsOf = None,
    about: About = None,
    kind: Annotated[
        list[str] | None,
        typer.Option("--kind", metavar="KIND", help="world, experience, opinion, observation or note."),
    ] = None,
    key: _word("--key", "Only facts that fill this slot.", "KEY") = None,  # type: ignore[valid-type]
    min_confidence: Annotated[
        float | None, typer.Option("--min-confidence", min=0, max=1, help="Leave out opinions held less surely.")
    ] = None,
    no_vectors: Annotated[bool, typer.Option("--no-vectors", help="By words only.")] = False,
    hops: Annotated[
        int, typer.Option("--hops", min=1, max=3, help="2 or 3: also what the hits lead to by the names they share.")
    ] = 1,
    budget: Annotated[
        int | None, typer.Option("--budget", min=1, metavar="TOKENS", help="Never more than that many tokens.")
    ] = None,
    history: Annotated[bool, typer.Option("--history", help="Show every version of what a hit says.")] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Show how each score came about.")] = False,
    format: Annotated[
        str | None,
        typer.Option("--format", "-f", metavar="FORMAT", help="text, json, jsonl, md or paths [default: text]."),
    ] = None,
) -> int:
    """Find facts, each with its citation. Without a query: the newest within the filters."""
    from ..recall.query import read_query
    from ..recall.recall import recall as run
    from .printing import print_answer

    asked = read_query(
        " ".join(query or ()), call.today, about=about or (), kinds=kind or (), key=key, since=since, until=until, on=on,
        as_of=as_of, min_confidence=min_confidence,
    )  # fmt: skip
    if format not in (None, "text", "json", "jsonl", "md", "paths"):
        raise Usage(f"--format {format!r} is unknown", "text, json, jsonl, md or paths")
    workspace = call.workspace.without_model() if no_vectors else call.workspace
    if hops > 1:
        from ..recall.related import recall_further

        run = partial(recall_further, hops=hops)
    answer = run(workspace, asked, today=call.today, k=k or workspace.settings.k, history=history, budget=budget)
    return print_answer(call, answer, format or ("json" if call.out.json else "text"), explain)


@command(app, "show", "memctl show memory/2025-11-27.md#L12")
def show(
    call: Call,
    reference: Annotated[list[str], typer.Argument(metavar="REF", help="A citation, an id, an entity or a page.")],
    context: Annotated[int, typer.Option("--context", "-C", min=0, max=1000, help="Lines around it.")] = 3,
) -> None:
    """Print what a reference points at, with the lines around it; a line that moved is found by its id."""
    from ..recall.show import show as run
    from .printing import print_passages

    print_passages(call, run(call.workspace, " ".join(reference), context, call.out.note))


@command(app, "index", "memctl index --verify")
def index(
    call: Call,
    rebuild: Annotated[bool, typer.Option("--rebuild", help="Make the index anew from the Markdown.")] = False,
    verify: Annotated[bool, typer.Option("--verify", help="Compare it, row by row, with one made anew.")] = False,
    no_vectors: Annotated[bool, typer.Option("--no-vectors", help="Words only: embed nothing.")] = False,
) -> int:
    """Bring the index up to date, then embed what is new. All of it is derived: delete it at any moment."""
    from ..index.maintain import index as run
    from ..index.maintain import verify as compare
    from ..vectors.verify_vectors import verify_vectors
    from .index import print_and_embed
    from .printing import print_verified

    with call.out.progress("indexing") as progress:
        report = run(call.workspace, rebuild=rebuild, progress=progress)
    if verify:
        return print_verified(call, report, compare(call.workspace), verify_vectors(call.workspace))
    return print_and_embed(call, report, rebuild, not no_vectors)


@command(app, "status", "memctl status")
def status(
    call: Call,
    verify: Annotated[
        bool, typer.Option("--verify", help="Look at every vector, and at what the quick search misses of them.")
    ] = False,
) -> int:
    """Counts, freshness, sizes, and what is optional and missing."""
    from ..maintenance.status import status as run
    from ..vectors.verify_vectors import verify_vectors
    from .printing import print_status

    return print_status(call, run(call.workspace), verify_vectors(call.workspace) if verify else None)


@command(app, "check", "memctl check")
def check(call: Call) -> int:
    """Lint the workspace: grammar, citations, links, ids, secrets, conflicts. Exit code 1 if anything is found."""
    from ..maintenance.check import check as run
    from .printing import print_findings

    return print_findings(call, run(call.workspace, call.today))


@command(entity, "list", "memctl entity list")
def entity_list(call: Call) -> int:
    """Every entity with a page, and every name written as @Name or [[Name]]; most mentioned first."""
    from ..recall.entities import list_entities
    from .printing import print_entities

    return print_entities(call, list_entities(call.workspace, call.out.note))


@command(entity, "show", 'memctl entity show "Alex Chen"')
def entity_show(
    call: Call, name: Annotated[list[str], typer.Argument(metavar="NAME", help="A name or an alias.")], k: Limit = 10
) -> None:
    """One entity: its names, what holds now, its newest lines."""
    from ..recall.entities import show_entity
    from .printing import print_entity

    print_entity(call, show_entity(call.workspace, " ".join(name).removeprefix("@"), call.today, k, call.out.note))


@command(fact, "get", "memctl fact get city --about Peter")
def fact_get(
    call: Call, key: Annotated[str, typer.Argument(help="The slot.")], about: OneAbout = None, as_of: AsOf = None
) -> None:
    """The current value of a slot."""
    from ..recall.slots import get_fact
    from .printing import print_versions

    print_versions(call, get_fact(call.workspace, key, about, call.today, _as_of(as_of, call.today), call.out.note))


@command(fact, "history", "memctl fact history city --about Peter")
def fact_history(
    call: Call, key: Annotated[str, typer.Argument(help="The slot.")], about: OneAbout = None, as_of: AsOf = None
) -> None:
    """Every version of a slot, with the days on which it held."""
    from ..recall.slots import history
    from .printing import print_versions

    print_versions(call, history(call.workspace, key, about, call.today, _as_of(as_of, call.today), call.out.note))


@command(fact, "set", 'memctl fact set city "Lives in Lisbon" --about Peter')
def fact_set(
    call: Call,
    key: Annotated[str, typer.Argument(help="The slot.")],
    text: Annotated[list[str], typer.Argument(metavar="TEXT…", help="What holds from now on.")],
    about: OneAbout = None,
    when: _word("--when", "When it is true.", "TIME") = None,  # type: ignore[valid-type]
    dry_run: DryRun = False,
) -> None:
    """Fill a slot: retains a world fact with that key; older values become history."""
    from ..index.open_memory import OpenMemory
    from ..retain.retain import read_fact, retain
    from .printing import print_retained

    values = {"key": [key]} | ({"t": [when]} if when else {})
    made = read_fact(" ".join(text), about=[about] if about else (), values=values)
    print_retained(call, retain(OpenMemory(call.workspace), [made], call.today, dry_run=dry_run), dry_run)


def _as_of(written: str | None, today: date) -> date | None:
    from ..language.dates import parse_when

    if written is None:
        return None
    period = parse_when(written, today)
    if period is None:
        raise Usage(f"--as-of {written!r} is not understood", "write 2025-11-27, 2025-11 or 30d")
    return period.last or period.first
