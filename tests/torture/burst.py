"""R10: a burst of 60,000 files under watch. Events get lost by the thousand; when it has settled, no page may be missing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from hashlib import sha256
from pathlib import Path

from store_helpers import environment, make_workspace

from memctl.index.heal import with_index
from memctl.notes.workspace import Workspace

FOLDERS = 300


def missing(workspace: Workspace, written: dict[str, bytes]) -> int:
    """How many pages the index, as it stands, does not hold as they were last written, or holds although they are gone."""
    known = with_index(workspace, lambda index: {row.path: row.sha256 for row in index.known()})
    return sum(known.get(path) != digest for path, digest in written.items()) + len(known.keys() - written.keys())


def storm(workspace: Workspace, count: int) -> dict[str, bytes]:
    """Write `count` pages as fast as the disk takes them, each tenth twice, each twentieth not to stay; their hashes."""
    written = {}
    for number in range(count):
        path = f"bank/burst/{number % FOLDERS}/{number}.md"
        page = workspace.root / path
        if number < FOLDERS:
            page.parent.mkdir(parents=True)
        page.write_bytes(f"# Page {number}\n".encode())
        written[path] = sha256(f"# Page {number}\n".encode()).digest()
        if number % 10 == 9:
            text = f"# Page {number}, again\n".encode()
            (page.parent / ".new").write_bytes(text)
            os.replace(page.parent / ".new", page)
            written[path] = sha256(text).digest()
        if number % 20 == 0:
            page.unlink()
            del written[path]
    return written


def after_burst(count: int, seconds: float) -> tuple[int, float, float, int, int]:
    """(pages missing, seconds of the burst, seconds until settled, lines printed, peak memory in MB)."""
    with tempfile.TemporaryDirectory() as folder:
        workspace = make_workspace(Path(folder).resolve(), {})
        watch = subprocess.Popen(
            [sys.executable, "-m", "memctl", "watch", "--json", "-w", str(workspace.root)],
            stdout=subprocess.PIPE, env=environment(), text=True,
        )  # fmt: skip
        assert watch.stdout and watch.stdout.readline()
        begin = time.monotonic()
        written = storm(workspace, count)
        burst = time.monotonic() - begin
        left = count
        while time.monotonic() - begin < burst + seconds:
            left = missing(workspace, written)
            if not left:
                break
            time.sleep(1)
        settled = time.monotonic() - begin
        peak = _peak(watch.pid)
        watch.send_signal(signal.SIGTERM)
        lines = len(watch.stdout.read().splitlines()) + 1
        watch.stdout.close()
        assert watch.wait() == 0
        return left, burst, settled, lines, peak


def _peak(pid: int) -> int:
    status = Path(f"/proc/{pid}/status")
    if not status.exists():
        return 0
    return next(int(line.split()[1]) // 1024 for line in status.read_text().splitlines() if line.startswith("VmHWM"))


def main(short: bool = False) -> bool:
    count = 2_000 if short else 60_000
    left, burst, settled, lines, peak = after_burst(count, 120 if short else 900)
    print(
        f"R10 files in {burst:.1f} s {count} missing after it settled {left} "
        f"(settled after {settled:.1f} s, {lines} lines printed, peak {peak} MB)"
    )
    return left == 0
