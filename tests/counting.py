"""Work counted in calls, not in seconds: what a busy machine cannot change."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from types import FrameType
from typing import Any

__all__ = ["call_growth", "calls"]


def calls(work: Callable[[], object]) -> int:
    """How many functions, of Python and of C, a piece of work calls."""
    count = 0

    def seen(frame: FrameType, event: str, arg: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(seen)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


def call_growth(work: Callable[[str], object], made: Callable[[int], str], size: int = 4_000) -> float:
    """calls(2n) / calls(n), after a first call that fills caches: 2 is linear, 4 quadratic."""
    work(made(size // 2))
    small, large = (calls(partial(work, made(n))) for n in (size, 2 * size))
    return large / small
