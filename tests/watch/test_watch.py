"""Watch: a real process on real files. What it prints is waited for, never a time."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from datetime import datetime, time, timedelta
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from face_helpers import call, fixture_copy, recent_copy
from store_helpers import LOG, environment, git as run_git, make_workspace, memctl

from memctl.errors import ExtraMissing
from memctl.index.sync import verify
from memctl.memory import Memory
from memctl.notes.workspace import Workspace
from memctl.watch import watch as watching
from memctl.watch.watch import FolderEvents, Noticed

resource = pytest.importorskip("resource")  # limits and signals as Unix has them
DOCS = Path(__file__).parents[2] / "docs/watch.md"
PATIENCE = 60.0  # the longest that anything is waited for


class Watching:
    """`memctl watch --json` as a process; its lines are kept in the order in which they came."""

    def __init__(self, root: Path, *words: str, **environ: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "memctl", "watch", "--json", "-w", str(root), *words],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(**environ), cwd="/", text=True,
        )  # fmt: skip
        self.lines: list[dict[str, Any]] = []
        self.ended: tuple[int, str] | None = None
        self._more = threading.Condition()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            with self._more:
                self.lines.append(json.loads(line))
                self._more.notify_all()

    def until(self, holds: Callable[[list[dict[str, Any]]], Any]) -> list[dict[str, Any]]:
        """All lines so far, once `holds` is true for them."""
        with self._more:
            assert self._more.wait_for(lambda: holds(self.lines), PATIENCE), [line["told"] for line in self.lines][-9:]
            return list(self.lines)

    def event(self, name: str, after: int = 0) -> dict[str, Any]:
        """The first line of that kind, from the line `after` on."""
        return next(
            line
            for line in self.until(lambda lines: any(x["event"] == name for x in lines[after:]))[after:]
            if line["event"] == name
        )

    def stop(self, number: int = signal.SIGTERM) -> tuple[int, str]:
        """Exit code and what went to stderr."""
        if self.ended:
            return self.ended
        if self.process.poll() is None:
            self.process.send_signal(number)
        code = self.process.wait(PATIENCE)
        self._reader.join(PATIENCE)
        assert self.process.stdout and self.process.stderr
        errors = self.process.stderr.read()
        self.process.stdout.close()
        self.process.stderr.close()
        self.ended = code, errors
        return self.ended


@pytest.fixture
def start() -> Iterator[Callable[..., Watching]]:
    """Starts a process that watches and has looked once; every one is ended."""
    running: list[Watching] = []

    def begin(root: Path, *words: str, **environ: str) -> Watching:
        running.append(Watching(root, *words, **environ))
        running[-1].event("start")
        return running[-1]

    yield begin
    for each in running:
        if each.process.poll() is None:
            each.process.kill()
        each.stop()


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return make_workspace(tmp_path / "notes")


def is_fresh(workspace: Workspace) -> bool:
    """True if the index as it stands, unsynced, is what a rebuild would make."""
    return not verify(workspace).differences


def edited(workspace: Workspace, text: str = "Watched") -> None:
    with open(workspace.root / LOG, "a", encoding="utf-8") as page:
        page.write(f"- W: {text}\n")


# -- what it prints ---------------------------------------------------------------------------------------------------


def test_one_calm_line_per_change(workspace: Workspace, start: Callable[..., Watching]) -> None:
    """New lines, changed ones, new pages, pages that go; in three scripts. Nothing for what memctl itself writes."""
    seen = start(workspace.root)
    assert seen.lines[0] | {"at": ""} == {
        "at": "", "event": "start", "workspace": str(workspace.root), "pages": 6, "read": 6, "dropped": 0,
        "told": f"watching {workspace.root}: 6 pages, 6 read",
    }  # fmt: skip
    edited(workspace)
    assert seen.until(lambda lines: len(lines) == 2)[1]["told"] == f"{LOG}: 1 line new"
    page = workspace.root / LOG
    page.write_text(page.read_text("utf-8").replace("Watched", "Seen"), "utf-8")
    assert seen.until(lambda lines: len(lines) == 3)[2]["told"] == f"{LOG}: 1 line new, 1 gone"
    (workspace.root / "bank/заметка.md").write_text("# Заметка\n\nПервая строка.\n", "utf-8")
    assert seen.until(lambda lines: len(lines) == 4)[3]["told"] == "bank/заметка.md: 2 lines new"
    memctl("recall", "anything", "-w", str(workspace.root))
    memctl("index", "--rebuild", "-w", str(workspace.root))
    (workspace.root / "bank/picture.png").write_bytes(b"\x89PNG")
    (workspace.root / ".git").mkdir()
    (workspace.root / ".git/x.md").write_text("no page")
    os.rename(workspace.root / "bank/заметка.md", workspace.root / "bank/笔记.md")
    assert [line["told"] for line in seen.until(lambda lines: len(lines) == 6)[4:]] == [
        "bank/заметка.md: 2 lines gone", "bank/笔记.md: 2 lines new",
    ]  # fmt: skip
    (workspace.root / "bank/笔记.md").unlink()
    assert seen.until(lambda lines: len(lines) == 7)[6] | {"at": ""} == {
        "at": "", "event": "change", "told": "bank/笔记.md: 2 lines gone", "path": "bank/笔记.md", "new": 0, "gone": 2,
    }  # fmt: skip
    assert is_fresh(workspace)
    assert seen.stop() == (0, "")


def test_text_lines_begin_with_the_time(workspace: Workspace) -> None:
    """And `--once` looks once."""
    answer = call(["watch", "--once", "--now", "2025-11-27T12:04:31", "-w", str(workspace.root)], workspace.root)
    assert (answer.code, answer.out) == (0, f"12:04:31 {workspace.root}: 6 pages, 6 read\n")
    again = call(["watch", "--once", "--json", "-w", str(workspace.root)], workspace.root)
    assert json.loads(again.out)["told"] == f"{workspace.root}: 6 pages, nothing changed"


def test_many_changes_are_one_line(workspace: Workspace, start: Callable[..., Watching]) -> None:
    """A burst is counted: as many pages read as written, and none missing when it has settled."""
    seen = start(workspace.root)
    for number in range(300):
        folder = workspace.root / f"bank/burst/{number % 20}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{number}.md").write_text(f"# Page {number}\n\nOne of many.\n")
    seen.until(lambda lines: sum(line.get("read", line["event"] == "change") for line in lines[1:]) >= 300)
    assert len(seen.lines) < 100 and is_fresh(workspace)


def test_a_page_that_cannot_be_read_is_named_once(workspace: Workspace, start: Callable[..., Watching]) -> None:
    """And nothing else stops."""
    seen = start(workspace.root)
    (workspace.root / "bank/bad.md").write_bytes(b"\0\1\2" * 50)
    assert seen.event("problem")["told"] == "bank/bad.md: binary, not text"
    edited(workspace)
    seen.event("change")
    assert [line["event"] for line in seen.lines] == ["start", "problem", "change"]


# -- editors ----------------------------------------------------------------------------------------------------------


def vim(page: Path, text: str) -> None:
    """`:w` with backupcopy=no: a probe, the old file renamed away, a new one, the old one deleted."""
    (page.parent / "4913").write_text("")
    (page.parent / "4913").unlink()
    (page.parent / f".{page.name}.swp").write_text("swap")
    os.rename(page, f"{page}~")
    page.write_text(text, "utf-8")
    os.unlink(f"{page}~")


def emacs(page: Path, text: str) -> None:
    """A lock link, an autosave, a backup by copy, then a file renamed into place."""
    (page.parent / f".#{page.name}").symlink_to("user@host.1:2")
    (page.parent / f"#{page.name}#").write_text(text, "utf-8")
    shutil.copy(page, f"{page}~")
    (page.parent / "tmpA1b2").write_text(text, "utf-8")
    os.replace(page.parent / "tmpA1b2", page)
    (page.parent / f"#{page.name}#").unlink()
    (page.parent / f".#{page.name}").unlink()


def vscode(page: Path, text: str) -> None:
    """Truncated and written in place."""
    with open(page, "r+", encoding="utf-8") as file:
        file.truncate(0)
        file.flush()
        file.write(text)


def sed(page: Path, text: str) -> None:
    """`sed -i`, the real one."""
    old, new = page.read_text("utf-8").splitlines()[-1], text.splitlines()[-1]
    subprocess.run(["sed", "-i", f"s#^{re.escape(old)}$#{new}#", str(page)], check=True)


def kate(page: Path, text: str) -> None:
    """A hard link as the backup, and a rename over the name."""
    os.link(page, f"{page}~")
    (page.parent / ".save").write_text(text, "utf-8")
    os.rename(page.parent / ".save", page)


def test_saves_of_editors_are_seen(workspace: Workspace, start: Callable[..., Watching]) -> None:
    """Each time, however the editor does it, as one changed line."""
    seen = start(workspace.root)
    page = workspace.root / "bank/decisions/why.md"
    page.write_text("# Why\n\nVersion 0.\n", "utf-8")
    seen.event("change")
    at = str(page.relative_to(workspace.root))
    for number, save in enumerate([vim, emacs, vscode, sed, kate, vim], 1):
        before = len(seen.lines)
        save(page, f"# Why\n\nVersion {number}.\n")
        for backup in page.parent.glob("*~"):
            backup.unlink()
        seen.until(lambda lines, before=before: sum(x["new"] - x["gone"] for x in lines[before:] if x.get("path") == at) == 0 and len(lines) > before)  # fmt: skip
    assert is_fresh(workspace)


@pytest.mark.skipif(shutil.which("git") is None, reason="no git")
def test_a_checkout_of_another_branch(workspace: Workspace, start: Callable[..., Watching]) -> None:
    """All pages of the one go, all of the other come."""
    git = partial(run_git, workspace.root)
    git("init", "-b", "main")
    (workspace.root / ".gitignore").write_text(".memory/\n")
    git("add", "-A")
    git("commit", "-m", "one")
    git("checkout", "-b", "other")
    for number in range(30):
        (workspace.root / f"bank/other-{number}.md").write_text(f"# Other {number}\n")
    edited(workspace)
    git("add", "-A")
    git("commit", "-m", "two")
    seen = start(workspace.root)
    git("checkout", "main")
    seen.until(lambda lines: sum(line.get("dropped", 0) for line in lines) == 30)
    git("checkout", "other")
    seen.until(lambda lines: sum(line.get("read", 0) for line in lines[1:]) >= 31)
    assert is_fresh(workspace)


# -- the folder -------------------------------------------------------------------------------------------------------


def test_the_folder_goes_and_comes_back(workspace: Workspace, start: Callable[..., Watching], tmp_path: Path) -> None:
    """Moved away and back, deleted and made again, another one in its place; nothing is made in an empty mount point."""
    seen = start(workspace.root)
    away = tmp_path / "away"
    os.rename(workspace.root, away)
    assert seen.event("gone")["told"] == f"{workspace.root} is gone; waiting for it"
    with open(away / LOG, "a", encoding="utf-8") as page:
        page.write("- W: Written while it was away\n")
    workspace.root.mkdir()  # an empty mount point
    workspace.root.rmdir()
    os.rename(away, workspace.root)
    seen.event("back")
    assert seen.until(lambda lines: lines[-1]["event"] == "change")[-1]["told"] == f"{LOG}: 1 line new"
    count = len(seen.lines)
    shutil.copytree(workspace.root, away, ignore=shutil.ignore_patterns(".memory"))
    shutil.rmtree(workspace.root)
    seen.event("gone", count)
    workspace.root.mkdir()
    assert not list(workspace.root.iterdir())
    for child in away.iterdir():
        os.rename(child, workspace.root / child.name)
    seen.event("back", count)
    seen.until(lambda lines: any(line.get("read") or line.get("new") for line in lines[count:]))
    count = len(seen.lines)
    edited(workspace, "and it is still seen")
    seen.until(lambda lines: any(line.get("path") == LOG for line in lines[count:]))
    assert is_fresh(workspace)
    assert seen.stop()[0] == 0


def test_settings_are_those_of_now(workspace: Workspace, start: Callable[..., Watching]) -> None:
    """Edited while it runs; settings that cannot be followed are told, and those of before go on."""
    seen = start(workspace.root)
    (workspace.root / "memctl.toml").write_text('ignore = ["bank/decisions/*"]\n')
    assert seen.event("change")["told"] == "bank/decisions/why-postgres.md: 5 lines gone"
    (workspace.root / "memctl.toml").write_text("ignore = 5\n")
    assert "going on with the settings of before" in seen.event("trouble")["told"]
    edited(workspace)
    seen.until(lambda lines: lines[-1].get("path") == LOG)
    assert [line["event"] for line in seen.lines] == ["start", "change", "trouble", "change"]


# -- other processes, full disks, the end -----------------------------------------------------------------------------


def test_between_looks_nothing_is_held(workspace: Workspace, start: Callable[..., Watching]) -> None:
    """No lock and no open file; others write, and it hears of it."""
    seen = start(workspace.root)
    done = memctl("retain", "Told by another process", "--date", "2025-11-27", "-w", str(workspace.root))
    assert done.returncode == 0
    seen.event("start")
    fds = Path(f"/proc/{seen.process.pid}/fd")
    if fds.is_dir():
        edited(workspace)
        seen.event("change")
        for _ in range(600):  # it may be looking just now
            held = [target for fd in fds.iterdir() if ".memory" in (target := _target(fd))]
            if not held:
                break
            threading.Event().wait(0.05)
        assert not held


def _target(fd: Path) -> str:
    try:
        return os.readlink(fd)
    except OSError:
        return ""


def test_another_writer_is_waited_for(workspace: Workspace, start: Callable[..., Watching]) -> None:
    """Says so once, and goes on when it is done."""
    seen = start(workspace.root)
    lock = sqlite3.connect(workspace.memory / "index.sqlite", isolation_level=None)
    lock.execute("BEGIN IMMEDIATE")
    edited(workspace)
    assert seen.event("trouble")["told"] == "another memctl is writing; waiting for it"
    lock.execute("ROLLBACK")
    lock.close()
    seen.event("change")
    assert [line["event"] for line in seen.lines if line["event"] != "resumed"] == ["start", "trouble", "change"]


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="limits of another process are Linux's")
def test_a_full_disk_is_told_and_outlived(workspace: Workspace, start: Callable[..., Watching]) -> None:
    """As far as a limit on file sizes is like one."""
    seen = start(workspace.root)
    no_limit = resource.prlimit(seen.process.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(seen.process.pid, resource.RLIMIT_FSIZE, (0, no_limit[1]))
    edited(workspace)
    assert "trying again" in seen.event("trouble")["told"]
    resource.prlimit(seen.process.pid, resource.RLIMIT_FSIZE, no_limit)
    seen.until(lambda lines: lines[-1]["event"] in ("change", "changes"))
    assert is_fresh(workspace)
    assert seen.stop()[0] == 0


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_it_stops_when_told(workspace: Workspace, start: Callable[..., Watching], number: int, code: int) -> None:
    """Without a word, with the index as it should be."""
    seen = start(workspace.root)
    assert seen.stop(number) == (code, "")
    assert memctl("index", "--verify", "-w", str(workspace.root)).returncode == 0


_SIGNALS_AT = """
import os, signal, sys
from memctl.__main__ import main
where, sys.argv, left, lines = sys.argv[1], ["memctl", *sys.argv[2:]], 2, {}

def tracer(frame, event, argument):
    global left
    lines[frame] = lines.get(frame, 0) + (event == "line")
    below = frame.f_back is not None and frame.f_back.f_code.co_name == "stop" and lines[frame] == 2
    at = below if where == "handler" else event == "call" and frame.f_code.co_name == where
    if at and left and callable(signal.getsignal(signal.SIGTERM)):
        left -= 1
        os.kill(os.getpid(), signal.SIGTERM)
    return tracer

sys.settrace(tracer)
sys.exit(main())
"""


@pytest.mark.parametrize("where", ["cb", "handler"])
def test_it_stops_wherever_a_signal_comes(workspace: Workspace, where: str) -> None:
    """Where Python drops an interrupt (`cb` of its import locks), and amid the handler of the signal before."""
    words = ["watch", "--json", "-w", str(workspace.root)]
    process = subprocess.Popen(
        [sys.executable, "-c", _SIGNALS_AT, where, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(), text=True,
    )  # fmt: skip
    assert process.stdout
    process.stdout.readline()
    process.send_signal(signal.SIGTERM)
    try:
        assert (process.wait(PATIENCE), process.communicate()[1]) == (0, "")
    finally:
        process.kill()


def test_it_stops_amid_a_sync(tmp_path: Path) -> None:
    """What was read by then is kept, and the next sync goes on."""
    words = "Words to read. Слова для чтения. 可读的文字。" * 40
    for pages in (400, 2_000, 10_000):  # until the signal comes before all are read
        root = tmp_path / str(pages)
        workspace = make_workspace(root, {f"bank/{n}.md": f"# {n}\n\n{words}" for n in range(pages)})
        seen, wal = Watching(root), workspace.memory / "index.sqlite-wal"
        while not seen.lines and not (wal.exists() and wal.stat().st_size):
            assert seen.process.poll() is None
            threading.Event().wait(0.002)
        assert seen.stop() == (0, "")
        assert memctl("index", "-w", str(root)).returncode == 0
        assert is_fresh(workspace)
        if not seen.lines:
            return
    pytest.fail("no sync lasted until its signal came")


def test_exit_codes_at_the_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No folder, a time that is none, no watchdog."""
    assert memctl("watch", "-w", str(tmp_path / "nowhere")).returncode == 10
    (tmp_path / "memory").mkdir()
    assert call(["watch", "--reflect-at", "25:00"], tmp_path).code == 2
    monkeypatch.setitem(sys.modules, "watchdog.observers", None)
    with pytest.raises(ExtraMissing) as caught:
        FolderEvents()
    assert (caught.value.exit_code, caught.value.cure) == (16, "pip install 'memctl-workspace[watch]'")


# -- in this process: clocks and events of our own ---------------------------------------------------------------------


class Silent(FolderEvents):
    """Events that never come, and wait for no time."""

    def __init__(self, between: Callable[[], None] = lambda: None) -> None:
        super().__init__()
        self.between = between

    def dispatch(self, event: Any) -> None:
        """Nobody pulls."""

    def wait(self, seconds: float) -> bool:
        self.between()
        return False


def run(
    workspace: Workspace, events: FolderEvents, clock: Callable[[], datetime] = datetime.now, **more: Any
) -> Iterator[Noticed]:
    return Memory(workspace, clock).watch(events, **{"vectors": False} | more)


def test_what_no_event_tells_heals(workspace: Workspace) -> None:
    """Events get lost: the look that comes by itself finds the change, and from then on looks often."""
    steps = iter([lambda: None, lambda: None, lambda: edited(workspace), *[lambda: None] * 5])
    lines = run(workspace, Silent(lambda: next(steps)()))
    told = [next(lines).told for _ in range(3)]
    assert told[1:] == [f"{LOG}: 1 line new", "changes come here without events; looking every 2 s instead"]
    lines.close()  # type: ignore[attr-defined]


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EMFILE])
def test_without_watches_it_looks_every_few_seconds(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """And says so, in one line."""
    monkeypatch.setattr(watching, "POLL_SECONDS", 0.05)

    def refuse(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("watchdog.observers.api.BaseObserver.schedule", refuse)
    lines = run(workspace, FolderEvents())
    first = next(lines)
    assert first.trouble and "fs.inotify.max_user_" in first.told and first.told.endswith("instead")
    assert next(lines).event == "start"
    edited(workspace)
    assert next(lines).event == "change"
    lines.close()  # type: ignore[attr-defined]


@pytest.mark.skipif(shutil.which("unshare") is None, reason="no namespaces here")
def test_folders_without_a_watch_are_noticed(workspace: Workspace) -> None:
    """watchdog passes over them in silence. In a namespace of users that has three watches."""
    limited = f"echo 3 > /proc/sys/user/max_inotify_watches && exec {sys.executable} -c '{_FIRST}' {workspace.root}"
    done = subprocess.run(
        ["unshare", "-Ur", "sh", "-c", limited], capture_output=True, text=True, env=environment(), timeout=PATIENCE
    )
    if "max_inotify_watches" in done.stderr or "unshare" in done.stderr:
        pytest.skip("no limits of our own here")
    short = r"(no watch on \d of \d folders|more folders than the system watches) \(fs.inotify.max_user_watches\)"
    assert re.search(short, done.stdout), done  # watchdog 4 says the second


_FIRST = "import sys; from pathlib import Path; from memctl.watch.watch import FolderEvents; b = FolderEvents(); b.start(Path(sys.argv[1])); print(b.problem)"


def told_at(root: Path, times: list[datetime]) -> list[tuple[Noticed, datetime]]:
    """What is noticed when each look is at the next of these times, and when; reflect is due at three."""
    now, steps = times[0], iter(times[1:])

    def sleep() -> None:
        nonlocal now
        now = next(steps)

    lines = run(Workspace(root.resolve()), Silent(sleep), lambda: now, reflect_at=time(3))
    told: list[tuple[Noticed, datetime]] = []
    with pytest.raises((StopIteration, RuntimeError)):
        while True:
            told.append((next(lines), now))
    return told


def test_reflect_once_a_day_also_after_a_sleep(tmp_path: Path) -> None:
    """At its time; slept past it, at the next look, once; and then the next day."""
    root = recent_copy(tmp_path)
    looks = [(30, 2, 59), (30, 3, 1), (30, 3, 6), (33, 3, 6), (33, 4, 6), (34, 4, 6)]
    times = [datetime(2025, 11, 1, hour, minute) + timedelta(day - 1) for day, hour, minute in looks]
    told = told_at(root, times)
    assert [when for line, when in told if line.event == "reflect"] == [times[1], times[3], times[5]]
    assert told[1][0].told.startswith("reflect: ") and (root / "bank/entities").is_dir()
    assert not [line for line, _ in told if line.trouble and "trying" in line.told]


def test_reflect_where_the_clock_was_wrong(tmp_path: Path) -> None:
    """Set years ahead and put right: not silent for years. Put back by an hour, as in autumn: not twice in that night."""
    times = [datetime(2031, 5, 1, 2, 59), datetime(2031, 5, 1, 3, 1)]
    times += [datetime(2025, 10, 26, 2, 59), datetime(2025, 10, 26, 3, 1), datetime(2025, 10, 26, 2, 1)]
    times += [datetime(2025, 10, 26, 3, 2), datetime(2025, 10, 27, 3, 1)]
    told = told_at(recent_copy(tmp_path), times)
    assert [when for line, when in told if line.event == "reflect"] == [times[1], times[3], times[6]]


def test_reflect_in_the_process(tmp_path: Path, start: Callable[..., Watching]) -> None:
    """Its pages are no change that is told again."""
    root = recent_copy(tmp_path)
    seen = start(root, "--reflect-at", "03:00", MEMCTL_NOW="2025-11-30T02:59:58")
    assert seen.event("reflect")["pages"]
    count = len(seen.lines)
    (root / "bank/marker.md").write_text("# Marker\n")
    assert seen.event("change", count)["path"] == "bank/marker.md"
    assert [line["event"] for line in seen.lines[count:]].count("change") == 1  # notes of the round may come after it


def test_new_lines_get_vectors_when_nothing_else_is_to_be_done(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Words first; a model that cannot be had is told once."""
    from hash_embedder import HashEmbedder

    from memctl.vectors import models as embedders

    monkeypatch.setattr(embedders, "choose", lambda _: HashEmbedder())
    lines = run(workspace, Silent(), vectors=True)
    assert [next(lines).event, next(lines).event] == ["start", "embedded"]
    edited(workspace)
    assert next(lines).event == "change"
    last = next(lines)
    assert (last.event, last.told) == ("embedded", "1 line embedded")
    lines.close()  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("path", "kind", "folder", "counts"),
    [
        ("memory/a.md", "modified", False, True), ("memory/a.md", "opened", False, False), ("memory/a.md", "closed_no_write", False, False),
        (".memory/index.sqlite", "modified", False, False), (".git/x.md", "created", False, False), ("bank", "modified", True, False),
        ("bank", "deleted", True, True), ("a.png", "created", False, False), ("memctl.toml", "modified", False, True), ("bank/memctl.toml", "modified", False, False),
        ("node_modules/a.md", "created", False, False), ("", "deleted", True, True),
    ],
)  # fmt: skip
def test_what_counts(path: str, kind: str, folder: bool, counts: bool) -> None:
    """Pages, folders that come and go, the settings; never what reading or writing the index does."""
    events = FolderEvents()
    events._root = "/notes"
    events.dispatch(
        SimpleNamespace(event_type=kind, src_path=f"/notes/{path}".rstrip("/"), dest_path="", is_directory=folder)
    )
    assert events.has_changed is counts


# -- docs/watch.md ----------------------------------------------------------------------------------------------------


def blocks(kind: str, page: Path = DOCS) -> list[str]:
    return re.findall(rf"```{kind}\n(.*?)```", page.read_text("utf-8"), re.DOTALL)


def units(*pages: Path) -> dict[str, str]:
    """The unit files of pages by name: the first line of each is a comment with it."""
    found = [block for page in pages for block in blocks("ini", page)]
    return {block.partition("\n")[0].rsplit("/", 1)[-1]: block for block in found}


def test_the_units_are_units(tmp_path: Path) -> None:
    """systemd itself says so where it is here; else they are at least well formed."""
    found = units(DOCS, DOCS.with_name("serve.md"))
    reflect = {"memctl-reflect.service", "memctl-reflect.timer"}
    assert set(found) == {"memctl-watch.service", "memctl-serve.service", *reflect}
    for name, text in found.items():
        program = tmp_path / "memctl"
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
        (tmp_path / name).write_text(text.replace("%h/.local/bin/memctl", str(program)))
        assert "[Unit]\n" in text and re.search(r"(?m)^(ExecStart=|OnCalendar=)", text)
    if shutil.which("systemd-analyze"):
        command = ["systemd-analyze", "verify", "--user", *(str(tmp_path / name) for name in found)]
        env = os.environ | {"XDG_RUNTIME_DIR": str(tmp_path)}
        done = subprocess.run(command, capture_output=True, text=True, env=env)
        if "Failed to" in done.stderr:
            pytest.skip(f"systemd-analyze can't run here: {done.stderr.splitlines()[0]}")
        complaints = [line for line in done.stderr.splitlines() if any(name in line for name in found)]
        assert not complaints, complaints


def test_the_commands_of_units_and_cron_run_with_nothing_but_home_and_path(tmp_path: Path) -> None:
    """`env -i`, as cron has it."""
    root = fixture_copy(tmp_path)
    home = tmp_path / "home"
    (home / ".local/bin").mkdir(parents=True)
    os.rename(root, home / "notes")
    program = home / ".local/bin/memctl"
    here = Path(__file__).parents[2]
    program.write_text(f'#!/bin/sh\nPYTHONPATH={here} exec {sys.executable} -m memctl "$@"\n')
    program.chmod(0o755)
    (line,) = (line for block in blocks("cron") for line in block.splitlines() if line and not line.startswith("#"))
    fields = line.split(None, 5)
    assert all(re.fullmatch(r"[\d*/,-]+", field) for field in fields[:5])
    commands = [fields[5]] + [
        match[1].replace("%h", str(home))
        for text in units(DOCS).values()
        if (match := re.search(r"(?m)^ExecStart=(.*)$", text))
    ]
    for command in commands:
        once = f"{command} --once" if " watch" in command else command
        bare = ["env", "-i", f"HOME={home}", f"PATH={home}/.local/bin:/usr/bin:/bin", "sh", "-c", once]
        done = subprocess.run(bare, capture_output=True, text=True, cwd="/", timeout=PATIENCE)
        assert (done.returncode, done.stderr) == (0, ""), (command, done)
