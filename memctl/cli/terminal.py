"""What only a terminal is shown: wrapped lines, and a pager for long answers."""

import io
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout

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


# -- the pager --------------------------------------------------------------------------------------------------------


class _KeptBack(io.StringIO):
    """What a terminal will be shown, kept back until it is known how long it is."""

    def isatty(self) -> bool:
        """As the terminal that it stands for."""
        return True


@contextmanager
def paged() -> Iterator[None]:
    """Keep back what is printed meanwhile; what is longer than the terminal goes through the pager."""
    with _KeptBack() as page:
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
        process.communicate(text)  # a reader who leaves before the end is no error
        return process.returncode == 0
    finally:
        signal.signal(signal.SIGINT, before)
