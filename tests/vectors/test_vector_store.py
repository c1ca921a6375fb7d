"""The file of vectors: what it finds, what it keeps, and that nothing that is wrong with it stops an answer."""

from __future__ import annotations

import itertools
import json
import os
import random
import re
import shutil
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path

import pytest
from face_helpers import call, write_pages
from hash_embedder import cosine
from hypothesis import given, settings, strategies as st
from store_helpers import make_workspace

from memctl.errors import CannotWrite, LockBusy
from memctl.ids import text_key
from memctl.index.heal import with_index
from memctl.index.sync import sync
from memctl.notes.workspace import Workspace
from memctl.vectors.file import Scan, Vectors, begin_vectors, drop_vectors, open_vectors
from memctl.vectors.matrix import check_vectors, hold
from memctl.vectors.quantized import Code
from memctl.vectors.tables import StoredVector

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


def scans(workspace: Workspace) -> list[Callable[..., Scan]]:
    """Every way to search: in the file, and, where numpy is there, in memory."""
    ways = [opened(workspace).scan]
    if find_spec("numpy") and (held := hold(workspace)):
        ways.append(held.scan)
    return ways


def filled(root: Path, pages: int = 6, rows: int = 20) -> Workspace:
    """A workspace with vectors of `pages` x `rows` entries; the digest of an entry is its place."""
    root.mkdir(exist_ok=True)
    workspace = Workspace(root)
    with closing(begun(workspace)) as vectors, vectors.writing():
        for page in range(1, pages + 1):
            keys = [text_key(f"{page} {row}") for row in range(rows)]
            vectors.put_codes({key: vectors.encode(vector(key), 0) for key in keys})
            assert vectors.put_pack(
                page, b"sum", [StoredVector(row, keys[row], page * 1000 + row) for row in range(rows)]
            )
    return workspace


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
        assert found.cosines == {entry: every[entry] for entry in first[:10]}
        assert found.digests == {entry: (entry >> 22) * 1000 + (entry & 0xFFFF) for entry in first[:10]}
        assert found.n == vectors.count() == 120
        assert found.mean == pytest.approx(sum(every.values()) / 120)
        assert list(vectors.scan(asked, set(first[50:]), 3).cosines) == first[50:53]
        assert vectors.scan(asked, set(), 3).cosines == {}
        digests = {entry: (entry >> 22) * 1000 + (entry & 0xFFFF) for entry in first}
        assert vectors.cosines(asked, first[40:45], digests) == {entry: every[entry] for entry in first[40:45]}
        assert vectors.cosines(asked, [first[0], 5, 99 << 22], digests) == {first[0]: every[first[0]]}
        assert vectors.cosines(asked, first[:2], digests | {first[1]: 7}) == {first[0]: every[first[0]]}
        assert vectors.problem is None


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """4,000 vectors."""
    return filled(tmp_path_factory.mktemp("large"), 40, 100)


@given(st.integers(0, 99), st.sampled_from(["all", "half", "few"]))
@settings(max_examples=12)
def test_every_way_finds_the_same(large: Workspace, seed: int, share: str) -> None:
    """By signs, in full and in a process that stays: nearly the same entries, the very same cosines."""
    with closing(opened(large)) as vectors:
        asked = vectors.encode(vector(seed), 0)
        ids = {page << 22 | row for page in range(1, 41) for row in range(100)}
        allowed = {"all": None, "half": {i for i in ids if i % 2}, "few": {i for i in ids if i % 9 == 0}}[share]
        by_signs = vectors.scan(asked, allowed, 10)
        exact = vectors.scan(asked, None, 4000, exact=True)
        kept = [(entry, value) for entry, value in exact.cosines.items() if allowed is None or entry in allowed]
        exact = exact._replace(cosines=dict(kept[:10]))
        if find_spec("numpy") and (held := hold(large)):
            with closing(held.vectors):
                assert held.scan(asked, allowed, 10).cosines == exact.cosines
        shared = by_signs.cosines.keys() & exact.cosines.keys()
        assert len(shared) >= (10 if share == "few" else 8)
        assert all(by_signs.cosines[entry] == exact.cosines[entry] for entry in shared)
        assert by_signs.n == exact.n == 4000
        assert by_signs.mean == pytest.approx(exact.mean, abs=0.03)
        assert by_signs.sd == pytest.approx(exact.sd, rel=0.2)


def test_an_entry_counts_by_its_best_vector(tmp_path: Path) -> None:
    """Windows of a long line and cues: several vectors of one entry; twins: one vector of several entries."""
    workspace = Workspace(tmp_path)
    with closing(begun(workspace)) as vectors:
        codes = {key: vectors.encode(vector(key), 0) for key in (1, 2, 3)}
        vectors.put_codes(codes)
        vectors.put_pack(1, b"a", [StoredVector(0, 1, 10), StoredVector(0, 2, 10), StoredVector(5, 3, 50)])
        vectors.put_pack(2, b"b", [StoredVector(0, 2, 60)])
    for scan in scans(workspace):
        found = scan(codes[2], None, 10)
        assert list(found.cosines) == [1 << 22, 2 << 22, 1 << 22 | 5]
        assert [round(value, 6) for value in found.cosines.values()][:2] == [1, 1]
        assert list(scan(codes[2], None, 1).cosines) == [1 << 22]
    with closing(opened(workspace)) as vectors:
        assert vectors.cosines(codes[1], [1 << 22], {1 << 22: 10}) == {1 << 22: pytest.approx(1)}


def test_a_question_of_another_dimension_finds_nothing(tmp_path: Path) -> None:
    """It says so, and is no damage."""
    workspace = filled(tmp_path)
    with closing(opened(workspace)) as vectors:
        asked = Code(0, 1.0, bytes(DIM + 1))
        assert vectors.scan(asked, None, 5) == Scan(0.0, 0.0, 0, {}, {})
        assert vectors.cosines(asked, [1 << 22], {1 << 22: 1000}) == {}
        assert "64 numbers" in (vectors.problem or "")
    assert not (tmp_path / ".memory/vectors.damaged").exists()
    with closing(opened(workspace)) as vectors, pytest.raises(ValueError, match="argument"):
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
        vectors.put_codes({5: code})
        vectors.put_pack(1, b"", [StoredVector(3, 5, 1)])
    assert all(scan(code, None, 3).cosines == {1 << 22 | 3: pytest.approx(1)} for scan in scans(workspace))


# -- what is there ----------------------------------------------------------------------------------------------------


def test_a_page_with_a_text_that_is_not_there_stays_missing(tmp_path: Path) -> None:
    """What is there of it can be found already."""
    workspace = Workspace(tmp_path)
    with closing(begun(workspace)) as vectors:
        vectors.put_codes({1: vectors.encode(vector(1), 0)})
        assert not vectors.put_pack(1, b"sum", [StoredVector(0, 1, 1), StoredVector(1, 2, 2)])
        assert vectors.known([1, 2]) == {1}
        assert list(vectors.scan(vectors.encode(vector(1), 0), None, 5).cosines) == [1 << 22]
        assert vectors.packs()[1].page_sum == b""


def test_sweep_deletes_what_no_page_has(tmp_path: Path) -> None:
    """And leaves nothing of it in the file or in its log."""
    workspace = filled(tmp_path)
    keys = [text_key(f"1 {row}") for row in range(20)]
    with closing(opened(workspace)) as vectors:
        gone = [row[4] for row in vectors.texts_of(keys)]
    with closing(begun(workspace)) as vectors:
        vectors.drop_packs([1])
        assert vectors.sweep() == 20 and vectors.sweep() == 0
        assert vectors.truncate() is None
        assert vectors.known(keys) == set() and vectors.count() == 100
        raw = b"".join(path.read_bytes() for path in sorted((tmp_path / ".memory").iterdir()))
        assert len(gone) == 20 and not any(planes in raw for planes in gone)


def test_another_embedder_starts_anew(tmp_path: Path) -> None:
    """Another id, dimension or means: nothing is ever mixed. Rounding of another processor is no other mean."""
    workspace = filled(tmp_path)
    for number, count, kept in ((1e-7, 120, 0.0), (0.5, 0, 0.5)):
        with closing(begin_vectors(workspace, "test", DIM, [[number] * DIM] * 3)) as vectors:
            assert vectors.count() == count and vectors.head.means[0][0] == kept
    filled(tmp_path)
    with closing(begun(workspace, "other")) as vectors:
        assert (vectors.head.embedder_id, vectors.count()) == ("other", 0)
    filled(tmp_path)
    with closing(begun(workspace, dim=65)) as vectors:
        assert (vectors.head.dim, vectors.count(), vectors.known([text_key("1 1")])) == (65, 0, set())


def test_a_reader_keeps_its_state_and_sees_the_next(tmp_path: Path) -> None:
    """A process that stays follows what others write."""
    workspace = filled(tmp_path)
    with closing(opened(workspace)) as reader, closing(begun(workspace)) as writer:
        asked = reader.encode(vector("new"), 0)
        before = reader.scan(asked, None, 1)
        with writer.writing():
            writer.put_codes({9: asked})
            writer.put_pack(50, b"sum", [StoredVector(0, 9, 9)])
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
                vectors.put_codes({key: vectors.encode(vector(key), 0) for key in keys})
                vectors.put_pack(1 + turn % 5, b"sum", [StoredVector(row, key, row) for row, key in enumerate(keys)])
                vectors.sweep()

    writer = threading.Thread(target=write)
    writer.start()
    try:
        with closing(opened(workspace)) as vectors:
            for turn in range(60):
                asked = vectors.encode(vector(turn), 0)
                found = vectors.scan(asked, None, 10)
                vectors.cosines(asked, [*found.cosines, 3 << 22], found.digests)
                assert found.n == 250 and vectors.problem is None
                if find_spec("numpy") and turn % 4 == 0 and (held := hold(workspace)):
                    with closing(held.vectors):
                        assert held.scan(asked, None, 10).n == 250 and held.vectors.problem is None
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
            one.drop_packs([1])
            with pytest.raises(LockBusy):
                other.drop_packs([2])
            with closing(opened(workspace)) as reader:
                assert reader.count() == 120
        assert other.count() == 100


def test_a_killed_writer_loses_only_what_was_not_committed(tmp_path: Path) -> None:
    """SIGKILL in the middle of a transaction."""
    workspace = filled(tmp_path)
    script = (
        "import os, sys; sys.path[:0] = sys.argv[2:]; from pathlib import Path; from vectors.test_vector_store import begun; "
        "from memctl.notes.workspace import Workspace; vectors = begun(Workspace(Path(sys.argv[1]))); vectors.drop_packs([1]); "
        "run = vectors._open.execute; run('BEGIN IMMEDIATE'); run('DELETE FROM pack'); os.kill(os.getpid(), 9)"
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
        asked = Code(0, 4000.0, bytes(range(DIM)))
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
    "no codes": spoil_sql("DROP TABLE code"),
    "no packs": spoil_sql("DROP TABLE pack"),
    "no meta": spoil_sql("DROP TABLE meta"),
    "empty meta": spoil_sql("DELETE FROM meta"),
    "other tables": spoil_sql("DROP TABLE code", "CREATE TABLE code (key)", "INSERT INTO code VALUES ('x')"),
    "fewer columns": spoil_sql("ALTER TABLE pack DROP COLUMN signs"),
    "more columns": spoil_sql("ALTER TABLE code ADD COLUMN more"),
    "newer format": spoil_sql("UPDATE meta SET value = x'3939', sum = 2163183867 WHERE key = 'format'"),
    "words for numbers": spoil_sql("UPDATE code SET planes = 'text'", "UPDATE pack SET signs = 7, ordinals = 'x'"),
    "short codes": spoil_sql("UPDATE code SET planes = substr(planes, 2)"),
    "short packs": spoil_sql("UPDATE pack SET signs = substr(signs, 2)"),
    "lost codes": spoil_sql("DELETE FROM code WHERE key > 0"),
    "null": spoil_sql("PRAGMA writable_schema = ON", "UPDATE meta SET value = ''"),
    "dim": spoil_sql("UPDATE meta SET value = x'39' WHERE key = 'dim'"),
    "a view": spoil_sql("ALTER TABLE code RENAME TO c", "CREATE VIEW code AS SELECT * FROM c, pack"),
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
        vectors.put_codes({1: vectors.encode(vector(1), 0)})
        assert vectors.put_pack(99, b"sum", [StoredVector(0, 1, 1)])
    count, said = usable(workspace)
    assert count >= 1 and said is None
    assert not path.is_symlink() and (not elsewhere or path.with_name("elsewhere").read_bytes() == elsewhere)
    assert not [entry for entry in path.parent.iterdir() if "broken" in entry.name or "damaged" in entry.name]


def test_what_is_sound_is_saved(tmp_path: Path) -> None:
    """A page of zeros in the middle: most vectors are there afterwards, and are not computed again."""
    workspace = filled(tmp_path, 20, 50)
    path = tmp_path / ".memory/vectors.sqlite"
    keys = {text_key(f"{page} {row}") for page in range(1, 21) for row in range(50)}
    with closing(begun(workspace)) as vectors:
        assert vectors.known(keys) == keys
        assert vectors.truncate() is None
    data = bytearray(path.read_bytes())
    middle = len(data) // 2 // 4096 * 4096
    data[middle : middle + 4096] = bytes(4096)
    path.write_bytes(data)
    for name in ("vectors.sqlite-wal", "vectors.sqlite-shm"):
        path.with_name(name).unlink(missing_ok=True)
    assert usable(workspace)[1]
    with closing(begun(workspace)) as vectors:
        assert 800 < len(vectors.known(keys)) < 1000


def test_one_damaged_vector_costs_one_page(tmp_path: Path) -> None:
    """It is left out, said, and lost; the others need no model when their pages are looked at again."""
    workspace = filled(tmp_path)
    key = text_key("3 7")
    spoil_sql(f"UPDATE code SET norm = norm + 1 WHERE key = {key}")(tmp_path / ".memory/vectors.sqlite")
    count, said = usable(workspace)
    assert count == 119 and said and "damaged in places" in said
    with closing(begun(workspace)) as vectors:
        assert vectors.known(text_key(f"3 {row}") for row in range(20)) == {
            text_key(f"3 {row}") for row in range(20)
        } - {key}
        assert vectors.count() == 0


def test_a_thousand_flipped_bytes(tmp_path: Path) -> None:
    """S: any byte of the file, any value: an answer each time, right or fewer, never an exception. Cuts as well."""
    workspace = filled(tmp_path / "whole")
    path = tmp_path / "whole/.memory/vectors.sqlite"
    with closing(begun(workspace)) as vectors:
        vectors.truncate()
    whole = path.read_bytes()
    numbers = random.Random(20251121)
    with closing(opened(workspace)) as vectors:
        truth = vectors.scan(Code(0, 4000.0, bytes(range(DIM))), None, 200).cosines
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
                found = vectors.scan(Code(0, 4000.0, bytes(range(DIM))), None, 200).cosines
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
        vectors.put_codes({1: vectors.encode(vector(1), 0)})
        vectors.put_pack(99, b"sum", [StoredVector(0, 1, 1)])
        vectors.sweep()


def test_verify_tells_recall_and_damage(tmp_path: Path) -> None:
    """`index --verify` and `status --verify`: recall@10 against all compared; a damaged vector is exit code 1 and mended."""
    workspace = write_pages(tmp_path / "w", {"memory.md": "# Memory\n"}).root
    assert "verified_vectors" in call(["index", "--verify", "--json"], workspace).out
    filled(workspace, 11, 50)
    done = call(["index", "--verify"], workspace)
    assert done.code == 0, done
    assert "550 vectors of 550 texts, all as they were written" in done.out
    told_recall = re.search(r"all compared: ([01][.]\d+) \((\d+) asked\)", done.out)
    assert told_recall and float(told_recall[1]) >= 0.95 and int(told_recall[2]) >= 10
    spoil_sql("UPDATE code SET total = total + 1 WHERE key = (SELECT max(key) FROM code)")(
        workspace / ".memory/vectors.sqlite"
    )
    done = call(["status", "--verify"], workspace)
    assert done.code == 1 and "1 text is damaged" in done.out and "memctl index" in done.err
    assert json.loads(call(["status", "--verify", "--json"], workspace).out)["verified_vectors"]["problems"]
    (workspace / ".memory/vectors.sqlite").write_bytes(b"nonsense" * 999)
    assert call(["index", "--verify"], workspace).code == 1


def test_signs_of_other_vectors_are_found_out(tmp_path: Path) -> None:
    """A page whose sums hold and whose signs are not those of its vectors."""
    workspace = filled(tmp_path, 2, 10)
    with closing(begun(workspace)) as vectors, closing(sqlite3.connect(vectors.path)) as db:
        pack = vectors.packs()[1]._replace(signs=bytes(10 * DIM // 8))
        with db:
            db.execute("INSERT OR REPLACE INTO pack VALUES (?, ?, ?, ?, ?, ?, ?)", (*pack, pack.sum))
        assert check_vectors(vectors, {1: "memory/a.md"}).problems == (
            "memory/a.md: the stored signs do not match its vectors",
        )
        assert vectors.problem


def test_verify_needs_no_numpy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All compared in plain Python; the figure is the same."""
    with closing(opened(filled(tmp_path, 21, 100))) as vectors:
        with_numpy = check_vectors(vectors, {}, 5)
    monkeypatch.setitem(sys.modules, "numpy", None)
    with closing(opened(Workspace(tmp_path))) as vectors:
        assert check_vectors(vectors, {}, 5) == with_numpy


def test_drop_removes_all_of_it(tmp_path: Path) -> None:
    """File, log and what is broken."""
    workspace = filled(tmp_path)
    for name in ("vectors.broken", "vectors.damaged"):
        (tmp_path / ".memory" / name).write_bytes(b"x")
    drop_vectors(workspace)
    assert not [path.name for path in (tmp_path / ".memory").glob("vectors.*") if path.name != "vectors.lock"]
    assert open_vectors(workspace) is None


def test_one_question_imports_no_numpy(tmp_path: Path) -> None:
    """Nor hashlib's OpenSSL: opening and asking stay cheap."""
    filled(tmp_path, 40, 100)
    script = (
        "import sys; from pathlib import Path; from memctl.vectors.file import open_vectors; "
        "from memctl.notes.workspace import Workspace; vectors = open_vectors(Workspace(Path(sys.argv[1]))); "
        "found = vectors.scan(vectors.encode([1.0] * 63 + [2.0], 0), None, 5); assert found.n == 4000 and not vectors.problem; "
        "assert not {'numpy', 'hnswlib', 'hashlib', 'array'} & set(sys.modules), sorted(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_no_file_is_no_vectors(tmp_path: Path) -> None:
    """And nothing is made by asking."""
    assert open_vectors(Workspace(tmp_path)) is None
    assert told(Workspace(tmp_path)) == "" and not (tmp_path / ".memory/vectors.sqlite").exists()
    assert list(tmp_path.iterdir()) == []
