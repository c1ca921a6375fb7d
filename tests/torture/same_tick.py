"""R12: edits that change neither size nor modification time are seen, if they come within 2 s of the last look."""

from __future__ import annotations

import hashlib
import os
import tempfile
import time
from pathlib import Path

from store_helpers import make_workspace, synced

from memctl.index.heal import with_index
from memctl.notes.workspace import Workspace


def known_sha(workspace: Workspace, path: str) -> bytes:
    """What the index holds as the content of a page, without a sync."""
    return with_index(workspace, lambda index: next(row.sha256 for row in index.known() if row.path == path))


def missed(edits: int, force: bool = True) -> int:
    """How many of `edits` same-size edits a sync did not see; with `force`, all carry one and the same mtime."""
    count = 0
    with tempfile.TemporaryDirectory() as folder:
        workspace = make_workspace(Path(folder).resolve(), {"memory/2025-11-27.md": "- W: 000000\n"})
        page = workspace.root / "memory/2025-11-27.md"
        tick = time.time_ns()
        for number in range(edits):
            if time.time_ns() - tick > 1_000_000_000:
                tick = time.time_ns()
            data = f"- W: {number:06d}\n".encode()
            page.write_bytes(data)
            if force:
                os.utime(page, ns=(tick, tick))
            synced(workspace)
            count += known_sha(workspace, "memory/2025-11-27.md") != hashlib.sha256(data).digest()
    return count


def main(short: bool = False) -> bool:
    edits = 100 if short else 1000
    lost = missed(edits) + missed(edits, force=False)
    print(f"R12 same-size edits within one tick {2 * edits} missed {lost}")
    return lost == 0
