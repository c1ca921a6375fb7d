"""The commands for agents and their hosts: a context, a reply with bracket commands, hooks, and connecting a host."""

import os
import sys
from contextlib import nullcontext
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import ExtraMissing, PageUnreadable, Refused, Usage
from .call import ABOUT, DRY_RUN, Call, answer_nobody, argument, command, flag, one_of, option

if TYPE_CHECKING:
    from ..agents.connect import Connected
    from ..memory import Pack

_MOST_BYTES = 16 * 1024 * 1024  # of a reply


@command("context", 'memctl context "why did we leave MongoDB?" --budget 4000', paged=True)
def context(
    call: Call,
    message: list[str] | None = argument("[MESSAGE]", "What the user says now; - reads it from stdin.", default=None),
    *,
    messages: str | None = option("--messages -m", "A chat as JSON (- for stdin): print the messages to send instead.", "FILE"),
    budget: int | None = option("--budget -b", "Never more tokens than that [default: 8000, or memctl.toml].", "TOKENS", min=1),
    about: list[str] | None = ABOUT,
    since: str | None = option("--since", 'Lines from then on: 30d, 2025-11, "last week".', "WHEN"),
    private: bool = flag("--private", "Private lines too: for a model on this machine only."),
    no_core: bool = flag("--no-core", "With --messages: no core and lessons in it."),
    inject: str | None = option("--inject", "With --messages: put recalled lines into the user or the system message [default: user, or memctl.toml].", "ROLE"),
    session: str | None = option("--session", "With --messages: keep what is stated in it under this name.", "NAME"),
    end: bool = flag("--end", "End that session: forget what was stated in it."),
    counter: str | None = option("--counter", "estimate, an encoding of tiktoken, or the path of a tokenizer.json [default: estimate, or memctl.toml].", "NAME"),
    format: str | None = option("--format -f", "text, json, stable or recalled [default: text].", "FORMAT"),
) -> None:  # fmt: skip
    """What an agent is given before it answers: core, lessons, recent lines, and what belongs to the message, cited."""
    one_of("--format", format, ("text", "json", "stable", "recalled"))
    one_of("--inject", inject, ("user", "system"), "user or system")
    if end or ((inject or session is not None) and messages is None):
        if not end or session is None or message or messages is not None:
            what = "--session and --inject go with --messages, --end with --session alone"
            raise Usage(what, "add --messages FILE, or leave the rest out")
        call.memory.end_session(session)
        return
    options: dict[str, Any] = {"budget": budget, "about": about or (), "since": since, "private": private}
    options["counter"] = counter
    is_json = format == "json" or (call.out.json and format is None)
    if messages is None:
        text = sys.stdin.read() if message == ["-"] else " ".join(message or ())
        _print_pack(call, call.memory.context(text, stable=format != "recalled", **options), format, is_json)
        return
    if message or format in ("stable", "recalled"):
        raise Usage("--messages takes neither MESSAGE nor that --format", "the chat ends with the message")
    source, file = ("stdin", "chat") if messages == "-" else (messages, Path(messages).name)
    options |= {"core": not no_core, "inject": inject, "session": session}
    made = call.memory.chat(_chat_text(messages), source=source, name=file, **options)
    call.out.note(*made.warnings)
    call.out.raw_json(made.as_json() if call.out.json or is_json else made.messages)
    left = f"messages not sent: {made.dropped}, lines recalled: {len(made.items)}"
    call.out.note(f"{made.used} of {made.budget} tokens; {left}")


def _print_pack(call: Call, pack: "Pack", format: str | None, is_json: bool) -> None:
    call.out.note(*pack.warnings)
    if is_json:
        call.out.raw_json(pack.as_json())
        return
    text = {"stable": pack.stable, "recalled": pack.recalled}.get(format or "", pack.text)
    call.out.line(*(text.split("\n") if text else ()))
    spent = ", ".join(f"{name} {tokens}" for name, tokens in pack.layers.items())
    call.out.note(f"{pack.used} of {pack.budget} tokens: {spent}")


def _chat_text(file: str) -> str:
    """The text of a file of messages, or of stdin; PageUnreadable or Usage for what cannot be read."""
    cure = "name a file of messages as JSON in UTF-8"
    data = _read(file, cure)
    try:
        return data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
    except UnicodeDecodeError as error:
        raise Usage(f"{file}: byte {error.start} is not UTF-8", cure) from error


def _read(file: str, cure: str, most: int = -1) -> bytes:
    """At most so many bytes of a file, or of stdin."""
    try:
        with nullcontext(sys.stdin.buffer) if file == "-" else open(file, "rb") as stream:
            return stream.read(most)
    except OSError as error:
        raise PageUnreadable(Path(file).name, error.strerror or str(error), cure) from error


@command("act", "memctl act reply.txt")
def act(
    call: Call,
    file: str = argument("[FILE]", "The reply; - is stdin [default: -].", default="-"),
    read_only: bool = flag("--read-only", "Refuse SAVE_FACT and SAVE_DOC."),
    private: bool = flag("--private", "Show private lines too: for a model on this machine only."),
    dry_run: bool = flag("--dry-run -n", "Print the diff of what would be saved, and save nothing."),
) -> int:
    """Do what the bracket commands in a model's reply ask for. Prints the reply without them, then the results.

    Exit code 1 if any command was refused, failed or found nothing; the others are done all the same.
    """
    from ..agents.act import act as run

    # Bytes that are not UTF-8 are shown as such.
    reply = _read(file, "name a file that holds the reply", _MOST_BYTES).decode("utf-8-sig", "replace")
    done = run(call.memory, reply.replace("\r\n", "\n"), dry_run=dry_run, read_only=read_only, private=private)
    if call.out.json:
        results = [result.as_json() for result in done.results]
        call.out.raw_json({"schema": 1, "reply": done.reply, "results": results, "ignored": done.ignored})
    elif done.reply.strip():
        call.out.line(*done.reply.strip("\n").split("\n"), *([""] if done.results else ()))
    for result in () if call.out.json else done.results:
        cure = f"; {result.cure}" if result.cure else ""
        call.out.line(f"[{result.command}] {'' if result.ok else 'failed: '}{result.told}{cure}")
        for text in filter(None, (result.diff.removesuffix("\n"), result.fenced)):
            call.out.line(*text.split("\n"))
    if done.ignored:
        call.out.note(f"not done, because in code, a quote, a comment or thinking: {done.ignored}")
    return 0 if all(result.ok for result in done.results) else 1


@command("connect", "memctl connect claude-code --write")
def connect(
    call: Call,
    host: str = argument("HOST", "claude-code, openclaw, codex or cursor."),
    *,
    write: bool = flag("--write", "Merge it into the files; otherwise only show it."),
    undo: bool = flag("--undo", "Take out of the files what memctl put there."),
    scope: str = option("--scope", "user: your own files; project: those of this folder.", "SCOPE", default="user"),
    allow_write: bool = flag("--allow-write", "Let the MCP server answer, retain, reflect and forget."),
    no_hooks: bool = flag("--no-hooks", "Without hooks."),
    plugin: Path | None = option("--plugin", "claude-code: make it a plugin in this folder, to be installed.", "DIR"),
    program: str | None = option("--command", "How the host starts memctl [default: as you did now].", "WORDS"),
    dry_run: bool = DRY_RUN,
) -> None:
    """Connect an agent to this workspace: MCP server, hooks, instructions, in the files where its host looks for them."""
    from ..agents.connect import connect_host as run
    from ..agents.hosts import HOSTS, SCOPES, Wish
    from ..system import shell_quoted

    if host not in HOSTS:
        raise Usage(f"no host {host!r} is known", f"one of {', '.join(HOSTS)}; docs/connect.md has what others need")
    one_of("--scope", scope, SCOPES, "user or project")
    if write and undo:
        raise Usage("--write and --undo exclude each other")
    try:
        folder = Path.cwd()
    except FileNotFoundError:
        folder = Path()
        if scope == "project":
            raise Usage("the current folder is gone", "go into the project, then run it again") from None
    if plugin is not None:
        if host != "claude-code" or scope != "user":
            raise Usage("--plugin is for claude-code alone", "leave out --scope; the others take `memctl connect HOST`")
        scope, folder = "plugin", Path(os.path.abspath(plugin.expanduser()))
    words = _this_program() if program is None else _named_program(program)
    wish = Wish(
        host, scope, call.memory.workspace.root, words, shell_quoted, os.environ, Path.home(), folder,
        allow_write=allow_write, hooks=not no_hooks,
    )  # fmt: skip
    is_wanted = (write or undo) and not dry_run
    made = run(call.memory.workspace, wish, undo=undo, write=is_wanted)
    if call.out.json:
        told = {"schema": 1, "host": host, "scope": scope, "undo": undo, "written": made.written}
        call.out.raw_json(told | {"files": [file.as_json() for file in made.files], "notes": made.notes})
    else:
        _print_files(call, made, is_wanted, undo)
    if made.problems:
        file = made.problems[0]
        left = "nothing was written" if is_wanted else "it would be left alone"
        cure = "add what is shown by hand, or move that part of the file away"
        if undo:
            cure = "take that part out by hand, then run it again"
        raise Refused(f"{file.host_file.path}: {file.problem}; {left}", cure)
    if not call.out.json and not is_wanted and any(file.diff for file in made.files):
        call.out.note("nothing is written yet: " + ("run it without --dry-run" if undo else "add --write"))
    if program is None and not undo and find_spec("pydantic") is None:
        lacking = ExtraMissing("serve", "what `memctl mcp` needs")
        call.out.note(f"the MCP server does not start yet: {lacking.what}; `{lacking.cure}`")


def _named_program(program: str) -> tuple[str, ...]:
    """The words of --command; a path is made absolute."""
    from ..system import words_of_command

    try:
        words = words_of_command(program)
    except ValueError as error:
        raise Usage(f"--command is not understood: {error}", "quote it as for a shell") from None
    if not words:
        raise Usage("--command is empty", "name the program, as in --command 'uvx --from memctl-workspace memctl'")
    first = os.path.abspath(os.path.expanduser(words[0])) if os.path.dirname(words[0]) else words[0]
    return (first, *words[1:])


def _this_program() -> tuple[str, ...]:
    """The words that start the memctl which runs now, from any folder."""
    script = os.path.abspath(sys.argv[0])
    if os.path.basename(script).lower() in ("memctl", "memctl.exe") and os.access(script, os.X_OK):
        return (script,)
    return (sys.executable, "-m", "memctl")


_DONE = {"new": "made", "changed": "changed", "removed": "removed", "same": "as it is", "refused": "left alone"}
_PLANNED = {"new": "would be made", "changed": "would change", "removed": "would be removed", "same": "as it is"}


def _print_files(call: Call, made: "Connected", is_wanted: bool, undo: bool) -> None:
    """What was done to each file, or would be; what could not be done to it, to be done by hand."""
    is_done = is_wanted and not made.problems
    for file in made.files:
        path = file.host_file.path
        is_linked = os.path.islink(path) or os.path.islink(path.parent)  # as dotfiles often are
        link = f" -> {file.host_file.target}" if is_linked else ""
        states = _DONE if is_done or file.problem else _PLANNED
        call.out.line(f"{path}{link}: {file.title}, {states[file.state]}")
        if file.problem:
            call.out.line(f"  {file.problem}; {'this was put there' if undo else 'this belongs there'}:")
        call.out.lines(file.fragment if file.problem else "" if is_done else file.diff)
    call.out.note(*made.notes)


@command("hook", "memctl hook prompt < event.json")
def hook(call: Call, event: str = argument("EVENT", "session-start, prompt, post-edit, pre-compact or session-end.")) -> None:  # fmt: skip
    """What hosts run at certain moments: reads their JSON on stdin, answers in theirs. Never fails, never keeps them waiting."""
    from ..agents.hooks import run_hook

    answer = run_hook(event, call.named, call.now, sys.stdin)
    try:
        if answer:
            call.out.raw_json(answer)
            call.out.flush()
    except OSError:  # the reader is gone, or a full disk
        answer_nobody()
