"""Files of labelled questions: read line by line, however long they are; written to as safely as pages are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from ..errors import PageUnreadable, Usage
from ..notes.files import Appended, append, read_page
from ..notes.replace import replace
from ..notes.workspace import Workspace

__all__ = ["LONGEST", "add_line", "lines_of", "rewrite", "text_of"]

LONGEST = 1 << 20  # bytes of one line


def lines_of(path: Path) -> Iterator[tuple[int, str]]:
    """(number, text) of every line. PageUnreadable for what cannot be read, Usage for a line that is no text."""
    try:
        with open(path, "rb") as stream:
            number = 0
            while line := stream.readline(LONGEST + 1):
                number += 1
                if len(line) > LONGEST:
                    raise Usage(f"line {number} of {path} is longer than 1 MiB", "write one JSON object a line")
                yield number, _decoded(line, number, path)
    except (OSError, ValueError) as error:  # the latter for a name that is none
        reason = error.strerror if isinstance(error, OSError) else None
        raise PageUnreadable(str(path), reason or str(error), "name a file of labelled questions (JSONL)") from error


def _decoded(line: bytes, number: int, path: Path) -> str:
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError:
        raise Usage(f"line {number} of {path} is not UTF-8", "save it as UTF-8") from None


def text_of(workspace: Workspace, path: str) -> str:
    """The whole text of a label file in the workspace; empty where there is none yet."""
    return read_page(workspace, path).text if (workspace.root / path).exists() else ""


def add_line(workspace: Workspace, path: str, compose: Callable[[str], str]) -> Appended:
    """Append durably what `compose(text so far)` returns."""
    return append(workspace, path, compose)


def rewrite(workspace: Workspace, path: str, before: str, after: str) -> None:
    """Put a new text in the place of the old one; PageChanged if that is not what stands there."""
    replace(workspace, path, before.encode("utf-8"), after.encode("utf-8"))
