"""index/heal.py: an index that is missing, old or damaged is made again; one that cannot be written still answers."""

from __future__ import annotations

import ast
import os
import random
import shutil
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import store_helpers
from face_helpers import memory_on
from store_helpers import DAY, LOG, at_once, is_two_lines, make_workspace, rebuilt, refusal, rows, synced
from strategies import examples
from torture import damage

import memctl
from memctl.errors import CannotWrite, PageUnreadable
from memctl.index import heal
from memctl.index.heal import open_index, schema_version, with_index
from memctl.index.index import Index
from memctl.index.sync import build_index as index_verb, verify
from memctl.notes.workspace import Workspace
from memctl.recall.query import read_query
from memctl.recall.recall import recall

posix = pytest.mark.skipif(os.name == "nt", reason="POSIX files")


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    made = make_workspace(tmp_path)
    synced(made)
    return made


def index_path(workspace: Workspace) -> Path:
    return workspace.memory / "index.sqlite"


def sql(workspace: Workspace, statement: str) -> None:
    """Change the index behind the back of memctl."""
    db = sqlite3.connect(index_path(workspace), isolation_level=None)
    db.execute(statement)
    db.close()


def test_every_damage_is_healed() -> None:
    """R7."""
    ended = damage.run(count := examples(504, part=12))
    assert dict(ended) == {"healed": count}


@pytest.mark.parametrize("words", ["Other words, 别的词", "Лиса рыжая"])
def test_a_word_index_that_does_not_fit_its_lines(tmp_path: Path, words: str) -> None:
    """Lines and sums are whole, and only the word index is that of another workspace: of other words, or in another order."""
    workspace, other = (make_workspace(tmp_path / text, {LOG: f"{text}.\n"}) for text in ("Рыжая лиса", words))
    for each in (workspace, other):
        synced(each)
    db = sqlite3.connect(index_path(workspace), isolation_level=None)
    db.execute("ATTACH ? AS other", (str(index_path(other)),))
    for table in ("words_data", "words_idx"):
        db.execute(f"DELETE FROM main.{table}")
        db.execute(f"INSERT INTO main.{table} SELECT * FROM other.{table}")
    db.close()
    assert not recall(memory_on(workspace, DAY), read_query('"рыжая лиса"', DAY)).warnings
    assert rows(workspace) == rebuilt(workspace)


@pytest.mark.parametrize("name", ["entry_ref", "entry_day"])
def test_an_index_of_a_table_that_lacks_its_rows(workspace: Workspace, name: str) -> None:
    """Tables, sums and schema are whole; a question that goes by that index would find nothing."""
    db = sqlite3.connect(index_path(workspace), isolation_level=None)
    ((made,),) = db.execute("SELECT sql FROM sqlite_master WHERE name = ?", (name,))
    db.execute(f"DROP INDEX {name}")
    db.execute(f"{made.partition(' WHERE ')[0]} WHERE 0")
    db.execute("PRAGMA writable_schema = ON")
    db.execute("UPDATE sqlite_master SET sql = ? WHERE name = ?", (made, name))
    db.close()
    assert with_index(workspace, lambda index: index.rows("PRAGMA integrity_check")) == [("ok",)]


@pytest.mark.parametrize("flipped", [b"fincj", b"fincl", b"fincH"])
@pytest.mark.parametrize("times", [2, 4])
def test_a_flipped_bit_in_a_word_of_several_lines(tmp_path: Path, times: int, flipped: bytes) -> None:
    """The sum by which SQLite checks a word index may cancel out where a word stands an even number of times."""
    workspace = make_workspace(tmp_path, {LOG: "".join(f"The finch sings, {at}.\n\n" for at in range(times))})
    synced(workspace)
    db = sqlite3.connect(index_path(workspace), isolation_level=None)
    ((number, block),) = db.execute(
        "SELECT id, block FROM words_data WHERE instr(block, CAST('finch' AS BLOB))"
    ).fetchall()
    db.execute("UPDATE words_data SET block = ? WHERE id = ?", (block.replace(b"finch", flipped), number))
    db.close()
    assert rows(workspace) == rebuilt(workspace)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE entry SET heading = 'other' WHERE line = 9",
        "UPDATE entry SET confidence = 0.1 WHERE confidence IS NOT NULL",
        "UPDATE mention SET name = 'atlaz' WHERE name = 'atlas'",
        "DELETE FROM mention WHERE name = 'peter'",
        "INSERT INTO mention VALUES ('nobody', 1)",
        "UPDATE link SET target = 'f-other'",
        "UPDATE slot SET key = 'other'",
        "DELETE FROM slot",
        "UPDATE naming SET name = 'Pieter' WHERE key = 'peter'",
        "UPDATE named SET stem = 'x'",
        "DELETE FROM named",
        "UPDATE page SET title = 'x'",
        "UPDATE page SET day = '2020-01-01' WHERE day IS NOT NULL",
        "UPDATE page SET entries = 10000, terms = 1",
        "UPDATE page SET sha256 = x'00' || sha256",
        "UPDATE page SET path = 'memory/2020-01-01.md' WHERE path LIKE 'memory/2025-11-27%'",
        "UPDATE page SET problem = 'none'",
        "DELETE FROM page WHERE path LIKE 'bank%'",
        "DELETE FROM entry WHERE kind = 'note'",
        "UPDATE words_content SET c0 = 'other' WHERE id IN (SELECT min(id) FROM words_content)",
        "DELETE FROM words WHERE rowid IN (SELECT min(id) FROM entry)",
        "DELETE FROM words_data WHERE id > 10",
        "UPDATE words_docsize SET sz = x'7f'",
        "DROP INDEX entry_day",
        "DROP TABLE slot",
        "ALTER TABLE page RENAME COLUMN title TO titel",
        "PRAGMA user_version = 7",
    ],
)
def test_wrong_rows_are_noticed_and_made_again(workspace: Workspace, statement: str) -> None:
    """What SQLite itself has no way to see: its pages are in order, and the content is not ours."""
    right = rebuilt(workspace)
    sql(workspace, statement)
    assert rows(workspace) == right


def test_a_sound_index_is_left_alone(workspace: Workspace) -> None:
    """Else the tests above would pass with an index that is always made anew."""
    inode = index_path(workspace).stat().st_ino
    os.utime(index_path(workspace))
    assert not heal.seal_holds(index_path(workspace))
    assert rows(workspace) == rebuilt(workspace)
    assert index_path(workspace).stat().st_ino == inode
    assert not (workspace.memory / "index.broken").exists()
    assert heal.seal_holds(index_path(workspace))


def test_nothing_of_a_broken_index_is_kept(workspace: Workspace) -> None:
    """It holds text of the owner's, and is made again."""
    index_path(workspace).write_bytes(b"quokka" * 1000)
    synced(workspace)
    assert not [path for path in workspace.memory.iterdir() if b"quokka" in path.read_bytes()]


def test_text_that_is_not_utf8_and_a_tokenizer_that_is_none(workspace: Workspace) -> None:
    """Errors that SQLite's own codes do not call damage."""
    for old, new in (
        (b"CREATE INDEX entry_day", b"CRE\xc5TE INDEX entry_day"),
        (b"words, col)", b"words, pol)"),
        (b'"ascii tok', b'"asci? tok'),
        (b"fjord", b"fj\xff\xfed"),
    ):
        data = index_path(workspace).read_bytes()
        assert old in data
        index_path(workspace).write_bytes(data.replace(old, new))
        assert rows(workspace) == rebuilt(workspace)


@pytest.mark.parametrize("versions", [b"\1\1", b"\3\2", b"\2\3", b"\0\0", b"\xff\xff"])
def test_format_versions_that_make_it_read_only_or_no_wal(workspace: Workspace, versions: bytes) -> None:
    with open(index_path(workspace), "r+b") as stream:
        stream.seek(18)
        stream.write(versions)
    (workspace.root / LOG).write_text("- changed\n")
    assert rows(workspace) == rebuilt(workspace)
    assert with_index(workspace, lambda index: index.rows("PRAGMA journal_mode")) == [("wal",)]
    assert synced(workspace).stale is None


def test_damage_that_shows_while_a_job_runs(workspace: Workspace) -> None:
    """The seal holds, as it does for a disk that forgets: the job meets the damage, and is done anew on a new index."""
    path = index_path(workspace)
    data = bytearray(path.read_bytes())
    for at in range(4096, len(data), 4096):
        data[at : at + 64] = os.urandom(64)
    path.write_bytes(data)
    heal.write_seal(path)
    assert rows(workspace) == rebuilt(workspace)


def test_a_bug_of_ours_is_no_damage(workspace: Workspace) -> None:
    inode = index_path(workspace).stat().st_ino
    with pytest.raises(sqlite3.ProgrammingError):
        with_index(workspace, lambda index: index.rows("SELECT ?, ?", (1,)))
    assert index_path(workspace).stat().st_ino == inode


@pytest.mark.parametrize(
    ("number", "tries"),
    [
        (sqlite3.SQLITE_CORRUPT, 3), (sqlite3.SQLITE_NOTADB, 3), (sqlite3.SQLITE_READONLY_DBMOVED, 3),
        (sqlite3.SQLITE_FULL, 1), (sqlite3.SQLITE_READONLY, 1), (sqlite3.SQLITE_BUSY, 1), (sqlite3.SQLITE_LOCKED, 1),
    ],
)  # fmt: skip
def test_what_another_look_may_cure_is_tried_three_times(workspace: Workspace, number: int, tries: int) -> None:
    """Damage, and a file that another process moved aside; what comes back each time is told."""
    asked: list[int] = []

    def job(index: Index) -> int:
        asked.append(index_path(workspace).stat().st_ino)
        if len(asked) < 3 or number != sqlite3.SQLITE_NOTADB:
            error = sqlite3.OperationalError("malformed")
            error.sqlite_errorcode = number
            raise error
        return 7

    if number == sqlite3.SQLITE_NOTADB:
        assert with_index(workspace, job) == 7 and len({*asked}) == 2  # it is made again for the last try alone
        return
    locked = number in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
    said = (
        "LockBusy: " if locked else f"CannotWrite: {index_path(workspace)}: cannot write: malformed; nothing was kept;"
    )
    assert refusal(lambda: with_index(workspace, job)).startswith(said) and len(asked) == tries


def test_many_who_find_it_broken_make_it_once(workspace: Workspace) -> None:
    """Nobody moves aside what another has just made: every one of them has the same new file open."""
    index_path(workspace).write_bytes(b"broken" * 5000)
    barrier, inodes = threading.Barrier(6), set[int]()

    def look(_: int) -> None:
        barrier.wait()
        assert rows(workspace) == rebuilt(workspace)
        inodes.add(index_path(workspace).stat().st_ino)

    at_once(6, look)
    assert len(inodes) == 1


def test_what_another_made_meanwhile_is_not_moved_aside(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    index_path(workspace).write_bytes(b"broken" * 5000)
    real, made = heal.locked, []

    @contextmanager
    def late(path: Path, seconds: float) -> Iterator[None]:
        monkeypatch.setattr(heal, "locked", real)
        synced(workspace)  # another process, while this one waits for the lock
        made.append(index_path(workspace).stat().st_ino)
        with real(path, seconds):
            yield

    monkeypatch.setattr(heal, "locked", late)
    open_index(workspace).close()
    assert made == [index_path(workspace).stat().st_ino]


def test_no_check_while_somebody_writes(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """A recall never waits for a writer, even if the seal is gone: the check that would is told not to."""
    run, ran = Index.run, list[str]()

    def noted(index: Index, statement: str) -> None:
        ran.append(statement)
        run(index, statement)

    monkeypatch.setattr(Index, "run", noted)
    (workspace.memory / "index.seal").unlink()
    other = sqlite3.connect(index_path(workspace), isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        answer = recall(memory_on(workspace, DAY), read_query("PostgreSQL", DAY))
    finally:
        other.close()
    assert answer.hits
    checked = next(n for n, sql in enumerate(ran) if "integrity-check" in sql)
    assert ran[checked - 1] == "PRAGMA busy_timeout = 0"
    assert not (workspace.memory / "index.seal").exists()


def test_the_version_covers_every_module_that_decides_a_row() -> None:
    """A module that index/rows.py needs and the version does not know would leave old rows behind after an update."""
    home = Path(memctl.__file__).parent
    seen: set[str] = set()
    waiting = ["index/rows.py"]
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        for node in ast.walk(ast.parse((home / name).read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.level:
                base = (home / name).parents[node.level - 1]
                for module in [node.module] if node.module else [alias.name for alias in node.names]:
                    waiting.append((base / f"{module.replace('.', '/')}.py").relative_to(home).as_posix())
    assert seen <= set(heal.PARSER)


def test_an_index_of_another_version_is_made_anew(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    index_path(workspace).rename(before := index_path(workspace).with_name("kept"))
    index_path(workspace).hardlink_to(before)
    number = schema_version() + 1
    monkeypatch.setattr(heal, "schema_version", lambda: number)
    assert rows(workspace) == rebuilt(workspace)
    assert not index_path(workspace).samefile(before)


def test_an_empty_file_is_filled(workspace: Workspace) -> None:
    index_path(workspace).write_bytes(b"")
    assert rows(workspace) == rebuilt(workspace)


@pytest.fixture
def no_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(workspace: Workspace) -> Path:
        raise CannotWrite(".memory", "Read-only file system")

    monkeypatch.setattr(heal, "prepare_memory", refuse)


@pytest.fixture
def read_only(workspace: Workspace, no_writes: None) -> None:
    """The workspace is indexed, and from then on nothing can be written."""


@pytest.mark.usefixtures("read_only")
def test_a_read_only_index_is_read_as_it_stands(workspace: Workspace) -> None:
    index = open_index(workspace)
    assert index.frozen == "Read-only file system"
    index.close()
    before = index_path(workspace).read_bytes()
    answer = recall(memory_on(workspace, DAY), read_query("PostgreSQL", DAY))
    assert answer.hits
    assert answer.stale is None
    (workspace.root / LOG).write_text("- W: The kettle\n")
    assert "Read-only file system" in (recall(memory_on(workspace, DAY), read_query("Lisbon", DAY)).stale or "")
    assert index_path(workspace).read_bytes() == before


@pytest.mark.usefixtures("read_only")
@pytest.mark.parametrize("how", damage.ON_FILE)
def test_a_read_only_index_that_is_damaged_is_not_believed(workspace: Workspace, how) -> None:
    how(index_path(workspace), random.Random(3))
    before = index_path(workspace).read_bytes()
    assert rows(workspace) == rebuilt(workspace)
    assert index_path(workspace).read_bytes() == before


@pytest.mark.usefixtures("read_only")
def test_a_read_only_copy_is_believed_when_it_proves_sound(workspace: Workspace) -> None:
    os.utime(index_path(workspace))
    index = open_index(workspace)
    assert (index.frozen, index.instead) == (None, "Read-only file system")
    assert index.rows("SELECT count(*) FROM page") == [(6,)]
    index.close()


@posix
@pytest.mark.usefixtures("read_only")
def test_a_read_only_index_that_is_a_link_is_not_believed(workspace: Workspace, tmp_path: Path) -> None:
    """It may be somebody else's: what it says of this workspace is not shown."""
    theirs = tmp_path / "theirs.sqlite"
    index_path(workspace).rename(theirs)
    index_path(workspace).symlink_to(theirs)
    index = open_index(workspace)
    assert (index.frozen, index.instead) == (None, "Read-only file system")
    assert index.rows("SELECT count(*) FROM page") == [(0,)]
    index.close()


@pytest.mark.usefixtures("read_only")
def test_the_index_verb_says_that_it_cannot_be_kept_up(workspace: Workspace) -> None:
    assert index_verb(workspace).changed == 0
    (workspace.root / LOG).write_text("- W: The kettle\n")
    with pytest.raises(CannotWrite, match="Read-only file system"):
        index_verb(workspace)
    index_path(workspace).unlink()
    for act in (index_verb, verify):
        with pytest.raises(PageUnreadable, match="Read-only file system"):
            act(workspace)


@pytest.mark.usefixtures("no_writes")
def test_without_an_index_one_is_held_in_memory(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path)
    assert recall(memory_on(workspace, DAY), read_query("PostgreSQL", DAY)).hits
    assert not workspace.memory.exists()


@posix
@pytest.mark.parametrize("kind", ["folder", "fifo"])
@pytest.mark.parametrize(
    "name", ["index.sqlite", "index.seal", "index.sqlite-wal", "lock", ".gitignore", "undo.jsonl", "reflected.json", "review.json"]
)  # fmt: skip
def test_something_else_under_a_name_of_ours_neither_hangs_nor_breaks(tmp_path: Path, name: str, kind: str) -> None:
    workspace = make_workspace(tmp_path)
    workspace.memory.mkdir()
    (workspace.memory / name).mkdir() if kind == "folder" else os.mkfifo(workspace.memory / name)
    memory = memory_on(workspace, DAY)
    for _ in range(2):
        assert recall(memory, read_query("PostgreSQL", DAY)).hits
        assert memory.review() == () and (name in ("lock", ".gitignore") or memory.reflect())


@pytest.mark.skipif(os.name == "nt", reason="change times are POSIX")
def test_the_seal_sees_a_change_that_hides_its_time(workspace: Workspace) -> None:
    path = index_path(workspace)
    before = path.stat()
    damage.flip(path, random.Random(1))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert not heal.seal_holds(path)


@pytest.mark.parametrize("text", ["", "{", "[1, 2]", "null", "[" * 5000, "\xff"])
def test_a_seal_that_is_no_seal_only_costs_a_check(workspace: Workspace, text: str) -> None:
    (workspace.memory / "index.seal").write_bytes(text.encode("latin-1"))
    assert rows(workspace) == rebuilt(workspace)
    assert heal.seal_holds(index_path(workspace))


@pytest.mark.skipif(shutil.which("prlimit") is None, reason="sets a limit on the size of files as Linux does")
@pytest.mark.parametrize("most", [0, 16_384, 40_000])
def test_a_full_disk_is_no_damage(tmp_path: Path, most: int) -> None:
    """R2: where neither SQLite's side files nor the comparison can be written the index stays, and no difference is told."""
    workspace = make_workspace(tmp_path / "full")
    synced(workspace)
    path = workspace.memory / "index.sqlite"
    before = path.stat().st_ino
    for words in (("recall", "PostgreSQL"), ("index", "--verify")):
        done = store_helpers.memctl(*words, "-w", str(workspace.root), before=("prlimit", f"--fsize={most}"))
        assert path.stat().st_ino == before
        assert done.returncode == 0 or (words[0] == "index" and done.returncode == 13 and is_two_lines(done.stderr))
    assert not verify(workspace).differences
