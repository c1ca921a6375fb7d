"""Many processes, an editor beside them, a kill -9 or a failing disk at any call: short runs of tests/torture."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Sequence
from functools import partial

import pytest
from strategies import examples
from torture import editor_storm, kill_points, races

strace = pytest.mark.skipif(not kill_points.HAS_STRACE, reason="strace is not installed")
posix = pytest.mark.skipif(os.name == "nt", reason="an open file cannot be replaced there")


def test_eight_processes_lose_no_line() -> None:
    """R4."""
    kept, wrong = races.lost_lines(count := examples(50, 2, 25))
    assert kept == 8 * count
    assert wrong == []


def test_processes_that_append_and_that_replace_lose_nothing_to_each_other() -> None:
    """R4, with pages written anew meanwhile."""
    writes, wrong = races.lost_between_writers(count := examples(50, 2, 25))
    assert writes == 8 * count
    assert wrong == []


@pytest.mark.parametrize("fresh", [True, False])
def test_eight_processes_are_never_told_that_the_index_is_locked(fresh: bool) -> None:
    """R11."""
    calls, failed = races.busy_calls(count := examples(800, 16, 50), fresh)
    assert calls == count
    assert failed == []


@posix
def test_an_editor_loses_nothing_to_retains_and_they_nothing_to_memctl() -> None:
    """R5, the append part. What an editor overwrites with its older copy is counted apart, and is not always zero."""
    storm = editor_storm.storm(examples(1_500, 50, 30))
    assert storm.human >= editor_storm.FEW
    assert storm.human_lost == []
    assert storm.facts_lost == []
    assert storm.overwritten < storm.facts / 2
    assert storm.differences == ()


@posix
@pytest.mark.parametrize("seed", range(examples(5, 1, 5)))
@pytest.mark.parametrize("writing", [editor_storm.rewriting, editor_storm.reflecting])
def test_an_editor_loses_nothing_to_a_page_that_is_written_anew_all_the_time(
    writing: Callable[[int, int], editor_storm.Rewrites], seed: int
) -> None:
    """R5, the replace part."""
    storm = writing(saves := examples(800, 20, 40), seed)
    assert storm.human >= saves
    assert storm.done > 0
    assert storm.human_lost == []
    assert storm.left == []


REWRITING = [scene for scene in kill_points.SCENES if scene.rewrites]


@strace
@pytest.mark.parametrize(
    ("scenes", "every"),
    [
        *(([scene], 40) for scene in REWRITING[1:]),
        *(([scene], 60) for scene in kill_points.SCENES[:2]),
        (kill_points.REFLECTING[1:], 700),
    ],
    ids=lambda value: None if isinstance(value, int) else value[0].name,
)
def test_a_kill_and_a_failing_disk_leave_each_page_old_or_new(scenes: Sequence[kill_points.Scene], every: int) -> None:
    """R1, R2, by turns, in every so-many-th call: the next run finishes the job, and no failure is told wrongly."""
    errors = (partial(kill_points.after_error, error=error) for error in ("ENOSPC", "EIO"))
    ways = itertools.cycle((kill_points.after_kill, *errors))
    tried, wrong, _ = kill_points.run(scenes, lambda *at: next(ways)(*at), every=every)
    assert tried >= 1
    assert wrong == []


@strace
def test_a_point_that_is_not_reached_was_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Under load a process may make fewer calls than when they were counted; that is no violation."""
    far = [kill_points.Point("fsync", 10_000, "no such call")]
    monkeypatch.setattr(kill_points, "points", lambda scene, root: far)
    assert kill_points.run(kill_points.SCENES[:1], kill_points.after_kill) == (0, [], 1)
