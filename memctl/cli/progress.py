"""How far long work is: one line on the terminal, which goes when the work ends."""

import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any

_SHOWN_AFTER = 0.5  # seconds
_MEASURED, _WINDOW = 1.0, 15.0  # seconds of work from which a rate is told, and over which it is measured
_BESIDE = 44  # columns of what is told beside the bar, at their longest, and of the ^C that a terminal puts behind it
Draw = Callable[[str, int, int, str], None]
"""Draws what is done, how much, out of how much (0: nobody knows), and what is to be told beside it."""


class Bar:
    """Shows work that takes half a second and longer, with the time left once the rate of this very work is measured.

    Told `(done, total, what)` again and again, where `what` names a part of the work. When a part is done the line goes, and
    comes again with the next one: no bar stands at its end while something else is done. If it `stays`, one without a measure
    is shown where nothing is told for half a second then.
    """

    stays = False

    def __init__(self, what: str, draw: Draw | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._what, self._clock, self._draw = what, clock, draw or self._draw_rich
        self._at, self._begin = (what, 0, 0), clock()
        self._samples: deque[tuple[float, int]] = deque()
        self._lock = threading.RLock()
        self._timer: threading.Timer | None = None  # shows work that tells nothing for a while
        self._rich: Any = None

    def update(self, done: int, total: int, what: str = "") -> None:
        """Note how far it is; draw it, unless the work is young or done."""
        with self._lock:
            part, before, _ = self._at
            if (what or self._what) != part or done < before:
                self._samples.clear()
            self._at = (what or self._what, done, total)
            if done >= total > 0:
                self._hide()
                if not self.stays:
                    return
                self._at, self._begin, done = (self._what, 0, 0), self._clock(), 0
            if self._timer is None and self._draw == self._draw_rich:
                self._timer = threading.Timer(_SHOWN_AFTER, self.show)
                self._timer.daemon = True
                self._timer.start()
            if done:  # what comes before the first page, such as starting processes, says nothing of the rate
                self._samples.append((self._clock(), done))
                while len(self._samples) > 2 and self._samples[-1][0] - self._samples[0][0] > _WINDOW:
                    self._samples.popleft()
            self.show()

    def show(self) -> None:
        """Draw the newest state, if the work is old enough, with the time left by the rate of the last seconds."""
        with self._lock:
            what, done, total = self._at
            if self._clock() - self._begin < _SHOWN_AFTER or done >= total > 0:
                return
            told = [f"{done:,} of {total:,}"] if total else []
            if total and self._samples:
                (first, start), (last, _) = self._samples[0], self._samples[-1]
                if last - first >= _MEASURED and done > start:
                    told.append(time_left((total - done) * (last - first) / (done - start)))
            self._draw(what, done, total, " · ".join(told))

    def close(self) -> None:
        """Take the line away."""
        with self._lock:
            self._at = (self._what, 1, 1)
            self._hide()

    def _draw_rich(self, what: str, done: int, total: int, told: str) -> None:
        if self._rich is None:
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn

            console = Console(stderr=True)
            width = max(10, min(40, console.width - len(what) - _BESIDE))  # the same all along
            columns = (TextColumn("{task.description}"), BarColumn(width), TextColumn("{task.fields[told]}"))
            self._rich = Progress(*columns, console=console, transient=True)
            self._task = self._rich.add_task(what, total=None, told=told)
            self._rich.start()
        self._rich.update(self._task, description=what, completed=done, total=total or None, told=told)

    def _hide(self) -> None:
        self._samples.clear()
        if self._timer:
            self._timer.cancel()
        if self._rich:
            self._rich.stop()
        self._timer = self._rich = None


def time_left(seconds: float) -> str:
    """About how long, no finer than it can be known."""
    if seconds < 5:
        return "a few seconds left"
    if seconds < 90:
        return f"about {round(seconds / 5) * 5} s left"
    minutes = round(seconds / 60)
    return f"about {minutes} min left" if minutes < 90 else f"about {round(minutes / 60)} h left"
