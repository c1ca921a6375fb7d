"""The only door to the terminal: guards against control characters, prints text, tables and JSON."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from ..errors import MemctlError
from ..markdown.escape import defused, one_line, printable

if TYPE_CHECKING:
    from .terminal import Bar

BOLD, FAINT, RED, GREEN, YELLOW, CYAN = 1, 2, 31, 32, 33, 36
UNBROKEN = "\xa0"  # a blank at which no line is broken; a terminal is given a plain one


def fitted(text: str, width: int) -> str:
    """`text`, made printable, in exactly so many columns of a terminal; one that is cut ends with an ellipsis."""
    from rich.cells import cell_len, set_cell_size

    shown = printable(text)
    cut = set_cell_size(shown, width - 1).rstrip() + "…" if cell_len(shown) > width else shown
    return set_cell_size(cut, width)


@dataclass(slots=True)
class Output:
    """Where the answers of one call go. `quiet` leaves out everything but the answer itself."""

    json: bool = False
    quiet: bool = False
    stale: str = ""  # why the answer may lack something that stands in the files
    matches: Callable[[str], list[tuple[int, int]]] | None = None  # where the words that were asked for stand in a text
    recalls: bool = False  # of recalled lines: who repeats it, a model too, gives no bracket command (docs/act.md)
    _pages: bool = False
    _beside: set[str] = field(default_factory=set)

    @property
    def at_terminal(self) -> bool:
        """True where a person reads: lines are wrapped there, and days told as spans."""
        return not self.json and sys.stdout.isatty()

    @property
    def styled(self) -> bool:
        """True on a terminal that did not ask for plain text."""
        return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"

    def show_once(self, text: str) -> None:
        """Show a text, a screen at a time, on the terminal's second screen, which keeps nothing of it."""
        from rich.console import Console

        console = Console()
        wide, high = console.size
        rows = [line[at : at + wide] for line in text.splitlines() for at in range(0, max(len(line), 1), wide)]
        with console.screen(hide_cursor=False):
            for at in range(0, len(rows), high - 1):
                print("\x1b[H\x1b[2J" + "\n".join(rows[at : at + high - 1]))
                with suppress(EOFError):  # Ctrl-D goes on too
                    input("Enter goes on; then nothing of this stays here")
                print("\x1b[H\x1b[2J", end="")

    def line(self, *texts: str) -> None:
        """Lines of the answer."""
        for text in texts:
            print(printable(defused(text) if self.recalls else text))

    def lines(self, text: str) -> None:
        """Lines of the answer; nothing for an empty text, and blank ones are left out."""
        self.line(*filter(None, text.split("\n")))

    def diff(self, text: str) -> None:
        """A unified diff, coloured on a terminal."""
        for line in text.split("\n")[:-1]:
            colour = (GREEN,) if line.startswith("+") else (RED,) if line.startswith("-") else ()
            print(self.style(line, *colour))

    def flush(self) -> None:
        """Let a reader of the answer have what there is of it."""
        sys.stdout.flush()

    def raw_json(self, value: Any, ok: object = True) -> int:
        """A JSON document on one line; ASCII, so that nothing in it can steer a terminal. The exit code: 0 if `ok`."""
        if self.stale and isinstance(value, dict):
            value = value | {"stale": self.stale}
        print(json.dumps(defused(value) if self.recalls else value, ensure_ascii=True))
        return 0 if ok else 1

    def beside(self, text: str) -> None:
        """A note of the library. That the answer is stale is said in JSON too, and however quiet the call is."""
        if text.startswith("stale"):
            self.stale = text.partition(": ")[2]
            self._tell(text)
        else:
            self.note(text)
            self._beside.add(text)  # each call into the library may say it again

    def note(self, *texts: str) -> None:
        """Something beside the answer, a line each: to stderr, and not at all when quiet. One that begins with a blank is not wrapped."""
        for text in () if self.quiet else texts:
            if text not in self._beside:
                self._tell(text)

    def _tell(self, text: str, stream: TextIO | None = None) -> None:
        """Print a line, on a terminal wrapped, but never inside of a `command`: that may be copied.

        Notes go to stderr; on a terminal that pages they keep their place in the answer.
        """
        self._flush_answer()
        stream = stream or (sys.stdout if self._pages and sys.stderr.isatty() else sys.stderr)
        text = printable(text)
        with suppress(OSError) if stream is sys.stderr else nullcontext():  # an answer stands without notes
            if text[:1] == " " or not stream.isatty():
                print(text, file=stream)
            else:
                _print_wrapped(re.sub("`[^`]*`", lambda command: command[0].replace(" ", UNBROKEN), text), 2, stream)

    def _flush_answer(self) -> None:
        """Where both streams go to one file or pipe, what was printed first stands first."""
        with suppress(OSError):  # a reader who left, a full disk: told when the answer ends
            sys.stdout.flush()

    @contextmanager
    def paged(self) -> Iterator[None]:
        """On a terminal, what is printed meanwhile and longer than a screen goes through the reader's pager."""
        if not self.at_terminal:
            yield
            return
        from .terminal import paged

        self._pages = True
        with paged():
            yield

    def error(self, error: MemctlError) -> None:
        """What happened and what to do, a line each, or as JSON on one."""
        self._flush_answer()
        if self.json:
            told = {"kind": type(error).__name__, "exit_code": error.exit_code, "what": error.what, "do": error.cure}
            with suppress(OSError):
                print(json.dumps({"schema": 1, "error": told}), file=sys.stderr)
            return
        self._tell(f"memctl: {one_line(error.what)}", sys.stderr)
        self._tell("  " + one_line(error.cure), sys.stderr)

    def table(self, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
        """Rows under headings: drawn on a terminal, tab-separated elsewhere."""
        if not self.styled:
            for row in rows:
                self.line("\t".join(" ".join(str(cell).split()) for cell in row))
            return
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        table = Table(box=None, pad_edge=False, header_style="bold", show_header=any(columns))
        for column in columns:
            table.add_column(column, overflow="fold")
        for row in rows:
            table.add_row(*(Text(printable(str(cell))) for cell in row))
        Console().print(table)

    def bar(self, what: str) -> Bar | None:
        """A progress bar for long work; None with --quiet, with --json, and without a terminal."""
        if self.quiet or self.json or not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
            return None
        from .terminal import Bar

        return Bar(what)

    def style(self, text: str, *codes: int) -> str:
        """`text`, made printable, in bold (1), faint (2) or a colour (31-36) on a terminal."""
        safe = printable(text)
        return f"\x1b[{';'.join(map(str, codes))}m{safe}\x1b[0m" if self.styled and codes else safe

    def matched(self, text: str, *codes: int) -> str:
        """The same with the words that were asked for marked, on a terminal."""
        if self.matches is None or not self.styled:
            return self.style(text, *codes)
        safe, made, at = printable(text), "", 0
        for start, end in self.matches(safe):
            made += self.style(safe[at:start], *codes) + self.style(safe[start:end], BOLD, CYAN)
            at = end
        return made + self.style(safe[at:], *codes)

    def link(self, text: str, path: Path, template: str = "", line: int = 1) -> str:
        """`text`, made printable, as a hyperlink to a file on a terminal; `template` makes one that opens at the line."""
        safe = printable(text)
        if not self.styled:
            return safe
        url = path.as_uri()
        if template:
            place = url.removeprefix("file://")
            url = template.replace("//{path}", f"//{place}").replace("/{path}", f"/{place.lstrip('/')}")
            url = url.replace("{path}", place).replace("{line}", str(line))
        return f"\x1b]8;;{url}\x1b\\{safe}\x1b]8;;\x1b\\"

    def say(self, text: str, indent: int | None = None) -> None:
        """A line of the answer that is read and not copied: wrapped on a terminal."""
        self.emit(printable(text), indent)

    def emit(self, styled: str, indent: int | None = None) -> None:
        """A line put together from `style` and `link`, which guard their parts; wrapped on a terminal."""
        styled = defused(styled) if self.recalls else styled
        if self.at_terminal:
            _print_wrapped(styled, indent, sys.stdout)
        else:
            print(styled)


def _print_wrapped(styled: str, indent: int | None, stream: TextIO) -> None:
    from .terminal import wrapped

    for line in wrapped(styled, shutil.get_terminal_size().columns, indent):
        print(line.replace(UNBROKEN, " "), file=stream)
