"""Opens the index, and heals it: old, damaged or missing, it is made again from the Markdown."""

from __future__ import annotations

import os
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

from ..errors import CannotWrite, LockBusy
from ..facts import grouped
from ..ids import hashed
from ..notes.files import prepare_memory
from ..notes.workspace import Workspace
from ..system import OPEN_SAFELY, locked
from .index import SELECT_ROW, Index, code, is_unwritable
from .row import SELECT_ABOUT, SELECT_NAMES, link_rows, mention_rows, page_sum, rows_bytes, slot_rows

T = TypeVar("T")
_HERE = Path(__file__).parent
_LOCK_SECONDS = 2.0  # a recall that finds the index damaged does not wait for long
# What decides how a row looks. No migrations: a change in any of these means a rebuild.
PARSER = (
    "index/schema.sql", "index/index.py", "markdown/attributes.py", "index/lexical.py", "ids.py", "errors.py", "index/row.py", "index/rows.py", "facts.py", "markdown/markers.py", "language/dates.py",
    "language/dates_lexer.py", "markdown/front_matter.py", "markdown/grammar.py", "markdown/lines.py",
    "language/sentences.py", "language/entity_key.py", "language/names.py", "markdown/page.py", "markdown/private.py", "language/relations.py", "language/analyzer.py", "language/words.py",
)  # fmt: skip
# Topics of words (language/data) that decide it too, in each language and beside them.
_WORDS = frozenset(("characters", "dates", "irregular", "language", "modality", "relations", "slots", "stopwords"))


@cache
def schema_version() -> int:
    """A number for PRAGMA user_version that changes with the schema and with every module that decides a row."""
    listed = (_HERE.parent / "language" / "data").rglob("*.txt")
    words = sorted((path.parent.name, path.stem, path) for path in listed if path.stem in _WORDS)
    parts = [path.read_bytes() for path in (*(_HERE.parent / name for name in PARSER), *(path for *_, path in words))]
    return int.from_bytes(hashed(b"\0".join(parts), 4)) >> 1 or 1


def with_index(workspace: Workspace, job: Callable[[Index], T]) -> T:
    """What `job` makes of the index. One that turns out damaged meanwhile is made again, and so is the job."""
    path = workspace.derived / "index.sqlite"
    for attempt in (1, 2, 3):
        index = open_index(workspace)
        try:
            return job(index)
        except DAMAGE as error:
            index.unsealed = False
            # Another process may have moved the index aside under our hands.
            is_moved = getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_READONLY_DBMOVED
            if attempt == 3 or not (is_moved or _is_damage(error)):
                if isinstance(error, sqlite3.ProgrammingError):
                    raise
                is_busy = code(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
                raise (LockBusy(str(path), 10.0) if is_busy else CannotWrite(str(path), str(error))) from error
            path.with_suffix(".seal").unlink(missing_ok=True)
            if attempt == 2 and index.path:
                _move_aside(path)
        finally:
            close_index(index)
    raise AssertionError("unreachable")


def close_index(index: Index) -> None:
    """Close, and after writes remember the file's state, so that damage shows at the next opening."""
    index.close()
    if index.unsealed and index.path:
        write_seal(index.path)


# SQLite's own message may quote damaged bytes, which Python then cannot decode.
DAMAGE = (sqlite3.DatabaseError, UnicodeDecodeError)
"""What a read of a broken index may raise, and some that is not damage; `with_index` tells them apart."""
PASSING = {
    sqlite3.SQLITE_PERM, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_INTERRUPT, sqlite3.SQLITE_FULL, sqlite3.SQLITE_CANTOPEN,
}  # fmt: skip


def _is_damage(error: Exception) -> bool:
    """True for errors that another look will not cure; busy, full and read-only are not damage, nor is a bug of ours."""
    return not (code(error) in PASSING or is_unwritable(error) or isinstance(error, sqlite3.ProgrammingError))


def open_index(workspace: Workspace) -> Index:
    """The index of a workspace: made if missing, made again if its schema or content is not what it should be.

    Where nothing can be written it is opened as it stands (`frozen` says why), or held in memory for this once.
    """
    path = workspace.derived / "index.sqlite"
    try:
        prepare_memory(workspace)
        for _ in range(3):
            if index := _open_if_sound(path):
                return index
            with locked(workspace.memory / "lock", _LOCK_SECONDS):
                if index := _open_if_sound(path):  # another process may have healed it while we waited
                    return index
                _move_aside(path)
        raise CannotWrite(str(path), "damaged each time it is made")
    except (CannotWrite, LockBusy, sqlite3.OperationalError, OSError) as error:
        return _open_frozen(path, error.cause if isinstance(error, CannotWrite) else str(error))


@contextmanager
def open_scratch() -> Iterator[Index]:
    """An empty index in a nameless temporary file, which is gone afterwards, even if the process is killed."""
    with closing(sqlite3.connect("", isolation_level=None)) as db:
        index = Index(db, None)
        _create(index)
        yield index


def _open_if_sound(path: Path) -> Index | None:
    if path.is_symlink():
        path.unlink()  # SQLite would follow it out of the workspace
    if path.exists() and not path.is_file():  # a folder, or a pipe that would keep a reader waiting
        return None
    with suppress(FileExistsError):  # SQLite would make it with the modes of the umask
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | OPEN_SAFELY, 0o600))
    index = Index(sqlite3.connect(path, isolation_level=None, timeout=10.0, check_same_thread=False), path)
    try:
        if _is_sound(index):
            return index
    except DAMAGE as error:
        if not _is_damage(error):
            index.close()
            raise
    index.close()
    return None


def _is_sound(index: Index) -> bool:
    """True for an index of this schema whose file is as we left it, or that passes every check; fills an empty one."""
    for pragma in ("synchronous = NORMAL", "trusted_schema = OFF", "temp_store = MEMORY", "cache_size = -32768"):
        index.run(f"PRAGMA {pragma}")
    version = index.rows("PRAGMA user_version")[0][0]
    if version == 0 and not index.rows("SELECT 1 FROM sqlite_master LIMIT 1"):
        _create(index)
        return True
    if version != schema_version():
        return False
    if seal_holds(index.path):
        return True
    index.unsealed = True
    return is_intact(index)


def _create(index: Index) -> None:
    index.run("PRAGMA auto_vacuum = INCREMENTAL")  # before the first table, and before WAL
    index.run("PRAGMA journal_mode = WAL")
    with index.writing():
        if index.rows("SELECT 1 FROM sqlite_master LIMIT 1"):
            return  # another process was quicker
        index.fresh = True
        bare = "\n".join(line.partition("--")[0] for line in (_HERE / "schema.sql").read_text("utf-8").splitlines())
        for statement in filter(str.strip, bare.split(";\n")):
            index.run(statement)
        index.run(f"PRAGMA user_version = {schema_version()}")


def _open_frozen(path: Path, reason: str) -> Index:
    """An index that cannot be written: as it stands if it is as we left it, else a copy in memory that is proved first."""
    with suppress(*DAMAGE, OSError):
        if not path.is_file() or path.is_symlink():
            raise FileNotFoundError(path)
        frozen = sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True, isolation_level=None)
        if seal_holds(path):
            return Index(frozen, None, frozen=reason)
        with closing(frozen):
            memory = _in_memory(reason, frozen)
        if memory.rows("PRAGMA user_version") == [(schema_version(),)] and is_intact(memory):
            return memory
        memory.close()
    memory = _in_memory(reason)
    _create(memory)
    return memory


def _in_memory(reason: str, original: sqlite3.Connection | None = None) -> Index:
    db = sqlite3.connect(":memory:", isolation_level=None)
    index = Index(db, None)
    index.instead = reason
    try:
        if original:
            original.backup(db)
    except BaseException:
        index.close()
        raise
    return index


def _move_aside(path: Path) -> None:
    """Take a broken index away. It is derived and holds text, so it goes; what is not a file was put there by somebody."""
    for end in ("-wal", "-shm", "-journal"):
        path.with_name(path.name + end).unlink(missing_ok=True)
    path.with_suffix(".seal").unlink(missing_ok=True)
    with suppress(FileNotFoundError):
        if path.is_file() or path.is_symlink():
            path.unlink()
        else:
            path.rename(path.with_name(f"{path.name}.{time.time_ns()}"))


def is_intact(index: Index) -> bool:
    """True when the file's structure, the schema, the word index and every sum agree: a flipped bit breaks one."""
    try:
        # Asked of SQLite: to open the file ourselves, and close it, would let go of every lock that this process holds.
        if index.path and index.rows("PRAGMA journal_mode") != [("wal",)]:
            return False
        index.run("PRAGMA busy_timeout = 0")
        index.run("INSERT INTO words (words) VALUES ('integrity-check')")  # compares the word index with its content
        index.run("PRAGMA busy_timeout = 10000")
        return (
            index.rows("PRAGMA integrity_check(1)") == [("ok",)]
            and _schema(index) == _fresh_schema()
            and _adds_up(index)
            and _has_its_words(index)
        )
    except DAMAGE as error:
        if _is_damage(error):
            return False
        if code(error) == sqlite3.SQLITE_BUSY:
            index.unsealed = False
            return True  # somebody writes to it just now, and proved it before; the next opening looks again
        if code(error) == sqlite3.SQLITE_READONLY and index.path and os.access(index.path, os.W_OK):
            return False  # a version in its header that SQLite only reads
        raise


def _schema(index: Index) -> list[tuple[Any, ...]]:
    return index.rows("SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY name")


@cache
def _fresh_schema() -> list[tuple[Any, ...]]:
    with open_scratch() as index:
        return _schema(index)


def _adds_up(index: Index) -> bool:
    """True when every page has the sum of its rows, and the derived tables hold nothing else."""
    names = grouped((row[0], row) for select in SELECT_NAMES for row in index.each(select))
    expected: Counter[str] = Counter()
    for total, number, *about in index.rows(SELECT_ABOUT):
        rows = index.rows(SELECT_ROW, (number,))
        if page_sum(tuple(about), names.pop(number, ()), hashed(rows_bytes(rows), 16)) != total:
            return False
        expected["entry"] += len(rows)
        expected["words"] += len(rows)
        for table, made in (("mention", mention_rows(rows)), ("link", link_rows(rows)), ("slot", slot_rows(rows))):
            expected[table] += sum(map(hash, set(made)))
    counted = {table: index.rows(f"SELECT count(*) FROM {table}")[0][0] for table in ("entry", "words")}
    summed = {table: sum(map(hash, index.each(f"SELECT * FROM {table}"))) for table in ("mention", "link", "slot")}
    return not names and all(expected[table] == value for table, value in (counted | summed).items())


def _has_its_words(index: Index) -> bool:
    """True when the word index holds each word as often as its lines do.

    SQLite's own check takes the exclusive or of a weak hash of each place: a bit that flips in a word of two lines cancels out.
    """
    lines = (own.split(" ") for (own,) in index.each("SELECT own || aside AS it FROM words WHERE it <> ''"))
    counts = dict(index.each("SELECT term, sum(cnt) FROM vocabulary GROUP BY term"))
    return Counter(chain.from_iterable(lines)) == counts


# -- the seal: the state of the file as we last left it ---------------------------------------------------------------


def state_of(path: Path) -> list[int]:
    """What changes when a file is written."""
    status = os.stat(path)
    return [status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino]


def seal_holds(path: Path | None) -> bool:
    """True when a file of the index is as it was left."""
    if path is None:
        return True
    with suppress(OSError, ValueError):
        fd = os.open(path.with_suffix(".seal"), os.O_RDONLY | OPEN_SAFELY)
        with open(fd, encoding="ascii") as stream:
            return stream.read(200) == str(state_of(path))
    return False


def write_seal(path: Path) -> None:
    """Best effort: without a seal the next opening only checks more."""
    with suppress(OSError):
        fd = os.open(path.with_suffix(".seal"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC | OPEN_SAFELY, 0o666)
        with open(fd, "w", encoding="ascii") as stream:
            stream.write(str(state_of(path)))
