"""Opens the index, and heals it: old, damaged or missing, it is made again from the Markdown."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import TypeVar

from ..errors import CannotWrite, LockBusy, MemctlError
from .files import prepare_memory
from .index import SELECT_ROW, Index, rows_sum
from .workspace import Workspace

__all__ = ["is_intact", "open_index", "open_scratch", "schema_version", "with_index"]

T = TypeVar("T")
_HERE = Path(__file__).parent
# What decides how a row looks. No migrations: a change in any of these means a rebuild.
_PARSER = (
    "store/schema.sql", "core/rows.py", "text/blocks.py", "text/dates.py", "text/frontmatter.py", "text/grammar.py",
    "text/names.py", "text/page.py", "text/terms.py",
)  # fmt: skip


@cache
def schema_version() -> int:
    """A number for PRAGMA user_version that changes with the schema and with every module that decides a row."""
    parts = [(_HERE.parent / name).read_bytes() for name in _PARSER]
    return int.from_bytes(hashlib.blake2b(b"\0".join(parts), digest_size=4).digest()) >> 1 or 1


def with_index(workspace: Workspace, job: Callable[[Index], T]) -> T:
    """What `job` makes of the index. One that turns out damaged meanwhile is moved aside, and the job is done anew."""
    path = workspace.memory / "index.sqlite"
    for attempt in (1, 2):
        index = open_index(workspace)
        try:
            return job(index)
        except sqlite3.DatabaseError as error:
            if attempt == 2 or not _is_damage(error):
                raise _explain(path, error) from error
            _move_aside(index)
        finally:
            _close(index)
    raise AssertionError("unreachable")


def _close(index: Index) -> None:
    """Close, and after writes remember the file's state, so that damage shows at the next opening."""
    index.close()
    if index.unsealed and index.path:
        _write_seal(index.path)


def _is_damage(error: sqlite3.Error) -> bool:
    """True for errors that another look will not cure; busy, full and read-only are not damage."""
    signs = ("malformed", "no such", "disk I/O", "corrupt", "vtable", "not a database", "constraint failed")
    return any(sign in str(error) for sign in signs)


def _explain(path: Path, error: sqlite3.Error) -> MemctlError:
    return LockBusy(str(path), 10.0) if "locked" in str(error) else CannotWrite(str(path), str(error))


def open_index(workspace: Workspace) -> Index:
    """The index of a workspace: made if missing, made anew if its schema or content is not what it should be.

    Where nothing can be written it is opened as it stands (`frozen` says why), or held in memory for this once.
    """
    path = workspace.memory / "index.sqlite"
    try:
        prepare_memory(workspace)
        for _ in range(3):
            index = _connect(path)
            if _is_sound(index):
                return index
            _move_aside(index)
            index.close()
        raise CannotWrite(str(path), "damaged each time it is made")
    except (CannotWrite, sqlite3.OperationalError) as error:
        return _open_frozen(path, str(error))


@contextmanager
def open_scratch(path: Path) -> Iterator[Index]:
    """An empty index at `path` that is gone afterwards."""
    db = sqlite3.connect(path, isolation_level=None)
    try:
        index = Index(db, path)
        index.run("PRAGMA synchronous = OFF")
        _create(index)
        yield index
    finally:
        db.close()
        for name in (path, path.with_name(path.name + "-wal"), path.with_name(path.name + "-shm")):
            name.unlink(missing_ok=True)


def _connect(path: Path) -> Index:
    return Index(sqlite3.connect(path, isolation_level=None, timeout=10.0), path)


def _is_sound(index: Index) -> bool:
    """True for an index of this schema whose file is as we left it, or that passes every check; fills an empty one."""
    try:
        for pragma in ("synchronous = NORMAL", "trusted_schema = OFF", "temp_store = MEMORY", "cache_size = -32768"):
            index.run(f"PRAGMA {pragma}")
        version = index.rows("PRAGMA user_version")[0][0]
        if version == 0 and not index.rows("SELECT 1 FROM sqlite_master LIMIT 1"):
            _create(index)
            return True
        if version != schema_version():
            return False
        if not _seal_holds(index.path):
            index.unsealed = True
            return is_intact(index)
        return True
    except sqlite3.DatabaseError as error:
        if _is_damage(error):
            return False
        raise


def _create(index: Index) -> None:
    index.run("PRAGMA journal_mode = WAL")
    with index.writing():
        if index.rows("SELECT 1 FROM sqlite_master LIMIT 1"):
            return  # another process was quicker
        bare = "\n".join(line.partition("--")[0] for line in (_HERE / "schema.sql").read_text("utf-8").splitlines())
        for statement in filter(str.strip, bare.split(";\n")):
            index.run(statement)
        index.run(f"PRAGMA user_version = {schema_version()}")


def is_intact(index: Index) -> bool:
    """True when the file's structure, the word index and the sum of every page agree: a flipped bit breaks one."""
    try:
        if index.rows("PRAGMA integrity_check(1)") != [("ok",)]:
            return False
        # rank = 1 compares the word index with its content; without it most damage passes.
        index.run("INSERT INTO words (words, rank) VALUES ('integrity-check', 1)")
        return all(_sum_holds(index, *page) for page in index.rows("SELECT id, rows_sum FROM page"))
    except sqlite3.DatabaseError as error:
        if _is_damage(error):
            return False
        if "locked" in str(error):
            index.unsealed = False
            return True  # somebody is writing to it just now; the next opening looks again
        raise


def _sum_holds(index: Index, page: int, expected: bytes) -> bool:
    return rows_sum(index.rows(SELECT_ROW, (page,))) == expected


# -- the seal: the state of the file as we last left it ---------------------------------------------------------------


def _state(path: Path) -> list[int]:
    status = os.stat(path)
    return [status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino]


def _seal_holds(path: Path | None) -> bool:
    if path is None:
        return True
    try:
        sealed: object = json.loads(path.with_suffix(".seal").read_text("utf-8"))
        return sealed == _state(path)
    except (OSError, ValueError):
        return False


def _write_seal(path: Path) -> None:
    """Best effort: without a seal the next opening only checks more."""
    with suppress(OSError):
        path.with_suffix(".seal").write_text(json.dumps(_state(path)), "utf-8")


def _open_frozen(path: Path, reason: str) -> Index:
    """Read an index that cannot be written, or start an empty one in memory."""
    with suppress(sqlite3.Error):
        db = sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True, isolation_level=None)
        if db.execute("PRAGMA user_version").fetchone()[0] == schema_version():
            return Index(db, None, frozen=reason)
        db.close()
    memory = Index(sqlite3.connect(":memory:", isolation_level=None), None)
    _create(memory)
    return memory


def _move_aside(index: Index) -> None:
    """Take a broken index out of the way, unless another process has done so; only the newest such is kept."""
    path = index.path
    if path is None:
        return
    for name in (path.with_name(path.name + "-wal"), path.with_name(path.name + "-shm"), path.with_suffix(".seal")):
        with suppress(FileNotFoundError):
            name.unlink()
    with suppress(FileNotFoundError):
        path.replace(path.with_name("index.broken"))
