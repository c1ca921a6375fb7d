"""notes/files.py: pages are read whole and safely, and lines are appended durably, byte for byte."""

from __future__ import annotations

import errno
import os
import stat
import sys
from pathlib import Path

import pytest
from face_helpers import memory_on
from hypothesis import example, given, settings, strategies as st
from store_helpers import DAY, LOG, failing, make_workspace, refusal
from strategies import examples
from torture import power_loss

from memctl.errors import CannotWrite, LockBusy, MemctlError, PageUnreadable
from memctl.notes import files
from memctl.notes.edits import create
from memctl.notes.files import MAX_PAGE, append, confirm, prepare_memory, read_page
from memctl.notes.workspace import Workspace
from memctl.retain.retain import read_fact, retain
from memctl.system import locked

CORRECT = "correct or move that file; `memctl check` lists all of them"
WITHIN = "name a path inside the workspace; symbolic links are not followed"
posix = pytest.mark.skipif(os.name == "nt", reason="POSIX file kinds and modes")


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return make_workspace(tmp_path, {})


def put(workspace: Workspace, data: bytes, path: str = LOG) -> Path:
    page = workspace.root / path
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_bytes(data)
    return page


# -- reading ----------------------------------------------------------------------------------------------------------


NOT_UTF8 = "line 2 is not UTF-8; unreadable bytes are shown as \ufffd"


@pytest.mark.parametrize(
    ("data", "text", "warning"),
    [
        (b"\xef\xbb\xbfa\r\nb\rc", "\ufeffa\r\nb\rc", None), (b"one\ntwo \xff\nthree\n", "one\ntwo \ufffd\nthree\n", NOT_UTF8),
        *((data, data.decode(), None) for data in (b"- W: one\n\0\0\0\0", b"\0" * 40, b"- W: one\n\0\0\n- W: two\n")),
    ],
)  # fmt: skip
def test_a_page_is_read_as_it_is(workspace: Workspace, data: bytes, text: str, warning: str | None) -> None:
    """Zeros that a power failure left do not make it unreadable; bytes that are not UTF-8 are named by line."""
    put(workspace, data)
    page = read_page(workspace, LOG)
    assert (page.text, page.warning, page.status.st_size) == (text, warning, len(data))


@pytest.mark.parametrize(
    "data",
    [b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\1\0", "UTF-16, no mark".encode("utf-16-le"), b"\0\1\2\3", b"\x7fELF\2\1\1\0"],
    ids=["png", "utf-16", "bytes", "elf"],
)
def test_a_binary_is_no_page(workspace: Workspace, data: bytes) -> None:
    put(workspace, data)
    assert refusal(lambda: read_page(workspace, LOG)) == f"PageUnreadable: {LOG}: binary, not text; {CORRECT}"


def test_a_page_of_8_mib_is_read_and_a_longer_one_is_named(workspace: Workspace) -> None:
    page = put(workspace, b"x" * MAX_PAGE)
    assert len(read_page(workspace, LOG).text) == MAX_PAGE
    page.write_bytes(b"x" * (MAX_PAGE + 1))
    told = f"PageUnreadable: {LOG}: 8.0 MiB; pages over 8 MiB are not read; split that page"
    assert refusal(lambda: read_page(workspace, LOG)) == told
    page.write_bytes(b"x" * (MAX_PAGE - 3))
    full = f"{LOG}: full: a page over 8 MiB would not be read back; nothing was kept; split that page"
    assert refusal(lambda: append(workspace, LOG, lambda _: "new")) == f"PageUnreadable: {full}"
    assert append(workspace, LOG, lambda _: "ab").added == "\nab"


def test_a_missing_page_a_folder_and_a_disk_that_fails_are_unreadable(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = (
        f"PageUnreadable: {LOG}: No such file or directory; it was moved or deleted: `memctl docs` lists what is there"
    )
    assert [refusal(lambda: act(workspace, LOG)) for act in (read_page, confirm)] == [told] * 2  # noqa: B023
    assert refusal(lambda: read_page(workspace, "memory")) == f"PageUnreadable: memory: not a regular file; {CORRECT}"
    with monkeypatch.context() as disk:
        failing(disk, "fstat", errno.EIO)
        told = refusal(lambda: read_page(workspace, "memory"))
    assert told == f"PageUnreadable: memory: Input/output error; {CORRECT}"


ACTS = pytest.mark.parametrize(
    "act", [read_page, confirm, lambda w, p: append(w, p, lambda _: "x")], ids=["read", "confirm", "append"]
)


@posix
@ACTS
def test_a_fifo_does_not_hang(workspace: Workspace, act) -> None:
    os.mkfifo(workspace.root / LOG)
    with pytest.raises(PageUnreadable):
        act(workspace, LOG)


@posix
@ACTS
def test_a_link_is_not_followed(workspace: Workspace, tmp_path: Path, act) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("secret")
    (workspace.root / LOG).symlink_to(secret)
    assert refusal(lambda: act(workspace, LOG)) == f"OutsideWorkspace: {LOG} is a symbolic link; {WITHIN}"
    assert secret.read_text() == "secret"


# -- appending --------------------------------------------------------------------------------------------------------


def test_an_empty_composition_writes_nothing(workspace: Workspace) -> None:
    page = put(workspace, b"torn last line")
    before = page.stat().st_mtime_ns
    assert append(workspace, LOG, lambda _: "").added == ""
    assert page.read_bytes() == b"torn last line"
    assert page.stat().st_mtime_ns == before


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"one", b"one\nnew\n"), (b"one\n", b"one\nnew\n"), (b"one\r\ntwo", b"one\r\ntwo\r\nnew\r\n"),
        (b"one\r\ntwo\r\n", b"one\r\ntwo\r\nnew\r\n"), (b"one\rtwo\r", b"one\rtwo\rnew\n"),
        (b"one\r\ntwo\nthree\n", b"one\r\ntwo\nthree\nnew\n"), (b"\xef\xbb\xbfone\n", b"\xef\xbb\xbfone\nnew\n"),
        (b"bad \xff\xfe\n", b"bad \xff\xfe\nnew\n"), (b"bad \xff", b"bad \xff\nnew\n"), (b"", b"new\n"),
    ],
)  # fmt: skip
def test_append_keeps_the_style_and_closes_a_torn_line(workspace: Workspace, before: bytes, after: bytes) -> None:
    page = put(workspace, before)
    append(workspace, LOG, lambda _: "new\n")
    assert page.read_bytes() == after


@given(before=st.binary(max_size=300).filter(lambda data: b"\0" not in data))
@example(before=b"\xff\xfe" + "Журнал".encode("utf-16-le"))
@example(before=b"\xfe\xff" + "Журнал".encode("utf-16-be"))
@settings(max_examples=examples(150), deadline=None)
def test_append_never_changes_a_byte_that_was_there(tmp_path_factory: pytest.TempPathFactory, before: bytes) -> None:
    workspace = make_workspace(tmp_path_factory.mktemp("w"), {})
    page = put(workspace, before)
    is_utf16 = before.startswith((b"\xff\xfe", b"\xfe\xff"))
    if is_utf16:
        told = f"PageUnreadable: {LOG}: UTF-16, not UTF-8; save that page as UTF-8"
        assert refusal(lambda: append(workspace, LOG, lambda _: "- W: new\n")) == told
    else:
        append(workspace, LOG, lambda _: "- W: new\n")
    assert page.read_bytes().startswith(before)
    assert len(page.read_bytes()) > len(before) or is_utf16


def test_append_is_one_write_and_is_synced_with_its_folders(workspace: Workspace) -> None:
    recorder = power_loss.Recorder(workspace.root)
    with recorder.recording():
        append(workspace, "memory/new/log.md", lambda _: "line\n" * 1000)
    said = [(op.what, op.path) for op in recorder.ops]
    page = "memory/new/log.md"
    assert said == [
        ("name", "memory/new"), ("name", page), ("write", page), ("sync", page), ("sync", "memory/new"),
        ("sync", "memory"), ("sync", "."),
    ]  # fmt: skip


@pytest.mark.parametrize("by_rename", [True, False])
def test_append_composes_again_for_a_page_that_an_editor_saved_meanwhile(workspace: Workspace, by_rename: bool) -> None:
    page = put(workspace, b"old\n")

    def compose(text: str) -> str:
        if text == "old\n":  # between our look and our write
            new = page.parent / "swp" if by_rename else page
            new.write_bytes(b"a whole new page\n")
            os.replace(new, page)
        return f"after {text}"

    assert append(workspace, LOG, compose).before == "a whole new page\n"
    assert page.read_bytes() == b"a whole new page\nafter a whole new page\n"


def test_append_gives_up_on_a_page_that_is_swapped_each_time(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "RETRY_SECONDS", 0.1)
    page = put(workspace, b"0\n")

    def compose(text: str) -> str:
        (page.parent / "swp").write_bytes(b"edited\n")
        os.replace(page.parent / "swp", page)
        return "mine\n"

    told = f"PageChanged: {LOG} was saved by another program several times meanwhile; the new text may be on it or not"
    cure = "run the command again: a line that is there is not added twice"
    assert refusal(lambda: append(workspace, LOG, compose)) == f"{told}; {cure}"
    assert page.read_bytes() == b"edited\n"


@pytest.mark.parametrize("by_rename", [True, False])
def test_append_goes_again_when_an_editor_saved_over_it(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, by_rename: bool
) -> None:
    """Between our write and our sync, with the copy that it had loaded before."""
    page = put(workspace, b"old\n")
    prepare_memory(workspace)
    saves = [page.parent / "swp" if by_rename else page]
    real = os.fsync

    def fsync(fd: int) -> None:
        if saves:
            target = saves.pop()
            target.write_bytes(b"old and new by hand\n")
            os.replace(target, page)
        real(fd)

    monkeypatch.setattr(files.os, "fsync", fsync)
    append(workspace, LOG, lambda _: "fact\n")
    assert page.read_bytes() == b"old and new by hand\nfact\n"


@pytest.mark.parametrize("room", [0, 3])
def test_a_full_disk_keeps_nothing_and_says_so(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, room: int
) -> None:
    """A write cut short is taken back."""
    page, real = put(workspace, b"old\n"), os.write
    prepare_memory(workspace)
    if room:
        monkeypatch.setattr(files.os, "write", lambda fd, data: real(fd, data[:room]))
    else:
        failing(monkeypatch, "write", errno.ENOSPC)
    told = f"CannotWrite: {LOG}: cannot write: No space left on device; nothing was kept; "
    assert refusal(lambda: append(workspace, LOG, lambda _: "new line\n")).startswith(told)
    assert page.read_bytes() == b"old\n"


def test_a_cut_write_is_left_alone_if_somebody_wrote_behind_it(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = put(workspace, b"old\n")
    prepare_memory(workspace)
    real = os.write

    def cut(fd: int, data: bytes) -> int:
        count = real(fd, data[:3])
        with open(page, "ab") as other:
            other.write(b" theirs\n")
        return count

    monkeypatch.setattr(files.os, "write", cut)
    with pytest.raises(CannotWrite):
        append(workspace, LOG, lambda _: "new line\n")
    assert page.read_bytes() == b"old\nnew theirs\n"


def test_a_failed_sync_says_that_the_text_stands_there(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    page = put(workspace, b"old\n")
    failing(monkeypatch, "fsync", errno.EIO)
    told = f"PageUnreadable: {LOG}: the text was written, but the disk did not confirm it: Input/output error"
    cure = "check the disk, then run the command again: a line that is there is not written twice"
    assert refusal(lambda: append(workspace, LOG, lambda _: "new\n")) == f"{told}; {cure}"
    assert page.read_bytes() == b"old\nnew\n"


def test_what_was_synced_is_kept_though_its_close_fails(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    page, real = put(workspace, b"old\n"), os.close

    def close(fd: int) -> None:
        is_page = os.fstat(fd).st_ino == page.stat().st_ino
        real(fd)
        if is_page:
            raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "close", close)
    assert append(workspace, LOG, lambda _: "new\n")
    assert page.read_bytes() == b"old\nnew\n"


def test_what_stands_there_already_is_confirmed_before_it_is_called_kept(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process that wrote it may have been killed before its sync."""
    fact, other = read_fact("The kettle is in the Fjord room"), read_fact("Said at the standup")
    retain(memory_on(workspace), [fact], DAY)
    put(workspace, b"## Retain\n\n- W: Said at the standup\n", "memory/2025-11-27-standup.md")
    failing(monkeypatch, "fsync", errno.EIO)
    for kept in (fact, other):
        with pytest.raises(PageUnreadable, match="did not confirm"):
            retain(memory_on(workspace), [kept], DAY)


@posix
def test_a_page_that_may_not_be_written_is_left_alone(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.open

    def open_(path: object, flags: int, *more: int, **others: object) -> int:
        if flags & os.O_CREAT and str(path).endswith(".md"):
            raise PermissionError(errno.EACCES, "Permission denied")
        return real(path, flags, *more, **others)  # type: ignore[arg-type]

    monkeypatch.setattr(files.os, "open", open_)
    with pytest.raises(CannotWrite, match="Permission denied"):
        append(workspace, LOG, lambda _: "new\n")


# -- the lock ---------------------------------------------------------------------------------------------------------


def test_a_lock_that_is_held_is_waited_for_and_then_named(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "LOCK_SECONDS", 0.05)
    folder = prepare_memory(workspace)
    with locked(folder / "lock", 1), pytest.raises(LockBusy) as error:
        append(workspace, LOG, lambda _: "new\n")
    assert error.value.exit_code == 14
    assert not (workspace.root / LOG).exists()
    append(workspace, LOG, lambda _: "new\n")
    assert (folder / "lock").exists()


@posix
@pytest.mark.parametrize("kind", ["link", "folder"])
def test_a_lock_that_cannot_be_had_is_no_bug(workspace: Workspace, tmp_path: Path, kind: str) -> None:
    folder = prepare_memory(workspace)
    (folder / "lock").symlink_to(tmp_path / "elsewhere") if kind == "link" else (folder / "lock").mkdir()
    with pytest.raises(CannotWrite):
        append(workspace, LOG, lambda _: "new\n")
    assert not (tmp_path / "elsewhere").exists()


def test_a_file_system_without_locks_is_no_bug(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("fcntl.flock", refuse)
    with pytest.raises(CannotWrite, match="No locks"):
        append(workspace, LOG, lambda _: "new\n")


# -- new files --------------------------------------------------------------------------------------------------------


def test_create_never_overwrites(workspace: Workspace) -> None:
    assert create(workspace, "bank/world.md", "new\n")
    assert not create(workspace, "bank/world.md", "other\n")
    assert (workspace.root / "bank/world.md").read_text() == "new\n"


@posix
def test_create_does_not_write_through_a_link(workspace: Workspace, tmp_path: Path) -> None:
    (workspace.root / "memory.md").symlink_to(tmp_path / "elsewhere.md")
    assert not create(workspace, "memory.md", "new\n")
    assert not (tmp_path / "elsewhere.md").exists()


@posix
@pytest.mark.parametrize("mask", [0o022, 0o077, 0o002])
def test_modes_follow_the_umask_and_stay(workspace: Workspace, mask: int) -> None:
    """S11."""
    theirs = put(workspace, b"old\n", "memory/2025-11-28.md")
    theirs.chmod(0o640)
    before = os.umask(mask)
    try:
        create(workspace, "bank/world.md", "x\n")
        retain(memory_on(workspace), [read_fact("One")], DAY)
        retain(memory_on(workspace), [read_fact("Two")], DAY.replace(day=28))
    finally:
        os.umask(before)
    for path in ("bank/world.md", LOG, ".memory/.gitignore", ".memory/lock", ".memory/index.seal"):
        assert stat.S_IMODE((workspace.root / path).stat().st_mode) == 0o666 & ~mask, path
    assert stat.S_IMODE((workspace.memory / "index.sqlite").stat().st_mode) == 0o600
    assert stat.S_IMODE(workspace.memory.stat().st_mode) == 0o700
    assert stat.S_IMODE(theirs.stat().st_mode) == 0o640


@posix
def test_a_derived_folder_that_others_may_read_is_closed_to_them(workspace: Workspace) -> None:
    """Made by an earlier version, or by git or a copy: S11."""
    retain(memory_on(workspace), [read_fact("One")], DAY)
    inside = [workspace.memory / "index.sqlite", workspace.memory / "lock"]
    for path in (workspace.memory, *inside):
        path.chmod(0o777)
    memory_on(workspace).recall("one")
    assert {stat.S_IMODE(path.stat().st_mode) for path in (workspace.memory, *inside)} == {0o700}


@posix
def test_a_derived_folder_of_somebody_else_is_theirs_to_close(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace.memory.mkdir(0o755)
    failing(monkeypatch, "chmod", errno.EPERM)
    assert retain(memory_on(workspace), [read_fact("One")], DAY).kept


@posix
def test_a_token_that_others_could_read_is_not_made_to_look_secret(workspace: Workspace) -> None:
    retain(memory_on(workspace), [read_fact("One")], DAY)
    token = workspace.memory / "token"
    token.write_text("x" * 43)
    for path in (workspace.memory, token):
        path.chmod(0o755)
    memory_on(workspace).recall("one")
    assert [stat.S_IMODE(path.stat().st_mode) for path in (workspace.memory, token)] == [0o700, 0o755]


# -- the derived folder -----------------------------------------------------------------------------------------------


def test_the_derived_folder_keeps_itself_out_of_git(workspace: Workspace) -> None:
    """A .gitignore that a crash left empty is filled, another one is left."""
    ignore = prepare_memory(workspace) / ".gitignore"
    for written, then in (
        (None, "# derived by memctl; safe to delete\n*\n"),
        ("mine\n", "mine\n"),
        ("", "# derived by memctl; safe to delete\n*\n"),
    ):
        if written is not None:
            ignore.write_text(written)
        prepare_memory(workspace)
        assert ignore.read_text() == then


@posix
@pytest.mark.parametrize("name", [".gitignore", "lock", "index.seal", "index.sqlite", "index.broken"])
def test_a_link_in_the_derived_folder_writes_nothing_outside(workspace: Workspace, tmp_path: Path, name: str) -> None:
    """A folder that came from elsewhere, with `.memory/index.seal -> ~/.bashrc` in it."""
    outside = tmp_path / "outside.txt"
    for there in (True, False):
        if there:
            outside.write_text("theirs")
        else:
            outside.unlink()
        for path in workspace.memory.glob("*"):
            path.unlink()
        workspace.memory.mkdir(exist_ok=True)
        (workspace.memory / name).symlink_to(outside)
        try:
            retain(memory_on(workspace), [read_fact(f"One {there}")], DAY)
        except MemctlError as error:
            assert error.exit_code in (11, 13)
        assert outside.read_text() == "theirs" if there else not outside.exists()


@posix
def test_a_derived_folder_that_is_a_link_is_refused(workspace: Workspace, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    workspace.memory.symlink_to(tmp_path / "outside")
    told = f"OutsideWorkspace: {workspace.memory} is a symbolic link; {WITHIN}"
    assert refusal(lambda: retain(memory_on(workspace), [read_fact("One")], DAY)) == told
    assert not list((tmp_path / "outside").iterdir())


# -- power ------------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(sys.platform == "win32", reason="Windows keeps folder entries by itself")
def test_no_state_that_a_power_failure_leaves_is_corrupt_or_loses_what_was_acknowledged() -> None:
    """R3."""
    tried, wrong = power_loss.run(power_loss.scenes())
    assert tried > 45
    assert wrong == []


@pytest.mark.skipif(sys.platform == "win32", reason="Windows keeps folder entries by itself")
@pytest.mark.parametrize("name", ["_make_durable", "sync_folder"])
def test_the_model_sees_a_missing_sync(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(files, name, lambda *_: None)
    _, wrong = power_loss.run([scene for scene in power_loss.scenes() if scene.killed_at is None])
    assert any("lost" in problem for problem in wrong)
