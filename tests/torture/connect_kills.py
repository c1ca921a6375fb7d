"""R14: kill `connect --write` and `--undo` at every system call that changes something, on real settings of all four hosts.

After each: every file of the host is the old one or the new one; `--write` then makes it the new one, `--undo` the old one.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from store_helpers import environment
from torture.kill_points import HAS_STRACE

from memctl.agents.hosts import HOSTS

DATA = Path(__file__).parent.parent / "data" / "connect"
CALLS = "renameat2,rename,write,fsync,unlink,mkdir,link,rmdir,fchmod"
MOST = 400


def connect(root: Path, host: str, act: str, stop: int = 0) -> int:
    """Run it, killed at the `stop`-th of the calls; the exit code."""
    words = [sys.executable, "-m", "memctl", "connect", host, act, "-w", str(root / "notes"), "--command=memctl", "-q"]
    if stop:
        inject = f"inject={CALLS}:signal=SIGKILL:when={stop}"
        words = ["strace", "-f", "-o", str(root / "trace"), "-e", f"trace={CALLS}", "-e", inject, *words]
    env = environment() | {"HOME": str(root / "home"), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(words, env=env, cwd=root, capture_output=True, timeout=60).returncode


def files(root: Path) -> dict[str, bytes]:
    """The files of the home folder, without what a killed process leaves beside one."""
    found = {path.relative_to(root / "home").as_posix(): path for path in sorted((root / "home").rglob("*"))}
    return {name: path.read_bytes() for name, path in found.items() if path.is_file() and ".memctl-" not in name}


def begin(root: Path, host: str) -> dict[str, bytes]:
    """A home folder as it may look, and an empty workspace."""
    for folder in root.iterdir():
        shutil.rmtree(folder) if folder.is_dir() else folder.unlink()
    (root / "notes/memory").mkdir(parents=True)
    shutil.copytree(DATA / host / "user" / "before", root / "home")
    return files(root)


def tried(root: Path, host: str, act: str, every: int) -> tuple[int, list[str]]:
    """How often it was killed, and what was wrong afterwards."""
    before = begin(root, host)
    connect(root, host, "--write")
    after = files(root)
    points, wrong = 0, []
    for stop in range(1, MOST, every):
        begin(root, host)
        if act == "--undo":
            connect(root, host, "--write")
        if connect(root, host, act, stop) not in (-9, 137):
            break
        points += 1
        name = f"{host} {act} call {stop}"
        wrong += [
            f"{name}: {path} is neither"
            for path, data in files(root).items()
            if data not in (before.get(path), after.get(path))
        ]
        wrong += [f"{name}: {path} is lost" for path in before if path not in files(root)]
        for again, expected in (("--write", after), ("--undo", before)):
            if connect(root, host, again) or files(root) != expected:
                wrong.append(f"{name}: {again} afterwards")
    return points, wrong


def main(short: bool = False) -> bool:
    """Print the row; False if anything was neither old nor new."""
    if not HAS_STRACE:
        print("R14 skipped: strace is not installed")
        return True
    points, wrong = 0, []
    with tempfile.TemporaryDirectory() as folder:
        for host in HOSTS:
            for act in ("--write", "--undo"):
                more, bad = tried(Path(folder), host, act, 5 if short else 1)
                points, wrong = points + more, wrong + bad
    print(f"R14 connect, kill points {points} violations {len(wrong)}")
    for line in wrong:
        print(f"  {line}")
    return not wrong
