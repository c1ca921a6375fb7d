"""What only a terminal is shown: wrapped lines, a pager for long answers, and how far long work is."""

import io
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from typing import Any

_NARROWEST = 24  # columns below which nothing is wrapped
_TOKEN = re.compile(r"\x1b\[[\d;]*m|\x1b\]8;;[^\x1b]*\x1b\\|.", re.DOTALL)  # a colour, a link, or a character
_LEAD = re.compile(r" *(?:(?:[-*+>•–]|\d+[.)]) +)*")
_CLOSING = frozenset("，。、；：？！）】》」』〉”’…,.;:?!)]}%")
_OPENING = frozenset("（【《「『〈“‘([{")


def wrapped(styled: str, width: int, indent: int | None = None) -> list[str]:
    """A line with its colours and links as lines of at most `width` columns; what follows hangs by `indent`.

    By default that is where its text begins, behind blanks and the mark of a list. It breaks at blanks and beside wide characters; a word or path that is longer than a line stays whole.
    """
    from rich.cells import get_character_cell_size

    tokens = _TOKEN.findall(styled)
    cells = [0 if token[0] == "\x1b" else get_character_cell_size(token) for token in tokens]
    if sum(cells) <= width or width < _NARROWEST or "\t" in styled:
        return [styled]
    plain = "".join(token for token in tokens if token[0] != "\x1b")
    indent = min(len((_LEAD.match(plain) or [""])[0]) if indent is None else indent, width // 2)
    lines, start, cut, room = [], 0, 0, width
    for at, token in enumerate(tokens):
        if _may_break(tokens, cells, at):
            cut = at
        if token != " " and cut > start and sum(cells[start : at + 1]) > room:
            lines.append("".join(tokens[start:cut]).rstrip(" "))
            start, room = cut, width - indent
    lines.append("".join(tokens[start:]))
    return [lines[0], *(" " * indent + line for line in lines[1:])]


def _may_break(tokens: Sequence[str], cells: Sequence[int], at: int) -> bool:
    """True where a line may end before a token: behind a blank, or beside a wide character that clings to nothing."""
    if at == 0 or tokens[at] == " ":
        return False
    before, after = tokens[at - 1], tokens[at]
    if before == " ":
        return True
    return 2 in (cells[at - 1], cells[at]) and after not in _CLOSING and before not in _OPENING


class _BufferedOutput(io.StringIO):
    """What a terminal will be shown, kept back until it is known how long it is."""

    def isatty(self) -> bool:
        """As the terminal that it stands for."""
        return True


@contextmanager
def paged() -> Iterator[None]:
    """Keep back what is printed meanwhile; what is longer than the terminal goes through the pager."""
    with _BufferedOutput() as page:
        try:
            with redirect_stdout(page):
                yield
        finally:
            text = page.getvalue()
            if text.count("\n") < shutil.get_terminal_size().lines or not _through_pager(text):
                sys.stdout.write(text)


def _through_pager(text: str) -> bool:
    """Show a text with $MEMCTL_PAGER, $PAGER or less; False where that did not show it."""
    named = os.environ.get("MEMCTL_PAGER", os.environ.get("PAGER", "less"))
    try:
        words = shlex.split(named)
        process = subprocess.Popen(
            words, stdin=subprocess.PIPE, env={"LESS": "FRX"} | os.environ, encoding="utf-8", errors="backslashreplace"
        )
    except (OSError, ValueError, IndexError):  # none, or not there
        return False
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # it belongs to the pager
    try:
        process.communicate(text)  # a reader who leaves before the end is not an error
        return process.returncode == 0
    finally:
        signal.signal(signal.SIGINT, before)


# -- how far long work is: one line, which goes when the work ends ---------------------------------------------------

_SHOWN_AFTER = 0.5  # seconds
_MEASURED, _WINDOW = 1.0, 15.0  # seconds of work from which a rate is told, and over which it is measured
_BESIDE = 44  # columns of what is told beside the bar, at their longest, and of the ^C that a terminal puts behind it
Draw = Callable[[str, int, int, str], None]  # what is done, how much, of how much (0: nobody knows), told beside it


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
        """Take the line away. Of work told later it shows none that has no measure: somebody may be asked something now."""
        with self._lock:
            self.stays = False
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
