"""What each host of agents is told about memctl, in which of its files, and how that is put into a text and out again.

Pure steps from text to text: every other byte stays. What is there already and says something else is a person's: Misfit, and
the text is not touched. docs/connect.md names the page of each host's documentation that a format follows.
"""

import json
import tomllib
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from .. import __version__
from ..markdown.blocks import edited, splice
from ..markdown.lines import common_start
from ..markdown.markers import find_blocks
from .hooks import EVENTS
from .jsonc import JsonNode, Misfit, insert, parse_jsonc, remove_member, same, where

BLOCK = "memctl"  # the name of the managed block in Markdown files
# One line above: Codex rewrites its tables without their comments, and a line below ours would come to stand elsewhere.
_TOML_HEAD = "# memctl: `memctl connect codex --undo` takes this table out"


class HostEntry(NamedTuple):
    """What a JSON file is to say: `value` at `path`."""

    path: tuple[str, ...]
    value: Any
    item: bool = False  # as one more item of the list there
    optional: bool = False  # left alone where the file says something else
    kin: str = ""  # text that tells an item of ours that was changed from somebody else's


class File(NamedTuple):
    """A file of a host: `form` is json, json5, toml (one of the `pieces`, a table), block (`body` in Markdown) or whole (`body`)."""

    place: str
    form: str
    title: str
    pieces: tuple[HostEntry, ...] = ()
    body: str = ""


class Put(NamedTuple):
    """A text with ours in it: `spans` (start, length) are what was inserted, in turn, `made` the paths that were not there before."""

    text: str
    spans: tuple[tuple[int, int], ...] = ()
    made: tuple[tuple[str, ...], ...] = ()


def with_ours(text: str | None, file: File) -> Put:
    """The text of a file (None: it does not exist) with ours in it. Misfit, Malformed where that cannot be done safely."""
    if file.form in ("json", "json5"):
        return _put_json(text or "", file)
    if file.form == "toml":
        return _put_toml(text or "", file.pieces[0])
    if file.form == "block":
        return _put_block(text or "", file.body)
    if text is None or not text.strip() or _is_ours(text, file.body):
        return Put(file.body)
    raise Misfit("the file exists already, with a text that memctl did not write")


def take(text: str, file: File, made: Collection[tuple[str, ...]] = ()) -> str | None:
    """The text of a file without ours, None where it held nothing else; `made` are the paths that ours had brought along.

    Misfit, Malformed where that cannot be done safely.
    """
    if file.form in ("json", "json5"):
        return _take_json(text, file, made)
    if file.form == "toml":
        return _take_toml(text, file.pieces[0])
    if file.form == "block":
        if edited(text, BLOCK):
            raise Misfit("the block of memctl was changed by hand")
        return splice(text, BLOCK, "")
    if not _is_ours(text, file.body):
        raise Misfit("it was changed by hand")
    return None


def revert(text: str, spans: Sequence[Sequence[int]]) -> str:
    """The text before these insertions."""
    for start, length in reversed(spans):
        text = text[:start] + text[start + length :]
    return text


def _put_json(text: str, file: File) -> Put:
    json5 = file.form == "json5"
    bom = "\ufeff" if text.startswith("\ufeff") else ""
    body = text.removeprefix(bom)
    if not body.strip():  # an empty file: all of the document is ours
        new = _put_json("{}\n", file)
        return Put(bom + new.text + body, ((len(bom), len(new.text)),), new.made)
    spans: list[tuple[int, int]] = []
    made: list[tuple[str, ...]] = []
    for piece in file.pieces:
        root = parse_jsonc(body, json5)
        if _says(where(root, piece.path), piece):
            continue
        ways = (piece.path[:depth] for depth in range(1, len(piece.path) + (piece.item or piece.optional)))
        made += [way for way in ways if where(root, way) is None]
        for at, more in reversed(insert(body, piece.path, piece.value, item=piece.item, json5=json5)):
            body = body[:at] + more + body[at:]
            spans.append((len(bom) + at, len(more)))
    for piece in file.pieces:  # the last word has the parser
        if not _says(where(parse_jsonc(body, json5), piece.path), piece):
            raise Misfit(f"{'.'.join(piece.path)} would not be read back")
    return Put(bom + body, tuple(spans), tuple(made))


def _says(node: JsonNode | None, piece: HostEntry) -> bool:
    """True if the value at the path of a piece says it already. Misfit if it says something else."""
    name = ".".join(piece.path)
    if node is None:
        return False
    if not piece.item:
        if not piece.optional and not same(node.value, piece.value):
            raise Misfit(f"{name} is there already and says something else")
        return True
    if not isinstance(node.value, list):
        raise Misfit(f"{name} is not a list")
    if any(same(value, piece.value) for value in node.value):
        return True
    if any(piece.kin in json.dumps(value, ensure_ascii=False) for value in node.value if piece.kin):
        raise Misfit(f"{name} has an item of memctl that says something else")
    return False


def _take_json(text: str, file: File, made: Collection[tuple[str, ...]]) -> str:
    json5 = file.form == "json5"
    bom = "\ufeff" if text.startswith("\ufeff") else ""
    body = text.removeprefix(bom)
    problems = []
    for piece in (piece for piece in reversed(file.pieces) if not piece.optional):
        try:
            left = remove_member(body, piece.path, piece.value, item=piece.item, json5=json5, prune=made)
            if left is None and piece.item:
                _says(where(parse_jsonc(body, json5), piece.path), piece)
        except Misfit as error:
            problems.append(str(error))
        else:
            body = body if left is None else left
    if problems:
        raise Misfit("; ".join(problems))
    options = {piece.path[0]: piece.value for piece in file.pieces if piece.optional and piece.path in made}
    if options and same(parse_jsonc(body, json5).value, options):  # no other entries need them
        body = "{}\n"
    return bom + body


def _table(piece: HostEntry) -> list[str]:
    return [f"[{'.'.join(piece.path)}]", *(f"{key} = {_toml(value)}" for key, value in piece.value.items())]


def _toml(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _in_toml(text: str, path: Sequence[str]) -> Any:
    """What a document says at a path, None if nothing. Misfit where that cannot be said."""
    try:
        read: Any = tomllib.loads(text.removeprefix("\ufeff").replace("\r\n", "\n"))
    except (ValueError, RecursionError) as error:
        raise Misfit(f"it is not TOML: {error}") from error
    for key in path:
        if not isinstance(read, dict):
            raise Misfit(f"{'.'.join(path)} cannot be added: {key} belongs to something that is not a table")
        read = read.get(key)
        if read is None:
            return None
    return read


def _put_toml(text: str, piece: HostEntry) -> Put:
    found = _in_toml(text, piece.path)
    if found is not None and not same(found, piece.value):
        raise Misfit(f"[{'.'.join(piece.path)}] is there already and says something else")
    if found is not None:
        return Put(text)
    newline = "\r\n" if "\r\n" in text else "\n"
    gap = "" if not text.strip() else newline if text.endswith("\n") else newline * 2
    after = text + gap + newline.join([_TOML_HEAD, *_table(piece), ""])
    if not same(_in_toml(after, piece.path), piece.value):
        raise Misfit("a table at the end of the file would not be read as ours")
    return Put(after, ((len(text), len(after) - len(text)),))


def _take_toml(text: str, piece: HostEntry) -> str:
    found = _in_toml(text, piece.path)
    if found is None:
        return text
    if not same(found, piece.value):
        raise Misfit("the table of memctl was changed by hand")
    lines = text.splitlines(keepends=True)
    bare = [line.strip() for line in lines]
    for block in ([_TOML_HEAD, *_table(piece)], _table(piece)):
        for first in range(len(bare) - len(block) + 1):
            if bare[first : first + len(block)] == block:
                begin = first - 1 if first and not bare[first - 1] else first
                left = "".join(lines[:begin] + lines[first + len(block) :])
                if _in_toml(left, piece.path) is None:
                    return left
    raise Misfit("memctl's table in it was edited since it was written")


def _put_block(before: str, body: str) -> Put:
    """The text with the block in it; without its span if it took more than one insertion."""
    if edited(before, BLOCK):
        raise Misfit("the block of memctl was changed by hand")
    try:
        after = splice(before, BLOCK, body)
    except ValueError as error:
        raise Misfit(str(error)) from error
    start = common_start(before, after)
    span = start, len(after) - len(before)
    return Put(after, (span,) if span[1] > 0 and revert(after, [span]) == before else ())


def _is_ours(text: str, body: str) -> bool:
    """True for a file as memctl writes it, also as another version or for another folder did."""
    lines = text.splitlines()
    blocks = find_blocks(lines)
    is_alike = text.partition("<!-- memctl:begin")[0] == body.partition("<!-- memctl:begin")[0]
    ends_so = blocks and not "".join(lines[blocks[-1].end :]).strip()
    return text == body or bool(is_alike and ends_so and not edited(text, BLOCK))


# -- hosts ------------------------------------------------------------------------------------------------------------

HOSTS = ("claude-code", "openclaw", "codex", "cursor")
SCOPES = ("user", "project")  # and `plugin`, which is asked for by its folder: that of `here`
NAME = "memctl"  # of the MCP server
# How long a host waits for a hook, in seconds: more than `memctl hook` itself takes at most (agents/hooks.py).
# Codex allows the end of a session 3 seconds and complains about more.
_SECONDS = {"session-start": 10, "prompt": 5, "post-edit": 5, "pre-compact": 15, "session-end": 3}
# Cursor's beforeSubmitPrompt cannot add anything to a prompt.
_CURSOR = {"session-start": "sessionStart", "pre-compact": "preCompact", "session-end": "sessionEnd"}


class Wish(NamedTuple):
    """What is asked for. `words` start memctl, `quote` makes a shell command of words, `environ` and the folders are the user's."""

    host: str
    scope: str
    workspace: Path
    words: tuple[str, ...]
    quote: Callable[[Sequence[str]], str]
    environ: Mapping[str, str]
    home: Path
    here: Path
    allow_write: bool = False
    hooks: bool = True

    def folder(self, variable: str, usual: Path) -> Path:
        """The folder or file that a variable of the host names, else the usual one."""
        named = self.environ.get(variable, "").strip()
        if named.startswith("~"):
            return self.home / named[1:].lstrip("/\\")
        return self.here / named if named else usual

    def command(self, *more: str) -> str:
        """A shell command that runs memctl on the workspace."""
        return self.quote([*self.words, *more, "-w", str(self.workspace)])

    def server(self) -> dict[str, Any]:
        """The words that start the MCP server, as all four hosts take them.

        Text alone: hosts that are given JSON beside it hand that to the model, three times the tokens and no fence.
        """
        more = ["--allow-write"] if self.allow_write else []
        arguments = [*self.words[1:], "mcp", "--text-only", "-w", str(self.workspace), *more]
        return {"command": self.words[0], "args": arguments}


def files_of(wish: Wish) -> list[File]:
    """The files that connect a host, with what belongs in each. `place` is an absolute path."""
    host = {"claude-code": _claude_code, "openclaw": _openclaw, "codex": _codex, "cursor": _cursor}[wish.host]
    return [file for file in host(wish) if wish.hooks or file.title != "hooks"]


def notes_of(wish: Wish) -> list[str]:
    """What a person should know beside the files."""
    host, scope, folder = wish.host, wish.scope, wish.quote([str(wish.here)])
    install = f"claude plugin marketplace add {folder} && claude plugin install {NAME}@{NAME}"
    told = (
        (host == "codex" and wish.hooks, "Codex runs new hooks after you have trusted them: /hooks in Codex"),
        (host == "openclaw", "OpenClaw has no command hooks; the skill tells the agent when to recall and to retain"),
        (host == "cursor" and scope == "user", "Cursor reads the skill when it fits; --scope project adds a rule that is always read"),
        (scope == "plugin", f"install it: {install}"),
        (scope == "project" and host != "openclaw", "the entries hold paths of this machine: keep them out of a repository that others use"),
        (not wish.allow_write, "the MCP server only reads; --allow-write lets the agent answer, retain, reflect and forget"),
    )  # fmt: skip
    return [note for is_told, note in told if is_told]


def _hooks(wish: Wish, names: Mapping[str, str], grouped: bool = True) -> tuple[HostEntry, ...]:
    """The hooks of a host, `grouped` for Claude Code and Codex: a list of groups for each event.

    A memctl that is gone never stops an agent.
    """
    pieces = []
    for event, name in names.items():
        hook: dict[str, Any] = {"command": f"{wish.command('hook', event)} || exit 0"}
        if grouped:
            hook = {"hooks": [{"type": "command", **hook, "timeout": _SECONDS[event]}]}
            hook = {"matcher": "Edit|Write|apply_patch"} | hook if event == "post-edit" else hook
        pieces.append(HostEntry(("hooks", name), hook, item=True, kin=f" hook {event} -w "))
    return tuple(pieces)


def _claude_code(wish: Wish) -> list[File]:
    own = wish.folder("CLAUDE_CONFIG_DIR", wish.home / ".claude")
    settings, servers = own / "settings.json", wish.folder("CLAUDE_CONFIG_DIR", wish.home) / ".claude.json"
    if wish.scope == "project":
        own = wish.here / ".claude"
        servers, settings = wish.here / ".mcp.json", own / "settings.local.json"
    elif wish.scope == "plugin":
        own = wish.here
        servers, settings = own / ".mcp.json", own / "hooks/hooks.json"
    entry = HostEntry(("mcpServers", NAME), {"type": "stdio", **wish.server(), "env": {}})
    found = [File(str(servers), "json", "MCP server", (entry,)), _skill(own / "skills", wish)]
    found.append(File(str(settings), "json", "hooks", _hooks(wish, EVENTS)))
    return [*found, *_manifests(wish)] if wish.scope == "plugin" else found


def _manifests(wish: Wish) -> list[File]:
    """What makes of a folder a plugin of Claude Code, and a marketplace from which it can be installed."""
    folder = wish.here / ".claude-plugin"
    told: dict[str, Any] = {"name": NAME, "description": _DESCRIPTION}
    plugin = told | {"version": __version__, "author": {"name": NAME}}
    market: dict[str, Any] = {"name": NAME, "owner": {"name": NAME}, "plugins": [told | {"source": "./"}]}
    market["description"] = "Memory in Markdown, for this machine"
    return [
        File(str(folder / name), "json", title, tuple(HostEntry((key,), value) for key, value in made.items()))
        for name, title, made in (("plugin.json", "plugin", plugin), ("marketplace.json", "marketplace", market))
    ]


def _codex(wish: Wish) -> list[File]:
    folder = wish.here / ".codex" if wish.scope == "project" else wish.folder("CODEX_HOME", wish.home / ".codex")
    agents = wish.here if wish.scope == "project" else folder
    entry = HostEntry(("mcp_servers", NAME), wish.server())
    return [
        File(str(folder / "config.toml"), "toml", "MCP server", (entry,)),
        File(str(folder / "hooks.json"), "json", "hooks", _hooks(wish, EVENTS)),
        File(str(agents / "AGENTS.md"), "block", "instructions", body=_text(wish)),
    ]


def _cursor(wish: Wish) -> list[File]:
    folder = (wish.here if wish.scope == "project" else wish.home) / ".cursor"
    found = [File(str(folder / "mcp.json"), "json", "MCP server", (HostEntry(("mcpServers", NAME), wish.server()),))]
    pieces = (HostEntry(("version",), 1, optional=True), *_hooks(wish, _CURSOR, grouped=False))
    found.append(File(str(folder / "hooks.json"), "json", "hooks", pieces))
    if wish.scope == "project":
        front = "---\ndescription: Long-term memory of this project and its people, kept by memctl\nalwaysApply: true\n---\n"
        rule = splice(front, BLOCK, _text(wish))
        return [*found, File(str(folder / "rules/memctl.mdc"), "whole", "rule", body=rule)]
    return [*found, _skill(folder / "skills", wish)]


def _openclaw(wish: Wish) -> list[File]:
    """OpenClaw reads JSON5. Its workspace is a workspace of memctl as it is: only a skill is added."""
    home = wish.folder("OPENCLAW_HOME", wish.home)
    state = wish.folder("OPENCLAW_STATE_DIR", home / ".openclaw")
    config = wish.folder("OPENCLAW_CONFIG_PATH", state / "openclaw.json")
    # The hidden one of the two folders of a workspace, so that the skill does not come up as a page of the memory.
    skills = wish.workspace / ".agents/skills" if wish.scope == "project" else state / "skills"
    entry = HostEntry(("mcp", "servers", NAME), wish.server())
    skill = _skill(skills, wish, 'metadata: { "openclaw": { "emoji": "🗂️" } }\n')
    return [File(str(config), "json5", "MCP server", (entry,)), skill]


_DESCRIPTION = (
    "Long-term memory in Markdown (decisions, preferences, people, projects, lessons), with citations. "
    "Use it before answering about earlier work, when something should be remembered, and to settle what memory asks."
)


def _skill(place: Path, wish: Wish, metadata: str = "") -> File:
    """A skill in the form that the hosts share: front matter with name and description, then the text."""
    front = f"---\nname: {NAME}\ndescription: {_DESCRIPTION}\n{metadata}---\n"
    return File(str(place / NAME / "SKILL.md"), "whole", "skill", body=splice(front, BLOCK, _text(wish)))


def _text(wish: Wish) -> str:
    """What every host reads in its own form: when to recall, what to retain and how, how to answer review."""
    commands = {name: wish.command(name) for name in ("recall", "retain", "review")}
    answer = "with the tool answer, or " if wish.allow_write else ""
    return (Path(__file__).parent / "skill.md").read_text("utf-8").format(answer=answer, **commands)
