"""The file of vectors: what it finds, what it keeps, and that nothing that is wrong with it stops an answer."""

from __future__ import annotations

import itertools
import json
import math
import os
import random
import shutil
import sqlite3
import struct
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from zlib import crc32

import pytest
from face_helpers import call, write_pages
from hash_embedder import cosine
from store_helpers import make_workspace

from memctl.errors import CannotWrite, LockBusy
from memctl.ids import text_key
from memctl.index.heal import with_index
from memctl.index.sync import sync
from memctl.notes.workspace import Workspace
from memctl.vectors import tables
from memctl.vectors.file import Vectors, begin_vectors, drop_vectors, open_vectors
from memctl.vectors.tables import Code, Scan, StoredVector

DIM = 64
FLIPS = 1000 if os.environ.get("MEMCTL_TORTURE") else 40


def vector(seed: object) -> list[float]:
    """Any direction, the same for the same seed."""
    numbers = random.Random(str(seed))
    return [numbers.gauss(0, 1) for _ in range(DIM)]


def begun(workspace: Workspace, embedder: str = "test", dim: int = DIM) -> Vectors:
    """The file, open to write."""
    return begin_vectors(workspace, embedder, dim, [[0.0] * dim] * 3)


def opened(workspace: Workspace) -> Vectors:
    """The file, which must be usable."""
    vectors = open_vectors(workspace)
    assert vectors
    return vectors


def filled(root: Path, pages: int = 6, rows: int = 20) -> Workspace:
    """A workspace with vectors of `pages` x `rows` entries; the digest of an entry is its place."""
    root.mkdir(exist_ok=True)
    workspace = Workspace(root)
    with closing(begun(workspace)) as vectors, vectors.writing():
        for page in range(1, pages + 1):
            keys = [text_key(f"{page} {row}") for row in range(rows)]
            assert put(vectors, page, {key: vector(key) for key in keys}, page * 1000)
    return workspace


def put(vectors: Vectors, page: int, numbers: dict[int, list[float]], digest: int = 0) -> bool:
    """Make the lines of a page those with these vectors; the digest of each is its place, from `digest` on."""
    rows = [StoredVector(row, key, digest + row) for row, key in enumerate(numbers)]
    codes = {key: vectors.encode(each, 0) for key, each in numbers.items()}
    return vectors.put_page(page, b"sum", rows, codes)


def told(workspace: Workspace) -> str | None:
    """Why there are no vectors."""
    notes: list[str] = []
    found = open_vectors(workspace, notes.append)
    if found:
        found.close()
        return None
    return notes[0] if notes else ""


# -- questions --------------------------------------------------------------------------------------------------------


def test_scan_is_brute_force(tmp_path: Path) -> None:
    """The best first, with the mean and the deviation of all; `allowed` narrows, `cosines` agrees."""
    with closing(opened(filled(tmp_path))) as vectors:
        asked = vectors.encode(vector("question"), 0)
        every = {
            page << 22 | row: cosine(asked, vectors.encode(vector(text_key(f"{page} {row}")), 0))
            for page in range(1, 7)
            for row in range(20)
        }
        first = sorted(every, key=lambda entry: -every[entry])
        found = vectors.scan(asked, None, 10)
        assert list(found.cosines) == first[:10]
        assert found.cosines == {entry: pytest.approx(every[entry], abs=1e-12) for entry in first[:10]}
        assert found.digests == {entry: (entry >> 22) * 1000 + (entry & 0xFFFF) for entry in first[:10]}
        assert found.n == vectors.count() == 120
        assert found.mean == pytest.approx(sum(every.values()) / 120)
        assert list(vectors.scan(asked, set(first[50:]), 3).cosines) == first[50:53]
        assert vectors.scan(asked, set(), 3).cosines == {}
        digests = {entry: (entry >> 22) * 1000 + (entry & 0xFFFF) for entry in first}
        near = {entry: pytest.approx(every[entry], abs=1e-12) for entry in first}
        assert vectors.cosines(asked, first[40:45], digests) == {entry: near[entry] for entry in first[40:45]}
        assert vectors.cosines(asked, [first[0], 5, 99 << 22], digests) == {first[0]: near[first[0]]}
        assert vectors.cosines(asked, first[:2], digests | {first[1]: 7}) == {first[0]: near[first[0]]}
        assert vectors.by_script(asked) == {0: (pytest.approx(found.mean), 120)}
        assert vectors.problem is None


def test_an_entry_counts_by_its_best_vector(tmp_path: Path) -> None:
    """Windows of a long line and cues: several vectors of one entry; twins: one vector of several entries."""
    workspace = Workspace(tmp_path)
    with closing(begun(workspace)) as vectors:
        codes = {key: vectors.encode(vector(key), 0) for key in (1, 2, 3)}
        vectors.put_page(1, b"a", [StoredVector(0, 1, 10), StoredVector(0, 2, 10), StoredVector(5, 3, 50)], codes)
        vectors.put_page(2, b"b", [StoredVector(0, 2, 60)], codes)
    with closing(opened(workspace)) as vectors:
        found = vectors.scan(codes[2], None, 10)
        assert list(found.cosines) == [1 << 22, 2 << 22, 1 << 22 | 5]
        assert [round(value, 6) for value in found.cosines.values()][:2] == [1, 1]
        assert list(vectors.scan(codes[2], None, 1).cosines) == [1 << 22]
        assert vectors.cosines(codes[1], [1 << 22], {1 << 22: 10}) == {1 << 22: pytest.approx(1)}


def test_a_question_of_another_dimension_finds_nothing(tmp_path: Path) -> None:
    """It says so, and is no damage."""
    workspace = filled(tmp_path)
    with closing(opened(workspace)) as vectors:
        asked = Code(0, bytes(DIM + 1))
        assert vectors.scan(asked, None, 5) == Scan(0.0, 0.0, 0, {}, {})
        assert vectors.cosines(asked, [1 << 22], {1 << 22: 1000}) == {}
        assert "64 numbers" in (vectors.problem or "")
    with closing(opened(workspace)) as vectors, pytest.raises(ValueError, match="65 numbers instead of 64"):
        vectors.encode([1.0] * (DIM + 1), 0)


def test_scripts_have_their_own_means(tmp_path: Path) -> None:
    """Each vector loses the mean of its script."""
    means = [vector(name) for name in "LCH"]
    with closing(begin_vectors(Workspace(tmp_path), "test", DIM, means)) as vectors:
        shifted = [[x + y for x, y in zip(vector("same"), mean, strict=True)] for mean in means]
        assert vectors.head.means == tuple(tuple(mean) for mean in means)
        codes = [vectors.encode(row, script) for script, row in enumerate(shifted)]
        assert [code.script for code in codes] == [0, 1, 2] and len({code.codes for code in codes}) == 3


@pytest.mark.parametrize("dim", [64, 100, 512, 1024])
def test_other_dimensions(tmp_path: Path, dim: int) -> None:
    """As the model has them."""
    workspace = Workspace(tmp_path)
    with closing(begun(workspace, "wide", dim)) as vectors:
        code = vectors.encode([1.0, -1.0] * (dim // 2), 0)
        vectors.put_page(1, b"", [StoredVector(3, 5, 1)], {5: code})
    with closing(opened(workspace)) as vectors:
        assert vectors.scan(code, None, 3).cosines == {1 << 22 | 3: pytest.approx(1)}


# -- what is there ----------------------------------------------------------------------------------------------------


def test_a_page_with_a_text_that_is_not_there_stays_missing(tmp_path: Path) -> None:
    """What is there of it can be found already."""
    workspace = Workspace(tmp_path)
    with closing(begun(workspace)) as vectors:
        code = vectors.encode(vector(1), 0)
        assert not vectors.put_page(1, b"sum", [StoredVector(0, 1, 1), StoredVector(1, 2, 2)], {1: code})
        assert vectors.codes([1, 2]) == {1: code}
        assert list(vectors.scan(code, None, 5).cosines) == [1 << 22]
        assert vectors.packs()[1].page_sum == b""


def test_what_is_deleted_is_nowhere(tmp_path: Path) -> None:
    """A page that is gone, a line that another took the place of: nothing of them is left in the file or in its log."""
    workspace = filled(tmp_path)
    keys = [text_key(f"{page} {row}") for page in (1, 2) for row in range(20)]
    with closing(opened(workspace)) as vectors:
        gone = vectors.codes(keys)
    with closing(begun(workspace)) as vectors:
        vectors.drop_pages([1])
        assert put(vectors, 2, {5: vector(5)})
        assert vectors.truncate() is None
        raw = b"".join(path.read_bytes() for path in sorted((tmp_path / ".memory").iterdir()))
        assert len(gone) == 40 and not any(code.codes in raw for code in gone.values())
        assert not any(key.to_bytes(8, "little", signed=True) in raw for key in keys)
    with closing(opened(workspace)) as vectors:
        assert vectors.codes(keys) == {} and vectors.count() == 81


def test_a_text_that_moves_keeps_its_vector(tmp_path: Path) -> None:
    """From a page that was written before the one that it moved to, or that is gone; a twin has it too."""
    workspace = filled(tmp_path, 2, 3)
    keys = [text_key(f"1 {row}") for row in range(3)]
    with closing(begun(workspace)) as vectors:
        codes = vectors.codes(keys)
        assert put(vectors, 1, {5: vector(5)}) and vectors.codes(keys) == codes
        assert vectors.put_page(2, b"sum", [StoredVector(at, key, at) for at, key in enumerate(keys)], codes)
    with closing(opened(workspace)) as vectors:
        assert vectors.codes(keys) == codes and vectors.count() == 4


def test_another_embedder_starts_anew(tmp_path: Path) -> None:
    """Another id, dimension or means: nothing is ever mixed. Rounding of another processor is no other mean."""
    workspace = filled(tmp_path)
    for number, count, kept in ((1e-7, 120, 0.0), (0.5, 0, 0.5)):
        with closing(begin_vectors(workspace, "test", DIM, [[number] * DIM] * 3)) as vectors:
            assert vectors.count() == count and vectors.head.means[0][0] == kept
    filled(tmp_path)
    with closing(opened(workspace)) as reader, closing(begun(workspace, "other")) as vectors:
        assert (vectors.head.embedder_id, vectors.count()) == ("other", 0)
        assert put(vectors, 1, {1: vector(1)}) and not reader.is_there()
        assert reader.matrix().keys.size == 0 and "another model" in reader.problem
        assert reader._inode[1] == os.stat(reader.path).st_ino, "no file takes the place of one that is read"
    filled(tmp_path, 1000, 20)
    with closing(begun(workspace, "third")):
        log = (tmp_path / ".memory/vectors.sqlite-wal").stat().st_size
        assert log < (tmp_path / ".memory/vectors.sqlite").stat().st_size / 4, "the disk need not have room for both"
    filled(tmp_path)
    with closing(begun(workspace, dim=65)) as vectors:
        assert (vectors.head.dim, vectors.count(), vectors.codes([text_key("1 1")])) == (65, 0, {})


def test_a_reader_keeps_its_state_and_sees_the_next(tmp_path: Path) -> None:
    """A process that stays follows what others write."""
    workspace = filled(tmp_path)
    with closing(opened(workspace)) as reader, closing(begun(workspace)) as writer:
        asked = reader.encode(vector("new"), 0)
        before = reader.scan(asked, None, 1)
        with writer.writing():
            put(writer, 50, {9: vector("new")}, 9)
            assert reader.scan(asked, None, 1) == before
        assert next(iter(reader.scan(asked, None, 9).cosines.values())) == pytest.approx(1)
        assert reader.cosines(asked, [50 << 22], {50 << 22: 9}) == {50 << 22: pytest.approx(1)}


def test_a_reader_beside_a_writer_sees_no_damage(tmp_path: Path) -> None:
    """Pages are replaced and their texts swept meanwhile: each answer is of one moment."""
    workspace = filled(tmp_path, 5, 50)
    stop = threading.Event()

    def write() -> None:
        with closing(begun(workspace)) as vectors:
            for turn in itertools.count():
                if stop.is_set():
                    return
                keys = [text_key(f"{turn} again {row}") for row in range(50)]
                put(vectors, 1 + turn % 5, {key: vector(key) for key in keys})

    writer = threading.Thread(target=write)
    writer.start()
    try:
        with closing(opened(workspace)) as vectors:
            for turn in range(60):
                asked = vectors.encode(vector(turn), 0)
                found = vectors.scan(asked, None, 10)
                vectors.cosines(asked, [*found.cosines, 3 << 22], found.digests)
                assert found.n == 250 and vectors.problem is None
    finally:
        stop.set()
        writer.join()


def test_a_second_writer_waits_no_longer_than_it_says(tmp_path: Path) -> None:
    """LockBusy, nothing lost; a reader is not held up."""
    workspace = filled(tmp_path)
    with closing(begun(workspace)) as one, closing(begun(workspace)) as other:
        assert other._open
        other._open.execute("PRAGMA busy_timeout = 50")
        with one.writing():
            one.drop_pages([1])
            with pytest.raises(LockBusy):
                other.drop_pages([2])
            with closing(opened(workspace)) as reader:
                assert reader.count() == 120
        assert other.count() == 100


def test_a_killed_writer_loses_only_what_was_not_committed(tmp_path: Path) -> None:
    """SIGKILL in the middle of a transaction."""
    workspace = filled(tmp_path)
    script = (
        "import os, sys; sys.path[:0] = sys.argv[2:]; from pathlib import Path; from vectors.test_vector_store import begun; "
        "from memctl.notes.workspace import Workspace; vectors = begun(Workspace(Path(sys.argv[1]))); vectors.drop_pages([1]); "
        "run = vectors._open.execute; run('BEGIN IMMEDIATE'); run('DELETE FROM page'); os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", script, str(tmp_path), *sys.path], check=False, capture_output=True)
    with closing(opened(workspace)) as vectors:
        assert vectors.count() == 100 and vectors.problem is None


@pytest.mark.skipif(sys.platform == "win32", reason="modes")
def test_who_may_read_the_index_may_read_the_vectors(tmp_path: Path) -> None:
    """And nobody else."""
    workspace = make_workspace(tmp_path)
    with_index(workspace, lambda index: sync(workspace, index))
    os.chmod(tmp_path / ".memory/index.sqlite", 0o600)
    filled(tmp_path)
    assert os.stat(tmp_path / ".memory/vectors.sqlite").st_mode & 0o777 == 0o600


def test_a_folder_that_cannot_be_written_is_read(tmp_path: Path) -> None:
    """As it stands; to write there is CannotWrite."""
    if sys.platform == "win32" or os.geteuid() == 0:
        pytest.skip("modes do not bind here")
    workspace = filled(tmp_path)
    os.chmod(tmp_path / ".memory", 0o500)
    try:
        with closing(opened(workspace)) as vectors:
            assert vectors.count() == 120
        with pytest.raises(CannotWrite):
            begun(workspace)
    finally:
        os.chmod(tmp_path / ".memory", 0o700)


# -- damage -----------------------------------------------------------------------------------------------------------


def usable(workspace: Workspace) -> tuple[int, str | None]:
    """Ask everything that recall asks; how many entries came, and what was said. Must never raise."""
    notes: list[str] = []
    vectors = open_vectors(workspace, notes.append)
    if vectors is None:
        return 0, notes[0] if notes else None
    with closing(vectors):
        asked = Code(0, bytes(range(DIM)))
        found = vectors.scan(asked, None, 200)
        few = vectors.cosines(asked, [page << 22 | 1 for page in range(1, 7)], found.digests)
        assert all(-1.001 <= value <= 1.001 for value in [*found.cosines.values(), *few.values()])
        vectors.count()
        return len(found.cosines), vectors.problem


def spoil_link(path: Path) -> None:
    """A symbolic link to the file elsewhere."""
    path.rename(path.with_name("elsewhere"))
    path.symlink_to("elsewhere")


def spoil_sql(*statements: str) -> Callable[[Path], None]:
    """What SQL can do to it."""

    def spoil(path: Path) -> None:
        with closing(sqlite3.connect(path)) as db:
            for statement in statements:
                db.execute(statement)
            db.commit()

    return spoil


SPOILT: dict[str, Callable[[Path], object]] = {
    "empty": lambda path: path.write_bytes(b""),
    "text": lambda path: path.write_bytes(b"not a database\n" * 500),
    "zeros": lambda path: path.write_bytes(bytes(20_000)),
    "link": spoil_link,
    "folder": lambda path: (path.unlink(), path.mkdir()),
    "pipe": lambda path: (path.unlink(), os.mkfifo(path)),
    "cut": lambda path: path.write_bytes(path.read_bytes()[:9000]),
    "no pages": spoil_sql("DROP TABLE page"),
    "no meta": spoil_sql("DROP TABLE meta"),
    "empty meta": spoil_sql("DELETE FROM meta"),
    "other tables": spoil_sql("DROP TABLE page", "CREATE TABLE page (id)", "INSERT INTO page VALUES ('x')"),
    "fewer columns": spoil_sql("ALTER TABLE page DROP COLUMN codes"),
    "more columns": spoil_sql("ALTER TABLE page ADD COLUMN more"),
    "newer format": spoil_sql("UPDATE meta SET value = x'3939', sum = 2163183867 WHERE key = 'format'"),
    "words for numbers": spoil_sql("UPDATE page SET codes = 'text', rows = 'x'"),
    "numbers for words": spoil_sql("UPDATE page SET codes = 7, rows = 8.5, page_sum = 9"),
    "short codes": spoil_sql("UPDATE page SET codes = substr(codes, 2)"),
    "short rows": spoil_sql("UPDATE page SET rows = substr(rows, 2)"),
    "codes of another page": spoil_sql("UPDATE page SET codes = (SELECT codes FROM page WHERE id = 1)"),
    "null": spoil_sql("PRAGMA writable_schema = ON", "UPDATE meta SET value = ''"),
    "dim": spoil_sql("UPDATE meta SET value = x'39' WHERE key = 'dim'"),
    "a page beyond all": spoil_sql("UPDATE page SET id = 1 << 42 WHERE id = 1"),
    "a view": spoil_sql("ALTER TABLE page RENAME TO p", "CREATE VIEW page AS SELECT * FROM p, meta"),
}


@pytest.mark.parametrize("name", SPOILT)
def test_damage_is_said_and_mended(tmp_path: Path, name: str) -> None:
    """No exception; a note or a problem; `begin` makes it whole; a target of a link is never touched."""
    if sys.platform == "win32" and name in ("link", "pipe"):
        pytest.skip("POSIX")
    workspace = filled(tmp_path)
    path = tmp_path / ".memory/vectors.sqlite"
    SPOILT[name](path)
    elsewhere = path.with_name("elsewhere").read_bytes() if name == "link" else b""
    count, said = usable(workspace)
    assert count < 120 and said, (count, said)
    assert "\n" not in said and "memctl index" in said
    with closing(begun(workspace)) as vectors:
        assert vectors.problem is None
        assert put(vectors, 99, {1: vector(1)})
    count, said = usable(workspace)
    assert count >= 1 and said is None
    assert not path.is_symlink() and (not elsewhere or path.with_name("elsewhere").read_bytes() == elsewhere)
    assert not [entry for entry in path.parent.iterdir() if entry.name.startswith("vectors.new")]


def test_what_is_sound_is_saved(tmp_path: Path) -> None:
    """Two holes, or one damaged number: the vectors of all other pages are read and are there afterwards, without a model."""
    workspace = filled(tmp_path, 20, 500)
    path = tmp_path / ".memory/vectors.sqlite"
    keys = {text_key(f"{page} {row}") for page in range(1, 21) for row in range(500)}
    with closing(begun(workspace)) as vectors:
        assert vectors.codes(keys).keys() == keys
        assert vectors.truncate() is None
    data = bytearray(path.read_bytes())
    for part in (3, 7):
        hole = len(data) * part // 10 // 16384 * 16384
        data[hole : hole + 16384] = bytes(16384)
    path.write_bytes(data)
    for name in ("vectors.sqlite-wal", "vectors.sqlite-shm"):
        path.with_name(name).unlink(missing_ok=True)
    with closing(opened(workspace)) as vectors:
        read = vectors.matrix().keys
        assert 8000 <= len(read) < 10000 and vectors.problem
    with closing(begun(workspace)) as vectors:
        left = vectors.codes(keys).keys()
        assert left == set(read.tolist())
    spoil_sql("UPDATE page SET codes = zeroblob(length(codes)) WHERE id = (SELECT min(id) FROM page)")(path)
    assert "damaged in places" in (usable(workspace)[1] or "")
    with closing(begun(workspace)) as vectors:
        assert len(left) - 500 == len(vectors.codes(keys)) == vectors.count()


@pytest.mark.parametrize("tenths", [5, 9])
def test_of_a_file_cut_short_the_rest_is_read_and_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tenths: int
) -> None:
    """What is read of it is right; where no new file can be made, the old one stays as it is."""
    workspace = filled(tmp_path, 60, 100)
    path, asked = tmp_path / ".memory/vectors.sqlite", Code(0, bytes(range(DIM)))
    with closing(opened(workspace)) as vectors:
        truth = vectors.scan(asked, None, 6000).cosines.items()
    cut = path.read_bytes()[: path.stat().st_size * tenths // 10]
    path.write_bytes(cut)
    with closing(opened(workspace)) as vectors:
        found = vectors.scan(asked, None, 6000).cosines.items()
        assert 6000 * (tenths - 1) // 10 < len(found) < 6000 and found <= truth and vectors.problem
    with monkeypatch.context() as full, pytest.raises(CannotWrite):
        full.setattr(Path, "replace", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device")))
        begun(workspace)
    assert path.read_bytes() == cut
    with closing(begun(workspace)) as vectors:
        assert vectors.scan(asked, None, 6000).cosines.items() == found and vectors.problem is None


@pytest.mark.parametrize("numbers", [math.nan, math.inf])
def test_means_that_are_no_numbers_are_damage(tmp_path: Path, numbers: float) -> None:
    """They equal not even themselves: the file was made for that model again and again, without an end."""
    path = filled(tmp_path).memory / "vectors.sqlite"
    means = struct.pack(f"<{3 * DIM}d", *[numbers] * 3 * DIM)
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE meta SET value = ?, sum = ? WHERE key = 'means'", (means, crc32(means, crc32(b"means"))))
    assert "damaged" in (usable(Workspace(tmp_path))[1] or "")
    assert tables.head_in(path.parent) is None


def test_a_view_in_place_of_a_table_is_not_read(tmp_path: Path) -> None:
    """One may have no end."""
    workspace = filled(tmp_path)
    with closing(sqlite3.connect(workspace.memory / "vectors.sqlite")) as db, db:
        db.execute("DROP TABLE meta")
        db.execute("CREATE VIEW meta AS SELECT json('computed') AS key, 1 AS value, 1 AS sum")
    assert "vectors.sqlite: damaged" in (usable(workspace)[1] or "")


def test_entries_out_of_their_page_stop_no_second_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = filled(tmp_path, pages=3)
    key = text_key("1 1")
    with closing(opened(workspace)) as vectors, closing(begun(workspace)) as writer:
        with monkeypatch.context() as forged:
            forged.setattr(tables, "ordinal_of", lambda entry: 2**32 - 1)
            writer.put_page(1, b"1", [StoredVector(1 << 22, key, 1)], writer.codes([key]))
        assert len(vectors.matrix().keys) == 41
        writer.put_page(3, b"3", [], {})
        assert len(vectors.matrix().keys) == 21


@pytest.mark.parametrize("name", ["vectors.new", "vectors.sqlite"])
def test_what_stands_in_the_way_is_named(tmp_path: Path, name: str) -> None:
    """A folder of somebody's: one line says what to do, words answer; once it is empty it goes."""
    workspace = write_pages(tmp_path, {"memory.md": "# Memory\n\nThe kettle is new.\n"})
    place = workspace.memory / name
    place.mkdir(parents=True)
    (place / "mine").write_text("mine")
    (workspace.memory / "vectors.sqlite").exists() or (workspace.memory / "vectors.sqlite").write_bytes(b"nonsense")
    with pytest.raises(CannotWrite, match=f"{name}: cannot write: Directory not empty") as raised:
        begun(workspace)
    assert raised.value.cure == f"remove {place}, then run it again"
    assert usable(workspace)[1] and "The kettle" in call(["recall", "kettle"], tmp_path).out
    (place / "mine").unlink()
    with closing(begun(workspace)):
        assert usable(workspace) == (0, None)


def test_a_file_that_takes_the_place_of_a_damaged_one_is_read_instead(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whenever that is: while it is opened, when SQLite would take the log of the new one for its own, or before it is read."""
    workspace, connect = filled(tmp_path, 60, 100), sqlite3.connect
    spoil = spoil_sql("UPDATE page SET codes = zeroblob(length(codes)) WHERE id = (SELECT min(id) FROM page)")
    writers: list[Vectors] = []

    def connected(*args: object, **more: object) -> sqlite3.Connection:
        monkeypatch.setattr(sqlite3, "connect", connect)
        db = connect(*args, **more)
        writers.append(begun(workspace))
        assert put(writers[0], 99, {key: vector(key) for key in range(400)})
        return db

    spoil(tmp_path / ".memory/vectors.sqlite")
    monkeypatch.setattr(sqlite3, "connect", connected)
    with closing(opened(workspace)) as reader, closing(writers[0]):
        assert (reader.matrix().keys.size, reader.problem) == (6300, None)
    spoil(tmp_path / ".memory/vectors.sqlite")
    with closing(opened(workspace)) as reader, closing(begun(workspace)):
        assert (reader.matrix().keys.size, reader.problem) == (6200, None)


def test_a_thousand_flipped_bytes(tmp_path: Path) -> None:
    """S: any byte of the file, any value: an answer each time, right or fewer, never an exception. Cuts as well."""
    workspace = filled(tmp_path / "whole")
    path = tmp_path / "whole/.memory/vectors.sqlite"
    with closing(begun(workspace)) as vectors:
        vectors.truncate()
    whole = path.read_bytes()
    numbers = random.Random(20251121)
    with closing(opened(workspace)) as vectors:
        truth = vectors.scan(Code(0, bytes(range(DIM))), None, 200).cosines
    silent = fewer = late = 0
    for flip in range(FLIPS):
        data = bytearray(whole)
        for _ in range(numbers.choice([1, 1, 1, 4, 64])):
            data[numbers.randrange(len(data))] = numbers.randrange(256)
        if flip % 10 == 0:
            del data[numbers.randrange(len(data)) :]
        place = Workspace(tmp_path / str(flip))
        place.memory.mkdir(parents=True)
        (place.memory / "vectors.sqlite").write_bytes(data)
        count, said = usable(place)
        fewer += count < 120
        silent += count < 120 and not said
        vectors = open_vectors(place)
        if vectors:
            with closing(vectors):
                found = vectors.scan(Code(0, bytes(range(DIM))), None, 200).cosines
            assert found.items() <= truth.items(), flip
        try:
            _write_to(place)
        except CannotWrite:  # damage that only a write meets: the next pass knows of it
            late += 1
            _write_to(place)
        assert usable(place)[1] is None, flip
        shutil.rmtree(place.root)
    print(
        f"vectors: {FLIPS} damaged files, 0 exceptions, 0 wrong cosines, {fewer} with fewer, {silent} of them silent, {late} met by a write"
    )
    assert silent == 0 and late <= FLIPS // 50


def _write_to(workspace: Workspace) -> None:
    with closing(begun(workspace)) as vectors:
        put(vectors, 99, {1: vector(1)})


def test_verify_tells_damage(tmp_path: Path) -> None:
    """`index --verify` and `status --verify`: a damaged vector is exit code 1 and mended."""
    workspace = write_pages(tmp_path / "w", {"memory.md": "# Memory\n"}).root
    assert "verified_vectors" in call(["index", "--verify", "--json"], workspace).out
    filled(workspace, 11, 50)
    done = call(["status", "--verify"], workspace)
    assert done.code == 0, done
    assert "550 vectors of 550 texts, all as they were written" in done.out
    spoil_sql("UPDATE page SET codes = zeroblob(length(codes)) WHERE id = 7")(workspace / ".memory/vectors.sqlite")
    done = call(["status", "--verify"], workspace)
    assert done.code == 1 and "1 page is damaged" in done.out and "memctl index" in done.err
    assert json.loads(call(["status", "--verify", "--json"], workspace).out)["verified_vectors"]["problems"]
    (workspace / ".memory/vectors.sqlite").write_bytes(b"nonsense" * 999)
    assert call(["index", "--verify"], workspace).code == 1


def test_drop_removes_all_of_it(tmp_path: Path) -> None:
    """File, log and one that was being made."""
    workspace = filled(tmp_path)
    for name in ("vectors.new", "vectors.new-wal", "vectors.mine"):
        (tmp_path / ".memory" / name).write_bytes(b"x")
    (tmp_path / ".memory/vectors.new-journal").mkdir()
    drop_vectors(workspace)
    assert {path.name[8:] for path in (tmp_path / ".memory").glob("vectors.*")} == {"lock", "mine", "new-journal"}
    assert open_vectors(workspace) is None


def test_a_reader_reads_again_only_what_changed(tmp_path: Path) -> None:
    """Of pages that stay, it keeps what it has: they come, go and change, and it answers as one that just opened the file."""
    workspace = filled(tmp_path, 5, 20)
    with closing(opened(workspace)) as reader, closing(begun(workspace)) as writer:
        asked, read = reader.encode(vector("x"), 0), list[str]()
        first = reader.matrix()
        assert reader.matrix() is first
        put(writer, 3, {1: vector(1), 2: vector(2)})
        put(writer, 9, {2: vector(2)})
        writer.drop_pages([1])
        codes_of = tables.are_codes
        with pytest.MonkeyPatch.context() as counting:
            counting.setattr(tables, "are_codes", lambda codes, *more: read.append(codes) or codes_of(codes, *more))
            found = reader.scan(asked, None, 100)
        with closing(opened(workspace)) as fresh:
            assert found == fresh.scan(asked, None, 100) and found.n == 63
        assert [len(codes) for codes in read] == [2 * DIM, DIM]


def test_no_file_is_no_vectors(tmp_path: Path) -> None:
    """And nothing is made by asking."""
    assert open_vectors(Workspace(tmp_path)) is None
    assert told(Workspace(tmp_path)) == "" and not (tmp_path / ".memory/vectors.sqlite").exists()
    assert list(tmp_path.iterdir()) == []
