"""index/sync.py: the index holds what the Markdown says, and only what changed is read."""

from __future__ import annotations

import os
import sqlite3
import time
from hashlib import sha256
from pathlib import Path

import pytest
from store_helpers import LOG, PAGES, make_workspace, rebuilt, rows, synced
from strategies import examples
from torture import states

from memctl.errors import CannotWrite
from memctl.index import sync as sync_module
from memctl.index.heal import with_index
from memctl.index.index import Index
from memctl.index.sync import RACY_NS, SyncReport, build_index as index, sync
from memctl.notes.workspace import Workspace


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """Indexed, and its pages old enough that their times prove something."""
    made = make_workspace(tmp_path)
    age(made)
    synced(made)
    return made


def age(workspace: Workspace, glob: str = "**/*.md") -> None:
    then = time.time_ns() - 3 * RACY_NS
    for page in workspace.root.glob(glob):
        os.utime(page, ns=(then, then))


def content(workspace: Workspace) -> str:
    return "\n".join(str(row) for row in rows(workspace))


def test_only_what_changed_is_opened(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    real = sync_module.read_page
    monkeypatch.setattr(sync_module, "read_page", lambda w, path: opened.append(path) or real(w, path))
    (workspace.root / LOG).write_text("- changed\n")
    (workspace.root / "memory.md").unlink()
    report = synced(workspace)
    assert opened == [LOG]
    assert (report.read, report.dropped, report.changed) == (1, 1, 2)
    assert rows(workspace) == rebuilt(workspace)


@pytest.mark.parametrize(
    "change",
    [
        lambda root: (root / LOG).write_text("- W: new\n"),
        lambda root: (root / LOG).unlink(),
        lambda root: (root / LOG).rename(root / "memory/2025-11-28.md"),
        lambda root: (root / "bank").rename(root / "bank2"),
        lambda root: (root / "bank/entities/Peter.md").write_text("# Peter\n"),
        lambda root: (root / "bank/entities/Peter.md").rename(root / "bank/Peter.md"),
        lambda root: (root / LOG).write_bytes(b"\x89PNG\0\1\0\1\0\1\0"),
        lambda root: (root / "bank/entities/Peter.md").write_bytes(b"\x89PNG\0\1\0\1\0\1\0"),
        lambda root: (root / LOG).write_bytes(b"\xff\xfe bad\n"),
        lambda root: (root / LOG).write_bytes(b""),
        lambda root: ((root / LOG).unlink(), (root / LOG).mkdir(), (root / LOG / "x.md").write_text("inside")),
        lambda root: (
            (root / "bank/new").mkdir()
            or (root / "bank/new/memctl.toml").touch()
            or (root / "bank/new/x.md").write_text("theirs")
        ),
    ],
    ids=[
        "edit", "delete", "rename", "folder", "front matter", "entity moves", "binary", "binary entity", "not utf-8", "empty", "file to folder",
        "inner",
    ],
)  # fmt: skip
def test_every_change_ends_as_a_rebuild(workspace: Workspace, change) -> None:
    before = rows(workspace)
    change(workspace.root)
    assert rows(workspace) == rebuilt(workspace)
    assert rows(workspace) != before or (workspace.root / "bank/new").exists()


def test_a_page_that_cannot_be_read_is_named_until_it_can(workspace: Workspace) -> None:
    page = workspace.root / LOG
    good = page.read_bytes()
    page.write_bytes(b"\0\1\2")
    for _ in range(3):
        assert synced(workspace).problems == {LOG: "binary, not text"}
    page.write_bytes(b"caf\xe9\n")
    assert "line 1 is not UTF-8" in synced(workspace).problems[LOG]
    assert "line 1 is not UTF-8" in synced(workspace).problems[LOG]
    page.write_bytes(good)
    assert synced(workspace).problems == {}
    assert rows(workspace) == rebuilt(workspace)


@pytest.mark.parametrize(
    ("row", "is_read"),
    [
        ("size = size + 1", True), ("mtime_ns = mtime_ns - 1", True), ("mtime_ns = mtime_ns + 1", True), ("inode = inode + 1", True),
        ("sha256 = x''", True), ("looked_ns = 0", True),
        (f"looked_ns = mtime_ns + {RACY_NS}", True), (f"looked_ns = mtime_ns + {RACY_NS} + 1", False),
    ],
)  # fmt: skip
def test_what_is_not_surely_the_same_is_read(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, row: str, is_read: bool
) -> None:
    """Size, time or inode differ, it was never read, the clock was set back, or it may have changed within two seconds of our look."""
    opened: list[str] = []
    real = sync_module.read_page
    monkeypatch.setattr(sync_module, "read_page", lambda w, path: opened.append(path) or real(w, path))

    def job(index: Index) -> SyncReport:
        with index.writing():
            index.run(f"UPDATE page SET {row} WHERE path = '{LOG}'")
        return sync(workspace, index)

    with_index(workspace, job)
    assert opened == [LOG] * is_read and RACY_NS == 2_000_000_000


@pytest.mark.skipif(os.name == "nt", reason="links and pipes are POSIX")
def test_pages_are_read_in_their_order_and_what_is_gone_is_dropped_last(workspace: Workspace) -> None:
    """Those that are new, changed or no file; once all is done, nothing is left to do until the reason is another."""
    for path in ("a.md", "memory.md", "z.md"):
        (workspace.root / path).write_text("new\n")
    (workspace.root / "m.md").symlink_to("memory.md")
    (workspace.root / LOG).unlink()

    def steps(index: Index) -> list[str]:
        return [step.path for step in sync_module.changes(list(workspace.scan()), index.known())]

    assert with_index(workspace, steps) == ["a.md", "m.md", "memory.md", "z.md", LOG]
    age(workspace)
    synced(workspace)
    assert with_index(workspace, steps) == []
    (workspace.root / "m.md").unlink()
    os.mkfifo(workspace.root / "m.md")
    assert with_index(workspace, steps) == ["m.md"]


def test_a_touched_page_is_read_once_more(workspace: Workspace) -> None:
    then = time.time_ns() - 2 * RACY_NS
    os.utime(workspace.root / LOG, ns=(then, then))
    report = synced(workspace)
    assert (report.read, report.unchanged) == (0, len(PAGES))
    assert [row.mtime_ns for row in with_index(workspace, lambda index: index.known()) if row.path == LOG] == [then]


@pytest.mark.parametrize("force", [True, False])
def test_edits_that_change_neither_size_nor_time_are_seen(tmp_path: Path, force: bool) -> None:
    """R12: a sync right after each of many edits of the same size; where forced, they all carry one and the same time for a second."""
    workspace = make_workspace(tmp_path, {LOG: "- W: 000000\n"})
    page, tick, missed = tmp_path / LOG, time.time_ns(), []
    for number in range(examples(1000, part=10)):
        if time.time_ns() - tick > 1_000_000_000:
            tick = time.time_ns()
        page.write_bytes(data := f"- W: {number:06d}\n".encode())
        if force:
            os.utime(page, ns=(tick, tick))
        synced(workspace)
        known = with_index(workspace, lambda index: {row.path: row.sha256 for row in index.known()})
        missed += [number] if known[LOG] != sha256(data).digest() else []
    assert missed == []


def test_a_young_page_is_read_again_and_an_old_one_not(tmp_path: Path) -> None:
    """The rule that the test above is about: without it, the first of these edits would be missed."""
    workspace = make_workspace(tmp_path, {LOG: "- W: one\n"})
    for age_ns, seen in ((RACY_NS // 2, True), (2 * RACY_NS, False)):
        (workspace.root / LOG).write_text("- W: one\n")
        then = time.time_ns() - age_ns
        os.utime(workspace.root / LOG, ns=(then, then))
        synced(workspace)
        (workspace.root / LOG).write_text("- W: two\n")
        os.utime(workspace.root / LOG, ns=(then, then))
        assert ("two" in content(workspace)) is seen


def test_another_writer_makes_it_stale_and_is_not_waited_for(workspace: Workspace) -> None:
    (workspace.root / LOG).write_text("- changed\n")
    other = sqlite3.connect(workspace.memory / "index.sqlite", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")

    def job(index):
        return sync(workspace, index, wait=0), index.rows("PRAGMA busy_timeout")

    try:
        report, milliseconds = with_index(workspace, job)
    finally:
        other.close()
    assert milliseconds == [(0,)]
    assert report.stale == "another memctl is writing; changed pages (1) are not in this answer yet"
    assert synced(workspace).stale is None


def test_the_time_cap_leaves_the_rest_for_later(workspace: Workspace) -> None:
    for number in range(10):
        (workspace.root / f"bank/{number}.md").write_text("text\n")
    synced(workspace)
    for number in range(10):
        (workspace.root / f"bank/{number}.md").write_text("another text\n")
    age(workspace, "bank/?.md")
    report = synced(workspace, seconds=0)
    assert report.read == 1
    assert report.stale == "9 of 10 changed pages are not read yet; run `memctl index`"
    while report.stale:
        before = report.stale
        report = synced(workspace, seconds=0)
        assert report.stale != before
    assert rows(workspace) == rebuilt(workspace)


def test_pages_that_only_may_have_changed_come_last(tmp_path: Path) -> None:
    """A page from a clock that is ahead is read each time; under a time cap it must not keep a new one out for ever."""
    others = {
        f"memory/2025-01-{day:02}.md": "other\n" for day in range(1, 21)
    }  # so that one new page is no first index
    workspace = make_workspace(tmp_path, {"a.md": "old\n", **others})
    age(workspace, "memory/*.md")
    ahead = time.time_ns() + 10**12
    os.utime(tmp_path / "a.md", ns=(ahead, ahead))
    synced(workspace)
    (tmp_path / "z.md").write_text("new\n")
    report = synced(workspace, seconds=0)
    assert report.read == 1
    assert "1 of 2" in (report.stale or "")
    assert "new" in content(workspace)


@pytest.mark.parametrize("when", ["BEGIN IMMEDIATE", "INSERT", "COMMIT"])
def test_a_full_disk_makes_it_stale_and_index_says_so(workspace: Workspace, when: str) -> None:
    (workspace.root / LOG).write_text("- changed\n")

    class Full:
        """A connection to a disk that is full at one kind of statement."""

        def __init__(self, real: sqlite3.Connection) -> None:
            self.real = real

        def execute(self, statement: str, *values: object) -> object:
            if statement.startswith(when):
                error = sqlite3.OperationalError("database or disk is full")
                error.sqlite_errorcode = sqlite3.SQLITE_FULL
                raise error
            return self.real.execute(statement, *values)

        def __getattr__(self, name: str) -> object:
            return getattr(self.real, name)

    def job(index) -> SyncReport:
        index._db = Full(index._db)
        return sync(workspace, index)

    report = with_index(workspace, job)
    assert report.stale == "pages changed (1), and the index cannot be written: database or disk is full"
    assert isinstance(report.obstacle, CannotWrite)
    assert index(workspace).read == 1


def test_a_first_index_of_many_pages_keeps_no_free_pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The words are merged into one segment at the end; what they stood in before goes back to the disk."""
    monkeypatch.setattr(sync_module, "MANY", 8)
    monkeypatch.setattr(sync_module, "BULK_SECONDS", -1.0)  # a transaction for each page
    pages = {
        f"memory/2025-01-{day:02}.md": "".join(f"- W: word{day}x{n} шлюз{n} 网{n}\n" for n in range(150))
        for day in range(1, 13)
    }
    workspace = make_workspace(tmp_path, pages)
    with_index(workspace, lambda index: sync(workspace, index, seconds=None, parallel=False))
    assert with_index(workspace, lambda index: index.rows("PRAGMA freelist_count")) == [(0,)]


def test_progress_is_told(workspace: Workspace) -> None:
    for number in range(5):
        (workspace.root / f"bank/{number}.md").write_text("text\n")
    told: list[tuple[int, int]] = []
    with_index(
        workspace, lambda index: sync(workspace, index, progress=lambda done, total, *_: told.append((done, total)))
    )
    assert told[-1] == (5, 5)


def test_an_index_kept_up_is_an_index_made_anew() -> None:
    """R6."""
    states.run(examples(1000, 5, 200), examples(30, 15, 2), seeded=not os.environ.get("MEMCTL_TORTURE"))
