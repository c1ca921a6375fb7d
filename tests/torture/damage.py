"""R7: an index that was damaged while nobody had it open answers as one made anew, after the next sync."""

from __future__ import annotations

import os
import random
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from store_helpers import LOG, make_workspace, rebuilt, rows, synced

from memctl.index.heal import with_index
from memctl.notes.workspace import Workspace

PAGE = 4096


def flip(path: Path, dice: random.Random, bits: int = 1) -> None:
    data = bytearray(path.read_bytes())
    for _ in range(bits):
        data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
    _overwrite(path, bytes(data))


def flip_many(path: Path, dice: random.Random) -> None:
    flip(path, dice, dice.randint(2, 40))


def flip_text(path: Path, dice: random.Random) -> None:
    """One bit of something that stands in the index as text: what the structure checks of SQLite do not see."""
    data = bytearray(path.read_bytes())
    letters = [at for at, byte in enumerate(data) if 97 <= byte <= 122]
    data[dice.choice(letters)] ^= 1 << dice.randrange(3)
    _overwrite(path, bytes(data))


def cut(path: Path, dice: random.Random) -> None:
    os.truncate(path, dice.randrange(path.stat().st_size))


def cut_pages(path: Path, dice: random.Random) -> None:
    os.truncate(path, PAGE * dice.randrange(path.stat().st_size // PAGE))


def zero_page(path: Path, dice: random.Random) -> None:
    data = bytearray(path.read_bytes())
    at = PAGE * dice.randrange(len(data) // PAGE)
    data[at : at + PAGE] = bytes(PAGE)
    _overwrite(path, bytes(data))


def swap_pages(path: Path, dice: random.Random) -> None:
    data = bytearray(path.read_bytes())
    a, b = (PAGE * dice.randrange(1, len(data) // PAGE) for _ in range(2))
    data[a : a + PAGE], data[b : b + PAGE] = data[b : b + PAGE], data[a : a + PAGE]
    _overwrite(path, bytes(data))


def garbage_header(path: Path, dice: random.Random) -> None:
    data = path.read_bytes()
    _overwrite(path, dice.randbytes(100) + data[100:])


def garbage_field(path: Path, dice: random.Random) -> None:
    """One byte of the 100 that head the file: format versions, encoding, counters."""
    data = bytearray(path.read_bytes())
    data[dice.randrange(100)] = dice.randrange(256)
    _overwrite(path, bytes(data))


def garbage(path: Path, dice: random.Random) -> None:
    _overwrite(path, dice.randbytes(dice.randrange(3 * PAGE)))


def _overwrite(path: Path, data: bytes) -> None:
    with open(path, "r+b") as stream:
        stream.write(data)
        stream.truncate()


def _wal(path: Path) -> Path:
    return path.with_name(path.name + "-wal")


def wal_removed(path: Path, dice: random.Random) -> None:
    _wal(path).unlink()


def wal_cut(path: Path, dice: random.Random) -> None:
    cut(_wal(path), dice)


def wal_flipped(path: Path, dice: random.Random) -> None:
    flip(_wal(path), dice, dice.randint(1, 5))


def shm_garbage(path: Path, dice: random.Random) -> None:
    _overwrite(path.with_name(path.name + "-shm"), dice.randbytes(32768))


ON_FILE: tuple[Callable[[Path, random.Random], None], ...] = (
    flip, flip_many, flip_text, cut, cut_pages, zero_page, swap_pages, garbage_header, garbage_field, garbage,
)  # fmt: skip
ON_WAL: tuple[Callable[[Path, random.Random], None], ...] = (wal_removed, wal_cut, wal_flipped, shm_garbage)


def leave_wal(workspace: Workspace) -> None:
    """Write to the index and leave its -wal behind, as a process does that is killed."""
    path = workspace.memory / "index.sqlite"
    held = sqlite3.connect(path)
    held.execute("SELECT count(*) FROM page").fetchone()
    with open(workspace.root / LOG, "a", encoding="utf-8") as page:
        page.write("- W @Atlas: One more thing\n")
    synced(workspace)
    names = [path, _wal(path), path.with_name(path.name + "-shm")]
    kept = {name: name.read_bytes() for name in names}
    held.close()
    for name, data in kept.items():
        name.write_bytes(data)


def trial(workspace: Workspace, how: Callable[[Path, random.Random], None], dice: random.Random) -> str | None:
    """What went wrong after one damage, or None."""
    synced(workspace)
    if how in ON_WAL:
        leave_wal(workspace)
    path = workspace.memory / "index.sqlite"
    before = path.stat().st_mtime_ns
    how(path, dice)
    if path.exists() and path.stat().st_mtime_ns == before:  # within one tick of the clock of files
        os.utime(path, ns=(before, before + 1))
    try:
        if rows(workspace) != rebuilt(workspace):
            return "wrong rows"
        with_index(workspace, lambda index: index.rows("SELECT 1"))
    except Exception as error:  # any exception is a finding here
        return f"{type(error).__name__}: {error}"
    return None


def run(trials: int, seed: int = 7) -> Counter[str]:
    """How the trials ended, by outcome and kind of damage."""
    dice = random.Random(seed)
    ended: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        workspace = make_workspace(Path(folder))
        for number in range(trials):
            how = (*ON_FILE, *ON_WAL)[number % (len(ON_FILE) + len(ON_WAL))]
            wrong = trial(workspace, how, dice)
            ended[f"{how.__name__}: {wrong}" if wrong else "healed"] += 1
    return ended
