"""Hooks: as hosts run them, each a process of its own with JSON on stdin. Whatever happens: exit code 0, no traceback, in time."""

from __future__ import annotations

import io
import itertools
import json
import os
import re
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from face_helpers import call, fixture_copy, write_pages
from processes import PATIENT, run_memctl
from store_helpers import environment

from memctl.agents.hooks import EVENTS, answer_hook, log_hook, run_hook
from memctl.memory import Memory
from memctl.notes.workspace import Workspace
from memctl.system import Outcome, run_with_timeout

ROOT = Path(__file__).parents[2]
posix = pytest.mark.skipif(os.name != "posix", reason="processes of POSIX")


def hook(event: str, given: Any, workspace: Path, *, cwd: Path | None = None, before: Callable[[], None] | None = None, **env: str) -> subprocess.CompletedProcess[bytes]:  # fmt: skip
    """`memctl hook EVENT -w WORKSPACE` with what is given on stdin."""
    data = given if isinstance(given, bytes) else json.dumps(given).encode()
    given_env = environment(MEMCTL_NOW="2025-11-30T09:00", **env)
    words = ["hook", event, "-w", str(workspace)]
    if before is None:
        return run_memctl(words, data, given_env, cwd or ROOT, 60)
    place: dict[str, Any] = {"cwd": cwd or ROOT, "env": given_env, "preexec_fn": before}
    patient = [sys.executable, "-c", f"{PATIENT}; from memctl.__main__ import main; main()"]
    return subprocess.run([*patient, *words], input=data, capture_output=True, timeout=60, **place)


def said(done: subprocess.CompletedProcess[bytes]) -> str:
    """What the model is told; empty for nothing."""
    assert done.returncode == 0 and done.stderr == b"", done
    if not done.stdout:
        return ""
    answer = json.loads(done.stdout)
    return str(answer.get("additional_context") or answer["hookSpecificOutput"]["additionalContext"])


def is_silent(done: subprocess.CompletedProcess[bytes]) -> bool:
    """True for a hook that ended well and said nothing, on stdout or stderr."""
    return (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def kept(workspace: Path) -> str:
    """All logs of a workspace."""
    return "".join(page.read_text("utf-8") for page in sorted((workspace / "memory").glob("*.md")))


def log_of(workspace: Path) -> list[str]:
    """The lines of the log of hooks."""
    path = workspace / ".memory/hooks.log"
    return path.read_text("utf-8").splitlines() if path.exists() else []


def claude(prompt: str = "", name: str = "UserPromptSubmit", **more: Any) -> dict[str, Any]:
    """What Claude Code writes on stdin."""
    common = {"session_id": "5b0c", "transcript_path": "/nowhere.jsonl", "cwd": "/", "permission_mode": "default"}
    return common | {"hook_event_name": name} | ({"prompt": prompt} if prompt else {}) | more


# -- what they say ----------------------------------------------------------------------------------------------------


def test_a_session_begins_with_core_lessons_and_what_is_recent(tmp_path: Path) -> None:
    """In the words of Claude Code and Codex; within what a host shows; the same bytes as long as nothing changes."""
    root = fixture_copy(tmp_path)
    call(["index"], root)  # a hook waits one second for it
    done = hook("session-start", claude(name="SessionStart", source="startup"), root)
    text = said(done)
    assert json.loads(done.stdout)["hookSpecificOutput"]["hookEventName"] == "SessionStart"
    assert "I am **Quill**" in text and "Lessons." in text and "Recent." in text and "[memory/2025-11-" in text
    assert len(text) < 10_000 and done.stdout.isascii()
    assert hook("session-start", claude(name="SessionStart", source="compact"), root).stdout == done.stdout
    assert log_of(root) == []


def test_a_large_core_comes_whole(tmp_path: Path) -> None:
    """Core pages are never cut: what is over the hook's own budget is taken by that of the settings."""
    workspace = write_pages(tmp_path, {"memory.md": "# Core\n\n" + "Irina decides about birds. " * 500})
    assert said(hook("session-start", claude(name="SessionStart"), workspace.root)).count("Irina decides") == 500
    (workspace.root / "memory.md").write_text("# Core\n\n" + "Irina decides about birds. " * 5000, "utf-8")
    assert said(hook("session-start", claude(name="SessionStart"), workspace.root)) == ""
    assert "OverBudget" in log_of(workspace.root)[-1]


def test_an_empty_workspace_says_nothing(tmp_path: Path) -> None:
    """Nor does a prompt that nothing belongs to."""
    root = write_pages(tmp_path, {}).root
    for event in ("session-start", "prompt"):
        assert hook(event, claude("Which gateway?"), root).stdout == b""


WANTED = {
    "Which gateway does Nightjar use?": "nightjar", "why did we move Curlew to PostgreSQL?": "PostgreSQL", "What is NJGW-41?": "NJGW-41",
    "How many packets were lost in September?": "packets", "Где живёт Ирина?": "Riga", "陈立觉得导入脚本可以晚上跑吗？": "陈立",
    "What is known of the box battery estimates?": "Battery estimates", "restore the dump": "dump",
}  # fmt: skip
UNWANTED = [
    "please fix the failing test in foo.py and run it again", "commit this", "make this faster\n```sql\nselect packets from gateway where lost\n```", "yes, go on", "run the tests again and show me the output",
    "why does pip install fail on my machine?", "rename this variable to something clearer", "спасибо, всё работает",
    "исправь опечатку в комментарии", "继续", "请把这个函数拆成两个", "what is the capital of France?", "make the button blue",
    "Write a regex that matches email addresses", "explain this stack trace", "translate this README to German", "/compact", "   ",
    "the of and a", "the a of?", "и в на", "的了吗？", "can you fix the failing test in gateway.py?", "能修一下这个测试吗？", "можешь починить тест?",
]  # fmt: skip


def test_a_prompt_is_given_what_belongs_to_it_and_mostly_nothing(tmp_path: Path) -> None:
    """Eight prompts that the notes answer, seventeen that are about something else; three languages."""
    workspace = Workspace(fixture_copy(tmp_path).resolve())
    call(["index"], workspace.root)
    for prompt, word in WANTED.items():
        answer, log = answer_hook(workspace, "prompt", claude(prompt), NOW)
        assert answer and log == "" and word in answer["hookSpecificOutput"]["additionalContext"], prompt
        lines = answer["hookSpecificOutput"]["additionalContext"].split("\n")
        assert re.fullmatch(r"<memory-\w{10,}>", lines[0]) and lines[-1] == lines[0].replace("<", "</")
        assert all(re.match(r"- \[[^\]]*#L\d+", line) for line in lines[2:-1]) and len(lines) <= 11
    assert [prompt for prompt in UNWANTED if answer_hook(workspace, "prompt", claude(prompt), NOW)[0]] == []


NOW = datetime(2025, 11, 30, 9)
ASKED = {
    "How many calls a minute do partners get?": "Partners get sixty calls a minute",
    "Сколько вызовов в минуту дано партнёрам?": "Партнёрам дано шестьдесят вызовов в минуту",
    "合作方每分钟多少次？": "合作方每分钟六十次",
}


@pytest.mark.parametrize("prompt", ASKED)
def test_the_web_takes_no_place(tmp_path: Path, prompt: str) -> None:
    """Twenty lines from outside that repeat the question, and one that repeats the answer: the owner's line comes all the same."""
    web = "".join(f"- W(src=web): {prompt} № {n}\n" for n in range(20)) + f"- W(src=web): {ASKED[prompt]}\n"
    pages = {"memory/2025-11-20.md": f"- W: {ASKED[prompt]}\n", "memory/2025-11-21.md": web}
    answer, _ = answer_hook(write_pages(tmp_path, pages), "prompt", claude(prompt), NOW)
    told = answer["hookSpecificOutput"]["additionalContext"] if answer else ""
    assert ASKED[prompt] in told and "№" not in told


def test_cursor_is_answered_in_its_own_words(tmp_path: Path) -> None:
    """Cursor names events in camelCase, takes `additional_context`, and says where it is in `workspace_roots`."""
    root = fixture_copy(tmp_path)
    given = {"conversation_id": "c", "generation_id": "g", "hook_event_name": "sessionStart", "cursor_version": "3.1.0", "workspace_roots": [str(root)]}  # fmt: skip
    done = hook("session-start", given, root)
    assert list(json.loads(done.stdout)) == ["additional_context"] and "Quill" in said(done)


def test_private_lines_never_go_out(tmp_path: Path) -> None:
    """Neither as a hit, nor in the core, nor as what replaced something: the model may be anywhere."""
    pages = {
        "memory.md": "# Core\n\nIrina runs the station.\n\n- W(private) @Irina: The door code is 4711-corvus\n",
        "memory/2025-11-27.md": "- W(private, key=code) @Irina: The new door code is 9922-corvus\n- W(key=code) @Irina: The door code was 1234-corvus\n- W @Irina: Irina has a door\n",
    }
    root = write_pages(tmp_path, pages).root
    for prompt in ("", "What is Irina's door code corvus?", "9922-corvus"):
        text = said(hook("prompt" if prompt else "session-start", claude(prompt), root))
        assert "4711" not in text and "9922" not in text
    assert "Irina has a door" in said(hook("prompt", claude("Which door does Irina have?"), root))


# -- whatever stands on stdin -----------------------------------------------------------------------------------------

RUBBISH = {
    "empty": b"", "blank": b" \n", "half": b'{"prompt": "Nightjar', "list": b"[]", "null": b"null", "number": b"7", "bytes": b"\xff\xfe\x00",
    "nul": b"\0" * 100, "deep": b"[" * 200_000, "wrong types": b'{"prompt": {"a": 1}, "cwd": 3, "workspace_roots": "x", "transcript_path": []}',
    "surrogate": b'{"prompt": "\\ud800 Nightjar \\u0000"}', "utf-16": '{"prompt": "x"}'.encode("utf-16"), "huge": b'{"prompt": "' + b"Nightjar secretword " * 500_000 + b'"}',
    "long": b'{"prompt": "' + b"Nightjar secretword " * 100_000 + b'"}', "no event": b'{"prompt": "secretword"}',
}  # fmt: skip


OBJECTS = ("wrong types", "surrogate", "long", "no event")
PAIRS = [(event, name) for name in OBJECTS for event in EVENTS]
PAIRS += zip(
    itertools.cycle(EVENTS), sorted(RUBBISH.keys() - set(OBJECTS)), strict=False
)  # which end before an event is looked at


@pytest.mark.parametrize(("event", "name"), PAIRS)
def test_rubbish_on_stdin(tmp_path: Path, event: str, name: str) -> None:
    """No error, no flood, no word of it in the log."""
    root = write_pages(tmp_path, {"memory/2025-11-27.md": "- W @Nightjar: Nightjar listens\n"}).root
    done = hook(event, RUBBISH[name], root)
    assert done.returncode == 0 and done.stderr == b"" and len(done.stdout) < 20_000
    assert "secretword" not in "".join(log_of(root)) and len(log_of(root)) <= 1
    if name in ("half", "list", "deep", "bytes", "huge"):
        assert "stdin" in log_of(root)[0] and f" {event}: " in log_of(root)[0]


@posix
@pytest.mark.parametrize(
    ("stdin", "event"), [*zip(("<&-", "</dev/zero", "</dev/null", "</dev/zero", "<&-"), EVENTS, strict=True)]
)
def test_no_stdin_at_all(tmp_path: Path, stdin: str, event: str) -> None:
    """Closed, or a device that is never at its end."""
    root = write_pages(tmp_path, {"memory/2025-11-27.md": "- W: x\n"}).root
    command = f"{sys.executable} -m memctl hook {event} -w {root}"
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(["sh", "-c", f"{command} {stdin}"], capture_output=True, timeout=60, env=env)
    assert (done.returncode, done.stderr) == (0, b"")


@posix
@pytest.mark.parametrize("streams", [">&-", ">/dev/full", "| true", "2>&-", ">&- 2>&- <&-"])
def test_nobody_listens(tmp_path: Path, streams: str) -> None:
    """Closed streams, a full disk behind them, a host that is gone; nothing of it ends up in a file of ours."""
    root = write_pages(tmp_path / "notes", {"memory/2025-11-27.md": "- W @Nightjar: Nightjar listens at night\n"}).root
    env = os.environ | {"PYTHONPATH": str(ROOT), "MEMCTL_VECTORS": "none"}
    command = f"{sys.executable} -m memctl hook session-start -w {root} {streams}"
    done = subprocess.run(["sh", "-c", command], capture_output=True, timeout=60, env=env, stdin=subprocess.DEVNULL)
    assert (done.returncode, done.stderr) == (0, b"")
    assert call(["index", "--verify"], root).code == 0


# -- whatever the workspace is ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("event", "places"),
    [("prompt", ("gone", "file", "empty")), *((each, ("gone",)) for each in ("no-such-event", *EVENTS))],
)
def test_no_workspace(tmp_path: Path, event: str, places: tuple[str, ...]) -> None:
    """Not there, a file, without a sign; nothing is made."""
    (tmp_path / "file").write_text("x")
    (tmp_path / "empty").mkdir()
    for place in places:
        done = hook(event, claude("Nightjar"), tmp_path / place, cwd=tmp_path)
        assert is_silent(done), place
    assert not (tmp_path / "gone").exists()


@posix
def test_the_folder_in_which_it_runs_is_gone(tmp_path: Path) -> None:
    """A worktree that the agent removed: what the host says counts, and a path that is whole."""
    root = write_pages(tmp_path / "notes", {"memory/2025-11-27.md": "- W @Nightjar: Nightjar listens at night\n"}).root
    gone = tmp_path / "gone"
    gone.mkdir()
    done = hook("prompt", claude("When does Nightjar listen?"), root, cwd=gone, before=gone.rmdir)
    assert "listens at night" in said(done)


DAMAGE: dict[str, tuple[str, bytes | None]] = {
    "settings": ("memctl.toml", b"[recall\n"), "index": (".memory/index.sqlite", b"rubbish" * 1000), "index folder": (".memory/index.sqlite", None),
    "page": ("memory/2025-11-28.md", bytes(range(256)) * 20), "memory file": (".memory", b"a file"),
}  # fmt: skip


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_workspace(tmp_path: Path, damage: str) -> None:
    """Broken settings, an index of rubbish, a folder in its place, a page that is not text."""
    root = write_pages(tmp_path, {"memory/2025-11-27.md": "- W @Nightjar: Nightjar listens\n"}).root
    name, data = DAMAGE[damage]
    (root / name).parent.mkdir(exist_ok=True)
    if data is None:
        (root / name).mkdir()
    else:
        (root / name).write_bytes(data)
    for event in EVENTS:
        done = hook(event, claude("What does Nightjar hear?"), root)
        assert done.returncode == 0 and done.stderr == b"" and len(done.stdout) < 10_000


@posix
@pytest.mark.parametrize("trouble", ["full disk", "locked index"])
def test_what_cannot_be_written_is_no_trouble_of_the_host(tmp_path: Path, trouble: str) -> None:
    """Not a byte can be written, or another process writes to the index for as long as it likes."""
    import resource

    root = write_pages(tmp_path / "notes", {"memory/2025-11-27.md": "- W @Nightjar: The gateway is an old one\n"}).root
    call(["index"], root)
    given = claude(
        "Which gateway does Nightjar use?",
        transcript_path=str(written(tmp_path, "Remember: I prefer tabs over spaces.")),
    )
    full = (lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))) if trouble == "full disk" else None
    with closing(sqlite3.connect(root / ".memory/index.sqlite", isolation_level=None)) as database:
        if trouble == "locked index":
            database.execute("BEGIN EXCLUSIVE")
        for event in EVENTS:
            done = hook(event, given, root, before=full)
            assert (done.returncode, done.stderr) == (0, b""), event


@posix
def test_an_agent_is_not_kept_waiting(tmp_path: Path) -> None:
    """stdin that nobody closes: the hook leaves by itself, and says in the log that it was late."""
    root = write_pages(tmp_path, {"memory/2025-11-27.md": "- W: x\n"}).root
    words = [sys.executable, "-m", "memctl", "hook", "prompt", "-w", str(root)]
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    reading, writing = os.pipe()
    try:
        assert is_silent(subprocess.run(words, stdin=reading, capture_output=True, timeout=60, env=env))
    finally:
        os.close(reading)
        os.close(writing)
    assert re.search(r"prompt: late \(\d+\.\d s\)", log_of(root)[0])


@pytest.mark.parametrize("event", ["prompt", "session-end"])
@pytest.mark.parametrize("folder", ["told", "here"])
def test_what_is_late_stands_in_the_log_of_the_folder_that_the_host_tells(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, event: str, folder: str
) -> None:
    """No `--workspace`, no variable; the job is ended before it can answer, or goes on. A folder without memory gets no log."""
    root = write_pages(tmp_path / "notes", {"memory/2025-11-27.md": "- W: x\n"}).root
    monkeypatch.delenv("MEMCTL_WORKSPACE", raising=False)
    monkeypatch.chdir(root if folder == "here" else tmp_path)

    def late(job: Callable[[], bytes], seconds: float, *, finish: float = 0.0) -> Outcome:
        if folder == "told":
            with suppress(_Ended):
                job()
        return Outcome(None, "goes on" if finish else "late")

    def ended(*given: Any) -> None:
        raise _Ended

    monkeypatch.setattr("memctl.agents.hooks.run_with_timeout", late)
    monkeypatch.setattr("memctl.agents.hooks.answer_hook", ended)
    given = io.StringIO(json.dumps(claude("Which gateway?", cwd=str(root))))
    assert run_hook(event, None, datetime(2025, 11, 30), given) is None
    assert len(log_of(root)) == 1 and f"{event}: {'late' if event == 'prompt' else 'goes on'} (" in log_of(root)[0]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["notes"]


class _Ended(Exception):
    """In place of the signal that ends a job."""


def test_settings_that_cannot_be_read_stand_in_the_log(tmp_path: Path) -> None:
    """Of the folder that the host tells, too."""
    root = write_pages(tmp_path / "notes", {"memory/2025-11-27.md": "- W: x\n", "memctl.toml": "[nonsense]\n"}).root
    given = json.dumps(claude("Which gateway?", cwd=str(root))).encode()
    assert is_silent(run_memctl(["hook", "prompt"], given, environment(), tmp_path, 60))
    assert "prompt: BadSettings" in log_of(root)[0]


# -- bounded work -----------------------------------------------------------------------------------------------------


def _fails() -> bytes:
    raise KeyError("secretword")


def _spins() -> bytes:
    re.match(r"(a+)+$", "a" * 60 + "b")  # holds the interpreter for years
    return b"never"


@posix
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_bounded_work() -> None:
    """Its answer; the name of what it raised, and where, without its words; nothing from one that takes too long."""
    assert run_with_timeout(lambda: b"\x00answer" * 50_000, 20) == Outcome(b"\x00answer" * 50_000)
    failed = run_with_timeout(_fails, 20)
    assert failed.answer is None and re.fullmatch(r"KeyError at test_hooks\.py:\d+", failed.trouble)
    assert run_with_timeout(_spins, 0.3) == Outcome(None, "late")
    assert run_with_timeout(lambda: os.kill(os.getpid(), 9) or b"", 20) == Outcome(None, "ended by a signal")  # type: ignore[func-returns-value]
    assert run_with_timeout(lambda: sys.exit(3), 20).trouble.startswith("SystemExit")


@posix
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_what_is_worth_finishing_goes_on(tmp_path: Path) -> None:
    """The caller leaves in time, the work comes to its end."""

    def slow() -> bytes:
        while not (tmp_path / "left").exists():
            time.sleep(0.01)
        (tmp_path / "done").write_text("yes")
        return b"x"

    assert run_with_timeout(slow, 0.1, finish=20) == Outcome(None, "goes on")
    (tmp_path / "left").touch()
    for _ in range(400):
        if (tmp_path / "done").exists():
            return
        time.sleep(0.05)
    pytest.fail("the work did not come to its end")


def test_bounded_work_without_fork(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on Windows: a thread that ends with the process."""
    monkeypatch.delattr(os, "fork", raising=False)
    assert run_with_timeout(lambda: b"answer", 20) == Outcome(b"answer")
    assert run_with_timeout(_fails, 20) == Outcome(None, "KeyError")
    assert run_with_timeout(lambda: bytes(threading.Event().wait(20)), 0.05) == Outcome(None, "late")


def test_the_log_is_turned_over(tmp_path: Path) -> None:
    """One line a time, at most 256 KiB and one older file; a link or a missing folder is no reason to fail."""
    log_hook(str(tmp_path), datetime(2025, 11, 30), "prompt", "nowhere")
    assert not list(tmp_path.iterdir())
    (tmp_path / ".memory").mkdir()
    for number in range(1200):
        log_hook(str(tmp_path), datetime(2025, 11, 30), "prompt", f"line {number}\nforged " + "x" * 600)
    sizes = [path.stat().st_size for path in (tmp_path / ".memory").iterdir()]
    assert len(sizes) == 2 and max(sizes) < 257 * 1024
    assert all(line.startswith("2025-11-30T00:00:00 prompt: line ") for line in log_of(tmp_path))


# -- out of a transcript -----------------------------------------------------------------------------------------------


def session(*turns: tuple[str, str] | Mapping[str, Any]) -> str:
    """A session of Claude Code, an object a line."""
    lines: list[Mapping[str, Any]] = []
    for number, turn in enumerate(turns):
        if isinstance(turn, Mapping):
            lines.append(turn)
            continue
        role, text = turn
        content: Any = text if role == "user" else [{"type": "text", "text": text}]
        lines.append({
            "type": role, "message": {"role": role, "content": content}, "uuid": f"u{number}", "sessionId": "5b0c",
            "timestamp": f"2025-11-29T10:{number:02d}:00.000Z", "cwd": "/home/quill/atlas", "version": "2.1.0",
        })  # fmt: skip
    return "".join(json.dumps(line) + "\n" for line in lines)


def written(folder: Path, *said_by_user: str) -> Path:
    """A transcript in which a user says these things."""
    turns = [turn for text in said_by_user for turn in (("user", text), ("assistant", "All right."))]
    path = folder / "5b0c.jsonl"
    path.write_text(session(*turns), "utf-8")
    return path


@pytest.mark.parametrize(("event", "name"), [("pre-compact", "PreCompact"), ("session-end", "SessionEnd")])
def test_nothing_is_lost_when_a_session_is_shortened(tmp_path: Path, event: str, name: str) -> None:
    """What was decided and preferred stands in the log of its day, with the place in the transcript; once."""
    root = write_pages(tmp_path / "notes", {"memory.md": "# Core\n"}).root
    path = written(
        tmp_path,
        "We decided to use PostgreSQL 17 for Atlas because the joins are faster.",
        "Remember: I prefer tabs over spaces in all my projects.",
        "Запомни: Ирина работает на станции по вторникам.",
    )
    given = claude(name=name, transcript_path=str(path), trigger="auto")
    done = hook(event, given, root)
    assert is_silent(done)
    log = kept(root)
    assert all(word in log for word in ("PostgreSQL 17", "tabs over spaces", "Ирина", "src=user:5b0c.jsonl#L1"))
    assert re.fullmatch(r"2025-11-30T09:00:00 [\w-]+: kept \d+, asked \d+, refused \d+ \(\d+\.\d s\)", log_of(root)[0])
    again = hook(event, given, root)
    assert again.returncode == 0 and ": kept 0, " in log_of(root)[1]
    assert kept(root) == log
    assert "tabs over spaces" in said(hook("prompt", claude("tabs or spaces in my projects?"), root))


def test_a_session_of_codex(tmp_path: Path) -> None:
    """Messages in envelopes, said twice (as an item and as an event), beside instructions that nobody said."""
    root = write_pages(tmp_path / "notes", {"memory.md": "# Core\n"}).root

    def line(kind: str, **payload: Any) -> str:
        return json.dumps({"timestamp": "2025-11-29T10:00:00.000Z", "type": kind, "payload": payload}) + "\n"

    def message(role: str, text: str) -> str:
        kind = "output_text" if role == "assistant" else "input_text"
        return line("response_item", type="message", role=role, content=[{"type": kind, "text": text}])

    said_twice = "We decided to use SQLite for Borealis because it needs no server."
    path = tmp_path / "rollout-2025-11-29T10-00-00-01a1.jsonl"
    path.write_text(
        line("session_meta", id="01a1", cwd="/home/quill/borealis")
        + message("developer", "Remember: the developer prefers short answers.")
        + message("user", "# AGENTS.md instructions\n\nRemember: I prefer rules over freedom.")
        + line("world_state", full=True, state={"agents_md": {"text": "Remember: I prefer states."}})
        + message("user", said_twice)
        + line(
            "event_msg",
            type="item_completed",
            item={"type": "UserMessage", "content": [{"type": "text", "text": said_twice}]},
        )
        + line("response_item", type="function_call_output", output="We decided to use Oracle for Borealis.")
        + message("assistant", "Understood.")
        + line("compacted", message="Remember: I prefer summaries."),
        "utf-8",
    )
    assert hook("session-end", claude(name="SessionEnd", transcript_path=str(path)), root).stdout == b""
    log = kept(root)
    assert "SQLite for Borealis" in log and ".jsonl#L5" in log and log.count("\n- ") == 1


@pytest.mark.parametrize("transcript", [None, "", "/nowhere.jsonl", 3, "~"])
def test_no_transcript(tmp_path: Path, transcript: Any) -> None:
    """Codex and Cursor may have none; a folder is none."""
    root = write_pages(tmp_path, {"memory/2025-11-27.md": "- W: x\n"}).root
    done = hook("pre-compact", claude(name="PreCompact", transcript_path=transcript), root, HOME=str(tmp_path))
    assert is_silent(done)


def _reminder(text: str) -> tuple[str, str]:
    return "user", f"<system-reminder>\nUserPromptSubmit hook additional context: {text}\n</system-reminder>"


def _attachment(text: str) -> dict[str, Any]:
    """As Claude Code keeps it."""
    told = {"type": "hook_additional_context", "content": [text], "hookName": "UserPromptSubmit", "toolUseID": "x", "hookEvent": "UserPromptSubmit"}  # fmt: skip
    common = {"uuid": "a", "sessionId": "5b0c", "timestamp": "2025-11-29T10:00Z"}
    return common | {"type": "attachment", "attachment": told}


@pytest.mark.parametrize("form", [_reminder, _attachment, lambda text: ("user", text), lambda text: ("user", f"Look:\n\n{text}\n\nand now?"), lambda text: ("assistant", f"The notes say:\n{text}")])  # fmt: skip
def test_what_a_hook_put_in_does_not_come_back(tmp_path: Path, form: Callable[[str], Any]) -> None:
    """The output of the hooks runs through ingest, however the host keeps it: none of it is kept as if it were new."""
    workspace = write_pages(
        tmp_path / "notes",
        {
            "memory.md": "# Core\n\nRemember: we decided that Irina decides about birds.\n",
            "memory/2025-11-27.md": "- O(0.9) @Irina: I prefer tea over coffee at the station\n- W @Atlas: We decided to use PostgreSQL because joins are faster\n"
            "- B(outcome=fail, task=deploy) @Atlas: The deploy failed because the disk was full\n",
        },
    )
    told = [
        said(hook("session-start", claude(name="SessionStart"), workspace.root)),
        said(hook("prompt", claude("Why did we decide to use PostgreSQL joins for Atlas?"), workspace.root)),
    ]
    assert "PostgreSQL" in told[1] and "tea over coffee" in told[0]
    path = tmp_path / "5b0c.jsonl"
    path.write_text(
        session(*(form(text) for text in told), ("user", "Remember: I prefer green tea in the evening.")), "utf-8"
    )
    # Another, empty workspace: nothing can be refused there for being known already.
    other = write_pages(tmp_path / "other", {"memory.md": "# Core\n"})
    done = Memory(other, lambda: datetime(2025, 11, 30)).ingest(path, apply=True)
    texts = [str(item.fact.text) for item in done.kept]
    assert len(texts) == 1 and "green tea" in texts[0], texts
