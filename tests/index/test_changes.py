"""What sync has to do: the pages on disk that are not surely as the index knows them, and those that are gone.

A file counts as unchanged when size, time and inode are the same and it was settled when we last looked (git's racy
rule); anything else is read again and compared by its hash.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from memctl.index.sync import RACY_NS, changes

LOOKED = 10 * RACY_NS
OLD = LOOKED - RACY_NS - 1


@dataclass(frozen=True)
class Stat:
    st_size: int = 5
    st_mtime_ns: int = OLD
    st_ino: int = 3


@dataclass(frozen=True)
class OnDisk:
    path: str
    status: Stat | None = Stat()
    problem: str | None = None


@dataclass(frozen=True)
class IndexedFile:
    path: str
    size: int = 5
    mtime_ns: int = OLD
    inode: int = 3
    sha256: bytes = b"hash"
    looked_ns: int = LOOKED
    problem: str | None = None


def is_step(disk: OnDisk | None, row: IndexedFile | None) -> bool:
    steps = changes([disk] if disk else [], [row] if row else [])
    assert steps in ([], [(disk, row)])
    return bool(steps)


def test_a_new_page_is_read_a_gone_one_dropped_and_a_known_one_left_alone() -> None:
    assert is_step(OnDisk("a"), None)
    assert is_step(None, IndexedFile("a"))
    assert not is_step(OnDisk("a"), IndexedFile("a"))


@pytest.mark.parametrize(
    "row",
    [
        IndexedFile("a", size=6),
        IndexedFile("a", mtime_ns=OLD - 1),
        IndexedFile("a", mtime_ns=OLD + 1),
        IndexedFile("a", inode=4),
        IndexedFile("a", sha256=b""),
        IndexedFile("a", looked_ns=OLD + RACY_NS),
        IndexedFile("a", looked_ns=0),
    ],
    ids=["size", "time", "later", "inode", "never read", "racy", "clock set back"],
)
def test_what_is_not_surely_the_same_is_read(row: IndexedFile) -> None:
    assert is_step(OnDisk("a"), row)


def test_a_file_changed_within_two_seconds_of_our_look_is_read_again() -> None:
    """It may have changed once more without a new time; a nanosecond more and it is settled."""
    assert is_step(OnDisk("a"), IndexedFile("a", looked_ns=OLD + RACY_NS))
    assert not is_step(OnDisk("a"), IndexedFile("a", looked_ns=OLD + RACY_NS + 1))
    assert RACY_NS == 2_000_000_000


def test_a_page_that_cannot_be_read_is_reported_once() -> None:
    broken = OnDisk("a", None, "not a file")
    assert is_step(broken, None)
    assert is_step(broken, IndexedFile("a"))
    assert not is_step(broken, IndexedFile("a", sha256=b"", problem="not a file"))
    assert is_step(broken, IndexedFile("a", sha256=b"", problem="another reason"))
    assert is_step(OnDisk("a"), IndexedFile("a", sha256=b"", problem="not a file"))


def test_steps_come_as_pages_are_listed_and_what_is_gone_last() -> None:
    found = [OnDisk("a"), OnDisk("b"), OnDisk("c", Stat(6)), OnDisk("d", None, "why")]
    known = [IndexedFile("0"), IndexedFile("b"), IndexedFile("c"), IndexedFile("e")]
    assert [step.path for step in changes(found, known)] == ["a", "c", "d", "0", "e"]


def test_after_everything_was_done_nothing_is_left_to_do() -> None:
    found = [OnDisk("a"), OnDisk("b", Stat(6)), OnDisk("c", None, "why")]
    known = [IndexedFile("a"), IndexedFile("b", size=6), IndexedFile("c", sha256=b"", problem="why")]
    assert changes(found, known) == []
    looked_too_early = [replace(row, looked_ns=0) for row in known]
    assert [step.path for step in changes(found, looked_too_early)] == ["a", "b"]
