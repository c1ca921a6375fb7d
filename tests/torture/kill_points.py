"""R1, R2: stop a command, or let the disk fail, at every system call of it that changes the workspace.

strace counts the calls: a first run lists those that touch the workspace, then one run for each stops exactly there.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from store_helpers import DAY, LOG, make_workspace, memctl, rebuilt, rows, strays, synced

from memctl.store.workspace import Workspace, find_workspace
from memctl.verbs.index import verify

CALLS = ("openat", "write", "pwrite64", "fsync", "fdatasync", "ftruncate", "rename", "unlink", "mkdir", "linkat")
FACT = "The kettle is in the Fjord room"
HAS_STRACE = shutil.which("strace") is not None
_LINE = re.compile(r"^\d+\s+(?P<call>\w+)\((?P<rest>.*)$")


@dataclass(frozen=True)
class Point:
    """The `number`-th `call` of a process; `what` is what it does, for the report."""

    call: str
    number: int
    what: str


@dataclass(frozen=True)
class Scene:
    """A workspace before, and the command that runs in it."""

    name: str
    prepare: Callable[[Path], Workspace]
    words: tuple[str, ...]


def _bare(root: Path) -> Workspace:
    return make_workspace(root, {"memory.md": "# Memory\n"})


def _no_index(root: Path) -> Workspace:
    return make_workspace(root)


def _indexed(root: Path) -> Workspace:
    workspace = make_workspace(root)
    synced(workspace)
    return workspace


def _behind(root: Path) -> Workspace:
    workspace = _indexed(root)
    (root / "bank/decisions/new.md").write_text("# New\n\nSomething @Peter decided.\n")
    (root / "bank/entities/Atlas.md").unlink()
    return workspace


def _damaged(root: Path) -> Workspace:
    workspace = _indexed(root)
    with open(workspace.memory / "index.sqlite", "r+b") as stream:
        stream.seek(8192)
        stream.write(bytes(4096))
    return workspace


SCENES = (
    Scene("retain, first of its day, no folder", _bare, ("retain", FACT)),
    Scene("retain, indexed", _indexed, ("retain", FACT)),
    Scene("index, none yet", _no_index, ("index",)),
    Scene("index, behind", _behind, ("index",)),
    Scene("index --rebuild", _indexed, ("index", "--rebuild")),
    Scene("index, damaged", _damaged, ("index",)),
    Scene("index --verify", _behind, ("index", "--verify")),
)


def points(scene: Scene, root: Path) -> list[Point]:
    """Every call of the command that changes something in the workspace, in order."""
    scene.prepare(root)
    log = root.parent / "calls.txt"
    done = memctl(
        *scene.words,
        "-w",
        str(root),
        before=("strace", "-f", "--seccomp-bpf", "-y", "-o", str(log), "-e", f"trace={','.join(CALLS)}"),
    )
    assert done.returncode == 0, done.stderr
    counted: Counter[str] = Counter()
    found = []
    for line in log.read_text(errors="replace").splitlines():
        match = _LINE.match(line)
        if not match or match["call"] not in CALLS:
            continue
        counted[match["call"]] += 1
        reads_only = match["call"] == "openat" and "O_CREAT" not in match["rest"] and "O_TRUNC" not in match["rest"]
        if str(root) in match["rest"] and not reads_only:
            found.append(Point(match["call"], counted[match["call"]], match["rest"][:100]))
    return found


def stop_at(scene: Scene, point: Point, root: Path, how: str) -> tuple[Workspace, int, str, str, str]:
    """Run the command with `how` (`signal=SIGKILL`, `error=ENOSPC`) at a point: workspace, code, log before, output."""
    workspace = scene.prepare(root)
    log = root / LOG
    before = log.read_text(encoding="utf-8") if log.exists() else ""
    # Not with --seccomp-bpf: there some injected signals come too late.
    inject = (
        "strace",
        "-f",
        "-o",
        "/dev/null",
        "-e",
        f"trace={point.call}",
        "-e",
        f"inject={point.call}:{how}:when={point.number}",
    )
    done = memctl(*scene.words, "-w", str(root), before=inject)
    return workspace, done.returncode, before, done.stdout, done.stderr


def _page_is_whole(root: Path, before: str) -> str | None:
    """The log is as it was, or as it should be; a page just created may still be empty."""
    log = root / LOG
    now = log.read_text(encoding="utf-8") if log.exists() else ""
    new = f"{before}- W: {FACT}\n" if before else f"# {DAY}\n\n## Retain\n\n- W: {FACT}\n"
    return None if now in (before, new) else f"torn page {now[-60:]!r}"


def after_kill(scene: Scene, point: Point, root: Path) -> str | None:
    """What is wrong after a kill -9 at a point, or None."""
    workspace, code, before, stdout, _ = stop_at(scene, point, root, "signal=SIGKILL")
    if code == 0:
        return "was not stopped"
    torn = _page_is_whole(root, before)
    if torn:
        return torn
    if stdout.startswith("memory/") and FACT not in (root / LOG).read_text(encoding="utf-8"):
        return "acknowledged and lost"
    workspace = find_workspace(str(root), {}, root)
    if rows(workspace) != rebuilt(workspace) or verify(workspace).differences:
        return "index differs from a rebuild"
    if (workspace.memory / ".gitignore").read_bytes()[-2:] != b"*\n":
        return ".gitignore is torn"
    return f"left behind: {strays(workspace)}" if strays(workspace) else None


def after_error(scene: Scene, point: Point, root: Path, error: str) -> str | None:
    """What is wrong after a failing call, or None: success is said of what is there, failure of what is not."""
    workspace, code, before, stdout, stderr = stop_at(scene, point, root, f"error={error}")
    if "Traceback" in stderr or "unexpected" in stderr or code not in (0, 13):
        return f"exit {code}: {stderr.strip()[-200:]}"
    torn = _page_is_whole(root, before)
    if torn:
        return torn
    if scene.words[0] == "retain":
        kept = (root / LOG).exists() and FACT in (root / LOG).read_text(encoding="utf-8")
        said = "memory/2025-11-27.md#L" in stdout
        if code == 0 and not (kept and said):
            return "success without the fact"
        if code == 13 and kept and "stands there" not in stderr:
            return "an error for a fact that is there"
        if code == 13 and "\n  " not in stderr:
            return f"no cure: {stderr}"
    if rows(workspace) != rebuilt(workspace):
        return "index differs from a rebuild"
    return f"left behind: {strays(workspace)}" if strays(workspace) else None


def run(
    scenes: Sequence[Scene], check: Callable[[Scene, Point, Path], str | None], every: int = 1
) -> tuple[int, list[str]]:
    """(how many points, what went wrong) over the scenes; with `every` = n only each n-th point."""
    tried, wrong = 0, []
    for scene in scenes:
        with tempfile.TemporaryDirectory() as folder:
            base = Path(folder).resolve()
            for number, point in enumerate(points(scene, base / "first")[::every]):
                tried += 1
                problem = check(scene, point, base / str(number))
                if problem:
                    wrong.append(f"{scene.name} at {point.call} {point.what[:70]}: {problem}")
                shutil.rmtree(base / str(number))
    return tried, wrong


def main(short: bool = False) -> bool:
    if not HAS_STRACE:
        print("R1 R2 skipped: strace is not installed")
        return True
    every = 12 if short else 1
    tried, wrong = run(SCENES, after_kill, every)
    print(f"R1 kill points {tried} violations {len(wrong)}")
    failed = list(wrong)
    for error in ("ENOSPC", "EIO"):
        tried, wrong = run(SCENES, lambda scene, point, root: after_error(scene, point, root, error), every)  # noqa: B023
        print(f"R2 {error} points {tried} violations {len(wrong)}")
        failed += wrong
    for line in failed:
        print(f"   {line}")
    return not failed
