"""A process that stays answers what a fresh one answers, whatever happens to files and index in between."""

from __future__ import annotations

import os
import shutil
import sqlite3
import sys
import tempfile
import threading
from datetime import date
from pathlib import Path

import pytest
from face_helpers import memory_on
from hypothesis import HealthCheck, given, settings, strategies as st
from store_helpers import LOG, at_once, make_workspace, synced

from memctl.errors import NothingFound
from memctl.hits import answer_json
from memctl.index import reread, resident as resident_module
from memctl.index.heal import with_index
from memctl.index.index import Index
from memctl.index.queries.entries import by_refs
from memctl.index.resident import FolderWatch, Resident
from memctl.index.sync import SyncReport
from memctl.notes.workspace import Workspace
from memctl.recall.query import read_query
from memctl.recall.recall import recall

TODAY = date(2025, 11, 30)
QUESTIONS = ("database", "concise replies", "Пётр живёт", "爱丽丝", "@Peter", "deploy since:30d", "nothing here xyzzy")
TEXTS = (
    "# 2025-11-28\n\n## Retain\n\n- W(key=db) @Atlas: The database is SQLite\n",
    "# 2025-11-28\n\n## Retain\n\n- W(key=db) @Atlas: The database is DuckDB\n",
    "# Пётр\n\nПётр живёт в Порту, 爱丽丝 в Шанхае.\n",
    "# Note\n\nPeter wants long replies after all.\n",
)


def asked(workspace: Workspace, question: str, through: Resident | None = None) -> dict[str, object]:
    """An answer without its time."""
    found = recall(memory_on(workspace, TODAY, resident=through), read_query(question, TODAY), vectors=False)
    return answer_json(found) | {"took_ms": 0}


def append(root: Path) -> None:
    with (root / LOG).open("a", encoding="utf-8") as page:
        page.write("- W @Atlas: Backups of the database run at night\n")


def same_size(root: Path) -> None:
    page = root / LOG
    with page.open("r+b") as stream:
        data = stream.read().replace(b"PostgreSQL 16", b"PostgreSQL 61").replace(b"concise", b"curtish")
        stream.seek(0)
        stream.write(data)


def same_time(root: Path) -> None:
    """An edit of the same size whose old time is put back: only the inode knows."""
    page = root / LOG
    status = page.stat()
    same_size(root)
    os.utime(page, ns=(status.st_atime_ns, status.st_mtime_ns))


def rename(root: Path) -> None:
    if (root / "memory.md").exists():
        (root / "memory.md").rename(root / "core.md")


def new_folder(root: Path) -> None:
    (root / "bank/deep/er").mkdir(parents=True, exist_ok=True)
    (root / "bank/deep/er/note.md").write_text(TEXTS[3], "utf-8")


def by_rename(root: Path) -> None:
    (root / "memory/.new").write_text(TEXTS[1], "utf-8")
    (root / "memory/.new").replace(root / "memory/2025-11-28.md")


def delete(root: Path) -> None:
    (root / "bank/entities/Peter.md").unlink(missing_ok=True)


def forget_index(root: Path) -> None:
    shutil.rmtree(root / ".memory", ignore_errors=True)


def damage_index(root: Path) -> None:
    path = root / ".memory/index.sqlite"
    if path.exists() and path.stat().st_size > 8192:
        with path.open("r+b") as stream:
            stream.seek(4096)
            stream.write(b"\xff" * 4096)


def another_process(root: Path) -> None:
    asked(Workspace(root), "database")


def write(text: str):
    def write_it(root: Path) -> None:
        (root / "memory/2025-11-28.md").write_text(text, "utf-8")

    return write_it


CHANGES = (
    append, same_size, same_time, rename, new_folder, by_rename, delete, forget_index, damage_index, another_process,
    *map(write, TEXTS),
)  # fmt: skip


@settings(
    max_examples=8 if not os.environ.get("MEMCTL_TORTURE") else 50,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
@given(st.lists(st.tuples(st.sampled_from(CHANGES), st.sampled_from(QUESTIONS)), min_size=1, max_size=8))
def test_it_answers_as_a_fresh_process_does(steps) -> None:
    """After every change at once, with what it remembers and without a look at the folder where nothing rang."""
    with tempfile.TemporaryDirectory() as folder:
        workspace = make_workspace(Path(folder).resolve())
        with Resident(workspace) as resident:
            for change, question in steps:
                asked(workspace, question, resident)
                change(workspace.root)
                first, again = (asked(workspace, question, resident) for _ in range(2))
                assert first == again == asked(workspace, question)


def test_a_page_edited_in_place_within_one_tick_is_seen(tmp_path: Path) -> None:
    """A hundred edits of the same size, each followed by a question at once."""
    workspace = make_workspace(tmp_path)
    page = tmp_path / "bank/note.md"
    with Resident(workspace) as resident:
        for number in range(100, 200):
            page.write_text(f"# Note\n\nThe crate is number {number}.\n", "utf-8")
            found = recall(memory_on(workspace, TODAY, resident=resident), read_query("crate", TODAY), vectors=False)
            assert f"{number}" in found.hits[0].content


def test_threads_share_it(tmp_path: Path) -> None:
    """Eight threads ask and append; nobody fails, and the last answer knows all."""
    workspace = make_workspace(tmp_path)

    def work(number: int) -> None:
        for step in range(6):
            (tmp_path / f"bank/t{number}-{step}.md").write_text(f"# T\n\nquokka {number} {step}\n", "utf-8")
            asked(workspace, "quokka", resident)

    with Resident(workspace) as resident:
        at_once(8, work)
        found = recall(
            memory_on(workspace, TODAY, resident=resident), read_query("quokka", TODAY), k=100, vectors=False
        )
        assert len(found.hits) == 48


def test_a_look_that_was_overtaken_is_not_believed(tmp_path: Path) -> None:
    """A page is written behind it, and another thread hears of that, but does not come to its end: the next question looks."""
    workspace, late = make_workspace(tmp_path), SyncReport(stale="no time")
    with Resident(workspace) as resident:

        def overtaken() -> SyncReport:
            (tmp_path / "bank/поздно.md").write_text("# 迟到\n", "utf-8")
            other = threading.Thread(target=resident.synced, args=(lambda: late,))
            other.start()
            other.join()
            return SyncReport()

        resident.synced(overtaken)
        assert resident.synced(lambda: late) is late
        assert resident.synced(SyncReport) == SyncReport() == resident.synced(lambda: late)


def test_an_error_of_the_job_leaves_it_usable(tmp_path: Path) -> None:
    """What a job raises reaches the caller."""
    workspace = make_workspace(tmp_path)

    def job(index):
        raise NothingFound("nothing")

    with Resident(workspace) as resident:
        with pytest.raises(NothingFound):
            resident.run(job)
        assert asked(workspace, "database", resident)["hits"]
    assert asked(workspace, "database", resident)["hits"], "closed, it opens again"


def test_without_a_bell_it_looks_each_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not Linux, or no watches left."""
    monkeypatch.setattr(FolderWatch, "has_changed", lambda self: True)
    workspace = make_workspace(tmp_path)
    with Resident(workspace) as resident:
        for change in CHANGES:
            asked(workspace, "database", resident)
            change(tmp_path)
            assert asked(workspace, "database", resident) == asked(workspace, "database")


def test_settings_are_those_of_now(tmp_path: Path) -> None:
    """What is ignored from now on is not shown to the next question; half a file of settings changes nothing."""
    workspace = make_workspace(tmp_path)
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret/plan.md").write_text("# План\n\nquokka 计划\n", "utf-8")
    with Resident(workspace) as resident:
        assert asked(resident.workspace, "quokka", resident)["hits"]
        (tmp_path / "memctl.toml").write_text('ignore = ["secret/**"]\n', "utf-8")
        assert not asked(resident.workspace, "quokka", resident)["hits"]
        (tmp_path / "memctl.toml").write_text("ignore = [", "utf-8")
        assert not asked(resident.workspace, "quokka", resident)["hits"]
        (tmp_path / "memctl.toml").unlink()
        assert asked(resident.workspace, "quokka", resident)["hits"]


def test_a_silent_watch_is_not_believed_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Writes through a memory map, another hard link or a network raise no event: it looks all the same, a second or fifty looks later."""
    workspace = make_workspace(tmp_path)
    for page in tmp_path.rglob("*.md"):
        os.utime(page, (1_700_000_000, 1_700_000_000))  # a page saved just now would be read again each time
    now = [1000.0]
    monkeypatch.setattr(resident_module.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(FolderWatch, "has_changed", lambda self: False)
    with Resident(workspace) as resident:
        for _ in range(3):  # the first ones fill the index and open it again
            assert not asked(workspace, "quokka", resident)["hits"]
        (tmp_path / "bank/поздно.md").write_text("# 迟到\n\nquokka поздно\n", "utf-8")
        now[0] += 0.5
        assert not asked(workspace, "quokka", resident)["hits"]
        now[0] += 0.6
        assert asked(workspace, "quokka", resident)["hits"]
        listed = Workspace.scan
        page = tmp_path / "bank/поздно.md"
        for slow, wait, word in ((0.1, 5.0, "позже"), (1.0, 10.0, "wombat")):  # fifty looks, ten seconds at most
            monkeypatch.setattr(Workspace, "scan", lambda self, slow=slow: now.append(now.pop() + slow) or listed(self))
            os.utime(page, (1_700_000_000, 1_700_000_000))
            for _ in range(3):
                now[0] += wait + 0.1
                assert not asked(workspace, word, resident)["hits"]
            page = tmp_path / f"bank/{word}.md"
            page.write_text(f"# 更晚\n\n{word}\n", "utf-8")
            now[0] += wait - 0.1
            assert not asked(workspace, word, resident)["hits"]
            now[0] += 0.2
            assert asked(workspace, word, resident)["hits"]


@pytest.mark.skipif(sys.platform != "linux", reason="inotify is Linux's")
def test_a_folder_made_while_folders_are_listed_is_heard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is in no list, so the one above it has to be watched already."""
    workspace = make_workspace(tmp_path)
    listed = os.walk

    def walk(top: Path):
        for found in listed(top):
            if found[0].endswith("bank"):
                (tmp_path / "bank/迟到").mkdir(exist_ok=True)
            yield found

    monkeypatch.setattr(os, "walk", walk)
    watch = FolderWatch(workspace)
    assert [watch.has_changed(), watch.has_changed(), watch.has_changed()] == [True, True, False]
    (tmp_path / "bank/迟到/note.md").write_text("# Поздно\n", "utf-8")
    assert watch.has_changed()
    watch.close()


@pytest.mark.parametrize(("bound", "most"), [("MOST_BYTES", 20_000), ("MOST_PAGES", 6)])
def test_pages_that_are_kept_have_a_bound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bound: str, most: int
) -> None:
    monkeypatch.setattr(reread, "YOUNG_NS", 0)
    monkeypatch.setattr(reread, bound, most)
    held = []
    workspace = make_workspace(tmp_path)
    for number in range(20):
        (tmp_path / f"bank/p{number}.md").write_text(f"# P\n\nquokka{number} {'слово ' * 300}\n", "utf-8")
    for page in tmp_path.rglob("*.md"):
        os.utime(page, (1_700_000_000, 1_700_000_000))  # of a page saved just now the index is written each time
    with Resident(workspace) as resident:
        for number in range(20):
            assert asked(workspace, f"quokka{number}", resident)["hits"]
            kept = resident.run(lambda index: [page for its in index.lasting.values() for page in its.values()])
            held.append(sum(page.state[2] for page in kept) if bound == "MOST_BYTES" else len(kept))
    assert 0.7 * most < max(held) < 1.2 * most


def test_a_page_that_is_gone_meanwhile_shows_nothing(tmp_path: Path) -> None:
    synced(workspace := make_workspace(tmp_path))

    def job(index: Index) -> int:
        rows = by_refs(index, ["f-atlas-db"])
        (tmp_path / LOG).unlink()
        assert reread.reread(workspace, rows, index) == {}
        return len(rows)

    assert with_index(workspace, job) == 1


def test_damage_that_shows_while_it_is_held_open_costs_one_answer_more(tmp_path: Path) -> None:
    """The job is done again, on an index that is made again."""
    asked: list[bool] = []

    def job(index: Index) -> int:
        asked.append(index.stays)
        if len(asked) == 1:
            raise sqlite3.DatabaseError("malformed")
        return 7

    with Resident(make_workspace(tmp_path)) as resident:
        assert resident.run(job) == 7 and asked == [True, False]
        public = resident.workspace._replace(hides=frozenset({"aa"}))
        assert resident.view(public) is resident.view(public)
        assert resident.view(public) is not resident.view(public._replace(hides=frozenset({"bb"})))
