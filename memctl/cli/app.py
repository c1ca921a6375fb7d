"""The command line: which module has which command, and the commands about the workspace, its index and the shell."""

import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperGroup

from ..errors import MemctlError, NoWorkspace
from ..markdown.escape import many
from .call import HELP, Call, argument, command, flag, join, one_of
from .output import Output

if TYPE_CHECKING:
    from ..memory import EmbedReport, Made, SyncReport, VectorsChecked

_COMMANDS = {
    "Start": {"init": "app", "connect": "agents", "completion": "app", "status": "app"},
    "Write": {"retain": "facts", "ingest": "transfer", "import": "transfer"},
    "Ask": {"recall": "facts", "why": "beliefs", "context": "agents"},
    "Look": {"show": "facts", "open": "moves", "log": "moves", "timeline": "pictures", "graph": "pictures", "view": "pictures", "fact": "facts", "entity": "entities", "docs": "entities", "belief": "beliefs", "lessons": "beliefs"},
    "Tend": {
        "review": "review", "reflect": "beliefs", "conflicts": "beliefs", "resolve": "beliefs", "undo": "moves", "forget": "forget", "check": "app",
        "index": "app", "eval": "eval", "vault": "vault", "export": "transfer",
        "publish": "shared",
    },
    "For programs": {"mcp": "servers", "serve": "servers", "watch": "servers", "act": "agents", "hook": "agents"},
}  # fmt: skip
"""What people do, and the commands for it with the module of each, in the order of `memctl --help`."""
_MODULES = {name: module for commands in _COMMANDS.values() for name, module in commands.items()}
_SHELLS = ("bash", "zsh", "fish")
_SCRIPTS = Path(__file__).parents[1] / "shell"


class _Grouped(TyperGroup):
    """The program, whose help lists the commands by what people do with them."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write a section for each group; a description that is too long for the terminal is wrapped, not cut."""
        for title, commands in _COMMANDS.items():
            with formatter.section(title):
                formatter.write_dl([(name, self.commands[name].get_short_help_str(200)) for name in commands])


app = typer.Typer(
    name="memctl",
    cls=_Grouped,
    context_settings=HELP,
    help="Offline memory for AI agents and people, in a folder of Markdown that they own.",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def load(arguments: list[str]) -> typer.Typer:
    """The command line with the commands that `arguments` ask for; all of them where that is not one command's name.

    Commands cost start-up even where they are not called (0.4 ms each), so they join when they are.
    """
    first = next((word for word in arguments if not word.startswith("-")), "")
    wanted = [_MODULES[first]] if first in _MODULES else list(dict.fromkeys(_MODULES.values()))
    for module in wanted:
        join(app, importlib.import_module(f".{module}", __package__).__name__)
    order = list(_MODULES)
    app.registered_commands.sort(key=lambda each: order.index(each.name or ""))
    app.registered_groups.sort(key=lambda each: order.index(each.name or ""))
    return app


def _print_version(wanted: bool) -> None:
    if wanted:
        from .. import __version__

        Output().line(f"memctl {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def main(
    context: typer.Context,
    version: bool = typer.Option(False, "--version", is_eager=True, callback=_print_version, help="Print the version."),
) -> None:
    """What stands before the command; without a command, where you are and what to do next."""
    if context.invoked_subcommand is None:
        _print_overview(Output())


def _print_overview(out: Output) -> None:
    from .. import __version__
    from ..memory import open_memory

    next_steps = [("recall QUESTION", "ask"), ("retain FACT", "write a fact down")]
    try:
        memory = open_memory(resident=False)
        out.table(("", ""), memory.glance().lines())
        next_steps += [("status", "more about this workspace")]
    except NoWorkspace as error:
        out.say(f"memctl {__version__}, offline memory in a folder of Markdown; {error.what}", 0)
        next_steps = [("init ~/notes --git", "make one"), ("recall QUESTION -w DIR", "or ask any folder of Markdown")]
    except MemctlError as error:
        out.say(f"{error.what}; {error.cure}", 0)
    out.line("Next:")
    for words, purpose in [*next_steps, ("--help", "every command")]:
        out.line(f"  memctl {words:24}{purpose}")


@command("init", "memctl init ~/notes --git")
def init(
    call: Call,
    folder: Path = argument("[DIR]", "The folder.", default=Path(".")),
    git: bool = flag(
        "--git", "Keep it in git: .gitignore and .gitattributes, a repository, a first commit of these files."
    ),
    vault: bool = flag("--vault", "Make a key pair for sealed lines, and memctl.vault."),
    passphrase: bool = flag("--passphrase", "With --vault: a passphrase locks the key, which stands in memctl.vault."),
) -> None:
    """Make a folder a workspace. Never overwrites; run again, it changes nothing."""
    from ..memory import init_workspace

    made = init_workspace(Path(call.named) if call.named and folder == Path(".") else folder, git=git)
    if vault:
        from ..memory import open_memory
        from .vault import ask

        key = open_memory(made.root, now=call.now, resident=False).vault(ask).make(passphrase)
        made.notes.extend(key.notes)
        made.paths.extend(["memctl.vault"] if key.diff else [])
    call.out.note(*made.notes)
    if call.out.json:
        call.out.raw_json({"workspace": str(made.root), "made": made.paths})
        return
    for path in made.paths:
        call.out.line(path)
    call.out.note(f"{made.root} is a workspace" + ("; next:" if made.paths else " already; nothing changed"))
    call.out.note(*(f"  {line}" for line in (_first_steps(made, folder) if made.paths else ())))


def _first_steps(made: "Made", folder: Path) -> list[str]:
    """Three commands that lead to a first answer in that workspace; what the folder held before is asked first."""
    import shlex

    where = "" if made.root == Path.cwd().resolve() else f" -w {shlex.quote(str(folder))}"
    written = f'memctl retain "Prefers concise replies" --about Peter{where}'
    asked = f'memctl recall "{"what did we decide" if made.found else "how does Peter like replies"}?"{where}'
    return [*([asked, written] if made.found else [written, asked]), f"memctl connect claude-code{where}"]


@command("completion", "memctl completion fish > ~/.config/fish/completions/memctl.fish")
def completion(call: Call, shell: str = argument("SHELL", "bash, zsh or fish.")) -> None:
    """Print the script by which a shell completes commands, options, names, keys, ids and days at TAB.

    It is printed once: it asks memctl itself, and so stays right when that is updated. A new shell reads it from

    \b
    bash  ~/.local/share/bash-completion/completions/memctl
          (without the package bash-completion: source it in ~/.bashrc)
    zsh   a folder of $fpath, as _memctl:
          mkdir -p ~/.zfunc; memctl completion zsh > ~/.zfunc/_memctl
          and in ~/.zshrc: fpath+=~/.zfunc; autoload -Uz compinit; compinit
    fish  ~/.config/fish/completions/memctl.fish
    """
    one_of("shell", shell, _SHELLS)
    for line in (_SCRIPTS / f"completion.{shell}").read_text("utf-8").splitlines():
        call.out.line(line)


# -- index ------------------------------------------------------------------------------------------------------------


@command("index", "memctl index --verify")
def index(
    call: Call,
    rebuild: bool = flag("--rebuild", "Make the index again from the Markdown."),
    verify: bool = flag("--verify", "Compare it, row by row, with one made again."),
    no_vectors: bool = flag("--no-vectors", "Words only: embed nothing."),
) -> int:
    """Bring the index up to date, then embed what is new. All of it is derived: delete it at any moment."""
    stopped = "stopped: what was indexed so far is kept; run `memctl index` again to go on"
    with call.progress("indexing", stopped) as memory:
        report = memory.sync(rebuild=rebuild)
    return _verify(call, report) if verify else _embed(call, report, rebuild, not no_vectors)


def _report_json(report: "SyncReport") -> dict[str, Any]:
    counts = {"read": report.read, "dropped": report.dropped, "unchanged": report.unchanged}
    return {"schema": 1, **counts, "problems": report.problems, "stale": report.stale}


def _verify(call: Call, report: "SyncReport") -> int:
    """Print whether the index equals one made again, and the vectors are whole; the exit code is 1 if they are not."""
    with call.progress("comparing with one made again") as memory:
        verified, vectors = memory.verify(), memory.verify_vectors()
    if call.out.json:
        found = _report_json(report) | {"rows": verified.rows, "differences": list(verified.differences)}
        call.out.raw_json(found | {"verified_vectors": vectors._asdict() if vectors else None})
    elif not verified.differences:
        call.out.line(f"{verified.rows} rows, all as a rebuild makes them")
    else:
        for difference in verified.differences:
            call.out.line(difference)
        call.out.note("run `memctl index --rebuild`, and please report how this came about")
    return max(_print_vectors(call, vectors), 1 if verified.differences else 0)


def _embed(call: Call, report: "SyncReport", is_rebuilt: bool, vectors: bool) -> int:
    """Print what a sync did, embed what has no vector yet, and print that too.

    What kept it from embedding is raised at the end, when all else is printed.
    """
    out = call.out
    if not out.json:
        out.line(f"{report.read} read, {report.dropped} dropped, {report.unchanged} unchanged")
        out.note(*(f"{path}: {told}" for path, told in sorted(report.problems.items())))
        if report.stale:
            out.note(f"stale: {report.stale}")
        out.flush()  # embedding may take hours
    done: EmbedReport | None = None
    problem: MemctlError | None = None
    try:
        if vectors:
            with call.progress("embedding (words are ready)") as memory:
                done = memory.embed()
                problem = done.problem if done else None
    except MemctlError as error:
        problem = error
    if out.json:
        out.raw_json(_report_json(report) | {"vectors": _embed_json(done, problem)})
    elif done:
        _print_embedded(call, done, is_rebuilt)
    if problem:
        raise problem
    return 0


def _print_embedded(call: Call, done: "EmbedReport", is_rebuilt: bool) -> None:
    speed = f" in {done.seconds:,.1f} s, {done.rate:,.1f} a second" if done.made else ""
    covered = f"{done.entries - done.missing:,} of {done.entries:,} entries have vectors"
    call.out.line(f"{done.made:,} embedded with {done.model}{speed}; {covered}")
    if is_rebuilt and done.entries > done.made:
        call.out.note("vectors are kept: each belongs to its text, whatever becomes of the index")
    if done.stopped and not done.problem:
        call.out.note(done.stopped)


def _embed_json(done: "EmbedReport | None", problem: MemctlError | None) -> dict[str, Any] | None:
    if done is None:
        return {"problem": problem.what} if problem else None
    counts = {"model": done.model, "embedded": done.made, "entries": done.entries, "missing": done.missing}
    return counts | {"seconds": round(done.seconds, 3), "stopped": done.stopped}


def _print_vectors(call: Call, vectors: "VectorsChecked | None") -> int:
    """The exit code is 1 for damaged vectors."""
    if vectors is None:
        return 0
    if not call.out.json:
        whole = ", all as they were written" if not vectors.problems else ""
        call.out.line(f"{many(vectors.vectors, 'vector')} of {many(vectors.texts, 'text')}{whole}")
        if vectors.recall is not None:
            call.out.line(f"recall@10 of the search against all compared: {vectors.recall:.3f} ({vectors.asked} asked)")
        for problem in vectors.problems[:20]:
            call.out.line(problem)
        if vectors.problems:
            call.out.note("run `memctl index`: what is damaged is embedded again")
    return 1 if vectors.problems else 0


# -- status, check ----------------------------------------------------------------------------------------------------


@command("status", "memctl status")
def status(
    call: Call, verify: bool = flag("--verify", "Look at every vector, and at what the quick search misses of them.")
) -> int:
    """Counts, freshness, sizes, and what is optional and missing."""
    found = call.memory.status()
    vectors = call.memory.verify_vectors() if verify else None
    if call.out.json:
        checked = {"verified_vectors": vectors._asdict()} if vectors else {}
        call.out.raw_json({"schema": 1} | found.as_json() | checked)
    else:
        call.out.table(("what", "value"), found.lines())
    return _print_vectors(call, vectors)


@command("check", "memctl check", paged=True)
def check(call: Call) -> int:
    """Lint the workspace: grammar, citations, links, ids, secrets, conflicts. Exit code 1 if anything is found."""
    with call.progress("checking") as memory:
        findings = memory.check()
    if call.out.json:
        call.out.raw_json({"schema": 1, "findings": [finding.as_json() for finding in findings]})
    else:
        for each in findings:
            call.out.say(f"{each.path}:{each.line}:{each.column}: {each.rule}: {each.message}; {each.cure}", 3)
        call.out.note(f"{len(findings)} found" if findings else "nothing to complain about")
    return 1 if findings else 0
