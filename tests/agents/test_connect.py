"""connect: every host's files as people keep them, before and after, and back again to the byte.

`tests/data/connect/HOST/SCOPE/before` is a home folder (or, for the scope project, a project folder) as it may look,
`after` what `memctl connect HOST --write` makes of it. `MEMCTL_UPDATE=1 pytest tests/agents/test_connect.py` writes `after` again.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import stat
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from face_helpers import Done, call, write_pages

from memctl.agents import hosts
from memctl.agents.hosts import HOSTS, SCOPES
from memctl.agents.jsonc import parse_jsonc
from memctl.language.tokens import estimate
from memctl.notes import edits as replacing
from memctl.notes.workspace import Workspace

DATA = Path(__file__).parents[1] / "data" / "connect"
HOME = "/home/quill/notes"  # what stands in the files for the workspace
CASES = [(host, scope) for host in HOSTS for scope in SCOPES]


class Place:
    """A home folder, a project folder and a workspace."""

    def __init__(self, root: Path) -> None:
        self.home, self.project = root / "home", root / "project"
        self.home.mkdir()
        self.project.mkdir()
        self.workspace = write_pages(root / "notes", {"memory.md": "# Core\n"}).root

    def connect(self, host: str, *more: str, program: str = "memctl", **env: str) -> Done:
        """`memctl connect HOST …` in the project folder."""
        words = ["connect", host, "-w", str(self.workspace), "--command", program, *more]
        given = {"HOME": str(self.home), "USERPROFILE": str(self.home)}
        return call(words, self.project, **given | env)

    def put(self, name: str, text: str | bytes) -> Path:
        """A file in the home folder."""
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def read(self, name: str) -> str:
        """The text of a file in the home folder."""
        return (self.home / name).read_text("utf-8")

    def move_to(self, name: str) -> None:
        """Another workspace from now on."""
        self.workspace = write_pages(self.workspace.parent / name, {"memory.md": "# Core\n"}).root

    def fill(self, host: str, scope: str) -> Path:
        """The files of a case; the folder in which they stand."""
        folder = self.home if scope == "user" or host == "openclaw" else self.project
        shutil.copytree(DATA / host / scope / "before", folder, dirs_exist_ok=True)
        return folder


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    """Empty folders, and a workspace; no variable of the user's own says otherwise."""
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "OPENCLAW_HOME", "OPENCLAW_STATE_DIR", "OPENCLAW_CONFIG_PATH"):
        monkeypatch.delenv(name, raising=False)
    return Place(tmp_path)


def files(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, by path."""
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def written(place: Place, folder: Path) -> dict[str, bytes]:
    """The files of a folder, and the skill in the workspace, with the usual name of the workspace."""
    found = files(folder) | {
        f"notes/{p}": data for p, data in files(place.workspace).items() if p.startswith(".agents/")
    }
    here = str(place.workspace).encode()
    return {
        path: re.sub(rb"sha=\w+", b"sha=12345678", data.replace(here, HOME.encode())) for path, data in found.items()
    }


# -- before, after, and back ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("host", "scope"), CASES)
def test_real_files_before_and_after(place: Place, host: str, scope: str) -> None:
    """What stands in the files afterwards is what the data says; twice is as once; undo gives every byte back."""
    folder = place.fill(host, scope)
    before = files(place.workspace.parent)
    shown = place.connect(host, "--scope", scope)
    assert shown.code == 0 and "nothing is written yet" in shown.err and files(place.workspace.parent) == before
    done = place.connect(host, "--scope", scope, "--write")
    assert done.code == 0, done.both
    after = written(place, folder)
    kept = DATA / host / scope / "after"
    if os.environ.get("MEMCTL_UPDATE"):
        shutil.rmtree(kept, ignore_errors=True)
        for path, data in after.items():
            (kept / path).parent.mkdir(parents=True, exist_ok=True)
            (kept / path).write_bytes(data)
    assert after == files(kept)
    again = place.connect(host, "--scope", scope, "--write")
    assert again.code == 0 and written(place, folder) == after
    assert {line.rpartition(", ")[2] for line in again.out.splitlines()} == {"as it is"}
    undone = place.connect(host, "--scope", scope, "--undo")
    assert undone.code == 0, undone.both
    left = {path: data for path, data in files(place.workspace.parent).items() if "/.memory/" not in path}
    assert left == before
    assert not (place.workspace / ".memory/connect.json").exists()


@pytest.mark.parametrize(("host", "scope"), CASES)
def test_without_a_record_undo_finds_what_it_would_write(place: Place, host: str, scope: str) -> None:
    """`.memory/` may be deleted at any moment: then only empty objects and lists are in doubt."""
    folder = place.fill(host, scope)
    before = files(folder)
    place.connect(host, "--scope", scope, "--write")
    shutil.rmtree(place.workspace / ".memory")
    undone = place.connect(host, "--scope", scope, "--undo")
    assert undone.code == 0, undone.both
    left = files(folder)
    assert {path: data for path, data in left.items() if path not in before} == {}
    assert all(data.strip() in (b"", b"{}") for path, data in before.items() if path not in left)
    for path, data in left.items():
        if path.endswith(".json") and data != before[path]:
            assert _pruned(parse_jsonc(data.decode(), True).value) == _pruned(
                parse_jsonc(before[path].decode(), True).value
            ), path
        elif not path.endswith(".json"):
            assert data == before[path], path


def _pruned(value: object) -> object:
    """Without empty objects and lists."""
    if isinstance(value, dict):
        kept = {key: _pruned(inner) for key, inner in value.items()}
        return {key: inner for key, inner in kept.items() if inner not in ({}, [])}
    return value


@pytest.mark.parametrize("host", HOSTS)
def test_in_an_empty_home(place: Place, host: str) -> None:
    """Files and folders that were not there are made, and undo takes all of them away again."""
    assert place.connect(host, "--write").code == 0
    assert files(place.home)
    assert place.connect(host, "--undo").code == 0
    assert not list(place.home.iterdir())


def test_a_server_that_would_not_start_is_named(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the command that installs what it needs; hooks and the skill go on without it."""
    home = {"HOME": str(place.home), "USERPROFILE": str(place.home)}
    words = ["connect", "claude-code", "-w", str(place.workspace), "--write"]
    assert "start" not in call(words, place.project, **home).err
    monkeypatch.setitem(sys.modules, "pydantic", None)
    done = call(words, place.project, **home)
    assert done.code == 0 and "the MCP server does not start yet" in done.err
    assert "pip install 'memctl-workspace[serve]'" in done.err
    assert "start" not in call([*words[:-1], "--undo"], place.project, **home).err


@pytest.mark.parametrize("host", HOSTS)
def test_what_a_host_added_meanwhile_stays(place: Place, host: str) -> None:
    """A host writes its files anew all the time: undo takes out our entry by what it says."""
    folder = place.fill(host, "user")
    place.connect(host, "--write")
    for path in folder.rglob("*.json"):
        value = parse_jsonc(path.read_text("utf-8"), True).value
        path.write_text(json.dumps(value | {"later": [1]}, indent=3), "utf-8")
    for path in [*folder.rglob("*.toml"), *folder.rglob("AGENTS.md")]:
        path.write_text(path.read_text("utf-8") + "\n# later\n", "utf-8")
    assert place.connect(host, "--undo").code == 0
    for path, data in files(folder).items():
        text = data.decode()
        assert "memctl" not in text.replace("also a memctl workspace", "").replace("memory-command", ""), path
        assert "later" in text, path
        if path.endswith(".json"):
            before = parse_jsonc((DATA / host / "user" / "before" / path).read_text("utf-8"), True).value
            assert json.loads(text) == before | {"later": [1]}


# -- what an agent reads, and the plugin ------------------------------------------------------------------------------


@pytest.mark.parametrize(("host", "scope"), CASES)
def test_every_host_reads_one_short_text(place: Place, host: str, scope: str) -> None:
    """Skill, rule or AGENTS.md: the same words, in less than 400 tokens, with commands that run."""
    place.connect(host, "--scope", scope, "--write", "--allow-write")
    folders = [place.home, place.project, place.workspace]
    read = [
        path.read_text("utf-8") for folder in folders for path in folder.rglob("*") if path.suffix in (".md", ".mdc")
    ]
    (text,) = [text for text in read if "memctl:begin" in text]
    assert all(f"**{verb}**" in text for verb in ("Recall", "Retain", "Review")) and "the tool answer" in text
    body = re.sub(r"<!-- .* -->", "", text.partition("## Memory")[2])
    assert estimate(body.replace(str(place.workspace), HOME)) < 380
    if not text.startswith("<!--"):
        front = yaml.safe_load(text.split("---\n")[1])
        assert front["description"] and front.get("name", "memctl") == "memctl"
    commands = re.findall(r"`(memctl \w+ -w [^`]+)`", body)
    assert [shlex.split(command)[1] for command in commands] == ["recall", "retain", "review"]
    for command in commands:
        assert call(shlex.split(command)[1:], place.project).code in (0, 1), command


def test_a_plugin_of_claude_code(place: Place) -> None:
    """The layout that its documentation names; the command in it answers; undo leaves no file."""
    folder = place.project / "my plugin"
    done = place.connect("claude-code", "--plugin", str(folder), "--write")
    assert done.code == 0 and f"claude plugin marketplace add '{folder}'" in done.err
    made = {at.relative_to(folder).as_posix(): at.read_text("utf-8") for at in folder.rglob("*") if at.is_file()}
    manifests = {".claude-plugin/plugin.json", ".claude-plugin/marketplace.json"}
    assert made.keys() == manifests | {".mcp.json", "hooks/hooks.json", "skills/memctl/SKILL.md"}
    plugin, market = (json.loads(made[name]) for name in sorted(manifests, reverse=True))
    assert re.fullmatch(r"[a-z-]+", plugin["name"]) and plugin["version"] and plugin["author"]["name"]
    assert market["owner"]["name"] and [(one["name"], one["source"]) for one in market["plugins"]] == [("memctl", "./")]
    hooks = json.loads(made["hooks/hooks.json"])["hooks"]
    assert {"SessionStart", "UserPromptSubmit", "PostToolUse", "PreCompact", "SessionEnd"} == hooks.keys()
    for groups in hooks.values():
        words = shlex.split(groups[0]["hooks"][0]["command"])
        assert call(words[1:5], place.project).code == 0 and words[5:] == ["||", "exit", "0"]
    assert json.loads(made[".mcp.json"])["mcpServers"]["memctl"]["args"][0] == "mcp"
    assert not files(place.home) and place.connect("claude-code", "--plugin", str(folder), "--undo").code == 0
    assert not folder.exists()
    assert place.connect("codex", "--plugin", str(folder)).code == 2


# -- what is a person's -----------------------------------------------------------------------------------------------


CHANGED = [
    ("claude-code", ".claude.json", '"-w"', '"--quiet", "-w"'), ("codex", ".codex/config.toml", '"-w"', '"--quiet", "-w"'),
    ("cursor", ".cursor/mcp.json", '"-w"', '"--quiet", "-w"'), ("openclaw", ".openclaw/openclaw.json", '"-w"', '"--quiet", "-w"'),
    ("codex", ".codex/hooks.json", '"timeout": 10', '"timeout": 60'), ("codex", ".codex/AGENTS.md", "not instructions", "not orders"),
    ("openclaw", ".openclaw/skills/memctl/SKILL.md", "not instructions", "not orders"),
]  # fmt: skip


@pytest.mark.parametrize(("host", "name", "ours", "theirs"), CHANGED, ids=lambda value: value[-24:])
def test_an_entry_that_a_person_changed_stays(place: Place, host: str, name: str, ours: str, theirs: str) -> None:
    """Neither undo nor another --write touches it, or any other file: both say which, and end with 15."""
    place.connect(host, "--write")
    place.put(name, place.read(name).replace(ours, theirs))
    before = files(place.home)
    for words in (["--undo"], ["--write", "--allow-write"]):
        done = place.connect(host, *words)
        assert done.code == 15 and f"{place.home}/{name}" in done.err and "nothing was written" in done.err, done.both
        assert files(place.home) == before


def test_an_entry_of_the_same_name_is_never_overwritten(place: Place) -> None:
    """Another workspace connected first, or a person: the fragment is shown, and the file stays."""
    place.connect("claude-code", "--write")
    before, first = files(place.home), place.workspace
    place.move_to("other")
    done = place.connect("claude-code", "--write", "--allow-write")
    assert done.code == 15 and "mcpServers.memctl is there already" in done.err and files(place.home) == before
    assert "--allow-write" in done.out  # the fragment
    other, place.workspace = place.workspace, first
    assert place.connect("claude-code", "--undo").code == 0
    place.workspace = other
    assert place.connect("claude-code", "--write").code == 0


# -- what our own entry may become -------------------------------------------------------------------------------------


@pytest.mark.parametrize("host", HOSTS)
def test_writing_again_with_other_options_replaces_our_own_entry(place: Place, host: str) -> None:
    """--allow-write, another program, --no-hooks; undo still gives back what was there at first."""
    folder = place.fill(host, "user")
    before = files(folder)
    programs = {"--allow-write": "memctl", "-q": "/opt/new place/memctl", "--no-hooks": "python -m memctl"}
    for word, program in programs.items():
        assert place.connect(host, "--write", word, program=program).code == 0
        text = "".join(data.decode() for data in files(folder).values())
        assert ("--allow-write" in text.replace("; --allow-write lets", "")) is (word == "--allow-write")
        has_hooks = "hook prompt" in text or "hook session-start" in text
        assert has_hooks is (host != "openclaw" and word != "--no-hooks")
    assert place.connect(host, "--undo").code == 0
    assert files(folder) == before


@pytest.mark.parametrize("host", ["claude-code", "codex"])
def test_older_settings_get_a_new_hook(place: Place, monkeypatch: pytest.MonkeyPatch, host: str) -> None:
    """Those that a version without the hook after edits wrote; with it they are as if written by this one; undo takes all."""
    folder = place.fill(host, "user")
    before, events = files(folder), dict(hosts.EVENTS)
    monkeypatch.setattr(hosts, "EVENTS", {name: event for name, event in events.items() if name != "post-edit"})
    assert place.connect(host, "--write").code == 0 and b"post-edit" not in b"".join(files(folder).values())
    monkeypatch.setattr(hosts, "EVENTS", events)
    for _ in range(2):
        assert place.connect(host, "--write").code == 0
        assert b"".join(files(folder).values()).count(b" hook post-edit ") == 1
    assert place.connect(host, "--undo").code == 0 and files(folder) == before


def test_words_with_blanks_and_quotes_reach_the_shell_and_the_server_whole(place: Place) -> None:
    """A folder with a blank and an apostrophe in its name."""
    place.move_to("Ann's notes")
    place.connect("claude-code", "--write", program="'/opt/my tools/memctl'")
    server = json.loads(place.read(".claude.json"))["mcpServers"]["memctl"]
    assert server["command"] == "/opt/my tools/memctl"
    assert server["args"] == ["mcp", "--text-only", "-w", str(place.workspace)]
    command = json.loads(place.read(".claude/settings.json"))["hooks"]["SessionStart"][0]["hooks"][0]["command"]
    if os.name == "posix":
        words = [server["command"], "hook", "session-start", "-w", str(place.workspace), "||", "exit", "0"]
        assert shlex.split(command) == words


def test_a_program_that_is_gone_does_not_stop_an_agent(place: Place) -> None:
    """Exit code 2 of a hook would take back the user's prompt: ours ends with 0 even where there is no memctl at all."""
    place.connect("claude-code", "--write", program="/nowhere/memctl")
    for groups in json.loads(place.read(".claude/settings.json"))["hooks"].values():
        assert subprocess.run(groups[0]["hooks"][0]["command"], shell=True, capture_output=True).returncode == 0


def test_toml_is_read_back_by_a_parser(place: Place) -> None:
    """Comments stay, and what was there says what it said."""
    place.fill("codex", "user")
    before = tomllib.loads(place.read(".codex/config.toml"))
    place.connect("codex", "--write", program='"/opt/é\\"q/memctl"')
    after = tomllib.loads(place.read(".codex/config.toml"))
    entry = after["mcp_servers"].pop("memctl")
    assert after == before and entry["args"][-1] == str(place.workspace)


ODD = [
    ("codex", ".codex/config.toml", text, what, "[mcp_servers.memctl]")
    for text, what in [
        ('mcp_servers = { docs = { command = "x" } }\n', "config.toml"), ("mcp_servers = 3\n", "config.toml"),
        ("[[mcp_servers]]\nx = 1\n", "config.toml"), ("model = \n", "it is not TOML"),
        ('[mcp_servers.memctl]\ncommand = "mine"\n', "says something else"),
    ]
] + [
    ("claude-code", ".claude/settings.json", text, "settings.json", '"SessionStart"')
    for text in ["[]", '{"hooks": []}', '{"hooks": {"SessionStart": {}}}', '"x"', "null"]
]  # fmt: skip


@pytest.mark.parametrize(("host", "name", "text", "what", "fragment"), ODD, ids=[text for _, _, text, _, _ in ODD])
def test_a_file_that_cannot_take_it_is_left_alone(
    place: Place, host: str, name: str, text: str, what: str, fragment: str
) -> None:
    """A list where an object should be is no reason to replace it: the fragment is shown instead."""
    place.put(name, text)
    done = place.connect(host, "--write")
    assert done.code == 15 and what in done.err and fragment in done.out, done.both
    assert "this belongs there" in done.out and files(place.home) == {name: text.encode()}


def test_a_toml_file_that_its_host_wrote_anew(place: Place) -> None:
    """Without our comments, our table is still found; where its lines are mixed with others, it is left alone."""
    path = place.home / ".codex/config.toml"
    place.connect("codex", "--write", "--no-hooks")
    table = [line for line in path.read_text("utf-8").splitlines() if not line.startswith("#")]
    path.write_text('model = "x"\n\n' + "\n".join(table) + "\n\n[other]\na = 1\n", "utf-8")
    assert place.connect("codex", "--undo").code == 0
    assert path.read_text("utf-8") == 'model = "x"\n\n[other]\na = 1\n'
    place.connect("codex", "--write", "--no-hooks")
    command = next(line for line in table if line.startswith("command"))
    text = path.read_text("utf-8").replace(command + "\n", "") + command + "\n"
    path.write_text(text, "utf-8")
    done = place.connect("codex", "--undo")
    assert done.code == 15 and "was edited since it was written" in done.err and path.read_text("utf-8") == text


# -- the files themselves ----------------------------------------------------------------------------------------------


BROKEN = {
    '{\n  "a": 1\n  "b": 2\n}\n': "line 3, column 3", '{"a": tru}': "line 1, column 7", "[1, 2": "line 1, column 6",
    '{"a": "x\n"}': "line 1, column 7", "{} {}": "line 1, column 4", "{/* ": "line 1, column 2",
    "\x00\x01": "line 1, column 1", '{/**/"a":' * 300 + "1" + "}" * 300: "nested",
}  # fmt: skip


@pytest.mark.parametrize(("text", "where"), BROKEN.items(), ids=list(BROKEN.values()))
def test_broken_json_is_an_error_with_its_place_and_nothing_is_written(place: Place, text: str, where: str) -> None:
    """In any of the files: the others stay as they are too."""
    place.put(".claude/settings.json", text)
    for words in ([], ["--write"], ["--undo"]):
        done = place.connect("claude-code", *words)
        assert done.code == 13 and where in done.err and "settings.json" in done.err, done.both
    assert files(place.home) == {".claude/settings.json": text.encode()}


@pytest.mark.parametrize(
    "data", [b"", b"\n \n", b"\xef\xbb\xbf{}\n", b"\xef\xbb\xbf", b'{"x": "\xff\xfe"}', b'{"a": 1,\r\n"b": 2}\r\n']
)
def test_odd_files_come_back_to_the_byte(place: Place, data: bytes) -> None:
    """Empty, with a byte order mark, with bytes that are no UTF-8, with the line ends of Windows."""
    for name in ("mcp.json", "hooks.json"):
        place.put(f".cursor/{name}", data)
    before = files(place.home)
    assert place.connect("cursor", "--write").code == 0
    text = (place.home / ".cursor/mcp.json").read_bytes().decode("utf-8", "surrogateescape").removeprefix("\ufeff")
    assert json.loads(text)["mcpServers"]["memctl"]["command"] == "memctl"
    assert place.connect("cursor", "--write").code == 0
    assert place.connect("cursor", "--undo").code == 0
    assert files(place.home) == before


@pytest.mark.skipif(os.name != "posix", reason="modes and links")
def test_mode_and_links_stay(place: Place) -> None:
    """Dotfiles are often links into a repository: the file there is changed, the link stays, and the answer says so."""
    real = place.put("dotfiles/claude.json", "{}\n")
    real.chmod(0o640)
    (place.home / ".claude.json").symlink_to("dotfiles/claude.json")
    done = place.connect("claude-code", "--write")
    assert done.code == 0 and f"{place.home}/.claude.json -> {real}" in done.out
    assert (place.home / ".claude.json").is_symlink() and "memctl" in real.read_text("utf-8")
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    assert place.connect("claude-code", "--undo").code == 0
    assert real.read_text("utf-8") == "{}\n" and (place.home / ".claude.json").is_symlink()
    assert sorted(p.name for p in real.parent.iterdir()) == ["claude.json"]  # nothing of ours lies about


@pytest.mark.skipif(os.name != "posix", reason="links, FIFOs and modes")
@pytest.mark.parametrize("kind", ["circle", "nowhere", "folder", "fifo", "read-only"])
def test_what_is_no_ordinary_file_is_refused(place: Place, kind: str) -> None:
    """In bounded time, with the path, and nothing is written."""
    path = place.home / ".claude.json"
    if kind == "read-only":
        path.write_text("{}")
        path.chmod(0o400)
        if os.access(path, os.W_OK):
            pytest.skip("root may write anything")
    else:
        {
            "circle": lambda: path.symlink_to(path.name),
            "nowhere": lambda: path.symlink_to("gone/file.json"),
            "folder": path.mkdir,
            "fifo": lambda: os.mkfifo(path),
        }[kind]()
    done = place.connect("claude-code", "--write")
    assert done.code == 13 and ".claude.json" in done.err, done.both
    assert not (place.home / ".claude").exists()


SAVED = '{"saved": true}'


@pytest.mark.parametrize("moment", ["before the last look", "between it and the swap", "a full disk"])
def test_trouble_in_the_middle_of_a_write(place: Place, monkeypatch: pytest.MonkeyPatch, moment: str) -> None:
    """The host saves its file meanwhile, and its text stays; or the disk is full. No scraps are left."""
    path = place.put(".claude.json", "{}")
    copied, swapped, calls = replacing.copy_attributes, replacing.swap, []

    def copy(*given: object) -> None:
        if moment == "a full disk":
            raise OSError(28, "No space left on device")
        if moment.startswith("before"):
            path.write_text(SAVED, "utf-8")
        copied(*given)  # type: ignore[arg-type]

    def swap(one: Path, other: Path) -> bool:
        if moment.startswith("between") and other == path and not calls:
            calls.append(1)
            other.write_text(SAVED, "utf-8")
        return swapped(one, other)

    monkeypatch.setattr(replacing, "copy_attributes", copy)
    monkeypatch.setattr(replacing, "swap", swap)
    done = place.connect("claude-code", "--write")
    if moment == "a full disk":
        assert done.code == 13 and "No space left" in done.err and files(place.home) == {".claude.json": b"{}"}
    elif not moment.startswith("between") or (calls and os.name == "posix"):
        assert done.code == 12 and files(place.home) == {".claude.json": SAVED.encode()}


@pytest.mark.parametrize("garbage", [b"", b"{", b"[]", b'{"files": {"x": {}}}', b'{"files": []}', b"\xff"])
def test_a_damaged_record_is_no_record(place: Place, garbage: bytes) -> None:
    """Undo then goes by what the files say."""
    place.connect("cursor", "--write")
    (place.workspace / ".memory/connect.json").write_bytes(garbage)
    assert place.connect("cursor", "--undo").code == 0
    assert not files(place.home)


# -- where, and how it is told -----------------------------------------------------------------------------------------


def test_the_variables_of_each_host_say_where(place: Place) -> None:
    """CLAUDE_CONFIG_DIR, CODEX_HOME, OPENCLAW_HOME, OPENCLAW_STATE_DIR, OPENCLAW_CONFIG_PATH; `~` is the home folder."""
    place.connect("claude-code", "--write", CLAUDE_CONFIG_DIR=str(place.project / "cc"))
    assert sorted(files(place.project)) == ["cc/.claude.json", "cc/settings.json", "cc/skills/memctl/SKILL.md"]
    place.connect("codex", "--write", CODEX_HOME="~/cx")
    assert sorted(files(place.home)) == ["cx/AGENTS.md", "cx/config.toml", "cx/hooks.json"]
    place.connect("openclaw", "--write", OPENCLAW_HOME=str(place.project / "oc"))
    assert (place.project / "oc/.openclaw/skills/memctl/SKILL.md").exists()
    place.connect(
        "openclaw", "--write", OPENCLAW_STATE_DIR=str(place.project / "st"), OPENCLAW_CONFIG_PATH="~/my.json5"
    )
    assert (place.home / "my.json5").exists() and (place.project / "st/skills/memctl/SKILL.md").exists()


def test_a_project_is_undone_from_its_own_folder_only(place: Place) -> None:
    """Two projects connect to one workspace; each is taken back by itself."""
    place.connect("cursor", "--scope", "project", "--write")
    first, place.project = place.project, place.project.parent / "second"
    place.project.mkdir()
    place.connect("cursor", "--scope", "project", "--write")
    assert place.connect("cursor", "--scope", "project", "--undo").code == 0
    assert not files(place.project) and len(files(first)) == 3


def test_json_and_dry_run(place: Place) -> None:
    """One object, with the diff of every file; --dry-run writes nothing beside --write and --undo."""
    shown = json.loads(place.connect("cursor", "--json", "--write", "--dry-run").out)
    assert not files(place.home) and shown["written"] is False
    assert [(file["state"], bool(file["diff"])) for file in shown["files"]] == [("new", True)] * 3
    assert json.loads(place.connect("cursor", "--json", "--write").out)["written"] is True
    before = files(place.home)
    done = place.connect("cursor", "--undo", "--dry-run")
    assert done.code == 0 and "would be removed" in done.out and files(place.home) == before
    assert "-" in done.out and "run it without --dry-run" in done.err
    assert place.connect("cursor", "-q").err == ""


def test_secrets_beside_ours_are_not_shown(place: Place) -> None:
    """The lines around an entry of ours are somebody's; a token among them stays out of the answer."""
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    server = {"command": "git-mcp", "args": [token], "env": {"GITHUB_TOKEN": token}}
    place.put(".cursor/mcp.json", json.dumps({"mcpServers": {"git": server}}, indent=2))
    assert token not in place.connect("cursor").both + place.connect("cursor", "--json").both
    place.connect("cursor", "--write")
    assert token in place.read(".cursor/mcp.json")
    assert token not in (place.workspace / ".memory/connect.json").read_text("utf-8")


@pytest.mark.parametrize(("words", "what"), [
    ("vim", "no host 'vim' is known"), ("codex --scope team", "--scope 'team' is unknown"),
    ("codex --write --undo", "exclude each other"), ("codex --command ' '", "--command is empty"),
    ('codex --command "\'memctl"', "--command is not understood"),
])  # fmt: skip
def test_calls_that_mean_nothing(tmp_path: Path, words: str, what: str) -> None:
    """Usage errors, before anything is read."""
    (tmp_path / "memory").mkdir()
    done = call(["connect", *shlex.split(words)], tmp_path, HOME=str(tmp_path))
    assert done.code == 2 and what in done.err


def test_the_usual_program_is_the_one_that_runs(place: Place) -> None:
    """An absolute path: a host starts it from any folder, with another PATH."""
    done = call(["connect", "cursor", "-w", str(place.workspace), "--json"], place.project, HOME=str(place.home))
    made = json.loads(done.out)["files"][0]["diff"]
    command = next(line for line in made.split("\n") if '"command"' in line).split('"')[3]
    assert Path(command).is_absolute() and Path(command).exists()


@pytest.mark.skipif(os.name != "posix", reason="a folder in use can be removed")
def test_the_folder_in_which_one_stands_is_gone(place: Place) -> None:
    """One's own files can be written all the same, those of a project nowhere."""
    root = str(Path(__file__).parents[2])
    words = [sys.executable, "-m", "memctl", "connect", "cursor", "--write", "-w", str(place.workspace)]
    for scope, code in (("project", 2), ("user", 0)):
        gone = place.home.parent / "gone"
        gone.mkdir()
        env = os.environ | {"HOME": str(place.home), "PYTHONPATH": root}
        done = subprocess.run([*words, "--scope", scope], cwd=gone, env=env, capture_output=True, preexec_fn=gone.rmdir)
        assert done.returncode == code, done
    assert (place.home / ".cursor/mcp.json").exists()


def test_a_relative_program_is_made_absolute(place: Place) -> None:
    """A host starts it from another folder."""
    place.connect("cursor", "--write", program="bin/memctl --debug")
    server = json.loads((place.home / ".cursor/mcp.json").read_text("utf-8"))["mcpServers"]["memctl"]
    assert server["command"] == str(place.project / "bin/memctl") and server["args"][:2] == ["--debug", "mcp"]


def test_an_openclaw_workspace_needs_no_conversion(place: Place) -> None:
    """Its files are pages of ours as they are, and the skill in it is no memory."""
    pages = {"AGENTS.md": "# Agents\n", "SOUL.md": "Calm.\n", "USER.md": "Name: Irina\n", "memory/2025-11-27.md": "## Retain\n\n- W @Irina: Irina lives in Riga\n"}  # fmt: skip
    place.workspace = write_pages(place.home / ".openclaw/workspace", pages).root
    assert place.connect("openclaw", "--scope", "project", "--write").code == 0
    assert (place.workspace / ".agents/skills/memctl/SKILL.md").exists()
    found = call(["recall", "Riga", "--format", "paths"], place.workspace)
    assert found.out.split() == ["memory/2025-11-27.md"]
    assert "SKILL" not in call(["recall", "exec tool converting citation", "--format", "paths"], place.workspace).out
    assert Workspace(place.workspace).root == place.workspace
