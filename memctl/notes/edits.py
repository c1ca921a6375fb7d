"""Changes of pages: what a page held and what it is to hold, and how the new text takes its place, never over what somebody saved meanwhile.

The new text is written beside the page and synced, then the two names are swapped in one step, and only what came out
decides: if it is not what was read, both names are swapped back. A page with several names (hard links) becomes a file
of its own: the other names keep the older text.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import NamedTuple

from ..errors import CannotWrite, MemctlError, PageChanged, PageUnreadable
from ..ids import hashed
from ..system import OPEN_SAFELY, as_cannot_write, copy_attributes, has_writer, locked, move_new, swap, sync_folder
from .files import LOCK_SECONDS, MAX_PAGE, confirm, is_at, prepare_memory, read_page
from .journal import record
from .settings import SETTINGS
from .workspace import Workspace

SETTLE_SECONDS = 0.3  # how old a page must be where it cannot be told whether it is being saved
STALE_SECONDS = 60.0  # a temporary file that has not been touched for so long belongs to a process that was killed
_STATES = ("part", "swap")  # being written; holding the whole of a text, whichever
# Both hashes tell later whether what a killed process left is ours alone: the text that was read, or the new one.
_TEMPORARY = re.compile(r"\.memctl-(?P<old>[0-9a-f]{16})-(?P<new>[0-9a-f]{16})-[0-9a-f]{12}\.(?P<state>part|swap)")


class Edit(NamedTuple):
    """A planned change of a page: its bytes as they were read (None: no such page yet) and its text afterwards.

    Texts are decoded with `surrogateescape`, so that bytes which are not UTF-8 survive. A page that was read and not
    changed is an Edit too; `edit._replace(after=...)` plans a change of it.
    """

    path: str
    before: bytes | None
    after: str

    @property
    def text_before(self) -> str:
        """The text as it was read; empty for a new page."""
        return decoded(self.before)

    @property
    def is_change(self) -> bool:
        """True if the page would hold another text afterwards."""
        return self.after != self.text_before

    def diff(self) -> str:
        """The unified diff of the change; empty without one."""
        return diff(self.path, self.text_before, self.after)


def decoded(data: bytes | None) -> str:
    """The text of a page's bytes, from which each byte can be restored."""
    return (data or b"").decode("utf-8", "surrogateescape")


def encoded(text: str) -> bytes:
    """The bytes of a text that was decoded so."""
    return text.encode("utf-8", "surrogateescape")


def as_indexed(text: str) -> str:
    """A text with replacement characters for bytes that are not UTF-8, as pages are read for the index."""
    return text if text.isascii() else encoded(text).decode("utf-8", "replace")


def read_for_edit(workspace: Workspace, path: str) -> Edit:
    """A page as it is on disk, as an edit that changes nothing; `before` is None where there is no file.

    PageUnreadable or OutsideWorkspace for a page that cannot be read.
    """
    if not (workspace.root / path).exists():
        return Edit(path, None, "")
    data = read_page(workspace, workspace.contain(path)).data
    return Edit(path, data, decoded(data))


@dataclass(slots=True)
class Applied:
    """What became of some edits: the pages that were written, and the error of each page that was not, in order."""

    written: list[str] = field(default_factory=list)
    failed: dict[str, MemctlError] = field(default_factory=dict)
    disk_error: CannotWrite | None = None  # ended the run early: no page after it was tried


def apply(workspace: Workspace, edits: Iterable[Edit], *, stop: bool = True, done: Applied | None = None) -> Applied:
    """Write the changes, page by page, each by swap under the lock of the workspace; edits without a change are skipped.

    A page that is not any more what was read keeps what it holds: PageChanged, where `stop`, before anything after it is
    written; otherwise it is named in `failed` and the other pages are written. Likewise for a page that cannot be
    written. A full or read-only disk ends the run: CannotWrite where `stop`, otherwise `disk_error`. What becomes
    of them is added to `done`, where it is given.
    """
    done = Applied() if done is None else done
    for edit in edits:
        if not edit.is_change or done.disk_error:
            continue
        try:
            replace(workspace, edit.path, edit.before, encoded(edit.after))
            done.written.append(edit.path)
        except (PageChanged, PageUnreadable) as error:
            if stop:
                raise
            done.failed[edit.path] = error
            done.disk_error = error if isinstance(error, CannotWrite) else None
    return done


def diff(path: str, before: str, after: str) -> str:
    """The change of a page as a unified diff that git applies; empty without a change. Every `--dry-run` shows it."""
    from difflib import unified_diff

    old, new = (re.findall(r"[^\n]*\n|[^\n]+", text) for text in (before, after))
    lines = unified_diff(old, new, f"a/{path}" if before else "/dev/null", f"b/{path}")
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def replace(workspace: Workspace, path: str, expected: bytes | None, data: bytes) -> None:
    """Make `data` the text of a page that still is `expected` (None: that does not exist yet), durably.

    When this returns, it is on disk, with the mode, owner and extended attributes of before. PageChanged if the page
    is not what is expected, or somebody has it open for writing; CannotWrite if the disk fails, PageUnreadable if the
    text is too long. On every error the page stays what it is, except where its durability alone is in doubt.
    """
    assert workspace.hides is None, "a public view changes no page: it does not know the whole of it"
    if len(data) > MAX_PAGE:
        reason = "full: a page over 8 MiB would not be read back; it stays as it is"
        raise PageUnreadable(path, reason, "split that page")
    prepare_memory(workspace)
    with locked(workspace.memory / "lock", LOCK_SECONDS):
        place_file(workspace, workspace.contain(path), expected, data)
        record(workspace, path, expected, data)


def remove_page(workspace: Workspace, path: str, expected: bytes) -> None:
    """Remove a page that still is `expected`; PageChanged if it is not, CannotWrite if the disk fails."""
    target = workspace.root / workspace.contain(path)
    with locked(workspace.memory / "lock", LOCK_SECONDS), as_cannot_write(path):
        spare = _name(target.parent, hashed(expected, 8).hex(), hashed(b"", 8).hex(), "swap")
        if not _is_quiet(target, _status(target, path)) or not _holds(target, expected):
            raise PageChanged(path)
        os.rename(target, spare)
        if not _holds(spare, expected):
            move_new(spare, target)
            raise PageChanged(path)
        spare.unlink()
        sync_folder(target.parent)


def place_file(workspace: Workspace, path: str, expected: bytes | None, data: bytes) -> None:
    """`replace` without lock, limit of length and journal: for any file of any folder that has a `Workspace` made of it."""
    with as_cannot_write(path):
        _sweep_once((workspace.root / path).parent)
        if expected is None:
            _put_new(workspace, path, data)
        else:
            _put_over(workspace, path, expected, data)


def create(workspace: Workspace, path: str, text: str) -> bool:
    """Write a new file durably; False, with nothing written, if the name is taken."""
    data = text.encode("utf-8")
    with as_cannot_write(path), suppress(PageChanged, FileExistsError):
        (workspace.root / path).parent.mkdir(parents=True, exist_ok=True)
        place_file(workspace, path, None, data)
        record(workspace, path, None, data)
        return True
    return False


@contextmanager
def writing_alone(workspace: Workspace, name: str) -> Iterator[None]:
    """Hold `.memory/NAME.lock`, so that one process alone does what `name` says; LockBusy after 10 s.

    First removes what killed processes left beside the pages.
    """
    prepare_memory(workspace)
    with locked(workspace.memory / f"{name}.lock", LOCK_SECONDS):
        for folder in _folders(workspace.root):
            _sweep(folder)
        yield


def _put_new(workspace: Workspace, path: str, data: bytes) -> None:
    target = workspace.root / path
    if os.path.lexists(target):
        raise PageChanged(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    with _temporary(target, b"", data, None) as temporary:
        try:
            move_new(temporary, target)
        except FileExistsError as error:
            raise PageChanged(path) from error
    confirm(workspace, path)


def _put_over(workspace: Workspace, path: str, expected: bytes, data: bytes) -> None:
    target = workspace.root / path
    status = _status(target, path)
    if not _is_quiet(target, status) or not _holds(target, expected):
        raise PageChanged(path)
    if not os.access(target, os.W_OK):  # a name may be swapped all the same, but its owner said not to write
        raise CannotWrite(path, os.strerror(errno.EACCES))
    if data == expected:  # it may have been written by a process that was killed before its sync
        confirm(workspace, path)
        return
    with _temporary(target, expected, data, status) as temporary:
        if _status(target, path).st_mtime_ns != status.st_mtime_ns or not _holds(target, expected):
            raise PageChanged(path)
        try:
            has_come_out = _exchange(temporary, target)
        except FileNotFoundError as error:
            raise PageChanged(path) from error
        # The file first: the less time until a save is given back, the less likely that anybody sees the new text.
        if not has_come_out or (is_at(temporary, status) and _holds(temporary, expected)):
            confirm(workspace, path)
            # An editor that had opened the page before the swap may have begun to write into what came out only now.
            if not has_come_out or _holds(temporary, expected):
                return
        # Give back what was saved; unless somebody saved over the new text too, which is their latest then.
        _exchange(temporary, target)
        if not _holds(temporary, data):
            _exchange(temporary, target)
        confirm(workspace, path)
        raise PageChanged(path)


def _exchange(temporary: Path, target: Path) -> bool:
    """Swap the two names, so that what the page was comes out under the name of the temporary file.

    Where the system has no single step for it, it takes three, which overwrite a save in that very moment. False on a disk
    without even hard links: the page is overwritten, and nothing comes out.
    """
    if swap(temporary, target):
        return True
    _, old, new, _ = temporary.name.split("-")
    spare = _name(temporary.parent, old, new, "swap")
    try:
        os.link(target, spare)
    except FileNotFoundError:
        raise
    except OSError:
        os.replace(temporary, target)
        return False
    os.replace(temporary, target)
    os.rename(spare, temporary)
    return True


def _status(target: Path, path: str) -> os.stat_result:
    try:
        status = os.stat(target, follow_symlinks=False)
    except FileNotFoundError as error:
        raise PageChanged(path) from error
    if not stat.S_ISREG(status.st_mode):
        raise PageUnreadable(path, "not a regular file")
    return status


def _is_quiet(target: Path, status: os.stat_result) -> bool:
    """False if somebody is saving the page. Where that cannot be asked, what was saved just now gets time to settle.

    An editor that saves in place leaves the page empty for a moment.
    """
    with _reading(target) as fd:
        writer = fd is None or has_writer(fd)
    age = time.time() - status.st_mtime
    if writer is None and 0 <= age < SETTLE_SECONDS:
        time.sleep(SETTLE_SECONDS - age)
    return not writer


def _holds(file: Path, data: bytes) -> bool:
    """True if this is what the file holds, and no process is known to write into it."""
    with _reading(file) as fd:
        if fd is None or has_writer(fd) or os.fstat(fd).st_size != len(data):
            return False
        with open(fd, "rb", closefd=False) as stream:
            return stream.read(len(data) + 1) == data


@contextmanager
def _reading(file: Path) -> Iterator[int | None]:
    """The open file, None if it is not there."""
    try:
        fd = os.open(file, os.O_RDONLY | OPEN_SAFELY)
    except FileNotFoundError:
        yield None
        return
    try:
        yield fd
    finally:
        os.close(fd)


@contextmanager
def _temporary(target: Path, old: bytes, new: bytes, status: os.stat_result | None) -> Iterator[Path]:
    """A synced file beside the page that holds the new text; what has its name in the end is removed if it is ours."""
    part, whole = (_name(target.parent, hashed(old, 8).hex(), hashed(new, 8).hex(), state) for state in _STATES)
    fd = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | OPEN_SAFELY, 0o600 if status else 0o666)
    try:
        try:
            _write_all(fd, new)
            if status:
                copy_attributes(target, status, fd)
            os.fsync(fd)
        finally:
            os.close(fd)
        os.rename(part, whole)
        yield whole
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)
        with suppress(OSError):
            _discard(whole, lambda data: data in (old, new))


def _name(folder: Path, old: str, new: str, state: str) -> Path:
    """Hidden, and no page; `old` and `new` are hashes."""
    return folder / f".memctl-{old}-{new}-{os.urandom(6).hex()}.{state}"


def _write_all(fd: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(fd, left) :]


def _discard(file: Path, is_ours: Callable[[bytes], bool]) -> None:
    """Remove a temporary file; but what somebody else wrote stays, under a name that they can see."""
    try:
        data = file.read_bytes()
    except FileNotFoundError:
        return
    if is_ours(data) and _holds(file, data):
        file.unlink(missing_ok=True)
    else:
        move_new(file, file.with_name(f"recovered-{os.urandom(4).hex()}.md"))


def _sweep(folder: Path) -> None:
    """Look for what killed processes left; trouble there is no reason not to write."""
    with suppress(OSError):
        with os.scandir(folder) as entries:
            found = [(Path(entry), match) for entry in entries if (match := _TEMPORARY.fullmatch(entry.name))]
        for file, match in found:
            status = os.stat(file, follow_symlinks=False)
            if not stat.S_ISREG(status.st_mode) or time.time() - status.st_ctime < STALE_SECONDS:
                continue
            if match["state"] == "part":
                file.unlink(missing_ok=True)
            else:
                _clear(file, match["old"], match["new"])


_sweep_once = cache(_sweep)  # on the first write of this process to a folder: it may hold many pages


def _clear(file: Path, old: str, new: str) -> None:
    """Remove a temporary file of a killed process; or give a page back what somebody saved in the moment of the kill."""
    saved = file.read_bytes()
    if hashed(saved, 8).hex() not in (old, new):
        for page in file.parent.glob("*.[mM]*"):
            if page.is_file() and not page.is_symlink() and hashed(page.read_bytes(), 8).hex() == new:
                swap(file, page)
                break
    _discard(file, lambda data: hashed(data, 8).hex() in (old, new))


def _folders(root: Path) -> Iterator[Path]:
    """Every folder that may hold pages of this workspace."""
    for folder, below, files in os.walk(root):
        if SETTINGS in files and folder != str(root):
            below.clear()
            continue
        below[:] = [name for name in below if not name.startswith(".")]
        yield Path(folder)


# -- what git knows ---------------------------------------------------------------------------------------------------
# It is asked of the repository alone, never of another machine.

PLAIN = ("--no-ext-diff", "--no-textconv", "--no-show-signature", "--no-color", "--src-prefix=a/", "--dst-prefix=b/")
"""For `log` and `show`: they start no program that the repository names, and print as git does without settings."""
_QUIET = {"LC_ALL": "C", "GIT_NO_LAZY_FETCH": "1", "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0"}


class GitFailed(Exception):
    """What git said, or why it could not be asked."""


def ask_git(root: Path, *words: str, seconds: float = 60.0) -> str:
    """What git prints, as pages are decoded. It asks nothing, and knows no repository but the one that the folder is in."""
    others = ("GIT_DIR", "GIT_WORK", "GIT_INDEX")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(others)}
    try:
        done = subprocess.run(
            ["git", "-c", "core.fsmonitor=false", *words], cwd=root, env=kept | _QUIET, capture_output=True,
            stdin=subprocess.DEVNULL, timeout=seconds,
        )  # fmt: skip
    except FileNotFoundError:
        raise GitFailed("it is not installed") from None
    except (OSError, subprocess.TimeoutExpired) as error:
        raise GitFailed(str(error)) from error
    if done.returncode:
        said = " ".join(done.stderr.decode("utf-8", "replace").split())
        raise GitFailed((said or f"`git {words[0]}` ended with {done.returncode}")[:300])
    return decoded(done.stdout)


def git(workspace: Workspace, *words: str) -> str | None:
    """The same; None without git, outside of a repository, where it fails or takes ten seconds."""
    with suppress(GitFailed):
        return ask_git(workspace.root, *words, seconds=10.0)
    return None


def head(workspace: Workspace) -> tuple[str, frozenset[str]]:
    """The commit that is checked out, and the paths of files that it does not hold as they are; ("", none) without one."""
    commit = git(workspace, "rev-parse", "--verify", "HEAD")
    changed = git(workspace, "diff", "--name-only", "--relative", "-z", "HEAD")
    others = git(workspace, "ls-files", "--others", "-z")
    if commit is None or changed is None or others is None:
        return "", frozenset()
    return commit.strip(), frozenset(filter(None, (changed + others).split("\0")))


def is_behind(workspace: Workspace, commit: str) -> bool:
    """True for a commit that is not among those which led to the one that is checked out."""
    return git(workspace, "merge-base", "--is-ancestor", commit, "HEAD") is None


def sides_of_merge(workspace: Workspace, path: str) -> tuple[str, str] | None:
    """The page as ours and theirs had it, decoded with `surrogateescape`, while git has a conflict in it.

    None if there is none, no git, or only one side has the page.
    """
    ours, theirs = (git(workspace, "cat-file", "blob", f":{stage}:./{path}") for stage in (2, 3))
    return None if ours is None or theirs is None else (ours, theirs)
