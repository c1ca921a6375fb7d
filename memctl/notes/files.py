"""The only door to Markdown on disk: reads pages whole and safely, appends lines durably; and small files of the owner alone."""

import errno
import os
import re
import stat
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from .. import system
from ..errors import CannotWrite, OutsideWorkspace, PageChanged, PageUnreadable, Refused
from ..system import OPEN_SAFELY, as_cannot_write, locked, move_new, sync_folder
from .workspace import Workspace

MAX_PAGE = 8 * 1024 * 1024  # bytes; a longer page is named and skipped
LOCK_SECONDS = 10.0
RETRY_SECONDS = 5.0  # how long an append goes on against an editor that saves all the time
_IGNORED = b"# derived by memctl; safe to delete\n*\n"


class PageText(NamedTuple):
    """A page as read: its text (BOM and line endings as they are), the status it had when we looked, what was odd about it."""

    text: str
    status: os.stat_result
    looked_ns: int
    data: bytes
    warning: str | None

    @property
    def sha256(self) -> bytes:
        """The hash of the page's bytes."""
        from hashlib import sha256  # with OpenSSL (3 ms), which a recall of unchanged pages never needs

        return sha256(self.data).digest()


class Appended(NamedTuple):
    """What an append did: the text before, as the workspace shows it, and the text added: empty if nothing had to be."""

    before: str
    added: str


def read_page(workspace: Workspace, path: str) -> PageText:
    """One page as the workspace shows it. PageUnreadable for what is no text of at most 8 MiB, OutsideWorkspace for a link."""
    looked_ns = time.time_ns()
    fd = _open(workspace, path, os.O_RDONLY)
    try:
        status = os.fstat(fd)
        data = _read_text_bytes(fd, status, path)
    except OSError as error:
        raise PageUnreadable(path, error.strerror or str(error)) from error
    finally:
        os.close(fd)
    text, warning = _decode(data)
    shown = _shown(workspace, text)
    if shown != text:
        text, data, warning = shown, shown.encode(), warning if "\ufffd" in shown else None
    return PageText(text, status, looked_ns, data, warning)


def _shown(workspace: Workspace, text: str) -> str:
    """A page as this workspace shows it: without its private lines in a public view."""
    if workspace.hides is None:
        return text
    from ..markdown.private import without_private_lines

    return without_private_lines(text, workspace.hides)


def _open(workspace: Workspace, path: str, flags: int) -> int:
    try:
        return os.open(workspace.root / path, flags | OPEN_SAFELY, 0o666)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise OutsideWorkspace(path, "is a symbolic link") from error
        if flags & os.O_CREAT:
            raise CannotWrite(path, error.strerror or str(error)) from error
        cure = "it was moved or deleted: `memctl docs` lists what is there" if error.errno == errno.ENOENT else ""
        raise PageUnreadable(path, error.strerror or str(error), cure) from error


def _read_text_bytes(fd: int, status: os.stat_result, path: str) -> bytes:
    if not stat.S_ISREG(status.st_mode):
        raise PageUnreadable(path, "not a regular file")
    if status.st_size > MAX_PAGE:
        reason = f"{status.st_size / 2**20:.1f} MiB; pages over 8 MiB are not read"
        raise PageUnreadable(path, reason, "split that page")
    with open(fd, "rb", closefd=False) as stream:
        data = stream.read(MAX_PAGE + 1)
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise PageUnreadable(path, "UTF-16, not UTF-8", "save that page as UTF-8")
    # Zero bytes in many places, or beside other control bytes; a run of them alone is what a power failure leaves.
    head = data[:8192]
    zeros = re.findall(rb"\0+", head) if b"\0" in head else ()
    if len(zeros) > 3 or (zeros and re.search(rb"[\x01-\x08\x0e-\x1a\x1c-\x1f]", head)):
        raise PageUnreadable(path, "binary, not text")
    return data


def _decode(data: bytes) -> tuple[str, str | None]:
    try:
        return data.decode("utf-8"), None
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return data.decode("utf-8", "replace"), f"line {line} is not UTF-8; unreadable bytes are shown as \ufffd"


SESSION = "session-"  # what the files in .memory begin with that hold what was stated in a chat


def prepare_memory(workspace: Workspace) -> Path:
    """Make `.memory/` with a .gitignore of its own, if it is not there; returns the folder. CannotWrite if it can't be.

    What is made of private lines is nobody else's to read: a folder with open modes is closed to others, with its files.
    """
    folder = workspace.memory
    with as_cannot_write(folder):
        folder.mkdir(mode=0o700, exist_ok=True)
        status = folder.lstat()
        if stat.S_ISLNK(status.st_mode):
            raise OutsideWorkspace(str(folder), "is a symbolic link")
        if system.HAS_MODES and status.st_mode & 0o077:
            _close_to_others(folder)
        if workspace.hides:
            workspace.derived.mkdir(mode=0o700, exist_ok=True)
        ignored = folder / ".gitignore"
        if not ignored.exists() or not ignored.stat().st_size:  # missing, or a crash left it without content
            with open(os.open(ignored, os.O_WRONLY | os.O_CREAT | OPEN_SAFELY, 0o666), "wb") as stream:
                stream.write(_IGNORED)
    return folder


def _close_to_others(folder: Path) -> None:
    """Take the rights of everybody but the owner; what belongs to somebody else is theirs to close.

    A token that others could read stays open: closed, it would be taken for a secret.
    """
    with suppress(OSError):
        folder.chmod(folder.stat().st_mode & 0o700)
        for inner, _, names in os.walk(folder):
            for path in (Path(inner), *(Path(inner, name) for name in names)):
                if not path.is_symlink() and path.name != "token":
                    path.chmod(path.stat().st_mode & 0o700)


def write_derived(path: Path, data: bytes, *, is_lasting: bool = False) -> None:
    """Put a derived file in place, whole or not at all; it may be gone after a power failure, as all that is derived.

    One that `is_lasting` is not derived: it is synced, and put over none that is there.
    """
    made = path.with_name(f".{os.urandom(6).hex()}.part")
    with as_cannot_write(path):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            fd = os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL | OPEN_SAFELY, 0o600)
            with open(fd, "wb") as stream:
                stream.write(data)
                if is_lasting:
                    stream.flush()
                    os.fsync(fd)
            if not is_lasting:
                os.replace(made, path)
                return
            with suppress(FileExistsError):  # another process made one in this moment
                move_new(made, path)
            sync_folder(path.parent)
        finally:
            with suppress(OSError):
                made.unlink()


def append(workspace: Workspace, path: str, compose: Callable[[str], str]) -> Appended:
    """Add to the end of a page what `compose(text so far)` returns; when this returns, it is on disk.

    Only ever appends: a torn last line is closed with a newline first, everything goes down in one write, and a page
    that an editor swapped meanwhile is read and composed for again. An empty composition writes nothing.
    """
    prepare_memory(workspace)
    with locked(workspace.memory / "lock", LOCK_SECONDS):
        deadline = time.monotonic() + RETRY_SECONDS
        while time.monotonic() < deadline:
            if done := _append_once(workspace, path, compose):
                return done
    error = PageChanged(path)
    error.what = f"{path} was saved by another program several times meanwhile; the new text may be on it or not"
    error.cure = "run the command again: a line that is there is not added twice"
    raise error


def _append_once(workspace: Workspace, path: str, compose: Callable[[str], str]) -> Appended | None:
    """One try; None where an editor saved the page meanwhile, before our write or over it."""
    target = workspace.root / path
    with as_cannot_write(path):
        target.parent.mkdir(parents=True, exist_ok=True)
    is_new = not os.path.lexists(target)
    fd = _open(workspace, path, os.O_RDWR | os.O_APPEND | os.O_CREAT)
    try:
        status = os.fstat(fd)
        data = _read_text_bytes(fd, status, path)
        before = _shown(workspace, _decode(data)[0])
        added = in_style(compose(before), before)
        new = added.encode("utf-8")
        if len(data) + len(new) > MAX_PAGE:
            reason = "full: a page over 8 MiB would not be read back; nothing was kept"
            raise PageUnreadable(path, reason, "split that page")
        now = os.fstat(fd)  # composing takes the longest, and editors save in between
        if (now.st_size, now.st_mtime_ns) != (len(data), status.st_mtime_ns) or not is_at(target, now):
            return None
        if new:
            _write_once(fd, new, len(data), path)
        _make_durable(workspace, fd, path)
        if not _stands(fd, target, len(data), new):
            return None
        _remember(workspace, path, None if is_new and not data else data, data + new)
        return Appended(before, added)
    except OSError as error:
        raise CannotWrite(path, error.strerror or str(error)) from error
    finally:
        with suppress(OSError):
            os.close(fd)


def _remember(workspace: Workspace, path: str, before: bytes | None, after: bytes) -> None:
    """Tell the journal of `undo`, which a recall never needs."""
    if workspace.command:
        from .journal import record

        record(workspace, path, before, after)


def _stands(fd: int, target: Path, at: int, new: bytes) -> bool:
    """True if what was written is there, in the file that now has the name: an editor may have saved over both."""
    with suppress(OSError):
        os.lseek(fd, at, os.SEEK_SET)
        return os.read(fd, len(new)) == new and is_at(target, os.fstat(fd))
    return False


def is_at(target: Path, status: os.stat_result) -> bool:
    """True if a name leads to the very file that had this status."""
    with suppress(OSError):
        now = os.stat(target, follow_symlinks=False)
        return (now.st_ino, now.st_dev) == (status.st_ino, status.st_dev)
    return False


def confirm(workspace: Workspace, path: str) -> None:
    """Make a page durable as it stands, whoever wrote it: a fact that is reported as kept must survive a power failure."""
    fd = _open(workspace, path, system.OPEN_TO_SYNC)
    try:
        _make_durable(workspace, fd, path)
    finally:
        os.close(fd)


def _make_durable(workspace: Workspace, fd: int, path: str) -> None:
    """Sync a page and the folders that lead to it.

    All of them, each time (0.2 ms): a process that was killed may have made them and not come to the sync.
    """
    try:
        os.fsync(fd)
        for folder in PurePosixPath(path).parents:
            sync_folder(workspace.root / folder)
    except OSError as error:
        reason = f"the text was written, but the disk did not confirm it: {error.strerror or error}"
        cure = "check the disk, then run the command again: a line that is there is not written twice"
        raise PageUnreadable(path, reason, cure) from error


def in_style(added: str, before: str) -> str:
    """The addition behind a closed last line, with the line endings that the page uses."""
    if added and before and not before.endswith(("\n", "\r")):
        added = "\n" + added
    return added.replace("\n", "\r\n") if before.count("\r\n") * 2 > before.count("\n") else added


def _write_once(fd: int, data: bytes, size: int, path: str) -> None:
    """One write. A write cut short (a full disk) is taken back, so that half a line never stays."""
    written = os.write(fd, data)
    if written < len(data):
        if os.fstat(fd).st_size == size + written:  # unless somebody else wrote too
            os.ftruncate(fd, size)
        raise CannotWrite(path, os.strerror(errno.ENOSPC))


# -- files that their owner alone may read, even while they are made; of those the bearer token of `memctl serve` -------

_CURE = "delete that file; the next start makes another"


def token_of(workspace: Workspace) -> tuple[Path, str]:
    """Where the token stands, and the token; made on first use. Refused if others could have read it, or it is none."""
    path = prepare_memory(workspace) / "token"
    found = read_private(path, _CURE)
    if found is None:
        import secrets

        write_derived(path, f"{secrets.token_urlsafe(32)}\n".encode("ascii"), is_lasting=True)
        found = read_private(path, _CURE)
    if not re.fullmatch(r"[A-Za-z0-9_-]{32,512}", found or ""):
        raise PageUnreadable(str(path), "not a token", _CURE)
    return path, found or ""


def view_key(token: str) -> str:
    """A key to read pages with, derived from the token, from which the token cannot be computed."""
    import hmac

    return hmac.new(token.encode("ascii"), b"memctl view", "sha256").hexdigest()


def read_private(path: Path, cure: str) -> str | None:
    """The text of a small file, None if there is no file. Refused if others could have read it."""
    try:
        fd = os.open(path, os.O_RDONLY | OPEN_SAFELY)
    except FileNotFoundError:
        return None
    except OSError as error:  # a symbolic link, no permission
        raise PageUnreadable(str(path), error.strerror or str(error), cure) from error
    try:
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode):
            raise PageUnreadable(str(path), "not a regular file", cure)
        if system.is_open_to_others(status):
            raise Refused(f"{path} can be read by others (mode {stat.S_IMODE(status.st_mode):04o})", cure)
        return os.read(fd, 65536).decode("ascii", "replace").strip()
    finally:
        os.close(fd)
