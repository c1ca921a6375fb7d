"""Which lines were recalled lately, by their ids: `.memory/recalled`, kept only where `[recall] record` says so.

A line for each answer: its day and the ids. At 128 KiB a new file begins, and the one before is kept.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Set
from contextlib import suppress

from ..errors import MemctlError
from ..facts import days_before
from ..notes.files import prepare_memory
from ..notes.workspace import Workspace
from ..system import append_bounded
from .open_memory import OpenMemory

_FILE, _BEFORE = "recalled", "recalled.1"
_MOST = 128 * 1024
_DAYS = 90  # that count as lately


def record_recalled(memory: OpenMemory, refs: Iterable[str]) -> None:
    """Remember that these lines were answers. Trouble there stops no answer: the file is derived."""
    if ids := " ".join(refs):
        with suppress(OSError, MemctlError):
            append_bounded(prepare_memory(memory.workspace) / _FILE, f"{memory.today} {ids}\n".encode(), _MOST)


def drop_recalled(workspace: Workspace, refs: Set[str]) -> None:
    """Take the ids of lines that are forgotten out of the record."""
    for name in (_BEFORE, _FILE):
        with suppress(OSError):
            path = workspace.memory / name
            text = path.read_text("ascii", "replace")
            kept = re.sub(r" (\S+)", lambda match: "" if match[1] in refs else match[0], text)
            if kept != text:
                path.write_text(kept, "ascii", "replace")


def recalled_lately(memory: OpenMemory) -> Counter[str]:
    """How often each line was an answer in the last 90 days, as far as that was recorded."""
    first = str(days_before(memory.today, _DAYS))
    found: Counter[str] = Counter()
    for name in (_BEFORE, _FILE) if memory.workspace.settings.record else ():
        with suppress(OSError):
            for line in (memory.workspace.memory / name).read_text("ascii", "replace").splitlines():
                day, *refs = line.split() or [""]
                found.update(refs if day >= first else ())
    return found
