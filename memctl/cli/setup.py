"""The commands about the workspace, its index, its vault and the shell: `init`, `completion`, `index`, `status`, `check`, `vault`."""

import contextlib
import io
import os
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import MemctlError, Usage
from ..facts import fields
from ..markdown.escape import many
from .call import DRY_RUN, Call, argument, command, flag, one_of

if TYPE_CHECKING:
    from ..memory import EmbedReport, Vault, VectorsChecked

_SCRIPTS = Path(__file__).parents[1] / "shell"


@command("init", "memctl init ~/notes --git")
def init(
    call: Call,
    folder: Path = argument("[DIR]", "The folder.", default=Path(".")),
    git: bool = flag("--git", "Keep it in git: .gitignore and .gitattributes, a repository, a first commit of these files."),
    vault: bool = flag("--vault", "Make a key pair for sealed lines, and memctl.vault."),
    passphrase: bool = flag("--passphrase", "With --vault: lock the key with a passphrase, and keep it in memctl.vault."),
) -> None:  # fmt: skip
    """Make a folder a workspace. Never overwrites; run again, it changes nothing."""
    from ..memory import init_workspace, open_memory

    made = init_workspace(Path(call.named) if call.named and folder == Path(".") else folder, git=git)
    if vault:
        key = open_memory(made.root, now=call.now, resident=False).vault(ask).make(passphrase)
        made.notes.extend(key.notes)
        made.paths.extend(["memctl.vault"] if key.diff else [])
    call.out.note(*made.notes)
    if call.out.json:
        call.out.raw_json({"schema": 1, "workspace": str(made.root), "made": made.paths})
        return
    call.out.line(*made.paths)
    if not made.paths:
        call.out.note(f"{made.root} is a workspace already; nothing changed")
        return
    where = "" if made.root == Path.cwd().resolve() else f" -w {shlex.quote(str(folder))}"
    written = f'  memctl retain "Prefers concise replies" --about Peter{where}'
    asked = f'  memctl recall "{"what did we decide" if made.found else "how does Peter like replies"}?"{where}'
    first, second = (asked, written) if made.found else (written, asked)  # what the folder held before is asked first
    call.out.note(f"{made.root} is a workspace; next:", first, second, f"  memctl connect claude-code{where}")


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
    one_of("shell", shell, ("bash", "zsh", "fish"))
    call.out.line(*(_SCRIPTS / f"completion.{shell}").read_text("utf-8").splitlines())


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
    told = {"schema": 1} | fields(report, "read dropped unchanged problems stale")
    if verify:
        return _verify(call, told)
    if not call.out.json:
        call.out.line(f"{report.read} read, {report.dropped} dropped, {report.unchanged} unchanged")
        call.out.note(*(f"{path}: {problem}" for path, problem in sorted(report.problems.items())))
        if report.stale:
            call.out.note(f"stale: {report.stale}")
        call.out.flush()  # embedding may take hours
    _embed(call, told, rebuild, not no_vectors)
    return 0


def _verify(call: Call, told: dict[str, Any]) -> int:
    """Print whether the index equals one made again, and the vectors are whole; the exit code is 1 if they are not."""
    with call.progress("comparing with one made again") as memory:
        verified, vectors = memory.verify(), memory.verify_vectors()
    if call.out.json:
        found = {"rows": verified.rows, "differences": list(verified.differences)}
        call.out.raw_json(told | found | {"verified_vectors": vectors._asdict() if vectors else None})
    elif not verified.differences:
        call.out.line(f"{many(verified.rows, 'row')}, all as a rebuild makes them")
    else:
        call.out.line(*verified.differences)
        call.out.note("run `memctl index --rebuild`, and please report how this came about")
    return max(_print_vectors(call, vectors), 1 if verified.differences else 0)


def _embed(call: Call, told: dict[str, Any], is_rebuilt: bool, is_wanted: bool) -> None:
    """Embed what has no vector yet, if `is_wanted`, and print that. What kept it from that is raised when all else is printed."""
    done: EmbedReport | None = None
    problem: MemctlError | None = None
    try:
        if is_wanted:
            with call.progress("embedding (words are ready)") as memory:
                done = memory.embed()
                problem = done.problem if done else None
    except MemctlError as error:
        problem = error
    if call.out.json:
        made: dict[str, Any] | None = {"problem": problem.what} if problem else None
        if done:
            made = fields(done, "model embedded=made entries missing seconds stopped")
            made["seconds"] = round(done.seconds, 3)
        call.out.raw_json(told | {"vectors": made})
    elif done:
        rate = done.made / done.seconds if done.seconds else 0.0
        speed = f" in {done.seconds:,.1f} s, {rate:,.1f} a second" if done.made else ""
        covered = f"{done.entries - done.missing:,} of {done.entries:,} entries have vectors"
        call.out.line(f"{done.made:,} embedded with {done.model}{speed}; {covered}")
        if is_rebuilt and done.entries > done.made:
            call.out.note("vectors are kept: they belong to the text of lines, not to the index")
        if done.stopped and not done.problem:
            call.out.note(done.stopped)
    if problem:
        raise problem


def _print_vectors(call: Call, vectors: "VectorsChecked | None") -> int:
    """The exit code is 1 for damaged vectors."""
    if vectors is None:
        return 0
    if not call.out.json:
        whole = ", all as they were written" if not vectors.problems else ""
        call.out.line(f"{many(vectors.vectors, 'vector')} of {many(vectors.texts, 'text')}{whole}")
        call.out.line(*vectors.problems[:20])
        if vectors.problems:
            call.out.note("run `memctl index`: what is damaged is embedded again")
    return 1 if vectors.problems else 0


@command("status", "memctl status")
def status(call: Call, verify: bool = flag("--verify", "Look at every vector.")) -> int:
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
        return call.out.raw_json({"schema": 1, "findings": [each._asdict() for each in findings]}, not findings)
    for each in findings:
        call.out.say(f"{each.path}:{each.line}:{each.column}: {each.rule}: {each.message}; {each.cure}", 3)
    call.out.note(f"{many(len(findings), 'problem')} found" if findings else "no problems found")
    return 1 if findings else 0


@command("vault", "memctl vault add age1qyqszqgp…")
def vault(
    call: Call,
    action: str = argument("[ACTION]", "list, add, remove or rekey.", default="list"),
    recipient: str = argument("[RECIPIENT]", "Whom to add or remove: a public key of age.", default=""),
    dry_run: bool = DRY_RUN,
) -> int:
    """Who opens the sealed lines.

    `add` and `remove` seal every line again; what somebody has copied, and git's history, they still read. `rekey` puts a
    new key in the place of the one here, which stays for old versions of pages.
    """
    one_of("ACTION", action, ("list", "add", "remove", "rekey"))
    held = call.memory.vault(ask)
    if action == "list":
        found = held.recipients()
        if call.out.json:
            call.out.raw_json({"schema": 1, "recipients": [{"key": key, "here": here} for key, here in found.items()]})
        else:
            call.out.table(("recipient", "here"), list(found.items()))
        return 0
    done = held.change(action, recipient, dry_run=dry_run)
    call.out.note(*done.notes)
    if call.out.json:
        call.out.raw_json({"schema": 1, "dry_run": dry_run} | done._asdict())
    elif dry_run:
        call.out.diff(done.diff)
    else:
        call.out.line(f"{many(done.lines, 'line')} sealed again")
    return 1 if done.left else 0


def ask(prompt: str) -> str:
    """What the owner types on the terminal, unseen; Usage without a terminal."""
    if not sys.stdin.isatty():
        raise Usage(f"no terminal to ask on: {prompt}", "run it on a terminal")
    from getpass import getpass

    return getpass(prompt)


@contextlib.contextmanager
def unsealed(call: Call, format: str = "text") -> Iterator["Vault"]:
    """The vault, to open lines: what is printed meanwhile stands on this terminal until Enter, and never in a pipe."""
    is_screen = sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
    if call.out.json or format != "text" or not is_screen:
        raise Usage("--unseal shows text on a terminal alone", "leave out the pipe, --json and --format")
    with contextlib.redirect_stdout(io.StringIO()) as shown:
        yield call.memory.vault(ask)
    call.out.show_once(shown.getvalue())
